/* SPDX-License-Identifier: Apache-2.0 */
/** @file tile.c TILE. */
#include "reference/ops/move/move.h"

enum { X, MULTIPLES };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(0), NNV_SLOT_INTS(MULTIPLES, "multiples")};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(0)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_3;

static enum nnv_status extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out, struct nnv_err *err) {
    int32_t m = nnv_int_at(c, MULTIPLES, d);
    if (m < 0) return nnv_fail(err, NNV_INVALID, "multiple %d is negative", m);
    if (n == NNV_DIM_UNKNOWN) return NNV_OK;
    return nnv_extent_make((uint64_t)n * (uint32_t)m, out, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_move_infer(c, (int[]){MULTIPLES}, 1, extent, out, err);
}

static int64_t from(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    (void)c;
    (void)d;
    return i % n;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_move_axes(k, from, 0, err); }

enum { ROW_ALONG = NNV_SHAPE_OWN, ROW_TIMES };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_ANY_FACTORS, NNV_ALONG_FACTOR, {.name = "times", NNV_VALUES(2, 1, 3, 9)}};

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims);
    enum { MODEST = 3 }; /* of all axes; more of the first alone */
    int32_t m[NNV_MAX_RANK], times = nnv_sample_value(s, ROW_TIMES);
    for (uint32_t d = 0; d < rank; d++) {
        m[d] = nnv_row_along(s, ROW_ALONG, rank, d) ? times : 1;
        if (m[d] > MODEST) times = 1;
    }
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, MULTIPLES, rank, m);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const int32_t multiples[] = {2, 3, 1, 4, 2, 1, 3};
    uint32_t rank = (uint32_t)s->variant + 1, dims[5];
    int32_t m[5];
    nnv_sample_dims(s, rank, 60, dims);
    for (uint32_t d = 0; d < rank; d++) m[d] = multiples[((uint32_t)s->index + 2 * d) % 7];
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, MULTIPLES, rank, m);
}

NNV_MOVE_RECORD(TILE, "y[i] = x[i mod extent of x], of each axis; multiples of the extents", .level = 3);
