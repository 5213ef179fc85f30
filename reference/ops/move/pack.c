/* SPDX-License-Identifier: Apache-2.0 */
/** @file pack.c PACK. */
#include "reference/ops/move/move.h"

#include <string.h>

enum { AXIS, X };

static const struct nnv_slot inputs[] = {NNV_SLOT_INT(AXIS, "axis", NNV_NOT_NEGATIVE),
                                         {.id = X,
                                          .name = "input",
                                          .var = NNV_T,
                                          .flags = NNV_REPEAT,
                                          .rank_min = 1,
                                          .quant = NNV_Q_SAME_1,
                                          .domain = NNV_DOMAIN_ALL}};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 2, .quant = NNV_Q_SAME_1}};
static const struct nnv_sig sigs[] = NNV_MOVE_SIGS_OF(6);

/* What is known of the one shape that all inputs have. */
static enum nnv_status common_shape(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_shape s = {0};
    for (uint32_t i = 0; i < c->repeat; i++) {
        const struct nnv_shape *x = &c->in[(uint32_t)c->pos[X] + i].shape;
        if (!x->known_rank) continue;
        if (!s.known_rank) s = *x;
        if (s.rank != x->rank)
            return nnv_fail(err, NNV_INVALID, "tensor %u has rank %u, but another has %u", i, x->rank, s.rank);
        for (uint32_t d = 0; d < s.rank; d++) {
            if (!nnv_dim_agree(s.dims[d], x->dims[d]))
                return nnv_fail(err, NNV_INVALID, "tensor %u: extent %u is %u, but another tensor has %u", i, d,
                                x->dims[d], s.dims[d]);
            s.dims[d] = nnv_dim_merge(s.dims[d], x->dims[d]);
        }
    }
    *out = s;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_shape x, s = {0};
    enum nnv_status st = common_shape(c, &x, err);
    if (st) return st;
    if (x.known_rank) {
        if (x.rank == NNV_MAX_RANK) return nnv_fail(err, NNV_INVALID, "rank %u is above %d", x.rank + 1, NNV_MAX_RANK);
        s = nnv_shape_of_rank(x.rank + 1);
    }
    if (x.known_rank && nnv_known(c, AXIS)) {
        uint32_t axis = (uint32_t)nnv_int(c, AXIS);
        if (axis > x.rank) return nnv_fail(err, NNV_INVALID, "axis %u is above the inputs' rank %u", axis, x.rank);
        for (uint32_t d = 0, from = 0; d < s.rank; d++) s.dims[d] = d == axis ? c->repeat : x.dims[from++];
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_lines l = nnv_lines_of(nnv_out_shape(k, 0), (uint32_t)nnv_int(k->call, AXIS));
    for (size_t i = 0; i < l.n; i++) {
        const double *x = nnv_real_at(k, (uint32_t)k->call->pos[X] + (uint32_t)i);
        for (size_t o = 0; o < l.outer; o++)
            memcpy(k->out[0] + (o * l.n + i) * l.inner, x + o * l.inner, l.inner * sizeof *x);
    }
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_COUNT };
static const struct nnv_factor factors[] = {
    NNV_SHAPE_ANY_FACTORS, NNV_AXIS_FACTOR, {.name = "count", NNV_VALUES(2, 1, 3, 4, 8)}};

static void row_sample(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims);
    nnv_sample_scalar(s, AXIS, nnv_row_axis(s, ROW_AXIS, rank + 1));
    for (int32_t i = 0; i < nnv_sample_value(s, ROW_COUNT); i++) nnv_sample_tensor(s, X, rank, dims);
}

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "rank5", NULL};

static void sample(struct nnv_sample *s) {
    if (s->row) {
        row_sample(s);
        return;
    }
    static const uint32_t counts[] = {3, 2, 5, 1, 4, 8};
    uint32_t rank = (uint32_t)s->variant + 1, n = counts[s->index % 6], dims[NNV_MAX_RANK];
    nnv_sample_dims(s, rank, rank == 1 ? 30 : 100, dims);
    nnv_sample_scalar(s, AXIS, ((uint32_t)s->index + 1) % (rank + 1));
    for (uint32_t i = 0; i < n; i++) nnv_sample_tensor(s, X, rank, dims);
}

NNV_MOVE_RECORD(PACK, "y[..., i, ...] = input i: the inputs stacked along a new axis", .level = 6,
                .early = NNV_EARLY_SCALES | NNV_EARLY_RANKS | NNV_EARLY_OUTPUTS);
