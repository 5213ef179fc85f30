/* SPDX-License-Identifier: Apache-2.0 */
/** How the driver "cpu" executes, asked from another process: whatever holds in this one holds there. */
#define CPU_DRIVER "host", "cpu:threads=2"
#define MEMORY_IS_COPIED /* pools that are only pointers: how they lie to one another is not seen there */
#include "tests/unit/drivers/cpu/test_cpu_driver_execution.c" /* NOLINT(bugprone-suspicious-include) */
