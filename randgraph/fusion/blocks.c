/* SPDX-License-Identifier: Apache-2.0 */
/** @file blocks.c Steps of chains that are blocks of networks: several operations that backends know as one. */
#include "randgraph/fusion/chain.h"

#include <math.h>

static uint32_t none(struct nnv_chain *c) { return nnv_chain_i32(c, ANEURALNETWORKS_FUSED_NONE); }

/* A constant of one element about v, of the type of x. */
static uint32_t number(struct nnv_chain *c, uint32_t x, double v) {
    c->at = x;
    return nnv_chain_constant(c, 1, (uint32_t[]){1}, v * 0.999, v);
}

static uint32_t channels(struct nnv_chain *c, uint32_t x, double lo, double hi) {
    c->at = x;
    return nnv_chain_constant(c, 1, (uint32_t[]){nnv_chain_extent(c, x, -1)}, lo, hi);
}

/* Dilation as older networks have it: pixels dealt out to batches, a convolution, and back. arg: along the width only.
 */
void nnv_chain_dilated(struct nnv_chain *c, int arg) {
    const uint32_t x = c->at;
    const int h = (int)nnv_chain_extent(c, x, 1), w = (int)nnv_chain_extent(c, x, 2);
    const int32_t block[] = {arg ? 1 : 2, 2};
    int32_t pads[] = {0, 0, 1, 1};
    pads[0] = pads[1] = arg ? 0 : 1;
    pads[1] += (h + pads[0] + pads[1]) % block[0];
    pads[3] += (w + pads[2] + pads[3]) % block[1];
    const uint32_t blocks = nnv_chain_ints(c, 2, block);
    const uint32_t padding = nnv_chain_ints(c, 4, pads);
    if (!c->failed && c->pass == 0) {
        c->b.operand[padding].rank = 2;
        c->b.operand[padding].dims = nnv_arena_copy(c->arena, (uint32_t[]){2, 2}, 2 * sizeof(uint32_t));
        if (!c->b.operand[padding].dims) nnv_chain_fail(c);
    }
    const uint32_t dealt = NNV_CHAIN_ADD(c, SPACE_TO_BATCH_ND, x, blocks, padding);
    const uint32_t small = nnv_chain_conv_of(c, dealt, 2, 4, nnv_chain_chance(c, 0.3));
    c->at = NNV_CHAIN_ADD(c, BATCH_TO_SPACE_ND, small, blocks);
}

/* Channels weighted by what their means say. */
void nnv_chain_squeeze_excite(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, depth = nnv_chain_extent(c, x, 3);
    const uint32_t axes = nnv_chain_ints(c, 2, (const int32_t[]){1, 2});
    const uint32_t mean = NNV_CHAIN_ADD(c, MEAN, x, axes, nnv_chain_i32(c, 1));
    const uint32_t squeezed = NNV_CHAIN_ADD(c, RELU, nnv_chain_conv_of(c, mean, 1, 4, true));
    const uint32_t gate = NNV_CHAIN_ADD(c, LOGISTIC, nnv_chain_conv_of(c, squeezed, 1, depth, true));
    c->at = NNV_CHAIN_ADD(c, MUL, x, gate, none(c));
}

void nnv_chain_squeeze_excite_fc(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, depth = nnv_chain_extent(c, x, 3);
    const int32_t image[] = {(int32_t)nnv_chain_extent(c, x, 0), 1, 1, (int32_t)depth};
    const uint32_t axes = nnv_chain_ints(c, 2, (const int32_t[]){1, 2});
    const uint32_t mean = NNV_CHAIN_ADD(c, MEAN, x, axes, nnv_chain_i32(c, 0));
    const uint32_t squeezed = NNV_CHAIN_ADD(c, RELU, nnv_chain_fc_of(c, mean, depth, 4));
    const uint32_t gate = NNV_CHAIN_ADD(c, LOGISTIC, nnv_chain_fc_of(c, squeezed, 4, depth));
    const uint32_t gates = NNV_CHAIN_ADD(c, RESHAPE, gate, nnv_chain_ints(c, 4, image));
    c->at = NNV_CHAIN_ADD(c, MUL, x, gates, none(c));
}

void nnv_chain_residual(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, branch = nnv_chain_conv_of(c, x, 3, nnv_chain_extent(c, x, 3), true);
    const bool behind = nnv_chain_chance(c, 0.5);
    const uint32_t sum = NNV_CHAIN_ADD(c, ADD, behind ? branch : x, behind ? x : branch, none(c));
    c->at = NNV_CHAIN_ADD(c, RELU, sum);
}

/* Two convolutions of one value, joined. */
void nnv_chain_two_convs(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, a = nnv_chain_conv_of(c, x, 1, 4, true), b = nnv_chain_conv_of(c, x, 3, 3, true);
    c->at = NNV_CHAIN_ADD(c, CONCATENATION, a, b, nnv_chain_i32(c, 3));
}

void nnv_chain_swish(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, gate = NNV_CHAIN_ADD(c, LOGISTIC, x);
    const bool behind = nnv_chain_chance(c, 0.5);
    c->at = NNV_CHAIN_ADD(c, MUL, behind ? gate : x, behind ? x : gate, none(c));
}

/* x * relu6(x + 3) / 6 */
void nnv_chain_hard_swish_parts(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, sum = NNV_CHAIN_ADD(c, ADD, x, number(c, x, 3), none(c));
    const uint32_t gate = NNV_CHAIN_ADD(c, RELU6, sum), product = NNV_CHAIN_ADD(c, MUL, x, gate, none(c));
    c->at = NNV_CHAIN_ADD(c, MUL, product, number(c, product, 1.0 / 6), none(c));
}

void nnv_chain_layer_norm(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, axis = nnv_chain_ints(c, 1, (const int32_t[]){-1}), keep = nnv_chain_i32(c, 1);
    const uint32_t centred = NNV_CHAIN_ADD(c, SUB, x, NNV_CHAIN_ADD(c, MEAN, x, axis, keep), none(c));
    const uint32_t square = NNV_CHAIN_ADD(c, MUL, centred, centred, none(c));
    const uint32_t variance = NNV_CHAIN_ADD(c, MEAN, square, axis, keep);
    const uint32_t more = NNV_CHAIN_ADD(c, ADD, variance, number(c, variance, 0.01), none(c));
    const uint32_t normal = NNV_CHAIN_ADD(c, MUL, centred, NNV_CHAIN_ADD(c, RSQRT, more), none(c));
    const uint32_t scaled = NNV_CHAIN_ADD(c, MUL, normal, channels(c, normal, 0.5, 1.5), none(c));
    c->at = NNV_CHAIN_ADD(c, ADD, scaled, channels(c, scaled, -1, 1), none(c));
}

/* softmax(x y' / sqrt(k) + mask) z */
void nnv_chain_attention(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, b = nnv_chain_extent(c, x, 0), m = nnv_chain_extent(c, x, 1),
                   k = nnv_chain_extent(c, x, 2);
    const int32_t type = nnv_chain_operand(c, x)->type;
    const bool half = type == ANEURALNETWORKS_TENSOR_FLOAT16;
    const uint32_t keys = nnv_chain_input(c, type, 3, (uint32_t[]){b, m + 1, k}, -2, 2);
    const uint32_t values = nnv_chain_input(c, type, 3, (uint32_t[]){b, m + 1, k}, -2, 2);
    const uint32_t no = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 0),
                   yes = nnv_chain_scalar(c, ANEURALNETWORKS_BOOL, 1);
    const uint32_t beta = nnv_chain_scalar(c, half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32, 1);
    const uint32_t scores = NNV_CHAIN_ADD(c, BATCH_MATMUL, x, keys, no, yes);
    if (c->failed) return;
    const uint32_t scaled = NNV_CHAIN_ADD(c, MUL, scores, number(c, scores, 1 / sqrt((double)k)), none(c));
    c->at = scaled;
    const uint32_t mask = nnv_chain_constant(c, 3, (uint32_t[]){1, m, m + 1}, -3, 0);
    const uint32_t masked = NNV_CHAIN_ADD(c, ADD, scaled, mask, none(c));
    const uint32_t weights = NNV_CHAIN_ADD(c, SOFTMAX, masked, beta);
    c->at = NNV_CHAIN_ADD(c, BATCH_MATMUL, weights, values, no, no);
}

/* x / 2 * (1 + tanh(0.8 (x + 0.04 x^3))) */
void nnv_chain_gelu(struct nnv_chain *c, int arg) {
    (void)arg;
    const uint32_t x = c->at, square = NNV_CHAIN_ADD(c, MUL, x, x, none(c));
    const uint32_t cube = NNV_CHAIN_ADD(c, MUL, square, x, none(c));
    const uint32_t part = NNV_CHAIN_ADD(c, MUL, cube, number(c, cube, 0.044715), none(c));
    const uint32_t sum = NNV_CHAIN_ADD(c, ADD, x, part, none(c));
    const uint32_t scaled = NNV_CHAIN_ADD(c, MUL, sum, number(c, sum, 0.7978846), none(c));
    const uint32_t tail = NNV_CHAIN_ADD(c, TANH, scaled);
    const uint32_t more = NNV_CHAIN_ADD(c, ADD, tail, number(c, tail, 1), none(c));
    const uint32_t product = NNV_CHAIN_ADD(c, MUL, x, more, none(c));
    c->at = NNV_CHAIN_ADD(c, MUL, product, number(c, product, 0.5), none(c));
}
