/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/partition/draw.h"

#include <math.h>
#include <string.h>

#include "reference/eval/eval.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"

enum { MOST_SIDE = 8, LARGE_SIDE = 40, SHORT = 12, MOST_INPUTS = 4, MOST_OPERANDS = 2 };

/** The largest magnitude that a value may reach: sums and products of larger ones get a fused activation. */
static const double most_magnitude = 8;

/** What operations are drawn from: two of each level, and more of the first. */
static const struct pattern {
    int32_t code;
    int operands; /* tensors that are other operations' results */
    bool fused;   /* has a fused activation */
} patterns[] = {
    {ANEURALNETWORKS_ADD, 2, true},        {ANEURALNETWORKS_LOGISTIC, 1, false}, {ANEURALNETWORKS_MUL, 2, true},
    {ANEURALNETWORKS_RNN, 2, true},        {ANEURALNETWORKS_TANH, 1, false},     {ANEURALNETWORKS_SUB, 2, true},
    {ANEURALNETWORKS_TRANSPOSE, 1, false}, {ANEURALNETWORKS_MAXIMUM, 2, false},  {ANEURALNETWORKS_NEG, 1, false},
    {ANEURALNETWORKS_SIN, 1, false},       {ANEURALNETWORKS_ELU, 1, false},      {ANEURALNETWORKS_HARD_SWISH, 1, false},
};

/** A graph that grows. */
struct growth {
    const struct nnv_web *web;
    struct nnv_builder b;
    struct nnv_rng rng;
    uint32_t side;
    double *magnitude; /* one an operand: its values are not larger */
    uint32_t *reads;   /* one an operand: how often it is read */
    uint32_t *result;  /* operands that operations wrote */
    uint32_t nresults;
    uint32_t in[MOST_INPUTS], nin;
    bool rooted; /* every operation reads an earlier one */
    bool failed;
};

static const struct nnv_encoding real = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};

static int64_t draw(struct growth *g, int64_t lo, int64_t hi) { return nnv_rng_int(&g->rng, lo, hi); }
static bool chance(struct growth *g, double p) { return nnv_rng_unit(&g->rng) < p; }

static uint32_t add_tensor(struct growth *g, enum nnv_lifetime lifetime, double magnitude) {
    const uint32_t dims[] = {g->side, g->side};
    const uint32_t at = nnv_builder_tensor(&g->b, real, 2, dims, lifetime);
    if (!g->b.failed) g->magnitude[at] = magnitude;
    return at;
}

/* count numbers in [-most, most). */
static float *make_numbers(struct growth *g, size_t count, double most) {
    float *data = NNV_NEW(g->b.arena, float, count);
    for (size_t i = 0; data && i < count; i++) data[i] = (float)nnv_rng_uniform(&g->rng, -most, most);
    return data;
}

static uint32_t add_constant(struct growth *g, uint32_t rank, double most) {
    const uint32_t dims[] = {g->side, g->side};
    const size_t count = rank == 2 ? (size_t)g->side * g->side : g->side;
    const enum nnv_lifetime lifetime = chance(g, 0.5) ? NNV_CONSTANT_REFERENCE : NNV_CONSTANT_COPY;
    const uint32_t at = nnv_builder_tensor(&g->b, real, rank, dims, lifetime);
    if (g->b.failed) return 0;
    g->b.operand[at].bytes = count * sizeof(float);
    g->b.operand[at].data = make_numbers(g, count, most);
    if (!g->b.operand[at].data) g->b.failed = true;
    g->magnitude[at] = most;
    return at;
}

static uint32_t pick_input(struct growth *g) {
    if (g->nin == 0 || (g->nin < MOST_INPUTS && chance(g, 0.3))) g->in[g->nin++] = add_tensor(g, NNV_SUBGRAPH_INPUT, 1);
    return g->in[draw(g, 0, g->nin - 1)];
}

/* An earlier result, the newer ones rather. */
static uint32_t pick_result(struct growth *g) {
    const int64_t last = (int64_t)g->nresults - 1;
    const int64_t a = draw(g, 0, last), b = draw(g, 0, last);
    return g->result[a > b ? a : b];
}

/* Operand `at` of an operation, of which `wired` others are no constants. */
static uint32_t pick_operand(struct growth *g, bool last, bool wired) {
    const bool must = last && !wired && (g->web->plain || !chance(g, 0.1));
    if (!must && chance(g, 0.3)) return add_constant(g, 2, 1);
    if (g->nresults > 0 && ((must && g->rooted) || chance(g, 0.8))) return pick_result(g);
    return pick_input(g);
}

/* An activation that keeps the result small. */
static int32_t pick_activation(struct growth *g, double *magnitude) {
    static const double limits[] = {INFINITY, INFINITY, 1, 6};
    int32_t code = (int32_t)draw(g, 0, 3);
    if (*magnitude > most_magnitude && !(limits[code] <= most_magnitude)) code = chance(g, 0.7) ? 2 : 3;
    *magnitude = fmin(*magnitude, limits[code]);
    return code;
}

static double magnitude_of(struct growth *g, int32_t code, double a, double b) {
    switch (code) {
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_SUB:
        return a + b;
    case ANEURALNETWORKS_MUL:
        return a * b;
    case ANEURALNETWORKS_RNN:
        return (g->side * (a + b) + 1) * 0.5;
    case ANEURALNETWORKS_MAXIMUM:
        return fmax(a, b);
    case ANEURALNETWORKS_LOGISTIC:
    case ANEURALNETWORKS_TANH:
    case ANEURALNETWORKS_SIN:
        return 1;
    case ANEURALNETWORKS_ELU:
        return fmax(a, 1);
    default:
        return a;
    }
}

static uint32_t add_result(struct growth *g, double magnitude) {
    const uint32_t at = add_tensor(g, NNV_TEMPORARY_VARIABLE, magnitude);
    g->result[g->nresults++] = at;
    return at;
}

/* RNN: weights, recurrent weights and bias stand between input and hidden state; it has two results. */
static void finish_rnn(struct growth *g, const uint32_t from[2], int32_t activation, double magnitude) {
    const uint32_t in[] = {from[0], add_constant(g, 2, 0.5),           add_constant(g, 2, 0.5), add_constant(g, 1, 0.5),
                           from[1], nnv_builder_int(&g->b, activation)};
    uint32_t out[2];
    for (int i = 0; i < 2; i++) out[i] = add_result(g, magnitude);
    nnv_builder_add(&g->b, ANEURALNETWORKS_RNN, 6, in, out[0]);
    if (g->b.failed) return;
    struct nnv_operation *op = &g->b.operation[g->b.noperations - 1];
    op->nout = 2;
    op->out = nnv_arena_copy(g->b.arena, out, sizeof out);
    if (!op->out) g->b.failed = true;
}

static void grow_once(struct growth *g) {
    const struct pattern *p = &patterns[draw(g, 0, sizeof patterns / sizeof *patterns - 1)];
    uint32_t from[MOST_OPERANDS] = {0}, in[MOST_OPERANDS + 1], n = 0;
    bool wired = false;
    for (int i = 0; i < p->operands; i++) {
        from[i] = pick_operand(g, i + 1 == p->operands, wired);
        if (g->b.failed) return;
        wired = wired || g->b.operand[from[i]].data == NULL;
        g->reads[from[i]]++;
        in[n++] = from[i];
    }
    double most = magnitude_of(g, p->code, g->magnitude[from[0]], g->magnitude[from[1]]);
    const int32_t activation = p->fused ? pick_activation(g, &most) : 0;
    if (p->code == ANEURALNETWORKS_RNN) {
        finish_rnn(g, from, activation, most);
        return;
    }
    if (p->fused) in[n++] = nnv_builder_int(&g->b, activation);
    if (p->code == ANEURALNETWORKS_TRANSPOSE) in[n++] = nnv_builder_ints(&g->b, 2, (const int32_t[]){1, 0});
    if (p->code == ANEURALNETWORKS_ELU) in[n++] = nnv_builder_float(&g->b, (float)nnv_rng_uniform(&g->rng, 0.1, 1));
    nnv_builder_add(&g->b, p->code, n, in, add_result(g, most));
}

/* What nobody reads is an output (in graphs with dead operations: perhaps not), and one or another that is read on. */
static uint32_t take_outputs(struct growth *g, uint32_t *out) {
    const bool dead = !g->web->plain && chance(g, 0.2);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nresults; i++) {
        struct nnv_operand *o = &g->b.operand[g->result[i]];
        const bool read = g->reads[g->result[i]] > 0, last = i + 1 == g->nresults && n == 0;
        if (!last && (read ? !chance(g, 0.1) : dead && chance(g, 0.5))) continue;
        o->lifetime = NNV_SUBGRAPH_OUTPUT;
        out[n++] = g->result[i];
    }
    return n;
}

/* One graph in four leaves extents or ranks of results open. */
static void leave_open(struct growth *g) {
    if (g->web->plain || !chance(g, 0.25)) return;
    for (uint32_t i = 0; i < g->nresults; i++) {
        struct nnv_operand *o = &g->b.operand[g->result[i]];
        if (!chance(g, 0.4)) continue;
        if (chance(g, 0.3))
            o->rank = 0;
        else
            o->dims[draw(g, 0, 1)] = 0;
    }
}

static bool fill_inputs(struct growth *g, struct nnv_spec *spec) {
    const size_t count = (size_t)g->side * g->side;
    spec->inputs = NNV_NEW(g->b.arena, struct nnv_value, g->nin);
    for (uint32_t i = 0; spec->inputs && i < g->nin; i++) {
        spec->inputs[i] = (struct nnv_value){.rank = 2, .dims = {g->side, g->side}, .bytes = count * sizeof(float)};
        if (!(spec->inputs[i].data = make_numbers(g, count, 1))) return false;
    }
    return spec->inputs != NULL;
}

/* The golden results as expected outputs. */
static enum nnv_status evaluate(struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_err *err) {
    const uint32_t n = spec->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, n);
    spec->outputs = NNV_NEW(arena, struct nnv_value, n);
    if (!golden || !spec->outputs) return nnv_no_memory(err);
    enum nnv_status st = nnv_eval(&spec->model, spec->inputs, &(struct nnv_eval_options){0}, arena, golden, err);
    for (uint32_t i = 0; !st && i < n; i++) spec->outputs[i] = golden[i].value;
    return st;
}

enum nnv_status nnv_web_build(const struct nnv_web *web, struct nnv_arena *arena, struct nnv_spec **spec,
                              struct nnv_err *err) {
    struct growth g = {.web = web, .b = {.arena = arena}, .rng = nnv_rng_make(web->seed, 0x3eb, web->index)};
    struct nnv_spec *made = NNV_NEW(arena, struct nnv_spec, 1);
    const uint32_t count = (uint32_t)draw(&g, web->least, web->most);
    const size_t room = MOST_INPUTS + (size_t)count * 8; /* RNN has the most operands */
    uint32_t *out = NNV_NEW(arena, uint32_t, room);
    g.magnitude = NNV_NEW(arena, double, room);
    g.reads = NNV_NEW(arena, uint32_t, room);
    g.result = NNV_NEW(arena, uint32_t, room);
    if (!made || !out || !g.magnitude || !g.reads || !g.result) return nnv_no_memory(err);
    g.side = (uint32_t)draw(&g, 1, MOST_SIDE);
    if (count <= SHORT && chance(&g, 0.06)) g.side = LARGE_SIDE; /* values of more than a page */
    g.rooted = web->plain || chance(&g, 0.75);
    if (g.rooted) pick_input(&g);
    for (uint32_t i = 0; i < count && !g.b.failed; i++) grow_once(&g);
    if (g.b.failed) return nnv_no_memory(err);
    if (g.nin == 0) g.in[g.nin++] = add_tensor(&g, NNV_SUBGRAPH_INPUT, 1);
    const uint32_t nout = take_outputs(&g, out);
    leave_open(&g);
    made->name = web->name;
    enum nnv_status st = nnv_builder_end(&g.b, g.nin, g.in, nout, out, &made->model, err);
    if (!st && !fill_inputs(&g, made)) st = nnv_no_memory(err);
    if (!st) st = nnv_validate(&made->model, arena, &made->min_version, err);
    if (!st) st = evaluate(made, arena, err);
    if (!st) *spec = made;
    return st;
}
