/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file emit.h What converted regions are written as: the NNAPI JSON description, and one C++ class each. See
 * docs/compile/compiling.md. The same regions give the same bytes.
 */
#ifndef NNV_COMPILER_EMIT_H
#define NNV_COMPILER_EMIT_H

#include "compiler/nnapi/emit/emit_weights.h"

/* The texts of region r. out->failed tells that memory ran out. */

/** JSON: types, constants, memories, operands, operations, inputs, outputs, and the same of referenced models. */
void nnv_emit_json(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out);
/** C++17: the header of the class and of the extern "C" functions around it, FUNCTION.h. */
void nnv_emit_header(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out);
/** C++17: FUNCTION.cpp. */
void nnv_emit_source(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out);
/**
 * SHA-256 of the JSON text and the values of the region's large constants: what a compilation cache goes by. False when
 * out of memory.
 */
bool nnv_emit_digest(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, uint8_t digest[32]);

/**
 * A model from its JSON text, with the bytes of the file of constants; json is untrusted. name is for errors: "x.json:
 * operands[3].type: ...". The model is of arena and valid (nnv_validate).
 */
NNV_USE_RESULT enum nnv_status nnv_emit_read(const char *json, size_t len, const char *name, const void *weights,
                                             size_t weights_bytes, struct nnv_arena *arena, struct nnv_model *model,
                                             struct nnv_err *err);

/** A file that belongs to every output: what the classes have in common (compiler/nnapi/region). */
struct nnv_emit_support {
    const char *name;
    const char *begin, *end;
};
extern const struct nnv_emit_support nnv_emit_supports[];
extern const size_t nnv_emit_n_supports;

#endif
