/* SPDX-License-Identifier: Apache-2.0 */
/** @file expected.c report.html: what was expected and came, or did not, and what does not fail every time. */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "reports/html/html.h"
#include "harness/journal/expect/outcome.h"
#include "reports/html/page.h"

enum { ENTRIES_MAX = 300, CASES_MAX = 300, SELECTION_BYTES = 300, TEXT_BYTES = 600 };

static size_t count_flakes(const struct nnv_report *r) { return json_array_size(json_object_get(r->flakes, "cases")); }

bool nnv_html_has_expected(const struct nnv_report *r) {
    return json_array_size(json_object_get(r->expected, "entries")) > 0 || count_flakes(r) > 0;
}

/** What an entry came to. */
struct tally {
    size_t xfail, xpass;
};

/** Adds a text of a file, a link where it is one that a browser may follow. */
static void add_link(struct nnv_text *t, const char *link) {
    const bool web = strncmp(link, "https:", 6) == 0 || strncmp(link, "http:", 5) == 0;
    if (*link == '\0') return;
    nnv_text_add(t, "<br/>");
    if (web) nnv_page_text(t, "<a href=\"", link, "\">");
    nnv_html_cut(t, link, TEXT_BYTES);
    if (web) nnv_text_add(t, "</a>");
}

static void add_state(struct nnv_text *t, const json_t *entry, const struct tally *n, bool strict) {
    const char *state = nnv_json_text(entry, "state", ""), *comma = "";
    if (nnv_expected_stale(entry)) {
        nnv_html_sign(t, strict ? NNVTS_FAIL : NNVTS_NOTRUN);
        nnv_text_add(t, strcmp(state, "expired") == 0 ? " has expired" : " matches no case");
        return;
    }
    if (strcmp(state, "inapplicable") == 0) {
        nnv_text_add(t, "<span class=\"soft\">of another driver or suite</span>");
        return;
    }
    if (n->xfail > 0) {
        nnv_text_addf(t, "%s failed as expected", nnv_count(n->xfail).s);
        comma = ", ";
    }
    if (n->xpass > 0) {
        nnv_text_add(t, comma);
        nnv_html_sign(t, strict ? NNVTS_FAIL : NNVTS_PASS);
        nnv_text_addf(t, " %s did not fail", nnv_count(n->xpass).s);
    }
    if (n->xfail + n->xpass == 0) nnv_text_add(t, "<span class=\"soft\">nothing to say</span>");
}

static void add_entry(struct nnv_html *h, const json_t *entry, const struct tally *n) {
    struct nnv_text *t = &h->t, cases = {0};
    const char *expires = nnv_json_text(entry, "expires", "");
    nnv_outcome_add_cases(&cases, entry);
    nnv_page_put(t, "<tr><th scope=\"row\"><code class=\"name\">", cases.data != NULL ? cases.data : "",
                 SELECTION_BYTES, "</code><br/><small class=\"soft\">");
    nnv_html_cut(t, nnv_json_text(entry, "at", "?"), SELECTION_BYTES);
    nnv_text_add(t, "</small></th><td>");
    nnv_html_cut(t, nnv_json_text(entry, "reason", ""), TEXT_BYTES);
    add_link(t, nnv_json_text(entry, "link", ""));
    nnv_page_put(t, "</td><td>", nnv_json_text(entry, "owner", ""), TEXT_BYTES, "</td><td class=\"keep\">");
    nnv_html_cut(t, *expires != '\0' ? expires : "\xe2\x80\x93", 40);
    nnv_text_add(t, "</td><td>");
    add_state(t, entry, n, h->r->strict);
    nnv_text_add(t, "</td></tr>\n");
    t->failed = t->failed || cases.failed;
    nnv_text_free(&cases);
}

static void add_entries(struct nnv_html *h) {
    const json_t *entries = json_object_get(h->r->expected, "entries"), *entry;
    const size_t count = json_array_size(entries);
    struct nnv_text *t = &h->t;
    if (count == 0) return;
    struct tally *n = calloc(count, sizeof *n);
    for (size_t i = 0; i < h->r->count && n != NULL; i++) {
        const struct nnv_report_case *c = &h->r->item[i];
        const uint32_t its = c->more->expectation;
        if (its >= count) continue;
        n[its].xfail += c->outcome == NNVTS_OUTCOME_XFAIL;
        n[its].xpass += c->outcome == NNVTS_OUTCOME_XPASS;
    }
    t->failed = t->failed || n == NULL;
    nnv_page_table(t, (const char *const[]){"expected to fail", "why", "owner", "until", "in this run", NULL});
    size_t k;
    json_array_foreach(entries, k, entry) {
        if (k < ENTRIES_MAX && n != NULL) add_entry(h, entry, &n[k]);
    }
    nnv_page_table_end(t);
    if (count > ENTRIES_MAX) nnv_text_addf(t, "<p class=\"soft\">and %s more</p>\n", nnv_count(count - ENTRIES_MAX).s);
    free(n);
}

/** Adds a list of the cases with this outcome. */
static void add_cases(struct nnv_html *h, enum nnvts_outcome o, const char *title) {
    struct nnv_text *t = &h->t;
    const size_t all = h->r->outcomes[o];
    size_t shown = 0;
    if (all == 0) return;
    nnv_text_addf(t, "<details class=\"case\"><summary>%s: <span class=\"n\">%s</span></summary>\n", title,
                  nnv_count(all).s);
    for (size_t i = 0; i < h->r->count && shown < CASES_MAX; i++) {
        const struct nnv_report_case *c = &h->r->item[i];
        if (c->outcome != o) continue;
        nnv_text_add(t, "<p class=\"row\">");
        nnv_html_sign(t, c->verdict);
        nnv_text_add(t, " <code class=\"name\">");
        nnv_text_add_xml(t, c->name);
        nnv_page_put(t, "</code> <span class=\"why\">", c->more->reason, 160, "</span></p>\n");
        shown++;
    }
    if (all > shown) nnv_text_addf(t, "<p class=\"soft\">and %s more</p>\n", nnv_count(all - shown).s);
    nnv_text_add(t, "</details>\n");
}

static void add_flakes(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    const json_t *item;
    size_t k;
    if (count_flakes(h->r) == 0) return;
    nnv_text_add(t, "<h3>Failures that were tried again</h3>\n");
    nnv_page_table(t, (const char *const[]){"case", "class", "what was found", NULL});
    json_array_foreach(json_object_get(h->r->flakes, "cases"), k, item) {
        if (k >= CASES_MAX) break;
        const char *command = nnv_json_text(item, "command", "");
        nnv_page_put(t, "<tr><th scope=\"row\"><code class=\"name\">", nnv_json_text(item, "case", "?"),
                     SELECTION_BYTES, "</code></th><td class=\"keep\">");
        nnv_html_cut(t, nnv_json_text(item, "class", "?"), 40);
        nnv_text_add(t, "</td><td>");
        nnv_html_cut(t, nnv_json_text(item, "words", ""), TEXT_BYTES);
        if (*command != '\0') nnv_page_put(t, "<br/><code>", command, 4000, "</code>");
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

void nnv_html_expected(struct nnv_html *h) {
    if (!nnv_html_has_expected(h->r)) return;
    nnv_text_add(&h->t,
                 "<section id=\"expected\">\n<h2>Expected</h2>\n<p class=\"lead\">What is known to fail, and what "
                 "does not fail every time. A verdict stays what was measured.</p>\n");
    add_entries(h);
    add_cases(h, NNVTS_OUTCOME_XPASS, "Expected to fail, but did not");
    add_cases(h, NNVTS_OUTCOME_XFAIL, "Failed as expected");
    add_flakes(h);
    nnv_text_add(&h->t, "</section>\n");
}
