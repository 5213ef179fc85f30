/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file drift.c Sums of products judged by the bias and the deviation of their errors, over many sums of terms of one
 * sign: an accumulator that truncates or rounds upwards is off by a little at each step, always to the same side. No
 * single result shows it; their mean does.
 */
#include <math.h>
#include <stdio.h>

#include "harness/datasheet/numeric/numeric.h"
#include "reference/model/op.h"

enum { ROWS = 512, TERMS = 256 };

/**
 * A bias is told beyond so many standard errors: by chance less than once in ten million statements. Deviations are
 * told apart where their squares differ by this factor, which chance makes of ROWS equal ones as rarely.
 */
static const double significant = 5.5, larger = 2;

/** Errors of sums, in units in the last place of the exact results. */
struct errors {
    double inward;    /* the mean, away from 0: truncation makes it negative */
    double upward;    /* the mean */
    double deviation; /* from the means */
};

static struct errors errors_of(int32_t type, const double *y, const double *exact) {
    struct errors e = {0};
    double squares = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const double d = (y[i] - exact[i]) / nnv_ulp(type, exact[i]);
        e.upward += d / ROWS;
        e.inward += copysign(d, d * exact[i]) / ROWS;
        squares += d * d / ROWS;
    }
    e.deviation = sqrt(fmax(0, squares - e.upward * e.upward - e.inward * e.inward));
    return e;
}

/** x: numbers of one sign a row, that the type has; weights too. exact and single: their sums, and those that float32
 * gives, one term after the other. */
static void design(struct nnv_sums s, double *x, double *weights, double *exact, double *single) {
    struct nnv_rng rng = nnv_rng_make(1, nnv_hash_str("drift"), (uint64_t)(uint32_t)s.type);
    for (size_t i = 0; i < TERMS; i++)
        weights[i] = s.op == ANEURALNETWORKS_REDUCE_SUM ? 1 : nnv_round_to(s.type, nnv_rng_uniform(&rng, 1, 2));
    for (size_t r = 0; r < ROWS; r++) {
        const double sign = r % 2 ? -1 : 1;
        float sum = 0;
        exact[r] = 0;
        for (size_t i = 0; i < TERMS; i++) {
            const double v = sign * nnv_round_to(s.type, nnv_rng_uniform(&rng, 1, 2));
            x[r * TERMS + i] = v;
            exact[r] += v * weights[i];
            sum = (float)((double)sum + (double)(float)(v * weights[i]));
        }
        single[r] = nnv_round_to(s.type, (double)sum);
    }
}

void nnv_measure_drift(const struct nnv_numeric_engine *e, struct nnv_sums s) {
    double *x = NNV_NEW(e->arena, double, (size_t)ROWS *TERMS), *weights = NNV_NEW(e->arena, double, TERMS),
           *exact = NNV_NEW(e->arena, double, ROWS), *single = NNV_NEW(e->arena, double, ROWS),
           *y = NNV_NEW(e->arena, double, ROWS);
    if (!x || !weights || !exact || !single || !y || nnv_is_quant(s.type)) return;
    design(s, x, weights, exact, single);
    if (!nnv_sums_run(e, s, ROWS, TERMS, x, s.op == ANEURALNETWORKS_REDUCE_SUM ? NULL : weights, y)) return;
    const struct errors is = errors_of(s.type, y, exact), float32 = errors_of(s.type, single, exact);
    const double told = significant * is.deviation / sqrt(ROWS);
    const bool inward = fabs(is.inward) > told, upward = fabs(is.upward) > told;
    const bool worse = !(is.deviation * is.deviation <= larger * float32.deviation * float32.deviation);
    char about[64], words[96], evidence[300];
    snprintf(about, sizeof about, "%s %s", nnv_op(s.op)->name, nnv_type(s.type)->tag);
    if (inward && fabs(is.inward) >= fabs(is.upward))
        snprintf(words, sizeof words, "biased %s 0", is.inward < 0 ? "towards" : "away from");
    else if (upward)
        snprintf(words, sizeof words, "biased %s", is.upward < 0 ? "downwards" : "upwards");
    else
        snprintf(words, sizeof words, "unbiased, %s a float32 sum", worse ? "less exact than" : "as exact as");
    snprintf(evidence, sizeof evidence,
             "%d sums of %d terms: bias %.3g ulp away from 0, %.3g upwards (told beyond %.2g), deviation %.3g; "
             "float32, one after the other: %.3g",
             ROWS, TERMS, is.inward, is.upward, told, is.deviation, float32.deviation);
    (inward || upward ? nnv_numeric_find : nnv_numeric_say)(e, about, "errors of sums", words, evidence);
}
