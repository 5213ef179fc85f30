/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h What the interpreter's kernels share: a kernel works out the values of one call of an operator.
 */
#ifndef NNV_COMPILER_RELAY_KERNEL_H
#define NNV_COMPILER_RELAY_KERNEL_H

#include "compiler/relay/ops/datum.h"
#include "compiler/relay/ops/rule.h"

/**
 * One call: its kernel fills out. Errors: nnv_relay_wrong(&op->t, ...) or nnv_interp_space(). The operands have the
 * types that the checker has seen, with all dimensions known.
 */
struct nnv_interp_op {
    struct nnv_relay_typing t; /**< the call with its attributes, and where an error goes (nnv_relay_wrong) */
    struct nnv_relay_datum *const *in;
    size_t n_in;
    struct nnv_relay_datum *out; /**< has its type, and zeros; a kernel may let values point to those of an operand */
    struct nnv_arena *arena;     /**< lives as long as the result */
    struct nnv_arena *scratch;   /**< until the kernel returns */
};

/* ------------------------------------------------------------ values, types */

/** n zeros that are gone when the kernel returns; NULL and an error if there are none. */
double *nnv_interp_space(struct nnv_interp_op *op, size_t n);
/** nnv_interp_wrap() of all values of the result if its type is one of integers. */
void nnv_interp_wrap_all(struct nnv_interp_op *op);

/* ------------------------------------------------------------------ indices */

/** A tensor seen along one axis: outer times extent times inner elements. */
struct nnv_interp_axis {
    size_t at, outer, extent, inner;
};
/** Along the attribute `key`, or `otherwise` if it is absent. False after an error. */
bool nnv_interp_axis_of(struct nnv_interp_op *op, const struct nnv_relay_type *type, const char *key, int64_t otherwise,
                        struct nnv_interp_axis *axis);
/** The distance between neighbours in each dimension of a dense tensor. */
void nnv_interp_strides(const struct nnv_relay_type *type, int64_t *strides);
/** to[i] = from[sum of index times stride], for all indices of dims in order; at most 2 * NNV_RELAY_RANK dimensions. */
void nnv_interp_pick(const double *from, size_t n_dims, const int64_t *dims, const int64_t *strides, double *to);
/** The values of operand i, stretched to the dimensions of the result; NULL after an error. */
const double *nnv_interp_stretched(struct nnv_interp_op *op, size_t i);
/** Value k of operand i, which has one value or many. */
static inline double nnv_interp_nth(const struct nnv_interp_op *op, size_t i, size_t k) {
    const struct nnv_relay_datum *d = op->in[i];
    return d->values[d->n == 1 ? 0 : k];
}

/** Values of an operand less its zero point, which is one for all, or one for each place along dimension `along`. */
const double *nnv_interp_centred(struct nnv_interp_op *op, size_t i, size_t zero, size_t along);
/**
 * Data and weights (whose zero points lie along a dimension), without their zero points if they are quantised: operands
 * 2 and 3 are these, 4 and 5 the scales, which only the meaning of the result depends on.
 */
bool nnv_interp_centred_operands(struct nnv_interp_op *op, size_t along, const double **data, const double **weights);

/* ------------------------------------------------------------------ kernels */

/** Kernels of more than one family: the same values in another shape; concatenation. */
nnv_interp_kernel nnv_interp_view, nnv_interp_concatenate;

#endif
