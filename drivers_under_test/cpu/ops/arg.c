/* SPDX-License-Identifier: Apache-2.0 */
/** @file arg.c Positions of large and small values: ARGMAX, ARGMIN, TOPK_V2. */
#include <string.h>

#include "driver/op.h"

enum { X, PARAMETER, BLOCK = 64 };

/* ------------------------------------------------------------- ARGMAX, ARGMIN */

static bool infer_arg(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    const int32_t axis = cpu_axis(cpu_int(c, PARAMETER, 0), x->rank);
    if (axis < 0) return false;
    out->rank = 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (d != (uint32_t)axis) out->dims[out->rank++] = x->dims[d];
    if (out->rank == 0) out->dims[out->rank++] = 1;
    return true;
}

/** Lines of n values that stand `inner` apart; neighbouring lines are searched together, BLOCK at most. */
struct search {
    bool least;
    const void *x;
    int32_t *y;
    size_t n, inner, blocks;
};

/** Defines the search in `lines` neighbouring lines from element `from`; of equals the first is found. */
#define SEARCH(TYPE)                                                                                                   \
    static void search_##TYPE(const struct search *s, size_t from, size_t lines, int32_t *y) {                         \
        const TYPE *x = (const TYPE *)s->x + from;                                                                     \
        TYPE best[BLOCK];                                                                                              \
        for (size_t l = 0; l < lines; l++) best[l] = x[l], y[l] = 0;                                                   \
        for (size_t k = 1; k < s->n; k++) {                                                                            \
            x += s->inner;                                                                                             \
            for (size_t l = 0; l < lines; l++) {                                                                       \
                const bool better = s->least ? x[l] < best[l] : x[l] > best[l];                                        \
                best[l] = better ? x[l] : best[l];                                                                     \
                y[l] = better ? (int32_t)k : y[l];                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
SEARCH(float)
SEARCH(int32_t)
SEARCH(uint8_t)

struct search_call {
    struct search search;
    void (*line)(const struct search *s, size_t from, size_t lines, int32_t *y);
};

static void search_items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct search_call *c = arg;
    const struct search *s = &c->search;
    for (uint32_t item = begin; item < end; item++) {
        const size_t outer = item / s->blocks, at = item % s->blocks * BLOCK;
        c->line(s, outer * s->n * s->inner + at, s->inner - at < BLOCK ? s->inner - at : BLOCK,
                s->y + outer * s->inner + at);
    }
}

static bool run_arg(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    const uint32_t axis = (uint32_t)cpu_axis(cpu_int(c, PARAMETER, 0), x->shape.rank);
    struct search_call s = {
        .search = {.least = c->node->code == ANEURALNETWORKS_ARGMIN,
                   .x = x->data,
                   .y = cpu_out(c, 0)->data,
                   .n = x->shape.dims[axis],
                   .inner = cpu_extent(&x->shape, axis + 1, x->shape.rank)},
        .line = cpu_is_quant8(x)  ? search_uint8_t
                : cpu_is_float(x) ? search_float
                                  : search_int32_t,
    };
    s.search.blocks = (s.search.inner + BLOCK - 1) / BLOCK;
    const size_t outer = cpu_extent(&x->shape, 0, axis);
    cpu_threads_run(c->run->threads, (uint32_t)(outer * s.search.blocks), (double)cpu_count(x), search_items, &s);
    return true;
}

const struct cpu_op_fns cpu_op_arg = {.infer = infer_arg, .run = run_arg};

/* -------------------------------------------------------------------- TOPK_V2 */

static bool infer_top(struct cpu_call *c) {
    struct cpu_shape *out = &c->out_shapes[0];
    const int32_t k = cpu_int(c, PARAMETER, 0);
    *out = cpu_in(c, X)->shape;
    if (out->rank == 0 || k < 1) return false;
    uint32_t *last = &out->dims[out->rank - 1];
    if (*last != CPU_UNKNOWN && (uint32_t)k > *last) return false;
    *last = (uint32_t)k;
    c->out_shapes[1] = *out;
    return true;
}

/**
 * Defines the k first of a line of n in falling order, of equals the last first: index is a heap with the least of
 * those found on top, then sorted from behind.
 */
#define TOP(TYPE)                                                                                                      \
    static bool before_##TYPE(const TYPE *x, int32_t a, int32_t b) { return x[a] > x[b] || (x[a] == x[b] && a > b); }  \
    static void sink_##TYPE(const TYPE *x, int32_t *heap, size_t k, size_t at) {                                       \
        const int32_t moved = heap[at];                                                                                \
        for (size_t child; (child = 2 * at + 1) < k; at = child) {                                                     \
            if (child + 1 < k && before_##TYPE(x, heap[child], heap[child + 1])) child++;                              \
            if (!before_##TYPE(x, moved, heap[child])) break;                                                          \
            heap[at] = heap[child];                                                                                    \
        }                                                                                                              \
        heap[at] = moved;                                                                                              \
    }                                                                                                                  \
    static void top_##TYPE(size_t n, const void *px, size_t k, void *value, int32_t *index) {                          \
        const TYPE *x = px;                                                                                            \
        TYPE *y = value;                                                                                               \
        for (size_t i = 0; i < k; i++) index[i] = (int32_t)i;                                                          \
        for (size_t i = k / 2; i-- > 0;) sink_##TYPE(x, index, k, i);                                                  \
        for (size_t i = k; i < n; i++) {                                                                               \
            if (!before_##TYPE(x, (int32_t)i, index[0])) continue;                                                     \
            index[0] = (int32_t)i;                                                                                     \
            sink_##TYPE(x, index, k, 0);                                                                               \
        }                                                                                                              \
        for (size_t i = k; i-- > 1;) {                                                                                 \
            const int32_t least = index[0];                                                                            \
            index[0] = index[i];                                                                                       \
            index[i] = least;                                                                                          \
            sink_##TYPE(x, index, i, 0);                                                                               \
        }                                                                                                              \
        for (size_t i = 0; i < k; i++) y[i] = x[index[i]];                                                             \
    }
TOP(float)
TOP(int32_t)
TOP(uint8_t)

struct top {
    const struct cpu_tensor *x;
    size_t n, k;
    void *value;
    int32_t *index;
    void (*line)(size_t n, const void *x, size_t k, void *value, int32_t *index);
};

static void top_lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct top *t = arg;
    const uint32_t element = cpu_element(t->x->type);
    for (size_t i = begin; i < end; i++)
        t->line(t->n, (const char *)t->x->data + i * t->n * element, t->k, (char *)t->value + i * t->k * element,
                t->index + i * t->k);
}

static bool run_top(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *values = cpu_out(c, 0);
    struct top t = {
        .x = x,
        .n = x->shape.dims[x->shape.rank - 1],
        .k = values->shape.dims[x->shape.rank - 1],
        .value = values->data,
        .index = cpu_out(c, 1)->data,
        .line = cpu_is_quant8(x)  ? top_uint8_t
                : cpu_is_float(x) ? top_float
                                  : top_int32_t,
    };
    cpu_threads_run(c->run->threads, (uint32_t)(cpu_count(x) / t.n), 3.0 * (double)cpu_count(x), top_lines, &t);
    return true;
}

const struct cpu_op_fns cpu_op_topk_v2 = {.infer = infer_top, .run = run_top};
