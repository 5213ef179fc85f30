/* SPDX-License-Identifier: Apache-2.0 */
/** @file rnn.c RNN. */
#include "reference/ops/recurrent/rnn.h"

#include <string.h>

enum { X, WEIGHTS, RECURRENT, BIAS, STATE, ACT };
static const struct nnv_rnn_ids ids = {
    .weights = WEIGHTS, .recurrent = RECURRENT, .bias = BIAS, .state = STATE, .act = ACT};

static const struct nnv_slot inputs[] = {
    NNV_RNN_TENSOR(X, "input", 2, 0, 4),
    NNV_RNN_TENSOR(WEIGHTS, "weights", 2, NNV_PARAM, 1),
    NNV_RNN_TENSOR(RECURRENT, "recurrent weights", 2, NNV_PARAM, 1),
    NNV_RNN_TENSOR(BIAS, "bias", 1, NNV_PARAM, 1),
    NNV_RNN_TENSOR(STATE, "hidden state", 2, 0, 2),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    {.id = 1, .name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 2},
};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16)};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    return nnv_activation_check(c, ACT, true, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_rnn_extents x = {
        .batch = nnv_dim(&c->in[X].shape, 0), .input = nnv_dim(&c->in[X].shape, 1), .units = NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_rnn_agree(c, &ids, &x, err);
    if (st) return st;
    out[0] = out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_rnn cell = nnv_rnn_of(k, &ids);
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
    nnv_rnn_sample(s, &ids, &(struct nnv_rnn_extents){.batch = batch, .input = in, .units = units});
    nnv_sample_scalar(s, ACT, codes[s->variant]);
}

const struct nnv_op nnv_op_RNN = {
    NNV_OP_NAMED(RNN),
    .level = 1,
    .formula = "y = state' = act(x * weights^T + state * recurrent^T + bias)",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
