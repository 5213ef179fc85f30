/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/api/sl_diag.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/type.h"
#include "reference/runtime/log.h"

/* What both kinds of information have. */
struct common {
    int64_t nn_api_version;
    uint8_t hash[NNV_SHA256_BYTES];
    char *device_ids;
    int32_t session, error;
    ANeuralNetworksDiagnosticDataClass input, output;
    bool caching, control_flow, dynamic;
};
struct ANeuralNetworksDiagnosticCompilationInfo {
    struct common c;
    uint64_t time_ns;
};
struct ANeuralNetworksDiagnosticExecutionInfo {
    struct common c;
    ANeuralNetworksDiagnosticExecutionMode mode;
    uint64_t runtime_ns;
    struct nnvts_timing timing;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool wanted;
static ANeuralNetworksDiagnosticCompilationFinishedCallback on_compiled;
static ANeuralNetworksDiagnosticExecutionFinishedCallback on_executed;
static void *callback_context;
static int32_t session;

void nnv_rt_diag_register(ANeuralNetworksDiagnosticCompilationFinishedCallback compiled,
                          ANeuralNetworksDiagnosticExecutionFinishedCallback executed, void *context) {
    pthread_mutex_lock(&lock);
    while (session <= 0)
        if (getrandom(&session, sizeof session, 0) != sizeof session) session = (int32_t)getpid();
    on_compiled = compiled;
    on_executed = executed;
    callback_context = context;
    atomic_store(&wanted, compiled || executed);
    pthread_mutex_unlock(&lock);
}

uint64_t nnv_rt_diag_begin(void) { return atomic_load(&wanted) ? nnv_now_ns() : 0; }

/* ----------------------------------------------------------- what is told of a model */

static void hash_indices(struct nnv_sha256 *h, uint32_t count, const uint32_t *list) {
    nnv_sha256_add(h, &count, sizeof count);
    if (count) nnv_sha256_add(h, list, count * sizeof *list);
}

static void hash_graph(struct nnv_sha256 *h, const struct nnvts_subgraph *g) {
    const uint32_t counts[2] = {g->operand_count, g->operation_count};
    nnv_sha256_add(h, counts, sizeof counts);
    for (uint32_t i = 0; i < g->operand_count; i++) {
        const struct nnvts_operand *o = &g->operands[i];
        const uint32_t fixed[4] = {(uint32_t)o->type, (uint32_t)o->zero_point, o->lifetime,
                                   o->lifetime == NNVTS_SUBGRAPH ? o->location.offset : 0};
        nnv_sha256_add(h, fixed, sizeof fixed);
        nnv_sha256_add(h, &o->scale, sizeof o->scale);
        hash_indices(h, o->dimension_count, o->dimensions);
    }
    for (uint32_t k = 0; k < g->operation_count; k++) {
        const struct nnvts_operation *op = &g->operations[k];
        nnv_sha256_add(h, &op->type, sizeof op->type);
        hash_indices(h, op->input_count, op->inputs);
        hash_indices(h, op->output_count, op->outputs);
    }
    hash_indices(h, g->input_count, g->inputs);
    hash_indices(h, g->output_count, g->outputs);
}

/*
 * A model's architecture: SHA-256 of its operations, operand types, shapes, quantisation and lifetimes, and of how they
 * hang together, over all graphs. Values of constants play no part.
 */
static void hash_model(const struct ANeuralNetworksModel *m, uint8_t hash[32]) {
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    for (uint32_t g = 0; g < nnv_rt_graph_count(m); g++) hash_graph(&h, nnv_rt_graph_at(m, g));
    const uint8_t relaxed = m->model.relax_float32_to_float16;
    nnv_sha256_add(&h, &relaxed, 1);
    nnv_sha256_end(&h, hash);
}

static ANeuralNetworksDiagnosticDataClass class_of(int32_t type) {
    if (nnv_is_quant(type)) return ANNDIAG_DATA_CLASS_QUANT;
    if (type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_FLOAT32) return ANNDIAG_DATA_CLASS_FLOAT32;
    if (type == ANEURALNETWORKS_TENSOR_FLOAT16 || type == ANEURALNETWORKS_FLOAT16) return ANNDIAG_DATA_CLASS_FLOAT16;
    return ANNDIAG_DATA_CLASS_OTHER;
}

static ANeuralNetworksDiagnosticDataClass class_of_all(const struct nnvts_subgraph *g, uint32_t count,
                                                       const uint32_t *list) {
    ANeuralNetworksDiagnosticDataClass all = ANNDIAG_DATA_CLASS_UNKNOWN;
    for (uint32_t i = 0; i < count; i++) {
        ANeuralNetworksDiagnosticDataClass one = class_of(g->operands[list[i]].type);
        all = all == ANNDIAG_DATA_CLASS_UNKNOWN || all == one ? one : ANNDIAG_DATA_CLASS_MIXED;
    }
    return all;
}

static void look_through(const struct ANeuralNetworksModel *m, struct common *c) {
    for (uint32_t g = 0; g < nnv_rt_graph_count(m); g++) {
        const struct nnvts_subgraph *s = nnv_rt_graph_at(m, g);
        for (uint32_t k = 0; k < s->operation_count; k++)
            if (s->operations[k].type == ANEURALNETWORKS_IF || s->operations[k].type == ANEURALNETWORKS_WHILE)
                c->control_flow = true;
        for (uint32_t i = 0; i < s->operand_count; i++)
            if (!m->info[g].known[i] && s->operands[i].lifetime != NNVTS_NO_VALUE) c->dynamic = true;
    }
}

static void describe(const ANeuralNetworksCompilation *c, int result, struct common *out) {
    const struct nnvts_subgraph *main = &c->model->model.main;
    struct nnv_text ids = {0};
    for (size_t i = 0; i < c->device_count; i++)
        nnv_text_addf(&ids, "%s%s=%s", i ? "," : "", c->devices[i]->name, c->devices[i]->version);
    *out = (struct common){.nn_api_version = ANeuralNetworks_getRuntimeFeatureLevel(),
                           .device_ids = ids.data,
                           .session = session,
                           .error = result,
                           .input = class_of_all(main, main->input_count, main->inputs),
                           .output = class_of_all(main, main->output_count, main->outputs),
                           .caching = c->has_token};
    hash_model(c->model, out->hash);
    look_through(c->model, out);
}

static void forget(struct common *c) {
    struct nnv_text ids = {.data = c->device_ids};
    nnv_text_free(&ids);
}

/* -------------------------------------------------------------------- the hooks */

void nnv_rt_diag_compiled(const ANeuralNetworksCompilation *c, int result, uint64_t since) {
    if (!since) return;
    struct ANeuralNetworksDiagnosticCompilationInfo info = {.time_ns = nnv_now_ns() - since};
    pthread_mutex_lock(&lock);
    ANeuralNetworksDiagnosticCompilationFinishedCallback call = on_compiled;
    void *context = callback_context;
    pthread_mutex_unlock(&lock);
    if (!call) return;
    describe(c, result, &info.c);
    call(context, &info);
    forget(&info.c);
}

void nnv_rt_diag_executed(const ANeuralNetworksCompilation *c, ANeuralNetworksDiagnosticExecutionMode mode, int result,
                          uint64_t since, const struct nnvts_timing *timing) {
    if (!since) return;
    struct ANeuralNetworksDiagnosticExecutionInfo info = {
        .mode = mode, .runtime_ns = nnv_now_ns() - since, .timing = *timing};
    pthread_mutex_lock(&lock);
    ANeuralNetworksDiagnosticExecutionFinishedCallback call = on_executed;
    void *context = callback_context;
    pthread_mutex_unlock(&lock);
    if (!call) return;
    describe(c, result, &info.c);
    call(context, &info);
    forget(&info.c);
}

/* ------------------------------------------------------------- what they are asked */

#define COMPILATION(type, name, value)                                                                                 \
    type nnv_rt_diag_compilation_##name(const ANeuralNetworksDiagnosticCompilationInfo *info) { return value; }
#define EXECUTION(type, name, value)                                                                                   \
    type nnv_rt_diag_execution_##name(const ANeuralNetworksDiagnosticExecutionInfo *info) { return value; }
#define BOTH(type, name, value)                                                                                        \
    COMPILATION(type, name, value)                                                                                     \
    EXECUTION(type, name, value)
BOTH(int32_t, getSessionId, info->c.session)
BOTH(int64_t, getNnApiVersion, info->c.nn_api_version)
BOTH(const uint8_t *, getModelArchHash, info->c.hash)
BOTH(const char *, getDeviceIds, info->c.device_ids)
BOTH(int32_t, getErrorCode, info->c.error)
BOTH(ANeuralNetworksDiagnosticDataClass, getInputDataClass, info->c.input)
BOTH(ANeuralNetworksDiagnosticDataClass, getOutputDataClass, info->c.output)
BOTH(bool, isCachingEnabled, info->c.caching)
BOTH(bool, isControlFlowUsed, info->c.control_flow)
BOTH(bool, areDynamicTensorsUsed, info->c.dynamic)
COMPILATION(uint64_t, getCompilationTimeNanos, info->time_ns)
EXECUTION(ANeuralNetworksDiagnosticExecutionMode, getExecutionMode, info->mode)
EXECUTION(uint64_t, getRuntimeExecutionTimeNanos, info->runtime_ns)
EXECUTION(uint64_t, getDriverExecutionTimeNanos, info->timing.in_driver_ns)
EXECUTION(uint64_t, getHardwareExecutionTimeNanos, info->timing.on_device_ns)
