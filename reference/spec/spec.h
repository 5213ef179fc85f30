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

/**
 * Reads one model of AOSP's generated tests (.example.cpp): text of len bytes that holds one function
 * "const TestModel& get_test_model...() {...}", of the file path, beginning at a line of it. The C++ is parsed, never
 * compiled. The spec is called like the file, with what the function's name adds. Errors are
 * "path:line:column: expected ..., got ...". Validity of the model is nnv_validate's. NNV_UNSUPPORTED if an operation
 * has no record.
 */
NNV_USE_RESULT enum nnv_status nnv_spec_parse_cpp(const char *text, size_t len, const char *path, size_t line,
                                                  struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err);

/** The name that such a spec gets, arena's, even if the rest cannot be read; else NULL. */
const char *nnv_spec_cpp_name(const char *text, size_t len, const char *path, struct nnv_arena *arena);

/** Parses a spec from text of the file path, beginning at a line of it: C++ if it is called .cpp, else JSON. */
NNV_USE_RESULT enum nnv_status nnv_spec_parse_part(const char *path, const char *text, size_t len, size_t line,
                                                   struct nnv_arena *arena, struct nnv_spec **spec,
                                                   struct nnv_err *err);

/** True if the file is called .cpp. */
bool nnv_spec_is_cpp(const char *path);

/** Walks over the models in C++ source: initialise by nnv_spec_cpp_pieces(). */
struct nnv_spec_pieces {
    const char *text; /**< the current piece */
    size_t len, line;
    const char *at, *end; /**< private from here on */
    size_t next_line, count, depth;
    bool over;
};
struct nnv_spec_pieces nnv_spec_cpp_pieces(const char *text, size_t size);
/**
 * Goes to the next piece, for nnv_spec_parse_cpp(); false after the last. Source that holds no model, or that ends too
 * early, gives a piece, too: it cannot be read, and the error says what is wrong.
 */
bool nnv_spec_cpp_next(struct nnv_spec_pieces *p);

/** An open spec file: .jsonl (one spec a line), .cpp (AOSP's generated tests, any number) or else JSON (one spec). */
struct nnv_spec_file;
NNV_USE_RESULT enum nnv_status nnv_spec_open(const char *path, struct nnv_spec_file **file, struct nnv_err *err);
void nnv_spec_close(struct nnv_spec_file *file);
/** Number of specs. */
size_t nnv_spec_count(const struct nnv_spec_file *file);
/** Text, length and 1-based first line of spec i; returns the text's offset in the file. Pointers are the file's. */
size_t nnv_spec_text(const struct nnv_spec_file *file, size_t i, const char **text, size_t *len, size_t *line);
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
