/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/extract.h"

#include <string.h>

#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static const uint32_t ABSENT = UINT32_MAX;

/* -------------------------------------------------------------------- copying */

static bool copy_value(struct nnv_value *to, const struct nnv_value *from, struct nnv_arena *arena) {
    *to = *from;
    if (from->omitted) return true;
    to->data = nnv_arena_copy(arena, from->data, from->bytes);
    return to->data != NULL;
}

static bool copy_operand(struct nnv_operand *to, const struct nnv_operand *from, struct nnv_arena *arena) {
    *to = *from;
    to->dims = nnv_arena_copy(arena, from->dims, from->rank * sizeof *from->dims);
    to->channel.scales = nnv_arena_copy(arena, from->channel.scales, from->channel.count * sizeof(float));
    if (from->data) to->data = nnv_arena_copy(arena, from->data, from->bytes);
    return to->dims && to->channel.scales && (to->data || !from->data);
}

static uint32_t *copy_indices(const uint32_t *from, uint32_t n, const uint32_t *map, struct nnv_arena *arena) {
    uint32_t *to = NNV_NEW(arena, uint32_t, n);
    for (uint32_t i = 0; i < n && to; i++) to[i] = map ? map[from[i]] : from[i];
    return to;
}

static bool copy_operation(struct nnv_operation *to, const struct nnv_operation *from, const uint32_t *map,
                           struct nnv_arena *arena) {
    *to = *from;
    to->in = copy_indices(from->in, from->nin, map, arena);
    to->out = copy_indices(from->out, from->nout, map, arena);
    return to->in && to->out;
}

static bool copy_subgraph(struct nnv_subgraph *to, const struct nnv_subgraph *from, struct nnv_arena *arena) {
    *to = *from;
    to->operands = NNV_NEW(arena, struct nnv_operand, from->noperands);
    to->operations = NNV_NEW(arena, struct nnv_operation, from->noperations);
    to->in = copy_indices(from->in, from->nin, NULL, arena);
    to->out = copy_indices(from->out, from->nout, NULL, arena);
    bool ok = to->operands && to->operations && to->in && to->out;
    for (uint32_t i = 0; i < from->noperands && ok; i++) ok = copy_operand(&to->operands[i], &from->operands[i], arena);
    for (uint32_t i = 0; i < from->noperations && ok; i++)
        ok = copy_operation(&to->operations[i], &from->operations[i], NULL, arena);
    return ok;
}

/* -------------------------------------------------------------------- cutting */

/** What one cut knows. Per operand of the old spec: */
struct cutting {
    const struct nnv_known *known;
    const struct nnv_subgraph *old;
    const struct nnv_extraction *cut;
    struct nnv_arena *arena;
    bool *made, *read; /**< by a kept operation */
    uint32_t *map;     /**< new index or ABSENT */
    struct nnv_spec *spec;
};

static bool keeps(const struct cutting *c, uint32_t operation) { return !c->cut->keep || c->cut->keep[operation]; }

static enum nnv_wish wish_of(const struct cutting *c, uint32_t operand) {
    return c->cut->wish ? (enum nnv_wish)c->cut->wish[operand] : NNV_WISH_NONE;
}

/** Finds what the kept operations use, and numbers it. Returns how many operands that is. */
static uint32_t number_operands(struct cutting *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->old->noperations; i++) {
        const struct nnv_operation *op = &c->old->operations[i];
        if (!keeps(c, i)) continue;
        for (uint32_t k = 0; k < op->nin; k++) c->read[op->in[k]] = true;
        for (uint32_t k = 0; k < op->nout; k++) c->made[op->out[k]] = true;
    }
    for (uint32_t i = 0; i < c->old->noperands; i++) c->map[i] = c->read[i] || c->made[i] ? count++ : ABSENT;
    return count;
}

static enum nnv_lifetime lifetime_of(const struct cutting *c, uint32_t i) {
    const struct nnv_operand *o = &c->old->operands[i];
    enum nnv_wish wish = wish_of(c, i);
    if (c->made[i]) {
        bool shown = c->cut->all_shown || wish == NNV_WISH_SHOWN || !c->read[i] ||
                     (o->lifetime == NNV_SUBGRAPH_OUTPUT && wish != NNV_WISH_HIDDEN);
        return shown ? NNV_SUBGRAPH_OUTPUT : NNV_TEMPORARY_VARIABLE;
    }
    if (o->lifetime == NNV_NO_VALUE || o->lifetime == NNV_SUBGRAPH) return o->lifetime;
    if (nnv_is_constant(o))
        return wish == NNV_WISH_INPUT && nnv_type(o->type)->tensor ? NNV_SUBGRAPH_INPUT : o->lifetime;
    const struct nnv_value *v = &c->known->value[i];
    return wish == NNV_WISH_CONSTANT && !v->omitted && v->bytes ? NNV_CONSTANT_COPY : NNV_SUBGRAPH_INPUT;
}

static bool make_operand(const struct cutting *c, uint32_t i) {
    const struct nnv_operand *old = &c->old->operands[i];
    const struct nnv_value *v = &c->known->value[i];
    struct nnv_operand *o = &c->spec->model.main.operands[c->map[i]];
    if (!copy_operand(o, old, c->arena)) return false;
    o->lifetime = lifetime_of(c, i);
    if (o->lifetime == NNV_CONSTANT_COPY && !nnv_is_constant(old)) {
        o->rank = v->rank;
        o->dims = nnv_arena_copy(c->arena, v->dims, v->rank * sizeof *v->dims);
        o->data = nnv_arena_copy(c->arena, v->data, v->bytes);
        o->bytes = v->bytes;
        return o->dims && o->data;
    }
    if (!nnv_is_constant(o)) {
        o->data = NULL;
        o->bytes = 0;
    }
    return true;
}

/** The value of an operand that becomes an input or output. */
static bool make_value(const struct cutting *c, uint32_t i, struct nnv_value *v) {
    const struct nnv_operand *o = &c->old->operands[i];
    if (!nnv_is_constant(o)) return copy_value(v, &c->known->value[i], c->arena);
    *v = (struct nnv_value){.rank = o->rank, .bytes = o->bytes};
    if (o->rank) memcpy(v->dims, o->dims, o->rank * sizeof *o->dims);
    v->data = nnv_arena_copy(c->arena, o->data, o->bytes);
    return v->data != NULL;
}

/** Adds operand i to a list of inputs or outputs, unless it is not one of them or stands there already. */
static bool list_operand(const struct cutting *c, uint32_t i, enum nnv_lifetime lifetime, uint32_t *list, uint32_t *n,
                         struct nnv_value *values) {
    if (c->map[i] == ABSENT || c->spec->model.main.operands[c->map[i]].lifetime != lifetime) return true;
    for (uint32_t k = 0; k < *n; k++)
        if (list[k] == c->map[i]) return true;
    list[*n] = c->map[i];
    return make_value(c, i, &values[(*n)++]);
}

/** Inputs and outputs: the old ones in their order, then the new ones. */
static bool make_lists(const struct cutting *c) {
    struct nnv_subgraph *m = &c->spec->model.main;
    bool ok = true;
    for (uint32_t k = 0; k < c->old->nin && ok; k++)
        ok = list_operand(c, c->old->in[k], NNV_SUBGRAPH_INPUT, m->in, &m->nin, c->spec->inputs);
    for (uint32_t k = 0; k < c->old->nout && ok; k++)
        ok = list_operand(c, c->old->out[k], NNV_SUBGRAPH_OUTPUT, m->out, &m->nout, c->spec->outputs);
    for (uint32_t i = 0; i < c->old->noperands && ok; i++)
        ok = list_operand(c, i, NNV_SUBGRAPH_INPUT, m->in, &m->nin, c->spec->inputs) &&
             list_operand(c, i, NNV_SUBGRAPH_OUTPUT, m->out, &m->nout, c->spec->outputs);
    return ok;
}

static void mark_used(const struct nnv_model *model, const struct nnv_subgraph *s, bool *used) {
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        if (o->lifetime != NNV_SUBGRAPH || o->subgraph >= model->nreferenced || used[o->subgraph]) continue;
        used[o->subgraph] = true;
        mark_used(model, &model->referenced[o->subgraph], used);
    }
}

static void renumber(struct nnv_subgraph *s, const uint32_t *number, uint32_t count) {
    for (uint32_t i = 0; i < s->noperands; i++)
        if (s->operands[i].lifetime == NNV_SUBGRAPH && s->operands[i].subgraph < count)
            s->operands[i].subgraph = number[s->operands[i].subgraph];
}

/** Copies the referenced subgraphs that are still used. */
static bool make_referenced(const struct cutting *c) {
    const struct nnv_model *old = &c->known->spec->model;
    struct nnv_model *m = &c->spec->model;
    bool *used = NNV_NEW(c->arena, bool, old->nreferenced);
    uint32_t *number = NNV_NEW(c->arena, uint32_t, old->nreferenced);
    m->referenced = NNV_NEW(c->arena, struct nnv_subgraph, old->nreferenced);
    m->nreferenced = 0;
    if (!used || !number || !m->referenced) return false;
    mark_used(old, &m->main, used);
    for (uint32_t i = 0; i < old->nreferenced; i++) {
        if (!used[i]) continue;
        number[i] = m->nreferenced;
        if (!copy_subgraph(&m->referenced[m->nreferenced++], &old->referenced[i], c->arena)) return false;
    }
    renumber(&m->main, number, old->nreferenced);
    for (uint32_t i = 0; i < m->nreferenced; i++) renumber(&m->referenced[i], number, old->nreferenced);
    return true;
}

static bool make_spec(struct cutting *c) {
    const struct nnv_spec *from = c->known->spec;
    c->made = NNV_NEW(c->arena, bool, c->old->noperands);
    c->read = NNV_NEW(c->arena, bool, c->old->noperands);
    c->map = c->cut->index ? c->cut->index : NNV_NEW(c->arena, uint32_t, c->old->noperands);
    c->spec = nnv_arena_copy(c->arena, from, sizeof *from);
    if (!c->made || !c->read || !c->map || !c->spec) return false;
    c->spec->name = nnv_arena_strdup(c->arena, from->name ? from->name : "");
    if (from->source) c->spec->source = nnv_arena_strdup(c->arena, from->source);
    c->spec->arithmetic = from->arithmetic;
    if (from->precision) c->spec->precision = nnv_arena_strdup(c->arena, from->precision);
    struct nnv_subgraph *m = &c->spec->model.main;
    *m = (struct nnv_subgraph){.noperands = number_operands(c)};
    m->operands = NNV_NEW(c->arena, struct nnv_operand, m->noperands);
    m->operations = NNV_NEW(c->arena, struct nnv_operation, c->old->noperations);
    m->in = NNV_NEW(c->arena, uint32_t, m->noperands);
    m->out = NNV_NEW(c->arena, uint32_t, m->noperands);
    c->spec->inputs = NNV_NEW(c->arena, struct nnv_value, m->noperands);
    c->spec->outputs = NNV_NEW(c->arena, struct nnv_value, m->noperands);
    bool ok = c->spec->name && m->operands && m->operations && m->in && m->out && c->spec->inputs && c->spec->outputs;
    for (uint32_t i = 0; i < c->old->noperands && ok; i++)
        if (c->map[i] != ABSENT) ok = make_operand(c, i);
    for (uint32_t i = 0; i < c->old->noperations && ok; i++)
        if (keeps(c, i))
            ok = copy_operation(&m->operations[m->noperations++], &c->old->operations[i], c->map, c->arena);
    return ok && make_lists(c) && make_referenced(c);
}

enum nnv_status nnv_extract(const struct nnv_known *known, const struct nnv_extraction *cut, struct nnv_arena *arena,
                            struct nnv_spec **out, struct nnv_err *err) {
    struct cutting c = {.known = known, .old = &known->spec->model.main, .cut = cut, .arena = arena};
    if (!make_spec(&c)) return nnv_no_memory(err);
    *out = c.spec;
    return NNV_OK;
}

/* ------------------------------------------------------------------ evaluating */

/** Marks the outputs whose contents are the implementation's own, also those that were no outputs before. */
static enum nnv_status mark_ignored(struct nnv_subgraph *s, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(arena, const void *, s->noperands);
    if (!shapes || !data) return nnv_no_memory(err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        shapes[i] = nnv_operand_shape(&s->operands[i]);
        data[i] = s->operands[i].data;
    }
    for (uint32_t i = 0; i < s->noperations; i++) {
        struct nnv_call *call;
        if (nnv_bind(s, &s->operations[i], shapes, data, NULL, arena, &call, NULL, NULL) != NNV_OK) continue;
        for (uint32_t k = 0; k < s->operations[i].nout; k++)
            if (nnv_out_slot(call->form, k)->flags & NNV_IGNORED) s->operands[s->operations[i].out[k]].ignored = true;
    }
    return NNV_OK;
}

/** Forgets the extents of results that were fully declared, and notes which. */
static void relax_results(struct nnv_subgraph *s, bool *relaxed) {
    for (uint32_t i = 0; i < s->noperands; i++) {
        struct nnv_operand *o = &s->operands[i];
        bool full = o->rank > 0 && nnv_producer(s, i) != ABSENT;
        for (uint32_t k = 0; k < o->rank; k++) full = full && o->dims[k] != 0;
        relaxed[i] = full;
        if (full) memset(o->dims, 0, o->rank * sizeof *o->dims);
    }
}

static enum nnv_status declare_results(struct nnv_known *k, const bool *relaxed, struct nnv_err *err) {
    struct nnv_subgraph *s = &k->spec->model.main;
    for (uint32_t i = 0; i < s->noperands; i++) {
        if (!relaxed[i]) continue;
        if (s->operands[i].rank != k->value[i].rank) return nnv_fail(err, NNV_INVALID, "operand %u: other rank", i);
        memcpy(s->operands[i].dims, k->value[i].dims, k->value[i].rank * sizeof(uint32_t));
    }
    return NNV_OK;
}

/** Evaluates all operands. */
static enum nnv_status find_values(struct nnv_known *k, struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_eval_options options = {.seed = 1, .most_runs = 1 << 14};
    struct nnv_spec *all;
    enum nnv_status st = nnv_extract(k, &(struct nnv_extraction){.all_shown = true}, arena, &all, err);
    if (st != NNV_OK) return st;
    const struct nnv_subgraph *m = &all->model.main;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, m->nout);
    if (!golden) return nnv_no_memory(err);
    st = nnv_eval(&all->model, all->inputs, &options, arena, golden, err);
    for (uint32_t i = 0; i < m->nout && st == NNV_OK; i++) k->value[m->out[i]] = golden[i].value;
    return st;
}

enum nnv_status nnv_known_make(const struct nnv_spec *spec, bool relax, struct nnv_arena *arena,
                               struct nnv_known *known, struct nnv_err *err) {
    const struct nnv_subgraph *old = &spec->model.main;
    struct nnv_spec given = *spec;
    given.actual = NULL; /* an answer to what was asked before */
    given.bounds = NULL;
    struct nnv_known k = {.spec = &given, .value = NNV_NEW(arena, struct nnv_value, old->noperands)};
    uint32_t *index = NNV_NEW(arena, uint32_t, old->noperands);
    if (!k.value || !index) return nnv_no_memory(err);
    for (uint32_t i = 0; i < old->noperands; i++) k.value[i] = (struct nnv_value){.omitted = true};
    for (uint32_t i = 0; i < old->nin; i++) k.value[old->in[i]] = spec->inputs[i];
    enum nnv_status st = nnv_extract(&k, &(struct nnv_extraction){.index = index}, arena, &k.spec, err);
    struct nnv_value *value = NNV_NEW(arena, struct nnv_value, old->noperands);
    bool *relaxed = NNV_NEW(arena, bool, old->noperands);
    if (st == NNV_OK && (!value || !relaxed)) st = nnv_no_memory(err);
    if (st != NNV_OK) return st;
    for (uint32_t i = 0; i < old->noperands; i++)
        if (index[i] != ABSENT) value[index[i]] = k.value[i];
    k.value = value;
    if (relax) relax_results(&k.spec->model.main, relaxed);
    st = nnv_validate(&k.spec->model, arena, NULL, err);
    if (st == NNV_OK) st = find_values(&k, arena, err);
    if (st == NNV_OK && relax) st = declare_results(&k, relaxed, err);
    if (st == NNV_OK) st = mark_ignored(&k.spec->model.main, arena, err);
    int level = 0;
    if (st == NNV_OK) st = nnv_validate(&k.spec->model, arena, &level, err);
    if (st != NNV_OK) return st;
    k.spec->min_version = level;
    const struct nnv_subgraph *m = &k.spec->model.main;
    for (uint32_t i = 0; i < m->nout; i++) k.spec->outputs[i] = k.value[m->out[i]];
    *known = k;
    return NNV_OK;
}

/* -------------------------------------------------------------------- counting */

static void add_extent(struct nnv_extent *e, int32_t type, size_t bytes) {
    const struct nnv_type *t = nnv_type(type);
    e->bytes += bytes;
    if (t && t->size) e->elements += bytes / t->size;
}

struct nnv_extent nnv_spec_extent(const struct nnv_spec *spec) {
    const struct nnv_model *m = &spec->model;
    struct nnv_extent e = {0};
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph *s = g == 0 ? &m->main : &m->referenced[g - 1];
        e.operations += s->noperations;
        for (uint32_t i = 0; i < s->noperands; i++)
            if (nnv_is_constant(&s->operands[i])) add_extent(&e, s->operands[i].type, s->operands[i].bytes);
    }
    for (uint32_t i = 0; i < m->main.nin; i++)
        if (!spec->inputs[i].omitted) add_extent(&e, m->main.operands[m->main.in[i]].type, spec->inputs[i].bytes);
    for (uint32_t i = 0; i < m->main.nout; i++)
        add_extent(&e, m->main.operands[m->main.out[i]].type, spec->outputs[i].bytes);
    return e;
}
