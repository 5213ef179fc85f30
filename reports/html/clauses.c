/* SPDX-License-Identifier: Apache-2.0 */
/** @file clauses.c report.html: which rules of NNAPI failed, which nobody could judge, which have no case. */
#include "base/words.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum { ROWS_MAX = 300, TEXT_BYTES = 600 };

static void add_head(struct nnv_text *t, const json_t *clause) {
    nnv_page_put(t, "<tr><th scope=\"row\">", nnv_json_text(clause, "id", "?"), TEXT_BYTES, "</th><td>");
    nnv_page_put(t, "<span class=\"soft\">", nnv_json_text(clause, "subject", ""), TEXT_BYTES, "</span> ");
    nnv_html_cut(t, nnv_json_text(clause, "text", ""), TEXT_BYTES);
}

static void add_failed(struct nnv_text *t, const json_t *list) {
    static const char *const heads[] = {"clause", "says", "#failed", "#of cases", "first case", NULL};
    size_t i;
    json_t *clause;
    nnv_page_table(t, heads);
    json_array_foreach(list, i, clause) {
        if (i == ROWS_MAX) break;
        add_head(t, clause);
        nnv_text_addf(t, "</td><td class=\"n\">%s</td>",
                      nnv_count((size_t)json_integer_value(json_object_get(clause, "failed"))).s);
        nnv_text_addf(t, "<td class=\"n\">%s</td>",
                      nnv_count((size_t)json_integer_value(json_object_get(clause, "cases"))).s);
        nnv_page_put(t, "<td>", nnv_json_text(clause, "first", ""), TEXT_BYTES, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

/** Clauses that no case judged, folded away, with `what` about their number. */
static void add_rest(struct nnv_text *t, const json_t *list, const char *what) {
    static const char *const heads[] = {"clause", "says", "why", NULL};
    const size_t n = json_array_size(list);
    size_t i;
    json_t *clause;
    if (n == 0) return;
    nnv_text_addf(t, "<details><summary>%s %s</summary>\n", nnv_count(n).s, what);
    nnv_page_table(t, heads);
    json_array_foreach(list, i, clause) {
        if (i == ROWS_MAX) break;
        const char *see = nnv_json_text(clause, "see", NULL), *reason = nnv_json_text(clause, "reason", NULL);
        add_head(t, clause);
        nnv_page_put(t, "</td><td>", see ? "not selected: " : "", TEXT_BYTES, "");
        nnv_html_cut(t, see ? see : reason ? reason : "its cases neither passed nor failed", TEXT_BYTES);
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
    if (n > ROWS_MAX) nnv_text_addf(t, "<p>and %s more, see clauses.json</p>\n", nnv_count(n - ROWS_MAX).s);
    nnv_text_add(t, "</details>\n");
}

void nnv_html_clauses(struct nnv_html *h) {
    json_t *root = nnv_report_file(h->r, NNV_CLAUSES_FILE);
    const json_t *failed = json_object_get(root, "failed");
    struct nnv_text *t = &h->t;
    if (json_is_object(root)) {
        const size_t passed = (size_t)json_integer_value(json_object_get(root, "passed"));
        const size_t all = (size_t)json_integer_value(json_object_get(root, "clauses"));
        nnv_text_addf(t, "<section id=\"clauses\">\n<h2>Clauses of NNAPI</h2>\n<p>Of %s clauses ", nnv_count(all).s);
        nnv_text_addf(t, "%s passed and ", nnv_count(passed).s);
        nnv_text_addf(t, "%s failed.</p>\n", nnv_count(json_array_size(failed)).s);
        if (json_array_size(failed) > 0) add_failed(t, failed);
        add_rest(t, json_object_get(root, "not_judged"), "that no case could judge");
        add_rest(t, json_object_get(root, "without_case"), "without a case in this run");
        nnv_text_add(t, "</section>\n");
    }
    json_decref(root);
}
