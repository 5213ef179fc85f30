/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file run.h For the tests of the run: a suite whose cases misbehave in every way a driver can, in the place of those
 * of nnvts, and runs into a temporary folder.
 */
#ifndef KIT_RUN_H
#define KIT_RUN_H

#include <jansson.h>
#include <limits.h>

#include "harness/runner/run.h"
#include "tests/kit/test.h"

/* ------------------------------------------------------------------- driver */

extern char root[]; /**< of all that these tests write */
extern char driver_path[PATH_MAX];

/** Makes the folder; the driver is tests/kit/drivers/opening.c. */
int begin_runs(void **state);
int end_runs(void **state);

/* -------------------------------------------------------------------- suite */

enum fault {
    FINE,
    WRONG, /* a result that is not PASS */
    UNTRUSTED,
    REFUSED,
    NULL_POINTER,
    ABORT,
    EXIT_0,
    EXIT_3,
    SIGKILL_SELF,
    DIVISION,
    ILLEGAL,
    STACK_SMASH,
    STACK_OVERFLOW,
    FREE_GARBAGE,
    THREAD_CRASH,
    HANG_BUSY,
    HANG_ASLEEP,
    STOPPED,
    CLOSES_ALL,
    PRINTS,
    PRINTS_MUCH,
    FORKS,           /* the child goes on as if it were the worker */
    FORKS_AND_HANGS, /* the child stays behind */
    DAMAGES,
    HUGE_RECORD,
    BUILD_CRASH,       /* always, while nnvts builds */
    BUILD_CRASH_LATER, /* only in a worker that ran another case */
    CHECK_CRASH,
    ERROR_LATER, /* nnvts fails, but only in a worker that ran another case */
    ERROR_ALWAYS,
    BAD_OUTPUTS,
    WRITES_CHANNEL, /* over the ring */
    WRITES_CASE,    /* over which case it is, and dies */
    WRITES_START,   /* over when it began, and dies */
    WRITES_COUNTS,  /* over how often it has run, and dies */
    SLOW,
    FAULTS,
    WRONG_ONCE, /* only the first time, as a file tells */
    WRONG_THEN_HANGS,
    WRONG_LATER,   /* only in a worker that ran another case; takes a tenth of a second */
    WRITES_LATER,  /* over the positions in the ring, as soon as the next case runs */
    SLOW_CHECK,    /* a second, while nnvts compares */
    ENDLESS_BUILD, /* always, while nnvts builds */
    DEAF_TO_TERM,  /* hangs, and does not die of SIGTERM */
    TIDIES_UP,     /* hangs, and leaves by itself when it is asked to */
    CHATTERS,      /* prints a word now and then for a second */
    NO_MEMORY,     /* is refused memory and does not look */
    ONE_LARGE_FILE,
    MANY_FILES, /* each within the limit of one */
};

/** Instead of the suites of nnvts: "fake" misbehaves as its cases say, "made" can be built, too, "spec" replays. */

/* --------------------------------------------------------------------- runs */

/** A run to be made. */
struct setup {
    struct nnv_run_config config;
    struct nnv_arena *arena;
    struct nnv_case_list list;
    char out[PATH_MAX];
    bool resume;
};

void setup_init(struct setup *s, const char *out);

void setup_free(struct setup *s);

void add_case(struct setup *s, const char *suite, enum fault fault, uint64_t b);

enum nnv_status run_setup(struct setup *s, const struct nnv_run_observer *observer, bool *interrupted,
                          struct nnv_err *err);

/** Runs, and fails the test if that does not work. */
void run_well(struct setup *s);

/** The journal as an array of its lines; the last one must be whole. */
json_t *read_journal(const char *out);

/** The record of the case, which must be the only one. */
json_t *record_of(json_t *lines, const char *name);

/** As many records of the run have the verdict, and the text in their reason. */
void count_verdicts(const char *out, const char *verdict, const char *reason, size_t expected_count);

const char *text_of(const json_t *record, const char *member);

#endif
