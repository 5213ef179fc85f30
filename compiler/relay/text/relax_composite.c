/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TVMScript: composites. TVM's FuseOpsByPattern makes each a function of the module. In the graph, as in Relay, it is a
 * literal where it is called: such functions are bound to a name that no variable can have, and put where they belong
 * at the end.
 */
#include <string.h>

#include "compiler/relay/text/relax.h"

static const char *composite_key(struct nnv_relay_parser *p, const char *name) {
    const char *key = nnv_relay_got(p, nnv_arena_printf(p->m->arena, "composite %s", name));
    return key ? nnv_relay_got(p, nnv_relay_intern(p->m, key, strlen(key))) : NULL;
}

struct nnv_relay_expr *nnv_relax_composite(struct nnv_relay_parser *p, const char *name) {
    const char *key = composite_key(p, name);
    return key ? nnv_relay_bound(p, key) : NULL;
}

bool nnv_relax_add_composite(struct nnv_relay_parser *p, const char *name, struct nnv_relay_expr *f) {
    return nnv_relay_bind(p, composite_key(p, name), f);
}

/* A copy of a function of operators: NULL if there is more in it, or after an error. */
static struct nnv_relay_expr *copied(struct nnv_relay_parser *p, struct nnv_relay_expr *f, struct nnv_arena *scratch) {
    struct nnv_relay_list list;
    struct nnv_relay_expr **now = NNV_NEW(scratch, struct nnv_relay_expr *, p->m->n_exprs);
    struct nnv_relay_expr **params = NNV_NEW(scratch, struct nnv_relay_expr *, f->n_params);
    if (!now || !params || nnv_relay_post_order(f->args[0], NULL, NULL, scratch, &list) != NNV_OK)
        return nnv_relay_got(p, NULL);
    for (size_t i = 0; i < f->n_params; i++) {
        params[i] = nnv_relay_got(p, nnv_relay_var(p->m, f->params[i]->name, f->params[i]->declared));
        now[f->params[i]->id] = params[i];
    }
    for (size_t i = 0; i < list.n; i++) {
        struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind == NNV_RELAY_FUNCTION || e->kind == NNV_RELAY_IF) return NULL;
        if (now[e->id]) continue;
        struct nnv_relay_expr **args = NNV_NEW(scratch, struct nnv_relay_expr *, e->n_args);
        for (size_t k = 0; args && k < e->n_args; k++) args[k] = now[e->args[k]->id];
        now[e->id] = !args ? NULL : e->n_args ? nnv_relay_with(p->m, e, e->callee, args) : e;
        if (nnv_relay_got(p, now[e->id]) == NULL) return NULL;
    }
    return nnv_relay_got(
        p, nnv_relay_fn(p->m, f->n_params, params, f->declared, now[f->args[0]->id], f->n_attrs, f->attrs));
}

bool nnv_relax_place_composites(struct nnv_relay_parser *p, struct nnv_relay_expr *f) {
    struct nnv_arena *scratch = nnv_arena_new();
    struct nnv_relay_list list = {0};
    bool ok = scratch && nnv_relay_post_order(f, NULL, NULL, scratch, &list) == NNV_OK;
    if (!ok) nnv_relay_no_room(p);
    for (size_t i = 0; ok && i < list.n; i++) {
        struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind != NNV_RELAY_CALL || e->callee->kind != NNV_RELAY_GLOBAL) continue;
        struct nnv_relay_expr *composite = nnv_relax_composite(p, e->callee->name);
        struct nnv_relay_expr *literal = composite ? copied(p, composite, scratch) : NULL;
        if (literal) e->callee = literal;
        ok = p->st == NNV_OK;
        if (composite && !literal && ok) ok = nnv_relay_define(p->m, e->callee->name, composite);
    }
    nnv_arena_free(scratch);
    return ok;
}
