/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions. */
#include "compiler/nnapi/convert/convert_in.h"

/* The axes that vanish, as numbers from 0; none given: all. */
static size_t find_axes(struct nnv_rc *c, const struct nnv_rc_shape *x, int64_t *axes) {
    int64_t given[NNV_RELAY_RANK];
    bool in[NNV_RELAY_RANK] = {false}, exclude = nnv_rc_int_attr(c, "exclude", 0);
    size_t n = nnv_rc_ints_attr(c, "axis", given, NNV_RELAY_RANK), count = 0;
    for (size_t i = 0; i < n; i++) in[nnv_rc_axis(c, given[i], x->rank)] = true;
    for (uint32_t i = 0; i < x->rank; i++)
        if ((n == 0 && !exclude) || in[i] != exclude) axes[count++] = i;
    return count;
}

static void reduce(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), out = nnv_rc_shape(c, nnv_rc_out(c, 0)), kept = x;
    int64_t axes[NNV_RELAY_RANK];
    int32_t code = c->node->row->code;
    bool keep = nnv_rc_int_attr(c, "keepdims", 0);
    size_t n = find_axes(c, &x, axes);
    if (nnv_rc_type(c, nnv_rc_arg(c, 0))->n_dims == 0) n = 0;
    for (size_t i = 0; i < n; i++) kept.dims[axes[i]] = 1;
    if (!nnv_rc_ok(c)) return;
    if (n == 0) { /* nothing vanishes */
        nnv_rc_is(c, 0, nnv_rc_reshaped(c, nnv_rc_in(c, 0), &out, NNV_RC_NONE));
        return;
    }
    bool all = n == x.rank && !keep; /* a result without dimensions: one of 1 is left, then changed */
    bool same = !all || nnv_rc_same_shape(&kept, &out);
    uint32_t to = same ? nnv_rc_result(c, 0) : nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &kept);
    uint32_t keeps = code == ANEURALNETWORKS_MEAN ? nnv_rc_int(c, keep || all) : nnv_builder_bool(&c->b, keep || all);
    NNV_RC_EMIT(c, code, to, nnv_rc_in(c, 0), nnv_rc_ints(c, n, axes), keeps);
    if (!same) nnv_rc_reshaped(c, to, &out, nnv_rc_result(c, 0));
}

#define OP(name) ANEURALNETWORKS_##name
static const struct nnv_rc_row rows[] = {
    {"mean", reduce, OP(MEAN), NNV_RC_FLOAT, NNV_RC_REAL, 2, "MEAN"},
    {"sum", reduce, OP(REDUCE_SUM), NNV_RC_FLOAT, 0, 3, "REDUCE_SUM"},
    {"prod", reduce, OP(REDUCE_PROD), NNV_RC_FLOAT, 0, 3, "REDUCE_PROD"},
    {"max", reduce, OP(REDUCE_MAX), NNV_RC_FLOAT | NNV_RC_BYTE, NNV_RC_MOVES, 3, "REDUCE_MAX"},
    {"min", reduce, OP(REDUCE_MIN), NNV_RC_FLOAT | NNV_RC_BYTE, NNV_RC_MOVES, 3, "REDUCE_MIN"},
    {"all", reduce, OP(REDUCE_ALL), NNV_RC_BOOL, 0, 3, "REDUCE_ALL"},
    {"any", reduce, OP(REDUCE_ANY), NNV_RC_BOOL, 0, 3, "REDUCE_ANY"},
};
const struct nnv_rc_rows nnv_rc_reduce = {rows, sizeof rows / sizeof *rows};
