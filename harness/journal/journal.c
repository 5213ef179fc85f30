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
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "harness/journal/reader.h"

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
    j->lock = nnv_folder_open(j->folder, O_RDONLY | O_DIRECTORY);
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

static int open_appending(const struct nnv_journal *j) {
    return openat(j->lock, "journal.jsonl", O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/** Opens the journal if there is one; it must be empty or nnvts's. */
static enum nnv_status open_file(struct nnv_journal *j, bool *exists, struct nnv_err *err) {
    char head[sizeof begins];
    struct stat s;
    j->file = open_appending(j);
    if (j->file < 0 && errno == ENOENT) return NNV_OK;
    if (j->file < 0 || fstat(j->file, &s) != 0) return failed(j, "cannot open", err);
    ssize_t n = S_ISREG(s.st_mode) ? pread(j->file, head, sizeof head - 1, 0) : -1;
    if (n != 0 && (n != (ssize_t)sizeof head - 1 || memcmp(head, begins, sizeof head - 1) != 0))
        return nnv_fail(err, NNV_INVALID, "%s/journal.jsonl: not a journal of nnvts (choose another folder by --out)",
                        j->folder);
    *exists = n > 0;
    return NNV_OK;
}

/** What somebody else has put into a folder that never was a run's is not overwritten. */
static enum nnv_status spare_others(const struct nnv_journal *j, struct nnv_err *err) {
    static const char *const reports[] = {"report.html", "junit.xml", "summary.json"};
    if (faccessat(j->lock, "cases.tsv", F_OK, 0) == 0) return NNV_OK; /* a run that was killed as it began */
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (faccessat(j->lock, reports[i], F_OK, 0) == 0)
            return nnv_fail(err, NNV_INVALID,
                            "%s holds %s, but no run: it would be overwritten (choose another folder with --out)",
                            j->folder, reports[i]);
    return NNV_OK;
}

enum nnv_status nnv_journal_open(const char *folder, struct nnv_journal *j, bool *exists, struct nnv_err *err) {
    *exists = false;
    j->folder = strdup(folder);
    if (j->folder == NULL) return nnv_no_memory(err);
    enum nnv_status st = nnv_folder_make(folder, err);
    if (st == NNV_OK) st = lock(j, err);
    if (st == NNV_OK) st = open_file(j, exists, err);
    if (st == NNV_OK && j->file < 0) st = spare_others(j, err);
    return st;
}

void nnv_journal_close(struct nnv_journal *j) {
    if (j->file >= 0) close(j->file);
    if (j->lock >= 0) close(j->lock);
    free(j->folder);
    *j = NNV_JOURNAL_NONE;
}

enum nnv_status nnv_journal_set_aside(struct nnv_journal *j, struct nnv_err *err) {
    struct nnv_journal previous = NNV_JOURNAL_NONE;
    struct nnv_text name = {0};
    bool exists;
    nnv_folder_previous(j->folder, &name);
    enum nnv_status st = name.failed ? nnv_no_memory(err) : nnv_journal_open(name.data, &previous, &exists, err);
    if (st == NNV_OK) st = nnv_folder_set_aside(j->folder, err);
    if (st == NNV_OK) { /* the folders have changed their names, not their descriptors */
        const struct nnv_journal kept = *j;
        j->lock = previous.lock;
        j->file = previous.file;
        previous.lock = kept.lock;
        previous.file = kept.file;
    }
    nnv_journal_close(&previous);
    nnv_text_free(&name);
    return st;
}

/* ----------------------------------------------------------------- clearing */

const char *const nnv_dump_files[NNV_DUMP_FILES] = {".json", ".mod.py", ".dot", ".c"};

/** Removes what nnvts wrote to dumps; a folder that holds more stays. */
static void clear_dumps(const struct nnv_journal *j) {
    int fd = openat(j->lock, "dumps", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0) close(fd);
        return;
    }
    const struct dirent *e;
    while ((e = readdir(dir)) != NULL)
        for (size_t i = 0; i <= NNV_DUMP_FILES; i++)
            if (nnv_ends_with(e->d_name, i < NNV_DUMP_FILES ? nnv_dump_files[i] : ".tmp")) unlinkat(fd, e->d_name, 0);
    closedir(dir);
    unlinkat(j->lock, "dumps", AT_REMOVEDIR);
}

enum nnv_status nnv_journal_clear(struct nnv_journal *j, struct nnv_err *err) {
    static const char *const results[] = {"cases.tsv",   "selection.tsv", "summary.json",   "junit.xml",
                                          "report.html", "clauses.json",  "explained.json", "outcomes.json",
                                          "flakes.json", "coverage.json"};
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

/** Neighbours in a list mostly share their strings. */
static bool ends_alike(const struct nnv_case *a, const struct nnv_case *b) {
    return a->suite == b->suite && a->op == b->op && a->type == b->type && a->tags == b->tags;
}

/** What stands behind a case's name in a list. */
static void set_rest(const struct nnv_case *c, struct nnv_text *rest) {
    const char *const field[] = {c->suite, c->op, c->type, c->tags};
    nnv_text_clear(rest);
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
        nnv_text_add(rest, "\t");
        nnv_text_add(rest, field[k]);
    }
    nnv_text_add(rest, "\n");
}

enum nnv_status nnv_journal_cases(const struct nnv_journal *j, const char *name, const struct nnv_case *cases,
                                  size_t count, struct nnv_err *err) {
    struct nnv_text rest = {0};
    struct nnv_stream file = NNV_STREAM_NONE;
    char *path = path_of(j, name);
    enum nnv_status st = path == NULL ? nnv_no_memory(err) : nnv_stream_open(&file, path, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        if (i == 0 || !ends_alike(&cases[i], &cases[i - 1])) set_rest(&cases[i], &rest);
        st = rest.failed ? nnv_no_memory(err) : nnv_stream_add(&file, cases[i].name, strlen(cases[i].name), err);
        if (st == NNV_OK) st = nnv_stream_add(&file, rest.data, rest.len, err);
    }
    if (st == NNV_OK) st = nnv_stream_end(&file, err);
    nnv_stream_drop(&file);
    free(path);
    nnv_text_free(&rest);
    return st;
}

enum nnv_status nnv_journal_begin(struct nnv_journal *j, const char *header, struct nnv_err *err) {
    struct nnv_text line = {0};
    nnv_text_add(&line, header);
    nnv_text_add(&line, "\n");
    enum nnv_status st = nnv_file_write_text(j->folder, "journal.jsonl", &line, err);
    if (st == NNV_OK) {
        if (j->file >= 0) close(j->file);
        j->file = open_appending(j);
        if (j->file < 0) st = failed(j, "cannot open", err);
    }
    j->size = line.len;
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

/** The numbers of the cases by their names. */
static enum nnv_status number_names(struct nnv_map *names, const struct nnv_case *cases, size_t count,
                                    struct nnv_err *err) {
    if (!nnv_map_reserve(names, count)) return nnv_no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (nnv_map_add(names, cases[i].name) != i)
            return nnv_fail(err, NNV_INVALID, "two cases have the name '%s'", cases[i].name);
    return NNV_OK;
}

/** UTF-8 without control characters: tabs and newlines would break cases.tsv, others a terminal. */
static bool is_plain(const char *s) {
    while (*s >= 0x20 && *s < 0x7f) s++; /* most are ASCII to their end */
    const char *end = s + strlen(s);
    while (s != NULL && s < end && (unsigned char)*s >= 0x20 && *s != 0x7f) s = nnv_utf8_next(s, end, NULL);
    return s == end;
}

/** Neighbours share most of their strings: what the case before had was looked at with it. */
static bool is_plain_too(const char *s, const char *before) { return s == before || is_plain(s); }

enum nnv_status nnv_journal_check(const struct nnv_case *cases, size_t count, struct nnv_err *err) {
    struct nnv_map names = {0};
    if (count >= UINT32_MAX / 4) return nnv_fail(err, NNV_INVALID, "%zu cases are too many for one run", count);
    enum nnv_status st = number_names(&names, cases, count, err);
    static const struct nnv_case none;
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const struct nnv_case *c = &cases[i], *before = i > 0 ? &cases[i - 1] : &none;
        if (*c->name == '\0' || !is_plain(c->name) || !is_plain_too(c->suite, before->suite) ||
            !is_plain_too(c->op, before->op) || !is_plain_too(c->type, before->type) ||
            !is_plain_too(c->tags, before->tags))
            st = nnv_fail(err, NNV_INVALID,
                          "case %zu of the list: its name, operation, type or tags are empty, hold control characters "
                          "or are not UTF-8",
                          i + 1);
    }
    nnv_map_free(&names);
    return st;
}

/* -------------------------------------------------------------------- resuming */

static enum nnv_status check_header(const json_t *then, const char *header, struct nnv_err *err) {
    json_error_t why;
    json_t *now = nnv_record_parse(header, strlen(header), &why);
    struct nnv_difference d = {0};
    enum nnv_status st = now == NULL ? nnv_no_memory(err) : NNV_OK;
    if (st == NNV_OK && nnv_headers_differ(then, now, false, &d))
        st = d.a.failed || d.b.failed
                 ? nnv_no_memory(err)
                 : nnv_fail(err, NNV_INVALID,
                            "--resume: %s differs: '%s' in the journal, '%s' now (%s, or run without --resume)", d.what,
                            d.a.data, d.b.data, d.remedy);
    nnv_text_free(&d.a);
    nnv_text_free(&d.b);
    json_decref(now);
    return st;
}

/** Takes the record that was read last. */
static enum nnv_status take(const struct nnv_journal_reader *r, const struct nnv_map *names,
                            struct nnv_journal_past *past, struct nnv_err *err) {
    const struct nnv_line *l = &r->at;
    const uint32_t i = nnv_map_find(names, l->name);
    if (i == NNV_MAP_NONE || past->done[i])
        return nnv_fail(err, NNV_INVALID, "%s:%zu: %s: '%s'", r->lines.path, r->lines.number,
                        i == NNV_MAP_NONE ? "no such case" : "a second record", l->name);
    past->not_run += l->verdict == NNVTS_NOTRUN;
    past->done[i] = l->verdict != NNVTS_NOTRUN;
    past->dumps += l->dump != NULL;
    /* Workers of the run that goes on are numbered behind those before. */
    if (l->worker > past->workers && l->worker < UINT32_MAX / 2) past->workers = l->worker;
    return NNV_OK;
}

/** Reads the records; *good is the end of the last one. What is behind it is a cut end, unless a record follows. */
static enum nnv_status read_records(struct nnv_journal_reader *r, const struct nnv_map *names, struct nnv_journal *j,
                                    struct nnv_journal_past *past, struct nnv_err *err) {
    size_t damaged = 0;
    bool more = true;
    for (;;) {
        struct nnv_err why = {0};
        enum nnv_status st = nnv_reader_next(r, &more, &why);
        if (st == NNV_OK && !more) return NNV_OK;
        if (st == NNV_INVALID && r->damaged) {
            if (damaged == 0) damaged = r->lines.number;
            continue;
        }
        if (damaged > 0)
            return nnv_fail(err, NNV_INVALID, "%s:%zu: damaged (run without --resume)", r->lines.path, damaged);
        if (st == NNV_OK) st = take(r, names, past, &why);
        if (st != NNV_OK) {
            *err = why;
            return st;
        }
        j->lines++;
        j->size = (uint64_t)r->lines.end;
    }
}

/** Takes the records of cases that were not run out of the journal. */
static enum nnv_status forget_not_run(struct nnv_journal *j, struct nnv_err *err) {
    struct nnv_journal_reader r = {0};
    struct nnv_stream file = NNV_STREAM_NONE;
    bool more = true;
    char *path = path_of(j, "journal.jsonl");
    enum nnv_status st = path == NULL ? nnv_no_memory(err) : nnv_reader_open(j->folder, &r, err);
    if (st == NNV_OK) st = nnv_stream_open(&file, path, err);
    j->lines = 0;
    j->size = 0;
    for (bool first = true; st == NNV_OK && more; first = false) {
        if (!first && (st = nnv_reader_next(&r, &more, err)) != NNV_OK) break;
        if (!more || (!first && r.at.verdict == NNVTS_NOTRUN)) continue;
        st = nnv_stream_add(&file, r.lines.line, r.lines.bytes, err);
        if (st == NNV_OK) st = nnv_stream_add(&file, "\n", 1, err);
        j->lines += !first;
        j->size += r.lines.bytes + 1;
    }
    if (st == NNV_OK) st = nnv_stream_end(&file, err);
    nnv_stream_drop(&file);
    nnv_reader_close(&r);
    const int fd = st == NNV_OK ? open_appending(j) : -1;
    if (st == NNV_OK && fd < 0) st = failed(j, "cannot open", err);
    if (fd >= 0) {
        close(j->file);
        j->file = fd;
    }
    free(path);
    return st;
}

enum nnv_status nnv_journal_resume(struct nnv_journal *j, const char *header, const struct nnv_case *cases,
                                   size_t count, struct nnv_journal_past *past, struct nnv_err *err) {
    struct nnv_journal_reader r = {0};
    struct nnv_map names = {0};
    *past = (struct nnv_journal_past){.done = calloc(count + 1, sizeof *past->done)};
    enum nnv_status st = past->done == NULL ? nnv_no_memory(err) : number_names(&names, cases, count, err);
    if (st == NNV_OK && (st = nnv_reader_open(j->folder, &r, err)) != NNV_OK)
        st = nnv_at(err, st, "cannot resume (run without --resume)");
    j->size = (uint64_t)r.lines.end;
    if (st == NNV_OK) st = check_header(r.header, header, err);
    if (st == NNV_OK) st = read_records(&r, &names, j, past, err);
    if (st == NNV_OK && ftruncate(j->file, (off_t)j->size) != 0)
        st = nnv_fail(err, NNV_IO, "%s: cannot remove the cut last line: %s", r.lines.path, strerror(errno));
    if (st == NNV_OK && past->not_run > 0) st = forget_not_run(j, err);
    if (st != NNV_OK) nnv_journal_past_free(past);
    nnv_reader_close(&r);
    nnv_map_free(&names);
    return st;
}

enum nnv_status nnv_journal_tell(const struct nnv_journal *j, const struct nnv_run_observer *observer,
                                 struct nnv_err *err) {
    struct nnv_journal_reader r;
    bool more = true;
    enum nnv_status st = nnv_reader_open(j->folder, &r, err);
    if (st != NNV_OK) return st;
    if (observer->header != NULL) observer->header(observer->context, r.lines.line);
    while ((st = nnv_reader_raw(&r, &more, err)) == NNV_OK && more)
        if (observer->record != NULL) observer->record(observer->context, r.lines.line);
    nnv_reader_close(&r);
    return st;
}

void nnv_journal_past_free(struct nnv_journal_past *past) {
    free(past->done);
    *past = (struct nnv_journal_past){0};
}
