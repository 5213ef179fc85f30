/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unseen.h How likely the next draw of a series is to show a new feature, by the estimate of Good and Turing:
 * about as likely as the share of the draws so far that show a feature which no other draw shows.
 * (I. J. Good, "The population frequencies of species and the estimation of population parameters", 1953. Here a draw
 * may show several features; it counts as new if any of them is its own.)
 */
#ifndef NNV_BASE_UNSEEN_H
#define NNV_BASE_UNSEEN_H

#include "base/map.h"

/** Zero-initialise. */
struct nnv_unseen {
    struct nnv_id_map features; /**< the value: the number of the only draw that shows it, or that there are several */
    struct nnv_id_map alone;    /**< draws; the value: how many features it alone shows */
    uint64_t draws;             /**< so far: the caller counts */
    uint64_t singles;           /**< draws that show a feature which no other shows */
};

/**
 * Draw number `draw` shows the feature. *fresh: none has before. False when out of memory. A feature beyond the first
 * million is left out.
 */
bool nnv_unseen_see(struct nnv_unseen *u, uint64_t draw, uint64_t feature, bool *fresh);
/** The chance that the next draw shows something new; 1 before the first. */
double nnv_unseen_chance(const struct nnv_unseen *u);
/**
 * True if that chance is below the limit and there were enough draws to tell: at least 1 / limit, so that a single
 * draw with a feature of its own would not hide behind a small number of draws.
 */
bool nnv_unseen_below(const struct nnv_unseen *u, double limit);
void nnv_unseen_free(struct nnv_unseen *u);

#endif
