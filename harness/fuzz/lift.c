/* SPDX-License-Identifier: Apache-2.0 */
/** @file lift.c From the ABI's form back to a spec, where a spec can say the same. */
#include <string.h>

#include "harness/fuzz/image.h"

/** A lift that goes on. */
struct lift {
    const struct nnv_fuzz_image *from;
    struct nnv_arena *arena;
};

static bool take_indices(const struct lift *l, const uint32_t *list, uint32_t n, uint32_t limit, uint32_t **out) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] >= limit) return false;
    *out = nnv_arena_copy(l->arena, list, n * sizeof *list);
    return *out != NULL;
}

static bool within(const struct nnvts_location *at, uint64_t size) {
    return at->offset <= size && at->length <= size - at->offset;
}

static bool take_constant(const struct lift *l, const struct nnvts_operand *o, struct nnv_operand *out) {
    const struct nnvts_model *m = &l->from->model;
    const struct nnvts_location *at = &o->location;
    const uint8_t *data = m->operand_values;
    uint64_t size = m->operand_values_bytes;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE) {
        if (at->pool >= m->pool_count) return false;
        data = l->from->memory + m->pools[at->pool].offset;
        size = m->pools[at->pool].size;
    } else if (at->pool != 0) {
        return false;
    }
    if (!within(at, size) || at->padding != 0) return false;
    out->bytes = at->length;
    out->data = nnv_arena_copy(l->arena, data + at->offset, at->length);
    return out->data != NULL;
}

static bool take_operand(const struct lift *l, const struct nnvts_operand *o, struct nnv_operand *out) {
    static const struct nnvts_location nowhere;
    if (nnv_type(o->type) == NULL || o->dimension_count > NNV_MAX_RANK || o->lifetime >= NNV_LIFETIME_COUNT ||
        o->extension_data != NULL)
        return false;
    *out = (struct nnv_operand){
        .type = o->type,
        .rank = o->dimension_count,
        .dims = nnv_arena_copy(l->arena, o->dimensions, o->dimension_count * sizeof *o->dimensions),
        .scale = o->scale,
        .zero_point = o->zero_point,
        .channel = {o->channel_quant.channel_dim, o->channel_quant.scale_count,
                    nnv_arena_copy(l->arena, o->channel_quant.scales, o->channel_quant.scale_count * sizeof(float))},
        .lifetime = (enum nnv_lifetime)o->lifetime,
    };
    if (out->dims == NULL || out->channel.scales == NULL) return false;
    if (nnv_is_constant(out)) return take_constant(l, o, out);
    out->subgraph = out->lifetime == NNV_SUBGRAPH ? o->location.offset : 0;
    struct nnvts_location rest = o->location;
    if (out->lifetime == NNV_SUBGRAPH) rest.offset = 0;
    return memcmp(&rest, &nowhere, sizeof rest) == 0 &&
           (out->lifetime != NNV_SUBGRAPH || out->subgraph < l->from->model.referenced_count);
}

static bool take_subgraph(const struct lift *l, const struct nnvts_subgraph *s, struct nnv_subgraph *out) {
    *out = (struct nnv_subgraph){
        .noperands = s->operand_count,
        .noperations = s->operation_count,
        .nin = s->input_count,
        .nout = s->output_count,
        .operands = NNV_NEW(l->arena, struct nnv_operand, s->operand_count),
        .operations = NNV_NEW(l->arena, struct nnv_operation, s->operation_count),
    };
    bool ok = out->operands != NULL && out->operations != NULL &&
              take_indices(l, s->inputs, s->input_count, s->operand_count, &out->in) &&
              take_indices(l, s->outputs, s->output_count, s->operand_count, &out->out);
    for (uint32_t i = 0; ok && i < s->operand_count; i++) ok = take_operand(l, &s->operands[i], &out->operands[i]);
    for (uint32_t i = 0; ok && i < s->operation_count; i++) {
        const struct nnvts_operation *op = &s->operations[i];
        struct nnv_operation *to = &out->operations[i];
        *to = (struct nnv_operation){.type = op->type, .nin = op->input_count, .nout = op->output_count};
        ok = op->type >= 0 && op->type <= 0xffff &&
             take_indices(l, op->inputs, op->input_count, s->operand_count, &to->in) &&
             take_indices(l, op->outputs, op->output_count, s->operand_count, &to->out);
    }
    return ok;
}

/** Values of the arguments: what the request passes, and room for what would come back. */
static bool take_values(const struct lift *l, struct nnv_spec *spec) {
    const struct nnvts_request *r = &l->from->request;
    const struct nnv_subgraph *s = &spec->model.main;
    spec->inputs = NNV_NEW(l->arena, struct nnv_value, s->nin);
    spec->outputs = NNV_NEW(l->arena, struct nnv_value, s->nout);
    if (spec->inputs == NULL || spec->outputs == NULL) return false;
    for (uint32_t i = 0; i < s->nout; i++) spec->outputs[i].omitted = true;
    for (uint32_t i = 0; i < s->nin; i++) {
        struct nnv_value *v = &spec->inputs[i];
        const struct nnvts_argument *a = i < r->input_count ? &r->inputs[i] : NULL;
        v->omitted = a == NULL || a->has_no_value || a->location.pool != 0 ||
                     !within(&a->location, l->from->used[NNV_REGION_INPUTS]);
        if (v->omitted) continue;
        const uint8_t *data = l->from->memory + (size_t)NNV_REGION_INPUTS * NNV_REGION_BYTES + a->location.offset;
        v->bytes = a->location.length;
        v->data = nnv_arena_copy(l->arena, data, v->bytes);
        const struct nnv_operand *o = &s->operands[s->in[i]];
        bool open = a->dimension_count > 0 && a->dimension_count <= NNV_MAX_RANK;
        v->rank = open ? a->dimension_count : o->rank;
        memcpy(v->dims, open ? a->dimensions : o->dims, v->rank * sizeof *v->dims);
        if (v->data == NULL) return false;
    }
    return true;
}

bool nnv_fuzz_lift(const struct nnv_fuzz_image *m, struct nnv_arena *arena, struct nnv_spec *spec) {
    const struct lift l = {m, arena};
    const struct nnvts_model *from = &m->model;
    for (uint32_t i = 0; i < from->pool_count; i++)
        if (from->pools[i].kind != NNVTS_MEMORY_SHARED || from->pools[i].token != 0) return false;
    *spec = (struct nnv_spec){.name = "fuzz", .expect_failure = true};
    struct nnv_model *model = &spec->model;
    model->relaxed = from->relax_float32_to_float16;
    model->nreferenced = from->referenced_count;
    model->referenced = NNV_NEW(arena, struct nnv_subgraph, from->referenced_count);
    bool ok = model->referenced != NULL && from->extension_count == 0 && take_subgraph(&l, &from->main, &model->main);
    for (uint32_t i = 0; ok && i < from->referenced_count; i++)
        ok = take_subgraph(&l, &from->referenced[i], &model->referenced[i]);
    return ok && take_values(&l, spec);
}
