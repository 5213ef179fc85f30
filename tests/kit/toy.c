/* SPDX-License-Identifier: Apache-2.0 */
/** @file toy.c See toy.h. */
#include "tests/kit/toy.h"

void toy_begin(struct toy *t, uint32_t graphs, uint32_t room) {
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

uint32_t toy_operand(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime, uint32_t extent) {
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

void toy_make_output(struct toy *t, uint32_t graph, uint32_t operand) {
    struct toy_graph *x = &t->graphs[graph];
    x->operands[operand].lifetime = NNVTS_SUBGRAPH_OUTPUT;
    x->outputs[x->g.output_count++] = operand;
}

uint32_t toy_graph_operand(struct toy *t, uint32_t graph, uint32_t refers_to) {
    uint32_t i = toy_operand(t, graph, NNVTS_SUBGRAPH, 0);
    struct nnvts_operand *o = &t->graphs[graph].operands[i];
    o->type = ANEURALNETWORKS_MODEL;
    o->dimension_count = 0;
    o->location.offset = refers_to - 1;
    return i;
}

uint32_t toy_flag(struct toy *t, uint32_t graph, enum nnvts_lifetime lifetime) {
    uint32_t i = toy_operand(t, graph, lifetime, 1);
    t->graphs[graph].operands[i].type = ANEURALNETWORKS_TENSOR_BOOL8;
    t->graphs[graph].info.bytes[i] = 1;
    return i;
}

uint32_t toy_operation(struct toy *t, uint32_t graph, int32_t type, int32_t level, uint32_t nin, const uint32_t *in,
                       uint32_t nout, const uint32_t *out) {
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

uint32_t toy_binary(struct toy *t, uint32_t graph, int32_t type, uint32_t a, uint32_t b, enum nnvts_lifetime lifetime) {
    uint32_t result = toy_operand(t, graph, lifetime, 4), in[] = {a, b};
    toy_operation(t, graph, type, 1, a == b ? 1 : 2, in, 1, &result);
    return result;
}

struct ANeuralNetworksModel *toy_end(struct toy *t) {
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

void toy_free(struct toy *t) { nnv_arena_free(t->arena); }

static enum nnvts_device_status toy_status(struct nnvts_device *self) { return ((struct toy_device *)self)->status; }

static enum nnvts_status toy_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct toy_device *d = (struct toy_device *)self;
    d->asked++;
    d->operations = model->main.operation_count;
    d->inputs = model->main.input_count;
    d->outputs = model->main.output_count;
    d->operands = model->main.operand_count;
    d->referenced = model->referenced_count;
    d->relaxed = model->relax_float32_to_float16;
    for (uint32_t i = 0; i < d->operations; i++) {
        const int32_t type = model->main.operations[i].type;
        supported[i] = d->can ? d->can(type) : d->supports[(uint32_t)type % TOY_TYPES];
    }
    return d->supported_status;
}

static enum nnvts_status toy_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const struct nnvts_execution_config *config,
                                     struct nnvts_execution_result *result) {
    (void)self;
    (void)request;
    (void)config;
    (void)result;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static void toy_release(struct nnvts_prepared_model *self) {
    ((struct toy_prepared *)self)->device->living--;
    free(self);
}

static enum nnvts_status toy_new_prepared(struct toy_device *d, struct nnvts_prepared_model **out) {
    struct toy_prepared *p = calloc(1, sizeof *p);
    if (p == NULL) return NNVTS_STATUS_GENERAL_FAILURE;
    p->base =
        (struct nnvts_prepared_model){.struct_size = sizeof p->base, .execute = toy_execute, .release = toy_release};
    p->device = d;
    d->living++;
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}

static void toy_see_cache(struct toy_device *d, const struct nnvts_cache *cache) {
    d->had_cache = cache != NULL;
    if (cache == NULL) return;
    memcpy(d->token, cache->token, sizeof d->token);
    d->files = cache->model_fd_count + cache->data_fd_count;
}

static enum nnvts_status toy_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                     const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct toy_device *d = (struct toy_device *)self;
    (void)model;
    d->prepared++;
    d->config = *config;
    toy_see_cache(d, config->cache);
    if (d->prepare_status != NNVTS_STATUS_NONE || d->answers_nothing) return d->prepare_status;
    return toy_new_prepared(d, out);
}

static enum nnvts_status toy_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                        uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    struct toy_device *d = (struct toy_device *)self;
    (void)deadline_ns;
    d->from_cache++;
    toy_see_cache(d, cache);
    return d->cache_status != NNVTS_STATUS_NONE ? d->cache_status : toy_new_prepared(d, out);
}

static void toy_device_release(struct nnvts_device *self) { (void)self; }

struct toy_device toy_driver(const char *name, int32_t level) {
    struct toy_device d = {.prepare_status = NNVTS_STATUS_GENERAL_FAILURE,
                           .driver = {.struct_size = sizeof d.driver,
                                      .feature_level = level,
                                      .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
                                      .name = name,
                                      .version = "7",
                                      .get_status = toy_status,
                                      .get_supported_operations = toy_supported,
                                      .prepare_model = toy_prepare,
                                      .release = toy_device_release}};
    for (int i = 0; i < TOY_TYPES; i++) d.supports[i] = true;
    return d;
}

struct ANeuralNetworksDevice *toy_device(struct toy_device *d, const char *name, float time, float power) {
    const struct nnvts_performance all = {time, power};
    *d = toy_driver(name, 8);
    d->prepare_status = NNVTS_STATUS_NONE;
    d->performance[0] = (struct nnvts_operand_performance){ANEURALNETWORKS_TENSOR_FLOAT32, all};
    d->driver.version = "1";
    d->driver.capabilities = (struct nnvts_capabilities){all, all, all, all, 1, d->performance};
    d->driver.prepare_from_cache = toy_from_cache;
    d->device = (struct ANeuralNetworksDevice){
        .driver = &d->driver, .name = name, .version = "1", .type = d->driver.type, .driver_level = 8};
    return &d->device;
}

struct ANeuralNetworksDevice *toy_cpu(struct toy_device *d) {
    struct ANeuralNetworksDevice *device = toy_device(d, "nnapi-reference", 1, 1);
    device->is_cpu = true;
    return device;
}

void toy_supports_only(struct toy_device *d, const int32_t *types) {
    memset(d->supports, 0, sizeof d->supports);
    for (; *types >= 0; types++) d->supports[*types] = true;
}
