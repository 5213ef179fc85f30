/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime.c See runtime.h. */
#include "tests/kit/runtime.h"

#include <unistd.h>

#include "reference/cpu/executor.h"

struct wrapped_device adder, multiplier;
const float A[] = {1, 2, 3}, B[] = {10, 20, 30};
const float SUM_TIMES[] = {110, 440, 990}, SUM[] = {11, 22, 33};

struct fake_prepared {
    struct nnvts_prepared_model base;
    struct wrapped_device *fake;
    struct nnvts_prepared_model *inner;
};

struct fake_burst {
    struct nnvts_burst base;
    struct fake_prepared *prepared;
};

struct fake_execution {
    struct nnvts_execution base;
    struct wrapped_device *fake;
    struct nnvts_execution *inner;
};

/** A fenced execution of the reference's, whose result may be changed. */
struct fake_fenced {
    struct wrapped_device *fake;
    int late_fence;
    struct nnvts_fenced_execution inner;
};

static void fake_see(struct wrapped_device *f, const struct nnvts_request *r,
                     const struct nnvts_execution_config *config, int *counter) {
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

static enum nnvts_status fake_finish(struct wrapped_device *f, enum nnvts_status st,
                                     struct nnvts_execution_result *result) {
    if (f->delay_ms) usleep((useconds_t)f->delay_ms * 1000);
    if (f->lie) f->lie(result, &st);
    return st;
}

static enum nnvts_status fake_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    fake_see(p->fake, request, config, &p->fake->executed);
    if (p->fake->fail) return p->fake->fail;
    return fake_finish(p->fake, p->inner->execute(p->inner, request, config, result), result);
}

static enum nnvts_status fake_burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                            const int64_t *tokens, const struct nnvts_execution_config *config,
                                            struct nnvts_execution_result *result) {
    struct fake_prepared *p = ((struct fake_burst *)self)->prepared;
    fake_see(p->fake, request, config, &p->fake->in_burst);
    for (uint32_t i = 0; i < request->pool_count && i < FAKE_POOLS; i++) p->fake->tokens[i] = tokens[i];
    if (p->fake->fail) return p->fake->fail;
    return fake_finish(p->fake, p->inner->execute(p->inner, request, config, result), result);
}

static enum nnvts_status fake_forget(struct nnvts_burst *self, int64_t token) {
    ((struct fake_burst *)self)->prepared->fake->forgotten = token;
    return NNVTS_STATUS_NONE;
}

static void fake_burst_release(struct nnvts_burst *self) {
    ((struct fake_burst *)self)->prepared->fake->released_bursts++;
    free(self);
}

static enum nnvts_status fake_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct fake_burst *b = calloc(1, sizeof *b);
    b->base = (struct nnvts_burst){sizeof b->base, fake_burst_execute, fake_forget, fake_burst_release};
    b->prepared = (struct fake_prepared *)self;
    b->prepared->fake->bursts++;
    *out = &b->base;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status fake_reuse(struct nnvts_execution *self, uint64_t deadline_ns,
                                    struct nnvts_execution_result *result) {
    struct fake_execution *e = (struct fake_execution *)self;
    const struct nnvts_execution_config config = {.deadline_ns = deadline_ns};
    fake_see(e->fake, NULL, &config, &e->fake->reused);
    if (e->fake->fail) return e->fake->fail;
    return fake_finish(e->fake, e->inner->execute(e->inner, deadline_ns, result), result);
}

static void fake_execution_release(struct nnvts_execution *self) {
    struct fake_execution *e = (struct fake_execution *)self;
    e->inner->release(e->inner);
    free(e);
}

static enum nnvts_status fake_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
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

static enum nnvts_status fake_fenced_result(void *context, struct nnvts_fenced_result *result) {
    struct fake_fenced *x = context;
    enum nnvts_status st = x->inner.get_result(x->inner.context, result);
    if (x->fake->fail_later) result->status = x->fake->fail_later;
    return st;
}

static void fake_fenced_release(void *context) {
    struct fake_fenced *x = context;
    x->inner.release(x->inner.context);
    if (x->late_fence > 0) close(x->late_fence);
    free(x);
}

static enum nnvts_status fake_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
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

static void fake_release_prepared(struct nnvts_prepared_model *self) {
    struct fake_prepared *p = (struct fake_prepared *)self;
    p->inner->release(p->inner);
    free(p);
}

static enum nnvts_status fake_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct wrapped_device *f = (struct wrapped_device *)self;
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

static enum nnvts_status fake_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct wrapped_device *f = (struct wrapped_device *)self;
    enum nnvts_status st = f->inner->get_supported_operations(f->inner, model, supported);
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        supported[i] = supported[i] && f->supports[model->main.operations[i].type];
    return st;
}

static enum nnvts_device_status fake_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status fake_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                       struct nnvts_buffer **out) {
    struct wrapped_device *f = (struct wrapped_device *)self;
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

static void fake_release(struct nnvts_device *self) { (void)self; }

void wrapped_open(struct wrapped_device *f, const char *name, const int32_t *operations) {
    static const int32_t types[] = {ANEURALNETWORKS_FLOAT32,      ANEURALNETWORKS_INT32, ANEURALNETWORKS_TENSOR_FLOAT32,
                                    ANEURALNETWORKS_TENSOR_INT32, ANEURALNETWORKS_BOOL,  ANEURALNETWORKS_TENSOR_BOOL8};
    const char *error = NULL;
    const struct nnvts_performance half = {0.5f, 0.5f};
    *f = (struct wrapped_device){0};
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

static void wrapped_close(struct wrapped_device *f) {
    f->inner->release(f->inner);
    pthread_mutex_destroy(&f->lock);
}

struct ANeuralNetworksDevice *wrapped_device(const struct wrapped_device *f) {
    for (size_t i = 0; i < nnv_rt_device_count(); i++)
        if (nnv_rt_device_at(i)->driver == &f->base) return nnv_rt_device_at(i);
    fail_msg("the device is not there");
    return NULL;
}

int seen(struct wrapped_device *f, const int *counter) {
    pthread_mutex_lock(&f->lock);
    const int n = *counter;
    pthread_mutex_unlock(&f->lock);
    return n;
}

struct api_net api_net_new(void) {
    return (struct api_net){.model = new_model()};
}

uint32_t api_operand(struct api_net *n, int32_t type, uint32_t rank, const uint32_t *dims) {
    add_operand(n->model, type, rank, dims);
    return n->count++;
}

uint32_t api_vec(struct api_net *n, uint32_t extent) {
    return api_operand(n, ANEURALNETWORKS_TENSOR_FLOAT32, 1, &extent);
}

uint32_t api_flag(struct api_net *n) {
    const uint32_t one = 1;
    return api_operand(n, ANEURALNETWORKS_TENSOR_BOOL8, 1, &one);
}

uint32_t api_integer(struct api_net *n, int32_t value) {
    const uint32_t i = api_operand(n, ANEURALNETWORKS_INT32, 0, NULL);
    set_int(n->model, (int32_t)i, value);
    return i;
}

uint32_t api_constant(struct api_net *n, uint32_t extent, const float *values) {
    const uint32_t i = api_vec(n, extent);
    OK(ANeuralNetworksModel_setOperandValue(n->model, (int32_t)i, values, extent * sizeof *values));
    return i;
}

uint32_t api_graph(struct api_net *n, const struct api_net *to) {
    const uint32_t i = api_operand(n, ANEURALNETWORKS_MODEL, 0, NULL);
    OK(ANeuralNetworksModel_setOperandValueFromModel(n->model, (int32_t)i, to->model));
    return i;
}

void api_operation(struct api_net *n, int32_t type, uint32_t nin, const uint32_t *in, uint32_t nout,
                   const uint32_t *out) {
    OK(ANeuralNetworksModel_addOperation(n->model, type, nin, in, nout, out));
}

void api_binary(struct api_net *n, int32_t type, uint32_t a, uint32_t b, uint32_t out) {
    api_operation(n, type, LIST(a, b, api_integer(n, 0)), LIST(out));
}

void api_net_finish(struct api_net *n, uint32_t nin, const uint32_t *in, uint32_t nout, const uint32_t *out) {
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(n->model, nin, in, nout, out));
    OK(ANeuralNetworksModel_finish(n->model));
}

void api_net_free(struct api_net *n) { ANeuralNetworksModel_free(n->model); }

struct api_net api_sum_times(uint32_t extent) {
    struct api_net n = api_net_new();
    const uint32_t a = api_vec(&n, extent), b = api_vec(&n, extent), sum = api_vec(&n, extent),
                   out = api_vec(&n, extent);
    api_binary(&n, ANEURALNETWORKS_ADD, a, b, sum);
    api_binary(&n, ANEURALNETWORKS_MUL, sum, b, out);
    api_net_finish(&n, LIST(a, b), LIST(out));
    return n;
}

struct api_net api_sum(uint32_t extent) {
    struct api_net n = api_net_new();
    const uint32_t a = api_vec(&n, extent), b = api_vec(&n, extent), out = api_vec(&n, extent);
    api_binary(&n, ANEURALNETWORKS_ADD, a, b, out);
    api_net_finish(&n, LIST(a, b), LIST(out));
    return n;
}

ANeuralNetworksCompilation *api_compile(const struct api_net *n) {
    ANeuralNetworksCompilation *c = NULL;
    OK(ANeuralNetworksCompilation_create(n->model, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

ANeuralNetworksCompilation *api_compile_for(const struct api_net *n, struct ANeuralNetworksDevice *device) {
    ANeuralNetworksCompilation *c = NULL;
    const ANeuralNetworksDevice *const list[] = {device};
    OK(ANeuralNetworksCompilation_createForDevices(n->model, list, 1, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    return c;
}

ANeuralNetworksExecution *api_execution_of(ANeuralNetworksCompilation *c) {
    ANeuralNetworksExecution *e = NULL;
    OK(ANeuralNetworksExecution_create(c, &e));
    return e;
}

ANeuralNetworksExecution *api_execution_on(ANeuralNetworksCompilation *c, const float *a, const float *b, float *out,
                                           uint32_t n) {
    ANeuralNetworksExecution *e = api_execution_of(c);
    const ANeuralNetworksOperandType t = {
        .type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = &n};
    OK(ANeuralNetworksExecution_setInput(e, 0, &t, a, n * sizeof *a));
    OK(ANeuralNetworksExecution_setInput(e, 1, &t, b, n * sizeof *b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, n * sizeof *out));
    return e;
}

int open_fakes(void **state) {
    (void)state;
    static const int32_t add[] = {ANEURALNETWORKS_ADD, -1}, mul[] = {ANEURALNETWORKS_MUL, -1};
    wrapped_open(&adder, "fake-adder", add);
    wrapped_open(&multiplier, "fake-multiplier", mul);
    nnv_rt_device_override((struct nnvts_device *[]){&adder.base, &multiplier.base}, 2);
    return 0;
}

int close_fakes(void **state) {
    (void)state;
    nnv_rt_device_override(NULL, 0);
    wrapped_close(&adder);
    wrapped_close(&multiplier);
    return 0;
}
