/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file counters.h Which edges of the driver's code this process has reached, where the driver was built with
 * SanitizerCoverage: inline-8bit-counters or trace-pc-guard; with pc-table it is known where they are. Shared objects
 * that are so built tell of themselves when they are loaded, by calling functions __sanitizer_cov_* that nnvts exports.
 */
#ifndef NNV_COVERAGE_COUNTERS_H
#define NNV_COVERAGE_COUNTERS_H

#include <stdint.h>

enum {
    NNV_COVERAGE_MODULES = 32,    /**< shared objects that count; further ones are left out */
    NNV_COVERAGE_EDGES = 1 << 20, /**< edges of all of them; further ones are left out */
    NNV_COVERAGE_PATH_BYTES = 1024,
};

/** A shared object that counts, with a range of the process's edges. */
struct nnv_coverage_module {
    char path[NNV_COVERAGE_PATH_BYTES];
    uint32_t first, count;
};

/** What a process tells the supervisor, which must not trust it: a driver may have written over it. */
struct nnv_coverage_told {
    uint32_t modules;
    struct nnv_coverage_module module[NNV_COVERAGE_MODULES];
    uint64_t place[NNV_COVERAGE_EDGES]; /**< where in the file the edge leads to; 0: not known */
    uint8_t reached[NNV_COVERAGE_EDGES];
};

/** Edges of all that is loaded; 0: nothing was built to count. */
uint32_t nnv_coverage_edges(void);
/** From now on nnv_coverage_tell() adds to this memory. */
void nnv_coverage_tell_to(struct nnv_coverage_told *told);
/** Adds what was reached. Safe in a signal handler. Nothing if nothing counts it. */
void nnv_coverage_tell(void);
/** Forgets what was reached, but not what was told. */
void nnv_coverage_forget(void);
/** Calls see for each edge that was reached since nnv_coverage_forget(); key: the same in any process. */
void nnv_coverage_each(void (*see)(void *context, uint64_t key), void *context);

#endif
