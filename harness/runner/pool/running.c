/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/running.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/folder.h"

enum { ROW_BYTES = NNV_RUNNING_BYTES / NNV_RUNNING_ROWS, MOST_ALONE = 8 };
static const char ALONE[] = "alone ";

static int open_at(const char *folder, int flags) {
    const int at = nnv_folder_open(folder, O_RDONLY | O_DIRECTORY);
    const int fd = at < 0 ? -1 : openat(at, "running", flags | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (at >= 0) close(at);
    return fd;
}

void nnv_running_read(const char *folder, void (*see)(void *context, const char *name, unsigned alone), void *context) {
    char row[ROW_BYTES];
    const int fd = open_at(folder, O_RDONLY);
    while (fd >= 0 && read(fd, row, sizeof row) == (ssize_t)sizeof row) {
        char *end = memchr(row, '\n', sizeof row);
        const char *name = row;
        unsigned alone = 0;
        if (end == NULL || end == row) continue;
        *end = '\0';
        for (; strncmp(name, ALONE, sizeof ALONE - 1) == 0; name += sizeof ALONE - 1) alone++;
        see(context, name, alone);
    }
    if (fd >= 0) close(fd);
}

void nnv_running_open(struct nnv_running *r, const char *folder, size_t count) {
    const size_t bytes = count * NNV_RUNNING_BYTES;
    const int fd = open_at(folder, O_RDWR | O_CREAT);
    *r = (struct nnv_running){0};
    if (fd < 0) return;
    /* Room that is there: a page of a full disk would end the worker that writes it. */
    if (ftruncate(fd, 0) == 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0) {
        char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (page != MAP_FAILED) *r = (struct nnv_running){page, count};
    }
    if (r->page != NULL) madvise(r->page, bytes, MADV_DONTFORK);
    close(fd);
}

char *nnv_running_page(const struct nnv_running *r, size_t place) {
    return place < r->count ? r->page + place * NNV_RUNNING_BYTES : NULL;
}

void nnv_running_note(char *page, size_t turn, const char *name, unsigned alone) {
    if (page == NULL) return;
    char *at = page + turn % NNV_RUNNING_ROWS * ROW_BYTES;
    for (unsigned i = 0; i < alone && i < MOST_ALONE; i++, at += sizeof ALONE - 1) memcpy(at, ALONE, sizeof ALONE - 1);
    const size_t n = strnlen(name, ROW_BYTES / 2);
    memcpy(at, name, n);
    at[n] = '\n';
}

void nnv_running_close(struct nnv_running *r, const char *folder, bool ended) {
    if (r->page != NULL) munmap(r->page, r->count * NNV_RUNNING_BYTES);
    *r = (struct nnv_running){0};
    const int at = ended ? nnv_folder_open(folder, O_RDONLY | O_DIRECTORY) : -1;
    if (at < 0) return;
    unlinkat(at, "running", 0);
    close(at);
}
