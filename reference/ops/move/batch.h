/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch.h What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND share: blocks of height and width as batches. */
#ifndef NNV_OPS_BATCH_H
#define NNV_OPS_BATCH_H

#include "reference/ops/move/move.h"

enum { NNV_BATCH_X, NNV_BATCH_BLOCK, NNV_BATCH_PADDINGS, NNV_BATCH_NCHW };

#define NNV_BATCH_INPUT                                                                                                \
    { .id = NNV_BATCH_X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4 }
#define NNV_BATCH_OUTPUT                                                                                               \
    { .name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME }
#define NNV_BATCH_LAYOUT                                                                                               \
    {                                                                                                                  \
        .id = NNV_BATCH_NCHW, .name = "nchw", .var = NNV_FIXED, .type = ANEURALNETWORKS_BOOL, .flags = NNV_SCALAR,     \
        .group = 1, .level = 3                                                                                         \
    }

/** Block sizes of height (0) and width (1); only where they are known. */
int32_t nnv_batch_block(const struct nnv_call *c, uint32_t i);
/** Cells before (0) and behind (1) height (i 0) or width (i 1); 0 where there are no paddings. */
int32_t nnv_batch_padding(const struct nnv_call *c, uint32_t i, uint32_t end);
/** The axis of height (0) or width (1). */
uint32_t nnv_batch_axis(const struct nnv_call *c, uint32_t i);
/**
 * Checks block sizes, and paddings if there are, and begins the output's shape: rank 4, the depth of the input.
 * *known: layout, blocks and paddings are known, the rest of the extents can be computed.
 */
NNV_USE_RESULT enum nnv_status nnv_batch_begin(const struct nnv_call *c, struct nnv_shape *s, bool *known,
                                               struct nnv_err *err);
/**
 * Copies between the spatial image [N,H,W,C] and the batches [p*q*N,H',W',C] of blocks p by q:
 * space[n, i*p+u-top, j*q+v-left, c] and batches[(u*q+v)*N + n, i, j, c] are the same element; 0 outside.
 */
void nnv_batch_eval(struct nnv_kernel *k, bool to_batch);
/** Variants "plain" (no flag), "nhwc", "nchw". */
void nnv_batch_sample(struct nnv_sample *s, bool to_batch);

#endif
