/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/images.h"

#include <math.h>
#include <string.h>

static bool is_quant(const struct nnv_images *n) { return nnv_is_quant(n->type.code); }

bool nnv_images_type(const char *tag, struct nnv_image_type *type) {
    static const struct {
        const char *tag;
        struct nnv_image_type type;
    } known[] = {{"float32", {ANEURALNETWORKS_TENSOR_FLOAT32, false}},
                 {"float16", {ANEURALNETWORKS_TENSOR_FLOAT16, false}},
                 {"quant8", {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, false}},
                 {"signed", {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, false}},
                 {"int8", {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, true}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].tag, tag) == 0) {
            *type = known[i].type;
            return true;
        }
    return false;
}

enum nnv_status nnv_images_check(const char *what, const struct nnv_image_type *type, uint32_t size, uint32_t classes,
                                 struct nnv_err *err) {
    const bool is_signed = type->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    const bool known = is_signed || type->code == ANEURALNETWORKS_TENSOR_FLOAT32 ||
                       type->code == ANEURALNETWORKS_TENSOR_FLOAT16 ||
                       type->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    if (size < 32 || size > 1024 || size % 32 != 0)
        return nnv_fail(err, NNV_INVALID, "%s for images of %u: expected a multiple of 32 up to 1024", what, size);
    if (classes < 2 || classes > 100000)
        return nnv_fail(err, NNV_INVALID, "%s of %u classes: expected 2 to 100000", what, classes);
    if (!known || (type->per_channel && !is_signed))
        return nnv_fail(err, NNV_INVALID, "%s of type %d: expected float32, float16, quant8 or signed quant8", what,
                        type->code);
    return NNV_OK;
}

/* Values in [lo, hi], where the type is quantised. */
static struct nnv_encoding encoding(const struct nnv_images *n, double lo, double hi) {
    struct nnv_encoding e = {.type = n->type.code};
    if (!is_quant(n)) return e;
    e.scale = (float)((hi - lo) / 255);
    e.zero_point = (int32_t)lround(-lo / (double)e.scale);
    if (e.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) e.zero_point -= 128;
    return e;
}

/* The codes of a filter that was drawn with one scale mean numbers of a scale a channel, around that one. */
static void set_channels(struct nnv_images *n, uint32_t filter, uint32_t bias, uint32_t dim, uint32_t channels) {
    float *scales = NNV_NEW(n->b.arena, float, channels);
    if (!nnv_builder_ok(&n->b)) return;
    if (!scales) {
        n->b.failed = true;
        return;
    }
    struct nnv_operand *w = &n->b.operand[filter];
    for (uint32_t c = 0; c < channels; c++) scales[c] = w->scale * (0.75f + 0.125f * (float)(c % 5));
    w->channel = (struct nnv_channel_quant){.dim = dim, .count = channels, .scales = scales};
    w->scale = 0;
    n->b.operand[bias].scale = 0;
}

/* Filter and bias for sums of `terms` products, whose variance is to be that of the input times gain. */
static void add_weights(struct nnv_images *n, uint32_t rank, const uint32_t *dims, uint32_t channels, double terms,
                        double gain, uint32_t *filter, uint32_t *bias) {
    double deviation = sqrt(gain / terms);
    struct nnv_encoding w = {.type = n->type.code}, c = w;
    if (is_quant(n)) { /* symmetric, so that the weights are signed bytes beside their zero point */
        w.scale = (float)(4 * deviation / 127);
        w.zero_point = w.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 0 : 128;
        c = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, n->code.scale * w.scale, 0};
    }
    const bool per_channel = n->type.per_channel && rank == 4;
    if (per_channel) w.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    *filter = nnv_builder_weights(&n->b, w, rank, dims, deviation);
    *bias = nnv_builder_weights(&n->b, c, 1, &channels, 0.1);
    if (per_channel) set_channels(n, *filter, *bias, dims[0] == channels ? 0 : 3, channels);
}

/* The encoding of a layer's result: behind RELU6 or RELU, or without an activation. */
static struct nnv_encoding result(const struct nnv_images *n, int32_t activation) {
    return activation == ANEURALNETWORKS_FUSED_NONE ? encoding(n, -6, 6) : encoding(n, 0, 6);
}

static uint32_t image(struct nnv_images *n, struct nnv_encoding e) {
    const uint32_t dims[] = {1, n->side, n->side, n->channels};
    return nnv_builder_tensor(&n->b, e, 4, dims, NNV_TEMPORARY_VARIABLE);
}

void nnv_images_convolve(struct nnv_images *n, uint32_t channels, uint32_t size, uint32_t stride, int32_t activation) {
    const uint32_t dims[] = {channels, size, size, n->channels};
    uint32_t in[7] = {n->last};
    /* Behind a RELU the mean square is about half the variance in front of it. What is added stays small. */
    const double gain = activation != ANEURALNETWORKS_FUSED_NONE && n->halved ? 2 : 1;
    add_weights(n, 4, dims, channels, (double)size * size * n->channels, gain, &in[1], &in[2]);
    in[3] = nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_SAME);
    in[4] = in[5] = nnv_builder_int(&n->b, (int32_t)stride);
    in[6] = nnv_builder_int(&n->b, activation);
    n->side = (n->side + stride - 1) / stride;
    n->channels = channels;
    n->halved = activation != ANEURALNETWORKS_FUSED_NONE;
    n->code = result(n, activation);
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_CONV_2D, 7, in, n->last);
}

void nnv_images_convolve_depthwise(struct nnv_images *n, uint32_t stride) {
    const uint32_t dims[] = {1, 3, 3, n->channels};
    uint32_t in[8] = {n->last};
    add_weights(n, 4, dims, n->channels, 9, 2, &in[1], &in[2]);
    in[3] = nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_SAME);
    in[4] = in[5] = nnv_builder_int(&n->b, (int32_t)stride);
    in[6] = nnv_builder_int(&n->b, 1);
    in[7] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_RELU6);
    n->side = (n->side + stride - 1) / stride;
    n->code = result(n, ANEURALNETWORKS_FUSED_RELU6);
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_DEPTHWISE_CONV_2D, 8, in, n->last);
}

void nnv_images_pool(struct nnv_images *n, uint32_t size, uint32_t stride) {
    uint32_t in[7] = {n->last, nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_SAME)};
    in[2] = in[3] = nnv_builder_int(&n->b, (int32_t)stride);
    in[4] = in[5] = nnv_builder_int(&n->b, (int32_t)size);
    in[6] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE);
    n->side = (n->side + stride - 1) / stride;
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_MAX_POOL_2D, 7, in, n->last);
}

void nnv_images_add(struct nnv_images *n, uint32_t operand, int32_t activation, double most) {
    const uint32_t in[] = {n->last, operand, nnv_builder_int(&n->b, activation)};
    n->halved = activation != ANEURALNETWORKS_FUSED_NONE;
    n->code = encoding(n, n->halved ? 0 : -most, most);
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_ADD, 3, in, n->last);
}

uint32_t nnv_images_end(struct nnv_images *n, uint32_t classes) {
    uint32_t pool[7] = {n->last, nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_VALID)};
    pool[2] = pool[3] = nnv_builder_int(&n->b, 1);
    pool[4] = pool[5] = nnv_builder_int(&n->b, (int32_t)n->side);
    pool[6] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE);
    n->side = 1;
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_AVERAGE_POOL_2D, 7, pool, n->last);

    const uint32_t filter[] = {classes, n->channels}, scores[] = {1, classes};
    uint32_t in[4] = {n->last};
    add_weights(n, 2, filter, classes, n->channels, 4, &in[1], &in[2]);
    in[3] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE);
    uint32_t logits = nnv_builder_tensor(&n->b, encoding(n, -8, 8), 2, scores, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&n->b, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, logits);

    struct nnv_encoding e = {.type = n->type.code};
    if (is_quant(n)) e.scale = 1.0f / 256;
    if (e.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) e.zero_point = -128;
    const bool half = e.type == ANEURALNETWORKS_TENSOR_FLOAT16;
    const int32_t beta = half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32;
    const uint32_t softmax[] = {logits, nnv_builder_scalar(&n->b, beta, 1)};
    uint32_t out = nnv_builder_tensor(&n->b, e, 2, scores, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&n->b, ANEURALNETWORKS_SOFTMAX, 2, softmax, out);
    return out;
}

uint32_t nnv_images_begin(struct nnv_images *n, uint32_t size) {
    const uint32_t dims[] = {1, size, size, NNV_IMAGE_CHANNELS};
    n->side = size;
    n->channels = NNV_IMAGE_CHANNELS;
    n->code = encoding(n, -1, 1);
    return n->last = nnv_builder_tensor(&n->b, n->code, 4, dims, NNV_SUBGRAPH_INPUT);
}
