/* SPDX-License-Identifier: Apache-2.0 */
/** @file binary.h What the broadcasting arithmetic operations share: inputs have ids 0 and 1, the activation 2. */
#ifndef NNV_OPS_BINARY_H
#define NNV_OPS_BINARY_H

#include "reference/eval/kernel.h"
#include "reference/model/sample.h"

/** int32 takes no activation. */
enum nnv_status nnv_binary_check(const struct nnv_call *c, struct nnv_err *err);
/** Output 0 is the broadcast of inputs 0 and 1. */
enum nnv_status nnv_binary_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/** out[e] = f(a[e], b[e]) over the broadcast shape. */
void nnv_binary_eval(struct nnv_kernel *k, int a, int b, double (*f)(double, double));
/** Equal shapes of rank 1 to 4, the ways of broadcasting, and the activations. */
extern const char *const nnv_binary_variants[];
void nnv_binary_sample(struct nnv_sample *s);

#endif
