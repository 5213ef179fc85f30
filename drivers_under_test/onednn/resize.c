/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize.c RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, where the centres of pixels are what counts. */
#include "plan.h"

enum { X, NCHW = 3, ALIGN_CORNERS, HALF_PIXEL };

/**
 * The engine measures from the centres of pixels. From their corners the nearest neighbour is the same where every
 * pixel is repeated as often; of an extent that does not change, or is 1, everything is the same in all ways.
 */
static bool same_by_centres(dnnl_dim_t in, dnnl_dim_t out, bool nearest) {
    return in == out || in == 1 || (nearest && out % in == 0);
}

bool dn_resize(struct dn_plan *p) {
    const struct engine_tensor *x = engine_in(&p->op, X), *y = engine_out(&p->op, 0);
    const bool nchw = engine_int(&p->op, NCHW, 0) != 0, align = engine_int(&p->op, ALIGN_CORNERS, 0) != 0,
               half = engine_int(&p->op, HALF_PIXEL, 0) != 0;
    const bool nearest = p->op.node->code == ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR;
    dn_form in, out;
    if (p->op.not_constant || !dn_form_image(x, nchw, &in) || !dn_form_image(y, nchw, &out) || !engine_same_quant(x, y))
        return false;
    for (int d = 2; d < 4 && !half; d++)
        if (!same_by_centres(in.dims[d], out.dims[d], nearest && !align)) return false;
    dnnl_resampling_desc_t op;
    if (dnnl_resampling_forward_desc_init(&op, dnnl_forward_inference,
                                          nearest ? dnnl_resampling_nearest : dnnl_resampling_linear, NULL, &in,
                                          &out) != dnnl_success)
        return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, dn_see(p, p->op.node->in[X], &in)},
                                  {DNNL_ARG_DST, dn_see(p, p->op.node->out[0], &out)}};
    return dn_plain(p, &op, args, 2);
}
