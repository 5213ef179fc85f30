/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json.h Skips JSON that need not be understood, and checks that it is sound; NaN and infinities, which JSON
 * lacks, as strings.
 */
#ifndef NNV_BASE_JSON_H
#define NNV_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/**
 * Behind the JSON value at s; NULL if there is none, it is damaged or deeper than depth. Stricter than JSON in that
 * escaped surrogates, which nnvts never writes, count as damage.
 */
const char *nnv_json_skip(const char *s, const char *end, int depth);
/** A number, "NaN", "Infinity" or "-Infinity". False if value is none; then *out is NaN. */
bool nnv_json_number(const json_t *value, double *out);
/** The same written: infinities and NaN as strings. A new reference. */
json_t *nnv_json_any(double v);

#endif
