/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file axes.c Operations that put a tensor's axes, or what stands along one, in another order: TRANSPOSE, TILE,
 * CHANNEL_SHUFFLE, GATHER, PACK, EXPAND_DIMS, SQUEEZE.
 */
#include <string.h>

#include "move.h"

enum { X };

/** The axis INT32 input `input` names, or -1; its value and the rank of input 0 are known. */
static int32_t axis_of(const struct cpu_call *c, uint32_t input) {
    return cpu_axis(cpu_int(c, input, 0), cpu_in(c, X)->shape.rank);
}

/* ------------------------------------------------------------------ TRANSPOSE */

enum { PERMUTATION = 1 };

static bool check_transpose(const struct cpu_call *c) {
    const uint32_t rank = cpu_rank(cpu_in(c, X));
    if (!cpu_out_has_rank(c, rank)) return false;
    return cpu_optional(c, PERMUTATION) ? cpu_shape_fits(cpu_optional(c, PERMUTATION), 1, rank, 0) : cpu_agree(rank, 2);
}

/** Which axis of the input becomes axis d. */
static int32_t source_axis(const struct cpu_call *c, uint32_t d) {
    return cpu_optional(c, PERMUTATION) ? cpu_list_at(c, PERMUTATION, d) : 1 - (int32_t)d;
}

static bool infer_transpose(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    uint32_t seen = 0;
    c->out_shapes[0].rank = x->rank;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t axis = source_axis(c, d);
        if (axis < 0 || (uint32_t)axis >= x->rank || seen >> axis & 1) return false;
        seen |= 1u << axis;
        c->out_shapes[0].dims[d] = x->dims[axis];
    }
    return true;
}

static bool run_transpose(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    ptrdiff_t from[CPU_MAX_RANK], step[CPU_MAX_RANK];
    cpu_steps(&x->shape, from);
    for (uint32_t d = 0; d < out->shape.rank; d++) step[d] = from[source_axis(c, d)];
    cpu_move_view(c, out, &out->shape, 0, step);
    return true;
}

const struct cpu_op_fns cpu_op_transpose = {.check = check_transpose, .infer = infer_transpose, .run = run_transpose};

/* ----------------------------------------------------------------------- TILE */

enum { MULTIPLES = 1 };

static bool check_tile(const struct cpu_call *c) {
    const uint32_t rank = cpu_rank(cpu_in(c, X));
    return cpu_shape_fits(cpu_in(c, MULTIPLES), 1, rank, 0) && cpu_out_has_rank(c, rank);
}

static bool infer_tile(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    c->out_shapes[0].rank = x->rank;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t times = cpu_list_at(c, MULTIPLES, d);
        if (times < 0 || !cpu_extent_mul(x->dims[d], (uint64_t)times, &c->out_shapes[0].dims[d])) return false;
    }
    return true;
}

static bool run_tile(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    struct cpu_move m = cpu_move_of(x);
    ptrdiff_t from[CPU_MAX_RANK], to[CPU_MAX_RANK];
    cpu_steps(&x->shape, from);
    cpu_steps(&out->shape, to);
    for (uint32_t d = 0; d < x->shape.rank; d++) {
        const size_t n = x->shape.dims[d];
        cpu_move_axis(&m, (size_t)cpu_list_at(c, MULTIPLES, d), 0, (ptrdiff_t)n * to[d]);
        cpu_move_axis(&m, n, from[d], to[d]);
    }
    cpu_move_run(c->run->threads, &m, x->data, out->data);
    return true;
}

const struct cpu_op_fns cpu_op_tile = {.check = check_tile, .infer = infer_tile, .run = run_tile};

/* ------------------------------------------------------------ CHANNEL_SHUFFLE */

enum { GROUPS = 1, SHUFFLE_AXIS };

static bool check_shuffle(const struct cpu_call *c) { return cpu_int_within(c, GROUPS, 1, INT32_MAX); }

static bool infer_shuffle(struct cpu_call *c) {
    const int32_t axis = axis_of(c, SHUFFLE_AXIS);
    if (axis < 0) return false;
    const uint32_t n = cpu_in(c, X)->shape.dims[axis], groups = (uint32_t)cpu_int(c, GROUPS, 1);
    return (n == CPU_UNKNOWN || n % groups == 0) && cpu_infer_same(c);
}

/** Place g of group i's turn comes from place i of group g. */
static bool run_shuffle(struct cpu_call *c) {
    const struct cpu_shape *s = &cpu_in(c, X)->shape;
    const uint32_t axis = (uint32_t)axis_of(c, SHUFFLE_AXIS), n = s->dims[axis];
    const uint32_t outer = (uint32_t)cpu_extent(s, 0, axis), inner = (uint32_t)cpu_extent(s, axis + 1, s->rank);
    const uint32_t groups = (uint32_t)cpu_int(c, GROUPS, 1), width = n / groups;
    const ptrdiff_t step[] = {(ptrdiff_t)n * inner, inner, (ptrdiff_t)width * inner, 1};
    cpu_move_view(c, cpu_out(c, 0), &(struct cpu_shape){4, {outer, width, groups, inner}}, 0, step);
    return true;
}

const struct cpu_op_fns cpu_op_channel_shuffle = {.check = check_shuffle, .infer = infer_shuffle, .run = run_shuffle};

/* --------------------------------------------------------------------- GATHER */

enum { GATHER_AXIS = 1, INDICES };

static bool infer_gather(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape, *indices = &cpu_in(c, INDICES)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    const int32_t axis = axis_of(c, GATHER_AXIS);
    if (axis < 0 || x->rank + indices->rank - 1 > CPU_MAX_RANK) return false;
    out->rank = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d != (uint32_t)axis) out->dims[out->rank++] = x->dims[d];
        for (uint32_t i = 0; d == (uint32_t)axis && i < indices->rank; i++) out->dims[out->rank++] = indices->dims[i];
    }
    return true;
}

struct gather {
    const char *from;
    char *to;
    const int32_t *indices;
    size_t count, line, run; /**< indices; bytes of the whole axis, and of one place along it */
};

static void gather_items(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct gather *g = arg;
    for (uint32_t item = begin; item < end; item++) {
        const char *from = g->from + item / g->count * g->line + (size_t)g->indices[item % g->count] * g->run;
        char *to = g->to + item * g->run;
        if (g->run == sizeof(float)) /* of a known size: no call */
            memcpy(to, from, sizeof(float));
        else
            memcpy(to, from, g->run);
    }
}

static bool run_gather(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *indices = cpu_in(c, INDICES);
    const struct cpu_shape *s = &x->shape;
    const uint32_t axis = (uint32_t)axis_of(c, GATHER_AXIS);
    const size_t outer = cpu_extent(s, 0, axis), inner = cpu_extent(s, axis + 1, s->rank) * cpu_element(x->type);
    const struct gather g = {x->data, cpu_out(c, 0)->data, indices->data, cpu_count(indices), s->dims[axis] * inner,
                             inner};
    for (size_t i = 0; i < g.count; i++)
        if (g.indices[i] < 0 || (uint32_t)g.indices[i] >= s->dims[axis]) return false;
    const double work_ns = (double)outer * (double)g.count * (2 + 0.1 * (double)inner);
    cpu_threads_run(c->run->threads, (uint32_t)(outer * g.count), work_ns, gather_items, (void *)(uintptr_t)&g);
    return true;
}

const struct cpu_op_fns cpu_op_gather = {.infer = infer_gather, .run = run_gather};

/* ----------------------------------------------------------------------- PACK */

enum { PACK_AXIS, FIRST_PART };

static bool check_pack(const struct cpu_call *c) {
    for (uint32_t i = FIRST_PART + 1; i < c->node->in_count; i++)
        if (cpu_is_quant8(cpu_in(c, i)) && !cpu_same_quant(cpu_in(c, FIRST_PART), cpu_in(c, i))) return false;
    return cpu_int_within(c, PACK_AXIS, 0, CPU_MAX_RANK - 1);
}

static bool infer_pack(struct cpu_call *c) {
    struct cpu_shape x = cpu_in(c, FIRST_PART)->shape, *out = &c->out_shapes[0];
    const uint32_t axis = (uint32_t)cpu_int(c, PACK_AXIS, 0);
    if (axis > x.rank || x.rank == CPU_MAX_RANK) return false;
    for (uint32_t i = FIRST_PART + 1; i < c->node->in_count; i++)
        if (!cpu_shape_merge(&x, &cpu_in(c, i)->shape)) return false;
    out->rank = x.rank + 1;
    for (uint32_t d = 0, e = 0; d < out->rank; d++)
        out->dims[d] = d == axis ? c->node->in_count - FIRST_PART : x.dims[e++];
    return true;
}

static bool run_pack(struct cpu_call *c) {
    const struct cpu_tensor *out = cpu_out(c, 0);
    const uint32_t axis = (uint32_t)cpu_int(c, PACK_AXIS, 0);
    const size_t inner = cpu_extent(&out->shape, axis + 1, out->shape.rank), parts = out->shape.dims[axis];
    struct cpu_move m = cpu_move_of(out);
    cpu_move_axis(&m, cpu_extent(&out->shape, 0, axis), (ptrdiff_t)inner, (ptrdiff_t)(parts * inner));
    cpu_move_axis(&m, inner, 1, 1);
    for (uint32_t i = 0; i < parts; i++)
        cpu_move_run(c->run->threads, &m, cpu_in(c, FIRST_PART + i)->data, cpu_values_to(out, out->data, i * inner));
    return true;
}

const struct cpu_op_fns cpu_op_pack = {.check = check_pack, .infer = infer_pack, .run = run_pack};

/* ------------------------------------------------------- EXPAND_DIMS, SQUEEZE */

static bool run_copy(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    memcpy(cpu_out(c, 0)->data, x->data, cpu_count(x) * cpu_element(x->type));
    return true;
}

enum { EXPAND_AXIS = 1 };

static bool infer_expand(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    if (x->rank == CPU_MAX_RANK) return false;
    out->rank = x->rank + 1;
    const int32_t axis = cpu_axis(cpu_int(c, EXPAND_AXIS, 0), out->rank);
    for (uint32_t d = 0, e = 0; axis >= 0 && d < out->rank; d++) out->dims[d] = d == (uint32_t)axis ? 1 : x->dims[e++];
    return axis >= 0;
}

const struct cpu_op_fns cpu_op_expand_dims = {.infer = infer_expand, .run = run_copy};

enum { SQUEEZE_AXES = 1 };

static bool check_squeeze(const struct cpu_call *c) {
    return cpu_shape_fits(cpu_optional(c, SQUEEZE_AXES), 1, CPU_UNKNOWN, 0);
}

/** Bits of the axes that go: those listed, or all of extent 1. False: they can't. */
static bool squeezed(const struct cpu_call *c, uint32_t *gone) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    const struct cpu_tensor *axes = cpu_optional(c, SQUEEZE_AXES);
    *gone = 0;
    for (uint32_t d = 0; !axes && d < x->rank && d < CPU_MAX_RANK; d++) *gone |= (uint32_t)(x->dims[d] == 1) << d;
    for (uint32_t i = 0; axes && i < axes->shape.dims[0]; i++) {
        const int32_t d = cpu_axis(cpu_list_at(c, SQUEEZE_AXES, i), x->rank);
        if (d < 0 || !cpu_agree(x->dims[d], 1)) return false;
        *gone |= 1u << d;
    }
    return true;
}

static bool infer_squeeze(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    struct cpu_shape *out = &c->out_shapes[0];
    uint32_t gone;
    if (!squeezed(c, &gone)) return false;
    out->rank = 0;
    for (uint32_t d = 0; d < x->shape.rank; d++)
        if (!(gone >> d & 1)) out->dims[out->rank++] = x->shape.dims[d];
    if (out->rank == 0) out->dims[out->rank++] = 1;
    if (!cpu_optional(c, SQUEEZE_AXES) && !cpu_shape_known(x)) out->rank = CPU_UNKNOWN; /* what is 1 is not known yet */
    return true;
}

const struct cpu_op_fns cpu_op_squeeze = {.check = check_squeeze, .infer = infer_squeeze, .run = run_copy};
