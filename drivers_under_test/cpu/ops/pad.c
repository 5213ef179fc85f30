/* SPDX-License-Identifier: Apache-2.0 */
/** @file pad.c PAD, PAD_V2, MIRROR_PAD: the input moves into the middle, then each axis gets what lies before and
 * behind.
 */
#include "move.h"

enum { X, PADDINGS, VALUE, MODE = VALUE };
enum { REFLECT, SYMMETRIC };

static int32_t head_of(const struct cpu_call *c, uint32_t d) { return cpu_list_at(c, PADDINGS, 2 * d); }
static int32_t tail_of(const struct cpu_call *c, uint32_t d) { return cpu_list_at(c, PADDINGS, 2 * d + 1); }

static bool check_pad(const struct cpu_call *c) {
    const uint32_t rank = cpu_rank(cpu_in(c, X));
    return cpu_shape_fits(cpu_in(c, PADDINGS), 2, rank, 2) && cpu_out_has_rank(c, rank);
}

static bool infer_pad(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    c->out_shapes[0].rank = x->rank;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t head = head_of(c, d), tail = tail_of(c, d);
        if (head < 0 || tail < 0) return false;
        if (!cpu_extent_add(x->dims[d], (uint64_t)head + (uint64_t)tail, &c->out_shapes[0].dims[d])) return false;
    }
    return true;
}

/** Moves the input to its place in the output. */
static void move_body(const struct cpu_call *c, const ptrdiff_t to[]) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    struct cpu_move m = cpu_move_of(x);
    ptrdiff_t from[CPU_MAX_RANK];
    size_t first = 0;
    cpu_steps(&x->shape, from);
    for (uint32_t d = 0; d < x->shape.rank; d++) {
        first += (size_t)head_of(c, d) * (size_t)to[d];
        cpu_move_axis(&m, x->shape.dims[d], from[d], to[d]);
    }
    cpu_move_run(c->run->threads, &m, x->data, cpu_values_to(out, out->data, first));
}

/**
 * Writes count cells of axis d from place `at` on: value, or (NULL) what stands in the output from place `from` of
 * the axis downwards. Axes before d are as long as the input's, those behind it as the output's.
 */
static void move_cells(const struct cpu_call *c, const ptrdiff_t step[], uint32_t d, size_t count, size_t at,
                       size_t from, const void *value) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    struct cpu_move m = cpu_move_of(x);
    size_t first = 0;
    for (uint32_t e = 0; e < x->shape.rank; e++) {
        const ptrdiff_t read = value ? 0 : e == d ? -step[e] : step[e];
        if (e < d) first += (size_t)head_of(c, e) * (size_t)step[e];
        cpu_move_axis(&m, e < d ? x->shape.dims[e] : e == d ? count : out->shape.dims[e], read, step[e]);
    }
    const size_t read_at = first + from * (size_t)step[d], write_at = first + at * (size_t)step[d];
    cpu_move_run(c->run->threads, &m, value ? value : cpu_values_at(out, out->data, read_at),
                 cpu_values_to(out, out->data, write_at));
}

/** value: NULL for a mirror, which repeats the edge or not. */
static void pad(const struct cpu_call *c, const void *value, bool edge) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    ptrdiff_t step[CPU_MAX_RANK];
    cpu_steps(&cpu_out(c, 0)->shape, step);
    move_body(c, step);
    for (uint32_t d = x->rank; d-- > 0;) {
        const size_t head = (size_t)head_of(c, d), tail = (size_t)tail_of(c, d), end = head + x->dims[d];
        if (head) move_cells(c, step, d, head, 0, edge ? 2 * head - 1 : 2 * head, value);
        if (tail) move_cells(c, step, d, tail, end, edge ? end - 1 : end - 2, value);
    }
}

/* ---------------------------------------------------------------- PAD, PAD_V2 */

static bool run_pad(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    const float zero = 0;
    const uint8_t zero_point = (uint8_t)x->zero_point;
    pad(c, cpu_is_quant8(x) ? (const void *)&zero_point : &zero, false);
    return true;
}

const struct cpu_op_fns cpu_op_pad = {.check = check_pad, .infer = infer_pad, .run = run_pad};

/** The byte of the kernels' form that a quantised value, an API code, stands for; -1: it is none. */
static int32_t code_of(const struct cpu_call *c) {
    const int32_t shift = cpu_in(c, X)->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 128 : 0;
    const int32_t code = cpu_int(c, VALUE, 0);
    return code >= -shift && code <= 255 - shift ? code + shift : -1;
}

/** The value of a quantised tensor is INT32, of others a float. */
static bool check_pad_v2(const struct cpu_call *c) {
    const bool quantised = cpu_is_quant8(cpu_in(c, X));
    return quantised == (c->node->form == 1) && (!quantised || code_of(c) >= 0) && check_pad(c);
}

static bool run_pad_v2(struct cpu_call *c) {
    const float value = cpu_float(c, VALUE, 0);
    const uint8_t code = (uint8_t)code_of(c);
    pad(c, cpu_is_quant8(cpu_in(c, X)) ? (const void *)&code : &value, false);
    return true;
}

const struct cpu_op_fns cpu_op_pad_v2 = {.check = check_pad_v2, .infer = infer_pad, .run = run_pad_v2};

/* ----------------------------------------------------------------- MIRROR_PAD */

static bool check_mirror(const struct cpu_call *c) {
    return cpu_int_within(c, MODE, REFLECT, SYMMETRIC) && check_pad(c);
}

static bool infer_mirror(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    const int64_t edge = cpu_int(c, MODE, REFLECT) == SYMMETRIC ? 0 : 1;
    if (!infer_pad(c)) return false;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int64_t most = (int64_t)x->dims[d] - edge;
        if (x->dims[d] != CPU_UNKNOWN && (head_of(c, d) > most || tail_of(c, d) > most)) return false;
    }
    return true;
}

static bool run_mirror(struct cpu_call *c) {
    pad(c, NULL, cpu_int(c, MODE, REFLECT) == SYMMETRIC);
    return true;
}

const struct cpu_op_fns cpu_op_mirror_pad = {.check = check_mirror, .infer = infer_mirror, .run = run_mirror};
