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

/** Intersection over union of two boxes, each two corners: the lower numbers first. 0 where one has no area. */
double nnv_metric_iou(const double *a, const double *b);

/** Least number of insertions, deletions and substitutions from a to b (Levenshtein). SIZE_MAX: out of memory. */
size_t nnv_metric_edits(const int32_t *a, size_t na, const int32_t *b, size_t nb);

/** Mean square of the differences; n > 0. */
double nnv_metric_mse(const double *a, const double *b, size_t n);
/** Peak signal to noise ratio in dB of signals with this peak; INFINITY where they are equal. */
double nnv_metric_psnr(double mse, double peak);

#endif
