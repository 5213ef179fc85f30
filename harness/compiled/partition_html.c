/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/partition_html.h"

#include <string.h>

#include "reports/html/page.h"

enum { MOST_OPS = 12 };

/* Targets differ by colour and by the region's number in the node; the host by a broken outline. */
static const char style[] =
    ":root{--host:#f0eeea;--edge:#8a94a0;--t0:#cfe3fb;--t1:#d6f0d2;--t2:#fde2c4;--t3:#ead9f7;--t4:#fbd5dd;--t5:#d0eeee}"
    "@media(prefers-color-scheme:dark){:root{--host:#22272d;--edge:#75808c;--t0:#1f4672;--t1:#245430;--t2:#6b431a;"
    "--t3:#4e3170;--t4:#6b2839;--t5:#1d5252}}"
    ".rows{overflow:auto;max-height:60vh}.rows td{overflow-wrap:normal}.rows .plain th.n{white-space:normal}"
    ".rows td:last-child{overflow-wrap:anywhere;min-width:150px}.graph{overflow:auto;max-height:85vh;border:1px "
    "solid var(--line);"
    "border-radius:6px}"
    ".key span{display:inline-block;border:1px solid var(--edge);border-radius:4px;padding:0 .5rem;margin-right:.6rem}"
    "svg{display:block;margin:0 auto}svg text{font:12px ui-monospace,monospace;fill:var(--ink);text-anchor:middle}"
    "svg rect{stroke:var(--edge)}.mark{font-weight:700}.edges path{fill:none;stroke:var(--edge);opacity:.75}"
    ".in rect{fill:var(--panel)}.host rect,.key .host{fill:var(--host);background:var(--host);stroke-dasharray:4 3}"
    ".key .host{border-style:dashed}.flow rect{fill:var(--panel);stroke-width:2}.many rect{stroke-width:2}"
    ".t0 rect{fill:var(--t0)}.t1 rect{fill:var(--t1)}.t2 rect{fill:var(--t2)}.t3 rect{fill:var(--t3)}"
    ".t4 rect{fill:var(--t4)}.t5 rect{fill:var(--t5)}.key .t0{background:var(--t0)}.key .t1{background:var(--t1)}"
    ".key .t2{background:var(--t2)}.key .t3{background:var(--t3)}.key .t4{background:var(--t4)}"
    ".key .t5{background:var(--t5)}\n";

static void add_bytes(struct nnv_text *t, double bytes) {
    if (bytes < 10000)
        nnv_text_addf(t, "%.0f", bytes);
    else if (bytes < 1e7)
        nnv_text_addf(t, "%.1f k", bytes / 1e3);
    else
        nnv_text_addf(t, "%.1f M", bytes / 1e6);
}

/* "add, nn.relu x 3": how often each, in the order in which they come first. */
static void add_counts(struct nnv_text *t, const char *const *names, size_t n) {
    size_t shown = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        bool before = false;
        for (size_t k = 0; k < n && !before; k++) {
            bool same = !strcmp(names[k], names[i]);
            before = same && k < i;
            count += same;
        }
        if (before) continue;
        if (shown++ == MOST_OPS) {
            nnv_text_add(t, ", ...");
            return;
        }
        nnv_text_add(t, shown > 1 ? ", " : "");
        nnv_text_add_xml(t, names[i]);
        if (count > 1) nnv_text_addf(t, " x %zu", count);
    }
}

static bool is_region(const struct nnv_graph_node *n, size_t r) {
    return n->kind == NNV_GRAPH_TARGET && n->region == r;
}

/* Bytes that enter and leave region r by the graph of what was divided: of each result once, whoever reads it. */
static void crossing(const struct nnv_partition_graph *g, size_t r, double *in, double *out) {
    *in = *out = 0;
    for (size_t i = 0; i < g->n_edges; i++)
        if (is_region(&g->nodes[g->edges[i].to], r)) *in += g->edges[i].bytes;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (is_region(&g->nodes[i], r)) *out += g->nodes[i].bytes;
}

static void add_regions(const struct nnv_partition_page *p, struct nnv_text *t) {
    bool bytes = !p->drawn_after, cost = p->cost && p->cost->n_regions == p->partition->n_extracted;
    if (!p->partition->n_extracted) return;
    nnv_text_add(t, "<section><h2>Regions</h2>\n<div class=\"rows\"><table "
                    "class=\"plain\"><thead><tr><th></th><th>target</th><th>function</th><th "
                    "class=\"n\">operations</th><th class=\"n\">parameters</th><th class=\"n\">outputs</th>");
    if (bytes) nnv_text_add(t, "<th class=\"n\">bytes in</th><th class=\"n\">bytes out</th>");
    if (cost)
        nnv_text_add(t, "<th class=\"n\">\xc2\xb5s</th><th class=\"n\">on the host</th><th class=\"n\">saves</th><th "
                        "class=\"n\">launch may cost</th>");
    nnv_text_add(t, "<th>which</th></tr></thead>\n");
    for (size_t i = 0; i < p->partition->n_extracted; i++) {
        const struct nnv_extracted *c = &p->partition->extracted[i];
        nnv_text_addf(t, "<tr><td><b>R%zu</b></td><td>", i);
        nnv_text_add_xml(t, c->target);
        nnv_text_add(t, "</td><td><code>");
        nnv_text_add_xml(t, c->function);
        nnv_text_addf(t, "</code></td><td class=\"n\">%zu</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td>",
                      c->n_ops, c->params, c->outputs);
        if (bytes) {
            double in, out;
            crossing(&p->after, i, &in, &out);
            nnv_text_add(t, "<td class=\"n\">");
            add_bytes(t, in);
            nnv_text_add(t, "</td><td class=\"n\">");
            add_bytes(t, out);
            nnv_text_add(t, "</td>");
        }
        if (cost) {
            const struct nnv_cost_region *r = &p->cost->regions[i];
            nnv_text_addf(t,
                          "<td class=\"n\">%.1f</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td><td "
                          "class=\"n\">%.1f</td>",
                          r->us, r->host_us, r->saved_us, r->break_even_us);
        }
        nnv_text_add(t, "<td>");
        add_counts(t, c->ops, c->n_ops);
        nnv_text_add(t, "</td></tr>\n");
    }
    nnv_text_add(t, "</table></div></section>\n");
}

static const struct nnv_cost_gain *gain_of(const struct nnv_cost_result *cost, const char *op) {
    for (size_t i = 0; cost && i < cost->n_gains; i++)
        if (!strcmp(cost->gains[i].op, op)) return &cost->gains[i];
    return NULL;
}

static void add_host(const struct nnv_partition_page *p, struct nnv_text *t) {
    if (!p->n_host) return;
    nnv_text_add(t, "<section><h2>On the host</h2>\n");
    nnv_page_table(t, (const char *const[]){"operator", "#calls", "why", "if it were supported",
                                            p->cost ? "#saves \xc2\xb5s" : NULL, NULL});
    for (size_t i = 0; i < p->n_host; i++) {
        const struct nnv_host_row *r = &p->host[i];
        nnv_text_add(t, "<tr><td><code>");
        nnv_text_add_xml(t, r->op);
        nnv_text_addf(t, "</code></td><td class=\"n\">%zu</td><td>", r->calls);
        nnv_text_add_xml(t, r->reason);
        nnv_text_add(t, "</td><td>");
        if (r->tried)
            nnv_text_addf(t, "%zu region%s instead of %zu, %zu operation%s on the host instead of %zu", r->regions,
                          r->regions == 1 ? "" : "s", p->partition->n_extracted, r->on_host, r->on_host == 1 ? "" : "s",
                          p->partition->n_host);
        nnv_text_add(t, "</td>");
        const struct nnv_cost_gain *gain = gain_of(p->cost, r->op);
        if (p->cost && gain)
            nnv_text_addf(t, "<td class=\"n\">%.1f</td>", gain->us);
        else if (p->cost)
            nnv_text_add(t, "<td></td>");
        nnv_text_add(t, "</tr>\n");
    }
    nnv_page_table_end(t);
    nnv_text_add(t, "</section>\n");
}

static void add_key(const struct nnv_partition_page *p, struct nnv_text *t) {
    nnv_text_add(t, "<p class=\"key\">");
    for (size_t i = 0; i < p->n_targets; i++) {
        nnv_text_addf(t, "<span class=\"t%zu\"><b>R</b> ", i % 6);
        nnv_text_add_xml(t, p->targets[i]);
        nnv_text_add(t, "</span>");
    }
    nnv_text_add(t,
                 "<span class=\"host\">host</span> <span class=\"soft\" style=\"border:0\">R and a number: the region. "
                 "Wide edges carry more bytes; weights are not drawn; point at a node or edge for more.</span></p>\n");
}

static enum nnv_status add_graph(const struct nnv_partition_graph *g, const char *heading, size_t was,
                                 struct nnv_text *t, struct nnv_err *err) {
    nnv_text_addf(t, "<section><h2>%s</h2>\n", heading);
    if (was)
        nnv_text_addf(t,
                      "<p class=\"soft\">%zu nodes are too many to be drawn: neighbouring layers are drawn as one node "
                      "for each target.</p>\n",
                      was);
    nnv_text_add(t, "<div class=\"graph\">");
    enum nnv_status s = nnv_graph_draw(g, heading, t, err);
    nnv_text_add(t, "</div></section>\n");
    return s;
}

static void add_summary(const struct nnv_partition_page *p, struct nnv_text *t) {
    size_t gathered = 0;
    for (size_t i = 0; i < p->partition->n_extracted; i++) gathered += p->partition->extracted[i].n_ops;
    nnv_text_addf(t, "<p>%zu of %zu operations in %zu region%s, %zu on the host.", gathered,
                  gathered + p->partition->n_host, p->partition->n_extracted, p->partition->n_extracted == 1 ? "" : "s",
                  p->partition->n_host);
    if (p->cost)
        nnv_text_addf(
            t,
            " Cost %.1f \xc2\xb5s (operations %.1f, launches %.1f, transfers %.1f); on the host alone %.1f; no "
            "partition can be below %.1f.",
            p->cost->us, p->cost->operations_us, p->cost->launch_us, p->cost->transfer_us, p->cost->host_us,
            p->cost->lower_us);
    nnv_text_add(t, "</p>\n");
}

enum nnv_status nnv_partition_html(const struct nnv_partition_page *p, struct nnv_text *out, struct nnv_err *err) {
    const struct nnv_page page = {
        .title = p->title, .kicker = "nnvts \xc2\xb7 partition", .heading = p->title, .css = {style}};
    nnv_page_begin(out, &page);
    add_summary(p, out);
    nnv_text_add(out, "</header>\n<main>\n");
    add_regions(p, out);
    add_host(p, out);
    add_key(p, out);
    enum nnv_status s = add_graph(&p->before, "Before", p->drawn_before, out, err);
    if (s == NNV_OK) s = add_graph(&p->after, "After", p->drawn_after, out, err);
    nnv_page_end(out, &page);
    return s == NNV_OK && out->failed ? nnv_no_memory(err) : s;
}
