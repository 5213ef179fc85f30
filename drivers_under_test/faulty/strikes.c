/* SPDX-License-Identifier: Apache-2.0 */
/** @file strikes.c How a driver ends or blocks its process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faulty.h"

void strike_crash(void) {
    volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
}

void strike_abort(void) { abort(); }

void strike_exit(void) { exit(0); }

void strike_hang(void) {
    for (;;) pause();
}

void strike_close(void) {
    for (int fd = 3; fd < 1024; fd++) close(fd);
}

/** Runs over the end of a local array, into the frames of its callers. */
__attribute__((noinline, no_sanitize("address", "undefined"))) void strike_stack(void) {
    volatile char local[8];
    volatile char *volatile end = local;
    for (size_t i = 0; i < 512; i++) end[i] = (char)0x5a;
}

/** Overwrites the header behind a block that is too large for a thread's cache, so that free notices at once. */
__attribute__((noinline, no_sanitize("address", "undefined"))) void strike_heap(void) {
    enum { BYTES = 4096 };
    volatile char *volatile block = malloc(BYTES);
    if (!block) return;
    for (size_t i = 0; i < BYTES + 64; i++) block[i] = (char)0xff;
    free((void *)block);
}
