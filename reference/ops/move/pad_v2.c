/* SPDX-License-Identifier: Apache-2.0 */
/** @file pad_v2.c PAD_V2. */
#include "reference/ops/move/pad.h"

enum { VALUE = NNV_PADDINGS + 1 };

static const struct nnv_slot inputs[] = {
    NNV_MOVE_X(4), NNV_PAD_PADDINGS, {.id = VALUE, .name = "value", .var = NNV_S, .flags = NNV_SCALAR}};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};

static const struct nnv_sig sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32, [NNV_S] = ANEURALNETWORKS_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16, [NNV_S] = ANEURALNETWORKS_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, [NNV_S] = ANEURALNETWORKS_INT32}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, [NNV_S] = ANEURALNETWORKS_INT32}},
};

/* A quantised value is given as its code. */
static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_type *t = nnv_type(nnv_in(c, 0)->operand->type);
    if (t->kind != NNV_KIND_QUANT || !nnv_known(c, VALUE)) return NNV_OK;
    double v = nnv_num(c, VALUE);
    if (v < t->min || v > t->max) return nnv_fail(err, NNV_INVALID, "value %.0f is not a code of %s", v, t->name);
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_pad_infer(c, nnv_pad_extent, out, err);
}

/* A relaxed model may round the scalar to float16. */
static double fill_of(struct nnv_kernel *k, double v) {
    bool half = nnv_half_to_double(nnv_double_to_half(v)) == v;
    return half || k->u_i <= 0x1p-24 ? v : nnv_round(k, v);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_operand *x = nnv_in(k->call, 0)->operand;
    double v = nnv_num(k->call, VALUE);
    v = nnv_is_quant(x->type) ? (v - x->zero_point) * (double)x->scale : fill_of(k, v);
    return nnv_move_axes(k, nnv_pad_index, v, err);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", NULL};

static void sample(struct nnv_sample *s) {
    static const double values[] = {-1.5, 3, 0.25, -7, 6.5}, codes[] = {9, 60, 37, 1, 48}; /* exact in float16 */
    int32_t type = s->sig->type[NNV_T];
    nnv_pad_sample(s, (uint32_t)s->variant + 1, 0);
    nnv_sample_scalar(s, VALUE,
                      nnv_is_quant(type) ? nnv_type(type)->min + 128 + codes[s->index % 5]
                      : s->exact         ? floor(values[s->index % 5])
                                         : values[s->index % 5]);
}

NNV_MOVE_RECORD(PAD_V2, "y = x with cells of a value before and behind each axis; quantised: the value is a code",
                .level = 3, .check = check);
