/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: the graph of a function's operations for nnv_cluster_grow(). Tuples, projections and lets are seen through.
 * A value that a branch or closure takes from outside is used by the if or closure as a whole.
 */
#include <stdlib.h>

#include "compiler/byoc.h"
#include "compiler/cluster.h"

#define NONE UINT32_MAX

struct edge {
    uint32_t operand, next;
};

struct growth {
    const struct nnv_scoped *f;
    const struct nnv_annotator *annotator;
    struct nnv_arena *arena;
    uint32_t *node;                      /**< by id: its node + 1 */
    const struct nnv_relay_expr **value; /**< by id of a variable: what a let binds to it */
    struct nnv_relay_expr **exprs;       /**< by node */
    struct nnv_cluster_node *nodes;
    uint32_t n, *head, *tail; /**< by node: its edges */
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
    if (g->n_edges == g->cap_edges) {
        size_t cap = g->cap_edges ? g->cap_edges * 2 : 1024;
        struct edge *grown = cap < NONE ? realloc(g->edges, cap * sizeof *grown) : NULL;
        if (!grown) return false;
        g->edges = grown;
        g->cap_edges = cap;
    }
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
    if (*depth == g->cap_stack) {
        size_t cap = g->cap_stack ? g->cap_stack * 2 : 64;
        const struct nnv_relay_expr **grown = realloc(g->stack, cap * sizeof *grown);
        if (!grown) return false;
        g->stack = grown;
        g->cap_stack = cap;
    }
    g->stack[(*depth)++] = e;
    return true;
}

/* An edge to user, or to what it is a part of, from each node that makes a part of value. */
static bool add_operand(struct growth *g, const struct nnv_relay_expr *user, const struct nnv_relay_expr *value) {
    size_t depth = 0;
    if (!push(g, &depth, value)) return false;
    while (depth) {
        const struct nnv_relay_expr *e = g->stack[--depth];
        uint32_t operand = g->node[e->id];
        if (operand) {
            const struct nnv_relay_expr *in = nnv_scope_user(g->f, user, g->f->of[e->id]);
            uint32_t own = in && in != g->f->function ? g->node[in->id] : 0;
            if (own && own != operand && !add_edge(g, own - 1, operand - 1)) return false;
        } else if (e->kind == NNV_RELAY_TUPLE) {
            for (size_t i = e->n_args; i-- > 0;)
                if (!push(g, &depth, e->args[i])) return false;
        } else if (e->kind == NNV_RELAY_GET) {
            if (!push(g, &depth, e->args[0])) return false;
        } else if (e->kind == NNV_RELAY_VAR && g->value[e->id]) {
            if (!push(g, &depth, g->value[e->id])) return false;
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
    for (size_t i = 0; i < list->n; i++) {
        struct nnv_relay_expr *e = list->exprs[i];
        if (e->kind == NNV_RELAY_LET) g->value[e->var->id] = e->args[0];
        if (!is_node(e)) continue;
        int target = nnv_annotate(g->annotator, e);
        int64_t kind = g->f->of[e->id]->number * (int64_t)g->annotator->n_targets + target;
        if (kind > INT32_MAX) return false;
        g->exprs[g->n] = e;
        g->nodes[g->n].kind = target == NNV_HOST ? NNV_CLUSTER_ALONE : (int32_t)kind;
        g->head[g->n] = NONE;
        g->node[e->id] = ++g->n;
    }
    for (size_t i = 0; i < list->n; i++)
        if (is_node(list->exprs[i]) && !add_operands(g, list->exprs[i])) return false;
    return true;
}

/* The edges in one array, as the growing wants them. */
static uint32_t *flatten(struct growth *g) {
    uint32_t *flat = malloc((g->n_edges + 1) * sizeof *flat), at = 0;
    for (uint32_t i = 0; flat && i < g->n; i++) {
        g->nodes[i].first = at;
        for (uint32_t e = g->head[i]; e != NONE; e = g->edges[e].next) flat[at++] = g->edges[e].operand;
        g->nodes[i].count = at - g->nodes[i].first;
    }
    return flat;
}

/* Lists the clusters of nodes that targets take. first: the first node of each node's cluster. */
static bool list_regions(struct growth *g, const uint32_t *first, struct nnv_regions *out) {
    uint32_t *number = NNV_NEW(g->arena, uint32_t, g->n);
    out->regions = NNV_NEW(g->arena, struct nnv_region, g->n);
    out->of = NNV_NEW(g->arena, uint32_t, g->f->n_ids);
    if (!number || !out->regions || !out->of) return false;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].kind == NNV_CLUSTER_ALONE) continue;
        if (first[i] == i) {
            number[i] = (uint32_t)out->n;
            out->regions[out->n++] = (struct nnv_region){
                .target = g->nodes[i].kind % (int)g->annotator->n_targets,
                .scope = g->f->of[g->exprs[i]->id],
            };
        }
        out->of[g->exprs[i]->id] = number[first[i]] + 1;
        out->regions[number[first[i]]].n_ops++;
    }
    for (size_t r = 0; r < out->n; r++) {
        struct nnv_region *region = &out->regions[r];
        if (!(region->ops = NNV_NEW(g->arena, struct nnv_relay_expr *, region->n_ops))) return false;
        region->n_ops = 0;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->nodes[i].kind == NNV_CLUSTER_ALONE) continue;
        struct nnv_region *region = &out->regions[number[first[i]]];
        region->ops[region->n_ops++] = g->exprs[i];
    }
    return true;
}

enum nnv_status nnv_regions_find(const struct nnv_annotator *a, const struct nnv_scoped *f, struct nnv_arena *arena,
                                 struct nnv_regions *out, struct nnv_err *err) {
    size_t n = f->list.n;
    struct growth g = {.f = f, .annotator = a, .arena = arena};
    *out = (struct nnv_regions){.n_ids = f->n_ids};
    g.node = NNV_NEW(arena, uint32_t, f->n_ids);
    g.value = NNV_NEW(arena, const struct nnv_relay_expr *, f->n_ids);
    g.exprs = NNV_NEW(arena, struct nnv_relay_expr *, n);
    g.nodes = NNV_NEW(arena, struct nnv_cluster_node, n);
    g.head = NNV_NEW(arena, uint32_t, n);
    g.tail = NNV_NEW(arena, uint32_t, n);
    uint32_t *first = NNV_NEW(arena, uint32_t, n), *flat = NULL;
    bool ok = g.node && g.value && g.exprs && g.nodes && g.head && g.tail && first && add_nodes(&g);
    if (ok) flat = flatten(&g);
    enum nnv_status s = flat ? nnv_cluster_grow(g.nodes, g.n, flat, first, err)
                             : nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
    if (s == NNV_OK && !list_regions(&g, first, out)) s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for regions");
    free(flat);
    free(g.edges);
    free(g.stack);
    return s;
}
