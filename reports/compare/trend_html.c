/* SPDX-License-Identifier: Apache-2.0 */
/** @file trend_html.c A trend as a page: plots, and the same numbers in tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/journal/verdict.h"
#include "reports/html/html.h"
#include "harness/journal/load.h"
#include "reports/html/page.h"
#include "reports/compare/trend.h"

enum { TEXT = 200, LAST = 24, ROWS = 200 };

static const char *const css =
    ".few td.n{font-variant-numeric:tabular-nums}.few td.F{color:var(--F);background:var(--Fb);"
    "font-weight:600}.few td.z{color:var(--soft)}\n";

/** One number of each run; the caller frees it. */
static double *column(const json_t *runs, const char *object, const char *member, double otherwise) {
    size_t n = json_array_size(runs);
    double *y = calloc(n + 1, sizeof *y);
    for (size_t i = 0; y != NULL && i < n; i++) {
        const json_t *run = json_array_get(runs, i);
        y[i] = nnv_json_real(object != NULL ? json_object_get(run, object) : run, member);
        if (isnan(y[i])) y[i] = otherwise;
    }
    return y;
}

static const char *start_of(const json_t *runs, size_t i) {
    return nnv_json_text(json_array_get(runs, i), "start", "?");
}

static void add_verdicts(struct nnv_text *t, const json_t *runs) {
    static const char *const colours[NNVTS_VERDICT_COUNT] = {
        [NNVTS_ERROR] = "--E",       [NNVTS_PASS] = "--P",    [NNVTS_FAIL] = "--F",
        [NNVTS_UNSUPPORTED] = "--U", [NNVTS_SKIP] = "--S",    [NNVTS_UNTRUSTED] = "--Q",
        [NNVTS_CRASH] = "--C",       [NNVTS_TIMEOUT] = "--T", [NNVTS_NOTRUN] = "--line",
    };
    struct nnv_plot_series parts[NNVTS_VERDICT_COUNT];
    double *y[NNVTS_VERDICT_COUNT] = {NULL};
    size_t n = json_array_size(runs), count = 0;
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        double sum = 0;
        y[k] = column(runs, "verdicts", nnv_verdict_name(v), 0);
        t->failed = t->failed || y[k] == NULL;
        for (size_t i = 0; y[k] != NULL && i < n; i++) sum += y[k][i];
        if (sum > 0)
            parts[count++] = (struct nnv_plot_series){.name = nnv_verdict_word(v), .colour = colours[v], .y = y[k]};
    }
    nnv_plot_bars(t, "verdicts of each run", parts, count, n, start_of(runs, 0), start_of(runs, n - 1));
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) free(y[k]);
}

/** A plot of two members. */
static void add_two(struct nnv_text *t, const json_t *runs, const char *title, const char *unit, double limit,
                    const char *const *members, const char *const *names) {
    size_t n = json_array_size(runs);
    double *y[2] = {column(runs, NULL, members[0], (double)NAN), column(runs, NULL, members[1], (double)NAN)};
    if (y[0] != NULL && y[1] != NULL) {
        const struct nnv_plot_series series[2] = {{.name = names[0], .colour = "--link", .y = y[0]},
                                                  {.name = names[1], .colour = "--T", .y = y[1], .dashed = true}};
        nnv_plot_lines(t, title, series, 2, n, unit, limit, start_of(runs, 0), start_of(runs, n - 1));
    } else {
        t->failed = true;
    }
    free(y[0]);
    free(y[1]);
}

static void add_run_rows(struct nnv_text *t, const json_t *runs) {
    const json_t *run;
    size_t i;
    nnv_page_table(t, (const char *const[]){"Run", "Driver", "Verdicts", "#In the driver", "#Worst error", NULL});
    json_array_foreach(runs, i, run) {
        size_t n[NNVTS_VERDICT_COUNT];
        if (i == ROWS) break;
        for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
            n[v] = (size_t)nnv_json_count(json_object_get(run, "verdicts"), nnv_verdict_name((enum nnvts_verdict)v));
        nnv_text_addf(t, "<tr><th scope=\"row\">%zu <span class=\"name\">", i + 1);
        nnv_html_cut(t, nnv_json_text(run, "folder", "?"), TEXT);
        nnv_page_put(t, "</span> <small>", nnv_json_text(run, "start", "?"), TEXT, "</small></th><td>");
        nnv_html_cut(t, nnv_json_text(run, "driver", "?"), TEXT);
        nnv_page_put(t, " ", nnv_json_text(run, "version", "?"), TEXT, " <small>seed ");
        nnv_html_cut(t, nnv_json_text(run, "seed", "?"), TEXT);
        nnv_text_add(t, "</small></td><td>");
        nnv_html_counts(t, n);
        nnv_text_addf(t, "</td><td class=\"n\">%.1f ms</td>", nnv_json_real(run, "driver_ms"));
        double worst = nnv_json_real(run, "worst");
        nnv_text_addf(t, isnan(worst) ? "<td class=\"n\">\xe2\x80\x93</td></tr>\n" : "<td class=\"n\">%.3f</td></tr>\n",
                      worst);
    }
    nnv_page_table_end(t);
}

/** A row of an operation's numbers in the last runs. */
static void add_op_row(struct nnv_text *t, const json_t *op, bool errors) {
    const json_t *numbers = json_object_get(op, errors ? "worst" : "failures");
    size_t n = json_array_size(numbers);
    nnv_page_put(t, "<tr><th scope=\"row\">", nnv_json_text(op, "op", "?"), TEXT, "</th>");
    for (size_t i = n > LAST ? n - LAST : 0; i < n; i++) {
        double v;
        if (!nnv_json_number(json_array_get(numbers, i), &v))
            nnv_text_add(t, "<td class=\"n z\">\xe2\x80\x93</td>");
        else if (errors)
            nnv_text_addf(t, "<td class=\"n\">%.3f</td>", v);
        else
            nnv_text_addf(t, "<td class=\"n %s\">%.0f</td>", v > 0 ? "F" : "z", v);
    }
    nnv_text_add(t, "</tr>\n");
}

static bool failed(const json_t *op) {
    const json_t *v;
    size_t i;
    json_array_foreach(json_object_get(op, "failures"), i, v) if (json_integer_value(v) > 0) return true;
    return false;
}

/** A table of operations by runs: of failures, or of errors that set a record. */
static void add_ops(struct nnv_text *t, const json_t *trend, bool errors, const char *heading, const char *lead) {
    const json_t *op;
    size_t i, n = json_array_size(json_object_get(trend, "runs")), shown = 0;
    json_array_foreach(json_object_get(trend, "operations"), i, op) {
        if (errors ? !json_is_true(json_object_get(op, "record")) : !failed(op)) continue;
        if (shown == ROWS) break;
        if (shown++ == 0) {
            nnv_text_addf(
                t,
                "<h3>%s</h3>\n<p class=\"lead\">%s</p>\n<div class=\"wide\"><table class=\"plain few\"><thead>"
                "<tr><th scope=\"col\">Operation</th>",
                heading, lead);
            for (size_t k = n > LAST ? n - LAST : 0; k < n; k++)
                nnv_text_addf(t, "<th scope=\"col\" class=\"n\">%zu</th>", k + 1);
            nnv_text_add(t, "</tr></thead><tbody>\n");
        }
        add_op_row(t, op, errors);
    }
    if (shown > 0) nnv_page_table_end(t);
}

static enum nnvts_verdict last_verdict(const json_t *runs) {
    size_t n[NNVTS_VERDICT_COUNT];
    const json_t *last = json_array_get(runs, json_array_size(runs) - 1);
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        n[v] = (size_t)nnv_json_count(json_object_get(last, "verdicts"), nnv_verdict_name((enum nnvts_verdict)v));
    return nnv_html_worst(n);
}

enum nnv_status nnv_trend_html(const json_t *trend, const char *path, struct nnv_err *err) {
    static const char *const times[] = {"seconds", "driver_ms"}, *const errors[] = {"worst", "p99"};
    static const char *const took[] = {"the run, s", "in the driver, s"};
    static const char *const error_names[] = {"worst", "99 of 100 are below"};
    const json_t *runs = json_object_get(trend, "runs");
    struct nnv_text t = {0}, heading = {0};
    size_t n = json_array_size(runs);
    json_t *in_seconds = json_deep_copy(runs);
    for (size_t i = 0; in_seconds != NULL && i < n; i++) {
        json_t *run = json_array_get(in_seconds, i);
        json_object_set_new(run, "driver_ms", json_real(nnv_json_real(run, "driver_ms") / 1000));
    }
    nnv_text_addf(&heading, "%zu run%s", n, n == 1 ? "" : "s");
    const struct nnv_page page = {.title = "Trend",
                                  .kicker = "nnvts \xc2\xb7 trend",
                                  .heading = heading.data,
                                  .css = {nnv_plot_css, css},
                                  .verdict = nnv_verdict_letter(last_verdict(runs))};
    nnv_page_begin(&t, &page);
    nnv_text_add(&t, "</header>\n<main>\n<section>\n<h2>Verdicts</h2>\n");
    add_verdicts(&t, runs);
    add_ops(&t, trend, false, "Failures by operation", "How many cases failed, by the number of the run.");
    nnv_text_add(&t,
                 "</section>\n<section>\n<h2>Errors by their bounds</h2>\n<p class=\"lead\">Of all cases that passed; "
                 "at 1 a case fails.</p>\n");
    add_two(&t, runs, "errors by their bounds", "", 1, errors, error_names);
    add_ops(&t, trend, true, "Nearer to their bounds than ever",
            "Operations whose worst error of the last run is a quarter above that of all earlier runs.");
    nnv_text_add(&t, "</section>\n<section>\n<h2>Time</h2>\n");
    add_two(&t, in_seconds, "time", "\xc2\xa0s", (double)NAN, times, took);
    nnv_text_add(&t, "</section>\n<section>\n<h2>Runs</h2>\n");
    add_run_rows(&t, runs);
    nnv_text_add(&t, "</section>\n");
    t.failed = t.failed || heading.failed || in_seconds == NULL;
    enum nnv_status s = nnv_page_write(&t, &page, path, err);
    json_decref(in_seconds);
    nnv_text_free(&t);
    nnv_text_free(&heading);
    return s;
}
