/* SPDX-License-Identifier: Apache-2.0 */
/** @file unary.h Elementwise functions of one tensor, input id 0. */
#ifndef NNV_OPS_UNARY_H
#define NNV_OPS_UNARY_H

#include "reference/ops/common.h"

/** out[e] = f(x[e]), where an implementation's f may be wrong by ulps units in the last place. */
void nnv_unary_eval(struct nnv_kernel *k, double (*f)(double), double ulps);

/** "rank1" to "rank4", "wide", "rank5": for operations that take any rank. */
extern const char *const nnv_any_rank_variants[];
void nnv_any_rank_sample(struct nnv_sample *s);

#endif
