/* SPDX-License-Identifier: Apache-2.0 */
/** @file words.h Numbers and result codes for people, and text that cannot harm a terminal. */
#ifndef NNV_BASE_WORDS_H
#define NNV_BASE_WORDS_H

#include <stdint.h>

#include "base/text.h"

struct nnv_count_text {
    char s[32];
};
/** A count with separators: "12,480". */
struct nnv_count_text nnv_count(uint64_t n);
/** Adds a duration: "0.04 s", "11.2 s", "3 min 20 s", "2 h 5 min". Negative and NaN are taken as 0. */
void nnv_text_add_seconds(struct nnv_text *t, double seconds);
/** "BAD_DATA" for a ResultCode of NNAPI; "result 77", written to buf, for what is none. It lives as long as buf. */
const char *nnv_result_name(int code, char buf[static 32]);
/**
 * Adds n bytes of s as one line that a terminal can show: control characters, line ends, marks that reorder text, and
 * bytes that are not UTF-8 become \xNN or \uNNNN. At most max bytes are added, then "...".
 */
void nnv_text_add_shown(struct nnv_text *t, const char *s, size_t n, size_t max);
struct nnv_shown_text {
    char s[256];
};
/** The same of a string, cut at some 200 bytes, for printf(). */
struct nnv_shown_text nnv_shown(const char *s);
/** The length of the first line of s, without its end. */
size_t nnv_first_line(const char *s);
/** Adds folder and name with one '/' between them. */
void nnv_text_add_path(struct nnv_text *t, const char *folder, const char *name);

#endif
