/* SPDX-License-Identifier: Apache-2.0 */
/** @file resume.c Reading back the journal of a run that did not come to its end. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "harness/journal/expect.h"
#include "harness/journal/journal.h"
#include "harness/journal/record.h"
#include "harness/journal/line.h"

enum { LARGEST = 1 << 30 };

/* --------------------------------------------------------- cases by their names */

/** A hash table with open addressing: indices + 1 of the cases. */
struct names {
    const struct nnv_case *cases;
    uint32_t *slot;
    size_t mask;
};

/** The slot of the name, or the free one where it belongs. */
static uint32_t *slot_of(const struct names *n, const char *name) {
    size_t at = (size_t)nnv_hash_str(name) & n->mask;
    while (n->slot[at] != 0 && strcmp(n->cases[n->slot[at] - 1].name, name) != 0) at = (at + 1) & n->mask;
    return &n->slot[at];
}

static enum nnv_status names_make(struct names *n, const struct nnv_case *cases, size_t count, struct nnv_err *err) {
    size_t room = 16;
    while (room < count * 2) room *= 2;
    *n = (struct names){.cases = cases, .slot = calloc(room, sizeof *n->slot), .mask = room - 1};
    if (n->slot == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = slot_of(n, cases[i].name);
        if (*slot != 0) return nnv_fail(err, NNV_INVALID, "two cases have the name '%s'", cases[i].name);
        *slot = (uint32_t)i + 1;
    }
    return NNV_OK;
}

/** UTF-8 without control characters: tabs and newlines would break cases.tsv, others a terminal. */
static bool is_plain(const char *s) {
    const char *end = s + strlen(s);
    while (s != NULL && s < end && (unsigned char)*s >= 0x20 && *s != 0x7f) s = nnv_utf8_skip(s, end);
    return s == end;
}

enum nnv_status nnv_journal_check(const struct nnv_case *cases, size_t count, struct nnv_err *err) {
    struct names names = {0};
    if (count >= UINT32_MAX / 4) return nnv_fail(err, NNV_INVALID, "%zu cases are too many for one run", count);
    enum nnv_status st = names_make(&names, cases, count, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        const struct nnv_case *c = &cases[i];
        if (*c->name == '\0' || !is_plain(c->name) || !is_plain(c->suite) || !is_plain(c->op) || !is_plain(c->type) ||
            !is_plain(c->tags))
            st = nnv_fail(err, NNV_INVALID,
                          "case %zu of the list: its name, operation, type or tags are empty, hold control characters "
                          "or are not UTF-8",
                          i + 1);
    }
    free(names.slot);
    return st;
}

/* --------------------------------------------------------------- the same run */

/** Compares one member of the first line with what this run has. */
static enum nnv_status same(const char *what, const char *then, const char *now, const char *remedy,
                            struct nnv_err *err) {
    if (then != NULL && strcmp(then, now) == 0) return NNV_OK;
    return nnv_fail(err, NNV_INVALID,
                    "--resume: %s differs: '%s' in the journal, '%s' now (%s, or run without --resume)", what,
                    then != NULL ? then : "", now, remedy);
}

static const char *text_of(const json_t *object, const char *member, const char *instead) {
    const char *s = json_string_value(json_object_get(object, member));
    return s != NULL ? s : instead;
}

static enum nnv_status check_header(const json_t *header, const struct nnv_run_options *o,
                                    const struct nnv_driver_info *driver, struct nnv_err *err) {
    const struct nnv_run_config *config = o->config;
    const json_t *d = json_object_get(header, "driver"), *seed = json_object_get(header, "seed");
    char now[24], then[24] = "", selection[17];
    enum nnv_status st =
        same("the journal's format", text_of(header, "format", ""), "nnvts-journal/1", "it is of another version", err);
    if (st == NNV_OK) st = same("--driver", text_of(d, "argument", ""), config->driver, "give the same", err);
    if (st == NNV_OK)
        st = same("the driver's version", text_of(d, "version", ""), driver->version,
                  "verdicts of two versions don't mix", err);
    snprintf(now, sizeof now, "%" PRIu64, config->seed);
    if (json_is_integer(seed))
        snprintf(then, sizeof then, "%" JSON_INTEGER_FORMAT, json_integer_value(seed));
    else
        snprintf(then, sizeof then, "%s", json_is_string(seed) ? json_string_value(seed) : "");
    if (st == NNV_OK) st = same("--seed", then, now, "give the same", err);
    if (st == NNV_OK)
        st = same("--precision", text_of(header, "precision", ""), nnv_record_precision(config), "give the same", err);
    if (st == NNV_OK) st = same("--tier", text_of(header, "tier", ""), nnv_record_tier(config), "give the same", err);
    snprintf(now, sizeof now, "%" PRIu32, config->repeat > 1 ? config->repeat : 1);
    snprintf(then, sizeof then, "%" JSON_INTEGER_FORMAT,
             json_is_integer(json_object_get(header, "repeat")) ? json_integer_value(json_object_get(header, "repeat"))
                                                                : 1);
    if (st == NNV_OK) st = same("--repeat", then, now, "give the same", err);
    if (st == NNV_OK)
        st = same("--determinism", json_is_true(json_object_get(header, "determinism")) ? "on" : "off",
                  config->determinism != NNV_DETERMINISM_OFF ? "on" : "off", "give the same", err);
    if (o->expectations != NULL)
        nnv_expect_hash(o->expectations, selection);
    else
        *selection = '\0';
    if (st == NNV_OK)
        st = same("--expect or --strict", text_of(json_object_get(header, "expected"), "hash", ""), selection,
                  "give the same, or judge the finished run by nnvts report --expect", err);
    nnv_record_selection(o->cases, o->count, selection);
    if (st == NNV_OK)
        st = same("the selection of cases", text_of(header, "selection", ""), selection,
                  "give the same suites, filter, specs and shard", err);
    const uint32_t index = o->shard == NULL ? 0 : o->shard->index;
    snprintf(now, sizeof now, "%" PRIu32, index);
    snprintf(then, sizeof then, "%" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(json_object_get(header, "shard"), "index")));
    if (st == NNV_OK) st = same("the shard", then, now, "give the same", err);
    return st;
}

/* ------------------------------------------------------------------ the lines */

struct reading {
    struct nnv_journal *j;
    const struct nnv_run_options *o;
    const struct nnv_driver_info *driver;
    struct names names;
    struct nnv_journal_past *past;
    const char *text;
    size_t size;
    size_t good; /**< end of the last whole line that is JSON */
    size_t line; /**< its number */
};

static json_t *parse(const char *line, size_t n) { return json_loadb(line, n, JSON_ALLOW_NUL, NULL); }

/** Takes the record of a case. */
static enum nnv_status take_case(struct reading *r, const char *name, struct nnv_err *err) {
    uint32_t slot = *slot_of(&r->names, name);
    if (slot == 0)
        return nnv_fail(err, NNV_INVALID, "%s/journal.jsonl:%zu: no such case: '%s'", r->j->folder, r->line, name);
    if (r->past->done[slot - 1])
        return nnv_fail(err, NNV_INVALID, "%s/journal.jsonl:%zu: a second record of '%s'", r->j->folder, r->line, name);
    r->past->done[slot - 1] = true;
    r->j->lines++;
    return NNV_OK;
}

/** Workers of the run that goes on are numbered behind those before. */
static void see_worker(struct reading *r, uint64_t worker) {
    if (worker > r->past->workers && worker < UINT32_MAX / 2) r->past->workers = (uint32_t)worker;
}

/** Takes one line that is JSON. */
static enum nnv_status take(struct reading *r, const json_t *value, struct nnv_err *err) {
    if (r->line == 1) return check_header(value, r->o, r->driver, err);
    r->past->dumps += json_is_string(json_object_get(value, "dump"));
    const json_int_t worker = json_integer_value(json_object_get(value, "worker"));
    if (worker > 0) see_worker(r, (uint64_t)worker);
    return take_case(r, text_of(value, "case", ""), err);
}

/** Takes the line of n bytes if it can be read the quick way; *taken tells. */
static enum nnv_status take_quickly(struct reading *r, size_t n, bool *taken, struct nnv_err *err) {
    struct nnv_line l;
    char *line = r->past->text + r->good;
    *taken = r->line > 0 && nnv_line_scan(line, n, &l);
    if (!*taken) return NNV_OK;
    char *end = line + (l.name - line) + l.name_bytes;
    *end = '\0';
    r->line++;
    see_worker(r, l.worker);
    enum nnv_status st = take_case(r, l.name, err);
    *end = '"';
    return st;
}

/** True if a whole line that is JSON follows: then what comes before it is damage, not a cut end. */
static bool more_follows(const struct reading *r, size_t at) {
    while (at < r->size) {
        const char *newline = memchr(r->text + at, '\n', r->size - at);
        if (newline == NULL) return false;
        size_t n = (size_t)(newline - (r->text + at));
        json_t *value = parse(r->text + at, n);
        json_decref(value);
        if (value != NULL) return true;
        at += n + 1;
    }
    return false;
}

static enum nnv_status read_lines(struct reading *r, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    while (r->good < r->size && st == NNV_OK) {
        const char *newline = memchr(r->text + r->good, '\n', r->size - r->good);
        if (newline == NULL) break;
        size_t n = (size_t)(newline - (r->text + r->good));
        bool taken = false;
        st = take_quickly(r, n, &taken, err);
        if (st != NNV_OK) break;
        if (taken) {
            r->good += n + 1;
            continue;
        }
        json_t *value = parse(r->text + r->good, n);
        if (!json_is_object(value)) {
            json_decref(value);
            if (!more_follows(r, r->good + n + 1)) break;
            return nnv_fail(err, NNV_INVALID, "%s/journal.jsonl:%zu: damaged (run without --resume)", r->j->folder,
                            r->line + 1);
        }
        r->line++;
        st = take(r, value, err);
        json_decref(value);
        if (st == NNV_OK) r->good += n + 1;
    }
    if (st == NNV_OK && r->line == 0)
        st = nnv_fail(err, NNV_INVALID, "%s/journal.jsonl: no first line (run without --resume)", r->j->folder);
    return st;
}

void nnv_journal_tell(struct nnv_journal_past *past, const struct nnv_run_observer *observer) {
    for (size_t at = 0, line = 0; at < past->size; line++) {
        char *start = past->text + at, *newline = memchr(start, '\n', past->size - at);
        *newline = '\0';
        void (*see)(void *, const char *) = line == 0 ? observer->header : observer->record;
        if (see != NULL) see(observer->context, start);
        at += (size_t)(newline - start) + 1;
    }
}

void nnv_journal_past_free(struct nnv_journal_past *past) {
    free(past->done);
    free(past->text);
    *past = (struct nnv_journal_past){0};
}

enum nnv_status nnv_journal_resume(struct nnv_journal *j, const struct nnv_run_options *o,
                                   const struct nnv_driver_info *driver, struct nnv_journal_past *past,
                                   struct nnv_err *err) {
    struct reading r = {.j = j, .o = o, .driver = driver, .past = past};
    char *path = NULL;
    enum nnv_status st = names_make(&r.names, o->cases, o->count, err);
    *past = (struct nnv_journal_past){.done = calloc(o->count + 1, sizeof *past->done)};
    if (st == NNV_OK && (past->done == NULL || asprintf(&path, "%s/journal.jsonl", j->folder) < 0))
        st = nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_file_read(path, LARGEST, &past->text, &r.size, err);
    r.text = past->text;
    if (st == NNV_OK) st = read_lines(&r, err);
    if (st == NNV_OK && r.good < r.size && ftruncate(j->file, (off_t)r.good) != 0)
        st = nnv_fail(err, NNV_IO, "%s: cannot remove the cut last line: %s", path, strerror(errno));
    j->size = past->size = r.good;
    if (st != NNV_OK) nnv_journal_past_free(past);
    free(path);
    free(r.names.slot);
    return st;
}
