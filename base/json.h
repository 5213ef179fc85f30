/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json.h JSON in the text itself: walked through, skipped where it need not be understood, and checked to be
 * sound; NaN and infinities, which JSON lacks, as strings.
 */
#ifndef NNV_BASE_JSON_H
#define NNV_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum { NNV_JSON_DEPTH = 2048 /**< as deep as jansson reads */ };

/**
 * A walk over the members of an object or the elements of an array. It begins with at, end and depth, which is how
 * deep the text may be nested; all else is 0.
 */
struct nnv_json_walk {
    const char *at, *end; /**< at: at the bracket, then behind what was read; NULL: the text is damaged */
    int depth;
    char close;       /**< the closing bracket; 0: nothing was read yet */
    const char *name; /**< of a member, behind its quote, with the escapes as they stand; not terminated */
    size_t name_bytes;
    const char *value, *value_end;
};

/**
 * Steps to the next member or element. False behind the last one, at then being behind the closing bracket, and where
 * the text is damaged, deeper than depth or neither object nor array, at then being NULL.
 */
bool nnv_json_next(struct nnv_json_walk *w);

/** A value within a text; begin NULL: there is none. */
struct nnv_json_span {
    const char *begin, *end;
};

/**
 * values: of the object's members with these n names, the last of each name. False if the text, but for space behind
 * it, is no sound object.
 */
bool nnv_json_members(struct nnv_json_span object, const char *const *names, size_t n, struct nnv_json_span *values);
/** Behind the JSON value at s; NULL if there is none, it is damaged or deeper than depth. */
const char *nnv_json_skip(const char *s, const char *end, int depth);
/** The n bytes of the string from s to end, which are its quotes; false if it is no string or has escapes. */
bool nnv_json_plain(const char *s, const char *end, const char **text, size_t *n);
/** A number, "NaN", "Infinity" or "-Infinity". False if value is none; then *out is NaN. */
bool nnv_json_number(const json_t *value, double *out);
/** The same written: infinities and NaN as strings. A new reference. */
json_t *nnv_json_any(double v);

#endif
