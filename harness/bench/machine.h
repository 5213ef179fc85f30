/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file machine.h What affects times on this machine: governor, frequencies, temperature, limits; and the energy that
 * it counts.
 */
#ifndef NNV_BENCH_MACHINE_H
#define NNV_BENCH_MACHINE_H

#include <jansson.h>
#include <stddef.h>

/**
 * {"governor", "mhz", "mhz_max", "celsius" (the warmest zone), "cgroup_cpus", "cgroup_memory_mb"}: what the files below
 * root ("" is this machine's) tell; what they do not is absent. A new reference; NULL when out of memory.
 */
json_t *nnv_machine_state(const char *root);
/**
 * The instruction sets that bear on networks, of those that the files below root name: "avx2 fma avx512f avx512_vnni".
 * Cut to room; "" where nothing is told.
 */
void nnv_machine_instructions(const char *root, char *names, size_t room);
/**
 * Joules that this machine has counted so far: of all packages and boards that powercap or hwmon show, from some
 * beginning; NaN where none is readable. A difference below 0 is a counter that began anew.
 */
double nnv_machine_joules(const char *root);

#endif
