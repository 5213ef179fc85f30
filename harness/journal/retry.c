/* SPDX-License-Identifier: Apache-2.0 */
/** @file retry.c Which failures of a run are tried again, and flakes.json. */
#include "harness/journal/retry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_out.h"
#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/bucket.h"
#include "harness/journal/command.h"
#include "harness/journal/flakes.h"
#include "harness/journal/load.h"
#include "harness/journal/outcome.h"
#include "harness/journal/verdict.h"

/* ------------------------------------------------------------- what to study */

static int by_turn(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/** The cases that the worker of case i had run before it, in their order; malloc'ed. */
static enum nnv_status history(const struct nnv_report *r, uint32_t i, uint32_t **before, size_t *count,
                               struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    size_t n = 0;
    for (size_t k = 0; k < r->count; k++) n += r->item[k].worker == c->worker && r->item[k].turn < c->turn;
    uint64_t *sorted = malloc((n + 1) * sizeof *sorted);
    *before = malloc((n + 1) * sizeof **before);
    *count = 0;
    if (sorted == NULL || *before == NULL) {
        free(sorted);
        free(*before);
        *before = NULL;
        return nnv_no_memory(err);
    }
    for (size_t k = 0; k < r->count && c->worker > 0; k++)
        if (r->item[k].worker == c->worker && r->item[k].turn < c->turn)
            sorted[(*count)++] = (uint64_t)r->item[k].turn << 32 | k;
    qsort(sorted, *count, sizeof *sorted, by_turn);
    for (size_t k = 0; k < *count; k++) (*before)[k] = (uint32_t)sorted[k];
    free(sorted);
    return NNV_OK;
}

/** A candidate: of each bucket the first, then of each the second ... */
struct candidate {
    uint32_t index, bucket, rank;
};

static int by_rank(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->bucket != y->bucket) return x->bucket < y->bucket ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/** A failure that is expected, but not more often than its entry says. */
static bool has_rate(const struct nnv_report *r, const struct nnv_report_case *c) {
    return c->outcome == NNVTS_OUTCOME_XFAIL &&
           json_is_number(json_object_get(nnv_expected_entry(r, c->expectation), "max_rate"));
}

static enum nnv_status list_candidates(const struct nnv_report *r, const struct nnv_retry *o, struct candidate **list,
                                       size_t *count, struct nnv_err *err) {
    struct nnv_buckets b = {0};
    uint32_t *of = malloc((r->count + 1) * sizeof *of);
    *list = malloc((r->count + 1) * sizeof **list);
    *count = 0;
    enum nnv_status st = of != NULL && *list != NULL ? nnv_buckets_of(r, &b, of, err) : nnv_no_memory(err);
    uint32_t *seen = calloc(b.map.count + (size_t)2, sizeof *seen);
    if (st == NNV_OK && seen == NULL) st = nnv_no_memory(err);
    for (uint32_t i = 0; i < r->count && st == NNV_OK; i++) {
        const struct nnv_report_case *c = &r->item[i];
        const bool rated = has_rate(r, c);
        if ((of[i] == NNV_MAP_NONE && !rated) || c->verdict == NNVTS_ERROR || c->worker == 0) continue;
        if (c->runs > 1 && c->bad_runs < c->runs) continue; /* --repeat has told already */
        if (c->verdict == NNVTS_TIMEOUT && o->budget_ns / 4 < o->timeout_ns) continue;
        const uint32_t bucket = rated ? b.map.count : of[i];
        (*list)[(*count)++] = (struct candidate){i, bucket, rated ? 0 : seen[bucket]++};
    }
    if (st == NNV_OK) qsort(*list, *count, sizeof **list, by_rank);
    nnv_buckets_free(&b);
    free(of);
    free(seen);
    return st;
}

/* -------------------------------------------------------------- flakes.json */

static void add_runs(struct nnv_json_out *j, const char *name, const struct nnv_flake_runs *r) {
    const struct nnv_interval i = nnv_proportion_interval(r->bad, r->runs, 0.95);
    if (r->runs == 0) return;
    nnv_json_open(j, name, '{');
    nnv_json_uint(j, "runs", r->runs);
    nnv_json_uint(j, "bad", r->bad);
    nnv_json_raw(j, "low", "%.6f", i.low);
    nnv_json_raw(j, "high", "%.6f", i.high);
    nnv_json_close(j, '}');
}

/** The command that shows the failure again: alone, repeated, or after the cases that it needs. */
static void add_command(const struct nnv_retry *o, uint32_t subject, const struct nnv_flake *f,
                        struct nnv_json_out *j) {
    enum { NAMED = 20 };
    const struct nnv_case *cases[NAMED + 1];
    struct nnv_text command = {0};
    const size_t n = f->class == NNV_FLAKE_ORDER ? f->after_count : 0;
    if (n > NAMED) return;
    for (size_t i = 0; i < n; i++) cases[i] = &o->facts->cases[f->after[i]];
    cases[n] = &o->facts->cases[subject];
    nnv_command_run(o->facts, cases, n + 1, &command);
    nnv_text_addf(&command, n > 0 ? " --jobs 1" : " --repeat %d", NNV_FLAKE_RUNS);
    nnv_json_string(j, "command", command.data);
    j->text->failed = j->text->failed || command.failed;
    nnv_text_free(&command);
}

static void add_flake(const struct nnv_retry *o, uint32_t subject, const struct nnv_flake *f, struct nnv_json_out *j) {
    struct nnv_text words = {0};
    nnv_flake_words(f, o->facts->cases, &words);
    j->line = "\n    ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "case", o->facts->cases[subject].name);
    nnv_json_string(j, "class", nnv_flake_class_name(f->class));
    add_runs(j, "alone", &f->alone);
    add_runs(j, "order", &f->order);
    add_runs(j, "load", &f->load);
    if (f->class == NNV_FLAKE_ORDER) {
        nnv_json_open(j, "after", '[');
        for (size_t i = 0; i < f->after_count; i++) nnv_json_string(j, NULL, o->facts->cases[f->after[i]].name);
        nnv_json_close(j, ']');
        nnv_json_bool(j, "minimal", f->minimal);
    }
    nnv_json_string(j, "words", words.data);
    if (f->class != NNV_FLAKE_DETERMINISTIC) add_command(o, subject, f, j);
    nnv_json_close(j, '}');
    j->text->failed = j->text->failed || words.failed;
    nnv_text_free(&words);
}

/** A failure that is studied. */
struct study {
    const struct nnv_retry *o;
    uint32_t subject;
};

static enum nnv_status run_once(void *context, const uint32_t *before, size_t count, bool load, bool *bad,
                                struct nnv_err *err) {
    const struct study *s = context;
    return s->o->run(s->o->context, s->subject, before, count, load, bad, err);
}

/** Studies a failure and adds what came of it. */
static enum nnv_status study_one(const struct nnv_retry *o, uint32_t subject, uint64_t until_ns,
                                 const struct nnv_report *r, struct nnv_json_out *j, struct nnv_err *err) {
    uint32_t *before = NULL;
    size_t count = 0;
    struct nnv_flake flake = {0};
    struct study study = {o, subject};
    enum nnv_status st = history(r, subject, &before, &count, err);
    const struct nnv_flake_subject failure = {.before = before,
                                              .before_count = count,
                                              .runs = NNV_FLAKE_RUNS,
                                              .until_ns = until_ns,
                                              .context = &study,
                                              .run = run_once};
    if (st == NNV_OK) st = nnv_flake_study(&failure, &flake, err);
    if (st == NNV_OK && flake.alone.runs > 0) add_flake(o, subject, &flake, j);
    nnv_flake_free(&flake);
    free(before);
    return st;
}

static enum nnv_status write_flakes(const struct nnv_report *r, const struct nnv_text *items, size_t tried, size_t left,
                                    uint64_t start_ns, struct nnv_err *err) {
    struct nnv_text t = {.failed = items->failed}, path = {0};
    enum nnv_status st = NNV_OK;
    nnv_text_addf(&t,
                  "{\n  \"format\": \"nnvts-flakes/1\",\n  \"seconds\": %.3f,\n  \"tried\": %zu,\n  \"left\": %zu,\n"
                  "  \"cases\": [%s\n  ]\n}\n",
                  (double)(nnv_now_ns() - start_ns) / 1e9, tried, left, items->data != NULL ? items->data : "");
    nnv_text_add_path(&path, r->folder, NNV_FLAKES_FILE);
    if (items->len > 0 || t.failed)
        st = nnv_file_write_text(r->folder, NNV_FLAKES_FILE, &t, err);
    else if (path.failed)
        st = nnv_no_memory(err);
    else if (unlink(path.data) != 0 && errno != ENOENT)
        st = nnv_fail(err, NNV_IO, "%s: cannot remove: %s", path.data, strerror(errno));
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}

enum nnv_status nnv_retry_failures(const struct nnv_retry *o, struct nnv_err *err) {
    struct nnv_report *r = NULL;
    struct candidate *list = NULL;
    size_t count = 0, tried = 0;
    struct nnv_text items = {0};
    struct nnv_json_out j = {.text = &items, .spaced = true};
    struct nnv_err stopped = {0};
    enum nnv_status st = nnv_report_load(o->folder, &r, err);
    if (st == NNV_OK && r->count != o->facts->case_count) st = nnv_fail(err, NNV_INTERNAL, "the run has other cases");
    if (st == NNV_OK) st = list_candidates(r, o, &list, &count, err);
    const uint64_t start = nnv_now_ns();
    const uint64_t until = start + o->budget_ns;
    while (st == NNV_OK && tried < count && tried < o->most && nnv_now_ns() < until)
        st = study_one(o, list[tried++].index, until, r, &j, &stopped);
    /* What can't be tried (a driver for one process at a time, an interruption) is no failure of the run. */
    if (stopped.status == NNV_INVALID) st = NNV_OK;
    if (st != NNV_OK && stopped.status != NNV_OK) *err = stopped;
    if (st == NNV_OK) st = write_flakes(r, &items, tried, count - tried, start, err);
    nnv_text_free(&items);
    free(list);
    nnv_report_free(r);
    return st;
}
