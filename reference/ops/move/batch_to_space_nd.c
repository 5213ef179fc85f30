/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch_to_space_nd.c BATCH_TO_SPACE_ND. */
#include "reference/ops/move/batch.h"

static const struct nnv_slot inputs[] = {NNV_BATCH_INPUT, NNV_SLOT_INTS(NNV_BATCH_BLOCK, "block sizes"),
                                         NNV_BATCH_LAYOUT};
static const struct nnv_slot outputs[] = {NNV_BATCH_OUTPUT};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, NNV_BATCH_X)->shape;
    struct nnv_shape s;
    bool known;
    enum nnv_status st = nnv_batch_begin(c, &s, &known, err);
    uint64_t blocks = 1;
    for (uint32_t i = 0; !st && known && i < 2; i++) {
        uint32_t axis = nnv_batch_axis(c, i), n = nnv_dim(x, axis), block = (uint32_t)nnv_batch_block(c, i);
        blocks *= block;
        if (n != NNV_DIM_UNKNOWN) st = nnv_extent_make((uint64_t)n * block, &s.dims[axis], err);
    }
    uint32_t n = nnv_dim(x, 0);
    if (!st && known && n != NNV_DIM_UNKNOWN) {
        if (n % blocks != 0)
            return nnv_fail(err, NNV_INVALID, "%u batches are not a multiple of %llu", n, (unsigned long long)blocks);
        s.dims[0] = (uint32_t)(n / blocks);
    }
    if (!st) out[0] = s;
    return st;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    nnv_batch_eval(k, false);
    return NNV_OK;
}

static const char *const variants[] = {"plain", "nhwc", "nchw", NULL};

static void sample(struct nnv_sample *s) { nnv_batch_sample(s, false); }

NNV_MOVE_RECORD(BATCH_TO_SPACE_ND, "y[n, i*p+u, j*q+v, c] = x[(u*q+v)*N + n, i, j, c], N batches of y, blocks p by q",
                .level = 2);
