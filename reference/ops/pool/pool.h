/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h What AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D share. */
#ifndef NNV_OPS_POOL_H
#define NNV_OPS_POOL_H

#include "reference/ops/conv/window.h"

enum { NNV_POOL_FORMS = 2 };
extern const struct nnv_form nnv_pool_forms[NNV_POOL_FORMS]; /**< implicit, explicit; output quantised as the input */
enum { NNV_POOL_SIGS = 4, NNV_POOL_FLOAT_SIGS = 2 };
extern const struct nnv_sig nnv_pool_sigs[NNV_POOL_SIGS];
extern const struct nnv_sig nnv_pool_float_sigs[NNV_POOL_FLOAT_SIGS];

enum nnv_status nnv_pool_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

/** The cells of one channel that lie both in the window and in the tensor; there is at least one. */
struct nnv_pool_area {
    const double *cell; /**< the first, in units */
    uint32_t h, w;
    size_t sh, sw; /**< element strides */
};
/** out = scale of the input times pool(area), for each output element. */
enum nnv_status nnv_pool_eval(struct nnv_kernel *k, double (*pool)(struct nnv_kernel *k, const struct nnv_pool_area *a),
                              struct nnv_err *err);

extern const char *const nnv_pool_variants[];
void nnv_pool_sample(struct nnv_sample *s);

#endif
