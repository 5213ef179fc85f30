/* SPDX-License-Identifier: Apache-2.0 */
/** @file html.c A comparison as a page, and as a part of one. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/compare/compare.h"
#include "reports/html/html.h"
#include "harness/journal/load.h"
#include "reports/html/page.h"

enum { SHOWN = 400, ROWS = 60, TEXT = 300 };

static bool is_bench(const json_t *j) { return strcmp(nnv_json_text(j, "form", ""), "nnvts-compare-bench-1") == 0; }

/** A cell of numbers; an interval behind the first where low is not NaN. */
static void add_number(struct nnv_text *t, const char *format, double v) NNV_PRINTF(2, 0);
static void add_number(struct nnv_text *t, const char *format, double v) {
    char text[64];
    snprintf(text, sizeof text, format, v);
    nnv_text_addf(t, "<td class=\"n\">%s</td>", isnan(v) ? "\xe2\x80\x93" : text);
}

static void add_verdict(struct nnv_text *t, const json_t *side) {
    enum nnvts_verdict v = NNVTS_NOTRUN;
    const char *name = nnv_json_text(side, "verdict", NULL);
    nnv_text_add(t, "<td class=\"one\">");
    if (name != NULL && nnv_verdict_parse(name, &v)) {
        nnv_html_sign(t, v);
        nnv_text_add(t, nnv_verdict_word(v));
        if (json_object_get(side, "outcome") != NULL) nnv_text_add(t, "<small> as expected</small>");
    } else {
        nnv_text_add(t, "\xe2\x80\x93");
    }
    nnv_text_add(t, "</td>");
}

static void add_list(struct nnv_text *t, const json_t *j, const struct nnv_compare_list *l) {
    static const char *const heads[] = {"Case", "A", "B", "Reason in B", NULL};
    const json_t *list = json_object_get(j, l->member), *c;
    uint64_t all = nnv_json_count(json_object_get(j, "counts"), l->member);
    size_t i;
    if (all == 0) return;
    nnv_text_addf(t, "<h3>%s <span class=\"soft\">%s</span></h3>\n", l->heading, nnv_count(all).s);
    nnv_page_table(t, heads);
    json_array_foreach(list, i, c) {
        if (i == SHOWN) break;
        const json_t *b = json_object_get(c, "b");
        nnv_page_put(t, "<tr><th scope=\"row\"><span class=\"name\">", nnv_json_text(c, "case", "?"), TEXT,
                     "</span></th>");
        add_verdict(t, json_object_get(c, "a"));
        add_verdict(t, b);
        nnv_page_put(t, "<td class=\"why\">", nnv_json_text(b, "reason", ""), TEXT, "</td></tr>\n");
    }
    nnv_page_table_end(t);
    if (all > SHOWN) nnv_text_addf(t, "<p class=\"soft\">and %s more</p>\n", nnv_count(all - SHOWN).s);
}

static void add_time(struct nnv_text *t, const json_t *time) {
    static const char *const heads[] = {"Operation", "#Times the ratio of all", "#At least", "#At most", "#Cases",
                                        NULL};
    static const char *const of_cases[] = {"Case", "#A, ms", "#B, ms", NULL};
    const json_t *all = json_object_get(time, "all"), *ops = json_object_get(time, "operations"), *j;
    const json_t *cases = json_object_get(time, "cases");
    size_t i;
    if (all == NULL) return;
    nnv_text_addf(
        t,
        "<h3>Time in the driver</h3>\n<p class=\"lead\">B takes %.2f times as long as A (%.2f to %.2f): median "
        "over %s cases that passed in both, interval at 99 %%. Below: operations that lie apart from that by "
        "more than chance explains. Each case ran once; for a verdict, ask nnvts gate.</p>\n",
        nnv_json_real(all, "ratio"), nnv_json_real(all, "low"), nnv_json_real(all, "high"),
        nnv_count(nnv_json_count(all, "cases")).s);
    if (json_array_size(ops) > 0) {
        nnv_page_table(t, heads);
        json_array_foreach(ops, i, j) {
            if (i == ROWS) break;
            nnv_page_put(t, "<tr><th scope=\"row\">", nnv_json_text(j, "op", "?"), TEXT, "</th>");
            add_number(t, "%.2f", nnv_json_real(j, "ratio"));
            add_number(t, "%.2f", nnv_json_real(j, "low"));
            add_number(t, "%.2f", nnv_json_real(j, "high"));
            add_number(t, "%.0f", nnv_json_real(j, "cases"));
            nnv_text_add(t, "</tr>\n");
        }
        nnv_page_table_end(t);
    }
    if (json_array_size(cases) == 0) return;
    nnv_page_table(t, of_cases);
    json_array_foreach(cases, i, j) {
        if (i == ROWS) break;
        nnv_page_put(t, "<tr><th scope=\"row\"><span class=\"name\">", nnv_json_text(j, "case", "?"), TEXT,
                     "</span></th>");
        add_number(t, "%.1f", nnv_json_real(j, "a_us") / 1000);
        add_number(t, "%.1f", nnv_json_real(j, "b_us") / 1000);
        nnv_text_add(t, "</tr>\n");
    }
    nnv_page_table_end(t);
}

static void add_error(struct nnv_text *t, const json_t *error) {
    static const char *const heads[] = {"Operation",          "#A", "#B", "#Cases", "#Rose", "#Fell",
                                        "#Mean square error", NULL};
    const json_t *ops = json_object_get(error, "operations"), *j;
    const bool same = json_is_true(json_object_get(error, "same_values"));
    size_t i;
    if (json_array_size(ops) == 0) return;
    nnv_text_addf(t,
                  "<h3>Errors by their bounds</h3>\n<p class=\"lead\">The worst of all cases that passed: at 1 a case "
                  "fails. %s</p>\n",
                  same ? "Cases that rose or fell by a tenth or more are counted."
                       : "The runs have other values: cases are not compared one by one.");
    nnv_page_table(t, heads);
    json_array_foreach(ops, i, j) {
        if (i == ROWS) break;
        nnv_page_put(t, "<tr><th scope=\"row\">", nnv_json_text(j, "op", "?"), TEXT, "</th>");
        add_number(t, "%.3g", nnv_json_real(j, "a"));
        add_number(t, "%.3g", nnv_json_real(j, "b"));
        add_number(t, "%.0f", nnv_json_real(j, "cases"));
        add_number(t, "%.0f", same ? nnv_json_real(j, "rose") : (double)NAN);
        add_number(t, "%.0f", same ? nnv_json_real(j, "fell") : (double)NAN);
        add_number(t, "%.3g times", nnv_json_real(j, "mse_ratio"));
        nnv_text_add(t, "</tr>\n");
    }
    nnv_page_table_end(t);
    if (json_array_size(ops) > ROWS)
        nnv_text_addf(t, "<p class=\"soft\">and %zu more operations</p>\n", json_array_size(ops) - ROWS);
}

static void add_differences(struct nnv_text *t, const json_t *j) {
    static const char *const heads[] = {"Not the same", "A", "B", NULL};
    const json_t *list = json_object_get(j, "differ"), *member;
    size_t i;
    if (json_array_size(list) == 0) return;
    nnv_page_table(t, heads);
    json_array_foreach(list, i, member) {
        const char *name = json_is_string(member) ? json_string_value(member) : "?";
        nnv_page_put(t, "<tr><th scope=\"row\">", name, TEXT, "</th><td>");
        nnv_html_cut(t, nnv_json_text(json_object_get(j, "a"), name, "?"), TEXT);
        nnv_page_put(t, "</td><td>", nnv_json_text(json_object_get(j, "b"), name, "?"), TEXT, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

void nnv_compare_add(struct nnv_text *t, const json_t *j) {
    add_differences(t, j);
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) add_list(t, j, &nnv_compare_lists[k]);
    if (is_bench(j)) {
        nnv_compare_add_benches(t, j);
        return;
    }
    add_time(t, json_object_get(j, "time"));
    add_error(t, json_object_get(j, "error"));
}

static void add_run(struct nnv_text *t, const char *name, const json_t *run) {
    nnv_text_addf(t, "<div><dt>%s</dt><dd>", name);
    nnv_html_cut(t, nnv_json_text(run, "folder", "?"), TEXT);
    nnv_page_put(t, "<small>", nnv_json_text(run, "driver", ""), TEXT, " ");
    nnv_html_cut(t, nnv_json_text(run, "version", ""), TEXT);
    nnv_text_add(t, "</small><small>");
    nnv_html_cut(t, nnv_json_text(run, "start", "?"), TEXT);
    nnv_text_addf(t, "</small><small>%s cases</small></dd></div>\n",
                  nnv_count(nnv_json_count(run, is_bench(run) ? "rows" : "cases")).s);
}

enum nnv_status nnv_compare_html(const json_t *j, const char *path, struct nnv_err *err) {
    struct nnv_text t = {0}, sentence = {0};
    const bool worse = nnv_compare_worse(j);
    nnv_text_add(&sentence, worse ? "Worse: " : "Not worse: ");
    nnv_compare_sentence(&sentence, j);
    const struct nnv_page page = {.title = sentence.data,
                                  .kicker = is_bench(j) ? "nnvts \xc2\xb7 two benches" : "nnvts \xc2\xb7 two runs",
                                  .heading = sentence.data,
                                  .verdict = worse ? 'F' : 'P'};
    nnv_page_begin(&t, &page);
    nnv_text_add(&t, "<dl class=\"facts\">\n");
    add_run(&t, "A, before", json_object_get(j, "a"));
    add_run(&t, "B, after", json_object_get(j, "b"));
    nnv_text_add(&t, "</dl>\n</header>\n<main>\n<section>\n");
    nnv_compare_add(&t, j);
    nnv_text_add(&t, "</section>\n");
    t.failed = t.failed || sentence.failed;
    enum nnv_status s = nnv_page_write(&t, &page, path, err);
    nnv_text_free(&t);
    nnv_text_free(&sentence);
    return s;
}
