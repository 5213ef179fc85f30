/* SPDX-License-Identifier: Apache-2.0 */
/* The checker: the type of every expression in evaluation order, so that operands have theirs first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler/relay/ops/ops.h"

enum { DEEPEST = 500 }; /* of functions that call each other without declared results */

struct checker {
    struct nnv_relay_module *m;
    struct nnv_err *err;
    const struct nnv_relay_expr **lets; /**< by the id of a variable: the LET that binds it */
    bool *busy, *done;                  /**< by the id of a function */
    int depth;
    bool lenient; /**< what nothing tells is no error: its type stays NULL */
};

/* "what is A, not B" at a place. */
static enum nnv_status mismatch(const struct checker *c, const struct nnv_relay_span *span, const char *what,
                                const struct nnv_relay_type *is, const struct nnv_relay_type *wanted) {
    struct nnv_text a = {0}, b = {0};
    nnv_relay_type_print(is, &a);
    nnv_relay_type_print(wanted, &b);
    enum nnv_status st =
        nnv_relay_fail(c->m, span, c->err, "%s is %s, not %s", what, a.data ? a.data : "?", b.data ? b.data : "?");
    nnv_text_free(&a);
    nnv_text_free(&b);
    return st;
}

static enum nnv_status no_memory(const struct checker *c) {
    return nnv_fail(c->err, NNV_NO_MEMORY, "%s: out of memory", c->m->file ? c->m->file : "the module");
}

/* --------------------------------------------------------------- operators */

static const char *const kind_names[] = {
    [NNV_RELAY_ATTR_INT] = "an integer",
    [NNV_RELAY_ATTR_NUMBER] = "a number",
    [NNV_RELAY_ATTR_TRUTH] = "True or False",
    [NNV_RELAY_ATTR_TEXT] = "a string",
    [NNV_RELAY_ATTR_INTS] = "a list of integers",
    [NNV_RELAY_ATTR_PAIRS] = "a list of lists of integers",
    [NNV_RELAY_ATTR_ANY] = "anything",
};

static bool check_attr(struct nnv_relay_typing *t, const struct nnv_relay_op_row *row, const struct nnv_relay_attr *a) {
    for (size_t i = 0; i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++) {
        if (strcmp(row->attrs[i].key, a->key) != 0) continue;
        if (a->value.kind == NNV_RELAY_NONE || nnv_relay_attr_is(&a->value, row->attrs[i].kind)) return true;
        return nnv_relay_wrong(t, "attribute %s must be %s", a->key, kind_names[row->attrs[i].kind]);
    }
    /* what TVM's schedulers leave in any operator, and nobody else looks at */
    if (!strcmp(a->key, "auto_scheduler_rewritten_layout") || !strcmp(a->key, "meta_schedule_original_shape"))
        return true;
    return nnv_relay_wrong(t, "there is no attribute %s", a->key);
}

static bool is_open(const struct nnv_relay_type *t) { return t == NULL || t->kind == NNV_RELAY_UNKNOWN; }

static bool has_typed_operands(const struct nnv_relay_expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        const struct nnv_relay_type *t = e->args[i]->type;
        if (is_open(t)) return false;
        for (size_t k = 0; k < t->n_fields; k++)
            if (is_open(t->fields[k])) return false;
    }
    return true;
}

static enum nnv_status check_operator(struct checker *c, struct nnv_relay_expr *e) {
    const struct nnv_relay_op_row *row = nnv_relay_op(e->callee->name);
    struct nnv_relay_typing t = {.m = c->m, .call = e, .row = row, .err = c->err};
    if (row == NULL) { /* a dump says the type of what it has */
        e->type = e->declared;
        if (e->type || c->lenient) return NNV_OK;
        return nnv_relay_fail(c->m, &e->span, c->err, "operator %s is not known, and no %s says its result",
                              e->callee->name,
                              c->m->script ? "annotation (x: R.Tensor(...) = ...)" : "comment /* ty=... */");
    }
    if (e->n_args < row->least || e->n_args > row->most) {
        if (row->least == row->most)
            nnv_relay_wrong(&t, "has %zu operands, not %u", e->n_args, (unsigned)row->least);
        else
            nnv_relay_wrong(&t, "has %zu operands, not %u to %u", e->n_args, (unsigned)row->least, (unsigned)row->most);
        return t.st;
    }
    for (size_t i = 0; i < e->n_attrs; i++)
        if (!check_attr(&t, row, &e->attrs[i])) return t.st;
    if (c->lenient && !has_typed_operands(e)) {
        e->type = e->declared;
        return NNV_OK;
    }
    e->type = row->rule(&t);
    return e->type ? NNV_OK : t.st != NNV_OK ? t.st : no_memory(c);
}

/* -------------------------------------------------------------- expressions */

/* What follows types within types recurses. */
static enum nnv_status check_depth(const struct checker *c, const struct nnv_relay_expr *e,
                                   const struct nnv_relay_type *type) {
    if (type == NULL) return no_memory(c);
    if (type->depth <= NNV_RELAY_TYPE_DEPTH) return NNV_OK;
    return nnv_relay_fail(c->m, &e->span, c->err, "the type has types within types, more than %d deep",
                          NNV_RELAY_TYPE_DEPTH);
}

static enum nnv_status type_of_function(struct checker *c, const struct nnv_relay_expr *f,
                                        const struct nnv_relay_type *result, const struct nnv_relay_type **type) {
    const struct nnv_relay_type **params = NNV_NEW(c->m->arena, const struct nnv_relay_type *, f->n_params);
    if (params == NULL) return no_memory(c);
    *type = NULL;
    if (c->lenient && result == NULL) return NNV_OK;
    for (size_t i = 0; i < f->n_params; i++) {
        params[i] = f->params[i]->declared;
        if (params[i] == NULL && c->lenient) return NNV_OK;
        if (params[i] == NULL)
            return nnv_relay_fail(c->m, &f->params[i]->span, c->err, "parameter %%%s has no type", f->params[i]->name);
    }
    *type = nnv_relay_fn_type(c->m->arena, f->n_params, params, result);
    return check_depth(c, f, *type);
}

static enum nnv_status check_var(struct checker *c, struct nnv_relay_expr *v) {
    const struct nnv_relay_expr *let = c->lets[v->id], *value = let ? let->args[0] : NULL;
    v->type = v->declared;
    if (c->lenient && value && value->kind != NNV_RELAY_FUNCTION && value->type == NULL) return NNV_OK;
    if (value == NULL)
        return v->type || c->lenient ? NNV_OK : nnv_relay_fail(c->m, &v->span, c->err, "%%%s has no type", v->name);
    if (value->type) {
        if (!nnv_relay_type_fits(v->declared, value->type))
            return mismatch(c, &v->span, "the variable's value", value->type, v->declared);
        v->type = value->type;
        return NNV_OK;
    }
    if (v->type) return NNV_OK; /* within the function that it is */
    if (value->kind == NNV_RELAY_FUNCTION && value->declared)
        return type_of_function(c, value, value->declared, &v->type);
    if (c->lenient) return NNV_OK;
    return nnv_relay_fail(c->m, &v->span, c->err, "%%%s calls itself: its result's type must be written", v->name);
}

static enum nnv_status check_function(struct checker *c, struct nnv_relay_expr *f);

static enum nnv_status check_global(struct checker *c, struct nnv_relay_expr *e) {
    struct nnv_relay_expr *f = nnv_relay_find(c->m, e->name);
    if (f == NULL) return nnv_relay_fail(c->m, &e->span, c->err, "@%s is not defined", e->name);
    if (f->declared) return type_of_function(c, f, f->declared, &e->type);
    if (c->lenient && (c->done[f->id] || c->busy[f->id] || c->depth > DEEPEST)) {
        e->type = f->type;
        return NNV_OK;
    }
    if (c->busy[f->id] || c->depth > DEEPEST)
        return nnv_relay_fail(c->m, &e->span, c->err, "@%s calls itself: its result's type must be written", e->name);
    enum nnv_status st = f->type ? NNV_OK : check_function(c, f);
    e->type = f->type;
    return st;
}

static enum nnv_status check_call(struct checker *c, struct nnv_relay_expr *e) {
    if (e->callee->kind == NNV_RELAY_OP) return check_operator(c, e);
    const struct nnv_relay_type *f = e->callee->type;
    char what[32];
    if (c->lenient && is_open(f)) {
        e->type = e->declared;
        return NNV_OK;
    }
    if (f == NULL || f->kind != NNV_RELAY_FN_TYPE)
        return nnv_relay_fail(c->m, &e->span, c->err, "what is called is no function");
    if (f->n_fields != e->n_args)
        return nnv_relay_fail(c->m, &e->span, c->err, "the function has %zu parameters, the call %zu operands",
                              f->n_fields, e->n_args);
    for (size_t i = 0; i < e->n_args; i++) {
        if (nnv_relay_type_fits(f->fields[i], e->args[i]->type)) continue;
        snprintf(what, sizeof what, "operand %zu", i);
        return mismatch(c, &e->span, what, e->args[i]->type, f->fields[i]);
    }
    e->type = f->result;
    return NNV_OK;
}

static enum nnv_status check_if(struct checker *c, struct nnv_relay_expr *e) {
    const struct nnv_relay_type *condition = e->args[0]->type;
    if (!is_open(condition) &&
        (condition->kind != NNV_RELAY_TENSOR || condition->dtype != NNV_RELAY_BOOL || condition->n_dims))
        return nnv_relay_fail(c->m, &e->span, c->err, "the condition of an if must be one bool");
    if (!nnv_relay_type_fits(e->args[1]->type, e->args[2]->type))
        return mismatch(c, &e->span, "the else branch", e->args[2]->type, e->args[1]->type);
    e->type = e->args[1]->type;
    return NNV_OK;
}

static enum nnv_status check_tuple(struct checker *c, struct nnv_relay_expr *e) {
    const struct nnv_relay_type **fields = NNV_NEW(c->m->arena, const struct nnv_relay_type *, e->n_args);
    for (size_t i = 0; fields && i < e->n_args; i++) {
        fields[i] = e->args[i]->type;
        if (fields[i] == NULL) return NNV_OK; /* lenient */
    }
    e->type = fields ? nnv_relay_tuple_type(c->m->arena, e->n_args, fields) : NULL;
    return check_depth(c, e, e->type);
}

static enum nnv_status check_get(struct checker *c, struct nnv_relay_expr *e) {
    const struct nnv_relay_type *tuple = e->args[0]->type;
    if (c->lenient && is_open(tuple)) {
        e->type = e->declared;
        return NNV_OK;
    }
    if (tuple->kind != NNV_RELAY_TUPLE_TYPE) return nnv_relay_fail(c->m, &e->span, c->err, "only a tuple has fields");
    if (e->index < 0 || (size_t)e->index >= tuple->n_fields)
        return nnv_relay_fail(c->m, &e->span, c->err, "field %" PRId64 " of a tuple of %zu", e->index, tuple->n_fields);
    e->type = tuple->fields[e->index];
    return NNV_OK;
}

static enum nnv_status check_literal_function(struct checker *c, struct nnv_relay_expr *f) {
    const struct nnv_relay_type *body = f->args[0]->type;
    if (!nnv_relay_type_fits(f->declared, body))
        return mismatch(c, &f->span, "the function's result", body, f->declared);
    return type_of_function(c, f, body, &f->type);
}

static enum nnv_status check_expr(struct checker *c, struct nnv_relay_expr *e) {
    switch (e->kind) {
    case NNV_RELAY_VAR:
        return check_var(c, e);
    case NNV_RELAY_GLOBAL:
        return check_global(c, e);
    case NNV_RELAY_CONSTANT:
        e->type = e->tensor->type;
        if (e->type || c->lenient) return NNV_OK;
        return nnv_relay_fail(c->m, &e->span, c->err,
                              c->m->script ? "the constants' values are not in the text: print it by "
                                             "mod.script(show_meta=True)"
                                           : "neither metadata nor a comment tell the constant's type");
    case NNV_RELAY_OP:
        return NNV_OK;
    case NNV_RELAY_CALL:
        return check_call(c, e);
    case NNV_RELAY_LET:
        e->type = e->args[1]->type;
        return e->var->type ? NNV_OK : check_var(c, e->var);
    case NNV_RELAY_IF:
        return check_if(c, e);
    case NNV_RELAY_TUPLE:
        return check_tuple(c, e);
    case NNV_RELAY_GET:
        return check_get(c, e);
    case NNV_RELAY_FUNCTION:
        return check_literal_function(c, e);
    }
    return NNV_OK;
}

static enum nnv_status check_list(struct checker *c, const struct nnv_relay_list *list) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < list->n; i++) {
        list->exprs[i]->type = NULL;
        if (list->exprs[i]->kind == NNV_RELAY_LET) {
            c->lets[list->exprs[i]->var->id] = list->exprs[i];
            list->exprs[i]->var->type = NULL;
        }
    }
    for (size_t i = 0; i < list->n && st == NNV_OK; i++) {
        st = check_expr(c, list->exprs[i]);
        for (size_t k = 0; st == NNV_OK && k < list->exprs[i]->n_params; k++)
            list->exprs[i]->params[k]->type = list->exprs[i]->params[k]->declared;
    }
    return st;
}

static enum nnv_status check_function(struct checker *c, struct nnv_relay_expr *f) {
    struct nnv_relay_list list;
    struct nnv_arena *scratch = nnv_arena_new();
    enum nnv_status st = NNV_NO_MEMORY;
    c->busy[f->id] = true;
    c->depth++;
    if (scratch && nnv_relay_post_order(f, NULL, NULL, scratch, &list) == NNV_OK)
        st = check_list(c, &list);
    else
        st = no_memory(c);
    nnv_arena_free(scratch);
    c->depth--;
    c->busy[f->id] = false;
    c->done[f->id] = true;
    return st;
}

static enum nnv_status check_module(struct nnv_relay_module *m, bool lenient, struct nnv_err *err) {
    struct checker c = {.m = m, .err = err, .lenient = lenient};
    struct nnv_arena *scratch = nnv_arena_new();
    enum nnv_status st = NNV_OK;
    if (scratch) {
        c.lets = NNV_NEW(scratch, const struct nnv_relay_expr *, m->n_exprs);
        c.busy = NNV_NEW(scratch, bool, m->n_exprs);
        c.done = NNV_NEW(scratch, bool, m->n_exprs);
    }
    if (c.lets == NULL || c.busy == NULL || c.done == NULL) st = no_memory(&c);
    for (size_t i = 0; i < m->n_functions; i++) m->functions[i].expr->type = NULL;
    for (size_t i = 0; i < m->n_functions && st == NNV_OK; i++)
        if (!c.done[m->functions[i].expr->id]) st = check_function(&c, m->functions[i].expr);
    nnv_arena_free(scratch);
    return st;
}

enum nnv_status nnv_relay_check(struct nnv_relay_module *m, struct nnv_err *err) { return check_module(m, false, err); }

enum nnv_status nnv_relay_infer(struct nnv_relay_module *m, struct nnv_err *err) { return check_module(m, true, err); }

enum nnv_status nnv_relay_infer_one(struct nnv_relay_module *m, struct nnv_relay_expr *e, struct nnv_err *err) {
    struct checker c = {.m = m, .err = err, .lenient = true};
    const bool alone = (e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_OP) || e->kind == NNV_RELAY_TUPLE ||
                       (e->kind == NNV_RELAY_GET && e->args[0]->type) || e->kind == NNV_RELAY_CONSTANT;
    return alone ? check_expr(&c, e) : NNV_OK;
}
