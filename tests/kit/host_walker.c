/* SPDX-License-Identifier: Apache-2.0 */
/** @file host_walker.c See host_walker.h. */
#include "tests/kit/host_walker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

atomic_int walker_objects, walker_bad;
atomic_uint walker_sum;

/** Keeps the request, as a reusable execution may. */
struct walker_execution {
    struct nnvts_execution base;
    struct nnvts_request request;
};

void walk(const void *data, size_t bytes) {
    const uint8_t *p = data;
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i++) sum += p[i];
    atomic_fetch_add(&walker_sum, sum);
}

static void walk_pools(const struct nnvts_memory *pools, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (pools[i].data || (pools[i].fd >= 0 && fcntl(pools[i].fd, F_GETFD) < 0)) atomic_fetch_add(&walker_bad, 1);
}

static void walk_subgraph(const struct nnvts_subgraph *s) {
    for (uint32_t i = 0; i < s->operand_count; i++) {
        const struct nnvts_operand *o = &s->operands[i];
        walk(o->dimensions, o->dimension_count * sizeof *o->dimensions);
        walk(o->channel_quant.scales, o->channel_quant.scale_count * sizeof(float));
        walk(o->extension_data, o->extension_data_bytes);
    }
    for (uint32_t i = 0; i < s->operation_count; i++) {
        walk(s->operations[i].inputs, s->operations[i].input_count * sizeof(uint32_t));
        walk(s->operations[i].outputs, s->operations[i].output_count * sizeof(uint32_t));
    }
    walk(s->inputs, s->input_count * sizeof *s->inputs);
    walk(s->outputs, s->output_count * sizeof *s->outputs);
}

static void walk_model(const struct nnvts_model *m) {
    walk_subgraph(&m->main);
    for (uint32_t i = 0; i < m->referenced_count; i++) walk_subgraph(&m->referenced[i]);
    walk(m->operand_values, m->operand_values_bytes);
    walk_pools(m->pools, m->pool_count);
    for (uint32_t i = 0; i < m->extension_count; i++)
        if (m->extensions[i].name) walk(m->extensions[i].name, strlen(m->extensions[i].name));
}

static void walk_request(const struct nnvts_request *r) {
    for (uint32_t i = 0; i < r->input_count; i++)
        walk(r->inputs[i].dimensions, r->inputs[i].dimension_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < r->output_count; i++)
        walk(r->outputs[i].dimensions, r->outputs[i].dimension_count * sizeof(uint32_t));
    walk_pools(r->pools, r->pool_count);
}

/** All outputs have the shape [2, 3]. */
static enum nnvts_status walker_result(const struct nnvts_request *r, struct nnvts_execution_result *result) {
    result->shape_count = r->output_count;
    for (uint32_t i = 0; i < r->output_count; i++) {
        struct nnvts_output_shape *s = &result->shapes[i];
        if (s->dimension_count >= 2) s->dimensions[0] = 2, s->dimensions[1] = 3;
        s->dimension_count = 2;
        s->is_sufficient = true;
    }
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    (void)self, (void)config;
    walk_request(request);
    return walker_result(request, result);
}

static enum nnvts_status walker_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                      void *context) {
    const struct nnvts_execution_result none = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    (void)self, (void)config;
    walk_request(request);
    callback(context, NNVTS_STATUS_GENERAL_FAILURE, &none);
    callback(context, NNVTS_STATUS_NONE, NULL); /* twice, which a driver must not: the host must live with it */
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_fenced_result(void *context, struct nnvts_fenced_result *result) {
    (void)context;
    *result =
        (struct nnvts_fenced_result){NNVTS_STATUS_NONE, {NNVTS_NO_TIME, NNVTS_NO_TIME}, {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    return NNVTS_STATUS_NONE;
}

static void walker_fenced_release(void *context) {
    close(*(int *)context);
    free(context);
    atomic_fetch_sub(&walker_objects, 1);
}

static enum nnvts_status walker_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const int *wait_for, uint32_t wait_for_count,
                                       const struct nnvts_execution_config *config, uint64_t duration_ns,
                                       struct nnvts_fenced_execution *out) {
    (void)self, (void)config, (void)duration_ns;
    walk_request(request);
    walk(wait_for, wait_for_count * sizeof *wait_for);
    int *fence = malloc(sizeof *fence);
    *fence = eventfd(1, EFD_CLOEXEC);
    atomic_fetch_add(&walker_objects, 1);
    *out = (struct nnvts_fenced_execution){*fence, fence, walker_fenced_result, walker_fenced_release};
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                              const int64_t *tokens, const struct nnvts_execution_config *config,
                                              struct nnvts_execution_result *result) {
    (void)self, (void)config;
    walk_request(request);
    walk(tokens, request->pool_count * sizeof *tokens);
    return walker_result(request, result);
}

static enum nnvts_status walker_forget(struct nnvts_burst *self, int64_t token) {
    (void)self;
    return token < 0 ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_NONE;
}

static void walker_release_burst(struct nnvts_burst *self) {
    free(self);
    atomic_fetch_sub(&walker_objects, 1);
}

static enum nnvts_status walker_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    (void)self;
    *out = malloc(sizeof **out);
    **out = (struct nnvts_burst){sizeof **out, walker_burst_execute, walker_forget, walker_release_burst};
    atomic_fetch_add(&walker_objects, 1);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_run(struct nnvts_execution *self, uint64_t deadline_ns,
                                    struct nnvts_execution_result *result) {
    const struct walker_execution *e = (const struct walker_execution *)self;
    (void)deadline_ns;
    walk_request(&e->request);
    return walker_result(&e->request, result);
}

static void walker_release_execution(struct nnvts_execution *self) {
    walk_request(&((struct walker_execution *)self)->request);
    free(self);
    atomic_fetch_sub(&walker_objects, 1);
}

static enum nnvts_status walker_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                                 const struct nnvts_execution_config *config,
                                                 struct nnvts_execution **out) {
    struct walker_execution *e = malloc(sizeof *e);
    (void)self, (void)config;
    /* The structs are the caller's for the call only; what they point to stays. */
    *e = (struct walker_execution){{sizeof e->base, walker_run, walker_release_execution}, *request};
    *out = &e->base;
    atomic_fetch_add(&walker_objects, 1);
    return NNVTS_STATUS_NONE;
}

static void walker_release_prepared(struct nnvts_prepared_model *self) {
    free(self);
    atomic_fetch_sub(&walker_objects, 1);
}

static struct nnvts_prepared_model *walker_prepared(void) {
    struct nnvts_prepared_model *p = malloc(sizeof *p);
    *p = (struct nnvts_prepared_model){
        sizeof *p,           walker_execute,          walker_async,           walker_fenced,
        walker_create_burst, walker_create_execution, walker_release_prepared};
    atomic_fetch_add(&walker_objects, 1);
    return p;
}

static enum nnvts_device_status walker_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status walker_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    walk_model(model);
    memset(supported, 1, model->main.operation_count);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                        const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self, (void)config;
    walk_model(model);
    *out = walker_prepared();
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                           uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    (void)self, (void)deadline_ns;
    walk(cache->model_fds, cache->model_fd_count * sizeof(int));
    walk(cache->data_fds, cache->data_fd_count * sizeof(int));
    *out = walker_prepared();
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_copy_to(struct nnvts_buffer *self, const struct nnvts_memory *memory) {
    (void)self;
    walk_pools(memory, 1);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status walker_copy_from(struct nnvts_buffer *self, const struct nnvts_memory *memory,
                                          const uint32_t *dimensions, uint32_t count) {
    (void)self;
    walk_pools(memory, 1);
    walk(dimensions, count * sizeof *dimensions);
    return NNVTS_STATUS_NONE;
}

static void walker_release_buffer(struct nnvts_buffer *self) {
    free(self);
    atomic_fetch_sub(&walker_objects, 1);
}

static enum nnvts_status walker_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *d,
                                         struct nnvts_buffer **out) {
    (void)self;
    walk(d->dimensions, d->dimension_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < d->prepared_count; i++)
        if (d->prepared[i]) walk(d->prepared[i], sizeof *d->prepared[i]);
    walk(d->input_roles, d->input_role_count * sizeof *d->input_roles);
    walk(d->output_roles, d->output_role_count * sizeof *d->output_roles);
    *out = malloc(sizeof **out);
    **out = (struct nnvts_buffer){sizeof **out, 7, walker_copy_to, walker_copy_from, walker_release_buffer};
    atomic_fetch_add(&walker_objects, 1);
    return NNVTS_STATUS_NONE;
}

static void walker_release(struct nnvts_device *self) {
    (void)self;
    atomic_fetch_sub(&walker_objects, 1);
}

static enum nnvts_status walker_open(const char *options, struct nnvts_device **out, const char **error) {
    static const struct nnvts_operand_performance performance[] = {{ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}};
    static const struct nnvts_extension_operand_type types[] = {{1, true, 4}};
    static const struct nnvts_extension extensions[] = {{"com.example.walker", 1, types}};
    static struct nnvts_device device = {
        .struct_size = sizeof device,
        .feature_level = 8,
        .type = ANEURALNETWORKS_DEVICE_OTHER,
        .name = "walker",
        .version = "1",
        .capabilities = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, performance},
        .extension_count = 1,
        .extensions = extensions,
        .model_cache_files = 1,
        .data_cache_files = 1,
        .get_status = walker_status,
        .get_supported_operations = walker_supported,
        .prepare_model = walker_prepare,
        .prepare_from_cache = walker_from_cache,
        .allocate = walker_allocate,
        .release = walker_release,
    };
    (void)options, (void)error;
    atomic_fetch_add(&walker_objects, 1);
    *out = &device;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver walker = {
    .struct_size = sizeof walker, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "walker", .open = walker_open};
