/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/exact.h"

#include <math.h>
#include <string.h>

static bool is_attribute(const struct nnv_operand *o, const struct nnv_slot *slot) {
    return !nnv_type(o->type)->tensor || (slot->var == NNV_FIXED && o->type == ANEURALNETWORKS_TENSOR_INT32);
}

/* The absolute values of a tensor, or no activation for its scalar. */
static void *absolute(const struct nnv_operand *o, const struct nnv_slot *slot, const void *data, size_t bytes,
                      struct nnv_arena *arena) {
    char *to = nnv_arena_copy(arena, data, bytes);
    if (!to) return NULL;
    size_t size = nnv_type(o->type)->size;
    if (slot->rule == NNV_FUSE) memset(to, 0, bytes);
    if (is_attribute(o, slot)) return to;
    for (size_t at = 0; at < bytes; at += size) {
        double v;
        nnv_load(o->type, to + at, 1, &v);
        v = o->zero_point + fabs(v - o->zero_point);
        nnv_store(o->type, &v, 1, to + at);
    }
    return to;
}

static enum nnv_status copy(const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_spec **out,
                            struct nnv_err *err) {
    const struct nnv_subgraph *s = &spec->model.main;
    struct nnv_spec *c = nnv_arena_copy(arena, spec, sizeof *spec);
    if (!c) return nnv_no_memory(err);
    c->model.main.operands = nnv_arena_copy(arena, s->operands, s->noperands * sizeof *s->operands);
    c->inputs = nnv_arena_copy(arena, spec->inputs, s->nin * sizeof *spec->inputs);
    if (!c->model.main.operands || !c->inputs) return nnv_no_memory(err);
    *out = c;
    return NNV_OK;
}

enum nnv_status nnv_exact_absolute(const struct nnv_spec *spec, const struct nnv_slot *const *slots,
                                   struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err) {
    struct nnv_spec *c = NULL;
    enum nnv_status st = copy(spec, arena, &c, err);
    if (st) return st;
    struct nnv_subgraph *s = &c->model.main;
    for (uint32_t i = 0; i < s->noperands; i++) {
        struct nnv_operand *o = &s->operands[i];
        if (!nnv_is_constant(o)) continue;
        o->data = absolute(o, slots[i], o->data, o->bytes, arena);
        if (!o->data) return nnv_no_memory(err);
    }
    for (uint32_t i = 0; i < s->nin; i++) {
        struct nnv_value *v = &c->inputs[i];
        if (v->omitted) continue;
        v->data = absolute(&s->operands[s->in[i]], slots[s->in[i]], v->data, v->bytes, arena);
        if (!v->data) return nnv_no_memory(err);
    }
    *out = c;
    return NNV_OK;
}
