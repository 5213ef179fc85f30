/* SPDX-License-Identifier: Apache-2.0 */
/* Extracting regions: each becomes a function of its own, and what used its values uses the call. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/byoc/partition.h"

enum { MOST_NESTING = 256 };

static const struct nnv_relay_type *type_of(const struct nnv_relay_expr *e) { return e->type ? e->type : e->declared; }

/** One region on its way to become a function. */
struct extraction {
    struct nnv_extractor *c;
    const struct nnv_region *region;
    uint32_t number; /**< of the region + 1 */
    const char *target;
    struct nnv_relay_expr **params, **args; /**< in the order of their first use */
    size_t n_params, cap;
    bool too_deep;
};

static uint32_t region_of(const struct nnv_extractor *c, const struct nnv_relay_expr *e) {
    return e->id < c->regions.n_ids ? c->regions.of[e->id] : 0;
}

/* ----------------------------------------------------------------------- outputs */

/* Marks what of e, used by user (NULL: by what is on the host), comes from another region. */
static bool mark_outputs(struct nnv_extractor *c, uint32_t user, struct nnv_relay_expr *e, int nesting) {
    if (e->kind == NNV_RELAY_TUPLE) {
        if (nesting == MOST_NESTING) return false;
        for (size_t i = 0; i < e->n_args; i++)
            if (!mark_outputs(c, user, e->args[i], nesting + 1)) return false;
        return true;
    }
    struct nnv_relay_expr *value = e;
    while (e->kind == NNV_RELAY_GET) {
        value = e;
        e = e->args[0];
    }
    uint32_t region = region_of(c, e);
    if (!region || region == user || c->is_output[value->id]) return true;
    c->is_output[value->id] = true;
    c->outputs[c->n_outputs++] = value;
    return true;
}

static bool mark_uses(struct nnv_extractor *c, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_TUPLE || e->kind == NNV_RELAY_GET || nnv_scope_closed(e)) return true;
    uint32_t user = region_of(c, e);
    for (size_t i = 0; i < e->n_args; i++)
        if (!mark_outputs(c, user, e->args[i], 0)) return false;
    return !e->callee || e->callee->kind == NNV_RELAY_FUNCTION || mark_outputs(c, user, e->callee, 0);
}

/* ------------------------------------------------------------------ the function */

static struct nnv_relay_expr *remember(struct extraction *x, const struct nnv_relay_expr *e,
                                       struct nnv_relay_expr *inside) {
    if (e->id < x->c->regions.n_ids) {
        x->c->inside[e->id] = inside;
        x->c->inside_of[e->id] = x->number;
    }
    return inside;
}

/* A new parameter for e. */
static struct nnv_relay_expr *pass(struct extraction *x, struct nnv_relay_expr *e) {
    if (x->n_params == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 8;
        struct nnv_relay_expr **params = NNV_NEW(x->c->arena, struct nnv_relay_expr *, cap);
        struct nnv_relay_expr **args = NNV_NEW(x->c->arena, struct nnv_relay_expr *, cap);
        if (!params || !args) return NULL;
        for (size_t i = 0; i < x->n_params; i++) {
            params[i] = x->params[i];
            args[i] = x->args[i];
        }
        x->params = params;
        x->args = args;
        x->cap = cap;
    }
    char *name = nnv_arena_printf(x->c->arena, "%s_%zu_i%zu", x->target, x->c->made, x->n_params);
    struct nnv_relay_expr *param = name ? nnv_relay_var(x->c->m, name, type_of(e)) : NULL;
    if (!param) return NULL;
    param->type = e->type;
    x->args[x->n_params] = e;
    x->params[x->n_params++] = param;
    return remember(x, e, param);
}

static struct nnv_relay_expr *typed(struct nnv_relay_expr *e, const struct nnv_relay_type *type) {
    if (e) e->type = type;
    return e;
}

static struct nnv_relay_expr *projection(struct nnv_relay_module *m, struct nnv_relay_expr *tuple, size_t index) {
    const struct nnv_relay_type *t = type_of(tuple);
    bool known = t && t->kind == NNV_RELAY_TUPLE_TYPE && index < t->n_fields;
    return typed(nnv_relay_get(m, tuple, (int64_t)index), known ? t->fields[index] : NULL);
}

/* The projection of tuple that the function already has, or NULL. */
static struct nnv_relay_expr *find_projection(const struct nnv_extractor *c, const struct nnv_relay_expr *tuple,
                                              int64_t index) {
    if (tuple->id >= c->regions.n_ids) return NULL;
    for (uint32_t at = c->first_get[tuple->id]; at;) {
        struct nnv_relay_expr *get = c->scoped.list.exprs[at - 1];
        if (get->index == index) return get;
        at = c->next_get[get->id];
    }
    return NULL;
}

/* A tuple from outside, field by field. */
static struct nnv_relay_expr *pass_fields(struct extraction *x, struct nnv_relay_expr *e, size_t n, int nesting) {
    struct nnv_relay_expr **fields = NNV_NEW(x->c->arena, struct nnv_relay_expr *, n);
    x->too_deep |= nesting == MOST_NESTING;
    for (size_t i = 0; fields && i < n; i++) {
        struct nnv_relay_expr *field = find_projection(x->c, e, (int64_t)i);
        if (!field) field = projection(x->c->m, e, i);
        if (!field || x->too_deep) return NULL;
        const struct nnv_relay_type *t = type_of(field);
        bool passed = field->id < x->c->regions.n_ids && x->c->inside_of[field->id] == x->number;
        bool tuple = t && t->kind == NNV_RELAY_TUPLE_TYPE;
        fields[i] = passed  ? x->c->inside[field->id]
                    : tuple ? pass_fields(x, field, t->n_fields, nesting + 1)
                            : pass(x, field);
        if (!fields[i]) return NULL;
    }
    struct nnv_relay_expr *tuple = fields ? nnv_relay_tuple(x->c->m, n, fields) : NULL;
    return tuple ? remember(x, e, typed(tuple, type_of(e))) : NULL;
}

/* What stands in the function for e. NULL: out of memory, or too_deep. */
static struct nnv_relay_expr *inside(struct extraction *x, struct nnv_relay_expr *e, int nesting) {
    struct nnv_extractor *c = x->c;
    if (c->inside_of[e->id] == x->number) return c->inside[e->id];
    if (e->kind == NNV_RELAY_CONSTANT) return e;
    if (e->kind == NNV_RELAY_TUPLE) {
        struct nnv_relay_expr **fields = NNV_NEW(c->arena, struct nnv_relay_expr *, e->n_args);
        x->too_deep |= nesting == MOST_NESTING;
        for (size_t i = 0; fields && i < e->n_args; i++)
            if (x->too_deep || !(fields[i] = inside(x, e->args[i], nesting + 1))) return NULL;
        struct nnv_relay_expr *tuple = fields ? nnv_relay_with(c->m, e, NULL, fields) : NULL;
        return tuple ? remember(x, e, tuple) : NULL;
    }
    if (e->kind == NNV_RELAY_GET && region_of(c, e->args[0]) == x->number) {
        struct nnv_relay_expr *tuple = c->inside[e->args[0]->id], *get = nnv_relay_with(c->m, e, NULL, &tuple);
        return get ? remember(x, e, get) : NULL;
    }
    const struct nnv_relay_type *t = type_of(e);
    return t && t->kind == NNV_RELAY_TUPLE_TYPE ? pass_fields(x, e, t->n_fields, nesting) : pass(x, e);
}

/* The operations, in evaluation order, each a copy: their old selves become what stands for them outside. */
static bool copy_operations(struct extraction *x) {
    for (size_t i = 0; i < x->region->n_ops; i++) {
        struct nnv_relay_expr *op = x->region->ops[i];
        struct nnv_relay_expr **args = NNV_NEW(x->c->arena, struct nnv_relay_expr *, op->n_args);
        for (size_t k = 0; args && k < op->n_args; k++)
            if (!(args[k] = inside(x, op->args[k], 0))) return false;
        struct nnv_relay_expr *copy = args ? nnv_relay_with(x->c->m, op, op->callee, args) : NULL;
        if (!copy) return false;
        remember(x, op, copy);
    }
    return true;
}

static struct nnv_relay_expr *define(struct extraction *x, const char *name, struct nnv_relay_expr *body) {
    struct nnv_relay_module *m = x->c->m;
    const char *target = nnv_relay_intern(m, x->target, strlen(x->target));
    struct nnv_relay_attr attrs[] = {
        {"Primitive", {.kind = NNV_RELAY_INT, .i = 1}},
        {"Inline", {.kind = NNV_RELAY_INT, .i = 1}},
        {"Compiler", {.kind = NNV_RELAY_STRING, .text = target}},
        {"global_symbol", {.kind = NNV_RELAY_STRING, .text = name}},
    };
    struct nnv_relay_expr *fn = nnv_relay_fn(m, x->n_params, x->params, type_of(body), body, 4, attrs);
    if (!fn || !target || !nnv_relay_define(m, name, fn)) return NULL;
    struct nnv_relay_expr *global = nnv_relay_global(m, name);
    return typed(nnv_relay_call(m, global, x->n_params, x->args, 0, NULL), type_of(body));
}

/* The values that leave the region, in evaluation order of the operations that make them. */
struct outputs {
    struct nnv_relay_expr **values;
    size_t n, n_leaves; /**< n_leaves: with tuples flattened */
};

static bool is_tuple(const struct nnv_relay_expr *e) {
    const struct nnv_relay_type *t = type_of(e);
    return t && t->kind == NNV_RELAY_TUPLE_TYPE;
}

static size_t width(const struct nnv_relay_expr *e) { return is_tuple(e) ? type_of(e)->n_fields : 1; }

static struct nnv_relay_expr *build_result(struct extraction *x, const struct outputs *out) {
    struct nnv_relay_module *m = x->c->m;
    if (out->n == 1) return inside(x, out->values[0], 0);
    struct nnv_relay_expr **fields = NNV_NEW(x->c->arena, struct nnv_relay_expr *, out->n_leaves);
    const struct nnv_relay_type **types = NNV_NEW(x->c->arena, const struct nnv_relay_type *, out->n_leaves);
    size_t at = 0;
    bool all_known = fields && types;
    for (size_t i = 0; fields && types && i < out->n; i++) {
        struct nnv_relay_expr *value = inside(x, out->values[i], 0);
        if (!value) return NULL;
        for (size_t k = 0; k < width(out->values[i]); k++, at++) {
            fields[at] = is_tuple(out->values[i]) ? projection(m, value, k) : value;
            if (!fields[at]) return NULL;
            types[at] = type_of(fields[at]);
            all_known &= types[at] != NULL;
        }
    }
    struct nnv_relay_expr *tuple = fields && types ? nnv_relay_tuple(m, out->n_leaves, fields) : NULL;
    return typed(tuple, all_known ? nnv_relay_tuple_type(m->arena, out->n_leaves, types) : NULL);
}

/* What stands for the values outside: the call, or fields of it. */
static bool replace_values(struct extraction *x, const struct outputs *out, struct nnv_relay_expr *call) {
    struct nnv_relay_module *m = x->c->m;
    if (out->n == 1) call->bound = out->values[0]->bound;
    size_t at = 0;
    for (size_t i = 0; i < out->n; i++) {
        struct nnv_relay_expr *value = out->values[i], *instead = call;
        call->span = value->span;
        if (out->n > 1 && !is_tuple(value)) instead = projection(m, call, at++);
        if (out->n > 1 && is_tuple(value)) {
            struct nnv_relay_expr **fields = NNV_NEW(x->c->arena, struct nnv_relay_expr *, width(value));
            for (size_t k = 0; fields && k < width(value); k++) fields[k] = projection(m, call, at++);
            instead = fields ? typed(nnv_relay_tuple(m, width(value), fields), type_of(value)) : NULL;
        }
        if (!instead) return false;
        if (out->n > 1) instead->span = value->span;
        x->c->instead[value->id] = instead;
    }
    return true;
}

static enum nnv_status extract(struct nnv_extractor *c, uint32_t r, const struct outputs *out, const char *target,
                               const char *name, struct nnv_extracted *result, struct nnv_err *err) {
    struct extraction x = {.c = c, .region = &c->regions.regions[r], .number = r + 1, .target = target};
    struct nnv_relay_expr *body = copy_operations(&x) ? build_result(&x, out) : NULL;
    if (x.too_deep) return nnv_fail(err, NNV_UNSUPPORTED, "tuples nest deeper than %d", MOST_NESTING);
    struct nnv_relay_expr *call = body ? define(&x, name, body) : NULL;
    if (!call || !replace_values(&x, out, call)) return nnv_no_memory(err);
    c->calls[c->n_calls++] = call;
    result->params = x.n_params;
    result->outputs = out->n_leaves;
    return NNV_OK;
}

/* ------------------------------------------------------------------ all of them */

static bool make_tables(struct nnv_extractor *c) {
    size_t n = c->regions.n_ids;
    const struct nnv_relay_list *list = &c->scoped.list;
    c->place = NNV_NEW(c->arena, uint32_t, n);
    c->is_output = NNV_NEW(c->arena, bool, n);
    c->outputs = NNV_NEW(c->arena, struct nnv_relay_expr *, list->n);
    c->inside = NNV_NEW(c->arena, struct nnv_relay_expr *, n);
    c->inside_of = NNV_NEW(c->arena, uint32_t, n);
    c->instead = NNV_NEW(c->arena, struct nnv_relay_expr *, n);
    c->calls = NNV_NEW(c->arena, struct nnv_relay_expr *, c->regions.n);
    c->first_get = NNV_NEW(c->arena, uint32_t, n);
    c->next_get = NNV_NEW(c->arena, uint32_t, n);
    if (!c->place || !c->is_output || !c->outputs || !c->inside || !c->inside_of || !c->instead || !c->calls ||
        !c->first_get || !c->next_get)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        const struct nnv_relay_expr *e = list->exprs[i];
        c->place[e->id] = (uint32_t)i + 1;
        if (e->kind != NNV_RELAY_GET) continue;
        c->next_get[e->id] = c->first_get[e->args[0]->id];
        c->first_get[e->args[0]->id] = (uint32_t)i + 1;
    }
    return true;
}

/* A name for the next region's function that none has; NULL when out of memory. */
static const char *region_name(struct nnv_extractor *c, const char *target, const char *function) {
    for (;; c->made++) {
        char *name = nnv_arena_printf(c->m->arena, "tvmgen_default_%s_%s_%zu", target, function, c->made);
        if (!name) return NULL;
        for (char *p = name; *p; p++)
            if (!isalnum((unsigned char)*p)) *p = '_';
        if (!nnv_relay_find(c->m, name)) return name;
    }
}

/* The operation that makes a value: the value, or what it is a projection of. */
static const struct nnv_relay_expr *value_base(const struct nnv_relay_expr *value) {
    return value->kind == NNV_RELAY_GET ? value->args[0] : value;
}

/* Sorts the outputs by region; first[r] is where those of region r begin. */
static struct nnv_relay_expr **by_region(struct nnv_extractor *c, size_t **first) {
    size_t n = c->regions.n, *at = NNV_NEW(c->arena, size_t, n + 2);
    struct nnv_relay_expr **sorted = NNV_NEW(c->arena, struct nnv_relay_expr *, c->n_outputs);
    if (!at || !sorted) return NULL;
    for (size_t i = 0; i < c->n_outputs; i++) at[region_of(c, value_base(c->outputs[i])) + 1]++;
    for (size_t r = 1; r < n + 2; r++) at[r] += at[r - 1];
    /* at[r] is now where region number r (from 1) begins; filling moves it to its end, where the next begins */
    for (size_t i = 0; i < c->n_outputs; i++) sorted[at[region_of(c, value_base(c->outputs[i]))]++] = c->outputs[i];
    *first = at;
    return sorted;
}

static int by_place(const void *a, const void *b, void *ctx) {
    const struct nnv_extractor *c = ctx;
    const struct nnv_relay_expr *const *x = a, *const *y = b;
    uint32_t px = c->place[value_base(*x)->id], py = c->place[value_base(*y)->id];
    if (px != py) return px < py ? -1 : 1;
    return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

/* A field of a tuple that leaves as a whole needs no output of its own. */
static void drop_fields(struct nnv_extractor *c, struct outputs *out) {
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        struct nnv_relay_expr *v = out->values[i];
        if (v->kind == NNV_RELAY_GET && c->is_output[v->args[0]->id]) continue;
        out->values[n++] = v;
        out->n_leaves += width(v);
    }
    out->n = n;
}

static void replace_operands(const struct nnv_extractor *c, struct nnv_relay_expr *e) {
    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i]->id < c->regions.n_ids && c->instead[e->args[i]->id]) e->args[i] = c->instead[e->args[i]->id];
    if (e->callee && e->callee->id < c->regions.n_ids && c->instead[e->callee->id])
        e->callee = c->instead[e->callee->id];
}

/* The call's operands, and what projections were made for it of. */
static void replace_operands_of_call(const struct nnv_extractor *c, struct nnv_relay_expr *call) {
    replace_operands(c, call);
    for (size_t i = 0; i < call->n_args; i++)
        for (struct nnv_relay_expr *e = call->args[i]; e->kind == NNV_RELAY_GET && e->id >= c->regions.n_ids;
             e = e->args[0])
            replace_operands(c, e);
}

enum nnv_status nnv_cut_regions(struct nnv_extractor *c, const struct nnv_annotator *a, const char *function,
                                struct nnv_extracted *cuts, struct nnv_err *err) {
    const struct nnv_relay_list *list = &c->scoped.list;
    if (!make_tables(c)) return nnv_no_memory(err);
    bool ok = mark_uses(c, c->scoped.function);
    for (size_t i = 0; ok && i < list->n; i++) ok = mark_uses(c, list->exprs[i]);
    if (!ok) return nnv_fail(err, NNV_UNSUPPORTED, "tuples nest deeper than %d", MOST_NESTING);
    size_t *end = NULL, from = 0;
    struct nnv_relay_expr **sorted = by_region(c, &end);
    if (!sorted) return nnv_no_memory(err);
    for (uint32_t r = 0; r < c->regions.n; r++) {
        struct outputs out = {.values = sorted + from, .n = end[r + 1] - from};
        from = end[r + 1];
        qsort_r(out.values, out.n, sizeof *out.values, by_place, c);
        drop_fields(c, &out);
        const char *target = a->targets[c->regions.regions[r].target], *name = region_name(c, target, function);
        if (!name) return nnv_no_memory(err);
        enum nnv_status s = extract(c, r, &out, target, name, &cuts[r], err);
        if (s != NNV_OK) return s;
        cuts[r].target = target;
        cuts[r].function = name;
        c->made++;
    }
    for (size_t i = 0; i < list->n; i++)
        if (!region_of(c, list->exprs[i]) && !nnv_scope_closed(list->exprs[i])) replace_operands(c, list->exprs[i]);
    for (size_t i = 0; i < c->n_calls; i++) replace_operands_of_call(c, c->calls[i]);
    replace_operands(c, c->scoped.function);
    return NNV_OK;
}
