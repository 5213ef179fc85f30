/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/norm/norm.h"

int nnv_norm_level(const struct nnv_call *c) {
    const struct nnv_shape *x = &c->in[NNV_NORM_X].shape;
    return x->known_rank && x->rank < 4 ? 3 : 1;
}

const char *const nnv_norm_variants[] = {"rank1", "rank2", "rank3", "rank4", "axis", NULL};

void nnv_norm_sample(struct nnv_sample *s, int axis) {
    bool with_axis = nnv_sample_is(s, "axis");
    uint32_t dims[4], rank = (uint32_t)s->variant + 1;
    int at = -1;
    if (with_axis) nnv_sample_axis(s->index, &rank, &at);
    nnv_sample_dims(s, rank, rank == 1 ? 20 : 300, dims);
    nnv_sample_tensor(s, NNV_NORM_X, rank, dims);
    if (with_axis) nnv_sample_scalar(s, axis, at);
}
