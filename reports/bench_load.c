/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_load.c Reads bench.json. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/bench.h"
#include "harness/journal/load.h"

enum { LARGEST_FILE = 1 << 29, TEXT = 400 /* bytes of what a file says */ };

static const size_t NONE = SIZE_MAX;

double nnv_bench_number(const json_t *object, ...) {
    va_list names;
    double v;
    va_start(names, object);
    for (const char *name = va_arg(names, const char *); name; name = va_arg(names, const char *))
        object = json_object_get(object, name);
    va_end(names);
    return nnv_json_number(object, &v) ? v : (double)NAN;
}

void nnv_bench_add_time(struct nnv_text *t, double ns) {
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    int u = 0;
    if (!isfinite(ns)) {
        nnv_text_add(t, "\xe2\x80\x93");
        return;
    }
    while (fabs(ns) >= 999.5 && u < 3) ns /= 1000, u++;
    double size = fabs(ns);
    if (size >= 1e6)
        nnv_text_addf(t, "%.3g\xc2\xa0%s", ns, units[u]);
    else
        nnv_text_addf(t, "%.*f\xc2\xa0%s", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, ns, units[u]);
}

void nnv_bench_add_text(struct nnv_text *t, const char *s) {
    struct nnv_text shown = {0};
    nnv_text_add_shown(&shown, s, strlen(s), TEXT);
    nnv_text_add_xml(t, shown.data ? shown.data : "");
    t->failed = t->failed || shown.failed;
    nnv_text_free(&shown);
}

/* ----------------------------------------------------------------- verdicts */

/** What a member "state" says; PASS: done. */
static enum nnvts_verdict state_of(const json_t *part) {
    static const struct {
        const char *name;
        enum nnvts_verdict verdict;
    } states[] = {{"done", NNVTS_PASS},     {"unsupported", NNVTS_UNSUPPORTED}, {"failed", NNVTS_FAIL},
                  {"crashed", NNVTS_CRASH}, {"timeout", NNVTS_TIMEOUT},         {"error", NNVTS_ERROR},
                  {"skipped", NNVTS_PASS}};
    const char *state = nnv_json_text(part, "state", NULL);
    if (!part) return NNVTS_PASS;
    for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
        if (strcmp(state, states[i].name) == 0) return states[i].verdict;
    return NNVTS_ERROR;
}

/** Unsupported is told only if nothing worse is; a gate speaks before a mere failure. */
static void judge(struct nnv_bench_line *l) {
    const json_t *parts[] = {l->latency, l->accuracy, l->layers};
    const char *gate = nnv_json_text(l->all, "gate", "");
    l->verdict = NNVTS_PASS;
    l->why = "";
    for (size_t i = 0; i < 3; i++) {
        enum nnvts_verdict v = state_of(parts[i]);
        if (v == NNVTS_PASS || (v == NNVTS_UNSUPPORTED && l->verdict != NNVTS_PASS)) continue;
        if (l->verdict != NNVTS_PASS && l->verdict != NNVTS_UNSUPPORTED) continue;
        l->verdict = v;
        l->why = nnv_json_text(parts[i], "reason", "");
    }
    const bool empty = !json_is_object(l->latency) && !json_is_object(l->accuracy) && !json_is_object(l->layers);
    const bool failed = empty || json_is_true(json_object_get(l->all, "failed"));
    if (failed && (l->verdict == NNVTS_PASS || l->verdict == NNVTS_UNSUPPORTED)) l->verdict = NNVTS_FAIL;
    if (failed && *gate) l->why = gate;
    if (empty) l->why = "nothing was measured";
    if (l->verdict != NNVTS_PASS && !*l->why) l->why = "no reason is given";
}

/* --------------------------------------------------------------------- lines */

static enum nnv_status take_line(struct nnv_bench_sheet *s, const json_t *row, struct nnv_err *err) {
    struct nnv_bench_line *l = &s->line[s->count];
    if (!json_is_object(row)) return nnv_fail(err, NNV_INVALID, "rows[%zu] is not an object", s->count);
    *l = (struct nnv_bench_line){.network = nnv_json_text(row, "network", "?"),
                                 .driver = nnv_json_text(row, "driver", "?"),
                                 .all = row,
                                 .latency = json_object_get(row, "latency"),
                                 .accuracy = json_object_get(row, "accuracy"),
                                 .layers = json_object_get(row, "layers"),
                                 .next = NONE};
    if (!*l->network) l->network = "?";
    if (!*l->driver) l->driver = "?";
    l->p50 = nnv_bench_number(l->latency, "quantiles", "p50", "ns", NULL);
    judge(l);
    uint32_t before = s->networks.count;
    l->group = nnv_map_add(&s->networks, l->network);
    if (l->group == NNV_MAP_NONE) return nnv_no_memory(err);
    if (l->group == before)
        s->first[l->group] = s->count;
    else
        s->line[s->last[l->group]].next = s->count;
    s->last[l->group] = s->count++;
    s->verdicts[l->verdict]++;
    return NNV_OK;
}

static enum nnv_status take_file(struct nnv_bench_sheet *s, const char *text, size_t n, struct nnv_err *err) {
    json_error_t why;
    s->root = nnv_record_parse(text, n, &why);
    if (!s->root)
        return nnv_fail(err, NNV_INVALID, "not JSON: %s at line %d, column %d", why.text, why.line, why.column);
    const char *form = nnv_json_text(s->root, "form", "");
    if (strcmp(form, "nnvts-bench-1") != 0)
        return nnv_fail(err, NNV_INVALID, "its form is '%.40s', not nnvts-bench-1: nnvts bench did not write it", form);
    const json_t *rows = json_object_get(s->root, "rows");
    if (!json_is_array(rows)) return nnv_fail(err, NNV_INVALID, "it has no array rows");
    size_t count = json_array_size(rows);
    s->line = calloc(count + 1, sizeof *s->line);
    s->first = calloc(count + 1, sizeof *s->first);
    s->last = calloc(count + 1, sizeof *s->last);
    if (!s->line || !s->first || !s->last) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < count && st == NNV_OK; i++) st = take_line(s, json_array_get(rows, i), err);
    return st;
}

enum nnv_status nnv_bench_load(const char *folder, struct nnv_bench_sheet **sheet, struct nnv_err *err) {
    struct nnv_text path = {0};
    struct nnv_bench_sheet *s = calloc(1, sizeof *s);
    char *text = NULL;
    size_t n = 0;
    nnv_text_add_path(&path, folder, "bench.json");
    if (s) s->folder = strdup(folder);
    enum nnv_status st = NNV_OK;
    if (!s || !s->folder || path.failed) st = nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_file_read(path.data, LARGEST_FILE, &text, &n, err);
    if (st == NNV_OK && (st = take_file(s, text, n, err)) != NNV_OK) st = nnv_at(err, st, "%s", path.data);
    free(text);
    nnv_text_free(&path);
    if (st == NNV_OK)
        *sheet = s;
    else
        nnv_bench_free(s);
    return st;
}

void nnv_bench_free(struct nnv_bench_sheet *s) {
    if (!s) return;
    json_decref(s->root);
    nnv_map_free(&s->networks);
    free(s->folder);
    free(s->line);
    free(s->first);
    free(s->last);
    free(s);
}

bool nnv_bench_is(const char *folder) {
    struct nnv_text bench = {0}, journal = {0};
    nnv_text_add_path(&bench, folder, "bench.json");
    nnv_text_add_path(&journal, folder, "journal.jsonl");
    bool is = !bench.failed && !journal.failed && access(bench.data, F_OK) == 0 && access(journal.data, F_OK) != 0;
    nnv_text_free(&bench);
    nnv_text_free(&journal);
    return is;
}

enum nnvts_exit nnv_bench_exit(const struct nnv_bench_sheet *s) {
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        if (s->verdicts[v] && nnv_verdict_bad((enum nnvts_verdict)v)) return NNVTS_EXIT_FAIL;
    return NNVTS_EXIT_PASS;
}
