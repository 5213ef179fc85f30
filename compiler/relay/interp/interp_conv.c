/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels: convolutions and dense layers, also on quantised integers, whose zero points are taken off first: sums of
 * products of integers are exact in double precision.
 */
#include <string.h>

#include <cblas.h>

#include "compiler/relay/interp/interp_kernel.h"

enum { BLOCK = 1 << 20 }; /* elements that are gathered at a time, at most, but for one line */

/** How one convolution walks: extents and strides are those of its layouts. */
struct conv {
    int64_t n, in_h, in_w, out_h, out_w, k_h, k_w, groups, in_c, out_c; /**< in_c and out_c: of a group */
    int64_t stride[2], dilation[2], pad[4];
    int64_t x_n, x_c, x_h, x_w, y_n, y_c, y_h, y_w; /**< distances of neighbours */
    const double *x, *w;                            /**< w: [out channel][in channel of the group][h][w] */
    double *y;
};

/* Values of an operand less its zero point, which is one for all, or one for each place along dimension `along`. */
static const double *centred(struct nnv_interp_op *op, size_t i, size_t zero, size_t along) {
    const struct nnv_relay_datum *d = op->in[i], *z = op->in[zero];
    struct nnv_interp_axis a = nnv_interp_along(d->type, along);
    if (z->n != 1 && z->n != a.extent)
        return nnv_relay_wrong(&op->t, "operand %zu has %zu zero points for %zu places", zero, z->n, a.extent);
    double *to = nnv_interp_space(op, d->n);
    for (size_t k = 0; to && k < d->n; k++) to[k] = d->values[k] - nnv_interp_nth(op, zero, k / a.inner % a.extent);
    return to;
}

/* ----------------------------------------------------------------- geometry */

static void data_strides(const struct nnv_relay_type *type, const struct nnv_relay_layout *l, int64_t *to) {
    int64_t s[NNV_RELAY_RANK];
    nnv_interp_strides(type, s);
    to[0] = s[l->first];
    to[1] = s[l->second];
    to[2] = s[l->h];
    to[3] = s[l->w];
}

/* The weights as [out][in of the group][h][w]. Depthwise ones are [channel][multiplier] in their letters O and I. */
static const double *weights(struct nnv_interp_op *op, const double *from, const struct nnv_relay_layout *k) {
    const struct nnv_relay_type *type = op->in[1]->type;
    int64_t s[4], dims[] = {type->dims[k->first], type->dims[k->second], type->dims[k->h], type->dims[k->w]};
    double *to = nnv_interp_space(op, op->in[1]->n);
    data_strides(type, k, s);
    if (to) nnv_interp_pick(from, 4, dims, s, to);
    return to;
}

static bool geometry(struct nnv_interp_op *op, struct conv *c, const char *kernel_layout, const double *w) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type, *k = op->in[1]->type;
    const char *in_layout = nnv_relay_text(&op->t, "data_layout", "NCHW"),
               *out_layout = nnv_relay_text(&op->t, "out_layout", "");
    struct nnv_relay_layout l, o, kl;
    int64_t s[4];
    if (*out_layout == '\0') out_layout = in_layout;
    if (!nnv_relay_layout(&op->t, "data_layout", in_layout, "NCHW", &l) ||
        !nnv_relay_layout(&op->t, "out_layout", out_layout, "NCHW", &o) ||
        !nnv_relay_layout(&op->t, "kernel_layout", kernel_layout, "OIHW", &kl) ||
        !nnv_relay_pair(&op->t, "strides", 1, c->stride) || !nnv_relay_pair(&op->t, "dilation", 1, c->dilation) ||
        !nnv_relay_padding(&op->t, c->pad))
        return false;
    data_strides(x, &l, s);
    c->x_n = s[0], c->x_c = s[1], c->x_h = s[2], c->x_w = s[3];
    data_strides(y, &o, s);
    c->y_n = s[0], c->y_c = s[1], c->y_h = s[2], c->y_w = s[3];
    c->n = x->dims[l.first], c->in_h = x->dims[l.h], c->in_w = x->dims[l.w];
    c->out_h = y->dims[o.h], c->out_w = y->dims[o.w];
    c->k_h = k->dims[kl.h], c->k_w = k->dims[kl.w];
    c->groups = nnv_relay_int(&op->t, "groups", 1);
    c->in_c = x->dims[l.second] / c->groups;
    c->out_c = y->dims[o.second] / c->groups;
    c->y = op->out->values;
    c->w = weights(op, w, &kl);
    return c->w != NULL;
}

/* ------------------------------------------------------------- convolutions */

/* One channel in and out at a time, for groups of few channels. */
static void convolve_plane(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t kh = 0; kh < c->k_h; kh++) {
        for (int64_t kw = 0; kw < c->k_w; kw++) {
            double by = w[kh * c->k_w + kw];
            for (int64_t oh = 0; oh < c->out_h; oh++) {
                int64_t h = oh * c->stride[0] - c->pad[0] + kh * c->dilation[0];
                if (h < 0 || h >= c->in_h) continue;
                const double *line = x + h * c->x_h;
                double *to = y + oh * c->y_h;
                int64_t at = kw * c->dilation[1] - c->pad[1];
                for (int64_t ow = 0; ow < c->out_w; ow++, at += c->stride[1])
                    if (at >= 0 && at < c->in_w) to[ow * c->y_w] += by * line[at * c->x_w];
            }
        }
    }
}

static void convolve_group(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t o = 0; o < c->out_c; o++)
        for (int64_t i = 0; i < c->in_c; i++)
            convolve_plane(c, x + i * c->x_c, w + (o * c->in_c + i) * c->k_h * c->k_w, y + o * c->y_c);
}

/* Lines of the result from `first` on: what lies under each place of the window, a line for each weight. */
static void gather(const struct conv *c, const double *x, int64_t first, int64_t lines, double *to) {
    for (int64_t i = 0; i < c->in_c; i++) {
        for (int64_t kh = 0; kh < c->k_h; kh++) {
            for (int64_t kw = 0; kw < c->k_w; kw++) {
                for (int64_t oh = first; oh < first + lines; oh++) {
                    int64_t h = oh * c->stride[0] - c->pad[0] + kh * c->dilation[0];
                    int64_t at = kw * c->dilation[1] - c->pad[1];
                    bool in = h >= 0 && h < c->in_h;
                    const double *line = in ? x + i * c->x_c + h * c->x_h : NULL;
                    for (int64_t ow = 0; ow < c->out_w; ow++, at += c->stride[1])
                        *to++ = in && at >= 0 && at < c->in_w ? line[at * c->x_w] : 0;
                }
            }
        }
    }
}

/* A group as matrix products, some lines of the result at a time. */
static bool multiply_group(struct nnv_interp_op *op, const struct conv *c, const double *x, const double *w, double *y,
                           double *under, double *product, int64_t most) {
    int64_t depth = c->in_c * c->k_h * c->k_w;
    for (int64_t first = 0; first < c->out_h; first += most) {
        int64_t lines = c->out_h - first < most ? c->out_h - first : most, width = lines * c->out_w;
        if (width > INT32_MAX || depth > INT32_MAX || c->out_c > INT32_MAX) return nnv_relay_wrong(&op->t, "too large");
        gather(c, x, first, lines, under);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)c->out_c, (int)width, (int)depth, 1, w, (int)depth,
                    under, (int)width, 0, product, (int)width);
        for (int64_t o = 0; o < c->out_c; o++)
            for (int64_t h = 0; h < lines; h++)
                for (int64_t v = 0; v < c->out_w; v++)
                    y[o * c->y_c + (first + h) * c->y_h + v * c->y_w] = product[(o * lines + h) * c->out_w + v];
    }
    return true;
}

static void convolve(struct nnv_interp_op *op, const struct conv *c) {
    int64_t depth = c->in_c * c->k_h * c->k_w, line = depth * c->out_w, most = line ? BLOCK / line : 1;
    bool few = depth == 0 || (c->in_c < 4 && c->out_c < 4);
    double *under = NULL, *product = NULL;
    if (most < 1) most = 1;
    if (most > c->out_h) most = c->out_h;
    if (!few && op->out->n) {
        under = nnv_interp_space(op, (size_t)(line * most));
        product = under ? nnv_interp_space(op, (size_t)(c->out_c * c->out_w * most)) : NULL;
        if (product == NULL) return;
    }
    for (int64_t n = 0; op->out->n && n < c->n; n++) {
        for (int64_t g = 0; g < c->groups; g++) {
            const double *x = c->x + n * c->x_n + g * c->in_c * c->x_c, *w = c->w + g * c->out_c * depth;
            double *y = c->y + n * c->y_n + g * c->out_c * c->y_c;
            if (few)
                convolve_group(c, x, w, y);
            else if (!multiply_group(op, c, x, w, y, under, product, most))
                return;
        }
    }
}

/* One channel in, spread over one channel out. */
static void spread_plane(const struct conv *c, const double *x, const double *w, double *y) {
    for (int64_t i = 0; i < c->in_h * c->in_w; i++) {
        int64_t top = i / c->in_w * c->stride[0] - c->pad[0], left = i % c->in_w * c->stride[1] - c->pad[1];
        double v = x[i / c->in_w * c->x_h + i % c->in_w * c->x_w];
        for (int64_t k = 0; k < c->k_h * c->k_w; k++) {
            int64_t h = top + k / c->k_w * c->dilation[0], at = left + k % c->k_w * c->dilation[1];
            if (h >= 0 && h < c->out_h && at >= 0 && at < c->out_w) y[h * c->y_h + at * c->y_w] += v * w[k];
        }
    }
}

/* The weights are [out channel of the group][in channel][h][w]. */
static void spread(const struct conv *c) {
    int64_t size = c->k_h * c->k_w, all = c->in_c * c->groups;
    for (int64_t n = 0; n < c->n; n++)
        for (int64_t i = 0; i < all; i++)
            for (int64_t o = 0; o < c->out_c; o++)
                spread_plane(c, c->x + n * c->x_n + i * c->x_c, c->w + (o * all + i) * size,
                             c->y + n * c->y_n + (i / c->in_c * c->out_c + o) * c->y_c);
}

/* Data and weights, without their zero points if they are quantised: operands 2 and 3 are these, 4 and 5 the scales,
 * which only the meaning of the result depends on. */
static bool operands(struct nnv_interp_op *op, struct conv *c, const char *kernel_layout) {
    struct nnv_relay_layout k;
    const double *w = op->in[1]->values;
    c->x = op->in[0]->values;
    kernel_layout = nnv_relay_text(&op->t, "kernel_layout", kernel_layout);
    if (op->n_in == 6) {
        if (!nnv_relay_layout(&op->t, "kernel_layout", kernel_layout, "OIHW", &k)) return false;
        c->x = op->in[2]->n == 1 ? centred(op, 0, 2, 0) : nnv_relay_wrong(&op->t, "the data have one zero point");
        w = c->x ? centred(op, 1, 3, k.first) : NULL;
        if (w == NULL) return false;
    }
    return geometry(op, c, kernel_layout, w);
}

void nnv_interp_conv2d(struct nnv_interp_op *op) {
    struct conv c = {0};
    if (!operands(op, &c, "OIHW")) return;
    convolve(op, &c);
    nnv_interp_wrap_all(op);
}

void nnv_interp_conv2d_transpose(struct nnv_interp_op *op) {
    struct conv c = {0};
    if (!operands(op, &c, "IOHW")) return;
    spread(&c);
    nnv_interp_wrap_all(op);
}

/* An image of one line: NCW is NCHW, OIW is OIHW. */
void nnv_interp_conv1d(struct nnv_interp_op *op) {
    const int64_t *x = op->in[0]->type->dims, *w = op->in[1]->type->dims, *y = op->out->type->dims;
    int64_t stride[2], dilation[2], pad[2], groups = nnv_relay_int(&op->t, "groups", 1);
    if (!nnv_relay_pair(&op->t, "strides", 1, stride) || !nnv_relay_pair(&op->t, "dilation", 1, dilation) ||
        !nnv_relay_pair(&op->t, "padding", 0, pad))
        return;
    struct conv c = {.n = x[0],
                     .in_h = 1,
                     .in_w = x[2],
                     .out_h = 1,
                     .out_w = y[2],
                     .k_h = 1,
                     .k_w = w[2],
                     .groups = groups,
                     .in_c = x[1] / groups,
                     .out_c = y[1] / groups,
                     .stride = {1, stride[0]},
                     .dilation = {1, dilation[0]},
                     .pad = {0, pad[0], 0, pad[1]},
                     .x = op->in[0]->values,
                     .w = op->in[1]->values,
                     .y = op->out->values};
    c.x_w = c.y_w = 1;
    c.x_c = c.x_h = x[2];
    c.y_c = c.y_h = y[2];
    c.x_n = x[1] * x[2];
    c.y_n = y[1] * y[2];
    convolve(op, &c);
    nnv_interp_wrap_all(op);
}

/* -------------------------------------------------------------------- dense */

/* y[m][n] = sum over k of a[m][k] * b[n][k] */
static void product_of(struct nnv_interp_op *op, size_t m, size_t n, size_t k, const double *a, const double *b,
                       double *y) {
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX) {
        nnv_relay_wrong(&op->t, "too large");
        return;
    }
    if (m && n && k)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)k, 0, y,
                    (int)n);
}

void nnv_interp_dense(struct nnv_interp_op *op) {
    const struct nnv_relay_type *w = op->in[1]->type;
    size_t units = (size_t)w->dims[0], depth = (size_t)w->dims[1];
    const double *a = op->in[0]->values, *b = op->in[1]->values;
    if (op->n_in == 6) {
        a = op->in[2]->n == 1 ? centred(op, 0, 2, 0) : nnv_relay_wrong(&op->t, "the data have one zero point");
        b = a ? centred(op, 1, 3, 0) : NULL;
        if (b == NULL) return;
    }
    product_of(op, units ? op->out->n / units : 0, units, depth, a, b, op->out->values);
    nnv_interp_wrap_all(op);
}

/* A matrix of a batch with rows of what is summed. */
static const double *rows_of(struct nnv_interp_op *op, size_t i, const double *values, size_t batch, bool turn,
                             double *space) {
    const struct nnv_relay_type *t = op->in[i]->type;
    size_t one = (size_t)(t->dims[1] * t->dims[2]);
    const double *from = values + (t->dims[0] == 1 ? 0 : batch * one);
    if (!turn) return from;
    const int64_t dims[] = {t->dims[2], t->dims[1]}, strides[] = {1, t->dims[2]};
    nnv_interp_pick(from, 2, dims, strides, space);
    return space;
}

/* Also quantised: the zero points are operands 2 and 3. */
void nnv_interp_batch_matmul(struct nnv_interp_op *op) {
    const int64_t *y = op->out->type->dims;
    bool ta = nnv_relay_int(&op->t, "transpose_a", 0), tb = nnv_relay_int(&op->t, "transpose_b", 1);
    size_t m = (size_t)y[1], n = (size_t)y[2], k = (size_t)op->in[0]->type->dims[ta ? 1 : 2];
    const double *a = op->in[0]->values, *b = op->in[1]->values;
    if (op->n_in == 6) {
        if (op->in[2]->n != 1 || op->in[3]->n != 1) nnv_relay_wrong(&op->t, "each operand has one zero point");
        a = op->t.st == NNV_OK ? centred(op, 0, 2, 0) : NULL;
        b = a ? centred(op, 1, 3, 0) : NULL;
        if (b == NULL) return;
    }
    double *space_a = nnv_interp_space(op, m * k), *space_b = space_a ? nnv_interp_space(op, n * k) : NULL;
    for (size_t i = 0; space_b && i < (size_t)y[0]; i++)
        product_of(op, m, n, k, rows_of(op, 0, a, i, ta, space_a), rows_of(op, 1, b, i, !tb, space_b),
                   op->out->values + i * m * n);
    nnv_interp_wrap_all(op);
}

void nnv_interp_matmul(struct nnv_interp_op *op) {
    const int64_t *a = op->in[0]->type->dims, *b = op->in[1]->type->dims, *y = op->out->type->dims;
    bool ta = nnv_relay_int(&op->t, "transpose_a", 0), tb = nnv_relay_int(&op->t, "transpose_b", 0);
    double *rows = nnv_interp_space(op, op->in[0]->n), *columns = rows ? nnv_interp_space(op, op->in[1]->n) : NULL;
    if (columns == NULL) return;
    nnv_interp_pick(op->in[0]->values, 2, (int64_t[]){a[ta], a[!ta]}, (int64_t[]){ta ? 1 : a[1], ta ? a[1] : 1}, rows);
    nnv_interp_pick(op->in[1]->values, 2, (int64_t[]){b[!tb], b[tb]}, (int64_t[]){tb ? b[1] : 1, tb ? 1 : b[1]},
                    columns);
    product_of(op, (size_t)y[0], (size_t)y[1], (size_t)a[!ta], rows, columns, op->out->values);
    nnv_interp_wrap_all(op);
}
