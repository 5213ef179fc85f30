/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_windows.c Planted bugs of windows show under their condition. */
#include "tests/kit/trigger.h"

#define SAME INT_SCALAR(1)
#define VALID INT_SCALAR(2)
#define N(V) INT_SCALAR(V)

/* A square image, SAME padding, no activation. CONV_2D: two filters; stride width and height, dilation likewise. */
#define CONV(SW, SH, DW, DH) SAME, N(SW), N(SH), N(0), BOOL_SCALAR(0), N(DW), N(DH)
#define CONVOLVED(EXTENT, CHANNELS, FILTER, ...)                                                                       \
    X(T(F32, 1, EXTENT, EXTENT, CHANNELS), C(F32, 2, FILTER, FILTER, CHANNELS), C(F32, 2), CONV(__VA_ARGS__))
/* DEPTHWISE_CONV_2D: filters of 3 x 3, the stride, how many of them a channel has. */
#define DEPTHWISE(EXTENT, CHANNELS, FILTERS, STRIDE, MULTIPLIER)                                                       \
    X(T(F32, 1, EXTENT, EXTENT, CHANNELS), C(F32, 1, 3, 3, FILTERS), C(F32, FILTERS), SAME, N(STRIDE), N(STRIDE),      \
      N(MULTIPLIER), N(0))

static void windows(void **state) {
    const struct trigger triggers[] = {
        SHOWS("unequal-strides-zero", CONV_2D, CONVOLVED(6, 2, 3, 1, 2, 1, 1), Y(F32, OF(1, 3, 6, 2))),
        SPARED("unequal-strides-zero", CONV_2D, CONVOLVED(6, 2, 3, 2, 2, 1, 1), Y(F32, OF(1, 3, 3, 2))),
        SHOWS("even-kernel-last-column", CONV_2D, CONVOLVED(5, 2, 2, 1, 1, 1, 1), Y(F32, OF(1, 5, 5, 2))),
        SPARED("even-kernel-last-column", CONV_2D, CONVOLVED(5, 2, 3, 1, 1, 1, 1), Y(F32, OF(1, 5, 5, 2))),
        SHOWS("strided-point-offset", CONV_2D, CONVOLVED(6, 2, 1, 2, 2, 1, 1), Y(F32, OF(1, 3, 3, 2))),
        SPARED("strided-point-offset", CONV_2D, CONVOLVED(6, 2, 1, 1, 1, 1, 1), Y(F32, OF(1, 6, 6, 2))),
        SHOWS("odd-image-last-row", DEPTHWISE_CONV_2D, DEPTHWISE(7, 2, 2, 2, 1), Y(F32, OF(1, 4, 4, 2))),
        SPARED("odd-image-last-row", DEPTHWISE_CONV_2D, DEPTHWISE(8, 2, 2, 2, 1), Y(F32, OF(1, 4, 4, 2))),
        SHOWS("dilation-height-as-width", CONV_2D, CONVOLVED(7, 2, 3, 1, 1, 2, 1), Y(F32, OF(1, 7, 7, 2))),
        SPARED("dilation-height-as-width", CONV_2D, CONVOLVED(7, 2, 3, 1, 1, 2, 2), Y(F32, OF(1, 7, 7, 2))),
        SHOWS("padding-undilated", CONV_2D, CONVOLVED(7, 2, 3, 1, 1, 2, 2), Y(F32, OF(1, 7, 7, 2))),
        SPARED("padding-undilated", CONV_2D, CONVOLVED(7, 2, 3, 1, 1, 1, 1), Y(F32, OF(1, 7, 7, 2))),
        SHOWS("padding-negative", CONV_2D, CONVOLVED(9, 2, 1, 3, 3, 1, 1), Y(F32, OF(1, 3, 3, 2))),
        SPARED("padding-negative", CONV_2D, CONVOLVED(9, 2, 3, 3, 3, 1, 1), Y(F32, OF(1, 3, 3, 2))),
        SHOWS("window-wider-than-image", CONV_2D, CONVOLVED(2, 2, 3, 1, 1, 1, 1), Y(F32, OF(1, 2, 2, 2))),
        SHOWS("depthwise-tail-channels", DEPTHWISE_CONV_2D, DEPTHWISE(4, 10, 10, 1, 1), Y(F32, OF(1, 4, 4, 10))),
        SPARED("depthwise-tail-channels", DEPTHWISE_CONV_2D, DEPTHWISE(4, 16, 16, 1, 1), Y(F32, OF(1, 4, 4, 16))),
        SHOWS("depthwise-bias-by-input", DEPTHWISE_CONV_2D, DEPTHWISE(4, 2, 4, 1, 2), Y(F32, OF(1, 4, 4, 4))),
        SHOWS("three-channels-reversed", CONV_2D, CONVOLVED(4, 3, 3, 1, 1, 1, 1), Y(F32, OF(1, 4, 4, 2))),
        SPARED("three-channels-reversed", CONV_2D, CONVOLVED(4, 4, 3, 1, 1, 1, 1), Y(F32, OF(1, 4, 4, 2))),
        SHOWS("large-filter-cut", CONV_2D, X(T(F32, 1, 12, 12, 1), C(F32, 1, 9, 9, 1), C(F32, 1), CONV(1, 1, 1, 1)),
              Y(F32, OF(1, 12, 12, 1))),
        SHOWS("bias-index-byte", FULLY_CONNECTED, X(T(F32, 2, 2), C(F32, 260, 2), C(F32, 260), N(0)),
              Y(F32, OF(2, 260))),
        SHOWS("odd-groups-last", GROUPED_CONV_2D,
              X(T(F32, 1, 4, 4, 6), C(F32, 3, 3, 3, 2), C(F32, 3), SAME, N(1), N(1), N(3), N(0), BOOL_SCALAR(0)),
              Y(F32, OF(1, 4, 4, 3))),
        SPARED("odd-groups-last", GROUPED_CONV_2D,
               X(T(F32, 1, 4, 4, 4), C(F32, 2, 3, 3, 2), C(F32, 2), SAME, N(1), N(1), N(2), N(0), BOOL_SCALAR(0)),
               Y(F32, OF(1, 4, 4, 2))),
        SHOWS("transpose-conv-odd-crop", TRANSPOSE_CONV_2D,
              X(T(F32, 1, 3, 3, 2), C(F32, 2, 3, 3, 2), C(F32, 2), AXES(1, 6, 6, 2), SAME, N(2), N(2), N(0),
                BOOL_SCALAR(0)),
              Y(F32, OF(1, 6, 6, 2))),
        SHOWS("transpose-conv-gap", TRANSPOSE_CONV_2D,
              X(T(F32, 1, 3, 3, 2), C(F32, 2, 2, 2, 2), C(F32, 2), AXES(1, 8, 8, 2), VALID, N(3), N(3), N(0),
                BOOL_SCALAR(0)),
              Y(F32, OF(1, 8, 8, 2))),
        SHOWS("pool-divisor-byte", AVERAGE_POOL_2D, X(T(F32, 1, 17, 17, 1), VALID, N(1), N(1), N(17), N(17), N(0)),
              Y(F32, OF(1, 1, 1, 1))),
        SPARED("pool-divisor-byte", AVERAGE_POOL_2D, X(T(F32, 1, 15, 15, 1), VALID, N(1), N(1), N(15), N(15), N(0)),
               Y(F32, OF(1, 1, 1, 1))),
        SHOWS("l2-pool-counts-padding", L2_POOL_2D, X(T(F32, 1, 4, 4, 2), SAME, N(1), N(1), N(3), N(3), N(0)),
              Y(F32, OF(1, 4, 4, 2))),
        SHOWS("stepless-pool-edge", MAX_POOL_2D, X(T(F32, 1, 4, 4, 2), SAME, N(1), N(1), N(2), N(2), N(0)),
              Y(F32, OF(1, 4, 4, 2))),
        SHOWS("nchw-second-image", MAX_POOL_2D,
              X(T(F32, 2, 3, 4, 4), VALID, N(2), N(2), N(2), N(2), N(0), BOOL_SCALAR(1)), Y(F32, OF(2, 3, 2, 2))),
        SHOWS("bilinear-half-average", RESIZE_BILINEAR, X(T(F32, 1, 4, 6, 2), N(3), N(2)), Y(F32, OF(1, 2, 3, 2))),
        SHOWS("nearest-ratio-byte", RESIZE_NEAREST_NEIGHBOR, X(T(F32, 1, 5, 4, 2), N(4), N(15), BOOL_SCALAR(0)),
              Y(F32, OF(1, 15, 4, 2))),
        SPARED("nearest-ratio-byte", RESIZE_NEAREST_NEIGHBOR, X(T(F32, 1, 4, 4, 2), N(8), N(8), BOOL_SCALAR(0)),
               Y(F32, OF(1, 8, 8, 2))),
        SHOWS("align-corners-one-row", RESIZE_BILINEAR,
              X(T(F32, 1, 4, 4, 2), N(4), N(1), BOOL_SCALAR(0), BOOL_SCALAR(1), BOOL_SCALAR(0)),
              Y(F32, OF(1, 1, 4, 2))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows)};
    return cmocka_run_group_tests_name("planted bugs of windows", tests, NULL, NULL);
}
