/* SPDX-License-Identifier: Apache-2.0 */
/** @file parameters.c One prepared model of an operation whose parameters are inputs: begins, sizes, axes, paddings,
 * strides, activations, weights; executed with some values of them, with others, and with the first again. */
#include <string.h>

#include "harness/suites/kit/cases.h"
#include "harness/suites/shapes/shapes.h"
#include "nnvts/result.h"
#include "reference/eval/eval.h"

/* How a value is changed, in the order in which they are tried. */
enum alteration { TURNED, MORE, LESS, NEGATED, FIRST_MORE, LAST_LESS, DOUBLED, HALVED, ALTERATIONS };

/* Numbers that say how something is done: of others the elements are turned alone. */
static bool is_number(int32_t type) { return type == ANEURALNETWORKS_TENSOR_INT32 || !nnv_type(type)->tensor; }

/* Element i of n, changed; v is what it was, turned what stands behind it. */
static double changed(enum alteration how, size_t i, size_t n, double v, double turned) {
    switch (how) {
    case TURNED:
        return turned;
    case MORE:
        return v + 1;
    case LESS:
        return v - 1;
    case NEGATED:
        return -v;
    case FIRST_MORE:
        return i == 0 ? v + 1 : v;
    case LAST_LESS:
        return i + 1 == n ? v - 1 : v;
    case DOUBLED:
        return 2 * v;
    case HALVED:
        return v / 2;
    case ALTERATIONS:
        break;
    }
    return v;
}

/* Booleans are changed by each alteration but one: they have no other value. */
static bool change(struct nnv_arena *arena, int32_t type, enum alteration how, struct nnv_value *v) {
    const size_t size = nnv_type(type)->size, n = v->bytes / size;
    const bool flag = nnv_type(type)->kind == NNV_KIND_BOOL;
    if (v->omitted || n == 0 || (how != TURNED && !is_number(type)) || (how == TURNED && n < 2)) return false;
    char *to = nnv_arena_alloc(arena, v->bytes, 1);
    if (!to) return false;
    for (size_t i = 0; i < n; i++) {
        const char *from = v->data;
        double was, behind;
        nnv_load(type, from + i * size, 1, &was);
        nnv_load(type, from + (i + 1) % n * size, 1, &behind);
        const double becomes = flag ? was == 0 : changed(how, i, n, was, behind);
        nnv_store(type, &becomes, 1, to + i * size);
    }
    v->data = to;
    return true;
}

enum likeness { ALIKE, OTHER_VALUES, OTHER_SHAPES };

static enum likeness compare(const struct nnv_golden *a, const struct nnv_golden *b, uint32_t n) {
    enum likeness likeness = ALIKE;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_value *v = &a[i].value, *w = &b[i].value;
        if (v->rank != w->rank || memcmp(v->dims, w->dims, v->rank * sizeof *v->dims) != 0) return OTHER_SHAPES;
        if (memcmp(v->data, w->data, v->bytes) != 0) likeness = OTHER_VALUES;
    }
    return likeness;
}

/* Changes input i of spec, if it can be done so that the results differ in this way. golden: the results, which become
 * those of the change. */
static bool change_input(const struct nnv_context *s, struct nnv_spec *spec, uint32_t i, enum likeness wanted,
                         struct nnv_golden **golden) {
    const struct nnv_subgraph *main = &spec->model.main;
    const int32_t type = main->operands[main->in[i]].type;
    const struct nnv_value was = spec->inputs[i];
    for (int how = 0; how < ALTERATIONS; how++) {
        struct nnv_golden *results;
        if (change(s->env->arena, type, (enum alteration)how, &spec->inputs[i]) &&
            nnv_shapes_evaluate(s, spec, &results) && compare(*golden, results, main->nout) == wanted) {
            *golden = results;
            return true;
        }
        spec->inputs[i] = was;
    }
    return false;
}

/* The same model with other values of all inputs behind the first that can have others. False: none can. */
static bool change_all(const struct nnv_context *s, const struct nnv_spec *from, enum likeness wanted,
                       struct nnv_spec *out) {
    const struct nnv_subgraph *main = &from->model.main;
    const bool order = nnv_has_order(nnv_op(main->operations->type));
    struct nnv_golden *golden;
    bool any = false;
    *out = *from;
    out->outputs = NULL;
    out->inputs = nnv_arena_copy(s->env->arena, from->inputs, main->nin * sizeof *from->inputs);
    if (!out->inputs || !nnv_shapes_evaluate(s, out, &golden)) return false;
    for (uint32_t i = 1; i < main->nin; i++)
        if (!order || !nnv_type(main->operands[main->in[i]].type)->tensor)
            any |= change_input(s, out, i, wanted, &golden);
    return any;
}

/* The same memory holds the values of a fixture. False: the case is over. */
static bool execute_in_place(struct nnv_shape_fixture *b, const struct nnv_fixture *fixture, const char *call) {
    nnv_context_fill(&b->values, fixture);
    nnv_request_reset(&b->values);
    return nnv_context_check_values(b->s, call, nnv_context_sync(b->s, b->prepared, &b->values), &b->values);
}

/* Values that leave the results their shapes. */
static bool execute_fixed(struct nnv_shape_fixture *b, const struct nnv_spec *other) {
    struct nnv_fixture fixture;
    if (!nnv_context_model(b->s, other, &fixture)) return false;
    nnv_context_forgive_choices(&fixture);
    return execute_in_place(b, &b->fixture, "execute") &&
           execute_in_place(b, &fixture, "execute with other values of its parameters than before") &&
           execute_in_place(b, &b->fixture, "execute with the first values of its parameters again");
}

/* Values that give the results other shapes, of a model that leaves them open: what else a driver can't do with such a
 * model is no matter of this case. */
static void execute_reshaped(struct nnv_shape_fixture *b, const struct nnv_spec *spec, const struct nnv_spec *other) {
    struct nnv_shape_fixture open = {.s = b->s, .mode = b->mode};
    bool cannot = false;
    if (!nnv_context_model(b->s, spec, &open.fixture)) return;
    nnv_context_forgive_choices(&open.fixture);
    if (!nnv_context_ready(b->s, &open.fixture, &open.prepared, &open.values)) return;
    if (nnv_shapes_try(&open, &cannot) && nnv_shapes_execute_other(&open, other)) nnv_shapes_execute_used(&open);
    nnv_context_release(b->s, open.prepared);
}

void nnv_shapes_parameters(struct nnv_shape_fixture *b) {
    struct nnv_spec *open, other;
    struct nnv_err err = {0};
    uint32_t opened;
    const bool fixed = change_all(b->s, b->fixture.spec, OTHER_VALUES, &other);
    if (!(fixed ? execute_fixed(b, &other) : execute_in_place(b, &b->fixture, "execute"))) return;
    if (nnv_shapes_open(b->fixture.spec, NNV_OPEN_OUTPUTS, b->s->env->arena, &open, &opened, &err) != NNV_OK)
        nnv_context_error(b->s, "%s", err.text);
    else if (change_all(b->s, open, OTHER_SHAPES, &other))
        execute_reshaped(b, open, &other);
}
