/* SPDX-License-Identifier: Apache-2.0 */
/** @file check.c The rules of a model that hold for every operation. */
#include <math.h>
#include <stdlib.h>

#include "model.h"

/** What the API says of an operand type. */
struct type_rule {
    uint8_t bytes; /**< of an element as the API has it */
    bool known, tensor;
    enum { NO_SCALE, SCALE_ALLOWED, SCALE_NEEDED } scale;
    int32_t zero_min, zero_max;
};

static const struct type_rule type_rules[] = {
    [ANEURALNETWORKS_FLOAT32] = {4, true, false, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_INT32] = {4, true, false, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_UINT32] = {4, true, false, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_FLOAT32] = {4, true, true, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_INT32] = {4, true, true, SCALE_ALLOWED, 0, 0},
    [ANEURALNETWORKS_TENSOR_QUANT8_ASYMM] = {1, true, true, SCALE_NEEDED, 0, 255},
    [ANEURALNETWORKS_BOOL] = {1, true, false, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_QUANT16_SYMM] = {2, true, true, SCALE_NEEDED, 0, 0},
    [ANEURALNETWORKS_TENSOR_FLOAT16] = {2, true, true, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_BOOL8] = {1, true, true, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_FLOAT16] = {2, true, false, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL] = {1, true, true, NO_SCALE, 0, 0},
    [ANEURALNETWORKS_TENSOR_QUANT16_ASYMM] = {2, true, true, SCALE_NEEDED, 0, 65535},
    [ANEURALNETWORKS_TENSOR_QUANT8_SYMM] = {1, true, true, SCALE_NEEDED, 0, 0},
    [ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED] = {1, true, true, SCALE_NEEDED, -128, 127},
    [ANEURALNETWORKS_MODEL] = {0, true, false, NO_SCALE, 0, 0},
};
enum { TYPES = sizeof type_rules / sizeof *type_rules, LAST_OPERATION = ANEURALNETWORKS_REVERSE };

static const struct type_rule *rule_of(int32_t type) {
    return type >= 0 && type < TYPES && type_rules[type].known ? &type_rules[type] : NULL;
}

uint32_t cpu_api_element(int32_t type) {
    const struct type_rule *rule = rule_of(type);
    return rule ? rule->bytes : 0;
}

bool cpu_is_tensor(int32_t type) {
    const struct type_rule *rule = rule_of(type);
    return rule && rule->tensor;
}

/** An extension type or operation whose prefix the model declares. */
static bool declared_extension(const struct nnvts_model *model, int32_t code) {
    uint32_t prefix = (uint32_t)code >> 16;
    for (uint32_t i = 0; i < model->extension_count && prefix; i++)
        if (model->extensions[i].prefix == prefix) return true;
    return false;
}

/** False if an extent is unknown, or the value would not fit in uint32_t. */
static bool declared_bytes(const struct nnvts_operand *o, uint32_t element, uint64_t *bytes) {
    uint64_t total = element;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        if (o->dimensions[i] == 0) return false;
        total *= o->dimensions[i];
        if (total > UINT32_MAX) return false;
    }
    *bytes = total;
    return true;
}

/** The extents that are known must not be too large together. */
static bool check_extents(const struct nnvts_operand *o, uint32_t element) {
    uint64_t total = element;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        total *= o->dimensions[i] ? o->dimensions[i] : 1;
        if (total > UINT32_MAX) return false;
    }
    return true;
}

static bool check_channels(const struct nnvts_operand *o) {
    const struct nnvts_channel_quant *q = &o->channel_quant;
    if (o->type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) return q->scale_count == 0;
    if (q->scale_count == 0 || !q->scales || q->channel_dim >= o->dimension_count) return false;
    if (q->scale_count != o->dimensions[q->channel_dim]) return false;
    for (uint32_t i = 0; i < q->scale_count; i++)
        if (!(q->scales[i] > 0) || isinf(q->scales[i])) return false;
    return true;
}

static bool check_type(const struct nnvts_operand *o, const struct type_rule *rule) {
    if (!rule->tensor && o->dimension_count != 0) return false;
    if (!isfinite(o->scale) || o->zero_point < rule->zero_min || o->zero_point > rule->zero_max) return false;
    if (rule->scale == NO_SCALE && !(o->scale == 0)) return false;
    if (rule->scale == SCALE_ALLOWED && o->scale < 0) return false;
    if (rule->scale == SCALE_NEEDED && !(o->scale > 0)) return false;
    if (o->extension_data_bytes != 0 || o->extension_data) return false;
    return check_extents(o, rule->bytes) && check_channels(o);
}

static bool no_location(const struct nnvts_location *l) {
    return l->pool == 0 && l->offset == 0 && l->length == 0 && l->padding == 0;
}

/** rule is NULL for extension types. */
static bool check_constant(const struct nnvts_model *model, const struct nnvts_operand *o,
                           const struct type_rule *rule) {
    const struct nnvts_location *l = &o->location;
    uint64_t end = (uint64_t)l->offset + l->length, bytes;
    if (rule) {
        if (rule->tensor && o->dimension_count == 0) return false;
        if (!declared_bytes(o, rule->bytes, &bytes) || bytes != l->length) return false;
    }
    if (o->lifetime == NNVTS_CONSTANT_COPY)
        return l->pool == 0 && end <= model->operand_values_bytes && model->operand_values;
    return l->pool < model->pool_count && end + l->padding <= model->pools[l->pool].size;
}

static bool check_lifetime(const struct nnvts_model *model, const struct nnvts_operand *o,
                           const struct type_rule *rule) {
    if ((o->type == ANEURALNETWORKS_MODEL) != (o->lifetime == NNVTS_SUBGRAPH)) return false;
    switch (o->lifetime) {
    case NNVTS_TEMPORARY_VARIABLE:
    case NNVTS_SUBGRAPH_INPUT:
    case NNVTS_SUBGRAPH_OUTPUT:
    case NNVTS_NO_VALUE:
        return no_location(&o->location);
    case NNVTS_CONSTANT_COPY:
    case NNVTS_CONSTANT_REFERENCE:
        return check_constant(model, o, rule);
    case NNVTS_SUBGRAPH:
        return o->location.pool == 0 && o->location.length == 0 && o->location.offset < model->referenced_count;
    }
    return false;
}

static bool check_operand(const struct nnvts_model *model, const struct nnvts_operand *o) {
    if (o->dimension_count && !o->dimensions) return false;
    const struct type_rule *rule = rule_of(o->type);
    if (rule ? !check_type(o, rule) : !declared_extension(model, o->type)) return false;
    return check_lifetime(model, o, rule);
}

/** Each has the lifetime, and stands once. seen: one byte an operand, zeroed. */
static bool check_ends(const struct nnvts_subgraph *g, const uint32_t *list, uint32_t count, uint32_t lifetime,
                       uint8_t *seen) {
    if (count && !list) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] >= g->operand_count || g->operands[list[i]].lifetime != lifetime || seen[list[i]]) return false;
        seen[list[i]] = 1;
    }
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (g->operands[i].lifetime == lifetime && !seen[i]) return false;
    return true;
}

static bool is_computed(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_TEMPORARY_VARIABLE || o->lifetime == NNVTS_SUBGRAPH_OUTPUT;
}

/** written: one byte an operand: its value exists when the operation begins. */
static bool check_operation(const struct nnvts_model *model, const struct nnvts_subgraph *g,
                            const struct nnvts_operation *op, uint8_t *written) {
    if (!(op->type >= 0 && op->type <= LAST_OPERATION) && !declared_extension(model, op->type)) return false;
    if ((op->input_count && !op->inputs) || op->output_count == 0 || !op->outputs) return false;
    for (uint32_t i = 0; i < op->input_count; i++)
        if (op->inputs[i] >= g->operand_count || !written[op->inputs[i]]) return false;
    for (uint32_t i = 0; i < op->output_count; i++) {
        uint32_t o = op->outputs[i];
        if (o >= g->operand_count || !is_computed(&g->operands[o]) || written[o]) return false;
        written[o] = 1;
    }
    return true;
}

/** Every value is written once, before it is read. marks: one byte an operand. */
static bool check_order(const struct nnvts_model *model, const struct nnvts_subgraph *g, uint8_t *marks) {
    for (uint32_t i = 0; i < g->operand_count; i++) marks[i] = !is_computed(&g->operands[i]);
    for (uint32_t i = 0; i < g->operation_count; i++)
        if (!check_operation(model, g, &g->operations[i], marks)) return false;
    for (uint32_t i = 0; i < g->operand_count; i++)
        if (!marks[i]) return false;
    return true;
}

bool cpu_check_subgraph(const struct nnvts_model *model, const struct nnvts_subgraph *graph) {
    if ((graph->operand_count && !graph->operands) || (graph->operation_count && !graph->operations)) return false;
    for (uint32_t i = 0; i < graph->operand_count; i++)
        if (!check_operand(model, &graph->operands[i])) return false;
    uint8_t *marks = calloc((size_t)graph->operand_count + 1, 2);
    if (!marks) return false;
    bool ok = check_ends(graph, graph->inputs, graph->input_count, NNVTS_SUBGRAPH_INPUT, marks) &&
              check_ends(graph, graph->outputs, graph->output_count, NNVTS_SUBGRAPH_OUTPUT, marks) &&
              check_order(model, graph, marks);
    free(marks);
    return ok;
}

/* ------------------------------------------------------------------ references */

enum { MOST_NESTED = 64 };
enum mark { UNSEEN, OPEN, DONE };

/** References from graph do not go in circles, and not too deep. marks: one a referenced subgraph. */
static bool check_references(const struct nnvts_model *model, const struct nnvts_subgraph *graph, uint32_t depth,
                             uint8_t *marks) {
    if (depth > MOST_NESTED) return false;
    for (uint32_t i = 0; i < graph->operand_count; i++) {
        if (graph->operands[i].lifetime != NNVTS_SUBGRAPH) continue;
        const uint32_t to = graph->operands[i].location.offset;
        if (marks[to] == OPEN) return false;
        if (marks[to] == DONE) continue;
        marks[to] = OPEN;
        if (!check_references(model, &model->referenced[to], depth + 1, marks)) return false;
        marks[to] = DONE;
    }
    return true;
}

bool cpu_check_references(const struct nnvts_model *model) {
    uint8_t *marks = calloc((size_t)model->referenced_count + 1, 1);
    bool ok = marks && check_references(model, &model->main, 0, marks);
    for (uint32_t i = 0; i < model->referenced_count && ok; i++) {
        if (marks[i] != UNSEEN) continue;
        marks[i] = OPEN;
        ok = check_references(model, &model->referenced[i], 1, marks);
        marks[i] = DONE;
    }
    free(marks);
    return ok;
}
