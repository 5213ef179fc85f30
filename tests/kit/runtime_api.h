/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime_api.h Models through the functions of the API, and drivers that answer as they are told. */
#ifndef NNV_TEST_RUNTIME_API_H
#define NNV_TEST_RUNTIME_API_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "NeuralNetworks.h"
#include "reference/runtime/device.h"
#include "reference/runtime/api/model.h"

#define TEST_FN __attribute__((unused)) static

/* ------------------------------------------------------------------- models */

#define DIMS(...)                                                                                                      \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) { __VA_ARGS__ }
#define SCALAR 0, NULL

TEST_FN ANeuralNetworksModel *new_model(void) {
    ANeuralNetworksModel *m = NULL;
    assert_int_equal(ANeuralNetworksModel_create(&m), ANEURALNETWORKS_NO_ERROR);
    assert_non_null(m);
    return m;
}

TEST_FN int try_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims, float scale,
                        int32_t zero_point) {
    const ANeuralNetworksOperandType t = {
        .type = type, .dimensionCount = rank, .dimensions = dims, .scale = scale, .zeroPoint = zero_point};
    return ANeuralNetworksModel_addOperand(m, &t);
}

TEST_FN void operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims) {
    assert_int_equal(try_operand(m, type, rank, dims, 0, 0), ANEURALNETWORKS_NO_ERROR);
}

TEST_FN void set_int(ANeuralNetworksModel *m, int32_t index, int32_t value) {
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, index, &value, sizeof value), ANEURALNETWORKS_NO_ERROR);
}

#define LIST(...)                                                                                                      \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) { __VA_ARGS__ }
#define OPERATION(m, code, inputs, outputs)                                                                            \
    assert_int_equal(ANeuralNetworksModel_addOperation(m, code, inputs, outputs), ANEURALNETWORKS_NO_ERROR)
#define IN_OUT(m, inputs, outputs)                                                                                     \
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, inputs, outputs), ANEURALNETWORKS_NO_ERROR)
#define FINISH(m) assert_int_equal(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_NO_ERROR)

/* ------------------------------------------------------------------ drivers */

/** Supports what can() says; keeps a note of the last model it was asked about. */
struct fake {
    struct nnvts_device base;
    bool (*can)(int32_t operation);
    enum nnvts_status answer;
    enum nnvts_device_status status;
    unsigned asked;
    uint32_t operations, inputs, outputs, operands, referenced; /**< of that model */
    bool relaxed;
};

TEST_FN enum nnvts_device_status fake_status(struct nnvts_device *self) { return ((struct fake *)self)->status; }

TEST_FN enum nnvts_status fake_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct fake *f = (struct fake *)self;
    f->asked++;
    f->operations = model->main.operation_count;
    f->inputs = model->main.input_count;
    f->outputs = model->main.output_count;
    f->operands = model->main.operand_count;
    f->referenced = model->referenced_count;
    f->relaxed = model->relax_float32_to_float16;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        supported[i] = !f->can || f->can(model->main.operations[i].type);
    return f->answer;
}

TEST_FN enum nnvts_status fake_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    (void)model;
    (void)config;
    (void)out;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

TEST_FN void fake_release(struct nnvts_device *self) { (void)self; }

TEST_FN struct fake fake_of(const char *name, int32_t level) {
    return (struct fake){.base = {.struct_size = sizeof(struct nnvts_device),
                                  .feature_level = level,
                                  .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
                                  .name = name,
                                  .version = "7",
                                  .get_status = fake_status,
                                  .get_supported_operations = fake_supported,
                                  .prepare_model = fake_prepare,
                                  .release = fake_release}};
}

#endif
