/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/mobilenet.h"

static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Channels of a layer: v1 cuts down, v2 rounds to a multiple of 8 without losing more than a tenth. */
static uint32_t scaled(const struct nnv_mobilenet *what, uint32_t channels) {
    double wanted = channels * what->width;
    if (what->version == 1) return max_u32(8, (uint32_t)wanted);
    uint32_t rounded = max_u32(8, (uint32_t)((wanted + 4) / 8) * 8);
    return rounded < 0.9 * wanted ? rounded + 8 : rounded;
}

/* v2: widen, convolve each channel, narrow; and the input beside it, where the shapes are equal. */
static void add_bottleneck(struct nnv_images *n, uint32_t expansion, uint32_t channels, uint32_t stride) {
    const uint32_t shortcut = n->last, before = n->channels;
    if (expansion > 1) nnv_images_convolve(n, before * expansion, 1, 1, ANEURALNETWORKS_FUSED_RELU6);
    nnv_images_convolve_depthwise(n, stride);
    nnv_images_convolve(n, channels, 1, 1, ANEURALNETWORKS_FUSED_NONE);
    if (stride == 1 && before == channels) nnv_images_add(n, shortcut, ANEURALNETWORKS_FUSED_NONE, 8);
}

static void add_layers_v1(struct nnv_images *n, const struct nnv_mobilenet *what) {
    static const struct {
        uint32_t channels, stride;
    } layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    nnv_images_convolve(n, scaled(what, 32), 3, 2, ANEURALNETWORKS_FUSED_RELU6);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        nnv_images_convolve_depthwise(n, layers[i].stride);
        nnv_images_convolve(n, scaled(what, layers[i].channels), 1, 1, ANEURALNETWORKS_FUSED_RELU6);
    }
}

static void add_layers_v2(struct nnv_images *n, const struct nnv_mobilenet *what) {
    static const struct {
        uint32_t expansion, channels, times, stride;
    } blocks[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    nnv_images_convolve(n, scaled(what, 32), 3, 2, ANEURALNETWORKS_FUSED_RELU6);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (uint32_t t = 0; t < blocks[i].times; t++)
            add_bottleneck(n, blocks[i].expansion, scaled(what, blocks[i].channels), t == 0 ? blocks[i].stride : 1);
    nnv_images_convolve(n, what->width > 1 ? scaled(what, 1280) : 1280, 1, 1, ANEURALNETWORKS_FUSED_RELU6);
}

static enum nnv_status check(const struct nnv_mobilenet *net, struct nnv_err *err) {
    if (net->version != 1 && net->version != 2)
        return nnv_fail(err, NNV_INVALID, "MobileNet v%d: expected 1 or 2", net->version);
    if (!(net->width > 0 && net->width <= 4))
        return nnv_fail(err, NNV_INVALID, "MobileNet of width %g: expected a number above 0, up to 4", net->width);
    return nnv_images_check("MobileNet", &net->type, net->size, net->classes, err);
}

enum nnv_status nnv_mobilenet_build(const struct nnv_mobilenet *net, struct nnv_arena *arena, struct nnv_model *model,
                                    struct nnv_err *err) {
    enum nnv_status st = check(net, err);
    if (st) return st;
    struct nnv_images n = {.b = {.arena = arena, .seed = net->seed}, .type = net->type};
    const uint32_t in = nnv_images_begin(&n, net->size);
    if (net->version == 1)
        add_layers_v1(&n, net);
    else
        add_layers_v2(&n, net);
    const uint32_t out = nnv_images_end(&n, net->classes);
    return nnv_builder_end(&n.b, 1, &in, 1, &out, model, err);
}
