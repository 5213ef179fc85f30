/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file journal_read.h A run folder read line by line: what is held at once is one record, and eight bytes of each name
 * that has passed. For reports that need no more than one look at each case.
 */
#ifndef NNV_REPORTS_JOURNAL_READ_H
#define NNV_REPORTS_JOURNAL_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "nnvts/result.h"

/** Names that were seen, by their hashes. Zero-initialise. */
struct nnv_seen {
    uint64_t *slot; /**< 0: empty */
    size_t count, cap;
};
/** 1: the name is new, 0: it was seen before, -1: out of memory. */
int nnv_seen_add(struct nnv_seen *s, const char *name);
bool nnv_seen_has(const struct nnv_seen *s, const char *name);
void nnv_seen_free(struct nnv_seen *s);

/** A case of the list, cases.tsv, as the journal has it: bytes that are not UTF-8 replaced. Lives until the next call.
 */
struct nnv_listed {
    const char *name, *suite, *op, *type, *tags;
};

/** An open run folder. Zero-initialise. */
struct nnv_journal_reader {
    json_t *header; /**< the first line */
    FILE *journal, *list;
    char *journal_path, *list_path;
    char *line, *listed; /**< the last ones */
    size_t line_cap, listed_cap, line_bytes, line_number, list_number;
    json_t *replaced[5];  /**< fields that were not UTF-8 */
    struct nnv_seen seen; /**< names that have a record */
};

/** Opens the folder and reads the first line. NNV_INVALID: it is none of a run; the error says how to get one. */
NNV_USE_RESULT enum nnv_status nnv_reader_open(const char *folder, struct nnv_journal_reader *r, struct nnv_err *err);
/**
 * The next record, a new reference, with a name and a known verdict, each name once; NULL behind the last. r->line
 * holds its r->line_bytes bytes. A last line that was cut short is left out.
 */
NNV_USE_RESULT enum nnv_status nnv_reader_next(struct nnv_journal_reader *r, json_t **record, struct nnv_err *err);
/** The next case of the list; *more is false behind the last. */
NNV_USE_RESULT enum nnv_status nnv_reader_listed(struct nnv_journal_reader *r, struct nnv_listed *c, bool *more,
                                                 struct nnv_err *err);
void nnv_reader_close(struct nnv_journal_reader *r);

/** Checks a first line: NNV_INVALID if it is none of nnvts, NNV_UNSUPPORTED: of a newer one. */
NNV_USE_RESULT enum nnv_status nnv_header_check(const json_t *header, struct nnv_err *err);
/** The verdict of a record that nnv_reader_next() gave. */
enum nnvts_verdict nnv_record_verdict_of(const json_t *record);
/** True if the record went wrong and that was not expected: a bad verdict without the outcome XFAIL. */
bool nnv_record_bad(const json_t *record);
/** The largest of worst.ratio over the outputs of a record: error by bound; NaN where nothing says so. */
double nnv_record_ratio(const json_t *record);
/** The largest mean square error over the outputs; NaN where nothing says so. */
double nnv_record_mse(const json_t *record);
/** Microseconds since 1970 of "2026-01-31T12:00:00Z"; -1 if it is none. */
int64_t nnv_time_us(const char *text);

#endif
