/* SPDX-License-Identifier: Apache-2.0 */
/** @file audit_html.c audit.html: the matrix of bugs and suites, in the dress of report.html. */
#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/audit.h"
#include "reports/html/page.h"

static void add_head(const struct nnv_audit *a, struct nnv_text *t) {
    struct nnv_audit_totals n = nnv_audit_count(a);
    bool good = nnv_audit_exit(a) == NNVTS_EXIT_PASS;
    struct nnv_text heading = {0};
    nnv_text_addf(&heading, "%s of %s planted bugs caught, ", nnv_count(n.caught).s, nnv_count(n.bugs).s);
    nnv_text_addf(&heading, "%s false alarm%s on %s controls", nnv_count(n.alarms).s, n.alarms == 1 ? "" : "s",
                  nnv_count(n.controls).s);
    nnv_page_begin(t, &(struct nnv_page){.title = "Audit",
                                         .kicker = "nnvts " NNVTS_VERSION " \xc2\xb7 the suites judged by planted bugs",
                                         .heading = heading.data,
                                         .verdict = good ? 'P' : 'F'});
    t->failed = t->failed || heading.failed;
    nnv_text_free(&heading);
    nnv_text_add(t, "<p class=\"soft\">Driver ");
    nnv_text_add_xml(t, a->driver);
    nnv_text_addf(t, ", tier %s, ", a->tier);
    nnv_text_add_seconds(t, a->seconds);
    nnv_text_add(t, "</p>\n</header>\n<main>\n");
}

static void add_cell(const struct nnv_audit_cell *c, struct nnv_text *t) {
    if (!c->run) {
        nnv_text_add(t, "<td></td>");
    } else if (c->bad > 0) {
        char letter = nnv_verdict_letter(c->verdict);
        nnv_text_addf(t, "<td class=\"%c\" title=\"", letter);
        nnv_text_add_xml(t, c->first != NULL ? c->first : "");
        nnv_text_addf(t, "\"><b>%c</b> <small>%s</small></td>", letter, nnv_count(c->until).s);
    } else if (c->nothing) {
        nnv_text_add(t, "<td class=\"Q\" title=\"nothing was compared\"><b>Q</b></td>");
    } else if (c->errors > 0) {
        nnv_text_addf(t, "<td class=\"E\"><b>E</b> <small>%s</small></td>", nnv_count(c->errors).s);
    } else {
        nnv_text_add(t, "<td class=\"z\">\xc2\xb7</td>");
    }
}

/** Adds the rows of bugs, or those of controls and legal variants: each has what it does in a row below. */
static void add_rows(const struct nnv_audit *a, bool bugs, struct nnv_text *t) {
    nnv_text_add(t, "<table class=\"matrix\"><thead><tr><th></th>");
    for (size_t i = 0; i < a->suite_count; i++) nnv_text_addf(t, "<th scope=\"col\">%s</th>", a->suites[i]);
    nnv_text_add(t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < a->count; i++) {
        const struct nnv_audit_subject *s = &a->subjects[i];
        if ((s->kind == NNV_AUDIT_BUG) != bugs) continue;
        nnv_page_text(t, "<tr><th scope=\"row\">", s->name, "</th>");
        for (size_t k = 0; k < a->suite_count; k++) add_cell(&s->cells[k], t);
        nnv_text_addf(t,
                      "</tr>\n<tr><td colspan=\"%zu\" style=\"text-align:left;white-space:normal;padding-bottom:8px\">",
                      a->suite_count + 1);
        if (bugs && !nnv_audit_caught(a, s))
            nnv_page_text(t, "<b>survives</b> ", s->survives != NULL ? s->survives : "", " ");
        nnv_text_add_xml(t, s->models);
        nnv_page_text(t, " <span class=\"soft\">", s->fires, "</span></td></tr>\n");
    }
    nnv_text_add(t, "</tbody></table>\n");
}

void nnv_audit_html(const struct nnv_audit *a, struct nnv_text *t) {
    add_head(a, t);
    nnv_text_add(
        t, "<section id=\"controls\">\n<h2>Controls</h2>\n<p class=\"lead\">Drivers without a bug, and variants that "
           "differ within the rules: any complaint is a false alarm.</p>\n");
    add_rows(a, false, t);
    nnv_text_add(
        t, "</section>\n<section id=\"bugs\">\n<h2>Planted bugs</h2>\n<p class=\"lead\">Verdict of the first case "
           "that caught the bug, and how many cases until then, in an order drawn by their names. F: wrong, C: "
           "the driver ended its process, T: no end, Q: nothing was compared.</p>\n");
    add_rows(a, true, t);
    nnv_text_add(t, "</section>\n");
    nnv_page_end(t, &(struct nnv_page){0});
}
