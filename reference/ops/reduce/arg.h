/* SPDX-License-Identifier: Apache-2.0 */
/** @file arg.h What ARGMAX and ARGMIN share: all but the name. */
#ifndef NNV_OPS_ARG_H
#define NNV_OPS_ARG_H

#include "reference/ops/common.h"

enum { NNV_ARG_SIGS = 5 };
extern const struct nnv_sig nnv_arg_sigs[NNV_ARG_SIGS];
extern const struct nnv_form nnv_argmax_forms[1], nnv_argmin_forms[1];

/** The input's shape without the axis; [1] for rank 1. */
enum nnv_status nnv_arg_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/**
 * The first position of the largest of sign * x along the axis. Where equals, or the noise of the input, leave it open
 * which one that is, the other rows are NaN, so that what follows from it is not compared.
 */
void nnv_arg_eval(struct nnv_kernel *k, double sign);
extern const char *const nnv_arg_variants[];
void nnv_arg_sample(struct nnv_sample *s);

#endif
