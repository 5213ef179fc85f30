/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/multinomial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_EXPECTED = 5, MOST_SAMPLES = 65536 };

/** A class, or several in one cell. */
struct cell {
    double p;
    size_t count;
    size_t class;
};

/** A row under test. */
struct row {
    size_t index, classes, samples, tested;
    struct cell *cell; /**< by class, then sorted by probability, then pooled */
    double risk, tolerance;
};

double nnv_multinomial_chance(double half_g, size_t k) {
    double shape = (double)k - 1;
    if (k < 2 || !(half_g > shape)) return 1;
    return exp(shape - half_g + shape * log(half_g / shape));
}

/* ------------------------------------------------------------------- one row */

/** Probabilities from the logits; false if they have none. */
static bool load_row(const struct nnv_source *logits, struct row *r) {
    const double *x = logits->value + r->index * r->classes;
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < r->classes; i++) {
        if (isnan(x[i])) return false;
        most = fmax(most, x[i]);
    }
    if (!isfinite(most)) return false;
    for (size_t i = 0; i < r->classes; i++) {
        r->cell[i] = (struct cell){.p = exp(x[i] - most), .class = i};
        sum += r->cell[i].p;
    }
    for (size_t i = 0; i < r->classes; i++) r->cell[i].p /= sum;
    return true;
}

/** Counts; returns how many samples can't be. */
static size_t count_row(const int32_t *actual, struct row *r, struct nnv_comparison *out) {
    size_t wrong = 0;
    for (size_t i = 0; i < r->samples; i++) {
        bool in_range = actual[i] >= 0 && (size_t)actual[i] < r->classes;
        if (in_range && r->cell[actual[i]].p > 0) {
            r->cell[actual[i]].count += i < r->tested;
            continue;
        }
        if (wrong++ == 0)
            snprintf(out->note, sizeof out->note, "row %zu, sample %zu: class %d %s", r->index, i, actual[i],
                     in_range ? "has the probability 0" : "does not exist");
    }
    return wrong;
}

static int by_probability(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? -1 : 1) : (x->class > y->class) - (x->class < y->class);
}

/** Joins cells, the least probable first, until each expects enough; returns their number. */
static size_t pool_row(struct row *r) {
    size_t cells = 0;
    double enough = LEAST_EXPECTED / (double)r->tested;
    qsort(r->cell, r->classes, sizeof *r->cell, by_probability);
    for (size_t i = 0; i < r->classes; i++) {
        struct cell *last = cells ? &r->cell[cells - 1] : NULL;
        if (last && last->p < enough) {
            last->p += r->cell[i].p;
            last->count += r->cell[i].count;
        } else {
            r->cell[cells++] = r->cell[i];
        }
    }
    if (cells > 1 && r->cell[cells - 1].p < enough) { /* one that found no partner */
        cells--;
        r->cell[cells - 1].p += r->cell[cells].p;
        r->cell[cells - 1].count += r->cell[cells].count;
    }
    return cells;
}

static double expected_of(const struct row *r, const struct cell *c) { return c->p * (double)r->tested; }

/** The cell whose count is farthest off, by its standard deviation; *excess: samples that should be in other cells. */
static const struct cell *worst_cell(const struct row *r, size_t cells, size_t *excess) {
    const struct cell *worst = r->cell;
    double most = -1, sum = 0;
    for (const struct cell *c = r->cell; c < r->cell + cells; c++) {
        double expected = expected_of(r, c), d = (double)c->count - expected;
        double score = expected > 0 ? fabs(d) / sqrt(expected) : 0;
        if (score > most) worst = c;
        most = fmax(most, score);
        sum += d > 0 ? d : 0;
    }
    *excess = (size_t)ceil(sum);
    return worst;
}

/** Remembers the row as the worst so far. ratio: above 1 is wrong. */
static void take_worst(const struct row *r, const struct cell *c, double ratio, struct nnv_comparison *out) {
    if (ratio < out->worst_ratio) return;
    out->worst = r->index * r->samples;
    out->worst_expected = expected_of(r, c);
    out->worst_actual = (double)c->count;
    out->worst_error = fabs(out->worst_actual - out->worst_expected);
    out->worst_bound = ratio > 0 ? out->worst_error / ratio : out->worst_error;
    out->worst_ratio = ratio;
}

static void test_row(struct row *r, struct nnv_comparison *out) {
    size_t cells = pool_row(r), excess;
    double half_g = 0;
    for (const struct cell *c = r->cell; c < r->cell + cells; c++)
        if (c->count) half_g += (double)c->count * log((double)c->count / expected_of(r, c));
    double chance = nnv_multinomial_chance(half_g, cells);
    const struct cell *worst = worst_cell(r, cells, &excess);
    take_worst(r, worst, log(chance) / log(r->risk), out);
    if (chance >= r->risk) return;
    out->wrong += excess;
    snprintf(out->note, sizeof out->note,
             "row %zu: G = %.4g over %zu cells, which chance explains with a probability below %.3g (allowed %.3g)",
             r->index, 2 * half_g, cells, chance, r->risk);
}

/** AOSP's rule. */
static void compare_row(const struct row *r, struct nnv_comparison *out) {
    for (const struct cell *c = r->cell; c < r->cell + r->classes; c++) {
        double frequency = (double)c->count / (double)r->tested, error = fabs(frequency - c->p);
        take_worst(r, c, error / r->tolerance, out);
        if (error <= r->tolerance) continue;
        out->wrong += c->count ? c->count : 1;
        snprintf(out->note, sizeof out->note,
                 "row %zu: class %zu has the frequency %.4g, expected %.4g, allowed %.4g off", r->index, c->class,
                 frequency, c->p, r->tolerance);
    }
}

/* ------------------------------------------------------------------ all rows */

bool nnv_check_samples(const struct nnv_source *logits, const int32_t *actual, size_t samples, double tolerance,
                       struct nnv_arena *arena, struct nnv_comparison *out) {
    memset(out, 0, sizeof *out);
    struct row r = {.classes = logits->n,
                    .samples = samples,
                    .tested = tolerance > 0 || samples < MOST_SAMPLES ? samples : MOST_SAMPLES,
                    .cell = NNV_NEW(arena, struct cell, logits->n),
                    .risk = NNV_MULTINOMIAL_RISK / (double)logits->outer,
                    .tolerance = tolerance};
    if (!r.cell) return false;
    if (tolerance > 0)
        snprintf(out->rule, sizeof out->rule, "|frequency - probability| <= %g", tolerance);
    else
        snprintf(out->rule, sizeof out->rule, "G test of the classes' frequencies, risk %g for each row", r.risk);
    out->elems = logits->outer * samples;
    for (r.index = 0; r.index < logits->outer && samples > 0; r.index++) {
        if (!load_row(logits, &r)) {
            out->not_compared += samples;
            continue;
        }
        out->compared += samples;
        size_t impossible = count_row(actual + r.index * samples, &r, out);
        out->wrong += impossible;
        if (impossible) continue;
        if (tolerance > 0)
            compare_row(&r, out);
        else
            test_row(&r, out);
    }
    return true;
}
