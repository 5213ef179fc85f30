/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/reduce/reduce.h"

#include <string.h>

const struct nnv_sig nnv_reduce_sigs[NNV_REDUCE_SIGS] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED}},
};

static const struct nnv_slot inputs[] = {NNV_REDUCE_INPUTS(ANEURALNETWORKS_BOOL)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4, .quant = NNV_Q_SAME}};
const struct nnv_form nnv_reduce_forms[1] = {{"", inputs, 3, outputs, 1}};

static bool keeps(const struct nnv_call *c) { return nnv_int(c, NNV_REDUCE_KEEP) > 0; }

/* Marks the axes that are reduced. */
static enum nnv_status read_axes(const struct nnv_call *c, bool reduced[NNV_MAX_RANK], struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, NNV_REDUCE_AXES);
    uint32_t rank = nnv_in(c, NNV_REDUCE_X)->shape.rank, n = nnv_dim(&a->shape, 0);
    memset(reduced, 0, NNV_MAX_RANK * sizeof *reduced);
    for (uint32_t i = 0; i < n; i++) {
        int32_t axis;
        memcpy(&axis, (const char *)a->data + i * sizeof axis, sizeof axis);
        int at = nnv_axis(axis, rank);
        if (at < 0)
            return nnv_fail(err, NNV_INVALID, "axes: %d, at %u, is not an axis of a tensor of rank %u", axis, i, rank);
        reduced[at] = true;
    }
    return NNV_OK;
}

enum nnv_status nnv_reduce_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_REDUCE_X)->shape;
    const struct nnv_arg *axes = nnv_in(c, NNV_REDUCE_AXES);
    bool known = nnv_known(c, NNV_REDUCE_KEEP), keep = known && keeps(c), reduced[NNV_MAX_RANK];
    struct nnv_shape y = {0};
    if (x->known_rank && keep) y = nnv_shape_of_rank(x->rank);
    if (x->known_rank && axes->data && nnv_dim(&axes->shape, 0) != NNV_DIM_UNKNOWN) {
        enum nnv_status st = read_axes(c, reduced, err);
        if (st) return st;
        uint32_t rank = 0;
        for (uint32_t d = 0; known && d < x->rank; d++)
            if (keep || !reduced[d]) y.dims[rank++] = reduced[d] ? 1 : x->dims[d];
        if (known && rank == 0) y.dims[rank++] = 1;
        if (known) y.known_rank = true, y.rank = rank;
    }
    out[0] = y;
    return NNV_OK;
}

/* Element offset of the i-th combination of the extents of which[] == wanted, the last fastest. */
static size_t offset_of(const struct nnv_shape *x, const bool *which, bool wanted, size_t i) {
    size_t offset = 0, stride = 1;
    for (uint32_t d = x->rank; d-- > 0; stride *= x->dims[d]) {
        if (which[d] != wanted) continue;
        offset += i % x->dims[d] * stride;
        i /= x->dims[d];
    }
    return offset;
}

enum nnv_status nnv_reduce_eval(struct nnv_kernel *k, const double *x, double unit, nnv_fold *fold,
                                struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, NNV_REDUCE_X);
    bool reduced[NNV_MAX_RANK];
    enum nnv_status st = read_axes(k->call, reduced, err);
    if (st) return st;
    size_t groups = nnv_shape_elems(nnv_out_shape(k, 0)), n = 1;
    for (uint32_t d = 0; d < s->rank; d++) n *= reduced[d] ? s->dims[d] : 1;
    double *v = NNV_NEW(k->scratch, double, n);
    size_t *at = NNV_NEW(k->scratch, size_t, n);
    if (!v || !at) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) at[i] = offset_of(s, reduced, true, i);
    for (size_t g = 0; g < groups; g++) {
        const double *from = x + offset_of(s, reduced, false, g);
        for (size_t i = 0; i < n; i++) v[i] = from[at[i]];
        k->out[0][g] = unit * fold(k, v, n);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

const char *const nnv_reduce_variants[] = {"axis",  "axis_keep",  "several", "several_keep", "all", "all_keep",
                                           "twice", "twice_keep", NULL};

void nnv_reduce_sample(struct nnv_sample *s, uint32_t limit, double lo, double hi) {
    uint32_t rank = 4, dims[4], n = 1;
    int at;
    int32_t axes[4];
    nnv_sample_axis(s->index, &rank, &at);
    axes[0] = at;
    if (nnv_sample_is(s, "several") || nnv_sample_is(s, "twice")) { /* not neighbours, in falling order, mixed signs */
        rank = 3 + (uint32_t)s->index % 2;
        axes[0] = (int32_t)rank - 1 - (rank == 4 ? s->index / 2 % 2 : 0);
        axes[1] = axes[0] - 2 - (s->index % 3 ? (int32_t)rank : 0);
        n = 2;
    }
    if (nnv_sample_is(s, "twice")) axes[n++] = axes[0] - (int32_t)rank;
    if (nnv_sample_is(s, "all"))
        for (n = 0; n < rank; n++) axes[n] = n % 2 ? (int32_t)n : (int32_t)n - (int32_t)rank;
    nnv_sample_dims(s, rank, limit, dims);
    struct nnv_sample_arg *x = nnv_sample_tensor(s, NNV_REDUCE_X, rank, dims);
    x->lo = lo;
    x->hi = hi;
    nnv_sample_ints(s, NNV_REDUCE_AXES, n, axes);
    nnv_sample_scalar(s, NNV_REDUCE_KEEP, nnv_sample_is(s, "keep"));
}

void nnv_reduce_sample_few(struct nnv_sample *s) {
    nnv_reduce_sample(s, 300, 0, 1);
    struct nnv_sample_arg *x = &s->arg[NNV_REDUCE_X], *axes = &s->arg[NNV_REDUCE_AXES];
    bool reduced[NNV_MAX_RANK] = {false};
    for (uint32_t i = 0; i < axes->dims[0]; i++) reduced[nnv_axis(axes->ints[i], x->rank)] = true;
    int seen = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        if (reduced[d])
            x->dims[d] = seen++ < 2 ? 2 : 1;
        else if (x->dims[d] < 5)
            x->dims[d] += 4;
    }
}
