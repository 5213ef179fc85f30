/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel_log.h The kernel's log, followed while a run goes on: lines that tell of faults of devices or drivers.
 */
#ifndef NNV_HARNESS_KERNEL_LOG_H
#define NNV_HARNESS_KERNEL_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"

/** What a line tells. */
enum nnv_kernel_fault {
    NNV_KERNEL_NONE,
    NNV_KERNEL_OOPS,
    NNV_KERNEL_IOMMU,
    NNV_KERNEL_HANG,
    NNV_KERNEL_RESET,
    NNV_KERNEL_KILL, /**< a process was ended because memory ran out */
};

/** What the line of a log tells, by its words. */
enum nnv_kernel_fault nnv_kernel_fault_of(const char *line);

/** Zero-initialise. */
struct nnv_kernel_log {
    int fd;          /**< 0: nothing is followed */
    bool records;    /**< one read, one message: /dev/kmsg */
    char line[1024]; /**< that has begun */
    size_t len;
    struct nnv_text faults; /**< lines since they were cleared, a line break before each */
    struct nnv_text kills;  /**< lines of NNV_KERNEL_KILL */
};

/**
 * Follows a file or fifo that grows, from its end on. path NULL: /dev/kmsg, or nothing where this process may not read
 * it; "none": nothing. NNV_INVALID: it can't be opened.
 */
NNV_USE_RESULT enum nnv_status nnv_kernel_log_open(struct nnv_kernel_log *k, const char *path, struct nnv_err *err);
/** Adds the lines that have come to faults. Does not wait. */
void nnv_kernel_log_read(struct nnv_kernel_log *k);
/** The line that says that this process was killed because memory ran out; NULL: none does. Reads what has come. */
const char *nnv_kernel_log_killed(struct nnv_kernel_log *k, pid_t pid);
void nnv_kernel_log_close(struct nnv_kernel_log *k);

#endif
