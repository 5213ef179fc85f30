/* SPDX-License-Identifier: Apache-2.0 */
/** @file repeat.h Chains of equal layers: one behind the other, each of the same operation with the same weights. */
#ifndef NNV_DATASHEET_REPEAT_H
#define NNV_DATASHEET_REPEAT_H

#include "reference/model/builder.h"
#include "reference/model/op.h"

/** The operation can be a link for floats of the type: FULLY_CONNECTED, CONV_2D, or one of a single tensor. */
bool nnv_repeat_has(const struct nnv_op *op, int32_t type);
/**
 * Adds `depth` layers on numbers [rows, n], of CONV_2D [1, rows, 1, n] with windows of one element; each multiplies by
 * weights [n, n] where it has some. *in is the first input; returns the last output, both of the model.
 */
uint32_t nnv_repeat_add(struct nnv_builder *b, int32_t op, int32_t type, uint32_t rows, uint32_t n, uint32_t depth,
                        const double *weights, uint32_t *in);
/**
 * Weights [n, n] that keep the length of a row, all of them 1/sqrt(n) or the opposite: exact in each type of floats.
 * n is a power of 4.
 */
void nnv_repeat_weights(uint32_t n, double *weights);

#endif
