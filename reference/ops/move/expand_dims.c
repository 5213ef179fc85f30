/* SPDX-License-Identifier: Apache-2.0 */
/** @file expand_dims.c EXPAND_DIMS. */
#include "reference/ops/move/move.h"

#include <string.h>

enum { X, AXIS };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(0), NNV_SLOT_INT(AXIS, "axis", NNV_ANY)};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(0)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_3;

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s = {0};
    if (x->known_rank) {
        if (x->rank == NNV_MAX_RANK)
            return nnv_fail(err, NNV_INVALID, "rank %u is above %d", x->rank + 1, NNV_MAX_RANK);
        s = nnv_shape_of_rank(x->rank + 1);
    }
    if (x->known_rank && nnv_known(c, AXIS)) {
        int axis = nnv_axis(nnv_int(c, AXIS), s.rank);
        if (axis < 0)
            return nnv_fail(err, NNV_INVALID, "%d is not an axis of an output of rank %u", nnv_int(c, AXIS), s.rank);
        for (uint32_t d = 0, from = 0; d < s.rank; d++) s.dims[d] = d == (uint32_t)axis ? 1 : x->dims[from++];
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    memcpy(k->out[0], nnv_real(k, X), nnv_elems(k, X) * sizeof **k->out);
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN };
static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_FACTORS, NNV_SIGNED_AXIS_FACTOR};

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims);
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, AXIS, nnv_row_axis(s, ROW_AXIS, rank + 1));
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    uint32_t rank = (uint32_t)s->variant + 1, n = rank + 1, dims[5];
    nnv_sample_dims(s, rank, 400, dims);
    nnv_sample_tensor(s, X, rank, dims);
    /* All axes, from either end, the middle ones first. */
    nnv_sample_scalar(s, AXIS, (double)(((uint32_t)s->index + 1) % (2 * n)) - n);
}

NNV_MOVE_RECORD(EXPAND_DIMS, "y = x with an axis of extent 1 put in before axis; negative ones count from y's end",
                .level = 3);
