/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file measure.c What is measured: time in the driver, and errors by their bounds. A case runs once in a run,
 * so a single time says little: operations are compared by the median over their cases, with an interval that holds
 * whatever the distribution; single cases only beside what all others of their length do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "harness/journal/line.h"
#include "reports/compare/compare.h"

enum { FEWEST = 8, BINS = 40, TOLD = 200 };

static const double CONFIDENCE = 0.99; /* of all intervals together */
static const double GROUP_RATIO = 1.1; /* of an operation: less is not told */
static const double CASE_RATIO = 2, CASE_US = 500, CASE_SPREADS = 8;
static const double DRIFT_RATIO = 1.1, DRIFT_BY = 0.02; /* of error by bound */

/** A number of a group, or of a case. */
struct sample {
    uint32_t group;
    size_t of; /* case */
    double x;  /* log of B by A */
};

static int by_group(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group) : (x->x > y->x) - (x->x < y->x);
}

/* ----------------------------------------------------------------------- time */

/** The log-ratios of cases that passed in both runs, sorted by group; NULL when out of memory. */
static struct sample *take_times(const struct nnv_compare_table *t, size_t *n) {
    struct sample *s = malloc((t->count + 1) * sizeof *s);
    *n = 0;
    for (size_t i = 0; s != NULL && i < t->count; i++) {
        const struct nnv_compare_side *a = &t->item[i].side[0], *b = &t->item[i].side[1];
        if (a->verdict != NNVTS_PASS || b->verdict != NNVTS_PASS || !(a->us + b->us > 0)) continue;
        /* the journal cuts off what is less than a microsecond: the half of it is as good a guess as any */
        s[(*n)++] = (struct sample){t->item[i].group, i, log((b->us + 0.5) / (a->us + 0.5))};
    }
    if (s != NULL) qsort(s, *n, sizeof *s, by_group);
    return s;
}

/** {"ratio", "low", "high", "cases"} of sorted log-ratios. */
static json_t *ratio_json(const double *x, size_t n, struct nnv_interval i) {
    return json_pack("{s:o,s:o,s:o,s:I}", "ratio", nnv_json_any(exp(nnv_median(x, n))), "low", nnv_json_any(exp(i.low)),
                     "high", nnv_json_any(exp(i.high)), "cases", (json_int_t)n);
}

/** At least, or at most, the log of B by A of a case, whatever the cut microseconds were. */
static double bound_of(const struct nnv_compare_case *c, bool least) {
    double a = c->side[0].us, b = c->side[1].us;
    return least ? log(fmax(b, 1e-3) / (a + 1)) : log((b + 1) / fmax(a, 1e-3));
}

/** The interval of the median of cases, its ends those of the bounds above; x is scratch. */
static struct nnv_interval bounds_of(const struct nnv_compare_table *t, const struct sample *s, size_t n,
                                     double confidence, double *x) {
    struct nnv_interval in;
    for (size_t i = 0; i < n; i++) x[i] = bound_of(&t->item[s[i].of], true);
    nnv_sort(x, n);
    in.low = nnv_quantile_interval(x, n, 0.5, confidence).low;
    for (size_t i = 0; i < n; i++) x[i] = bound_of(&t->item[s[i].of], false);
    nnv_sort(x, n);
    in.high = nnv_quantile_interval(x, n, 0.5, confidence).high;
    return in;
}

/** Operations whose median lies apart from that of all cases, by more than chance explains. */
static json_t *time_of_groups(const struct nnv_compare_table *t, const struct sample *s, size_t n, double middle,
                              double *x) {
    json_t *list = json_array();
    size_t groups = 0;
    for (size_t i = 0, end; i < n; i = end, groups++)
        for (end = i; end < n && s[end].group == s[i].group;) end++;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && s[end].group == s[i].group;) end++;
        if (end - i < FEWEST) continue;
        double confidence = 1 - (1 - CONFIDENCE) / (double)groups;
        struct nnv_interval in = bounds_of(t, &s[i], end - i, confidence, x);
        in.low -= middle;
        in.high -= middle;
        if (!(in.low > log(GROUP_RATIO) || in.high < -log(GROUP_RATIO))) continue;
        for (size_t k = i; k < end; k++) x[k - i] = s[k].x - middle;
        json_t *j = ratio_json(x, end - i, in);
        json_object_set_new(j, "op", json_string(t->groups.key[s[i].group]));
        json_object_set_new(j, "slower", json_boolean(in.low > 0));
        json_array_append_new(list, j);
    }
    return list;
}

/** Which class of length a case is of: powers of two of its microseconds, in the run in which it is shorter. */
static int bin_of(const struct nnv_compare_case *c) {
    int b = (int)log2(fmin(c->side[0].us, c->side[1].us) + 1);
    return b < BINS ? b : BINS - 1;
}

/**
 * Cases that lie far from what others of their length do, and lost more than twice the time that any case gained: what
 * the machine does now and then, it does to either run.
 */
static json_t *time_of_cases(const struct nnv_compare_table *t, const struct sample *s, size_t n, double *x) {
    json_t *list = json_array();
    double middle[BINS], spread[BINS], least = CASE_US;
    for (size_t i = 0; i < n; i++) least = fmax(least, 2 * (t->item[s[i].of].side[0].us - t->item[s[i].of].side[1].us));
    for (int b = 0; b < BINS; b++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (bin_of(&t->item[s[i].of]) == b) x[k++] = s[i].x;
        spread[b] = INFINITY;
        if (k < FEWEST) continue;
        nnv_sort(x, k);
        middle[b] = nnv_median(x, k);
        for (size_t i = 0; i < k; i++) x[i] = fabs(x[i] - middle[b]);
        nnv_sort(x, k);
        spread[b] = 1.4826 * nnv_median(x, k); /* as a standard deviation, of what lies in the middle */
    }
    for (size_t i = 0; i < n && json_array_size(list) < TOLD; i++) {
        const struct nnv_compare_case *c = &t->item[s[i].of];
        const double a = c->side[0].us, b = c->side[1].us;
        const int bin = bin_of(c);
        if (isinf(spread[bin])) continue;
        double off = s[i].x - middle[bin];
        if (!(off > fmax(log(CASE_RATIO), CASE_SPREADS * spread[bin]) && b - a > least)) continue;
        json_array_append_new(list, json_pack("{s:s,s:f,s:f}", "case", c->name, "a_us", a, "b_us", b));
    }
    return list;
}

json_t *nnv_compare_time(const struct nnv_compare_table *t) {
    size_t n;
    struct sample *s = take_times(t, &n);
    double *x = malloc((n + 1) * sizeof *x), sum[2] = {0, 0};
    json_t *j = s != NULL && x != NULL ? json_object() : NULL;
    if (j != NULL) {
        for (size_t i = 0; i < n; i++) {
            x[i] = s[i].x;
            for (int side = 0; side < 2; side++) sum[side] += t->item[s[i].of].side[side].us;
        }
        nnv_sort(x, n);
        double middle = n > 0 ? nnv_median(x, n) : 0;
        json_object_set_new(j, "a_ms", json_real(sum[0] / 1000));
        json_object_set_new(j, "b_ms", json_real(sum[1] / 1000));
        if (n > 0) json_object_set_new(j, "all", ratio_json(x, n, nnv_quantile_interval(x, n, 0.5, CONFIDENCE)));
        json_object_set_new(j, "operations", time_of_groups(t, s, n, middle, x));
        json_object_set_new(j, "cases", time_of_cases(t, s, n, x));
    }
    free(s);
    free(x);
    return j;
}

/* ---------------------------------------------------------------------- error */

/** Worst errors by bound of an operation, and what moved. */
struct reach {
    double worst[2];
    size_t cases, rose, fell;
    double mse; /* sum of log-ratios */
    size_t mses;
};

static bool moved(double from, double to) { return to > DRIFT_RATIO * from && to - from > DRIFT_BY; }

static void take_error(struct reach *r, const struct nnv_compare_case *c, bool same_values) {
    const struct nnv_compare_side *a = &c->side[0], *b = &c->side[1];
    for (int side = 0; side < 2; side++)
        if (c->side[side].verdict == NNVTS_PASS && c->side[side].ratio > r->worst[side])
            r->worst[side] = c->side[side].ratio;
    if (a->verdict != NNVTS_PASS || b->verdict != NNVTS_PASS || isnan(a->ratio) || isnan(b->ratio)) return;
    r->cases++;
    if (!same_values) return;
    r->rose += moved(a->ratio, b->ratio);
    r->fell += moved(b->ratio, a->ratio);
    if (a->mse > 0 && b->mse > 0 && isfinite(a->mse) && isfinite(b->mse)) {
        r->mse += log(b->mse / a->mse);
        r->mses++;
    }
}

static json_t *error_of_groups(const struct nnv_compare_table *t, const struct reach *r) {
    json_t *list = json_array();
    for (uint32_t g = 0; g < t->groups.count; g++) {
        bool up = moved(r[g].worst[0], r[g].worst[1]), down = moved(r[g].worst[1], r[g].worst[0]);
        if (r[g].cases == 0 || (!up && !down && r[g].rose + r[g].fell == 0)) continue;
        json_t *j = json_pack("{s:s,s:o,s:o,s:b,s:I,s:I,s:I}", "op", t->groups.key[g], "a", nnv_json_any(r[g].worst[0]),
                              "b", nnv_json_any(r[g].worst[1]), "nearer", (int)up, "cases", (json_int_t)r[g].cases,
                              "rose", (json_int_t)r[g].rose, "fell", (json_int_t)r[g].fell);
        if (r[g].mses > 0) json_object_set_new(j, "mse_ratio", nnv_json_any(exp(r[g].mse / (double)r[g].mses)));
        json_array_append_new(list, j);
    }
    return list;
}

/** The cases that rose most, the worst first. */
static json_t *error_of_cases(const struct nnv_compare_table *t, struct sample *s) {
    size_t n = 0;
    json_t *list = json_array();
    for (size_t i = 0; t->same_values && i < t->count; i++) {
        const struct nnv_compare_side *a = &t->item[i].side[0], *b = &t->item[i].side[1];
        if (a->verdict == NNVTS_PASS && b->verdict == NNVTS_PASS && moved(a->ratio, b->ratio))
            s[n++] = (struct sample){.of = i, .x = a->ratio - b->ratio};
    }
    qsort(s, n, sizeof *s, by_group);
    for (size_t i = 0; i < n && i < TOLD; i++) {
        const struct nnv_compare_case *c = &t->item[s[i].of];
        json_array_append_new(list,
                              json_pack("{s:s,s:o,s:o,s:o,s:o}", "case", c->name, "a", nnv_json_any(c->side[0].ratio),
                                        "b", nnv_json_any(c->side[1].ratio), "a_mse", nnv_json_any(c->side[0].mse),
                                        "b_mse", nnv_json_any(c->side[1].mse)));
    }
    return list;
}

json_t *nnv_compare_error(const struct nnv_compare_table *t) {
    struct reach *r = calloc((size_t)t->groups.count + 1, sizeof *r);
    struct sample *s = malloc((t->count + 1) * sizeof *s);
    json_t *j = r != NULL && s != NULL ? json_object() : NULL;
    if (j != NULL) {
        for (size_t i = 0; i < t->count; i++) take_error(&r[t->item[i].group], &t->item[i], t->same_values);
        json_object_set_new(j, "same_values", json_boolean(t->same_values));
        json_object_set_new(j, "operations", error_of_groups(t, r));
        json_object_set_new(j, "cases", error_of_cases(t, s));
    }
    free(r);
    free(s);
    return j;
}
