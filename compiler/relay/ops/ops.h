/* SPDX-License-Identifier: Apache-2.0 */
/** @file ops.h The operators that are known, in families. */
#ifndef NNV_COMPILER_RELAY_OPS_H
#define NNV_COMPILER_RELAY_OPS_H

#include "compiler/relay/ops/rule.h"

extern const struct nnv_relay_op_rows nnv_relay_elementwise, nnv_relay_reduce, nnv_relay_norm, nnv_relay_conv,
    nnv_relay_dense, nnv_relay_window, nnv_relay_index, nnv_relay_order, nnv_relay_move, nnv_relay_space,
    nnv_relay_vision, nnv_relay_qnn;

/** The operator's row, or NULL. */
const struct nnv_relay_op_row *nnv_relay_op(const char *name);
/** Row i of all; NULL behind the last. */
const struct nnv_relay_op_row *nnv_relay_op_at(size_t i);

#endif
