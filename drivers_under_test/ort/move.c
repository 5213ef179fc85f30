/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.c Operations that move values: other places, other extents, more or fewer of them. */
#include "convert.h"

/** Input i as codes where its quantisation is the output's, and so nothing is to be computed; else as numbers. */
static bool moves_codes(const struct or_conversion *c, uint32_t from, uint32_t to) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    for (uint32_t i = from; i < to; i++)
        if (engine_is_quant(y) && !engine_same_quant(engine_in(&c->op, i), y)) return false;
    return true;
}

static void finish(struct or_conversion *c, int value, bool codes) {
    if (codes)
        or_out(c, 0, value);
    else
        or_store(c, 0, value);
}

bool or_to_shape(struct or_conversion *c) {
    if (!engine_constant(&c->op, 1, 1)) return or_refuse(c, "a parameter is no constant");
    or_out(c, 0, or_reshape_to_out(c, or_in(c, 0), 0));
    return true;
}

bool or_permute(struct or_conversion *c) {
    int64_t order[2 * OR_MOST_RANK];
    uint32_t rank;
    if (!or_list(c, 1, order, &rank)) return false;
    or_out(c, 0, or_transpose(c, or_in(c, 0), order, rank));
    return true;
}

/** Concat along an axis of `count` values. */
static int join(struct or_conversion *c, const int *values, uint32_t count, int64_t axis) {
    or_attribute(c, "axis", axis);
    return or_node_list(c, "Concat", values, count, 1);
}

enum { MOST_JOINED = 256 };

bool or_concatenation(struct or_conversion *c) {
    const uint32_t n = c->op.node->in_count - 1;
    const bool codes = moves_codes(c, 0, n);
    int values[MOST_JOINED];
    const int32_t axis = engine_int(&c->op, n, 0);
    if (n > MOST_JOINED) return or_refuse(c, "more inputs than are converted");
    for (uint32_t i = 0; i < n; i++) values[i] = codes ? or_in(c, i) : or_real(c, i);
    finish(c, join(c, values, n, axis), codes);
    return true;
}

bool or_pack(struct or_conversion *c) {
    const uint32_t n = c->op.node->in_count - 1, rank = engine_out(&c->op, 0)->rank;
    const uint32_t axis = engine_axis(engine_int(&c->op, 0, 0), rank);
    int values[MOST_JOINED];
    int64_t dims[OR_MOST_RANK];
    if (n > MOST_JOINED) return or_refuse(c, "more inputs than are converted");
    or_dims(engine_out(&c->op, 0), dims);
    dims[axis] = 1;
    for (uint32_t i = 0; i < n; i++) values[i] = or_reshape(c, or_in(c, i + 1), dims, rank);
    or_out(c, 0, join(c, values, n, axis));
    return true;
}

bool or_split(struct or_conversion *c) {
    const int32_t axis = engine_int(&c->op, 1, 0);
    const uint32_t n = c->op.node->out_count;
    const int value = or_in(c, 0);
    if (!engine_constant(&c->op, 1, 2)) return or_refuse(c, "a parameter is no constant");
    or_attribute(c, "axis", axis);
    or_attribute(c, "num_outputs", n);
    const int first = or_node_list(c, c->name, &value, 1, n);
    for (uint32_t i = 0; i < n; i++) or_out(c, i, first + (int)i);
    return true;
}

/** Slice of the first input along all of its axes. */
static int slice(struct or_conversion *c, const int64_t *starts, const int64_t *ends, const int64_t *steps) {
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    int64_t axes[OR_MOST_RANK];
    for (uint32_t i = 0; i < rank; i++) axes[i] = i;
    const int in[] = {or_in(c, 0), or_int64_list(c, starts, rank), or_int64_list(c, ends, rank),
                      or_int64_list(c, axes, rank), or_int64_list(c, steps, rank)};
    return or_node_list(c, "Slice", in, 5, 1);
}

bool or_slice(struct or_conversion *c) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    int64_t starts[2 * OR_MOST_RANK], ends[2 * OR_MOST_RANK], steps[OR_MOST_RANK];
    uint32_t rank;
    if (!or_list(c, 1, starts, &rank) || !or_list(c, 2, ends, &rank)) return false;
    for (uint32_t i = 0; i < rank; i++) {
        ends[i] = starts[i] + y->dims[i];
        steps[i] = 1;
    }
    or_out(c, 0, slice(c, starts, ends, steps));
    return true;
}

bool or_strided_slice(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    int64_t starts[2 * OR_MOST_RANK], ends[2 * OR_MOST_RANK], steps[2 * OR_MOST_RANK];
    uint32_t rank;
    if (!or_list(c, 1, starts, &rank) || !or_list(c, 2, ends, &rank) || !or_list(c, 3, steps, &rank)) return false;
    const int32_t begin = engine_int(&c->op, 4, 0), end = engine_int(&c->op, 5, 0), shrink = engine_int(&c->op, 6, 0);
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t extent = x->dims[i];
        if (begin >> i & 1) starts[i] = steps[i] > 0 ? 0 : extent - 1;
        if (end >> i & 1) ends[i] = steps[i] > 0 ? extent : INT64_MIN;
        if (!(shrink >> i & 1)) continue;
        starts[i] += starts[i] < 0 ? extent : 0;
        ends[i] = starts[i] + 1;
        steps[i] = 1;
    }
    or_out(c, 0, or_reshape_to_out(c, slice(c, starts, ends, steps), 0));
    return true;
}

bool or_reverse(struct or_conversion *c) {
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    int64_t axes[2 * OR_MOST_RANK], starts[OR_MOST_RANK], ends[OR_MOST_RANK], steps[OR_MOST_RANK];
    uint32_t count;
    if (!or_list(c, 1, axes, &count)) return false;
    for (uint32_t i = 0; i < rank; i++) {
        starts[i] = 0;
        ends[i] = INT64_MAX;
        steps[i] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        starts[axis] = -1;
        ends[axis] = INT64_MIN;
        steps[axis] = -1;
    }
    or_out(c, 0, slice(c, starts, ends, steps));
    return true;
}

/** Negative indices become the first that is too large: ONNX counts them from the end, NNAPI lets the execution fail.
 */
static int from_start(struct or_conversion *c, int indices, uint32_t rows) {
    const int negative = or_node(c, "Less", indices, or_number(c, OR_INT32, 0), OR_NOWHERE);
    return or_node(c, "Where", negative, or_number(c, OR_INT32, rows), indices);
}

/** Lines of an embedding, too: its indices come first. */
bool or_gather(struct or_conversion *c) {
    const bool is_lookup = c->op.node->code == ANEURALNETWORKS_EMBEDDING_LOOKUP;
    const int32_t axis = is_lookup ? 0 : engine_int(&c->op, 1, 0);
    const int values = or_in(c, is_lookup ? 1 : 0);
    int indices = or_in(c, is_lookup ? 0 : 2);
    if (is_lookup) indices = from_start(c, indices, engine_in(&c->op, 1)->dims[0]);
    or_attribute(c, "axis", axis);
    or_out(c, 0, or_node(c, c->name, values, indices, OR_NOWHERE));
    return true;
}

bool or_tile(struct or_conversion *c) {
    int64_t repeats[2 * OR_MOST_RANK];
    uint32_t rank;
    if (!or_list(c, 1, repeats, &rank)) return false;
    or_out(c, 0, or_node(c, c->name, or_in(c, 0), or_int64_list(c, repeats, rank), OR_NOWHERE));
    return true;
}

bool or_pad(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t code = c->op.node->code;
    int64_t pairs[2 * OR_MOST_RANK], pads[2 * OR_MOST_RANK];
    uint32_t count;
    int value = OR_NOWHERE;
    if (!or_list(c, 1, pairs, &count)) return false;
    for (uint32_t i = 0; i < count / 2; i++) {
        pads[i] = pairs[2 * i];
        pads[count / 2 + i] = pairs[2 * i + 1];
    }
    if (code == ANEURALNETWORKS_MIRROR_PAD && engine_int(&c->op, 2, 0) != 0)
        return or_refuse(c, "ONNX mirrors without the edge only");
    if (code == ANEURALNETWORKS_PAD_V2 && !engine_constant(&c->op, 2, 2))
        return or_refuse(c, "a parameter is no constant");
    if (code == ANEURALNETWORKS_PAD) value = or_number(c, or_type_of(x), engine_is_quant(x) ? x->zero_point : 0);
    if (code == ANEURALNETWORKS_PAD_V2)
        value = engine_is_quant(x) ? or_number(c, or_type_of(x), engine_int(&c->op, 2, 0)) : or_in(c, 2);
    const int source = or_in(c, 0), extents = or_int64_list(c, pads, count);
    or_attribute_text(c, "mode", code == ANEURALNETWORKS_MIRROR_PAD ? "reflect" : "constant");
    or_out(c, 0, or_node(c, c->name, source, extents, value));
    return true;
}

bool or_select(struct or_conversion *c) {
    const bool codes = moves_codes(c, 1, 3);
    const int a = codes ? or_in(c, 1) : or_real(c, 1), b = codes ? or_in(c, 2) : or_real(c, 2);
    finish(c, or_node(c, c->name, or_in(c, 0), a, b), codes);
    return true;
}

bool or_fill(struct or_conversion *c) {
    int64_t dims[2 * OR_MOST_RANK];
    uint32_t rank;
    if (!or_list(c, 0, dims, &rank)) return false;
    or_out(c, 0, or_node(c, c->name, or_in(c, 1), or_int64_list(c, dims, rank), OR_NOWHERE));
    return true;
}

/** Axes taken apart, put into another order, and put together again. */
static int regroup(struct or_conversion *c, int value, const int64_t *dims, const int64_t *order, uint32_t rank) {
    return or_reshape_to_out(c, or_transpose(c, or_reshape(c, value, dims, rank), order, rank), 0);
}

bool or_shuffle(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t groups = engine_int(&c->op, 1, 1);
    const uint32_t axis = engine_axis(engine_int(&c->op, 2, 0), x->rank);
    if (c->op.not_constant) return or_refuse(c, "a parameter is no constant");
    const int64_t dims[] = {(int64_t)engine_extent(x, 0, axis), groups, x->dims[axis] / groups,
                            (int64_t)engine_extent(x, axis + 1, x->rank)};
    or_out(c, 0, regroup(c, or_in(c, 0), dims, (const int64_t[]){0, 2, 1, 3}, 4));
    return true;
}

bool or_space_to_batch(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 3, 0) != 0;
    int64_t block[2 * OR_MOST_RANK], pads[2 * OR_MOST_RANK];
    uint32_t count;
    if (is_nchw) return or_refuse(c, "channels first are not converted");
    if (!or_list(c, 1, block, &count) || !or_list(c, 2, pads, &count)) return false;
    const int64_t ends[] = {0, pads[0], pads[2], 0, 0, pads[1], pads[3], 0};
    const int64_t dims[] = {x->dims[0], (x->dims[1] + pads[0] + pads[1]) / block[0],
                            block[0],   (x->dims[2] + pads[2] + pads[3]) / block[1],
                            block[1],   x->dims[3]};
    const int zero = or_number(c, or_type_of(x), engine_is_quant(x) ? x->zero_point : 0);
    const int padded = or_node(c, "Pad", or_in(c, 0), or_int64_list(c, ends, 8), zero);
    or_out(c, 0, regroup(c, padded, dims, (const int64_t[]){2, 4, 0, 1, 3, 5}, 6));
    return true;
}

bool or_batch_to_space(struct or_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const bool is_nchw = engine_int(&c->op, 2, 0) != 0;
    int64_t block[2 * OR_MOST_RANK];
    uint32_t count;
    if (is_nchw) return or_refuse(c, "channels first are not converted");
    if (!or_list(c, 1, block, &count)) return false;
    const int64_t dims[] = {block[0], block[1], x->dims[0] / (block[0] * block[1]), x->dims[1], x->dims[2], x->dims[3]};
    or_out(c, 0, regroup(c, or_in(c, 0), dims, (const int64_t[]){2, 3, 0, 4, 1, 5}, 6));
    return true;
}
