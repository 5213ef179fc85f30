/* SPDX-License-Identifier: Apache-2.0 */
/** @file lstm.h One time step of the long short-term memory cell, with everything that NNAPI lets it have. */
#ifndef NNV_OPS_LSTM_H
#define NNV_OPS_LSTM_H

#include "reference/ops/common.h"

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

#endif
