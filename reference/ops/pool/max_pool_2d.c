/* SPDX-License-Identifier: Apache-2.0 */
/** @file max_pool_2d.c MAX_POOL_2D. */
#include "reference/ops/pool/pool.h"

/* A NaN, which in a perturbed row means "not compared", wins. */
static double maximum(struct nnv_kernel *k, const struct nnv_pool_area *a) {
    (void)k;
    double most = a->cell[0];
    for (uint32_t i = 0; i < a->h; i++)
        for (uint32_t j = 0; j < a->w; j++) {
            double v = a->cell[i * a->sh + j * a->sw];
            if (v > most || isnan(v)) most = v;
        }
    return most;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_pool_eval(k, maximum, err); }

const struct nnv_op nnv_op_MAX_POOL_2D = {
    .code = ANEURALNETWORKS_MAX_POOL_2D,
    .name = "MAX_POOL_2D",
    .level = 1,
    .formula = "y[n,i,j,c] = act(largest x[n, i*sh-top+p, j*sw-left+q, c] over those p < fh, q < fw that lie inside x)",
    .forms = nnv_pool_forms,
    .nforms = NNV_POOL_FORMS,
    .sigs = nnv_pool_sigs,
    .nsigs = NNV_POOL_SIGS,
    .rounding = NNV_ROUND_NONE,
    .zero = NNV_ZERO_BATCH,
    .linear = true,
    .infer = nnv_pool_infer,
    .eval = eval,
    .variants = nnv_pool_variants,
    .sample = nnv_pool_sample,
};
