/* SPDX-License-Identifier: Apache-2.0 */
/** @file fill.c FILL, RANK, SELECT. */
#include <string.h>

#include "driver/op.h"

/* ----------------------------------------------------------------------- FILL */

enum { DIMENSIONS, VALUE };

static bool check_fill(const struct cpu_call *c) {
    const struct cpu_tensor *dims = cpu_in(c, DIMENSIONS);
    if (dims->known_rank && dims->shape.rank != 1) return false;
    switch (cpu_in(c, VALUE)->type) {
    case ANEURALNETWORKS_FLOAT32:
        return cpu_out(c, 0)->type == ANEURALNETWORKS_TENSOR_FLOAT32;
    case ANEURALNETWORKS_FLOAT16:
        return cpu_out(c, 0)->type == ANEURALNETWORKS_TENSOR_FLOAT16;
    case ANEURALNETWORKS_INT32:
        return cpu_out(c, 0)->type == ANEURALNETWORKS_TENSOR_INT32;
    default:
        return false;
    }
}

static bool infer_fill(struct cpu_call *c) {
    const struct cpu_tensor *dims = cpu_in(c, DIMENSIONS);
    struct cpu_shape *out = &c->out_shapes[0];
    if (dims->shape.rank != 1 || dims->shape.dims[0] == 0 || dims->shape.dims[0] > CPU_MAX_RANK) return false;
    out->rank = dims->shape.dims[0];
    for (uint32_t i = 0; i < out->rank; i++) {
        int32_t extent;
        memcpy(&extent, (const char *)dims->data + i * sizeof extent, sizeof extent);
        if (extent < 0) return false;
        out->dims[i] = (uint32_t)extent;
    }
    return true;
}

/** All three types have 4 bytes here. */
static bool run_fill(struct cpu_call *c) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    uint32_t value, *y = out->data;
    memcpy(&value, cpu_in(c, VALUE)->data, sizeof value);
    for (size_t i = 0, n = cpu_count(out); i < n; i++) y[i] = value;
    return true;
}

const struct cpu_op_fns cpu_op_fill = {.check = check_fill, .infer = infer_fill, .run = run_fill};

/* ----------------------------------------------------------------------- RANK */

static bool infer_rank(struct cpu_call *c) {
    c->out_shapes[0].rank = 0;
    return true;
}

static bool run_rank(struct cpu_call *c) {
    const int32_t rank = (int32_t)cpu_in(c, 0)->shape.rank;
    memcpy(cpu_out(c, 0)->data, &rank, sizeof rank);
    return true;
}

const struct cpu_op_fns cpu_op_rank = {.infer = infer_rank, .run = run_rank};

/* --------------------------------------------------------------------- SELECT */

enum { CONDITION, A, B, CHUNK = 8192 };

static bool infer_select(struct cpu_call *c) {
    struct cpu_shape *out = &c->out_shapes[0];
    *out = cpu_in(c, CONDITION)->shape;
    for (uint32_t i = A; i <= B; i++) {
        const struct cpu_shape *s = &cpu_in(c, i)->shape;
        if (s->rank != out->rank) return false;
        for (uint32_t d = 0; d < s->rank; d++) {
            if (!cpu_agree(s->dims[d], out->dims[d])) return false;
            out->dims[d] = cpu_merge(out->dims[d], s->dims[d]);
        }
    }
    return true;
}

struct select {
    const uint8_t *condition;
    const struct cpu_tensor *a, *b, *out;
    size_t count;
    uint8_t from_a[256], from_b[256]; /**< codes in the result's quantisation */
};

static void select_u8(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct select *s = arg;
    const uint8_t *a = s->a->data, *b = s->b->data;
    uint8_t *y = s->out->data;
    const size_t to = (size_t)end * CHUNK < s->count ? (size_t)end * CHUNK : s->count;
    for (size_t i = (size_t)begin * CHUNK; i < to; i++) {
        const uint8_t va = s->from_a[a[i]], vb = s->from_b[b[i]];
        y[i] = s->condition[i] ? va : vb;
    }
}

/** float and int32 alike. */
static void select_word(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct select *s = arg;
    const uint32_t *a = s->a->data, *b = s->b->data;
    uint32_t *y = s->out->data;
    const size_t to = (size_t)end * CHUNK < s->count ? (size_t)end * CHUNK : s->count;
    for (size_t i = (size_t)begin * CHUNK; i < to; i++) {
        const uint32_t va = a[i], vb = b[i];
        y[i] = s->condition[i] ? va : vb;
    }
}

static bool run_select(struct cpu_call *c) {
    struct select s = {
        .condition = cpu_in(c, CONDITION)->data, .a = cpu_in(c, A), .b = cpu_in(c, B), .out = cpu_out(c, 0)};
    const bool quantised = cpu_is_quant8(s.out);
    s.count = cpu_count(s.out);
    if (quantised) {
        cpu_requantize_table(s.a, s.out, s.from_a);
        cpu_requantize_table(s.b, s.out, s.from_b);
    }
    cpu_threads_run(c->run->threads, (uint32_t)((s.count + CHUNK - 1) / CHUNK), 0.5 * (double)s.count,
                    quantised ? select_u8 : select_word, &s);
    return true;
}

const struct cpu_op_fns cpu_op_select = {.infer = infer_select, .run = run_select};
