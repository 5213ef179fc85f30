/* SPDX-License-Identifier: Apache-2.0 */
/** @file roi_align.c ROI_ALIGN. */
#include "reference/ops/detect/roi.h"

static const struct nnv_slot inputs[] = {
    NNV_ROI_INPUTS,
    NNV_SLOT_INT(NNV_ROI_HEIGHT_SAMPLES, "height samples", NNV_NOT_NEGATIVE),
    NNV_SLOT_INT(NNV_ROI_WIDTH_SAMPLES, "width samples", NNV_NOT_NEGATIVE),
    NNV_ROI_LAYOUT,
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4}};

/* Boxes may be none, images may not be empty. */
static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_ROI_INPUT)->shape;
    for (uint32_t d = 1; d < 4; d++)
        if (nnv_dim(x, d) == 0) return nnv_fail(err, NNV_INVALID, "input: extent %u is 0", d);
    return nnv_roi_check(c, err);
}

/* -------------------------------------------------------------------- kernel */

/* Samples, and results of a box, that one evaluation may take. */
static const double MOST_SAMPLES = 0x1p24, MOST_TERMS = 0x1p29;

/* Between which two pixels a sample lies, and how far it is from the first. */
struct tap {
    uint32_t lo, hi;
    double t;
};

/* The samples along one dimension of a box: n for each of the out bins, one after the other. */
struct axis {
    double n;
    uint32_t out;
    struct tap *taps;
};

/* Beyond the centre of the last pixel the last pixel goes on. */
static struct tap tap_at(double p, uint32_t extent) {
    double lo = floor(p < 0 ? 0 : p);
    if (!(lo < extent - 1.0)) return (struct tap){extent - 1, extent - 1, 0};
    return (struct tap){(uint32_t)lo, (uint32_t)lo + 1, p < 0 ? 0 : p - lo};
}

/* ceil(bin), at least 1; open where the bin is a whole number but for rounding. */
static double adaptive(struct nnv_kernel *k, double bin, double width) {
    double nearest = rint(bin), n = nearest + nnv_noise_branch(k, bin - nearest, width);
    return n < 1 ? 1 : n;
}

static enum nnv_status axis_of(struct nnv_kernel *k, const struct nnv_span *s, int out, int samples, uint32_t extent,
                               struct axis *a, struct nnv_err *err) {
    double unit = nnv_roi_unit(k), size = fmax(s->end - s->start, 1), bin = size / out, start = s->start;
    bool exact = s->exact && nnv_roi_rounded(k, size) == size && nnv_roi_rounded(k, bin) == bin;
    if (k->noise) { /* what all positions share */
        bin = nnv_noise_add(k, bin, exact ? 0 : 3 * unit * bin);
        start = nnv_noise_add(k, start, 2 * unit * fmax(fabs(s->end), 1));
    }
    double n = samples > 0 ? samples : adaptive(k, bin, exact ? 0 : 6 * unit * bin);
    bool known = isfinite(start) && isfinite(bin);
    if (!known) n = 1;
    if (n * out > MOST_SAMPLES) return nnv_fail(err, NNV_NO_MEMORY, "%.0f samples of a box are too many", n * out);
    *a = (struct axis){n, (uint32_t)out, NNV_NEW(k->scratch, struct tap, (size_t)(n * out))};
    if (!a->taps) return nnv_no_memory(err);
    for (int i = 0; known && i < out; i++)
        for (uint32_t j = 0; j < n; j++)
            a->taps[(uint32_t)i * (size_t)n + j] = tap_at(start + bin * (i + (j + 0.5) / n), extent);
    return NNV_OK;
}

/* Of all samples of a bin: the mean, that of absolute values, and how it moves with the relative error of positions. */
struct mean {
    double v, abs, drift;
};

static struct mean mean_of(const double *x, const struct nnv_image_layout *m, const struct tap *rows, size_t ny,
                           const struct tap *columns, size_t nx) {
    struct mean mean = {0, 0, 0};
    double n = (double)ny * (double)nx;
    for (const struct tap *r = rows; r < rows + ny; r++)
        for (const struct tap *q = columns; q < columns + nx; q++) {
            const double v[] = {x[r->lo * m->sh + q->lo * m->sw], x[r->lo * m->sh + q->hi * m->sw],
                                x[r->hi * m->sh + q->lo * m->sw], x[r->hi * m->sh + q->hi * m->sw]};
            const double w[] = {(1 - r->t) * (1 - q->t), (1 - r->t) * q->t, r->t * (1 - q->t), r->t * q->t};
            for (int i = 0; i < 4; i++) {
                mean.v += w[i] * v[i];
                mean.abs += w[i] * fabs(v[i]) / n;
            }
            double across = (1 - r->t) * (v[1] - v[0]) + r->t * (v[3] - v[2]);
            double down = (1 - q->t) * (v[2] - v[0]) + q->t * (v[3] - v[1]);
            mean.drift += (fabs(across) * (q->lo + q->t) + fabs(down) * (r->lo + r->t)) / n;
        }
    mean.v /= n;
    return mean;
}

static void cut(struct nnv_kernel *k, size_t box, const struct nnv_roi *roi, const struct axis *down,
                const struct axis *across, bool nchw) {
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, NNV_ROI_INPUT), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *x = nnv_real(k, NNV_ROI_INPUT) + roi->image * m.sn;
    bool known = isfinite(roi->y.start + roi->y.end + roi->x.start + roi->x.end);
    size_t ny = (size_t)down->n, nx = (size_t)across->n;
    for (uint32_t i = 0; i < y.h; i++)
        for (uint32_t j = 0; j < y.w; j++)
            for (uint32_t c = 0; c < y.c; c++) {
                struct mean mean = {(double)NAN, 0, 0};
                if (known) mean = mean_of(x + c * m.sc, &m, down->taps + i * ny, ny, across->taps + j * nx, nx);
                double v = nnv_sum(k, mean.v, 4 * (double)ny * (double)nx, mean.abs, 1);
                /* weights and products are rounded, and each sample's position for itself */
                if (k->noise) v = nnv_noise_add(k, v, 3 * k->u_i * mean.abs + 2 * nnv_roi_unit(k) * mean.drift);
                k->out[0][nnv_image_at(&y, (uint32_t)box, i, j, c)] = v;
            }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NNV_ROI_NCHW) != 0;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, NNV_ROI_INPUT), nchw);
    size_t n = nnv_in_shape(k, NNV_ROI_BOXES)->dims[0];
    for (size_t i = 0; i < n; i++) {
        struct nnv_roi roi;
        struct axis down, across;
        enum nnv_status st = nnv_roi_box(k, i, &roi, err);
        if (!st)
            st = axis_of(k, &roi.y, nnv_int(c, NNV_ROI_HEIGHT), nnv_int(c, NNV_ROI_HEIGHT_SAMPLES), m.h, &down, err);
        if (!st)
            st = axis_of(k, &roi.x, nnv_int(c, NNV_ROI_WIDTH), nnv_int(c, NNV_ROI_WIDTH_SAMPLES), m.w, &across, err);
        if (st) return st;
        if ((double)n * down.n * down.out * across.n * across.out * m.c > MOST_TERMS)
            return nnv_fail(err, NNV_NO_MEMORY, "the samples of %zu boxes are too many", n);
        cut(k, i, &roi, &down, &across, nchw);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- samples */

static const char *const variants[] = {"sampled", "sampled_nchw", "adaptive", "adaptive_nchw", NULL};

static void sample(struct nnv_sample *s) {
    static const int counts[] = {1, 2, 3, 4};
    bool adaptive = nnv_sample_is(s, "adaptive");
    nnv_roi_sample(s);
    nnv_sample_scalar(s, NNV_ROI_HEIGHT_SAMPLES, adaptive ? 0 : nnv_sample_of(s, 4, counts));
    nnv_sample_scalar(s, NNV_ROI_WIDTH_SAMPLES, adaptive && s->index % 3 < 2 ? 0 : nnv_sample_of(s, 4, counts));
}

const struct nnv_op nnv_op_ROI_ALIGN = {
    NNV_OP_NAMED(ROI_ALIGN),
    .level = 3,
    .formula = "y[b,i,j] = the mean of x, bilinear, at n*n samples of bin i,j of box b; sample s of a bin: start + "
               "size*(i + (s+1/2)/n)/out, size = max(end - start, 1); n = samples, if 0: ceil(size/out)",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(nnv_roi_sigs),
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,
    .check = check,
    .infer = nnv_roi_infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
