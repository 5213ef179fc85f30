/* SPDX-License-Identifier: Apache-2.0 */
/** @file moves.c Bugs of axes, indices and orders as drivers in the field have had them. */
#include "rewire.h"

/* ------------------------------------------------------------- blocks and batches */

/** Within a block, row and column change places. */
static uint32_t block_transposed(const struct spot *s) {
    const uint32_t b = (uint32_t)s->p[0], h = (uint32_t)s->p[1];
    const uint32_t y = s->at[h], x = s->at[h + 1];
    return spot_at(s, h, y / b * b + x % b) + spot_at(s, h + 1, x / b * b + y % b) - s->i;
}
CHANGE(large_blocks) {
    const int32_t p[] = {attribute(e, "block size", 1), attribute(e, "nchw", 0) ? 2 : 1};
    (void)f;
    return p[0] >= 3 && move_output(e, block_transposed, p);
}

/** Channel k * C + c is found where c * blocks + k should be. */
static uint32_t channels_first(const struct spot *s) {
    const uint32_t blocks = (uint32_t)(s->p[0] * s->p[0]), each = s->shape->dims[1] / blocks;
    return each ? spot_at(s, 1, s->at[1] % blocks * each + s->at[1] / blocks) : s->i;
}
CHANGE(nchw_blocks) {
    const int32_t block = attribute(e, "block size", 1);
    (void)f;
    return attribute(e, "nchw", 0) && move_output(e, channels_first, &block);
}

/** The batch of block k of image n: p[0] blocks, p[1] images. */
static uint32_t images_first(const struct spot *s) {
    return spot_at(s, 0, (int64_t)(s->at[0] % (uint32_t)s->p[0]) * s->p[1] + s->at[0] / (uint32_t)s->p[0]);
}
/** Rows of blocks are as long as columns: p[0] by p[1] blocks of p[2] images. */
static uint32_t columns_first(const struct spot *s) {
    const uint32_t n = (uint32_t)s->p[2], k = s->at[0] / n, u = k / (uint32_t)s->p[1], v = k % (uint32_t)s->p[1];
    return spot_at(s, 0, (int64_t)(v * (uint32_t)s->p[0] + u) * n + s->at[0] % n);
}

CHANGE(images_of_blocks) {
    int pos;
    size_t n;
    const double *block = constants(e, "block sizes", &pos, &n);
    (void)f;
    if (!block || n != 2 || !nnv_shape_known(shape_of(e, 0))) return false;
    const int32_t p[] = {(int32_t)(block[0] * block[1]), (int32_t)shape_of(e, 0)->dims[0]};
    return p[0] > 1 && p[1] > 1 && move_output(e, images_first, p);
}

CHANGE(unequal_blocks) {
    int pos;
    size_t n;
    const double *block = constants(e, "block sizes", &pos, &n);
    (void)f;
    if (!block || n != 2 || !nnv_shape_known(output_shape(e))) return false;
    const int32_t p[] = {(int32_t)block[0], (int32_t)block[1], (int32_t)output_shape(e)->dims[0]};
    return p[0] != p[1] && move_input(e, 0, columns_first, p);
}

/** Axis of an attribute, counted from the front; -1: unknown. */
static int axis_of(struct nnv_edit *e, const char *name, int32_t dflt) {
    const struct nnv_shape *x = shape_of(e, 0);
    return x->known_rank ? nnv_axis(attribute(e, name, dflt), x->rank) : -1;
}

CHANGE(middle_shuffle) {
    const int axis = axis_of(e, "axis", -1);
    (void)f;
    return axis >= 0 && axis + 1 < (int)shape_of(e, 0)->rank && set_attribute(e, "groups", 1);
}

/** All padding of the batch stands behind it. */
static uint32_t batch_further(const struct spot *s) {
    return spot_at(s, 0, (s->at[0] + (uint32_t)s->p[0]) % s->shape->dims[0]);
}
CHANGE(padded_batch) {
    int pos;
    size_t n;
    const double *pads = constants(e, "paddings", &pos, &n);
    const int32_t head = pads && n ? (int32_t)pads[0] : 0;
    (void)f;
    return head > 0 && move_output(e, batch_further, &head);
}

static uint32_t second_for_first(const struct spot *s) {
    const uint32_t axis = (uint32_t)s->p[0];
    return s->at[axis] == 0 ? spot_at(s, axis, 1) : s->i;
}
CHANGE(widest_mirror) {
    int pos;
    size_t n;
    const double *pads = constants(e, "paddings", &pos, &n);
    const struct nnv_shape *x = shape_of(e, 0);
    (void)f;
    for (int32_t d = 0; pads && nnv_shape_known(x) && d < (int32_t)n / 2; d++)
        if (attribute(e, "mode", 1) == 0 && pads[2 * d] > 0 && pads[2 * d] + 1 == x->dims[d])
            return move_output(e, second_for_first, &d);
    return false;
}

/* ------------------------------------------------------------------------- axes */

CHANGE(negative_axis) {
    (void)f;
    return attribute(e, "axis", -1) < -1 && set_attribute(e, "axis", -1);
}

CHANGE(axes_twice) {
    int pos;
    size_t n;
    const double *axes = constants(e, "axes", &pos, &n);
    const struct nnv_shape *x = shape_of(e, 0);
    double less = 1;
    (void)f;
    if (!axes || !nnv_shape_known(x) || !nnv_is_float(type_of(e))) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const int a = nnv_axis((int32_t)axes[i], x->rank), b = nnv_axis((int32_t)axes[k], x->rank);
            if (a < 0 || a != b) continue;
            less /= x->dims[a];
            break;
        }
    if (less == 1) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t value = w.value, none = nnv_edit_add_int(e, 0);
    WIRE(&w, MUL, value, wire_number(&w, less), none);
    return wire_end(&w);
}

static uint32_t lane_before(const struct spot *s) {
    const uint32_t last = s->shape->rank - 1;
    return s->at[last] >= 64 ? spot_at(s, last, s->at[last] % 64) : s->i;
}
/** Columns that are reduced at once: no more than 64. */
CHANGE(wide_columns) {
    int pos;
    size_t n;
    const double *axes = constants(e, "axes", &pos, &n);
    const struct nnv_shape *x = shape_of(e, 0);
    (void)f;
    if (!axes || !nnv_shape_known(x) || !nnv_shape_known(output_shape(e))) return false;
    for (size_t i = 0; i < n; i++)
        if (nnv_axis((int32_t)axes[i], x->rank) == (int)x->rank - 1) return false;
    return move_output(e, lane_before, NULL);
}

/* ---------------------------------------------------------------------- indices */

CHANGE(index_of_float) {
    (void)f;
    if (nnv_edit_operand(e, 0)->type != ANEURALNETWORKS_TENSOR_INT32) return false;
    struct wire w = wire_before(e, 0);
    const uint32_t x = w.value;
    wire_type(&w, ANEURALNETWORKS_TENSOR_FLOAT32);
    WIRE(&w, CAST, x);
    return wire_end(&w);
}

CHANGE(largest_above_zero) {
    (void)f;
    if (!nnv_is_float(nnv_edit_operand(e, 0)->type)) return false;
    struct wire w = wire_before(e, 0);
    const uint32_t x = w.value;
    WIRE(&w, MAXIMUM, x, wire_number(&w, 0));
    return wire_end(&w);
}

static uint32_t first_of_row(const struct spot *s) {
    const uint32_t last = s->shape->rank - 1;
    return s->at[last] >= 256 ? spot_at(s, last, 0) : s->i;
}
CHANGE(long_rows) { return (void)f, move_input(e, 0, first_of_row, NULL); }

CHANGE(last_index) {
    const int pos = nnv_edit_find(e, "indices"), axis = axis_of(e, "axis", 0);
    const uint32_t n = axis >= 0 ? nnv_dim(shape_of(e, 0), (uint32_t)axis) : NNV_DIM_UNKNOWN;
    (void)f;
    if (pos < 0 || n == NNV_DIM_UNKNOWN || n < 2) return false;
    struct wire w = wire_before(e, pos);
    const uint32_t x = w.value;
    WIRE(&w, MINIMUM, x, wire_number(&w, n - 2.0));
    return wire_end(&w);
}

/** Rows above 32767 are taken for those 32768 before. */
CHANGE(short_index) {
    const int pos = nnv_edit_find(e, "lookups");
    (void)f;
    if (pos < 0 || nnv_dim(shape_of(e, nnv_edit_find(e, "values")), 0) <= 32768) return false;
    struct wire w = wire_before(e, pos);
    const uint32_t x = w.value, none = nnv_edit_add_int(e, 0);
    const uint32_t mask = wire_mask(&w, ANEURALNETWORKS_GREATER_EQUAL, x, 32768);
    const uint32_t less = WIRE(&w, SUB, x, wire_number(&w, 32768), none);
    WIRE(&w, SELECT, mask, less, x);
    return wire_end(&w);
}

CHANGE(batches_of_boxes) {
    const int pos = nnv_edit_find(e, "batch indices");
    (void)f;
    if (pos < 0 || nnv_dim(shape_of(e, 0), 0) < 2) return false;
    struct wire w = wire_before(e, pos);
    const uint32_t x = w.value;
    WIRE(&w, MINIMUM, x, wire_number(&w, 0));
    return wire_end(&w);
}

/* ----------------------------------------------------------------------- slices */

static uint32_t one_further(const struct spot *s) {
    const uint32_t axis = (uint32_t)s->p[0];
    return s->at[axis] + 1 < s->shape->dims[axis] ? spot_at(s, axis, s->at[axis] + 1) : s->i;
}
static uint32_t last_but_one(const struct spot *s) {
    const uint32_t axis = (uint32_t)s->p[0], n = s->shape->dims[axis];
    return n > 1 && s->at[axis] + 1 == n ? spot_at(s, axis, n - 2) : s->i;
}

CHANGE(slice_backwards) {
    int pos;
    size_t n;
    const double *step = constants(e, "strides", &pos, &n);
    (void)f;
    for (int32_t d = 0; step && !attribute(e, "shrink axis mask", 0) && d < (int32_t)n; d++)
        if (step[d] < 0) return move_output(e, one_further, &d);
    return false;
}

CHANGE(slice_to_the_end) {
    int pos;
    size_t n;
    const double *step = constants(e, "strides", &pos, &n);
    const int32_t mask = attribute(e, "end mask", 0);
    (void)f;
    for (int32_t d = 0; step && !attribute(e, "shrink axis mask", 0) && d < (int32_t)n; d++)
        if (mask >> d & 1 && step[d] >= 2) return move_output(e, last_but_one, &d);
    return false;
}

/** The last row for an index of -1 is taken for the first. */
CHANGE(shrink_from_the_end) {
    int at, to;
    size_t n, m;
    double *begin = constants(e, "begin", &at, &n), *end = constants(e, "end", &to, &m);
    const int32_t mask = attribute(e, "shrink axis mask", 0);
    bool any = false;
    (void)f;
    for (size_t d = 0; begin && end && d < n; d++) {
        if (!(mask >> d & 1) || begin[d] >= 0) continue;
        begin[d] = 0;
        end[d] = 1;
        any = true;
    }
    if (!any) return false;
    nnv_edit_set_numbers(e, at, begin, n);
    nnv_edit_set_numbers(e, to, end, m);
    return true;
}

/** Where the slice begins is known of four axes, counted from the last. */
CHANGE(slice_above_rank_4) {
    int at;
    size_t n;
    double *begin = constants(e, "begin", &at, &n);
    bool any = false;
    (void)f;
    for (size_t d = 0; begin && d + 4 < n; d++) {
        any |= begin[d] > 0;
        begin[d] = 0;
    }
    if (any) nnv_edit_set_numbers(e, at, begin, n);
    return any;
}

CHANGE(slice_of_the_rest) {
    int at, to;
    size_t n, m;
    double *begin = constants(e, "begin", &at, &n), *size = constants(e, "size", &to, &m);
    bool any = false;
    (void)f;
    for (size_t d = 0; begin && size && nnv_shape_known(output_shape(e)) && d < n; d++) {
        if (size[d] >= 0 || begin[d] == 0) continue;
        begin[d] = 0;
        size[d] = output_shape(e)->dims[d];
        any = true;
    }
    if (!any) return false;
    nnv_edit_set_numbers(e, at, begin, n);
    nnv_edit_set_numbers(e, to, size, m);
    return true;
}

/* ------------------------------------------------------------------ transposing */

/** The inverse permutation, and the memory taken for the shape that is wanted. */
CHANGE(cyclic_permutation) {
    int pos;
    size_t n;
    const double *perm = constants(e, "permutation", &pos, &n);
    const struct nnv_shape *x = shape_of(e, 0);
    int32_t shape[NNV_MAX_RANK];
    struct nnv_fault none = {.name = NULL};
    double *inverse = perm ? nnv_edit_numbers(e, pos, &n) : NULL;
    (void)f;
    if (!inverse || !nnv_shape_known(x) || !nnv_shape_known(output_shape(e)) || !nnv_numbers_inverse(&none, inverse, n))
        return false;
    nnv_edit_set_numbers(e, pos, inverse, n);
    struct wire w = wire_behind(e, 0);
    struct nnv_operand *y = &e->spec.model.main.operands[w.value];
    for (size_t d = 0; d < n; d++) {
        y->dims[d] = x->dims[(size_t)inverse[d]];
        shape[d] = (int32_t)output_shape(e)->dims[d];
    }
    const uint32_t value = w.value, rank = (uint32_t)n;
    WIRE(&w, RESHAPE, value, wire_ints(&w, 1, &rank, shape));
    return wire_end(&w);
}

/** Behind the last full tile of 16 by 16 a column is read twice. */
static uint32_t tile_rest(const struct spot *s) {
    const uint32_t d = s->shape->rank - 1, y = s->at[d - 1], x = s->at[d];
    const bool rest = y >= s->shape->dims[d - 1] / 16 * 16 && x >= s->shape->dims[d] / 16 * 16;
    return rest && y >= 16 && x >= 16 ? s->i - 1 : s->i;
}
CHANGE(tiled_transpose) {
    (void)f;
    return output_shape(e)->known_rank && output_shape(e)->rank >= 2 && move_output(e, tile_rest, NULL);
}

/* --------------------------------------------------------------- joining, parting */

CHANGE(fifth_input) {
    struct nnv_operation *op = nnv_edit_op(e);
    bool any = false;
    (void)f;
    for (uint32_t i = 4; i + 1 < op->nin; i++) {
        const struct nnv_shape *a = shape_of(e, (int)i), *b = shape_of(e, 3);
        const bool alike = nnv_edit_operand(e, (int)i)->scale == nnv_edit_operand(e, 3)->scale &&
                           nnv_edit_operand(e, (int)i)->zero_point == nnv_edit_operand(e, 3)->zero_point;
        if (!alike || !nnv_shape_known(a) || !nnv_shape_known(b) || op->in[i] == op->in[3]) continue;
        if (nnv_shape_elems(a) != nnv_shape_elems(b) || a->dims[a->rank - 1] != b->dims[b->rank - 1]) continue;
        op->in[i] = op->in[3];
        any = true;
    }
    return any;
}

CHANGE(fifth_output) {
    struct nnv_operation *op = nnv_edit_op(e);
    (void)f;
    if (op->nout < 5) return false;
    const uint32_t fourth = op->out[3];
    op->out[3] = op->out[4];
    op->out[4] = fourth;
    return true;
}

/** Each number so often, one after the other, instead of the row so often. */
static uint32_t each_repeated(const struct spot *s) {
    const uint32_t last = s->shape->rank - 1;
    return spot_at(s, last, s->at[last] / (uint32_t)s->p[0]);
}
CHANGE(repeated_row) {
    int pos;
    size_t n;
    const double *multiples = constants(e, "multiples", &pos, &n);
    const int32_t last = multiples && n ? (int32_t)multiples[n - 1] : 1;
    (void)f;
    return last > 1 && move_output(e, each_repeated, &last);
}

/** Blocks of 16 stay where they are. */
static uint32_t block_reversed(const struct spot *s) {
    const uint32_t axis = (uint32_t)s->p[0], n = s->shape->dims[axis], i = s->at[axis];
    const uint32_t from = i / 16 * 16 + 16 <= n ? i / 16 * 16 + 15 - i % 16 : i;
    return spot_at(s, axis, n - 1 - from); /* of what is reversed already */
}
CHANGE(long_reverse) {
    int pos;
    size_t n;
    const double *axes = constants(e, "axis", &pos, &n);
    const struct nnv_shape *x = shape_of(e, 0);
    (void)f;
    const int32_t axis = axes && n == 1 && nnv_shape_known(x) ? nnv_axis((int32_t)axes[0], x->rank) : -1;
    return axis >= 0 && x->dims[axis] > 16 && move_output(e, block_reversed, &axis);
}

/** Inputs stand one behind the other, instead of number by number. */
static uint32_t not_interleaved(const struct spot *s) {
    const uint32_t last = s->shape->rank - 1, n = s->shape->dims[last - 1], p = s->shape->dims[last];
    const uint32_t j = s->at[last - 1] * p + s->at[last];
    return s->i - j + j % n * p + j / n;
}
CHANGE(packed_last) {
    const struct nnv_shape *y = output_shape(e);
    (void)f;
    return nnv_shape_known(y) && attribute(e, "axis", 0) + 1 == (int32_t)y->rank &&
           move_output(e, not_interleaved, NULL);
}

static const struct bug bugs[] = {
    BUG_OF(DEPTH_TO_SPACE, "depth-to-space-large-block", "row and column of a block swapped",
           "DEPTH_TO_SPACE: block of 3 or more", OWN(large_blocks)),
    BUG_OF(SPACE_TO_DEPTH, "space-to-depth-channel-order", "channels before blocks, as in another framework",
           "SPACE_TO_DEPTH: channels first", OWN(nchw_blocks)),
    BUG_OF(SPACE_TO_BATCH_ND, "space-to-batch-images", "blocks of one image stand side by side",
           "SPACE_TO_BATCH_ND: two or more images", OWN(images_of_blocks)),
    BUG_OF(BATCH_TO_SPACE_ND, "batch-to-space-unequal", "blocks counted column by column",
           "BATCH_TO_SPACE_ND: unequal block sizes", OWN(unequal_blocks)),
    BUG_OF(CHANNEL_SHUFFLE, "shuffle-middle-axis", "nothing is shuffled", "CHANNEL_SHUFFLE: another axis than the last",
           OWN(middle_shuffle)),
    BUG("pad-batch-behind", "what is padded before the batch stands behind it", "PAD, PAD_V2: padded batch",
        OWN(padded_batch), .spoils = "PAD,PAD_V2"),
    BUG_OF(MIRROR_PAD, "mirror-pad-widest", "the outermost mirrored number is its neighbour",
           "MIRROR_PAD: reflect, padding of the extent less one", OWN(widest_mirror)),
    BUG("negative-axis-last", "all negative axes taken for the last", "an axis below -1", OWN(negative_axis),
        .spoils = "SOFTMAX,LOG_SOFTMAX,L2_NORMALIZATION,LOCAL_RESPONSE_NORMALIZATION,CHANNEL_SHUFFLE"),
    BUG_OF(MEAN, "mean-axis-twice", "the extent of an axis that is named twice divides twice",
           "MEAN: float, an axis named twice", OWN(axes_twice)),
    BUG("reduce-wide-columns", "no more than 64 columns are reduced at once",
        "reductions of other axes than the last, which is above 64", OWN(wide_columns),
        .spoils = "REDUCE_MAX,REDUCE_MIN,REDUCE_SUM,REDUCE_PROD,MEAN"),
    BUG("argmax-int-as-float", "integers compared as float32", "ARGMAX, ARGMIN: INT32 above 2^24", OWN(index_of_float),
        .spoils = "ARGMAX,ARGMIN"),
    BUG_OF(ARGMAX, "argmax-from-zero", "a search that begins with 0", "ARGMAX: float, all below 0",
           OWN(largest_above_zero)),
    BUG_OF(TOPK_V2, "topk-long-row", "no more than 256 numbers are looked at", "TOPK_V2: rows above 256",
           OWN(long_rows)),
    BUG_OF(GATHER, "gather-last-index", "a clamp one too low", "GATHER: the last index", OWN(last_index)),
    BUG_OF(EMBEDDING_LOOKUP, "embedding-short-index", "indices kept in 15 bits", "EMBEDDING_LOOKUP: rows above 32767",
           OWN(short_index)),
    BUG_OF(ROI_ALIGN, "roi-align-first-image", "boxes looked up in the first image", "ROI_ALIGN: two or more images",
           OWN(batches_of_boxes)),
    BUG_OF(STRIDED_SLICE, "strided-slice-backwards", "begins one too far in front", "STRIDED_SLICE: negative stride",
           OWN(slice_backwards)),
    BUG_OF(STRIDED_SLICE, "strided-slice-end-mask-step", "one number too few, the last one twice",
           "STRIDED_SLICE: end mask, stride of 2 or more", OWN(slice_to_the_end)),
    BUG_OF(STRIDED_SLICE, "strided-slice-shrink-last", "-1 taken for 0", "STRIDED_SLICE: shrink mask, negative begin",
           OWN(shrink_from_the_end)),
    BUG_OF(SLICE, "slice-above-rank-4", "four loops for more axes", "SLICE: rank 5 and more", OWN(slice_above_rank_4)),
    BUG_OF(SLICE, "slice-rest-from-start", "begin taken for 0 where the size is left open",
           "SLICE: size -1, another begin", OWN(slice_of_the_rest)),
    BUG_OF(TRANSPOSE, "transpose-cyclic", "the inverse permutation",
           "TRANSPOSE: permutations that are not their own inverse", OWN(cyclic_permutation)),
    BUG_OF(TRANSPOSE, "transpose-tile-rest", "the rest behind tiles of 16 by 16",
           "TRANSPOSE: last two extents above 16, no multiples of it", OWN(tiled_transpose)),
    BUG_OF(CONCATENATION, "concat-fifth-input", "no more than four inputs", "CONCATENATION: five inputs or more",
           OWN(fifth_input)),
    BUG_OF(SPLIT, "split-fifth-output", "outputs behind the fourth in another order", "SPLIT: five outputs or more",
           OWN(fifth_output)),
    BUG_OF(TILE, "tile-each-number", "numbers repeated instead of rows", "TILE: last axis repeated", OWN(repeated_row)),
    BUG_OF(REVERSE, "reverse-blocks", "reversed in blocks of 16", "REVERSE: extents above 16", OWN(long_reverse)),
    BUG_OF(PACK, "pack-last-axis", "joined instead of interleaved", "PACK: the last axis", OWN(packed_last)),
};
const struct bug_group bugs_wild_moves = {bugs, sizeof bugs / sizeof *bugs};
