/* SPDX-License-Identifier: Apache-2.0 */
/** @file journal.h The run folder: cases.tsv and journal.jsonl, such that a run can be killed at any moment and
 * resumed. */
#ifndef NNV_JOURNAL_JOURNAL_H
#define NNV_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/journal/case.h"

/** An open run folder. Zero-initialise with folder and file -1: NNV_JOURNAL_NONE. */
struct nnv_journal {
    char *folder;
    int lock;      /**< descriptor of the folder, locked: one run at a time */
    int file;      /**< of journal.jsonl, for appending */
    uint64_t size; /**< bytes of whole lines */
    size_t lines;  /**< case lines */
    uint64_t synced_ns;
    bool dirty, urgent;
};
#define NNV_JOURNAL_NONE ((struct nnv_journal){.lock = -1, .file = -1})

/** How the names of the files of a dump end: "dumps/1.json" and what lies beside it. */
enum { NNV_DUMP_FILES = 4 };
extern const char *const nnv_dump_files[NNV_DUMP_FILES];

/** What was found in a journal that is resumed. Zero-initialise. */
struct nnv_journal_past {
    bool *done;       /**< count entries: cases that have a record */
    size_t dumps;     /**< records with a dump */
    uint32_t workers; /**< highest number of a worker */
    size_t not_run;   /**< records of cases that were not run: they are taken out, and run now */
};

/**
 * What becomes of the records while the run goes on. Called in the supervisor, in the order of the journal; a resumed
 * run begins with the lines that are there already. Members may be NULL.
 */
struct nnv_run_observer {
    void *context;
    void (*header)(void *context, const char *record); /**< the first line of the journal */
    void (*record)(void *context, const char *record); /**< a case line, terminated, without newline */
    void (*tick)(void *context);                       /**< a few times a second */
    void (*wait)(void *context);                       /**< no further record is ready; may be NULL, as all may */
};

/**
 * Creates the folder if needed and locks it. NNV_INVALID if another run writes to it, if its journal.jsonl is not one
 * of nnvts's, or if it has none but files that a run would overwrite. *exists tells whether there is a journal with a
 * first line.
 */
NNV_USE_RESULT enum nnv_status nnv_journal_open(const char *folder, struct nnv_journal *j, bool *exists,
                                                struct nnv_err *err);
/**
 * The run that the folder holds is kept as FOLDER.previous; the one that was kept there before comes here, to be
 * cleared. NNV_INVALID: FOLDER.previous is no run's; NNV_IO: the folder cannot be moved. Then nothing has changed.
 */
NNV_USE_RESULT enum nnv_status nnv_journal_set_aside(struct nnv_journal *j, struct nnv_err *err);
/** Removes the results of an earlier run, the journal's content first. */
NNV_USE_RESULT enum nnv_status nnv_journal_clear(struct nnv_journal *j, struct nnv_err *err);
/** Writes a list of cases (cases.tsv, which comes before the journal; selection.tsv). */
NNV_USE_RESULT enum nnv_status nnv_journal_cases(const struct nnv_journal *j, const char *name,
                                                 const struct nnv_case *cases, size_t count, struct nnv_err *err);
/** Makes a new journal that holds the first line (without newline), in one step. */
NNV_USE_RESULT enum nnv_status nnv_journal_begin(struct nnv_journal *j, const char *header, struct nnv_err *err);
/**
 * Goes on with the journal: checks that it is of the same run as the first line that it would have now (driver argument
 * and version, seed, precision, tier, selection), removes a cut last line and marks what has a record. The error names
 * what differs; then nothing was changed.
 */
NNV_USE_RESULT enum nnv_status nnv_journal_resume(struct nnv_journal *j, const char *header,
                                                  const struct nnv_case *cases, size_t count,
                                                  struct nnv_journal_past *past, struct nnv_err *err);
/** Tells the observer of the lines of the journal. */
NNV_USE_RESULT enum nnv_status nnv_journal_tell(const struct nnv_journal *j, const struct nnv_run_observer *observer,
                                                struct nnv_err *err);
void nnv_journal_past_free(struct nnv_journal_past *past);
/** Appends a line (without newline) by one write. urgent: sync it at the next nnv_journal_tend(). */
NNV_USE_RESULT enum nnv_status nnv_journal_append(struct nnv_journal *j, const char *line, size_t n, bool urgent,
                                                  struct nnv_err *err);
/** Syncs to disk what is urgent, or has waited for 50 ms; all: whatever there is. */
NNV_USE_RESULT enum nnv_status nnv_journal_tend(struct nnv_journal *j, bool all, struct nnv_err *err);
/** Closes and unlocks. */
void nnv_journal_close(struct nnv_journal *j);

/** Refuses lists that a journal can't hold: two cases of one name, names that are not plain UTF-8 text. */
NNV_USE_RESULT enum nnv_status nnv_journal_check(const struct nnv_case *cases, size_t count, struct nnv_err *err);

#endif
