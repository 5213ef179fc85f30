/* SPDX-License-Identifier: Apache-2.0 */
/** @file asleep.c See asleep.h. */
#include "tests/kit/asleep.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "tests/kit/test.h"

enum { STEPS = 10000 }; /* of a millisecond */

/* Whether the thread sleeps; one that is gone does, too. */
static bool is_asleep(pid_t process, pid_t thread) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)thread);
    FILE *f = fopen(path, "r");
    if (!f) return true;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    const char *state = n ? strrchr(text, ')') : NULL; /* "pid (name) S": the name may hold anything */
    return !state || state[1] == '\0' || state[2] == 'S';
}

static bool others_are_asleep(void) {
    DIR *tasks = opendir("/proc/self/task");
    bool asleep = true;
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && thread != gettid()) asleep = asleep && is_asleep(getpid(), thread);
    }
    closedir(tasks);
    return asleep;
}

static void step(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }

/* Twice in a row: one that was about to wake another is then seen running, or has woken it. */
void await_others_asleep(void) {
    int in_a_row = 0;
    for (int i = 0; i < STEPS && in_a_row < 2; i++) {
        step();
        in_a_row = others_are_asleep() ? in_a_row + 1 : 0;
    }
    if (in_a_row < 2) fail_msg("a thread does not come to rest");
}

void await_asleep(pid_t process) {
    int in_a_row = 0;
    for (int i = 0; i < STEPS && in_a_row < 2; i++) {
        step();
        in_a_row = is_asleep(process, process) ? in_a_row + 1 : 0;
    }
    if (in_a_row < 2) fail_msg("process %d does not come to rest", (int)process);
}
