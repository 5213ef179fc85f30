/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file depth.c How the error grows along a chain of equal layers that keep the length of a row: independent roundings
 * add up as the root of their number, those to one side as their number.
 */
#include <math.h>
#include <stdio.h>

#include "harness/datasheet/numeric/repeat.h"
#include "harness/datasheet/numeric/numeric.h"
#include "reference/model/op.h"

enum { ROWS = 32, UNITS = 64, DEPTHS = 6, DEEPEST = 1 << (DEPTHS - 1) };

static const double none = 0.25, between = 0.75,
                    quantile = 2.04; /* of Student's t for 95 % and ROWS - 1 degrees of freedom */

/** y = x times weights. */
static void layer(const double *weights, const double *x, double *y) {
    for (size_t r = 0; r < ROWS; r++)
        for (size_t u = 0; u < UNITS; u++) {
            double sum = 0;
            for (size_t i = 0; i < UNITS; i++) sum += x[r * UNITS + i] * weights[u * UNITS + i];
            y[r * UNITS + u] = sum;
        }
}

/** The root of the mean square of a row's errors. */
static double error_of(const double *y, const double *exact) {
    double squares = 0;
    for (size_t u = 0; u < UNITS; u++) squares += (y[u] - exact[u]) * (y[u] - exact[u]);
    return sqrt(squares / UNITS);
}

/** The power of the depth by which the errors grow: the slope of their logarithms over that of the depth. */
static double power_of(const double error[DEPTHS]) {
    double slope = 0, squares = 0;
    for (int k = 0; k < DEPTHS; k++) {
        const double at = k - (DEPTHS - 1) / 2.0;
        slope += at * log2(error[k]);
        squares += at * at;
    }
    return slope / squares;
}

/** Executes the chain of all depths: errors of rows. False: it is not supported, or its results are exact. */
static bool run_chains(const struct nnv_numeric_engine *e, struct nnv_sums s, double error[ROWS][DEPTHS]) {
    enum { ELEMENTS = ROWS * UNITS };
    double *weights = NNV_NEW(e->arena, double, UNITS *UNITS), *x = NNV_NEW(e->arena, double, ELEMENTS),
           *exact = NNV_NEW(e->arena, double, ELEMENTS), *next = NNV_NEW(e->arena, double, ELEMENTS),
           *y = NNV_NEW(e->arena, double, ELEMENTS);
    struct nnv_rng rng = nnv_rng_make(1, nnv_hash_str("depth"), (uint64_t)(uint32_t)s.type);
    if (!weights || !x || !exact || !next || !y) return false;
    nnv_repeat_weights(UNITS, weights);
    for (size_t i = 0; i < ELEMENTS; i++) exact[i] = x[i] = nnv_round_to(s.type, nnv_rng_uniform(&rng, -1, 1));
    for (uint32_t depth = 1, k = 0; depth <= DEEPEST; depth++) {
        layer(weights, exact, next);
        double *const last = exact;
        exact = next;
        next = last;
        if (depth != 1u << k) continue;
        struct nnv_builder b = {.arena = e->arena};
        uint32_t in;
        const uint32_t out = nnv_repeat_add(&b, s.op, s.type, ROWS, UNITS, depth, weights, &in);
        const double *const inputs = x;
        if (!nnv_numeric_run(e, &b, 1, &in, &inputs, out, y)) return false;
        for (size_t r = 0; r < ROWS; r++) {
            error[r][k] = error_of(y + r * UNITS, exact + r * UNITS);
            if (!(error[r][k] > 0 && error[r][k] < INFINITY)) return false;
        }
        k++;
    }
    return true;
}

void nnv_measure_depth(const struct nnv_numeric_engine *e, struct nnv_sums s) {
    double error[ROWS][DEPTHS], mean = 0, squares = 0, first = 0, last = 0;
    const bool is_layer = s.op == ANEURALNETWORKS_FULLY_CONNECTED || s.op == ANEURALNETWORKS_CONV_2D;
    if (!is_layer || nnv_is_quant(s.type) || !run_chains(e, s, error)) return;
    for (int r = 0; r < ROWS; r++) {
        const double power = power_of(error[r]);
        mean += power / ROWS;
        squares += power * power / ROWS;
        first += error[r][0] / ROWS;
        last += error[r][DEPTHS - 1] / ROWS;
    }
    const double margin = quantile * sqrt(fmax(0, squares - mean * mean) / (ROWS - 1));
    const double low = mean - margin, high = mean + margin;
    char about[64], evidence[200];
    snprintf(about, sizeof about, "%s %s", nnv_op(s.op)->name, nnv_type(s.type)->tag);
    snprintf(evidence, sizeof evidence,
             "chains of 1 to %d equal layers: the error grows as the depth to the power %.2f (95 %%: %.2f to %.2f), "
             "from %.2g to %.2g",
             DEEPEST, mean, low, high, first, last);
    if (low > between)
        nnv_numeric_find(e, about, "error over depth", "grows as the depth", evidence);
    else
        nnv_numeric_say(e, about, "error over depth",
                        high < none      ? "does not grow: more bits are kept from layer to layer"
                        : high < between ? "grows as the root of the depth"
                                         : "grows faster than the root of the depth",
                        evidence);
}
