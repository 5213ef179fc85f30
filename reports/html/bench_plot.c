/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_plot.c The distribution of latencies as a picture: a row of bars a driver over one common axis. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/words.h"
#include "reports/bench.h"

enum { LEFT = 236, WIDTH = 800, RIGHT = 14, ROW = 62, BARS_HIGH = 42, BINS = 160, MOST_ROWS = 16, LABEL = 27 };

/** Where a latency lies on the axis. */
struct axis {
    double low, high;
    bool log;
};

static double place(const struct axis *a, double ns) {
    double part = a->log ? log(ns / a->low) / log(a->high / a->low) : (ns - a->low) / (a->high - a->low);
    return LEFT + WIDTH * part;
}

/** Sample i of a line, NaN if it is none that an axis can show. */
static double sample(const json_t *samples, size_t i) {
    double ns = json_number_value(json_array_get(samples, i));
    return ns > 1e-3 && ns < 1e30 ? ns : (double)NAN;
}

static const json_t *samples_of(const struct nnv_bench_line *l) { return json_object_get(l->latency, "samples_ns"); }

/** From the smallest sample to a little above the largest p99, so that a single late sample does not flatten all. */
static bool find_axis(const struct nnv_bench_sheet *s, uint32_t network, struct axis *a) {
    double low = INFINITY, high = 0;
    int rows = 0;
    for (size_t i = s->first[network]; i != SIZE_MAX && rows < MOST_ROWS; i = s->line[i].next) {
        const json_t *samples = samples_of(&s->line[i]);
        double late = nnv_bench_number(s->line[i].latency, "quantiles", "p99", "ns", NULL), most = 0;
        for (size_t k = 0; k < json_array_size(samples); k++) {
            double ns = sample(samples, k);
            if (ns < low) low = ns;
            if (ns > most) most = ns;
        }
        rows += most > 0;
        if (late > 0 && late < most) most = late;
        if (most > high) high = most;
    }
    if (rows == 0 || !(high >= low)) return false;
    *a = (struct axis){low * 0.97, high * 1.08, high > 6 * low};
    return true;
}

static void add_bars(const struct axis *a, const json_t *samples, int top, struct nnv_text *t) {
    size_t bin[BINS] = {0}, most = 0, beyond = 0;
    for (size_t k = 0; k < json_array_size(samples); k++) {
        double at = (place(a, sample(samples, k)) - LEFT) / WIDTH * BINS;
        if (!(at >= 0)) continue;
        if (at >= BINS) {
            beyond++;
            continue;
        }
        if (++bin[(int)at] > most) most = bin[(int)at];
    }
    const int base = top + BARS_HIGH;
    nnv_text_add(t, "<path class=\"h\" d=\"");
    for (int b = 0; b < BINS; b++)
        if (bin[b])
            nnv_text_addf(t, "M%d %dV%.1fh%dV%d", LEFT + b * WIDTH / BINS, base,
                          base - 1 - (BARS_HIGH - 3) * (double)bin[b] / (double)most, WIDTH / BINS, base);
    nnv_text_add(t, "\"/>\n");
    if (beyond)
        nnv_text_addf(t, "<text class=\"s\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s later \xe2\x86\x92</text>\n",
                      LEFT + WIDTH + RIGHT - 2, top + 10, nnv_count(beyond).s);
}

/** Lines at the quantiles: the median with its interval, and shorter ones. */
static void add_marks(const struct axis *a, const json_t *latency, int top, struct nnv_text *t) {
    static const char *const names[] = {"p50", "p90", "p97", "p99"};
    const int base = top + BARS_HIGH;
    double low = nnv_bench_number(latency, "quantiles", "p50", "low_ns", NULL);
    double high = nnv_bench_number(latency, "quantiles", "p50", "high_ns", NULL);
    if (low >= a->low && high >= low && high <= a->high)
        nnv_text_addf(t, "<rect class=\"i\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", place(a, low), top,
                      place(a, high) - place(a, low), BARS_HIGH);
    for (int q = 0; q < 4; q++) {
        double ns = nnv_bench_number(latency, "quantiles", names[q], "ns", NULL);
        if (!(ns >= a->low && ns <= a->high)) continue;
        nnv_text_addf(t, "<path class=\"%s\" d=\"M%.1f %dV%d\"><title>%s ", q ? "q" : "m", place(a, ns),
                      q ? base + 1 : top, q ? base + 10 - 2 * (3 - q) : base + 10, names[q]);
        nnv_bench_add_time(t, ns);
        nnv_text_add(t, "</title></path>\n");
    }
}

static void add_row(const struct axis *a, const struct nnv_bench_line *l, int top, struct nnv_text *t) {
    struct nnv_text name = {0};
    nnv_text_add_shown(&name, l->driver, strlen(l->driver), LABEL);
    nnv_text_addf(t, "<text class=\"d\" x=\"0\" y=\"%d\">", top + 18);
    nnv_text_add_xml(t, name.data ? name.data : "");
    nnv_text_addf(t, "</text>\n<text class=\"s\" x=\"0\" y=\"%d\">", top + 36);
    nnv_text_free(&name);
    if (json_array_size(samples_of(l)) == 0) {
        nnv_text_addf(t, "not measured</text>\n");
        return;
    }
    nnv_text_add(t, "p50 ");
    nnv_bench_add_time(t, l->p50);
    nnv_text_add(t, ", p99 ");
    nnv_bench_add_time(t, nnv_bench_number(l->latency, "quantiles", "p99", "ns", NULL));
    nnv_text_add(t, "</text>\n");
    add_bars(a, samples_of(l), top, t);
    add_marks(a, l->latency, top, t);
    nnv_text_addf(t, "<path class=\"x\" d=\"M%d %dh%d\"/>\n", LEFT, top + BARS_HIGH, WIDTH);
}

static void add_tick(const struct axis *a, double ns, int bottom, struct nnv_text *t) {
    double x = place(a, ns);
    nnv_text_addf(t,
                  "<path class=\"g\" d=\"M%.1f 8V%d\"/><text class=\"s\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                  x, bottom, x, bottom + 16);
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    int u = 0;
    while (ns >= 999.5 && u < 3) ns /= 1000, u++;
    nnv_text_addf(t, "%.4g\xc2\xa0%s</text>\n", ns, units[u]);
}

/** Lines at round times: about six, or 1, 2 and 5 of each power of ten. */
static void add_ticks(const struct axis *a, int bottom, struct nnv_text *t) {
    static const double round[] = {1, 2, 5};
    if (a->log) {
        bool many = a->high > 2000 * a->low;
        for (int power = (int)floor(log10(a->low)); pow(10, power) <= a->high; power++)
            for (int i = 0; i < (many ? 1 : 3); i++) {
                const double at = round[i] * pow(10, power);
                if (at >= a->low && at <= a->high) add_tick(a, at, bottom, t);
            }
        return;
    }
    double step = pow(10, floor(log10((a->high - a->low) / 7)));
    for (int i = 1; (a->high - a->low) / step > 7; i++) step *= i % 3 == 2 ? 2.5 : 2;
    for (double k = ceil(a->low / step); k * step <= a->high; k++) add_tick(a, k * step, bottom, t);
}

void nnv_bench_plot(const struct nnv_bench_sheet *s, uint32_t network, struct nnv_text *t) {
    struct axis a;
    if (!find_axis(s, network, &a)) return;
    int rows = 0;
    for (size_t i = s->first[network]; i != SIZE_MAX && rows < MOST_ROWS; i = s->line[i].next) rows++;
    const int bottom = rows * ROW + 6;
    nnv_text_addf(t,
                  "<figure class=\"lat\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                  "aria-label=\"distribution of latencies\" xmlns=\"http://www.w3.org/2000/svg\">\n",
                  LEFT + WIDTH + RIGHT, bottom + 24);
    add_ticks(&a, bottom, t);
    int row = 0;
    for (size_t i = s->first[network]; row < rows; i = s->line[i].next, row++)
        add_row(&a, &s->line[i], row * ROW + 8, t);
    nnv_text_addf(t,
                  "</svg><figcaption>Latency%s. Bars: how many executions took so long, each row by itself. Long line: "
                  "median with its 95\xc2\xa0%% interval; short lines below: p90, p97, p99.</figcaption></figure>\n",
                  a.log ? ", logarithmic axis" : "");
}
