/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/elementwise/unary.h"

void nnv_unary_eval(struct nnv_kernel *k, double (*f)(double), double ulps) {
    const double *x = nnv_real(k, 0);
    size_t n = nnv_elems(k, 0);
    if (nnv_noise_replay_all(k, n, k->out[0])) return;
    for (size_t e = 0; e < n; e++) k->out[0][e] = nnv_function(k, f(x[e]), ulps);
}

const struct nnv_factor nnv_any_rank_factors[NNV_SHAPE_OWN] = {NNV_SHAPE_ANY_FACTORS};
const char *const nnv_any_rank_variants[] = {"rank1", "rank2", "rank3", "rank4", "wide", "rank5", NULL};

void nnv_any_rank_sample(struct nnv_sample *s) {
    uint32_t dims[5];
    if (!nnv_sample_is(s, "rank5")) {
        nnv_sample_unary(s);
        return;
    }
    nnv_sample_dims(s, 5, 400, dims);
    if (s->empty) dims[nnv_sample_int(s, 0, 4)] = 0;
    nnv_sample_tensor(s, 0, 5, dims);
}
