/* SPDX-License-Identifier: Apache-2.0 */
/** @file unidirectional_sequence_rnn.c UNIDIRECTIONAL_SEQUENCE_RNN. */
#include "reference/ops/recurrent/rnn.h"

enum { X, WEIGHTS, RECURRENT, BIAS, STATE, ACT, TIME_MAJOR };
static const struct nnv_rnn_ids ids = {
    .weights = WEIGHTS, .recurrent = RECURRENT, .bias = BIAS, .state = STATE, .act = ACT};

static const struct nnv_slot inputs[] = {
    NNV_RNN_TENSOR(X, "input", 3, 0, 2),
    NNV_RNN_TENSOR(WEIGHTS, "weights", 2, NNV_PARAM, 0.75),
    NNV_RNN_TENSOR(RECURRENT, "recurrent weights", 2, NNV_PARAM, 0.5),
    NNV_RNN_TENSOR(BIAS, "bias", 1, NNV_PARAM, 1),
    NNV_RNN_TENSOR(STATE, "hidden state", 2, 0, 2),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
    NNV_SLOT_INT(TIME_MAJOR, "time major", NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "output", .var = NNV_T, .rank_min = 3, .rank_max = 3},
    {.id = 1, .name = "hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4},
};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16)};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (nnv_known(c, TIME_MAJOR) && (nnv_int(c, TIME_MAJOR) < 0 || nnv_int(c, TIME_MAJOR) > 1))
        return nnv_fail(err, NNV_INVALID, "time major is %d, expected 0 (batch-major) or 1", nnv_int(c, TIME_MAJOR));
    return nnv_activation_check(c, ACT, true, err);
}

static enum nnv_status extents(const struct nnv_call *c, struct nnv_sequence *s, struct nnv_rnn_extents *x,
                               struct nnv_err *err) {
    *s = nnv_sequence_of(c, TIME_MAJOR);
    *x = (struct nnv_rnn_extents){.input = NNV_DIM_UNKNOWN, .units = NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_sequence_agree(c, X, s, &x->input, err);
    x->batch = s->batch;
    if (!st) st = nnv_rnn_agree(c, &ids, x, err);
    s->batch = x->batch;
    return st;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_rnn_extents x;
    enum nnv_status st = extents(c, &s, &x, err);
    if (st) return st;
    out[0] = nnv_sequence_shape(&s, x.units);
    if (c->nout > 1) out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_rnn cell = nnv_rnn_of(k, &ids);
    struct nnv_rnn_extents x;
    struct nnv_steps steps = {.to = k->out[0], .row = cell.units};
    enum nnv_status st = extents(k->call, &steps.seq, &x, err);
    if (st) return st;
    steps.x = nnv_sequence_steps(k, X, &steps.seq, cell.input);
    if (!steps.x) return nnv_no_memory(err);
    return nnv_rnn_sequence(k, &cell, &steps, nnv_real(k, STATE), k->call->nout > 1 ? k->out[1] : NULL, err);
}

static const char *const variants[] = {"time",       "batch",         "time_state",  "batch_state", "time_tanh",
                                       "batch_tanh", "time_logistic", "batch_relu6", NULL};

static void sample(struct nnv_sample *s) {
    static const double codes[] = {1, 0, 1}; /* 2 is left out: AOSP aborts */
    struct nnv_sequence seq = {true, nnv_sample_is(s, "time"), nnv_sample_dim(s, 3, 7), nnv_sample_dim(s, 2, 3)};
    struct nnv_rnn_extents x = {.batch = seq.batch, .input = nnv_sample_dim(s, 3, 9), .units = nnv_sample_dim(s, 2, 6)};
    if (x.input == x.units) x.input++;
    double act = nnv_sample_is(s, "tanh")       ? 4
                 : nnv_sample_is(s, "logistic") ? 6
                 : nnv_sample_is(s, "relu6")    ? 3
                                                : codes[s->index % 3];
    nnv_sample_tensor(s, X, 3, nnv_sequence_shape(&seq, x.input).dims);
    nnv_rnn_sample(s, &ids, &x);
    nnv_sample_scalar(s, ACT, act);
    nnv_sample_scalar(s, TIME_MAJOR, seq.time_major);
    s->nout = nnv_sample_is(s, "state") || s->index % 2 == 1 ? 2 : 1;
}

const struct nnv_op nnv_op_UNIDIRECTIONAL_SEQUENCE_RNN = {
    NNV_OP_NAMED(UNIDIRECTIONAL_SEQUENCE_RNN),
    .level = 3,
    .formula = "y[t] = act(x[t] * weights^T + y[t-1] * recurrent^T + bias) for t = 0, 1, ..., from the state given; "
               "optionally the last state",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
