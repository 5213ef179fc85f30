/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/detect/roi.h"

const struct nnv_sig nnv_roi_sigs[NNV_ROI_SIGS] = {
    {3,
     {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32,
      [NNV_V] = ANEURALNETWORKS_TENSOR_FLOAT32,
      [NNV_S] = ANEURALNETWORKS_FLOAT32}},
    {3,
     {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16,
      [NNV_V] = ANEURALNETWORKS_TENSOR_FLOAT16,
      [NNV_S] = ANEURALNETWORKS_FLOAT16}},
    {3,
     {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
      [NNV_V] = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM,
      [NNV_S] = ANEURALNETWORKS_FLOAT32}},
    {4,
     {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED,
      [NNV_V] = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM,
      [NNV_S] = ANEURALNETWORKS_FLOAT32}},
};

enum nnv_status nnv_roi_check(const struct nnv_call *c, struct nnv_err *err) {
    uint32_t coordinates = 4, boxes = nnv_dim(&nnv_in(c, NNV_ROI_BOXES)->shape, 0);
    enum nnv_status st = nnv_extent_agree(c, NNV_ROI_BOXES, 1, &coordinates, err);
    return st ? st : nnv_extent_agree(c, NNV_ROI_BATCH, 0, &boxes, err);
}

enum nnv_status nnv_roi_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    struct nnv_shape s = nnv_shape_of_rank(4);
    s.dims[0] =
        nnv_dim_merge(nnv_dim(&nnv_in(c, NNV_ROI_BOXES)->shape, 0), nnv_dim(&nnv_in(c, NNV_ROI_BATCH)->shape, 0));
    if (nnv_known(c, NNV_ROI_NCHW)) {
        bool nchw = nnv_int(c, NNV_ROI_NCHW) != 0;
        uint32_t depth = nchw ? 1 : 3, h = nchw ? 2 : 1;
        s.dims[depth] = nnv_dim(&nnv_in(c, NNV_ROI_INPUT)->shape, depth);
        if (nnv_known(c, NNV_ROI_HEIGHT)) s.dims[h] = (uint32_t)nnv_int(c, NNV_ROI_HEIGHT);
        if (nnv_known(c, NNV_ROI_WIDTH)) s.dims[h + 1] = (uint32_t)nnv_int(c, NNV_ROI_WIDTH);
    }
    out[0] = s;
    return NNV_OK;
}

/* -------------------------------------------------------------------- boxes */

double nnv_roi_unit(const struct nnv_kernel *k) { return k->u_i > 0x1p-24 ? k->u_i : 0x1p-24; }

double nnv_roi_rounded(const struct nnv_kernel *k, double v) {
    bool half = nnv_roi_unit(k) > 0x1p-24;
    return nnv_round_to(half ? ANEURALNETWORKS_TENSOR_FLOAT16 : ANEURALNETWORKS_TENSOR_FLOAT32, v);
}

static bool is_power_of_two(double v) {
    int exponent;
    return frexp(v, &exponent) == 0.5;
}

/* A coordinate in pixels of the image as one of the feature map: a quotient, wrong by up to 1.5 units. */
static double divide(struct nnv_kernel *k, double v, double ratio) {
    double q = v / ratio;
    return k->noise ? nnv_noise_add(k, q, is_power_of_two(ratio) ? 0 : 3 * nnv_roi_unit(k) * fabs(q)) : q;
}

/* Whether the span lies in an extent of the feature map, but for the rounding of the division. */
static bool lies_in(const struct nnv_span *s, uint32_t extent, double unit) {
    return s->start >= 0 && s->start <= s->end && s->end <= extent * (1 + 4 * unit);
}

enum nnv_status nnv_roi_box(struct nnv_kernel *k, size_t i, struct nnv_roi *roi, struct nnv_err *err) {
    const double *b = nnv_real(k, NNV_ROI_BOXES) + 4 * i, image = nnv_real(k, NNV_ROI_BATCH)[i];
    double h = nnv_num(k->call, NNV_ROI_HEIGHT_RATIO), w = nnv_num(k->call, NNV_ROI_WIDTH_RATIO);
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, NNV_ROI_INPUT), nnv_int(k->call, NNV_ROI_NCHW) != 0);
    bool has_image = image >= 0 && image < x.n;
    if (!has_image && k->row == 0)
        return nnv_fail(err, NNV_INVALID, "box %zu: batch index %.0f is not one of the %u images", i, image, x.n);
    struct nnv_span across = {divide(k, b[0], w), divide(k, b[2], w), is_power_of_two(w)};
    struct nnv_span down = {divide(k, b[1], h), divide(k, b[3], h), is_power_of_two(h)};
    if (k->row == 0 && !(lies_in(&across, x.w, nnv_roi_unit(k)) && lies_in(&down, x.h, nnv_roi_unit(k))))
        return nnv_fail(err, NNV_INVALID,
                        "box %zu: [%g, %g, %g, %g], divided by the ratios, is not ordered or not in an image of height "
                        "%u and width %u",
                        i, b[0], b[1], b[2], b[3], x.h, x.w);
    *roi = (struct nnv_roi){has_image ? (uint32_t)image : 0, down, across};
    return NNV_OK;
}

/* ------------------------------------------------------------------- samples */

/* A span in eighths of a pixel within the extent, half a pixel from its end. */
static void span(struct nnv_sample *s, uint32_t extent, double ratio, double *start, double *end) {
    int most = (int)extent * 8 - 4, a = nnv_sample_int(s, 0, most), b = nnv_sample_int(s, 0, most);
    if (nnv_sample_int(s, 0, 3) == 0) b = a + nnv_sample_int(s, 0, most - a < 6 ? most - a : 6); /* below a pixel */
    *start = (a < b ? a : b) * ratio / 8;
    *end = (a < b ? b : a) * ratio / 8;
}

void nnv_roi_sample(struct nnv_sample *s) {
    static const double ratios[][2] = {{1, 1}, {2, 4}, {4, 0.5}, {1.75, 2}, {0.5, 1}, {2, 3}};
    static const int extents[] = {1, 2, 3, 4, 5, 7};
    bool nchw = nnv_sample_is(s, "nchw");
    const double *ratio = ratios[(s->index + 2 * s->variant) % 6];
    uint32_t dims[4], images = (uint32_t)nnv_sample_int(s, 1, 3), h = nnv_sample_dim(s, 4, 13),
                      w = nnv_sample_dim(s, 4, 13), n = s->empty ? 0 : (uint32_t)nnv_sample_int(s, 2, 5);
    if (w == h) w++;
    nnv_sample_image(dims, images, h, w, nnv_sample_dim(s, 1, 5), nchw);
    nnv_sample_tensor(s, NNV_ROI_INPUT, 4, dims);
    double *boxes = NNV_NEW(s->arena, double, 4 * n + 1);
    int32_t batch[5] = {0};
    int image = 0;
    for (uint32_t i = 0; boxes && i < n; i++) {
        image = nnv_sample_int(s, image, (int)images - 1);
        batch[i] = image;
        span(s, w, ratio[1], &boxes[4 * i], &boxes[4 * i + 2]);
        span(s, h, ratio[0], &boxes[4 * i + 1], &boxes[4 * i + 3]);
    }
    nnv_sample_tensor(s, NNV_ROI_BOXES, 2, (uint32_t[]){n, 4})->reals = boxes;
    nnv_sample_ints(s, NNV_ROI_BATCH, n, batch);
    nnv_sample_scalar(s, NNV_ROI_HEIGHT, nnv_sample_of(s, 6, extents));
    nnv_sample_scalar(s, NNV_ROI_WIDTH, nnv_sample_of(s, 6, extents));
    nnv_sample_scalar(s, NNV_ROI_HEIGHT_RATIO, ratio[0]);
    nnv_sample_scalar(s, NNV_ROI_WIDTH_RATIO, ratio[1]);
    nnv_sample_scalar(s, NNV_ROI_NCHW, nchw);
}
