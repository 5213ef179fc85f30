/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ifs and loops as composites: what is inside moves into a function literal whose parameters are what it takes from
 * outside. A loop is a function that calls itself: let f = fn (v...) {if (c) {f(next...)} else {what it ends with}}.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "compiler/byoc/byoc.h"

enum { BRANCHES = 2 };

/** One function, and the if or loop at hand. */
struct outline {
    struct nnv_relay_module *m;
    struct nnv_arena *arena;
    const struct nnv_annotator *a;
    const char *target;
    struct nnv_scoped scoped;
    struct nnv_relay_expr *owner;         /**< of the scopes inside: the if, or the loop's function */
    struct nnv_relay_expr *again;         /**< the loop's call of itself; of an if NULL */
    struct nnv_relay_expr *site;          /**< what becomes the composite's call: the if, or the call of the loop */
    struct nnv_relay_list part[BRANCHES]; /**< each branch, or the loop's body: what is inside, and what it takes */
    size_t n_parts;
    struct nnv_id_map taken; /**< the values from outside, by address */
};

/* Made since the scopes were found: of an if or loop within this one. */
static bool is_new(const struct outline *o, const struct nnv_relay_expr *e) { return e->id >= o->scoped.n_ids; }

static bool is_inside(const struct outline *o, const struct nnv_relay_expr *e) {
    const struct nnv_scope *s = is_new(o, e) ? NULL : o->scoped.of[e->id];
    while (s && s->owner != o->owner) s = s->up;
    return s || is_new(o, e);
}

static bool enter(void *ctx, const struct nnv_relay_expr *e) {
    return e->kind != NNV_RELAY_FUNCTION && is_inside(ctx, e);
}

/* A variable of the loop: itself, or what changes from turn to turn. */
static bool is_own(const struct outline *o, const struct nnv_relay_expr *e) {
    for (size_t i = 0; i < o->owner->n_params; i++)
        if (o->owner->params[i] == e) return true;
    return o->again && o->again->callee == e;
}

/* What a composite can hold: operations, other composites, constants, tuples; and of a loop what makes it one. */
static bool is_plain(const struct outline *o, const struct nnv_relay_expr *e) {
    if (o->again && (e == o->again || e == o->owner->args[0])) return true;
    switch (e->kind) {
    case NNV_RELAY_LET:
    case NNV_RELAY_IF:
    case NNV_RELAY_GLOBAL:
        return false;
    case NNV_RELAY_FUNCTION:
        return nnv_scope_closed(e);
    case NNV_RELAY_CALL:
        return e->callee->kind == NNV_RELAY_OP || nnv_scope_closed(e->callee);
    case NNV_RELAY_VAR:
    case NNV_RELAY_CONSTANT:
    case NNV_RELAY_OP:
    case NNV_RELAY_TUPLE:
    case NNV_RELAY_GET:
        break;
    }
    return true;
}

static bool is_taken(const struct outline *o, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_VAR) return !is_own(o, e);
    return e->kind != NNV_RELAY_CONSTANT && e->kind != NNV_RELAY_OP && !is_inside(o, e);
}

/* Finds what is inside, from the owner's operands `first` on; *plain: all of it can move. */
static enum nnv_status find_parts(struct outline *o, size_t first, bool *plain) {
    o->taken = (struct nnv_id_map){.arena = o->arena};
    o->n_parts = o->owner->n_args - first;
    *plain = true;
    for (size_t b = 0; b < o->n_parts; b++) {
        if (nnv_relay_post_order(o->owner->args[first + b], enter, o, o->arena, &o->part[b]) != NNV_OK)
            return NNV_NO_MEMORY;
        for (size_t i = 0; i < o->part[b].n; i++) {
            struct nnv_relay_expr *e = o->part[b].exprs[i];
            if (is_taken(o, e)) {
                if (!nnv_id_put(&o->taken, nnv_id(e), e)) return NNV_NO_MEMORY;
            } else {
                *plain = *plain && is_plain(o, e);
            }
        }
    }
    return NNV_OK;
}

static struct nnv_relay_expr *parameter(struct outline *o, size_t i, const struct nnv_relay_expr *value) {
    char name[32];
    snprintf(name, sizeof name, "p%zu", i);
    struct nnv_relay_expr *v = nnv_relay_var(o->m, name, value->type ? value->type : value->declared);
    if (v) v->type = value->type;
    return v;
}

/* Replaces the operands that come from outside by the parameters for them. */
static void pass_parameters(const struct outline *o, struct nnv_relay_expr **args, size_t n,
                            struct nnv_relay_expr *const *params) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = nnv_id_find(&o->taken, nnv_id(args[i]));
        if (at != NNV_MAP_NONE) args[i] = params[at];
    }
}

/*
 * Makes the site the call of a composite: its first parameters stand for the first n_first operands of the site, the
 * others for what is taken from outside. False when out of memory.
 */
static bool build(struct outline *o, size_t n_first, const char *what) {
    const size_t n = n_first + o->taken.count;
    struct nnv_relay_expr **params = NNV_NEW(o->arena, struct nnv_relay_expr *, n);
    struct nnv_relay_expr **args = NNV_NEW(o->arena, struct nnv_relay_expr *, n);
    const char *text = nnv_arena_printf(o->arena, "%s.%s", o->target, what);
    const char *name = text ? nnv_relay_intern(o->m, text, strlen(text)) : NULL;
    if (!params || !args || !name) return false;
    for (size_t i = 0; i < n; i++) {
        args[i] = i < n_first ? o->site->args[i] : o->taken.item[i - n_first].value;
        if (!(params[i] = parameter(o, i, args[i]))) return false;
    }
    struct nnv_relay_expr *body = nnv_relay_with(o->m, o->site, o->site->callee, o->site->args);
    if (!body) return false;
    body->bound = NULL;
    for (size_t i = 0; i < n_first; i++) body->args[i] = params[i];
    pass_parameters(o, body->args + n_first, body->n_args - n_first, params + n_first);
    for (size_t b = 0; b < o->n_parts; b++)
        for (size_t i = 0; i < o->part[b].n; i++) {
            struct nnv_relay_expr *e = o->part[b].exprs[i];
            if (!is_taken(o, e)) pass_parameters(o, e->args, e->n_args, params + n_first);
        }
    const struct nnv_relay_attr attr = {"Composite", {.kind = NNV_RELAY_STRING, .text = name}};
    struct nnv_relay_expr *fn = nnv_relay_fn(o->m, n, params, body->type, body, 1, &attr);
    struct nnv_relay_expr *call = nnv_relay_call(o->m, fn, n, args, 0, NULL);
    if (call) nnv_composite_replace(o->site, call);
    return call != NULL;
}

/* The target takes the composite, and what it is made of. */
static bool is_accepted(const struct outline *o) {
    const int target = nnv_annotate(o->a, o->site);
    for (size_t b = 0; b < o->n_parts; b++)
        for (size_t i = 0; target != NNV_HOST && i < o->part[b].n; i++) {
            const struct nnv_relay_expr *e = o->part[b].exprs[i];
            const bool operation = e->kind == NNV_RELAY_CALL && e != o->again && !is_taken(o, e) && e->n_args;
            if (operation && nnv_annotate(o->a, e) != target) return false;
        }
    return target != NNV_HOST;
}

static enum nnv_status outline_if(struct outline *o, struct nnv_relay_expr *e) {
    bool plain;
    o->owner = o->site = e;
    o->again = NULL;
    enum nnv_status st = find_parts(o, 1, &plain);
    if (st != NNV_OK || !plain) return st;
    return build(o, 1, "if") && (is_accepted(o) || nnv_composite_dissolve(e, o->arena)) ? NNV_OK : NNV_NO_MEMORY;
}

/* ------------------------------------------------------------------------- loops */

/* The call of the loop that a let binds, if it is one and called once outside of itself. */
static struct nnv_relay_expr *find_call(struct outline *o, const struct nnv_relay_expr *let) {
    struct nnv_relay_expr *f = let->args[0], **users, *user;
    if (f->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(f) || f->args[0]->kind != NNV_RELAY_IF) return NULL;
    o->owner = f;
    o->again = f->args[0]->args[1];
    if (o->again->kind != NNV_RELAY_CALL || o->again->callee != let->var) return NULL;
    if (nnv_relay_users(&o->scoped.uses, let->var, &users) != 2) return NULL;
    user = users[0] == o->again ? users[1] : users[0];
    if (user == let && nnv_relay_users(&o->scoped.uses, let, &users) == 1) user = users[0]; /* (let f = ...; f)(...) */
    const bool calls = user->kind == NNV_RELAY_CALL && (user->callee == let || user->callee == let->var);
    return calls && !is_inside(o, user) ? user : NULL;
}

/* let f = fn; ... f(x) ... becomes ... (let f = fn; f)(x) ..., so that the call has all of the loop. */
static bool move_let(const struct outline *o, struct nnv_relay_expr *let, struct nnv_relay_expr *call) {
    struct nnv_relay_expr **users, *own = nnv_relay_let(o->m, let->var, let->args[0], let->var);
    if (!own) return false;
    own->type = let->args[0]->type;
    const size_t n = nnv_relay_users(&o->scoped.uses, let, &users);
    for (size_t u = 0; u < n; u++)
        for (size_t i = 0; i < users[u]->n_args; i++)
            if (users[u]->args[i] == let) users[u]->args[i] = let->args[1];
    call->callee = own;
    return true;
}

static enum nnv_status outline_loop(struct outline *o, struct nnv_relay_expr *let) {
    bool plain;
    o->site = find_call(o, let);
    enum nnv_status st = o->site ? find_parts(o, 0, &plain) : NNV_OK;
    if (!o->site || st != NNV_OK || !plain) return st;
    if (o->site->callee != let && !move_let(o, let, o->site)) return NNV_NO_MEMORY;
    return build(o, o->site->n_args, "while") && (is_accepted(o) || nnv_composite_dissolve(o->site, o->arena))
               ? NNV_OK
               : NNV_NO_MEMORY;
}

static enum nnv_status outline(struct outline *o, struct nnv_relay_expr *function, struct nnv_err *err) {
    enum nnv_status st = nnv_scope_find(o->m, function, o->arena, &o->scoped, err);
    for (size_t i = 0; st == NNV_OK && i < o->scoped.list.n; i++) {
        struct nnv_relay_expr *e = o->scoped.list.exprs[i];
        if (e->kind == NNV_RELAY_IF) st = outline_if(o, e);
        if (e->kind == NNV_RELAY_LET) st = outline_loop(o, e);
    }
    return st == NNV_NO_MEMORY ? nnv_no_memory(err) : st;
}

enum nnv_status nnv_outline_flow(struct nnv_relay_module *m, const struct nnv_annotator *a, const char *target,
                                 struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t f = 0; st == NNV_OK && f < m->n_functions; f++) {
        struct nnv_relay_expr *function = m->functions[f].expr;
        if (function->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(function)) continue;
        struct outline o = {.m = m, .arena = nnv_arena_new(), .a = a, .target = target};
        st = o.arena ? outline(&o, function, err) : nnv_no_memory(err);
        nnv_arena_free(o.arena);
    }
    return st;
}
