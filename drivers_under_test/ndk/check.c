/* SPDX-License-Identifier: Apache-2.0 */
/** @file check.c What must be right of a model before it can be put into calls of the NDK. */
#include <stdlib.h>

#include "ndk.h"

enum {
    MAX_ITEMS = 1 << 22,
    MAX_SUBGRAPHS = 1 << 10,
    MAX_EXTENSIONS = 1 << 10,
    MAX_RANK = 1 << 10,
    EXTENSION_BITS = 16
};

/** Each extension has a name and a prefix of its own. */
static bool extensions_ok(const struct nnvts_model *m) {
    if (m->extension_count > MAX_EXTENSIONS || (m->extension_count && !m->extensions)) return false;
    for (uint32_t i = 0; i < m->extension_count; i++) {
        const struct nnvts_extension_prefix *e = &m->extensions[i];
        if (!e->name || !*e->name || e->prefix == 0 || e->prefix >> 15) return false;
        for (uint32_t k = 0; k < i; k++)
            if (m->extensions[k].prefix == e->prefix) return false;
    }
    return true;
}

/** A code of the core, or of an extension that the model announces. */
static bool code_ok(const struct nnvts_model *m, int32_t code) {
    if (code < 0) return false;
    if (code >> EXTENSION_BITS == 0) return true;
    for (uint32_t i = 0; i < m->extension_count; i++)
        if (m->extensions[i].prefix == code >> EXTENSION_BITS) return true;
    return false;
}

static bool is_nowhere(const struct nnvts_location *l) { return !l->pool && !l->offset && !l->length && !l->padding; }

/** Only models refer to models, and the NDK has no model without its subgraph. */
static bool is_model(const struct nnvts_operand *o) { return o->type == ANEURALNETWORKS_MODEL; }

static bool location_ok(const struct nnvts_model *m, const struct nnvts_operand *o) {
    const struct nnvts_location *l = &o->location;
    const uint64_t end = (uint64_t)l->offset + l->length + l->padding;
    switch (o->lifetime) {
    case NNVTS_TEMPORARY_VARIABLE:
    case NNVTS_SUBGRAPH_INPUT:
    case NNVTS_SUBGRAPH_OUTPUT:
    case NNVTS_NO_VALUE:
        return is_nowhere(l);
    case NNVTS_CONSTANT_COPY:
        return l->pool == 0 && l->length && m->operand_values && end <= m->operand_values_bytes;
    case NNVTS_CONSTANT_REFERENCE:
        return l->pool < m->pool_count && l->length && end <= m->pools[l->pool].size;
    case NNVTS_SUBGRAPH:
        return !l->pool && !l->length && !l->padding && l->offset < m->referenced_count;
    default:
        return false;
    }
}

static bool operand_ok(const struct nnvts_model *m, const struct nnvts_operand *o) {
    const struct nnvts_channel_quant *q = &o->channel_quant;
    if (!code_ok(m, o->type) || o->dimension_count > MAX_RANK || (o->dimension_count && !o->dimensions)) return false;
    if (q->scale_count > MAX_ITEMS || (q->scale_count && !q->scales)) return false;
    if (is_model(o) != (o->lifetime == NNVTS_SUBGRAPH)) return false;
    if (o->extension_data_bytes && !o->extension_data) return false;
    if (o->type >> EXTENSION_BITS == 0 && (o->extension_data || o->extension_data_bytes)) return false;
    return location_ok(m, o);
}

static bool indices_ok(const uint32_t *list, uint32_t count, uint32_t limit) {
    if (count > MAX_ITEMS || (count && !list)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= limit) return false;
    return true;
}

/** The list names every operand of that lifetime, once. seen: operand_count marks, all clear; left clear. */
static bool ends_ok(const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count, uint32_t lifetime,
                    uint8_t *seen) {
    uint32_t expected = 0;
    bool ok = indices_ok(list, count, g->operand_count);
    for (uint32_t i = 0; i < g->operand_count; i++) expected += g->operands[i].lifetime == lifetime;
    if (!ok || count != expected) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (g->operands[list[i]].lifetime != lifetime || seen[list[i]]) return false;
        seen[list[i]] = 1;
    }
    for (uint32_t i = 0; i < count; i++) seen[list[i]] = 0;
    return true;
}

/** The NDK sorts operations: that they stand in execution order is checked here. */
static bool order_ok(const struct nnvts_model *m, const struct nnvts_subgraph *g, uint8_t *ready) {
    for (uint32_t i = 0; i < g->operand_count; i++)
        ready[i] =
            g->operands[i].lifetime != NNVTS_TEMPORARY_VARIABLE && g->operands[i].lifetime != NNVTS_SUBGRAPH_OUTPUT;
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        if (!code_ok(m, op->type) || !indices_ok(op->inputs, op->input_count, g->operand_count) ||
            !indices_ok(op->outputs, op->output_count, g->operand_count))
            return false;
        for (uint32_t k = 0; k < op->input_count; k++)
            if (!ready[op->inputs[k]]) return false;
        for (uint32_t k = 0; k < op->output_count; k++) {
            if (ready[op->outputs[k]]) return false;
            ready[op->outputs[k]] = 1;
        }
    }
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (!ready[i]) return false;
    return true;
}

static bool subgraph_ok(const struct nnvts_model *m, const struct nnvts_subgraph *g) {
    if (g->operand_count > MAX_ITEMS || g->operation_count > MAX_ITEMS || (g->operand_count && !g->operands) ||
        (g->operation_count && !g->operations))
        return false;
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (!operand_ok(m, &g->operands[i])) return false;
    uint8_t *marks = calloc((size_t)g->operand_count + 1, 1);
    const bool ok = marks && ends_ok(g, g->inputs, g->input_count, NNVTS_SUBGRAPH_INPUT, marks) &&
                    ends_ok(g, g->outputs, g->output_count, NNVTS_SUBGRAPH_OUTPUT, marks) && order_ok(m, g, marks);
    free(marks);
    return ok;
}

enum nnvts_status ndk_model_check(const struct nnvts_model *m) {
    if (!m || !extensions_ok(m) || m->referenced_count > MAX_SUBGRAPHS || (m->referenced_count && !m->referenced) ||
        (m->operand_values_bytes && !m->operand_values) || m->pool_count > MAX_ITEMS || (m->pool_count && !m->pools))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < m->pool_count; i++)
        if (m->pools[i].kind != NNVTS_MEMORY_SHARED || m->pools[i].size > SIZE_MAX / 2)
            return NNVTS_STATUS_INVALID_ARGUMENT;
    bool ok = subgraph_ok(m, &m->main);
    for (uint32_t i = 0; ok && i < m->referenced_count; i++) ok = subgraph_ok(m, &m->referenced[i]);
    return ok ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT;
}
