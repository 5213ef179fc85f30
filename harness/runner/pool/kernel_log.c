/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/kernel_log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_READS = 256, MOST_KEPT = 4 << 10 };

/* Both words, in any case of letters; those of the kernel itself and of its common drivers. */
static const struct {
    enum nnv_kernel_fault fault;
    const char *word, *also;
} patterns[] = {
    {NNV_KERNEL_KILL, "killed process", ""},
    {NNV_KERNEL_KILL, "oom-kill", ""},
    {NNV_KERNEL_OOPS, "oops", ""},
    {NNV_KERNEL_OOPS, "kernel bug", ""},
    {NNV_KERNEL_OOPS, "bug: ", ""},
    {NNV_KERNEL_OOPS, "general protection fault", "[#"},
    {NNV_KERNEL_OOPS, "unable to handle", "kernel"},
    {NNV_KERNEL_OOPS, "internal error:", ""},
    {NNV_KERNEL_OOPS, "kernel panic", ""},
    {NNV_KERNEL_IOMMU, "iommu", "fault"},
    {NNV_KERNEL_IOMMU, "smmu", "fault"},
    {NNV_KERNEL_IOMMU, "dmar", "fault"},
    {NNV_KERNEL_IOMMU, "io_page_fault", ""},
    {NNV_KERNEL_HANG, "blocked for more than", "seconds"},
    {NNV_KERNEL_HANG, "lockup", ""},
    {NNV_KERNEL_HANG, "detected stall", ""},
    {NNV_KERNEL_HANG, "gpu hang", ""},
    {NNV_KERNEL_HANG, "npu hang", ""},
    {NNV_KERNEL_HANG, "job timed out", ""},
    {NNV_KERNEL_HANG, "job timeout", ""},
    {NNV_KERNEL_HANG, "ring ", "timeout"},
    {NNV_KERNEL_RESET, "gpu reset", ""},
    {NNV_KERNEL_RESET, "npu reset", ""},
    {NNV_KERNEL_RESET, "resetting", "device"},
    {NNV_KERNEL_RESET, "resetting", "chip"},
    {NNV_KERNEL_RESET, "resetting", "core"},
};

/** True if the word stands in the line where no letter is before it. */
static bool has_word(const char *line, const char *word) {
    for (const char *at = line; (at = strcasestr(at, word)) != NULL; at++)
        if (at == line || !isalpha((unsigned char)at[-1])) return true;
    return false;
}

enum nnv_kernel_fault nnv_kernel_fault_of(const char *line) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (has_word(line, patterns[i].word) && has_word(line, patterns[i].also)) return patterns[i].fault;
    return NNV_KERNEL_NONE;
}

enum nnv_status nnv_kernel_log_open(struct nnv_kernel_log *k, const char *path, struct nnv_err *err) {
    *k = (struct nnv_kernel_log){.records = path == NULL};
    if (path != NULL && strcmp(path, "none") == 0) return NNV_OK;
    const int fd = open(path != NULL ? path : "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && path == NULL) return NNV_OK;
    if (fd < 0) return nnv_fail(err, NNV_INVALID, "kernel log %s: %s", path, strerror(errno));
    (void)lseek(fd, 0, SEEK_END); /* a fifo has no end */
    k->fd = fd;
    return NNV_OK;
}

/** Keeps a line that tells of a fault. */
static void take_line(struct nnv_kernel_log *k) {
    k->line[k->len] = '\0';
    k->len = 0;
    const enum nnv_kernel_fault fault = nnv_kernel_fault_of(k->line);
    struct nnv_text *to = fault == NNV_KERNEL_KILL ? &k->kills : &k->faults;
    if (to->len >= MOST_KEPT && to == &k->kills) nnv_text_clear(to);
    if (fault != NNV_KERNEL_NONE && to->len < MOST_KEPT) nnv_text_addf(to, "\nkernel: %s", k->line);
}

static void take_bytes(struct nnv_kernel_log *k, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            take_line(k);
        else if (k->len + 1 < sizeof k->line)
            k->line[k->len++] = bytes[i];
    }
}

void nnv_kernel_log_read(struct nnv_kernel_log *k) {
    char bytes[8192];
    for (int i = 0; k->fd > 0 && i < MOST_READS; i++) {
        const ssize_t n = read(k->fd, bytes, sizeof bytes);
        if (n < 0 && (errno == EPIPE || errno == EINTR)) continue; /* EPIPE: messages were lost */
        if (n <= 0) return;
        /* "priority,number,time,flags;message", and lines of keys that begin with a space */
        const char *from = k->records ? memchr(bytes, ';', (size_t)n) : NULL;
        const char *begin = from != NULL ? from + 1 : bytes;
        const char *end = k->records ? memchr(begin, '\n', (size_t)(bytes + n - begin)) : NULL;
        take_bytes(k, begin, (size_t)((end != NULL ? end + 1 : bytes + n) - begin));
    }
}

const char *nnv_kernel_log_killed(struct nnv_kernel_log *k, pid_t pid) {
    nnv_kernel_log_read(k);
    for (int i = 0; k->kills.len > 0 && i < 2; i++) {
        char named[64];
        snprintf(named, sizeof named, i == 0 ? "process %ld " : "pid=%ld,", (long)pid);
        const char *at = strstr(k->kills.data, named);
        while (at != NULL && at > k->kills.data && at[-1] != '\n') at--;
        if (at != NULL) return at;
    }
    return NULL;
}

void nnv_kernel_log_close(struct nnv_kernel_log *k) {
    if (k->fd > 0) close(k->fd);
    nnv_text_free(&k->faults);
    nnv_text_free(&k->kills);
    *k = (struct nnv_kernel_log){0};
}
