/* SPDX-License-Identifier: Apache-2.0 */
/** @file merge.h The shards of a run made one run again. */
#ifndef NNV_HARNESS_MERGE_H
#define NNV_HARNESS_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/journal/load.h"

struct nnv_merge_options {
    const char *const *folders; /**< of the shards, in any order */
    size_t count;
    const char *out; /**< folder of the whole run, none of folders */
    bool partial;    /**< shards or records may be missing: those cases are not run */
    int argc;
    char **argv; /**< for the journal's first line */
};

/** What came of it. */
struct nnv_merged {
    size_t cases, records, dumps;
    size_t shards, missing;    /**< shards that the run has, and how many of them were not given */
    struct nnv_report *report; /**< to be settled, and freed, by the caller */
};

/**
 * Writes cases.tsv, journal.jsonl and dumps/ of the whole run below out. Results of an earlier run there are removed.
 * The records of the shards stand one shard after the other; their worker numbers go on from shard to shard, dumps are
 * links to those of the shards, or copies where that is impossible. A folder of a whole run is one shard of one.
 * NNV_INVALID: a folder is no run, is still running, or is damaged; shards are of another run (driver, build, seed,
 * precision, tier, selection, number or division of shards), there twice or, unless partial is set, missing or not at
 * their end: then *merged holds nothing.
 */
NNV_USE_RESULT enum nnv_status nnv_merge(const struct nnv_merge_options *options, struct nnv_merged *merged,
                                         struct nnv_err *err);

#endif
