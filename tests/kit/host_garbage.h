/* SPDX-License-Identifier: Apache-2.0 */
/** @file host_garbage.h Nonsense for the two sides of the protocol of the driver "host", the same for each seed. */
#ifndef NNV_TEST_HOST_GARBAGE_H
#define NNV_TEST_HOST_GARBAGE_H

#include <dirent.h>

#include "tests/kit/driver_fixture.h"

enum { ANSWER_MS = 5000 };

static uint64_t random_state;

TEST_FN uint32_t below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

TEST_FN uint32_t nasty(void) {
    static const uint32_t values[] = {0, 1, 2, 255, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    return below(2) ? values[below(sizeof values / sizeof *values)] : below(64);
}

TEST_FN void mutate_payload(uint8_t *data, size_t bytes) {
    if (bytes < 4) return;
    const uint32_t value = nasty();
    const size_t at = below((uint32_t)bytes / 4) * 4;
    if (below(3))
        memcpy(data + at, &value, 4);
    else
        data[below((uint32_t)bytes)] ^= (uint8_t)(1u << below(8));
}

TEST_FN int descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

TEST_FN const char *drivers_folder(void) {
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    return folder ? folder : "build/drivers";
}

#endif
