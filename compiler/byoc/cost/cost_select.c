/* SPDX-License-Identifier: Apache-2.0 */
/* The chosen regions of a function, what each is worth, and what refused operators would be. */
#include <stdlib.h>
#include <string.h>

#include "compiler/byoc/cost/cost_problem.h"
#include "compiler/byoc/regions.h"

const char *const nnv_cost_methods[NNV_COST_METHODS + 1] = {"greedy", "dp", "exact", NULL};

/* One function whose regions are chosen. */
struct choosing {
    struct nnv_cost_selection *selection;
    struct nnv_cost_function function;
    struct nnv_cost_solution solution; /**< of the search; on: what is taken */
    struct nnv_cost_decision decision;
    struct nnv_cost_result *result;
};

static double us(const struct nnv_cost_problem *p, int64_t ticks) { return (double)ticks / p->ticks_per_us; }

/* ---------------------------------------------------------------------- regions */

static bool describe_regions(struct choosing *x, struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_cost_problem *p = &x->function.problem;
    const struct nnv_cost_decision *d = &x->decision;
    const bool *on = x->solution.on;
    struct nnv_cost_result *r = x->result;
    int64_t *host = NNV_NEW(arena, int64_t, p->n), *saved = NNV_NEW(arena, int64_t, p->n);
    if (!host || !saved || nnv_cost_drops(p, on, d->first, saved, err) != NNV_OK) return false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!on[i]) continue;
        host[d->first[i]] += p->host[i];
        r->n_regions += d->first[i] == i;
    }
    if (!(r->regions = NNV_NEW(x->selection->arena, struct nnv_cost_region, r->n_regions))) return false;
    size_t at = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!on[i] || d->first[i] != i) continue;
        const bool whole = d->noise_of[i] >= 0;
        const int64_t less = whole ? d->parts[i] - d->whole[i] : 0;
        r->regions[at++] = (struct nnv_cost_region){
            .us = us(p, d->parts[i] - less),
            .host_us = us(p, host[i]),
            .saved_us = us(p, saved[i] + less),
            .break_even_us = us(p, saved[i] + less + nnv_cost_launch(p, i)),
            .measured = whole,
        };
    }
    return true;
}

/* ------------------------------------------------------------------------- gains */

/* Whether node i would go to the target if it took the operator. */
static bool would(const struct choosing *x, uint32_t i, const char *op) {
    const struct nnv_relay_expr *e = x->function.graph->exprs[i];
    const char *name = nnv_relay_op_name(e);
    return name && e->n_args && !nnv_cost_can(&x->function.problem, i) && (!op || !strcmp(name, op));
}

/* The cost if the operator's calls could go to the target, searched as the real one. */
static enum nnv_status try_operator(struct choosing *x, const struct nnv_scoped *f, struct nnv_cost_gain *gain,
                                    struct nnv_err *err) {
    struct nnv_cost_problem p = x->function.problem;
    const struct nnv_region_graph *g = x->function.graph;
    struct nnv_cost_solution s = {.on = calloc((size_t)p.n + 1, sizeof *s.on)};
    p.nodes = malloc(((size_t)p.n + 1) * sizeof *p.nodes);
    p.target = malloc(((size_t)p.n + 1) * sizeof *p.target);
    enum nnv_status status = s.on && p.nodes && p.target ? NNV_OK : nnv_no_memory(err);
    for (uint32_t i = 0; status == NNV_OK && i < p.n; i++) {
        p.nodes[i] = x->function.problem.nodes[i];
        p.target[i] = x->function.problem.target[i];
        if (!would(x, i, gain->op)) continue;
        p.nodes[i].kind = nnv_region_kind(f->of[g->exprs[i]->id], g->n_targets, 0);
        p.target[i] = nnv_cost_ticks(&p, x->function.target_us[i]);
        gain->calls++;
    }
    if (status == NNV_OK) status = nnv_cost_solve(&p, x->selection->method, x->selection->most_states, &s, err);
    if (status == NNV_OK) {
        /* what was chosen is a choice there, too */
        int64_t saved = x->solution.cost - s.cost;
        gain->us = us(&p, saved > 0 ? saved : 0);
        gain->proven = s.lower == s.cost && x->solution.lower == x->solution.cost;
    }
    free(s.on);
    free(p.nodes);
    free(p.target);
    return status;
}

static int by_gain(const void *a, const void *b) {
    const struct nnv_cost_gain *x = a, *y = b;
    return x->us != y->us ? (x->us < y->us) - (x->us > y->us) : strcmp(x->op, y->op);
}

static enum nnv_status find_gains(struct choosing *x, const struct nnv_scoped *f, struct nnv_err *err) {
    const struct nnv_region_graph *g = x->function.graph;
    struct nnv_cost_result *r = x->result;
    size_t cap = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (!would(x, i, NULL)) continue;
        const char *op = nnv_relay_op_name(g->exprs[i]);
        size_t k = 0;
        while (k < r->n_gains && strcmp(r->gains[k].op, op) != 0) k++;
        if (k < r->n_gains) continue;
        if (r->n_gains == cap) {
            cap = cap ? 2 * cap : 8;
            struct nnv_cost_gain *grown = NNV_NEW(x->selection->arena, struct nnv_cost_gain, cap);
            if (!grown) return nnv_no_memory(err);
            for (k = 0; k < r->n_gains; k++) grown[k] = r->gains[k];
            r->gains = grown;
        }
        struct nnv_cost_gain *gain = &r->gains[r->n_gains++];
        gain->op = nnv_arena_strdup(x->selection->arena, op);
        if (!gain->op) return nnv_no_memory(err);
        enum nnv_status s = try_operator(x, f, gain, err);
        if (s != NNV_OK) return s;
    }
    if (r->n_gains) qsort(r->gains, r->n_gains, sizeof *r->gains, by_gain);
    return NNV_OK;
}

/* --------------------------------------------------------------------- selection */

static struct nnv_cost_result *new_result(struct nnv_cost_selection *s, const char *function) {
    struct nnv_cost_result *grown = NNV_NEW(s->arena, struct nnv_cost_result, s->n_results + 1);
    if (!grown) return NULL;
    for (size_t i = 0; i < s->n_results; i++) grown[i] = s->results[i];
    s->results = grown;
    struct nnv_cost_result *r = &grown[s->n_results];
    if (!(r->function = nnv_arena_strdup(s->arena, function))) return NULL;
    s->n_results++;
    return r;
}

static void describe(struct choosing *x) {
    const struct nnv_cost_problem *p = &x->function.problem;
    struct nnv_cost_parts parts = nnv_cost_of(p, x->solution.on, x->decision.first);
    int64_t host = 0, lower = x->solution.lower;
    for (uint32_t i = 0; i < p->n; i++) host += p->host[i];
    x->result->us = us(p, x->decision.cost);
    x->result->host_us = us(p, host);
    /* what was measured as a whole may be less than the sum that bounds are of */
    x->result->lower_us = us(p, lower < x->decision.least ? lower : x->decision.least);
    x->result->least_us = us(p, x->decision.least);
    x->result->noise_us = x->decision.noise_us;
    x->result->mixed = x->function.mixed;
    x->result->operations_us = us(p, parts.operations);
    x->result->launch_us = us(p, parts.launches);
    x->result->transfer_us = us(p, parts.transfers);
    x->result->states = x->solution.states;
    x->result->missing = x->function.missing;
}

static enum nnv_status choose(struct choosing *x, const struct nnv_annotator *a, const struct nnv_scoped *f,
                              struct nnv_arena *arena, struct nnv_regions *regions, struct nnv_err *err) {
    enum nnv_status s = nnv_cost_build(x->selection->model, a, f, arena, &x->function, err);
    if (s != NNV_OK) return s;
    struct nnv_cost_problem *p = &x->function.problem;
    x->solution.on = NNV_NEW(arena, bool, (size_t)p->n + 1);
    if (!x->solution.on) return nnv_no_memory(err);
    s = nnv_cost_solve(p, x->selection->method, x->selection->most_states, &x->solution, err);
    if (s == NNV_OK) s = nnv_cost_decide(x->selection->model, &x->function, x->solution.on, &x->decision, arena, err);
    if (s != NNV_OK) return s;
    describe(x);
    if (!describe_regions(x, arena, err)) return nnv_no_memory(err);
    if (x->selection->gains && (s = find_gains(x, f, err)) != NNV_OK) return s;
    for (uint32_t i = 0; i < p->n; i++)
        if (!x->solution.on[i]) p->nodes[i].kind = NNV_CLUSTER_ALONE;
    return nnv_region_graph_list(x->function.graph, f, arena, regions, err);
}

enum nnv_status nnv_cost_select(void *ctx, const char *function, const struct nnv_annotator *a,
                                const struct nnv_scoped *f, struct nnv_arena *arena, struct nnv_regions *regions,
                                struct nnv_err *err) {
    struct choosing x = {.selection = ctx};
    if (!(x.result = new_result(x.selection, function))) return nnv_no_memory(err);
    return choose(&x, a, f, arena, regions, err);
}
