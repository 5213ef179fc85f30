/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST_FOLDER = 64 };

/* "path: what: reason", with a remedy where one is known. */
static enum nnv_status refuse(struct nnv_err *err, enum nnv_status status, const char *path, const char *what,
                              int number) {
    const char *remedy = number == ENOSPC || number == EDQUOT ? " (free some space or choose another folder)"
                         : number == EACCES || number == EPERM || number == EROFS
                             ? " (check the permissions or choose another place)"
                             : "";
    char text[128];
    return nnv_fail(err, number == ENOMEM ? NNV_NO_MEMORY : status, "%s: %s: %s%s", path, what,
                    strerror_r(number, text, sizeof text), remedy);
}

static enum nnv_status refused(struct nnv_err *err, const char *path, const char *what, int number) {
    return refuse(err, NNV_IO, path, what, number);
}

/* A path that names nothing readable is the caller's mistake, not the machine's. */
static enum nnv_status unreadable(struct nnv_err *err, const char *path, const char *what, int number) {
    bool wrong_path = number == ENOENT || number == ENOTDIR || number == EISDIR || number == EACCES ||
                      number == ELOOP || number == ENAMETOOLONG;
    return refuse(err, wrong_path ? NNV_INVALID : NNV_IO, path, what, number);
}

/* ------------------------------------------------------------------ reading */

/* Doubles *data, up to limit + 1 bytes of content and a terminator. */
static bool grow(char **data, size_t *cap, size_t limit) {
    size_t want = *cap < (size_t)1 << 16 ? (size_t)1 << 16 : *cap > limit / 2 ? limit + 2 : *cap * 2;
    char *p = realloc(*data, want);
    if (!p) return false;
    *data = p;
    *cap = want;
    return true;
}

static enum nnv_status read_all(int fd, const char *path, size_t limit, char **data, size_t *size,
                                struct nnv_err *err) {
    char *p = NULL;
    size_t cap = 0, n = 0;
    enum nnv_status status = NNV_OK;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0) {
        if ((unsigned long long)st.st_size > limit) goto too_big;
        cap = (size_t)st.st_size + 2; /* one to see the end of the file, one for the terminator */
        if (!(p = malloc(cap))) goto no_memory;
    }
    for (;;) {
        if (n + 1 >= cap && !grow(&p, &cap, limit)) goto no_memory;
        ssize_t got = read(fd, p + n, cap - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = unreadable(err, path, "cannot read", errno);
            goto out;
        }
        if (got == 0) break;
        n += (size_t)got;
        if (n > limit) goto too_big;
    }
    p[n] = '\0';
    *data = p;
    *size = n;
    return NNV_OK;
too_big:
    status = nnv_fail(err, NNV_INVALID, "%s: larger than the limit of %zu bytes", path, limit);
    goto out;
no_memory:
    status = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory after %zu bytes", path, n);
out:
    free(p);
    return status;
}

enum nnv_status nnv_file_read(const char *path, size_t limit, char **data, size_t *size, struct nnv_err *err) {
    if (limit > SIZE_MAX / 2) limit = SIZE_MAX / 2;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return unreadable(err, path, "cannot open", errno);
    enum nnv_status status = read_all(fd, path, limit, data, size, err);
    close(fd);
    return status;
}

/* ------------------------------------------------------------------ writing */

enum nnv_status nnv_write_all(int fd, const void *data, size_t n, const char *name, struct nnv_err *err) {
    const char *from = data;
    while (n) {
        ssize_t put = write(fd, from, n);
        if (put == 0) errno = EIO; /* it set none */
        if (put > 0) {
            from += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return refused(err, name, "cannot write", errno);
        }
    }
    return NNV_OK;
}

/* Writes, syncs and closes one descriptor. */
static enum nnv_status write_and_close(int fd, const void *data, size_t size, bool sync, const char *path,
                                       struct nnv_err *err) {
    enum nnv_status status = nnv_write_all(fd, data, size, path, err);
    if (status == NNV_OK && sync && fsync(fd) != 0) status = refused(err, path, "cannot sync", errno);
    if (close(fd) != 0 && status == NNV_OK) status = refused(err, path, "cannot write", errno);
    return status;
}

int nnv_file_temporary(const char *path, char **name) {
    enum { ATTEMPTS = 8 };
    int fd = -1;
    *name = NULL;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) < 0) random = (uint64_t)getpid();
        free(*name);
        if (asprintf(name, "%s.%016" PRIx64 ".tmp", path, random) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    const int number = errno;
    if (fd < 0) {
        free(*name);
        *name = NULL;
    }
    errno = number;
    return fd;
}

enum nnv_status nnv_file_write(const char *path, const void *data, size_t size, struct nnv_err *err) {
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return refused(err, path, "cannot write", EISDIR);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* a terminal or pipe cannot be replaced */
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) return refused(err, path, "cannot open", errno);
        return write_and_close(fd, data, size, false, path, err);
    }
    char *temporary;
    const int fd = nnv_file_temporary(path, &temporary);
    if (fd < 0 && errno == ENOMEM) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    if (fd < 0) return refused(err, path, "cannot create", errno);
    enum nnv_status status = write_and_close(fd, data, size, true, path, err);
    if (status == NNV_OK && rename(temporary, path) != 0) status = refused(err, path, "cannot replace", errno);
    if (status != NNV_OK) unlink(temporary);
    free(temporary);
    return status;
}

enum nnv_status nnv_file_create(const char *path, const void *data, size_t size, struct nnv_err *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return refused(err, path, "cannot create", errno);
    return write_and_close(fd, data, size, false, path, err);
}

/* ------------------------------------------------------------------ folders */

static enum nnv_status make_one(const char *path, struct nnv_err *err) {
    struct stat st;
    if (mkdir(path, 0777) == 0) return NNV_OK;
    int number = errno;
    if (stat(path, &st) != 0) return refused(err, path, "cannot create the folder", number);
    if (!S_ISDIR(st.st_mode)) return refused(err, path, "cannot create the folder", EEXIST);
    return NNV_OK;
}

enum nnv_status nnv_file_write_text(const char *folder, const char *name, const struct nnv_text *text,
                                    struct nnv_err *err) {
    struct nnv_text path = {0};
    if (folder != NULL) nnv_text_add_path(&path, folder, name);
    const enum nnv_status s =
        path.failed || text->failed
            ? nnv_fail(err, NNV_NO_MEMORY, "out of memory for %s", name)
            : nnv_file_write(folder != NULL ? path.data : name, text->data ? text->data : "", text->len, err);
    nnv_text_free(&path);
    return s;
}

enum nnv_status nnv_file_mkdir(const char *path, struct nnv_err *err) {
    char *copy = strdup(path);
    if (!copy) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    enum nnv_status status = NNV_OK;
    for (char *p = copy; *p && status == NNV_OK; p++) {
        if (p == copy || *p != '/' || p[-1] == '/') continue;
        *p = '\0';
        status = make_one(copy, err);
        *p = '/';
    }
    if (status == NNV_OK) status = make_one(copy, err);
    free(copy);
    return status;
}

struct listing {
    const char *const *suffixes;
    char **paths;
    size_t count, cap;
    struct nnv_err *err;
};

static bool wanted(const char *path, const char *const *suffixes) {
    size_t n = strlen(path);
    for (; *suffixes; suffixes++) {
        size_t k = strlen(*suffixes);
        if (k <= n && strcmp(path + n - k, *suffixes) == 0) return true;
    }
    return false;
}

static enum nnv_status add_path(struct listing *l, const char *path) {
    if (!wanted(path, l->suffixes)) return NNV_OK;
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        char **p = reallocarray(l->paths, cap, sizeof *p);
        if (!p) return nnv_fail(l->err, NNV_NO_MEMORY, "%s: out of memory", path);
        l->paths = p;
        l->cap = cap;
    }
    char *copy = strdup(path);
    if (!copy) return nnv_fail(l->err, NNV_NO_MEMORY, "%s: out of memory", path);
    l->paths[l->count++] = copy;
    return NNV_OK;
}

static enum nnv_status walk(struct listing *l, const char *folder, int depth);

/* One entry of a folder. Links to files are followed, links to folders are not: they may form a circle. */
static enum nnv_status visit(struct listing *l, const char *folder, const char *name, int depth) {
    char *path = NULL;
    size_t n = strlen(folder);
    if (asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0)
        return nnv_fail(l->err, NNV_NO_MEMORY, "%s: out of memory", folder);
    struct stat st, target;
    enum nnv_status status = NNV_OK;
    if (lstat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            status = walk(l, path, depth + 1);
        else if (stat(path, &target) == 0 && S_ISREG(target.st_mode))
            status = add_path(l, path);
    }
    free(path);
    return status;
}

static enum nnv_status walk(struct listing *l, const char *folder, int depth) {
    if (depth > DEEPEST_FOLDER)
        return nnv_fail(l->err, NNV_INVALID, "%s: folders are nested more than %d deep", folder, DEEPEST_FOLDER);
    DIR *dir = opendir(folder);
    if (!dir) return unreadable(l->err, folder, "cannot open the folder", errno);
    enum nnv_status status = NNV_OK;
    const struct dirent *e;
    while (status == NNV_OK && (errno = 0, e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) status = visit(l, folder, e->d_name, depth);
    if (status == NNV_OK && errno) status = refused(l->err, folder, "cannot read the folder", errno);
    closedir(dir);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

enum nnv_status nnv_file_list(const char *path, const char *const *suffixes, char ***paths, size_t *count,
                              struct nnv_err *err) {
    struct listing l = {.suffixes = suffixes, .err = err};
    struct stat st;
    if (stat(path, &st) != 0) return unreadable(err, path, "cannot open", errno);
    enum nnv_status status = S_ISDIR(st.st_mode) ? walk(&l, path, 0) : add_path(&l, path);
    if (status != NNV_OK) {
        nnv_file_list_free(l.paths, l.count);
        return status;
    }
    if (l.count) qsort(l.paths, l.count, sizeof *l.paths, by_name);
    *paths = l.paths;
    *count = l.count;
    return NNV_OK;
}

void nnv_file_list_free(char **paths, size_t count) {
    for (size_t i = 0; i < count; i++) free(paths[i]);
    free(paths);
}
