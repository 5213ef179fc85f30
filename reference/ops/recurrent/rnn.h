/* SPDX-License-Identifier: Apache-2.0 */
/** @file rnn.h The basic recurrent cell: its inputs and its step. */
#ifndef NNV_OPS_RNN_H
#define NNV_OPS_RNN_H

#include "reference/ops/common.h"
#include "reference/ops/recurrent/sequence.h"

/** A cell: matrices row-major. */
struct nnv_rnn {
    size_t batch, input, units;
    const double *weights;   /**< [units, input] */
    const double *recurrent; /**< [units, units] */
    const double *bias;      /**< [units] */
    size_t aux;
    const double *aux_weights; /**< [units, aux], or NULL: no auxiliary input */
    int activation;            /**< of nnv_activation */
};

/**
 * to = act(x * weights^T + aux_x * aux_weights^T + h * recurrent^T + bias): x [batch, input], aux_x [batch, aux] or
 * NULL, h and to [batch, units]; to must not be h.
 */
void nnv_rnn_step(struct nnv_kernel *k, const struct nnv_rnn *cell, const double *x, const double *aux_x,
                  const double *h, double *to);

/**
 * A cell over a sequence: steps of x, and aux or NULL (time-major), from the state h; the results of each step go into
 * *to. h_out gets the last state; may be NULL. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_rnn_sequence(struct nnv_kernel *k, const struct nnv_rnn *cell,
                                                const struct nnv_steps *steps, const double *h, double *h_out,
                                                struct nnv_err *err);

/** Where an operation has the inputs of a cell: ids. */
struct nnv_rnn_ids {
    int weights, recurrent, bias, state;
    int aux_weights; /**< 0: the operation has no auxiliary input */
    int act;
};

struct nnv_rnn_extents {
    uint32_t batch, input, aux, units;
};
/**
 * Demands that the shapes of a cell's inputs agree with each other and with what is known in *x, and merges what
 * they tell into *x. NNV_INVALID names the input.
 */
NNV_USE_RESULT enum nnv_status nnv_rnn_agree(const struct nnv_call *c, const struct nnv_rnn_ids *ids,
                                             struct nnv_rnn_extents *x, struct nnv_err *err);

/** The cell of this row. */
struct nnv_rnn nnv_rnn_of(struct nnv_kernel *k, const struct nnv_rnn_ids *ids);

/** For sample hooks: sets all parts of a cell; x->aux 0: no auxiliary weights. */
void nnv_rnn_sample(struct nnv_sample *s, const struct nnv_rnn_ids *ids, const struct nnv_rnn_extents *x);

#endif
