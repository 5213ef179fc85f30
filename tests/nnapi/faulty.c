/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file faulty.c libneuralnetworks-faulty.so: the runtime with one bug, which the environment variable
 * NNVTS_RUNTIME_BUG names. tests/system/planted_runtime.tsv says which case of the suite "api" must find which.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "before.h"

static const char *planted = "";

__attribute__((constructor)) static void choose(void) {
    const char *name = getenv("NNVTS_RUNTIME_BUG");
    if (name) planted = name;
}

static int has(const char *bug) { return strcmp(planted, bug) == 0; }

/** The bug lets pass what the library refuses by this code. */
static int excuse(const char *bug, int code, int result) {
    return result == code && has(bug) ? ANEURALNETWORKS_NO_ERROR : result;
}

/* ---------------------------------------------------------------------- devices */

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel) {
    int result = real.Device_getFeatureLevel(device, featureLevel);
    if (result == ANEURALNETWORKS_NO_ERROR && has("level-above-runtime")) *featureLevel = 1000008;
    return result;
}

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void) {
    return has("level-above-runtime") ? ANEURALNETWORKS_FEATURE_LEVEL_7 : real._getRuntimeFeatureLevel();
}

/* ----------------------------------------------------------------------- models */

enum { MODELS = 4096 };
/** Operations of each model, which the library does not tell. */
static struct {
    const ANeuralNetworksModel *model;
    uint32_t operations;
} counted[MODELS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t count(const ANeuralNetworksModel *model, uint32_t more) {
    uint32_t at = 0, operations;
    pthread_mutex_lock(&lock);
    while (at + 1 < MODELS && counted[at].model && counted[at].model != model) at++;
    counted[at].model = model;
    operations = counted[at].operations += more;
    pthread_mutex_unlock(&lock);
    return operations;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel *model) {
    count(model, 0 - count(model, 0));
    real.Model_free(model);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type) {
    if (model && !type && has("null-type-accepted")) return ANEURALNETWORKS_NO_ERROR;
    if (type && has("scale-unchecked") && type->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && !(type->scale > 0)) {
        ANeuralNetworksOperandType other = *type;
        other.scale = 1;
        return real.Model_addOperand(model, &other);
    }
    return real.Model_addOperand(model, type);
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs) {
    if (has("identify-wants-operations") && count(model, 0) == 0) return ANEURALNETWORKS_BAD_DATA;
    return real.Model_identifyInputsAndOutputs(model, inputCount, inputs, outputCount, outputs);
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs) {
    int result = real.Model_addOperation(model, type, inputCount, inputs, outputCount, outputs);
    if (result == ANEURALNETWORKS_NO_ERROR) count(model, 1);
    return result;
}

/** A value that a model was given last, where it lies in the caller's memory. */
static struct {
    ANeuralNetworksModel *model;
    int32_t index;
    const void *buffer;
    size_t length;
} given[16];
static unsigned times_given;

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                         size_t length) {
    if (has("short-values-kept-by-place")) {
        const unsigned at = times_given++ % (sizeof given / sizeof *given);
        given[at].model = model;
        given[at].index = index;
        given[at].buffer = buffer;
        given[at].length = length;
    }
    return real.Model_setOperandValue(model, index, buffer, length);
}

/** Short values are read when the model is finished. */
static void read_late(ANeuralNetworksModel *model) {
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (model && given[i].model == model && given[i].buffer && given[i].length > sizeof(int32_t) &&
            given[i].length <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES)
            real.Model_setOperandValue(model, given[i].index, given[i].buffer, given[i].length);
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model) {
    if (has("short-values-kept-by-place")) read_late(model);
    if (has("null-model-crashes") && !model) abort();
    if (has("null-model-hangs") && !model)
        for (;;) pause();
    int result = real.Model_finish(model);
    if (result == ANEURALNETWORKS_BAD_STATE && has("second-finish-wrong-code")) return ANEURALNETWORKS_BAD_DATA;
    return excuse("second-finish-accepted", ANEURALNETWORKS_BAD_STATE, result);
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel *model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams *params) {
    return excuse("channel-scales-unchecked", ANEURALNETWORKS_BAD_DATA,
                  real.Model_setOperandSymmPerChannelQuantParams(model, index, params));
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *devices,
                                                          uint32_t numDevices, bool *supportedOps) {
    int result = real.Model_getSupportedOperationsForDevices(model, devices, numDevices, supportedOps);
    uint32_t n = count(model, 0);
    for (uint32_t i = 0; result == ANEURALNETWORKS_NO_ERROR && has("supported-reversed") && i < n / 2; i++) {
        bool first = supportedOps[i];
        supportedOps[i] = supportedOps[n - 1 - i];
        supportedOps[n - 1 - i] = first;
    }
    return result;
}

/* ----------------------------------------------------------------- compilations */

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference) {
    return excuse("finished-compilation-changed", ANEURALNETWORKS_BAD_STATE,
                  real.Compilation_setPreference(compilation, preference));
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority) {
    return excuse("priority-unchecked", ANEURALNETWORKS_BAD_DATA, real.Compilation_setPriority(compilation, priority));
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                          const uint8_t *token) {
    static const uint8_t same[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
    return real.Compilation_setCaching(compilation, cacheDir, token && has("token-ignored") ? same : token);
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(const ANeuralNetworksCompilation *compilation,
                                                                 uint32_t index, uint32_t *padding) {
    int result = real.Compilation_getPreferredMemoryPaddingForInput(compilation, index, padding);
    if (result == ANEURALNETWORKS_NO_ERROR && has("padding-no-power")) *padding = 48;
    return result;
}

/* ------------------------------------------------------------------- executions */

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length) {
    int result = real.Execution_setInput(execution, index, type, buffer, length);
    if (result == ANEURALNETWORKS_BAD_DATA && type && has("contradiction-accepted"))
        return real.Execution_setInput(execution, index, NULL, buffer, length);
    if (result == ANEURALNETWORKS_BAD_DATA && length == 17 && has("length-unchecked"))
        return real.Execution_setInput(execution, index, type, buffer, 16);
    return excuse("input-set-twice", ANEURALNETWORKS_BAD_STATE, result);
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (has("memory-offset-ignored") && length) offset = 0;
    return real.Execution_setInputFromMemory(execution, index, type, memory, offset, length);
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration) {
    if (execution && has("loop-timeout-ignored")) return ANEURALNETWORKS_NO_ERROR;
    return real.Execution_setLoopTimeout(execution, duration);
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable) {
    return real.Execution_setReusable(execution, reusable && !has("reusable-ignored"));
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration) {
    return excuse("unmeasured-durations", ANEURALNETWORKS_BAD_STATE,
                  real.Execution_getDuration(execution, durationCode, duration));
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution) {
    if (has("descriptor-leak")) (void)!fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int result = real.Execution_compute(execution);
    if (result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && has("insufficient-is-failure"))
        return ANEURALNETWORKS_OP_FAILED;
    return excuse("one-shot-reused", ANEURALNETWORKS_BAD_STATE, result);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) {
    int result = real.Execution_burstCompute(execution, burst);
    if (result == ANEURALNETWORKS_BAD_STATE && has("burst-shared")) return real.Execution_compute(execution);
    if (result == ANEURALNETWORKS_BAD_DATA && burst && has("any-burst")) return real.Execution_compute(execution);
    return result;
}

int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t num_dependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event) {
    if (has("dependencies-ignored") && dependencies && num_dependencies && dependencies[0])
        return real.Execution_startComputeWithDependencies(execution, NULL, 0, duration, event);
    return real.Execution_startComputeWithDependencies(execution, dependencies, num_dependencies, duration, event);
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t index,
                                                        uint32_t *dimensions) {
    static uint32_t first;
    int result = real.Execution_getOutputOperandDimensions(execution, index, dimensions);
    if (result == ANEURALNETWORKS_NO_ERROR && has("stale-extents")) {
        if (!first) first = dimensions[0];
        dimensions[0] = first;
    }
    return result;
}

/* ----------------------------------------------------------------------- events */

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event) {
    if (event && has("wait-returns-early")) return ANEURALNETWORKS_NO_ERROR;
    return real.Event_wait(event);
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event) {
    if (event && sync_fence_fd <= 0 && has("fence-unchecked")) {
        int other = eventfd(1, EFD_CLOEXEC), result = real.Event_createFromSyncFenceFd(other, event);
        close(other);
        return result;
    }
    return real.Event_createFromSyncFenceFd(sync_fence_fd, event);
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd) {
    int result = real.Event_getSyncFenceFd(event, sync_fence_fd);
    const int early = has("fence-signalled-early");
    if (!event || !sync_fence_fd || !(early || has("fence-never-signals"))) return result;
    if (result == ANEURALNETWORKS_NO_ERROR) close(*sync_fence_fd);
    *sync_fence_fd = eventfd(early, EFD_CLOEXEC);
    return ANEURALNETWORKS_NO_ERROR;
}

/* ----------------------------------------------------------------------- memory */

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst) {
    if (src && dst && has("copy-lost")) return ANEURALNETWORKS_NO_ERROR;
    return excuse("copy-unchecked", ANEURALNETWORKS_BAD_DATA, real.Memory_copy(src, dst));
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency) {
    return excuse("roles-of-any-type", ANEURALNETWORKS_BAD_DATA,
                  real.MemoryDesc_addInputRole(desc, compilation, index, frequency));
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc) {
    return excuse("roles-unneeded", ANEURALNETWORKS_BAD_DATA, real.MemoryDesc_finish(desc));
}
