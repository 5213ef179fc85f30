/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/model.h"

#include <string.h>

static const char *const lifetimes[NNV_LIFETIME_COUNT] = {
    [NNV_TEMPORARY_VARIABLE] = "TEMPORARY_VARIABLE",
    [NNV_SUBGRAPH_INPUT] = "SUBGRAPH_INPUT",
    [NNV_SUBGRAPH_OUTPUT] = "SUBGRAPH_OUTPUT",
    [NNV_CONSTANT_COPY] = "CONSTANT_COPY",
    [NNV_CONSTANT_REFERENCE] = "CONSTANT_REFERENCE",
    [NNV_NO_VALUE] = "NO_VALUE",
    [NNV_SUBGRAPH] = "SUBGRAPH",
};

static const char *const levels[NNV_LEVEL_MAX + 1] = {"none", "1.0", "1.1", "1.2", "1.3", "fl5", "fl6", "fl7"};

const char *nnv_lifetime_name(enum nnv_lifetime l) {
    return (unsigned)l < NNV_LIFETIME_COUNT ? lifetimes[l] : "unknown";
}

const char *nnv_level_name(int level) {
    return level >= NNV_LEVEL_MIN && level <= NNV_LEVEL_MAX ? levels[level] : levels[0];
}

int nnv_level_by_name(const char *name) {
    for (int i = NNV_LEVEL_MIN; i <= NNV_LEVEL_MAX; i++)
        if (strcmp(levels[i], name) == 0) return i;
    return 0;
}

bool nnv_is_constant(const struct nnv_operand *o) {
    return o->lifetime == NNV_CONSTANT_COPY || o->lifetime == NNV_CONSTANT_REFERENCE;
}

bool nnv_shape_is_open(bool tensor, uint32_t rank, const uint32_t *dims) {
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] == 0) return true;
    return tensor && rank == 0;
}

bool nnv_operand_is_open(const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    return nnv_shape_is_open(t && t->tensor, o->rank, o->dims);
}

bool nnv_operand_size(const struct nnv_operand *o, size_t *elems, size_t *bytes) {
    return nnv_type(o->type) && !nnv_operand_is_open(o) && nnv_size_bytes(o->type, o->rank, o->dims, elems, bytes);
}

uint32_t nnv_producer(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nout; k++)
            if (s->operations[i].out[k] == operand) return i;
    return UINT32_MAX;
}
