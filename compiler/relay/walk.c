/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over expressions: evaluation order, uses, rewriting. None recurses: graphs may be 100,000 nodes deep. */
#include <stdlib.h>

#include "compiler/relay/relay.h"

/** A node on the way down, and the operand to visit next (the callee is number 0 if there is one). */
struct step {
    struct nnv_relay_expr *expr;
    size_t next;
};

struct walk {
    struct step *stack;
    size_t depth, cap_stack;
    struct nnv_relay_expr **list;
    size_t n, cap_list;
    bool *seen; /* by id */
    size_t cap_seen;
};

static bool push(struct walk *w, struct nnv_relay_expr *e) {
    if (!nnv_grow(NULL, &w->seen, e->id, &w->cap_seen, sizeof *w->seen)) return false;
    if (w->seen[e->id]) return true;
    w->seen[e->id] = true;
    if (!nnv_grow(NULL, &w->stack, w->depth, &w->cap_stack, sizeof *w->stack)) return false;
    w->stack[w->depth++] = (struct step){e, 0};
    return true;
}

bool nnv_relay_enter_scope(void *ctx, const struct nnv_relay_expr *e) {
    return e == ctx || e->kind != NNV_RELAY_FUNCTION;
}

enum nnv_status nnv_relay_post_order(struct nnv_relay_expr *root, nnv_relay_enter_fn *enter, void *ctx,
                                     struct nnv_arena *arena, struct nnv_relay_list *list) {
    struct walk w = {0};
    bool ok = push(&w, root);
    while (ok && w.depth) {
        struct step *top = &w.stack[w.depth - 1];
        struct nnv_relay_expr *e = top->expr;
        size_t callee = e->callee != NULL, i = top->next;
        if (i == 0 && enter && !enter(ctx, e)) i = callee + e->n_args;
        top->next = i + 1;
        if (i < callee + e->n_args) {
            ok = push(&w, i < callee ? e->callee : e->args[i - callee]);
        } else {
            w.depth--;
            ok = nnv_grow(NULL, &w.list, w.n, &w.cap_list, sizeof(struct nnv_relay_expr *));
            if (ok) w.list[w.n++] = e;
        }
    }
    struct nnv_relay_expr **own = ok ? nnv_arena_copy(arena, w.list, w.n * sizeof(struct nnv_relay_expr *)) : NULL;
    if (own) *list = (struct nnv_relay_list){own, w.n};
    free(w.stack);
    free(w.list);
    free(w.seen);
    return own ? NNV_OK : NNV_NO_MEMORY;
}

/* Every operand of every expression of the list, callees included, in order. */
static void each_use(const struct nnv_relay_list *list,
                     void (*use)(struct nnv_relay_uses *, const struct nnv_relay_expr *, struct nnv_relay_expr *),
                     struct nnv_relay_uses *uses) {
    for (size_t i = 0; i < list->n; i++) {
        struct nnv_relay_expr *e = list->exprs[i];
        if (e->callee) use(uses, e->callee, e);
        for (size_t k = 0; k < e->n_args; k++) use(uses, e->args[k], e);
    }
}

static void count(struct nnv_relay_uses *uses, const struct nnv_relay_expr *used, struct nnv_relay_expr *user) {
    (void)user;
    uses->first[used->id + 2]++;
}

static void place(struct nnv_relay_uses *uses, const struct nnv_relay_expr *used, struct nnv_relay_expr *user) {
    uses->users[uses->first[used->id + 1]++] = user;
}

enum nnv_status nnv_relay_find_uses(const struct nnv_relay_module *m, const struct nnv_relay_list *list,
                                    struct nnv_arena *arena, struct nnv_relay_uses *uses) {
    /* First counts shifted by two, then ends shifted by one, which placing turns into the beginnings. */
    struct nnv_relay_uses u = {.n_ids = m->n_exprs, .first = NNV_NEW(arena, size_t, (size_t)m->n_exprs + 2)};
    if (u.first == NULL) return NNV_NO_MEMORY;
    each_use(list, count, &u);
    for (size_t i = 2; i < (size_t)u.n_ids + 2; i++) u.first[i] += u.first[i - 1];
    u.users = NNV_NEW(arena, struct nnv_relay_expr *, u.first[u.n_ids + 1]);
    if (u.users == NULL) return NNV_NO_MEMORY;
    each_use(list, place, &u);
    *uses = u;
    return NNV_OK;
}

size_t nnv_relay_users(const struct nnv_relay_uses *uses, const struct nnv_relay_expr *e,
                       struct nnv_relay_expr ***users) {
    if (e->id >= uses->n_ids) return 0;
    *users = uses->users + uses->first[e->id];
    return uses->first[e->id + 1] - uses->first[e->id];
}

/* e with its operands as the memo has them: e itself if none changed. */
static struct nnv_relay_expr *rebuilt(struct nnv_relay_module *m, struct nnv_relay_expr *e,
                                      struct nnv_relay_expr *const *memo, struct nnv_relay_expr **args) {
    struct nnv_relay_expr *callee = e->callee ? memo[e->callee->id] : NULL;
    bool same = callee == e->callee;
    for (size_t i = 0; i < e->n_args; i++) {
        args[i] = memo[e->args[i]->id];
        same = same && args[i] == e->args[i];
    }
    return same ? e : nnv_relay_with(m, e, callee, args);
}

enum nnv_status nnv_relay_rewrite(struct nnv_relay_module *m, struct nnv_relay_expr *root, nnv_relay_rewrite_fn *fn,
                                  void *ctx, struct nnv_relay_expr **out, struct nnv_err *err) {
    struct nnv_relay_list list;
    struct nnv_arena *scratch = nnv_arena_new();
    enum nnv_status st = NNV_NO_MEMORY;
    if (scratch == NULL || nnv_relay_post_order(root, NULL, NULL, scratch, &list) != NNV_OK) goto out;
    size_t most = 0;
    for (size_t i = 0; i < list.n; i++) most = list.exprs[i]->n_args > most ? list.exprs[i]->n_args : most;
    struct nnv_relay_expr **memo = NNV_NEW(scratch, struct nnv_relay_expr *, m->n_exprs);
    struct nnv_relay_expr **args = NNV_NEW(scratch, struct nnv_relay_expr *, most);
    if (memo == NULL || args == NULL) goto out;
    for (size_t i = 0; i < list.n; i++) {
        struct nnv_relay_expr *e = list.exprs[i], *now = rebuilt(m, e, memo, args);
        if (now) now = fn(ctx, m, e, now);
        if (now == NULL) goto out;
        memo[e->id] = now;
    }
    *out = memo[root->id];
    st = NNV_OK;
out:
    nnv_arena_free(scratch);
    return st == NNV_OK ? st : nnv_no_memory(err);
}
