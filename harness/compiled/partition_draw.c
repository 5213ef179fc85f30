/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file partition_draw.c The graph of a program as SVG. Edges that cross layers pass through points of their own there,
 * so that they go round nodes; the order within a layer follows the middle of what a node is joined to.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compiled/partition_graph.h"

enum { HEIGHT = 26, ROW = 62, GAP = 18, MARGIN = 12, SWEEPS = 6, MOST_LETTERS = 30, MOST_POINTS = 20000 };

/** A node, or where an edge passes through a layer. */
struct point {
    double x, width, middle;
    int layer;
    int node; /**< -1: an edge passes */
};

struct link {
    uint32_t from, to;
};

struct drawing {
    const struct nnv_partition_graph *g;
    struct nnv_arena *arena;
    struct point *points;
    struct link *links;   /**< between neighbouring layers */
    uint32_t *first_link; /**< by edge: its links stand together, from top to bottom */
    uint32_t **layers;    /**< points of each layer, from left to right */
    size_t *in_layer;
    size_t n_points, n_links;
    int n_layers;
    double width;
};

static size_t letters(const struct nnv_graph_node *n) {
    size_t len = strlen(n->label) + (n->kind == NNV_GRAPH_TARGET && n->region != SIZE_MAX ? 4 : 0);
    return len < MOST_LETTERS ? len : MOST_LETTERS;
}

static bool make_points(struct drawing *d) {
    const struct nnv_partition_graph *g = d->g;
    size_t points = g->n_nodes, links = 0;
    for (size_t i = 0; i < g->n_edges; i++) {
        int across = g->nodes[g->edges[i].to].layer - g->nodes[g->edges[i].from].layer;
        if (g->nodes[g->edges[i].from].hidden) across = 1;
        links += across > 0 ? (size_t)across : 1;
        points += across > 1 ? (size_t)across - 1 : 0;
    }
    bool straight = points > MOST_POINTS; /* too many: long edges are drawn as they fall */
    if (straight) links = g->n_edges;
    d->points = NNV_NEW(d->arena, struct point, straight ? g->n_nodes : points);
    d->links = NNV_NEW(d->arena, struct link, links);
    d->first_link = NNV_NEW(d->arena, uint32_t, g->n_edges + 1);
    if (!d->points || !d->links || !d->first_link) return false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        d->points[i] = (struct point){
            .width = 16 + 7.2 * (double)letters(&g->nodes[i]), .layer = g->nodes[i].layer, .node = (int)i};
        if (g->nodes[i].layer >= d->n_layers) d->n_layers = g->nodes[i].layer + 1;
    }
    d->n_points = g->n_nodes;
    for (size_t i = 0; i < g->n_edges; i++) {
        uint32_t from = g->edges[i].from;
        d->first_link[i] = (uint32_t)d->n_links;
        int last = g->nodes[from].hidden ? 0 : g->nodes[g->edges[i].to].layer;
        for (int layer = g->nodes[from].layer + 1; layer < last && !straight; layer++) {
            d->points[d->n_points] = (struct point){.width = 4, .layer = layer, .node = -1};
            d->links[d->n_links++] = (struct link){from, (uint32_t)d->n_points};
            from = (uint32_t)d->n_points++;
        }
        d->links[d->n_links++] = (struct link){from, g->edges[i].to};
    }
    d->first_link[g->n_edges] = (uint32_t)d->n_links;
    return true;
}

static bool fill_layers(struct drawing *d) {
    d->layers = NNV_NEW(d->arena, uint32_t *, (size_t)d->n_layers);
    d->in_layer = NNV_NEW(d->arena, size_t, (size_t)d->n_layers);
    if (!d->layers || !d->in_layer) return false;
    for (size_t i = 0; i < d->n_points; i++) d->in_layer[d->points[i].layer]++;
    for (int l = 0; l < d->n_layers; l++) {
        if (!(d->layers[l] = NNV_NEW(d->arena, uint32_t, d->in_layer[l]))) return false;
        d->in_layer[l] = 0;
    }
    for (size_t i = 0; i < d->n_points; i++) {
        int l = d->points[i].layer;
        d->layers[l][d->in_layer[l]++] = (uint32_t)i;
    }
    return true;
}

/* Puts a layer's points side by side, the layer in the middle. */
static void place_layer(struct drawing *d, int l) {
    double x = 0;
    for (size_t i = 0; i < d->in_layer[l]; i++) {
        struct point *p = &d->points[d->layers[l][i]];
        if (p->node >= 0 && d->g->nodes[p->node].hidden) continue;
        p->x = x + p->width / 2;
        x += p->width + GAP;
    }
    for (size_t i = 0; i < d->in_layer[l]; i++) d->points[d->layers[l][i]].x -= (x - GAP) / 2;
    if (x > d->width) d->width = x;
}

static int by_middle(const void *a, const void *b, void *ctx) {
    const struct point *points = ctx, *x = &points[*(const uint32_t *)a], *y = &points[*(const uint32_t *)b];
    if (x->middle < y->middle || x->middle > y->middle) return x->middle < y->middle ? -1 : 1;
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static bool sort_layers(struct drawing *d) {
    double *sum = NNV_NEW(d->arena, double, d->n_points), *count = NNV_NEW(d->arena, double, d->n_points);
    if (!sum || !count) return false;
    for (int l = 0; l < d->n_layers; l++) place_layer(d, l);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool down = sweep % 2 == 0;
        memset(sum, 0, d->n_points * sizeof *sum);
        memset(count, 0, d->n_points * sizeof *count);
        for (size_t i = 0; i < d->n_links; i++) {
            if (d->points[d->links[i].from].node >= 0 && d->g->nodes[d->points[d->links[i].from].node].hidden) continue;
            uint32_t of = down ? d->links[i].to : d->links[i].from, by = down ? d->links[i].from : d->links[i].to;
            sum[of] += d->points[by].x;
            count[of] += 1;
        }
        for (size_t i = 0; i < d->n_points; i++)
            d->points[i].middle = count[i] > 0 ? sum[i] / count[i] : d->points[i].x;
        for (int l = 0; l < d->n_layers; l++) {
            qsort_r(d->layers[l], d->in_layer[l], sizeof **d->layers, by_middle, d->points);
            place_layer(d, l);
        }
    }
    return true;
}

/* -------------------------------------------------------------------------- the text */

static double left_of(const struct drawing *d, const struct point *p) { return d->width / 2 + MARGIN + p->x; }
static int top_of(const struct point *p) { return MARGIN + p->layer * ROW; }

static void add_edge(const struct drawing *d, size_t e, struct nnv_text *out) {
    const struct nnv_graph_edge *edge = &d->g->edges[e];
    double wide = edge->bytes > 0 ? 0.6 + log2(1 + edge->bytes / 256) * 0.4 : 0.6;
    const struct point *at = &d->points[edge->from];
    if (d->g->nodes[edge->from].hidden || d->points[edge->to].layer <= at->layer) return; /* joined to one layer */
    nnv_text_addf(out, "<path stroke-width=\"%.1f\" d=\"M%.0f %d", wide < 7 ? wide : 7, left_of(d, at),
                  top_of(at) + HEIGHT);
    for (uint32_t l = d->first_link[e]; l < d->first_link[e + 1]; l++) {
        const struct point *to = &d->points[d->links[l].to];
        int y = top_of(at) + HEIGHT, end = top_of(to), bend = (end - y) / 2;
        nnv_text_addf(out, "C%.0f %d %.0f %d %.0f %d", left_of(d, at), y + bend, left_of(d, to), end - bend,
                      left_of(d, to), end);
        if (to->node < 0) nnv_text_addf(out, "v%d", HEIGHT);
        at = to;
    }
    nnv_text_addf(out, "\"><title>%.0f bytes</title></path>\n", edge->bytes);
}

static void add_node(const struct drawing *d, const struct point *p, struct nnv_text *out) {
    static const char *const kinds[] = {"in", "host", "t", "flow"};
    const struct nnv_graph_node *n = &d->g->nodes[p->node];
    double left = left_of(d, p) - p->width / 2;
    int top = top_of(p);
    nnv_text_addf(out, "<g class=\"%s", kinds[n->kind]);
    if (n->kind == NNV_GRAPH_TARGET) nnv_text_addf(out, "%d", n->target % 6);
    nnv_text_addf(out, "%s\"><title>", n->stands_for > 1 ? " many" : "");
    nnv_text_add_xml(out, n->label);
    if (n->more) {
        nnv_text_add(out, " ");
        nnv_text_add_xml(out, n->more);
    }
    nnv_text_addf(out, "</title><rect x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\" rx=\"%d\"/>", left, top,
                  p->width, HEIGHT, n->kind == NNV_GRAPH_INPUT ? 13 : 4);
    nnv_text_addf(out, "<text x=\"%.0f\" y=\"%d\">", left_of(d, p), top + 17);
    char label[MOST_LETTERS + 1];
    size_t room = MOST_LETTERS;
    if (n->kind == NNV_GRAPH_TARGET && n->region != SIZE_MAX) {
        nnv_text_addf(out, "<tspan class=\"mark\">R%zu</tspan> ", n->region);
        room -= 4;
    }
    size_t len = strlen(n->label);
    if (len > room) { /* the end tells more than the beginning */
        memcpy(label, "..", 2);
        memcpy(label + 2, n->label + len - room + 2, room - 2);
        label[room] = '\0';
    } else {
        memcpy(label, n->label, len + 1);
    }
    nnv_text_add_xml(out, label);
    nnv_text_add(out, "</text></g>\n");
}

enum nnv_status nnv_graph_draw(const struct nnv_partition_graph *g, const char *name, struct nnv_text *out,
                               struct nnv_err *err) {
    struct drawing d = {.g = g, .arena = nnv_arena_new()};
    bool ok = d.arena && make_points(&d) && fill_layers(&d) && sort_layers(&d);
    if (ok) {
        nnv_text_addf(out, "<svg width=\"%.0f\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n<g class=\"edges\">\n",
                      d.width + 2 * MARGIN, 2 * MARGIN + d.n_layers * ROW, name);
        for (size_t i = 0; i < g->n_edges; i++) add_edge(&d, i, out);
        nnv_text_add(out, "</g>\n");
        for (size_t i = 0; i < d.n_points; i++)
            if (d.points[i].node >= 0 && !g->nodes[d.points[i].node].hidden) add_node(&d, &d.points[i], out);
        nnv_text_add(out, "</svg>\n");
    }
    nnv_arena_free(d.arena);
    return ok ? NNV_OK : nnv_no_memory(err);
}
