/* SPDX-License-Identifier: Apache-2.0 */
/** @file edge.c Relations that put operations between a value and one of its readers, and change nothing by it.
 */
#include <string.h>

#include "randgraph/relate/relate.h"

/* A value of known shape on its way to input `position` of operation `reader`. */
struct edge {
    uint32_t reader, position, value, rank;
    const uint32_t *dims;
    size_t elems;
};

static bool pick_edge(struct nnv_related *r, size_t least, struct edge *e) {
    if (!nnv_relate_edge(r, least, &e->reader, &e->position)) return false;
    e->value = r->from->model.main.operations[e->reader].in[e->position];
    e->rank = r->shapes[e->value].rank;
    e->dims = r->shapes[e->value].dims;
    e->elems = nnv_shape_elems(&r->shapes[e->value]);
    return true;
}

/* The reader, which stands `inserted` operations further behind now, reads `value` instead. */
static void reread(struct nnv_related *r, const struct edge *e, uint32_t inserted, uint32_t value) {
    r->to->model.main.operations[e->reader + inserted].in[e->position] = value;
}

/* The value as it was, from `between` by an operation with these further inputs. */
static void bring_back(struct nnv_related *r, const struct edge *e, int32_t code, uint32_t between, uint32_t nmore,
                       const uint32_t *more) {
    const uint32_t back = nnv_relate_tensor(r, e->value, e->rank, e->dims);
    uint32_t in[3] = {between};
    memcpy(in + 1, more, nmore * sizeof *more);
    nnv_relate_insert(r, e->reader + 1, code, 1 + nmore, in, 1, &back);
    reread(r, e, 2, back);
}

bool nnv_relate_transposed(struct nnv_related *r) {
    struct edge e;
    uint32_t dims[4] = {0};
    int32_t there[4] = {0}, back[4] = {0};
    if (!pick_edge(r, 2, &e) || e.rank < 2 || e.rank > 4) return false;
    for (uint32_t i = 0; i < e.rank; i++) {
        const uint32_t at = (uint32_t)nnv_rng_int(&r->rng, 0, i);
        there[i] = there[at];
        there[at] = (int32_t)i;
    }
    bool moves = false;
    for (uint32_t i = 0; i < e.rank; i++) {
        dims[i] = e.dims[there[i]];
        back[there[i]] = (int32_t)i;
        moves = moves || there[i] != (int32_t)i;
    }
    if (!moves) return false;
    const uint32_t between = nnv_relate_tensor(r, e.value, e.rank, dims);
    const uint32_t in[] = {e.value, nnv_relate_ints(r, 1, &e.rank, there)};
    nnv_relate_insert(r, e.reader, ANEURALNETWORKS_TRANSPOSE, 2, in, 1, &between);
    const uint32_t perm = nnv_relate_ints(r, 1, &e.rank, back);
    bring_back(r, &e, ANEURALNETWORKS_TRANSPOSE, between, 1, &perm);
    return true;
}

bool nnv_relate_reshaped(struct nnv_related *r) {
    struct edge e;
    int32_t shape[NNV_MAX_RANK];
    if (!pick_edge(r, 1, &e) || e.rank > 4) return false;
    const uint32_t flat[] = {1, (uint32_t)e.elems}, rank = e.rank == 1 ? 2 : 1;
    const int32_t flat_shape[] = {1, -1};
    const uint32_t between = nnv_relate_tensor(r, e.value, rank, flat + 2 - rank);
    const uint32_t in[] = {e.value, nnv_relate_ints(r, 1, &rank, flat_shape + 2 - rank)};
    nnv_relate_insert(r, e.reader, ANEURALNETWORKS_RESHAPE, 2, in, 1, &between);
    for (uint32_t i = 0; i < e.rank; i++) shape[i] = (int32_t)e.dims[i];
    const uint32_t old = nnv_relate_ints(r, 1, &e.rank, shape);
    bring_back(r, &e, ANEURALNETWORKS_RESHAPE, between, 1, &old);
    return true;
}

bool nnv_relate_split(struct nnv_related *r) {
    enum { PARTS = 4 };
    struct edge e;
    uint32_t dims[4], parts[PARTS + 1], axis, count;
    if (!pick_edge(r, 2, &e) || e.rank > 4) return false;
    axis = (uint32_t)nnv_rng_int(&r->rng, 0, (int64_t)e.rank - 1);
    for (count = PARTS; count > 1 && e.dims[axis] % count; count--) continue;
    if (count < 2) return false;
    memcpy(dims, e.dims, e.rank * sizeof *dims);
    dims[axis] /= count;
    for (uint32_t i = 0; i < count; i++) parts[i] = nnv_relate_tensor(r, e.value, e.rank, dims);
    const uint32_t along = nnv_relate_int(r, (int32_t)axis), in[] = {e.value, along, nnv_relate_int(r, (int32_t)count)};
    nnv_relate_insert(r, e.reader, ANEURALNETWORKS_SPLIT, 3, in, count, parts);
    const uint32_t joined = nnv_relate_tensor(r, e.value, e.rank, e.dims);
    parts[count] = along;
    nnv_relate_insert(r, e.reader + 1, ANEURALNETWORKS_CONCATENATION, count + 1, parts, 1, &joined);
    reread(r, &e, 2, joined);
    return true;
}

bool nnv_relate_padded(struct nnv_related *r) {
    struct edge e;
    uint32_t dims[4];
    int32_t pads[8], begin[4], size[4];
    if (!pick_edge(r, 1, &e) || e.rank > 4) return false;
    for (uint32_t i = 0; i < e.rank; i++) {
        pads[2 * i] = (int32_t)nnv_rng_int(&r->rng, i == 0, 2);
        pads[2 * i + 1] = (int32_t)nnv_rng_int(&r->rng, 0, 2);
        begin[i] = pads[2 * i];
        size[i] = (int32_t)e.dims[i];
        dims[i] = e.dims[i] + (uint32_t)(pads[2 * i] + pads[2 * i + 1]);
    }
    const uint32_t between = nnv_relate_tensor(r, e.value, e.rank, dims), table[] = {e.rank, 2};
    const uint32_t in[] = {e.value, nnv_relate_ints(r, 2, table, pads)};
    nnv_relate_insert(r, e.reader, ANEURALNETWORKS_PAD, 2, in, 1, &between);
    const uint32_t first = nnv_relate_ints(r, 1, &e.rank, begin);
    const uint32_t cut[] = {first, nnv_relate_ints(r, 1, &e.rank, size)};
    bring_back(r, &e, ANEURALNETWORKS_SLICE, between, 2, cut);
    return true;
}

bool nnv_relate_times_one(struct nnv_related *r) {
    static const uint32_t one_extent[] = {1};
    static const float one = 1;
    static const uint16_t half_one = 0x3c00;
    struct edge e;
    if (!pick_edge(r, 1, &e)) return false;
    const int32_t type = r->to->model.main.operands[e.value].type;
    if (!nnv_is_float(type) || e.rank > 4) return false;
    struct nnv_operand factor = {.type = type, .rank = 1, .lifetime = NNV_CONSTANT_COPY, .bytes = nnv_type(type)->size};
    factor.dims = nnv_arena_copy(r->arena, one_extent, sizeof one_extent);
    factor.data = nnv_arena_copy(r->arena, factor.bytes == 2 ? (const void *)&half_one : &one, factor.bytes);
    if (!factor.dims || !factor.data) return false;
    const uint32_t by = nnv_relate_operand(r, factor);
    const uint32_t in[] = {e.value, by, nnv_relate_int(r, ANEURALNETWORKS_FUSED_NONE)};
    const uint32_t product = nnv_relate_tensor(r, e.value, e.rank, e.dims);
    nnv_relate_insert(r, e.reader, ANEURALNETWORKS_MUL, 3, in, 1, &product);
    reread(r, &e, 1, product);
    return true;
}

/* ------------------------------------------------------------------ broadcast */

static bool broadcasts(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_SUB:
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_DIV:
    case ANEURALNETWORKS_MAXIMUM:
    case ANEURALNETWORKS_MINIMUM:
    case ANEURALNETWORKS_POW:
    case ANEURALNETWORKS_EQUAL:
    case ANEURALNETWORKS_NOT_EQUAL:
    case ANEURALNETWORKS_LESS:
    case ANEURALNETWORKS_LESS_EQUAL:
    case ANEURALNETWORKS_GREATER:
    case ANEURALNETWORKS_GREATER_EQUAL:
        return true;
    }
    return false;
}

/* Writes operand `small` repeated to the extents `full` (of known shapes) in front of operation at; the number of
 * operations inserted. */
static uint32_t repeat(struct nnv_related *r, uint32_t at, uint32_t small, const struct nnv_shape *full,
                       uint32_t *repeated) {
    const struct nnv_shape *s = &r->shapes[small];
    uint32_t dims[NNV_MAX_RANK], from = small, inserted = 0;
    int32_t times[NNV_MAX_RANK], shape[NNV_MAX_RANK];
    for (uint32_t i = 0; i < full->rank; i++) {
        dims[i] = i + s->rank < full->rank ? 1 : s->dims[i + s->rank - full->rank];
        shape[i] = (int32_t)dims[i];
        times[i] = dims[i] == full->dims[i] ? 1 : (int32_t)full->dims[i];
    }
    if (s->rank < full->rank) {
        const uint32_t in[] = {small, nnv_relate_ints(r, 1, &full->rank, shape)};
        from = nnv_relate_tensor(r, small, full->rank, dims);
        nnv_relate_insert(r, at + inserted++, ANEURALNETWORKS_RESHAPE, 2, in, 1, &from);
    }
    const uint32_t in[] = {from, nnv_relate_ints(r, 1, &full->rank, times)};
    *repeated = nnv_relate_tensor(r, small, full->rank, full->dims);
    nnv_relate_insert(r, at + inserted++, ANEURALNETWORKS_TILE, 2, in, 1, repeated);
    return inserted;
}

static bool same_shape(const struct nnv_shape *a, const struct nnv_shape *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool nnv_relate_tiled(struct nnv_related *r) {
    const struct nnv_subgraph *m = &r->from->model.main;
    uint32_t pick = 0, side = 0;
    int64_t found = 0;
    struct nnv_shape full = {0};
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_operation *op = &m->operations[i];
        if (!broadcasts(op->type)) continue;
        const struct nnv_shape *a = &r->shapes[op->in[0]], *b = &r->shapes[op->in[1]];
        struct nnv_shape both;
        struct nnv_err why = {0};
        if (!nnv_shape_known(a) || !nnv_shape_known(b) || nnv_shape_broadcast(a, b, &both, &why) != NNV_OK) continue;
        for (uint32_t k = 0; k < 2; k++) {
            if (same_shape(k ? b : a, &both) || nnv_rng_int(&r->rng, 0, found++) != 0) continue;
            pick = i;
            side = k;
            full = both;
        }
    }
    if (!found || full.rank > 4 || nnv_shape_elems(&full) == 0) return false;
    uint32_t repeated = 0;
    const uint32_t inserted = repeat(r, pick, m->operations[pick].in[side], &full, &repeated);
    r->to->model.main.operations[pick + inserted].in[side] = repeated;
    return true;
}

/* -------------------------------------------------------------------- padding */

/* Explicit padding begins at input 3 of a convolution; rest is the first input behind it. */
static bool is_explicit(const struct nnv_related *r, const struct nnv_operation *op, uint32_t *rest) {
    const struct nnv_operand *operands = r->from->model.main.operands;
    const bool depthwise = op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
    if (op->type != ANEURALNETWORKS_CONV_2D && !depthwise) return false;
    /* The shorter form with a layout has a BOOL there. */
    const uint32_t least = depthwise ? 11 : 10, layout = depthwise ? 8 : 7;
    *rest = 7;
    return op->nin >= least && operands[op->in[layout]].type == ANEURALNETWORKS_INT32;
}

bool nnv_relate_pad_apart(struct nnv_related *r) {
    const struct nnv_subgraph *m = &r->from->model.main;
    uint32_t at = 0, rest = 0, in[16];
    while (at < m->noperations && !is_explicit(r, &m->operations[at], &rest)) at++;
    if (at == m->noperations) return false;
    const struct nnv_operation *op = &m->operations[at];
    const struct nnv_shape *s = &r->shapes[op->in[0]];
    const uint32_t layout = op->type == ANEURALNETWORKS_CONV_2D ? 10 : 11;
    const bool nchw = nnv_relate_constant(r, op, layout, 0) != 0;
    const uint32_t h = nchw ? 2 : 1, w = h + 1;
    int32_t pads[8] = {0};
    bool any = false;
    if (!nnv_shape_known(s) || s->rank != 4) return false;
    for (uint32_t i = 0; i < 4; i++) { /* left, right, top, bottom */
        const int32_t pad = nnv_relate_constant(r, op, 3 + i, -1);
        if (pad < 0) return false;
        pads[2 * (i < 2 ? w : h) + i % 2] = pad;
        any = any || pad > 0;
    }
    uint32_t dims[4], n = 0;
    const uint32_t table[] = {4, 2};
    for (uint32_t i = 0; i < 4; i++) dims[i] = s->dims[i] + (uint32_t)(pads[2 * i] + pads[2 * i + 1]);
    const uint32_t padded = nnv_relate_tensor(r, op->in[0], 4, dims);
    const uint32_t pad_in[] = {op->in[0], nnv_relate_ints(r, 2, table, pads)};
    in[n++] = padded;
    in[n++] = op->in[1];
    in[n++] = op->in[2];
    in[n++] = nnv_relate_int(r, ANEURALNETWORKS_PADDING_VALID);
    while (rest < op->nin && n < 16) in[n++] = op->in[rest++];
    struct nnv_operation *changed = &r->to->model.main.operations[at];
    changed->in = nnv_arena_copy(r->arena, in, n * sizeof *in);
    changed->nin = n;
    if (!changed->in) return false;
    nnv_relate_insert(r, at, ANEURALNETWORKS_PAD, 2, pad_in, 1, &padded);
    return any;
}
