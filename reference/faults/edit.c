/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/faults/edit.h"

#include <string.h>

#include "reference/model/validate.h"

enum { ADDED_OPERANDS = 64, ADDED_OPERATIONS = 16 }; /* at most, an operation */

static bool is_written(const struct nnv_operand *o) {
    return o->lifetime == NNV_TEMPORARY_VARIABLE || o->lifetime == NNV_SUBGRAPH_OUTPUT;
}

enum nnv_status nnv_edit_calls(const struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_call ***calls,
                               struct nnv_err *err) {
    const struct nnv_subgraph *s = &spec->model.main;
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(arena, const void *, s->noperands);
    bool *present = NNV_NEW(arena, bool, s->noperands);
    struct nnv_call **bound = NNV_NEW(arena, struct nnv_call *, s->noperations);
    if (!shapes || !data || !present || !bound) return nnv_no_memory(err);
    enum nnv_status st = nnv_infer_shapes(&spec->model, arena, shapes, err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        data[i] = s->operands[i].data;
        present[i] = s->operands[i].lifetime != NNV_NO_VALUE;
    }
    for (uint32_t i = 0; spec->inputs && i < s->nin; i++) {
        const struct nnv_value *v = &spec->inputs[i];
        present[s->in[i]] = !v->omitted;
        if (v->omitted) continue;
        data[s->in[i]] = v->data;
        shapes[s->in[i]] = nnv_shape_make(v->rank, v->dims);
    }
    for (uint32_t i = 0; st == NNV_OK && i < s->noperations; i++)
        st = nnv_bind(s, &s->operations[i], shapes, data, present, arena, &bound[i], NULL, err);
    if (st == NNV_OK) *calls = bound;
    return st;
}

void *nnv_edit_copy(struct nnv_edit *e, const void *from, size_t count, size_t room, size_t size) {
    void *to = nnv_arena_alloc(e->arena, count + room, size);
    e->failed = e->failed || !to;
    if (to && from) memcpy(to, from, count * size);
    return to;
}

#define COPY(e, list, count, room) nnv_edit_copy((e), (list), (count), (room), sizeof *(list))

static void own_lists(struct nnv_edit *e, struct nnv_operand *o) {
    o->dims = COPY(e, o->dims, o->rank, NNV_EDIT_ROOM);
    o->channel.scales = COPY(e, o->channel.scales, o->channel.count, NNV_EDIT_ROOM);
}

static void own_operands(struct nnv_edit *e, struct nnv_operation *op) {
    op->in = COPY(e, op->in, op->nin, NNV_EDIT_ROOM);
    op->out = COPY(e, op->out, op->nout, NNV_EDIT_ROOM);
}

void nnv_edit_begin(struct nnv_edit *e, const struct nnv_spec *spec, struct nnv_arena *arena) {
    struct nnv_subgraph *s = &e->spec.model.main;
    *e = (struct nnv_edit){.arena = arena, .spec = *spec};
    const uint32_t operands = s->noperations * ADDED_OPERANDS + NNV_EDIT_ROOM,
                   operations = s->noperations * ADDED_OPERATIONS + 1;
    e->operand_room = s->noperands + operands;
    e->operation_room = s->noperations + operations;
    s->operands = COPY(e, s->operands, s->noperands, operands);
    s->operations = COPY(e, s->operations, s->noperations, operations);
    s->in = COPY(e, s->in, s->nin, NNV_EDIT_ROOM);
    s->out = COPY(e, s->out, s->nout, NNV_EDIT_ROOM);
    e->spec.model.referenced = COPY(e, spec->model.referenced, spec->model.nreferenced, NNV_EDIT_ROOM);
    if (spec->inputs) e->spec.inputs = COPY(e, spec->inputs, s->nin, NNV_EDIT_ROOM);
    for (uint32_t i = 0; i < s->noperands && !e->failed; i++) own_lists(e, &s->operands[i]);
    for (uint32_t i = 0; i < s->noperations && !e->failed; i++) own_operands(e, &s->operations[i]);
}

void nnv_edit_open_shapes(struct nnv_edit *e) {
    e->open = true;
    e->spec.actual = NULL;
    e->spec.bounds = NULL;
    for (uint32_t i = 0; i < e->spec.model.main.noperands; i++) {
        struct nnv_operand *o = &e->spec.model.main.operands[i];
        if (is_written(o)) o->rank = 0;
    }
}

struct nnv_operation *nnv_edit_op(struct nnv_edit *e) {
    return &e->spec.model.main.operations[e->at];
}

int nnv_edit_find(const struct nnv_edit *e, const char *name) {
    const struct nnv_form *f = e->call->form;
    for (uint8_t i = 0; i < f->nin; i++) {
        if (strcmp(f->in[i].name, name) != 0) continue;
        int pos = e->call->pos[f->in[i].id];
        return pos >= 0 && e->call->in[pos].present ? pos : -1;
    }
    return -1;
}

struct nnv_operand *nnv_edit_operand(struct nnv_edit *e, int pos) {
    return &e->spec.model.main.operands[nnv_edit_op(e)->in[pos]];
}

uint32_t nnv_edit_add(struct nnv_edit *e, struct nnv_operand o) {
    struct nnv_subgraph *s = &e->spec.model.main;
    if (s->noperands == e->operand_room) {
        e->failed = true;
        return 0;
    }
    own_lists(e, &o);
    s->operands[s->noperands] = o;
    return s->noperands++;
}

uint32_t nnv_edit_add_int(struct nnv_edit *e, int32_t v) {
    void *data = COPY(e, &v, 1, 0);
    return nnv_edit_add(
        e, (struct nnv_operand){
               .type = ANEURALNETWORKS_INT32, .lifetime = NNV_CONSTANT_COPY, .data = data, .bytes = sizeof v});
}

struct nnv_operand *nnv_edit_own(struct nnv_edit *e, int pos) {
    struct nnv_operand *o = nnv_edit_operand(e, pos);
    if (!nnv_is_constant(o)) return o;
    uint32_t index = nnv_edit_add(e, *o);
    nnv_edit_op(e)->in[pos] = index;
    return &e->spec.model.main.operands[index];
}

/** The model's input that operand index is; -1: none, or an omitted one. */
static int input_of(const struct nnv_edit *e, uint32_t index) {
    const struct nnv_subgraph *s = &e->spec.model.main;
    for (uint32_t i = 0; i < s->nin; i++)
        if (s->in[i] == index && !(e->spec.inputs && e->spec.inputs[i].omitted)) return (int)i;
    return -1;
}

bool nnv_edit_known(struct nnv_edit *e, int pos) {
    return nnv_is_constant(nnv_edit_operand(e, pos)) || input_of(e, nnv_edit_op(e)->in[pos]) >= 0;
}

double *nnv_edit_numbers(struct nnv_edit *e, int pos, size_t *n) {
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    int input = input_of(e, nnv_edit_op(e)->in[pos]);
    const struct nnv_type *type = nnv_type(o->type);
    if (!nnv_edit_known(e, pos) || type == NULL || type->size == 0 || (input >= 0 && !e->spec.inputs)) return NULL;
    const void *data = input >= 0 ? e->spec.inputs[input].data : o->data;
    *n = (input >= 0 ? e->spec.inputs[input].bytes : o->bytes) / type->size;
    double *v = NNV_NEW(e->arena, double, *n + 1);
    e->failed = e->failed || !v;
    if (v && *n) nnv_load(o->type, data, *n, v);
    return v;
}

void nnv_edit_set_numbers(struct nnv_edit *e, int pos, const double *v, size_t n) {
    struct nnv_operand *o = nnv_edit_own(e, pos);
    int input = input_of(e, nnv_edit_op(e)->in[pos]);
    void *data = nnv_arena_alloc(e->arena, n + 1, nnv_type(o->type)->size);
    if (!data || e->failed) {
        e->failed = true;
        return;
    }
    nnv_store(o->type, v, n, data);
    if (input >= 0)
        e->spec.inputs[input].data = data;
    else
        o->data = data;
}

void nnv_edit_set_bytes(struct nnv_edit *e, int pos, const void *value) {
    struct nnv_operand *o = nnv_edit_own(e, pos);
    o->data = nnv_edit_copy(e, value, o->bytes, 0, 1);
}

void nnv_edit_reshape(struct nnv_edit *e, int pos, uint32_t rank, const uint32_t *dims, const double *v) {
    struct nnv_operand *o = nnv_edit_own(e, pos);
    size_t elems, bytes;
    uint32_t *extents = COPY(e, dims, rank, 0);
    if (!nnv_size_bytes(o->type, rank, dims, &elems, &bytes)) e->failed = true;
    void *data = e->failed ? NULL : nnv_arena_alloc(e->arena, bytes + 1, 1);
    if (!data) {
        e->failed = true;
        return;
    }
    nnv_store(o->type, v, elems, data);
    o->rank = rank;
    o->dims = extents;
    o->data = data;
    o->bytes = bytes;
}

struct nnv_operation *nnv_edit_add_operation(struct nnv_edit *e, const struct nnv_operation *like) {
    struct nnv_subgraph *s = &e->spec.model.main;
    struct nnv_operation op = *like;
    own_operands(e, &op);
    e->failed = e->failed || s->noperations == e->operation_room;
    if (e->failed) return NULL;
    s->operations[s->noperations] = op;
    return &s->operations[s->noperations++];
}

uint32_t nnv_edit_drop(uint32_t *list, uint32_t n, uint32_t index) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (list[i] != index) list[kept++] = list[i];
    return kept;
}

void nnv_edit_replace(struct nnv_edit *e, int pos, const uint32_t *with, uint32_t count) {
    struct nnv_operation *op = nnv_edit_op(e);
    uint32_t *in = NNV_NEW(e->arena, uint32_t, op->nin + count);
    if (!in) {
        e->failed = true;
        return;
    }
    memcpy(in, op->in, (size_t)pos * sizeof *in);
    memcpy(in + pos, with, count * sizeof *in);
    memcpy(in + (uint32_t)pos + count, op->in + pos + 1, (op->nin - (uint32_t)pos - 1) * sizeof *in);
    op->in = in;
    op->nin += count - 1;
}

void nnv_edit_put_before(struct nnv_edit *e, struct nnv_operation op) {
    struct nnv_subgraph *s = &e->spec.model.main;
    if (s->noperations == e->operation_room) {
        e->failed = true;
        return;
    }
    memmove(&s->operations[e->at + 1], &s->operations[e->at], (s->noperations - e->at) * sizeof *s->operations);
    s->operations[e->at] = op;
    s->noperations++;
    e->at++;
}

uint32_t nnv_edit_add_constant(struct nnv_edit *e, struct nnv_operand like, uint32_t rank, const uint32_t *dims,
                               const double *v) {
    size_t elems, bytes;
    like.lifetime = NNV_CONSTANT_COPY;
    like.rank = rank;
    like.dims = COPY(e, dims, rank, 0);
    if (!nnv_size_bytes(like.type, rank, dims, &elems, &bytes)) e->failed = true;
    void *data = e->failed ? NULL : nnv_arena_alloc(e->arena, bytes + 1, 1);
    e->failed = e->failed || !data;
    if (e->failed) return 0;
    nnv_store(like.type, v, elems, data);
    like.data = data;
    like.bytes = bytes;
    return nnv_edit_add(e, like);
}

void nnv_edit_insert(struct nnv_edit *e, int32_t code, const uint32_t *more, uint32_t count,
                     const struct nnv_shape *shape) {
    uint32_t *in = NNV_NEW(e->arena, uint32_t, count + 1), *out = NNV_NEW(e->arena, uint32_t, 1);
    if (!in || !out) {
        e->failed = true;
        return;
    }
    struct nnv_operand o = *nnv_edit_operand(e, 0);
    o.lifetime = NNV_TEMPORARY_VARIABLE;
    o.rank = e->open || !nnv_shape_known(shape) ? 0 : shape->rank;
    o.dims = COPY(e, shape->dims, o.rank, 0);
    o.data = NULL;
    o.bytes = 0;
    in[0] = nnv_edit_op(e)->in[0];
    if (count) memcpy(in + 1, more, count * sizeof *in);
    out[0] = nnv_edit_op(e)->in[0] = nnv_edit_add(e, o);
    nnv_edit_put_before(e, (struct nnv_operation){.type = code, .nin = count + 1, .nout = 1, .in = in, .out = out});
}

bool nnv_edit_hand_on(struct nnv_edit *e, uint32_t index, const struct nnv_shape *x) {
    const struct nnv_shape *y = &e->call->out[0].shape;
    if (nnv_edit_op(e)->nout != 1 || !nnv_shape_known(x) || !nnv_shape_known(y) || x->rank != y->rank || x->rank == 0 ||
        memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) != 0)
        return false;
    int32_t *extents = NNV_NEW(e->arena, int32_t, x->rank);
    uint32_t *dims = NNV_NEW(e->arena, uint32_t, 1), *in = NNV_NEW(e->arena, uint32_t, 2);
    if (!extents || !dims || !in) return false;
    for (uint32_t i = 0; i < x->rank; i++) extents[i] = (int32_t)x->dims[i];
    dims[0] = x->rank;
    in[0] = index;
    in[1] = nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_INT32,
                                                 .rank = 1,
                                                 .dims = dims,
                                                 .lifetime = NNV_CONSTANT_COPY,
                                                 .data = extents,
                                                 .bytes = x->rank * sizeof *extents});
    struct nnv_operation *op = nnv_edit_op(e);
    op->type = ANEURALNETWORKS_RESHAPE;
    op->in = in;
    op->nin = 2;
    return true;
}

bool nnv_shape_steps(const struct nnv_shape *s, uint32_t rank, const uint32_t *dims, size_t step[NNV_MAX_RANK]) {
    size_t elems = 1;
    if (s->rank > rank) return false;
    for (uint32_t d = 0; d < s->rank; d++) {
        const uint32_t of = s->dims[s->rank - 1 - d], at = rank - 1 - d;
        if (of != dims[at] && of != 1) return false;
        step[at] = of == 1 ? 0 : elems;
        elems *= of;
    }
    for (uint32_t d = 0; d + s->rank < rank; d++) step[d] = 0;
    return true;
}
