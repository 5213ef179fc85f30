/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products and windows: convolutions, FULLY_CONNECTED, BATCH_MATMUL, pools, normalisation across channels. */
#include <math.h>
#include <string.h>

#include "mlts/tflite/convert.h"

/* --------------------------------------------------------- weights and biases */

/** An int8 filter with a scale for each channel. */
static uint32_t channel_weights(struct nnv_cv *c, const struct nnv_tfl_tensor *t) {
    for (uint32_t i = 0; i < t->scale_count; i++)
        if (t->zero_points[i] != 0 || !(t->scales[i] > 0)) {
            nnv_cv_refuse(c, " with zero points for channels");
            return 0;
        }
    if (!t->data || t->sparse || t->type != NNV_TFL_INT8) {
        nnv_cv_refuse(c, " with scales for channels of %s", t->data ? nnv_tfl_type_name(t->type) : "computed weights");
        return 0;
    }
    /* Added as what it is not, without scales, and then made what it is. */
    uint32_t w = nnv_cv_const(c, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, t->rank,
                              t->dims, t->data);
    if (!nnv_cv_ok(c)) return 0;
    struct nnv_channel_quant *q = &c->b.operand[w].channel;
    *q = (struct nnv_channel_quant){t->axis, t->scale_count,
                                    nnv_arena_copy(c->b.arena, t->scales, t->scale_count * sizeof *t->scales)};
    if (!q->scales) c->b.failed = true;
    return w;
}

/** The filter that is input i, in what fits x: hybrid ones become float. */
static uint32_t weights(struct nnv_cv *c, uint32_t x, uint32_t i) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (!t || !nnv_cv_ok(c)) return 0;
    if (!nnv_cv_is_quant(c, x)) return nnv_cv_weights_float(c, i);
    return t->scale_count > 1 ? channel_weights(c, t) : nnv_cv_in(c, i);
}

/** A constant bias whose scale is another than that of the products: rounded anew if it differs by more than 2 %. */
static void rescale_bias(const struct nnv_tfl_tensor *t, float scale, int32_t *v, size_t n) {
    if (t->scale_count != 1 || !(t->scales[0] > 0) || !(scale > 0)) return;
    double ratio = (double)t->scales[0] / (double)scale;
    if (fabs(ratio - 1) <= 0.02) return;
    for (size_t i = 0; i < n; i++) {
        double r = nnv_round_half_away(v[i] * ratio);
        v[i] = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : (int32_t)r;
    }
}

/** The bias that is input i, or zeros. */
static uint32_t bias(struct nnv_cv *c, uint32_t i, uint32_t x, uint32_t w, uint32_t channels) {
    const bool quant = nnv_cv_is_quant(c, x);
    struct nnv_encoding e = NNV_CV_F32;
    /* With a scale for each channel, that of w is 0, as it must be. */
    if (quant)
        e = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, nnv_cv_at(c, x)->scale * nnv_cv_at(c, w)->scale, 0};
    if (!nnv_cv_has(c, i)) return nnv_cv_filled(c, e, 1, &channels, 0);
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (!quant) return nnv_cv_weights_float(c, i);
    const uint32_t b = nnv_cv_in(c, i);
    if (!nnv_cv_ok(c)) return 0;
    if (!nnv_cv_is_const(c, b) || nnv_cv_at(c, b)->type != ANEURALNETWORKS_TENSOR_INT32) {
        nnv_cv_refuse(c, " with a bias of %s%s", nnv_tfl_type_name(t->type), nnv_cv_is_const(c, b) ? "" : ", computed");
        return 0;
    }
    const struct nnv_operand *o = nnv_cv_at(c, b);
    int32_t *v = nnv_arena_copy(c->b.arena, o->data, o->bytes);
    if (!v) {
        c->b.failed = true;
        return 0;
    }
    rescale_bias(t, e.scale, v, o->bytes / sizeof *v);
    return nnv_cv_const(c, e, o->rank, o->dims, v);
}

/** Input i is an image, a filter: of rank 4. */
static bool is_image(struct nnv_cv *c, uint32_t i) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (t && t->rank != 4) nnv_cv_fail(c, "input %u has rank %u, not 4", i, t->rank);
    return nnv_cv_ok(c);
}

/* --------------------------------------------------------------- convolutions */

/** Stride and dilation: the options hold both width first. */
struct steps {
    int32_t stride_w, stride_h, dilation_w, dilation_h;
};

static struct steps steps_of(struct nnv_cv *c, unsigned stride, unsigned dilation) {
    return (struct steps){nnv_cv_option_positive(c, stride, 0, "stride_w"),
                          nnv_cv_option_positive(c, stride + 1, 0, "stride_h"),
                          dilation ? nnv_cv_option_positive(c, dilation, 1, "dilation_w_factor") : 1,
                          dilation ? nnv_cv_option_positive(c, dilation + 1, 1, "dilation_h_factor") : 1};
}

/** Adds what comes last where it is not what it is by default; the count of inputs. */
static uint32_t add_dilation(struct nnv_cv *c, struct steps s, uint32_t *in, uint32_t n) {
    if (s.dilation_w == 1 && s.dilation_h == 1) return n;
    in[n++] = nnv_builder_bool(&c->b, false);
    in[n++] = nnv_builder_int(&c->b, s.dilation_w);
    in[n++] = nnv_builder_int(&c->b, s.dilation_h);
    return n;
}

static void convolution(struct nnv_cv *c) {
    enum { PADDING, STRIDE, ACTIVATION = 3, DILATION };
    const uint32_t x = nnv_cv_in(c, 0), w = weights(c, x, 1);
    if (!nnv_cv_ok(c) || !is_image(c, 0) || !is_image(c, 1)) return;
    const uint32_t *filter = nnv_cv_at(c, w)->dims, channels = nnv_cv_at(c, x)->dims[3], outputs = filter[0];
    const uint32_t groups = channels / filter[3];
    if (channels % filter[3] != 0 || groups == 0 || outputs % groups != 0) {
        nnv_cv_fail(c, "%u channels cannot be divided into groups of %u for %u outputs", channels, filter[3], outputs);
        return;
    }
    const struct steps s = steps_of(c, STRIDE, DILATION);
    uint32_t in[12] = {x, w, bias(c, 2, x, w, outputs), nnv_cv_padding(c, PADDING)}, n = 4;
    in[n++] = nnv_builder_int(&c->b, s.stride_w);
    in[n++] = nnv_builder_int(&c->b, s.stride_h);
    if (groups > 1) in[n++] = nnv_builder_int(&c->b, (int32_t)groups);
    in[n++] = nnv_cv_fused(c, ACTIVATION);
    if (groups > 1) {
        if (s.dilation_w != 1 || s.dilation_h != 1) nnv_cv_refuse(c, " with groups and dilation");
        in[n++] = nnv_builder_bool(&c->b, false);
    } else {
        n = add_dilation(c, s, in, n);
    }
    nnv_cv_emit(c, groups > 1 ? ANEURALNETWORKS_GROUPED_CONV_2D : ANEURALNETWORKS_CONV_2D, n, in, nnv_cv_out(c, 0));
}

static void depthwise(struct nnv_cv *c) {
    enum { PADDING, STRIDE, ACTIVATION = 4, DILATION };
    const uint32_t x = nnv_cv_in(c, 0), w = weights(c, x, 1);
    if (!nnv_cv_ok(c) || !is_image(c, 0) || !is_image(c, 1)) return;
    const uint32_t channels = nnv_cv_at(c, x)->dims[3], outputs = nnv_cv_at(c, w)->dims[3];
    if (outputs % channels != 0) {
        nnv_cv_fail(c, "%u outputs are no multiple of %u channels", outputs, channels);
        return;
    }
    const struct steps s = steps_of(c, STRIDE, DILATION);
    uint32_t in[11] = {x, w, bias(c, 2, x, w, outputs), nnv_cv_padding(c, PADDING)};
    in[4] = nnv_builder_int(&c->b, s.stride_w);
    in[5] = nnv_builder_int(&c->b, s.stride_h);
    in[6] = nnv_builder_int(&c->b, (int32_t)(outputs / channels));
    in[7] = nnv_cv_fused(c, ACTIVATION);
    nnv_cv_emit(c, ANEURALNETWORKS_DEPTHWISE_CONV_2D, add_dilation(c, s, in, 8), in, nnv_cv_out(c, 0));
}

static void transposed_convolution(struct nnv_cv *c) {
    enum { PADDING, STRIDE, ACTIVATION = 3, SHAPE = 0, WEIGHTS, INPUT, BIAS };
    const uint32_t x = nnv_cv_in(c, INPUT), w = weights(c, x, WEIGHTS);
    const int32_t *shape = nnv_cv_ints_exact(c, SHAPE, 4);
    if (!nnv_cv_ok(c) || !is_image(c, INPUT) || !is_image(c, WEIGHTS)) return;
    const struct steps s = steps_of(c, STRIDE, 0);
    const uint32_t in[] = {x,
                           w,
                           bias(c, BIAS, x, w, nnv_cv_at(c, w)->dims[0]),
                           nnv_builder_ints(&c->b, 4, shape),
                           nnv_cv_padding(c, PADDING),
                           nnv_builder_int(&c->b, s.stride_w),
                           nnv_builder_int(&c->b, s.stride_h),
                           nnv_cv_fused(c, ACTIVATION),
                           nnv_builder_bool(&c->b, false)};
    nnv_cv_emit(c, ANEURALNETWORKS_TRANSPOSE_CONV_2D, sizeof in / sizeof *in, in, nnv_cv_out(c, 0));
}

/* ------------------------------------------------------------ matrix products */

/** With a scale for each output: a convolution of an image of one pixel. */
static void connect_as_convolution(struct nnv_cv *c, uint32_t x, uint32_t w, uint32_t batch, uint32_t units,
                                   uint32_t size, uint32_t activation, uint32_t y) {
    const uint32_t pixel[] = {batch, 1, 1, size}, filter[] = {units, 1, 1, size}, result[] = {batch, 1, 1, units};
    const struct nnv_channel_quant channel = nnv_cv_at(c, w)->channel;
    const uint32_t v = nnv_cv_const(c, nnv_builder_encoding(&c->b, w), 4, filter, nnv_cv_at(c, w)->data);
    if (!nnv_cv_ok(c)) return;
    c->b.operand[v].channel = channel;
    const uint32_t b = bias(c, 2, x, v, units), image = nnv_cv_reshaped(c, x, 4, pixel);
    const uint32_t t = nnv_cv_temp_shaped(c, y, 4, result), one = nnv_builder_int(&c->b, 1);
    NNV_CV_EMIT(c, ANEURALNETWORKS_CONV_2D, t, image, v, b, nnv_builder_int(&c->b, ANEURALNETWORKS_PADDING_VALID), one,
                one, activation);
    nnv_cv_reshape(c, t, y);
}

static void fully_connected(struct nnv_cv *c) {
    enum { ACTIVATION, FORMAT };
    const uint32_t x = nnv_cv_in(c, 0), w = weights(c, x, 1), y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    if (nnv_cv_option_enum(c, FORMAT, 1, "weights_format") != 0) nnv_cv_refuse(c, " with shuffled weights");
    if (nnv_cv_at(c, w)->rank != 2) nnv_cv_fail(c, "weights have rank %u, not 2", nnv_cv_at(c, w)->rank);
    if (!nnv_cv_ok(c)) return;
    const uint32_t units = nnv_cv_at(c, w)->dims[0], size = nnv_cv_at(c, w)->dims[1];
    const size_t n = nnv_cv_elements(c, x);
    if (n % size != 0) {
        nnv_cv_fail(c, "%zu numbers are no multiple of the %u that the weights take", n, size);
        return;
    }
    const uint32_t batch = (uint32_t)(n / size), flat[] = {batch, size}, result[] = {batch, units};
    const uint32_t activation = nnv_cv_fused(c, ACTIVATION);
    if (nnv_cv_at(c, w)->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
        connect_as_convolution(c, x, w, batch, units, size, activation, y);
        return;
    }
    const uint32_t b = bias(c, 2, x, w, units);
    const uint32_t rank = nnv_cv_at(c, x)->rank, in = rank < 2 || rank > 4 ? nnv_cv_reshaped(c, x, 2, flat) : x;
    const bool as_is = nnv_cv_at(c, y)->rank == 2;
    const uint32_t t = as_is ? y : nnv_cv_temp_shaped(c, y, 2, result);
    NNV_CV_EMIT(c, ANEURALNETWORKS_FULLY_CONNECTED, t, in, w, b, activation);
    if (!as_is) nnv_cv_reshape(c, t, y);
}

/** The batches of x repeated so that they are those of y. */
static uint32_t with_batches(struct nnv_cv *c, uint32_t x, uint32_t rank, const uint32_t *dims) {
    uint32_t full[NNV_MAX_RANK], missing = rank - nnv_cv_at(c, x)->rank;
    int32_t times[NNV_MAX_RANK];
    bool same = true;
    for (uint32_t d = 0; d < rank; d++) full[d] = d < missing ? 1 : nnv_cv_at(c, x)->dims[d - missing];
    x = nnv_cv_reshaped(c, x, rank, full);
    for (uint32_t d = 0; d < rank; d++) {
        times[d] = d + 2 < rank && full[d] == 1 ? (int32_t)dims[d] : 1;
        same = same && times[d] == 1;
        full[d] *= (uint32_t)times[d];
    }
    if (same) return x;
    const uint32_t t = nnv_cv_temp_shaped(c, x, rank, full);
    NNV_CV_EMIT(c, ANEURALNETWORKS_TILE, t, x, nnv_builder_ints(&c->b, rank, times));
    return t;
}

static void batch_matmul(struct nnv_cv *c) {
    uint32_t a = nnv_cv_in(c, 0), b = nnv_cv_is_quant(c, a) ? nnv_cv_in(c, 1) : nnv_cv_weights_float(c, 1);
    const uint32_t y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t rank = nnv_cv_at(c, y)->rank, *dims = nnv_cv_at(c, y)->dims;
    if (rank > 4) nnv_cv_refuse(c, " of rank %u", rank);
    if (nnv_cv_at(c, a)->rank > rank || nnv_cv_at(c, b)->rank > rank)
        nnv_cv_fail(c, "an input has a higher rank than the output");
    if (!nnv_cv_ok(c)) return;
    a = with_batches(c, a, rank, dims);
    b = with_batches(c, b, rank, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_BATCH_MATMUL, y, a, b,
                nnv_builder_bool(&c->b, nnv_cv_option_bool(c, 0, false, "adj_x")),
                nnv_builder_bool(&c->b, nnv_cv_option_bool(c, 1, false, "adj_y")));
}

/* ---------------------------------------------------------------------- pools */

static void pool(struct nnv_cv *c) {
    enum { PADDING, STRIDE, FILTER_W = 3, FILTER_H, ACTIVATION };
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (!is_image(c, 0) || !nnv_cv_moves(c, x, y)) return;
    const struct steps s = steps_of(c, STRIDE, 0);
    NNV_CV_EMIT(c, c->row->nnapi, y, x, nnv_cv_padding(c, PADDING), nnv_builder_int(&c->b, s.stride_w),
                nnv_builder_int(&c->b, s.stride_h),
                nnv_builder_int(&c->b, nnv_cv_option_positive(c, FILTER_W, 0, "filter_width")),
                nnv_builder_int(&c->b, nnv_cv_option_positive(c, FILTER_H, 0, "filter_height")),
                nnv_cv_fused(c, ACTIVATION));
}

/** RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR: the size comes as height and width, and goes the other way round. */
static void resize(struct nnv_cv *c) {
    const bool bilinear = c->row->nnapi == ANEURALNETWORKS_RESIZE_BILINEAR;
    const unsigned first = bilinear ? 2 : 0; /* two slots are of the past */
    const bool corners = nnv_cv_option_bool(c, first, false, "align_corners");
    const bool centers = nnv_cv_option_bool(c, first + 1, false, "half_pixel_centers");
    const int32_t *size = nnv_cv_ints_exact(c, 1, 2);
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    if (corners && centers) nnv_cv_fail(c, "align_corners and half_pixel_centers exclude each other");
    if (!is_image(c, 0) || !nnv_cv_moves(c, x, y)) return;
    uint32_t in[6] = {x, nnv_builder_int(&c->b, size[1]), nnv_builder_int(&c->b, size[0])}, n = 3;
    if (!bilinear || corners || centers) in[n++] = nnv_builder_bool(&c->b, false);
    if (corners || centers) {
        in[n++] = nnv_builder_bool(&c->b, corners);
        in[n++] = nnv_builder_bool(&c->b, centers);
    }
    nnv_cv_emit(c, c->row->nnapi, n, in, y);
}

static void local_response(struct nnv_cv *c) {
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0);
    NNV_CV_EMIT(c, ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, y, x,
                nnv_builder_int(&c->b, nnv_cv_option(c, 0, 0, "radius")),
                nnv_builder_float(&c->b, nnv_cv_option_float(c, 1, "bias")),
                nnv_builder_float(&c->b, nnv_cv_option_float(c, 2, "alpha")),
                nnv_builder_float(&c->b, nnv_cv_option_float(c, 3, "beta")));
}

/* Options by the schema's tags. */
enum {
    CONV = 1,
    DEPTHWISE = 2,
    POOL = 5,
    CONNECTED = 8,
    RESPONSE = 13,
    BILINEAR = 15,
    TRANSPOSED = 49,
    NEAREST = 74,
    MATMUL = 101
};

#define NUMBERS NNV_CV_NUMBER
static const struct nnv_converter rows[] = {
    {NNV_TFL_CONV_2D, CONV, false, 2, 3, 1, 1, 0, NUMBERS, convolution, 0},
    {NNV_TFL_DEPTHWISE_CONV_2D, DEPTHWISE, false, 2, 3, 1, 1, 0, NUMBERS, depthwise, 0},
    {NNV_TFL_TRANSPOSE_CONV, TRANSPOSED, false, 3, 4, 1, 1, 2, NUMBERS, transposed_convolution, 0},
    {NNV_TFL_FULLY_CONNECTED, CONNECTED, false, 2, 3, 1, 1, 0, NUMBERS, fully_connected, 0},
    {NNV_TFL_BATCH_MATMUL, MATMUL, true, 2, 2, 1, 1, 0, NNV_CV_FLOAT | 1 << NNV_TFL_INT8, batch_matmul, 0},
    {NNV_TFL_AVERAGE_POOL_2D, POOL, false, 1, 1, 1, 1, 0, NUMBERS, pool, ANEURALNETWORKS_AVERAGE_POOL_2D},
    {NNV_TFL_MAX_POOL_2D, POOL, false, 1, 1, 1, 1, 0, NUMBERS, pool, ANEURALNETWORKS_MAX_POOL_2D},
    {NNV_TFL_L2_POOL_2D, POOL, false, 1, 1, 1, 1, 0, NNV_CV_FLOAT, pool, ANEURALNETWORKS_L2_POOL_2D},
    {NNV_TFL_RESIZE_BILINEAR, BILINEAR, true, 2, 2, 1, 1, 0, NUMBERS, resize, ANEURALNETWORKS_RESIZE_BILINEAR},
    {NNV_TFL_RESIZE_NEAREST_NEIGHBOR, NEAREST, true, 2, 2, 1, 1, 0, NUMBERS, resize,
     ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR},
    {NNV_TFL_LOCAL_RESPONSE_NORMALIZATION, RESPONSE, false, 1, 1, 1, 1, 0, NNV_CV_FLOAT, local_response, 0},
};
const struct nnv_converters nnv_cv_window = {rows, sizeof rows / sizeof *rows};
