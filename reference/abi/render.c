/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/abi/render.h"

#include <string.h>

#include "base/guard.h"

static bool in_pool(const struct nnv_operand *o) {
    return o->lifetime == NNV_CONSTANT_REFERENCE || (o->lifetime == NNV_CONSTANT_COPY && o->bytes > NNV_ABI_COPY_MAX);
}

static size_t copy_room(const struct nnv_operand *o) { return (o->bytes + 3) / 4 * 4; }

/** Main first, then the referenced ones. */
static const struct nnv_subgraph *subgraph_at(const struct nnv_model *model, uint32_t i) {
    return i == 0 ? &model->main : &model->referenced[i - 1];
}

size_t nnv_abi_pool_bytes(const struct nnv_model *model) {
    size_t bytes = 0;
    for (uint32_t g = 0; g <= model->nreferenced; g++) {
        const struct nnv_subgraph *s = subgraph_at(model, g);
        for (uint32_t i = 0; i < s->noperands; i++)
            if (in_pool(&s->operands[i])) bytes += nnv_guard_room(s->operands[i].bytes);
    }
    return bytes;
}

static size_t copied_bytes(const struct nnv_model *model) {
    size_t bytes = 0;
    for (uint32_t g = 0; g <= model->nreferenced; g++) {
        const struct nnv_subgraph *s = subgraph_at(model, g);
        for (uint32_t i = 0; i < s->noperands; i++)
            if (s->operands[i].lifetime == NNV_CONSTANT_COPY && !in_pool(&s->operands[i]))
                bytes += copy_room(&s->operands[i]);
    }
    return bytes;
}

/** Where the next constants go. */
struct cursor {
    uint8_t *pool, *values;
    size_t pool_at, values_at;
};

static struct nnvts_location place(const struct nnv_operand *o, struct cursor *c) {
    struct nnvts_location where = {.length = (uint32_t)o->bytes};
    if (in_pool(o)) {
        uint8_t *value = nnv_guard_init(c->pool + c->pool_at, o->bytes, 0);
        if (o->bytes) memcpy(value, o->data, o->bytes);
        where.offset = (uint32_t)(value - c->pool);
        c->pool_at += nnv_guard_room(o->bytes);
    } else {
        if (o->bytes) memcpy(c->values + c->values_at, o->data, o->bytes);
        where.offset = (uint32_t)c->values_at;
        c->values_at += copy_room(o);
    }
    return where;
}

static void render_operand(const struct nnv_operand *o, struct cursor *c, struct nnvts_operand *out) {
    *out = (struct nnvts_operand){
        .type = o->type,
        .dimension_count = o->rank,
        .dimensions = o->dims,
        .scale = o->scale,
        .zero_point = o->zero_point,
        .lifetime = (uint32_t)o->lifetime,
        .channel_quant = {o->channel.dim, o->channel.count, o->channel.scales},
    };
    if (nnv_is_constant(o)) {
        out->location = place(o, c);
        out->lifetime = in_pool(o) ? NNVTS_CONSTANT_REFERENCE : NNVTS_CONSTANT_COPY;
    } else if (o->lifetime == NNV_SUBGRAPH) {
        out->location.offset = o->subgraph;
    }
}

static bool render_subgraph(const struct nnv_subgraph *s, struct nnv_arena *arena, struct cursor *c,
                            struct nnvts_subgraph *out) {
    struct nnvts_operand *operands = NNV_NEW(arena, struct nnvts_operand, s->noperands);
    struct nnvts_operation *operations = NNV_NEW(arena, struct nnvts_operation, s->noperations);
    if (!operands || !operations) return false;
    for (uint32_t i = 0; i < s->noperands; i++) render_operand(&s->operands[i], c, &operands[i]);
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        operations[i] = (struct nnvts_operation){op->type, op->nin, op->nout, op->in, op->out};
    }
    *out = (struct nnvts_subgraph){s->noperands, s->noperations, s->nin, s->nout, operands, operations, s->in, s->out};
    return true;
}

enum nnv_status nnv_abi_model_at(const struct nnv_model *model, struct nnv_arena *arena,
                                 const struct nnvts_memory *pool, void *mapped, struct nnvts_model *out,
                                 struct nnv_err *err) {
    size_t copied = copied_bytes(model), pooled = nnv_abi_pool_bytes(model);
    if (copied > UINT32_MAX || pooled > UINT32_MAX)
        return nnv_fail(err, NNV_INVALID, "the constants take more than 4 GiB");
    struct cursor c = {.pool = mapped, .values = NNV_NEW(arena, uint8_t, copied)};
    struct nnvts_subgraph *referenced = NNV_NEW(arena, struct nnvts_subgraph, model->nreferenced);
    struct nnvts_memory *pools = pooled ? nnv_arena_copy(arena, pool, sizeof *pool) : NULL;
    struct nnvts_model m = {
        .referenced = referenced,
        .referenced_count = model->nreferenced,
        .operand_values = c.values,
        .operand_values_bytes = (uint32_t)copied,
        .pool_count = pools ? 1 : 0,
        .pools = pools,
        .relax_float32_to_float16 = model->relaxed,
    };
    bool ok = c.values && referenced && (pools || !pooled) && render_subgraph(&model->main, arena, &c, &m.main);
    for (uint32_t i = 0; i < model->nreferenced && ok; i++)
        ok = render_subgraph(&model->referenced[i], arena, &c, &referenced[i]);
    if (!ok) return nnv_no_memory(err);
    *out = m;
    return NNV_OK;
}
