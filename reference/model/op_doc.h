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

#endif
