/* SPDX-License-Identifier: Apache-2.0 */
/** @file l2_pool_2d.c L2_POOL_2D. */
#include "reference/ops/pool/pool.h"

static double root_mean_square(struct nnv_kernel *k, const struct nnv_pool_area *a) {
    double sum = 0, n = (double)a->h * a->w;
    for (uint32_t i = 0; i < a->h; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            sum += v * v;
        }
    double mean = nnv_round(k, nnv_sum(k, sum, n, sum, 1) / n);
    return nnv_function(k, sqrt(mean < 0 ? 0 : mean), NNV_ULPS_SQRT);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_pool_eval(k, root_mean_square, err);
}

const struct nnv_op nnv_op_L2_POOL_2D = {
    .code = ANEURALNETWORKS_L2_POOL_2D,
    .name = "L2_POOL_2D",
    .level = 1,
    .formula = "y[n,i,j,c] = act(sqrt(mean of x[n, i*sh-top+p, j*sw-left+q, c]^2 over those p < fh, q < fw inside x))",
    .forms = nnv_pool_forms,
    .nforms = NNV_POOL_FORMS,
    .sigs = nnv_pool_float_sigs,
    .nsigs = NNV_POOL_FLOAT_SIGS,
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_BATCH,
    .infer = nnv_pool_infer,
    .eval = eval,
    .variants = nnv_pool_variants,
    .sample = nnv_pool_sample,
};
