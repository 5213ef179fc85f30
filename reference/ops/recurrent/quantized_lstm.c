/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantized_lstm.c QUANTIZED_LSTM: an algorithm on integers, int8 weights and an int16 cell state. */
#include "reference/ops/quant/fixed.h"
#include "reference/ops/recurrent/lstm.h"

#include <string.h>

/* Up to NORM the same parts, in the same order, as LSTM. */
enum {
    X = 0,
    CELL = 1,
    WEIGHTS = CELL + NNV_LSTM_WEIGHTS,
    RECURRENT = CELL + NNV_LSTM_RECURRENT,
    PEEPHOLE = CELL + NNV_LSTM_PEEPHOLE,
    BIAS = CELL + NNV_LSTM_BIAS,
    PROJECTION = CELL + NNV_LSTM_PROJECTION,
    PROJECTION_BIAS = CELL + NNV_LSTM_PROJECTION_BIAS,
    STATE = 18,
    CELL_STATE = 19,
    NORM = 20,
    CELL_CLIP = 24,
    PROJECTION_CLIP = 25,
    SUM_SCALE = 26,
    HIDDEN_ZERO = 30,
    HIDDEN_SCALE = 31,
};
static const struct nnv_lstm_ids ids = {.first = CELL, .state = STATE, .cell_state = CELL_STATE, .norm = NORM};

/* Fractional bits of the gates' results, and of what the functions take. */
enum { UNIT_BITS = 15, FUNCTION_BITS = 12, FUNCTION_INTEGER_BITS = 3 };

#define TENSOR(ID, NAME, RANK, VAR, FLAGS, LIMIT)                                                                      \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = VAR, .flags = FLAGS, .rank_min = RANK, .rank_max = RANK, .lo = -(LIMIT),        \
        .hi = LIMIT                                                                                                    \
    }
#define NEEDED NNV_PARAM
#define OPTIONAL (NNV_PARAM | NNV_OMITTABLE)
#define MATRICES(FIRST, OF)                                                                                            \
    TENSOR(FIRST, OF "-to-input weights", 2, NNV_W, OPTIONAL, 0.75),                                                   \
        TENSOR(FIRST + 1, OF "-to-forget weights", 2, NNV_W, NEEDED, 0.75),                                            \
        TENSOR(FIRST + 2, OF "-to-cell weights", 2, NNV_W, NEEDED, 0.75),                                              \
        TENSOR(FIRST + 3, OF "-to-output weights", 2, NNV_W, NEEDED, 0.75)
#define VECTOR(ID, NAME) TENSOR(ID, NAME " weights", 1, NNV_V, OPTIONAL, 1)
#define GATE_BIAS(ID, NAME, FLAGS)                                                                                     \
    {                                                                                                                  \
        .id = ID, .name = NAME " bias", .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .flags = FLAGS,        \
        .rank_min = 1, .rank_max = 1                                                                                   \
    }
#define NUMBER(ID, NAME, FLAGS, RULE)                                                                                  \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_FLOAT32, .flags = NNV_SCALAR | FLAGS,        \
        .rule = RULE                                                                                                   \
    }

static const struct nnv_slot inputs[] = {
    TENSOR(X, "input", 2, NNV_T, 0, 2),
    MATRICES(WEIGHTS, "input"),
    MATRICES(RECURRENT, "recurrent"),
    VECTOR(PEEPHOLE, "cell-to-input"),
    VECTOR(PEEPHOLE + 1, "cell-to-forget"),
    VECTOR(PEEPHOLE + 2, "cell-to-output"),
    GATE_BIAS(BIAS, "input gate", OPTIONAL),
    GATE_BIAS(BIAS + 1, "forget gate", NEEDED),
    GATE_BIAS(BIAS + 2, "cell gate", NEEDED),
    GATE_BIAS(BIAS + 3, "output gate", NEEDED),
    TENSOR(PROJECTION, "projection weights", 2, NNV_W, OPTIONAL, 1),
    GATE_BIAS(PROJECTION_BIAS, "projection", OPTIONAL),
    TENSOR(STATE, "output state", 2, NNV_T, 0, 1),
    TENSOR(CELL_STATE, "cell state", 2, NNV_V, 0, 1),
    VECTOR(NORM, "input layer normalisation"),
    VECTOR(NORM + 1, "forget layer normalisation"),
    VECTOR(NORM + 2, "cell layer normalisation"),
    VECTOR(NORM + 3, "output layer normalisation"),
    NUMBER(CELL_CLIP, "cell clip", NNV_OMITTABLE, NNV_NOT_NEGATIVE),
    NUMBER(PROJECTION_CLIP, "projection clip", NNV_OMITTABLE, NNV_NOT_NEGATIVE),
    NUMBER(SUM_SCALE, "input gate sum scale", 0, NNV_POSITIVE),
    NUMBER(SUM_SCALE + 1, "forget gate sum scale", 0, NNV_POSITIVE),
    NUMBER(SUM_SCALE + 2, "cell gate sum scale", 0, NNV_POSITIVE),
    NUMBER(SUM_SCALE + 3, "output gate sum scale", 0, NNV_POSITIVE),
    NNV_SLOT_INT(HIDDEN_ZERO, "hidden state zero point", NNV_ANY),
    NUMBER(HIDDEN_SCALE, "hidden state scale", 0, NNV_POSITIVE),
};
static const struct nnv_slot outputs[] = {
    TENSOR(0, "output state", 2, NNV_T, 0, 0),
    TENSOR(1, "cell state", 2, NNV_V, 0, 0),
    TENSOR(2, "output", 2, NNV_T, 0, 0),
};
static const struct nnv_sig sigs[] = {{4,
                                       {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED,
                                        [NNV_W] = ANEURALNETWORKS_TENSOR_QUANT8_SYMM,
                                        [NNV_V] = ANEURALNETWORKS_TENSOR_QUANT16_SYMM}}};

/* --------------------------------------------------------------------------- rules */

/* The cell state's unit is 2^*exponent, as far as a decimal fraction can tell; false if it is no such power. */
static bool cell_exponent(const struct nnv_operand *o, int *exponent) {
    enum { LEAST = -15, MOST = -9 };
    double e = o->scale > 0 ? log2((double)o->scale) : 0;
    *exponent = (int)lround(e);
    return fabs(e - *exponent) < 1e-3 && *exponent >= LEAST && *exponent <= MOST;
}

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_operand *cell = nnv_in(c, CELL_STATE)->operand;
    int exponent;
    enum nnv_status st = nnv_lstm_check(c, &ids, err);
    if (st) return st;
    if (!cell_exponent(cell, &exponent))
        return nnv_fail(err, NNV_INVALID, "the cell state's scale %.9g is none of 2^-15, 2^-14, ... 2^-9",
                        (double)cell->scale);
    if (nnv_known(c, HIDDEN_ZERO) && (nnv_int(c, HIDDEN_ZERO) < INT8_MIN || nnv_int(c, HIDDEN_ZERO) > INT8_MAX))
        return nnv_fail(err, NNV_INVALID, "hidden state zero point %d, expected -128 to 127", nnv_int(c, HIDDEN_ZERO));
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    struct nnv_lstm_extents x = {.batch = nnv_dim(&c->in[X].shape, 0),
                                 .input = nnv_dim(&c->in[X].shape, 1),
                                 .units = NNV_DIM_UNKNOWN,
                                 .output = NNV_DIM_UNKNOWN};
    enum nnv_status st = nnv_lstm_agree(c, &ids, &x, err);
    if (st) return st;
    out[0] = out[2] = nnv_shape_make(2, (uint32_t[]){x.batch, x.output});
    out[1] = nnv_shape_make(2, (uint32_t[]){x.batch, x.units});
    return NNV_OK;
}

/* ---------------------------------------------------------------------- evaluation */

/* One batch row of the cell. */
struct row {
    struct nnv_kernel *k;
    size_t units, input, output;
    int cell; /* the unit of the cell state is 2^cell */
    const double *x, *h;
    int32_t *c;                /* old, then new */
    int32_t *gates[NNV_GATES]; /* sums, then results */
};

static int64_t integer(double sum) { return (int64_t)fmax(INT32_MIN, fmin(INT32_MAX, sum)); }

/* x times the factor, where implementations round once or twice. */
static int32_t scaled(struct nnv_kernel *k, int64_t x, struct nnv_fixed_factor f) {
    double v = nnv_fixed_near(k, nnv_fixed_scale(x, f), (double)x * nnv_fixed_real(f));
    return nnv_saturate32(llround(v));
}

static float scale_of(const struct row *r, int id) { return nnv_in(r->k->call, id)->operand->scale; }

/* The factor from a product of units to the unit of the sum of gate g; single precision, as a device has it. */
static struct nnv_fixed_factor to_sum(const struct row *r, int g, float a, float b) {
    float product = a * b, unit = (float)nnv_num(r->k->call, SUM_SCALE + g);
    return nnv_fixed_factor((double)(product / unit));
}

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The three parts of a sum are rounded and saturated one after the other. */
static void gate_sums(const struct row *r, int g) {
    struct nnv_kernel *k = r->k;
    int peephole = g == NNV_GATE_CELL ? -1 : PEEPHOLE + (g == NNV_GATE_OUTPUT ? 2 : g);
    const double *weights = nnv_units(k, WEIGHTS + g), *recurrent = nnv_units(k, RECURRENT + g);
    const double *cell = peephole < 0 ? NULL : nnv_units(k, peephole);
    struct nnv_fixed_factor input = to_sum(r, g, scale_of(r, WEIGHTS + g), scale_of(r, X));
    struct nnv_fixed_factor state = to_sum(r, g, scale_of(r, RECURRENT + g), scale_of(r, STATE)), old = {0, 0};
    if (cell) old = to_sum(r, g, ldexpf(1, r->cell), scale_of(r, peephole));
    for (size_t u = 0; u < r->units; u++) {
        int64_t from_x = integer(dot(r->input, r->x, weights + u * r->input));
        int64_t from_h = integer(dot(r->output, r->h, recurrent + u * r->output));
        int64_t z = nnv_saturate16(scaled(k, from_x, input));
        z = nnv_saturate16(z + scaled(k, from_h, state));
        if (cell) z = nnv_saturate16(z + scaled(k, llround(cell[u]) * r->c[u], old));
        r->gates[g][u] = (int32_t)z;
    }
}

/* (z - mean) / deviation * weight + bias, with 10 more fractional bits until the end, then 12 fractional bits in all.
 */
static void normalise(const struct row *r, int g) {
    enum { MORE = 10, HALF = 1 << (MORE - 1) };
    const double *weights = nnv_units(r->k, NORM + g), *bias = nnv_units(r->k, BIAS + g);
    int64_t sum = 0, squares = 0, n = (int64_t)r->units;
    int32_t *z = r->gates[g];
    if (n == 0) return;
    for (size_t u = 0; u < r->units; u++) {
        sum += z[u];
        squares += (int64_t)z[u] * z[u];
    }
    int64_t mean = sum * (1 << MORE) / n, share = (1 << 2 * MORE) / n;
    struct nnv_fixed_factor deviation = nnv_fixed_rsqrt((squares * share - mean * mean) / (1 << 2 * MORE));
    struct nnv_fixed_factor unit = nnv_fixed_factor((double)scale_of(r, NORM + g));
    unit.e += FUNCTION_BITS;
    for (size_t u = 0; u < r->units; u++) {
        int64_t ratio = scaled(r->k, (int64_t)z[u] * (1 << MORE) - mean, deviation);
        int64_t w = ratio * llround(weights[u]) + llround(bias[u]);
        z[u] = nnv_saturate16(scaled(r->k, (w + (w > 0 ? HALF : -HALF)) / (1 << MORE), unit));
    }
}

/* Without layer normalisation the sums are taken as they are, 12 fractional bits, and the biases have no part in it. */
static void gate(const struct row *r, int g) {
    gate_sums(r, g);
    if (nnv_units(r->k, NORM + g)) normalise(r, g);
    for (size_t u = 0; u < r->units; u++) {
        int32_t *z = &r->gates[g][u];
        *z = g == NNV_GATE_CELL ? nnv_fixed_tanh(*z, FUNCTION_INTEGER_BITS)
                                : nnv_fixed_logistic(*z, FUNCTION_INTEGER_BITS);
    }
}

/* A clip of the scale's units; 0: none. */
static int32_t clip_of(const struct row *r, int id, float scale, int32_t most) {
    double clip = nnv_num(r->k->call, id);
    return clip > 0 && scale > 0 ? (int32_t)fmin(most, trunc((double)((float)clip / scale))) : 0;
}

static int32_t clip(int32_t v, int32_t limit) {
    return limit > 0 && v > limit ? limit : limit > 0 && v < -limit ? -limit : v;
}

/* c' = f c + i g, both products rounded to the unit of the cell state. */
static void update_cell(const struct row *r) {
    int32_t limit = clip_of(r, CELL_CLIP, scale_of(r, CELL_STATE), INT16_MAX);
    bool cifg = !nnv_in(r->k->call, WEIGHTS);
    int shift = 2 * UNIT_BITS + r->cell;
    for (size_t u = 0; u < r->units; u++) {
        int64_t f = r->gates[NNV_GATE_FORGET][u], g = r->gates[NNV_GATE_CELL][u];
        int64_t i = cifg ? INT16_MAX - f : r->gates[NNV_GATE_INPUT][u];
        int64_t kept = nnv_fixed_shift(f * r->c[u], UNIT_BITS), added = nnv_fixed_shift(i * g, shift);
        double exact = ldexp((double)(f * r->c[u]), -UNIT_BITS) + ldexp((double)(i * g), -shift);
        r->c[u] = clip(nnv_saturate16(llround(nnv_fixed_near(r->k, (double)(kept + added), exact))), limit);
    }
}

/* o tanh(c'), in units of the hidden state; its zero point is subtracted, and added again by a projection. */
static void hidden(const struct row *r, double *m) {
    struct nnv_kernel *k = r->k;
    float scale = (float)nnv_num(k->call, HIDDEN_SCALE);
    struct nnv_fixed_factor f = nnv_fixed_factor((double)(0x1p-30f / scale));
    for (size_t u = 0; u < r->units; u++) {
        int64_t t = nnv_fixed_tanh(r->c[u], UNIT_BITS + r->cell);
        m[u] = nnv_saturate8((int64_t)scaled(k, r->gates[NNV_GATE_OUTPUT][u] * t, f) - nnv_int(k->call, HIDDEN_ZERO));
    }
}

static void project(const struct row *r, const double *m, double *h) {
    struct nnv_kernel *k = r->k;
    const struct nnv_operand *to = k->call->out[2].operand;
    const double *weights = nnv_units(k, PROJECTION), *bias = nnv_units(k, PROJECTION_BIAS);
    float unit = scale_of(r, PROJECTION) * (float)nnv_num(k->call, HIDDEN_SCALE) / to->scale;
    int32_t limit = clip_of(r, PROJECTION_CLIP, scale_of(r, PROJECTION), INT8_MAX);
    struct nnv_fixed_factor f = nnv_fixed_factor((double)unit);
    for (size_t o = 0; o < r->output; o++) {
        double sum = bias ? bias[o] : 0;
        for (size_t u = 0; u < r->units; u++) sum += (m[u] + nnv_int(k->call, HIDDEN_ZERO)) * weights[o * r->units + u];
        h[o] = clip(nnv_saturate8((int64_t)scaled(k, integer(sum), f) + to->zero_point), limit);
    }
}

/* The codes as real numbers of output i. */
static void give(struct nnv_kernel *k, uint32_t i, size_t first, size_t n, const double *codes) {
    const struct nnv_operand *o = k->call->out[i].operand;
    for (size_t e = 0; e < n; e++) k->out[i][first + e] = (codes[e] - o->zero_point) * (double)o->scale;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *x = nnv_in_shape(k, X);
    struct row r = {
        .k = k, .units = nnv_out_shape(k, 1)->dims[1], .input = x->dims[1], .output = nnv_out_shape(k, 0)->dims[1]};
    (void)cell_exponent(nnv_in(k->call, CELL_STATE)->operand, &r.cell);
    int32_t *integers = NNV_NEW(k->scratch, int32_t, (NNV_GATES + 1) * r.units);
    double *m = NNV_NEW(k->scratch, double, r.units), *h = NNV_NEW(k->scratch, double, r.output);
    double *c = NNV_NEW(k->scratch, double, r.units);
    if (!integers || !m || !h || !c) return nnv_no_memory(err);
    r.c = integers + NNV_GATES * r.units;
    for (size_t g = 0; g < NNV_GATES; g++) r.gates[g] = integers + g * r.units;
    for (size_t b = 0; b < x->dims[0]; b++) {
        r.x = nnv_units(k, X) + b * r.input;
        r.h = nnv_units(k, STATE) + b * r.output;
        for (size_t u = 0; u < r.units; u++) r.c[u] = (int32_t)lround(nnv_units(k, CELL_STATE)[b * r.units + u]);
        for (int g = nnv_in(k->call, WEIGHTS) ? 0 : 1; g < NNV_GATE_OUTPUT; g++) gate(&r, g);
        update_cell(&r);
        gate(&r, NNV_GATE_OUTPUT);
        hidden(&r, m);
        if (nnv_in(k->call, PROJECTION)) project(&r, m, h);
        for (size_t u = 0; u < r.units; u++) c[u] = r.c[u];
        const double *out = nnv_in(k->call, PROJECTION) ? h : m;
        give(k, 0, b * r.output, r.output, out);
        give(k, 1, b * r.units, r.units, c);
        give(k, 2, b * r.output, r.output, out);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------------- samples */

#define GATES(X) X, X "_cifg"
static const char *const variants[] = {GATES("plain"),           GATES("norm"),          GATES("plain_projection"),
                                       GATES("norm_projection"), GATES("norm_peephole"), NULL};

static const struct nnv_factor factors[] = {
    NNV_CELL_FACTORS,
    {.name = "parts", NNV_WORDS("plain", "norm", "plain_projection", "norm_projection", "norm_peephole")},
    {.name = "gates", NNV_WORDS("four", "cifg")}};

/* Where AOSP's algorithm and the documentation differ, the cases keep to what both give. */
static void sample_cell(struct nnv_sample *s, const struct nnv_lstm_parts *parts) {
    static const float norm_scales[] = {0x1p-15f, 3.05182e-05f, 0x1p-14f};
    float scale = norm_scales[s->index % 3];
    double bias = parts->norm ? 700 / (double)scale : 0.5; /* 0.5: all 0, as AOSP leaves it out */
    for (int g = 0; g < NNV_GATES; g++) {
        s->arg[BIAS + g].lo = -bias;
        s->arg[BIAS + g].hi = bias;
        s->arg[NORM + g].scale = scale;
    }
    for (int g = 0; parts->peephole && g < 2; g++) { /* zero: AOSP reads the new cell state here */
        s->arg[PEEPHOLE + g].scale = 0x1p-12f;
        s->arg[PEEPHOLE + g].hi = 0x1p-20;
    }
}

static void sample_numbers(struct nnv_sample *s, const struct nnv_lstm_parts *parts) {
    static const double sum_scales[] = {0x1p-7, 0.00705, 0x1p-9, 0.0123};
    static const double cell_clips[] = {0, 0.75, 0.375};
    for (int g = 0; g < NNV_GATES; g++)
        nnv_sample_scalar(s, SUM_SCALE + g, parts->norm ? sum_scales[(s->index + g) % 4] : 0x1p-12);
    if (s->index % 4 != 3) nnv_sample_scalar(s, CELL_CLIP, cell_clips[s->index % 3]);
}

/* The scales of hidden state and output; without projection they are one. */
static void sample_output(struct nnv_sample *s, const struct nnv_lstm_parts *parts) {
    struct nnv_sample_arg *state = &s->arg[STATE];
    bool clipped = parts->projection && s->index % 3 == 1;
    state->scale = parts->projection ? 1.0f / 40 : 1.0f / 128;
    state->zero_point = parts->projection ? 5 - 4 * (s->index % 9) : 0;
    if (parts->projection) {
        float weights = s->arg[PROJECTION].scale = 1.0f / 64;
        s->arg[PROJECTION_BIAS].hi = 0.25 * 64 * 100;
        s->arg[PROJECTION_BIAS].lo = -s->arg[PROJECTION_BIAS].hi;
        if (clipped) { /* the clip has the unit of the weights in AOSP */
            state->scale = weights;
            state->zero_point = 0;
        }
    }
    if (clipped || s->index % 2 == 0) nnv_sample_scalar(s, PROJECTION_CLIP, clipped ? 0.5 : 0);
    nnv_sample_scalar(s, HIDDEN_ZERO, parts->projection ? 9 * (s->index % 4) - 13 : 0);
    nnv_sample_scalar(s, HIDDEN_SCALE, parts->projection ? 0.01 : 1.0 / 128);
}

static void sample(struct nnv_sample *s) {
    static const float cells[] = {0x1p-11f, 0x1p-15f, 0x1p-12f, 0x1p-9f, 0x1p-13f};
    struct nnv_lstm_parts parts = nnv_lstm_parts_of(s);
    parts.projection_bias = parts.projection; /* AOSP crashes without it */
    struct nnv_lstm_extents x = nnv_lstm_sample_extents(s, parts.projection);
    nnv_sample_tensor(s, X, 2, (uint32_t[]){x.batch, x.input});
    nnv_lstm_sample(s, &ids, &parts, &x);
    s->arg[CELL_STATE].scale = cells[s->index % 5];
    sample_cell(s, &parts);
    sample_numbers(s, &parts);
    sample_output(s, &parts);
    s->out_as[0] = s->out_as[2] = STATE + 1;
    s->out_as[1] = CELL_STATE + 1;
}

const struct nnv_op nnv_op_QUANTIZED_LSTM = {
    NNV_OP_NAMED(QUANTIZED_LSTM),
    .level = 4,
    .formula = "LSTM on integers: sums of 16 bits in the given units, layer normalisation, logistic and tanh in fixed "
               "point, cell state of 16 bits, output of 8 bits",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
