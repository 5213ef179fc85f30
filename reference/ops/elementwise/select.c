/* SPDX-License-Identifier: Apache-2.0 */
/** @file select.c SELECT. */
#include "reference/ops/elementwise/unary.h"

enum { CONDITION, A, B };

static const struct nnv_slot inputs[] = {
    {.id = CONDITION, .name = "condition", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_BOOL8, .rank_min = 1},
    {.id = A, .name = "a", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ANY},
    {.id = B, .name = "b", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ANY},
};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT16), NNV_SIG(3, FLOAT32), NNV_SIG(3, INT32),
                                      NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/* All three inputs have one shape. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    static const char *const names[] = {"condition", "a", "b"};
    struct nnv_shape s = {0};
    for (int id = CONDITION; id <= B; id++) {
        const struct nnv_shape *x = &nnv_in(c, id)->shape;
        if (!x->known_rank) continue;
        if (!s.known_rank) s = nnv_shape_of_rank(x->rank);
        if (s.rank != x->rank)
            return nnv_fail(err, NNV_INVALID, "%s has rank %u, but the inputs before it have rank %u", names[id],
                            x->rank, s.rank);
        for (uint32_t d = 0; d < s.rank; d++) {
            enum nnv_status st = nnv_extent_agree(c, id, d, &s.dims[d], err);
            if (st) return st;
        }
    }
    out[0] = s;
    return NNV_OK;
}

/* Exact, unless a chosen code has to be expressed in another scale. */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const double *condition = nnv_real(k, CONDITION), *a = nnv_real(k, A), *b = nnv_real(k, B);
    if (nnv_one_quant(k->call, A) && nnv_one_quant(k->call, B)) k->rounding = NNV_ROUND_NONE;
    for (size_t e = 0, n = nnv_elems(k, A); e < n; e++)
        k->out[0][e] = isnan(condition[e]) ? condition[e] : condition[e] != 0 ? a[e] : b[e];
    return NNV_OK;
}

static void sample(struct nnv_sample *s) {
    nnv_any_rank_sample(s);
    for (int id = A; id <= B; id++) nnv_sample_tensor(s, id, s->arg[CONDITION].rank, s->arg[CONDITION].dims);
    nnv_sample_one_quant(s, A, B);
}

const struct nnv_op nnv_op_SELECT = {
    NNV_OP_NAMED(SELECT),
    .level = 3,
    .formula = "y = condition ? a : b",
    NNV_OP_FORM(inputs, nnv_output),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .linear = true,
    .pairs = true,
    .infer = infer,
    NNV_EVAL(eval),
    NNV_ANY_RANK_DRAWN,
    NNV_SAMPLE(sample),
};
