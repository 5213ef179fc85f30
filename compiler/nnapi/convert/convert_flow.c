/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composites of ifs and loops become IF and WHILE: the branches, and the condition and the body of a loop, are
 * models of their own, which the model refers to.
 */
#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/validate.h"

enum { LEVEL = 4 };

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
    const struct nnv_convert_options options = {.level = c->limit};
    const struct nnv_relay_expr function = {
        .kind = NNV_RELAY_FUNCTION, .params = params, .n_params = n_params, .args = &body, .n_args = 1};
    struct nnv_converted made = {0};
    if (!nnv_rc_ok(c)) return 0;
    struct nnv_rc own = nnv_rc_begin(c->m, &options, c->arena, c->scratch, c->err);
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

/* ------------------------------------------------------------------------------- which */

static const struct nnv_rc_row if_row = {"if", convert_if, ANEURALNETWORKS_IF, NNV_RC_BOOL, 0, LEVEL, "IF"},
                               while_row = {"while", convert_while, ANEURALNETWORKS_WHILE, NNV_RC_ALL, 0,
                                            LEVEL,   "WHILE"};

const struct nnv_rc_row *nnv_rc_flow(const struct nnv_relay_expr *function) {
    if (function->kind != NNV_RELAY_FUNCTION || !function->n_params) return NULL;
    const struct nnv_relay_expr *body = function->args[0];
    if (body->kind == NNV_RELAY_IF && body->args[0] == function->params[0]) return &if_row;
    return body->kind == NNV_RELAY_CALL && body->callee->kind == NNV_RELAY_LET ? &while_row : NULL;
}
