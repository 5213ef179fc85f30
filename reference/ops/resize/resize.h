/* SPDX-License-Identifier: Apache-2.0 */
/** @file resize.h What the resizing operations share: two forms, by shape and by scale; width stands before height. */
#ifndef NNV_OPS_RESIZE_H
#define NNV_OPS_RESIZE_H

#include "reference/ops/common.h"

enum {
    NNV_RESIZE_INPUT,
    NNV_RESIZE_WIDTH, /**< by shape: extents */
    NNV_RESIZE_HEIGHT,
    NNV_RESIZE_WIDTH_SCALE, /**< by scale: factors */
    NNV_RESIZE_HEIGHT_SCALE,
    NNV_RESIZE_NCHW,
    NNV_RESIZE_ALIGN,
    NNV_RESIZE_HALF,
};

#define NNV_RESIZE_X                                                                                                   \
    { .id = NNV_RESIZE_INPUT, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4 }
#define NNV_RESIZE_BY_SHAPE                                                                                            \
    NNV_SLOT_INT(NNV_RESIZE_WIDTH, "output width", NNV_POSITIVE),                                                      \
        NNV_SLOT_INT(NNV_RESIZE_HEIGHT, "output height", NNV_POSITIVE)
#define NNV_RESIZE_FACTOR(ID, NAME)                                                                                    \
    { .id = ID, .name = NAME, .var = NNV_S, .flags = NNV_SCALAR, .level = 3, .rule = NNV_POSITIVE }
#define NNV_RESIZE_BY_SCALE                                                                                            \
    NNV_RESIZE_FACTOR(NNV_RESIZE_WIDTH_SCALE, "width scale"), NNV_RESIZE_FACTOR(NNV_RESIZE_HEIGHT_SCALE, "height "     \
                                                                                                         "scale")
/** The data layout: group 0 (required) or a trailing group. */
#define NNV_RESIZE_LAYOUT(GROUP) NNV_SLOT_FLAG(NNV_RESIZE_NCHW, "nchw", GROUP, 3)
/** Align corners and half pixel centres, each a trailing group of its own. */
#define NNV_RESIZE_FLAGS(ALIGN, HALF)                                                                                  \
    NNV_SLOT_FLAG(NNV_RESIZE_ALIGN, "align corners", ALIGN, 4),                                                        \
        NNV_SLOT_FLAG(NNV_RESIZE_HALF, "half pixel centres", HALF, 4)

/** Not both flags. */
enum nnv_status nnv_resize_check(const struct nnv_call *c, struct nnv_err *err);
/** By scale: floor(extent * scale) in float32. */
enum nnv_status nnv_resize_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

/** How output positions of one axis map to input positions. */
struct nnv_resize_axis {
    double ratio, offset; /**< position of i: (i + offset) * ratio - offset */
    bool inexact;         /**< the ratio is not a float32 number */
};
struct nnv_resize_axis nnv_resize_axis(const struct nnv_call *c, uint32_t in, uint32_t out);
/** Input position of output i, with the noise of an implementation that computes it in float32, whatever the type. */
double nnv_resize_position(struct nnv_kernel *k, const struct nnv_resize_axis *a, uint32_t i);

/** "shape" or "scale", each "plain", "nchw", "align", "half". */
extern const char *const nnv_resize_variants[];
void nnv_resize_sample(struct nnv_sample *s);

#endif
