/* SPDX-License-Identifier: Apache-2.0 */
/** @file oracle.c How the rules divide a drawn program, worked out the slow way. */
#include <string.h>

#include "tests/kit/compiler/draw.h"

enum { MOST = 512 };

/** A list of nodes, or of values: a node and a field of it (-1: all). */
struct list {
    int item[MOST], field[MOST], n;
};

static void append(struct list *l, int item, int field) {
    if (l->n == MOST) return;
    l->item[l->n] = item;
    l->field[l->n++] = field;
}

static bool holds(const struct list *l, int item, int field) {
    for (int i = 0; i < l->n; i++)
        if (l->item[i] == item && l->field[i] == field) return true;
    return false;
}

/* A projection of a tuple that is written is the field. */
static int resolve(const struct nnv_draw *d, int v) {
    while (d->nodes[v].kind == NNV_DRAW_GET && d->nodes[d->nodes[v].args[0]].kind == NNV_DRAW_TUPLE)
        v = d->nodes[d->nodes[v].args[0]].args[d->nodes[v].index];
    return v;
}

static bool is_atom(const struct nnv_draw_node *n) {
    return n->kind == NNV_DRAW_OP || n->kind == NNV_DRAW_IF || n->kind == NNV_DRAW_FN || n->kind == NNV_DRAW_CALL;
}

/* What makes a value, left to right. */
static void producers(const struct nnv_draw *d, int v, struct list *out) {
    v = resolve(d, v);
    const struct nnv_draw_node *n = &d->nodes[v];
    if (is_atom(n))
        append(out, v, -1);
    else if (n->kind == NNV_DRAW_GET)
        producers(d, n->args[0], out);
    for (int k = 0; n->kind == NNV_DRAW_TUPLE && k < n->n_args; k++) producers(d, n->args[k], out);
}

/* The values that a value stands for when it leaves or enters a region: tuples flatten. */
static void leaves(const struct nnv_draw *d, int v, struct list *out) {
    v = resolve(d, v);
    const struct nnv_draw_node *n = &d->nodes[v];
    if (n->kind == NNV_DRAW_TUPLE) {
        for (int k = 0; k < n->n_args; k++) leaves(d, n->args[k], out);
    } else if (n->kind == NNV_DRAW_GET) {
        append(out, resolve(d, n->args[0]), n->index);
    } else if (n->type == NNV_DRAW_PAIR) {
        append(out, v, 0);
        append(out, v, 1);
    } else if (n->kind != NNV_DRAW_CONST) {
        append(out, v, -1);
    }
}

/* What an operation, branch, closure or call reads: its operands, and the results of its blocks. */
static int reads(const struct nnv_draw *d, int node, int *values) {
    const struct nnv_draw_node *n = &d->nodes[node];
    int count = 0;
    for (int k = 0; k < n->n_args && n->kind != NNV_DRAW_FN; k++) values[count++] = n->args[k];
    if (n->kind == NNV_DRAW_IF || n->kind == NNV_DRAW_FN) values[count++] = d->blocks[n->blocks[0]].result;
    if (n->kind == NNV_DRAW_IF) values[count++] = d->blocks[n->blocks[1]].result;
    return count;
}

static void visit(const struct nnv_draw *d, int v, bool *seen, struct nnv_draw_answer *a) {
    int values[NNV_DRAW_ARGS + 2];
    v = resolve(d, v);
    if (seen[v]) return;
    seen[v] = true;
    const struct nnv_draw_node *n = &d->nodes[v];
    int count = is_atom(n) ? reads(d, v, values) : n->n_args;
    for (int k = 0; k < count; k++) visit(d, is_atom(n) ? values[k] : n->args[k], seen, a);
    if (is_atom(n)) a->order[a->n_order++] = v;
}

/* What stands for node in block: itself, or the branch or closure of the block that it is in; NONE: it is not in it. */
static int within(const struct nnv_draw *d, int node, int block) {
    for (int b = d->nodes[node].block; b != block; b = d->blocks[b].parent) {
        node = d->blocks[b].owner;
        if (node == NNV_DRAW_NONE) return NNV_DRAW_NONE;
    }
    return node;
}

/** Which node stands directly before which, within one block each. */
struct graph {
    bool edge[NNV_DRAW_NODES][NNV_DRAW_NODES];
};

static void find_edges(const struct nnv_draw *d, const struct nnv_draw_answer *a, struct graph *g) {
    memset(g, 0, sizeof *g);
    for (int i = 0; i < a->n_order; i++) {
        int values[NNV_DRAW_ARGS + 2], count = reads(d, a->order[i], values);
        for (int k = 0; k < count; k++) {
            struct list from = {.n = 0};
            producers(d, values[k], &from);
            for (int p = 0; p < from.n; p++) {
                int user = within(d, a->order[i], d->nodes[from.item[p]].block);
                if (user != NNV_DRAW_NONE && user != from.item[p]) g->edge[from.item[p]][user] = true;
            }
        }
    }
}

/* Puts what waits for nothing away until nothing is left, or something waits for itself. */
static bool has_order(const struct nnv_draw_answer *a, const struct graph *g, const int *group) {
    bool gone[NNV_DRAW_NODES] = {false}, moved = true;
    int left = a->n_order;
    while (moved) {
        moved = false;
        for (int i = 0; i < a->n_order; i++) {
            int leader = group[a->order[i]];
            if (gone[leader]) continue;
            bool waits = false;
            for (int u = 0; u < a->n_order && !waits; u++)
                for (int p = 0; p < a->n_order && !waits; p++)
                    waits = group[a->order[u]] == leader && group[a->order[p]] != leader && !gone[group[a->order[p]]] &&
                            g->edge[a->order[p]][a->order[u]];
            if (waits) continue;
            gone[leader] = moved = true;
            for (int k = 0; k < a->n_order; k++) left -= group[a->order[k]] == leader;
        }
    }
    return left == 0;
}

bool nnv_draw_acyclic(const struct nnv_draw *d, const struct nnv_draw_answer *a, const int *region) {
    struct graph g;
    int group[NNV_DRAW_NODES];
    find_edges(d, a, &g);
    for (int i = 0; i < d->n_nodes; i++) group[i] = region[i] == NNV_DRAW_NONE ? i : region[i];
    return has_order(a, &g, group);
}

/* ---------------------------------------------------------------------- the rule */

/* Joins the regions of two operations if no cycle comes of it. */
static void join(const struct nnv_draw_answer *a, const struct graph *g, int *group, int x, int y) {
    int before[NNV_DRAW_NODES], keep = group[x] < group[y] ? group[x] : group[y];
    int gone = group[x] < group[y] ? group[y] : group[x];
    memcpy(before, group, sizeof before);
    for (int i = 0; i < a->n_order; i++)
        if (group[a->order[i]] == gone) group[a->order[i]] = keep;
    if (!has_order(a, g, group)) memcpy(group, before, sizeof before);
}

static void grow(const struct nnv_draw *d, struct nnv_draw_answer *a, const struct graph *g, int *group) {
    for (int i = 0; i < a->n_order; i++) {
        int op = a->order[i], target = nnv_draw_target(d, op);
        for (int k = 0; target != NNV_DRAW_NONE && k < d->nodes[op].n_args; k++) {
            struct list from = {.n = 0};
            producers(d, d->nodes[op].args[k], &from);
            for (int p = 0; p < from.n; p++) {
                int other = from.item[p];
                if (nnv_draw_target(d, other) == target && d->nodes[other].block == d->nodes[op].block &&
                    group[other] != group[op])
                    join(a, g, group, op, other);
            }
        }
    }
}

/* ------------------------------------------------------------- what goes in and out */

static int region_of(const struct nnv_draw_answer *a, int node) {
    return a->region[node] == NNV_DRAW_NONE ? -2 - node : a->region[node];
}

static void count_params(const struct nnv_draw *d, struct nnv_draw_answer *a, int region) {
    struct list in = {.n = 0};
    for (int i = 0; i < a->n_order; i++) {
        int op = a->order[i];
        for (int k = 0; a->region[op] == region && k < d->nodes[op].n_args; k++) {
            struct list values = {.n = 0};
            leaves(d, d->nodes[op].args[k], &values);
            for (int v = 0; v < values.n; v++)
                if (region_of(a, values.item[v]) != region && !holds(&in, values.item[v], values.field[v]))
                    append(&in, values.item[v], values.field[v]);
        }
    }
    a->params[region] = in.n;
}

static void count_outputs(const struct nnv_draw *d, struct nnv_draw_answer *a, int region) {
    struct list out = {.n = 0};
    for (int i = 0; i <= a->n_order; i++) { /* at last the program's result */
        int values[NNV_DRAW_ARGS + 2], count = 1;
        if (i < a->n_order && region_of(a, a->order[i]) == region) continue;
        values[0] = d->blocks[0].result;
        if (i < a->n_order) count = reads(d, a->order[i], values);
        for (int k = 0; k < count; k++) {
            struct list used = {.n = 0};
            leaves(d, values[k], &used);
            for (int v = 0; v < used.n; v++)
                if (region_of(a, used.item[v]) == region && !holds(&out, used.item[v], used.field[v]))
                    append(&out, used.item[v], used.field[v]);
        }
    }
    a->outputs[region] = out.n;
}

void nnv_draw_solve(const struct nnv_draw *d, struct nnv_draw_answer *a) {
    bool seen[NNV_DRAW_NODES] = {false};
    struct graph g;
    int group[NNV_DRAW_NODES], place[NNV_DRAW_NODES] = {0};
    memset(a, 0, sizeof *a);
    visit(d, d->blocks[0].result, seen, a);
    find_edges(d, a, &g);
    for (int i = 0; i < d->n_nodes; i++) group[i] = i;
    grow(d, a, &g, group);
    for (int i = 0; i < d->n_nodes; i++) a->region[i] = NNV_DRAW_NONE;
    for (int i = a->n_order; i-- > 0;) place[group[a->order[i]]] = a->order[i]; /* the first in evaluation order */
    for (int i = 0; i < a->n_order; i++) {
        int op = a->order[i];
        a->n_ops += d->nodes[op].kind == NNV_DRAW_OP;
        if (nnv_draw_target(d, op) == NNV_DRAW_NONE) continue;
        a->region[op] = place[group[op]];
        a->n_regions += a->region[op] == op;
    }
    for (int i = 0; i < a->n_order; i++)
        if (a->region[a->order[i]] == a->order[i]) {
            count_params(d, a, a->order[i]);
            count_outputs(d, a, a->order[i]);
        }
}

/* --------------------------------------------------------------------- brute force */

struct search {
    const struct nnv_draw *d;
    const struct nnv_draw_answer *a;
    struct graph g;
    bool near[NNV_DRAW_NODES][NNV_DRAW_NODES]; /**< one reads the other, tuples seen through, in one block */
    int ops[NNV_DRAW_NODES], n, best;
};

static bool are_near(const struct search *s, int x, int y) { return s->near[x][y] || s->near[y][x]; }

/* Whether every group hangs together. */
static bool is_connected(const struct search *s, const int *group) {
    for (int i = 0; i < s->n; i++) {
        bool met[NNV_DRAW_NODES] = {false}, more = true;
        met[s->ops[i]] = true;
        while (more) {
            more = false;
            for (int x = 0; x < s->n; x++)
                for (int y = 0; y < s->n; y++)
                    if (met[s->ops[x]] && !met[s->ops[y]] && group[s->ops[x]] == group[s->ops[y]] &&
                        are_near(s, s->ops[x], s->ops[y]))
                        more = met[s->ops[y]] = true;
        }
        for (int k = 0; k < s->n; k++)
            if (group[s->ops[k]] == group[s->ops[i]] && !met[s->ops[k]]) return false;
    }
    return true;
}

/* Whether operation number `at` hangs together with a group, or may do so by operations that come later. */
static bool may_join(const struct search *s, int at, int leader, const int *group) {
    for (int k = 0; k < s->n; k++) {
        bool member = k < at && group[s->ops[k]] == leader;
        if ((member || k > at) && are_near(s, s->ops[k], s->ops[at])) return true;
    }
    return false;
}

/* Gives the operations from number `at` on to groups in every way that could be better than the best so far. */
static void try_groups(struct search *s, int at, int *group, int groups) {
    if (groups >= s->best) return;
    if (at == s->n) {
        if (is_connected(s, group)) s->best = groups;
        return;
    }
    int op = s->ops[at];
    for (int k = 0; k < at; k++) {
        int leader = group[s->ops[k]];
        if (leader != s->ops[k] || nnv_draw_target(s->d, leader) != nnv_draw_target(s->d, op) ||
            s->d->nodes[leader].block != s->d->nodes[op].block || !may_join(s, at, leader, group))
            continue;
        group[op] = leader;
        if (has_order(s->a, &s->g, group)) try_groups(s, at + 1, group, groups);
    }
    group[op] = op;
    try_groups(s, at + 1, group, groups + 1);
}

int nnv_draw_fewest(const struct nnv_draw *d, const struct nnv_draw_answer *a) {
    struct search s = {.d = d, .a = a, .best = a->n_regions};
    int group[NNV_DRAW_NODES];
    find_edges(d, a, &s.g);
    for (int i = 0; i < d->n_nodes; i++) group[i] = i;
    for (int i = 0; i < a->n_order; i++) {
        int op = a->order[i];
        if (nnv_draw_target(d, op) == NNV_DRAW_NONE) continue;
        s.ops[s.n++] = op;
        for (int k = 0; k < d->nodes[op].n_args; k++) {
            struct list from = {.n = 0};
            producers(d, d->nodes[op].args[k], &from);
            for (int p = 0; p < from.n; p++) s.near[from.item[p]][op] = true;
        }
    }
    try_groups(&s, 0, group, 0);
    return s.best;
}
