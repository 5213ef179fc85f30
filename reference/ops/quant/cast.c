/* SPDX-License-Identifier: Apache-2.0 */
/** @file cast.c CAST. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ENDLESS}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_O}};

#define SIG(LEVEL, FROM, TO)                                                                                           \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##FROM, [NNV_O] = ANEURALNETWORKS_TENSOR_##TO }                      \
    }
#define TO_ALL(FROM) SIG(3, FROM, FLOAT16), SIG(3, FROM, FLOAT32), SIG(3, FROM, INT32), SIG(3, FROM, QUANT8_ASYMM)
static const struct nnv_sig sigs[] = {
    TO_ALL(FLOAT16),
    TO_ALL(FLOAT32),
    TO_ALL(INT32),
    TO_ALL(QUANT8_ASYMM),
    SIG(4, BOOL8, BOOL8),
    SIG(4, QUANT16_ASYMM, QUANT16_ASYMM),
    SIG(4, QUANT16_SYMM, QUANT16_SYMM),
    SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_ASYMM_SIGNED),
    SIG(4, QUANT8_SYMM, QUANT8_SYMM),
};

static double clamp(double v, const struct nnv_type *t) { return v < t->min ? t->min : v > t->max ? t->max : v; }

/* The integer part of x, either way where the spread reaches over an integer. Beyond int32 there is none. */
static double truncated(struct nnv_kernel *k, double x, double spread, const struct nnv_type *to) {
    bool beyond = !(fabs(x) < 0x1p31) && to->kind == NNV_KIND_INT;
    double h = spread > 0 ? 2 * spread + 2 * k->u_i * fabs(x) + k->eta : 0;
    bool near = trunc(x - h) != trunc(x + h);
    if (k->noise) x += nnv_noise_add(k, 0, near ? h + spread : 0);
    return nnv_hazard(k, clamp(trunc(x), to), beyond || isnan(x) || isnan(spread));
}

/* Casts to a type that holds every number of the other are exact. */
static bool is_exact(const struct nnv_type *from, const struct nnv_type *to) {
    if (to->kind != NNV_KIND_FLOAT || from->kind == NNV_KIND_QUANT) return true;
    return from->kind == NNV_KIND_FLOAT && from->size <= to->size;
}

/* Quantised operands are the bare integers, whatever their scales. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_operand *in = k->call->in[0].operand, *out = k->call->out[0].operand;
    const struct nnv_type *from = nnv_type(in->type), *to = nnv_type(out->type);
    const double *x = nnv_units(k, 0);
    if (is_exact(from, to)) k->rounding = NNV_ROUND_NONE;
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        double v = from->kind == NNV_KIND_QUANT ? x[e] + in->zero_point : x[e];
        if (from->kind == NNV_KIND_FLOAT && to->kind != NNV_KIND_FLOAT) v = truncated(k, v, nnv_spread(k, 0, e), to);
        if (to->kind == NNV_KIND_QUANT) v = (clamp(v, to) - out->zero_point) * (double)out->scale;
        k->out[0][e] = v;
    }
    return NNV_OK;
}

/* "large": integers that take more digits than a float has. */
static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "wide", "rank5", "large", NULL};

static void sample(struct nnv_sample *s) {
    const struct nnv_type *from = nnv_type(s->sig->type[NNV_T]), *to = nnv_type(s->sig->type[NNV_O]);
    bool large = s->row ? s->index % 2 : nnv_sample_is(s, "large");
    uint32_t dims[3];
    if (large && !s->row) {
        nnv_sample_dims(s, 3, 400, dims);
        nnv_sample_tensor(s, 0, 3, dims);
    } else {
        nnv_any_rank_sample(s);
    }
    struct nnv_sample_arg *x = &s->arg[0];
    if (from->kind == NNV_KIND_QUANT || from->kind == NNV_KIND_BOOL) return;
    x->lo = to->kind == NNV_KIND_QUANT ? -20 : -50;
    x->hi = to->kind == NNV_KIND_QUANT ? 300 : 50;
    if (to->kind == NNV_KIND_FLOAT) {
        x->hi = large && from->size == 4 && to->size == 4 ? 1e9 : 30000;
        x->lo = -x->hi;
    }
}

const struct nnv_op nnv_op_CAST = {
    NNV_OP_NAMED(CAST),
    .level = 3,
    .formula = "y = x in another type, truncated towards 0 and saturated; quantised numbers are their bare codes",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .unary = true,
    .early = NNV_EARLY_INPUTS | NNV_EARLY_OUTPUTS,
    .infer = nnv_same_shape_infer,
    NNV_EVAL(eval),
    .variants = variants,
    NNV_OP_FACTORS(nnv_any_rank_factors),
    NNV_SAMPLE(sample),
};
