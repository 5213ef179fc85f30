/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/folder.h"
#include "base/text.h"
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
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST_FOLDER = 64, BUFFER = 1 << 18 };

/* A path that names nothing fit is the caller's mistake, not the machine's. */
static enum nnv_status unfit(struct nnv_err *err, const char *path, const char *what, int number) {
    bool wrong_path = number == ENOENT || number == ENOTDIR || number == EISDIR || number == EEXIST ||
                      number == EACCES || number == EROFS || number == ELOOP || number == ENAMETOOLONG;
    return nnv_path_refused(err, wrong_path ? NNV_INVALID : NNV_IO, path, what, number);
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
            status = unfit(err, path, "cannot read", errno);
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
    int fd = nnv_folder_open(path, O_RDONLY);
    if (fd < 0) return unfit(err, path, "cannot open", errno);
    enum nnv_status status = read_all(fd, path, limit, data, size, err);
    close(fd);
    return status;
}

enum nnv_status nnv_file_load(const char *path, size_t limit, struct nnv_arena *arena, char **data, size_t *size,
                              struct nnv_err *err) {
    char *read = NULL;
    const enum nnv_status st = nnv_file_read(path, limit, &read, size, err);
    if (st != NNV_OK) return st;
    *data = nnv_arena_copy(arena, read, *size + 1);
    free(read);
    return *data ? NNV_OK : nnv_no_memory(err);
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
            return nnv_path_refused(err, NNV_IO, name, "cannot write", errno);
        }
    }
    return NNV_OK;
}

int nnv_file_temporary(int folder, const char *name, char **temporary) {
    enum { ATTEMPTS = 8 };
    int fd = -1;
    *temporary = NULL;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) < 0) random = (uint64_t)getpid();
        free(*temporary);
        if (asprintf(temporary, "%s.%016" PRIx64 ".tmp", name, random) < 0) {
            *temporary = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = openat(folder, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    const int number = errno;
    if (fd < 0) {
        free(*temporary);
        *temporary = NULL;
    }
    errno = number;
    return fd;
}

/* ---------------------------------------------------------- piece by piece */

/** What NNV_FILE_STDOUT is. */
static int standard_output = STDOUT_FILENO;

bool nnv_file_is_stdout(const char *path) {
    static const char *const names[] = {"-", NNV_FILE_STDOUT, "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0) return true;
    return false;
}

enum nnv_status nnv_file_take_stdout(struct nnv_err *err) {
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        const int number = errno;
        if (fd >= 0) close(fd);
        return nnv_path_refused(err, NNV_IO, NNV_FILE_STDOUT, "cannot write", number);
    }
    standard_output = fd;
    return NNV_OK;
}

/** What is no file of its own is written to as it is: a pipe, a terminal, /dev/fd/3 whatever it leads to. */
static bool is_written_through(const struct stat *st, const char *path) {
    return !S_ISREG(st->st_mode) || strncmp(path, "/dev/", 5) == 0;
}

/** Opens what the stream writes to; standard output is where it is, another descriptor would begin at its offset 0. */
static int open_for(struct nnv_stream *s) {
    struct stat st;
    const char *name;
    char *temporary;
    bool kept;
    if (strcmp(s->path, NNV_FILE_STDOUT) == 0) return fcntl(standard_output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    s->folder = nnv_folder_of(s->path, &name, &kept);
    if (s->folder < 0) return -1;
    s->name = name;
    if (!kept && fstatat(s->folder, name, &st, 0) == 0 && is_written_through(&st, s->path))
        return openat(s->folder, name, O_WRONLY | O_CLOEXEC);
    const int fd = nnv_file_temporary(s->folder, name, &temporary);
    s->temporary = temporary;
    return fd;
}

enum nnv_status nnv_stream_open(struct nnv_stream *s, const char *path, struct nnv_err *err) {
    char *own = strdup(path), *buffer = malloc(BUFFER);
    *s = (struct nnv_stream){.fd = -1, .folder = -1, .path = own, .buffer = buffer};
    if (own == NULL || buffer == NULL) {
        nnv_stream_drop(s);
        return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    }
    s->fd = open_for(s);
    if (s->fd >= 0) return NNV_OK;
    const int number = errno;
    nnv_stream_drop(s);
    return nnv_path_refused(err, NNV_IO, path, "cannot create", number);
}

static enum nnv_status flush(struct nnv_stream *s, struct nnv_err *err) {
    const size_t n = s->used;
    s->used = 0;
    return nnv_write_all(s->fd, s->buffer, n, s->path, err);
}

enum nnv_status nnv_stream_add(struct nnv_stream *s, const void *data, size_t n, struct nnv_err *err) {
    if (n > BUFFER - s->used) {
        enum nnv_status status = flush(s, err);
        if (status != NNV_OK || n > BUFFER)
            return status == NNV_OK ? nnv_write_all(s->fd, data, n, s->path, err) : status;
    }
    if (n > 0) memcpy(s->buffer + s->used, data, n);
    s->used += n;
    return NNV_OK;
}

enum nnv_status nnv_stream_end(struct nnv_stream *s, struct nnv_err *err) {
    enum nnv_status status = flush(s, err);
    if (status == NNV_OK && s->temporary != NULL && !s->unsynced && fsync(s->fd) != 0)
        status = nnv_path_refused(err, NNV_IO, s->path, "cannot sync", errno);
    const int fd = s->fd;
    s->fd = -1;
    if (close(fd) != 0 && status == NNV_OK) status = nnv_path_refused(err, NNV_IO, s->path, "cannot write", errno);
    if (status == NNV_OK && s->temporary != NULL) {
        if (renameat(s->folder, s->temporary, s->folder, s->name) != 0)
            status = nnv_path_refused(err, NNV_IO, s->path, "cannot replace", errno);
        else
            *s->temporary = '\0';
    }
    nnv_stream_drop(s);
    return status;
}

void nnv_stream_drop(struct nnv_stream *s) {
    if (s->fd >= 0) close(s->fd);
    if (s->temporary != NULL && *s->temporary != '\0') unlinkat(s->folder, s->temporary, 0);
    if (s->folder >= 0) close(s->folder);
    free(s->path);
    free(s->temporary);
    free(s->buffer);
    *s = NNV_STREAM_NONE;
}

static enum nnv_status write_whole(const char *path, const void *data, size_t size, bool synced, struct nnv_err *err) {
    struct nnv_stream s = NNV_STREAM_NONE;
    enum nnv_status status = nnv_stream_open(&s, path, err);
    s.unsynced = !synced;
    if (status == NNV_OK) status = nnv_write_all(s.fd, data, size, path, err);
    if (status == NNV_OK) status = nnv_stream_end(&s, err);
    nnv_stream_drop(&s);
    return status;
}

enum nnv_status nnv_file_write(const char *path, const void *data, size_t size, struct nnv_err *err) {
    return write_whole(path, data, size, true, err);
}

enum nnv_status nnv_file_create(const char *path, const void *data, size_t size, struct nnv_err *err) {
    return write_whole(path, data, size, false, err);
}

/* ------------------------------------------------------------------ folders */

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

/* Writes nothing, but where it could. */
static enum nnv_status try_in(const char *folder, const char *path, struct nnv_err *err) {
    char *temporary = NULL;
    const int at = nnv_folder_open(folder, O_PATH | O_DIRECTORY);
    const int fd = at < 0 ? -1 : nnv_file_temporary(at, "nnvts", &temporary), number = errno;
    if (fd >= 0) unlinkat(at, temporary, 0);
    if (fd >= 0) close(fd);
    if (at >= 0) close(at);
    free(temporary);
    return fd >= 0 ? NNV_OK : unfit(err, path, "cannot create", number);
}

enum nnv_status nnv_file_try(const char *path, bool folder, struct nnv_err *err) {
    struct stat st;
    const bool there = stat(path, &st) == 0;
    if (there && folder && !S_ISDIR(st.st_mode)) return unfit(err, path, "cannot create the folder", EEXIST);
    if (there && !folder && S_ISDIR(st.st_mode)) return unfit(err, path, "cannot write", EISDIR);
    if (there && !folder && is_written_through(&st, path)) return NNV_OK;
    if (there && folder) return try_in(path, path, err);
    char *up = strdup(*path ? path : ".");
    if (!up) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    do {
        char *slash = strrchr(up, '/');
        if (!slash)
            snprintf(up, 2, ".");
        else
            slash[slash == up] = '\0';
    } while (folder && stat(up, &st) != 0 && errno == ENOENT && strcmp(up, "/") != 0 && strcmp(up, ".") != 0);
    const enum nnv_status status = try_in(up, path, err);
    free(up);
    return status;
}

struct listing {
    const char *const *suffixes;
    char **paths;
    size_t count, cap;
    struct nnv_err *err;
};

static bool wanted(const char *path, const char *const *suffixes) {
    for (; *suffixes; suffixes++)
        if (nnv_ends_with(path, *suffixes)) return true;
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
    if (!dir) return unfit(l->err, folder, "cannot open the folder", errno);
    enum nnv_status status = NNV_OK;
    const struct dirent *e;
    while (status == NNV_OK && (errno = 0, e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) status = visit(l, folder, e->d_name, depth);
    if (status == NNV_OK && errno) status = nnv_path_refused(l->err, NNV_IO, folder, "cannot read the folder", errno);
    closedir(dir);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

enum nnv_status nnv_file_list(const char *path, const char *const *suffixes, char ***paths, size_t *count,
                              struct nnv_err *err) {
    struct listing l = {.suffixes = suffixes, .err = err};
    struct stat st;
    if (stat(path, &st) != 0) return unfit(err, path, "cannot open", errno);
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

bool nnv_file_line(const char *path, const char *key, char *line, size_t room) {
    const size_t n = strlen(key);
    bool found = false;
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOMEM) nnv_text_lack();
    while (f && !found && fgets(line, (int)room, f)) found = strncmp(line, key, n) == 0;
    if (f) fclose(f);
    line[found ? strcspn(line, "\n") : 0] = '\0';
    if (found && n > 0) {
        const char *value = line + n + strspn(line + n, ": \t");
        memmove(line, value, strlen(value) + 1);
    }
    return *line != '\0';
}

bool nnv_file_of_program(char *path, size_t room) {
    const ssize_t n = readlink("/proc/self/exe", path, room - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

const char *nnv_file_temp(void) {
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int nnv_memory_file(const char *name, size_t bytes, unsigned seals) {
    int fd = memfd_create(name, MFD_CLOEXEC | (seals ? MFD_ALLOW_SEALING : 0));
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)bytes) == 0 && (!seals || fcntl(fd, F_ADD_SEALS, seals) == 0)) return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}
