/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/datasheet/datasheet.h"
#include "reports/html/page.h"

static const char style[] = "td ul { margin: 0; padding-left: 1.1em; min-width: 24em } td.none { color: var(--soft) } "
                            "td.wrong { color: var(--F) }\n";

/** Rows of one operation that say the same stand in one line. */
static bool alike(const struct nnv_sheet_row *a, const struct nnv_sheet_row *b) {
    return a->op == b->op && strcmp(nnv_sheet_support(&a->support), nnv_sheet_support(&b->support)) == 0 &&
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
        nnv_text_add(t, strcmp(supported, "all") == 0    ? "always"
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

static void add_line(struct nnv_text *t, const struct nnv_datasheet *sheet, size_t i) {
    const struct nnv_sheet_row *r = &sheet->row[i];
    const struct nnv_support sum = sum_of(sheet, i);
    const bool none = sum.yes == 0;
    const char *comma = "";
    nnv_text_addf(t, "<tr><td>%s</td><td>", i == 0 || sheet->row[i - 1].op != r->op ? r->op->name : "");
    for (size_t k = i; k < sheet->rows && sheet->row[k].op == r->op; k++) {
        if (!alike(r, &sheet->row[k])) continue;
        nnv_text_addf(t, "%s%s", comma, sheet->row[k].types);
        comma = ", ";
    }
    nnv_text_addf(t, "</td><td class=\"%s\">", none ? "none" : "");
    add_conditions(t, r, &sum);
    nnv_text_addf(t, "</td><td>%u of %u</td><td>", sum.yes, sum.yes + sum.no);
    if (sum.yes > 0 && sum.no > 0)
        nnv_text_addf(t, "%.0f %% / %.0f %%", 100 * nnv_sheet_precision(&sum), 100 * nnv_sheet_recall(&sum));
    nnv_text_addf(t, "</td><td class=\"%s\">", sum.right < sum.claimed ? "wrong" : "");
    if (sum.claimed > 0) nnv_text_addf(t, "%u of %u", sum.right, sum.claimed);
    if (sum.right < sum.claimed && *sum.trouble) nnv_page_put(t, "<br/>", sum.trouble, 160, "");
    nnv_text_add(t, "</td></tr>\n");
}

static void add_numeric(struct nnv_text *t, const struct nnv_datasheet *sheet) {
    static const char *const heads[] = {"operation", "", "is", "seen", NULL};
    const struct nnv_numeric *n = &sheet->numeric;
    if (n->count == 0) return;
    nnv_text_add(t, "<h2>How it computes</h2>\n<p class=\"soft\">Recognised from its answers to designed inputs.");
    nnv_page_text(t, " What it can be judged by: <code>--arithmetic ", sheet->arithmetic, "</code></p>\n");
    nnv_page_table(t, heads);
    for (uint32_t i = 0; i < n->count; i++) {
        const struct nnv_numeric_fact *f = &n->fact[i];
        const bool more = i > 0 && strcmp(f->about, f[-1].about) == 0;
        nnv_page_text(t, "<tr><td>", more ? "" : f->about, "</td>");
        nnv_page_text(t, "<td>", f->what, "</td>");
        nnv_page_text(t, "<td><b>", f->is, "</b></td>");
        nnv_page_text(t, "<td class=\"soft\">", f->evidence, "</td></tr>\n");
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

void nnv_datasheet_html(const struct nnv_datasheet *sheet, struct nnv_text *t) {
    static const char *const heads[] = {"operation", "types",          "supported where all of this is so",
                                        "#models",   "#right / found", "#computed right",
                                        NULL};
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
                  "under conditions, %zu never.</b></p>\n</header>\n<main>\n",
                  sheet->rows, ops, all, some, sheet->rows - all - some);
    add_changes(t, sheet);
    add_numeric(t, sheet);
    nnv_text_add(t, "<h2>What it supports</h2>\n<p class=\"soft\">Conditions are learnt from the driver's own answers "
                    "to getSupportedOperations, and verified on models that they were not learnt from: how many of the "
                    "models that they call supported are (right), and how many of the supported ones they call so "
                    "(found). Some models that it supports are computed, and judged.</p>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < sheet->rows; i++)
        if (!stands_before(sheet, i)) add_line(t, sheet, i);
    nnv_page_table_end(t);
    nnv_page_end(t, &page);
    t->failed = t->failed || heading.failed;
    nnv_text_free(&heading);
}
