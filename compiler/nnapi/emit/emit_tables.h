/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit_tables.h What the texts of a region share; private to emit*.c. */
#ifndef NNV_COMPILER_EMIT_TABLES_H
#define NNV_COMPILER_EMIT_TABLES_H

#include "compiler/nnapi/emit/emit_weights.h"

/** One graph of a region, numbered: equal types and equal small constants have one number. */
struct nnv_emit_tables {
    const struct nnv_emit *region;
    uint32_t number; /**< of the graph */
    const struct nnv_subgraph *graph;
    const struct nnv_emit_weights *weights;
    uint32_t *type_of, *constant_of;             /**< by operand; constant_of is meaningful for small constants */
    const struct nnv_operand **type, **constant; /**< by number: the first operand of it */
    uint32_t n_types, n_constants;
    const struct nnv_emit_place **place; /**< by operand: in the file of constants, or NULL */
    bool uses_file;                      /**< the region does */
};
/** Graph `number` of region r. False when out of memory. */
bool nnv_emit_tabulate(const struct nnv_emit *regions, size_t r, uint32_t number, const struct nnv_emit_weights *w,
                       struct nnv_arena *arena, struct nnv_emit_tables *t);

/** A constant that stands in the code. */
static inline bool nnv_emit_is_small(const struct nnv_operand *o) {
    return nnv_is_constant(o) && o->bytes <= NNV_EMIT_SMALL;
}
/** The type of the elements: "float32", "float16", "int32", "uint32", "bool", "int8", "uint8", "int16", "uint16". */
const char *nnv_emit_dtype(int32_t type);
/** The name of the operand's Relay value, or "". */
const char *nnv_emit_value_name(const struct nnv_emit_tables *t, uint32_t operand);

#endif
