/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/abi.h"

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

enum nnv_status nnv_abi_model(const struct nnv_model *model, struct nnv_arena *arena, enum nnv_pool_kind kind,
                              struct nnvts_model *out, struct nnv_abi_pool *constants, struct nnv_err *err) {
    const size_t bytes = nnv_abi_pool_bytes(model);
    struct nnv_abi_pool pool = {0};
    enum nnv_status st = bytes ? nnv_abi_pool_make(bytes, kind, &pool, err) : NNV_OK;
    if (st == NNV_OK) st = nnv_abi_model_at(model, arena, &pool.memory, pool.data, out, err);
    if (st == NNV_OK)
        *constants = pool;
    else
        nnv_abi_pool_free(&pool);
    return st;
}

/** One constant; g and i name it. */
static bool constant_whole(const struct nnv_operand *o, const struct nnvts_operand *abi, const uint8_t *base,
                           uint32_t g, uint32_t i, struct nnv_breach *b) {
    const uint8_t *value = base + abi->location.offset;
    int64_t at;
    const char *what = NULL;
    if (in_pool(o) && !nnv_guard_check(value, o->bytes, 0, &at))
        what = at < 0 ? "wrote before" : "wrote behind";
    else if (o->bytes && memcmp(value, o->data, o->bytes) != 0)
        what = "changed";
    return !what || nnv_breach(b, NNV_BREACH_MEMORY, i, "%s the value of constant operand %u%s", what, i,
                               g ? " of a referenced subgraph" : "");
}

bool nnv_verify_constants(const struct nnv_model *model, const struct nnvts_model *abi, const void *mapped,
                          struct nnv_breach *b) {
    for (uint32_t g = 0; g <= model->nreferenced; g++) {
        const struct nnv_subgraph *s = subgraph_at(model, g);
        const struct nnvts_subgraph *a = g == 0 ? &abi->main : &abi->referenced[g - 1];
        for (uint32_t i = 0; i < s->noperands; i++) {
            const struct nnv_operand *o = &s->operands[i];
            if (!nnv_is_constant(o)) continue;
            const uint8_t *base = in_pool(o) ? mapped : abi->operand_values;
            if (!constant_whole(o, &a->operands[i], base, g, i, b)) return false;
        }
    }
    return true;
}
