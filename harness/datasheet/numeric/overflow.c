/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file overflow.c What becomes of sums that an accumulator may not hold: of 8-bit codes beyond 2^15, in two neighbours
 * and in many terms, 2^16, 2^24 and 2^31; of float16 beyond 65504 on the way to a small result.
 */
#include <math.h>
#include <stdio.h>

#include "harness/datasheet/numeric/numeric.h"
#include "reference/model/op.h"

enum { ROWS = 4, CODE = 255, WEIGHT = 127, LEAST_TERMS = 64, HALF_TERMS = 64 };

/** What is seen of one step of the ladder. */
enum seen { NOT_RUN, RIGHT, SATURATES, WRAPS, ROUNDED, WRONG };

/** A step: sums around `limit`, of so many neighbours that are not 0; of 0, of as many as it takes. */
struct rung {
    double limit;
    size_t neighbours;
    bool cancels; /* the sum goes to the limit and back */
    const char *name;
};

static const struct rung ladder[] = {{0x1p15, 2, false, "2^15 in two neighbours"},
                                     {0x1p15, 0, false, "2^15"},
                                     {0x1p16, 0, false, "2^16"},
                                     {0x1p24, 0, true, "2^24"},
                                     {0x1p31, 0, false, "2^31"}};
enum { RUNGS = sizeof ladder / sizeof *ladder };

static const char *const words_of[] = {[NOT_RUN] = "not supported", [RIGHT] = "right",        [SATURATES] = "saturates",
                                       [WRAPS] = "wraps",           [ROUNDED] = "is rounded", [WRONG] = "wrong"};

/** The sums of a step, and the codes beyond that of 0 that they are to give. */
struct design {
    double *x, *weights; /* codes less their zero points */
    size_t terms;
    double sum[ROWS], unit;
};

/** Sums of 0.9, 1.2, 1.5 and 1.8 times the limit, of terms that are about equal. */
static bool design_sums(const struct nnv_numeric_engine *e, const struct rung *g, struct design *d) {
    const double largest = g->neighbours ? (double)(g->neighbours * CODE * WEIGHT) : 1.8 * g->limit;
    const size_t used = g->neighbours ? g->neighbours : (size_t)ceil(largest / (CODE * WEIGHT));
    d->terms = used > LEAST_TERMS ? used : LEAST_TERMS;
    d->unit = largest / 240;
    d->x = NNV_NEW(e->arena, double, ROWS * d->terms);
    d->weights = NNV_NEW(e->arena, double, d->terms);
    if (!d->x || !d->weights) return false;
    for (size_t i = 0; i < d->terms; i++) d->weights[i] = WEIGHT;
    for (size_t r = 0; r < ROWS; r++) {
        const double part = (double)(r + 1) * 0.3 + 0.6;
        const size_t spread = g->neighbours ? g->neighbours : d->terms;
        double left = floor(part / 1.8 * largest / WEIGHT);
        d->sum[r] = left * WEIGHT;
        for (size_t i = 0; i < spread; i++) {
            const double v = fmin(CODE, floor(left / (double)(spread - i)));
            d->x[r * d->terms + i] = v;
            left -= v;
        }
        d->sum[r] -= left * WEIGHT;
    }
    return true;
}

/** Sums that grow to nearly 2^31, get some ones, and shrink again: of all that the ones are left. */
static bool design_cancelling(const struct nnv_numeric_engine *e, struct design *d) {
    enum { FULL = 65000, ONES = 200 };
    d->terms = 2 * FULL + ONES;
    d->unit = 1.25;
    d->x = NNV_NEW(e->arena, double, ROWS * d->terms);
    d->weights = NNV_NEW(e->arena, double, d->terms);
    if (!d->x || !d->weights) return false;
    for (size_t i = 0; i < d->terms; i++) d->weights[i] = i < FULL ? WEIGHT : i < FULL + ONES ? 1 : -WEIGHT;
    for (size_t r = 0; r < ROWS; r++) {
        d->sum[r] = (double)(r + 1) * ONES / ROWS;
        for (size_t i = 0; i < d->terms; i++)
            d->x[r * d->terms + i] = i < FULL || i >= FULL + ONES ? CODE : (double)(i - FULL) < d->sum[r];
    }
    return true;
}

static double clamp(double v, double low, double high) { return v < low ? low : v > high ? high : v; }
/** What n bits hold of v. */
static double wrapped(double v, double range) { return v - range * floor(v / range + 0.5); }

/** All results are near what these sums give. */
static bool fits(const struct design *d, const double *y, const double *sums) {
    for (size_t r = 0; r < ROWS; r++)
        if (fabs(y[r] - clamp(sums[r] / d->unit, 0, CODE)) > 2) return false;
    return true;
}

static enum seen see(const struct rung *g, const struct design *d, const double *y) {
    static const double limits[] = {0x1p15, 0x1p16, 0x1p24, 0x1p31, 0x1p32};
    double sums[ROWS];
    if (fits(d, y, d->sum)) return RIGHT;
    if (g->cancels) return ROUNDED;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        for (size_t r = 0; r < ROWS; r++) sums[r] = clamp(d->sum[r], -limits[k], limits[k] - 1);
        if (fits(d, y, sums)) return SATURATES;
        for (size_t r = 0; r < ROWS; r++) sums[r] = wrapped(d->sum[r], 2 * limits[k]);
        if (fits(d, y, sums)) return WRAPS;
    }
    return WRONG;
}

static enum seen climb(const struct nnv_numeric_engine *e, struct nnv_sums s, const struct rung *g) {
    const bool is_signed = s.type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    const int32_t zero = is_signed ? -128 : 0, middle = is_signed ? 0 : 128;
    struct design d;
    double y[ROWS];
    if (!(g->cancels ? design_cancelling(e, &d) : design_sums(e, g, &d))) return NOT_RUN;
    for (size_t i = 0; i < ROWS * d.terms; i++) d.x[i] += zero;
    for (size_t i = 0; i < d.terms; i++) d.weights[i] += middle;
    const struct nnv_sums_form form = {
        {s.type, 1, zero}, {s.type, 1, middle}, {ANEURALNETWORKS_TENSOR_INT32, 1, 0}, {s.type, (float)d.unit, zero}};
    if (!nnv_sums_run_as(e, s.op, &form, ROWS, d.terms, d.x, d.weights, y)) return NOT_RUN;
    for (size_t r = 0; r < ROWS; r++) y[r] -= zero;
    return see(g, &d, y);
}

static void measure_codes(const struct nnv_numeric_engine *e, struct nnv_sums s, const char *about) {
    enum seen seen[RUNGS];
    char evidence[300];
    int at = 0, wrong = -1, last = -1;
    if (s.op == ANEURALNETWORKS_REDUCE_SUM) return;
    /* Once sums of many terms are wrong, what becomes of larger ones says nothing more. */
    for (int k = 0; k < RUNGS && (wrong < 0 || ladder[wrong].neighbours); k++) {
        seen[k] = climb(e, s, &ladder[k]);
        if (seen[k] == NOT_RUN) continue;
        if (seen[k] != RIGHT && (wrong < 0 || ladder[k].limit == ladder[wrong].limit)) wrong = k;
        last = k;
        at += snprintf(evidence + at, sizeof evidence - (size_t)at, "%s%s %s", at ? "; " : "sums beyond ",
                       ladder[k].name, words_of[seen[k]]);
    }
    if (last < 0) return;
    char is[96];
    if (wrong < 0)
        snprintf(is, sizeof is, "right beyond %s", ladder[last].name);
    else
        snprintf(is, sizeof is, "%s beyond %s", words_of[seen[wrong]], ladder[wrong].name);
    /* NNAPI says of no accumulator that it holds more than 31 bits; sums of dequantised numbers are floats. */
    const bool finding = wrong >= 0 && ladder[wrong].limit < 0x1p31 && seen[wrong] != ROUNDED;
    (finding ? nnv_numeric_find : nnv_numeric_say)(e, about, "overflow of sums", is, evidence);
}

/** Of HALF_TERMS times 32768, some ones, and the opposites: 65504 is passed in any order but in pairs of opposites. */
static void measure_half(const struct nnv_numeric_engine *e, struct nnv_sums s, const char *about) {
    enum { ONES = 40, TERMS = 2 * HALF_TERMS + ONES };
    double x[ROWS * TERMS], weights[TERMS], y[ROWS];
    bool right = true, infinite = true, nan = true;
    char is[96], evidence[200];
    for (size_t i = 0; i < TERMS; i++) weights[i] = 1;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < TERMS; i++)
            x[r * TERMS + i] = i < HALF_TERMS          ? 0x1p15
                               : i < HALF_TERMS + ONES ? (double)(i - HALF_TERMS <= 10 * r)
                                                       : -0x1p15;
    if (!nnv_sums_run(e, s, ROWS, TERMS, x, s.op == ANEURALNETWORKS_REDUCE_SUM ? NULL : weights, y)) return;
    for (size_t r = 0; r < ROWS; r++) {
        right = right && y[r] == 1 + 10 * (double)r;
        infinite = infinite && isinf(y[r]);
        nan = nan && isnan(y[r]);
    }
    snprintf(is, sizeof is, "%s beyond 65504", right ? "right" : infinite ? "infinity" : nan ? "NaN" : "wrong");
    snprintf(evidence, sizeof evidence, "%d times 32768, 1, 11, 21 or 31 ones, and the opposites give %g, %g, %g, %g",
             HALF_TERMS, y[0], y[1], y[2], y[3]);
    (right ? nnv_numeric_say : nnv_numeric_find)(e, about, "overflow of sums", is, evidence);
}

void nnv_measure_overflow(const struct nnv_numeric_engine *e, struct nnv_sums s) {
    char about[64];
    snprintf(about, sizeof about, "%s %s", nnv_op(s.op)->name, nnv_type(s.type)->tag);
    if (nnv_is_quant(s.type)) measure_codes(e, s, about);
    if (s.type == ANEURALNETWORKS_TENSOR_FLOAT16) measure_half(e, s, about);
}
