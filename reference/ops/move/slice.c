/* SPDX-License-Identifier: Apache-2.0 */
/** @file slice.c SLICE. */
#include "reference/ops/move/move.h"

enum { X, BEGIN, SIZE };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(0), NNV_SLOT_INTS(BEGIN, "begin"), NNV_SLOT_INTS(SIZE, "size")};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(0)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_3;

static enum nnv_status extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out, struct nnv_err *err) {
    int64_t begin = nnv_int_at(c, BEGIN, d), size = nnv_int_at(c, SIZE, d);
    if (begin < 0) return nnv_fail(err, NNV_INVALID, "begin %lld is negative", (long long)begin);
    if (size < -1) return nnv_fail(err, NNV_INVALID, "size %lld is below -1", (long long)size);
    if (n != NNV_DIM_UNKNOWN && (begin > n || begin + size > n))
        return nnv_fail(err, NNV_INVALID, "begin %lld and size %lld leave the extent %u", (long long)begin,
                        (long long)size, n);
    if (size >= 0) return nnv_extent_make((uint64_t)size, out, err);
    *out = n == NNV_DIM_UNKNOWN ? n : n - (uint32_t)begin;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_move_infer(c, (int[]){BEGIN, SIZE}, 2, extent, out, err);
}

static int64_t from(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    (void)n;
    return (int64_t)nnv_int_at(c, BEGIN, d) + i;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_move_axes(k, from, 0, err); }

/* "open": sizes of -1, one an axis in turn, or all. */
enum { ALONG = NNV_SHAPE_OWN, ROW_BEGIN, ROW_SIZE };
static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_FACTORS,
                                            NNV_ALONG_FACTOR,
                                            {.name = "begin", NNV_WORDS("middle", "zero", "last")},
                                            {.name = "size", NNV_WORDS("part", "rest", "open", "one")}};

/* Begin and size of an axis of n elements, as the row says. */
static void row_piece(const struct nnv_sample *s, int32_t n, int32_t *begin, int32_t *size) {
    enum { MIDDLE, ZERO, LAST };
    enum { PART, REST, OPEN, ONE };
    const int32_t from = nnv_sample_value(s, ROW_BEGIN), many = nnv_sample_value(s, ROW_SIZE);
    *begin = from == MIDDLE ? n / 2 : from == LAST ? n - 1 : 0;
    const int32_t rest = n - *begin;
    *size = many == PART ? (rest + 1) / 2 : many == OPEN ? -1 : many == ONE ? 1 : rest;
}

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims);
    int32_t begin[NNV_MAX_RANK] = {0}, size[NNV_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        size[d] = (int32_t)dims[d];
        if (nnv_row_along(s, ALONG, rank, d)) row_piece(s, (int32_t)dims[d], &begin[d], &size[d]);
    }
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, BEGIN, rank, begin);
    nnv_sample_ints(s, SIZE, rank, size);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", "open", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    bool open = nnv_sample_is(s, "open");
    uint32_t rank = open ? 1 + (uint32_t)s->index % 4 : (uint32_t)s->variant + 1, dims[NNV_MAX_RANK];
    int32_t begin[NNV_MAX_RANK], size[NNV_MAX_RANK];
    nnv_sample_dims(s, rank, rank == 1 ? 60 : 500, dims);
    if (s->empty) dims[(uint32_t)s->index % rank] = 0;
    for (uint32_t d = 0; d < rank; d++) {
        int32_t n = (int32_t)dims[d];
        begin[d] = nnv_sample_int(s, n > 1 ? 1 : 0, n / 2);
        size[d] = n > 1 ? nnv_sample_int(s, (n - begin[d] + 1) / 2, n - begin[d]) : n;
        if (open && (s->index % 3 == 2 || d == (uint32_t)s->index / 4 % rank)) size[d] = -1;
    }
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, BEGIN, rank, begin);
    nnv_sample_ints(s, SIZE, rank, size);
}

NNV_MOVE_RECORD(SLICE, "y[i] = x[begin + i], size elements of each axis; -1: up to the end", .level = 3,
                .zero = NNV_ZERO_ANY);
