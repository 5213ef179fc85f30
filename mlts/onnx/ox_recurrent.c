/* SPDX-License-Identifier: Apache-2.0 */
/* RNN, LSTM: NNAPI's sequences, a direction each. GRU: step by step. */
#include <string.h>
#include <strings.h>

#include "mlts/onnx/ox.h"

enum { X, W, R, BIAS, LENGTHS, STATE, CELL, PEEPHOLES };

/** What the three have in common. */
struct net {
    uint32_t time, batch, input, hidden, directions, gates;
    bool batch_first, reverse; /**< reverse: the first direction is */
    uint32_t x;                /**< [time, batch, input] */
    int type;
};

static uint32_t reversed(struct nnv_cv *c, uint32_t x, uint32_t time) {
    int32_t *index = NNV_NEW(c->b.arena, int32_t, time);
    if (!index) c->b.failed = true;
    for (uint32_t i = 0; index && i < time; i++) index[i] = (int32_t)(time - 1 - i);
    return index ? nnv_ox_gathered(c, x, 0, time, index) : 0;
}

/** An input of [directions, ...], of which this direction's part is seen in a shape. */
static uint32_t of_direction(struct nnv_cv *c, uint32_t i, uint32_t d, uint32_t rank, const uint32_t *dims) {
    return nnv_cv_reshaped(c, nnv_ox_part(c, nnv_ox_in(c, i), 0, d, 1), rank, dims);
}

/** Rows of a matrix or entries of a vector that belong to gate number k. */
static uint32_t gate(struct nnv_cv *c, uint32_t x, uint32_t k, uint32_t hidden) {
    return nnv_ox_part(c, x, 0, k * hidden, hidden);
}

static uint32_t zeros(struct nnv_cv *c, const struct net *n) {
    const uint32_t dims[] = {n->batch, n->hidden};
    return nnv_cv_ok(c) ? nnv_cv_filled(c, (struct nnv_encoding){.type = nnv_cv_at(c, n->x)->type}, 2, dims, 0) : 0;
}

/** The state at first, [batch, hidden]. */
static uint32_t state(struct nnv_cv *c, const struct net *n, uint32_t i, uint32_t d) {
    const uint32_t dims[] = {n->batch, n->hidden};
    if (!nnv_ox_has(c, i)) return zeros(c, n);
    const uint32_t all = nnv_ox_in(c, i);
    return nnv_cv_reshaped(c, nnv_ox_part(c, all, n->batch_first ? 1 : 0, d, 1), 2, dims);
}

/** The biases of one direction, a half each: 2 * gates * hidden in a row. */
static uint32_t biases(struct nnv_cv *c, const struct net *n, uint32_t d) {
    const uint32_t many = 2 * n->gates * n->hidden;
    return nnv_ox_has(c, BIAS) ? of_direction(c, BIAS, d, 1, &many) : 0;
}

/** Those of input and state together, of one gate. */
static uint32_t bias_of(struct nnv_cv *c, const struct net *n, uint32_t all, uint32_t k) {
    if (!all) return nnv_cv_filled(c, (struct nnv_encoding){.type = nnv_cv_at(c, n->x)->type}, 1, &n->hidden, 0);
    return nnv_ox_sum(c, gate(c, all, k, n->hidden), gate(c, all, n->gates + k, n->hidden));
}

static uint32_t matrix(struct nnv_cv *c, const struct net *n, uint32_t i, uint32_t d) {
    const uint32_t dims[] = {n->gates * n->hidden, i == W ? n->input : n->hidden};
    return of_direction(c, i, d, 2, dims);
}

/** All functions are the ones that NNAPI's cell has. */
static void check_functions(struct nnv_cv *c, const char *const *usual, uint32_t n) {
    const struct nnv_onnx_attribute *a = nnv_ox_attribute(c, "activations");
    for (uint32_t i = 0; a && i < a->count; i++)
        if (strcasecmp(a->strings[i], usual[i % n]) != 0) nnv_cv_refuse(c, " with the activation %.20s", a->strings[i]);
}

static bool open_net(struct nnv_cv *c, struct net *n, uint32_t gates) {
    static const uint32_t turned[] = {1, 0, 2};
    const struct nnv_ox_value x = *nnv_ox_value(c, X), w = *nnv_ox_value(c, W), r = *nnv_ox_value(c, R);
    const char *direction = nnv_ox_string(c, "direction", "forward");
    *n = (struct net){
        .gates = gates, .batch_first = nnv_ox_flag(c, "layout", false), .reverse = *direction == 'r', .type = x.type};
    n->directions = *direction == 'b' ? 2 : 1;
    if (x.rank != 3 || w.rank != 3 || r.rank != 3) nnv_cv_fail(c, "its inputs are not of rank 3");
    if (!nnv_cv_ok(c)) return false;
    n->time = x.dims[n->batch_first];
    n->batch = x.dims[!n->batch_first];
    n->input = x.dims[2];
    n->hidden = r.dims[2];
    if (n->hidden == 0 || w.dims[0] != n->directions || w.dims[1] != gates * n->hidden || w.dims[2] != n->input ||
        r.dims[0] != n->directions || r.dims[1] != gates * n->hidden ||
        nnv_ox_int(c, "hidden_size", n->hidden) != n->hidden ||
        (nnv_ox_has(c, BIAS) &&
         nnv_ox_elements(nnv_ox_value(c, BIAS)) != (size_t)n->directions * 2 * gates * n->hidden))
        nnv_cv_fail(c, "its weights do not fit");
    for (uint32_t i = STATE; i <= CELL; i++)
        if (nnv_cv_ok(c) && nnv_ox_has(c, i) &&
            (nnv_ox_value(c, i)->rank != 3 ||
             nnv_ox_elements(nnv_ox_value(c, i)) != (size_t)n->directions * n->batch * n->hidden))
            nnv_cv_fail(c, "input %u does not fit", i);
    uint32_t many;
    const int64_t *length = nnv_ox_has(c, LENGTHS) ? nnv_ox_ints(c, LENGTHS, &many) : NULL;
    for (uint32_t i = 0; length && i < many; i++)
        if (length[i] != n->time) nnv_cv_refuse(c, " with sequences of different lengths");
    n->x = nnv_ox_in(c, X);
    if (n->batch_first) n->x = nnv_ox_transposed(c, n->x, 3, turned);
    return nnv_cv_ok(c);
}

/** What one direction gives: y [time, batch, hidden] in the order of the input, last [batch, hidden]. */
struct answer {
    uint32_t y, last, cell;
};

/** Y, Y_h, Y_c of all directions. */
static void give_all(struct nnv_cv *c, const struct net *n, const struct answer *a) {
    static const uint32_t whole[] = {2, 0, 1, 3}, ends[] = {1, 0, 2};
    const uint32_t line[] = {n->time, 1, n->batch, n->hidden}, end[] = {1, n->batch, n->hidden};
    uint32_t y[2], last[2], cell[2];
    for (uint32_t d = 0; d < n->directions; d++) {
        y[d] = nnv_cv_reshaped(c, a[d].y, 4, line);
        last[d] = nnv_cv_reshaped(c, a[d].last, 3, end);
        cell[d] = a[d].cell ? nnv_cv_reshaped(c, a[d].cell, 3, end) : 0;
    }
    if (!nnv_cv_ok(c)) return;
    for (uint32_t k = 0; k < 3; k++) {
        if (!nnv_ox_wants(c, k) || (k == 2 && !a->cell)) continue;
        uint32_t all = nnv_ox_joined(c, n->directions, k == 0 ? y : k == 1 ? last : cell, k == 0 ? 1 : 0);
        if (n->batch_first) all = k == 0 ? nnv_ox_transposed(c, all, 4, whole) : nnv_ox_transposed(c, all, 3, ends);
        if (nnv_cv_ok(c)) nnv_ox_give(c, k, all, n->type, k == 0 ? 4 : 3, nnv_cv_at(c, all)->dims);
    }
}

static uint32_t sequence(struct nnv_cv *c, const struct net *n, uint32_t d) {
    return n->reverse || d == 1 ? reversed(c, n->x, n->time) : n->x;
}
static uint32_t in_order(struct nnv_cv *c, const struct net *n, uint32_t d, uint32_t y) {
    return n->reverse || d == 1 ? reversed(c, y, n->time) : y;
}

static void lstm(struct nnv_cv *c) {
    static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
    enum { TANH = 4, I, F, G, O };
    static const uint32_t order[] = {0, 2, 3, 1}; /* NNAPI's input, forget, cell, output among ONNX's i, o, f, c */
    struct net n;
    struct answer a[2] = {{0}};
    check_functions(c, usual, 3);
    if (nnv_ox_flag(c, "input_forget", false)) nnv_cv_refuse(c, " with the attribute input_forget");
    if (!open_net(c, &n, 4)) return;
    const uint32_t line = 3 * n.hidden, whole[] = {n.time, n.batch, n.hidden}, end[] = {n.batch, n.hidden};
    for (uint32_t d = 0; d < n.directions && nnv_cv_ok(c); d++) {
        const uint32_t w = matrix(c, &n, W, d), r = matrix(c, &n, R, d), b = biases(c, &n, d);
        const uint32_t p = nnv_ox_has(c, PEEPHOLES) ? of_direction(c, PEEPHOLES, d, 1, &line) : 0;
        uint32_t in[28] = {sequence(c, &n, d)};
        if (!nnv_cv_ok(c)) return;
        const int32_t type = nnv_cv_at(c, n.x)->type;
        for (uint32_t k = 0; k < 4; k++) {
            in[1 + k] = gate(c, w, order[k], n.hidden);
            in[5 + k] = gate(c, r, order[k], n.hidden);
            in[12 + k] = bias_of(c, &n, b, order[k]);
            in[24 + k] = nnv_cv_omitted(c, type);
        }
        /* Peepholes: i, o, f there; i, f, o here. */
        in[9] = p ? gate(c, p, 0, n.hidden) : nnv_cv_omitted(c, type);
        in[10] = p ? gate(c, p, 2, n.hidden) : nnv_cv_omitted(c, type);
        in[11] = p ? gate(c, p, 1, n.hidden) : nnv_cv_omitted(c, type);
        in[16] = nnv_cv_omitted(c, type);
        in[17] = nnv_cv_omitted(c, type);
        in[18] = state(c, &n, STATE, d);
        in[19] = state(c, &n, CELL, d);
        in[20] = nnv_builder_int(&c->b, TANH);
        in[21] = nnv_ox_scalar_like(c, n.x, 0);
        in[22] = nnv_ox_scalar_like(c, n.x, 0);
        in[23] = nnv_builder_bool(&c->b, true);
        const uint32_t out[] = {nnv_cv_temp_shaped(c, n.x, 3, whole), nnv_cv_temp_shaped(c, n.x, 2, end),
                                nnv_cv_temp_shaped(c, n.x, 2, end)};
        nnv_cv_emit_n(c, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM, 28, in, 3, out);
        a[d] = (struct answer){in_order(c, &n, d, out[0]), out[1], out[2]};
    }
    if (nnv_cv_ok(c)) give_all(c, &n, a);
}

static void rnn(struct nnv_cv *c) {
    static const struct {
        const char *name;
        int32_t code;
    } functions[] = {{"Relu", 1}, {"Tanh", 4}, {"Sigmoid", 6}};
    const struct nnv_onnx_attribute *named = nnv_ox_attribute(c, "activations");
    struct net n;
    struct answer a[2] = {{0}};
    if (!open_net(c, &n, 1)) return;
    const uint32_t whole[] = {n.time, n.batch, n.hidden}, end[] = {n.batch, n.hidden};
    for (uint32_t d = 0; d < n.directions && nnv_cv_ok(c); d++) {
        const char *name = named && d < named->count ? named->strings[d] : "Tanh";
        int32_t code = -1;
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            if (strcasecmp(functions[i].name, name) == 0) code = functions[i].code;
        if (code < 0) nnv_cv_refuse(c, " with the activation %.20s", name);
        const uint32_t in[] = {sequence(c, &n, d),       matrix(c, &n, W, d),
                               matrix(c, &n, R, d),      bias_of(c, &n, biases(c, &n, d), 0),
                               state(c, &n, STATE, d),   nnv_builder_int(&c->b, code),
                               nnv_builder_int(&c->b, 1)};
        const uint32_t out[] = {nnv_cv_temp_shaped(c, n.x, 3, whole), nnv_cv_temp_shaped(c, n.x, 2, end)};
        nnv_cv_emit_n(c, ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN, 7, in, 2, out);
        a[d] = (struct answer){in_order(c, &n, d, out[0]), out[1], 0};
    }
    if (nnv_cv_ok(c)) give_all(c, &n, a);
}

/** One step of GRU: x and h [batch, ...], the weights of gates z, r, h, and their biases: W's, then R's. */
static uint32_t gru_step(struct nnv_cv *c, const struct net *n, uint32_t x, uint32_t h, const uint32_t *w,
                         const uint32_t *r, const uint32_t *b, bool linear_first) {
    uint32_t g[2];
    if (!nnv_cv_ok(c)) return 0;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t sum = nnv_ox_sum(c, nnv_ox_dense(c, x, w[k], b[k]), nnv_ox_dense(c, h, r[k], b[n->gates + k]));
        g[k] = NNV_OX_LIKE(c, ANEURALNETWORKS_LOGISTIC, sum, sum);
    }
    const uint32_t before = linear_first ? nnv_ox_product_of(c, g[1], nnv_ox_dense(c, h, r[2], b[5]))
                                         : nnv_ox_dense(c, nnv_ox_product_of(c, g[1], h), r[2], b[5]);
    const uint32_t sum = nnv_ox_sum(c, nnv_ox_dense(c, x, w[2], b[2]), before),
                   bent = NNV_OX_LIKE(c, ANEURALNETWORKS_TANH, sum, sum);
    /* (1 - z) * bent + z * h */
    return nnv_ox_sum(c, nnv_ox_product_of(c, nnv_ox_linear(c, g[0], -1, 1), bent), nnv_ox_product_of(c, g[0], h));
}

static void gru(struct nnv_cv *c) {
    enum { MOST = 64 };
    static const char *const usual[] = {"Sigmoid", "Tanh"};
    const bool linear_first = nnv_ox_flag(c, "linear_before_reset", false);
    struct net n;
    struct answer a[2] = {{0}};
    check_functions(c, usual, 2);
    if (!open_net(c, &n, 3)) return;
    if (n.time > MOST) nnv_cv_refuse(c, " of %u steps", n.time);
    const uint32_t one[] = {n.batch, n.input}, end[] = {1, n.batch, n.hidden};
    for (uint32_t d = 0; d < n.directions && nnv_cv_ok(c); d++) {
        const uint32_t wm = matrix(c, &n, W, d), rm = matrix(c, &n, R, d), bm = biases(c, &n, d),
                       x = sequence(c, &n, d);
        uint32_t w[3], r[3], b[6] = {0}, step[MOST], h = state(c, &n, STATE, d);
        for (uint32_t k = 0; k < 3; k++) w[k] = gate(c, wm, k, n.hidden), r[k] = gate(c, rm, k, n.hidden);
        for (uint32_t k = 0; bm && k < 6; k++) b[k] = gate(c, bm, k, n.hidden);
        for (uint32_t t = 0; t < n.time && nnv_cv_ok(c); t++) {
            h = gru_step(c, &n, nnv_cv_reshaped(c, nnv_ox_part(c, x, 0, t, 1), 2, one), h, w, r, b, linear_first);
            step[t] = nnv_cv_reshaped(c, h, 3, end);
        }
        if (nnv_cv_ok(c)) a[d] = (struct answer){in_order(c, &n, d, nnv_ox_joined(c, n.time, step, 0)), h, 0};
    }
    if (nnv_cv_ok(c)) give_all(c, &n, a);
}

static const struct nnv_ox_row rows[] = {
    {"LSTM", 3, 8, NNV_OX_FLOAT, lstm, 0},
    {"RNN", 3, 6, NNV_OX_FLOAT, rnn, 0},
    {"GRU", 3, 6, NNV_OX_FLOAT, gru, 0},
};
const struct nnv_ox_rows nnv_ox_recurrent = {rows, sizeof rows / sizeof *rows};
