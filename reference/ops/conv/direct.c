/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/conv/direct.h"

#include "reference/ops/elementwise/fuse.h"

const struct nnv_sig nnv_direct_sigs[NNV_DIRECT_SIGS] = {
    NNV_CONV_SIG(3, FLOAT32, FLOAT32, FLOAT32),
    NNV_CONV_SIG(3, FLOAT16, FLOAT16, FLOAT16),
    NNV_CONV_SIG(3, QUANT8_ASYMM, QUANT8_ASYMM, INT32),
    NNV_CONV_SIG(3, QUANT8_ASYMM, QUANT8_SYMM_PER_CHANNEL, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_ASYMM_SIGNED, INT32),
    NNV_CONV_SIG(4, QUANT8_ASYMM_SIGNED, QUANT8_SYMM_PER_CHANNEL, INT32),
};

struct nnv_direct nnv_direct_of(const struct nnv_kernel *k, uint32_t groups) {
    const struct nnv_shape *f = nnv_in_shape(k, NNV_CONV_FILTER);
    bool nchw = nnv_int(k->call, NNV_CONV_NCHW);
    bool steps_of_1 = nnv_int(k->call, NNV_CONV_STRIDE_H) == 1 && nnv_int(k->call, NNV_CONV_STRIDE_W) == 1;
    return (struct nnv_direct){
        .x = nnv_image_of(nnv_in_shape(k, NNV_CONV_X), nchw),
        .y = nnv_image_of(nnv_out_shape(k, 0), nchw),
        .fh = f->dims[1],
        .fw = f->dims[2],
        .groups = groups,
        .winograd = f->dims[1] == 3 && f->dims[2] == 3 && steps_of_1,
    };
}

/* The sums of one output position, of all channels. */
static void sum_position(const struct nnv_direct *d, const double *x, const int64_t *rows, const int64_t *cols,
                         const double *f, double *sums) {
    uint32_t depth = d->x.c / d->groups, share = d->y.c / d->groups;
    for (uint32_t k = 0; k < d->y.c; k++) {
        const double *from = x + k / share * depth * d->x.sc;
        double sum = 0;
        for (uint32_t p = 0; p < d->fh; p++)
            for (uint32_t q = 0; q < d->fw; q++) {
                const double *w = f + (((size_t)k * d->fh + p) * d->fw + q) * depth;
                if (rows[p] < 0 || cols[q] < 0) continue;
                const double *cell = from + (size_t)rows[p] * d->x.sh + (size_t)cols[q] * d->x.sw;
                for (uint32_t c = 0; c < depth; c++) sum += cell[c * d->x.sc] * w[c];
            }
        sums[k] = sum;
    }
}

/* sums[position, channel], positions in the order [N,H,W]. */
static void sum_all(const struct nnv_direct *d, const double *x, const double *f, double *sums) {
    for (uint32_t n = 0; n < d->y.n; n++)
        for (uint32_t i = 0; i < d->y.h; i++)
            for (uint32_t j = 0; j < d->y.w; j++, sums += d->y.c)
                sum_position(d, x + n * d->x.sn, d->rows + (size_t)i * d->fh, d->cols + (size_t)j * d->fw, f, sums);
}

enum nnv_status nnv_direct_eval(struct nnv_kernel *k, const struct nnv_direct *d, struct nnv_err *err) {
    struct nnv_linear l = {
        .x = NNV_CONV_X,
        .w = NNV_CONV_FILTER,
        .bias = NNV_CONV_BIAS,
        .positions = (size_t)d->y.n * d->y.h * d->y.w,
        .channels = d->y.c,
        .terms = d->terms,
        .y = &d->y,
        .winograd = d->winograd,
    };
    if (!nnv_linear_replays(k)) {
        const double *x = nnv_units(k, NNV_CONV_X), *f = nnv_units(k, NNV_CONV_FILTER);
        l.sums = NNV_NEW(k->scratch, double, l.positions * d->y.c);
        if (!l.sums) return nnv_no_memory(err);
        sum_all(d, x, f, l.sums);
        if (nnv_linear_needs_abs(k)) {
            x = nnv_linear_abs(k, x, nnv_elems(k, NNV_CONV_X));
            f = nnv_linear_abs(k, f, nnv_elems(k, NNV_CONV_FILTER));
            l.abs = NNV_NEW(k->scratch, double, l.positions * d->y.c);
            if (!x || !f || !l.abs) return nnv_no_memory(err);
            sum_all(d, x, f, l.abs);
        }
    }
    return nnv_linear_finish(k, &l, err);
}

/* ------------------------------------------------------------------ samples */

void nnv_direct_set(struct nnv_sample *s, const struct nnv_window_sample *g, uint32_t channels, uint32_t depth) {
    uint32_t dims[4];
    int act = nnv_fuse_drawn(s);
    bool relu1 = act == ANEURALNETWORKS_FUSED_RELU1;
    nnv_sample_image(dims, g->n, g->h, g->w, g->c, g->nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, NNV_CONV_X, 4, dims);
    x->hi = relu1 ? 0.5 : 4;
    x->lo = -x->hi;
    struct nnv_sample_arg *f = nnv_sample_tensor(s, NNV_CONV_FILTER, 4, (uint32_t[]){channels, g->fh, g->fw, depth});
    struct nnv_sample_arg *b = nnv_sample_tensor(s, NNV_CONV_BIAS, 1, &channels);
    b->hi = relu1 ? 0.5 : 3;
    b->lo = -b->hi;
    b->input = f->input = nnv_sample_is(s, "inputs");
    nnv_sample_scalar(s, NNV_CONV_ACT, act);
    nnv_sample_scalar(s, NNV_CONV_NCHW, g->nchw);
}
