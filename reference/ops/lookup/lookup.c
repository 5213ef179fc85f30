/* SPDX-License-Identifier: Apache-2.0 */
/** @file lookup.c EMBEDDING_LOOKUP and HASHTABLE_LOOKUP: output 0 is rows of a tensor of values. */
#include "reference/ops/common.h"

#define NO_ROW SIZE_MAX

enum { LOOKUPS, VALUES, KEYS };

#define TABLE                                                                                                          \
    { .id = VALUES, .name = "values", .var = NNV_T, .rank_min = 2, .domain = NNV_DOMAIN_ALL }
static const struct nnv_slot embedding_inputs[] = {NNV_SLOT_INT_TENSOR(LOOKUPS, "lookups", 1, 0), TABLE};
static const struct nnv_slot embedding_outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 2, .quant = NNV_Q_SAME_1}};
static const struct nnv_slot hashtable_inputs[] = {NNV_SLOT_INT_TENSOR(LOOKUPS, "lookups", 1, 0),
                                                   NNV_SLOT_INT_TENSOR(KEYS, "keys", 1, 0), TABLE};
static const struct nnv_slot hashtable_outputs[] = {
    {.id = 0, .name = "output", .var = NNV_T, .rank_min = 2, .quant = NNV_Q_SAME_2},
    {.id = 1,
     .name = "hits",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
     .rank_min = 1,
     .rank_max = 1,
     .quant = NNV_Q_ONE},
};

static const struct nnv_sig embedding_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, INT32), NNV_SIG(3, QUANT8_ASYMM),
                                                NNV_SIG(4, FLOAT16), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};
static const struct nnv_sig hashtable_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, INT32), NNV_SIG(1, QUANT8_ASYMM)};

/* The shape of output 0: that of values with as many rows as lookups has elements. */
static struct nnv_shape shape_of(const struct nnv_call *c) {
    struct nnv_shape s = nnv_in(c, VALUES)->shape;
    if (s.known_rank) s.dims[0] = nnv_dim(&nnv_in(c, LOOKUPS)->shape, 0);
    return s;
}

/* Copies row `row` of values to row i of output 0; NO_ROW (a perturbed row's) gives NaN. */
static void copy_row(struct nnv_kernel *k, size_t i, size_t row) {
    const double *from = nnv_real(k, VALUES);
    struct nnv_lines v = nnv_lines_of(nnv_in_shape(k, VALUES), 0);
    for (size_t e = 0; e < v.inner; e++) k->out[0][i * v.inner + e] = row == NO_ROW ? NAN : from[row * v.inner + e];
}

/* ------------------------------------------------------------------ embedding */

static enum nnv_status embedding_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    out[0] = shape_of(c);
    return NNV_OK;
}

static enum nnv_status embedding_eval(struct nnv_kernel *k, struct nnv_err *err) {
    const double *lookups = nnv_real(k, LOOKUPS);
    uint32_t rows = nnv_in_shape(k, VALUES)->dims[0];
    for (size_t i = 0; i < nnv_elems(k, LOOKUPS); i++) {
        bool in_range = lookups[i] >= 0 && lookups[i] < rows;
        if (!in_range && k->row == 0)
            return nnv_fail(err, NNV_INVALID, "lookup %zu: row %.0f is not one of the %u rows of values", i, lookups[i],
                            rows);
        copy_row(k, i, in_range ? (size_t)lookups[i] : NO_ROW);
    }
    return NNV_OK;
}

#define TABLE_FACTORS                                                                                                  \
    NNV_SHAPE_RANKS(2, 3, 4), NNV_SHAPE_EXTENTS, {.name = "lookups", NNV_VALUES(5, 1, 3, 16), NNV_SIZES(17, 65, 300)}, \
    {                                                                                                                  \
        .name = "rows", NNV_VALUES(9, 1, 3, 64), NNV_SIZES(129, 257, 32769, 40001, 65537, 80001, 131073)               \
    }
static const struct nnv_factor embedding_factors[] = {TABLE_FACTORS,
                                                      {.name = "order", NNV_WORDS("any", "rising", "falling", "same")}};
static const struct nnv_factor hashtable_factors[] = {TABLE_FACTORS,
                                                      {.name = "found", NNV_WORDS("mixed", "hits", "misses")},
                                                      {.name = "keys", NNV_WORDS("near", "apart")}};

/* The extents of the table, as the row says. */
static uint32_t table_shape(const struct nnv_sample *s, uint32_t *dims) {
    const uint32_t rank = nnv_sample_shape(s, dims);
    dims[0] = nnv_row_extent(s, "rows", 1);
    return rank;
}

/* Row i of n of a table with that many rows; of any order, too, the last one is among them. */
static int32_t row_at(struct nnv_sample *s, uint32_t i, uint32_t n, uint32_t rows) {
    const int32_t at = (int32_t)((uint64_t)i * rows / n), last = (int32_t)rows - 1;
    return nnv_sample_is(s, "rising")    ? at
           : nnv_sample_is(s, "falling") ? last - at
           : nnv_sample_is(s, "same")    ? last
           : i == 1                      ? last
                                         : nnv_sample_int(s, 0, last);
}

static void embedding_row_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = table_shape(s, dims), n = nnv_row_extent(s, "lookups", 1);
    int32_t *rows = NNV_NEW(s->arena, int32_t, n);
    for (uint32_t i = 0; rows && i < n; i++) rows[i] = row_at(s, i, n, dims[0]);
    nnv_sample_tensor(s, VALUES, rank, dims);
    nnv_sample_tensor(s, LOOKUPS, 1, &n)->ints = rows;
}

static const char *const embedding_variants[] = {"rank2", "rank3", "rank4", NULL};

static void embedding_sample(struct nnv_sample *s) {
    if (s->row) {
        embedding_row_sample(s);
        return;
    }
    uint32_t rank = (uint32_t)s->variant + 2, dims[4] = {nnv_sample_dim(s, 5, 9)};
    nnv_sample_dims(s, rank - 1, 60, dims + 1);
    nnv_sample_tensor(s, VALUES, rank, dims);
    /* The first and the last row, a row twice, and others. */
    int32_t last = (int32_t)dims[0] - 1, any = nnv_sample_int(s, 1, last - 1);
    int32_t rows[] = {any, last, 0, any, nnv_sample_int(s, 0, last), nnv_sample_int(s, 0, last), last - 1};
    nnv_sample_ints(s, LOOKUPS, 4 + (uint32_t)s->index % 4, rows);
}

/* ----------------------------------------------------------------- hash table */

static enum nnv_status hashtable_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t rows = nnv_dim(&nnv_in(c, KEYS)->shape, 0), n = nnv_dim(&nnv_in(c, LOOKUPS)->shape, 0);
    enum nnv_status st = nnv_extent_agree(c, VALUES, 0, &rows, err);
    if (st) return st;
    out[0] = shape_of(c);
    out[1] = nnv_shape_make(1, &n);
    return NNV_OK;
}

/* Binary search: keys ascend. */
static size_t find(const double *keys, size_t n, double key) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (keys[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && keys[lo] == key ? lo : NO_ROW;
}

/* A miss gives bytes of zero, whatever number they stand for. */
static void miss(struct nnv_kernel *k, size_t i) {
    const struct nnv_operand *v = nnv_in(k->call, VALUES)->operand;
    double zero = nnv_is_quant(v->type) ? -(double)v->zero_point * v->scale : 0;
    size_t n = nnv_lines_of(nnv_in_shape(k, VALUES), 0).inner;
    for (size_t e = 0; e < n; e++) k->out[0][i * n + e] = zero;
}

static enum nnv_status hashtable_eval(struct nnv_kernel *k, struct nnv_err *err) {
    const double *lookups = nnv_real(k, LOOKUPS), *keys = nnv_real(k, KEYS);
    size_t n = nnv_elems(k, KEYS);
    for (size_t i = 1; i < n && k->row == 0; i++)
        if (!(keys[i - 1] < keys[i]))
            return nnv_fail(err, NNV_INVALID, "keys must ascend: key %zu is %.0f, key %zu is %.0f", i - 1, keys[i - 1],
                            i, keys[i]);
    for (size_t i = 0; i < nnv_elems(k, LOOKUPS); i++) {
        size_t row = find(keys, n, lookups[i]);
        if (row == NO_ROW)
            miss(k, i);
        else
            copy_row(k, i, row);
        k->out[1][i] = row != NO_ROW;
    }
    return NNV_OK;
}

static const char *const hashtable_variants[] = {"mixed", "hits", "misses", NULL};

/* n keys that rise by small even gaps, between which misses have room. */
static void draw_near_keys(struct nnv_sample *s, uint32_t n, int32_t *keys) {
    for (uint32_t i = 0; i < n; i++)
        keys[i] = i ? keys[i - 1] + 2 * nnv_sample_int(s, 1, 3) : nnv_sample_int(s, -20, -10);
}

/* The same over half of all numbers, but the first or the last, far, which is at the other end: differences leave
 * INT32. */
static void draw_keys_apart(uint32_t far, uint32_t n, int32_t *keys) {
    const int32_t most = INT32_MAX - 1, gap = most / (int32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t near = far == 0 ? gap * (int32_t)i : -gap * (int32_t)(n - 1 - i);
        keys[i] = i != far ? near : far == 0 ? -most : most;
    }
}

/* Misses lie beside the keys. */
static void hashtable_row_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = table_shape(s, dims), n = nnv_row_extent(s, "lookups", 1);
    int32_t *keys = NNV_NEW(s->arena, int32_t, dims[0]), *lookups = NNV_NEW(s->arena, int32_t, n);
    const uint32_t last = dims[0] - 1, far = s->index % 2 ? last : 0;
    if (keys && nnv_sample_is(s, "apart"))
        draw_keys_apart(far, dims[0], keys);
    else if (keys)
        draw_near_keys(s, dims[0], keys);
    for (uint32_t i = 0; keys && lookups && i < n; i++) {
        const bool hit = nnv_sample_is(s, "hits") || (nnv_sample_is(s, "mixed") && i % 2 == 0);
        const uint32_t row = i ? (uint32_t)nnv_sample_int(s, 0, (int)last) : far;
        lookups[i] = keys[row] + (hit ? 0 : nnv_sample_int(s, 0, 1) * 2 - 1);
    }
    nnv_sample_tensor(s, VALUES, rank, dims);
    nnv_sample_tensor(s, LOOKUPS, 1, &n)->ints = lookups;
    nnv_sample_tensor(s, KEYS, 1, dims)->ints = keys;
}

static void hashtable_sample(struct nnv_sample *s) {
    if (s->row) {
        hashtable_row_sample(s);
        return;
    }
    enum { KEY_COUNT = 7, LOOKUP_COUNT = 6 };
    uint32_t rank = 2 + (uint32_t)s->index % 3, dims[4] = {KEY_COUNT};
    int32_t keys[KEY_COUNT], lookups[LOOKUP_COUNT];
    draw_near_keys(s, KEY_COUNT, keys);
    for (int i = 0; i < LOOKUP_COUNT; i++) {
        bool hit = nnv_sample_is(s, "hits") || (nnv_sample_is(s, "mixed") && i % 2 == 0);
        /* First and last key, others; misses lie between, before and behind them. */
        int key = i == 0 ? KEY_COUNT - 1 : i == 2 ? 0 : nnv_sample_int(s, 0, KEY_COUNT - 1);
        lookups[i] = keys[key] + (hit ? 0 : i == 3 ? -1 : 1);
    }
    nnv_sample_ints(s, LOOKUPS, LOOKUP_COUNT, lookups);
    nnv_sample_ints(s, KEYS, KEY_COUNT, keys);
    nnv_sample_dims(s, rank - 1, 40, dims + 1);
    nnv_sample_tensor(s, VALUES, rank, dims);
}

#define RECORD(NAME, KIND, FORMULA, BOUNDS)                                                                            \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 1,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(KIND##_inputs, KIND##_outputs),                                                                    \
        NNV_OP_SIGS(KIND##_sigs),                                                                                      \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .linear = true,                                                                                                \
        .moves = true,                                                                                                 \
        .bounds = BOUNDS,                                                                                              \
        NNV_OP_HOOKS(KIND##_),                                                                                         \
        NNV_OP_FACTORS(KIND##_factors),                                                                                \
    }

RECORD(EMBEDDING_LOOKUP, embedding, "y[i, ...] = values[lookups[i], ...]", true);
RECORD(HASHTABLE_LOOKUP, hashtable,
       "j = index of lookups[i] in keys: y[i, ...] = values[j, ...], hits[i] = 1; no such key: zero bytes, 0", false);
