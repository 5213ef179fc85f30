/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting regions out: each becomes a function of its own, and what used its values uses the call. */
#include <stdlib.h>
#include <string.h>

#include "compiler/byoc/partition.h"

enum { MOST_NESTING = 256 };

static const struct nnv_relay_type *type_of(const struct nnv_relay_expr *e) { return e->type ? e->type : e->declared; }

/** One region on its way to become a function. */
struct cut {
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

static struct nnv_relay_expr *remember(struct cut *cut, const struct nnv_relay_expr *e, struct nnv_relay_expr *inside) {
    if (e->id < cut->c->regions.n_ids) {
        cut->c->inside[e->id] = inside;
        cut->c->inside_of[e->id] = cut->number;
    }
    return inside;
}

/* A new parameter for e. */
static struct nnv_relay_expr *pass(struct cut *cut, struct nnv_relay_expr *e) {
    if (cut->n_params == cut->cap) {
        size_t cap = cut->cap ? cut->cap * 2 : 8;
        struct nnv_relay_expr **params = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, cap);
        struct nnv_relay_expr **args = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, cap);
        if (!params || !args) return NULL;
        for (size_t i = 0; i < cut->n_params; i++) {
            params[i] = cut->params[i];
            args[i] = cut->args[i];
        }
        cut->params = params;
        cut->args = args;
        cut->cap = cap;
    }
    char *name = nnv_arena_printf(cut->c->arena, "%s_%zu_i%zu", cut->target, cut->c->made, cut->n_params);
    struct nnv_relay_expr *param = name ? nnv_relay_var(cut->c->m, name, type_of(e)) : NULL;
    if (!param) return NULL;
    param->type = e->type;
    cut->args[cut->n_params] = e;
    cut->params[cut->n_params++] = param;
    return remember(cut, e, param);
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

/* A tuple from outside, field by field. */
static struct nnv_relay_expr *pass_fields(struct cut *cut, struct nnv_relay_expr *e, size_t n, int nesting) {
    struct nnv_relay_expr **fields = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, n);
    cut->too_deep |= nesting == MOST_NESTING;
    for (size_t i = 0; fields && i < n; i++) {
        struct nnv_relay_expr *field = nnv_find_projection(cut->c, e, (int64_t)i);
        if (!field) field = projection(cut->c->m, e, i);
        if (!field || cut->too_deep) return NULL;
        const struct nnv_relay_type *t = type_of(field);
        bool passed = field->id < cut->c->regions.n_ids && cut->c->inside_of[field->id] == cut->number;
        bool tuple = t && t->kind == NNV_RELAY_TUPLE_TYPE;
        fields[i] = passed  ? cut->c->inside[field->id]
                    : tuple ? pass_fields(cut, field, t->n_fields, nesting + 1)
                            : pass(cut, field);
        if (!fields[i]) return NULL;
    }
    struct nnv_relay_expr *tuple = fields ? nnv_relay_tuple(cut->c->m, n, fields) : NULL;
    return tuple ? remember(cut, e, typed(tuple, type_of(e))) : NULL;
}

/* What stands in the function for e. NULL: out of memory, or too_deep. */
static struct nnv_relay_expr *inside(struct cut *cut, struct nnv_relay_expr *e, int nesting) {
    struct nnv_extractor *c = cut->c;
    if (c->inside_of[e->id] == cut->number) return c->inside[e->id];
    if (e->kind == NNV_RELAY_CONSTANT) return e;
    if (e->kind == NNV_RELAY_TUPLE) {
        struct nnv_relay_expr **fields = NNV_NEW(c->arena, struct nnv_relay_expr *, e->n_args);
        cut->too_deep |= nesting == MOST_NESTING;
        for (size_t i = 0; fields && i < e->n_args; i++)
            if (cut->too_deep || !(fields[i] = inside(cut, e->args[i], nesting + 1))) return NULL;
        struct nnv_relay_expr *tuple = fields ? nnv_relay_with(c->m, e, NULL, fields) : NULL;
        return tuple ? remember(cut, e, tuple) : NULL;
    }
    if (e->kind == NNV_RELAY_GET && region_of(c, e->args[0]) == cut->number) {
        struct nnv_relay_expr *tuple = c->inside[e->args[0]->id], *get = nnv_relay_with(c->m, e, NULL, &tuple);
        return get ? remember(cut, e, get) : NULL;
    }
    const struct nnv_relay_type *t = type_of(e);
    return t && t->kind == NNV_RELAY_TUPLE_TYPE ? pass_fields(cut, e, t->n_fields, nesting) : pass(cut, e);
}

/* The operations, in evaluation order, each a copy: their old selves become what stands for them outside. */
static bool copy_operations(struct cut *cut) {
    for (size_t i = 0; i < cut->region->n_ops; i++) {
        struct nnv_relay_expr *op = cut->region->ops[i];
        struct nnv_relay_expr **args = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, op->n_args);
        for (size_t k = 0; args && k < op->n_args; k++)
            if (!(args[k] = inside(cut, op->args[k], 0))) return false;
        struct nnv_relay_expr *copy = args ? nnv_relay_with(cut->c->m, op, op->callee, args) : NULL;
        if (!copy) return false;
        remember(cut, op, copy);
    }
    return true;
}

static struct nnv_relay_expr *define(struct cut *cut, const char *name, struct nnv_relay_expr *body) {
    struct nnv_relay_module *m = cut->c->m;
    const char *target = nnv_relay_intern(m, cut->target, strlen(cut->target));
    struct nnv_relay_attr attrs[] = {
        {"Primitive", {.kind = NNV_RELAY_INT, .i = 1}},
        {"Inline", {.kind = NNV_RELAY_INT, .i = 1}},
        {"Compiler", {.kind = NNV_RELAY_STRING, .text = target}},
        {"global_symbol", {.kind = NNV_RELAY_STRING, .text = name}},
    };
    struct nnv_relay_expr *fn = nnv_relay_fn(m, cut->n_params, cut->params, type_of(body), body, 4, attrs);
    if (!fn || !target || !nnv_relay_define(m, name, fn)) return NULL;
    struct nnv_relay_expr *global = nnv_relay_global(m, name);
    return typed(nnv_relay_call(m, global, cut->n_params, cut->args, 0, NULL), type_of(body));
}

/* The values that leave the region, in evaluation order of the operations that make them. */
struct outputs {
    struct nnv_relay_expr **values;
    size_t n, n_leaves; /**< n_leaves: with tuples flattened */
};

static size_t width(const struct nnv_relay_expr *e) {
    const struct nnv_relay_type *t = type_of(e);
    return t && t->kind == NNV_RELAY_TUPLE_TYPE ? t->n_fields : 1;
}

static bool is_tuple(const struct nnv_relay_expr *e) {
    const struct nnv_relay_type *t = type_of(e);
    return t && t->kind == NNV_RELAY_TUPLE_TYPE;
}

static struct nnv_relay_expr *build_result(struct cut *cut, const struct outputs *out) {
    struct nnv_relay_module *m = cut->c->m;
    if (out->n == 1) return inside(cut, out->values[0], 0);
    struct nnv_relay_expr **fields = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, out->n_leaves);
    const struct nnv_relay_type **types = NNV_NEW(cut->c->arena, const struct nnv_relay_type *, out->n_leaves);
    size_t at = 0;
    bool all_known = fields && types;
    for (size_t i = 0; fields && types && i < out->n; i++) {
        struct nnv_relay_expr *value = inside(cut, out->values[i], 0);
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
static bool replace_values(struct cut *cut, const struct outputs *out, struct nnv_relay_expr *call) {
    struct nnv_relay_module *m = cut->c->m;
    if (out->n == 1) call->bound = out->values[0]->bound;
    size_t at = 0;
    for (size_t i = 0; i < out->n; i++) {
        struct nnv_relay_expr *value = out->values[i], *instead = call;
        call->span = value->span;
        if (out->n > 1 && !is_tuple(value)) instead = projection(m, call, at++);
        if (out->n > 1 && is_tuple(value)) {
            struct nnv_relay_expr **fields = NNV_NEW(cut->c->arena, struct nnv_relay_expr *, width(value));
            for (size_t k = 0; fields && k < width(value); k++) fields[k] = projection(m, call, at++);
            instead = fields ? typed(nnv_relay_tuple(m, width(value), fields), type_of(value)) : NULL;
        }
        if (!instead) return false;
        if (out->n > 1) instead->span = value->span;
        cut->c->instead[value->id] = instead;
    }
    return true;
}

static enum nnv_status cut_out(struct nnv_extractor *c, uint32_t r, const struct outputs *out, const char *target,
                               const char *name, struct nnv_extracted *result, struct nnv_err *err) {
    struct cut cut = {.c = c, .region = &c->regions.regions[r], .number = r + 1, .target = target};
    struct nnv_relay_expr *body = copy_operations(&cut) ? build_result(&cut, out) : NULL;
    if (cut.too_deep) return nnv_fail(err, NNV_UNSUPPORTED, "tuples nest deeper than %d", MOST_NESTING);
    struct nnv_relay_expr *call = body ? define(&cut, name, body) : NULL;
    if (!call || !replace_values(&cut, out, call)) return nnv_no_memory(err);
    c->calls[c->n_calls++] = call;
    result->params = cut.n_params;
    result->outputs = out->n_leaves;
    return NNV_OK;
}

/* ------------------------------------------------------------------ all of them */

/* Sorts the outputs by region; first[r] is where those of region r begin. */
static struct nnv_relay_expr **by_region(struct nnv_extractor *c, size_t **first) {
    size_t n = c->regions.n, *at = NNV_NEW(c->arena, size_t, n + 2);
    struct nnv_relay_expr **sorted = NNV_NEW(c->arena, struct nnv_relay_expr *, c->n_outputs);
    if (!at || !sorted) return NULL;
    for (size_t i = 0; i < c->n_outputs; i++) at[region_of(c, nnv_value_base(c->outputs[i])) + 1]++;
    for (size_t r = 1; r < n + 2; r++) at[r] += at[r - 1];
    /* at[r] is now where region number r (from 1) begins; filling moves it to its end, where the next begins */
    for (size_t i = 0; i < c->n_outputs; i++) sorted[at[region_of(c, nnv_value_base(c->outputs[i]))]++] = c->outputs[i];
    *first = at;
    return sorted;
}

static int by_place(const void *a, const void *b, void *ctx) {
    const struct nnv_extractor *c = ctx;
    const struct nnv_relay_expr *const *x = a, *const *y = b;
    uint32_t px = c->place[nnv_value_base(*x)->id], py = c->place[nnv_value_base(*y)->id];
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
        const char *target = a->targets[c->regions.regions[r].target], *name = nnv_region_name(c, target, function);
        if (!name) return nnv_no_memory(err);
        enum nnv_status s = cut_out(c, r, &out, target, name, &cuts[r], err);
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
