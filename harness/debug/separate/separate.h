/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file separate.h The simple condition that separates failing cases from passing ones: "stride is 2x2 and
 * channels > 127". See docs/use/explaining.md.
 */
#ifndef NNV_DEBUG_SEPARATE_H
#define NNV_DEBUG_SEPARATE_H

#include "base/arena.h"
#include "harness/debug/separate/telling.h"

/** An attribute of a case. */
struct nnv_attribute {
    const char *name; /**< "channels" */
    enum nnv_attribute_kind kind;
    int cost; /**< how far-fetched a condition on it is, from 0: of those that separate as well the least is told */
    double number;    /**< flags: 0 or 1 */
    const char *word; /**< flags: what to say where it is 0; NULL: nothing */
    bool of_values;   /**< of the numbers that a tensor holds, not of the model */
};

/** A case, as much of it as matters. */
struct nnv_observation {
    bool failed;
    bool held; /**< kept apart: what the others say of the failures must be true of it, too */
    const struct nnv_attribute *item;
    size_t count;
};

enum { NNV_OBSERVATIONS = 1024 }; /* beyond these cases are ignored */

/**
 * Fills in the condition that holds for all failing ones ("only where ...") or nearly all ("mostly where ... (57 of 59
 * failures)") and for no passing one, or for few ("(57 of 60 such cases fail)"); of elements "in elements where input
 * >= 5 (not at 4.98)". What would separate them as well by chance, with as many conditions to choose from, is none: it
 * has no terms then; nor where what is learnt without those that are held does not hold for these. Its strings are the
 * arena's. False: no memory.
 */
NNV_USE_RESULT bool nnv_separate(const struct nnv_observation *o, size_t n, enum nnv_observed what,
                                 struct nnv_arena *arena, struct nnv_case_condition *to);

#endif
