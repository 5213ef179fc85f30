/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/tier.h"

#include <stddef.h>

#define SECONDS UINT64_C(1000000000)

const struct nnv_tier nnv_tiers[NNV_TIERS] = {
    [NNV_TIER_SMOKE] = {NNV_AMOUNT_SMOKE, 0, "each operation in each of its types, while you work"},
    [NNV_TIER_DEFAULT] = {NNV_AMOUNT_DEFAULT, 0, "each kind of case of each operation and type"},
    [NNV_TIER_FULL] = {NNV_AMOUNT_FULL, 0, "all cases, before a release"},
    [NNV_TIER_CI] = {NNV_AMOUNT_DEFAULT, 600 * SECONDS, "those of default, for each change: it ends in time"},
    [NNV_TIER_SOAK] = {NNV_AMOUNT_SOAK, 8 * 3600 * SECONDS, "full, and fifty times the random graphs, over night"},
};

const char *const nnv_tier_names[NNV_TIERS + 1] = {
    [NNV_TIER_SMOKE] = "smoke", [NNV_TIER_DEFAULT] = "default", [NNV_TIER_FULL] = "full",
    [NNV_TIER_CI] = "ci",       [NNV_TIER_SOAK] = "soak",
};

const char *nnv_tier_name(int tier) { return tier >= 0 && tier < NNV_TIERS ? nnv_tier_names[tier] : "unknown"; }
