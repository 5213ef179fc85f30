/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.c Windows that slide over images; AVERAGE_POOL_2D and MAX_POOL_2D. */
#include "plan.h"

bool dn_window_read(struct dn_plan *p, uint32_t first, uint32_t more, struct engine_window *w) {
    enum { MOST = INT16_MAX };
    if (!engine_window_read(&p->op, first, more, w)) return false;
    const int32_t values[] = {w->left,     w->right,      w->top,        w->bottom,  w->stride_w,
                              w->stride_h, w->dilation_w, w->dilation_h, w->more[0], w->more[1]};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] > MOST) return false;
    return true;
}

/** Means and maxima of codes are the codes of means and maxima: the quantisation is that of the input. */
bool dn_pool(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, 0), *y = engine_out(&p->op, 0);
    struct engine_window w;
    dn_form in, out;
    dnnl_pooling_desc_t op;
    if (!dn_window_read(p, 1, 2, &w) || !dn_form_image(x, w.nchw, &in) || !dn_form_image(y, w.nchw, &out) ||
        !engine_same_quant(x, y))
        return false;
    engine_window_pad(w.scheme, in.dims[3], out.dims[3], w.more[0], w.stride_w, 1, &w.left, &w.right);
    engine_window_pad(w.scheme, in.dims[2], out.dims[2], w.more[1], w.stride_h, 1, &w.top, &w.bottom);
    const dnnl_dims_t strides = {w.stride_h, w.stride_w}, kernel = {w.more[1], w.more[0]}, before = {w.top, w.left},
                      after = {w.bottom, w.right};
    const bool max = p->op.node->code == ANEURALNETWORKS_MAX_POOL_2D;
    if (dnnl_pooling_forward_desc_init(&op, dnnl_forward_inference,
                                       max ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding, &in, &out, strides,
                                       kernel, before, after) != dnnl_success)
        return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, dn_see(p, p->op.node->in[0], &in)},
                                  {DNNL_ARG_DST, dn_see(p, p->op.node->out[0], &out)}};
    return dn_plain(p, &op, args, 2) && dn_activate(p, args[1].slot, args[1].slot, w.activation, y);
}
