/* SPDX-License-Identifier: Apache-2.0 */
/* What all texts of a region go by: large constants in one file, equal types and equal constants with one number. */
#include "compiler/nnapi/emit/emit.h"

#include <string.h>

#include "base/map.h"
#include "base/sha256.h"
#include "base/type.h"
#include "compiler/nnapi/emit/emit_tables.h"

static uint64_t hash_of(const void *data, size_t bytes) {
    uint8_t digest[NNV_SHA256_BYTES];
    uint64_t hash;
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, data, bytes);
    nnv_sha256_end(&h, digest);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

static bool is_large(const struct nnv_operand *o) { return nnv_is_constant(o) && o->bytes > NNV_EMIT_SMALL; }

/* -------------------------------------------------------------- the file of constants */

/** What can be written at all. */
static enum nnv_status check_model(const struct nnv_emit *e, struct nnv_err *err) {
    const struct nnv_model *m = &e->converted->model;
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph *s = nnv_emit_graph(m, g);
        for (uint32_t i = 0; i < s->noperands; i++) {
            const struct nnv_operand *o = &s->operands[i];
            const bool has_size = o->lifetime != NNV_NO_VALUE && o->lifetime != NNV_SUBGRAPH;
            size_t elems, bytes;
            if (has_size && !nnv_operand_size(o, &elems, &bytes))
                return nnv_fail(err, NNV_UNSUPPORTED, "%s: operand %u: its shape is not known", e->function, i);
        }
    }
    return NNV_OK;
}

/** Where these bytes are already, or a new place behind the others. Equal bytes are found by their hash. */
struct gathering {
    struct nnv_emit_weights *out;
    struct nnv_index index; /**< of the entries, by their hashes */
    struct entry {
        const void *data;
        size_t offset, bytes;
    } * entry;
};

static size_t place_of(struct gathering *g, const void *data, size_t bytes) {
    static const char zeros[NNV_EMIT_ALIGN];
    struct nnv_text *file = &g->out->bytes;
    const uint64_t hash = hash_of(data, bytes);
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&g->index, hash, &at)) != NNV_MAP_NONE;) {
        const struct entry *e = &g->entry[k];
        if (e->bytes == bytes && memcmp(e->data, data, bytes) == 0) return e->offset;
    }
    nnv_text_add_n(file, zeros, -file->len % NNV_EMIT_ALIGN);
    const size_t offset = file->len;
    g->entry[nnv_index_add(&g->index, hash)] = (struct entry){data, offset, bytes}; /* there is room */
    nnv_text_add_n(file, data, bytes);
    return offset;
}

static size_t count_large(const struct nnv_model *m) {
    size_t n = 0;
    for (uint32_t g = 0; g <= m->nreferenced; g++)
        for (uint32_t i = 0; i < nnv_emit_graph(m, g)->noperands; i++)
            n += is_large(&nnv_emit_graph(m, g)->operands[i]);
    return n;
}

static enum nnv_status gather_one(struct gathering *g, const struct nnv_model *m, size_t r, struct nnv_arena *arena,
                                  struct nnv_err *err) {
    g->out->n_places[r] = count_large(m);
    struct nnv_emit_place *places = NNV_NEW(arena, struct nnv_emit_place, g->out->n_places[r]);
    if (!places) return nnv_no_memory(err);
    g->out->places[r] = places;
    for (uint32_t k = 0; k <= m->nreferenced; k++)
        for (uint32_t i = 0; i < nnv_emit_graph(m, k)->noperands; i++) {
            const struct nnv_operand *o = &nnv_emit_graph(m, k)->operands[i];
            if (is_large(o)) *places++ = (struct nnv_emit_place){k, i, place_of(g, o->data, o->bytes), o->bytes};
        }
    return g->out->bytes.failed ? nnv_no_memory(err) : NNV_OK;
}

enum nnv_status nnv_emit_gather(const struct nnv_emit *regions, size_t n, const char *file, struct nnv_arena *arena,
                                struct nnv_emit_weights *out, struct nnv_err *err) {
    struct nnv_emit_weights w = {
        .file = file, .places = NNV_NEW(arena, struct nnv_emit_place *, n), .n_places = NNV_NEW(arena, size_t, n)};
    struct gathering g = {.out = &w, .index.arena = arena};
    size_t constants = 0;
    enum nnv_status st = w.places && w.n_places ? NNV_OK : nnv_no_memory(err);
    for (size_t r = 0; r < n && st == NNV_OK; r++) {
        st = check_model(&regions[r], err);
        constants += count_large(&regions[r].converted->model);
    }
    g.entry = NNV_NEW(arena, struct entry, constants);
    if (st == NNV_OK && (!g.entry || !nnv_index_reserve(&g.index, constants))) st = nnv_no_memory(err);
    for (size_t r = 0; r < n && st == NNV_OK; r++) st = gather_one(&g, &regions[r].converted->model, r, arena, err);
    if (st == NNV_OK)
        *out = w;
    else
        nnv_text_free(&w.bytes);
    return st;
}

bool nnv_emit_digest(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, uint8_t digest[32]) {
    struct nnv_text json = {0};
    struct nnv_sha256 h;
    nnv_emit_json(regions, r, w, &json);
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, json.data, json.len);
    for (size_t i = 0; i < w->n_places[r]; i++) {
        const struct nnv_emit_place *place = &w->places[r][i];
        const struct nnv_operand *o =
            &nnv_emit_graph(&regions[r].converted->model, place->graph)->operands[place->operand];
        nnv_sha256_add(&h, o->data, o->bytes);
    }
    nnv_sha256_end(&h, digest);
    const bool ok = !json.failed;
    nnv_text_free(&json);
    return ok;
}

/* -------------------------------------------------------------------------- numbers */

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
static uint64_t type_hash(const struct nnv_operand *o) { return hash_of(o->dims, o->rank * sizeof *o->dims); }
static uint64_t constant_hash(const struct nnv_operand *o) { return hash_of(o->data, o->bytes); }

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
