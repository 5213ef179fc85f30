/* SPDX-License-Identifier: Apache-2.0 */
/** @file mistakes.h The bank of plausible mistakes: a row each, by which a driver's wrong answer is explained. */
#ifndef NNV_EXPLAIN_MISTAKES_H
#define NNV_EXPLAIN_MISTAKES_H

#include "harness/debug/explain/edit.h"

enum { NNV_MISTAKE_SLOTS = 6, NNV_MISTAKE_OPS = 10 };

/** One output as a mistake in handling values would leave it. */
struct nnv_spoiled {
    int32_t type; /**< with its encoding */
    float scale;
    int32_t zero_point;
    uint32_t rank; /**< and shape */
    const uint32_t *dims;
    size_t n;             /**< elements */
    double *v;            /**< stored numbers, right ones: changed in place */
    const double *exact;  /**< unrounded real results, moved as far as v was */
    const double *poison; /**< what the buffer held before the execution, as stored numbers */
};

struct nnv_mistake {
    const char *name;             /**< "dilation-ignored" */
    const char *words;            /**< what the driver seems to do */
    int32_t ops[NNV_MISTAKE_OPS]; /**< operations that it can happen to; nops 0: all */
    uint8_t nops;
    const char *slots[NNV_MISTAKE_SLOTS]; /**< inputs that it is about, by their names in the record */
    bool few;                             /**< of values: likely enough if only one or two are wrong */
    double value, other;                  /**< numbers that it is about */
    int32_t code, other_code;             /**< operation that is taken for another; both 0: none */
    /** Changes the operation in hand; false if it can't happen to it. NULL: the model is right. */
    bool (*change)(struct nnv_edit *e, const struct nnv_mistake *m);
    /** Changes an output's values; false if it can't happen to it. NULL: the values are kept. */
    bool (*spoil)(struct nnv_spoiled *s, const struct nnv_mistake *m);
};

/** All mistakes: those that are likelier, or more special, first. */
const struct nnv_mistake *nnv_mistakes(size_t *count);
/** True if it can happen to this operation, as far as the row's list says. */
bool nnv_mistake_fits(const struct nnv_mistake *m, int32_t op);

/* changes.c: changes of inputs that rows share */
bool nnv_change_set(struct nnv_edit *e, const struct nnv_mistake *m); /**< scalars to value */
bool nnv_change_add(struct nnv_edit *e, const struct nnv_mistake *m); /**< value to scalars */
bool nnv_change_from_to(struct nnv_edit *e,
                        const struct nnv_mistake *m); /**< scalars that are value to other, or the code */
bool nnv_change_toggle(struct nnv_edit *e, const struct nnv_mistake *m);   /**< flags */
bool nnv_change_swap(struct nnv_edit *e, const struct nnv_mistake *m);     /**< inputs, pair by pair */
bool nnv_change_zero(struct nnv_edit *e, const struct nnv_mistake *m);     /**< tensors to 0 */
bool nnv_change_zero_one(struct nnv_edit *e, const struct nnv_mistake *m); /**< element value (-1: last) to 0 */
bool nnv_change_first(struct nnv_edit *e, const struct nnv_mistake *m);    /**< all elements to the first */
bool nnv_change_times(struct nnv_edit *e, const struct nnv_mistake *m);    /**< tensors times value */
bool nnv_change_pairs(struct nnv_edit *e, const struct nnv_mistake *m);    /**< elements 0 and 1, 2 and 3 ... swapped */
bool nnv_change_reverse(struct nnv_edit *e, const struct nnv_mistake *m);  /**< elements in reverse order */
bool nnv_change_identity(struct nnv_edit *e, const struct nnv_mistake *m); /**< elements to 0, 1, 2 ... */
bool nnv_change_inverse(struct nnv_edit *e, const struct nnv_mistake *m);  /**< a permutation to its inverse */
bool nnv_change_rotate(struct nnv_edit *e, const struct nnv_mistake *m);   /**< rows of tensors, one further */
bool nnv_change_neighbours(struct nnv_edit *e, const struct nnv_mistake *m); /**< first two inputs of a repeated slot */
bool nnv_change_outputs(struct nnv_edit *e, const struct nnv_mistake *m);    /**< first two outputs */
bool nnv_change_groups(struct nnv_edit *e, const struct nnv_mistake *m);     /**< CHANNEL_SHUFFLE: n to extent / n */
bool nnv_change_op(struct nnv_edit *e, const struct nnv_mistake *m);         /**< operation code to the other */

/* changes_quant.c */
bool nnv_change_zero_point(struct nnv_edit *e, const struct nnv_mistake *m); /**< plus value */
bool nnv_change_no_zero_point(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_first_scale(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_next_scale(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_like_output(struct nnv_edit *e, const struct nnv_mistake *m); /**< all inputs encoded like the output */
bool nnv_change_like(struct nnv_edit *e, const struct nnv_mistake *m);        /**< slot 0 encoded like slot 1 */
bool nnv_change_bare_relu(struct nnv_edit *e, const struct nnv_mistake *m);   /**< quantised RELU taken away */
bool nnv_change_pad_stored(struct nnv_edit *e, const struct nnv_mistake *m);  /**< PAD: with a stored 0 */
bool nnv_change_half_unit(struct nnv_edit *e, const struct nnv_mistake *m);   /**< bias less half an output unit */

/* changes_window.c */
bool nnv_change_dense_taps(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_flip(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_turn(struct nnv_edit *e, const struct nnv_mistake *m); /**< filter height and width swapped */
bool nnv_change_channel_order(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_odd_first(struct nnv_edit *e, const struct nnv_mistake *m);
bool nnv_change_pad_first(struct nnv_edit *e, const struct nnv_mistake *m); /**< padded (value 1: with a stored 0) */

/* spoils.c */
bool nnv_spoil_clamp_stored(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_floor(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_truncate(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_ceil(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_low_bit(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_half(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_bfloat(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_unwritten(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< the last value elements, 0: all */
bool nnv_spoil_first_unwritten(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_batch(struct nnv_spoiled *s, const struct nnv_mistake *m);           /**< value 0: the second; 1: all */
bool nnv_spoil_batches_swapped(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< first and last */
bool nnv_spoil_overlap(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< last four elements one place too far */
bool nnv_spoil_first(struct nnv_spoiled *s, const struct nnv_mistake *m);   /**< the first element everywhere */
bool nnv_spoil_reverse_all(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_cut_bits(struct nnv_spoiled *s,
                        const struct nnv_mistake *m); /**< floats of `other` bytes to value bits */
bool nnv_spoil_through_float(struct nnv_spoiled *s, const struct nnv_mistake *m);  /**< INT32 */
bool nnv_spoil_never_negative(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< float32 */
bool nnv_spoil_flush(struct nnv_spoiled *s, const struct nnv_mistake *m);          /**< float32 below value to 0 */
bool nnv_spoil_finite(struct nnv_spoiled *s, const struct nnv_mistake *m);   /**< infinities to the largest number */
bool nnv_spoil_wrap_top(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< the largest 8-bit number */
bool nnv_spoil_shift(struct nnv_spoiled *s, const struct nnv_mistake *m);    /**< by value places */
bool nnv_spoil_add(struct nnv_spoiled *s, const struct nnv_mistake *m);      /**< value, in quantised units */
bool nnv_spoil_wrap(struct nnv_spoiled *s, const struct nnv_mistake *m);     /**< the top bit flipped */
bool nnv_spoil_times(struct nnv_spoiled *s, const struct nnv_mistake *m);    /**< real numbers times value */
bool nnv_spoil_no_zero_point(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_half_range(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_constant(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< all elements the real number 0 */
bool nnv_spoil_absolute(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_bytes(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_reverse(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< along the last axis */
bool nnv_spoil_transpose(struct nnv_spoiled *s, const struct nnv_mistake *m);
bool nnv_spoil_layout(struct nnv_spoiled *s, const struct nnv_mistake *m); /**< 0: NHWC as NCHW; 1: the other way */
bool nnv_spoil_first_channel(struct nnv_spoiled *s, const struct nnv_mistake *m);

#endif
