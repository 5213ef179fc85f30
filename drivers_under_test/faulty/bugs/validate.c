/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_validate.c Bugs of validation: classes of mistakes that are not noticed, and what is refused without
 * need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

/* ------------------------------------------------- mistakes that are overlooked */

/** Makes an operand right that is wrong in the bug's way: so the other driver does not notice. */
typedef void (*repair_fn)(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o);

/** A model of which each operand is repaired; false if it is too broken to be looked at. Free m->main.operands. */
static bool begin_repair(const struct nnvts_model *model, repair_fn repair, struct nnvts_model *m) {
    const uint32_t n = model->main.operand_count;
    struct nnvts_operand *operands = model->main.operands ? malloc(((size_t)n + 1) * sizeof *operands) : NULL;
    if (!operands) return false;
    memcpy(operands, model->main.operands, n * sizeof *operands);
    for (uint32_t i = 0; i < n; i++) repair(model, i, &operands[i]);
    *m = *model;
    m->main.operands = operands;
    return true;
}

static enum nnvts_status supported_repaired(struct nnvts_device *self, const struct nnvts_model *model, bool *supported,
                                            repair_fn repair) {
    struct nnvts_device *inner = faulty_inner_device(self);
    struct nnvts_model m = *model;
    const bool repaired = begin_repair(model, repair, &m);
    enum nnvts_status st = inner->get_supported_operations(inner, &m, supported);
    if (repaired) free((void *)(uintptr_t)m.main.operands);
    return st;
}

static enum nnvts_status prepare_repaired(struct nnvts_device *self, const struct nnvts_model *model,
                                          const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out,
                                          repair_fn repair) {
    struct nnvts_model m = *model;
    const bool repaired = begin_repair(model, repair, &m);
    enum nnvts_status st = faulty_prepare(self, &m, config, out);
    if (repaired) free((void *)(uintptr_t)m.main.operands);
    return st;
}

static bool is_asymmetric(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
}

static void repair_quantisation(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)model, (void)index;
    if (!isfinite(o->scale) || o->scale < 0) o->scale = 0;
    if (is_asymmetric(o->type) && o->scale == 0) o->scale = 0.5f;
    if (!is_asymmetric(o->type) || o->zero_point < -128 || o->zero_point > 0xffff) o->zero_point = 0;
}

static void repair_rank(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)model, (void)index;
    const bool scalar = o->type == ANEURALNETWORKS_INT32 || o->type == ANEURALNETWORKS_FLOAT32 ||
                        o->type == ANEURALNETWORKS_FLOAT16 || o->type == ANEURALNETWORKS_BOOL;
    if (scalar) o->dimension_count = 0;
}

static void repair_location(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)index;
    struct nnvts_location *l = &o->location;
    if (o->lifetime != NNVTS_CONSTANT_COPY && o->lifetime != NNVTS_CONSTANT_REFERENCE) return;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE && l->pool >= model->pool_count) l->pool = 0;
    const uint64_t size = o->lifetime == NNVTS_CONSTANT_COPY            ? model->operand_values_bytes
                          : l->pool < model->pool_count && model->pools ? model->pools[l->pool].size
                                                                        : 0;
    if ((uint64_t)l->offset + l->length > size) l->offset = 0;
    l->padding = 0;
}

static bool is_used(const struct nnvts_model *model, uint32_t index) {
    for (uint32_t i = 0; i < model->main.operation_count && model->main.operations; i++) {
        const struct nnvts_operation *op = &model->main.operations[i];
        for (uint32_t k = 0; k < op->input_count && op->inputs; k++)
            if (op->inputs[k] == index) return true;
        for (uint32_t k = 0; k < op->output_count && op->outputs; k++)
            if (op->outputs[k] == index) return true;
    }
    return false;
}

static void repair_dead(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    if (o->lifetime == NNVTS_TEMPORARY_VARIABLE && !is_used(model, index)) o->lifetime = NNVTS_NO_VALUE;
}

/* A device that overlooks what repair_NAME repairs. */
#define OVERLOOKS(name)                                                                                                \
    static enum nnvts_status supported_##name(struct nnvts_device *self, const struct nnvts_model *model,              \
                                              bool *supported) {                                                       \
        return supported_repaired(self, model, supported, repair_##name);                                              \
    }                                                                                                                  \
    static enum nnvts_status prepare_##name(struct nnvts_device *self, const struct nnvts_model *model,                \
                                            const struct nnvts_prepare_config *config,                                 \
                                            struct nnvts_prepared_model **out) {                                       \
        return prepare_repaired(self, model, config, out, repair_##name);                                              \
    }                                                                                                                  \
    static void device_overlooks_##name(struct nnvts_device *device) {                                                 \
        device->get_supported_operations = supported_##name;                                                           \
        device->prepare_model = prepare_##name;                                                                        \
    }
OVERLOOKS(quantisation)
OVERLOOKS(rank)
OVERLOOKS(location)
OVERLOOKS(dead)

/* ------------------------------------------------------------- wrong refusals */

/* Asked for support, it says yes to what it would not prepare. */
static enum nnvts_status supported_unchecked(struct nnvts_device *self, const struct nnvts_model *model,
                                             bool *supported) {
    struct nnvts_device *inner = faulty_inner_device(self);
    enum nnvts_status st = inner->get_supported_operations(inner, model, supported);
    if (st != NNVTS_STATUS_INVALID_ARGUMENT) return st;
    for (uint32_t i = 0; i < model->main.operation_count; i++) supported[i] = true;
    return NNVTS_STATUS_NONE;
}
static void device_supported_unchecked(struct nnvts_device *device) {
    device->get_supported_operations = supported_unchecked;
}

static enum nnvts_status prepare_vaguely(struct nnvts_device *self, const struct nnvts_model *model,
                                         const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_GENERAL_FAILURE : st;
}
static void device_vague(struct nnvts_device *device) { device->prepare_model = prepare_vaguely; }

/* An index is used before it is looked at. */
static enum nnvts_status supported_careless(struct nnvts_device *self, const struct nnvts_model *model,
                                            bool *supported) {
    for (uint32_t i = 0; i < model->main.operation_count && model->main.operations; i++)
        for (uint32_t k = 0; k < model->main.operations[i].input_count && model->main.operations[i].inputs; k++)
            if (model->main.operations[i].inputs[k] >= model->main.operand_count) abort();
    struct nnvts_device *inner = faulty_inner_device(self);
    return inner->get_supported_operations(inner, model, supported);
}
static void device_careless(struct nnvts_device *device) { device->get_supported_operations = supported_careless; }

/* What is refused leaves something behind that spoils the next execution. */
static bool spoiled;

static enum nnvts_status prepare_spoiling(struct nnvts_device *self, const struct nnvts_model *model,
                                          const struct nnvts_prepare_config *config,
                                          struct nnvts_prepared_model **out) {
    enum nnvts_status st = faulty_prepare(self, model, config, out);
    spoiled = spoiled || st == NNVTS_STATUS_INVALID_ARGUMENT;
    return st;
}
static void device_spoiling(struct nnvts_device *device) { device->prepare_model = prepare_spoiling; }
static enum nnvts_status tamper_spoiled(struct tamper *t, enum nnvts_status status) {
    const struct tamper_value *v = t->outputs;
    for (uint32_t i = 0; spoiled && v->data && i < v->bytes; i++) v->data[i] ^= 0x40;
    spoiled = false;
    return status;
}

/* ---------------------------------------------------------------- overcautious */

static enum nnvts_status refuse_unused(const struct nnvts_model *model, enum nnvts_status status) {
    for (uint32_t i = 0; i < model->main.operand_count; i++)
        if (!is_used(model, i)) return NNVTS_STATUS_INVALID_ARGUMENT;
    return status;
}

static enum nnvts_status execute_mapped(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    result->shape_count = 0;
    for (uint32_t i = 0; i < request->pool_count && request->pools; i++)
        if (!request->pools[i].data) return NNVTS_STATUS_INVALID_ARGUMENT;
    return inner->execute(inner, request, config, result);
}
static void prepared_mapped(struct nnvts_prepared_model *prepared) { prepared->execute = execute_mapped; }

/* -------------------------------------------------------------------- requests */

static enum nnvts_status execute_unpadded(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config,
                                          struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct nnvts_request r = *request;
    struct nnvts_argument *inputs = request->inputs ? malloc(((size_t)r.input_count + 1) * sizeof *inputs) : NULL;
    if (!inputs) return inner->execute(inner, request, config, result);
    memcpy(inputs, request->inputs, r.input_count * sizeof *inputs);
    for (uint32_t i = 0; i < r.input_count; i++) inputs[i].location.padding = 0;
    r.inputs = inputs;
    enum nnvts_status st = inner->execute(inner, &r, config, result);
    free(inputs);
    return st;
}
static void prepared_unpadded(struct nnvts_prepared_model *prepared) { prepared->execute = execute_unpadded; }

static enum nnvts_status async_unchecked(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                         void *context) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    static const struct nnvts_execution_result nothing = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    enum nnvts_status st = inner->execute_async(inner, request, config, callback, context);
    if (st == NNVTS_STATUS_INVALID_ARGUMENT) callback(context, NNVTS_STATUS_NONE, &nothing);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_NONE : st;
}
static void prepared_async_unchecked(struct nnvts_prepared_model *prepared) {
    if (prepared->execute_async) prepared->execute_async = async_unchecked;
}

static const struct bug bugs[] = {
    BUG("quantisation-unchecked", "scales and zero points that nobody looks at", "all models",
        .device = device_overlooks_quantisation),
    BUG("rank-unchecked", "a scalar's dimensions are ignored", "all models", .device = device_overlooks_rank),
    BUG("location-unchecked", "a constant may lie outside of its pool", "all models",
        .device = device_overlooks_location),
    BUG("dead-values-unchecked", "a value that nobody writes goes unnoticed", "all models",
        .device = device_overlooks_dead),
    BUG("supported-unchecked", "get_supported_operations says yes to broken models", "all models",
        .device = device_supported_unchecked),
    BUG("vague-refusal", "GENERAL_FAILURE where the model is wrong", "all models", .device = device_vague),
    BUG("bad-index-aborts", "an operand index that is used unchecked", "all models", .device = device_careless),
    BUG("spoiled-by-refusal", "a refused model leaves state behind", "the first execution after a refusal",
        .device = device_spoiling, .execute = tamper_spoiled),
    BUG("unused-operand-refused", "a legal model is refused: an operand without readers", "models with such an operand",
        .prepare = refuse_unused),
    BUG("unmapped-pool-refused", "a legal request is refused: pools without a pointer", "all executions",
        .prepared = prepared_mapped),
    BUG("padding-unchecked", "padding of an input may exceed the pool", "all executions",
        .prepared = prepared_unpadded),
    BUG("async-unchecked", "an asynchronous execution that is wrong reports success", "asynchronous executions",
        .prepared = prepared_async_unchecked),
};
const struct bug_group bugs_validate = {bugs, sizeof bugs / sizeof *bugs};
