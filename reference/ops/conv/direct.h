/* SPDX-License-Identifier: Apache-2.0 */
/** @file direct.h What GROUPED_CONV_2D and TRANSPOSE_CONV_2D share: convolutions summed tap by tap. */
#ifndef NNV_OPS_DIRECT_H
#define NNV_OPS_DIRECT_H

#include "reference/ops/conv/conv.h"

/** Stride, activation and layout end the list of either operation's inputs. */
#define NNV_DIRECT_NCHW NNV_SLOT_BOOL(NNV_CONV_NCHW, "nchw")

enum { NNV_DIRECT_SIGS = 6 };
extern const struct nnv_sig nnv_direct_sigs[NNV_DIRECT_SIGS];

/** A convolution. Channel c of group g of the input meets tap [k, p, q, c] of the output channels k of group g. */
struct nnv_direct {
    struct nnv_image_layout x, y;
    uint32_t fh, fw, groups;
    const int64_t *rows; /**< [y.h, fh]: the input row that meets a tap, -1: none */
    const int64_t *cols; /**< [y.w, fw] */
    double terms;        /**< products in a sum, at most */
    bool winograd;
};
/** The convolution of this row, but for rows, cols and terms. */
struct nnv_direct nnv_direct_of(const struct nnv_kernel *k, uint32_t groups);
/** Writes output 0 and the multipliers. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_direct_eval(struct nnv_kernel *k, const struct nnv_direct *d, struct nnv_err *err);

/**
 * Sets input, filter [channels, fh, fw, depth] and bias of a sampled case, of values that put the results around
 * the activation's range, and the scalars that both operations have but for paddings and strides.
 */
void nnv_direct_set(struct nnv_sample *s, const struct nnv_window_sample *g, uint32_t channels, uint32_t depth);

#endif
