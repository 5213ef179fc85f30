/* SPDX-License-Identifier: Apache-2.0 */
/** @file bisect_html.c What bisect found as a page: the error of each operation as a plot, and a table. */
#include "harness/debug/bisect/bisect_html.h"

#include <math.h>

#include "reference/model/validate.h"
#include "reports/html/page.h"

enum { WIDTH = 1100, LEFT = 250, BAR = 18, GAP = 6, DECADES_LEAST = -6, DECADES_MOST = 9 };

static const char style[] =
    ".steps td,.steps th{text-align:right}.steps td:nth-child(2),.steps th:nth-child(2),.steps td:nth-child(3),"
    ".steps th:nth-child(3),.steps td:last-child,.steps th:last-child{text-align:left;padding-left:14px}"
    "tr.wrong td{background:var(--Fb)}tr.first td{font-weight:600}svg text{font:12px system-ui,sans-serif;"
    "fill:var(--ink)}svg .soft{fill:var(--soft)}\n";

static const char *name_of(const struct nnv_bisection *b, uint32_t operation) {
    const struct nnv_op *op = nnv_op(b->spec->model.main.operations[operation].type);
    return op != NULL ? op->name : "?";
}

/** Where a ratio lies along the axis, which is logarithmic: error over what is allowed. */
static double place(double ratio) {
    double at = ratio > 0 ? log10(ratio) : DECADES_LEAST;
    if (isnan(at) || at > DECADES_MOST) at = DECADES_MOST;
    if (at < DECADES_LEAST) at = DECADES_LEAST;
    return LEFT + (at - DECADES_LEAST) * (WIDTH - LEFT - 90) / (DECADES_MOST - DECADES_LEAST);
}

static void add_ratio(struct nnv_text *t, double ratio) {
    if (isnan(ratio) || isinf(ratio))
        nnv_text_add(t, "beyond all");
    else
        nnv_text_addf(t, "%.3g", ratio);
}

static void add_plot(struct nnv_text *t, const struct nnv_bisection *b) {
    const uint32_t n = b->spec->model.main.noperations;
    const unsigned bottom = 10 + n * (BAR + GAP);
    nnv_text_addf(
        t,
        "<svg viewBox=\"0 0 %d %u\" width=\"100%%\" role=\"img\" aria-label=\"error of each operation over what "
        "is allowed\">\n",
        (int)WIDTH, bottom + 40);
    for (int d = DECADES_LEAST; d <= DECADES_MOST; d += 3)
        nnv_text_addf(t,
                      "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"4\" y2=\"%u\" stroke=\"%s\"%s/><text class=\"soft\" "
                      "x=\"%.1f\" y=\"%u\" text-anchor=\"middle\">%s</text>\n",
                      place(pow(10, d)), place(pow(10, d)), bottom, d == 0 ? "var(--F)" : "#8884",
                      d == 0 ? " stroke-width=\"2\"" : "", place(pow(10, d)), bottom + 18,
                      (const char *[]){"0.000001", "0.001", "1: allowed", "1,000", "1,000,000",
                                       "10<tspan dy=\"-4\">9</tspan>"}[(d - DECADES_LEAST) / 3]);
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_step *s = &b->step[i];
        const unsigned y = 10 + i * (BAR + GAP);
        nnv_text_addf(t, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%u %s</text>", LEFT - 8, y + 13, i,
                      name_of(b, i));
        if (s->kind == NNV_STEP_UNJUDGED || s->compared == 0) {
            nnv_text_addf(t, "<text class=\"soft\" x=\"%d\" y=\"%u\">%s</text>\n", LEFT + 4, y + 13,
                          s->kind == NNV_STEP_UNJUDGED ? "not judged" : "nothing to compare");
            continue;
        }
        const double end = place(s->ratio);
        nnv_text_addf(t,
                      "<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\"/><text x=\"%.1f\" "
                      "y=\"%u\">",
                      (int)LEFT, y, end - LEFT > 2 ? end - LEFT : 2, (int)BAR,
                      s->kind == NNV_STEP_WRONG ? "var(--F)" : "var(--link)", (end - LEFT > 2 ? end : LEFT + 2) + 5,
                      y + 13);
        add_ratio(t, s->ratio);
        nnv_text_add(t, i == b->culprit ? " first wrong</text>\n" : "</text>\n");
    }
    nnv_text_add(t, "</svg>\n");
}

static void add_row(struct nnv_text *t, const struct nnv_bisection *b, uint32_t i) {
    const struct nnv_subgraph *m = &b->spec->model.main;
    const struct nnv_operand *o = &m->operands[m->operations[i].out[0]];
    const struct nnv_shape shape = nnv_operand_shape(o);
    const struct nnv_step *s = &b->step[i];
    char dims[256];
    nnv_text_addf(t, "<tr class=\"%s%s\"><td>%u</td><td>%s</td><td>%s %s</td>",
                  s->kind == NNV_STEP_WRONG ? "wrong" : "", i == b->culprit ? " first" : "", i, name_of(b, i),
                  nnv_type(o->type)->tag, nnv_shape_text(&shape, dims, sizeof dims));
    nnv_text_addf(t, "<td>%zu</td><td>%zu</td><td>%.4g</td><td>", s->compared, s->wrong, s->error);
    add_ratio(t, s->ratio);
    nnv_text_add(t, "</td><td>");
    if (i == b->culprit)
        nnv_text_add(t, b->alone == NNV_ALONE_FAILS    ? "fails alone, too"
                        : b->alone == NNV_ALONE_PASSES ? "passes alone: only in the graph"
                                                       : "");
    nnv_text_add_xml(t, s->kind == NNV_STEP_UNJUDGED ? s->note : "");
    nnv_text_add(t, "</td></tr>\n");
}

static void add_joint(struct nnv_text *t, const struct nnv_bisection *b) {
    const struct nnv_subgraph *m = &b->spec->model.main;
    if (!b->vanishes) return;
    nnv_text_add(t, "<p>With all results as outputs the failure vanishes: it comes of operations that are computed "
                    "together.</p>\n<ul>\n");
    for (uint32_t i = 0; b->joint != NULL && i < m->noperands; i++) {
        const uint32_t from = b->joint[i] ? nnv_producer(m, i) : UINT32_MAX;
        if (from != UINT32_MAX)
            nnv_text_addf(t, "<li>operation %u (%s) only goes wrong while its result, operand %u, is no output</li>\n",
                          from, name_of(b, from), i);
    }
    nnv_text_add(t, "</ul>\n");
}

void nnv_bisect_html(const struct nnv_bisection *b, struct nnv_text *t) {
    char text[NNV_OPINION_REASON + 32];
    struct nnv_text heading = {0};
    if (b->culprit == UINT32_MAX)
        nnv_text_add(&heading, "No operation goes wrong by itself");
    else
        nnv_text_addf(&heading, "First wrong: operation %u (%s)%s", b->culprit, name_of(b, b->culprit),
                      b->alone == NNV_ALONE_FAILS    ? "; it fails alone, too"
                      : b->alone == NNV_ALONE_PASSES ? "; alone it passes"
                                                     : "");
    const struct nnv_page page = {.title = b->spec->name,
                                  .kicker = "nnvts \xc2\xb7 bisect",
                                  .heading = heading.data,
                                  .css = {style},
                                  .verdict = 'F'};
    nnv_page_begin(t, &page);
    t->failed = t->failed || heading.failed;
    nnv_text_free(&heading);
    nnv_text_add(t, "<p><b class=\"name\">");
    nnv_text_add_xml(t, b->spec->name);
    nnv_text_add(t, "</b></p>\n<p>");
    nnv_text_add_xml(t, nnv_signature_text(&b->signature, text));
    nnv_text_add(t, "</p>\n</header>\n<main>\n");
    if (*b->shown) {
        nnv_text_add(t, "<p>With all results as outputs it fails otherwise: ");
        nnv_text_add_xml(t, b->shown);
        nnv_text_add(t, "</p>\n");
    }
    add_joint(t, b);
    if (b->step != NULL) {
        nnv_text_add(t, "<p class=\"soft\">Each operation is judged alone, on the driver's own inputs to it. Bars: its "
                        "largest error over what is allowed there; the scale is logarithmic.</p>\n");
        add_plot(t, b);
        nnv_text_add(t, "<table class=\"plain "
                        "steps\"><thead><tr><th>#</th><th>operation</th><th>result</th><th>compared</th><th>wrong</th>"
                        "<th>error</th><th>of allowed</th><th></th></tr></thead><tbody>\n");
        for (uint32_t i = 0; i < b->spec->model.main.noperations; i++) add_row(t, b, i);
        nnv_text_add(t, "</tbody></table>\n");
    }
    nnv_page_end(t, &page);
}
