/* SPDX-License-Identifier: Apache-2.0 */
/** @file shard.h A run divided between machines: which part of its cases is run here. */
#ifndef NNV_JOURNAL_SHARD_H
#define NNV_JOURNAL_SHARD_H

#include "harness/journal/case.h"

enum { NNV_SHARDS_MAX = 100000 };

/** A part of a selection. Zero-initialise; ends with nnv_shard_free(). */
struct nnv_shard {
    uint32_t index, count;  /**< the first is 1; count 0: the run is whole */
    const char *from;       /**< what said so: "--shard" or the name of a variable */
    char by[32];            /**< how cases were divided: "hash", or "times-" and a hash of who got what */
    struct nnv_case *whole; /**< the whole selection, owned; its strings are the list's */
    size_t cases;           /**< of it */
    char selection[17];     /**< its hash, as of nnv_record_selection() */
};

/** Reads "2/4". NNV_INVALID if it is no such thing; from is kept. */
NNV_USE_RESULT enum nnv_status nnv_shard_parse(const char *text, const char *from, struct nnv_shard *shard,
                                               struct nnv_err *err);
/**
 * What the environment says: NNVTS_SHARD (2/4), GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS (whose GTEST_SHARD_STATUS_FILE
 * is created), SLURM_ARRAY_TASK_ID and its like, JOB_COMPLETION_INDEX of NNVTS_SHARD_TOTAL, CI_NODE_INDEX of
 * CI_NODE_TOTAL, the first that is there. Without any of them *shard is as it was. NNV_INVALID: they contradict each
 * other or do not tell how many shards there are.
 */
NNV_USE_RESULT enum nnv_status nnv_shard_find(struct nnv_shard *shard, struct nnv_err *err);
/** The number, from 1, of the shard that a case belongs to by its name alone. */
uint32_t nnv_shard_of(const char *name, uint32_t count);
/**
 * Keeps the cases of the shard (index, count), in their order, and fills in the rest of it. us: what each case will
 * take, microseconds: the longest are dealt out first, each to the shard that has least so far. NULL: by the hash of
 * the name, so that adding a case moves no other. An empty shard is no error.
 */
NNV_USE_RESULT enum nnv_status nnv_shard_keep(struct nnv_shard *shard, struct nnv_case_list *list, const uint64_t *us,
                                              struct nnv_err *err);
void nnv_shard_free(struct nnv_shard *shard);

#endif
