/* SPDX-License-Identifier: Apache-2.0 */
/* From a function to the problem that the searches solve: times of its operations, values and who uses them. */
#include <math.h>
#include <stdlib.h>

#include "compiler/byoc/cost/cost_model.h"
#include "compiler/byoc/cost/cost_problem.h"
#include "compiler/byoc/regions.h"

#define NONE UINT32_MAX

struct use {
    uint32_t user, next;
};

struct builder {
    const struct nnv_cost_model *model;
    const struct nnv_scoped *f;
    struct nnv_arena *arena;
    struct nnv_cost_function *out;
    uint32_t *first_value; /**< by id of what makes values: its first value + 1 */
    double *bytes;         /**< by value */
    uint32_t *head, *tail; /**< by value: its uses */
    struct use *uses;
    size_t cap_values, n_uses, cap_uses, cap_stack;
    const struct nnv_relay_expr **stack;
    double *host_us, *target_us; /**< by node; target < 0: never */
    const char *const *targets;  /**< names */
};

/* ----------------------------------------------------------------------- values */

static bool grow_values(struct builder *b) {
    struct nnv_cost_problem *p = &b->out->problem;
    size_t n = p->n_values, caps[] = {b->cap_values, b->cap_values, b->cap_values};
    return n < NONE && nnv_grow(NULL, &p->values, n, &caps[0], sizeof *p->values) &&
           nnv_grow(NULL, &b->bytes, n, &caps[1], sizeof *b->bytes) &&
           nnv_grow(NULL, &b->head, n, &caps[2], sizeof *b->head) &&
           nnv_grow(NULL, &b->tail, n, &b->cap_values, sizeof *b->tail);
}

static size_t width(const struct nnv_relay_type *t) {
    return !t ? 1 : t->kind == NNV_RELAY_TUPLE_TYPE ? t->n_fields : t->kind == NNV_RELAY_TENSOR ? 1 : 0;
}

/* The first value of what `base` makes; they are listed when they are first asked for. */
static bool values_of(struct builder *b, const struct nnv_relay_expr *base, uint32_t *first, size_t *n) {
    struct nnv_cost_problem *p = &b->out->problem;
    const struct nnv_relay_type *t = nnv_cost_type(base);
    uint32_t node = b->out->graph->node[base->id];
    *n = width(t);
    if (!b->first_value[base->id]) {
        b->first_value[base->id] = p->n_values + 1;
        for (size_t i = 0; i < *n; i++) {
            if (!grow_values(b)) return false;
            bool tuple = t && t->kind == NNV_RELAY_TUPLE_TYPE;
            b->bytes[p->n_values] = nnv_cost_bytes(tuple ? t->fields[i] : t);
            b->head[p->n_values] = NONE;
            p->values[p->n_values++] = (struct nnv_cost_value){.producer = node ? node - 1 : NNV_COST_OUTSIDE};
        }
    }
    *first = b->first_value[base->id] - 1;
    return true;
}

/* user: a node, or NONE: the function's result. */
static bool use_value(struct builder *b, uint32_t value, uint32_t user) {
    if (user == NONE) {
        b->out->problem.values[value].kept = true;
        return true;
    }
    if (b->head[value] != NONE && b->uses[b->tail[value]].user == user) return true;
    if (b->n_uses >= NONE || !nnv_grow(NULL, &b->uses, b->n_uses, &b->cap_uses, sizeof *b->uses)) return false;
    uint32_t at = (uint32_t)b->n_uses++;
    b->uses[at] = (struct use){user, NONE};
    if (b->head[value] == NONE)
        b->head[value] = at;
    else
        b->uses[b->tail[value]].next = at;
    b->tail[value] = at;
    return true;
}

static bool push(struct builder *b, size_t *depth, const struct nnv_relay_expr *e) {
    if (!nnv_grow(NULL, &b->stack, *depth, &b->cap_stack, sizeof *b->stack)) return false;
    b->stack[(*depth)++] = e;
    return true;
}

/* What a variable of a let stands for. */
static const struct nnv_relay_expr *resolve(const struct builder *b, const struct nnv_relay_expr *e) {
    while (e->kind == NNV_RELAY_VAR && b->out->graph->value[e->id]) e = b->out->graph->value[e->id];
    return e;
}

/* All values of what e makes, or the one of this index; nothing if e is a constant or a function. */
static bool use_base(struct builder *b, const struct nnv_relay_expr *e, int64_t index, uint32_t user) {
    size_t n = 0;
    uint32_t first = 0;
    if (!b->out->graph->node[e->id] && e->kind != NNV_RELAY_VAR) return true;
    if (!values_of(b, e, &first, &n)) return false;
    for (size_t i = 0; i < n; i++)
        if ((index < 0 || index == (int64_t)i) && !use_value(b, first + (uint32_t)i, user)) return false;
    return true;
}

/* Every tensor of an operand is used by user. */
static bool use_operand(struct builder *b, const struct nnv_relay_expr *operand, uint32_t user) {
    size_t depth = 0;
    bool ok = push(b, &depth, operand);
    while (ok && depth) {
        const struct nnv_relay_expr *e = resolve(b, b->stack[--depth]);
        const struct nnv_relay_expr *from = e->kind == NNV_RELAY_GET ? resolve(b, e->args[0]) : e;
        if (from->kind != NNV_RELAY_TUPLE && from->kind != NNV_RELAY_GET) {
            ok = use_base(b, from, e == from ? -1 : e->index, user);
        } else if (from->kind == NNV_RELAY_GET) {
            ok = push(b, &depth, from); /* a field of a field moves with it */
        } else {
            for (size_t i = from->n_args; ok && i-- > 0;)
                if (e == from || e->index == (int64_t)i) ok = push(b, &depth, from->args[i]);
        }
    }
    return ok;
}

static bool use_all(struct builder *b) {
    const struct nnv_region_graph *g = b->out->graph;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct nnv_relay_expr *e = g->exprs[i];
        if (e->callee && e->callee->kind != NNV_RELAY_OP && !nnv_scope_closed(e->callee) &&
            !use_operand(b, e->callee, i))
            return false;
        for (size_t k = 0; k < e->n_args; k++)
            if (!use_operand(b, e->args[k], i)) return false;
    }
    for (size_t k = 0; k < b->f->function->n_args; k++)
        if (!use_operand(b, b->f->function->args[k], NONE)) return false;
    return true;
}

/* ------------------------------------------------------------------------ times */

static bool is_operation(const struct nnv_relay_expr *e) { return nnv_relay_op_name(e) || nnv_composite_name(e); }

/* The name of the target that takes node i; NULL: none. */
static const char *target_of(const struct builder *b, uint32_t i) {
    const int32_t kind = b->out->graph->nodes[i].kind;
    return kind == NNV_CLUSTER_ALONE ? NULL : b->targets[(size_t)kind % b->out->graph->n_targets];
}

static bool time_node(struct builder *b, uint32_t i, struct nnv_arena *scratch) {
    const struct nnv_relay_expr *e = b->out->graph->exprs[i];
    struct nnv_cost_work *work = &b->out->work[i];
    if (!is_operation(e)) {
        b->target_us[i] = -1;
        return true;
    }
    if (!nnv_cost_work(b->model, e, scratch, work)) return false;
    const char *key = nnv_cost_key(e, scratch);
    if (!key) return false;
    bool can = b->out->graph->nodes[i].kind != NNV_CLUSTER_ALONE;
    const char *target = target_of(b, i);
    const struct nnv_cost_record *r = nnv_cost_recorded(b->model, key, target);
    b->out->target_us[i] = nnv_cost_static_us(nnv_cost_device(b->model, target), work);
    b->host_us[i] = r && !isnan(r->host_us) ? r->host_us : nnv_cost_static_us(&b->model->host, work);
    b->target_us[i] = !can ? -1 : r && !isnan(r->target_us) ? r->target_us : b->out->target_us[i];
    if (nnv_cost_has_records(b->model)) b->out->missing += !r || (can && isnan(r->target_us));
    b->out->mixed += r && can && r->target_us >= 0 && isnan(r->host_us);
    b->out->host_noise[i] = r && !isnan(r->host_us) ? r->host_noise_us : 0;
    b->out->target_noise[i] = r && r->target_us >= 0 ? r->target_noise_us : 0;
    return true;
}

static bool time_nodes(struct builder *b) {
    struct nnv_arena *scratch = nnv_arena_new();
    bool ok = scratch != NULL;
    for (uint32_t i = 0; ok && i < b->out->graph->n; i++) {
        ok = time_node(b, i, scratch);
        if (i % 1024 == 1023) nnv_arena_reset(scratch);
    }
    nnv_arena_free(scratch);
    return ok;
}

int64_t nnv_cost_ticks(const struct nnv_cost_problem *p, double us) { return (int64_t)llround(us * p->ticks_per_us); }

static double crossing_us(const struct builder *b, double bytes) {
    return b->model->crossing_us + bytes / (b->model->crossing_gbytes * 1e3);
}

/* So many ticks in a microsecond that all times together fit in 2^61. */
static double find_ticks(const struct builder *b) {
    const struct nnv_cost_problem *p = &b->out->problem;
    double sum = 1, ticks = NNV_COST_TICKS_PER_US;
    for (uint32_t i = 0; i < p->n; i++)
        sum += b->host_us[i] + fmax(0, b->target_us[i]) +
               nnv_cost_device(b->model, target_of(b, i))->launch_us * (1 + p->nodes[i].count);
    for (uint32_t v = 0; v < p->n_values; v++) sum += 2 * crossing_us(b, b->bytes[v]);
    while (sum * ticks > 0x1p61) ticks /= 10;
    return ticks;
}

/* ---------------------------------------------------------------------- building */

static bool fill(struct builder *b) {
    struct nnv_cost_problem *p = &b->out->problem;
    p->host = NNV_NEW(b->arena, int64_t, p->n);
    p->target = NNV_NEW(b->arena, int64_t, p->n);
    int64_t *launches = NNV_NEW(b->arena, int64_t, p->n);
    struct nnv_cost_value *values = NNV_NEW(b->arena, struct nnv_cost_value, p->n_values);
    uint32_t *users = NNV_NEW(b->arena, uint32_t, b->n_uses);
    if (!p->host || !p->target || !values || !users || !launches) return false;
    p->launches = launches;
    p->ticks_per_us = find_ticks(b);
    p->launch = nnv_cost_ticks(p, b->model->target.launch_us);
    for (uint32_t i = 0; i < p->n; i++) {
        launches[i] = nnv_cost_ticks(p, nnv_cost_device(b->model, target_of(b, i))->launch_us);
        if (launches[i] > p->launch) p->launch = launches[i];
        p->host[i] = nnv_cost_ticks(p, b->host_us[i]);
        p->target[i] = b->target_us[i] < 0 ? NNV_COST_NEVER : nnv_cost_ticks(p, b->target_us[i]);
    }
    for (uint32_t v = 0; v < p->n_values; v++) {
        values[v] = p->values[v];
        values[v].in = values[v].out = nnv_cost_ticks(p, crossing_us(b, b->bytes[v]));
        values[v].users = users;
        for (uint32_t u = b->head[v]; u != NONE; u = b->uses[u].next)
            values[v].users[values[v].n_users++] = b->uses[u].user;
        users += values[v].n_users;
    }
    free(p->values);
    p->values = values;
    return nnv_cost_index(p, b->arena);
}

enum nnv_status nnv_cost_build(const struct nnv_cost_model *m, const struct nnv_annotator *a,
                               const struct nnv_scoped *f, struct nnv_arena *arena, struct nnv_cost_function *out,
                               struct nnv_err *err) {
    struct builder b = {.model = m, .f = f, .arena = arena, .out = out, .targets = a->targets};
    *out = (struct nnv_cost_function){.graph = NNV_NEW(arena, struct nnv_region_graph, 1)};
    if (!out->graph) return nnv_no_memory(err);
    enum nnv_status s = nnv_region_graph(a, f, arena, out->graph, err);
    if (s != NNV_OK) return s;
    struct nnv_region_graph *g = out->graph;
    out->problem =
        (struct nnv_cost_problem){.n = g->n, .nodes = g->nodes, .edges = g->edges, .n_edges = (uint32_t)g->n_edges};
    out->work = NNV_NEW(arena, struct nnv_cost_work, g->n);
    out->target_us = NNV_NEW(arena, double, g->n);
    b.host_us = NNV_NEW(arena, double, g->n);
    b.target_us = NNV_NEW(arena, double, g->n);
    b.first_value = NNV_NEW(arena, uint32_t, f->n_ids);
    out->host_noise = NNV_NEW(arena, double, g->n);
    out->target_noise = NNV_NEW(arena, double, g->n);
    bool ok = out->work && out->target_us && out->host_noise && out->target_noise && b.host_us && b.target_us &&
              b.first_value && grow_values(&b) && use_all(&b) && time_nodes(&b);
    struct nnv_cost_value *old = out->problem.values;
    ok = ok && fill(&b);
    if (!ok && out->problem.values == old) free(old);
    free(b.bytes);
    free(b.head);
    free(b.tail);
    free(b.uses);
    free(b.stack);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the costs of a function");
}
