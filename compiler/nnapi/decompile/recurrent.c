/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers as Relay operators, of which each step has its own: Relay has no operator for a layer. */
#include "compiler/nnapi/decompile/in.h"

enum {
    WEIGHTS = 1, /* of the input, from here on by gate, as the two that follow */
    RECURRENT = 5,
    PEEPHOLE = 9,
    BIAS = 12,
    PROJECTION = 16,
    STATE = 18,
    CELL,
    ACTIVATION,
    CELL_CLIP,
    TIME_MAJOR = 23,
    NORM,
    NORM_END = 28,
};
enum gate { IN, FORGET, UPDATE, OUT };

static struct nnv_relay_expr *of_one(struct nnv_decompiler *l, const char *op, struct nnv_relay_expr *e) {
    return op ? nnv_decompile_call(l, op, NNV_DECOMPILE_ARGS(e), 0, NULL) : e;
}

static struct nnv_relay_expr *of_two(struct nnv_decompiler *l, const char *op, struct nnv_relay_expr *a,
                                     struct nnv_relay_expr *b) {
    return nnv_decompile_call(l, op, NNV_DECOMPILE_ARGS(a, b), 0, NULL);
}

static struct nnv_relay_expr *dense(struct nnv_decompiler *l, struct nnv_relay_expr *e, uint32_t weights) {
    return nnv_decompile_call(
        l, "nn.dense", NNV_DECOMPILE_ARGS(e, nnv_decompile_in(l, weights)),
        NNV_DECOMPILE_ATTRS(nnv_decompile_int("units", nnv_dim(nnv_decompile_shape(l, weights), 0))));
}

static struct nnv_relay_expr *gate(struct nnv_decompiler *l, enum gate g, const char *activation,
                                   struct nnv_relay_expr *x, struct nnv_relay_expr *state) {
    struct nnv_relay_expr *given = nnv_decompile_call(
        l, "nn.bias_add", NNV_DECOMPILE_ARGS(dense(l, x, WEIGHTS + g), nnv_decompile_in(l, BIAS + g)),
        NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", 1)));
    return of_one(l, activation, of_two(l, "add", given, dense(l, state, RECURRENT + g)));
}

/* The operator of an activation of a cell; refused: it has none. */
static const char *activation(struct nnv_decompiler *l) {
    static const char *const names[] = {[1] = "nn.relu", [4] = "tanh", [6] = "sigmoid"};
    const double code = nnv_decompile_number(l, ACTIVATION, 0);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (code == (double)i && names[i]) return names[i];
    l->refused = l->refused || code != 0;
    return NULL;
}

/* All gates, and neither peepholes nor projection nor normalisation. */
static bool is_plain(const struct nnv_decompiler *l) {
    bool plain = true;
    for (uint32_t i = PEEPHOLE; i < NORM_END; i++) {
        const bool other = i < BIAS || i == PROJECTION || i == PROJECTION + 1 || i >= NORM;
        plain = plain && !(other && nnv_decompile_has(l, i));
    }
    return plain && nnv_decompile_has(l, WEIGHTS);
}

static void sequence_lstm(struct nnv_decompiler *l) {
    const struct nnv_shape *shape = nnv_decompile_shape(l, 0);
    const int64_t time = nnv_decompile_number(l, TIME_MAJOR, 0) != 0 ? 0 : 1;
    const uint32_t steps = shape->rank == 3 ? nnv_dim(shape, (uint32_t)time) : 0;
    const char *squash = activation(l);
    const double limit = nnv_decompile_number(l, CELL_CLIP, 0);
    struct nnv_relay_expr *state = nnv_decompile_in(l, STATE), *cell = nnv_decompile_in(l, CELL);
    struct nnv_relay_expr **given = NNV_NEW(l->arena, struct nnv_relay_expr *, steps);
    if (!given) l->failed = true;
    if (!steps || !is_plain(l)) l->refused = true;
    struct nnv_relay_expr *slices = nnv_decompile_call(
        l, "split", NNV_DECOMPILE_ARGS(nnv_decompile_in(l, 0)),
        NNV_DECOMPILE_ATTRS(nnv_decompile_int("indices_or_sections", steps), nnv_decompile_int("axis", time)));
    for (uint32_t t = 0; t < steps && slices; t++) {
        struct nnv_relay_expr *x = nnv_decompile_call(l, "squeeze", NNV_DECOMPILE_ARGS(nnv_relay_get(l->m, slices, t)),
                                                      NNV_DECOMPILE_ATTRS(nnv_decompile_list(l, "axis", 1, &time)));
        struct nnv_relay_expr *kept = of_two(l, "multiply", gate(l, FORGET, "sigmoid", x, state), cell);
        struct nnv_relay_expr *added =
            of_two(l, "multiply", gate(l, IN, "sigmoid", x, state), gate(l, UPDATE, squash, x, state));
        struct nnv_relay_expr *out = gate(l, OUT, "sigmoid", x, state);
        cell = of_two(l, "add", kept, added);
        if (limit > 0) cell = nnv_decompile_clip(l, cell, -limit, limit);
        given[t] = state = of_two(l, "multiply", out, of_one(l, squash, cell));
    }
    if (l->failed || l->refused) return;
    nnv_decompile_put(l, 0,
                      nnv_decompile_call(l, "stack", NNV_DECOMPILE_ARGS(nnv_relay_tuple(l->m, steps, given)),
                                         NNV_DECOMPILE_ATTRS(nnv_decompile_int("axis", time))));
    if (l->op->nout > 1) nnv_decompile_put(l, 1, state);
    if (l->op->nout > 2) nnv_decompile_put(l, 2, cell);
}

static const struct nnv_decompile_row rows[] = {
    {ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, sequence_lstm, NULL},
};
const struct nnv_decompile_rows nnv_decompile_recurrent = {rows, sizeof rows / sizeof *rows};
