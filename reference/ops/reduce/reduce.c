/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce.c MEAN and the REDUCE operations: a tensor, a set of axes, and whether they stay as 1. */
#include "reference/ops/common.h"

#include <string.h>

enum { X, AXES, KEEP };

/* DOMAIN is that of the numbers, KEEP_TYPE that of "keep dims". */
#define INPUTS(DOMAIN, KEEP_TYPE)                                                                                      \
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 1, .rank_max = 4, .domain = DOMAIN},                          \
        NNV_SLOT_LIMITED_INTS(AXES, "axes"), {                                                                         \
        .id = KEEP, .name = "keep dims", .var = NNV_FIXED, .type = KEEP_TYPE, .flags = NNV_SCALAR                      \
    }
static const struct nnv_slot inputs[] = {INPUTS(NNV_DOMAIN_DRAWN, ANEURALNETWORKS_BOOL)},
                             order_inputs[] = {INPUTS(NNV_DOMAIN_ALL, ANEURALNETWORKS_BOOL)},
                             mean_inputs[] = {INPUTS(NNV_DOMAIN_DRAWN, ANEURALNETWORKS_INT32)};
static const struct nnv_slot logical[] = {{.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4}};
static const struct nnv_slot number[] = {
    {.name = "output", .var = NNV_T, .rank_min = 1, .rank_max = 4, .quant = NNV_Q_SAME}};

static const struct nnv_sig logical_sigs[] = {NNV_SIG(3, BOOL8)};
static const struct nnv_sig float_sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16)};
static const struct nnv_sig order_sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16), NNV_SIG(3, QUANT8_ASYMM),
                                            NNV_SIG(4, QUANT8_ASYMM_SIGNED)};
static const struct nnv_sig mean_sigs[] = {NNV_SIG(2, FLOAT32), NNV_SIG(2, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                           NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static bool keeps(const struct nnv_call *c) { return nnv_int(c, KEEP) > 0; }

/* Marks the axes that are reduced. */
static enum nnv_status read_axes(const struct nnv_call *c, bool reduced[NNV_MAX_RANK], struct nnv_err *err) {
    const struct nnv_arg *a = nnv_in(c, AXES);
    uint32_t rank = nnv_in(c, X)->shape.rank, n = nnv_dim(&a->shape, 0);
    memset(reduced, 0, NNV_MAX_RANK * sizeof *reduced);
    for (uint32_t i = 0; i < n; i++) {
        int32_t axis;
        memcpy(&axis, (const char *)a->data + i * sizeof axis, sizeof axis);
        int at = nnv_axis(axis, rank);
        if (at < 0)
            return nnv_fail(err, NNV_INVALID, "axes: %d, at %u, is not an axis of a tensor of rank %u", axis, i, rank);
        reduced[at] = true;
    }
    return NNV_OK;
}

/*
 * Negative axes count from the end; an axis may stand more than once. Kept axes have extent 1; where all are reduced
 * and none is kept, the output is [1].
 */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    const struct nnv_arg *axes = nnv_in(c, AXES);
    bool known = nnv_known(c, KEEP), keep = known && keeps(c), reduced[NNV_MAX_RANK];
    struct nnv_shape y = {0};
    if (x->known_rank && keep) y = nnv_shape_of_rank(x->rank);
    if (x->known_rank && axes->data && nnv_dim(&axes->shape, 0) != NNV_DIM_UNKNOWN) {
        enum nnv_status st = read_axes(c, reduced, err);
        if (st) return st;
        uint32_t rank = 0;
        for (uint32_t d = 0; known && d < x->rank; d++)
            if (keep || !reduced[d]) y.dims[rank++] = reduced[d] ? 1 : x->dims[d];
        if (known && rank == 0) y.dims[rank++] = 1;
        if (known) y.known_rank = true, y.rank = rank;
    }
    out[0] = y;
    return NNV_OK;
}

/* Element offset of the i-th combination of the extents of which[] == wanted, the last fastest. */
static size_t offset_of(const struct nnv_shape *x, const bool *which, bool wanted, size_t i) {
    size_t offset = 0, stride = 1;
    for (uint32_t d = x->rank; d-- > 0; stride *= x->dims[d]) {
        if (which[d] != wanted || x->dims[d] < 2) continue;
        offset += i % x->dims[d] * stride;
        i /= x->dims[d];
    }
    return offset;
}

/* The value of the n numbers that are reduced into one, real ones or those of nnv_units, in row-major order. */
typedef double fold_fn(struct nnv_kernel *k, const double *v, size_t n);

/* out[e] = unit * fold(the elements of x that fall together in e); x: nnv_real or nnv_units of the input. */
static enum nnv_status reduce(struct nnv_kernel *k, const double *x, double unit, fold_fn *fold, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, X);
    bool reduced[NNV_MAX_RANK];
    enum nnv_status st = read_axes(k->call, reduced, err);
    if (st) return st;
    size_t groups = nnv_shape_elems(nnv_out_shape(k, 0)), n = 1;
    for (uint32_t d = 0; d < s->rank; d++) n *= reduced[d] ? s->dims[d] : 1;
    double *v = NNV_NEW(k->scratch, double, n);
    size_t *at = NNV_NEW(k->scratch, size_t, n);
    if (!v || !at) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) at[i] = offset_of(s, reduced, true, i);
    for (size_t g = 0; g < groups; g++) {
        const double *from = x + offset_of(s, reduced, false, g);
        for (size_t i = 0; i < n; i++) v[i] = from[at[i]];
        k->out[0][g] = unit * fold(k, v, n);
    }
    return NNV_OK;
}

/* -------------------------------------------------------------------- folds */

static double all_of(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    bool unknown = false; /* NaN: "not compared" in a row */
    for (size_t i = 0; i < n; i++) {
        if (v[i] == 0) return 0;
        unknown = unknown || isnan(v[i]);
    }
    return unknown ? (double)NAN : 1;
}

static double any_of(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    bool unknown = false; /* NaN: "not compared" in a row */
    for (size_t i = 0; i < n; i++) {
        if (v[i] != 0 && !isnan(v[i])) return 1;
        unknown = unknown || isnan(v[i]);
    }
    return unknown ? (double)NAN : 0;
}

/* Unlike fmax and fmin these keep NaN, which means "not compared" in a row. */
static double largest(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    double max = v[0];
    for (size_t i = 1; i < n; i++)
        if (v[i] > max || isnan(v[i])) max = v[i];
    return max;
}

static double smallest(struct nnv_kernel *k, const double *v, size_t n) {
    (void)k;
    double min = v[0];
    for (size_t i = 1; i < n; i++)
        if (v[i] < min || isnan(v[i])) min = v[i];
    return min;
}

static double product(struct nnv_kernel *k, const double *v, size_t n) {
    double product = 1;
    for (size_t i = 0; i < n; i++) product = nnv_round(k, product * v[i]);
    return product;
}

static double sum(struct nnv_kernel *k, const double *v, size_t n) {
    double sum = 0, abs = 0, terms = (double)n;
    if (k->same_inputs) return nnv_noise_replay(k);
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        abs += fabs(v[i]);
    }
    if (nnv_counts_terms(k)) {
        struct nnv_terms t = {0};
        for (size_t i = 0; i < n; i++) nnv_terms_add(&t, v[i]);
        terms = nnv_terms_end(&t, terms);
    }
    return nnv_sum(k, sum, terms, abs, 1);
}

static double mean(struct nnv_kernel *k, const double *v, size_t n) { return nnv_round(k, sum(k, v, n) / (double)n); }

static enum nnv_status eval_mean(struct nnv_kernel *k, struct nnv_err *err) {
    return reduce(k, nnv_units(k, X), nnv_scale(k, X, 0), mean, err);
}

/* ------------------------------------------------------------------ samples */

/* One axis (each place, from either end), several, all, an axis twice, kept axes. */
static const char *const variants[] = {"axis",  "axis_keep",  "several", "several_keep", "all", "all_keep",
                                       "twice", "twice_keep", NULL};

enum { ROW_AXES = NNV_SHAPE_OWN, ROW_KEEP };
#define AXES_WORDS "1,2", "last", "first", "-1", "-2", "all", "-all", "outer", "inner", "ends"
#define KEEP_FACTOR                                                                                                    \
    { .name = "keep", NNV_WORDS("no", "yes") }
enum { LAST_AXIS = 1 }; /* what a long line is reduced along */
static const struct nnv_factor factors[] = {NNV_SHAPE_RANKS(4, 1, 2, 3),
                                            NNV_LINE_EXTENTS,
                                            {.name = "axes", NNV_WORDS(AXES_WORDS), .with_sizes = LAST_AXIS},
                                            KEEP_FACTOR};
/* Of a product of a whole line's numbers float16 has no digit right: few are multiplied. */
static const struct nnv_factor product_factors[] = {
    NNV_SHAPE_FACTORS, {.name = "axes", NNV_WORDS(AXES_WORDS)}, KEEP_FACTOR};

/* Writes the row's axes of a tensor of that rank; returns their number. */
static uint32_t row_axes(const struct nnv_sample *s, int32_t rank, int32_t axes[4]) {
    enum { SPATIAL, LAST, FIRST, MINUS_1, MINUS_2, ALL, ALL_NEGATIVE, OUTER, INNER, ENDS };
    const int32_t word = nnv_sample_value(s, ROW_AXES);
    uint32_t n = 0;
    if (word == MINUS_1 || word == MINUS_2) {
        axes[0] = word == MINUS_1 || rank == 1 ? -1 : -2;
        return 1;
    }
    for (int32_t d = 0; d < rank; d++) {
        const bool first = d == 0, last = d == rank - 1;
        const bool in = word == SPATIAL ? (d == 1 || d == 2) : word == LAST ? last : word == FIRST ? first : true;
        if (!in || (word == OUTER && last) || (word == INNER && first) || (word == ENDS && !first && !last)) continue;
        axes[n++] = word == ALL_NEGATIVE ? d - rank : d;
    }
    if (n == 0) axes[n++] = 0; /* a vector has no other */
    return n;
}

/* limit: elements of the input at most. Values from lo to hi. */
static void sample(struct nnv_sample *s, uint32_t limit, double lo, double hi) {
    uint32_t rank = 4, dims[4], n = 1;
    int at;
    int32_t axes[4];
    nnv_sample_axis(s->index, &rank, &at);
    axes[0] = at;
    if (nnv_sample_is(s, "several") || nnv_sample_is(s, "twice")) { /* not neighbours, in falling order, mixed signs */
        rank = 3 + (uint32_t)s->index % 2;
        axes[0] = (int32_t)rank - 1 - (rank == 4 ? s->index / 2 % 2 : 0);
        axes[1] = axes[0] - 2 - (s->index % 3 ? (int32_t)rank : 0);
        n = 2;
    }
    if (nnv_sample_is(s, "twice")) axes[n++] = axes[0] - (int32_t)rank;
    if (nnv_sample_is(s, "all"))
        for (n = 0; n < rank; n++) axes[n] = n % 2 ? (int32_t)n : (int32_t)n - (int32_t)rank;
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
        n = row_axes(s, (int32_t)rank, axes);
        if (rank == 4 && n == 2 && axes[0] == 1 && axes[1] == 2 &&
            nnv_sample_value(s, NNV_SHAPE_OUTER) == NNV_OUTER_LONG)
            dims[0] = 2, dims[1] = 33, dims[2] = 31; /* the image is what is long */
    } else {
        nnv_sample_dims(s, rank, limit, dims);
    }
    struct nnv_sample_arg *x = nnv_sample_tensor(s, X, rank, dims);
    x->lo = lo;
    x->hi = hi;
    nnv_sample_ints(s, AXES, n, axes);
    nnv_sample_scalar(s, KEEP, s->row ? nnv_sample_value(s, ROW_KEEP) : nnv_sample_is(s, "keep"));
}

/* One element in so many differs from the others, so that both results occur however many are reduced to one. */
static double *seldom(struct nnv_sample *s, const struct nnv_sample_arg *x, const bool *reduced) {
    const double usual = s->op->code == ANEURALNETWORKS_REDUCE_ALL;
    double n = 1, of_one = 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        n *= x->dims[d];
        if (reduced[d]) of_one *= x->dims[d];
    }
    double *v = NNV_NEW(s->arena, double, (size_t)n);
    for (size_t i = 0; v && i < (size_t)n; i++) v[i] = nnv_rng_unit(&s->rng) < 0.7 / of_one ? 1 - usual : usual;
    return v;
}

/* Booleans: reduces so few elements at a time that both results occur. */
static void sample_logical(struct nnv_sample *s) {
    sample(s, 300, 0, 1);
    struct nnv_sample_arg *x = &s->arg[X], *axes = &s->arg[AXES];
    bool reduced[NNV_MAX_RANK] = {false};
    for (uint32_t i = 0; i < axes->dims[0]; i++) reduced[nnv_axis(axes->ints[i], x->rank)] = true;
    int seen = 0;
    if (s->row) {
        x->reals = seldom(s, x, reduced);
        return;
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        if (reduced[d])
            x->dims[d] = seen++ < 2 ? 2 : 1;
        else if (x->dims[d] < 5)
            x->dims[d] += 4;
    }
}

static void sample_order(struct nnv_sample *s) { sample(s, 400, 0, 0); }

/* Not around 0: sums that cancel leave little to compare. */
static void sample_sum(struct nnv_sample *s) {
    const bool is_long = s->row && nnv_sample_value(s, NNV_SHAPE_INNER) == NNV_LONG_LINE; /* float16 holds its sum */
    sample(s, 400, -4, is_long ? 5 : 10);
}

/* Factors about 1, of either sign: products of many neither overflow nor vanish, also in float16. */
static void sample_product(struct nnv_sample *s) {
    bool negative = s->index % 2;
    if (s->row) { /* of thousands of factors, too */
        sample(s, 0, negative ? -1.03 : 0.97, negative ? -0.97 : 1.03);
        return;
    }
    sample(s, nnv_sample_is(s, "all") ? 15 : 100, negative ? -1.75 : 0.5, negative ? -0.5 : 1.75);
}

/* ------------------------------------------------------------------ records */

/** The record of an operation; then what else it has. */
#define RECORD(NAME, INPUTS, OUTPUT, SIGS, EVAL, SAMPLE, ROUNDING, ...)                                                \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME), NNV_OP_FORM(INPUTS, OUTPUT), NNV_OP_SIGS(SIGS),  .rounding = ROUNDING, .infer = infer,     \
        NNV_EVAL(EVAL),     .variants = variants,        NNV_SAMPLE(SAMPLE), __VA_ARGS__,                              \
    }
#define REDUCE(NAME, WHAT, FOLD, INPUTS, OUTPUT, SIGS, SAMPLE, ROUNDING, LINEAR, FACTORS)                              \
    static enum nnv_status eval_##NAME(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        return reduce(k, nnv_real(k, X), 1, FOLD, err);                                                                \
    }                                                                                                                  \
    RECORD(NAME, INPUTS, OUTPUT, SIGS, eval_##NAME, SAMPLE, ROUNDING, .level = 3, .linear = LINEAR,                    \
           NNV_OP_FACTORS(FACTORS), .formula = "y = " WHAT ", which vanish or (keep dims) stay as 1")

REDUCE(REDUCE_ALL, "true where all of x are, over the axes", all_of, inputs, logical, logical_sigs, sample_logical,
       NNV_ROUND_NONE, false, factors);
REDUCE(REDUCE_ANY, "true where any of x is, over the axes", any_of, inputs, logical, logical_sigs, sample_logical,
       NNV_ROUND_NONE, false, factors);
REDUCE(REDUCE_MAX, "the largest of x over the axes", largest, order_inputs, number, order_sigs, sample_order,
       NNV_ROUND_NONE, true, factors);
REDUCE(REDUCE_MIN, "the smallest of x over the axes", smallest, order_inputs, number, order_sigs, sample_order,
       NNV_ROUND_NONE, true, factors);
REDUCE(REDUCE_PROD, "the product of x over the axes", product, inputs, number, float_sigs, sample_product,
       NNV_ROUND_RESCALE, false, product_factors);
REDUCE(REDUCE_SUM, "the sum of x over the axes", sum, inputs, number, float_sigs, sample_sum, NNV_ROUND_RESCALE, true,
       factors);
RECORD(MEAN, mean_inputs, number, mean_sigs, eval_mean, sample_sum, NNV_ROUND_RESCALE, .level = 2,
       NNV_OP_FACTORS(factors),
       .formula = "y = the mean of x over the axes, which vanish or (keep dims > 0) stay as 1");
