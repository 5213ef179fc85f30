/* SPDX-License-Identifier: Apache-2.0 */
/* The LSTMs and RNNs over sequences. */
#include "tests/kit/op.h"

/* The values of [batch, time, width], in the order that the operation has them. */
static const double *ordered(struct use *u, bool time_major, uint32_t batch, uint32_t time, uint32_t width,
                             const double *values) {
    double *to = NNV_NEW(u->arena, double, batch *time *width);
    for (uint32_t b = 0; b < batch; b++)
        for (uint32_t t = 0; t < time; t++)
            for (uint32_t i = 0; i < width; i++)
                to[((time_major ? t * batch + b : b * time + t)) * width + i] = values[(b * time + t) * width + i];
    return to;
}

#define SEQUENCE(TIME_MAJOR, BATCH, TIME, WIDTH)                                                                       \
    3, (uint32_t[]) { (TIME_MAJOR) ? TIME : BATCH, (TIME_MAJOR) ? BATCH : TIME, WIDTH }

/* ------------------------------------------------------- UNIDIRECTIONAL_SEQUENCE_RNN */

/* y = 2 x + y / 2 + 1 from 4 and -2. */
static struct use *rnn(int32_t type, int act, int time_major, int outputs) {
    struct use *u = use_new(ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN);
    use_in(u, type, SEQUENCE(time_major, 2, 3, 1), ordered(u, time_major, 2, 3, 1, V(1, 2, 3, -1, 0, 4)));
    use_const(u, type, D(1, 1), V(2));
    use_const(u, type, D(1, 1), V(0.5));
    use_const(u, type, D(1), V(1));
    use_in(u, type, D(2, 1), V(4, -2));
    use_scalar(u, INT, act);
    use_scalar(u, INT, time_major);
    for (int i = 0; i < outputs; i++) use_out(u, type);
    return u;
}

/* 2+2+1, 4+2.5+1, 6+3.75+1 and -2-1+1, 0-1+1, 8+0+1. */
static void rnn_values(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool time_major = i & 1, states = i & 2;
        struct use *u = rnn(i & 4 ? F16 : F32, 0, time_major, states ? 2 : 1);
        use_expect(u, 0, SEQUENCE(time_major, 2, 3, 1), ordered(u, time_major, 2, 3, 1, V(5, 7.5, 10.75, -2, 0, 9)), 0);
        if (states) use_expect(u, 1, D(2, 1), V(10.75, 9), 0);
        assert_int_equal(u->level, states ? 4 : 3);
        use_free(u);
    }
    struct use *u = rnn(F32, 3, 0, 2); /* RELU6: 5, 4+2.5+1, 6+3+1 and 0, 0+0+1, 8+.5+1 */
    use_expect(u, 0, D(2, 3, 1), V(5, 6, 6, 0, 1, 6), 0);
    double spread = use_spread(u, 0);
    assert_true(spread > 0 && spread < 4e-6);
    use_free(u);
}

static void rnn_refusals(void **state) {
    (void)state;
    struct use *u = rnn(F32, 0, 2, 1);
    use_refuse(u, "time major is 2, expected 0 (batch-major) or 1");
    use_free(u);
    u = rnn(F32, 5, 0, 1);
    use_refuse(u, "activation 5");
    use_free(u);
    u = rnn(F32, 0, 0, 3);
    use_refuse(u, "3 outputs: expected 1 or 2");
    use_free(u);
    u = rnn(F32, 0, 1, 1);
    u->values[1].dims[0] = u->operands[u->in[4]].dims[0] = 3; /* a state for three batches */
    u->values[1].bytes = 12;
    u->values[1].data = nnv_arena_alloc(u->arena, 12, 4);
    use_refuse(u, "hidden state: extent 0 is 3, but the other inputs make it 2");
    use_free(u);
}

/* -------------------------------------------------------- BIDIRECTIONAL_SEQUENCE_RNN */

enum linking { PLAIN, PARALLEL, CROSS };
enum { TIME = 3, BATCH = 2 };

struct bidirectional {
    enum linking linking;
    bool time_major, merge, states, late;
};

/*
 * Forward one unit, 2 x + y / 2 + 1 from 4; backward two units, -x + y + 1/2 from 3, and 7. The second batch is 0
 * everywhere, but for the biases.
 */
static struct use *birnn(int32_t type, const struct bidirectional *p) {
    struct use *u = use_new(ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_RNN);
    const double *x = ordered(u, p->time_major, BATCH, TIME, 1, V(1, 2, 3, 0, 0, 0));
    const double *aux = ordered(u, p->time_major, BATCH, TIME, 1, V(4, 8, 12, 0, 0, 0));
    use_in(u, type, SEQUENCE(p->time_major, BATCH, TIME, 1), x);
    use_const(u, type, D(1, 1), V(2));
    use_const(u, type, D(1, 1), V(0.5));
    use_const(u, type, D(1), V(1));
    use_in(u, type, D(2, 1), V(4, 0));
    use_const(u, type, D(2, 1), V(-1, 0));
    use_const(u, type, D(2, 2), V(1, 0, 0, 0));
    use_const(u, type, D(2), V(0.5, 7));
    use_in(u, type, D(2, 2), V(3, 9, 0, 0));
    if (p->linking == PLAIN)
        use_omit(u, type, 3, p->late);
    else
        use_in(u, type, SEQUENCE(p->time_major, BATCH, TIME, 1), aux);
    if (p->linking == CROSS) {
        use_const(u, type, D(1, 1), V(0.25));
        use_const(u, type, D(2, 1), V(1, 0));
    } else {
        use_omit(u, type, 2, p->late);
        use_omit(u, type, 2, p->late);
    }
    use_scalar(u, INT, 0);
    use_scalar(u, BOOL, p->time_major);
    use_scalar(u, BOOL, p->merge);
    for (int i = 0; i < (p->merge ? 1 : 2) + (p->states ? 2 : 0); i++) use_out(u, type);
    return u;
}

/*
 * Forward 2+2+1, 4+2.5+1, 6+3.75+1; cross linked 2+1+2+1, 4+2+3+1, 6+3+5+1.
 * Backward, from the end: -3+3+.5, -2+.5+.5, -1-1+.5; parallel -12+3+.5, -8-8.5+.5, -4-16+.5; cross -3+12+3+.5,
 * -2+8+12.5+.5, -1+4+19+.5. All 0: 1, .5+1, .75+1 and .5, 1, 1.5.
 */
static const double forward[][BATCH * TIME] = {
    {5, 7.5, 10.75, 1, 1.5, 1.75}, {5, 7.5, 10.75, 1, 1.5, 1.75}, {6, 10, 15, 1, 1.5, 1.75}};
static const double backward[][BATCH * TIME] = {
    {-1.5, -1, 0.5, 1.5, 1, 0.5}, {-19.5, -16, -8.5, 1.5, 1, 0.5}, {22.5, 19, 12.5, 1.5, 1, 0.5}};

static void birnn_values(void **state) {
    (void)state;
    for (int i = 0; i < 48; i++) {
        struct bidirectional p = {(enum linking)(i % 3), i / 3 & 1, i / 3 & 2, i / 3 & 4, i / 3 & 8};
        const double *f = forward[p.linking], *b = backward[p.linking];
        double both[BATCH * TIME * 3], two[BATCH * TIME * 2];
        for (int e = 0; e < BATCH * TIME; e++) {
            both[3 * e] = f[e];
            both[3 * e + 1] = two[2 * e] = b[e];
            both[3 * e + 2] = two[2 * e + 1] = 7;
        }
        struct use *u = birnn(i % 2 ? F16 : F32, &p);
        uint32_t width = p.merge ? 3 : 1, states = p.merge ? 1 : 2;
        use_expect(u, 0, SEQUENCE(p.time_major, BATCH, TIME, width),
                   ordered(u, p.time_major, BATCH, TIME, width, p.merge ? both : f), 0);
        if (!p.merge)
            use_expect(u, 1, SEQUENCE(p.time_major, BATCH, TIME, 2), ordered(u, p.time_major, BATCH, TIME, 2, two), 0);
        if (p.states) {
            use_expect(u, states, D(2, 1), V(f[2], f[5]), 0);
            use_expect(u, states + 1, D(2, 2), V(b[0], 7, b[3], 7), 0);
        }
        assert_int_equal(u->level, p.states ? 4 : 3);
        use_free(u);
    }
}

/* A model input of rank 1 and open extent can't be the auxiliary input: it stands for none. */
static void birnn_placeholder(void **state) {
    (void)state;
    struct bidirectional p = {.late = true};
    struct use *u = birnn(F32, &p);
    struct nnv_operand *aux = &u->operands[u->in[9]];
    aux->rank = 1;
    use_expect(u, 0, D(BATCH, TIME, 1), forward[PLAIN], 0);
    u->values[3] = (struct nnv_value){.rank = 1, .dims = {1}, .data = &(float){1}, .bytes = 4};
    use_refuse(u, "input 9 (auxiliary input): rank 1 is below 3");
    use_free(u);
    p.late = false;
    u = birnn(F32, &p);
    aux = &u->operands[u->in[9]];
    aux->rank = 1;
    aux->dims = (uint32_t[]){4};
    aux->lifetime = NNV_SUBGRAPH_INPUT;
    u->model_in[u->model.main.nin++] = u->in[9];
    use_refuse(u, "rank 1 is below 3"); /* of known extent: a mistake */
    use_free(u);
}

static void birnn_refusals(void **state) {
    (void)state;
    struct bidirectional p = {.linking = PLAIN};
    struct use *u = birnn(F32, &p);
    u->op.nout = 1;
    u->model.main.noperands--;
    use_refuse(u, "merge outputs is false, but there is one output");
    use_free(u);
    p.merge = true;
    u = birnn(F32, &p);
    use_out(u, F32);
    use_refuse(u, "merge outputs is true, but there are two outputs");
    use_free(u);
    p = (struct bidirectional){.linking = CROSS};
    u = birnn(F32, &p);
    use_drop(u, 11);
    use_refuse(u, "auxiliary weights: forward auxiliary weights is given but backward auxiliary weights is omitted");
    use_free(u);
    u = birnn(F32, &p);
    u->op.in[9] = u->model.main.noperands;
    use_operand(u, F32, 3, (uint32_t[]){0, 0, 0})->lifetime = NNV_NO_VALUE;
    use_refuse(u, "there are auxiliary weights but there is no auxiliary input");
    use_free(u);
    p.linking = PARALLEL;
    u = birnn(F32, &p);
    u->operands[u->in[9]].dims = u->values[3].dims;
    u->values[3].dims[0] = 1;
    u->values[3].bytes /= 2;
    use_refuse(u, "auxiliary input: extent 0 is 1, but the other inputs make it 2");
    use_free(u);
}

/* ------------------------------------------------------ UNIDIRECTIONAL_SEQUENCE_LSTM */

/* Which parts a cell has; late: what it has not is a model input that the request omits. */
struct parts {
    bool cifg, peephole, norm, projection, bias, late;
};

enum { UNITS = 3, NARROW = 2, IN = 2 };
/* Parts by the position of LSTM's inputs after the first; then normalisation and auxiliary weights. */
enum { PEEPHOLE = 8, BIAS = 11, PROJECTION = 15, PROJECTION_BIAS = 16, PARTS = 17, NORM = 17, AUX = 21 };

static uint32_t width_of(const struct parts *p) { return p->projection ? NARROW : UNITS; }

static bool has(const struct parts *p, int part, bool aux) {
    bool of_input_gate = part == 0 || part == 4 || part == PEEPHOLE || part == BIAS || part == NORM || part == AUX;
    if (p->cifg && of_input_gate) return false;
    if (part >= AUX) return aux;
    if (part >= NORM) return p->norm;
    if (part >= PROJECTION) return part == PROJECTION ? p->projection : p->bias;
    return part < PEEPHOLE || part >= BIAS || p->peephole;
}

/* Different for all parts and both directions. */
static double weight(int direction, int part, uint32_t i) {
    return ((part * 7 + (int)i * 5 + direction * 3) % 13 - 6) / 8.0;
}

/* Columns beyond IN are the auxiliary weights: a cell that reads [x aux] is one that reads x and aux. */
static double element(int direction, int part, uint32_t columns, uint32_t i) {
    if (part >= 4 || columns == IN) return weight(direction, part, i);
    uint32_t row = i / columns, column = i % columns;
    return column < IN ? weight(direction, part, row * IN + column)
                       : weight(direction, AUX + part, row * (columns - IN) + column - IN);
}

/* Inputs of one cell from one part to before another. */
static void add_parts(struct use *u, int32_t type, const struct parts *p, int direction, uint32_t in, bool aux,
                      int from, int end) {
    for (int part = from; part < end; part++) {
        bool matrix = part < PEEPHOLE || part == PROJECTION || part >= AUX;
        uint32_t out = width_of(p), rows = part == PROJECTION || part == PROJECTION_BIAS ? out : UNITS;
        uint32_t columns = !matrix ? 1 : part < 4 ? in : part < PEEPHOLE ? out : part == PROJECTION ? UNITS : IN;
        double values[UNITS * 2 * IN];
        for (uint32_t i = 0; i < rows * columns; i++) values[i] = element(direction, part, columns, i);
        if (has(p, part, aux))
            use_const(u, type, matrix ? 2 : 1, (uint32_t[]){rows, columns}, values);
        else
            use_omit(u, type, matrix ? 2 : 1, p->late);
    }
}

static double start_h(int direction, uint32_t i) { return weight(direction, 30, i); }
static double start_c(int direction, uint32_t i) { return 2 * weight(direction, 31, i); }

static void add_states(struct use *u, int32_t type, const struct parts *p, int direction) {
    double h[BATCH * UNITS], c[BATCH * UNITS];
    for (uint32_t i = 0; i < BATCH * UNITS; i++) {
        h[i] = start_h(direction, i);
        c[i] = start_c(direction, i);
    }
    use_in(u, type, D(BATCH, width_of(p)), h);
    use_in(u, type, D(BATCH, UNITS), c);
}

static struct use *lstm(int32_t type, const struct parts *p, int direction, uint32_t in, const double *x,
                        bool time_major, int outputs) {
    struct use *u = use_new(ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM);
    int32_t scalar = type == F16 ? HALF : FLT;
    use_in(u, type, SEQUENCE(time_major, BATCH, TIME, in), ordered(u, time_major, BATCH, TIME, in, x));
    add_parts(u, type, p, direction, in, false, 0, PARTS);
    add_states(u, type, p, direction);
    use_scalar(u, INT, 4);
    use_scalar(u, scalar, 1.5);
    use_scalar(u, scalar, 0.75);
    use_scalar(u, BOOL, time_major);
    add_parts(u, type, p, direction, in, false, NORM, AUX);
    for (int i = 0; i < outputs; i++) use_out(u, type);
    return u;
}

/* The results of a walk, [batch, time, width], and the last states. */
struct walk {
    double y[BATCH * TIME * UNITS], h[BATCH * UNITS], c[BATCH * UNITS];
};

/* Output `out` of a use that ran. */
static void result(const struct use *u, uint32_t out, double *to) {
    const struct nnv_value *v = &u->results[out].value;
    size_t size = u->operands[u->out[out]].type == F16 ? 2 : 4;
    nnv_load(u->operands[u->out[out]].type, v->data, v->bytes / size, to);
}

/* A walk by LSTM, one step after the other: test_ops_recurrent.c has the values of that. */
static void by_steps(const struct parts *p, const double *x, struct walk *w) {
    uint32_t out = width_of(p);
    for (uint32_t i = 0; i < BATCH * UNITS; i++) {
        w->h[i] = start_h(0, i);
        w->c[i] = start_c(0, i);
    }
    for (int t = 0; t < TIME; t++) {
        struct use *u = use_new(ANEURALNETWORKS_LSTM);
        double now[BATCH * IN];
        for (int i = 0; i < BATCH * IN; i++) now[i] = x[(i / IN * TIME + t) * IN + i % IN];
        use_in(u, F32, D(BATCH, IN), now);
        add_parts(u, F32, p, 0, IN, false, 0, PARTS);
        use_in(u, F32, D(BATCH, out), w->h);
        use_in(u, F32, D(BATCH, UNITS), w->c);
        use_scalar(u, INT, 4);
        use_scalar(u, FLT, 1.5);
        use_scalar(u, FLT, 0.75);
        add_parts(u, F32, p, 0, IN, false, NORM, AUX);
        for (int i = 0; i < 4; i++) use_out(u, F32);
        if (use_run(u)) fail_msg("%s", u->err.text);
        result(u, 1, w->h);
        result(u, 2, w->c);
        for (uint32_t i = 0; i < BATCH * out; i++) w->y[(i / out * TIME + (uint32_t)t) * out + i % out] = w->h[i];
        use_free(u);
    }
}

static const double X[BATCH * TIME * IN] = {1, -0.5, 0.25, 2, -1.5, 0.75, 0.5, 1.25, -2, 0.125, 1.75, -1};
static const double AUX_X[BATCH * TIME * IN] = {-1, 1.5, 0.5, -0.75, 2, 0.25, -0.25, 1, 0.75, -2, -0.5, 1};

static void lstm_subsets(void **state) {
    (void)state;
    for (int i = 0; i < 128; i++) {
        struct parts p = {i & 1, i & 2, i & 4, i & 8, i & 16, i & 32};
        bool time_major = i & 64, half = i % 3 == 0;
        uint32_t out = width_of(&p);
        struct walk w;
        if (p.bias && !p.projection) continue;
        by_steps(&p, X, &w);
        struct use *u = lstm(half ? F16 : F32, &p, 0, IN, X, time_major, 3);
        double tolerance = half ? 0.002 : 1e-6;
        use_expect(u, 0, SEQUENCE(time_major, BATCH, TIME, out), ordered(u, time_major, BATCH, TIME, out, w.y),
                   tolerance);
        use_expect(u, 1, D(BATCH, out), w.h, tolerance);
        use_expect(u, 2, D(BATCH, UNITS), w.c, tolerance);
        assert_int_equal(u->level, 4);
        double spread = use_spread(u, 0);
        assert_true(spread > 0 && spread < 40 * tolerance);
        use_free(u);
        u = lstm(F32, &p, 0, IN, X, time_major, 1);
        use_expect(u, 0, SEQUENCE(time_major, BATCH, TIME, out), ordered(u, time_major, BATCH, TIME, out, w.y), 1e-6);
        assert_int_equal(u->level, 3);
        use_free(u);
    }
}

/*
 * All gates are 1/2, the new value is RELU(2 x + h): from c = 4, h = 1
 * c = 2 + 3/2 = 3.5, h = 1.75; c = 1.75 + 0 (2 * -1 + 1.75 < 0), h = .875; c = .875 + 6.875 / 2, h = 2.15625.
 */
static void lstm_numbers(void **state) {
    (void)state;
    for (int half = 0; half < 2; half++) {
        int32_t type = half ? F16 : F32;
        struct use *u = use_new(ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM);
        use_in(u, type, D(1, 3, 1), V(1, -1, 3));
        for (int part = 0; part < PARTS; part++)
            if (part < PEEPHOLE)
                use_const(u, type, D(1, 1), V(part == 2 ? 2 : part == 6));
            else if (part >= BIAS && part < PROJECTION)
                use_const(u, type, D(1), V(0));
            else
                use_omit(u, type, part == PROJECTION ? 2 : 1, false);
        use_in(u, type, D(1, 1), V(1));
        use_in(u, type, D(1, 1), V(4));
        use_scalar(u, INT, 1);
        use_scalar(u, half ? HALF : FLT, 0);
        use_scalar(u, half ? HALF : FLT, 0);
        use_scalar(u, BOOL, 0);
        for (int i = 0; i < 4; i++) use_omit(u, type, 1, false);
        for (int i = 0; i < 3; i++) use_out(u, type);
        use_expect(u, 0, D(1, 3, 1), V(1.75, 0.875, 2.15625), 0);
        use_expect(u, 1, D(1, 1), V(2.15625), 0);
        use_expect(u, 2, D(1, 1), V(4.3125), 0);
        use_free(u);
    }
}

/* An optional input of open extents may be given or omitted: neither is taken for granted before it is known. */
static void lstm_open_projection(void **state) {
    (void)state;
    struct parts p = {.projection = true};
    struct walk w;
    by_steps(&p, X, &w);
    struct use *u = lstm(F32, &p, 0, IN, X, false, 1);
    struct nnv_operand *weights = &u->operands[u->in[1 + PROJECTION]];
    struct nnv_value *v = &u->values[u->model.main.nin];
    *v = (struct nnv_value){.rank = 2, .dims = {NARROW, UNITS}, .bytes = weights->bytes};
    v->data = nnv_arena_copy(u->arena, weights->data, weights->bytes);
    u->model_in[u->model.main.nin++] = u->in[1 + PROJECTION];
    weights->lifetime = NNV_SUBGRAPH_INPUT;
    weights->dims = (uint32_t[]){0, 0};
    weights->data = NULL;
    weights->bytes = 0;
    use_expect(u, 0, D(BATCH, TIME, NARROW), w.y, 1e-6);
    use_free(u);
}

static void lstm_refusals(void **state) {
    (void)state;
    struct parts p = {.peephole = true, .norm = true};
    static const struct {
        int drop;
        const char *words;
    } cases[] = {{5, "input gate: "}, {11, "peephole: "}, {26, "layer normalisation: "}, {2, "may not be omitted"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = lstm(F32, &p, 0, IN, X, false, 1);
        use_drop(u, cases[i].drop);
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct use *u = lstm(F32, &p, 0, IN, X, false, 2);
    use_refuse(u, "2 outputs: expected 1 or 3");
    use_free(u);
    u = lstm(F32, &p, 0, IN, X, false, 1);
    u->op.nin = 24;
    use_refuse(u, "24 inputs: expected 28");
    use_free(u);
    u = lstm(F32, &p, 0, IN, X, true, 1); /* declared as if it were batch-major */
    struct nnv_operand *y = &u->operands[u->out[0]];
    y->rank = 3;
    y->dims = (uint32_t[]){BATCH, TIME, UNITS};
    use_refuse(u, "[2,3,3] does not agree with [3,2,3]");
    use_free(u);
}

/* ------------------------------------------------------- BIDIRECTIONAL_SEQUENCE_LSTM */

static struct use *bilstm(int32_t type, const struct parts p[2], const struct bidirectional *b) {
    struct use *u = use_new(ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_LSTM);
    bool cross = b->linking == CROSS;
    int32_t scalar = type == F16 ? HALF : FLT;
    use_in(u, type, SEQUENCE(b->time_major, BATCH, TIME, IN), ordered(u, b->time_major, BATCH, TIME, IN, X));
    for (int d = 0; d < 2; d++) add_parts(u, type, &p[d], d, IN, cross, 0, PARTS);
    for (int d = 0; d < 2; d++) add_states(u, type, &p[d], d);
    if (b->linking == PLAIN)
        use_omit(u, type, 3, b->late);
    else
        use_in(u, type, SEQUENCE(b->time_major, BATCH, TIME, IN), ordered(u, b->time_major, BATCH, TIME, IN, AUX_X));
    for (int d = 0; d < 2; d++) add_parts(u, type, &p[d], d, IN, cross, AUX, AUX + 4);
    use_scalar(u, INT, 4);
    use_scalar(u, scalar, 1.5);
    use_scalar(u, scalar, 0.75);
    use_scalar(u, BOOL, b->merge);
    use_scalar(u, BOOL, b->time_major);
    for (int d = 0; d < 2; d++) add_parts(u, type, &p[d], d, IN, cross, NORM, AUX);
    for (int i = 0; i < (b->merge ? 1 : 2) + (b->states ? 4 : 0); i++) use_out(u, type);
    return u;
}

/* [batch, time, width] with the time turned round. */
static void reverse(const double *x, uint32_t width, double *to) {
    for (uint32_t i = 0; i < BATCH * TIME * width; i++) {
        uint32_t step = i / width, b = step / TIME, t = TIME - 1 - step % TIME;
        to[(b * TIME + t) * width + i % width] = x[i];
    }
}

/* A direction by the unidirectional operation: the backward one on the sequence turned round, cross linked on
 * [x aux]. */
static void direction(const struct parts *p, int d, enum linking linking, struct walk *w) {
    const double *reads = linking == PARALLEL && d == 1 ? AUX_X : X;
    uint32_t in = linking == CROSS ? 2 * IN : IN, out = width_of(p);
    double x[BATCH * TIME * IN * 2], turned[BATCH * TIME * IN * 2], y[BATCH * TIME * UNITS];
    for (uint32_t i = 0; i < BATCH * TIME * in; i++) {
        uint32_t row = i / in, column = i % in;
        x[i] = column < IN ? reads[row * IN + column] : AUX_X[row * IN + column - IN];
    }
    reverse(x, in, turned);
    struct use *u = lstm(F32, p, d, in, d ? turned : x, false, 3);
    if (use_run(u)) fail_msg("%s", u->err.text);
    result(u, 0, d ? y : w->y);
    result(u, 1, w->h);
    result(u, 2, w->c);
    if (d) reverse(y, out, w->y);
    use_free(u);
}

static void expect_directions(struct use *u, const struct parts p[2], const struct bidirectional *b,
                              const struct walk w[2], double tolerance) {
    uint32_t width[2] = {width_of(&p[0]), width_of(&p[1])}, all = width[0] + width[1];
    double both[BATCH * TIME * UNITS * 2];
    for (uint32_t i = 0; i < BATCH * TIME * all; i++) {
        uint32_t row = i / all, column = i % all;
        both[i] = column < width[0] ? w[0].y[row * width[0] + column] : w[1].y[row * width[1] + column - width[0]];
    }
    if (b->merge)
        use_expect(u, 0, SEQUENCE(b->time_major, BATCH, TIME, all), ordered(u, b->time_major, BATCH, TIME, all, both),
                   tolerance);
    for (uint32_t d = 0; d < 2; d++) {
        uint32_t states = (b->merge ? 1 : 2) + 2 * d;
        if (!b->merge)
            use_expect(u, d, SEQUENCE(b->time_major, BATCH, TIME, width[d]),
                       ordered(u, b->time_major, BATCH, TIME, width[d], w[d].y), tolerance);
        if (!b->states) continue;
        use_expect(u, states, D(BATCH, width[d]), w[d].h, tolerance);
        use_expect(u, states + 1, D(BATCH, UNITS), w[d].c, tolerance);
    }
}

static void bilstm_subsets(void **state) {
    (void)state;
    for (int i = 0; i < 48 * 8; i++) {
        struct bidirectional b = {(enum linking)(i % 3), i / 3 & 1, i / 3 & 2, i / 3 & 4, i / 3 & 8};
        int s = i / 48;
        struct parts p[2] = {{s & 1, s & 2, s & 4, s % 3 == 1, s % 3 == 1, b.late},
                             {s & 2, s & 4, s & 1, s % 3 == 2, s % 2, b.late}};
        p[1].bias &= p[1].projection;
        struct walk w[2];
        for (int d = 0; d < 2; d++) direction(&p[d], d, b.linking, &w[d]);
        bool half = i % 5 == 0;
        struct use *u = bilstm(half ? F16 : F32, p, &b);
        expect_directions(u, p, &b, w, half ? 0.002 : 1e-6);
        assert_int_equal(u->level, b.states ? 4 : 3);
        double spread = use_spread(u, 0);
        assert_true(spread > 0 && spread < (half ? 0.1 : 5e-5));
        use_free(u);
    }
}

static void bilstm_refusals(void **state) {
    (void)state;
    struct parts p[2] = {{.norm = true}, {.norm = true}};
    struct bidirectional b = {.linking = CROSS};
    static const struct {
        int drop;
        const char *words;
    } cases[] = {
        {5, "forward cell: input gate: "},           {22, "backward cell: input gate: "},
        {54, "forward cell: layer normalisation: "}, {40, "forward cell: auxiliary weights: "},
        {47, "backward cell: auxiliary weights: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct use *u = bilstm(F32, p, &b);
        use_drop(u, cases[i].drop);
        use_refuse(u, cases[i].words);
        use_free(u);
    }
    struct use *u = bilstm(F32, p, &b);
    for (int slot = 44; slot < 48; slot++) use_drop(u, slot);
    use_refuse(u, "auxiliary weights: forward auxiliary-to-forget weights is given but backward");
    use_free(u);
    u = bilstm(F32, p, &b);
    use_out(u, F32);
    use_refuse(u, "3 outputs: expected 2 or 6 or 1 or 5");
    use_free(u);
    b.merge = true;
    u = bilstm(F32, p, &b);
    use_scalar(u, BOOL, 0);
    u->in[51] = u->in[--u->op.nin];
    use_refuse(u, "merge outputs is false, but there is one output");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rnn_values),        cmocka_unit_test(rnn_refusals),         cmocka_unit_test(birnn_values),
        cmocka_unit_test(birnn_placeholder), cmocka_unit_test(birnn_refusals),       cmocka_unit_test(lstm_subsets),
        cmocka_unit_test(lstm_numbers),      cmocka_unit_test(lstm_open_projection), cmocka_unit_test(lstm_refusals),
        cmocka_unit_test(bilstm_subsets),    cmocka_unit_test(bilstm_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
