/* SPDX-License-Identifier: Apache-2.0 */
/** @file words.h How reports speak: the words of verdicts, numbers for people, text that cannot harm a terminal. */
#ifndef NNV_REPORTS_WORDS_H
#define NNV_REPORTS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "nnvts/result.h"

/** "PASS". */
const char *nnv_verdict_name(enum nnvts_verdict v);
/** For counts: "pass", "fail", "not run". */
const char *nnv_verdict_word(enum nnvts_verdict v);
/** For totals: "passed", "failed", "timed out". */
const char *nnv_verdict_done(enum nnvts_verdict v);
/** The one letter that stands for it where room is short; all are different. */
char nnv_verdict_letter(enum nnvts_verdict v);
/** True for the verdicts that a bug is behind: FAIL, UNTRUSTED, CRASH, TIMEOUT, ERROR. */
bool nnv_verdict_bad(enum nnvts_verdict v);
/** The verdict of that name; false if there is none. NOTRUN is none that a record may have. */
bool nnv_verdict_parse(const char *name, enum nnvts_verdict *v);
/**
 * What a trial of the replay line tells beyond the line, for a case of this verdict and the record's `again` (NULL: not
 * tried): "tried: PASS, so it does not fail every time"; nothing if it ended as the case did.
 */
void nnv_text_add_tried(struct nnv_text *t, enum nnvts_verdict v, const char *again);
/** All verdicts in the order in which people want to see them: PASS, what is bad, UNSUPPORTED, SKIP, NOTRUN. */
extern const enum nnvts_verdict nnv_verdict_order[NNVTS_VERDICT_COUNT];

struct nnv_count_text {
    char s[32];
};
/** A count with separators: "12,480". */
struct nnv_count_text nnv_count(uint64_t n);
/** Adds a duration: "0.04 s", "11.2 s", "3 min 20 s", "2 h 5 min". Negative and NaN are taken as 0. */
void nnv_text_add_seconds(struct nnv_text *t, double seconds);
/**
 * Adds n bytes of s as one line that a terminal can show: control characters, line ends, marks that reorder text, and
 * bytes that are not UTF-8 become \xNN or \uNNNN. At most max bytes are added, then "...".
 */
void nnv_text_add_shown(struct nnv_text *t, const char *s, size_t n, size_t max);
/** The length of the first line of s, without its end. */
size_t nnv_first_line(const char *s);
/** Adds folder and name with one '/' between them. */
void nnv_text_add_path(struct nnv_text *t, const char *folder, const char *name);

#endif
