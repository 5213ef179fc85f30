/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_cpu_driver_regions.c The driver "cpu": regions of images, keypoints, boxes, and sequences of cells. */
#include "tests/kit/op_net.h"

#define EIGHTHS ((struct kind){ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 0.125f, 0})

static const int32_t first_image[] = {0};

/** Place (y, x) holds 4 y + x, so that the mean of samples is the value at their mean place. */
static const float ramp[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* ------------------------------------------------------------------ ROI_ALIGN */

#define BATCH C(I32, first_image, 1)
#define ROI(NAME, ...) static const float NAME[] = {__VA_ARGS__}
ROI(two_by_two, 0, 0, 2, 2);
ROI(tall, 1, 0, 3, 4);
ROI(point, 1, 1, 1, 1);
ROI(wide, 0, 0, 2, 3);
ROI(whole, 0, 0, 4, 4);
ROI(beyond, 0, 0, 4, 4.5f);
ROI(reversed, 3, 0, 1, 4);

static void test_roi_align(void **state) {
    (void)state;
    const struct arg x = T(F32, 1, 4, 4, 1), one = T(F32, 1, 1, 1, 1);
    const size_t bytes = sizeof ramp;
    CHECK(ROI_ALIGN, one, ARGS(x, C(F32, two_by_two, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)), ramp,
          bytes, FLOATS(5));
    CHECK(ROI_ALIGN, T(F32, 1, 2, 1, 1), /* rows 0 to 2 of it: the height is halved */
          ARGS(x, C(F32, tall, 1, 4), BATCH, I(2), I(1), R(2), R(1), I(1), I(1), B(0)), ramp, bytes, FLOATS(4, 8));
    CHECK(ROI_ALIGN, one, ARGS(x, C(F32, point, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(1), I(1), B(0)), ramp, bytes,
          FLOATS(7.5f)); /* at least a pixel wide and high */
    CHECK(ROI_ALIGN, one, ARGS(x, C(F32, wide, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(0), I(0), B(0)), ramp, bytes,
          FLOATS(7));
    CHECK(ROI_ALIGN, one,
          ARGS(T(F32, 1, 1, 4, 4), C(F32, whole, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(4), I(4), B(1)), ramp, bytes,
          FLOATS(9.375f)); /* the last samples stop at the last pixels: mean place 1.875 */
    FAILS(ROI_ALIGN, one, ARGS(x, C(F32, beyond, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(1), I(1), B(0)), ramp, bytes);
    FAILS(ROI_ALIGN, one, ARGS(x, C(F32, reversed, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(1), I(1), B(0)), ramp,
          bytes);
    FAILS(ROI_ALIGN, one, ARGS(x, C(F32, whole, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(INT32_MAX), I(INT32_MAX), B(0)),
          ramp, bytes);
}

/** q - 10 halves; 5 of them in units of 0.25. */
static void test_roi_align_quant(void **state) {
    (void)state;
    uint8_t in[16];
    const uint16_t box[] = {0, 0, 16, 16};
    for (int i = 0; i < 16; i++) in[i] = (uint8_t)(10 + i);
    CHECK(ROI_ALIGN, T(U8(0.25f, 3), 1, 1, 1, 1),
          ARGS(T(U8(0.5f, 10), 1, 4, 4, 1), C(EIGHTHS, box, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)), in,
          sizeof in, BYTES(13));
}

static void test_roi_refusals(void **state) {
    (void)state;
    const struct arg x = T(F32, 1, 4, 4, 1), y = T(F32, 1, 1, 1, 1), box = C(F32, whole, 1, 4);
    const uint16_t units[] = {0, 0, 16, 16};
    const float five[5] = {0};
    const int32_t twice[] = {0, 0};
    ACCEPTED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(0), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(1), I(-1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(1), I(1), R(0), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(1), I(1), R(1), R(-1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, BATCH, I(1), I(1), R(1), R(1), I(-1), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, C(F32, five, 1, 5), BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, box, C(I32, twice, 2), I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, y, ARGS(x, C(EIGHTHS, units, 1, 4), BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_ALIGN, T(F32, 2, 1, 1, 1), ARGS(x, box, BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    struct arg quarters = C(EIGHTHS, units, 1, 4);
    quarters.kind.scale = 0.25f;
    REFUSED(ROI_ALIGN, T(U8(1, 0), 1, 1, 1, 1),
            ARGS(T(U8(1, 0), 1, 4, 4, 1), quarters, BATCH, I(1), I(1), R(1), R(1), I(2), I(2), B(0)));
    REFUSED(ROI_POOLING, T(U8(1, 1), 1, 1, 1, 1),
            ARGS(T(U8(1, 0), 1, 4, 4, 1), C(EIGHTHS, units, 1, 4), BATCH, I(1), I(1), R(1), R(1), B(0)));
}

/* ---------------------------------------------------------------- ROI_POOLING */

/** Columns 0 to 2, row 1: three pixels in two bins share the middle one. */
static void test_roi_pooling(void **state) {
    (void)state;
    static const float box[] = {0.4f, 0.6f, 2.4f, 1.4f};
    const int32_t second[] = {1};
    const struct arg x = T(F32, 1, 4, 4, 1), y = T(F32, 1, 1, 2, 1);
    CHECK(ROI_POOLING, y, ARGS(x, C(F32, box, 1, 4), BATCH, I(1), I(2), R(1), R(1), B(0)), ramp, sizeof ramp,
          FLOATS(5, 6));
    FAILS(ROI_POOLING, y, ARGS(x, C(F32, box, 1, 4), C(I32, second, 1), I(1), I(2), R(1), R(1), B(0)), ramp,
          sizeof ramp);
}

/* ------------------------------------------------------- HEATMAP_MAX_KEYPOINT */

/** Slope 1 to the right and curvature -4 both ways: the top lies a quarter of a pixel to the right, 1/8 higher. */
static void check_heatmap(struct kind k, struct kind boxes, const void *map, uint32_t map_bytes, const void *box,
                          uint32_t box_bytes, const void *score, const void *keypoint, uint32_t element,
                          uint32_t width) {
    struct net n = {0};
    const uint32_t x = input(&n, k, DIMS(1, 1, 3, 3)), b = input(&n, boxes, DIMS(1, 4));
    if (k.scale > 0) k.scale = 0.125f;
    const uint32_t s = output(&n, k, DIMS(1, 1)), p = output(&n, boxes, DIMS(1, 1, 2));
    operation(&n, ANEURALNETWORKS_HEATMAP_MAX_KEYPOINT, LIST(x, b, boolean(&n, 1)), LIST(s, p));
    struct nnvts_prepared_model *prepared = prepare(cpu, &n);
    struct call c = {0};
    uint8_t scores[4], keypoints[8];
    give(&c, map, map_bytes);
    give(&c, box, box_bytes);
    take(&c, scores, element);
    take(&c, keypoints, 2 * width);
    assert_int_equal(execute(prepared, &c), NNVTS_STATUS_NONE);
    assert_memory_equal(scores, score, element);
    assert_memory_equal(keypoints, keypoint, 2 * width);
    prepared->release(prepared);
}

static void test_heatmap(void **state) {
    (void)state;
    static const float map[] = {0, 2, 0, 1, 4, 3, 0, 2, 0}, flat[9] = {0}, box[] = {0, 0, 12, 6}, score[] = {4.125f},
                       keypoint[] = {7, 3}, zero[] = {0}, corner[] = {2, 1},
                       low[] = {0, 0, 0, 0, 0.001f, 0.0005f, 0, 0, 0}, low_score[] = {0.001f}, middle[] = {6, 3};
    static const uint8_t units[] = {0, 4, 0, 2, 8, 6, 0, 4, 0}, score_units[] = {33};
    static const uint16_t eighths[] = {0, 0, 96, 48}, place[] = {56, 24};
    check_heatmap(F32, F32, map, sizeof map, box, sizeof box, score, keypoint, 4, 4);
    check_heatmap(F32, F32, flat, sizeof flat, box, sizeof box, zero, corner, 4, 4);
    check_heatmap(F32, F32, low, sizeof low, box, sizeof box, low_score, middle, 4, 4); /* too flat for a parabola */
    check_heatmap(U8(0.5f, 0), EIGHTHS, units, sizeof units, eighths, sizeof eighths, score_units, place, 1, 2);
}

/* ------------------------------------------------ AXIS_ALIGNED_BBOX_TRANSFORM */

static void test_bbox(void **state) {
    (void)state;
    static const float deltas[] = {0.25f, -0.5f, 0, 0, 0, 0, 0, 0}, image[] = {3.5f, 6}, three[3] = {0}, one[1] = {0};
    static const uint8_t steps[] = {10, 10, 24, 10}; /* 0.7: e^0.7 is 2.01375 */
    static const uint16_t large[] = {128, 128};
    const int32_t second[] = {1};
    const struct arg x = T(F32, 1, 4), y = T(F32, 1, 8), d = C(F32, deltas, 1, 8), i = C(F32, image, 1, 2);
    CHECK(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, BATCH, i), FLOATS(2, 3, 6, 5),
          FLOATS(3, 2, 6, 3.5f, 2, 3, 6, 3.5f));
    CHECK(AXIS_ALIGNED_BBOX_TRANSFORM, T(EIGHTHS, 1, 4),
          ARGS(T(EIGHTHS, 1, 4), C(U8(0.05f, 10), steps, 1, 4), BATCH, C(EIGHTHS, large, 1, 2)), HALVES(16, 24, 48, 40),
          HALVES(0, 24, 64, 40)); /* 4 -+ 4.0275 */
    FAILS(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, BATCH, i), FLOATS(6, 3, 2, 5));
    FAILS(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, BATCH, i), FLOATS(2, 5, 6, 3));
    FAILS(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, C(I32, second, 1), i), FLOATS(2, 3, 6, 5));
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, T(F32, 1, 3), ARGS(x, C(F32, three, 1, 3), BATCH, i));
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, T(F32, 1, 4), ARGS(x, d, BATCH, i));
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, BATCH, C(F32, image, 2, 1)));
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, y, ARGS(x, d, C(F32, one, 1), i));
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, T(F32, 1, 4), ARGS(x, C(U8(0.05f, 10), steps, 1, 4), BATCH, i));
    struct arg coarse = T(EIGHTHS, 1, 4);
    coarse.kind.scale = 0.25f;
    REFUSED(AXIS_ALIGNED_BBOX_TRANSFORM, coarse,
            ARGS(T(EIGHTHS, 1, 4), C(U8(0.05f, 10), steps, 1, 4), BATCH, C(EIGHTHS, large, 1, 2)));
}

/* ------------------------------------------------------------------ sequences */

/** y = 2 x + y / 2 + 1, from the states 1 and 0 of two batches. */
static void test_sequence_rnn(void **state) {
    (void)state;
    static const float w[] = {2}, r[] = {0.5f}, b[] = {1}, h[] = {1, 0};
    const struct arg x = T(F32, 2, 2, 1), y = T(F32, 2, 2, 1), ww = C(F32, w, 1, 1), rr = C(F32, r, 1, 1),
                     bb = C(F32, b, 1), hh = C(F32, h, 2, 1);
    CHECK(UNIDIRECTIONAL_SEQUENCE_RNN, y, ARGS(x, ww, rr, bb, hh, I(0), I(0)), FLOATS(1, 2, 3, 4),
          FLOATS(3.5f, 6.75f, 7, 12.5f));
    CHECK(UNIDIRECTIONAL_SEQUENCE_RNN, y, ARGS(x, ww, rr, bb, hh, I(3), I(1)), FLOATS(1, 3, 2, 4), /* RELU6 */
          FLOATS(3.5f, 6, 6, 6));
    REFUSED(UNIDIRECTIONAL_SEQUENCE_RNN, y, ARGS(x, ww, rr, bb, hh, I(5), I(0)));
    REFUSED(UNIDIRECTIONAL_SEQUENCE_RNN, y, ARGS(x, ww, rr, bb, hh, I(0), I(2)));
    REFUSED(UNIDIRECTIONAL_SEQUENCE_RNN, y, ARGS(x, ww, hh, bb, hh, I(0), I(0)));
    REFUSED(UNIDIRECTIONAL_SEQUENCE_RNN, T(F32, 2, 2, 2), ARGS(x, ww, rr, bb, hh, I(0), I(0)));
    REFUSED(UNIDIRECTIONAL_SEQUENCE_RNN, T(F32, 2, 2), ARGS(T(F32, 2, 2), ww, rr, bb, hh, I(0), I(0)));
}

/** All gates are 1/2; c' = c / 2 + relu(x + y + 2) / 2, y = relu(c') / 2, from cells 4 and 0 of two batches. */
static void check_lstm(int time_major, const float x[4], const float y[4]) {
    static const float zero[] = {0}, one[] = {1}, two[] = {2}, states[] = {0, 0}, cells[] = {4, 0};
    struct net n = {0};
    uint32_t in[29], at = 0;
    in[at++] = input(&n, F32, DIMS(2, 2, 1));
    for (int i = 1; i <= 8; i++) in[at++] = constant(&n, F32, i == 3 || i == 7 ? one : zero, 4, DIMS(1, 1));
    for (int i = 9; i <= 11; i++) in[at++] = tensor(&n, NNVTS_NO_VALUE, F32, DIMS(1));
    for (int i = 12; i <= 15; i++) in[at++] = constant(&n, F32, i == 14 ? two : zero, 4, DIMS(1));
    in[at++] = tensor(&n, NNVTS_NO_VALUE, F32, DIMS(1, 1));
    in[at++] = tensor(&n, NNVTS_NO_VALUE, F32, DIMS(1));
    in[at++] = constant(&n, F32, states, sizeof states, DIMS(2, 1));
    in[at++] = constant(&n, F32, cells, sizeof cells, DIMS(2, 1));
    in[at++] = integer(&n, ANEURALNETWORKS_FUSED_RELU);
    in[at++] = real(&n, 0);
    in[at++] = real(&n, 0);
    in[at++] = boolean(&n, (uint8_t)time_major);
    for (int i = 0; i < 4; i++) in[at++] = tensor(&n, NNVTS_NO_VALUE, F32, DIMS(1));
    in[at] = UINT32_MAX;
    const uint32_t all = output(&n, F32, DIMS(2, 2, 1)), h = output(&n, F32, DIMS(2, 1)),
                   c = output(&n, F32, DIMS(2, 1));
    operation(&n, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, in, LIST(all, h, c));
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call call = {0};
    float out[4], last[2], cell[2];
    give(&call, x, 4 * sizeof *x);
    take(&call, out, sizeof out);
    take(&call, last, sizeof last);
    take(&call, cell, sizeof cell);
    assert_int_equal(execute(p, &call), NNVTS_STATUS_NONE);
    p->release(p);
    assert_floats(out, y, 4, ULPS(2));
    for (int b = 0; b < 2; b++) {
        const float end = time_major ? y[2 + b] : y[2 * b + 1];
        assert_floats(&last[b], &end, 1, ULPS(2));
        const float twice = 2 * end;
        assert_floats(&cell[b], &twice, 1, ULPS(2));
    }
}

static void test_sequence_lstm(void **state) {
    (void)state;
    /* cells 4, 3, 1.5 + 5.5 / 2 and 0, 2, 1 + 1 / 2 */
    check_lstm(0, (const float[]){0, 2, 2, -2}, (const float[]){1.5f, 2.125f, 1, 0.75f});
    check_lstm(1, (const float[]){0, 2, 2, -2}, (const float[]){1.5f, 1, 2.125f, 0.75f});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roi_align),    cmocka_unit_test(test_roi_align_quant),
        cmocka_unit_test(test_roi_refusals), cmocka_unit_test(test_roi_pooling),
        cmocka_unit_test(test_heatmap),      cmocka_unit_test(test_bbox),
        cmocka_unit_test(test_sequence_rnn), cmocka_unit_test(test_sequence_lstm),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
