/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expect.h Expectations: files that say which cases of a driver are known to go wrong, why, who looks after it,
 * and until when. Their form: docs/use/expectations.md. A verdict stays what was measured; its outcome is told beside
 * it.
 */
#ifndef NNV_JOURNAL_EXPECT_H
#define NNV_JOURNAL_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "harness/journal/case.h"
#include "harness/journal/select.h"
#include "nnvts/result.h"

enum nnv_expected_state {
    NNV_EXPECTED_ACTIVE,
    NNV_EXPECTED_EXPIRED,      /**< its last day is over: it covers nothing any more */
    NNV_EXPECTED_UNMATCHED,    /**< no case of the suites that run is meant */
    NNV_EXPECTED_INAPPLICABLE, /**< its conditions speak of another driver, or its suite does not run */
};

/** An entry of a file. Strings are the list's; those that are not given are "". */
struct nnv_expected {
    const char *at;           /**< "known.json:12" */
    const char *const *cases; /**< selections, see nnv_select(); at least one */
    size_t case_count;
    uint32_t verdicts;            /**< a bit each (1 << verdict): what the case may end with; PASS: it may pass */
    const char *message;          /**< what its reason must hold */
    const char *reason;           /**< why it is expected */
    const char *owner, *link;     /**< who looks after it, and where it is told about */
    const char *expires;          /**< "2027-03-31": the last day on which it holds */
    const char *driver, *version; /**< conditions: a glob of its name or argument; ">=2.0 <3" */
    const char *level;            /**< of the driver: ">=5" */
    const char *op, *type;        /**< globs of the case's */
    double max_rate;              /**< it fails at most so often, and may pass; NaN: not said */
    enum nnv_expected_state state;
    size_t matches; /**< cases that it selects, of all that the suites have */
};

struct nnv_expected_link;

/** Zero-initialise, but for strict; nnv_expect_free() ends it. */
struct nnv_expectations {
    struct nnv_arena *arena;
    struct nnv_expected *item;
    size_t count, cap;
    bool strict;                    /**< unexpected outcomes fail the run, too */
    uint32_t *first;                /**< of each case, the first of its links + 1; 0: none */
    struct nnv_expected_link *link; /**< which entry is about which case */
    size_t links, link_cap, cases;
};

/** Adds the entries of a file. NNV_INVALID says file and line, what is wrong and what would be right. */
NNV_USE_RESULT enum nnv_status nnv_expect_read(const char *path, struct nnv_expectations *x, struct nnv_err *err);
/** The same for text of n bytes; name is the file's in messages. */
NNV_USE_RESULT enum nnv_status nnv_expect_parse(const char *name, const char *text, size_t n,
                                                struct nnv_expectations *x, struct nnv_err *err);
void nnv_expect_free(struct nnv_expectations *x);

/**
 * Counts of each entry the cases that it selects. all: what the suites of the run have, before any filter. An entry
 * that selects none is UNMATCHED; INAPPLICABLE where its name begins with a suite that has no case in the list.
 */
NNV_USE_RESULT enum nnv_status nnv_expect_count(struct nnv_expectations *x, const struct nnv_case_list *all,
                                                nnv_select_names *known, struct nnv_err *err);
/** Finds out which entries are about which of these cases, those of the run. */
NNV_USE_RESULT enum nnv_status nnv_expect_bind(struct nnv_expectations *x, const struct nnv_case *cases, size_t count,
                                               struct nnv_err *err);
/** Sets states by the driver and the day ("2026-01-31"). argument: as on the command line. */
void nnv_expect_apply(struct nnv_expectations *x, const char *argument, const char *name, const char *version,
                      int level, const char *day);
/**
 * The outcome of case i (of those bound) that ended so. counts: of its runs by verdict, all 0 where it ran once.
 * *entry: the number of the entry that is about it, where the outcome is not NONE.
 */
enum nnvts_outcome nnv_expect_judge(const struct nnv_expectations *x, size_t i, enum nnvts_verdict verdict,
                                    const char *reason, size_t reason_bytes, const uint32_t *counts, uint32_t *entry);
/** True if entry e is about case i, whatever its state. */
bool nnv_expect_covers(const struct nnv_expectations *x, size_t i, size_t e);

/** Adds {"strict", "hash", "entries"}, as the journal has it. */
void nnv_expect_write(const struct nnv_expectations *x, const char *name, struct nnv_json_out *j);
/** Adds entries as a file of them, each in lines of its own. */
void nnv_expect_write_file(const struct nnv_expected *const *entry, size_t count, struct nnv_text *out);
/** A hash of all that is expected, hexadecimal, into buf (room for 17). */
void nnv_expect_hash(const struct nnv_expectations *x, char *buf);
/** "expired"... */
const char *nnv_expect_state_name(enum nnv_expected_state s);

/** True if a version ("2.1.3") is within a range: comparisons (< <= > >= =) with spaces between them, all of which
 * hold. */
bool nnv_version_within(const char *version, const char *range);
/** NULL if range can be understood, else the part that cannot. */
const char *nnv_version_bad(const char *range);
/** True for a real day: "2027-02-28". */
bool nnv_is_day(const char *s);

/** Judges the run in the folder by other expectations: writes outcomes.json, which its reports then go by. */
NNV_USE_RESULT enum nnv_status nnv_expect_anew(const char *folder, struct nnv_expectations *x, nnv_select_names *known,
                                               struct nnv_err *err);

/** Entries of a file that was updated. */
struct nnv_expect_updated {
    size_t kept, dropped, added;
    size_t expired; /**< of those that were kept */
};
/**
 * Writes the file, which may be there already, so that the run in the folder would pass by it: entries whose cases
 * still fail stay, what does not fail any more is dropped, what fails and is in no entry is added.
 */
NNV_USE_RESULT enum nnv_status nnv_expect_update(const char *folder, const char *file,
                                                 struct nnv_expect_updated *updated, struct nnv_err *err);

#endif
