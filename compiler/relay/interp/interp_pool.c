/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: pools. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

/** One plane that a window moves over, and how it moves. */
struct pool {
    int64_t in[2], out[2], size[2], stride[2], dilation[2], pad[4];
    int64_t x_h, x_w, y_h, y_w; /**< distances of neighbours */
    bool whole, padding_counts;
    double least;
};

typedef double pool_fn(const struct pool *p, const double *x, int64_t h, int64_t w);

/* Places of a window that begins at (h, w) and lie in the image. */
static bool next_place(const struct pool *p, int64_t h, int64_t w, int64_t *i, int64_t *at) {
    for (++*i; *i < p->size[0] * p->size[1]; ++*i) {
        int64_t y = h + *i / p->size[1] * p->dilation[0], x = w + *i % p->size[1] * p->dilation[1];
        *at = y * p->x_h + x * p->x_w;
        if (y >= 0 && y < p->in[0] && x >= 0 && x < p->in[1]) return true;
    }
    return false;
}

static double maximum(const struct pool *p, const double *x, int64_t h, int64_t w) {
    double most = p->least;
    for (int64_t i = -1, at; next_place(p, h, w, &i, &at);)
        if (x[at] > most || isnan(x[at])) most = x[at];
    return most;
}

static double average(const struct pool *p, const double *x, int64_t h, int64_t w) {
    double sum = 0, n = 0;
    for (int64_t i = -1, at; next_place(p, h, w, &i, &at); n++) sum += x[at];
    if (p->padding_counts) n = (double)(p->size[0] * p->size[1]);
    return p->whole ? trunc(sum / fmax(n, 1)) : sum / fmax(n, 1);
}

/* Batches and channels one after the other, whatever the layout. */
static void each_plane(struct nnv_interp_op *op, struct pool *p, const struct nnv_relay_layout *l, pool_fn *fn) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    int64_t xs[NNV_RELAY_RANK], ys[NNV_RELAY_RANK];
    nnv_interp_strides(x, xs);
    nnv_interp_strides(y, ys);
    p->x_h = xs[l->h], p->x_w = xs[l->w], p->y_h = ys[l->h], p->y_w = ys[l->w];
    p->in[0] = x->dims[l->h], p->in[1] = x->dims[l->w], p->out[0] = y->dims[l->h], p->out[1] = y->dims[l->w];
    for (int64_t n = 0; n < x->dims[l->first]; n++) {
        for (int64_t c = 0; c < x->dims[l->second]; c++) {
            const double *from = op->in[0]->values + n * xs[l->first] + c * xs[l->second];
            double *to = op->out->values + n * ys[l->first] + c * ys[l->second];
            for (int64_t h = 0; h < p->out[0]; h++)
                for (int64_t w = 0; w < p->out[1]; w++)
                    to[h * p->y_h + w * p->y_w] =
                        fn(p, from, h * p->stride[0] - p->pad[0], w * p->stride[1] - p->pad[1]);
        }
    }
}

static bool layout_of(struct nnv_interp_op *op, struct nnv_relay_layout *l) {
    return nnv_relay_layout(&op->t, "layout", nnv_relay_text(&op->t, "layout", "NCHW"), "NCHW", l);
}

static void pool(struct nnv_interp_op *op, pool_fn *fn) {
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    struct pool p = {.whole = !nnv_relay_dtype_is_float(dtype),
                     .padding_counts = nnv_relay_int(&op->t, "count_include_pad", 0)};
    struct nnv_relay_layout l;
    double high;
    if (!layout_of(op, &l) || !nnv_relay_pair(&op->t, "pool_size", 1, p.size) ||
        !nnv_relay_pair(&op->t, "strides", 1, p.stride) || !nnv_relay_pair(&op->t, "dilation", 1, p.dilation) ||
        !nnv_relay_padding(&op->t, p.pad))
        return;
    if (p.whole)
        nnv_interp_limits(dtype, &p.least, &high);
    else
        p.least = dtype == NNV_RELAY_FLOAT16 ? -65504 : dtype == NNV_RELAY_FLOAT64 ? -DBL_MAX : -(double)FLT_MAX;
    each_plane(op, &p, &l, fn);
}

void nnv_interp_max_pool2d(struct nnv_interp_op *op) { pool(op, maximum); }

void nnv_interp_avg_pool2d(struct nnv_interp_op *op) { pool(op, average); }

/* Windows from floor(i * in / out) to ceil((i + 1) * in / out): of all that is there if out is 1. */
static void adaptive(struct nnv_interp_op *op, bool max) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    struct nnv_relay_layout l;
    int64_t xs[NNV_RELAY_RANK], ys[NNV_RELAY_RANK];
    if (!layout_of(op, &l)) return;
    nnv_interp_strides(x, xs);
    nnv_interp_strides(y, ys);
    int64_t in_h = x->dims[l.h], in_w = x->dims[l.w], out_h = y->dims[l.h], out_w = y->dims[l.w];
    if (in_h == 0 || in_w == 0) {
        if (op->out->n) nnv_relay_wrong(&op->t, "there is nothing to pool");
        return;
    }
    struct pool p = {.in = {in_h, in_w}, .dilation = {1, 1}, .x_h = xs[l.h], .x_w = xs[l.w], .least = -INFINITY};
    p.whole = !nnv_relay_dtype_is_float(y->dtype);
    for (int64_t i = 0; i < (int64_t)op->out->n; i++) {
        int64_t n = i / ys[l.first] % y->dims[l.first], c = i / ys[l.second] % y->dims[l.second];
        int64_t h = i / ys[l.h] % out_h, w = i / ys[l.w] % out_w;
        int64_t top = h * in_h / out_h, left = w * in_w / out_w;
        p.size[0] = ((h + 1) * in_h + out_h - 1) / out_h - top;
        p.size[1] = ((w + 1) * in_w + out_w - 1) / out_w - left;
        const double *from = op->in[0]->values + n * xs[l.first] + c * xs[l.second];
        op->out->values[i] = max ? maximum(&p, from, top, left) : average(&p, from, top, left);
    }
}

/* Also nn.adaptive_avg_pool2d and nn.adaptive_max_pool2d, whose result is larger. */
void nnv_interp_adaptive_pool(struct nnv_interp_op *op) { adaptive(op, strstr(op->row->name, "max") != NULL); }
