/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: images in other sizes. */
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

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
    if (!nnv_relay_layout(&op->t, "layout", nnv_relay_text(&op->t, "layout", "NCHW"), "NCHW", &l)) return;
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

void nnv_interp_resize2d(struct nnv_interp_op *op) {
    const struct resize r = {nnv_relay_text(&op->t, "method", "linear"),
                             nnv_relay_text(&op->t, "coordinate_transformation_mode", "half_pixel"),
                             nnv_relay_text(&op->t, "rounding_method", ""),
                             nnv_relay_number(&op->t, "cubic_alpha", -0.5), nnv_relay_int(&op->t, "cubic_exclude", 0)};
    resize(op, &r);
}

void nnv_interp_upsampling(struct nnv_interp_op *op) {
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
