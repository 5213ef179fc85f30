/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench.c Two benches side by side: rows of one network and driver. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/bench.h"
#include "reports/compare/compare.h"
#include "harness/journal/load.h"
#include "reports/html/page.h"

static const char *const measures[] = {"top1", "phone_error_rate", "mean_square_error"};

static size_t rows_of(const struct nnv_bench_sheet *s, const char *network) {
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) n += strcmp(s->line[i].network, network) == 0;
    return n;
}

/** The line of B that is compared with a: of the same network and driver, or of the only drivers that both have. */
static size_t match(const struct nnv_bench_sheet *a, size_t i, const struct nnv_bench_sheet *b, const bool *taken) {
    const struct nnv_bench_line *l = &a->line[i];
    size_t only = SIZE_MAX;
    for (size_t k = 0; k < b->count; k++) {
        if (taken[k] || strcmp(b->line[k].network, l->network) != 0) continue;
        if (strcmp(b->line[k].driver, l->driver) == 0) return k;
        only = k;
    }
    return only != SIZE_MAX && rows_of(a, l->network) == 1 && rows_of(b, l->network) == 1 ? only : SIZE_MAX;
}

static json_t *line_json(const struct nnv_bench_line *l) {
    json_t *j = json_pack("{s:s,s:s}", "driver", l->driver, "verdict", nnv_verdict_name(l->verdict));
    if (*l->why != '\0') json_object_set_new(j, "reason", json_string(l->why));
    json_object_set_new(j, "p50_ns", nnv_json_finite(l->p50));
    json_object_set_new(j, "low_ns", nnv_json_finite(nnv_bench_number(l->latency, "quantiles", "p50", "low_ns", NULL)));
    json_object_set_new(j, "high_ns",
                        nnv_json_finite(nnv_bench_number(l->latency, "quantiles", "p50", "high_ns", NULL)));
    json_object_set_new(j, "p99_ns", nnv_json_finite(nnv_bench_number(l->latency, "quantiles", "p99", "ns", NULL)));
    json_object_set_new(j, "noisy", json_boolean(json_is_true(json_object_get(l->latency, "noisy"))));
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        double v = nnv_bench_number(l->accuracy, "driver", measures[i], NULL);
        if (!isnan(v)) json_object_set_new(j, measures[i], nnv_json_finite(v));
    }
    return j;
}

/** "slower", "faster", "same": by medians whose intervals do not meet; "unknown" where the machine was noisy. */
static const char *speed_of(const json_t *a, const json_t *b) {
    if (!(nnv_json_real(a, "p50_ns") > 0 && nnv_json_real(b, "p50_ns") > 0)) return "unknown";
    if (json_is_true(json_object_get(a, "noisy")) || json_is_true(json_object_get(b, "noisy"))) return "unknown";
    if (nnv_json_real(b, "low_ns") > nnv_json_real(a, "high_ns")) return "slower";
    return nnv_json_real(b, "high_ns") < nnv_json_real(a, "low_ns") ? "faster" : "same";
}

struct lists {
    json_t *of[NNV_CHANGE_COUNT], *rows;
    bool worse;
};

/** Adds a row of the comparison; either side may be NULL. */
static void add_row(struct lists *x, const struct nnv_bench_line *a, const struct nnv_bench_line *b) {
    struct nnv_compare_case c = {0};
    bool not_run;
    json_t *of[2], *row = json_pack("{s:s}", "network", (a ? a : b)->network);
    const struct nnv_bench_line *lines[] = {a, b};
    for (int side = 0; side < 2; side++) {
        of[side] = lines[side] ? line_json(lines[side]) : NULL;
        c.side[side].listed = lines[side] != NULL;
        c.side[side].verdict = lines[side] ? lines[side]->verdict : NNVTS_NOTRUN;
        c.side[side].reason = lines[side] ? lines[side]->why : "";
        if (of[side]) json_object_set(row, side ? "b" : "a", of[side]);
    }
    if (a && b) {
        json_object_set_new(row, "ratio", nnv_json_finite(b->p50 / a->p50));
        json_object_set_new(row, "speed", json_string(speed_of(of[0], of[1])));
    }
    enum nnv_change change = nnv_compare_change(&c, &not_run);
    if (change != NNV_CHANGE_NONE) {
        struct nnv_text name = {0};
        nnv_text_addf(&name, "%s on %s", lines[b ? 1 : 0]->network, lines[b ? 1 : 0]->driver);
        json_t *entry = json_pack("{s:s}", "case", name.failed ? "?" : name.data);
        if (of[0]) json_object_set(entry, "a", of[0]);
        if (of[1]) json_object_set(entry, "b", of[1]);
        json_array_append_new(x->of[change], entry);
        nnv_text_free(&name);
    }
    x->worse = x->worse || change == NNV_CHANGE_NEW_FAILURE;
    json_decref(of[0]);
    json_decref(of[1]);
    json_array_append_new(x->rows, row);
}

static json_t *sheet_json(const struct nnv_bench_sheet *s) {
    return json_pack("{s:s,s:s,s:s,s:s,s:I}", "folder", s->folder, "nnvts", nnv_json_text(s->root, "version", "?"),
                     "start", nnv_json_text(s->root, "start", "?"), "host",
                     nnv_json_text(json_object_get(s->root, "machine"), "host", "?"), "rows", (json_int_t)s->count);
}

static json_t *compare(const struct nnv_bench_sheet *a, const struct nnv_bench_sheet *b) {
    static const char *const members[] = {"nnvts", "host"};
    struct lists x = {.rows = json_array()};
    json_t *j = json_pack("{s:s,s:o,s:o}", "form", "nnvts-compare-bench-1", "a", sheet_json(a), "b", sheet_json(b));
    json_t *counts = json_object(), *differ = json_array();
    bool *taken = calloc(b->count + 1, sizeof *taken);
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) x.of[k] = json_array();
    for (size_t i = 0; taken && i < a->count; i++) {
        size_t k = match(a, i, b, taken);
        if (k != SIZE_MAX) taken[k] = true;
        add_row(&x, &a->line[i], k == SIZE_MAX ? NULL : &b->line[k]);
    }
    for (size_t k = 0; taken && k < b->count; k++)
        if (!taken[k]) add_row(&x, NULL, &b->line[k]);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_equal(json_object_get(json_object_get(j, "a"), members[i]),
                        json_object_get(json_object_get(j, "b"), members[i])))
            json_array_append_new(differ, json_string(members[i]));
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) {
        json_object_set_new(counts, nnv_compare_lists[k].member, json_integer((json_int_t)json_array_size(x.of[k])));
        json_object_set_new(j, nnv_compare_lists[k].member, x.of[k]);
    }
    json_object_set_new(j, "differ", differ);
    json_object_set_new(j, "counts", counts);
    json_object_set_new(j, "worse", json_boolean(x.worse));
    json_object_set_new(j, "rows", x.rows);
    if (taken) {
        free(taken);
        return j;
    }
    json_decref(j);
    return NULL;
}

enum nnv_status nnv_compare_benches(const char *a, const char *b, json_t **comparison, struct nnv_err *err) {
    struct nnv_bench_sheet *of[2] = {NULL, NULL};
    enum nnv_status s = nnv_bench_load(a, &of[0], err);
    if (s == NNV_OK) s = nnv_bench_load(b, &of[1], err);
    json_t *j = s == NNV_OK ? compare(of[0], of[1]) : NULL;
    if (s == NNV_OK && j == NULL) s = nnv_no_memory(err);
    nnv_bench_free(of[0]);
    nnv_bench_free(of[1]);
    if (s == NNV_OK) *comparison = j;
    return s;
}

/* -------------------------------------------------------------------- showing */

static void add_times(struct nnv_text *t, const json_t *row) {
    const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
    nnv_bench_add_time(t, nnv_json_real(a, "p50_ns"));
    nnv_text_add(t, " -> ");
    nnv_bench_add_time(t, nnv_json_real(b, "p50_ns"));
}

void nnv_compare_print_benches(const json_t *j, struct nnv_text *to) {
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(j, "rows"), i, row) {
        const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
        const char *name = nnv_json_text(row, "network", "?"), *driver = nnv_json_text(b ? b : a, "driver", "?");
        nnv_text_add(to, "  ");
        nnv_text_add_shown(to, name, strlen(name), 60);
        nnv_text_add(to, "  ");
        nnv_text_add_shown(to, driver, strlen(driver), 60);
        nnv_text_addf(to, "  %s -> %s  p50 ", nnv_json_text(a, "verdict", "-"), nnv_json_text(b, "verdict", "-"));
        add_times(to, row);
        double ratio = nnv_json_real(row, "ratio");
        if (ratio > 0) nnv_text_addf(to, "  %.3f times: %s", ratio, nnv_json_text(row, "speed", "?"));
        nnv_text_add(to, "\n");
    }
    nnv_text_addf(to, "%s: ", nnv_compare_worse(j) ? "WORSE" : "not worse");
    nnv_compare_sentence(to, j);
    nnv_text_add(to, "\n");
}

void nnv_compare_add_benches(struct nnv_text *t, const json_t *j) {
    const json_t *row;
    size_t i;
    nnv_page_table(t, (const char *const[]){"Network", "Driver", "A", "B", "#p50", "#Ratio", NULL});
    json_array_foreach(json_object_get(j, "rows"), i, row) {
        const json_t *a = json_object_get(row, "a"), *b = json_object_get(row, "b");
        nnv_page_text(t, "<tr><th scope=\"row\">", nnv_json_text(row, "network", "?"), "</th><td>");
        nnv_text_add_xml(t, nnv_json_text(b ? b : a, "driver", "?"));
        nnv_page_text(t, "</td><td>", nnv_json_text(a, "verdict", "\xe2\x80\x93"), "</td><td>");
        nnv_text_add_xml(t, nnv_json_text(b, "verdict", "\xe2\x80\x93"));
        nnv_text_add(t, "</td><td class=\"n\">");
        add_times(t, row);
        nnv_text_add(t, "</td><td class=\"n\">");
        double ratio = nnv_json_real(row, "ratio");
        if (ratio > 0) nnv_text_addf(t, "%.3f<small> ", ratio);
        if (ratio > 0) nnv_text_add_xml(t, nnv_json_text(row, "speed", "?"));
        if (ratio > 0) nnv_text_add(t, "</small>");
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}
