/* SPDX-License-Identifier: Apache-2.0 */
/** @file load.h A run as the reports see it: the cases with their small members; the rest is read when asked for. */
#ifndef NNV_JOURNAL_LOAD_H
#define NNV_JOURNAL_LOAD_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness/journal/reader.h"
#include "harness/journal/uses.h"
#include "nnvts/result.h"
#include "base/map.h"

enum { NNV_REPORT_REASON_MAX = 512 };

/**
 * In the folder of a run: {case: {"op": operation, "words": what the driver seems to do, or "right_if": by which
 * promise it would be right, "where": the condition as it is told, with its parts: "situation", or "terms": [...], and
 * "elements" with "peculiar" (see struct nnv_cause_condition); "tried": true where nothing explains it, and op may be a
 * suspect; false where a promise was to be tried and there is no dump}}
 */
#define NNV_EXPLAINED_FILE "explained.json"
/** In the folder of a run: the clauses of NNAPI that failed, that no case could judge, and that have no case. */
#define NNV_CLAUSES_FILE "clauses.json"
/**
 * In the folder of a run with --coverage, what it reached of the driver's code: {"edges", "edges_reached", "lines",
 * "lines_reached", "files": [{"file", ..., "lines_missed": [number]}]}
 */
#define NNV_COVERAGE_FILE "coverage.json"

/** Under which condition cases fail: where and how often it holds, and what two conditions may have in common. */
struct nnv_cause_condition {
    const char *told;        /**< to a reader: "only where stride is 2x2 and channels >= 228 (not at 127)" */
    const char *situation;   /**< "only in bursts": it is no condition of terms; or NULL */
    const char *const *term; /**< "stride is 2x2", "channels >= 228" */
    size_t terms;
    const char *elements; /**< of the answers: "in elements where input > 5", or NULL */
    bool peculiar;        /**< elements has bounds that another cause hardly has */
    bool often;           /**< it says of all, or most, of the cases that they fail, and no more */
};

/** What explained.json says of a failure. */
struct nnv_cause {
    const char *explained, *op;              /**< what the driver seems to do, to which operation; NULL: not known */
    const struct nnv_cause_condition *where; /**< the condition under which it fails, or NULL */
    bool promise;                            /**< explained is a weaker promise of its arithmetic, no mistake */
    bool tried;                              /**< it was to be explained, and could not be */
    bool untried;                            /**< others of its kind were tried, it left no dump */
};

/** What most cases have nothing of: cases that are alike in it share it. */
struct nnv_case_more {
    const char *reason; /**< its first line, cut to NNV_REPORT_REASON_MAX bytes; "" if there is none. Cases share it. */
    const struct nnv_cause *cause; /**< never NULL */
    double ms, driver_us;          /**< where NNV_CASE_WIDE stands for them */
    uint64_t compared;             /**< likewise */
    uint32_t mode;        /**< number in the map of the report, of the execution that failed; NNV_MAP_NONE: not said */
    uint32_t expectation; /**< number of its entry, NNV_ENTRY_NONE: none */
    uint32_t runs, bad_runs; /**< where it was repeated; else 0 */
};

/** Stands for a number of a case that is no whole one of 32 bits: its struct nnv_case_more has it. */
#define NNV_CASE_WIDE UINT32_MAX

/** A selected case: a run has millions. Strings are valid UTF-8 and live as long as the report. */
struct nnv_report_case {
    const char *name;
    const struct nnv_case_more *more; /**< never NULL */
    uint64_t offset : 48;             /**< of its line in the journal */
    enum nnvts_verdict verdict : 4;
    enum nnvts_reason why : 6;
    enum nnvts_outcome outcome : 3; /**< against the expectations of the run */
    bool drift : 1;                 /**< its record says what grew */
    bool values : 1;                /**< values were compared with golden ones */
    uint32_t length;                /**< of its line; 0: no record */
    uint32_t suite, op, type, tags; /**< numbers in the maps of the report; op, type and tags may be "" */
    uint32_t worker, turn;          /**< it was this worker's case of this number; 0: not known */
    uint32_t us, driver, checked;   /**< see nnv_case_ms(), nnv_case_driver_us(), nnv_case_compared() */
};

/** How long the case took. */
static inline double nnv_case_ms(const struct nnv_report_case *c) {
    return c->us == NNV_CASE_WIDE ? c->more->ms : c->us / 1000.0;
}
/** How long of it the driver took. */
static inline double nnv_case_driver_us(const struct nnv_report_case *c) {
    return c->driver == NNV_CASE_WIDE ? c->more->driver_us : c->driver;
}
/** How many values were compared. */
static inline uint64_t nnv_case_compared(const struct nnv_report_case *c) {
    return c->checked == NNV_CASE_WIDE ? c->more->compared : c->checked;
}

struct nnv_report {
    char *folder;
    struct nnv_arena *arena;
    int journal;    /**< descriptor of journal.jsonl, or -1 */
    json_t *header; /**< its first line */
    struct nnv_report_case *item;
    size_t count;
    uint64_t selection;     /**< the hash of the list: nnv_selection_add() */
    struct nnv_index names; /**< the numbers of the cases: nnv_report_find() */
    struct nnv_map suites, ops, types, tags, modes;
    struct nnv_uses uses;
    struct nnv_map reasons; /**< distinct ones; those beyond a bound with their numbers as '#' */
    size_t reason_bytes;
    const struct nnv_case_more **more; /**< distinct ones, by number in `alike` */
    size_t more_cap;
    struct nnv_index alike;
    size_t verdicts[NNVTS_VERDICT_COUNT], whys[NNVTS_REASON_COUNT];
    size_t outcomes[NNVTS_OUTCOME_COUNT];
    size_t bad;             /**< cases that fail the run: see nnv_case_bad() */
    const json_t *expected; /**< the expectations: {"strict", "entries"}; NULL: there were none; see outcome.h */
    json_t *flakes;         /**< flakes.json, or NULL */
    json_t *judged;         /**< owner of expected where they are not the journal's */
    bool strict;            /**< XPASS, and entries that have expired or match nothing, fail the run */
    size_t stale;           /**< such entries */
    uint64_t compared;
    /**
     * About how long the run took. The journal says how long each case took, and how many ran at once: the sum over
     * the jobs, and at least the longest case.
     */
    double seconds;
};

/**
 * A report that is made piece by piece of a run that is written: the cases of a list, a file of the folder `from`; then
 * the record of each; then the first line of the journal of `folder`; then what the run came to. *report is the
 * caller's as soon as it has begun.
 */
NNV_USE_RESULT enum nnv_status nnv_report_begin(const char *folder, const char *from, const char *list,
                                                struct nnv_report **report, struct nnv_err *err);
/** Takes the record of case i, a line of so many bytes at offset. NNV_INVALID: it has one. */
NNV_USE_RESULT enum nnv_status nnv_report_take(struct nnv_report *report, uint32_t i, const struct nnv_line *line,
                                               off_t offset, size_t length, struct nnv_err *err);
/** Takes the first line; records are read from a descriptor of the report's own. NNV_INVALID: it is of another list. */
NNV_USE_RESULT enum nnv_status nnv_report_head(struct nnv_report *report, const struct nnv_journal_reader *from,
                                               struct nnv_err *err);
/** Sets the entry of the expectations that case i is of. False when out of memory: it is as before. */
bool nnv_report_expect(struct nnv_report *report, size_t i, uint32_t entry);
/**
 * When all is there: what the folder says of explanations, expectations and flakes, and the counts of the whole.
 * NNV_INVALID: what it says of expectations or flakes can't be read.
 */
NNV_USE_RESULT enum nnv_status nnv_report_settle(struct nnv_report *report, struct nnv_err *err);
/** Loads a run. A damaged or foreign file is one clear error; a cut last line of the journal is ignored. */
NNV_USE_RESULT enum nnv_status nnv_report_load(const char *folder, struct nnv_report **report, struct nnv_err *err);
void nnv_report_free(struct nnv_report *report);
/** The number of the case of this name; NNV_MAP_NONE: there is none. */
uint32_t nnv_report_find(const struct nnv_report *report, const char *name);
/**
 * The same, for names that come about in the order of the list: the cases from *next on are asked first. *next, 0 at
 * first, becomes the number behind the case.
 */
uint32_t nnv_report_find_next(const struct nnv_report *report, const char *name, uint32_t *next);
/** Number of cases with this verdict (NNVTS_NOTRUN also: selected, without a record). */
size_t nnv_report_count(const struct nnv_report *report, enum nnvts_verdict verdict);
/** Why cases were not run: the reason of the first, "" if that is not known. */
const char *nnv_report_not_run(const struct nnv_report *report);
/** How many percent of the cases were judged, in tenths, rounded down: neither UNSUPPORTED, SKIP nor NOTRUN. */
double nnv_report_judged(const struct nnv_report *report);
/** True if fewer were judged than the run had to (--min-judged); a shard has to nothing. */
bool nnv_report_too_few(const struct nnv_report *report);
/** The exit code that the verdicts of the run demand. */
enum nnvts_exit nnv_report_exit(const struct nnv_report *report);
/** The JSON of a file in the folder of the run, a new reference; NULL where there is no such file. */
NNV_USE_RESULT enum nnv_status nnv_report_read_file(const struct nnv_report *report, const char *name, json_t **root,
                                                    struct nnv_err *err);
/** The same of a file that a page can do without; NULL: there is none that can be read. */
json_t *nnv_report_file(const struct nnv_report *report, const char *name);
/** True if the run was one shard of several, which by itself need not prove anything. */
bool nnv_report_is_shard(const struct nnv_report *report);
/**
 * The whole record of case i, a new reference; *record becomes NULL if it has none. NULs in its strings are replaced
 * by U+FFFD.
 */
NNV_USE_RESULT enum nnv_status nnv_report_record(const struct nnv_report *report, size_t i, json_t **record,
                                                 struct nnv_err *err);

#endif
