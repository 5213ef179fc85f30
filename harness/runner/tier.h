/* SPDX-License-Identifier: Apache-2.0 */
/** @file tier.h Tiers: how many cases the suites make, and how long a run of them may take. */
#ifndef NNV_HARNESS_TIER_H
#define NNV_HARNESS_TIER_H

#include <stdint.h>

/** How many cases. */
enum nnv_amount {
    NNV_AMOUNT_SMOKE,
    NNV_AMOUNT_DEFAULT,
    NNV_AMOUNT_FULL,
    NNV_AMOUNT_SOAK, /**< full, with many times more of what is drawn by chance */
};

struct nnv_tier {
    enum nnv_amount amount;
    uint64_t budget_ns; /**< of a run without a time budget of its own; 0: no limit */
    const char *use;    /**< what it is for, a few words */
};

/** Numbers of tiers: indices into both tables. */
enum { NNV_TIER_SMOKE, NNV_TIER_DEFAULT, NNV_TIER_FULL, NNV_TIER_CI, NNV_TIER_SOAK, NNV_TIERS };
extern const struct nnv_tier nnv_tiers[NNV_TIERS];
/** Their names, NULL-terminated. */
extern const char *const nnv_tier_names[NNV_TIERS + 1];
/** The name of this number; "unknown" for one that is no tier's. */
const char *nnv_tier_name(int tier);

#endif
