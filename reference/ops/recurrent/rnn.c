/* SPDX-License-Identifier: Apache-2.0 */
/** @file rnn.c RNN, UNIDIRECTIONAL_SEQUENCE_RNN. */
#include "reference/ops/recurrent/rnn.h"

#include <string.h>

enum { X, WEIGHTS, RECURRENT, BIAS, STATE, ACT, TIME_MAJOR };
static const struct nnv_rnn_ids ids = {
    .weights = WEIGHTS, .recurrent = RECURRENT, .bias = BIAS, .state = STATE, .act = ACT};

/* The limits keep the values of many steps apart. */
#define INPUTS(RANK, X_LIMIT, WEIGHTS_LIMIT, RECURRENT_LIMIT)                                                          \
    NNV_CELL_TENSOR(X, "input", RANK, 0, X_LIMIT), NNV_CELL_TENSOR(WEIGHTS, "weights", 2, NNV_PARAM, WEIGHTS_LIMIT),   \
        NNV_CELL_TENSOR(RECURRENT, "recurrent weights", 2, NNV_PARAM, RECURRENT_LIMIT),                                \
        NNV_CELL_TENSOR(BIAS, "bias", 1, NNV_PARAM, 1), NNV_CELL_TENSOR(STATE, "hidden state", 2, 0, 2),               \
        NNV_SLOT_INT(ACT, "activation", NNV_ANY)
static const struct nnv_slot step_inputs[] = {INPUTS(2, 4, 1, 1)};
static const struct nnv_slot sequence_inputs[] = {INPUTS(3, 2, 0.75, 0.5),
                                                  NNV_SLOT_INT(TIME_MAJOR, "time major", NNV_ANY)};

static const struct nnv_slot step_outputs[] = {
    {.id = 0, .name = "hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    {.id = 1, .name = "output", .var = NNV_T, .rank_min = 2, .rank_max = 2},
};
static const struct nnv_slot sequence_outputs[] = {
    {.id = 0, .name = "output", .var = NNV_T, .rank_min = 3, .rank_max = 3},
    {.id = 1, .name = "hidden state", .var = NNV_T, .rank_min = 2, .rank_max = 2, .group = 1, .level = 4},
};

static const struct nnv_sig step_sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(3, FLOAT16)};
static const struct nnv_sig sequence_sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16)};

/* ------------------------------------------------------------------------ RNN */

static enum nnv_status step_check(const struct nnv_call *c, struct nnv_err *err) {
    return nnv_activation_check(c, ACT, true, err);
}

static enum nnv_status step_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_rnn_extents x = {
        .batch = nnv_dim(&c->in[X].shape, 0), .input = nnv_dim(&c->in[X].shape, 1), .units = NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_rnn_agree(c, &ids, &x, err);
    if (st) return st;
    out[0] = out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status step_eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_rnn cell = nnv_rnn_of(k, &ids);
    nnv_rnn_step(k, &cell, nnv_real(k, X), NULL, nnv_real(k, STATE), k->out[0]);
    memcpy(k->out[1], k->out[0], cell.batch * cell.units * sizeof *k->out[1]);
    return NNV_OK;
}

static const struct nnv_factor step_factors[] = {
    NNV_CELL_FACTORS, {.name = "activation", NNV_WORDS("linear", "relu", "relu6", "tanh", "logistic", "relu1")}};
static const char *const step_variants[] = {"linear", "relu", "relu6", NULL};

static void step_sample(struct nnv_sample *s) {
    static const double codes[] = {0, 1, 3, 4, 6, 2};
    uint32_t batch = nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 4));
    uint32_t in = nnv_row_extent(s, "input", nnv_sample_dim(s, 3, 17));
    uint32_t units = nnv_row_extent(s, "units", nnv_sample_dim(s, 2, 9));
    if (!s->row && in == units) in++;
    nnv_sample_tensor(s, X, 2, (uint32_t[]){batch, in});
    nnv_rnn_sample(s, &ids, &(struct nnv_rnn_extents){.batch = batch, .input = in, .units = units});
    nnv_sample_scalar(s, ACT, codes[nnv_row_named(s, "activation", s->variant)]);
}

/* ----------------------------------------------- UNIDIRECTIONAL_SEQUENCE_RNN */

static enum nnv_status sequence_check(const struct nnv_call *c, struct nnv_err *err) {
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

static enum nnv_status sequence_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_sequence s;
    struct nnv_rnn_extents x;
    enum nnv_status st = extents(c, &s, &x, err);
    if (st) return st;
    out[0] = nnv_sequence_shape(&s, x.units);
    if (c->nout > 1) out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

static enum nnv_status sequence_eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_rnn cell = nnv_rnn_of(k, &ids);
    struct nnv_rnn_extents x;
    struct nnv_steps steps = {.to = k->out[0], .row = cell.units};
    enum nnv_status st = extents(k->call, &steps.seq, &x, err);
    if (st) return st;
    steps.x = nnv_sequence_steps(k, X, &steps.seq, cell.input);
    if (!steps.x) return nnv_no_memory(err);
    return nnv_rnn_sequence(k, &cell, &steps, nnv_real(k, STATE), k->call->nout > 1 ? k->out[1] : NULL, err);
}

static const struct nnv_factor sequence_factors[] = {
    NNV_CELL_FACTORS,
    NNV_SEQUENCE_FACTORS,
    {.name = "activation", NNV_WORDS("tanh", "relu", "logistic", "relu6", "linear", "relu1")}};
static const char *const sequence_variants[] = {
    "time", "batch", "time_state", "batch_state", "time_tanh", "batch_tanh", "time_logistic", "batch_relu6", NULL};

static void sequence_sample(struct nnv_sample *s) {
    static const double codes[] = {1, 0, 1};
    struct nnv_sequence seq = {true, nnv_sample_is(s, "time"), nnv_row_extent(s, "time", nnv_sample_dim(s, 3, 7)),
                               nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 3))};
    struct nnv_rnn_extents x = {.batch = seq.batch,
                                .input = nnv_row_extent(s, "input", nnv_sample_dim(s, 3, 9)),
                                .units = nnv_row_extent(s, "units", nnv_sample_dim(s, 2, 6))};
    if (!s->row && x.input == x.units) x.input++;
    double act = nnv_sample_is(s, "tanh")       ? 4
                 : nnv_sample_is(s, "logistic") ? 6
                 : nnv_sample_is(s, "relu6")    ? 3
                 : nnv_sample_is(s, "relu1")    ? 2
                 : nnv_sample_is(s, "relu")     ? 1
                 : nnv_sample_is(s, "linear")   ? 0
                                                : codes[s->index % 3];
    nnv_sample_tensor(s, X, 3, nnv_sequence_shape(&seq, x.input).dims);
    nnv_rnn_sample(s, &ids, &x);
    nnv_sample_scalar(s, ACT, act);
    nnv_sample_scalar(s, TIME_MAJOR, seq.time_major);
    s->nout = nnv_sample_is(s, "state") || (!s->row && s->index % 2 == 1) ? 2 : 1;
}

#define RECORD(NAME, LEVEL, KIND, FORMULA)                                                                             \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = LEVEL,                                                                                                \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(KIND##_inputs, KIND##_outputs),                                                                    \
        NNV_OP_SIGS(KIND##_sigs),                                                                                      \
        .rounding = NNV_ROUND_LINEAR,                                                                                  \
        .check = KIND##_check,                                                                                         \
        NNV_OP_HOOKS(KIND##_),                                                                                         \
        NNV_OP_FACTORS(KIND##_factors),                                                                                \
    }

RECORD(RNN, 1, step, "y = state' = act(x * weights^T + state * recurrent^T + bias)");
RECORD(UNIDIRECTIONAL_SEQUENCE_RNN, 3, sequence,
       "y[t] = act(x[t] * weights^T + y[t-1] * recurrent^T + bias) for t = 0, 1, ..., from the state given; "
       "optionally the last state");
