/* SPDX-License-Identifier: Apache-2.0 */
/** @file block.h What DEPTH_TO_SPACE and SPACE_TO_DEPTH share: each is the other's inverse. */
#ifndef NNV_OPS_BLOCK_H
#define NNV_OPS_BLOCK_H

#include "reference/ops/common.h"

enum { NNV_BLOCK_X, NNV_BLOCK_SIZE, NNV_BLOCK_NCHW };

#define NNV_BLOCK_INPUTS                                                                                               \
    {.id = NNV_BLOCK_X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},                                  \
        {.id = NNV_BLOCK_SIZE,                                                                                         \
         .name = "block size",                                                                                         \
         .var = NNV_FIXED,                                                                                             \
         .type = ANEURALNETWORKS_INT32,                                                                                \
         .flags = NNV_SCALAR,                                                                                          \
         .rule = NNV_POSITIVE},                                                                                        \
    {                                                                                                                  \
        .id = NNV_BLOCK_NCHW, .name = "nchw", .var = NNV_FIXED, .type = ANEURALNETWORKS_BOOL, .flags = NNV_SCALAR,     \
        .group = 1, .level = 3                                                                                         \
    }

enum { NNV_BLOCK_SIGS = 4 };
extern const struct nnv_sig nnv_block_sigs[NNV_BLOCK_SIGS];
/** Layouts "plain" (no flag), "nhwc", "nchw". */
extern const char *const nnv_block_variants[];

/** Infers [N, H, W, C] to [N, H*b, W*b, C/(b*b)]. NNV_INVALID if the depth does not divide. */
enum nnv_status nnv_block_infer_to_space(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/** Infers [N, H, W, C] to [N, H/b, W/b, C*b*b]. NNV_INVALID if height or width does not divide. */
enum nnv_status nnv_block_infer_to_depth(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/**
 * Copies between the spatial image [N,H*b,W*b,C] and the deep one [N,H,W,C*b*b]:
 * space[n, h*b+p, w*b+q, c] and deep[n, h, w, (p*b+q)*C + c] are the same element.
 */
void nnv_block_eval(struct nnv_kernel *k, bool to_space);
void nnv_block_sample(struct nnv_sample *s, bool to_space);

#endif
