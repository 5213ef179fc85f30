/* SPDX-License-Identifier: Apache-2.0 */
/** @file hashtable_lookup.c HASHTABLE_LOOKUP. */
#include "reference/ops/lookup/lookup.h"

enum { LOOKUPS, KEYS, VALUES };

static const struct nnv_slot inputs[] = {
    {.id = LOOKUPS,
     .name = "lookups",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_INT32,
     .rank_min = 1,
     .rank_max = 1},
    {.id = KEYS, .name = "keys", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .rank_min = 1, .rank_max = 1},
    {.id = VALUES, .name = "values", .var = NNV_T, .rank_min = 2},
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "output", .var = NNV_T, .rank_min = 2, .quant = NNV_Q_SAME_2},
    {.id = 1,
     .name = "hits",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
     .rank_min = 1,
     .rank_max = 1,
     .quant = NNV_Q_ONE},
};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, INT32), NNV_SIG(1, QUANT8_ASYMM)};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t rows = nnv_dim(&nnv_in(c, KEYS)->shape, 0), n = nnv_dim(&nnv_in(c, LOOKUPS)->shape, 0);
    enum nnv_status st = nnv_extent_agree(c, VALUES, 0, &rows, err);
    if (st) return st;
    out[0] = nnv_lookup_shape(c, LOOKUPS, VALUES);
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
    return lo < n && keys[lo] == key ? lo : NNV_NO_ROW;
}

/* A miss gives bytes of zero, whatever number they stand for. */
static void miss(struct nnv_kernel *k, size_t i) {
    const struct nnv_operand *v = nnv_in(k->call, VALUES)->operand;
    double zero = nnv_is_quant(v->type) ? -(double)v->zero_point * v->scale : 0;
    size_t n = nnv_lines_of(nnv_in_shape(k, VALUES), 0).inner;
    for (size_t e = 0; e < n; e++) k->out[0][i * n + e] = zero;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const double *lookups = nnv_real(k, LOOKUPS), *keys = nnv_real(k, KEYS);
    size_t n = nnv_elems(k, KEYS);
    for (size_t i = 1; i < n && k->row == 0; i++)
        if (!(keys[i - 1] < keys[i]))
            return nnv_fail(err, NNV_INVALID, "keys must ascend: key %zu is %.0f, key %zu is %.0f", i - 1, keys[i - 1],
                            i, keys[i]);
    for (size_t i = 0; i < nnv_elems(k, LOOKUPS); i++) {
        size_t row = find(keys, n, lookups[i]);
        if (row == NNV_NO_ROW)
            miss(k, i);
        else
            nnv_lookup_row(k, VALUES, i, row);
        k->out[1][i] = row != NNV_NO_ROW;
    }
    return NNV_OK;
}

static const char *const variants[] = {"mixed", "hits", "misses", NULL};

static void sample(struct nnv_sample *s) {
    enum { KEY_COUNT = 7, LOOKUP_COUNT = 6 };
    uint32_t rank = 2 + (uint32_t)s->index % 3, dims[4] = {KEY_COUNT};
    int32_t keys[KEY_COUNT], lookups[LOOKUP_COUNT];
    keys[0] = nnv_sample_int(s, -20, -10);
    for (int i = 1; i < KEY_COUNT; i++) keys[i] = keys[i - 1] + 2 * nnv_sample_int(s, 1, 3); /* even gaps */
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

const struct nnv_op nnv_op_HASHTABLE_LOOKUP = {
    NNV_OP_NAMED(HASHTABLE_LOOKUP),
    .level = 1,
    .formula = "j = index of lookups[i] in keys: y[i, ...] = values[j, ...], hits[i] = 1; no such key: zero bytes, 0",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
