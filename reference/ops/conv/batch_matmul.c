/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch_matmul.c BATCH_MATMUL. */
#include "reference/ops/conv/linear.h"

#include "reference/ops/common.h"

enum { X, Y, ADJ_X, ADJ_Y };

#define FLAG(ID, NAME)                                                                                                 \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_BOOL, .flags = NNV_SCALAR }
static const struct nnv_slot inputs[] = {
    {.id = X, .name = "lhs", .var = NNV_T, .rank_min = 2, .rank_max = 4, .lo = -4, .hi = 4},
    {.id = Y, .name = "rhs", .var = NNV_T, .rank_min = 2, .rank_max = 4, .lo = -3, .hi = 3},
    FLAG(ADJ_X, "transpose lhs"),
    FLAG(ADJ_Y, "transpose rhs"),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 4}};

static const struct nnv_sig sigs[] = {NNV_SIG(6, FLOAT32), NNV_SIG(6, FLOAT16), NNV_SIG(6, QUANT8_ASYMM_SIGNED),
                                      NNV_SIG(6, INT32)};

/* Extent i of the last two of a shape of rank at least 2, of the transposed one if flipped. */
static uint32_t side(const struct nnv_shape *s, bool flipped, uint32_t i) {
    return nnv_dim(s, s->rank - 2 + (flipped ? 1 - i : i));
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape, *y = &nnv_in(c, Y)->shape;
    if (!x->known_rank || !y->known_rank) {
        out[0] = x->known_rank ? nnv_shape_of_rank(x->rank) : y->known_rank ? nnv_shape_of_rank(y->rank) : *x;
        return NNV_OK;
    }
    if (x->rank != y->rank) return nnv_fail(err, NNV_INVALID, "lhs has rank %u, but rhs has %u", x->rank, y->rank);
    struct nnv_shape s = nnv_shape_of_rank(x->rank);
    for (uint32_t d = 0; d + 2 < x->rank; d++) {
        s.dims[d] = x->dims[d];
        enum nnv_status st = nnv_extent_agree(c, Y, d, &s.dims[d], err);
        if (st) return st;
    }
    bool known_x = nnv_known(c, ADJ_X), known_y = nnv_known(c, ADJ_Y);
    bool adj_x = known_x && nnv_int(c, ADJ_X), adj_y = known_y && nnv_int(c, ADJ_Y);
    if (known_x && known_y && !nnv_dim_agree(side(x, adj_x, 1), side(y, adj_y, 0)))
        return nnv_fail(err, NNV_INVALID, "lhs has rows of %u, but rhs has columns of %u", side(x, adj_x, 1),
                        side(y, adj_y, 0));
    if (known_x) s.dims[s.rank - 2] = side(x, adj_x, 0);
    if (known_y) s.dims[s.rank - 1] = side(y, adj_y, 1);
    out[0] = s;
    return NNV_OK;
}

/* to[j,i] = from[i,j], both dense; from is [rows, columns]. */
static const double *turned(const double *from, size_t rows, size_t columns, double *to) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j];
    return to;
}

/* sums[batch, m, n] of x[batch, m, depth] and y[batch, depth, n], each perhaps transposed; room for one of each. */
struct product {
    size_t batch, m, n, depth;
    bool adj_x, adj_y;
    double *room_x, *room_y;
};

static void multiply(const struct product *p, const double *x, const double *y, double *sums) {
    for (size_t b = 0; b < p->batch; b++) {
        const double *a = x + b * p->m * p->depth, *c = y + b * p->depth * p->n;
        if (p->adj_x) a = turned(a, p->depth, p->m, p->room_x);
        if (!p->adj_y) c = turned(c, p->depth, p->n, p->room_y);
        nnv_matmul(p->m, p->n, p->depth, a, c, sums + b * p->m * p->n);
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, X), *out = nnv_out_shape(k, 0);
    struct product p = {.adj_x = nnv_int(k->call, ADJ_X), .adj_y = nnv_int(k->call, ADJ_Y)};
    p.depth = side(s, p.adj_x, 1);
    p.m = side(out, false, 0);
    p.n = side(out, false, 1);
    size_t elems = nnv_shape_elems(out);
    p.batch = elems / (p.m * p.n);
    p.room_x = NNV_NEW(k->scratch, double, p.m *p.depth);
    p.room_y = NNV_NEW(k->scratch, double, p.n *p.depth);
    double *abs = NULL, *sums = k->out[0];
    if (!p.room_x || !p.room_y) return nnv_no_memory(err);
    const double *x = nnv_units(k, X), *y = nnv_units(k, Y), scale = nnv_scale(k, X, 0) * nnv_scale(k, Y, 0);
    const bool replay = nnv_linear_replays(k);
    if (!replay) multiply(&p, x, y, sums);
    if (nnv_linear_needs_abs(k)) {
        x = nnv_linear_abs(k, x, nnv_elems(k, X));
        y = nnv_linear_abs(k, y, nnv_elems(k, Y));
        abs = NNV_NEW(k->scratch, double, elems);
        if (!x || !y || !abs) return nnv_no_memory(err);
        multiply(&p, x, y, abs);
    }
    for (size_t e = 0; e < elems; e++) {
        if (replay)
            sums[e] = nnv_noise_replay(k);
        else if (k->u_a > 0)
            sums[e] = nnv_sum(k, sums[e], (double)p.depth, abs ? abs[e] : 0, 1);
        sums[e] *= scale;
        if (k->multiplier) k->multiplier[e] = scale / (double)k->call->out[0].operand->scale;
    }
    return NNV_OK;
}

static const char *const variants[] = {"rank2",      "rank3",    "rank4",     "rank2_x", "rank3_y",
                                       "rank4_x_y",  "rank2_y",  "rank3_x_y", "rank4_x", "large",
                                       "constant_y", "vector_x", NULL};

enum { ROW_RANK, ROW_BATCH, ROW_ROWS, ROW_DEPTH, ROW_COLUMNS, ROW_ADJOINTS, ROW_Y };
static const struct nnv_factor factors[] = {
    {.name = "rank", NNV_VALUES(3, 2, 4)},
    {.name = "batch", NNV_VALUES(2, 1, 3)},
    {.name = "rows", NNV_VALUES(8, 1, 5, 16), NNV_SIZES(15, 17, 31, 33, 64, 65, 127, 129, 257), .large = 257},
    {.name = "depth",
     .sums = true,
     NNV_VALUES(8, 1, 5, 16),
     NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 512, 513, 1024, 1025, 4097),
     .huge = 4097},
    {.name = "columns",
     NNV_VALUES(8, 1, 5, 16),
     NNV_SIZES(15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 513, 1025),
     .large = 129,
     .huge = 513},
    {.name = "adjoint", NNV_WORDS("no", "y", "x", "both")},
    {.name = "y", NNV_WORDS("input", "constant")}};

static void row_sample(struct nnv_sample *s) {
    enum { NO, OF_Y, OF_X, BOTH };
    const uint32_t rank = (uint32_t)nnv_sample_value(s, ROW_RANK), batch = (uint32_t)nnv_sample_value(s, ROW_BATCH);
    const uint32_t m = (uint32_t)nnv_sample_value(s, ROW_ROWS), n = (uint32_t)nnv_sample_value(s, ROW_COLUMNS);
    const uint32_t depth = (uint32_t)nnv_sample_value(s, ROW_DEPTH);
    const int32_t adjoint = nnv_sample_value(s, ROW_ADJOINTS);
    const bool adj_x = adjoint == OF_X || adjoint == BOTH, adj_y = adjoint == OF_Y || adjoint == BOTH;
    uint32_t x[4] = {batch, 2}, y[4] = {batch, 2};
    x[rank - 2] = adj_x ? depth : m;
    x[rank - 1] = adj_x ? m : depth;
    y[rank - 2] = adj_y ? n : depth;
    y[rank - 1] = adj_y ? depth : n;
    nnv_sample_tensor(s, X, rank, x);
    nnv_sample_tensor(s, Y, rank, y)->constant = nnv_sample_value(s, ROW_Y);
    nnv_sample_scalar(s, ADJ_X, adj_x);
    nnv_sample_scalar(s, ADJ_Y, adj_y);
}

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    bool large = nnv_sample_is(s, "large"), adj_x = nnv_sample_is(s, "x"), adj_y = nnv_sample_is(s, "y");
    if (large) adj_x = s->index % 2, adj_y = s->index / 2 % 2;
    uint32_t rank = nnv_sample_is(s, "rank2") ? 2 : nnv_sample_is(s, "rank4") ? 4 : 3, x[4] = {2, 3}, y[4] = {2, 3};
    uint32_t m = nnv_sample_is(s, "vector") ? 1 : nnv_sample_dim(s, 2, large ? 33 : 6);
    uint32_t n = nnv_sample_dim(s, 3, large ? 65 : 9), depth = nnv_sample_dim(s, 3, large ? 65 : 13);
    if (m == n) n++;
    if (depth == m || depth == n) depth += 2;
    if (rank == 3) x[0] = y[0] = 2 + (uint32_t)s->index % 3;
    x[rank - 2] = adj_x ? depth : m;
    x[rank - 1] = adj_x ? m : depth;
    y[rank - 2] = adj_y ? n : depth;
    y[rank - 1] = adj_y ? depth : n;
    nnv_sample_tensor(s, X, rank, x);
    nnv_sample_tensor(s, Y, rank, y)->constant = nnv_sample_is(s, "constant");
    nnv_sample_scalar(s, ADJ_X, adj_x);
    nnv_sample_scalar(s, ADJ_Y, adj_y);
}

const struct nnv_op nnv_op_BATCH_MATMUL = {
    NNV_OP_NAMED(BATCH_MATMUL),
    .level = 6,
    .formula = "z[...,i,j] = sum over p of x[...,i,p] * y[...,p,j], either factor transposed if wanted",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .linear = true,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
