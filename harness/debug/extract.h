/* SPDX-License-Identifier: Apache-2.0 */
/** @file extract.h Parts of a graph as specs of their own, with golden values in place of what was cut off. */
#ifndef NNV_DEBUG_EXTRACT_H
#define NNV_DEBUG_EXTRACT_H

#include "reference/model/model.h"

/** A valid spec, and a value for every operand of its main subgraph that has one. */
struct nnv_known {
    struct nnv_spec *spec;   /**< expected outputs are golden */
    struct nnv_value *value; /**< per operand: inputs as given, results golden; unused for constants */
};

/** What is to become of an operand; NNV_WISH_NONE: what it was. */
enum nnv_wish {
    NNV_WISH_NONE,
    NNV_WISH_SHOWN,    /**< a result becomes an output */
    NNV_WISH_HIDDEN,   /**< a result that is read is no output */
    NNV_WISH_CONSTANT, /**< an input becomes a constant */
    NNV_WISH_INPUT,    /**< a constant tensor becomes an input */
};

struct nnv_extraction {
    const bool *keep;    /**< per operation; NULL: all */
    const uint8_t *wish; /**< per operand, enum nnv_wish; NULL: none */
    bool all_shown;      /**< every result becomes an output */
    uint32_t *index;     /**< out, per operand: its index in the new spec, UINT32_MAX if it is not there; may be NULL */
};

/**
 * A new spec, all of it arena's, of the operations that are kept. What they read of the others becomes an input with
 * its known value; results that are not read become outputs; unused operands and subgraphs are left out. The result
 * need not be valid. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_extract(const struct nnv_known *known, const struct nnv_extraction *cut,
                                           struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err);
/**
 * Copies the spec, without what it does not use, validates it and evaluates all its operands; the expected outputs
 * become the golden values, the feature level the lowest that allows the model. relax: declared extents of results are
 * not believed, but replaced by those that follow from the inputs. NNV_INVALID: the model or its values are not valid.
 */
NNV_USE_RESULT enum nnv_status nnv_known_make(const struct nnv_spec *spec, bool relax, struct nnv_arena *arena,
                                              struct nnv_known *known, struct nnv_err *err);

/** How large a spec is. */
struct nnv_extent {
    uint32_t operations;    /**< those of referenced subgraphs too */
    size_t elements, bytes; /**< of its inputs, constants and outputs */
};
struct nnv_extent nnv_spec_extent(const struct nnv_spec *spec);

#endif
