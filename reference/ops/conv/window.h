/* SPDX-License-Identifier: Apache-2.0 */
/** @file window.h What convolutions and pools share: padding and window arithmetic from scalar inputs, and samples of
 * it. */
#ifndef NNV_OPS_WINDOW_H
#define NNV_OPS_WINDOW_H

#include "reference/eval/kernel.h"
#include "reference/model/sample.h"
#include "reference/ops/factors.h"

/** Ids of the scalars of one dimension; -1: the operation has none. */
struct nnv_window_ids {
    int scheme; /**< absent in the form with explicit padding */
    int head, tail, stride, dilation;
};

/**
 * Window arithmetic (nnv_window) of a dimension with `in` elements and `filter` taps, either of which may be
 * NNV_DIM_UNKNOWN; so is the result while a scalar is not known. what names the dimension in errors.
 */
NNV_USE_RESULT enum nnv_status nnv_window_of(const struct nnv_call *c, const struct nnv_window_ids *ids, uint32_t in,
                                             uint32_t filter, const char *what, struct nnv_window *w,
                                             struct nnv_err *err);

/** Positions of channels, height and width in a shape. */
struct nnv_layout {
    uint32_t c, h, w;
};
static inline struct nnv_layout nnv_layout_of(bool nchw) {
    return nchw ? (struct nnv_layout){1, 2, 3} : (struct nnv_layout){3, 1, 2};
}

/** The shape of an image: the batch of shape x, and these extents in that layout. */
static inline struct nnv_shape nnv_image_shape(const struct nnv_shape *x, struct nnv_layout l, uint32_t c, uint32_t h,
                                               uint32_t w) {
    struct nnv_shape y = nnv_shape_of_rank(4);
    y.dims[0] = nnv_dim(x, 0);
    y.dims[l.c] = c;
    y.dims[l.h] = h;
    y.dims[l.w] = w;
    return y;
}
/** The same while the layout is not known: only the batch is. */
static inline struct nnv_shape nnv_image_unknown(const struct nnv_shape *x) {
    return nnv_image_shape(x, nnv_layout_of(false), NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN);
}

/** Geometry of a sampled convolution or pool; unequal in height and width wherever it can be. */
struct nnv_window_sample {
    uint32_t n, h, w, c, fh, fw;
    int stride_h, stride_w, dilation_h, dilation_w, scheme; /**< scheme 0: explicit */
    int top, bottom, left, right;
    bool nchw;
    bool dilated; /**< the dilation is given, not left to its default */
};
/** Names of variants that convolutions and pools have first. */
#define NNV_WINDOW_VARIANTS "valid", "same", "explicit", "stride_same", "stride_valid", "stride_explicit", "nchw_same"
/** The first factors of all operations with windows, in this order; `image` grows where the window has no room. */
enum {
    NNV_WINDOW_WINDOW,
    NNV_WINDOW_STRIDE,
    NNV_WINDOW_PADDING,
    NNV_WINDOW_IMAGE,
    NNV_WINDOW_CHANNELS,
    NNV_WINDOW_BATCH,
    NNV_WINDOW_LAYOUT,
    NNV_WINDOW_ACTIVATION,
    NNV_WINDOW_DILATION, /**< the convolutions' own come behind */
};
/** "tall", "broad": more than 127 cells above and below, or at both sides, of a window that is as long. */
enum { NNV_PADS_SAME, NNV_PADS_VALID, NNV_PADS_NONE, NNV_PADS_EQUAL, NNV_PADS_UNEQUAL, NNV_PADS_TALL, NNV_PADS_BROAD };
#define NNV_PADDING_FACTOR                                                                                             \
    {                                                                                                                  \
        .name = "padding",                                                                                             \
        .words = (const char *const[]){"same", "valid", "none", "equal", "unequal", "tall", "broad"},                  \
        .values = nnv_first_numbers, .n = NNV_PADS_TALL, NNV_SIZES(NNV_PADS_TALL, NNV_PADS_BROAD)                      \
    }
#define NNV_WINDOW_FACTORS                                                                                             \
    {.name = "window",                                                                                                 \
     .sums = true,                                                                                                     \
     .pair = true,                                                                                                     \
     NNV_VALUES(NNV_PAIR(3, 3), NNV_PAIR(1, 1), NNV_PAIR(2, 2), NNV_PAIR(5, 5), NNV_PAIR(7, 7), NNV_PAIR(1, 3),        \
                NNV_PAIR(3, 1), NNV_PAIR(2, 3), NNV_PAIR(4, 4)),                                                       \
     NNV_SIZES(NNV_PAIR(1, 7), NNV_PAIR(7, 1), NNV_PAIR(6, 6), NNV_PAIR(9, 9), NNV_PAIR(11, 11), NNV_PAIR(17, 17),     \
               NNV_PAIR(16, 16), NNV_PAIR(13, 21), NNV_PAIR(33, 9), NNV_PAIR(257, 1)),                                 \
     .point = NNV_PAIR(1, 1)},                                                                                         \
        {.name = "stride",                                                                                             \
         .pair = true,                                                                                                 \
         NNV_VALUES(NNV_PAIR(1, 1), NNV_PAIR(2, 2), NNV_PAIR(3, 3), NNV_PAIR(1, 2), NNV_PAIR(2, 1), NNV_PAIR(4, 4)),   \
         NNV_SIZES(NNV_PAIR(5, 5), NNV_PAIR(7, 7), NNV_PAIR(8, 8), NNV_PAIR(2, 4))},                                   \
        NNV_PADDING_FACTOR, NNV_IMAGE_FACTORS, {                                                                       \
        .name = "activation", NNV_WORDS("none", "relu", "relu1", "relu6")                                              \
    }
/** Dilations of convolutions that have them. */
#define NNV_WINDOW_DILATIONS                                                                                           \
    {                                                                                                                  \
        .name = "dilation", .pair = true,                                                                              \
        NNV_VALUES(NNV_PAIR(1, 1), NNV_PAIR(2, 2), NNV_PAIR(3, 3), NNV_PAIR(1, 2), NNV_PAIR(2, 1)),                    \
        NNV_SIZES(NNV_PAIR(4, 4), NNV_PAIR(6, 6), NNV_PAIR(12, 12))                                                    \
    }
/** Output channels of convolutions. */
#define NNV_WINDOW_FILTERS                                                                                             \
    {                                                                                                                  \
        .name = "filters", NNV_VALUES(4, 1, 3, 8, 16, 5),                                                              \
        NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 513, 1025)                             \
    }

/**
 * Geometry of the sample's row, or drawn by the words of the variant's name: valid, same, explicit, stride, dilation,
 * nchw, pointwise, winograd, even, wide, large; c channels at most.
 */
struct nnv_window_sample nnv_window_draw(struct nnv_sample *s, uint32_t c);
/** Sets the scalars of one dimension: the paddings if explicit, and the stride. */
void nnv_window_set(struct nnv_sample *s, const struct nnv_window_ids *ids, const struct nnv_window_sample *g,
                    bool height);

#endif
