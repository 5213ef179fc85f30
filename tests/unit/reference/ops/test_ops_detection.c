/* SPDX-License-Identifier: Apache-2.0 */
/* AXIS_ALIGNED_BBOX_TRANSFORM, BOX_WITH_NMS_LIMIT, GENERATE_PROPOSALS, DETECTION_POSTPROCESSING. */
#include "tests/kit/op.h"
#include "randgraph/single/single.h"

enum { Q16 = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, Q16S = ANEURALNETWORKS_TENSOR_QUANT16_SYMM };

/** The last operand is quantised as coordinates are, if it is quantised. */
static void eighths(struct use *u) {
    if (nnv_is_quant(u->operands[u->model.main.noperands - 1].type)) use_quant(u, 0.125, 0);
}

/* -------------------------------------------------- AXIS_ALIGNED_BBOX_TRANSFORM */

#define LN2 0.693147180559945

/** Two regions, images of 45 by 100 and 200 by 200 (height, width). */
static struct use *transform(int32_t type, int32_t deltas_type, const double *regions, const double *deltas,
                             const double *batch) {
    struct use *u = use_new(ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM);
    bool quant = nnv_is_quant(type);
    use_in(u, type, D(2, 4), regions);
    eighths(u);
    use_in(u, deltas_type, D(2, 8), deltas);
    if (quant) use_quant(u, 0.05, deltas_type == Q8 ? 128 : -3);
    use_in(u, I32, D(2), batch);
    use_in(u, type, D(2, 2), quant ? V(360, 800, 1600, 1600) : V(45, 100, 200, 200));
    eighths(u);
    use_out(u, type);
    eighths(u);
    return u;
}

static void transforms(void **state) {
    (void)state;
    const double *regions = V(10, 20, 30, 60, 10, 20, 30, 60);
    /* centre (20, 40), size (20, 40): to (30, 30), (40, 40); then up and left */
    const double *deltas = V(0.5, -0.25, LN2, 0, 0, 0, 0, 0, 0.5, -0.25, LN2, LN2, -1, 1, 0, -LN2);
    const double *boxes = V(10, 10, 50, 45, 10, 20, 30, 45, 10, 0, 50, 70, 0, 70, 10, 90);
    struct use *u = transform(F32, F32, regions, deltas, V(0, 1));
    use_expect(u, 0, D(2, 8), boxes, 1e-5);
    assert_int_equal(u->level, 3);
    assert_true(use_spread(u, 0) > 0 && use_spread(u, 0) < 4e-5);
    use_free(u);
    u = transform(F16, F16, regions, deltas, V(0, 1));
    use_expect(u, 0, D(2, 8), boxes, 0.04);
    use_free(u);
    const double *codes = V(80, 160, 240, 480, 80, 160, 240, 480);
    /* dy = -1; nothing; dx = 0.5, dy = -0.25; -6.4 of all but dw: out of the image */
    u = transform(Q16, Q8, codes, V(128, 108, 128, 128, 128, 128, 128, 128, 138, 123, 128, 128, 0, 0, 128, 0), V(0, 1));

    use_expect(u, 0, D(2, 8), V(80, 0, 240, 160, 80, 160, 240, 360, 160, 80, 320, 400, 0, 0, 0, 0), 0);
    use_free(u);
    u = transform(Q16, Q8S, codes, V(-3, -23, -3, -3, -3, -3, -3, -3, 7, -8, -3, -3, -3, -3, -3, -3), V(0, 1));
    use_expect(u, 0, D(2, 8), V(80, 0, 240, 160, 80, 160, 240, 360, 160, 80, 320, 400, 80, 160, 240, 480), 0);
    assert_int_equal(u->level, 4);
    use_free(u);
}

static void transform_refusals(void **state) {
    (void)state;
    static const double deltas[16];
    const double *regions = V(10, 20, 30, 60, 10, 20, 30, 60);
    struct use *u = transform(F32, F32, regions, deltas, V(0, 2));
    use_refuse(u, "region 1: batch index 2 is not in [0, 2)");
    use_free(u);
    u = transform(F32, F32, regions, deltas, V(-1, 0));
    use_refuse(u, "region 0: batch index -1");
    use_free(u);
    u = transform(F32, F32, V(10, 20, 9, 60, 10, 20, 30, 60), deltas, V(0, 1));
    use_refuse(u, "region 0: (10, 20) does not lie before (9, 60)");
    use_free(u);
    u = transform(F32, F32, V(10, 20, 30, 60, 10, 20, 30, 19), deltas, V(0, 1));
    use_refuse(u, "region 1");
    use_free(u);
    u = transform(Q16, Q8, regions, deltas, V(0, 1));
    u->operands[0].scale = 0.25f;
    use_refuse(u, "input 0 (regions): scale 0.25, expected 0.125");
    use_free(u);
    u = transform(F32, F32, regions, deltas, V(0, 1));
    u->values[1].dims[0] = u->operands[1].dims[0] = 4;
    u->values[1].dims[1] = u->operands[1].dims[1] = 4;
    use_refuse(u, "deltas: extent 0 is 4, but the other inputs make it 2");
    use_free(u);
    u = transform(F32, F32, regions, deltas, V(0, 1));
    u->operands[1].dims[1] = 6;
    use_refuse(u, "6 deltas of a region are not a multiple of 4");
    use_free(u);
}

static void transform_of_nothing(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM);
    use_in(u, F32, D(0, 4), V(0));
    use_in(u, F32, D(0, 8), V(0));
    use_in(u, I32, D(0), V(0));
    use_in(u, F32, D(1, 2), V(10, 10));
    use_out(u, F32);
    use_expect(u, 0, D(0, 8), V(0), 0);
    use_free(u);
}

/* ----------------------------------------------------------- BOX_WITH_NMS_LIMIT */

enum { HARD, LINEAR, GAUSSIAN };

/** A call; boxes: [n, classes * 4]. Thresholds: 0.2 for scores, sigma 0.5, 0.1 for decayed scores. */
static struct use *limit(int32_t type, uint32_t n, uint32_t classes, const double *scores, const double *boxes,
                         const double *batch, int most, int kernel, double iou_threshold) {
    struct use *u = use_new(ANEURALNETWORKS_BOX_WITH_NMS_LIMIT);
    bool quant = nnv_is_quant(type);
    int32_t box_type = quant ? Q16 : type, number = type == F16 ? HALF : FLT;
    use_in(u, type, D(n, classes), scores);
    if (quant) use_quant(u, 0.01, type == Q8 ? 10 : -100);
    use_in(u, box_type, D(n, 4 * classes), boxes);
    eighths(u);
    use_in(u, I32, D(n), batch);
    use_scalar(u, number, 0.2);
    use_scalar(u, INT, most);
    use_scalar(u, INT, kernel);
    use_scalar(u, number, iou_threshold);
    use_scalar(u, number, 0.5);
    use_scalar(u, number, 0.1);
    use_out(u, type);
    if (quant) use_quant(u, 0.01, type == Q8 ? 10 : -100);
    use_out(u, box_type);
    eighths(u);
    use_out(u, I32);
    use_out(u, I32);
    return u;
}

static void expect_limit(struct use *u, uint32_t n, const double *scores, const double *boxes, const double *classes,
                         const double *batch, double tolerance) {
    use_expect(u, 0, D(n), scores, tolerance);
    use_expect(u, 1, D(n, 4), boxes, 0);
    use_expect(u, 2, D(n), classes, 0);
    use_expect(u, 3, D(n), batch, 0);
    use_free(u);
}

/* A, B: overlap of 90/110 with A; C: of 50/150 with A, 45/155 with B; D: away. Class 0 is the background. */
#define A_ 0, 0, 10, 10
#define B_ 1, 0, 11, 10
#define C_ 0, 5, 10, 15
#define D_ 50, 50, 60, 60
static const double four_boxes[] = {A_, A_, B_, B_, C_, C_, D_, D_};
static const double four_scores[] = {0.99, 0.9, 0.98, 0.8, 0.97, 0.7, 0.96, 0.15};

static void nms_kernels(void **state) {
    (void)state;
    const double *none = V(0, 0, 0, 0), *ones = V(1, 1, 1);
    expect_limit(limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.5), 2, V(0.9, 0.7), V(A_, C_), ones, none,
                 1e-7);
    expect_limit(limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.25), 1, V(0.9), V(A_), ones, none, 1e-7);
    expect_limit(limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.9), 3, V(0.9, 0.8, 0.7), V(A_, B_, C_),
                 ones, none, 1e-7);
    expect_limit(limit(F32, 4, 2, four_scores, four_boxes, none, -1, LINEAR, 0.3), 3, V(0.9, 0.7 * 2 / 3, 0.8 * 2 / 11),
                 V(A_, C_, B_), ones, none, 1e-7);
    const double *decayed = V(0.9, 0.5605161, 0.1771846);
    expect_limit(limit(F32, 4, 2, four_scores, four_boxes, none, -1, GAUSSIAN, 0.3), 3, decayed, V(A_, C_, B_), ones,
                 none, 1e-6);
    expect_limit(limit(F16, 4, 2, four_scores, four_boxes, none, -1, GAUSSIAN, 0.3), 3, decayed, V(A_, C_, B_), ones,
                 none, 1e-3);
    struct use *u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.5);
    assert_true(use_spread(u, 0) == 0 && use_spread(u, 1) == 0); /* copies */
    assert_false(u->results[0].open);
    assert_int_equal(u->level, 3);
    use_free(u);
    u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, GAUSSIAN, 0.5);
    assert_true(use_spread(u, 0) > 0 && use_spread(u, 0) < 2e-6 && use_spread(u, 1) == 0);
    use_free(u);
}

static void nms_quantised(void **state) {
    (void)state;
    double codes[32];
    for (int i = 0; i < 32; i++) codes[i] = four_boxes[i] * 8;
    const double *none = V(0, 0, 0, 0), *ones = V(1, 1, 1), *ac = V(0, 0, 80, 80, 0, 40, 80, 120);
    const double *scores = V(109, 100, 108, 90, 107, 80, 106, 25), *s = V(-1, -10, -2, -20, -3, -30, -4, -85);
    expect_limit(limit(Q8, 4, 2, scores, codes, none, -1, HARD, 0.5), 2, V(100, 80), ac, ones, none, 0);
    struct use *u = limit(Q8S, 4, 2, s, codes, none, 2, LINEAR, 0.3); /* 0.4667 is 46.67 units */
    expect_limit(u, 2, V(-10, -53), ac, ones, none, 0);
    u = limit(Q8S, 4, 2, s, codes, none, -1, HARD, 0.5);
    if (use_run(u)) fail_msg("%s", u->err.text);
    assert_int_equal(u->level, 4);
    use_free(u);
}

static void nms_limits(void **state) {
    (void)state;
    /* three regions apart, classes 1 and 2; the region without a score above the threshold is not one */
    const double *boxes = V(A_, A_, D_, A_, D_, A_, A_, C_, C_), *none = V(0, 0, 0);
    const double *scores = V(0, 0.5, 0.9, 0, 0.4, 0.1, 0, 0.3, 0.6);
    expect_limit(limit(F32, 3, 3, scores, boxes, none, -1, HARD, 0.2), 4, V(0.5, 0.4, 0.9, 0.6), V(A_, D_, D_, C_),
                 V(1, 1, 2, 2), V(0, 0, 0, 0), 1e-7);
    expect_limit(limit(F32, 3, 3, scores, boxes, none, 3, HARD, 0.2), 3, V(0.5, 0.9, 0.6), V(A_, D_, C_), V(1, 2, 2),
                 none, 1e-7);
    expect_limit(limit(F32, 3, 3, scores, boxes, none, 2, HARD, 0.2), 2, V(0.9, 0.6), V(D_, C_), V(2, 2), none, 1e-7);
    expect_limit(limit(F32, 3, 3, scores, boxes, none, 0, HARD, 0.2), 0, V(0), V(0), V(0), V(0), 0);
    /* the number of boxes taken is limited for each class first */
    const double *same = V(A_, A_, C_, C_, D_, D_), *falling = V(0, 0.3, 0, 0.9, 0, 0.6);
    expect_limit(limit(F32, 3, 2, falling, same, none, 1, HARD, 0.9), 1, V(0.9), V(C_), V(1), none, 1e-7);
}

static void nms_images(void **state) {
    (void)state;
    /* equal boxes: in different images they do not meet; images stay in order, whatever their numbers */
    const double *boxes = V(A_, A_, A_, A_, A_, A_, A_, A_), *scores = V(0, 0.5, 0, 0.6, 0, 0.9, 0, 0.8);
    expect_limit(limit(F32, 4, 2, scores, boxes, V(3, 3, 1, 1), -1, HARD, 0.5), 2, V(0.6, 0.9), V(A_, A_), V(1, 1),
                 V(3, 1), 1e-7);
    expect_limit(limit(F32, 4, 2, scores, boxes, V(0, 1, 2, 3), 1, LINEAR, 0.5), 4, V(0.5, 0.6, 0.9, 0.8),
                 V(A_, A_, A_, A_), V(1, 1, 1, 1), V(0, 1, 2, 3), 1e-7);
    expect_limit(limit(F32, 0, 2, V(0), V(0), V(0), -1, HARD, 0.5), 0, V(0), V(0), V(0), V(0), 0);
}

static void nms_refusals(void **state) {
    (void)state;
    const double *none = V(0, 0, 0, 0);
    struct use *u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, 3, 0.5);
    use_refuse(u, "kernel 3 is none of 0 (hard), 1 (linear), 2 (gaussian)");
    use_free(u);
    u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, GAUSSIAN, 0.5);
    memset((void *)(uintptr_t)u->operands[7].data, 0, 4);
    use_refuse(u, "sigma 0 is not above 0");
    use_free(u);
    u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.5);
    u->operands[1].dims[1] = u->values[1].dims[1] = 4;
    use_refuse(u, "boxes: extent 1 is 4, but the other inputs make it 8");
    use_free(u);
    u = limit(F32, 4, 2, four_scores, four_boxes, none, -1, HARD, 0.5); /* two results */
    struct nnv_operand *o = &u->operands[u->out[0]];
    o->rank = 1;
    o->dims = NNV_NEW(u->arena, uint32_t, 1);
    o->dims[0] = 3;
    use_refuse(u, "output 0: its shape is [2] but the model declares [3]");
    o->dims[0] = 2;
    use_expect(u, 0, D(2), V(0.9, 0.7), 1e-7);
    use_free(u);
}

/* --------------------------------------------------------------- open decisions */

/** Evaluates alternative `key`; gives the extent of output 0. */
static uint32_t alternative(struct use *u, uint64_t key) {
    struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 1, .alternative = key};
    if (nnv_eval(&u->model, u->values, &options, u->arena, u->results, &u->err)) fail_msg("%s", u->err.text);
    return u->results[0].value.dims[0];
}

static void equal_scores_are_open(void **state) {
    (void)state;
    const double *scores = V(0, 0.9, 0, 0.9, 0, 0.5), *boxes = V(A_, A_, B_, B_, D_, D_), *none = V(0, 0, 0);
    struct use *u = limit(F32, 3, 2, scores, boxes, none, -1, HARD, 0.5);
    use_expect(u, 1, D(2, 4), V(A_, D_), 0); /* the golden result takes the first */
    bool first = false, second = false;
    for (uint64_t key = 1; key <= 32; key++) {
        assert_int_equal(alternative(u, key), 2);
        assert_true(u->results[0].open);
        const float *box = u->results[1].value.data;
        first |= box[0] == 0;
        second |= box[0] == 1;
        assert_true(box[4] == 50);
    }
    assert_true(first && second);
    use_free(u);
    u = limit(F32, 3, 2, V(0, 0.9, 0, 0.90001, 0, 0.5), boxes, none, -1, HARD, 0.5);
    use_expect(u, 1, D(2, 4), V(B_, D_), 0);
    for (uint64_t key = 1; key <= 32; key++) {
        alternative(u, key);
        assert_false(u->results[0].open);
        assert_true(*(const float *)u->results[1].value.data == 1);
    }
    use_free(u);
}

static void overlaps_at_the_threshold_are_open(void **state) {
    (void)state;
    const double *scores = V(0, 0.9, 0, 0.8), *boxes = V(0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 1, 1);
    bool one = false, two = false;
    for (int kernel = HARD; kernel <= LINEAR; kernel++) {
        struct use *u = limit(F32, 2, 2, scores, boxes, V(0, 0), -1, kernel, 0.5);
        use_expect(u, 0, D(kernel == HARD ? 1u : 2u), V(0.9, 0.4), 1e-7); /* an overlap of 1/2 is one */
        for (uint64_t key = 1; key <= 32; key++) {
            uint32_t n = alternative(u, key);
            const float *score = u->results[0].value.data;
            one |= n == 1;
            two |= n == 2 && score[1] > 0.79f;
            if (n == 2 && kernel == LINEAR) assert_true(score[1] > 0.79f || fabs((double)score[1] - 0.4) < 1e-6);
            if (n == 2 && kernel == HARD) assert_true(score[1] > 0.79f);
        }
        use_free(u);
        u = limit(F32, 2, 2, scores, boxes, V(0, 0), -1, kernel, 0.499);
        use_expect(u, 0, D(kernel == HARD ? 1u : 2u), V(0.9, 0.4), 1e-7);
        alternative(u, 1);
        assert_false(u->results[0].open);
        use_free(u);
    }
    assert_true(one && two);
}

/* The scores, in the number that NMS finds, multiplied with themselves. */
static void results_flow_on(void **state) {
    (void)state;
    struct use *u = limit(F32, 4, 2, four_scores, four_boxes, V(0, 0, 0, 0), -1, GAUSSIAN, 0.5);
    uint32_t scores = u->out[0], unknown = 0;
    u->operands[scores].lifetime = NNV_TEMPORARY_VARIABLE;
    u->operands[scores].rank = 1;
    u->operands[scores].dims = &unknown;
    use_scalar(u, INT, 0);
    uint32_t act = u->in[--u->op.nin], square = u->model.main.noperands;
    use_operand(u, F32, 0, NULL)->lifetime = NNV_SUBGRAPH_OUTPUT;
    uint32_t in[] = {scores, scores, act}, out[] = {square, u->out[1], u->out[2], u->out[3]};
    struct nnv_operation both[] = {u->op, {.type = ANEURALNETWORKS_MUL, .nin = 3, .nout = 1, .in = in, .out = out}};
    const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 1};
    struct nnv_subgraph *s = &u->model.main;
    s->operands = u->operands;
    s->operations = both;
    s->noperations = 2;
    s->in = u->model_in;
    s->out = out;
    s->nout = 4;
    if (nnv_validate(&u->model, u->arena, &u->level, &u->err) ||
        nnv_eval(&u->model, u->values, &options, u->arena, u->results, &u->err))
        fail_msg("%s", u->err.text);
    const float *y = u->results[0].value.data;
    assert_int_equal(u->results[0].value.rank, 1);
    assert_int_equal(u->results[0].value.dims[0], 3);
    assert_true(fabs((double)y[0] - 0.81) < 1e-6 && fabs((double)y[1] - 0.5605162 * 0.5605162) < 1e-6);
    assert_true(u->results[0].spread[1] > 0 && u->results[0].spread[1] < 1e-6);
    use_free(u);
}

/* ----------------------------------------------------------- GENERATE_PROPOSALS */

/** Height 1, width 2; strides 7 and 5; least size and the rest as given. */
static struct use *propose(int32_t type, uint32_t images, uint32_t anchors, const double *scores, const double *deltas,
                           const double *boxes, const double *sizes, bool nchw) {
    struct use *u = use_new(ANEURALNETWORKS_GENERATE_PROPOSALS);
    bool quant = nnv_is_quant(type);
    int32_t zero = type == Q8 ? 100 : -20;
    if (nchw)
        use_in(u, type, D(images, anchors, 1, 2), scores);
    else
        use_in(u, type, D(images, 1, 2, anchors), scores);
    if (quant) use_quant(u, 0.01, zero);
    if (nchw)
        use_in(u, type, D(images, 4 * anchors, 1, 2), deltas);
    else
        use_in(u, type, D(images, 1, 2, 4 * anchors), deltas);
    if (quant) use_quant(u, 0.05, zero);
    use_in(u, quant ? Q16S : type, D(anchors, 4), boxes);
    eighths(u);
    use_in(u, quant ? Q16 : type, D(images, 2), sizes);
    eighths(u);
    return u;
}

static void propose_rest(struct use *u, int before, int after, double iou_threshold, double least, bool nchw) {
    int32_t type = u->operands[0].type, number = type == F16 ? HALF : FLT;
    use_scalar(u, number, 7);
    use_scalar(u, number, 5);
    use_scalar(u, INT, before);
    use_scalar(u, INT, after);
    use_scalar(u, number, iou_threshold);
    use_scalar(u, number, least);
    use_scalar(u, BOOL, nchw);
    use_out(u, type);
    if (nnv_is_quant(type)) use_quant(u, (double)u->operands[0].scale, u->operands[0].zero_point);
    use_out(u, nnv_is_quant(type) ? Q16 : type);
    eighths(u);
    use_out(u, I32);
}

static void expect_proposals(struct use *u, uint32_t n, const double *scores, const double *boxes, const double *batch,
                             double tolerance) {
    use_expect(u, 0, D(n), scores, 1e-3);
    use_expect(u, 1, D(n, 4), boxes, tolerance);
    use_expect(u, 2, D(n), batch, 0);
    use_free(u);
}

/* One anchor at two places, the second clipped at x = 12: areas 100 and 70, overlap 50/120. */
static void expect_one(int before, int after, double iou_threshold, double least, uint32_t n, const double *scores,
                       const double *boxes) {
    static const double zero[8];
    struct use *u = propose(F32, 1, 1, V(0.6, 0.9), zero, V(0, 0, 10, 10), V(20, 12), false);
    propose_rest(u, before, after, iou_threshold, least, false);
    expect_proposals(u, n, scores, boxes, V(0, 0), 1e-5);
}

static void proposals(void **state) {
    (void)state;
    expect_one(-1, -1, 0.42, 1, 2, V(0.9, 0.6), V(5, 0, 12, 10, 0, 0, 10, 10));
    expect_one(0, 5, 0.41, 1, 1, V(0.9), V(5, 0, 12, 10));     /* suppressed */
    expect_one(1, -1, 0.42, 1, 1, V(0.9), V(5, 0, 12, 10));    /* before */
    expect_one(-1, 1, 0.42, 1, 1, V(0.9), V(5, 0, 12, 10));    /* after */
    expect_one(-1, 0, 0.42, 1, 0, V(0), V(0));                 /* none */
    expect_one(-1, -1, 0.41, 7.5, 1, V(0.6), V(0, 0, 10, 10)); /* a width of 7 is too small, and suppresses nothing */
    expect_one(1, -1, 0.41, 7.5, 0, V(0), V(0));               /* what is too small has taken a place before NMS */
}

static void proposals_layouts(void **state) {
    (void)state;
    /* two anchors, two images; deltas of anchor 1 at place 0 of image 0: dx = 0.5, dh = ln 2 */
    const double *anchors = V(0, 0, 4, 4, 0, 0, 2, 10), *sizes = V(30, 30, 8, 30);
    double deltas[32] = {0}, planes[32] = {0};
    deltas[4] = 0.5;
    deltas[7] = LN2;
    planes[4 * 2] = 0.5; /* channel 4, place 0 */
    planes[7 * 2] = LN2;
    const double *scores = V(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8);
    const double *in_planes = V(0.1, 0.3, 0.2, 0.4, 0.5, 0.7, 0.6, 0.8);
    const double *found = V(0.4, 0.3, 0.2, 0.1, 0.8, 0.7, 0.6, 0.5), *batch = V(0, 0, 0, 0, 1, 1, 1, 1);
    const double *boxes = V(5, 0, 7, 10, 5, 0, 9, 4, 1, 0, 3, 15, 0, 0, 4, 4, /* image 0 */
                            5, 0, 7, 8, 5, 0, 9, 4, 0, 0, 2, 8, 0, 0, 4, 4);
    struct use *u = propose(F32, 2, 2, scores, deltas, anchors, sizes, false);
    propose_rest(u, -1, -1, 0.9, 1, false);
    expect_proposals(u, 8, found, boxes, batch, 1e-5);
    u = propose(F32, 2, 2, in_planes, planes, anchors, sizes, true);
    propose_rest(u, -1, -1, 0.9, 1, true);
    expect_proposals(u, 8, found, boxes, batch, 1e-5);
    u = propose(F16, 2, 2, in_planes, planes, anchors, sizes, true);
    propose_rest(u, -1, -1, 0.9, 1, true);
    expect_proposals(u, 8, found, boxes, batch, 0.02);
}

static void proposals_quantised(void **state) {
    (void)state;
    for (int sign = 0; sign < 2; sign++) {
        double z = sign ? -20 : 100;
        double deltas[8] = {z + 10, z, z, z, z, z - 10, z, z}; /* dx = 0.5; dy = -0.5 */
        struct use *u = propose(sign ? Q8S : Q8, 1, 1, V(z + 60, z + 90), deltas, V(0, 0, 80, 80), V(160, 96), false);
        propose_rest(u, -1, -1, 0.9, 1, false);
        use_expect(u, 0, D(2), V(z + 90, z + 60), 0);
        use_expect(u, 1, D(2, 4), V(40, 0, 96, 40, 40, 0, 96, 80), 0);
        assert_int_equal(u->level, sign ? 4 : 3);
        use_free(u);
    }
}

static void proposals_refusals(void **state) {
    (void)state;
    static const double zero[16];
    /* two places of one anchor: scores (1, 1, 2, 1), deltas (1, 1, 2, 4), anchors (1, 4), sizes of images (1, 2) */
    static const uint32_t wrong[][3] = {{1, 0, 2}, {1, 1, 2}, {1, 2, 1}, {1, 3, 3}, {2, 0, 2},
                                        {2, 1, 3}, {3, 0, 2}, {3, 1, 1}, {3, 1, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint32_t *w = wrong[i];
        struct use *its = propose(F32, 1, 1, V(0.6, 0.9), zero, V(0, 0, 10, 10), V(20, 12), false);
        its->operands[w[0]].dims[w[1]] = its->values[w[0]].dims[w[1]] = w[2];
        propose_rest(its, -1, -1, 0.5, 1, false);
        use_refuse(its, "extent");
        use_free(its);
    }
    struct use *u = propose(F32, 1, 1, V(0.6, 0.9), zero, V(0, 0, 10, 10), V(20, 12), false);
    propose_rest(u, -1, -1, 0.5, 1, true); /* the layout of another one */
    use_refuse(u, "extent");
    use_free(u);
    u = propose(F32, 1, 1, V(0.6, 0.9), zero, V(0, 0, 10, 10), V(20, 12), false);
    propose_rest(u, -1, -1, -0.5, 1, false);
    use_refuse(u, "input 8 (IoU threshold): -0.5 is negative");
    use_free(u);
    u = propose(Q8, 1, 1, V(160, 190), zero, V(0, 0, 80, 80), V(160, 96), false);
    u->operands[2].scale = 1;
    propose_rest(u, -1, -1, 0.5, 1, false);
    use_refuse(u, "input 2 (anchors): scale 1, expected 0.125");
    use_free(u);
}

/* ------------------------------------------------------ DETECTION_POSTPROCESSING */

struct detection {
    bool regular, background;
    int most, most_classes, most_of_class;
    uint32_t deltas;
};

/** Scales of 10, 10, 5, 5; a threshold of 0.2 for scores, 0.5 for overlaps; three anchors, three classes. */
static struct use *detect(int32_t type, const double *scores, const double *deltas, const struct detection *d) {
    struct use *u = use_new(ANEURALNETWORKS_DETECTION_POSTPROCESSING);
    int32_t number = type == F16 ? HALF : FLT;
    use_in(u, type, D(1, 3, 3), scores);
    use_in(u, type, D(1, 3, d->deltas), deltas);
    /* boxes (y1, x1, y2, x2) of (0,0,10,10), (0,1,10,11), (20,25,40,35) */
    use_in(u, type, D(3, 4), V(5, 5, 10, 10, 5, 6, 10, 10, 30, 30, 20, 10));
    for (int i = 0; i < 4; i++) use_scalar(u, number, i < 2 ? 10 : 5);
    use_scalar(u, BOOL, d->regular);
    use_scalar(u, INT, d->most);
    use_scalar(u, INT, d->most_classes);
    use_scalar(u, INT, d->most_of_class);
    use_scalar(u, number, 0.2);
    use_scalar(u, number, 0.5);
    use_scalar(u, BOOL, d->background);
    use_out(u, type);
    use_out(u, type);
    use_out(u, I32);
    use_out(u, I32);
    return u;
}

#define DET_A 0, 0, 10, 10
#define DET_B 0, 1, 10, 11
#define DET_C 20, 25, 40, 35
#define NOTHING 0, 0, 0, 0
static const double three_scores[] = {0, 0.9, 0.1, 0, 0.8, 0.75, 0.99, 0.3, 0.6};

static void expect_detections(struct use *u, uint32_t n, const double *scores, const double *boxes,
                              const double *classes, double count, double tolerance) {
    use_expect(u, 0, D(1, n), scores, tolerance);
    use_expect(u, 1, D(1, n, 4), boxes, tolerance * 10);
    use_expect(u, 2, D(1, n), classes, 0);
    use_expect(u, 3, D(1), V(count), 0);
    use_free(u);
}

static void regular_detections(void **state) {
    (void)state;
    static const double none[12];
    /* class 1: A suppresses B, C; class 2: B, C */
    const struct detection d = {.regular = true, .most = 6, .most_classes = 1, .most_of_class = 2, .deltas = 4};
    expect_detections(detect(F32, three_scores, none, &d), 6, V(0.9, 0.75, 0.6, 0.3, 0, 0),
                      V(DET_A, DET_B, DET_C, DET_C, NOTHING, NOTHING), V(0, 1, 1, 0, 0, 0), 4, 1e-6);
    expect_detections(detect(F16, three_scores, none, &d), 6, V(0.9, 0.75, 0.6, 0.3, 0, 0),
                      V(DET_A, DET_B, DET_C, DET_C, NOTHING, NOTHING), V(0, 1, 1, 0, 0, 0), 4, 1e-3);
    struct detection e = d;
    e.most = 3;
    e.background = true;
    expect_detections(detect(F32, three_scores, none, &e), 3, V(0.9, 0.75, 0.6), V(DET_A, DET_B, DET_C), V(1, 2, 2), 3,
                      1e-6);
    e.most_of_class = 1;
    expect_detections(detect(F32, three_scores, none, &e), 3, V(0.9, 0.75, 0), V(DET_A, DET_B, NOTHING), V(1, 2, 0), 2,
                      1e-6);
}

static void fast_detections(void **state) {
    (void)state;
    static const double none[12];
    /* A suppresses B by the best classes; the second classes come along, whatever their scores */
    struct detection d = {.most = 2, .most_classes = 2, .most_of_class = 0, .deltas = 4};
    expect_detections(detect(F32, three_scores, none, &d), 4, V(0.9, 0.1, 0.6, 0.3), V(DET_A, DET_A, DET_C, DET_C),
                      V(0, 1, 1, 0), 4, 1e-6);
    d.most_classes = 1;
    d.most = 3;
    expect_detections(detect(F32, three_scores, none, &d), 3, V(0.9, 0.6, 0), V(DET_A, DET_C, NOTHING), V(0, 1, 0), 2,
                      1e-6);
    d.most = 1;
    expect_detections(detect(F32, three_scores, none, &d), 1, V(0.9), V(DET_A), V(0), 1, 1e-6);
}

static void detections_move(void **state) {
    (void)state;
    /* A: dy = 5/10 of 10, dx = -2/10 of 10, h doubled; deltas beyond the fourth are nothing */
    const double *deltas = V(5, -2, 5 * LN2, 0, 99, 0, 0, 0, 0, -99, 0, 0, 0, -5 * LN2, 7);
    const struct detection d = {.regular = true, .most = 2, .most_classes = 1, .most_of_class = 1, .deltas = 5};
    struct use *u = detect(F32, V(0, 0.9, 0.1, 0, 0.1, 0.1, 0, 0.1, 0.6), deltas, &d);
    use_expect(u, 1, D(1, 2, 4), V(0, -2, 20, 8, 20, 27.5, 40, 32.5), 2e-5);
    assert_true(use_spread(u, 1) > 0 && use_spread(u, 1) < 1e-4 && use_spread(u, 0) == 0);
    use_free(u);
}

static void detection_refusals(void **state) {
    (void)state;
    static const double none[12];
    struct detection d = {.regular = true, .most = 2, .most_classes = 1, .most_of_class = 0, .deltas = 4};
    struct use *u = detect(F32, three_scores, none, &d);
    use_refuse(u, "most detections of a class: 0 is not above 0");
    use_free(u);
    d = (struct detection){.most = 2, .most_classes = 0, .most_of_class = 1, .deltas = 4};
    u = detect(F32, three_scores, none, &d);
    use_refuse(u, "most classes of a detection: 0 is not above 0");
    use_free(u);
    d.most_classes = 1;
    d.deltas = 3;
    u = detect(F32, three_scores, none, &d);
    use_refuse(u, "3 deltas of an anchor: at least 4 are needed");
    use_free(u);
    d.deltas = 4;
    d.most = d.most_classes = 100000;
    u = detect(F32, three_scores, none, &d);
    use_refuse(u, "room for 10000000000 detections is too much");
    use_free(u);
    d.most = 0;
    u = detect(F32, three_scores, none, &d);
    use_refuse(u, "input 8 (most detections): 0 is not above 0");
    use_free(u);
}

/* ---------------------------------------------------------------- strange numbers */

/** Runs with and without rows; whatever comes of it, it ends. */
static void survive(struct use *u) {
    for (u->rows = 0; u->rows <= 8; u->rows += 8)
        if (use_run(u) && u->err.text[0] == 0) fail_msg("failed without a reason");
    use_free(u);
}

static void strange_numbers(void **state) {
    (void)state;
    static const struct detection d = {.regular = true, .most = 6, .most_classes = 1, .most_of_class = 2, .deltas = 4};
    struct detection fast = d;
    fast.regular = false;
    for (int n = 0; n < 3; n++) {
        const double x = n == 0 ? (double)NAN : n == 1 ? (double)INFINITY : -3e38, *none = V(0, 0, 0, 0);
        const double *boxes = V(A_, 0, 0, x, 10, B_, x, 5, 10, x, C_, 0, 5, 10, 15, x, x, x, x, x, 50, 60, x);
        for (int kernel = HARD; kernel <= GAUSSIAN; kernel++) {
            survive(limit(F32, 4, 2, V(0, 0.9, 0, x, 0, 0.7, x, 0.6), boxes, none, -1, kernel, 0.5));
            survive(limit(F32, 4, 2, V(x, x, x, x, x, x, x, x), four_boxes, none, 1, kernel, x));
        }
        const double *regions = V(x, 20, 30, 60, 10, 20, 30, 60);
        survive(transform(F32, F32, regions, V(x, 0, x, 0, 0, x, 0, -x, 0, 0, 0, 0, 0, 0, 0, 0), V(0, 1)));
        struct use *u = propose(F32, 1, 1, V(x, 0.9), V(0, x, x, 0, x, 0, 0, x), V(0, x, 10, 10), V(x, 12), false);
        propose_rest(u, -1, 9, 0.5, x, false);
        survive(u);
        survive(detect(F32, V(0, x, 0.1, 0, 0.8, x, x, 0.3, 0.6), V(x, 0, 0, 0, 0, 0, x, 0, 0, 0, 0, x), &d));
        survive(detect(F32, V(0, x, x, 0, x, x, x, x, x), V(x, 0, 0, 0, 0, 0, x, 0, 0, 0, 0, x), &fast));
    }
}

/* ------------------------------------------------------------- generated cases */

/** Case `index` of a variant, float32. */
static struct nnv_spec *generated(int32_t code, int variant, int index, struct nnv_arena *arena) {
    const struct nnv_single what = {
        .op = nnv_op(code), .variant = variant, .index = index, .seed = 7, .name = "generated"};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    assert_int_equal(what.op->sigs[0].type[NNV_T], F32);
    if (nnv_single_build(&what, arena, &spec, &err)) fail_msg("%s", err.text);
    return spec;
}

/** Results, with input `position` (a float scalar) changed. Detections beyond the score are zeros: not counted. */
static uint32_t results_with(const struct nnv_spec *spec, uint32_t position, float value, struct nnv_arena *arena) {
    static const struct nnv_eval_options options = {0};
    struct nnv_subgraph s = spec->model.main;
    struct nnv_model model = {.main = s};
    struct nnv_golden golden[4];
    struct nnv_err err = {0};
    model.main.operands = nnv_arena_copy(arena, s.operands, s.noperands * sizeof *s.operands);
    model.main.operands[position].data = nnv_arena_copy(arena, &value, sizeof value);
    for (uint32_t i = 0; i < s.nout; i++) model.main.operands[s.out[i]].rank = 0; /* another shape may come of it */
    if (nnv_eval(&model, spec->inputs, &options, arena, golden, &err)) fail_msg("%s", err.text);
    uint32_t n = 0;
    for (size_t e = 0; e < golden[0].value.bytes / 4; e++) n += ((const float *)golden[0].value.data)[e] > 0;
    return n;
}

/** In most of 20 cases of each variant without a limit more results come if nothing is an overlap. */
static void generated_boxes_suppress(int32_t code, uint32_t threshold, int least) {
    const struct nnv_op *op = nnv_op(code);
    for (int v = 0; v < nnv_single_variants(op); v++) {
        int suppressed = 0, several = 0;
        for (int i = 0; i < 20; i++) {
            struct nnv_arena *arena = nnv_arena_new();
            const struct nnv_spec *spec = generated(code, v, i, arena);
            float own = *(const float *)spec->model.main.operands[threshold].data;
            uint32_t n = results_with(spec, threshold, own, arena);
            suppressed += results_with(spec, threshold, 10, arena) > n;
            several += n > 1;
            nnv_arena_free(arena);
        }
        if (suppressed < least && !strstr(op->variants[v], "limited") && !strstr(op->variants[v], "background"))
            fail_msg("%s/%s: boxes are suppressed in %d of 20 cases", op->name, op->variants[v], suppressed);
        if (several < 15) fail_msg("%s/%s: several results in %d of 20 cases", op->name, op->variants[v], several);
    }
}

static void generated_cases_say_something(void **state) {
    (void)state;
    generated_boxes_suppress(ANEURALNETWORKS_GENERATE_PROPOSALS, 8, 15);
    generated_boxes_suppress(ANEURALNETWORKS_DETECTION_POSTPROCESSING, 12, 10);
    int clipped = 0, all = 0;
    for (int i = 0; i < 20; i++) {
        struct nnv_arena *arena = nnv_arena_new();
        const struct nnv_spec *spec = generated(ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM, 3, i, arena);
        const float *y = spec->outputs[0].data;
        for (size_t e = 0; e < spec->outputs[0].bytes / 4; e++) clipped += y[e] == 0;
        all += (int)spec->outputs[0].bytes / 4;
        nnv_arena_free(arena);
    }
    assert_true(clipped > all / 10 && clipped < all / 2);
}

/** NMS of the generated cases: hard and linear by the threshold of overlaps, gaussian by sigma. */
static void generated_nms_suppresses(void **state) {
    (void)state;
    const struct nnv_op *op = nnv_op(ANEURALNETWORKS_BOX_WITH_NMS_LIMIT);
    for (int v = 0; v < 3; v++) {
        int changed = 0, classes = 0, images = 0;
        for (int i = 0; i < 20; i++) {
            struct nnv_arena *arena = nnv_arena_new();
            const struct nnv_spec *spec = generated(op->code, v, i, arena);
            size_t n = spec->outputs[0].dims[0];
            const int32_t *class = spec->outputs[2].data, *image = spec->outputs[3].data;
            bool two_classes = false, two_images = false;
            for (size_t e = 1; e < n; e++) {
                two_classes |= class[e] != class[0];
                two_images |= image[e] != image[0];
            }
            classes += two_classes;
            images += two_images;
            uint32_t threshold = v == 2 ? 7 : 6;
            changed += results_with(spec, threshold, v == 2 ? 1e9f : 10, arena) > n;
            nnv_arena_free(arena);
        }
        if (changed < 15 || classes < 8 || images < 12)
            fail_msg("%s: of 20 cases %d suppress, %d have several classes, %d several images", op->variants[v],
                     changed, classes, images);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms),
        cmocka_unit_test(transform_refusals),
        cmocka_unit_test(transform_of_nothing),
        cmocka_unit_test(nms_kernels),
        cmocka_unit_test(nms_quantised),
        cmocka_unit_test(nms_limits),
        cmocka_unit_test(nms_images),
        cmocka_unit_test(nms_refusals),
        cmocka_unit_test(results_flow_on),
        cmocka_unit_test(equal_scores_are_open),
        cmocka_unit_test(overlaps_at_the_threshold_are_open),
        cmocka_unit_test(proposals),
        cmocka_unit_test(proposals_layouts),
        cmocka_unit_test(proposals_quantised),
        cmocka_unit_test(proposals_refusals),
        cmocka_unit_test(regular_detections),
        cmocka_unit_test(fast_detections),
        cmocka_unit_test(detections_move),
        cmocka_unit_test(detection_refusals),
        cmocka_unit_test(strange_numbers),
        cmocka_unit_test(generated_cases_say_something),
        cmocka_unit_test(generated_nms_suppresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
