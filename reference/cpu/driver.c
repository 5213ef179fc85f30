/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c The device. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "reference/model/op.h"
#include "reference/cpu/executor.h"

enum { LEVEL = 7, RUNTIME_LEVEL = 8 };

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

/** The operation has a record, and so has all that it refers to. */
static bool is_known(const struct nnv_subgraph *s, const struct nnv_operation *op, const bool *known) {
    if (ref_uses_extension(s, op) || !nnv_op(op->type)) return false;
    for (uint32_t i = 0; i < op->nin; i++) {
        const struct nnv_operand *o = &s->operands[op->in[i]];
        if (o->lifetime == NNV_SUBGRAPH && !known[o->subgraph]) return false;
    }
    return true;
}

/** Which referenced subgraphs are known as a whole; NULL when out of memory. */
static const bool *known_subgraphs(const struct nnv_model *m, struct nnv_arena *arena) {
    bool *known = NNV_NEW(arena, bool, m->nreferenced);
    if (!known) return NULL;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t g = 0; g < m->nreferenced; g++) {
            const struct nnv_subgraph *s = &m->referenced[g];
            bool all = !known[g];
            for (uint32_t i = 0; i < s->noperations && all; i++) all = is_known(s, &s->operations[i], known);
            known[g] = known[g] || all;
            changed = changed || all;
        }
    }
    return known;
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    (void)self;
    struct nnv_model *copy = NULL;
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = ref_import(model, arena, &copy);
    if (st == NNVTS_STATUS_NONE || st == NNVTS_STATUS_GENERAL_FAILURE) {
        const bool *known = copy ? known_subgraphs(copy, arena) : NULL;
        for (uint32_t i = 0; i < model->main.operation_count; i++)
            supported[i] = known && is_known(&copy->main, &copy->main.operations[i], known);
        st = NNVTS_STATUS_NONE;
    }
    nnv_arena_free(arena);
    return st;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    if (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED || config->priority > NNVTS_PRIORITY_HIGH)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    struct nnv_model *copy = NULL;
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    struct ref_device *device = (struct ref_device *)self;
    bool extension = false;
    enum nnvts_status st = device->late ? ref_copy(model, arena, &copy, &extension) : ref_import(model, arena, &copy);
    struct nnvts_prepared_model *prepared = NULL;
    if (extension) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st == NNVTS_STATUS_NONE && !(prepared = ref_prepared_new(device, arena, copy)))
        st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st == NNVTS_STATUS_NONE && config->cache) ref_cache_save(copy, config->cache);
    if (st == NNVTS_STATUS_NONE)
        *out = prepared;
    else
        nnv_arena_free(arena);
    return st;
}

static enum nnvts_status prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    (void)deadline_ns; /* reading is quick */
    struct nnv_model *model;
    struct nnvts_prepared_model *prepared = NULL;
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = ref_cache_load(cache, arena, &model);
    if (st == NNVTS_STATUS_NONE && !(prepared = ref_prepared_new((struct ref_device *)self, arena, model)))
        st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st == NNVTS_STATUS_NONE)
        *out = prepared;
    else
        nnv_arena_free(arena);
    return st;
}

static void release(struct nnvts_device *self) {
    pthread_mutex_destroy(&((struct ref_device *)self)->lock);
    free(self);
}

#define ONE                                                                                                            \
    { 1, 1 }
#define TYPE(code)                                                                                                     \
    { ANEURALNETWORKS_##code, ONE }
static const struct nnvts_operand_performance performance[] = {
    TYPE(FLOAT32),
    TYPE(INT32),
    TYPE(UINT32),
    TYPE(TENSOR_FLOAT32),
    TYPE(TENSOR_INT32),
    TYPE(TENSOR_QUANT8_ASYMM),
    TYPE(BOOL),
    TYPE(TENSOR_QUANT16_SYMM),
    TYPE(TENSOR_FLOAT16),
    TYPE(TENSOR_BOOL8),
    TYPE(FLOAT16),
    TYPE(TENSOR_QUANT8_SYMM_PER_CHANNEL),
    TYPE(TENSOR_QUANT16_ASYMM),
    TYPE(TENSOR_QUANT8_SYMM),
    TYPE(TENSOR_QUANT8_ASYMM_SIGNED),
};

static enum nnvts_status open_device(bool late, struct nnvts_device **out) {
    struct ref_device *device = calloc(1, sizeof *device);
    if (!device) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    pthread_mutex_init(&device->lock, NULL);
    device->late = late;
    device->base = (struct nnvts_device){
        .struct_size = sizeof device->base,
        .feature_level = late ? RUNTIME_LEVEL : LEVEL,
        .type = ANEURALNETWORKS_DEVICE_CPU,
        .name = "nnvts-reference",
        .version = NNVTS_VERSION,
        .capabilities = {.relaxed_scalar = ONE,
                         .relaxed_tensor = ONE,
                         .if_performance = ONE,
                         .while_performance = ONE,
                         .operand_performance_count = sizeof performance / sizeof *performance,
                         .operand_performance = performance},
        .model_cache_files = REF_CACHE_MODEL_FILES,
        .data_cache_files = REF_CACHE_DATA_FILES,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .prepare_from_cache = prepare_from_cache,
        .allocate = ref_allocate,
        .release = release,
    };
    *out = &device->base;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status open_driver(const char *options, struct nnvts_device **out, const char **error) {
    if (!options) return open_device(false, out);
    *error = "it takes no options";
    return NNVTS_STATUS_INVALID_ARGUMENT;
}

static enum nnvts_status open_cpu(const char *options, struct nnvts_device **out, const char **error) {
    (void)options;
    (void)error;
    return open_device(true, out);
}

const struct nnvts_driver *nnv_runtime_cpu(void) {
    static const struct nnvts_driver driver = {
        .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "reference", .open = open_cpu};
    return &driver;
}

const struct nnvts_driver *nnv_golden_driver(void) {
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "reference",
                                               .open = open_driver};
    return &driver;
}
