/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file faults.h The catalogue of faults: what a driver plausibly gets wrong, as an edit of a model or of its results.
 * `nnvts explain` looks for the one that makes an answer as wrong as it is; the driver `faulty` has them planted.
 */
#ifndef NNV_FAULTS_FAULTS_H
#define NNV_FAULTS_FAULTS_H

#include "reference/faults/edit.h"

enum { NNV_FAULT_SLOTS = 6, NNV_FAULT_OPS = 10, NNV_FAULT_FLAT = -1, NNV_FAULT_LAST_TWO = -2 };

/** One output, as it should be and as it would be with a fault in handling values. */
struct nnv_fault_output {
    int32_t type; /**< with its encoding */
    float scale;
    int32_t zero_point;
    uint32_t rank; /**< and shape; 0: unknown, or a scalar's */
    const uint32_t *dims;
    size_t n;             /**< elements */
    const double *v;      /**< stored numbers, right ones */
    const double *exact;  /**< unrounded real results, moved as far as v was; NULL: unknown */
    const double *poison; /**< what the buffer held before the execution, as stored numbers */
};

/** Types of outputs that an element can be wrong in. */
enum nnv_fault_types { NNV_FAULT_ANY, NNV_FAULT_8BIT, NNV_FAULT_UINT8, NNV_FAULT_FLOAT, NNV_FAULT_FLOAT32 };

struct nnv_fault {
    const char *name;           /**< "dilation-ignored" */
    const char *words;          /**< what the driver seems to do */
    int32_t ops[NNV_FAULT_OPS]; /**< operations that it can happen to; nops 0: all */
    uint8_t nops;
    const char *slots[NNV_FAULT_SLOTS]; /**< inputs that it is about, by their names in the record */
    enum nnv_fault_types types;         /**< of outputs */
    bool few;                           /**< of values: likely enough if only one or two are wrong */
    bool poison;                        /**< elements keep the bytes that the buffer held */
    bool generated;                     /**< from an operation's record: of many, so it needs more evidence */
    double value, other;                /**< numbers that it is about */
    double unit, offset;                /**< accumulators.c: the real number of one, and what zero is */
    const double *held; /**< limits.c: the code that an input holds for each element of the output, nheld of them */
    size_t nheld;
    /** Or: the index that is read instead of i on an axis of the extent n; -1: the real number 0. */
    int64_t (*place)(const struct nnv_fault *f, int64_t i, int64_t n);
    const struct nnv_fault *part[2]; /**< or: both of these, one after the other; NULL: not */
    int axis; /**< of place; NNV_FAULT_FLAT: all elements, one behind the other; NNV_FAULT_LAST_TWO: of two axes */
    int32_t code, other_code; /**< operation that is taken for another; both 0: none */
    /** Changes the operation in hand; false if it can't happen to it. */
    bool (*change)(struct nnv_edit *e, const struct nnv_fault *f);
    /** Or: changes the n stored numbers of an input that the row names; false if they are the same. */
    bool (*numbers)(const struct nnv_fault *f, double *v, size_t n);
    /** Element i of an output as the fault makes it: alone, or with a change of the model. */
    double (*element)(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i);
};

/** All faults: those that are likelier, or more special, first. */
const struct nnv_fault *nnv_faults(size_t *count);
/** The fault by name, or NULL. */
const struct nnv_fault *nnv_fault_by_name(const char *name);
/** Elements hold what their buffer held before; which ones, only the answer says. Not in the list of all. */
const struct nnv_fault *nnv_fault_untouched(void);
/** True if it can happen to this operation, as far as the row's list says. */
bool nnv_fault_fits(const struct nnv_fault *f, int32_t op);
/** True if it changes the model; false: only results. */
bool nnv_fault_is_edit(const struct nnv_fault *f);
/** Changes the operation in hand; false if the fault can't happen to it. */
bool nnv_fault_apply(const struct nnv_fault *f, struct nnv_edit *e);
/** True if it changes results, alone or with a change of the model. */
bool nnv_fault_is_spoil(const struct nnv_fault *f);
/** Element i of y with the fault, which is no pair: that of y where the fault does not concern it. */
double nnv_fault_element(const struct nnv_fault *f, const struct nnv_fault_output *y, size_t i);
/** Writes y's elements with the fault to out; false if none is another. */
bool nnv_fault_spoil(const struct nnv_fault *f, const struct nnv_fault_output *y, double *out);

/* changes.c: what rows share, here and in tables of others */
bool nnv_change_swap(struct nnv_edit *e, const struct nnv_fault *f);          /**< inputs, pair by pair */
bool nnv_change_zero(struct nnv_edit *e, const struct nnv_fault *f);          /**< tensors to the real number 0 */
bool nnv_change_rotate(struct nnv_edit *e, const struct nnv_fault *f);        /**< rows of tensors, one further */
bool nnv_change_axis_mirrored(struct nnv_edit *e, const struct nnv_fault *f); /**< axes counted from the last one */
/** Real numbers below 0 become 0; value above 0: lose their signs; below: change them. Of slot 0. */
bool nnv_change_signs(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_neighbours(struct nnv_edit *e, const struct nnv_fault *f); /**< first two inputs of a repeated slot */
bool nnv_change_outputs(struct nnv_edit *e, const struct nnv_fault *f);    /**< first two outputs */
bool nnv_change_groups(struct nnv_edit *e, const struct nnv_fault *f);     /**< CHANNEL_SHUFFLE: n to extent / n */
/** Which keys of a table are looked up instead. */
enum nnv_fault_lookups {
    NNV_LOOKUPS_FIRST_LOST, /**< none for the first */
    NNV_LOOKUPS_LAST_LOST,
    NNV_LOOKUPS_NEXT, /**< the next greater one for one that is missing */
};
bool nnv_change_lookups(struct nnv_edit *e, const struct nnv_fault *f); /**< slot 0, in the keys of slot 1, by value */
bool nnv_change_op(struct nnv_edit *e,
                   const struct nnv_fault *f); /**< operation code to the other, which takes what inputs it has */

bool nnv_change_numbers(struct nnv_edit *e, const struct nnv_fault *f); /**< f->numbers, of each input named */

/* changes.c: of the n numbers of an input */
bool nnv_numbers_set(const struct nnv_fault *f, double *v, size_t n);      /**< a scalar to value */
bool nnv_numbers_from_to(const struct nnv_fault *f, double *v, size_t n);  /**< a scalar that is value to other */
bool nnv_numbers_add(const struct nnv_fault *f, double *v, size_t n);      /**< value to a scalar */
bool nnv_numbers_toggle(const struct nnv_fault *f, double *v, size_t n);   /**< a flag */
bool nnv_numbers_zero_one(const struct nnv_fault *f, double *v, size_t n); /**< element value (-1: the last) to 0 */
bool nnv_numbers_times(const struct nnv_fault *f, double *v, size_t n);    /**< times value */
bool nnv_numbers_identity(const struct nnv_fault *f, double *v, size_t n); /**< to 0, 1, 2 ... */
bool nnv_numbers_pairs(const struct nnv_fault *f, double *v, size_t n);    /**< 0 and 1, 2 and 3 ... swapped */
bool nnv_numbers_in_float(const struct nnv_fault *f, double *v, size_t n); /**< as float32, in INT32 again */
bool nnv_numbers_reverse(const struct nnv_fault *f, double *v, size_t n);
bool nnv_numbers_inverse(const struct nnv_fault *f, double *v, size_t n); /**< a permutation to its inverse */

/* quant.c */
bool nnv_change_zero_point(struct nnv_edit *e, const struct nnv_fault *f); /**< of inputs, plus value */
bool nnv_change_no_zero_point(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_output_zero_point(struct nnv_edit *e, const struct nnv_fault *f); /**< plus value */
bool nnv_change_first_scale(struct nnv_edit *e, const struct nnv_fault *f);
/** All inputs encoded like the output; value 1: those that have its zero point. */
bool nnv_change_like_output(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_narrow_centred(struct nnv_edit *e, const struct nnv_fault *f); /**< less their zero point to 8 bits */
bool nnv_change_like(struct nnv_edit *e, const struct nnv_fault *f);           /**< slot 0 encoded like slot 1 */
bool nnv_change_scale_times(struct nnv_edit *e, const struct nnv_fault *f);    /**< of slot 0 */
bool nnv_change_scale_power(struct nnv_edit *e, const struct nnv_fault *f);    /**< to the nearest power of two */
bool nnv_change_scales_placed(struct nnv_edit *e, const struct nnv_fault *f);  /**< per channel, by f->place */
bool nnv_change_bare_relu(struct nnv_edit *e, const struct nnv_fault *f);      /**< quantised RELU taken away */
bool nnv_change_pad_stored(struct nnv_edit *e, const struct nnv_fault *f);     /**< PAD: with a stored 0 */
bool nnv_change_half_unit(struct nnv_edit *e, const struct nnv_fault *f);      /**< bias less half an output unit */

/* windows.c */
bool nnv_change_dense_taps(struct nnv_edit *e, const struct nnv_fault *f); /**< side by side */
/** Rows of taps as far apart as columns, where they are farther (other: 1: columns as rows). */
bool nnv_change_crossed_taps(struct nnv_edit *e, const struct nnv_fault *f);
/** GROUPED_CONV_2D as one product whose weights outside the groups' blocks are the stored number value. */
bool nnv_change_groups_leak(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_flip(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_transpose_filter(struct nnv_edit *e, const struct nnv_fault *f); /**< height and width swapped */
bool nnv_change_channel_order(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_odd_first(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_undilated_padding(struct nnv_edit *e, const struct nnv_fault *f);
/** SAME padding before the height (value 0) or width (1), or both (2), by the dilation of the other one. */
bool nnv_change_crossed_padding(struct nnv_edit *e, const struct nnv_fault *f);
/** How padding before an image is wrong. */
enum nnv_fault_heads {
    NNV_HEADS_SWAPPED,    /**< of height and width */
    NNV_HEADS_FROM_TAILS, /**< what is to be behind */
    NNV_HEADS_NONE,       /**< all behind */
    NNV_HEADS_ALL,        /**< none behind */
    NNV_HEADS_LESS,       /**< one less */
    NNV_HEADS_LEFT,       /**< of the width that of the height */
    NNV_HEADS_TOP,        /**< of the height that of the width */
    NNV_HEADS_MORE,
};
bool nnv_change_heads(struct nnv_edit *e, const struct nnv_fault *f);     /**< padding before, by value */
bool nnv_change_pad_first(struct nnv_edit *e, const struct nnv_fault *f); /**< padded (value 1: with a stored 0) */

/* rebuilt.c */
/** What numbers are divided by when they are normalised. */
enum nnv_fault_deviations {
    NNV_DEVIATION_OUTSIDE, /**< epsilon is added to the root */
    NNV_DEVIATION_LEAST,   /**< epsilon is the least variance */
    NNV_DEVIATION_SAMPLE,  /**< the variance is that of a sample: of one number less */
};
bool nnv_change_deviation(struct nnv_edit *e, const struct nnv_fault *f);  /**< INSTANCE_NORMALIZATION's, by value */
bool nnv_change_no_maximum(struct nnv_edit *e, const struct nnv_fault *f); /**< SOFTMAX, LOG_SOFTMAX: not subtracted */
bool nnv_change_normalised_bias(struct nnv_edit *e, const struct nnv_fault *f); /**< LSTM: before normalisation */
/** ROI_ALIGN: samples in the height (value 1: width) that are to be worked out are worked out of the other direction.
 */
bool nnv_change_samples(struct nnv_edit *e, const struct nnv_fault *f);
/** ROI_ALIGN: boxes half a sample farther to the begin. */
bool nnv_change_samples_at_begin(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_boxes_down(struct nnv_edit *e, const struct nnv_fault *f); /**< coordinates of boxes */
bool nnv_change_last_pixel(struct nnv_edit *e, const struct nnv_fault *f); /**< images one pixel smaller */
/** What later operations read of input 0, a temporary, is the result: it was written there. */
bool nnv_change_in_place(struct nnv_edit *e, const struct nnv_fault *f);
bool nnv_change_cast_to_nearest(struct nnv_edit *e, const struct nnv_fault *f); /**< instead of toward 0 */
/** The operation and the one before it, f->code, left out: what goes in comes out, or its codes. */
bool nnv_change_pair_dropped(struct nnv_edit *e, const struct nnv_fault *f);

#endif
