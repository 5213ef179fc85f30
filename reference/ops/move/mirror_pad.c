/* SPDX-License-Identifier: Apache-2.0 */
/** @file mirror_pad.c MIRROR_PAD. */
#include "reference/ops/move/pad.h"

enum { MODE = NNV_PADDINGS + 1, REFLECT = 0, SYMMETRIC = 1 };

static const struct nnv_slot inputs[] = {NNV_MOVE_X(0), NNV_PAD_PADDINGS, NNV_SLOT_INT(MODE, "mode", NNV_ANY)};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(0)};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_OF(7);

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (!nnv_known(c, MODE) || nnv_int(c, MODE) == REFLECT || nnv_int(c, MODE) == SYMMETRIC) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "mode %d is neither 0 (reflect) nor 1 (symmetric)", nnv_int(c, MODE));
}

/* There must be enough to mirror; reflected, the edge itself is not repeated. */
static enum nnv_status extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out, struct nnv_err *err) {
    int64_t head = nnv_pad_head(c, d), tail = nnv_pad_tail(c, d), larger = head > tail ? head : tail;
    if (n != NNV_DIM_UNKNOWN && nnv_known(c, MODE)) {
        int64_t most = (int64_t)n - (nnv_int(c, MODE) == REFLECT);
        if (larger > most)
            return nnv_fail(err, NNV_INVALID, "padding %lld is above %lld, what extent %u has to mirror",
                            (long long)larger, (long long)most, n);
    }
    return nnv_pad_extent(c, d, n, out, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return nnv_pad_infer(c, extent, out, err);
}

static int64_t from(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    int64_t at = (int64_t)i - nnv_pad_head(c, d), edge = nnv_int(c, MODE) == SYMMETRIC ? 1 : 0;
    return at < 0 ? -at - edge : at >= n ? 2 * ((int64_t)n - 1) - at + edge : at;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) { return nnv_move_axes(k, from, 0, err); }

static const char *const variants[] = {"reflect", "symmetric", NULL};

static void sample(struct nnv_sample *s) {
    bool reflect = nnv_sample_is(s, "reflect");
    nnv_pad_sample(s, 4 - (uint32_t)s->index % 4, reflect);
    nnv_sample_scalar(s, MODE, reflect ? REFLECT : SYMMETRIC);
}

NNV_MOVE_RECORD(MIRROR_PAD,
                "y = x with mirrored cells before and behind each axis; mode 0: without the edge, 1: with the edge",
                .level = 7, .check = check);
