/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conditions.c The option "conditions": a driver that supports operations under conditions as accelerators have
 * them, all of which are known: what nnvts datasheet must find (tests/system/conditions.tsv).
 */
#include <math.h>
#include <string.h>

#include "sample.h"

/** An operation that it is asked about. */
struct use {
    const struct nnvts_model *m;
    const struct nnvts_operation *op;
};

static const struct nnvts_operand *input(const struct use *u, uint32_t i) {
    static const struct nnvts_operand none = {.lifetime = NNVTS_NO_VALUE};
    return i < u->op->input_count ? &u->m->main.operands[u->op->inputs[i]] : &none;
}
static const struct nnvts_operand *output(const struct use *u) { return &u->m->main.operands[u->op->outputs[0]]; }

static bool is_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
}

static uint32_t rank(const struct nnvts_operand *o) { return o->dimension_count; }
/** The extent of an axis, counted from the end. */
static uint32_t extent(const struct nnvts_operand *o, uint32_t from_end) {
    return from_end < rank(o) ? o->dimensions[rank(o) - 1 - from_end] : 1;
}
static uint64_t elements(const struct nnvts_operand *o) {
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank(o); i++) n *= o->dimensions[i];
    return n;
}

/** Element k of a small constant of INT32; otherwise: it is none, or there is no such input. */
static int32_t number(const struct use *u, uint32_t i, uint32_t k, int32_t otherwise) {
    const struct nnvts_operand *o = input(u, i);
    int32_t v;
    if (o->lifetime != NNVTS_CONSTANT_COPY || o->location.length < (k + 1) * sizeof v) return otherwise;
    memcpy(&v, (const char *)u->m->operand_values + o->location.offset + k * sizeof v, sizeof v);
    return v;
}
static bool flag(const struct use *u, uint32_t i, bool otherwise) {
    const struct nnvts_operand *o = input(u, i);
    if (o->lifetime != NNVTS_CONSTANT_COPY || o->location.length != 1) return otherwise;
    return ((const char *)u->m->operand_values)[o->location.offset] != 0;
}

/** CONV_2D and DEPTHWISE_CONV_2D have a padding scheme, or four paddings; the latter a multiplier behind the strides.
 */
static bool is_explicit(const struct use *u, uint32_t at) { return input(u, at)->type == ANEURALNETWORKS_INT32; }
/** Position of the stride width of an operation whose padding stands at `at`. */
static uint32_t strides(const struct use *u, uint32_t at, uint32_t behind) {
    return is_explicit(u, at + 3 + behind) && u->op->input_count > at + 5 + behind &&
                   input(u, at + 4 + behind)->type == ANEURALNETWORKS_INT32
               ? at + 4
               : at + 1;
}

static bool conv(const struct use *u) {
    const uint32_t s = strides(u, 3, 0);
    const bool nchw = flag(u, s + 3, false);
    return is_constant(input(u, 1)) && !nchw && number(u, s + 4, 0, 1) == 1 && number(u, s + 5, 0, 1) == 1 &&
           extent(input(u, 0), 0) % 4 == 0;
}

static bool depthwise(const struct use *u) {
    const uint32_t s = strides(u, 3, 1);
    return number(u, s + 2, 0, 1) == 1 && number(u, s, 0, 1) == number(u, s + 1, 0, 1);
}

/** Pooling: padding at 1, strides, window, activation, layout. */
static bool average_pool(const struct use *u) {
    const uint32_t s = u->op->input_count > 8 ? 5 : 2;
    return number(u, s + 2, 0, 1) <= 3 && number(u, s + 3, 0, 1) <= 3;
}
static bool max_pool(const struct use *u) {
    return u->op->input_count <= 8 && rank(input(u, 0)) == 4 && input(u, 0)->dimensions[0] == 1;
}

static bool softmax(const struct use *u) {
    const struct nnvts_operand *x = input(u, 0), *beta = input(u, 1);
    const int32_t axis = number(u, 2, 0, -1);
    float b = 1;
    if (beta->type == ANEURALNETWORKS_FLOAT32 && beta->lifetime == NNVTS_CONSTANT_COPY)
        memcpy(&b, (const char *)u->m->operand_values + beta->location.offset, sizeof b);
    return (axis == -1 || axis == (int32_t)rank(x) - 1) && fabsf(b - 1) <= 0;
}

static bool same_shape(const struct use *u) {
    const struct nnvts_operand *a = input(u, 0), *b = input(u, 1);
    bool same = rank(a) == rank(b);
    for (uint32_t i = 0; same && i < rank(a); i++) same = a->dimensions[i] == b->dimensions[i];
    return same;
}

static bool is_quant(const struct nnvts_operand *o) {
    return o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}
static bool same_scale(const struct use *u) {
    const struct nnvts_operand *y = output(u);
    for (uint32_t i = 0; i + 1 < u->op->input_count && is_quant(y); i++)
        if (fabsf(input(u, i)->scale - y->scale) > 0 || input(u, i)->zero_point != y->zero_point) return false;
    return true;
}

static bool grouped(const struct use *u) {
    const bool implicit = u->op->input_count == 9;
    const uint32_t s = implicit ? 4 : 7;
    return number(u, s + 2, 0, 1) <= 2 || number(u, s + 1, 0, 1) == 1;
}

bool sample_meets(const struct nnvts_model *m, const struct nnvts_operation *op) {
    const struct use u = {m, op};
    if (op->input_count == 0 || op->output_count == 0) return true;
    switch (op->type) {
    case ANEURALNETWORKS_ADD:
        return rank(input(&u, 0)) >= 2;
    case ANEURALNETWORKS_SUB:
        return same_shape(&u);
    case ANEURALNETWORKS_MUL:
        return number(&u, 2, 0, 0) == ANEURALNETWORKS_FUSED_NONE;
    case ANEURALNETWORKS_LOGISTIC:
        return extent(input(&u, 0), 0) <= 1000;
    case ANEURALNETWORKS_TANH:
        return elements(input(&u, 0)) <= 600;
    case ANEURALNETWORKS_CONV_2D:
        return conv(&u);
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
        return depthwise(&u);
    case ANEURALNETWORKS_GROUPED_CONV_2D:
        return grouped(&u);
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
        return average_pool(&u);
    case ANEURALNETWORKS_MAX_POOL_2D:
        return max_pool(&u);
    case ANEURALNETWORKS_SOFTMAX:
        return softmax(&u);
    case ANEURALNETWORKS_MEAN:
        return number(&u, 2, 0, 0) > 0;
    case ANEURALNETWORKS_CONCATENATION:
        return op->input_count <= 4 && same_scale(&u);
    case ANEURALNETWORKS_TRANSPOSE:
        return rank(input(&u, 0)) != 3;
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return extent(output(&u), 0) % 8 == 0;
    case ANEURALNETWORKS_PAD:
        return number(&u, 1, 0, 0) == 0;
    case ANEURALNETWORKS_STRIDED_SLICE:
        return number(&u, 6, 0, 0) == 0;
    case ANEURALNETWORKS_PRELU:
        return is_constant(input(&u, 1));
    case ANEURALNETWORKS_BATCH_MATMUL:
        return !flag(&u, 2, false);
    case ANEURALNETWORKS_SPLIT:
        return number(&u, 2, 0, 1) <= 3;
    case ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR:
        return !flag(&u, 4, false);
    default:
        return true;
    }
}
