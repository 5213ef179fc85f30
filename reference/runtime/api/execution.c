/* SPDX-License-Identifier: Apache-2.0 */
/** @file execution.c Executions: made, set, asked, freed. */
#include "reference/runtime/api/execution.h"

#include <stdlib.h>
#include <string.h>

#include "reference/runtime/log.h"

/** An attribute of an extension. Only that it was given matters: the driver ABI has no place for its value. */
struct nnv_rt_execution_attribute {
    struct nnv_rt_execution_attribute *next;
    uint32_t code; /**< prefix and code within the extension */
};

/* ---------------------------------------------------------------------- life */

/** One block for all that an execution needs before it runs. */
static ANeuralNetworksExecution *execution_new(uint32_t ins, uint32_t outs) {
    const size_t n = (size_t)ins + outs;
    const size_t bytes = n * (sizeof(struct nnv_rt_value) + sizeof(struct nnv_rt_value *) + sizeof(bool));
    ANeuralNetworksExecution *e = calloc(1, sizeof *e + bytes);
    if (!e) return NULL;
    e->inputs = (struct nnv_rt_value *)(void *)(e + 1);
    e->outputs = e->inputs + ins;
    e->input_list = (struct nnv_rt_value **)(void *)(e->inputs + n);
    e->output_list = e->input_list + ins;
    e->is_set = (bool *)(void *)(e->input_list + n);
    for (size_t i = 0; i < n; i++) e->input_list[i] = &e->inputs[i];
    e->input_count = ins;
    e->output_count = outs;
    return e;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution) {
    if (!compilation || !execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    *execution = NULL;
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(compilation);
    if (!plan)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION,
                            "the compilation is not finished, or finishing it failed");
    const struct nnvts_subgraph *main = &compilation->model->model.main;
    ANeuralNetworksExecution *e = execution_new(main->input_count, main->output_count);
    if (!e) return ANEURALNETWORKS_OUT_OF_MEMORY;
    e->compilation = compilation;
    e->plan = plan;
    e->loop_timeout_ns = NNVTS_NO_TIME;
    e->launched = e->fenced = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    pthread_mutex_init(&e->lock, NULL);
    *execution = e;
    return ANEURALNETWORKS_NO_ERROR;
}

static enum nnv_rt_execution_state state_of(const ANeuralNetworksExecution *e) {
    pthread_mutex_t *lock = (pthread_mutex_t *)&e->lock;
    pthread_mutex_lock(lock);
    const enum nnv_rt_execution_state state = e->state;
    pthread_mutex_unlock(lock);
    return state;
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution) {
    ANeuralNetworksExecution *e = execution;
    if (!e) return;
    if (state_of(e) == NNV_RT_COMPUTATION) {
        nnv_rt_error(0, NNV_RT_FUNCTION, "it is running and stays; wait for its event first");
        return;
    }
    if (e->driver_execution) e->driver_execution->release(e->driver_execution);
    nnv_rt_activation_free(e->activation);
    while (e->attributes) {
        struct nnv_rt_execution_attribute *next = e->attributes->next;
        free(e->attributes);
        e->attributes = next;
    }
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* -------------------------------------------------------------------- states */

int nnv_rt_execution_begin(ANeuralNetworksExecution *e, const char *function) {
    int result = ANEURALNETWORKS_NO_ERROR;
    const char *why = NULL;
    pthread_mutex_lock(&e->lock);
    if (e->state == NNV_RT_COMPUTATION) {
        result = ANEURALNETWORKS_BAD_STATE;
        why = "it is running; wait for its event first";
    } else if (e->incomplete) {
        result = e->result;
        why = "it was started before without all of its arguments; make another";
    } else if (e->state == NNV_RT_COMPLETED && !e->reusable) {
        result = ANEURALNETWORKS_BAD_STATE;
        why = "it has run and is not reusable; make another, or call setReusable before the first run";
    }
    for (uint32_t i = 0; !why && i < e->input_count + e->output_count; i++) {
        if (e->is_set[i]) continue;
        e->incomplete = true;
        e->state = NNV_RT_COMPLETED;
        result = e->result = ANEURALNETWORKS_BAD_DATA;
        why = "not all inputs and outputs were set";
    }
    if (!why) e->state = NNV_RT_COMPUTATION;
    pthread_mutex_unlock(&e->lock);
    return why ? nnv_rt_error(result, function, "%s", why) : result;
}

int nnv_rt_execution_end(ANeuralNetworksExecution *e, int result) {
    pthread_mutex_lock(&e->lock);
    e->result = result;
    e->state = NNV_RT_COMPLETED;
    pthread_mutex_unlock(&e->lock);
    return result;
}

/* ------------------------------------------------------------------- settings */

static int check_unstarted(const ANeuralNetworksExecution *e, const char *function) {
    if (state_of(e) == NNV_RT_PREPARATION) return ANEURALNETWORKS_NO_ERROR;
    return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "it has been started; set this before");
}

/** What only compilations for one named device allow. */
static int check_one_device(const ANeuralNetworksExecution *e, const char *function) {
    if (nnv_rt_compilation_has_one_device(e->compilation)) return ANEURALNETWORKS_NO_ERROR;
    return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function,
                        "the compilation is not for one device; make it with Compilation_createForDevices");
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure) {
    if (!execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_one_device(execution, NNV_RT_FUNCTION);
    if (!result) result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (!result) execution->measure = measure;
    return result;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration) {
    if (!execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_one_device(execution, NNV_RT_FUNCTION);
    if (!result) result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (!result) execution->timeout_ns = duration;
    return result;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration) {
    if (!execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (result) return result;
    if (duration > NNVTS_LOOP_TIMEOUT_MAX_NS) {
        nnv_rt_error(0, NNV_RT_FUNCTION, "%llu ns are more than the maximum, which is taken instead",
                     (unsigned long long)duration);
        duration = NNVTS_LOOP_TIMEOUT_MAX_NS;
    }
    execution->loop_timeout_ns = duration;
    return result;
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable) {
    if (!execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (!result) execution->reusable = reusable;
    return result;
}

int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable) {
    if (!execution) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (result) return result;
    if (execution->has_arguments)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "call it before the first input or output");
    execution->padding = enable;
    return result;
}

int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution, const char *extensionName,
                                                   uint16_t attributeCodeWithinExtension, const void *data,
                                                   size_t length) {
    if (!execution || !extensionName || (!data && length)) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    int result = check_one_device(execution, NNV_RT_FUNCTION);
    if (!result) result = check_unstarted(execution, NNV_RT_FUNCTION);
    if (result) return result;
    const uint16_t prefix = nnv_rt_extension_prefix(extensionName);
    if (!prefix || !nnv_rt_device_extension(execution->compilation->devices[0], extensionName))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "the device has no extension %s", extensionName);
    const uint32_t code = (uint32_t)prefix << 16 | attributeCodeWithinExtension;
    for (const struct nnv_rt_execution_attribute *a = execution->attributes; a; a = a->next)
        if (a->code == code)
            return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "attribute %u of %s was added before",
                                attributeCodeWithinExtension, extensionName);
    struct nnv_rt_execution_attribute *a = malloc(sizeof *a);
    if (!a) return ANEURALNETWORKS_OUT_OF_MEMORY;
    *a = (struct nnv_rt_execution_attribute){execution->attributes, code};
    execution->attributes = a;
    return ANEURALNETWORKS_NO_ERROR;
}

/* -------------------------------------------------------------------- answers */

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration) {
    if (!execution || !duration) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    *duration = UINT64_MAX;
    const ANeuralNetworksExecution *e = execution;
    if (durationCode < ANEURALNETWORKS_DURATION_ON_HARDWARE || durationCode > ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "there is no duration %d", durationCode);
    if (state_of(e) != NNV_RT_COMPLETED)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "it has not completed");
    if (!e->measure)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "nothing was measured; call setMeasureTiming");
    if (e->result != ANEURALNETWORKS_NO_ERROR)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "it failed with result %d", e->result);
    const bool fenced = durationCode >= ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE;
    const struct nnvts_timing *t = fenced ? &e->fenced : &e->launched;
    const bool in_driver =
        durationCode == ANEURALNETWORKS_DURATION_IN_DRIVER || durationCode == ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER;
    *duration = in_driver ? t->in_driver_ns : t->on_device_ns;
    return ANEURALNETWORKS_NO_ERROR;
}

/** The output, if there may be one to tell of; else NULL and *result. */
static const struct nnv_rt_value *output_of(const ANeuralNetworksExecution *e, int32_t index, const char *function,
                                            int *result) {
    if (state_of(e) != NNV_RT_COMPLETED) {
        *result = nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "it has not completed");
        return NULL;
    }
    if (e->result != ANEURALNETWORKS_NO_ERROR && e->result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) {
        *result = nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "it failed with result %d", e->result);
        return NULL;
    }
    if (index >= 0 && (uint32_t)index < e->output_count) return &e->outputs[index];
    *result = nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "there is no output %d", index);
    return NULL;
}

static int sufficiency(const struct nnv_rt_value *v) {
    return v->sufficient ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution, int32_t index, uint32_t *rank) {
    int result = ANEURALNETWORKS_NO_ERROR;
    if (!execution || !rank) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct nnv_rt_value *v = output_of(execution, index, NNV_RT_FUNCTION, &result);
    if (!v) return result;
    *rank = v->rank;
    return sufficiency(v);
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t index,
                                                        uint32_t *dimensions) {
    int result = ANEURALNETWORKS_NO_ERROR;
    if (!execution || !dimensions) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const struct nnv_rt_value *v = output_of(execution, index, NNV_RT_FUNCTION, &result);
    if (!v) return result;
    if (v->rank == 0)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "output %d is a scalar, or of unknown rank",
                            index);
    memcpy(dimensions, v->dims, v->rank * sizeof *dimensions);
    return sufficiency(v);
}
