/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stats.h Statistics of measurements: quantiles with intervals, paired tests, early stopping.
 *
 * Nothing here assumes a distribution: quantiles come with intervals from order statistics (a binomial argument), means
 * with bootstrap intervals, paired answers with McNemar's exact test, trends with the median of slopes.
 */
#ifndef NNV_BASE_STATS_H
#define NNV_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nnv_interval {
    double low, high; /**< low <= high; an end that the sample can't bound is -INFINITY or INFINITY */
};

/** Sorts upwards. The numbers must not be NaN. */
void nnv_sort(double *x, size_t n);
/** Mean, and sample variance (n - 1 below the line; 0 where n < 2). n > 0. */
double nnv_mean(const double *x, size_t n);
/** The p-quantile of n > 0 sorted numbers by nearest rank: x[ceil(p n)], counted from 1. p in (0, 1]. */
double nnv_quantile(const double *sorted, size_t n, double p);
/** The usual median: the mean of the two in the middle where n is even. n > 0. */
double nnv_median(const double *sorted, size_t n);

/** P(X <= k) of a binomial X of n trials with chance p; k < 0: 0. By the incomplete beta function. */
double nnv_binomial_cdf(int64_t k, uint64_t n, double p);
/**
 * Where the p-quantile of the population lies, at this confidence (0.95), whatever the distribution: between two order
 * statistics (David and Nagaraja, Order Statistics, 7.1). Each side errs at most (1 - confidence) / 2.
 */
struct nnv_interval nnv_quantile_interval(const double *sorted, size_t n, double p, double confidence);
/** The chance behind k successes in n trials: the exact interval of Clopper and Pearson. n = 0: [0, 1]. */
struct nnv_interval nnv_proportion_interval(uint64_t k, uint64_t n, double confidence);

/**
 * McNemar's exact test of two classifiers on the same items: b items only the first has right, c only the second.
 * The two-sided p-value: how likely is a split as uneven as this if neither is better? b = c = 0: 1.
 */
double nnv_mcnemar(uint64_t b, uint64_t c);
/**
 * The mean of n paired differences by the percentile bootstrap (Efron), `rounds` resamples keyed by seed; the same on
 * any machine. n = 0: (-INFINITY, INFINITY). NULL memory: the same.
 */
struct nnv_interval nnv_bootstrap_mean(const double *difference, size_t n, unsigned rounds, double confidence,
                                       uint64_t seed);
/**
 * The two-sided Wilcoxon-Mann-Whitney test by its normal approximation with ties corrected: how likely are samples as
 * far apart as these if both are of one distribution? 1 where either has fewer than 8 numbers. Both sorted.
 */
double nnv_mann_whitney(const double *a, size_t na, const double *b, size_t nb);

/**
 * Wilcoxon's signed rank test, one-sided: how likely are differences that lie above 0 as far as these if each could as
 * well have the other sign? Exact whatever the distribution of their sizes, drift and dependence included, as long as
 * the signs are fair coins; above 256 numbers by the normal approximation. Zeros say nothing. 1 where nothing is left,
 * or memory is short.
 */
double nnv_signed_rank(const double *x, size_t n);

/** How y changes with x. */
struct nnv_trend {
    double slope;                 /**< the median of the slopes between all pairs (Theil and Sen) */
    struct nnv_interval interval; /**< where it lies, by Kendall's statistic (Sen 1968) */
    double
        p; /**< two-sided, of the test of Mann and Kendall: how likely are numbers without a trend in such an order? */
};
/**
 * The trend of n numbers y at places x that all differ; whatever the distribution, and with few numbers that are wild.
 * Fewer than 4, or no memory: slope 0, within (-INFINITY, INFINITY), p 1.
 */
struct nnv_trend nnv_trend_of(const double *x, const double *y, size_t n, double confidence);

/**
 * Early stopping: the least number of samples of which `over` may exceed a bound and yet show, at this confidence, that
 * the p-quantile is within it: the smallest n with P(Binomial(n, 1 - p) <= over) <= 1 - confidence.
 */
uint64_t nnv_early_stop_samples(uint64_t over, double p, double confidence);

#endif
