/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file telling.h What is known of where cases fail, as structures, and the one place that puts it into words: "only
 * where stride is 2x2 and channels > 127 (57 of 60 such cases fail)".
 */
#ifndef NNV_DEBUG_TELLING_H
#define NNV_DEBUG_TELLING_H

#include "base/arena.h"
#include "base/json_out.h"
#include "base/text.h"

enum { NNV_CONDITION_TERMS = 4 };

enum nnv_attribute_kind {
    NNV_ATTRIBUTE_NUMBER, /**< may be compared: "channels > 127" */
    NNV_ATTRIBUTE_WORD,   /**< may be this one or another: "type is float16" */
    NNV_ATTRIBUTE_FLAG,   /**< the name says it: "height = width" */
};

enum nnv_relation { NNV_ABOVE, NNV_BELOW, NNV_EQUAL, NNV_UNEQUAL };

/** What is said of one attribute. */
struct nnv_term {
    const char *subject; /**< the attribute: "channels"; of a flag what is so */
    const char *word;    /**< words: the one it is, or is not; flags: what to say where it is not so, or NULL */
    enum nnv_attribute_kind kind;
    enum nnv_relation relation;
    double value;  /**< flags: 0 where it is not so; numbers: the last one inside, at the bound */
    double beyond; /**< ABOVE, BELOW: the next one outside */
};

/** What is observed. */
enum nnv_observed {
    NNV_ALL_CASES,
    NNV_SOME_CASES,    /**< a sample of them */
    NNV_SHOWING_CASES, /**< those alone in which a mistake, were it made, would show */
    NNV_ELEMENTS,      /**< of answers */
};

/** All of some terms; of none: nothing is known. */
struct nnv_case_condition {
    struct nnv_term term[NNV_CONDITION_TERMS];
    int terms;
    enum nnv_observed what;
    size_t failures;       /**< that were seen */
    size_t failed, passed; /**< those for which it holds */
};

enum nnv_where_kind {
    NNV_WHERE_UNKNOWN,
    NNV_WHERE_CONDITION,
    NNV_WHERE_ALL,    /**< whole: all cases fail */
    NNV_WHERE_NEARLY, /**< part of whole fail: nearly all, or at least most */
    NNV_WHERE_STEPS,  /**< in these kinds of steps */
    NNV_WHERE_ALONE,  /**< part of whole pass when they run again, each alone */
};

/** Where the failures of a cause are. */
struct nnv_where {
    enum nnv_where_kind kind;
    struct nnv_case_condition cases; /**< CONDITION */
    size_t part, whole;
    const char *const *steps; /**< STEPS: their names */
    size_t count;
    struct nnv_case_condition elements; /**< of the answers; it may be known whatever the kind is */
};

/** True if something is known. */
bool nnv_where_is(const struct nnv_where *w);
/** Copies the strings of its terms to the arena. False: no memory. */
NNV_USE_RESULT bool nnv_condition_keep(struct nnv_case_condition *c, struct nnv_arena *arena);
/** True if both bound the same number first, with equal terms before, whatever the bounds are. */
bool nnv_conditions_bound_the_same(const struct nnv_case_condition *a, const struct nnv_case_condition *b);
/**
 * True if a term has a bound between two neighbouring whole numbers above 256, or below -256: what has another cause
 * hardly ever ends at the same ones.
 */
bool nnv_condition_is_peculiar(const struct nnv_case_condition *c);

/** Appends "channels > 127". */
void nnv_term_tell(const struct nnv_term *t, struct nnv_text *to);
/** Appends "only where ..." or "mostly where ... (57 of 59 failures)", "in elements where ...". */
void nnv_condition_tell(const struct nnv_case_condition *c, struct nnv_text *to);
/** Appends all that is known: cases, then "; in elements where ...". */
void nnv_where_tell(const struct nnv_where *w, struct nnv_text *to);
/**
 * Members of an object: what nnv_where_tell() tells, and its parts (see struct nnv_cause_condition), which say nothing
 * of how many cases, nor of the next number that is outside. None if nothing is known.
 */
void nnv_where_write(const struct nnv_where *w, struct nnv_json_out *j);

#endif
