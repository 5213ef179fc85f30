/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/compare/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stats.h"
#include "base/words.h"
#include "harness/journal/reader.h"
#include "harness/journal/load.h"
#include "base/map.h"
#include "harness/journal/verdict.h"

static const double RECORD = 1.25; /* nearer to its bound than ever: by a quarter than in all earlier runs */
static const double NEAR = 0.25;   /* and not far from it any more */
enum { FEWEST = 3 };               /* runs before the last one can set a record */

/** What is kept of a run for an operation. */
struct cell {
    size_t failures;
    double worst; /* error by bound, of what passed */
};

struct run {
    json_t *json;
    const char *start; /* of json */
    size_t number;     /* as given */
    struct cell *cell; /* one an operation known when it was read */
    size_t cells;
};

struct trend {
    struct nnv_arena *arena;
    struct nnv_map ops;
    struct run *run;
    size_t count;
};

/* -------------------------------------------------------------------- reading */

/** Sums over a run while it is read. */
struct sums {
    size_t verdicts[NNVTS_VERDICT_COUNT], expected;
    uint64_t compared;
    double ms, longest, driver_us, worst;
    double *ratio; /* of what passed */
    size_t ratios, cap;
};

static bool keep_ratio(struct sums *s, double ratio) {
    if (s->ratios == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 1024;
        double *more = realloc(s->ratio, cap * sizeof *more);
        if (more == NULL) return false;
        s->ratio = more;
        s->cap = cap;
    }
    s->ratio[s->ratios++] = ratio;
    return true;
}

/** The cell of the operation, made if it is new; NULL when out of memory. */
static struct cell *cell_of(struct trend *t, struct run *r, const char *op) {
    uint32_t k = nnv_map_find(&t->ops, op);
    if (k == NNV_MAP_NONE) {
        const char *copy = nnv_arena_strdup(t->arena, op);
        k = copy != NULL ? nnv_map_add(&t->ops, copy) : NNV_MAP_NONE;
        if (k == NNV_MAP_NONE) return NULL;
    }
    if (k >= r->cells) {
        size_t cells = 2 * (size_t)k + 16;
        struct cell *more = realloc(r->cell, cells * sizeof *more);
        if (more == NULL) return NULL;
        for (size_t i = r->cells; i < cells; i++) more[i] = (struct cell){.worst = (double)NAN};
        r->cell = more;
        r->cells = cells;
    }
    return &r->cell[k];
}

static bool take_record(struct trend *t, struct run *r, struct sums *s, const json_t *record) {
    const enum nnvts_verdict v = nnv_record_verdict_of(record);
    const char *op = nnv_json_text(record, "op", "");
    struct cell *c = cell_of(t, r, *op != '\0' ? op : nnv_json_text(record, "suite", ""));
    if (c == NULL) return false;
    double ms = fmax(0, json_number_value(json_object_get(record, "ms"))), ratio = nnv_record_ratio(record);
    s->verdicts[v]++;
    s->expected += nnv_verdict_bad(v) && !nnv_record_bad(record);
    s->compared += nnv_json_count(record, "compared");
    s->ms += ms;
    s->longest = fmax(s->longest, ms);
    s->driver_us += (double)nnv_json_count(record, "driver_us");
    c->failures += nnv_record_bad(record);
    if (v != NNVTS_PASS || !isfinite(ratio)) return true;
    c->worst = fmax(c->worst, ratio);
    s->worst = fmax(s->worst, ratio);
    return keep_ratio(s, ratio);
}

static json_t *run_json(const char *folder, const json_t *header, struct sums *s) {
    static const char *const texts[] = {"nnvts", "start", "precision", "arithmetic", "tier"};
    const json_t *driver = json_object_get(header, "driver");
    struct nnv_text seed = {0}, name = {0};
    json_t *j = json_object(), *verdicts = json_object();
    size_t cases = 0;
    nnv_text_add_shown(&name, folder, strlen(folder), 400);
    json_object_set_new(j, "folder", json_string(name.data != NULL ? name.data : "?"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set_new(j, texts[i], json_string(nnv_json_text(header, texts[i], "?")));
    json_object_set_new(j, "driver", json_string(nnv_json_text(driver, "argument", "?")));
    json_object_set_new(j, "version", json_string(nnv_json_text(driver, "version", "?")));
    nnv_header_add_seed(&seed, header);
    json_object_set_new(j, "seed", json_string(seed.data != NULL ? seed.data : "?"));
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) {
        cases += s->verdicts[v];
        if (s->verdicts[v] > 0)
            json_object_set_new(verdicts, nnv_verdict_name((enum nnvts_verdict)v),
                                json_integer((json_int_t)s->verdicts[v]));
    }
    json_object_set_new(j, "cases", json_integer((json_int_t)cases));
    json_object_set_new(j, "verdicts", verdicts);
    json_object_set_new(j, "expected", json_integer((json_int_t)s->expected));
    json_object_set_new(j, "compared", json_integer((json_int_t)s->compared));
    uint64_t jobs = nnv_json_count(header, "jobs");
    json_object_set_new(j, "seconds", nnv_json_finite(fmax(s->ms / (double)(jobs ? jobs : 1), s->longest) / 1000));
    json_object_set_new(j, "driver_ms", nnv_json_finite(s->driver_us / 1000));
    nnv_sort(s->ratio, s->ratios);
    json_object_set_new(j, "worst", nnv_json_finite(s->worst));
    json_object_set_new(j, "p99",
                        s->ratios > 0 ? nnv_json_finite(nnv_quantile(s->ratio, s->ratios, 0.99)) : json_null());
    nnv_text_free(&seed);
    nnv_text_free(&name);
    return j;
}

static enum nnv_status read_run(struct trend *t, struct run *r, const char *folder, struct nnv_err *err) {
    struct sums s = {.worst = (double)NAN};
    struct nnv_journal_reader reader;
    struct nnv_listed c;
    const json_t *record;
    bool more;
    enum nnv_status st = nnv_reader_open(folder, &reader, err);
    if (st != NNV_OK) return st;
    while (st == NNV_OK && (st = nnv_reader_record(&reader, &record, err)) == NNV_OK && record != NULL)
        if (!take_record(t, r, &s, record)) st = nnv_no_memory(err);
    while (st == NNV_OK && (st = nnv_reader_missing(&reader, &c, &more, err)) == NNV_OK && more)
        s.verdicts[NNVTS_NOTRUN]++;
    if (st == NNV_OK) {
        r->json = run_json(folder, reader.header, &s);
        r->start = nnv_json_text(r->json, "start", "");
    }
    free(s.ratio);
    nnv_reader_close(&reader);
    return st;
}

/* ---------------------------------------------------------------------- trend */

static int by_start(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    int order = strcmp(x->start, y->start); /* ISO 8601: as text, so in time */
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static double worst_of(const struct run *r, uint32_t op) { return op < r->cells ? r->cell[op].worst : (double)NAN; }

/** One operation over all runs. *interesting: it failed somewhere, or set a record in the last run. */
static json_t *op_json(const struct trend *t, uint32_t op, bool *interesting) {
    json_t *failures = json_array(), *worst = json_array();
    double most = NAN;
    size_t failed = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct run *r = &t->run[i];
        size_t n = op < r->cells ? r->cell[op].failures : 0;
        failed += n;
        json_array_append_new(failures, json_integer((json_int_t)n));
        json_array_append_new(worst, nnv_json_finite(worst_of(r, op)));
        if (i + 1 < t->count) most = fmax(most, worst_of(r, op));
    }
    const double last = worst_of(&t->run[t->count - 1], op);
    const bool record = t->count > FEWEST && most > 0 && last > RECORD * most && last > NEAR;
    *interesting = failed > 0 || record;
    return json_pack("{s:s,s:o,s:o,s:b}", "op", t->ops.key[op], "failures", failures, "worst", worst, "record",
                     (int)record);
}

static json_t *trend_json(const struct trend *t) {
    json_t *runs = json_array(), *ops = json_array(), *quiet = json_array();
    for (size_t i = 0; i < t->count; i++) json_array_append(runs, t->run[i].json);
    for (uint32_t k = 0; k < t->ops.count; k++) {
        bool interesting;
        json_t *op = op_json(t, k, &interesting);
        json_array_append_new(interesting ? ops : quiet, op);
    }
    json_array_extend(ops, quiet);
    json_decref(quiet);
    return json_pack("{s:s,s:o,s:o}", "form", "nnvts-trend-1", "runs", runs, "operations", ops);
}

enum nnv_status nnv_trend(const char *const *folders, size_t count, json_t **trend, struct nnv_err *err) {
    struct trend t = {.arena = nnv_arena_new(), .run = calloc(count + 1, sizeof *t.run)};
    enum nnv_status s = count > 0 ? NNV_OK : nnv_fail(err, NNV_INVALID, "which runs? give their folders");
    if (s == NNV_OK && (t.arena == NULL || t.run == NULL)) s = nnv_no_memory(err);
    for (size_t i = 0; s == NNV_OK && i < count; i++) {
        t.run[i].number = i;
        s = read_run(&t, &t.run[i], folders[i], err);
        t.count++;
    }
    if (s == NNV_OK) {
        qsort(t.run, t.count, sizeof *t.run, by_start);
        *trend = trend_json(&t);
        if (*trend == NULL) s = nnv_no_memory(err);
    }
    for (size_t i = 0; i < t.count; i++) {
        json_decref(t.run[i].json);
        free(t.run[i].cell);
    }
    nnv_map_free(&t.ops);
    nnv_arena_free(t.arena);
    free(t.run);
    return s;
}

/* -------------------------------------------------------------------- console */

static size_t count_of(const json_t *run, enum nnvts_verdict v) {
    return (size_t)nnv_json_count(json_object_get(run, "verdicts"), nnv_verdict_name(v));
}

static void add_run(struct nnv_text *t, const json_t *run) {
    size_t bad = 0, unasked = count_of(run, NNVTS_UNSUPPORTED) + count_of(run, NNVTS_SKIP);
    for (int v = 0; v < NNVTS_NOTRUN; v++)
        if (nnv_verdict_bad((enum nnvts_verdict)v)) bad += count_of(run, (enum nnvts_verdict)v);
    char worst[24] = "-";
    double w = nnv_json_real(run, "worst");
    if (!isnan(w)) snprintf(worst, sizeof worst, "%.3f", w);
    nnv_text_addf(t, "%-20.20s  %9zu %9zu %8zu %11zu %8zu  %9.1f s %10.1f ms  %8s  ", nnv_json_text(run, "start", "?"),
                  (size_t)nnv_json_count(run, "cases"), count_of(run, NNVTS_PASS), bad, unasked,
                  count_of(run, NNVTS_NOTRUN), nnv_json_real(run, "seconds"), nnv_json_real(run, "driver_ms"), worst);
    static const char *const names[] = {"driver", "version", "folder"};
    for (size_t i = 0; i < 3; i++) {
        const char *s = nnv_json_text(run, names[i], "?");
        nnv_text_add(t, i ? "  " : "");
        nnv_text_add_shown(t, s, strlen(s), 60);
    }
    nnv_text_add(t, "\n");
}

static void add_op(struct nnv_text *t, const json_t *op) {
    enum { LAST = 20 };
    const json_t *failures = json_object_get(op, "failures"), *worst = json_object_get(op, "worst");
    size_t n = json_array_size(failures), sum = 0;
    for (size_t i = 0; i < n; i++) sum += (size_t)json_integer_value(json_array_get(failures, i));
    if (sum > 0) {
        nnv_text_addf(t, "  %-28s", nnv_shown(nnv_json_text(op, "op", "?")).s);
        for (size_t i = n > LAST ? n - LAST : 0; i < n; i++)
            nnv_text_addf(t, " %4lld", (long long)json_integer_value(json_array_get(failures, i)));
        nnv_text_add(t, "\n");
    }
    if (json_is_true(json_object_get(op, "record")))
        nnv_text_addf(t, "  %-28s its error is nearer to its bound than ever: %.3f\n", nnv_json_text(op, "op", "?"),
                      json_number_value(json_array_get(worst, n - 1)));
}

void nnv_trend_print(const json_t *trend, FILE *to) {
    struct nnv_text t = {0}, ops = {0};
    const json_t *item;
    size_t i;
    nnv_text_addf(&t, "%-20s  %9s %9s %8s %11s %8s  %11s %13s  %8s  %s\n", "started", "cases", "pass", "bad",
                  "not asked", "not run", "took", "in driver", "worst", "driver");
    json_array_foreach(json_object_get(trend, "runs"), i, item) add_run(&t, item);
    json_array_foreach(json_object_get(trend, "operations"), i, item) add_op(&ops, item);
    if (ops.len > 0) nnv_text_addf(&t, "failures by operation, the last run last:\n%s", ops.data);
    if (!t.failed && !ops.failed) fwrite(t.data, 1, t.len, to);
    nnv_text_free(&t);
    nnv_text_free(&ops);
}
