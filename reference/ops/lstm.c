/* SPDX-License-Identifier: Apache-2.0 */
/** @file lstm.c LSTM. */
#include "reference/ops/lstm.h"

#include <string.h>

/* Groups of four are by gate: input, forget, cell, output. */
enum {
    X = 0,
    WEIGHTS = 1,
    RECURRENT = 5,
    PEEPHOLE = 9, /* input, forget, output */
    BIAS = 12,
    PROJECTION = 16,
    PROJECTION_BIAS = 17,
    STATE = 18,
    CELL_STATE = 19,
    ACT = 20,
    CELL_CLIP = 21,
    PROJECTION_CLIP = 22,
    NORM = 23,
};

#define TENSOR(ID, NAME, RANK, FLAGS, LIMIT)                                                                           \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = RANK, .rank_max = RANK, .lo = -(LIMIT),      \
        .hi = LIMIT                                                                                                    \
    }
#define NEEDED NNV_PARAM
#define OPTIONAL (NNV_PARAM | NNV_OMITTABLE)
#define CLIP(ID, NAME)                                                                                                 \
    { .id = ID, .name = NAME, .var = NNV_S, .flags = NNV_SCALAR, .rule = NNV_NOT_NEGATIVE }
#define LAYER_NORM(GATE, NAME)                                                                                         \
    {                                                                                                                  \
        .id = NORM + (GATE), .name = NAME " layer normalisation weights", .var = NNV_T, .flags = OPTIONAL,             \
        .rank_min = 1, .rank_max = 1, .group = 1, .level = 3, .lo = -1, .hi = 1                                        \
    }

static const struct nnv_slot inputs[] = {
    TENSOR(X, "input", 2, 0, 2),
    TENSOR(WEIGHTS + 0, "input-to-input weights", 2, OPTIONAL, 0.75),
    TENSOR(WEIGHTS + 1, "input-to-forget weights", 2, NEEDED, 0.75),
    TENSOR(WEIGHTS + 2, "input-to-cell weights", 2, NEEDED, 0.75),
    TENSOR(WEIGHTS + 3, "input-to-output weights", 2, NEEDED, 0.75),
    TENSOR(RECURRENT + 0, "recurrent-to-input weights", 2, OPTIONAL, 0.75),
    TENSOR(RECURRENT + 1, "recurrent-to-forget weights", 2, NEEDED, 0.75),
    TENSOR(RECURRENT + 2, "recurrent-to-cell weights", 2, NEEDED, 0.75),
    TENSOR(RECURRENT + 3, "recurrent-to-output weights", 2, NEEDED, 0.75),
    TENSOR(PEEPHOLE + 0, "cell-to-input weights", 1, OPTIONAL, 1),
    TENSOR(PEEPHOLE + 1, "cell-to-forget weights", 1, OPTIONAL, 1),
    TENSOR(PEEPHOLE + 2, "cell-to-output weights", 1, OPTIONAL, 1),
    TENSOR(BIAS + 0, "input gate bias", 1, OPTIONAL, 1),
    TENSOR(BIAS + 1, "forget gate bias", 1, NEEDED, 1),
    TENSOR(BIAS + 2, "cell gate bias", 1, NEEDED, 1),
    TENSOR(BIAS + 3, "output gate bias", 1, NEEDED, 1),
    TENSOR(PROJECTION, "projection weights", 2, OPTIONAL, 1),
    TENSOR(PROJECTION_BIAS, "projection bias", 1, OPTIONAL, 0.25),
    TENSOR(STATE, "output state", 2, 0, 1),
    TENSOR(CELL_STATE, "cell state", 2, 0, 2),
    {.id = ACT, .name = "activation", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR},
    CLIP(CELL_CLIP, "cell clip"),
    CLIP(PROJECTION_CLIP, "projection clip"),
    LAYER_NORM(0, "input"),
    LAYER_NORM(1, "forget"),
    LAYER_NORM(2, "cell"),
    LAYER_NORM(3, "output"),
};

#define OUTPUT(ID, NAME, FLAGS)                                                                                        \
    { .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = 2, .rank_max = 2 }
static const struct nnv_slot outputs[] = {
    OUTPUT(0, "scratch", NNV_IGNORED),
    OUTPUT(1, "output state", 0),
    OUTPUT(2, "cell state", 0),
    OUTPUT(3, "output", 0),
};
static const struct nnv_form forms[] = {{"", inputs, sizeof inputs / sizeof *inputs, outputs, 4}};

static const struct nnv_sig sigs[] = {
    {1, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32, [NNV_S] = ANEURALNETWORKS_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16, [NNV_S] = ANEURALNETWORKS_FLOAT16}},
};

/* ------------------------------------------------------- which parts the cell has */

/* A set that is given or omitted as a whole; input_gate is part of it where the cell has that gate. */
static enum nnv_status check_set(const struct nnv_call *c, const char *what, const int *ids, int n, int input_gate,
                                 struct nnv_err *err) {
    enum nnv_presence gate = nnv_presence(c, WEIGHTS);
    int set[NNV_GATES] = {input_gate};
    memcpy(set + 1, ids, (size_t)n * sizeof *ids);
    if (gate == NNV_ABSENT && nnv_presence(c, input_gate) == NNV_PRESENT)
        return nnv_fail(err, NNV_INVALID, "%s: there is a part for the input gate, but no input gate", what);
    return gate == NNV_PRESENT ? nnv_all_or_none(c, what, set, n + 1, err) : nnv_all_or_none(c, what, ids, n, err);
}

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    static const int input_gate[] = {WEIGHTS, RECURRENT, BIAS};
    static const int peephole[] = {PEEPHOLE + 1, PEEPHOLE + 2}, norm[] = {NORM + 1, NORM + 2, NORM + 3};
    enum nnv_status st;
    if ((st = nnv_all_or_none(c, "input gate", input_gate, 3, err)) ||
        (st = check_set(c, "peephole", peephole, 2, PEEPHOLE, err)) ||
        (st = check_set(c, "layer normalisation", norm, 3, NORM, err)))
        return st;
    if (nnv_presence(c, PROJECTION) == NNV_ABSENT && nnv_presence(c, PROJECTION_BIAS) == NNV_PRESENT)
        return nnv_fail(err, NNV_INVALID, "there is a projection bias but there are no projection weights");
    return nnv_activation_check(c, ACT, false, err);
}

/* ------------------------------------------------------------------------- shapes */

struct extents {
    uint32_t batch, input, units, output;
};

/* Matrices [units, input], [units, output] and vectors [units] of all gates. */
static enum nnv_status gate_extents(const struct nnv_call *c, struct extents *x, struct nnv_err *err) {
    enum nnv_status st;
    for (int g = 0; g < NNV_GATES; g++)
        if ((st = nnv_extent_agree(c, WEIGHTS + g, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, WEIGHTS + g, 1, &x->input, err)) ||
            (st = nnv_extent_agree(c, RECURRENT + g, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, RECURRENT + g, 1, &x->output, err)) ||
            (st = nnv_extent_agree(c, BIAS + g, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, NORM + g, 0, &x->units, err)) ||
            (g < 3 && (st = nnv_extent_agree(c, PEEPHOLE + g, 0, &x->units, err))))
            return st;
    return NNV_OK;
}

static enum nnv_status all_extents(const struct nnv_call *c, struct extents *x, struct nnv_err *err) {
    *x = (struct extents){NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN, NNV_DIM_UNKNOWN};
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, X, 0, &x->batch, err)) || (st = nnv_extent_agree(c, X, 1, &x->input, err)) ||
        (st = gate_extents(c, x, err)))
        return st;
    if (nnv_presence(c, PROJECTION) == NNV_ABSENT) { /* the output is as wide as the cell */
        if (!nnv_dim_agree(x->units, x->output))
            return nnv_fail(err, NNV_INVALID, "%u units cannot give %u outputs without projection weights", x->units,
                            x->output);
        x->units = x->output = nnv_dim_merge(x->units, x->output);
    }
    if ((st = nnv_extent_agree(c, PROJECTION, 0, &x->output, err)) ||
        (st = nnv_extent_agree(c, PROJECTION, 1, &x->units, err)) ||
        (st = nnv_extent_agree(c, PROJECTION_BIAS, 0, &x->output, err)) ||
        (st = nnv_extent_agree(c, STATE, 0, &x->batch, err)) || (st = nnv_extent_agree(c, STATE, 1, &x->output, err)) ||
        (st = nnv_extent_agree(c, CELL_STATE, 0, &x->batch, err)))
        return st;
    return nnv_extent_agree(c, CELL_STATE, 1, &x->units, err);
}

/* The scratch buffer has a row of each gate that the cell computes. */
static enum nnv_status scratch_extent(const struct nnv_call *c, uint32_t units, uint32_t *extent, struct nnv_err *err) {
    enum nnv_presence input_gate = nnv_presence(c, WEIGHTS);
    *extent = NNV_DIM_UNKNOWN;
    if (units == NNV_DIM_UNKNOWN || input_gate == NNV_MAYBE) return NNV_OK;
    if (units >= NNV_DIM_UNKNOWN / NNV_GATES) return nnv_fail(err, NNV_INVALID, "%u units are too many", units);
    *extent = units * (input_gate == NNV_ABSENT ? NNV_GATES - 1 : NNV_GATES);
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct extents x;
    uint32_t scratch;
    enum nnv_status st = all_extents(c, &x, err);
    if (!st) st = scratch_extent(c, x.units, &scratch, err);
    if (st) return st;
    out[0] = nnv_shape_make(2, (uint32_t[]){x.batch, scratch});
    out[1] = out[3] = nnv_shape_make(2, (uint32_t[]){x.batch, x.output});
    out[2] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

/* ----------------------------------------------------------------------- evaluation */

static struct nnv_lstm cell_of(struct nnv_kernel *k) {
    struct nnv_lstm l = {
        .batch = nnv_in_shape(k, X)->dims[0],
        .input = nnv_in_shape(k, X)->dims[1],
        .units = nnv_out_shape(k, 2)->dims[1],
        .output = nnv_out_shape(k, 1)->dims[1],
        .projection = nnv_real(k, PROJECTION),
        .projection_bias = nnv_real(k, PROJECTION_BIAS),
        .activation = nnv_int(k->call, ACT),
        .cell_clip = nnv_num(k->call, CELL_CLIP),
        .projection_clip = nnv_num(k->call, PROJECTION_CLIP),
    };
    for (int g = 0; g < NNV_GATES; g++) {
        l.weights[g] = nnv_real(k, WEIGHTS + g);
        l.recurrent[g] = nnv_real(k, RECURRENT + g);
        l.bias[g] = nnv_real(k, BIAS + g);
        l.norm[g] = nnv_real(k, NORM + g);
    }
    l.peephole[NNV_GATE_INPUT] = nnv_real(k, PEEPHOLE);
    l.peephole[NNV_GATE_FORGET] = nnv_real(k, PEEPHOLE + 1);
    l.peephole[NNV_GATE_OUTPUT] = nnv_real(k, PEEPHOLE + 2);
    return l;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct nnv_lstm l = cell_of(k);
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

/* -------------------------------------------------------------------------- samples */

/* Every subset of the optional parts. */
#define NORMS(X) X, X "_norm"
#define PEEPHOLES(X) NORMS(X), NORMS(X "_peephole")
#define INPUT_GATES(X) PEEPHOLES(X), PEEPHOLES(X "_cifg")
static const char *const variants[] = {INPUT_GATES("plain"), INPUT_GATES("projection"), INPUT_GATES("projection_bias"),
                                       NULL};

static void sample_gates(struct nnv_sample *s, uint32_t in, uint32_t units, uint32_t out) {
    bool peephole = nnv_sample_is(s, "peephole"), norm = nnv_sample_is(s, "norm");
    for (int g = nnv_sample_is(s, "cifg") ? 1 : 0; g < NNV_GATES; g++) {
        nnv_sample_tensor(s, WEIGHTS + g, 2, (uint32_t[]){units, in});
        nnv_sample_tensor(s, RECURRENT + g, 2, (uint32_t[]){units, out});
        nnv_sample_tensor(s, BIAS + g, 1, &units);
        if (peephole && g != NNV_GATE_CELL) nnv_sample_tensor(s, PEEPHOLE + (g == NNV_GATE_OUTPUT ? 2 : g), 1, &units);
        if (norm) nnv_sample_tensor(s, NORM + g, 1, &units);
    }
}

static void sample(struct nnv_sample *s) {
    static const double codes[] = {4, 4, 4, 1, 6, 4, 3}; /* mostly tanh; 0 is left out: AOSP computes it wrongly */
    static const double cell_clips[] = {0.75, 0, 0.375, 1.25}, projection_clips[] = {0.25, 0.5, 0};
    bool projection = nnv_sample_is(s, "projection");
    uint32_t batch = nnv_sample_dim(s, 2, 3), in = nnv_sample_dim(s, 3, 7), units = nnv_sample_dim(s, 4, 9);
    uint32_t out = projection ? units - (uint32_t)nnv_sample_int(s, 1, 2) : units;
    if (in == units) in++;
    nnv_sample_tensor(s, X, 2, (uint32_t[]){batch, in});
    sample_gates(s, in, units, out);
    if (projection) nnv_sample_tensor(s, PROJECTION, 2, (uint32_t[]){out, units});
    if (nnv_sample_is(s, "bias")) nnv_sample_tensor(s, PROJECTION_BIAS, 1, &out);
    nnv_sample_tensor(s, STATE, 2, (uint32_t[]){batch, out});
    nnv_sample_tensor(s, CELL_STATE, 2, (uint32_t[]){batch, units});
    nnv_sample_scalar(s, ACT, codes[s->index % 7]);
    nnv_sample_scalar(s, CELL_CLIP, cell_clips[s->index % 4]);
    nnv_sample_scalar(s, PROJECTION_CLIP, projection_clips[s->index % 3]);
}

const struct nnv_op nnv_op_LSTM = {
    .code = ANEURALNETWORKS_LSTM,
    .name = "LSTM",
    .level = 1,
    .formula = "f, i, o = logistic(z_f), logistic(z_i) or 1 - f, logistic(z_o); c' = clip(f c + i act(z_g)); "
               "y = o act(c'), or clip(projection of it); z_k = x W_k^T + h R_k^T + P_k c + b_k, or normalised",
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
