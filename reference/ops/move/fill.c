/* SPDX-License-Identifier: Apache-2.0 */
/** @file fill.c FILL. */
#include <string.h>

#include "reference/ops/common.h"

enum { DIMS, VALUE };

static const struct nnv_slot inputs[] = {
    NNV_SLOT_INTS(DIMS, "dimensions"),
    NNV_SLOT_NUMBER(VALUE, "value", NNV_ANY),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(4, FLOAT16, FLOAT16),
    NNV_SIG_SCALAR(4, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(4, INT32, INT32),
};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, DIMS);
    uint32_t rank = nnv_dim(&a->shape, 0);
    out[0] = (struct nnv_shape){0};
    if (rank == NNV_DIM_UNKNOWN) return NNV_OK;
    if (rank > NNV_MAX_RANK)
        return nnv_fail(err, NNV_INVALID, "%u dimensions are too many; at most %d", rank, NNV_MAX_RANK);
    struct nnv_shape s = nnv_shape_of_rank(rank);
    for (uint32_t i = 0; a->data && i < rank; i++) {
        int32_t d;
        memcpy(&d, (const char *)a->data + i * sizeof d, sizeof d);
        if (d < 0) return nnv_fail(err, NNV_INVALID, "dimension %u is %d, which is negative", i, d);
        s.dims[i] = (uint32_t)d;
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    double value = nnv_num(k->call, VALUE);
    for (size_t e = 0, n = nnv_shape_elems(nnv_out_shape(k, 0)); e < n; e++) k->out[0][e] = value;
    return NNV_OK;
}

static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_FACTORS};

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", NULL};

static void sample(struct nnv_sample *s) {
    static const double values[] = {-2.5, 1000, 0.0625, -7, 2040}; /* exact in float16 */
    uint32_t rank = (uint32_t)s->variant + 1, dims[NNV_MAX_RANK];
    int32_t ints[NNV_MAX_RANK];
    double value = values[s->index % 5];
    if (s->row)
        rank = nnv_sample_shape(s, dims);
    else
        nnv_sample_dims(s, rank, 300, dims);
    for (uint32_t i = 0; i < rank; i++) ints[i] = (int32_t)dims[i];
    nnv_sample_ints(s, DIMS, rank, ints);
    nnv_sample_scalar(s, VALUE, s->sig->type[NNV_S] == ANEURALNETWORKS_INT32 ? floor(value * 100003) : value);
}

const struct nnv_op nnv_op_FILL = {
    NNV_OP_NAMED(FILL),
    .level = 4,
    .formula = "y = value everywhere, in the given shape",
    NNV_OP_FORM(inputs, nnv_output),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
