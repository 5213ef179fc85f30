/* SPDX-License-Identifier: Apache-2.0 */
/** @file uses.c report.html: the ranks, layouts and attributes that operations were tested with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"

enum { VALUES_MAX = 12 }; /**< of an axis, that are shown one by one */

/** Bytes of "layout" in "layout=nchw". */
static size_t axis_bytes(const struct nnv_use *u) { return strcspn(u->words, "="); }

static bool same_axis(const struct nnv_use *a, const struct nnv_use *b) {
    const size_t n = axis_bytes(a);
    return a->op == b->op && n == axis_bytes(b) && memcmp(a->words, b->words, n) == 0;
}

/** The letter of a cell: 'r' where all passed, and nothing was compared. */
static char letter_of(const struct nnv_use *u, size_t *shown) {
    const enum nnvts_verdict worst = nnv_html_worst(u->verdicts);
    *shown = worst == NNVTS_PASS && u->computed > 0 ? u->computed : u->verdicts[worst];
    if (worst != NNVTS_PASS || u->computed > 0) return nnv_verdict_letter(worst);
    return u->verdicts[NNVTS_UNSUPPORTED] > 0 ? 'U' : 'r';
}

/** The uses of one operation. */
struct uses {
    const struct nnv_use **item;
    size_t count;
};

/** True if no earlier one is of the same axis. */
static bool is_first(const struct uses *of, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (same_axis(of->item[k], of->item[i])) return false;
    return true;
}

/** The values of the axis of use number `first`; those beyond what is shown are one cell. */
static void add_axis(struct nnv_html *h, const struct uses *of, size_t first) {
    const struct nnv_use *axis = of->item[first];
    struct nnv_text *t = &h->t;
    size_t values = 0, further = 0, shown;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)axis_bytes(axis), axis->words);
    nnv_page_text(t, "<tr><th scope=\"row\">", name, "</th>");
    for (size_t i = first; i < of->count; i++) {
        const struct nnv_use *u = of->item[i];
        if (!same_axis(axis, u)) continue;
        const char letter = letter_of(u, &shown);
        if (values++ >= VALUES_MAX && letter == 'P') {
            further++;
            continue;
        }
        nnv_text_addf(t, "<td class=\"%c\" title=\"", letter);
        nnv_html_counts(t, u->verdicts);
        nnv_text_addf(t, "\"><b>%c</b> %s ", letter, nnv_count(shown).s);
        nnv_page_text(t, "<small>", u->words + axis_bytes(u) + (u->words[axis_bytes(u)] == '='), "</small></td>");
    }
    if (further > 0) nnv_text_addf(t, "<td class=\"P\"><b>P</b> <small>%zu more</small></td>", further);
    nnv_text_add(t, "</tr>\n");
}

/** One operation, folded. */
static void add_operation(struct nnv_html *h, const struct uses *of) {
    size_t axes = 0, shown;
    bool bad = false;
    for (size_t i = 0; i < of->count; i++) {
        bad = bad || strchr("PUSr", letter_of(of->item[i], &shown)) == NULL;
        axes += is_first(of, i);
    }
    nnv_page_put(&h->t, "<details><summary>", h->r->ops.key[of->item[0]->op], 80, "");
    nnv_text_addf(&h->t,
                  " <small>%zu ax%s%s</small></summary><div class=\"wide\"><table class=\"matrix uses\"><tbody>\n",
                  axes, axes == 1 ? "is" : "es", bad ? ", not all pass" : "");
    for (size_t i = 0; i < of->count; i++)
        if (is_first(of, i)) add_axis(h, of, i);
    nnv_text_add(&h->t, "</tbody></table></div></details>\n");
}

bool nnv_html_uses(struct nnv_html *h, const uint32_t *op) {
    const struct nnv_uses *all = &h->r->uses;
    struct uses of = {.item = calloc(all->map.count + (size_t)1, sizeof *of.item)};
    if (of.item == NULL) return false;
    if (all->map.count > 0)
        nnv_text_add(&h->t, "<details><summary>Ranks, layouts and attributes of each operation</summary>\n<p "
                            "class=\"soft\">The worst verdict of the cases with this value, and how many have it; P "
                            "counts those that computed values which were compared. Cases in which the driver died say "
                            "nothing here.</p>\n");
    for (uint32_t k = 0; k < h->r->ops.count; k++) {
        of.count = 0;
        for (uint32_t i = 0; i < all->map.count; i++)
            if (nnv_use_at(all, i)->op == op[k]) of.item[of.count++] = nnv_use_at(all, i);
        if (of.count > 0) add_operation(h, &of);
    }
    if (all->map.count > 0) nnv_text_add(&h->t, "</details>\n");
    free(of.item);
    return true;
}
