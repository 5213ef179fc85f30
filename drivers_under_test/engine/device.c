/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c The device. Options: threads=N, loose. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "shell.h"

enum { MOST_THREADS = 64 };
static const char options_expected[] = "options are \"threads=N\" (1 to 64) and \"loose\", separated by commas";

#define FAST                                                                                                           \
    { 0.4f, 0.4f }
#define NEVER                                                                                                          \
    { FLT_MAX, FLT_MAX }

static const struct nnvts_operand_performance performance[] = {
    {ANEURALNETWORKS_FLOAT32, FAST},
    {ANEURALNETWORKS_INT32, FAST},
    {ANEURALNETWORKS_TENSOR_FLOAT32, FAST},
    {ANEURALNETWORKS_TENSOR_INT32, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, FAST},
    {ANEURALNETWORKS_BOOL, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, FAST},
};

static enum nnvts_device_status get_status(struct nnvts_device *self) { return (void)self, NNVTS_DEVICE_AVAILABLE; }

/** INVALID_ARGUMENT for a model that breaks a rule. */
static enum nnvts_status judge(const struct engine_device *d, const struct nnvts_model *model) {
    if (!model) return NNVTS_STATUS_INVALID_ARGUMENT;
    bool *theirs = calloc((size_t)model->main.operation_count + 1, sizeof *theirs);
    if (!theirs) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    const enum nnvts_status st = d->judge->get_supported_operations(d->judge, model, theirs);
    free(theirs);
    return st;
}

/** What can be compiled is supported: there is no list that could differ from it. */
static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    const struct engine_device *d = (struct engine_device *)self;
    if (!supported) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = judge(d, model);
    if (st != NNVTS_STATUS_NONE) return st;
    struct engine_model m;
    st = engine_import(model, &m);
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && i < m.node_count; i++) {
        void *state = engine_compile_node(d, &m, i);
        supported[i] = state != NULL;
        if (state) this_engine.discard(state);
    }
    engine_model_free(&m);
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct engine_device *d = (struct engine_device *)self;
    if (!out || (config && (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED ||
                            config->priority > NNVTS_PRIORITY_HIGH)))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (config && config->deadline_ns <= engine_now_ns()) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    const enum nnvts_status st = judge(d, model);
    return st == NNVTS_STATUS_NONE ? engine_prepare(d, model, out) : st;
}

static void release(struct nnvts_device *self) {
    struct engine_device *d = (struct engine_device *)self;
    d->judge->release(d->judge);
    this_engine.close(d->self);
    free(d);
}

struct options {
    uint32_t threads;
    bool loose;
};

/** False for options that it does not know. */
static bool read_options(const char *text, struct options *o) {
    static const char threads[] = "threads=", loose[] = "loose";
    *o = (struct options){.threads = 1};
    while (text && *text) {
        if (strncmp(text, threads, strlen(threads)) == 0) {
            text += strlen(threads);
            for (o->threads = 0; *text >= '0' && *text <= '9' && o->threads <= MOST_THREADS; text++)
                o->threads = o->threads * 10 + (uint32_t)(*text - '0');
        } else if (strncmp(text, loose, strlen(loose)) == 0) {
            text += strlen(loose);
            o->loose = true;
        } else {
            return false;
        }
        if (*text == ',')
            text++;
        else if (*text)
            return false;
    }
    return o->threads >= 1 && o->threads <= MOST_THREADS;
}

static void fill_device(struct engine_device *d) {
    d->base = (struct nnvts_device){
        .struct_size = sizeof d->base,
        .feature_level = d->judge->feature_level,
        .type = ANEURALNETWORKS_DEVICE_CPU,
        .name = this_engine.device,
        .version = this_engine.version,
        .capabilities =
            {
                .relaxed_scalar = FAST,
                .relaxed_tensor = FAST,
                .if_performance = NEVER,
                .while_performance = NEVER,
                .operand_performance_count = sizeof performance / sizeof *performance,
                .operand_performance = performance,
            },
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .release = release,
    };
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    struct options o;
    const char *reason = read_options(options, &o) ? NULL : options_expected;
    struct engine_device *d = out ? calloc(1, sizeof *d) : NULL;
    if (!d) return out ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNVTS_STATUS_INVALID_ARGUMENT;
    if (!reason) reason = common_open_cpu("threads=1", &d->judge);
    if (!reason) {
        d->self = this_engine.open(o.threads, o.loose);
        if (!d->self) reason = "the engine can't run on this machine";
    }
    if (reason) {
        if (d->judge) d->judge->release(d->judge);
        free(d);
        if (error) *error = reason;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    fill_device(d);
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const options[] = {"threads=1", "threads=2", "loose", NULL};
    static struct nnvts_driver driver = {
        .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .open = open_device, .options = options};
    driver.name = this_engine.name;
    return &driver;
}
