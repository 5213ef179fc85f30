/* SPDX-License-Identifier: Apache-2.0 */
/** @file rnn.h One time step of the basic recurrent cell. */
#ifndef NNV_OPS_RNN_H
#define NNV_OPS_RNN_H

#include "reference/ops/common.h"

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

#endif
