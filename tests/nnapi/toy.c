/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file toy.c A tiny NNAPI library for tests of what loads one: ADD of float32 tensors, two devices, and lies.
 *
 * The environment variable TOY_LIE names the lie that it tells. With TOY_OLD defined it has the functions of feature
 * level 1 alone. toy_objects() counts the objects that nobody has freed yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "NeuralNetworksSupportLibraryImpl.h"

enum { ROOM = 64, RANK = 4, WRONG_CODE = 77, HUGE_RANK = 1000000 };

static int objects;
__attribute__((visibility("default"))) int toy_objects(void);
int toy_objects(void) { return __atomic_load_n(&objects, __ATOMIC_SEQ_CST); }

static int lies(const char *lie) {
    const char *told = getenv("TOY_LIE");
    return told && strcmp(told, lie) == 0;
}

static void *make(size_t bytes) {
    __atomic_add_fetch(&objects, 1, __ATOMIC_SEQ_CST);
    return calloc(1, bytes);
}
static void drop(void *object) {
    if (object) __atomic_sub_fetch(&objects, 1, __ATOMIC_SEQ_CST);
    free(object);
}

/* ---------------------------------------------------------------------- memory */

struct ANeuralNetworksMemory {
    char *data;
    size_t size;
    int writes; /* device memory: has a value */
};

int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
                                       ANeuralNetworksMemory **memory) {
    if (lies("memory-nothing")) return *memory = NULL, ANEURALNETWORKS_NO_ERROR;
    void *data = mmap(NULL, size, protect, MAP_SHARED, fd, (off_t)offset);
    *memory = NULL;
    if (data == MAP_FAILED) return ANEURALNETWORKS_UNMAPPABLE;
    *memory = make(sizeof **memory);
    (*memory)->data = data;
    (*memory)->size = size;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksMemory_free(ANeuralNetworksMemory *memory) {
    if (memory) munmap(memory->data, memory->size);
    drop(memory);
}

/* ---------------------------------------------------------------------- models */

struct operand {
    int32_t type;
    uint32_t rank, dims[RANK];
    const char *value;
    int32_t copied;
};

struct ANeuralNetworksModel {
    struct operand operands[ROOM];
    uint32_t operand_count, operation_count, in[3], out[1], ends[3], end_counts[2];
    int32_t operation;
    int finished;
};

int ANeuralNetworksModel_create(ANeuralNetworksModel **model) {
    *model = lies("model-nothing") ? NULL : make(sizeof **model);
    return ANEURALNETWORKS_NO_ERROR;
}
void ANeuralNetworksModel_free(ANeuralNetworksModel *model) { drop(model); }

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *m, const ANeuralNetworksOperandType *type) {
    if (m->operand_count == ROOM || type->dimensionCount > RANK) return ANEURALNETWORKS_BAD_DATA;
    if (!type->dimensionCount && type->dimensions) return ANEURALNETWORKS_BAD_DATA; /* "Must be nullptr for scalars" */
    struct operand *o = &m->operands[m->operand_count++];
    o->type = type->type;
    o->rank = type->dimensionCount;
    for (uint32_t i = 0; i < o->rank; i++) o->dims[i] = type->dimensions[i];
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *m, int32_t index, const void *buffer, size_t length) {
    struct operand *o = &m->operands[index];
    if (!buffer) return length ? ANEURALNETWORKS_UNEXPECTED_NULL : ANEURALNETWORKS_NO_ERROR;
    if (length == sizeof o->copied) {
        memcpy(&o->copied, buffer, sizeof o->copied);
        o->value = (char *)&o->copied;
    } else {
        o->value = buffer; /* as long as the model lives: so says the NDK of larger values */
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *m, int32_t index,
                                                   const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (offset + length > memory->size) return ANEURALNETWORKS_BAD_DATA;
    m->operands[index].value = memory->data + offset;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *m, ANeuralNetworksOperationType type, uint32_t inputCount,
                                      const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs) {
    if (m->operation_count || inputCount > 3 || outputCount != 1) return ANEURALNETWORKS_BAD_DATA;
    m->operation = type;
    m->operation_count = 1;
    for (uint32_t i = 0; i < inputCount; i++) m->in[i] = inputs[i];
    m->out[0] = outputs[0];
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *m, uint32_t inputCount, const uint32_t *inputs,
                                                  uint32_t outputCount, const uint32_t *outputs) {
    (void)outputs;
    if (inputCount == 0 || inputCount > 3 || outputCount != 1) return ANEURALNETWORKS_BAD_DATA; /* as Android's */
    memcpy(m->ends, inputs, inputCount * sizeof *inputs);
    m->end_counts[0] = inputCount;
    m->end_counts[1] = outputCount;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *m) {
    if (lies("finish-77")) return WRONG_CODE;
    if (m->finished++) return ANEURALNETWORKS_BAD_STATE;
    return m->operation_count && m->end_counts[1] ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}

/* ----------------------------------------------------------------- compilations */

struct ANeuralNetworksCompilation {
    ANeuralNetworksModel *model;
    int named;
};

static int compilation_new(ANeuralNetworksModel *model, int named, ANeuralNetworksCompilation **compilation) {
    *compilation = NULL;
    if (lies("compilation-nothing")) return ANEURALNETWORKS_NO_ERROR;
    if (!model->finished) return ANEURALNETWORKS_BAD_STATE;
    *compilation = make(sizeof **compilation);
    (*compilation)->model = model;
    (*compilation)->named = named;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation) {
    return compilation_new(model, 0, compilation);
}
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation) { drop(compilation); }

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference) {
    (void)compilation;
    return preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED ? ANEURALNETWORKS_BAD_DATA : ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *c) {
    return c->model->operation == ANEURALNETWORKS_ADD ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}

/* ------------------------------------------------------------------- executions */

struct ANeuralNetworksExecution {
    ANeuralNetworksCompilation *compilation;
    const char *in[3];
    char *out;
    size_t out_bytes;
    ANeuralNetworksMemory *written;
    int done, small, timed;
};
struct ANeuralNetworksEvent {
    int code, fence;
};

static size_t elements(const struct operand *o) {
    size_t n = 1;
    for (uint32_t i = 0; i < o->rank; i++) n *= o->dims[i];
    return n;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution) {
    *execution = lies("execution-nothing") ? NULL : make(sizeof **execution);
    if (*execution) (*execution)->compilation = compilation;
    return ANEURALNETWORKS_NO_ERROR;
}
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution) { drop(execution); }

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *x, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length) {
    const ANeuralNetworksModel *m = x->compilation->model;
    (void)type;
    if (length != elements(&m->operands[m->ends[index]]) * sizeof(float)) return ANEURALNETWORKS_BAD_DATA;
    x->in[index] = buffer;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *x, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (length == 0) { /* device memory */
        x->in[index] = memory->data;
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (offset + length > memory->size) return ANEURALNETWORKS_BAD_DATA;
    return ANeuralNetworksExecution_setInput(x, index, type, memory->data + offset, length);
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *x, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length) {
    (void)index;
    (void)type;
    x->out = buffer;
    x->out_bytes = length;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *x, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    if (length == 0) {
        x->written = (ANeuralNetworksMemory *)(uintptr_t)memory;
        return ANeuralNetworksExecution_setOutput(x, index, type, memory->data, memory->size);
    }
    if (offset + length > memory->size) return ANEURALNETWORKS_BAD_DATA;
    return ANeuralNetworksExecution_setOutput(x, index, type, memory->data + offset, length);
}

static int run(ANeuralNetworksExecution *x) {
    const ANeuralNetworksModel *m = x->compilation->model;
    const char *from[2];
    if (lies("compute-77")) return WRONG_CODE;
    if (lies("compute-hangs"))
        for (;;) pause();
    for (int i = 0; i < 2; i++) {
        from[i] = m->operands[m->in[i]].value;
        for (uint32_t k = 0; k < m->end_counts[0]; k++)
            if (m->ends[k] == m->in[i]) from[i] = x->in[k];
    }
    const size_t n = elements(&m->operands[m->out[0]]);
    x->done = 1;
    x->small = x->out_bytes < n * sizeof(float);
    if (x->small) return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < n; i++) {
        float a, b;
        memcpy(&a, from[0] + i * sizeof a, sizeof a);
        memcpy(&b, from[1] + i * sizeof b, sizeof b);
        a += b;
        memcpy(x->out + i * sizeof a, &a, sizeof a);
    }
    if (x->written) x->written->writes++;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event) {
    *event = NULL;
    if (lies("event-nothing")) return ANEURALNETWORKS_NO_ERROR;
    *event = make(sizeof **event);
    (*event)->code = run(execution);
    (*event)->fence = -1;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event) {
    struct pollfd p = {event->fence, POLLIN, 0};
    while (event->fence >= 0 && poll(&p, 1, -1) < 0 && errno == EINTR) continue;
    return event->code;
}
void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event) {
    if (event && event->fence >= 0) close(event->fence);
    drop(event);
}

/* ------------------------------------------------------------ what came later */

#ifndef TOY_OLD

struct ANeuralNetworksDevice {
    const char *name;
    int64_t level;
};
static struct ANeuralNetworksDevice devices[] = {{"toy-a", ANEURALNETWORKS_FEATURE_LEVEL_5},
                                                 {"toy-b", ANEURALNETWORKS_FEATURE_LEVEL_3}};

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void) {
    return lies("level-nonsense") ? 4 : ANEURALNETWORKS_FEATURE_LEVEL_7;
}
int ANeuralNetworks_getDeviceCount(uint32_t *numDevices) {
    *numDevices = lies("devices-billions") ? 4000000000u : sizeof devices / sizeof *devices;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device) {
    if (devIndex >= sizeof devices / sizeof *devices) return ANEURALNETWORKS_BAD_DATA;
    *device = lies("device-nothing") ? NULL : &devices[devIndex];
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name) {
    *name = lies("name-nothing") ? NULL : device->name;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type) {
    *type = device == devices ? ANEURALNETWORKS_DEVICE_ACCELERATOR : ANEURALNETWORKS_DEVICE_GPU;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version) {
    (void)device;
    *version = lies("version-nothing") ? NULL : "toy-1";
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel) {
    *featureLevel = device->level;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                          const ANeuralNetworksDevice *const *list, uint32_t numDevices,
                                                          bool *supportedOps) {
    (void)list;
    if (numDevices == 0) return ANEURALNETWORKS_BAD_DATA;
    if (!lies("supported-unfilled")) supportedOps[0] = model->operation == ANEURALNETWORKS_ADD;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *list,
                                                uint32_t numDevices, ANeuralNetworksCompilation **compilation) {
    (void)list;
    return compilation_new(model, numDevices == 1, compilation);
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution) { return run(execution); }

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure) {
    if (!execution->compilation->named) return ANEURALNETWORKS_BAD_DATA;
    execution->timed = measure;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration) {
    if (!execution->timed || lies("duration-fails")) return ANEURALNETWORKS_BAD_STATE;
    *duration = 10 + (uint64_t)durationCode;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *x, int32_t index, uint32_t *rank) {
    const ANeuralNetworksModel *m = x->compilation->model;
    (void)index;
    if (!x->done || lies("shapes-fail")) return ANEURALNETWORKS_BAD_STATE;
    *rank = lies("huge-rank") ? HUGE_RANK : m->operands[m->out[0]].rank;
    return x->small ? ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE : ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *x, int32_t index,
                                                        uint32_t *dimensions) {
    const ANeuralNetworksModel *m = x->compilation->model;
    (void)index;
    for (uint32_t i = 0; i < m->operands[m->out[0]].rank; i++) dimensions[i] = m->operands[m->out[0]].dims[i];
    return x->small ? ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE : ANEURALNETWORKS_NO_ERROR;
}

struct ANeuralNetworksBurst {
    int executions;
};
int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksBurst **burst) {
    (void)compilation;
    *burst = lies("burst-nothing") ? NULL : make(sizeof **burst);
    return ANEURALNETWORKS_NO_ERROR;
}
void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst) { drop(burst); }
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) {
    burst->executions++;
    return run(execution);
}
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable) {
    (void)execution;
    (void)reusable;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event) {
    *event = NULL;
    if (sync_fence_fd <= 0) return ANEURALNETWORKS_BAD_DATA;
    *event = make(sizeof **event);
    (*event)->fence = dup(sync_fence_fd);
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd) {
    *sync_fence_fd = lies("fence-nonsense") ? 123456 : -1;
    if (lies("fence-nonsense")) return ANEURALNETWORKS_NO_ERROR;
    if (event->fence < 0 || lies("no-fence")) return ANEURALNETWORKS_BAD_DATA;
    *sync_fence_fd = dup(event->fence);
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t num_dependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event) {
    const uint64_t one = 1;
    (void)duration;
    for (uint32_t i = 0; i < num_dependencies; i++)
        ANeuralNetworksEvent_wait((ANeuralNetworksEvent *)(uintptr_t)dependencies[i]);
    int code = ANeuralNetworksExecution_startCompute(execution, event);
    if (code || !*event || lies("no-fence")) return code;
    (*event)->fence = eventfd(0, EFD_CLOEXEC);
    return write((*event)->fence, &one, sizeof one) == sizeof one ? ANEURALNETWORKS_NO_ERROR
                                                                  : ANEURALNETWORKS_OP_FAILED;
}

/* ---------------------------------------------------------------- device memory */

struct ANeuralNetworksMemoryDesc {
    size_t bytes;
};
int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc) {
    *desc = make(sizeof **desc);
    return ANEURALNETWORKS_NO_ERROR;
}
void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc) { drop(desc); }
int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency) {
    const ANeuralNetworksModel *m = compilation->model;
    if (index >= m->end_counts[0] || !(frequency > 0 && frequency <= 1)) return ANEURALNETWORKS_BAD_DATA;
    desc->bytes = elements(&m->operands[m->ends[index]]) * sizeof(float);
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation, uint32_t index,
                                            float frequency) {
    const ANeuralNetworksModel *m = compilation->model;
    if (index >= m->end_counts[1] || !(frequency > 0 && frequency <= 1)) return ANEURALNETWORKS_BAD_DATA;
    desc->bytes = elements(&m->operands[m->out[0]]) * sizeof(float);
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                            const uint32_t *dimensions) {
    (void)desc;
    (void)rank;
    (void)dimensions;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc) {
    return desc->bytes ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}
int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory) {
    *memory = NULL;
    if (lies("buffer-nothing")) return ANEURALNETWORKS_NO_ERROR;
    *memory = make(sizeof **memory);
    (*memory)->data = mmap(NULL, desc->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (*memory)->size = desc->bytes;
    (*memory)->writes = -1;
    return ANEURALNETWORKS_NO_ERROR;
}
int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst) {
    if (src->size != dst->size || src->writes < 0) return ANEURALNETWORKS_BAD_DATA;
    memcpy(dst->data, src->data, src->size);
    ((ANeuralNetworksMemory *)(uintptr_t)dst)->writes = 0;
    return ANEURALNETWORKS_NO_ERROR;
}

/* -------------------------------------------------------- as a Support Library */

/** What the device tells of itself: worse than the CPU by its type's number. */
static int performance(const ANeuralNetworksDevice *device, int32_t kind, SL_ANeuralNetworksPerformanceInfo *info) {
    (void)device;
    *info = (SL_ANeuralNetworksPerformanceInfo){2, 10 + (float)kind};
    return lies("performance-fails") ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR;
}
static int each_performance(const ANeuralNetworksDevice *device, void *context,
                            void (*callback)(SL_ANeuralNetworksOperandPerformanceInfo, void *)) {
    static const int32_t types[] = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, ANEURALNETWORKS_TENSOR_FLOAT32,
                                    ANEURALNETWORKS_TENSOR_FLOAT32};
    (void)device;
    for (int i = 0; i < (lies("performance-twice") ? 3 : 2); i++)
        callback((SL_ANeuralNetworksOperandPerformanceInfo){types[i], {(float)types[i], 1}}, context);
    return ANEURALNETWORKS_NO_ERROR;
}
static int extension_count(const ANeuralNetworksDevice *device, uint32_t *count) {
    *count = lies("extensions-billions") ? 4000000000u : device == devices;
    return ANEURALNETWORKS_NO_ERROR;
}
static int extension_name(const ANeuralNetworksDevice *device, uint32_t index, const char **name) {
    (void)device;
    if (index) return ANEURALNETWORKS_BAD_DATA;
    *name = "toy.extension";
    return ANEURALNETWORKS_NO_ERROR;
}
static int each_extension_type(const ANeuralNetworksDevice *device, uint32_t index, void *context,
                               void (*callback)(SL_ANeuralNetworksExtensionOperandTypeInformation, void *)) {
    (void)device;
    (void)index;
    callback((SL_ANeuralNetworksExtensionOperandTypeInformation){8, 3, true}, context);
    callback((SL_ANeuralNetworksExtensionOperandTypeInformation){2, 1, false}, context);
    return ANEURALNETWORKS_NO_ERROR;
}

NnApiSLDriverImpl *ANeuralNetworks_getSLDriverImpl(void) {
    static NnApiSLDriverImplFL5 table = {
        .ANeuralNetworksMemory_createFromFd = ANeuralNetworksMemory_createFromFd,
        .ANeuralNetworksMemory_free = ANeuralNetworksMemory_free,
        .ANeuralNetworksModel_create = ANeuralNetworksModel_create,
        .ANeuralNetworksModel_free = ANeuralNetworksModel_free,
        .ANeuralNetworksModel_addOperand = ANeuralNetworksModel_addOperand,
        .ANeuralNetworksModel_setOperandValue = ANeuralNetworksModel_setOperandValue,
        .ANeuralNetworksModel_setOperandValueFromMemory = ANeuralNetworksModel_setOperandValueFromMemory,
        .ANeuralNetworksModel_addOperation = ANeuralNetworksModel_addOperation,
        .ANeuralNetworksModel_identifyInputsAndOutputs = ANeuralNetworksModel_identifyInputsAndOutputs,
        .ANeuralNetworksModel_finish = ANeuralNetworksModel_finish,
        .ANeuralNetworksCompilation_free = ANeuralNetworksCompilation_free,
        .ANeuralNetworksCompilation_setPreference = ANeuralNetworksCompilation_setPreference,
        .ANeuralNetworksCompilation_finish = ANeuralNetworksCompilation_finish,
        .ANeuralNetworksExecution_create = ANeuralNetworksExecution_create,
        .ANeuralNetworksExecution_free = ANeuralNetworksExecution_free,
        .ANeuralNetworksExecution_setInput = ANeuralNetworksExecution_setInput,
        .ANeuralNetworksExecution_setInputFromMemory = ANeuralNetworksExecution_setInputFromMemory,
        .ANeuralNetworksExecution_setOutput = ANeuralNetworksExecution_setOutput,
        .ANeuralNetworksExecution_setOutputFromMemory = ANeuralNetworksExecution_setOutputFromMemory,
        .ANeuralNetworksEvent_wait = ANeuralNetworksEvent_wait,
        .ANeuralNetworksEvent_free = ANeuralNetworksEvent_free,
        .ANeuralNetworks_getRuntimeFeatureLevel = ANeuralNetworks_getRuntimeFeatureLevel,
        .ANeuralNetworks_getDeviceCount = ANeuralNetworks_getDeviceCount,
        .ANeuralNetworks_getDevice = ANeuralNetworks_getDevice,
        .ANeuralNetworksDevice_getName = ANeuralNetworksDevice_getName,
        .ANeuralNetworksDevice_getType = ANeuralNetworksDevice_getType,
        .ANeuralNetworksDevice_getVersion = ANeuralNetworksDevice_getVersion,
        .ANeuralNetworksDevice_getFeatureLevel = ANeuralNetworksDevice_getFeatureLevel,
        .ANeuralNetworksModel_getSupportedOperationsForDevices = ANeuralNetworksModel_getSupportedOperationsForDevices,
        .ANeuralNetworksCompilation_createForDevices = ANeuralNetworksCompilation_createForDevices,
        .ANeuralNetworksExecution_compute = ANeuralNetworksExecution_compute,
        .ANeuralNetworksExecution_setMeasureTiming = ANeuralNetworksExecution_setMeasureTiming,
        .ANeuralNetworksExecution_getDuration = ANeuralNetworksExecution_getDuration,
        .ANeuralNetworksExecution_getOutputOperandRank = ANeuralNetworksExecution_getOutputOperandRank,
        .ANeuralNetworksExecution_getOutputOperandDimensions = ANeuralNetworksExecution_getOutputOperandDimensions,
        .ANeuralNetworksBurst_create = ANeuralNetworksBurst_create,
        .ANeuralNetworksBurst_free = ANeuralNetworksBurst_free,
        .ANeuralNetworksExecution_burstCompute = ANeuralNetworksExecution_burstCompute,
        .ANeuralNetworksExecution_setReusable = ANeuralNetworksExecution_setReusable,
        .ANeuralNetworksEvent_createFromSyncFenceFd = ANeuralNetworksEvent_createFromSyncFenceFd,
        .ANeuralNetworksEvent_getSyncFenceFd = ANeuralNetworksEvent_getSyncFenceFd,
        .ANeuralNetworksExecution_startComputeWithDependencies = ANeuralNetworksExecution_startComputeWithDependencies,
        .ANeuralNetworksMemoryDesc_create = ANeuralNetworksMemoryDesc_create,
        .ANeuralNetworksMemoryDesc_free = ANeuralNetworksMemoryDesc_free,
        .ANeuralNetworksMemoryDesc_addInputRole = ANeuralNetworksMemoryDesc_addInputRole,
        .ANeuralNetworksMemoryDesc_addOutputRole = ANeuralNetworksMemoryDesc_addOutputRole,
        .ANeuralNetworksMemoryDesc_setDimensions = ANeuralNetworksMemoryDesc_setDimensions,
        .ANeuralNetworksMemoryDesc_finish = ANeuralNetworksMemoryDesc_finish,
        .ANeuralNetworksMemory_createFromDesc = ANeuralNetworksMemory_createFromDesc,
        .ANeuralNetworksMemory_copy = ANeuralNetworksMemory_copy,
        .SL_ANeuralNetworksDevice_getPerformanceInfo = performance,
        .SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo = each_performance,
        .SL_ANeuralNetworksDevice_getVendorExtensionCount = extension_count,
        .SL_ANeuralNetworksDevice_getVendorExtensionName = extension_name,
        .SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation = each_extension_type,
    };
    table.base.implFeatureLevel =
        lies("table-level") ? ANEURALNETWORKS_FEATURE_LEVEL_4 : ANEURALNETWORKS_FEATURE_LEVEL_5;
    table.ANeuralNetworksModel_addOperand = lies("table-holes") ? NULL : ANeuralNetworksModel_addOperand;
    return lies("table-nothing") ? NULL : &table.base;
}

#endif
