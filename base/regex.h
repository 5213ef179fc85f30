/* SPDX-License-Identifier: Apache-2.0 */
/** @file regex.h Regular expressions that users write: POSIX's extended ones, of bounded size. */
#ifndef NNV_BASE_REGEX_H
#define NNV_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct nnv_regex;

/**
 * Where a regular expression in a text ends: before the first blank, &, | or ) that is not within parentheses or
 * brackets of its own.
 */
size_t nnv_regex_length(const char *text);
/**
 * Compiles the n bytes; fold: letter case counts for nothing. NNV_INVALID with the reason: no POSIX extended regular
 * expression, or one that could take forever: longer than 256 bytes, with back-references, or with repetitions of more
 * than 1000 in all. *regex ends with nnv_regex_free().
 */
NNV_USE_RESULT enum nnv_status nnv_regex_new(const char *text, size_t n, bool fold, struct nnv_regex **regex,
                                             struct nnv_err *err);
/** Whether a part of s matches. */
bool nnv_regex_found(const struct nnv_regex *regex, const char *s);
/** NULL does nothing. */
void nnv_regex_free(struct nnv_regex *regex);

#endif
