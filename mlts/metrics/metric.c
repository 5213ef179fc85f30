/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/metrics/metric.h"

#include <math.h>
#include <stdlib.h>

size_t nnv_metric_rank(const double *score, size_t n, size_t label) {
    size_t rank = 0;
    double own = score[label];
    for (size_t i = 0; i < n; i++) {
        if (i == label || isnan(score[i])) continue;
        rank += isnan(own) || score[i] > own || (score[i] == own && i < label);
    }
    return rank;
}

bool nnv_metric_top(const double *score, size_t n, size_t label, size_t k) {
    return !isnan(score[label]) && nnv_metric_rank(score, n, label) < k;
}

struct scored {
    double score;
    bool positive;
};

static int by_score(const void *a, const void *b) {
    double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x > y) - (x < y);
}

double nnv_metric_auc(const double *score, const bool *positive, size_t n) {
    struct scored *item = calloc(n ? n : 1, sizeof *item);
    if (!item) return NAN;
    for (size_t i = 0; i < n; i++) item[i] = (struct scored){isnan(score[i]) ? -INFINITY : score[i], positive[i]};
    qsort(item, n, sizeof *item, by_score);
    double wins = 0, positives = 0, negatives = 0; /* negatives: below the group of equal scores at hand */
    for (size_t i = 0; i < n;) {
        double p = 0, q = 0;
        size_t from = i;
        for (; i < n && item[i].score == item[from].score; i++) {
            p += item[i].positive;
            q += !item[i].positive;
        }
        wins += p * (negatives + q / 2);
        positives += p;
        negatives += q;
    }
    free(item);
    return wins / (positives * negatives); /* NaN where either is 0 */
}

size_t nnv_metric_edits(const int32_t *a, size_t na, const int32_t *b, size_t nb) {
    size_t *row = calloc(nb + 1, sizeof *row); /* distance of a[0..i) from b[0..j) */
    if (!row) return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++) row[j] = j;
    for (size_t i = 0; i < na; i++) {
        size_t diagonal = row[0]; /* of row i, column j */
        row[0] = i + 1;
        for (size_t j = 0; j < nb; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    size_t edits = row[nb];
    free(row);
    return edits;
}

double nnv_metric_mse(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / (double)n;
}

double nnv_metric_psnr(double mse, double peak) { return mse == 0 ? INFINITY : 10 * log10(peak * peak / mse); }

double nnv_metric_mcd(const double *a, const double *b, size_t frames, size_t order) {
    double sum = 0;
    for (size_t f = 0; f < frames; f++) {
        double squares = 0;
        for (size_t k = 1; k < order; k++) {
            double d = a[f * order + k] - b[f * order + k];
            squares += d * d;
        }
        sum += sqrt(2 * squares);
    }
    return 10 / log(10) * sum / (double)frames;
}
