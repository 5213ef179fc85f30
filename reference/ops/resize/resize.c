/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize.c RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR: two forms, by shape and by scale; width before height. */
#include <float.h>

#include "reference/eval/strip.h"
#include "reference/ops/common.h"

enum { X, WIDTH, HEIGHT, WIDTH_SCALE, HEIGHT_SCALE, NCHW, ALIGN, HALF };

#define INPUT                                                                                                          \
    { .id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4 }
#define BY_SHAPE NNV_SLOT_INT(WIDTH, "output width", NNV_POSITIVE), NNV_SLOT_INT(HEIGHT, "output height", NNV_POSITIVE)
#define FACTOR(ID, NAME)                                                                                               \
    { .id = ID, .name = NAME, .var = NNV_S, .flags = NNV_SCALAR, .level = 3, .rule = NNV_POSITIVE }
#define BY_SCALE FACTOR(WIDTH_SCALE, "width scale"), FACTOR(HEIGHT_SCALE, "height scale")
/* The layout is in group FIRST, 0 (required) or a trailing one; align corners and half pixel centres follow. */
#define FLAGS(FIRST)                                                                                                   \
    NNV_SLOT_FLAG(NCHW, "nchw", FIRST, 3), NNV_SLOT_FLAG(ALIGN, "align corners", (FIRST) + 1, 4),                      \
        NNV_SLOT_FLAG(HALF, "half pixel centres", (FIRST) + 2, 4)
static const struct nnv_slot bilinear_shape[] = {INPUT, BY_SHAPE, FLAGS(1)};
static const struct nnv_slot bilinear_scale[] = {INPUT, BY_SCALE, FLAGS(1)};
static const struct nnv_slot nearest_shape[] = {INPUT, BY_SHAPE, FLAGS(0)};
static const struct nnv_slot nearest_scale[] = {INPUT, BY_SCALE, FLAGS(0)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form bilinear_forms[] = {
    NNV_FORM("by shape", bilinear_shape, outputs),
    NNV_FORM("by scale", bilinear_scale, outputs),
};
static const struct nnv_form nearest_forms[] = {
    NNV_FORM("by shape", nearest_shape, outputs),
    NNV_FORM("by scale", nearest_scale, outputs),
};

#define SIGS(LEVEL)                                                                                                    \
    {                                                                                                                  \
        NNV_SIG_SCALAR(LEVEL, FLOAT32, FLOAT32), NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),                                  \
            NNV_SIG_SCALAR(3, QUANT8_ASYMM, FLOAT32), NNV_SIG_SCALAR(4, QUANT8_ASYMM_SIGNED, FLOAT32)                  \
    }
static const struct nnv_sig bilinear_sigs[] = SIGS(1), nearest_sigs[] = SIGS(3);

/* Not both flags. */
static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_known(c, ALIGN) && nnv_known(c, HALF) && nnv_int(c, ALIGN) && nnv_int(c, HALF))
        return nnv_fail(err, NNV_INVALID, "align corners and half pixel centres exclude each other");
    return NNV_OK;
}

static enum nnv_status output_extent(const struct nnv_call *c, uint32_t in, int extent, int scale, uint32_t *out,
                                     struct nnv_err *err) {
    if (c->pos[extent] >= 0) {
        if (nnv_known(c, extent)) *out = (uint32_t)nnv_int(c, extent);
        return NNV_OK;
    }
    if (in == NNV_DIM_UNKNOWN || !nnv_known(c, scale)) return NNV_OK;
    float factor = (float)nnv_num(c, scale);
    double v = floor((double)((float)in * factor));
    if (!(v >= 1 && v <= NNV_DIM_MAX))
        return nnv_fail(err, NNV_INVALID, "extent %u times %g gives no extent from 1 to %d", in, (double)factor,
                        NNV_DIM_UNKNOWN - 1);
    *out = (uint32_t)v;
    return NNV_OK;
}

/* By scale: floor(extent * scale) in float32. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s = nnv_shape_of_rank(4);
    s.dims[0] = nnv_dim(x, 0);
    if (nnv_known(c, NCHW)) {
        bool nchw = nnv_int(c, NCHW) != 0;
        uint32_t h = nchw ? 2 : 1, w = h + 1, depth = nchw ? 1 : 3;
        s.dims[depth] = nnv_dim(x, depth);
        enum nnv_status st;
        if ((st = output_extent(c, nnv_dim(x, w), WIDTH, WIDTH_SCALE, &s.dims[w], err)) ||
            (st = output_extent(c, nnv_dim(x, h), HEIGHT, HEIGHT_SCALE, &s.dims[h], err)))
            return st;
    }
    out[0] = s;
    return NNV_OK;
}

/* How output positions of one axis map to input positions. */
struct axis {
    double ratio, offset; /* position of i: (i + offset) * ratio - offset */
    bool inexact;         /* the ratio is not a float32 number */
};

static struct axis axis_of(const struct nnv_call *c, uint32_t in, uint32_t out) {
    bool align = nnv_int(c, ALIGN) != 0, half = nnv_int(c, HALF) != 0;
    double ratio = align && out > 1 ? (in - 1.0) / (out - 1.0) : (double)in / out;
    return (struct axis){ratio, half ? 0.5 : 0, (double)(float)ratio != ratio};
}

/* ------------------------------------------------------------------- bilinear */

/* Between which two input positions an output position lies, and how far it is from the first. */
struct tap {
    uint32_t lo, hi;
    double t;
};

/* At position p of an input's extent. */
static struct tap tap_at(double p, uint32_t in) {
    double lo = fmax(floor(p), 0), hi = fmin(ceil(p), in - 1.0);
    lo = fmin(lo, in - 1.0);
    return (struct tap){(uint32_t)lo, (uint32_t)fmax(hi, lo), p - lo};
}

/*
 * Of all output positions in this row, then, where two are computed, of all in the next. The noise is that of an
 * implementation that computes positions in float32, whatever the type: two roundings, of the ratio and of the product.
 */
static struct tap *taps(struct nnv_kernel *k, const struct axis *a, uint32_t in, uint32_t out) {
    struct tap *taps = NNV_NEW(k->scratch, struct tap, (k->next > 0 ? 2 : 1) * (size_t)out);
    struct nnv_strip s = nnv_strip_of(k, out, 0);
    for (uint32_t i = 0; taps && i < out; i++) {
        const double exact = (i + a->offset) * a->ratio, off = a->inexact ? 0x1p-23 * fabs(exact) : 0;
        const nnv_two p = nnv_two_add(&s, nnv_two_of(exact), off) - a->offset;
        taps[i] = tap_at(p[0], in);
        if (k->next > 0) taps[out + i] = tap_at(p[1], in);
    }
    return taps;
}

/* Where the four neighbours of an output pixel lie, from the first pixel of the image on, and their weights. */
struct corners {
    size_t at[4];
    double weight[4];
};

static struct corners corners_of(const struct nnv_image_layout *x, const struct tap *r, const struct tap *q) {
    const size_t top = r->lo * x->sh, bottom = r->hi * x->sh, left = q->lo * x->sw, right = q->hi * x->sw;
    return (struct corners){{top + left, top + right, bottom + left, bottom + right},
                            {(1 - r->t) * (1 - q->t), (1 - r->t) * q->t, r->t * (1 - q->t), r->t * q->t}};
}

/* The channels of an input image, and of the output pixel that is computed. */
struct channels {
    const double *from;
    double *to;
    size_t from_step, to_step;
    uint32_t n;
};

/* Of a row that is computed alone. */
static void blend(struct nnv_strip *s, struct channels c, const struct corners *at) {
    for (; c.n > 0; c.n--, c.from += c.from_step, c.to += c.to_step) {
        double sum = 0, abs = 0;
        for (int t = 0; t < 4; t++) {
            const double term = at->weight[t] * c.from[at->at[t]];
            sum += term;
            abs += fabs(term);
        }
        *c.to = nnv_two_sum(s, nnv_two_of(sum), 4, abs)[0];
    }
}

/* Of two rows: those of the second lie at `next`. */
static void blend_both(struct nnv_strip *s, struct channels c, const struct corners *at, const struct corners *next) {
    for (; c.n > 0; c.n--, c.from += c.from_step, c.to += c.to_step) {
        nnv_two sum = {0};
        for (int t = 0; t < 4; t++)
            sum += (nnv_two){at->weight[t], next->weight[t]} * (nnv_two){c.from[at->at[t]], c.from[next->at[t]]};
        nnv_two_put(s->k, c.to, nnv_two_sum(s, sum, 4, 0));
    }
}

/* Of rows that differ from row 0 by the noise of the sums alone. */
static void replay(struct nnv_strip *s, struct channels c) {
    for (; c.n > 0; c.n--, c.to += c.to_step) nnv_two_put(s->k, c.to, nnv_two_replay(s));
}

static enum nnv_status eval_bilinear(struct nnv_kernel *k, struct nnv_err *err) {
    const bool nchw = nnv_int(k->call, NCHW) != 0;
    const struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, X), nchw);
    const struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const struct axis down = axis_of(k->call, x.h, y.h), along = axis_of(k->call, x.w, y.w);
    const bool same = k->same_inputs && !down.inexact && !along.inexact;
    const double *v = nnv_real(k, X);
    const struct tap *rows = taps(k, &down, x.h, y.h), *columns = taps(k, &along, x.w, y.w);
    if (!rows || !columns) return nnv_no_memory(err);
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++) {
            struct nnv_strip s = nnv_strip_of(k, (size_t)y.w * y.c, 0);
            for (uint32_t j = 0; j < y.w; j++) {
                const struct channels c = {v + nnv_image_at(&x, n, 0, 0, 0), k->out[0] + nnv_image_at(&y, n, i, j, 0),
                                           x.sc, y.sc, y.c};
                const struct corners at = corners_of(&x, &rows[i], &columns[j]);
                if (same) {
                    replay(&s, c);
                } else if (k->next > 0) {
                    const struct corners next = corners_of(&x, &rows[y.h + i], &columns[y.w + j]);
                    blend_both(&s, c, &at, &next);
                } else {
                    blend(&s, c, &at);
                }
            }
        }
    return NNV_OK;
}

/* ------------------------------------------------------------ nearest neighbour */

/*
 * The input position of output i: the exact coordinate is a fraction num / den. Implementations compute it in
 * float32; where the ratio is no float32 number and the next step of floor or round is within four roundings, they
 * may take either side.
 */
static uint32_t source(struct nnv_kernel *k, uint32_t in, uint32_t out, uint32_t i, bool inexact) {
    bool align = nnv_int(k->call, ALIGN), half = nnv_int(k->call, HALF);
    uint64_t num = (uint64_t)i * in, den = out;
    if (align && out > 1) {
        num = (uint64_t)i * (in - 1);
        den = out - 1;
    } else if (half) {
        num = (2 * (uint64_t)i + 1) * in;
        den = 2 * (uint64_t)out;
    }
    uint64_t low = num / den, rest = num % den;
    bool above = align ? 2 * rest >= den : 2 * rest < den; /* which side of the nearest step */
    uint64_t to_step = align ? (above ? 2 * rest - den : den - 2 * rest) : 2 * (above ? rest : den - rest);
    double score = fmax((double)to_step / (2 * (double)den), DBL_MIN);
    double width = inexact ? 0x1p-22 * (double)num / (double)den : 0;
    int64_t upper = (int64_t)(align || !above ? low + 1 : low);
    int64_t at = nnv_noise_branch(k, above ? score : -score, width) ? upper : upper - 1;
    return at < 0 ? 0 : at < in ? (uint32_t)at : in - 1;
}

static uint32_t *sources(struct nnv_kernel *k, uint32_t in, uint32_t out) {
    bool inexact = axis_of(k->call, in, out).inexact;
    uint32_t *at = NNV_NEW(k->scratch, uint32_t, out);
    for (uint32_t i = 0; at && i < out; i++) at[i] = source(k, in, out, i, inexact);
    return at;
}

static enum nnv_status eval_nearest(struct nnv_kernel *k, struct nnv_err *err) {
    bool nchw = nnv_int(k->call, NCHW);
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, X), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *v = nnv_real(k, X);
    const uint32_t *rows = sources(k, x.h, y.h), *columns = sources(k, x.w, y.w);
    if (!rows || !columns) return nnv_no_memory(err);
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++)
            for (uint32_t j = 0; j < y.w; j++)
                for (uint32_t c = 0; c < y.c; c++)
                    k->out[0][nnv_image_at(&y, n, i, j, c)] = v[nnv_image_at(&x, n, rows[i], columns[j], c)];
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

/* "shape" or "scale", each "plain", "nchw", "align", "half". */
static const char *const variants[] = {"shape_plain", "shape_nchw",  "shape_align", "shape_half", "scale_plain",
                                       "scale_nchw",  "scale_align", "scale_half",  NULL};

enum { ROW_FACTOR = NNV_IMAGE_OWN, ROW_MODE, ROW_FORM };
#define FACTOR_WORDS                                                                                                   \
    "11/8x5/8", "1/2x1/2", "2x2", "4x4", "3x3", "1x1", "3/2x3/2", "1/4x1/4", "2x1", "1x4", "1/2x2", "3/4x3/4"
static const struct nnv_factor factors[] = {NNV_IMAGE_FACTORS,
                                            {.name = "factor", NNV_WORDS(FACTOR_WORDS)},
                                            {.name = "mode", NNV_WORDS("plain", "align", "half")},
                                            {.name = "by", NNV_WORDS("shape", "scale")}};
/* The words' numbers, all exact in float16; the first one, that of unusual sizes, has no short binary inverse. */
static const double row_factors[][2] = {{1.375, 0.625}, {0.5, 0.5},   {2, 2}, {4, 4}, {3, 3},   {1, 1},
                                        {1.5, 1.5},     {0.25, 0.25}, {2, 1}, {1, 4}, {0.5, 2}, {0.75, 0.75}};

/* An image of at least one pixel in the result. */
static void row_sample(struct nnv_sample *s) {
    enum { PLAIN, ALIGNED, HALF_PIXEL };
    struct nnv_row_image g = nnv_row_image(s, 0);
    const double *by = row_factors[nnv_sample_value(s, ROW_FACTOR)];
    const int32_t mode = nnv_sample_value(s, ROW_MODE);
    uint32_t dims[4];
    while (g.h * by[0] < 1) g.h++;
    while (g.w * by[1] < 1) g.w++;
    nnv_sample_image(dims, g.n, g.h, g.w, g.c, g.nchw);
    nnv_sample_tensor(s, X, 4, dims);
    if (nnv_sample_value(s, ROW_FORM)) {
        s->form = &s->op->forms[1];
        nnv_sample_scalar(s, WIDTH_SCALE, by[1]);
        nnv_sample_scalar(s, HEIGHT_SCALE, by[0]);
    } else {
        nnv_sample_scalar(s, WIDTH, floor(g.w * by[1]));
        nnv_sample_scalar(s, HEIGHT, floor(g.h * by[0]));
    }
    if (!g.nchw && mode == PLAIN && s->index % 2) return;
    nnv_sample_scalar(s, NCHW, g.nchw);
    if (mode == PLAIN) return;
    nnv_sample_scalar(s, ALIGN, mode == ALIGNED);
    if (mode == HALF_PIXEL) nnv_sample_scalar(s, HALF, 1);
}

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    /* Up, down, both, to one, onto itself, to twice as much; the factors are exact in float16. */
    static const struct {
        uint32_t h, w, out_h, out_w;
        double scale_h, scale_w;
    } sizes[] = {
        {3, 5, 7, 8, 2.5, 1.75},  {9, 7, 4, 3, 0.5, 0.375}, {4, 9, 11, 5, 2.25, 0.625}, {7, 3, 2, 10, 0.3125, 3},
        {5, 8, 1, 13, 0.25, 1.5}, {6, 4, 6, 4, 1, 1},       {3, 4, 6, 8, 2, 2},
    };
    bool flags = nnv_sample_is(s, "align") || nnv_sample_is(s, "half");
    bool nchw = nnv_sample_is(s, "nchw") || (flags && s->index % 2 == 1);
    int i = s->index % (int)NNV_COUNT_OF(sizes);
    uint32_t dims[4], n = s->empty ? 0 : nnv_sample_dim(s, 2, 3), c = nnv_sample_dim(s, 1, 5);
    nnv_sample_image(dims, n, sizes[i].h, sizes[i].w, c, nchw);
    if (nnv_sample_is(s, "scale")) {
        s->form = &s->op->forms[1];
        nnv_sample_scalar(s, WIDTH_SCALE, sizes[i].scale_w);
        nnv_sample_scalar(s, HEIGHT_SCALE, sizes[i].scale_h);
    } else {
        nnv_sample_scalar(s, WIDTH, sizes[i].out_w);
        nnv_sample_scalar(s, HEIGHT, sizes[i].out_h);
    }
    nnv_sample_tensor(s, X, 4, dims);
    if (nnv_sample_is(s, "plain")) return;
    nnv_sample_scalar(s, NCHW, nchw);
    if (!flags) return;
    nnv_sample_scalar(s, ALIGN, nnv_sample_is(s, "align"));
    if (nnv_sample_is(s, "half")) nnv_sample_scalar(s, HALF, 1);
}

/* The layout is required here. */
static void sample_nearest(struct nnv_sample *s) {
    sample(s);
    if (!s->arg[NCHW].set) nnv_sample_scalar(s, NCHW, 0);
}

#define RECORD(NAME, LEVEL, KIND, ROUNDING, SAMPLE, FORMULA)                                                           \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),       .level = LEVEL,        .formula = FORMULA,     NNV_OP_FORMS(KIND##_forms),           \
        NNV_OP_SIGS(KIND##_sigs), .rounding = ROUNDING,  .zero = NNV_ZERO_BATCH, .check = check,                       \
        .infer = infer,           NNV_EVAL(eval_##KIND), .variants = variants,   NNV_SAMPLE(SAMPLE),                   \
        NNV_OP_FACTORS(factors),                                                                                       \
    }

RECORD(RESIZE_BILINEAR, 1, bilinear, NNV_ROUND_RESCALE, sample,
       "y[i,j] = the bilinear mean of x around p(i), p(j); r = in/out (align corners: (in-1)/(out-1)); "
       "p(i) = i*r (half pixel: (i+1/2)*r - 1/2)");
RECORD(RESIZE_NEAREST_NEIGHBOR, 3, nearest, NNV_ROUND_NONE, sample_nearest,
       "y[i,j] = x[p(i), p(j)]; p(i) = floor(i*in/out) (half pixel: floor((i+1/2)*in/out); align corners: "
       "round(i*(in-1)/(out-1))), at most in-1");
