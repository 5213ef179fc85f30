/* SPDX-License-Identifier: Apache-2.0 */
/** @file hard_swish.c HARD_SWISH. */
#include "reference/ops/elementwise/unary.h"

static const struct nnv_slot inputs[] = {
    {.id = 0, .name = "input", .var = NNV_T, .rank_min = 1, .lo = -5, .hi = 5, .domain = NNV_DOMAIN_ALL}};

static const struct nnv_sig sigs[] = {NNV_SIG(4, FLOAT16), NNV_SIG(4, FLOAT32), NNV_SIG(4, QUANT8_ASYMM),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/* The factors may be multiplied in any order; the division may be a product with 1/6. A product that overflows before
 * it is divided is not to blame. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const int32_t type = k->call->sig->type[NNV_T];
    const double *x = nnv_real(k, 0), most = nnv_is_float(type) ? nnv_type(type)->max : (double)INFINITY;
    for (size_t e = 0, n = nnv_elems(k, 0); e < n; e++) {
        double t = nnv_round(k, x[e] + 3);
        t = t < 0 ? 0 : t > 6 ? 6 : t;
        k->out[0][e] = nnv_hazard(k, nnv_quotient(k, nnv_round(k, x[e] * t) / 6), !(fabs(x[e] * t) <= most));
    }
    return NNV_OK;
}

NNV_UNARY_RECORD(HARD_SWISH, 4, "y = x * min(6, max(0, x + 3)) / 6", inputs, nnv_output, sigs, eval,
                 NNV_ANY_RANK_SAMPLED, .rounding = NNV_ROUND_TABLE, .zero = NNV_ZERO_ANY);
