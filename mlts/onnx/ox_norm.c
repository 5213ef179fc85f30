/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations and soft choices. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

static uint32_t applied(struct nnv_cv *c, int32_t code, uint32_t x) { return NNV_OX_LIKE(c, code, x, x); }

/** Input i, a value for each channel, so that it is broadcast over what follows the channel in an operand of rank n. */
static uint32_t by_channel(struct nnv_cv *c, uint32_t i, uint32_t channels, uint32_t n) {
    const uint32_t dims[] = {channels, 1, 1, 1};
    return nnv_ox_in_shape(c, i, n < 2 ? 1 : n - 1, dims);
}

/** x * a + b with a = scale / sqrt(variance + epsilon), b = B - mean * a: constants, if the file says all four. */
static void batch_norm(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const double epsilon = nnv_ox_float(c, "epsilon", 1e-5);
    uint32_t three[3];
    nnv_ox_float(c, "momentum", 0);
    if (nnv_ox_flag(c, "training_mode", false)) nnv_cv_refuse(c, " in training");
    if (c->onnx->opset < 7 && !nnv_ox_flag(c, "is_test", false)) nnv_cv_refuse(c, " in training");
    if (!nnv_ox_flag(c, "spatial", true)) nnv_cv_refuse(c, " with the attribute spatial");
    if (v.rank < 2) nnv_cv_fail(c, "rank %u", v.rank);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, 1, three);
    const uint32_t x = v.rank > 4 ? nnv_ox_in_shape(c, 0, 3, three) : nnv_ox_in(c, 0), rank = v.rank > 4 ? 3 : v.rank;
    uint32_t p[4];
    for (uint32_t i = 0; i < 4; i++) p[i] = by_channel(c, 1 + i, v.dims[1], rank);
    if (!nnv_cv_ok(c)) return;
    const uint32_t a = nnv_ox_quotient(c, p[0], applied(c, ANEURALNETWORKS_SQRT, nnv_ox_linear(c, p[3], 1, epsilon)));
    const uint32_t b = nnv_ox_difference(c, p[1], nnv_ox_product_of(c, p[2], a));
    nnv_ox_give_like(c, 0, nnv_ox_sum(c, nnv_ox_product_of(c, x, a), b), 0);
}

/** Mean 0 and variance 1 over the last axis of x; the mean and the inverse of the deviation, if asked for. */
static uint32_t standard(struct nnv_cv *c, uint32_t x, double epsilon, bool centre, uint32_t *mean, uint32_t *inverse) {
    *mean = *inverse = 0;
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t last = nnv_cv_at(c, x)->rank - 1;
    if (centre) {
        *mean = nnv_ox_reduced(c, ANEURALNETWORKS_MEAN, x, 1, &last);
        x = nnv_ox_difference(c, x, *mean);
    }
    const uint32_t square = nnv_ox_reduced(c, ANEURALNETWORKS_MEAN, nnv_ox_product_of(c, x, x), 1, &last);
    *inverse = applied(c, ANEURALNETWORKS_RSQRT, nnv_ox_linear(c, square, 1, epsilon));
    return nnv_ox_product_of(c, x, *inverse);
}

static void instance_norm(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const double epsilon = nnv_ox_float(c, "epsilon", 1e-5);
    uint32_t three[3], mean, inverse;
    if (v.rank < 3) nnv_cv_fail(c, "rank %u", v.rank);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, 1, three);
    const uint32_t y = standard(c, nnv_ox_in_shape(c, 0, 3, three), epsilon, true, &mean, &inverse);
    const uint32_t scaled = nnv_ox_product_of(c, y, by_channel(c, 1, v.dims[1], 3));
    nnv_ox_give_like(c, 0, nnv_ox_sum(c, scaled, by_channel(c, 2, v.dims[1], 3)), 0);
}

/** In groups of channels; scale and bias are of groups before version 21, of channels since. */
static void group_norm(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const double epsilon = nnv_ox_float(c, "epsilon", 1e-5);
    const int64_t groups = nnv_ox_int(c, "num_groups", 0);
    uint32_t three[3], mean, inverse;
    nnv_ox_int(c, "stash_type", 1);
    if (v.rank < 3 || groups < 1 || v.dims[1] % groups) nnv_cv_fail(c, "%lld groups", (long long)groups);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, 1, three);
    const uint32_t g = (uint32_t)groups, grouped[] = {three[0], g, (uint32_t)(nnv_ox_elements(&v) / three[0] / g)};
    const uint32_t params = (uint32_t)nnv_ox_elements(nnv_ox_value(c, 1));
    uint32_t y = standard(c, nnv_ox_in_shape(c, 0, 3, grouped), epsilon, true, &mean, &inverse);
    if (params != g && params != v.dims[1]) nnv_cv_fail(c, "%u scales", params);
    if (params != g) y = nnv_cv_reshaped(c, y, 3, three);
    y = nnv_ox_product_of(c, y, by_channel(c, 1, params, 3));
    nnv_ox_give_like(c, 0, nnv_ox_sum(c, y, by_channel(c, 2, params, 3)), 0);
}

/** Input i, which the normalised axes' elements have one each of. */
static uint32_t by_element(struct nnv_cv *c, uint32_t i, uint32_t n) {
    const size_t got = nnv_ox_elements(nnv_ox_value(c, i));
    if (got != n && got != 1) nnv_cv_refuse(c, " with a scale or bias that is broadcast");
    const uint32_t count = (uint32_t)got;
    return nnv_ox_in_shape(c, i, 1, &count);
}

/** LayerNormalization, RMSNormalization: over all axes from one on. */
static void layer_norm(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const double epsilon = nnv_ox_float(c, "epsilon", 1e-5);
    const uint32_t axis = nnv_ox_axis(c, "axis", -1, v.rank);
    const bool centre = *c->onnx->row->op == 'L';
    struct nnv_ox_value r = v;
    uint32_t flat[2] = {1, 1}, mean, inverse;
    nnv_ox_int(c, "stash_type", 1);
    if (!nnv_cv_ok(c)) return;
    for (uint32_t i = 0; i < v.rank; i++) flat[i >= axis] *= v.dims[i];
    for (uint32_t i = axis; i < v.rank; i++) r.dims[i] = 1;
    uint32_t y = standard(c, nnv_ox_in_shape(c, 0, 2, flat), epsilon, centre, &mean, &inverse);
    y = nnv_ox_product_of(c, y, by_element(c, 1, flat[1]));
    if (nnv_ox_has(c, 2)) y = nnv_ox_sum(c, y, by_element(c, 2, flat[1]));
    nnv_ox_give_like(c, 0, y, 0);
    if (!centre) return;
    nnv_ox_give(c, 1, mean, v.type, r.rank, r.dims);
    nnv_ox_give(c, 2, inverse, v.type, r.rank, r.dims);
}

static void mean_variance_norm(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, axes[NNV_OX_RANK];
    static const int64_t usual[] = {0, 2, 3};
    const int64_t *given = nnv_ox_list(c, "axes", &n);
    if (!given) given = usual, n = 3;
    if (v.rank > 4 || v.rank == 0) nnv_cv_refuse(c, " of rank %u", v.rank);
    if (n > v.rank) nnv_cv_fail(c, "%u axes", n);
    for (uint32_t i = 0; i < n && nnv_cv_ok(c); i++) axes[i] = nnv_cv_axis(c, given[i], v.rank);
    uint32_t x = nnv_ox_in(c, 0);
    if (!nnv_cv_ok(c)) return;
    x = nnv_ox_difference(c, x, nnv_ox_reduced(c, ANEURALNETWORKS_MEAN, x, n, axes));
    const uint32_t square = nnv_ox_reduced(c, ANEURALNETWORKS_MEAN, nnv_ox_product_of(c, x, x), n, axes);
    const uint32_t deviation = nnv_ox_linear(c, applied(c, ANEURALNETWORKS_SQRT, square), 1, 1e-9);
    nnv_ox_give_like(c, 0, nnv_ox_quotient(c, x, deviation), 0);
}

static void local_response(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const double alpha = nnv_ox_float(c, "alpha", 1e-4), beta = nnv_ox_float(c, "beta", 0.75),
                 bias = nnv_ox_float(c, "bias", 1);
    const int64_t size = nnv_ox_int(c, "size", 0);
    uint32_t three[3];
    if (size < 1 || size > INT16_MAX) nnv_cv_fail(c, "size is %lld", (long long)size);
    if (nnv_cv_ok(c) && size % 2 == 0) nnv_cv_refuse(c, " of even size");
    if (v.rank < 2) nnv_cv_fail(c, "rank %u", v.rank);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, 1, three);
    const uint32_t x = v.rank == 4 ? nnv_ox_in(c, 0) : nnv_ox_in_shape(c, 0, 3, three);
    const uint32_t y =
        NNV_OX_LIKE(c, ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, x, x, nnv_builder_int(&c->b, (int32_t)(size / 2)),
                    nnv_ox_scalar_like(c, x, bias), nnv_ox_scalar_like(c, x, alpha / (double)size),
                    nnv_ox_scalar_like(c, x, beta), nnv_builder_int(&c->b, 1));
    nnv_ox_give_like(c, 0, y, 0);
}

/** x / sqrt(sum x^2), x / sum |x|; of zeros, 0. */
static void lp_norm(struct nnv_cv *c) {
    static const uint32_t middle = 1;
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const int64_t p = nnv_ox_int(c, "p", 2);
    const uint32_t axis = nnv_ox_axis(c, "axis", -1, v.rank);
    uint32_t three[3];
    if (p != 1 && p != 2) nnv_cv_fail(c, "p is %lld", (long long)p);
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, axis, three);
    const uint32_t x = nnv_ox_in_shape(c, 0, 3, three);
    if (!nnv_cv_ok(c)) return;
    if (p == 2) {
        nnv_ox_give_like(c, 0, NNV_OX_LIKE(c, ANEURALNETWORKS_L2_NORMALIZATION, x, x, nnv_builder_int(&c->b, 1)), 0);
        return;
    }
    const bool half = nnv_cv_at(c, x)->type == ANEURALNETWORKS_TENSOR_FLOAT16;
    const uint32_t sum = nnv_ox_reduced(c, ANEURALNETWORKS_REDUCE_SUM, applied(c, ANEURALNETWORKS_ABS, x), 1, &middle);
    const uint32_t least = nnv_cv_number(c, x, half ? 1e-4 : 1e-30);
    nnv_ox_give_like(c, 0, nnv_ox_quotient(c, x, NNV_OX_LIKE(c, ANEURALNETWORKS_MAXIMUM, sum, sum, least)), 0);
}

/** Softmax, LogSoftmax: over an axis since version 13, over all from one on before. */
static void soft(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool rows = c->onnx->opset < 13;
    const uint32_t axis = nnv_ox_axis(c, "axis", rows ? 1 : -1, v.rank);
    uint32_t three[3], flat[2] = {1, 1};
    if (!nnv_cv_ok(c)) return;
    nnv_ox_around(&v, axis, three);
    for (uint32_t i = 0; i < v.rank; i++) flat[i >= axis] *= v.dims[i];
    const bool as_is = v.rank <= 4 && (!rows || axis + 1 == v.rank);
    const uint32_t x = as_is  ? nnv_ox_in(c, 0)
                       : rows ? nnv_ox_in_shape(c, 0, 2, flat)
                              : nnv_ox_in_shape(c, 0, 3, three);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = NNV_OX_LIKE(c, c->onnx->row->nnapi, x, x, nnv_ox_scalar_like(c, x, 1),
                                   nnv_builder_int(&c->b, (int32_t)(as_is ? axis : 1)));
    nnv_ox_give_like(c, 0, y, 0);
}

#define F NNV_OX_FLOAT
static const struct nnv_ox_row rows[] = {
    {"BatchNormalization", 5, 5, F, batch_norm, 0},
    {"InstanceNormalization", 3, 3, F, instance_norm, 0},
    {"GroupNormalization", 3, 3, F, group_norm, 0},
    {"LayerNormalization", 2, 3, F, layer_norm, 0},
    {"RMSNormalization", 2, 2, F, layer_norm, 0},
    {"MeanVarianceNormalization", 1, 1, F, mean_variance_norm, 0},
    {"LRN", 1, 1, F, local_response, 0},
    {"LpNormalization", 1, 1, F, lp_norm, 0},
    {"Softmax", 1, 1, F, soft, ANEURALNETWORKS_SOFTMAX},
    {"LogSoftmax", 1, 1, F, soft, ANEURALNETWORKS_LOG_SOFTMAX},
};
const struct nnv_ox_rows nnv_ox_norm = {rows, sizeof rows / sizeof *rows};
