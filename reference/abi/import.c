/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/abi/import.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/model/validate.h"

enum { MAX_OPERANDS = 1 << 22, MAX_POOLS = 1 << 12, MAX_SUBGRAPHS = 1 << 10, MAX_EXTENSIONS = 1 << 10 };

/* ------------------------------------------------------------------- pools */

/** The file has all of the pool: reading behind its end would kill the process. */
static bool file_holds(const struct nnvts_memory *m) {
    struct stat file;
    if (m->fd < 0 || fstat(m->fd, &file) != 0 || m->offset > INT64_MAX / 2) return false;
    return !S_ISREG(file.st_mode) || m->offset + m->size <= (uint64_t)file.st_size;
}

static enum nnvts_status map_one(const struct nnvts_memory *m, struct ref_pool *out) {
    if (m->kind == NNVTS_MEMORY_DEVICE && m->token) {
        out->token = m->token;
        return NNVTS_STATUS_NONE;
    }
    if (m->kind != NNVTS_MEMORY_SHARED || m->size > SIZE_MAX / 2) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->size = (size_t)m->size;
    out->prot = m->prot;
    out->data = m->data;
    if (m->data || m->size == 0) return NNVTS_STATUS_NONE;
    int prot = ((m->prot & NNVTS_PROT_READ) ? PROT_READ : 0) | ((m->prot & NNVTS_PROT_WRITE) ? PROT_WRITE : 0);
    void *p = !file_holds(m) ? MAP_FAILED : mmap(NULL, out->size, prot, MAP_SHARED, m->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->data = out->mapped = p;
    out->mapped_bytes = out->size;
    return NNVTS_STATUS_NONE;
}

enum nnvts_status ref_map(const struct nnvts_memory *pools, uint32_t count, struct nnv_arena *arena,
                          struct ref_pools *out) {
    if (count > MAX_POOLS || (count && !pools)) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct ref_pools p = {NNV_NEW(arena, struct ref_pool, count), 0};
    if (!p.item) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (; p.count < count; p.count++) {
        enum nnvts_status st = map_one(&pools[p.count], &p.item[p.count]);
        if (st == NNVTS_STATUS_NONE) continue;
        ref_unmap(&p);
        return st;
    }
    *out = p;
    return NNVTS_STATUS_NONE;
}

void ref_unmap(struct ref_pools *pools) {
    for (uint32_t i = 0; i < pools->count; i++)
        if (pools->item[i].mapped) munmap(pools->item[i].mapped, pools->item[i].mapped_bytes);
    pools->count = 0;
}

static bool fits(const struct nnvts_location *l, size_t size) {
    return (uint64_t)l->offset + l->length + l->padding <= size;
}

bool ref_is_nowhere(const struct nnvts_location *l) {
    return l->pool == 0 && l->offset == 0 && l->length == 0 && l->padding == 0;
}

uint8_t *ref_at(const struct ref_pools *pools, const struct nnvts_location *location, uint32_t prot) {
    static uint8_t nothing;
    if (location->pool >= pools->count) return NULL;
    const struct ref_pool *p = &pools->item[location->pool];
    if (p->token || !fits(location, p->size) || (p->prot & prot) != prot) return NULL;
    return p->data ? p->data + location->offset : &nothing;
}

/* ------------------------------------------------------------------- models */

/** An import that goes on. */
struct import {
    const struct nnvts_model *from;
    struct nnv_arena *arena;
    struct ref_pools pools;
    bool extension; /**< it uses one */
};

/** A copy of n indices, each below limit. */
static enum nnvts_status take_indices(struct import *m, const uint32_t *from, uint32_t n, uint32_t limit,
                                      uint32_t **out) {
    if (n > MAX_OPERANDS || (n && !from)) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < n; i++)
        if (from[i] >= limit) return NNVTS_STATUS_INVALID_ARGUMENT;
    *out = nnv_arena_copy(m->arena, from, n * sizeof *from);
    return *out ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/** Each extension has a name and a prefix of its own. */
static bool check_extensions(const struct nnvts_model *m) {
    if (m->extension_count > MAX_EXTENSIONS || (m->extension_count && !m->extensions)) return false;
    for (uint32_t i = 0; i < m->extension_count; i++) {
        const struct nnvts_extension_prefix *e = &m->extensions[i];
        if (!e->name || !e->name[0] || e->prefix == 0) return false;
        for (uint32_t k = 0; k < i; k++)
            if (m->extensions[k].prefix == e->prefix) return false;
    }
    return true;
}

/** Notes a code of an extension. False if the model does not announce the extension. */
static bool take_code(struct import *m, int32_t code) {
    if (ref_is_core(code)) return true;
    m->extension = true;
    if (code < 0) return false;
    for (uint32_t i = 0; i < m->from->extension_count; i++)
        if (m->from->extensions[i].prefix == code >> 16) return true;
    return false;
}

static const uint8_t *copied_value(const struct nnvts_model *model, const struct nnvts_location *at) {
    if (at->pool != 0 || !fits(at, model->operand_values_bytes)) return NULL;
    if (model->operand_values_bytes == 0) return (const uint8_t *)"";
    return model->operand_values ? (const uint8_t *)model->operand_values + at->offset : NULL;
}

const uint8_t *ref_constant(const struct nnvts_model *model, const struct nnvts_operand *o) {
    struct nnvts_location at = o->location;
    if (o->lifetime == NNVTS_CONSTANT_COPY) return copied_value(model, &at);
    if (o->lifetime != NNVTS_CONSTANT_REFERENCE || at.pool >= model->pool_count) return NULL;
    const struct nnvts_memory *m = &model->pools[at.pool];
    if (m->kind != NNVTS_MEMORY_SHARED || !m->data || m->size > SIZE_MAX / 2) return NULL;
    struct ref_pool pool = {.data = m->data, .size = (size_t)m->size, .prot = m->prot};
    at.pool = 0;
    return ref_at(&(struct ref_pools){&pool, 1}, &at, NNVTS_PROT_READ);
}

static enum nnvts_status take_constant(struct import *m, const struct nnvts_operand *from, struct nnv_operand *out) {
    const uint8_t *value = from->lifetime == NNVTS_CONSTANT_REFERENCE
                               ? ref_at(&m->pools, &from->location, NNVTS_PROT_READ)
                               : copied_value(m->from, &from->location);
    if (!value) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->bytes = from->location.length;
    out->data = nnv_arena_copy(m->arena, value, out->bytes);
    return out->data ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static enum nnvts_status take_scales(struct import *m, const struct nnvts_channel_quant *from,
                                     struct nnv_channel_quant *out) {
    if (from->scale_count > MAX_OPERANDS || (from->scale_count && !from->scales)) return NNVTS_STATUS_INVALID_ARGUMENT;
    out->dim = from->channel_dim;
    out->count = from->scale_count;
    out->scales = nnv_arena_copy(m->arena, from->scales, from->scale_count * sizeof(float));
    return out->scales ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/** What only some operands have is absent from the others. */
static bool has_no_more(const struct nnvts_operand *o) {
    const bool constant = o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
    const bool extension = o->type > 0xffff;
    struct nnvts_location rest = o->location;
    if (o->lifetime == NNVTS_SUBGRAPH) rest.offset = 0;
    return (constant || ref_is_nowhere(&rest)) && (extension || (!o->extension_data && !o->extension_data_bytes));
}

static enum nnvts_status take_operand(struct import *m, const struct nnvts_operand *from, struct nnv_operand *out) {
    if (!has_no_more(from) || !take_code(m, from->type) || from->lifetime >= NNV_LIFETIME_COUNT ||
        from->dimension_count > NNV_MAX_RANK || (from->dimension_count && !from->dimensions))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (ref_is_core(from->type) && (from->extension_data || from->extension_data_bytes))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    out->type = from->type;
    out->rank = from->dimension_count;
    out->dims = nnv_arena_copy(m->arena, from->dimensions, from->dimension_count * sizeof(uint32_t));
    out->scale = from->scale;
    out->zero_point = from->zero_point;
    out->lifetime = (enum nnv_lifetime)from->lifetime;
    if (!out->dims) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (out->lifetime == NNV_SUBGRAPH) {
        if (from->location.offset >= m->from->referenced_count) return NNVTS_STATUS_INVALID_ARGUMENT;
        out->subgraph = from->location.offset;
    }
    enum nnvts_status st = take_scales(m, &from->channel_quant, &out->channel);
    return st == NNVTS_STATUS_NONE && nnv_is_constant(out) ? take_constant(m, from, out) : st;
}

static enum nnvts_status take_subgraph(struct import *m, const struct nnvts_subgraph *from, struct nnv_subgraph *out) {
    uint32_t n = from->operand_count;
    if (n > MAX_OPERANDS || from->operation_count > MAX_OPERANDS || (n && !from->operands) ||
        (from->operation_count && !from->operations))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    out->operands = NNV_NEW(m->arena, struct nnv_operand, n);
    out->operations = NNV_NEW(m->arena, struct nnv_operation, from->operation_count);
    if (!out->operands || !out->operations) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    out->noperands = n;
    out->noperations = from->operation_count;
    out->nin = from->input_count;
    out->nout = from->output_count;
    enum nnvts_status st = take_indices(m, from->inputs, out->nin, n, &out->in);
    if (st == NNVTS_STATUS_NONE) st = take_indices(m, from->outputs, out->nout, n, &out->out);
    for (uint32_t i = 0; i < n && st == NNVTS_STATUS_NONE; i++)
        st = take_operand(m, &from->operands[i], &out->operands[i]);
    for (uint32_t i = 0; i < out->noperations && st == NNVTS_STATUS_NONE; i++) {
        const struct nnvts_operation *op = &from->operations[i];
        struct nnv_operation *to = &out->operations[i];
        *to = (struct nnv_operation){.type = op->type, .nin = op->input_count, .nout = op->output_count};
        if (!take_code(m, op->type)) return NNVTS_STATUS_INVALID_ARGUMENT;
        st = take_indices(m, op->inputs, to->nin, n, &to->in);
        if (st == NNVTS_STATUS_NONE) st = take_indices(m, op->outputs, to->nout, n, &to->out);
    }
    return st;
}

static enum nnvts_status take_model(struct import *m, struct nnv_model *out) {
    uint32_t n = m->from->referenced_count;
    if (n > MAX_SUBGRAPHS || (n && !m->from->referenced) || (m->from->extension_count && !m->from->extensions))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    out->referenced = NNV_NEW(m->arena, struct nnv_subgraph, n);
    if (!out->referenced) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    out->nreferenced = n;
    out->relaxed = m->from->relax_float32_to_float16;
    enum nnvts_status st = take_subgraph(m, &m->from->main, &out->main);
    for (uint32_t i = 0; i < n && st == NNVTS_STATUS_NONE; i++)
        st = take_subgraph(m, &m->from->referenced[i], &out->referenced[i]);
    return st;
}

bool ref_uses_extension(const struct nnv_subgraph *s, const struct nnv_operation *op) {
    bool core = ref_is_core(op->type);
    for (uint32_t i = 0; i < op->nin; i++) core = core && ref_is_core(s->operands[op->in[i]].type);
    for (uint32_t i = 0; i < op->nout; i++) core = core && ref_is_core(s->operands[op->out[i]].type);
    return !core;
}

/**
 * Of a model with extensions what can be checked without knowing them: its core operations, each by itself.
 * NNV_UNSUPPORTED if nothing is wrong.
 */
static enum nnv_status check_known(const struct nnv_subgraph *s, struct nnv_arena *arena) {
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(arena, const void *, s->noperands);
    if (!shapes || !data) return NNV_NO_MEMORY;
    for (uint32_t i = 0; i < s->noperands; i++) {
        int level;
        if (!ref_is_core(s->operands[i].type)) continue;
        enum nnv_status st = nnv_operand_check(&s->operands[i], &level, NULL);
        if (st) return st;
        shapes[i] = nnv_operand_shape(&s->operands[i]);
        data[i] = s->operands[i].data;
    }
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        struct nnv_call *call;
        if (ref_uses_extension(s, op) || !nnv_op(op->type)) continue;
        enum nnv_status st = nnv_bind(s, op, shapes, data, NULL, arena, &call, NULL, NULL);
        if (st) return st;
    }
    return NNV_UNSUPPORTED;
}

enum nnvts_status ref_copy(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model **out,
                           bool *extension) {
    struct import m = {.from = model, .arena = arena};
    struct nnv_model *copy = NNV_NEW(arena, struct nnv_model, 1);
    if (!model || !check_extensions(model)) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!copy) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = ref_map(model->pools, model->pool_count, arena, &m.pools);
    if (st != NNVTS_STATUS_NONE) return st;
    for (uint32_t i = 0; i < m.pools.count; i++)
        if (m.pools.item[i].token) st = NNVTS_STATUS_INVALID_ARGUMENT; /* a model's constants are in no buffer */
    if (st == NNVTS_STATUS_NONE) st = take_model(&m, copy);
    ref_unmap(&m.pools);
    if (st != NNVTS_STATUS_NONE) return st;
    *out = copy;
    *extension = m.extension;
    return st;
}

enum nnvts_status ref_import(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model **out) {
    bool extension;
    enum nnvts_status st = ref_copy(model, arena, out, &extension);
    if (st != NNVTS_STATUS_NONE) return st;
    switch (extension ? check_known(&(*out)->main, arena) : nnv_validate(*out, arena, NULL, NULL)) {
    case NNV_OK:
        return NNVTS_STATUS_NONE;
    case NNV_UNSUPPORTED:
        return NNVTS_STATUS_GENERAL_FAILURE;
    case NNV_NO_MEMORY:
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    case NNV_INVALID:
    case NNV_IO:
    case NNV_INTERNAL:
    case NNV_TIMEOUT:
        break;
    }
    return NNVTS_STATUS_INVALID_ARGUMENT;
}
