/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/unary.h"

void nnv_unary_eval(struct nnv_kernel *k, double (*f)(double), double ulps) {
    const double *x = nnv_real(k, 0);
    size_t n = nnv_elems(k, 0);
    for (size_t e = 0; e < n; e++) k->out[0][e] = nnv_function(k, f(x[e]), ulps);
}
