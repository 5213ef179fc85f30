/* SPDX-License-Identifier: Apache-2.0 */
/** @file metric.h How good a model's answers are: for classifiers, detectors, sequences and signals. */
#ifndef NNV_MLTS_METRIC_H
#define NNV_MLTS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The place of a label among n scores, counted from 0; of equal scores the earlier comes first. label < n. */
size_t nnv_metric_rank(const double *score, size_t n, size_t label);
/** The label is among the k best. NaN scores are never better than others, and a label of NaN score is not. */
bool nnv_metric_top(const double *score, size_t n, size_t label, size_t k);

/**
 * Area under the receiver operating characteristic: the chance that a positive item scores above a negative one, equal
 * scores counting half (Hanley and McNeil 1982). NaN where there are no positive or no negative items, or memory fails.
 */
double nnv_metric_auc(const double *score, const bool *positive, size_t n);

/** Least number of insertions, deletions and substitutions from a to b (Levenshtein). SIZE_MAX: out of memory. */
size_t nnv_metric_edits(const int32_t *a, size_t na, const int32_t *b, size_t nb);

/** Mean square of the differences; n > 0. */
double nnv_metric_mse(const double *a, const double *b, size_t n);
/** Peak signal to noise ratio in dB of signals with this peak; INFINITY where they are equal. */
double nnv_metric_psnr(double mse, double peak);
/**
 * Mel-cepstral distortion in dB, the mean over frames [frames, order] of coefficients: 10 / ln 10 * sqrt(2 * sum of
 * squares), without coefficient 0, the energy (Kubichek 1993). order > 1, frames > 0.
 */
double nnv_metric_mcd(const double *a, const double *b, size_t frames, size_t order);

#endif
