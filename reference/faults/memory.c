/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Memory of results that is given to another one too early: what is read later, that one wrote over. */
#include <math.h>
#include <string.h>

#include "reference/faults/generate.h"

/** Types of which results are cut and joined as they are stored. */
static bool is_movable(const struct nnv_operand *o) {
    return o->rank <= 4 &&
           (o->type == ANEURALNETWORKS_TENSOR_FLOAT32 || o->type == ANEURALNETWORKS_TENSOR_FLOAT16 ||
            o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED);
}

static bool is_encoded_alike(const struct nnv_operand *a, const struct nnv_operand *b) {
    return a->type == b->type && a->zero_point == b->zero_point && !(fabsf(a->scale - b->scale) > 0);
}

static bool is_read_behind(const struct nnv_subgraph *s, uint32_t at, uint32_t operand) {
    for (uint32_t i = at + 1; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            if (s->operations[i].in[k] == operand) return true;
    return s->operands[operand].lifetime == NNV_SUBGRAPH_OUTPUT;
}

/* ------------------------------------------------------------------------ editing */

/** Appends an operation with one result, a temporary of those extents like operand `like`; returns the result. */
static uint32_t append(struct nnv_edit *e, int32_t code, uint32_t nin, const uint32_t *in, uint32_t like, uint32_t rank,
                       const uint32_t *dims) {
    struct nnv_operand made = e->spec.model.main.operands[like];
    made.rank = rank;
    made.dims = nnv_arena_copy(e->arena, dims, rank * sizeof *dims);
    made.lifetime = NNV_TEMPORARY_VARIABLE;
    uint32_t *out = NNV_NEW(e->arena, uint32_t, 1);
    const struct nnv_operation op = {
        .type = code, .nin = nin, .nout = 1, .in = nnv_arena_copy(e->arena, in, nin * sizeof *in), .out = out};
    e->failed = e->failed || !made.dims || !out || !op.in;
    if (e->failed) return 0;
    out[0] = nnv_edit_add(e, made);
    (void)nnv_edit_add_operation(e, &op);
    return out[0];
}

static uint32_t add_list(struct nnv_edit *e, uint32_t n, const double *v) {
    return nnv_edit_add_constant(e, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_INT32}, 1, &n, v);
}

/** The n elements of `of` as a list. */
static uint32_t flatten(struct nnv_edit *e, uint32_t of, uint32_t n) {
    const double extent = n;
    const uint32_t in[] = {of, add_list(e, 1, &extent)};
    return append(e, ANEURALNETWORKS_RESHAPE, 2, in, of, 1, &n);
}

/** n elements of a list, from `first` on. */
static uint32_t cut(struct nnv_edit *e, uint32_t list, uint32_t first, uint32_t n) {
    const double from = first, extent = n;
    const uint32_t in[] = {list, add_list(e, 1, &from), add_list(e, 1, &extent)};
    return append(e, ANEURALNETWORKS_SLICE, 3, in, list, 1, &n);
}

/** What memory of n elements that held `under` holds when `over`, of `count` elements, was written there: a list. */
static uint32_t lay_over(struct nnv_edit *e, uint32_t over, uint32_t count, uint32_t under, uint32_t n) {
    const uint32_t all = flatten(e, over, count);
    if (count >= n) return count > n ? cut(e, all, 0, n) : all;
    const uint32_t rest = cut(e, flatten(e, under, n), count, n - count);
    const uint32_t parts[] = {all, rest, nnv_edit_add_int(e, 0)};
    return append(e, ANEURALNETWORKS_CONCATENATION, 3, parts, under, 1, &n);
}

/** Moves the last operations, all but the first `end`, to behind the one in hand. */
static bool bring_forward(struct nnv_edit *e, uint32_t end) {
    struct nnv_subgraph *s = &e->spec.model.main;
    const uint32_t at = e->at + 1, count = s->noperations - end;
    struct nnv_operation *moved = nnv_arena_copy(e->arena, &s->operations[end], count * sizeof *moved);
    if (!moved) return false;
    memmove(&s->operations[at + count], &s->operations[at], (end - at) * sizeof *moved);
    memcpy(&s->operations[at], moved, count * sizeof *moved);
    return true;
}

/**
 * f->value: the result that is written over, of the extents f->held; by that of the operation in hand, which has
 * f->other elements. Who reads it behind that operation gets what is there then.
 */
static bool overwritten(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_subgraph *s = &e->spec.model.main;
    const uint32_t victim = (uint32_t)f->value, by = nnv_edit_op(e)->out[0], end = s->noperations;
    struct nnv_operand before = s->operands[victim];
    uint32_t n = 1;
    before.lifetime = NNV_TEMPORARY_VARIABLE;
    const uint32_t whole = nnv_edit_add(e, before);
    if (e->failed) return false;
    for (uint32_t i = 0; i <= e->at; i++) {
        struct nnv_operation *op = &s->operations[i];
        for (uint32_t k = 0; k < op->nin; k++)
            if (op->in[k] == victim) op->in[k] = whole;
        for (uint32_t k = 0; k < op->nout; k++)
            if (op->out[k] == victim) op->out[k] = whole;
    }
    for (size_t d = 0; d < f->nheld; d++) n *= (uint32_t)f->held[d];
    const uint32_t content = lay_over(e, by, (uint32_t)f->other, whole, n);
    uint32_t *in = NNV_NEW(e->arena, uint32_t, 2), *out = NNV_NEW(e->arena, uint32_t, 1);
    if (!in || !out || e->failed) return false;
    in[0] = content;
    in[1] = add_list(e, (uint32_t)f->nheld, f->held);
    out[0] = victim;
    const struct nnv_operation last = {.type = ANEURALNETWORKS_RESHAPE, .nin = 2, .nout = 1, .in = in, .out = out};
    return !e->failed && nnv_edit_add_operation(e, &last) != NULL && bring_forward(e, end);
}

/* --------------------------------------------------------------------- generating */

void nnv_generate_overwritten(struct nnv_fault_list *l, const struct nnv_subgraph *s, struct nnv_call *const *calls,
                              uint32_t at) {
    const struct nnv_operation *op = &s->operations[at];
    const struct nnv_shape *by = &calls[at]->out[0].shape;
    if (op->nout != 1 || !nnv_shape_known(by)) return;
    const struct nnv_operand *result = &s->operands[op->out[0]];
    if (!is_movable(result)) return;
    for (uint32_t i = 0; i < at; i++) {
        const uint32_t victim = s->operations[i].out[0];
        const struct nnv_shape *of = &calls[i]->out[0].shape;
        if (s->operations[i].nout != 1 || !is_encoded_alike(&s->operands[victim], result) || !nnv_shape_known(of) ||
            of->rank == 0 || of->rank > 4 || nnv_shape_elems(by) == 0 || nnv_shape_elems(of) == 0 ||
            nnv_shape_elems(by) > INT32_MAX || nnv_shape_elems(of) > INT32_MAX || !is_read_behind(s, at, victim))
            continue;
        double *dims = NNV_NEW(l->arena, double, of->rank);
        for (uint32_t d = 0; dims && d < of->rank; d++) dims[d] = of->dims[d];
        l->failed = l->failed || !dims;
        const struct nnv_fault f = {.ops = {op->type},
                                    .nops = 1,
                                    .value = victim,
                                    .other = (double)nnv_shape_elems(by),
                                    .held = dims,
                                    .nheld = of->rank,
                                    .change = overwritten};
        if (dims) nnv_generate(l, f, "a result written over another one that is read again later");
    }
}
