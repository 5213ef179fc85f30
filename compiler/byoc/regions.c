/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: the graph of a function's operations for nnv_cluster_grow(). Tuples, projections and lets are seen through.
 * A value that a branch or closure takes from outside is used by the if or closure as a whole.
 */
#include <stdlib.h>

#include "base/map.h"
#include "compiler/byoc/regions.h"

#define NONE UINT32_MAX

struct edge {
    uint32_t operand, next;
};

struct growth {
    const struct nnv_scoped *f;
    const struct nnv_annotator *annotator;
    struct nnv_region_graph *graph;
    uint32_t *head, *tail; /**< by node: its edges */
    struct edge *edges;
    size_t n_edges, cap_edges;
    const struct nnv_relay_expr **stack;
    size_t cap_stack;
};

static bool is_node(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_CALL || e->kind == NNV_RELAY_IF || e->kind == NNV_RELAY_LET ||
           (e->kind == NNV_RELAY_FUNCTION && !nnv_scope_closed(e));
}

static bool add_edge(struct growth *g, uint32_t user, uint32_t operand) {
    if (g->n_edges >= NONE || !nnv_grow(NULL, &g->edges, g->n_edges, &g->cap_edges, sizeof *g->edges)) return false;
    uint32_t at = (uint32_t)g->n_edges++;
    g->edges[at] = (struct edge){operand, NONE};
    if (g->head[user] == NONE)
        g->head[user] = at;
    else
        g->edges[g->tail[user]].next = at;
    g->tail[user] = at;
    return true;
}

static bool push(struct growth *g, size_t *depth, const struct nnv_relay_expr *e) {
    if (!nnv_grow(NULL, &g->stack, *depth, &g->cap_stack, sizeof *g->stack)) return false;
    g->stack[(*depth)++] = e;
    return true;
}

/* An edge to user, or to what it is a part of, from each node that makes a part of value. */
static bool add_operand(struct growth *g, const struct nnv_relay_expr *user, const struct nnv_relay_expr *value) {
    size_t depth = 0;
    if (!push(g, &depth, value)) return false;
    while (depth) {
        const struct nnv_relay_expr *e = g->stack[--depth];
        uint32_t operand = g->graph->node[e->id];
        if (operand) {
            const struct nnv_relay_expr *in = nnv_scope_user(g->f, user, g->f->of[e->id]);
            uint32_t own = in && in != g->f->function ? g->graph->node[in->id] : 0;
            if (own && own != operand && !add_edge(g, own - 1, operand - 1)) return false;
        } else if (e->kind == NNV_RELAY_TUPLE) {
            for (size_t i = e->n_args; i-- > 0;)
                if (!push(g, &depth, e->args[i])) return false;
        } else if (e->kind == NNV_RELAY_GET) {
            if (!push(g, &depth, e->args[0])) return false;
        } else if (e->kind == NNV_RELAY_VAR && g->graph->value[e->id]) {
            if (!push(g, &depth, g->graph->value[e->id])) return false;
        }
    }
    return true;
}

static bool add_operands(struct growth *g, const struct nnv_relay_expr *e) {
    if (e->callee && e->callee->kind != NNV_RELAY_OP && !nnv_scope_closed(e->callee) && !add_operand(g, e, e->callee))
        return false;
    for (size_t i = 0; i < e->n_args; i++)
        if (!add_operand(g, e, e->args[i])) return false;
    return true;
}

static bool add_nodes(struct growth *g) {
    const struct nnv_relay_list *list = &g->f->list;
    struct nnv_region_graph *graph = g->graph;
    for (size_t i = 0; i < list->n; i++) {
        struct nnv_relay_expr *e = list->exprs[i];
        if (e->kind == NNV_RELAY_LET) graph->value[e->var->id] = e->args[0];
        if (!is_node(e)) continue;
        int target = nnv_annotate(g->annotator, e);
        int32_t kind =
            target == NNV_HOST ? NNV_CLUSTER_ALONE : nnv_region_kind(g->f->of[e->id], graph->n_targets, target);
        if (target != NNV_HOST && kind < 0) return false;
        graph->exprs[graph->n] = e;
        graph->nodes[graph->n].kind = kind;
        g->head[graph->n] = NONE;
        graph->node[e->id] = ++graph->n;
    }
    for (size_t i = 0; i < list->n; i++)
        if (is_node(list->exprs[i]) && !add_operands(g, list->exprs[i])) return false;
    return true;
}

/* The edges in one array, as the growing wants them. */
static bool flatten(const struct growth *g, struct nnv_arena *arena) {
    struct nnv_region_graph *graph = g->graph;
    uint32_t at = 0;
    graph->n_edges = g->n_edges;
    if (!(graph->edges = NNV_NEW(arena, uint32_t, g->n_edges + 1))) return false;
    for (uint32_t i = 0; i < graph->n; i++) {
        graph->nodes[i].first = at;
        for (uint32_t e = g->head[i]; e != NONE; e = g->edges[e].next) graph->edges[at++] = g->edges[e].operand;
        graph->nodes[i].count = at - graph->nodes[i].first;
    }
    return true;
}

int32_t nnv_region_kind(const struct nnv_scope *scope, size_t n_targets, int target) {
    int64_t kind = scope->number * (int64_t)n_targets + target;
    return kind > INT32_MAX ? -1 : (int32_t)kind;
}

enum nnv_status nnv_region_graph(const struct nnv_annotator *a, const struct nnv_scoped *f, struct nnv_arena *arena,
                                 struct nnv_region_graph *out, struct nnv_err *err) {
    size_t n = f->list.n;
    struct growth g = {.f = f, .annotator = a, .graph = out};
    *out = (struct nnv_region_graph){.n_targets = a->n_targets};
    out->node = NNV_NEW(arena, uint32_t, f->n_ids);
    out->value = NNV_NEW(arena, const struct nnv_relay_expr *, f->n_ids);
    out->exprs = NNV_NEW(arena, struct nnv_relay_expr *, n);
    out->nodes = NNV_NEW(arena, struct nnv_cluster_node, n);
    g.head = NNV_NEW(arena, uint32_t, n);
    g.tail = NNV_NEW(arena, uint32_t, n);
    bool ok =
        out->node && out->value && out->exprs && out->nodes && g.head && g.tail && add_nodes(&g) && flatten(&g, arena);
    free(g.edges);
    free(g.stack);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
}

/* Lists the clusters of nodes that targets take. first: the first node of each node's cluster. */
static bool list_regions(const struct nnv_region_graph *g, const struct nnv_scoped *f, struct nnv_arena *arena,
                         const uint32_t *first, struct nnv_regions *out) {
    uint32_t *number = NNV_NEW(arena, uint32_t, g->n);
    out->regions = NNV_NEW(arena, struct nnv_region, g->n);
    out->of = NNV_NEW(arena, uint32_t, f->n_ids);
    if (!number || !out->regions || !out->of) return false;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].kind == NNV_CLUSTER_ALONE) continue;
        if (first[i] == i) {
            number[i] = (uint32_t)out->n;
            out->regions[out->n++] = (struct nnv_region){
                .target = g->nodes[i].kind % (int)g->n_targets,
            };
        }
        out->of[g->exprs[i]->id] = number[first[i]] + 1;
        out->regions[number[first[i]]].n_ops++;
    }
    for (size_t r = 0; r < out->n; r++) {
        struct nnv_region *region = &out->regions[r];
        if (!(region->ops = NNV_NEW(arena, struct nnv_relay_expr *, region->n_ops))) return false;
        region->n_ops = 0;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].kind == NNV_CLUSTER_ALONE) continue;
        struct nnv_region *region = &out->regions[number[first[i]]];
        region->ops[region->n_ops++] = g->exprs[i];
    }
    return true;
}

enum nnv_status nnv_region_graph_list(const struct nnv_region_graph *g, const struct nnv_scoped *f,
                                      struct nnv_arena *arena, struct nnv_regions *out, struct nnv_err *err) {
    *out = (struct nnv_regions){.n_ids = f->n_ids};
    uint32_t *first = NNV_NEW(arena, uint32_t, g->n);
    if (!first) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
    enum nnv_status s = nnv_cluster_grow(g->nodes, g->n, g->edges, g->siblings, g->n_siblings, first, err);
    if (s == NNV_OK && !list_regions(g, f, arena, first, out))
        s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
    return s;
}

/* Each node of a kind and the next one with the same operand. */
static bool find_siblings(struct nnv_region_graph *g, struct nnv_id_map *last) {
    for (uint32_t i = 0; i < g->n; i++) {
        const struct nnv_relay_expr *e = g->exprs[i];
        for (size_t k = 0; g->nodes[i].kind != NNV_CLUSTER_ALONE && k < e->n_args; k++) {
            if (e->args[k]->kind == NNV_RELAY_CONSTANT) continue; /* is bound in each region */
            const uint64_t key = (uint64_t)e->args[k]->id << 32 | (uint32_t)g->nodes[i].kind;
            const uint32_t at = nnv_id_add(last, key);
            if (at == NNV_MAP_NONE) return false;
            const uintptr_t before = (uintptr_t)last->item[at].value; /* number + 1 */
            if (before && before != i + 1)
                g->siblings[g->n_siblings++] = (struct nnv_cluster_pair){(uint32_t)before - 1, i};
            last->item[at].value = (void *)((uintptr_t)i + 1);
        }
    }
    return true;
}

static enum nnv_status list_siblings(struct nnv_region_graph *g, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_id_map last = {0};
    size_t operands = 0;
    for (uint32_t i = 0; i < g->n; i++) operands += g->exprs[i]->n_args;
    g->siblings = NNV_NEW(arena, struct nnv_cluster_pair, operands);
    const bool ok = g->siblings && find_siblings(g, &last);
    nnv_id_free(&last);
    return ok ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_regions_find(const struct nnv_annotator *a, const struct nnv_scoped *f, bool siblings,
                                 struct nnv_arena *arena, struct nnv_regions *out, struct nnv_err *err) {
    struct nnv_region_graph g;
    enum nnv_status s = nnv_region_graph(a, f, arena, &g, err);
    if (s == NNV_OK && siblings) s = list_siblings(&g, arena, err);
    return s == NNV_OK ? nnv_region_graph_list(&g, f, arena, out, err) : s;
}
