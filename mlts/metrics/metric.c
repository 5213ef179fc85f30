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

double nnv_metric_iou(const double *a, const double *b) {
    double area_a = 1, area_b = 1, common = 1;
    for (int i = 0; i < 2; i++) {
        area_a *= fmax(0, a[2 + i] - a[i]);
        area_b *= fmax(0, b[2 + i] - b[i]);
        common *= fmax(0, fmin(a[2 + i], b[2 + i]) - fmax(a[i], b[i]));
    }
    const double both = area_a + area_b - common;
    return common > 0 && both > 0 ? common / both : 0;
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
