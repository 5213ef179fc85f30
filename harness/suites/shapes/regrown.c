/* SPDX-License-Identifier: Apache-2.0 */
/** @file regrown.c One prepared model of an operation, executed on inputs of other extents, each extent in turn. */
#include <string.h>

#include "harness/suites/shapes/shapes.h"
#include "nnvts/result.h"
#include "reference/eval/eval.h"

enum {
    MOST_SHAPES = 3,      /* of an operation */
    MOST_BYTES = 1 << 16, /* of an input that has grown */
};

/* What fits the model and gives results, is asked; the other tensors of the operation may not have this extent. An
 * output without elements shows nothing, and a request cannot say that it has none. */
bool nnv_shapes_evaluate(const struct nnv_context *s, const struct nnv_spec *spec, struct nnv_golden **out) {
    const struct nnv_eval_options options = {.rows = 0};
    struct nnv_golden *golden = NNV_NEW(s->env->arena, struct nnv_golden, spec->model.main.nout);
    struct nnv_err ignored = {0};
    if (!golden || nnv_eval(&spec->model, spec->inputs, &options, s->env->arena, golden, &ignored) != NNV_OK)
        return false;
    for (uint32_t i = 0; i < spec->model.main.nout; i++)
        if (golden[i].value.bytes == 0) return false;
    *out = golden;
    return true;
}

/* Bytes of an element that repeat the old value's, begun elsewhere: a stale one at the same place is not the right one.
 */
static bool refill(struct nnv_arena *arena, size_t size, struct nnv_value *v) {
    size_t elements = 1;
    const size_t old = v->bytes / size;
    const char *from = v->data;
    for (uint32_t d = 0; d < v->rank; d++) elements *= v->dims[d];
    if (elements == 0 || old == 0 || elements * size > MOST_BYTES) return false;
    char *to = nnv_arena_alloc(arena, elements * size, 1);
    if (!to) return false;
    for (size_t i = 0; i < elements; i++) memcpy(to + i * size, from + (i * 3 + 1) % old * size, size);
    v->data = to;
    v->bytes = elements * size;
    return true;
}

/* The extent d of input `which`, and those of other inputs that equal it at this place if `alike`, becomes `extent`. */
static bool change(const struct nnv_context *s, const struct nnv_spec *spec, uint32_t which, uint32_t d,
                   uint32_t extent, bool alike, struct nnv_spec *out) {
    const struct nnv_subgraph *main = &spec->model.main;
    const struct nnv_value *v = &spec->inputs[which];
    struct nnv_golden *golden;
    *out = *spec;
    out->outputs = NULL;
    out->inputs = nnv_arena_copy(s->env->arena, spec->inputs, main->nin * sizeof *spec->inputs);
    for (uint32_t i = 0; out->inputs && i < main->nin; i++) {
        struct nnv_value *other = &out->inputs[i];
        const bool same = alike && other->rank == v->rank && other->dims[d] == v->dims[d];
        if (i != which && !same) continue;
        other->dims[d] = extent;
        if (!refill(s->env->arena, nnv_type(main->operands[main->in[i]].type)->size, other)) return false;
    }
    return out->inputs && nnv_shapes_evaluate(s, out, &golden);
}

bool nnv_shapes_execute_used(struct nnv_shape_fixture *b) {
    bool cannot = false;
    if (nnv_shapes_try(b, &cannot)) return true;
    if (!cannot) return false;
    struct nnv_shape_fixture anew = *b;
    anew.prepared = nnv_context_prepare(b->s, &b->fixture);
    if (anew.prepared && nnv_shapes_execute(&anew))
        nnv_expect_why(b->s, false, NNVTS_WHY_STATUS,
                       "execute answered GENERAL_FAILURE behind an execution on other inputs; the same model prepared "
                       "anew executes these");
    nnv_context_release(b->s, anew.prepared);
    return false;
}

bool nnv_shapes_execute_other(const struct nnv_shape_fixture *b, const struct nnv_spec *spec) {
    struct nnv_shape_fixture other = {.s = b->s, .mode = b->mode, .prepared = b->prepared};
    if (!nnv_context_model(b->s, spec, &other.fixture)) return false;
    nnv_context_forgive_choices(&other.fixture);
    return nnv_context_request(b->s, &other.fixture, NNV_POOL_READ_ONLY, &other.values) &&
           nnv_shapes_execute_used(&other);
}

static void regrow(struct nnv_shape_fixture *b, bool short_before) {
    const struct nnv_spec *spec = b->fixture.spec;
    const struct nnv_subgraph *main = &spec->model.main;
    int shapes = 0;
    if (!nnv_shapes_execute(b)) return;
    for (uint32_t i = 0; i < main->nin; i++)
        for (uint32_t d = 0; d < spec->inputs[i].rank && shapes < MOST_SHAPES; d++) {
            const uint32_t extent = spec->inputs[i].dims[d], halved = (extent + 1) / 2;
            const uint32_t to = (shapes + (int)d) % 2 && halved < extent ? halved : 2 * extent + 1;
            struct nnv_spec other;
            if (!change(b->s, spec, i, d, to, true, &other) && !change(b->s, spec, i, d, to, false, &other)) continue;
            shapes++;
            if (short_before && !nnv_shapes_fall_short(b)) return;
            if (!nnv_shapes_execute_other(b, &other)) return;
        }
    if (shapes == 0)
        nnv_context_decline(b->s, NNVTS_WHY_NOT_APPLICABLE, "no extent of an input may change alone");
    else
        nnv_shapes_execute_used(b);
}

void nnv_shapes_regrown(struct nnv_shape_fixture *b) { regrow(b, false); }
void nnv_shapes_regrown_short(struct nnv_shape_fixture *b) { regrow(b, true); }
