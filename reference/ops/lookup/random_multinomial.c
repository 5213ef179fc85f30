/* SPDX-License-Identifier: Apache-2.0 */
/** @file random_multinomial.c RANDOM_MULTINOMIAL. */
#include "reference/ops/common.h"

enum { LOGITS, SAMPLES, SEEDS };

static const struct nnv_slot inputs[] = {
    {.id = LOGITS, .name = "logits", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    NNV_SLOT_INT(SAMPLES, "samples", NNV_POSITIVE),
    NNV_SLOT_INTS(SEEDS, "seeds"),
};
static const struct nnv_slot outputs[] = {{.name = "classes",
                                           .var = NNV_FIXED,
                                           .type = ANEURALNETWORKS_TENSOR_INT32,
                                           .rank_min = 2,
                                           .rank_max = 2,
                                           .judged = NNV_JUDGED_SAMPLES}};

static const struct nnv_sig sigs[] = {NNV_SIG(3, FLOAT32), NNV_SIG(3, FLOAT16)};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    uint32_t two = 2;
    return nnv_extent_agree(c, SEEDS, 0, &two, err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    out[0] = nnv_shape_of_rank(2);
    out[0].dims[0] = nnv_dim(&nnv_in(c, LOGITS)->shape, 0);
    if (nnv_known(c, SAMPLES)) out[0].dims[1] = (uint32_t)nnv_int(c, SAMPLES);
    return NNV_OK;
}

/* sums[i] = the sum of e^(x[j] - max) over j <= i. */
static void accumulate(const double *x, size_t n, double *sums) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sums[i] = sum += exp(x[i] - most);
}

/* The first class whose sum exceeds the point. */
static size_t class_at(const double *sums, size_t n, double point) {
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (sums[mid] > point)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/*
 * The seeds key the generator, so that the same request gives the same classes. Another implementation has another
 * generator: its samples, and what follows from them, can't be compared one by one.
 */
static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, LOGITS);
    const double *x = nnv_real(k, LOGITS), *seeds = nnv_real(k, SEEDS);
    size_t n = s->dims[1], samples = (size_t)nnv_int(k->call, SAMPLES);
    double *sums = NNV_NEW(k->scratch, double, n);
    if (!sums) return nnv_no_memory(err);
    for (uint32_t row = 0; row < s->dims[0]; row++) {
        struct nnv_rng rng = nnv_rng_make((uint64_t)(int64_t)seeds[0], (uint64_t)(int64_t)seeds[1], row);
        accumulate(x + row * n, n, sums);
        for (size_t i = 0; i < samples; i++) {
            double class = (double)class_at(sums, n, nnv_rng_unit(&rng) * sums[n - 1]);
            k->out[0][row * samples + i] = nnv_hazard(k, class, true);
        }
    }
    return NNV_OK;
}

static const struct nnv_factor factors[] = {{.name = "batch", NNV_VALUES(1, 2, 3)},
                                            {.name = "classes", NNV_VALUES(5, 2, 17)},
                                            {.name = "samples", NNV_VALUES(2000, 1500, 2049)}};
static const char *const variants[] = {"few", "two", "many", "skewed", "large", NULL};

static void sample(struct nnv_sample *s) {
    bool many = nnv_sample_is(s, "many");
    uint32_t classes = nnv_sample_is(s, "two") ? 2 : many ? nnv_sample_dim(s, 100, 300) : nnv_sample_dim(s, 3, 12);
    classes = nnv_row_extent(s, "classes", classes);
    uint32_t batch = nnv_row_extent(s, "batch", (uint32_t)nnv_sample_int(s, 1, 3));
    struct nnv_sample_arg *logits = nnv_sample_tensor(s, LOGITS, 2, (uint32_t[]){batch, classes});
    bool large = nnv_sample_is(s, "large"), skewed = nnv_sample_is(s, "skewed"); /* e^x beyond the type's range */
    logits->lo = large ? 200 : skewed ? -9 : -2;
    logits->hi = large ? 204 : skewed ? 3 : 2;
    nnv_sample_scalar(s, SAMPLES, nnv_row_named(s, "samples", nnv_sample_int(s, 1500, many ? 6000 : 3000)));
    nnv_sample_ints(s, SEEDS, 2, (int32_t[]){nnv_sample_int(s, 1, 100000), nnv_sample_int(s, 1, 100000)});
}

const struct nnv_op nnv_op_RANDOM_MULTINOMIAL = {
    NNV_OP_NAMED(RANDOM_MULTINOMIAL),
    .level = 3,
    .formula = "y[b,i] = a class j, drawn with probability e^x[b,j] / (the sum of e^x[b,.])",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
