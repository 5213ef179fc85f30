/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_moves.c Planted bugs of axes, indices and orders show under their condition. */
#include "tests/kit/trigger.h"

#define N(V) INT_SCALAR(V)
#define YES BOOL_SCALAR(1)
#define NO BOOL_SCALAR(0)
#define PADS(ROWS, ...)                                                                                                \
    { I32, CONSTANT | OF(ROWS, 2), INTS(__VA_ARGS__) }

/** As many as the pattern has, times 2^20: float32 does not tell them apart, beside 2^30. */
static const int32_t *large(void) {
    static int32_t v[16];
    for (int i = 0; i < 16; i++) v[i] = (1 << 30) + i * 5 % 16;
    return v;
}

static const float *negative(void) {
    static float v[16];
    for (int i = 0; i < 16; i++) v[i] = -1 - (float)(i * 5 % 16);
    return v;
}

static void axes_and_blocks(void **state) {
    const struct trigger triggers[] = {
        SHOWS("depth-to-space-large-block", DEPTH_TO_SPACE, X(T(F32, 1, 2, 2, 18), N(3)), Y(F32, OF(1, 6, 6, 2))),
        SPARED("depth-to-space-large-block", DEPTH_TO_SPACE, X(T(F32, 1, 2, 2, 8), N(2)), Y(F32, OF(1, 4, 4, 2))),
        SHOWS("space-to-depth-channel-order", SPACE_TO_DEPTH, X(T(F32, 1, 3, 4, 4), N(2), YES),
              Y(F32, OF(1, 12, 2, 2))),
        SPARED("space-to-depth-channel-order", SPACE_TO_DEPTH, X(T(F32, 1, 4, 4, 3), N(2), NO),
               Y(F32, OF(1, 2, 2, 12))),
        SHOWS("space-to-batch-images", SPACE_TO_BATCH_ND, X(T(F32, 2, 4, 4, 1), AXES(2, 2), PADS(2, 0, 0, 0, 0)),
              Y(F32, OF(8, 2, 2, 1))),
        SPARED("space-to-batch-images", SPACE_TO_BATCH_ND, X(T(F32, 1, 4, 4, 1), AXES(2, 2), PADS(2, 0, 0, 0, 0)),
               Y(F32, OF(4, 2, 2, 1))),
        SHOWS("batch-to-space-unequal", BATCH_TO_SPACE_ND, X(T(F32, 6, 2, 2, 1), AXES(2, 3)), Y(F32, OF(1, 4, 6, 1))),
        SPARED("batch-to-space-unequal", BATCH_TO_SPACE_ND, X(T(F32, 4, 2, 2, 1), AXES(2, 2)), Y(F32, OF(1, 4, 4, 1))),
        SHOWS("shuffle-middle-axis", CHANNEL_SHUFFLE, X(T(F32, 1, 6, 2), N(3), N(1)), Y(F32, OF(1, 6, 2))),
        SPARED("shuffle-middle-axis", CHANNEL_SHUFFLE, X(T(F32, 1, 2, 6), N(3), N(2)), Y(F32, OF(1, 2, 6))),
        SHOWS("pad-batch-behind", PAD, X(T(F32, 2, 3), PADS(2, 1, 1, 0, 0)), Y(F32, OF(4, 3))),
        SPARED("pad-batch-behind", PAD, X(T(F32, 2, 3), PADS(2, 0, 0, 1, 1)), Y(F32, OF(2, 5))),
        SHOWS("mirror-pad-widest", MIRROR_PAD, X(T(F32, 1, 4), PADS(2, 0, 0, 3, 0), N(0)), Y(F32, OF(1, 7))),
        SPARED("mirror-pad-widest", MIRROR_PAD, X(T(F32, 1, 4), PADS(2, 0, 0, 2, 0), N(0)), Y(F32, OF(1, 6))),
        SHOWS("negative-axis-last", SOFTMAX, X(T(F32, 3, 3), REAL_SCALAR(1), N(-2)), Y(F32, OF(3, 3))),
        SPARED("negative-axis-last", SOFTMAX, X(T(F32, 3, 3), REAL_SCALAR(1), N(0)), Y(F32, OF(3, 3))),
        SHOWS("mean-axis-twice", MEAN, X(T(F32, 3, 4), AXES(1, -1), N(0)), Y(F32, OF(3))),
        SPARED("mean-axis-twice", MEAN, X(T(F32, 3, 4), AXES(1), N(0)), Y(F32, OF(3))),
        SHOWS("reduce-wide-columns", REDUCE_MAX, X(T(F32, 3, 70), AXES(0), NO), Y(F32, OF(70))),
        SPARED("reduce-wide-columns", REDUCE_MAX, X(T(F32, 3, 64), AXES(0), NO), Y(F32, OF(64))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

static void indices_and_slices(void **state) {
    const struct trigger triggers[] = {
        SHOWS("argmax-int-as-float", ARGMAX, X({I32, OF(16), large()}, N(0)), Y(I32, OF(1))),
        SHOWS("argmax-from-zero", ARGMAX, X({F32, OF(2, 8), negative()}, N(1)), Y(I32, OF(2))),
        SPARED("argmax-from-zero", ARGMAX, X(T(F32, 2, 8), N(1)), Y(I32, OF(2))),
        SHOWS("topk-long-row", TOPK_V2, X(T(F32, 1, 400), N(9)),
              .out = OUTPUTS({F32, OF(1, 9), NULL}, {I32, OF(1, 9), NULL})),
        SHOWS("gather-last-index", GATHER, X(T(F32, 4, 2), N(0), {I32, OF(3), INTS(0, 3, 1)}), Y(F32, OF(3, 2))),
        SPARED("gather-last-index", GATHER, X(T(F32, 4, 2), N(0), {I32, OF(3), INTS(0, 2, 1)}), Y(F32, OF(3, 2))),
        SHOWS("embedding-short-index", EMBEDDING_LOOKUP, X({I32, OF(2), INTS(1, 32771)}, T(F32, 32780, 2)),
              Y(F32, OF(2, 2))),
        SPARED("embedding-short-index", EMBEDDING_LOOKUP, X({I32, OF(2), INTS(1, 32767)}, T(F32, 32780, 2)),
               Y(F32, OF(2, 2))),
        SHOWS("roi-align-first-image", ROI_ALIGN,
              X(T(F32, 2, 4, 4, 1), {F32, OF(1, 4), FLOATS(0, 0, 3, 3)}, {I32, OF(1), INTS(1)}, N(2), N(2),
                REAL_SCALAR(1), REAL_SCALAR(1), N(0), N(0), NO),
              Y(F32, OF(1, 2, 2, 1))),
        SHOWS("strided-slice-backwards", STRIDED_SLICE, X(T(F32, 6), AXES(4), AXES(0), AXES(-1), N(0), N(0), N(0)),
              Y(F32, OF(4))),
        SPARED("strided-slice-backwards", STRIDED_SLICE, X(T(F32, 6), AXES(1), AXES(5), AXES(1), N(0), N(0), N(0)),
               Y(F32, OF(4))),
        SHOWS("strided-slice-end-mask-step", STRIDED_SLICE, X(T(F32, 7), AXES(0), AXES(5), AXES(2), N(0), N(1), N(0)),
              Y(F32, OF(4))),
        SPARED("strided-slice-end-mask-step", STRIDED_SLICE, X(T(F32, 7), AXES(0), AXES(7), AXES(2), N(0), N(0), N(0)),
               Y(F32, OF(4))),
        SHOWS("strided-slice-shrink-last", STRIDED_SLICE,
              X(T(F32, 4, 3), AXES(-1, 0), AXES(4, 3), AXES(1, 1), N(0), N(0), N(1)), Y(F32, OF(3))),
        SHOWS("slice-above-rank-4", SLICE, X(T(F32, 3, 1, 2, 1, 2), AXES(1, 0, 0, 0, 0), AXES(1, 1, 2, 1, 2)),
              Y(F32, OF(1, 1, 2, 1, 2))),
        SPARED("slice-above-rank-4", SLICE, X(T(F32, 3, 2, 1, 2), AXES(1, 0, 0, 0), AXES(1, 2, 1, 2)),
               Y(F32, OF(1, 2, 1, 2))),
        SHOWS("slice-rest-from-start", SLICE, X(T(F32, 5, 2), AXES(2, 0), AXES(-1, 2)), Y(F32, OF(3, 2))),
        SPARED("slice-rest-from-start", SLICE, X(T(F32, 5, 2), AXES(2, 0), AXES(3, 2)), Y(F32, OF(3, 2))),
        SHOWS("transpose-cyclic", TRANSPOSE, X(T(F32, 2, 3, 4), AXES(1, 2, 0)), Y(F32, OF(3, 4, 2))),
        SPARED("transpose-cyclic", TRANSPOSE, X(T(F32, 2, 3, 4), AXES(0, 2, 1)), Y(F32, OF(2, 4, 3))),
        SHOWS("transpose-tile-rest", TRANSPOSE, X(T(F32, 19, 18), AXES(1, 0)), Y(F32, OF(18, 19))),
        SPARED("transpose-tile-rest", TRANSPOSE, X(T(F32, 32, 16), AXES(1, 0)), Y(F32, OF(16, 32))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

static void joins(void **state) {
    const struct trigger triggers[] = {
        SHOWS("concat-fifth-input", CONCATENATION,
              X(T(F32, 2), {F32, OF(2), FLOATS(1, 2)}, {F32, OF(2), FLOATS(3, 4)}, {F32, OF(2), FLOATS(5, 6)},
                {F32, OF(2), FLOATS(7, 8)}, N(0)),
              Y(F32, OF(10))),
        SHOWS("split-fifth-output", SPLIT, X(T(F32, 6), N(0), N(6)),
              .out = OUTPUTS({F32, OF(1), NULL}, {F32, OF(1), NULL}, {F32, OF(1), NULL}, {F32, OF(1), NULL},
                             {F32, OF(1), NULL}, {F32, OF(1), NULL})),
        SHOWS("tile-each-number", TILE, X(T(F32, 2, 3), AXES(1, 2)), Y(F32, OF(2, 6))),
        SPARED("tile-each-number", TILE, X(T(F32, 2, 3), AXES(2, 1)), Y(F32, OF(4, 3))),
        SHOWS("reverse-blocks", REVERSE, X(T(F32, 40), AXES(0)), Y(F32, OF(40))),
        SPARED("reverse-blocks", REVERSE, X(T(F32, 16), AXES(0)), Y(F32, OF(16))),
        SHOWS("pack-last-axis", PACK, X(N(1), T(F32, 3), {F32, OF(3), FLOATS(1, 2, 3)}), Y(F32, OF(3, 2))),
        SPARED("pack-last-axis", PACK, X(N(0), T(F32, 3), {F32, OF(3), FLOATS(1, 2, 3)}), Y(F32, OF(2, 3))),
    };
    (void)state;
    check_triggers(triggers, sizeof triggers / sizeof *triggers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes_and_blocks), cmocka_unit_test(indices_and_slices),
                                       cmocka_unit_test(joins)};
    return cmocka_run_group_tests_name("planted bugs of axes, indices and orders", tests, NULL, NULL);
}
