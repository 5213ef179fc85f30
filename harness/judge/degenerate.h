/* SPDX-License-Identifier: Apache-2.0 */
/** @file degenerate.h Outputs that are wrong because they are no result at all: a word for the reason of a failure. */
#ifndef NNV_JUDGE_DEGENERATE_H
#define NNV_JUDGE_DEGENERATE_H

#include "base/text.h"
#include "harness/judge/check.h"
#include "reference/model/model.h"

enum { NNV_BEFORE_OUTPUTS = 16 };

/** The execution before, in the same process: what was answered there, and what was right. Zero-initialise. */
struct nnv_before {
    uint32_t count;
    struct nnv_before_output {
        size_t bytes;
        uint64_t answer, golden; /**< hashes */
    } output[NNV_BEFORE_OUTPUTS];
};

/** Remembers what an execution of n outputs answered, and what it was compared with; b may be NULL. */
void nnv_before_note(struct nnv_before *b, const struct nnv_value *answers, const struct nnv_expectation *golden,
                     uint32_t n);

/** A wrong output, and what it might be instead of a result. */
struct nnv_suspect {
    const struct nnv_model *model;
    const struct nnv_value *inputs; /**< of the model */
    uint32_t output;                /**< its number */
    const struct nnv_value *answer, *golden;
    size_t elems;
    double value;                    /**< one of the answer, such as the worst */
    const struct nnv_before *before; /**< NULL: nobody knows */
};
/**
 * Adds, with "; " in front, the first that holds of the answer and not of the golden result: every value is the same
 * number; it has the bytes of an input, or of a constant; it is what the execution before answered, where something
 * else was right there; a part of it was never written. Few bytes, which might be so by chance, are not looked at.
 */
void nnv_degenerate_words(const struct nnv_suspect *s, struct nnv_text *t);

#endif
