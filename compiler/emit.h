/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit.h What a converted region is written as: the NNAPI JSON description, and one C++ class. */
#ifndef NNV_COMPILER_EMIT_H
#define NNV_COMPILER_EMIT_H

#include "compiler/convert.h"

/** One region: names of the files that belong to it. */
struct nnv_emit {
    const char *function; /**< its global symbol, a C identifier: also the name of the class */
    const struct nnv_converted *converted;
    const char *weights; /**< name of the file of constants, beside the shared library */
};

/** A constant of the model in the file of constants: where it begins, a multiple of 64. */
struct nnv_emit_place {
    uint32_t operand;
    size_t offset, bytes;
};

/** The constants of several regions in one file: equal values are there once. */
struct nnv_emit_weights {
    struct nnv_text bytes;
    struct nnv_emit_place **places; /**< by region, then by constant operand in order */
    size_t *n_places;
    size_t n_regions;
};
/** Gathers constants of more than 128 bytes; smaller ones stand in the code. places are of arena. */
NNV_USE_RESULT enum nnv_status nnv_emit_gather(const struct nnv_emit *regions, size_t n, struct nnv_arena *arena,
                                               struct nnv_emit_weights *out, struct nnv_err *err);
/** JSON: types, constants, memories, operands, operations, inputs, outputs (docs/compiler.md). */
void nnv_emit_json(const struct nnv_emit *e, const struct nnv_emit_place *places, size_t n_places,
                   struct nnv_text *out);
/** C++17: the class, and extern "C" functions around one instance of it. */
void nnv_emit_cpp(const struct nnv_emit *e, const struct nnv_emit_place *places, size_t n_places, struct nnv_text *out);

#endif
