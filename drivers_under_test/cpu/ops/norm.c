/* SPDX-License-Identifier: Apache-2.0 */
/** @file norm.c Along one axis: SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION. */
#include <string.h>

#include "driver/op.h"

struct lines;
typedef void (*line_fn)(const struct lines *l, const float *x, float *y, float *room);

/** Lines along an axis: `outer` blocks of `inner` lines of n values that stand `inner` apart. */
struct lines {
    struct cpu_run *run;
    const struct cpu_tensor *x, *out;
    size_t outer, n, inner;
    float *room;  /**< 2n values per thread */
    line_fn line; /**< of floats */
    /* operation */
    float beta, bias, alpha;
    int32_t radius;
    const double *table; /**< quantised SOFTMAX: exp(-d * scale * beta) */
};

static bool infer(struct cpu_call *c, uint32_t axis_input) {
    const struct cpu_tensor *x = cpu_in(c, 0);
    return x->shape.rank >= 1 && cpu_axis(cpu_int(c, axis_input, -1), x->shape.rank) >= 0 && cpu_infer_same(c);
}

static bool cut(struct cpu_call *c, uint32_t axis_input, struct lines *l) {
    const struct cpu_tensor *x = cpu_in(c, 0);
    const uint32_t axis = (uint32_t)cpu_axis(cpu_int(c, axis_input, -1), x->shape.rank);
    *l = (struct lines){
        .run = c->run,
        .x = x,
        .out = cpu_out(c, 0),
        .outer = cpu_extent(&x->shape, 0, axis),
        .n = x->shape.dims[axis],
        .inner = cpu_extent(&x->shape, axis + 1, x->shape.rank),
    };
    l->room = cpu_scratch(c->run, cpu_threads_count(c->run->threads) * 2 * l->n * sizeof(float));
    return l->room != NULL;
}

/** Where line i begins. */
static size_t line_at(const struct lines *l, size_t i) { return i / l->inner * l->n * l->inner + i % l->inner; }

/** Lines of float data: gathered, computed, scattered. */
static void float_lines(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    const struct lines *l = arg;
    float *room = l->room + worker * 2 * l->n;
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)l->x->data + line_at(l, i);
        float *y = (float *)l->out->data + line_at(l, i);
        if (l->inner == 1) {
            l->line(l, x, y, room);
            continue;
        }
        for (size_t k = 0; k < l->n; k++) room[k] = x[k * l->inner];
        l->line(l, room, room, room + l->n);
        for (size_t k = 0; k < l->n; k++) y[k * l->inner] = room[k];
    }
}

/** items: of quantised data; value_ns: what a value costs. */
static bool run_lines(struct lines *l, cpu_items_fn items, line_fn line, double value_ns) {
    l->line = line;
    cpu_threads_run(l->run->threads, (uint32_t)(l->outer * l->inner), value_ns * (double)cpu_count(l->x),
                    cpu_is_quant8(l->x) ? items : float_lines, l);
    return true;
}

/* -------------------------------------------------------------------- SOFTMAX */

enum { BETA = 1, SOFTMAX_AXIS = 2, LEVELS = 256 };

static bool check_softmax(const struct cpu_call *c) { return cpu_float(c, BETA, 1) > 0; }

static bool infer_softmax(struct cpu_call *c) { return infer(c, SOFTMAX_AXIS); }

static void fill_table(double step, double *table) {
    for (int d = 0; d < LEVELS; d++) table[d] = exp(-d * step);
}

static bool prepare_softmax(const struct cpu_call *c, struct cpu_arena *arena, void **state) {
    const struct cpu_tensor *x = cpu_in(c, 0);
    if (!cpu_is_quant8(x) || !cpu_values_known(c, BETA)) return true;
    double *table = *state = cpu_arena_array(arena, LEVELS, sizeof *table);
    if (table) fill_table((double)x->scale * (double)cpu_float(c, BETA, 1), table);
    return table != NULL;
}

static void softmax_line(const struct lines *l, const float *x, float *y, float *room) {
    (void)room;
    l->run->kernels->softmax_f32(l->n, x, l->beta, y);
}

static void softmax_u8(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct lines *l = arg;
    for (uint32_t i = begin; i < end; i++) {
        const size_t at = line_at(l, i);
        const uint8_t *x = (const uint8_t *)l->x->data + at;
        uint8_t *y = (uint8_t *)l->out->data + at;
        uint8_t most = 0;
        double sum = 0;
        for (size_t k = 0; k < l->n; k++) most = x[k * l->inner] > most ? x[k * l->inner] : most;
        for (size_t k = 0; k < l->n; k++) sum += l->table[most - x[k * l->inner]];
        for (size_t k = 0; k < l->n; k++)
            y[k * l->inner] = cpu_quantize(l->table[most - x[k * l->inner]] / sum, l->out);
    }
}

static bool run_softmax(struct cpu_call *c) {
    struct lines l;
    double table[LEVELS];
    if (!cut(c, SOFTMAX_AXIS, &l)) return false;
    l.beta = cpu_float(c, BETA, 1);
    l.table = c->node->state;
    if (cpu_is_quant8(l.x) && !l.table) {
        fill_table((double)l.x->scale * (double)l.beta, table);
        l.table = table;
    }
    return run_lines(&l, softmax_u8, softmax_line, 3.0);
}

const struct cpu_op_fns cpu_op_softmax = {
    .check = check_softmax, .infer = infer_softmax, .prepare = prepare_softmax, .run = run_softmax};

/* ---------------------------------------------------------------- LOG_SOFTMAX */

static void log_softmax_line(const struct lines *l, const float *x, float *y, float *room) {
    l->run->kernels->log_softmax_f32(l->n, x, l->beta, room, y);
}

static bool run_log_softmax(struct cpu_call *c) {
    struct lines l;
    if (!cut(c, SOFTMAX_AXIS, &l)) return false;
    l.beta = cpu_float(c, BETA, 1);
    return run_lines(&l, NULL, log_softmax_line, 3.0);
}

const struct cpu_op_fns cpu_op_log_softmax = {.infer = infer_softmax, .run = run_log_softmax};

/* ----------------------------------------------------------- L2_NORMALIZATION */

enum { L2_AXIS = 1 };

static bool infer_l2(struct cpu_call *c) { return infer(c, L2_AXIS); }

static double norm_of(double sum) {
    const double norm = sqrt(sum);
    return norm < 1e-6 ? 1e-6 : norm; /* an all-zero line gives zeros */
}

static void l2_line(const struct lines *l, const float *x, float *y, float *room) {
    (void)room;
    double sum = 0;
    for (size_t k = 0; k < l->n; k++) sum += (double)x[k] * (double)x[k];
    const double norm = norm_of(sum);
    for (size_t k = 0; k < l->n; k++) y[k] = (float)((double)x[k] / norm);
}

static void l2_u8(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct lines *l = arg;
    const double scale = (double)l->x->scale;
    for (uint32_t i = begin; i < end; i++) {
        const size_t at = line_at(l, i);
        const uint8_t *x = (const uint8_t *)l->x->data + at;
        uint8_t *y = (uint8_t *)l->out->data + at;
        int64_t sum = 0;
        for (size_t k = 0; k < l->n; k++) {
            const int32_t value = x[k * l->inner] - l->x->zero_point;
            sum += value * value;
        }
        const double norm = norm_of((double)sum * scale * scale);
        for (size_t k = 0; k < l->n; k++)
            y[k * l->inner] = cpu_quantize((x[k * l->inner] - l->x->zero_point) * scale / norm, l->out);
    }
}

static bool run_l2(struct cpu_call *c) {
    struct lines l;
    if (!cut(c, L2_AXIS, &l)) return false;
    return run_lines(&l, l2_u8, l2_line, 3.0);
}

const struct cpu_op_fns cpu_op_l2_normalization = {.infer = infer_l2, .run = run_l2};

/* ----------------------------------------------- LOCAL_RESPONSE_NORMALIZATION */

enum { RADIUS = 1, LRN_BIAS, LRN_ALPHA, LRN_BETA, LRN_AXIS };

static bool check_lrn(const struct cpu_call *c) { return cpu_int_within(c, RADIUS, 0, INT32_MAX); }

static bool infer_lrn(struct cpu_call *c) { return infer(c, LRN_AXIS); }

/** Squares are added in double, window by window. */
static void lrn_line(const struct lines *l, const float *x, float *y, float *room) {
    const size_t n = l->n, radius = (size_t)l->radius;
    memcpy(room, x, n * sizeof *x); /* y may be x */
    for (size_t k = 0; k < n; k++) {
        const size_t first = k > radius ? k - radius : 0, end = n - k > radius ? k + radius + 1 : n;
        double sum = 0;
        for (size_t i = first; i < end; i++) sum += (double)room[i] * (double)room[i];
        y[k] = (float)((double)room[k] * pow((double)l->bias + (double)l->alpha * sum, -(double)l->beta));
    }
}

static bool run_lrn(struct cpu_call *c) {
    struct lines l;
    if (!cut(c, LRN_AXIS, &l)) return false;
    l.radius = cpu_int(c, RADIUS, 0);
    l.bias = cpu_float(c, LRN_BIAS, 0);
    l.alpha = cpu_float(c, LRN_ALPHA, 0);
    l.beta = cpu_float(c, LRN_BETA, 0);
    return run_lines(&l, NULL, lrn_line, 40.0);
}

const struct cpu_op_fns cpu_op_local_response = {.check = check_lrn, .infer = infer_lrn, .run = run_lrn};
