/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file layer.c What has weights and a bias: CONV_2D, GROUPED_CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV_2D,
 * FULLY_CONNECTED.
 *
 * Quantised layers are computed on 8-bit integers where the engine can: its weights are signed and have no zero point.
 * Other weights are centred (value - zero point) and computed in float32, where sums of less than 2^24 are exact.
 */
#include <stdlib.h>

#include "plan.h"

enum { X, WEIGHTS, BIAS, FIRST_OPTION };

/** The layer as the engine sees it. */
struct layer {
    enum { CONV, DECONV, PRODUCT, INNER } kind; /**< INNER: a product of floats */
    dn_form x, weights, bias, y;
    dnnl_dims_t strides, dilations, before, after;
    int32_t activation;
    int channels; /**< of the output */
};

/* -------------------------------------------------------------------- geometry */

static void set_window(struct layer *l, const struct engine_window *w) {
    l->strides[0] = w->stride_h;
    l->strides[1] = w->stride_w;
    l->dilations[0] = w->dilation_h - 1;
    l->dilations[1] = w->dilation_w - 1;
    l->before[0] = w->top;
    l->before[1] = w->left;
    l->after[0] = w->bottom;
    l->after[1] = w->right;
    l->activation = w->activation;
}

/** The window of a filter [., h, w, .], its implicit padding settled. */
static bool pad_window(struct layer *l, const struct engine_tensor *f, struct engine_window *w) {
    engine_window_pad(w->scheme, l->x.dims[2], l->y.dims[2], f->dims[1], w->stride_h, w->dilation_h, &w->top,
                      &w->bottom);
    engine_window_pad(w->scheme, l->x.dims[3], l->y.dims[3], f->dims[2], w->stride_w, w->dilation_w, &w->left,
                      &w->right);
    set_window(l, w);
    return true;
}

static bool set_images(const struct dn_plan *p, bool nchw, struct layer *l) {
    dnnl_data_type_t type;
    const dnnl_dim_t channels[] = {l->channels};
    return dn_form_image(engine_in(&p->op, X), nchw, &l->x) && dn_form_image(engine_out(&p->op, 0), nchw, &l->y) &&
           dn_type_of(engine_in(&p->op, BIAS), &type) && dn_form_dense(type, 1, channels, &l->bias);
}

/** Filters [O, h, w, I / groups]; a single group has no extent of its own. */
static bool set_filter(const struct engine_tensor *t, dnnl_dim_t groups, struct layer *l) {
    dnnl_data_type_t type;
    if (!dn_type_of(t, &type)) return false;
    const dnnl_dim_t o = t->dims[0] / groups, h = t->dims[1], w = t->dims[2], i = t->dims[3], one = h * w * i;
    const dnnl_dim_t dims[] = {groups, o, i, h, w}, steps[] = {o * one, one, 1, w * i, i};
    const int skip = groups == 1;
    return dn_form_make(type, 5 - skip, dims + skip, steps + skip, &l->weights);
}

static bool conv(struct dn_plan *p, struct layer *l) {
    const bool grouped = p->op.node->code == ANEURALNETWORKS_GROUPED_CONV_2D;
    const struct engine_tensor *f = engine_in(&p->op, WEIGHTS);
    struct engine_window w;
    if (!dn_window_read(p, FIRST_OPTION, grouped, &w)) return false;
    l->channels = (int)f->dims[0];
    if (!set_images(p, w.nchw, l) || !set_filter(f, grouped ? w.more[0] : 1, l)) return false;
    return pad_window(l, f, &w);
}

/** A group for each channel of the input; filter [1, h, w, O]. */
static bool depthwise(struct dn_plan *p, struct layer *l) {
    const struct engine_tensor *f = engine_in(&p->op, WEIGHTS);
    struct engine_window w;
    dnnl_data_type_t type;
    if (!dn_window_read(p, FIRST_OPTION, 1, &w) || !dn_type_of(f, &type)) return false;
    l->channels = (int)f->dims[3];
    const dnnl_dim_t m = w.more[0], o = f->dims[3];
    const dnnl_dim_t dims[] = {o / m, m, 1, f->dims[1], f->dims[2]}, steps[] = {m, 1, 1, f->dims[2] * o, o};
    if (!set_images(p, w.nchw, l) || !dn_form_make(type, 5, dims, steps, &l->weights)) return false;
    return pad_window(l, f, &w);
}

/** What the full result of a transposed convolution has too much is cut off: head, and the rest behind. */
static void cut(bool same, int64_t in, int64_t out, int64_t filter, int32_t stride, int32_t *head, int32_t *tail) {
    const int64_t total = (in - 1) * stride + filter - out;
    if (same) *head = total > 0 ? (int32_t)(total / 2) : 0;
    *tail = (int32_t)(total - *head);
}

static bool transposed(struct dn_plan *p, struct layer *l) {
    const struct engine_tensor *f = engine_in(&p->op, WEIGHTS);
    struct engine_window w;
    l->kind = DECONV;
    l->channels = (int)f->dims[0];
    if (!dn_window_read(p, FIRST_OPTION, 0, &w) || !set_images(p, w.nchw, l) || !set_filter(f, 1, l)) return false;
    const bool same = w.scheme == ANEURALNETWORKS_PADDING_SAME;
    cut(same, l->x.dims[2], l->y.dims[2], f->dims[1], w.stride_h, &w.top, &w.bottom);
    cut(same, l->x.dims[3], l->y.dims[3], f->dims[2], w.stride_w, &w.left, &w.right);
    set_window(l, &w);
    return true;
}

static bool fully_connected(struct dn_plan *p, struct layer *l) {
    const struct engine_tensor *x = engine_in(&p->op, X), *f = engine_in(&p->op, WEIGHTS);
    dnnl_data_type_t xt, wt, bt, yt;
    if (!dn_type_of(x, &xt) || !dn_type_of(f, &wt) || !dn_type_of(engine_in(&p->op, BIAS), &bt) ||
        !dn_type_of(engine_out(&p->op, 0), &yt))
        return false;
    const dnnl_dim_t n = f->dims[0], k = f->dims[1], m = (dnnl_dim_t)x->count / k;
    const dnnl_dim_t xd[] = {m, k}, wd[] = {k, n}, ws[] = {1, k}, bd[] = {1, n}, yd[] = {m, n}, inner[] = {n, k};
    l->kind = engine_is_quant(x) ? PRODUCT : INNER;
    l->channels = (int)n;
    l->activation = engine_int(&p->op, FIRST_OPTION, 0);
    if (p->op.not_constant || !dn_form_dense(xt, 2, xd, &l->x) || !dn_form_dense(yt, 2, yd, &l->y)) return false;
    if (l->kind == INNER) return dn_form_dense(wt, 2, inner, &l->weights) && dn_form_dense(bt, 1, inner, &l->bias);
    return dn_form_make(wt, 2, wd, ws, &l->weights) && dn_form_dense(bt, 2, bd, &l->bias);
}

static bool describe(struct dn_plan *p, struct layer *l) {
    switch (p->op.node->code) {
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
        return depthwise(p, l);
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
        return transposed(p, l);
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return fully_connected(p, l);
    default:
        return conv(p, l);
    }
}

/* ------------------------------------------------------------------- primitive */

/** Slots in the plain forms of l; the weights are brought into the form that the engine likes. */
struct parts {
    int x, weights, bias, y;
    int scales; /**< per channel, for a post-operation; or DN_NOWHERE */
};

static dnnl_primitive_desc_t describe_primitive(const struct dn_plan *p, const struct layer *l,
                                                const struct dn_attr *attr) {
    const dn_form weights = dn_form_any(&l->weights);
    union {
        dnnl_convolution_desc_t conv;
        dnnl_deconvolution_desc_t deconv;
        dnnl_matmul_desc_t product;
        dnnl_inner_product_desc_t inner;
    } op;
    dnnl_status_t st;
    if (l->kind == PRODUCT)
        st = dnnl_matmul_desc_init(&op.product, &l->x, &weights, &l->bias, &l->y);
    else if (l->kind == INNER)
        st = dnnl_inner_product_forward_desc_init(&op.inner, dnnl_forward_inference, &l->x, &weights, &l->bias, &l->y);
    else if (l->kind == DECONV)
        st = dnnl_dilated_deconvolution_forward_desc_init(&op.deconv, dnnl_forward_inference, dnnl_deconvolution_direct,
                                                          &l->x, &weights, &l->bias, &l->y, l->strides, l->dilations,
                                                          l->before, l->after);
    else
        st = dnnl_dilated_convolution_forward_desc_init(&op.conv, dnnl_forward_inference, dnnl_convolution_direct,
                                                        &l->x, &weights, &l->bias, &l->y, l->strides, l->dilations,
                                                        l->before, l->after);
    return st == dnnl_success ? dn_describe(p, &op, attr) : NULL;
}

static bool add_primitive(struct dn_plan *p, const struct layer *l, const struct dn_attr *attr, const struct parts *s) {
    dnnl_primitive_desc_t desc = describe_primitive(p, l, attr);
    if (!desc) return false;
    const dn_form chosen = dn_chosen(desc, DNNL_ARG_WEIGHTS);
    struct dn_arg args[] = {{DNNL_ARG_SRC, s->x},
                            {DNNL_ARG_WEIGHTS, dn_into(p, s->weights, &chosen)},
                            {DNNL_ARG_BIAS, s->bias},
                            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, s->scales},
                            {DNNL_ARG_DST, s->y}};
    if (s->scales != DN_NOWHERE) return dn_step(p, desc, args, 5);
    args[3] = args[4];
    return dn_step(p, desc, args, 4);
}

static bool in_float(struct dn_plan *p, const struct layer *l) {
    struct dn_attr attr = dn_attr_new();
    dn_attr_activation(&attr, l->activation, engine_out(&p->op, 0));
    const struct parts s = {dn_see(p, p->op.node->in[X], &l->x), dn_see(p, p->op.node->in[WEIGHTS], &l->weights),
                            dn_see(p, p->op.node->in[BIAS], &l->bias), dn_see(p, p->op.node->out[0], &l->y),
                            DN_NOWHERE};
    const bool ok = add_primitive(p, l, &attr, &s);
    dn_attr_free(&attr);
    return ok;
}

/* ------------------------------------------------------------------- quantised */

/** What a sum of products of codes is in codes of the output, for each channel or for all. */
struct multipliers {
    float *values;
    int count;
};

static bool multipliers_of(const struct dn_plan *p, const struct layer *l, struct multipliers *m) {
    const struct engine_tensor *x = engine_in(&p->op, X), *w = engine_in(&p->op, WEIGHTS), *y = engine_out(&p->op, 0);
    m->count = w->channels ? l->channels : 1;
    m->values = calloc((size_t)m->count, sizeof *m->values);
    if (!m->values || (w->channels && (int)w->channels != l->channels)) return false;
    for (int i = 0; i < m->count; i++)
        m->values[i] = (float)((double)x->scale * (double)(w->channels ? w->scales[i] : w->scale) / (double)y->scale);
    return true;
}

/** Weights as signed bytes without a zero point; DN_NOWHERE if they don't fit. */
static int signed_weights(struct dn_plan *p, const struct layer *l) {
    const struct engine_tensor *w = engine_in(&p->op, WEIGHTS);
    const dn_form form = dn_form_typed(&l->weights, dnnl_s8);
    if (w->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM)
        return w->zero_point == 0 ? dn_see(p, p->op.node->in[WEIGHTS], &form) : DN_NOWHERE;
    if (!w->value) return DN_NOWHERE;
    int8_t *values = malloc(w->bytes);
    const uint8_t *codes = w->value;
    bool fits = values != NULL;
    for (size_t i = 0; fits && i < w->count; i++) {
        const int32_t v = codes[i] - w->zero_point;
        fits = v >= INT8_MIN && v <= INT8_MAX;
        values[i] = (int8_t)v;
    }
    const int slot = fits ? dn_values(p, &form, values) : DN_NOWHERE;
    free(values);
    return slot;
}

static bool in_bytes(struct dn_plan *p, const struct layer *l, const struct multipliers *m) {
    const struct engine_tensor *x = engine_in(&p->op, X), *y = engine_out(&p->op, 0);
    struct layer bytes = *l;
    bytes.weights.data_type = dnnl_s8;
    const int weights = signed_weights(p, l);
    if (weights == DN_NOWHERE) return false;
    struct dn_attr attr = dn_attr_new();
    dn_attr_scales(&attr, m->count, m->count > 1 ? 1 << 1 : 0, m->values);
    dn_attr_zero_point(&attr, DNNL_ARG_SRC, x->zero_point);
    dn_attr_zero_point(&attr, DNNL_ARG_DST, y->zero_point);
    dn_attr_activation(&attr, l->activation, y);
    const struct parts s = {dn_see(p, p->op.node->in[X], &l->x), weights, dn_see(p, p->op.node->in[BIAS], &l->bias),
                            dn_see(p, p->op.node->out[0], &l->y), DN_NOWHERE};
    const bool ok = add_primitive(p, &bytes, &attr, &s);
    dn_attr_free(&attr);
    return ok;
}

/** Centred codes in float32; the result is scaled, limited, and rounded at last. */
static bool in_centred_floats(struct dn_plan *p, const struct layer *l, const struct multipliers *m) {
    const struct engine_tensor *x = engine_in(&p->op, X), *w = engine_in(&p->op, WEIGHTS), *y = engine_out(&p->op, 0);
    struct layer f = *l;
    struct parts s = {.scales = DN_NOWHERE};
    f.x.data_type = f.weights.data_type = f.bias.data_type = f.y.data_type = dnnl_f32;
    struct dn_attr attr = dn_attr_new();
    if (m->count > 1) {
        dnnl_dims_t dims = {1, m->count, 1, 1};
        dn_form form;
        attr.failed = attr.failed || !dn_form_dense(dnnl_f32, f.y.ndims, dims, &form) ||
                      dnnl_post_ops_append_binary(attr.post, dnnl_binary_mul, &form) != dnnl_success ||
                      dnnl_primitive_attr_set_post_ops(attr.attr, attr.post) != dnnl_success;
        s.scales = attr.failed ? DN_NOWHERE : dn_values(p, &form, m->values);
    } else {
        dn_attr_then(&attr, dnnl_eltwise_linear, m->values[0], 0);
    }
    dn_attr_activation(&attr, l->activation, y);
    s.x = dn_real(p, dn_see(p, p->op.node->in[X], &l->x), x, 1.0f);
    s.weights = dn_real(p, dn_see(p, p->op.node->in[WEIGHTS], &l->weights), w, 1.0f);
    s.bias = dn_real(p, dn_see(p, p->op.node->in[BIAS], &l->bias), engine_in(&p->op, BIAS), 1.0f);
    s.y = dn_own(p, &f.y);
    const bool ok = add_primitive(p, &f, &attr, &s) && dn_store(p, s.y, dn_see(p, p->op.node->out[0], &l->y), y, 1.0f);
    dn_attr_free(&attr);
    return ok;
}

/** Below the height of its stride, the engine's filter of bytes is read beyond its end (docs/use/findings.md). */
static bool reads_beyond(const struct layer *l) {
    const dn_form *w = &l->weights;
    return l->kind == DECONV && (w->dims[w->ndims - 2] < l->strides[0] || w->dims[w->ndims - 1] < l->strides[1]);
}

/** True if the engine may use instructions of that name in oneDNN's list. */
static bool may_use(dnnl_cpu_isa_t isa) { return ((unsigned)dnnl_get_effective_cpu_isa() & isa) == (unsigned)isa; }

/**
 * What the engine takes off for the input's zero point can be anything, with groups; and with AMX where a dilated
 * filter lies in the padding, where it also writes beyond its buffers (docs/use/findings.md).
 */
static bool loses_zero_point(const struct dn_plan *p, const struct layer *l) {
    const dn_form *w = &l->weights;
    const bool padded = l->before[0] > 0 || l->before[1] > 0 || l->after[0] > 0 || l->after[1] > 0,
               grouped = w->ndims == 5 && (w->dims[1] > 1 || w->dims[2] > 1),
               dilated = l->dilations[0] > 0 || l->dilations[1] > 0;
    if (engine_in(&p->op, X)->zero_point == 0) return false;
    return grouped || (dilated && padded && may_use(dnnl_cpu_isa_avx512_core_amx));
}

/**
 * Only with VNNI instructions does the engine sum up products of bytes as they are: elsewhere it halves signed weights
 * or lets sums of two products saturate at 16 bits (docs/use/findings.md).
 */
static bool bytes_will_do(const struct dn_plan *p, const struct layer *l) {
    return p->engine->loose || (!reads_beyond(l) && !loses_zero_point(p, l) && may_use(dnnl_cpu_isa_avx512_core_vnni));
}

bool dn_layer(struct dn_plan *p) {
    struct layer l = {.kind = CONV};
    if (!describe(p, &l)) return false;
    if (!engine_is_quant(engine_in(&p->op, X))) return in_float(p, &l);
    struct multipliers m = {0};
    bool ok = multipliers_of(p, &l, &m);
    if (ok && !(bytes_will_do(p, &l) && in_bytes(p, &l, &m))) {
        dn_clear(p);
        ok = in_centred_floats(p, &l, &m);
    }
    free(m.values);
    return ok;
}
