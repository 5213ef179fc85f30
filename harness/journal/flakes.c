/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/flakes.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json_out.h"
#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/command.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"

enum { FIRST_RUNS = 5, ORDER_RUNS = 3, LOAD_RUNS = 20, MOST_RUNS_OF_A_TEST = 5 };
static const double CONFIDENCE = 0.95;

/** "deterministic", "order-dependent"... */
static const char *flake_class_name(enum nnv_flake_class c) {
    static const char *const names[] = {
        [NNV_FLAKE_DETERMINISTIC] = "deterministic", [NNV_FLAKE_FLAKY] = "flaky",
        [NNV_FLAKE_ORDER] = "order-dependent",       [NNV_FLAKE_LOAD] = "load-dependent",
        [NNV_FLAKE_LOST] = "not reproduced",         [NNV_FLAKE_UNKNOWN] = "unknown"};
    return names[c];
}

void nnv_flake_free(struct nnv_flake *f) {
    free(f->after);
    *f = (struct nnv_flake){0};
}

static struct nnv_interval rate(const struct nnv_flake_runs *r) {
    return nnv_proportion_interval(r->bad, r->runs, CONFIDENCE);
}

/** a shows to fail more often than b; of what never ran nothing is known, and it shows nothing. */
static bool exceeds(const struct nnv_flake_runs *a, const struct nnv_flake_runs *b) {
    return rate(a).low > rate(b).high;
}

/* ------------------------------------------------------------------ running */

/** Runs the subject once after these cases. */
static enum nnv_status once(const struct nnv_flake_subject *s, const uint32_t *before, size_t n, bool load,
                            struct nnv_flake_runs *runs, struct nnv_err *err) {
    bool bad = false;
    if (nnv_now_ns() >= s->until_ns) return nnv_fail(err, NNV_TIMEOUT, "no time is left");
    enum nnv_status st = s->run(s->context, before, n, load, &bad, err);
    if (st != NNV_OK) return st;
    runs->runs++;
    runs->bad += bad;
    return NNV_OK;
}

static enum nnv_status alone(const struct nnv_flake_subject *s, uint32_t until, struct nnv_flake *f,
                             struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    while (st == NNV_OK && f->alone.runs < until) st = once(s, NULL, 0, false, &f->alone, err);
    return st;
}

/* ---------------------------------------------------------------- bisecting */

/** A set of cases before the subject that is being made smaller. */
struct bisection {
    const struct nnv_flake_subject *s;
    uint32_t *set, *part; /**< part: room for as many */
    size_t count;
    uint32_t tries; /**< of a set, until it counts as harmless */
};

/** *fails: the subject fails after these cases. */
static enum nnv_status test(const struct bisection *b, const uint32_t *set, size_t n, bool *fails,
                            struct nnv_err *err) {
    struct nnv_flake_runs runs = {0};
    enum nnv_status st = NNV_OK;
    while (st == NNV_OK && runs.runs < b->tries && runs.bad == 0) st = once(b->s, set, n, false, &runs, err);
    *fails = runs.bad > 0;
    return st;
}

/** The last cases before the subject, as few as will do when their number is doubled. */
static enum nnv_status find_tail(struct bisection *b, struct nnv_err *err) {
    const size_t all = b->s->before_count;
    enum nnv_status st = NNV_OK;
    bool fails = false;
    for (size_t n = 1; n < all && st == NNV_OK; n *= 2) {
        st = test(b, b->s->before + all - n, n, &fails, err);
        if (st != NNV_OK || !fails) continue;
        b->count = n;
        memcpy(b->set, b->s->before + all - n, n * sizeof *b->set);
        break;
    }
    return st;
}

/** Tries the set without its cases from `from` to `to`, and keeps that if the subject still fails. */
static enum nnv_status try_without(struct bisection *b, size_t from, size_t to, bool *fails, struct nnv_err *err) {
    memcpy(b->part, b->set, from * sizeof *b->part);
    memcpy(b->part + from, b->set + to, (b->count - to) * sizeof *b->part);
    const size_t n = b->count - (to - from);
    enum nnv_status st = test(b, b->part, n, fails, err);
    if (st != NNV_OK || !*fails) return st;
    memcpy(b->set, b->part, n * sizeof *b->set);
    b->count = n;
    return st;
}

/** Delta debugging (Zeller and Hildebrandt, 2002), by complements alone; one case left at least. */
static enum nnv_status reduce(struct bisection *b, struct nnv_err *err) {
    size_t parts = 2;
    enum nnv_status st = NNV_OK;
    while (b->count > 1 && st == NNV_OK) {
        const size_t size = (b->count + parts - 1) / parts;
        bool smaller = false;
        for (size_t from = 0; from < b->count && b->count > 1 && st == NNV_OK;) {
            const size_t to = from + size < b->count ? from + size : b->count;
            bool fails = false;
            if (to - from == b->count) break;
            st = try_without(b, from, to, &fails, err);
            smaller = smaller || fails;
            if (!fails) from = to;
        }
        if (size == 1 && !smaller) break;
        parts = smaller && parts > 2 ? parts - 1 : parts * 2;
        if (parts > b->count) parts = b->count;
    }
    return st;
}

static enum nnv_status bisect(const struct nnv_flake_subject *s, struct nnv_flake *f, struct nnv_err *err) {
    struct bisection b = {.s = s, .count = s->before_count, .tries = f->order.bad == f->order.runs ? 1 : 0};
    if (b.tries == 0) b.tries = MOST_RUNS_OF_A_TEST;
    b.set = calloc(b.count + 1, sizeof *b.set);
    b.part = calloc(b.count + 1, sizeof *b.part);
    enum nnv_status st = b.set && b.part ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) {
        memcpy(b.set, s->before, b.count * sizeof *b.set);
        st = find_tail(&b, err);
    }
    if (st == NNV_OK) st = reduce(&b, err);
    f->minimal = st == NNV_OK;
    f->after = b.set;
    f->after_count = b.set != NULL ? b.count : 0;
    free(b.part);
    return st;
}

/* ----------------------------------------------------------------- studying */

/** Cuts a long history down to its last cases, if the subject fails after them alone: they take less time. */
static enum nnv_status cut_history(struct nnv_flake_subject *s, struct nnv_err *err) {
    static const size_t tails[] = {32, 512};
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof tails / sizeof *tails && tails[i] < s->before_count && st == NNV_OK; i++) {
        const uint32_t *tail = s->before + s->before_count - tails[i];
        struct nnv_flake_runs runs = {0};
        st = once(s, tail, tails[i], false, &runs, err);
        if (runs.bad == 0) continue;
        s->before = tail;
        s->before_count = tails[i];
    }
    return st;
}

/** In the same order, and alone until the two differ or there is no more to learn. */
static enum nnv_status compare_order(const struct nnv_flake_subject *s, struct nnv_flake *f, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    while (s->before_count > 0 && st == NNV_OK && f->order.runs < ORDER_RUNS)
        st = once(s, s->before, s->before_count, false, &f->order, err);
    while (st == NNV_OK && f->alone.runs < s->runs && !exceeds(&f->order, &f->alone))
        st = alone(s, f->alone.runs + 1, f, err);
    return st;
}

static enum nnv_status compare_load(const struct nnv_flake_subject *s, struct nnv_flake *f, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    while (st == NNV_OK && f->load.runs < LOAD_RUNS) st = once(s, NULL, 0, true, &f->load, err);
    return st;
}

static void classify(const struct nnv_flake_subject *s, struct nnv_flake *f) {
    if (exceeds(&f->order, &f->alone))
        f->class = NNV_FLAKE_ORDER;
    else if (exceeds(&f->load, &f->alone))
        f->class = NNV_FLAKE_LOAD;
    else if (f->alone.bad > 0 && (f->alone.bad < f->alone.runs || f->order.bad < f->order.runs))
        f->class = NNV_FLAKE_FLAKY;
    else if (f->alone.bad > 0)
        f->class = f->alone.runs >= FIRST_RUNS ? NNV_FLAKE_DETERMINISTIC : NNV_FLAKE_UNKNOWN;
    else if (f->alone.runs < s->runs)
        f->class = NNV_FLAKE_UNKNOWN;
    else
        f->class = f->order.bad > 0 || f->load.bad > 0 ? NNV_FLAKE_FLAKY : NNV_FLAKE_LOST;
}

enum nnv_status nnv_flake_study(const struct nnv_flake_subject *subject, struct nnv_flake *f, struct nnv_err *err) {
    struct nnv_flake_subject cut = *subject, *s = &cut;
    struct nnv_err late = {0};
    *f = (struct nnv_flake){0};
    enum nnv_status st = alone(s, FIRST_RUNS, f, &late);
    if (st == NNV_OK && f->alone.bad == 0) st = cut_history(s, &late);
    if (st == NNV_OK && f->alone.bad < f->alone.runs) st = compare_order(s, f, &late);
    if (st == NNV_OK && f->alone.bad == 0 && !exceeds(&f->order, &f->alone)) st = compare_load(s, f, &late);
    classify(s, f);
    if (st == NNV_OK && f->class == NNV_FLAKE_ORDER) st = bisect(s, f, &late);
    if (st == NNV_TIMEOUT || st == NNV_OK) return NNV_OK;
    *err = late;
    nnv_flake_free(f);
    return st;
}

/* -------------------------------------------------------------------- words */

static void add_runs(struct nnv_text *t, const char *between, const struct nnv_flake_runs *r, const char *how) {
    if (r->runs == 0) return;
    nnv_text_addf(t, "%sfailed in %u of %u run%s %s", between, r->bad, r->runs, r->runs == 1 ? "" : "s", how);
}

static void add_rate(struct nnv_text *t, const struct nnv_flake_runs *r) {
    const struct nnv_interval i = rate(r);
    if (r->runs > 0) nnv_text_addf(t, " (%.1f %% to %.1f %% at 95 %% confidence)", i.low * 100, i.high * 100);
}

void nnv_flake_words(const struct nnv_flake *f, const struct nnv_case *cases, struct nnv_text *t) {
    enum { NAMED = 3 };
    nnv_text_addf(t, "%s", flake_class_name(f->class));
    add_runs(t, ": ", &f->alone, "alone");
    add_rate(t, &f->alone);
    add_runs(t, ", ", &f->order, "after what its worker had run before");
    add_runs(t, ", ", &f->load, "with all processors busy");
    if (f->class == NNV_FLAKE_UNKNOWN) nnv_text_add(t, "; there was no time to find out more: --flakes S gives it");
    for (size_t i = 0; i < f->after_count && i < NAMED; i++)
        nnv_text_addf(t, "%s%s", i ? ", " : "; fails after ", cases[f->after[i]].name);
    if (f->after_count > NAMED) nnv_text_addf(t, " and %zu more", f->after_count - NAMED);
    if (f->after_count > 0 && !f->minimal) nnv_text_add(t, " (there was no time to find fewer: --flakes S gives more)");
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
           json_is_number(json_object_get(nnv_expected_entry(r, c->more->expectation), "max_rate"));
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
        if (c->why == NNVTS_WHY_LEAK) continue;                               /* many repeats have told already */
        if (c->more->runs > 1 && c->more->bad_runs < c->more->runs) continue; /* so has --repeat */
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

static void add_json_runs(struct nnv_json_out *j, const char *name, const struct nnv_flake_runs *r) {
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

bool nnv_flake_is_unsteady(const json_t *item) {
    const char *class = nnv_json_text(item, "class", "");
    const json_t *alone = json_object_get(item, "alone");
    const uint64_t runs = nnv_json_count(alone, "runs");
    if (strcmp(class, flake_class_name(NNV_FLAKE_UNKNOWN)) == 0 && runs > 0) return nnv_json_count(alone, "bad") < runs;
    return strcmp(class, flake_class_name(NNV_FLAKE_DETERMINISTIC)) != 0;
}

static void add_flake(const struct nnv_retry *o, uint32_t subject, const struct nnv_flake *f, struct nnv_json_out *j) {
    struct nnv_text words = {0};
    nnv_flake_words(f, o->facts->cases, &words);
    j->line = "\n    ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "case", o->facts->cases[subject].name);
    nnv_json_string(j, "class", flake_class_name(f->class));
    add_json_runs(j, "alone", &f->alone);
    add_json_runs(j, "order", &f->order);
    add_json_runs(j, "load", &f->load);
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
    enum nnv_status st;
    nnv_text_addf(&t,
                  "{\n  \"format\": \"nnvts-flakes/1\",\n  \"seconds\": %.3f,\n  \"tried\": %zu,\n  \"left\": %zu,\n"
                  "  \"cases\": [%s\n  ]\n}\n",
                  (double)(nnv_now_ns() - start_ns) / 1e9, tried, left, items->data != NULL ? items->data : "");
    nnv_text_add_path(&path, r->folder, NNV_FLAKES_FILE);
    if (items->len > 0 || t.failed)
        st = nnv_file_write_text(r->folder, NNV_FLAKES_FILE, &t, err);
    else if (path.failed)
        st = nnv_no_memory(err);
    else
        st = nnv_folder_remove(path.data, err);
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
