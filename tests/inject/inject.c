/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file inject.c Preloaded: makes the n-th call of one function of the C library fail, in the first process alone.
 * $INJECT is "FUNCTION:N"; with $INJECT_COUNT, a file, the calls of each function are counted there instead.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                                                   \
    X(malloc)                                                                                                          \
    X(calloc)                                                                                                          \
    X(realloc)                                                                                                         \
    X(mmap) X(write) X(fsync) X(fdatasync) X(rename) X(renameat) X(mkdirat) X(open) X(openat) X(fork) X(ftruncate)

enum function {
#define X(name) F_##name,
    FUNCTIONS(X)
#undef X
        F_COUNT
};

static const char *const names[F_COUNT] = {
#define X(name) [F_##name] = #name,
    FUNCTIONS(X)
#undef X
};

static _Atomic long calls[F_COUNT];
static int chosen = -1;
static long nth;
static pid_t first;

__attribute__((constructor)) static void begin(void) {
    const char *what = getenv("INJECT"), *colon = what != NULL ? strchr(what, ':') : NULL;
    first = getpid();
    for (int i = 0; colon != NULL && i < F_COUNT; i++)
        if (strncmp(names[i], what, (size_t)(colon - what)) == 0 && names[i][colon - what] == '\0') chosen = i;
    nth = colon != NULL ? strtol(colon + 1, NULL, 10) : 0;
    for (int i = 0; i < F_COUNT; i++) atomic_store(&calls[i], 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("INJECT_COUNT");
    if (path == NULL || getpid() != first) return;
    char text[512];
    int n = 0;
    for (int i = 0; i < F_COUNT; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %ld\n", names[i], atomic_load(&calls[i]));
    FILE *f = fopen(path, "w");
    if (f == NULL) return;
    fwrite(text, 1, (size_t)n, f);
    fclose(f);
}

static int fails(enum function f, int error) {
    const long call = atomic_fetch_add(&calls[f], 1) + 1;
    if ((int)f != chosen || call != nth || getpid() != first) return 0;
    errno = error;
    return 1;
}

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort();
    return found;
}

/** The function behind this one, looked up once. */
#define BEHIND(type, name, ...)                                                                                        \
    static type (*behind)(__VA_ARGS__);                                                                                \
    if (behind == NULL) {                                                                                              \
        void *symbol = next(#name);                                                                                    \
        memcpy(&behind, &symbol, sizeof symbol);                                                                       \
    }

void *malloc(size_t n) {
    BEHIND(void *, malloc, size_t)
    return fails(F_malloc, ENOMEM) ? NULL : behind(n);
}
void *realloc(void *p, size_t n) {
    BEHIND(void *, realloc, void *, size_t)
    return fails(F_realloc, ENOMEM) ? NULL : behind(p, n);
}
void *calloc(size_t k, size_t n) {
    BEHIND(void *, calloc, size_t, size_t)
    return fails(F_calloc, ENOMEM) ? NULL : behind(k, n);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset) {
    BEHIND(void *, mmap, void *, size_t, int, int, int, off_t)
    return fails(F_mmap, ENOMEM) ? MAP_FAILED : behind(at, n, prot, flags, fd, offset);
}
ssize_t write(int fd, const void *data, size_t n) {
    BEHIND(ssize_t, write, int, const void *, size_t)
    return fd > STDERR_FILENO && fails(F_write, ENOSPC) ? -1 : behind(fd, data, n);
}
int fsync(int fd) {
    BEHIND(int, fsync, int)
    return fails(F_fsync, EIO) ? -1 : behind(fd);
}
int fdatasync(int fd) {
    BEHIND(int, fdatasync, int)
    return fails(F_fdatasync, EIO) ? -1 : behind(fd);
}
int rename(const char *from, const char *to) {
    BEHIND(int, rename, const char *, const char *)
    return fails(F_rename, EACCES) ? -1 : behind(from, to);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    BEHIND(int, renameat, int, const char *, int, const char *)
    return fails(F_renameat, EACCES) ? -1 : behind(from_folder, from, to_folder, to);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    BEHIND(int, mkdirat, int, const char *, mode_t)
    return fails(F_mkdirat, ENOSPC) ? -1 : behind(folder, path, mode);
}
int open(const char *path, int flags, ...) {
    BEHIND(int, open, const char *, int, ...)
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails(F_open, EMFILE) ? -1 : behind(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    BEHIND(int, openat, int, const char *, int, ...)
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails(F_openat, EMFILE) ? -1 : behind(at, path, flags, mode);
}
pid_t fork(void) {
    BEHIND(pid_t, fork, void)
    return fails(F_fork, EAGAIN) ? -1 : behind();
}
int ftruncate(int fd, off_t n) {
    BEHIND(int, ftruncate, int, off_t)
    return fails(F_ftruncate, ENOSPC) ? -1 : behind(fd, n);
}
