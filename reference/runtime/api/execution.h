/* SPDX-License-Identifier: Apache-2.0 */
/** @file execution.h An execution: arguments and settings, then a run, then what it answered. */
#ifndef NNV_RUNTIME_EXECUTION_H
#define NNV_RUNTIME_EXECUTION_H

#include "reference/runtime/run/run.h"
#include "reference/runtime/api/sl_diag.h"

enum nnv_rt_execution_state {
    NNV_RT_PREPARATION,
    NNV_RT_COMPUTATION, /**< an asynchronous one until its event was waited for */
    NNV_RT_COMPLETED,
};

struct ANeuralNetworksExecution {
    ANeuralNetworksCompilation *compilation;
    const struct nnv_rt_plan *plan;
    pthread_mutex_t lock; /**< guards state */
    enum nnv_rt_execution_state state;
    /* Settings, fixed once it started. */
    bool reusable, padding, measure;
    bool has_arguments;                   /**< an argument was set */
    uint64_t timeout_ns, loop_timeout_ns; /**< 0: none; NNVTS_NO_TIME: the default */
    uint32_t input_count, output_count;
    struct nnv_rt_value *inputs, *outputs;
    bool *is_set;                                    /**< inputs, then outputs */
    struct nnv_rt_value **input_list, **output_list; /**< of inputs and outputs, as graphs take them */
    struct nnv_rt_execution_attribute *attributes;   /**< of extensions; a list */
    /* Kept from run to run. */
    struct nnv_rt_activation *activation;
    struct nnvts_execution *driver_execution;
    /* Answers, once it has completed. */
    int result;
    bool incomplete; /**< it was started without all arguments */
    struct nnvts_timing launched, fenced;
    uint64_t trace_since; /**< of an asynchronous one */
    /* For diagnostics: */
    ANeuralNetworksDiagnosticExecutionMode mode;
    uint64_t diag_since; /**< of a run that is to be told of */
};

/**
 * Begins a run: BAD_STATE if it is running, or has and is not reusable; BAD_DATA if an argument is missing, and it has
 * then completed with that.
 */
int nnv_rt_execution_begin(ANeuralNetworksExecution *e, const char *function);
/** Ends what began; returns the result. */
int nnv_rt_execution_end(ANeuralNetworksExecution *e, int result);

/* ------------------------------------------------------- memories made from descriptors (memory_role.c) */

/** True if the memory may be this argument of the execution's compilation: always, if it has no roles. */
bool nnv_rt_memory_has_role(const struct ANeuralNetworksMemory *m, const ANeuralNetworksCompilation *c, bool is_output,
                            uint32_t index);
/** Before a run: inputs hold values of the shape that is passed, else OP_FAILED; outputs have none until it is over. */
int nnv_rt_memory_check_inputs(const ANeuralNetworksExecution *e);
void nnv_rt_memory_begin_outputs(const ANeuralNetworksExecution *e);
/** After a run that went well. */
void nnv_rt_memory_end_outputs(const ANeuralNetworksExecution *e);
/** True if any argument lies in a memory with roles. */
bool nnv_rt_memory_in_use(const ANeuralNetworksExecution *e);

#endif
