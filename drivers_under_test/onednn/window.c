/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Windows that slide over images; AVERAGE_POOL_2D and MAX_POOL_2D. */
#include "plan.h"

bool dn_window_sane(const struct dn_window *w) {
    enum { MOST = INT16_MAX };
    const int32_t values[] = {w->left,     w->right,      w->top,        w->bottom,  w->stride_w,
                              w->stride_h, w->dilation_w, w->dilation_h, w->more[0], w->more[1]};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] > MOST) return false;
    return true;
}

bool dn_window_read(struct dn_plan *p, uint32_t first, uint32_t more, struct dn_window *w) {
    uint32_t i = first;
    const struct engine_tensor *t =
        dn_in(p, first + more + 4); /* NCHW, or one of the many numbers of explicit padding */
    *w = (struct dn_window){0};
    if (t && t->type == ANEURALNETWORKS_INT32) {
        w->left = dn_int(p, i++, 0);
        w->right = dn_int(p, i++, 0);
        w->top = dn_int(p, i++, 0);
        w->bottom = dn_int(p, i++, 0);
    } else {
        w->scheme = dn_int(p, i++, 0);
    }
    w->stride_w = dn_int(p, i++, 1);
    w->stride_h = dn_int(p, i++, 1);
    for (uint32_t k = 0; k < more; k++) w->more[k] = dn_int(p, i++, 1);
    w->activation = dn_int(p, i++, ANEURALNETWORKS_FUSED_NONE);
    w->nchw = dn_int(p, i++, 0) != 0;
    w->dilation_w = dn_int(p, i++, 1);
    w->dilation_h = dn_int(p, i, 1);
    return !p->not_constant && dn_window_sane(w);
}

void dn_window_pad(int32_t scheme, int64_t in, int64_t out, int64_t filter, int32_t stride, int32_t dilation,
                   int32_t *head, int32_t *tail) {
    if (scheme != ANEURALNETWORKS_PADDING_SAME) return;
    const int64_t total = (out - 1) * stride + (filter - 1) * dilation + 1 - in;
    *head = total > 0 ? (int32_t)(total / 2) : 0;
    *tail = total > 0 ? (int32_t)(total - total / 2) : 0;
}

/** Means and maxima of codes are the codes of means and maxima: the quantisation is that of the input. */
bool dn_pool(struct dn_plan *p) {
    const struct engine_tensor *x = dn_in(p, 0), *y = dn_out(p);
    struct dn_window w;
    dn_form in, out;
    dnnl_pooling_desc_t op;
    if (!dn_window_read(p, 1, 2, &w) || !dn_form_image(x, w.nchw, &in) || !dn_form_image(y, w.nchw, &out) ||
        !dn_same_quant(x, y))
        return false;
    dn_window_pad(w.scheme, in.dims[3], out.dims[3], w.more[0], w.stride_w, 1, &w.left, &w.right);
    dn_window_pad(w.scheme, in.dims[2], out.dims[2], w.more[1], w.stride_h, 1, &w.top, &w.bottom);
    const dnnl_dims_t strides = {w.stride_h, w.stride_w}, kernel = {w.more[1], w.more[0]}, before = {w.top, w.left},
                      after = {w.bottom, w.right};
    const bool max = p->node->code == ANEURALNETWORKS_MAX_POOL_2D;
    if (dnnl_pooling_forward_desc_init(&op, dnnl_forward_inference,
                                       max ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding, &in, &out, strides,
                                       kernel, before, after) != dnnl_success)
        return false;
    struct dn_attr attr = dn_attr_new();
    const struct dn_arg args[] = {{DNNL_ARG_SRC, dn_see(p, p->node->in[0], &in)},
                                  {DNNL_ARG_DST, dn_see(p, p->node->out[0], &out)}};
    const bool ok = dn_step(p, dn_describe(p, &op, &attr), args, 2);
    dn_attr_free(&attr);
    return ok && dn_activate(p, args[1].slot, args[1].slot, w.activation, y);
}
