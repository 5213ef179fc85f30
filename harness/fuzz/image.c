/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "harness/client/abi.h"
#include "harness/client/memory.h"

enum { POISON_SALT = 7 };

/** An allocation; malloc'ed apart from its memory, so that the memory has its own bounds. */
struct nnv_fuzz_block {
    struct nnv_fuzz_block *next;
    void *data;
};

void *nnv_fuzz_alloc(struct nnv_fuzz_image *m, size_t bytes) {
    struct nnv_fuzz_block *b = malloc(sizeof *b);
    void *data = calloc(1, bytes ? bytes : 1);
    if (b == NULL || data == NULL) {
        free(b);
        free(data);
        m->failed = true;
        return NULL;
    }
    *b = (struct nnv_fuzz_block){m->blocks, data};
    m->blocks = b;
    return data;
}

void *nnv_fuzz_resize(struct nnv_fuzz_image *m, const void *list, uint32_t count, uint32_t to, size_t size) {
    uint8_t *data = nnv_fuzz_alloc(m, (size_t)to * size);
    uint32_t kept = count < to ? count : to;
    if (data == NULL) return NULL;
    if (kept) memcpy(data, list, kept * size);
    for (uint32_t i = count; count && i < to; i++) memcpy(data + i * size, data + (count - 1) * size, size);
    return data;
}

static void *duplicate(struct nnv_fuzz_image *m, const void *list, uint32_t count, size_t size) {
    return nnv_fuzz_resize(m, list, count, count, size);
}

static uint8_t *region(const struct nnv_fuzz_image *m, enum nnv_fuzz_region r) {
    return m->memory + (size_t)r * NNV_REGION_BYTES;
}

static struct nnvts_memory pool_of(const struct nnv_fuzz_image *m, enum nnv_fuzz_region r, uint32_t prot) {
    return (struct nnvts_memory){
        .prot = prot, .fd = m->fd, .offset = (uint64_t)r * NNV_REGION_BYTES, .size = m->used[r], .data = region(m, r)};
}

/* ------------------------------------------------------------------- models */

/** Gives a rendered subgraph lists of its own. */
static void own_subgraph(struct nnv_fuzz_image *m, struct nnvts_subgraph *s) {
    struct nnvts_operand *operands = duplicate(m, s->operands, s->operand_count, sizeof *operands);
    struct nnvts_operation *operations = duplicate(m, s->operations, s->operation_count, sizeof *operations);
    if (m->failed) return;
    for (uint32_t i = 0; i < s->operand_count; i++) {
        struct nnvts_operand *o = &operands[i];
        o->dimensions = duplicate(m, o->dimensions, o->dimension_count, sizeof *o->dimensions);
        o->channel_quant.scales = duplicate(m, o->channel_quant.scales, o->channel_quant.scale_count, sizeof(float));
    }
    for (uint32_t i = 0; i < s->operation_count; i++) {
        struct nnvts_operation *op = &operations[i];
        op->inputs = duplicate(m, op->inputs, op->input_count, sizeof *op->inputs);
        op->outputs = duplicate(m, op->outputs, op->output_count, sizeof *op->outputs);
    }
    s->operands = operands;
    s->operations = operations;
    s->inputs = duplicate(m, s->inputs, s->input_count, sizeof *s->inputs);
    s->outputs = duplicate(m, s->outputs, s->output_count, sizeof *s->outputs);
}

/** Renders a spec's model into lists of the image, its pooled constants into a region. */
static enum nnv_status render(struct nnv_fuzz_image *m, const struct nnv_spec *spec, enum nnv_fuzz_region r,
                              struct nnvts_model *out, struct nnv_err *err) {
    size_t bytes = nnv_abi_pool_bytes(&spec->model);
    if (bytes > NNV_REGION_BYTES) return nnv_fail(err, NNV_UNSUPPORTED, "constants of %zu bytes", bytes);
    m->used[r] = bytes;
    struct nnvts_memory pool = pool_of(m, r, NNVTS_PROT_READ);
    enum nnv_status st = nnv_abi_model_at(&spec->model, m->arena, &pool, region(m, r), out, err);
    if (st != NNV_OK) return st;
    own_subgraph(m, &out->main);
    struct nnvts_subgraph *referenced = duplicate(m, out->referenced, out->referenced_count, sizeof *referenced);
    for (uint32_t i = 0; !m->failed && i < out->referenced_count; i++) own_subgraph(m, &referenced[i]);
    out->referenced = referenced;
    out->operand_values = duplicate(m, out->operand_values, out->operand_values_bytes, 1);
    out->pools = duplicate(m, out->pools, out->pool_count, sizeof *out->pools);
    return m->failed ? nnv_no_memory(err) : NNV_OK;
}

enum nnv_status nnv_fuzz_image_begin(struct nnv_fuzz_image *m, struct nnv_client *client, const struct nnv_spec *spec,
                                     struct nnv_arena *arena, struct nnv_err *err) {
    *m = (struct nnv_fuzz_image){
        .spec = spec,
        .arena = arena,
        .prepare = {ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, NNVTS_PRIORITY_MEDIUM, NNVTS_NO_TIME, NULL},
        .execution = {.deadline_ns = NNVTS_NO_TIME, .loop_timeout_ns = 20000000},
        .shape_room = NNV_MAX_RANK,
    };
    enum nnv_status st = nnv_client_memory_get(client, (size_t)NNV_REGIONS * NNV_REGION_BYTES, &m->memory, &m->fd, err);
    if (st == NNV_OK) st = render(m, spec, NNV_REGION_CONSTANTS, &m->model, err);
    m->values_bytes = m->model.operand_values_bytes;
    return st;
}

void nnv_fuzz_image_end(struct nnv_fuzz_image *m) {
    while (m->blocks != NULL) {
        struct nnv_fuzz_block *b = m->blocks;
        m->blocks = b->next;
        free(b->data);
        free(b);
    }
}

struct nnvts_subgraph *nnv_fuzz_subgraph(struct nnv_fuzz_image *m, uint32_t i) {
    i %= m->model.referenced_count + 1;
    return i == 0 ? &m->model.main : &nnv_fuzz_own(struct nnvts_subgraph, m->model.referenced)[i - 1];
}

/* ------------------------------------------------------------------ splicing */

/** By how much the numbers in a second model grow when it is appended. */
struct shift {
    uint32_t operands, values, pools, referenced;
};

static void shift_operands(const struct nnvts_subgraph *s, const struct shift *by) {
    struct nnvts_operand *operands = nnv_fuzz_own(struct nnvts_operand, s->operands);
    for (uint32_t i = 0; i < s->operand_count; i++) {
        struct nnvts_operand *o = &operands[i];
        if (o->lifetime == NNVTS_CONSTANT_COPY) o->location.offset += by->values;
        if (o->lifetime == NNVTS_CONSTANT_REFERENCE) o->location.pool += by->pools;
        if (o->lifetime == NNVTS_SUBGRAPH) o->location.offset += by->referenced;
    }
}

static void shift_indices(const uint32_t *list, uint32_t n, uint32_t by) {
    for (uint32_t i = 0; i < n; i++) nnv_fuzz_own(uint32_t, list)[i] += by;
}

static void *joined(struct nnv_fuzz_image *m, const void *a, uint32_t na, const void *b, uint32_t nb, size_t size) {
    uint8_t *list = nnv_fuzz_resize(m, a, na, na + nb, size);
    if (list != NULL && nb) memcpy(list + na * size, b, nb * size);
    return list;
}

static void join_main(struct nnv_fuzz_image *m, const struct nnvts_subgraph *b) {
    struct nnvts_subgraph *a = &m->model.main;
    uint32_t by = a->operand_count;
    for (uint32_t i = 0; i < b->operation_count; i++) {
        shift_indices(b->operations[i].inputs, b->operations[i].input_count, by);
        shift_indices(b->operations[i].outputs, b->operations[i].output_count, by);
    }
    shift_indices(b->inputs, b->input_count, by);
    shift_indices(b->outputs, b->output_count, by);
    uint32_t from = a->output_count ? a->outputs[0] : 0, to = b->input_count ? b->inputs[0] : 0;
    for (uint32_t i = 0; b->input_count && a->output_count && i < b->operation_count; i++)
        for (uint32_t k = 0; k < b->operations[i].input_count; k++)
            if (b->operations[i].inputs[k] == to) nnv_fuzz_own(uint32_t, b->operations[i].inputs)[k] = from;
    a->operands = joined(m, a->operands, a->operand_count, b->operands, b->operand_count, sizeof *a->operands);
    a->operations =
        joined(m, a->operations, a->operation_count, b->operations, b->operation_count, sizeof *a->operations);
    a->inputs = joined(m, a->inputs, a->input_count, b->inputs, b->input_count, sizeof *a->inputs);
    a->outputs = joined(m, a->outputs, a->output_count, b->outputs, b->output_count, sizeof *a->outputs);
    a->operand_count += b->operand_count;
    a->operation_count += b->operation_count;
    a->input_count += b->input_count;
    a->output_count += b->output_count;
}

void nnv_fuzz_splice(struct nnv_fuzz_image *m, const struct nnv_spec *second) {
    struct nnvts_model *a = &m->model, b = {0};
    struct nnv_err err = {0};
    if (m->used[NNV_REGION_SECOND] || render(m, second, NNV_REGION_SECOND, &b, &err) != NNV_OK) return;
    struct shift by = {a->main.operand_count, a->operand_values_bytes, a->pool_count, a->referenced_count};
    shift_operands(&b.main, &by);
    for (uint32_t i = 0; i < b.referenced_count; i++) shift_operands(&b.referenced[i], &by);
    join_main(m, &b.main);
    a->operand_values =
        joined(m, a->operand_values, a->operand_values_bytes, b.operand_values, b.operand_values_bytes, 1);
    a->pools = joined(m, a->pools, a->pool_count, b.pools, b.pool_count, sizeof *a->pools);
    a->referenced =
        joined(m, a->referenced, a->referenced_count, b.referenced, b.referenced_count, sizeof *a->referenced);
    a->operand_values_bytes += b.operand_values_bytes;
    a->pool_count += b.pool_count;
    a->referenced_count += b.referenced_count;
    m->values_bytes = a->operand_values_bytes;
}

/* ------------------------------------------------------------------- request */

static const struct nnvts_operand *operand_at(const struct nnv_fuzz_image *m, const uint32_t *list, uint32_t i) {
    return list[i] < m->model.main.operand_count ? &m->model.main.operands[list[i]] : NULL;
}

/** Bytes of an operand's value if all extents are known and it is small enough. */
static bool known_bytes(const struct nnvts_operand *o, size_t *bytes) {
    size_t elems;
    if (o == NULL || nnv_type(o->type) == NULL || o->dimension_count > NNV_MAX_RANK) return false;
    for (uint32_t i = 0; i < o->dimension_count; i++)
        if (o->dimensions[i] == 0) return false;
    return nnv_size_bytes(o->type, o->dimension_count, o->dimensions, &elems, bytes) &&
           *bytes <= NNV_REGION_BYTES / 16 && !(o->dimension_count == 0 && nnv_type(o->type)->tensor);
}

/** Lays out an argument; value (may be NULL) is the base's, and says shape and size where the model does not. */
static void put(struct nnv_fuzz_image *m, enum nnv_fuzz_region r, const struct nnvts_operand *o,
                const struct nnv_value *value, struct nnvts_argument *a) {
    if (value != NULL && value->omitted) {
        a->has_no_value = true;
        return;
    }
    size_t bytes = value != NULL ? value->bytes : 16;
    bool known = known_bytes(o, &bytes);
    size_t room = nnv_guard_room(bytes);
    if (room > NNV_REGION_BYTES - m->used[r]) room = nnv_guard_room(bytes = 0);
    if (room > NNV_REGION_BYTES - m->used[r]) return;
    uint8_t *data = nnv_guard_init(region(m, r) + m->used[r], bytes, POISON_SALT);
    m->used[r] += room;
    a->location = (struct nnvts_location){
        .pool = r == NNV_REGION_OUTPUTS, .offset = (uint32_t)(data - region(m, r)), .length = (uint32_t)bytes};
    if (r == NNV_REGION_OUTPUTS) return;
    for (size_t i = 0; i < bytes; i++)
        data[i] = value != NULL && value->bytes ? ((const uint8_t *)value->data)[i % value->bytes] : 0;
    if (known || value == NULL || o == NULL) return;
    a->dimension_count = value->rank;
    a->dimensions = duplicate(m, value->dims, value->rank, sizeof *a->dimensions);
}

void nnv_fuzz_image_request(struct nnv_fuzz_image *m) {
    const struct nnvts_subgraph *s = &m->model.main;
    const struct nnv_subgraph *base = &m->spec->model.main;
    struct nnvts_argument *inputs = nnv_fuzz_alloc(m, s->input_count * sizeof *inputs);
    struct nnvts_argument *outputs = nnv_fuzz_alloc(m, s->output_count * sizeof *outputs);
    struct nnvts_memory *pools = nnv_fuzz_alloc(m, 2 * sizeof *pools);
    if (m->failed) return;
    for (uint32_t i = 0; i < s->input_count; i++)
        put(m, NNV_REGION_INPUTS, operand_at(m, s->inputs, i), i < base->nin ? &m->spec->inputs[i] : NULL, &inputs[i]);
    for (uint32_t i = 0; i < s->output_count; i++)
        put(m, NNV_REGION_OUTPUTS, operand_at(m, s->outputs, i), i < base->nout ? &m->spec->outputs[i] : NULL,
            &outputs[i]);
    pools[0] = pool_of(m, NNV_REGION_INPUTS, NNVTS_PROT_READ);
    pools[1] = pool_of(m, NNV_REGION_OUTPUTS, NNVTS_PROT_READ | NNVTS_PROT_WRITE);
    m->request = (struct nnvts_request){s->input_count, s->output_count, 2, inputs, outputs, pools};
}

/* -------------------------------------------------------------- what changed */

void nnv_fuzz_image_remember(struct nnv_fuzz_image *m) {
    size_t bytes = m->values_bytes, at = 0;
    for (int r = 0; r < NNV_REGIONS; r++) bytes += m->used[r];
    m->copy = nnv_fuzz_alloc(m, bytes);
    if (m->copy == NULL) return;
    for (int r = 0; r < NNV_REGIONS; at += m->used[r++])
        memcpy(m->copy + at, region(m, (enum nnv_fuzz_region)r), m->used[r]);
    memcpy(m->copy + at, m->model.operand_values, m->values_bytes);
}

/** Where the copy of an address of the regions lies; *room: how much of it follows. NULL: not remembered. */
static uint8_t *copy_of(const struct nnv_fuzz_image *m, const uint8_t *address, size_t *room) {
    size_t at = 0;
    for (int r = 0; r < NNV_REGIONS; at += m->used[r++]) {
        const uint8_t *begin = region(m, (enum nnv_fuzz_region)r);
        if (address < begin || address >= begin + m->used[r]) continue;
        *room = (size_t)(begin + m->used[r] - address);
        return m->copy + at + (address - begin);
    }
    return NULL;
}

void nnv_fuzz_image_forgive_outputs(struct nnv_fuzz_image *m) {
    for (uint32_t i = 0; i < m->request.output_count; i++) {
        const struct nnvts_argument *a = &m->request.outputs[i];
        if (a->has_no_value || a->location.pool >= m->request.pool_count) continue;
        const struct nnvts_memory *pool = &m->request.pools[a->location.pool];
        uint64_t length = (uint64_t)a->location.length + a->location.padding;
        if (!(pool->prot & NNVTS_PROT_WRITE) || a->location.offset >= pool->size) continue;
        if (length > pool->size - a->location.offset) length = pool->size - a->location.offset;
        const uint8_t *data = m->memory + pool->offset + a->location.offset; /* a pool begins where its region does */
        size_t room = 0;
        uint8_t *copy = copy_of(m, data, &room);
        if (copy != NULL) memcpy(copy, data, length < room ? (size_t)length : room);
    }
}

const char *nnv_fuzz_image_changed(const struct nnv_fuzz_image *m) {
    static const char *const names[] = {"constants", "constants", "inputs", "memory outside the outputs"};
    size_t at = 0;
    for (int r = 0; r < NNV_REGIONS; at += m->used[r++])
        if (memcmp(m->copy + at, region(m, (enum nnv_fuzz_region)r), m->used[r]) != 0) return names[r];
    return memcmp(m->copy + at, m->model.operand_values, m->values_bytes) != 0 ? "the copied constants" : NULL;
}
