/* SPDX-License-Identifier: Apache-2.0 */
/** @file fully_connected.c FULLY_CONNECTED: [batch, inputs] times weights [units, inputs]. */
#include <string.h>

#include "dense.h"

enum { X, WEIGHTS, BIAS, ACTIVATION };

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *weights = cpu_in(c, WEIGHTS);
    return cpu_rank(x) >= 2 && cpu_shape_fits(weights, 2, CPU_UNKNOWN, CPU_UNKNOWN) &&
           cpu_int_within(c, ACTIVATION, ANEURALNETWORKS_FUSED_NONE, ANEURALNETWORKS_FUSED_RELU6) &&
           cpu_layer_check(x, weights, cpu_in(c, BIAS), 0);
}

static bool infer(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape, *w = &cpu_in(c, WEIGHTS)->shape, *b = &cpu_in(c, BIAS)->shape;
    const uint32_t units = w->dims[0], inputs = w->dims[1];
    if (!cpu_agree(units, b->dims[0]) || units == 0 || inputs == 0) return false;
    uint64_t total = 1;
    bool known = inputs != CPU_UNKNOWN;
    for (uint32_t i = 0; i < x->rank; i++) {
        known = known && x->dims[i] != CPU_UNKNOWN;
        if (known && x->dims[i] && total > UINT32_MAX / x->dims[i]) return false;
        total *= known ? x->dims[i] : 1;
    }
    if (known && total % inputs != 0) return false;
    c->out_shapes[0] =
        (struct cpu_shape){2, {known ? (uint32_t)(total / inputs) : CPU_UNKNOWN, cpu_merge(units, b->dims[0])}};
    return true;
}

/** The only part. */
static void describe(const void *source, uint32_t i, void *room, struct cpu_part *out) {
    const struct cpu_call *c = source;
    const struct cpu_tensor *weights = cpu_in(c, WEIGHTS);
    (void)i, (void)room;
    out->layer = (struct cpu_layer){
        .input = cpu_in(c, X),
        .weights = weights,
        .bias = cpu_in(c, BIAS),
        .output = cpu_out(c, 0),
        .n = weights->shape.dims[0],
        .k = weights->shape.dims[1],
    };
}

static struct cpu_parts parts_of(const struct cpu_call *c) {
    return (struct cpu_parts){.c = c, .count = 1, .describe = describe, .source = c};
}

static uint32_t packed(const struct cpu_call *c) {
    return cpu_in(c, WEIGHTS)->data && cpu_in(c, BIAS)->data ? 1 << WEIGHTS | 1 << BIAS : 0;
}

static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    const struct cpu_parts parts = parts_of(c);
    return !packed(c) || cpu_parts_prepare(&parts, arena, state);
}

struct rows {
    const struct cpu_kernels *kernels;
    const struct cpu_dense *weights;
    const uint8_t *x;
    size_t inputs;
};

/** Rows of bytes whose packed form has other or more values. */
static void gather(const void *source, size_t first, size_t count, void *to) {
    const struct rows *r = source;
    const size_t element = cpu_dense_element(r->weights), k = r->weights->k;
    char *row = to;
    for (size_t i = 0; i < count; i++, row += k * element) {
        cpu_dense_copy(r->kernels, r->weights, r->inputs, r->x + (first + i) * r->inputs, row);
        cpu_dense_zero(r->weights, k - r->inputs, row + r->inputs * element);
    }
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const struct cpu_parts parts = parts_of(c);
    struct cpu_packed packed;
    if (!cpu_packed_begin(&parts, c->node->state, &packed)) return false;
    const struct cpu_dense *dense = cpu_packed_get(&packed, 0);
    const size_t inputs = cpu_in(c, WEIGHTS)->shape.dims[1];
    const struct rows rows = {c->kernels, dense, x->data, inputs};
    const struct cpu_product product = {
        .weights = dense,
        .m = out->shape.dims[0],
        .rows = dense->form != CPU_DENSE_S16 && dense->k == inputs ? x->data : NULL,
        .gather = gather,
        .source = &rows,
        .out = out->data,
        .range = cpu_activation(cpu_int(c, ACTIVATION, 0), out),
        .zero_point = out->zero_point,
    };
    return cpu_product_run(c->run, &product);
}

const struct cpu_op_fns cpu_op_fully_connected = {
    .check = check, .infer = infer, .packed = packed, .prepare = prepare, .run = run};
