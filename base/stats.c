/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void nnv_sort(double *x, size_t n) {
    if (n > 1) qsort(x, n, sizeof *x, by_value);
}

double nnv_mean(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

double nnv_quantile(const double *sorted, size_t n, double p) {
    double rank = ceil(p * (double)n * (1 - 1e-15)); /* p * n may lie a rounding above a whole number */
    size_t i = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[i < n ? i : n - 1];
}

double nnv_median(const double *sorted, size_t n) {
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/**
 * The continued fraction of the incomplete beta function, by the modified method of Lentz (Lentz 1976; Thompson and
 * Barnett 1986); its coefficients are those of DLMF 8.17.22.
 */
static double beta_fraction(double a, double b, double x) {
    enum { MOST_TERMS = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < tiny) d = tiny;
    d = 1 / d;
    double h = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = h;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            h *= d * c;
        }
        if (fabs(h - before) <= 1e-15 * fabs(h)) break;
    }
    return h;
}

/** ln of Gamma without the global sign that lgamma() writes. */
static double ln_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/** The regularised incomplete beta function I_x(a, b), a and b > 0. */
static double beta_regularised(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double nnv_binomial_cdf(int64_t k, uint64_t n, double p) {
    if (k < 0) return 0;
    if ((uint64_t)k >= n || p <= 0) return 1;
    if (p >= 1) return 0;
    return beta_regularised((double)(n - (uint64_t)k), (double)k + 1, 1 - p);
}

/** The largest count with P(X <= count) <= limit, or -1. */
static int64_t largest_within(uint64_t n, double p, double limit) {
    int64_t low = -1, high = (int64_t)n; /* within at low, not at high */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (nnv_binomial_cdf(middle, n, p) <= limit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct nnv_interval nnv_quantile_interval(const double *sorted, size_t n, double p, double confidence) {
    double side = (1 - confidence) / 2;
    /* x[l] (counted from 1) lies above the quantile if fewer than l samples are at most the quantile */
    int64_t below = largest_within(n, p, side);
    int64_t above = largest_within(n, 1 - p, side);
    return (struct nnv_interval){.low = below >= 0 ? sorted[below] : -INFINITY,
                                 .high = above >= 0 ? sorted[(int64_t)n - 1 - above] : INFINITY};
}

/** The chance p at which the falling function cdf(k; n, p) is `level`. */
static double chance_at(int64_t k, uint64_t n, double level) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (nnv_binomial_cdf(k, n, middle) > level)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct nnv_interval nnv_proportion_interval(uint64_t k, uint64_t n, double confidence) {
    double side = (1 - confidence) / 2;
    return (struct nnv_interval){.low = k == 0 ? 0 : chance_at((int64_t)k - 1, n, 1 - side),
                                 .high = k >= n ? 1 : chance_at((int64_t)k, n, side)};
}

double nnv_mcnemar(uint64_t b, uint64_t c) {
    if (b == c) return 1;
    double p = 2 * nnv_binomial_cdf((int64_t)(b < c ? b : c), b + c, 0.5);
    return p < 1 ? p : 1;
}

struct nnv_interval nnv_bootstrap_mean(const double *difference, size_t n, unsigned rounds, double confidence,
                                       uint64_t seed) {
    struct nnv_interval unknown = {-INFINITY, INFINITY};
    if (n == 0 || rounds == 0) return unknown;
    double *means = malloc(rounds * sizeof *means);
    if (!means) return unknown;
    for (unsigned r = 0; r < rounds; r++) {
        struct nnv_rng rng = nnv_rng_make(seed, r, n);
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += difference[nnv_rng_int(&rng, 0, (int64_t)n - 1)];
        means[r] = sum / (double)n;
    }
    nnv_sort(means, rounds);
    double side = (1 - confidence) / 2;
    struct nnv_interval i = {nnv_quantile(means, rounds, side), nnv_quantile(means, rounds, 1 - side)};
    free(means);
    return i;
}

double nnv_mann_whitney(const double *a, size_t na, const double *b, size_t nb) {
    enum { FEWEST = 8 };
    if (na < FEWEST || nb < FEWEST) return 1;
    double ranks = 0, ties = 0; /* ranks of a; sum of t^3 - t */
    for (size_t i = 0, j = 0; i < na || j < nb;) {
        double x = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
        size_t from = i + j, of_a = 0;
        for (; i < na && a[i] == x; i++) of_a++;
        while (j < nb && b[j] == x) j++;
        double t = (double)(i + j - from);
        ranks += (double)of_a * ((double)from + (t + 1) / 2);
        ties += t * t * t - t;
    }
    double x = (double)na, y = (double)nb, n = x + y;
    double u = ranks - x * (x + 1) / 2, mean = x * y / 2;
    double variance = x * y / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0) return 1;
    double distance = fabs(u - mean) - 0.5; /* continuity */
    return distance <= 0 ? 1 : erfc(distance / sqrt(2 * variance));
}

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/** P(sum of the ranks whose coin shows heads >= sum), exactly: counts by sum, rank after rank. Ranks are doubled. */
static double coin_tail(const uint32_t *rank, size_t n, uint32_t total, uint32_t sum) {
    double *chance = calloc((size_t)total + 1, sizeof *chance), tail = 0;
    if (!chance) return 1;
    chance[0] = 1;
    uint32_t reached = 0;
    for (size_t i = 0; i < n; i++) {
        reached += rank[i];
        for (uint32_t s = reached + 1; s-- > 0;) chance[s] = (chance[s] + (s >= rank[i] ? chance[s - rank[i]] : 0)) / 2;
    }
    for (uint32_t s = sum; s <= total; s++) tail += chance[s];
    free(chance);
    return tail < 1 ? tail : 1;
}

double nnv_signed_rank(const double *x, size_t n) {
    enum { MOST_EXACT = 256 };
    double *sorted = malloc((n + 1) * sizeof *sorted);
    uint32_t *rank = malloc((n + 1) * sizeof *rank); /* twice the mean rank of those of one size: a whole number */
    double p = 1;
    size_t count = 0;
    for (size_t i = 0; sorted && i < n; i++)
        if (x[i] != 0) sorted[count++] = x[i];
    if (sorted && rank && count > 0) {
        double above = 0, total = 0, squares = 0;
        qsort(sorted, count, sizeof *sorted, by_size);
        for (size_t i = 0, end; i < count; i = end) {
            for (end = i; end < count && fabs(sorted[end]) == fabs(sorted[i]); end++) continue;
            for (size_t k = i; k < end; k++) {
                rank[k] = (uint32_t)(i + 1 + end);
                total += rank[k];
                squares += (double)rank[k] * rank[k];
                if (sorted[k] > 0) above += rank[k];
            }
        }
        p = count <= MOST_EXACT ? coin_tail(rank, count, (uint32_t)total, (uint32_t)above)
                                : erfc((above - total / 2 - 1) / sqrt(squares / 2)) / 2;
    }
    free(sorted);
    free(rank);
    return p;
}

/** Beyond this many standard deviations, on both sides together, lies what confidence leaves of a normal distribution.
 */
static double normal_bound(double confidence) {
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(erfc(middle / sqrt(2)) > 1 - confidence ? &low : &high) = middle;
    }
    return low;
}

/** The variance of Kendall's sum of signs over n numbers, with ties corrected. */
static double kendall_variance(const double *sorted, size_t n) {
    const double m = (double)n;
    double v = m * (m - 1) * (2 * m + 5);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end] == sorted[i]; end++) continue;
        const double t = (double)(end - i);
        v -= t * (t - 1) * (2 * t + 5);
    }
    return v / 18;
}

struct nnv_trend nnv_trend_of(const double *x, const double *y, size_t n, double confidence) {
    enum { FEWEST = 4 };
    struct nnv_trend t = {.interval = {-INFINITY, INFINITY}, .p = 1};
    const size_t pairs = n * (n - 1) / 2;
    double *slopes = n >= FEWEST ? malloc((pairs + n) * sizeof *slopes) : NULL;
    if (!slopes) return t;
    double *sorted = slopes + pairs, signs = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const double slope = slopes[count++] = (y[i] - y[k]) / (x[i] - x[k]);
            signs += (slope > 0) - (slope < 0);
        }
    memcpy(sorted, y, n * sizeof *y);
    nnv_sort(sorted, n);
    nnv_sort(slopes, pairs);
    const double deviation = sqrt(kendall_variance(sorted, n)), reach = normal_bound(confidence) * deviation;
    const double below = floor(((double)pairs - reach) / 2);
    t.slope = nnv_median(slopes, pairs);
    if (below >= 1) t.interval = (struct nnv_interval){slopes[(size_t)below - 1], slopes[pairs - (size_t)below]};
    if (fabs(signs) > 1) t.p = erfc((fabs(signs) - 1) / deviation / sqrt(2));
    free(slopes);
    return t;
}

uint64_t nnv_early_stop_samples(uint64_t over, double p, double confidence) {
    uint64_t low = over, high = over + 1; /* not enough at low, enough at high */
    while (nnv_binomial_cdf((int64_t)over, high, 1 - p) > 1 - confidence) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (nnv_binomial_cdf((int64_t)over, middle, 1 - p) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}
