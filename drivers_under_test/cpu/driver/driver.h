/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.h The objects of the driver ABI. */
#ifndef CPU_DRIVER_H
#define CPU_DRIVER_H

#include "exec.h"

struct cpu_job;

struct cpu_device {
    struct nnvts_device base;
    const struct cpu_kernels *kernels;
    struct cpu_threads *threads;
    struct cpu_buffers buffers;
    pthread_mutex_t lock;   /**< guards jobs and program_count */
    uint64_t program_count; /**< made so far */
    struct cpu_job *jobs;   /**< asynchronous executions whose threads have not been joined */
};

struct cpu_prepared {
    struct nnvts_prepared_model base;
    struct cpu_device *device;
    struct cpu_program program;
};

/** The members of struct nnvts_prepared_model. */
enum nnvts_status cpu_prepared_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result);
enum nnvts_status cpu_prepared_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                             const struct nnvts_execution_config *config,
                                             nnvts_execute_callback callback, void *context);
enum nnvts_status cpu_prepared_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                              const int *wait_for, uint32_t wait_for_count,
                                              const struct nnvts_execution_config *config, uint64_t duration_ns,
                                              struct nnvts_fenced_execution *out);
enum nnvts_status cpu_prepared_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out);
enum nnvts_status cpu_prepared_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                                const struct nnvts_execution_config *config,
                                                struct nnvts_execution **out);
void cpu_prepared_release(struct nnvts_prepared_model *self);

/** Waits for all asynchronous executions of the device and frees them. */
void cpu_jobs_join(struct cpu_device *device);

#endif
