/* SPDX-License-Identifier: Apache-2.0 */
/** @file unary.c Elementwise operations on one tensor. */
#include "op.h"

enum { X, CHUNK = 8192 };

struct unary {
    const struct cpu_kernels *kernels;
    int32_t code;
    const void *x;
    void *y;
    size_t count;
    float lo, hi;
    uint8_t qlo, qhi;
    const uint8_t *table; /**< quantised functions */
};

static void chunks(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct unary *u = arg;
    const size_t from = (size_t)begin * CHUNK, to = (size_t)end * CHUNK < u->count ? (size_t)end * CHUNK : u->count;
    const size_t n = to - from;
    const float *x = (const float *)u->x + from;
    float *y = (float *)u->y + from;
    switch (u->code) {
    case ANEURALNETWORKS_FLOOR:
        u->kernels->floor_f32(n, x, y);
        break;
    case ANEURALNETWORKS_LOGISTIC:
        u->kernels->logistic_f32(n, x, y);
        break;
    case ANEURALNETWORKS_TANH:
        u->kernels->tanh_f32(n, x, y);
        break;
    default:
        u->kernels->clamp_f32(n, x, u->lo, u->hi, y);
        break;
    }
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
        .lo = range.lo,
        .hi = range.hi,
        .qlo = (uint8_t)range.qlo,
        .qhi = (uint8_t)range.qhi,
        .table = c->node->state,
    };
    cpu_threads_run(c->run->threads, (uint32_t)((u.count + CHUNK - 1) / CHUNK), (double)u.count,
                    cpu_is_quant8(x) ? chunks_u8 : chunks, &u);
    return true;
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }

/** All 256 results, in double. */
static bool make_table(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                       double (*f)(double)) {
    const struct cpu_tensor *x = &tensors[node->in[X]], *out = &tensors[node->out[0]];
    if (!cpu_is_quant8(x)) return true;
    uint8_t *table = cpu_arena_alloc(arena, 256);
    if (!table) return false;
    for (int32_t q = 0; q < 256; q++) table[q] = cpu_quantize(f((q - x->zero_point) * (double)x->scale), out);
    node->state = table;
    return true;
}

static bool prepare_logistic(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                             const struct cpu_kernels *kernels) {
    (void)kernels;
    return make_table(node, tensors, arena, logistic);
}

static bool prepare_tanh(struct cpu_node *node, const struct cpu_tensor *tensors, struct cpu_arena *arena,
                         const struct cpu_kernels *kernels) {
    (void)kernels;
    return make_table(node, tensors, arena, tanh);
}

#define UNARY(NAME, CODE, TYPES, QUANT, PREPARE)                                                                       \
    const struct cpu_op NAME = {                                                                                       \
        .code = CODE,                                                                                                  \
        .types = TYPES,                                                                                                \
        .max_rank = 4,                                                                                                 \
        .quant = QUANT,                                                                                                \
        .zero_ok = CODE != ANEURALNETWORKS_FLOOR,                                                                      \
        .forms = {"x"},                                                                                                \
        .outs = "x",                                                                                                   \
        .infer = cpu_infer_same,                                                                                       \
        .prepare = PREPARE,                                                                                            \
        .run = run,                                                                                                    \
    }
UNARY(cpu_op_relu, ANEURALNETWORKS_RELU, CPU_FLOATS | CPU_QUANTS, CPU_Q_SAME, NULL);
UNARY(cpu_op_relu1, ANEURALNETWORKS_RELU1, CPU_FLOATS | CPU_QUANTS, CPU_Q_SAME, NULL);
UNARY(cpu_op_relu6, ANEURALNETWORKS_RELU6, CPU_FLOATS | CPU_QUANTS, CPU_Q_SAME, NULL);
UNARY(cpu_op_floor, ANEURALNETWORKS_FLOOR, CPU_FLOATS, CPU_Q_FREE, NULL);
UNARY(cpu_op_logistic, ANEURALNETWORKS_LOGISTIC, CPU_FLOATS | CPU_QUANTS, CPU_Q_UNIT_256, prepare_logistic);
UNARY(cpu_op_tanh, ANEURALNETWORKS_TANH, CPU_FLOATS | CPU_QUANTS, CPU_Q_UNIT_128, prepare_tanh);

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

const struct cpu_op cpu_op_dequantize = {
    .code = ANEURALNETWORKS_DEQUANTIZE,
    .zero_ok = true,
    .forms = {"q"},
    .outs = "f",
    .check = check_dequantize,
    .infer = cpu_infer_same,
    .run = run_dequantize,
};
