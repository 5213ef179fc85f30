/* SPDX-License-Identifier: Apache-2.0 */
/** @file suites.c report.html: suites, the slowest cases, and what is not supported. */
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum { SLOWEST = 10, REFUSALS_MAX = 300 };

static void add_suites(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    const struct nnv_report *r = h->r;
    const json_t *about = json_object_get(r->header, "suites");
    char words[NNVTS_VERDICT_COUNT][16];
    const char *heads[NNVTS_VERDICT_COUNT + 5] = {"suite", "verifies"};
    size_t n_heads = 2;
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        if (r->verdicts[nnv_verdict_order[k]] == 0) continue;
        snprintf(words[k], sizeof words[k], "#%s", nnv_verdict_word(nnv_verdict_order[k]));
        heads[n_heads++] = words[k];
    }
    heads[n_heads++] = "#values compared";
    heads[n_heads] = "#time in cases";
    nnv_page_table(t, heads);
    for (uint32_t s = 0; s < r->suites.count; s++) {
        const struct nnv_suite_counts *n = &h->suites[s];
        nnv_text_add(t, "<tr><th scope=\"row\">");
        nnv_text_add_xml(t, r->suites.key[s]);
        nnv_page_put(t, "</th><td>", nnv_json_text(json_object_get(about, r->suites.key[s]), "summary", ""), 400,
                     "</td>");
        for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
            enum nnvts_verdict v = nnv_verdict_order[k];
            if (r->verdicts[v] == 0) continue;
            nnv_text_addf(t, "<td class=\"n%s\">%s</td>", n->verdicts[v] == 0 ? " soft" : "",
                          n->verdicts[v] == 0 ? "\xc2\xb7" : nnv_count(n->verdicts[v]).s);
        }
        nnv_text_addf(t, "<td class=\"n\">%s</td><td class=\"n\">", nnv_count(n->compared).s);
        nnv_text_add_seconds(t, n->ms / 1000);
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

/** The slowest cases, slowest first; their number. */
static size_t find_slowest(const struct nnv_report *r, size_t *slowest) {
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->item[i].length == 0) continue;
        size_t at = n;
        while (at > 0 && nnv_case_ms(&r->item[slowest[at - 1]]) < nnv_case_ms(&r->item[i])) at--;
        if (at == SLOWEST) continue;
        if (n < SLOWEST) n++;
        memmove(slowest + at + 1, slowest + at, (n - 1 - at) * sizeof *slowest);
        slowest[at] = i;
    }
    return n;
}

static void add_slowest(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    size_t slowest[SLOWEST], n = find_slowest(h->r, slowest);
    if (n == 0) return;
    nnv_text_add(t, "<h3>Slowest cases</h3>\n");
    nnv_page_table(t, (const char *const[]){"case", "#ms", "#in the driver", NULL});
    for (size_t k = 0; k < n; k++) {
        const struct nnv_report_case *c = &h->r->item[slowest[k]];
        nnv_text_add(t, "<tr><td>");
        nnv_html_sign(t, c->verdict);
        nnv_text_add(t, " <code class=\"name\">");
        nnv_text_add_xml(t, c->name);
        nnv_text_addf(t, "</code></td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td></tr>\n", nnv_case_ms(c),
                      nnv_case_driver_us(c) / 1000);
    }
    nnv_page_table_end(t);
}

/** Adds the cases with that verdict, gathered by operation and by the words of their reason. */
static enum nnv_status add_refusals(struct nnv_html *h, enum nnvts_verdict v, const char *title, const char *words,
                                    struct nnv_err *err) {
    const struct nnv_report *r = h->r;
    struct nnv_text *t = &h->t;
    if (r->verdicts[v] == 0) return NNV_OK;
    struct nnv_buckets b = {0};
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; i < r->count && s == NNV_OK; i++) {
        const struct nnv_report_case *c = &r->item[i];
        const struct nnv_bucket_case of = {.verdict = v,
                                           .op = r->ops.key[c->op],
                                           .type = r->types.key[c->type],
                                           .reason = c->more->reason,
                                           .compared = nnv_case_compared(c),
                                           .id = i};
        if (c->verdict == v && nnv_buckets_add(&b, &of) == NNV_MAP_NONE)
            s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for the cases that are not supported");
    }
    nnv_text_addf(t, "<h3>%s</h3>\n", title);
    nnv_page_table(t, (const char *const[]){"operation", "types", "#cases", words, NULL});
    for (size_t k = 0; k < b.map.count && k < REFUSALS_MAX; k++) {
        nnv_page_text(t, "<tr><th scope=\"row\">", nnv_html_name(b.item[k].op), "</th><td class=\"keep\">");
        nnv_text_add_xml(t, nnv_html_name(b.item[k].family));
        nnv_text_addf(t, "</td><td class=\"n\">%s</td><td>", nnv_count(b.item[k].count).s);
        nnv_html_cut(t, r->item[b.item[k].first].more->reason, 240);
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
    if (b.map.count > REFUSALS_MAX)
        nnv_text_addf(t, "<p class=\"soft\">and %s more</p>\n", nnv_count(b.map.count - REFUSALS_MAX).s);
    nnv_buckets_free(&b);
    return s;
}

enum nnv_status nnv_html_suites(struct nnv_html *h, struct nnv_err *err) {
    nnv_text_add(&h->t, "<section id=\"suites\">\n<h2>Suites</h2>\n");
    add_suites(h);
    enum nnv_status s = add_refusals(h, NNVTS_UNSUPPORTED, "Not supported", "the driver's words", err);
    if (s == NNV_OK) s = add_refusals(h, NNVTS_SKIP, "Not asked", "why", err);
    add_slowest(h);
    nnv_text_add(&h->t, "</section>\n");
    return s;
}
