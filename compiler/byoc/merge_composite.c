/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MergeComposite. A match is turned into a composite where it stands: its root becomes the call, so that its users need
 * not be told; its other values are used by nothing else and move into the composite's body.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/byoc/byoc.h"

const char *nnv_composite_name(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_FUNCTION
               ? nnv_relay_fn_attr(e->callee, "Composite")
               : NULL;
}

void nnv_composite_replace(struct nnv_relay_expr *root, const struct nnv_relay_expr *call) {
    const struct nnv_relay_expr old = *root;
    *root = *call;
    root->id = old.id;
    root->bound = old.bound;
    root->span = root->callee->span = old.span;
    root->declared = old.declared;
    root->type = old.type;
}

/** One entry on one function. */
struct merge {
    struct nnv_relay_module *m;
    struct nnv_arena *arena; /**< what is needed for this entry alone */
    const struct nnv_pattern_entry *entry;
    struct nnv_scoped scoped;
    struct nnv_match *match;
    uint32_t *place;    /**< by id: place in evaluation order + 1 */
    uint32_t *group;    /**< by id: number of the match that tried it last */
    uint32_t *embedded; /**< by id: number of the match whose pattern asks for this constant */
    bool *taken;        /**< by id: in a match of this entry */
    bool *seen;         /**< by number of the pattern */
    uint32_t serial;
    size_t merged;
    /* the match at hand */
    struct nnv_relay_expr **inside, **outside; /**< what it holds, in evaluation order; its parameters */
    size_t n_inside, n_outside, cap;
};

static bool in_group(const struct merge *g, const struct nnv_relay_expr *e) {
    return e->id < g->scoped.n_ids && g->group[e->id] == g->serial;
}

static void add_inside(struct merge *g, struct nnv_relay_expr *e) {
    if (in_group(g, e) || g->n_inside == g->cap) return;
    g->group[e->id] = g->serial;
    g->inside[g->n_inside++] = e;
}

static int by_place(const void *a, const void *b, void *ctx) {
    const struct merge *g = ctx;
    const struct nnv_relay_expr *const *x = a, *const *y = b;
    return (g->place[(*x)->id] > g->place[(*y)->id]) - (g->place[(*x)->id] < g->place[(*y)->id]);
}

/* The values that p and its parts stand for, but leaves. */
static void collect_inside(struct merge *g, const struct nnv_pattern *p) {
    if (g->seen[p->number]) return;
    g->seen[p->number] = true;
    for (size_t i = 0; i < p->n_parts; i++) collect_inside(g, p->parts[i]);
    struct nnv_relay_expr *e = g->match->bound[p->number];
    if (e && (p->kind == NNV_PATTERN_OP || p->kind == NNV_PATTERN_TUPLE || p->kind == NNV_PATTERN_GET))
        add_inside(g, e);
    if (e && p->kind == NNV_PATTERN_CONST) g->embedded[e->id] = g->serial;
}

/* ------------------------------------------------------------------- parameters */

static void add_outside(struct merge *g, struct nnv_relay_expr *e) {
    if (in_group(g, e) || e->kind == NNV_RELAY_OP || e->kind == NNV_RELAY_FUNCTION) return;
    for (size_t i = 0; i < g->n_outside; i++)
        if (g->outside[i] == e) return;
    if (g->n_outside < g->cap) g->outside[g->n_outside++] = e;
}

/* Leaves in the order of the pattern. Constants that a pattern asks for are no parameters. */
static void collect_outside(struct merge *g, const struct nnv_pattern *p) {
    if (g->seen[p->number]) return;
    g->seen[p->number] = true;
    for (size_t i = 0; i < p->n_parts; i++) collect_outside(g, p->parts[i]);
    struct nnv_relay_expr *e = g->match->bound[p->number];
    if (!e) return;
    if (p->kind == NNV_PATTERN_ANY || p->kind == NNV_PATTERN_VAR) add_outside(g, e);
    for (size_t i = 0; p->any_parts && i < e->n_args; i++) add_outside(g, e->args[i]);
}

static void find_parameters(struct merge *g) {
    memset(g->seen, 0, g->entry->n_patterns * sizeof *g->seen);
    g->n_outside = 0;
    collect_outside(g, g->entry->root);
    /* operands of what stands on a dominator's paths */
    for (size_t i = 0; i < g->n_inside && g->match->n_path; i++)
        for (size_t k = 0; k < g->inside[i]->n_args; k++)
            if (g->embedded[g->inside[i]->args[k]->id] != g->serial) add_outside(g, g->inside[i]->args[k]);
}

/* -------------------------------------------------------------------- the group */

/* Whether the values of the match are its own: of one scope, of no other match, used by nothing else. */
static bool is_whole(const struct merge *g, const struct nnv_relay_expr *root) {
    for (size_t i = 0; i < g->n_inside; i++) {
        const struct nnv_relay_expr *e = g->inside[i];
        if (g->taken[e->id] || g->scoped.of[e->id] != g->scoped.of[root->id]) return false;
        struct nnv_relay_expr **users;
        size_t n = e == root ? 0 : nnv_relay_users(&g->scoped.uses, e, &users);
        for (size_t k = 0; k < n; k++)
            if (!in_group(g, users[k])) return false;
    }
    return true;
}

/* "nn.conv2d_add_" */
static const char *pattern_text(struct merge *g) {
    struct nnv_text t = {0};
    for (size_t i = 0; i < g->n_inside; i++) {
        const struct nnv_relay_expr *e = g->inside[i];
        if (e->kind == NNV_RELAY_GET)
            nnv_text_addf(&t, "TupleGetItem%lld_", (long long)e->index);
        else
            nnv_text_addf(&t, "%s_", e->kind == NNV_RELAY_TUPLE ? "Tuple" : nnv_relay_op_name(e));
    }
    const char *name = t.failed ? NULL : nnv_relay_intern(g->m, t.data ? t.data : "", t.len);
    nnv_text_free(&t);
    return name;
}

static const struct nnv_relay_type *type_of(const struct nnv_relay_expr *e) { return e->type ? e->type : e->declared; }

/* Replaces the operands of e that are parameters. */
static void pass_parameters(const struct merge *g, struct nnv_relay_expr *e, struct nnv_relay_expr *const *params) {
    for (size_t i = 0; i < e->n_args; i++)
        for (size_t k = 0; k < g->n_outside; k++)
            if (e->args[i] == g->outside[k]) {
                e->args[i] = params[k];
                break;
            }
}

/* Makes root the call of a composite. False when out of memory. */
static bool build(struct merge *g, struct nnv_relay_expr *root) {
    struct nnv_relay_expr **params = NNV_NEW(g->arena, struct nnv_relay_expr *, g->n_outside);
    const char *name = nnv_relay_intern(g->m, g->entry->name, strlen(g->entry->name)), *from = pattern_text(g);
    struct nnv_relay_expr *body = nnv_relay_with(g->m, root, root->callee, root->args);
    if (!params || !name || !from || !body) return false;
    body->bound = NULL;
    for (size_t i = 0; i < g->n_outside; i++) {
        char text[32];
        snprintf(text, sizeof text, "p%zu", i);
        if (!(params[i] = nnv_relay_var(g->m, text, type_of(g->outside[i])))) return false;
        params[i]->type = g->outside[i]->type;
    }
    for (size_t i = 0; i < g->n_inside; i++) pass_parameters(g, g->inside[i] == root ? body : g->inside[i], params);
    struct nnv_relay_attr attrs[] = {
        {"Composite", {.kind = NNV_RELAY_STRING, .text = name}},
        {"PartitionedFromPattern", {.kind = NNV_RELAY_STRING, .text = from}},
    };
    struct nnv_relay_expr *fn = nnv_relay_fn(g->m, g->n_outside, params, type_of(root), body, 2, attrs);
    struct nnv_relay_expr *call = nnv_relay_call(g->m, fn, g->n_outside, g->outside, 0, NULL);
    if (!call) return false;
    nnv_composite_replace(root, call);
    g->merged++;
    return true;
}

/* Tries root. False: the error is set. */
static enum nnv_status try_root(struct merge *g, struct nnv_relay_expr *root, struct nnv_err *err) {
    if (!nnv_match_at(g->entry, root, g->match)) {
        if (!g->match->exhausted) return NNV_OK;
        return nnv_fail(err, NNV_INVALID, "%s: too many ways to match; remove alternatives", g->entry->name);
    }
    g->serial++;
    g->n_inside = 0;
    memset(g->seen, 0, g->entry->n_patterns * sizeof *g->seen);
    collect_inside(g, g->entry->root);
    for (size_t i = 0; i < g->match->n_path; i++) {
        enum nnv_relay_kind kind = g->match->path[i]->kind;
        if (nnv_relay_op_name(g->match->path[i]) || kind == NNV_RELAY_TUPLE || kind == NNV_RELAY_GET)
            add_inside(g, g->match->path[i]);
    }
    if (!in_group(g, root) || !is_whole(g, root)) return NNV_OK;
    qsort_r(g->inside, g->n_inside, sizeof *g->inside, by_place, g);
    for (size_t i = 0; i < g->n_inside; i++) g->taken[g->inside[i]->id] = true;
    if (!nnv_match_checks(g->entry, g->match)) return NNV_OK;
    find_parameters(g);
    return build(g, root) ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status merge_entry(struct merge *g, struct nnv_relay_expr *function, struct nnv_err *err) {
    enum nnv_status s = nnv_scope_find(g->m, function, g->arena, &g->scoped, err);
    if (s != NNV_OK) return s;
    const struct nnv_relay_list *list = &g->scoped.list;
    size_t widest = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->exprs[i]->n_args > widest) widest = list->exprs[i]->n_args;
    g->cap = (g->entry->n_patterns + 4096) * 2 + widest;
    g->match = nnv_match_new(g->entry, g->arena);
    g->place = NNV_NEW(g->arena, uint32_t, g->scoped.n_ids);
    g->group = NNV_NEW(g->arena, uint32_t, g->scoped.n_ids);
    g->embedded = NNV_NEW(g->arena, uint32_t, g->scoped.n_ids);
    g->taken = NNV_NEW(g->arena, bool, g->scoped.n_ids);
    g->seen = NNV_NEW(g->arena, bool, g->entry->n_patterns);
    g->inside = NNV_NEW(g->arena, struct nnv_relay_expr *, g->cap);
    g->outside = NNV_NEW(g->arena, struct nnv_relay_expr *, g->cap);
    if (!g->match || !g->place || !g->group || !g->embedded || !g->taken || !g->seen || !g->inside || !g->outside)
        return nnv_no_memory(err);
    for (size_t i = 0; i < list->n; i++) g->place[list->exprs[i]->id] = (uint32_t)i + 1;
    for (size_t i = list->n; s == NNV_OK && i-- > 0;)
        if (!g->taken[list->exprs[i]->id]) s = try_root(g, list->exprs[i], err);
    return s;
}

enum nnv_status nnv_merge_composite(struct nnv_relay_module *m, const struct nnv_pattern_table *table,
                                    struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return nnv_no_memory(err);
    enum nnv_status s = NNV_OK;
    for (size_t f = 0; s == NNV_OK && f < m->n_functions; f++) {
        struct nnv_relay_expr *function = m->functions[f].expr;
        if (function->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(function)) continue;
        s = nnv_graph_form(m, function, err);
        for (size_t i = 0; s == NNV_OK && i < table->n; i++) {
            nnv_arena_reset(arena);
            struct merge g = {.m = m, .arena = arena, .entry = &table->entries[i]};
            s = merge_entry(&g, function, err);
        }
    }
    nnv_arena_free(arena);
    return s;
}

bool nnv_composite_dissolve(struct nnv_relay_expr *call, struct nnv_arena *scratch) {
    struct nnv_relay_expr *function = call->callee, *body = function->args[0], keep = *call;
    struct nnv_relay_list list;
    if (nnv_relay_post_order(body, NULL, NULL, scratch, &list) != NNV_OK) return false;
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; k < list.exprs[i]->n_args; k++)
            for (size_t p = 0; p < function->n_params; p++)
                if (list.exprs[i]->args[k] == function->params[p]) list.exprs[i]->args[k] = keep.args[p];
    *call = *body;
    call->id = keep.id;
    call->bound = keep.bound;
    call->span = keep.span;
    call->type = keep.type;
    return true;
}
