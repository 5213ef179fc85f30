/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file batch.c Relations of batches: a row along axis 0 gives the same result wherever it stands, and whatever
 * stands beside it.
 */
#include <string.h>

#include "randgraph/relate/relate.h"

/* How an operation treats axis 0. */
enum batching {
    NOT_BY_ROW,
    BY_ELEMENT,    /* all tensors alike, broadcast */
    BY_FIRST,      /* row by row of input 0; all else is the same for all rows */
    BY_FIRST_AXIS, /* as BY_FIRST, along an axis that is not 0 */
    BY_PARTS,      /* inputs are joined along an axis that is not 0 */
};

struct by_row {
    int32_t code;
    enum batching batching;
    int8_t axis; /* the input with the axis; -1: the last axis, or the last input (BY_PARTS) */
};

static const struct by_row table[] = {
    {ANEURALNETWORKS_ABS, BY_ELEMENT, 0},
    {ANEURALNETWORKS_ADD, BY_ELEMENT, 0},
    {ANEURALNETWORKS_CAST, BY_ELEMENT, 0},
    {ANEURALNETWORKS_DEQUANTIZE, BY_ELEMENT, 0},
    {ANEURALNETWORKS_DIV, BY_ELEMENT, 0},
    {ANEURALNETWORKS_ELU, BY_ELEMENT, 0},
    {ANEURALNETWORKS_EQUAL, BY_ELEMENT, 0},
    {ANEURALNETWORKS_EXP, BY_ELEMENT, 0},
    {ANEURALNETWORKS_FLOOR, BY_ELEMENT, 0},
    {ANEURALNETWORKS_GREATER, BY_ELEMENT, 0},
    {ANEURALNETWORKS_GREATER_EQUAL, BY_ELEMENT, 0},
    {ANEURALNETWORKS_HARD_SWISH, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LESS, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LESS_EQUAL, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LOG, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LOGICAL_AND, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LOGICAL_NOT, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LOGICAL_OR, BY_ELEMENT, 0},
    {ANEURALNETWORKS_LOGISTIC, BY_ELEMENT, 0},
    {ANEURALNETWORKS_MAXIMUM, BY_ELEMENT, 0},
    {ANEURALNETWORKS_MINIMUM, BY_ELEMENT, 0},
    {ANEURALNETWORKS_MUL, BY_ELEMENT, 0},
    {ANEURALNETWORKS_NEG, BY_ELEMENT, 0},
    {ANEURALNETWORKS_NOT_EQUAL, BY_ELEMENT, 0},
    {ANEURALNETWORKS_POW, BY_ELEMENT, 0},
    {ANEURALNETWORKS_PRELU, BY_ELEMENT, 0},
    {ANEURALNETWORKS_QUANTIZE, BY_ELEMENT, 0},
    {ANEURALNETWORKS_RELU, BY_ELEMENT, 0},
    {ANEURALNETWORKS_RELU1, BY_ELEMENT, 0},
    {ANEURALNETWORKS_RELU6, BY_ELEMENT, 0},
    {ANEURALNETWORKS_RSQRT, BY_ELEMENT, 0},
    {ANEURALNETWORKS_SELECT, BY_ELEMENT, 0},
    {ANEURALNETWORKS_SIN, BY_ELEMENT, 0},
    {ANEURALNETWORKS_SQRT, BY_ELEMENT, 0},
    {ANEURALNETWORKS_SUB, BY_ELEMENT, 0},
    {ANEURALNETWORKS_TANH, BY_ELEMENT, 0},
    {ANEURALNETWORKS_AVERAGE_POOL_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_CONV_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_DEPTHWISE_CONV_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_DEPTH_TO_SPACE, BY_FIRST, 0},
    {ANEURALNETWORKS_GROUPED_CONV_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_INSTANCE_NORMALIZATION, BY_FIRST, 0},
    {ANEURALNETWORKS_L2_POOL_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_MAX_POOL_2D, BY_FIRST, 0},
    {ANEURALNETWORKS_RESIZE_BILINEAR, BY_FIRST, 0},
    {ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR, BY_FIRST, 0},
    {ANEURALNETWORKS_SPACE_TO_DEPTH, BY_FIRST, 0},
    {ANEURALNETWORKS_CHANNEL_SHUFFLE, BY_FIRST_AXIS, 2},
    {ANEURALNETWORKS_FULLY_CONNECTED, BY_FIRST_AXIS, -1},
    {ANEURALNETWORKS_L2_NORMALIZATION, BY_FIRST_AXIS, 1},
    {ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, BY_FIRST_AXIS, 5},
    {ANEURALNETWORKS_LOG_SOFTMAX, BY_FIRST_AXIS, 2},
    {ANEURALNETWORKS_SOFTMAX, BY_FIRST_AXIS, 2},
    {ANEURALNETWORKS_CONCATENATION, BY_PARTS, -1},
};

static const struct by_row *find(int32_t code) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return &table[i];
    return NULL;
}

/* Rows with scales of their own can't change places. */
static bool first_extent(const struct nnv_related *r, uint32_t operand, uint32_t *rows) {
    const struct nnv_shape *s = &r->shapes[operand];
    if (!nnv_shape_known(s) || s->rank == 0 || r->from->model.main.operands[operand].channel.count) return false;
    *rows = s->dims[0];
    return true;
}

/* Operands that have the batch along axis 0. */
struct batch {
    bool *by_row;
    uint32_t rows; /* 0: none found yet */
};

/* Input p of an operation as the same for all rows: a constant that is not spread over them by broadcast. */
static bool is_shared(const struct nnv_related *r, const struct nnv_operation *op, uint32_t p, const struct batch *b,
                      bool broadcast, uint32_t rank) {
    const struct nnv_operand *o = &r->from->model.main.operands[op->in[p]];
    const struct nnv_shape *s = &r->shapes[op->in[p]];
    if (b->by_row[op->in[p]] || o->lifetime == NNV_SUBGRAPH) return false;
    if (!broadcast || !nnv_type(o->type)->tensor) return true;
    return nnv_shape_known(s) && (s->rank < rank || (s->rank == rank && s->dims[0] == 1));
}

static bool axis_is_inner(const struct nnv_related *r, const struct nnv_operation *op, const struct by_row *by) {
    const uint32_t rank = r->shapes[op->in[0]].rank;
    if (op->type == ANEURALNETWORKS_FULLY_CONNECTED) return rank == 2;
    /* Without an axis LOG_SOFTMAX and its like go along the last. */
    const uint32_t at = by->axis < 0 ? op->nin - 1 : (uint32_t)by->axis;
    const int axis = nnv_axis(nnv_relate_constant(r, op, at, -1), rank);
    return rank >= 2 && axis > 0;
}

/* The operation gives row i of its outputs from row i of its inputs; its outputs join the batch. */
static bool works_by_row(const struct nnv_related *r, const struct nnv_operation *op, struct batch *b) {
    const struct by_row *by = find(op->type);
    uint32_t rank = 0, readers = 0, rows;
    if (!by) return false;
    for (uint32_t p = 0; p < op->nin; p++) {
        if (!b->by_row[op->in[p]]) continue;
        readers++;
        if (by->batching != BY_ELEMENT && by->batching != BY_PARTS && p > 0) return false;
        if (rank && r->shapes[op->in[p]].rank != rank) return false;
        rank = r->shapes[op->in[p]].rank;
    }
    if (readers == 0 || (by->batching != BY_ELEMENT && !b->by_row[op->in[0]])) return false;
    if ((by->batching == BY_FIRST_AXIS || by->batching == BY_PARTS) && !axis_is_inner(r, op, by)) return false;
    for (uint32_t p = 0; p < op->nin; p++) {
        const bool scalar = !nnv_type(r->from->model.main.operands[op->in[p]].type)->tensor;
        if (b->by_row[op->in[p]] || (by->batching == BY_PARTS && scalar)) continue;
        if (by->batching == BY_PARTS || !is_shared(r, op, p, b, by->batching == BY_ELEMENT, rank)) return false;
    }
    for (uint32_t i = 0; i < op->nout; i++) {
        if (!first_extent(r, op->out[i], &rows) || rows != b->rows) return false;
        b->by_row[op->out[i]] = true;
    }
    return true;
}

/* All of the graph works row by row, and all its inputs and outputs are batches of two rows or more. */
static bool find_batch(struct nnv_related *r, struct batch *b) {
    const struct nnv_subgraph *m = &r->from->model.main;
    *b = (struct batch){.by_row = NNV_NEW(r->arena, bool, m->noperands)};
    if (!b->by_row) return false;
    for (uint32_t i = 0; i < m->nin; i++) {
        uint32_t rows;
        if (r->from->inputs[i].omitted || !first_extent(r, m->in[i], &rows)) return false;
        if (b->rows && rows != b->rows) return false;
        b->rows = rows;
        b->by_row[m->in[i]] = true;
    }
    if (b->rows < 2) return false;
    for (uint32_t i = 0; i < m->noperations; i++)
        if (!works_by_row(r, &m->operations[i], b)) return false;
    return true;
}

/* Row i of the other spec is row rows[i] of the first one's. */
static bool choose_rows(struct nnv_related *r, const struct batch *b, const uint32_t *rows, uint32_t nrows) {
    struct nnv_subgraph *m = &r->to->model.main;
    for (uint32_t i = 0; i < m->noperands; i++) {
        struct nnv_operand *o = &m->operands[i];
        if (b->by_row[i] && o->rank > 0 && o->dims[0] != 0) o->dims[0] = nrows;
    }
    for (uint32_t i = 0; i < m->nin; i++) {
        struct nnv_value *v = &r->to->inputs[i];
        const uint8_t *from = v->data;
        const size_t row = v->bytes / b->rows;
        v->bytes = row * nrows;
        v->dims[0] = nrows;
        if (!(v->data = nnv_arena_alloc(r->arena, v->bytes + 1, 1))) return false;
        for (uint32_t k = 0; k < nrows; k++) memcpy((uint8_t *)v->data + k * row, from + rows[k] * row, row);
    }
    r->rows = nnv_arena_copy(r->arena, rows, nrows * sizeof *rows);
    r->nrows = nrows;
    return r->rows != NULL;
}

bool nnv_relate_rows_permuted(struct nnv_related *r) {
    struct batch b;
    if (!find_batch(r, &b)) return false;
    uint32_t *rows = NNV_NEW(r->arena, uint32_t, b.rows);
    if (!rows) return false;
    const uint32_t turn = (uint32_t)nnv_rng_int(&r->rng, 1, (int64_t)b.rows - 1);
    for (uint32_t i = 0; i < b.rows; i++) rows[i] = (i + turn) % b.rows;
    return choose_rows(r, &b, rows, b.rows);
}

bool nnv_relate_rows_repeated(struct nnv_related *r) {
    enum { MOST = 64 };
    struct batch b;
    if (!find_batch(r, &b) || b.rows > MOST) return false;
    uint32_t rows[2 * MOST];
    for (uint32_t i = 0; i < 2 * b.rows; i++) rows[i] = i < b.rows ? i : 2 * b.rows - 1 - i;
    return choose_rows(r, &b, rows, 2 * b.rows);
}

bool nnv_relate_row_alone(struct nnv_related *r) {
    struct batch b;
    if (!find_batch(r, &b)) return false;
    const uint32_t row = (uint32_t)nnv_rng_int(&r->rng, 0, (int64_t)b.rows - 1);
    return choose_rows(r, &b, &row, 1);
}

/* ----------------------------------------------------------------------- halves */

/* Splits operand `value` into halves along axis 0 in front of operation at. */
static void split_halves(struct nnv_related *r, uint32_t at, uint32_t value, uint32_t half[2]) {
    uint32_t dims[NNV_MAX_RANK];
    const struct nnv_shape *s = &r->shapes[value];
    memcpy(dims, s->dims, s->rank * sizeof *dims);
    dims[0] /= 2;
    for (int i = 0; i < 2; i++) half[i] = nnv_relate_tensor(r, value, s->rank, dims);
    const uint32_t axis = nnv_relate_int(r, 0), in[] = {value, axis, nnv_relate_int(r, 2)};
    nnv_relate_insert(r, at, ANEURALNETWORKS_SPLIT, 3, in, 2, half);
}

static void join_halves(struct nnv_related *r, uint32_t at, const uint32_t half[2], uint32_t value) {
    const uint32_t in[] = {half[0], half[1], nnv_relate_int(r, 0)};
    nnv_relate_insert(r, at, ANEURALNETWORKS_CONCATENATION, 3, in, 1, &value);
}

/* An operation that works by row from what comes to it, whatever the others do: its inputs but constants are batches
 * of equal extent. */
static bool can_halve(struct nnv_related *r, const struct nnv_operation *op, struct batch *b) {
    const struct nnv_subgraph *m = &r->from->model.main;
    *b = (struct batch){.by_row = NNV_NEW(r->arena, bool, m->noperands)};
    if (!b->by_row || !find(op->type)) return false;
    for (uint32_t p = 0; p < op->nin; p++) {
        const struct nnv_operand *o = &m->operands[op->in[p]];
        uint32_t rows;
        if (nnv_is_constant(o) || !nnv_type(o->type)->tensor || o->lifetime == NNV_NO_VALUE) continue;
        if (!first_extent(r, op->in[p], &rows) || rows % 2 || rows == 0 || (b->rows && rows != b->rows)) return false;
        b->rows = rows;
        b->by_row[op->in[p]] = true;
    }
    return b->rows > 0 && op->nout == 1 && works_by_row(r, op, b);
}

bool nnv_relate_halves(struct nnv_related *r) {
    enum { MOST = 16 };
    const struct nnv_subgraph *m = &r->from->model.main;
    struct batch b;
    uint32_t at = 0, in[2][MOST], out[2], inserted = 0;
    while (at < m->noperations && !can_halve(r, &m->operations[at], &b)) at++;
    if (at == m->noperations || m->operations[at].nin > MOST) return false;
    const struct nnv_operation op = m->operations[at];
    for (uint32_t p = 0; p < op.nin; p++) {
        uint32_t half[2] = {op.in[p], op.in[p]};
        if (b.by_row[op.in[p]]) split_halves(r, at + inserted++, op.in[p], half);
        for (int i = 0; i < 2; i++) in[i][p] = half[i];
    }
    const struct nnv_shape *s = &r->shapes[op.out[0]];
    uint32_t dims[NNV_MAX_RANK];
    memcpy(dims, s->dims, s->rank * sizeof *dims);
    dims[0] /= 2;
    for (int i = 0; i < 2; i++) out[i] = nnv_relate_tensor(r, op.out[0], s->rank, dims);
    struct nnv_operation *first = &r->to->model.main.operations[at + inserted];
    memcpy(first->in, in[0], op.nin * sizeof *op.in);
    first->out[0] = out[0];
    nnv_relate_insert(r, at + inserted + 1, op.type, op.nin, in[1], 1, &out[1]);
    join_halves(r, at + inserted + 2, out, op.out[0]);
    return true;
}
