/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_ALIGN = 64 };

/* --------------------------------------------------------------------- writing */

void cpu_bytes_free(struct cpu_bytes *bytes) {
    free(bytes->data);
    *bytes = (struct cpu_bytes){0};
}

/** size more bytes, or NULL. */
static uint8_t *grow(struct cpu_bytes *b, size_t size) {
    if (b->failed || size > SIZE_MAX / 4 - b->size) {
        b->failed = true;
        return NULL;
    }
    if (b->room - b->size < size) {
        const size_t room = (b->size + size) * 2;
        uint8_t *grown = realloc(b->data, room);
        if (!grown) {
            b->failed = true;
            return NULL;
        }
        b->data = grown;
        b->room = room;
    }
    b->size += size;
    return b->data + b->size - size;
}

static void put(struct cpu_bytes *b, const void *data, size_t size) {
    uint8_t *to = grow(b, size);
    if (to && size) memcpy(to, data, size);
}

static void put_u32(struct cpu_bytes *b, uint32_t value) { put(b, &value, sizeof value); }

static void put_list(struct cpu_bytes *b, const uint32_t *list, uint32_t count) {
    put_u32(b, count);
    put(b, list, count * sizeof *list);
}

/** Appends the value, aligned; its offset. */
static uint32_t put_value(struct cpu_bytes *values, const void *data, size_t size) {
    const size_t gap = (VALUE_ALIGN - values->size % VALUE_ALIGN) % VALUE_ALIGN;
    uint8_t *to = grow(values, gap + size);
    if (!to) return 0;
    memset(to, 0, gap);
    if (size) memcpy(to + gap, data, size);
    if (values->size > UINT32_MAX) values->failed = true;
    return (uint32_t)(values->size - size);
}

struct packing {
    const struct nnvts_model *model;
    const uint8_t *const *pools;
    struct cpu_bytes *structure, *values;
};

static void put_operand(const struct packing *p, const struct nnvts_operand *o) {
    struct nnvts_location at = o->location;
    uint32_t lifetime = o->lifetime;
    if (lifetime == NNVTS_CONSTANT_COPY || lifetime == NNVTS_CONSTANT_REFERENCE) {
        const uint8_t *from = lifetime == NNVTS_CONSTANT_COPY ? p->model->operand_values : p->pools[at.pool];
        at = (struct nnvts_location){.offset = put_value(p->values, from + at.offset, at.length), .length = at.length};
        lifetime = NNVTS_CONSTANT_COPY;
    }
    put(p->structure, &o->type, sizeof o->type);
    put(p->structure, &o->scale, sizeof o->scale);
    put(p->structure, &o->zero_point, sizeof o->zero_point);
    put_u32(p->structure, lifetime);
    put_u32(p->structure, at.offset);
    put_u32(p->structure, at.length);
    put_list(p->structure, o->dimensions, o->dimension_count);
    put_u32(p->structure, o->channel_quant.channel_dim);
    put_u32(p->structure, o->channel_quant.scale_count);
    put(p->structure, o->channel_quant.scales, o->channel_quant.scale_count * sizeof(float));
}

static void put_subgraph(const struct packing *p, const struct nnvts_subgraph *g) {
    put_u32(p->structure, g->operand_count);
    for (uint32_t i = 0; i < g->operand_count; i++) put_operand(p, &g->operands[i]);
    put_u32(p->structure, g->operation_count);
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        put(p->structure, &op->type, sizeof op->type);
        put_list(p->structure, op->inputs, op->input_count);
        put_list(p->structure, op->outputs, op->output_count);
    }
    put_list(p->structure, g->inputs, g->input_count);
    put_list(p->structure, g->outputs, g->output_count);
}

bool cpu_pack(const struct nnvts_model *model, const uint8_t *const *pools, struct cpu_bytes *structure,
              struct cpu_bytes *values) {
    const struct packing p = {model, pools, structure, values};
    put_u32(structure, model->relax_float32_to_float16);
    put_u32(structure, model->referenced_count);
    put_subgraph(&p, &model->main);
    for (uint32_t i = 0; i < model->referenced_count; i++) put_subgraph(&p, &model->referenced[i]);
    return !structure->failed && !values->failed;
}

/* --------------------------------------------------------------------- reading */

struct unpacking {
    const uint8_t *at;
    size_t left;
    struct cpu_arena *arena;
    bool failed;
};

/** The next size bytes; zeros (and failed set) if there are not so many. */
static void take(struct unpacking *u, void *to, size_t size) {
    if (u->failed || size > u->left) {
        u->failed = true;
        memset(to, 0, size);
        return;
    }
    memcpy(to, u->at, size);
    u->at += size;
    u->left -= size;
}

static uint32_t take_u32(struct unpacking *u) {
    uint32_t value;
    take(u, &value, sizeof value);
    return value;
}

/** A number of things of which each takes at least size bytes; 0 if that can't be. */
static uint32_t take_count(struct unpacking *u, size_t size) {
    const uint32_t count = take_u32(u);
    if (count <= u->left / size) return count;
    u->failed = true;
    return 0;
}

/** An array of count elements of 4 bytes. */
static void *take_words(struct unpacking *u, uint32_t count) {
    void *words = cpu_arena_array(u->arena, count, sizeof(uint32_t));
    if (words)
        take(u, words, count * sizeof(uint32_t));
    else
        u->failed = true;
    return words;
}

static const uint32_t *take_list(struct unpacking *u, uint32_t *count) {
    *count = take_count(u, sizeof(uint32_t));
    return take_words(u, *count);
}

static void take_operand(struct unpacking *u, struct nnvts_operand *o) {
    take(u, &o->type, sizeof o->type);
    take(u, &o->scale, sizeof o->scale);
    take(u, &o->zero_point, sizeof o->zero_point);
    o->lifetime = take_u32(u);
    o->location.offset = take_u32(u);
    o->location.length = take_u32(u);
    o->dimensions = take_list(u, &o->dimension_count);
    o->channel_quant.channel_dim = take_u32(u);
    o->channel_quant.scale_count = take_count(u, sizeof(float));
    o->channel_quant.scales = take_words(u, o->channel_quant.scale_count);
}

static void take_operation(struct unpacking *u, struct nnvts_operation *op) {
    take(u, &op->type, sizeof op->type);
    op->inputs = take_list(u, &op->input_count);
    op->outputs = take_list(u, &op->output_count);
}

static void take_subgraph(struct unpacking *u, struct nnvts_subgraph *g) {
    enum { OPERAND_BYTES = 36, OPERATION_BYTES = 12 }; /* at least */
    g->operand_count = take_count(u, OPERAND_BYTES);
    struct nnvts_operand *operands = cpu_arena_array(u->arena, g->operand_count, sizeof *operands);
    for (uint32_t i = 0; operands && i < g->operand_count && !u->failed; i++) take_operand(u, &operands[i]);
    g->operation_count = take_count(u, OPERATION_BYTES);
    struct nnvts_operation *operations = cpu_arena_array(u->arena, g->operation_count, sizeof *operations);
    for (uint32_t i = 0; operations && i < g->operation_count && !u->failed; i++) take_operation(u, &operations[i]);
    g->operands = operands;
    g->operations = operations;
    g->inputs = take_list(u, &g->input_count);
    g->outputs = take_list(u, &g->output_count);
}

bool cpu_unpack(const uint8_t *structure, size_t structure_bytes, const uint8_t *values, size_t values_bytes,
                struct cpu_arena *arena, struct nnvts_model *out) {
    enum { SUBGRAPH_BYTES = 16 }; /* at least */
    struct unpacking u = {.at = structure, .left = structure_bytes, .arena = arena};
    if (values_bytes > UINT32_MAX) return false;
    *out = (struct nnvts_model){.operand_values = values, .operand_values_bytes = (uint32_t)values_bytes};
    out->relax_float32_to_float16 = take_u32(&u) != 0;
    out->referenced_count = take_count(&u, SUBGRAPH_BYTES);
    struct nnvts_subgraph *referenced = cpu_arena_array(arena, out->referenced_count, sizeof *referenced);
    take_subgraph(&u, &out->main);
    for (uint32_t i = 0; referenced && i < out->referenced_count && !u.failed; i++) take_subgraph(&u, &referenced[i]);
    out->referenced = referenced;
    return !u.failed && !arena->failed && u.left == 0;
}
