/* SPDX-License-Identifier: Apache-2.0 */
/** @file common.h Small things that many operations share. */
#ifndef NNV_OPS_COMMON_H
#define NNV_OPS_COMMON_H

#include "reference/eval/kernel.h"
#include "reference/model/sample.h"
#include "reference/ops/factors.h"

/** The only output of most operations: "output", of type T and any rank. */
extern const struct nnv_slot nnv_output[1];

/** A tensor seen along one axis: element (o, i, p) lies at (o * n + i) * inner + p. */
struct nnv_lines {
    size_t outer, n, inner;
};
/** The lines of a fully known shape along axis in [0, rank). */
struct nnv_lines nnv_lines_of(const struct nnv_shape *s, uint32_t axis);
/** Those of tensor input x along the axis that scalar input axis gives, from either end. */
struct nnv_lines nnv_lines_along(const struct nnv_kernel *k, int x, int axis);
/** The number of lines, and the first element of line i. */
static inline size_t nnv_line_count(const struct nnv_lines *l) { return l->outer * l->inner; }
static inline size_t nnv_line_at(const struct nnv_lines *l, size_t i) {
    return i / l->inner * l->n * l->inner + i % l->inner;
}

/** An infer hook: output 0 has the shape of input 0. */
enum nnv_status nnv_same_shape_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

/**
 * Demands that extent axis of tensor input id agrees with *extent as far as both are known, and merges what is
 * known into *extent. An absent input agrees with everything. NNV_INVALID names input, axis and extents.
 */
NNV_USE_RESULT enum nnv_status nnv_extent_agree(const struct nnv_call *c, int id, uint32_t axis, uint32_t *extent,
                                                struct nnv_err *err);

/** True if input id has the scale and the zero point of output 0 (floats and integers have none). */
bool nnv_one_quant(const struct nnv_call *c, int id);

/** What is known of an omittable input: a model input may still be omitted by the request. */
enum nnv_presence { NNV_ABSENT, NNV_MAYBE, NNV_PRESENT };
enum nnv_presence nnv_presence(const struct nnv_call *c, int id);
/** NNV_INVALID if of these n inputs some are surely present and others surely absent; what names the set. */
NNV_USE_RESULT enum nnv_status nnv_all_or_none(const struct nnv_call *c, const char *what, const int *ids, int n,
                                               struct nnv_err *err);

/** A dot product under way: the sum of its terms, of their absolute values, and their number. */
struct nnv_dot {
    double sum, abs;
    size_t n;
};
/** Adds the terms a[i] * b[i], i < n. */
static inline void nnv_dot_add(struct nnv_dot *d, size_t n, const double *a, const double *b) {
    for (size_t i = 0; i < n; i++) {
        double t = a[i] * b[i];
        d->sum += t;
        d->abs += fabs(t);
    }
    d->n += n;
}
/** The sum as an intermediate result: rounded by the accumulator, then to the operand's type. */
static inline double nnv_dot_end(struct nnv_kernel *k, const struct nnv_dot *d) {
    return nnv_round(k, nnv_sum(k, d->sum, (double)d->n, d->abs, 1));
}

/**
 * The activation of RNN, LSTM and SVDF: 0 none, 1 RELU, 2 RELU1, 3 RELU6, 4 tanh, 6 logistic; an
 * intermediate of the kernel, so the evaluator has no part in it.
 */
double nnv_activation(struct nnv_kernel *k, int code, double v);
/** NNV_INVALID unless scalar input id is unknown yet or one of those codes (code 2 only where relu1). */
NNV_USE_RESULT enum nnv_status nnv_activation_check(const struct nnv_call *c, int id, bool relu1, struct nnv_err *err);

/**
 * For sample hooks: the index-th pair of a rank from 1 to 4 and one of its axes, counted from either end. Any
 * 20 successive indices give all pairs.
 */
void nnv_sample_axis(int index, uint32_t *rank, int *axis);

/**
 * For sample hooks of operations on lines: where x is made of lines of NNV_LONG_LINE numbers, the last one of each lies
 * beyond all others, above or (sign -1) below them. Other inputs are left alone.
 */
void nnv_sample_last_wins(struct nnv_sample *s, struct nnv_sample_arg *x, double sign);

/**
 * For sample hooks of operations that choose between inputs a and b: every third quantised case has one scale and
 * zero point for both and the output, so that codes are moved unchanged.
 */
void nnv_sample_one_quant(struct nnv_sample *s, int a, int b);

/** 1 / (1 + e^-v). */
double nnv_logistic(double v);

#endif
