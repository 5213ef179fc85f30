/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "randgraph/graph_catalogue.h"
#include "randgraph/graph_fit.h"
#include "randgraph/single.h"
#include "randgraph/single_quant.h"
#include "reference/eval/eval.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"

enum {
    REDRAWS = 8,         /* of a graph of which an output does not depend on an input */
    TRIES = 40,          /* of one step */
    MOST_ELEMS = 2048,   /* of a value */
    MOST_WORK = 1 << 20, /* products of an operation, about */
    MOST_INPUTS = 3,     /* of a graph */
    COPY_LIMIT = 128,    /* bytes: larger constants lie in a pool */
};

/* A graph that grows. */
struct growth {
    const struct nnv_graph_options *what;
    int redraw;
    const struct nnv_graph_catalogue *catalogue;
    struct nnv_arena *arena, *step; /* the spec's; emptied before each try */
    struct nnv_rng rng;
    struct nnv_operand *operand;
    struct nnv_operation *operation;
    struct nnv_graph_value *value; /* one an operand; those of constants and inputs have no data */
    uint32_t noperands, noperations, operand_room, operation_room;
    uint32_t *live; /* operands that operations wrote and that may be read on */
    uint32_t nlive, live_room;
    struct nnv_value *inputs;
    uint32_t *in, nin; /* of the model: from the first operation */
    struct nnv_subgraph *referenced;
    uint32_t nreferenced, referenced_room;
};

/* Bounds that do not depend on the machine: with other inputs a loop may never end, or grow a value at each turn. */
static const struct nnv_eval_options options = {.most_runs = 200, .most_numbers = 1 << 20};

static enum nnv_status no_memory(struct nnv_err *err) { return nnv_fail(err, NNV_NO_MEMORY, "out of memory"); }

/* Room for n more entries behind count. */
static bool grow(struct nnv_arena *arena, void *array, uint32_t count, uint32_t n, uint32_t *room, size_t size) {
    void **at = array;
    if (count + n <= *room) return true;
    uint32_t more = *room * 2 > count + n ? *room * 2 : count + n + 16;
    void *larger = nnv_arena_alloc(arena, more, size);
    if (!larger) return false;
    if (count) memcpy(larger, *at, count * size);
    *at = larger;
    *room = more;
    return true;
}

/* ------------------------------------------------------------------ perturbation */

/* Other values of the range that the input has: its own in another order, and mirrored at the middle of their range. */
static bool perturb(const struct nnv_operand *o, const struct nnv_value *v, struct nnv_arena *arena,
                    struct nnv_value *out) {
    const size_t size = nnv_type(o->type)->size, n = v->bytes / size;
    double *x = NNV_NEW(arena, double, n), lo = INFINITY, hi = -INFINITY;
    *out = *v;
    out->data = nnv_arena_alloc(arena, n + 1, size);
    if (!x || !out->data) return false;
    nnv_load(o->type, v->data, n, x);
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    for (size_t i = 0; i < n / 2; i++) {
        double t = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = t;
    }
    const bool flat = lo == hi, whole = nnv_type(o->type)->kind != NNV_KIND_FLOAT;
    for (size_t i = 0; i < n; i++)
        x[i] = !flat ? lo + hi - x[i] : !whole ? 0.75 * x[i] + 0.125 : x[i] == 0 ? 1 : x[i] - 1;
    nnv_store(o->type, x, n, out->data);
    return true;
}

/* False if a compared output is what it was. */
static bool all_changed(const struct nnv_subgraph *m, const struct nnv_golden *was, const struct nnv_golden *is) {
    for (uint32_t i = 0; i < m->nout; i++) {
        if (m->operands[m->out[i]].ignored) continue;
        if (was[i].value.bytes == is[i].value.bytes &&
            memcmp(was[i].value.data, is[i].value.data, is[i].value.bytes) == 0)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ what to draw */

/* A value to go on from: one that nobody has read yet is preferred, and the newer ones. */
static const struct nnv_graph_value *pick_value(struct growth *g) {
    const struct nnv_graph_value *best = NULL;
    for (int n = 0; n < 3; n++) {
        const struct nnv_graph_value *v = &g->value[g->live[nnv_rng_int(&g->rng, 0, (int64_t)g->nlive - 1)]];
        if (!best || v->reads < best->reads || (v->reads == best->reads && v->operand > best->operand)) best = v;
    }
    return best;
}

static bool type_wanted(const struct growth *g, const struct nnv_graph_use *use) {
    const uint32_t types = g->what->profile->types;
    return types == 0 || (types >> nnv_graph_use_type(use) & 1);
}

/* A use whose main operand may have this type (-1: any that the profile wants). */
static const struct nnv_graph_use *pick_use(struct growth *g, int32_t type) {
    const struct nnv_graph_catalogue *c = g->catalogue;
    bool (*prefers)(const struct nnv_op *) = g->what->profile->prefers;
    bool choosy = prefers && nnv_rng_unit(&g->rng) < 0.6;
    const size_t first = type < 0 ? 0 : c->of_type[type], end = type < 0 ? c->count : c->of_type[type + 1];
    for (int n = 0; n < 400 && first < end; n++) {
        const struct nnv_graph_use *u = &c->use[nnv_rng_int(&g->rng, (int64_t)first, (int64_t)end - 1)];
        if (type < 0 && !type_wanted(g, u)) continue;
        if (choosy && n < 300 && !prefers(u->op)) continue;
        return u;
    }
    return NULL;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The first use of graph i: all uses of the profile are walked through, in an order of the seed. After some redraws
 * any use will do. */
static const struct nnv_graph_use *first_use(struct growth *g) {
    if (g->redraw > REDRAWS / 2) return pick_use(g, -1);
    const struct nnv_graph_catalogue *c = g->catalogue;
    bool (*prefers)(const struct nnv_op *) = g->what->profile->prefers;
    struct nnv_rng order = nnv_rng_make(g->what->seed, 0x9a7, 0);
    uint64_t stride = (nnv_rng_u64(&order) % c->count) | 1;
    while (common_divisor(c->count, stride) > 1) stride += 2;
    for (size_t n = 0; n < c->count; n++) {
        const struct nnv_graph_use *u = &c->use[(g->what->index * stride + n) % c->count];
        if (type_wanted(g, u) && (!prefers || g->what->index % 2 == 1 || prefers(u->op))) return u;
    }
    return pick_use(g, -1);
}

/* ------------------------------------------------------------------------ a step */

/* A step in progress. */
struct step {
    struct nnv_spec *drawn;
    struct nnv_graph_draft draft;
    struct nnv_golden *golden;
    struct nnv_golden **other; /* one a model input: the results where that input is another one */
    const struct nnv_form *form;
};

/* Results are asked for in the first step alone: later ones get other inputs, and are evaluated then. */
static enum nnv_status draw(struct growth *g, const struct nnv_graph_use *use, const struct nnv_graph_value *from,
                            struct step *s, struct nnv_err *err) {
    const struct nnv_single w = {.op = use->op,
                                 .sig = use->sig,
                                 .variant = use->variant,
                                 .index = (int)nnv_rng_int(&g->rng, 0, 999),
                                 .seed = nnv_rng_u64(&g->rng),
                                 .name = g->what->name};
    if (!from) return nnv_single_build(&w, g->step, &s->drawn, err);
    struct nnv_operand like = g->operand[from->operand];
    like.rank = from->value.rank;
    return nnv_single_draw(&w, &like, g->step, &s->drawn, err);
}

static bool same_dims(const struct nnv_operand *o, const struct nnv_value *v) {
    return o->rank == v->rank && (o->rank == 0 || memcmp(o->dims, v->dims, o->rank * sizeof *o->dims) == 0);
}

/* Other inputs take values of the right shape that exist, now and then. */
static void place_more(struct growth *g, struct nnv_graph_draft *d) {
    for (uint32_t p = 0; p < d->op->nin; p++) {
        const struct nnv_operand *o = &d->spec->model.main.operands[d->op->in[p]];
        if (o->lifetime != NNV_SUBGRAPH_INPUT || d->from[d->op->in[p]] || nnv_rng_unit(&g->rng) < 0.3) continue;
        const uint32_t start = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)g->nlive - 1);
        for (uint32_t n = 0; n < g->nlive && n < 64; n++) {
            const struct nnv_graph_value *v = &g->value[g->live[(start + n) % g->nlive]];
            if (same_dims(o, &v->value) && nnv_graph_draft_place(d, p, v, &g->operand[v->operand])) break;
        }
    }
}

/* Finds an input position of the draft at which the value can stand. */
static enum nnv_status place(struct growth *g, struct step *s, const struct nnv_graph_value *v, bool *placed,
                             struct nnv_err *err) {
    const struct nnv_operation *op = s->drawn->model.main.operations;
    const uint32_t first = nnv_rng_unit(&g->rng) < 0.7 ? 0 : (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)op->nin - 1);
    *placed = false;
    for (uint32_t n = 0; n < op->nin && n < 4 && !*placed; n++) {
        const uint32_t p = (first + n) % op->nin;
        const struct nnv_operand *o = &s->drawn->model.main.operands[op->in[p]];
        if (o->lifetime != NNV_SUBGRAPH_INPUT || o->type != g->operand[v->operand].type || o->rank != v->value.rank)
            continue;
        enum nnv_status st = nnv_graph_draft_open(&s->draft, s->drawn, g->step, err);
        if (st) return st;
        *placed = nnv_graph_draft_place(&s->draft, p, v, &g->operand[v->operand]);
    }
    if (*placed) place_more(g, &s->draft);
    return NNV_OK;
}

static void make_constant(struct nnv_operand *o, const struct nnv_value *v) {
    o->lifetime = v->bytes <= COPY_LIMIT ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
    o->data = v->data;
    o->bytes = v->bytes;
}

/* Model inputs that are not placed: constants (in the first step they stay inputs), and values for those that are. */
static void settle_inputs(const struct growth *g, struct nnv_graph_draft *d) {
    struct nnv_subgraph *m = &d->spec->model.main;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->nin; i++) {
        struct nnv_operand *o = &m->operands[m->in[i]];
        struct nnv_value v = d->spec->inputs[i];
        const struct nnv_graph_value *from = d->from[m->in[i]];
        if (from) {
            v = from->value;
        } else if (v.omitted) {
            o->lifetime = NNV_NO_VALUE;
            continue;
        } else if (g->noperations > 0 && v.bytes > 0) {
            make_constant(o, &v);
            continue;
        }
        d->spec->inputs[kept] = v;
        m->in[kept++] = m->in[i];
    }
    m->nin = kept;
}

/* Control flow declares what its subgraphs give, open extents included. */
static bool declares_shapes(int32_t code) { return nnv_op(code)->check_subgraphs != NULL; }

/* The declared shapes of the outputs are forgotten: the new ones follow. */
static void open_outputs(struct nnv_graph_draft *d) {
    struct nnv_subgraph *m = &d->spec->model.main;
    if (declares_shapes(d->op->type)) return;
    for (uint32_t i = 0; i < m->nout; i++) m->operands[m->out[i]].rank = 0;
}

/* Scales of outputs by their rules: those of the inputs may have changed. */
static enum nnv_status settle_scales(struct growth *g, struct step *s, bool *open, struct nnv_err *err) {
    struct nnv_graph_draft *d = &s->draft;
    struct nnv_subgraph *m = &d->spec->model.main;
    struct nnv_operand *inputs = NNV_NEW(g->step, struct nnv_operand, d->op->nin);
    if (!inputs) return no_memory(err);
    for (uint32_t i = 0; i < d->op->nin; i++) inputs[i] = m->operands[d->op->in[i]];
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_slot *slot = nnv_out_slot(s->form, i);
        struct nnv_operand *o = &m->operands[m->out[i]];
        if (!nnv_is_quant(o->type)) continue;
        nnv_quant_placeholder(slot, inputs, o);
        *open |= slot->quant == NNV_Q_FREE;
    }
    return NNV_OK;
}

static void choose_scales(struct growth *g, struct step *s) {
    struct nnv_subgraph *m = &s->draft.spec->model.main;
    const struct nnv_op *op = nnv_op(s->draft.op->type);
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_slot *slot = nnv_out_slot(s->form, i);
        struct nnv_operand *o = &m->operands[m->out[i]];
        if (!nnv_is_quant(o->type) || slot->quant != NNV_Q_FREE) continue;
        struct nnv_quant_choice q = {.slot = slot,
                                     .operands = m->operands,
                                     .linear = op->rounding == NNV_ROUND_LINEAR && s->draft.op->nin > 1,
                                     .index = (int)nnv_rng_int(&g->rng, 0, 7)};
        const size_t n = s->golden[i].value.bytes / nnv_type(o->type)->size;
        for (size_t e = 0; e < n; e++) {
            q.lo = fmin(q.lo, s->golden[i].exact[e]);
            q.hi = fmax(q.hi, s->golden[i].exact[e]);
        }
        nnv_quant_output(&q, &g->rng, o);
    }
}

/* The form by which the record takes the draft; false if it does not fit. */
static bool find_form(struct growth *g, struct step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    struct nnv_err why = {0};
    struct nnv_shape *shapes = NNV_NEW(g->step, struct nnv_shape, m->noperands);
    const void **data = NNV_NEW(g->step, const void *, m->noperands);
    struct nnv_call *call;
    if (!shapes || !data) return false;
    for (uint32_t i = 0; i < m->noperands; i++) {
        shapes[i] = nnv_operand_shape(&m->operands[i]);
        data[i] = m->operands[i].data;
    }
    if (nnv_bind(m, s->draft.op, shapes, data, NULL, g->step, &call, NULL, &why) != NNV_OK) return false;
    s->form = call->form;
    return true;
}

/* About so many products: all weights for each row, pixel or step of input 0. */
static size_t work_of(const struct nnv_graph_draft *d, const struct nnv_shape *shapes) {
    const struct nnv_shape *first = &shapes[d->op->in[0]];
    size_t weights = 0;
    if (!nnv_shape_known(first) || first->rank == 0 || first->dims[first->rank - 1] == 0) return 0;
    for (uint32_t i = 1; i < d->op->nin; i++)
        if (d->slot[i]->flags & NNV_PARAM && nnv_shape_known(&shapes[d->op->in[i]]))
            weights += nnv_shape_elems(&shapes[d->op->in[i]]);
    return nnv_shape_elems(first) / first->dims[first->rank - 1] * weights;
}

/* No output is known to be larger than values of graphs are, and it does not take long; no memory is told as false. */
static bool is_small(struct growth *g, const struct step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    struct nnv_shape *shapes = NNV_NEW(g->step, struct nnv_shape, m->noperands);
    struct nnv_err why = {0};
    if (!shapes || nnv_infer_shapes(&s->draft.spec->model, g->step, shapes, &why) != NNV_OK) return false;
    for (uint32_t i = 0; i < m->nout; i++)
        if (nnv_shape_known(&shapes[m->out[i]]) && nnv_shape_elems(&shapes[m->out[i]]) > MOST_ELEMS) return false;
    return work_of(&s->draft, shapes) <= MOST_WORK;
}

static enum nnv_status evaluate(struct growth *g, struct step *s, struct nnv_err *err) {
    const struct nnv_spec *spec = s->draft.spec;
    s->golden = NNV_NEW(g->step, struct nnv_golden, spec->model.main.nout);
    if (!s->golden) return no_memory(err);
    return nnv_eval(&spec->model, spec->inputs, &options, g->step, s->golden, err);
}

/* A result that says something: finite and of a size that goes on well, not all alike, not mostly at the limits. */
static bool is_telling(const struct nnv_operand *o, const struct nnv_value *v) {
    const struct nnv_type *t = nnv_type(o->type);
    const size_t n = v->bytes / t->size;
    const double most = t->kind != NNV_KIND_FLOAT ? 0x1p30 : t->size == 2 ? 1000 : 1e5;
    size_t alike = 0, limits = 0;
    if (n == 0 || n > MOST_ELEMS) return false;
    double x[MOST_ELEMS];
    nnv_load(o->type, v->data, n, x);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || (t->kind != NNV_KIND_QUANT && fabs(x[i]) > most)) return false;
        alike += x[i] == x[0];
        limits += t->kind == NNV_KIND_QUANT && (x[i] == t->min || x[i] == t->max);
    }
    return (n < 2 || alike < n) && (n < 4 || limits * 2 <= n);
}

static bool all_telling(const struct step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    size_t told = 0;
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        if (o->ignored) continue;
        if (!is_telling(o, &s->golden[i].value)) return false;
        told++;
    }
    return told > 0;
}

/* The results where model input `which` is another one; false if they can't be had, or one is what it was. */
static bool evaluate_other(struct growth *g, struct step *s, uint32_t which, struct nnv_golden **other) {
    const struct nnv_spec *spec = s->draft.spec;
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_value *inputs = nnv_arena_copy(g->step, spec->inputs, m->nin * sizeof *inputs);
    struct nnv_err why = {0};
    *other = NNV_NEW(g->step, struct nnv_golden, m->nout);
    if (!inputs || !*other) return false;
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_graph_value *from = s->draft.from[m->in[i]];
        if (from) inputs[i] = from->other[which];
        if (!from && i == which && !perturb(&m->operands[m->in[i]], &spec->inputs[i], g->step, &inputs[i]))
            return false;
    }
    return nnv_eval(&spec->model, inputs, &options, g->step, *other, &why) == NNV_OK &&
           all_changed(m, s->golden, *other);
}

/* In the first step: inputs on which an output does not depend become constants, as long as one is left. */
static void choose_inputs(struct growth *g, struct step *s) {
    struct nnv_graph_draft *d = &s->draft;
    struct nnv_subgraph *m = &d->spec->model.main;
    for (uint32_t i = m->nin; i-- > 0 && m->nin > 1;) {
        struct nnv_golden *other;
        if (m->nin <= MOST_INPUTS && evaluate_other(g, s, i, &other)) continue;
        if (d->spec->inputs[i].bytes == 0) continue;
        make_constant(&m->operands[m->in[i]], &d->spec->inputs[i]);
        m->nin--;
        memmove(&m->in[i], &m->in[i + 1], (m->nin - i) * sizeof *m->in);
        memmove(&d->spec->inputs[i], &d->spec->inputs[i + 1], (m->nin - i) * sizeof *d->spec->inputs);
    }
}

/* The other results of all model inputs. False: an output does not depend on one of them. */
static bool depends(struct growth *g, struct step *s) {
    const uint32_t count = g->noperations == 0 ? s->draft.spec->model.main.nin : g->nin;
    s->other = NNV_NEW(g->step, struct nnv_golden *, count);
    if (!s->other) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!evaluate_other(g, s, i, &s->other[i])) return false;
    return true;
}

/* ------------------------------------------------------------------- keeping it */

static bool keep_bytes(struct growth *g, struct nnv_operand *o) {
    o->dims = nnv_arena_copy(g->arena, o->dims, o->rank * sizeof *o->dims);
    if (!o->dims) return false;
    if (o->channel.count)
        o->channel.scales = nnv_arena_copy(g->arena, o->channel.scales, o->channel.count * sizeof *o->channel.scales);
    if (o->data) o->data = nnv_arena_copy(g->arena, o->data, o->bytes);
    return (!o->channel.count || o->channel.scales) && (o->data || !nnv_is_constant(o));
}

/* Deep copies of the step's referenced subgraphs, their own references counted on. */
static bool keep_subgraphs(struct growth *g, const struct nnv_model *m, uint32_t base) {
    if (!grow(g->arena, &g->referenced, g->nreferenced, m->nreferenced, &g->referenced_room, sizeof *g->referenced))
        return false;
    for (uint32_t i = 0; i < m->nreferenced; i++) {
        struct nnv_subgraph s = m->referenced[i];
        s.operands = nnv_arena_copy(g->arena, s.operands, s.noperands * sizeof *s.operands);
        s.operations = nnv_arena_copy(g->arena, s.operations, s.noperations * sizeof *s.operations);
        s.in = nnv_arena_copy(g->arena, s.in, s.nin * sizeof *s.in);
        s.out = nnv_arena_copy(g->arena, s.out, s.nout * sizeof *s.out);
        if (!s.operands || !s.operations || !s.in || !s.out) return false;
        for (uint32_t k = 0; k < s.noperands; k++) {
            if (s.operands[k].lifetime == NNV_SUBGRAPH) s.operands[k].subgraph += base;
            if (!keep_bytes(g, &s.operands[k])) return false;
        }
        for (uint32_t k = 0; k < s.noperations; k++) {
            struct nnv_operation *o = &s.operations[k];
            o->in = nnv_arena_copy(g->arena, o->in, o->nin * sizeof *o->in);
            o->out = nnv_arena_copy(g->arena, o->out, o->nout * sizeof *o->out);
            if (!o->in || !o->out) return false;
        }
        g->referenced[g->nreferenced++] = s;
    }
    return true;
}

/* A result: its shape is the real one, its value is kept. */
static bool keep_output(struct growth *g, const struct step *s, uint32_t i) {
    const int32_t code = s->draft.op->type;
    const struct nnv_operand *drawn = &s->draft.spec->model.main.operands[s->draft.op->out[i]];
    const struct nnv_value *value = &s->golden[i].value;
    const bool feeds = nnv_graph_feeds(nnv_op(code));
    struct nnv_graph_value *v = &g->value[g->noperands];
    struct nnv_operand *o = &g->operand[g->noperands];
    *o = *drawn;
    o->lifetime = NNV_TEMPORARY_VARIABLE;
    if (!declares_shapes(code)) o->rank = value->rank;
    o->dims = nnv_arena_copy(g->arena, declares_shapes(code) ? drawn->dims : value->dims, o->rank * sizeof *o->dims);
    *v = (struct nnv_graph_value){.operand = g->noperands, .value = *value};
    v->value.data = nnv_arena_copy(g->arena, value->data, value->bytes);
    v->other = NNV_NEW(g->arena, struct nnv_value, g->nin);
    if (!o->dims || !v->value.data || !v->other) return false;
    for (uint32_t n = 0; n < g->nin; n++) {
        v->other[n] = s->other[n][i].value;
        v->other[n].data = nnv_arena_copy(g->arena, v->other[n].data, v->other[n].bytes);
        if (!v->other[n].data) return false;
    }
    nnv_graph_range(o, &v->value, &v->lo, &v->hi);
    if (feeds && !o->ignored && nnv_type(o->type)->tensor) {
        if (!grow(g->arena, &g->live, g->nlive, 1, &g->live_room, sizeof *g->live)) return false;
        g->live[g->nlive++] = g->noperands;
    }
    g->noperands++;
    return true;
}

static bool keep_input(struct growth *g, struct nnv_graph_draft *d, uint32_t operand) {
    struct nnv_operand o = d->spec->model.main.operands[operand];
    if (!keep_bytes(g, &o)) return false;
    if (o.lifetime == NNV_SUBGRAPH) o.subgraph += g->nreferenced;
    if (o.lifetime == NNV_SUBGRAPH_INPUT) {
        const struct nnv_subgraph *m = &d->spec->model.main;
        for (uint32_t i = 0; i < m->nin; i++) {
            if (m->in[i] != operand) continue;
            g->in[g->nin] = g->noperands;
            g->inputs[g->nin] = d->spec->inputs[i];
            void *data = nnv_arena_copy(g->arena, d->spec->inputs[i].data, d->spec->inputs[i].bytes);
            if (!data) return false;
            g->inputs[g->nin++].data = data;
        }
    }
    g->operand[g->noperands++] = o;
    return true;
}

/* Appends the step to the graph. */
static enum nnv_status keep(struct growth *g, struct step *s, struct nnv_err *err) {
    struct nnv_graph_draft *d = &s->draft;
    const struct nnv_subgraph *m = &d->spec->model.main;
    const uint32_t values_room = g->operand_room;
    uint32_t *map = NNV_NEW(g->step, uint32_t, m->noperands);
    struct nnv_operation op = *d->op;
    op.in = NNV_NEW(g->arena, uint32_t, op.nin);
    op.out = NNV_NEW(g->arena, uint32_t, op.nout);
    if (!map || !op.in || !op.out ||
        !grow(g->arena, &g->operand, g->noperands, m->noperands, &g->operand_room, sizeof *g->operand) ||
        !grow(g->arena, &g->operation, g->noperations, 1, &g->operation_room, sizeof *g->operation))
        return no_memory(err);
    uint32_t room = values_room;
    if (!grow(g->arena, &g->value, g->noperands, g->operand_room - g->noperands, &room, sizeof *g->value))
        return no_memory(err);
    memset(map, 0xff, m->noperands * sizeof *map);
    for (uint32_t i = 0; i < op.nin; i++) {
        const uint32_t operand = d->op->in[i];
        const struct nnv_graph_value *from = d->from[operand];
        if (from && map[operand] == UINT32_MAX) {
            map[operand] = from->operand;
            g->value[from->operand].reads++;
        }
        if (map[operand] == UINT32_MAX) {
            map[operand] = g->noperands;
            if (!keep_input(g, d, operand)) return no_memory(err);
        }
        op.in[i] = map[operand];
    }
    for (uint32_t i = 0; i < op.nout; i++) {
        op.out[i] = g->noperands;
        if (!keep_output(g, s, i)) return no_memory(err);
    }
    g->operation[g->noperations++] = op;
    return keep_subgraphs(g, &d->spec->model, g->nreferenced) ? NNV_OK : no_memory(err);
}

/* ---------------------------------------------------------------------- growing */

/* Tries one use; *kept tells. */
static enum nnv_status try_step(struct growth *g, const struct nnv_graph_use *use, const struct nnv_graph_value *from,
                                bool *kept, struct nnv_err *err) {
    struct step s = {0};
    bool fits = true, open = false;
    *kept = false;
    nnv_arena_reset(g->step);
    enum nnv_status st = draw(g, use, from, &s, err);
    if (st || !s.drawn) return st;
    st = from ? place(g, &s, from, &fits, err) : nnv_graph_draft_open(&s.draft, s.drawn, g->step, err);
    if (st || !fits) return st;
    settle_inputs(g, &s.draft);
    open_outputs(&s.draft);
    struct nnv_err why = {0};
    if (!find_form(g, &s)) return NNV_OK;
    if (from) st = settle_scales(g, &s, &open, err);
    if (st) return st;
    if (nnv_validate(&s.draft.spec->model, g->step, NULL, &why) != NNV_OK || !is_small(g, &s)) return NNV_OK;
    if (evaluate(g, &s, &why) != NNV_OK) return NNV_OK;
    if (open) {
        choose_scales(g, &s);
        if (nnv_validate(&s.draft.spec->model, g->step, NULL, &why) != NNV_OK &&
            !nnv_quant_raise(s.form, &s.draft.spec->model.main))
            return NNV_OK;
        if (nnv_validate(&s.draft.spec->model, g->step, NULL, &why) != NNV_OK || evaluate(g, &s, &why) != NNV_OK)
            return NNV_OK;
    }
    if (!all_telling(&s)) return NNV_OK;
    if (!from) choose_inputs(g, &s);
    if (!depends(g, &s)) return NNV_OK;
    st = keep(g, &s, err);
    *kept = st == NNV_OK;
    return st;
}

/* Extents of `rank` whose product is elems: its factors dealt out. */
static void deal_extents(struct growth *g, size_t elems, uint32_t rank, uint32_t *dims) {
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

/* A RESHAPE of the value to another rank: for values of which no use was found as they are. */
static enum nnv_status try_reshape(struct growth *g, const struct nnv_graph_value *from, bool *kept,
                                   struct nnv_err *err) {
    const struct nnv_operand *o = &g->operand[from->operand];
    const size_t elems = from->value.bytes / nnv_type(o->type)->size;
    const uint32_t rank = (uint32_t)nnv_rng_int(&g->rng, 1, 4);
    struct step s = {0};
    struct nnv_err why = {0};
    uint32_t dims[4];
    *kept = false;
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
    if (!st) st = evaluate(g, &s, err);
    if (st || !depends(g, &s)) return st;
    st = keep(g, &s, err);
    *kept = st == NNV_OK;
    return st;
}

static enum nnv_status grow_once(struct growth *g, bool *kept, struct nnv_err *err) {
    *kept = false;
    for (int n = 0; n < TRIES && !*kept; n++) {
        const bool first = g->noperations == 0;
        if (!first && n >= TRIES / 4 && n % 4 == 0) {
            enum nnv_status st = try_reshape(g, pick_value(g), kept, err);
            if (st || *kept) return st;
        }
        const struct nnv_graph_value *from = first ? NULL : pick_value(g);
        const struct nnv_graph_use *use =
            first ? (n < 4 ? first_use(g) : pick_use(g, -1)) : pick_use(g, g->operand[from->operand].type);
        if (!use) continue;
        enum nnv_status st = try_step(g, use, from, kept, err);
        if (st) return st;
    }
    return NNV_OK;
}

/* --------------------------------------------------------------------- finishing */

/* What nobody reads is an output, and one or another that is read on. */
static enum nnv_status take_outputs(struct growth *g, struct nnv_spec *spec, struct nnv_err *err) {
    struct nnv_subgraph *m = &spec->model.main;
    m->out = NNV_NEW(g->arena, uint32_t, g->noperands);
    spec->outputs = NNV_NEW(g->arena, struct nnv_value, g->noperands);
    if (!m->out || !spec->outputs) return no_memory(err);
    for (uint32_t i = 0; i < g->noperands; i++) {
        if (g->operand[i].lifetime != NNV_TEMPORARY_VARIABLE) continue;
        if (g->value[i].reads > 0 && nnv_rng_unit(&g->rng) >= 0.1) continue;
        g->operand[i].lifetime = NNV_SUBGRAPH_OUTPUT;
        spec->outputs[m->nout] = g->value[i].value;
        m->out[m->nout++] = i;
    }
    return NNV_OK;
}

/* Extents that the model leaves open, where it stays valid: one graph in eight. */
static void leave_open(struct growth *g, struct nnv_spec *spec) {
    if (nnv_rng_int(&g->rng, 0, 7) != 0) return;
    for (uint32_t i = 0; i < g->noperands; i++) {
        struct nnv_operand *o = &g->operand[i];
        if ((o->lifetime != NNV_TEMPORARY_VARIABLE && o->lifetime != NNV_SUBGRAPH_OUTPUT) || o->rank == 0) continue;
        if (nnv_rng_unit(&g->rng) >= 0.3) continue;
        const uint32_t at = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)o->rank - 1), before = o->dims[at];
        struct nnv_err why = {0};
        o->dims[at] = 0;
        nnv_arena_reset(g->step);
        if (nnv_validate(&spec->model, g->step, NULL, &why) != NNV_OK) o->dims[at] = before;
    }
}

static enum nnv_status finish(struct growth *g, struct nnv_spec **out, struct nnv_err *err) {
    struct nnv_spec *spec = NNV_NEW(g->arena, struct nnv_spec, 1);
    if (!spec) return no_memory(err);
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
    leave_open(g, spec);
    nnv_arena_reset(g->step);
    st = nnv_validate(&spec->model, g->step, &spec->min_version, err);
    if (st) return nnv_at(err, NNV_INTERNAL, "%s", g->what->name);
    *out = spec;
    return NNV_OK;
}

static int operations_of(struct growth *g) {
    const struct nnv_graph_profile *p = g->what->profile;
    return g->what->operations > 0 ? g->what->operations : (int)nnv_rng_int(&g->rng, p->least, p->most);
}

/* *whole: the graph has as many operations as were wanted. */
static enum nnv_status attempt(const struct nnv_graph_options *what, int n, struct nnv_arena *arena,
                               struct nnv_arena *step, const struct nnv_graph_catalogue *catalogue,
                               struct nnv_spec **spec, bool *whole, struct nnv_err *err) {
    struct growth g = {.what = what, .redraw = n, .catalogue = catalogue, .arena = arena, .step = step};
    g.rng = nnv_rng_make(what->seed, nnv_hash_str(what->profile->name) + (uint64_t)n, what->index);
    g.in = NNV_NEW(arena, uint32_t, NNV_MAX_SLOTS + NNV_MAX_REPEAT);
    g.inputs = NNV_NEW(arena, struct nnv_value, NNV_MAX_SLOTS + NNV_MAX_REPEAT);
    if (!g.in || !g.inputs) return no_memory(err);
    const int wanted = operations_of(&g);
    enum nnv_status st = NNV_OK;
    for (bool kept = true; !st && kept && g.noperations < (uint32_t)wanted && (g.noperations == 0 || g.nlive > 0);)
        st = grow_once(&g, &kept, err);
    if (!st && g.noperations == 0) st = nnv_fail(err, NNV_INTERNAL, "%s: no first operation was found", what->name);
    *whole = g.noperations == (uint32_t)wanted;
    return st ? st : finish(&g, spec, err);
}

enum nnv_status nnv_graph_build(const struct nnv_graph_options *what, struct nnv_arena *arena, struct nnv_spec **spec,
                                struct nnv_err *err) {
    struct nnv_arena *step = nnv_arena_new(), *names = nnv_arena_new();
    const struct nnv_graph_catalogue *catalogue = names ? nnv_graph_catalogue(names) : NULL;
    enum nnv_status st = step && catalogue ? NNV_OK : no_memory(err);
    for (int n = 0; !st && n < REDRAWS; n++) {
        bool whole = false;
        st = attempt(what, n, arena, step, catalogue, spec, &whole, err);
        if (st) break;
        nnv_arena_reset(step);
        if (whole && nnv_graph_comparable(*spec, step)) break;
    }
    nnv_arena_free(names);
    nnv_arena_free(step);
    return st;
}

/* ---------------------------------------------------------------- comparability */

/* Elements of an output whose budget leaves something to compare; see nnv_check. */
static size_t comparable(const struct nnv_operand *o, const struct nnv_golden *g) {
    const struct nnv_type *t = nnv_type(o->type);
    const size_t n = g->value.bytes / t->size;
    double squares = 0, x;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        nnv_load(o->type, (const char *)g->value.data + i * t->size, 1, &x);
        squares += x * x;
    }
    const double rms = sqrt(squares / (double)(n ? n : 1));
    for (size_t i = 0; i < n; i++) {
        nnv_load(o->type, (const char *)g->value.data + i * t->size, 1, &x);
        if (t->kind == NNV_KIND_FLOAT)
            count += 2 * g->spread[i] <= 0.5 * fmax(fabs(x), rms);
        else
            count += t->kind == NNV_KIND_QUANT ? g->spread[i] < 32 : g->spread[i] == 0;
    }
    return count;
}

bool nnv_graph_comparable(const struct nnv_spec *spec, struct nnv_arena *arena) {
    enum { ROWS = 3 };
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_eval_options budgets = {.rows = ROWS, .k = 2, .seed = 1};
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, m->nout);
    struct nnv_err why = {0};
    size_t elems = 0, count = 0;
    if (!golden || nnv_eval(&spec->model, spec->inputs, &budgets, arena, golden, &why) != NNV_OK) return false;
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        if (o->ignored) continue;
        elems += golden[i].value.bytes / nnv_type(o->type)->size;
        count += comparable(o, &golden[i]);
    }
    return count * 2 >= elems;
}

bool nnv_graph_depends(const struct nnv_spec *spec, struct nnv_arena *arena) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_value *inputs = nnv_arena_copy(arena, spec->inputs, m->nin * sizeof *inputs);
    struct nnv_golden *was = NNV_NEW(arena, struct nnv_golden, m->nout),
                      *is = NNV_NEW(arena, struct nnv_golden, m->nout);
    struct nnv_err why = {0};
    if (!inputs || !was || !is) return false;
    for (uint32_t i = 0; i < m->nout; i++) was[i].value = spec->outputs[i];
    for (uint32_t i = 0; i < m->nin; i++) {
        if (spec->inputs[i].omitted) continue;
        if (!perturb(&m->operands[m->in[i]], &spec->inputs[i], arena, &inputs[i])) return false;
        if (nnv_eval(&spec->model, inputs, &options, arena, is, &why) != NNV_OK || !all_changed(m, was, is))
            return false;
        inputs[i] = spec->inputs[i];
    }
    return true;
}
