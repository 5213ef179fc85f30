/* SPDX-License-Identifier: Apache-2.0 */
/** @file versions.h Two versions of a driver on one spec: which operation became wrong, and what becomes of caches. */
#ifndef NNV_DEBUG_VERSIONS_H
#define NNV_DEBUG_VERSIONS_H

#include "harness/debug/bisect/bisect.h"

/** What became of a cache that one version wrote and the other was given. */
enum nnv_crossing_kind {
    NNV_CROSSING_NONE, /**< the versions have no caches, other numbers of files, or the writer does not compile it */
    NNV_CROSSING_REFUSED,
    NNV_CROSSING_RIGHT,
    NNV_CROSSING_WRONG, /**< wrong values, or a broken promise */
    NNV_CROSSING_ENDED, /**< its process crashed, or did not end in time */
};
/** "refused" ... */
const char *nnv_crossing_name(enum nnv_crossing_kind kind);

struct nnv_crossing {
    enum nnv_crossing_kind kind;
    char why[NNV_OPINION_REASON];
};

struct nnv_versions {
    struct nnv_bisection now, before; /**< each operation alone, on the version's own inputs */
    uint32_t culprit;                 /**< the first operation that is wrong now and was not; UINT32_MAX: none */
    struct nnv_crossing from_before;  /**< the cache of the version before, read by this one */
    struct nnv_crossing to_before;    /**< the other way round: after a step back */
};

/** Judges both. Errors as of nnv_judge_steps(). */
NNV_USE_RESULT enum nnv_status nnv_compare_versions(const struct nnv_spec *spec, const struct nnv_oracle *now,
                                                    const struct nnv_oracle *before, struct nnv_arena *arena,
                                                    struct nnv_versions *out, struct nnv_err *err);
/** True if a cache of another version is taken for one's own, and is not. */
static inline bool nnv_crossing_bad(const struct nnv_crossing *c) {
    return c->kind == NNV_CROSSING_WRONG || c->kind == NNV_CROSSING_ENDED;
}

#endif
