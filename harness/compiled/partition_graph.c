/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/partition_graph.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- the graph */

struct making {
    const struct nnv_scoped *f;
    struct nnv_arena *arena;
    struct nnv_partition_graph *g;
    uint32_t *node; /**< by id: its node + 1 */
    const struct nnv_relay_expr **stack;
    size_t cap_edges, cap_stack;
};

static double bytes_of(const struct nnv_relay_type *t) {
    size_t elems, bytes;
    double sum = 0;
    if (!t) return 0;
    if (t->kind == NNV_RELAY_TENSOR) return nnv_relay_type_elems(t, &elems, &bytes) ? (double)bytes : 0;
    for (size_t i = 0; t->kind == NNV_RELAY_TUPLE_TYPE && i < t->n_fields; i++) sum += bytes_of(t->fields[i]);
    return sum;
}

static const struct nnv_relay_type *type_of(const struct nnv_relay_expr *e) { return e->type ? e->type : e->declared; }

static bool add_edge(struct making *m, uint32_t from, uint32_t to, double bytes) {
    if (!nnv_grow(m->arena, &m->g->edges, m->g->n_edges, &m->cap_edges, sizeof *m->g->edges)) return false;
    m->g->edges[m->g->n_edges++] = (struct nnv_graph_edge){from, to, bytes};
    return true;
}

static bool push(struct making *m, size_t *depth, const struct nnv_relay_expr *e) {
    if (!nnv_grow(m->arena, &m->stack, *depth, &m->cap_stack, sizeof *m->stack)) return false;
    m->stack[(*depth)++] = e;
    return true;
}

/* Edges to the node from all that makes a part of value. */
static bool add_value(struct making *m, uint32_t to, const struct nnv_relay_expr *value) {
    size_t depth = 0;
    if (!push(m, &depth, value)) return false;
    while (depth) {
        const struct nnv_relay_expr *e = m->stack[--depth], *made = e;
        while (made->kind == NNV_RELAY_GET) made = made->args[0];
        uint32_t from = m->node[made->id];
        if (from && from - 1 != to && !add_edge(m, from - 1, to, bytes_of(type_of(e)))) return false;
        for (size_t i = made->n_args; made->kind == NNV_RELAY_TUPLE && i-- > 0;)
            if (!push(m, &depth, made->args[i])) return false;
    }
    return true;
}

static struct nnv_graph_node describe(const struct nnv_relay_expr *e, nnv_graph_region_fn *region_of, void *ctx) {
    struct nnv_graph_node n = {
        .kind = NNV_GRAPH_HOST, .stands_for = 1, .more = e->bound, .bytes = bytes_of(type_of(e))};
    const char *composite = nnv_composite_name(e), *op = nnv_relay_op_name(e);
    n.label = composite ? composite : op;
    if (e->kind == NNV_RELAY_VAR) {
        n.kind = NNV_GRAPH_INPUT;
        n.label = e->name;
    } else if (region_of(ctx, e, &n.region, &n.target)) {
        n.kind = NNV_GRAPH_TARGET;
        if (!n.label) n.label = e->callee->name;
    } else if (!n.label) {
        n.kind = NNV_GRAPH_FLOW;
        n.label = e->kind == NNV_RELAY_IF ? "if" : e->kind == NNV_RELAY_FUNCTION ? "closure" : "call";
    }
    return n;
}

static bool is_node(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_CALL || e->kind == NNV_RELAY_IF ||
           (e->kind == NNV_RELAY_FUNCTION && !nnv_scope_closed(e));
}

static void set_layers(struct nnv_partition_graph *g) {
    /* edges stand in the order of what they lead to, and lead on in evaluation order */
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct nnv_graph_node *from = &g->nodes[g->edges[i].from];
        struct nnv_graph_node *to = &g->nodes[g->edges[i].to];
        if (to->layer <= from->layer) to->layer = from->layer + 1;
    }
    /* inputs stand just above their first users */
    for (size_t i = g->n_edges; i-- > 0;) {
        struct nnv_graph_node *from = &g->nodes[g->edges[i].from];
        int above = g->nodes[g->edges[i].to].layer - 1;
        if (from->kind == NNV_GRAPH_INPUT && (from->layer == 0 || above < from->layer)) from->layer = above;
    }
}

enum nnv_status nnv_graph_make(const struct nnv_scoped *f, nnv_graph_region_fn *region_of, void *ctx,
                               struct nnv_arena *arena, struct nnv_partition_graph *out, struct nnv_err *err) {
    const struct nnv_relay_list *list = &f->list;
    struct making m = {.f = f, .arena = arena, .g = out};
    *out = (struct nnv_partition_graph){0};
    m.node = NNV_NEW(arena, uint32_t, f->n_ids);
    out->nodes = NNV_NEW(arena, struct nnv_graph_node, list->n + f->function->n_params);
    if (!m.node || !out->nodes) return nnv_no_memory(err);
    for (size_t i = 0; i < f->function->n_params; i++) {
        out->nodes[out->n_nodes] = describe(f->function->params[i], region_of, ctx);
        out->nodes[out->n_nodes].hidden = true; /* until it is somebody's first operand */
        m.node[f->function->params[i]->id] = (uint32_t)++out->n_nodes;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct nnv_relay_expr *e = list->exprs[i];
        if (!is_node(e)) continue;
        out->nodes[out->n_nodes] = describe(e, region_of, ctx);
        uint32_t to = (uint32_t)out->n_nodes++;
        m.node[e->id] = to + 1;
        bool ok = !e->callee || e->callee->kind == NNV_RELAY_OP || nnv_scope_closed(e->callee) ||
                  e->callee->kind == NNV_RELAY_GLOBAL || add_value(&m, to, e->callee);
        for (size_t k = 0; ok && k < e->n_args; k++) {
            size_t had = out->n_edges;
            ok = add_value(&m, to, e->args[k]);
            for (; k == 0 && had < out->n_edges; had++) out->nodes[out->edges[had].from].hidden = false;
        }
        if (!ok) return nnv_no_memory(err);
    }
    set_layers(out);
    return NNV_OK;
}

/* -------------------------------------------------------------- fewer, larger nodes */

/** All of one target, or of the host, in some layers. */
struct cell {
    uint32_t node; /**< of the new graph + 1 */
    size_t operations;
};

static int column_of(const struct nnv_graph_node *n) {
    return n->kind == NNV_GRAPH_INPUT ? 0 : n->kind == NNV_GRAPH_TARGET ? n->target + 2 : 1;
}

static int by_ends(const void *a, const void *b) {
    const struct nnv_graph_edge *x = a, *y = b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Edges between the same nodes become one. */
static void join_edges(struct nnv_partition_graph *g) {
    size_t n = 0;
    if (g->n_edges) qsort(g->edges, g->n_edges, sizeof *g->edges, by_ends);
    for (size_t i = 0; i < g->n_edges; i++) {
        if (g->edges[i].from == g->edges[i].to) continue;
        if (n && g->edges[n - 1].from == g->edges[i].from && g->edges[n - 1].to == g->edges[i].to)
            g->edges[n - 1].bytes += g->edges[i].bytes;
        else
            g->edges[n++] = g->edges[i];
    }
    g->n_edges = n;
}

static const char *label_of(const struct cell *c, int column, const char *const *targets, struct nnv_arena *arena) {
    if (column == 0) return nnv_arena_printf(arena, "%zu input%s", c->operations, c->operations == 1 ? "" : "s");
    if (column == 1) return nnv_arena_printf(arena, "%zu on the host", c->operations);
    return nnv_arena_printf(arena, "%zu on %s", c->operations, targets[column - 2]);
}

static enum nnv_status join_layers(struct nnv_partition_graph *g, int layers, int last, const char *const *targets,
                                   size_t n_targets, struct nnv_arena *arena, struct nnv_err *err) {
    size_t columns = n_targets + 2, n = ((size_t)(last / layers) + 1) * columns;
    struct cell *cells = NNV_NEW(arena, struct cell, n);
    uint32_t *place = NNV_NEW(arena, uint32_t, g->n_nodes);
    struct nnv_graph_node *nodes = NNV_NEW(arena, struct nnv_graph_node, n);
    size_t count = 0;
    if (!cells || !place || !nodes) return nnv_no_memory(err);
    for (size_t i = 0; i < g->n_nodes; i++) {
        place[i] = UINT32_MAX;
        if (g->nodes[i].hidden) continue;
        size_t at = (size_t)(g->nodes[i].layer / layers) * columns + (size_t)column_of(&g->nodes[i]);
        cells[at].operations += g->nodes[i].stands_for;
        place[i] = (uint32_t)at;
    }
    for (size_t at = 0; at < n; at++) {
        int column = (int)(at % columns), layer = (int)(at / columns);
        if (!cells[at].operations) continue;
        struct nnv_graph_node *to = &nodes[count];
        cells[at].node = (uint32_t)++count;
        *to = (struct nnv_graph_node){.kind = column == 0   ? NNV_GRAPH_INPUT
                                              : column == 1 ? NNV_GRAPH_HOST
                                                            : NNV_GRAPH_TARGET,
                                      .target = column - 2,
                                      .region = SIZE_MAX,
                                      .stands_for = cells[at].operations,
                                      .layer = layer};
        to->label = label_of(&cells[at], column, targets, arena);
        to->more = nnv_arena_printf(arena, "layers %d to %d", layer * layers, layer * layers + layers - 1);
        if (!to->label) return nnv_no_memory(err);
    }
    size_t edges = 0;
    for (size_t i = 0; i < g->n_edges; i++) {
        struct nnv_graph_edge e = g->edges[i];
        if (place[e.from] == UINT32_MAX) continue;
        g->edges[edges++] =
            (struct nnv_graph_edge){cells[place[e.from]].node - 1, cells[place[e.to]].node - 1, e.bytes};
    }
    g->n_edges = edges;
    g->nodes = nodes;
    g->n_nodes = count;
    join_edges(g);
    return NNV_OK;
}

size_t nnv_graph_visible(const struct nnv_partition_graph *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) n += !g->nodes[i].hidden;
    return n;
}

enum nnv_status nnv_graph_collapse(struct nnv_partition_graph *g, size_t most, const char *const *targets,
                                   size_t n_targets, struct nnv_arena *arena, struct nnv_err *err) {
    int last = 0;
    if (nnv_graph_visible(g) <= most) {
        join_edges(g);
        return NNV_OK;
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].layer > last) last = g->nodes[i].layer;
    size_t bands = most / (n_targets + 2);
    int layers = (int)((size_t)last / (bands ? bands : 1)) + 1;
    return join_layers(g, layers, last, targets, n_targets, arena, err);
}
