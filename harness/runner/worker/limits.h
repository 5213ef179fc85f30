/* SPDX-License-Identifier: Apache-2.0 */
/** @file limits.h What a driver may take of its worker process, and whether it left anything. */
#ifndef NNV_HARNESS_LIMITS_H
#define NNV_HARNESS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/runner/suite.h"

/**
 * Limits the address space of this process to what it has now and that many bytes more. Sanitizers need theirs: with
 * them this does nothing.
 */
void nnv_limit_memory(uint64_t bytes);

/**
 * No file that this process or its children write grows beyond so many bytes: the kernel ends who tries, with SIGXFSZ.
 * What all files together take is measured instead: nnv_written().
 */
void nnv_limit_files(uint64_t bytes);
/**
 * Bytes that a process (0: this one) has caused to be written to disk since its start; files in memory are not of
 * them. False where the system does not tell.
 */
bool nnv_written(pid_t pid, uint64_t *bytes);

/** Follows the file descriptors of a worker from case to case. */
struct nnv_descriptors {
    int low; /**< the lowest that was free after the last case */
};
/** Begins; before the first case. */
void nnv_descriptors_begin(struct nnv_descriptors *d);
/**
 * A case has ended: where it left fewer than half of the descriptors that a process may open, what comes next needs a
 * new worker; where it left few or none, it fails if it was it that took most of them.
 */
void nnv_descriptors_check(struct nnv_descriptors *d, struct nnv_result *r);

#endif
