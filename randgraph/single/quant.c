/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/quant.h"

#include <math.h>

#include "randgraph/single/scales.h"

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static bool is_asymmetric(const struct nnv_type *t) {
    return t->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || t->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           t->code == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
}

static int32_t clamp_zero(const struct nnv_type *t, double zero) {
    return (int32_t)nnv_round_half_away(larger(t->min, smaller(t->max, zero)));
}

/* The middle of the type, give or take. */
static int32_t middle(const struct nnv_type *t, int spread, struct nnv_rng *rng) {
    if (!is_asymmetric(t)) return 0;
    return clamp_zero(t, floor((t->min + t->max + 1) / 2) + (double)nnv_rng_int(rng, -spread, spread));
}

/*
 * Scale and zero point with which [lo, hi], widened to contain 0, takes the share of the codes: below 1 there is
 * room at the ends, above 1 both ends saturate.
 */
static void by_range(double lo, double hi, double share, struct nnv_rng *rng, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    lo = smaller(lo, 0);
    hi = larger(hi, 0);
    if (!is_asymmetric(t)) {
        double most = larger(-lo, hi);
        o->scale = (float)((most > 0 ? most : 1) / (t->max * share));
        o->zero_point = 0;
        return;
    }
    double codes = t->max - t->min, width = hi > lo ? hi - lo : 1, scale = width / (codes * share);
    double margin = (1 - share) * codes * nnv_rng_uniform(rng, 0.2, 0.8);
    o->scale = (float)scale;
    o->zero_point = clamp_zero(t, t->min + margin - lo / scale);
}

/* The rules that leave no choice; false for the free one. */
static bool by_rule(uint8_t rule, const struct nnv_operand *inputs, uint32_t known, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    uint32_t as = 0;
    switch ((enum nnv_quant_rule)rule) {
    case NNV_Q_FREE:
    case NNV_Q_BIAS:
        return false;
    case NNV_Q_SAME:
        break;
    case NNV_Q_SAME_1:
        as = 1;
        break;
    case NNV_Q_SAME_2:
        as = 2;
        break;
    case NNV_Q_UNIT_256:
        o->scale = 1.0f / 256;
        o->zero_point = (int32_t)t->min;
        return true;
    case NNV_Q_UNIT_128:
        o->scale = 1.0f / 128;
        o->zero_point = t->min < 0 ? 0 : 128;
        return true;
    case NNV_Q_ONE:
        o->scale = 1;
        o->zero_point = 0;
        return true;
    case NNV_Q_EIGHTH:
        o->scale = 0.125f;
        o->zero_point = 0;
        return true;
    }
    if (as >= known) return false;
    o->scale = inputs[as].scale;
    o->zero_point = inputs[as].zero_point;
    return true;
}

static enum nnv_status channels(const struct nnv_quant_choice *q, struct nnv_rng *rng, struct nnv_arena *arena,
                                struct nnv_operand *o, struct nnv_err *err) {
    uint32_t dim = q->arg->channel_dim, n = dim < q->arg->rank ? q->arg->dims[dim] : 0;
    if (n == 0)
        return nnv_fail(err, NNV_INTERNAL, "the sample hook gives no channels in dimension %u of input %s", dim,
                        q->slot->name);
    o->channel.dim = dim;
    o->channel.count = n;
    o->channel.scales = NNV_NEW(arena, float, n);
    if (!o->channel.scales) return nnv_no_memory(err);
    double base = larger(fabs(q->lo), fabs(q->hi)) / 127;
    for (uint32_t c = 0; c < n; c++) {
        bool exact = q->mode == NNV_FILL_EXACT;
        int halvings = exact ? 1 + (int)(c % 3) : (int)nnv_rng_int(rng, 0, 2);
        if (q->scales) {
            o->channel.scales[c] = nnv_scales_channel(q->scales, c, base);
            continue;
        }
        o->channel.scales[c] = (float)ldexp(exact ? 1 : base * nnv_rng_uniform(rng, 0.7, 1.0), -halvings);
    }
    return NNV_OK;
}

/* Input 0 and 1 of equal scale give ties, different ones show scales that were mixed up. */
static bool equal_scales(const struct nnv_quant_choice *q) {
    return q->mode == NNV_FILL_EDGE && q->index % 2 == 1 && q->position == 1 && q->operands[0].scale > 0;
}

/* Codes all on one side of the zero point, as behind a RELU: differences of them take a bit more than a code has. Of
 * five planned cases one has first and second input so, and one each. */
static bool is_one_sided(const struct nnv_quant_choice *q, const struct nnv_type *t) {
    enum { TURNS = 5, BOTH = 2 };
    const int turn = q->index % TURNS;
    if (!q->planned || !is_asymmetric(t) || q->position > 1 || !(q->hi > 0)) return false;
    return turn == BOTH || turn == BOTH + 1 + (int)q->position;
}

/* All codes, and the last one more often than others. */
static void one_side(const struct nnv_quant_choice *q, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    const double beyond = 1.05;
    o->zero_point = (int32_t)t->min;
    o->scale = (float)(q->hi / (beyond * (t->max - t->min)));
}

enum nnv_status nnv_quant_input(const struct nnv_quant_choice *q, struct nnv_rng *rng, struct nnv_arena *arena,
                                struct nnv_operand *o, struct nnv_err *err) {
    const struct nnv_type *t = nnv_type(o->type);
    if (q->slot->quant == NNV_Q_BIAS && t->code == ANEURALNETWORKS_TENSOR_INT32)
        o->scale =
            q->operands[1].channel.count ? 0 : (float)((double)q->operands[0].scale * (double)q->operands[1].scale);
    if (t->kind != NNV_KIND_QUANT) return NNV_OK;
    if (t->per_channel) return channels(q, rng, arena, o, err);
    if (by_rule(q->slot->quant, q->operands, q->position, o)) return NNV_OK;
    if (q->mode == NNV_FILL_EXACT) {
        o->scale = (float)ldexp(1, -1 - (int)((q->position + (uint32_t)q->index) % 3));
        o->zero_point = middle(t, 32, rng);
    } else if (q->scales && q->role >= 0) {
        o->zero_point = nnv_scales_zero(q->scales, q->role, t, middle(t, 20, rng));
        o->scale = nnv_scales_scale(q->scales, q->role, o, larger(fabs(q->lo), fabs(q->hi)),
                                    q->like[0] ? q->like[0]->scale : 0);
    } else if (q->arg->scale > 0) {
        o->scale = q->arg->scale;
        o->zero_point = q->arg->zero_point;
    } else {
        by_range(q->lo, q->hi, nnv_rng_uniform(rng, 0.75, 0.98), rng, o);
        if (equal_scales(q)) o->scale = q->operands[0].scale;
        if (is_one_sided(q, t)) one_side(q, o);
    }
    return NNV_OK;
}

void nnv_quant_placeholder(const struct nnv_slot *slot, const struct nnv_operand *inputs, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    if (t->kind != NNV_KIND_QUANT || by_rule(slot->quant, inputs, UINT32_MAX, o)) return;
    o->scale = 65536;
    o->zero_point = is_asymmetric(t) ? (int32_t)t->min + 128 : 0;
}

bool nnv_quant_as(int id, const struct nnv_slot *const *slots, const struct nnv_operand *inputs, uint32_t n,
                  struct nnv_operand *o) {
    for (uint32_t i = 0; i < n; i++) {
        if (slots[i]->id != id) continue;
        o->scale = inputs[i].scale;
        o->zero_point = inputs[i].zero_point;
        return true;
    }
    return false;
}

/* The scale of the sums: one of the inputs', or the product of both. */
static double unit_of_sums(const struct nnv_quant_choice *q) {
    const struct nnv_operand *a = q->like[0] ? q->like[0] : &q->operands[0];
    const double first = (double)a->scale, second = (double)q->operands[1].scale;
    return q->linear && second > 0 ? first * second : first;
}

/* The nearest power of two times unit, so that results lie halfway between two codes now and then. */
static double snap(double scale, double unit) {
    int e;
    if (!(unit > 0)) return scale;
    double f = frexp(scale / unit, &e);
    return ldexp(unit, f < 0.75 ? e - 1 : e);
}

/* Numbers become codes, and they are of all sizes: two of three cases have a scale for small ones, which most numbers
 * are far beyond, by more than integers of 16 and of 32 bits hold. */
static bool is_usual(const struct nnv_quant_choice *q, double *lo, double *hi) {
    const bool all = q->mode == NNV_FILL_LIMITS || q->mode == NNV_FILL_SWEEP || q->mode == NNV_FILL_EDGE;
    static const double ends[] = {8, 0.01};
    if (!all || !nnv_is_float(q->operands[0].type) || q->index % 3 == 0) return false;
    *hi = ends[q->index % 3 - 1];
    *lo = -*hi;
    return true;
}

void nnv_quant_output(const struct nnv_quant_choice *q, struct nnv_rng *rng, struct nnv_operand *o) {
    double lo, hi;
    if (q->mode == NNV_FILL_EXACT) {
        o->scale = 1;
        o->zero_point = middle(nnv_type(o->type), 20, rng);
    } else if (q->wanted_scale > 0) {
        o->scale = q->wanted_scale;
        o->zero_point = q->wanted_zero_point;
    } else if (is_usual(q, &lo, &hi)) {
        by_range(lo, hi, nnv_rng_uniform(rng, 0.75, 0.95), rng, o);
    } else {
        bool edge = q->mode == NNV_FILL_EDGE;
        by_range(q->lo, q->hi, edge ? nnv_rng_uniform(rng, 1.2, 1.7) : nnv_rng_uniform(rng, 0.75, 0.95), rng, o);
        if (q->scales) nnv_scales_output(q->scales, q->lo, q->hi, unit_of_sums(q), q->like, o);
        if (edge && q->index % 2 == 1) o->scale = (float)snap((double)o->scale, unit_of_sums(q));
    }
}

bool nnv_quant_raise(const struct nnv_form *form, struct nnv_subgraph *s) {
    const struct nnv_operand *a = &s->operands[0], *b = &s->operands[1];
    if (s->operations[0].nin < 2) return false;
    float product = a->scale * b->scale; /* rounded, as the rule compares it */
    for (uint32_t c = 0; c < b->channel.count; c++) product = fmaxf(product, a->scale * b->channel.scales[c]);
    bool raised = false;
    for (uint32_t i = 0; i < s->nout; i++) {
        struct nnv_operand *o = &s->operands[s->out[i]];
        if (!nnv_is_quant(o->type) || nnv_out_slot(form, i)->quant != NNV_Q_FREE || o->scale > product) continue;
        o->scale = product * 1.0625f;
        raised = true;
    }
    return raised;
}
