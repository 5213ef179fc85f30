/* SPDX-License-Identifier: Apache-2.0 */
/** @file words.h What a journal record and its reader are told of a compared output. */
#ifndef NNV_JUDGE_WORDS_H
#define NNV_JUDGE_WORDS_H

#include "harness/judge/compare.h"

struct nnv_before;

/** Appends the comparison of output i, as a member of the JSON array in t: figures, the worst element, and, where
 * values are wrong, the window around it and the error map. outputs: the driver's. */
void nnv_judge_add_output(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                          struct nnv_text *t);
/** Appends a line for people about output i, of which values are wrong. before: see struct nnv_case_env. */
void nnv_judge_add_wrong(const struct nnv_comparer *of, const struct nnv_value *outputs, uint32_t i,
                         struct nnv_before *before, struct nnv_text *t);

#endif
