/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a choice, and the greedy one. */
#include "compiler/byoc/cost/cost_problem.h"

#include <stdlib.h>
#include <string.h>

/* Lists by node: of[x] counted first, then filled. */
static bool make_lists(struct nnv_arena *arena, uint32_t n, uint32_t **lists, const uint32_t *counts) {
    for (uint32_t i = 0; i < n; i++)
        if (counts[i] && !(lists[i] = NNV_NEW(arena, uint32_t, counts[i]))) return false;
    return true;
}

bool nnv_cost_index(struct nnv_cost_problem *p, struct nnv_arena *arena) {
    p->uses = NNV_NEW(arena, uint32_t *, p->n);
    p->makes = NNV_NEW(arena, uint32_t *, p->n);
    p->n_uses = NNV_NEW(arena, uint32_t, p->n);
    p->n_makes = NNV_NEW(arena, uint32_t, p->n);
    if (!p->uses || !p->makes || !p->n_uses || !p->n_makes) return false;
    for (uint32_t v = 0; v < p->n_values; v++) {
        if (p->values[v].producer != NNV_COST_OUTSIDE) p->n_makes[p->values[v].producer]++;
        for (uint32_t u = 0; u < p->values[v].n_users; u++) p->n_uses[p->values[v].users[u]]++;
    }
    if (!make_lists(arena, p->n, p->uses, p->n_uses) || !make_lists(arena, p->n, p->makes, p->n_makes)) return false;
    memset(p->n_uses, 0, p->n * sizeof *p->n_uses);
    memset(p->n_makes, 0, p->n * sizeof *p->n_makes);
    for (uint32_t v = 0; v < p->n_values; v++) {
        uint32_t by = p->values[v].producer;
        if (by != NNV_COST_OUTSIDE) p->makes[by][p->n_makes[by]++] = v;
        for (uint32_t u = 0; u < p->values[v].n_users; u++) {
            uint32_t user = p->values[v].users[u];
            p->uses[user][p->n_uses[user]++] = v;
        }
    }
    return true;
}

enum nnv_status nnv_cost_clusters(const struct nnv_cost_problem *p, const bool *on, uint32_t *first,
                                  struct nnv_err *err) {
    struct nnv_cluster_node *nodes = malloc((p->n + 1) * sizeof *nodes);
    if (!nodes) return nnv_no_memory(err);
    for (uint32_t i = 0; i < p->n; i++) {
        nodes[i] = p->nodes[i];
        if (!on[i]) nodes[i].kind = NNV_CLUSTER_ALONE;
    }
    enum nnv_status s = nnv_cluster_grow(nodes, p->n, p->edges, NULL, 0, first, err);
    free(nodes);
    return s;
}

/* What a value's way costs: out of its region if it is used elsewhere, into others. */
static int64_t transfer_of(const struct nnv_cost_value *v, const bool *on, const uint32_t *first) {
    bool made = v->producer != NNV_COST_OUTSIDE && on[v->producer], leaves = v->kept, enters = false;
    for (uint32_t u = 0; u < v->n_users; u++) {
        uint32_t user = v->users[u];
        bool inside = made && on[user] && first[user] == first[v->producer];
        leaves |= !inside;
        enters |= !inside && on[user];
    }
    return (made && leaves ? v->out : 0) + (enters ? v->in : 0);
}

struct nnv_cost_parts nnv_cost_of(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first) {
    struct nnv_cost_parts c = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        c.operations += on[i] ? p->target[i] : p->host[i];
        c.regions += on[i] && first[i] == i;
        if (on[i] && first[i] == i) c.launches += nnv_cost_launch(p, i);
    }
    for (uint32_t v = 0; v < p->n_values; v++) c.transfers += transfer_of(&p->values[v], on, first);
    return c;
}

enum nnv_status nnv_cost_try(const struct nnv_cost_problem *p, const bool *on, int64_t *cost, struct nnv_err *err) {
    uint32_t *first = malloc((p->n + 1) * sizeof *first);
    if (!first) return nnv_no_memory(err);
    enum nnv_status s = nnv_cost_clusters(p, on, first, err);
    if (s == NNV_OK) {
        struct nnv_cost_parts c = nnv_cost_of(p, on, first);
        *cost = nnv_cost_sum(&c);
    }
    free(first);
    return s;
}

/* ----------------------------------------------------------------------- greedy */

/* The nodes of the clusters: from by[at[c]] on, c the cluster's first node. */
struct members {
    uint32_t *at, *by;
};

static bool find_members(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first, struct members *m) {
    uint32_t n = p->n, sum = 0;
    m->at = calloc(n + 2, sizeof *m->at);
    m->by = malloc((n + 1) * sizeof *m->by);
    if (!m->at || !m->by) return false;
    for (uint32_t i = 0; i < n; i++)
        if (on[i]) m->at[first[i] + 1]++;
    for (uint32_t i = 0; i <= n; i++) m->at[i] = sum += m->at[i];
    for (uint32_t i = n; i-- > 0;)
        if (on[i]) m->by[--m->at[first[i] + 1]] = i;
    /* filling moved at[c + 1] to where the cluster begins */
    for (uint32_t i = 0; i < n; i++) m->at[i] = m->at[i + 1];
    m->at[n] = sum;
    return true;
}

static void free_members(struct members *m) {
    free(m->at);
    free(m->by);
}

/* The change of what a value's way costs when cluster leaves the target. */
static int64_t transfer_change(const struct nnv_cost_value *v, const bool *on, const uint32_t *first,
                               uint32_t cluster) {
    bool made = v->producer != NNV_COST_OUTSIDE && on[v->producer] && first[v->producer] != cluster;
    bool leaves = v->kept, enters = false;
    for (uint32_t u = 0; u < v->n_users; u++) {
        uint32_t user = v->users[u];
        bool is_on = on[user] && first[user] != cluster;
        bool inside = made && is_on && first[user] == first[v->producer];
        leaves |= !inside;
        enters |= !inside && is_on;
    }
    return (made && leaves ? v->out : 0) + (enters ? v->in : 0) - transfer_of(v, on, first);
}

/* A value is counted at the first of the cluster's nodes that has to do with it. */
static int64_t change_at(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first, uint32_t cluster,
                         uint32_t node) {
    int64_t change = p->host[node] - p->target[node];
    for (uint32_t k = 0; k < p->n_makes[node]; k++)
        change += transfer_change(&p->values[p->makes[node][k]], on, first, cluster);
    for (uint32_t k = 0; k < p->n_uses[node]; k++) {
        const struct nnv_cost_value *v = &p->values[p->uses[node][k]];
        if (v->producer != NNV_COST_OUTSIDE && on[v->producer] && first[v->producer] == cluster) continue;
        uint32_t u = 0;
        while (!on[v->users[u]] || first[v->users[u]] != cluster) u++;
        if (v->users[u] == node) change += transfer_change(v, on, first, cluster);
    }
    return change;
}

static int64_t dropped(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first, const struct members *m,
                       uint32_t cluster) {
    int64_t change = -nnv_cost_launch(p, cluster);
    for (uint32_t k = m->at[cluster]; k < m->at[cluster + 1]; k++) change += change_at(p, on, first, cluster, m->by[k]);
    return change;
}

/* The change for each cluster, by its first node; 0: no cluster, or none any more. */
static void refresh(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first, const struct members *m,
                    int64_t *change, uint32_t node) {
    if (on[node]) change[first[node]] = dropped(p, on, first, m, first[node]);
}

/* Those that share a value with a node that has left. */
static void refresh_around(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first,
                           const struct members *m, int64_t *change, uint32_t node) {
    for (int made = 0; made < 2; made++)
        for (uint32_t k = 0; k < (made ? p->n_makes : p->n_uses)[node]; k++) {
            const struct nnv_cost_value *v = &p->values[(made ? p->makes : p->uses)[node][k]];
            if (v->producer != NNV_COST_OUTSIDE) refresh(p, on, first, m, change, v->producer);
            for (uint32_t u = 0; u < v->n_users; u++) refresh(p, on, first, m, change, v->users[u]);
        }
}

/* Gives back the cluster that costs most, as long as one does not pay. left: room for the clusters, in order. */
static void give_back(const struct nnv_cost_problem *p, bool *on, const uint32_t *first, const struct members *m,
                      int64_t *change, uint32_t *left) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < p->n; c++) {
        if (!on[c] || first[c] != c) continue;
        refresh(p, on, first, m, change, c);
        left[n++] = c;
    }
    while (n) {
        uint32_t at = 0;
        for (uint32_t k = 1; k < n; k++)
            if (change[left[k]] < change[left[at]]) at = k;
        uint32_t worst = left[at];
        if (change[worst] >= 0) return;
        memmove(left + at, left + at + 1, (--n - at) * sizeof *left);
        for (uint32_t k = m->at[worst]; k < m->at[worst + 1]; k++) on[m->by[k]] = false;
        for (uint32_t k = m->at[worst]; k < m->at[worst + 1]; k++) refresh_around(p, on, first, m, change, m->by[k]);
    }
}

enum nnv_status nnv_cost_drops(const struct nnv_cost_problem *p, const bool *on, const uint32_t *first, int64_t *change,
                               struct nnv_err *err) {
    struct members m = {0};
    bool ok = find_members(p, on, first, &m);
    for (uint32_t i = 0; i < p->n; i++) change[i] = ok && on[i] && first[i] == i ? dropped(p, on, first, &m, i) : 0;
    free_members(&m);
    return ok ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_cost_greedy(const struct nnv_cost_problem *p, bool *on, int64_t *cost, struct nnv_err *err) {
    uint32_t *first = malloc((p->n + 1) * sizeof *first);
    uint32_t *left = malloc((p->n + 1) * sizeof *left);
    int64_t *change = calloc(p->n + 1, sizeof *change);
    struct members m = {0};
    for (uint32_t i = 0; i < p->n; i++) on[i] = nnv_cost_can(p, i);
    enum nnv_status s = first && left && change ? nnv_cost_clusters(p, on, first, err) : nnv_no_memory(err);
    if (s == NNV_OK && !find_members(p, on, first, &m)) s = nnv_no_memory(err);
    if (s == NNV_OK) give_back(p, on, first, &m, change, left);
    if (s == NNV_OK) s = nnv_cost_try(p, on, cost, err);
    free_members(&m);
    free(change);
    free(left);
    free(first);
    return s;
}
