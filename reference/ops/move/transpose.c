/* SPDX-License-Identifier: Apache-2.0 */
/** @file transpose.c TRANSPOSE. */
#include "reference/ops/move/move.h"

enum { X, PERM };

static const struct nnv_slot inputs[] = {
    NNV_MOVE_X(4),
    NNV_SLOT_INT_TENSOR(PERM, "permutation", 1, NNV_PARAM | NNV_OMITTABLE),
};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

static uint32_t axis_of(const struct nnv_call *c, uint32_t d) {
    return nnv_in(c, PERM) ? (uint32_t)nnv_int_at(c, PERM, d) : 1 - d;
}

static enum nnv_status check_permutation(const struct nnv_call *c, uint32_t rank, struct nnv_err *err) {
    uint32_t seen = 0;
    for (uint32_t d = 0; d < rank; d++) {
        int32_t a = nnv_int_at(c, PERM, d);
        if (a < 0 || (uint32_t)a >= rank || seen >> a & 1)
            return nnv_fail(err, NNV_INVALID, "permutation[%u] is %d: expected each of 0 to %u once", d, a, rank - 1);
        seen |= 1u << a;
    }
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    enum nnv_presence perm = nnv_presence(c, PERM);
    uint32_t rank = x->known_rank ? x->rank : NNV_DIM_UNKNOWN;
    enum nnv_status st = NNV_OK;
    if (perm == NNV_PRESENT) st = nnv_extent_agree(c, PERM, 0, &rank, err);
    if (perm == NNV_ABSENT && !nnv_dim_agree(rank, 2))
        st = nnv_fail(err, NNV_INVALID, "without a permutation the input must have rank 2, not %u", rank);
    if (perm == NNV_ABSENT) rank = 2;
    struct nnv_shape s = {0};
    if (!st && rank != NNV_DIM_UNKNOWN) {
        if (rank > 4) return nnv_fail(err, NNV_INVALID, "rank %u is above 4", rank);
        s = nnv_shape_of_rank(rank);
        bool given = nnv_in(c, PERM) && nnv_in(c, PERM)->data;
        if (given) st = check_permutation(c, rank, err);
        for (uint32_t d = 0; !st && (given || perm == NNV_ABSENT) && d < rank; d++)
            s.dims[d] = nnv_dim(x, axis_of(c, d));
    }
    if (!st) out[0] = s;
    return st;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *y = nnv_out_shape(k, 0);
    struct nnv_move m;
    int64_t step[NNV_MAX_RANK];
    enum nnv_status st = nnv_move_open(k, y->rank, y->dims, &m, err);
    if (st) return st;
    nnv_strides(nnv_in_shape(k, X), step);
    for (uint32_t d = 0; d < y->rank; d++)
        for (uint32_t i = 0; i < y->dims[d]; i++) m.at[d][i] = i * step[axis_of(k->call, d)];
    nnv_move_run(&m, nnv_real(k, X), 0, k->out[0]);
    return NNV_OK;
}

enum { ROW_PERM = NNV_SHAPE_OWN };
/* Permutations by their place in the order of the alphabet, modulo their number for a rank; -1: omitted, if it can. */
static const struct nnv_factor factors[] = {
    NNV_SHAPE_FACTORS,
    {.name = "permutation",
     NNV_VALUES(4, 3, 1, 0, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, -1)}};

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = nnv_sample_shape(s, dims), left = 0, among = 1;
    int32_t perm[4], rest[4] = {0, 1, 2, 3}, place = nnv_sample_value(s, ROW_PERM);
    nnv_sample_tensor(s, X, rank, dims);
    if (place < 0 && rank == 2) return;
    for (uint32_t i = 2; i <= rank; i++) among *= i;
    left = (place < 0 ? 1 : (uint32_t)place) % among;
    for (uint32_t d = 0; d < rank; d++) {
        among /= rank - d;
        const uint32_t at = left / among;
        left %= among;
        perm[d] = rest[at];
        for (uint32_t i = at; i + 1 < rank - d; i++) rest[i] = rest[i + 1];
    }
    nnv_sample_ints(s, PERM, rank, perm);
}

static const char *const variants[] = {"omitted", "rank1", "rank2", "rank3", "rank4", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    /* First those that are not their own inverse. */
    static const int32_t of_2[2][2] = {{1, 0}, {0, 1}};
    static const int32_t of_3[5][3] = {{1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    static const int32_t of_4[9][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}, {3, 0, 2, 1}, {2, 0, 3, 1},
                                       {1, 3, 0, 2}, {0, 2, 1, 3}, {3, 2, 1, 0}, {0, 1, 3, 2}};
    bool omitted = nnv_sample_is(s, "omitted");
    uint32_t rank = omitted ? 2 : (uint32_t)s->variant, dims[4];
    nnv_sample_dims(s, rank, rank == 1 ? 40 : 400, dims);
    if (s->empty) dims[(uint32_t)s->index % rank] = 0;
    nnv_sample_tensor(s, X, rank, dims);
    if (omitted) return;
    const int32_t zero = 0;
    const int32_t *perm = rank == 1   ? &zero
                          : rank == 2 ? of_2[s->index % 2]
                          : rank == 3 ? of_3[s->index % 5]
                                      : of_4[s->index % 9];
    nnv_sample_ints(s, PERM, rank, perm);
}

NNV_MOVE_RECORD(TRANSPOSE, "y's axis i is x's axis permutation[i]; without one rows and columns change places",
                .level = 2, .zero = NNV_ZERO_ANY);
