/* SPDX-License-Identifier: Apache-2.0 */
/** @file profiles.h Sets of operations and types with a name, and whether a driver meets them. */
#ifndef NNV_DATASHEET_PROFILES_H
#define NNV_DATASHEET_PROFILES_H

#include "harness/datasheet/support/support.h"

/** A row of profiles.def. */
struct nnv_profile {
    const char *name, *about;
    int level;                               /**< only uses that this feature level has; 0: any */
    const char *operations, *types, *layers; /**< lists, separated by spaces; NULL: all */
};

struct nnv_datasheet;

/** An operation and its types that a profile demands, of which not all is right. */
struct nnv_sheet_miss {
    size_t row;          /**< of the datasheet */
    uint32_t models, of; /**< so many are not supported, of those that are demanded */
    const char *wrong;   /**< what a claim that is wrong says, or how its process ended; NULL: neither */
};

/** What became of a profile. */
struct nnv_sheet_profile {
    const struct nnv_profile *is;
    uint32_t pairs; /**< of an operation and its types, that it demands */
    bool unknown;   /**< not all of them were asked */
    struct nnv_sheet_miss *miss;
    size_t misses;
};

const struct nnv_profile *nnv_profiles(size_t *count);
/** NULL: there is none of that name. */
const struct nnv_profile *nnv_profile_by_name(const char *name);
/** The profile demands something of the operation with that combination of types. */
bool nnv_profile_demands(const struct nnv_profile *p, const struct nnv_op *op, int sig);
/** Judges all profiles by what the datasheet's rows say: fills its members profile and profiles. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_sheet_judge_profiles(struct nnv_datasheet *sheet, struct nnv_arena *arena,
                                                        struct nnv_err *err);
/** Appends "ADD float32: 24 of 148 models are not supported; needs rank of a > 1". */
void nnv_sheet_tell_miss(const struct nnv_datasheet *sheet, const struct nnv_sheet_miss *m, struct nnv_text *t);

#endif
