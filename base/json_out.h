/* SPDX-License-Identifier: Apache-2.0 */
/** @file json_out.h Writes JSON onto a text: commas, colons and quotes are its own, the layout is the caller's. */
#ifndef NNV_BASE_JSON_OUT_H
#define NNV_BASE_JSON_OUT_H

#include <stdint.h>

#include "base/text.h"

/** Set text, and spaced if wanted; the rest is zero. A name is given within an object; elsewhere it is NULL. */
struct nnv_json_out {
    struct nnv_text *text;
    bool spaced;      /**< {"a": 1, "b": 2} rather than {"a":1,"b":2} */
    const char *line; /**< newline and indentation before the next member or element; it is used once */
    bool inside;      /**< something stands in the innermost object or array: a comma is due */
};

/** Begins an object or array: bracket is '{' or '['. */
void nnv_json_open(struct nnv_json_out *j, const char *name, char bracket);
/** Ends it: bracket is '}' or ']'. */
void nnv_json_close(struct nnv_json_out *j, char bracket);
/** A string; NULL gives null. Bytes that are not UTF-8 become U+FFFD. */
void nnv_json_string(struct nnv_json_out *j, const char *name, const char *s);
void nnv_json_uint(struct nnv_json_out *j, const char *name, uint64_t v);
void nnv_json_bool(struct nnv_json_out *j, const char *name, bool v);
/** As nnv_text_add_double() writes it: NaN and infinities as strings. */
void nnv_json_double(struct nnv_json_out *j, const char *name, double v);
/** As nnv_text_add_float() writes it. */
void nnv_json_float(struct nnv_json_out *j, const char *name, float v);
/** A value that is JSON already, as printf writes it. */
void nnv_json_raw(struct nnv_json_out *j, const char *name, const char *format, ...) NNV_PRINTF(3, 4);

#endif
