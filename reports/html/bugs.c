/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs.c report.html: the failures, as bugs and one by one. */
#include <stdlib.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum {
    BUG_BYTES = 500 << 10, /**< beyond this bugs are without tables and pictures */
    FULL_MAX = 300,        /**< cases with all details */
    FULL_BYTES = 750 << 10,
    ROWS_MAX = 1000, /**< further cases with a line each */
};

static void open_section(struct nnv_text *t, const char *id, const char *title, size_t count, const char *text) {
    nnv_text_addf(t, "<section id=\"%s\">\n<h2>%s <span class=\"n soft\">%s</span></h2>\n<p class=\"lead\">%s</p>\n",
                  id, title, nnv_count(count).s, text);
}

/** Adds the details of case i, or only its reason once the page is large enough. */
static enum nnv_status add_body(struct nnv_html *h, size_t i, size_t limit, struct nnv_err *err) {
    const struct nnv_report_case *c = &h->r->item[i];
    if (h->full_bytes >= limit || h->full_cases >= FULL_MAX) {
        nnv_page_text(&h->t, "<pre class=\"reason\">", c->more->reason, "</pre>\n");
        return NNV_OK;
    }
    json_t *record = NULL;
    enum nnv_status s = nnv_report_record(h->r, i, &record, err);
    if (s != NNV_OK) return s;
    size_t before = h->t.len;
    nnv_html_case_body(h, c, record);
    h->full_cases++;
    h->full_bytes += h->t.len - before;
    json_decref(record);
    return NNV_OK;
}

static enum nnv_status add_bug(struct nnv_html *h, size_t n, struct nnv_err *err) {
    const struct nnv_bug *b = &h->bugs.item[n];
    const struct nnv_report_case *c = &h->r->item[b->smallest];
    struct nnv_text *t = &h->t;
    nnv_text_addf(t, "<article class=\"bug %c\" id=\"b%zu\">\n<h3>", nnv_verdict_letter(b->verdict), n + 1);
    nnv_html_sign(t, b->verdict);
    nnv_text_add(t, " ");
    nnv_text_add_xml(t, nnv_html_name(*b->ops == '\0' ? h->r->suites.key[c->suite] : b->ops));
    if (*b->types != '\0') nnv_page_text(t, " <small>", b->types, "</small>");
    nnv_text_addf(t, "<span class=\"count\"><span class=\"n\">%s</span> %s</span></h3>\n", nnv_count(b->count).s,
                  b->count == 1 ? "case" : "cases");
    if (b->explained) nnv_page_text(t, "<p>Explained: ", b->words, "</p>\n");
    if (b->family) nnv_page_text(t, "<p>", b->words, "</p>\n");
    if (b->where) nnv_page_text(t, "<p>Fails ", b->where, "</p>\n");
    nnv_text_add_touched(t, &h->networks, nnv_networks_touched(&h->networks, &h->bugs, (uint32_t)n), "<p>Touches ",
                         "</p>\n");
    nnv_text_addf(t, "<div id=\"c%zu\" class=\"case\"><p class=\"soft\">%s: <code class=\"name\">", b->smallest,
                  b->count == 1 ? "the case" : "the case that shows it best");
    nnv_text_add_xml(t, c->name);
    nnv_text_add(t, "</code></p>\n");
    enum nnv_status s = add_body(h, b->smallest, BUG_BYTES, err);
    nnv_text_add(t, "</div>\n</article>\n");
    return s;
}

enum nnv_status nnv_html_bugs(struct nnv_html *h, struct nnv_err *err) {
    size_t bugs = h->bugs.count;
    if (bugs == 0) return NNV_OK;
    open_section(
        &h->t, "bugs", "Bugs", bugs,
        "Failures are one bug where the same mistake explains them, where they show under the same condition, or where "
        "a library crashes at the same place; else where their reasons are alike, or (wrong values) in one operation.");
    enum nnv_status s = NNV_OK;
    for (size_t n = 0; n < bugs && n < NNV_HTML_BUGS_MAX && s == NNV_OK; n++) s = add_bug(h, n, err);
    if (bugs > NNV_HTML_BUGS_MAX)
        nnv_text_addf(&h->t, "<p class=\"soft\">and %s more; all failing cases are listed under Cases.</p>\n",
                      nnv_count(bugs - NNV_HTML_BUGS_MAX).s);
    nnv_text_add(&h->t, "</section>\n");
    return s;
}

void nnv_html_networks(struct nnv_html *h) {
    static const char *const heads[] = {"network", "#operations", "#right", "#wrong", "#not supported", NULL};
    const struct nnv_networks *n = &h->networks;
    struct nnv_text *t = &h->t;
    if (n->count == 0) return;
    open_section(
        t, "networks", "Networks", n->count,
        "The networks that cases were harvested from. Each operation counts as often as it occurs, and is what "
        "its case says.");
    nnv_text_add_networks(t, n, "<p>Networks: ", "</p>\n");
    nnv_page_table(t, heads);
    for (uint32_t i = 0; i < n->count; i++) {
        const struct nnv_weighed *w = &n->item[i].all;
        nnv_page_text(t, "<tr><th scope=\"row\">", n->item[i].name, "</th>");
        const uint32_t numbers[] = {w->operations, w->right, w->wrong, w->unsupported};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            nnv_text_addf(t, "<td class=\"n\">%s</td>", nnv_count(numbers[k]).s);
        nnv_text_add(t, "</tr>\n");
    }
    nnv_page_table_end(t);
    nnv_text_add(t, "</section>\n");
}

/* ------------------------------------------------------------- every failure */

/** A failing case and its rank in its bug: the first of all bugs come before the second of any. */
struct entry {
    size_t i, rank;
    uint32_t bug;
};

static int by_rank(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->bug < b->bug ? -1 : a->bug > b->bug;
}

static int by_bug(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    if (a->bug != b->bug) return a->bug < b->bug ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/**
 * The failing cases that are not shown as the smallest of a bug, in the order in which they are worth their room.
 * Malloc'ed; NULL when out of memory.
 */
static struct entry *list_failures(const struct nnv_html *h) {
    size_t bugs = h->bugs.count, n = 0;
    size_t *seen = calloc(bugs + 1, sizeof *seen);
    struct entry *list = malloc(h->further * sizeof *list);
    if (seen == NULL || list == NULL) {
        free(seen);
        free(list);
        return NULL;
    }
    for (size_t i = 0; i < h->r->count; i++) {
        uint32_t b = h->bugs.of[i];
        if (b == NNV_MAP_NONE || (i == h->bugs.item[b].smallest && b < NNV_HTML_BUGS_MAX)) continue;
        list[n++] = (struct entry){i, seen[b]++, b};
    }
    free(seen);
    qsort(list, n, sizeof *list, by_rank);
    return list;
}

static void open_case(struct nnv_text *t, const struct nnv_report_case *c) {
    nnv_html_sign(t, c->verdict);
    nnv_text_add(t, " <code class=\"name\">");
    nnv_text_add_xml(t, c->name);
    nnv_page_put(t, "</code> <span class=\"why\">", c->more->reason, 160, "</span>");
}

/** Adds the heading of the further cases of a bug. */
static void add_bug_title(struct nnv_html *h, uint32_t n) {
    struct nnv_text *t = &h->t;
    if (n < NNV_HTML_BUGS_MAX)
        nnv_text_addf(t, "<h3 class=\"of\"><a href=\"#b%u\">Bug %u</a> ", n + 1, n + 1);
    else
        nnv_text_addf(t, "<h3 class=\"of\">Bug %u ", n + 1);
    nnv_page_text(t, "<small>", h->bugs.item[n].ops, " ");
    nnv_text_add_xml(t, h->bugs.item[n].types);
    nnv_text_add(t, "</small></h3>\n");
}

static enum nnv_status add_entries(struct nnv_html *h, const struct entry *list, size_t full, size_t rows,
                                   struct nnv_err *err) {
    struct nnv_text *t = &h->t;
    enum nnv_status s = NNV_OK;
    uint32_t bug = NNV_MAP_NONE;
    for (size_t k = 0; k < full && s == NNV_OK; k++) {
        if (list[k].bug != bug) add_bug_title(h, list[k].bug);
        bug = list[k].bug;
        nnv_text_addf(t, "<details class=\"case\" id=\"c%zu\"><summary>", list[k].i);
        open_case(t, &h->r->item[list[k].i]);
        nnv_text_add(t, "</summary>\n");
        s = add_body(h, list[k].i, (size_t)-1, err);
        nnv_text_add(t, "</details>\n");
    }
    if (rows > full) nnv_text_add(t, "<h3 class=\"of\">More of them, in short</h3>\n");
    for (size_t k = full; k < rows; k++) {
        nnv_text_addf(t, "<p class=\"row\" id=\"c%zu\">", list[k].i);
        open_case(t, &h->r->item[list[k].i]);
        nnv_text_add(t, "</p>\n");
    }
    return s;
}

/** How many of the first failures can have all their details: their records tell how much room they need. */
static size_t count_full(const struct nnv_html *h, const struct entry *list, size_t count) {
    size_t n = 0, bytes = h->full_bytes;
    while (n < count && n + h->full_cases < FULL_MAX && bytes < FULL_BYTES) {
        /* A record is shorter than its page: numbers become cells of tables. */
        bytes += 1024 + 4 * h->r->item[list[n].i].length;
        n++;
    }
    return n;
}

enum nnv_status nnv_html_failures(struct nnv_html *h, struct nnv_err *err) {
    size_t count = h->further;
    if (count == 0) return NNV_OK;
    struct entry *list = list_failures(h);
    if (list == NULL) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the failures of the run");
    open_section(&h->t, "failures", "Further failing cases", count,
                 "Every failing case that is not shown as the smallest of a bug. Open one for its details.");
    size_t full = count_full(h, list, count), rows = count - full < ROWS_MAX ? count : full + ROWS_MAX;
    if (full > 0) qsort(list, full, sizeof *list, by_bug);
    enum nnv_status s = add_entries(h, list, full, rows, err);
    if (rows < count)
        nnv_text_addf(&h->t,
                      "<p class=\"soft\">and %s more; all are listed by name under <a href=\"#cases\">Cases</a>, with "
                      "their details in journal.jsonl.</p>\n",
                      nnv_count(count - rows).s);
    nnv_text_add(&h->t, "</section>\n");
    free(list);
    return s;
}
