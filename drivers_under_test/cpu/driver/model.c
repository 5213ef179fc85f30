/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <string.h>

#include "kernels/kernels.h"
#include "op.h"

/* ---------------------------------------------------------------------- types */

uint32_t cpu_element(int32_t type) {
    if (type == ANEURALNETWORKS_TENSOR_FLOAT16 || type == ANEURALNETWORKS_FLOAT16) return sizeof(float);
    return cpu_api_element(type);
}

bool cpu_same_form(int32_t type) {
    return type != ANEURALNETWORKS_TENSOR_FLOAT16 && type != ANEURALNETWORKS_FLOAT16 &&
           type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

/** Signed bytes to unsigned ones that are 128 higher, or back. */
static void shift_bytes(size_t count, const uint8_t *from, uint8_t *to) {
    for (size_t i = 0; i < count; i++) to[i] = from[i] ^ 0x80;
}

void cpu_convert_in(const struct cpu_kernels *kernels, int32_t type, size_t count, const void *from, void *to) {
    if (count == 0) return;
    if (type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED)
        shift_bytes(count, from, to);
    else if (cpu_same_form(type))
        memcpy(to, from, count * cpu_api_element(type));
    else
        kernels->half_to_float(count, from, to);
}

void cpu_convert_out(const struct cpu_kernels *kernels, int32_t type, size_t count, const void *from, void *to) {
    if (count == 0) return;
    if (type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED)
        shift_bytes(count, from, to);
    else if (cpu_same_form(type))
        memcpy(to, from, count * cpu_api_element(type));
    else
        kernels->float_to_half(count, from, to);
}

bool cpu_elements(int32_t type, const struct cpu_shape *shape, size_t *count) {
    const uint32_t element = cpu_api_element(type);
    uint64_t total = 1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        total *= shape->dims[i];
        if (total > UINT32_MAX) return false;
    }
    *count = (size_t)total;
    return total * element <= UINT32_MAX;
}

bool cpu_extents_known(const struct cpu_shape *shape) {
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] == CPU_UNKNOWN) return false;
    return true;
}

bool cpu_shape_known(const struct cpu_tensor *t) { return t->known_rank && cpu_extents_known(&t->shape); }

bool cpu_shape_merge(struct cpu_shape *to, const struct cpu_shape *from) {
    if (to->rank != from->rank) return false;
    for (uint32_t i = 0; i < to->rank; i++) {
        if (!cpu_agree(to->dims[i], from->dims[i])) return false;
        to->dims[i] = cpu_merge(to->dims[i], from->dims[i]);
    }
    return true;
}

bool cpu_shape_refine(bool *known_rank, struct cpu_shape *to, const struct cpu_shape *from) {
    if (*known_rank) return cpu_shape_merge(to, from);
    *known_rank = true;
    *to = *from;
    return true;
}

/* --------------------------------------------------------------------- import */

static const void *constant_bytes(const struct nnvts_model *model, const struct nnvts_operand *o,
                                  const uint8_t *const *pools) {
    if (o->lifetime == NNVTS_CONSTANT_COPY) return (const uint8_t *)model->operand_values + o->location.offset;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE) return pools[o->location.pool] + o->location.offset;
    return NULL;
}

static void import_shape(const struct nnvts_operand *o, struct cpu_tensor *t) {
    t->known_rank = !cpu_is_tensor(o->type) || o->dimension_count > 0;
    t->shape.rank = o->dimension_count;
    t->open = t->known_rank ? 0 : UINT32_MAX;
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        t->shape.dims[i] = o->dimensions[i] ? o->dimensions[i] : CPU_UNKNOWN;
        if (o->dimensions[i] == 0) t->open |= 1u << i;
    }
}

static bool import_channels(struct cpu_model *m, const struct nnvts_operand *o, struct cpu_tensor *t) {
    if (o->channel_quant.scale_count == 0) return true;
    float *scales = cpu_arena_array(&m->arena, o->channel_quant.scale_count, sizeof *scales);
    if (!scales) return false;
    memcpy(scales, o->channel_quant.scales, o->channel_quant.scale_count * sizeof *scales);
    t->scales = scales;
    t->channels = o->channel_quant.scale_count;
    t->channel_dim = o->channel_quant.channel_dim;
    return true;
}

static bool import_operand(struct cpu_model *m, const struct nnvts_model *model, const struct nnvts_operand *o,
                           const uint8_t *const *pools, struct cpu_tensor *t) {
    *t = (struct cpu_tensor){
        .type = o->type,
        .lifetime = o->lifetime,
        .scale = o->scale,
        .zero_point = o->zero_point + (o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 128 : 0),
        .present = o->lifetime != NNVTS_NO_VALUE,
    };
    if (o->dimension_count > CPU_MAX_RANK) {
        m->too_deep = true;
        return true;
    }
    import_shape(o, t);
    if (!import_channels(m, o, t)) return false;
    const void *bytes = constant_bytes(model, o, pools);
    if (!bytes) return true;
    if (cpu_is_tensor(o->type) || cpu_api_element(o->type) == 0) {
        t->data = (void *)(uintptr_t)bytes; /* only read */
        t->borrowed = true;
        return true;
    }
    t->data = cpu_arena_alloc(&m->arena, sizeof(float)); /* a scalar: its value may be needed at once */
    if (!t->data) return false;
    if (o->type == ANEURALNETWORKS_FLOAT16) {
        uint16_t half;
        memcpy(&half, bytes, sizeof half);
        const float value = cpu_half_to_float(half);
        memcpy(t->data, &value, sizeof value);
    } else {
        memcpy(t->data, bytes, cpu_api_element(o->type));
    }
    return true;
}

static const uint32_t *import_list(struct cpu_model *m, const uint32_t *list, uint32_t count) {
    uint32_t *copy = cpu_arena_array(&m->arena, count, sizeof *copy);
    if (copy && count) memcpy(copy, list, count * sizeof *copy);
    return copy;
}

static bool import_node(struct cpu_model *m, const struct nnvts_operation *op, struct cpu_node *n) {
    *n = (struct cpu_node){
        .code = op->type,
        .op = cpu_op_find(op->type),
        .in_count = op->input_count,
        .out_count = op->output_count,
        .in = import_list(m, op->inputs, op->input_count),
        .out = import_list(m, op->outputs, op->output_count),
    };
    if (!n->in || !n->out) return false;
    for (uint32_t i = 0; i < n->in_count; i++) m->consumers[n->in[i]]++;
    return true;
}

static bool import_graph(struct cpu_model *m, const struct nnvts_model *model, const uint8_t *const *pools) {
    const struct nnvts_subgraph *g = &model->main;
    m->tensors = cpu_arena_array(&m->arena, g->operand_count, sizeof *m->tensors);
    m->nodes = cpu_arena_array(&m->arena, g->operation_count, sizeof *m->nodes);
    m->consumers = cpu_arena_array(&m->arena, g->operand_count, sizeof *m->consumers);
    m->in = import_list(m, g->inputs, g->input_count);
    m->out = import_list(m, g->outputs, g->output_count);
    if (m->arena.failed) return false;
    m->tensor_count = g->operand_count;
    m->node_count = g->operation_count;
    m->in_count = g->input_count;
    m->out_count = g->output_count;
    for (uint32_t i = 0; i < m->tensor_count; i++)
        if (!import_operand(m, model, &g->operands[i], pools, &m->tensors[i])) return false;
    for (uint32_t i = 0; i < m->node_count; i++)
        if (!import_node(m, &g->operations[i], &m->nodes[i])) return false;
    return true;
}

/** Every operation against its record, shapes passed on as far as they are known. */
static bool check_nodes(const struct cpu_model *m) {
    struct cpu_tensor *const tensors = m->tensors;
    for (uint32_t i = 0; i < m->node_count; i++) {
        struct cpu_node *n = &m->nodes[i];
        if (!n->op) continue;
        struct cpu_call call = {.node = n, .tensors = tensors};
        if (!cpu_op_bind(n, tensors) || !cpu_op_check(&call)) return false;
        if (!cpu_op_can_infer(&call)) continue;
        if (!cpu_op_infer(&call)) return false;
        for (uint32_t o = 0; o < n->out_count; o++) {
            struct cpu_tensor *t = &tensors[n->out[o]];
            size_t count;
            if (cpu_out_shape(&call, o)->rank == CPU_UNKNOWN) continue;
            if (!cpu_shape_refine(&t->known_rank, &t->shape, cpu_out_shape(&call, o))) return false;
            if (cpu_shape_known(t) && !cpu_elements(t->type, &t->shape, &count)) return false;
        }
    }
    return true;
}

/** Each extension has a name and a prefix of its own. */
static bool check_extensions(const struct nnvts_model *model) {
    if (model->extension_count && !model->extensions) return false;
    for (uint32_t i = 0; i < model->extension_count; i++) {
        const struct nnvts_extension_prefix *e = &model->extensions[i];
        if (!e->name || !e->name[0] || e->prefix == 0) return false;
        for (uint32_t k = 0; k < i; k++)
            if (model->extensions[k].prefix == e->prefix) return false;
    }
    return true;
}

static bool check_model(const struct nnvts_model *model) {
    if (model->referenced_count && !model->referenced) return false;
    if (!check_extensions(model)) return false;
    if (!cpu_check_subgraph(model, &model->main)) return false;
    for (uint32_t i = 0; i < model->referenced_count; i++)
        if (!cpu_check_subgraph(model, &model->referenced[i])) return false;
    return cpu_check_references(model);
}

enum nnvts_status cpu_model_import(const struct nnvts_model *model, const uint8_t *const *pools,
                                   struct cpu_model *out) {
    *out = (struct cpu_model){0};
    if (!check_model(model)) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (!import_graph(out, model, pools)) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (out->too_deep) return NNVTS_STATUS_NONE;
    return check_nodes(out) ? NNVTS_STATUS_NONE : NNVTS_STATUS_INVALID_ARGUMENT;
}

bool cpu_model_supports(const struct cpu_model *model, uint32_t i) { return !model->too_deep && model->nodes[i].op; }

size_t cpu_model_constant_bytes(const struct cpu_model *model) {
    size_t total = 0, count;
    for (uint32_t i = 0; i < model->tensor_count; i++) {
        const struct cpu_tensor *t = &model->tensors[i];
        if (t->data && cpu_is_tensor(t->type) && cpu_elements(t->type, &t->shape, &count))
            total += count * cpu_element(t->type);
    }
    return total;
}

/** A copy of a borrowed constant, in the kernels' form. */
static bool own(struct cpu_model *model, const struct cpu_kernels *kernels, struct cpu_tensor *t) {
    const void *bytes = t->data;
    const size_t count = cpu_extent(&t->shape, 0, t->shape.rank);
    t->data = cpu_arena_raw(&model->arena, count * cpu_element(t->type));
    if (!t->data) return false;
    cpu_convert_in(kernels, t->type, count, bytes, t->data);
    t->borrowed = false;
    return true;
}

bool cpu_model_convert_constants(struct cpu_model *model, const struct cpu_kernels *kernels, const bool *except) {
    for (uint32_t i = 0; i < model->tensor_count; i++) {
        struct cpu_tensor *t = &model->tensors[i];
        if (!t->borrowed || !cpu_is_tensor(t->type) || (except && except[i])) continue;
        const bool aligned = (uintptr_t)t->data % cpu_element(t->type) == 0;
        if ((!cpu_same_form(t->type) || !aligned) && !own(model, kernels, t)) return false;
    }
    return true;
}

bool cpu_model_own_constants(struct cpu_model *model, const struct cpu_kernels *kernels) {
    for (uint32_t i = 0; i < model->tensor_count; i++) {
        struct cpu_tensor *t = &model->tensors[i];
        if (t->borrowed && cpu_is_tensor(t->type) && !own(model, kernels, t)) return false;
    }
    return true;
}

void cpu_model_free(struct cpu_model *model) {
    cpu_arena_free(&model->arena);
    *model = (struct cpu_model){0};
}
