/* SPDX-License-Identifier: Apache-2.0 */
/** @file image.h Images [N,H,W,C] or [N,C,H,W], and windows that slide over them. Kernels see [N,H,W,C] only. */
#ifndef CPU_IMAGE_H
#define CPU_IMAGE_H

#include "driver/op.h"

/** Extents by meaning, whatever the layout. */
struct cpu_image {
    uint32_t n, h, w, c;
};
struct cpu_image cpu_image_of(const struct cpu_shape *s, bool nchw);
struct cpu_shape cpu_image_shape(struct cpu_image image, bool nchw);

/** The data of t as [N,H,W,C]: t's own, or a copy in scratch memory; NULL without memory. */
const void *cpu_image_in(struct cpu_run *run, const struct cpu_tensor *t, bool nchw);
/** Where to write [N,H,W,C]: out's data, or scratch memory that cpu_image_done turns round; NULL without memory. */
void *cpu_image_out(struct cpu_run *run, const struct cpu_tensor *out, bool nchw);
void cpu_image_done(struct cpu_run *run, const struct cpu_tensor *out, bool nchw, const void *data);

/** Padding, strides, dilation of convolutions and pooling. */
struct cpu_window {
    int32_t scheme; /**< ANEURALNETWORKS_PADDING_SAME, _VALID, or 0: explicit */
    int32_t left, right, top, bottom;
    int32_t stride_w, stride_h, dilation_w, dilation_h;
    uint32_t filter_w, filter_h;
    int32_t activation;
    bool nchw;
};

/**
 * Reads the inputs from number `first` on: explicit padding (4) or scheme (1), strides (2), then `extra` values of
 * the operation, which go to more[]; then activation, NCHW, dilation. False: a known value is not allowed.
 */
bool cpu_window_read(const struct cpu_call *c, uint32_t first, uint32_t extra, int32_t *more, struct cpu_window *w);
/**
 * Output extents from input extents (CPU_UNKNOWN allowed); settles implicit padding in *w where they are known.
 * False: a pad is as large as the dilated filter, or the output would be empty.
 */
bool cpu_window_apply(struct cpu_window *w, struct cpu_image in, uint32_t *out_h, uint32_t *out_w);

/** The taps [first, first + count) of a row or column of the filter that lie inside the image. */
struct cpu_span {
    uint32_t first, count;
};
/** at: where tap 0 lies (may be negative); extent: of the image; count may be 0. */
struct cpu_span cpu_window_span(int64_t at, uint32_t filter, int32_t dilation, uint32_t extent);
/** The spans of all output columns, in scratch memory; NULL without memory. */
const struct cpu_span *cpu_window_columns(struct cpu_run *run, const struct cpu_window *w, uint32_t in_w,
                                          uint32_t out_w);

#endif
