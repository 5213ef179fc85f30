/* SPDX-License-Identifier: Apache-2.0 */
/* Pools. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

/** The window of the current pool. */
static bool window(struct nnv_cv *c, struct nnv_ox_window *w) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t n, kernel[2] = {0};
    const int64_t *shape = nnv_ox_list(c, "kernel_shape", &n);
    if (v.rank != 3 && v.rank != 4) nnv_cv_refuse(c, " over %u axes", v.rank < 2 ? 0 : v.rank - 2);
    if (nnv_cv_ok(c) && (!shape || n != v.rank - 2)) nnv_cv_fail(c, "kernel_shape has %u entries", n);
    for (uint32_t i = 0; shape && i < n && nnv_cv_ok(c); i++) {
        if (shape[i] < 1 || shape[i] > INT16_MAX) nnv_cv_fail(c, "kernel_shape holds %lld", (long long)shape[i]);
        kernel[i] = (uint32_t)shape[i];
    }
    return nnv_cv_ok(c) && nnv_ox_window_of(c, &v, kernel, nnv_ox_flag(c, "ceil_mode", false), w);
}

static void give_image(struct nnv_cv *c, uint32_t y) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    if (!nnv_cv_ok(c)) return;
    const uint32_t *d = nnv_cv_at(c, y)->dims, line[] = {d[0], d[1], d[3]};
    nnv_ox_give(c, 0, y, v.type, v.rank, v.rank == 4 ? d : line);
}

/** A pool of NNAPI's. */
static uint32_t pooled(struct nnv_cv *c, int32_t code, uint32_t x, const struct nnv_ox_window *w) {
    if (!nnv_cv_ok(c)) return 0;
    const uint32_t *d = nnv_cv_at(c, x)->dims, dims[] = {d[0], d[1], w->out[0], w->out[1]};
    const uint32_t y = nnv_cv_temp_shaped(c, x, 4, dims);
    uint32_t in[11] = {x}, n = 1;
    nnv_ox_window_inputs(c, w, in, &n);
    for (uint32_t i = 2; i-- > 0;) in[n++] = nnv_builder_int(&c->b, (int32_t)w->kernel[i]);
    in[n++] = nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE);
    in[n++] = nnv_builder_bool(&c->b, true);
    nnv_cv_emit(c, code, n, in, y);
    return y;
}

/** x with the window's cells around it, and as many more behind as the last window reaches; the window without them. */
static uint32_t surrounded(struct nnv_cv *c, uint32_t x, struct nnv_ox_window *w, bool reach, double value) {
    uint32_t cells[8] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t k = (int64_t)(w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t need = (int64_t)(w->out[i] - 1) * w->stride[i] + k - w->in[i] - w->before[i];
        const int64_t after = reach && need > w->after[i] ? need : w->after[i];
        cells[2 + i] = (uint32_t)w->before[i];
        cells[6 + i] = (uint32_t)after;
        w->in[i] += (uint32_t)(w->before[i] + after);
        w->before[i] = w->after[i] = 0;
    }
    return nnv_ox_padded(c, x, cells, value);
}

/** Every stride-th entry from an offset, along rows and columns: what entry (row, column) of each window is. */
static uint32_t entry(struct nnv_cv *c, uint32_t x, const struct nnv_ox_window *w, uint32_t row, uint32_t column) {
    const uint32_t at[] = {row * w->dilation[0], column * w->dilation[1]};
    for (uint32_t i = 0; i < 2 && nnv_cv_ok(c); i++) {
        int32_t *index = NNV_NEW(c->b.arena, int32_t, w->out[i]);
        if (!index) c->b.failed = true;
        for (uint32_t k = 0; index && k < w->out[i]; k++) index[k] = (int32_t)(at[i] + k * w->stride[i]);
        if (index) x = nnv_ox_gathered(c, x, 2 + i, w->out[i], index);
    }
    return x;
}

/** NNAPI's pools have no dilation: the entries of all windows are combined one by one. */
static uint32_t by_entries(struct nnv_cv *c, uint32_t x, const struct nnv_ox_window *w, bool sum) {
    enum { MOST = 256 };
    uint32_t y = 0;
    if (w->kernel[0] * w->kernel[1] > MOST)
        nnv_cv_refuse(c, " of %u entries with dilation", w->kernel[0] * w->kernel[1]);
    for (uint32_t r = 0; r < w->kernel[0]; r++)
        for (uint32_t k = 0; k < w->kernel[1] && nnv_cv_ok(c); k++) {
            const uint32_t e = entry(c, x, w, r, k);
            y = r + k == 0 ? e : sum ? nnv_ox_sum(c, y, e) : NNV_OX_LIKE(c, ANEURALNETWORKS_MAXIMUM, y, y, e);
        }
    return y;
}

/** For each window, how many of its entries lie in the image (or, with pads, in it and its pads). */
static uint32_t counts(struct nnv_cv *c, uint32_t like, const struct nnv_ox_window *w, bool pads) {
    const uint32_t dims[] = {1, 1, w->out[0], w->out[1]};
    double *v = NNV_NEW(c->b.arena, double, (size_t)dims[2] * dims[3]);
    if (!v) c->b.failed = true;
    for (size_t i = 0; v && i < (size_t)dims[2] * dims[3]; i++) {
        const size_t at[] = {i / dims[3], i % dims[3]};
        v[i] = 1;
        for (uint32_t a = 0; a < 2; a++) {
            int64_t n = 0;
            for (uint32_t k = 0; k < w->kernel[a]; k++) {
                const int64_t p = (int64_t)at[a] * w->stride[a] + k * w->dilation[a] - w->before[a];
                n += p >= (pads ? -w->before[a] : 0) && p < w->in[a] + (pads ? w->after[a] : 0);
            }
            v[i] *= (double)n;
        }
        if (v[i] == 0) v[i] = 1;
    }
    return v && nnv_cv_ok(c)
               ? nnv_builder_numbers(&c->b, (struct nnv_encoding){.type = nnv_cv_at(c, like)->type}, 4, dims, v)
               : 0;
}

static void max_pool(struct nnv_cv *c) {
    struct nnv_ox_window w;
    nnv_ox_int(c, "storage_order", 0); /* of the second output */
    if (!window(c, &w)) return;
    uint32_t x = nnv_ox_image(c, 0);
    if (w.dilation[0] == 1 && w.dilation[1] == 1) {
        give_image(c, pooled(c, ANEURALNETWORKS_MAX_POOL_2D, x, &w));
        return;
    }
    if (!nnv_cv_ok(c)) return;
    const struct nnv_type *t = nnv_type(nnv_cv_at(c, x)->type);
    x = surrounded(c, x, &w, true, t->kind == NNV_KIND_FLOAT ? -t->max : t->min);
    give_image(c, by_entries(c, x, &w, false));
}

static void average_pool(struct nnv_cv *c) {
    const bool include = nnv_ox_flag(c, "count_include_pad", false);
    struct nnv_ox_window w;
    if (!window(c, &w)) return;
    uint32_t x = nnv_ox_image(c, 0);
    if (w.dilation[0] == 1 && w.dilation[1] == 1) {
        if (include) x = surrounded(c, x, &w, false, 0);
        give_image(c, pooled(c, ANEURALNETWORKS_AVERAGE_POOL_2D, x, &w));
        return;
    }
    const uint32_t n = counts(c, x, &w, include);
    x = surrounded(c, x, &w, true, 0);
    give_image(c, nnv_ox_quotient(c, by_entries(c, x, &w, true), n));
}

/** |x|^p and back. */
static uint32_t raised(struct nnv_cv *c, uint32_t x, int64_t p, bool back) {
    if (!nnv_cv_ok(c)) return 0;
    if (p == 2) return back ? NNV_OX_LIKE(c, ANEURALNETWORKS_SQRT, x, x) : nnv_ox_product_of(c, x, x);
    if (!back) x = NNV_OX_LIKE(c, ANEURALNETWORKS_ABS, x, x);
    return p == 1 ? x
                  : NNV_OX_LIKE(c, ANEURALNETWORKS_POW, x, x, nnv_cv_number(c, x, back ? 1.0 / (double)p : (double)p));
}

/** The sum is the mean of so many. */
static void lp_pool(struct nnv_cv *c) {
    const int64_t p = nnv_ox_int(c, "p", 2);
    struct nnv_ox_window w;
    if (p < 1 || p > 64) nnv_cv_refuse(c, " with p = %lld", (long long)p);
    if (!window(c, &w)) return;
    const uint32_t x = surrounded(c, raised(c, nnv_ox_image(c, 0), p, false), &w, true, 0);
    const bool spread = w.dilation[0] > 1 || w.dilation[1] > 1;
    uint32_t y = spread ? by_entries(c, x, &w, true) : pooled(c, ANEURALNETWORKS_AVERAGE_POOL_2D, x, &w);
    if (!spread) y = nnv_ox_linear(c, y, (double)w.kernel[0] * w.kernel[1], 0);
    give_image(c, raised(c, y, p, true));
}

/* -------------------------------------------------------------------- whole images */

/** All but batch and channel as one axis. */
static uint32_t rows_of(struct nnv_cv *c, struct nnv_ox_value *r) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    uint32_t three[3];
    *r = v;
    if (v.rank < 2) nnv_cv_fail(c, "rank %u", v.rank);
    nnv_ox_around(&v, 1, three);
    for (uint32_t i = 2; i < v.rank; i++) r->dims[i] = 1;
    if (v.rank == 4) return nnv_ox_in(c, 0);
    const uint32_t dims[] = {three[0], three[1], three[2]};
    return nnv_ox_in_shape(c, 0, 3, dims);
}

static void global_pool(struct nnv_cv *c) {
    static const uint32_t axes[] = {2, 3};
    struct nnv_ox_value r;
    const uint32_t x = rows_of(c, &r);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_ox_reduced(c, c->onnx->row->nnapi, x, nnv_cv_at(c, x)->rank - 2, axes);
    nnv_ox_give(c, 0, y, r.type, r.rank, r.dims);
}

static void global_lp_pool(struct nnv_cv *c) {
    static const uint32_t axes[] = {2, 3};
    const int64_t p = nnv_ox_int(c, "p", 2);
    struct nnv_ox_value r;
    if (p < 1 || p > 64) nnv_cv_refuse(c, " with p = %lld", (long long)p);
    const uint32_t x = raised(c, rows_of(c, &r), p, false);
    if (!nnv_cv_ok(c)) return;
    const uint32_t y = nnv_ox_reduced(c, ANEURALNETWORKS_REDUCE_SUM, x, nnv_cv_at(c, x)->rank - 2, axes);
    nnv_ox_give(c, 0, raised(c, y, p, true), r.type, r.rank, r.dims);
}

#define F NNV_OX_FLOAT
static const struct nnv_ox_row rows[] = {
    {"MaxPool", 1, 1, F | NNV_OX_BYTE, max_pool, 0},
    {"AveragePool", 1, 1, F, average_pool, 0},
    {"LpPool", 1, 1, F, lp_pool, 0},
    {"GlobalAveragePool", 1, 1, F, global_pool, ANEURALNETWORKS_MEAN},
    {"GlobalMaxPool", 1, 1, F, global_pool, ANEURALNETWORKS_REDUCE_MAX},
    {"GlobalLpPool", 1, 1, F, global_lp_pool, 0},
};
const struct nnv_ox_rows nnv_ox_pool = {rows, sizeof rows / sizeof *rows};
