/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/move/pad.h"

int32_t nnv_pad_head(const struct nnv_call *c, uint32_t d) { return nnv_int_at(c, NNV_PADDINGS, 2 * d); }

int32_t nnv_pad_tail(const struct nnv_call *c, uint32_t d) { return nnv_int_at(c, NNV_PADDINGS, 2 * d + 1); }

enum nnv_status nnv_pad_infer(const struct nnv_call *c, nnv_move_extent *extent, struct nnv_shape *out,
                              struct nnv_err *err) {
    uint32_t ends = 2;
    enum nnv_status st = nnv_extent_agree(c, NNV_PADDINGS, 1, &ends, err);
    return st ? st : nnv_move_infer(c, (int[]){NNV_PADDINGS}, 1, extent, out, err);
}

enum nnv_status nnv_pad_extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out, struct nnv_err *err) {
    int32_t head = nnv_pad_head(c, d), tail = nnv_pad_tail(c, d);
    if (head < 0 || tail < 0) return nnv_fail(err, NNV_INVALID, "padding %d is negative", head < 0 ? head : tail);
    if (n == NNV_DIM_UNKNOWN) return NNV_OK;
    return nnv_extent_make((uint64_t)n + (uint32_t)head + (uint32_t)tail, out, err);
}

int64_t nnv_pad_index(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    int64_t from = (int64_t)i - nnv_pad_head(c, d);
    return from >= 0 && from < n ? from : NNV_MOVE_FILL;
}

bool nnv_pad_shifted_zero(const struct nnv_call *c) {
    const struct nnv_operand *x = nnv_in(c, 0)->operand;
    return x->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && x->zero_point != 0;
}

void nnv_pad_sample(struct nnv_sample *s, uint32_t rank, int keep) {
    static const int wanted[] = {1, 3, 0, 2, 9, 0, 4}; /* 9: as many as there may be */
    uint32_t dims[NNV_MAX_RANK], paddings[] = {rank, 2};
    int32_t cells[2 * NNV_MAX_RANK];
    nnv_sample_dims(s, rank, rank == 1 ? 20 : 90, dims);
    for (uint32_t d = 0; d < rank; d++) {
        if (dims[d] < 2) dims[d] = 2;
        int most = (int)dims[d] - keep;
        for (uint32_t e = 0; e < 2; e++) {
            int n = wanted[((uint32_t)s->index + 2 * d + 3 * e) % 7];
            cells[2 * d + e] = n < most ? n : most < 5 ? most : 5;
        }
    }
    nnv_sample_tensor(s, 0, rank, dims);
    nnv_sample_tensor(s, NNV_PADDINGS, 2, paddings)->ints = nnv_arena_copy(s->arena, cells, 2 * rank * sizeof *cells);
}
