/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/growth.h"

#include <math.h>
#include <string.h>

#include "reference/model/sample.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"

enum { TRIES = 40 }; /* of one step */

const struct nnv_eval_options nnv_growth_bounds = {.most_runs = 200, .most_numbers = 1 << 20};

enum nnv_graph_extents nnv_graph_extents_of(uint64_t index) {
    return index % 32 == 19 ? NNV_EXTENTS_EMPTY : index % 8 == 6 ? NNV_EXTENTS_OPEN : NNV_EXTENTS_KNOWN;
}

/* Extents of `rank` whose product is elems: its factors dealt out. */
static void deal_extents(struct nnv_growth *g, size_t elems, uint32_t rank, uint32_t *dims) {
    for (uint32_t i = 0; i < rank; i++) dims[i] = 1;
    for (size_t f = 2; elems > 1;) {
        if (f * f > elems) f = elems;
        if (elems % f != 0) {
            f++;
            continue;
        }
        dims[nnv_rng_int(&g->rng, 0, (int64_t)rank - 1)] *= (uint32_t)f;
        elems /= f;
    }
}

/* Graphs are restricted to uses of which none is the operation's on values of the type. */
static bool lacks(const struct nnv_growth *g, int32_t code, int32_t type) {
    const struct nnv_graph_catalogue *c = g->catalogue;
    bool found = c == nnv_graph_whole_catalogue();
    for (size_t i = c->of_type[type]; i < c->of_type[type + 1] && !found; i++) found = c->use[i].op->code == code;
    return !found;
}

/* A RESHAPE of the value to another rank: for values of which no use was found as they are. */
static enum nnv_status try_reshape(struct nnv_growth *g, const struct nnv_graph_value *from, bool *kept,
                                   struct nnv_err *err) {
    const struct nnv_operand *o = &g->operand[from->operand];
    const size_t elems = from->value.bytes / nnv_type(o->type)->size;
    const uint32_t rank = (uint32_t)nnv_rng_int(&g->rng, 1, 4);
    struct nnv_graph_step s = {0};
    struct nnv_err why = {0};
    uint32_t dims[4];
    *kept = false;
    if (lacks(g, ANEURALNETWORKS_RESHAPE, o->type)) return NNV_OK;
    nnv_arena_reset(g->step);
    deal_extents(g, elems, rank, dims);
    struct nnv_builder b = {.arena = g->step};
    const struct nnv_encoding e = {o->type, o->scale, o->zero_point};
    uint32_t in = nnv_builder_tensor(&b, e, from->value.rank, from->value.dims, NNV_SUBGRAPH_INPUT);
    uint32_t out = nnv_builder_tensor(&b, e, rank, dims, NNV_SUBGRAPH_OUTPUT);
    int32_t shape[4];
    for (uint32_t i = 0; i < rank; i++) shape[i] = (int32_t)dims[i];
    nnv_builder_add(&b, ANEURALNETWORKS_RESHAPE, 2, (uint32_t[]){in, nnv_builder_ints(&b, rank, shape)}, out);
    struct nnv_spec spec = {.name = g->what->name};
    struct nnv_value value = from->value;
    spec.inputs = &value;
    enum nnv_status st = nnv_builder_end(&b, 1, &in, 1, &out, &spec.model, err);
    if (st) return st;
    if (nnv_validate(&spec.model, g->step, NULL, &why) != NNV_OK) return NNV_OK; /* not of this type */
    st = nnv_graph_draft_open(&s.draft, &spec, g->step, err);
    if (!st) s.draft.from[in] = from;
    if (!st) st = nnv_growth_evaluate(g, &s, err);
    if (st || !nnv_growth_depends(g, &s)) return st;
    st = nnv_growth_keep(g, &s, err);
    *kept = st == NNV_OK;
    return st;
}

/* A FILL of the value's shape, for the next operation that has room for it. */
static enum nnv_status try_fill(struct nnv_growth *g, const struct nnv_graph_value *from, bool *kept,
                                struct nnv_err *err) {
    const int32_t type = g->operand[from->operand].type;
    struct nnv_graph_step s = {0};
    struct nnv_err why = {0};
    int32_t shape[NNV_MAX_RANK];
    *kept = false;
    if (lacks(g, ANEURALNETWORKS_FILL, type)) return NNV_OK;
    nnv_arena_reset(g->step);
    struct nnv_builder b = {.arena = g->step};
    for (uint32_t i = 0; i < from->value.rank; i++) shape[i] = (int32_t)from->value.dims[i];
    if (type != ANEURALNETWORKS_TENSOR_INT32 && type != ANEURALNETWORKS_TENSOR_FLOAT32) return NNV_OK;
    const int32_t value = (int32_t)nnv_rng_int(&g->rng, -16, 16);
    const uint32_t scalar =
        type == ANEURALNETWORKS_TENSOR_INT32 ? nnv_builder_int(&b, value) : nnv_builder_float(&b, (float)value / 8);
    const struct nnv_encoding e = {type, 0, 0};
    const uint32_t in[] = {nnv_builder_ints(&b, from->value.rank, shape), scalar};
    uint32_t out = nnv_builder_tensor(&b, e, from->value.rank, from->value.dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_FILL, 2, in, out);
    struct nnv_spec spec = {.name = g->what->name};
    enum nnv_status st = nnv_builder_end(&b, 0, NULL, 1, &out, &spec.model, err);
    if (st) return st;
    if (nnv_validate(&spec.model, g->step, NULL, &why) != NNV_OK) return NNV_OK; /* not of this type */
    st = nnv_graph_draft_open(&s.draft, &spec, g->step, err);
    if (!st) st = nnv_growth_evaluate(g, &s, err);
    if (st || !nnv_growth_depends(g, &s)) return st;
    st = nnv_growth_keep(g, &s, err);
    *kept = st == NNV_OK;
    return st;
}

static enum nnv_status grow_on(struct nnv_growth *g, int try, bool *kept, struct nnv_err *err) {
    const bool filled = g->known && g->value[g->known].reads == 0, known = g->what->extents != NNV_EXTENTS_EMPTY;
    enum nnv_status st = NNV_OK;
    if (known && try == 0 && !filled && nnv_rng_int(&g->rng, 0, 63) == 0)
        st = try_fill(g, nnv_growth_value(g), kept, err);
    else if (known && try >= TRIES / 4 && try % 4 == 0)
        st = try_reshape(g, nnv_growth_value(g), kept, err);
    if (st || *kept) return st;
    const struct nnv_graph_value *from = nnv_growth_value(g);
    const struct nnv_graph_use *use = nnv_growth_use(g, from, try);
    return use ? nnv_growth_try(g, use, from, kept, err) : NNV_OK;
}

static enum nnv_status grow_once(struct nnv_growth *g, bool *kept, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    *kept = false;
    for (int n = 0; n < TRIES && !*kept && !st; n++) {
        if (g->noperations > 0) {
            st = grow_on(g, n, kept, err);
            continue;
        }
        const struct nnv_graph_use *use = nnv_growth_first(g, n);
        if (use) st = nnv_growth_try(g, use, NULL, kept, err);
    }
    return st;
}

/* --------------------------------------------------------------------- finishing */

/* What nobody reads is an output, and one or another that is read on. */
static enum nnv_status take_outputs(struct nnv_growth *g, struct nnv_spec *spec, struct nnv_err *err) {
    struct nnv_subgraph *m = &spec->model.main;
    m->out = NNV_NEW(g->arena, uint32_t, g->noperands);
    spec->outputs = NNV_NEW(g->arena, struct nnv_value, g->noperands);
    if (!m->out || !spec->outputs) return nnv_no_memory(err);
    for (uint32_t i = 0; i < g->noperands; i++) {
        if (g->operand[i].lifetime != NNV_TEMPORARY_VARIABLE) continue;
        if (g->value[i].reads > 0 && nnv_rng_unit(&g->rng) >= 0.1) continue;
        g->operand[i].lifetime = NNV_SUBGRAPH_OUTPUT;
        spec->outputs[m->nout] = g->value[i].value;
        m->out[m->nout++] = i;
    }
    return NNV_OK;
}

static bool is_result(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}

/* Other extents for an operand, where the model stays valid. */
static bool try_dims(struct nnv_growth *g, struct nnv_spec *spec, struct nnv_operand *o, uint32_t rank,
                     uint32_t *dims) {
    const struct nnv_operand before = *o;
    struct nnv_err why = {0};
    o->rank = rank;
    o->dims = dims;
    nnv_arena_reset(g->step);
    if (nnv_validate(&spec->model, g->step, NULL, &why) == NNV_OK) return true;
    *o = before;
    return false;
}

static uint32_t *open_dims(struct nnv_growth *g, const struct nnv_operand *o, double share) {
    uint32_t *dims = nnv_arena_copy(g->arena, o->dims, o->rank * sizeof *o->dims);
    const uint32_t always = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)o->rank - 1);
    for (uint32_t i = 0; dims && i < o->rank; i++)
        if (i == always || nnv_rng_unit(&g->rng) < share) dims[i] = 0;
    return dims;
}

/* Extents that the model leaves open: of some results in one graph of eight, or as the graph is to have them. Each is
 * tried on the whole model: of large ones only the first are. */
static void leave_open(struct nnv_growth *g, struct nnv_spec *spec) {
    enum { SOME = 64, MANY = 512 };
    const bool all = g->what->extents != NNV_EXTENTS_KNOWN;
    if (!all && nnv_rng_int(&g->rng, 0, 7) != 0) return;
    for (uint32_t i = 0, tried = 0; i < g->noperands && tried < (all ? MANY : SOME); i++) {
        struct nnv_operand *o = &g->operand[i];
        const bool input = o->lifetime == NNV_SUBGRAPH_INPUT, chosen = all || nnv_rng_unit(&g->rng) < 0.3;
        if (o->rank == 0 || !chosen || !(is_result(o) || (input && all))) continue;
        tried++;
        if (all && !input && nnv_rng_unit(&g->rng) < 0.3 && try_dims(g, spec, o, 0, o->dims)) continue;
        uint32_t *dims = open_dims(g, o, input ? 0.5 : all ? 1 : 0);
        if (dims) try_dims(g, spec, o, o->rank, dims);
    }
}

/* The graph's values where the batch has no rows, and the extents open that differ there. */
static void take_empty(struct nnv_growth *g, struct nnv_spec *spec) {
    struct nnv_subgraph *m = &spec->model.main;
    for (uint32_t i = 0; i < m->nin; i++) spec->inputs[i] = g->empty[i];
    for (uint32_t i = 0; i < m->nin; i++)
        for (uint32_t k = 0; k < g->empty[i].rank; k++)
            if (g->operand[m->in[i]].dims[k] != g->empty[i].dims[k]) g->operand[m->in[i]].dims[k] = 0;
    for (uint32_t i = 0; i < g->noperands; i++) {
        struct nnv_operand *o = &g->operand[i];
        for (uint32_t k = 0; is_result(o) && k < o->rank; k++)
            if (o->dims[k] != g->value[i].empty.dims[k]) o->dims[k] = 0;
    }
    for (uint32_t i = 0; i < m->nout; i++) spec->outputs[i] = g->value[m->out[i]].empty;
}

static enum nnv_status finish(struct nnv_growth *g, struct nnv_spec **out, struct nnv_err *err) {
    struct nnv_spec *spec = NNV_NEW(g->arena, struct nnv_spec, 1);
    if (!spec) return nnv_no_memory(err);
    spec->name = g->what->name;
    spec->inputs = g->inputs;
    spec->model.main = (struct nnv_subgraph){.noperands = g->noperands,
                                             .noperations = g->noperations,
                                             .operands = g->operand,
                                             .operations = g->operation,
                                             .nin = g->nin,
                                             .in = g->in};
    spec->model.referenced = g->referenced;
    spec->model.nreferenced = g->nreferenced;
    enum nnv_status st = take_outputs(g, spec, err);
    if (st) return st;
    if (g->what->extents == NNV_EXTENTS_EMPTY)
        take_empty(g, spec);
    else
        leave_open(g, spec);
    nnv_arena_reset(g->step);
    st = nnv_validate(&spec->model, g->step, &spec->min_version, err);
    /* extents that really are zero came with level 3 */
    if (g->what->extents == NNV_EXTENTS_EMPTY && spec->min_version < 3) spec->min_version = 3;
    if (st) return nnv_at(err, NNV_INTERNAL, "%s", g->what->name);
    *out = spec;
    return NNV_OK;
}

static int operations_of(struct nnv_growth *g) {
    const struct nnv_graph_profile *p = g->what->profile;
    return g->what->operations > 0 ? g->what->operations : (int)nnv_rng_int(&g->rng, p->least, p->most);
}

/* *whole: the graph has as many operations as were wanted. */
static enum nnv_status attempt(const struct nnv_graph_options *what, int n, struct nnv_arena *arena,
                               struct nnv_arena *step, const struct nnv_graph_catalogue *catalogue,
                               struct nnv_spec **spec, bool *whole, struct nnv_err *err) {
    struct nnv_growth g = {.what = what, .redraw = n, .catalogue = catalogue, .arena = arena, .step = step};
    g.rng = nnv_rng_make(what->seed, nnv_hash_str(what->profile->name) + (uint64_t)n, what->index);
    g.in = NNV_NEW(arena, uint32_t, NNV_MAX_SLOTS + NNV_MAX_REPEAT);
    g.inputs = NNV_NEW(arena, struct nnv_value, NNV_MAX_SLOTS + NNV_MAX_REPEAT);
    if (!g.in || !g.inputs) return nnv_no_memory(err);
    g.wanted = operations_of(&g);
    nnv_growth_begin(&g);
    enum nnv_status st = NNV_OK;
    for (bool kept = true; !st && kept && g.noperations < (uint32_t)g.wanted && (g.noperations == 0 || g.nlive > 0);)
        st = grow_once(&g, &kept, err);
    if (!st && g.noperations == 0) st = nnv_fail(err, NNV_INTERNAL, "%s: no first operation was found", what->name);
    *whole = g.noperations == (uint32_t)g.wanted;
    return st ? st : finish(&g, spec, err);
}

enum nnv_status nnv_graph_build(const struct nnv_graph_options *what, struct nnv_arena *arena, struct nnv_spec **spec,
                                struct nnv_err *err) {
    struct nnv_arena *step = nnv_arena_new();
    const struct nnv_graph_catalogue *catalogue = nnv_graph_catalogue();
    enum nnv_status st = step && catalogue ? NNV_OK : nnv_no_memory(err);
    for (int n = 0; !st && n < NNV_GRAPH_REDRAWS; n++) {
        bool whole = false;
        st = attempt(what, n, arena, step, catalogue, spec, &whole, err);
        if (st == NNV_INTERNAL && catalogue != nnv_graph_whole_catalogue()) {
            /* what graphs are restricted to has nothing for this profile */
            catalogue = nnv_graph_whole_catalogue();
            st = attempt(what, n, arena, step, catalogue, spec, &whole, err);
        }
        if (st) break;
        nnv_arena_reset(step);
        if (whole && nnv_graph_comparable(*spec, step)) break;
    }
    nnv_arena_free(step);
    return st;
}
