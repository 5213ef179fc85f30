/* SPDX-License-Identifier: Apache-2.0 */
/* Cells with a state: what was a variable becomes an input and an output of the model. */
#include <math.h>
#include <string.h>

#include "mlts/convert.h"

/* ------------------------------------------------------------------ float cells */

/** Input i of a cell as float32; omitted ones stay so. */
static uint32_t part(struct nnv_cv *c, uint32_t i) {
    return nnv_cv_has(c, i) ? nnv_cv_weights_float(c, i) : nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_FLOAT32);
}

/** A state that is the input i: the next value is a new operand. */
static uint32_t next_state(struct nnv_cv *c, uint32_t i) {
    const uint32_t x = nnv_cv_in(c, i), y = nnv_cv_temp_as(c, nnv_cv_encoding(c, x), x);
    nnv_cv_state(c, i, y);
    return y;
}

/** An activation of a recurrent cell: all but SIGN_BIT, by numbers that are NNAPI's. */
static uint32_t cell_activation(struct nnv_cv *c, unsigned slot) {
    enum { TANH = 4, SIGN_BIT = 5 };
    int v = nnv_cv_option_enum(c, slot, SIGN_BIT, "fused_activation_function");
    if (v == SIGN_BIT) nnv_cv_refuse(c, " with the activation SIGN_BIT");
    return nnv_cv_int(c, v);
}

static uint32_t clip(struct nnv_cv *c, unsigned slot, const char *what) {
    float v = nnv_cv_option_float(c, slot, what);
    if (v < 0) nnv_cv_fail(c, "%s is %g, below 0", what, (double)v);
    return nnv_cv_float(c, v);
}

enum { STATE = 18, CELL_STATE = 19, NORM = 20, BARE_INPUTS = 20, ALL_INPUTS = 24 };

static void quantised_sequence(struct nnv_cv *c);

static bool counts_fit(struct nnv_cv *c) {
    if (c->op->nin != BARE_INPUTS && c->op->nin != ALL_INPUTS)
        nnv_cv_fail(c, "%u inputs, expected %d or %d", c->op->nin, BARE_INPUTS, ALL_INPUTS);
    return nnv_cv_ok(c);
}

static void sequence_lstm(struct nnv_cv *c) {
    enum { ACTIVATION, CELL_CLIP, PROJECTION_CLIP, TIME_MAJOR, DIAGONAL = 5 };
    const struct nnv_tfl_tensor *x = nnv_cv_in_tensor(c, 0);
    if (!counts_fit(c)) return;
    if (nnv_cv_option_bool(c, DIAGONAL, false, "diagonal_recurrent_tensors"))
        nnv_cv_refuse(c, " with diagonal recurrent weights");
    if (x->type == NNV_TFL_INT8) {
        quantised_sequence(c);
        return;
    }
    uint32_t in[28];
    in[0] = nnv_cv_in(c, 0);
    for (uint32_t i = 1; i < STATE; i++) in[i] = part(c, i);
    in[STATE] = nnv_cv_in(c, STATE);
    in[CELL_STATE] = nnv_cv_in(c, CELL_STATE);
    in[20] = cell_activation(c, ACTIVATION);
    in[21] = clip(c, CELL_CLIP, "cell_clip");
    in[22] = clip(c, PROJECTION_CLIP, "proj_clip");
    in[23] = nnv_cv_bool(c, nnv_cv_option_bool(c, TIME_MAJOR, false, "time_major"));
    for (uint32_t i = 0; i < 4; i++) in[24 + i] = part(c, NORM + i);
    uint32_t out[3] = {nnv_cv_out(c, 0)};
    out[1] = next_state(c, STATE);
    out[2] = next_state(c, CELL_STATE);
    nnv_cv_emit_n(c, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, 28, in, 3, out);
}

/* --------------------------------------------------- int8: a step after the other */

/** A gate's weights, symmetric. */
static uint32_t symmetric(struct nnv_cv *c, uint32_t i) {
    if (!nnv_cv_has(c, i)) return nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_QUANT8_SYMM);
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (t->type != NNV_TFL_INT8 || !t->data || t->sparse || t->scale_count != 1 || t->zero_points[0] != 0) {
        nnv_cv_refuse(c, " with weights that are not symmetric INT8 constants");
        return 0;
    }
    return nnv_cv_const(c, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_SYMM, t->scales[0], 0}, t->rank, t->dims,
                        t->data);
}

static uint32_t gate_bias(struct nnv_cv *c, uint32_t i, uint32_t x, uint32_t w) {
    if (!nnv_cv_has(c, i)) return nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_INT32);
    const uint32_t b = nnv_cv_in(c, i);
    if (!nnv_cv_ok(c)) return 0;
    if (!nnv_cv_is_const(c, b) || nnv_cv_at(c, b)->type != ANEURALNETWORKS_TENSOR_INT32) {
        nnv_cv_refuse(c, " with biases that are not INT32 constants");
        return 0;
    }
    const struct nnv_operand *o = nnv_cv_at(c, b);
    const float scale = nnv_cv_at(c, x)->scale * nnv_cv_at(c, w)->scale;
    return nnv_cv_const(c, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, scale, 0}, o->rank, o->dims, o->data);
}

/** Only what converters make: no peephole, projection, or layer normalisation. */
static bool is_plain(struct nnv_cv *c) {
    for (uint32_t i = 9; i < STATE; i++)
        if ((i < 12 || i > 15) && nnv_cv_has(c, i)) return false;
    for (uint32_t i = NORM; i < c->op->nin; i++)
        if (nnv_cv_has(c, i)) return false;
    return true;
}

/** The inputs of QUANTIZED_LSTM that are the same in each step. */
static void quantised_parts(struct nnv_cv *c, uint32_t x, uint32_t in[32]) {
    enum { CELL_CLIP = 1, PROJECTION_CLIP = 2, HIDDEN = 4 };
    const float unit = 1.0f / 4096; /* of the sums: what is meant where the file does not say */
    for (uint32_t i = 1; i <= 8; i++) in[i] = symmetric(c, i);
    for (uint32_t i = 9; i < 12; i++) in[i] = nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_QUANT16_SYMM);
    for (uint32_t i = 12; i < 16; i++) in[i] = gate_bias(c, i, x, in[i - 11]);
    in[16] = nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_QUANT8_SYMM);
    in[17] = nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_INT32);
    for (uint32_t i = 20; i < 24; i++) in[i] = nnv_cv_omitted(c, ANEURALNETWORKS_TENSOR_QUANT16_SYMM);
    in[24] = clip(c, CELL_CLIP, "cell_clip");
    in[25] = clip(c, PROJECTION_CLIP, "proj_clip");
    for (uint32_t i = 26; i < 30; i++) in[i] = nnv_cv_float(c, unit);
    const struct nnv_tfl_tensor *h = nnv_cv_out_tensor(c, 0);
    if (c->op->nbetween > HIDDEN && c->op->between[HIDDEN] >= 0) h = &c->graph->tensors[c->op->between[HIDDEN]];
    if (h->scale_count != 1 || !(h->scales[0] > 0)) {
        nnv_cv_fail(c, "the hidden state has no quantisation");
        return;
    }
    in[30] = nnv_cv_int(c, (int32_t)h->zero_points[0]);
    in[31] = nnv_cv_float(c, h->scales[0]);
}

/** Step t of a sequence [batch, time, size] or [time, batch, size] as [batch, size]. */
static uint32_t step(struct nnv_cv *c, uint32_t x, bool time_major, int32_t t) {
    uint32_t dims[3];
    memcpy(dims, nnv_cv_at(c, x)->dims, sizeof dims);
    const uint32_t axis = time_major ? 0 : 1, flat[] = {dims[1 - axis], dims[2]};
    if (dims[axis] == 1) return nnv_cv_reshaped(c, x, 2, flat);
    int32_t begin[3] = {0}, size[3];
    dims[axis] = 1;
    for (uint32_t d = 0; d < 3; d++) size[d] = (int32_t)dims[d];
    begin[axis] = t;
    const uint32_t s = nnv_cv_temp_shaped(c, x, 3, dims);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SLICE, s, x, nnv_cv_ints(c, 3, begin), nnv_cv_ints(c, 3, size));
    return nnv_cv_reshaped(c, s, 2, flat);
}

static void quantised_sequence(struct nnv_cv *c) {
    enum { TIME_MAJOR = 3, MOST_STEPS = 1000 };
    const uint32_t x = nnv_cv_in(c, 0), y = nnv_cv_out(c, 0), h = nnv_cv_in(c, STATE), cell = nnv_cv_in(c, CELL_STATE);
    const bool time_major = nnv_cv_option_bool(c, TIME_MAJOR, false, "time_major");
    if (!nnv_cv_ok(c)) return;
    if (!is_plain(c)) nnv_cv_refuse(c, " of INT8 with peepholes, projection or layer normalisation");
    if (nnv_cv_at(c, x)->rank != 3 || nnv_cv_at(c, y)->rank != 3) nnv_cv_fail(c, "a sequence has rank 3");
    if (!nnv_cv_ok(c)) return;
    const uint32_t axis = time_major ? 0 : 1, steps = nnv_cv_at(c, x)->dims[axis];
    if (steps > MOST_STEPS) nnv_cv_refuse(c, " of INT8 with more than %d steps", MOST_STEPS);
    uint32_t in[32] = {0}, *gathered = NNV_NEW(c->b.arena, uint32_t, steps + 1), result[3];
    memcpy(result, nnv_cv_at(c, y)->dims, sizeof result);
    result[axis] = 1;
    if (!gathered) c->b.failed = true;
    quantised_parts(c, x, in);
    in[STATE] = h;
    in[CELL_STATE] = cell;
    for (uint32_t t = 0; t < steps && nnv_cv_ok(c); t++) {
        in[0] = step(c, x, time_major, (int32_t)t);
        uint32_t out[3] = {nnv_cv_temp_as(c, nnv_cv_encoding(c, h), h),
                           nnv_cv_temp_as(c, nnv_cv_encoding(c, cell), cell)};
        out[2] = nnv_cv_temp_as(c, nnv_cv_encoding(c, y), h);
        nnv_cv_emit_n(c, ANEURALNETWORKS_QUANTIZED_LSTM, 32, in, 3, out);
        in[STATE] = out[0];
        in[CELL_STATE] = out[1];
        gathered[t] = nnv_cv_reshaped(c, out[2], 3, result);
    }
    nnv_cv_state(c, STATE, in[STATE]);
    nnv_cv_state(c, CELL_STATE, in[CELL_STATE]);
    if (!nnv_cv_ok(c)) return;
    gathered[steps] = nnv_cv_int(c, (int32_t)axis);
    nnv_cv_emit(c, ANEURALNETWORKS_CONCATENATION, steps + 1, gathered, y);
}

enum { SEQUENCE_LSTM = 71 };

static const struct nnv_converter rows[] = {
    {NNV_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, SEQUENCE_LSTM, false, 20, 24, 1, 1, 0, NNV_CV_FLOAT | 1 << NNV_TFL_INT8,
     sequence_lstm, 0},
};
const struct nnv_converters nnv_cv_recurrent = {rows, sizeof rows / sizeof *rows};
