/* SPDX-License-Identifier: Apache-2.0 */
/** @file merge_parts.h The folders that are merged: what their first lines say, and whether they fit together. */
#ifndef NNV_HARNESS_MERGE_PARTS_H
#define NNV_HARNESS_MERGE_PARTS_H

#include "harness/journal/reader.h"
#include "harness/journal/shards/merge.h"

/** A folder with a run, or a shard of one. */
struct nnv_part {
    const char *folder;
    struct nnv_journal_reader reader;
    uint32_t index, count;
    uint64_t cases; /**< of its own */
    uint64_t whole; /**< of the whole selection */
    const char *selection, *by;
    bool is_shard;
};

/** Opens the folders. parts: room for options->count; all are to be freed, also after an error. */
NNV_USE_RESULT enum nnv_status nnv_parts_open(const struct nnv_merge_options *options, struct nnv_part *parts,
                                              struct nnv_err *err);
/** Sorts them by their numbers and checks that they are parts of one run, each there once, and none missing. */
NNV_USE_RESULT enum nnv_status nnv_parts_check(const struct nnv_merge_options *options, struct nnv_part *parts,
                                               struct nnv_err *err);
/** The first line of the merged journal. */
NNV_USE_RESULT enum nnv_status nnv_parts_header(const struct nnv_merge_options *options, const struct nnv_part *parts,
                                                struct nnv_text *out, struct nnv_err *err);
void nnv_parts_close(struct nnv_part *parts, size_t count);

#endif
