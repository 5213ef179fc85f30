/* SPDX-License-Identifier: Apache-2.0 */
/** @file lsh_projection.c LSH_PROJECTION. */
#include "reference/ops/common.h"
#include "reference/ops/lookup/farmhash.h"

#include <string.h>

enum { HASH, INPUT, WEIGHT, TYPE };
enum { SPARSE_DEPRECATED = 1, DENSE = 2, SPARSE = 3 };
enum { MOST_BITS = 32 }; /* of one hash: its bits make an int32 */

static const struct nnv_slot inputs[] = {
    {.id = HASH, .name = "hash", .var = NNV_T, .flags = NNV_PARAM, .rank_min = 2, .rank_max = 2},
    {.id = INPUT, .name = "input", .var = NNV_V, .rank_min = 1},
    {.id = WEIGHT,
     .name = "weight",
     .var = NNV_T,
     .flags = NNV_PARAM | NNV_OMITTABLE,
     .rank_min = 1,
     .rank_max = 1,
     .lo = -1,
     .hi = 1},
    NNV_SLOT_INT(TYPE, "type", NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .rank_min = 1, .rank_max = 1}};

#define SIG(LEVEL, SEED, DATA)                                                                                         \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##SEED, [NNV_V] = ANEURALNETWORKS_TENSOR_##DATA }                    \
    }
static const struct nnv_sig sigs[] = {
    SIG(1, FLOAT32, FLOAT32), SIG(1, FLOAT32, INT32),   SIG(1, FLOAT32, QUANT8_ASYMM), SIG(3, FLOAT32, FLOAT16),
    SIG(3, FLOAT16, FLOAT16), SIG(3, FLOAT16, FLOAT32), SIG(3, FLOAT16, INT32),        SIG(3, FLOAT16, QUANT8_ASYMM),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (!nnv_known(c, TYPE)) return NNV_OK;
    int32_t type = nnv_int(c, TYPE);
    enum nnv_presence weight = nnv_presence(c, WEIGHT);
    if (type < SPARSE_DEPRECATED || type > SPARSE)
        return nnv_fail(err, NNV_INVALID, "type %d is none of 1 (SPARSE_DEPRECATED), 2 (DENSE), 3 (SPARSE)", type);
    if (type == DENSE && weight == NNV_ABSENT) return nnv_fail(err, NNV_INVALID, "a DENSE projection needs weights");
    if (type != DENSE && weight == NNV_PRESENT)
        return nnv_fail(err, NNV_INVALID, "a SPARSE projection takes no weights; omit them");
    return NNV_OK;
}

static int level_of(const struct nnv_call *c) { return nnv_known(c, TYPE) && nnv_int(c, TYPE) == SPARSE ? 3 : 1; }

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *hash = &nnv_in(c, HASH)->shape;
    uint32_t rows = nnv_dim(&nnv_in(c, INPUT)->shape, 0), hashes = nnv_dim(hash, 0), bits = nnv_dim(hash, 1);
    enum nnv_status st = nnv_extent_agree(c, WEIGHT, 0, &rows, err);
    if (st) return st;
    if (bits != NNV_DIM_UNKNOWN && bits > MOST_BITS)
        return nnv_fail(err, NNV_INVALID, "%u bits are more than the %d that a hash may have", bits, MOST_BITS);
    struct nnv_shape s = nnv_shape_of_rank(1);
    if (nnv_known(c, TYPE) && nnv_int(c, TYPE) != DENSE) s.dims[0] = hashes;
    if (nnv_known(c, TYPE) && nnv_int(c, TYPE) == DENSE && hashes != NNV_DIM_UNKNOWN && bits != NNV_DIM_UNKNOWN) {
        if (hashes > (NNV_DIM_UNKNOWN - 1) / MOST_BITS)
            return nnv_fail(err, NNV_INVALID, "%u hashes of %u bits are too many", hashes, bits);
        s.dims[0] = hashes * bits;
    }
    out[0] = s;
    return NNV_OK;
}

/* The keys: for each row of the input four bytes for the seed, then the row as it is stored. */
struct keys {
    unsigned char *bytes;
    size_t rows, size;    /* bytes of one */
    const double *weight; /* NULL: 1 each */
    bool uncertain;       /* the input differs between rows of the evaluation, and with it all hashes */
};

static enum nnv_status make_keys(struct nnv_kernel *k, struct keys *keys, struct nnv_err *err) {
    const struct nnv_operand *o = nnv_in(k->call, INPUT)->operand;
    size_t n = nnv_elems(k, INPUT), width = nnv_type(o->type)->size;
    *keys = (struct keys){.rows = nnv_in_shape(k, INPUT)->dims[0], .weight = nnv_real(k, WEIGHT)};
    size_t row = n / keys->rows;
    keys->size = 4 + row * width;
    keys->bytes = NNV_NEW(k->scratch, unsigned char, keys->rows * keys->size);
    double *stored = nnv_arena_copy(k->scratch, nnv_units(k, INPUT), n * sizeof *stored);
    if (!keys->bytes || !stored) return nnv_no_memory(err);
    for (size_t e = 0; e < n; e++) {
        if (nnv_is_quant(o->type)) stored[e] += o->zero_point;
        keys->uncertain = keys->uncertain || !(nnv_spread(k, INPUT, e) == 0);
    }
    for (size_t r = 0; r < keys->rows; r++) nnv_store(o->type, stored + r * row, row, keys->bytes + r * keys->size + 4);
    return NNV_OK;
}

/* One bit: the sign of the weighted sum of the rows' hashes as signed numbers. */
static bool hash_bit(struct nnv_kernel *k, const struct keys *keys, double seed) {
    double score = 0, sum_abs = 0;
    for (size_t r = 0; r < keys->rows; r++) {
        unsigned char *key = keys->bytes + r * keys->size;
        nnv_store(ANEURALNETWORKS_TENSOR_FLOAT32, &seed, 1, key);
        double v = (double)(int64_t)nnv_farmhash64(key, keys->size);
        if (keys->weight) v *= keys->weight[r];
        score += v;
        sum_abs += fabs(v);
    }
    return nnv_noise_branch(k, score, 0x1p-24 * (double)keys->rows * sum_abs); /* summed in float32 or better */
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct keys keys;
    enum nnv_status st = make_keys(k, &keys, err);
    if (st) return st;
    const struct nnv_shape *s = nnv_in_shape(k, HASH);
    const double *seeds = nnv_real(k, HASH);
    int32_t type = nnv_int(k->call, TYPE);
    for (uint32_t h = 0; h < s->dims[0]; h++) {
        uint32_t signature = 0;
        bool any = keys.uncertain; /* of the signature's bits */
        for (uint32_t b = 0; b < s->dims[1]; b++) {
            size_t e = (size_t)h * s->dims[1] + b;
            bool bit = hash_bit(k, &keys, seeds[e]), uncertain = keys.uncertain || !(nnv_spread(k, HASH, e) == 0);
            signature = signature << 1 | bit;
            any = any || uncertain;
            if (type == DENSE) k->out[0][e] = nnv_hazard(k, bit, uncertain);
        }
        if (type == SPARSE) signature += (uint32_t)((uint64_t)h << s->dims[1]);
        if (type != DENSE) k->out[0][h] = nnv_hazard(k, (double)(int32_t)signature, any);
    }
    return NNV_OK;
}

static const struct nnv_factor factors[] = {
    {.name = "functions", NNV_VALUES(4, 1, 8), NNV_SIZES(16, 17, 64)},
    {.name = "bits", NNV_VALUES(8, 1, 3, 16)},
    {.name = "rows", NNV_VALUES(4, 1, 17), NNV_SIZES(33, 65, 129)},
    {.name = "width", NNV_VALUES(2, 1, 5, 13, 30), NNV_SIZES(3, 6, 7, 12, 14, 15, 28, 29, 60, 64, 65, 257)},
    {.name = "kind", NNV_WORDS("dense", "sparse", "deprecated")}};
static const char *const variants[] = {"dense", "sparse", "sparse_deprecated", NULL};

static void sample(struct nnv_sample *s) {
    /* Row lengths such that the keys, which are 4 bytes longer, go through every length class of the hash, to its end.
     */
    static const uint32_t lengths[] = {2, 5, 1, 13, 30, 3, 6, 12};
    bool dense = nnv_sample_is(s, "dense");
    uint32_t rows = nnv_row_extent(s, "rows", nnv_sample_dim(s, 2, 7));
    uint32_t functions = nnv_row_extent(s, "functions", nnv_sample_dim(s, 3, 9));
    uint32_t bits = nnv_row_extent(s, "bits", nnv_sample_dim(s, 2, 9));
    nnv_sample_tensor(s, HASH, 2, (uint32_t[]){functions, bits});
    nnv_sample_tensor(s, INPUT, 2, (uint32_t[]){rows, nnv_row_extent(s, "width", lengths[s->index % 8])});
    if (dense) nnv_sample_tensor(s, WEIGHT, 1, &rows);
    nnv_sample_scalar(s, TYPE, dense ? DENSE : nnv_sample_is(s, "deprecated") ? SPARSE_DEPRECATED : SPARSE);
}

const struct nnv_op nnv_op_LSH_PROJECTION = {
    NNV_OP_NAMED(LSH_PROJECTION),
    .level = 1,
    .formula = "bit[h,b] = 0 < sum over rows r of weight[r] * int64(Fingerprint64(hash[h,b], input[r, ...])); "
               "DENSE: the bits; SPARSE: the bits of h as a number, first bit highest, plus h << bits",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .check = check,
    .level_of = level_of,
    .infer = infer,
    .raw = true,
    NNV_EVAL(eval),
    .variants = variants,
    NNV_OP_FACTORS(factors),
    NNV_SAMPLE(sample),
};
