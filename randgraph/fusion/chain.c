/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/fusion/chain.h"

#include <math.h>
#include <string.h>

#include "randgraph/single/quant.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

void nnv_chain_fail(struct nnv_chain *c) {
    c->failed = true;
    if (!c->why.text[0]) (void)!nnv_fail(&c->why, NNV_INVALID, "a step does not fit its value");
}

const struct nnv_operand *nnv_chain_operand(const struct nnv_chain *c, uint32_t operand) {
    return &c->b.operand[operand];
}

uint32_t nnv_chain_extent(const struct nnv_chain *c, uint32_t operand, int k) {
    const struct nnv_operand *o = nnv_chain_operand(c, operand);
    const int i = k < 0 ? (int)o->rank + k : k;
    return i >= 0 && i < (int)o->rank ? o->dims[i] : 1;
}

static bool chain_is_quant(const struct nnv_chain *c) { return nnv_is_quant(nnv_chain_operand(c, c->at)->type); }

int nnv_chain_int(struct nnv_chain *c, int lo, int hi) { return (int)nnv_rng_int(&c->rng, lo, hi); }

bool nnv_chain_chance(struct nnv_chain *c, double p) { return nnv_rng_unit(&c->rng) < p; }

static size_t elements(uint32_t rank, const uint32_t *dims) {
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= dims[i];
    return n;
}

/* Scale and zero point by which [lo, hi] takes most of the codes. */
static struct nnv_encoding encoding_for(struct nnv_chain *c, int32_t type, double lo, double hi) {
    struct nnv_encoding e = {.type = type};
    if (!nnv_is_quant(type)) return e;
    const struct nnv_type *t = nnv_type(type);
    const double low = fmin(lo, 0), high = fmax(hi, 0), scale = (high - low) / 250 * nnv_rng_uniform(&c->noise, 1, 1.2);
    e.scale = (float)scale;
    e.zero_point = (int32_t)fmax(t->min, fmin(t->max, t->min + 2 - floor(low / scale)));
    return e;
}

/* n values of the encoding, in its codes. */
static double *draw(struct nnv_chain *c, struct nnv_encoding e, size_t n, double lo, double hi) {
    double *v = NNV_NEW(c->arena, double, n);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = nnv_rng_uniform(&c->noise, lo, hi);
        if (e.scale > 0) {
            const struct nnv_type *t = nnv_type(e.type);
            v[i] = fmax(t->min, fmin(t->max, round(v[i] / (double)e.scale) + e.zero_point));
        }
    }
    if (!v) c->b.failed = c->failed = true;
    return v;
}

uint32_t nnv_chain_input(struct nnv_chain *c, int32_t type, uint32_t rank, const uint32_t *dims, double lo, double hi) {
    const size_t n = elements(rank, dims), size = nnv_type(type)->size;
    if (c->failed || c->nin == NNV_CHAIN_IO || c->b.noperands == NNV_CHAIN_OPERANDS) {
        nnv_chain_fail(c);
        return 0;
    }
    const struct nnv_encoding e =
        c->pass > 0 ? nnv_builder_encoding(&c->b, c->in[c->nin - c->nin_first]) : encoding_for(c, type, lo, hi);
    const double *v = draw(c, e, n, lo, hi);
    const uint32_t operand = nnv_builder_tensor(&c->b, e, rank, dims, NNV_SUBGRAPH_INPUT);
    struct nnv_value *value = &c->value[operand];
    *value = (struct nnv_value){.rank = rank, .bytes = n * size, .data = nnv_arena_alloc(c->arena, n, size)};
    memcpy(value->dims, dims, rank * sizeof *dims);
    if (!v || !value->data) {
        c->b.failed = c->failed = true;
        return 0;
    }
    nnv_store(type, v, n, value->data);
    c->in[c->nin++] = operand;
    return operand;
}

/* ------------------------------------------------------------------------ constants */

/* A tensor of the constant's numbers, but for one in the middle, which its neighbour gives. */
static uint32_t almost_alike(struct nnv_chain *c, uint32_t operand) {
    const struct nnv_operand o = c->b.operand[operand];
    const size_t size = nnv_type(o.type)->size, n = o.bytes / size;
    char *data = nnv_arena_copy(c->arena, o.data, o.bytes);
    if (!data) {
        c->b.failed = c->failed = true;
        return 0;
    }
    const size_t at = 1 + (size_t)nnv_rng_int(&c->noise, 0, (int64_t)n - 3);
    memcpy(data + at * size, (const char *)o.data + (at - 1) * size, size);
    struct nnv_operand copy = o;
    copy.data = data;
    return nnv_builder_operand(&c->b, copy);
}

/* Numbers that only have to be finite: not extents, axes or orders. */
static bool may_differ(const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    return t->tensor && o->bytes / t->size >= 3 && (t->kind != NNV_KIND_INT || o->scale > 0);
}

/* In the second pass: the constant of the first that stands at this place, or one almost alike; *taken. */
static uint32_t shared_constant(struct nnv_chain *c, bool *taken) {
    *taken = c->failed || c->pass > 0;
    if (c->failed) return 0;
    if (c->pass > 0 && c->reused == c->nconstants) nnv_chain_fail(c);
    if (c->pass == 0 || c->failed) return 0;
    const uint32_t operand = c->constant[c->reused++];
    const bool alike = may_differ(&c->b.operand[operand]) && nnv_rng_unit(&c->noise) < 0.35;
    return alike ? almost_alike(c, operand) : operand;
}

static uint32_t keep_constant(struct nnv_chain *c, uint32_t operand) {
    if (c->nconstants == NNV_CHAIN_OPERANDS || c->b.noperands == NNV_CHAIN_OPERANDS)
        nnv_chain_fail(c);
    else
        c->constant[c->nconstants++] = operand;
    return operand;
}

uint32_t nnv_chain_constant(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, double lo, double hi) {
    bool taken;
    const uint32_t shared = shared_constant(c, &taken);
    if (taken) return shared;
    const struct nnv_encoding e = encoding_for(c, nnv_chain_operand(c, c->at)->type, lo, hi);
    const double *v = draw(c, e, elements(rank, dims), lo, hi);
    return v ? keep_constant(c, nnv_builder_numbers(&c->b, e, rank, dims, v)) : 0;
}

/* Numbers in [-most, most]; e is of the type for scales per channel: along dim. */
static uint32_t add_weights(struct nnv_chain *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims,
                            uint32_t dim, double most) {
    const bool per_channel = nnv_type(e.type)->per_channel;
    const size_t n = elements(rank, dims);
    double *v = draw(c, e, n, per_channel ? -127 : -most, per_channel ? 127 : most);
    if (!v) return 0;
    for (size_t i = 0; per_channel && i < n; i++) v[i] = round(v[i]);
    const uint32_t operand = nnv_builder_numbers(&c->b, e, rank, dims, v);
    if (per_channel && nnv_builder_ok(&c->b)) {
        struct nnv_operand *o = &c->b.operand[operand];
        float *scales = NNV_NEW(c->arena, float, dims[dim]);
        if (!scales) c->b.failed = c->failed = true;
        for (uint32_t i = 0; scales && i < dims[dim]; i++)
            scales[i] = (float)(most / 127 * nnv_rng_uniform(&c->noise, 0.25, 1));
        o->channel.dim = dim;
        o->channel.count = dims[dim];
        o->channel.scales = scales;
    }
    return keep_constant(c, operand);
}

static const struct nnv_encoding per_channel_scales = {.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL};

uint32_t nnv_chain_filter(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, int dim, double most) {
    bool taken;
    const uint32_t shared = shared_constant(c, &taken);
    if (taken) return shared;
    struct nnv_encoding e = encoding_for(c, nnv_chain_operand(c, c->at)->type, -most, most);
    if (e.scale > 0 && dim >= 0 && nnv_rng_unit(&c->noise) < 0.4) e = per_channel_scales;
    return add_weights(c, e, rank, dims, dim < 0 ? 0 : (uint32_t)dim, most);
}

uint32_t nnv_chain_stored(struct nnv_chain *c, uint32_t rank, const uint32_t *dims, double most) {
    static const int32_t types[] = {ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, ANEURALNETWORKS_TENSOR_QUANT8_SYMM,
                                    ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};
    enum { TYPES = sizeof types / sizeof *types, PER_CHANNEL_TOO = 2 }; /* as often as all others */
    bool taken;
    uint32_t stored = shared_constant(c, &taken);
    if (!taken) {
        const int64_t i = nnv_rng_int(&c->noise, -PER_CHANNEL_TOO, TYPES - 1);
        const uint32_t dim = (uint32_t)nnv_rng_int(&c->noise, 0, (int64_t)rank - 1);
        struct nnv_encoding e = encoding_for(c, types[i < 0 ? 0 : i], -most, most);
        if (e.type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM) e.zero_point = 0;
        if (i <= 0) e = per_channel_scales;
        stored = add_weights(c, e, rank, dims, dim, most);
    }
    return nnv_chain_operation(c, ANEURALNETWORKS_DEQUANTIZE, 1, &stored, nnv_chain_operand(c, c->at)->type, 1);
}

uint32_t nnv_chain_bias(struct nnv_chain *c, uint32_t filter, uint32_t n) {
    if (c->failed) return 0;
    if (!chain_is_quant(c)) return nnv_chain_constant(c, 1, &n, -1, 1);
    bool taken;
    const uint32_t shared = shared_constant(c, &taken);
    if (taken) return shared;
    const struct nnv_operand *w = nnv_chain_operand(c, filter), *x = nnv_chain_operand(c, c->at);
    const struct nnv_encoding e = {ANEURALNETWORKS_TENSOR_INT32, (float)((double)x->scale * (double)w->scale), 0};
    double *v = NNV_NEW(c->arena, double, n);
    if (!v) c->b.failed = c->failed = true;
    for (uint32_t i = 0; v && i < n; i++) {
        const double unit = (double)x->scale * (double)(w->channel.count ? w->channel.scales[i] : w->scale);
        v[i] = round(nnv_rng_uniform(&c->noise, -1, 1) / unit);
    }
    return v ? keep_constant(c, nnv_builder_numbers(&c->b, e, 1, &n, v)) : 0;
}

uint32_t nnv_chain_ints(struct nnv_chain *c, uint32_t n, const int32_t *v) {
    bool taken;
    const uint32_t shared = shared_constant(c, &taken);
    return taken ? shared : keep_constant(c, nnv_builder_ints(&c->b, n, v));
}

uint32_t nnv_chain_scalar(struct nnv_chain *c, int32_t type, double v) {
    bool taken;
    const uint32_t shared = shared_constant(c, &taken);
    return taken ? shared : keep_constant(c, nnv_builder_scalar(&c->b, type, v));
}

uint32_t nnv_chain_activation(struct nnv_chain *c) {
    if (c->fused >= 0) return nnv_chain_i32(c, c->fused);
    return nnv_chain_i32(c, nnv_chain_chance(c, 0.8) ? ANEURALNETWORKS_FUSED_NONE : nnv_chain_int(c, 1, 3));
}

/* ----------------------------------------------------------------------- operations */

/* One operation as a model of its own, whose inputs are the values that it reads. */
struct alone {
    struct nnv_model model;
    struct nnv_value inputs[NNV_CHAIN_IO];
    const struct nnv_form *form;
};

/* The operand's number in the model alone, which gets it the first time. */
static uint32_t number_alone(struct nnv_chain *c, struct alone *a, uint32_t operand, uint32_t *map) {
    struct nnv_subgraph *m = &a->model.main;
    for (uint32_t i = 0; i < m->noperands; i++)
        if (map[i] == operand) return i;
    struct nnv_operand *o = &m->operands[m->noperands];
    *o = c->b.operand[operand];
    map[m->noperands] = operand;
    if (!nnv_is_constant(o)) {
        o->lifetime = NNV_SUBGRAPH_INPUT;
        a->inputs[m->nin] = c->value[operand];
        m->in[m->nin++] = m->noperands;
    }
    return m->noperands++;
}

static bool set_apart(struct nnv_chain *c, const struct nnv_operation *op, struct alone *a) {
    struct nnv_subgraph *m = &a->model.main;
    struct nnv_operation *own = NNV_NEW(c->arena, struct nnv_operation, 1);
    uint32_t *map = NNV_NEW(c->arena, uint32_t, op->nin + op->nout);
    *a = (struct alone){.model.main = {.noperations = 1,
                                       .nout = op->nout,
                                       .operands = NNV_NEW(c->arena, struct nnv_operand, op->nin + op->nout),
                                       .operations = own,
                                       .in = NNV_NEW(c->arena, uint32_t, op->nin),
                                       .out = NNV_NEW(c->arena, uint32_t, op->nout)},
                        .form = &nnv_op(op->type)->forms[0]};
    if (!own || !map || !m->operands || !m->in || !m->out || op->nin > NNV_CHAIN_IO) return false;
    *own = *op;
    own->in = NNV_NEW(c->arena, uint32_t, op->nin);
    own->out = m->out;
    if (!own->in) return false;
    for (uint32_t i = 0; i < op->nin; i++) own->in[i] = number_alone(c, a, op->in[i], map);
    for (uint32_t i = 0; i < op->nout; i++) {
        m->operands[m->noperands] = c->b.operand[op->out[i]];
        m->operands[m->noperands].lifetime = NNV_SUBGRAPH_OUTPUT;
        m->out[i] = m->noperands++;
    }
    return true;
}

/* The outermost numbers saturate in QUANTIZE, as where a network was calibrated: who leaves it out shows it. */
static const double quantised_part = 0.75;

/* Scales of the results: those of the first pass, those that the rules say, or by the range of the results. */
static enum nnv_status choose_scales(struct nnv_chain *c, struct alone *a, struct nnv_golden *golden) {
    struct nnv_subgraph *m = &a->model.main;
    const struct nnv_operation *op = m->operations;
    struct nnv_operand *inputs = NNV_NEW(c->arena, struct nnv_operand, op->nin);
    bool open = false;
    if (!inputs) return nnv_no_memory(&c->why);
    for (uint32_t i = 0; i < op->nin; i++) inputs[i] = m->operands[op->in[i]];
    for (uint32_t i = 0; i < m->nout; i++) {
        struct nnv_operand *o = &m->operands[m->out[i]];
        const struct nnv_slot *slot = nnv_out_slot(a->form, i);
        if (!nnv_is_quant(o->type)) continue;
        nnv_quant_placeholder(slot, inputs, o);
        open |= slot->quant == NNV_Q_FREE && c->pass == 0;
        if (c->pass == 0 || slot->quant != NNV_Q_FREE) continue;
        o->scale = c->result[c->repeated + i].scale;
        o->zero_point = c->result[c->repeated + i].zero_point;
    }
    if (!open) return NNV_OK;
    enum nnv_status st = nnv_eval(&a->model, a->inputs, &(struct nnv_eval_options){0}, c->arena, golden, &c->why);
    for (uint32_t i = 0; !st && i < m->nout; i++) {
        const struct nnv_slot *slot = nnv_out_slot(a->form, i);
        struct nnv_operand *o = &m->operands[m->out[i]];
        if (!nnv_is_quant(o->type) || slot->quant != NNV_Q_FREE) continue;
        double lo = 0, hi = 0;
        for (size_t e = 0, n = golden[i].value.bytes / nnv_type(o->type)->size; e < n; e++) {
            lo = fmin(lo, golden[i].exact[e]);
            hi = fmax(hi, golden[i].exact[e]);
        }
        if (op->type == ANEURALNETWORKS_QUANTIZE) {
            lo *= quantised_part;
            hi *= quantised_part;
        }
        const struct nnv_encoding enc = encoding_for(c, o->type, lo, hi > lo ? hi : lo + 1);
        o->scale = enc.scale;
        o->zero_point = enc.zero_point;
    }
    return st;
}

/* Values and extents of the results, which the chain's own operands get. */
static enum nnv_status evaluate(struct nnv_chain *c, const struct nnv_operation *op, struct alone *a) {
    const struct nnv_subgraph *m = &a->model.main;
    struct nnv_golden *golden = NNV_NEW(c->arena, struct nnv_golden, m->nout);
    if (!golden) return nnv_no_memory(&c->why);
    enum nnv_status st = choose_scales(c, a, golden);
    if (!st && nnv_validate(&a->model, c->arena, NULL, &c->why) != NNV_OK &&
        (c->pass > 0 || !nnv_quant_raise(a->form, &a->model.main)))
        st = NNV_INVALID;
    if (!st) st = nnv_validate(&a->model, c->arena, NULL, &c->why);
    if (!st) st = nnv_eval(&a->model, a->inputs, &(struct nnv_eval_options){0}, c->arena, golden, &c->why);
    for (uint32_t i = 0; !st && i < m->nout; i++) {
        struct nnv_operand *o = &c->b.operand[op->out[i]];
        c->value[op->out[i]] = golden[i].value;
        *o = m->operands[m->out[i]];
        o->lifetime = NNV_TEMPORARY_VARIABLE;
        o->rank = golden[i].value.rank;
        o->dims = nnv_arena_copy(c->arena, golden[i].value.dims, o->rank * sizeof *o->dims);
        if (!o->dims) return nnv_no_memory(&c->why);
        if (c->pass == 0) c->result[c->nresults++] = (struct nnv_encoding){o->type, o->scale, o->zero_point};
        c->repeated += c->pass > 0;
    }
    return st;
}

uint32_t nnv_chain_operation(struct nnv_chain *c, int32_t code, uint32_t nin, const uint32_t *in, int32_t type,
                             uint32_t nout) {
    uint32_t out[NNV_CHAIN_IO];
    struct alone a;
    if (c->failed || c->nwritten + nout > NNV_CHAIN_IO || c->b.noperands + nout > NNV_CHAIN_OPERANDS ||
        c->nresults + nout > NNV_CHAIN_OPERANDS || (c->pass > 0 && c->repeated + nout > c->nresults)) {
        nnv_chain_fail(c);
        return 0;
    }
    for (uint32_t i = 0; i < nout; i++)
        out[i] =
            nnv_builder_tensor(&c->b, (struct nnv_encoding){.type = type}, 0, (uint32_t[]){0}, NNV_TEMPORARY_VARIABLE);
    nnv_builder_operation(&c->b, code, nin, in, nout, out);
    const struct nnv_operation *op = &c->b.operation[c->b.noperations - 1];
    if (!nnv_builder_ok(&c->b) || !set_apart(c, op, &a) || evaluate(c, op, &a) != NNV_OK) {
        nnv_chain_fail(c);
        return 0;
    }
    for (uint32_t i = 0; i < nout; i++) c->written[c->nwritten++] = out[i];
    return out[0];
}

uint32_t nnv_chain_add(struct nnv_chain *c, int32_t code, uint32_t nin, const uint32_t *in) {
    return c->failed ? 0 : nnv_chain_operation(c, code, nin, in, nnv_chain_operand(c, in[0])->type, 1);
}
