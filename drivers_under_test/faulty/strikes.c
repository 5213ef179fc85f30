/* SPDX-License-Identifier: Apache-2.0 */
/** @file strikes.c How a driver ends or blocks its process. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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

/** Stops the whole process, as a debugger or a terminal would. */
void strike_stop(void) { raise(SIGSTOP); }

/** Takes the memory that there is, or very much of it, and does not look at what it gets for the last time. */
__attribute__((no_sanitize("address", "undefined"))) void strike_memory(void) {
    enum { MOST = 1000 };
    const size_t large = (size_t)1 << (sizeof(size_t) > 4 ? 34 : 30);
    int taken = 0;
    for (size_t bytes = large; bytes > 4096 && taken < MOST; bytes /= 2)
        while (taken < MOST && malloc(bytes)) taken++;
    volatile char *volatile block = NULL;
    if (taken < MOST) block = malloc(large);
    *block = 1;
}

/** Opens files until no more can be opened, and keeps them. */
void strike_descriptors(void) {
    enum { MOST = 1 << 20 };
    for (int i = 0; i < MOST && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0; i++) continue;
}

/** Prints as some drivers do: much, at once, and no text. */
void strike_print(void) {
    char noise[4096];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)i;
    for (int i = 0; i < 8; i++) fwrite(noise, 1, sizeof noise, stdout);
    fprintf(stdout, "\n{\"case\":\"of another\",\"verdict\":\"PASS\"}\nprinted by the driver\n");
    fflush(stdout);
    (void)!write(STDERR_FILENO, "and written\n", 12);
}
