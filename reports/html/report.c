/* SPDX-License-Identifier: Apache-2.0 */
/** @file report.c report.html: its frame, what stands at its top, and how it was made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "reports/compare/trend.h"
#include "reports/html/assets.h"
#include "reports/html/html.h"
#include "reports/html/page.h"
#include "reports/report.h"

/* ------------------------------------------------------------------- the top */

/** Adds the command line, each argument as it was given. */
static void add_command(struct nnv_text *t, const json_t *argv) {
    size_t i;
    const json_t *word;
    nnv_text_add(t, "<code class=\"cmd\">");
    json_array_foreach(argv, i, word) {
        const char *s = json_string_value(word);
        if (i > 0) nnv_text_add(t, " ");
        nnv_text_add_xml(t, s == NULL ? "" : s);
    }
    nnv_text_add(t, "</code>");
}

/** Adds what the driver is called, as plain text. */
static void add_driver(struct nnv_text *t, const json_t *driver) {
    const char *argument = nnv_json_text(driver, "argument", "?"), *name = nnv_json_text(driver, "name", "?");
    nnv_text_add(t, argument);
    if (strcmp(argument, name) != 0) nnv_text_addf(t, " (%s)", name);
    nnv_text_addf(t, " %s", nnv_json_text(driver, "version", "?"));
}

/** Adds the facts that name the run. */
static void add_facts(struct nnv_html *h) {
    const json_t *header = h->r->header, *driver = json_object_get(header, "driver");
    const json_t *machine = json_object_get(header, "machine");
    struct nnv_text *t = &h->t;
    struct nnv_text called = {0};
    add_driver(&called, driver);
    nnv_text_add(t, "<dl class=\"facts\">\n<div><dt>Driver</dt><dd>");
    nnv_text_add_xml(t, called.data);
    t->failed = t->failed || called.failed;
    nnv_text_free(&called);
    nnv_text_add(t, "<small>");
    nnv_text_add_xml(t, nnv_json_text(driver, "type", "?"));
    nnv_text_addf(t, ", feature level %" PRIu64 "</small></dd></div>\n", nnv_json_count(driver, "level"));
    const char *start = nnv_json_text(header, "start", "?");
    nnv_text_add(t, "<div><dt>Started</dt><dd>");
    if (strlen(start) == 20 && start[10] == 'T' && start[19] == 'Z') {
        char day[] = "0000-00-00", time[] = "00:00:00";
        memcpy(day, start, 10);
        memcpy(time, start + 11, 8);
        nnv_text_add_xml(t, day);
        nnv_page_text(t, "<small>", time, " UTC</small>");
    } else {
        nnv_text_add_xml(t, start);
    }
    nnv_text_add(t, "</dd></div>\n");
    nnv_text_add(t, "<div><dt>Took</dt><dd>");
    nnv_text_add_seconds(t, h->r->seconds);
    nnv_text_addf(t, "<small>%" PRIu64 " at once</small></dd></div>\n", nnv_json_count(header, "jobs"));
    nnv_text_add(t, "<div><dt>Seed</dt><dd>");
    struct nnv_text seed = {0};
    nnv_header_add_seed(&seed, header);
    nnv_text_add_xml(t, seed.data == NULL ? "" : seed.data);
    t->failed = t->failed || seed.failed;
    nnv_text_free(&seed);
    nnv_page_text(t, "</dd></div>\n<div><dt>Precision, arithmetic, tier</dt><dd>",
                  nnv_json_text(header, "precision", "?"), ", ");
    nnv_page_text(t, "", nnv_json_text(header, "arithmetic", "strict"), ", ");
    nnv_text_add_xml(t, nnv_json_text(header, "tier", "?"));
    nnv_page_text(t, "</dd></div>\n<div><dt>Machine</dt><dd>", nnv_json_text(machine, "cpu", "?"), "<small>");
    nnv_text_add_xml(t, nnv_json_text(machine, "os", "?"));
    nnv_text_addf(t, "</small></dd></div>\n<div class=\"wide\"><dt>Command</dt><dd>");
    add_command(t, json_object_get(header, "argv"));
    nnv_text_add(t, "</dd></div>\n</dl>\n");
}

/** Adds the verdict in one sentence. */
static void add_sentence(const struct nnv_html *h, struct nnv_text *t) {
    const size_t *n = h->r->verdicts;
    size_t failures = 0, bugs = h->bugs.count;
    for (size_t b = 0; b < bugs; b++) failures += h->bugs.item[b].count;
    if (bugs > 0) {
        nnv_text_addf(t, "%s: %s bug%s behind %s failure%s", n[NNVTS_ERROR] == failures ? "Error of nnvts" : "Failed",
                      nnv_count(bugs).s, bugs == 1 ? "" : "s", nnv_count(failures).s, failures == 1 ? "" : "s");
        if (n[NNVTS_NOTRUN] > 0) nnv_text_addf(t, ", and %s cases were not run", nnv_count(n[NNVTS_NOTRUN]).s);
    } else if (n[NNVTS_NOTRUN] > 0) {
        nnv_text_addf(t, "Not finished: %s of %s cases were not run", nnv_count(n[NNVTS_NOTRUN]).s,
                      nnv_count(h->r->count).s);
    } else if (h->r->compared == 0 && !nnv_report_is_shard(h->r)) {
        nnv_text_add(t, "Nothing was compared: this run proves nothing");
    } else if (nnv_report_too_few(h->r)) {
        nnv_text_addf(t, "Failed: %.1f %% of the cases were judged, and had to be at least %" PRIu64 " %%",
                      nnv_report_judged(h->r), nnv_json_count(h->r->header, "min_judged"));
    } else if (nnv_report_exit(h->r) != NNVTS_EXIT_PASS) {
        const size_t passes = h->r->outcomes[NNVTS_OUTCOME_XPASS];
        nnv_text_addf(t, "Failed: what was expected is not so: %s unexpected pass%s, %s stale expectation%s",
                      nnv_count(passes).s, passes == 1 ? "" : "es", nnv_count(h->r->stale).s,
                      h->r->stale == 1 ? "" : "s");
    } else {
        nnv_text_addf(t, "Passed: %s case%s", nnv_count(n[NNVTS_PASS]).s, n[NNVTS_PASS] == 1 ? "" : "s");
        if (n[NNVTS_UNSUPPORTED] > 0) nnv_text_addf(t, ", %s honestly unsupported", nnv_count(n[NNVTS_UNSUPPORTED]).s);
        if (h->r->outcomes[NNVTS_OUTCOME_XFAIL] > 0)
            nnv_text_addf(t, ", %s failed as expected", nnv_count(h->r->outcomes[NNVTS_OUTCOME_XFAIL]).s);
    }
    const char *not_run = nnv_report_not_run(h->r);
    nnv_page_text(t, *not_run != '\0' ? "; not run: " : "", not_run, "");
}

/** Adds the bar of verdicts and, below it, what its letters mean. */
static void add_bar(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    nnv_text_add(t, "<div class=\"bar\" aria-hidden=\"true\">");
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (h->r->verdicts[v] > 0)
            nnv_text_addf(t, "<i class=\"%c\" style=\"flex-grow:%zu\"></i>", nnv_verdict_letter(v), h->r->verdicts[v]);
    }
    nnv_text_add(t, "</div>\n<ul class=\"legend\">");
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (h->r->verdicts[v] == 0) continue;
        nnv_text_addf(t, "<li><a href=\"#cases\" data-q=\"is:%c\">", nnv_verdict_letter(v));
        nnv_html_sign(t, v);
        nnv_text_addf(t, " <span class=\"n\">%s</span> %s</a></li>\n", nnv_count(h->r->verdicts[v]).s,
                      nnv_verdict_word(v));
    }
    nnv_text_addf(t, "<li class=\"soft\"><span class=\"n\">%s</span> values compared</li></ul>\n",
                  nnv_count(h->r->compared).s);
}

static void add_top(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    enum nnvts_exit code = nnv_report_exit(h->r);
    enum nnvts_verdict v = code == NNVTS_EXIT_PASS ? NNVTS_PASS : nnv_html_worst(h->r->verdicts);
    if (code != NNVTS_EXIT_PASS && !nnv_verdict_bad(v)) v = NNVTS_NOTRUN;
    struct nnv_text title = {0}, kicker = {0}, heading = {0};
    nnv_text_addf(&title, "%s: ", code == NNVTS_EXIT_PASS ? "Passed" : "Not passed");
    add_driver(&title, json_object_get(h->r->header, "driver"));
    nnv_text_addf(&kicker, "nnvts %s \xc2\xb7 test report", nnv_json_text(h->r->header, "nnvts", "?"));
    add_sentence(h, &heading);
    nnv_page_begin(t, &(struct nnv_page){.title = title.data,
                                         .kicker = kicker.data,
                                         .heading = heading.data,
                                         .css = {nnv_html_has_drift(h->r) ? nnv_plot_css : NULL},
                                         .script = nnv_html_js,
                                         .verdict = nnv_verdict_letter(v)});
    t->failed = t->failed || title.failed || kicker.failed || heading.failed;
    nnv_text_free(&title);
    nnv_text_free(&kicker);
    nnv_text_free(&heading);
    add_bar(h);
    nnv_html_baseline_line(h);
    add_facts(h);
    nnv_text_add(t, "</header>\n<nav aria-label=\"Sections\"><div>");
    if (h->bugs.count > 0) nnv_text_add(t, "<a href=\"#bugs\">Bugs</a>");
    if (h->networks.count > 0) nnv_text_add(t, "<a href=\"#networks\">Networks</a>");
    if (nnv_html_has_expected(h->r)) nnv_text_add(t, "<a href=\"#expected\">Expected</a>");
    if (nnv_html_has_drift(h->r)) nnv_text_add(t, "<a href=\"#drift\">Over time</a>");
    nnv_text_add(t, "<a href=\"#coverage\">Coverage</a>");
    if (h->further > 0) nnv_text_add(t, "<a href=\"#failures\">Failures</a>");
    nnv_text_add(t, "<a href=\"#suites\">Suites</a><a href=\"#cases\">Cases</a>"
                    "<a href=\"#environment\">Environment</a>"
                    "<input id=\"q\" type=\"search\" hidden=\"hidden\" aria-label=\"Search all cases\" "
                    "placeholder=\"Search: op:ADD is:fail\"/></div>"
                    "<div id=\"found\" hidden=\"hidden\" role=\"region\" aria-label=\"Cases found\"></div></nav>\n"
                    "<main>\n");
}

/* --------------------------------------------------------------- environment */

static void add_value(struct nnv_text *t, const json_t *value) {
    if (json_is_string(value)) {
        nnv_html_cut(t, json_string_value(value), 2000);
    } else {
        char *s = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        if (s == NULL) t->failed = true;
        nnv_html_cut(t, s == NULL ? "" : s, 2000);
        free(s);
    }
}

/** Adds a row for each member of an object, those of objects inside it too, a level deep. */
static void add_members(struct nnv_text *t, const json_t *object, const char *prefix) {
    const char *key, *inner_key;
    json_t *value, *inner;
    json_object_foreach((json_t *)object, key, value) {
        if (strcmp(key, "suites") == 0 || strcmp(key, "coverage") == 0 || strcmp(key, "expected") == 0 ||
            strcmp(key, "networks") == 0)
            continue;
        if (json_is_object(value)) {
            json_object_foreach(value, inner_key, inner) {
                nnv_text_addf(t, "<tr><th scope=\"row\">%s", prefix);
                nnv_text_add_xml(t, key);
                nnv_page_text(t, ".", inner_key, "</th><td>");
                add_value(t, inner);
                nnv_text_add(t, "</td></tr>\n");
            }
            continue;
        }
        nnv_text_addf(t, "<tr><th scope=\"row\">%s", prefix);
        nnv_text_add_xml(t, key);
        nnv_text_add(t, "</th><td>");
        if (strcmp(key, "argv") == 0)
            add_command(t, value);
        else
            add_value(t, value);
        nnv_text_add(t, "</td></tr>\n");
    }
}

/** How the run was made: command, driver, machine. */
static void html_environment(struct nnv_html *h) {
    nnv_text_add(&h->t, "<section id=\"environment\">\n<h2>Environment</h2>\n<table class=\"plain env\"><tbody>\n");
    add_members(&h->t, h->r->header, "");
    nnv_text_add(&h->t, "</tbody></table>\n</section>\n");
}

/* ------------------------------------------------------------------ the page */

/** Number of failing cases that are not shown as the smallest of a bug. */
static size_t count_further(const struct nnv_bugs *b) {
    size_t n = 0;
    for (size_t k = 0; k < b->count; k++) n += b->item[k].count - (k < NNV_HTML_BUGS_MAX);
    return n;
}

static enum nnv_status add_page(struct nnv_html *h, struct nnv_err *err) {
    add_top(h);
    enum nnv_status s = nnv_html_bugs(h, err);
    if (s == NNV_OK) nnv_html_networks(h);
    if (s == NNV_OK) nnv_html_expected(h);
    if (s == NNV_OK) nnv_html_baseline(h);
    if (s == NNV_OK) s = nnv_html_drift(h, err);
    if (s == NNV_OK) s = nnv_html_matrix(h, err);
    if (s == NNV_OK) nnv_html_clauses(h);
    if (s == NNV_OK) nnv_html_reached(h);
    if (s == NNV_OK) s = nnv_html_failures(h, err);
    if (s == NNV_OK) s = nnv_html_suites(h, err);
    if (s == NNV_OK) s = nnv_html_cases(h, err);
    if (s != NNV_OK) return s;
    html_environment(h);
    nnv_page_end(&h->t, &(struct nnv_page){.script = nnv_html_js});
    return NNV_OK;
}

enum nnv_status nnv_report_html(const struct nnv_report *r, struct nnv_err *err) {
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    struct nnv_html h = {.r = r, .suites = suites};
    struct nnv_text path = {0};
    nnv_text_add_path(&path, r->folder, "report.html");
    enum nnv_status s = NNV_OK;
    if (suites != NULL) {
        s = nnv_bugs_of(r, &h.bugs, err);
        h.further = count_further(&h.bugs);
        if (s == NNV_OK) s = nnv_networks_of(r, &h.networks, err);
        if (s == NNV_OK) s = add_page(&h, err);
    }
    if (s == NNV_OK && (h.t.len == 0 || h.t.failed || path.failed))
        s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for report.html", r->folder);
    if (s == NNV_OK) s = nnv_file_write(path.data, h.t.data, h.t.len, err);
    nnv_bugs_free(&h.bugs);
    nnv_networks_free(&h.networks);
    nnv_text_free(&h.t);
    nnv_text_free(&path);
    free(suites);
    return s;
}
