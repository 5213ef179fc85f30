/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/recurrent/rnn.h"

#include <string.h>

void nnv_rnn_step(struct nnv_kernel *k, const struct nnv_rnn *cell, const double *x, const double *aux_x,
                  const double *h, double *to) {
    for (size_t b = 0; b < cell->batch; b++)
        for (size_t u = 0; u < cell->units; u++) {
            struct nnv_dot d = {cell->bias[u], fabs(cell->bias[u]), 1};
            nnv_dot_add(&d, cell->input, x + b * cell->input, cell->weights + u * cell->input);
            if (aux_x && cell->aux_weights)
                nnv_dot_add(&d, cell->aux, aux_x + b * cell->aux, cell->aux_weights + u * cell->aux);
            nnv_dot_add(&d, cell->units, h + b * cell->units, cell->recurrent + u * cell->units);
            to[b * cell->units + u] = nnv_activation(k, cell->activation, nnv_dot_end(k, &d));
        }
}

enum nnv_status nnv_rnn_sequence(struct nnv_kernel *k, const struct nnv_rnn *cell, const struct nnv_steps *steps,
                                 const double *h, double *h_out, struct nnv_err *err) {
    size_t n = cell->batch * cell->units;
    double *old = NNV_NEW(k->scratch, double, n), *new = NNV_NEW(k->scratch, double, n);
    if (!old || !new) return nnv_no_memory(err);
    memcpy(old, h, n * sizeof *h);
    for (uint32_t i = 0; i < steps->seq.time; i++) {
        uint32_t t = steps->backward ? steps->seq.time - 1 - i : i;
        const double *aux = steps->aux ? steps->aux + t * cell->batch * cell->aux : NULL;
        nnv_rnn_step(k, cell, steps->x + t * cell->batch * cell->input, aux, old, new);
        nnv_sequence_store(steps, t, new, cell->units);
        double *swap = old;
        old = new;
        new = swap;
    }
    if (h_out) memcpy(h_out, old, n * sizeof *h);
    return NNV_OK;
}

/* ------------------------------------------------------------------------- inputs */

enum nnv_status nnv_rnn_agree(const struct nnv_call *c, const struct nnv_rnn_ids *ids, struct nnv_rnn_extents *x,
                              struct nnv_err *err) {
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, ids->weights, 0, &x->units, err)) ||
        (st = nnv_extent_agree(c, ids->weights, 1, &x->input, err)) ||
        (st = nnv_extent_agree(c, ids->recurrent, 0, &x->units, err)) ||
        (st = nnv_extent_agree(c, ids->recurrent, 1, &x->units, err)) ||
        (st = nnv_extent_agree(c, ids->bias, 0, &x->units, err)) ||
        (st = nnv_extent_agree(c, ids->state, 0, &x->batch, err)) ||
        (st = nnv_extent_agree(c, ids->state, 1, &x->units, err)) || !ids->aux_weights)
        return st;
    if ((st = nnv_extent_agree(c, ids->aux_weights, 0, &x->units, err))) return st;
    return nnv_extent_agree(c, ids->aux_weights, 1, &x->aux, err);
}

struct nnv_rnn nnv_rnn_of(struct nnv_kernel *k, const struct nnv_rnn_ids *ids) {
    struct nnv_rnn cell = {
        .batch = nnv_in_shape(k, ids->state)->dims[0],
        .input = nnv_in_shape(k, ids->weights)->dims[1],
        .units = nnv_in_shape(k, ids->weights)->dims[0],
        .weights = nnv_real(k, ids->weights),
        .recurrent = nnv_real(k, ids->recurrent),
        .bias = nnv_real(k, ids->bias),
        .activation = nnv_int(k->call, ids->act),
    };
    if (ids->aux_weights) cell.aux_weights = nnv_real(k, ids->aux_weights);
    if (cell.aux_weights) cell.aux = nnv_in_shape(k, ids->aux_weights)->dims[1];
    return cell;
}

void nnv_rnn_sample(struct nnv_sample *s, const struct nnv_rnn_ids *ids, const struct nnv_rnn_extents *x) {
    nnv_sample_tensor(s, ids->weights, 2, (uint32_t[]){x->units, x->input});
    nnv_sample_tensor(s, ids->recurrent, 2, (uint32_t[]){x->units, x->units});
    nnv_sample_tensor(s, ids->bias, 1, &x->units);
    nnv_sample_tensor(s, ids->state, 2, (uint32_t[]){x->batch, x->units});
    if (x->aux) nnv_sample_tensor(s, ids->aux_weights, 2, (uint32_t[]){x->units, x->aux});
}
