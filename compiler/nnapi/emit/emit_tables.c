/* SPDX-License-Identifier: Apache-2.0 */
/* What all texts of a region go by: equal types and equal constants have one number. */
#include "compiler/nnapi/emit/emit_tables.h"

#include <string.h>

#include "base/map.h"
#include "base/type.h"

static bool same_type(const struct nnv_operand *a, const struct nnv_operand *b) {
    const struct nnv_channel_quant *p = &a->channel, *q = &b->channel;
    return a->type == b->type && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0) && a->scale == b->scale &&
           a->zero_point == b->zero_point && p->count == q->count &&
           (p->count == 0 || (p->dim == q->dim && memcmp(p->scales, q->scales, p->count * sizeof *p->scales) == 0));
}

static bool same_constant(const struct nnv_operand *a, const struct nnv_operand *b) {
    return a->bytes == b->bytes && nnv_type(a->type)->tensor == nnv_type(b->type)->tensor &&
           strcmp(nnv_emit_dtype(a->type), nnv_emit_dtype(b->type)) == 0 && memcmp(a->data, b->data, a->bytes) == 0;
}

/** What equal types have in common; scales of channels are left to same_type(). */
static uint64_t type_hash(const struct nnv_operand *o) { return nnv_emit_hash(o->dims, o->rank * sizeof *o->dims); }
static uint64_t constant_hash(const struct nnv_operand *o) { return nnv_emit_hash(o->data, o->bytes); }

/** Operands by what they have in common: equal ones have one number. */
struct numbering {
    struct nnv_index index;
    const struct nnv_operand **all;
    uint64_t (*hash)(const struct nnv_operand *);
    bool (*same)(const struct nnv_operand *, const struct nnv_operand *);
};

/** The number of o's equal, or a new one; there is room. */
static uint32_t number_of(struct numbering *n, const struct nnv_operand *o) {
    const uint64_t hash = n->hash(o);
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&n->index, hash, &at)) != NNV_MAP_NONE;)
        if (n->same(n->all[k], o)) return k;
    n->all[n->index.count] = o;
    return nnv_index_add(&n->index, hash);
}

bool nnv_emit_tabulate(const struct nnv_emit *regions, size_t r, uint32_t number, const struct nnv_emit_weights *w,
                       struct nnv_arena *arena, struct nnv_emit_tables *t) {
    const struct nnv_subgraph *s = nnv_emit_graph(&regions[r].converted->model, number);
    *t = (struct nnv_emit_tables){
        .region = &regions[r],
        .number = number,
        .graph = s,
        .weights = w,
        .type_of = NNV_NEW(arena, uint32_t, s->noperands),
        .constant_of = NNV_NEW(arena, uint32_t, s->noperands),
        .type = NNV_NEW(arena, const struct nnv_operand *, s->noperands),
        .constant = NNV_NEW(arena, const struct nnv_operand *, s->noperands),
        .place = NNV_NEW(arena, const struct nnv_emit_place *, s->noperands),
        .uses_file = w->n_places[r] > 0,
    };
    struct numbering types = {.index.arena = arena, .all = t->type, .hash = type_hash, .same = same_type};
    struct numbering constants = {
        .index.arena = arena, .all = t->constant, .hash = constant_hash, .same = same_constant};
    if (!t->type_of || !t->constant_of || !t->type || !t->constant || !t->place ||
        !nnv_index_reserve(&types.index, s->noperands) || !nnv_index_reserve(&constants.index, s->noperands))
        return false;
    for (size_t i = 0; i < w->n_places[r]; i++)
        if (w->places[r][i].graph == number) t->place[w->places[r][i].operand] = &w->places[r][i];
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        t->type_of[i] = number_of(&types, o);
        if (nnv_emit_is_small(o)) t->constant_of[i] = number_of(&constants, o);
    }
    t->n_types = types.index.count;
    t->n_constants = constants.index.count;
    return true;
}

const char *nnv_emit_dtype(int32_t type) {
    const struct nnv_type *t = nnv_type(type);
    const bool is_signed = t->min < 0;
    if (t->kind == NNV_KIND_FLOAT) return t->size == 2 ? "float16" : "float32";
    if (t->kind == NNV_KIND_BOOL) return "bool";
    if (t->size == 4) return is_signed ? "int32" : "uint32";
    if (t->size == 2) return is_signed ? "int16" : "uint16";
    return is_signed ? "int8" : "uint8";
}

const char *nnv_emit_value_name(const struct nnv_emit_tables *t, uint32_t operand) {
    const char *const *names = t->region->converted->operand_name;
    return names && t->number == 0 && names[operand] ? names[operand] : "";
}
