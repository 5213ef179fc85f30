/* SPDX-License-Identifier: Apache-2.0 */
/* What @main does: regions, moves and casts in evaluation order, and where each tensor is. */
#include <string.h>

#include "base/map.h"
#include "compiler/nnapi/program/program.h"

enum { ALIGN = 64, MOST_NAMES = 8 };

/** The tensors of a value. */
struct tensors {
    uint32_t *number;
    size_t n;
    bool known;
};

struct planner {
    struct nnv_relay_module *m;
    struct nnv_program p;
    struct tensors *of; /**< by id of the expression */
    size_t cap_tensors, cap_steps;
    struct nnv_map *against; /**< what the program can't do: the reasons */
    struct nnv_arena *arena;
    struct nnv_err *err;
};

/* ------------------------------------------------------------------------- parts */

static struct nnv_program_tensor *new_tensor(struct planner *c, enum nnv_program_place place,
                                             const struct nnv_relay_type *type, uint32_t *number) {
    struct nnv_program *p = &c->p;
    if (p->n_tensors == c->cap_tensors) {
        const size_t cap = c->cap_tensors ? 2 * c->cap_tensors : 64;
        struct nnv_program_tensor *more = NNV_NEW(c->arena, struct nnv_program_tensor, cap);
        if (!more) return NULL;
        if (p->n_tensors) memcpy(more, p->tensors, p->n_tensors * sizeof *more);
        p->tensors = more;
        c->cap_tensors = cap;
    }
    struct nnv_program_tensor *t = &p->tensors[p->n_tensors];
    *t = (struct nnv_program_tensor){.place = place, .type = type};
    nnv_relay_type_elems(type, &t->elems, &t->bytes); /* the caller has seen that it is known */
    *number = (uint32_t)p->n_tensors++;
    return t;
}

static struct nnv_program_step *new_step(struct planner *c, enum nnv_program_step_kind kind,
                                         const struct nnv_relay_expr *call, size_t n_in, size_t n_out) {
    struct nnv_program *p = &c->p;
    if (p->n_steps == c->cap_steps) {
        const size_t cap = c->cap_steps ? 2 * c->cap_steps : 64;
        struct nnv_program_step *more = NNV_NEW(c->arena, struct nnv_program_step, cap);
        if (!more) return NULL;
        if (p->n_steps) memcpy(more, p->steps, p->n_steps * sizeof *more);
        p->steps = more;
        c->cap_steps = cap;
    }
    struct nnv_program_step *s = &p->steps[p->n_steps];
    *s = (struct nnv_program_step){.kind = kind, .call = call, .n_in = n_in, .n_out = n_out};
    s->in = NNV_NEW(c->arena, uint32_t, n_in);
    s->out = NNV_NEW(c->arena, uint32_t, n_out);
    if (!s->in || !s->out) return NULL;
    p->n_steps++;
    return s;
}

/** A reason against the program, in two parts; it is told with the others. */
static enum nnv_status refuse(struct planner *c, const char *what, const char *more) {
    const char *reason = nnv_arena_printf(c->arena, "%s%s", what, more);
    return reason && nnv_map_add(c->against, reason) != NNV_MAP_NONE ? NNV_OK : nnv_no_memory(c->err);
}

static enum nnv_status give(struct planner *c, const struct nnv_relay_expr *e, uint32_t *number, size_t n) {
    c->of[e->id] = (struct tensors){number, n, number != NULL};
    return number ? NNV_OK : nnv_no_memory(c->err);
}

/** New tensors for a type, tuples opened; numbers[*n] and on. */
static enum nnv_status make_tensors(struct planner *c, enum nnv_program_place place, const struct nnv_relay_type *type,
                                    const char *name, uint32_t *numbers, size_t *n) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; type->kind == NNV_RELAY_TUPLE_TYPE && i < type->n_fields && st == NNV_OK; i++)
        st = make_tensors(c, place, type->fields[i], name, numbers, n);
    if (type->kind != NNV_RELAY_TENSOR) return st;
    struct nnv_program_tensor *t = new_tensor(c, place, type, &numbers[*n]);
    if (!t) return nnv_no_memory(c->err);
    t->name = name;
    ++*n;
    return NNV_OK;
}

/* --------------------------------------------------------------------- expressions */

/** The operands' tensors, one behind the other. */
static size_t count_operands(const struct planner *c, const struct nnv_relay_expr *e, size_t first_args) {
    size_t n = 0;
    for (size_t i = 0; i < first_args; i++) n += c->of[e->args[i]->id].n;
    return n;
}

static void copy_operands(const struct planner *c, const struct nnv_relay_expr *e, size_t first_args, uint32_t *to) {
    for (size_t i = 0; i < first_args; i++) {
        const struct tensors *t = &c->of[e->args[i]->id];
        for (size_t k = 0; k < t->n; k++) *to++ = t->number[k];
    }
}

static enum nnv_status plan_tuple(struct planner *c, const struct nnv_relay_expr *e) {
    const size_t n = count_operands(c, e, e->n_args);
    uint32_t *numbers = NNV_NEW(c->arena, uint32_t, n);
    if (numbers) copy_operands(c, e, e->n_args, numbers);
    return give(c, e, numbers, n);
}

static enum nnv_status plan_get(struct planner *c, const struct nnv_relay_expr *e) {
    const struct tensors *from = &c->of[e->args[0]->id];
    size_t at = 0;
    for (int64_t i = 0; i < e->index; i++) at += nnv_program_tensors(e->args[0]->type->fields[i]);
    return give(c, e, from->number + at, nnv_program_tensors(e->type));
}

static enum nnv_status plan_constant(struct planner *c, const struct nnv_relay_expr *e) {
    uint32_t *number = NNV_NEW(c->arena, uint32_t, 1);
    if (!e->tensor->data) return refuse(c, "a constant without a value", "");
    struct nnv_program_tensor *t = number ? new_tensor(c, NNV_PROGRAM_CONSTANT, e->type, number) : NULL;
    if (!t) return nnv_no_memory(c->err);
    t->constant = e->tensor;
    return give(c, e, number, 1);
}

/** A call of a region: its model's inputs are the operands, and fields of its result may be operands as they are. */
static enum nnv_status plan_region(struct planner *c, const struct nnv_relay_expr *e, size_t region) {
    const struct nnv_converted *converted = c->p.regions[region].converted;
    const size_t n_in = count_operands(c, e, e->n_args), n_out = converted->model.main.nout;
    size_t n = 0;
    if (n_in != converted->model.main.nin) return refuse(c, "a call that does not fit @", e->callee->name);
    struct nnv_program_step *s = new_step(c, NNV_PROGRAM_CALL, e, n_in, n_out);
    uint32_t *fields = NNV_NEW(c->arena, uint32_t, converted->n_results);
    uint32_t *made = NNV_NEW(c->arena, uint32_t, converted->n_results);
    if (!s || !fields || !made) return nnv_no_memory(c->err);
    s->region = region;
    copy_operands(c, e, e->n_args, s->in);
    enum nnv_status st = make_tensors(c, NNV_PROGRAM_VALUE, e->type, e->bound, made, &n);
    for (uint32_t i = 0; i < converted->n_results && st == NNV_OK; i++) {
        const uint32_t from = converted->output_of[i];
        fields[i] = converted->from_input[i] ? s->in[from] : made[i];
        if (!converted->from_input[i]) s->out[from] = made[i];
    }
    /* A value that is there twice is one output. */
    for (uint32_t i = 0; i < converted->n_results && st == NNV_OK; i++)
        if (!converted->from_input[i]) fields[i] = s->out[converted->output_of[i]];
    return st == NNV_OK ? give(c, e, fields, converted->n_results) : st;
}

static enum nnv_status plan_cast(struct planner *c, const struct nnv_relay_expr *e) {
    struct nnv_program_step *s = new_step(c, NNV_PROGRAM_CAST, e, 1, 1);
    size_t n = 0;
    if (e->type->dtype == NNV_RELAY_BFLOAT16 || e->args[0]->type->dtype == NNV_RELAY_BFLOAT16)
        return refuse(c, "cast of bfloat16", "");
    if (!s) return nnv_no_memory(c->err);
    copy_operands(c, e, 1, s->in);
    enum nnv_status st = make_tensors(c, NNV_PROGRAM_VALUE, e->type, e->bound, s->out, &n);
    return st == NNV_OK ? give(c, e, s->out, 1) : st;
}

/** One tensor of a result: the operand itself, or a new one that a step fills. */
static enum nnv_status plan_move(struct planner *c, const struct nnv_relay_expr *e, const uint32_t *operands,
                                 size_t n_operands, const struct nnv_relay_type *type, struct nnv_program_moves *moves,
                                 uint32_t *number) {
    size_t n = 0;
    if (moves->is_all) {
        *number = operands[moves->move->source];
        return NNV_OK;
    }
    struct nnv_program_step *s = new_step(c, NNV_PROGRAM_MOVE, e, n_operands, 1);
    if (!s) return nnv_no_memory(c->err);
    if (n_operands) memcpy(s->in, operands, n_operands * sizeof *operands);
    s->moves = *moves;
    enum nnv_status st = make_tensors(c, NNV_PROGRAM_VALUE, type, e->bound, s->out, &n);
    *number = s->out[0];
    return st;
}

static enum nnv_status plan_moves(struct planner *c, const struct nnv_relay_expr *e, size_t n_data) {
    struct nnv_program_moves *moves;
    struct nnv_err why = {0};
    size_t n;
    enum nnv_status st = nnv_program_trace(e, n_data, c->arena, &moves, &n, &why);
    if (st == NNV_NO_MEMORY) return nnv_no_memory(c->err);
    if (st != NNV_OK) return refuse(c, e->callee->name, why.text);
    const size_t n_operands = count_operands(c, e, n_data);
    uint32_t *operands = NNV_NEW(c->arena, uint32_t, n_operands), *numbers = NNV_NEW(c->arena, uint32_t, n);
    if (!operands || !numbers) return nnv_no_memory(c->err);
    copy_operands(c, e, n_data, operands);
    for (size_t i = 0; i < n && st == NNV_OK; i++)
        st = plan_move(c, e, operands, n_operands, e->type->kind == NNV_RELAY_TUPLE_TYPE ? e->type->fields[i] : e->type,
                       &moves[i], &numbers[i]);
    return st == NNV_OK ? give(c, e, numbers, n) : st;
}

static enum nnv_status plan_call(struct planner *c, const struct nnv_relay_expr *e) {
    size_t n_data;
    if (e->callee->kind == NNV_RELAY_GLOBAL) {
        for (size_t r = 0; r < c->p.n_regions; r++)
            if (strcmp(c->p.regions[r].function, e->callee->name) == 0) return plan_region(c, e, r);
        return refuse(c, "the function @", e->callee->name);
    }
    if (e->callee->kind != NNV_RELAY_OP) return refuse(c, "a function that is a value", "");
    if (strcmp(e->callee->name, "cast") == 0) return plan_cast(c, e);
    return nnv_program_moves(e, &n_data) ? plan_moves(c, e, n_data) : refuse(c, e->callee->name, "");
}

static enum nnv_status plan_expr(struct planner *c, const struct nnv_relay_expr *e) {
    switch (e->kind) {
    case NNV_RELAY_OP:
    case NNV_RELAY_GLOBAL:
    case NNV_RELAY_FUNCTION: /* of their calls */
    case NNV_RELAY_VAR:      /* a parameter, or what a let or a function has */
        return NNV_OK;
    case NNV_RELAY_LET:
        return refuse(c, "let", "");
    case NNV_RELAY_IF:
        return refuse(c, "if", "");
    case NNV_RELAY_CONSTANT:
    case NNV_RELAY_TUPLE:
    case NNV_RELAY_GET:
    case NNV_RELAY_CALL:
        break;
    }
    if (!e->type || !nnv_relay_type_known(e->type)) return refuse(c, "a shape that is not known", "");
    for (size_t i = 0; i < e->n_args; i++)
        if (!c->of[e->args[i]->id].known) {
            /* What stands in the way is told where it is, but other operators are looked at, too. */
            size_t n_data;
            const bool other = e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_OP &&
                               strcmp(e->callee->name, "cast") != 0 && !nnv_program_moves(e, &n_data);
            return other ? refuse(c, e->callee->name, "") : NNV_OK;
        }
    if (e->kind == NNV_RELAY_CONSTANT) return plan_constant(c, e);
    if (e->kind == NNV_RELAY_TUPLE) return plan_tuple(c, e);
    return e->kind == NNV_RELAY_GET ? plan_get(c, e) : plan_call(c, e);
}

/* ----------------------------------------------------------------------- the whole */

static enum nnv_status plan_inputs(struct planner *c, const struct nnv_relay_expr *main) {
    enum nnv_status st = NNV_OK;
    size_t total = 0;
    for (size_t i = 0; i < main->n_params; i++) {
        if (!main->params[i]->type || !nnv_relay_type_known(main->params[i]->type))
            return refuse(c, "a shape that is not known", "");
        total += nnv_program_tensors(main->params[i]->type);
    }
    if (!(c->p.inputs = NNV_NEW(c->arena, uint32_t, total))) return nnv_no_memory(c->err);
    for (size_t i = 0; i < main->n_params && st == NNV_OK; i++) {
        const struct nnv_relay_expr *v = main->params[i];
        uint32_t *own = c->p.inputs + c->p.n_inputs;
        size_t n = 0;
        st = make_tensors(c, NNV_PROGRAM_INPUT, v->type, nnv_arena_printf(c->arena, "%%%s", v->name), own, &n);
        c->p.n_inputs += n;
        if (st == NNV_OK) st = give(c, v, own, n);
    }
    for (size_t i = 0; i < c->p.n_inputs; i++) c->p.tensors[c->p.inputs[i]].number = (uint32_t)i;
    return st;
}

/** A value is made where the caller wants it; what is an input, a constant or there already is copied. */
static enum nnv_status plan_outputs(struct planner *c, const struct nnv_relay_expr *result) {
    const struct tensors *t = &c->of[result->id];
    if (!(c->p.outputs = NNV_NEW(c->arena, uint32_t, t->n))) return nnv_no_memory(c->err);
    for (size_t i = 0; i < t->n && c->p.tensors; i++) {
        struct nnv_program_tensor *from = &c->p.tensors[t->number[i]];
        uint32_t number = t->number[i];
        size_t n = 0;
        if (from->place != NNV_PROGRAM_VALUE) {
            struct nnv_program_step *s = new_step(c, NNV_PROGRAM_MOVE, NULL, 1, 1);
            struct nnv_program_loop *loop = NNV_NEW(c->arena, struct nnv_program_loop, 1);
            if (!s || !loop || !(s->moves.move = NNV_NEW(c->arena, struct nnv_program_move, 1)))
                return nnv_no_memory(c->err);
            *loop = (struct nnv_program_loop){(int64_t)from->elems, 1, 1};
            s->moves.move[0] = (struct nnv_program_move){.loops = loop, .n_loops = 1};
            s->moves.n = 1;
            s->in[0] = number;
            enum nnv_status st = make_tensors(c, NNV_PROGRAM_OUTPUT, from->type, NULL, s->out, &n);
            if (st != NNV_OK) return st;
            number = s->out[0];
        }
        c->p.tensors[number].place = NNV_PROGRAM_OUTPUT;
        c->p.tensors[number].number = (uint32_t)i;
        c->p.outputs[i] = number;
        c->p.n_outputs++;
    }
    return NNV_OK;
}

/** Numbers and room for what is used. */
static void place_values(struct nnv_program *p) {
    uint32_t values = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct nnv_program_step *s = &p->steps[i];
        for (size_t k = 0; k < s->n_out; k++) p->tensors[s->out[k]].used = true;
        for (size_t k = 0; k < s->n_in && s->kind != NNV_PROGRAM_MOVE; k++) p->tensors[s->in[k]].used = true;
        for (size_t k = 0; k < s->moves.n; k++) p->tensors[s->in[s->moves.move[k].source]].used = true;
    }
    for (size_t i = 0; i < p->n_tensors; i++) {
        struct nnv_program_tensor *t = &p->tensors[i];
        if (t->used && t->place == NNV_PROGRAM_CONSTANT) t->number = (uint32_t)p->n_constants++;
        if (!t->used || t->place != NNV_PROGRAM_VALUE) continue;
        t->number = values++;
        t->offset = p->bytes;
        p->bytes += (t->bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
}

static enum nnv_status tell(const struct planner *c) {
    struct nnv_text t = {0};
    for (uint32_t i = 0; i < c->against->count && i < MOST_NAMES; i++)
        nnv_text_addf(&t, "%s%s", i ? ", " : "", c->against->key[i]);
    if (c->against->count > MOST_NAMES) nnv_text_addf(&t, " and %u more", c->against->count - MOST_NAMES);
    enum nnv_status st = nnv_fail(c->err, NNV_UNSUPPORTED, "%s", t.data ? t.data : "");
    nnv_text_free(&t);
    return st;
}

enum nnv_status nnv_program_plan(struct nnv_relay_module *m, const struct nnv_emit *regions, size_t n,
                                 struct nnv_arena *arena, struct nnv_program *out, struct nnv_err *err) {
    struct nnv_relay_expr *main = nnv_relay_find(m, "main");
    struct nnv_map against = {.arena = arena};
    struct nnv_relay_list list;
    struct planner c = {.m = m,
                        .p = {.m = m, .regions = regions, .n_regions = n},
                        .of = NNV_NEW(arena, struct tensors, m->n_exprs),
                        .against = &against,
                        .arena = arena,
                        .err = err};
    if (!c.of) return nnv_no_memory(err);
    enum nnv_status st = nnv_relay_post_order(main->args[0], nnv_relay_enter_scope, NULL, arena, &list);
    if (st != NNV_OK) return nnv_no_memory(err);
    st = plan_inputs(&c, main);
    for (size_t i = 0; i < list.n && st == NNV_OK; i++) st = plan_expr(&c, list.exprs[i]);
    if (st == NNV_OK && against.count == 0 && !c.of[main->args[0]->id].known)
        st = refuse(&c, "a result that is no tensor", "");
    if (st == NNV_OK && against.count) return tell(&c);
    if (st == NNV_OK) st = plan_outputs(&c, main->args[0]);
    if (st != NNV_OK) return st;
    place_values(&c.p);
    *out = c.p;
    return NNV_OK;
}
