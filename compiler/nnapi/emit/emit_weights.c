/* SPDX-License-Identifier: Apache-2.0 */
/* Large constants of all regions in one file, equal ones once. */
#include "compiler/nnapi/emit/emit_weights.h"

#include <string.h>

#include "base/map.h"
#include "base/sha256.h"

uint64_t nnv_emit_hash(const void *data, size_t bytes) {
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
    const uint64_t hash = nnv_emit_hash(data, bytes);
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
