/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t nnv_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t nnv_wall_us(uint64_t moment_ns) {
    uint64_t now = read_clock(CLOCK_MONOTONIC), wall = read_clock(CLOCK_REALTIME),
             ago = now > moment_ns ? now - moment_ns : 0;
    return wall > ago ? (wall - ago) / 1000 : 0;
}
