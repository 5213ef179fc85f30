/* SPDX-License-Identifier: Apache-2.0 */
/** @file unidirectional_sequence_lstm.c UNIDIRECTIONAL_SEQUENCE_LSTM. */
#include "reference/ops/recurrent/lstm.h"

enum {
    X = 0,
    CELL = 1,
    STATE = 18,
    CELL_STATE = 19,
    ACT = 20,
    CELL_CLIP = 21,
    PROJECTION_CLIP = 22,
    TIME_MAJOR = 23,
    NORM = 24,
};
static const struct nnv_lstm_ids ids = {.first = CELL,
                                        .state = STATE,
                                        .cell_state = CELL_STATE,
                                        .norm = NORM,
                                        .act = ACT,
                                        .cell_clip = CELL_CLIP,
                                        .projection_clip = PROJECTION_CLIP};

static const struct nnv_slot inputs[] = {
    NNV_LSTM_TENSOR(X, "input", 3, 0, 2),
    NNV_LSTM_SLOTS(CELL, ""),
    NNV_LSTM_TENSOR(STATE, "output state", 2, 0, 1),
    NNV_LSTM_TENSOR(CELL_STATE, "cell state", 2, 0, 2),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
    NNV_LSTM_CLIP_SLOT(CELL_CLIP, "cell clip"),
    NNV_LSTM_CLIP_SLOT(PROJECTION_CLIP, "projection clip"),
    NNV_SLOT_BOOL(TIME_MAJOR, "time major"),
    NNV_LSTM_NORM_SLOTS(NORM, "", 0, 0),
};
static const struct nnv_slot outputs[] = {
    {.id = 0, .name = "output", .var = NNV_T, .rank_min = 3, .rank_max = 3},
    {.id = 1, .name = "output state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4},
    {.id = 2, .name = "cell state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4},
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = nnv_lstm_check(c, &ids, err);
    return st ? st : nnv_activation_check(c, ACT, false, err);
}

static enum nnv_status extents(const struct nnv_call *c, struct nnv_sequence *s, struct nnv_lstm_extents *x,
                               struct nnv_err *err) {
    *s = nnv_sequence_of(c, TIME_MAJOR);
    *x = (struct nnv_lstm_extents){NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN, 0, NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_sequence_agree(c, X, s, &x->input, err);
    x->batch = s->batch;
    if (!st) st = nnv_lstm_agree(c, &ids, x, err);
    s->batch = x->batch;
    return st;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_lstm_extents x;
    enum nnv_status st = extents(c, &s, &x, err);
    if (st) return st;
    out[0] = nnv_sequence_shape(&s, x.output);
    if (c->nout == 1) return NNV_OK;
    out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.output});
    out[2] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lstm l = nnv_lstm_of(k, &ids);
    struct nnv_lstm_extents x;
    struct nnv_steps steps = {.to = k->out[0], .row = l.output};
    enum nnv_status st = extents(k->call, &steps.seq, &x, err);
    if (st) return st;
    bool states = k->call->nout > 1;
    steps.x = nnv_sequence_steps(k, X, &steps.seq, l.input);
    if (!steps.x) return nnv_no_memory(err);
    return nnv_lstm_sequence(k, &l, &steps, nnv_real(k, STATE), nnv_real(k, CELL_STATE), states ? k->out[1] : NULL,
                             states ? k->out[2] : NULL, err);
}

/* Every subset of the optional parts; order and state outputs walk with the index. */
#define NORMS(X) X, X "_norm"
#define PEEPHOLES(X) NORMS(X), NORMS(X "_peephole")
#define INPUT_GATES(X) PEEPHOLES(X), PEEPHOLES(X "_cifg")
static const char *const variants[] = {INPUT_GATES("plain"), INPUT_GATES("projection"), INPUT_GATES("projection_bias"),
                                       NULL};

static void sample(struct nnv_sample *s) {
    struct nnv_lstm_parts parts = nnv_lstm_parts_of(s);
    struct nnv_lstm_extents x = nnv_lstm_sample_extents(s, parts.projection);
    struct nnv_sequence seq = {true, (s->index + s->variant) % 2 == 0, nnv_sample_dim(s, 3, 6), x.batch};
    nnv_sample_tensor(s, X, 3, nnv_sequence_shape(&seq, x.input).dims);
    nnv_lstm_sample(s, &ids, &parts, &x);
    nnv_lstm_sample_scalars(s, &ids);
    nnv_sample_scalar(s, TIME_MAJOR, seq.time_major);
    s->nout = (s->index + s->variant / 2) % 3 == 0 ? 1 : 3;
}

const struct nnv_op nnv_op_UNIDIRECTIONAL_SEQUENCE_LSTM = {
    NNV_OP_NAMED(UNIDIRECTIONAL_SEQUENCE_LSTM),
    .level = 3,
    .formula = "y[t], c[t] = LSTM(x[t], y[t-1], c[t-1]) for t = 0, 1, ..., from the states given; optionally the last "
               "states",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
