/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime_api.c See runtime_api.h. */
#include "tests/kit/runtime_api.h"

ANeuralNetworksModel *new_model(void) {
    ANeuralNetworksModel *m = NULL;
    assert_int_equal(ANeuralNetworksModel_create(&m), ANEURALNETWORKS_NO_ERROR);
    assert_non_null(m);
    return m;
}

int try_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims, float scale,
                int32_t zero_point) {
    const ANeuralNetworksOperandType t = {
        .type = type, .dimensionCount = rank, .dimensions = dims, .scale = scale, .zeroPoint = zero_point};
    return ANeuralNetworksModel_addOperand(m, &t);
}

void add_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims) {
    assert_int_equal(try_operand(m, type, rank, dims, 0, 0), ANEURALNETWORKS_NO_ERROR);
}

void set_int(ANeuralNetworksModel *m, int32_t index, int32_t value) {
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, index, &value, sizeof value), ANEURALNETWORKS_NO_ERROR);
}

static enum nnvts_device_status fake_status(struct nnvts_device *self) { return ((struct answering *)self)->status; }

static enum nnvts_status fake_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct answering *f = (struct answering *)self;
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

static enum nnvts_status fake_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    (void)model;
    (void)config;
    (void)out;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static void fake_release(struct nnvts_device *self) { (void)self; }

struct answering answering(const char *name, int32_t level) {
    return (struct answering){.base = {.struct_size = sizeof(struct nnvts_device),
                                       .feature_level = level,
                                       .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
                                       .name = name,
                                       .version = "7",
                                       .get_status = fake_status,
                                       .get_supported_operations = fake_supported,
                                       .prepare_model = fake_prepare,
                                       .release = fake_release}};
}
