/* SPDX-License-Identifier: Apache-2.0 */
/** @file topk_v2.c TOPK_V2. */
#include "reference/ops/common.h"

enum { X, K };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_INT(K, "k", NNV_POSITIVE),
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "values", .var = NNV_T, .rank_min = 1, .quant = NNV_Q_SAME},
    {.id = 1,
     .name = "indices",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_INT32,
     .rank_min = 1,
     .judged = NNV_JUDGED_LARGEST},
};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, INT32),
                                      NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_shape s = nnv_in(c, X)->shape;
    if (s.known_rank) {
        uint32_t *last = &s.dims[s.rank - 1], k = nnv_known(c, K) ? (uint32_t)nnv_int(c, K) : NNV_DIM_UNKNOWN;
        if (k != NNV_DIM_UNKNOWN && *last != NNV_DIM_UNKNOWN && k > *last)
            return nnv_fail(err, NNV_INVALID, "k %u is above %u, the input's last extent", k, *last);
        *last = k;
    }
    out[0] = out[1] = s;
    return NNV_OK;
}

/* True if x[a] comes before x[b]: the larger value, of equals the last. */
static bool before(const double *x, size_t a, size_t b) { return x[a] > x[b] || (x[a] == x[b] && a > b); }

/* True if the place of x[i] is open: an equal one, or one that may change places with it in another row. */
static bool is_open(struct nnv_kernel *k, const double *x, size_t at, size_t n, size_t i) {
    double d = nnv_spread(k, X, at + i);
    for (size_t j = 0; j < n; j++)
        if (j != i && !(fabs(x[at + i] - x[at + j]) > 3 * (d + nnv_spread(k, X, at + j)))) return true;
    return false;
}

/* A line of n at `at`; its `most` largest go to `to`. NaN, "not compared" in a row, may be anywhere. */
static void line(struct nnv_kernel *k, const double *x, size_t at, size_t n, size_t most, size_t to) {
    bool unknown = false;
    for (size_t i = 0; i < n; i++) unknown = unknown || isnan(x[at + i]);
    size_t last = n;
    for (size_t r = 0; r < most; r++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if ((last == n || before(x + at, last, i)) && (best == n || before(x + at, i, best))) best = i;
        if (best == n) best = r; /* only NaN is left */
        bool open = k->noise && k->row == 0 && is_open(k, x, at, n, best);
        k->out[0][to + r] = unknown ? (double)NAN : x[at + best];
        k->out[1][to + r] = k->noise ? nnv_noise_add(k, (double)best, open ? (double)NAN : 0) : (double)best;
        last = best;
    }
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_shape *s = nnv_in_shape(k, X);
    size_t n = s->dims[s->rank - 1], most = (size_t)nnv_int(k->call, K), lines = nnv_elems(k, X) / n;
    const double *x = nnv_real(k, X);
    for (size_t i = 0; i < lines; i++) line(k, x, i * n, n, most, i * most);
    return NNV_OK;
}

enum { ROW_K = NNV_SHAPE_OWN };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_ANY_RANKS, NNV_LINE_EXTENTS, {.name = "k", NNV_WORDS("some", "one", "all", "most")}};

/* Of n elements. */
static int row_k(const struct nnv_sample *s, int n) {
    enum { SOME, ONE, ALL, MOST };
    enum { ENOUGH = 40 };
    const int32_t k = nnv_sample_value(s, ROW_K);
    return k == ALL || n == 1 ? n : k == ONE ? 1 : k == MOST ? n - 1 : n > 2 * ENOUGH ? ENOUGH : (n + 1) / 2;
}

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims);
    nnv_sample_last_wins(s, nnv_sample_tensor(s, X, rank, dims), 1);
    nnv_sample_scalar(s, K, row_k(s, (int)dims[rank - 1]));
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", "one", "all", "long", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    bool named = s->variant < 5;
    uint32_t rank = named ? (uint32_t)s->variant + 1 : 2 + (uint32_t)s->index % 2, dims[NNV_MAX_RANK];
    nnv_sample_dims(s, rank, rank == 1 ? 40 : 300, dims);
    uint32_t *last = &dims[rank - 1];
    if (*last < 3) *last = 5;
    if (nnv_sample_is(s, "long")) {
        *last = nnv_sample_dim(s, 65, 150);
        dims[0] = 3;
    }
    int k = nnv_sample_int(s, 2, (int)*last - 1);
    if (nnv_sample_is(s, "one")) k = 1;
    if (nnv_sample_is(s, "all")) k = (int)*last;
    nnv_sample_tensor(s, X, rank, dims);
    nnv_sample_scalar(s, K, k);
}

const struct nnv_op nnv_op_TOPK_V2 = {
    NNV_OP_NAMED(TOPK_V2),
    .level = 3,
    .formula =
        "values = the k largest of x along the last axis, falling; indices = where they stand (of equals: any order)",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
