/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_export.c The finished model as drivers see it: only what is used, and all models below in one. */
#include <stdlib.h>
#include <string.h>

#include "base/type.h"
#include "reference/model/validate.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"
#include "reference/runtime/plan/pack.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY,
    PREFIXES = 0x8000,
};
#define UNUSED UINT32_MAX /* no operand */

/* --------------------------------------------------------- what nothing uses */

static void use(uint32_t *number, uint32_t count, const uint32_t *list) {
    for (uint32_t i = 0; i < count; i++) number[list[i]] = 0;
}

static void renumber(const uint32_t *number, uint32_t count, uint32_t *list) {
    for (uint32_t i = 0; i < count; i++) list[i] = number[list[i]];
}

/* Drops operands that nothing uses; *added: the old index of each that stays. */
static int drop_unused(struct ANeuralNetworksModel *m, uint32_t **added) {
    struct nnv_rt_building *b = m->building;
    struct nnv_subgraph *g = &b->graph;
    uint32_t *number = NNV_NEW(b->scratch, uint32_t, g->noperands);
    *added = NNV_NEW(m->arena, uint32_t, g->noperands);
    if (!number || !*added) return NO_MEMORY;
    for (uint32_t i = 0; i < g->noperands; i++) number[i] = UNUSED;
    use(number, g->nin, g->in);
    use(number, g->nout, g->out);
    for (uint32_t k = 0; k < g->noperations; k++) {
        use(number, g->operations[k].nin, g->operations[k].in);
        use(number, g->operations[k].nout, g->operations[k].out);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->noperands; i++) {
        if (number[i] == UNUSED) continue;
        number[i] = n;
        (*added)[n] = i;
        g->operands[n] = g->operands[i];
        b->extra[n++] = b->extra[i];
    }
    g->noperands = n;
    renumber(number, g->nin, g->in);
    renumber(number, g->nout, g->out);
    for (uint32_t k = 0; k < g->noperations; k++) {
        renumber(number, g->operations[k].nin, g->operations[k].in);
        renumber(number, g->operations[k].nout, g->operations[k].out);
    }
    nnv_arena_reset(b->scratch);
    return OK;
}

/* ----------------------------------------------------------------- one graph */

static int export_operand(const struct nnv_operand *o, const struct nnv_rt_extra *e, struct nnv_rt_pack *pack,
                          struct nnvts_operand *to) {
    *to = (struct nnvts_operand){
        .type = o->type,
        .dimension_count = o->rank,
        .dimensions = o->dims,
        .scale = o->scale,
        .zero_point = o->zero_point,
        .lifetime = (uint32_t)o->lifetime,
        .channel_quant = {.channel_dim = o->channel.dim, .scale_count = o->channel.count, .scales = o->channel.scales},
        .extension_data = e->extension_data,
        .extension_data_bytes = (uint32_t)e->extension_bytes,
    };
    if (o->lifetime == NNV_SUBGRAPH) to->location.offset = o->subgraph;
    if (o->lifetime == NNV_CONSTANT_COPY) return nnv_rt_pack_value(pack, o->data, o->bytes, &to->location);
    if (o->lifetime != NNV_CONSTANT_REFERENCE) return OK;
    to->location = (struct nnvts_location){.offset = (uint32_t)e->offset, .length = (uint32_t)o->bytes};
    return nnv_rt_pack_pool(pack, &e->memory->memory, &to->location);
}

static int export_main(struct ANeuralNetworksModel *m, struct nnv_rt_pack *pack) {
    const struct nnv_rt_building *b = m->building;
    const struct nnv_subgraph *g = &b->graph;
    struct nnvts_operand *operands = NNV_NEW(m->arena, struct nnvts_operand, g->noperands);
    struct nnvts_operation *operations = NNV_NEW(m->arena, struct nnvts_operation, g->noperations);
    if (!operands || !operations) return NO_MEMORY;
    int result = OK;
    for (uint32_t i = 0; i < g->noperands && !result; i++)
        result = export_operand(&g->operands[i], &b->extra[i], pack, &operands[i]);
    for (uint32_t k = 0; k < g->noperations; k++) {
        const struct nnv_operation *op = &g->operations[k];
        operations[k] = (struct nnvts_operation){
            .type = op->type, .input_count = op->nin, .output_count = op->nout, .inputs = op->in, .outputs = op->out};
    }
    m->model.main = (struct nnvts_subgraph){.operand_count = g->noperands,
                                            .operation_count = g->noperations,
                                            .input_count = g->nin,
                                            .output_count = g->nout,
                                            .operands = operands,
                                            .operations = operations,
                                            .inputs = g->in,
                                            .outputs = g->out};
    return result;
}

/* What is known of the sizes of the main graph's values. */
static int describe(struct ANeuralNetworksModel *m, struct nnv_rt_graph_info *info) {
    const struct nnvts_subgraph *g = &m->model.main;
    info->known = NNV_NEW(m->arena, bool, g->operand_count);
    info->bytes = NNV_NEW(m->arena, uint64_t, g->operand_count);
    if (!info->known || !info->bytes) return NO_MEMORY;
    for (uint32_t i = 0; i < g->operand_count; i++) {
        const struct nnvts_operand *o = &g->operands[i];
        bool is_tensor;
        uint64_t bytes = nnv_rt_type_bytes(o->type, &is_tensor);
        bool known = !is_tensor || o->dimension_count > 0;
        for (uint32_t d = 0; d < o->dimension_count; d++) {
            known = known && o->dimensions[d] != 0;
            bytes *= known ? o->dimensions[d] : 1;
        }
        if (nnv_rt_is_oem(o->type) && o->location.length) bytes = o->location.length;
        info->known[i] = known;
        info->bytes[i] = known ? bytes : 0;
    }
    return OK;
}

/* ----------------------------------------------------------- the models below */

/* A copy of another model's main graph, whose constants and references are numbered as here. */
static int export_reference(struct ANeuralNetworksModel *m, const struct ANeuralNetworksModel *from,
                            const struct nnv_id_map *refs, struct nnv_rt_pack *pack, struct nnvts_subgraph *to) {
    *to = from->model.main;
    struct nnvts_operand *operands = nnv_arena_copy(m->arena, to->operands, to->operand_count * sizeof *operands);
    if (!operands) return NO_MEMORY;
    int result = OK;
    for (uint32_t i = 0; i < to->operand_count && !result; i++) {
        result = nnv_rt_pack_operand(pack, &from->model, &operands[i]);
        if (operands[i].lifetime == NNVTS_SUBGRAPH)
            operands[i].location.offset = nnv_id_find(refs, nnv_id(from->building->refs[operands[i].location.offset]));
    }
    to->operands = operands;
    return result;
}

static int export_references(struct ANeuralNetworksModel *m, struct nnv_rt_pack *pack) {
    const struct nnv_rt_building *b = m->building;
    struct nnvts_subgraph *list = NNV_NEW(m->arena, struct nnvts_subgraph, b->ref_count);
    struct nnv_id_map refs = {0};
    int result = list ? OK : NO_MEMORY;
    for (uint32_t i = 0; i < b->ref_count && !result; i++)
        if (nnv_id_add(&refs, nnv_id(b->refs[i])) != i) result = NO_MEMORY;
    for (uint32_t i = 0; i < b->ref_count && !result; i++) {
        result = export_reference(m, b->refs[i], &refs, pack, &list[i]);
        m->info[1 + i] = b->refs[i]->info[0];
        m->info[1 + i].added = NULL;
    }
    nnv_id_free(&refs);
    m->model.referenced = list;
    m->model.referenced_count = b->ref_count;
    return result;
}

/* ----------------------------------------------------------------- extensions */

static void note_code(struct ANeuralNetworksModel *m, int32_t code, bool *used) {
    if (nnv_rt_is_oem(code)) m->has_oem = true; /* the operation has the code of the scalar */
    if (!nnv_rt_is_extension(code)) return;
    m->has_extension = true;
    if (used) used[code >> 16] = true;
}

/* Looks for codes that are not the core's in all graphs; used (may be NULL) is marked by prefix. */
static void note_codes(struct ANeuralNetworksModel *m, bool *used) {
    for (uint32_t g = 0; g < nnv_rt_graph_count(m); g++) {
        const struct nnvts_subgraph *s = nnv_rt_graph_at(m, g);
        for (uint32_t i = 0; i < s->operand_count; i++) note_code(m, s->operands[i].type, used);
        for (uint32_t i = 0; i < s->operation_count; i++) note_code(m, s->operations[i].type, used);
    }
}

static int export_extensions(struct ANeuralNetworksModel *m) {
    note_codes(m, NULL);
    if (!m->has_extension) return OK;
    bool *used = calloc(PREFIXES, sizeof *used);
    if (!used) return NO_MEMORY;
    note_codes(m, used);
    uint32_t count = 0;
    for (uint32_t p = 0; p < PREFIXES; p++) count += used[p];
    struct nnvts_extension_prefix *list = NNV_NEW(m->arena, struct nnvts_extension_prefix, count);
    for (uint32_t p = 0; p < PREFIXES && list; p++)
        if (used[p])
            list[m->model.extension_count++] =
                (struct nnvts_extension_prefix){.name = nnv_rt_extension_name((uint16_t)p), .prefix = (uint16_t)p};
    m->model.extensions = list;
    free(used);
    return list ? OK : NO_MEMORY;
}

/* ------------------------------------------------------------------------ all */

static int32_t highest_level(const struct ANeuralNetworksModel *m) {
    int32_t level = m->model.relax_float32_to_float16 ? 2 : 1;
    const struct nnv_subgraph *g = &m->building->graph;
    for (uint32_t k = 0; k < g->noperations; k++)
        if (level < m->info[0].levels[k]) level = m->info[0].levels[k];
    for (uint32_t i = 0; i < g->noperands; i++) {
        int own = 1;
        if (nnv_operand_check(&g->operands[i], &own, &(struct nnv_err){0}) == NNV_OK && level < own) level = own;
    }
    return level;
}

int nnv_rt_export(struct ANeuralNetworksModel *m, uint32_t *added, int32_t *levels) {
    struct nnv_rt_building *b = m->building;
    struct nnv_rt_pack pack = {0};
    m->info = NNV_NEW(m->arena, struct nnv_rt_graph_info, 1 + (size_t)b->ref_count);
    if (!m->info) return NO_MEMORY;
    m->info[0].levels = levels;
    m->info[0].added = added;
    m->model.relax_float32_to_float16 = b->relaxed;
    int result = drop_unused(m, &m->info[0].operand_added);
    if (!result) result = export_main(m, &pack);
    if (!result) result = describe(m, &m->info[0]);
    if (!result) result = export_references(m, &pack);
    if (!result) result = nnv_rt_pack_end(&pack, m->arena, &m->model);
    if (!result) result = export_extensions(m);
    if (!result) m->level = highest_level(m);
    nnv_rt_pack_free(&pack);
    if (!result)
        nnv_rt_vlog(NNV_RT_LOG_MODEL, "finished: %u operations, %u operands, %u referenced, feature level %d",
                    m->model.main.operation_count, m->model.main.operand_count, m->model.referenced_count, m->level);
    return result;
}
