/* SPDX-License-Identifier: Apache-2.0 */
/* Resize and Upsample: axis by axis, as a choice of entries or as a product with a constant matrix. */
#include <math.h>
#include <string.h>

#include "mlts/onnx/ox.h"

/** What the attributes say. */
struct resizing {
    char mode; /**< n(earest), l(inear), c(ubic) */
    const char *coordinates, *rounding;
    double a, outside;
    bool exclude, antialias;
};

/** One axis. */
struct axis {
    uint32_t in, out;
    double scale, begin, end; /**< begin, end: the part of the axis that is resized, of tf_crop_and_resize */
};

/** Where entry i of the result lies in the input. */
static double place_of(const struct resizing *r, const struct axis *a, uint32_t i) {
    const char *kind = r->coordinates;
    const double out = a->in * a->scale;
    if (strcmp(kind, "asymmetric") == 0) return i / a->scale;
    if (strcmp(kind, "align_corners") == 0) return a->out > 1 ? i * (double)(a->in - 1) / (out - 1) : 0;
    if (strcmp(kind, "pytorch_half_pixel") == 0) return a->out > 1 ? (i + 0.5) / a->scale - 0.5 : -0.5;
    if (strcmp(kind, "tf_half_pixel_for_nn") == 0) return (i + 0.5) / a->scale;
    if (strcmp(kind, "tf_crop_and_resize") == 0)
        return a->out > 1 ? a->begin * (a->in - 1) + i * (a->end - a->begin) * (a->in - 1) / (a->out - 1)
                          : 0.5 * (a->begin + a->end) * (a->in - 1);
    if (strcmp(kind, "half_pixel_symmetric") == 0) {
        const double centre = a->in / 2.0, offset = centre * (1 - a->out / out);
        return offset + (i + 0.5) / a->scale - 0.5;
    }
    return (i + 0.5) / a->scale - 0.5;
}

static int32_t nearest(const struct resizing *r, const struct axis *a, double x) {
    const double low = floor(x), above = x - low;
    double k;
    if (strcmp(r->rounding, "floor") == 0)
        k = low;
    else if (strcmp(r->rounding, "ceil") == 0)
        k = ceil(x);
    else if (strcmp(r->rounding, "round_prefer_ceil") == 0)
        k = above >= 0.5 ? low + 1 : low;
    else
        k = above > 0.5 ? low + 1 : low;
    return (int32_t)(k < 0 ? 0 : k > a->in - 1 ? a->in - 1 : k);
}

/** The weight of an entry at a distance. Cubic: Keys' kernel with coefficient a. */
static double weight(const struct resizing *r, double d) {
    d = fabs(d);
    if (r->mode == 'l') return d < 1 ? 1 - d : 0;
    if (d < 1) return ((r->a + 2) * d - (r->a + 3)) * d * d + 1;
    return d < 2 ? ((r->a * d - 5 * r->a) * d + 8 * r->a) * d - 4 * r->a : 0;
}

/** One row of the matrix: how much of each entry. Entries beyond the edge are those at it, or left out. */
static void row_of(const struct resizing *r, const struct axis *a, double x, double *row) {
    const double wide = r->antialias && a->scale < 1 ? 1 / a->scale : 1, reach = (r->mode == 'l' ? 1 : 2) * wide;
    double sum = 0;
    if (r->mode == 'l' && wide == 1 && x < 0) x = 0;
    if (r->mode == 'l' && wide == 1 && x > a->in - 1) x = a->in - 1;
    for (int64_t k = (int64_t)floor(x - reach); k <= (int64_t)ceil(x + reach); k++) {
        const double w = weight(r, ((double)k - x) / wide);
        const int64_t last = (int64_t)a->in - 1;
        if ((k < 0 || k > last) && r->exclude) continue;
        row[k < 0 ? 0 : k > last ? last : k] += w;
        sum += w;
    }
    for (uint32_t i = 0; i < a->in && sum != 0; i++) row[i] /= sum;
}

/** The entries, or the matrix, of one axis applied. */
static uint32_t resize_axis(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, uint32_t d, const struct resizing *r,
                            const struct axis *a) {
    enum { MOST = 1 << 22 };
    uint32_t three[3];
    if (!nnv_cv_ok(c)) return 0;
    if (r->mode == 'n') {
        int32_t *index = NNV_NEW(c->b.arena, int32_t, a->out);
        if (!index) c->b.failed = true;
        for (uint32_t i = 0; index && i < a->out; i++) index[i] = nearest(r, a, place_of(r, a, i));
        nnv_ox_around(v, d, three);
        v->dims[d] = a->out;
        return index ? nnv_ox_gathered(c, nnv_cv_reshaped(c, x, 3, three), 1, a->out, index) : 0;
    }
    if ((uint64_t)a->in * a->out > MOST) nnv_cv_refuse(c, " from %u to %u", a->in, a->out);
    if (!nnv_cv_ok(c)) return 0;
    double *matrix = NNV_NEW(c->b.arena, double, (size_t)a->in * a->out);
    if (!matrix) c->b.failed = true;
    for (uint32_t i = 0; matrix && i < a->out; i++) row_of(r, a, place_of(r, a, i), matrix + (size_t)i * a->in);
    return matrix ? nnv_ox_mixed(c, x, v, d, a->out, matrix) : 0;
}

/** NNAPI's own operation does the same to both axes of an image: the flags that say so; false: none do. */
static bool is_nnapis(const struct resizing *r, const struct axis *axes, uint32_t rank, bool *corners, bool *halves) {
    const char *kind = r->coordinates;
    *corners = strcmp(kind, "align_corners") == 0;
    *halves = strcmp(kind, "half_pixel") == 0 || (r->mode == 'n' && strcmp(kind, "tf_half_pixel_for_nn") == 0) ||
              (strcmp(kind, "pytorch_half_pixel") == 0 && axes[2].out > 1 && axes[3].out > 1);
    if (rank != 4 || r->mode == 'c' || r->antialias || r->exclude || axes[0].in != axes[0].out ||
        axes[1].in != axes[1].out)
        return false;
    if (!*corners && !*halves && strcmp(kind, "asymmetric") != 0) return false;
    for (uint32_t d = 2; d < 4; d++) {
        const struct axis *a = &axes[d];
        if (fabs(a->in * a->scale - a->out) > 1e-4 || (*corners && a->out < 2)) return false;
        for (uint32_t i = 0; r->mode == 'n' && i < a->out; i++) {
            const double ratio = *corners ? (a->in - 1.0) / (a->out - 1.0) : (double)a->in / a->out;
            const double at = *corners ? floor(i * ratio + 0.5) : floor((i + (*halves ? 0.5 : 0)) * ratio);
            const double exact = *corners ? i * ratio + 0.5 : (i + (*halves ? 0.5 : 0)) * ratio;
            /* Where float32 may fall on either side of a step the entries are chosen by index. */
            if (fabs(exact - nearbyint(exact)) < 1e-4 && exact != nearbyint(exact)) return false;
            if (fmin(at, a->in - 1.0) != nearest(r, a, place_of(r, a, i))) return false;
        }
    }
    return true;
}

static uint32_t by_nnapi(struct nnv_cv *c, uint32_t x, struct nnv_ox_value *v, const struct resizing *r,
                         const struct axis *axes, bool corners, bool halves) {
    if (!nnv_cv_ok(c)) return 0;
    v->dims[2] = axes[2].out;
    v->dims[3] = axes[3].out;
    const uint32_t y = nnv_cv_temp_shaped(c, x, 4, v->dims);
    uint32_t in[6] = {x, nnv_builder_int(&c->b, (int32_t)axes[3].out), nnv_builder_int(&c->b, (int32_t)axes[2].out),
                      nnv_builder_bool(&c->b, true)},
             n = 4;
    if (corners || halves) {
        in[n++] = nnv_builder_bool(&c->b, corners);
        in[n++] = nnv_builder_bool(&c->b, halves);
    }
    nnv_cv_emit(c, r->mode == 'n' ? ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR : ANEURALNETWORKS_RESIZE_BILINEAR, n, in,
                y);
    return y;
}

static void resized(struct nnv_cv *c, const struct resizing *r, struct axis *axes) {
    struct nnv_ox_value v = *nnv_ox_value(c, 0);
    bool corners, halves;
    uint32_t x = nnv_ox_in(c, 0);
    for (uint32_t d = 0; d < v.rank && nnv_cv_ok(c); d++) {
        if (axes[d].out < 1 || axes[d].out > 1 << 20 || !(axes[d].scale * axes[d].in >= 0.5))
            nnv_cv_refuse(c, " to an extent of %u", axes[d].out);
        for (uint32_t i = 0; r->coordinates[3] == 'c' && i < axes[d].out; i++) { /* tf_crop: */
            const double at = place_of(r, &axes[d], i);
            if (!(at >= 0 && at <= axes[d].in - 1)) nnv_cv_refuse(c, " with entries from outside");
        }
    }
    if (!nnv_cv_ok(c)) return;
    if (is_nnapis(r, axes, v.rank, &corners, &halves)) {
        x = by_nnapi(c, x, &v, r, axes, corners, halves);
    } else {
        for (uint32_t d = 0; d < v.rank; d++)
            if (axes[d].in != axes[d].out || axes[d].scale != 1 || axes[d].begin != 0 || axes[d].end != 1)
                x = resize_axis(c, x, &v, d, r, &axes[d]);
    }
    nnv_ox_give(c, 0, x, nnv_ox_value(c, 0)->type, v.rank, v.dims);
}

/** A policy makes one scale of all: the least that does not exceed the sizes, or the largest. */
static void keep_ratio(const char *policy, struct axis *axes, const bool *named, uint32_t rank) {
    const bool larger = strcmp(policy, "not_smaller") == 0;
    double scale = 0;
    if (strcmp(policy, "stretch") == 0) return;
    for (uint32_t d = 0; d < rank; d++)
        if (named[d] && (scale == 0 || (larger ? axes[d].scale > scale : axes[d].scale < scale))) scale = axes[d].scale;
    for (uint32_t d = 0; d < rank; d++)
        if (named[d]) axes[d].scale = scale, axes[d].out = (uint32_t)floor(scale * axes[d].in + 0.5);
}

static void resize(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const bool old = c->onnx->opset < 11;
    const char *mode = nnv_ox_string(c, "mode", "nearest");
    struct resizing r = {*mode,
                         nnv_ox_string(c, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
                         nnv_ox_string(c, "nearest_mode", old ? "floor" : "round_prefer_floor"),
                         nnv_ox_float(c, "cubic_coeff_a", -0.75),
                         nnv_ox_float(c, "extrapolation_value", 0),
                         nnv_ox_flag(c, "exclude_outside", false),
                         nnv_ox_flag(c, "antialias", false)};
    const char *policy = nnv_ox_string(c, "keep_aspect_ratio_policy", "stretch");
    const bool crop = strcmp(r.coordinates, "tf_crop_and_resize") == 0;
    uint32_t naxes, nscales = 0, nsizes = 0, nroi = 0;
    struct axis axes[NNV_OX_RANK] = {0};
    bool named[NNV_OX_RANK] = {false};
    const int64_t *list = nnv_ox_list(c, "axes", &naxes), *sizes = NULL;
    const uint32_t at = old ? 1 : 2;
    const double *scales = NULL, *roi = NULL;
    if (nnv_ox_has(c, at) && nnv_ox_elements(nnv_ox_value(c, at)) > 0) scales = nnv_ox_numbers(c, at, &nscales);
    if (!old && nnv_ox_has(c, 3)) sizes = nnv_ox_ints(c, 3, &nsizes);
    if (crop && nnv_ox_has(c, 1)) roi = nnv_ox_numbers(c, 1, &nroi);
    if (!list) naxes = v.rank;
    if (!nnv_cv_ok(c)) return;
    if ((!scales && !sizes) || (scales ? nscales : nsizes) != naxes || (crop && (!roi || nroi != 2 * naxes))) {
        nnv_cv_fail(c, "its scales or sizes do not fit");
        return;
    }
    if (!strchr("nlc", r.mode)) nnv_cv_fail(c, "mode is '%.20s'", mode);
    if (r.mode != 'n' && NNV_OX_BYTE >> v.type & 1) nnv_cv_refuse(c, " of %s by %s", nnv_onnx_type_name(v.type), mode);
    for (uint32_t d = 0; d < v.rank; d++) axes[d] = (struct axis){v.dims[d], v.dims[d], 1, 0, 1};
    for (uint32_t i = 0; i < naxes && nnv_cv_ok(c); i++) {
        const uint32_t d = list ? nnv_cv_axis(c, list[i], v.rank) : i;
        const double out =
            scales ? floor(axes[d].in * scales[i] * (crop ? roi[naxes + i] - roi[i] : 1)) : (double)sizes[i];
        if (!(out >= 0 && out < 1 << 24)) nnv_cv_fail(c, "an extent of %g", out);
        if (!nnv_cv_ok(c)) return;
        named[d] = true;
        axes[d].out = (uint32_t)out;
        axes[d].scale = scales ? scales[i] : out / axes[d].in;
        if (crop) axes[d].begin = roi[i], axes[d].end = roi[naxes + i];
    }
    keep_ratio(policy, axes, named, v.rank);
    if (nnv_cv_ok(c)) resized(c, &r, axes);
}

/** Upsample: a list of scales, an attribute before version 9. */
static void upsample(struct nnv_cv *c) {
    const struct nnv_ox_value v = *nnv_ox_value(c, 0);
    const struct resizing r = {*nnv_ox_string(c, "mode", "nearest"), "asymmetric", "floor", 0, 0, false, false};
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, "scales");
    struct axis axes[NNV_OX_RANK] = {0};
    uint32_t n = a ? a->count : 0;
    const double *scales = a ? NULL : nnv_ox_numbers(c, 1, &n);
    if (n != v.rank || !strchr("nl", r.mode)) nnv_cv_fail(c, "%u scales for rank %u", n, v.rank);
    for (uint32_t d = 0; d < v.rank && nnv_cv_ok(c); d++) {
        const double s = a ? (double)a->floats[d] : scales[d], out = floor(v.dims[d] * s);
        if (!(out >= 1 && out < 1 << 24)) nnv_cv_fail(c, "a scale of %g", s);
        axes[d] = (struct axis){v.dims[d], nnv_cv_ok(c) ? (uint32_t)out : 1, s, 0, 1};
    }
    if (nnv_cv_ok(c)) resized(c, &r, axes);
}

static const struct nnv_ox_row rows[] = {
    {"Resize", 1, 4, NNV_OX_FLOAT | NNV_OX_BYTE, resize, 0},
    {"Upsample", 1, 2, NNV_OX_FLOAT, upsample, 0},
};
const struct nnv_ox_rows nnv_ox_resize = {rows, sizeof rows / sizeof *rows};
