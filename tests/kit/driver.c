/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c See driver.h. */
#include "tests/kit/driver.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/type.h"

struct nnvts_device *cpu;
const struct nnvts_prepare_config prepare_config = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                                    .priority = NNVTS_PRIORITY_MEDIUM,
                                                    .deadline_ns = NNVTS_NO_TIME};
const struct nnvts_execution_config plain = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};

const struct nnvts_driver *load(const char *name) {
    char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/%s.so", folder ? folder : "build/drivers", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    nnvts_driver_get_fn get;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    assert_non_null(symbol);
    memcpy(&get, &symbol, sizeof get);
    return get();
}

struct nnvts_device *open_driver(const char *name, const char *options) {
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    assert_int_equal(load(name)->open(options, &device, &error), NNVTS_STATUS_NONE);
    assert_non_null(device);
    return device;
}

int open_as_cpu(const char *name, const char *options) {
    cpu = open_driver(name, options);
    return 0;
}

int close_cpu(void **state) {
    (void)state;
    cpu->release(cpu);
    return 0;
}

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t tensor(struct net *n, uint32_t lifetime, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = n->model.main.operand_count++;
    for (uint32_t d = 0; d < rank; d++) n->dims[i][d] = dims[d];
    n->operands[i] = (struct nnvts_operand){.type = k.type,
                                            .dimension_count = rank,
                                            .dimensions = n->dims[i],
                                            .scale = k.scale,
                                            .zero_point = k.zero_point,
                                            .lifetime = lifetime};
    return i;
}

uint32_t input(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_SUBGRAPH_INPUT, k, rank, dims);
    n->ends_in[n->model.main.input_count++] = i;
    return i;
}

uint32_t output(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_SUBGRAPH_OUTPUT, k, rank, dims);
    n->ends_out[n->model.main.output_count++] = i;
    return i;
}

uint32_t constant(struct net *n, struct kind k, const void *data, uint32_t bytes, uint32_t rank, const uint32_t *dims) {
    const uint32_t i = tensor(n, NNVTS_CONSTANT_COPY, k, rank, dims), at = n->model.operand_values_bytes;
    assert_true(at + bytes + 4 <= ROOM);
    memcpy(n->values + at, data, bytes);
    n->operands[i].location = (struct nnvts_location){.offset = at, .length = bytes};
    n->model.operand_values_bytes += (bytes + 3) / 4 * 4;
    return i;
}

uint32_t integer(struct net *n, int32_t value) { return constant(n, INT, &value, sizeof value, 0, NULL); }

uint32_t real(struct net *n, float value) {
    return constant(n, (struct kind){ANEURALNETWORKS_FLOAT32, 0, 0}, &value, sizeof value, 0, NULL);
}

uint32_t boolean(struct net *n, uint8_t value) {
    return constant(n, (struct kind){ANEURALNETWORKS_BOOL, 0, 0}, &value, 1, 0, NULL);
}

void operation(struct net *n, int32_t code, const uint32_t *inputs, const uint32_t *outputs) {
    const uint32_t i = n->model.main.operation_count++;
    struct nnvts_operation *op = &n->operations[i];
    *op = (struct nnvts_operation){.type = code, .inputs = n->inputs[i], .outputs = n->outputs[i]};
    while (inputs[op->input_count] != UINT32_MAX)
        n->inputs[i][op->input_count] = inputs[op->input_count], op->input_count++;
    while (outputs[op->output_count] != UINT32_MAX)
        n->outputs[i][op->output_count] = outputs[op->output_count], op->output_count++;
}

const struct nnvts_model *finish(struct net *n) {
    n->model.main.operands = n->operands;
    n->model.main.operations = n->operations;
    n->model.main.inputs = n->ends_in;
    n->model.main.outputs = n->ends_out;
    n->model.operand_values = n->values;
    return &n->model;
}

struct nnvts_prepared_model *prepare(struct nnvts_device *device, struct net *n) {
    struct nnvts_prepared_model *prepared = NULL;
    bool supported[4] = {false};
    assert_int_equal(device->get_supported_operations(device, finish(n), supported), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; i < n->model.main.operation_count; i++) assert_true(supported[i]);
    assert_int_equal(device->prepare_model(device, &n->model, &prepare_config, &prepared), NNVTS_STATUS_NONE);
    memset(n->values, 0xee, sizeof n->values); /* the driver has copied what it needs */
    return prepared;
}

uint32_t pool(struct call *c, void *data, uint64_t size, uint32_t prot) {
    c->pools[c->request.pool_count] = (struct nnvts_memory){.prot = prot, .fd = -1, .size = size, .data = data};
    return c->request.pool_count++;
}

void give(struct call *c, const void *data, uint32_t bytes) {
    struct nnvts_argument *a = &c->in[c->request.input_count++];
    *a = (struct nnvts_argument){
        .location = {.pool = pool(c, (void *)(uintptr_t)data, bytes, NNVTS_PROT_READ), .length = bytes}};
}

void take(struct call *c, void *data, uint32_t bytes) {
    const uint32_t i = c->request.output_count++;
    c->out[i] = (struct nnvts_argument){
        .location = {.pool = pool(c, data, bytes, NNVTS_PROT_READ | NNVTS_PROT_WRITE), .length = bytes}};
}

const struct nnvts_request *ready(struct call *c) {
    c->request.inputs = c->in;
    c->request.outputs = c->out;
    c->request.pools = c->pools;
    for (uint32_t i = 0; i < 8; i++) c->shapes[i] = (struct nnvts_output_shape){false, 8, c->dims[i]};
    c->result = (struct nnvts_execution_result){.shapes = c->shapes};
    return &c->request;
}

enum nnvts_status execute(struct nnvts_prepared_model *p, struct call *c) {
    return p->execute(p, ready(c), &plain, &c->result);
}

void check_run(struct net *n, const void *x, uint32_t x_bytes, void *y, uint32_t y_bytes) {
    struct nnvts_prepared_model *p = prepare(cpu, n);
    struct call c = {0};
    if (x) give(&c, x, x_bytes);
    take(&c, y, y_bytes);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
}

void assert_floats(const float *actual, const float *expected, size_t n, double relative) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)actual[i] - (double)expected[i]) <= relative * fabs((double)expected[i])))
            fail_msg("value %zu is %.9g, expected %.9g", i, (double)actual[i], (double)expected[i]);
}

struct nnvts_prepared_model *prepare_relu(struct kind k, uint32_t rank, const uint32_t *dims) {
    struct net n = {0};
    const uint32_t x = input(&n, k, rank, dims), y = output(&n, k, rank, dims);
    operation(&n, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
    return prepare(cpu, &n);
}

struct nnvts_memory shared(const void *data, uint64_t size, uint64_t offset, uint32_t prot) {
    const int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(offset + size)), 0);
    if (data) assert_int_equal(pwrite(fd, data, (size_t)size, (off_t)offset), (ssize_t)size);
    return (struct nnvts_memory){.prot = prot, .fd = fd, .size = size, .offset = offset};
}

void expect_refused(const char *what, struct net *n) {
    struct nnvts_prepared_model *none = NULL;
    bool supported[4];
    if (cpu->get_supported_operations(cpu, finish(n), supported) != NNVTS_STATUS_INVALID_ARGUMENT)
        fail_msg("get_supported_operations accepts: %s", what);
    if (cpu->prepare_model(cpu, &n->model, &prepare_config, &none) != NNVTS_STATUS_INVALID_ARGUMENT || none)
        fail_msg("prepare_model accepts: %s", what);
}

uint32_t kind_bytes(struct kind k, uint32_t rank, const uint32_t *dims) {
    const struct nnv_type *t = nnv_type(k.type);
    size_t bytes = t ? t->size : 1;
    for (uint32_t d = 0; d < rank; d++) bytes *= dims[d];
    return (uint32_t)bytes;
}

struct cache_files open_cache_files(const struct nnvts_device *device) {
    struct cache_files f = {.fd = {memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC)}};
    assert_true(f.fd[MODEL_FILE] >= 0 && f.fd[DATA_FILE] >= 0);
    f.cache.model_fd_count = device->model_cache_files;
    f.cache.data_fd_count = device->data_cache_files;
    memset(f.cache.token, 0x5c, sizeof f.cache.token);
    return f;
}

const struct nnvts_cache *cache_view(struct cache_files *f) {
    f->cache.model_fds = &f->fd[MODEL_FILE];
    f->cache.data_fds = &f->fd[DATA_FILE];
    return &f->cache;
}

void close_cache_files(const struct cache_files *f) {
    close(f->fd[0]);
    close(f->fd[1]);
}
