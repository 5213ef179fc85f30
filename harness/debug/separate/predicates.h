/* SPDX-License-Identifier: Apache-2.0 */
/** @file predicates.h What can be said of some cases and not of others: "channels > 127", "the filter is an input". */
#ifndef NNV_DEBUG_PREDICATES_H
#define NNV_DEBUG_PREDICATES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "harness/debug/separate/separate.h"

enum { NNV_CASE_WORDS = NNV_OBSERVATIONS / 64 };

/** A set of cases. */
struct nnv_case_set {
    uint64_t bits[NNV_CASE_WORDS];
};
size_t nnv_case_count(const struct nnv_case_set *s);
/** Those of a that are in b. */
struct nnv_case_set nnv_cases_both(const struct nnv_case_set *a, const struct nnv_case_set *b);

/** An attribute of all cases. */
struct nnv_column {
    const char *name, *otherwise; /**< otherwise: of a flag that is 0, may be NULL */
    enum nnv_attribute_kind kind;
    int cost;
    double *value; /**< of each case; NaN: it has no such attribute. Words by number */
};

/** Cases whose value in a column is above, below, equal. */
struct nnv_predicate {
    struct nnv_case_set set;
    uint32_t column;
    enum nnv_relation relation;
    double value;  /**< the last one inside: at the bound */
    double beyond; /**< ABOVE, BELOW: the next one outside */
    int cost;
    size_t failed, passed; /**< cases inside */
};

/** Cases, and the predicates that tell them apart. Strings are those of the observations, which must outlive it. */
struct nnv_predicates {
    struct nnv_arena *arena; /**< its own */
    struct nnv_map names, words;
    struct nnv_column *column;
    uint32_t columns, column_room;
    size_t n, failed, passed;
    struct nnv_case_set fails;
    size_t least; /**< failing cases that a predicate holds for, at least */
    struct nnv_predicate *item;
    size_t count;
};

/**
 * Fills *t, which nnv_predicates_free() empties: all predicates that hold for `share` (0 to 1) of the failing cases,
 * and not for all passing ones; of those that hold for the same cases the least far-fetched. False: no memory.
 */
NNV_USE_RESULT bool nnv_predicates_make(struct nnv_predicates *t, const struct nnv_observation *o, size_t n,
                                        double share);
void nnv_predicates_free(struct nnv_predicates *t);
/** What it says: "channels of input > 127". The strings are those of the observations. */
struct nnv_term nnv_predicate_term(const struct nnv_predicates *t, const struct nnv_predicate *p);
/** The opposite: "channels of input <= 127". */
struct nnv_term nnv_predicate_opposite(const struct nnv_predicates *t, const struct nnv_predicate *p);
/** True if it holds for a case that need not be among those it was made of. */
bool nnv_predicate_holds(const struct nnv_predicates *t, const struct nnv_predicate *p,
                         const struct nnv_observation *o);

#endif
