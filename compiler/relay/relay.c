/* SPDX-License-Identifier: Apache-2.0 */
/* Building modules and expressions. */
#include "compiler/relay/relay.h"

#include <string.h>

#include "base/map.h"

enum { FIRST_FUNCTIONS = 8 };

/** An interned name; op: the node of the operator of this name, when one has been asked for. */
struct entry {
    const char *text;
    struct nnv_relay_expr *op;
    size_t function; /**< place + 1 of the function of this name */
};

struct nnv_relay_names {
    struct nnv_map entries;
};

struct nnv_relay_module *nnv_relay_module_new(struct nnv_arena *arena) {
    struct nnv_relay_module *m = NNV_NEW(arena, struct nnv_relay_module, 1);
    if (m == NULL) return NULL;
    m->arena = arena;
    m->names = NNV_NEW(arena, struct nnv_relay_names, 1);
    if (m->names == NULL) return NULL;
    m->names->entries.arena = arena;
    return m;
}

static struct entry *entry_of(const struct nnv_relay_module *m, const char *name, size_t len) {
    const uint32_t k = nnv_map_find_n(&m->names->entries, name, len);
    return k != NNV_MAP_NONE ? m->names->entries.value[k] : NULL;
}

static struct entry *intern(struct nnv_relay_module *m, const char *name, size_t len) {
    struct entry *e = entry_of(m, name, len);
    if (e) return e;
    e = NNV_NEW(m->arena, struct entry, 1);
    char *text = nnv_arena_alloc(m->arena, len + 1, 1);
    if (e == NULL || text == NULL) return NULL;
    if (len) memcpy(text, name, len);
    e->text = text;
    return nnv_map_put(&m->names->entries, text, e) ? e : NULL;
}

const char *nnv_relay_intern(struct nnv_relay_module *m, const char *name, size_t len) {
    const struct entry *e = intern(m, name, len);
    return e ? e->text : NULL;
}

/* ---------------------------------------------------------------- functions */

struct nnv_relay_expr *nnv_relay_find(const struct nnv_relay_module *m, const char *name) {
    const struct entry *e = entry_of(m, name, strlen(name));
    return e && e->function ? m->functions[e->function - 1].expr : NULL;
}

bool nnv_relay_define(struct nnv_relay_module *m, const char *name, struct nnv_relay_expr *function) {
    struct entry *e = function ? intern(m, name, strlen(name)) : NULL;
    if (e == NULL) return false;
    if (e->function) {
        m->functions[e->function - 1].expr = function;
        return true;
    }
    if (m->n_functions == m->cap_functions) {
        size_t cap = m->cap_functions ? m->cap_functions * 2 : FIRST_FUNCTIONS;
        struct nnv_relay_function *grown = NNV_NEW(m->arena, struct nnv_relay_function, cap);
        if (grown == NULL) return false;
        if (m->n_functions) memcpy(grown, m->functions, m->n_functions * sizeof *grown);
        m->functions = grown;
        m->cap_functions = cap;
    }
    m->functions[m->n_functions++] = (struct nnv_relay_function){e->text, function};
    e->function = m->n_functions;
    return true;
}

/* -------------------------------------------------------------- expressions */

static struct nnv_relay_expr *make(struct nnv_relay_module *m, enum nnv_relay_kind kind) {
    if (m->n_exprs == UINT32_MAX) return NULL;
    struct nnv_relay_expr *e = NNV_NEW(m->arena, struct nnv_relay_expr, 1);
    if (e == NULL) return NULL;
    e->kind = kind;
    e->id = m->n_exprs++;
    return e;
}

static struct nnv_relay_expr *named(struct nnv_relay_module *m, enum nnv_relay_kind kind, const char *name) {
    const char *own = nnv_relay_intern(m, name, strlen(name));
    struct nnv_relay_expr *e = own ? make(m, kind) : NULL;
    if (e) e->name = own;
    return e;
}

/* A new node with n operands; NULL if one of them is. */
static struct nnv_relay_expr *node(struct nnv_relay_module *m, enum nnv_relay_kind kind, size_t n,
                                   struct nnv_relay_expr *const *args) {
    for (size_t i = 0; i < n; i++)
        if (args[i] == NULL) return NULL;
    struct nnv_relay_expr *e = make(m, kind);
    if (e == NULL) return NULL;
    e->n_args = n;
    if (n == 0) return e;
    e->args = nnv_arena_copy(m->arena, args, n * sizeof *args);
    return e->args ? e : NULL;
}

static struct nnv_relay_expr *with_attrs(struct nnv_relay_module *m, struct nnv_relay_expr *e, size_t n,
                                         const struct nnv_relay_attr *attrs) {
    if (e == NULL || n == 0) return e;
    e->n_attrs = n;
    e->attrs = nnv_arena_copy(m->arena, attrs, n * sizeof *attrs);
    return e->attrs ? e : NULL;
}

struct nnv_relay_expr *nnv_relay_var(struct nnv_relay_module *m, const char *name, const struct nnv_relay_type *type) {
    struct nnv_relay_expr *e = named(m, NNV_RELAY_VAR, name);
    if (e) e->declared = type;
    return e;
}

struct nnv_relay_expr *nnv_relay_global(struct nnv_relay_module *m, const char *name) {
    return named(m, NNV_RELAY_GLOBAL, name);
}

struct nnv_relay_expr *nnv_relay_constant(struct nnv_relay_module *m, const struct nnv_relay_tensor *tensor) {
    struct nnv_relay_expr *e = tensor ? make(m, NNV_RELAY_CONSTANT) : NULL;
    if (e) e->tensor = tensor;
    return e;
}

struct nnv_relay_expr *nnv_relay_operator(struct nnv_relay_module *m, const char *name) {
    struct entry *entry = intern(m, name, strlen(name));
    if (entry == NULL) return NULL;
    if (entry->op == NULL) entry->op = named(m, NNV_RELAY_OP, name);
    return entry->op;
}

struct nnv_relay_expr *nnv_relay_call(struct nnv_relay_module *m, struct nnv_relay_expr *callee, size_t n,
                                      struct nnv_relay_expr *const *args, size_t n_attrs,
                                      const struct nnv_relay_attr *attrs) {
    struct nnv_relay_expr *e = callee ? node(m, NNV_RELAY_CALL, n, args) : NULL;
    if (e) e->callee = callee;
    return with_attrs(m, e, n_attrs, attrs);
}

struct nnv_relay_expr *nnv_relay_let(struct nnv_relay_module *m, struct nnv_relay_expr *var,
                                     struct nnv_relay_expr *value, struct nnv_relay_expr *body) {
    struct nnv_relay_expr *args[] = {value, body};
    struct nnv_relay_expr *e = var ? node(m, NNV_RELAY_LET, 2, args) : NULL;
    if (e) e->var = var;
    return e;
}

struct nnv_relay_expr *nnv_relay_if(struct nnv_relay_module *m, struct nnv_relay_expr *condition,
                                    struct nnv_relay_expr *then_branch, struct nnv_relay_expr *else_branch) {
    struct nnv_relay_expr *args[] = {condition, then_branch, else_branch};
    return node(m, NNV_RELAY_IF, 3, args);
}

struct nnv_relay_expr *nnv_relay_tuple(struct nnv_relay_module *m, size_t n, struct nnv_relay_expr *const *fields) {
    return node(m, NNV_RELAY_TUPLE, n, fields);
}

struct nnv_relay_expr *nnv_relay_get(struct nnv_relay_module *m, struct nnv_relay_expr *tuple, int64_t index) {
    struct nnv_relay_expr *e = node(m, NNV_RELAY_GET, 1, &tuple);
    if (e) e->index = index;
    return e;
}

struct nnv_relay_expr *nnv_relay_fn(struct nnv_relay_module *m, size_t n, struct nnv_relay_expr *const *params,
                                    const struct nnv_relay_type *result, struct nnv_relay_expr *body, size_t n_attrs,
                                    const struct nnv_relay_attr *attrs) {
    for (size_t i = 0; i < n; i++)
        if (params[i] == NULL) return NULL;
    struct nnv_relay_expr *e = node(m, NNV_RELAY_FUNCTION, 1, &body);
    if (e == NULL) return NULL;
    e->declared = result;
    e->n_params = n;
    if (n && (e->params = nnv_arena_copy(m->arena, params, n * sizeof *params)) == NULL) return NULL;
    return with_attrs(m, e, n_attrs, attrs);
}

struct nnv_relay_expr *nnv_relay_with(struct nnv_relay_module *m, const struct nnv_relay_expr *e,
                                      struct nnv_relay_expr *callee, struct nnv_relay_expr *const *args) {
    struct nnv_relay_expr *copy = node(m, e->kind, e->n_args, args);
    if (copy == NULL) return NULL;
    uint32_t id = copy->id;
    struct nnv_relay_expr **own = copy->args;
    *copy = *e;
    copy->id = id;
    copy->args = own;
    copy->callee = callee;
    return copy;
}

/* --------------------------------------------------------------- questions */

const char *nnv_relay_op_name(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_OP ? e->callee->name : NULL;
}

bool nnv_relay_is_op(const struct nnv_relay_expr *e, const char *name) {
    const char *own = nnv_relay_op_name(e);
    return own && strcmp(own, name) == 0;
}

const struct nnv_relay_value *nnv_relay_written(const struct nnv_relay_expr *e, const char *key) {
    for (size_t i = 0; i < e->n_attrs; i++)
        if (strcmp(e->attrs[i].key, key) == 0) return &e->attrs[i].value;
    return NULL;
}

const char *nnv_relay_fn_attr(const struct nnv_relay_expr *function, const char *key) {
    if (function->kind != NNV_RELAY_FUNCTION) return NULL;
    const struct nnv_relay_value *v = nnv_relay_written(function, key);
    return v && v->kind == NNV_RELAY_STRING ? v->text : NULL;
}
