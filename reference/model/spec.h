/* SPDX-License-Identifier: Apache-2.0 */
/** @file spec.h Spec files: reading, and writing as spec JSON, as .mod.py and as Graphviz .dot. */
#ifndef NNV_MODEL_SPEC_H
#define NNV_MODEL_SPEC_H

#include "base/text.h"
#include "reference/model/model.h"

/**
 * Reads one spec from JSON text of len bytes. where names file and line for errors ("a.jsonl:12"); the error adds
 * the JSON path and what was expected: "a.jsonl:12: main.operands[3].type: expected an operand type, got 'TENSOR'".
 * Reads only; validity of the model is nnv_validate's. NNV_UNSUPPORTED if an operation has no record.
 *
 * Additions of nnvts to the form: "exact": true; an operand's "value_dims", the actual extents of an input or expected
 * output where they are not "dims" (with them an input's empty data is a tensor of no elements, without them an omitted
 * input); and, where "expect_failure" is true, what malformed models need: codes as numbers in "type", data as
 * {"base64": ..., "bytes": n} whatever dims say, a scale of "NaN", inputs and outputs without data (omitted).
 */
NNV_USE_RESULT enum nnv_status nnv_spec_parse(const char *json, size_t len, const char *where, struct nnv_arena *arena,
                                              struct nnv_spec **spec, struct nnv_err *err);

/** An open spec file: .jsonl (one spec a line) or .json (one spec). */
struct nnv_spec_file;
NNV_USE_RESULT enum nnv_status nnv_spec_open(const char *path, struct nnv_spec_file **file, struct nnv_err *err);
void nnv_spec_close(struct nnv_spec_file *file);
/** Number of specs; text, length and 1-based line of spec i. Pointers are the file's. */
size_t nnv_spec_count(const struct nnv_spec_file *file);
void nnv_spec_text(const struct nnv_spec_file *file, size_t i, const char **text, size_t *len, size_t *line);
/** Parses spec i. */
NNV_USE_RESULT enum nnv_status nnv_spec_read(const struct nnv_spec_file *file, size_t i, struct nnv_arena *arena,
                                             struct nnv_spec **spec, struct nnv_err *err);

/** Appends the spec as one line of spec JSON without the newline (pretty: indented). The same spec gives the same
 * bytes. */
void nnv_spec_write_json(const struct nnv_spec *spec, bool pretty, struct nnv_text *out);
/** Appends the spec as a .mod.py file, the form that AOSP's test generator reads. */
void nnv_spec_write_modpy(const struct nnv_spec *spec, struct nnv_text *out);
/** Appends the graph as Graphviz; mark: index of an operation of the main subgraph to highlight, or -1. */
void nnv_spec_write_dot(const struct nnv_spec *spec, int mark, struct nnv_text *out);
/** Appends a summary for people: operands, operations, shapes, types, feature level. */
void nnv_spec_write_summary(const struct nnv_spec *spec, struct nnv_text *out);

#endif
