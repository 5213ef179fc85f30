/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec.h Requests bound to a model, and their execution. */
#ifndef CPU_EXEC_H
#define CPU_EXEC_H

#include <pthread.h>

#include "buffer.h"
#include "memory.h"
#include "op.h"

struct cpu_context;

/** What is shared by all executions of one prepared model. */
struct cpu_program {
    struct cpu_model model;
    const struct cpu_kernels *kernels;
    struct cpu_threads *threads;
    struct cpu_buffers *buffers; /**< the device's */
    uint64_t id;                 /**< no two programs of a device have the same */
    bool *omittable;             /**< per model input */
    uint32_t *output_index;      /**< per tensor: which model output it is, or CPU_UNKNOWN */
    pthread_mutex_t lock;        /**< guards idle */
    struct cpu_context *idle;
};

/**
 * Makes the program of a model whose operations are all supported: prepares operations, owns what constants are read
 * later. packs->at: packed weights of a cache, which then lie with the constants in memory that the model keeps; else
 * it is all zero, and tells what was packed. Takes *model over (which becomes empty) where NONE is returned.
 * INVALID_ARGUMENT: packed weights of the cache are not the model's.
 */
enum nnvts_status cpu_program_make(struct cpu_model *model, const struct cpu_kernels *kernels,
                                   struct cpu_threads *threads, struct cpu_packs *packs, struct cpu_program *out);
void cpu_program_free(struct cpu_program *program);

/** One input or output of a request, checked. */
struct cpu_argument {
    bool omitted;
    bool readable; /**< the memory may be read */
    bool known_rank;
    struct cpu_shape shape; /**< inputs: known; outputs: CPU_UNKNOWN where not */
    uint32_t open;          /**< a bit for each extent that neither model nor request state */
    uint8_t *data;
    uint32_t length;
    struct cpu_buffer *buffer; /**< device memory, held; then data and length say nothing */
};

/** A request, checked and with its memory mapped. */
struct cpu_binding {
    struct cpu_argument *in, *out; /**< one array */
    uint32_t argument_count;
    struct cpu_mapping *mappings; /**< own ones */
    uint32_t mapping_count;
};

/** A mapping of pool i that exists already; false if there is none (a burst's memory). */
typedef bool (*cpu_find_mapping)(void *context, uint32_t i, struct cpu_mapping *out);

/**
 * Checks the request against the model and maps its pools; find may be NULL. The request itself is not needed any
 * more, its memory is. INVALID_ARGUMENT if a rule is broken.
 */
enum nnvts_status cpu_binding_make(const struct cpu_program *program, const struct nnvts_request *request,
                                   cpu_find_mapping find, void *context, struct cpu_binding *out);
void cpu_binding_free(struct cpu_binding *binding);
/** All outputs have known shapes, none is zero-sized: what a fenced execution asks for. */
bool cpu_binding_outputs_known(const struct cpu_program *program, const struct cpu_binding *binding);

/** Runs the program; answers as nnvts_prepared_model.execute. started_ns: when the driver was called. */
enum nnvts_status cpu_execute(struct cpu_program *program, const struct cpu_binding *binding,
                              const struct nnvts_execution_config *config, uint64_t started_ns,
                              struct nnvts_execution_result *result);

#endif
