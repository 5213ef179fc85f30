/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bucket.h Failures that look like one bug: of the same verdict, and explained by the same mistake in the same
 * operation; where there is no explanation, same operation, type family, and a similar reason.
 */
#ifndef NNV_JOURNAL_CAUSES_BUCKET_H
#define NNV_JOURNAL_CAUSES_BUCKET_H

#include "base/arena.h"
#include "base/text.h"
#include "nnvts/result.h"
#include "base/map.h"

struct nnv_report;
struct nnv_cause_condition;

/** What a bucket is chosen by. */
struct nnv_bucket_case {
    enum nnvts_verdict verdict;
    enum nnvts_reason why;
    const char *op, *type, *reason;
    uint64_t compared;                       /**< elements: the measure of a small case */
    size_t id;                               /**< the caller's number of the case */
    const char *explained, *explained_op;    /**< see nnv_report_case; may be NULL */
    const struct nnv_cause_condition *where; /**< the same; it is kept, not copied */
    bool tried, untried;                     /**< the same */
    const char *mode;                        /**< the same */
    bool promise;                            /**< the same */
};

struct nnv_bucket {
    enum nnvts_verdict verdict;
    enum nnvts_reason why;   /**< of its first case */
    bool stepwise;           /**< its first case calls the driver step by step: its record says in which mode */
    const char *op, *family; /**< of types: "float", "quant", or the type itself */
    const char *like;        /**< the first line of the reasons with their numbers as '#', or the explanation */
    bool explained;          /**< it is: what the driver seems to do */
    bool promise;            /**< or by which weaker promise of its arithmetic it would be right */
    const struct nnv_cause_condition *where; /**< the condition under which the cases fail, or NULL */
    size_t tried;                            /**< cases that were to be explained, and could not be */
    const char *suspect;                     /**< then: an operation in it that is wrong elsewhere, or "" */
    size_t count;                            /**< cases */
    size_t first;                            /**< id of the first case */
    size_t smallest;                         /**< id of the case with the fewest compared elements, the first of them */
    uint64_t smallest_compared;
};

/** Zero-initialise. */
struct nnv_buckets {
    struct nnv_arena *arena;
    struct nnv_map map;
    struct nnv_bucket *item; /**< map.count of them */
    size_t cap;
};

/** Adds a case and returns the number of its bucket, NNV_MAP_NONE when out of memory. Strings are copied. */
uint32_t nnv_buckets_add(struct nnv_buckets *b, const struct nnv_bucket_case *c);
/**
 * The buckets of a run's bad cases, the fullest first. of[i] is the bucket of case i of the report (NNV_MAP_NONE: not a
 * bad one); of may be NULL. No more cases may be added. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_buckets_of(const struct nnv_report *report, struct nnv_buckets *b, uint32_t *of,
                                              struct nnv_err *err);
void nnv_buckets_free(struct nnv_buckets *b);
/**
 * Adds the first line of a reason with its numbers as '#': what the reasons of one bug have in common. Digits inside
 * words ("float32", "CONV_2D") stay. Of such a text it makes the same again.
 */
void nnv_text_add_like(struct nnv_text *t, const char *reason);

#endif
