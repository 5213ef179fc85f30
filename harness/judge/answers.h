/* SPDX-License-Identifier: Apache-2.0 */
/** @file answers.h The bytes that a driver answered, kept to be compared with those of other executions. */
#ifndef NNV_JUDGE_ANSWERS_H
#define NNV_JUDGE_ANSWERS_H

#include "base/text.h"
#include "reference/model/model.h"

/** The outputs of all executions of a case, in their order: a line of headers, each with the bytes behind it. */
struct nnv_answers {
    struct nnv_text blob;
    bool kept_all; /**< the bytes of all are there; else of the last ones only their hash is */
};

enum { NNV_ANSWERS_BYTES = 1 << 20 }; /**< of bytes that are kept of a case */

void nnv_answers_clear(struct nnv_answers *a);
/** Adds an output. name: its number. */
void nnv_answers_add(struct nnv_answers *a, uint32_t output, const struct nnv_operand *o, const struct nnv_value *v);
/**
 * True if b holds other bytes than a; then *t tells where: "output 0 [2,3]: 4 of 6 values differ, first at [0,1]: 0.5
 * and 0.25". What holds no answers differs from nothing. Both may be anything: they come from workers.
 */
bool nnv_answers_differ(struct nnv_bytes a, struct nnv_bytes b, struct nnv_text *t);

#endif
