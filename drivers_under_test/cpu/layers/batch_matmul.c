/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch_matmul.c BATCH_MATMUL: the right factor of each batch is packed, the rows of the left one go over it. */
#include <string.h>

#include "dense.h"
#include "ops/move.h"

enum { X, Y, TURN_X, TURN_Y };

/** One batch: [m, k] times [k, n], as stored where not turned. */
struct factors {
    bool turn_x, turn_y;
    uint32_t m, n, k, other_k; /**< k of X and of Y */
};

/** Both ranks are known and alike. */
static struct factors factors_of(const struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape, *y = &cpu_in(c, Y)->shape;
    const uint32_t *a = x->dims + x->rank - 2, *b = y->dims + y->rank - 2;
    const bool turn_x = cpu_int(c, TURN_X, 0) != 0, turn_y = cpu_int(c, TURN_Y, 0) != 0;
    return (struct factors){turn_x, turn_y, a[turn_x], b[!turn_y], a[!turn_x], b[turn_y]};
}

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *y = cpu_in(c, Y);
    return cpu_rank(x) >= 2 && cpu_rank(y) >= 2 && cpu_agree(cpu_rank(x), cpu_rank(y));
}

static bool infer(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape, *y = &cpu_in(c, Y)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    const struct factors f = factors_of(c);
    if (!cpu_agree(f.k, f.other_k)) return false;
    out->rank = x->rank;
    for (uint32_t d = 0; d + 2 < x->rank; d++) {
        if (!cpu_agree(x->dims[d], y->dims[d])) return false;
        out->dims[d] = cpu_merge(x->dims[d], y->dims[d]);
    }
    out->dims[x->rank - 2] = f.m;
    out->dims[x->rank - 1] = f.n;
    return true;
}

static size_t batches_of(const struct cpu_tensor *y) { return cpu_extent(&y->shape, 0, y->shape.rank - 2); }

static struct cpu_tensor batch_of(const struct cpu_tensor *t, size_t batch, size_t values) {
    struct cpu_tensor one = *t;
    one.data = (void *)(uintptr_t)cpu_values_at(t, t->data, batch * values);
    return one;
}

/** Batches of Y as weights, and one bias of zeros for all. */
struct batches {
    const struct cpu_call *c;
    struct factors f;
    void *zeros;
};

static void describe(const void *source, uint32_t i, void *room, struct cpu_part *out) {
    const struct batches *b = source;
    (void)room;
    out->weights = batch_of(cpu_in(b->c, Y), i, (size_t)b->f.n * b->f.other_k);
    out->bias = (struct cpu_tensor){.type = out->weights.type, .data = b->zeros};
    out->layer = (struct cpu_layer){
        .input = cpu_in(b->c, X),
        .weights = &out->weights,
        .bias = &out->bias,
        .output = cpu_out(b->c, 0),
        .n = b->f.n,
        .k = b->f.other_k,
        .turned = !b->f.turn_y,
    };
}

static struct cpu_parts parts_of(const struct batches *b) {
    return (struct cpu_parts){
        .c = b->c, .count = (uint32_t)batches_of(cpu_in(b->c, Y)), .describe = describe, .source = b};
}

static uint32_t packed(const struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *y = cpu_in(c, Y);
    if (!y->data || !x->known_rank || y->type == ANEURALNETWORKS_TENSOR_INT32) return 0;
    return cpu_values_known(c, TURN_X) ? 1 << Y : 0;
}

/** A constant Y is packed once. */
static bool prepare(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    if (!packed(c)) return true;
    const struct factors f = factors_of(c);
    const struct batches b = {c, f, cpu_arena_array(arena, f.n, sizeof(float))};
    const struct cpu_parts parts = parts_of(&b);
    return b.zeros && cpu_parts_prepare(&parts, arena, state);
}

/** The rows of the left factor of one batch. */
struct rows {
    const struct cpu_kernels *kernels;
    const struct cpu_dense *weights;
    const struct cpu_tensor *x;
    struct factors f;
};

static void gather(const void *source, size_t first, size_t count, void *to) {
    const struct rows *r = source;
    const struct cpu_dense *w = r->weights;
    const size_t m = r->f.m, k = r->f.k, element = cpu_dense_element(w);
    if (!cpu_is_quant8(r->x)) { /* a turned float */
        struct cpu_move move = cpu_move_of(r->x);
        cpu_move_axis(&move, count, 1, (ptrdiff_t)k);
        cpu_move_axis(&move, k, (ptrdiff_t)m, 1);
        cpu_move_run(NULL, &move, (const float *)r->x->data + first, to);
        return;
    }
    const uint8_t *x = r->x->data;
    char *row = to;
    for (size_t i = 0; i < count; i++, row += w->k * element) {
        if (r->f.turn_x)
            for (size_t p = 0; p < k; p++) cpu_dense_copy(r->kernels, w, 1, x + p * m + first + i, row + p * element);
        else
            cpu_dense_copy(r->kernels, w, k, x + (first + i) * k, row);
        cpu_dense_zero(w, w->k - k, row + k * element);
    }
}

static bool run_packed(const struct cpu_call *c) {
    struct cpu_run *r = c->run;
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const struct factors f = factors_of(c);
    const struct batches b = {c, f, cpu_scratch(r, f.n * sizeof(float))};
    const struct cpu_parts parts = parts_of(&b);
    const size_t m = f.m;
    struct cpu_tensor part;
    struct cpu_packed packed;
    struct rows rows = {.kernels = r->kernels, .x = &part, .f = f};
    if (!b.zeros || !cpu_packed_begin(&parts, c->node->state, &packed)) return false;
    memset(b.zeros, 0, f.n * sizeof(float));
    for (uint32_t i = 0; i < parts.count; i++) {
        part = batch_of(x, i, m * f.other_k);
        rows.weights = cpu_packed_get(&packed, i);
        const struct cpu_product product = {
            .weights = rows.weights,
            .m = m,
            .rows = cpu_is_quant8(x) || f.turn_x ? NULL : part.data,
            .gather = gather,
            .source = &rows,
            .out = cpu_values_to(out, out->data, i * m * f.n),
            .range = cpu_activation(ANEURALNETWORKS_FUSED_NONE, out),
            .zero_point = out->zero_point,
        };
        if (!cpu_product_run(r, &product)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- INT32 */

struct integers {
    struct factors f;
    const uint32_t *x, *y;
    uint32_t *z;
};

/** Rows of all batches, sums modulo 2^32. */
static void integer_rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct integers *t = arg;
    const size_t m = t->f.m, n = t->f.n, k = t->f.k;
    for (uint32_t item = begin; item < end; item++) {
        const size_t b = item / m, i = item % m;
        const uint32_t *x = t->x + b * m * k + (t->f.turn_x ? i : i * k), *y = t->y + b * k * n;
        uint32_t *z = t->z + item * n;
        memset(z, 0, n * sizeof *z);
        for (size_t p = 0; p < k; p++) {
            const uint32_t a = x[t->f.turn_x ? p * m : p];
            for (size_t j = 0; j < n; j++) z[j] += a * y[p * n + j];
        }
    }
}

static bool run_integers(const struct cpu_call *c) {
    const struct cpu_tensor *y = cpu_in(c, Y);
    struct integers t = {factors_of(c), cpu_in(c, X)->data, y->data, cpu_out(c, 0)->data};
    const size_t batches = batches_of(y), n = t.f.n, k = t.f.k;
    if (t.f.turn_y) {
        uint32_t *straight = cpu_scratch(c->run, cpu_count(y) * sizeof *straight);
        struct cpu_move move = cpu_move_of(y);
        if (!straight) return false;
        cpu_move_axis(&move, batches, (ptrdiff_t)(n * k), (ptrdiff_t)(n * k));
        cpu_move_axis(&move, k, 1, (ptrdiff_t)n);
        cpu_move_axis(&move, n, (ptrdiff_t)k, 1);
        cpu_move_run(c->run->threads, &move, y->data, straight);
        t.y = straight;
    }
    const double work_ns = (double)batches * t.f.m * (double)n * (double)k * 0.5;
    cpu_threads_run(c->run->threads, (uint32_t)(batches * t.f.m), work_ns, integer_rows, &t);
    return true;
}

static bool run(struct cpu_call *c) {
    return cpu_in(c, X)->type == ANEURALNETWORKS_TENSOR_INT32 ? run_integers(c) : run_packed(c);
}

const struct cpu_op_fns cpu_op_batch_matmul = {
    .check = check, .infer = infer, .packed = packed, .prepare = prepare, .run = run};
