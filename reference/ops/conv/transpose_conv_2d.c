/* SPDX-License-Identifier: Apache-2.0 */
/** @file transpose_conv_2d.c TRANSPOSE_CONV_2D. */
#include <string.h>

#include "reference/ops/common.h"
#include "reference/ops/conv/direct.h"

#define TAIL NNV_CONV_STRIDES, NNV_CONV_ACTIVATION, NNV_DIRECT_NCHW
static const struct nnv_slot explicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_PADDING(NNV_ANY),
    TAIL,
};
static const struct nnv_slot implicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_SLOT_INTS(NNV_CONV_OUT_SHAPE, "output shape"),
    NNV_CONV_PADDING_SCHEME,
    TAIL,
};
static const struct nnv_form forms[] = {
    NNV_FORM("implicit", implicit_inputs, nnv_conv_output),
    NNV_FORM("explicit", explicit_inputs, nnv_conv_output),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, NNV_CONV_OUT_SHAPE);
    if (a && !nnv_dim_agree(nnv_dim(&a->shape, 0), 4))
        return nnv_fail(err, NNV_INVALID, "output shape: %u numbers, expected 4", nnv_dim(&a->shape, 0));
    return nnv_conv_check(c, err);
}

/* Padding where it is implicit: whatever the output lacks or has in excess, the odd cell at the tail. */
static enum nnv_status implicit_window(const struct nnv_call *c, int32_t stride, uint32_t in, uint32_t filter,
                                       uint32_t at, struct nnv_window *w, struct nnv_err *err) {
    const void *data = nnv_in(c, NNV_CONV_OUT_SHAPE)->data;
    int32_t wanted;
    if (!data) return NNV_OK;
    memcpy(&wanted, (const char *)data + at * sizeof wanted, sizeof wanted);
    int64_t full = ((int64_t)in - 1) * stride + filter, total = full - wanted;
    bool same = nnv_int(c, NNV_CONV_SCHEME) == ANEURALNETWORKS_PADDING_SAME;
    if (wanted < 1) return nnv_fail(err, NNV_INVALID, "the output shape has extent %d", wanted);
    if (in > 0 && (same ? ((int64_t)wanted + stride - 1) / stride != in : total != 0))
        return nnv_fail(err, NNV_INVALID, "%u elements, stride %d and filter %u give no output of %d", in, stride,
                        filter, wanted);
    w->out = (uint32_t)wanted;
    w->head = total > 0 ? (int32_t)(total / 2) : 0;
    return NNV_OK;
}

static enum nnv_status explicit_window(const struct nnv_call *c, const struct nnv_window_ids *ids, int32_t stride,
                                       uint32_t in, uint32_t filter, struct nnv_window *w, struct nnv_err *err) {
    if (!nnv_known(c, ids->head) || !nnv_known(c, ids->tail)) return NNV_OK;
    w->head = nnv_int(c, ids->head);
    int64_t out = ((int64_t)in - 1) * stride + filter - w->head - nnv_int(c, ids->tail);
    if (in == 0) out = 0;
    if ((in > 0 && out < 1) || out > NNV_DIM_MAX)
        return nnv_fail(err, NNV_INVALID, "the output's extent would be %lld", (long long)out);
    w->out = (uint32_t)out;
    return NNV_OK;
}

/* Output extent and leading padding of the dimension that stands at `at` in the output's shape. */
static enum nnv_status window(const struct nnv_call *c, const struct nnv_window_ids *ids, uint32_t in, uint32_t filter,
                              uint32_t at, struct nnv_window *w, struct nnv_err *err) {
    *w = (struct nnv_window){.out = NNV_DIM_UNKNOWN};
    if (in == NNV_DIM_UNKNOWN || filter == NNV_DIM_UNKNOWN || !nnv_known(c, ids->stride) ||
        !nnv_known(c, NNV_CONV_SCHEME))
        return NNV_OK;
    if (filter == 0) return nnv_fail(err, NNV_INVALID, "the filter is empty");
    int32_t stride = nnv_int(c, ids->stride);
    enum nnv_status st = nnv_in(c, NNV_CONV_SCHEME) ? implicit_window(c, stride, in, filter, at, w, err)
                                                    : explicit_window(c, ids, stride, in, filter, w, err);
    return st ? nnv_at(err, st, "%s", at == 3 || ids == &nnv_conv_cols ? "width" : "height") : NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_CONV_X)->shape, *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    struct nnv_shape y = nnv_image_unknown(x);
    uint32_t channels = nnv_dim(f, 0);
    enum nnv_status st = nnv_extent_agree(c, NNV_CONV_BIAS, 0, &channels, err);
    if (!st && nnv_known(c, NNV_CONV_NCHW)) {
        struct nnv_layout l = nnv_layout_of(nnv_int(c, NNV_CONV_NCHW));
        struct nnv_window h, w;
        uint32_t depth = nnv_dim(x, l.c);
        st = nnv_extent_agree(c, NNV_CONV_FILTER, 3, &depth, err);
        if (!st) st = window(c, &nnv_conv_rows, nnv_dim(x, l.h), nnv_dim(f, 1), l.h, &h, err);
        if (!st) st = window(c, &nnv_conv_cols, nnv_dim(x, l.w), nnv_dim(f, 2), l.w, &w, err);
        if (st) return st;
        y = nnv_image_shape(x, l, channels, h.out, w.out);
    }
    if (!st) out[0] = y;
    return st;
}

/* The input position that reaches each output position through each tap. */
static enum nnv_status positions(struct nnv_kernel *k, const struct nnv_window_ids *ids, uint32_t in, uint32_t filter,
                                 uint32_t out, uint32_t at, const int64_t **to, struct nnv_err *err) {
    struct nnv_window w;
    enum nnv_status st = window(k->call, ids, in, filter, at, &w, err);
    if (st) return st;
    int64_t *t = NNV_NEW(k->scratch, int64_t, (size_t)out * filter), stride = nnv_int(k->call, ids->stride);
    if (!t) return nnv_no_memory(err);
    for (uint32_t i = 0; i < out; i++)
        for (uint32_t p = 0; p < filter; p++) {
            int64_t d = (int64_t)i + w.head - p;
            t[(size_t)i * filter + p] = d >= 0 && d % stride == 0 && d / stride < in ? d / stride : -1;
        }
    *to = t;
    return NNV_OK;
}

/* Taps of which a stride lets at most so many meet in one output position. */
static uint32_t meeting(uint32_t filter, int32_t stride) { return (filter - 1) / (uint32_t)stride + 1; }

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_layout l = nnv_layout_of(nnv_int(k->call, NNV_CONV_NCHW));
    struct nnv_direct d = nnv_direct_of(k, 1);
    d.terms = (double)meeting(d.fh, nnv_int(k->call, NNV_CONV_STRIDE_H)) *
              meeting(d.fw, nnv_int(k->call, NNV_CONV_STRIDE_W)) * d.x.c;
    enum nnv_status st = positions(k, &nnv_conv_rows, d.x.h, d.fh, d.y.h, l.h, &d.rows, err);
    if (!st) st = positions(k, &nnv_conv_cols, d.x.w, d.fw, d.y.w, l.w, &d.cols, err);
    return st ? st : nnv_direct_eval(k, &d, err);
}

static const char *const variants[] = {NNV_WINDOW_VARIANTS,
                                       "nchw_stride_valid",
                                       "nchw_stride_explicit",
                                       "pointwise_stride_valid",
                                       "even_same",
                                       "relu",
                                       "relu1",
                                       "relu6",
                                       "inputs",
                                       "wide_stride_same",
                                       "large_stride_valid",
                                       NULL};

/* An output extent that SAME makes of `in`, sometimes less than the greatest; VALID has but one. */
static int32_t output_extent(struct nnv_sample *s, int scheme, uint32_t in, int stride, uint32_t filter) {
    int32_t least = ((int32_t)in - 1) * stride;
    if (scheme == ANEURALNETWORKS_PADDING_VALID) return least + (int32_t)filter;
    return least + nnv_sample_int(s, 1, stride);
}

enum { FILTERS = NNV_WINDOW_DILATION };
static const struct nnv_factor factors[] = {NNV_WINDOW_FACTORS, NNV_WINDOW_FILTERS};

static void sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 5);
    bool large = nnv_sample_is(s, "large");
    uint32_t channels = s->row ? (uint32_t)nnv_sample_value(s, FILTERS) : nnv_sample_dim(s, 2, 6);
    if (!s->row) {
        g.h = nnv_sample_dim(s, 2, large ? 13 : 5);
        g.w = nnv_sample_dim(s, 3, large ? 11 : 7);
        if (g.h == g.w) g.w++;
    }
    if (!g.scheme) { /* enough that the paddings leave something */
        while ((int)(g.h - 1) * g.stride_h + (int)g.fh - g.top - g.bottom < 3) g.h++;
        while ((int)(g.w - 1) * g.stride_w + (int)g.fw - g.left - g.right < 3) g.w++;
    }
    nnv_direct_set(s, &g, channels, g.c);
    s->form = &forms[g.scheme ? 0 : 1];
    nnv_window_set(s, &nnv_conv_rows, &g, true);
    nnv_window_set(s, &nnv_conv_cols, &g, false);
    if (!g.scheme) return;
    uint32_t dims[4];
    nnv_sample_image(dims, g.n, (uint32_t)output_extent(s, g.scheme, g.h, g.stride_h, g.fh),
                     (uint32_t)output_extent(s, g.scheme, g.w, g.stride_w, g.fw), channels, g.nchw);
    nnv_sample_ints(s, NNV_CONV_OUT_SHAPE, 4,
                    (int32_t[]){(int32_t)dims[0], (int32_t)dims[1], (int32_t)dims[2], (int32_t)dims[3]});
}

const struct nnv_op nnv_op_TRANSPOSE_CONV_2D = {
    NNV_OP_NAMED(TRANSPOSE_CONV_2D),
    .level = 3,
    .formula = "y[n, i*sh-top+p, j*sw-left+q, k] = act(bias[k] + sum over all i,j,p,q,c that lead there of "
               "x[n,i,j,c] * filter[k,p,q,c])",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(nnv_direct_sigs),
    .rounding = NNV_ROUND_LINEAR,
    .zero = NNV_ZERO_BATCH,
    .linear = true,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
