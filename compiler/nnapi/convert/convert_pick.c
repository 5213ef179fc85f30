/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that choose elements by index, condition or size. */
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

/* Indices within the extent: those of a constant now, others by operations. */
static uint32_t limited_indices(struct nnv_rc *c, uint32_t value, uint32_t extent, const char *mode) {
    struct nnv_rc_shape shape = nnv_rc_shape(c, value);
    bool wrap = strcmp(mode, "wrap") == 0, fast = strcmp(mode, "fast") == 0;
    if (!wrap && !fast && strcmp(mode, "clip") != 0) nnv_rc_refuse(c, "mode %s: only clip, fast and wrap", mode);
    if (nnv_rc_is_const(c, value)) {
        const double *given = nnv_rc_numbers(c, value, "the indices");
        size_t n = nnv_rc_elems(&shape);
        double *v = given ? nnv_arena_copy(c->scratch, given, n * sizeof *v) : NULL;
        if (given && !v) nnv_rc_no_memory(c);
        for (size_t i = 0; v && i < n; i++) {
            int64_t at = (int64_t)v[i], size = extent;
            at = wrap ? (at % size + size) % size : at < 0 ? 0 : at >= size ? size - 1 : at;
            if (fast && (double)at != v[i]) nnv_rc_refuse(c, "index %g of %u elements", v[i], extent);
            v[i] = (double)at;
        }
        return v ? nnv_rc_const(c, NNV_RC_I32_TENSOR, &shape, v) : 0;
    }
    if (wrap) nnv_rc_refuse(c, "mode wrap of indices that are no constant");
    if (nnv_rc_type(c, value)->dtype != NNV_RELAY_INT32)
        nnv_rc_refuse(c, "indices of %s; only int32 and constants", nnv_relay_dtype_name(nnv_rc_type(c, value)->dtype));
    uint32_t in = nnv_rc_use(c, value);
    if (fast) return in;
    uint32_t above = nnv_rc_temp(c, NNV_RC_I32_TENSOR, &shape), both = nnv_rc_temp(c, NNV_RC_I32_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MAXIMUM, above, in, nnv_rc_one(c, NNV_RC_I32_TENSOR, 0));
    NNV_RC_EMIT(c, ANEURALNETWORKS_MINIMUM, both, above, nnv_rc_one(c, NNV_RC_I32_TENSOR, extent - 1.0));
    return both;
}

static bool has_attr(const struct nnv_rc *c, const char *key) {
    const struct nnv_relay_value *v = nnv_relay_attr(c->node->e, key);
    return v && v->kind != NNV_RELAY_NONE;
}

/* GATHER puts the indices' dimensions where the axis was; one index without dimensions removes it. */
static void take(struct nnv_rc *c) {
    uint32_t x = nnv_rc_arg(c, 0), indices = nnv_rc_arg(c, 1), in = nnv_rc_in(c, 0);
    struct nnv_rc_shape shape = nnv_rc_shape(c, x), at = nnv_rc_shape(c, indices), made = {0};
    const char *mode = nnv_rc_text_attr(c, "mode", "clip");
    if (nnv_rc_int_attr(c, "batch_dims", 0) != 0) nnv_rc_refuse(c, "batch_dims: GATHER has none");
    uint32_t axis = 0;
    if (has_attr(c, "axis")) {
        axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), shape.rank);
    } else {
        shape = (struct nnv_rc_shape){1, {(uint32_t)nnv_rc_elems(&shape)}};
        in = nnv_rc_reshaped(c, in, &shape, NNV_RC_NONE);
    }
    if (shape.rank + at.rank > NNV_RELAY_RANK) nnv_rc_refuse(c, "a result of more than %d dimensions", NNV_RELAY_RANK);
    if (!nnv_rc_ok(c)) return;
    for (uint32_t i = 0; i < axis; i++) made.dims[made.rank++] = shape.dims[i];
    for (uint32_t i = 0; i < at.rank; i++) made.dims[made.rank++] = at.dims[i];
    for (uint32_t i = axis + 1; i < shape.rank; i++) made.dims[made.rank++] = shape.dims[i];
    struct nnv_rc_shape out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    bool same = nnv_rc_same_shape(&out, &made);
    uint32_t to = same ? nnv_rc_result(c, 0) : nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &made);
    NNV_RC_EMIT(c, ANEURALNETWORKS_GATHER, to, in, nnv_rc_int(c, axis),
                limited_indices(c, indices, shape.dims[axis], mode));
    if (!same) nnv_rc_reshaped(c, to, &out, nnv_rc_result(c, 0));
}

/* Each element of the result by its own index along the axis: by its place among all elements. */
static void gather(struct nnv_rc *c) {
    uint32_t indices = nnv_rc_arg(c, 1);
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, indices),
                        flat = {1, {(uint32_t)nnv_rc_elems(&x)}};
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), x.rank),
             at = limited_indices(c, indices, x.dims[axis], "fast");
    size_t n = nnv_rc_elems(&y), step = 1;
    double *first = NNV_NEW(c->arena, double, n); /* the place of index 0 */
    if (nnv_rc_int_attr(c, "support_negative_indices", 0))
        nnv_rc_refuse(c, "support_negative_indices: GATHER has none");
    if (!first) nnv_rc_no_memory(c);
    if (!nnv_rc_ok(c)) return;
    for (uint32_t d = x.rank, inner = 1; d-- > 0; inner *= y.dims[d]) {
        for (size_t i = 0; i < n && d != axis; i++) first[i] += (double)(i / inner % y.dims[d] * step);
        step *= x.dims[d];
    }
    step = 1;
    for (uint32_t d = axis + 1; d < x.rank; d++) step *= x.dims[d];
    uint32_t places;
    if (nnv_is_constant(&c->b.operand[at])) {
        const double *v = nnv_rc_numbers(c, indices, "the indices");
        for (size_t i = 0; v && i < n; i++) first[i] += v[i] * (double)step;
        places = nnv_rc_const(c, NNV_RC_I32_TENSOR, &y, first);
    } else if (x.rank == 1) {
        places = at;
    } else {
        places = nnv_rc_combined(c, ANEURALNETWORKS_ADD, nnv_rc_by(c, ANEURALNETWORKS_MUL, at, (double)step),
                                 nnv_rc_const(c, NNV_RC_I32_TENSOR, &y, first));
    }
    NNV_RC_EMIT(c, ANEURALNETWORKS_GATHER, nnv_rc_result(c, 0), nnv_rc_reshaped(c, nnv_rc_in(c, 0), &flat, NNV_RC_NONE),
                nnv_rc_int(c, 0), places);
}

/* An operand in the result's shape: a constant is stretched now. */
static uint32_t stretched(struct nnv_rc *c, size_t i) {
    uint32_t value = nnv_rc_arg(c, i);
    struct nnv_rc_shape is = nnv_rc_shape(c, value), out = nnv_rc_shape(c, nnv_rc_out(c, 0)), from = out;
    uint32_t missing = out.rank >= is.rank ? out.rank - is.rank : 0;
    if (nnv_rc_same_shape(&is, &out)) return nnv_rc_use(c, value);
    for (uint32_t d = 0; d < out.rank; d++) from.dims[d] = d < missing ? 1 : is.dims[d - missing];
    struct nnv_encoding e = nnv_rc_encoding(c, value);
    if (nnv_rc_is_const(c, value) && nnv_rc_elems(&is) == 1)
        return nnv_rc_filled(c, e, &out, nnv_rc_number(c, value, "an operand"));
    uint32_t in = nnv_rc_reshaped(c, nnv_rc_use(c, value), &from, NNV_RC_NONE), to = nnv_rc_temp(c, e, &out);
    int64_t times[NNV_RELAY_RANK];
    for (uint32_t d = 0; d < out.rank; d++) times[d] = from.dims[d] ? out.dims[d] / from.dims[d] : 1;
    NNV_RC_EMIT(c, ANEURALNETWORKS_TILE, to, in, nnv_rc_ints(c, out.rank, times));
    return to;
}

static void where(struct nnv_rc *c) {
    struct nnv_rc_shape is = nnv_rc_shape(c, nnv_rc_arg(c, 0)), out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    if (!nnv_rc_same_shape(&is, &out))
        nnv_rc_refuse(c, "a condition that is stretched: SELECT takes one for each element");
    uint32_t a = stretched(c, 1), b = stretched(c, 2);
    NNV_RC_EMIT(c, ANEURALNETWORKS_SELECT, nnv_rc_result(c, 0), nnv_rc_in(c, 0), a, b);
}

static void topk(struct nnv_rc *c) {
    uint32_t x = nnv_rc_arg(c, 0), out[2];
    struct nnv_rc_shape shape = nnv_rc_shape(c, x);
    const char *kind = nnv_rc_text_attr(c, "ret_type", "both");
    int64_t k = nnv_rc_int_attr(c, "k", 1);
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), shape.rank), last = shape.rank - 1;
    if (axis != last) nnv_rc_refuse(c, "axis %u: TOPK_V2 works along the last one", axis);
    if (nnv_rc_int_attr(c, "is_ascend", 0)) nnv_rc_refuse(c, "is_ascend: TOPK_V2 gives the largest");
    if (!nnv_rc_ok(c)) return;
    if (k < 1 || k > shape.dims[last]) k = shape.dims[last];
    shape.dims[last] = (uint32_t)k;
    bool values = strcmp(kind, "indices") != 0, indices = strcmp(kind, "values") != 0;
    out[0] = values ? nnv_rc_result(c, 0) : nnv_rc_temp(c, nnv_rc_encoding(c, x), &shape);
    out[1] = indices ? nnv_rc_result(c, values ? 1 : 0) : nnv_rc_temp(c, NNV_RC_I32_TENSOR, &shape);
    nnv_rc_emit_n(c, ANEURALNETWORKS_TOPK_V2, 2, (uint32_t[]){nnv_rc_in(c, 0), nnv_rc_int(c, k)}, 2, out);
}

static void arg(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), out = nnv_rc_shape(c, nnv_rc_out(c, 0)), made = {0};
    int64_t axes[NNV_RELAY_RANK];
    size_t n = nnv_rc_ints_attr(c, "axis", axes, NNV_RELAY_RANK);
    uint32_t in = nnv_rc_in(c, 0);
    if (nnv_rc_int_attr(c, "exclude", 0)) nnv_rc_refuse(c, "exclude: write the axis itself");
    if (nnv_rc_int_attr(c, "select_last_index", 0))
        nnv_rc_refuse(c, "select_last_index: of equal numbers NNAPI may choose any");
    if (n > 1) nnv_rc_refuse(c, "%zu axes: ARGMAX and ARGMIN take one", n);
    if (!nnv_rc_ok(c)) return;
    if (n == 0) {
        x = (struct nnv_rc_shape){1, {(uint32_t)nnv_rc_elems(&x)}};
        in = nnv_rc_reshaped(c, in, &x, NNV_RC_NONE);
        axes[0] = 0;
    }
    uint32_t axis = nnv_rc_axis(c, axes[0], x.rank);
    for (uint32_t i = 0; i < x.rank; i++)
        if (i != axis) made.dims[made.rank++] = x.dims[i];
    if (made.rank == 0) made = (struct nnv_rc_shape){1, {1}};
    bool same = nnv_rc_same_shape(&made, &out);
    uint32_t to = same ? nnv_rc_result(c, 0) : nnv_rc_temp(c, NNV_RC_I32_TENSOR, &made);
    NNV_RC_EMIT(c, c->node->row->code, to, in, nnv_rc_int(c, axis));
    if (!same) nnv_rc_reshaped(c, to, &out, nnv_rc_result(c, 0));
}

#define OP(name) ANEURALNETWORKS_##name
static const struct nnv_rc_row rows[] = {
    {"take", take, -1, NNV_RC_NUMBER, NNV_RC_MOVES, 3, "GATHER, MAXIMUM, MINIMUM"},
    {"gather", gather, -1, NNV_RC_NUMBER, NNV_RC_MOVES, 3, "GATHER, MUL, ADD"},
    {"where", where, -1, NNV_RC_BOOL, NNV_RC_MOVES, 3, "SELECT, TILE"},
    {"topk", topk, -1, NNV_RC_NUMBER, NNV_RC_MOVES, 3, "TOPK_V2"},
    {"argmax", arg, OP(ARGMAX), NNV_RC_NUMBER, 0, 3, "ARGMAX"},
    {"argmin", arg, OP(ARGMIN), NNV_RC_NUMBER, 0, 3, "ARGMIN"},
};
const struct nnv_rc_rows nnv_rc_pick = {rows, sizeof rows / sizeof *rows};
