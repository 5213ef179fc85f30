/* SPDX-License-Identifier: Apache-2.0 */
/** @file pad.h What PAD, PAD_V2 and MIRROR_PAD share: cells before and behind each axis. */
#ifndef NNV_OPS_PAD_H
#define NNV_OPS_PAD_H

#include "reference/ops/move/move.h"

/** Input 1: [rank, 2], the cells before and behind each axis. */
enum { NNV_PADDINGS = 1 };
#define NNV_PAD_PADDINGS NNV_MOVE_INTS(NNV_PADDINGS, "paddings", 2)

/** Cells before axis d; only where the paddings are known. */
int32_t nnv_pad_head(const struct nnv_call *c, uint32_t d);
/** Cells behind axis d. */
int32_t nnv_pad_tail(const struct nnv_call *c, uint32_t d);

/** Infers the extents with their cells, by an extent rule that may demand more. */
enum nnv_status nnv_pad_infer(const struct nnv_call *c, nnv_move_extent *extent, struct nnv_shape *out,
                              struct nnv_err *err);
/** The extent rule that demands no more than that the cells are not negative. */
nnv_move_extent nnv_pad_extent;
/** The index map of a constant fill. */
nnv_move_index nnv_pad_index;
/** True for TENSOR_QUANT8_ASYMM whose zero point is not 0: the cells are its zero point since level 3 only. */
bool nnv_pad_shifted_zero(const struct nnv_call *c);

/** Draws input and paddings: of each axis at most its extent less `keep`. */
void nnv_pad_sample(struct nnv_sample *s, uint32_t rank, int keep);

#endif
