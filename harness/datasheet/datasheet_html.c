/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/datasheet/datasheet.h"
#include "reports/html/page.h"

static const char style[] =
    "td ul { margin: 0; padding-left: 1.1em; min-width: 17em } td.none { color: var(--soft) } "
    "td.wrong { color: var(--F) } td.soft { min-width: 13em } td b { display: block; min-width: 10em }\n";

/** Rows of one operation that say the same stand in one line. */
static bool alike(const struct nnv_sheet_row *a, const struct nnv_sheet_row *b) {
    return a->op == b->op && a->unfinished == b->unfinished &&
           strcmp(nnv_sheet_support(&a->support), nnv_sheet_support(&b->support)) == 0 &&
           strcmp(a->support.must, b->support.must) == 0;
}

static bool stands_before(const struct nnv_datasheet *sheet, size_t i) {
    for (size_t k = i; k-- > 0 && sheet->row[k].op == sheet->row[i].op;)
        if (alike(&sheet->row[k], &sheet->row[i])) return true;
    return false;
}

/** What all rows like row i count together. */
static struct nnv_support sum_of(const struct nnv_datasheet *sheet, size_t i) {
    struct nnv_support sum = {0};
    for (size_t k = i; k < sheet->rows && sheet->row[k].op == sheet->row[i].op; k++) {
        const struct nnv_support *s = &sheet->row[k].support;
        if (!alike(&sheet->row[i], &sheet->row[k])) continue;
        sum.asked += s->asked;
        sum.yes += s->yes;
        sum.no += s->no;
        sum.broke += s->broke;
        sum.died += s->died;
        sum.unexplained += s->unexplained;
        sum.yes_yes += s->yes_yes;
        sum.yes_no += s->yes_no;
        sum.no_yes += s->no_yes;
        sum.no_no += s->no_no;
        sum.claimed += s->claimed;
        sum.right += s->right;
        sum.wrong += s->wrong;
        sum.unprepared += s->unprepared;
        if (!*sum.trouble) memcpy(sum.trouble, s->trouble, sizeof sum.trouble);
    }
    return sum;
}

static void add_conditions(struct nnv_text *t, const struct nnv_sheet_row *r, const struct nnv_support *sum) {
    const char *must = r->support.must, *supported = nnv_sheet_support(&r->support);
    if (r->ended) nnv_page_text(t, "its process ", r->ended, "; ");
    if (strcmp(supported, "some") != 0) {
        nnv_text_add(t, r->unfinished                    ? "not asked: the time was over"
                        : strcmp(supported, "all") == 0  ? "always"
                        : strcmp(supported, "none") == 0 ? "never"
                        : sum->broke > 0                 ? "it answered no question"
                                                         : "beyond its feature level");
    } else {
        nnv_text_add(t, "<ul>");
        for (const char *at = must; *at;) {
            const size_t n = strcspn(at, "\n");
            struct nnv_text line = {0};
            nnv_text_add_n(&line, at, n);
            nnv_page_text(t, "<li>", line.data ? line.data : "", "</li>");
            nnv_text_free(&line);
            at += n + (at[n] == '\n');
        }
        nnv_text_add(t, "</ul>");
    }
    if (sum->unexplained > 0)
        nnv_text_addf(t, "<span class=\"soft\">%u of %u refusals follow no condition that was found</span>",
                      sum->unexplained, sum->no);
    if (sum->died > 0) nnv_text_addf(t, "<p>its process ended in %u of %u questions</p>", sum->died, sum->asked);
}

/** All rows of the operation of row i, which is its first, are of that support, and there is nothing else to say. */
static bool is_plainly(const struct nnv_datasheet *sheet, size_t i, const char *support) {
    const struct nnv_sheet_row *r = &sheet->row[i];
    for (; r < sheet->row + sheet->rows && r->op == sheet->row[i].op; r++)
        if (strcmp(nnv_sheet_support(&r->support), support) != 0 || r->ended || r->unfinished || r->support.died > 0 ||
            r->support.right < r->support.claimed)
            return false;
    return true;
}

static size_t first_of(const struct nnv_datasheet *sheet, size_t i) {
    while (i > 0 && sheet->row[i - 1].op == sheet->row[i].op) i--;
    return i;
}

/** The operations of which that is all there is to say. */
static void add_plain(struct nnv_text *t, const struct nnv_datasheet *sheet, const char *support, const char *words) {
    size_t n = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        if (first_of(sheet, i) != i || !is_plainly(sheet, i, support)) continue;
        if (n == 0) nnv_text_addf(t, "<p><b>%s:</b> ", words);
        nnv_text_addf(t, "%s%s", n++ == 0 ? "" : ", ", sheet->row[i].op->name);
    }
    if (n > 0) nnv_text_add(t, "</p>\n");
}

/** What became of the models that were computed, and of which operations some were wrong. */
static void add_claims(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    size_t claimed = 0, right = 0, n = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        claimed += sheet->row[i].support.claimed;
        right += sheet->row[i].support.right;
    }
    if (claimed == 0) return;
    nnv_text_addf(t, "<p>Of %zu models that it claims to support, and that were computed, %zu are right", claimed,
                  right);
    for (size_t i = 0; i < sheet->rows; i++) {
        const struct nnv_sheet_row *r = &sheet->row[i];
        if (r->support.right == r->support.claimed) continue;
        nnv_text_addf(t, "%s%s %s", n++ == 0 ? "; not all of " : ", ", r->op->name, r->types);
    }
    nnv_text_add(t, ".</p>\n");
}

static void add_line(struct nnv_text *t, const struct nnv_datasheet *sheet, size_t i) {
    const struct nnv_sheet_row *r = &sheet->row[i];
    const struct nnv_support sum = sum_of(sheet, i);
    const bool none = sum.yes == 0;
    const char *comma = "";
    nnv_text_addf(t, "<tr><td class=\"one\">%s</td><td class=\"keep\">",
                  i == 0 || sheet->row[i - 1].op != r->op ? r->op->name : "");
    for (size_t k = i; k < sheet->rows && sheet->row[k].op == r->op; k++) {
        if (!alike(r, &sheet->row[k])) continue;
        nnv_text_addf(t, "%s%s", comma, sheet->row[k].types);
        comma = ", ";
    }
    nnv_text_addf(t, "</td><td class=\"keep %s\">", none ? "none" : "");
    add_conditions(t, r, &sum);
    nnv_text_addf(t, "</td><td class=\"n\">%u of %u</td><td class=\"n\">", sum.yes, sum.yes + sum.no);
    if (sum.yes > 0 && sum.no > 0)
        nnv_text_addf(t, "%.0f %% / %.0f %%", 100 * nnv_sheet_precision(&sum), 100 * nnv_sheet_recall(&sum));
    nnv_text_addf(t, "</td><td class=\"%s\">", sum.right < sum.claimed ? "wrong" : "");
    if (sum.claimed > 0) nnv_text_addf(t, "%u of %u", sum.right, sum.claimed);
    if (sum.right < sum.claimed && *sum.trouble) nnv_page_put(t, "<br/>", sum.trouble, 160, "");
    nnv_text_add(t, "</td></tr>\n");
}

static bool same_statement(const struct nnv_numeric_fact *a, const struct nnv_numeric_fact *b) {
    return strcmp(a->what, b->what) == 0 && strcmp(a->is, b->is) == 0;
}

/** "CONV_2D float32, float16; ADD float32": of all facts from i on that say the same. */
static void add_abouts(struct nnv_text *t, const struct nnv_numeric *n, uint32_t i) {
    const char *last = NULL;
    for (uint32_t k = i; k < n->count; k++) {
        const char *about = n->fact[k].about;
        const size_t op = strcspn(about, " ");
        if (!same_statement(&n->fact[i], &n->fact[k])) continue;
        const bool more = last && strncmp(last, about, op + 1) == 0 && about[op];
        nnv_page_text(t, more ? ", " : last ? "; " : "", about + (more ? op + 1 : 0), "");
        last = about;
    }
}

/** A line for what fact k says, unless one before says the same; i is the first about this. */
static void add_statement(struct nnv_text *t, const struct nnv_numeric *n, uint32_t i, uint32_t k) {
    const struct nnv_numeric_fact *f = &n->fact[k];
    for (uint32_t before = i; before < k; before++)
        if (same_statement(&n->fact[before], f)) return;
    nnv_page_text(t, "<tr><td class=\"keep\">", i == k ? f->what : "", "</td>");
    nnv_page_text(t, f->finding ? "<td class=\"keep wrong\"><b>" : "<td class=\"keep\"><b>", f->is,
                  "</b></td><td class=\"keep\">");
    add_abouts(t, n, k);
    nnv_page_text(t, "</td><td class=\"keep soft\">", f->evidence, "</td></tr>\n");
}

static void add_numeric(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    static const char *const heads[] = {"", "is", "of", "seen", NULL};
    const struct nnv_numeric *n = &sheet->numeric;
    if (n->count == 0) return;
    nnv_text_add(t, "<h2>How it computes</h2>\n<p class=\"soft\">Recognised from its answers to designed inputs.");
    nnv_page_text(t, " What it can be judged by: <code>--arithmetic ", sheet->arithmetic, "</code></p>\n");
    nnv_page_table(t, heads);
    for (uint32_t i = 0; i < n->count; i++) {
        bool told = false;
        for (uint32_t k = 0; k < i && !told; k++) told = strcmp(n->fact[k].what, n->fact[i].what) == 0;
        for (uint32_t k = i; k < n->count && !told; k++)
            if (strcmp(n->fact[k].what, n->fact[i].what) == 0) add_statement(t, n, i, k);
    }
    nnv_page_table_end(t);
}

static bool is_bad(const struct nnv_cliff *c) {
    return c->kind == NNV_CLIFF_VALUES || c->kind == NNV_CLIFF_DIES || c->kind == NNV_CLIFF_COMPILE;
}

/** What may make results wrong, each in a line, before all else. */
static void add_findings(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    const struct nnv_numeric *n = &sheet->numeric;
    struct nnv_text list = {0};
    for (size_t i = 0; i < sheet->rows; i++) {
        const struct nnv_support *s = &sheet->row[i].support;
        if (s->right == s->claimed) continue;
        nnv_text_addf(&list, "<li><b>%s %s</b>: of %u models that it claims %u are right", sheet->row[i].op->name,
                      sheet->row[i].types, s->claimed, s->right);
        nnv_page_put(&list, *s->trouble ? ": " : "", s->trouble, 160, "</li>\n");
    }
    for (uint32_t i = 0; i < n->count; i++) {
        bool said = n->fact[i].finding == 0;
        for (uint32_t k = 0; k < i && !said; k++) said = same_statement(&n->fact[k], &n->fact[i]);
        if (said) continue;
        nnv_text_add(&list, "<li><b>");
        add_abouts(&list, n, i);
        nnv_page_text(&list, "</b>: ", n->fact[i].what, ": ");
        nnv_page_text(&list, "", n->fact[i].is, "");
        nnv_page_text(&list, " <span class=\"soft\">", n->fact[i].evidence, "</span></li>\n");
    }
    for (uint32_t i = 0; sheet->cliffs && i < sheet->cliffs->count; i++) {
        const struct nnv_cliff *c = &sheet->cliffs->item[i];
        struct nnv_text words = {0};
        if (!is_bad(c)) continue;
        nnv_cliff_tell(c, &words);
        nnv_page_text(&list, "<li><b>", c->about, "</b>: ");
        nnv_page_text(&list, "", words.data ? words.data : "", "</li>\n");
        list.failed = list.failed || words.failed;
        nnv_text_free(&words);
    }
    if (list.data) nnv_text_addf(t, "<h2>What may be wrong</h2>\n<ul>\n%s</ul>\n", list.data);
    t->failed = t->failed || list.failed;
    nnv_text_free(&list);
}

/** What a profile demands and the driver has not, a few of it. */
static void add_misses(struct nnv_text *t, const struct nnv_datasheet *sheet, const struct nnv_sheet_profile *p) {
    enum { MOST = 2, MOST_TEXT = 200 };
    nnv_text_add(t, "<ul>");
    for (size_t i = 0; i < p->misses && i < MOST; i++) {
        struct nnv_text line = {0};
        nnv_sheet_tell_miss(sheet, &p->miss[i], &line);
        nnv_page_put(t, "<li>", line.data ? line.data : "", MOST_TEXT, "</li>");
        t->failed = t->failed || line.failed;
        nnv_text_free(&line);
    }
    if (p->misses > MOST) nnv_text_addf(t, "<li>and %zu more, which stand below</li>", p->misses - MOST);
    nnv_text_add(t, "</ul>");
}

static void add_profiles(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    static const char *const heads[] = {"profile", "", "#met", "missed", NULL};
    bool any = false;
    for (size_t i = 0; i < sheet->profiles; i++) any = any || !sheet->profile[i].unknown;
    if (!any) return;
    nnv_text_add(t,
                 "<h2>What it suffices for</h2>\n<p class=\"soft\">Sets of operations and types with a name: how many "
                 "pairs they demand, and how many of these are supported in every model that was asked, and right "
                 "in all that were computed.</p>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < sheet->profiles; i++) {
        const struct nnv_sheet_profile *p = &sheet->profile[i];
        if (p->unknown) continue;
        nnv_page_text(t, "<tr><td class=\"one\">", p->is->name, "</td>");
        nnv_page_text(t, "<td class=\"keep soft\">", p->is->about, "</td>");
        nnv_text_addf(t, "<td class=\"n\">%zu of %u</td><td class=\"keep\">", p->pairs - p->misses, p->pairs);
        if (p->misses == 0)
            nnv_text_add(t, "<b>met</b>");
        else if (p->misses == p->pairs)
            nnv_text_add(t, "<span class=\"soft\">all</span>");
        else
            add_misses(t, sheet, p);
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

static void add_cliffs(struct nnv_text *t, const struct nnv_cliffs *c) {
    static const char *const heads[] = {"operation", "axis", "", "#extent", "seen", NULL};
    if (c == NULL) return;
    nnv_text_addf(t,
                  "<h2>Where its behaviour changes with size</h2>\n<p class=\"soft\">%u axes of operations, their "
                  "extents doubled and bisected, %u models. On %u axes they go on beyond those whose whole result is "
                  "known: there values of sampled elements are judged.</p>\n",
                  c->done, c->probes, c->sampled);
    if (c->unfinished) nnv_text_add(t, "<p>Not all axes: the time was over.</p>\n");
    if (c->count == 0) nnv_text_add(t, "<p>Nowhere that was looked at.</p>\n");
    if (c->count == 0) return;
    nnv_page_table(t, heads);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nnv_cliff *k = &c->item[i];
        nnv_page_text(t, "<tr><td class=\"one\">", i > 0 && strcmp(k->about, k[-1].about) == 0 ? "" : k->about,
                      "</td>");
        nnv_page_text(t, "<td class=\"one\">", k->axis, "</td>");
        nnv_text_addf(t, "<td class=\"one %s\"><b>%s</b>", is_bad(k) ? "wrong" : "", nnv_cliff_kind_text(k->kind));
        if (k->kind == NNV_CLIFF_TIME) nnv_text_addf(t, ", %.3g times as long", k->factor);
        if (k->kind == NNV_CLIFF_GROWTH) nnv_text_addf(t, ": its power %.2g", k->factor);
        nnv_text_addf(t, "</td><td class=\"n\">%d", k->last);
        if (k->kind == NNV_CLIFF_GROWTH || k->first != k->last + 1)
            nnv_text_addf(t, k->kind == NNV_CLIFF_GROWTH ? " to %d" : " (not at %d)", k->first);
        nnv_text_add(t, "</td><td class=\"soft\">");
        if (k->sampled) nnv_text_addf(t, "by %llu sampled elements: ", (unsigned long long)k->sampled);
        nnv_page_text(t, "", k->words, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

static void add_speeds(struct nnv_text *t, const struct nnv_speeds *s) {
    static const char *const heads[] = {"operation",      "#us",   "#95 %", "#Gop/s", "#GB/s",
                                        "#% of the roof", "model", NULL};
    if (s == NULL || s->count == 0) return;
    nnv_text_addf(
        t,
        "<h2>How fast it is</h2>\n<p class=\"soft\">The median of one execution and where it lies, of a layer of "
        "a real network where there is one. The roof, %s: %.4g Gop/s of float32, %.4g of 8 bits, %.4g GB/s from "
        "memory.</p>\n",
        s->roof.stated ? "as stated" : "of one processor of this machine", s->roof.peak.float32, s->roof.peak.int8,
        s->roof.level[s->roof.levels - 1].rate);
    if (s->unfinished) nnv_text_add(t, "<p>Not all operations: the time was over.</p>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < s->count; i++) {
        const struct nnv_speed *k = &s->item[i];
        nnv_page_text(t, "<tr><td>", k->about, "</td>");
        nnv_text_addf(t, "<td class=\"n\">%.4g</td><td class=\"n soft\">%.4g \xe2\x80\x93 %.4g</td>", k->line.ns / 1e3,
                      k->line.ns_in.low / 1e3, k->line.ns_in.high / 1e3);
        nnv_text_add(t, "<td class=\"n\">");
        if (k->work.operations > 0) nnv_text_addf(t, "%.3g", k->line.gops);
        nnv_text_addf(t, "</td><td class=\"n\">%.3g</td><td class=\"n\">%.3g</td>", k->line.gbytes, k->line.percent);
        nnv_page_text(t, "<td class=\"soft\">", k->model, "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

static void add_changes(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    static const char *const heads[] = {"what", "change", NULL};
    if (!sheet->against) return;
    nnv_page_text(t, "<h2>Against ", sheet->against, "</h2>\n");
    if (sheet->changes == 0) nnv_text_add(t, "<p>Nothing has changed.</p>\n");
    if (sheet->changes == 0) return;
    nnv_page_table(t, heads);
    for (size_t i = 0; i < sheet->changes; i++) {
        nnv_page_text(t, "<tr><td>", sheet->change[i].about, "</td>");
        nnv_page_text(t, sheet->change[i].breaks ? "<td class=\"wrong\">" : "<td>", sheet->change[i].text,
                      "</td></tr>\n");
    }
    nnv_page_table_end(t);
}

/** True if the row stands in the table of conditions. */
static bool has_line(const struct nnv_datasheet *sheet, size_t i) {
    const size_t first = first_of(sheet, i);
    return !stands_before(sheet, i) && !is_plainly(sheet, first, "all") && !is_plainly(sheet, first, "none");
}

static void add_lines(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    static const char *const heads[] = {"operation", "types",          "supported where all of this is so",
                                        "#models",   "#right / found", "#computed right",
                                        NULL};
    size_t first = 0;
    while (first < sheet->rows && !has_line(sheet, first)) first++;
    if (first == sheet->rows) return;
    nnv_text_add(t,
                 "<h2 id=\"conditions\">Under which conditions</h2>\n<p class=\"soft\">Conditions are learnt from the "
                 "driver's own answers "
                 "to getSupportedOperations, and verified on models that they were not learnt from: how many of the "
                 "models that they call supported are (right), and how many of the supported ones they call so "
                 "(found). Some models that it supports are computed, and judged.</p>\n");
    nnv_page_table(t, heads);
    for (size_t i = first; i < sheet->rows; i++)
        if (has_line(sheet, i)) add_line(t, sheet, i);
    nnv_page_table_end(t);
}

void nnv_datasheet_html(const struct nnv_datasheet *sheet, struct nnv_text *t) {
    struct nnv_text heading = {0};
    size_t all = 0, some = 0, ops = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        all += strcmp(nnv_sheet_support(&sheet->row[i].support), "all") == 0;
        some += strcmp(nnv_sheet_support(&sheet->row[i].support), "some") == 0;
        ops += i == 0 || sheet->row[i].op != sheet->row[i - 1].op;
    }
    nnv_text_addf(&heading, "Datasheet of %s %s", sheet->driver.name, sheet->driver.version);
    const struct nnv_page page = {.title = heading.data ? heading.data : "datasheet",
                                  .kicker = "nnvts \xc2\xb7 datasheet",
                                  .heading = heading.data ? heading.data : "",
                                  .css = {style}};
    nnv_page_begin(t, &page);
    nnv_page_text(t, "<p>driver <code>", sheet->argument, "</code>");
    nnv_text_addf(t, ", %s, feature level %d, measured in %.0f s with seed %llu</p>\n", sheet->driver.type,
                  sheet->driver.level, sheet->seconds, (unsigned long long)sheet->seed);
    nnv_text_addf(t,
                  "<p><b>Of %zu pairs of an operation and its types, of %zu operations: %zu are supported always, %zu "
                  "under conditions, %zu never.</b></p>\n",
                  sheet->rows, ops, all, some, sheet->rows - all - some);
    add_claims(t, sheet);
    nnv_text_add(t, "</header>\n<main>\n");
    add_changes(t, sheet);
    add_findings(t, sheet);
    nnv_text_add(t, "<h2>What it supports</h2>\n");
    add_plain(t, sheet, "all", "Always, in all types");
    add_plain(t, sheet, "none", "Never");
    if (some > 0)
        nnv_text_addf(
            t, "<p>%zu pairs of an operation and its types under <a href=\"#conditions\">conditions</a>.</p>\n", some);
    add_profiles(t, sheet);
    add_numeric(t, sheet);
    add_cliffs(t, sheet->cliffs);
    add_speeds(t, sheet->speeds);
    add_lines(t, sheet);
    nnv_page_end(t, &page);
    t->failed = t->failed || heading.failed;
    nnv_text_free(&heading);
}
