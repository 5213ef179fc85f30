/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.h Memory objects: shared memory from a descriptor, and what a memory descriptor asked for. */
#ifndef NNV_RUNTIME_MEMORY_H
#define NNV_RUNTIME_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>

#include "NeuralNetworks.h"
#include "nnvts/driver.h"

/** One part that an input or output of a compilation plays; memory_desc.c's. */
struct nnv_rt_role {
    const ANeuralNetworksCompilation *compilation;
    uint32_t index;
    bool is_output;
};

/**
 * Holds its mapping or its buffer of a driver until freed. A memory made from a descriptor has roles, and is used
 * as a whole, at offset 0 with length 0; it may be device memory (buffer) or shared memory of fixed size.
 */
struct ANeuralNetworksMemory {
    struct nnvts_memory memory;           /**< as drivers see it: SHARED with fd and data, or DEVICE with token */
    struct nnvts_buffer *buffer;          /**< DEVICE: the driver's; else NULL */
    struct ANeuralNetworksDevice *device; /**< of buffer */
    void *mapped;                         /**< to unmap, or NULL */
    size_t mapped_bytes;
    _Atomic int64_t burst_token; /**< its name in bursts; 0: it was in none */
    /* Made from a descriptor: */
    bool has_roles;
    uint32_t role_count;
    struct nnv_rt_role *roles;
    int32_t type; /**< OperandCode of all roles */
    float scale;
    int32_t zero_point;
    uint32_t rank;
    uint32_t *dims;       /**< as declared; 0 unknown */
    pthread_mutex_t lock; /**< guards what follows */
    bool initialised;
    uint32_t *current_dims; /**< of the last value, rank entries (room for NNV_MAX_RANK) */
    uint32_t current_rank;
};

/** A new shared memory (memfd) of so many bytes, mapped; NULL when it can't be had. Owned: ANeuralNetworksMemory_free.
 */
struct ANeuralNetworksMemory *nnv_rt_memory_shared(uint64_t bytes);
/**
 * Offset and length of an argument or constant: BAD_DATA where they do not lie in the memory, or the length is 0. A
 * memory made from a descriptor is used as a whole: 0 and 0.
 */
int nnv_rt_memory_check(const struct ANeuralNetworksMemory *m, size_t offset, size_t length);

#endif
