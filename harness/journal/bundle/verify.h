/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file verify.h Whether the folder of a run says what its raw data say.
 *
 * Checked are the hashes of the files, the list of cases against the journal's hash of it, each record's verdict
 * against its own comparisons, the verdict of each dump that holds what the driver answered by judging it again, and
 * the counts of summary.json.
 */
#ifndef NNV_JOURNAL_VERIFY_H
#define NNV_JOURNAL_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/status.h"
#include "nnvts/result.h"

/** What a dump comes to when it is judged again. */
struct nnv_rejudged {
    bool answered; /**< it holds what the driver answered */
    enum nnvts_verdict verdict;
    uint64_t compared;
};

struct nnv_verify {
    const char *folder;
    void *context;
    /** Told of each thing that is wrong. */
    void (*wrong)(void *context, const char *text);
    /** Judges the tensors of a dump. */
    enum nnv_status (*rejudge)(const char *path, struct nnv_rejudged *out, struct nnv_err *err);
};

/** What was found. */
struct nnv_verified {
    size_t verdicts[NNVTS_VERDICT_COUNT];
    size_t records, from_tensors, passes_from_tensors;
    bool apart;  /**< the driver ran in a process of its own, and not in that which judged it */
    bool packed; /**< there is a manifest to compare the files with */
};

/** By the journal's first line, the driver ran in a process of its own, and not in that which judged it. */
bool nnv_verify_apart(const json_t *header);
/** NNV_INVALID: the folder is none of a run. What is wrong in one is no error. */
NNV_USE_RESULT enum nnv_status nnv_verify_run(const struct nnv_verify *v, struct nnv_verified *found,
                                              struct nnv_err *err);

#endif
