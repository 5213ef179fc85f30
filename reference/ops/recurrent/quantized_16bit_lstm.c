/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantized_16bit_lstm.c QUANTIZED_16BIT_LSTM. */
#include "reference/ops/quant/fixed.h"
#include "reference/ops/recurrent/lstm.h"

#include <string.h>

enum { X = 0, WEIGHTS = 1, RECURRENT = 5, BIAS = 9, CELL_STATE = 13, STATE = 14 };

/* The numbers of fractional bits of the cell state, of the sums, and of what lies in [-1, 1]. */
enum { CELL_BITS = 11, SUM_BITS = 12, UNIT_BITS = 15, SUM_INTEGER_BITS = UNIT_BITS - SUM_BITS };

#define TENSOR(ID, NAME, RANK, TYPE, FLAGS, QUANT, LIMIT)                                                              \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_##TYPE, .flags = FLAGS,               \
        .rank_min = RANK, .rank_max = RANK, .quant = QUANT, .lo = -(LIMIT), .hi = LIMIT                                \
    }
#define MATRIX(ID, NAME, QUANT)                                                                                        \
    {                                                                                                                  \
        .id = ID, .name = NAME " weights", .var = NNV_T, .flags = NNV_PARAM, .rank_min = 2, .rank_max = 2,             \
        .quant = QUANT, .lo = -1, .hi = 1                                                                              \
    }
#define MATRICES(FIRST, OF, QUANT)                                                                                     \
    MATRIX(FIRST, OF "input", QUANT), MATRIX(FIRST + 1, OF "forget", NNV_Q_SAME_1),                                    \
        MATRIX(FIRST + 2, OF "cell", NNV_Q_SAME_1), MATRIX(FIRST + 3, OF "output", NNV_Q_SAME_1)
#define GATE_BIAS(GATE, NAME) TENSOR(BIAS + GATE, NAME " gate bias", 1, INT32, NNV_PARAM, NNV_Q_BIAS, 1)

static const struct nnv_slot inputs[] = {
    TENSOR(X, "input", 2, QUANT8_ASYMM, 0, NNV_Q_UNIT_128, 1),
    MATRICES(WEIGHTS, "input-to-", NNV_Q_FREE),
    MATRICES(RECURRENT, "recurrent-to-", NNV_Q_SAME_1),
    GATE_BIAS(0, "input"),
    GATE_BIAS(1, "forget"),
    GATE_BIAS(2, "cell"),
    GATE_BIAS(3, "output"),
    TENSOR(CELL_STATE, "cell state", 2, QUANT16_SYMM, 0, NNV_Q_FREE, 2),
    TENSOR(STATE, "output state", 2, QUANT8_ASYMM, 0, NNV_Q_UNIT_128, 1),
};
static const struct nnv_slot outputs[] = {
    TENSOR(0, "cell state", 2, QUANT16_SYMM, 0, NNV_Q_FREE, 0),
    TENSOR(1, "output", 2, QUANT8_ASYMM, 0, NNV_Q_UNIT_128, 0),
};
static const struct nnv_sig sigs[] = {NNV_SIG(3, QUANT8_ASYMM)};

static enum nnv_status check_cell(const struct nnv_operand *o, const char *what, struct nnv_err *err) {
    const double scale = 1.0 / (1 << CELL_BITS);
    if (fabs((double)o->scale - scale) <= 1e-6 * scale) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s cell state: scale %.9g, expected 1/%d", what, (double)o->scale,
                    1 << CELL_BITS);
}

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = check_cell(nnv_in(c, CELL_STATE)->operand, "the previous", err);
    return st ? st : check_cell(c->out[0].operand, "the new", err);
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t batch = NNV_DIM_UNKNOWN, in = NNV_DIM_UNKNOWN, units = NNV_DIM_UNKNOWN;
    enum nnv_status st;
    if ((st = nnv_extent_agree(c, X, 0, &batch, err)) || (st = nnv_extent_agree(c, X, 1, &in, err))) return st;
    for (int g = 0; g < NNV_GATES; g++)
        if ((st = nnv_extent_agree(c, WEIGHTS + g, 0, &units, err)) ||
            (st = nnv_extent_agree(c, WEIGHTS + g, 1, &in, err)) ||
            (st = nnv_extent_agree(c, RECURRENT + g, 0, &units, err)) ||
            (st = nnv_extent_agree(c, RECURRENT + g, 1, &units, err)) ||
            (st = nnv_extent_agree(c, BIAS + g, 0, &units, err)))
            return st;
    for (int id = CELL_STATE; id <= STATE; id++)
        if ((st = nnv_extent_agree(c, id, 0, &batch, err)) || (st = nnv_extent_agree(c, id, 1, &units, err))) return st;
    out[0] = out[1] = nnv_shape_make(2, (uint32_t[]){batch, units});
    return NNV_OK;
}

/* ----------------------------------------------------------------------- evaluation */

/*
 * The sum of gate g, unit u, with 12 fractional bits. All implementations that pass Android's tests have the columns
 * of the recurrent weights before those of the input weights, but the input before the output state: the columns
 * [R | W] meet the values [x | h], whatever the extents of both.
 */
static int32_t gate_sum(struct nnv_kernel *k, int g, size_t units, size_t u, size_t n, const double *values) {
    size_t in = n - units;
    const double *recurrent = nnv_units(k, RECURRENT + g) + u * units, *weights = nnv_units(k, WEIGHTS + g) + u * in;
    double sum = nnv_units(k, BIAS + g)[u];
    for (size_t j = 0; j < n; j++) sum += values[j] * (j < units ? recurrent[j] : weights[j - units]);
    double bias_scale = (double)nnv_in(k->call, BIAS + g)->operand->scale;
    struct nnv_fixed_factor f = nnv_fixed_factor(bias_scale * (1 << SUM_BITS));
    int64_t acc = (int64_t)fmax(INT32_MIN, fmin(INT32_MAX, sum));
    double z = nnv_fixed_near(k, nnv_fixed_scale(acc, f), (double)acc * nnv_fixed_real(f));
    return nnv_saturate16(llround(z));
}

static double unit(double v) { return ldexp(v, -UNIT_BITS); }

static int32_t logistic(struct nnv_kernel *k, int32_t z) {
    double exact = ldexp(nnv_logistic(ldexp(z, -SUM_BITS)), UNIT_BITS);
    return nnv_saturate16(llround(nnv_fixed_near(k, nnv_fixed_logistic(z, SUM_INTEGER_BITS), exact)));
}

static int32_t hyperbolic(struct nnv_kernel *k, int32_t z) {
    double exact = ldexp(tanh(ldexp(z, -SUM_BITS)), UNIT_BITS);
    return nnv_saturate16(llround(nnv_fixed_near(k, nnv_fixed_tanh(z, SUM_INTEGER_BITS), exact)));
}

/* One unit: the sums of its gates and its cell state to the new cell state and output, in units of each. */
static void step(struct nnv_kernel *k, const int32_t z[NNV_GATES], int32_t c, double *c_out, double *h_out) {
    enum { PRODUCT_TO_CELL = UNIT_BITS - CELL_BITS, HIDDEN_BITS = 7 };
    int32_t i = logistic(k, z[NNV_GATE_INPUT]), f = logistic(k, z[NNV_GATE_FORGET]);
    int32_t g = hyperbolic(k, z[NNV_GATE_CELL]), o = logistic(k, z[NNV_GATE_OUTPUT]);
    int64_t added = nnv_fixed_shift(nnv_fixed_mul16(i, g), PRODUCT_TO_CELL), kept = nnv_fixed_mul16(f, c);
    double exact = ldexp(unit(i) * unit(g), CELL_BITS) + unit(f) * c;
    *c_out = nnv_fixed_near(k, (double)(added + kept), exact);
    *c_out = fmax(INT16_MIN, fmin(INT16_MAX, *c_out));
    int32_t t =
        hyperbolic(k, nnv_saturate16(2 * llround(*c_out))); /* 12 fractional bits; tanh(8) is 1 as far as seen */
    int64_t h = nnv_fixed_shift(nnv_fixed_mul16(o, t), UNIT_BITS - HIDDEN_BITS);
    *h_out = nnv_fixed_near(k, (double)h, ldexp(unit(o) * unit(t), HIDDEN_BITS));
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    size_t batch = nnv_in_shape(k, X)->dims[0], in = nnv_in_shape(k, X)->dims[1];
    size_t units = nnv_out_shape(k, 0)->dims[1], n = in + units;
    double cell_scale = (double)k->call->out[0].operand->scale, scale = (double)k->call->out[1].operand->scale;
    double *values = NNV_NEW(k->scratch, double, n);
    if (!values) return nnv_no_memory(err);
    for (size_t b = 0; b < batch; b++) {
        memcpy(values, nnv_units(k, X) + b * in, in * sizeof *values);
        memcpy(values + in, nnv_units(k, STATE) + b * units, units * sizeof *values);
        for (size_t u = 0; u < units; u++) {
            int32_t z[NNV_GATES];
            double *c = k->out[0] + b * units + u, *h = k->out[1] + b * units + u;
            for (int g = 0; g < NNV_GATES; g++) z[g] = gate_sum(k, g, units, u, n, values);
            step(k, z, (int32_t)lround(nnv_units(k, CELL_STATE)[b * units + u]), c, h);
            *c *= cell_scale;
            *h *= scale;
        }
    }
    return NNV_OK;
}

static const struct nnv_factor factors[] = {NNV_CELL_FACTORS};
static const char *const variants[] = {"small", "wide", "narrow", NULL};

static void sample(struct nnv_sample *s) {
    bool wide = nnv_sample_is(s, "wide"), narrow = nnv_sample_is(s, "narrow");
    uint32_t batch = nnv_row_extent(s, "batch", nnv_sample_dim(s, 2, 4));
    uint32_t in = nnv_row_extent(s, "input", narrow ? nnv_sample_dim(s, 8, 17) : nnv_sample_dim(s, 2, 7));
    uint32_t units = nnv_row_extent(s, "units", wide ? nnv_sample_dim(s, 8, 17) : nnv_sample_dim(s, 2, 7));
    if (!s->row && in == units) in++;
    nnv_sample_tensor(s, X, 2, (uint32_t[]){batch, in});
    for (int g = 0; g < NNV_GATES; g++) {
        nnv_sample_tensor(s, WEIGHTS + g, 2, (uint32_t[]){units, in});
        nnv_sample_tensor(s, RECURRENT + g, 2, (uint32_t[]){units, units});
        nnv_sample_tensor(s, BIAS + g, 1, &units);
    }
    nnv_sample_tensor(s, CELL_STATE, 2, (uint32_t[]){batch, units})->scale = 1.0f / (1 << CELL_BITS);
    nnv_sample_tensor(s, STATE, 2, (uint32_t[]){batch, units});
    s->out_as[0] = CELL_STATE + 1;
}

const struct nnv_op nnv_op_QUANTIZED_16BIT_LSTM = {
    NNV_OP_NAMED(QUANTIZED_16BIT_LSTM),
    .level = 3,
    .formula = "i, f, o = logistic(z_i), logistic(z_f), logistic(z_o); c' = f c + i tanh(z_g); y = o tanh(c'); "
               "z_k = [x h] [R_k W_k]^T + b_k: the columns of R come first, as Android's tests have it",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_TABLE,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
