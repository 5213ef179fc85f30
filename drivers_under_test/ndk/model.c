/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.c Models of the driver ABI, built call by call. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndk.h"

enum { EXTENSION_BITS = 16 };
enum mark { UNSEEN, BUILDING, BUILT };

/** A model being built. */
struct build {
    const struct ndk_library *lib;
    const struct nnvts_model *from;
    struct ndk_model *to;
    uint8_t *marks; /* enum mark, one a model */
};

/* ------------------------------------------------------------------------ pools */

/** The library may read constants as long as the model lives; the caller's are gone before. */
static enum nnvts_status copy_pools(struct build *b) {
    const struct nnvts_model *m = b->from;
    b->to->values = malloc((size_t)m->operand_values_bytes + 1);
    b->to->memories = calloc((size_t)m->pool_count + 1, sizeof(ANeuralNetworksMemory *));
    b->to->copies = calloc((size_t)m->pool_count + 1, sizeof(char *));
    b->to->fds = calloc((size_t)m->pool_count + 1, sizeof(int));
    if (!b->to->values || !b->to->memories || !b->to->copies || !b->to->fds)
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (m->operand_values_bytes) memcpy(b->to->values, m->operand_values, m->operand_values_bytes);
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < m->pool_count && st == NNVTS_STATUS_NONE; i++) {
        struct common_mapping at;
        st = common_map(&m->pools[i], &at);
        if (st != NNVTS_STATUS_NONE) break;
        b->to->fds[i] = -1;
        b->to->memory_count = i + 1;
        if (b->lib->pointers && at.bytes && (b->to->copies[i] = malloc(at.bytes)))
            memcpy(b->to->copies[i], at.data, at.bytes);
        else if (at.bytes)
            st = ndk_memory_copy(b->lib, at.data, at.bytes, &b->to->fds[i], &b->to->memories[i]);
        common_unmap(&at);
    }
    return st;
}

/* ------------------------------------------------------------------- extensions */

/** The library can't be told of this model, which may be valid all the same. */
static enum nnvts_status beyond_words(struct build *b) {
    b->to->beyond_words = true;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

/** Android's library hands out codes for names that no device has, too. */
static bool some_device_has(const struct ndk_library *lib, const char *name) {
    const struct nnvts_ndk *fn = &lib->fn;
    uint32_t count = 0;
    bool has = false;
    if (!fn->Device_getExtensionSupport || !fn->_getDeviceCount || !fn->_getDevice) return true; /* it can't be asked */
    if (fn->_getDeviceCount(&count) != ANEURALNETWORKS_NO_ERROR) return true;
    for (uint32_t i = 0; i < count && !has; i++) {
        ANeuralNetworksDevice *device = NULL;
        if (fn->_getDevice(i, &device) != ANEURALNETWORKS_NO_ERROR || !device ||
            fn->Device_getExtensionSupport(device, name, &has) != ANEURALNETWORKS_NO_ERROR)
            has = false;
    }
    return has;
}

enum nnvts_status ndk_model_code(const struct ndk_library *lib, const struct nnvts_model *from,
                                 ANeuralNetworksModel *model, int32_t code, bool operation, int32_t *out) {
    const char *name = NULL;
    *out = code;
    if (code >> EXTENSION_BITS == 0) return NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < from->extension_count; i++)
        if (from->extensions[i].prefix == code >> EXTENSION_BITS) name = from->extensions[i].name;
    if (!name || !lib->fn.Model_getExtensionOperandType || !lib->fn.Model_getExtensionOperationType ||
        !some_device_has(lib, name))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    return operation ? NDK_CALL(lib, Model_getExtensionOperationType, model, name, (uint16_t)code, out)
                     : NDK_CALL(lib, Model_getExtensionOperandType, model, name, (uint16_t)code, out);
}

static enum nnvts_status translate(struct build *b, ANeuralNetworksModel *model, int32_t code, bool operation,
                                   int32_t *out) {
    const enum nnvts_status st = ndk_model_code(b->lib, b->from, model, code, operation, out);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? beyond_words(b) : st;
}

/* --------------------------------------------------------------------- operands */

static enum nnvts_status build_model(struct build *b, uint32_t index);

static enum nnvts_status set_value(struct build *b, ANeuralNetworksModel *model, int32_t i,
                                   const struct nnvts_operand *o) {
    const struct nnvts_location *l = &o->location;
    const uint32_t at = (uint32_t)i;
    enum nnvts_status st;
    switch (o->lifetime) {
    case NNVTS_CONSTANT_COPY:
        return NDK_CALL_AT(at, b->lib, Model_setOperandValue, model, i, (const char *)b->to->values + l->offset,
                           l->length);
    case NNVTS_CONSTANT_REFERENCE:
        if (b->to->copies[l->pool])
            return NDK_CALL_AT(at, b->lib, Model_setOperandValue, model, i, b->to->copies[l->pool] + l->offset,
                               l->length);
        if (!b->to->memories[l->pool]) return NNVTS_STATUS_INVALID_ARGUMENT;
        return NDK_CALL_AT(at, b->lib, Model_setOperandValueFromMemory, model, i, b->to->memories[l->pool], l->offset,
                           l->length);
    case NNVTS_NO_VALUE:
        return NDK_CALL_AT(at, b->lib, Model_setOperandValue, model, i, NULL, 0);
    case NNVTS_SUBGRAPH:
        if (!b->lib->fn.Model_setOperandValueFromModel) return NNVTS_STATUS_INVALID_ARGUMENT;
        st = build_model(b, l->offset + 1);
        if (st != NNVTS_STATUS_NONE) return st;
        return NDK_CALL_AT(at, b->lib, Model_setOperandValueFromModel, model, i, b->to->models[l->offset + 1]);
    default:
        return NNVTS_STATUS_NONE;
    }
}

static enum nnvts_status set_parameters(struct build *b, ANeuralNetworksModel *model, int32_t i,
                                        const struct nnvts_operand *o) {
    const struct nnvts_channel_quant *q = &o->channel_quant;
    if (o->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL || q->scale_count) {
        const ANeuralNetworksSymmPerChannelQuantParams scales = {q->channel_dim, q->scale_count, q->scales};
        if (!b->lib->fn.Model_setOperandSymmPerChannelQuantParams) return NNVTS_STATUS_INVALID_ARGUMENT;
        return NDK_CALL_AT((uint32_t)i, b->lib, Model_setOperandSymmPerChannelQuantParams, model, i, &scales);
    }
    if (o->extension_data_bytes == 0) return NNVTS_STATUS_NONE;
    if (!b->lib->fn.Model_setOperandExtensionData) return beyond_words(b);
    return NDK_CALL(b->lib, Model_setOperandExtensionData, model, i, o->extension_data, o->extension_data_bytes);
}

static enum nnvts_status add_operand(struct build *b, ANeuralNetworksModel *model, int32_t i,
                                     const struct nnvts_operand *o) {
    ANeuralNetworksOperandType type = {.dimensionCount = o->dimension_count,
                                       .dimensions = o->dimension_count ? o->dimensions : NULL, /* a scalar has none */
                                       .scale = o->scale,
                                       .zeroPoint = o->zero_point};
    enum nnvts_status st = translate(b, model, o->type, false, &type.type);
    if (st == NNVTS_STATUS_NONE) st = NDK_CALL_AT((uint32_t)i, b->lib, Model_addOperand, model, &type);
    if (st == NNVTS_STATUS_NONE) st = set_parameters(b, model, i, o);
    return st == NNVTS_STATUS_NONE ? set_value(b, model, i, o) : st;
}

/* ----------------------------------------------------------------------- models */

/** The NDK wants a list even where nothing is in it. */
static const uint32_t *list(const uint32_t *items) {
    static const uint32_t none;
    return items ? items : &none;
}

static enum nnvts_status add_operation(struct build *b, ANeuralNetworksModel *model, uint32_t i,
                                       const struct nnvts_operation *op) {
    int32_t code;
    const enum nnvts_status st = translate(b, model, op->type, true, &code);
    if (st != NNVTS_STATUS_NONE) return st;
    return NDK_CALL_AT(i, b->lib, Model_addOperation, model, code, op->input_count, list(op->inputs), op->output_count,
                       list(op->outputs));
}

static enum nnvts_status fill_model(struct build *b, ANeuralNetworksModel *model, const struct nnvts_subgraph *g) {
    enum nnvts_status st = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < g->operand_count && st == NNVTS_STATUS_NONE; i++)
        st = add_operand(b, model, (int32_t)i, &g->operands[i]);
    for (uint32_t i = 0; i < g->operation_count && st == NNVTS_STATUS_NONE; i++)
        st = add_operation(b, model, i, &g->operations[i]);
    if (st != NNVTS_STATUS_NONE) return st;
    st = NDK_CALL(b->lib, Model_identifyInputsAndOutputs, model, g->input_count, list(g->inputs), g->output_count,
                  list(g->outputs));
    /* A valid model may compute from constants alone, but not every library takes one. */
    if (st != NNVTS_STATUS_NONE && g->input_count == 0) return beyond_words(b);
    if (st == NNVTS_STATUS_NONE && b->from->relax_float32_to_float16 &&
        b->lib->fn.Model_relaxComputationFloat32toFloat16) /* exact is allowed, too */
        st = NDK_CALL(b->lib, Model_relaxComputationFloat32toFloat16, model, true);
    return st == NNVTS_STATUS_NONE ? NDK_CALL(b->lib, Model_finish, model) : st;
}

/** Model 0 is the main one, 1 + i is referenced[i]; what a model refers to is built before it is finished. */
static enum nnvts_status build_model(struct build *b, uint32_t index) {
    if (b->marks[index] == BUILT) return NNVTS_STATUS_NONE;
    if (b->marks[index] == BUILDING) return NNVTS_STATUS_INVALID_ARGUMENT; /* in a circle */
    b->marks[index] = BUILDING;
    enum nnvts_status st = NDK_MAKE(b->lib, Model_create, &b->to->models[index], &b->to->models[index]);
    if (st == NNVTS_STATUS_NONE)
        st = fill_model(b, b->to->models[index], index ? &b->from->referenced[index - 1] : &b->from->main);
    b->marks[index] = BUILT;
    b->to->order[b->to->built++] = index;
    return st;
}

enum nnvts_status ndk_model_build(const struct ndk_library *lib, const struct nnvts_model *model,
                                  struct ndk_model *out) {
    *out = (struct ndk_model){.lib = lib};
    ndk_forget();
    enum nnvts_status st = ndk_model_check(model);
    if (st != NNVTS_STATUS_NONE) return st;
    struct build b = {lib, model, out, calloc((size_t)model->referenced_count + 1, 1)};
    out->models = calloc((size_t)model->referenced_count + 1, sizeof *out->models);
    out->order = calloc((size_t)model->referenced_count + 1, sizeof *out->order);
    st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (b.marks && out->models && out->order) {
        st = copy_pools(&b);
        if (st == NNVTS_STATUS_NONE) st = build_model(&b, 0);
    }
    free(b.marks);
    return st;
}

void ndk_model_free(struct ndk_model *m) {
    while (m->built) m->lib->fn.Model_free(m->models[m->order[--m->built]]);
    for (uint32_t i = 0; i < m->memory_count; i++) {
        if (m->memories[i]) m->lib->fn.Memory_free(m->memories[i]);
        if (m->fds[i] >= 0) close(m->fds[i]);
        free(m->copies[i]);
    }
    free(m->models);
    free(m->order);
    free(m->memories);
    free(m->copies);
    free(m->fds);
    free(m->values);
    *m = (struct ndk_model){0};
}
