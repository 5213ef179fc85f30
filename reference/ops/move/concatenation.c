/* SPDX-License-Identifier: Apache-2.0 */
/** @file concatenation.c CONCATENATION. */
#include "reference/ops/common.h"

#include <string.h>

enum { X, AXIS };

static const struct nnv_slot inputs[] = {
    {.id = X,
     .name = "input",
     .var = NNV_T,
     .flags = NNV_REPEAT,
     .rank_min = 1,
     .rank_max = 4,
     .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_INT(AXIS, "axis", NNV_NOT_NEGATIVE),
};
static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static const struct nnv_arg *input(const struct nnv_call *c, uint32_t i) { return &c->in[(uint32_t)c->pos[X] + i]; }

/* True if all inputs and the output have one scale and zero point (floats have none). */
static bool one_scale(const struct nnv_call *c) {
    const struct nnv_operand *y = c->out[0].operand;
    for (uint32_t i = 0; i < c->repeat; i++) {
        const struct nnv_operand *x = input(c, i)->operand;
        if (x->scale != y->scale || x->zero_point != y->zero_point) return false;
    }
    return true;
}

static int level_of(const struct nnv_call *c) { return one_scale(c) ? 1 : 3; }

static enum nnv_status common_rank(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_shape s = {0};
    for (uint32_t i = 0; i < c->repeat; i++) {
        const struct nnv_shape *x = &input(c, i)->shape;
        if (!x->known_rank) continue;
        if (s.known_rank && s.rank != x->rank)
            return nnv_fail(err, NNV_INVALID, "input %u has rank %u, but another has %u", i, x->rank, s.rank);
        s = nnv_shape_of_rank(x->rank);
    }
    *out = s;
    return NNV_OK;
}

/* Extent d of the output: the sum along the axis, else the one on which all inputs agree. */
static enum nnv_status join(const struct nnv_call *c, uint32_t d, uint32_t axis, uint32_t *out, struct nnv_err *err) {
    uint64_t sum = 0;
    uint32_t same = NNV_DIM_UNKNOWN;
    bool known = true;
    for (uint32_t i = 0; i < c->repeat; i++) {
        uint32_t x = nnv_dim(&input(c, i)->shape, d);
        known = known && x != NNV_DIM_UNKNOWN;
        sum += x;
        if (d != axis && !nnv_dim_agree(x, same))
            return nnv_fail(err, NNV_INVALID, "input %u: extent %u is %u, but another input has %u", i, d, x, same);
        same = nnv_dim_merge(same, x);
    }
    if (d == axis && known && sum > NNV_DIM_MAX)
        return nnv_fail(err, NNV_INVALID, "the output's extent %u would be %llu: too large", d,
                        (unsigned long long)sum);
    *out = d != axis ? same : known ? (uint32_t)sum : NNV_DIM_UNKNOWN;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_shape s;
    enum nnv_status st = common_rank(c, &s, err);
    if (st) return st;
    if (s.known_rank && nnv_known(c, AXIS)) {
        uint32_t axis = (uint32_t)nnv_int(c, AXIS);
        if (axis >= s.rank) return nnv_fail(err, NNV_INVALID, "axis %u is not below the rank %u", axis, s.rank);
        for (uint32_t d = 0; d < s.rank; d++)
            if ((st = join(c, d, axis, &s.dims[d], err))) return st;
    }
    out[0] = s;
    return NNV_OK;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    const struct nnv_call *c = k->call;
    uint32_t axis = (uint32_t)nnv_int(c, AXIS);
    if (one_scale(c)) k->rounding = NNV_ROUND_NONE;
    struct nnv_lines y = nnv_lines_of(nnv_out_shape(k, 0), axis);
    size_t at = 0;
    for (uint32_t i = 0; i < c->repeat; i++) {
        struct nnv_lines x = nnv_lines_of(&input(c, i)->shape, axis);
        const double *from = nnv_real_at(k, (uint32_t)c->pos[X] + i);
        size_t run = x.n * x.inner;
        for (size_t o = 0; run > 0 && o < x.outer; o++)
            memcpy(k->out[0] + o * y.n * y.inner + at, from + o * run, run * sizeof *from);
        at += run;
    }
    return NNV_OK;
}

enum { ROW_AXIS = NNV_SHAPE_OWN, ROW_COUNT, ROW_EXTENTS, ROW_SCALES };
static const struct nnv_factor factors[] = {NNV_SHAPE_FACTORS,
                                            NNV_AXIS_FACTOR,
                                            {.name = "count", NNV_VALUES(2, 1, 3, 4, 8)},
                                            {.name = "extents", NNV_WORDS("equal", "unequal")},
                                            {.name = "scales", NNV_WORDS("equal", "first", "unequal", "points")}};

static const char *const variants[] = {"rank1", "rank2", "rank3", "rank4", "same_scale", NULL};

static void sample(struct nnv_sample *s) {
    enum { EQUAL, FIRST, UNEQUAL, POINTS }; /* POINTS: one scale, each its own zero point */
    static const uint32_t counts[] = {2, 3, 5, 1, 4, 8, 6, 7};
    static const float ratios[] = {1, 1.75f, 0.5f, 1.0009765625f, 3, 0.8125f, 2, 0.375f};
    bool same = s->row ? nnv_sample_value(s, ROW_SCALES) == EQUAL : nnv_sample_is(s, "same");
    bool as_first = s->row ? nnv_sample_value(s, ROW_SCALES) == FIRST : s->index % 2 == 1;
    const bool points = s->row && nnv_sample_value(s, ROW_SCALES) == POINTS;
    uint32_t rank = same ? 1 + (uint32_t)s->index % 4 : (uint32_t)s->variant + 1, dims[4];
    if (s->row)
        rank = nnv_sample_shape(s, dims);
    else
        nnv_sample_dims(s, rank, rank == 1 ? 40 : 150, dims);
    uint32_t axis = s->row ? nnv_row_place(s, ROW_AXIS, rank) : (uint32_t)s->index % rank, extent = dims[axis];
    uint32_t n = s->row ? (uint32_t)nnv_sample_value(s, ROW_COUNT) : counts[s->index % 8];
    bool quant = nnv_is_quant(s->sig->type[NNV_T]);
    int lowest = quant ? (int)nnv_type(s->sig->type[NNV_T])->min : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!s->row) dims[axis] = 1 + (dims[axis] + 2 * i) % 9;
        if (s->row && nnv_sample_value(s, ROW_EXTENTS) != EQUAL) dims[axis] = i == 0 ? extent : i;
        struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
        if (s->empty && i == (uint32_t)s->index % n) x->dims[axis] = 0;
        if (s->exact || !quant) continue;
        x->scale = 0.0625f * (same || points ? 1 : ratios[i]);
        x->zero_point = lowest + 128 + (same ? 0 : 11 * (int)i - 30);
    }
    nnv_sample_scalar(s, AXIS, axis);
    if (points) {
        s->out_scale = s->rep[0].scale;
        s->out_zero_point = s->rep[0].zero_point + 5;
    }
    if (same || as_first) { /* else the output's scale is unlike all of the inputs' */
        s->out_scale = s->rep[0].scale;
        s->out_zero_point = s->rep[0].zero_point;
    }
}

const struct nnv_op nnv_op_CONCATENATION = {
    NNV_OP_NAMED(CONCATENATION),  .level = 1,        .formula = "y = inputs one behind the other along axis",
    NNV_OP_FORM(inputs, outputs), NNV_OP_SIGS(sigs), .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,         .linear = true,    .moves = true,
    .level_of = level_of,         NNV_OP_HOOKS(),    NNV_OP_FACTORS(factors),
};
