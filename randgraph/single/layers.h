/* SPDX-License-Identifier: Apache-2.0 */
/** @file layers.h The layers of real networks, as values of the factors of their operations. */
#ifndef NNV_RANDGRAPH_SINGLE_LAYERS_H
#define NNV_RANDGRAPH_SINGLE_LAYERS_H

#include "reference/model/op.h"

/** Number of layers of an operation. */
size_t nnv_layer_count(const struct nnv_op *op);
/** The name of the i-th of them: network and place, "mobilenet_v2_expand_1". */
const char *nnv_layer_name(const struct nnv_op *op, size_t i);
/**
 * Its row. small: images get at most 9x9, odd and even as they were, channels and the like at most 64 and what is left
 * of a division by 8; all else stays. NNV_INTERNAL: the list names a factor or value that the operation does not have.
 */
NNV_USE_RESULT enum nnv_status nnv_layer_row(const struct nnv_op *op, size_t i, bool small,
                                             int32_t row[NNV_MAX_FACTORS], struct nnv_err *err);

#endif
