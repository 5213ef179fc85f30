/* SPDX-License-Identifier: Apache-2.0 */
/** @file fake_driver.c See fake_driver.h. */
#include "tests/kit/fake_driver.h"

#include <fenv.h>
#include <unistd.h>

struct fake_state fake;

static enum nnvts_device_status fake_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status fake_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    uint32_t n = model->main.operation_count;
    if (fake.fault == SUPPORTED_INVALID) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (fake.fault == SUPPORTED_77) return (enum nnvts_status)77;
    if (fake.fault == UNFILLED) return NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < n; i++) supported[i] = fake.fault != UNSUPPORTED;
    if (fake.fault == SUPPORTED_OVERRUN) supported[n] = false;
    return NNVTS_STATUS_NONE;
}

uint8_t *fake_data(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return (uint8_t *)r->pools[a->location.pool].data + a->location.offset;
}

static enum nnvts_status fake_shapes(struct nnvts_execution_result *result) {
    struct nnvts_output_shape *s = result->shapes;
    result->shape_count = 1;
    s->is_sufficient = fake.fault != EXECUTE_INSUFFICIENT && fake.fault != EXECUTE_NOT_SUFFICIENT;
    s->dimension_count = fake.rank;
    memcpy(s->dimensions, fake.dims, fake.rank * sizeof *fake.dims);
    if (fake.fault == EXECUTE_WRONG_EXTENT) s->dimensions[0]++;
    if (fake.fault == EXECUTE_AXES_EXCHANGED) {
        s->dimensions[0] = fake.dims[1];
        s->dimensions[1] = fake.dims[0];
    }
    if (fake.fault == EXECUTE_WRONG_RANK) s->dimensions[s->dimension_count++] = 1;
    if (fake.fault == EXECUTE_HUGE_RANK) s->dimension_count = 1000;
    if (fake.fault == EXECUTE_WRONG_COUNT) result->shape_count = 2;
    if (fake.fault == EXECUTE_NO_SHAPES) result->shape_count = 0;
    if (fake.fault == EXECUTE_TIMES) result->timing.in_driver_ns = 5;
    if (fake.fault == EXECUTE_INSUFFICIENT || fake.fault == EXECUTE_INSUFFICIENT_BUT_ENOUGH)
        return NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    return NNVTS_STATUS_NONE;
}

/** Answers fake.values. */
static enum nnvts_status fake_answer_all(const struct nnvts_request *r, struct nnvts_execution_result *result) {
    enum nnvts_status status = NNVTS_STATUS_NONE;
    for (uint32_t i = 0; i < r->output_count; i++) {
        const struct nnv_value *v = &fake.values[i];
        struct nnvts_output_shape *s = &result->shapes[i];
        s->is_sufficient = v->bytes <= r->outputs[i].location.length;
        if (s->is_sufficient)
            memcpy(fake_data(r, &r->outputs[i]), v->data, v->bytes);
        else
            status = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
        s->dimension_count = v->rank;
        memcpy(s->dimensions, v->dims, v->rank * sizeof *v->dims);
    }
    result->shape_count = r->output_count;
    return status;
}

static enum nnvts_status fake_execute(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    (void)self;
    (void)config;
    if (fake.values) return fake_answer_all(r, result);
    uint8_t *out = fake_data(r, &r->outputs[0]);
    uint32_t n = r->outputs[0].location.length;
    for (uint32_t i = 0; i < r->input_count && i < 2; i++) fake.input[i] = r->inputs[i];
    fake.output[0] = r->outputs[0];
    if (fake.fault == EXECUTE_FAILS) return NNVTS_STATUS_GENERAL_FAILURE;
    if (fake.fault == EXECUTE_77) return (enum nnvts_status)77;
    if (fake.fault == EXECUTE_FAILS_WITH_SHAPES) {
        result->shape_count = 1;
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    const void *answer = fake.fault == EXECUTE_LATE_CONSTANT ? fake.constant : fake.answer;
    if (fake.fault != EXECUTE_UNWRITTEN && n) memcpy(out, answer, n);
    if (fake.fault == EXECUTE_BEHIND) memset(out + n + 3, 0, 4);
    if (fake.fault == EXECUTE_BEFORE) memset(out - 8, 0, 4);
    if (fake.fault == EXECUTE_INPUT) fake_data(r, &r->inputs[0])[0] ^= 1;
    if (fake.fault == EXECUTE_BEFORE_INPUT) fake_data(r, &r->inputs[0])[-1] ^= 1;
    if (fake.fault == EXECUTE_ROUNDING) fesetround(FE_UPWARD);
    if (fake.fault == EXECUTE_CLOSES) close(r->pools[0].fd);
    return fake_shapes(result);
}

static void fake_release_prepared(struct nnvts_prepared_model *self) {
    (void)self;
    fake.released++;
}

static enum nnvts_status fake_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    (void)config;
    static struct nnvts_prepared_model objects[2];
    struct nnvts_prepared_model *prepared = &objects[fake.prepared % 2];
    *prepared = (struct nnvts_prepared_model){
        .struct_size = sizeof *prepared, .execute = fake_execute, .release = fake_release_prepared};
    uint8_t *pool = model->pool_count ? model->pools[0].data : NULL;
    for (uint32_t i = 0; i < model->main.operand_count && pool; i++)
        if (model->main.operands[i].lifetime == NNVTS_CONSTANT_REFERENCE)
            fake.constant = pool + model->main.operands[i].location.offset;
    if (fake.fault == PREPARE_CHANGES_CONSTANT) *(uint8_t *)model->operand_values ^= 1;
    if (fake.fault == PREPARE_WRITES_BEHIND_CONSTANT) pool[model->pools[0].size - 1] ^= 1;
    if (fake.fault == PREPARE_FAILS) return NNVTS_STATUS_GENERAL_FAILURE;
    if (fake.fault == PREPARE_77) return (enum nnvts_status)77;
    if (fake.fault == PREPARE_NOTHING) return NNVTS_STATUS_NONE;
    if (fake.fault == PREPARE_SMALL) prepared->struct_size = 8;
    if (fake.fault == PREPARE_NO_EXECUTE) prepared->execute = NULL;
    *out = prepared;
    fake.prepared++;
    return fake.fault == PREPARE_FAILS_WITH_MODEL ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE;
}

static void fake_release(struct nnvts_device *self) { (void)self; }

struct nnvts_device fake_device;

static enum nnvts_status fake_open(const char *options, struct nnvts_device **out, const char **error) {
    if (options && strcmp(options, "mute") == 0) return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    if (options) {
        *error = "expected 'slow' or 'quick'";
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    fake_device = (struct nnvts_device){
        .struct_size = sizeof fake_device,
        .feature_level = fake.level,
        .type = ANEURALNETWORKS_DEVICE_CPU,
        .name = "fake",
        .version = "1",
        .capabilities = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, NULL},
        .get_status = fake_status,
        .get_supported_operations = fake_supported,
        .prepare_model = fake_prepare,
        .release = fake_release,
    };
    *out = &fake_device;
    return NNVTS_STATUS_NONE;
}

static const char *const fake_options[] = {"slow", "quick", NULL};
const struct nnvts_driver fake_driver = {.struct_size = sizeof fake_driver,
                                         .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                         .name = "fake",
                                         .open = fake_open,
                                         .options = fake_options};

void fake_start(struct nnv_client *client, int level) {
    struct nnv_err err = {0};
    memset(&fake, 0, sizeof fake);
    fake.level = level;
    *client = (struct nnv_client){0};
    assert_int_equal(nnv_client_attach(client, &fake_driver, "fake", NULL, &err), NNV_OK);
}

struct nnv_spec *fake_spec(const char *json, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_spec_parse(json, strlen(json), "test", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    fake.answer = spec->outputs[0].data;
    fake.rank = spec->outputs[0].rank;
    memcpy(fake.dims, spec->outputs[0].dims, fake.rank * sizeof *fake.dims);
    return spec;
}
