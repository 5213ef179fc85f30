/* SPDX-License-Identifier: Apache-2.0 */
/** @file channel_shuffle.c CHANNEL_SHUFFLE. */
#include "reference/ops/move/move.h"

enum { X, GROUPS, AXIS };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(4), NNV_SLOT_INT(GROUPS, "groups", NNV_POSITIVE),
                                         NNV_SLOT_INT(AXIS, "axis", NNV_AXIS)};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, QUANT8_ASYMM),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    if (x->known_rank && nnv_known(c, AXIS) && nnv_known(c, GROUPS)) {
        uint32_t n = x->dims[nnv_axis(nnv_int(c, AXIS), x->rank)], groups = (uint32_t)nnv_int(c, GROUPS);
        if (n != NNV_DIM_UNKNOWN && n % groups != 0)
            return nnv_fail(err, NNV_INVALID, "extent %u of the axis does not divide into %u groups", n, groups);
    }
    out[0] = *x;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    size_t groups = (size_t)nnv_int(k->call, GROUPS), width = l.n / groups;
    int64_t *at = NNV_NEW(k->scratch, int64_t, l.n);
    if (!at) return nnv_no_memory(err);
    for (size_t i = 0; i < l.n; i++) at[i] = (int64_t)(i % groups * width + i / groups);
    nnv_move_lines(l, at, (uint32_t)l.n, nnv_real(k, X), k->out[0]);
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_GROUPS };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_FACTORS, NNV_SIGNED_AXIS_FACTOR, {.name = "groups", NNV_VALUES(2, 1, 3, 4, 8), NNV_SIZES(16, 17, 64)}};

/* The axis grows until it divides, into two at least. */
static void row_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = nnv_sample_shape(s, dims), groups = (uint32_t)nnv_sample_value(s, ROW_GROUPS);
    uint32_t *n = &dims[nnv_row_place(s, ROW_AXIS, rank)];
    *n = groups * (*n > 2 * groups ? (*n + groups - 1) / groups : 2);
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, GROUPS, groups);
    nnv_sample_scalar(s, AXIS, nnv_row_axis(s, ROW_AXIS, rank));
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const uint32_t groups[] = {3, 2, 5, 4, 1, 6}, widths[] = {4, 5, 3, 2, 7, 6}; /* unequal: not its inverse */
    uint32_t rank = (uint32_t)s->variant + 1, at = (uint32_t)s->index * 3 % (2 * rank), dims[4];
    nnv_sample_dims(s, rank, 60, dims);
    dims[at % rank] = groups[s->index % 6] * widths[s->index % 6];
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, GROUPS, groups[s->index % 6]);
    nnv_sample_scalar(s, AXIS, (double)at - rank);
}

NNV_MOVE_RECORD(CHANNEL_SHUFFLE, "y[i * groups + g] = x[g * n/groups + i] along axis, of extent n", .level = 3);
