/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the choices is taken: what was found by search, all that the target can do, or the host alone. Regions that
 * were measured as a whole cost what was measured; of choices that differ by less than the noise of the measurements
 * the one of fewest regions is taken, and regions that pay by less than theirs go back to the host.
 */
#include <math.h>
#include <string.h>

#include "compiler/byoc/cost/cost_model.h"
#include "compiler/byoc/cost/cost_problem.h"
#include "compiler/byoc/regions.h"

/** A choice and what it costs. */
struct candidate {
    bool *on;
    uint32_t *first, regions;
    int64_t cost;
    int64_t *parts;   /**< by the first node of a region: launch, operations and transfers */
    double *noise_us; /**< of a measured region; -1: not measured */
    int64_t *whole;   /**< of a measured region: what was measured */
};

/** What of a value's way is whose: coming out its producer's, going in that of the region that asks for it first. */
static void cost_share_transfer(const struct nnv_cost_value *v, const bool *on, const uint32_t *first, int64_t *spent) {
    bool made = v->producer != NNV_COST_OUTSIDE && on[v->producer], leaves = v->kept, entered = false;
    for (uint32_t u = 0; u < v->n_users; u++) {
        uint32_t user = v->users[u];
        if (made && on[user] && first[user] == first[v->producer]) continue;
        leaves = true;
        if (on[user] && !entered) spent[first[user]] += v->in;
        entered |= on[user];
    }
    if (made && leaves) spent[first[v->producer]] += v->out;
}

/* The record of the region that begins at node c, or NULL; *failed: out of memory. */
static const struct nnv_cost_record *record_of(const struct nnv_cost_model *m, const struct nnv_cost_function *f,
                                               const struct candidate *x, uint32_t c, struct nnv_arena *arena,
                                               bool *failed) {
    const struct nnv_cost_problem *p = &f->problem;
    struct nnv_relay_expr **ops = NNV_NEW(arena, struct nnv_relay_expr *, p->n);
    size_t n = 0;
    for (uint32_t i = c; ops && i < p->n; i++)
        if (x->on[i] && x->first[i] == c) ops[n++] = f->graph->exprs[i];
    const char *key = ops ? nnv_cost_region_key(ops, n, arena) : NULL;
    *failed = *failed || !key;
    return key ? nnv_cost_recorded_region(m, key) : NULL;
}

/* Puts what was measured in place of the parts; a region that the target can not do makes the choice worthless. */
static bool use_measured(const struct nnv_cost_model *m, const struct nnv_cost_function *f, struct candidate *x,
                         struct nnv_arena *arena) {
    const struct nnv_cost_problem *p = &f->problem;
    bool failed = false, impossible = false;
    for (uint32_t i = 0; i < p->n && !failed; i++) {
        if (!x->on[i] || x->first[i] != i || !nnv_cost_has_regions(m)) continue;
        const struct nnv_cost_record *r = record_of(m, f, x, i, arena, &failed);
        if (!r || isnan(r->target_us)) continue;
        impossible = impossible || r->target_us < 0;
        x->noise_us[i] = r->target_noise_us;
        x->whole[i] = r->target_us < 0 ? 0 : nnv_cost_ticks(p, r->target_us);
        x->cost += x->whole[i] - x->parts[i];
    }
    if (impossible) x->cost = NNV_COST_NEVER;
    return !failed;
}

static enum nnv_status weigh(const struct nnv_cost_model *m, const struct nnv_cost_function *f, struct candidate *x,
                             struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_cost_problem *p = &f->problem;
    x->first = NNV_NEW(arena, uint32_t, (size_t)p->n + 1);
    x->parts = NNV_NEW(arena, int64_t, (size_t)p->n + 1);
    x->whole = NNV_NEW(arena, int64_t, (size_t)p->n + 1);
    x->noise_us = NNV_NEW(arena, double, (size_t)p->n + 1);
    if (!x->first || !x->parts || !x->whole || !x->noise_us) return nnv_no_memory(err);
    enum nnv_status s = nnv_cost_clusters(p, x->on, x->first, err);
    if (s != NNV_OK) return s;
    const struct nnv_cost_parts parts = nnv_cost_of(p, x->on, x->first);
    x->cost = nnv_cost_sum(&parts);
    x->regions = parts.regions;
    for (uint32_t v = 0; v < p->n_values; v++) cost_share_transfer(&p->values[v], x->on, x->first, x->parts);
    for (uint32_t i = 0; i < p->n; i++) {
        x->noise_us[i] = -1;
        if (x->on[i]) x->parts[x->first[i]] += p->target[i] + (x->first[i] == i ? nnv_cost_launch(p, i) : 0);
    }
    return use_measured(m, f, x, arena) ? NNV_OK : nnv_no_memory(err);
}

/* By how much two choices may be wrong beside each other: what both have alike is wrong alike. */
static double noise_between(const struct nnv_cost_model *m, const struct nnv_cost_function *f,
                            const struct candidate *a, const struct candidate *b) {
    double sum = fabs((double)a->regions - (double)b->regions) * m->launch_noise_us;
    if (a == b) return 0;
    for (uint32_t i = 0; i < f->problem.n; i++) {
        if (a->on[i] != b->on[i]) sum += f->host_noise[i] + f->target_noise[i];
        sum += fmax(0, a->noise_us[i]) + fmax(0, b->noise_us[i]);
    }
    return sum;
}

/* Gives regions back that pay by no more than their noise. *any: there were some. */
static enum nnv_status drop_noise(const struct nnv_cost_model *m, const struct nnv_cost_function *f,
                                  struct candidate *x, bool *any, struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_cost_problem *p = &f->problem;
    int64_t *saved = NNV_NEW(arena, int64_t, (size_t)p->n + 1);
    double *noise = NNV_NEW(arena, double, (size_t)p->n + 1);
    if (!saved || !noise) return nnv_no_memory(err);
    enum nnv_status s = nnv_cost_drops(p, x->on, x->first, saved, err);
    for (uint32_t i = 0; i < p->n; i++)
        if (x->on[i]) noise[x->first[i]] += f->host_noise[i] + f->target_noise[i];
    for (uint32_t i = 0; i < p->n && s == NNV_OK; i++) {
        const uint32_t c = x->first[i];
        if (!x->on[i]) continue;
        const bool whole = x->noise_us[c] >= 0;
        const int64_t gain = saved[c] + (whole ? x->parts[c] - x->whole[c] : 0);
        const double by = noise[c] + m->launch_noise_us + fmax(0, x->noise_us[c]);
        if (by <= 0 || gain > nnv_cost_ticks(p, by)) continue;
        x->on[i] = false;
        *any = true;
    }
    return s;
}

enum nnv_status nnv_cost_decide(const struct nnv_cost_model *m, const struct nnv_cost_function *f, bool *on,
                                struct nnv_cost_decision *out, struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_cost_problem *p = &f->problem;
    struct candidate all[3] = {{.on = NNV_NEW(arena, bool, (size_t)p->n + 1)},
                               {.on = NNV_NEW(arena, bool, (size_t)p->n + 1)},
                               {.on = NNV_NEW(arena, bool, (size_t)p->n + 1)}};
    struct candidate *least = &all[0];
    enum nnv_status s = all[0].on && all[1].on && all[2].on ? NNV_OK : nnv_no_memory(err);
    for (uint32_t i = 0; s == NNV_OK && i < p->n; i++) {
        all[1].on[i] = nnv_cost_can(p, i);
        all[2].on[i] = on[i];
    }
    for (size_t k = 0; s == NNV_OK && k < 3; k++) {
        s = weigh(m, f, &all[k], arena, err);
        if (all[k].cost <= least->cost) least = &all[k];
    }
    if (s != NNV_OK) return s;
    struct candidate *taken = least;
    for (size_t k = 0; k < 3; k++) {
        struct candidate *x = &all[k];
        if (x->cost == NNV_COST_NEVER) continue;
        const int64_t noise = nnv_cost_ticks(p, noise_between(m, f, x, least));
        if (x->cost - least->cost <= noise && x->regions < taken->regions) taken = x;
    }
    out->least = least->cost;
    bool any = false;
    s = drop_noise(m, f, taken, &any, arena, err);
    if (s == NNV_OK && any) s = weigh(m, f, taken, arena, err);
    for (uint32_t i = 0; i < p->n; i++)
        out->noise_us += taken->on[i] ? f->target_noise[i] + fmax(0, taken->noise_us[i]) : f->host_noise[i];
    memcpy(on, taken->on, p->n * sizeof *on);
    out->first = taken->first;
    out->cost = taken->cost;
    out->parts = taken->parts;
    out->whole = taken->whole;
    out->noise_of = taken->noise_us;
    return s;
}
