/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- bytes */

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

/** Appends the value, and zeros up to where the next may begin; its offset. */
static uint32_t put_value(struct cpu_bytes *values, const void *data, size_t size) {
    const size_t at = values->size, gap = (CPU_ALIGN - size % CPU_ALIGN) % CPU_ALIGN;
    uint8_t *to = grow(values, size + gap);
    if (!to) return 0;
    if (size) memcpy(to, data, size);
    memset(to + size, 0, gap);
    if (values->size > UINT32_MAX) values->failed = true;
    return (uint32_t)at;
}

/* -------------------------------------------------------------------- structure */

/** A model that is written, or read: each part is described once, for both. */
struct stream {
    /* writing */
    struct cpu_bytes *structure, *values; /**< structure is NULL: reads */
    const struct nnvts_model *model;
    const uint8_t *const *pools;
    const bool *held; /**< per operand of the subgraph, or NULL */
    /* reading */
    const uint8_t *at;
    size_t left;
    struct cpu_arena *arena;
    bool failed; /**< there is less than what was said, or no memory */
};

/** The next size bytes, from *part or to it; zeros where there are none. */
static void bytes(struct stream *s, void *part, size_t size) {
    if (s->structure) {
        uint8_t *to = grow(s->structure, size);
        if (to && size) memcpy(to, part, size);
        return;
    }
    s->failed = s->failed || size > s->left;
    if (s->failed) {
        memset(part, 0, size);
        return;
    }
    memcpy(part, s->at, size);
    s->at += size;
    s->left -= size;
}

static void word(struct stream *s, uint32_t *value) { bytes(s, value, sizeof *value); }

/** A number of things of which each takes at least size bytes. */
static void count_of(struct stream *s, uint32_t *count, size_t size) {
    word(s, count);
    if (s->structure || *count <= s->left / size) return;
    s->failed = true;
    *count = 0;
}

/** count things of `size` bytes in memory: those given, or room for new ones. */
static void *things(struct stream *s, const void *given, uint32_t count, size_t size) {
    if (s->structure) return (void *)(uintptr_t)given; /* read only */
    void *room = cpu_arena_array(s->arena, count, size);
    s->failed = s->failed || !room;
    return room;
}

/** As many words as *count says, which comes first. */
static const void *words(struct stream *s, const void *given, uint32_t *count) {
    count_of(s, count, sizeof(uint32_t));
    void *list = things(s, given, *count, sizeof(uint32_t));
    if (list) bytes(s, list, *count * sizeof(uint32_t));
    return list;
}

/** The value of a constant goes with the others; it is found there. Packed weights are not shorter than their values.
 */
static void place_value(const struct stream *s, struct nnvts_operand *o, bool held) {
    struct nnvts_location *l = &o->location;
    if (o->lifetime != NNVTS_CONSTANT_COPY && o->lifetime != NNVTS_CONSTANT_REFERENCE) return;
    const uint8_t *from = o->lifetime == NNVTS_CONSTANT_COPY ? s->model->operand_values : s->pools[l->pool];
    const uint32_t at = held ? 0 : put_value(s->values, from + l->offset, l->length);
    *l = (struct nnvts_location){.offset = at, .length = l->length};
    o->lifetime = NNVTS_CONSTANT_COPY;
}

static void operand(struct stream *s, struct nnvts_operand *told, bool held) {
    struct nnvts_operand o = *told;
    if (s->structure) place_value(s, &o, held);
    bytes(s, &o.type, sizeof o.type);
    bytes(s, &o.scale, sizeof o.scale);
    bytes(s, &o.zero_point, sizeof o.zero_point);
    word(s, &o.lifetime);
    word(s, &o.location.offset);
    word(s, &o.location.length);
    o.dimensions = words(s, o.dimensions, &o.dimension_count);
    word(s, &o.channel_quant.channel_dim);
    o.channel_quant.scales = words(s, o.channel_quant.scales, &o.channel_quant.scale_count);
    if (!s->structure) *told = o;
}

static void operation(struct stream *s, struct nnvts_operation *told) {
    struct nnvts_operation o = *told;
    bytes(s, &o.type, sizeof o.type);
    o.inputs = words(s, o.inputs, &o.input_count);
    o.outputs = words(s, o.outputs, &o.output_count);
    if (!s->structure) *told = o;
}

static void subgraph(struct stream *s, struct nnvts_subgraph *told) {
    enum { OPERAND_BYTES = 36, OPERATION_BYTES = 12 }; /* at least */
    struct nnvts_subgraph g = *told;
    count_of(s, &g.operand_count, OPERAND_BYTES);
    struct nnvts_operand *operands = things(s, g.operands, g.operand_count, sizeof *operands);
    for (uint32_t i = 0; i < g.operand_count && !s->failed; i++) operand(s, &operands[i], s->held && s->held[i]);
    count_of(s, &g.operation_count, OPERATION_BYTES);
    struct nnvts_operation *operations = things(s, g.operations, g.operation_count, sizeof *operations);
    for (uint32_t i = 0; i < g.operation_count && !s->failed; i++) operation(s, &operations[i]);
    g.operands = operands;
    g.operations = operations;
    g.inputs = words(s, g.inputs, &g.input_count);
    g.outputs = words(s, g.outputs, &g.output_count);
    if (!s->structure) *told = g;
}

static void whole(struct stream *s, struct nnvts_model *m) {
    enum { SUBGRAPH_BYTES = 16 }; /* at least */
    uint32_t relaxed = m->relax_float32_to_float16;
    word(s, &relaxed);
    m->relax_float32_to_float16 = relaxed != 0;
    count_of(s, &m->referenced_count, SUBGRAPH_BYTES);
    struct nnvts_subgraph *referenced = things(s, m->referenced, m->referenced_count, sizeof *referenced);
    m->referenced = referenced;
    subgraph(s, &m->main);
    s->held = NULL;
    for (uint32_t i = 0; i < m->referenced_count && !s->failed; i++) subgraph(s, &referenced[i]);
}

bool cpu_pack(const struct nnvts_model *model, const uint8_t *const *pools, const struct cpu_packs *packs,
              struct cpu_bytes *structure, struct cpu_bytes *values) {
    struct stream s = {.structure = structure, .values = values, .model = model, .pools = pools, .held = packs->held};
    struct nnvts_model copy = *model;
    whole(&s, &copy);
    uint32_t packed = (uint32_t)values->size;
    word(&s, &packed);
    return !structure->failed && !values->failed && packs->bytes <= UINT32_MAX - packed;
}

bool cpu_unpack(const uint8_t *structure, size_t structure_bytes, const uint8_t *values, size_t values_bytes,
                struct cpu_arena *arena, struct nnvts_model *out, size_t *packed) {
    struct stream s = {.at = structure, .left = structure_bytes, .arena = arena};
    uint32_t at = 0;
    if (values_bytes > UINT32_MAX) return false;
    *out = (struct nnvts_model){.operand_values = values, .operand_values_bytes = (uint32_t)values_bytes};
    whole(&s, out);
    word(&s, &at);
    *packed = at;
    return !s.failed && s.left == 0 && at % CPU_ALIGN == 0 && at <= values_bytes;
}
