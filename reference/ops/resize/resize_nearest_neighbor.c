/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize_nearest_neighbor.c RESIZE_NEAREST_NEIGHBOR. */
#include <float.h>

#include "reference/ops/resize/resize.h"

static const struct nnv_slot by_shape[] = {NNV_RESIZE_X, NNV_RESIZE_BY_SHAPE, NNV_RESIZE_LAYOUT(0),
                                           NNV_RESIZE_FLAGS(1, 2)};
static const struct nnv_slot by_scale[] = {NNV_RESIZE_X, NNV_RESIZE_BY_SCALE, NNV_RESIZE_LAYOUT(0),
                                           NNV_RESIZE_FLAGS(1, 2)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};
static const struct nnv_form forms[] = {
    NNV_FORM("by shape", by_shape, outputs),
    NNV_FORM("by scale", by_scale, outputs),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
    NNV_SIG_SCALAR(3, QUANT8_ASYMM, FLOAT32),
    NNV_SIG_SCALAR(4, QUANT8_ASYMM_SIGNED, FLOAT32),
};

/*
 * The input position of output i: the exact coordinate is a fraction num / den. Implementations compute it in
 * float32; where the ratio is no float32 number and the next step of floor or round is within four roundings, they
 * may take either side.
 */
static uint32_t source(struct nnv_kernel *k, uint32_t in, uint32_t out, uint32_t i, bool inexact) {
    bool align = nnv_int(k->call, NNV_RESIZE_ALIGN), half = nnv_int(k->call, NNV_RESIZE_HALF);
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
    bool inexact = nnv_resize_axis(k->call, in, out).inexact;
    uint32_t *at = NNV_NEW(k->scratch, uint32_t, out);
    for (uint32_t i = 0; at && i < out; i++) at[i] = source(k, in, out, i, inexact);
    return at;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    bool nchw = nnv_int(k->call, NNV_RESIZE_NCHW);
    struct nnv_image x = nnv_image_of(nnv_in_shape(k, NNV_RESIZE_INPUT), nchw);
    struct nnv_image y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *v = nnv_real(k, NNV_RESIZE_INPUT);
    const uint32_t *rows = sources(k, x.h, y.h), *columns = sources(k, x.w, y.w);
    if (!rows || !columns) return nnv_no_memory(err);
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++)
            for (uint32_t j = 0; j < y.w; j++)
                for (uint32_t c = 0; c < y.c; c++)
                    k->out[0][nnv_image_at(&y, n, i, j, c)] = v[nnv_image_at(&x, n, rows[i], columns[j], c)];
    return NNV_OK;
}

/* The layout is required here. */
static void sample(struct nnv_sample *s) {
    nnv_resize_sample(s);
    if (!s->arg[NNV_RESIZE_NCHW].set) nnv_sample_scalar(s, NNV_RESIZE_NCHW, 0);
}

const struct nnv_op nnv_op_RESIZE_NEAREST_NEIGHBOR = {
    NNV_OP_NAMED(RESIZE_NEAREST_NEIGHBOR),
    .level = 3,
    .formula = "y[i,j] = x[p(i), p(j)]; p(i) = floor(i*in/out) (half pixel: floor((i+1/2)*in/out); align corners: "
               "round(i*(in-1)/(out-1))), at most in-1",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .zero = NNV_ZERO_BATCH,
    .check = nnv_resize_check,
    .infer = nnv_resize_infer,
    .eval = eval,
    .variants = nnv_resize_variants,
    .sample = sample,
};
