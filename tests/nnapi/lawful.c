/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lawful.c libneuralnetworks-lawful.so: the runtime, but wherever the header leaves something open it does
 * otherwise. Nobody may blame it.
 *
 * - A value, and the parameters of one, are set once.
 * - A value of more than 128 bytes is read when the model is compiled, and not before.
 * - A call that is refused leaves the model as it happens to be: no other call on it goes well.
 * - An input that an operation writes is refused as soon as both are known.
 * - An output that no operation writes, where there are some, is refused when it is identified.
 * - The types that are only a maker's are unknown.
 * - An omitted argument that an operation needs is refused when it is set.
 * - An argument may be set again, until the execution begins.
 * - An event that nobody has waited for does not wait when it is freed, and its execution must not be freed then.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "NeuralNetworksOEM.h"
#include "before.h"

enum { OPERANDS = 64, LONG_VALUE = 128 };

/** What is known of an object of the library behind. Objects are few: they stand in a list. */
struct known {
    struct known *next;
    const void *object;
    const void *owner; /**< the model of a compilation, the compilation of an execution, the execution of an event */
    uint64_t set;      /**< a model's operands that have a value, an execution's arguments */
    uint64_t written, inputs, outputs; /**< a model's operands that an operation writes; its inputs; its outputs */
    bool refused, finished, others;    /**< a model: a call was refused; it has an operation that is no ADD */
    bool started, unwaited;            /**< an execution; an event that an execution answers */
    struct value *values;
};

/** A long value, which its model reads late. */
struct value {
    struct value *next;
    const void *buffer;
    void *copy;
    size_t length;
    ANeuralNetworksMemory *memory;
};

static struct known *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct known *know(const void *object) {
    pthread_mutex_lock(&lock);
    struct known *k = all;
    while (k && k->object != object) k = k->next;
    if (!k && (k = calloc(1, sizeof *k))) *k = (struct known){.next = all, .object = object}, all = k;
    pthread_mutex_unlock(&lock);
    if (!k) abort();
    return k;
}

static void forget(const void *object) {
    pthread_mutex_lock(&lock);
    struct known **at = &all, *k;
    while (*at && (*at)->object != object) at = &(*at)->next;
    if ((k = *at)) *at = k->next;
    pthread_mutex_unlock(&lock);
    for (struct value *v; k && (v = k->values); free(v)) {
        k->values = v->next;
        real.Memory_free(v->memory);
        munmap(v->copy, v->length);
    }
    free(k);
}

/** An object that was made, and of what. */
static int made(int result, const void *object, const void *owner) {
    if (result == ANEURALNETWORKS_NO_ERROR) know(object)->owner = owner;
    return result;
}

static uint64_t bit(uint32_t operand) { return operand < OPERANDS ? (uint64_t)1 << operand : 0; }

static uint64_t bits(uint32_t count, const uint32_t *operands) {
    uint64_t all_of = 0;
    for (uint32_t i = 0; operands && i < count; i++) all_of |= bit(operands[i]);
    return all_of;
}

/* ----------------------------------------------------------------------- models */

void ANeuralNetworksModel_free(ANeuralNetworksModel *model) {
    real.Model_free(model);
    forget(model);
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type) {
    if (type && type->type == ANEURALNETWORKS_OEM_SCALAR) return ANEURALNETWORKS_BAD_DATA;
    return real.Model_addOperand(model, type);
}

static struct value *late_value(const void *buffer, size_t length) {
    struct value *v = calloc(1, sizeof *v);
    const int fd = memfd_create("late", MFD_CLOEXEC);
    if (!v || fd < 0 || ftruncate(fd, (off_t)length)) abort();
    v->copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (v->copy == MAP_FAILED || real.Memory_createFromFd(length, PROT_READ, fd, 0, &v->memory)) abort();
    close(fd);
    v->buffer = buffer, v->length = length;
    return v;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                         size_t length) {
    struct known *m = know(model);
    if (!m->finished && m->set & bit((uint32_t)index)) return ANEURALNETWORKS_BAD_DATA;
    int result = ANEURALNETWORKS_NO_ERROR;
    if (model && buffer && length > LONG_VALUE) {
        struct value *v = late_value(buffer, length);
        result = real.Model_setOperandValueFromMemory(model, index, v->memory, 0, length);
        v->next = m->values;
        m->values = v;
    } else {
        result = real.Model_setOperandValue(model, index, buffer, length);
    }
    if (result == ANEURALNETWORKS_NO_ERROR) m->set |= bit((uint32_t)index);
    return result;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs) {
    struct known *m = know(model);
    if (m->refused) return ANEURALNETWORKS_BAD_STATE;
    int result = real.Model_addOperation(model, type, inputCount, inputs, outputCount, outputs);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        m->others |= type != ANEURALNETWORKS_ADD;
        m->written |= bits(outputCount, outputs);
        if (m->written & m->inputs) result = ANEURALNETWORKS_BAD_DATA;
    }
    m->refused = result == ANEURALNETWORKS_BAD_DATA;
    return result;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount,
                                                  const uint32_t *outputs) {
    struct known *m = know(model);
    if (m->refused) return ANEURALNETWORKS_BAD_STATE;
    int result = real.Model_identifyInputsAndOutputs(model, inputCount, inputs, outputCount, outputs);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        m->inputs = bits(inputCount, inputs);
        m->outputs = bits(outputCount, outputs);
        if (m->written & m->inputs || (m->written && m->outputs & ~m->written)) result = ANEURALNETWORKS_BAD_DATA;
    }
    m->refused = result == ANEURALNETWORKS_BAD_DATA;
    return result;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model) {
    struct known *m = know(model);
    if (m->refused) return ANEURALNETWORKS_BAD_STATE;
    m->finished = true;
    return real.Model_finish(model);
}

/* ----------------------------------------------------------------- compilations */

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation) {
    const int result = real.Compilation_create(model, compilation);
    return made(result, result ? NULL : *compilation, model);
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation) {
    const int result = real.Compilation_createForDevices(model, devices, numDevices, compilation);
    return made(result, result ? NULL : *compilation, model);
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation) {
    if (!compilation) return real.Compilation_finish(compilation);
    for (struct value *v = know(know(compilation)->owner)->values; v; v = v->next)
        memcpy(v->copy, v->buffer, v->length);
    return real.Compilation_finish(compilation);
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation) {
    real.Compilation_free(compilation);
    forget(compilation);
}

/* ------------------------------------------------------------------- executions */

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution) {
    const int result = real.Execution_create(compilation, execution);
    return made(result, result ? NULL : *execution, compilation);
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution) {
    if (execution && know(execution)->unwaited) abort();
    real.Execution_free(execution);
    forget(execution);
}

/** What was set once is taken as set, as long as nothing has begun. */
static int again(const ANeuralNetworksExecution *execution, int result) {
    return result == ANEURALNETWORKS_BAD_STATE && !know(execution)->started ? ANEURALNETWORKS_NO_ERROR : result;
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length) {
    if (execution && !buffer && !length && !know(know(know(execution)->owner)->owner)->others)
        return ANEURALNETWORKS_BAD_DATA;
    return again(execution, real.Execution_setInput(execution, index, type, buffer, length));
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    return again(execution, real.Execution_setInputFromMemory(execution, index, type, memory, offset, length));
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length) {
    return again(execution, real.Execution_setOutput(execution, index, type, buffer, length));
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length) {
    return again(execution, real.Execution_setOutputFromMemory(execution, index, type, memory, offset, length));
}

static void waited_for(const ANeuralNetworksEvent *event) {
    if (event && know(event)->owner) know(know(event)->owner)->unwaited = false;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution) {
    know(execution)->started = true;
    return real.Execution_compute(execution);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) {
    know(execution)->started = true;
    return real.Execution_burstCompute(execution, burst);
}

int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t num_dependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event) {
    know(execution)->started = true;
    for (uint32_t i = 0; dependencies && i < num_dependencies; i++) waited_for(dependencies[i]); /* by this one */
    return real.Execution_startComputeWithDependencies(execution, dependencies, num_dependencies, duration, event);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event) {
    know(execution)->started = true;
    const int result = real.Execution_startCompute(execution, event);
    if (result == ANEURALNETWORKS_NO_ERROR) know(execution)->unwaited = true;
    return made(result, result ? NULL : *event, execution);
}

/* ----------------------------------------------------------------------- events */

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event) {
    waited_for(event);
    return real.Event_wait(event);
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event) {
    real.Event_free(event);
    forget(event);
}
