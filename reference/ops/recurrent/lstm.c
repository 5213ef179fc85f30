/* SPDX-License-Identifier: Apache-2.0 */
/** @file lstm.c LSTM. */
#include "reference/ops/recurrent/lstm.h"

#include <string.h>

enum {
    X = 0,
    CELL = 1,
    STATE = 18,
    CELL_STATE = 19,
    ACT = 20,
    CELL_CLIP = 21,
    PROJECTION_CLIP = 22,
    NORM = 23,
};
static const struct nnv_lstm_ids ids = {.first = CELL,
                                        .state = STATE,
                                        .cell_state = CELL_STATE,
                                        .norm = NORM,
                                        .act = ACT,
                                        .cell_clip = CELL_CLIP,
                                        .projection_clip = PROJECTION_CLIP};

static const struct nnv_slot inputs[] = {
    NNV_LSTM_TENSOR(X, "input", 2, 0, 2),
    NNV_LSTM_SLOTS(CELL, ""),
    NNV_LSTM_TENSOR(STATE, "output state", 2, 0, 1),
    NNV_LSTM_TENSOR(CELL_STATE, "cell state", 2, 0, 2),
    NNV_SLOT_INT(ACT, "activation", NNV_ANY),
    NNV_LSTM_CLIP_SLOT(CELL_CLIP, "cell clip"),
    NNV_LSTM_CLIP_SLOT(PROJECTION_CLIP, "projection clip"),
    NNV_LSTM_NORM_SLOTS(NORM, "", 1, 3),
};

#define OUTPUT(ID, NAME, FLAGS)                                                                                        \
    { .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = 2, .rank_max = 2 }
static const struct nnv_slot outputs[] = {
    OUTPUT(0, "scratch", NNV_IGNORED),
    OUTPUT(1, "output state", 0),
    OUTPUT(2, "cell state", 0),
    OUTPUT(3, "output", 0),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(1, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = nnv_lstm_check(c, &ids, err);
    return st ? st : nnv_activation_check(c, ACT, false, err);
}

/* The scratch buffer has a row of each gate that the cell computes. */
static enum nnv_status scratch_extent(const struct nnv_call *c, uint32_t units, uint32_t *extent, struct nnv_err *err) {
    enum nnv_presence input_gate = nnv_presence(c, CELL + NNV_LSTM_WEIGHTS);
    *extent = NNV_DIM_UNKNOWN;
    if (units == NNV_DIM_UNKNOWN || input_gate == NNV_MAYBE) return NNV_OK;
    if (units > NNV_DIM_MAX / NNV_GATES) return nnv_fail(err, NNV_INVALID, "%u units are too many", units);
    *extent = units * (input_gate == NNV_ABSENT ? NNV_GATES - 1 : NNV_GATES);
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_lstm_extents x = {.batch = nnv_dim(&c->in[X].shape, 0),
                                 .input = nnv_dim(&c->in[X].shape, 1),
                                 .units = NNV_DIM_UNKNOWN,
                                 .output = NNV_DIM_UNKNOWN};
    uint32_t scratch;
    enum nnv_status st = nnv_lstm_agree(c, &ids, &x, err);
    if (!st) st = scratch_extent(c, x.units, &scratch, err);
    if (st) return st;
    out[0] = nnv_shape_make(2, (uint32_t[]){x.batch, scratch});
    out[1] = out[3] = nnv_shape_make(2, (uint32_t[]){x.batch, x.output});
    out[2] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lstm l = nnv_lstm_of(k, &ids);
    struct nnv_lstm_step s = {
        .x = nnv_real(k, X),
        .h = nnv_real(k, STATE),
        .c = nnv_real(k, CELL_STATE),
        .gate_stride = nnv_out_shape(k, 0)->dims[1],
        .h_out = k->out[1],
        .c_out = k->out[2],
    };
    /* The scratch buffer holds the gates: input, cell, forget, output. */
    static const int order[] = {NNV_GATE_INPUT, NNV_GATE_CELL, NNV_GATE_FORGET, NNV_GATE_OUTPUT};
    double *at = k->out[0];
    for (int i = l.weights[NNV_GATE_INPUT] ? 0 : 1; i < NNV_GATES; i++, at += l.units) s.gates[order[i]] = at;
    enum nnv_status st = nnv_lstm_step(k, &l, &s, err);
    if (st) return st;
    memcpy(k->out[3], k->out[1], l.batch * l.output * sizeof *k->out[3]);
    return NNV_OK;
}

/* Every subset of the optional parts. */
#define NORMS(X) X, X "_norm"
#define PEEPHOLES(X) NORMS(X), NORMS(X "_peephole")
#define INPUT_GATES(X) PEEPHOLES(X), PEEPHOLES(X "_cifg")
static const char *const variants[] = {INPUT_GATES("plain"), INPUT_GATES("projection"), INPUT_GATES("projection_bias"),
                                       NULL};

static void sample(struct nnv_sample *s) {
    struct nnv_lstm_parts parts = nnv_lstm_parts_of(s);
    struct nnv_lstm_extents x = nnv_lstm_sample_extents(s, parts.projection);
    nnv_sample_tensor(s, X, 2, (uint32_t[]){x.batch, x.input});
    nnv_lstm_sample(s, &ids, &parts, &x);
    nnv_lstm_sample_scalars(s, &ids);
}

const struct nnv_op nnv_op_LSTM = {
    NNV_OP_NAMED(LSTM),
    .level = 1,
    .formula = "f, i, o = logistic(z_f), logistic(z_i) or 1 - f, logistic(z_o); c' = clip(f c + i act(z_g)); "
               "y = o act(c'), or clip(projection of it); z_k = x W_k^T + h R_k^T + P_k c + b_k, or normalised",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_LINEAR,
    .check = check,
    .infer = infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
