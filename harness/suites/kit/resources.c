/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/resources.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { FAMILY = 256, PATH_BYTES = 64, LINE_BYTES = 512 };

/** This process and its descendants. */
struct family {
    pid_t pid[FAMILY];
    uint32_t count;
};

static bool is_member(const struct family *f, pid_t pid) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->pid[i] == pid) return true;
    return false;
}

/** The first line of a small file; false if it can't be read. */
static bool read_line(const char *path, char *line) {
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool ok = fgets(line, LINE_BYTES, file) != NULL;
    fclose(file);
    return ok;
}

/** The parent of a process that is no zombie; 0 if there is none. */
static pid_t parent_of(const char *pid) {
    char path[PATH_BYTES], line[LINE_BYTES], state;
    long parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!read_line(path, line)) return 0;
    const char *behind_name = strrchr(line, ')');
    if (!behind_name || sscanf(behind_name + 1, " %c %ld", &state, &parent) != 2 || state == 'Z') return 0;
    return (pid_t)parent;
}

/** One pass over all processes; false if it found nobody new. */
static bool add_children(struct family *f) {
    bool found = false;
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) || f->count == FAMILY) continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (is_member(f, pid) || !is_member(f, parent_of(entry->d_name))) continue;
        f->pid[f->count++] = pid;
        found = true;
    }
    if (dir) closedir(dir);
    return found;
}

/** Entries of /proc/PID/what; `opened`: one of them may be what this needs. */
static bool count_entries(pid_t pid, const char *what, uint32_t *count) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    DIR *dir = opendir(path);
    if (!dir) return false;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) *count += entry->d_name[0] != '.';
    closedir(dir);
    return true;
}

static bool add_memory(pid_t pid, uint64_t *bytes) {
    char path[PATH_BYTES], line[LINE_BYTES];
    unsigned long long kib;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) found = sscanf(line, "RssAnon: %llu", &kib) == 1;
    if (file) fclose(file);
    if (found) *bytes += kib * 1024;
    return found;
}

bool nnv_resources_count(struct nnv_resources *r) {
    struct family family = {.pid = {getpid()}, .count = 1};
    *r = (struct nnv_resources){0};
    while (add_children(&family)) {}
    for (uint32_t i = 0; i < family.count; i++) {
        struct nnv_resources one = {.processes = 1};
        bool ok = count_entries(family.pid[i], "fd", &one.descriptors) &&
                  count_entries(family.pid[i], "task", &one.threads) && add_memory(family.pid[i], &one.memory_bytes);
        if (!ok && i == 0) return false;
        if (!ok) continue; /* it has ended meanwhile */
        r->processes++;
        r->descriptors += one.descriptors - (i == 0); /* the folder that is read is one */
        r->threads += one.threads;
        r->memory_bytes += one.memory_bytes;
    }
    return true;
}

bool nnv_resources_settle(const struct nnv_resources *limit, uint64_t timeout_ns, struct nnv_resources *r) {
    const uint64_t end = nnv_now_ns() + timeout_ns;
    while (nnv_resources_count(r)) {
        bool settled =
            r->processes <= limit->processes && r->descriptors <= limit->descriptors && r->threads <= limit->threads;
        if (settled || nnv_now_ns() >= end) return true;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return false;
}
