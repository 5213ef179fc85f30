/* SPDX-License-Identifier: Apache-2.0 */
/** @file lstm.h The long short-term memory cell, with everything that NNAPI lets it have: its inputs and its step. */
#ifndef NNV_OPS_LSTM_H
#define NNV_OPS_LSTM_H

#include "reference/ops/common.h"
#include "reference/ops/recurrent/sequence.h"

/** The gates, in the order in which inputs and scratch name them; "cell" is the new value. */
enum { NNV_GATE_INPUT, NNV_GATE_FORGET, NNV_GATE_CELL, NNV_GATE_OUTPUT, NNV_GATES };

/** A cell: matrices row-major; arrays of pointers by gate, an entry NULL where the cell does not have it. */
struct nnv_lstm {
    size_t batch, input, units, output;
    const double *weights[NNV_GATES];   /**< [units, input]; input gate NULL: coupled to the forget gate (CIFG) */
    const double *recurrent[NNV_GATES]; /**< [units, output] */
    const double *peephole[NNV_GATES];  /**< [units]; the cell gate has none */
    const double *bias[NNV_GATES];      /**< [units] */
    const double *norm[NNV_GATES];      /**< [units], layer normalisation */
    size_t aux;
    const double *aux_weights[NNV_GATES]; /**< [units, aux], or NULL: no auxiliary input */
    const double *projection;             /**< [output, units]; NULL: output = units */
    const double *projection_bias;        /**< [output], or NULL */
    int activation;                       /**< of nnv_activation, on the new value and on the state */
    double cell_clip, projection_clip;    /**< 0: none */
};

/** Values of one step: [batch, input], [batch, output], [batch, units]. */
struct nnv_lstm_step {
    const double *x, *aux, *h, *c; /**< inputs; aux may be NULL; h and c: the states before */
    double
        *gates[NNV_GATES]; /**< out: the activated gates, [batch, units] with the stride below; input: unused in CIFG */
    size_t gate_stride;    /**< from one batch to the next */
    double *h_out, *c_out; /**< out: the states after; not the same memory as before */
};

/**
 * z_k = x W_k^T + aux A_k^T + h R_k^T (+ P_k c for the input and forget gate, + P_o c' for the output gate)
 * without normalisation: + b_k; with: z_k = (z_k - mean) / sqrt(variance + 1e-8) * N_k + b_k over the units of a batch
 * f = logistic(z_f), i = CIFG ? 1 - f : logistic(z_i), g = act(z_g), o = logistic(z_o)
 * c' = clip(f c + i g, cell_clip), m = o act(c'), h' = projection ? clip(m P^T + p, projection_clip) : m
 * NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_lstm_step(struct nnv_kernel *k, const struct nnv_lstm *cell,
                                             const struct nnv_lstm_step *s, struct nnv_err *err);

/**
 * A cell over a sequence: steps of x, and aux or NULL (time-major), from the states h and c; h of each step goes
 * into *to. h_out and c_out get the last states; either may be NULL. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_lstm_sequence(struct nnv_kernel *k, const struct nnv_lstm *cell,
                                                 const struct nnv_steps *steps, const double *h, const double *c,
                                                 double *h_out, double *c_out, struct nnv_err *err);

/* ------------------------------------------------ the inputs of a cell in a record */

/** Ids of a cell's parts counted from the first one; groups of four are by gate. */
enum {
    NNV_LSTM_WEIGHTS = 0,
    NNV_LSTM_RECURRENT = 4,
    NNV_LSTM_PEEPHOLE = 8, /**< input, forget, output */
    NNV_LSTM_BIAS = 11,
    NNV_LSTM_PROJECTION = 15,
    NNV_LSTM_PROJECTION_BIAS = 16,
    NNV_LSTM_PARTS = 17
};

/** Where an operation has the inputs of a cell: ids. */
struct nnv_lstm_ids {
    int first;             /**< of the NNV_LSTM_PARTS ids above */
    int state, cell_state; /**< [batch, output], [batch, units] */
    int norm;              /**< four, by gate */
    int aux_weights;       /**< four, by gate; 0: the operation has no auxiliary input */
    int act, cell_clip, projection_clip;
};

/* Slots of a cell for the list of inputs; OF goes before each name. */
#define NNV_LSTM_NEEDED NNV_PARAM
#define NNV_LSTM_OPTIONAL (NNV_PARAM | NNV_OMITTABLE)
#define NNV_LSTM_BY_GATE(FIRST, OF, NAME, RANK, LIMIT)                                                                 \
    NNV_CELL_TENSOR(FIRST, OF "input" NAME, RANK, NNV_LSTM_OPTIONAL, LIMIT),                                           \
        NNV_CELL_TENSOR(FIRST + 1, OF "forget" NAME, RANK, NNV_LSTM_NEEDED, LIMIT),                                    \
        NNV_CELL_TENSOR(FIRST + 2, OF "cell" NAME, RANK, NNV_LSTM_NEEDED, LIMIT),                                      \
        NNV_CELL_TENSOR(FIRST + 3, OF "output" NAME, RANK, NNV_LSTM_NEEDED, LIMIT)
#define NNV_LSTM_SLOTS(FIRST, OF)                                                                                      \
    NNV_LSTM_BY_GATE(FIRST + NNV_LSTM_WEIGHTS, OF "input-to-", " weights", 2, 0.75),                                   \
        NNV_LSTM_BY_GATE(FIRST + NNV_LSTM_RECURRENT, OF "recurrent-to-", " weights", 2, 0.75),                         \
        NNV_CELL_TENSOR(FIRST + NNV_LSTM_PEEPHOLE, OF "cell-to-input weights", 1, NNV_LSTM_OPTIONAL, 1),               \
        NNV_CELL_TENSOR(FIRST + NNV_LSTM_PEEPHOLE + 1, OF "cell-to-forget weights", 1, NNV_LSTM_OPTIONAL, 1),          \
        NNV_CELL_TENSOR(FIRST + NNV_LSTM_PEEPHOLE + 2, OF "cell-to-output weights", 1, NNV_LSTM_OPTIONAL, 1),          \
        NNV_LSTM_BY_GATE(FIRST + NNV_LSTM_BIAS, OF, " gate bias", 1, 1),                                               \
        NNV_CELL_TENSOR(FIRST + NNV_LSTM_PROJECTION, OF "projection weights", 2, NNV_LSTM_OPTIONAL, 1),                \
        NNV_CELL_TENSOR(FIRST + NNV_LSTM_PROJECTION_BIAS, OF "projection bias", 1, NNV_LSTM_OPTIONAL, 0.25)
#define NNV_LSTM_NORM_SLOT(ID, NAME, GROUP, LEVEL)                                                                     \
    {                                                                                                                  \
        .id = ID, .name = NAME " layer normalisation weights", .var = NNV_T, .flags = NNV_LSTM_OPTIONAL,               \
        .rank_min = 1, .rank_max = 1, .group = GROUP, .level = LEVEL, .lo = -1, .hi = 1                                \
    }
#define NNV_LSTM_NORM_SLOTS(FIRST, OF, GROUP, LEVEL)                                                                   \
    NNV_LSTM_NORM_SLOT(FIRST, OF "input", GROUP, LEVEL), NNV_LSTM_NORM_SLOT(FIRST + 1, OF "forget", GROUP, LEVEL),     \
        NNV_LSTM_NORM_SLOT(FIRST + 2, OF "cell", GROUP, LEVEL),                                                        \
        NNV_LSTM_NORM_SLOT(FIRST + 3, OF "output", GROUP, LEVEL)

/**
 * Parts come in sets: input gate, peephole, layer normalisation and auxiliary weights are whole or omitted, and have
 * a part for the input gate where the cell has that gate. NNV_INVALID names the set.
 */
NNV_USE_RESULT enum nnv_status nnv_lstm_check(const struct nnv_call *c, const struct nnv_lstm_ids *ids,
                                              struct nnv_err *err);

struct nnv_lstm_extents {
    uint32_t batch, input, aux, units, output;
};
/**
 * Demands that the shapes of a cell's inputs agree with each other and with what is known in *x, and merges what
 * they tell into *x. NNV_INVALID names the input.
 */
NNV_USE_RESULT enum nnv_status nnv_lstm_agree(const struct nnv_call *c, const struct nnv_lstm_ids *ids,
                                              struct nnv_lstm_extents *x, struct nnv_err *err);

/** The cell of this row. */
struct nnv_lstm nnv_lstm_of(struct nnv_kernel *k, const struct nnv_lstm_ids *ids);

/** The factors of its parts, and of its scalars. */
#define NNV_LSTM_FACTORS                                                                                               \
    {.name = "gates", NNV_WORDS("four", "cifg")}, {.name = "peephole", NNV_WORDS("none", "peephole")},                 \
        {.name = "norm", NNV_WORDS("none", "norm")},                                                                   \
        {.name = "projection", NNV_WORDS("none", "projection", "projection_bias", "square_projection")},               \
        {.name = "activation", NNV_WORDS("tanh", "relu", "logistic", "relu6", "linear")},                              \
        {.name = "cell_clip", NNV_WORDS("none", "0.75", "0.375")}, {                                                   \
        .name = "output_clip", NNV_WORDS("none", "0.5", "0.25")                                                        \
    }
/** Which parts a generated cell has. */
struct nnv_lstm_parts {
    bool cifg, peephole, norm, projection, projection_bias, aux;
};
/** The parts that the variant's name lists: cifg, peephole, norm, projection, bias. */
struct nnv_lstm_parts nnv_lstm_parts_of(const struct nnv_sample *s);
/** For sample hooks: unequal extents; the output is narrower than the cell only with a projection. */
struct nnv_lstm_extents nnv_lstm_sample_extents(struct nnv_sample *s, bool projection);
/** For sample hooks: sets all parts and states of a cell. */
void nnv_lstm_sample(struct nnv_sample *s, const struct nnv_lstm_ids *ids, const struct nnv_lstm_parts *parts,
                     const struct nnv_lstm_extents *x);
/** For sample hooks: sets activation and clips, which walk with the index. */
void nnv_lstm_sample_scalars(struct nnv_sample *s, const struct nnv_lstm_ids *ids);

#endif
