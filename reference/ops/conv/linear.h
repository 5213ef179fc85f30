/* SPDX-License-Identifier: Apache-2.0 */
/** @file linear.h What convolutions and FULLY_CONNECTED share: from sums of products to results. */
#ifndef NNV_OPS_LINEAR_H
#define NNV_OPS_LINEAR_H

#include "reference/eval/kernel.h"

/** Sums of products, waiting for bias, scale and noise. */
struct nnv_linear {
    int x, w, bias;   /**< input ids */
    size_t positions; /**< of the output */
    uint32_t channels;
    double terms; /**< products in a sum */
    double *sums; /**< [positions, channels] in units; NULL if the row replays. Overwritten; without noise it may be
                   output 0 itself, where that is [positions, channels] */
    double *abs;  /**< likewise, of absolute values; NULL if not needed. Overwritten */
    const struct nnv_image_layout *y; /**< layout of the output; NULL: [positions, channels] */
    bool winograd; /**< Winograd's algorithm F(2,3) is legal: filter 3x3, stride 1, dilation 1; needs y */
};

/** True if this row need not sum at all: its inputs equal row 0's, which wrote the sums down. */
bool nnv_linear_replays(const struct nnv_kernel *k);
/** True if this row must give sums of absolute values. */
bool nnv_linear_needs_abs(const struct nnv_kernel *k);
/** Absolute values of n numbers, in scratch; NULL when out of memory. */
double *nnv_linear_abs(struct nnv_kernel *k, const double *x, size_t n);
/** Writes output 0 and the multipliers. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_linear_finish(struct nnv_kernel *k, const struct nnv_linear *l, struct nnv_err *err);

/**
 * A level_of hook for inputs 0 (data) and 1 (weights): before level 3 the output scale of quant8_asymm had to be
 * above the product of theirs.
 */
int nnv_linear_level(const struct nnv_call *c);

#endif
