/* SPDX-License-Identifier: Apache-2.0 */
/* RNN, SVDF and LSTM. */
#include "tests/kit/op.h"

static double sigmoid(double v) { return 1 / (1 + exp(-v)); }

/* ---------------------------------------------------------------------------- RNN */

static struct use *rnn(int32_t type, int act) {
    struct use *u = use_new(ANEURALNETWORKS_RNN);
    use_in(u, type, D(2, 1), V(1, -2));
    use_const(u, type, D(2, 1), V(1, 3));
    use_const(u, type, D(2, 2), V(0.5, 0, 1, -1));
    use_const(u, type, D(2), V(0.25, -0.5));
    use_in(u, type, D(2, 2), V(2, 4, -1, 1));
    use_scalar(u, INT, act);
    use_out(u, type);
    use_out(u, type);
    return u;
}

/* Sums: 1+1+.25, 3+2-4-.5 and -2-.5+.25, -6-1-1-.5. */
static void rnn_values(void **state) {
    (void)state;
    static const struct {
        int act;
        double y[4];
    } cases[] = {
        {0, {2.25, 0.5, -2.25, -8.5}},
        {1, {2.25, 0.5, 0, 0}},
        {2, {1, 0.5, -1, -1}},
        {3, {2.25, 0.5, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = rnn(i % 2 ? F16 : F32, cases[i].act);
        use_expect(u, 0, D(2, 2), cases[i].y, 0);
        use_expect(u, 1, D(2, 2), cases[i].y, 0);
        use_free(u);
    }
    struct use *u = rnn(F32, 4);
    use_expect(u, 1, D(2, 2), V(tanh(2.25), tanh(0.5), tanh(-2.25), tanh(-8.5)), 6e-8);
    double spread = use_spread(u, 1);
    assert_true(spread > 0 && spread < 3e-6);
    use_free(u);
    u = rnn(F32, 6);
    use_expect(u, 1, D(2, 2), V(sigmoid(2.25), sigmoid(0.5), sigmoid(-2.25), sigmoid(-8.5)), 6e-8);
    use_free(u);
}

static void rnn_refusals(void **state) {
    (void)state;
    struct use *u = rnn(F32, 5);
    use_refuse(u, "activation 5");
    use_free(u);
    u = use_new(ANEURALNETWORKS_RNN);
    use_in(u, F32, D(2, 1), V(1, -2));
    use_const(u, F32, D(2, 1), V(1, 3));
    use_const(u, F32, D(2, 2), V(0.5, 0, 1, -1));
    use_const(u, F32, D(3), V(0.25, -0.5, 0));
    use_in(u, F32, D(2, 2), V(2, 4, -1, 1));
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_out(u, F32);
    use_refuse(u, "bias: extent 0 is 3, but the other inputs make it 2");
    use_free(u);
}

/* --------------------------------------------------------------------------- SVDF */

enum { NONE, HERE, LATE }; /* an omittable input: NO_VALUE, given, omitted by the request */

/* Two units of rank 2, memory 3, one input. */
static struct use *svdf(int32_t type, int bias, double rank, int act) {
    struct use *u = use_new(ANEURALNETWORKS_SVDF);
    use_in(u, type, D(1, 1), V(2));
    use_const(u, type, D(4, 1), V(1, 0.5, -1, 2));
    use_const(u, type, D(4, 3), V(1, 2, 3, 1, 0, 1, 0, 0, 4, 1, 1, 1));
    if (bias == HERE)
        use_const(u, type, D(2), V(10, -20));
    else
        use_omit(u, type, 1, bias == LATE);
    /* The last column of each filter does not matter. */
    use_in(u, type, D(1, 12), V(1, 2, 99, 3, 4, 99, 5, 6, 99, 7, 8, 99));
    use_scalar(u, INT, rank);
    use_scalar(u, INT, act);
    use_out(u, type);
    use_out(u, type);
    return u;
}

/* New columns 2 1 -2 4; filters give 1+4+6 = 11, 3+1 = 4, -8, 7+8+4 = 19. */
static void svdf_values(void **state) {
    (void)state;
    for (int bias = NONE; bias <= LATE; bias++) {
        struct use *u = svdf(bias == HERE ? F16 : F32, bias, 2, 0);
        double add = bias == HERE ? 1 : 0;
        use_expect(u, 0, D(1, 12), V(2, 2, 0, 4, 1, 0, 6, -2, 0, 8, 4, 0), 0);
        use_expect(u, 1, D(1, 2), V(15 + add * 10, 11 - add * 20), 0);
        assert_int_equal(u->level, 3);
        use_free(u);
    }
    struct use *u = svdf(F32, HERE, 1, 3);
    use_drop(u, 3);
    use_expect(u, 1, D(1, 4), V(6, 4, 0, 6), 0); /* rank 1: a unit a filter; RELU6 */
    double spread = use_spread(u, 1);
    assert_true(spread > 0 && spread < 2e-6);
    use_free(u);
}

struct svdf_shapes {
    uint32_t input[2], feature[2], time[2], state[2];
};

static void svdf_refuses(struct svdf_shapes s, const char *words) {
    static const double zeros[32];
    struct use *u = use_new(ANEURALNETWORKS_SVDF);
    use_in(u, F32, 2, s.input, zeros);
    use_const(u, F32, 2, s.feature, zeros);
    use_const(u, F32, 2, s.time, zeros);
    use_omit(u, F32, 1, false);
    use_in(u, F32, 2, s.state, zeros);
    use_scalar(u, INT, 2);
    use_scalar(u, INT, 0);
    use_out(u, F32);
    use_out(u, F32);
    use_refuse(u, words);
    use_free(u);
}

static void svdf_refusals(void **state) {
    (void)state;
    struct use *u = svdf(F32, NONE, 3, 0);
    use_refuse(u, "4 filters are not a multiple of rank 3");
    use_free(u);
    u = svdf(F32, NONE, 0, 0);
    use_refuse(u, "above 0");
    use_free(u);
    u = svdf(F32, HERE, 1, 0);
    use_refuse(u, "bias: extent 0 is 2, but the other inputs make it 4");
    use_free(u);
    u = svdf(F32, NONE, 2, 7);
    use_refuse(u, "activation 7");
    use_free(u);
    svdf_refuses((struct svdf_shapes){{1, 2}, {4, 1}, {4, 3}, {1, 12}}, "extent 1 is 1, but");
    svdf_refuses((struct svdf_shapes){{1, 1}, {5, 1}, {4, 3}, {1, 12}}, "extent 0 is 4, but");
    svdf_refuses((struct svdf_shapes){{1, 1}, {4, 1}, {5, 3}, {1, 12}}, "extent 0 is 5, but");
    svdf_refuses((struct svdf_shapes){{1, 1}, {4, 1}, {4, 4}, {1, 12}}, "extent 1 is 12, but");
    svdf_refuses((struct svdf_shapes){{2, 1}, {4, 1}, {4, 3}, {1, 12}}, "extent 0 is 1, but");
}

/* --------------------------------------------------------------------------- LSTM */

/* Which parts the cell has; LATE: what it has not is a model input that the request omits. */
struct parts {
    bool cifg, peephole, projection, projection_bias, norm, late, no_group;
    int act;
    double cell_clip, projection_clip;
};

enum { U = 2, IN = 1, OUT_P = 1 }; /* units, inputs, outputs of a projection */
enum { WI = 1, RI = 5, PI = 9, PF = 10, PO = 11, BI = 12, PW = 16, PB = 17, NI = 23 };

/* Weights of input `slot`: different for all of them. */
static double weight(int slot, int i) { return ((slot * 7 + i * 5) % 13 - 6) / 8.0; }

static bool has(const struct parts *p, int slot) {
    if (slot == WI || slot == RI || slot == BI) return !p->cifg;
    if (slot >= PI && slot <= PO) return p->peephole && !(p->cifg && slot == PI);
    if (slot == PW) return p->projection;
    if (slot == PB) return p->projection_bias;
    if (slot >= NI) return p->norm && !(p->cifg && slot == NI);
    return true;
}

static const double STATE[] = {0.5, -1, 0.25, 1}, CELL[] = {1.5, -0.75, -2, 0.5}, INPUT[] = {1, -2};

static void extents(const struct parts *p, int slot, uint32_t *rank, uint32_t *dims) {
    uint32_t out = p->projection ? OUT_P : U;
    *rank = slot < PI || slot == PW ? 2 : 1;
    dims[0] = slot == PW || slot == PB ? out : U;
    dims[1] = slot < RI ? IN : slot == PW ? U : out;
}

static struct use *lstm(int32_t type, const struct parts *p) {
    int32_t scalar = type == F16 ? HALF : FLT;
    struct use *u = use_new(ANEURALNETWORKS_LSTM);
    uint32_t rank, dims[2], out = p->projection ? OUT_P : U;
    for (int slot = 0; slot < (p->no_group ? 23 : 27); slot++) {
        double w[4];
        for (int i = 0; i < 4; i++) w[i] = weight(slot, i);
        extents(p, slot, &rank, dims);
        if (slot == 0)
            use_in(u, type, D(2, IN), INPUT);
        else if (slot == 18)
            use_in(u, type, 2, (uint32_t[]){2, out}, STATE);
        else if (slot == 19)
            use_in(u, type, D(2, U), CELL);
        else if (slot == 20)
            use_scalar(u, INT, p->act);
        else if (slot == 21)
            use_scalar(u, scalar, p->cell_clip);
        else if (slot == 22)
            use_scalar(u, scalar, p->projection_clip);
        else if (!has(p, slot))
            use_omit(u, type, rank, p->late);
        else
            use_in(u, type, rank, dims, w);
    }
    for (int i = 0; i < 4; i++) use_out(u, type);
    return u;
}

static double clamp(double v, double limit) { return limit > 0 ? fmin(limit, fmax(-limit, v)) : v; }

/* The cell written out for U = 2 and a batch row, apart from the kernel. gates: i f g o. */
static void by_hand(const struct parts *p, int b, double gates[4][2], double *c_new, double *h_new) {
    int out = p->projection ? OUT_P : U;
    for (int pass = 0; pass < 4; pass++) {
        int g = pass;
        double z[2];
        for (int u = 0; u < U; u++) {
            z[u] = INPUT[b] * weight(WI + g, u);
            for (int o = 0; o < out; o++) z[u] += STATE[b * out + o] * weight(RI + g, u * out + o);
            if (p->peephole && g < 2) z[u] += CELL[b * U + u] * weight(PI + g, u);
            if (p->peephole && g == 3) z[u] += c_new[u] * weight(PO, u);
        }
        if (p->norm) {
            double d = (z[0] - z[1]) / 2, r = 1 / sqrt(d * d + 1e-8);
            z[0] = d * r * weight(NI + g, 0);
            z[1] = -d * r * weight(NI + g, 1);
        }
        for (int u = 0; u < U; u++) {
            z[u] += weight(BI + g, u);
            gates[g][u] = g != 2 ? sigmoid(z[u]) : p->act == 4 ? tanh(z[u]) : fmax(z[u], 0);
            if (g == 2) {
                double i = p->cifg ? 1 - gates[1][u] : gates[0][u];
                c_new[u] = clamp(gates[1][u] * CELL[b * U + u] + i * gates[2][u], p->cell_clip);
            }
        }
    }
    double m[2];
    for (int u = 0; u < U; u++) m[u] = gates[3][u] * (p->act == 4 ? tanh(c_new[u]) : fmax(c_new[u], 0));
    for (int o = 0; o < out; o++) {
        h_new[o] = m[o];
        if (!p->projection) continue;
        h_new[o] = m[0] * weight(PW, 0) + m[1] * weight(PW, 1) + (p->projection_bias ? weight(PB, 0) : 0);
        h_new[o] = clamp(h_new[o], p->projection_clip);
    }
}

static void expect_cell(int32_t type, const struct parts *p, double tolerance) {
    double h[4], c[4], scratch[16], gates[4][2];
    static const int order[] = {0, 2, 1, 3};
    uint32_t out = p->projection ? OUT_P : U, rows = p->cifg ? 3 : 4;
    for (uint32_t b = 0; b < 2; b++) {
        by_hand(p, (int)b, gates, c + b * U, h + b * out);
        for (uint32_t k = 0; k < rows; k++)
            for (int u = 0; u < U; u++) scratch[b * rows * U + k * U + (uint32_t)u] = gates[order[k + 4 - rows]][u];
    }
    struct use *u = lstm(type, p);
    use_expect(u, 0, D(2, rows * U), scratch, tolerance);
    use_expect(u, 1, D(2, out), h, tolerance);
    use_expect(u, 2, D(2, U), c, tolerance);
    use_expect(u, 3, D(2, out), h, tolerance);
    assert_int_equal(u->level, 3);
    assert_true(use_spread(u, 3) < 100 * tolerance); /* no NaN, and no more than some units in the last place */
    use_free(u);
}

static void lstm_subsets(void **state) {
    (void)state;
    for (int s = 0; s < 64; s++) {
        struct parts p = {
            .cifg = s & 1, .peephole = s & 2, .norm = s & 4, .projection = s & 8, .late = s & 32, .act = 4};
        p.projection_bias = (s & 16) != 0;
        p.no_group = !p.norm && s & 2;
        if (p.projection_bias && !p.projection) continue;
        expect_cell(F32, &p, 1.2e-7);
        expect_cell(F16, &p, 0.001);
        p.act = 1;
        p.cell_clip = 0.375;
        p.projection_clip = 0.125;
        expect_cell(F32, &p, 1.2e-7);
    }
}

/* One number worked out: no recurrence, no bias, f = i = o = 1/2, g = tanh 1: c' = 1 + tanh(1)/2, clipped at 1.25. */
static void lstm_number(void **state) {
    (void)state;
    struct use *u = use_new(ANEURALNETWORKS_LSTM);
    for (int slot = 0; slot < 23; slot++) {
        if (slot == 0)
            use_in(u, F32, D(1, 1), V(1));
        else if (slot < PI)
            use_const(u, F32, D(1, 1), V(slot == WI + 2 ? 1 : 0));
        else if (slot >= BI && slot < PW)
            use_const(u, F32, D(1), V(0));
        else if (slot < 18)
            use_omit(u, F32, slot == PW ? 2 : 1, false);
        else if (slot < 20)
            use_in(u, F32, D(1, 1), V(slot == 18 ? 5 : 2));
        else if (slot == 20)
            use_scalar(u, INT, 4);
        else
            use_scalar(u, FLT, slot == 21 ? 1.25 : 0.01);
    }
    for (int i = 0; i < 4; i++) use_out(u, F32);
    use_expect(u, 0, D(1, 4), V(0.5, 0.76159415595, 0.5, 0.5), 6e-8);
    use_expect(u, 2, D(1, 1), V(1.25), 0);
    use_expect(u, 3, D(1, 1), V(0.42414181989), 6e-8); /* the projection clip means nothing here */
    use_free(u);
}

static void lstm_declared_scratch(void **state) {
    (void)state;
    /* Whether there is an input gate is known at run time only: three gates are right then, two are not. */
    struct parts p = {.cifg = true, .late = true, .act = 4};
    struct use *u = lstm(F32, &p);
    struct nnv_operand *scratch = &u->operands[u->out[0]];
    uint32_t dims[] = {2, 3 * U};
    scratch->rank = 2;
    scratch->dims = dims;
    if (use_run(u)) fail_msg("%s", u->err.text);
    dims[1] = 4 * U;
    use_refuse(u, "scratch");
    use_free(u);
    p.late = false;
    u = lstm(F32, &p);
    scratch = &u->operands[u->out[0]];
    scratch->rank = 2;
    scratch->dims = dims;
    use_refuse(u, "scratch");
    use_free(u);
}

/* The values of an LSTM whose optional inputs are constants, so that validation knows them. */
static struct use *fixed_lstm(const struct parts *p) {
    struct use *u = lstm(F32, p);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->model.main.nin; i++) {
        struct nnv_operand *o = &u->operands[u->model_in[i]];
        bool state = u->model_in[i] == u->in[0] || u->model_in[i] == u->in[18] || u->model_in[i] == u->in[19];
        if (state) {
            u->model_in[kept] = u->model_in[i];
            u->values[kept++] = u->values[i];
            continue;
        }
        o->lifetime = NNV_CONSTANT_COPY;
        o->data = u->values[i].data;
        o->bytes = u->values[i].bytes;
    }
    u->model.main.nin = kept;
    return u;
}

static void lstm_refusals(void **state) {
    (void)state;
    static const struct {
        struct parts parts;
        int drop;
        const char *words;
    } cases[] = {
        {{.act = 4}, RI, "input gate: "},
        {{.act = 4}, BI, "input gate bias is omitted"},
        {{.act = 4, .peephole = true}, PO, "peephole: "},
        {{.act = 4, .peephole = true}, PI, "cell-to-input weights is omitted"},
        {{.act = 4, .norm = true}, NI + 2, "layer normalisation: "},
        {{.act = 4, .norm = true}, NI, "layer normalisation: "},
        {{.act = 4, .projection = true}, PW, "2 units cannot give 1 outputs"},
        {{.act = 4, .projection = true, .projection_bias = true}, PW, "projection bias"},
        {{.act = 4}, WI + 1, "may not be omitted"},
        {{.act = 2}, 0, "activation 2"},
        {{.act = 5}, 0, "activation 5"},
        {{.act = 4, .cell_clip = -1}, 0, "-1 is negative"},
        {{.act = 4, .projection = true, .projection_clip = -0.5}, 0, "-0.5 is negative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = fixed_lstm(&cases[i].parts);
        if (cases[i].drop) use_drop(u, cases[i].drop);
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct parts p = {.act = 4, .cifg = true, .peephole = true};
    struct use *u = fixed_lstm(&p);
    u->in[PI] = u->in[PF]; /* a part of the input gate that there is not */
    use_refuse(u, "no input gate");
    u->op.nin = 25;
    use_refuse(u, "25 inputs: expected 23 or 27");
    use_free(u);
}

static void lstm_extents(void **state) {
    (void)state;
    static const int slots[] = {WI, WI + 3, RI + 2, PI, PO, BI, BI + 3, PW, PB, NI + 1};
    struct parts p = {.act = 4, .peephole = true, .norm = true, .projection = true, .projection_bias = true};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        struct use *u = fixed_lstm(&p);
        struct nnv_operand *o = &u->operands[u->in[slots[i]]];
        double seven[14] = {0};
        uint32_t dims[] = {7, o->rank == 2 ? o->dims[1] : 1};
        o->dims = nnv_arena_copy(u->arena, dims, sizeof dims);
        o->data = nnv_arena_copy(u->arena, seven, sizeof seven);
        o->bytes = 4 * 7 * (size_t)dims[1];
        use_refuse(u, "the other inputs make it");
        use_free(u);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rnn_values),
        cmocka_unit_test(rnn_refusals),
        cmocka_unit_test(svdf_values),
        cmocka_unit_test(svdf_refusals),
        cmocka_unit_test(lstm_subsets),
        cmocka_unit_test(lstm_number),
        cmocka_unit_test(lstm_declared_scratch),
        cmocka_unit_test(lstm_refusals),
        cmocka_unit_test(lstm_extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
