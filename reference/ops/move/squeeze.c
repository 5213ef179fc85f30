/* SPDX-License-Identifier: Apache-2.0 */
/** @file squeeze.c SQUEEZE. */
#include "reference/ops/move/move.h"

#include <string.h>

enum { X, AXES };

static const struct nnv_slot inputs[] = {
    NNV_MOVE_X(4),
    NNV_SLOT_INT_TENSOR(AXES, "axes", 1, NNV_PARAM | NNV_OMITTABLE | NNV_LIMITED),
};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

/* Which axes go: those listed, or where none are, all of extent 1. */
static enum nnv_status choose(const struct nnv_call *c, const struct nnv_shape *x, bool gone[4], struct nnv_err *err) {
    const struct nnv_arg *axes = nnv_in(c, AXES);
    for (uint32_t d = 0; d < x->rank; d++) gone[d] = !axes && x->dims[d] == 1;
    for (uint32_t i = 0; axes && i < axes->shape.dims[0]; i++) {
        int32_t a = nnv_int_at(c, AXES, i);
        int d = nnv_axis(a, x->rank);
        if (d < 0) return nnv_fail(err, NNV_INVALID, "%d is not an axis of a tensor of rank %u", a, x->rank);
        if (!nnv_dim_agree(x->dims[d], 1))
            return nnv_fail(err, NNV_INVALID, "axis %d has extent %u; only extents of 1 can be removed", a, x->dims[d]);
        gone[d] = true;
    }
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    enum nnv_presence axes = nnv_presence(c, AXES);
    bool gone[4] = {false};
    struct nnv_shape s = {0};
    bool known = axes == NNV_ABSENT ? nnv_shape_known(x) : x->known_rank && nnv_in(c, AXES)->data;
    if (known) {
        enum nnv_status st = choose(c, x, gone, err);
        if (st) return st;
        s.known_rank = true;
        for (uint32_t d = 0; d < x->rank; d++)
            if (!gone[d]) s.dims[s.rank++] = x->dims[d];
        if (s.rank == 0) s.dims[s.rank++] = 1;
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, X), nnv_elems(k, X) * sizeof **k->out);
    return NNV_OK;
}

/* "some": not all axes of extent 1; "twice": one of them listed from either end. */
enum { ROW_ONES = NNV_SHAPE_OWN, ROW_AXES };
static const struct nnv_factor factors[] = {NNV_SHAPE_RANKS(4, 2, 3),
                                            NNV_SHAPE_EXTENTS,
                                            {.name = "ones", NNV_WORDS("middle", "first", "last", "all")},
                                            {.name = "axes", NNV_WORDS("listed", "negative", "omitted")}};

static void row_sample(struct nnv_sample *s) {
    enum { MIDDLE, FIRST, LAST, ALL };
    enum { LISTED, NEGATIVE, OMITTED };
    uint32_t dims[4], rank = nnv_sample_shape(s, dims), n = 0;
    const int32_t ones = nnv_sample_value(s, ROW_ONES), how = nnv_sample_value(s, ROW_AXES);
    int32_t axes[4];
    for (uint32_t d = 0; d < rank; d++) {
        const bool first = d == 0, last = d == rank - 1;
        if (ones == ALL ? !last : ones == FIRST ? first : ones == LAST ? last : !first && (!last || rank == 2)) {
            dims[d] = 1;
            axes[n++] = (int32_t)d - (how == NEGATIVE ? (int32_t)rank : 0);
        }
    }
    nnv_sample_tensor(s, X, rank, dims);
    if (how != OMITTED) nnv_sample_ints(s, AXES, n, axes);
}

static const char *const variants[] = {"omitted", "some", "negative", "twice", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const bool ones[][4] = {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 1}, {1, 1, 0, 1}, {0, 1, 1, 1}};
    uint32_t dims[4], rank = (uint32_t)s->index % 5 == 4 ? 3 : (uint32_t)s->index % 7 == 5 ? 2 : 4;
    nnv_sample_dims(s, rank, 600, dims);
    int32_t axes[3] = {0};
    uint32_t n = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (rank == 2 ? d == (uint32_t)s->index % 2 : ones[s->index % 6][d])
            dims[d] = 1;
        else if (dims[d] == 1)
            dims[d] = 2;
        if (dims[d] == 1) axes[n++] = (int32_t)d;
    }
    nnv_sample_tensor(s, X, rank, dims);
    if (nnv_sample_is(s, "omitted")) return;
    if (nnv_sample_is(s, "some")) n = 1;
    if (nnv_sample_is(s, "negative"))
        for (uint32_t i = 0; i < n; i++) axes[i] -= (int32_t)rank;
    if (nnv_sample_is(s, "twice")) {
        axes[1] = axes[0] - (int32_t)rank;
        n = 2;
    }
    nnv_sample_ints(s, AXES, n, axes);
}

NNV_MOVE_RECORD(SQUEEZE, "y = x without the listed axes of extent 1, without a list all of them; nothing left is [1]",
                .level = 2);
