/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit_weights.h Converted regions, and the one file of their large constants. */
#ifndef NNV_COMPILER_EMIT_WEIGHTS_H
#define NNV_COMPILER_EMIT_WEIGHTS_H

#include "compiler/nnapi/convert/converted.h"

enum {
    NNV_EMIT_SMALL = 128, /**< bytes: constants up to here stand in the code, NNAPI copies them */
    NNV_EMIT_ALIGN = 64   /**< of a constant in the file */
};

/** One region. */
struct nnv_emit {
    const char *function; /**< its global symbol, a C identifier: also the name of the class */
    const struct nnv_converted *converted;
};

/** A constant of the model in the file of constants: where it begins, a multiple of NNV_EMIT_ALIGN. */
struct nnv_emit_place {
    uint32_t graph, operand; /**< graph: 0 is the main one, n + 1 referenced model n */
    size_t offset, bytes;
};

/** The constants of several regions in one file: equal values are there once. */
struct nnv_emit_weights {
    const char *file;               /**< its name, beside the shared library */
    struct nnv_text bytes;          /**< none if no constant is large */
    struct nnv_emit_place **places; /**< by region, then by graph and operand, rising */
    size_t *n_places;
};
/**
 * Gathers the constants of more than NNV_EMIT_SMALL bytes. places are of arena; nnv_text_free(&out->bytes) is the
 * caller's. NNV_UNSUPPORTED: a model of a shape that is not known.
 */
NNV_USE_RESULT enum nnv_status nnv_emit_gather(const struct nnv_emit *regions, size_t n, const char *file,
                                               struct nnv_arena *arena, struct nnv_emit_weights *out,
                                               struct nnv_err *err);

/** Graph g of a model: 0 is the main one, n + 1 referenced model n. */
static inline const struct nnv_subgraph *nnv_emit_graph(const struct nnv_model *m, uint32_t g) {
    return g ? &m->referenced[g - 1] : &m->main;
}

/** The head of their SHA-256, by which equal constants are found: no model is made to have many of the same. */
uint64_t nnv_emit_hash(const void *data, size_t bytes);

#endif
