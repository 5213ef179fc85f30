/* SPDX-License-Identifier: Apache-2.0 */
/** @file pad.c PAD. */
#include "reference/ops/move/pad.h"

static const struct nnv_slot inputs[] = {NNV_MOVE_X(4), NNV_PAD_PADDINGS};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_2;

static int level_of(const struct nnv_call *c) { return nnv_pad_shifted_zero(c) ? 3 : 2; }

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_pad_infer(c, nnv_pad_extent, out, err);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_move_axes(k, nnv_pad_index, 0, err);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", NULL};

static void sample(struct nnv_sample *s) { nnv_pad_sample(s, (uint32_t)s->variant + 1, 0); }

NNV_MOVE_RECORD(PAD, "y = x with cells of real value 0 before and behind each axis", .level = 2, .level_of = level_of);
