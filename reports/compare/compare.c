/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/bench.h"
#include "harness/journal/reader.h"
#include "harness/journal/load.h"

enum { REASON = 240 };

const struct nnv_compare_list nnv_compare_lists[NNV_CHANGE_COUNT] = {
    [NNV_CHANGE_NEW_FAILURE] = {"new_failures", "New failures", "new failure", "new failures"},
    [NNV_CHANGE_LOST] = {"lost", "No longer answered", "no longer answered", "no longer answered"},
    [NNV_CHANGE_CHANGED] = {"changed", "Fails otherwise", "fails otherwise", "fail otherwise"},
    [NNV_CHANGE_FIXED] = {"fixed", "Fixed", "fixed", "fixed"},
    [NNV_CHANGE_GAINED] = {"gained", "Newly answered", "newly answered", "newly answered"},
    [NNV_CHANGE_REMOVED] = {"removed", "Cases only in A", "case only in A", "cases only in A"},
    [NNV_CHANGE_ADDED] = {"added", "Cases only in B", "case only in B", "cases only in B"},
};

/* -------------------------------------------------------------------- changes */

static bool is_pass(const struct nnv_compare_side *s) { return s->verdict == NNVTS_PASS; }
static bool is_unasked(const struct nnv_compare_side *s) {
    return s->verdict == NNVTS_UNSUPPORTED || s->verdict == NNVTS_SKIP;
}

/** The next symbol of a reason, 0 at its end: a character, or '#' for a whole number with sign and exponent. */
static int symbol(const char **s) {
    static const char digits[] = "0123456789";
    const char *p = *s, *q = p + (*p == '-' || *p == '+');
    if (strspn(q, digits) == 0) {
        *s = p + (*p != '\0');
        return *p;
    }
    q += strspn(q, "0123456789.");
    if (*q == 'e') {
        const char *power = q + 1 + (q[1] == '-' || q[1] == '+');
        if (strspn(power, digits) > 0) q = power + strspn(power, digits);
    }
    *s = q;
    return '#';
}

/** True if two reasons differ in more than their numbers. */
static bool differ(const char *a, const char *b) {
    for (;;) {
        int x = symbol(&a), y = symbol(&b);
        if (x != y) return true;
        if (x == 0) return false;
    }
}

enum nnv_change nnv_compare_change(const struct nnv_compare_case *c, bool *not_run) {
    const struct nnv_compare_side *a = &c->side[0], *b = &c->side[1];
    *not_run = false;
    if (!b->listed) return NNV_CHANGE_REMOVED;
    if (nnv_verdict_bad(b->verdict)) {
        if (!a->listed || !nnv_verdict_bad(a->verdict)) return NNV_CHANGE_NEW_FAILURE;
        return a->verdict != b->verdict || differ(a->reason, b->reason) ? NNV_CHANGE_CHANGED : NNV_CHANGE_NONE;
    }
    if (!a->listed) return NNV_CHANGE_ADDED;
    if (is_pass(b))
        return is_pass(a) ? NNV_CHANGE_NONE : nnv_verdict_bad(a->verdict) ? NNV_CHANGE_FIXED : NNV_CHANGE_GAINED;
    if (is_pass(a) || nnv_verdict_bad(a->verdict)) {
        *not_run = b->verdict == NNVTS_NOTRUN;
        return NNV_CHANGE_LOST;
    }
    return is_unasked(a) && is_unasked(b) && a->verdict != b->verdict ? NNV_CHANGE_CHANGED : NNV_CHANGE_NONE;
}

/* ---------------------------------------------------------------------- table */

/** The place of a case, made if it is new; NULL when out of memory. */
static struct nnv_compare_case *place(struct nnv_compare_table *t, const char *name, const char *op,
                                      const char *suite) {
    uint32_t i = nnv_map_find(&t->names, name);
    if (i != NNV_MAP_NONE) return &t->item[i];
    if (t->count == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 1024;
        struct nnv_compare_case *more = realloc(t->item, cap * sizeof *more);
        if (more == NULL) return NULL;
        t->item = more;
        t->cap = cap;
    }
    const char *group = *op != '\0' ? op : suite;
    uint32_t g = nnv_map_find(&t->groups, group);
    if (g == NNV_MAP_NONE) {
        const char *copy = nnv_arena_strdup(t->arena, group);
        g = copy != NULL ? nnv_map_add(&t->groups, copy) : NNV_MAP_NONE;
    }
    const char *copy = nnv_arena_strdup(t->arena, name);
    if (g == NNV_MAP_NONE || copy == NULL || nnv_map_add(&t->names, copy) == NNV_MAP_NONE) return NULL;
    struct nnv_compare_case *c = &t->item[t->count++];
    *c = (struct nnv_compare_case){.name = copy, .group = g};
    for (int side = 0; side < 2; side++)
        c->side[side] =
            (struct nnv_compare_side){.verdict = NNVTS_NOTRUN, .ratio = (double)NAN, .mse = (double)NAN, .reason = ""};
    return c;
}

/** Copies the first line of a reason, cut between characters. */
static const char *keep_reason(struct nnv_arena *arena, const char *reason) {
    size_t n = nnv_first_line(reason);
    if (n == 0) return "";
    if (n > REASON) {
        n = REASON;
        while (n > 0 && ((unsigned char)reason[n] & 0xc0) == 0x80) n--;
    }
    char *copy = nnv_arena_alloc(arena, n + 1, 1);
    if (copy != NULL) memcpy(copy, reason, n);
    return copy;
}

static bool take_record(struct nnv_compare_table *t, int side, const json_t *record) {
    struct nnv_compare_case *c = place(t, nnv_json_text(record, "case", ""), nnv_json_text(record, "op", ""),
                                       nnv_json_text(record, "suite", ""));
    if (c == NULL) return false;
    struct nnv_compare_side *s = &c->side[side];
    s->listed = true;
    s->verdict = nnv_record_verdict_of(record);
    s->expected = nnv_verdict_bad(s->verdict) && !nnv_record_bad(record);
    s->us = (double)nnv_json_count(record, "driver_us");
    s->ratio = nnv_record_ratio(record);
    s->mse = nnv_record_mse(record);
    if (s->verdict != NNVTS_PASS) s->reason = keep_reason(t->arena, nnv_json_text(record, "reason", ""));
    return s->reason != NULL;
}

/** Reads one run into its side; *header is a new reference. */
static enum nnv_status take_run(struct nnv_compare_table *t, int side, const char *folder, json_t **header,
                                struct nnv_err *err) {
    struct nnv_journal_reader r;
    struct nnv_listed c;
    const json_t *record;
    bool more;
    enum nnv_status s = nnv_reader_open(folder, &r, err);
    if (s != NNV_OK) return s;
    while (s == NNV_OK && (s = nnv_reader_record(&r, &record, err)) == NNV_OK && record != NULL)
        if (!take_record(t, side, record)) s = nnv_no_memory(err);
    while (s == NNV_OK && (s = nnv_reader_missing(&r, &c, &more, err)) == NNV_OK && more) {
        struct nnv_compare_case *made = place(t, c.name, c.op, c.suite);
        if (made != NULL)
            made->side[side].listed = true;
        else
            s = nnv_no_memory(err);
    }
    if (s == NNV_OK) *header = json_incref(r.header);
    nnv_reader_close(&r);
    return s;
}

/* ----------------------------------------------------------------------- JSON */

/** A string as JSON, whatever bytes it holds. */
static json_t *text_json(const char *s) {
    json_t *j = json_string(s);
    if (j != NULL) return j;
    struct nnv_text t = {0};
    nnv_text_add_json(&t, s);
    if (!t.failed) j = json_loads(t.data, JSON_DECODE_ANY, NULL);
    nnv_text_free(&t);
    return j;
}

/** What names a run, and how many cases ended how. */
static json_t *run_json(const char *folder, const json_t *header, const struct nnv_compare_table *t, int side) {
    static const char *const texts[] = {"nnvts", "precision", "arithmetic", "tier", "start"};
    const json_t *driver = json_object_get(header, "driver");
    json_t *j = json_object(), *verdicts = json_object();
    struct nnv_text seed = {0};
    size_t n[NNVTS_VERDICT_COUNT] = {0}, cases = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->item[i].side[side].listed) n[t->item[i].side[side].verdict]++, cases++;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        if (n[v] > 0)
            json_object_set_new(verdicts, nnv_verdict_name((enum nnvts_verdict)v), json_integer((json_int_t)n[v]));
    json_object_set_new(j, "folder", text_json(folder));
    json_object_set_new(j, "driver", json_string(nnv_json_text(driver, "argument", "?")));
    json_object_set_new(j, "version", json_string(nnv_json_text(driver, "version", "?")));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set_new(j, texts[i], json_string(nnv_json_text(header, texts[i], "?")));
    nnv_header_add_seed(&seed, header);
    json_object_set_new(j, "seed", json_string(seed.data != NULL ? seed.data : "?"));
    json_object_set_new(j, "host", json_string(nnv_json_text(json_object_get(header, "machine"), "host", "?")));
    json_object_set_new(j, "cases", json_integer((json_int_t)cases));
    json_object_set_new(j, "verdicts", verdicts);
    nnv_text_free(&seed);
    return j;
}

/** What of the two runs is not the same: ["driver", "seed"]. */
static json_t *differences(const json_t *a, const json_t *b) {
    static const char *const members[] = {"driver",    "version",    "nnvts", "seed",
                                          "precision", "arithmetic", "tier",  "host"};
    json_t *j = json_array();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_equal(json_object_get(a, members[i]), json_object_get(b, members[i])))
            json_array_append_new(j, json_string(members[i]));
    return j;
}

static json_t *case_json(const struct nnv_compare_case *c) {
    static const char *const names[] = {"a", "b"};
    json_t *j = json_object();
    json_object_set_new(j, "case", text_json(c->name));
    for (int side = 0; side < 2; side++) {
        const struct nnv_compare_side *s = &c->side[side];
        if (!s->listed) continue;
        json_t *of = json_pack("{s:s}", "verdict", nnv_verdict_name(s->verdict));
        if (*s->reason != '\0') json_object_set_new(of, "reason", text_json(s->reason));
        if (s->expected) json_object_set_new(of, "outcome", json_string("XFAIL"));
        json_object_set_new(j, names[side], of);
    }
    return j;
}

/** Adds the lists of cases with their counts; false when out of memory. */
static void add_lists(json_t *j, const struct nnv_compare_table *t) {
    json_t *list[NNV_CHANGE_COUNT], *counts = json_object();
    size_t n[NNV_CHANGE_COUNT] = {0}, worse = 0, same = 0;
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) list[k] = json_array();
    for (size_t i = 0; i < t->count; i++) {
        bool not_run;
        const struct nnv_compare_case *c = &t->item[i];
        enum nnv_change change = nnv_compare_change(c, &not_run);
        if (change == NNV_CHANGE_NONE) {
            same++;
            continue;
        }
        worse += not_run || (change == NNV_CHANGE_NEW_FAILURE && !c->side[1].expected);
        if (n[change]++ < NNV_COMPARE_MOST) json_array_append_new(list[change], case_json(c));
    }
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) {
        json_object_set_new(counts, nnv_compare_lists[k].member, json_integer((json_int_t)n[k]));
        json_object_set_new(j, nnv_compare_lists[k].member, list[k]);
    }
    json_object_set_new(counts, "same", json_integer((json_int_t)same));
    json_object_set_new(j, "counts", counts);
    json_object_set_new(j, "worse", json_boolean(worse > 0));
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct nnv_compare_case *)a)->name, ((const struct nnv_compare_case *)b)->name);
}

static enum nnv_status compare_runs(const char *a, const char *b, json_t **comparison, struct nnv_err *err) {
    struct nnv_compare_table t = {.arena = nnv_arena_new()};
    json_t *header[2] = {NULL, NULL}, *j = json_object();
    enum nnv_status s = t.arena != NULL && j != NULL ? take_run(&t, 0, a, &header[0], err) : nnv_no_memory(err);
    if (s == NNV_OK) s = take_run(&t, 1, b, &header[1], err);
    if (s == NNV_OK) {
        json_t *of[2] = {run_json(a, header[0], &t, 0), run_json(b, header[1], &t, 1)};
        t.same_values = true;
        if (t.count > 0) qsort(t.item, t.count, sizeof *t.item, by_name); /* journals are in the order of endings */
        static const char *const values[] = {"seed", "precision", "arithmetic", "tier"};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            t.same_values =
                t.same_values && json_equal(json_object_get(of[0], values[i]), json_object_get(of[1], values[i]));
        json_object_set_new(j, "form", json_string("nnvts-compare-1"));
        json_object_set_new(j, "differ", differences(of[0], of[1]));
        json_object_set_new(j, "a", of[0]);
        json_object_set_new(j, "b", of[1]);
        add_lists(j, &t);
        if (json_object_set_new(j, "time", nnv_compare_time(&t)) != 0 ||
            json_object_set_new(j, "error", nnv_compare_error(&t)) != 0)
            s = nnv_no_memory(err);
    }
    json_decref(header[0]);
    json_decref(header[1]);
    nnv_map_free(&t.names);
    nnv_map_free(&t.groups);
    nnv_arena_free(t.arena);
    free(t.item);
    if (s == NNV_OK)
        *comparison = j;
    else
        json_decref(j);
    return s;
}

enum nnv_status nnv_compare(const char *a, const char *b, json_t **comparison, struct nnv_err *err) {
    bool bench_a = nnv_bench_is(a), bench_b = nnv_bench_is(b);
    if (bench_a != bench_b)
        return nnv_fail(err, NNV_INVALID, "'%s' is of a bench, '%s' is not: like is compared with like",
                        bench_a ? a : b, bench_a ? b : a);
    return bench_a ? nnv_compare_benches(a, b, comparison, err) : compare_runs(a, b, comparison, err);
}

bool nnv_compare_worse(const json_t *comparison) { return json_is_true(json_object_get(comparison, "worse")); }
