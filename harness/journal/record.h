/* SPDX-License-Identifier: Apache-2.0 */
/** @file record.h The lines of the journal: see docs/use/journal.md. */
#ifndef NNV_HARNESS_RECORD_H
#define NNV_HARNESS_RECORD_H

#include "harness/runner/pool.h"
#include "harness/runner/run.h"

/** What a case line has beyond what the case and its end tell. */
struct nnv_record_extra {
    const char *dump;           /**< relative to the run folder; NULL: none */
    const char *replay;         /**< NULL: none */
    const char *remark;         /**< added to the reason as a line of its own; NULL: none */
    const char *again;          /**< verdict of the replay that was tried; NULL: it was not */
    enum nnvts_outcome outcome; /**< against the expectations of the run */
    uint32_t expectation;       /**< number of the entry that is about it; where outcome is not NONE */
};

/** Appends the first line of a journal, without newline. */
void nnv_record_header(const struct nnv_run_options *o, const struct nnv_driver_info *driver, struct nnv_text *out);
/** Adds the members ,"start":...,"machine":{...}: when and where. */
void nnv_record_place(struct nnv_text *out);
/**
 * Appends the line of a case, without newline. Comparisons that are not a JSON array (a damaged worker) are left out
 * and make the verdict ERROR.
 */
void nnv_record_case(const struct nnv_case *c, const struct nnv_ended *e, const struct nnv_record_extra *extra,
                     struct nnv_text *out);
/**
 * Appends the command that runs the case again: `replay` of the dump (a path), or `run` with a filter where dump is
 * NULL. It judges by the same profile: where replay's own default differs, --precision says so.
 */
void nnv_record_replay(const struct nnv_run_config *config, const struct nnv_case *c, const char *dump,
                       struct nnv_text *out);
/** Appends the command that runs these cases again, of the suites that they are of. */
void nnv_record_run(const struct nnv_run_config *config, const struct nnv_case *const *cases, size_t count,
                    struct nnv_text *out);
/** Adds a word of a command line, quoted for a shell where needed. */
void nnv_record_quoted(struct nnv_text *out, const char *s);
/** Hash of the names of the cases, hexadecimal, into buf (room for 17). */
void nnv_record_selection(const struct nnv_case *cases, size_t count, char *buf);
/** "default" or the profile of config. */
const char *nnv_record_precision(const struct nnv_run_config *config);
/** "smoke", "default", "full". */
const char *nnv_record_tier(const struct nnv_run_config *config);
/** True if the n bytes are one JSON array on one line. */
bool nnv_json_is_array(const char *s, size_t n);

#endif
