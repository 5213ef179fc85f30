/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_fusion.c Planted bugs of graph optimisers show where their pattern stands, and not beside it. */
#include "tests/kit/trigger.h"

static uint32_t temporary(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    return tensor(n, NNVTS_TEMPORARY_VARIABLE, k, rank, dims);
}

/** y = a convolution 1x1 of an input [1,2,3,2], activated. */
static uint32_t convolution(struct net *n, uint32_t y, int32_t activation) {
    const uint32_t x = input(n, F32, OF(1, 2, 3, 2)), w = patterned(n, F32, OF(2, 1, 1, 2)),
                   b = patterned(n, F32, OF(2));
    const uint32_t one = integer(n, 1), act = integer(n, activation);
    operation(n, ANEURALNETWORKS_CONV_2D, LIST(x, w, b, one, one, one, act), LIST(y));
    return y;
}

static void activation(struct net *n, uint32_t lifetime) {
    const uint32_t c = convolution(
        n, lifetime == NNVTS_SUBGRAPH_OUTPUT ? output(n, F32, OF(1, 2, 3, 2)) : temporary(n, F32, OF(1, 2, 3, 2)), 0);
    const uint32_t y = output(n, F32, OF(1, 2, 3, 2));
    operation(n, ANEURALNETWORKS_RELU, LIST(c), LIST(y));
}
static void shared_activation(struct net *n) { activation(n, NNVTS_SUBGRAPH_OUTPUT); }
static void own_activation(struct net *n) { activation(n, NNVTS_TEMPORARY_VARIABLE); }

/** Code of a convolution and a constant. */
static void folded(struct net *n, int32_t code, int32_t act) {
    const uint32_t c = convolution(n, temporary(n, F32, OF(1, 2, 3, 2)), act), y = output(n, F32, OF(1, 2, 3, 2));
    const uint32_t k = constant(n, F32, FLOATS(-3, 2), 8, OF(2)), none = integer(n, 0);
    operation(n, code, LIST(c, k, none), LIST(y));
}
static void add_behind_relu(struct net *n) { folded(n, ANEURALNETWORKS_ADD, ANEURALNETWORKS_FUSED_RELU); }
static void add_behind_nothing(struct net *n) { folded(n, ANEURALNETWORKS_ADD, 0); }
static void mul_behind_relu(struct net *n) { folded(n, ANEURALNETWORKS_MUL, ANEURALNETWORKS_FUSED_RELU6); }
static void mul_behind_nothing(struct net *n) { folded(n, ANEURALNETWORKS_MUL, 0); }

static void product_less_constant(struct net *n) { folded(n, ANEURALNETWORKS_SUB, 0); }
static void constant_less_product(struct net *n) {
    const uint32_t c = convolution(n, temporary(n, F32, OF(1, 2, 3, 2)), 0), y = output(n, F32, OF(1, 2, 3, 2));
    const uint32_t k = constant(n, F32, FLOATS(-3, 2), 8, OF(2)), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_SUB, LIST(k, c, none), LIST(y));
}

static void residual(struct net *n, int32_t code) {
    const uint32_t a = input(n, F32, OF(8)), b = input(n, F32, OF(8)), r = temporary(n, F32, OF(8)),
                   y = output(n, F32, OF(8)), none = integer(n, 0);
    operation(n, code, LIST(a), LIST(r));
    operation(n, ANEURALNETWORKS_ADD, LIST(r, b, none), LIST(y));
}
static void residual_relu(struct net *n) { residual(n, ANEURALNETWORKS_RELU); }
static void residual_abs(struct net *n) { residual(n, ANEURALNETWORKS_ABS); }

static uint32_t padded(struct net *n, const int32_t *pads) {
    const uint32_t x = input(n, F32, OF(1, 3, 3, 1)), p = constant(n, I32, pads, 32, OF(4, 2)),
                   y = temporary(n, F32, OF(1, 4, 4, 1));
    operation(n, ANEURALNETWORKS_PAD, LIST(x, p), LIST(y));
    return y;
}
static const int32_t before[] = {0, 0, 1, 0, 1, 0, 0, 0};

static void pad_conv(struct net *n) {
    const uint32_t x = padded(n, before), w = patterned(n, F32, OF(1, 3, 3, 1)), b = patterned(n, F32, OF(1)),
                   y = output(n, F32, OF(1, 2, 2, 1));
    const uint32_t valid = integer(n, 2), one = integer(n, 1), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_CONV_2D, LIST(x, w, b, valid, one, one, none), LIST(y));
}
static void pad_pool(struct net *n) {
    const uint32_t x = padded(n, before), y = output(n, F32, OF(1, 4, 4, 1));
    const uint32_t valid = integer(n, 2), one = integer(n, 1), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_MAX_POOL_2D, LIST(x, valid, one, one, one, one, none), LIST(y));
}
static void pad_relu(struct net *n) {
    const uint32_t x = padded(n, before), y = output(n, F32, OF(1, 4, 4, 1));
    operation(n, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
}

static void transposes(struct net *n, const int32_t *perm, const uint32_t *middle, const uint32_t *end) {
    const uint32_t x = input(n, F32, OF(2, 3, 4)), p = constant(n, I32, perm, 12, OF(3)),
                   t = temporary(n, F32, 3, middle), y = output(n, F32, 3, end);
    operation(n, ANEURALNETWORKS_TRANSPOSE, LIST(x, p), LIST(t));
    operation(n, ANEURALNETWORKS_TRANSPOSE, LIST(t, p), LIST(y));
}
static void cyclic(struct net *n) {
    transposes(n, INTS(1, 2, 0), (const uint32_t[]){3, 4, 2}, (const uint32_t[]){4, 2, 3});
}
static void swapped(struct net *n) {
    transposes(n, INTS(0, 2, 1), (const uint32_t[]){2, 4, 3}, (const uint32_t[]){2, 3, 4});
}

static void flattened(struct net *n) {
    const uint32_t c = convolution(n, temporary(n, F32, OF(1, 2, 3, 2)), 0), y = output(n, F32, OF(1, 12)),
                   s = constant(n, I32, INTS(1, 12), 8, OF(2));
    operation(n, ANEURALNETWORKS_RESHAPE, LIST(c, s), LIST(y));
}

/** x and its size joined with one of them, or a constant. */
static void joined(struct net *n, int which) {
    const uint32_t x = input(n, F32, OF(4)), t = temporary(n, F32, OF(4)), u = temporary(n, F32, OF(4)),
                   axis = integer(n, 0), y = output(n, F32, OF(8));
    operation(n, ANEURALNETWORKS_ABS, LIST(x), LIST(t));
    operation(n, ANEURALNETWORKS_NEG, LIST(t), LIST(u));
    operation(n, ANEURALNETWORKS_CONCATENATION, LIST(u, which == 0 ? u : which == 1 ? x : t, axis), LIST(y));
}
static void joined_twice(struct net *n) { joined(n, 0); }
static void joined_input(struct net *n) { joined(n, 1); }
static void joined_computed(struct net *n) { joined(n, 2); }

static void algebra(struct net *n, int32_t first, int32_t second) {
    const uint32_t x = input(n, F32, OF(2, 2)), t = temporary(n, F32, OF(2, 2)), y = output(n, F32, OF(2, 2)),
                   none = integer(n, 0);
    const uint32_t a = constant(n, F32, FLOATS(2, 3), 8, OF(2)), b = constant(n, F32, FLOATS(5, 7), 8, OF(2));
    operation(n, first, LIST(x, a, none), LIST(t));
    operation(n, second, LIST(t, b, none), LIST(y));
}
static void scale_and_shift(struct net *n) { algebra(n, ANEURALNETWORKS_MUL, ANEURALNETWORKS_ADD); }
static void shift_and_scale(struct net *n) { algebra(n, ANEURALNETWORKS_ADD, ANEURALNETWORKS_MUL); }

static void requantised(struct net *n, float scale, int32_t zero) {
    const uint32_t x = input(n, U8(0.5f, 3), OF(4)), t = temporary(n, F32, OF(4)),
                   y = output(n, U8(scale, zero), OF(4));
    operation(n, ANEURALNETWORKS_DEQUANTIZE, LIST(x), LIST(t));
    operation(n, ANEURALNETWORKS_QUANTIZE, LIST(t), LIST(y));
}
static void other_scale(struct net *n) { requantised(n, 1.5f, 3); }
static void other_zero_point(struct net *n) { requantised(n, 0.5f, 7); }
static void same_scale(struct net *n) { requantised(n, 0.5f, 3); }

static void cast_and_back(struct net *n) {
    const uint32_t x = input(n, F32, OF(4)), t = temporary(n, I32, OF(4)), y = output(n, F32, OF(4));
    operation(n, ANEURALNETWORKS_CAST, LIST(x), LIST(t));
    operation(n, ANEURALNETWORKS_CAST, LIST(t), LIST(y));
}

static void softmaxes(struct net *n, float beta) {
    const uint32_t x = input(n, F32, OF(2, 4)), y = output(n, F32, OF(2, 4)), z = output(n, F32, OF(2, 4)),
                   one = real(n, 1), other = real(n, beta);
    operation(n, ANEURALNETWORKS_SOFTMAX, LIST(x, one), LIST(y));
    operation(n, ANEURALNETWORKS_SOFTMAX, LIST(x, other), LIST(z));
}
static void other_beta(struct net *n) { softmaxes(n, 0.5f); }
static void same_beta(struct net *n) { softmaxes(n, 1); }

static void two_constants(struct net *n, float end) {
    const uint32_t x = input(n, F32, OF(4)), t = temporary(n, F32, OF(4)), y = output(n, F32, OF(4)),
                   none = integer(n, 0);
    const uint32_t a = constant(n, F32, FLOATS(1, 2, 3, 4), 16, OF(4)),
                   b = constant(n, F32, FLOATS(1, 5, 6, end), 16, OF(4));
    operation(n, ANEURALNETWORKS_ADD, LIST(x, a, none), LIST(t));
    operation(n, ANEURALNETWORKS_ADD, LIST(t, b, none), LIST(y));
}
static void like_ends(struct net *n) { two_constants(n, 4); }
static void unlike_ends(struct net *n) { two_constants(n, 3); }

/* A product is an output of the model, and a sum reads it on; x: of the extents of the product, or of others. */
static void read_on(struct net *n, uint32_t rows) {
    const uint32_t x = input(n, F32, OF(rows, 4)), k = patterned(n, F32, OF(2, 4)), y = output(n, F32, OF(2, 4)),
                   z = output(n, F32, OF(2, 4)), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_MUL, LIST(x, k, none), LIST(y));
    operation(n, ANEURALNETWORKS_ADD, LIST(y, k, none), LIST(z));
}
static void read_on_like(struct net *n) { read_on(n, 2); }
static void read_on_unlike(struct net *n) { read_on(n, 1); }

static void patterns(void **state) {
    const struct trigger triggers[] = {
        SHOWS_IN("activation-fused-shared", shared_activation),
        SPARED_IN("activation-fused-shared", own_activation),
        SHOWS_IN("add-folded-into-bias", add_behind_relu),
        SPARED_IN("add-folded-into-bias", add_behind_nothing),
        SHOWS_IN("middle-activation-lost", mul_behind_relu),
        SPARED_IN("middle-activation-lost", mul_behind_nothing),
        SHOWS_IN("mul-folded-into-weights", mul_behind_relu),
        SPARED_IN("mul-folded-into-weights", mul_behind_nothing),
        SHOWS_IN("fused-difference-reversed", constant_less_product),
        SPARED_IN("fused-difference-reversed", product_less_constant),
        SHOWS_IN("residual-activation", residual_relu),
        SPARED_IN("residual-activation", residual_abs),
        SHOWS_IN("pad-merged-turned", pad_conv),
        SPARED_IN("pad-merged-turned", pad_relu),
        SHOWS_IN("pad-merged-pool", pad_pool),
        SPARED_IN("pad-merged-pool", pad_relu),
        SHOWS_IN("transposes-cancelled", cyclic),
        SPARED_IN("transposes-cancelled", swapped),
        SHOWS_IN("flatten-device-layout", flattened),
        SHOWS_IN("concat-elided-twice", joined_twice),
        SPARED_IN("concat-elided-twice", joined_computed),
        SHOWS_IN("concat-elided-input", joined_input),
        SPARED_IN("concat-elided-input", joined_computed),
        SHOWS_IN("scale-shift-order", scale_and_shift),
        SPARED_IN("scale-shift-order", shift_and_scale),
        SHOWS_IN("requantise-removed", other_scale),
        SHOWS_IN("requantise-removed", other_zero_point),
        SPARED_IN("requantise-removed", same_scale),
        SHOWS_IN("cast-pair-removed", cast_and_back),
        SHOWS_IN("operations-merged", other_beta),
        SPARED_IN("operations-merged", same_beta),
        SHOWS_IN("constants-merged", like_ends),
        SPARED_IN("constants-merged", unlike_ends),
        SHOWS_IN("output-not-read-on", read_on_like),
        SPARED_IN("output-not-read-on", read_on_unlike),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns)};
    return cmocka_run_group_tests_name("planted bugs of graph optimisers", tests, NULL, NULL);
}
