/* SPDX-License-Identifier: Apache-2.0 */
/** @file average_pool_2d.c AVERAGE_POOL_2D. */
#include "reference/ops/pool/pool.h"

/* Padding is not counted: the divisor is the number of cells inside the tensor. */
static double average(struct nnv_kernel *k, const struct nnv_pool_area *a) {
    double sum = 0, abs = 0, n = (double)a->h * a->w;
    for (uint32_t i = 0; i < a->h; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            sum += v;
            abs += fabs(v);
        }
    return nnv_round(k, nnv_sum(k, sum, n, abs, 1) / n);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_pool_eval(k, average, err); }

const struct nnv_op nnv_op_AVERAGE_POOL_2D = {
    .code = ANEURALNETWORKS_AVERAGE_POOL_2D,
    .name = "AVERAGE_POOL_2D",
    .level = 1,
    .formula = "y[n,i,j,c] = act(mean of x[n, i*sh-top+p, j*sw-left+q, c] over those p < fh, q < fw that lie inside x)",
    .forms = nnv_pool_forms,
    .nforms = NNV_POOL_FORMS,
    .sigs = nnv_pool_sigs,
    .nsigs = NNV_POOL_SIGS,
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_BATCH,
    .infer = nnv_pool_infer,
    .eval = eval,
    .variants = nnv_pool_variants,
    .sample = nnv_pool_sample,
};
