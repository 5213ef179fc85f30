/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions as flat graphs: composites opened, tuples and projections gone. The composites of ifs and loops become IF
 * and WHILE: the branches, and the condition and the body of a loop, are functions themselves, and models of their own,
 * which the model refers to.
 */
#include <inttypes.h>

#include "base/map.h"
#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/validate.h"

enum { DEEPEST = 16 /* functions within functions */, LEVEL = 4 /* the first with IF and WHILE */ };

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
    for (int64_t i = 0; i < e->index; i++) first += nnv_rc_fields(type->fields[i]);
    return (struct nnv_rc_list){of.v + first, nnv_rc_fields(type->fields[e->index])};
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

/* The body of a function whose parameters stand for params, as nodes; the values of its result. */
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

struct nnv_rc_list nnv_rc_call(struct nnv_rc *c, const struct nnv_relay_expr *e, struct nnv_rc_list *args) {
    return call(c, e, args, 0);
}

/* The flattened parameters, of each and of all. */
static struct nnv_rc_list params_of(struct nnv_rc *c, const struct nnv_relay_expr *function,
                                    struct nnv_rc_list **lists) {
    struct nnv_rc_list all = {NULL, 0};
    size_t n = 0;
    *lists = NNV_NEW(c->arena, struct nnv_rc_list, function->n_params);
    if (!*lists) nnv_rc_no_memory(c);
    for (size_t i = 0; i < function->n_params && nnv_rc_ok(c); i++) {
        const struct nnv_relay_expr *p = function->params[i];
        (*lists)[i] = nnv_rc_values(c, p->type ? p->type : p->declared, p);
        n += (*lists)[i].n;
    }
    if (nnv_rc_ok(c) && !(all.v = NNV_NEW(c->arena, uint32_t, n))) nnv_rc_no_memory(c);
    for (size_t i = 0; i < function->n_params && nnv_rc_ok(c); i++)
        for (uint32_t k = 0; k < (*lists)[i].n; k++) all.v[all.n++] = (*lists)[i].v[k];
    return all;
}

void nnv_rc_function(struct nnv_rc *c, const struct nnv_relay_expr *function, bool relaxed, struct nnv_converted *out) {
    struct nnv_rc_list *lists = NULL;
    struct nnv_rc_list in = params_of(c, function, &lists), results = {0};
    if (nnv_rc_ok(c)) results = flatten(c, function, lists, 0);
    if (nnv_rc_ok(c)) nnv_rc_model(c, in, results, relaxed, out);
}

/* ------------------------------------------------------------------ ifs and loops */

/* A model, and those that it refers to before it, among those of this one; the operand that stands for it. */
static uint32_t refer(struct nnv_rc *c, const struct nnv_model *m) {
    const uint32_t before = c->n_referenced;
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph s = g < m->nreferenced ? m->referenced[g] : m->main;
        for (uint32_t i = 0; i < s.noperands; i++)
            if (s.operands[i].lifetime == NNV_SUBGRAPH) s.operands[i].subgraph += before;
        if (!nnv_grow(c->arena, &c->referenced, c->n_referenced, &c->cap_referenced, sizeof *c->referenced)) {
            nnv_rc_no_memory(c);
            return 0;
        }
        c->referenced[c->n_referenced++] = s;
    }
    return nnv_builder_operand(
        &c->b,
        (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = c->n_referenced - 1});
}

/* Bytes stand for the same numbers in a model as where they come from and go to. */
static void check_types(struct nnv_rc *c, const struct nnv_subgraph *s, const uint32_t *list, uint32_t n,
                        const uint32_t *own) {
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        const struct nnv_operand *o = &s->operands[list[i]];
        const struct nnv_encoding e = nnv_builder_encoding(&c->b, own[i]);
        if (o->type != e.type || o->scale != e.scale || o->zero_point != e.zero_point)
            nnv_rc_refuse(c,
                          "bytes that stand for numbers with scale %g and zero point %d within it and scale %g and "
                          "zero point %d outside; put a qnn.requantize between",
                          (double)o->scale, o->zero_point, (double)e.scale, e.zero_point);
    }
}

/**
 * A function as a model, with these n inputs of the operation and, unless out is NULL, its outputs; the operand that
 * stands for it.
 */
static uint32_t model_of(struct nnv_rc *c, struct nnv_relay_expr **params, size_t n_params, struct nnv_relay_expr *body,
                         uint32_t n, const uint32_t *in, const uint32_t *out) {
    const struct nnv_relay_expr function = {
        .kind = NNV_RELAY_FUNCTION, .params = params, .n_params = n_params, .args = &body, .n_args = 1};
    struct nnv_converted made = {0};
    if (!nnv_rc_ok(c)) return 0;
    struct nnv_rc own = nnv_rc_begin(c->m, c->limit, c->arena, c->scratch, c->err);
    own.bare = c->bare;
    own.nesting = c->nesting + 1;
    if (own.nesting > NNV_MAX_NESTING) nnv_rc_refuse(c, "one within the other, more than %d deep", NNV_MAX_NESTING);
    if (nnv_rc_ok(c)) nnv_rc_function(&own, &function, false, &made);
    if (!nnv_rc_ok(c) || !nnv_rc_ok(&own)) {
        c->st = nnv_rc_ok(c) ? own.st : c->st;
        c->b.stopped = true;
        return 0;
    }
    check_types(c, &made.model.main, made.model.main.in, n, in);
    if (out) check_types(c, &made.model.main, made.model.main.out, made.model.main.nout, out);
    return refer(c, &made.model);
}

/* Room for `before` operands, and behind them what the models take: the node's operands from `first` on, *n of them. */
static uint32_t *take(struct nnv_rc *c, uint32_t before, size_t first, uint32_t *n) {
    const struct nnv_rc_node *node = c->node;
    *n = 0;
    for (size_t i = first; i < node->e->n_args; i++) *n += node->args[i].n;
    uint32_t *in = NNV_NEW(c->arena, uint32_t, before + *n), at = before;
    if (!in) nnv_rc_no_memory(c);
    if (nnv_rc_ok(c) && c->limit < LEVEL)
        nnv_rc_refuse(c, "%s needs feature level %d (%s), and %d (%s) is the limit", node->row->makes, LEVEL,
                      nnv_level_name(LEVEL), c->limit, nnv_level_name(c->limit));
    if (nnv_rc_ok(c) && *n == 0)
        nnv_rc_refuse(c, "its branches take nothing from outside, but each model of NNAPI has inputs");
    for (size_t i = first; nnv_rc_ok(c) && i < node->e->n_args; i++)
        for (uint32_t k = 0; k < node->args[i].n; k++) in[at++] = nnv_rc_use(c, node->args[i].v[k]);
    return in;
}

static void emit(struct nnv_rc *c, uint32_t nin, const uint32_t *in, uint32_t nout, const uint32_t *out) {
    nnv_rc_emit_n(c, c->node->row->code, nin, in, nout, out);
    if (c->level < LEVEL) c->level = LEVEL;
}

static void convert_if(struct nnv_rc *c) {
    enum { CONDITION, THEN, ELSE, ARGUMENTS };
    const struct nnv_rc_node *node = c->node;
    const struct nnv_relay_expr *function = node->e->callee, *choice = function->args[0];
    uint32_t n, *in = take(c, ARGUMENTS, 1, &n), *out = NNV_NEW(c->arena, uint32_t, node->out.n);
    if (!out) nnv_rc_no_memory(c);
    if (!nnv_rc_ok(c)) return;
    in[CONDITION] = nnv_rc_in(c, 0);
    for (uint32_t i = 0; i < node->out.n; i++) out[i] = nnv_rc_result(c, i);
    for (size_t b = THEN; b <= ELSE; b++) /* without the condition, which is the first parameter */
        in[b] = model_of(c, function->params + 1, function->n_params - 1, choice->args[b], n, in + ARGUMENTS, out);
    emit(c, ARGUMENTS + n, in, node->out.n, out);
}

/* The results of the loop among its variables, which are the first outputs of WHILE: out has room for all of these. */
static void give_variables(struct nnv_rc *c, const struct nnv_relay_expr *loop, uint32_t n, const uint32_t *in,
                           uint32_t *out) {
    struct nnv_relay_expr *end = loop->args[0]->args[2];
    const size_t n_results = end->kind == NNV_RELAY_TUPLE ? end->n_args : 1;
    uint32_t result = 0;
    for (uint32_t i = 0; i < n; i++) out[i] = NNV_RC_NONE;
    for (size_t r = 0; r < n_results && nnv_rc_ok(c); r++) {
        const struct nnv_relay_expr *e = end->kind == NNV_RELAY_TUPLE ? end->args[r] : end;
        uint32_t at = 0;
        size_t v = 0;
        for (; v < loop->n_params && loop->params[v] != e; v++) at += c->node->args[v].n;
        if (v == loop->n_params || (c->node->args[v].n && out[at] != NNV_RC_NONE)) {
            nnv_rc_refuse(c, "it ends with something else than its variables, each once at most");
            return;
        }
        for (uint32_t k = 0; k < c->node->args[v].n; k++) out[at + k] = nnv_rc_result(c, result++);
    }
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        struct nnv_rc_shape shape = nnv_rc_operand_shape(c, in[i]);
        if (out[i] == NNV_RC_NONE) out[i] = nnv_rc_temp(c, nnv_builder_encoding(&c->b, in[i]), &shape);
    }
}

static void convert_while(struct nnv_rc *c) {
    enum { CONDITION, BODY, ARGUMENTS };
    const struct nnv_rc_node *node = c->node;
    const struct nnv_relay_expr *function = node->e->callee, *loop = function->args[0]->callee->args[0],
                                *choice = loop->args[0];
    const size_t n_params = function->n_params;
    struct nnv_relay_expr next = *choice->args[1], **params = NNV_NEW(c->arena, struct nnv_relay_expr *, n_params);
    uint32_t n, n_variables = 0, *in = take(c, ARGUMENTS, 0, &n), *out = NNV_NEW(c->arena, uint32_t, n);
    if (!params || !out) nnv_rc_no_memory(c);
    if (!nnv_rc_ok(c)) return;
    next.kind = NNV_RELAY_TUPLE; /* what the loop calls itself with */
    next.callee = NULL;
    for (size_t i = 0; i < n_params; i++) {
        params[i] = i < loop->n_params ? loop->params[i] : function->params[i];
        if (i < loop->n_params) n_variables += node->args[i].n;
    }
    give_variables(c, loop, n_variables, in + ARGUMENTS, out);
    in[CONDITION] = model_of(c, params, n_params, choice->args[0], n, in + ARGUMENTS, NULL);
    in[BODY] = model_of(c, params, n_params, &next, n, in + ARGUMENTS, out);
    emit(c, ARGUMENTS + n, in, n_variables, out);
}

static const struct nnv_rc_row if_row = {"if", convert_if, ANEURALNETWORKS_IF, NNV_RC_BOOL, 0, LEVEL, "IF"},
                               while_row = {"while", convert_while, ANEURALNETWORKS_WHILE, NNV_RC_ALL, 0,
                                            LEVEL,   "WHILE"};

const struct nnv_rc_row *nnv_rc_flow(const struct nnv_relay_expr *function) {
    if (function->kind != NNV_RELAY_FUNCTION || !function->n_params) return NULL;
    const struct nnv_relay_expr *body = function->args[0];
    if (body->kind == NNV_RELAY_IF && body->args[0] == function->params[0]) return &if_row;
    return body->kind == NNV_RELAY_CALL && body->callee->kind == NNV_RELAY_LET ? &while_row : NULL;
}
