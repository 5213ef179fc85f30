/* SPDX-License-Identifier: Apache-2.0 */
/** @file rewire.c Operations put before or behind the one in hand. */
#include "rewire.h"

#include <string.h>

enum { MOST_ELEMENTS = 1 << 22 };

static struct nnv_subgraph *graph(struct nnv_edit *e) { return &e->spec.model.main; }

/** A temporary of the wire's type and shape. */
static uint32_t temporary(struct wire *w) {
    struct nnv_operand o = w->like;
    o.lifetime = NNV_TEMPORARY_VARIABLE;
    o.channel.count = 0;
    o.data = NULL;
    o.bytes = 0;
    o.rank = nnv_shape_known(&w->shape) ? w->shape.rank : 0;
    o.dims = w->shape.dims;
    return nnv_edit_add(w->e, o);
}

struct wire wire_before(struct nnv_edit *e, int pos) {
    return (struct wire){.e = e,
                         .pos = pos,
                         .next = e->at,
                         .value = nnv_edit_op(e)->in[pos],
                         .like = *nnv_edit_operand(e, pos),
                         .shape = e->call->in[pos].shape};
}

struct wire wire_behind(struct nnv_edit *e, uint32_t out) {
    const uint32_t result = nnv_edit_op(e)->out[out];
    struct wire w = {.e = e,
                     .pos = -1,
                     .next = e->at + 1,
                     .result = result,
                     .like = graph(e)->operands[result],
                     .shape = e->call->out[out].shape};
    w.value = temporary(&w);
    nnv_edit_op(e)->out[out] = w.value;
    return w;
}

bool wire_end(struct wire *w) {
    struct nnv_subgraph *s = graph(w->e);
    if (w->e->failed) return false;
    if (w->pos >= 0) {
        nnv_edit_op(w->e)->in[w->pos] = w->value;
        return w->steps > 0;
    }
    s->operations[w->next - 1].out[0] = w->result;
    s->operands[w->value].lifetime = NNV_NO_VALUE; /* nobody computes or reads it */
    return w->steps > 0;
}

uint32_t wire_op(struct wire *w, int32_t code, uint32_t n, const uint32_t *in) {
    struct nnv_edit *e = w->e;
    struct nnv_subgraph *s = graph(e);
    uint32_t *inputs = nnv_edit_copy(e, in, n, NNV_EDIT_ROOM, sizeof *inputs), *out = NNV_NEW(e->arena, uint32_t, 2);
    e->failed = e->failed || !out || s->noperations == e->operation_room;
    if (e->failed) return w->value;
    out[0] = temporary(w);
    memmove(&s->operations[w->next + 1], &s->operations[w->next], (s->noperations - w->next) * sizeof *s->operations);
    s->operations[w->next++] = (struct nnv_operation){.type = code, .nin = n, .nout = 1, .in = inputs, .out = out};
    s->noperations++;
    e->at += w->pos >= 0;
    w->steps++;
    return w->value = out[0];
}

void wire_type(struct wire *w, int32_t type) {
    w->like.type = type;
    w->like.scale = 0;
    w->like.zero_point = 0;
}

uint32_t wire_tensor(struct wire *w, uint32_t rank, const uint32_t *dims, const double *v) {
    struct nnv_edit *e = w->e;
    size_t n = 0, bytes = 0;
    if (!nnv_size_bytes(w->like.type, rank, dims, &n, &bytes)) e->failed = true;
    void *data = e->failed ? NULL : nnv_arena_alloc(e->arena, bytes + 1, 1);
    e->failed = e->failed || !data;
    if (e->failed) return 0;
    nnv_store(w->like.type, v, n, data);
    return nnv_edit_add(e, (struct nnv_operand){.type = w->like.type,
                                                .scale = w->like.scale,
                                                .zero_point = w->like.zero_point,
                                                .rank = rank,
                                                .dims = (uint32_t *)(uintptr_t)dims,
                                                .lifetime = NNV_CONSTANT_COPY,
                                                .data = data,
                                                .bytes = bytes});
}

uint32_t wire_number(struct wire *w, double v) { return wire_tensor(w, 1, (uint32_t[]){1}, &v); }

uint32_t wire_full(struct wire *w, double v) {
    const size_t n = nnv_shape_elems(&w->shape);
    double *all = n <= MOST_ELEMENTS ? NNV_NEW(w->e->arena, double, n + 1) : NULL;
    w->e->failed = w->e->failed || !all;
    for (size_t i = 0; all && i < n; i++) all[i] = v;
    return all ? wire_tensor(w, w->shape.rank, w->shape.dims, all) : 0;
}

uint32_t wire_ints(struct wire *w, uint32_t rank, const uint32_t *dims, const int32_t *v) {
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= dims[i];
    void *data = nnv_edit_copy(w->e, v, n, 1, sizeof *v);
    return nnv_edit_add(w->e, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_INT32,
                                                   .rank = rank,
                                                   .dims = (uint32_t *)(uintptr_t)dims,
                                                   .lifetime = NNV_CONSTANT_COPY,
                                                   .data = data,
                                                   .bytes = n * sizeof *v});
}

void wire_where(struct wire *w, uint32_t mask, double v) {
    const uint32_t value = w->value, all = wire_full(w, v);
    WIRE(w, SELECT, mask, all, value);
}

uint32_t wire_mask(struct wire *w, int32_t code, uint32_t x, double bound) {
    const uint32_t value = w->value, number = wire_number(w, bound);
    const struct nnv_operand like = w->like;
    wire_type(w, ANEURALNETWORKS_TENSOR_BOOL8);
    const uint32_t mask = wire_op(w, code, 2, (uint32_t[]){x, number});
    w->like = like;
    w->value = value;
    return mask;
}

/* ------------------------------------------------------------------- elements */

uint32_t spot_at(const struct spot *s, uint32_t axis, int64_t to) {
    uint64_t inner = 1;
    for (uint32_t d = axis + 1; d < s->shape->rank; d++) inner *= s->shape->dims[d];
    return (uint32_t)(s->i + (to - s->at[axis]) * (int64_t)inner);
}

/** The wire's value with its elements in other places; false: they are in theirs. */
static bool move(struct wire *w, const struct nnv_shape *to, place_fn place, const int32_t *p) {
    struct nnv_edit *e = w->e;
    const uint32_t from = nnv_shape_known(&w->shape) ? (uint32_t)nnv_shape_elems(&w->shape) : 0;
    const size_t n = nnv_shape_known(to) ? nnv_shape_elems(to) : 0;
    if (!from || !n || n > MOST_ELEMENTS || from > MOST_ELEMENTS || to->rank == 0 || e->failed) return false;
    int32_t *index = NNV_NEW(e->arena, int32_t, n);
    double *zero = NNV_NEW(e->arena, double, n);
    bool moved = from != n, blank = false;
    struct spot s = {.e = e, .shape = to, .p = p};
    for (; index && zero && s.i < n; s.i++) {
        const uint32_t at = place(&s);
        index[s.i] = at >= from ? 0 : (int32_t)at;
        zero[s.i] = at == (uint32_t)A_ZERO;
        moved |= at != s.i;
        blank |= at == (uint32_t)A_ZERO;
        for (uint32_t d = to->rank; d-- > 0 && ++s.at[d] == to->dims[d];) s.at[d] = 0;
    }
    if (!index || !zero || !moved) return false;
    const uint32_t extents[] = {1};
    const int32_t flat[] = {(int32_t)from};
    w->shape = nnv_shape_make(1, &from);
    WIRE(w, RESHAPE, w->value, wire_ints(w, 1, extents, flat));
    w->shape = *to;
    const uint32_t value = w->value, axis = nnv_edit_add_int(e, 0);
    WIRE(w, GATHER, value, axis, wire_ints(w, to->rank, to->dims, index));
    if (!blank) return true;
    const struct nnv_operand like = w->like;
    wire_type(w, ANEURALNETWORKS_TENSOR_BOOL8);
    const uint32_t mask = wire_tensor(w, to->rank, to->dims, zero);
    w->like = like;
    wire_where(w, mask, nnv_is_quant(like.type) ? like.zero_point : 0);
    return true;
}

static bool is_movable(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_FLOAT16 ||
           type == ANEURALNETWORKS_TENSOR_INT32 || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ||
           type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

bool move_output(struct nnv_edit *e, place_fn place, const int32_t *p) {
    if (!is_movable(type_of(e)) || !nnv_shape_known(output_shape(e))) return false;
    const uint32_t was = nnv_edit_op(e)->out[0];
    struct wire w = wire_behind(e, 0);
    if (move(&w, output_shape(e), place, p)) return wire_end(&w);
    graph(e)->operands[w.value].lifetime = NNV_NO_VALUE;
    nnv_edit_op(e)->out[0] = was;
    return false;
}

bool expand_input(struct nnv_edit *e, int pos, const struct nnv_shape *shape, place_fn place, const int32_t *p) {
    if (pos < 0 || !e->call->in[pos].present || !is_movable(nnv_edit_operand(e, pos)->type)) return false;
    struct wire w = wire_before(e, pos);
    return move(&w, shape, place, p) && wire_end(&w);
}

bool move_input(struct nnv_edit *e, int pos, place_fn place, const int32_t *p) {
    return pos >= 0 && expand_input(e, pos, shape_of(e, pos), place, p);
}

/* ------------------------------------------------------------------ attributes */

double *constants(struct nnv_edit *e, const char *name, int *pos, size_t *n) {
    *pos = nnv_edit_find(e, name);
    *n = 0;
    return *pos >= 0 && nnv_is_constant(nnv_edit_operand(e, *pos)) ? nnv_edit_numbers(e, *pos, n) : NULL;
}

int32_t attribute(struct nnv_edit *e, const char *name, int32_t dflt) {
    int pos;
    size_t n;
    const double *v = constants(e, name, &pos, &n);
    return v && n == 1 ? (int32_t)*v : dflt;
}

bool set_attribute(struct nnv_edit *e, const char *name, double v) {
    int pos;
    size_t n;
    const double *was = constants(e, name, &pos, &n);
    if (!was || n != 1 || *was == v) return false;
    nnv_edit_set_numbers(e, pos, &v, 1);
    return true;
}

bool set_constants(struct nnv_edit *e, int pos, const double *was, const double *is, size_t n) {
    if (memcmp(was, is, n * sizeof *was) == 0) return false;
    nnv_edit_set_numbers(e, pos, is, n);
    return true;
}

void set_inputs(struct nnv_edit *e, int32_t code, uint32_t n, const uint32_t *in) {
    uint32_t *inputs = nnv_edit_copy(e, in, n, NNV_EDIT_ROOM, sizeof *inputs);
    if (e->failed) return;
    nnv_edit_op(e)->type = code;
    nnv_edit_op(e)->nin = n;
    nnv_edit_op(e)->in = inputs;
}

int32_t type_of(struct nnv_edit *e) { return e->call->out[0].operand->type; }
const struct nnv_shape *shape_of(struct nnv_edit *e, int pos) { return &e->call->in[pos].shape; }
const struct nnv_shape *output_shape(struct nnv_edit *e) { return &e->call->out[0].shape; }
