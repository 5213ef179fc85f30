/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operator moves elements to: its kernel runs on their numbers. */
#include <string.h>

#include "compiler/nnapi/program/program.h"
#include "compiler/relay/interp/interp.h"

enum { MOST_MOVES = 64 /**< of a tensor */, MOST_LOOPS = 2 * NNV_RELAY_RANK };
static const size_t MOST_ELEMENTS = (size_t)1 << 26;

/** Operators that move elements, and how many of their operands hold these; 0: all. */
static const struct {
    const char *op;
    size_t n_data;
} movers[] = {
    {"broadcast_to", 0},
    {"broadcast_to_like", 0},
    {"concatenate", 0},
    {"copy", 0},
    {"expand_dims", 0},
    {"layout_transform", 0},
    {"nn.batch_flatten", 0},
    {"nn.batch_to_space_nd", 0},
    {"nn.depth_to_space", 0},
    {"nn.mirror_pad", 0},
    {"nn.pad", 0},
    {"nn.space_to_depth", 0},
    {"repeat", 0},
    {"reshape", 0},
    {"reshape_like", 0},
    {"reverse", 0},
    {"split", 0},
    {"squeeze", 0},
    {"stack", 0},
    {"strided_slice", 0},
    {"take", 1},
    {"tile", 0},
    {"transpose", 0},
};

bool nnv_program_moves(const struct nnv_relay_expr *call, size_t *n_data) {
    const char *name = nnv_relay_op_name(call);
    for (size_t i = 0; name && i < sizeof movers / sizeof *movers; i++) {
        if (strcmp(movers[i].op, name) != 0) continue;
        *n_data = movers[i].n_data ? movers[i].n_data : call->n_args;
        for (size_t k = *n_data; k < call->n_args; k++)
            if (call->args[k]->kind != NNV_RELAY_CONSTANT) return false;
        return true;
    }
    return false;
}

size_t nnv_program_tensors(const struct nnv_relay_type *type) {
    size_t n = 0;
    if (type->kind != NNV_RELAY_TUPLE_TYPE) return 1;
    for (size_t i = 0; i < type->n_fields; i++) n += nnv_program_tensors(type->fields[i]);
    return n;
}

/* -------------------------------------------------------------------------- running */

/** A call whose operands are numbered: element k of tensor i is first[i] + k + 1, and 0 is what comes from nowhere. */
struct trace {
    struct nnv_relay_module *m;
    struct nnv_arena *arena; /**< of the result */
    struct nnv_arena *scratch;
    struct nnv_relay_expr **params;
    struct nnv_relay_datum **args;
    size_t *first, n;
    size_t elements; /**< numbered so far */
    struct nnv_err *err;
};

/** A parameter of a type's shape, whose value are numbers. */
static struct nnv_relay_expr *numbered(struct trace *t, const struct nnv_relay_type *type) {
    size_t elems, bytes;
    struct nnv_relay_datum *d = NNV_NEW(t->scratch, struct nnv_relay_datum, 1);
    const char *name = nnv_arena_printf(t->scratch, "x%zu", t->n);
    if (!nnv_relay_type_elems(type, &elems, &bytes) || elems > MOST_ELEMENTS || !d || !name ||
        !(d->values = NNV_NEW(t->scratch, double, elems)))
        return NULL;
    d->type = nnv_relay_tensor_type(t->scratch, NNV_RELAY_FLOAT64, type->n_dims, type->dims);
    d->n = elems;
    t->first[t->n] = t->elements;
    for (size_t i = 0; i < elems; i++) d->values[i] = (double)++t->elements;
    t->args[t->n] = d;
    return t->params[t->n++] = d->type ? nnv_relay_var(t->m, name, d->type) : NULL;
}

static struct nnv_relay_expr *operand(struct trace *t, const struct nnv_relay_type *type) {
    if (type->kind == NNV_RELAY_TENSOR) return numbered(t, type);
    struct nnv_relay_expr **fields = NNV_NEW(t->scratch, struct nnv_relay_expr *, type->n_fields);
    if (type->kind != NNV_RELAY_TUPLE_TYPE || !fields) return NULL;
    for (size_t i = 0; i < type->n_fields; i++)
        if (!(fields[i] = operand(t, type->fields[i]))) return NULL;
    return nnv_relay_tuple(t->m, type->n_fields, fields);
}

/** The call's result on numbers; NULL if it has none, with *err. */
static struct nnv_relay_datum *run(struct trace *t, const struct nnv_relay_expr *call, size_t n_data) {
    struct nnv_relay_expr **operands = NNV_NEW(t->scratch, struct nnv_relay_expr *, call->n_args);
    struct nnv_relay_datum *result = NULL;
    for (size_t i = 0; operands && i < call->n_args; i++)
        operands[i] = i < n_data ? operand(t, call->args[i]->type) : nnv_relay_constant(t->m, call->args[i]->tensor);
    struct nnv_relay_expr *body = operands ? nnv_relay_call(t->m, nnv_relay_operator(t->m, call->callee->name),
                                                            call->n_args, operands, call->n_attrs, call->attrs)
                                           : NULL;
    struct nnv_relay_expr *main = nnv_relay_fn(t->m, t->n, t->params, NULL, body, 0, NULL);
    if (!main || !nnv_relay_define(t->m, "main", main)) return NULL;
    if (nnv_relay_check(t->m, t->err) != NNV_OK ||
        nnv_relay_run(t->m, "main", t->args, t->n, NULL, t->scratch, &result, t->err) != NNV_OK)
        return NULL;
    return result;
}

/* -------------------------------------------------------------------------- loops */

/** An element that is copied. */
struct pair {
    int64_t to, from;
};

/** Elements from the first on that keep its distance to the second. */
static size_t run_length(const struct pair *p, size_t n) {
    size_t k = 1;
    while (k < n && p[k].to - p[k - 1].to == p[1].to - p[0].to && p[k].from - p[k - 1].from == p[1].from - p[0].from)
        k++;
    return k;
}

/** True if the whole list is runs like its first one, of length c. */
static bool is_regular(const struct pair *p, size_t n, size_t c) {
    if (n % c) return false;
    for (size_t i = 0; i < n; i++)
        if (i % c && (p[i].to - p[i - 1].to != p[1].to - p[0].to || p[i].from - p[i - 1].from != p[1].from - p[0].from))
            return false;
    return true;
}

/** The list as nested loops; false if it is none. p is used up. */
static bool find_loops(struct pair *p, size_t n, struct nnv_program_loop *loops, size_t *n_loops) {
    *n_loops = 0;
    while (n > 1) {
        const size_t c = run_length(p, n);
        if (*n_loops == MOST_LOOPS || !is_regular(p, n, c)) return false;
        loops[(*n_loops)++] = (struct nnv_program_loop){(int64_t)c, p[1].to - p[0].to, p[1].from - p[0].from};
        for (size_t i = 0; i < n / c; i++) p[i] = p[i * c];
        n /= c;
    }
    for (size_t i = 0; i < *n_loops / 2; i++) { /* the innermost was found first */
        struct nnv_program_loop swap = loops[i];
        loops[i] = loops[*n_loops - 1 - i];
        loops[*n_loops - 1 - i] = swap;
    }
    return true;
}

static enum nnv_status add_move(const struct trace *t, struct nnv_program_moves *to, size_t source, struct pair *p,
                                size_t n, bool *taken) {
    struct nnv_program_loop loops[MOST_LOOPS];
    struct nnv_program_move made = {.source = (uint32_t)source, .to = p[0].to, .from = p[0].from};
    struct pair *copy = nnv_arena_copy(t->scratch, p, n * sizeof *p);
    if (!copy) return nnv_no_memory(t->err);
    *taken = find_loops(copy, n, loops, &made.n_loops);
    if (!*taken) return NNV_OK;
    made.loops = nnv_arena_copy(t->arena, loops, made.n_loops * sizeof *loops);
    if (!made.loops) return nnv_no_memory(t->err);
    to->move[to->n++] = made;
    return NNV_OK;
}

/** A source of one element first fills all, and what is not its own is written over it: so a pad's value. */
static enum nnv_status fill(const struct trace *t, struct nnv_program_moves *to, size_t source, size_t elements) {
    struct nnv_program_loop *loop = NNV_NEW(t->arena, struct nnv_program_loop, 1);
    if (!loop) return nnv_no_memory(t->err);
    *loop = (struct nnv_program_loop){(int64_t)elements, 1, 0};
    to->move[to->n++] = (struct nnv_program_move){.source = (uint32_t)source, .loops = loop, .n_loops = 1};
    return NNV_OK;
}

/** All of a source at once, if it is regular, else run by run; the result has so many elements. */
static enum nnv_status add_moves(const struct trace *t, struct nnv_program_moves *to, size_t source, struct pair *p,
                                 size_t n, size_t elements) {
    bool taken = n == 0;
    enum nnv_status st = taken ? NNV_OK : add_move(t, to, source, p, n, &taken);
    if (st == NNV_OK && !taken && t->args[source]->n == 1 && to->n == 0) return fill(t, to, source, elements);
    while (st == NNV_OK && !taken && n > 0) {
        const size_t c = run_length(p, n);
        bool run_taken;
        if (to->n == MOST_MOVES) return nnv_fail(t->err, NNV_UNSUPPORTED, " moves elements in no regular order");
        st = add_move(t, to, source, p, c, &run_taken);
        p += c;
        n -= c;
    }
    return st;
}

/** Where the elements of one tensor of the result come from: sources of one element before the others. */
static enum nnv_status trace_tensor(const struct trace *t, const struct nnv_relay_datum *d,
                                    struct nnv_program_moves *to) {
    struct pair *p = NNV_NEW(t->scratch, struct pair, d->n);
    enum nnv_status st = NNV_OK;
    size_t found = 0;
    to->move = NNV_NEW(t->arena, struct nnv_program_move, MOST_MOVES + 1);
    if (!p || !to->move) return nnv_no_memory(t->err);
    for (size_t i = 0; i < d->n; i++) found += d->values[i] == 0;
    to->zeros = found > 0;
    for (size_t k = 0; k < 2 * t->n && st == NNV_OK; k++) {
        const size_t s = k % t->n;
        if ((t->args[s]->n == 1) != (k < t->n)) continue;
        const double low = (double)t->first[s], high = low + (double)t->args[s]->n;
        size_t n = 0;
        for (size_t i = 0; i < d->n; i++)
            if (d->values[i] > low && d->values[i] <= high)
                p[n++] = (struct pair){(int64_t)i, (int64_t)(d->values[i] - low) - 1};
        st = add_moves(t, to, s, p, n, d->n);
        found += n;
    }
    if (st == NNV_OK && found < d->n) return nnv_fail(t->err, NNV_UNSUPPORTED, " gives values that no operand has");
    const struct nnv_program_move *only = to->move;
    to->is_all = to->n == 1 && !to->zeros && d->n == t->args[only->source]->n && only->to == 0 && only->from == 0 &&
                 (only->n_loops == 0 || (only->n_loops == 1 && only->loops[0].to == 1 && only->loops[0].from == 1));
    return st;
}

static enum nnv_status trace(struct trace *t, const struct nnv_relay_expr *call, size_t n_data,
                             struct nnv_program_moves **results, size_t *n_results) {
    size_t n = 0;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n_data; i++) n += nnv_program_tensors(call->args[i]->type);
    t->m = nnv_relay_module_new(t->scratch);
    t->params = NNV_NEW(t->scratch, struct nnv_relay_expr *, n);
    t->args = NNV_NEW(t->scratch, struct nnv_relay_datum *, n);
    t->first = NNV_NEW(t->scratch, size_t, n);
    if (!t->m || !t->params || !t->args || !t->first) return nnv_no_memory(t->err);
    struct nnv_relay_datum *d = run(t, call, n_data);
    if (!d) return nnv_fail(t->err, NNV_UNSUPPORTED, " cannot be traced");
    const bool tuple = d->type->kind == NNV_RELAY_TUPLE_TYPE;
    *n_results = tuple ? d->n_fields : 1;
    *results = NNV_NEW(t->arena, struct nnv_program_moves, *n_results);
    if (!*results) return nnv_no_memory(t->err);
    for (size_t i = 0; i < *n_results && st == NNV_OK; i++)
        st = trace_tensor(t, tuple ? d->fields[i] : d, &(*results)[i]);
    return st;
}

enum nnv_status nnv_program_trace(const struct nnv_relay_expr *call, size_t n_data, struct nnv_arena *arena,
                                  struct nnv_program_moves **results, size_t *n_results, struct nnv_err *err) {
    struct trace t = {.arena = arena, .scratch = nnv_arena_new(), .err = err};
    enum nnv_status st = t.scratch ? trace(&t, call, n_data, results, n_results) : nnv_no_memory(err);
    nnv_arena_free(t.scratch);
    return st;
}
