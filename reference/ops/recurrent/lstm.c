/* SPDX-License-Identifier: Apache-2.0 */
/** @file lstm.c LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM. */
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
    TIME_MAJOR = 23, /* of a sequence */
    SEQUENCE_NORM = 24,
};
#define IDS(NORM_WEIGHTS)                                                                                              \
    {                                                                                                                  \
        .first = CELL, .state = STATE, .cell_state = CELL_STATE, .norm = NORM_WEIGHTS, .act = ACT,                     \
        .cell_clip = CELL_CLIP, .projection_clip = PROJECTION_CLIP                                                     \
    }
static const struct nnv_lstm_ids step_ids = IDS(NORM), sequence_ids = IDS(SEQUENCE_NORM);

#define INPUTS(RANK)                                                                                                   \
    NNV_CELL_TENSOR(X, "input", RANK, 0, 2), NNV_LSTM_SLOTS(CELL, ""),                                                 \
        NNV_CELL_TENSOR(STATE, "output state", 2, 0, 1), NNV_CELL_TENSOR(CELL_STATE, "cell state", 2, 0, 2),           \
        NNV_SLOT_INT(ACT, "activation", NNV_ANY), NNV_SLOT_NUMBER(CELL_CLIP, "cell clip", NNV_NOT_NEGATIVE),           \
        NNV_SLOT_NUMBER(PROJECTION_CLIP, "projection clip", NNV_NOT_NEGATIVE)
static const struct nnv_slot step_inputs[] = {INPUTS(2), NNV_LSTM_NORM_SLOTS(NORM, "", 1, 3)};
static const struct nnv_slot sequence_inputs[] = {INPUTS(3), NNV_SLOT_BOOL(TIME_MAJOR, "time major"),
                                                  NNV_LSTM_NORM_SLOTS(SEQUENCE_NORM, "", 0, 0)};

#define OUTPUT(ID, NAME, RANK, ...)                                                                                    \
    { .id = ID, .name = NAME, .var = NNV_T, .rank_min = RANK, .rank_max = RANK, __VA_ARGS__ }
static const struct nnv_slot step_outputs[] = {
    OUTPUT(0, "scratch", 2, .flags = NNV_IGNORED),
    OUTPUT(1, "output state", 2, ),
    OUTPUT(2, "cell state", 2, ),
    OUTPUT(3, "output", 2, ),
};
static const struct nnv_slot sequence_outputs[] = {
    OUTPUT(0, "output", 3, ),
    OUTPUT(1, "output state", 2, .group = 1, .level = 4),
    OUTPUT(2, "cell state", 2, .group = 1, .level = 4),
};

static const struct nnv_sig step_sigs[] = {NNV_SIG_SCALAR(1, FLOAT32, FLOAT32), NNV_SIG_SCALAR(3, FLOAT16, FLOAT16)};
static const struct nnv_sig sequence_sigs[] = {NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
                                               NNV_SIG_SCALAR(3, FLOAT16, FLOAT16)};

static bool is_step(const struct nnv_op *op) { return op->code == ANEURALNETWORKS_LSTM; }

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = nnv_lstm_check(c, is_step(c->op) ? &step_ids : &sequence_ids, err);
    return st ? st : nnv_activation_check(c, ACT, false, err);
}

/* ----------------------------------------------------------------------- LSTM */

/* The scratch buffer has a row of each gate that the cell computes. */
static enum nnv_status scratch_extent(const struct nnv_call *c, uint32_t units, uint32_t *extent, struct nnv_err *err) {
    enum nnv_presence input_gate = nnv_presence(c, CELL + NNV_LSTM_WEIGHTS);
    *extent = NNV_DIM_UNKNOWN;
    if (units == NNV_DIM_UNKNOWN || input_gate == NNV_MAYBE) return NNV_OK;
    if (units > NNV_DIM_MAX / NNV_GATES) return nnv_fail(err, NNV_INVALID, "%u units are too many", units);
    *extent = units * (input_gate == NNV_ABSENT ? NNV_GATES - 1 : NNV_GATES);
    return NNV_OK;
}

static enum nnv_status step_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_lstm_extents x = {.batch = nnv_dim(&c->in[X].shape, 0),
                                 .input = nnv_dim(&c->in[X].shape, 1),
                                 .units = NNV_DIM_UNKNOWN,
                                 .output = NNV_DIM_UNKNOWN};
    uint32_t scratch;
    enum nnv_status st = nnv_lstm_agree(c, &step_ids, &x, err);
    if (!st) st = scratch_extent(c, x.units, &scratch, err);
    if (st) return st;
    out[0] = nnv_shape_make(2, (uint32_t[]){x.batch, scratch});
    out[1] = out[3] = nnv_shape_make(2, (uint32_t[]){x.batch, x.output});
    out[2] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status step_eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lstm l = nnv_lstm_of(k, &step_ids);
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

/* ---------------------------------------------- UNIDIRECTIONAL_SEQUENCE_LSTM */

static enum nnv_status extents(const struct nnv_call *c, struct nnv_sequence *s, struct nnv_lstm_extents *x,
                               struct nnv_err *err) {
    *s = nnv_sequence_of(c, TIME_MAJOR);
    *x = (struct nnv_lstm_extents){NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN, 0, NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_sequence_agree(c, X, s, &x->input, err);
    x->batch = s->batch;
    if (!st) st = nnv_lstm_agree(c, &sequence_ids, x, err);
    s->batch = x->batch;
    return st;
}

static enum nnv_status sequence_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
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

static enum nnv_status sequence_eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lstm l = nnv_lstm_of(k, &sequence_ids);
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

/* -------------------------------------------------------------------- samples */

/* Every subset of the optional parts; of a sequence order and state outputs walk with the index. */
#define NORMS(X) X, X "_norm"
#define PEEPHOLES(X) NORMS(X), NORMS(X "_peephole")
#define INPUT_GATES(X) PEEPHOLES(X), PEEPHOLES(X "_cifg")
static const char *const variants[] = {INPUT_GATES("plain"), INPUT_GATES("projection"), INPUT_GATES("projection_bias"),
                                       NULL};

static const struct nnv_factor step_factors[] = {NNV_CELL_FACTORS, NNV_LSTM_FACTORS};
static const struct nnv_factor sequence_factors[] = {NNV_CELL_FACTORS, NNV_LSTM_FACTORS, NNV_SEQUENCE_FACTORS};

static void sample(struct nnv_sample *s) {
    const struct nnv_lstm_ids *ids = is_step(s->op) ? &step_ids : &sequence_ids;
    struct nnv_lstm_parts parts = nnv_lstm_parts_of(s);
    struct nnv_lstm_extents x = nnv_lstm_sample_extents(s, parts.projection);
    struct nnv_shape shape = nnv_shape_make(2, (uint32_t[]){x.batch, x.input});
    if (!is_step(s->op)) {
        bool time_major = s->row ? nnv_sample_is(s, "time") : (s->index + s->variant) % 2 == 0;
        struct nnv_sequence seq = {true, time_major, nnv_row_extent(s, "time", nnv_sample_dim(s, 3, 6)), x.batch};
        shape = nnv_sequence_shape(&seq, x.input);
        nnv_sample_scalar(s, TIME_MAJOR, seq.time_major);
        s->nout = (s->row ? !nnv_sample_is(s, "state") : (s->index + s->variant / 2) % 3 == 0) ? 1 : 3;
    }
    nnv_sample_tensor(s, X, shape.rank, shape.dims);
    nnv_lstm_sample(s, ids, &parts, &x);
    nnv_lstm_sample_scalars(s, ids);
}

#define RECORD(NAME, LEVEL, KIND, FORMULA)                                                                             \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),       .level = LEVEL,                                                                      \
        .formula = FORMULA,       NNV_OP_FORM(KIND##_inputs, KIND##_outputs),                                          \
        NNV_OP_SIGS(KIND##_sigs), .rounding = NNV_ROUND_LINEAR,                                                        \
        .check = check,           .infer = KIND##_infer,                                                               \
        NNV_EVAL(KIND##_eval),    .variants = variants,                                                                \
        NNV_SAMPLE(sample),       NNV_OP_FACTORS(KIND##_factors),                                                      \
    }

RECORD(LSTM, 1, step,
       "f, i, o = logistic(z_f), logistic(z_i) or 1 - f, logistic(z_o); c' = clip(f c + i act(z_g)); "
       "y = o act(c'), or clip(projection of it); z_k = x W_k^T + h R_k^T + P_k c + b_k, or normalised");
RECORD(UNIDIRECTIONAL_SEQUENCE_LSTM, 3, sequence,
       "y[t], c[t] = LSTM(x[t], y[t-1], c[t-1]) for t = 0, 1, ..., from the states given; optionally the last "
       "states");
