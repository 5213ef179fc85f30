/* SPDX-License-Identifier: Apache-2.0 */
/** @file axis_aligned_bbox_transform.c AXIS_ALIGNED_BBOX_TRANSFORM. */
#include "reference/ops/detect/box.h"

#include <math.h>

enum { ROI, DELTA, BATCH, IMAGE };

static const struct nnv_slot inputs[] = {
    {.id = ROI, .name = "regions", .var = NNV_T, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    {.id = DELTA, .name = "deltas", .var = NNV_V, .rank_min = 2, .rank_max = 2, .lo = -1, .hi = 1},
    NNV_SLOT_INT_TENSOR(BATCH, "batch index", 1, 0),
    {.id = IMAGE, .name = "image sizes", .var = NNV_T, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
};
static const struct nnv_slot outputs[] = {
    {.name = "boxes", .var = NNV_T, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH}};

#define SIG(LEVEL, BOXES, DELTAS)                                                                                      \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##BOXES, [NNV_V] = ANEURALNETWORKS_TENSOR_##DELTAS }                 \
    }
static const struct nnv_sig sigs[] = {
    SIG(3, FLOAT32, FLOAT32),
    SIG(3, FLOAT16, FLOAT16),
    SIG(3, QUANT16_ASYMM, QUANT8_ASYMM),
    SIG(4, QUANT16_ASYMM, QUANT8_ASYMM_SIGNED),
};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t regions = nnv_dim(&nnv_in(c, ROI)->shape, 0), four = 4, two = 2;
    enum nnv_status st = nnv_extent_agree(c, ROI, 1, &four, err);
    if (!st) st = nnv_extent_agree(c, IMAGE, 1, &two, err);
    if (!st) st = nnv_extent_agree(c, DELTA, 0, &regions, err);
    if (!st) st = nnv_extent_agree(c, BATCH, 0, &regions, err);
    if (st) return st;
    uint32_t deltas = nnv_dim(&nnv_in(c, DELTA)->shape, 1), images = nnv_dim(&nnv_in(c, IMAGE)->shape, 0);
    if (deltas != NNV_DIM_UNKNOWN && (deltas == 0 || deltas % 4 != 0))
        return nnv_fail(err, NNV_INVALID, "%u deltas of a region are not a multiple of 4", deltas);
    if (images == 0) return nnv_fail(err, NNV_INVALID, "there is no image");
    out[0] = nnv_shape_make(2, (uint32_t[]){regions, deltas});
    return NNV_OK;
}

static enum nnv_status check_region(const struct nnv_box *b, double image, uint32_t images, uint32_t r,
                                    struct nnv_err *err) {
    if (!(image >= 0 && image < images))
        return nnv_fail(err, NNV_INVALID, "region %u: batch index %.0f is not in [0, %u)", r, image, images);
    if (b->x1 > b->x2 || b->y1 > b->y2)
        return nnv_fail(err, NNV_INVALID, "region %u: (%.9g, %.9g) does not lie before (%.9g, %.9g)", r, b->x1, b->y1,
                        b->x2, b->y2);
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, DELTA);
    uint32_t images = nnv_in_shape(k, IMAGE)->dims[0];
    const double *d = nnv_real(k, DELTA), *batch = nnv_real(k, BATCH), *size = nnv_real(k, IMAGE);
    double *y = k->out[0];
    if (nnv_is_float(k->call->sig->type[NNV_T])) k->rounding = NNV_ROUND_NONE; /* the last step has its hook */
    for (uint32_t r = 0; r < s->dims[0]; r++) {
        struct nnv_box_move m = {.from = nnv_box_at(k, ROI, r)};
        if (k->row == 0) {
            enum nnv_status st = check_region(&m.from, batch[r], images, r, err);
            if (st) return st;
        }
        size_t image = (size_t)nnv_recall(k, batch[r]);
        bool uncertain = k->noise && !(nnv_spread(k, BATCH, r) == 0);
        m.height = size[2 * image];
        m.width = size[2 * image + 1];
        for (uint32_t c = 0; c < s->dims[1]; c += 4, d += 4, y += 4) {
            m.dx = d[0];
            m.dy = d[1];
            m.dw = d[2];
            m.dh = d[3];
            struct nnv_box b = nnv_box_moved(k, &m, true);
            const double corners[] = {b.x1, b.y1, b.x2, b.y2};
            for (int i = 0; i < 4; i++) y[i] = nnv_hazard(k, corners[i], uncertain);
        }
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static const struct nnv_factor factors[] = {
    {.name = "boxes", NNV_VALUES(5, 1, 17), NNV_SIZES(16, 33, 64, 65, 129, 300), .large = 820},
    {.name = "classes", NNV_VALUES(3, 1, 2, 9), NNV_SIZES(16, 17, 21, 81, 91), .large = 21},
    {.name = "images", NNV_VALUES(1, 2, 4)},
    {.name = "shift", NNV_WORDS("small", "edge")}};

/* "edge": regions at the rim of the image and large shifts, so that most boxes are clipped. */
static const char *const variants[] = {"one_image", "batches", "many_classes", "edge", NULL};

/* Images as small as in tests, as in applications, and as large as the coordinates of 16 bits allow. */
static const int zooms[] = {1, 6, 40};

static void sample(struct nnv_sample *s) {
    const int zoom = zooms[s->index % 3];
    bool edge = nnv_sample_is(s, "edge"), one = nnv_sample_is(s, "one");
    uint32_t n = s->empty ? 0 : nnv_sample_dim(s, 5, 17), images = one ? 1 : (uint32_t)nnv_sample_int(s, 2, 4);
    uint32_t classes = nnv_sample_is(s, "many") ? nnv_sample_dim(s, 9, 17) : (uint32_t)nnv_sample_int(s, 1, 3);
    n = nnv_row_extent(s, "boxes", n);
    images = nnv_row_extent(s, "images", images);
    classes = nnv_row_extent(s, "classes", classes);
    double *sizes = NNV_NEW(s->arena, double, 2 * (size_t)images);
    int32_t *batch = NNV_NEW(s->arena, int32_t, n + 1);
    double height = INFINITY, width = INFINITY;
    for (uint32_t i = 0; sizes && i < images; i++) {
        sizes[2 * i] = zoom * nnv_sample_int(s, 400, 1400) / 8.0;
        sizes[2 * i + 1] = zoom * nnv_sample_int(s, 400, 1400) / 8.0;
        height = fmin(height, sizes[2 * i]);
        width = fmin(width, sizes[2 * i + 1]);
    }
    for (uint32_t r = 0; batch && r < n; r++) batch[r] = nnv_sample_int(s, 0, (int)images - 1);
    nnv_sample_tensor(s, ROI, 2, (uint32_t[]){n, 4})->reals = nnv_sample_boxes(s, n, width, height, 1, 0.02);
    struct nnv_sample_arg *d = nnv_sample_tensor(s, DELTA, 2, (uint32_t[]){n, 4 * classes});
    d->hi = edge ? 2 : 0.75;
    d->lo = -d->hi;
    nnv_sample_ints(s, BATCH, n, batch);
    s->arg[BATCH].input = true;
    nnv_sample_tensor(s, IMAGE, 2, (uint32_t[]){images, 2})->reals = sizes;
}

const struct nnv_op nnv_op_AXIS_ALIGNED_BBOX_TRANSFORM = {
    NNV_OP_NAMED(AXIS_ALIGNED_BBOX_TRANSFORM),
    .level = 3,
    .formula = "w = x2 - x1, h = y2 - y1, centre' = centre + (dx w, dy h), w' = w e^dw, h' = h e^dh; the corners "
               "centre' -+ (w', h') / 2, clipped to the image, whose size is (height, width)",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
