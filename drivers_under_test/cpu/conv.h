/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.h Convolutions as products: the pixels under the filter are gathered into rows. */
#ifndef CPU_CONV_H
#define CPU_CONV_H

#include "dense.h"
#include "image.h"

/** Everything there is to know of one convolution. */
struct cpu_conv {
    struct cpu_window window;
    struct cpu_image in, out;
    uint32_t depth;      /**< channels that an output channel sees */
    uint32_t channel_at; /**< the first of them */
    const void *x;       /**< [N,H,W,C] */
    const struct cpu_kernels *kernels;
    bool quantised;
    int32_t zero_point; /**< of the input */
    size_t k;           /**< values of a gathered row; cpu_conv_run settles it */
    const struct cpu_span *cols;
};

/** Computes v's output pixels, the weights' channels of each, into y; pixels of y are `step` values apart. v->cols and
 * all above are set. False: no memory. */
bool cpu_conv_run(struct cpu_run *run, struct cpu_conv *v, const struct cpu_dense *weights,
                  const struct cpu_tensor *out, void *y, size_t step);

#endif
