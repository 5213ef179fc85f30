/* SPDX-License-Identifier: Apache-2.0 */
/** @file edit.c Mutated models, and the registry of what mutates them. */
#include <string.h>

#include "harness/suites/validate/validate.h"
#include "reference/model/validate.h"

const struct nnv_model_mutator *nnv_model_mutator(size_t i) {
    if (i < nnv_operand_mutator_count) return &nnv_operand_mutators[i];
    i -= nnv_operand_mutator_count;
    if (i < nnv_graph_mutator_count) return &nnv_graph_mutators[i];
    i -= nnv_graph_mutator_count;
    return i < nnv_abi_mutator_count ? &nnv_abi_mutators[i] : NULL;
}

/* -------------------------------------------------------------------- copying */

bool nnv_mutation_copy(struct nnv_mutation *m, const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena) {
    *m = (struct nnv_mutation){.pick = pick, .config = nnv_prepare_config};
    nnv_edit_begin(&m->edit, spec, arena);
    m->spec = &m->edit.spec;
    m->model = &m->spec->model;
    m->main = &m->model->main;
    return !m->edit.failed;
}

#define DUP(m, from, count) nnv_edit_copy(&(m)->edit, (from), (count), NNV_EDIT_ROOM, sizeof *(from))

bool nnv_mutation_take(struct nnv_mutation *m, const struct nnvts_model *abi) {
    m->abi = *abi;
    m->operands = DUP(m, abi->main.operands, abi->main.operand_count);
    m->operations = DUP(m, abi->main.operations, abi->main.operation_count);
    m->pools = DUP(m, abi->pools, abi->pool_count);
    m->abi.main.operands = m->operands;
    m->abi.main.operations = m->operations;
    m->abi.pools = m->pools;
    return !m->edit.failed;
}

/* ------------------------------------------------------------------- choosing */

static bool in_list(const uint32_t *list, uint32_t n, uint32_t index) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == index) return true;
    return false;
}

static bool is_used(const struct nnv_subgraph *s, uint32_t index) {
    for (uint32_t i = 0; i < s->noperations; i++)
        if (in_list(s->operations[i].in, s->operations[i].nin, index) ||
            in_list(s->operations[i].out, s->operations[i].nout, index))
            return true;
    return false;
}

static struct nnv_operand *mutation_find(struct nnv_mutation *m, bool (*test)(const struct nnv_operand *o)) {
    const struct nnv_subgraph *s = m->main;
    struct nnv_operand *found = NULL;
    uint64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t left = pass ? m->pick % count + 1 : 0;
        for (uint32_t i = 0; i < s->noperands && (!pass || left); i++) {
            if (!is_used(s, i) || (test && !test(&s->operands[i]))) continue;
            if (!pass)
                count++;
            else if (--left == 0)
                found = &s->operands[i];
        }
        if (count == 0) return NULL;
    }
    return found;
}

/** An operand that an operation uses and that passes the test (NULL: any); NULL: there is none. */
static struct nnvts_operand *mutation_find_abi(struct nnv_mutation *m, bool (*test)(const struct nnvts_operand *o)) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->main->noperands; i++) count += is_used(m->main, i) && test(&m->operands[i]);
    uint64_t left = count ? m->pick % count + 1 : 0;
    for (uint32_t i = 0; left; i++)
        if (is_used(m->main, i) && test(&m->operands[i]) && --left == 0) return &m->operands[i];
    return NULL;
}

struct nnv_operand nnv_mutation_scalar(void) {
    static const int32_t value = 1;
    return (struct nnv_operand){
        .type = ANEURALNETWORKS_INT32, .lifetime = NNV_CONSTANT_COPY, .data = &value, .bytes = sizeof value};
}

/* --------------------------------------------------------------------- making */

static bool change(struct nnv_mutation *m) {
    const struct nnv_model_mutator *row = m->row;
    if (row->change) return row->change(m);
    if (!row->edit) return true; /* on the rendering, later */
    struct nnv_operand *o = mutation_find(m, row->test);
    if (o) row->edit(m, o);
    return o != NULL;
}

static void put_in_pool(struct nnv_subgraph *s) {
    for (uint32_t i = 0; i < s->noperands; i++)
        if (nnv_is_constant(&s->operands[i])) s->operands[i].lifetime = NNV_CONSTANT_REFERENCE;
}

enum nnv_applied nnv_mutation_make(struct nnv_mutation *m, const struct nnv_model_mutator *row,
                                   const struct nnv_spec *spec, uint64_t pick, struct nnv_arena *arena) {
    if (!nnv_mutation_copy(m, spec, pick, arena)) return NNV_APPLY_FAILED;
    m->row = row;
    m->a = row->a;
    if (row->pooled) put_in_pool(m->main);
    bool changed = change(m);
    if (m->edit.failed) return NNV_APPLY_FAILED;
    if (!changed) return NNV_NOT_APPLIED;
    return row->judged && nnv_validate(m->model, arena, NULL, NULL) != NNV_INVALID ? NNV_NOT_APPLIED : NNV_APPLIED;
}

bool nnv_mutation_preference(struct nnv_mutation *m) {
    m->config.preference = (uint32_t)m->a;
    return true;
}

bool nnv_mutation_priority(struct nnv_mutation *m) {
    m->config.priority = (uint32_t)m->a;
    return true;
}

/* --------------------------------------------------- of models and of requests */

bool nnv_null_array(void *of, const struct nnv_abi_edit *e) {
    static void *const none;
    uint32_t count;
    memcpy((char *)of + e->array, &none, sizeof none);
    memcpy(&count, (const char *)of + e->count, sizeof count);
    return count > 0;
}

#define PLACE(name) bool nnv_##name(struct nnvts_location *at, uint64_t room, int64_t a)

PLACE(offset_behind) {
    (void)a;
    at->offset = (uint32_t)room - at->length + 1;
    return at->length > 0;
}
PLACE(offset_wraps) {
    (void)room, (void)a;
    at->offset = 0u - at->length;
    return at->length > 0;
}
PLACE(offset_largest) {
    (void)room, (void)a;
    at->offset = UINT32_MAX;
    return true;
}
PLACE(length_wraps) {
    (void)room, (void)a;
    at->length = UINT32_MAX - at->offset + 1;
    return at->offset > 0;
}
PLACE(length_largest) {
    (void)room, (void)a;
    at->length = UINT32_MAX;
    return true;
}
PLACE(length_zero) {
    (void)room, (void)a;
    const bool some = at->length > 0;
    at->length = 0;
    return some;
}

void nnv_pool_kind(struct nnvts_memory *p, int64_t a) { p->kind = (uint32_t)a; }
void nnv_pool_size(struct nnvts_memory *p, int64_t a) { p->size = (uint64_t)a; }
void nnv_pool_prot(struct nnvts_memory *p, int64_t a) { p->prot = (uint32_t)a; }
void nnv_pool_unmappable(struct nnvts_memory *p, int64_t a) {
    (void)a;
    p->data = NULL;
    p->fd = -1;
}
void nnv_pool_offset(struct nnvts_memory *p, int64_t a) {
    p->data = NULL;
    p->offset = (uint64_t)a;
}

/** Bytes of what a constant lies in. */
static uint64_t room_of(const struct nnv_mutation *m, const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY ? m->abi.operand_values_bytes : m->pools[o->location.pool].size;
}

/* ------------------------------------------------------------------- renderings */

enum nnv_applied nnv_mutation_rendered(struct nnv_mutation *m, const struct nnvts_model *abi) {
    const struct nnv_model_mutator *row = m->row;
    bool changed = true;
    if (!nnv_mutation_take(m, abi)) return NNV_APPLY_FAILED;
    if (row->abi_change) {
        changed = row->abi_change(m);
    } else if (row->abi_edit || row->abi.place) {
        struct nnvts_operand *o = mutation_find_abi(m, row->abi_test);
        if (o && row->abi_edit) row->abi_edit(m, o);
        if (o && row->abi.place) row->abi.place(&o->location, room_of(m, o), m->a);
        changed = o != NULL;
    } else if (row->abi.pool) {
        changed = m->abi.pool_count > 0;
        if (changed) row->abi.pool(&m->pools[0], m->a);
    } else if (row->abi.array) {
        changed = nnv_null_array(&m->abi, &row->abi);
    }
    if (m->edit.failed) return NNV_APPLY_FAILED;
    return changed ? NNV_APPLIED : NNV_NOT_APPLIED;
}
