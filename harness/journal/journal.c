/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/stream.h"
#include "base/text.h"

static const uint64_t SYNC_NS = 50000000;
static const char begins[] = "{\"nnvts\":"; /* every journal of nnvts */

enum { LOCK_ATTEMPTS = 100 };

/** folder/name, malloc'ed. */
static char *path_of(const struct nnv_journal *j, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", j->folder, name) < 0 ? NULL : path;
}

static enum nnv_status failed(const struct nnv_journal *j, const char *what, struct nnv_err *err) {
    const char *remedy =
        errno == ENOSPC || errno == EDQUOT ? " (free some space; --resume goes on where it ended)" : "";
    return nnv_fail(err, NNV_IO, "%s/journal.jsonl: %s: %s%s", j->folder, what, strerror(errno), remedy);
}

/* ------------------------------------------------------------------ opening */

/** Waits a moment for workers of a killed run that are about to die. */
static enum nnv_status lock(struct nnv_journal *j, struct nnv_err *err) {
    j->lock = open(j->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->lock < 0) return nnv_fail(err, NNV_IO, "%s: cannot open the folder: %s", j->folder, strerror(errno));
    for (int i = 0; flock(j->lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR) return NNV_OK; /* a file system without locks */
        if (i == LOCK_ATTEMPTS)
            return nnv_fail(err, NNV_INVALID, "%s: another run writes to this folder (choose another by --out)",
                            j->folder);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return NNV_OK;
}

/** Opens the journal if there is one; it must be empty or nnvts's. */
static enum nnv_status open_file(struct nnv_journal *j, bool *exists, struct nnv_err *err) {
    char head[sizeof begins];
    struct stat s;
    j->file = openat(j->lock, "journal.jsonl", O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (j->file < 0 && errno == ENOENT) return NNV_OK;
    if (j->file < 0 || fstat(j->file, &s) != 0) return failed(j, "cannot open", err);
    ssize_t n = S_ISREG(s.st_mode) ? pread(j->file, head, sizeof head - 1, 0) : -1;
    if (n != 0 && (n != (ssize_t)sizeof head - 1 || memcmp(head, begins, sizeof head - 1) != 0))
        return nnv_fail(err, NNV_INVALID, "%s/journal.jsonl: not a journal of nnvts (choose another folder by --out)",
                        j->folder);
    *exists = n > 0;
    return NNV_OK;
}

enum nnv_status nnv_journal_open(const char *folder, struct nnv_journal *j, bool *exists, struct nnv_err *err) {
    *exists = false;
    j->folder = strdup(folder);
    if (j->folder == NULL) return nnv_no_memory(err);
    enum nnv_status st = nnv_file_mkdir(folder, err);
    if (st == NNV_OK) st = lock(j, err);
    if (st == NNV_OK) st = open_file(j, exists, err);
    return st;
}

void nnv_journal_close(struct nnv_journal *j) {
    if (j->file >= 0) close(j->file);
    if (j->lock >= 0) close(j->lock);
    free(j->folder);
    *j = NNV_JOURNAL_NONE;
}

/* ----------------------------------------------------------------- clearing */

static bool ends_with(const char *s, const char *suffix) {
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && strcmp(s + n - k, suffix) == 0;
}

/** Removes what nnvts wrote to dumps; a folder that holds more stays. */
static void clear_dumps(const struct nnv_journal *j) {
    static const char *const suffixes[] = {".json", ".mod.py", ".dot", ".c", ".tmp"};
    int fd = openat(j->lock, "dumps", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0) close(fd);
        return;
    }
    const struct dirent *e;
    while ((e = readdir(dir)) != NULL)
        for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
            if (ends_with(e->d_name, suffixes[i])) unlinkat(fd, e->d_name, 0);
    closedir(dir);
    unlinkat(j->lock, "dumps", AT_REMOVEDIR);
}

enum nnv_status nnv_journal_clear(struct nnv_journal *j, struct nnv_err *err) {
    static const char *const results[] = {"cases.tsv",   "selection.tsv",  "summary.json",  "junit.xml",
                                          "report.html", "explained.json", "outcomes.json", "flakes.json"};
    /* Empty, it still says whose folder this is, but not that anything was run. */
    if (ftruncate(j->file, 0) != 0) return failed(j, "cannot empty it", err);
    clear_dumps(j);
    unlinkat(j->lock, "baseline.json", 0); /* of that run, not of the next */
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (unlinkat(j->lock, results[i], 0) != 0 && errno != ENOENT)
            return nnv_fail(err, NNV_IO, "%s/%s: cannot remove: %s", j->folder, results[i], strerror(errno));
    return NNV_OK;
}

/* ---------------------------------------------------------------- beginning */

enum nnv_status nnv_journal_cases(const struct nnv_journal *j, const char *name, const struct nnv_case *cases,
                                  size_t count, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct nnv_stream file = NNV_STREAM_NONE;
    char *path = path_of(j, name);
    enum nnv_status st = path == NULL ? nnv_no_memory(err) : nnv_stream_open(&file, path, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const struct nnv_case *c = &cases[i];
        const char *field[] = {c->name, c->suite, c->op, c->type, c->tags};
        nnv_text_clear(&t);
        for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
            if (k > 0) nnv_text_add(&t, "\t");
            nnv_text_add(&t, field[k]);
        }
        nnv_text_add(&t, "\n");
        st = t.failed ? nnv_no_memory(err) : nnv_stream_add(&file, t.data, t.len, err);
    }
    if (st == NNV_OK) st = nnv_stream_end(&file, err);
    nnv_stream_drop(&file);
    free(path);
    nnv_text_free(&t);
    return st;
}

enum nnv_status nnv_journal_begin(struct nnv_journal *j, const char *header, struct nnv_err *err) {
    struct nnv_text line = {0};
    nnv_text_add(&line, header);
    nnv_text_add(&line, "\n");
    char *path = path_of(j, "journal.jsonl");
    enum nnv_status st = line.failed || path == NULL ? nnv_no_memory(err) : NNV_OK;
    if (st == NNV_OK) st = nnv_file_write(path, line.data, line.len, err);
    if (st == NNV_OK && path != NULL) {
        if (j->file >= 0) close(j->file);
        j->file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
        if (j->file < 0) st = failed(j, "cannot open", err);
    }
    j->size = line.len;
    free(path);
    nnv_text_free(&line);
    return st;
}

/* ---------------------------------------------------------------- appending */

enum nnv_status nnv_journal_append(struct nnv_journal *j, const char *line, size_t n, bool urgent,
                                   struct nnv_err *err) {
    char small[4096], *whole = n < sizeof small ? small : malloc(n + 1);
    if (whole == NULL) return nnv_no_memory(err);
    memcpy(whole, line, n);
    whole[n] = '\n';
    enum nnv_status st = nnv_write_all(j->file, whole, n + 1, "", NULL);
    if (st != NNV_OK) st = failed(j, "cannot write", err);
    if (whole != small) free(whole);
    if (st == NNV_OK) {
        j->size += n + 1;
        j->lines++;
        j->dirty = true;
        j->urgent = j->urgent || urgent;
    } else if (ftruncate(j->file, (off_t)j->size) != 0) {
        nnv_at(err, st, "with a cut last line"); /* which readers ignore */
    }
    return st;
}

enum nnv_status nnv_journal_tend(struct nnv_journal *j, bool all, struct nnv_err *err) {
    if (!j->dirty) return NNV_OK;
    uint64_t now = nnv_now_ns();
    if (!all && !j->urgent && now - j->synced_ns < SYNC_NS) return NNV_OK;
    if (fdatasync(j->file) != 0 && errno != EINVAL && errno != EROFS) return failed(j, "cannot sync", err);
    j->synced_ns = nnv_now_ns();
    j->dirty = j->urgent = false;
    return NNV_OK;
}
