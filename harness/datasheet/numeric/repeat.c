/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/numeric/repeat.h"

#include <math.h>

bool nnv_repeat_has(const struct nnv_op *op, int32_t type) {
    bool has = false;
    for (int sig = 0; sig < op->nsigs; sig++) has = has || op->sigs[sig].type[NNV_T] == type;
    if (!has || (type != ANEURALNETWORKS_TENSOR_FLOAT32 && type != ANEURALNETWORKS_TENSOR_FLOAT16)) return false;
    if (op->code == ANEURALNETWORKS_FULLY_CONNECTED || op->code == ANEURALNETWORKS_CONV_2D) return true;
    return op->unary && op->forms->nin == 1 && nnv_out_slot(op->forms, 0)->var == NNV_T;
}

void nnv_repeat_weights(uint32_t n, double *weights) {
    struct nnv_rng rng = nnv_rng_make(1, nnv_hash_str("chain"), n);
    for (uint32_t i = 0; i < n; i++) {
        const double size = (nnv_rng_u64(&rng) & 1 ? -1 : 1) / sqrt(n);
        /* Hadamard's matrix, its columns in another order and some negated: its powers do not repeat. */
        const uint32_t column = (i * 5 + 3) % n;
        for (uint32_t u = 0; u < n; u++) weights[u * n + i] = __builtin_parity(u & column) ? -size : size;
    }
}

uint32_t nnv_repeat_add(struct nnv_builder *b, int32_t op, int32_t type, uint32_t rows, uint32_t n, uint32_t depth,
                        const double *weights, uint32_t *in) {
    const struct nnv_encoding t = {.type = type};
    const bool image = op == ANEURALNETWORKS_CONV_2D, dense = op == ANEURALNETWORKS_FULLY_CONNECTED;
    const uint32_t flat[] = {rows, n}, cube[] = {1, rows, 1, n}, square[] = {n, n}, filter[] = {n, 1, 1, n};
    const uint32_t rank = image ? 4 : 2, *dims = image ? cube : flat;
    uint32_t arg[7] = {0}, nin = 1, at = *in = nnv_builder_tensor(b, t, rank, dims, NNV_SUBGRAPH_INPUT);
    if (image || dense) {
        arg[1] = nnv_builder_numbers(b, t, rank, image ? filter : square, weights);
        arg[2] = nnv_builder_filled(b, t, 1, &n, 0);
        nin = 3;
    }
    if (image) {
        arg[nin++] = nnv_builder_int(b, ANEURALNETWORKS_PADDING_VALID);
        arg[nin++] = nnv_builder_int(b, 1);
        arg[nin++] = nnv_builder_int(b, 1);
    }
    if (image || dense) arg[nin++] = nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE);
    for (uint32_t i = 1; i <= depth; i++) {
        arg[0] = at;
        at = nnv_builder_tensor(b, t, rank, dims, i < depth ? NNV_TEMPORARY_VARIABLE : NNV_SUBGRAPH_OUTPUT);
        nnv_builder_add(b, op, nin, arg, at);
    }
    return at;
}
