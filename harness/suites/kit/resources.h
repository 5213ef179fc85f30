/* SPDX-License-Identifier: Apache-2.0 */
/** @file resources.h What a driver holds: counted in this process and in all that descend from it. */
#ifndef NNV_SUITES_RESOURCES_H
#define NNV_SUITES_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct nnv_resources {
    uint32_t processes; /**< this one too */
    uint32_t descriptors;
    uint32_t threads;
    uint64_t memory_bytes; /**< anonymous memory that is resident */
};

/** False if the system does not tell. */
bool nnv_resources_count(struct nnv_resources *r);
/**
 * Counts until processes, descriptors and threads are no more than `limit` says, or timeout_ns have passed: what a
 * driver gives up behind the call has time to go. False if the system does not tell.
 */
bool nnv_resources_settle(const struct nnv_resources *limit, uint64_t timeout_ns, struct nnv_resources *r);

#endif
