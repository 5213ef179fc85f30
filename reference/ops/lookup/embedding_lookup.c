/* SPDX-License-Identifier: Apache-2.0 */
/** @file embedding_lookup.c EMBEDDING_LOOKUP. */
#include "reference/ops/lookup/lookup.h"

enum { LOOKUPS, VALUES };

static const struct nnv_slot inputs[] = {
    {.id = LOOKUPS,
     .name = "lookups",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_INT32,
     .rank_min = 1,
     .rank_max = 1},
    {.id = VALUES, .name = "values", .var = NNV_T, .rank_min = 2},
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 2, .quant = NNV_Q_SAME_1}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, INT32), NNV_SIG(3, QUANT8_ASYMM),
                                      NNV_SIG(4, FLOAT16), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    out[0] = nnv_lookup_shape(c, LOOKUPS, VALUES);
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const double *lookups = nnv_real(k, LOOKUPS);
    uint32_t rows = nnv_in_shape(k, VALUES)->dims[0];
    for (size_t i = 0; i < nnv_elems(k, LOOKUPS); i++) {
        bool in_range = lookups[i] >= 0 && lookups[i] < rows;
        if (!in_range && k->row == 0)
            return nnv_fail(err, NNV_INVALID, "lookup %zu: row %.0f is not one of the %u rows of values", i, lookups[i],
                            rows);
        nnv_lookup_row(k, VALUES, i, in_range ? (size_t)lookups[i] : NNV_NO_ROW);
    }
    return NNV_OK;
}

static const char *const variants[] = {"rank2", "rank3", "rank4", NULL};

static void sample(struct nnv_sample *s) {
    uint32_t rank = (uint32_t)s->variant + 2, dims[4] = {nnv_sample_dim(s, 5, 9)};
    nnv_sample_dims(s, rank - 1, 60, dims + 1);
    nnv_sample_tensor(s, VALUES, rank, dims);
    /* The first and the last row, a row twice, and others. */
    int32_t last = (int32_t)dims[0] - 1, any = nnv_sample_int(s, 1, last - 1);
    int32_t rows[] = {any, last, 0, any, nnv_sample_int(s, 0, last), nnv_sample_int(s, 0, last), last - 1};
    nnv_sample_ints(s, LOOKUPS, 4 + (uint32_t)s->index % 4, rows);
}

const struct nnv_op nnv_op_EMBEDDING_LOOKUP = {
    NNV_OP_NAMED(EMBEDDING_LOOKUP),
    .level = 1,
    .formula = "y[i, ...] = values[lookups[i], ...]",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .linear = true,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
