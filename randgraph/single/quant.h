/* SPDX-License-Identifier: Apache-2.0 */
/** @file quant.h Choosing scales and zero points for the operands of a generated case. */
#ifndef NNV_RANDGRAPH_SINGLE_QUANT_H
#define NNV_RANDGRAPH_SINGLE_QUANT_H

#include "randgraph/fill.h"
#include "reference/model/sample.h"

struct nnv_quant_choice {
    enum nnv_fill_mode mode;
    const struct nnv_slot *slot;
    const struct nnv_sample_arg *arg;   /**< inputs: what the hook asked for */
    const struct nnv_operand *operands; /**< of the subgraph; those before this one are complete */
    uint32_t position;                  /**< inputs: position in the operation's list */
    int index;
    bool planned;                      /**< inputs: of a plan, and not a variant's */
    const int32_t *scales;             /**< a row, see scales.h, or NULL */
    int role;                          /**< with it, inputs: see nnv_scales_role() */
    const struct nnv_operand *like[2]; /**< with it: the inputs of both roles as far as they are complete, or NULL */
    double lo, hi;                     /**< real range of the values */
    bool linear;                       /**< outputs: of sums of products of inputs 0 and 1 */
    float wanted_scale;                /**< outputs: 0 is free */
    int32_t wanted_zero_point;
};

/**
 * Sets scale, zero point or channel scales (arena's) of input o, whose type and dims are set, by the slot's rule, the
 * hook's wish, or so that [lo, hi] fills the type. Types without quantisation are left alone. Case EXACT: powers of
 * two.
 */
NNV_USE_RESULT enum nnv_status nnv_quant_input(const struct nnv_quant_choice *q, struct nnv_rng *rng,
                                               struct nnv_arena *arena, struct nnv_operand *o, struct nnv_err *err);
/** Scale and zero point of an output that any record accepts: by the slot's rule, or a large scale. */
void nnv_quant_placeholder(const struct nnv_slot *slot, const struct nnv_operand *inputs, struct nnv_operand *o);
/** Scale and zero point of an output as those of input id, among n with these slots; false if it is not there. */
bool nnv_quant_as(int id, const struct nnv_slot *const *slots, const struct nnv_operand *inputs, uint32_t n,
                  struct nnv_operand *o);
/** Scale and zero point of an output with a free rule, from the range of its results. */
void nnv_quant_output(const struct nnv_quant_choice *q, struct nnv_rng *rng, struct nnv_operand *o);
/** Raises free output scales above the product of the scales of inputs 0 and 1; false if there was nothing to raise. */
bool nnv_quant_raise(const struct nnv_form *form, struct nnv_subgraph *s);

#endif
