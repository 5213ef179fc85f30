/* SPDX-License-Identifier: Apache-2.0 */
/** @file split.c SPLIT. */
#include "reference/ops/move/move.h"

enum { X, AXIS, COUNT };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(0), NNV_SLOT_INT(AXIS, "axis", NNV_AXIS),
                                         NNV_SLOT_INT(COUNT, "number of splits", NNV_POSITIVE)};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .flags = NNV_REPEAT, .rank_min = 1, .quant = NNV_Q_SAME}};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_3;

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_known(c, COUNT) && (uint32_t)nnv_int(c, COUNT) != c->nout)
        return nnv_fail(err, NNV_INVALID, "%d splits, but %u outputs", nnv_int(c, COUNT), c->nout);
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s = *x;
    if (x->known_rank && !nnv_known(c, AXIS)) s = nnv_shape_of_rank(x->rank);
    if (x->known_rank && nnv_known(c, AXIS)) {
        uint32_t *n = &s.dims[nnv_axis(nnv_int(c, AXIS), x->rank)];
        if (*n != NNV_DIM_UNKNOWN && *n % c->nout != 0)
            return nnv_fail(err, NNV_INVALID, "extent %u of the axis does not divide into %u", *n, c->nout);
        if (*n != NNV_DIM_UNKNOWN) *n /= c->nout;
    }
    for (uint32_t i = 0; i < c->nout; i++) out[i] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    uint32_t width = (uint32_t)l.n / k->call->nout;
    int64_t *at = NNV_NEW(k->scratch, int64_t, l.n);
    if (!at) return nnv_no_memory(err);
    for (size_t i = 0; i < l.n; i++) at[i] = (int64_t)i;
    for (uint32_t i = 0; i < k->call->nout; i++)
        nnv_move_lines(l, at + (size_t)i * width, width, nnv_real(k, X), k->out[i]);
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_COUNT };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_ANY_FACTORS, NNV_SIGNED_AXIS_FACTOR, {.name = "count", NNV_VALUES(2, 1, 3, 4, 7)}};

/* The axis grows until it divides. */
static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims), count = (uint32_t)nnv_sample_value(s, ROW_COUNT);
    uint32_t *n = &dims[nnv_row_place(s, ROW_AXIS, rank)];
    *n = (*n + count - 1) / count * count;
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, AXIS, nnv_row_axis(s, ROW_AXIS, rank));
    nnv_sample_scalar(s, COUNT, count);
    s->nout = count;
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", "single", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const uint32_t counts[] = {3, 2, 4, 5, 7};
    bool single = nnv_sample_is(s, "single"); /* pieces of extent 1, or one piece */
    uint32_t rank = single ? 1 + (uint32_t)s->index % 4 : (uint32_t)s->variant + 1, dims[NNV_MAX_RANK];
    uint32_t count = single && s->index % 2 ? 1 : counts[s->index % 5], at = (uint32_t)s->index % (2 * rank);
    nnv_sample_dims(s, rank, 150, dims);
    uint32_t *n = &dims[at % rank];
    *n = single && count > 1 ? count : count * (1 + *n % 5);
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, AXIS, at < rank ? (double)at : (double)at - 2 * rank);
    nnv_sample_scalar(s, COUNT, count);
    s->nout = count;
}

NNV_MOVE_RECORD(SPLIT, "x in equal pieces along axis, one an output", .level = 3, .check = check);
