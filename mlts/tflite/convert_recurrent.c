/* SPDX-License-Identifier: Apache-2.0 */
/* Cells with a state: what was a variable becomes an input and an output of the model. */
#include <math.h>
#include <string.h>

#include "mlts/tflite/convert.h"

/* ------------------------------------------------------------------ float cells */

/** Input i of a cell as float32; omitted ones stay so. */
static uint32_t part(struct nnv_cv *c, uint32_t i) {
    return nnv_cv_has(c, i) ? nnv_cv_weights_float(c, i) : nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_FLOAT32);
}

/** A state that is the input i: the next value is a new operand. */
static uint32_t next_state(struct nnv_cv *c, uint32_t i) {
    const uint32_t x = nnv_cv_in(c, i), y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    nnv_cv_state(c, i, y);
    return y;
}

/** An activation of a recurrent cell: all but SIGN_BIT, by numbers that are NNAPI's. */
static uint32_t cell_activation(struct nnv_cv *c, unsigned slot) {
    enum { TANH = 4, SIGN_BIT = 5 };
    int v = nnv_cv_option_enum(c, slot, SIGN_BIT, "fused_activation_function");
    if (v == SIGN_BIT) nnv_cv_refuse(c, " with the activation SIGN_BIT");
    return nnv_builder_int(&c->b, v);
}

static uint32_t clip(struct nnv_cv *c, unsigned slot, const char *what) {
    float v = nnv_cv_option_float(c, slot, what);
    if (v < 0) nnv_cv_fail(c, "%s is %g, below 0", what, (double)v);
    return nnv_builder_float(&c->b, v);
}

enum { FIRST_BIAS = 12, LAST_BIAS = 15, STATE = 18, CELL_STATE = 19, NORM = 20, BARE_INPUTS = 20, ALL_INPUTS = 24 };

static bool is_bias(uint32_t i) { return i >= FIRST_BIAS && i <= LAST_BIAS; }

static bool counts_fit(struct nnv_cv *c) {
    if (c->op->nin != BARE_INPUTS && c->op->nin != ALL_INPUTS)
        nnv_cv_fail(c, "%u inputs, expected %d or %d", c->op->nin, BARE_INPUTS, ALL_INPUTS);
    return nnv_cv_ok(c);
}

/** Only what converters make of an int8 cell. */
static bool is_plain(const struct nnv_cv *c) {
    for (uint32_t i = 9; i < STATE; i++)
        if (!is_bias(i) && nnv_cv_has(c, i)) return false;
    for (uint32_t i = NORM; i < c->op->nin; i++)
        if (nnv_cv_has(c, i)) return false;
    return true;
}

/** A bias of int32 counts in units of input times weights. */
static uint32_t gate_bias(struct nnv_cv *c, uint32_t i) {
    if (!nnv_cv_has(c, i) || nnv_cv_in_tensor(c, i)->type != NNV_TFL_INT32) return part(c, i);
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 0), *w = nnv_cv_in_tensor(c, i - FIRST_BIAS + 1);
    const uint32_t b = nnv_cv_in(c, i);
    if (!w || !nnv_cv_ok(c)) return 0;
    if (!nnv_cv_is_const(c, b) || x->scale_count != 1 || w->scale_count != 1) {
        nnv_cv_refuse(c, " with biases that are not constants with a scale");
        return 0;
    }
    const struct nnv_operand *o = nnv_cv_at(c, b);
    const size_t n = nnv_cv_elements(c, b);
    float *v = NNV_NEW(c->b.arena, float, n);
    if (!v) c->b.failed = true;
    for (size_t k = 0; v && k < n; k++) {
        int32_t units;
        memcpy(&units, (const int32_t *)o->data + k, sizeof units);
        v[k] = (float)(units * (double)x->scales[0] * (double)w->scales[0]);
    }
    return v ? nnv_cv_const(c, NNV_CV_F32, o->rank, o->dims, v) : 0;
}

/** A state, whatever it is stored as in the file, is kept in float32. */
static uint32_t float_state(struct nnv_cv *c, uint32_t i) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (!t || !nnv_cv_ok(c)) return 0;
    uint32_t *operand = &c->operand[c->op->in[i]];
    if (t->variable && *operand == 0) *operand = nnv_cv_temp(c, NNV_CV_F32, t->rank, t->dims);
    return nnv_cv_in(c, i);
}

/**
 * int8 cells are computed in float32: NNAPI's QUANTIZED_LSTM has no biases without layer normalisation, which is what
 * these files hold.
 */
static void sequence_lstm(struct nnv_cv *c) {
    enum { ACTIVATION, CELL_CLIP, PROJECTION_CLIP, TIME_MAJOR, DIAGONAL = 5 };
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 0);
    if (!counts_fit(c)) return;
    if (nnv_cv_option_bool(c, DIAGONAL, false, "diagonal_recurrent_tensors"))
        nnv_cv_refuse(c, " with diagonal recurrent weights");
    if (x->type == NNV_TFL_INT8 && !is_plain(c))
        nnv_cv_refuse(c, " of INT8 with peepholes, projection or normalisation");
    uint32_t in[28];
    in[0] = nnv_cv_to_float(c, nnv_cv_in(c, 0));
    for (uint32_t i = 1; i < STATE; i++) in[i] = is_bias(i) ? gate_bias(c, i) : part(c, i);
    in[STATE] = float_state(c, STATE);
    in[CELL_STATE] = float_state(c, CELL_STATE);
    in[20] = cell_activation(c, ACTIVATION);
    in[21] = clip(c, CELL_CLIP, "cell_clip");
    in[22] = clip(c, PROJECTION_CLIP, "proj_clip");
    in[23] = nnv_builder_bool(&c->b, nnv_cv_option_bool(c, TIME_MAJOR, false, "time_major"));
    for (uint32_t i = 0; i < 4; i++) in[24 + i] = part(c, NORM + i);
    const uint32_t y = nnv_cv_out(c, 0);
    if (!nnv_cv_ok(c)) return;
    uint32_t out[3] = {nnv_cv_float_for(c, y)};
    out[1] = next_state(c, STATE);
    out[2] = next_state(c, CELL_STATE);
    nnv_cv_emit_n(c, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, 28, in, 3, out);
    nnv_cv_from_float(c, out[0], y);
}

/* ------------------------------------------------------------ the other cells */

/** LSTM, one step; the first output is for what happens inside. */
static void lstm(struct nnv_cv *c) {
    enum { ACTIVATION, CELL_CLIP, PROJECTION_CLIP, KERNEL, GATES = 4, FORGET_WEIGHTS = 2 };
    if (nnv_cv_option_enum(c, KERNEL, 1, "kernel_type") != 0) nnv_cv_refuse(c, " of the kind BASIC");
    if (!nnv_cv_ok(c) || !counts_fit(c)) return;
    uint32_t in[27], n = 23;
    for (uint32_t i = 0; i < STATE; i++) in[i] = i == 0 ? nnv_cv_in(c, 0) : part(c, i);
    in[STATE] = nnv_cv_in(c, STATE);
    in[CELL_STATE] = nnv_cv_in(c, CELL_STATE);
    in[20] = cell_activation(c, ACTIVATION);
    in[21] = clip(c, CELL_CLIP, "cell_clip");
    in[22] = clip(c, PROJECTION_CLIP, "proj_clip");
    bool normalised = false;
    for (uint32_t i = NORM; i < c->op->nin; i++) normalised = normalised || nnv_cv_has(c, i);
    for (uint32_t i = 0; normalised && i < GATES; i++) in[n++] = part(c, NORM + i);
    if (!nnv_cv_ok(c)) return;
    const bool coupled = !nnv_cv_has(c, 1);
    const uint32_t scratch[] = {nnv_cv_at(c, in[CELL_STATE])->dims[0],
                                nnv_cv_at(c, in[FORGET_WEIGHTS])->dims[0] * (coupled ? GATES - 1 : GATES)};
    uint32_t out[4] = {nnv_cv_temp(c, NNV_CV_F32, 2, scratch)};
    out[1] = next_state(c, STATE);
    out[2] = next_state(c, CELL_STATE);
    out[3] = nnv_cv_out(c, 0);
    nnv_cv_emit_n(c, ANEURALNETWORKS_LSTM, n, in, 4, out);
}

enum { RNN_STATE = 4 };

static void rnn(struct nnv_cv *c) {
    const uint32_t in[] = {nnv_cv_in(c, 0),         part(c, 1),           part(c, 2), part(c, 3),
                           nnv_cv_in(c, RNN_STATE), cell_activation(c, 0)};
    const uint32_t out[] = {next_state(c, RNN_STATE), nnv_cv_out(c, 0)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_RNN, 6, in, 2, out);
}

static void sequence_rnn(struct nnv_cv *c) {
    const uint32_t in[] = {nnv_cv_in(c, 0),
                           part(c, 1),
                           part(c, 2),
                           part(c, 3),
                           nnv_cv_in(c, RNN_STATE),
                           cell_activation(c, 1),
                           nnv_builder_int(&c->b, nnv_cv_option_bool(c, 0, false, "time_major"))};
    const uint32_t out[] = {nnv_cv_out(c, 0), next_state(c, RNN_STATE)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN, 7, in, 2, out);
}

static void svdf(struct nnv_cv *c) {
    enum { RANK, ACTIVATION };
    const uint32_t in[] = {nnv_cv_in(c, 0),
                           part(c, 1),
                           part(c, 2),
                           part(c, 3),
                           nnv_cv_in(c, RNN_STATE),
                           nnv_builder_int(&c->b, nnv_cv_option_positive(c, RANK, 0, "rank")),
                           nnv_cv_fused(c, ACTIVATION)};
    const uint32_t out[] = {next_state(c, RNN_STATE), nnv_cv_out(c, 0)};
    nnv_cv_emit_n(c, ANEURALNETWORKS_SVDF, 7, in, 2, out);
}

/** Both directions' outputs, or one of both; then the states. */
static void emit_both(struct nnv_cv *c, int32_t code, uint32_t nin, const uint32_t *in, bool merge, uint32_t nstates,
                      const uint32_t *states) {
    uint32_t out[6], n = 0;
    if (c->op->nout != (merge ? 1u : 2u)) nnv_cv_fail(c, "%u outputs with merge_outputs %d", c->op->nout, merge);
    for (uint32_t i = 0; i < c->op->nout && n < 2; i++) out[n++] = nnv_cv_out(c, i);
    for (uint32_t i = 0; i < nstates; i++) out[n++] = next_state(c, states[i]);
    nnv_cv_emit_n(c, code, nin, in, n, out);
}

static void both_rnn(struct nnv_cv *c) {
    enum { TIME_MAJOR, ACTIVATION, MERGE, INPUTS = 12 };
    static const uint32_t states[] = {RNN_STATE, 8};
    uint32_t in[15];
    const bool merge = nnv_cv_option_bool(c, MERGE, false, "merge_outputs");
    for (uint32_t i = 0; i < INPUTS; i++) in[i] = i == 0 || i == 4 || i == 8 ? nnv_cv_in(c, i) : part(c, i);
    in[12] = cell_activation(c, ACTIVATION);
    in[13] = nnv_builder_bool(&c->b, nnv_cv_option_bool(c, TIME_MAJOR, false, "time_major"));
    in[14] = nnv_builder_bool(&c->b, merge);
    emit_both(c, ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_RNN, 15, in, merge, 2, states);
}

static void both_lstm(struct nnv_cv *c) {
    enum { ACTIVATION, CELL_CLIP, PROJECTION_CLIP, MERGE, TIME_MAJOR, INPUTS = 48, FIRST_STATE = 35 };
    static const uint32_t states[] = {FIRST_STATE, FIRST_STATE + 1, FIRST_STATE + 2, FIRST_STATE + 3};
    uint32_t in[61];
    const bool merge = nnv_cv_option_bool(c, MERGE, false, "merge_outputs");
    for (uint32_t i = 0; i < INPUTS; i++)
        in[i] = i == 0 || (i >= FIRST_STATE && i < FIRST_STATE + 4) ? nnv_cv_in(c, i) : part(c, i);
    in[48] = cell_activation(c, ACTIVATION);
    in[49] = clip(c, CELL_CLIP, "cell_clip");
    in[50] = clip(c, PROJECTION_CLIP, "proj_clip");
    in[51] = nnv_builder_bool(&c->b, merge);
    in[52] = nnv_builder_bool(&c->b, nnv_cv_option_bool(c, TIME_MAJOR, true, "time_major"));
    for (uint32_t i = 53; i < 61; i++) in[i] = nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_FLOAT32);
    emit_both(c, ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_LSTM, 61, in, merge, 4, states);
}

/* Options by the schema's tags. */
enum { SVDF = 6, RNN = 7, LSTM = 14, SEQUENCE_RNN = 31, BOTH_LSTM = 69, BOTH_RNN = 70, SEQUENCE_LSTM = 71 };
#define F NNV_CV_FLOAT

static const struct nnv_converter rows[] = {
    {NNV_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, SEQUENCE_LSTM, false, 20, 24, 1, 1, 0, F | 1 << NNV_TFL_INT8, sequence_lstm,
     0},
    {NNV_TFL_LSTM, LSTM, false, 5, 24, 1, 4, 0, F, lstm, 0},
    {NNV_TFL_RNN, RNN, false, 5, 5, 1, 1, 0, F, rnn, 0},
    {NNV_TFL_UNIDIRECTIONAL_SEQUENCE_RNN, SEQUENCE_RNN, false, 5, 5, 1, 1, 0, F, sequence_rnn, 0},
    {NNV_TFL_SVDF, SVDF, false, 5, 5, 1, 1, 0, F, svdf, 0},
    {NNV_TFL_BIDIRECTIONAL_SEQUENCE_RNN, BOTH_RNN, false, 12, 12, 1, 2, 0, F, both_rnn, 0},
    {NNV_TFL_BIDIRECTIONAL_SEQUENCE_LSTM, BOTH_LSTM, false, 48, 48, 1, 2, 0, F, both_lstm, 0},
};
const struct nnv_converters nnv_cv_recurrent = {rows, sizeof rows / sizeof *rows};
