/* SPDX-License-Identifier: Apache-2.0 */
/** @file run.h A run: cases over worker processes, into a journal. */
#ifndef NNV_HARNESS_RUN_H
#define NNV_HARNESS_RUN_H

#include "harness/journal/journal.h"
#include "harness/journal/record.h"
#include "harness/runner/suite.h"
#include "nnvts/result.h"

struct nnv_probe;

struct nnv_run_options {
    const struct nnv_run_config *config;
    const struct nnv_case *cases;
    size_t count;
    struct nnv_probe *probe;               /**< of the driver, begun beside the listing of the cases; NULL: none yet */
    struct nnv_expectations *expectations; /**< bound to the cases (expect.h); NULL: none */
    const struct nnv_shard *shard;         /**< cases are a shard of it; NULL: they are all */
    bool resume;        /**< go on with the journal in config->out: cases that have a record are not run again */
    bool keep_previous; /**< the run that is in config->out is kept, see nnv_journal_set_aside(), where that is possible
                         */
    int argc;
    char **argv;                             /**< for the journal's first line and for replay lines */
    const struct nnv_run_observer *observer; /**< may be NULL */
    size_t *bad;                             /**< counts the cases that go wrong now, expected or not; may be NULL */
    /** See nnv_dumper_options. */
    enum nnv_status (*also)(const char *path, const char *driver, const struct nnv_spec *spec,
                            enum nnv_precision precision, struct nnv_arena *arena, struct nnv_err *err);
};

/**
 * Runs the cases in config->jobs worker processes and writes cases.tsv (one line a case: name, suite, op, type,
 * tags, separated by tabs), journal.jsonl and dumps/ below config->out, and of a shard selection.tsv with all cases.
 * The results of an earlier run of nnvts in this folder are removed, unless resume is set; a folder with a
 * journal.jsonl that is not nnvts's is refused. The driver is only ever loaded in workers: one probe worker opens it
 * first, so that a driver that can't be used is an error before anything is written. resume: the journal must be of the
 * same driver, version, seed, precision, tier and selection; without a journal the run begins. nnvts may be killed at
 * any moment: what is in the journal stays valid, what was running is run again. SIGINT, SIGTERM and SIGHUP end the run
 * after what is judged is written; *interrupted tells so. Other verdicts than PASS do not make this fail: only the
 * harness's own failures do, such as a full disk (NNV_IO). Not for two threads at once: it takes the process's signals
 * while it runs.
 */
NNV_USE_RESULT enum nnv_status nnv_run(const struct nnv_run_options *options, bool *interrupted, struct nnv_err *err);

/** What a probe tells of a driver without loading it here. Strings are arena's. */
struct nnv_driver_info {
    const char *name, *version, *type; /**< type: "CPU", "GPU", "ACCELERATOR", "OTHER", "UNKNOWN" */
    int level;
    const char *capabilities; /**< JSON object: relaxed_scalar, relaxed_tensor, if, while, operands: {type: [exec_time,
                                 power]} */
    const char *const *options; /**< NULL-terminated, or NULL */
    const char *const *faults;  /**< those of options with which it is wrong on purpose; NULL-terminated, or NULL */
    uint32_t model_cache_files, data_cache_files;
    uint32_t edges; /**< of its code, where it was built to count what is reached; see coverage/counters.h */
    const char *const
        *libraries;     /**< files that were loaded with the driver, beside its own; NULL-terminated, or NULL */
    const char *graphs; /**< what random graphs are made of: "58 of 412 operations x types"; NULL: of all */
    size_t left;        /**< processes that it left behind when it was asked; they were ended */
};
/**
 * Opens the driver in a process of its own, which has timeout_ns (see nnv_opening_ns()), and describes it. NNV_INVALID:
 * it can't be opened; then *info holds the options that it takes, if it lists them, what was left, and nothing else.
 */
NNV_USE_RESULT enum nnv_status nnv_driver_probe(const char *path, const char *options, uint64_t timeout_ns,
                                                struct nnv_arena *arena, struct nnv_driver_info *info,
                                                struct nnv_err *err);

/**
 * nnv_driver_probe() in two halves, for who has something else to do meanwhile. The strings outlive the probe.
 * nnv_probe_free() ends one that is not wanted any more.
 */
NNV_USE_RESULT enum nnv_status nnv_probe_start(const char *path, const char *options, uint64_t timeout_ns,
                                               struct nnv_probe **probe, struct nnv_err *err);
NNV_USE_RESULT enum nnv_status nnv_probe_end(struct nnv_probe *probe, struct nnv_arena *arena,
                                             struct nnv_driver_info *info, struct nnv_err *err);
void nnv_probe_free(struct nnv_probe *probe);
/** Starts the probe of a run, before its cases are known. */
NNV_USE_RESULT enum nnv_status nnv_run_probe(const struct nnv_run_config *config, struct nnv_probe **probe,
                                             struct nnv_err *err);

/**
 * Runs one case on the driver in a worker process, as replay does; *record is the journal line, malloc'ed. A driver
 * that can't be opened gives the verdict ERROR. NNV_INVALID if the user interrupted.
 */
NNV_USE_RESULT enum nnv_status nnv_run_one(const struct nnv_run_config *config, const struct nnv_case *c, char **record,
                                           struct nnv_err *err);

/** What commands say of a run: the members of facts that the config has; the others are 0. */
void nnv_config_facts(const struct nnv_run_config *config, struct nnv_run_facts *facts);
/** Appends the first line of the journal. */
void nnv_run_header(const struct nnv_run_options *options, const struct nnv_driver_info *driver, struct nnv_text *out);

/* ---------------------------------------------------------------- selection */

/** Keeps the cases that the expression selects, see nnv_select_keep(); names are those of operations and suites. */
NNV_USE_RESULT enum nnv_status nnv_select(struct nnv_case_list *list, const char *expression, struct nnv_err *err);
/** The names of operations and suites that nnvts knows: a nnv_select_names. */
bool nnv_known_names(bool operations, bool suites, bool (*see)(void *context, const char *name), void *context);
/** Appends the cases of the suites (comma-separated names; NULL: the default ones; "all": all). */
NNV_USE_RESULT enum nnv_status nnv_list_suites(const struct nnv_run_config *config, const char *suites,
                                               struct nnv_case_list *list, struct nnv_err *err);

/**
 * A hash of the file that tells builds apart, 16 hexadecimal digits into buf (room 17); "" if it can't be read.
 * Of this program (NULL) it is one of its build ID, where the linker made one, which need not be read whole.
 */
void nnv_build_hash(const char *path, char *buf);

#endif
