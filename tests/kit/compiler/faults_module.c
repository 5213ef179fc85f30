/* SPDX-License-Identifier: Apache-2.0 */
/** @file faults_module.c Faults of the compiler in programs, tables and divided modules. */
#include <string.h>

#include "tests/kit/compiler/faults.h"

/* Walks a function with its regions and composites. */
static bool walk(struct nnv_relay_expr *function, struct nnv_arena *arena, struct nnv_relay_list *list) {
    return arena && nnv_relay_post_order(function, NULL, NULL, arena, list) == NNV_OK;
}

/* ------------------------------------------------------------------------- programs */

/* A value that is used twice is computed twice, so nothing of a match is used outside. */
void fault_copies(struct nnv_relay_module *m) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_relay_list list;
    uint32_t n = m->n_exprs;
    bool *used = arena ? NNV_NEW(arena, bool, n) : NULL;
    for (size_t f = 0; used && f < m->n_functions; f++) {
        if (!walk(m->functions[f].expr, arena, &list)) continue;
        for (size_t i = 0; i < list.n; i++)
            for (size_t k = 0; k < list.exprs[i]->n_args; k++) {
                struct nnv_relay_expr *v = list.exprs[i]->args[k];
                if (!nnv_relay_op_name(v)) continue;
                if (v->id < n && !used[v->id]) {
                    used[v->id] = true;
                    continue;
                }
                struct nnv_relay_expr *copy = nnv_relay_with(m, v, v->callee, v->args);
                if (copy) list.exprs[i]->args[k] = copy;
            }
    }
    nnv_arena_free(arena);
}

/* Where an expression is written is forgotten: it sinks into the branch that uses it. */
void fault_no_places(struct nnv_relay_module *m) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_relay_list list;
    for (size_t f = 0; f < m->n_functions; f++)
        for (size_t i = 0; walk(m->functions[f].expr, arena, &list) && i < list.n; i++)
            list.exprs[i]->span = (struct nnv_relay_span){0, 0, 0};
    nnv_arena_free(arena);
}

/* --------------------------------------------------------------------------- tables */

void fault_reversed(struct nnv_pattern_table *t, struct nnv_arena *arena) {
    (void)arena;
    for (size_t i = 0; i < t->n / 2; i++) {
        struct nnv_pattern_entry e = t->entries[i];
        t->entries[i] = t->entries[t->n - 1 - i];
        t->entries[t->n - 1 - i] = e;
    }
}

typedef void change_fn(struct nnv_pattern_entry *e, struct nnv_pattern *p, struct nnv_arena *arena);

enum { DEEPEST = 64 };

static void change_below(struct nnv_pattern_entry *e, const struct nnv_pattern *p, change_fn *fn,
                         struct nnv_arena *arena, int depth) {
    struct nnv_pattern *open = (struct nnv_pattern *)(uintptr_t)p; /* of the table's arena, which is ours */
    for (size_t i = 0; i < p->n_parts && depth < DEEPEST; i++) change_below(e, p->parts[i], fn, arena, depth + 1);
    fn(e, open, arena);
}

static void change_all(struct nnv_pattern_table *t, change_fn *fn, struct nnv_arena *arena) {
    for (size_t i = 0; i < t->n; i++) change_below(&t->entries[i], t->entries[i].root, fn, arena, 0);
}

static void turn_alternatives(struct nnv_pattern_entry *e, struct nnv_pattern *p, struct nnv_arena *arena) {
    (void)e;
    (void)arena;
    for (size_t i = 0; p->kind == NNV_PATTERN_ALT && i < p->n_parts / 2; i++) {
        const struct nnv_pattern *part = p->parts[i];
        p->parts[i] = p->parts[p->n_parts - 1 - i];
        p->parts[p->n_parts - 1 - i] = part;
    }
}

/* Each place where a wildcard stands is a wildcard of its own. */
static void part_wildcards(struct nnv_pattern_entry *e, struct nnv_pattern *p, struct nnv_arena *arena) {
    for (size_t i = 0; i < p->n_parts; i++) {
        struct nnv_pattern *own = NNV_NEW(arena, struct nnv_pattern, 1);
        if (!own || p->parts[i]->kind != NNV_PATTERN_ANY) continue;
        *own = *p->parts[i];
        own->number = e->n_patterns++;
        own->id = 0;
        p->parts[i] = own;
    }
}

static void drop_attrs(struct nnv_pattern_entry *e, struct nnv_pattern *p, struct nnv_arena *arena) {
    (void)e;
    (void)arena;
    p->n_attrs = 0;
}

static void drop_constants(struct nnv_pattern_entry *e, struct nnv_pattern *p, struct nnv_arena *arena) {
    (void)e;
    (void)arena;
    if (p->kind == NNV_PATTERN_CONST) p->kind = NNV_PATTERN_ANY;
}

void fault_alternatives(struct nnv_pattern_table *t, struct nnv_arena *arena) {
    change_all(t, turn_alternatives, arena);
}
void fault_no_identity(struct nnv_pattern_table *t, struct nnv_arena *arena) { change_all(t, part_wildcards, arena); }
void fault_no_attrs(struct nnv_pattern_table *t, struct nnv_arena *arena) { change_all(t, drop_attrs, arena); }
void fault_any_constant(struct nnv_pattern_table *t, struct nnv_arena *arena) { change_all(t, drop_constants, arena); }
void fault_no_checks(struct nnv_pattern_table *t, struct nnv_arena *arena) {
    (void)arena;
    for (size_t i = 0; i < t->n; i++) t->entries[i].n_checks = 0;
}

/* An entry with several checks becomes one entry for each of them. */
void fault_any_check(struct nnv_pattern_table *t, struct nnv_arena *arena) {
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) n += t->entries[i].n_checks > 1 ? t->entries[i].n_checks : 1;
    struct nnv_pattern_entry *made = NNV_NEW(arena, struct nnv_pattern_entry, n);
    if (!made) return;
    n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct nnv_pattern_entry *e = &t->entries[i];
        made[n++] = *e;
        for (size_t k = 0; e->n_checks > 1 && k < e->n_checks; k++) {
            made[n - 1] = *e;
            made[n - 1].checks = &e->checks[k];
            made[n - 1].n_checks = 1;
            n += k + 1 < e->n_checks;
        }
    }
    t->entries = made;
    t->n = n;
}

/* ----------------------------------------------------------------------- annotators */

bool fault_last_target(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call) {
    for (size_t later = target + 1; later < real->n_targets; later++)
        if (real->accepts(real->ctx, later, call)) return false;
    return real->accepts(real->ctx, target, call);
}

bool fault_defaults(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call) {
    struct nnv_relay_expr bare = *call;
    bare.n_attrs = 0;
    return real->accepts(real->ctx, target, &bare);
}

/* -------------------------------------------------------------------------- modules */

/* The first two regions of one target that are not neighbours in the list are said to be one. */
void fault_cycle(struct nnv_relay_module *m, struct nnv_partition *p) {
    for (size_t a = 0; a < p->n_extracted; a++)
        for (size_t b = a + 1; b < p->n_extracted; b++) {
            struct nnv_extracted *x = &p->extracted[a], *y = &p->extracted[b];
            size_t n = x->n_ops + y->n_ops;
            const char **ops = NNV_NEW(m->arena, const char *, n), **nodes = NNV_NEW(m->arena, const char *, n);
            if (strcmp(x->target, y->target) != 0 || !ops || !nodes) continue;
            for (size_t i = 0; i < n; i++) {
                ops[i] = i < x->n_ops ? x->ops[i] : y->ops[i - x->n_ops];
                nodes[i] = i < x->n_ops ? x->nodes[i] : y->nodes[i - x->n_ops];
            }
            x->ops = ops;
            x->nodes = nodes;
            x->n_ops = n;
            memmove(y, y + 1, (p->n_extracted - b - 1) * sizeof *y);
            p->n_extracted--;
            return;
        }
}

/* Each operation is a region of its own. */
void fault_singles(struct nnv_relay_module *m, struct nnv_partition *p) {
    size_t n = 0, at = 0;
    for (size_t i = 0; i < p->n_extracted; i++) n += p->extracted[i].n_ops;
    struct nnv_extracted *cuts = NNV_NEW(m->arena, struct nnv_extracted, n);
    for (size_t i = 0; cuts && i < p->n_extracted; i++)
        for (size_t k = 0; k < p->extracted[i].n_ops; k++, at++) {
            cuts[at] = p->extracted[i];
            cuts[at].ops = p->extracted[i].ops + k;
            cuts[at].nodes = p->extracted[i].nodes + k;
            cuts[at].n_ops = 1;
        }
    if (!cuts) return;
    p->extracted = cuts;
    p->n_extracted = n;
}

/** A region's function and the call of it. */
struct place {
    struct nnv_relay_expr *function, *call;
    struct nnv_extracted *cut;
};

static bool find_region(struct nnv_relay_module *m, struct nnv_partition *p, size_t number, struct place *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_relay_list list;
    *out = (struct place){.function = nnv_relay_find(m, p->extracted[number].function), .cut = &p->extracted[number]};
    for (size_t f = 0; f < m->n_functions && !out->call; f++)
        for (size_t i = 0; walk(m->functions[f].expr, arena, &list) && i < list.n && !out->call; i++) {
            struct nnv_relay_expr *e = list.exprs[i];
            if (e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_GLOBAL &&
                !strcmp(e->callee->name, out->cut->function))
                out->call = e;
        }
    nnv_arena_free(arena);
    return out->function && out->call;
}

/* Adds a parameter for arg to the region; NULL when out of memory. */
static struct nnv_relay_expr *add_parameter(struct nnv_relay_module *m, struct place *r, struct nnv_relay_expr *arg) {
    size_t n = r->function->n_params;
    const struct nnv_relay_type *type = arg->type ? arg->type : arg->declared ? arg->declared : NULL;
    if (!type && arg->kind == NNV_RELAY_CONSTANT) type = arg->tensor->type;
    struct nnv_relay_expr *param = nnv_relay_var(m, "planted", type);
    struct nnv_relay_expr **params = NNV_NEW(m->arena, struct nnv_relay_expr *, n + 1);
    struct nnv_relay_expr **args = NNV_NEW(m->arena, struct nnv_relay_expr *, n + 1);
    if (!param || !params || !args || r->call->n_args != n) return NULL;
    for (size_t i = 0; i < n; i++) {
        params[i] = r->function->params[i];
        args[i] = r->call->args[i];
    }
    params[n] = param;
    args[n] = arg;
    param->type = type;
    r->function->params = params;
    r->call->args = args;
    r->function->n_params = r->call->n_args = n + 1;
    r->cut->params++;
    return param;
}

void fault_unbound(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct nnv_relay_list list;
    struct place r;
    for (size_t k = 0; k < p->n_extracted; k++) {
        struct nnv_arena *arena = nnv_arena_new();
        bool found = find_region(m, p, k, &r) && walk(r.function, arena, &list);
        for (size_t i = 0; found && i < list.n; i++)
            for (size_t a = 0; a < list.exprs[i]->n_args; a++) {
                struct nnv_relay_expr *v = list.exprs[i]->args[a];
                if (v->kind != NNV_RELAY_CONSTANT || v->id >= m->n_exprs) continue;
                struct nnv_relay_expr *param = add_parameter(m, &r, v);
                if (param) list.exprs[i]->args[a] = param;
            }
        nnv_arena_free(arena);
    }
}

/* The first operand is passed again for each later use. */
void fault_twice(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct place r;
    for (size_t k = 0; k < p->n_extracted; k++)
        if (find_region(m, p, k, &r) && r.call->n_args) (void)add_parameter(m, &r, r.call->args[0]);
}

/* The last output of a region is lost: its users get the first one. */
void fault_dropped(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct nnv_relay_list list;
    struct place r;
    for (size_t k = 0; k < p->n_extracted; k++) {
        struct nnv_arena *arena = nnv_arena_new();
        if (find_region(m, p, k, &r) && p->extracted[k].outputs > 1) {
            p->extracted[k].outputs--;
            for (size_t f = 0; f < m->n_functions; f++)
                for (size_t i = 0; walk(m->functions[f].expr, arena, &list) && i < list.n; i++)
                    if (list.exprs[i]->kind == NNV_RELAY_GET && list.exprs[i]->args[0] == r.call &&
                        list.exprs[i]->index == (int64_t)p->extracted[k].outputs)
                        list.exprs[i]->index = 0;
        }
        nnv_arena_free(arena);
    }
}

void fault_swapped(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct place r;
    for (size_t k = 0; k < p->n_extracted; k++) {
        if (!find_region(m, p, k, &r)) continue;
        struct nnv_relay_expr *result = r.function->args[0];
        if (result->kind != NNV_RELAY_TUPLE || result->n_args < 2) continue;
        struct nnv_relay_expr *first = result->args[0];
        result->args[0] = result->args[1];
        result->args[1] = first;
    }
}

void fault_arguments(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct place r;
    for (size_t k = 0; k < p->n_extracted; k++) {
        if (!find_region(m, p, k, &r) || r.call->n_args < 2) continue;
        struct nnv_relay_expr *first = r.call->args[0];
        r.call->args[0] = r.call->args[1];
        r.call->args[1] = first;
    }
}

/* An axis that is written is lost. */
void fault_axis(struct nnv_relay_module *m, struct nnv_partition *p) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_relay_list list;
    (void)p;
    for (size_t f = 0; f < m->n_functions; f++)
        for (size_t i = 0; nnv_relay_fn_attr(m->functions[f].expr, "Compiler") &&
                           walk(m->functions[f].expr, arena, &list) && i < list.n;
             i++)
            if (list.exprs[i]->n_attrs && !strcmp(list.exprs[i]->attrs[0].key, "axis")) list.exprs[i]->n_attrs = 0;
    nnv_arena_free(arena);
}

/* ------------------------------------------------------------------------- classes */

/* A copy begins one element before the first that it is to take. */
void fault_offset(struct nnv_program *p) {
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t k = 0; k < p->steps[i].moves.n; k++) {
            struct nnv_program_move *move = &p->steps[i].moves.move[k];
            if (move->from > 0) move->from--;
        }
}

/* All copies of a step take from its first operand. */
void fault_source(struct nnv_program *p) {
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t k = 0; k < p->steps[i].moves.n; k++) p->steps[i].moves.move[k].source = 0;
}
