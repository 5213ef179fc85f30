/* SPDX-License-Identifier: Apache-2.0 */
/** @file client_memory.h Shared memory that a client keeps from case to case. */
#ifndef NNV_HARNESS_CLIENT_MEMORY_H
#define NNV_HARNESS_CLIENT_MEMORY_H

#include "harness/client/client.h"

struct nnv_client_memory;

/**
 * At least size bytes of client's shared memory: mapped at *data, 64-aligned, the start of the file *fd. Made or
 * grown as needed, which moves it; its contents are then undefined. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_client_memory_get(struct nnv_client *client, size_t size, uint8_t **data, int *fd,
                                                     struct nnv_err *err);
/** False if the file behind the memory was closed by someone else. True where there is no memory yet. */
bool nnv_client_memory_whole(const struct nnv_client *client);
/** Unmaps and frees. NULL is allowed. */
void nnv_client_memory_free(struct nnv_client_memory *memory);

#endif
