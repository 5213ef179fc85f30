/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/resize/resize.h"

enum nnv_status nnv_resize_check(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_known(c, NNV_RESIZE_ALIGN) && nnv_known(c, NNV_RESIZE_HALF) && nnv_int(c, NNV_RESIZE_ALIGN) &&
        nnv_int(c, NNV_RESIZE_HALF))
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

enum nnv_status nnv_resize_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_RESIZE_INPUT)->shape;
    struct nnv_shape s = nnv_shape_of_rank(4);
    s.dims[0] = nnv_dim(x, 0);
    if (nnv_known(c, NNV_RESIZE_NCHW)) {
        bool nchw = nnv_int(c, NNV_RESIZE_NCHW) != 0;
        uint32_t h = nchw ? 2 : 1, w = h + 1, depth = nchw ? 1 : 3;
        s.dims[depth] = nnv_dim(x, depth);
        enum nnv_status st;
        if ((st = output_extent(c, nnv_dim(x, w), NNV_RESIZE_WIDTH, NNV_RESIZE_WIDTH_SCALE, &s.dims[w], err)) ||
            (st = output_extent(c, nnv_dim(x, h), NNV_RESIZE_HEIGHT, NNV_RESIZE_HEIGHT_SCALE, &s.dims[h], err)))
            return st;
    }
    out[0] = s;
    return NNV_OK;
}

struct nnv_resize_axis nnv_resize_axis(const struct nnv_call *c, uint32_t in, uint32_t out) {
    bool align = nnv_int(c, NNV_RESIZE_ALIGN) != 0, half = nnv_int(c, NNV_RESIZE_HALF) != 0;
    double ratio = align && out > 1 ? (in - 1.0) / (out - 1.0) : (double)in / out;
    return (struct nnv_resize_axis){ratio, half ? 0.5 : 0, (double)(float)ratio != ratio};
}

double nnv_resize_position(struct nnv_kernel *k, const struct nnv_resize_axis *a, uint32_t i) {
    double p = (i + a->offset) * a->ratio;
    /* Two roundings, of the ratio and of the product. */
    if (k->noise) p = nnv_noise_add(k, p, a->inexact ? 0x1p-23 * fabs(p) : 0);
    return p - a->offset;
}

const char *const nnv_resize_variants[] = {"shape_plain", "shape_nchw",  "shape_align", "shape_half", "scale_plain",
                                           "scale_nchw",  "scale_align", "scale_half",  NULL};

void nnv_resize_sample(struct nnv_sample *s) {
    /* Up, down, both, to one, onto itself; the factors are exact in float16. */
    static const struct {
        uint32_t h, w, out_h, out_w;
        double scale_h, scale_w;
    } sizes[] = {
        {3, 5, 7, 8, 2.5, 1.75},  {9, 7, 4, 3, 0.5, 0.375}, {4, 9, 11, 5, 2.25, 0.625},
        {7, 3, 2, 10, 0.3125, 3}, {5, 8, 1, 13, 0.25, 1.5}, {6, 4, 6, 4, 1, 1},
    };
    bool flags = nnv_sample_is(s, "align") || nnv_sample_is(s, "half");
    bool nchw = nnv_sample_is(s, "nchw") || (flags && s->index % 2 == 1);
    int i = s->index % 6;
    uint32_t dims[4], n = s->empty ? 0 : nnv_sample_dim(s, 2, 3), c = nnv_sample_dim(s, 1, 5);
    nnv_sample_image(dims, n, sizes[i].h, sizes[i].w, c, nchw);
    if (nnv_sample_is(s, "scale")) {
        s->form = &s->op->forms[1];
        nnv_sample_scalar(s, NNV_RESIZE_WIDTH_SCALE, sizes[i].scale_w);
        nnv_sample_scalar(s, NNV_RESIZE_HEIGHT_SCALE, sizes[i].scale_h);
    } else {
        nnv_sample_scalar(s, NNV_RESIZE_WIDTH, sizes[i].out_w);
        nnv_sample_scalar(s, NNV_RESIZE_HEIGHT, sizes[i].out_h);
    }
    nnv_sample_tensor(s, NNV_RESIZE_INPUT, 4, dims);
    if (nnv_sample_is(s, "plain")) return;
    nnv_sample_scalar(s, NNV_RESIZE_NCHW, nchw);
    if (!flags) return;
    nnv_sample_scalar(s, NNV_RESIZE_ALIGN, nnv_sample_is(s, "align"));
    if (nnv_sample_is(s, "half")) nnv_sample_scalar(s, NNV_RESIZE_HALF, 1);
}
