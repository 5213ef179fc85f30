/* SPDX-License-Identifier: Apache-2.0 */
/** @file rnn.c RNN. */
#include "reference/ops/rnn.h"

#include <string.h>

enum { X, WEIGHTS, RECURRENT, BIAS, STATE, ACT };

#define TENSOR(ID, NAME, RANK, FLAGS, LIMIT)                                                                           \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = RANK, .rank_max = RANK, .lo = -(LIMIT),      \
        .hi = LIMIT                                                                                                    \
    }

static const struct nnv_slot inputs[] = {
    TENSOR(X, "input", 2, 0, 4),
    TENSOR(WEIGHTS, "weights", 2, NNV_PARAM, 1),
    TENSOR(RECURRENT, "recurrent weights", 2, NNV_PARAM, 1),
    TENSOR(BIAS, "bias", 1, NNV_PARAM, 1),
    TENSOR(STATE, "hidden state", 2, 0, 2),
    {.id = ACT, .name = "activation", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR},
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    {.id = 1, .name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 2},
};
static const struct nnv_form forms[] = {{"", inputs, sizeof inputs / sizeof *inputs, outputs, 2}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16}},
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    return nnv_activation_check(c, ACT, true, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t batch = NNV_DIM_UNKNOWN, in = NNV_DIM_UNKNOWN, units = NNV_DIM_UNKNOWN;
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, X, 0, &batch, err)) || (st = nnv_extent_agree(c, X, 1, &in, err)) ||
        (st = nnv_extent_agree(c, WEIGHTS, 0, &units, err)) || (st = nnv_extent_agree(c, WEIGHTS, 1, &in, err)) ||
        (st = nnv_extent_agree(c, RECURRENT, 0, &units, err)) ||
        (st = nnv_extent_agree(c, RECURRENT, 1, &units, err)) || (st = nnv_extent_agree(c, BIAS, 0, &units, err)) ||
        (st = nnv_extent_agree(c, STATE, 0, &batch, err)) || (st = nnv_extent_agree(c, STATE, 1, &units, err)))
        return st;
    out[0] = out[1] = nnv_shape_make(2, (uint32_t[]){batch, units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_shape *x = nnv_in_shape(k, X);
    struct nnv_rnn cell = {
        .batch = x->dims[0],
        .input = x->dims[1],
        .units = nnv_out_shape(k, 0)->dims[1],
        .weights = nnv_real(k, WEIGHTS),
        .recurrent = nnv_real(k, RECURRENT),
        .bias = nnv_real(k, BIAS),
        .activation = nnv_int(k->call, ACT),
    };
    nnv_rnn_step(k, &cell, nnv_real(k, X), NULL, nnv_real(k, STATE), k->out[0]);
    memcpy(k->out[1], k->out[0], cell.batch * cell.units * sizeof *k->out[1]);
    return NNV_OK;
}

static const char *const variants[] = {"linear", "relu", "relu6", NULL};

static void sample(struct nnv_sample *s) {
    static const double codes[] = {0, 1, 3};
    uint32_t batch = nnv_sample_dim(s, 2, 4), in = nnv_sample_dim(s, 3, 17), units = nnv_sample_dim(s, 2, 9);
    if (in == units) in++;
    nnv_sample_tensor(s, X, 2, (uint32_t[]){batch, in});
    nnv_sample_tensor(s, WEIGHTS, 2, (uint32_t[]){units, in});
    nnv_sample_tensor(s, RECURRENT, 2, (uint32_t[]){units, units});
    nnv_sample_tensor(s, BIAS, 1, &units);
    nnv_sample_tensor(s, STATE, 2, (uint32_t[]){batch, units});
    nnv_sample_scalar(s, ACT, codes[s->variant]);
}

const struct nnv_op nnv_op_RNN = {
    .code = ANEURALNETWORKS_RNN,
    .name = "RNN",
    .level = 1,
    .formula = "y = state' = act(x * weights^T + state * recurrent^T + bias)",
    .forms = forms,
    .nforms = 1,
    .sigs = sigs,
    .nsigs = sizeof sigs / sizeof *sigs,
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
