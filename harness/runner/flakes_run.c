/* SPDX-License-Identifier: Apache-2.0 */
/** @file flakes_run.c Trying the failures of a run again, in workers, and flakes.json. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/flakes.h"
#include "harness/journal/verdict.h"
#include "harness/runner/pool.h"
#include "base/process.h"
#include "harness/journal/record.h"
#include "harness/journal/bucket.h"
#include "harness/journal/load.h"
#include "harness/journal/outcome.h"

enum { SPINNERS_MAX = 256, CACHE_BYTES = 1 << 20 };
static const uint64_t SPIN_NS = 60000000000; /* a spinner ends by itself, whatever becomes of nnvts */

/* --------------------------------------------------------------------- load */

/** Processes that keep all processors busy, and their caches dirty. */
struct load {
    pid_t pid[SPINNERS_MAX];
    long count;
};

static _Noreturn void spin(void) {
    static volatile unsigned char cache[CACHE_BYTES];
    const uint64_t begin = nnv_now_ns();
    for (size_t i = 0;; i = (i + 4099) % CACHE_BYTES) {
        cache[i]++;
        if (i < 4099 && nnv_now_ns() - begin > SPIN_NS) _exit(0);
    }
}

static void load_begin(struct load *l) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > SPINNERS_MAX) cores = SPINNERS_MAX;
    for (l->count = 0; l->count < cores; l->count++) {
        const pid_t pid = nnv_process_fork();
        if (pid == 0) spin();
        if (pid < 0) break;
        l->pid[l->count] = pid;
    }
}

static void load_end(struct load *l) {
    struct nnv_end end;
    for (long i = 0; i < l->count; i++) nnv_process_wait(l->pid[i], 0, &end);
    l->count = 0;
}

/* --------------------------------------------------------------- one trial */

/** A failure that is studied, and how. */
struct study {
    const struct nnv_flakes_options *o;
    struct nnv_run_config config;
    uint32_t index;
    struct nnv_case *cases; /**< room for all that its worker had run, and itself */
    uint64_t until_ns;
    /* of the trial: */
    uint32_t last;
    enum nnvts_verdict verdict;
};

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct study *s = context;
    (void)err;
    if (e->index == s->last) s->verdict = e->verdict;
    return NNV_OK;
}

static enum nnv_status on_idle(void *context, struct nnv_err *err) {
    const struct study *s = context;
    return nnv_now_ns() < s->until_ns ? NNV_OK : nnv_fail(err, NNV_TIMEOUT, "no time is left");
}

static enum nnv_status run_once(void *context, const uint32_t *before, size_t count, bool load, bool *bad,
                                struct nnv_err *err) {
    struct study *s = context;
    struct load spinners = {.count = 0};
    bool interrupted = false;
    for (size_t i = 0; i < count; i++) s->cases[i] = s->o->cases[before[i]];
    s->cases[count] = s->o->cases[s->index];
    s->last = (uint32_t)count;
    s->verdict = NNVTS_NOTRUN;
    const struct nnv_pool_options pool = {
        .config = &s->config, .cases = s->cases, .count = count + 1, .context = s, .ended = on_ended, .idle = on_idle};
    if (load) load_begin(&spinners);
    enum nnv_status st = nnv_pool_run(&pool, &interrupted, err);
    load_end(&spinners);
    if (st == NNV_OK && interrupted) return nnv_fail(err, NNV_INVALID, "interrupted");
    if (st == NNV_OK && (s->verdict == NNVTS_NOTRUN || s->verdict == NNVTS_ERROR))
        return nnv_fail(err, NNV_INVALID, "the driver could not be tried again");
    *bad = nnv_verdict_bad(s->verdict);
    return st;
}

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

static enum nnv_status list_candidates(const struct nnv_report *r, const struct nnv_flakes_options *o,
                                       struct candidate **list, size_t *count, struct nnv_err *err) {
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
        if (c->verdict == NNVTS_TIMEOUT && o->budget_ns / 4 < o->config->timeout_ns) continue;
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

static void add_runs(struct nnv_text *t, const char *name, const struct nnv_flake_runs *r) {
    const struct nnv_interval i = nnv_proportion_interval(r->bad, r->runs, 0.95);
    if (r->runs == 0) return;
    nnv_text_addf(t, ", \"%s\": {\"runs\": %u, \"bad\": %u, \"low\": %.6f, \"high\": %.6f}", name, r->runs, r->bad,
                  i.low, i.high);
}

/** The command that shows the failure again: alone, repeated, or after the cases that it needs. */
static void add_command(const struct study *s, const struct nnv_flake *f, struct nnv_text *t) {
    enum { NAMED = 20 };
    struct nnv_text command = {0};
    const size_t n = f->class == NNV_FLAKE_ORDER ? f->after_count : 0;
    const struct nnv_case **cases = malloc((n + 1) * sizeof *cases);
    if (cases != NULL && n <= NAMED) {
        for (size_t i = 0; i < n; i++) cases[i] = &s->o->cases[f->after[i]];
        cases[n] = &s->o->cases[s->index];
        nnv_record_run(&s->config, cases, n + 1, &command);
        nnv_text_addf(&command, n > 0 ? " --jobs 1" : " --repeat %d", NNV_FLAKE_RUNS);
        nnv_text_add(t, ", \"command\": ");
        nnv_text_add_json(t, command.data);
    }
    t->failed = t->failed || command.failed || cases == NULL;
    free(cases);
    nnv_text_free(&command);
}

static void add_flake(const struct study *s, const struct nnv_flake *f, struct nnv_text *t) {
    struct nnv_text words = {0};
    nnv_flake_words(f, s->o->cases, &words);
    nnv_text_add(t, "{\"case\": ");
    nnv_text_add_json(t, s->o->cases[s->index].name);
    nnv_text_addf(t, ", \"class\": \"%s\"", nnv_flake_class_name(f->class));
    add_runs(t, "alone", &f->alone);
    add_runs(t, "order", &f->order);
    add_runs(t, "load", &f->load);
    if (f->class == NNV_FLAKE_ORDER) {
        nnv_text_add(t, ", \"after\": [");
        for (size_t i = 0; i < f->after_count; i++) {
            nnv_text_add(t, i ? ", " : "");
            nnv_text_add_json(t, s->o->cases[f->after[i]].name);
        }
        nnv_text_addf(t, "], \"minimal\": %s", f->minimal ? "true" : "false");
    }
    nnv_text_add(t, ", \"words\": ");
    nnv_text_add_json(t, words.data);
    if (f->class != NNV_FLAKE_DETERMINISTIC) add_command(s, f, t);
    nnv_text_add(t, "}");
    t->failed = t->failed || words.failed;
    nnv_text_free(&words);
}

/** Studies a failure and adds what came of it. */
static enum nnv_status study_one(struct study *s, const struct nnv_report *r, struct nnv_text *t, struct nnv_err *err) {
    uint32_t *before = NULL;
    size_t count = 0;
    struct nnv_flake flake = {0};
    enum nnv_status st = history(r, s->index, &before, &count, err);
    s->cases = calloc(count + 1, sizeof *s->cases);
    if (st == NNV_OK && s->cases == NULL) st = nnv_no_memory(err);
    const struct nnv_flake_subject subject = {.before = before,
                                              .before_count = count,
                                              .runs = NNV_FLAKE_RUNS,
                                              .until_ns = s->until_ns,
                                              .context = s,
                                              .run = run_once};
    if (st == NNV_OK) st = nnv_flake_study(&subject, &flake, err);
    if (st == NNV_OK && flake.alone.runs > 0) {
        nnv_text_add(t, t->len > 0 ? ",\n    " : "\n    ");
        add_flake(s, &flake, t);
    }
    nnv_flake_free(&flake);
    free(s->cases);
    s->cases = NULL;
    free(before);
    return st;
}

static enum nnv_status write_flakes(const struct nnv_report *r, const struct nnv_text *items, size_t tried, size_t left,
                                    uint64_t start_ns, struct nnv_err *err) {
    struct nnv_text t = {0}, path = {0};
    enum nnv_status st = NNV_OK;
    nnv_text_add_path(&path, r->folder, NNV_FLAKES_FILE);
    nnv_text_addf(&t,
                  "{\n  \"format\": \"nnvts-flakes/1\",\n  \"seconds\": %.3f,\n  \"tried\": %zu,\n  \"left\": %zu,\n"
                  "  \"cases\": [",
                  (double)(nnv_now_ns() - start_ns) / 1e9, tried, left);
    nnv_text_add(&t, items->data != NULL ? items->data : "");
    nnv_text_add(&t, "\n  ]\n}\n");
    if (t.failed || path.failed || items->failed)
        st = nnv_no_memory(err);
    else if (items->len > 0)
        st = nnv_file_write(path.data, t.data, t.len, err);
    else if (unlink(path.data) != 0 && errno != ENOENT)
        st = nnv_fail(err, NNV_IO, "%s: cannot remove: %s", path.data, strerror(errno));
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}

enum nnv_status nnv_flakes(const struct nnv_flakes_options *o, struct nnv_err *err) {
    struct nnv_report *r = NULL;
    struct candidate *list = NULL;
    size_t count = 0, tried = 0;
    struct nnv_text items = {0};
    struct nnv_err stopped = {0};
    enum nnv_status st = nnv_report_load(o->config->out, &r, err);
    if (st == NNV_OK && r->count != o->count) st = nnv_fail(err, NNV_INTERNAL, "the run has other cases");
    if (st == NNV_OK) st = list_candidates(r, o, &list, &count, err);
    const uint64_t start = nnv_now_ns();
    struct study s = {.o = o, .config = *o->config, .until_ns = start + o->budget_ns};
    s.config.jobs = 1;
    s.config.repeat = 1;
    while (st == NNV_OK && tried < count && tried < o->most && nnv_now_ns() < s.until_ns) {
        s.index = list[tried].index;
        st = study_one(&s, r, &items, &stopped);
        tried++;
    }
    /* What can't be tried (a driver for one process at a time, an interruption) is no failure of the run. */
    if (stopped.status == NNV_INVALID) st = NNV_OK;
    if (st != NNV_OK && stopped.status != NNV_OK) *err = stopped;
    if (st == NNV_OK) st = write_flakes(r, &items, tried, count - tried, start, err);
    nnv_text_free(&items);
    free(list);
    nnv_report_free(r);
    return st;
}
