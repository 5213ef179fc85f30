/* SPDX-License-Identifier: Apache-2.0 */
/** @file text.h A growing string, with escaping for the formats that nnvts writes. */
#ifndef NNV_BASE_TEXT_H
#define NNV_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** Zero-initialise; data is NULL or a terminated string. failed is set when memory ran out. */
struct nnv_text {
    char *data;
    size_t len, cap;
    bool failed;
};

/** True once any text of this process has failed: what was made of it may lack parts. */
bool nnv_text_lacked(void);
/** As if one had failed: there was no memory for what was to be told. */
void nnv_text_lack(void);

/** A text that is not terminated. */
struct nnv_bytes {
    const char *data;
    size_t len;
};

void nnv_text_free(struct nnv_text *t);
/** Empties the text and keeps its memory. */
void nnv_text_clear(struct nnv_text *t);
void nnv_text_add(struct nnv_text *t, const char *s);
void nnv_text_add_n(struct nnv_text *t, const char *s, size_t n);
/** The number in decimal digits. */
void nnv_text_add_uint(struct nnv_text *t, uint64_t number);
void nnv_text_addf(struct nnv_text *t, const char *fmt, ...) NNV_PRINTF(2, 3);
void nnv_text_vaddf(struct nnv_text *t, const char *fmt, va_list ap);
/** s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. NULL gives null. */
void nnv_text_add_json(struct nnv_text *t, const char *s);
/** s with & < > " ' escaped for HTML and XML; characters illegal in XML 1.0 become U+FFFD. */
void nnv_text_add_xml(struct nnv_text *t, const char *s);
/** s for an XML library, which escapes: only what is illegal in XML 1.0 or not UTF-8 becomes U+FFFD. */
void nnv_text_add_legal(struct nnv_text *t, const char *s);
/** Text inside a quoted string of the dot language; control characters become spaces. */
void nnv_text_add_dot(struct nnv_text *t, const char *s);
/** Whether s ends with these characters, such as ".json". */
bool nnv_ends_with(const char *s, const char *end);
/** Behind the UTF-8 character at s < end, whose code point *point (may be NULL) becomes; NULL if it is malformed. */
const char *nnv_utf8_next(const char *s, const char *end, uint32_t *point);
/** Standard base64 with padding. */
void nnv_text_add_base64(struct nnv_text *t, const void *data, size_t n);
/** The shortest decimal that reads back as the same float32 / double; NaN and infinities as "NaN" "Infinity"
 * "-Infinity" with quotes. */
void nnv_text_add_float(struct nnv_text *t, float v);
void nnv_text_add_double(struct nnv_text *t, double v);
/** Decoded bytes of len base64 characters into dst (room cap); false if malformed or not exactly cap bytes. */
bool nnv_base64_decode(const char *s, size_t len, void *dst, size_t cap);

#endif
