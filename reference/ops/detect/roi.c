/* SPDX-License-Identifier: Apache-2.0 */
/** @file roi.c ROI_ALIGN, ROI_POOLING: boxes in the pixels of an image, and the feature maps they cut. */
#include <float.h>
#include <stdlib.h>

#include "reference/ops/common.h"

enum {
    INPUT,
    BOXES,
    BATCH,
    HEIGHT,
    WIDTH,
    HEIGHT_RATIO,
    WIDTH_RATIO,
    HEIGHT_SAMPLES, /* ROI_ALIGN alone */
    WIDTH_SAMPLES,
    NCHW,
};

/* All inputs before the numbers of samples or the layout. */
#define INPUTS                                                                                                         \
    {.id = INPUT, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},                                        \
        {.id = BOXES, .name = "boxes", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},             \
        NNV_SLOT_INT_TENSOR(BATCH, "batch indices", 1, 0), NNV_SLOT_INT(HEIGHT, "output height", NNV_POSITIVE),        \
        NNV_SLOT_INT(WIDTH, "output width", NNV_POSITIVE),                                                             \
        NNV_SLOT_NUMBER(HEIGHT_RATIO, "height ratio", NNV_POSITIVE),                                                   \
        NNV_SLOT_NUMBER(WIDTH_RATIO, "width ratio", NNV_POSITIVE)
#define LAYOUT NNV_SLOT_BOOL(NCHW, "nchw")

/* Feature map and output, boxes, ratios. */
#define SIG(LEVEL, T, V, S)                                                                                            \
    {                                                                                                                  \
        LEVEL, {                                                                                                       \
            [NNV_T] = ANEURALNETWORKS_TENSOR_##T, [NNV_V] = ANEURALNETWORKS_TENSOR_##V, [NNV_S] = ANEURALNETWORKS_##S  \
        }                                                                                                              \
    }
static const struct nnv_sig sigs[] = {
    SIG(3, FLOAT32, FLOAT32, FLOAT32),
    SIG(3, FLOAT16, FLOAT16, FLOAT16),
    SIG(3, QUANT8_ASYMM, QUANT16_ASYMM, FLOAT32),
    SIG(4, QUANT8_ASYMM_SIGNED, QUANT16_ASYMM, FLOAT32),
};

/* Boxes are [n,4], batch indices [n]. */
static enum nnv_status check_boxes(const struct nnv_call *c, struct nnv_err *err) {
    uint32_t coordinates = 4, boxes = nnv_dim(&nnv_in(c, BOXES)->shape, 0);
    enum nnv_status st = nnv_extent_agree(c, BOXES, 1, &coordinates, err);
    return st ? st : nnv_extent_agree(c, BATCH, 0, &boxes, err);
}

/* [n, output height, output width, C], or with C before the extents. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    struct nnv_shape s = nnv_shape_of_rank(4);
    s.dims[0] = nnv_dim_merge(nnv_dim(&nnv_in(c, BOXES)->shape, 0), nnv_dim(&nnv_in(c, BATCH)->shape, 0));
    if (nnv_known(c, NCHW)) {
        bool nchw = nnv_int(c, NCHW) != 0;
        uint32_t depth = nchw ? 1 : 3, h = nchw ? 2 : 1;
        s.dims[depth] = nnv_dim(&nnv_in(c, INPUT)->shape, depth);
        if (nnv_known(c, HEIGHT)) s.dims[h] = (uint32_t)nnv_int(c, HEIGHT);
        if (nnv_known(c, WIDTH)) s.dims[h + 1] = (uint32_t)nnv_int(c, WIDTH);
    }
    out[0] = s;
    return NNV_OK;
}

/* -------------------------------------------------------------------- boxes */

/* One dimension of a box in the feature map's own pixels. */
struct span {
    double start, end; /* NaN in a row in which they are not known */
    bool exact;        /* every implementation finds these numbers: the ratio is a power of two */
};
/* A box: the image that it lies in, and its extents. */
struct roi {
    uint32_t image;
    struct span y, x;
};

/* Half a unit in the last place of the type that box coordinates are computed in: float32 or the input's. */
static double unit_of(const struct nnv_kernel *k) { return k->u_i > 0x1p-24 ? k->u_i : 0x1p-24; }

/* The value as that type holds it. */
static double rounded(const struct nnv_kernel *k, double v) {
    bool half = unit_of(k) > 0x1p-24;
    return nnv_round_to(half ? ANEURALNETWORKS_TENSOR_FLOAT16 : ANEURALNETWORKS_TENSOR_FLOAT32, v);
}

static bool is_power_of_two(double v) {
    int exponent;
    return frexp(v, &exponent) == 0.5;
}

/* A coordinate in pixels of the image as one of the feature map: a quotient, wrong by up to 1.5 units. */
static double divide(struct nnv_kernel *k, double v, double ratio) {
    double q = v / ratio;
    return k->noise ? nnv_noise_add(k, q, is_power_of_two(ratio) ? 0 : 3 * unit_of(k) * fabs(q)) : q;
}

/* Whether the span lies in an extent of the feature map, but for the rounding of the division. */
static bool lies_in(const struct span *s, uint32_t extent, double unit) {
    return s->start >= 0 && s->start <= s->end && s->end <= extent * (1 + 4 * unit);
}

/* Box i, divided by the ratios. NNV_INVALID (row 0) if it has no such image or does not lie in it. */
static enum nnv_status box_at(struct nnv_kernel *k, size_t i, struct roi *roi, struct nnv_err *err) {
    const double *b = nnv_real(k, BOXES) + 4 * i, image = nnv_real(k, BATCH)[i];
    double h = nnv_num(k->call, HEIGHT_RATIO), w = nnv_num(k->call, WIDTH_RATIO);
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, INPUT), nnv_int(k->call, NCHW) != 0);
    bool has_image = image >= 0 && image < x.n;
    if (!has_image && k->row == 0)
        return nnv_fail(err, NNV_INVALID, "box %zu: batch index %.0f is not one of the %u images", i, image, x.n);
    struct span across = {divide(k, b[0], w), divide(k, b[2], w), is_power_of_two(w)};
    struct span down = {divide(k, b[1], h), divide(k, b[3], h), is_power_of_two(h)};
    if (k->row == 0 && !(lies_in(&across, x.w, unit_of(k)) && lies_in(&down, x.h, unit_of(k))))
        return nnv_fail(err, NNV_INVALID,
                        "box %zu: [%g, %g, %g, %g], divided by the ratios, is not ordered or not in an image of height "
                        "%u and width %u",
                        i, b[0], b[1], b[2], b[3], x.h, x.w);
    *roi = (struct roi){has_image ? (uint32_t)image : 0, down, across};
    return NNV_OK;
}

/* ------------------------------------------------------------------- samples */

#define FACTORS                                                                                                        \
    NNV_IMAGE_FACTORS, {.name = "boxes", NNV_VALUES(3, 1, 8), NNV_SIZES(16, 17, 33, 65, 129, 300)},                    \
        {.name = "output",                                                                                             \
         .pair = true,                                                                                                 \
         NNV_VALUES(NNV_PAIR(2, 2), NNV_PAIR(1, 1), NNV_PAIR(7, 7), NNV_PAIR(3, 5)),                                   \
         NNV_SIZES(NNV_PAIR(14, 14), NNV_PAIR(17, 17))},                                                               \
    {                                                                                                                  \
        .name = "ratio", NNV_WORDS("1x1", "2x4", "4x0.5", "1.75x2", "0.5x1", "2x3")                                    \
    }

/*
 * Moves a span off the places at which a result jumps: neither end at a whole or half pixel, its size above one and no
 * whole number of them. unit: the eighths in which coordinates can be told.
 */
static void off_steps(int most, int unit, int *a, int *b) {
    *a = (*a / unit | 1) * unit;
    *b = (*b / unit | 1) * unit;
    if (abs(*a - *b) <= 8)
        *b = *a + (*a + 12 <= most + 2 ? 12 : -12);
    else if ((*a - *b) % 8 == 0)
        *b += *b + 2 * unit <= most ? 2 * unit : -2 * unit;
}

/* A span in eighths of a pixel within the extent, half a pixel from its end. */
static void draw_span(struct nnv_sample *s, uint32_t extent, double ratio, double *start, double *end) {
    int most = (int)extent * 8 - 4, a = nnv_sample_int(s, 0, most), b = nnv_sample_int(s, 0, most);
    if (nnv_sample_int(s, 0, 3) == 0) b = a + nnv_sample_int(s, 0, most - a < 6 ? most - a : 6); /* below a pixel */
    if (s->row) off_steps(most, ratio < 1 ? 2 : 1, &a, &b);
    *start = (a < b ? a : b) * ratio / 8;
    *end = (a < b ? b : a) * ratio / 8;
}

/* Draws input, boxes, batch indices, output extents and ratios, and sets the layout by the variant's name. */
static void sample_boxes(struct nnv_sample *s) {
    static const double ratios[][2] = {{1, 1}, {2, 4}, {4, 0.5}, {1.75, 2}, {0.5, 1}, {2, 3}};
    static const int extents[] = {1, 2, 3, 4, 5, 7};
    enum { LEAST = 4, MOST_HALF = 48 }; /* pixels: float16 tells eighths of so many well */
    bool nchw = nnv_sample_is(s, "nchw"), half = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_FLOAT16;
    const double *ratio = ratios[nnv_row_named(s, "ratio", (s->index + 2 * s->variant) % 6)];
    uint32_t dims[4], images = (uint32_t)nnv_sample_int(s, 1, 3), h = nnv_sample_dim(s, 4, 13),
                      w = nnv_sample_dim(s, 4, 13), n = s->empty ? 0 : (uint32_t)nnv_sample_int(s, 2, 5);
    if (w == h) w++;
    uint32_t c = nnv_sample_dim(s, 1, 5);
    if (s->row) {
        const struct nnv_row_image g = nnv_row_image(s, 0);
        images = g.n, c = g.c;
        h = g.h > LEAST ? g.h : LEAST; /* room for a box that is clearly inside */
        w = g.w > LEAST ? g.w : LEAST;
        n = nnv_row_extent(s, "boxes", n);
    }
    nnv_sample_image(dims, images, h, w, c, nchw);
    nnv_sample_tensor(s, INPUT, 4, dims);
    double *boxes = NNV_NEW(s->arena, double, 4 * n + 1);
    int32_t *batch = NNV_NEW(s->arena, int32_t, n + 1);
    int image = 0;
    for (uint32_t i = 0; boxes && batch && i < n; i++) {
        if (!s->row || nnv_sample_int(s, 0, (int)(n / images)) == 0) image = nnv_sample_int(s, image, (int)images - 1);
        batch[i] = image;
        draw_span(s, half && w > MOST_HALF ? MOST_HALF : w, ratio[1], &boxes[4 * i], &boxes[4 * i + 2]);
        draw_span(s, half && h > MOST_HALF ? MOST_HALF : h, ratio[0], &boxes[4 * i + 1], &boxes[4 * i + 3]);
    }
    nnv_sample_tensor(s, BOXES, 2, (uint32_t[]){n, 4})->reals = boxes;
    nnv_sample_ints(s, BATCH, n, batch);
    const int height = nnv_sample_of(s, 6, extents), width = nnv_sample_of(s, 6, extents);
    const int32_t output = nnv_row_named(s, "output", NNV_PAIR(height, width));
    nnv_sample_scalar(s, HEIGHT, nnv_pair_height(output));
    nnv_sample_scalar(s, WIDTH, nnv_pair_width(output));
    nnv_sample_scalar(s, HEIGHT_RATIO, ratio[0]);
    nnv_sample_scalar(s, WIDTH_RATIO, ratio[1]);
    nnv_sample_scalar(s, NCHW, nchw);
}

/* ----------------------------------------------------------------- ROI_ALIGN */

static const struct nnv_slot align_inputs[] = {
    INPUTS,
    NNV_SLOT_INT(HEIGHT_SAMPLES, "height samples", NNV_NOT_NEGATIVE),
    NNV_SLOT_INT(WIDTH_SAMPLES, "width samples", NNV_NOT_NEGATIVE),
    LAYOUT,
};
static const struct nnv_slot align_outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4}};

/* Boxes may be none, images may not be empty. */
static enum nnv_status align_check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, INPUT)->shape;
    for (uint32_t d = 1; d < 4; d++)
        if (nnv_dim(x, d) == 0) return nnv_fail(err, NNV_INVALID, "input: extent %u is 0", d);
    return check_boxes(c, err);
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
struct align_axis {
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

static enum nnv_status align_axis_of(struct nnv_kernel *k, const struct span *s, int out, int samples, uint32_t extent,
                                     struct align_axis *a, struct nnv_err *err) {
    double unit = unit_of(k), size = fmax(s->end - s->start, 1), bin = size / out, start = s->start;
    bool exact = s->exact && rounded(k, size) == size && rounded(k, bin) == bin;
    if (k->noise) { /* what all positions share */
        bin = nnv_noise_add(k, bin, exact ? 0 : 3 * unit * bin);
        start = nnv_noise_add(k, start, 2 * unit * fmax(fabs(s->end), 1));
    }
    double n = samples > 0 ? samples : adaptive(k, bin, exact ? 0 : 6 * unit * bin);
    bool known = isfinite(start) && isfinite(bin);
    if (!known) n = 1;
    if (n * out > MOST_SAMPLES) return nnv_fail(err, NNV_NO_MEMORY, "%.0f samples of a box are too many", n * out);
    *a = (struct align_axis){n, (uint32_t)out, NNV_NEW(k->scratch, struct tap, (size_t)(n * out))};
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

static void cut(struct nnv_kernel *k, size_t box, const struct roi *roi, const struct align_axis *down,
                const struct align_axis *across, bool nchw) {
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, INPUT), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *x = nnv_real(k, INPUT) + roi->image * m.sn;
    bool known = isfinite(roi->y.start + roi->y.end + roi->x.start + roi->x.end);
    size_t ny = (size_t)down->n, nx = (size_t)across->n;
    for (uint32_t i = 0; i < y.h; i++)
        for (uint32_t j = 0; j < y.w; j++)
            for (uint32_t c = 0; c < y.c; c++) {
                struct mean mean = {(double)NAN, 0, 0};
                if (known) mean = mean_of(x + c * m.sc, &m, down->taps + i * ny, ny, across->taps + j * nx, nx);
                double v = nnv_sum(k, mean.v, 4 * (double)ny * (double)nx, mean.abs, 1);
                /* weights and products are rounded, and each sample's position for itself */
                if (k->noise) v = nnv_noise_add(k, v, 3 * k->u_i * mean.abs + 2 * unit_of(k) * mean.drift);
                k->out[0][nnv_image_at(&y, (uint32_t)box, i, j, c)] = v;
            }
}

static enum nnv_status align_eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NCHW) != 0;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, INPUT), nchw);
    size_t n = nnv_in_shape(k, BOXES)->dims[0];
    for (size_t i = 0; i < n; i++) {
        struct roi roi;
        struct align_axis down, across;
        enum nnv_status st = box_at(k, i, &roi, err);
        if (!st) st = align_axis_of(k, &roi.y, nnv_int(c, HEIGHT), nnv_int(c, HEIGHT_SAMPLES), m.h, &down, err);
        if (!st) st = align_axis_of(k, &roi.x, nnv_int(c, WIDTH), nnv_int(c, WIDTH_SAMPLES), m.w, &across, err);
        if (st) return st;
        if ((double)n * down.n * down.out * across.n * across.out * m.c > MOST_TERMS)
            return nnv_fail(err, NNV_NO_MEMORY, "the samples of %zu boxes are too many", n);
        cut(k, i, &roi, &down, &across, nchw);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- samples */

static const struct nnv_factor align_factors[] = {
    FACTORS,
    {.name = "samples",
     .pair = true,
     NNV_VALUES(NNV_PAIR(2, 2), NNV_PAIR(0, 0), NNV_PAIR(1, 1), NNV_PAIR(3, 2)),
     NNV_SIZES(NNV_PAIR(4, 4), NNV_PAIR(0, 1))}};
static const char *const align_variants[] = {"sampled", "sampled_nchw", "adaptive", "adaptive_nchw", NULL};

static void align_sample(struct nnv_sample *s) {
    static const int counts[] = {1, 2, 3, 4};
    bool adaptive = nnv_sample_is(s, "adaptive");
    sample_boxes(s);
    if (s->row) {
        const int32_t samples = nnv_row_named(s, "samples", 0);
        s->arg[INPUT].lo = -1; /* a mean that is not about 0: of one result alone, too, there is something to compare */
        s->arg[INPUT].hi = 8;
        nnv_sample_scalar(s, HEIGHT_SAMPLES, nnv_pair_height(samples));
        nnv_sample_scalar(s, WIDTH_SAMPLES, nnv_pair_width(samples));
        return;
    }
    nnv_sample_scalar(s, HEIGHT_SAMPLES, adaptive ? 0 : nnv_sample_of(s, 4, counts));
    nnv_sample_scalar(s, WIDTH_SAMPLES, adaptive && s->index % 3 < 2 ? 0 : nnv_sample_of(s, 4, counts));
}

/* --------------------------------------------------------------- ROI_POOLING */

static const struct nnv_slot pool_inputs[] = {INPUTS, LAYOUT};
static const struct nnv_slot pool_outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};

/* The bins along one dimension of a box: pixels lo[i] to hi[i] - 1. */
struct pool_axis {
    uint32_t *lo, *hi;
};

/* score > 0; open within the width. A score of 0 counts as above where `whole`. */
static double decide(struct nnv_kernel *k, double score, double width, bool whole) {
    return nnv_noise_branch(k, score == 0 && whole ? DBL_MIN : score, width) ? 1 : 0;
}

/* A coordinate as a pixel: halves away from zero. */
static double pixel(struct nnv_kernel *k, double v, bool exact) {
    double below = floor(v);
    return below + decide(k, v - below - 0.5, exact ? 0 : 4 * unit_of(k) * fabs(v), true);
}

/*
 * floor or (up) ceil of size * i / out, behind start: a whole number of pixels, but an implementation takes the bin,
 * size / out, and its multiple, as numbers of its own type.
 */
static double edge(struct nnv_kernel *k, double start, double size, double i, double out, bool up) {
    double bin = size / out, nearest = rint(size * i / out), p = size * i / out;
    bool exact = rounded(k, bin) == bin && rounded(k, p) == p && rounded(k, p + start) == p + start;
    double width = exact ? 0 : unit_of(k) * (3 * p + fabs(p + start));
    return start + nearest + decide(k, (size * i - nearest * out) / out, width, !up) - !up;
}

static uint32_t clamped(double v, uint32_t extent) {
    return v > extent ? extent : v > 0 ? (uint32_t)v : 0; /* NaN: 0 */
}

static bool pool_axis_of(struct nnv_kernel *k, const struct span *s, int out, uint32_t extent, struct pool_axis *a) {
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
static double largest(const double *x, const struct nnv_image_layout *m, const struct pool_axis *down, uint32_t i,
                      const struct pool_axis *across, uint32_t j) {
    if (down->lo[i] >= down->hi[i] || across->lo[j] >= across->hi[j]) return 0;
    double most = x[down->lo[i] * m->sh + across->lo[j] * m->sw];
    for (uint32_t h = down->lo[i]; h < down->hi[i]; h++)
        for (uint32_t w = across->lo[j]; w < across->hi[j]; w++) {
            double v = x[h * m->sh + w * m->sw];
            if (isnan(v) || v > most) most = v; /* NaN, "not compared" in a row, stays */
        }
    return most;
}

static void pool_box(struct nnv_kernel *k, size_t box, const struct roi *roi, const struct pool_axis *down,
                     const struct pool_axis *across, bool nchw) {
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, INPUT), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *x = nnv_real(k, INPUT) + roi->image * m.sn;
    bool known = isfinite(roi->y.start + roi->y.end + roi->x.start + roi->x.end);
    for (uint32_t i = 0; i < y.h; i++)
        for (uint32_t j = 0; j < y.w; j++)
            for (uint32_t c = 0; c < y.c; c++)
                k->out[0][nnv_image_at(&y, (uint32_t)box, i, j, c)] =
                    known ? largest(x + c * m.sc, &m, down, i, across, j) : (double)NAN;
}

static enum nnv_status pool_eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NCHW) != 0;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, INPUT), nchw);
    for (size_t i = 0; i < nnv_in_shape(k, BOXES)->dims[0]; i++) {
        struct roi roi;
        struct pool_axis down, across;
        enum nnv_status st = box_at(k, i, &roi, err);
        if (st) return st;
        if (!pool_axis_of(k, &roi.y, nnv_int(c, HEIGHT), m.h, &down) ||
            !pool_axis_of(k, &roi.x, nnv_int(c, WIDTH), m.w, &across))
            return nnv_no_memory(err);
        pool_box(k, i, &roi, &down, &across, nchw);
    }
    return NNV_OK;
}

static const struct nnv_factor pool_factors[] = {FACTORS};
static const char *const pool_variants[] = {"nhwc", "nchw", NULL};

#define RECORD(NAME, KIND, FORMULA, ...)                                                                               \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 3,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(KIND##_inputs, KIND##_outputs),                                                                    \
        NNV_OP_SIGS(sigs),                                                                                             \
        .infer = infer,                                                                                                \
        NNV_EVAL(KIND##_eval),                                                                                         \
        .variants = KIND##_variants,                                                                                   \
        NNV_OP_FACTORS(KIND##_factors),                                                                                \
        __VA_ARGS__,                                                                                                   \
    }

RECORD(ROI_ALIGN, align,
       "y[b,i,j] = the mean of x, bilinear, at n*n samples of bin i,j of box b; sample s of a bin: start + "
       "size*(i + (s+1/2)/n)/out, size = max(end - start, 1); n = samples, if 0: ceil(size/out)",
       .rounding = NNV_ROUND_RESCALE, .zero = NNV_ZERO_ANY, .check = align_check, NNV_SAMPLE(align_sample));
RECORD(ROI_POOLING, pool,
       "y[b,i,j] = the largest x of bin i,j of box b, 0 if it is empty; coordinates are rounded, size = end - "
       "start + 1; bin i: [floor(start + i*size/out), ceil(start + (i+1)*size/out))",
       .rounding = NNV_ROUND_NONE, .check = check_boxes, NNV_SAMPLE(sample_boxes));
