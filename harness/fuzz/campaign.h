/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file campaign.h Fuzzing until the user stops it: generations of batches, a corpus of inputs that brought new
 * answers or reached code that none before had, findings that are reduced and written.
 *
 * A generation depends on the seed and on the results of those before it, never on time or on the number of workers.
 */
#ifndef NNV_FUZZ_CAMPAIGN_H
#define NNV_FUZZ_CAMPAIGN_H

#include "harness/fuzz/batch.h"

enum { NNV_FUZZ_FINDINGS_MAX = 32 }; /**< a campaign ends when it has so many */

/** Something that a driver must not do. */
struct nnv_fuzz_finding {
    enum nnv_fuzz_wrong kind;
    uint64_t signature;            /**< findings with the same one are the same */
    uint64_t times;                /**< how often it was seen */
    char text[512];                /**< one line */
    char *detail;                  /**< backtrace and what was printed, malloc'ed; may be NULL */
    struct nnv_fuzz_input *inputs; /**< malloc'ed; one after the other */
    size_t count;
    char file[64]; /**< below the folder, without suffix: "crash-0123456789abcdef" */
};

struct nnv_fuzz_stats {
    uint64_t inputs; /**< executed */
    size_t answers;  /**< kinds of them: phase, status and broken rule */
    size_t edges;    /**< of the driver's code, reached by inputs, where coverage is harvested */
    double chance;   /**< about, that the next input brings a new answer or edge */
    bool saturated;  /**< the campaign ended because that is below the limit */
    size_t corpus, findings;
    uint64_t ns;
};

struct nnv_fuzz_options {
    const struct nnv_run_config *config; /**< driver, seed, jobs, timeout, out */
    uint64_t time_ns;                    /**< 0: without end */
    uint64_t inputs;                     /**< how many; 0: without end */
    double limit;                        /**< of the chance that an input brings something new; 0: none */
    const char *corpus;                  /**< folder of inputs to begin with and to add to; NULL: none */
    void *context;
    void (*progress)(void *context, const struct nnv_fuzz_stats *stats);  /**< now and then; may be NULL */
    void (*found)(void *context, const struct nnv_fuzz_finding *finding); /**< reduced and written */
};

/**
 * Fuzzes config->driver and writes findings below config->out: NAME.fuzz, and NAME.json where a spec can express the
 * model. *stats tells what was done. NNV_INVALID: the driver can't be opened, or the corpus can't be read.
 */
NNV_USE_RESULT enum nnv_status nnv_fuzz_campaign(const struct nnv_fuzz_options *options, struct nnv_fuzz_stats *stats,
                                                 bool *interrupted, struct nnv_err *err);
/** Runs inputs one after the other in one worker. *wrong: finding is filled, nnv_fuzz_finding_free() it. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_replay(const struct nnv_run_config *config, const struct nnv_fuzz_input *inputs,
                                               size_t count, struct nnv_fuzz_finding *finding, bool *wrong,
                                               struct nnv_err *err);
void nnv_fuzz_finding_free(struct nnv_fuzz_finding *f);
/** Drops inputs and mutations of a finding as long as it stays the same. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_reduce(const struct nnv_run_config *config, struct nnv_fuzz_finding *f,
                                               struct nnv_err *err);
/** The input as a spec, all of it arena's; *spec is NULL where a spec cannot express it. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_spec(const struct nnv_fuzz_input *input, struct nnv_arena *arena,
                                             struct nnv_spec **spec, struct nnv_err *err);
/** Writes FILE.fuzz and, where possible, FILE.json into a folder that exists. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_finding_write(const struct nnv_fuzz_finding *f, const char *folder,
                                                      const char *driver, struct nnv_err *err);

#endif
