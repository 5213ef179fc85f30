/* SPDX-License-Identifier: Apache-2.0 */
/** @file roi_pooling.c ROI_POOLING. */
#include <float.h>

#include "reference/ops/detect/roi.h"

static const struct nnv_slot inputs[] = {NNV_ROI_INPUTS, NNV_ROI_LAYOUT};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};

/* The bins along one dimension of a box: pixels lo[i] to hi[i] - 1. */
struct axis {
    uint32_t *lo, *hi;
};

/* score > 0; open within the width. A score of 0 counts as above where `whole`. */
static double decide(struct nnv_kernel *k, double score, double width, bool whole) {
    return nnv_noise_branch(k, score == 0 && whole ? DBL_MIN : score, width) ? 1 : 0;
}

/* A coordinate as a pixel: halves away from zero. */
static double pixel(struct nnv_kernel *k, double v, bool exact) {
    double below = floor(v);
    return below + decide(k, v - below - 0.5, exact ? 0 : 4 * nnv_roi_unit(k) * fabs(v), true);
}

/*
 * floor or (up) ceil of size * i / out, behind start: a whole number of pixels, but an implementation takes the bin,
 * size / out, and its multiple, as numbers of its own type.
 */
static double edge(struct nnv_kernel *k, double start, double size, double i, double out, bool up) {
    double bin = size / out, nearest = rint(size * i / out), p = size * i / out;
    bool exact =
        nnv_roi_rounded(k, bin) == bin && nnv_roi_rounded(k, p) == p && nnv_roi_rounded(k, p + start) == p + start;
    double width = exact ? 0 : nnv_roi_unit(k) * (3 * p + fabs(p + start));
    return start + nearest + decide(k, (size * i - nearest * out) / out, width, !up) - !up;
}

static uint32_t clamped(double v, uint32_t extent) {
    return v > extent ? extent : v > 0 ? (uint32_t)v : 0; /* NaN: 0 */
}

static bool axis_of(struct nnv_kernel *k, const struct nnv_span *s, int out, uint32_t extent, struct axis *a) {
    double start = pixel(k, s->start, s->exact), end = pixel(k, s->end, s->exact), size = fmax(end - start + 1, 1);
    a->lo = NNV_NEW(k->scratch, uint32_t, (size_t)out);
    a->hi = NNV_NEW(k->scratch, uint32_t, (size_t)out);
    for (int i = 0; a->lo && a->hi && i < out; i++) {
        a->lo[i] = clamped(edge(k, start, size, i, out, false), extent);
        a->hi[i] = clamped(edge(k, start, size, i + 1, out, true), extent);
    }
    return a->lo && a->hi;
}

/* The largest number of a bin; 0 of one without pixels. */
static double largest(const double *x, const struct nnv_image_layout *m, const struct axis *down, uint32_t i,
                      const struct axis *across, uint32_t j) {
    if (down->lo[i] >= down->hi[i] || across->lo[j] >= across->hi[j]) return 0;
    double most = x[down->lo[i] * m->sh + across->lo[j] * m->sw];
    for (uint32_t h = down->lo[i]; h < down->hi[i]; h++)
        for (uint32_t w = across->lo[j]; w < across->hi[j]; w++) {
            double v = x[h * m->sh + w * m->sw];
            if (isnan(v) || v > most) most = v; /* NaN, "not compared" in a row, stays */
        }
    return most;
}

static void pool(struct nnv_kernel *k, size_t box, const struct nnv_roi *roi, const struct axis *down,
                 const struct axis *across, bool nchw) {
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, NNV_ROI_INPUT), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *x = nnv_real(k, NNV_ROI_INPUT) + roi->image * m.sn;
    bool known = isfinite(roi->y.start + roi->y.end + roi->x.start + roi->x.end);
    for (uint32_t i = 0; i < y.h; i++)
        for (uint32_t j = 0; j < y.w; j++)
            for (uint32_t c = 0; c < y.c; c++)
                k->out[0][nnv_image_at(&y, (uint32_t)box, i, j, c)] =
                    known ? largest(x + c * m.sc, &m, down, i, across, j) : (double)NAN;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NNV_ROI_NCHW) != 0;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, NNV_ROI_INPUT), nchw);
    for (size_t i = 0; i < nnv_in_shape(k, NNV_ROI_BOXES)->dims[0]; i++) {
        struct nnv_roi roi;
        struct axis down, across;
        enum nnv_status st = nnv_roi_box(k, i, &roi, err);
        if (st) return st;
        if (!axis_of(k, &roi.y, nnv_int(c, NNV_ROI_HEIGHT), m.h, &down) ||
            !axis_of(k, &roi.x, nnv_int(c, NNV_ROI_WIDTH), m.w, &across))
            return nnv_no_memory(err);
        pool(k, i, &roi, &down, &across, nchw);
    }
    return NNV_OK;
}

static const char *const variants[] = {"nhwc", "nchw", NULL};

const struct nnv_op nnv_op_ROI_POOLING = {
    NNV_OP_NAMED(ROI_POOLING),
    .level = 3,
    .formula = "y[b,i,j] = the largest x of bin i,j of box b, 0 if it is empty; coordinates are rounded, size = end - "
               "start + 1; bin i: [floor(start + i*size/out), ceil(start + (i+1)*size/out))",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(nnv_roi_sigs),
    .rounding = NNV_ROUND_NONE,
    .check = nnv_roi_check,
    .infer = nnv_roi_infer,
    .eval = eval,
    .variants = variants,
    .sample = nnv_roi_sample,
};
