/* SPDX-License-Identifier: Apache-2.0 */
/** @file binary.c ADD and MUL with broadcasting. */
#include "op.h"

enum { A, B, ACTIVATION, RANK = 4, CHUNK = 8192 };

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A), *b = cpu_in(c, B), *out = cpu_out(c, 0);
    const int32_t last =
        a->type == ANEURALNETWORKS_TENSOR_INT32 ? ANEURALNETWORKS_FUSED_NONE : ANEURALNETWORKS_FUSED_RELU6;
    if (!cpu_int_within(c, ACTIVATION, ANEURALNETWORKS_FUSED_NONE, last)) return false;
    if (c->node->code != ANEURALNETWORKS_MUL || !cpu_is_quant8(a)) return true;
    return (double)out->scale > (double)a->scale * (double)b->scale;
}

static bool broadcast(uint32_t a, uint32_t b, uint32_t *out) {
    if (a == 1)
        *out = b;
    else if (b == 1 || b == CPU_UNKNOWN || a == b)
        *out = a;
    else if (a == CPU_UNKNOWN)
        *out = b;
    else
        return false;
    return true;
}

/** Extent i of `rank` extents that s has when it is filled up with ones in front. */
static uint32_t extent(const struct cpu_shape *s, uint32_t i, uint32_t rank) {
    return i + s->rank < rank ? 1 : s->dims[i + s->rank - rank];
}

static bool infer(struct cpu_call *c) {
    const struct cpu_shape *a = &cpu_in(c, A)->shape, *b = &cpu_in(c, B)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t i = 0; i < out->rank; i++)
        if (!broadcast(extent(a, i, out->rank), extent(b, i, out->rank), &out->dims[i])) return false;
    return true;
}

/** A nest of at most RANK loops; a step is 0 where an operand stands still. The innermost is a row. */
struct nest {
    int32_t code;
    const struct cpu_run *run;
    const struct cpu_tensor *a, *b, *out;
    uint32_t loops;
    size_t extents[RANK], a_steps[RANK], b_steps[RANK];
    size_t chunks, chunk; /**< of a row */
    struct cpu_range range;
};

static void add_loop(struct nest *n, size_t extent_, size_t a_step, size_t b_step) {
    const uint32_t last = n->loops - 1;
    if (n->loops && n->a_steps[last] == a_step * extent_ && n->b_steps[last] == b_step * extent_) {
        n->extents[last] *= extent_;
        n->a_steps[last] = a_step;
        n->b_steps[last] = b_step;
        return;
    }
    n->extents[n->loops] = extent_;
    n->a_steps[n->loops] = a_step;
    n->b_steps[n->loops++] = b_step;
}

/** From the outermost loop in; loops over contiguous data become one. */
static void make_loops(struct nest *n) {
    const struct cpu_shape *a = &n->a->shape, *b = &n->b->shape, *out = &n->out->shape;
    size_t a_step = cpu_count(n->a), b_step = cpu_count(n->b);
    for (uint32_t i = 0; i < out->rank; i++) {
        const uint32_t ea = extent(a, i, out->rank), eb = extent(b, i, out->rank);
        a_step /= ea;
        b_step /= eb;
        if (out->dims[i] != 1) add_loop(n, out->dims[i], ea == 1 ? 0 : a_step, eb == 1 ? 0 : b_step);
    }
    if (n->loops == 0) add_loop(n, 1, 1, 1);
    const size_t row = n->extents[n->loops - 1];
    n->chunk = row < CHUNK ? row : CHUNK;
    n->chunks = (row + n->chunk - 1) / n->chunk;
}

static void row_i32(const struct nest *n, size_t count, const uint32_t *a, size_t a_step, const uint32_t *b,
                    size_t b_step, uint32_t *y) {
    if (n->code == ANEURALNETWORKS_ADD)
        for (size_t i = 0; i < count; i++) y[i] = a[i * a_step] + b[i * b_step];
    else
        for (size_t i = 0; i < count; i++) y[i] = a[i * a_step] * b[i * b_step];
}

static void row_f32(const struct nest *n, size_t count, const float *a, size_t a_step, const float *b, size_t b_step,
                    float *y) {
    const struct cpu_kernels *k = n->run->kernels;
    (n->code == ANEURALNETWORKS_ADD ? k->add_f32 : k->mul_f32)(count, a, a_step, b, b_step, n->range.lo, n->range.hi,
                                                               y);
}

static void row_u8(const struct nest *n, size_t count, const uint8_t *a, size_t a_step, const uint8_t *b, size_t b_step,
                   uint8_t *y) {
    const struct cpu_kernels *k = n->run->kernels;
    const int32_t zero[3] = {n->a->zero_point, n->b->zero_point, n->out->zero_point};
    const double sa = (double)n->a->scale, sb = (double)n->b->scale, so = (double)n->out->scale;
    if (n->code == ANEURALNETWORKS_ADD)
        k->add_u8(count, a, a_step, b, b_step, zero, sa / so, sb / so, n->range.qlo, n->range.qhi, y);
    else
        k->mul_u8(count, a, a_step, b, b_step, zero, sa * sb / so, n->range.qlo, n->range.qhi, y);
}

static void rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct nest *n = arg;
    const uint32_t inner = n->loops - 1;
    const size_t a_step = n->a_steps[inner], b_step = n->b_steps[inner], row = n->extents[inner];
    for (uint32_t item = begin; item < end; item++) {
        size_t index = item / n->chunks, at = item % n->chunks * n->chunk, a = at * a_step, b = at * b_step;
        const size_t to = index * row + at, count = row - at < n->chunk ? row - at : n->chunk;
        for (uint32_t i = inner; i-- > 0; index /= n->extents[i]) {
            a += index % n->extents[i] * n->a_steps[i];
            b += index % n->extents[i] * n->b_steps[i];
        }
        if (cpu_is_quant8(n->out))
            row_u8(n, count, (const uint8_t *)n->a->data + a, a_step, (const uint8_t *)n->b->data + b, b_step,
                   (uint8_t *)n->out->data + to);
        else if (cpu_is_float(n->out))
            row_f32(n, count, (const float *)n->a->data + a, a_step, (const float *)n->b->data + b, b_step,
                    (float *)n->out->data + to);
        else
            row_i32(n, count, (const uint32_t *)n->a->data + a, a_step, (const uint32_t *)n->b->data + b, b_step,
                    (uint32_t *)n->out->data + to);
    }
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    struct nest n = {
        .code = c->node->code,
        .run = c->run,
        .a = cpu_in(c, A),
        .b = cpu_in(c, B),
        .out = out,
        .range = cpu_activation(cpu_int(c, ACTIVATION, 0), out),
    };
    if (!n.a || !n.b) return false;
    make_loops(&n);
    const size_t total = cpu_count(out);
    const size_t items = total / n.extents[n.loops - 1] * n.chunks;
    cpu_threads_run(c->run->threads, (uint32_t)items, (double)total * (cpu_is_quant8(out) ? 1.0 : 0.3), rows, &n);
    return true;
}

const struct cpu_op cpu_op_add = {
    .code = ANEURALNETWORKS_ADD,
    .types = CPU_FLOATS | CPU_QUANTS | CPU_I32,
    .max_rank = RANK,
    .zero_ok = true,
    .forms = {"xxi"},
    .outs = "x",
    .check = check,
    .infer = infer,
    .run = run,
};

const struct cpu_op cpu_op_mul = {
    .code = ANEURALNETWORKS_MUL,
    .types = CPU_FLOATS | CPU_QUANTS | CPU_I32,
    .max_rank = RANK,
    .zero_ok = true,
    .forms = {"xxi"},
    .outs = "x",
    .check = check,
    .infer = infer,
    .run = run,
};
