/* SPDX-License-Identifier: Apache-2.0 */
/** @file record.h The lines of the journal: see docs/use/journal.md. */
#ifndef NNV_JOURNAL_RECORD_H
#define NNV_JOURNAL_RECORD_H

#include "harness/journal/expect/expect.h"
#include "harness/journal/shards/shard.h"

#define NNV_JOURNAL_FORMAT "nnvts-journal/1"

/** A run, as the first line of its journal tells of it, and as commands repeat it (command.h). */
struct nnv_run_facts {
    const char *driver;                /**< as on the command line */
    const char *name, *version, *type; /**< of the driver */
    int level;
    uint64_t seed;
    int jobs;
    const char *precision; /**< a profile, or "default" */
    char arithmetic[2048]; /**< that the driver promises, in its shortest words; "" is strict */
    const char *tier;      /**< "smoke", "default" ... */
    const char *specs;     /**< file or folder of specs, or NULL */
    uint64_t count;        /**< random graphs; 0: the tier says */
    uint64_t budget_ns;    /**< no case begins after so long; 0: no limit */
    uint64_t min_judged;   /**< percent of the cases that must be judged; 0: none */
    uint64_t stress_ns;    /**< that the cases of stress take together; 0: a moment each */
    const char *suspend;   /**< command that suspends the device in the middle of them; NULL: none */
    uint32_t repeat;       /**< times that each case is run; 0 is 1 */
    bool determinism;
    bool compile_only; /**< nothing was executed */
    int argc;
    char **argv;
    const struct nnv_case *cases;
    size_t case_count;
    const struct nnv_expectations *expectations; /**< NULL: none */
    const struct nnv_shard *shard;               /**< NULL: the cases are all */
    const char *graphs;                          /**< what random graphs are made of; NULL: of all */
    const char *saturation;                      /**< why the random graphs are so many; NULL: nothing was estimated */
    const char *networks;                        /**< where cases stand in networks, as JSON; NULL: not known */
    char program_build[17], driver_build[17];    /**< hashes of the files */
    char specs_hash[17];                         /**< of the files that cases are read from; "": of none */
    /** Adds further members; NULL: there are none. */
    void (*more)(const struct nnv_run_facts *f, struct nnv_json_out *j);
};

/** How a case ended. Texts live during the call. */
struct nnv_ended {
    uint32_t index; /**< of the case */
    enum nnvts_verdict verdict;
    enum nnvts_reason why; /**< NONE: the first of the verdict's */
    const char *mode;      /**< of the execution that failed; NULL: not said */
    uint64_t compared, not_compared, values, start_ns, ns,
        driver_ns;                        /**< start_ns: of nnv_now_ns(); 0: it did not begin */
    uint32_t worker;                      /**< number of the worker process; 0: none */
    uint32_t turn;                        /**< it was the worker's first, second, ... case; 0: no worker's */
    uint32_t counts[NNVTS_VERDICT_COUNT]; /**< of the case's runs, where it is repeated; else all 0 */
    uint32_t phase;                       /**< enum nnv_phase, of a CRASH or TIMEOUT; 0: none */
    int signal;                           /**< of a CRASH; 0: none */
    struct nnv_bytes reason, outputs, backtrace, log, uses, devices, drift, answer;
};

/** What a case line has beyond what the case and its end tell. */
struct nnv_record_extra {
    const char *phase;          /**< its name; NULL: none */
    const char *dump;           /**< relative to the run folder; NULL: none */
    const char *replay;         /**< NULL: none */
    const char *remark;         /**< added to the reason as a line of its own; NULL: none */
    const char *again;          /**< verdict of the replay that was tried; NULL: it was not */
    enum nnvts_outcome outcome; /**< against the expectations of the run */
    uint32_t expectation;       /**< number of the entry that is about it; where outcome is not NONE */
};

/** Appends the first line of a journal, without newline. */
void nnv_record_header(const struct nnv_run_facts *facts, struct nnv_text *out);
/** Adds the members start and machine: when and where. */
void nnv_record_place(struct nnv_json_out *j);
/**
 * Appends the line of a case, without newline. Comparisons that are not a JSON array (a damaged worker) are left out
 * and make the verdict ERROR.
 */
void nnv_record_case(const struct nnv_case *c, const struct nnv_ended *e, const struct nnv_record_extra *extra,
                     struct nnv_text *out);
/** Appends what a dump says of the run and of the case that it is from: an object. */
void nnv_record_origin(const struct nnv_run_facts *facts, const struct nnv_case *c, const struct nnv_ended *e,
                       struct nnv_text *out);
/** Hash of the names of the cases, hexadecimal, into buf (room for 17). */
void nnv_record_selection(const struct nnv_case *cases, size_t count, char *buf);
/** That hash with one name more; it begins as 0. */
uint64_t nnv_selection_add(uint64_t hash, const char *name);
/** True if the hash of so many names is that of a selection of so many cases, as a first line has both. */
bool nnv_selection_is(uint64_t hash, uint64_t count, const char *selection, uint64_t cases);
/** True if the n bytes are one JSON array on one line. */
bool nnv_json_is_array(const char *s, size_t n);

#endif
