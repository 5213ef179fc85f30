/* SPDX-License-Identifier: Apache-2.0 */
/** How the driver "cpu" executes, asked from another process: whatever holds in this one holds there. */
#define CPU_DRIVER "host", "cpu:threads=2"
#include "tests/unit/test_cpu_driver_execution.c" /* NOLINT(bugprone-suspicious-include) */
