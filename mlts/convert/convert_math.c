/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that NNAPI has not, as several operations. */
#include <math.h>

#include "mlts/convert/convert.h"

static uint32_t none(struct nnv_cv *c) { return nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE); }

uint32_t nnv_cv_combined(struct nnv_cv *c, int32_t code, uint32_t a, uint32_t b, uint32_t like) {
    const uint32_t t = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, like), like);
    NNV_CV_EMIT(c, code, t, a, b, none(c));
    return t;
}

uint32_t nnv_cv_applied(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t like) {
    const uint32_t t = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, like), like);
    NNV_CV_EMIT(c, code, t, x);
    return t;
}

/** A comparison of x with a number, in x's shape. */
static uint32_t compared(struct nnv_cv *c, int32_t code, uint32_t x, uint32_t number) {
    const uint32_t t = nnv_cv_temp_as(c, NNV_CV_B8, x);
    NNV_CV_EMIT(c, code, t, x, number);
    return t;
}

/** floor(x + 0.5), less 1 where that is odd and x lies in the middle. */
void nnv_cv_round_to_even(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const int32_t add = ANEURALNETWORKS_ADD, sub = ANEURALNETWORKS_SUB, floored = ANEURALNETWORKS_FLOOR;
    if (!nnv_cv_ok(c)) return;
    const uint32_t middle = nnv_cv_number(c, x, 0.5), both = nnv_cv_temp_as(c, NNV_CV_B8, x);
    const uint32_t up = nnv_cv_applied(c, floored, nnv_cv_combined(c, add, x, middle, x), x);
    const uint32_t half = nnv_cv_combined(c, ANEURALNETWORKS_MUL, up, middle, x);
    const uint32_t tie = compared(c, ANEURALNETWORKS_EQUAL, nnv_cv_combined(c, sub, up, x, x), middle);
    const uint32_t odd = compared(c, ANEURALNETWORKS_NOT_EQUAL, half, nnv_cv_applied(c, floored, half, x));
    NNV_CV_EMIT(c, ANEURALNETWORKS_LOGICAL_AND, both, tie, odd);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, y, both, nnv_cv_combined(c, sub, up, nnv_cv_number(c, x, 1), x), up);
}

void nnv_cv_ceiling(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const uint32_t down = nnv_cv_applied(c, ANEURALNETWORKS_FLOOR, nnv_cv_applied(c, ANEURALNETWORKS_NEG, x, y), y);
    NNV_CV_EMIT(c, ANEURALNETWORKS_NEG, y, down);
}

void nnv_cv_cosine(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const uint32_t quarter = nnv_cv_number(c, x, M_PI_2);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SIN, y, nnv_cv_combined(c, ANEURALNETWORKS_ADD, x, quarter, y));
}

/** max(-1, min(1, ...)) would lose small numbers, so two comparisons. */
void nnv_cv_sign(struct nnv_cv *c, uint32_t x, uint32_t y) {
    if (!nnv_cv_ok(c)) return;
    const uint32_t zero = nnv_cv_number(c, x, 0), ones = nnv_cv_filled(c, nnv_builder_encoding(&c->b, x),
                                                                       nnv_cv_at(c, x)->rank, nnv_cv_at(c, x)->dims, 1);
    const uint32_t zeros =
        nnv_cv_filled(c, nnv_builder_encoding(&c->b, x), nnv_cv_at(c, x)->rank, nnv_cv_at(c, x)->dims, 0);
    const uint32_t up = compared(c, ANEURALNETWORKS_GREATER, x, zero),
                   down = compared(c, ANEURALNETWORKS_LESS, x, zero);
    const uint32_t p = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x),
                   n = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, p, up, ones, zeros);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SELECT, n, down, ones, zeros);
    NNV_CV_EMIT(c, ANEURALNETWORKS_SUB, y, p, n, none(c));
}

void nnv_cv_gelu_by_tanh(struct nnv_cv *c, uint32_t x, uint32_t y) {
    const int32_t mul = ANEURALNETWORKS_MUL, add = ANEURALNETWORKS_ADD;
    if (!nnv_cv_ok(c)) return;
    const uint32_t cube = nnv_cv_combined(c, mul, nnv_cv_combined(c, mul, x, x, y), x, y);
    const uint32_t sum = nnv_cv_combined(c, add, x, nnv_cv_combined(c, mul, cube, nnv_cv_number(c, x, 0.044715), y), y);
    const uint32_t scaled = nnv_cv_combined(c, mul, sum, nnv_cv_number(c, x, 0.7978845608), y);
    const uint32_t bent = nnv_cv_applied(c, ANEURALNETWORKS_TANH, scaled, y);
    const uint32_t half = nnv_cv_combined(c, mul, x, nnv_cv_number(c, x, 0.5), y);
    NNV_CV_EMIT(c, mul, y, half, nnv_cv_combined(c, add, bent, nnv_cv_number(c, x, 1), y), none(c));
}
