/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/resnet.h"

/* Two convolutions and their input beside them; where the extents change, a convolution of one pixel changes its. */
static void add_block(struct nnv_images *n, uint32_t channels, uint32_t stride) {
    enum { MOST = 8 };
    const struct nnv_images before = *n;
    uint32_t shortcut = n->last;
    if (stride > 1 || n->channels != channels) {
        nnv_images_convolve(n, channels, 1, stride, ANEURALNETWORKS_FUSED_NONE);
        shortcut = n->last;
        n->last = before.last;
        n->side = before.side;
        n->channels = before.channels;
        n->code = before.code;
        n->halved = before.halved;
    }
    nnv_images_convolve(n, channels, 3, stride, ANEURALNETWORKS_FUSED_RELU);
    nnv_images_convolve(n, channels, 3, 1, ANEURALNETWORKS_FUSED_NONE);
    nnv_images_add(n, shortcut, ANEURALNETWORKS_FUSED_RELU, MOST);
}

enum nnv_status nnv_resnet_build(const struct nnv_resnet *net, struct nnv_arena *arena, struct nnv_model *model,
                                 struct nnv_err *err) {
    enum nnv_status st = nnv_images_check("ResNet", &net->type, net->size, net->classes, err);
    if (st) return st;
    struct nnv_images n = {.b = {.arena = arena, .seed = net->seed}, .type = net->type};
    const uint32_t in = nnv_images_begin(&n, net->size);
    nnv_images_convolve(&n, 64, 7, 2, ANEURALNETWORKS_FUSED_RELU);
    nnv_images_pool(&n, 3, 2);
    for (uint32_t channels = 64; channels <= 512; channels *= 2) {
        add_block(&n, channels, channels > 64 ? 2 : 1);
        add_block(&n, channels, 1);
    }
    const uint32_t out = nnv_images_end(&n, net->classes);
    return nnv_builder_end(&n.b, 1, &in, 1, &out, model, err);
}
