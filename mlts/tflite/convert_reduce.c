/* SPDX-License-Identifier: Apache-2.0 */
/* Many numbers become one, or are scaled by all of a line. */
#include <string.h>

#include "mlts/tflite/convert.h"

/** The axes of input 1 as an operand, none twice; 0 with an error. */
static uint32_t axes_of(struct nnv_cv *c, uint32_t rank) {
    uint32_t count, n = 0;
    int32_t axes[NNV_MAX_RANK];
    bool seen[NNV_MAX_RANK] = {false};
    const int32_t *v = nnv_cv_ints_of(c, 1, &count);
    for (uint32_t i = 0; v && i < count && nnv_cv_ok(c); i++) {
        const uint32_t a = nnv_cv_axis(c, v[i], rank);
        if (!seen[a] && nnv_cv_ok(c)) axes[n++] = (int32_t)a;
        seen[a] = true;
    }
    if (n == 0) nnv_cv_refuse(c, " along no axis");
    return nnv_cv_ok(c) ? nnv_builder_ints(&c->b, n, axes) : 0;
}

/** x reduced to y, which has x's encoding; keeping the dimensions where y would otherwise have none. */
static void reduce(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const bool keep = nnv_cv_option_bool(c, 0, false, "keep_dims");
    const bool mean = c->row->nnapi == ANEURALNETWORKS_MEAN;
    if (!nnv_cv_ok(c)) return;
    const uint32_t axes = axes_of(c, nnv_cv_at(c, x)->rank);
    NNV_CV_EMIT(c, c->row->nnapi, y, x, axes, mean ? nnv_builder_int(&c->b, keep) : nnv_builder_bool(&c->b, keep));
}

/** Quantised where NNAPI has that, and the quantisation stays; else by way of float32. */
static void reduction(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const int32_t code = c->row->nnapi;
    const bool quant = nnv_cv_is_quant(c, x), same = nnv_cv_same_encoding(c, x, y);
    const bool has_quant = code != ANEURALNETWORKS_REDUCE_SUM && code != ANEURALNETWORKS_REDUCE_PROD;
    const bool bits = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_BOOL8;
    if (bits || (quant && has_quant && same)) {
        if (nnv_cv_moves(c, x, y)) reduce(c, x, y);
        return;
    }
    const uint32_t f = nnv_cv_to_float(c, x), t = nnv_cv_float_for(c, y);
    reduce(c, f, t);
    nnv_cv_from_float(c, t, y);
}

/** What x is quantised to must be NNAPI's for the operation; otherwise the result is computed in float32. */
static bool has_scale(struct nnv_cv *c, uint32_t y, float scale, int32_t zero) {
    const struct nnv_operand *o = nnv_cv_at(c, y);
    const int32_t shift = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 128 : 0;
    /* Converters round the scale. */
    if (o->scale < 0.999f * scale || o->scale > 1.001f * scale || o->zero_point != zero - shift) return false;
    c->b.operand[y].scale = scale;
    return true;
}

static void softmax(struct nnv_cv *c) {
    const float beta = nnv_cv_option_float(c, 0, "beta");
    uint32_t x = nnv_cv_in(c, 0);
    const uint32_t y = nnv_cv_out(c, 0);
    if (!(beta > 0)) nnv_cv_fail(c, "beta is %g, not a number above 0", (double)beta);
    if (!nnv_cv_ok(c)) return;
    const bool quant = nnv_cv_is_quant(c, y) && has_scale(c, y, 1.0f / 256, 0);
    const uint32_t t = quant ? y : nnv_cv_float_for(c, y);
    if (!quant) x = nnv_cv_to_float(c, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SOFTMAX, t, x, nnv_builder_float(&c->b, beta));
    if (!quant) nnv_cv_from_float(c, t, y);
}

static void log_softmax(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_to_float(c, nnv_cv_in(c, 0)), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t t = nnv_cv_float_for(c, y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_LOG_SOFTMAX, t, x, nnv_builder_float(&c->b, 1), nnv_builder_int(&c->b, -1));
    nnv_cv_from_float(c, t, y);
}

static void l2_normalization(struct nnv_cv *c) {
    uint32_t x = nnv_cv_in(c, 0);
    const uint32_t y = nnv_cv_out(c, 0);
    if (nnv_cv_option_enum(c, 0, 5, "fused_activation_function") != 0) nnv_cv_refuse(c, " with an activation");
    if (!nnv_cv_ok(c)) return;
    const bool quant = nnv_cv_is_quant(c, y) && has_scale(c, y, 1.0f / 128, 128);
    const uint32_t t = quant ? y : nnv_cv_float_for(c, y);
    if (!quant) x = nnv_cv_to_float(c, x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_L2_NORMALIZATION, t, x);
    if (!quant) nnv_cv_from_float(c, t, y);
}

/** The matrix of ones whose column j says which elements of a line sum up to j. */
static uint32_t triangle(struct nnv_cv *c, uint32_t n, bool exclusive, bool reversed) {
    const uint32_t dims[] = {n, n};
    float *v = NNV_NEW(c->b.arena, float, (size_t)n *n);
    if (!v) {
        c->b.failed = true;
        return 0;
    }
    for (uint32_t to = 0; to < n; to++) /* weights of FULLY_CONNECTED: a row an output */
        for (uint32_t from = 0; from < n; from++)
            v[(size_t)to * n + from] = (reversed ? from > to : from < to) || (!exclusive && from == to);
    return nnv_cv_const(c, NNV_CV_F32, 2, dims, v);
}

/** CUMSUM along the last axis: a product with a triangular matrix. */
static void running_sum(struct nnv_cv *c) {
    enum { EXCLUSIVE, REVERSE, MOST = 2048 };
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    const int32_t *axis = nnv_cv_ints_exact(c, 1, 1);
    if (!axis) return;
    const uint32_t rank = nnv_cv_at(c, x)->rank, n = nnv_cv_at(c, x)->dims[rank - 1];
    if (nnv_cv_axis(c, *axis, rank) != rank - 1) nnv_cv_refuse(c, " along another axis than the last");
    if (n > MOST) nnv_cv_refuse(c, " of more than %d numbers", MOST);
    const bool exclusive = nnv_cv_option_bool(c, EXCLUSIVE, false, "exclusive");
    const bool reversed = nnv_cv_option_bool(c, REVERSE, false, "reverse");
    if (!nnv_cv_ok(c)) return;
    const uint32_t flat[] = {(uint32_t)(nnv_cv_elements(c, x) / n), n};
    const uint32_t t = nnv_cv_temp_shaped(c, x, 2, flat), w = triangle(c, n, exclusive, reversed);
    NNV_CV_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, t, nnv_cv_reshaped(c, x, 2, flat), w,
                nnv_cv_filled(c, NNV_CV_F32, 1, &n, 0), nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE));
    nnv_cv_reshape(c, t, y);
}

#define REDUCE(name, types, nnapi)                                                                                     \
    { NNV_TFL_##name, 27, true, 2, 2, 1, 1, 0, types, reduction, ANEURALNETWORKS_##nnapi }
#define N NNV_CV_NUMBER

static const struct nnv_converter rows[] = {
    REDUCE(MEAN, N, MEAN),
    REDUCE(SUM, N | NNV_CV_INT, REDUCE_SUM),
    REDUCE(REDUCE_PROD, N | NNV_CV_INT, REDUCE_PROD),
    REDUCE(REDUCE_MAX, N | NNV_CV_INT, REDUCE_MAX),
    REDUCE(REDUCE_MIN, N | NNV_CV_INT, REDUCE_MIN),
    REDUCE(REDUCE_ANY, NNV_CV_BOOL, REDUCE_ANY),
    REDUCE(REDUCE_ALL, NNV_CV_BOOL, REDUCE_ALL),
    {NNV_TFL_SOFTMAX, 9, false, 1, 1, 1, 1, 0, N, softmax, 0},
    {NNV_TFL_LOG_SOFTMAX, 36, true, 1, 1, 1, 1, 0, N, log_softmax, 0},
    {NNV_TFL_L2_NORMALIZATION, 12, true, 1, 1, 1, 1, 0, N, l2_normalization, 0},
    {NNV_TFL_CUMSUM, 102, true, 2, 2, 1, 1, 0, NNV_CV_FLOAT, running_sum, 0},
};
const struct nnv_converters nnv_cv_reduce = {rows, sizeof rows / sizeof *rows};
