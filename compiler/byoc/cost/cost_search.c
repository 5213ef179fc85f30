/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search, layer by layer: each state of one layer goes to the next with the node on the host and on the target;
 * of equal states the cheapest stays, and those that can't become better than the best choice known go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"
#include "compiler/byoc/cost/cost_state.h"

#define NONE UINT32_MAX

/* How to search, and what it came to. */
struct options {
    bool bounded;       /**< drop what can not become better than the choice that is given */
    size_t most_states; /**< in all; 0: no limit */
    size_t most_wide;   /**< at one node; 0: no limit */
    size_t states;      /**< that were looked at */
    int64_t lower;      /**< no choice costs less; the cost if the search was complete */
};

/* The states of one layer. */
struct front {
    uint8_t *packed;
    int64_t *cost, *bound; /**< bound: of any choice that goes on from there */
    uint32_t *from;        /**< 2 * state of the layer before + choice */
    uint32_t n, cap;
    struct nnv_index index; /**< of the states, by the hashes of `packed` */
};

struct search {
    const struct nnv_cost_problem *p;
    struct options *options;
    struct nnv_cost_schedule schedule;
    struct nnv_arena *arena;
    struct front front, next;
    uint32_t **trace;      /**< by layer: `from` of its states */
    int64_t *rest, *plain; /**< by layer: what the nodes from there on cost at least, see bounds() */
    struct nnv_cost_state *state;
    int64_t best;
    uint32_t at;
};

/* ------------------------------------------------------------------------ bounds */

/* What node i costs at least with its launch, when everything before it is as it likes. */
static int64_t least_of(const struct nnv_cost_problem *p, uint32_t i, bool launches) {
    int64_t target = p->target[i];
    if (!nnv_cost_can(p, i)) return p->host[i];
    if (launches) {
        target += nnv_cost_launch(p, i);
        for (uint32_t k = 0; k < p->nodes[i].count; k++) {
            uint32_t operand = p->edges[p->nodes[i].first + k];
            if (nnv_cost_can(p, operand) && p->nodes[operand].kind == p->nodes[i].kind) target -= nnv_cost_launch(p, i);
        }
    }
    return target < p->host[i] ? target : p->host[i];
}

/*
 * rest[i]: what the nodes from i on add at least, launches and merging of regions counted; plain[i]: without launches.
 * By a minimum cut at up to `cuts` places, node by node between them.
 */
static enum nnv_status bounds(struct search *x, struct nnv_err *err) {
    const struct nnv_cost_problem *p = x->p;
    uint32_t cuts = !x->options->bounded ? 0 : p->n < 500 ? 500 : 200000 / p->n, every = cuts ? p->n / cuts + 1 : 0;
    x->rest = NNV_NEW(x->arena, int64_t, (size_t)p->n + 1);
    x->plain = NNV_NEW(x->arena, int64_t, (size_t)p->n + 1);
    if (!x->rest || !x->plain) return nnv_no_memory(err);
    for (uint32_t i = p->n; i-- > 0;) {
        x->rest[i] = x->rest[i + 1] + least_of(p, i, true);
        x->plain[i] = x->plain[i + 1] + least_of(p, i, false);
        if (!every || i % every) continue;
        int64_t rest = 0, plain = 0;
        enum nnv_status s = nnv_cost_cut(p, i, true, NULL, &rest, err);
        if (s == NNV_OK) s = nnv_cost_cut(p, i, false, NULL, &plain, err);
        if (s != NNV_OK) return s;
        if (rest > x->rest[i]) x->rest[i] = rest;
        if (plain > x->plain[i]) x->plain[i] = plain;
    }
    return NNV_OK;
}

/* Regions that can still grow may become one, which gives launches back. */
static int64_t bound_of(const struct search *x, const struct nnv_cost_state *s, uint32_t layer) {
    int64_t back = s->regions ? (int64_t)(s->regions - 1) * x->p->launch : 0;
    int64_t rest = s->cost + x->rest[layer], plain = s->cost - back + x->plain[layer];
    return rest > plain ? rest : plain;
}

/* ------------------------------------------------------------------------ fronts */

static void front_free(struct front *f) {
    free(f->packed);
    free(f->cost);
    free(f->bound);
    free(f->from);
    nnv_index_free(&f->index);
    *f = (struct front){0};
}

static bool front_grow(struct front *f, size_t stride) {
    uint32_t cap = f->cap ? f->cap * 2 : 64;
    if (cap >= 1u << 30) return false;
    uint8_t *packed = realloc(f->packed, cap * (stride + 1));
    if (packed) f->packed = packed;
    int64_t *cost = realloc(f->cost, cap * sizeof *cost), *bound = realloc(f->bound, cap * sizeof *bound);
    if (cost) f->cost = cost;
    if (bound) f->bound = bound;
    uint32_t *from = realloc(f->from, cap * sizeof *from);
    if (from) f->from = from;
    if (!packed || !cost || !bound || !from || !nnv_index_reserve(&f->index, cap)) return false;
    f->cap = cap;
    return true;
}

/* Puts the state behind the last one into the front, or its cost and way to the equal one that is there. */
static void front_add(struct front *f, size_t stride, int64_t cost, int64_t bound, uint32_t from) {
    const uint8_t *packed = f->packed + f->n * stride;
    const uint64_t hash = nnv_hash_bytes(packed, stride);
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&f->index, hash, &at)) != NNV_MAP_NONE;) {
        if (memcmp(f->packed + k * stride, packed, stride) != 0) continue;
        if (cost < f->cost[k]) {
            f->cost[k] = cost;
            f->bound[k] = bound;
            f->from[k] = from;
        }
        return;
    }
    nnv_index_add(&f->index, hash); /* n: there is room */
    f->cost[f->n] = cost;
    f->bound[f->n] = bound;
    f->from[f->n++] = from;
}

/* ------------------------------------------------------------------------ layers */

static int by_bound(const void *a, const void *b, void *ctx) {
    const struct front *f = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (f->bound[x] != f->bound[y]) return f->bound[x] < f->bound[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Keeps the `most` most promising states; the best of the others is what may be missed. */
static bool narrow(struct search *x, struct front *f, size_t stride, size_t most) {
    if (f->n <= most) return true;
    uint32_t *order = malloc(f->n * sizeof *order);
    bool *keep = calloc(f->n, sizeof *keep);
    bool ok = order && keep;
    for (uint32_t k = 0; ok && k < f->n; k++) order[k] = k;
    if (ok) {
        qsort_r(order, f->n, sizeof *order, by_bound, f);
        if (f->bound[order[most]] < x->options->lower) x->options->lower = f->bound[order[most]];
        for (size_t k = 0; k < most; k++) keep[order[k]] = true;
        uint32_t n = 0;
        for (uint32_t k = 0; k < f->n; k++) {
            if (!keep[k]) continue;
            memmove(f->packed + n * stride, f->packed + k * stride, stride);
            f->cost[n] = f->cost[k];
            f->bound[n] = f->bound[k];
            f->from[n++] = f->from[k];
        }
        f->n = n;
    }
    free(order);
    free(keep);
    return ok;
}

static bool expand(struct search *x, uint32_t i, uint32_t state) {
    size_t stride = x->schedule.layers[i].stride, wide = x->schedule.layers[i + 1].stride;
    for (uint32_t on = 0; on < 1u + nnv_cost_can(x->p, i); on++) {
        if (x->next.n == x->next.cap && !front_grow(&x->next, wide)) return false;
        nnv_cost_unpack(&x->schedule, i, x->front.packed + state * stride, x->state);
        x->state->cost = x->front.cost[state];
        nnv_cost_step(x->p, &x->schedule, i, on, x->state, x->next.packed + x->next.n * wide);
        x->options->states++;
        int64_t bound = bound_of(x, x->state, i + 1);
        if (x->options->bounded && bound >= x->best) continue;
        front_add(&x->next, wide, x->state->cost, bound, 2 * state + on);
    }
    return true;
}

static bool run_layer(struct search *x, uint32_t i) {
    const struct options *o = x->options;
    for (uint32_t k = 0; k < x->front.n; k++)
        if (!expand(x, i, k)) return false;
    enum { FEW = 32 }; /* beyond the budget */
    size_t most = o->most_states && o->states >= o->most_states ? FEW : o->most_wide ? o->most_wide : NONE;
    if (!narrow(x, &x->next, x->schedule.layers[i + 1].stride, most)) return false;
    x->trace[i + 1] = x->next.from;
    x->next.from = NULL;
    front_free(&x->front);
    x->front = x->next;
    x->next = (struct front){0};
    return true;
}

/* The choice that leads to a state of the last layer. */
static void follow(const struct search *x, uint32_t state, bool *on) {
    for (uint32_t i = x->p->n; i > 0; i--) {
        uint32_t from = x->trace[i][state];
        on[i - 1] = from & 1;
        state = from / 2;
    }
}

static enum nnv_status run(struct search *x, bool *on, int64_t *cost, struct nnv_err *err) {
    enum nnv_status s = bounds(x, err);
    if (s != NNV_OK) return s;
    x->front = (struct front){.packed = calloc(1, 1), .cost = calloc(1, sizeof(int64_t)), .n = 1};
    bool ok = x->front.packed && x->front.cost;
    for (x->at = 0; ok && x->at < x->p->n && x->front.n; x->at++) ok = run_layer(x, x->at);
    if (!ok) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for choosing regions");
    if (x->front.n && x->at == x->p->n && x->front.cost[0] < x->best) {
        x->best = x->front.cost[0];
        follow(x, 0, on);
    }
    *cost = x->best;
    if (x->options->lower > x->best) x->options->lower = x->best;
    return NNV_OK;
}

/*
 * Searches the least cost, in evaluation order: states that leave the same decisions to come are one. on: a choice to
 * begin with, which a better one replaces; *cost is its cost, and is updated.
 */
static enum nnv_status search(const struct nnv_cost_problem *p, struct options *options, bool *on, int64_t *cost,
                              struct nnv_err *err) {
    struct search x = {.p = p, .options = options, .arena = nnv_arena_new(), .best = *cost};
    enum nnv_status s = NNV_OK;
    options->states = 0;
    options->lower = INT64_MAX;
    x.state = calloc(1, sizeof *x.state);
    x.trace = calloc((size_t)p->n + 1, sizeof *x.trace);
    if (x.state) x.state->crossed = malloc(2 * (size_t)p->n_values + 1);
    if (!x.arena || !x.state || !x.trace || !x.state->crossed || !nnv_cost_schedule(p, x.arena, &x.schedule))
        s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for choosing regions");
    else if (x.schedule.widest > NNV_COST_WIDEST)
        options->lower = 0; /* too many nodes are used at once: nothing is known */
    else
        s = run(&x, on, cost, err);
    for (uint32_t i = 0; x.trace && i <= p->n; i++) free(x.trace[i]);
    free(x.trace);
    front_free(&x.front);
    front_free(&x.next);
    if (x.state) free(x.state->crossed);
    free(x.state);
    nnv_arena_free(x.arena);
    return s;
}

/* ----------------------------------------------------------------------- methods */

/* Takes the other choice if it costs less. */
static enum nnv_status consider(const struct nnv_cost_problem *p, const bool *other, struct nnv_cost_solution *best,
                                struct nnv_err *err) {
    int64_t cost = 0;
    enum nnv_status s = nnv_cost_try(p, other, &cost, err);
    if (s == NNV_OK && cost < best->cost) {
        best->cost = cost;
        memcpy(best->on, other, p->n * sizeof *other);
    }
    return s;
}

/* The two cuts bound the cost from below; what they choose is often good. */
static enum nnv_status try_cuts(const struct nnv_cost_problem *p, bool take, struct nnv_cost_solution *out,
                                struct nnv_err *err) {
    bool *on = calloc((size_t)p->n + 1, sizeof *on);
    enum nnv_status s = on ? NNV_OK : nnv_no_memory(err);
    if (s == NNV_OK && take) s = consider(p, on, out, err); /* all on the host */
    for (int launches = 0; s == NNV_OK && launches < 2; launches++) {
        int64_t bound = 0;
        s = nnv_cost_cut(p, 0, launches, on, &bound, err);
        if (s == NNV_OK && bound > out->lower) out->lower = bound;
        if (s == NNV_OK && take) s = consider(p, on, out, err);
    }
    free(on);
    return s;
}

enum nnv_status nnv_cost_solve(const struct nnv_cost_problem *p, enum nnv_cost_method method, size_t most_states,
                               struct nnv_cost_solution *out, struct nnv_err *err) {
    enum { MOST_STATES = 2000000, DP_WIDE = 4096, EXACT_WIDE = 1 << 17 };
    out->lower = 0;
    out->states = 0;
    enum nnv_status s = nnv_cost_greedy(p, out->on, &out->cost, err);
    if (s == NNV_OK) s = try_cuts(p, method == NNV_COST_EXACT, out, err);
    if (s != NNV_OK || method == NNV_COST_GREEDY) return s;
    struct options options = {
        .bounded = method == NNV_COST_EXACT,
        .most_states = most_states ? most_states : MOST_STATES,
        .most_wide = method == NNV_COST_EXACT ? EXACT_WIDE : DP_WIDE,
    };
    s = search(p, &options, out->on, &out->cost, err);
    out->states = options.states;
    if (s == NNV_OK && options.lower > out->lower) out->lower = options.lower;
    return s;
}
