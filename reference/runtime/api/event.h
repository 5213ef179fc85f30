/* SPDX-License-Identifier: Apache-2.0 */
/** @file event.h Events: the end of an execution that runs elsewhere, or a fence of the application. */
#ifndef NNV_RUNTIME_EVENT_H
#define NNV_RUNTIME_EVENT_H

#include "reference/runtime/api/execution.h"
#include "reference/runtime/run/worker.h"

struct ANeuralNetworksEvent {
    atomic_uint holders; /**< the application, and executions that depend on it */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int fence;     /**< readable when it has ended; -1: none. Never changes once the event is given out */
    bool imported; /**< a fence of the application's and nothing else */
    /* Guarded by the lock: */
    bool done;
    int result;
    bool polled; /**< a thread waits for a fence that is not the runtime's own, with the lock released */
    ANeuralNetworksExecution *execution; /**< until the first that waited has told it */
    /* An execution that a driver does behind fences: */
    bool in_driver;
    struct nnvts_fenced_execution fenced;
    bool answered; /**< driver_result is what the driver said; the thread that polls sets both */
    int driver_result;
    /* What the work needs: */
    struct nnv_rt_task task;
    struct ANeuralNetworksEvent **dependencies; /**< held */
    uint32_t dependency_count;
    uint64_t deadline_ns, duration_ns;
    uint64_t launched_ns; /**< when a thread was asked to do it */
};

/** A new event of an execution, held by one; NULL when out of memory. dependencies are held by it, too. */
struct ANeuralNetworksEvent *nnv_rt_event_new(ANeuralNetworksExecution *e,
                                              const struct ANeuralNetworksEvent *const *dependencies, uint32_t count);
/** Gives it a fence of its own, that nnv_rt_event_end() signals. False if none can be had. */
bool nnv_rt_event_add_fence(struct ANeuralNetworksEvent *event);
/** It is over. */
void nnv_rt_event_end(struct ANeuralNetworksEvent *event, int result);
/** Waits until the deadline (NNVTS_NO_TIME: without end), and does not tell the execution. */
int nnv_rt_event_result(struct ANeuralNetworksEvent *event, uint64_t deadline_ns);
/** All that it depends on went well, by the deadline; else OP_FAILED or MISSED_DEADLINE_TRANSIENT. */
int nnv_rt_event_wait_dependencies(struct ANeuralNetworksEvent *event, uint64_t deadline_ns);
/** One holder less. */
void nnv_rt_event_drop(struct ANeuralNetworksEvent *event);

#endif
