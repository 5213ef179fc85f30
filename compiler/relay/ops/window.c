/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and resizing: types of results, kernels, rows. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

/* Images like x of another height and width. */
static const struct nnv_relay_type *resized(struct nnv_relay_typing *t, const struct nnv_relay_type *x,
                                            const struct nnv_relay_layout *l, enum nnv_relay_dtype dtype,
                                            const int64_t size[2]) {
    int64_t dims[4];
    memcpy(dims, x->dims, sizeof dims);
    dims[l->h] = size[0];
    dims[l->w] = size[1];
    return nnv_relay_made_images(t, dtype, dims);
}

static const struct nnv_relay_type *infer_pool(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = nnv_relay_image(t, &l);
    int64_t kernel[2], out[2];
    if (x == NULL || !nnv_relay_pair(t, "pool_size", 1, kernel)) return NULL;
    int64_t in[] = {x->dims[l.h], x->dims[l.w]};
    if (!nnv_relay_places_2d(t, kernel, nnv_relay_int(t, "ceil_mode", 0), in, out)) return NULL;
    return resized(t, x, &l, x->dtype, out);
}

static const struct nnv_relay_type *infer_global_pool(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = nnv_relay_image(t, &l);
    return x ? resized(t, x, &l, x->dtype, (int64_t[]){1, 1}) : NULL;
}

/* The attribute is the height and width of the result. */
static const struct nnv_relay_type *infer_resize(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = nnv_relay_image(t, &l);
    int64_t size[2];
    enum nnv_relay_dtype dtype;
    const char *key = strcmp(t->call->callee->name, "image.resize2d") == 0 ? "size" : "output_size";
    if (x == NULL || !nnv_relay_pair(t, key, 1, size) || !nnv_relay_dtype_attr(t, "out_dtype", x->dtype, &dtype))
        return NULL;
    return resized(t, x, &l, dtype, size);
}

static const struct nnv_relay_type *infer_upsampling(struct nnv_relay_typing *t) {
    struct nnv_relay_layout l;
    const struct nnv_relay_type *x = nnv_relay_image(t, &l);
    int64_t size[2];
    for (int i = 0; x && i < 2; i++) {
        size[i] = x->dims[i ? l.w : l.h];
        double grown = round((double)size[i] * nnv_relay_number(t, i ? "scale_w" : "scale_h", 1));
        if (size[i] < 0) continue;
        if (!(grown >= 1 && grown <= NNV_RELAY_MOST_EXTENT))
            return nnv_relay_wrong(t, "a scale gives an extent of %g", grown);
        size[i] = (int64_t)grown;
    }
    return x ? resized(t, x, &l, x->dtype, size) : NULL;
}

/* ----------------------------------------------------------------- kernels */

/** Where a place of the result lies in the operand, along one dimension: up to four places and their weights. */
struct sample {
    int64_t at[4];
    double weight[4];
    int n;
};

/** How images are resized. */
struct resize {
    const char *method, *coordinates, *rounding;
    double alpha;
    bool exclude;
};

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* The coordinate in the operand of place x of the result; false if the attribute is not known. */
static bool coordinate(const struct resize *r, int64_t x, int64_t in, int64_t out, double *at) {
    double scale = (double)in / (double)out;
    if (is(r->coordinates, "half_pixel"))
        *at = ((double)x + 0.5) * scale - 0.5;
    else if (is(r->coordinates, "align_corners"))
        *at = out > 1 ? (double)(in - 1) / (double)(out - 1) * (double)x : 0;
    else if (is(r->coordinates, "asymmetric"))
        *at = scale * (double)x;
    else if (is(r->coordinates, "pytorch_half_pixel"))
        *at = out > 1 ? ((double)x + 0.5) * scale - 0.5 : 0;
    else if (is(r->coordinates, "tf_half_pixel_for_nn"))
        *at = ((double)x + 0.5) * scale;
    else
        return false;
    return true;
}

/* The nearest place. The small number is a part of the definition. */
static double nearest(const struct resize *r, double at) {
    const double small = 1e-5;
    const char *rounding = r->rounding;
    if (*rounding == '\0') rounding = is(r->coordinates, "align_corners") ? "round" : "floor";
    if (is(rounding, "round")) return round(at);
    if (is(rounding, "round_prefer_floor")) return ceil(at - 0.5);
    if (is(rounding, "round_prefer_ceil")) return floor(at + 0.5);
    return is(rounding, "ceil") ? ceil(at - small) : floor(at + small);
}

static void cubic_weights(const struct resize *r, double t, double *w) {
    double a = r->alpha, t2 = t * t, t3 = t2 * t;
    w[0] = a * (t3 - 2 * t2 + t);
    w[1] = (a + 2) * t3 - (a + 3) * t2 + 1;
    w[2] = -(a + 2) * t3 + (2 * a + 3) * t2 - a * t;
    w[3] = a * (t2 - t3);
}

static bool sample_of(const struct resize *r, int64_t x, int64_t in, int64_t out, struct sample *s) {
    double at, first, sum = 0;
    if (!coordinate(r, x, in, out, &at)) return false;
    *s = (struct sample){.n = 1, .weight = {1}};
    first = floor(at);
    if (is(r->method, "nearest_neighbor")) {
        first = nearest(r, at);
    } else if (is(r->method, "linear")) {
        *s = (struct sample){.n = 2, .weight = {1 - (at - first), at - first}};
    } else if (is(r->method, "cubic")) {
        s->n = 4;
        cubic_weights(r, at - first, s->weight);
        first--;
    } else {
        return false;
    }
    for (int i = 0; i < s->n; i++) {
        int64_t place = (int64_t)first + i;
        if (s->n == 4 && r->exclude && (place < 0 || place >= in)) s->weight[i] = 0;
        sum += s->weight[i];
        s->at[i] = place < 0 ? 0 : place >= in ? in - 1 : place;
    }
    for (int i = 0; i < s->n && r->exclude && s->n == 4; i++) s->weight[i] /= sum;
    return true;
}

static struct sample *samples(struct nnv_interp_op *op, const struct resize *r, int64_t in, int64_t out) {
    struct sample *s = NNV_NEW(op->scratch, struct sample, (size_t)out);
    if (s == NULL) nnv_interp_space(op, SIZE_MAX); /* says that memory ran out */
    if (in == 0) return nnv_relay_wrong(&op->t, "the image is empty");
    for (int64_t i = 0; s && i < out; i++)
        if (!sample_of(r, i, in, out, &s[i]))
            return nnv_relay_wrong(&op->t, "method %s with coordinate_transformation_mode %s is not known", r->method,
                                   r->coordinates);
    return s;
}

static void resize(struct nnv_interp_op *op, const struct resize *r) {
    const struct nnv_relay_type *x = op->in[0]->type, *y = op->out->type;
    struct nnv_relay_layout l;
    int64_t xs[NNV_RELAY_RANK], ys[NNV_RELAY_RANK];
    if (!nnv_relay_image(&op->t, &l)) return;
    struct sample *rows = samples(op, r, x->dims[l.h], y->dims[l.h]);
    struct sample *columns = rows ? samples(op, r, x->dims[l.w], y->dims[l.w]) : NULL;
    if (columns == NULL) return;
    nnv_interp_strides(x, xs);
    nnv_interp_strides(y, ys);
    for (int64_t i = 0; i < (int64_t)op->out->n; i++) {
        const struct sample *h = &rows[i / ys[l.h] % y->dims[l.h]], *w = &columns[i / ys[l.w] % y->dims[l.w]];
        const double *from = op->in[0]->values + i / ys[l.first] % y->dims[l.first] * xs[l.first] +
                             i / ys[l.second] % y->dims[l.second] * xs[l.second];
        double sum = 0;
        for (int a = 0; a < h->n; a++)
            for (int b = 0; b < w->n; b++)
                sum += h->weight[a] * w->weight[b] * from[h->at[a] * xs[l.h] + w->at[b] * xs[l.w]];
        op->out->values[i] = nnv_relay_dtype_is_float(y->dtype) ? sum : nnv_interp_round(y->dtype, trunc(sum));
    }
}

static void run_resize2d(struct nnv_interp_op *op) {
    const struct resize r = {nnv_relay_text(&op->t, "method", "linear"),
                             nnv_relay_text(&op->t, "coordinate_transformation_mode", "half_pixel"),
                             nnv_relay_text(&op->t, "rounding_method", ""),
                             nnv_relay_number(&op->t, "cubic_alpha", -0.5), nnv_relay_int(&op->t, "cubic_exclude", 0)};
    resize(op, &r);
}

static void run_upsampling(struct nnv_interp_op *op) {
    const char *method = nnv_relay_text(&op->t, "method", "nearest_neighbor");
    bool corners = nnv_relay_int(&op->t, "align_corners", 0);
    const struct resize r = {
        .method = is(method, "bilinear")  ? "linear"
                  : is(method, "bicubic") ? "cubic"
                                          : method,
        .coordinates = corners ? "align_corners" : "asymmetric",
        .rounding = "",
        .alpha = -0.5,
    };
    resize(op, &r);
}

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
    const struct nnv_relay_type *x = nnv_relay_as_images(&op->t, op->in[0]->type),
                                *y = nnv_relay_as_images(&op->t, op->out->type);
    int64_t xs[NNV_RELAY_RANK], ys[NNV_RELAY_RANK];
    if (!x || !y) return;
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

static void pool(struct nnv_interp_op *op, pool_fn *fn) {
    enum nnv_relay_dtype dtype = op->out->type->dtype;
    struct pool p = {.whole = !nnv_relay_dtype_is_float(dtype),
                     .padding_counts = nnv_relay_int(&op->t, "count_include_pad", 0)};
    struct nnv_relay_layout l;
    double high;
    if (!nnv_relay_image(&op->t, &l) || !nnv_relay_pair(&op->t, "pool_size", 1, p.size) ||
        !nnv_relay_pair(&op->t, "strides", 1, p.stride) || !nnv_relay_pair(&op->t, "dilation", 1, p.dilation) ||
        !nnv_relay_padding(&op->t, p.pad))
        return;
    if (p.whole)
        nnv_interp_limits(dtype, &p.least, &high);
    else
        p.least = dtype == NNV_RELAY_FLOAT16 ? -65504 : dtype == NNV_RELAY_FLOAT64 ? -DBL_MAX : -(double)FLT_MAX;
    each_plane(op, &p, &l, fn);
}

static void run_max_pool(struct nnv_interp_op *op) { pool(op, maximum); }

static void run_avg_pool(struct nnv_interp_op *op) { pool(op, average); }

/* Windows from floor(i * in / out) to ceil((i + 1) * in / out): of all that is there if out is 1. */
static void adaptive(struct nnv_interp_op *op, bool max) {
    const struct nnv_relay_type *x = nnv_relay_as_images(&op->t, op->in[0]->type),
                                *y = nnv_relay_as_images(&op->t, op->out->type);
    struct nnv_relay_layout l;
    int64_t xs[NNV_RELAY_RANK], ys[NNV_RELAY_RANK];
    if (!x || !y || !nnv_relay_image(&op->t, &l)) return;
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

/* Also adaptive pools, whose result is larger. */
static void run_adaptive_pool(struct nnv_interp_op *op) { adaptive(op, strstr(op->t.row->name, "max") != NULL); }

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

#define POOL                                                                                                           \
    {"pool_size", K_INTS, NULL}, {"strides", K_INTS, PAIR(1)}, {"dilation", K_INTS, PAIR(1)},                          \
        {"padding", K_INTS, PAIR(0)}, {"layout", K_TEXT, TEXT("NCHW")}, {"out_layout", K_TEXT, TEXT("")}, {            \
        "ceil_mode", K_TRUTH, TRUTH(0)                                                                                 \
    }
#define LINE_POOL                                                                                                      \
    {"pool_size", K_INTS, NULL}, {"strides", K_INTS, INT(1)}, {"dilation", K_INTS, INT(1)},                            \
        {"padding", K_INTS, INT(0)}, {"layout", K_TEXT, TEXT("NCW")}, {"out_layout", K_TEXT, TEXT("")}, {              \
        "ceil_mode", K_TRUTH, TRUTH(0)                                                                                 \
    }
#define LAYOUT                                                                                                         \
    {"layout", K_TEXT, TEXT("NCHW")}, { "out_layout", K_TEXT, TEXT("") }

static const struct nnv_relay_op_row rows[] = {
    {"image.resize2d", 1, 1, infer_resize, run_resize2d,
     .attrs = {{"size", K_INTS, NULL},
               {"roi", K_ANY, NULL},
               LAYOUT,
               {"method", K_TEXT, TEXT("linear")},
               {"coordinate_transformation_mode", K_TEXT, TEXT("half_pixel")},
               {"rounding_method", K_TEXT, TEXT("")},
               {"cubic_alpha", K_NUMBER, NUMBER(-0.5)},
               {"cubic_exclude", K_INT, INT(0)},
               {"extrapolation_value", K_NUMBER, NUMBER(0)},
               {"out_dtype", K_TEXT, NULL}},
     .relax = "(data, size, roi, layout, method, coordinate_transformation_mode, rounding_method, cubic_alpha, "
              "cubic_exclude, extrapolation_value, out_dtype)"},
    {"nn.adaptive_avg_pool1d", 1, 1, infer_resize, run_adaptive_pool,
     .attrs = {{"output_size", K_INTS, NULL}, {"layout", K_TEXT, TEXT("NCW")}, {"out_layout", K_TEXT, TEXT("")}},
     .relax = "(data, output_size, layout, out_layout)"},
    {"nn.adaptive_avg_pool2d", 1, 1, infer_resize, run_adaptive_pool, .attrs = {{"output_size", K_INTS, NULL}, LAYOUT},
     .relax = "(data, output_size, layout, out_layout)"},
    {"nn.adaptive_max_pool1d", 1, 1, infer_resize, run_adaptive_pool,
     .attrs = {{"output_size", K_INTS, NULL}, {"layout", K_TEXT, TEXT("NCW")}, {"out_layout", K_TEXT, TEXT("")}}},
    {"nn.adaptive_max_pool2d", 1, 1, infer_resize, run_adaptive_pool, .attrs = {{"output_size", K_INTS, NULL}, LAYOUT}},
    {"nn.avg_pool1d", 1, 1, infer_pool, run_avg_pool, .attrs = {LINE_POOL, {"count_include_pad", K_TRUTH, TRUTH(0)}},
     .relax = "(data, pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout)"},
    {"nn.avg_pool2d", 1, 1, infer_pool, run_avg_pool, .attrs = {POOL, {"count_include_pad", K_TRUTH, TRUTH(0)}},
     .relax = "(data, pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout)"},
    {"nn.global_avg_pool2d", 1, 1, infer_global_pool, run_adaptive_pool, .attrs = {LAYOUT}},
    {"nn.global_max_pool2d", 1, 1, infer_global_pool, run_adaptive_pool, .attrs = {LAYOUT}},
    {"nn.max_pool1d", 1, 1, infer_pool, run_max_pool, .attrs = {LINE_POOL},
     .relax = "(data, pool_size, strides, padding, dilation, ceil_mode, -count_include_pad, layout, out_layout)"},
    {"nn.max_pool2d", 1, 1, infer_pool, run_max_pool, .attrs = {POOL},
     .relax = "(data, pool_size, strides, padding, dilation, ceil_mode, -count_include_pad, layout, out_layout)"},
    {"nn.upsampling", 1, 1, infer_upsampling, run_upsampling,
     .attrs = {{"scale_h", K_NUMBER, NUMBER(1)},
               {"scale_w", K_NUMBER, NUMBER(1)},
               {"layout", K_TEXT, TEXT("NCHW")},
               {"method", K_TEXT, TEXT("nearest_neighbor")},
               {"align_corners", K_TRUTH, TRUTH(0)}}},
};
const struct nnv_relay_op_rows nnv_relay_window = {rows, sizeof rows / sizeof *rows};
