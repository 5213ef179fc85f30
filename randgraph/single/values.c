/* SPDX-License-Identifier: Apache-2.0 */
/** @file values.c Making sure that a case is exact, and infinite values where operations only move or choose. */
#include <math.h>
#include <string.h>

#include "randgraph/single/parts.h"
#include "reference/eval/eval.h"

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

/* -------------------------------------------------------------------- infinities */

enum { LEAST = 3 }; /* elements: one that is finite must be left */

/** True if outputs have infinities, or tell of them, and no NaN that is not defined. */
static bool shows_infinity(const struct nnv_spec *spec, const struct nnv_golden *golden, bool nan, bool both) {
    const struct nnv_subgraph *s = &spec->model.main;
    bool any = both;
    for (uint32_t i = 0; i < s->nout; i++) {
        const int32_t type = s->operands[s->out[i]].type;
        const size_t size = nnv_type(type)->size;
        for (size_t at = 0; nnv_is_float(type) && at < golden[i].value.bytes; at += size) {
            double v;
            nnv_load(type, (const char *)golden[i].value.data + at, 1, &v);
            if (isnan(v) && !nan) return false;
            any |= isinf(v);
        }
    }
    return any;
}

/** The first input of floats from input i on (SELECT begins with a condition), or the number of inputs. */
static uint32_t next_floats(const struct nnv_subgraph *s, uint32_t i) {
    while (i < s->nin && !nnv_is_float(s->operands[s->in[i]].type)) i++;
    return i;
}

/** Puts them into a copy of the input; false if it has no room for them. */
static bool put_infinities(struct nnv_value *v, int32_t type, bool nan, struct nnv_arena *arena) {
    const double above = INFINITY, below = -INFINITY, none = (double)NAN;
    const size_t size = nnv_type(type)->size;
    char *data = v->bytes >= LEAST * size ? nnv_arena_copy(arena, v->data, v->bytes) : NULL;
    if (!data) return false;
    nnv_store(type, &above, 1, data);
    if (nan) nnv_store(type, &none, 1, data + size);
    nnv_store(type, &below, 1, data + v->bytes - size);
    v->data = data;
    return true;
}

void nnv_infinite_values(struct nnv_spec *spec, bool nan, bool both, struct nnv_arena *arena) {
    static const struct nnv_eval_options options = {.rows = 0};
    const struct nnv_subgraph *s = &spec->model.main;
    struct nnv_value *inputs = nnv_arena_copy(arena, spec->inputs, s->nin * sizeof *inputs);
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, s->nout);
    const uint32_t first = next_floats(s, 0), second = next_floats(s, first + 1);
    if (first >= s->nin || !inputs || !golden) return;
    if (!put_infinities(&inputs[first], s->operands[s->in[first]].type, nan, arena)) return;
    if (both && second < s->nin) put_infinities(&inputs[second], s->operands[s->in[second]].type, nan, arena);
    if (nnv_eval(&spec->model, inputs, &options, arena, golden, NULL) != NNV_OK) return;
    if (!shows_infinity(spec, golden, nan, both)) return;
    spec->inputs = inputs;
    for (uint32_t i = 0; i < s->nout; i++) spec->outputs[i] = golden[i].value;
}
