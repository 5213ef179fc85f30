/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: evaluates what a function's result needs, on a stack of its own. */
#include "compiler/relay/interp/interp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compiler/relay/ops/kernel.h"
#include "compiler/relay/ops/ops.h"

enum { DEEPEST = 1000, MOST_CALLS = 1 << 20 };
/* of all values of a run: 4 GiB, or what a process of 32 bits may hold */
static const size_t most_bytes = (size_t)1 << (sizeof(size_t) > 4 ? 32 : 31);

/** Values of expressions by their id, for one call of a function; the outer frames' values are seen, too. */
struct frame {
    struct frame *up; /**< of the function in which this one is written; the outermost has the constants */
    struct nnv_id_map values;
};

/** A function as a value. */
struct closure {
    struct nnv_relay_datum datum; /**< its type is one of functions */
    struct nnv_relay_expr *function;
    struct frame *frame;
    const char *name; /**< of a function of the module, else NULL */
};

/** An expression that is being evaluated. */
struct step {
    struct nnv_relay_expr *expr;
    struct frame *frame;
    size_t next;         /**< what to evaluate next, as the kind of expression counts it */
    struct frame *inner; /**< of the call that is running */
    struct nnv_relay_expr *body;
};

struct machine {
    struct nnv_relay_module m; /**< a copy, whose arena is the run's */
    const struct nnv_relay_external *external;
    struct nnv_arena *arena, *scratch;
    struct nnv_err *err;
    struct frame *root;
    struct step *stack;
    size_t depth, cap;
    int calls_open;
    uint32_t calls;
    size_t before; /**< bytes of the arena before the run */
};

static enum nnv_status no_memory(struct machine *m) {
    return nnv_fail(m->err, NNV_NO_MEMORY, "%s: out of memory", m->m.file ? m->m.file : "the module");
}

/* ------------------------------------------------------------------- frames */

static struct frame *new_frame(struct machine *m, struct frame *up) {
    struct frame *f = NNV_NEW(m->arena, struct frame, 1);
    if (f) *f = (struct frame){.up = up, .values.arena = m->arena};
    return f;
}

static bool bind(struct frame *f, uint32_t id, struct nnv_relay_datum *value) {
    return nnv_id_put(&f->values, id, value);
}

static struct nnv_relay_datum *find(const struct frame *f, const struct nnv_relay_expr *e) {
    for (; f; f = f->up) {
        struct nnv_relay_datum *value = nnv_id_get(&f->values, e->id);
        if (value) return value;
    }
    return NULL;
}

/* -------------------------------------------------------------------- steps */

static enum nnv_status push(struct machine *m, struct nnv_relay_expr *e, struct frame *frame) {
    if (!nnv_grow(NULL, &m->stack, m->depth, &m->cap, sizeof *m->stack)) return no_memory(m);
    m->stack[m->depth++] = (struct step){.expr = e, .frame = frame};
    return NNV_OK;
}

/* The value of the step on top, which ends. */
static enum nnv_status done(struct machine *m, struct nnv_relay_datum *value) {
    const struct step *top = &m->stack[--m->depth];
    if (value == NULL) return no_memory(m);
    if (!nnv_relay_type_fits(top->expr->type, value->type))
        return nnv_relay_fail(&m->m, &top->expr->span, m->err, "the value is not of the type that it should have");
    return bind(top->frame, top->expr->id, value) ? NNV_OK : no_memory(m);
}

/* True if the value is there; else it is evaluated first, or *st is an error. */
static bool have(struct machine *m, struct nnv_relay_expr *e, struct frame *frame, enum nnv_status *st) {
    if (find(frame, e)) return true;
    *st = push(m, e, frame);
    return false;
}

static enum nnv_status constant(struct machine *m, const struct nnv_relay_expr *e) {
    struct nnv_relay_datum *value;
    if (e->tensor->data == NULL)
        return nnv_relay_fail(&m->m, &e->span, m->err, "the constant's values are not known: the text has no metadata");
    enum nnv_status st = nnv_relay_datum_read(e->tensor->type, e->tensor->data, m->arena, &value, m->err);
    if (st != NNV_OK) return st;
    if (!bind(m->root, e->id, value)) return no_memory(m);
    m->depth--;
    return NNV_OK;
}

static enum nnv_status function(struct machine *m, struct nnv_relay_expr *f, struct frame *frame, const char *name) {
    struct closure *c = NNV_NEW(m->arena, struct closure, 1);
    if (c == NULL) return no_memory(m);
    *c = (struct closure){.datum.type = f->type, .function = f, .frame = frame, .name = name};
    return done(m, &c->datum);
}

static enum nnv_status global(struct machine *m, const struct nnv_relay_expr *e) {
    struct nnv_relay_expr *f = nnv_relay_find(&m->m, e->name);
    if (f) return function(m, f, m->root, e->name);
    return nnv_relay_fail(&m->m, &e->span, m->err, "@%s is not defined", e->name);
}

/* ------------------------------------------------------------------- tuples */

static enum nnv_status tuple(struct machine *m, const struct step *s) {
    struct nnv_relay_datum *d = NNV_NEW(m->arena, struct nnv_relay_datum, 1);
    const struct nnv_relay_type **types = NNV_NEW(m->scratch, const struct nnv_relay_type *, s->expr->n_args);
    if (d == NULL || types == NULL) return no_memory(m);
    d->n_fields = s->expr->n_args;
    d->fields = NNV_NEW(m->arena, struct nnv_relay_datum *, d->n_fields);
    if (d->fields == NULL) return no_memory(m);
    for (size_t i = 0; i < d->n_fields; i++) {
        d->fields[i] = find(s->frame, s->expr->args[i]);
        types[i] = d->fields[i]->type;
    }
    d->type = nnv_relay_tuple_type(m->arena, d->n_fields, types);
    nnv_arena_reset(m->scratch);
    return done(m, d->type ? d : NULL);
}

static enum nnv_status get(struct machine *m, const struct step *s) {
    const struct nnv_relay_datum *d = find(s->frame, s->expr->args[0]);
    if (s->expr->index >= 0 && (size_t)s->expr->index < d->n_fields) return done(m, d->fields[s->expr->index]);
    return nnv_relay_fail(&m->m, &s->expr->span, m->err, "there is no field %" PRId64, s->expr->index);
}

/* ---------------------------------------------------------------- operators */

/* The type of the result, all dimensions known: if the checker could not know them, by the operator's rule again. */
static const struct nnv_relay_type *result_type(struct machine *m, struct nnv_interp_op *op) {
    struct nnv_relay_expr *e = op->t.call;
    if (nnv_relay_type_known(e->type)) return e->type;
    struct nnv_relay_expr *call = nnv_arena_copy(m->scratch, e, sizeof *e);
    struct nnv_relay_expr *args = NNV_NEW(m->scratch, struct nnv_relay_expr, e->n_args);
    struct nnv_relay_expr **list = NNV_NEW(m->scratch, struct nnv_relay_expr *, e->n_args);
    if (call == NULL || args == NULL || list == NULL) return NULL;
    for (size_t i = 0; i < e->n_args; i++) {
        args[i] = *e->args[i];
        args[i].type = op->in[i]->type;
        list[i] = &args[i];
    }
    call->args = list;
    op->t.call = call;
    return op->t.row->rule(&op->t);
}

static size_t elements(const struct nnv_relay_type *type) {
    size_t elems = 0, bytes = 0, sum = 0;
    if (!nnv_relay_type_known(type)) return 0;
    if (type->kind == NNV_RELAY_TENSOR) return nnv_relay_type_elems(type, &elems, &bytes) ? elems : most_bytes;
    for (size_t i = 0; i < type->n_fields && sum < most_bytes; i++) sum += elements(type->fields[i]);
    return sum;
}

static bool too_much(const struct machine *m, size_t more) {
    size_t used = nnv_arena_used(m->arena) - m->before;
    return used > most_bytes || more > (most_bytes - used) / sizeof(double);
}

static enum nnv_status run_kernel(struct machine *m, struct nnv_interp_op *op) {
    const struct nnv_relay_type *type = result_type(m, op);
    if (type == NULL) return op->t.st != NNV_OK ? op->t.st : no_memory(m);
    if (too_much(m, elements(type))) {
        nnv_relay_wrong(&op->t, "the values of the run take more than %zu GiB", most_bytes >> 30);
        return op->t.st;
    }
    op->out =
        nnv_relay_type_known(type) ? nnv_interp_datum(type, m->arena) : NNV_NEW(m->arena, struct nnv_relay_datum, 1);
    if (op->out == NULL) return no_memory(m);
    op->out->type = type;
    op->t.row->run(op);
    if (op->t.st == NNV_OK && !nnv_relay_type_known(op->out->type))
        nnv_relay_wrong(&op->t, "the dimensions of the result are not known");
    return op->t.st != NNV_OK ? op->t.st : done(m, op->out);
}

static enum nnv_status operator_call(struct machine *m, const struct step *s) {
    struct nnv_relay_expr *e = s->expr;
    struct nnv_interp_op op = {.t = {.m = &m->m, .call = e, .row = nnv_relay_op(e->callee->name), .err = m->err},
                               .n_in = e->n_args,
                               .arena = m->arena,
                               .scratch = m->scratch};
    if (op.t.row == NULL) {
        nnv_relay_wrong(&op.t, "there is no kernel for this operator");
        return op.t.st;
    }
    struct nnv_relay_datum **in = NNV_NEW(m->scratch, struct nnv_relay_datum *, e->n_args);
    if (in == NULL) return no_memory(m);
    for (size_t i = 0; i < e->n_args; i++) {
        in[i] = find(s->frame, e->args[i]);
        if (in[i]->type->kind != NNV_RELAY_FN_TYPE) continue;
        nnv_relay_wrong(&op.t, "operand %zu is a function", i);
        return op.t.st;
    }
    op.in = in;
    enum nnv_status st = run_kernel(m, &op);
    nnv_arena_reset(m->scratch);
    return st;
}

/* -------------------------------------------------------------------- calls */

/* A function that another target compiled: *taken tells whether it has been run. */
static enum nnv_status external_call(struct machine *m, const struct step *s, const struct closure *c, bool *taken) {
    struct nnv_relay_expr *e = s->expr;
    struct nnv_relay_datum *result = NULL;
    *taken = false;
    if (m->external == NULL || c->name == NULL || nnv_relay_fn_attr(c->function, "Compiler") == NULL) return NNV_OK;
    struct nnv_relay_datum **args = NNV_NEW(m->arena, struct nnv_relay_datum *, e->n_args);
    if (args == NULL) return no_memory(m);
    for (size_t i = 0; i < e->n_args; i++) args[i] = find(s->frame, e->args[i]);
    enum nnv_status st = m->external->run(m->external->ctx, &m->m, c->name, args, e->n_args, m->arena, &result, m->err);
    if (st == NNV_UNSUPPORTED) return NNV_OK;
    *taken = true;
    return st == NNV_OK ? done(m, result) : nnv_at(m->err, st, "@%s", c->name);
}

static enum nnv_status bound_depth(struct machine *m, const struct nnv_relay_expr *e) {
    if (++m->calls > MOST_CALLS) {
        enum nnv_status st = nnv_relay_fail(&m->m, &e->span, m->err, "more than %d calls", MOST_CALLS);
        if (m->err && st != NNV_OK) m->err->status = NNV_TIMEOUT;
        return NNV_TIMEOUT;
    }
    if (++m->calls_open > DEEPEST)
        return nnv_relay_fail(&m->m, &e->span, m->err, "calls within calls, more than %d deep", DEEPEST);
    if (too_much(m, 0))
        return nnv_relay_fail(&m->m, &e->span, m->err, "the values of the run take more than %zu GiB",
                              most_bytes >> 30);
    return NNV_OK;
}

/* Callee and operands are there: begins the body, or takes its value. */
static enum nnv_status function_call(struct machine *m, struct step *s) {
    struct nnv_relay_expr *e = s->expr;
    if (s->inner) {
        m->calls_open--;
        return done(m, find(s->inner, s->body));
    }
    const struct nnv_relay_datum *callee = find(s->frame, e->callee);
    bool taken;
    if (callee->type->kind != NNV_RELAY_FN_TYPE)
        return nnv_relay_fail(&m->m, &e->span, m->err, "what is called is no function");
    const struct closure *c = (const struct closure *)callee;
    if (c->function->n_params != e->n_args)
        return nnv_relay_fail(&m->m, &e->span, m->err, "the function has %zu parameters, the call %zu operands",
                              c->function->n_params, e->n_args);
    enum nnv_status st = external_call(m, s, c, &taken);
    if (st != NNV_OK || taken) return st;
    st = bound_depth(m, e);
    if (st != NNV_OK) return st;
    struct frame *inner = new_frame(m, c->frame);
    if (inner == NULL) return no_memory(m);
    for (size_t i = 0; i < e->n_args; i++) {
        struct nnv_relay_datum *arg = find(s->frame, e->args[i]);
        if (!nnv_relay_type_fits(c->function->params[i]->declared, arg->type))
            return nnv_relay_fail(&m->m, &e->span, m->err, "operand %zu does not fit the parameter %%%s", i,
                                  c->function->params[i]->name);
        if (!bind(inner, c->function->params[i]->id, arg)) return no_memory(m);
    }
    s->inner = inner;
    s->body = c->function->args[0];
    return find(inner, s->body) ? NNV_OK : push(m, s->body, inner);
}

static enum nnv_status call(struct machine *m, struct step *s) {
    enum nnv_status st = NNV_OK;
    struct nnv_relay_expr *e = s->expr;
    bool is_op = e->callee->kind == NNV_RELAY_OP;
    if (s->next == 0 && !is_op && !have(m, e->callee, s->frame, &st)) return st;
    for (; s->next < e->n_args; s->next++)
        if (!have(m, e->args[s->next], s->frame, &st)) return st;
    return is_op ? operator_call(m, s) : function_call(m, s);
}

static enum nnv_status choose(struct machine *m, struct step *s) {
    enum nnv_status st = NNV_OK;
    struct nnv_relay_expr *const *args = s->expr->args;
    if (!have(m, args[0], s->frame, &st)) return st;
    const struct nnv_relay_datum *condition = find(s->frame, args[0]);
    if (condition->n != 1) return nnv_relay_fail(&m->m, &s->expr->span, m->err, "the condition is not one bool");
    struct nnv_relay_expr *branch = args[condition->values[0] != 0 ? 1 : 2];
    if (!have(m, branch, s->frame, &st)) return st;
    return done(m, find(s->frame, branch));
}

static enum nnv_status let(struct machine *m, struct step *s) {
    enum nnv_status st = NNV_OK;
    struct nnv_relay_expr *const *args = s->expr->args;
    if (!have(m, args[0], s->frame, &st)) return st;
    if (s->next++ == 0 && !bind(s->frame, s->expr->var->id, find(s->frame, args[0]))) return no_memory(m);
    if (!have(m, args[1], s->frame, &st)) return st;
    return done(m, find(s->frame, args[1]));
}

static enum nnv_status step(struct machine *m) {
    struct step *s = &m->stack[m->depth - 1];
    struct nnv_relay_expr *e = s->expr;
    enum nnv_status st = NNV_OK;
    switch (e->kind) {
    case NNV_RELAY_VAR:
        return nnv_relay_fail(&m->m, &e->span, m->err, "%%%s has no value here", e->name);
    case NNV_RELAY_OP:
        return nnv_relay_fail(&m->m, &e->span, m->err, "an operator is no value");
    case NNV_RELAY_GLOBAL:
        return global(m, e);
    case NNV_RELAY_CONSTANT:
        return constant(m, e);
    case NNV_RELAY_FUNCTION:
        return function(m, e, s->frame, NULL);
    case NNV_RELAY_CALL:
        return call(m, s);
    case NNV_RELAY_LET:
        return let(m, s);
    case NNV_RELAY_IF:
        return choose(m, s);
    case NNV_RELAY_TUPLE:
    case NNV_RELAY_GET:
        for (; s->next < e->n_args; s->next++)
            if (!have(m, e->args[s->next], s->frame, &st)) return st;
        /* the analyzer takes the machine's stack for lost */
        return e->kind == NNV_RELAY_TUPLE ? tuple(m, s) : get(m, s); /* NOLINT(clang-analyzer-unix.Malloc) */
    }
    return NNV_OK;
}

/* ---------------------------------------------------------------------- run */

static bool holds_function(const struct nnv_relay_datum *d) {
    if (d->type->kind == NNV_RELAY_FN_TYPE) return true;
    for (size_t i = 0; i < d->n_fields; i++)
        if (holds_function(d->fields[i])) return true;
    return false;
}

static enum nnv_status run(struct machine *m, const struct nnv_relay_expr *f, struct nnv_relay_datum *const *args,
                           struct nnv_relay_datum **result) {
    struct frame *frame = new_frame(m, m->root);
    if (frame == NULL) return no_memory(m);
    for (size_t i = 0; i < f->n_params; i++)
        if (!bind(frame, f->params[i]->id, args[i])) return no_memory(m);
    enum nnv_status st = find(frame, f->args[0]) ? NNV_OK : push(m, f->args[0], frame);
    while (st == NNV_OK && m->depth) st = step(m);
    if (st != NNV_OK) return st;
    struct nnv_relay_datum *value = find(frame, f->args[0]);
    if (holds_function(value)) return nnv_fail(m->err, NNV_INVALID, "the result holds a function");
    *result = value;
    return NNV_OK;
}

static enum nnv_status check_args(const struct nnv_relay_module *m, const char *name, const struct nnv_relay_expr *f,
                                  struct nnv_relay_datum *const *args, size_t n_args, struct nnv_err *err) {
    if (f == NULL) return nnv_fail(err, NNV_INVALID, "%s: there is no function @%s", m->file, name);
    if (f->n_params != n_args)
        return nnv_fail(err, NNV_INVALID, "@%s has %zu parameters, and %zu values are given", name, f->n_params,
                        n_args);
    for (size_t i = 0; i < n_args; i++)
        if (!nnv_relay_type_known(args[i]->type) || !nnv_relay_type_fits(f->params[i]->declared, args[i]->type))
            return nnv_fail(err, NNV_INVALID, "@%s: the value of %%%s is not of its type", name, f->params[i]->name);
    return NNV_OK;
}

enum nnv_status nnv_relay_run(const struct nnv_relay_module *m, const char *function_name,
                              struct nnv_relay_datum *const *args, size_t n_args,
                              const struct nnv_relay_external *external, struct nnv_arena *arena,
                              struct nnv_relay_datum **result, struct nnv_err *err) {
    const struct nnv_relay_expr *f = nnv_relay_find(m, function_name);
    enum nnv_status st = check_args(m, function_name, f, args, n_args, err);
    if (st != NNV_OK) return st;
    struct machine machine = {.m = *m,
                              .external = external,
                              .arena = arena,
                              .scratch = nnv_arena_new(),
                              .err = err,
                              .before = nnv_arena_used(arena)};
    machine.m.arena = arena;
    if (machine.scratch) machine.root = new_frame(&machine, NULL);
    st = machine.root ? run(&machine, f, args, result) : no_memory(&machine);
    free(machine.stack);
    nnv_arena_free(machine.scratch);
    return st;
}
