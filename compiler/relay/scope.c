/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, from users to operands: a value lies where its uses meet, but not further in than it is written. */
#include "compiler/relay/scope.h"

bool nnv_scope_closed(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_FUNCTION &&
           (nnv_relay_written(e, "Composite") || nnv_relay_written(e, "PartitionedFromPattern") ||
            nnv_relay_written(e, "Compiler"));
}

static bool enter(void *ctx, const struct nnv_relay_expr *e) { return e == ctx || !nnv_scope_closed(e); }

static const struct nnv_scope *meet(const struct nnv_scope *a, const struct nnv_scope *b) {
    while (a != b) {
        if (a->depth >= b->depth)
            a = a->up;
        else
            b = b->up;
    }
    return a;
}

/* Out of the scopes whose owner begins behind e in the text. */
static const struct nnv_scope *climb(const struct nnv_scope *s, const struct nnv_relay_expr *e) {
    while (s->up && e->span.line && s->owner->span.line && e->span.offset < s->owner->span.offset) s = s->up;
    return s;
}

static void use(struct nnv_scoped *out, const struct nnv_relay_expr *e, const struct nnv_scope *scope) {
    const struct nnv_scope **at = &out->of[e->id];
    scope = climb(scope, e);
    *at = *at ? meet(*at, scope) : scope;
}

static const struct nnv_scope *inner(struct nnv_scoped *out, struct nnv_arena *arena, const struct nnv_scope *up,
                                     const struct nnv_relay_expr *owner) {
    struct nnv_scope *s = NNV_NEW(arena, struct nnv_scope, 1);
    if (s) *s = (struct nnv_scope){up, owner, up->depth + 1, out->n_scopes++};
    return s;
}

/* Tells the operands of e where they are used. */
static bool visit(struct nnv_scoped *out, const struct nnv_relay_expr *e, struct nnv_arena *arena) {
    const struct nnv_scope *own = out->of[e->id];
    if (nnv_scope_closed(e)) return true;
    if (e->callee) use(out, e->callee, own);
    for (size_t i = 0; i < e->n_args; i++) {
        bool deeper = e->kind == NNV_RELAY_FUNCTION || (e->kind == NNV_RELAY_IF && i > 0);
        const struct nnv_scope *s = deeper ? inner(out, arena, own, e) : own;
        if (!s) return false;
        use(out, e->args[i], s);
    }
    return true;
}

enum nnv_status nnv_scope_find(const struct nnv_relay_module *m, struct nnv_relay_expr *function,
                               struct nnv_arena *arena, struct nnv_scoped *out, struct nnv_err *err) {
    *out = (struct nnv_scoped){.function = function, .n_ids = m->n_exprs, .n_scopes = 1};
    if (nnv_relay_post_order(function, enter, function, arena, &out->list) != NNV_OK ||
        nnv_relay_find_uses(m, &out->list, arena, &out->uses) != NNV_OK)
        return nnv_no_memory(err);
    out->of = NNV_NEW(arena, const struct nnv_scope *, m->n_exprs);
    struct nnv_scope *body = NNV_NEW(arena, struct nnv_scope, 1);
    if (!out->of || !body) return nnv_no_memory(err);
    *body = (struct nnv_scope){.owner = function};
    /* users stand behind their operands, so from the end each has all its uses known */
    out->list.n--; /* the function itself */
    for (size_t i = 0; i < function->n_args; i++) use(out, function->args[i], body);
    for (size_t i = out->list.n; i-- > 0;)
        if (!visit(out, out->list.exprs[i], arena)) return nnv_no_memory(err);
    return NNV_OK;
}

const struct nnv_relay_expr *nnv_scope_user(const struct nnv_scoped *s, const struct nnv_relay_expr *user,
                                            const struct nnv_scope *scope) {
    if (user == s->function) return scope->up ? NULL : user;
    const struct nnv_relay_expr *at = user;
    const struct nnv_scope *in = s->of[user->id];
    for (; in && in->depth > scope->depth; in = in->up) at = in->owner;
    return in == scope ? at : NULL;
}
