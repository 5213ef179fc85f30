/* SPDX-License-Identifier: Apache-2.0 */
/* What the indices of an output point at: for the judge, who accepts any of tied numbers. */
#include "reference/eval/rows.h"

static uint32_t axis_of(const struct nnv_call *c) {
    uint32_t rank = c->in[0].shape.rank;
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (c->form->in[i].rule == NNV_AXIS) return (uint32_t)nnv_axis(nnv_int(c, c->form->in[i].id), rank);
    return rank - 1;
}

const struct nnv_source *nnv_source_of(struct nnv_kernel *k, double sign, struct nnv_arena *arena) {
    const struct nnv_shape *s = &k->call->in[0].shape;
    int id = k->call->form->in[0].id;
    uint32_t axis = axis_of(k->call);
    size_t elems = nnv_shape_elems(s);
    double *value = NNV_NEW(arena, double, elems), *reach = NNV_NEW(arena, double, elems);
    struct nnv_source *source = NNV_NEW(arena, struct nnv_source, 1);
    if (!value || !reach || !source) return NULL;
    *source = (struct nnv_source){.outer = 1, .n = s->dims[axis], .inner = 1, .value = value, .reach = reach};
    for (uint32_t d = 0; d < axis; d++) source->outer *= s->dims[d];
    for (uint32_t d = axis + 1; d < s->rank; d++) source->inner *= s->dims[d];
    const double *x = elems ? nnv_real(k, id) : NULL;
    for (size_t e = 0; e < elems; e++) {
        value[e] = sign * x[e];
        reach[e] = nnv_reach(k, id, e);
    }
    return source;
}
