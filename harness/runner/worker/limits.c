/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "nnvts/result.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

enum { RESERVE = 64 }; /* descriptors that the next case should find */

void nnv_limit_memory(uint64_t bytes) {
#if defined(HAS_SANITIZER)
    (void)bytes;
#else
    char line[128];
    if (!nnv_file_line("/proc/self/statm", "", line, sizeof line)) return;
    const rlim_t limit = strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
#endif
}

void nnv_limit_files(uint64_t bytes) { setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}); }

bool nnv_written(pid_t pid, uint64_t *bytes) {
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/io", (int)(pid ? pid : getpid()));
    if (!nnv_file_line(path, "write_bytes", line, sizeof line)) return false;
    *bytes = strtoull(line, NULL, 10);
    return true;
}

/** The lowest free descriptor, INT_MAX if there is none; 0 if that can't be told: a driver has closed them. */
static int lowest_free(void) {
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return errno == EMFILE ? INT_MAX : 0;
    close(fd);
    return fd;
}

void nnv_descriptors_begin(struct nnv_descriptors *d) { d->low = lowest_free(); }

void nnv_descriptors_check(struct nnv_descriptors *d, struct nnv_result *r) {
    struct rlimit limit;
    const int before = d->low;
    d->low = lowest_free();
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t most = limit.rlim_cur < INT_MAX ? limit.rlim_cur : INT_MAX;
    /* Numbers are given from below: one of half the limit says that as many were open, whatever was closed since. */
    if (fcntl((int)(most / 2), F_GETFD) >= 0) r->worker_damaged = true; /* the next cases are not to pay for it */
    if (d->low <= before) return;
    const rlim_t free_before = (rlim_t)before < most ? most - (rlim_t)before : 0;
    const rlim_t free_now = (rlim_t)d->low < most ? most - (rlim_t)d->low : 0;
    if (free_now >= RESERVE) return;
    r->worker_damaged = true;
    if (free_before - free_now <= most / 2 || (r->verdict != NNVTS_PASS && r->verdict != NNVTS_ERROR)) return;
    nnv_text_clear(&r->reason);
    nnv_result_end(r, NNVTS_WHY_LEAK,
                   "the driver took %llu file descriptors and left %llu: whatever comes next can open nothing",
                   (unsigned long long)(free_before - free_now), (unsigned long long)free_now);
}
