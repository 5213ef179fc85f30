/* SPDX-License-Identifier: Apache-2.0 */
/* ROI_ALIGN, ROI_POOLING, HEATMAP_MAX_KEYPOINT, RANDOM_MULTINOMIAL. */
#include "tests/kit/op.h"

enum { Q16 = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM };

static int32_t box_type(int32_t type) { return nnv_is_quant(type) ? Q16 : type; }
static int32_t ratio_type(int32_t type) { return type == F16 ? HALF : FLT; }

/** What the cases of ROI_ALIGN and ROI_POOLING differ in; ratio 0 stands for 1. */
struct roi {
    int32_t code, type;
    uint32_t dims[4], nboxes;
    const double *x, *boxes, *batch;
    int height, width, samples;
    double height_ratio, width_ratio;
    bool nchw;
};

/* Quantised: x has scale 0.5 and zero point 4, the output of ROI_ALIGN 0.25 and 8. */
static struct use *roi_use(const struct roi *r) {
    struct use *u = use_new(r->code);
    bool align = r->code == ANEURALNETWORKS_ROI_ALIGN, quant = nnv_is_quant(r->type);
    use_in(u, r->type, 4, r->dims, r->x);
    if (quant) use_quant(u, 0.5, 4);
    use_in(u, box_type(r->type), D(r->nboxes, 4), r->boxes);
    if (quant) use_quant(u, 0.125, 0);
    use_in(u, I32, D(r->nboxes), r->batch);
    use_scalar(u, INT, r->height);
    use_scalar(u, INT, r->width);
    use_scalar(u, ratio_type(r->type), r->height_ratio != 0 ? r->height_ratio : 1);
    use_scalar(u, ratio_type(r->type), r->width_ratio != 0 ? r->width_ratio : 1);
    for (int i = 0; align && i < 2; i++) use_scalar(u, INT, r->samples);
    use_scalar(u, BOOL, r->nchw);
    use_out(u, r->type);
    if (quant) use_quant(u, align ? 0.25 : 0.5, align ? 8 : 4);
    return u;
}

static void roi_expect(const struct roi *r, uint32_t rank, const uint32_t *dims, const double *y) {
    struct use *u = roi_use(r);
    use_expect(u, 0, rank, dims, y, 1e-6);
    assert_int_equal(u->level, r->type == Q8S ? 4 : 3);
    use_free(u);
}

static void roi_refuse(const struct roi *r, const char *words) {
    struct use *u = roi_use(r);
    use_refuse(u, words);
    use_free(u);
}

/* ------------------------------------------------------------------ ROI_ALIGN */

/* A plane 4y + x, on which a bilinear mean is the value at the mean position. */
#define PLANE V(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
/* One row of pixels. */
#define ROW V(0, 0, 8, 0)

static void align_plane(void **state) {
    (void)state;
    const int32_t types[] = {F32, F16};
    for (int i = 0; i < 2; i++) {
        struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                        .type = types[i],
                        .dims = {1, 4, 4, 1},
                        .nboxes = 1,
                        .x = PLANE,
                        .boxes = V(0, 0, 2, 2),
                        .batch = V(0),
                        .height = 1,
                        .width = 1,
                        .samples = 2};
        roi_expect(&r, D(1, 1, 1, 1), V(5));
        /* From 1 to 3 in each direction, the box being twice as large; samples at 1.5 and 2.5. */
        r.boxes = V(2, 2, 6, 6);
        r.height_ratio = r.width_ratio = r.height = r.width = 2;
        r.samples = 1;
        roi_expect(&r, D(1, 2, 2, 1), V(7.5, 8.5, 11.5, 12.5));
        /* Height and width are not mixed up: y from 1 to 2, x from 1 to 3. */
        r.boxes = V(2, 4, 6, 8);
        r.height_ratio = 4;
        r.height = 1;
        roi_expect(&r, D(1, 1, 2, 1), V(7.5, 8.5));
    }
}

static void align_samples(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                    .type = F32,
                    .dims = {1, 1, 4, 1},
                    .nboxes = 1,
                    .x = ROW,
                    .boxes = V(0, 0, 3, 1),
                    .batch = V(0),
                    .height = 1,
                    .width = 1,
                    .samples = 1};
    roi_expect(&r, D(1, 1, 1, 1), V(4)); /* at 1.5 */
    r.samples = 0;                       /* 3 samples of a width of 3: at 0.5, 1.5, 2.5 */
    roi_expect(&r, D(1, 1, 1, 1), V(8.0 / 3));
    r.boxes = V(0, 0, 2.5, 1); /* ceil(2.5) = 3: at 5/12, 15/12, 25/12 */
    roi_expect(&r, D(1, 1, 1, 1), V((0 + 8.0 / 4 + 8 * 11.0 / 12) / 3));
    r.boxes = V(2, 0, 4, 1); /* at 2.5 and 3.5, where the last pixel goes on */
    roi_expect(&r, D(1, 1, 1, 1), V(2));
    r.boxes = V(1, 0, 1, 0); /* a box is at least a pixel wide */
    roi_expect(&r, D(1, 1, 1, 1), V(4));
}

/* Two images of two channels: 1 + x, and ten times it; the second image is 100 more. */
static void align_layouts(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                    .type = F32,
                    .dims = {2, 1, 3, 2},
                    .nboxes = 2,
                    .x = V(1, 10, 2, 20, 3, 30, 101, 110, 102, 120, 103, 130),
                    .boxes = V(0, 0, 1, 1, 1, 0, 2, 1),
                    .batch = V(1, 0),
                    .height = 1,
                    .width = 1,
                    .samples = 1};
    roi_expect(&r, D(2, 1, 1, 2), V(101.5, 115, 2.5, 25));
    r.nchw = true;
    memcpy(r.dims, (uint32_t[]){2, 2, 1, 3}, sizeof r.dims);
    r.x = V(1, 2, 3, 10, 20, 30, 101, 102, 103, 110, 120, 130);
    roi_expect(&r, D(2, 2, 1, 1), V(101.5, 115, 2.5, 25));
}

static void align_quantised(void **state) {
    (void)state;
    /* Reals 0 1 2 3 in steps of 0.5 around 4; the box [0, 0, 2, 1] in eighths; the mean at 0.5 and 1.5 is 1. */
    struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                    .type = Q8,
                    .dims = {1, 1, 4, 1},
                    .nboxes = 1,
                    .x = V(4, 6, 8, 10),
                    .boxes = V(0, 0, 16, 8),
                    .batch = V(0),
                    .height = 1,
                    .width = 1,
                    .samples = 2};
    roi_expect(&r, D(1, 1, 1, 1), V(12));
    r.type = Q8S;
    r.width = 2; /* at 0.25, 0.75 and 1.25, 1.75 */
    roi_expect(&r, D(1, 1, 2, 1), V(10, 14));
    struct use *u = roi_use(&r);
    u->operands[1].scale = 0.25f;
    use_refuse(u, "scale");
    use_free(u);
}

static void align_refusals(void **state) {
    (void)state;
    const struct roi good = {.code = ANEURALNETWORKS_ROI_ALIGN,
                             .type = F32,
                             .dims = {1, 4, 4, 1},
                             .nboxes = 1,
                             .x = PLANE,
                             .boxes = V(0, 0, 4, 4),
                             .batch = V(0),
                             .height = 1,
                             .width = 1,
                             .samples = 1};
    struct roi r = good;
    roi_expect(&r, D(1, 1, 1, 1), V(10));
    r.batch = V(1);
    roi_refuse(&r, "batch index 1 is not one of the 1 images");
    r.batch = V(-1);
    roi_refuse(&r, "batch index -1");
    r = good;
    r.boxes = V(0, 0, 4.5, 4);
    roi_refuse(&r, "is not ordered or not in an image of height 4 and width 4");
    r.boxes = V(0, 3, 4, 2);
    roi_refuse(&r, "is not ordered");
    r.boxes = V(-1, 0, 4, 4);
    roi_refuse(&r, "is not ordered");
    r.boxes = V(NAN, 0, 4, 4);
    roi_refuse(&r, "is not ordered");
    r = good;
    r.samples = -1;
    roi_refuse(&r, "-1 is negative");
    r = good;
    r.height = 0;
    roi_refuse(&r, "0 is not above 0");
    r = good;
    r.width_ratio = -2;
    roi_refuse(&r, "-2 is not above 0");
    r = good;
    struct use *u = roi_use(&r);
    u->operands[2].dims = (uint32_t[]){2};
    use_refuse(u, "extent 0 is 2, but the other inputs make it 1");
    use_free(u);
    r.samples = 1 << 30; /* not tried */
    u = roi_use(&r);
    assert_int_equal(use_run(u), NNV_NO_MEMORY);
    use_free(u);
}

static void align_without_boxes(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                    .type = F32,
                    .dims = {1, 4, 4, 1},
                    .nboxes = 0,
                    .x = PLANE,
                    .boxes = V(0),
                    .batch = V(0),
                    .height = 2,
                    .width = 3,
                    .samples = 1};
    roi_expect(&r, D(0, 2, 3, 1), V(0));
    r.dims[3] = 0;
    roi_refuse(&r, "input: extent 3 is 0");
    r.dims[3] = 1;
    r.code = ANEURALNETWORKS_ROI_POOLING;
    roi_refuse(&r, "dimension 0 is 0");
}

/* 5.25 / 1.75 is 3, but in float16 it may be more: then there are 4 samples. */
static void align_open(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_ALIGN,
                    .type = F16,
                    .dims = {1, 1, 4, 1},
                    .nboxes = 1,
                    .x = ROW,
                    .boxes = V(0, 0, 5.25, 1),
                    .batch = V(0),
                    .height = 1,
                    .width = 1,
                    .width_ratio = 1.75};
    struct use *u = roi_use(&r);
    double open = use_spread(u, 0); /* 8/3, or the mean at 3/8, 9/8, 15/8, 21/8: (0 + 1 + 7 + 3)/4 */
    assert_true(open > 0.08 && open < 0.12);
    use_free(u);
    r.boxes = V(0, 0, 3, 1);
    r.width_ratio = 1;
    u = roi_use(&r);
    assert_true(use_spread(u, 0) < 0.02);
    use_free(u);
}

/* ------------------------------------------------------------------ ROI_POOLING */

static void pooling(void **state) {
    (void)state;
    const int32_t types[] = {F32, F16, Q8, Q8S};
    for (int i = 0; i < 4; i++) {
        double unit = nnv_is_quant(types[i]) ? 8 : 1;
        struct roi r = {.code = ANEURALNETWORKS_ROI_POOLING,
                        .type = types[i],
                        .dims = {1, 1, 4, 1},
                        .nboxes = 1,
                        .x = V(1, 2, 5, 8),
                        .boxes = V(0, 0, 2.5 * unit, 0),
                        .batch = V(0),
                        .height = 1,
                        .width = 2};
        roi_expect(&r, D(1, 1, 2, 1), V(2, 8)); /* 2.5 is pixel 3: [0,2) and [2,4) */
        r.boxes = V(0.375 * unit, 0, 2.375 * unit, 0);
        roi_expect(&r, D(1, 1, 2, 1), V(2, 5)); /* pixels 0 to 2: [0,2) and [1,3) overlap */
        r.boxes = V(4 * unit, 0, 6 * unit, 2 * unit);
        r.width_ratio = r.height_ratio = 2; /* pixels 2 to 3, and of the rows 0 to 1, of which there is one */
        r.height = 2;
        roi_expect(&r, D(1, 2, 2, 1), V(5, 8, nnv_is_quant(types[i]) ? 4 : 0, nnv_is_quant(types[i]) ? 4 : 0));
    }
    /* Numbers below 0 stay below it; a bin without pixels is 0. */
    struct roi r = {.code = ANEURALNETWORKS_ROI_POOLING,
                    .type = F32,
                    .dims = {1, 1, 4, 1},
                    .nboxes = 2,
                    .x = V(-1, -2, -5, -8),
                    .boxes = V(1, 0, 3, 0, 4, 0, 4, 0),
                    .batch = V(0, 0),
                    .height = 1,
                    .width = 1};
    roi_expect(&r, D(2, 1, 1, 1), V(-2, 0));
}

static void pooling_layouts(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_POOLING,
                    .type = F32,
                    .dims = {2, 1, 3, 2},
                    .nboxes = 2,
                    .x = V(1, 30, 2, 20, 3, 10, 101, 130, 102, 120, 103, 110),
                    .boxes = V(0, 0, 1, 0, 1, 0, 2, 0),
                    .batch = V(1, 0),
                    .height = 1,
                    .width = 1};
    roi_expect(&r, D(2, 1, 1, 2), V(102, 130, 3, 20));
    r.nchw = true;
    memcpy(r.dims, (uint32_t[]){2, 2, 1, 3}, sizeof r.dims);
    r.x = V(1, 2, 3, 30, 20, 10, 101, 102, 103, 130, 120, 110);
    roi_expect(&r, D(2, 2, 1, 1), V(102, 130, 3, 20));
    r.batch = V(0, 2);
    roi_refuse(&r, "box 1: batch index 2 is not one of the 2 images");
    r.batch = V(0, 0);
    r.boxes = V(0, 0, 1, 0, 1, 0, 3.5, 0);
    roi_refuse(&r, "box 1: [1, 0, 3.5, 0]");
    struct use *u = roi_use(&r);
    u->operands[1].dims = (uint32_t[]){1, 8};
    use_refuse(u, "boxes");
    use_free(u);
}

/* 4.375 / 1.75 is 2.5: which pixel that is depends on the rounding of the quotient; 2.5 / 1 is pixel 3. */
static void pooling_open(void **state) {
    (void)state;
    struct roi r = {.code = ANEURALNETWORKS_ROI_POOLING,
                    .type = F32,
                    .dims = {1, 1, 4, 1},
                    .nboxes = 1,
                    .x = V(1, 2, 5, 8),
                    .boxes = V(0, 0, 4.375, 0),
                    .batch = V(0),
                    .height = 1,
                    .width = 1,
                    .width_ratio = 1.75};
    struct use *u = roi_use(&r);
    assert_true(use_spread(u, 0) == 3);
    use_free(u);
    r.boxes = V(0, 0, 2.5, 0);
    r.width_ratio = 1;
    u = roi_use(&r);
    assert_true(use_spread(u, 0) == 0);
    use_free(u);
}

/* ------------------------------------------------------------------ HEATMAP_MAX_KEYPOINT */

/* Quantised: the heatmap has scale 0.5 and zero point 4, the score 1/32 and 0. */
static struct use *heatmap(int32_t type, uint32_t rank, const uint32_t *dims, const double *x, const double *boxes,
                           bool nchw) {
    struct use *u = use_new(ANEURALNETWORKS_HEATMAP_MAX_KEYPOINT);
    bool quant = nnv_is_quant(type);
    use_in(u, type, rank, dims, x);
    if (quant) use_quant(u, 0.5, 4);
    use_in(u, box_type(type), D(dims[0], 4), boxes);
    if (quant) use_quant(u, 0.125, 0);
    use_scalar(u, BOOL, nchw);
    use_out(u, type);
    if (quant) use_quant(u, 1.0 / 32, 0);
    use_out(u, box_type(type));
    if (quant) use_quant(u, 0.125, 0);
    return u;
}

static void heatmap_expect(struct use *u, const double *score, const double *keypoint, double tolerance) {
    uint32_t n = u->operands[0].dims[0];
    use_expect(u, 0, D(n, 1), score, tolerance);
    use_expect(u, 1, D(n, 1, 2), keypoint, tolerance);
    use_free(u);
}

static void keypoints(void **state) {
    (void)state;
    /* A peak between zeros stays where it is: pixel (1,2) of 4; boxes 8 wide and 16 high, at (0,0) and (10,20). */
    const double *peak = V(0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    heatmap_expect(heatmap(F32, D(1, 4, 4, 1), peak, V(10, 20, 18, 36), false), V(1), V(15, 26), 1e-5);
    heatmap_expect(heatmap(F16, D(1, 1, 4, 4), peak, V(0, 0, 8, 16), true), V(1), V(5, 6), 1e-2);
    /* To its right 0.5: g = 0.25, second difference -1.5, so it moves by 1/6 and rises by 1/48. */
    const double *lean = V(0, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    heatmap_expect(heatmap(F32, D(1, 4, 4, 1), lean, V(0, 0, 4, 4), false), V(1 + 1.0 / 48), V(1 + 1.0 / 6 + 0.5, 1.5),
                   1e-5);
}

static void keypoint_borders(void **state) {
    (void)state;
    /* In a corner the neighbours are mirrored: no gradient. */
    heatmap_expect(heatmap(F32, D(1, 3, 3, 1), V(4, 2, 0, 2, 1, 0, 0, 0, 0), V(0, 0, 6, 6), false), V(4), V(1, 1),
                   1e-5);
    heatmap_expect(heatmap(F32, D(1, 2, 2, 1), V(0, 0, 0, 3), V(0, 0, 2, 2), false), V(3), V(1.5, 1.5), 1e-5);
    /* On a plateau nothing moves; the first maximum counts. */
    heatmap_expect(heatmap(F32, D(1, 2, 2, 1), V(5, 5, 5, 5), V(0, 0, 2, 2), false), V(5), V(0.5, 0.5), 0);
    /* g = (0.48, 0.48), H = (-1.04, 0.98): a step of 8, cut to 1.5; 1 + 2*0.72 - 2.34 + 2.205. */
    const double *ridge = V(0.96, 0, -1, 0, 1, 0.96, -1, 0.96, 0.96);
    heatmap_expect(heatmap(F32, D(1, 3, 3, 1), ridge, V(0, 0, 9, 6), false), V(2.305), V(9, 6), 1e-4);
}

static void keypoints_quantised(void **state) {
    (void)state;
    /* Reals 2 at (0,1) and -2 elsewhere; two boxes, the second 4 eighths to the right. */
    const double *x = V(0, 8, 0, 0, 0, 8, 0, 0), *boxes = V(0, 0, 16, 32, 4, 0, 20, 32);
    const int32_t types[] = {Q8, Q8S};
    for (int i = 0; i < 2; i++) {
        struct use *u = heatmap(types[i], D(2, 2, 2, 1), x, boxes, false);
        heatmap_expect(u, V(64, 64), V(12, 8, 16, 8), 0);
    }
}

static void heatmap_refusals(void **state) {
    (void)state;
    struct use *u = heatmap(F32, D(1, 2, 3, 1), V(0, 0, 0, 0, 0, 0), V(0, 0, 1, 1), false);
    use_refuse(u, "extents 2 and 3 are not equal");
    use_free(u);
    u = heatmap(F32, D(1, 1, 1, 2), V(0, 0), V(0, 0, 1, 1), false);
    use_refuse(u, "extent 1 is below 2");
    use_free(u);
    u = heatmap(F32, D(1, 2, 2, 1), V(0, 0, 0, 0), V(0, 0, 1, 1), false);
    u->operands[1].dims = (uint32_t[]){2, 2};
    use_refuse(u, "boxes: extent 0 is 2");
    use_free(u);
    u = heatmap(Q8, D(1, 2, 2, 1), V(0, 0, 0, 0), V(0, 0, 1, 1), false);
    use_quant(u, 0.25, 0);
    use_refuse(u, "scale");
    use_free(u);
}

/* Where maxima tie, what follows from the choice is not compared, unless the choice is made. */
static void heatmap_choices(void **state) {
    (void)state;
    struct use *u =
        heatmap(F32, D(1, 4, 4, 1), V(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), V(0, 0, 4, 4), false);
    assert_true(isnan(use_spread(u, 0)) && isnan(use_spread(u, 1)));
    assert_int_equal(u->results[0].choices, 2);
    const float expected[3][2] = {{1.5f, 1.5f}, {3.5f, 3.5f}, {1.5f, 1.5f}};
    for (int c = 1; c <= 3; c++) {
        struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 1, .choice = c};
        assert_int_equal(nnv_eval(&u->model, u->values, &options, u->arena, u->results, &u->err), NNV_OK);
        assert_memory_equal(u->results[1].value.data, expected[c - 1], sizeof expected[0]);
        assert_true(u->results[1].spread[0] < 1e-5);
    }
    use_free(u);
}

/* ------------------------------------------------------------------ RANDOM_MULTINOMIAL */

static struct use *multinomial(int32_t type, uint32_t rows, uint32_t classes, const double *x, int samples, int seed) {
    struct use *u = use_new(ANEURALNETWORKS_RANDOM_MULTINOMIAL);
    use_in(u, type, D(rows, classes), x);
    use_scalar(u, INT, samples);
    use_const(u, I32, D(2), V(seed, 42));
    use_out(u, I32);
    return u;
}

static const int32_t *drawn(struct use *u) {
    if (use_run(u)) fail_msg("%s", u->err.text);
    return u->results[0].value.data;
}

static void samples(void **state) {
    (void)state;
    enum { N = 4000 };
    /* Probabilities 1/7, 2/7, 4/7, on top of a large number; the second row is certain. */
    const double *x = V(0, log(2), log(4), -INFINITY, 0, -INFINITY);
    struct use *u = multinomial(F32, 2, 3, x, N, 7), *same = multinomial(F32, 2, 3, x, N, 7),
               *other = multinomial(F32, 2, 3, x, N, 8);
    const int32_t *y = drawn(u);
    int count[3] = {0};
    for (int i = 0; i < N; i++) {
        assert_in_range(y[i], 0, 2);
        assert_int_equal(y[N + i], 1);
        count[y[i]]++;
    }
    for (int c = 0; c < 3; c++) { /* six standard deviations */
        double expected = N * (1 << c) / 7.0;
        assert_true(fabs(count[c] - expected) < 6 * sqrt(expected));
    }
    assert_memory_equal(y, drawn(same), 2 * N * sizeof *y);
    assert_memory_not_equal(y, drawn(other), 2 * N * sizeof *y);
    assert_true(isnan(use_spread(u, 0))); /* nobody else draws the same */
    assert_int_equal(u->level, 3);
    use_free(u);
    use_free(same);
    use_free(other);
    u = multinomial(F16, 1, 2, V(1020, 1000), 50, 1); /* e^x overflows; the difference decides */
    for (int i = 0; i < 50; i++) assert_int_equal(drawn(u)[i], 0);
    use_free(u);
    u = multinomial(F32, 2, 2, V(0, 0, 0, 0), 50, 1); /* equal rows are drawn apart */
    y = drawn(u);
    assert_memory_not_equal(y, y + 50, 50 * sizeof *y);
    use_free(u);
}

static void multinomial_refusals(void **state) {
    (void)state;
    struct use *u = multinomial(F32, 1, 2, V(0, 0), 0, 1);
    use_refuse(u, "0 is not above 0");
    use_free(u);
    u = multinomial(F32, 1, 2, V(0, 0), 3, 1);
    u->operands[2].dims = (uint32_t[]){1};
    u->operands[2].bytes = 4;
    use_refuse(u, "seeds: extent 0 is 1");
    use_free(u);
    u = multinomial(I32, 1, 2, V(0, 0), 3, 1);
    use_refuse(u, "TENSOR_INT32 is not accepted");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(align_plane),
        cmocka_unit_test(align_samples),
        cmocka_unit_test(align_layouts),
        cmocka_unit_test(align_quantised),
        cmocka_unit_test(align_refusals),
        cmocka_unit_test(align_without_boxes),
        cmocka_unit_test(align_open),
        cmocka_unit_test(pooling),
        cmocka_unit_test(pooling_layouts),
        cmocka_unit_test(pooling_open),
        cmocka_unit_test(keypoints),
        cmocka_unit_test(keypoint_borders),
        cmocka_unit_test(keypoints_quantised),
        cmocka_unit_test(heatmap_refusals),
        cmocka_unit_test(heatmap_choices),
        cmocka_unit_test(samples),
        cmocka_unit_test(multinomial_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
