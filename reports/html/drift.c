/* SPDX-License-Identifier: Apache-2.0 */
/** @file drift.c report.html: what grew and what did not while cases ran for long, as a table and as plots. */
#include <math.h>

#include "base/words.h"
#include "reports/compare/trend.h"
#include "reports/html/html.h"
#include "reports/html/page.h"

enum { CASES_MAX = 64, PLOTS_MAX = 40, BLOCKS_MAX = 256, NAME_MAX = 200 };

/** A case with what was seen of it. */
struct soaked {
    const struct nnv_report_case *c;
    json_t *record;
};

struct soaks {
    struct soaked at[CASES_MAX];
    size_t count, plots;
};

static const json_t *kinds_of(const struct soaked *s) { return json_object_get(s->record, "drift"); }

/** Calls work with each kind of each case. */
static void each_kind(struct nnv_html *h, struct soaks *all,
                      void (*work)(struct nnv_html *h, struct soaks *all, const struct soaked *s, const json_t *kind)) {
    size_t k;
    const json_t *kind;
    for (size_t i = 0; i < all->count; i++)
        json_array_foreach(kinds_of(&all->at[i]), k, kind) if (json_is_object(kind)) work(h, all, &all->at[i], kind);
}

static bool grows(const json_t *kind) { return json_is_true(json_object_get(kind, "grows")); }

/* ------------------------------------------------------------------------ table */

static void add_real(struct nnv_text *t, double v) {
    nnv_text_add(t, "<td class=\"n\">");
    if (isfinite(v))
        nnv_text_addf(t, "%.6g", v);
    else
        nnv_text_add(t, "\xe2\x80\x93");
    nnv_text_add(t, "</td>");
}

static void add_row(struct nnv_html *h, struct soaks *all, const struct soaked *s, const json_t *kind) {
    struct nnv_text *t = &h->t;
    const json_t *least = json_object_get(kind, "least");
    const size_t n = json_array_size(least);
    double first = NAN, last = NAN;
    (void)all;
    nnv_json_number(json_array_get(least, (size_t)nnv_json_count(kind, "judged_from")), &first);
    if (n > 0) nnv_json_number(json_array_get(least, n - 1), &last);
    nnv_text_add(t, "<tr><td>");
    nnv_html_sign(t, grows(kind) ? NNVTS_FAIL : NNVTS_PASS);
    nnv_page_put(t, " <code class=\"name\">", s->c->name, NAME_MAX, "</code></td><td>");
    nnv_html_cut(t, nnv_json_text(kind, "of", "?"), NAME_MAX);
    nnv_text_add(t, "</td>");
    add_real(t, first);
    add_real(t, last);
    add_real(t, nnv_json_real(kind, "slope"));
    add_real(t, nnv_json_real(kind, "low"));
    add_real(t, nnv_json_real(kind, "high"));
    nnv_text_add(t, "</tr>\n");
}

/* ------------------------------------------------------------------------ plots */

/** y is what was seen, or, of what is held and not of time, how far that lies above the least. */
static size_t read_blocks(const json_t *kind, bool above, double y[BLOCKS_MAX]) {
    const json_t *seen = json_object_get(kind, "least");
    size_t n = json_array_size(seen);
    double least = INFINITY;
    if (n > BLOCKS_MAX) n = BLOCKS_MAX;
    for (size_t i = 0; i < n; i++) {
        nnv_json_number(json_array_get(seen, i), &y[i]);
        if (y[i] < least) least = y[i];
    }
    for (size_t i = 0; i < n && above; i++) y[i] -= least;
    return n;
}

static void add_plot(struct nnv_html *h, struct soaks *all, const struct soaked *s, const json_t *kind) {
    const char *of = nnv_json_text(kind, "of", "?");
    const bool time = json_array_get(kinds_of(s), json_array_size(kinds_of(s)) - 1) == kind;
    double y[BLOCKS_MAX];
    struct nnv_text title = {0}, end = {0};
    if (all->plots++ >= PLOTS_MAX) return;
    const size_t n = read_blocks(kind, !time, y);
    nnv_text_addf(&title, "%s, %s%s", s->c->name, of, time ? "" : ", above the least");
    nnv_text_add_seconds(&end, nnv_json_real(kind, "seconds"));
    const struct nnv_plot_series line = {
        .name = title.data, .colour = grows(kind) ? "--F" : "--link", .y = y, .point = "part"};
    if (title.failed || end.failed)
        h->t.failed = true;
    else
        nnv_plot_lines(&h->t, title.data, &line, 1, n, "", (double)NAN, "0 s", end.data);
    nnv_text_free(&title);
    nnv_text_free(&end);
}

static void plot_growing(struct nnv_html *h, struct soaks *all, const struct soaked *s, const json_t *kind) {
    if (grows(kind)) add_plot(h, all, s, kind);
}

static void plot_others(struct nnv_html *h, struct soaks *all, const struct soaked *s, const json_t *kind) {
    if (!grows(kind)) add_plot(h, all, s, kind);
}

/* ---------------------------------------------------------------------- section */

bool nnv_html_has_drift(const struct nnv_report *r) {
    for (size_t i = 0; i < r->count; i++)
        if (r->item[i].drift) return true;
    return false;
}

enum nnv_status nnv_html_drift(struct nnv_html *h, struct nnv_err *err) {
    static const char *const heads[] = {"case",  "of", "#when judging began", "#at the end", "#each second", "#low",
                                        "#high", NULL};
    struct soaks all = {.count = 0};
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; i < h->r->count && all.count < CASES_MAX && s == NNV_OK; i++) {
        if (!h->r->item[i].drift) continue;
        all.at[all.count].c = &h->r->item[i];
        s = nnv_report_record(h->r, i, &all.at[all.count].record, err);
        all.count += s == NNV_OK;
    }
    if (s == NNV_OK && all.count > 0) {
        nnv_text_add(&h->t, "<section id=\"drift\">\n<h2>Over time</h2>\n<p>The least that the driver held, and that "
                            "an execution took, in each part of a case's time. The second half is judged: what "
                            "grows is the median of the slopes between all parts, with the bounds of 99.9 %.</p>\n");
        nnv_page_table(&h->t, heads);
        each_kind(h, &all, add_row);
        nnv_page_table_end(&h->t);
        each_kind(h, &all, plot_growing);
        nnv_text_add(&h->t, "<details><summary>what does not grow, as plots</summary>\n");
        each_kind(h, &all, plot_others);
        nnv_text_add(&h->t, "</details>\n</section>\n");
    }
    for (size_t i = 0; i < all.count; i++) json_decref(all.at[i].record);
    return s;
}
