/* SPDX-License-Identifier: Apache-2.0 */
/** @file multinomial.h Are these samples drawn from that distribution? See docs/use/tolerances.md. */
#ifndef NNV_HARNESS_MULTINOMIAL_H
#define NNV_HARNESS_MULTINOMIAL_H

#include "harness/judge/check.h"

/** A correct driver fails a case with at most this probability. */
#define NNV_MULTINOMIAL_RISK 1e-6

/**
 * An upper bound of the probability that n independent samples of a distribution over k cells stray from it so far:
 * half_g is n times the relative entropy of their frequencies to it, the sum of O ln(O / E) over the observed and
 * expected counts. It holds for any n, k and distribution: the moment generating function of half_g is at most that of
 * a gamma distribution of shape k - 1, so that by Chernoff P(half_g >= t) <= e^-t (e t / (k - 1))^(k - 1) for t > k
 * - 1. R. Agrawal, Finite-Sample Concentration of the Multinomial in Relative Entropy, IEEE Transactions on Information
 * Theory 66 (2020), theorem I.2; arXiv:1904.02291. (The asymptotic law, chi-squared with k - 1 degrees of freedom for
 * 2 half_g, NIST DLMF 8.2.4, promises nothing at a probability this low and counts this small.)
 */
double nnv_multinomial_chance(double half_g, size_t k);

/**
 * Judges samples, `samples` of each row of logits (one row a line of it), by their frequencies in each row. Classes of
 * little probability are pooled, so that each cell expects 5 samples; of a row of more than 65536 samples the first so
 * many are tested, which keeps rounding errors of the probabilities out of sight. The risk is shared by the rows. A
 * class out of range or without probability is wrong in itself. A row whose logits are not finite (-infinity is
 * allowed) is not compared. tolerance above 0: AOSP's rule instead, |frequency - probability| <= tolerance for each
 * class. out->note says what is wrong. False: out of memory.
 */
NNV_USE_RESULT bool nnv_check_samples(const struct nnv_source *logits, const int32_t *actual, size_t samples,
                                      double tolerance, struct nnv_arena *arena, struct nnv_comparison *out);

#endif
