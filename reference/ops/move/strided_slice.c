/* SPDX-License-Identifier: Apache-2.0 */
/** @file strided_slice.c STRIDED_SLICE. */
#include "reference/ops/move/move.h"

enum { X, BEGIN, END, STRIDES, BEGIN_MASK, END_MASK, SHRINK_MASK };

static const struct nnv_slot inputs[] = {
    NNV_MOVE_X(4),
    NNV_SLOT_INTS(BEGIN, "begin"),
    NNV_SLOT_INTS(END, "end"),
    NNV_SLOT_LIMITED_INTS(STRIDES, "strides"),
    NNV_SLOT_INT(BEGIN_MASK, "begin mask", NNV_ANY),
    NNV_SLOT_INT(END_MASK, "end mask", NNV_ANY),
    NNV_SLOT_INT(SHRINK_MASK, "shrink axis mask", NNV_ANY),
};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

/* Elements first, first + stride, ... of one axis, count of them. */
struct range {
    int64_t first, count;
};

static bool bit(const struct nnv_call *c, int id, uint32_t d) { return (uint32_t)nnv_int(c, id) >> d & 1; }

/* Counts negative positions from the end; forced into what a walk of this direction can reach. */
static int64_t place(int64_t v, int64_t n, bool up) {
    int64_t lo = up ? 0 : -1, hi = up ? n : n - 1;
    if (v < 0) v += n;
    return v < lo ? lo : v > hi ? hi : v;
}

static struct range range_of(const struct nnv_call *c, uint32_t d, uint32_t extent) {
    int64_t n = extent, stride = nnv_int_at(c, STRIDES, d);
    bool up = stride > 0;
    int64_t begin = bit(c, BEGIN_MASK, d) ? (up ? 0 : n - 1) : place(nnv_int_at(c, BEGIN, d), n, up);
    int64_t end = bit(c, END_MASK, d) ? (up ? n : -1) : place(nnv_int_at(c, END, d), n, up);
    int64_t way = up ? end - begin : begin - end, step = up ? stride : -stride;
    return (struct range){begin, way > 0 ? (way + step - 1) / step : 0};
}

static enum nnv_status extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out, struct nnv_err *err) {
    int32_t stride = nnv_int_at(c, STRIDES, d);
    bool shrink = bit(c, SHRINK_MASK, d);
    if (stride == 0) return nnv_fail(err, NNV_INVALID, "the stride is 0");
    if (shrink && stride < 0) return nnv_fail(err, NNV_INVALID, "stride %d of an axis that is removed", stride);
    if (n == NNV_DIM_UNKNOWN) return NNV_OK;
    int64_t count = range_of(c, d, n).count;
    if (shrink && count != 1)
        return nnv_fail(err, NNV_INVALID, "%lld elements of an axis that is removed; expected 1", (long long)count);
    *out = (uint32_t)count;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    static const int masks[] = {BEGIN_MASK, END_MASK, SHRINK_MASK};
    for (int i = 0; i < 3; i++)
        if (!nnv_known(c, masks[i])) {
            out[0] = (struct nnv_shape){0};
            return NNV_OK;
        }
    struct nnv_shape all;
    enum nnv_status st = nnv_move_infer(c, (int[]){BEGIN, END, STRIDES}, 3, extent, &all, err);
    if (st) return st;
    struct nnv_shape s = {.known_rank = all.known_rank};
    for (uint32_t d = 0; all.known_rank && d < all.rank; d++)
        if (!bit(c, SHRINK_MASK, d)) s.dims[s.rank++] = all.dims[d];
    if (s.known_rank && s.rank == 0) s.dims[s.rank++] = 1;
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *x = nnv_in_shape(k, X);
    struct range r[4];
    uint32_t dims[4];
    struct nnv_move m;
    int64_t step[NNV_MAX_RANK];
    for (uint32_t d = 0; d < x->rank; d++) {
        r[d] = range_of(k->call, d, x->dims[d]);
        dims[d] = (uint32_t)r[d].count;
    }
    enum nnv_status st = nnv_move_open(k, x->rank, dims, &m, err);
    if (st) return st;
    nnv_strides(x, step);
    for (uint32_t d = 0; d < x->rank; d++)
        for (uint32_t i = 0; i < dims[d]; i++)
            m.at[d][i] = (r[d].first + (int64_t)i * nnv_int_at(k->call, STRIDES, d)) * step[d];
    nnv_move_run(&m, nnv_real(k, X), 0, k->out[0]);
    return NNV_OK;
}

/* "backward": strides below 0; "masked": positions without meaning beside mask bits; "shrink": axes removed;
 * "outside": positions beyond the ends. */
enum { ALONG = NNV_SHAPE_OWN, ROW_STRIDE, ROW_BEGIN, ROW_MASK };
static const struct nnv_factor factors[] = {NNV_SHAPE_FACTORS,
                                            NNV_ALONG_FACTOR,
                                            {.name = "stride", NNV_VALUES(2, 1, 3, -1, -2)},
                                            {.name = "begin", NNV_WORDS("inside", "last", "negative", "outside")},
                                            {.name = "mask", NNV_WORDS("none", "begin", "end", "both", "shrink")}};

/* Where the piece of an axis begins, as words of the row. */
enum { INSIDE, LAST, NEGATIVE, OUTSIDE };

/* One element of an axis of n that is removed: in the middle, or the last one, also as -1. */
static void row_element(const struct nnv_sample *s, int32_t n, int32_t *begin, int32_t *end) {
    const int32_t from = nnv_sample_value(s, ROW_BEGIN), at = from == LAST || from == NEGATIVE ? n - 1 : n / 2;
    *begin = from == NEGATIVE ? at - n : at;
    *end = at + 1;
}

/* Positions of an axis of n elements, as the row says: with a negative stride from the end on. */
static void row_piece(const struct nnv_sample *s, int32_t n, int32_t stride, int32_t *begin, int32_t *end) {
    const int32_t from = nnv_sample_value(s, ROW_BEGIN), head = from != LAST && n > 2 ? 1 : 0;
    *begin = stride > 0 ? head : n - 1 - head;
    *end = stride > 0 ? n - head : head - 1;
    if (from == OUTSIDE) {
        *begin = stride > 0 ? -n - 3 : n + 5;
        *end = stride > 0 ? n + 4 : -n - 7;
    }
    if (from == NEGATIVE) *begin -= n;
    if (from != OUTSIDE && (*end < 0 || (from == NEGATIVE && *end < n))) *end -= n;
}

static void row_sample(struct nnv_sample *s) {
    enum { NONE, BEGIN_ON, END_ON, BOTH, SHRINK };
    uint32_t dims[4], rank = nnv_sample_shape(s, dims), bits = 0;
    int32_t begin[4] = {0}, end[4], stride[4];
    const int32_t mask = nnv_sample_value(s, ROW_MASK);
    for (uint32_t d = 0; d < rank; d++) {
        end[d] = (int32_t)dims[d];
        stride[d] = 1;
        if (!nnv_row_along(s, ALONG, rank, d)) continue;
        stride[d] = nnv_sample_value(s, ROW_STRIDE);
        row_piece(s, (int32_t)dims[d], stride[d], &begin[d], &end[d]);
        if (mask == SHRINK && (bits | 1u << d) == (1u << rank) - 1) continue; /* one axis stays */
        bits |= 1u << d;
        if (mask != SHRINK) continue;
        row_element(s, (int32_t)dims[d], &begin[d], &end[d]);
        stride[d] = 1;
    }
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, BEGIN, rank, begin);
    nnv_sample_ints(s, END, rank, end);
    nnv_sample_ints(s, STRIDES, rank, stride);
    nnv_sample_scalar(s, BEGIN_MASK, mask == BEGIN_ON || mask == BOTH ? bits : 0);
    nnv_sample_scalar(s, END_MASK, mask == END_ON || mask == BOTH ? bits : 0);
    nnv_sample_scalar(s, SHRINK_MASK, mask == SHRINK ? bits : 0);
}

static const char *const variants[] = {"forward", "backward", "masked", "shrink", "outside", NULL};

/* Positions of one axis: first and last element at or beside the ends, or within. */
static void draw(struct nnv_sample *s, int32_t n, int32_t stride, int32_t *begin, int32_t *end) {
    int32_t head = n > 2 ? nnv_sample_int(s, 0, (n - 1) / 3) : 0, tail = n > 2 ? nnv_sample_int(s, 0, (n - 1) / 3) : 0;
    *begin = stride > 0 ? head : n - 1 - tail;
    *end = stride > 0 ? n - tail : head - 1;
    if (nnv_sample_int(s, 0, 1)) *begin -= n;
    if (*end < 0 || (*end < n && nnv_sample_int(s, 0, 1))) *end -= n;
}

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const int32_t strides[] = {2, 1, 3, 1, 2, 4};
    uint32_t rank = 4 - (uint32_t)s->index % 4, dims[4], bits = 1 + (uint32_t)s->index * 5 % 15;
    int32_t begin[4], end[4], stride[4];
    bool masked = nnv_sample_is(s, "masked"), outside = nnv_sample_is(s, "outside");
    bool shrink = nnv_sample_is(s, "shrink"), backward = nnv_sample_is(s, "backward");
    nnv_sample_dims(s, rank, rank == 1 ? 60 : 700, dims);
    if (shrink && rank == 1) rank = 3, nnv_sample_dims(s, rank, 400, dims);
    if (shrink && (bits & ((1u << rank) - 1)) == (1u << rank) - 1) bits = 2; /* all removed leaves one element */
    for (uint32_t d = 0; d < rank; d++) {
        int32_t n = (int32_t)dims[d];
        bool down =
            backward ? d % 2 == (uint32_t)s->index % 2 || rank == 1 : (masked || outside) && nnv_sample_int(s, 0, 1);
        stride[d] = strides[((uint32_t)s->index + d) % 6] * (down ? -1 : 1);
        draw(s, n, stride[d], &begin[d], &end[d]);
        if (outside) {
            begin[d] = stride[d] > 0 ? -n - 3 : n + 5;
            end[d] = stride[d] > 0 ? n + 4 : -n - 7;
        }
        if (shrink && bits >> d & 1) {
            begin[d] = nnv_sample_int(s, 0, n - 1);
            end[d] = begin[d] + 1;
            if (s->index / 2 % 2) begin[d] -= n;
            stride[d] = 1 + s->index % 2;
        }
    }
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_ints(s, BEGIN, rank, begin);
    nnv_sample_ints(s, END, rank, end);
    nnv_sample_ints(s, STRIDES, rank, stride);
    nnv_sample_scalar(s, BEGIN_MASK, masked ? bits : 0);
    nnv_sample_scalar(s, END_MASK, masked ? bits * 3 % 16 : 0);
    nnv_sample_scalar(s, SHRINK_MASK, shrink ? bits & ((1u << rank) - 1) : 0);
}

NNV_MOVE_RECORD(
    STRIDED_SLICE,
    "y[i] = x[begin + i * stride] of each axis up to end; mask bits: from the start, to the end, axis removed",
    .level = 2);
