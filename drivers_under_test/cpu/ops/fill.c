/* SPDX-License-Identifier: Apache-2.0 */
/** @file fill.c FILL, RANK, SELECT. */
#include <string.h>

#include "move.h"

/* ----------------------------------------------------------------------- FILL */

enum { DIMENSIONS, VALUE };

static bool check_fill(const struct cpu_call *c) {
    const struct cpu_tensor *dims = cpu_in(c, DIMENSIONS);
    if (!cpu_shape_fits(dims, 1, CPU_UNKNOWN, 0)) return false;
    if (dims->known_rank && !cpu_out_has_rank(c, dims->shape.dims[0])) return false;
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
    if (dims->shape.dims[0] == 0 || dims->shape.dims[0] > CPU_MAX_RANK) return false;
    out->rank = dims->shape.dims[0];
    for (uint32_t i = 0; i < out->rank; i++) {
        const int32_t extent = cpu_list_at(c, DIMENSIONS, i);
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

enum { CONDITION, A, B };

static bool infer_select(struct cpu_call *c) {
    struct cpu_shape *out = &c->out_shapes[0];
    *out = cpu_in(c, CONDITION)->shape;
    return cpu_shape_merge(out, &cpu_in(c, A)->shape) && cpu_shape_merge(out, &cpu_in(c, B)->shape);
}

struct select {
    const uint8_t *condition;
    const struct cpu_tensor *a, *b, *out;
    uint8_t from_a[256], from_b[256]; /**< codes in the result's quantisation */
};

/** Both are read, so that a choice among them needs no jump. */
#define SELECT(NAME, TYPE, FROM_A, FROM_B)                                                                             \
    static void NAME(const void *arg, size_t from, size_t to) {                                                        \
        const struct select *s = arg;                                                                                  \
        const TYPE *a = s->a->data, *b = s->b->data;                                                                   \
        TYPE *y = s->out->data;                                                                                        \
        for (size_t i = from; i < to; i++) {                                                                           \
            const TYPE u = FROM_A, v = FROM_B;                                                                         \
            y[i] = s->condition[i] ? u : v;                                                                            \
        }                                                                                                              \
    }
SELECT(select_u8, uint8_t, s->from_a[a[i]], s->from_b[b[i]])
SELECT(select_word, uint32_t, a[i], b[i]) /* float and int32 alike */

static bool run_select(struct cpu_call *c) {
    struct select s = {
        .condition = cpu_in(c, CONDITION)->data, .a = cpu_in(c, A), .b = cpu_in(c, B), .out = cpu_out(c, 0)};
    const bool quantised = cpu_is_quant8(s.out);
    if (quantised) {
        cpu_requantize_table(s.a, s.out, s.from_a);
        cpu_requantize_table(s.b, s.out, s.from_b);
    }
    cpu_threads_chunks(c->run->threads, cpu_count(s.out), 0.5, quantised ? select_u8 : select_word, &s);
    return true;
}

const struct cpu_op_fns cpu_op_select = {.infer = infer_select, .run = run_select};
