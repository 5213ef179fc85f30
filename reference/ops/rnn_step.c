/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/rnn.h"

void nnv_rnn_step(struct nnv_kernel *k, const struct nnv_rnn *cell, const double *x, const double *aux_x,
                  const double *h, double *to) {
    for (size_t b = 0; b < cell->batch; b++)
        for (size_t u = 0; u < cell->units; u++) {
            struct nnv_dot d = {cell->bias[u], fabs(cell->bias[u]), 1};
            nnv_dot_add(&d, cell->input, x + b * cell->input, cell->weights + u * cell->input);
            if (cell->aux_weights) nnv_dot_add(&d, cell->aux, aux_x + b * cell->aux, cell->aux_weights + u * cell->aux);
            nnv_dot_add(&d, cell->units, h + b * cell->units, cell->recurrent + u * cell->units);
            to[b * cell->units + u] = nnv_activation(k, cell->activation, nnv_dot_end(k, &d));
        }
}
