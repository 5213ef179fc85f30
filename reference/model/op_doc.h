/* SPDX-License-Identifier: Apache-2.0 */
/** @file op_doc.h The documentation of an operation, made from its record. */
#ifndef NNV_MODEL_OP_DOC_H
#define NNV_MODEL_OP_DOC_H

#include "base/text.h"
#include "reference/model/op.h"

enum nnv_doc_style {
    NNV_DOC_TERMINAL, /**< columns, plain text */
    NNV_DOC_MARKDOWN, /**< headings and tables */
};

/**
 * Appends to out: formula, inputs of each form, outputs, accepted types with their feature levels, how results may be
 * rounded, what cases are generated.
 */
void nnv_op_doc(const struct nnv_op *op, enum nnv_doc_style style, struct nnv_text *out);
/** Appends one line for a list of operations: name, level, types, formula. */
void nnv_op_doc_line(const struct nnv_op *op, struct nnv_text *out);

/* ------------------------------------------------- parts of it; "" where there is nothing to say */

/** "rank 1 to 4", "scalar", into buf (terminated). */
void nnv_slot_rank_words(const struct nnv_slot *s, char *buf, size_t room);
/** What a scalar's value must fulfil. */
void nnv_slot_rule_words(const struct nnv_slot *s, char *buf, size_t room);
/** What scale and zero point must fulfil. */
void nnv_slot_quant_words(const struct nnv_slot *s, char *buf, size_t room);
/** Appends a combination of types, "T TENSOR_FLOAT32, S FLOAT32: since level 1". */
void nnv_op_sig_words(const struct nnv_op *op, int sig, struct nnv_text *out);
/** How results may be rounded. */
const char *nnv_rounding_words(enum nnv_rounding r);
/** Which extents may be 0. */
const char *nnv_zero_words(enum nnv_zero z);
/** True if there are cases at limits of types and at the operation's own edges. */
bool nnv_op_has_limits(const struct nnv_op *op);
/** True if there are cases of lines of one kind each: the operation mixes elements. */
bool nnv_op_has_lines(const struct nnv_op *op);

#endif
