/* SPDX-License-Identifier: Apache-2.0 */
/** @file floor.c FLOOR. */
#include "reference/ops/elementwise/unary.h"

#include <string.h>

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = NNV_DOMAIN_ALL}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16)};

/* The step itself is the evaluator's: NNV_ROUND_FLOOR. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, 0), nnv_elems(k, 0) * sizeof(double));
    return NNV_OK;
}

NNV_UNARY_RECORD(FLOOR, 1, "y = the largest integer <= x", inputs, nnv_output, sigs, eval, NNV_RANK_4_SAMPLED,
                 .rounding = NNV_ROUND_FLOOR, .linear = true);
