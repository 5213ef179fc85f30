/* SPDX-License-Identifier: Apache-2.0 */
/** @file binary.c Arithmetic with a fused activation: ADD, SUB, MUL, DIV. */
#include "broadcast.h"

enum { A, B, ACTIVATION, RANK = 4 };

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A), *b = cpu_in(c, B), *out = cpu_out(c, 0);
    const int32_t last =
        a->type == ANEURALNETWORKS_TENSOR_INT32 ? ANEURALNETWORKS_FUSED_NONE : ANEURALNETWORKS_FUSED_RELU6;
    if (!cpu_int_within(c, ACTIVATION, ANEURALNETWORKS_FUSED_NONE, last)) return false;
    if (c->node->code != ANEURALNETWORKS_MUL || !cpu_is_quant8(a)) return true;
    return (double)out->scale > (double)a->scale * (double)b->scale;
}

/** The activation may have been unknown when the model was checked. */
static bool infer(struct cpu_call *c) { return check(c) && cpu_broadcast_infer(c); }

struct binary {
    int32_t code;
    const struct cpu_kernels *kernels;
    const struct cpu_tensor *a, *b, *out;
    struct cpu_range range;
};

/** Towards minus infinity; a quotient by 0 is 0, the one that overflows wraps. */
static uint32_t quotient(uint32_t a, uint32_t b) {
    const int64_t x = (int32_t)a, y = (int32_t)b;
    if (y == 0) return 0;
    return (uint32_t)(x / y - (x % y != 0 && (x < 0) != (y < 0)));
}

static void row_i32(const void *arg, size_t n, const void *pa, size_t a_step, const void *pb, size_t b_step, void *py) {
    const struct binary *s = arg;
    const uint32_t *a = pa, *b = pb;
    uint32_t *y = py;
    switch (s->code) {
    case ANEURALNETWORKS_ADD:
        for (size_t i = 0; i < n; i++) y[i] = a[i * a_step] + b[i * b_step];
        break;
    case ANEURALNETWORKS_SUB:
        for (size_t i = 0; i < n; i++) y[i] = a[i * a_step] - b[i * b_step];
        break;
    case ANEURALNETWORKS_MUL:
        for (size_t i = 0; i < n; i++) y[i] = a[i * a_step] * b[i * b_step];
        break;
    default:
        for (size_t i = 0; i < n; i++) y[i] = quotient(a[i * a_step], b[i * b_step]);
        break;
    }
}

static void row_f32(const void *arg, size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y) {
    const struct binary *s = arg;
    const float lo = s->range.lo, hi = s->range.hi;
    switch (s->code) {
    case ANEURALNETWORKS_ADD:
        s->kernels->add_f32(n, a, a_step, b, b_step, lo, hi, y);
        break;
    case ANEURALNETWORKS_SUB:
        s->kernels->sub_f32(n, a, a_step, b, b_step, lo, hi, y);
        break;
    case ANEURALNETWORKS_MUL:
        s->kernels->mul_f32(n, a, a_step, b, b_step, lo, hi, y);
        break;
    default:
        s->kernels->div_f32(n, a, a_step, b, b_step, lo, hi, y);
        break;
    }
}

static void row_u8(const void *arg, size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y) {
    const struct binary *s = arg;
    const struct cpu_kernels *k = s->kernels;
    const int32_t zero[3] = {s->a->zero_point, s->b->zero_point, s->out->zero_point};
    const double sa = (double)s->a->scale, sb = (double)s->b->scale, so = (double)s->out->scale;
    if (s->code == ANEURALNETWORKS_MUL)
        k->mul_u8(n, a, a_step, b, b_step, zero, sa * sb / so, s->range.qlo, s->range.qhi, y);
    else
        k->add_u8(n, a, a_step, b, b_step, zero, sa / so, s->code == ANEURALNETWORKS_SUB ? -sb / so : sb / so,
                  s->range.qlo, s->range.qhi, y);
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    const struct binary s = {
        .code = c->node->code,
        .kernels = c->run->kernels,
        .a = cpu_in(c, A),
        .b = cpu_in(c, B),
        .out = out,
        .range = cpu_activation(cpu_int(c, ACTIVATION, 0), out),
    };
    const bool quantised = cpu_is_quant8(out);
    return cpu_broadcast_run(c, quantised ? 1.0 : 0.3, quantised ? row_u8 : cpu_is_float(out) ? row_f32 : row_i32, &s);
}

const struct cpu_op_fns cpu_op_binary = {.check = check, .infer = infer, .run = run};
