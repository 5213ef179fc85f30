/* SPDX-License-Identifier: Apache-2.0 */
/** @file resume.c Reading back the journal of a run that did not come to its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "harness/journal/journal.h"
#include "harness/journal/reader.h"

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
    const char *end = s + strlen(s);
    while (s != NULL && s < end && (unsigned char)*s >= 0x20 && *s != 0x7f) s = nnv_utf8_next(s, end, NULL);
    return s == end;
}

enum nnv_status nnv_journal_check(const struct nnv_case *cases, size_t count, struct nnv_err *err) {
    struct nnv_map names = {0};
    if (count >= UINT32_MAX / 4) return nnv_fail(err, NNV_INVALID, "%zu cases are too many for one run", count);
    enum nnv_status st = number_names(&names, cases, count, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const struct nnv_case *c = &cases[i];
        if (*c->name == '\0' || !is_plain(c->name) || !is_plain(c->suite) || !is_plain(c->op) || !is_plain(c->type) ||
            !is_plain(c->tags))
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
    past->done[i] = true;
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
