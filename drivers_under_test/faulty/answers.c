/* SPDX-License-Identifier: Apache-2.0 */
/** @file answers.c Tampering with results, memory and answers. */
#include <string.h>

#include "faulty.h"

static uint32_t output_count(const struct tamper *t) { return t->request->output_count; }

/** Calls work for each output that can be reached, after an execution that went well. */
static enum nnvts_status each_output(struct tamper *t, enum nnvts_status status,
                                     void (*work)(const struct tamper_value *v, uint64_t count)) {
    for (uint32_t i = 0; i < output_count(t) && status == NNVTS_STATUS_NONE; i++)
        if (t->outputs[i].data && t->outputs[i].bytes) work(&t->outputs[i], t->count);
    return status;
}

static void put_nan(const struct tamper_value *v, uint64_t count) {
    const uint32_t nan32 = 0x7fc00000;
    const uint16_t nan16 = 0x7e00;
    uint32_t n = v->elem ? v->bytes / v->elem : 0;
    uint8_t *at = n ? v->data + (count * 7919 % n) * v->elem : NULL;
    if (at && v->type == ANEURALNETWORKS_TENSOR_FLOAT32) memcpy(at, &nan32, 4);
    if (at && v->type == ANEURALNETWORKS_TENSOR_FLOAT16) memcpy(at, &nan16, 2);
}

enum nnvts_status tamper_nan(struct tamper *t, enum nnvts_status status) {
    return t->count % 3 == 2 ? each_output(t, status, put_nan) : status;
}

static void flip_high_bit(const struct tamper_value *v, uint64_t count) {
    uint32_t n = v->elem ? v->bytes / v->elem : 0;
    /* A quarter of the first byte that counts: the sign of a float, 64 units of a byte. */
    if (n) v->data[(count * 104729 % n + 1) * v->elem - 1] ^= v->elem == 1 ? 0x40 : 0x80;
}

enum nnvts_status tamper_unsteady(struct tamper *t, enum nnvts_status status) {
    return t->count % 2 ? each_output(t, status, flip_high_bit) : status;
}

static void restore(const struct tamper_value *v, uint64_t count) {
    (void)count;
    memcpy(v->data, v->before, v->bytes);
}

enum nnvts_status tamper_unwritten(struct tamper *t, enum nnvts_status status) {
    return each_output(t, status, restore);
}

/* ---------------------------------------------------------- memory not its own */

static void write_behind(const struct tamper_value *v, uint64_t count) {
    (void)count;
    memset(v->data + v->bytes, 0, 4);
}

enum nnvts_status tamper_behind(struct tamper *t, enum nnvts_status status) {
    return each_output(t, status, write_behind);
}

static void write_before(const struct tamper_value *v, uint64_t count) {
    (void)count;
    memset(v->data - 4, 0, 4);
}

enum nnvts_status tamper_before(struct tamper *t, enum nnvts_status status) {
    return each_output(t, status, write_before);
}

enum nnvts_status tamper_input(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; i < t->request->input_count; i++)
        if (t->inputs[i].data && t->inputs[i].bytes) t->inputs[i].data[t->inputs[i].bytes - 1] ^= 1;
    return status;
}

/* -------------------------------------------------------------------- answers */

enum nnvts_status tamper_nonsense(struct tamper *t, enum nnvts_status status) {
    (void)t;
    (void)status;
    return (enum nnvts_status)77;
}

enum nnvts_status tamper_shape(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; i < t->result->shape_count; i++) {
        struct nnvts_output_shape *s = &t->result->shapes[i];
        if (s->dimension_count) s->dimensions[s->dimension_count - 1]++;
    }
    return status;
}

enum nnvts_status tamper_insufficient(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; i < t->result->shape_count; i++) t->result->shapes[i].is_sufficient = false;
    return status;
}

enum nnvts_status tamper_shape_count(struct tamper *t, enum nnvts_status status) {
    t->result->shape_count = output_count(t) + 1;
    return status;
}

enum nnvts_status tamper_time(struct tamper *t, enum nnvts_status status) {
    t->result->timing = (struct nnvts_timing){.on_device_ns = 2, .in_driver_ns = 1};
    return status;
}

enum nnvts_status answer_unsupported(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    for (uint32_t i = 0; i < model->main.operation_count && status == NNVTS_STATUS_NONE; i++) supported[i] = false;
    return status;
}

enum nnvts_status answer_unfilled(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    /* What an array held that nobody wrote. */
    if (status == NNVTS_STATUS_NONE && model->main.operation_count)
        memset((uint8_t *)supported + model->main.operation_count - 1, 0xa5, 1);
    return status;
}

enum nnvts_status answer_invalid(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    (void)model;
    (void)supported;
    return status == NNVTS_STATUS_NONE ? NNVTS_STATUS_INVALID_ARGUMENT : status;
}

enum nnvts_status prepare_fails(const struct nnvts_model *model, enum nnvts_status status) {
    (void)model;
    return status == NNVTS_STATUS_NONE ? NNVTS_STATUS_GENERAL_FAILURE : status;
}

enum nnvts_status prepare_writes(const struct nnvts_model *model, enum nnvts_status status) {
    if (model->operand_values_bytes) *(uint8_t *)model->operand_values ^= 1;
    for (uint32_t i = 0; i < model->pool_count; i++)
        if (model->pools[i].data && model->pools[i].size) *(uint8_t *)model->pools[i].data ^= 1;
    return status;
}

/* --------------------------------------------------------------------- device */

void device_nameless(struct nnvts_device *device) { device->name = ""; }

void device_unsorted(struct nnvts_device *device) {
    static const struct nnvts_operand_performance unsorted[] = {
        {ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}, {ANEURALNETWORKS_FLOAT32, {1, 1}}, {ANEURALNETWORKS_FLOAT32, {1, 1}}};
    device->capabilities.operand_performance = unsorted;
    device->capabilities.operand_performance_count = 3;
}

void device_greedy(struct nnvts_device *device) { device->model_cache_files = NNVTS_MAX_CACHE_FILES + 1; }
