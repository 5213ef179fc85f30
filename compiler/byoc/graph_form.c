/* SPDX-License-Identifier: Apache-2.0 */
/* Graph form: lets become sharing, projections of tuples their fields, equal projections one. */
#include "base/map.h"
#include "compiler/byoc/byoc.h"

struct forms {
    struct nnv_relay_module *m;
    struct nnv_arena *arena;
    struct nnv_relay_list list;
    struct nnv_relay_expr **instead; /**< by id: what stands for it from now on */
    struct nnv_id_map projections;   /**< the first one of each value and index */
    struct nnv_relay_expr *function;
};

static bool enter(void *ctx, const struct nnv_relay_expr *e) { return e == ctx || !nnv_scope_closed(e); }

/* Paths are made short on the way, so that a chain of lets is walked once. */
static struct nnv_relay_expr *now(const struct forms *f, struct nnv_relay_expr *e) {
    struct nnv_relay_expr *last = e;
    while (f->instead[last->id]) last = f->instead[last->id];
    while (e != last) {
        struct nnv_relay_expr *next = f->instead[e->id];
        f->instead[e->id] = last;
        e = next;
    }
    return last;
}

/* Whether value, a closure, uses the variable that it is bound to. */
static enum nnv_status calls_itself(const struct forms *f, const struct nnv_relay_expr *let, bool *yes) {
    struct nnv_relay_list list;
    *yes = false;
    if (let->args[0]->kind != NNV_RELAY_FUNCTION) return NNV_OK;
    if (nnv_relay_post_order(let->args[0], NULL, NULL, f->arena, &list) != NNV_OK) return NNV_NO_MEMORY;
    for (size_t i = 0; i < list.n && !*yes; i++) *yes = list.exprs[i] == let->var;
    return NNV_OK;
}

static enum nnv_status drop_let(struct forms *f, struct nnv_relay_expr *let) {
    bool recursive;
    if (calls_itself(f, let, &recursive) != NNV_OK) return NNV_NO_MEMORY;
    if (recursive) return NNV_OK;
    struct nnv_relay_expr *value = now(f, let->args[0]);
    if (!value->bound && value->kind != NNV_RELAY_VAR && value->kind != NNV_RELAY_CONSTANT) {
        char *name = nnv_arena_printf(f->m->arena, "%%%s", let->var->name);
        if (!name) return NNV_NO_MEMORY;
        value->bound = name;
    }
    f->instead[let->var->id] = value;
    f->instead[let->id] = let->args[1];
    return NNV_OK;
}

static enum nnv_status drop_lets(struct forms *f) {
    for (size_t i = 0; i < f->list.n; i++)
        if (f->list.exprs[i]->kind == NNV_RELAY_LET && drop_let(f, f->list.exprs[i]) != NNV_OK) return NNV_NO_MEMORY;
    return NNV_OK;
}

/* A projection of a tuple is its field; one of anything else the first of its index. */
static enum nnv_status drop_projection(struct forms *f, struct nnv_relay_expr *get) {
    struct nnv_relay_expr *tuple = get->args[0];
    if (get->index < 0 || get->index > UINT32_MAX) return NNV_OK;
    if (tuple->kind == NNV_RELAY_TUPLE) {
        if ((uint64_t)get->index < tuple->n_args) f->instead[get->id] = tuple->args[get->index];
        return NNV_OK;
    }
    const uint64_t key = (uint64_t)tuple->id << 32 | (uint64_t)get->index;
    f->instead[get->id] = nnv_id_get(&f->projections, key);
    return f->instead[get->id] || nnv_id_put(&f->projections, key, get) ? NNV_OK : NNV_NO_MEMORY;
}

static void replace_operands(const struct forms *f, struct nnv_relay_expr *e) {
    if (e->callee) e->callee = now(f, e->callee);
    if (nnv_scope_closed(e)) return;
    for (size_t i = 0; i < e->n_args; i++) e->args[i] = now(f, e->args[i]);
}

static enum nnv_status order(struct forms *f) {
    f->instead = NNV_NEW(f->arena, struct nnv_relay_expr *, f->m->n_exprs);
    if (!f->instead) return NNV_NO_MEMORY;
    return nnv_relay_post_order(f->function, enter, f->function, f->arena, &f->list);
}

static enum nnv_status run(struct forms *f) {
    if (order(f) != NNV_OK || drop_lets(f) != NNV_OK) return NNV_NO_MEMORY;
    for (size_t i = 0; i < f->list.n; i++) replace_operands(f, f->list.exprs[i]);
    nnv_arena_reset(f->arena);
    if (order(f) != NNV_OK) return NNV_NO_MEMORY;
    for (size_t i = 0; i < f->list.n; i++) {
        replace_operands(f, f->list.exprs[i]);
        if (f->list.exprs[i]->kind == NNV_RELAY_GET && drop_projection(f, f->list.exprs[i]) != NNV_OK)
            return NNV_NO_MEMORY;
    }
    return NNV_OK;
}

enum nnv_status nnv_graph_form(struct nnv_relay_module *m, struct nnv_relay_expr *function, struct nnv_err *err) {
    struct forms f = {.m = m, .function = function, .arena = nnv_arena_new()};
    enum nnv_status s = f.arena ? run(&f) : NNV_NO_MEMORY;
    nnv_id_free(&f.projections);
    nnv_arena_free(f.arena);
    return s == NNV_OK ? NNV_OK : nnv_no_memory(err);
}
