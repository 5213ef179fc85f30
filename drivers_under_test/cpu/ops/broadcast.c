/* SPDX-License-Identifier: Apache-2.0 */
#include "broadcast.h"

enum { A, B, CHUNK = 8192 };

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

bool cpu_broadcast_infer(struct cpu_call *c) {
    const struct cpu_shape *a = &cpu_in(c, A)->shape, *b = &cpu_in(c, B)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t i = 0; i < out->rank; i++)
        if (!broadcast(extent(a, i, out->rank), extent(b, i, out->rank), &out->dims[i])) return false;
    return true;
}

/** A nest of loops; a step is 0 where an operand stands still. The innermost is a row. */
struct nest {
    const struct cpu_tensor *a, *b, *out;
    uint32_t loops;
    size_t extents[CPU_MAX_RANK], a_steps[CPU_MAX_RANK], b_steps[CPU_MAX_RANK];
    size_t chunks, chunk; /**< of a row */
    cpu_row_fn row;
    const void *arg;
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

static const void *element(const struct cpu_tensor *t, size_t i) {
    return (const char *)t->data + i * cpu_element(t->type);
}

static void rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct nest *n = arg;
    const uint32_t inner = n->loops - 1, out_bytes = cpu_element(n->out->type);
    const size_t a_step = n->a_steps[inner], b_step = n->b_steps[inner], row = n->extents[inner];
    for (uint32_t item = begin; item < end; item++) {
        size_t index = item / n->chunks, at = item % n->chunks * n->chunk, a = at * a_step, b = at * b_step;
        const size_t to = index * row + at, count = row - at < n->chunk ? row - at : n->chunk;
        for (uint32_t i = inner; i-- > 0; index /= n->extents[i]) {
            a += index % n->extents[i] * n->a_steps[i];
            b += index % n->extents[i] * n->b_steps[i];
        }
        n->row(n->arg, count, element(n->a, a), a_step, element(n->b, b), b_step,
               (char *)n->out->data + to * out_bytes);
    }
}

bool cpu_broadcast_run(const struct cpu_call *c, double value_ns, cpu_row_fn row, const void *arg) {
    struct nest n = {.a = cpu_in(c, A), .b = cpu_in(c, B), .out = cpu_out(c, 0), .row = row, .arg = arg};
    if (!n.a || !n.b) return false;
    make_loops(&n);
    const size_t total = cpu_count(n.out);
    const size_t items = total / n.extents[n.loops - 1] * n.chunks;
    cpu_threads_run(c->run->threads, (uint32_t)items, (double)total * value_ns, rows, &n);
    return true;
}
