/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c The device. Options: threads=N, loose, and the engine's own. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/text.h"
#include "shell.h"

enum { MOST_THREADS = 64, MOST_OPTION_BYTES = 8192, MOST_LISTED = 16 };

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
    common_forget();
    enum nnvts_status st = judge(d, model);
    if (st != NNVTS_STATUS_NONE) return st;
    struct engine_model m;
    st = engine_import(model, &m);
    if (st == NNVTS_STATUS_NONE && this_engine.whole) {
        void *state = engine_compile_whole(d, &m, supported);
        for (uint32_t i = 0; state && i < m.node_count; i++) supported[i] = true;
        if (state) this_engine.discard(state);
    }
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && !this_engine.whole && i < m.node_count; i++) {
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
    common_forget();
    if (!out || (config && (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED ||
                            config->priority > NNVTS_PRIORITY_HIGH)))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (config && config->deadline_ns <= engine_now_ns()) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    const enum nnvts_status st = judge(d, model);
    return st == NNVTS_STATUS_NONE ? engine_prepare(d, model, out) : st;
}

static void release(struct nnvts_device *self) {
    struct engine_device *d = (struct engine_device *)self;
    if (d->self && this_engine.close) this_engine.close(d->self);
    if (d->judge) d->judge->release(d->judge);
    free(d->self);
    free(d);
}

/** What is expected, in words. */
static const char *options_expected(void) {
    char text[COMMON_TEXT_BYTES];
    int n = snprintf(text, sizeof text, "options are \"threads=N\" (1 to 64), \"loose\"");
    for (const char *const *own = this_engine.own_options; own && *own && n < (int)sizeof text; own++)
        n += snprintf(text + n, sizeof text - (size_t)n, ", \"%s\"", *own);
    if (n < (int)sizeof text) snprintf(text + n, sizeof text - (size_t)n, ", separated by commas");
    return common_keep_text(text);
}

/** Takes one option apart. False: it is none. */
static bool read_option(char *text, struct engine_options *o) {
    char *equals = strchr(text, '=');
    if (strcmp(text, "loose") == 0) return o->loose = true;
    if (equals) *equals = '\0';
    const char *value = equals ? equals + 1 : "";
    if (strcmp(text, "threads") == 0) {
        char *end = NULL;
        o->threads = *value >= '0' && *value <= '9' ? (uint32_t)strtoul(value, &end, 10) : 0;
        return end && *end == '\0' && o->threads >= 1 && o->threads <= MOST_THREADS;
    }
    if (!this_engine.own_options || o->count == ENGINE_MOST_OPTIONS) return false;
    o->own[o->count++] = (struct engine_option){text, value};
    return true;
}

/** Takes text, which it changes, apart. False for what are no options. */
static bool read_options(char *text, struct engine_options *o) {
    char *rest = NULL;
    *o = (struct engine_options){.threads = 1};
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!read_option(one, o)) return false;
    return true;
}

static const char *last_error(struct nnvts_device *self) { return (void)self, common_told(); }

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
        .last_error = last_error,
    };
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    struct engine_options o;
    char text[MOST_OPTION_BYTES];
    const int n = snprintf(text, sizeof text, "%s", options ? options : "");
    struct engine_device *d = out ? calloc(1, sizeof *d) : NULL;
    if (!d) return out ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNVTS_STATUS_INVALID_ARGUMENT;
    const char *reason = n < (int)sizeof text && read_options(text, &o) ? NULL : options_expected();
    if (!reason) reason = common_open_cpu("threads=1", &d->judge);
    if (!reason && !(d->self = calloc(1, this_engine.bytes))) reason = "out of memory";
    if (!reason) reason = this_engine.open(d->self, &o);
    if (reason) {
        release(&d->base);
        if (error) *error = reason;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    fill_device(d);
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *const all[] = {"threads=1", "threads=2", "loose", NULL};
    static const char *options[MOST_LISTED + 1];
    static struct nnvts_driver driver = {
        .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .open = open_device, .options = options};
    uint32_t n = 0;
    driver.name = this_engine.name;
    for (const char *const *own = this_engine.own_options; own && *own && n < MOST_LISTED; own++) options[n++] = *own;
    for (const char *const *one = all; *one && n < MOST_LISTED; one++) options[n++] = *one;
    return &driver;
}
