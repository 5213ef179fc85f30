/* SPDX-License-Identifier: Apache-2.0 */
/** @file simplify.c Plainer attributes, fewer inputs, and values that say less. */
#include <math.h>
#include <string.h>

#include "harness/debug/reduce/reducer.h"

enum { CHUNKS = 32 };

/* -------------------------------------------------------------------- attributes */

/** The plain values of scalars, the plainest first: no activation, no padding; strides and dilations of 1. */
static const double plain_integers[] = {0, 1}, plain_floats[] = {1, 0};

/** Tries to make a constant scalar plainer. */
static bool simplify_scalar(struct nnv_reducer *r, uint32_t operand) {
    const struct nnv_operand *o = &r->best.spec->model.main.operands[operand];
    const double *plain = nnv_is_float(o->type) ? plain_floats : plain_integers;
    double now, value;
    if (o->bytes != nnv_type(o->type)->size) return false;
    nnv_load(o->type, o->data, 1, &now);
    for (int i = 0; i < 2 && plain[i] != now && !nnv_reducer_over(r); i++) {
        struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
        if (!spec) return false;
        struct nnv_operand *copy = &spec->model.main.operands[operand];
        void *data = nnv_arena_copy(r->trial, copy->data, copy->bytes);
        if (!data) return false;
        value = plain[i];
        nnv_store(copy->type, &value, 1, data);
        copy->data = data;
        if (nnv_reducer_try(r, spec, true)) return true;
    }
    return false;
}

/** Leaves out trailing inputs of an operation, as many as possible. */
static bool drop_inputs(struct nnv_reducer *r, uint32_t operation) {
    for (uint32_t left = 1; left < r->best.spec->model.main.operations[operation].nin && !nnv_reducer_over(r); left++) {
        struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
        if (!spec) return false;
        spec->model.main.operations[operation].nin = left;
        if (nnv_reducer_try(r, spec, true)) return true;
    }
    return false;
}

/** Zero points of 0, all at once: some are bound to others by rules. */
static bool simplify_zero_points(struct nnv_reducer *r) {
    struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
    bool changed = false;
    for (uint32_t i = 0; spec && i < spec->model.main.noperands; i++) {
        struct nnv_operand *o = &spec->model.main.operands[i];
        if (!nnv_is_quant(o->type) || o->zero_point == 0) continue;
        o->zero_point = 0;
        changed = true;
    }
    return changed && nnv_reducer_try(r, spec, true);
}

/** An integer constant that may be a shape becomes [-1, 1, ...]: "as many as there are", which fits all extents. */
static bool simplify_shape(struct nnv_reducer *r, uint32_t operand) {
    struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
    if (!spec) return false;
    struct nnv_operand *o = &spec->model.main.operands[operand];
    const size_t count = o->bytes / sizeof(int32_t);
    int32_t *v = nnv_arena_copy(r->trial, o->data, o->bytes);
    bool large = false;
    for (size_t i = 0; v && i < count; i++) {
        large = large || v[i] > 1;
        v[i] = i == 0 ? -1 : 1;
    }
    o->data = v;
    return large && nnv_reducer_try(r, spec, true);
}

bool nnv_reduce_attributes(struct nnv_reducer *r) {
    bool any = simplify_zero_points(r);
    for (uint32_t i = 0; i < r->best.spec->model.main.noperations && !nnv_reducer_over(r); i++)
        any = drop_inputs(r, i) || any;
    for (uint32_t i = 0; i < r->best.spec->model.main.noperands && !nnv_reducer_over(r); i++) {
        const struct nnv_operand *o = &r->best.spec->model.main.operands[i];
        if (!nnv_is_constant(o)) continue;
        if (!nnv_type(o->type)->tensor)
            any = simplify_scalar(r, i) || any;
        else if (o->type == ANEURALNETWORKS_TENSOR_INT32 && o->scale == 0)
            any = simplify_shape(r, i) || any;
    }
    return any;
}

/* ------------------------------------------------------------------------ values */

/** The stored numbers of an input or constant tensor. */
struct numbers {
    const struct nnv_operand *o;
    struct nnv_value *input; /**< or NULL: a constant */
    void *data;
    size_t count;
};

static bool get_numbers(struct nnv_spec *spec, uint32_t operand, struct numbers *n) {
    struct nnv_subgraph *m = &spec->model.main;
    struct nnv_operand *o = &m->operands[operand];
    *n = (struct numbers){.o = o};
    size_t bytes = 0;
    if (nnv_is_constant(o) && nnv_type(o->type)->tensor) {
        n->data = (void *)o->data;
        bytes = o->bytes;
    }
    for (uint32_t k = 0; k < m->nin && o->lifetime == NNV_SUBGRAPH_INPUT; k++)
        if (m->in[k] == operand && !spec->inputs[k].omitted) {
            n->input = &spec->inputs[k];
            n->data = n->input->data;
            bytes = n->input->bytes;
        }
    n->count = nnv_type(o->type)->size ? bytes / nnv_type(o->type)->size : 0;
    return n->count > 0;
}

/** The stored number that stands for v. */
static double stored(const struct nnv_operand *o, double v) {
    if (nnv_type(o->type)->kind != NNV_KIND_QUANT) return v;
    return nnv_round_to(o->type, o->zero_point + (o->scale > 0 ? nnv_round_half_away(v / (double)o->scale) : v));
}

enum plainer { PLAIN_ZERO, PLAIN_ONE, PLAIN_INTEGER, PLAIN_COUNT };

/** The plainer number, or x itself. */
static double plain(const struct nnv_operand *o, double x, enum plainer how) {
    const double zero = stored(o, 0), one = stored(o, 1);
    if (how == PLAIN_ZERO) return zero;
    if (how == PLAIN_ONE) return one;
    return x == zero || x == one || !isfinite(x) ? x : round(x);
}

/** How much a number says. */
static int weight(const struct nnv_operand *o, double x) {
    return x == stored(o, 0) ? 0 : x == stored(o, 1) ? 1 : x == round(x) ? 2 : 3;
}

/** Tries plainer numbers in [from, to) of an operand. */
static bool simplify_range(struct nnv_reducer *r, uint32_t operand, size_t from, size_t to, enum plainer how) {
    struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
    struct numbers n;
    if (!spec || !get_numbers(spec, operand, &n)) return false;
    const size_t size = nnv_type(n.o->type)->size;
    bool lighter = false;
    for (size_t i = from; i < to && i < n.count; i++) {
        double x, y;
        nnv_load(n.o->type, (char *)n.data + i * size, 1, &x);
        y = plain(n.o, x, how);
        if (weight(n.o, y) >= weight(n.o, x)) continue;
        nnv_store(n.o->type, &y, 1, (char *)n.data + i * size);
        lighter = true;
    }
    return lighter && nnv_reducer_try(r, spec, true);
}

static bool simplify_numbers(struct nnv_reducer *r, uint32_t operand, size_t count) {
    bool any = false;
    for (int how = 0; how < PLAIN_COUNT; how++)
        if (simplify_range(r, operand, 0, count, (enum plainer)how)) return true;
    for (size_t parts = 2; parts <= CHUNKS && parts / 2 < count; parts *= 2)
        for (size_t p = 0; p < parts && !nnv_reducer_over(r); p++) {
            const size_t from = count * p / parts, to = count * (p + 1) / parts;
            if (from == to) continue;
            any = simplify_range(r, operand, from, to, PLAIN_ZERO) || simplify_range(r, operand, from, to, PLAIN_ONE) ||
                  simplify_range(r, operand, from, to, PLAIN_INTEGER) || any;
        }
    return any;
}

bool nnv_reduce_values(struct nnv_reducer *r) {
    bool any = false;
    for (uint32_t i = 0; i < r->best.spec->model.main.noperands && !nnv_reducer_over(r); i++) {
        struct numbers n;
        if (get_numbers(r->best.spec, i, &n)) any = simplify_numbers(r, i, n.count) || any;
    }
    return any;
}
