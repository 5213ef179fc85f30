/* SPDX-License-Identifier: Apache-2.0 */
/** @file grouped_conv_2d.c GROUPED_CONV_2D. */
#include "reference/ops/common.h"
#include "reference/ops/conv/direct.h"

#define TAIL                                                                                                           \
    NNV_CONV_STRIDES, NNV_SLOT_INT(NNV_CONV_GROUPS, "groups", NNV_POSITIVE), NNV_CONV_ACTIVATION, NNV_DIRECT_NCHW
static const struct nnv_slot explicit_inputs[] = {
    NNV_CONV_TENSORS,
    NNV_CONV_PADDING(NNV_NOT_NEGATIVE),
    TAIL,
};
static const struct nnv_slot implicit_inputs[] = {NNV_CONV_TENSORS, NNV_CONV_PADDING_SCHEME, TAIL};
static const struct nnv_form forms[] = {
    NNV_FORM("implicit", implicit_inputs, nnv_conv_output),
    NNV_FORM("explicit", explicit_inputs, nnv_conv_output),
};

/* The output channels; groups must divide them, and the input channels are groups times the filter's depth. */
static enum nnv_status infer_channels(const struct nnv_call *c, uint32_t in, uint32_t *out, struct nnv_err *err) {
    const struct nnv_shape *f = &nnv_in(c, NNV_CONV_FILTER)->shape;
    uint32_t n = nnv_dim(f, 0), depth = nnv_dim(f, 3);
    enum nnv_status st = nnv_extent_agree(c, NNV_CONV_BIAS, 0, &n, err);
    if (st) return st;
    if (nnv_known(c, NNV_CONV_GROUPS)) {
        uint32_t groups = (uint32_t)nnv_int(c, NNV_CONV_GROUPS);
        if (n != NNV_DIM_UNKNOWN && n % groups != 0)
            return nnv_fail(err, NNV_INVALID, "%u output channels can't be divided into %u groups", n, groups);
        if (in != NNV_DIM_UNKNOWN && depth != NNV_DIM_UNKNOWN && in != (uint64_t)depth * groups)
            return nnv_fail(err, NNV_INVALID, "%u input channels are not %u groups of %u, the filter's depth", in,
                            groups, depth);
    }
    *out = n;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_conv_infer(c, infer_channels, out, err);
}

/* The input position of each tap of each output position. */
static enum nnv_status positions(struct nnv_kernel *k, const struct nnv_window_ids *ids, uint32_t in, uint32_t filter,
                                 uint32_t out, const int64_t **to, struct nnv_err *err) {
    struct nnv_window w;
    enum nnv_status st = nnv_window_of(k->call, ids, in, filter, "window", &w, err);
    if (st) return st;
    int64_t *t = NNV_NEW(k->scratch, int64_t, (size_t)out * filter);
    if (!t) return nnv_no_memory(err);
    for (uint32_t i = 0; i < out; i++)
        for (uint32_t p = 0; p < filter; p++) {
            int64_t at = (int64_t)i * nnv_int(k->call, ids->stride) - w.head + p;
            t[(size_t)i * filter + p] = at < in ? at : -1;
        }
    *to = t;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_direct d = nnv_direct_of(k, (uint32_t)nnv_int(k->call, NNV_CONV_GROUPS));
    d.terms = (double)d.fh * d.fw * nnv_in_shape(k, NNV_CONV_FILTER)->dims[3];
    enum nnv_status st = positions(k, &nnv_conv_rows, d.x.h, d.fh, d.y.h, &d.rows, err);
    if (!st) st = positions(k, &nnv_conv_cols, d.x.w, d.fw, d.y.w, &d.cols, err);
    return st ? st : nnv_direct_eval(k, &d, err);
}

static const char *const variants[] = {NNV_WINDOW_VARIANTS,
                                       "nchw_stride_explicit",
                                       "pointwise",
                                       "even_same",
                                       "relu",
                                       "relu1",
                                       "relu6",
                                       "winograd",
                                       "inputs",
                                       "one",
                                       "each",
                                       "large_same",
                                       NULL};

enum { GROUPS = NNV_WINDOW_DILATION, DEPTH_SHARE };
static const struct nnv_factor factors[] = {NNV_WINDOW_FACTORS,
                                            {.name = "groups", NNV_VALUES(2, 1, 3, 4, 8), NNV_SIZES(16, 17, 32, 64)},
                                            {.name = "share", NNV_VALUES(2, 1, 3, 4), NNV_SIZES(8, 17)}};

/* one: a single group. each: a group for each input channel. */
static void sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 5);
    uint32_t groups = 2 + (uint32_t)s->index % 3, depth = nnv_sample_dim(s, 2, 5), share = 3 - (uint32_t)s->index % 2;
    if (s->row) {
        groups = (uint32_t)nnv_sample_value(s, GROUPS);
        share = (uint32_t)nnv_sample_value(s, DEPTH_SHARE);
        depth = (g.c + groups - 1) / groups;
    }
    if (nnv_sample_is(s, "one")) groups = 1;
    if (nnv_sample_is(s, "each")) depth = 1;
    g.c = groups * depth;
    s->form = &forms[g.scheme ? 0 : 1];
    nnv_direct_set(s, &g, groups * share, depth);
    nnv_window_set(s, &nnv_conv_rows, &g, true);
    nnv_window_set(s, &nnv_conv_cols, &g, false);
    nnv_sample_scalar(s, NNV_CONV_GROUPS, groups);
}

const struct nnv_op nnv_op_GROUPED_CONV_2D = {
    NNV_OP_NAMED(GROUPED_CONV_2D),
    .level = 3,
    .formula = "y[n,i,j,k] = act(bias[k] + sum over p,q,c of x[n, i*sh-top+p, j*sw-left+q, g*D+c] * filter[k,p,q,c]), "
               "D the filter's depth, g = floor(k / (channels / groups))",
    NNV_OP_FORMS(forms),
    NNV_OP_SIGS(nnv_direct_sigs),
    .rounding = NNV_ROUND_LINEAR,
    .linear = true,
    .check = nnv_conv_check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
