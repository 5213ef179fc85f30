/* SPDX-License-Identifier: Apache-2.0 */
/** @file plot.c Numbers over runs as SVG: lines and stacked bars. Colours follow the reader's setting of light and
 * dark. */
#include <math.h>

#include "reports/compare/trend.h"

enum { LEFT = 64, WIDTH = 860, HIGH = 180, TOP = 12, RIGHT = 16, BELOW = 26 };

const char *const nnv_plot_css =
    ".plot{margin:14px 0 30px;overflow-x:auto}.plot svg{display:block;width:100%;min-width:560px;height:auto}\n"
    ".plot text{font-family:inherit;font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}\n"
    ".plot .g{stroke:var(--line)}.plot .limit{stroke:var(--F);stroke-dasharray:2 3}\n"
    ".plot polyline{fill:none;stroke-width:2;stroke-linejoin:round}.plot .key{display:flex;flex-wrap:wrap;gap:4px 22px;"
    "list-style:none;margin:6px 0 0;padding:0;font-size:13px}\n"
    ".plot .key i{display:inline-block;width:22px;height:0;border-top:3px "
    "solid;margin-right:7px;vertical-align:middle}\n"
    ".plot .key .box{height:11px;width:11px;border:0}.plot .key .dash{border-top-style:dashed}\n";

/** The next of 1, 2, 5, 10, 20 ... that divides the height into at most five. */
static double step_of(double most) {
    double step = pow(10, floor(log10(most / 5)));
    for (int i = 1; most / step > 5; i++) step *= i % 3 == 2 ? 2.5 : 2;
    return step;
}

static double x_of(size_t i, size_t n) { return LEFT + (n < 2 ? WIDTH / 2.0 : (double)i * WIDTH / (double)(n - 1)); }
static double y_of(double v, double most) { return TOP + HIGH * (1 - v / most); }

static void begin(struct nnv_text *t, const char *title, double most, const char *unit, const char *first,
                  const char *last) {
    double step = step_of(most);
    nnv_text_addf(t, "<figure class=\"plot\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                  LEFT + WIDTH + RIGHT, TOP + HIGH + BELOW);
    nnv_text_add_xml(t, title);
    nnv_text_add(t, "\" xmlns=\"http://www.w3.org/2000/svg\">\n");
    for (int k = 0; k * step <= most * (1 + 1e-9); k++) {
        double y = y_of(k * step, most);
        nnv_text_addf(
            t, "<path class=\"g\" d=\"M%d %.1fh%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.7g%s</text>\n",
            LEFT, y, WIDTH, LEFT - 8, y + 4, k * step, unit);
    }
    nnv_text_addf(t, "<text x=\"%d\" y=\"%d\">", LEFT, TOP + HIGH + 20);
    nnv_text_add_xml(t, first);
    nnv_text_addf(t, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT + WIDTH, TOP + HIGH + 20);
    nnv_text_add_xml(t, last);
    nnv_text_add(t, "</text>\n");
}

static void end(struct nnv_text *t, const struct nnv_plot_series *series, size_t count, bool box) {
    nnv_text_add(t, "</svg>\n<ul class=\"key\">");
    for (size_t s = 0; s < count; s++) {
        nnv_text_addf(t, "<li><i class=\"%s\" style=\"%s:var(%s)\"></i>",
                      box                ? "box"
                      : series[s].dashed ? "dash"
                                         : "line",
                      box ? "background" : "border-color", series[s].colour);
        nnv_text_add_xml(t, series[s].name);
        nnv_text_add(t, "</li>");
    }
    nnv_text_add(t, "</ul></figure>\n");
}

static void add_line(struct nnv_text *t, const struct nnv_plot_series *s, size_t n, double most) {
    bool open = false;
    for (size_t i = 0; i < n; i++) {
        if (isnan(s->y[i])) {
            nnv_text_add(t, open ? "\"/>\n" : "");
            open = false;
            continue;
        }
        if (!open)
            nnv_text_addf(t, "<polyline style=\"stroke:var(%s)\"%s points=\"", s->colour,
                          s->dashed ? " stroke-dasharray=\"6 4\"" : "");
        open = true;
        nnv_text_addf(t, "%.1f,%.1f ", x_of(i, n), y_of(s->y[i], most));
    }
    nnv_text_add(t, open ? "\"/>\n" : "");
    for (size_t i = 0; i < n; i++) {
        if (isnan(s->y[i])) continue;
        nnv_text_addf(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" style=\"fill:var(%s)\"><title>", x_of(i, n),
                      y_of(s->y[i], most), n > 100 ? 1.5 : 3.0, s->colour);
        nnv_text_add_xml(t, s->name);
        nnv_text_addf(t, ", %s %zu: %.4g</title></circle>\n", s->point ? s->point : "run", i + 1, s->y[i]);
    }
}

void nnv_plot_lines(struct nnv_text *t, const char *title, const struct nnv_plot_series *series, size_t count, size_t n,
                    const char *unit, double limit, const char *first, const char *last) {
    double most = isnan(limit) ? 0 : limit;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < n; i++)
            if (series[s].y[i] > most) most = series[s].y[i];
    if (!(most > 0) || !isfinite(most)) return;
    most *= 1.06;
    begin(t, title, most, unit, first, last);
    if (!isnan(limit)) nnv_text_addf(t, "<path class=\"limit\" d=\"M%d %.1fh%d\"/>\n", LEFT, y_of(limit, most), WIDTH);
    for (size_t s = 0; s < count; s++) add_line(t, &series[s], n, most);
    end(t, series, count, false);
}

void nnv_plot_bars(struct nnv_text *t, const char *title, const struct nnv_plot_series *parts, size_t count, size_t n,
                   const char *first, const char *last) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t s = 0; s < count; s++) sum += parts[s].y[i];
        if (sum > most) most = sum;
    }
    if (!(most > 0)) return;
    begin(t, title, most, "", first, last);
    const double room = (double)WIDTH / (double)n, wide = room > 60 ? 48 : room * 0.8;
    for (size_t i = 0; i < n; i++) {
        double bottom = y_of(0, most);
        for (size_t s = 0; s < count; s++) {
            double y = parts[s].y[i];
            if (!(y > 0)) continue;
            double high = fmax(2, HIGH * y / most); /* what is few must be seen */
            bottom -= high;
            nnv_text_addf(t,
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" style=\"fill:var(%s)\"><title>",
                          LEFT + room * ((double)i + 0.5) - wide / 2, bottom, wide, high, parts[s].colour);
            nnv_text_add_xml(t, parts[s].name);
            nnv_text_addf(t, ", run %zu: %.0f</title></rect>\n", i + 1, y);
        }
    }
    end(t, parts, count, true);
}
