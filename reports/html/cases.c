/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cases.c report.html: every case by name, in few bytes: the script searches these lists. Of very many cases
 * only those by name that did not pass, as far as there is room; the others are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"

enum {
    ALL_MAX = 100000,       /**< more cases than these are not all listed */
    LISTED_BYTES = 1 << 20, /**< then, what the lists may take */
    GROUPS_MAX = 2000,
};

/** Where the verdicts stand in a list: the worst first. */
static int place(enum nnvts_verdict v) {
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++)
        if (nnv_verdict_order[k] == v) return v == NNVTS_PASS ? NNVTS_VERDICT_COUNT : k;
    return 0;
}

/** Length of the part of a name that its neighbours share: up to the last '/'. */
static size_t prefix_length(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash == NULL ? 0 : (size_t)(slash - name) + 1;
}

static int compare(size_t a, size_t b) { return a < b ? -1 : a > b; }

/** True if both are in one group: suite and operation. */
static bool same_group(const struct nnv_report_case *a, const struct nnv_report_case *b) {
    return a->suite == b->suite && a->op == b->op;
}

/** True if both can share a line: verdict, type and all of the name but its last part. */
static bool same_line(const struct nnv_report_case *a, const struct nnv_report_case *b) {
    size_t n = prefix_length(a->name);
    return same_group(a, b) && a->verdict == b->verdict && a->type == b->type && n == prefix_length(b->name) &&
           strncmp(a->name, b->name, n) == 0;
}

static int by_line(const void *pa, const void *pb, void *items) {
    const struct nnv_report_case *item = items;
    size_t ia = *(const size_t *)pa, ib = *(const size_t *)pb;
    const struct nnv_report_case *a = &item[ia], *b = &item[ib];
    int order = compare(a->suite, b->suite);
    if (order == 0) order = compare(a->op, b->op);
    if (order == 0) order = place(a->verdict) - place(b->verdict);
    if (order == 0) order = compare(a->type, b->type);
    if (order == 0) {
        size_t na = prefix_length(a->name), nb = prefix_length(b->name);
        order = strncmp(a->name, b->name, na < nb ? na : nb);
        if (order == 0) order = compare(na, nb);
    }
    return order == 0 ? compare(ia, ib) : order;
}

/** What the section has taken of its room. */
struct room {
    bool all;   /**< every case is listed */
    size_t end; /**< of the page, where the lists end */
    size_t groups;
};

/** Adds one line: what the names share, then the last part of each on a line of the source. */
static size_t add_line(struct nnv_html *h, const size_t *order, size_t k) {
    struct nnv_text *t = &h->t;
    const struct nnv_report_case *first = &h->r->item[order[k]];
    size_t prefix = prefix_length(first->name);
    nnv_page_text(t, "<li data-t=\"", h->r->types.key[first->type], "\">");
    nnv_html_sign(t, first->verdict);
    nnv_text_add(t, "<i>");
    char *shared = strndup(first->name, prefix);
    if (shared == NULL)
        t->failed = true;
    else
        nnv_text_add_xml(t, shared);
    free(shared);
    nnv_text_add(t, "</i>");
    for (; k < h->r->count && same_line(first, &h->r->item[order[k]]); k++) {
        nnv_text_add(t, "\n");
        nnv_text_add_xml(t, h->r->item[order[k]].name + prefix);
    }
    nnv_text_add(t, "</li>\n");
    return k;
}

/** Adds the lines of a group, or says how many of its cases are not listed. */
static size_t add_lines(struct nnv_html *h, const size_t *order, size_t k, const struct room *room) {
    const struct nnv_report_case *item = h->r->item, *first = &item[order[k]];
    size_t left_out = 0;
    nnv_text_add(&h->t, "<ul>\n");
    while (k < h->r->count && same_group(first, &item[order[k]])) {
        const enum nnvts_verdict v = item[order[k]].verdict;
        const bool fine = v == NNVTS_PASS || v == NNVTS_UNSUPPORTED || v == NNVTS_SKIP;
        if (room->all || (!fine && h->t.len < room->end)) {
            k = add_line(h, order, k);
        } else {
            left_out++;
            k++;
        }
    }
    nnv_text_add(&h->t, "</ul>");
    if (left_out > 0)
        nnv_text_addf(&h->t, "<p class=\"soft\">%s not listed here; cases.tsv has their names</p>\n",
                      nnv_count(left_out).s);
    return k;
}

static size_t add_group(struct nnv_html *h, const size_t *order, size_t k, const struct room *room) {
    struct nnv_text *t = &h->t;
    const struct nnv_report_case *first = &h->r->item[order[k]];
    size_t n[NNVTS_VERDICT_COUNT] = {0};
    for (size_t j = k; j < h->r->count && same_group(first, &h->r->item[order[j]]); j++)
        n[h->r->item[order[j]].verdict]++;
    const char *suite = h->r->suites.key[first->suite], *op = h->r->ops.key[first->op];
    nnv_text_addf(t, "<details class=\"group\" id=\"g%u-%u\" data-s=\"", first->suite, first->op);
    nnv_text_add_xml(t, suite);
    nnv_page_text(t, "\" data-o=\"", op, "\"><summary>");
    nnv_html_sign(t, nnv_html_worst(n));
    nnv_text_add(t, " ");
    nnv_text_add_xml(t, suite);
    if (*op != '\0') {
        nnv_text_add(t, " / ");
        nnv_text_add_xml(t, op);
    }
    nnv_text_add(t, " <span class=\"soft\">");
    nnv_html_counts(t, n);
    nnv_text_add(t, "</span></summary>\n");
    k = add_lines(h, order, k, room);
    nnv_text_add(t, "</details>\n");
    return k;
}

enum nnv_status nnv_html_cases(struct nnv_html *h, struct nnv_err *err) {
    size_t *order = calloc(h->r->count + 1, sizeof *order);
    if (order == NULL) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the list of cases");
    for (size_t i = 0; i < h->r->count; i++) order[i] = i;
    if (h->r->count > 0) qsort_r(order, h->r->count, sizeof *order, by_line, h->r->item);
    struct room room = {.all = h->r->count <= ALL_MAX};
    nnv_text_addf(&h->t,
                  "<section id=\"cases\">\n<h2>Cases <span class=\"n soft\">%s</span></h2>\n<p class=\"lead\">%s Each "
                  "line has what the names share, then how they end.</p>\n",
                  nnv_count(h->r->count).s,
                  room.all ? "Every case of the run."
                           : "The run has too many cases to list them all: these are the ones that went wrong, as far "
                             "as there is room, and counts of the others.");
    room.end = h->t.len + LISTED_BYTES;
    size_t k = 0;
    while (k < h->r->count && (room.all || room.groups++ < GROUPS_MAX)) k = add_group(h, order, k, &room);
    if (k < h->r->count)
        nnv_text_addf(&h->t, "<p class=\"soft\">and %s cases in more operations</p>\n", nnv_count(h->r->count - k).s);
    nnv_text_add(&h->t, "</section>\n");
    free(order);
    return NNV_OK;
}
