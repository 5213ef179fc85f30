/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce.c Folds over several axes: MEAN, REDUCE_ALL, _ANY, _MAX, _MIN, _PROD, _SUM. */
#include "move.h"

enum { X, AXES, KEEP, RANK = 4, GROUPS = RANK / 2, BLOCK = 256 };

/* ---------------------------------------------------------------------- shape */

static bool check(const struct cpu_call *c) { return cpu_shape_fits(cpu_in(c, AXES), 1, CPU_UNKNOWN, 0); }

static bool read_axes(const struct cpu_call *c, bool reduced[RANK]) {
    const struct cpu_tensor *axes = cpu_in(c, AXES);
    const uint32_t rank = cpu_in(c, X)->shape.rank;
    if (rank > RANK) return false;
    for (uint32_t d = 0; d < RANK; d++) reduced[d] = false;
    for (uint32_t i = 0; i < axes->shape.dims[0]; i++) {
        const int32_t axis = cpu_axis(cpu_list_at(c, AXES, i), rank);
        if (axis < 0) return false;
        reduced[axis] = true;
    }
    return true;
}

static bool infer(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    const bool keep = cpu_int(c, KEEP, 0) > 0;
    bool reduced[RANK];
    if (!read_axes(c, reduced)) return false;
    out->rank = 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (keep || !reduced[d]) out->dims[out->rank++] = reduced[d] ? 1 : x->dims[d];
    if (out->rank == 0) out->dims[out->rank++] = 1;
    return true;
}

/* ------------------------------------------------------------------------ run */

/** Neighbouring axes that are all kept or all reduced, as one. */
struct group {
    size_t n, step;
};

/** x as groups that are kept and reduced in turn; the last of one kind lies innermost. */
struct reduction {
    const struct cpu_kernels *kernels;
    int32_t code;
    enum cpu_fold fold;
    const struct cpu_tensor *x, *out;
    struct group kept[GROUPS], reduced[GROUPS]; /**< the outer one first */
    bool inner_kept;
    size_t count;  /**< values that become one */
    size_t blocks; /**< of the innermost group, where it is kept */
};

static void add_group(struct group *groups, size_t n, size_t step) {
    groups[0] = groups[1];
    groups[1] = (struct group){n, step};
}

/** From the outermost axis in. Axes of extent 1 belong to any group. */
static void make_groups(struct reduction *r, const bool reduced[RANK]) {
    const struct cpu_shape *s = &r->x->shape;
    size_t step = cpu_count(r->x);
    bool first = true;
    for (uint32_t g = 0; g < GROUPS; g++) r->kept[g] = r->reduced[g] = (struct group){1, 0};
    for (uint32_t d = 0; d < s->rank; d++) {
        if (s->dims[d] == 1) continue;
        struct group *groups = reduced[d] ? r->reduced : r->kept;
        step /= s->dims[d];
        if (first || r->inner_kept == reduced[d])
            add_group(groups, s->dims[d], step);
        else
            groups[1] = (struct group){groups[1].n * s->dims[d], step};
        r->inner_kept = !reduced[d];
        first = false;
    }
    r->count = r->reduced[0].n * r->reduced[1].n;
    r->blocks = r->inner_kept ? (r->kept[1].n + BLOCK - 1) / BLOCK : r->kept[1].n;
}

static double start_of(enum cpu_fold fold) {
    static const double starts[CPU_FOLDS] = {0, 1, -(double)INFINITY, (double)INFINITY};
    return starts[fold];
}

/** n values, at most BLOCK, from element `at` as float: codes as they are, booleans as 0 and 1. */
static const float *values(const struct reduction *r, size_t at, size_t n, float *room) {
    if (cpu_is_float(r->x)) return (const float *)r->x->data + at;
    const uint8_t *x = (const uint8_t *)r->x->data + at;
    if (cpu_is_quant8(r->x))
        r->kernels->dequantize_u8(n, x, 0, 1.0f, room);
    else
        for (size_t i = 0; i < n; i++) room[i] = x[i] != 0;
    return room;
}

/** The result of one fold into element i of the output. */
static void store(const struct reduction *r, double v, size_t i) {
    if (cpu_is_float(r->out)) {
        ((float *)r->out->data)[i] = (float)(r->code == ANEURALNETWORKS_MEAN ? v / (double)r->count : v);
        return;
    }
    if (r->code == ANEURALNETWORKS_MEAN) { /* halves away from the zero point */
        const int32_t zero = r->x->zero_point;
        v = cpu_round((v - (double)r->count * zero) / (double)r->count) + zero;
    }
    ((uint8_t *)r->out->data)[i] = (uint8_t)v;
}

/** Rows of neighbours that stay apart: n results at once. */
static void fold_rows(const struct reduction *r, size_t from, size_t n, size_t to) {
    double acc[BLOCK];
    float room[BLOCK];
    for (size_t i = 0; i < n; i++) acc[i] = start_of(r->fold);
    for (size_t i = 0; i < r->reduced[0].n; i++)
        for (size_t j = 0; j < r->reduced[1].n; j++) {
            const size_t at = from + i * r->reduced[0].step + j * r->reduced[1].step;
            r->kernels->fold_rows[r->fold](n, values(r, at, n, room), acc);
        }
    for (size_t i = 0; i < n; i++) store(r, acc[i], to + i);
}

static double combine(enum cpu_fold fold, double a, double b) {
    switch (fold) {
    case CPU_SUM:
        return a + b;
    case CPU_PRODUCT:
        return a * b;
    case CPU_LARGEST:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

/** Rows of neighbours that become one value. */
static void fold_row(const struct reduction *r, size_t from, size_t to) {
    double acc = start_of(r->fold);
    float room[BLOCK];
    const size_t row = r->reduced[1].n, most = cpu_is_float(r->x) ? row : BLOCK;
    for (size_t i = 0; i < r->reduced[0].n; i++)
        for (size_t j = 0; j < row; j += most) {
            const size_t n = row - j < most ? row - j : most;
            const float *x = values(r, from + i * r->reduced[0].step + j, n, room);
            acc = combine(r->fold, acc, r->kernels->fold[r->fold](n, x));
        }
    store(r, acc, to);
}

static void items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct reduction *r = arg;
    for (uint32_t item = begin; item < end; item++) {
        const size_t outer = item / r->blocks, block = item % r->blocks;
        const size_t inner = r->inner_kept ? block * BLOCK : block;
        const size_t from = outer * r->kept[0].step + inner * r->kept[1].step, to = outer * r->kept[1].n + inner;
        if (!r->inner_kept)
            fold_row(r, from, to);
        else
            fold_rows(r, from, r->kept[1].n - inner < BLOCK ? r->kept[1].n - inner : BLOCK, to);
    }
}

static enum cpu_fold fold_of(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_REDUCE_PROD:
        return CPU_PRODUCT;
    case ANEURALNETWORKS_REDUCE_ANY:
    case ANEURALNETWORKS_REDUCE_MAX:
        return CPU_LARGEST;
    case ANEURALNETWORKS_REDUCE_ALL:
    case ANEURALNETWORKS_REDUCE_MIN:
        return CPU_SMALLEST;
    default:
        return CPU_SUM;
    }
}

static bool run(struct cpu_call *c) {
    struct reduction r = {
        .kernels = c->run->kernels,
        .code = c->node->code,
        .fold = fold_of(c->node->code),
        .x = cpu_in(c, X),
        .out = cpu_out(c, 0),
    };
    bool reduced[RANK];
    if (!r.x || !read_axes(c, reduced)) return false;
    make_groups(&r, reduced);
    cpu_threads_run(c->run->threads, (uint32_t)(r.kept[0].n * r.blocks), 0.5 * (double)cpu_count(r.x), items, &r);
    return true;
}

const struct cpu_op_fns cpu_op_reduce = {.check = check, .infer = infer, .run = run};
