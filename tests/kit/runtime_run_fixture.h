/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fake drivers around the CPU reference: each takes some operations, computes them as the reference does, remembers how
 * it was called, and fails or lies as it is told. And models, made through the API.
 */
#ifndef NNV_TEST_RUNTIME_RUN_FIXTURE_H
#define NNV_TEST_RUNTIME_RUN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "reference/cpu/executor.h"
#include "reference/runtime/api/compilation.h"
#include "reference/runtime/device.h"
#include "reference/runtime/api/memory.h"

#define TEST_FN __attribute__((unused)) static
#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof *(array))
#define OK(call) assert_int_equal(call, ANEURALNETWORKS_NO_ERROR)
#define IS(code, call) assert_int_equal(call, ANEURALNETWORKS_##code)

/* ------------------------------------------------------------------ a fake driver */

enum { FAKE_OPS = 128, FAKE_POOLS = 8 };

struct fake {
    struct nnvts_device base;
    struct nnvts_device *inner;
    struct nnvts_operand_performance performance[16];
    /* As it is told. */
    bool supports[FAKE_OPS];
    bool plain;                                                        /* offers nothing that is optional */
    enum nnvts_status fail;                                            /* what executions answer, if not NONE */
    enum nnvts_status fail_allocate, fail_later;                       /* allocate; the result of a fenced execution */
    bool bad_token;                                                    /* allocate gives a buffer of token 0 */
    void (*lie)(struct nnvts_execution_result *, enum nnvts_status *); /* changes an answer */
    int delay_ms;
    int late_fence;       /* > 0: a fenced execution tells of its end by a copy of this */
    pthread_mutex_t lock; /* guards what follows */
    int prepared, executed, bursts, in_burst, fenced, reused, allocated, released_bursts;
    int64_t forgotten; /* last token */
    struct nnvts_request last;
    struct nnvts_memory pools[FAKE_POOLS];
    int64_t tokens[FAKE_POOLS];
    struct nnvts_argument in[FAKE_POOLS], out[FAKE_POOLS];
    struct nnvts_execution_config config;
};

struct fake_prepared {
    struct nnvts_prepared_model base;
    struct fake *fake;
    struct nnvts_prepared_model *inner;
};

struct fake_burst {
    struct nnvts_burst base;
    struct fake_prepared *prepared;
};

struct fake_execution {
    struct nnvts_execution base;
    struct fake *fake;
    struct nnvts_execution *inner;
};

TEST_FN void fake_see(struct fake *f, const struct nnvts_request *r, const struct nnvts_execution_config *config,
                      int *counter) {
    pthread_mutex_lock(&f->lock);
    ++*counter;
    f->config = *config;
    if (r) {
        f->last = *r;
        for (uint32_t i = 0; i < r->pool_count && i < FAKE_POOLS; i++) f->pools[i] = r->pools[i];
        for (uint32_t i = 0; i < r->input_count && i < FAKE_POOLS; i++) f->in[i] = r->inputs[i];
        for (uint32_t i = 0; i < r->output_count && i < FAKE_POOLS; i++) f->out[i] = r->outputs[i];
    }
    pthread_mutex_unlock(&f->lock);
}

TEST_FN enum nnvts_status fake_finish(struct fake *f, enum nnvts_status st, struct nnvts_execution_result *result) {
    if (f->delay_ms) usleep((useconds_t)f->delay_ms * 1000);
    if (f->lie) f->lie(result, &st);
    return st;
}

TEST_FN enum nnvts_status fake_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    fake_see(p->fake, request, config, &p->fake->executed);
    if (p->fake->fail) return p->fake->fail;
    return fake_finish(p->fake, p->inner->execute(p->inner, request, config, result), result);
}

TEST_FN enum nnvts_status fake_burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                             const int64_t *tokens, const struct nnvts_execution_config *config,
                                             struct nnvts_execution_result *result) {
    struct fake_prepared *p = ((struct fake_burst *)self)->prepared;
    fake_see(p->fake, request, config, &p->fake->in_burst);
    for (uint32_t i = 0; i < request->pool_count && i < FAKE_POOLS; i++) p->fake->tokens[i] = tokens[i];
    if (p->fake->fail) return p->fake->fail;
    return fake_finish(p->fake, p->inner->execute(p->inner, request, config, result), result);
}

TEST_FN enum nnvts_status fake_forget(struct nnvts_burst *self, int64_t token) {
    ((struct fake_burst *)self)->prepared->fake->forgotten = token;
    return NNVTS_STATUS_NONE;
}

TEST_FN void fake_burst_release(struct nnvts_burst *self) {
    ((struct fake_burst *)self)->prepared->fake->released_bursts++;
    free(self);
}

TEST_FN enum nnvts_status fake_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct fake_burst *b = calloc(1, sizeof *b);
    b->base = (struct nnvts_burst){sizeof b->base, fake_burst_execute, fake_forget, fake_burst_release};
    b->prepared = (struct fake_prepared *)self;
    b->prepared->fake->bursts++;
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

TEST_FN enum nnvts_status fake_reuse(struct nnvts_execution *self, uint64_t deadline_ns,
                                     struct nnvts_execution_result *result) {
    struct fake_execution *e = (struct fake_execution *)self;
    const struct nnvts_execution_config config = {.deadline_ns = deadline_ns};
    fake_see(e->fake, NULL, &config, &e->fake->reused);
    if (e->fake->fail) return e->fake->fail;
    return fake_finish(e->fake, e->inner->execute(e->inner, deadline_ns, result), result);
}

TEST_FN void fake_execution_release(struct nnvts_execution *self) {
    struct fake_execution *e = (struct fake_execution *)self;
    e->inner->release(e->inner);
    free(e);
}

TEST_FN enum nnvts_status fake_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                                const struct nnvts_execution_config *config,
                                                struct nnvts_execution **out) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    struct fake_execution *e = calloc(1, sizeof *e);
    enum nnvts_status st = p->inner->create_execution(p->inner, request, config, &e->inner);
    if (st) {
        free(e);
        return st;
    }
    e->base = (struct nnvts_execution){sizeof e->base, fake_reuse, fake_execution_release};
    e->fake = p->fake;
    *out = &e->base;
    return st;
}

/** A fenced execution of the reference's, whose result may be changed. */
struct fake_fenced {
    struct fake *fake;
    int late_fence;
    struct nnvts_fenced_execution inner;
};

TEST_FN enum nnvts_status fake_fenced_result(void *context, struct nnvts_fenced_result *result) {
    struct fake_fenced *x = context;
    enum nnvts_status st = x->inner.get_result(x->inner.context, result);
    if (x->fake->fail_later) result->status = x->fake->fail_later;
    return st;
}

TEST_FN void fake_fenced_release(void *context) {
    struct fake_fenced *x = context;
    x->inner.release(x->inner.context);
    if (x->late_fence > 0) close(x->late_fence);
    free(x);
}

TEST_FN enum nnvts_status fake_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                              const int *wait_for, uint32_t count,
                                              const struct nnvts_execution_config *config, uint64_t duration_ns,
                                              struct nnvts_fenced_execution *out) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    fake_see(p->fake, request, config, &p->fake->fenced);
    if (p->fake->fail) return p->fake->fail;
    struct fake_fenced *x = calloc(1, sizeof *x);
    x->fake = p->fake;
    enum nnvts_status st = p->inner->execute_fenced(p->inner, request, wait_for, count, config, duration_ns, &x->inner);
    if (st) {
        free(x);
        return st;
    }
    if (p->fake->late_fence > 0) x->late_fence = dup(p->fake->late_fence);
    *out = (struct nnvts_fenced_execution){x->late_fence > 0 ? x->late_fence : x->inner.sync_fence, x,
                                           fake_fenced_result, fake_fenced_release};
    return st;
}

TEST_FN void fake_release_prepared(struct nnvts_prepared_model *self) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    p->inner->release(p->inner);
    free(p);
}

TEST_FN enum nnvts_status fake_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct fake *f = (struct fake *)self;
    struct fake_prepared *p = calloc(1, sizeof *p);
    enum nnvts_status st = f->inner->prepare_model(f->inner, model, config, &p->inner);
    if (st) {
        free(p);
        return st;
    }
    f->prepared++;
    p->fake = f;
    p->base = (struct nnvts_prepared_model){
        .struct_size = sizeof p->base, .execute = fake_execute, .release = fake_release_prepared};
    if (!f->plain) {
        p->base.create_burst = fake_create_burst;
        p->base.create_execution = fake_create_execution;
        p->base.execute_fenced = fake_execute_fenced;
    }
    *out = &p->base;
    return st;
}

TEST_FN enum nnvts_status fake_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct fake *f = (struct fake *)self;
    enum nnvts_status st = f->inner->get_supported_operations(f->inner, model, supported);
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        supported[i] = supported[i] && f->supports[model->main.operations[i].type];
    return st;
}

TEST_FN enum nnvts_device_status fake_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

TEST_FN enum nnvts_status fake_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                        struct nnvts_buffer **out) {
    struct fake *f = (struct fake *)self;
    struct nnvts_prepared_model *inner[16];
    struct nnvts_buffer_desc translated = *desc;
    f->allocated++;
    if (f->fail_allocate) return f->fail_allocate;
    assert_true(desc->prepared_count <= 16);
    for (uint32_t i = 0; i < desc->prepared_count; i++) inner[i] = ((struct fake_prepared *)desc->prepared[i])->inner;
    translated.prepared = inner;
    enum nnvts_status st = f->inner->allocate(f->inner, &translated, out);
    if (!st && f->bad_token) {
        (*out)->release(*out);
        *out = NULL;
    }
    return st;
}

TEST_FN void fake_release(struct nnvts_device *self) { (void)self; }

/** A driver that takes these operations, which end with -1, at half of the CPU's cost. */
TEST_FN void fake_open(struct fake *f, const char *name, const int32_t *operations) {
    static const int32_t types[] = {ANEURALNETWORKS_FLOAT32,      ANEURALNETWORKS_INT32, ANEURALNETWORKS_TENSOR_FLOAT32,
                                    ANEURALNETWORKS_TENSOR_INT32, ANEURALNETWORKS_BOOL,  ANEURALNETWORKS_TENSOR_BOOL8};
    const char *error = NULL;
    const struct nnvts_performance half = {0.5f, 0.5f};
    *f = (struct fake){0};
    assert_int_equal(nnv_golden_driver()->open(NULL, &f->inner, &error), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; i < COUNT_OF(types); i++)
        f->performance[i] = (struct nnvts_operand_performance){types[i], half};
    for (; *operations >= 0; operations++) f->supports[*operations] = true;
    f->base = (struct nnvts_device){.struct_size = sizeof f->base,
                                    .feature_level = 7,
                                    .type = ANEURALNETWORKS_DEVICE_ACCELERATOR,
                                    .name = name,
                                    .version = "1",
                                    .capabilities = {half, half, half, half, COUNT_OF(types), f->performance},
                                    .get_status = fake_status,
                                    .get_supported_operations = fake_supported,
                                    .prepare_model = fake_prepare,
                                    .allocate = fake_allocate,
                                    .release = fake_release};
    pthread_mutex_init(&f->lock, NULL);
}

TEST_FN void fake_close(struct fake *f) {
    f->inner->release(f->inner);
    pthread_mutex_destroy(&f->lock);
}

TEST_FN struct ANeuralNetworksDevice *fake_device(const struct fake *f) {
    for (size_t i = 0; i < nnv_rt_device_count(); i++)
        if (nnv_rt_device_at(i)->driver == &f->base) return nnv_rt_device_at(i);
    fail_msg("the device is not there");
    return NULL;
}

/** A counter of a fake that may be running. */
TEST_FN int seen(struct fake *f, const int *counter) {
    pthread_mutex_lock(&f->lock);
    const int n = *counter;
    pthread_mutex_unlock(&f->lock);
    return n;
}

/* ------------------------------------------------------------------------- models */

struct net {
    ANeuralNetworksModel *model;
    uint32_t count;
};

TEST_FN struct net net_new(void) {
    struct net n = {0};
    OK(ANeuralNetworksModel_create(&n.model));
    return n;
}

TEST_FN uint32_t operand(struct net *n, int32_t type, uint32_t rank, const uint32_t *dims) {
    const ANeuralNetworksOperandType t = {.type = type, .dimensionCount = rank, .dimensions = dims};
    OK(ANeuralNetworksModel_addOperand(n->model, &t));
    return n->count++;
}

/** TENSOR_FLOAT32 of rank 1. */
TEST_FN uint32_t vec(struct net *n, uint32_t extent) { return operand(n, ANEURALNETWORKS_TENSOR_FLOAT32, 1, &extent); }

TEST_FN uint32_t flag(struct net *n) {
    const uint32_t one = 1;
    return operand(n, ANEURALNETWORKS_TENSOR_BOOL8, 1, &one);
}

TEST_FN uint32_t integer(struct net *n, int32_t value) {
    const uint32_t i = operand(n, ANEURALNETWORKS_INT32, 0, NULL);
    OK(ANeuralNetworksModel_setOperandValue(n->model, (int32_t)i, &value, sizeof value));
    return i;
}

TEST_FN uint32_t constant(struct net *n, uint32_t extent, const float *values) {
    const uint32_t i = vec(n, extent);
    OK(ANeuralNetworksModel_setOperandValue(n->model, (int32_t)i, values, extent * sizeof *values));
    return i;
}

TEST_FN uint32_t graph(struct net *n, const struct net *to) {
    const uint32_t i = operand(n, ANEURALNETWORKS_MODEL, 0, NULL);
    OK(ANeuralNetworksModel_setOperandValueFromModel(n->model, (int32_t)i, to->model));
    return i;
}

#define LIST(...)                                                                                                      \
    COUNT_OF(((uint32_t[]){__VA_ARGS__})), (const uint32_t[]) { __VA_ARGS__ }

TEST_FN void operation(struct net *n, int32_t type, uint32_t nin, const uint32_t *in, uint32_t nout,
                       const uint32_t *out) {
    OK(ANeuralNetworksModel_addOperation(n->model, type, nin, in, nout, out));
}

/** a OP b -> out, without activation. */
TEST_FN void binary(struct net *n, int32_t type, uint32_t a, uint32_t b, uint32_t out) {
    operation(n, type, LIST(a, b, integer(n, 0)), LIST(out));
}

TEST_FN void net_finish(struct net *n, uint32_t nin, const uint32_t *in, uint32_t nout, const uint32_t *out) {
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(n->model, nin, in, nout, out));
    OK(ANeuralNetworksModel_finish(n->model));
}

TEST_FN void net_free(struct net *n) { ANeuralNetworksModel_free(n->model); }

/** (a + b) * b, of so many elements (0: unknown): ADD and MUL, with a value between them. */
TEST_FN struct net sum_times(uint32_t extent) {
    struct net n = net_new();
    const uint32_t a = vec(&n, extent), b = vec(&n, extent), sum = vec(&n, extent), out = vec(&n, extent);
    binary(&n, ANEURALNETWORKS_ADD, a, b, sum);
    binary(&n, ANEURALNETWORKS_MUL, sum, b, out);
    net_finish(&n, LIST(a, b), LIST(out));
    return n;
}

/** a + b. */
TEST_FN struct net sum(uint32_t extent) {
    struct net n = net_new();
    const uint32_t a = vec(&n, extent), b = vec(&n, extent), out = vec(&n, extent);
    binary(&n, ANEURALNETWORKS_ADD, a, b, out);
    net_finish(&n, LIST(a, b), LIST(out));
    return n;
}

TEST_FN ANeuralNetworksCompilation *compile(const struct net *n) {
    ANeuralNetworksCompilation *c = NULL;
    OK(ANeuralNetworksCompilation_create(n->model, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

/** For this device alone. */
TEST_FN ANeuralNetworksCompilation *compile_for(const struct net *n, struct ANeuralNetworksDevice *device) {
    ANeuralNetworksCompilation *c = NULL;
    const ANeuralNetworksDevice *const list[] = {device};
    OK(ANeuralNetworksCompilation_createForDevices(n->model, list, 1, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

TEST_FN ANeuralNetworksExecution *execution_of(ANeuralNetworksCompilation *c) {
    ANeuralNetworksExecution *e = NULL;
    OK(ANeuralNetworksExecution_create(c, &e));
    return e;
}

/** Inputs 0 and 1, and output 0, of n floats each. */
TEST_FN ANeuralNetworksExecution *execution_on(ANeuralNetworksCompilation *c, const float *a, const float *b,
                                               float *out, uint32_t n) {
    ANeuralNetworksExecution *e = execution_of(c);
    const ANeuralNetworksOperandType t = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &n};
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, a, n * sizeof *a));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, b, n * sizeof *b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, n * sizeof *out));
    return e;
}

/* Two fakes for all tests: one adds, one multiplies. */
static struct fake adder, multiplier;

TEST_FN int open_fakes(void **state) {
    (void)state;
    static const int32_t add[] = {ANEURALNETWORKS_ADD, -1}, mul[] = {ANEURALNETWORKS_MUL, -1};
    fake_open(&adder, "fake-adder", add);
    fake_open(&multiplier, "fake-multiplier", mul);
    nnv_rt_device_override((struct nnvts_device *[]){&adder.base, &multiplier.base}, 2);
    return 0;
}

TEST_FN int close_fakes(void **state) {
    (void)state;
    nnv_rt_device_override(NULL, 0);
    fake_close(&adder);
    fake_close(&multiplier);
    return 0;
}

static const float A[] = {1, 2, 3}, B[] = {10, 20, 30};
/* (a + b) * b: 11 * 10, 22 * 20, 33 * 30 */
static const float SUM_TIMES[] = {110, 440, 990}, SUM[] = {11, 22, 33};

#endif
