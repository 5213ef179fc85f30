/* SPDX-License-Identifier: Apache-2.0 */
/** @file gather.c GATHER. */
#include "reference/ops/move/move.h"

enum { X, AXIS, INDICES };

static const struct nnv_slot inputs[] = {
    NNV_MOVE_X(0),
    NNV_SLOT_INT(AXIS, "axis", NNV_AXIS),
    {.id = INDICES, .name = "indices", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .rank_min = 1}};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(0)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_3;

/* The extents of the indices take the place of the axis. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape, *indices = &nnv_in(c, INDICES)->shape;
    struct nnv_shape s = {0};
    if (x->known_rank && indices->known_rank) {
        uint32_t rank = x->rank + indices->rank - 1, at = 0;
        if (rank > NNV_MAX_RANK) return nnv_fail(err, NNV_INVALID, "rank %u is above %d", rank, NNV_MAX_RANK);
        s = nnv_shape_of_rank(rank);
        uint32_t axis = nnv_known(c, AXIS) ? (uint32_t)nnv_axis(nnv_int(c, AXIS), x->rank) : x->rank;
        for (uint32_t d = 0; axis < x->rank && d < x->rank; d++) {
            if (d != axis) s.dims[at++] = x->dims[d];
            for (uint32_t i = 0; d == axis && i < indices->rank; i++) s.dims[at++] = indices->dims[i];
        }
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    const double *indices = nnv_real(k, INDICES);
    size_t n = nnv_elems(k, INDICES);
    int64_t *at = NNV_NEW(k->scratch, int64_t, n);
    if (!at) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        bool inside = indices[i] >= 0 && indices[i] < (double)l.n;
        if (!inside && k->row == 0)
            return nnv_fail(err, NNV_INVALID, "index %zu is %.0f, but the axis has extent %zu", i, indices[i], l.n);
        at[i] = inside ? (int64_t)indices[i] : NNV_MOVE_FILL;
    }
    nnv_move_lines(l, at, (uint32_t)n, nnv_real(k, X), k->out[0]);
    return NNV_OK;
}

/* "indices2", "indices3": indices of more than one dimension. */
enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_RANK, ROW_COUNT, ROW_ORDER };
static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_RANKS,
                                            NNV_LINE_EXTENTS,
                                            NNV_SIGNED_AXIS_FACTOR,
                                            {.name = "indices", NNV_VALUES(1, 2, 3)},
                                            {.name = "count", NNV_WORDS("equal", "few", "more")},
                                            {.name = "order", NNV_WORDS("any", "rising", "falling", "same")}};

/* Index i of n into an axis of that extent; of any order, too, the last one is among them. */
static int32_t row_index(struct nnv_sample *s, uint32_t i, uint32_t n, uint32_t extent) {
    enum { ANY, RISING, FALLING, EQUAL };
    const int32_t order = nnv_sample_value(s, ROW_ORDER), last = (int32_t)extent - 1;
    const int32_t at = (int32_t)((uint64_t)i * extent / n);
    if (order == ANY && i != n / 2) return nnv_sample_int(s, 0, last);
    return order == RISING ? at : order == FALLING ? last - at : last;
}

static void row_sample(struct nnv_sample *s) {
    enum { AS_MANY, FEW, MORE };
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims), extent = dims[nnv_row_place(s, ROW_AXIS, rank)];
    const int32_t count = nnv_sample_value(s, ROW_COUNT);
    const uint32_t of = (uint32_t)nnv_sample_value(s, ROW_RANK), n = of == 1 ? 1 : of == 2 ? 2 : 4;
    uint32_t shape[3] = {count == AS_MANY ? extent : count == FEW ? (extent + 2) / 3 : extent + 2, 2, 2};
    int32_t *indices = NNV_NEW(s->arena, int32_t, (size_t)shape[0] * n);
    for (uint32_t i = 0; indices && i < shape[0] * n; i++) indices[i] = row_index(s, i, shape[0] * n, extent);
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, AXIS, nnv_row_axis(s, ROW_AXIS, rank));
    nnv_sample_tensor(s, INDICES, of, shape)->ints = indices;
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "indices2", "indices3", "rank5", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    bool two = nnv_sample_is(s, "indices2"), three = nnv_sample_is(s, "indices3");
    uint32_t rank = two || three                ? 1 + (uint32_t)s->index % 3
                    : nnv_sample_is(s, "rank5") ? 5
                                                : (uint32_t)s->variant + 1,
             dims[5];
    uint32_t at = ((uint32_t)s->index + 1) % (2 * rank), shape[3] = {nnv_sample_dim(s, 3, 7), 1, 1}, n;
    nnv_sample_dims(s, rank, rank == 1 ? 30 : 120, dims);
    uint32_t *extent = &dims[at % rank];
    if (*extent < 3) *extent = 3;
    if (two || three) shape[1] = shape[0] == 3 ? 2 : 3;
    if (three) shape[2] = 2;
    n = shape[0] * shape[1] * shape[2];
    int32_t indices[42], last = (int32_t)*extent - 1;
    for (uint32_t i = 0; i < n; i++) indices[i] = nnv_sample_int(s, 0, last);
    indices[0] = last; /* both ends, and one twice */
    indices[1] = 0;
    indices[2] = last;
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, AXIS, at < rank ? (double)at : (double)at - 2 * rank);
    nnv_sample_tensor(s, INDICES,
                      three ? 3
                      : two ? 2
                            : 1,
                      shape)
        ->ints = nnv_arena_copy(s->arena, indices, n * sizeof *indices);
}

NNV_MOVE_RECORD(GATHER, "y[..., i, ...] = x[..., indices[i], ...] along axis; i: all extents of the indices",
                .level = 3);
