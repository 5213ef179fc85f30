/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimum cuts: which nodes to put on the target if a launch were a matter of edges. The host is the source, the target
 * the sink; a node that the cut leaves with the source is on the host.
 */
#include <stdlib.h>

#include "compiler/byoc/cost/cost_problem.h"

#define NO_EDGE UINT32_MAX

/* ----------------------------------------------------------- maximum flow (Dinic) */

struct arc {
    uint32_t to, next;
    int64_t room; /* arc i ^ 1 is the way back */
};

struct flow {
    struct arc *arcs;
    size_t n_arcs, cap;
    uint32_t n, *head, *level, *at, *queue;
    bool failed;
};

enum { SOURCE, SINK, FIRST };

static void add_arc(struct flow *f, uint32_t from, uint32_t to, int64_t room, int64_t back) {
    if (f->failed || (!room && !back)) return;
    if (f->n_arcs + 1 >= NO_EDGE || !nnv_grow(NULL, &f->arcs, f->n_arcs + 1, &f->cap, sizeof *f->arcs)) {
        f->failed = true;
        return;
    }
    f->arcs[f->n_arcs] = (struct arc){to, f->head[from], room};
    f->head[from] = (uint32_t)f->n_arcs++;
    f->arcs[f->n_arcs] = (struct arc){from, f->head[to], back};
    f->head[to] = (uint32_t)f->n_arcs++;
}

static bool flow_new(struct flow *f, size_t n) {
    *f = (struct flow){.n = (uint32_t)n};
    if (n >= NO_EDGE) return false;
    f->head = malloc(n * sizeof *f->head);
    f->level = malloc(n * sizeof *f->level);
    f->at = malloc(n * sizeof *f->at);
    f->queue = malloc(n * sizeof *f->queue);
    for (size_t i = 0; f->head && i < n; i++) f->head[i] = NO_EDGE;
    return f->head && f->level && f->at && f->queue;
}

static void flow_free(struct flow *f) {
    free(f->arcs);
    free(f->head);
    free(f->level);
    free(f->at);
    free(f->queue);
}

/* Distances from the source along arcs with room; true if the sink is reached. */
static bool find_levels(struct flow *f) {
    for (uint32_t i = 0; i < f->n; i++) f->level[i] = NO_EDGE;
    uint32_t from = 0, to = 0;
    f->level[SOURCE] = 0;
    f->queue[to++] = SOURCE;
    while (from < to) {
        uint32_t node = f->queue[from++];
        for (uint32_t e = f->head[node]; e != NO_EDGE; e = f->arcs[e].next) {
            if (!f->arcs[e].room || f->level[f->arcs[e].to] != NO_EDGE) continue;
            f->level[f->arcs[e].to] = f->level[node] + 1;
            f->queue[to++] = f->arcs[e].to;
        }
    }
    return f->level[SINK] != NO_EDGE;
}

/* One more path through growing levels; path holds its arcs. 0: there is none. */
static int64_t push_path(struct flow *f, uint32_t *path) {
    uint32_t depth = 0, node = SOURCE;
    while (node != SINK) {
        uint32_t e = f->at[node];
        while (e != NO_EDGE && !(f->arcs[e].room && f->level[f->arcs[e].to] == f->level[node] + 1)) e = f->arcs[e].next;
        f->at[node] = e;
        if (e != NO_EDGE) {
            path[depth++] = e;
            node = f->arcs[e].to;
        } else {
            if (!depth) return 0;
            f->level[node] = NO_EDGE; /* a dead end */
            node = f->arcs[path[--depth] ^ 1].to;
        }
    }
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < depth; i++)
        if (f->arcs[path[i]].room < least) least = f->arcs[path[i]].room;
    for (uint32_t i = 0; i < depth; i++) {
        f->arcs[path[i]].room -= least;
        f->arcs[path[i] ^ 1].room += least;
    }
    return least;
}

static int64_t run_flow(struct flow *f) {
    int64_t sum = 0, more;
    while (find_levels(f)) {
        for (uint32_t i = 0; i < f->n; i++) f->at[i] = f->head[i];
        while ((more = push_path(f, f->queue)) > 0) sum += more;
    }
    return sum;
}

/* ------------------------------------------------------------------------ the cut */

#define ALWAYS (INT64_C(1) << 61) /* more than all costs together */

/* The edges of one kind into node i, each operand once; -1: `operand` stands there before. */
static bool is_bond(const struct nnv_cost_problem *p, uint32_t i, uint32_t k) {
    const struct nnv_cluster_node *node = &p->nodes[i];
    uint32_t operand = p->edges[node->first + k];
    if (!nnv_cost_can(p, operand) || p->nodes[operand].kind != node->kind) return false;
    for (uint32_t j = 0; j < k; j++)
        if (p->edges[node->first + j] == operand) return false;
    return true;
}

/* The node's own costs; its launch, less what edges to operands on the target save. Those before `from` may be. */
static int64_t add_node(struct flow *f, const struct nnv_cost_problem *p, uint32_t i, uint32_t from, bool launches) {
    uint32_t self = FIRST + i - from;
    int64_t host = p->host[i], target = p->target[i], constant;
    if (!nnv_cost_can(p, i)) {
        add_arc(f, SOURCE, self, ALWAYS, 0);
        return host;
    }
    if (launches) {
        const int64_t launch = nnv_cost_launch(p, i);
        target += launch;
        for (uint32_t k = 0; k < p->nodes[i].count; k++) {
            uint32_t operand = p->edges[p->nodes[i].first + k];
            if (!is_bond(p, i, k)) continue;
            target -= launch;
            if (operand >= from) add_arc(f, FIRST + operand - from, self, launch, 0);
        }
    }
    constant = host < target ? host : target;
    add_arc(f, SOURCE, self, target - constant, 0);
    add_arc(f, self, SINK, host - constant, 0);
    return constant;
}

/* Into the target once for all users, and out once; those that are before `from` count nothing. */
static uint32_t add_value(struct flow *f, const struct nnv_cost_problem *p, const struct nnv_cost_value *v,
                          uint32_t from, uint32_t helper) {
    bool outside = v->producer == NNV_COST_OUTSIDE || !nnv_cost_can(p, v->producer);
    uint32_t producer = outside ? (uint32_t)SOURCE : FIRST + v->producer - from, into = helper, out = helper + 1;
    bool any = false;
    if (v->producer != NNV_COST_OUTSIDE && v->producer < from) return helper;
    for (uint32_t u = 0; u < v->n_users; u++) {
        if (v->users[u] < from) {
            /* it has crossed already, or not: what is to come may find it there */
            if (nnv_cost_can(p, v->users[u])) return helper;
            continue;
        }
        any = true;
    }
    if (!any && !v->kept) return helper;
    add_arc(f, producer, into, v->in, 0);
    if (!outside) add_arc(f, out, producer, v->out, 0);
    if (v->kept && !outside) add_arc(f, SOURCE, out, ALWAYS, 0);
    for (uint32_t u = 0; u < v->n_users; u++) {
        if (v->users[u] < from) continue;
        uint32_t user = FIRST + v->users[u] - from;
        if (nnv_cost_can(p, v->users[u])) add_arc(f, into, user, ALWAYS, 0);
        if (!outside) add_arc(f, user, out, ALWAYS, 0);
    }
    return helper + 2;
}

enum nnv_status nnv_cost_cut(const struct nnv_cost_problem *p, uint32_t from, bool launches, bool *on, int64_t *bound,
                             struct nnv_err *err) {
    struct flow f;
    int64_t sum = 0;
    uint32_t helper = FIRST + p->n - from;
    bool ok = flow_new(&f, (size_t)FIRST + p->n - from + 2 * (size_t)p->n_values);
    for (uint32_t i = from; ok && i < p->n; i++) sum += add_node(&f, p, i, from, launches);
    for (uint32_t v = 0; ok && v < p->n_values; v++) helper = add_value(&f, p, &p->values[v], from, helper);
    ok = ok && !f.failed;
    if (ok) {
        f.n = helper;
        *bound = sum + run_flow(&f);
        for (uint32_t i = 0; on && i < p->n; i++)
            on[i] = i >= from && nnv_cost_can(p, i) && f.level[FIRST + i - from] == NO_EDGE;
    }
    flow_free(&f);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for a minimum cut");
}
