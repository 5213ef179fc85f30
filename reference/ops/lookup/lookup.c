/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/lookup/lookup.h"

struct nnv_shape nnv_lookup_shape(const struct nnv_call *c, int lookups, int values) {
    struct nnv_shape s = nnv_in(c, values)->shape;
    if (s.known_rank) s.dims[0] = nnv_dim(&nnv_in(c, lookups)->shape, 0);
    return s;
}

void nnv_lookup_row(struct nnv_kernel *k, int values, size_t i, size_t row) {
    const double *from = nnv_real(k, values);
    struct nnv_lines v = nnv_lines_of(nnv_in_shape(k, values), 0);
    for (size_t e = 0; e < v.inner; e++) k->out[0][i * v.inner + e] = row == NNV_NO_ROW ? NAN : from[row * v.inner + e];
}
