/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/shapes/shapes.h"

#include "reference/model/validate.h"

static bool is_meant(const struct nnv_operand *o, unsigned which) {
    if (!nnv_type(o->type)->tensor || o->rank == 0) return false;
    switch (o->lifetime) {
    case NNV_SUBGRAPH_INPUT:
        return which & NNV_OPEN_INPUTS;
    case NNV_TEMPORARY_VARIABLE:
        return which & NNV_OPEN_TEMPORARIES;
    case NNV_SUBGRAPH_OUTPUT:
        return which & NNV_OPEN_OUTPUTS;
    case NNV_CONSTANT_COPY:
    case NNV_CONSTANT_REFERENCE:
    case NNV_NO_VALUE:
    case NNV_SUBGRAPH:
    case NNV_LIFETIME_COUNT:
        break;
    }
    return false;
}

/* No extents: all zero. */
static void open_operand(struct nnv_operand *o, unsigned which, uint32_t *zeros) {
    o->dims = zeros;
    if (which & NNV_OPEN_RANKS) o->rank = 0;
}

/* Opens what can be opened, one by one. NNV_NO_MEMORY, or what is wrong with the model as it was. */
static enum nnv_status open_singly(struct nnv_spec *spec, unsigned which, struct nnv_arena *arena, uint32_t *zeros,
                                   uint32_t *opened, struct nnv_err *err) {
    struct nnv_subgraph *main = &spec->model.main;
    *opened = 0;
    for (uint32_t i = 0; i < main->noperands; i++) {
        struct nnv_operand *o = &main->operands[i], before = *o;
        struct nnv_err ignored = {0};
        if (!is_meant(o, which)) continue;
        open_operand(o, which, zeros);
        enum nnv_status st = nnv_validate(&spec->model, arena, NULL, &ignored);
        if (st == NNV_OK)
            ++*opened;
        else
            *o = before;
    }
    return nnv_validate(&spec->model, arena, &spec->min_version, err);
}

enum nnv_status nnv_shapes_open(const struct nnv_spec *spec, unsigned which, struct nnv_arena *arena,
                                struct nnv_spec **out, uint32_t *opened, struct nnv_err *err) {
    const struct nnv_subgraph *from = &spec->model.main;
    struct nnv_spec *copy = nnv_arena_copy(arena, spec, sizeof *spec);
    struct nnv_operand *operands = nnv_arena_copy(arena, from->operands, from->noperands * sizeof *from->operands);
    uint32_t *zeros = NNV_NEW(arena, uint32_t, NNV_MAX_RANK);
    struct nnv_err ignored = {0};
    if (!copy || !operands || !zeros) return nnv_no_memory(err);
    copy->model.main.operands = operands;
    *opened = 0;
    for (uint32_t i = 0; i < from->noperands; i++) {
        if (!is_meant(&operands[i], which)) continue;
        open_operand(&operands[i], which, zeros);
        ++*opened;
    }
    enum nnv_status st = nnv_validate(&copy->model, arena, &copy->min_version, &ignored);
    if (st) {
        for (uint32_t i = 0; i < from->noperands; i++) operands[i] = from->operands[i];
        st = open_singly(copy, which, arena, zeros, opened, err);
    }
    if (st == NNV_OK) *out = copy;
    return st;
}
