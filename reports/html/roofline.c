/* SPDX-License-Identifier: Apache-2.0 */
/** @file roofline.c What of the machine's peak networks and their operations achieve: tables, and operations under the
 * roof as a picture with two logarithmic axes. */

#include <math.h>
#include <string.h>

#include "harness/journal/line.h"
#include "reports/bench.h"
#include "reports/html/page.h"

enum { LEFT = 66, TOP = 16, WIDTH = 800, HIGH = 330, RIGHT = 14, BELOW = 44, MOST_POINTS = 500, TOLD = 12, MARKED = 5 };

const char *const nnv_roofline_css =
    ".roof circle{fill:var(--link);fill-opacity:.35;stroke:var(--link)}.roof .r{fill:none;stroke:var(--ink);"
    "stroke-width:2}\n.roof .c{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}\n"
    ".roof .k{font-size:12px;font-weight:600}\n";

const char *const nnv_roofline_heads[] = {"Roofline", "#Time", "#Gop/s", "#GB/s", "#op/B", "#Of the roof", NULL};

/* ------------------------------------------------------------------- numbers */

/** An operation that was timed. */
struct point {
    const json_t *step;
    double ns, intensity, gops, peak;
};

/** What a picture shows, the slowest first. */
struct points {
    size_t count;
    struct point at[MOST_POINTS];
};

static double of_line(const json_t *step, const char *member, const char *which) {
    return nnv_bench_number(step, "roofline", member, which, NULL);
}

/** The operations that were timed, by time. */
static void collect(const json_t *steps, struct points *p) {
    const json_t *step;
    size_t i;
    p->count = 0;
    json_array_foreach((json_t *)steps, i, step) {
        const struct point it = {.step = step,
                                 .ns = of_line(step, "ns", "median"),
                                 .intensity = nnv_bench_number(step, "work", "intensity", NULL),
                                 .gops = of_line(step, "gops", "median"),
                                 .peak = of_line(step, "peak_gops", NULL)};
        if (!(it.ns > 0) || p->count == MOST_POINTS) continue;
        size_t k = p->count++;
        for (; k > 0 && it.ns > p->at[k - 1].ns; k--) p->at[k] = p->at[k - 1];
        p->at[k] = it;
    }
}

/** Can it be shown on logarithmic axes? */
static bool shown(const struct point *p) {
    return p->intensity > 1e-6 && p->intensity < 1e9 && p->gops > 1e-6 && p->gops < 1e9;
}

/* -------------------------------------------------------------------- tables */

/** A rate with its interval below. */
static void add_rate(struct nnv_text *t, const json_t *line, const char *member, const char *unit) {
    const double v = nnv_bench_number(line, member, "median", NULL);
    const double low = nnv_bench_number(line, member, "low", NULL), high = nnv_bench_number(line, member, "high", NULL);
    nnv_text_add(t, "<td class=\"n\">");
    if (isfinite(v))
        nnv_text_addf(t, "%.3g%s", v, unit);
    else
        nnv_text_add(t, "\xe2\x80\x93");
    if (isfinite(low) && isfinite(high)) nnv_text_addf(t, "<small>%.3g to %.3g</small>", low, high);
    nnv_text_add(t, "</td>");
}

/** The cells of a table's line behind what it is about. */
static void add_cells(struct nnv_text *t, const json_t *work, const json_t *line) {
    const double intensity = nnv_bench_number(work, "intensity", NULL);
    const double low = nnv_bench_number(line, "ns", "low", NULL), high = nnv_bench_number(line, "ns", "high", NULL);
    nnv_text_add(t, "<td class=\"n\">");
    nnv_bench_add_time(t, nnv_bench_number(line, "ns", "median", NULL));
    if (isfinite(low) && isfinite(high)) {
        nnv_text_add(t, "<small>");
        nnv_bench_add_time(t, low);
        nnv_text_add(t, " to ");
        nnv_bench_add_time(t, high);
        nnv_text_add(t, "</small>");
    }
    nnv_text_add(t, "</td>");
    add_rate(t, line, "gops", "");
    add_rate(t, line, "gbytes_per_second", "");
    nnv_text_add(t, "<td class=\"n\">");
    if (isfinite(intensity))
        nnv_text_addf(t, "%.3g", intensity);
    else
        nnv_text_add(t, "\xe2\x80\x93");
    nnv_text_add(t, "</td>");
    add_rate(t, line, "percent", "\xc2\xa0%");
    nnv_text_add(t, "</tr>\n");
}

static void add_slowest(const struct points *p, struct nnv_text *t) {
    static const char *const heads[] = {"Operation", "#Result", "#Time",        "#Gop/s",
                                        "#GB/s",     "#op/B",   "#Of the roof", NULL};
    nnv_text_add(t, "<details class=\"more\"><summary>Those that take longest</summary>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < p->count && i < TOLD; i++) {
        const json_t *step = p->at[i].step;
        nnv_text_addf(t, "<tr><th scope=\"row\">%.0f ", nnv_bench_number(step, "operation", NULL));
        nnv_bench_add_text(t, nnv_json_text(step, "name", "?"));
        nnv_text_add(t, "</th><td class=\"n\">");
        nnv_bench_add_text(t, nnv_json_text(step, "result", ""));
        nnv_text_add(t, "</td>");
        add_cells(t, json_object_get(step, "work"), json_object_get(step, "roofline"));
    }
    nnv_page_table_end(t);
    nnv_text_add(t, "</details>\n");
}

/* ----------------------------------------------------------------- the picture */

/** Two logarithmic axes, from one power of ten to another; the bandwidths of the roof, NaN: none. */
struct chart {
    double left, right, bottom, top; /* decimal logarithms */
    double memory, caches;
};

static double x_of(const struct chart *c, double v) {
    return LEFT + WIDTH * (log10(v) - c->left) / (c->right - c->left);
}
static double y_of(const struct chart *c, double v) { return TOP + HIGH * (c->top - log10(v)) / (c->top - c->bottom); }

static void cover(struct chart *c, double x, double y) {
    c->left = fmin(c->left, floor(log10(x)));
    c->right = fmax(c->right, ceil(log10(x)));
    c->bottom = fmin(c->bottom, floor(log10(y)));
    c->top = fmax(c->top, ceil(log10(y)));
}

static bool sane(double v) { return v > 1e-3 && v < 1e9; }

/** All points, and where the roofs bend; false: there is nothing to show. */
static bool find_chart(const json_t *roof, const struct points *p, struct chart *c) {
    const json_t *levels = json_object_get(roof, "bandwidth");
    const size_t n = json_array_size(levels);
    bool any = false;
    *c = (struct chart){INFINITY, -INFINITY, INFINITY, -INFINITY, (double)NAN, (double)NAN};
    for (size_t i = 0; i < n; i++) {
        const double rate = nnv_bench_number(json_array_get(levels, i), "gbytes_per_second", NULL);
        if (!sane(rate)) continue;
        c->caches = fmax(c->caches, rate);
        if (i == n - 1) c->memory = rate;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (!shown(&p->at[i])) continue;
        any = true;
        cover(c, p->at[i].intensity, p->at[i].gops);
        if (sane(p->at[i].peak) && sane(c->memory)) cover(c, p->at[i].peak / c->memory, 1.3 * p->at[i].peak);
    }
    if (c->right <= c->left) c->right = c->left + 1;
    if (c->top <= c->bottom) c->top = c->bottom + 1;
    return any;
}

static void add_grid(const struct chart *c, struct nnv_text *t) {
    const int right = LEFT + WIDTH, low = TOP + HIGH;
    const double every = ceil((c->right - c->left) / 10), step = ceil((c->top - c->bottom) / 8);
    for (int i = 0; c->left + i * every <= c->right; i++) {
        const double k = c->left + i * every;
        nnv_text_addf(t,
                      "<path class=\"g\" d=\"M%.1f %dV%d\"/><text class=\"s\" x=\"%.1f\" y=\"%d\" "
                      "text-anchor=\"middle\">%g</text>\n",
                      x_of(c, pow(10, k)), TOP, low, x_of(c, pow(10, k)), low + 17, pow(10, k));
    }
    for (int i = 0; c->bottom + i * step <= c->top; i++) {
        const double k = c->bottom + i * step;
        nnv_text_addf(t,
                      "<path class=\"g\" d=\"M%d %.1fH%d\"/><text class=\"s\" x=\"%d\" y=\"%.1f\" "
                      "text-anchor=\"end\">%g</text>\n",
                      LEFT, y_of(c, pow(10, k)), right, LEFT - 8, y_of(c, pow(10, k)) + 4, pow(10, k));
    }
    nnv_text_addf(t,
                  "<text class=\"s\" x=\"%d\" y=\"%d\" text-anchor=\"end\">operations a byte</text>"
                  "<text class=\"s\" x=\"%d\" y=\"%d\">Gop/s</text>\n",
                  right, low + 36, LEFT + 6, TOP + 14);
}

/** The slope of a bandwidth, up to a peak. */
static void add_slope(const struct chart *c, double bandwidth, double peak, const char *class, const char *what,
                      struct nnv_text *t) {
    const double from = fmax(pow(10, c->left), pow(10, c->bottom) / bandwidth), to = peak / bandwidth;
    if (!(from < to)) return;
    nnv_text_addf(t, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"><title>%.3g GB/s %s</title></path>\n", class,
                  x_of(c, from), y_of(c, from * bandwidth), x_of(c, to), y_of(c, peak), bandwidth, what);
}

/** The roof for operations of one peak. */
static void add_roof(const struct chart *c, double peak, struct nnv_text *t) {
    const double from = fmax(peak / c->caches, pow(10, c->left));
    nnv_text_addf(t,
                  "<path class=\"r\" d=\"M%.1f %.1fH%d\"/><text class=\"s\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">"
                  "%.3g Gop/s</text>\n",
                  x_of(c, from), y_of(c, peak), LEFT + WIDTH, LEFT + WIDTH - 6, y_of(c, peak) - 6, peak);
    add_slope(c, c->memory, peak, "r", "of memory", t);
    if (c->caches > c->memory) add_slope(c, c->caches, peak, "c", "of the fastest cache", t);
}

/** Each peak that an operation has, once. */
static void add_roofs(const struct chart *c, const struct points *p, struct nnv_text *t) {
    enum { MOST = 4 };
    double drawn[MOST];
    int n = 0;
    for (size_t i = 0; i < p->count && n < MOST && sane(c->memory); i++) {
        int k = 0;
        while (k < n && drawn[k] != p->at[i].peak) k++;
        if (k < n || !shown(&p->at[i]) || !sane(p->at[i].peak)) continue;
        add_roof(c, drawn[n++] = p->at[i].peak, t);
    }
}

/** Circles whose areas are times; the slowest have their numbers. */
static void add_points(const struct chart *c, const struct points *p, struct nnv_text *t) {
    for (size_t i = 0; i < p->count; i++) {
        const struct point *it = &p->at[i];
        if (!shown(it)) continue;
        const double x = x_of(c, it->intensity), y = y_of(c, it->gops), r = 3 + 9 * sqrt(it->ns / p->at[0].ns);
        const double number = nnv_bench_number(it->step, "operation", NULL);
        nnv_text_addf(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%.0f ", x, y, r, number);
        nnv_bench_add_text(t, nnv_json_text(it->step, "name", "?"));
        nnv_text_addf(t, ": %.3g Gop/s, %.3g operations a byte, ", it->gops, it->intensity);
        nnv_bench_add_time(t, it->ns);
        nnv_text_add(t, "</title></circle>\n");
        if (i < MARKED)
            nnv_text_addf(t, "<text class=\"k\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n", x,
                          y - r - 3, number);
    }
}

static void add_picture(const json_t *roof, const struct points *p, struct nnv_text *t) {
    struct chart c;
    size_t none = 0;
    if (!find_chart(roof, p, &c)) return;
    for (size_t i = 0; i < p->count; i++) none += !shown(&p->at[i]);
    nnv_text_addf(t,
                  "<figure class=\"lat roof\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"operations under the roof\" xmlns=\"http://www.w3.org/2000/svg\">\n",
                  LEFT + WIDTH + RIGHT, TOP + HIGH + BELOW);
    add_grid(&c, t);
    add_roofs(&c, p, t);
    add_points(&c, p, t);
    nnv_text_add(t,
                 "</svg><figcaption>Each circle is an operation, its area the time that it takes; the five that take "
                 "longest have their numbers.");
    if (sane(c.memory)) nnv_text_addf(t, " Lines: the roof at the bandwidth of memory, %.3g\xc2\xa0GB/s", c.memory);
    if (c.caches > c.memory) nnv_text_addf(t, "; broken, of the fastest cache, %.3g\xc2\xa0GB/s", c.caches);
    if (sane(c.memory)) nnv_text_add(t, ".");
    if (none) nnv_text_addf(t, " Without a circle: %zu that do no arithmetic.", none);
    nnv_text_add(t, "</figcaption></figure>\n");
}

/* ------------------------------------------------------------------ one driver */

void nnv_bench_roofline_row(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l, struct nnv_text *t) {
    (void)s;
    nnv_text_add(t, "<tr><th scope=\"row\"><span class=\"name\">");
    nnv_bench_add_text(t, l->driver);
    nnv_text_add(t, "</span></th>");
    add_cells(t, json_object_get(l->all, "work"), json_object_get(l->latency, "roofline"));
}

void nnv_bench_roofline_operations(const struct nnv_bench_sheet *s, const struct nnv_bench_line *l,
                                   struct nnv_text *t) {
    static struct points p;
    collect(json_object_get(l->layers, "steps"), &p);
    if (p.count == 0) return;
    nnv_text_add(t, "<h3>Operations under the roof: ");
    nnv_bench_add_text(t, l->driver);
    nnv_text_add(t, "</h3>\n");
    add_picture(json_object_get(s->root, "roof"), &p, t);
    add_slowest(&p, t);
}
