/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.h Device memory: buffers that requests name by a token. */
#ifndef CPU_BUFFER_H
#define CPU_BUFFER_H

#include <pthread.h>

#include "model.h"

struct cpu_buffer;
struct cpu_prepared;

/** The living buffers of a device. */
struct cpu_buffers {
    pthread_mutex_t lock;
    struct cpu_buffer *first;
    uint32_t last_token;
};

/** What a role is for: an input or output of one prepared model, which no later one is mistaken for. */
struct cpu_role {
    uint64_t program;
    uint32_t io;
    bool input;
};

/** A role with the operand that plays it. */
struct cpu_role_operand {
    struct cpu_role role;
    const struct cpu_tensor *tensor;
};

/**
 * A buffer for count roles that have been looked up; hint: extents, 0 where open. INVALID_ARGUMENT if there are none,
 * or two are the same or conflict with each other or with the hint.
 */
enum nnvts_status cpu_buffer_new(struct cpu_buffers *buffers, const struct cpu_role_operand *roles, uint32_t count,
                                 const uint32_t *hint, uint32_t hint_rank, struct nnvts_buffer **out);

/** The buffer of a token, held; NULL if there is none, or none with this role. */
struct cpu_buffer *cpu_buffer_hold(struct cpu_buffers *buffers, uint32_t token, struct cpu_role role);
/** NULL is allowed. */
void cpu_buffer_drop(struct cpu_buffer *buffer);
/** What allocation fixed of the shape. */
const struct cpu_shape *cpu_buffer_shape(const struct cpu_buffer *buffer, bool *known_rank);

/**
 * The value as an input: sets t's shape and data, which is values' memory, in the kernels' form. GENERAL_FAILURE if
 * there is none yet; INVALID_ARGUMENT if its shape is not what `declared` leaves open.
 */
enum nnvts_status cpu_buffer_read(struct cpu_buffer *buffer, const struct cpu_kernels *kernels,
                                  const struct cpu_shape *declared, bool known_rank, struct cpu_blocks *values,
                                  struct cpu_tensor *t);
/** Takes an output's value. False without memory. */
bool cpu_buffer_write(struct cpu_buffer *buffer, const struct cpu_kernels *kernels, const struct cpu_tensor *t);
/** There is no value any more. */
void cpu_buffer_clear(struct cpu_buffer *buffer);

#endif
