/* SPDX-License-Identifier: Apache-2.0 */
/** @file worker.h Threads for what runs while the caller goes on. Idle ones are used again, and end after a while. */
#ifndef NNV_RUNTIME_WORKER_H
#define NNV_RUNTIME_WORKER_H

#include <stdbool.h>

/** A piece of work; part of what it works on. */
struct nnv_rt_task {
    void (*run)(struct nnv_rt_task *self); /**< may free what the task is part of */
    struct nnv_rt_task *next;
};

/**
 * Runs the task on another thread: one that is idle, or a new one, so that tasks never wait for each other. False if no
 * thread can be started: the task does not run.
 */
bool nnv_rt_worker_start(struct nnv_rt_task *task);

#endif
