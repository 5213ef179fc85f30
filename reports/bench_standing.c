/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_standing.c Where the first driver of a bench is ahead of the others, and where behind. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/words.h"
#include "harness/journal/load.h"
#include "reports/bench.h"
#include "reports/html/page.h"

/** Of all networks. */
struct standings {
    struct nnv_bench_standing *of; /**< those behind first, by how much */
    size_t count, behind, ahead;
};

static double end_of(const struct nnv_bench_line *l, const char *end) {
    return nnv_bench_number(l->latency, "quantiles", "p50", end, NULL);
}

/** The interval of a's median lies above that of b's. */
static bool is_above(const struct nnv_bench_line *a, const struct nnv_bench_line *b) {
    return end_of(a, "low_ns") > end_of(b, "high_ns");
}

bool nnv_bench_stands(const struct nnv_bench_sheet *s, uint32_t network, struct nnv_bench_standing *to) {
    const struct nnv_bench_line *own = &s->line[s->first[network]], *best = NULL;
    for (size_t i = own->next; i != SIZE_MAX; i = s->line[i].next)
        if (s->line[i].p50 > 0 && (!best || s->line[i].p50 < best->p50)) best = &s->line[i];
    if (!best || !(own->p50 > 0)) return false;
    *to = (struct nnv_bench_standing){.own = own, .best = best, .ratio = own->p50 / best->p50};
    const bool differ = fabs(to->ratio - 1) >= 0.01;
    to->behind = differ * (is_above(own, best) - is_above(best, own));
    return true;
}

static int by_ratio(const void *a, const void *b) {
    const struct nnv_bench_standing *x = a, *y = b;
    if (x->ratio != y->ratio) return x->ratio < y->ratio ? 1 : -1;
    return (x->own > y->own) - (x->own < y->own);
}

static bool find(const struct nnv_bench_sheet *s, struct standings *all) {
    *all = (struct standings){.of = calloc((size_t)s->networks.count + 1, sizeof *all->of)};
    if (!all->of) return false;
    for (uint32_t n = 0; n < s->networks.count; n++) {
        struct nnv_bench_standing *one = &all->of[all->count];
        if (!nnv_bench_stands(s, n, one)) continue;
        all->count++;
        all->behind += one->behind > 0;
        all->ahead += one->behind < 0;
    }
    qsort(all->of, all->count, sizeof *all->of, by_ratio);
    return true;
}

static const char *word_of(int behind) { return behind > 0 ? "BEHIND" : behind < 0 ? "ahead" : "even"; }

static void add_counts(const struct standings *all, struct nnv_text *t) {
    nnv_text_addf(t, "ahead on %zu, behind on %zu, even on %zu of %zu networks", all->ahead, all->behind,
                  all->count - all->ahead - all->behind, all->count);
}

void nnv_bench_standings(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    struct standings all;
    if (!find(s, &all)) {
        t->failed = true;
        return;
    }
    if (all.count > 0) {
        nnv_text_addf(t, "%s beside the fastest of the others, median latency by median latency: ",
                      nnv_shown(all.of[0].own->driver).s);
        add_counts(&all, t);
        nnv_text_add(t, "\n");
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct nnv_bench_standing *one = &all.of[i];
        nnv_text_addf(t, "  %-6s %5.2f  %-32s ", word_of(one->behind), one->ratio, nnv_shown(one->own->network).s);
        nnv_bench_add_time(t, one->own->p50);
        nnv_text_addf(t, ", %s ", nnv_shown(one->best->driver).s);
        nnv_bench_add_time(t, one->best->p50);
        nnv_text_add(t, "\n");
    }
    free(all.of);
}

static void add_row(const struct nnv_bench_standing *one, struct nnv_text *t) {
    nnv_text_addf(t, "<tr><th scope=\"row\"><a class=\"name\" href=\"#n%" PRIu32 "\">", one->own->group);
    nnv_bench_add_text(t, one->own->network);
    nnv_text_add(t, "</a></th><td class=\"n\">");
    nnv_bench_add_time(t, one->own->p50);
    nnv_text_add(t, "</td><td class=\"n\"><span class=\"name\">");
    nnv_bench_add_text(t, one->best->driver);
    nnv_text_add(t, "</span></td><td class=\"n\">");
    nnv_bench_add_time(t, one->best->p50);
    nnv_text_addf(t, "</td><td class=\"n\">%.2f</td><td>%s</td></tr>\n", one->ratio,
                  one->behind > 0   ? "<span class=\"bad\">behind</span>"
                  : one->behind < 0 ? "ahead"
                                    : "even");
}

void nnv_bench_standings_html(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    enum { MOST = 1000 };
    static const char *const heads[] = {"Network", "#Median", "#Fastest other", "#Its median", "#Ratio", "", NULL};
    struct standings all;
    if (!find(s, &all)) {
        t->failed = true;
        return;
    }
    if (all.count > 0) {
        nnv_text_add(t, "<section id=\"standing\">\n<h2>");
        nnv_bench_add_text(t, all.of[0].own->driver);
        nnv_text_add(t, " beside the fastest of the others</h2>\n<p class=\"lead\">");
        add_counts(&all, t);
        nnv_text_add(t,
                     ". Ratio: its median latency by that of the fastest other driver; above 1 it is slower. Even: the "
                     "intervals of the medians, at 95 %, overlap.</p>\n");
        nnv_page_table(t, heads);
        for (size_t i = 0; i < all.count && i < MOST; i++) add_row(&all.of[i], t);
        nnv_page_table_end(t);
        nnv_text_add(t, "</section>\n");
    }
    free(all.of);
}

void nnv_bench_drivers_html(const struct nnv_bench_sheet *s, struct nnv_text *t) {
    enum { MOST = 32 };
    struct nnv_map seen = {0};
    double noise = (double)NAN;
    nnv_text_add(t, "<div class=\"wide\"><dt>Drivers</dt><dd>");
    for (size_t i = 0; i < s->count; i++) {
        const struct nnv_bench_line *l = &s->line[i];
        const char *device = nnv_json_text(l->latency, "device", ""),
                   *version = nnv_json_text(l->latency, "version", "");
        noise = fmax(noise, nnv_bench_number(l->latency, "noise", NULL));
        const uint32_t before = seen.count;
        if (!*device || before == MOST || nnv_map_add(&seen, l->driver) != before) continue;
        nnv_text_add(t, "<small>");
        nnv_bench_add_text(t, l->driver);
        nnv_text_add(t, " is ");
        nnv_bench_add_text(t, device);
        nnv_text_add(t, " ");
        nnv_bench_add_text(t, version);
        nnv_text_add(t, "</small> ");
    }
    nnv_map_free(&seen);
    nnv_text_addf(t, "%s</dd></div>\n", s->count ? "" : "\xe2\x80\x93");
    if (isfinite(noise))
        nnv_text_addf(t, "<div><dt>Noise</dt><dd>%.2f<small>at most; an idle machine has 1</small></dd></div>\n",
                      noise);
}
