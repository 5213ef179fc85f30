/* SPDX-License-Identifier: Apache-2.0 */
/** @file sizes.c Bugs of broadcasts and of sizes: lengths, thresholds, and what is left over behind blocks. */
#include "rewire.h"

/* ----------------------------------------------------------------- broadcasting */

static uint32_t first_head(const struct spot *s) { return spot_at(s, 1, 0); }
CHANGE(inner_batch) {
    (void)f;
    return shape_of(e, 1)->known_rank && shape_of(e, 1)->rank == 4 && move_input(e, 1, first_head, NULL);
}

/** The second operand's extents, right-aligned, and where an element of the result finds its own. */
static bool second_of(const struct spot *s, uint32_t dims[NNV_MAX_RANK]) {
    const struct nnv_shape *b = &s->e->call->in[1].shape;
    if (b->rank > s->shape->rank) return false;
    for (uint32_t d = 0; d < s->shape->rank; d++)
        dims[d] = d + b->rank < s->shape->rank ? 1 : b->dims[d + b->rank - s->shape->rank];
    return true;
}
static uint32_t flat(const uint32_t *dims, const uint32_t *at, uint32_t rank) {
    uint32_t i = 0;
    for (uint32_t d = 0; d < rank; d++) i = i * dims[d] + (dims[d] > 1 ? at[d] % dims[d] : 0);
    return i;
}
/** The axis behind a broadcast one takes that one's coordinate. */
static uint32_t axis_before(const struct spot *s) {
    uint32_t dims[NNV_MAX_RANK], at[NNV_MAX_RANK] = {0};
    if (!second_of(s, dims)) return 0;
    for (uint32_t d = 0; d < s->shape->rank; d++)
        at[d] = d > 1 && dims[d - 1] == 1 && s->shape->dims[d - 1] > 1 ? s->at[d - 1] : s->at[d];
    return flat(dims, at, s->shape->rank);
}
/** Elements one after the other, from the front again where there are no more. */
static uint32_t around(const struct spot *s) { return s->i % (uint32_t)nnv_shape_elems(&s->e->call->in[1].shape); }

/** Both operands are known, the second is smaller than the result. */
static bool is_broadcast(struct nnv_edit *e) {
    return nnv_shape_known(shape_of(e, 0)) && nnv_shape_known(shape_of(e, 1)) && nnv_shape_known(output_shape(e)) &&
           shape_of(e, 1)->rank > 0 && nnv_shape_elems(shape_of(e, 1)) < nnv_shape_elems(output_shape(e));
}

CHANGE(middle_broadcast) {
    (void)f;
    if (!is_broadcast(e)) return false;
    const struct nnv_shape *b = shape_of(e, 1);
    bool middle = false;
    for (uint32_t d = 1; d + 1 < b->rank; d++) middle |= b->dims[d] == 1 && b->dims[d + 1] > 1 && b->dims[d - 1] > 1;
    return middle && expand_input(e, 1, output_shape(e), axis_before, NULL);
}

/** Loops over axes are made one where the step of the second operand is 0 along the inner one. */
static uint32_t loops_as_one(const struct spot *s) {
    uint32_t dims[NNV_MAX_RANK], at[NNV_MAX_RANK] = {0};
    if (!second_of(s, dims)) return 0;
    for (uint32_t d = 0; d < s->shape->rank; d++)
        at[d] = d > 0 && d + 1 < s->shape->rank && dims[d + 1] == 1 && s->shape->dims[d + 1] > 1 ? 0 : s->at[d];
    return flat(dims, at, s->shape->rank);
}
CHANGE(broadcast_channel) {
    (void)f;
    if (!is_broadcast(e) || output_shape(e)->rank < 3) return false;
    const struct nnv_shape *b = shape_of(e, 1), *y = output_shape(e);
    const uint32_t behind = y->rank - b->rank;
    bool inner = false, outer = behind > 0;
    for (uint32_t d = 0; d + 1 < b->rank; d++) {
        inner |= outer && b->dims[d] > 1 && b->dims[d + 1] == 1 && y->dims[behind + d + 1] > 1;
        outer |= b->dims[d] == 1 && y->dims[behind + d] > 1;
    }
    return inner && expand_input(e, 1, y, loops_as_one, NULL);
}

CHANGE(broadcast_both) {
    (void)f;
    if (!is_broadcast(e) || nnv_shape_elems(shape_of(e, 0)) == nnv_shape_elems(output_shape(e))) return false;
    return expand_input(e, 1, output_shape(e), around, NULL);
}

/* ------------------------------------------------------------------------ sizes */

/** Elements behind the last four of a long result repeat those before. */
static uint32_t four_before(const struct spot *s) {
    const uint32_t n = (uint32_t)nnv_shape_elems(s->shape);
    return n > 1024 && s->i >= n / 4 * 4 ? s->i - 4 : s->i;
}
CHANGE(long_tail) { return (void)f, move_output(e, four_before, NULL); }

static uint32_t row_before(const struct spot *s) {
    const uint32_t n = s->shape->dims[0];
    return n > 1 && n % 2 && s->at[0] + 1 == n ? spot_at(s, 0, n - 2) : s->i;
}
CHANGE(odd_rows) { return (void)f, move_output(e, row_before, NULL); }

static uint32_t short_index(const struct spot *s) { return s->i & 0xffff; }
CHANGE(many_elements) { return (void)f, move_output(e, short_index, NULL); }

/** The left factor is 0 behind p[1] along axis p[0]. */
static uint32_t until(const struct spot *s) { return s->at[s->p[0]] < (uint32_t)s->p[1] ? s->i : (uint32_t)A_ZERO; }
CHANGE(deep_product) {
    const struct nnv_shape *x = shape_of(e, 0);
    (void)f;
    const int32_t p[] = {(int32_t)x->rank - (attribute(e, "transpose lhs", 0) ? 2 : 1), 1024};
    return x->known_rank && x->rank >= 2 && move_input(e, 0, until, p);
}

CHANGE(short_line) {
    const struct nnv_shape *x = shape_of(e, 0);
    const int32_t p[] = {(int32_t)x->rank - 1, 4096};
    (void)f;
    return x->known_rank && x->rank >= 1 && move_input(e, 0, until, p);
}

static uint32_t first_image(const struct spot *s) { return spot_at(s, 0, 0); }
CHANGE(cell_of_first) { return (void)f, move_input(e, nnv_edit_find(e, "cell state"), first_image, NULL); }
CHANGE(state_of_first) { return (void)f, move_input(e, nnv_edit_find(e, "hidden state"), first_image, NULL); }

CHANGE(square_sequence) {
    const struct nnv_shape *x = shape_of(e, 0);
    (void)f;
    return nnv_shape_known(x) && x->dims[0] == x->dims[1] && x->dims[0] > 1 && attribute(e, "time major", 0) &&
           set_attribute(e, "time major", 0);
}

CHANGE(always_tanh) {
    enum { TANH_CODE = 4 };
    (void)f;
    return attribute(e, "activation", TANH_CODE) == 0 && set_attribute(e, "activation", TANH_CODE);
}

/** A window of the state is moved by the batch instead of by one. */
static uint32_t state_of_batch(const struct spot *s) { return s->at[0] > 0 ? spot_at(s, 0, s->at[0] - 1) : s->i; }
CHANGE(svdf_batch) { return (void)f, move_input(e, nnv_edit_find(e, "state"), state_of_batch, NULL); }

#define BINARY "ADD,SUB,MUL,DIV,MAXIMUM,MINIMUM"

static const struct bug bugs[] = {
    BUG_OF(BATCH_MATMUL, "matmul-inner-batch", "the second factor of the first head for all heads",
           "BATCH_MATMUL: rank 4", OWN(inner_batch)),
    BUG("broadcast-middle-axis", "the stride behind an axis that is broadcast",
        "second operand with an extent of 1 between larger ones", OWN(middle_broadcast), .spoils = BINARY),
    BUG("broadcast-channel", "loops made one although an operand stands still in the inner one alone",
        "second operand of one number for each channel, channels behind the batch", OWN(broadcast_channel),
        .spoils = BINARY),
    BUG("broadcast-both-ways", "the second operand from the front again",
        "both operands are broadcast, along other axes", OWN(broadcast_both), .spoils = BINARY),
    BUG("long-result-tail", "the rest behind blocks of four repeats the block",
        "results above 1024 elements, no multiple of 4", OWN(long_tail), .spoils = BINARY),
    BUG_OF(FULLY_CONNECTED, "dense-odd-rows", "rows in pairs: the last one is its neighbour's",
           "FULLY_CONNECTED: three rows or another odd number", OWN(odd_rows)),
    BUG("element-index-short", "the number of an element kept in 16 bits", "results above 65536 elements",
        OWN(many_elements), .spoils = "RELU,RELU6,LOGISTIC,TANH,ADD,MUL"),
    BUG("matmul-deep", "no more than 1024 products are summed",
        "BATCH_MATMUL, FULLY_CONNECTED: more than 1024 products", OWN(deep_product),
        .spoils = "BATCH_MATMUL,FULLY_CONNECTED"),
    BUG("line-short", "no more than 4096 numbers are summed",
        "MEAN, REDUCE_SUM, L2_NORMALIZATION: more than 4096 along the last axis", OWN(short_line),
        .spoils = "MEAN,REDUCE_SUM,L2_NORMALIZATION"),
    BUG("lstm-first-cell", "the cell state of the first sequence for all", "LSTMs of two or more sequences",
        OWN(cell_of_first), .spoils = "LSTM,UNIDIRECTIONAL_SEQUENCE_LSTM"),
    BUG("lstm-always-tanh", "a cell without activation has one", "LSTMs without activation", OWN(always_tanh),
        .spoils = "LSTM,UNIDIRECTIONAL_SEQUENCE_LSTM"),
    BUG("rnn-first-state", "the state of the first sequence for all", "RNNs of two or more sequences",
        OWN(state_of_first), .spoils = "RNN,UNIDIRECTIONAL_SEQUENCE_RNN"),
    BUG_OF(UNIDIRECTIONAL_SEQUENCE_RNN, "rnn-square-sequence", "time taken for the batch",
           "UNIDIRECTIONAL_SEQUENCE_RNN: time major, as many steps as sequences", OWN(square_sequence)),
    BUG_OF(SVDF, "svdf-batch-state", "the state of the sequence before", "SVDF: two or more sequences",
           OWN(svdf_batch)),
};
const struct bug_group bugs_wild_sizes = {bugs, sizeof bugs / sizeof *bugs};
