/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structural equality. Two graphs are equal if their evaluation orders have the same length and the nodes at each place
 * agree, their operands being at the same places. Operators, globals and constants are compared where they are used:
 * text does not keep whether two uses of 0.5f were one node.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/relay_equal.h"

enum { NOWHERE = 0 }; /* places count from 1 */

/** One of the two graphs: its nodes, and the place of each by id. */
struct side {
    struct nnv_relay_list list;
    size_t *place, n_ids;
};

static bool by_value(const struct nnv_relay_expr *e) {
    return e->kind == NNV_RELAY_OP || e->kind == NNV_RELAY_GLOBAL || e->kind == NNV_RELAY_CONSTANT;
}

static bool number(struct nnv_relay_expr *root, struct nnv_arena *arena, struct side *s) {
    if (nnv_relay_post_order(root, NULL, NULL, arena, &s->list) != NNV_OK) return false;
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.exprs[i]->id >= s->n_ids) s->n_ids = (size_t)s->list.exprs[i]->id + 1;
    s->place = NNV_NEW(arena, size_t, s->n_ids);
    if (s->place == NULL) return false;
    size_t n = 0;
    for (size_t i = 0; i < s->list.n; i++) {
        struct nnv_relay_expr *e = s->list.exprs[i];
        if (by_value(e)) continue;
        s->list.exprs[n++] = e;
        s->place[e->id] = n;
    }
    s->list.n = n;
    return true;
}

static size_t place(const struct side *s, const struct nnv_relay_expr *e) {
    return e->id < s->n_ids ? s->place[e->id] : NOWHERE;
}

static bool equal_tensors(const struct nnv_relay_expr *a, const struct nnv_relay_expr *b) {
    const struct nnv_relay_tensor *x = a->tensor, *y = b->tensor;
    if (!nnv_relay_type_equal(x->type, y->type) || (x->data == NULL) != (y->data == NULL)) return false;
    if (x->data == NULL) return a->index == b->index;
    return x->bytes == y->bytes && memcmp(x->data, y->data, x->bytes) == 0;
}

static bool equal_operand(const struct side *s, const struct side *t, const struct nnv_relay_expr *a,
                          const struct nnv_relay_expr *b) {
    if (a == NULL || b == NULL) return a == b;
    if (a->kind != b->kind) return false;
    if (a->kind == NNV_RELAY_CONSTANT) return equal_tensors(a, b);
    if (by_value(a)) return strcmp(a->name, b->name) == 0;
    return place(s, a) == place(t, b);
}

/* Every attribute of a, written or not, is so in b. */
static bool has_attrs(const struct nnv_relay_expr *a, const struct nnv_relay_expr *b) {
    for (size_t i = 0; i < a->n_attrs; i++) {
        const struct nnv_relay_value *v = nnv_relay_attr(b, a->attrs[i].key);
        if (v == NULL || !nnv_relay_value_equal(v, &a->attrs[i].value)) return false;
    }
    return true;
}

/* Variables that are bound: used at the same place, or in neither, and of the same annotated type. */
static bool equal_bound(const struct side *s, const struct side *t, const struct nnv_relay_expr *a,
                        const struct nnv_relay_expr *b) {
    return place(s, a) == place(t, b) && nnv_relay_type_equal(a->declared, b->declared);
}

static bool equal_nodes(const struct side *s, const struct side *t, const struct nnv_relay_expr *a,
                        const struct nnv_relay_expr *b) {
    if (a->kind != b->kind || a->n_args != b->n_args || a->n_params != b->n_params) return false;
    if (a->kind == NNV_RELAY_GET && a->index != b->index) return false;
    if (a->kind == NNV_RELAY_VAR || a->kind == NNV_RELAY_FUNCTION)
        if (!nnv_relay_type_equal(a->declared, b->declared)) return false;
    if (!equal_operand(s, t, a->callee, b->callee) || !has_attrs(a, b) || !has_attrs(b, a)) return false;
    for (size_t i = 0; i < a->n_args; i++)
        if (!equal_operand(s, t, a->args[i], b->args[i])) return false;
    for (size_t i = 0; i < a->n_params; i++)
        if (!equal_bound(s, t, a->params[i], b->params[i])) return false;
    return a->kind != NNV_RELAY_LET || equal_bound(s, t, a->var, b->var);
}

bool nnv_relay_equal(struct nnv_relay_expr *a, struct nnv_relay_expr *b) {
    struct nnv_arena *arena = nnv_arena_new();
    struct side s = {0}, t = {0};
    bool equal = arena && number(a, arena, &s) && number(b, arena, &t) && s.list.n == t.list.n;
    for (size_t i = 0; equal && i < s.list.n; i++) equal = equal_nodes(&s, &t, s.list.exprs[i], t.list.exprs[i]);
    equal = equal && equal_operand(&s, &t, a, b); /* a root that is compared by value has no place */
    nnv_arena_free(arena);
    return equal;
}

bool nnv_relay_module_equal(const struct nnv_relay_module *a, const struct nnv_relay_module *b) {
    if (a->n_functions != b->n_functions) return false;
    for (size_t i = 0; i < a->n_functions; i++) {
        struct nnv_relay_expr *other = nnv_relay_find(b, a->functions[i].name);
        if (other == NULL || !nnv_relay_equal(a->functions[i].expr, other)) return false;
    }
    return true;
}
