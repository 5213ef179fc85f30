/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a cell: which there are, their shapes, their values, and drawing them. */
#include <string.h>

#include "reference/ops/recurrent/lstm.h"

/* ------------------------------------------------------- which parts the cell has */

/* A set that is given or omitted as a whole; input_gate is part of it where the cell has that gate. */
static enum nnv_status check_set(const struct nnv_call *c, const char *what, int weights, const int *set, int n,
                                 int input_gate, struct nnv_err *err) {
    enum nnv_presence gate = nnv_presence(c, weights);
    int with_gate[NNV_GATES] = {input_gate};
    memcpy(with_gate + 1, set, (size_t)n * sizeof *set);
    if (gate == NNV_ABSENT && nnv_presence(c, input_gate) == NNV_PRESENT)
        return nnv_fail(err, NNV_INVALID, "%s: there is a part for the input gate, but no input gate", what);
    return gate == NNV_PRESENT ? nnv_all_or_none(c, what, with_gate, n + 1, err)
                               : nnv_all_or_none(c, what, set, n, err);
}

enum nnv_status nnv_lstm_check(const struct nnv_call *c, const struct nnv_lstm_ids *ids, struct nnv_err *err) {
    int weights = ids->first + NNV_LSTM_WEIGHTS, peep = ids->first + NNV_LSTM_PEEPHOLE, norm = ids->norm;
    int aux = ids->aux_weights, projection = ids->first + NNV_LSTM_PROJECTION;
    const int input_gate[] = {weights, ids->first + NNV_LSTM_RECURRENT, ids->first + NNV_LSTM_BIAS};
    const int peepholes[] = {peep + 1, peep + 2}, norms[] = {norm + 1, norm + 2, norm + 3};
    const int auxes[] = {aux + 1, aux + 2, aux + 3};
    enum nnv_status st;
    if ((st = nnv_all_or_none(c, "input gate", input_gate, 3, err)) ||
        (st = check_set(c, "peephole", weights, peepholes, 2, peep, err)) ||
        (st = check_set(c, "layer normalisation", weights, norms, 3, norm, err)) ||
        (aux && (st = check_set(c, "auxiliary weights", weights, auxes, 3, aux, err))))
        return st;
    if (nnv_presence(c, projection) == NNV_ABSENT &&
        nnv_presence(c, ids->first + NNV_LSTM_PROJECTION_BIAS) == NNV_PRESENT)
        return nnv_fail(err, NNV_INVALID, "there is a projection bias but there are no projection weights");
    return NNV_OK;
}

/* ------------------------------------------------------------------------- shapes */

/* Matrices [units, input], [units, output], [units, aux] and vectors [units] of all gates. */
static enum nnv_status gate_extents(const struct nnv_call *c, const struct nnv_lstm_ids *ids,
                                    struct nnv_lstm_extents *x, struct nnv_err *err) {
    enum nnv_status st;
    for (int g = 0; g < NNV_GATES; g++) {
        int weights = ids->first + NNV_LSTM_WEIGHTS + g, recurrent = ids->first + NNV_LSTM_RECURRENT + g;
        int aux = ids->aux_weights + g;
        if ((st = nnv_extent_agree(c, weights, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, weights, 1, &x->input, err)) ||
            (st = nnv_extent_agree(c, recurrent, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, recurrent, 1, &x->output, err)) ||
            (st = nnv_extent_agree(c, ids->first + NNV_LSTM_BIAS + g, 0, &x->units, err)) ||
            (st = nnv_extent_agree(c, ids->norm + g, 0, &x->units, err)) ||
            (g < 3 && (st = nnv_extent_agree(c, ids->first + NNV_LSTM_PEEPHOLE + g, 0, &x->units, err))))
            return st;
        if (ids->aux_weights &&
            ((st = nnv_extent_agree(c, aux, 0, &x->units, err)) || (st = nnv_extent_agree(c, aux, 1, &x->aux, err))))
            return st;
    }
    return NNV_OK;
}

enum nnv_status nnv_lstm_agree(const struct nnv_call *c, const struct nnv_lstm_ids *ids, struct nnv_lstm_extents *x,
                               struct nnv_err *err) {
    int projection = ids->first + NNV_LSTM_PROJECTION;
    enum nnv_status st = gate_extents(c, ids, x, err);
    if (st) return st;
    if (nnv_presence(c, projection) == NNV_ABSENT) { /* the output is as wide as the cell */
        if (!nnv_dim_agree(x->units, x->output))
            return nnv_fail(err, NNV_INVALID, "%u units cannot give %u outputs without projection weights", x->units,
                            x->output);
        x->units = x->output = nnv_dim_merge(x->units, x->output);
    }
    if ((st = nnv_extent_agree(c, projection, 0, &x->output, err)) ||
        (st = nnv_extent_agree(c, projection, 1, &x->units, err)) ||
        (st = nnv_extent_agree(c, ids->first + NNV_LSTM_PROJECTION_BIAS, 0, &x->output, err)) ||
        (st = nnv_extent_agree(c, ids->state, 0, &x->batch, err)) ||
        (st = nnv_extent_agree(c, ids->state, 1, &x->output, err)) ||
        (st = nnv_extent_agree(c, ids->cell_state, 0, &x->batch, err)))
        return st;
    return nnv_extent_agree(c, ids->cell_state, 1, &x->units, err);
}

/* ------------------------------------------------------------------------- values */

struct nnv_lstm nnv_lstm_of(struct nnv_kernel *k, const struct nnv_lstm_ids *ids) {
    int forget = ids->first + NNV_LSTM_WEIGHTS + NNV_GATE_FORGET, peephole = ids->first + NNV_LSTM_PEEPHOLE;
    struct nnv_lstm l = {
        .batch = nnv_in_shape(k, ids->state)->dims[0],
        .input = nnv_in_shape(k, forget)->dims[1],
        .units = nnv_in_shape(k, forget)->dims[0],
        .output = nnv_in_shape(k, ids->state)->dims[1],
        .projection = nnv_real(k, ids->first + NNV_LSTM_PROJECTION),
        .projection_bias = nnv_real(k, ids->first + NNV_LSTM_PROJECTION_BIAS),
        .activation = nnv_int(k->call, ids->act),
        .cell_clip = nnv_num(k->call, ids->cell_clip),
        .projection_clip = nnv_num(k->call, ids->projection_clip),
    };
    for (int g = 0; g < NNV_GATES; g++) {
        l.weights[g] = nnv_real(k, ids->first + NNV_LSTM_WEIGHTS + g);
        l.recurrent[g] = nnv_real(k, ids->first + NNV_LSTM_RECURRENT + g);
        l.bias[g] = nnv_real(k, ids->first + NNV_LSTM_BIAS + g);
        l.norm[g] = nnv_real(k, ids->norm + g);
        if (ids->aux_weights) l.aux_weights[g] = nnv_real(k, ids->aux_weights + g);
    }
    if (l.aux_weights[NNV_GATE_FORGET]) l.aux = nnv_in_shape(k, ids->aux_weights + NNV_GATE_FORGET)->dims[1];
    l.peephole[NNV_GATE_INPUT] = nnv_real(k, peephole);
    l.peephole[NNV_GATE_FORGET] = nnv_real(k, peephole + 1);
    l.peephole[NNV_GATE_OUTPUT] = nnv_real(k, peephole + 2);
    return l;
}

/* ------------------------------------------------------------------------ samples */

struct nnv_lstm_parts nnv_lstm_parts_of(const struct nnv_sample *s) {
    return (struct nnv_lstm_parts){.cifg = nnv_sample_is(s, "cifg"),
                                   .peephole = nnv_sample_is(s, "peephole"),
                                   .norm = nnv_sample_is(s, "norm"),
                                   .projection = nnv_sample_is(s, "projection"),
                                   .projection_bias = nnv_sample_is(s, "bias")};
}

struct nnv_lstm_extents nnv_lstm_sample_extents(struct nnv_sample *s, bool projection) {
    struct nnv_lstm_extents x = {.batch = nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 3)),
                                 .input = nnv_row_extent(s, "input", nnv_sample_dim(s, 3, 7))};
    x.units = x.output = nnv_row_extent(s, "units", nnv_sample_dim(s, 4, 9));
    if (projection && !nnv_sample_is(s, "square")) x.output -= (uint32_t)nnv_sample_int(s, 1, 2);
    if (!s->row && x.input == x.units) x.input++;
    return x;
}

static void sample_gate(struct nnv_sample *s, const struct nnv_lstm_ids *ids, const struct nnv_lstm_parts *parts,
                        const struct nnv_lstm_extents *x, int g) {
    int peephole = ids->first + NNV_LSTM_PEEPHOLE + (g == NNV_GATE_OUTPUT ? 2 : g);
    nnv_sample_tensor(s, ids->first + NNV_LSTM_WEIGHTS + g, 2, (uint32_t[]){x->units, x->input});
    nnv_sample_tensor(s, ids->first + NNV_LSTM_RECURRENT + g, 2, (uint32_t[]){x->units, x->output});
    nnv_sample_tensor(s, ids->first + NNV_LSTM_BIAS + g, 1, &x->units);
    if (parts->peephole && g != NNV_GATE_CELL) nnv_sample_tensor(s, peephole, 1, &x->units);
    if (parts->norm) nnv_sample_tensor(s, ids->norm + g, 1, &x->units);
    if (parts->aux) nnv_sample_tensor(s, ids->aux_weights + g, 2, (uint32_t[]){x->units, x->aux});
}

void nnv_lstm_sample(struct nnv_sample *s, const struct nnv_lstm_ids *ids, const struct nnv_lstm_parts *parts,
                     const struct nnv_lstm_extents *x) {
    for (int g = parts->cifg ? 1 : 0; g < NNV_GATES; g++) sample_gate(s, ids, parts, x, g);
    if (parts->projection) nnv_sample_tensor(s, ids->first + NNV_LSTM_PROJECTION, 2, (uint32_t[]){x->output, x->units});
    if (parts->projection_bias) nnv_sample_tensor(s, ids->first + NNV_LSTM_PROJECTION_BIAS, 1, &x->output);
    nnv_sample_tensor(s, ids->state, 2, (uint32_t[]){x->batch, x->output});
    nnv_sample_tensor(s, ids->cell_state, 2, (uint32_t[]){x->batch, x->units});
}

void nnv_lstm_sample_scalars(struct nnv_sample *s, const struct nnv_lstm_ids *ids) {
    static const double codes[] = {4, 4, 4, 1, 6, 4, 3}; /* mostly tanh */
    static const double cell_clips[] = {0.75, 0, 0.375, 1.25}, projection_clips[] = {0.25, 0.5, 0};
    static const double row_codes[] = {4, 1, 6, 3, 0}, row_cell[] = {0, 0.75, 0.375}, row_output[] = {0, 0.5, 0.25};
    if (s->row) {
        nnv_sample_scalar(s, ids->act, row_codes[nnv_row_named(s, "activation", 0)]);
        nnv_sample_scalar(s, ids->cell_clip, row_cell[nnv_row_named(s, "cell_clip", 0)]);
        nnv_sample_scalar(s, ids->projection_clip, row_output[nnv_row_named(s, "output_clip", 0)]);
        return;
    }
    nnv_sample_scalar(s, ids->act, codes[s->index % 7]);
    nnv_sample_scalar(s, ids->cell_clip, cell_clips[s->index % 4]);
    nnv_sample_scalar(s, ids->projection_clip, projection_clips[s->index % 3]);
}
