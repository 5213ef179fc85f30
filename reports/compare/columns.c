/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/compare/columns.h"

#include <string.h>

#include "base/map.h"
#include "base/words.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "reports/compare/compare.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum { SHOWN = 20, ROWS = 400, TEXT = 300 };

/* ------------------------------------------------------------------------- JSON */

struct table {
    struct nnv_report *report[NNV_COLUMNS_MOST];
    size_t columns;
    struct nnv_map names; /* of the cases of all runs */
};

static const struct nnv_report_case *case_of(const struct nnv_report *r, const char *name) {
    const uint32_t i = nnv_report_find(r, name);
    return i == NNV_MAP_NONE ? NULL : &r->item[i];
}

/** "PASS"; "-" where the run has no such case. */
static const char *verdict_of(const struct nnv_report_case *c) { return c ? nnv_verdict_name(c->verdict) : "-"; }

/** What names a run, and how its cases ended. */
static json_t *column_json(const struct nnv_report *r, const struct nnv_matrix_column *column) {
    const json_t *driver = json_object_get(r->header, "driver");
    json_t *verdicts = json_object();
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) {
        const size_t n = nnv_report_count(r, (enum nnvts_verdict)v);
        if (n > 0) json_object_set_new(verdicts, nnv_verdict_name((enum nnvts_verdict)v), json_integer((json_int_t)n));
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:o}", "name", column->name, "settings", column->settings, "folder",
                     r->folder, "driver", nnv_json_text(driver, "argument", "?"), "version",
                     nnv_json_text(driver, "version", "?"), "bad", (int)r->bad, "verdicts", verdicts);
}

/** A case that ends otherwise in some column; NULL: in none. */
static json_t *case_json(const struct table *t, const char *name, bool *bad) {
    const struct nnv_report_case *first = case_of(t->report[0], name);
    json_t *verdicts = json_array();
    const char *reason = "", *op = "";
    bool same = true;
    *bad = true;
    for (size_t k = 0; k < t->columns; k++) {
        const struct nnv_report_case *c = case_of(t->report[k], name);
        const bool fails = c && nnv_verdict_bad(c->verdict);
        same = same && strcmp(verdict_of(c), verdict_of(first)) == 0;
        *bad = *bad && fails;
        if (fails && !*reason) reason = c->more->reason;
        if (c) op = t->report[k]->ops.key[c->op];
        json_array_append_new(verdicts, json_string(verdict_of(c)));
    }
    if (!same) return json_pack("{s:s,s:s,s:o,s:s}", "case", name, "op", op, "verdicts", verdicts, "reason", reason);
    json_decref(verdicts);
    return NULL;
}

/** Counts a case among those of its operation, by column: how many are bad. */
static void count_op(json_t *ops, const json_t *item) {
    const char *op = nnv_json_text(item, "op", "");
    const json_t *verdicts = json_object_get(item, "verdicts"), *v;
    json_t *counts = json_object_get(ops, op);
    size_t k;
    if (!counts) {
        counts = json_array();
        for (k = 0; k < json_array_size(verdicts); k++) json_array_append_new(counts, json_integer(0));
        json_object_set_new(ops, op, counts);
    }
    json_array_foreach(verdicts, k, v) {
        enum nnvts_verdict verdict;
        json_t *n = json_array_get(counts, k);
        if (nnv_verdict_parse(json_string_value(v), &verdict) && nnv_verdict_bad(verdict))
            json_integer_set(n, json_integer_value(n) + 1);
    }
}

static json_t *matrix_json(const struct table *t, const struct nnv_matrix_column *column) {
    json_t *columns = json_array(), *differ = json_array(), *ops = json_object();
    size_t count = 0, everywhere = 0;
    for (size_t k = 0; k < t->columns; k++) json_array_append_new(columns, column_json(t->report[k], &column[k]));
    for (uint32_t i = 0; i < t->names.count; i++) {
        bool bad;
        json_t *item = case_json(t, t->names.key[i], &bad);
        everywhere += bad;
        if (!item) continue;
        count_op(ops, item);
        if (count++ < NNV_COMPARE_MOST)
            json_array_append_new(differ, item);
        else
            json_decref(item);
    }
    return json_pack("{s:s,s:o,s:I,s:I,s:I,s:o,s:o}", "form", "nnvts-matrix-1", "columns", columns, "cases",
                     (json_int_t)t->names.count, "differing", (json_int_t)count, "bad_everywhere",
                     (json_int_t)everywhere, "operations", ops, "differ", differ);
}

enum nnv_status nnv_columns(const struct nnv_matrix_column *columns, size_t count, json_t **matrix,
                            struct nnv_err *err) {
    struct table t = {.columns = count};
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; k < count && st == NNV_OK; k++) {
        st = nnv_report_load(columns[k].folder, &t.report[k], err);
        for (size_t i = 0; st == NNV_OK && i < t.report[k]->count; i++) {
            const char *name = t.report[k]->item[i].name;
            if (nnv_map_find(&t.names, name) == NNV_MAP_NONE && nnv_map_add(&t.names, name) == NNV_MAP_NONE)
                st = nnv_no_memory(err);
        }
    }
    if (st == NNV_OK && !(*matrix = matrix_json(&t, columns))) st = nnv_no_memory(err);
    nnv_map_free(&t.names);
    for (size_t k = 0; k < count; k++) nnv_report_free(t.report[k]);
    return st;
}

/* ------------------------------------------------------------------------ console */

static void add(struct nnv_text *t, const char *s) { nnv_text_add_shown(t, s, strlen(s), TEXT); }

void nnv_columns_print(const json_t *j, struct nnv_text *to) {
    const json_t *columns = json_object_get(j, "columns"), *differ = json_object_get(j, "differ"), *c, *v, *counts;
    const char *op;
    size_t i, k;
    json_array_foreach(differ, i, c) {
        if (i == SHOWN) break;
        nnv_text_add(to, "  ");
        json_array_foreach(json_object_get(c, "verdicts"), k, v)
            nnv_text_addf(to, "%s%s", k ? " | " : "", json_string_value(v));
        nnv_text_add(to, "  ");
        add(to, nnv_json_text(c, "case", "?"));
        nnv_text_add(to, "\n       ");
        add(to, nnv_json_text(c, "reason", ""));
        nnv_text_add(to, "\n");
    }
    const uint64_t all = nnv_json_count(j, "differing");
    if (all > SHOWN) nnv_text_addf(to, "  and %s more (all in matrix.json)\n", nnv_count(all - SHOWN).s);
    json_object_foreach((json_t *)(uintptr_t)json_object_get(j, "operations"), op, counts) {
        nnv_text_add(to, "  failing: ");
        json_array_foreach(counts, k, v) nnv_text_addf(to, "%s%lld", k ? " | " : "", (long long)json_integer_value(v));
        nnv_text_add(to, "  ");
        add(to, *op ? op : "no operation");
        nnv_text_add(to, "\n");
    }
    json_array_foreach(columns, k, c) {
        nnv_text_addf(to, "%zu: ", k + 1);
        add(to, nnv_json_text(c, "name", "?"));
        nnv_text_add(to, "  ");
        add(to, nnv_json_text(c, "settings", ""));
        nnv_text_addf(to, "  %s bad\n", nnv_count(nnv_json_count(c, "bad")).s);
    }
    nnv_text_addf(to, "%s of %s cases differ between %zu columns; %s fail in all\n", nnv_count(all).s,
                  nnv_count(nnv_json_count(j, "cases")).s, json_array_size(columns),
                  nnv_count(nnv_json_count(j, "bad_everywhere")).s);
}

/* --------------------------------------------------------------------------- page */

/** A table whose columns behind the first are those of the matrix, and perhaps one more. */
static void begin_table(struct nnv_text *t, const json_t *j, const char *first, const char *last) {
    const char *heads[NNV_COLUMNS_MOST + 3] = {first};
    const json_t *c;
    size_t k, n = 1;
    json_array_foreach(json_object_get(j, "columns"), k, c) if (n <= NNV_COLUMNS_MOST) heads[n++] =
        nnv_json_text(c, "name", "?");
    heads[n] = last;
    nnv_page_table(t, heads);
}

static void add_verdict(struct nnv_text *t, const char *name) {
    enum nnvts_verdict v;
    nnv_text_add(t, "<td class=\"one\">");
    if (name && nnv_verdict_parse(name, &v)) {
        nnv_html_sign(t, v);
        nnv_text_add(t, nnv_verdict_word(v));
    } else {
        nnv_text_add(t, "\xe2\x80\x93");
    }
    nnv_text_add(t, "</td>");
}

static void add_differences(struct nnv_text *t, const json_t *j) {
    const json_t *c, *v, *counts, *ops = json_object_get(j, "operations");
    const uint64_t all = nnv_json_count(j, "differing");
    const char *op;
    size_t i, k;
    if (all == 0) return;
    nnv_text_add(t, "<h3>Failures of operations whose cases differ</h3>\n");
    begin_table(t, j, "Operation", NULL);
    json_object_foreach((json_t *)(uintptr_t)ops, op, counts) {
        nnv_page_put(t, "<tr><th scope=\"row\">", *op ? op : "none", TEXT, "</th>");
        json_array_foreach(counts, k, v)
            nnv_text_addf(t, "<td class=\"one\">%lld</td>", (long long)json_integer_value(v));
        nnv_text_add(t, "</tr>\n");
    }
    nnv_page_table_end(t);
    nnv_text_addf(t, "<h3>Cases that differ <span class=\"soft\">%s</span></h3>\n", nnv_count(all).s);
    begin_table(t, j, "Case", "First reason");
    json_array_foreach(json_object_get(j, "differ"), i, c) {
        if (i == ROWS) break;
        nnv_page_put(t, "<tr><th scope=\"row\"><span class=\"name\">", nnv_json_text(c, "case", "?"), TEXT,
                     "</span></th>");
        json_array_foreach(json_object_get(c, "verdicts"), k, v) add_verdict(t, json_string_value(v));
        nnv_page_put(t, "<td class=\"why\">", nnv_json_text(c, "reason", ""), TEXT, "</td></tr>\n");
    }
    nnv_page_table_end(t);
    if (all > ROWS) nnv_text_addf(t, "<p class=\"soft\">and %s more</p>\n", nnv_count(all - ROWS).s);
}

static void add_columns(struct nnv_text *t, const json_t *j) {
    const json_t *c;
    size_t k;
    nnv_text_add(t, "<h3>Columns</h3>\n");
    nnv_page_table(t, (const char *const[]){"Column", "Settings", "Driver", "Verdicts", "Report", NULL});
    json_array_foreach(json_object_get(j, "columns"), k, c) {
        const char *name = nnv_json_text(c, "name", "?");
        size_t n[NNVTS_VERDICT_COUNT];
        for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
            n[v] = (size_t)nnv_json_count(json_object_get(c, "verdicts"), nnv_verdict_name((enum nnvts_verdict)v));
        nnv_page_put(t, "<tr><th scope=\"row\">", name, TEXT, "</th><td>");
        nnv_html_cut(t, nnv_json_text(c, "settings", ""), TEXT);
        nnv_page_put(t, "</td><td>", nnv_json_text(c, "driver", "?"), TEXT, "</td><td>");
        nnv_html_counts(t, n);
        nnv_page_put(t, "</td><td><a href=\"", name, TEXT, "/report.html\">report.html</a></td></tr>\n");
    }
    nnv_page_table_end(t);
}

void nnv_columns_html(const json_t *j, struct nnv_text *t) {
    struct nnv_text heading = {0};
    const uint64_t all = nnv_json_count(j, "differing");
    nnv_text_addf(&heading, "%s of %s cases differ", nnv_count(all).s, nnv_count(nnv_json_count(j, "cases")).s);
    const struct nnv_page page = {.title = heading.data,
                                  .kicker = "nnvts \xc2\xb7 a matrix of runs",
                                  .heading = heading.data,
                                  .verdict = all > 0 ? 'F' : 'P'};
    nnv_page_begin(t, &page);
    nnv_text_addf(t, "<p>%zu columns; %s cases fail in all.</p>\n</header>\n<main>\n<section>\n",
                  json_array_size(json_object_get(j, "columns")), nnv_count(nnv_json_count(j, "bad_everywhere")).s);
    add_differences(t, j);
    add_columns(t, j);
    nnv_text_add(t, "</section>\n");
    nnv_page_end(t, &page);
    t->failed = t->failed || heading.failed;
    nnv_text_free(&heading);
}
