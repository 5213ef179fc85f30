/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/work.h"

#include <math.h>
#include <string.h>

#include "reference/model/validate.h"

/** Elements of a tensor; 0 of a scalar and of what is omitted. */
static double elements(const struct nnv_arg *a) {
    if (!a->present || !nnv_type(a->operand->type)->tensor) return 0;
    return nnv_shape_known(&a->shape) ? (double)nnv_shape_elems(&a->shape) : (double)NAN;
}

/** The id of the input whose slot has this name, or -1. */
static int named(const struct nnv_call *c, const char *name) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (strcmp(c->form->in[i].name, name) == 0) return c->form->in[i].id;
    return -1;
}

/** The value of a scalar; NaN: not known yet. */
static double value(const struct nnv_call *c, int id) { return nnv_known(c, id) ? nnv_int(c, id) : (double)NAN; }

double nnv_work_convolution(double filter, double channels, double met) {
    return channels > 0 ? 2 * filter * met / channels : 0;
}

double nnv_work_product(double results, double terms) { return 2 * results * terms; }

/** Outputs have as many channels as there are biases; a transposed filter is as deep as the input. */
static double convolution(const struct nnv_call *c, int filter) {
    const struct nnv_arg *w = nnv_in(c, filter);
    if (c->op->code == ANEURALNETWORKS_TRANSPOSE_CONV_2D)
        return nnv_work_convolution(elements(w), nnv_dim(&w->shape, 3), elements(&c->in[0]));
    return nnv_work_convolution(elements(w), elements(nnv_in(c, named(c, "bias"))), elements(&c->out[0]));
}

static double matrix_product(const struct nnv_call *c, int transposed) {
    const struct nnv_shape *x = &c->in[0].shape;
    const double turned = value(c, transposed);
    if (isnan(turned)) return turned;
    return nnv_work_product(elements(&c->out[0]), nnv_dim(x, x->rank - (turned > 0 ? 2 : 1)));
}

/** Layers of full connections, and cells: matrices [units, n], the first of which is as wide as the input's rows. */
static double matrices(const struct nnv_call *c) {
    double weights = 0, width = 1;
    for (uint32_t i = 0; i < c->nin && i < c->form->nin; i++) {
        const struct nnv_slot *slot = &c->form->in[i];
        if (!(slot->flags & NNV_PARAM) || slot->rank_max != 2 || nnv_slot_is_number(slot)) continue;
        if (weights == 0 && c->in[i].present) width = nnv_dim(&c->in[i].shape, 1);
        weights += elements(&c->in[i]);
    }
    return nnv_work_product(weights, elements(&c->in[0]) / width);
}

static double operations_of(const struct nnv_call *c) {
    const int filter = named(c, "filter"), window = named(c, "filter width"), transposed = named(c, "transpose lhs");
    double most = 0;
    if (c->op->check_subgraphs) return (double)NAN;
    for (uint32_t i = 0; i < c->nin + c->nout; i++) {
        const double n = elements(i < c->nin ? &c->in[i] : &c->out[i - c->nin]);
        if (isnan(n)) return n;
        most = fmax(most, n);
    }
    if (most == 0) return 0;
    if (filter >= 0) return convolution(c, filter);
    if (window >= 0) return elements(&c->out[0]) * value(c, window) * value(c, named(c, "filter height"));
    if (c->op->rounding == NNV_ROUND_NONE) return 0;
    if (transposed >= 0) return matrix_product(c, transposed);
    const double products = matrices(c);
    return products > 0 ? products : most;
}

static double bytes_of(const struct nnv_subgraph *s, const struct nnv_shape *shapes, uint32_t operand) {
    const struct nnv_operand *o = &s->operands[operand];
    const struct nnv_type *t = nnv_type(o->type);
    if (!t->tensor || o->lifetime == NNV_NO_VALUE) return 0;
    return nnv_shape_known(&shapes[operand]) ? (double)nnv_shape_elems(&shapes[operand]) * t->size : (double)NAN;
}

/** Is input i of the operation the first that names its operand? */
static bool first_use(const struct nnv_operation *op, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (op->in[k] == op->in[i]) return false;
    return true;
}

static void measure(const struct nnv_subgraph *s, const struct nnv_operation *op, const struct nnv_shape *shapes,
                    const struct nnv_call *c, struct nnv_op_work *w) {
    *w = (struct nnv_op_work){.operations = operations_of(c), .type = c->in[0].operand->type};
    for (uint32_t i = 0; i < op->nin; i++)
        if (first_use(op, i)) w->bytes += bytes_of(s, shapes, op->in[i]);
    for (uint32_t i = 0; i < op->nout; i++) w->bytes += bytes_of(s, shapes, op->out[i]);
}

enum nnv_status nnv_model_work(const struct nnv_model *model, struct nnv_arena *arena, struct nnv_op_work *each,
                               struct nnv_op_work *whole, struct nnv_err *err) {
    const struct nnv_subgraph *s = &model->main;
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(arena, const void *, s->noperands);
    double most = -1;
    if (!shapes || !data) return nnv_no_memory(err);
    enum nnv_status st = nnv_infer_shapes(model, arena, shapes, err);
    *whole = (struct nnv_op_work){0};
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        data[i] = nnv_is_constant(o) ? o->data : NULL;
        if (!st && o->lifetime != NNV_TEMPORARY_VARIABLE) whole->bytes += bytes_of(s, shapes, i);
    }
    for (uint32_t i = 0; !st && i < s->noperations; i++) {
        struct nnv_call *call;
        st = nnv_bind(s, &s->operations[i], shapes, data, NULL, arena, &call, NULL, err);
        if (st) break;
        measure(s, &s->operations[i], shapes, call, &each[i]);
        whole->operations += each[i].operations;
        if (each[i].operations > most) most = each[i].operations, whole->type = each[i].type;
    }
    return st;
}
