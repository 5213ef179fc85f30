/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file drift.h What grows while a driver works for long: what it holds, and how long it takes. A pure function of what
 * was noted.
 *
 * The time is cut into blocks, and each keeps the least that was seen in it: what comes and goes does not count, nor
 * does an execution that was interrupted. The first half is for warming up, for caches and pools that fill up. What is
 * told of the second one has a trend that chance does not explain: a step, or a few, is none.
 */
#ifndef NNV_SUITES_EXEC_DRIFT_H
#define NNV_SUITES_EXEC_DRIFT_H

#include "harness/runner/worker/resources.h"
#include "nnvts/result.h"
#include "base/text.h"

enum { NNV_DRIFT_BLOCKS = 32 };

/** What may grow: of this process, as enum nnv_held has it, then of those that descend from it, then the time. */
enum {
    NNV_DRIFT_OTHERS_DESCRIPTORS = NNV_HELD_KINDS,
    NNV_DRIFT_OTHERS_THREADS,
    NNV_DRIFT_OTHERS_MEMORY, /**< resident */
    NNV_DRIFT_TIME,          /**< ns of the quickest execution */
    NNV_DRIFT_KINDS
};

/** Instead of a number: nobody looked. */
#define NNV_DRIFT_UNSEEN UINT64_MAX

/** Set length_ns, of the whole; zero-initialise the rest. */
struct nnv_drift {
    uint64_t length_ns;
    struct nnv_drift_block {
        uint64_t executions;             /**< in it */
        uint64_t least[NNV_DRIFT_KINDS]; /**< NNV_DRIFT_UNSEEN: nothing was seen */
    } block[NNV_DRIFT_BLOCKS];
};

/** So many executions have ended, the last at_ns after the beginning. */
void nnv_drift_note(struct nnv_drift *d, uint64_t at_ns, const uint64_t now[NNV_DRIFT_KINDS], uint64_t executions);
/**
 * Why that is wrong, said: the first kind of which there was ever more, else that executions took ever longer. NONE:
 * nothing of that, or it was too short to tell, below a second or with blocks that nothing was executed in.
 */
enum nnvts_reason nnv_drift_judge(const struct nnv_drift *d, struct nnv_text *said);
/**
 * The same as a JSON array, of each kind that there was some of an object: of, seconds, least (of each block; the
 * time in us), judged_from (the first block that counts), slope (a second, in the judged half), low, high, grows.
 * Nothing where it was too short to tell.
 */
void nnv_drift_json(const struct nnv_drift *d, struct nnv_text *out);

#endif
