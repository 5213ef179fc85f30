/* SPDX-License-Identifier: Apache-2.0 */
/** @file host_garbage.c See host_garbage.h. */
#include "tests/kit/host_garbage.h"

#include <dirent.h>

uint64_t random_state;

uint32_t below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

uint32_t nasty(void) {
    static const uint32_t values[] = {0, 1, 2, 255, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    return below(2) ? values[below(sizeof values / sizeof *values)] : below(64);
}

void mutate_payload(uint8_t *data, size_t bytes) {
    if (bytes < 4) return;
    const uint32_t value = nasty();
    const size_t at = below((uint32_t)bytes / 4) * 4;
    if (below(3))
        memcpy(data + at, &value, 4);
    else
        data[below((uint32_t)bytes)] ^= (uint8_t)(1u << below(8));
}

int descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

const char *drivers_folder(void) {
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    return folder ? folder : "build/drivers";
}
