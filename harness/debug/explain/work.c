/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/work.h"

#include "NeuralNetworksTypes.h"

enum { OPERATION = 2048, ELEMENT = 8 }; /* what an operation costs by itself; an element beside a product */

static uint64_t elements(const struct nnv_operand *o) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < o->rank; d++) n *= o->dims[d] ? o->dims[d] : 1;
    return n;
}

/** Products for an element of the output of an operation with a filter, or 0. */
static uint64_t products(int32_t code, const struct nnv_operand *filter) {
    switch (code) {
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
    case ANEURALNETWORKS_FULLY_CONNECTED: /* [out, ...] */
        return filter->rank && filter->dims[0] ? elements(filter) / filter->dims[0] : 0;
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D: /* [1, h, w, out] */
        return filter->rank == 4 ? (uint64_t)filter->dims[1] * filter->dims[2] : 0;
    case ANEURALNETWORKS_BATCH_MATMUL:
        return filter->rank ? filter->dims[filter->rank - 1] : 0;
    default: /* of what has no filter; recurrent operations have steps() */
        return 0;
    }
}

/** Rows of input 0, each of which recurrent operations multiply by all their weights; or 0. */
static uint64_t steps(int32_t code, const struct nnv_operand *input) {
    switch (code) {
    case ANEURALNETWORKS_LSTM:
    case ANEURALNETWORKS_RNN:
    case ANEURALNETWORKS_SVDF:
    case ANEURALNETWORKS_QUANTIZED_LSTM:
    case ANEURALNETWORKS_QUANTIZED_16BIT_LSTM:
    case ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_LSTM:
    case ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_RNN:
    case ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM:
    case ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN:
        return input->rank && input->dims[input->rank - 1] ? elements(input) / input->dims[input->rank - 1] : 0;
    default:
        return 0;
    }
}

uint64_t nnv_explain_work(const struct nnv_model *model) {
    const struct nnv_subgraph *s = &model->main;
    uint64_t work = 0;
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        const uint64_t rows = op->nin > 0 ? steps(op->type, &s->operands[op->in[0]]) : 0;
        uint64_t out = 0;
        for (uint32_t k = 0; k < op->nin; k++)
            work += (ELEMENT + (k > 0 ? rows : 0)) * elements(&s->operands[op->in[k]]);
        for (uint32_t k = 0; k < op->nout; k++) out += elements(&s->operands[op->out[k]]);
        work += OPERATION + ELEMENT * out;
        if (op->nin > 1) work += out * products(op->type, &s->operands[op->in[1]]);
    }
    return work;
}
