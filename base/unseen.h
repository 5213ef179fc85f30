/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unseen.h How much a series of draws has not come to yet, by the estimate of Good and Turing: the chance that
 * the next draw shows a feature that none has shown is about the part of the draws that show one which no other shows.
 * (I. J. Good, "The population frequencies of species and the estimation of population parameters", 1953; here for
 * draws that show several features each: each draw is asked whether it would have been new as the last one.)
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
 * True if that is below the limit, after as many draws as it takes to know: so many that one draw alone in showing
 * something would be above it.
 */
bool nnv_unseen_below(const struct nnv_unseen *u, double limit);
void nnv_unseen_free(struct nnv_unseen *u);

#endif
