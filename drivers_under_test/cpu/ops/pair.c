/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pair.c Elementwise operations on two tensors without an activation: comparisons, logic, MAXIMUM, MINIMUM, POW,
 * PRELU.
 */
#include "broadcast.h"

#include <string.h>

enum { A, B, BLOCK = 256 };

struct pair;
/** n values, at most BLOCK, neither operand stands still. */
typedef void (*block_fn)(const struct pair *p, size_t n, const void *a, const void *b, void *y);

struct pair {
    const struct cpu_kernels *kernels;
    int32_t code;
    const struct cpu_tensor *a, *b, *out;
    uint32_t element; /**< bytes of an input's */
    block_fn block;
    uint8_t from_a[256], from_b[256]; /**< codes in the result's quantisation */
};

/** A value that stands for the whole row, BLOCK times. */
static void repeat(const void *value, uint32_t element, void *block) {
    if (element == 1)
        memset(block, *(const uint8_t *)value, BLOCK);
    else
        for (size_t i = 0; i < BLOCK; i++) memcpy((char *)block + i * element, value, element);
}

static void row(const void *arg, size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y) {
    const struct pair *p = arg;
    const uint32_t out_element = cpu_element(p->out->type);
    float block[BLOCK];
    if (!a_step || !b_step) repeat(a_step ? b : a, p->element, block);
    for (size_t at = 0; at < n; at += BLOCK)
        p->block(p, n - at < BLOCK ? n - at : BLOCK, a_step ? (const char *)a + at * p->element : (const char *)block,
                 b_step ? (const char *)b + at * p->element : (const char *)block, (char *)y + at * out_element);
}

/** setup: optional. */
static bool run_pair(const struct cpu_call *c, block_fn block, double value_ns, void (*setup)(struct pair *p)) {
    struct pair p = {
        .kernels = c->run->kernels,
        .code = c->node->code,
        .a = cpu_in(c, A),
        .b = cpu_in(c, B),
        .out = cpu_out(c, 0),
        .element = cpu_element(cpu_in(c, A)->type),
        .block = block,
    };
    if (setup) setup(&p);
    return cpu_broadcast_run(c, value_ns, row, &p);
}

/* ---------------------------------------------------------------- comparisons */

/** The kernel of the code; a > b is asked as b < a. */
static enum cpu_compare comparison(int32_t code, bool *swap) {
    *swap = code == ANEURALNETWORKS_GREATER || code == ANEURALNETWORKS_GREATER_EQUAL;
    switch (code) {
    case ANEURALNETWORKS_EQUAL:
        return CPU_EQUAL;
    case ANEURALNETWORKS_NOT_EQUAL:
        return CPU_NOT_EQUAL;
    case ANEURALNETWORKS_LESS:
    case ANEURALNETWORKS_GREATER:
        return CPU_LESS;
    default:
        return CPU_LESS_EQUAL;
    }
}

static void compare_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    bool swap;
    const enum cpu_compare i = comparison(p->code, &swap);
    p->kernels->compare_f32[i](n, swap ? b : a, swap ? a : b, y);
}

static void compare_i32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    bool swap;
    const enum cpu_compare i = comparison(p->code, &swap);
    p->kernels->compare_i32[i](n, swap ? b : a, swap ? a : b, y);
}

/** Real numbers compare, not codes. */
static void compare_u8(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    float fa[BLOCK], fb[BLOCK];
    p->kernels->dequantize_u8(n, a, p->a->zero_point, p->a->scale, fa);
    p->kernels->dequantize_u8(n, b, p->b->zero_point, p->b->scale, fb);
    compare_f32(p, n, fa, fb, y);
}

/** false < true, whatever byte stands for true. */
static void compare_bool(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    const uint8_t *ba = a, *bb = b;
    int32_t ia[BLOCK], ib[BLOCK];
    for (size_t i = 0; i < n; i++) ia[i] = ba[i] != 0, ib[i] = bb[i] != 0;
    compare_i32(p, n, ia, ib, y);
}

static bool run_compare(struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A);
    if (cpu_is_quant8(a)) return run_pair(c, compare_u8, 0.5, NULL);
    if (cpu_is_float(a)) return run_pair(c, compare_f32, 0.3, NULL);
    return run_pair(c, a->type == ANEURALNETWORKS_TENSOR_BOOL8 ? compare_bool : compare_i32, 0.3, NULL);
}

const struct cpu_op_fns cpu_op_compare = {.infer = cpu_broadcast_infer, .run = run_compare};

/* ---------------------------------------------------------------------- logic */

static void both(const struct pair *p, size_t n, const void *pa, const void *pb, void *py) {
    (void)p;
    const uint8_t *a = pa, *b = pb;
    uint8_t *y = py;
    for (size_t i = 0; i < n; i++) y[i] = (a[i] != 0) & (b[i] != 0);
}

static void either(const struct pair *p, size_t n, const void *pa, const void *pb, void *py) {
    (void)p;
    const uint8_t *a = pa, *b = pb;
    uint8_t *y = py;
    for (size_t i = 0; i < n; i++) y[i] = (a[i] | b[i]) != 0;
}

static bool run_logic(struct cpu_call *c) {
    return run_pair(c, c->node->code == ANEURALNETWORKS_LOGICAL_AND ? both : either, 0.1, NULL);
}

const struct cpu_op_fns cpu_op_logic = {.infer = cpu_broadcast_infer, .run = run_logic};

/* ----------------------------------------------------------- MAXIMUM, MINIMUM */

static void extreme_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    (p->code == ANEURALNETWORKS_MAXIMUM ? p->kernels->max_f32 : p->kernels->min_f32)(n, a, b, y);
}

static void extreme_i32(const struct pair *p, size_t n, const void *pa, const void *pb, void *py) {
    const int32_t *a = pa, *b = pb;
    int32_t *y = py;
    if (p->code == ANEURALNETWORKS_MAXIMUM)
        for (size_t i = 0; i < n; i++) y[i] = a[i] > b[i] ? a[i] : b[i];
    else
        for (size_t i = 0; i < n; i++) y[i] = a[i] < b[i] ? a[i] : b[i];
}

/** In the result's quantisation, which keeps the order, bytes compare. */
static void extreme_u8(const struct pair *p, size_t n, const void *pa, const void *pb, void *py) {
    const uint8_t *a = pa, *b = pb;
    uint8_t *y = py;
    for (size_t i = 0; i < n; i++) {
        const uint8_t x = p->from_a[a[i]], z = p->from_b[b[i]];
        y[i] = (x > z) == (p->code == ANEURALNETWORKS_MAXIMUM) ? x : z;
    }
}

static void make_tables(struct pair *p) {
    cpu_requantize_table(p->a, p->out, p->from_a);
    cpu_requantize_table(p->b, p->out, p->from_b);
}

static bool run_extreme(struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A);
    if (cpu_is_quant8(a)) return run_pair(c, extreme_u8, 1.0, make_tables);
    return run_pair(c, cpu_is_float(a) ? extreme_f32 : extreme_i32, 0.3, NULL);
}

const struct cpu_op_fns cpu_op_extreme = {.infer = cpu_broadcast_infer, .run = run_extreme};

/* ----------------------------------------------------------------- POW, PRELU */

static void power(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    p->kernels->pow_f32(n, a, b, y);
}

static void slope_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    p->kernels->prelu_f32(n, a, b, y);
}

static void slope_u8(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    const int32_t zero[3] = {p->a->zero_point, p->b->zero_point, p->out->zero_point};
    const double k = (double)p->a->scale / (double)p->out->scale;
    p->kernels->prelu_u8(n, a, b, zero, k, k * (double)p->b->scale, y);
}

static bool run_pow(struct cpu_call *c) { return run_pair(c, power, 5.0, NULL); }

static bool run_prelu(struct cpu_call *c) {
    return cpu_is_quant8(cpu_in(c, A)) ? run_pair(c, slope_u8, 1.0, NULL) : run_pair(c, slope_f32, 0.3, NULL);
}

const struct cpu_op_fns cpu_op_pow = {.infer = cpu_broadcast_infer, .run = run_pow};
const struct cpu_op_fns cpu_op_prelu = {.infer = cpu_broadcast_infer, .run = run_prelu};
