/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/resources.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { FAMILY = 256, PATH_BYTES = 64, LINE_BYTES = 512, POOL_REPEATS = 2048, POOL_BYTES = 32 << 20 };

/* ------------------------------------------------------------- in this process */

const struct nnv_held_words nnv_held_words[NNV_HELD_KINDS] = {
    [NNV_HELD_DESCRIPTORS] = {"file descriptors", "close what it opens"},
    [NNV_HELD_THREADS] = {"threads", "end what it starts"},
    [NNV_HELD_OBJECTS] = {"objects of shared memory in /dev/shm", "unlink what it makes"},
    [NNV_HELD_HEAP] = {"bytes of heap", "free what it allocates"},
    [NNV_HELD_MAPPED] = {"bytes of mapped memory", "unmap what it maps"},
};

/** The lowest descriptor that is free, which grows with those that are open; false if that can't be told. */
static bool lowest_free(uint64_t *n) {
    const int fd = open("/", O_PATH | O_CLOEXEC);
    if (fd < 0) return false;
    close(fd);
    *n = (uint64_t)fd;
    return true;
}

extern void __asan_init(void) __attribute__((weak)); // NOLINT(bugprone-reserved-identifier)
extern void __tsan_init(void) __attribute__((weak)); // NOLINT(bugprone-reserved-identifier)

bool nnv_held_memory_tells(void) { return __asan_init == NULL && __tsan_init == NULL; }

bool nnv_held_is_leak(uint64_t repeats, uint64_t bytes) { return repeats >= POOL_REPEATS || bytes >= POOL_BYTES; }

/* The one place for what glibc alone has; other C libraries do not tell of their heap. */
#if defined(__GLIBC__)
#include <malloc.h>
static uint64_t heap_bytes(void) {
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}
void nnv_held_trim(void) { malloc_trim(0); }
#else
static uint64_t heap_bytes(void) { return 0; }
void nnv_held_trim(void) {}
#endif

/** Those with a name; 0 if the folder can't be read. Files of its file system would be those of others, too. */
static uint64_t entries_of(const char *folder) {
    uint64_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) n += entry->d_name[0] != '.';
    if (dir != NULL) closedir(dir);
    return n;
}

static bool count_descriptors(uint64_t *n) {
    struct stat st;
    /* The size of that folder is the number of descriptors since Linux 6.2. */
    if (stat("/proc/self/fd", &st) != 0 || st.st_size <= 0) return lowest_free(n);
    *n = (uint64_t)st.st_size;
    return true;
}

void nnv_held_count(uint64_t held[NNV_HELD_KINDS]) {
    struct stat st;
    char line[LINE_BYTES];
    count_descriptors(&held[NNV_HELD_DESCRIPTORS]);
    if (stat("/proc/self/task", &st) == 0) held[NNV_HELD_THREADS] = st.st_nlink;
    held[NNV_HELD_OBJECTS] = entries_of("/dev/shm");
    if (!nnv_held_memory_tells()) return;
    held[NNV_HELD_HEAP] = heap_bytes();
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0) return;
    line[n] = '\0';
    held[NNV_HELD_MAPPED] = strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ------------------------------------------------- in this one and its descendants */

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

/** The parent of a process that is no zombie; 0 if there is none. */
static pid_t parent_of(const char *pid) {
    char path[PATH_BYTES], line[LINE_BYTES], state;
    long parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    if (!nnv_file_line(path, "", line, sizeof line)) return 0;
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

/** Adds the entries of /proc/PID/what; false if that can't be read. */
static bool count_entries(pid_t pid, const char *what, uint32_t *count) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    const uint64_t n = entries_of(path);
    *count += (uint32_t)n;
    return n > 0;
}

static bool add_memory(pid_t pid, uint64_t *bytes) {
    char path[PATH_BYTES], line[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    if (!nnv_file_line(path, "RssAnon", line, sizeof line)) return false;
    *bytes += (uint64_t)strtoull(line, NULL, 10) * 1024;
    return true;
}

/** Counts those of the family but the first `without`. */
static bool count_family(uint32_t without, struct nnv_resources *r) {
    struct family family = {.pid = {getpid()}, .count = 1};
    *r = (struct nnv_resources){0};
    while (add_children(&family)) {}
    for (uint32_t i = without; i < family.count; i++) {
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

bool nnv_resources_count(struct nnv_resources *r) { return count_family(0, r); }
bool nnv_resources_count_others(struct nnv_resources *r) { return count_family(1, r); }

static void pause_between_counts(void) { nanosleep(&(struct timespec){0, 2000000}, NULL); }

bool nnv_resources_rest(uint64_t timeout_ns, struct nnv_resources *r) {
    const uint64_t end = nnv_now_ns() + timeout_ns;
    struct nnv_resources before;
    if (!nnv_resources_count(r)) return false;
    for (int same = 1; same < 3 && nnv_now_ns() < end;) {
        before = *r;
        pause_between_counts();
        if (!nnv_resources_count(r)) return false;
        const bool rests =
            r->processes == before.processes && r->descriptors == before.descriptors && r->threads == before.threads;
        same = rests ? same + 1 : 1;
    }
    return true;
}

bool nnv_resources_settle(const struct nnv_resources *limit, uint64_t timeout_ns, struct nnv_resources *r) {
    const uint64_t end = nnv_now_ns() + timeout_ns;
    while (nnv_resources_count(r)) {
        bool settled =
            r->processes <= limit->processes && r->descriptors <= limit->descriptors && r->threads <= limit->threads;
        if (settled || nnv_now_ns() >= end) return true;
        pause_between_counts();
    }
    return false;
}
