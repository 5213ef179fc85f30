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

/** The cases of a suite and an operation. */
struct group {
    uint32_t suite, op;
    size_t n[NNVTS_VERDICT_COUNT];
};

/** What is listed. */
struct lists {
    bool all; /**< every case of the run */
    struct group *group;
    size_t groups;
    size_t *order; /**< of the cases with a line: all, or those that went wrong */
    size_t count;
    size_t end; /**< of the page, where the lists end */
};

static bool is_fine(enum nnvts_verdict v) { return v == NNVTS_PASS || v == NNVTS_UNSUPPORTED || v == NNVTS_SKIP; }

static int by_group(const void *pa, const void *pb) {
    const struct group *a = pa, *b = pb;
    const int order = compare(a->suite, b->suite);
    return order != 0 ? order : compare(a->op, b->op);
}

/** Counts the groups of a run, and sorts them. False when out of memory. */
static bool find_groups(const struct nnv_report *r, struct lists *l) {
    struct nnv_id_map ids = {0};
    size_t cap = 0;
    bool ok = true;
    for (size_t i = 0; i < r->count && ok; i++) {
        const struct nnv_report_case *c = &r->item[i];
        const uint32_t g = nnv_id_add(&ids, (uint64_t)c->suite << 32 | c->op);
        ok = g != NNV_MAP_NONE && nnv_grow(NULL, &l->group, l->groups, &cap, sizeof *l->group);
        if (ok && g == l->groups) l->group[l->groups++] = (struct group){.suite = c->suite, .op = c->op};
        if (ok) l->group[g].n[c->verdict]++;
    }
    nnv_id_free(&ids);
    if (ok && l->groups > 0) qsort(l->group, l->groups, sizeof *l->group, by_group);
    return ok;
}

/** Sorts the cases that have a line. False when out of memory. */
static bool sort_cases(const struct nnv_report *r, struct lists *l) {
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) n += l->all || !is_fine(r->item[i].verdict);
    l->order = malloc((n + 1) * sizeof *l->order);
    if (l->order == NULL) return false;
    for (size_t i = 0; i < r->count; i++)
        if (l->all || !is_fine(r->item[i].verdict)) l->order[l->count++] = i;
    if (n > 0) qsort_r(l->order, n, sizeof *l->order, by_line, r->item);
    return true;
}

/** Adds one line: what the names share, then the last part of each on a line of the source. */
static size_t add_line(struct nnv_html *h, const struct lists *l, size_t k) {
    const size_t *order = l->order;
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
    for (; k < l->count && same_line(first, &h->r->item[order[k]]); k++) {
        nnv_text_add(t, "\n");
        nnv_text_add_xml(t, h->r->item[order[k]].name + prefix);
    }
    nnv_text_add(t, "</li>\n");
    return k;
}

/** Adds the lines of a group, and says how many of its cases are not listed. */
static size_t add_lines(struct nnv_html *h, const struct lists *l, const struct group *g, size_t k) {
    const struct nnv_report_case *item = h->r->item;
    size_t left_out = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) left_out += g->n[v];
    nnv_text_add(&h->t, "<ul>\n");
    while (k < l->count && item[l->order[k]].suite == g->suite && item[l->order[k]].op == g->op) {
        const bool room = l->all || h->t.len < l->end;
        const size_t next = room ? add_line(h, l, k) : k + 1;
        left_out -= room ? next - k : 0;
        k = next;
    }
    nnv_text_add(&h->t, "</ul>");
    if (left_out > 0)
        nnv_text_addf(&h->t, "<p class=\"soft\">%s not listed here; cases.tsv has their names</p>\n",
                      nnv_count(left_out).s);
    return k;
}

/** Adds a group, whose cases with a line begin at k of their order. */
static size_t add_group(struct nnv_html *h, const struct lists *l, const struct group *g, size_t k) {
    struct nnv_text *t = &h->t;
    const char *suite = h->r->suites.key[g->suite], *op = h->r->ops.key[g->op];
    nnv_text_addf(t, "<details class=\"group\" id=\"g%u-%u\" data-s=\"", g->suite, g->op);
    nnv_text_add_xml(t, suite);
    nnv_page_text(t, "\" data-o=\"", op, "\"><summary>");
    nnv_html_sign(t, nnv_html_worst(g->n));
    nnv_text_add(t, " ");
    nnv_text_add_xml(t, suite);
    if (*op != '\0') {
        nnv_text_add(t, " / ");
        nnv_text_add_xml(t, op);
    }
    nnv_text_add(t, " <span class=\"soft\">");
    nnv_html_counts(t, g->n);
    nnv_text_add(t, "</span></summary>\n");
    k = add_lines(h, l, g, k);
    nnv_text_add(t, "</details>\n");
    return k;
}

enum nnv_status nnv_html_cases(struct nnv_html *h, struct nnv_err *err) {
    struct lists l = {.all = h->r->count <= ALL_MAX};
    const bool ok = find_groups(h->r, &l) && sort_cases(h->r, &l);
    nnv_text_addf(&h->t,
                  "<section id=\"cases\">\n<h2>Cases <span class=\"n soft\">%s</span></h2>\n<p class=\"lead\">%s Each "
                  "line has what the names share, then how they end.</p>\n",
                  nnv_count(h->r->count).s,
                  l.all ? "Every case of the run."
                        : "The run has too many cases to list them all: these are the ones that went wrong, as far "
                          "as there is room, and counts of the others.");
    l.end = h->t.len + LISTED_BYTES;
    const size_t shown = l.all || l.groups < GROUPS_MAX ? l.groups : GROUPS_MAX;
    size_t k = 0, left_out = 0;
    for (size_t g = 0; g < shown && ok; g++) k = add_group(h, &l, &l.group[g], k);
    for (size_t g = shown; g < l.groups; g++)
        for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) left_out += l.group[g].n[v];
    if (left_out > 0)
        nnv_text_addf(&h->t, "<p class=\"soft\">and %s cases in more operations</p>\n", nnv_count(left_out).s);
    nnv_text_add(&h->t, "</section>\n");
    free(l.group);
    free(l.order);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the list of cases");
}
