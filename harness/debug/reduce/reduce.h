/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reduce.h Makes a failing spec smaller while it fails in the same way.
 *
 * Operations go first: each alone, then delta debugging over the list of them. What a dropped operation had computed
 * becomes an input with its golden value. Then outputs, extents, attributes and values, again and again until nothing
 * gets smaller. Each candidate is validated, evaluated afresh, and judged by the same precision in a process of its
 * own.
 */
#ifndef NNV_DEBUG_REDUCE_H
#define NNV_DEBUG_REDUCE_H

#include "harness/debug/extract.h"
#include "harness/debug/oracle.h"

/** What makes two failures the same. */
struct nnv_signature {
    enum nnvts_verdict verdict;
    enum nnv_phase phase;            /**< of a CRASH or TIMEOUT */
    int signal;                      /**< of a CRASH */
    bool values;                     /**< a FAIL by values */
    bool not_finite;                 /**< of them: one is NaN or infinite that should not be, or the other way round */
    int32_t operation;               /**< kind of the first operation with a wrong output; -1: not by values */
    char reason[NNV_OPINION_REASON]; /**< of other FAILs: the reason without its numbers; of a check how it ended */
};
/** Of an opinion of a spec. */
struct nnv_signature nnv_signature_of(const struct nnv_spec *spec, const struct nnv_opinion *opinion);
bool nnv_signature_equal(const struct nnv_signature *a, const struct nnv_signature *b);
/** "FAIL: wrong values of TANH", into buf (room NNV_OPINION_REASON + 32); returns buf. */
const char *nnv_signature_text(const struct nnv_signature *s, char *buf);

struct nnv_reduce_options {
    const struct nnv_oracle *oracle;
    uint64_t total_ns; /**< for everything */
    void *context;
    /** Called after each candidate with the best spec so far; false: stop. May be NULL. */
    bool (*progress)(void *context, const struct nnv_spec *best, size_t candidates);
};

struct nnv_reduction {
    struct nnv_spec *spec;
    struct nnv_signature before, after; /**< after: what was kept, once all results were outputs */
    size_t candidates;                  /**< judged */
    bool complete;                      /**< false: time was over, or progress said stop */
};

/**
 * Reduces a spec. All of the result is arena's. NNV_INVALID: it does not fail on this driver, or not against the golden
 * values, or it is a model that a driver must refuse; or the driver can't be opened.
 */
NNV_USE_RESULT enum nnv_status nnv_reduce(const struct nnv_spec *spec, const struct nnv_reduce_options *options,
                                          struct nnv_arena *arena, struct nnv_reduction *out, struct nnv_err *err);

#endif
