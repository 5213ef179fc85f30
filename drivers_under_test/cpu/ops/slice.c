/* SPDX-License-Identifier: Apache-2.0 */
/** @file slice.c Parts of a tensor: SLICE, STRIDED_SLICE, SPLIT, REVERSE. */
#include "move.h"

enum { X };

/* ---------------------------------------------------------------------- SLICE */

enum { SLICE_BEGIN = 1, SLICE_SIZE };

static bool check_slice(const struct cpu_call *c) {
    const uint32_t rank = cpu_rank(cpu_in(c, X));
    return cpu_shape_fits(cpu_in(c, SLICE_BEGIN), 1, rank, 0) && cpu_shape_fits(cpu_in(c, SLICE_SIZE), 1, rank, 0) &&
           cpu_out_has_rank(c, rank);
}

static bool infer_slice(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    c->out_shapes[0].rank = x->rank;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int64_t begin = cpu_list_at(c, SLICE_BEGIN, d), size = cpu_list_at(c, SLICE_SIZE, d);
        const uint32_t n = x->dims[d];
        if (begin < 0 || size < -1) return false;
        if (n != CPU_UNKNOWN && (begin > n || begin + size > n)) return false;
        c->out_shapes[0].dims[d] = size >= 0 ? (uint32_t)size : n == CPU_UNKNOWN ? n : n - (uint32_t)begin;
    }
    return true;
}

static bool run_slice(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    ptrdiff_t step[CPU_MAX_RANK];
    size_t first = 0;
    cpu_steps(&x->shape, step);
    for (uint32_t d = 0; d < x->shape.rank; d++) first += (size_t)cpu_list_at(c, SLICE_BEGIN, d) * (size_t)step[d];
    cpu_move_view(c, out, &out->shape, first, step);
    return true;
}

const struct cpu_op_fns cpu_op_slice = {.check = check_slice, .infer = infer_slice, .run = run_slice};

/* -------------------------------------------------------------- STRIDED_SLICE */

enum { BEGIN = 1, END, STRIDES, BEGIN_MASK, END_MASK, SHRINK_MASK };

static bool bit(const struct cpu_call *c, uint32_t input, uint32_t d) {
    return (uint32_t)cpu_int(c, input, 0) >> d & 1;
}

/** The rank of the output, without the axes that the mask takes out of it. */
static uint32_t strided_rank(const struct cpu_call *c, uint32_t rank) {
    if (rank == CPU_UNKNOWN || !cpu_in(c, SHRINK_MASK)->data) return CPU_UNKNOWN;
    uint32_t left = 0;
    for (uint32_t d = 0; d < rank; d++) left += !bit(c, SHRINK_MASK, d);
    return left ? left : 1;
}

static bool check_strided(const struct cpu_call *c) {
    const uint32_t rank = cpu_rank(cpu_in(c, X));
    return cpu_shape_fits(cpu_in(c, BEGIN), 1, rank, 0) && cpu_shape_fits(cpu_in(c, END), 1, rank, 0) &&
           cpu_shape_fits(cpu_in(c, STRIDES), 1, rank, 0) && cpu_out_has_rank(c, strided_rank(c, rank));
}

/** A position that may count from the end, moved to where a walk upwards or downwards may start or end. */
static int64_t position(int64_t at, int64_t extent, bool up) {
    const int64_t least = up ? 0 : -1, most = up ? extent : extent - 1;
    if (at < 0) at += extent;
    return at < least ? least : at > most ? most : at;
}

/** The first place along axis d, of this extent, and how many. */
static uint32_t walk(const struct cpu_call *c, uint32_t d, uint32_t extent, int64_t *first) {
    const int64_t n = extent, stride = cpu_list_at(c, STRIDES, d);
    const bool up = stride > 0;
    *first = bit(c, BEGIN_MASK, d) ? (up ? 0 : n - 1) : position(cpu_list_at(c, BEGIN, d), n, up);
    const int64_t end = bit(c, END_MASK, d) ? (up ? n : -1) : position(cpu_list_at(c, END, d), n, up);
    const int64_t way = up ? end - *first : *first - end, step = up ? stride : -stride;
    return way > 0 ? (uint32_t)((way + step - 1) / step) : 0;
}

static bool infer_strided(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    out->rank = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        const int32_t stride = cpu_list_at(c, STRIDES, d);
        const bool shrink = bit(c, SHRINK_MASK, d), known = x->dims[d] != CPU_UNKNOWN;
        int64_t first;
        if (stride == 0 || (shrink && stride < 0)) return false;
        const uint32_t count = known ? walk(c, d, x->dims[d], &first) : CPU_UNKNOWN;
        if (shrink && known && count != 1) return false;
        if (!shrink) out->dims[out->rank++] = count;
    }
    if (out->rank == 0) out->dims[out->rank++] = 1;
    return true;
}

static bool run_strided(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    struct cpu_shape counts = {.rank = x->shape.rank}; /* the output with the axes that are taken out of it */
    ptrdiff_t step[CPU_MAX_RANK];
    int64_t start = 0;
    cpu_steps(&x->shape, step);
    for (uint32_t d = 0; d < counts.rank; d++) {
        int64_t first;
        counts.dims[d] = walk(c, d, x->shape.dims[d], &first);
        start += first * step[d];
        step[d] *= cpu_list_at(c, STRIDES, d);
    }
    cpu_move_view(c, cpu_out(c, 0), &counts, (size_t)start, step);
    return true;
}

const struct cpu_op_fns cpu_op_strided_slice = {.check = check_strided, .infer = infer_strided, .run = run_strided};

/* ---------------------------------------------------------------------- SPLIT */

enum { SPLIT_AXIS = 1, PARTS };

static bool check_split(const struct cpu_call *c) {
    return cpu_int(c, PARTS, (int32_t)c->node->out_count) == (int32_t)c->node->out_count;
}

static bool infer_split(struct cpu_call *c) {
    struct cpu_shape *out = &c->out_shapes[0];
    const uint32_t parts = c->node->out_count;
    *out = cpu_in(c, X)->shape;
    const int32_t axis = cpu_axis(cpu_int(c, SPLIT_AXIS, 0), out->rank);
    if (axis < 0) return false;
    if (out->dims[axis] == CPU_UNKNOWN) return true;
    if (out->dims[axis] % parts != 0) return false;
    out->dims[axis] /= parts;
    return true;
}

static bool run_split(struct cpu_call *c) {
    const struct cpu_shape *s = &cpu_in(c, X)->shape;
    const uint32_t axis = (uint32_t)cpu_axis(cpu_int(c, SPLIT_AXIS, 0), s->rank), parts = c->node->out_count;
    ptrdiff_t step[CPU_MAX_RANK];
    cpu_steps(s, step);
    for (uint32_t i = 0; i < parts; i++)
        cpu_move_view(c, cpu_out(c, i), &cpu_out(c, i)->shape, i * cpu_extent(s, axis, s->rank) / parts, step);
    return true;
}

const struct cpu_op_fns cpu_op_split = {.check = check_split, .infer = infer_split, .run = run_split};

/* -------------------------------------------------------------------- REVERSE */

enum { REVERSE_AXIS = 1 };

static bool check_reverse(const struct cpu_call *c) {
    return cpu_shape_fits(cpu_in(c, REVERSE_AXIS), 1, 1, 0) && cpu_out_has_rank(c, cpu_rank(cpu_in(c, X)));
}

static bool infer_reverse(struct cpu_call *c) {
    const int32_t axis = cpu_list_at(c, REVERSE_AXIS, 0);
    return axis >= 0 && (uint32_t)axis < cpu_in(c, X)->shape.rank && cpu_infer_same(c);
}

static bool run_reverse(struct cpu_call *c) {
    const struct cpu_shape *s = &cpu_in(c, X)->shape;
    const uint32_t axis = (uint32_t)cpu_list_at(c, REVERSE_AXIS, 0);
    ptrdiff_t step[CPU_MAX_RANK];
    cpu_steps(s, step);
    const size_t last = (s->dims[axis] - 1) * (size_t)step[axis];
    step[axis] = -step[axis];
    cpu_move_view(c, cpu_out(c, 0), s, last, step);
    return true;
}

const struct cpu_op_fns cpu_op_reverse = {.check = check_reverse, .infer = infer_reverse, .run = run_reverse};
