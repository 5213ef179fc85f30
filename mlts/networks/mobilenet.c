/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/mobilenet.h"

#include <math.h>

#include "reference/model/builder.h"

enum { IMAGE_CHANNELS = 3 };

/* A network in progress. */
struct net {
    struct nnv_builder b;
    const struct nnv_mobilenet *what;
    uint32_t last;            /* operand: the result so far */
    uint32_t side, channels;  /* its extents: [1, side, side, channels] */
    struct nnv_encoding code; /* its encoding */
    bool halved;              /* it comes from RELU6 */
};

static bool is_quant(const struct net *n) { return nnv_is_quant(n->what->type); }

/* Values in [lo, hi], where the type is quantised. */
static struct nnv_encoding encoding(const struct net *n, double lo, double hi) {
    struct nnv_encoding e = {.type = n->what->type};
    if (!is_quant(n)) return e;
    e.scale = (float)((hi - lo) / 255);
    e.zero_point = (int32_t)lround(-lo / (double)e.scale);
    if (e.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) e.zero_point -= 128;
    return e;
}

static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Channels of a layer: v1 cuts down, v2 rounds to a multiple of 8 without losing more than a tenth. */
static uint32_t scaled(const struct net *n, uint32_t channels) {
    double wanted = channels * n->what->width;
    if (n->what->version == 1) return max_u32(8, (uint32_t)wanted);
    uint32_t rounded = max_u32(8, (uint32_t)((wanted + 4) / 8) * 8);
    return rounded < 0.9 * wanted ? rounded + 8 : rounded;
}

/* Filter and bias for sums of `terms` products, whose variance is to be that of the input times gain. */
static void add_weights(struct net *n, uint32_t rank, const uint32_t *dims, uint32_t channels, double terms,
                        double gain, uint32_t *filter, uint32_t *bias) {
    double deviation = sqrt(gain / terms);
    struct nnv_encoding w = {.type = n->what->type}, c = w;
    if (is_quant(n)) { /* symmetric, so that the weights are signed bytes beside their zero point */
        w.scale = (float)(4 * deviation / 127);
        w.zero_point = w.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 0 : 128;
        c = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, n->code.scale * w.scale, 0};
    }
    *filter = nnv_builder_weights(&n->b, w, rank, dims, deviation);
    *bias = nnv_builder_weights(&n->b, c, 1, &channels, 0.1);
}

/* The encoding of a layer's result: behind RELU6, or without an activation. */
static struct nnv_encoding result(const struct net *n, int32_t activation) {
    return activation == ANEURALNETWORKS_FUSED_RELU6 ? encoding(n, 0, 6) : encoding(n, -6, 6);
}

static uint32_t image(struct net *n, struct nnv_encoding e) {
    const uint32_t dims[] = {1, n->side, n->side, n->channels};
    return nnv_builder_tensor(&n->b, e, 4, dims, NNV_TEMPORARY_VARIABLE);
}

static void convolve(struct net *n, uint32_t channels, uint32_t size, uint32_t stride, int32_t activation) {
    const uint32_t dims[] = {channels, size, size, n->channels};
    uint32_t in[7] = {n->last};
    /* Behind RELU6 the mean square is about half the variance in front of it. A bottleneck's end stays small: it is
     * added. */
    const double gain = activation == ANEURALNETWORKS_FUSED_RELU6 && n->halved ? 2 : 1;
    add_weights(n, 4, dims, channels, (double)size * size * n->channels, gain, &in[1], &in[2]);
    in[3] = nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_SAME);
    in[4] = in[5] = nnv_builder_int(&n->b, (int32_t)stride);
    in[6] = nnv_builder_int(&n->b, activation);
    n->side = (n->side + stride - 1) / stride;
    n->channels = channels;
    n->halved = activation == ANEURALNETWORKS_FUSED_RELU6;
    n->code = result(n, activation);
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_CONV_2D, 7, in, n->last);
}

static void convolve_depthwise(struct net *n, uint32_t stride) {
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

/* v2: widen, convolve each channel, narrow; and the input beside it, where the shapes are equal. */
static void add_bottleneck(struct net *n, uint32_t expansion, uint32_t channels, uint32_t stride) {
    const uint32_t shortcut = n->last, before = n->channels;
    if (expansion > 1) convolve(n, before * expansion, 1, 1, ANEURALNETWORKS_FUSED_RELU6);
    convolve_depthwise(n, stride);
    convolve(n, channels, 1, 1, ANEURALNETWORKS_FUSED_NONE);
    if (stride > 1 || before != channels) return;
    const uint32_t in[] = {n->last, shortcut, nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE)};
    n->code = encoding(n, -8, 8);
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_ADD, 3, in, n->last);
}

static void add_layers_v1(struct net *n) {
    static const struct {
        uint32_t channels, stride;
    } layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    convolve(n, scaled(n, 32), 3, 2, ANEURALNETWORKS_FUSED_RELU6);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        convolve_depthwise(n, layers[i].stride);
        convolve(n, scaled(n, layers[i].channels), 1, 1, ANEURALNETWORKS_FUSED_RELU6);
    }
}

static void add_layers_v2(struct net *n) {
    static const struct {
        uint32_t expansion, channels, times, stride;
    } blocks[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    convolve(n, scaled(n, 32), 3, 2, ANEURALNETWORKS_FUSED_RELU6);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (uint32_t t = 0; t < blocks[i].times; t++)
            add_bottleneck(n, blocks[i].expansion, scaled(n, blocks[i].channels), t == 0 ? blocks[i].stride : 1);
    convolve(n, n->what->width > 1 ? scaled(n, 1280) : 1280, 1, 1, ANEURALNETWORKS_FUSED_RELU6);
}

/* Mean over the image, scores, softmax. The operand of the result. */
static uint32_t add_head(struct net *n) {
    uint32_t pool[7] = {n->last, nnv_builder_int(&n->b, ANEURALNETWORKS_PADDING_VALID)};
    pool[2] = pool[3] = nnv_builder_int(&n->b, 1);
    pool[4] = pool[5] = nnv_builder_int(&n->b, (int32_t)n->side);
    pool[6] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE);
    n->side = 1;
    n->last = image(n, n->code);
    nnv_builder_add(&n->b, ANEURALNETWORKS_AVERAGE_POOL_2D, 7, pool, n->last);

    const uint32_t filter[] = {n->what->classes, n->channels}, scores[] = {1, n->what->classes};
    uint32_t in[4] = {n->last};
    add_weights(n, 2, filter, n->what->classes, n->channels, 4, &in[1], &in[2]);
    in[3] = nnv_builder_int(&n->b, ANEURALNETWORKS_FUSED_NONE);
    uint32_t logits = nnv_builder_tensor(&n->b, encoding(n, -8, 8), 2, scores, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&n->b, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, logits);

    struct nnv_encoding e = {.type = n->what->type};
    if (is_quant(n)) e.scale = 1.0f / 256;
    if (e.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) e.zero_point = -128;
    const uint32_t softmax[] = {logits, nnv_builder_float(&n->b, 1)};
    uint32_t out = nnv_builder_tensor(&n->b, e, 2, scores, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&n->b, ANEURALNETWORKS_SOFTMAX, 2, softmax, out);
    return out;
}

static enum nnv_status check(const struct nnv_mobilenet *net, struct nnv_err *err) {
    if (net->version != 1 && net->version != 2)
        return nnv_fail(err, NNV_INVALID, "MobileNet v%d: expected 1 or 2", net->version);
    if (!(net->width > 0 && net->width <= 4))
        return nnv_fail(err, NNV_INVALID, "MobileNet of width %g: expected a number above 0, up to 4", net->width);
    if (net->size < 32 || net->size > 1024 || net->size % 32 != 0)
        return nnv_fail(err, NNV_INVALID, "MobileNet for images of %u: expected a multiple of 32 up to 1024",
                        net->size);
    if (net->classes < 2 || net->classes > 100000)
        return nnv_fail(err, NNV_INVALID, "MobileNet of %u classes: expected 2 to 100000", net->classes);
    if (net->type != ANEURALNETWORKS_TENSOR_FLOAT32 && net->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM &&
        net->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED)
        return nnv_fail(err, NNV_INVALID, "MobileNet of type %d: expected float32, quant8 or signed quant8", net->type);
    return NNV_OK;
}

enum nnv_status nnv_mobilenet_build(const struct nnv_mobilenet *net, struct nnv_arena *arena, struct nnv_model *model,
                                    struct nnv_err *err) {
    enum nnv_status st = check(net, err);
    if (st) return st;
    struct net n = {.b = {.arena = arena, .seed = net->seed}, .what = net, .side = net->size};
    n.channels = IMAGE_CHANNELS;
    n.code = encoding(&n, -1, 1);
    const uint32_t dims[] = {1, net->size, net->size, IMAGE_CHANNELS};
    const uint32_t in = nnv_builder_tensor(&n.b, n.code, 4, dims, NNV_SUBGRAPH_INPUT);
    n.last = in;
    if (net->version == 1)
        add_layers_v1(&n);
    else
        add_layers_v2(&n);
    const uint32_t out = add_head(&n);
    return nnv_builder_end(&n.b, 1, &in, 1, &out, model, err);
}
