/* SPDX-License-Identifier: Apache-2.0 */
/** @file compute.c The ways to run an execution: here and now, on another thread, in a burst, behind fences. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "reference/runtime/api/burst.h"
#include "reference/runtime/api/event.h"
#include "reference/runtime/api/execution.h"
#include "reference/runtime/log.h"

/** Which is that long from now at the most, and not later than deadline_ns. 0: no limit. */
static uint64_t deadline_in(uint64_t duration_ns, uint64_t deadline_ns) {
    const uint64_t now = nnv_now_ns();
    if (duration_ns == 0 || duration_ns >= NNVTS_NO_TIME - now) return deadline_ns;
    return now + duration_ns < deadline_ns ? now + duration_ns : deadline_ns;
}

/* ------------------------------------------------------------------ here and now */

/** Its own activation; NULL when out of memory. */
static struct nnv_rt_activation *activation_of(ANeuralNetworksExecution *e) {
    if (!e->activation) e->activation = nnv_rt_activation_new(e->plan, 0);
    return e->activation;
}

static int run_once(ANeuralNetworksExecution *e, struct nnv_rt_run *run, struct nnv_rt_activation *a) {
    if (!a) return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < e->output_count; i++) nnv_rt_value_reset(&e->outputs[i]);
    return nnv_rt_run_graph(run, a, e->input_list, e->output_list);
}

/** The whole model once more, on the CPU. */
static int run_on_cpu(ANeuralNetworksExecution *e, struct nnv_rt_run *run) {
    int result = nnv_rt_compilation_cpu_plan(e->compilation, &run->plan);
    if (result) return result;
    run->burst = NULL;
    run->reusable = NULL;
    struct nnv_rt_activation *a = nnv_rt_activation_new(run->plan, 0);
    result = run_once(e, run, a);
    nnv_rt_activation_free(a);
    return result;
}

/** The output as the runtime would have it: with room for whatever comes. */
static void open_output(const struct nnv_rt_value *v, struct nnv_rt_value *open) {
    *open = *v;
    open->pool = (struct nnvts_memory){0};
    open->memory = NULL;
    open->offset = open->room = open->padding = 0;
    open->grows = true;
    nnv_rt_value_reset(open);
}

/**
 * An output was too small, and steps that write others have not run: they run into room of the runtime's own, so that
 * the application is told all sizes at once. Where that fails, it is told of those that are known.
 */
static void measure_outputs(ANeuralNetworksExecution *e, struct nnv_rt_run *run, struct nnv_rt_activation *a) {
    struct nnv_rt_value *open = calloc(e->output_count, sizeof *open), **list = calloc(e->output_count, sizeof *list);
    for (uint32_t i = 0; open && list && i < e->output_count; i++) {
        list[i] = &open[i];
        if (e->outputs[i].omitted)
            open[i] = e->outputs[i];
        else
            open_output(&e->outputs[i], list[i]);
    }
    const bool told = open && list && nnv_rt_run_graph(run, a, e->input_list, list) == ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; open && list && i < e->output_count; i++) {
        struct nnv_rt_value *v = &e->outputs[i];
        if (told && !v->omitted) {
            v->rank = open[i].rank;
            memcpy(v->dims, open[i].dims, sizeof v->dims);
            v->length = open[i].length;
            v->sufficient = nnv_rt_value_in_device(v) || v->length <= v->room;
        }
        if (!v->omitted) nnv_rt_value_release(&open[i]);
    }
    free(open);
    free(list);
}

static bool may_fall_back(const ANeuralNetworksExecution *e) {
    const ANeuralNetworksModel *m = e->compilation->model;
    return e->compilation->fallback && !e->plan->on_cpu && !m->has_extension && !m->has_oem;
}

static int run_all(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst, uint64_t deadline_ns) {
    const bool fallback = may_fall_back(e);
    struct nnv_rt_run run = {
        .compilation = e->compilation,
        .plan = e->plan,
        .config = {deadline_ns, e->loop_timeout_ns, e->measure},
        .fallback = fallback,
        .burst = burst,
        .reusable = e->reusable && e->plan->simple ? &e->driver_execution : NULL,
        .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME},
    };
    int result = nnv_rt_memory_check_inputs(e);
    nnv_rt_memory_begin_outputs(e); /* an execution that fails leaves no value, wherever it fails */
    if (result) return result;
    struct nnv_rt_activation *a = burst ? nnv_rt_burst_activation(burst) : activation_of(e);
    result = run_once(e, &run, a);
    if (result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && !e->plan->simple) measure_outputs(e, &run, a);
    if (result && result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE && fallback && !run.final) {
        nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "failed with result %d: the CPU does the whole model", result);
        result = run_on_cpu(e, &run);
    }
    if (!result) nnv_rt_memory_end_outputs(e);
    e->launched = e->fenced = run.timing;
    return result;
}

/**
 * Runs it here and now, between begin and end, by the deadline (NNVTS_NO_TIME: none); falls back to the CPU where that
 * is allowed. burst may be NULL; it is entered.
 */
static int run(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst, uint64_t deadline_ns) {
    const int result = run_all(e, burst, deadline_ns);
    nnv_rt_diag_executed(e->compilation, e->mode, result, e->diag_since, &e->launched);
    return result;
}

/** It is being started in this way. */
static void note_mode(ANeuralNetworksExecution *e, ANeuralNetworksDiagnosticExecutionMode mode) {
    e->mode = mode;
    e->diag_since = nnv_rt_diag_begin();
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution) {
    if (!execution) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, NNV_RT_FUNCTION, "execution is NULL");
    const uint64_t since = nnv_rt_trace_begin();
    int result = nnv_rt_execution_begin(execution, NNV_RT_FUNCTION);
    if (result) return result;
    note_mode(execution, ANNDIAG_EXECUTION_MODE_SYNC);
    const uint64_t deadline = deadline_in(execution->timeout_ns, NNVTS_NO_TIME);
    result = nnv_rt_execution_end(execution, run(execution, NULL, deadline));
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "execution", NNV_RT_FUNCTION);
    return result;
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) {
    if (!execution || !burst) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const uint64_t since = nnv_rt_trace_begin();
    if (nnv_rt_burst_compilation(burst) != execution->compilation)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "the burst is of another compilation");
    int result = nnv_rt_burst_enter(burst);
    if (result)
        return nnv_rt_error(result, NNV_RT_FUNCTION, "the burst is in use; one execution at a time, or more bursts");
    result = nnv_rt_execution_begin(execution, NNV_RT_FUNCTION);
    if (!result) {
        note_mode(execution, ANNDIAG_EXECUTION_MODE_BURST);
        const uint64_t deadline = deadline_in(execution->timeout_ns, NNVTS_NO_TIME);
        result = nnv_rt_execution_end(execution, run(execution, burst, deadline));
    }
    nnv_rt_burst_leave(burst);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "execution", NNV_RT_FUNCTION);
    return result;
}

/* -------------------------------------------------------------- on another thread */

static void run_task(struct nnv_rt_task *task) {
    struct ANeuralNetworksEvent *event =
        (struct ANeuralNetworksEvent *)(void *)((char *)task - offsetof(struct ANeuralNetworksEvent, task));
    ANeuralNetworksExecution *e = event->execution;
    const bool waits = event->dependency_count > 0;
    int result = nnv_rt_event_wait_dependencies(event, event->deadline_ns);
    const uint64_t since = nnv_rt_trace_begin(), waited_ns = nnv_now_ns() - event->launched_ns;
    if (!result) result = run(e, NULL, deadline_in(event->duration_ns, event->deadline_ns));
    if (!result && waits && e->launched.in_driver_ns != NNVTS_NO_TIME) e->launched.in_driver_ns += waited_ns;
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "execution", "on another thread");
    nnv_rt_event_end(event, result);
    nnv_rt_event_drop(event);
}

/**
 * Hands the event's execution to a thread, which holds the event, too. It never runs on this thread: startCompute would
 * not return before the work is done, and the caller may have to signal a fence that the work waits for.
 */
static int start_task(struct ANeuralNetworksEvent *event) {
    atomic_fetch_add(&event->holders, 1);
    event->launched_ns = nnv_now_ns();
    event->task.run = run_task;
    if (nnv_rt_worker_start(&event->task)) return ANEURALNETWORKS_NO_ERROR;
    nnv_rt_event_drop(event);
    return nnv_rt_error(ANEURALNETWORKS_OUT_OF_MEMORY, "Execution", "no thread can be started");
}

/** The end of both startCompute functions: the application gets the event of what has been started, or result. */
static int finish_start(struct ANeuralNetworksEvent *made, int result, ANeuralNetworksEvent **event) {
    ANeuralNetworksExecution *e = made->execution;
    if (!result) {
        *event = made;
        return result;
    }
    nnv_rt_event_drop(made);
    return nnv_rt_execution_end(e, result);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution, ANeuralNetworksEvent **event) {
    if (event) *event = NULL;
    if (!execution || !event) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const uint64_t since = nnv_rt_trace_begin();
    int result = nnv_rt_execution_begin(execution, NNV_RT_FUNCTION);
    if (result) return result;
    struct ANeuralNetworksEvent *made = nnv_rt_event_new(execution, NULL, 0);
    if (!made) return nnv_rt_execution_end(execution, ANEURALNETWORKS_OUT_OF_MEMORY);
    execution->trace_since = since;
    note_mode(execution, ANNDIAG_EXECUTION_MODE_ASYNC);
    made->deadline_ns = deadline_in(execution->timeout_ns, NNVTS_NO_TIME);
    result = finish_start(made, start_task(made), event);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "execution", NNV_RT_FUNCTION);
    return result;
}

/* ------------------------------------------------------------------ behind fences */

/** A driver that can wait for fences itself does the whole model. */
static bool driver_has_fences(const ANeuralNetworksExecution *e) {
    if (!e->plan->simple) return false;
    const struct nnv_rt_step *s = &e->plan->graphs[0].steps[0];
    return !s->device->is_cpu && nnv_rt_device_has_level(s->device, 4) && NNV_RT_HAS(s->prepared, execute_fenced) &&
           !nnv_rt_memory_in_use(e);
}

/**
 * The fences that a driver is to wait for, in fds: those of the application and of drivers. False if one of the
 * dependencies is work of the runtime's own that is not over or has failed: the driver could not know how it ends.
 */
static bool collect_fences(struct ANeuralNetworksEvent *event, int *fds, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < event->dependency_count; i++) {
        struct ANeuralNetworksEvent *d = event->dependencies[i];
        if (!d->imported && !d->in_driver) {
            if (nnv_rt_event_result(d, 0) != ANEURALNETWORKS_NO_ERROR) return false;
        } else if (d->fence >= 0) {
            fds[(*count)++] = d->fence;
        }
    }
    return true;
}

static int launch(struct ANeuralNetworksEvent *event, const int *fds, uint32_t count) {
    ANeuralNetworksExecution *e = event->execution;
    const struct nnv_rt_step *s = &e->plan->graphs[0].steps[0];
    const struct nnvts_execution_config config = {event->deadline_ns, e->loop_timeout_ns, e->measure};
    struct nnv_rt_activation *a = activation_of(e);
    if (!a) return ANEURALNETWORKS_OUT_OF_MEMORY;
    nnv_rt_activation_attach(a, e->input_list, e->output_list);
    int result = nnv_rt_bind_step(a, s, s->device);
    if (result) return result;
    const uint64_t since = nnv_rt_trace_begin(), duration = event->duration_ns ? event->duration_ns : NNVTS_NO_TIME;
    struct nnvts_fenced_execution fenced = {.sync_fence = -1};
    const enum nnvts_status status =
        s->prepared->execute_fenced(s->prepared, &a->frame.request, fds, count, &config, duration, &fenced);
    nnv_rt_trace_end(since, NNV_RT_TRACE_DRIVER, "execution", s->device->name);
    result = nnv_rt_result(nnv_rt_device_note(s->device, status));
    if (!result && (!fenced.get_result || !fenced.release)) result = ANEURALNETWORKS_OP_FAILED;
    nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "fenced on %s: status %d", s->device->name, (int)status);
    if (result) return result;
    event->fenced = fenced;
    event->fence = fenced.sync_fence < 0 ? -1 : fenced.sync_fence;
    event->in_driver = true;
    return result;
}

/** *launched: the driver was asked. */
static int launch_on_driver(struct ANeuralNetworksEvent *event, bool *launched) {
    uint32_t count;
    int *fds = calloc((size_t)event->dependency_count + 1, sizeof *fds);
    *launched = fds && collect_fences(event, fds, &count);
    const int result = *launched ? launch(event, fds, count) : ANEURALNETWORKS_NO_ERROR;
    free(fds);
    return result;
}

/** The first output whose extents are unknown, or output_count: also while it runs, which begin will refuse. */
static uint32_t first_open(ANeuralNetworksExecution *e) {
    uint32_t i = 0;
    pthread_mutex_lock(&e->lock);
    if (e->state == NNV_RT_COMPUTATION) i = e->output_count;
    for (; i < e->output_count; i++) {
        struct nnv_rt_value v = e->outputs[i];
        if (e->is_set[e->input_count + i] && !v.omitted && !nnv_rt_value_as_declared(&v)) break;
    }
    pthread_mutex_unlock(&e->lock);
    return i;
}

static int check_fenced(ANeuralNetworksExecution *e, uint64_t duration, const char *function) {
    if (duration && !nnv_rt_compilation_has_one_device(e->compilation))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function,
                            "a duration needs a compilation for one device; make it with createForDevices");
    const uint32_t open = first_open(e);
    if (open == e->output_count) return ANEURALNETWORKS_NO_ERROR;
    return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function,
                        "extents of output %u are unknown; give a type that tells them", open);
}

static int start_fenced(struct ANeuralNetworksEvent *event) {
    bool launched = false;
    if (driver_has_fences(event->execution)) {
        const int result = launch_on_driver(event, &launched);
        if (launched && (!result || !may_fall_back(event->execution))) return result;
    }
    nnv_rt_event_add_fence(event); /* without one the event can still be waited for */
    return start_task(event);
}

int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution *execution,
                                                          const ANeuralNetworksEvent *const *dependencies,
                                                          uint32_t num_dependencies, uint64_t duration,
                                                          ANeuralNetworksEvent **event) {
    if (event) *event = NULL;
    bool missing = !execution || !event || (!dependencies && num_dependencies);
    for (uint32_t i = 0; !missing && i < num_dependencies; i++) missing = !dependencies[i];
    if (missing) return nnv_rt_null_pointer(NNV_RT_FUNCTION);
    const uint64_t since = nnv_rt_trace_begin();
    int result = check_fenced(execution, duration, NNV_RT_FUNCTION);
    if (!result) result = nnv_rt_execution_begin(execution, NNV_RT_FUNCTION);
    if (result) return result;
    struct ANeuralNetworksEvent *made = nnv_rt_event_new(execution, dependencies, num_dependencies);
    if (!made) return nnv_rt_execution_end(execution, ANEURALNETWORKS_OUT_OF_MEMORY);
    execution->trace_since = since;
    note_mode(execution, ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS);
    made->deadline_ns = deadline_in(execution->timeout_ns, NNVTS_NO_TIME);
    made->duration_ns = duration;
    result = finish_start(made, start_fenced(made), event);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "execution", NNV_RT_FUNCTION);
    return result;
}
