/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, biases, and normalisations. */
#include <inttypes.h>
#include <math.h>

#include "compiler/nnapi/convert/convert_in.h"

/* Up to level 2 the axis is the last one of two or four dimensions; others are two dimensions for a while. */
static void softmax(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), x.rank), in = nnv_rc_in(c, 0);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    uint32_t beta = nnv_rc_float(c, e, 1);
    if (!nnv_rc_ok(c)) return;
    if (axis + 1 != x.rank) {
        if (c->limit < 3)
            nnv_rc_refuse(c, "axis %u of %u: another than the last one needs feature level 3", axis, x.rank);
        NNV_RC_EMIT(c, ANEURALNETWORKS_SOFTMAX, nnv_rc_result(c, 0), in, beta, nnv_rc_int(c, axis));
    } else if (x.rank == 2 || x.rank == 4 || c->limit >= 3) {
        NNV_RC_EMIT(c, ANEURALNETWORKS_SOFTMAX, nnv_rc_result(c, 0), in, beta);
    } else {
        uint32_t n = x.dims[axis];
        struct nnv_rc_shape rows = {2, {n ? (uint32_t)(nnv_rc_elems(&x) / n) : 0, n}};
        uint32_t out = nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &rows);
        NNV_RC_EMIT(c, ANEURALNETWORKS_SOFTMAX, out, nnv_rc_reshaped(c, in, &rows, NNV_RC_NONE), beta);
        nnv_rc_reshaped(c, out, &x, nnv_rc_result(c, 0));
    }
}

static void log_softmax(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), x.rank);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_LOG_SOFTMAX, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_float(c, e, 1),
                nnv_rc_int(c, axis));
}

/* The shape of values along an axis, as they are stretched over a tensor of this rank. */
static struct nnv_rc_shape along(uint32_t axis, const struct nnv_rc_shape *x) {
    struct nnv_rc_shape s = {x->rank - axis, {x->dims[axis]}};
    for (uint32_t i = 1; i < s.rank; i++) s.dims[i] = 1;
    return s;
}

static void bias_add(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank);
    struct nnv_rc_shape shape = along(axis, &x);
    uint32_t bias = nnv_rc_reshaped(c, nnv_rc_in(c, 1), &shape, NNV_RC_NONE);
    NNV_RC_EMIT(c, ANEURALNETWORKS_ADD, nnv_rc_result(c, 0), nnv_rc_in(c, 0), bias, nnv_rc_act(c));
}

/* The product with a constant for each channel, and the sum with another. */
static void scale_shift(struct nnv_rc *c, uint32_t in, uint32_t axis, const double *factor, const double *shift) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), shape = along(axis, &x);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    uint32_t by = nnv_rc_const(c, e, &shape, factor), plus = nnv_rc_const(c, e, &shape, shift),
             product = nnv_rc_temp(c, e, &x);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MUL, product, in, by, nnv_rc_int(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_ADD, nnv_rc_result(c, 0), product, plus, nnv_rc_act(c));
}

/* Factor and shift of statistics that are known when the model runs. */
static void batch_norm_of_operands(struct nnv_rc *c, uint32_t axis) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), shape = along(axis, &x);
    uint32_t root =
        nnv_rc_applied(c, ANEURALNETWORKS_RSQRT,
                       nnv_rc_by(c, ANEURALNETWORKS_ADD, nnv_rc_in(c, 4), nnv_rc_num_attr(c, "epsilon", 1e-5)));
    uint32_t factor =
        nnv_rc_int_attr(c, "scale", 1) ? nnv_rc_combined(c, ANEURALNETWORKS_MUL, root, nnv_rc_in(c, 1)) : root;
    uint32_t shift = nnv_rc_combined(c, ANEURALNETWORKS_MUL, factor, nnv_rc_in(c, 3));
    if (nnv_rc_int_attr(c, "center", 1))
        shift = nnv_rc_combined(c, ANEURALNETWORKS_SUB, nnv_rc_in(c, 2), shift);
    else
        shift = nnv_rc_applied(c, ANEURALNETWORKS_NEG, shift);
    uint32_t product =
        nnv_rc_combined(c, ANEURALNETWORKS_MUL, nnv_rc_in(c, 0), nnv_rc_reshaped(c, factor, &shape, NNV_RC_NONE));
    NNV_RC_EMIT(c, ANEURALNETWORKS_ADD, nnv_rc_result(c, 0), product, nnv_rc_reshaped(c, shift, &shape, NNV_RC_NONE),
                nnv_rc_act(c));
}

static void batch_norm(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank), n = x.dims[axis];
    static const char *const what[] = {"gamma", "beta", "the mean", "the variance"};
    const double *given[4];
    double epsilon = nnv_rc_num_attr(c, "epsilon", 1e-5), *factor = NNV_NEW(c->scratch, double, n),
           *shift = NNV_NEW(c->scratch, double, n);
    bool scales = nnv_rc_int_attr(c, "scale", 1), centers = nnv_rc_int_attr(c, "center", 1);
    if (!factor || !shift) nnv_rc_no_memory(c);
    bool known = true;
    for (size_t i = 1; i < 5; i++) known = known && nnv_rc_is_const(c, nnv_rc_arg(c, i));
    for (size_t i = 1; i < c->node->out.n && nnv_rc_ok(c); i++) /* mean and variance are those that were given */
        if (c->values[c->node->out.v[i]].uses) c->values[c->node->out.v[i]].operand = nnv_rc_in(c, i + 2);
    if (!known) {
        batch_norm_of_operands(c, axis);
        return;
    }
    for (size_t i = 0; i < 4; i++) given[i] = nnv_rc_numbers(c, nnv_rc_arg(c, i + 1), what[i]);
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        factor[i] = (scales ? given[0][i] : 1) / sqrt(given[3][i] + epsilon);
        shift[i] = (centers ? given[1][i] : 0) - given[2][i] * factor[i];
    }
    uint32_t in = nnv_rc_in(c, 0);
    if (nnv_rc_ok(c)) scale_shift(c, in, axis, factor, shift);
}

/* (x - mean) / sqrt(variance + epsilon), each of an axis. */
static uint32_t normalised(struct nnv_rc *c, uint32_t x, uint32_t axis) {
    struct nnv_rc_shape one = nnv_rc_operand_shape(c, x);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    one.dims[axis] = 1;
    uint32_t mean = nnv_rc_temp(c, e, &one), variance = nnv_rc_temp(c, e, &one),
             axes = nnv_rc_ints(c, 1, &(int64_t){axis}), keep = nnv_rc_int(c, 1);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MEAN, mean, x, axes, keep);
    uint32_t d = nnv_rc_combined(c, ANEURALNETWORKS_SUB, x, mean);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MEAN, variance, nnv_rc_combined(c, ANEURALNETWORKS_MUL, d, d), axes, keep);
    double epsilon = nnv_rc_num_attr(c, "epsilon", 1e-5);
    uint32_t by = nnv_rc_applied(c, ANEURALNETWORKS_RSQRT, nnv_rc_by(c, ANEURALNETWORKS_ADD, variance, epsilon));
    return nnv_rc_combined(c, ANEURALNETWORKS_MUL, d, by);
}

/* The result: times gamma, plus beta. */
static void scaled(struct nnv_rc *c, uint32_t in, uint32_t axis) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), shape = along(axis, &x);
    if (nnv_rc_int_attr(c, "scale", 1))
        in = nnv_rc_combined(c, ANEURALNETWORKS_MUL, in, nnv_rc_reshaped(c, nnv_rc_in(c, 1), &shape, NNV_RC_NONE));
    uint32_t beta = nnv_rc_int_attr(c, "center", 1) ? nnv_rc_reshaped(c, nnv_rc_in(c, 2), &shape, NNV_RC_NONE)
                                                    : nnv_rc_one(c, nnv_rc_encoding(c, nnv_rc_arg(c, 0)), 0);
    NNV_RC_EMIT(c, ANEURALNETWORKS_ADD, nnv_rc_result(c, 0), in, beta, nnv_rc_act(c));
}

static void layer_norm(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), x.rank), in = nnv_rc_in(c, 0);
    if (nnv_rc_ok(c)) scaled(c, normalised(c, in, axis), axis);
}

/* The elements of a group of channels stand side by side. */
static void group_norm(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank), in = nnv_rc_in(c, 0);
    int64_t groups = nnv_rc_int_attr(c, "num_groups", 1);
    if (axis != 1) nnv_rc_refuse(c, "channels in axis %u: only behind the batch", axis);
    if (!nnv_rc_ok(c)) return;
    size_t group = nnv_rc_elems(&x) / x.dims[0] / (size_t)groups;
    struct nnv_rc_shape rows = {3, {x.dims[0], (uint32_t)groups, (uint32_t)group}};
    uint32_t y = normalised(c, nnv_rc_reshaped(c, in, &rows, NNV_RC_NONE), 2);
    if (nnv_rc_ok(c)) scaled(c, nnv_rc_reshaped(c, y, &x, NNV_RC_NONE), axis);
}

/* NNAPI has one gamma and one beta: those of channels are a product and a sum behind. */
static void instance_norm(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank);
    bool scales = nnv_rc_int_attr(c, "scale", 1), centers = nnv_rc_int_attr(c, "center", 1), nchw = axis == 1;
    const double *gamma = nnv_rc_numbers(c, nnv_rc_arg(c, 1), "gamma"),
                 *beta = nnv_rc_numbers(c, nnv_rc_arg(c, 2), "beta");
    if (x.rank != 4 || (axis != 1 && axis != 3)) nnv_rc_refuse(c, "only images: four dimensions, channels in 1 or 3");
    if (!nnv_rc_ok(c)) return;
    uint32_t n = x.dims[axis], in = nnv_rc_in(c, 0);
    double *factor = NNV_NEW(c->arena, double, n), *shift = NNV_NEW(c->arena, double, n);
    bool equal = true;
    if (!factor || !shift) {
        nnv_rc_no_memory(c);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        factor[i] = scales ? gamma[i] : 1;
        shift[i] = centers ? beta[i] : 0;
        equal = equal && factor[i] == factor[0] && shift[i] == shift[0];
    }
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    uint32_t to = equal && n ? nnv_rc_result(c, 0) : nnv_rc_temp(c, e, &x);
    NNV_RC_EMIT(c, ANEURALNETWORKS_INSTANCE_NORMALIZATION, to, in, nnv_rc_float(c, e, equal && n ? factor[0] : 1),
                nnv_rc_float(c, e, equal && n ? shift[0] : 0), nnv_rc_float(c, e, nnv_rc_num_attr(c, "epsilon", 1e-5)),
                nnv_builder_bool(&c->b, nchw));
    if (!equal && nnv_rc_ok(c)) scale_shift(c, to, axis, factor, shift);
}

/* Relay divides alpha by the size of the window, NNAPI does not. */
static void lrn(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    int64_t size = nnv_rc_int_attr(c, "size", 5);
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 1), x.rank), in[6], n = 0;
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    if (size < 1 || size % 2 == 0) nnv_rc_refuse(c, "a window of %" PRId64 "; NNAPI's are odd", size);
    if (axis + 1 != x.rank && c->limit < 3)
        nnv_rc_refuse(c, "axis %u of %u: another than the last one needs feature level 3", axis, x.rank);
    if (!nnv_rc_ok(c)) return;
    in[n++] = nnv_rc_in(c, 0);
    in[n++] = nnv_rc_int(c, (size - 1) / 2);
    in[n++] = nnv_rc_float(c, e, nnv_rc_num_attr(c, "bias", 2));
    in[n++] = nnv_rc_float(c, e, nnv_rc_num_attr(c, "alpha", 1e-5) / (double)size);
    in[n++] = nnv_rc_float(c, e, nnv_rc_num_attr(c, "beta", 0.75));
    if (axis + 1 != x.rank) in[n++] = nnv_rc_int(c, axis);
    nnv_rc_emit_n(c, ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, n, in, 1, &(uint32_t){nnv_rc_result(c, 0)});
}

/* x / sqrt(max(sum of squares, eps)): with an eps L2_NORMALIZATION would differ where the sum is smaller. */
static void l2_normalize(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), one = x;
    int64_t axes[NNV_RELAY_RANK];
    size_t n = nnv_rc_ints_attr(c, "axis", axes, NNV_RELAY_RANK);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    double eps = nnv_rc_num_attr(c, "eps", 0);
    for (size_t i = 0; i < n; i++) one.dims[axes[i] = nnv_rc_axis(c, axes[i], x.rank)] = 1;
    for (uint32_t i = 0; n == 0 && i < x.rank; i++) one.dims[i] = 1;
    for (; n < x.rank && nnv_rc_elems(&one) == 1; n++) axes[n] = (int64_t)n;
    if (!(eps > 0)) nnv_rc_refuse(c, "eps %g: zeros would be divided by 0", eps);
    uint32_t in = nnv_rc_in(c, 0), square = nnv_rc_temp(c, e, &x), sum = nnv_rc_temp(c, e, &one),
             least = nnv_rc_temp(c, e, &one), root = nnv_rc_temp(c, e, &one);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MUL, square, in, in, nnv_rc_int(c, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_REDUCE_SUM, sum, square, nnv_rc_ints(c, n, axes), nnv_builder_bool(&c->b, true));
    NNV_RC_EMIT(c, ANEURALNETWORKS_MAXIMUM, least, sum, nnv_rc_one(c, e, eps));
    NNV_RC_EMIT(c, ANEURALNETWORKS_RSQRT, root, least);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MUL, nnv_rc_result(c, 0), in, root, nnv_rc_int(c, 0));
}

static const struct nnv_rc_row rows[] = {
    {"nn.softmax", softmax, -1, NNV_RC_FLOAT, NNV_RC_REAL, 1, "SOFTMAX"},
    {"nn.log_softmax", log_softmax, -1, NNV_RC_FLOAT, NNV_RC_REAL, 3, "LOG_SOFTMAX"},
    {"nn.bias_add", bias_add, -1, NNV_RC_FLOAT | NNV_RC_I32, NNV_RC_FUSES, 1, "ADD"},
    {"nn.batch_norm", batch_norm, -1, NNV_RC_FLOAT, NNV_RC_FUSES, 1, "MUL, ADD, SUB, NEG, RSQRT"},
    {"nn.layer_norm", layer_norm, -1, NNV_RC_FLOAT, NNV_RC_FUSES, 3, "MEAN, SUB, MUL, ADD, RSQRT"},
    {"nn.group_norm", group_norm, -1, NNV_RC_FLOAT, NNV_RC_FUSES, 3, "MEAN, SUB, MUL, ADD, RSQRT"},
    {"nn.instance_norm", instance_norm, -1, NNV_RC_FLOAT, 0, 3, "INSTANCE_NORMALIZATION, MUL, ADD"},
    {"nn.lrn", lrn, -1, NNV_RC_FLOAT, 0, 1, "LOCAL_RESPONSE_NORMALIZATION"},
    {"nn.l2_normalize", l2_normalize, -1, NNV_RC_FLOAT, 0, 3, "MUL, REDUCE_SUM, MAXIMUM, RSQRT"},
};
const struct nnv_rc_rows nnv_rc_norm = {rows, sizeof rows / sizeof *rows};
