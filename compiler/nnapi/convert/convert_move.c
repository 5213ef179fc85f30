/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: shapes, axes, joining, cutting, padding. */
#include <inttypes.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

/* A result that has the elements of an operand in their order. */
static void reshaped_to_result(struct nnv_rc *c, uint32_t operand) {
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_out(c, 0)), is = nnv_rc_operand_shape(c, operand);
    if (!nnv_rc_ok(c)) return;
    if (nnv_rc_same_shape(&shape, &is) || nnv_is_constant(&c->b.operand[operand]))
        nnv_rc_is(c, 0, nnv_rc_reshaped(c, operand, &shape, NNV_RC_NONE));
    else
        nnv_rc_reshaped(c, operand, &shape, nnv_rc_result(c, 0));
}

/* Also reshape_like: the result's shape says all. */
static void reshape(struct nnv_rc *c) { reshaped_to_result(c, nnv_rc_in(c, 0)); }

/* Axis i of the result is axis perm[i] of operand 0. */
static void permute(struct nnv_rc *c, const uint32_t *perm) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t last = 0;
    bool in_order = true, moved = false;
    for (uint32_t i = 0; i < x.rank; i++) {
        moved = moved || perm[i] != i;
        if (x.dims[perm[i]] == 1) continue;
        in_order = in_order && perm[i] >= last; /* axes of 1 can go anywhere */
        last = perm[i];
    }
    uint32_t in = nnv_rc_in(c, 0);
    if (!nnv_rc_ok(c)) return;
    if (!moved)
        nnv_rc_is(c, 0, in);
    else if (in_order && x.rank <= 4)
        reshaped_to_result(c, in);
    else if (nnv_is_constant(&c->b.operand[in]))
        nnv_rc_is(c, 0, nnv_rc_transposed(c, in, perm, NNV_RC_NONE));
    else
        nnv_rc_transposed(c, in, perm, nnv_rc_result(c, 0));
}

static void transpose(struct nnv_rc *c) {
    uint32_t rank = nnv_rc_shape(c, nnv_rc_arg(c, 0)).rank, perm[NNV_RELAY_RANK] = {0};
    int64_t axes[NNV_RELAY_RANK];
    size_t n = nnv_rc_ints_attr(c, "axes", axes, NNV_RELAY_RANK);
    for (uint32_t i = 0; i < rank; i++) perm[i] = n ? nnv_rc_axis(c, axes[i], rank) : rank - 1 - i;
    permute(c, perm);
}

/* Letters of the same axes in another order. */
static void layout_transform(struct nnv_rc *c) {
    const char *from = nnv_rc_text_attr(c, "src_layout", ""), *to = nnv_rc_text_attr(c, "dst_layout", "");
    uint32_t perm[NNV_RELAY_RANK] = {0};
    if (strpbrk(from, "0123456789") || strpbrk(to, "0123456789"))
        nnv_rc_refuse(c, "%s to %s: a TRANSPOSE makes no blocks", from, to);
    for (size_t i = 0; to[i] && nnv_rc_ok(c); i++) perm[i] = (uint32_t)(strchr(from, to[i]) - from);
    permute(c, perm);
}

/* -------------------------------------------------------------------- joining */

static void join(struct nnv_rc *c, uint32_t n, uint32_t *operands, uint32_t axis, uint32_t to) {
    operands[n] = nnv_rc_int(c, axis);
    nnv_rc_emit_n(c, ANEURALNETWORKS_CONCATENATION, n + 1, operands, 1, &to);
}

static uint32_t *room_for(struct nnv_rc *c, uint32_t n) {
    uint32_t *v = NNV_NEW(c->arena, uint32_t, (size_t)n + 1);
    if (!v) nnv_rc_no_memory(c);
    return v;
}

/* In real mode operands are values of bytes already. */
static void concatenate(struct nnv_rc *c) {
    struct nnv_rc_list values = nnv_rc_args(c, 0);
    struct nnv_rc_shape out = nnv_rc_shape(c, nnv_rc_out(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), out.rank), *in = room_for(c, values.n);
    bool qnn = strcmp(c->node->row->name, "qnn.concatenate") == 0;
    for (uint32_t i = 0; i < values.n && nnv_rc_ok(c); i++) {
        if (qnn && !nnv_rc_quant(c, values.v[i]).known) nnv_rc_refuse(c, "operand %u must have one scale", i);
        in[i] = nnv_rc_use(c, values.v[i]);
    }
    if (!nnv_rc_ok(c)) return;
    if (values.n == 1 && !qnn && !c->real)
        nnv_rc_is(c, 0, in[0]);
    else
        join(c, values.n, in, axis, nnv_rc_result(c, 0));
}

/* CONCATENATION does not take int32, PACK does. */
static void pack(struct nnv_rc *c, struct nnv_rc_list values, uint32_t axis) {
    uint32_t *in = room_for(c, values.n);
    for (uint32_t i = 0; i < values.n && nnv_rc_ok(c); i++) in[i + 1] = nnv_rc_use(c, values.v[i]);
    if (!nnv_rc_ok(c)) return;
    in[0] = nnv_rc_int(c, axis);
    nnv_rc_emit_n(c, ANEURALNETWORKS_PACK, values.n + 1, in, 1, &(uint32_t){nnv_rc_result(c, 0)});
}

static void stack(struct nnv_rc *c) {
    struct nnv_rc_list values = nnv_rc_args(c, 0);
    struct nnv_rc_shape out = nnv_rc_shape(c, nnv_rc_out(c, 0)), one = out;
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), out.rank), *in = room_for(c, values.n);
    one.dims[axis] = 1;
    if (nnv_rc_ok(c) && nnv_rc_type(c, nnv_rc_out(c, 0))->dtype == NNV_RELAY_INT32) {
        pack(c, values, axis);
        return;
    }
    for (uint32_t i = 0; i < values.n && nnv_rc_ok(c); i++)
        in[i] = nnv_rc_reshaped(c, nnv_rc_use(c, values.v[i]), &one, NNV_RC_NONE);
    if (nnv_rc_ok(c)) join(c, values.n, in, axis, nnv_rc_result(c, 0));
}

/* -------------------------------------------------------------------- cutting */

/** A part of a tensor. */
struct part {
    int64_t begin[NNV_RELAY_RANK], end[NNV_RELAY_RANK], step[NNV_RELAY_RANK];
    bool steps;     /**< a step is not 1 */
    int64_t to_end; /**< mask of axes that go down to their first element */
};

static void cut(struct nnv_rc *c, uint32_t in, const struct part *p, uint32_t to) {
    struct nnv_rc_shape x = nnv_rc_operand_shape(c, in), y = nnv_rc_operand_shape(c, to);
    int32_t type = nnv_builder_encoding(&c->b, in).type;
    int64_t size[NNV_RELAY_RANK];
    for (uint32_t i = 0; i < y.rank; i++) size[i] = y.dims[i];
    if (type == ANEURALNETWORKS_TENSOR_INT32 && !p->steps) {
        NNV_RC_EMIT(c, ANEURALNETWORKS_SLICE, to, in, nnv_rc_ints(c, x.rank, p->begin), nnv_rc_ints(c, x.rank, size));
        return;
    }
    NNV_RC_EMIT(c, ANEURALNETWORKS_STRIDED_SLICE, to, in, nnv_rc_ints(c, x.rank, p->begin),
                nnv_rc_ints(c, x.rank, p->end), nnv_rc_ints(c, x.rank, p->step), nnv_rc_int(c, 0),
                nnv_rc_int(c, p->to_end), nnv_rc_int(c, 0));
}

static struct part whole(const struct nnv_rc_shape *x) {
    struct part p = {.steps = false};
    for (uint32_t i = 0; i < x->rank; i++) {
        p.end[i] = x->dims[i];
        p.step[i] = 1;
    }
    return p;
}

static void split(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), x.rank), n = c->node->out.n, *out = room_for(c, n);
    bool equal = true;
    uint32_t in = nnv_rc_in(c, 0);
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        out[i] = nnv_rc_result(c, i);
        equal = equal && nnv_rc_shape(c, nnv_rc_out(c, i)).dims[axis] == nnv_rc_shape(c, nnv_rc_out(c, 0)).dims[axis];
    }
    if (!nnv_rc_ok(c)) return;
    if (equal && c->limit >= 3) {
        nnv_rc_emit_n(c, ANEURALNETWORKS_SPLIT, 3, (uint32_t[]){in, nnv_rc_int(c, axis), nnv_rc_int(c, n)}, n, out);
        return;
    }
    struct part p = whole(&x);
    p.end[axis] = 0;
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        p.begin[axis] = p.end[axis];
        p.end[axis] += nnv_rc_shape(c, nnv_rc_out(c, i)).dims[axis];
        cut(c, in, &p, out[i]);
    }
}

static int64_t within(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* One axis of a slice, its ends within the tensor. */
static void cut_axis(struct part *p, uint32_t at, int64_t extent, int64_t begin, int64_t end, int64_t step) {
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
    p->begin[at] = within(begin < 0 ? begin + extent : begin, low, high);
    p->end[at] = within(end < 0 ? end + extent : end, low, high);
    p->step[at] = within(step, -INT32_MAX, INT32_MAX);
    p->steps = p->steps || step != 1;
    if (step < 0 && p->end[at] < 0) {
        p->end[at] = 0;
        p->to_end |= (int64_t)1 << at;
    }
}

static void strided_slice(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, nnv_rc_out(c, 0));
    int64_t begin[NNV_RELAY_RANK], end[NNV_RELAY_RANK], step[NNV_RELAY_RANK], axes[NNV_RELAY_RANK];
    size_t n = nnv_rc_ints_attr(c, "begin", begin, NNV_RELAY_RANK);
    size_t n_step = nnv_rc_ints_attr(c, "strides", step, NNV_RELAY_RANK),
           n_axes = nnv_rc_ints_attr(c, "axes", axes, NNV_RELAY_RANK);
    bool sizes = strcmp(nnv_rc_text_attr(c, "slice_mode", "end"), "size") == 0;
    struct part p = whole(&x);
    if (nnv_rc_ints_attr(c, "end", end, NNV_RELAY_RANK) != n) nnv_rc_refuse(c, "begin and end of different lengths");
    for (size_t i = 0; i < n && nnv_rc_ok(c); i++) {
        int64_t by = sizes ? 1 : i < n_step ? step[i] : n_step == 1 ? step[0] : 1;
        uint32_t at = n_axes ? nnv_rc_axis(c, axes[i], x.rank) : (uint32_t)i;
        if (sizes && (end[i] < 0 || __builtin_add_overflow(begin[i], end[i], &end[i]))) end[i] = INT32_MAX;
        cut_axis(&p, at, x.dims[at], begin[i], end[i], by);
    }
    uint32_t in = nnv_rc_in(c, 0);
    if (!nnv_rc_ok(c)) return;
    if (nnv_rc_same_shape(&x, &y) && !p.steps)
        nnv_rc_is(c, 0, in);
    else
        cut(c, in, &p, nnv_rc_result(c, 0));
}

/* -------------------------------------------------------------------- padding */

/* Pairs of an attribute as a constant [rank, 2]; what they add up to is *sum. */
static uint32_t pairs(struct nnv_rc *c, const char *key, uint32_t rank, int64_t *sum) {
    const struct nnv_relay_value *v = nnv_relay_attr(c->node->e, key);
    double numbers[NNV_RELAY_RANK * 2];
    bool is = v && v->kind == NNV_RELAY_LIST && v->n == rank;
    *sum = 0;
    for (size_t i = 0; is && i < rank; i++) is = v->list[i].kind == NNV_RELAY_LIST && v->list[i].n == 2;
    if (!is) {
        nnv_rc_refuse(c, "%s must have a pair for each of %u dimensions", key, rank);
        return 0;
    }
    for (size_t i = 0; i < (size_t)rank * 2; i++) {
        int64_t by = v->list[i / 2].list[i % 2].i;
        if (by < 0 || by > INT32_MAX) nnv_rc_refuse(c, "%s has %" PRId64, key, by);
        numbers[i] = (double)by;
        *sum += within(by, 0, INT32_MAX);
    }
    return nnv_rc_const(c, NNV_RC_I32_TENSOR, &(struct nnv_rc_shape){2, {rank, 2}}, numbers);
}

static void mirror(struct nnv_rc *c, bool symmetric) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    int64_t sum;
    uint32_t width = pairs(c, "pad_width", x.rank, &sum);
    NNV_RC_EMIT(c, ANEURALNETWORKS_MIRROR_PAD, nnv_rc_result(c, 0), nnv_rc_in(c, 0), width,
                nnv_rc_int(c, symmetric ? 1 : 0));
}

static void mirror_pad(struct nnv_rc *c) {
    mirror(c, strcmp(nnv_rc_text_attr(c, "mode", "SYMMETRIC"), "SYMMETRIC") == 0);
}

static void pad(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    const char *mode = nnv_rc_text_attr(c, "pad_mode", "constant");
    int64_t sum = 0;
    if (strcmp(mode, "reflect") == 0) {
        mirror(c, false);
        return;
    }
    if (strcmp(mode, "constant") != 0) nnv_rc_refuse(c, "pad_mode %s: only constant and reflect", mode);
    double value = c->node->e->n_args > 1 ? nnv_rc_number(c, nnv_rc_arg(c, 1), "the padding's value")
                                          : nnv_rc_num_attr(c, "pad_value", 0);
    uint32_t in = nnv_rc_in(c, 0), width = pairs(c, "pad_width", x.rank, &sum);
    if (!nnv_rc_ok(c)) return;
    if (!sum) {
        nnv_rc_is(c, 0, in);
    } else if (value == (nnv_is_quant(e.type) ? e.zero_point : 0)) {
        NNV_RC_EMIT(c, ANEURALNETWORKS_PAD, nnv_rc_result(c, 0), in, width);
    } else {
        uint32_t scalar = nnv_is_quant(e.type) ? nnv_rc_int(c, (int64_t)value) : nnv_rc_float(c, e, value);
        NNV_RC_EMIT(c, ANEURALNETWORKS_PAD_V2, nnv_rc_result(c, 0), in, width, scalar);
    }
}

/* ------------------------------------------------------------------ repetition */

static void tiled(struct nnv_rc *c, uint32_t in, const struct nnv_rc_shape *from, const struct nnv_rc_shape *to,
                  uint32_t out) {
    int64_t times[NNV_RELAY_RANK];
    for (uint32_t i = 0; i < to->rank; i++) times[i] = from->dims[i] ? to->dims[i] / from->dims[i] : 1;
    NNV_RC_EMIT(c, ANEURALNETWORKS_TILE, out, in, nnv_rc_ints(c, to->rank, times));
}

/* tile, broadcast_to: dimensions of 1 in front, then whole multiples. */
static void tile(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, nnv_rc_out(c, 0)), from = y;
    uint32_t missing = y.rank - x.rank;
    for (uint32_t i = 0; i < y.rank; i++) from.dims[i] = i < missing ? 1 : x.dims[i - missing];
    uint32_t in = nnv_rc_reshaped(c, nnv_rc_in(c, 0), &from, NNV_RC_NONE);
    if (!nnv_rc_ok(c)) return;
    if (nnv_rc_same_shape(&from, &y))
        nnv_rc_is(c, 0, in);
    else
        tiled(c, in, &from, &y, nnv_rc_result(c, 0));
}

static void repeat(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, nnv_rc_out(c, 0));
    if (y.rank != x.rank || x.rank >= 4)
        nnv_rc_refuse(c, "repetition of %u dimensions, or of a flattened tensor", x.rank);
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), x.rank);
    if (!nnv_rc_ok(c)) return;
    struct nnv_rc_shape from = {x.rank + 1, {0}}, to;
    for (uint32_t i = 0; i < from.rank; i++) from.dims[i] = i <= axis ? x.dims[i] : i == axis + 1 ? 1 : x.dims[i - 1];
    to = from;
    to.dims[axis + 1] = x.dims[axis] ? y.dims[axis] / x.dims[axis] : 1;
    uint32_t in = nnv_rc_reshaped(c, nnv_rc_in(c, 0), &from, NNV_RC_NONE),
             out = nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &to);
    tiled(c, in, &from, &to, out);
    nnv_rc_reshaped(c, out, &y, nnv_rc_result(c, 0));
}

static void reverse(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0));
    int64_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", 0), x.rank);
    NNV_RC_EMIT(c, ANEURALNETWORKS_REVERSE, nnv_rc_result(c, 0), nnv_rc_in(c, 0), nnv_rc_ints(c, 1, &axis));
}

/* ---------------------------------------------------------------- depth, batch */

static void depth_space(struct nnv_rc *c) {
    const char *mode = nnv_rc_text_attr(c, "mode", "DCR");
    uint32_t out = nnv_rc_result(c, 0);
    if (strcmp(mode, "DCR") != 0) nnv_rc_refuse(c, "mode %s: NNAPI has only DCR", mode);
    struct nnv_rc_layout l = nnv_rc_layout(c, nnv_rc_in(c, 0), out, nnv_rc_text_attr(c, "layout", "NCHW"), true);
    uint32_t in[3] = {l.in, nnv_rc_int(c, nnv_rc_int_attr(c, "block_size", 0))}, n = 2;
    if (l.flag) in[n++] = nnv_builder_bool(&c->b, true);
    nnv_rc_emit_n(c, c->node->row->code, n, in, 1, &l.out);
    nnv_rc_layout_end(c, &l, out);
}

/* Blocks are of the two dimensions behind the batch, as in NHWC. */
static bool blocks(struct nnv_rc *c, uint32_t *sizes) {
    int64_t block[2];
    size_t n = nnv_rc_ints_attr(c, "block_shape", block, 2);
    if (n != 2 || nnv_rc_shape(c, nnv_rc_arg(c, 0)).rank != 4) {
        nnv_rc_refuse(c, "only blocks of two dimensions of a tensor of four");
        return false;
    }
    *sizes = nnv_rc_ints(c, 2, block);
    return nnv_rc_ok(c);
}

static void space_to_batch(struct nnv_rc *c) {
    uint32_t sizes;
    int64_t sum;
    double value = nnv_rc_num_attr(c, "pad_value", 0);
    struct nnv_encoding e = nnv_rc_encoding(c, nnv_rc_arg(c, 0));
    uint32_t width = pairs(c, "paddings", 2, &sum);
    if (sum && value != (nnv_is_quant(e.type) ? e.zero_point : 0))
        nnv_rc_refuse(c, "pad_value %g: NNAPI pads with zeros", value);
    if (!blocks(c, &sizes)) return;
    NNV_RC_EMIT(c, ANEURALNETWORKS_SPACE_TO_BATCH_ND, nnv_rc_result(c, 0), nnv_rc_in(c, 0), sizes, width);
}

static void batch_to_space(struct nnv_rc *c) {
    struct nnv_rc_shape x = nnv_rc_shape(c, nnv_rc_arg(c, 0)), y = nnv_rc_shape(c, nnv_rc_out(c, 0));
    const struct nnv_relay_value *crops = nnv_relay_attr(c->node->e, "crops");
    uint32_t sizes, to = nnv_rc_result(c, 0);
    int64_t block[2], sum;
    (void)pairs(c, "crops", 2, &sum);
    if (!blocks(c, &sizes)) return;
    (void)nnv_rc_ints_attr(c, "block_shape", block, 2);
    struct nnv_rc_shape full = {4,
                                {y.dims[0], x.dims[1] * (uint32_t)block[0], x.dims[2] * (uint32_t)block[1], y.dims[3]}};
    uint32_t out = sum ? nnv_rc_temp(c, nnv_rc_encoding(c, nnv_rc_out(c, 0)), &full) : to;
    NNV_RC_EMIT(c, ANEURALNETWORKS_BATCH_TO_SPACE_ND, out, nnv_rc_in(c, 0), sizes);
    if (out == to || !nnv_rc_ok(c)) return;
    struct part p = whole(&y);
    for (size_t i = 0; i < 2; i++) {
        p.begin[i + 1] = crops->list[i].list[0].i;
        p.end[i + 1] = p.begin[i + 1] + y.dims[i + 1];
    }
    cut(c, out, &p, to);
}

#define OP(name) ANEURALNETWORKS_##name
#define ANY NNV_RC_NUMBER
#define FB NNV_RC_FLOAT | NNV_RC_BYTE
#define MOVES NNV_RC_MOVES
#define LIKE NNV_RC_LIKE
static const struct nnv_rc_row rows[] = {
    {"reshape", reshape, -1, ANY, MOVES, 1, "RESHAPE"},
    {"nn.batch_flatten", reshape, -1, ANY, MOVES, 1, "RESHAPE"},
    {"squeeze", reshape, -1, ANY, MOVES, 1, "RESHAPE"},
    {"expand_dims", reshape, -1, ANY, MOVES, 1, "RESHAPE, EXPAND_DIMS"},
    {"reshape_like", reshape, -1, ANY, LIKE, 1, "RESHAPE"},
    {"transpose", transpose, -1, ANY, MOVES, 1, "TRANSPOSE, RESHAPE"},
    {"layout_transform", layout_transform, -1, ANY, MOVES, 1, "TRANSPOSE, RESHAPE"},
    {"concatenate", concatenate, -1, FB, MOVES | NNV_RC_REAL, 1, "CONCATENATION"},
    {"stack", stack, -1, ANY, MOVES, 1, "CONCATENATION, PACK"},
    {"split", split, -1, ANY, MOVES, 2, "SPLIT, STRIDED_SLICE"},
    {"strided_slice", strided_slice, -1, ANY, MOVES, 2, "STRIDED_SLICE, SLICE"},
    {"nn.pad", pad, -1, FB, MOVES, 2, "PAD, PAD_V2, MIRROR_PAD"},
    {"nn.mirror_pad", mirror_pad, -1, ANY, MOVES, 7, "MIRROR_PAD"},
    {"tile", tile, -1, ANY, MOVES, 3, "TILE"},
    {"broadcast_to", tile, -1, ANY, MOVES, 3, "TILE"},
    {"broadcast_to_like", tile, -1, ANY, LIKE, 3, "TILE"},
    {"repeat", repeat, -1, ANY, MOVES, 3, "RESHAPE, TILE"},
    {"reverse", reverse, -1, ANY, MOVES, 7, "REVERSE"},
    {"nn.depth_to_space", depth_space, OP(DEPTH_TO_SPACE), FB, MOVES, 1, "DEPTH_TO_SPACE"},
    {"nn.space_to_depth", depth_space, OP(SPACE_TO_DEPTH), FB, MOVES, 1, "SPACE_TO_DEPTH"},
    {"nn.space_to_batch_nd", space_to_batch, -1, FB, MOVES, 2, "SPACE_TO_BATCH_ND"},
    {"nn.batch_to_space_nd", batch_to_space, -1, FB, MOVES, 2, "BATCH_TO_SPACE_ND, STRIDED_SLICE"},
    {"qnn.concatenate", concatenate, -1, NNV_RC_BYTE, 0, 1, "CONCATENATION"},
};
const struct nnv_rc_rows nnv_rc_move = {rows, sizeof rows / sizeof *rows};
