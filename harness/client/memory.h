/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.h Shared memory: pools as the driver ABI has them, and what a client keeps. */
#ifndef NNV_CLIENT_MEMORY_H
#define NNV_CLIENT_MEMORY_H

#include "base/file.h"
#include "base/status.h"
#include "harness/client/driver.h"

enum nnv_pool_kind {
    NNV_POOL_WRITABLE,
    NNV_POOL_READ_ONLY, /**< the pool's own mapping can't be written: a driver that tries dies */
    NNV_POOL_FD_ONLY,   /**< the pool has no pointer: the driver must map the file itself */
};

/** A pool of shared memory. */
struct nnv_abi_pool {
    struct nnvts_memory memory; /**< as the driver gets it */
    uint8_t *data;              /**< where nnvts reads and writes it */
};

/** Makes a pool of so many zero bytes; nnv_abi_pool_free() ends it. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_abi_pool_make(size_t bytes, enum nnv_pool_kind kind, struct nnv_abi_pool *pool,
                                                 struct nnv_err *err);
/** Unmaps and closes. A pool of zeros is none. */
void nnv_abi_pool_free(struct nnv_abi_pool *pool);

/**
 * Mappings side by side that are given back in one call, since each interrupts all processors that ran the process.
 * The kernel puts a mapping below the one before it: pools that are closed in the other order than made are neighbours.
 */
struct nnv_mapped {
    uint8_t *at;
    size_t bytes;
};

/** As nnv_abi_pool_free(), but its memory is mapped until nnv_unmap() or a pool that is no neighbour. */
void nnv_abi_pool_close(struct nnv_abi_pool *pool, struct nnv_mapped *mapped);
void nnv_unmap(struct nnv_mapped *mapped);

/**
 * At least `bytes` of the shared memory that the client keeps from case to case: mapped at *data, 64-aligned, the start
 * of the file *fd. Made or enlarged as needed, which moves it; its contents are undefined. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_client_memory_get(struct nnv_client *client, size_t bytes, uint8_t **data, int *fd,
                                                     struct nnv_err *err);
/**
 * Cuts writable pools of these sizes, each beginning on a page of its own, out of the kept memory: they end with the
 * next call, and are not freed.
 */
NNV_USE_RESULT enum nnv_status nnv_client_pools(struct nnv_client *client, const size_t *bytes, size_t count,
                                                struct nnv_abi_pool *pools, struct nnv_err *err);
struct nnv_breach;
/** False, and says so, if someone else closed the file behind the kept memory. True where there is no memory yet. */
bool nnv_client_memory_whole(const struct nnv_client *client, struct nnv_breach *b);
/** Unmaps and frees. NULL is allowed. */
void nnv_client_memory_free(struct nnv_client_memory *memory);

#endif
