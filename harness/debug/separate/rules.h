/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rules.h Few conditions that together say which cases fail, and hold for no passing one: for answers that chance
 * has no part in, such as whether a driver supports a model.
 */
#ifndef NNV_DEBUG_RULES_H
#define NNV_DEBUG_RULES_H

#include "harness/debug/separate/predicates.h"

enum { NNV_RULES = 24, NNV_RULE_TERMS = 2 };

/** All of some predicates: where they hold, all cases fail. */
struct nnv_found_rule {
    const struct nnv_predicate *term[NNV_RULE_TERMS];
    int terms;
    size_t failed; /**< failing cases that it holds for */
};

struct nnv_rules {
    struct nnv_predicates about;
    struct nnv_found_rule item[NNV_RULES];
    size_t count;
    size_t left; /**< failing cases that no rule holds for */
};

/**
 * Finds them greedily: each holds for the most failing cases that no other one holds for, as far as it is not
 * far-fetched. nnv_rules_free() empties *r, which may refer to the observations. False: no memory.
 */
NNV_USE_RESULT bool nnv_rules_learn(struct nnv_rules *r, const struct nnv_observation *o, size_t n);
void nnv_rules_free(struct nnv_rules *r);
/** True if a rule holds for the case, which need not be among those that the rules were learnt from. */
bool nnv_rules_hold(const struct nnv_rules *r, const struct nnv_observation *o);
/** Appends what must be so for rule i not to hold: "dilation height <= 1", "stride height = 1 or rank of input <= 3".
 */
void nnv_rule_tell_not(const struct nnv_rules *r, size_t i, struct nnv_text *to);

#endif
