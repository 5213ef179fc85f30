/* SPDX-License-Identifier: Apache-2.0 */
/** @file cast.c Values in another type: CAST, QUANTIZE. */
#include <string.h>

#include "driver/op.h"

enum { X, CHUNK = 8192 };

struct cast {
    const struct cpu_kernels *kernels;
    const struct cpu_tensor *x, *out;
    size_t count;
    void (*values)(const struct cast *c, size_t n, const void *x, void *y);
};

static void chunks(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct cast *c = arg;
    const size_t from = (size_t)begin * CHUNK, to = (size_t)end * CHUNK < c->count ? (size_t)end * CHUNK : c->count;
    c->values(c, to - from, (const char *)c->x->data + from * cpu_element(c->x->type),
              (char *)c->out->data + from * cpu_element(c->out->type));
}

static bool run(const struct cpu_call *call, struct cast *c) {
    c->kernels = call->run->kernels;
    c->x = cpu_in(call, X);
    c->out = cpu_out(call, 0);
    c->count = cpu_count(c->x);
    cpu_threads_run(call->run->threads, (uint32_t)((c->count + CHUNK - 1) / CHUNK), 0.5 * (double)c->count, chunks, c);
    return true;
}

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

static void copy(const struct cast *c, size_t n, const void *x, void *y) { memcpy(y, x, n * cpu_element(c->x->type)); }

/** Truncated, saturated; a NaN becomes 0. */
static void float_to_int(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const float *x = px;
    int32_t *y = py;
    for (size_t i = 0; i < n; i++) {
        const float v = x[i] == x[i] ? x[i] : 0;
        y[i] = v >= 0x1p31f ? INT32_MAX : v <= -0x1p31f ? INT32_MIN : (int32_t)v;
    }
}

static void float_to_code(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const float *x = px;
    uint8_t *y = py;
    for (size_t i = 0; i < n; i++) y[i] = (uint8_t)(int32_t)(x[i] > 0 ? x[i] < 255 ? x[i] : 255 : 0);
}

static void int_to_float(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const int32_t *x = px;
    float *y = py;
    for (size_t i = 0; i < n; i++) y[i] = (float)x[i];
}

static void int_to_code(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const int32_t *x = px;
    uint8_t *y = py;
    for (size_t i = 0; i < n; i++) y[i] = (uint8_t)(x[i] > 0 ? x[i] < 255 ? x[i] : 255 : 0);
}

static void code_to_float(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const uint8_t *x = px;
    float *y = py;
    for (size_t i = 0; i < n; i++) y[i] = x[i];
}

static void code_to_int(const struct cast *c, size_t n, const void *px, void *py) {
    (void)c;
    const uint8_t *x = px;
    int32_t *y = py;
    for (size_t i = 0; i < n; i++) y[i] = x[i];
}

static bool run_cast(struct cpu_call *c) {
    static void (*const casts[OTHER][OTHER])(const struct cast *, size_t, const void *, void *) = {
        [FLOAT] = {copy, float_to_int, float_to_code},
        [INT] = {int_to_float, copy, int_to_code},
        [CODE] = {code_to_float, code_to_int, copy},
    };
    const enum kind from = kind_of(cpu_in(c, X)), to = kind_of(cpu_out(c, 0));
    return run(c, &(struct cast){.values = from == OTHER ? copy : casts[from][to]});
}

const struct cpu_op_fns cpu_op_cast = {.check = check_cast, .infer = cpu_infer_same, .run = run_cast};

/* ------------------------------------------------------------------- QUANTIZE */

static bool check_quantize(const struct cpu_call *c) { return cpu_is_quant8(cpu_out(c, 0)); }

static void quantize(const struct cast *c, size_t n, const void *x, void *y) {
    c->kernels->quantize_f32(n, x, c->out->scale, c->out->zero_point, y);
}

static bool run_quantize(struct cpu_call *c) { return run(c, &(struct cast){.values = quantize}); }

const struct cpu_op_fns cpu_op_quantize = {.check = check_quantize, .infer = cpu_infer_same, .run = run_quantize};
