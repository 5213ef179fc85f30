/* SPDX-License-Identifier: Apache-2.0 */
/** @file pad.c PAD, PAD_V2, MIRROR_PAD: cells before and behind each axis. */
#include "reference/ops/move/move.h"

/* PADDINGS is [rank, 2], the cells before and behind each axis. */
enum { PADDINGS = 1, VALUE, MODE };
enum { REFLECT, SYMMETRIC };

#define INPUTS(MAX) NNV_MOVE_X(MAX), NNV_SLOT_INT_TENSOR(PADDINGS, "paddings", 2, NNV_PARAM | NNV_LIMITED)
static const struct nnv_slot pad_inputs[] = {INPUTS(4)};
static const struct nnv_slot value_inputs[] = {INPUTS(4), NNV_SLOT_NUMBER(VALUE, "value", NNV_ANY)};
static const struct nnv_slot mirror_inputs[] = {INPUTS(0), NNV_SLOT_INT(MODE, "mode", NNV_ANY)};
static const struct nnv_slot outputs[] = {NNV_MOVE_Y(4)}, mirror_outputs[] = {NNV_MOVE_Y(0)};

static const struct nnv_sig pad_sigs[] = NNV_MOVE_SIGS_2, mirror_sigs[] = NNV_MOVE_SIGS_OF(7);
static const struct nnv_sig value_sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
    NNV_SIG_SCALAR(3, QUANT8_ASYMM, INT32),
    NNV_SIG_SCALAR(4, QUANT8_ASYMM_SIGNED, INT32),
};

/* Cells before and behind axis d; only where the paddings are known. */
static int32_t head(const struct nnv_call *c, uint32_t d) { return nnv_int_at(c, PADDINGS, 2 * d); }

static int32_t tail(const struct nnv_call *c, uint32_t d) { return nnv_int_at(c, PADDINGS, 2 * d + 1); }

/* The extents with their cells, by a rule that may demand more. */
static enum nnv_status infer(const struct nnv_call *c, nnv_move_extent *extent, struct nnv_shape *out,
                             struct nnv_err *err) {
    uint32_t ends = 2;
    enum nnv_status st = nnv_extent_agree(c, PADDINGS, 1, &ends, err);
    return st ? st : nnv_move_infer(c, (int[]){PADDINGS}, 1, extent, out, err);
}

/* No more than that the cells are not negative. */
static enum nnv_status pad_extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out,
                                  struct nnv_err *err) {
    int32_t before = head(c, d), behind = tail(c, d);
    if (before < 0 || behind < 0)
        return nnv_fail(err, NNV_INVALID, "padding %d is negative", before < 0 ? before : behind);
    if (n == NNV_DIM_UNKNOWN) return NNV_OK;
    return nnv_extent_make((uint64_t)n + (uint32_t)before + (uint32_t)behind, out, err);
}

static int64_t pad_index(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    int64_t from = (int64_t)i - head(c, d);
    return from >= 0 && from < n ? from : NNV_MOVE_FILL;
}

#define ROW_PADDING                                                                                                    \
    NNV_ALONG_FACTOR, { .name = "padding", NNV_WORDS("equal", "head", "tail", "unequal", "none", "wide") }
enum { ROW_ALONG = NNV_SHAPE_OWN, ROW_CELLS, ROW_MODE };
static const struct nnv_factor factors[] = {NNV_SHAPE_FACTORS, ROW_PADDING};
static const struct nnv_factor mirror_factors[] = {
    NNV_SHAPE_ANY_FACTORS, ROW_PADDING, {.name = "mode", NNV_WORDS("reflect", "symmetric")}};

/* The row's input and paddings, also within what there is. */
static void row_paddings(struct nnv_sample *s, int keep) {
    static const int32_t cells[][2] = {{1, 1}, {2, 0}, {0, 1}, {1, 3}, {0, 0}, {9, 9}};
    uint32_t dims[NNV_MAX_RANK], rank = nnv_sample_shape(s, dims), paddings[] = {rank, 2};
    int32_t *to = NNV_NEW(s->arena, int32_t, (size_t)2 * rank);
    for (uint32_t d = 0; to && d < rank; d++)
        for (uint32_t e = 0; e < 2; e++) {
            const int32_t n = cells[nnv_sample_value(s, ROW_CELLS)][e], most = (int32_t)dims[d] - keep;
            const bool along = nnv_row_along(s, ROW_ALONG, rank, d);
            to[2 * d + e] = !along ? 0 : s->op->code == ANEURALNETWORKS_MIRROR_PAD && n > most ? most : n;
        }
    nnv_sample_tensor(s, 0, rank, dims);
    nnv_sample_tensor(s, PADDINGS, 2, paddings)->ints = to;
}

/* Draws input and paddings: of each axis at most its extent less `keep`. */
static void sample_paddings(struct nnv_sample *s, uint32_t rank, int keep) {
    if (s->row) {
        row_paddings(s, keep);
        return;
    }
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
    nnv_sample_tensor(s, PADDINGS, 2, paddings)->ints = nnv_arena_copy(s->arena, cells, 2 * rank * sizeof *cells);
}

static const char *const rank_variants[] = {"rank1", "rank2", "rank3", "rank4", NULL};

/* ----------------------------------------------------------- zeros, or a value */

static int pad_level(const struct nnv_call *c) { return nnv_shifted_zero(c) ? 3 : 2; }

static enum nnv_status pad_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return infer(c, pad_extent, out, err);
}

static enum nnv_status pad_eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_move_axes(k, pad_index, 0, err);
}

static void pad_sample(struct nnv_sample *s) { sample_paddings(s, (uint32_t)s->variant + 1, 0); }

/* A quantised value is given as its code. */
static enum nnv_status value_check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_type *t = nnv_type(nnv_in(c, 0)->operand->type);
    if (t->kind != NNV_KIND_QUANT || !nnv_known(c, VALUE)) return NNV_OK;
    double v = nnv_num(c, VALUE);
    if (v < t->min || v > t->max) return nnv_fail(err, NNV_INVALID, "value %.0f is not a code of %s", v, t->name);
    return NNV_OK;
}

/* A relaxed model may round the scalar to float16. */
static double fill_of(struct nnv_kernel *k, double v) {
    bool half = nnv_half_to_double(nnv_double_to_half(v)) == v;
    return half || k->u_i <= 0x1p-24 ? v : nnv_round(k, v);
}

static enum nnv_status value_eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_operand *x = nnv_in(k->call, 0)->operand;
    double v = nnv_num(k->call, VALUE);
    v = nnv_is_quant(x->type) ? (v - x->zero_point) * (double)x->scale : fill_of(k, v);
    return nnv_move_axes(k, pad_index, v, err);
}

static void value_sample(struct nnv_sample *s) {
    static const double values[] = {-1.5, 3, 0.25, -7, 6.5}, codes[] = {9, -60, 127, -128, -1}; /* exact in float16 */
    int32_t type = s->sig->type[NNV_T];
    sample_paddings(s, (uint32_t)s->variant + 1, 0);
    nnv_sample_scalar(s, VALUE,
                      nnv_is_quant(type) ? nnv_type(type)->min + 128 + codes[s->index % 5]
                      : s->exact         ? floor(values[s->index % 5])
                                         : values[s->index % 5]);
}

/* ------------------------------------------------------------------- mirrored */

static enum nnv_status mirror_check(const struct nnv_call *c, struct nnv_err *err) {
    if (!nnv_known(c, MODE) || nnv_int(c, MODE) == REFLECT || nnv_int(c, MODE) == SYMMETRIC) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "mode %d is neither 0 (reflect) nor 1 (symmetric)", nnv_int(c, MODE));
}

/* There must be enough to mirror; reflected, the edge itself is not repeated. */
static enum nnv_status mirror_extent(const struct nnv_call *c, uint32_t d, uint32_t n, uint32_t *out,
                                     struct nnv_err *err) {
    int64_t before = head(c, d), behind = tail(c, d), larger = before > behind ? before : behind;
    if (n != NNV_DIM_UNKNOWN && nnv_known(c, MODE)) {
        int64_t most = (int64_t)n - (nnv_int(c, MODE) == REFLECT);
        if (larger > most)
            return nnv_fail(err, NNV_INVALID, "padding %lld is above %lld, what extent %u has to mirror",
                            (long long)larger, (long long)most, n);
    }
    return pad_extent(c, d, n, out, err);
}

static enum nnv_status mirror_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    return infer(c, mirror_extent, out, err);
}

static int64_t mirror_index(const struct nnv_call *c, uint32_t d, uint32_t i, uint32_t n) {
    int64_t at = (int64_t)i - head(c, d), edge = nnv_int(c, MODE) == SYMMETRIC ? 1 : 0;
    return at < 0 ? -at - edge : at >= n ? 2 * ((int64_t)n - 1) - at + edge : at;
}

static enum nnv_status mirror_eval(struct nnv_kernel *k, struct nnv_err *err) {
    return nnv_move_axes(k, mirror_index, 0, err);
}

static const char *const mirror_variants[] = {"reflect", "symmetric", NULL};

static void mirror_sample(struct nnv_sample *s) {
    bool reflect = s->row ? nnv_sample_value(s, ROW_MODE) == REFLECT : nnv_sample_is(s, "reflect");
    sample_paddings(s, 5 - (uint32_t)s->index % 5, reflect);
    nnv_sample_scalar(s, MODE, reflect ? REFLECT : SYMMETRIC);
}

/** The record of an operation; then what else it has. */
#define RECORD(NAME, LEVEL, FORMULA, INPUTS, OUTPUTS, KIND, ...)                                                       \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = LEVEL,                                                                                                \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(INPUTS, OUTPUTS),                                                                                  \
        NNV_OP_SIGS(KIND##_sigs),                                                                                      \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .linear = true,                                                                                                \
        .moves = true,                                                                                                 \
        NNV_EVAL(KIND##_eval),                                                                                         \
        NNV_SAMPLE(KIND##_sample),                                                                                     \
        __VA_ARGS__,                                                                                                   \
    }

RECORD(PAD, 2, "y = x with cells of real value 0 before and behind each axis", pad_inputs, outputs, pad,
       .level_of = pad_level, .infer = pad_infer, .variants = rank_variants, NNV_OP_FACTORS(factors));
RECORD(PAD_V2, 3, "y = x with cells of a value before and behind each axis; quantised: the value is a code",
       value_inputs, outputs, value, .check = value_check, .infer = pad_infer, .variants = rank_variants,
       NNV_OP_FACTORS(factors));
RECORD(MIRROR_PAD, 7,
       "y = x with mirrored cells before and behind each axis; mode 0: without the edge, 1: with the edge",
       mirror_inputs, mirror_outputs, mirror, .early = NNV_EARLY_SCALES | NNV_EARLY_RANKS | NNV_EARLY_OUTPUTS,
       .check = mirror_check, .infer = mirror_infer, .variants = mirror_variants, NNV_OP_FACTORS(mirror_factors));
