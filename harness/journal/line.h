/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file line.h A line of a journal, read in two ways: quickly where the case passed, which most did, and as a JSON
 * tree.
 */
#ifndef NNV_JOURNAL_LINE_H
#define NNV_JOURNAL_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "nnvts/result.h"

#define NNV_ENTRY_NONE UINT32_MAX

/** What a line says of its case. */
struct nnv_line {
    const char *name, *reason; /**< reason: its first line; NULL if there is none. Not terminated. */
    size_t name_bytes, reason_bytes;
    const char *uses, *devices; /**< see nnv_result; NULL: not said. Not terminated. */
    size_t uses_bytes, devices_bytes;
    enum nnvts_verdict verdict;
    enum nnvts_reason why;
    uint64_t compared, not_compared, values;
    uint32_t worker, turn;      /**< 0: not said */
    uint32_t runs, bad_runs;    /**< where it was repeated; else 0 */
    enum nnvts_outcome outcome; /**< against the expectations of the run */
    uint32_t expectation;       /**< number of its entry, NNV_ENTRY_NONE: none */
    double ms, driver_us;
    const char *mode; /**< of the execution that failed; NULL: not said */
    const char *dump; /**< relative to the run folder; NULL: none */
    bool drift;       /**< it says what grew */
};

/**
 * Reads the n bytes of a line. True for the sound line of a case that is PASS, UNSUPPORTED or SKIP, of which
 * nothing else was expected, that was run once, and has no escapes in what is taken; a false line is for
 * nnv_record_parse(), which also knows what is wrong with it. A member that is not taken is only passed over. The texts
 * are parts of the line.
 */
bool nnv_line_scan(const char *line, size_t n, struct nnv_line *out);
/** The same for a record of nnv_record_parse(), whose texts it borrows. NNV_INVALID says what is wrong with it. */
NNV_USE_RESULT enum nnv_status nnv_line_read(const json_t *record, struct nnv_line *out, struct nnv_err *err);
/**
 * Parses one line of a journal. NULs in its strings become U+FFFD. NULL if it is not a JSON object; *why says why.
 */
json_t *nnv_record_parse(const char *line, size_t n, json_error_t *why);
/** The members outcome and expectation of a record, or of outcomes.json; what makes no sense is left out. */
void nnv_outcome_read(const json_t *of, enum nnvts_verdict v, enum nnvts_outcome *outcome, uint32_t *entry);

/** The string member of object, or fallback if it is absent or not a string. Borrowed. */
const char *nnv_json_text(const json_t *object, const char *member, const char *fallback);
/** The count that is the member of object; 0 if it is absent, negative or not an integer. */
uint64_t nnv_json_count(const json_t *object, const char *member);
/** The member of object by nnv_json_number(); NaN where there is none. */
double nnv_json_real(const json_t *object, const char *member);
/** v as JSON; null if it is not finite. A new reference. */
json_t *nnv_json_finite(double v);
/** Adds the seed of the run, which may be written as a number or as a string. */
void nnv_header_add_seed(struct nnv_text *t, const json_t *header);

/** The verdict of a record; ERROR where it has none. */
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
