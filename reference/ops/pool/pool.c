/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/pool/pool.h"

#include "reference/ops/elementwise/fuse.h"

enum { X, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, SCHEME, STRIDE_W, STRIDE_H, FILTER_W, FILTER_H, ACT, NCHW };

#define INT(ID, NAME, RULE)                                                                                            \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR, .rule = RULE }
#define INPUT                                                                                                          \
    { .id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4 }
#define WINDOW                                                                                                         \
    INT(STRIDE_W, "stride width", NNV_POSITIVE), INT(STRIDE_H, "stride height", NNV_POSITIVE),                         \
        INT(FILTER_W, "filter width", NNV_POSITIVE), INT(FILTER_H, "filter height", NNV_POSITIVE),                     \
        INT(ACT, "activation", NNV_FUSE)
#define LAYOUT                                                                                                         \
    {                                                                                                                  \
        .id = NCHW, .name = "nchw", .var = NNV_FIXED, .type = ANEURALNETWORKS_BOOL, .flags = NNV_SCALAR, .group = 1,   \
        .level = 3                                                                                                     \
    }

static const struct nnv_slot implicit_inputs[] = {INPUT, INT(SCHEME, "padding scheme", NNV_PADDING_CODE), WINDOW,
                                                  LAYOUT};
static const struct nnv_slot explicit_inputs[] = {
    INPUT,
    INT(PAD_LEFT, "padding left", NNV_NOT_NEGATIVE),
    INT(PAD_RIGHT, "padding right", NNV_NOT_NEGATIVE),
    INT(PAD_TOP, "padding top", NNV_NOT_NEGATIVE),
    INT(PAD_BOTTOM, "padding bottom", NNV_NOT_NEGATIVE),
    WINDOW,
    LAYOUT,
};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};

const struct nnv_form nnv_pool_forms[NNV_POOL_FORMS] = {
    {"implicit", implicit_inputs, sizeof implicit_inputs / sizeof *implicit_inputs, outputs, 1},
    {"explicit", explicit_inputs, sizeof explicit_inputs / sizeof *explicit_inputs, outputs, 1},
};

const struct nnv_sig nnv_pool_sigs[NNV_POOL_SIGS] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};
const struct nnv_sig nnv_pool_float_sigs[NNV_POOL_FLOAT_SIGS] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
};

static const struct nnv_window_ids rows_ids = {SCHEME, PAD_TOP, PAD_BOTTOM, STRIDE_H, -1};
static const struct nnv_window_ids cols_ids = {SCHEME, PAD_LEFT, PAD_RIGHT, STRIDE_W, -1};

static uint32_t filter_extent(const struct nnv_call *c, int id) {
    return nnv_known(c, id) ? (uint32_t)nnv_int(c, id) : NNV_DIM_UNKNOWN;
}

static enum nnv_status windows(const struct nnv_call *c, uint32_t in_h, uint32_t in_w, struct nnv_window *h,
                               struct nnv_window *w, struct nnv_err *err) {
    enum nnv_status st = nnv_window_of(c, &rows_ids, in_h, filter_extent(c, FILTER_H), "height", h, err);
    return st ? st : nnv_window_of(c, &cols_ids, in_w, filter_extent(c, FILTER_W), "width", w, err);
}

enum nnv_status nnv_pool_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape y = nnv_shape_of_rank(4);
    y.dims[0] = nnv_dim(x, 0);
    if (nnv_known(c, NCHW)) {
        struct nnv_layout l = nnv_layout_of(nnv_int(c, NCHW));
        struct nnv_window h, w;
        enum nnv_status st = windows(c, nnv_dim(x, l.h), nnv_dim(x, l.w), &h, &w, err);
        if (st) return st;
        y.dims[l.c] = nnv_dim(x, l.c);
        y.dims[l.h] = h.out;
        y.dims[l.w] = w.out;
    }
    out[0] = y;
    return NNV_OK;
}

/* The part of window number i that lies in the tensor: the first cell and the number of cells. */
static void clip(uint32_t i, int32_t stride, int32_t head, uint32_t filter, uint32_t extent, uint32_t *first,
                 uint32_t *count) {
    int64_t begin = (int64_t)i * stride - head, end = begin + filter;
    if (begin < 0) begin = 0;
    if (end > extent) end = extent;
    *first = (uint32_t)begin;
    *count = end > begin ? (uint32_t)(end - begin) : 0;
}

enum nnv_status nnv_pool_eval(struct nnv_kernel *k, double (*pool)(struct nnv_kernel *k, const struct nnv_pool_area *a),
                              struct nnv_err *err) {
    const struct nnv_call *c = k->call;
    bool nchw = nnv_int(c, NCHW);
    struct nnv_image x = nnv_image_of(nnv_in_shape(k, X), nchw), y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    struct nnv_window h, w;
    enum nnv_status st = windows(c, x.h, x.w, &h, &w, err);
    if (st) return st;
    const double *in = nnv_units(k, X), scale = nnv_scale(k, X, 0);
    struct nnv_pool_area a = {.sh = x.sh, .sw = x.sw};
    for (uint32_t n = 0; n < y.n; n++)
        for (uint32_t i = 0; i < y.h; i++)
            for (uint32_t j = 0; j < y.w; j++) {
                uint32_t top, left;
                clip(i, nnv_int(c, STRIDE_H), h.head, filter_extent(c, FILTER_H), x.h, &top, &a.h);
                clip(j, nnv_int(c, STRIDE_W), w.head, filter_extent(c, FILTER_W), x.w, &left, &a.w);
                if (a.h == 0 || a.w == 0) return nnv_fail(err, NNV_INVALID, "window [%u,%u] lies in the padding", i, j);
                for (uint32_t ch = 0; ch < y.c; ch++) {
                    a.cell = in + nnv_image_at(&x, n, top, left, ch);
                    k->out[0][nnv_image_at(&y, n, i, j, ch)] = scale * pool(k, &a);
                }
            }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

const char *const nnv_pool_variants[] = {"valid",
                                         "same",
                                         "explicit",
                                         "stride_same",
                                         "stride_valid",
                                         "stride_explicit",
                                         "nchw_same",
                                         "nchw_stride_explicit",
                                         "pointwise_stride_valid",
                                         "global",
                                         "relu",
                                         "relu1",
                                         "relu6",
                                         "wide",
                                         "large_same",
                                         NULL};

void nnv_pool_sample(struct nnv_sample *s) {
    struct nnv_window_sample g = nnv_window_draw(s, 9);
    int act = nnv_fuse_drawn(s);
    uint32_t dims[4];
    if (nnv_sample_is(s, "global")) g.fh = g.h, g.fw = g.w, g.scheme = ANEURALNETWORKS_PADDING_VALID;
    s->form = &s->op->forms[g.scheme ? 0 : 1];
    nnv_sample_image(dims, g.n, g.h, g.w, g.c, g.nchw);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, 4, dims);
    if (act == ANEURALNETWORKS_FUSED_RELU1) x->lo = -1.5, x->hi = 1.5;
    if (act == ANEURALNETWORKS_FUSED_RELU6) x->lo = -5, x->hi = 12;
    nnv_window_set(s, &rows_ids, &g, true);
    nnv_window_set(s, &cols_ids, &g, false);
    nnv_sample_scalar(s, FILTER_W, g.fw);
    nnv_sample_scalar(s, FILTER_H, g.fh);
    nnv_sample_scalar(s, ACT, act);
    if (g.nchw) nnv_sample_scalar(s, NCHW, g.nchw);
}
