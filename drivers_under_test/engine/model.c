/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.c A model that keeps all rules, in the driver's own form. */
#include <stdlib.h>
#include <string.h>

#include "common/type.h"
#include "shell.h"

enum { ALIGN = 64 };

static size_t aligned(size_t bytes) { return (bytes + ENGINE_SLACK + ALIGN - 1) / ALIGN * ALIGN; }

static void import_operand(const struct nnvts_operand *o, struct engine_tensor *t) {
    const uint32_t element = common_element_bytes(o->type);
    *t = (struct engine_tensor){
        .type = o->type, .rank = o->dimension_count, .scale = o->scale, .zero_point = o->zero_point};
    if (element == 0 || o->dimension_count > ENGINE_MAX_RANK || (o->dimension_count == 0) != common_is_scalar(o->type))
        return;
    if (o->lifetime == NNVTS_NO_VALUE || o->lifetime == NNVTS_SUBGRAPH) return;
    uint64_t count = 1;
    for (uint32_t d = 0; d < o->dimension_count; d++) {
        t->dims[d] = o->dimensions[d];
        count *= o->dimensions[d];
        if (count == 0 || count > INT32_MAX) return;
    }
    t->count = (size_t)count;
    t->bytes = (size_t)(count * element);
    t->known = count * element <= INT32_MAX;
}

static bool is_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
}

/** Copies one constant to `to`. */
static enum nnvts_status copy_value(const struct nnvts_model *model, const struct nnvts_operand *o, uint8_t *to) {
    const struct nnvts_location *l = &o->location;
    if (o->lifetime == NNVTS_CONSTANT_COPY) {
        memcpy(to, (const uint8_t *)model->operand_values + l->offset, l->length);
        return NNVTS_STATUS_NONE;
    }
    struct common_mapping pool;
    const enum nnvts_status st = common_map(&model->pools[l->pool], &pool);
    if (st == NNVTS_STATUS_NONE && l->length) memcpy(to, pool.data + l->offset, l->length);
    common_unmap(&pool);
    return st;
}

static enum nnvts_status import_values(const struct nnvts_model *model, struct engine_model *m) {
    const struct nnvts_operand *operands = model->main.operands;
    size_t bytes = 0, scales = 0;
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        if (m->tensors[i].known && is_constant(&operands[i])) bytes += aligned(m->tensors[i].bytes);
        scales += operands[i].channel_quant.scale_count;
    }
    m->values = aligned_alloc(ALIGN, bytes + ALIGN);
    m->scales = calloc(scales + 1, sizeof *m->scales);
    if (!m->values || !m->scales) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    memset(m->values, 0, bytes);
    uint8_t *value = m->values;
    float *scale = m->scales;
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        struct engine_tensor *t = &m->tensors[i];
        const struct nnvts_channel_quant *q = &operands[i].channel_quant;
        if (q->scale_count) {
            memcpy(scale, q->scales, q->scale_count * sizeof *scale);
            t->channels = q->scale_count;
            t->channel_dim = q->channel_dim;
            t->scales = scale;
            scale += q->scale_count;
        }
        if (!t->known || !is_constant(&operands[i])) continue;
        if (operands[i].location.length != t->bytes) return NNVTS_STATUS_INVALID_ARGUMENT;
        const enum nnvts_status st = copy_value(model, &operands[i], value);
        if (st != NNVTS_STATUS_NONE) return st;
        t->value = value;
        value += aligned(t->bytes);
    }
    return NNVTS_STATUS_NONE;
}

static uint32_t *copy_list(uint32_t **at, const uint32_t *list, uint32_t count) {
    uint32_t *to = *at;
    if (count) memcpy(to, list, count * sizeof *to);
    *at += count;
    return to;
}

static bool is_read(const struct engine_model *m, uint32_t tensor) {
    for (uint32_t n = 0; n < m->node_count; n++)
        for (uint32_t i = 0; i < m->nodes[n].in_count; i++)
            if (m->nodes[n].in[i] == tensor) return true;
    return false;
}

enum nnvts_status engine_import(const struct nnvts_model *model, struct engine_model *out) {
    const struct nnvts_subgraph *g = &model->main;
    size_t listed = (size_t)g->input_count + g->output_count + 1;
    for (uint32_t i = 0; i < g->operation_count; i++)
        listed += (size_t)g->operations[i].input_count + g->operations[i].output_count;
    *out = (struct engine_model){
        .tensor_count = g->operand_count,
        .node_count = g->operation_count,
        .in_count = g->input_count,
        .out_count = g->output_count,
        .tensors = calloc((size_t)g->operand_count + 1, sizeof *out->tensors),
        .nodes = calloc((size_t)g->operation_count + 1, sizeof *out->nodes),
        .lists = calloc(listed, sizeof *out->lists),
    };
    if (!out->tensors || !out->nodes || !out->lists) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    uint32_t *at = out->lists;
    out->in = copy_list(&at, g->inputs, g->input_count);
    out->out = copy_list(&at, g->outputs, g->output_count);
    for (uint32_t i = 0; i < g->operand_count; i++) {
        import_operand(&g->operands[i], &out->tensors[i]);
        out->unfit = out->unfit || g->operands[i].dimension_count > ENGINE_MAX_RANK;
    }
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        out->nodes[i] =
            (struct engine_node){.code = op->type, .in_count = op->input_count, .out_count = op->output_count};
        out->nodes[i].in = copy_list(&at, op->inputs, op->input_count);
        out->nodes[i].out = copy_list(&at, op->outputs, op->output_count);
    }
    for (uint32_t i = 0; i < out->in_count; i++)
        out->unfit = out->unfit || (!out->tensors[out->in[i]].known && !is_read(out, out->in[i]));
    return import_values(model, out);
}

void engine_model_free(struct engine_model *m) {
    free(m->tensors);
    free(m->nodes);
    free(m->lists);
    free(m->values);
    free(m->scales);
    free(m->offset);
    *m = (struct engine_model){0};
}

/* ------------------------------------------------------------------------ plan */

/** The nodes between which a value is needed. */
struct life {
    uint32_t first, last;
    bool planned, read;
};

static void find_lives(const struct engine_model *m, struct life *lives) {
    const uint32_t last = this_engine.whole ? m->node_count : 0;
    for (uint32_t i = 0; i < m->in_count; i++) lives[m->in[i]] = (struct life){.last = last, .planned = true};
    if (this_engine.whole) return; /* it has memory of its own between its operations */
    for (uint32_t n = 0; n < m->node_count; n++) {
        for (uint32_t i = 0; i < m->nodes[n].out_count; i++)
            lives[m->nodes[n].out[i]] = (struct life){.first = n, .last = n, .planned = true};
        for (uint32_t i = 0; i < m->nodes[n].in_count; i++) {
            lives[m->nodes[n].in[i]].last = n;
            lives[m->nodes[n].in[i]].read = true;
        }
    }
    for (uint32_t i = 0; i < m->out_count; i++) {
        struct life *l = &lives[m->out[i]];
        l->planned = l->read; /* else it is written where the caller wants it */
        l->last = m->node_count;
    }
}

/** The lowest place that is free while tensor i lives, among the tensors before it. */
static uint64_t place(const struct engine_model *m, const struct life *lives, uint32_t i) {
    const uint64_t bytes = aligned(m->tensors[i].bytes);
    uint64_t at = 0;
    for (uint32_t k = 0; k < i; k++) {
        if (m->offset[k] == ENGINE_ELSEWHERE || lives[k].last < lives[i].first || lives[i].last < lives[k].first)
            continue;
        const uint64_t end = m->offset[k] + aligned(m->tensors[k].bytes);
        if (m->offset[k] >= at + bytes || end <= at) continue;
        at = end;
        k = UINT32_MAX; /* from the beginning: at has moved up */
    }
    return at;
}

enum nnvts_status engine_plan(struct engine_model *m) {
    struct life *lives = calloc((size_t)m->tensor_count + 1, sizeof *lives);
    m->offset = calloc((size_t)m->tensor_count + 1, sizeof *m->offset);
    if (lives && m->offset) {
        find_lives(m, lives);
        for (uint32_t i = 0; i < m->tensor_count; i++) {
            m->offset[i] = ENGINE_ELSEWHERE;
            if (!lives[i].planned || !m->tensors[i].known) continue;
            m->offset[i] = place(m, lives, i);
            const uint64_t end = m->offset[i] + aligned(m->tensors[i].bytes);
            if (end > m->planned) m->planned = end;
        }
    }
    const bool ok = lives && m->offset;
    free(lives);
    return ok ? NNVTS_STATUS_NONE : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}
