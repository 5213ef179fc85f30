/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_html.c report.html of a bench: all networks in a table, then each with its distributions and answers. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/bench.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum {
    MOST_BYTES = 1500000, /* of the page; networks behind that are in the table only */
    MOST_LINES = 2000,    /* of the table */
    MOST_STEPS = 12,      /* operations told of a network on a driver */
    TEXT = 400,           /* bytes of the version */
};

static const char *const css =
    ".lat{margin:18px 0 26px;overflow-x:auto}.lat svg{display:block;width:100%;min-width:640px;height:auto}\n"
    ".lat text{font-family:inherit;fill:var(--ink)}.lat .d{font-size:14px;font-weight:600}\n"
    ".lat .s{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}\n"
    ".lat .h{fill:var(--link);opacity:.55}.lat .i{fill:var(--F);opacity:.22}.lat .x{stroke:var(--soft)}\n"
    ".lat .g{stroke:var(--line)}.lat .m{stroke:var(--F);stroke-width:2}.lat .q{stroke:var(--ink);stroke-width:1.5}\n"
    ".lat figcaption{margin:6px 0 0}.wide{overflow-x:auto;margin-bottom:26px}.wide table{min-width:700px}.wide tbody "
    "th{min-width:170px}\n"
    ".facts.bench{grid-template-columns:repeat(auto-fit,minmax(190px,1fr))}\n"
    ".plain .v{margin-right:.5em}.say{margin:10px 0;padding:8px 14px;border-radius:6px;overflow-wrap:anywhere}\n"
    ".say.F{color:var(--F);background:var(--Fb)}.say.T{color:var(--T);background:var(--Tb)}\n"
    ".say.U{color:var(--U);background:var(--Ub)}.plain td.n small{display:block}.plain .bad{color:var(--F)}\n"
    ".plain th .name{font-weight:600}\n";

static const char *const dash = "\xe2\x80\x93";

/* --------------------------------------------------------------- small pieces */

/** A cell of a number in this format, or a dash. */
static void add_cell(struct nnv_text *t, const char *format, double v) NNV_PRINTF(2, 0);
static void add_cell(struct nnv_text *t, const char *format, double v) {
    char text[64];
    nnv_text_add(t, "<td class=\"n\">");
    if (isfinite(v) && fabs(v) < 1e15) {
        snprintf(text, sizeof text, format, v);
        nnv_text_add(t, text);
    } else {
        nnv_text_add(t, isfinite(v) ? "huge" : dash);
    }
    nnv_text_add(t, "</td>");
}

static void add_time_cell(struct nnv_text *t, double ns) {
    nnv_text_add(t, "<td class=\"n\">");
    nnv_bench_add_time(t, ns);
    nnv_text_add(t, "</td>");
}

static void begin_row(struct nnv_text *t, const struct nnv_bench_line *l) {
    nnv_text_add(t, "<tr><th scope=\"row\"><span class=\"name\">");
    nnv_bench_add_text(t, l->driver);
    nnv_text_add(t, "</span></th>");
}

static bool has(const json_t *object, const char *member) { return json_is_true(json_object_get(object, member)); }

static double ratio_to_first(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l) {
    double first = s->line[s->first[l->group]].p50;
    return first > 0 ? l->p50 / first : (double)NAN;
}

/** The measure of accuracy that the line has: its name, the driver's and the reference's value; NULL: none. */
static const char *measure_of(const struct nnv_bench_line *l, double *driver, double *reference, double *scale) {
    static const struct {
        const char *member, *name;
        double scale;
    } all[] = {{"top1", "top-1", 100},
               {"phone_error_rate", "phone error rate", 100},
               {"mean_square_error", "mean square error", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *driver = nnv_bench_number(l->accuracy, "driver", all[i].member, NULL);
        *reference = nnv_bench_number(l->accuracy, "reference", all[i].member, NULL);
        *scale = all[i].scale;
        if (!isnan(*driver) || !isnan(*reference)) return all[i].name;
    }
    return NULL;
}

static void add_measure(struct nnv_text *t, double v, double scale) {
    if (!isfinite(v))
        nnv_text_add(t, dash);
    else if (scale > 1 && fabs(v) < 1e6)
        nnv_text_addf(t, "%.2f\xc2\xa0%%", v * scale);
    else
        nnv_text_addf(t, "%.4g", v);
}

/* -------------------------------------------------------------------- the top */

static void add_head(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    bool good = nnv_bench_exit(s) == NNVTS_EXIT_PASS;
    struct nnv_text kicker = {0}, heading = {0};
    size_t failed = 0;
    for (size_t i = 0; i < s->count; i++) failed += nnv_verdict_bad(s->line[i].verdict);
    if (s->count == 0)
        nnv_text_add(&heading, "Nothing was measured");
    else if (failed)
        nnv_text_addf(&heading, "Failed: %s of %s measured", nnv_count(failed).s, nnv_count(s->count).s);
    else
        nnv_text_addf(&heading, "Passed: %s network%s, %s measured", nnv_count(s->networks.count).s,
                      s->networks.count == 1 ? "" : "s", nnv_count(s->count).s);
    nnv_text_addf(&kicker, "nnvts %.*s \xc2\xb7 whole networks", TEXT, nnv_json_text(s->root, "version", "?"));
    nnv_page_begin(t, &(struct nnv_page){.title = "Bench",
                                         .kicker = kicker.data,
                                         .heading = heading.data,
                                         .css = {css, nnv_roofline_css},
                                         .verdict = s->count == 0 ? 'N'
                                                    : good        ? 'P'
                                                                  : nnv_verdict_letter(nnv_html_worst(s->verdicts))});
    t->failed = t->failed || kicker.failed || heading.failed;
    nnv_text_free(&kicker);
    nnv_text_free(&heading);
}

/** Governor, frequency, temperature and limits, before and after; nothing where the machine tells nothing. */
static void add_conditions(const json_t *all, struct nnv_text *t) {
    static const struct {
        const char *member, *unit;
    } numbers[] = {{"mhz", "MHz"},
                   {"mhz_max", "MHz at most"},
                   {"celsius", "\xc2\xb0"
                               "C"},
                   {"cgroup_cpus", "processors allowed"},
                   {"cgroup_memory_mb", "MB allowed"}};
    const json_t *before = json_object_get(all, "before"), *after = json_object_get(all, "after");
    if (json_object_size(before) == 0) return;
    nnv_text_add(t, "<div><dt>Conditions</dt><dd>");
    nnv_bench_add_text(t, nnv_json_text(before, "governor", ""));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double was = nnv_bench_number(before, numbers[i].member, NULL);
        const double is = nnv_bench_number(after, numbers[i].member, NULL);
        if (!isfinite(was)) continue;
        nnv_text_addf(t, "<small>%.4g", was);
        if (isfinite(is) && is != was) nnv_text_addf(t, " to %.4g", is);
        nnv_text_addf(t, " %s</small>", numbers[i].unit);
    }
    nnv_text_add(t, "</dd></div>\n");
}

static void add_facts(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    const json_t *machine = json_object_get(s->root, "machine"), *argv = json_object_get(s->root, "argv"), *word;
    size_t i;
    nnv_text_add(t, "<dl class=\"facts bench\">\n<div><dt>Started</dt><dd>");
    nnv_bench_add_text(t, nnv_json_text(s->root, "start", dash));
    nnv_text_add(t, "</dd></div>\n<div><dt>Machine</dt><dd>");
    nnv_bench_add_text(t, nnv_json_text(machine, "cpu", dash));
    nnv_text_add(t, "<small>");
    nnv_bench_add_text(t, nnv_json_text(machine, "os", ""));
    nnv_text_addf(t, "</small></dd></div>\n<div><dt>Processors</dt><dd>%" PRIu64 "</dd></div>\n",
                  nnv_json_count(machine, "cores"));
    const char *instructions = nnv_json_text(s->root, "instructions", "");
    if (*instructions) {
        nnv_text_add(t, "<div><dt>Instruction sets</dt><dd>");
        nnv_bench_add_text(t, instructions);
        nnv_text_add(t, "</dd></div>\n");
    }
    add_conditions(json_object_get(s->root, "conditions"), t);
    nnv_bench_drivers_html(s, t);
    if (json_array_size(argv)) {
        nnv_text_add(t, "<div class=\"wide\"><dt>Command</dt><dd><code class=\"cmd\">");
        json_array_foreach((json_t *)argv, i, word) {
            if (i) nnv_text_add(t, " ");
            nnv_bench_add_text(t, json_is_string(word) ? json_string_value(word) : "?");
        }
        nnv_text_add(t, "</code></dd></div>\n");
    }
    nnv_text_add(t, "</dl>\n</header>\n<main>\n");
}

static void add_summary_row(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    double driver, reference, scale;
    nnv_text_add(t, "<tr><th scope=\"row\">");
    nnv_html_sign(t, l->verdict);
    nnv_text_addf(t, "<a class=\"name\" href=\"#n%u\">", l->group);
    nnv_bench_add_text(t, l->network);
    nnv_text_add(t, "</a></th><td class=\"n\"><span class=\"name\">");
    nnv_bench_add_text(t, l->driver);
    nnv_text_add(t, "</span></td>");
    add_time_cell(t, l->p50);
    add_time_cell(t, nnv_bench_number(l->latency, "quantiles", "p99", "ns", NULL));
    add_cell(t, "%.2f", ratio_to_first(s, l));
    const char *name = measure_of(l, &driver, &reference, &scale);
    nnv_text_add(t, "<td class=\"n\">");
    if (name) {
        add_measure(t, driver, scale);
        nnv_text_addf(t, "<small>%s; reference ", name);
        add_measure(t, reference, scale);
        nnv_text_add(t, "</small>");
    } else {
        double agreement = nnv_bench_number(l->accuracy, "agreement", NULL);
        double boxes = nnv_bench_number(l->accuracy, "boxes", "share", NULL);
        double error = nnv_bench_number(l->accuracy, "largest_error", NULL);
        if (isfinite(boxes) || isfinite(agreement)) add_measure(t, isfinite(boxes) ? boxes : agreement, 100);
        if (isfinite(boxes))
            nnv_text_addf(t, "<small>boxes found, IoU %.3f</small>",
                          nnv_bench_number(l->accuracy, "boxes", "iou", NULL));
        else if (isfinite(agreement))
            nnv_text_add(t, "<small>same class</small>");
        else if (isfinite(error))
            nnv_text_addf(t, "%.3g<small>largest error</small>", error);
        else
            nnv_text_add(t, dash);
    }
    nnv_text_add(t, "</td></tr>\n");
}

static void add_summary(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    static const char *const heads[] = {"Network", "#Driver", "#p50", "#p99", "#Ratio", "#Answers", NULL};
    if (s->count == 0) return;
    nnv_text_add(t, "<section id=\"all\">\n<h2>All networks</h2>\n<p class=\"lead\">Ratio: median latency by that of "
                    "the first driver. Answers: the driver's accuracy beside that of the reference on the same "
                    "data.</p>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < s->count && i < MOST_LINES; i++) add_summary_row(s, &s->line[i], t);
    nnv_page_table_end(t);
    if (s->count > MOST_LINES)
        nnv_text_addf(t, "<p class=\"soft\">%s more are in bench.json.</p>\n", nnv_count(s->count - MOST_LINES).s);
    nnv_text_add(t, "</section>\n");
}

/* ---------------------------------------------------------------- one network */

static void add_quantile(struct nnv_text *t, const json_t *latency, const char *name) {
    nnv_text_add(t, "<td class=\"n\">");
    nnv_bench_add_time(t, nnv_bench_number(latency, "quantiles", name, "ns", NULL));
    double low = nnv_bench_number(latency, "quantiles", name, "low_ns", NULL);
    double high = nnv_bench_number(latency, "quantiles", name, "high_ns", NULL);
    if (!isfinite(low) && !isfinite(high)) {
        nnv_text_add(t, "</td>");
        return;
    }
    nnv_text_add(t, "<small>");
    nnv_bench_add_time(t, low);
    nnv_text_add(t, isfinite(low) && !isfinite(high) ? " or more" : " to ");
    if (isfinite(high)) nnv_bench_add_time(t, high);
    nnv_text_add(t, "</small></td>");
}

/** Calls add for each line of the network. */
static void each(const struct nnv_bench_sheet *s, uint32_t network, struct nnv_text *t,
                 void (*add)(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t)) {
    for (size_t i = s->first[network]; i != SIZE_MAX && t->len < MOST_BYTES; i = s->line[i].next)
        add(s, &s->line[i], t);
}

static void add_latency(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    static const char *const quantiles[] = {"p50", "p90", "p97", "p99"};
    begin_row(t, l);
    for (int q = 0; q < 4; q++) add_quantile(t, l->latency, quantiles[q]);
    add_cell(t, "%.2f", ratio_to_first(s, l));
    add_cell(t, "%.1f", nnv_bench_number(l->latency, "executions_per_second", NULL));
    nnv_text_add(t, "</tr>\n");
}

static void add_cost(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    static const char *const times[] = {"compile_ns", "compile_cached_ns", "map_ns",       "first_ns",    "warm_ns",
                                        "cold_ns",    "close_ns",          "in_driver_ns", "on_device_ns"};
    (void)s;
    begin_row(t, l);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        add_time_cell(t, nnv_bench_number(l->latency, times[i], NULL));
    add_cell(t, "%.1f\xc2\xa0MB", nnv_bench_number(l->latency, "peak_bytes", NULL) / 1e6);
    add_cell(t, "%.3g\xc2\xa0J", nnv_bench_number(l->latency, "joules", NULL));
    add_cell(t, "%.0f", nnv_bench_number(l->latency, "count", NULL));
    add_cell(t, "%.2f", nnv_bench_number(l->latency, "noise", NULL));
    nnv_text_add(t, "</tr>\n");
}

static void add_accuracy(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    double driver, reference, scale;
    (void)s;
    if (!json_is_object(l->accuracy)) return;
    begin_row(t, l);
    const char *name = measure_of(l, &driver, &reference, &scale);
    nnv_text_addf(t, "<td class=\"n\">%s</td><td class=\"n%s\">", name ? name : dash,
                  has(l->accuracy, "worse") ? " bad" : "");
    add_measure(t, name ? driver : (double)NAN, scale);
    if (has(l->accuracy, "worse")) nnv_text_add(t, "<small class=\"bad\">worse, not by chance</small>");
    nnv_text_add(t, "</td><td class=\"n\">");
    add_measure(t, name ? reference : (double)NAN, scale);
    nnv_text_add(t, "</td>");
    const double low = nnv_bench_number(l->accuracy, "loss", "low", NULL);
    const double high = nnv_bench_number(l->accuracy, "loss", "high", NULL);
    if (isfinite(low) && isfinite(high))
        nnv_text_addf(t, "<td class=\"n\">%.3g to %.3g<small>more errors an item</small></td>", low, high);
    else
        add_cell(t, "p %.3g", nnv_bench_number(l->accuracy, "p", NULL));
    nnv_text_add(t, "<td class=\"n\">");
    const double boxes = nnv_bench_number(l->accuracy, "boxes", "share", NULL);
    add_measure(t, isfinite(boxes) ? boxes : nnv_bench_number(l->accuracy, "agreement", NULL), 100);
    if (isfinite(boxes)) nnv_text_add(t, "<small>of the boxes</small>");
    nnv_text_add(t, "</td>");
    add_cell(t, "%.3g", nnv_bench_number(l->accuracy, "largest_error", NULL));
    add_cell(t,
             "%.1f\xc2\xa0"
             "dB",
             nnv_bench_number(l->accuracy, "psnr_db", NULL));
    add_cell(t, "%.0f", nnv_bench_number(l->accuracy, "items", NULL));
    nnv_text_add(t, "</tr>\n");
}

/** What is to be said about a line besides its numbers. */
static void add_remarks(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    (void)s;
    if (l->verdict != NNVTS_PASS) {
        nnv_text_addf(t, "<p class=\"say %c\">", l->verdict == NNVTS_UNSUPPORTED ? 'U' : 'F');
        nnv_html_sign(t, l->verdict);
        nnv_text_add(t, " <b>");
        nnv_bench_add_text(t, l->driver);
        nnv_text_add(t, "</b>: ");
        nnv_bench_add_text(t, l->why);
        nnv_text_add(t, "</p>\n");
    }
    if (has(l->latency, "overrun")) {
        nnv_text_add(t, "<p class=\"say T\"><b>");
        nnv_bench_add_text(t, l->driver);
        nnv_text_addf(
            t,
            "</b>: %.1f arrivals a second are more than it could serve: its latencies are those of a queue that "
            "grew.</p>\n",
            nnv_bench_number(l->latency, "asked_rate", NULL));
    }
    bool noisy = has(l->latency, "noisy"), restless = json_is_false(json_object_get(l->latency, "steady"));
    if (!noisy && !restless) return;
    nnv_text_add(t, "<p class=\"say T\"><b>");
    nnv_bench_add_text(t, l->driver);
    nnv_text_addf(t, "</b>: %s%s%s.</p>\n",
                  noisy ? "the machine was noisy while it was measured: read its times as bounds" : "",
                  noisy && restless ? "; " : "", restless ? "its times still fell when the warm-up ended" : "");
}

/* ---------------------------------------------------------- operation by operation */

static void add_step(const json_t *step, struct nnv_text *t) {
    const char *kind = nnv_json_text(step, "kind", "?");
    bool wrong = strcmp(kind, "wrong") == 0;
    nnv_text_addf(t, "<tr><th scope=\"row\">%" PRIu64 " ", nnv_json_count(step, "operation"));
    nnv_bench_add_text(t, nnv_json_text(step, "name", "?"));
    nnv_text_add(t, "</th><td class=\"n\">");
    nnv_bench_add_text(t, nnv_json_text(step, "result", ""));
    nnv_text_addf(t, "</td><td class=\"n%s\">", wrong ? " bad" : "");
    nnv_bench_add_text(t, kind);
    if (wrong && strcmp(nnv_json_text(step, "alone", ""), "passes") == 0)
        nnv_text_add(t, "<small>right as a model of its own</small>");
    nnv_text_add(t, "</td>");
    add_cell(t, "%.0f", nnv_bench_number(step, "compared", NULL));
    add_cell(t, "%.0f", nnv_bench_number(step, "wrong", NULL));
    add_cell(t, "%.3g", nnv_bench_number(step, "error", NULL));
    double ratio = nnv_bench_number(step, "ratio", NULL);
    if (ratio > 1e6) /* the bound is 0, or next to it */
        nnv_text_add(t, "<td class=\"n bad\">&gt; 10<sup>6</sup></td>");
    else
        add_cell(t, "%.3g", ratio);
    nnv_text_add(t, "</tr>\n");
}

static void add_layers(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    static const char *const heads[] = {"Operation", "#Result", "#",          "#Compared",
                                        "#Wrong",    "#Error",  "#Of budget", NULL};
    (void)s;
    if (!json_is_object(l->layers)) return;
    const json_t *steps = json_object_get(l->layers, "worst"), *step;
    size_t i;
    nnv_text_add(t, "<h3>Operation by operation: ");
    nnv_bench_add_text(t, l->driver);
    nnv_text_addf(t, "</h3>\n<p class=\"soft\">%s operations, %s judged, %s out of budget.",
                  nnv_count(nnv_json_count(l->layers, "operations")).s,
                  nnv_count(nnv_json_count(l->layers, "judged")).s,
                  nnv_count(nnv_json_count(l->layers, "out_of_budget")).s);
    const json_t *first = json_object_get(l->layers, "first");
    if (json_is_integer(first))
        nnv_text_addf(t, " <span class=\"bad\">The first is operation %" PRIu64 ".</span>",
                      nnv_json_count(l->layers, "first"));
    nnv_text_add(t, has(l->layers, "apart")
                        ? " Each was judged as a model of its own, on the reference's inputs: with all "
                          "results as outputs the driver failed.</p>\n"
                        : " Each is judged by the reference's result for the inputs that the driver "
                          "itself had.</p>\n");
    if (*nnv_json_text(l->layers, "shown", "")) {
        nnv_text_add(t, "<p class=\"say F\">");
        nnv_bench_add_text(t, nnv_json_text(l->layers, "shown", ""));
        nnv_text_add(t, "</p>\n");
    }
    if (json_array_size(steps) == 0) return;
    const bool good = nnv_json_count(l->layers, "out_of_budget") == 0;
    nnv_text_addf(t, "<details class=\"more\"%s><summary>%s</summary>\n", good ? "" : " open=\"open\"",
                  good ? "Those nearest to their budgets" : "The worst");
    nnv_page_table(t, heads);
    json_array_foreach((json_t *)steps, i, step) {
        if (i == MOST_STEPS) break;
        add_step(step, t);
    }
    nnv_page_table_end(t);
    nnv_text_add(t, "</details>\n");
}

/* -------------------------------------------------------------------- the page */

static bool any(const struct nnv_bench_sheet *s, uint32_t network, const char *part) {
    for (size_t i = s->first[network]; i != SIZE_MAX; i = s->line[i].next)
        if (json_is_object(json_object_get(s->line[i].all, part))) return true;
    return false;
}

static void add_network(const struct nnv_bench_sheet *s, uint32_t network, struct nnv_text *t) {
    static const char *const latency[] = {"Latency", "#p50", "#p90", "#p97", "#p99", "#Ratio", "#Per second", NULL};
    static const char *const cost[] = {"Costs", "#Compile", "#From cache", "#Memory",    "#First",
                                       "#Warm", "#Cold",    "#Close",      "#In driver", "#On device",
                                       "#Peak", "#Energy",  "#Samples",    "#Noise",     NULL};
    static const char *const accuracy[] = {"Answers",     "#Measure",       "#Driver", "#Reference", "#Chance",
                                           "#Same class", "#Largest error", "#PSNR",   "#Items",     NULL};
    static const char *const members[] = {"origin", "data", "scenario", "mode"};
    const json_t *row = s->line[s->first[network]].all;
    nnv_text_addf(t, "<section id=\"n%u\">\n<h2 class=\"name\">", network);
    nnv_bench_add_text(t, s->networks.key[network]);
    nnv_text_add(t, "</h2>\n<p class=\"lead\">");
    for (size_t i = 0, n = 0; i < sizeof members / sizeof *members; i++) {
        const char *text = nnv_json_text(row, members[i], "");
        if (!*text) continue;
        nnv_text_add(t, n++ ? " \xc2\xb7 " : "");
        if (i == 1) nnv_text_add(t, "data ");
        nnv_bench_add_text(t, text);
    }
    nnv_text_add(t, "</p>\n");
    each(s, network, t, add_remarks);
    if (any(s, network, "latency")) {
        nnv_bench_plot(s, network, t);
        nnv_page_table(t, latency);
        each(s, network, t, add_latency);
        nnv_page_table_end(t);
        nnv_page_table(t, cost);
        each(s, network, t, add_cost);
        nnv_page_table_end(t);
    }
    if (any(s, network, "accuracy")) {
        nnv_page_table(t, accuracy);
        each(s, network, t, add_accuracy);
        nnv_page_table_end(t);
    }
    if (json_is_object(json_object_get(s->root, "roof"))) {
        nnv_page_table(t, nnv_roofline_heads);
        each(s, network, t, nnv_bench_roofline_row);
        nnv_page_table_end(t);
    }
    each(s, network, t, add_layers);
    each(s, network, t, nnv_bench_roofline_operations);
    nnv_text_add(t, "</section>\n");
}

static void add_page(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    add_head(s, t);
    add_facts(s, t);
    nnv_bench_standings_html(s, t);
    add_summary(s, t);
    uint32_t n = 0;
    for (; n < s->networks.count && t->len < MOST_BYTES; n++) add_network(s, n, t);
    if (n < s->networks.count)
        nnv_text_addf(t, "<p class=\"soft\">%s more networks are in bench.json.</p>\n",
                      nnv_count(s->networks.count - n).s);
}

enum nnv_status nnv_bench_html(const struct nnv_bench_sheet *s, struct nnv_err *err) {
    struct nnv_text t = {0}, path = {0};
    nnv_text_add_path(&path, s->folder, "report.html");
    add_page(s, &t);
    enum nnv_status st = path.failed ? nnv_no_memory(err) : nnv_page_write(&t, &(struct nnv_page){0}, path.data, err);
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}
