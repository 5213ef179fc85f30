/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.c Building a model: operands, their values, operations, inputs and outputs. */
#include "reference/runtime/api/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/type.h"
#include "reference/model/validate.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"

enum {
    NULL_ARGUMENT = ANEURALNETWORKS_UNEXPECTED_NULL,
    BAD = ANEURALNETWORKS_BAD_DATA,
    NO_MEMORY = ANEURALNETWORKS_OUT_OF_MEMORY,
    OK = ANEURALNETWORKS_NO_ERROR,
};

/* ---------------------------------------------------------- the object itself */

int ANeuralNetworksModel_create(ANeuralNetworksModel **model) {
    if (!model) return nnv_rt_error(NULL_ARGUMENT, "Model_create", "model is NULL");
    *model = NULL;
    ANeuralNetworksModel *m = calloc(1, sizeof *m);
    struct nnv_rt_building *b = calloc(1, sizeof *b);
    if (m && b && (m->arena = nnv_arena_new()) && (b->scratch = nnv_arena_new())) {
        m->building = b;
        *model = m;
        return OK;
    }
    if (m) nnv_arena_free(m->arena);
    free(m);
    free(b);
    return NO_MEMORY;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel *model) {
    if (!model) return;
    struct nnv_rt_building *b = model->building;
    ANeuralNetworksMemory_free(b->constants);
    nnv_arena_free(b->scratch);
    free(b->graph.operands);
    free(b->graph.operations);
    free(b->extra);
    free(b->shapes);
    free(b->data);
    free(b);
    nnv_arena_free(model->arena);
    free(model);
}

/* The model may still be changed. */
static int check_state(const ANeuralNetworksModel *m, const char *function) {
    if (m->state == NNV_RT_MODEL_BUILDING) return OK;
    return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "the model is %s",
                        m->state == NNV_RT_MODEL_FINISHED ? "finished and cannot be changed any more"
                                                          : "of no use: finish has refused it");
}

/* The same, and it has an operand of this index. */
static int check_operand(const ANeuralNetworksModel *m, int32_t index, const char *function) {
    int result = check_state(m, function);
    if (result) return result;
    if ((uint32_t)index < m->building->graph.noperands) return OK;
    return nnv_rt_error(BAD, function, "there is no operand %d: the model has %u", index, m->building->graph.noperands);
}

static bool grow(void *array, size_t room, size_t size) {
    void *grown = realloc(*(void **)array, room * size);
    if (grown) *(void **)array = grown;
    return grown != NULL;
}

/* ------------------------------------------------------------------- operands */

static bool more_operands(struct nnv_rt_building *b) {
    if (b->graph.noperands < b->operand_room) return true;
    if (b->operand_room > INT32_MAX / 2) return false;
    size_t room = b->operand_room ? b->operand_room * 2u : 64;
    if (!grow(&b->graph.operands, room, sizeof *b->graph.operands) || !grow(&b->extra, room, sizeof *b->extra) ||
        !grow(&b->shapes, room, sizeof *b->shapes) || !grow(&b->data, room, sizeof *b->data))
        return false;
    b->operand_room = (uint32_t)room;
    return true;
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type) {
    static const char function[] = "Model_addOperand";
    if (!model || !type) return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", model ? "type" : "model");
    int result = check_state(model, function);
    if (!result) result = nnv_rt_check_type(type, function);
    if (result) return result;
    struct nnv_rt_building *b = model->building;
    uint32_t *dims = nnv_arena_copy(model->arena, type->dimensions, type->dimensionCount * sizeof *dims);
    if (!dims || !more_operands(b)) return NO_MEMORY;
    uint32_t i = b->graph.noperands++;
    b->graph.operands[i] = (struct nnv_operand){.type = type->type,
                                                .rank = type->dimensionCount,
                                                .dims = dims,
                                                .scale = type->scale,
                                                .zero_point = type->zeroPoint,
                                                .lifetime = NNV_TEMPORARY_VARIABLE};
    b->extra[i] = (struct nnv_rt_extra){0};
    b->shapes[i] = nnv_operand_shape(&b->graph.operands[i]);
    b->data[i] = NULL;
    return OK;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channelQuant) {
    static const char function[] = "Model_setOperandSymmPerChannelQuantParams";
    if (!model || !channelQuant)
        return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", model ? "channelQuant" : "model");
    int result = check_operand(model, index, function);
    if (result) return result;
    struct nnv_operand *o = &model->building->graph.operands[index];
    uint32_t dim = channelQuant->channelDim, count = channelQuant->scaleCount;
    if (o->type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL)
        return nnv_rt_error(BAD, function, "operand %d is no TENSOR_QUANT8_SYMM_PER_CHANNEL", index);
    if (dim >= o->rank)
        return nnv_rt_error(BAD, function, "operand %d: channelDim %u is not below its rank %u", index, dim, o->rank);
    if (o->dims[dim] == 0 || count != o->dims[dim])
        return nnv_rt_error(BAD, function, "operand %d: %u scales for an extent of %u", index, count, o->dims[dim]);
    if (!channelQuant->scales) return nnv_rt_error(BAD, function, "operand %d: scales is NULL", index);
    for (uint32_t i = 0; i < count; i++)
        if (!(channelQuant->scales[i] > 0) || !isfinite(channelQuant->scales[i]))
            return nnv_rt_error(BAD, function, "operand %d: scale %g of channel %u is not above 0 and finite", index,
                                (double)channelQuant->scales[i], i);
    float *scales = nnv_arena_copy(model->arena, channelQuant->scales, count * sizeof *scales);
    if (!scales) return NO_MEMORY;
    o->channel = (struct nnv_channel_quant){.dim = dim, .count = count, .scales = scales};
    return OK;
}

/* ----------------------------------------------------------------- extensions */

static int extension_code(ANeuralNetworksModel *model, const char *name, uint16_t code, int32_t *type,
                          const char *function) {
    if (!model || !name || !type)
        return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", !model ? "model" : !name ? "the name" : "type");
    uint16_t prefix = nnv_rt_extension_prefix(name);
    if (!prefix) return nnv_rt_error(BAD, function, "there are too many extensions for '%s'", name);
    *type = (int32_t)((uint32_t)prefix << 16 | code);
    return OK;
}

int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model, const char *extensionName,
                                                 uint16_t operandCodeWithinExtension, int32_t *type) {
    return extension_code(model, extensionName, operandCodeWithinExtension, type, "Model_getExtensionOperandType");
}

int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model, const char *extensionName,
                                                   uint16_t operationCodeWithinExtension,
                                                   ANeuralNetworksOperationType *type) {
    return extension_code(model, extensionName, operationCodeWithinExtension, type, "Model_getExtensionOperationType");
}

int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index, const void *data,
                                                 size_t length) {
    static const char function[] = "Model_setOperandExtensionData";
    if (!model) return nnv_rt_error(NULL_ARGUMENT, function, "model is NULL");
    int result = check_operand(model, index, function);
    if (result) return result;
    if (!data != !length || length > UINT32_MAX)
        return nnv_rt_error(BAD, function, "data is %sNULL, but length is %zu", data ? "not " : "", length);
    if (!nnv_rt_is_extension(model->building->graph.operands[index].type))
        return nnv_rt_error(BAD, function, "operand %d has no type of an extension", index);
    void *copy = data ? nnv_arena_copy(model->arena, data, length) : NULL;
    if (data && !copy) return NO_MEMORY;
    model->building->extra[index].extension_data = copy;
    model->building->extra[index].extension_bytes = length;
    return OK;
}

/* --------------------------------------------------------------------- values */

/* The operand becomes something else than it was. */
static struct nnv_operand *assign(ANeuralNetworksModel *m, int32_t index, enum nnv_lifetime lifetime,
                                  const char *function) {
    struct nnv_rt_building *b = m->building;
    struct nnv_operand *o = &b->graph.operands[index];
    struct nnv_rt_extra *e = &b->extra[index];
    if (o->lifetime != NNV_TEMPORARY_VARIABLE)
        nnv_rt_error(0, function, "warning: operand %d has been %s before", index, nnv_lifetime_name(o->lifetime));
    *e = (struct nnv_rt_extra){.extension_data = e->extension_data, .extension_bytes = e->extension_bytes};
    o->lifetime = lifetime;
    o->data = NULL;
    o->bytes = 0;
    b->data[index] = NULL;
    return o;
}

/* A constant of so many bytes fits the operand. */
static int check_length(const ANeuralNetworksModel *m, int32_t index, size_t length, const char *function) {
    const struct nnv_operand *o = &m->building->graph.operands[index];
    bool is_tensor;
    uint64_t bytes = nnv_rt_type_bytes(o->type, &is_tensor);
    if (o->type == ANEURALNETWORKS_MODEL)
        return nnv_rt_error(BAD, function, "operand %d is a model; use Model_setOperandValueFromModel", index);
    bool known = !is_tensor || o->rank > 0;
    for (uint32_t i = 0; i < o->rank && known; i++) {
        known = o->dims[i] != 0;
        bytes *= o->dims[i]; /* fits: addOperand saw to it */
    }
    if (!known)
        return nnv_rt_error(BAD, function, "operand %d: a constant must have a shape that is known in full", index);
    if (length != bytes && !(nnv_rt_is_oem(o->type) && !is_tensor))
        return nnv_rt_error(BAD, function, "operand %d has %llu bytes, but %zu are given", index,
                            (unsigned long long)bytes, length);
    return length <= UINT32_MAX ? OK : nnv_rt_error(BAD, function, "operand %d is too long", index);
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                         size_t length) {
    static const char function[] = "Model_setOperandValue";
    if (!model) return nnv_rt_error(NULL_ARGUMENT, function, "model is NULL");
    if (!buffer && length)
        return nnv_rt_error(NULL_ARGUMENT, function, "buffer is NULL, but length is %zu; both 0: no value", length);
    int result = check_operand(model, index, function);
    if (result) return result;
    if (!buffer) {
        assign(model, index, NNV_NO_VALUE, function);
        return OK;
    }
    result = check_length(model, index, length, function);
    if (result) return result;
    bool copied = length <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES;
    void *copy = copied ? nnv_arena_copy(model->arena, buffer, length) : NULL;
    if (copied && !copy) return NO_MEMORY;
    struct nnv_operand *o = assign(model, index, copied ? NNV_CONSTANT_COPY : NNV_CONSTANT_REFERENCE, function);
    o->bytes = length;
    o->data = copy;
    model->building->data[index] = copy;
    model->building->extra[index].pending = copied ? NULL : buffer;
    return OK;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    static const char function[] = "Model_setOperandValueFromMemory";
    if (!model || !memory) return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", model ? "memory" : "model");
    int result = check_operand(model, index, function);
    if (!result) result = check_length(model, index, length, function);
    if (result) return result;
    if (memory->has_roles || memory->memory.kind == NNVTS_MEMORY_DEVICE)
        return nnv_rt_error(BAD, function, "operand %d: a memory made from a descriptor cannot hold a constant", index);
    if (nnv_rt_memory_check(memory, offset, length) || offset > UINT32_MAX)
        return nnv_rt_error(BAD, function, "operand %d: %zu bytes at offset %zu do not lie in a memory of %llu bytes",
                            index, length, offset, (unsigned long long)memory->memory.size);
    if (!(memory->memory.prot & NNVTS_PROT_READ))
        return nnv_rt_error(BAD, function, "operand %d: the memory was made without PROT_READ", index);
    struct nnv_operand *o = assign(model, index, NNV_CONSTANT_REFERENCE, function);
    o->data = (const uint8_t *)memory->memory.data + offset;
    o->bytes = length;
    model->building->extra[index].memory = memory;
    model->building->extra[index].offset = offset;
    return OK;
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value) {
    static const char function[] = "Model_setOperandValueFromModel";
    if (!model || !value) return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", model ? "value" : "model");
    int result = check_state(model, function);
    if (result) return result;
    if (value->state != NNV_RT_MODEL_FINISHED)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "value is not a finished, valid model");
    result = check_operand(model, index, function);
    if (result) return result;
    if (model->building->graph.operands[index].type != ANEURALNETWORKS_MODEL)
        return nnv_rt_error(BAD, function, "operand %d is not of type MODEL", index);
    if (value->building->depth + 1 > 64) return nnv_rt_error(BAD, function, "models are nested more than 64 deep");
    assign(model, index, NNV_SUBGRAPH, function);
    model->building->extra[index].value = value;
    return OK;
}

/* ------------------------------------------------------- operations and the rest */

static bool more_operations(struct nnv_rt_building *b) {
    if (b->graph.noperations < b->operation_room) return true;
    if (b->operation_room > INT32_MAX / 2) return false;
    size_t room = b->operation_room ? b->operation_room * 2u : 64;
    if (!grow(&b->graph.operations, room, sizeof *b->graph.operations)) return false;
    b->operation_room = (uint32_t)room;
    return true;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs) {
    static const char function[] = "Model_addOperation";
    if (!model || !inputs || !outputs)
        return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", !model ? "model" : !inputs ? "inputs" : "outputs");
    int result = check_state(model, function);
    if (result) return result;
    if (inputCount > INT16_MAX || outputCount > INT16_MAX)
        return nnv_rt_error(BAD, function, "%u inputs and %u outputs are more than an operation may have", inputCount,
                            outputCount);
    struct nnv_operation op = {.type = type,
                               .nin = inputCount,
                               .nout = outputCount,
                               .in = nnv_arena_copy(model->arena, inputs, inputCount * sizeof *inputs),
                               .out = nnv_arena_copy(model->arena, outputs, outputCount * sizeof *outputs)};
    if (!op.in || !op.out) return NO_MEMORY;
    result = nnv_rt_check_operation(model, &op, function);
    if (result) return result;
    if (!more_operations(model->building)) return NO_MEMORY;
    model->building->graph.operations[model->building->graph.noperations++] = op;
    return OK;
}

/* The operands exist, and nothing else has been said of them; marks them. */
static int mark(struct nnv_subgraph *g, uint32_t count, const uint32_t *list, enum nnv_lifetime lifetime,
                const char *function) {
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] >= g->noperands)
            return nnv_rt_error(BAD, function, "there is no operand %u: the model has %u", list[i], g->noperands);
        if (g->operands[list[i]].lifetime != NNV_TEMPORARY_VARIABLE)
            return nnv_rt_error(BAD, function, "operand %u cannot be %s: it is %s", list[i],
                                nnv_lifetime_name(lifetime), nnv_lifetime_name(g->operands[list[i]].lifetime));
        g->operands[list[i]].lifetime = lifetime;
    }
    return OK;
}

static void unmark(struct nnv_subgraph *g, uint32_t count, const uint32_t *list, enum nnv_lifetime lifetime) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] < g->noperands && g->operands[list[i]].lifetime == lifetime)
            g->operands[list[i]].lifetime = NNV_TEMPORARY_VARIABLE;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs) {
    static const char function[] = "Model_identifyInputsAndOutputs";
    if (!model || !inputs || !outputs)
        return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", !model ? "model" : !inputs ? "inputs" : "outputs");
    int result = check_state(model, function);
    if (result) return result;
    if (!inputCount || !outputCount)
        return nnv_rt_error(BAD, function, "a model without %s", inputCount ? "outputs" : "inputs");
    struct nnv_subgraph *g = &model->building->graph;
    if (inputCount > g->noperands || outputCount > g->noperands)
        return nnv_rt_error(BAD, function, "%u inputs and %u outputs, but the model has %u operands", inputCount,
                            outputCount, g->noperands);
    if (g->in) return nnv_rt_error(BAD, function, "the inputs and outputs have been identified before");
    uint32_t *in = nnv_arena_copy(model->arena, inputs, inputCount * sizeof *in);
    uint32_t *out = nnv_arena_copy(model->arena, outputs, outputCount * sizeof *out);
    if (!in || !out) return NO_MEMORY;
    result = mark(g, inputCount, in, NNV_SUBGRAPH_INPUT, function);
    if (!result) result = mark(g, outputCount, out, NNV_SUBGRAPH_OUTPUT, function);
    if (result) { /* none was marked before */
        unmark(g, inputCount, in, NNV_SUBGRAPH_INPUT);
        unmark(g, outputCount, out, NNV_SUBGRAPH_OUTPUT);
        return result;
    }
    g->in = in;
    g->out = out;
    g->nin = inputCount;
    g->nout = outputCount;
    return OK;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow) {
    static const char function[] = "Model_relaxComputationFloat32toFloat16";
    if (!model) return nnv_rt_error(NULL_ARGUMENT, function, "model is NULL");
    int result = check_state(model, function);
    if (!result) model->building->relaxed = allow;
    return result;
}
