/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c What may be read, and the time. */
#include <time.h>

#include "shell.h"

bool engine_has_slack(const uint8_t *p, const uint8_t *end) {
    enum { SMALLEST_PAGE = 4096 };
    if (end - p >= ENGINE_SLACK) return true;
    const uintptr_t last = (uintptr_t)p - 1; /* of the value itself */
    return last / SMALLEST_PAGE == (last + ENGINE_SLACK) / SMALLEST_PAGE;
}

uint64_t engine_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
