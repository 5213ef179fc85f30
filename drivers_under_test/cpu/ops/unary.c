/* SPDX-License-Identifier: Apache-2.0 */
/** @file unary.c Elementwise operations on one tensor. */
#include "driver/op.h"

enum { X, ALPHA, CHUNK = 8192 };

typedef void (*row_f32)(size_t n, const float *x, float *y);

struct unary {
    const struct cpu_kernels *kernels;
    int32_t code;
    const void *x;
    void *y;
    size_t count;
    row_f32 row; /**< NULL: of another form */
    float lo, hi, alpha;
    uint8_t qlo, qhi;
    const uint8_t *table; /**< quantised functions */
};

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

static void chunks(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct unary *u = arg;
    const size_t from = (size_t)begin * CHUNK, to = (size_t)end * CHUNK < u->count ? (size_t)end * CHUNK : u->count;
    const size_t n = to - from;
    const float *x = (const float *)u->x + from;
    float *y = (float *)u->y + from;
    if (u->row)
        u->row(n, x, y);
    else if (u->code == ANEURALNETWORKS_ELU)
        u->kernels->elu_f32(n, x, u->alpha, y);
    else
        u->kernels->clamp_f32(n, x, u->lo, u->hi, y);
}

/** ABS and NEG; the least integer, which has no opposite, stays. */
static void chunks_i32(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct unary *u = arg;
    const size_t to = (size_t)end * CHUNK < u->count ? (size_t)end * CHUNK : u->count;
    const uint32_t *x = u->x;
    uint32_t *y = u->y;
    if (u->code == ANEURALNETWORKS_NEG)
        for (size_t i = (size_t)begin * CHUNK; i < to; i++) y[i] = 0u - x[i];
    else
        for (size_t i = (size_t)begin * CHUNK; i < to; i++) y[i] = x[i] >> 31 ? 0u - x[i] : x[i];
}

static void chunks_bool(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct unary *u = arg;
    const size_t to = (size_t)end * CHUNK < u->count ? (size_t)end * CHUNK : u->count;
    const uint8_t *x = u->x;
    uint8_t *y = u->y;
    for (size_t i = (size_t)begin * CHUNK; i < to; i++) y[i] = x[i] == 0;
}

static void chunks_u8(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct unary *u = arg;
    const size_t from = (size_t)begin * CHUNK, to = (size_t)end * CHUNK < u->count ? (size_t)end * CHUNK : u->count;
    const uint8_t *x = u->x;
    uint8_t *y = u->y;
    if (u->table)
        for (size_t i = from; i < to; i++) y[i] = u->table[x[i]];
    else
        u->kernels->clamp_u8(to - from, x + from, u->qlo, u->qhi, y + from);
}

static cpu_items_fn chunks_of(const struct cpu_tensor *x) {
    if (cpu_is_quant8(x)) return chunks_u8;
    if (cpu_is_float(x)) return chunks;
    return x->type == ANEURALNETWORKS_TENSOR_BOOL8 ? chunks_bool : chunks_i32;
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    int32_t activation = ANEURALNETWORKS_FUSED_NONE;
    if (c->node->code == ANEURALNETWORKS_RELU) activation = ANEURALNETWORKS_FUSED_RELU;
    if (c->node->code == ANEURALNETWORKS_RELU1) activation = ANEURALNETWORKS_FUSED_RELU1;
    if (c->node->code == ANEURALNETWORKS_RELU6) activation = ANEURALNETWORKS_FUSED_RELU6;
    const struct cpu_range range = cpu_activation(activation, out);
    struct unary u = {
        .kernels = c->run->kernels,
        .code = c->node->code,
        .x = x->data,
        .y = out->data,
        .count = cpu_count(out),
        .row = row_of(c->run->kernels, c->node->code),
        .alpha = cpu_float(c, ALPHA, 1),
        .lo = range.lo,
        .hi = range.hi,
        .qlo = (uint8_t)range.qlo,
        .qhi = (uint8_t)range.qhi,
        .table = c->node->state,
    };
    cpu_threads_run(c->run->threads, (uint32_t)((u.count + CHUNK - 1) / CHUNK), (double)u.count, chunks_of(x), &u);
    return true;
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
static bool prepare(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                    const struct cpu_kernels *kernels) {
    const struct cpu_tensor *x = &tensors[node->in[X]], *out = &tensors[node->out[0]];
    double (*const f)(double) = function_of(node->code);
    (void)kernels;
    if (!f || !cpu_is_quant8(x)) return true;
    uint8_t *table = cpu_arena_alloc(arena, 256);
    if (!table) return false;
    for (int32_t q = 0; q < 256; q++) table[q] = cpu_quantize(f((q - x->zero_point) * (double)x->scale), out);
    node->state = table;
    return true;
}

const struct cpu_op_fns cpu_op_unary = {.infer = cpu_infer_same, .prepare = prepare, .run = run};

/* ----------------------------------------------------------------- DEQUANTIZE */

static bool check_dequantize(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    return !x->known_rank || x->shape.rank <= 4;
}

/** Signed bytes without a zero point; scales run along one dimension, or there is one. */
static void dequantize_symmetric(const struct cpu_tensor *x, float *y) {
    const int8_t *q = x->data;
    const size_t count = cpu_count(x), channels = x->scales ? x->channels : 1;
    const size_t inner = x->scales ? cpu_extent(&x->shape, x->channel_dim + 1, x->shape.rank) : count;
    for (size_t i = 0; i < count; i++) {
        const float scale = x->scales ? x->scales[i / inner % channels] : x->scale;
        y[i] = (float)q[i] * scale;
    }
}

static bool run_dequantize(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    float *y = cpu_out(c, 0)->data;
    if (cpu_is_quant8(x))
        c->run->kernels->dequantize_u8(cpu_count(x), x->data, x->zero_point, x->scale, y);
    else
        dequantize_symmetric(x, y);
    return true;
}

const struct cpu_op_fns cpu_op_dequantize = {.check = check_dequantize, .infer = cpu_infer_same, .run = run_dequantize};
