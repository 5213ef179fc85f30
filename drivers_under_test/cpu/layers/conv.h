/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.h Convolutions as products: of the input itself, or of rows into which the pixels under the filter are
 * gathered. */
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
    int32_t zero_point;              /**< of the input */
    const struct cpu_dense *weights; /**< cpu_conv_run settles them */
    const struct cpu_span *cols;
};

/** Values that lie side by side in the input under a filter: a line of it, or a single tap. depth: of a tap; whole:
 * that is all channels of the input. */
size_t cpu_conv_run_length(const struct cpu_window *w, size_t depth, bool whole);

/** Computes v's output pixels, the weights' channels of each, into y; pixels of y are `step` values apart. v->cols and
 * all above are set. False: no memory. */
bool cpu_conv_run(struct cpu_run *run, struct cpu_conv *v, const struct cpu_dense *weights,
                  const struct cpu_tensor *out, void *y, size_t step);

/** The direct way, in which products read the input itself. */
bool cpu_conv_is_direct(const struct cpu_conv *v);
/** The same as cpu_conv_run for a convolution that is direct; product: weights, out, out_step, range, zero point. */
bool cpu_conv_run_direct(struct cpu_run *run, const struct cpu_conv *v, const struct cpu_product *product);
/** Writes the values under the filter at one output pixel, counted over all images. */
void cpu_conv_gather(const struct cpu_conv *v, size_t pixel, void *to);

#endif
