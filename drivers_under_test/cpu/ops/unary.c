/* SPDX-License-Identifier: Apache-2.0 */
/** @file unary.c Operations on one tensor, value by value: functions, activations, CAST, QUANTIZE, DEQUANTIZE. */
#include <string.h>

#include "driver/op.h"

enum { X, ALPHA };

struct unary;
/** n neighbouring values. */
typedef void (*values_fn)(const struct unary *u, size_t n, const void *x, void *y);
typedef void (*row_f32)(size_t n, const float *x, float *y);

struct unary {
    const struct cpu_kernels *kernels;
    const struct cpu_tensor *x, *out;
    values_fn values;
    row_f32 row; /**< of apply_f32 */
    struct cpu_range range;
    float alpha;
    const uint8_t *table; /**< quantised functions */
};

static void chunk(const void *arg, size_t from, size_t to) {
    const struct unary *u = arg;
    u->values(u, to - from, cpu_values_at(u->x, u->x->data, from), cpu_values_to(u->out, u->out->data, from));
}

static bool run_values(const struct cpu_call *c, double value_ns, values_fn values, struct unary *u) {
    u->kernels = c->kernels;
    u->x = cpu_in(c, X);
    u->out = cpu_out(c, 0);
    u->values = values;
    cpu_threads_chunks(c->run->threads, cpu_count(u->x), value_ns, chunk, u);
    return true;
}

/** Defines values as EXPR of v. */
#define VALUES(NAME, FROM, TO, EXPR)                                                                                   \
    static void NAME(const struct unary *u, size_t n, const void *px, void *py) {                                      \
        (void)u;                                                                                                       \
        const FROM *x = px;                                                                                            \
        TO *y = py;                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const FROM v = x[i];                                                                                       \
            y[i] = (TO)(EXPR);                                                                                         \
        }                                                                                                              \
    }

/* ------------------------------------------------------------------ functions */

/** The function of the code; NULL for those with parameters. */
static row_f32 row_of(const struct cpu_kernels *k, int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_ABS:
        return k->abs_f32;
    case ANEURALNETWORKS_EXP:
        return k->exp_f32;
    case ANEURALNETWORKS_FLOOR:
        return k->floor_f32;
    case ANEURALNETWORKS_HARD_SWISH:
        return k->hard_swish_f32;
    case ANEURALNETWORKS_LOG:
        return k->log_f32;
    case ANEURALNETWORKS_LOGISTIC:
        return k->logistic_f32;
    case ANEURALNETWORKS_NEG:
        return k->neg_f32;
    case ANEURALNETWORKS_RSQRT:
        return k->rsqrt_f32;
    case ANEURALNETWORKS_SIN:
        return k->sin_f32;
    case ANEURALNETWORKS_SQRT:
        return k->sqrt_f32;
    case ANEURALNETWORKS_TANH:
        return k->tanh_f32;
    default:
        return NULL;
    }
}

static void apply_f32(const struct unary *u, size_t n, const void *x, void *y) { u->row(n, x, y); }

static void elu_f32(const struct unary *u, size_t n, const void *x, void *y) { u->kernels->elu_f32(n, x, u->alpha, y); }

static void clamp_f32(const struct unary *u, size_t n, const void *x, void *y) {
    u->kernels->clamp_f32(n, x, u->range.lo, u->range.hi, y);
}

static void clamp_u8(const struct unary *u, size_t n, const void *x, void *y) {
    u->kernels->clamp_u8(n, x, (uint8_t)u->range.qlo, (uint8_t)u->range.qhi, y);
}

VALUES(look_up, uint8_t, uint8_t, u->table[v])
VALUES(logical_not, uint8_t, uint8_t, v == 0)
VALUES(neg_i32, uint32_t, uint32_t, 0u - v)
VALUES(abs_i32, uint32_t, uint32_t, v >> 31 ? 0u - v : v) /* the least integer, which has no opposite, stays */

static values_fn function(const struct cpu_call *c, const struct unary *u) {
    const struct cpu_tensor *x = cpu_in(c, X);
    if (cpu_is_quant8(x)) return u->table ? look_up : clamp_u8;
    if (cpu_is_float(x)) return u->row ? apply_f32 : c->node->code == ANEURALNETWORKS_ELU ? elu_f32 : clamp_f32;
    if (x->type == ANEURALNETWORKS_TENSOR_BOOL8) return logical_not;
    return c->node->code == ANEURALNETWORKS_NEG ? neg_i32 : abs_i32;
}

static int32_t activation_of(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_RELU:
        return ANEURALNETWORKS_FUSED_RELU;
    case ANEURALNETWORKS_RELU1:
        return ANEURALNETWORKS_FUSED_RELU1;
    case ANEURALNETWORKS_RELU6:
        return ANEURALNETWORKS_FUSED_RELU6;
    default:
        return ANEURALNETWORKS_FUSED_NONE;
    }
}

static bool run(struct cpu_call *c) {
    struct unary u = {
        .row = row_of(c->kernels, c->node->code),
        .range = cpu_activation(activation_of(c->node->code), cpu_out(c, 0)),
        .alpha = cpu_float(c, ALPHA, 1),
        .table = c->node->state,
    };
    return run_values(c, 1.0, function(c, &u), &u);
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }

static double hard_swish(double x) { return x * fmin(6, fmax(0, x + 3)) / 6; }

/** Of numbers that have no root, and of 0: the largest. */
static double reciprocal_root(double x) { return x > 0 ? 1 / sqrt(x) : (double)INFINITY; }

/** Of the code, for quantised values; NULL for what needs no table. */
static double (*function_of(int32_t code))(double) {
    switch (code) {
    case ANEURALNETWORKS_HARD_SWISH:
        return hard_swish;
    case ANEURALNETWORKS_LOGISTIC:
        return logistic;
    case ANEURALNETWORKS_RSQRT:
        return reciprocal_root;
    case ANEURALNETWORKS_TANH:
        return tanh;
    default:
        return NULL;
    }
}

/** All 256 results, in double. */
static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    double (*const f)(double) = function_of(c->node->code);
    if (!f || !cpu_is_quant8(x)) return true;
    uint8_t *table = *state = cpu_arena_alloc(arena, 256);
    for (int32_t q = 0; table && q < 256; q++) table[q] = cpu_quantize(f((q - x->zero_point) * (double)x->scale), out);
    return table != NULL;
}

const struct cpu_op_fns cpu_op_unary = {.infer = cpu_infer_same, .prepare = prepare, .run = run};

/* ----------------------------------------------------------------------- CAST */

/** Kinds of elements as kernels see them; codes that only cast to themselves are bytes. */
enum kind { FLOAT, INT, CODE, OTHER };

static enum kind kind_of(const struct cpu_tensor *t) {
    if (cpu_is_float(t)) return FLOAT;
    if (t->type == ANEURALNETWORKS_TENSOR_INT32) return INT;
    return t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? CODE : OTHER;
}

static bool check_cast(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    return x->type == out->type || (kind_of(x) != OTHER && kind_of(out) != OTHER);
}

static void copy(const struct unary *u, size_t n, const void *x, void *y) { memcpy(y, x, n * cpu_element(u->x->type)); }

/** Truncated, saturated; a NaN becomes 0. */
static inline int32_t truncated(float v) {
    v = v == v ? v : 0;
    return v >= 0x1p31f ? INT32_MAX : v <= -0x1p31f ? INT32_MIN : (int32_t)v;
}
VALUES(float_to_int, float, int32_t, truncated(v))
VALUES(float_to_code, float, uint8_t, (int32_t)(v > 0 ? v < 255 ? v : 255 : 0))
VALUES(int_to_float, int32_t, float, v)
VALUES(int_to_code, int32_t, uint8_t, v > 0 ? v < 255 ? v : 255 : 0)
VALUES(code_to_float, uint8_t, float, v)
VALUES(code_to_int, uint8_t, int32_t, v)

static bool run_cast(struct cpu_call *c) {
    static const values_fn casts[OTHER + 1][OTHER + 1] = {
        [FLOAT] = {copy, float_to_int, float_to_code},
        [INT] = {int_to_float, copy, int_to_code},
        [CODE] = {code_to_float, code_to_int, copy},
        [OTHER] = {[OTHER] = copy},
    };
    const enum kind from = kind_of(cpu_in(c, X)), to = kind_of(cpu_out(c, 0));
    return run_values(c, 0.5, casts[from][to], &(struct unary){0});
}

const struct cpu_op_fns cpu_op_cast = {.check = check_cast, .infer = cpu_infer_same, .run = run_cast};

/* ------------------------------------------------------- QUANTIZE, DEQUANTIZE */

static bool check_quantize(const struct cpu_call *c) { return cpu_is_quant8(cpu_out(c, 0)); }

static void quantize(const struct unary *u, size_t n, const void *x, void *y) {
    u->kernels->quantize_f32(n, x, u->out->scale, u->out->zero_point, y);
}

static bool run_quantize(struct cpu_call *c) { return run_values(c, 0.5, quantize, &(struct unary){0}); }

const struct cpu_op_fns cpu_op_quantize = {.check = check_quantize, .infer = cpu_infer_same, .run = run_quantize};

static bool check_dequantize(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    return !x->known_rank || x->shape.rank <= 4;
}

static void dequantize(const struct unary *u, size_t n, const void *x, void *y) {
    u->kernels->dequantize_u8(n, x, u->x->zero_point, u->x->scale, y);
}

/** Signed bytes without a zero point; scales run along one dimension, or there is one. */
static void dequantize_symmetric(const struct unary *u, size_t n, const void *px, void *py) {
    const struct cpu_tensor *t = u->x;
    const int8_t *x = px;
    float *y = py;
    const size_t at = (size_t)(x - (const int8_t *)t->data), channels = t->scales ? t->channels : 1;
    const size_t inner = t->scales ? cpu_extent(&t->shape, t->channel_dim + 1, t->shape.rank) : at + n;
    for (size_t i = 0; i < n; i++) y[i] = (float)x[i] * (t->scales ? t->scales[(at + i) / inner % channels] : t->scale);
}

static bool run_dequantize(struct cpu_call *c) {
    return run_values(c, 0.5, cpu_is_quant8(cpu_in(c, X)) ? dequantize : dequantize_symmetric, &(struct unary){0});
}

const struct cpu_op_fns cpu_op_dequantize = {.check = check_dequantize, .infer = cpu_infer_same, .run = run_dequantize};
