/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_quant.c Planted bugs of quantised arithmetic show under their condition. */
#include "tests/kit/trigger.h"

#define N(V) INT_SCALAR(V)
#define SAME N(1)
#define CONV SAME, N(1), N(1), N(0)

static void multipliers(void **state) {
    const struct trigger triggers[] = {
        SHOWS("add-scale-ratio", ADD,
              X(T(U8(1.0f, 10), 8), {U8(0.03125f, 0), OF(8), BYTES(3, 7, 13, 50, 100, 200, 255, 1)}, N(0)),
              Y(U8(0.125f, 0), OF(8))),
        SPARED("add-scale-ratio", ADD,
               X(T(U8(1.0f, 10), 8), {U8(0.125f, 0), OF(8), BYTES(3, 7, 13, 50, 100, 200, 255, 1)}, N(0)),
               Y(U8(0.125f, 0), OF(8))),
        SHOWS("add-scale-ratio", ADD,
              X({U8(0.0625f, 0), OF(8), BYTES(3, 7, 13, 50, 100, 200, 255, 1)},
                {U8(1.0f, 10), OF(8), BYTES(11, 10, 12, 10, 11, 10, 8, 13)}, N(0)),
              Y(U8(0.125f, 0), OF(8))),
        SPARED("add-scale-ratio", ADD,
               X({U8(0.125f, 0), OF(8), BYTES(3, 7, 13, 50, 100, 200, 255, 1)},
                 {U8(1.0f, 10), OF(8), BYTES(11, 10, 12, 10, 11, 10, 8, 13)}, N(0)),
               Y(U8(0.125f, 0), OF(8))),
        SHOWS("multiplier-above-one", FULLY_CONNECTED,
              X({U8(1, 0), OF(1, 2), BYTES(3, 5)}, {U8(1, 0), CONSTANT | OF(1, 2), BYTES(7, 9)},
                {{ANEURALNETWORKS_TENSOR_INT32, 1, 0}, CONSTANT | OF(1), INTS(0)}, N(0)),
              Y(U8(0.5f, 0), OF(1, 1))),
        SPARED("multiplier-above-one", FULLY_CONNECTED,
               X({U8(1, 0), OF(1, 2), BYTES(3, 5)}, {U8(1, 0), CONSTANT | OF(1, 2), BYTES(7, 9)},
                 {{ANEURALNETWORKS_TENSOR_INT32, 1, 0}, CONSTANT | OF(1), INTS(0)}, N(0)),
               Y(U8(1.5f, 0), OF(1, 1))),
        SHOWS("prelu-not-rescaled", PRELU, X({U8(1, 10), OF(2), BYTES(3, 50)}, {U8(0.5f, 0), OF(2), BYTES(1, 1)}),
              Y(U8(0.5f, 20), OF(2))),
        SPARED("prelu-not-rescaled", PRELU, X({U8(1, 10), OF(2), BYTES(3, 50)}, {U8(0.5f, 0), OF(2), BYTES(1, 1)}),
               Y(U8(1, 20), OF(2))),
        SHOWS("quantize-short", QUANTIZE, X({{ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0}, OF(3), FLOATS(1, 25000, -40000)}),
              Y(U8(0.5f, 20), OF(3))),
        SPARED("quantize-short", QUANTIZE, X({{ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0}, OF(3), FLOATS(1, 16000, -16000)}),
               Y(U8(0.5f, 20), OF(3))),
        SHOWS("concat-zero-points", CONCATENATION, X(T(U8(0.5f, 3), 4), T(U8(0.5f, 10), 4), N(0)),
              Y(U8(0.5f, 10), OF(8))),
        SPARED("concat-zero-points", CONCATENATION, X(T(U8(0.25f, 3), 4), T(U8(0.5f, 10), 4), N(0)),
               Y(U8(0.5f, 10), OF(8))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

static void weights(void **state) {
    const struct trigger triggers[] = {
        SHOWS("weights-narrow", FULLY_CONNECTED,
              X({S8(0.5f, 0), OF(1, 2), SIGNED(100, 1)}, {S8(0.5f, 0), CONSTANT | OF(1, 2), SIGNED(-128, 3)},
                {{ANEURALNETWORKS_TENSOR_INT32, 0.25f, 0}, CONSTANT | OF(1), INTS(0)}, N(0)),
              Y(S8(25, 0), OF(1, 1))),
        SHOWS("bias-short", FULLY_CONNECTED,
              X({U8(0.5f, 0), OF(1, 2), BYTES(100, 1)}, {U8(0.5f, 0), CONSTANT | OF(1, 2), BYTES(1, 3)},
                {{ANEURALNETWORKS_TENSOR_INT32, 0.25f, 0}, CONSTANT | OF(1), INTS(40000)}, N(0)),
              Y(U8(100, 0), OF(1, 1))),
        SPARED("bias-short", FULLY_CONNECTED,
               X({U8(0.5f, 0), OF(1, 2), BYTES(100, 1)}, {U8(0.5f, 0), CONSTANT | OF(1, 2), BYTES(1, 3)},
                 {{ANEURALNETWORKS_TENSOR_INT32, 0.25f, 0}, CONSTANT | OF(1), INTS(32000)}, N(0)),
               Y(U8(100, 0), OF(1, 1))),
        SHOWS("relu6-bare-limit", RELU6, X({U8(0.5f, 10), OF(2), BYTES(30, 14)}), Y(U8(0.5f, 10), OF(2))),
        SPARED("relu6-bare-limit", RELU6, X({U8(0.5f, 0), OF(2), BYTES(30, 14)}), Y(U8(0.5f, 0), OF(2))),
        SHOWS("activation-bound-wraps", RELU6, X({U8(0.02f, 10), OF(2), BYTES(30, 250)}), Y(U8(0.02f, 10), OF(2))),
        SPARED("activation-bound-wraps", RELU6, X({U8(0.5f, 10), OF(2), BYTES(30, 250)}), Y(U8(0.5f, 10), OF(2))),
        SHOWS("activation-bound-wraps", ADD, X(T(U8(0.5f, 10), 8), T(U8(0.5f, 0), 8), N(2)), Y(U8(0.005f, 99), OF(8))),
        SPARED("activation-bound-wraps", ADD, X(T(U8(0.5f, 10), 8), T(U8(0.5f, 0), 8), N(1)), Y(U8(0.005f, 99), OF(8))),
        /* The upper bound is 1: code 200. */
        SPARED("activation-bound-wraps", ADD, X(T(U8(0.5f, 10), 8), T(U8(0.5f, 0), 8), N(2)), Y(U8(0.01f, 100), OF(8))),
        SHOWS("pad-value-positive", PAD_V2,
              X({S8(0.5f, 3), OF(2), SIGNED(1, 2)}, {I32, CONSTANT | OF(1, 2), INTS(1, 1)}, N(-5)),
              Y(S8(0.5f, 3), OF(4))),
        SPARED("pad-value-positive", PAD_V2,
               X({S8(0.5f, 3), OF(2), SIGNED(1, 2)}, {I32, CONSTANT | OF(1, 2), INTS(1, 1)}, N(5)),
               Y(S8(0.5f, 3), OF(4))),
        SHOWS("padding-extreme-point", CONV_2D,
              X(T(U8(0.5f, 255), 1, 3, 3, 1), C(U8(0.5f, 3), 1, 3, 3, 1),
                {{ANEURALNETWORKS_TENSOR_INT32, 0.25f, 0}, CONSTANT | OF(1), INTS(0)}, CONV),
              Y(U8(900, 200), OF(1, 3, 3, 1))),
        SPARED("padding-extreme-point", CONV_2D,
               X(T(U8(0.5f, 200), 1, 3, 3, 1), C(U8(0.5f, 3), 1, 3, 3, 1),
                 {{ANEURALNETWORKS_TENSOR_INT32, 0.25f, 0}, CONSTANT | OF(1), INTS(0)}, CONV),
               Y(U8(900, 200), OF(1, 3, 3, 1))),
        SHOWS("table-of-half", LOGISTIC, X({U8(0.0625f, 128), OF(2), BYTES(129, 131)}), Y(U8(1 / 256.0f, 0), OF(2))),
        SHOWS("pool-rounds-down", AVERAGE_POOL_2D,
              X({U8(0.5f, 3), OF(1, 2, 2, 1), BYTES(1, 2, 2, 2)}, N(2), N(1), N(1), N(2), N(2), N(0)),
              Y(U8(0.5f, 3), OF(1, 1, 1, 1))),
        SPARED("pool-rounds-down", AVERAGE_POOL_2D,
               X({U8(0.5f, 3), OF(1, 2, 2, 1), BYTES(2, 2, 2, 2)}, N(2), N(1), N(1), N(2), N(2), N(0)),
               Y(U8(0.5f, 3), OF(1, 1, 1, 1))),
        SHOWS("bilinear-rounds-down", RESIZE_BILINEAR, X(T(U8(0.5f, 3), 1, 3, 3, 2), N(7), N(7)),
              Y(U8(0.5f, 3), OF(1, 7, 7, 2))),
        SHOWS("mean-rounds-down", MEAN, X({U8(0.5f, 3), OF(1, 4), BYTES(1, 2, 2, 2)}, AXES(1), N(0)),
              Y(U8(0.5f, 3), OF(1))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

/* ------------------------------------------------------------ scales per channel */

/** A constant with scales per channel along dim. */
static uint32_t channels(struct net *n, uint32_t dim, uint32_t rank, const uint32_t *dims) {
    static const float scales[] = {0.5f, 0.25f, 1, 2};
    const uint32_t i = patterned(n, (struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0}, rank, dims);
    n->operands[i].channel_quant = (struct nnvts_channel_quant){dim, dims[dim], scales};
    return i;
}

static void convolution(struct net *n, uint32_t channel_count) {
    const uint32_t x = input(n, U8(0.5f, 3), OF(1, 3, 3, 1)), w = channels(n, 0, OF(channel_count, 1, 1, 1));
    const uint32_t b = constant(n, I32, INTS(1, 2, 3, 4), 4 * channel_count, OF(channel_count));
    const uint32_t y = output(n, U8(2, 100), OF(1, 3, 3, channel_count)), one = integer(n, 1), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_CONV_2D, LIST(x, w, b, one, one, one, none), LIST(y));
}
static void three_channels(struct net *n) { convolution(n, 3); }
static void four_channels(struct net *n) { convolution(n, 4); }

static void depthwise(struct net *n, uint32_t multiplier) {
    const uint32_t x = input(n, U8(0.5f, 3), OF(1, 3, 3, 4 / multiplier)), w = channels(n, 3, OF(1, 1, 1, 4));
    const uint32_t b = constant(n, I32, INTS(1, 2, 3, 4), 16, OF(4)), m = integer(n, (int32_t)multiplier);
    const uint32_t y = output(n, U8(2, 100), OF(1, 3, 3, 4)), one = integer(n, 1), none = integer(n, 0);
    operation(n, ANEURALNETWORKS_DEPTHWISE_CONV_2D, LIST(x, w, b, one, one, one, m, none), LIST(y));
}
static void multiplied(struct net *n) { depthwise(n, 2); }
static void plain_depthwise(struct net *n) { depthwise(n, 1); }

static void dequantize(struct net *n, uint32_t dim) {
    const uint32_t x = channels(n, dim, OF(3, 4)), y = output(n, F32, OF(3, 4));
    operation(n, ANEURALNETWORKS_DEQUANTIZE, LIST(x), LIST(y));
}
static void last_axis(struct net *n) { dequantize(n, 1); }
static void first_axis(struct net *n) { dequantize(n, 0); }

static void per_channel(void **state) {
    const struct trigger triggers[] = {
        SHOWS_IN("per-channel-odd", three_channels),      SPARED_IN("per-channel-odd", four_channels),
        SHOWS_IN("depthwise-scale-by-input", multiplied), SPARED_IN("depthwise-scale-by-input", plain_depthwise),
        SHOWS_IN("dequantize-first-axis", last_axis),     SPARED_IN("dequantize-first-axis", first_axis),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(multipliers), cmocka_unit_test(weights),
                                       cmocka_unit_test(per_channel)};
    return cmocka_run_group_tests_name("planted bugs of quantised arithmetic", tests, NULL, NULL);
}
