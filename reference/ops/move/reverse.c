/* SPDX-License-Identifier: Apache-2.0 */
/** @file reverse.c REVERSE. */
#include "reference/ops/move/move.h"

enum { X, AXIS };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(8), NNV_SLOT_INTS(AXIS, "axis")};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(8)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_OF(7);

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    uint32_t one = 1;
    enum nnv_status st = nnv_extent_agree(c, AXIS, 0, &one, err);
    if (st) return st;
    if (x->known_rank && nnv_known(c, AXIS)) {
        int32_t axis = nnv_int_at(c, AXIS, 0);
        if (axis < 0 || (uint32_t)axis >= x->rank)
            return nnv_fail(err, NNV_INVALID, "axis %d is not in 0 to %u", axis, x->rank - 1);
    }
    out[0] = *x;
    return NNV_OK;
}

static int64_t from(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    return d == (uint32_t)nnv_int_at(c, AXIS, 0) ? (int64_t)n - 1 - i : i;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_move_axes(k, from, 0, err); }

enum { ROW_AXIS = NNV_SHAPE_OWN };
static const struct nnv_factor factors[] = {NNV_SHAPE_RANKS(4, 1, 2, 3, 5, 8), NNV_SHAPE_EXTENTS, NNV_AXIS_FACTOR};

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[8], rank = nnv_sample_shape(s, dims);
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, AXIS, 1, (int32_t[]){nnv_row_axis(s, ROW_AXIS, rank)});
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", "rank8", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    uint32_t rank = nnv_sample_is(s, "rank8") ? 8 : (uint32_t)s->variant + 1, dims[8];
    int32_t axis = (int32_t)(((uint32_t)s->index + 1) % rank);
    nnv_sample_dims(s, rank, rank == 1 ? 50 : 700, dims);
    if (dims[axis] < 2) dims[axis] = 3;
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, AXIS, 1, &axis);
}

NNV_MOVE_RECORD(REVERSE, "y[..., i, ...] = x[..., n - 1 - i, ...] along axis, of extent n", .level = 7,
                .early = NNV_EARLY_SCALES | NNV_EARLY_RANKS | NNV_EARLY_OUTPUTS);
