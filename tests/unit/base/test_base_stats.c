/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/stats.h"

static void near(double got, double want, double within) {
    if (!(fabs(got - want) <= within)) fail_msg("%.17g is not %.17g within %g", got, want, within);
}

static void moments_and_quantiles(void **state) {
    (void)state;
    double x[] = {5, 1, 4, 2, 3};
    nnv_sort(x, 5);
    for (int i = 0; i < 5; i++) assert_true(x[i] == i + 1);
    near(nnv_mean(x, 5), 3, 0);
    near(nnv_median(x, 5), 3, 0);
    near(nnv_median(x, 4), 2.5, 0);
    near(nnv_quantile(x, 5, 0.2), 1, 0); /* rank 1 exactly */
    near(nnv_quantile(x, 5, 0.21), 2, 0);
    near(nnv_quantile(x, 5, 0.9), 5, 0);
    near(nnv_quantile(x, 5, 1), 5, 0);
    double hundred[100];
    for (int i = 0; i < 100; i++) hundred[i] = i + 1;
    near(nnv_quantile(hundred, 100, 0.07), 7, 0); /* 0.07 * 100 is above 7 in double */
    near(nnv_quantile(hundred, 100, 0.99), 99, 0);
}

/** Sums the terms of a binomial one by one: independent of the beta function. */
static double summed(int64_t k, uint64_t n, double p) {
    double sum = 0;
    for (int64_t i = 0; i <= k; i++) {
        double x = (double)i, y = (double)n - x;
        sum += exp(lgamma(x + y + 1) - lgamma(x + 1) - lgamma(y + 1) + x * log(p) + y * log(1 - p));
    }
    return sum;
}

static void binomials_are_those_of_their_terms(void **state) {
    (void)state;
    near(nnv_binomial_cdf(0, 2, 0.5), 0.25, 1e-15);
    near(nnv_binomial_cdf(1, 3, 0.5), 0.5, 1e-15);
    near(nnv_binomial_cdf(-1, 3, 0.5), 0, 0);
    near(nnv_binomial_cdf(3, 3, 0.5), 1, 0);
    near(nnv_binomial_cdf(2, 3, 0), 1, 0);
    near(nnv_binomial_cdf(2, 3, 1), 0, 0);
    for (uint64_t n = 1; n < 200; n += 13)
        for (int64_t k = 0; k < (int64_t)n; k += 3)
            for (double p = 0.03; p < 1; p += 0.19) near(nnv_binomial_cdf(k, n, p), summed(k, n, p), 1e-11);
    /* far out, where terms underflow: symmetric */
    near(nnv_binomial_cdf(500000, 1000001, 0.5), 0.5, 1e-9);
}

static void intervals_of_quantiles(void **state) {
    (void)state;
    double x[100];
    for (int i = 0; i < 100; i++) x[i] = i + 1;
    /* tables of order statistics: the median of 100 lies between the 40th and the 61st at 95 % */
    struct nnv_interval i = nnv_quantile_interval(x, 100, 0.5, 0.95);
    near(i.low, 40, 0);
    near(i.high, 61, 0);
    /* of 5 samples: P(all on one side) = 1/32 > 0.025: no bound; of 6, 1/64: the extremes */
    i = nnv_quantile_interval(x, 5, 0.5, 0.95);
    assert_true(isinf(i.low) && i.low < 0 && isinf(i.high));
    i = nnv_quantile_interval(x, 6, 0.5, 0.95);
    near(i.low, 1, 0);
    near(i.high, 6, 0);
    i = nnv_quantile_interval(x, 100, 0.99, 0.95);
    assert_true(isinf(i.high)); /* 0.99^100 = 0.366 */
    near(i.low, 97, 0);
}

static void intervals_hold_what_they_promise(void **state) {
    (void)state;
    int missed = 0;
    for (int round = 0; round < 2000; round++) {
        struct nnv_rng rng = nnv_rng_make(7, (uint64_t)round, 0);
        double x[60];
        for (int i = 0; i < 60; i++) x[i] = nnv_rng_unit(&rng);
        nnv_sort(x, 60);
        struct nnv_interval i = nnv_quantile_interval(x, 60, 0.75, 0.95);
        missed += i.low > 0.75 || i.high < 0.75;
    }
    assert_true(missed <= 100); /* 5 % of 2,000 */
    assert_true(missed >= 30);  /* and it is not idle: an interval twice as wide would miss almost none */
}

static void proportions(void **state) {
    (void)state;
    struct nnv_interval i = nnv_proportion_interval(0, 10, 0.95);
    near(i.low, 0, 0);
    near(i.high, 1 - pow(0.025, 0.1), 1e-12); /* closed form where nothing succeeded */
    i = nnv_proportion_interval(10, 10, 0.95);
    near(i.low, pow(0.025, 0.1), 1e-12);
    near(i.high, 1, 0);
    i = nnv_proportion_interval(5, 10, 0.95);
    near(i.low + i.high, 1, 1e-12);
    near(i.low, 0.187086, 1e-6);
    i = nnv_proportion_interval(0, 0, 0.95);
    near(i.low, 0, 0);
    near(i.high, 1, 0);
}

static void mcnemar(void **state) {
    (void)state;
    near(nnv_mcnemar(0, 0), 1, 0);
    near(nnv_mcnemar(4, 4), 1, 0);
    near(nnv_mcnemar(5, 0), 2.0 / 32, 1e-15);
    near(nnv_mcnemar(0, 5), 2.0 / 32, 1e-15);
    near(nnv_mcnemar(1, 9), 2.0 * 11 / 1024, 1e-15);
    near(nnv_mcnemar(2, 3), 1, 0); /* 2 * (1 + 5 + 10) / 32 */
}

static void bootstrap(void **state) {
    (void)state;
    double same[20], mixed[200];
    for (int i = 0; i < 20; i++) same[i] = 3;
    struct nnv_interval i = nnv_bootstrap_mean(same, 20, 200, 0.95, 1);
    near(i.low, 3, 0);
    near(i.high, 3, 0);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (int k = 0; k < 200; k++) mixed[k] = nnv_rng_normal(&rng) + 1;
    i = nnv_bootstrap_mean(mixed, 200, 2000, 0.95, 1);
    double mean = nnv_mean(mixed, 200), error = 0;
    for (int k = 0; k < 200; k++) error += (mixed[k] - mean) * (mixed[k] - mean) / 199 / 200;
    error = sqrt(error);
    near(i.low, mean - 1.96 * error, 0.3 * error);
    near(i.high, mean + 1.96 * error, 0.3 * error);
    struct nnv_interval again = nnv_bootstrap_mean(mixed, 200, 2000, 0.95, 1);
    near(again.low, i.low, 0);
    i = nnv_bootstrap_mean(mixed, 0, 100, 0.95, 1);
    assert_true(isinf(i.low) && isinf(i.high));
}

static void mann_whitney(void **state) {
    (void)state;
    double a[10], b[10], c[10];
    for (int i = 0; i < 10; i++) {
        a[i] = i;
        b[i] = i + 100;
        c[i] = i + 0.5;
    }
    /* all of a below all of b: U = 0; mean 50, variance 175: z = 49.5 / 13.229 */
    near(nnv_mann_whitney(a, 10, b, 10), erfc(49.5 / sqrt(350)), 1e-15);
    near(nnv_mann_whitney(a, 10, a, 10), 1, 0);
    assert_true(nnv_mann_whitney(a, 10, c, 10) > 0.5);
    near(nnv_mann_whitney(a, 7, b, 10), 1, 0);
    double ones[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    near(nnv_mann_whitney(ones, 10, ones, 10), 1, 0);
    near(nnv_mann_whitney(b, 10, a, 10), nnv_mann_whitney(a, 10, b, 10), 1e-15);
}

static void early_stopping(void **state) {
    (void)state;
    /* none over: p^n <= 1 - confidence */
    assert_int_equal(nnv_early_stop_samples(0, 0.9, 0.99), 44); /* 0.9^43 = 0.01078, 0.9^44 = 0.00970 */
    assert_int_equal(nnv_early_stop_samples(0, 0.99, 0.99), 459);
    assert_true(nnv_early_stop_samples(1, 0.9, 0.99) > 44);
    uint64_t n = nnv_early_stop_samples(3, 0.9, 0.99);
    /* as few as tell: with one sample fewer three over the quantile would still be likely */
    assert_true(nnv_binomial_cdf(3, n, 0.1) <= 0.01 && nnv_binomial_cdf(3, n - 1, 0.1) > 0.01);
}

static void signed_ranks(void **state) {
    (void)state;
    /* all eight above 0: one of 2^8 ways */
    const double up[] = {1, 2, 3, 4, 5, 6, 7, 8};
    near(nnv_signed_rank(up, 8), 1.0 / 256, 1e-15);
    /* rank 1 below: the sums 9 and 10 of four are reached by {2,3,4} and all: 2 of 16 */
    const double one[] = {-1, 2, 3, 4};
    near(nnv_signed_rank(one, 4), 2.0 / 16, 1e-15);
    /* ties: ranks 1.5, 1.5, 3; the sum 4.5 or more by {a,c}, {b,c}, {a,b,c}: 3 of 8 */
    const double tied[] = {2, -2, 5};
    near(nnv_signed_rank(tied, 3), 3.0 / 8, 1e-15);
    const double zeros[] = {0, 0, 1};
    near(nnv_signed_rank(zeros, 3), 0.5, 1e-15);
    assert_true(nnv_signed_rank(zeros, 2) == 1);
    const double down[] = {-1, -2, -3};
    near(nnv_signed_rank(down, 3), 1, 1e-15);
    /* the normal approximation meets the exact value where it takes over */
    double x[257];
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (int i = 0; i < 257; i++) x[i] = nnv_rng_normal(&rng) + 0.15;
    double exact = nnv_signed_rank(x, 256), approximate = nnv_signed_rank(x, 257);
    assert_true(exact > 1e-4 && exact < 0.2);
    near(approximate / exact, 1, 0.25);
}

static void trends(void **state) {
    (void)state;
    /* half of the slopes of all pairs is 2, also where one number is wild */
    const double x[] = {0, 1, 2, 3, 4}, line[] = {1, 3, 5, 7, 9}, wild[] = {1, 3, 100, 7, 9};
    struct nnv_trend t = nnv_trend_of(x, line, 5, 0.9);
    near(t.slope, 2, 1e-15);
    /* S = 10, variance 5 * 4 * 15 / 18: z = 9 / 4.0825 */
    near(t.p, erfc(9 / sqrt(2 * 300.0 / 18)), 1e-15);
    t = nnv_trend_of(x, wild, 5, 0.9);
    near(t.slope, 2, 1e-15);
    assert_true(t.p > 0.1);
    /* steps are ties: S = 6, variance (300 - 2 * 1 * 9 - 3 * 2 * 11) / 18 */
    const double step[] = {1, 1, 1, 2, 2};
    t = nnv_trend_of(x, step, 5, 0.9);
    near(t.p, erfc(5 / sqrt(2 * (300.0 - 18 - 66) / 18)), 1e-15);
    const double flat[] = {7, 7, 7, 7, 7};
    t = nnv_trend_of(x, flat, 5, 0.9);
    assert_true(t.p == 1 && t.slope == 0 && t.interval.low == 0 && t.interval.high == 0);
    t = nnv_trend_of(x, line, 3, 0.9);
    assert_true(t.p == 1 && isinf(t.interval.low));
    /* an interval holds the slope as often as it promises: 95 of 100, give or take; and a test errs as seldom */
    int held = 0, alarms = 0;
    for (uint64_t run = 0; run < 1000; run++) {
        double at[20], y[20], noise[20];
        struct nnv_rng rng = nnv_rng_make(7, run, 0);
        for (int i = 0; i < 20; i++) {
            at[i] = i;
            noise[i] = nnv_rng_normal(&rng);
            y[i] = 0.3 * i + noise[i];
        }
        t = nnv_trend_of(at, y, 20, 0.95);
        held += t.interval.low <= 0.3 && 0.3 <= t.interval.high;
        alarms += nnv_trend_of(at, noise, 20, 0.95).p < 0.05;
    }
    assert_in_range(held, 930, 980);
    assert_in_range(alarms, 25, 70);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_and_quantiles),
        cmocka_unit_test(binomials_are_those_of_their_terms),
        cmocka_unit_test(intervals_of_quantiles),
        cmocka_unit_test(intervals_hold_what_they_promise),
        cmocka_unit_test(proportions),
        cmocka_unit_test(mcnemar),
        cmocka_unit_test(bootstrap),
        cmocka_unit_test(mann_whitney),
        cmocka_unit_test(early_stopping),
        cmocka_unit_test(signed_ranks),
        cmocka_unit_test(trends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
