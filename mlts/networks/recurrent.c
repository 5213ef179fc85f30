/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/recurrent.h"

#include <math.h>

#include "reference/model/builder.h"

enum { MOST_LAYERS = 16, MOST_EXTENT = 8192, MOST_IO = 2 * MOST_LAYERS + 4, GATES = 4 };

/** A network that is being built: inputs and outputs of the model so far, states last. */
struct build {
    struct nnv_builder b;
    uint32_t in[MOST_IO], out[MOST_IO], nin, nout, nstates;
    struct nnv_network_state state[MOST_IO];
};

static const struct nnv_encoding real = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};

static uint32_t row(struct build *d, uint32_t n, enum nnv_lifetime lifetime) {
    const uint32_t dims[] = {1, n};
    return nnv_builder_tensor(&d->b, real, 2, dims, lifetime);
}

/** Weights of so many outputs: sums keep the size of what goes in. */
static uint32_t matrix(struct build *d, uint32_t rows, uint32_t columns) {
    const uint32_t dims[] = {rows, columns};
    return nnv_builder_weights(&d->b, real, 2, dims, sqrt(1.0 / columns));
}

static uint32_t vector(struct build *d, uint32_t n) { return nnv_builder_weights(&d->b, real, 1, &n, 0.1); }

static uint32_t omitted(struct build *d) {
    static const uint32_t none[] = {0};
    return nnv_builder_tensor(&d->b, real, 1, none, NNV_NO_VALUE);
}

static uint32_t input(struct build *d, uint32_t operand) { return d->in[d->nin++] = operand; }

/** A state [1, n] and its next value. */
static void add_state(struct build *d, uint32_t n, uint32_t *before, uint32_t *after) {
    *before = row(d, n, NNV_SUBGRAPH_INPUT);
    *after = row(d, n, NNV_SUBGRAPH_OUTPUT);
    d->state[d->nstates++] = (struct nnv_network_state){*before, *after};
}

/** y = act(W x + b), [1, n] to [1, units]. */
static uint32_t dense(struct build *d, uint32_t x, uint32_t n, uint32_t units, int32_t activation,
                      enum nnv_lifetime lifetime) {
    const uint32_t in[] = {x, matrix(d, units, n), vector(d, units), nnv_builder_int(&d->b, activation)};
    const uint32_t y = row(d, units, lifetime);
    nnv_builder_add(&d->b, ANEURALNETWORKS_FULLY_CONNECTED, 4, in, y);
    return y;
}

static uint32_t boolean(struct build *d, bool v) {
    struct nnv_operand o = {.type = ANEURALNETWORKS_BOOL, .lifetime = NNV_CONSTANT_COPY, .bytes = 1};
    o.data = nnv_arena_copy(d->b.arena, &(uint8_t){v}, 1);
    if (!o.data) d->b.failed = true;
    return nnv_builder_operand(&d->b, o);
}

/** The weights of a cell: what its inputs are up to the states, x first; the number of them. */
static uint32_t cell_weights(struct build *d, uint32_t x, uint32_t n, uint32_t units, uint32_t projection,
                             uint32_t in[18]) {
    enum { PEEPHOLES = 3 };
    const uint32_t outputs = projection ? projection : units;
    uint32_t k = 0;
    in[k++] = x;
    for (int g = 0; g < GATES; g++) in[k++] = matrix(d, units, n);
    for (int g = 0; g < GATES; g++) in[k++] = matrix(d, units, outputs);
    for (int g = 0; g < PEEPHOLES; g++) in[k++] = omitted(d);
    for (int g = 0; g < GATES; g++) in[k++] = vector(d, units);
    in[k++] = projection ? matrix(d, projection, units) : omitted(d);
    in[k++] = omitted(d); /* a projection has no bias here */
    return k;
}

/** The scalars of a cell, into in from k on: tanh, a clip of the cell, none of the projection; the number of inputs. */
static uint32_t cell_scalars(struct build *d, uint32_t *in, uint32_t k) {
    enum { TANH = 4 };
    in[k++] = nnv_builder_int(&d->b, TANH);
    in[k++] = nnv_builder_float(&d->b, 10);
    in[k++] = nnv_builder_float(&d->b, 0);
    return k;
}

/** One LSTM cell with its states; its output, [1, projection]. */
static uint32_t cell(struct build *d, uint32_t x, uint32_t n, uint32_t units, uint32_t projection) {
    const uint32_t outputs = projection ? projection : units, scratch[] = {1, GATES * units};
    uint32_t in[23], out[4], h, c, k = cell_weights(d, x, n, units, projection, in);
    add_state(d, outputs, &h, &out[1]);
    add_state(d, units, &c, &out[2]);
    in[k++] = h;
    in[k++] = c;
    k = cell_scalars(d, in, k);
    out[0] = nnv_builder_tensor(&d->b, real, 2, scratch, NNV_TEMPORARY_VARIABLE);
    out[3] = row(d, outputs, NNV_TEMPORARY_VARIABLE);
    nnv_builder_operation(&d->b, ANEURALNETWORKS_LSTM, k, in, 4, out);
    return out[3];
}

/** Inputs and outputs, then the states, as positions in the model's lists. */
static enum nnv_status end(struct build *d, struct nnv_network *net, struct nnv_err *err) {
    for (uint32_t i = 0; i < d->nstates; i++) {
        d->in[d->nin] = d->state[i].input;
        d->out[d->nout] = d->state[i].output;
        d->state[i] = (struct nnv_network_state){d->nin++, d->nout++};
    }
    enum nnv_status st = nnv_builder_end(&d->b, d->nin, d->in, d->nout, d->out, &net->model, err);
    net->state_count = d->nstates;
    net->states = nnv_arena_copy(d->b.arena, d->state, d->nstates * sizeof *d->state);
    return st != NNV_OK || net->states ? st : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the model");
}

static enum nnv_status check(const char *what, uint32_t v, uint32_t least, uint32_t most, struct nnv_err *err) {
    if (v >= least && v <= most) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s %u: expected %u to %u", what, v, least, most);
}

enum nnv_status nnv_acoustic_build(const struct nnv_acoustic *what, struct nnv_arena *arena, struct nnv_network *net,
                                   struct nnv_err *err) {
    enum nnv_status st;
    if ((st = check("layers", what->layers, 1, MOST_LAYERS, err)) ||
        (st = check("features", what->features, 1, MOST_EXTENT, err)) ||
        (st = check("units", what->units, 1, MOST_EXTENT, err)) ||
        (st = check("projection", what->projection, 0, MOST_EXTENT, err)) ||
        (st = check("phones", what->phones, 2, MOST_EXTENT, err)))
        return st;
    struct build d = {.b = {.arena = arena, .seed = what->seed}};
    const uint32_t width = what->projection ? what->projection : what->units;
    uint32_t x = input(&d, row(&d, what->features, NNV_SUBGRAPH_INPUT)), n = what->features;
    for (uint32_t i = 0; i < what->layers; i++, n = width) x = cell(&d, x, n, what->units, what->projection);
    const uint32_t scores = dense(&d, x, width, what->phones, ANEURALNETWORKS_FUSED_NONE, NNV_TEMPORARY_VARIABLE);
    const uint32_t softmax[] = {scores, nnv_builder_float(&d.b, 1)};
    d.out[d.nout++] = row(&d, what->phones, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&d.b, ANEURALNETWORKS_SOFTMAX, 2, softmax, d.out[0]);
    return end(&d, net, err);
}

/** An operation on operands: its result, a tensor of rank 2. */
static uint32_t made(struct build *d, int32_t code, uint32_t rows, uint32_t columns, uint32_t nin, const uint32_t *in) {
    const uint32_t dims[] = {rows, columns};
    const uint32_t y = nnv_builder_tensor(&d->b, real, 2, dims, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&d->b, code, nin, in, y);
    return y;
}
#define MADE(d, code, rows, columns, ...)                                                                              \
    made((d), ANEURALNETWORKS_##code, (rows), (columns), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),         \
         (uint32_t[]){__VA_ARGS__})

static uint32_t reshaped(struct build *d, uint32_t x, uint32_t rows, uint32_t columns) {
    const int32_t shape[] = {(int32_t)rows, (int32_t)columns};
    return MADE(d, RESHAPE, rows, columns, x, nnv_builder_ints(&d->b, 2, shape));
}

/** How much of each of t positions: softmax of v tanh(query + keys), as a column. */
static uint32_t attention(struct build *d, uint32_t list, uint32_t t, uint32_t text, uint32_t query, uint32_t units) {
    enum { DEPTH = 128 };
    const uint32_t none = nnv_builder_int(&d->b, ANEURALNETWORKS_FUSED_NONE);
    const uint32_t keys = MADE(d, FULLY_CONNECTED, t, DEPTH, list, matrix(d, DEPTH, text), vector(d, DEPTH), none);
    const uint32_t q = MADE(d, FULLY_CONNECTED, 1, DEPTH, query, matrix(d, DEPTH, units), vector(d, DEPTH), none);
    const uint32_t bent = MADE(d, TANH, t, DEPTH, MADE(d, ADD, t, DEPTH, keys, q, none));
    const uint32_t energy = MADE(d, FULLY_CONNECTED, t, 1, bent, matrix(d, 1, DEPTH), vector(d, 1), none);
    const uint32_t weights = MADE(d, SOFTMAX, 1, t, reshaped(d, energy, 1, t), nnv_builder_float(&d->b, 1));
    return reshaped(d, weights, t, 1);
}

/** The text, each position by its weight, into *context. */
static void attend(struct build *d, const struct nnv_decoder *what, uint32_t text, uint32_t query, uint32_t context) {
    const uint32_t t = what->positions, none = nnv_builder_int(&d->b, ANEURALNETWORKS_FUSED_NONE);
    const uint32_t list = reshaped(d, text, t, what->text);
    const uint32_t weights = attention(d, list, t, what->text, query, what->units);
    const uint32_t weighed = MADE(d, MUL, t, what->text, list, weights, none);
    const uint32_t sum[] = {weighed, nnv_builder_ints(&d->b, 1, &(int32_t){0}), boolean(d, true)};
    nnv_builder_add(&d->b, ANEURALNETWORKS_REDUCE_SUM, 3, sum, context);
}

static uint32_t joined(struct build *d, uint32_t a, uint32_t b, uint32_t n) {
    const uint32_t in[] = {a, b, nnv_builder_int(&d->b, 1)}, y = row(d, n, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&d->b, ANEURALNETWORKS_CONCATENATION, 3, in, y);
    return y;
}

enum nnv_status nnv_decoder_build(const struct nnv_decoder *what, struct nnv_arena *arena, struct nnv_network *net,
                                  struct nnv_err *err) {
    enum { PRE_NET = 128 };
    enum nnv_status st;
    if ((st = check("positions", what->positions, 1, MOST_EXTENT, err)) ||
        (st = check("text", what->text, 1, MOST_EXTENT, err)) ||
        (st = check("units", what->units, 1, MOST_EXTENT, err)) ||
        (st = check("bands", what->bands, 1, MOST_EXTENT, err)))
        return st;
    struct build d = {.b = {.arena = arena, .seed = what->seed}};
    const uint32_t text_dims[] = {1, what->positions, what->text};
    const uint32_t frame = input(&d, row(&d, what->bands, NNV_SUBGRAPH_INPUT));
    const uint32_t text = input(&d, nnv_builder_tensor(&d.b, real, 3, text_dims, NNV_SUBGRAPH_INPUT));
    uint32_t before, context;
    add_state(&d, what->text, &before, &context);
    uint32_t x = dense(&d, frame, what->bands, PRE_NET, ANEURALNETWORKS_FUSED_RELU, NNV_TEMPORARY_VARIABLE);
    x = dense(&d, x, PRE_NET, PRE_NET, ANEURALNETWORKS_FUSED_RELU, NNV_TEMPORARY_VARIABLE);
    const uint32_t seen = joined(&d, x, before, PRE_NET + what->text);
    const uint32_t query = cell(&d, seen, PRE_NET + what->text, what->units, 0);
    attend(&d, what, text, query, context);
    const uint32_t both = joined(&d, query, context, what->units + what->text);
    const uint32_t y = cell(&d, both, what->units + what->text, what->units, 0);
    d.out[d.nout++] = dense(&d, y, what->units, what->bands, ANEURALNETWORKS_FUSED_NONE, NNV_SUBGRAPH_OUTPUT);
    const uint32_t last = dense(&d, y, what->units, 1, ANEURALNETWORKS_FUSED_NONE, NNV_TEMPORARY_VARIABLE);
    d.out[d.nout++] = row(&d, 1, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&d.b, ANEURALNETWORKS_LOGISTIC, 1, &last, d.out[1]);
    return end(&d, net, err);
}

enum nnv_status nnv_keyword_build(const struct nnv_keyword *what, struct nnv_arena *arena, struct nnv_network *net,
                                  struct nnv_err *err) {
    enum nnv_status st;
    if ((st = check("frames", what->frames, 1, MOST_EXTENT, err)) ||
        (st = check("features", what->features, 1, MOST_EXTENT, err)) ||
        (st = check("units", what->units, 1, MOST_EXTENT, err)) ||
        (st = check("words", what->words, 2, MOST_EXTENT, err)))
        return st;
    struct build d = {.b = {.arena = arena, .seed = what->seed}};
    const uint32_t from[] = {1, what->frames, what->features}, to[] = {1, what->frames, what->units};
    const uint32_t zeros[] = {1, what->units};
    const uint32_t x = input(&d, nnv_builder_tensor(&d.b, real, 3, from, NNV_SUBGRAPH_INPUT));
    uint32_t in[28], k = cell_weights(&d, x, what->features, what->units, 0, in);
    for (int state = 0; state < 2; state++) in[k++] = nnv_builder_filled(&d.b, real, 2, zeros, 0);
    k = cell_scalars(&d, in, k);
    in[k++] = boolean(&d, false); /* the batch comes first */
    for (int norm = 0; norm < GATES; norm++) in[k++] = omitted(&d);
    const uint32_t heard = nnv_builder_tensor(&d.b, real, 3, to, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&d.b, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, k, in, heard);
    const uint32_t frames = reshaped(&d, heard, what->frames, what->units);
    const int32_t begin[] = {(int32_t)what->frames - 1, 0}, size[] = {1, (int32_t)what->units};
    const uint32_t last =
        MADE(&d, SLICE, 1, what->units, frames, nnv_builder_ints(&d.b, 2, begin), nnv_builder_ints(&d.b, 2, size));
    const uint32_t scores =
        dense(&d, last, what->units, what->words, ANEURALNETWORKS_FUSED_NONE, NNV_TEMPORARY_VARIABLE);
    const uint32_t softmax[] = {scores, nnv_builder_float(&d.b, 1)};
    d.out[d.nout++] = row(&d, what->words, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&d.b, ANEURALNETWORKS_SOFTMAX, 2, softmax, d.out[0]);
    return end(&d, net, err);
}
