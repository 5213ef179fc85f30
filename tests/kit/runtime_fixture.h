/* SPDX-License-Identifier: Apache-2.0 */
/** Models made by hand, as a finished model is seen by plans, and devices that support what they are told to. */
#ifndef NNV_TEST_RUNTIME_FIXTURE_H
#define NNV_TEST_RUNTIME_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "reference/runtime/plan/plan.h"

/* ------------------------------------------------------------------- models */

enum { TOY_GRAPHS = 8, TOY_MANY = 400000 };

struct toy_graph {
    struct nnvts_subgraph g;
    struct nnvts_operand *operands;
    struct nnvts_operation *operations;
    uint32_t *inputs, *outputs;
    struct nnv_rt_graph_info info;
    uint32_t room;
};

struct toy {
    struct nnv_arena *arena;
    struct toy_graph graphs[TOY_GRAPHS];
    uint32_t graph_count;
    struct ANeuralNetworksModel model;
};

/** A model of so many graphs (main, and those that IF and WHILE refer to) with room for so many operations each. */
static inline void toy_begin(struct toy *t, uint32_t graphs, uint32_t room) {
    *t = (struct toy){.arena = nnv_arena_new(), .graph_count = graphs};
    for (uint32_t i = 0; i < graphs; i++) {
        struct toy_graph *x = &t->graphs[i];
        uint32_t operands = 4 * room + 16;
        x->room = room;
        x->operands = NNV_NEW(t->arena, struct nnvts_operand, operands);
        x->operations = NNV_NEW(t->arena, struct nnvts_operation, room + 1);
        x->inputs = NNV_NEW(t->arena, uint32_t, operands);
        x->outputs = NNV_NEW(t->arena, uint32_t, operands);
        x->info.levels = NNV_NEW(t->arena, int32_t, room + 1);
        x->info.added = NNV_NEW(t->arena, uint32_t, room + 1);
        x->info.known = NNV_NEW(t->arena, bool, operands);
        x->info.bytes = NNV_NEW(t->arena, uint64_t, operands);
        x->info.operand_added = NNV_NEW(t->arena, uint32_t, operands);
    }
}

/** An operand of type TENSOR_FLOAT32 and one dimension; 0: unknown. */
static inline uint32_t toy_operand(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime, uint32_t extent) {
    struct toy_graph *x = &t->graphs[graph];
    uint32_t i = x->g.operand_count++;
    x->operands[i] = (struct nnvts_operand){.type = ANEURALNETWORKS_TENSOR_FLOAT32,
                                            .dimension_count = 1,
                                            .dimensions = nnv_arena_copy(t->arena, &extent, sizeof extent),
                                            .lifetime = lifetime};
    x->info.known[i] = extent > 0;
    x->info.bytes[i] = (uint64_t)4 * extent;
    x->info.operand_added[i] = i;
    if (lifetime == NNVTS_SUBGRAPH_INPUT) x->inputs[x->g.input_count++] = i;
    if (lifetime == NNVTS_SUBGRAPH_OUTPUT) x->outputs[x->g.output_count++] = i;
    return i;
}

/** A temporary becomes an output of its graph. */
static inline void toy_make_output(struct toy *t, uint32_t graph, uint32_t operand) {
    struct toy_graph *x = &t->graphs[graph];
    x->operands[operand].lifetime = NNVTS_SUBGRAPH_OUTPUT;
    x->outputs[x->g.output_count++] = operand;
}

/** An operand that refers to a graph. */
static inline uint32_t toy_graph_operand(struct toy *t, uint32_t graph, uint32_t refers_to) {
    uint32_t i = toy_operand(t, graph, NNVTS_SUBGRAPH, 0);
    struct nnvts_operand *o = &t->graphs[graph].operands[i];
    o->type = ANEURALNETWORKS_MODEL;
    o->dimension_count = 0;
    o->location.offset = refers_to - 1;
    return i;
}

/** A boolean of one element. */
static inline uint32_t toy_flag(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime) {
    uint32_t i = toy_operand(t, graph, lifetime, 1);
    t->graphs[graph].operands[i].type = ANEURALNETWORKS_TENSOR_BOOL8;
    t->graphs[graph].info.bytes[i] = 1;
    return i;
}

/** An operation of a level; returns its index. */
static inline uint32_t toy_operation(struct toy *t, uint32_t graph, int32_t type, int32_t level, uint32_t nin,
                                     const uint32_t *in, uint32_t nout, const uint32_t *out) {
    struct toy_graph *x = &t->graphs[graph];
    uint32_t i = x->g.operation_count++;
    x->operations[i] = (struct nnvts_operation){.type = type,
                                                .input_count = nin,
                                                .output_count = nout,
                                                .inputs = nnv_arena_copy(t->arena, in, nin * sizeof *in),
                                                .outputs = nnv_arena_copy(t->arena, out, nout * sizeof *out)};
    x->info.levels[i] = level;
    x->info.added[i] = i;
    return i;
}

/** An operation of level 1 on two operands (the same twice: one); returns its new result. */
static inline uint32_t toy_binary(struct toy *t, uint32_t graph, int32_t type, uint32_t a, uint32_t b,
                                  enum nnvts_lifetime lifetime) {
    uint32_t result = toy_operand(t, graph, lifetime, 4), in[] = {a, b};
    toy_operation(t, graph, type, 1, a == b ? 1 : 2, in, 1, &result);
    return result;
}

static inline struct ANeuralNetworksModel *toy_end(struct toy *t) {
    struct nnvts_subgraph *referenced = NNV_NEW(t->arena, struct nnvts_subgraph, t->graph_count);
    struct nnv_rt_graph_info *info = NNV_NEW(t->arena, struct nnv_rt_graph_info, t->graph_count);
    t->model = (struct ANeuralNetworksModel){.state = NNV_RT_MODEL_FINISHED, .arena = t->arena, .level = 1};
    for (uint32_t i = 0; i < t->graph_count; i++) {
        struct toy_graph *x = &t->graphs[i];
        x->g.operands = x->operands;
        x->g.operations = x->operations;
        x->g.inputs = x->inputs;
        x->g.outputs = x->outputs;
        if (i > 0) referenced[i - 1] = x->g;
        info[i] = x->info;
    }
    t->model.model =
        (struct nnvts_model){.main = t->graphs[0].g, .referenced = referenced, .referenced_count = t->graph_count - 1};
    t->model.info = info;
    return &t->model;
}

static inline void toy_free(struct toy *t) { nnv_arena_free(t->arena); }

/* ------------------------------------------------------------------ devices */

enum { TOY_TYPES = 256 };

/** A driver that knows what it is asked and answers as it is told. */
struct toy_device {
    struct nnvts_device driver; /**< first: what functions are given */
    struct nnvts_operand_performance performance[16];
    struct ANeuralNetworksDevice device;
    bool supports[TOY_TYPES]; /**< operation types */
    enum nnvts_status supported_status, prepare_status, cache_status;
    enum nnvts_device_status status;
    int asked, prepared, from_cache;        /**< calls */
    int living;                             /**< prepared models that are not yet released */
    uint32_t asked_operations;              /**< of the last model that it was asked about */
    struct nnvts_prepare_config config;     /**< of the last prepare_model */
    bool had_cache;                         /**< it was given files */
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES]; /**< of the last call with files */
    uint32_t files;
    bool answers_nothing; /**< prepare_model: NONE without a model */
};

struct toy_prepared {
    struct nnvts_prepared_model base;
    struct toy_device *device;
};

static inline enum nnvts_device_status toy_status(struct nnvts_device *self) {
    return ((struct toy_device *)self)->status;
}

static inline enum nnvts_status toy_supported(struct nnvts_device *self, const struct nnvts_model *model,
                                              bool *supported) {
    struct toy_device *d = (struct toy_device *)self;
    d->asked++;
    d->asked_operations = model->main.operation_count;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        supported[i] = d->supports[(uint32_t)model->main.operations[i].type % TOY_TYPES];
    return d->supported_status;
}

static inline enum nnvts_status toy_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                            const struct nnvts_execution_config *config,
                                            struct nnvts_execution_result *result) {
    (void)self;
    (void)request;
    (void)config;
    (void)result;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static inline void toy_release(struct nnvts_prepared_model *self) {
    ((struct toy_prepared *)self)->device->living--;
    free(self);
}

static inline enum nnvts_status toy_new_prepared(struct toy_device *d, struct nnvts_prepared_model **out) {
    struct toy_prepared *p = calloc(1, sizeof *p);
    if (p == NULL) return NNVTS_STATUS_GENERAL_FAILURE;
    p->base =
        (struct nnvts_prepared_model){.struct_size = sizeof p->base, .execute = toy_execute, .release = toy_release};
    p->device = d;
    d->living++;
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}

static inline void toy_see_cache(struct toy_device *d, const struct nnvts_cache *cache) {
    d->had_cache = cache != NULL;
    if (cache == NULL) return;
    memcpy(d->token, cache->token, sizeof d->token);
    d->files = cache->model_fd_count + cache->data_fd_count;
}

static inline enum nnvts_status toy_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                            const struct nnvts_prepare_config *config,
                                            struct nnvts_prepared_model **out) {
    struct toy_device *d = (struct toy_device *)self;
    (void)model;
    d->prepared++;
    d->config = *config;
    toy_see_cache(d, config->cache);
    if (d->prepare_status != NNVTS_STATUS_NONE || d->answers_nothing) return d->prepare_status;
    return toy_new_prepared(d, out);
}

static inline enum nnvts_status toy_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                               uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    struct toy_device *d = (struct toy_device *)self;
    (void)deadline_ns;
    d->from_cache++;
    toy_see_cache(d, cache);
    return d->cache_status != NNVTS_STATUS_NONE ? d->cache_status : toy_new_prepared(d, out);
}

static inline void toy_device_release(struct nnvts_device *self) { (void)self; }

/** A driver of level 8 that supports every operation at this cost for TENSOR_FLOAT32, in time and in power. */
static inline struct ANeuralNetworksDevice *toy_device(struct toy_device *d, const char *name, float time,
                                                       float power) {
    *d = (struct toy_device){0};
    d->performance[0] =
        (struct nnvts_operand_performance){ANEURALNETWORKS_TENSOR_FLOAT32, {.exec_time = time, .power_usage = power}};
    const struct nnvts_performance all = {time, power};
    d->driver = (struct nnvts_device){
        .struct_size = sizeof d->driver,
        .feature_level = 8,
        .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
        .name = name,
        .version = "1",
        .capabilities = {all, all, all, all, 1, d->performance},
        .get_status = toy_status,
        .get_supported_operations = toy_supported,
        .prepare_model = toy_prepare,
        .prepare_from_cache = toy_from_cache,
        .release = toy_device_release,
    };
    for (int i = 0; i < TOY_TYPES; i++) d->supports[i] = true;
    d->device = (struct ANeuralNetworksDevice){
        .driver = &d->driver, .name = name, .version = "1", .type = d->driver.type, .driver_level = 8};
    return &d->device;
}

/** A device in the place of the CPU reference. */
static inline struct ANeuralNetworksDevice *toy_cpu(struct toy_device *d) {
    struct ANeuralNetworksDevice *device = toy_device(d, "nnapi-reference", 1, 1);
    device->is_cpu = true;
    return device;
}

/** It supports these operation types alone; the list ends with -1. */
static inline void toy_supports_only(struct toy_device *d, const int32_t *types) {
    memset(d->supports, 0, sizeof d->supports);
    for (; *types >= 0; types++) d->supports[*types] = true;
}

#endif
