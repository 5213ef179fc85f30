/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file batch.h Many inputs in one worker process, one after the other.
 *
 * A batch is a case of the suite fuzz: what happens to its worker is known from the worker pool. Which input it was is
 * on the board, in memory that the worker shares with the supervisor. All else that a batch has to tell are lines of
 * the case's outputs.
 */
#ifndef NNV_FUZZ_BATCH_H
#define NNV_FUZZ_BATCH_H

#include <stdatomic.h>

#include "harness/judge/judge.h"

#include "harness/fuzz/image.h"
#include "nnvts/result.h"

enum {
    NNV_FUZZ_BATCH_INPUTS = 64,   /**< inputs of a batch that is drawn */
    NNV_FUZZ_UNCHANGED = 1 << 20, /**< on the board: the model without mutations is judged */
};

/** What a batch tells while it runs. Shared with the worker. */
struct nnv_fuzz_board {
    _Atomic uint32_t current; /**< the input that runs, or NNV_FUZZ_UNCHANGED */
    _Atomic uint32_t done;    /**< inputs that are over: the worker counts */
};

/** The inputs of a batch: drawn from a parent, or given. */
struct nnv_fuzz_batch {
    struct nnv_fuzz_input parent;       /**< its base and mutations are where drawn inputs begin */
    uint64_t seed, number;              /**< of the drawing */
    uint32_t first, count;              /**< inputs first to count - 1 are run */
    const struct nnv_fuzz_input *given; /**< count entries; NULL: drawn */
    struct nnv_fuzz_board *board;       /**< NULL: not watched */
    uint32_t current, done;             /**< what the board said in the end */
};

/** What kind of wrong. */
enum nnv_fuzz_wrong {
    NNV_WRONG_CRASH,   /**< the process ended */
    NNV_WRONG_HANG,    /**< the input did not end in time */
    NNV_WRONG_MEMORY,  /**< memory was changed that is not the driver's */
    NNV_WRONG_STATUS,  /**< a status that does not exist, or an answer that is not whole */
    NNV_WRONG_REFUSED, /**< a valid model that the driver claims to support is not prepared */
    NNV_WRONG_VALUES,  /**< the unchanged model gives wrong results */
    NNV_WRONG_COUNT
};
/** "crash", "hang", "memory", "status", "refused", "values". */
const char *nnv_fuzz_wrong_name(enum nnv_fuzz_wrong w);

/** Input i of the batch. */
struct nnv_fuzz_input nnv_fuzz_batch_input(const struct nnv_fuzz_batch *b, uint32_t i);
/**
 * Runs a batch on the client's driver: each input, then the parent's base without mutations, which is judged as a run
 * would. The verdict is FAIL if something is wrong, UNSUPPORTED if the driver supports nothing of it. Lines of outputs:
 * "a HASH INPUT" for a kind of answer, "e HASH INPUT" for an edge of the driver's code that the input reached, both of
 * the first two inputs that show it; "w KIND INPUT TEXT" for something wrong.
 */
void nnv_fuzz_batch_run(struct nnv_case_env *env, const struct nnv_fuzz_batch *b, struct nnv_result *result);

/** What one input came to. */
struct nnv_fuzz_outcome {
    uint64_t answers[8]; /**< hashes of (phase, status, rule) */
    int nanswers;
    bool executed;
    bool supported; /**< the driver claims to support the model */
    bool wrong, damaged;
    enum nnv_fuzz_wrong kind;
    char text[256];
};
/** Runs one input whose base is spec. */
void nnv_fuzz_execute(struct nnv_case_env *env, const struct nnv_spec *spec, const struct nnv_fuzz_input *input,
                      struct nnv_arena *arena, struct nnv_fuzz_outcome *out);

#endif
