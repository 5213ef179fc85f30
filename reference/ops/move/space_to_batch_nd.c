/* SPDX-License-Identifier: Apache-2.0 */
/** @file space_to_batch_nd.c SPACE_TO_BATCH_ND. */
#include "reference/ops/move/batch.h"
#include "reference/ops/move/pad.h"

static const struct nnv_slot inputs[] = {NNV_BATCH_INPUT, NNV_SLOT_INTS(NNV_BATCH_BLOCK, "block sizes"),
                                         NNV_MOVE_INTS(NNV_BATCH_PADDINGS, "paddings", 2), NNV_BATCH_LAYOUT};
static const struct nnv_slot outputs[] = {NNV_BATCH_OUTPUT};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

static int level_of(const struct nnv_call *c) { return nnv_pad_shifted_zero(c) ? 3 : 2; }

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_BATCH_X)->shape;
    struct nnv_shape s;
    bool known;
    enum nnv_status st = nnv_batch_begin(c, &s, &known, err);
    uint64_t blocks = 1;
    for (uint32_t i = 0; !st && known && i < 2; i++) {
        uint32_t axis = nnv_batch_axis(c, i), n = nnv_dim(x, axis), block = (uint32_t)nnv_batch_block(c, i);
        blocks *= block;
        if (n == NNV_DIM_UNKNOWN) continue;
        uint64_t padded = (uint64_t)n + (uint32_t)nnv_batch_padding(c, i, 0) + (uint32_t)nnv_batch_padding(c, i, 1);
        if (padded % block != 0)
            return nnv_fail(err, NNV_INVALID, "padded %s %llu is not a multiple of %u", i ? "width" : "height",
                            (unsigned long long)padded, block);
        st = nnv_extent_make(padded / block, &s.dims[axis], err);
    }
    uint32_t n = nnv_dim(x, 0);
    if (!st && known && n != NNV_DIM_UNKNOWN)
        st = nnv_extent_make(blocks <= NNV_DIM_MAX ? blocks * n : blocks, &s.dims[0], err);
    if (!st) out[0] = s;
    return st;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_batch_eval(k, true);
    return NNV_OK;
}

static const char *const variants[] = {"plain", "nhwc", "nchw", NULL};

static void sample(struct nnv_sample *s) { nnv_batch_sample(s, true); }

NNV_MOVE_RECORD(SPACE_TO_BATCH_ND, "y[(u*q+v)*N + n, i, j, c] = x padded with 0 [n, i*p+u, j*q+v, c], blocks p by q",
                .level = 2, .level_of = level_of);
