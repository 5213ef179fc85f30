/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit_cpp.h What the classes of regions and of the whole program have in common, as C++ text. */
#ifndef NNV_COMPILER_EMIT_CPP_H
#define NNV_COMPILER_EMIT_CPP_H

#include <stddef.h>

#include "base/text.h"

/** A comment that can't end early, and nothing else that a compiler would look at. */
void nnv_emit_comment(struct nnv_text *out, const char *text);
/** Declarations of the C functions around a class, and the functions; the source has the name `description`. */
void nnv_emit_declare_entries(const char *name, struct nnv_text *out);
void nnv_emit_entries(const char *name, struct nnv_text *out);
/** The body of a function of input0, ..., output0, ...: it calls `runs` with these in two lists. */
void nnv_emit_run(const char *runs, size_t inputs, size_t outputs, struct nnv_text *out);
/** A source of its own: packed functions that TVM's runtime loads, around the classes of these names. */
void nnv_emit_tvm(const char *const *names, size_t n, struct nnv_text *out);

#endif
