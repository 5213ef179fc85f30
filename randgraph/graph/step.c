/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/growth.h"

#include <math.h>
#include <string.h>

#include "randgraph/single/single.h"
#include "randgraph/single/quant.h"
#include "reference/model/validate.h"

enum {
    MOST_INPUTS = 3,       /* of a graph */
    MOST_SAMPLES = 1 << 14 /* elements of random results */
};
enum { COPY_LIMIT = 128 }; /* bytes: larger constants lie in a pool */

/* Graph after graph that begins with a use takes the next of its cases. */
static int first_case(struct nnv_growth *g) {
    return (int)((g->what->index / g->catalogue->count + 7 * g->first + (uint64_t)g->begun++) % 1000);
}

/* Results are asked for in the first step alone: later ones get other inputs, and are evaluated then. */
static enum nnv_status draw(struct nnv_growth *g, const struct nnv_graph_use *use, const struct nnv_graph_value *from,
                            struct nnv_graph_step *s, struct nnv_err *err) {
    const bool covered = nnv_single_planned(use->op, 0, NNV_PLAN_COVER) > 0 && nnv_rng_unit(&g->rng) < 0.5;
    const struct nnv_single w = {.op = use->op,
                                 .sig = use->sig,
                                 .variant = use->variant,
                                 .plan = covered ? NNV_PLAN_COVER : NNV_PLAN_VARIANT,
                                 .index = from ? (int)nnv_rng_int(&g->rng, 0, 999) : first_case(g),
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
static void place_more(struct nnv_growth *g, struct nnv_graph_draft *d) {
    for (uint32_t p = 0; p < d->op->nin; p++) {
        const struct nnv_operand *o = &d->spec->model.main.operands[d->op->in[p]];
        if (o->lifetime != NNV_SUBGRAPH_INPUT || d->from[d->op->in[p]]) continue;
        const struct nnv_graph_value *known = g->known ? &g->value[g->known] : NULL;
        if (known && known->reads == 0 && same_dims(o, &known->value) &&
            nnv_graph_draft_place(d, p, known, &g->operand[g->known]))
            continue;
        if (nnv_rng_unit(&g->rng) < 0.3) continue;
        const uint32_t start = (uint32_t)nnv_rng_int(&g->rng, 0, (int64_t)g->nlive - 1);
        for (uint32_t n = 0; n < g->nlive && n < 64; n++) {
            const struct nnv_graph_value *v = &g->value[g->live[(start + n) % g->nlive]];
            if (same_dims(o, &v->value) && nnv_graph_draft_place(d, p, v, &g->operand[v->operand])) break;
        }
    }
}

/* Finds an input position of the draft at which the value can stand. */
static enum nnv_status place(struct nnv_growth *g, struct nnv_graph_step *s, const struct nnv_graph_value *v,
                             bool *placed, struct nnv_err *err) {
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

/** Makes an input a constant of this value. */
static void growth_constant(struct nnv_operand *o, const struct nnv_value *v) {
    o->lifetime = v->bytes <= COPY_LIMIT ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
    o->data = v->data;
    o->bytes = v->bytes;
}

/* Model inputs that are not placed: constants (in the first step they stay inputs), and values for those that are. */
static void settle_inputs(const struct nnv_growth *g, struct nnv_graph_draft *d) {
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
            growth_constant(o, &v);
            continue;
        }
        d->spec->inputs[kept] = v;
        m->in[kept++] = m->in[i];
    }
    m->nin = kept;
}

bool nnv_growth_declares(int32_t code) { return nnv_op(code)->check_subgraphs != NULL; }

/* The declared shapes of the outputs are forgotten: the new ones follow. */
static void open_outputs(struct nnv_graph_draft *d) {
    struct nnv_subgraph *m = &d->spec->model.main;
    if (nnv_growth_declares(d->op->type)) return;
    for (uint32_t i = 0; i < m->nout; i++) m->operands[m->out[i]].rank = 0;
}

/* Scales of outputs by their rules: those of the inputs may have changed. */
static enum nnv_status settle_scales(struct nnv_growth *g, struct nnv_graph_step *s, bool *open, struct nnv_err *err) {
    struct nnv_graph_draft *d = &s->draft;
    struct nnv_subgraph *m = &d->spec->model.main;
    struct nnv_operand *inputs = NNV_NEW(g->step, struct nnv_operand, d->op->nin);
    if (!inputs) return nnv_no_memory(err);
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

static void choose_scales(struct nnv_growth *g, struct nnv_graph_step *s) {
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
static bool find_form(struct nnv_growth *g, struct nnv_graph_step *s) {
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
static bool is_small(struct nnv_growth *g, const struct nnv_graph_step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    struct nnv_shape *shapes = NNV_NEW(g->step, struct nnv_shape, m->noperands);
    struct nnv_err why = {0};
    if (!shapes || nnv_infer_shapes(&s->draft.spec->model, g->step, shapes, &why) != NNV_OK) return false;
    const size_t most = nnv_graph_tells(nnv_op(s->draft.op->type), 0) ? NNV_GRAPH_ELEMS : MOST_SAMPLES;
    for (uint32_t i = 0; i < m->nout; i++)
        if (nnv_shape_known(&shapes[m->out[i]]) && nnv_shape_elems(&shapes[m->out[i]]) > most) return false;
    return work_of(&s->draft, shapes) <= NNV_GRAPH_WORK;
}

enum nnv_status nnv_growth_evaluate(struct nnv_growth *g, struct nnv_graph_step *s, struct nnv_err *err) {
    const struct nnv_spec *spec = s->draft.spec;
    s->golden = NNV_NEW(g->step, struct nnv_golden, spec->model.main.nout);
    if (!s->golden) return nnv_no_memory(err);
    return nnv_eval(&spec->model, spec->inputs, &nnv_growth_bounds, g->step, s->golden, err);
}

/* A result that says something: finite and of a size that goes on well, not all alike, not mostly at the limits. */
static bool is_telling(const struct nnv_operand *o, const struct nnv_value *v, double most_limits) {
    const struct nnv_type *t = nnv_type(o->type);
    const size_t n = v->bytes / t->size;
    const double most = t->kind != NNV_KIND_FLOAT ? 0x1p30 : t->size == 2 ? 1000 : 1e5;
    size_t alike = 0, limits = 0;
    if (n == 0 || n > NNV_GRAPH_ELEMS) return false;
    double x[NNV_GRAPH_ELEMS];
    nnv_load(o->type, v->data, n, x);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || (t->kind != NNV_KIND_QUANT && fabs(x[i]) > most)) return false;
        alike += x[i] == x[0];
        limits += t->kind == NNV_KIND_QUANT && (x[i] == t->min || x[i] == t->max);
    }
    return (n < 2 || alike < n) && (n < 4 || (double)limits <= most_limits * (double)n);
}

static bool all_telling(const struct nnv_graph_step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    const struct nnv_op *op = nnv_op(s->draft.op->type);
    bool told = !nnv_graph_tells(op, 0);
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        if (o->ignored || !nnv_graph_tells(op, i)) continue;
        /* where the scale is given, results end at the limits as they do */
        const int quant = nnv_out_slot(s->form, i)->quant;
        const bool given = quant == NNV_Q_UNIT_128 || quant == NNV_Q_UNIT_256;
        if (!is_telling(o, &s->golden[i].value, given ? 0.9 : 0.5)) return false;
        told = true;
    }
    return told;
}

/* The results where model input `which` is another one; false if they can't be had, or one is what it was. */
static bool evaluate_other(struct nnv_growth *g, struct nnv_graph_step *s, uint32_t which, struct nnv_golden **other) {
    const struct nnv_spec *spec = s->draft.spec;
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_value *inputs = nnv_arena_copy(g->step, spec->inputs, m->nin * sizeof *inputs);
    struct nnv_err why = {0};
    *other = NNV_NEW(g->step, struct nnv_golden, m->nout);
    if (!inputs || !*other) return false;
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_graph_value *from = s->draft.from[m->in[i]];
        if (from) inputs[i] = from->other[which];
        if (!from && i == which && !nnv_growth_perturb(&m->operands[m->in[i]], &spec->inputs[i], g->step, &inputs[i]))
            return false;
    }
    return nnv_eval(&spec->model, inputs, &nnv_growth_bounds, g->step, *other, &why) == NNV_OK &&
           nnv_growth_changed(m, s->golden, *other);
}

bool nnv_growth_from_input(const struct nnv_growth *g, int32_t code) {
    return g->noperations == 0 && g->wanted > 1 && !nnv_graph_feeds(nnv_op(code));
}

/* In the first step: inputs on which an output does not depend become constants, as long as one is left. */
static void choose_inputs(struct nnv_growth *g, struct nnv_graph_step *s) {
    struct nnv_graph_draft *d = &s->draft;
    struct nnv_subgraph *m = &d->spec->model.main;
    const uint32_t most = nnv_growth_from_input(g, d->op->type) ? 1 : MOST_INPUTS;
    for (uint32_t i = m->nin; i-- > 0 && m->nin > 1;) {
        struct nnv_golden *other;
        if (m->nin <= most && evaluate_other(g, s, i, &other)) continue;
        if (d->spec->inputs[i].bytes == 0) continue;
        growth_constant(&m->operands[m->in[i]], &d->spec->inputs[i]);
        m->nin--;
        memmove(&m->in[i], &m->in[i + 1], (m->nin - i) * sizeof *m->in);
        memmove(&d->spec->inputs[i], &d->spec->inputs[i + 1], (m->nin - i) * sizeof *d->spec->inputs);
    }
}

bool nnv_growth_depends(struct nnv_growth *g, struct nnv_graph_step *s) {
    const uint32_t count = g->noperations == 0 ? s->draft.spec->model.main.nin : g->nin;
    s->other = NNV_NEW(g->step, struct nnv_golden *, count);
    if (!s->other) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!evaluate_other(g, s, i, &s->other[i])) return false;
    return true;
}

/* ------------------------------------------------------------------ without rows */

/* The operand as the model has it where its value is this one: extents that differ are open. */
static bool open_extents(struct nnv_operand *o, const struct nnv_value *v, struct nnv_arena *arena) {
    if (o->rank != v->rank || (o->channel.count && o->dims[o->channel.dim] != v->dims[o->channel.dim])) return false;
    o->dims = nnv_arena_copy(arena, o->dims, o->rank * sizeof *o->dims);
    for (uint32_t k = 0; o->dims && k < o->rank; k++)
        if (o->dims[k] != v->dims[k]) o->dims[k] = 0;
    return o->dims != NULL;
}

/* The first input position that may be empty where the graph begins; the input there, as a model input. */
static uint32_t first_empty(const struct nnv_graph_step *s) {
    const struct nnv_subgraph *m = &s->draft.spec->model.main;
    const struct nnv_op *op = nnv_op(s->draft.op->type);
    for (uint32_t p = 0; p < s->draft.op->nin; p++)
        for (uint32_t i = 0; i < m->nin; i++)
            if (m->in[i] == s->draft.op->in[p] && nnv_graph_takes_empty(op, p)) return i;
    return m->nin;
}

/* Model input i of the step where the batch is empty. Of the graph's own inputs first is empty, and unless it is to be
 * alone those with as many rows are, too. */
static bool empty_input(struct nnv_growth *g, struct nnv_graph_step *s, uint32_t i, uint32_t first, bool alone,
                        struct nnv_value *v) {
    const struct nnv_spec *spec = s->draft.spec;
    const struct nnv_graph_value *from = s->draft.from[spec->model.main.in[i]];
    if (from) *v = from->empty;
    if (from || g->noperations > 0 || i < first) return true;
    const struct nnv_value *x = &spec->inputs[first];
    if (i > first && (alone || v->rank == 0 || x->rank == 0 || v->dims[0] != x->dims[0])) return true;
    return nnv_growth_without_rows(&spec->inputs[i], g->step, v);
}

/* An input that must have rows has none. */
static bool lacks_rows(const struct nnv_graph_step *s, const struct nnv_subgraph *m, const struct nnv_value *inputs) {
    for (uint32_t p = 0; p < s->draft.op->nin; p++)
        for (uint32_t i = 0; i < m->nin; i++)
            if (m->in[i] == s->draft.op->in[p] && !inputs[i].omitted && inputs[i].bytes == 0 &&
                !nnv_graph_takes_empty(nnv_op(s->draft.op->type), p))
                return true;
    return false;
}

static bool all_finite(const struct nnv_subgraph *m, const struct nnv_golden *golden) {
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        const size_t size = nnv_type(o->type)->size;
        double x;
        for (size_t at = 0; at < golden[i].value.bytes; at += size) {
            nnv_load(o->type, (const char *)golden[i].value.data + at, 1, &x);
            if (!isfinite(x)) return false;
        }
    }
    return true;
}

/* The results where the batch is empty; false if there are none. */
static bool evaluate_empty(struct nnv_growth *g, struct nnv_graph_step *s, bool alone) {
    struct nnv_model model = s->draft.spec->model;
    struct nnv_subgraph *m = &model.main;
    struct nnv_value *inputs = nnv_arena_copy(g->step, s->draft.spec->inputs, m->nin * sizeof *inputs);
    struct nnv_err why = {0};
    m->operands = nnv_arena_copy(g->step, m->operands, m->noperands * sizeof *m->operands);
    s->empty = NNV_NEW(g->step, struct nnv_golden, m->nout);
    if (!inputs || !m->operands || !s->empty) return false;
    const uint32_t first = first_empty(s);
    for (uint32_t i = 0; i < m->nin; i++)
        if (!empty_input(g, s, i, first, alone, &inputs[i]) ||
            !open_extents(&m->operands[m->in[i]], &inputs[i], g->step))
            return false;
    if (lacks_rows(s, m, inputs)) return false;
    if (nnv_eval(&model, inputs, &nnv_growth_bounds, g->step, s->empty, &why) != NNV_OK) return false;
    for (uint32_t i = 0; i < m->nout; i++)
        if (s->empty[i].value.rank != s->golden[i].value.rank) return false;
    if (g->noperations == 0) {
        if (s->empty[0].value.bytes > 0) return false;
        g->empty = inputs;
    }
    return all_finite(m, s->empty);
}

static bool goes_without_rows(struct nnv_growth *g, struct nnv_graph_step *s) {
    if (g->what->extents != NNV_EXTENTS_EMPTY) return true;
    return nnv_op(s->draft.op->type)->zero != NNV_ZERO_REFUSED &&
           (evaluate_empty(g, s, false) || (g->noperations == 0 && evaluate_empty(g, s, true)));
}

/* ------------------------------------------------------------------------ a step */

enum nnv_status nnv_growth_try(struct nnv_growth *g, const struct nnv_graph_use *use,
                               const struct nnv_graph_value *from, bool *kept, struct nnv_err *err) {
    struct nnv_graph_step s = {0};
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
    if (nnv_growth_evaluate(g, &s, &why) != NNV_OK) return NNV_OK;
    if (open) {
        choose_scales(g, &s);
        if (nnv_validate(&s.draft.spec->model, g->step, NULL, &why) != NNV_OK &&
            !nnv_quant_raise(s.form, &s.draft.spec->model.main))
            return NNV_OK;
        if (nnv_validate(&s.draft.spec->model, g->step, NULL, &why) != NNV_OK ||
            nnv_growth_evaluate(g, &s, &why) != NNV_OK)
            return NNV_OK;
    }
    if (!all_telling(&s)) return NNV_OK;
    if (!from) choose_inputs(g, &s);
    if (!nnv_growth_depends(g, &s) || !goes_without_rows(g, &s)) return NNV_OK;
    st = nnv_growth_keep(g, &s, err);
    *kept = st == NNV_OK;
    return st;
}
