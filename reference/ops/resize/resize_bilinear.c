/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize_bilinear.c RESIZE_BILINEAR. */
#include "reference/ops/resize/resize.h"

static const struct nnv_slot by_shape[] = {NNV_RESIZE_X, NNV_RESIZE_BY_SHAPE, NNV_RESIZE_LAYOUT(1),
                                           NNV_RESIZE_FLAGS(2, 3)};
static const struct nnv_slot by_scale[] = {NNV_RESIZE_X, NNV_RESIZE_BY_SCALE, NNV_RESIZE_LAYOUT(1),
                                           NNV_RESIZE_FLAGS(2, 3)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form forms[] = {
    NNV_FORM("by shape", by_shape, outputs),
    NNV_FORM("by scale", by_scale, outputs),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(1, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
    NNV_SIG_SCALAR(3, QUANT8_ASYMM, FLOAT32),
    NNV_SIG_SCALAR(4, QUANT8_ASYMM_SIGNED, FLOAT32),
};

/* Between which two input positions an output position lies, and how far it is from the first. */
struct tap {
    uint32_t lo, hi;
    double t;
};

static struct tap *taps(struct nnv_kernel *k, uint32_t in, uint32_t out) {
    struct nnv_resize_axis a = nnv_resize_axis(k->call, in, out);
    struct tap *taps = NNV_NEW(k->scratch, struct tap, out);
    for (uint32_t i = 0; taps && i < out; i++) {
        double p = nnv_resize_position(k, &a, i), lo = fmax(floor(p), 0), hi = fmin(ceil(p), in - 1.0);
        lo = fmin(lo, in - 1.0);
        taps[i] = (struct tap){(uint32_t)lo, (uint32_t)fmax(hi, lo), p - lo};
    }
    return taps;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    bool nchw = nnv_int(k->call, NNV_RESIZE_NCHW) != 0;
    struct nnv_image x = nnv_image_of(nnv_in_shape(k, NNV_RESIZE_INPUT), nchw);
    struct nnv_image y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *v = nnv_real(k, NNV_RESIZE_INPUT);
    const struct tap *rows = taps(k, x.h, y.h), *columns = taps(k, x.w, y.w);
    if (!rows || !columns) return nnv_no_memory(err);
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++)
            for (uint32_t j = 0; j < y.w; j++)
                for (uint32_t c = 0; c < y.c; c++) {
                    const struct tap *r = &rows[i], *q = &columns[j];
                    double terms[] = {
                        (1 - r->t) * (1 - q->t) * v[nnv_image_at(&x, n, r->lo, q->lo, c)],
                        (1 - r->t) * q->t * v[nnv_image_at(&x, n, r->lo, q->hi, c)],
                        r->t * (1 - q->t) * v[nnv_image_at(&x, n, r->hi, q->lo, c)],
                        r->t * q->t * v[nnv_image_at(&x, n, r->hi, q->hi, c)],
                    };
                    double sum = 0, abs = 0;
                    for (int t = 0; t < 4; t++) {
                        sum += terms[t];
                        abs += fabs(terms[t]);
                    }
                    k->out[0][nnv_image_at(&y, n, i, j, c)] = nnv_sum(k, sum, 4, abs, 1);
                }
    return NNV_OK;
}

const struct nnv_op nnv_op_RESIZE_BILINEAR = {
    NNV_OP_NAMED(RESIZE_BILINEAR),
    .level = 1,
    .formula = "y[i,j] = the bilinear mean of x around p(i), p(j); r = in/out (align corners: (in-1)/(out-1)); "
               "p(i) = i*r (half pixel: (i+1/2)*r - 1/2)",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_BATCH,
    .check = nnv_resize_check,
    .infer = nnv_resize_infer,
    .eval = eval,
    .variants = nnv_resize_variants,
    .sample = nnv_resize_sample,
};
