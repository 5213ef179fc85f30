/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a case of one operation: types, shapes, quantisation and values. */
#include <math.h>
#include <string.h>

#include "randgraph/single/draft.h"
#include "randgraph/single/quant.h"
#include "randgraph/single/scales.h"

enum { COPY_LIMIT = ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES };

int32_t nnv_single_slot_type(const struct nnv_single_draft *b, const struct nnv_slot *slot) {
    return slot->var == NNV_FIXED ? slot->type : b->sample->sig->type[slot->var];
}

/* The last group of trailing inputs of which the hook set one. */
static uint8_t last_group(const struct nnv_sample *s) {
    uint8_t last = 0;
    for (uint8_t i = 0; i < s->form->nin; i++)
        if (s->arg[s->form->in[i].id].set && s->form->in[i].group > last) last = s->form->in[i].group;
    return last;
}

/* Lines along the last axis, blocks along the first, or all alike, in turn; weights are usual ones, but high codes. */
static void set_pattern(const struct nnv_single_draft *b, const struct nnv_slot *slot, const struct nnv_sample_arg *a,
                        struct nnv_fill *f) {
    const bool data = slot->var == NNV_T && !(slot->flags & NNV_PARAM);
    const bool codes = f->mode == NNV_FILL_HIGH && nnv_is_quant(nnv_single_slot_type(b, slot));
    size_t block = 1;
    for (uint32_t d = 1; d < a->rank; d++) block *= a->dims[d];
    const size_t lines[] = {a->rank ? a->dims[a->rank - 1] : 0, 0, block};
    f->line = lines[(b->what->index + b->what->variant) % 3];
    struct nnv_rng rng = b->rng; /* not drawn from: the values are the same as ever */
    f->part = (uint32_t)nnv_rng_int(&rng, 0, INT16_MAX);
    if (!data && !codes) f->mode = NNV_FILL_NORMAL;
}

static struct nnv_fill fill_of(const struct nnv_single_draft *b, const struct nnv_slot *slot,
                               const struct nnv_sample_arg *a) {
    bool own = a->lo != 0 || a->hi != 0, is_int = nnv_single_slot_type(b, slot) == ANEURALNETWORKS_TENSOR_INT32;
    struct nnv_fill f = {.mode = b->what->mode, .lo = own ? a->lo : slot->lo, .hi = own ? a->hi : slot->hi};
    f.index = is_int && slot->var == NNV_FIXED && slot->quant != NNV_Q_BIAS;
    f.half = b->what->relaxed;
    f.magnitude = b->magnitude;
    f.density = b->density;
    f.part = (uint32_t)b->what->index;
    f.plain = nnv_single_compares_bytes(b->what->op) && f.mode == NNV_FILL_EDGE;
    if (f.mode == NNV_FILL_LINES || f.mode == NNV_FILL_HIGH) set_pattern(b, slot, a, &f);
    return f;
}

/* Of a slot whose quantisation the plan chooses, see nnv_scales_role(); -1: others, and what the hook chose itself. */
static int role_of(const struct nnv_single_draft *b, const struct nnv_slot *slot, const struct nnv_sample_arg *a) {
    const bool own = a->scale > 0 && !nnv_single_scales_all(b);
    const int role = b->scales && !own ? nnv_scales_role(b->sample->form, b->sample->sig, slot) : -1;
    return role == 0 && slot->flags & NNV_REPEAT ? (int)((a - b->sample->rep) % 2) : role;
}

/* Real value of a unit of the bias: its scale, or the product of the input's and each channel's. */
static void bias_units(const struct nnv_single_draft *b, const struct nnv_slot *slot, struct nnv_fill *f) {
    if (slot->quant != NNV_Q_BIAS || nnv_single_slot_type(b, slot) != ANEURALNETWORKS_TENSOR_INT32) return;
    const struct nnv_operand *w = &b->s->operands[1];
    f->bias_scale = (double)b->s->operands[0].scale * (w->channel.count ? 1 : (double)w->scale);
    f->bias_scales = w->channel.count ? w->channel.scales : NULL;
}

static void *scalar_data(const struct nnv_single_draft *b, int32_t type, double v) {
    void *data = nnv_arena_alloc(b->arena, 1, nnv_type(type)->size);
    if (b->what->relaxed && type == ANEURALNETWORKS_FLOAT32) v = nnv_round_to(ANEURALNETWORKS_FLOAT16, v);
    if (data) nnv_store(type, &v, 1, data);
    return data;
}

/* The hook's own values in the operand's type. */
static void put_reals(const struct nnv_single_draft *b, const struct nnv_operand *o, const double *reals, size_t n,
                      char *to) {
    const struct nnv_type *t = nnv_type(o->type);
    for (size_t i = 0; i < n; i++) {
        double v = reals[i];
        if (b->what->relaxed) v = nnv_round_to(ANEURALNETWORKS_TENSOR_FLOAT16, v);
        if (t->kind == NNV_KIND_QUANT)
            v = fmin(fmax(nnv_round_half_away(v / (double)o->scale) + o->zero_point, t->min), t->max);
        nnv_store(o->type, &v, 1, to + i * t->size);
    }
}

/* The number everywhere, or the nearest that the type has. */
static void put_number(const struct nnv_single_draft *b, const struct nnv_operand *o, double number, size_t n,
                       char *to) {
    const struct nnv_type *t = nnv_type(o->type);
    put_reals(b, o, &number, n > 0, to);
    for (size_t i = 1; i < n; i++) memcpy(to + i * t->size, to, t->size);
}

static enum nnv_status tensor_data(struct nnv_single_draft *b, const struct nnv_slot *slot,
                                   const struct nnv_sample_arg *a, const struct nnv_operand *o, struct nnv_value *v,
                                   struct nnv_err *err) {
    size_t elems, bytes;
    if (!nnv_size_bytes(o->type, a->rank, a->dims, &elems, &bytes))
        return nnv_fail(err, NNV_INTERNAL, "the sample hook made a tensor that is too large");
    *v = (struct nnv_value){.rank = a->rank, .bytes = bytes, .data = nnv_arena_alloc(b->arena, bytes, 1)};
    memcpy(v->dims, a->dims, a->rank * sizeof *a->dims);
    if (!v->data) return nnv_no_memory(err);
    if (a->ints) {
        memcpy(v->data, a->ints, bytes);
        return NNV_OK;
    }
    if (a->reals) {
        put_reals(b, o, a->reals, elems, v->data);
        return NNV_OK;
    }
    double number;
    if (b->what->plan == NNV_PLAN_CONSTANTS && nnv_constants_number(b, slot, a, &number)) {
        put_number(b, o, number, elems, v->data);
        return NNV_OK;
    }
    struct nnv_fill f = fill_of(b, slot, a);
    struct nnv_operand real = *o; /* with the real extents, for the channels */
    real.dims = v->dims;
    bias_units(b, slot, &f);
    const bool channels = b->scales && o->channel.count > 0;
    if (channels || role_of(b, slot, a) >= 0) nnv_scales_fill(b->scales, o, &f);
    enum nnv_status st = NNV_OK;
    if (f.mode == NNV_FILL_SWEEP || f.mode == NNV_FILL_LIMITS) st = nnv_sweep_fill(b, slot, &f, err);
    if (st) return st;
    nnv_fill(&f, &real, &b->rng, elems, v->data);
    return NNV_OK;
}

bool nnv_single_is_constant(const struct nnv_single_draft *b, const struct nnv_slot *slot,
                            const struct nnv_sample_arg *a) {
    if (b->what->plan == NNV_PLAN_INPUTS) return false;
    bool constant;
    if (b->what->plan == NNV_PLAN_CONSTANTS && nnv_constants_choose(b, a, &constant)) return constant;
    if (a->constant) return true;
    if (a->input || !(slot->flags & NNV_PARAM)) return false;
    bool weights = !a->ints && slot->var != NNV_FIXED;
    return !(weights && b->what->index % 4 == 3); /* weights as inputs, now and then */
}

static void make_constant(struct nnv_operand *o, const void *data, size_t bytes) {
    o->data = data;
    o->bytes = bytes;
    o->lifetime = bytes <= COPY_LIMIT ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE;
}

static enum nnv_status add_scalar(struct nnv_single_draft *b, const struct nnv_slot *slot,
                                  const struct nnv_sample_arg *a, struct nnv_operand *o, struct nnv_value *v,
                                  struct nnv_err *err) {
    void *data = scalar_data(b, o->type, a->set ? a->value : slot->dflt);
    if (!data) return nnv_no_memory(err);
    *v = (struct nnv_value){.bytes = nnv_type(o->type)->size, .data = data};
    o->lifetime = NNV_SUBGRAPH_INPUT;
    if (b->what->plan != NNV_PLAN_INPUTS || b->what->index % 2 == 0) make_constant(o, data, v->bytes);
    return NNV_OK;
}

/* An omitted input: without a value in the model, or every third time only in the request. */
static enum nnv_status add_omitted(struct nnv_single_draft *b, const struct nnv_slot *slot, struct nnv_operand *o,
                                   struct nnv_value *v, struct nnv_err *err) {
    if (!(slot->flags & NNV_OMITTABLE))
        return nnv_fail(err, NNV_INTERNAL, "the sample hook did not set input %s", slot->name);
    bool late = b->what->index % 3 == 2 && !(slot->flags & NNV_SCALAR);
    o->lifetime = late ? NNV_SUBGRAPH_INPUT : NNV_NO_VALUE;
    o->rank = slot->flags & NNV_SCALAR ? 0 : slot->rank_min ? slot->rank_min : 1;
    o->dims = NNV_NEW(b->arena, uint32_t, o->rank);
    if (!o->dims) return nnv_no_memory(err);
    if (nnv_is_quant(o->type) && !nnv_type(o->type)->per_channel) o->scale = 1;
    *v = (struct nnv_value){.omitted = true};
    return NNV_OK;
}

static enum nnv_status add_tensor(struct nnv_single_draft *b, const struct nnv_slot *slot,
                                  const struct nnv_sample_arg *a, struct nnv_operand *o, struct nnv_value *v,
                                  struct nnv_err *err) {
    o->rank = a->rank;
    o->dims = nnv_arena_copy(b->arena, a->dims, a->rank * sizeof *a->dims);
    if (!o->dims) return nnv_no_memory(err);
    struct nnv_quant_choice q = {.mode = b->what->mode,
                                 .slot = slot,
                                 .arg = a,
                                 .operands = b->s->operands,
                                 .position = b->s->noperands,
                                 .index = b->what->index,
                                 .planned = b->what->plan != NNV_PLAN_VARIANT};
    struct nnv_fill f = fill_of(b, slot, a);
    nnv_fill_range(&f, &q.lo, &q.hi);
    q.scales = b->scales;
    q.role = role_of(b, slot, a);
    memcpy(q.like, b->like, sizeof q.like);
    enum nnv_status st = nnv_quant_input(&q, &b->rng, b->arena, o, err);
    if (q.role >= 0) b->like[q.role] = o;
    if (!st) st = tensor_data(b, slot, a, o, v, err);
    if (st) return st;
    bool constant = nnv_single_is_constant(b, slot, a) && v->bytes > 0;
    o->lifetime = NNV_SUBGRAPH_INPUT;
    if (constant) make_constant(o, v->data, v->bytes);
    return NNV_OK;
}

static enum nnv_status add_input(struct nnv_single_draft *b, const struct nnv_slot *slot,
                                 const struct nnv_sample_arg *a, struct nnv_err *err) {
    struct nnv_operand *o = &b->s->operands[b->s->noperands];
    struct nnv_value *v = &b->values[b->s->noperands];
    b->slots[b->s->noperands] = slot;
    o->type = nnv_single_slot_type(b, slot);
    enum nnv_status st;
    if (!a->set && (slot->flags & NNV_OMITTABLE || !(slot->flags & NNV_SCALAR) || slot->group == 0))
        st = add_omitted(b, slot, o, v, err);
    else if (slot->flags & NNV_SCALAR)
        st = add_scalar(b, slot, a, o, v, err);
    else
        st = add_tensor(b, slot, a, o, v, err);
    if (!st) b->s->noperands++;
    return st;
}

enum nnv_status nnv_single_add_inputs(struct nnv_single_draft *b, struct nnv_err *err) {
    const struct nnv_sample *s = b->sample;
    uint8_t last = last_group(s);
    for (uint8_t i = 0; i < s->form->nin; i++) {
        const struct nnv_slot *slot = &s->form->in[i];
        bool repeat = slot->flags & NNV_REPEAT;
        for (uint32_t k = 0; slot->group <= last && k < (repeat ? s->nrep : 1); k++) {
            enum nnv_status st = add_input(b, slot, repeat ? &s->rep[k] : &s->arg[slot->id], err);
            if (st) return st;
        }
    }
    return NNV_OK;
}
