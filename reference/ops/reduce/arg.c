/* SPDX-License-Identifier: Apache-2.0 */
/** @file arg.c ARGMAX, ARGMIN. */
#include "reference/ops/common.h"

enum { X, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_INT(AXIS, "axis", NNV_AXIS),
};
#define OUTPUT(JUDGED)                                                                                                 \
    { .name = "output", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .rank_min = 1, .judged = JUDGED }
static const struct nnv_slot largest[] = {OUTPUT(NNV_JUDGED_LARGEST)}, smallest[] = {OUTPUT(NNV_JUDGED_LEAST)};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, INT32),
                                      NNV_SIG(3, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

/* The input's shape without the axis; [1] for rank 1. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape y = {0};
    if (x->known_rank) y = nnv_shape_of_rank(x->rank > 1 ? x->rank - 1 : 1);
    if (x->known_rank && x->rank == 1) y.dims[0] = 1;
    if (x->known_rank && x->rank > 1 && nnv_known(c, AXIS)) {
        uint32_t axis = (uint32_t)nnv_axis(nnv_int(c, AXIS), x->rank);
        for (uint32_t d = 0; d < y.rank; d++) y.dims[d] = x->dims[d < axis ? d : d + 1];
    }
    out[0] = y;
    return NNV_OK;
}

/* True if another element than i of the line may be the largest, or is as large: three spreads lie between surely
   ordered ones. */
static bool is_open(struct nnv_kernel *k, const double *x, size_t at, const struct nnv_lines *l, size_t i,
                    double sign) {
    size_t best = at + i * l->inner;
    double d = nnv_spread(k, X, best);
    for (size_t j = 0; j < l->n; j++) {
        size_t e = at + j * l->inner;
        double width = 3 * (d + nnv_spread(k, X, e));
        if (j != i && !(sign * (x[best] - x[e]) > width)) return true;
    }
    return false;
}

/*
 * The first position of the largest of sign * x along the axis. Where equals, or the noise of the input, leave it open
 * which one that is, the other rows are NaN, so that what follows from it is not compared.
 */
static void eval(struct nnv_kernel *k, double sign) {
    struct nnv_lines l = nnv_lines_along(k, X, AXIS);
    const double *x = nnv_real(k, X);
    for (size_t line = 0; line < nnv_line_count(&l); line++) {
        size_t at = nnv_line_at(&l, line), i = 0;
        for (size_t j = 1; j < l.n; j++)
            if (sign * (x[at + j * l.inner] - x[at + i * l.inner]) > 0) i = j;
        bool open = k->noise && k->row == 0 && is_open(k, x, at, &l, i, sign);
        k->out[0][line] = k->noise ? nnv_noise_add(k, (double)i, open ? (double)NAN : 0) : (double)i;
    }
}

/* ------------------------------------------------------------------ samples */

enum { ROW_AXIS = NNV_SHAPE_OWN };
static const struct nnv_factor factors[] = {NNV_SHAPE_ANY_RANKS, NNV_LINE_EXTENTS, NNV_SIGNED_AXIS_FACTOR};

static const char *const variants[] = {"axis", "rank1", "rank3", "rank5", "long", NULL};

static void sample(struct nnv_sample *s) {
    uint32_t rank, dims[NNV_MAX_RANK];
    int axis;
    nnv_sample_axis(s->index, &rank, &axis);
    for (uint32_t r = 1; r <= 5; r += 2) {
        const char word[] = {'r', 'a', 'n', 'k', (char)('0' + r), 0};
        if (!nnv_sample_is(s, word)) continue;
        rank = r;
        axis = s->index % (int)(2 * r) - (int)r;
    }
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
        axis = nnv_row_axis(s, ROW_AXIS, rank);
    } else {
        nnv_sample_dims(s, rank, 400, dims);
    }
    if (nnv_sample_is(s, "long")) {
        rank = 2;
        axis = s->index % 2 ? 0 : -1;
        const bool wide = s->index == 5; /* a position that 16 bits with a sign do not hold */
        dims[axis ? 0 : 1] = wide ? 1 : 3;
        dims[axis ? 1 : 0] = wide ? INT16_MAX + 4 : nnv_sample_dim(s, 200, 500);
    }
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
    if (s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_INT32 && s->index % 2) { /* mostly without ties */
        x->lo = -100000;
        x->hi = 100000;
    }
    nnv_sample_last_wins(s, x, s->op->code == ANEURALNETWORKS_ARGMAX ? 1 : -1);
    nnv_sample_scalar(s, AXIS, axis);
}

#define RECORD(NAME, WHICH, SIGN)                                                                                      \
    static enum nnv_status eval_##WHICH(struct nnv_kernel *k, struct nnv_err *err) {                                   \
        (void)err;                                                                                                     \
        eval(k, SIGN);                                                                                                 \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 3,                                                                                                    \
        .formula = "y = the position of the " #WHICH " of x along axis; of equals any",                                \
        NNV_OP_FORM(inputs, WHICH),                                                                                    \
        NNV_OP_SIGS(sigs),                                                                                             \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .infer = infer,                                                                                                \
        NNV_EVAL(eval_##WHICH),                                                                                        \
        .variants = variants,                                                                                          \
        NNV_OP_FACTORS(factors),                                                                                       \
        NNV_SAMPLE(sample),                                                                                            \
    }

RECORD(ARGMAX, largest, 1);
RECORD(ARGMIN, smallest, -1);
