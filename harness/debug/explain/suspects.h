/* SPDX-License-Identifier: Apache-2.0 */
/** @file suspects.h Which operations a run's wrong values come from, where nothing explains them. */
#ifndef NNV_EXPLAIN_SUSPECTS_H
#define NNV_EXPLAIN_SUSPECTS_H

#include "harness/debug/explain/told.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/load.h"

struct nnv_suspects {
    const struct nnv_report *r;
    size_t *alone;  /**< of each operation of the report: failing cases of wrong values in it alone */
    size_t *chosen; /**< of each bucket: the case that tells most. Its smallest one of a single operation, or of all */
};

/** Looks at a report's failing cases; of: the bucket of each case. False: no memory. */
NNV_USE_RESULT bool nnv_suspects_find(struct nnv_suspects *s, const struct nnv_report *r,
                                      const struct nnv_buckets *buckets, const uint32_t *of, struct nnv_arena *arena);
/**
 * The case of the bucket of case i, of one operation alone, that has the most values, but not more than most: SIZE_MAX
 * if none has more than that of i.
 */
size_t nnv_suspects_larger(const struct nnv_suspects *s, const uint32_t *of, size_t i, uint64_t most);
/** The operation of a model of several that is wrong alone in most cases; NULL: none of them is. */
const char *nnv_suspects_name(const struct nnv_suspects *s, const struct nnv_told *told);

#endif
