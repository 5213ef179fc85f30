/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as flat graphs: composites opened, tuples and projections gone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compiler/nnapi/convert/convert_in.h"

enum { DEEPEST = 16 /* functions within functions */, MOST_FIELDS = 1 << 20 /* tensors in a tuple */ };

uint32_t nnv_rc_value(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e) {
    if (!nnv_rc_ok(c)) return NNV_RC_NONE;
    if (!nnv_grow(c->arena, &c->values, c->n_values, &c->cap_values, sizeof *c->values)) {
        nnv_rc_no_memory(c);
        return NNV_RC_NONE;
    }
    if (!type || type->kind != NNV_RELAY_TENSOR) {
        nnv_rc_refuse_at(c, e, "a value that is no tensor; only tensors and tuples of them are converted");
        return NNV_RC_NONE;
    }
    for (size_t i = 0; i < type->n_dims; i++) {
        if (type->dims[i] > 0 && type->dims[i] <= INT32_MAX) continue;
        const char *why = type->dims[i] < 0    ? "dimension %zu is not known; give the program fixed shapes"
                          : type->dims[i] == 0 ? "dimension %zu is 0, which means unknown to NNAPI"
                                               : "dimension %zu is 2^31 or more";
        nnv_rc_refuse_at(c, e, why, i);
        return NNV_RC_NONE;
    }
    size_t elems, bytes;
    if (!nnv_relay_type_elems(type, &elems, &bytes) || bytes > UINT32_MAX) {
        nnv_rc_refuse_at(c, e, "a tensor of 4 GiB or more");
        return NNV_RC_NONE;
    }
    c->values[c->n_values] =
        (struct nnv_rc_value){.type = type, .e = e, .node = NNV_RC_NONE, .like = c->n_values, .operand = NNV_RC_NONE};
    return c->n_values++;
}

/* The number of tensors in a type, counted until it is above MOST_FIELDS. */
static uint32_t count_fields(const struct nnv_relay_type *type) {
    uint32_t n = 0;
    if (!type || type->kind != NNV_RELAY_TUPLE_TYPE) return 1;
    for (size_t i = 0; i < type->n_fields && n <= MOST_FIELDS; i++) n += count_fields(type->fields[i]);
    return n;
}

static void add_fields(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e,
                       struct nnv_rc_list *list) {
    if (type && type->kind == NNV_RELAY_TUPLE_TYPE)
        for (size_t i = 0; i < type->n_fields && nnv_rc_ok(c); i++) add_fields(c, type->fields[i], e, list);
    else
        list->v[list->n++] = nnv_rc_value(c, type, e);
}

struct nnv_rc_list nnv_rc_values(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e) {
    const uint32_t n = count_fields(type);
    struct nnv_rc_list list = {NULL, 0};
    if (n > MOST_FIELDS)
        nnv_rc_refuse_at(c, e, "a tuple of more than %d tensors", MOST_FIELDS);
    else if (!(list.v = NNV_NEW(c->arena, uint32_t, n)))
        nnv_rc_no_memory(c);
    else
        add_fields(c, type, e, &list);
    return list;
}

/* A node for a call of an operator, or of the composite of an if or loop; the values of its result. */
static struct nnv_rc_list add_node(struct nnv_rc *c, const struct nnv_relay_expr *call, const struct nnv_rc_row *row,
                                   struct nnv_rc_list *args) {
    struct nnv_rc_list out = nnv_rc_values(c, call->type, call);
    if (!nnv_grow(c->arena, &c->nodes, c->n_nodes, &c->cap_nodes, sizeof *c->nodes)) nnv_rc_no_memory(c);
    if (nnv_rc_ok(c) && !out.n) nnv_rc_refuse_at(c, call, "%s: it gives nothing", row->name);
    if (!nnv_rc_ok(c)) return (struct nnv_rc_list){NULL, 0};
    c->nodes[c->n_nodes] =
        (struct nnv_rc_node){.e = call, .row = row, .args = args, .out = out, .inner = NNV_RC_NONE, .pad = NNV_RC_NONE};
    for (uint32_t i = 0; i < out.n; i++) {
        c->values[out.v[i]].node = c->n_nodes;
        c->values[out.v[i]].field = i;
    }
    for (size_t i = 0; i < call->n_args; i++)
        for (uint32_t k = 0; k < args[i].n; k++) c->values[args[i].v[k]].uses++;
    c->n_nodes++;
    return out;
}

/* ---------------------------------------------------------------- one function */

/** Values of the expressions of one function. */
struct frame {
    struct nnv_id_map ids; /**< by address */
    struct nnv_rc_list *lists;
};

static void put(struct nnv_rc *c, struct frame *f, const struct nnv_relay_expr *e, struct nnv_rc_list list) {
    const uint32_t i = nnv_id_add(&f->ids, nnv_id(e));
    if (i == NNV_MAP_NONE)
        nnv_rc_no_memory(c);
    else
        f->lists[i] = list;
}

static struct nnv_rc_list constant(struct nnv_rc *c, const struct nnv_relay_expr *e) {
    struct nnv_rc_list list = nnv_rc_values(c, e->tensor->type, e);
    if (list.n && nnv_rc_ok(c)) c->values[list.v[0]].tensor = e->tensor;
    return list;
}

/* Each use of a constant is a value of its own: it is quantised as what uses it. */
static struct nnv_rc_list operand(struct nnv_rc *c, const struct frame *f, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_CONSTANT) return constant(c, e);
    const uint32_t i = nnv_id_find(&f->ids, nnv_id(e));
    if (i != NNV_MAP_NONE) return f->lists[i];
    nnv_rc_refuse_at(
        c, e, e->kind == NNV_RELAY_VAR ? "%s is no parameter of the function" : "%s: functions are no values here",
        e->name ? e->name : "a function");
    return (struct nnv_rc_list){NULL, 0};
}

static struct nnv_rc_list *operands(struct nnv_rc *c, const struct frame *f, const struct nnv_relay_expr *e) {
    struct nnv_rc_list *args = NNV_NEW(c->arena, struct nnv_rc_list, e->n_args);
    if (!args) nnv_rc_no_memory(c);
    for (size_t i = 0; i < e->n_args && nnv_rc_ok(c); i++) args[i] = operand(c, f, e->args[i]);
    return args;
}

static struct nnv_rc_list tuple(struct nnv_rc *c, const struct nnv_relay_expr *e, const struct nnv_rc_list *args) {
    size_t n = 0;
    for (size_t i = 0; i < e->n_args; i++) n += args[i].n;
    struct nnv_rc_list list = {n <= 1 << 24 ? NNV_NEW(c->arena, uint32_t, n) : NULL, 0};
    if (!list.v) nnv_rc_no_memory(c);
    for (size_t i = 0; i < e->n_args && nnv_rc_ok(c); i++)
        for (uint32_t k = 0; k < args[i].n; k++) list.v[list.n++] = args[i].v[k];
    return list;
}

static struct nnv_rc_list field(struct nnv_rc *c, const struct nnv_relay_expr *e, struct nnv_rc_list of) {
    const struct nnv_relay_type *type = e->args[0]->type;
    uint32_t first = 0;
    if (!type || type->kind != NNV_RELAY_TUPLE_TYPE || e->index < 0 || (uint64_t)e->index >= type->n_fields) {
        nnv_rc_refuse_at(c, e, "there is no field %" PRId64, e->index);
        return of;
    }
    for (int64_t i = 0; i < e->index; i++) first += count_fields(type->fields[i]);
    return (struct nnv_rc_list){of.v + first, count_fields(type->fields[e->index])};
}

static struct nnv_rc_list flatten(struct nnv_rc *c, const struct nnv_relay_expr *function,
                                  const struct nnv_rc_list *params, int depth);

static struct nnv_rc_list call(struct nnv_rc *c, const struct nnv_relay_expr *e, struct nnv_rc_list *args, int depth) {
    if (nnv_rc_flow(e->callee)) return add_node(c, e, nnv_rc_flow(e->callee), args);
    if (e->callee->kind == NNV_RELAY_FUNCTION) return flatten(c, e->callee, args, depth + 1);
    if (e->callee->kind != NNV_RELAY_OP) {
        nnv_rc_refuse_at(c, e, "a call of %s; only operators and composites are converted",
                         e->callee->name ? e->callee->name : "a closure");
        return (struct nnv_rc_list){NULL, 0};
    }
    const struct nnv_rc_row *row = nnv_rc_row(e->callee->name);
    if (row) return add_node(c, e, row, args);
    nnv_rc_refuse_at(c, e, "%s: the converter has no row for this operator", e->callee->name);
    return (struct nnv_rc_list){NULL, 0};
}

static void visit(struct nnv_rc *c, struct frame *f, const struct nnv_relay_expr *e, int depth) {
    struct nnv_rc_list *args, list = {NULL, 0};
    switch (e->kind) {
    case NNV_RELAY_VAR:
    case NNV_RELAY_OP:
    case NNV_RELAY_CONSTANT:
    case NNV_RELAY_FUNCTION:
    case NNV_RELAY_GLOBAL:
        return;
    case NNV_RELAY_LET:
        nnv_rc_refuse_at(c, e, "a let; graph form is converted, where lets are shared values");
        return;
    case NNV_RELAY_IF:
        nnv_rc_refuse_at(c, e, "an if among other operations; one that is a composite of its own is converted");
        return;
    case NNV_RELAY_TUPLE:
    case NNV_RELAY_GET:
    case NNV_RELAY_CALL:
        break;
    }
    args = operands(c, f, e);
    if (!nnv_rc_ok(c)) return;
    if (e->kind == NNV_RELAY_TUPLE) list = tuple(c, e, args);
    if (e->kind == NNV_RELAY_GET) list = field(c, e, args[0]);
    if (e->kind == NNV_RELAY_CALL) list = call(c, e, args, depth);
    put(c, f, e, list);
}

static struct nnv_rc_list flatten(struct nnv_rc *c, const struct nnv_relay_expr *function,
                                  const struct nnv_rc_list *params, int depth) {
    struct nnv_rc_list none = {NULL, 0};
    struct nnv_relay_list list;
    struct frame f = {.ids.arena = c->arena};
    if (depth > DEEPEST) nnv_rc_refuse_at(c, function, "functions within functions, more than %d deep", DEEPEST);
    if (!nnv_rc_ok(c)) return none;
    struct nnv_relay_expr *body = function->args[0];
    if (nnv_relay_post_order(body, nnv_relay_enter_scope, body, c->arena, &list) != NNV_OK) {
        nnv_rc_no_memory(c);
        return none;
    }
    f.lists = NNV_NEW(c->arena, struct nnv_rc_list, list.n + function->n_params);
    if (!f.lists) {
        nnv_rc_no_memory(c);
        return none;
    }
    for (size_t i = 0; i < function->n_params; i++) put(c, &f, function->params[i], params[i]);
    for (size_t i = 0; i < list.n && nnv_rc_ok(c); i++) visit(c, &f, list.exprs[i], depth);
    return nnv_rc_ok(c) ? operand(c, &f, body) : none;
}

struct nnv_rc_list nnv_rc_flatten(struct nnv_rc *c, const struct nnv_relay_expr *function,
                                  const struct nnv_rc_list *args) {
    return flatten(c, function, args, 0);
}

struct nnv_rc_list nnv_rc_call(struct nnv_rc *c, const struct nnv_relay_expr *e, struct nnv_rc_list *args) {
    return call(c, e, args, 0);
}
