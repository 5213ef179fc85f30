/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/lift.h"

static bool within(const struct nnvts_location *at, uint64_t size) {
    return at->offset <= size && at->length <= size - at->offset;
}

const void *nnv_lift_value(const struct nnvts_model *model, const struct nnvts_operand *o) {
    const struct nnvts_location *at = &o->location;
    if (o->lifetime == NNVTS_CONSTANT_COPY)
        return within(at, model->operand_values_bytes) ? (const uint8_t *)model->operand_values + at->offset : NULL;
    if (o->lifetime != NNVTS_CONSTANT_REFERENCE || at->pool >= model->pool_count) return NULL;
    const struct nnvts_memory *pool = &model->pools[at->pool];
    if (pool->kind != NNVTS_MEMORY_SHARED || !pool->data || !within(at, pool->size)) return NULL;
    return (const uint8_t *)pool->data + at->offset;
}

static enum nnv_status lift_indices(const uint32_t *list, uint32_t n, uint32_t limit, struct nnv_arena *arena,
                                    uint32_t **out, struct nnv_err *err) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] >= limit) return nnv_fail(err, NNV_INVALID, "index %u of a list is %u of %u", i, list[i], limit);
    *out = nnv_arena_copy(arena, list, n * sizeof *list);
    return *out ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status lift_operand(const struct nnvts_model *m, const struct nnvts_operand *o, struct nnv_arena *arena,
                                    struct nnv_operand *out, struct nnv_err *err) {
    const struct nnvts_channel_quant *q = &o->channel_quant;
    if (!nnv_type(o->type) || o->extension_data) return nnv_fail(err, NNV_UNSUPPORTED, "type %d", (int)o->type);
    if (o->dimension_count > NNV_MAX_RANK || o->lifetime >= NNV_LIFETIME_COUNT)
        return nnv_fail(err, NNV_INVALID, "rank %u, lifetime %u", o->dimension_count, o->lifetime);
    *out = (struct nnv_operand){
        .type = o->type,
        .rank = o->dimension_count,
        .dims = nnv_arena_copy(arena, o->dimensions, o->dimension_count * sizeof *o->dimensions),
        .scale = o->scale,
        .zero_point = o->zero_point,
        .channel = {q->channel_dim, q->scale_count, nnv_arena_copy(arena, q->scales, q->scale_count * sizeof(float))},
        .lifetime = (enum nnv_lifetime)o->lifetime,
    };
    if (!out->dims || !out->channel.scales) return nnv_no_memory(err);
    if (out->lifetime == NNV_SUBGRAPH) {
        out->subgraph = o->location.offset;
        if (out->subgraph >= m->referenced_count) return nnv_fail(err, NNV_INVALID, "no subgraph %u", out->subgraph);
    }
    if (!nnv_is_constant(out)) return NNV_OK;
    out->data = nnv_lift_value(m, o);
    out->bytes = o->location.length;
    return out->data ? NNV_OK : nnv_fail(err, NNV_UNSUPPORTED, "a constant that can't be reached");
}

static enum nnv_status lift_operation(const struct nnvts_operation *op, uint32_t operands, struct nnv_arena *arena,
                                      struct nnv_operation *out, struct nnv_err *err) {
    *out = (struct nnv_operation){.type = op->type, .nin = op->input_count, .nout = op->output_count};
    enum nnv_status st = lift_indices(op->inputs, op->input_count, operands, arena, &out->in, err);
    return st ? st : lift_indices(op->outputs, op->output_count, operands, arena, &out->out, err);
}

static enum nnv_status lift_subgraph(const struct nnvts_model *m, const struct nnvts_subgraph *s,
                                     struct nnv_arena *arena, struct nnv_subgraph *out, struct nnv_err *err) {
    *out = (struct nnv_subgraph){
        .noperands = s->operand_count,
        .noperations = s->operation_count,
        .nin = s->input_count,
        .nout = s->output_count,
        .operands = NNV_NEW(arena, struct nnv_operand, s->operand_count),
        .operations = NNV_NEW(arena, struct nnv_operation, s->operation_count),
    };
    if (!out->operands || !out->operations) return nnv_no_memory(err);
    enum nnv_status st = lift_indices(s->inputs, s->input_count, s->operand_count, arena, &out->in, err);
    if (!st) st = lift_indices(s->outputs, s->output_count, s->operand_count, arena, &out->out, err);
    for (uint32_t i = 0; !st && i < s->operand_count; i++) {
        st = lift_operand(m, &s->operands[i], arena, &out->operands[i], err);
        if (st) return nnv_at(err, st, "operand %u", i);
    }
    for (uint32_t i = 0; !st && i < s->operation_count; i++) {
        st = lift_operation(&s->operations[i], s->operand_count, arena, &out->operations[i], err);
        if (st) return nnv_at(err, st, "operation %u", i);
    }
    return st;
}

enum nnv_status nnv_lift_model(const struct nnvts_model *model, struct nnv_arena *arena, struct nnv_model *out,
                               struct nnv_err *err) {
    *out = (struct nnv_model){.relaxed = model->relax_float32_to_float16,
                              .nreferenced = model->referenced_count,
                              .referenced = NNV_NEW(arena, struct nnv_subgraph, model->referenced_count)};
    if (!out->referenced) return nnv_no_memory(err);
    if (model->extension_count) return nnv_fail(err, NNV_UNSUPPORTED, "extensions");
    enum nnv_status st = lift_subgraph(model, &model->main, arena, &out->main, err);
    for (uint32_t i = 0; !st && i < model->referenced_count; i++) {
        st = lift_subgraph(model, &model->referenced[i], arena, &out->referenced[i], err);
        if (st) return nnv_at(err, st, "referenced subgraph %u", i);
    }
    return st;
}
