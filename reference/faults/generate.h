/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file generate.h Faults that follow from an operation's record: each attribute dropped, fixed, doubled, taken for its
 * neighbour; each tensor read in other places, rounded, encoded otherwise; the operation left out or done twice.
 */
#ifndef NNV_FAULTS_GENERATE_H
#define NNV_FAULTS_GENERATE_H

#include "reference/faults/faults.h"

/** Faults, arena's. */
struct nnv_fault_list {
    struct nnv_arena *arena;
    struct nnv_fault *item;
    size_t count, room;
    bool failed; /**< out of memory */
};

/** Adds those of a use of an operation: of its scalars and short lists. */
void nnv_generate_attributes(struct nnv_fault_list *l, const struct nnv_call *call);
/** Adds those of its tensors, and of the operation as a whole. */
void nnv_generate_tensors(struct nnv_fault_list *l, const struct nnv_call *call);
/** Adds those of an output of this type and shape (rank 0: not known): changes of its values. */
void nnv_generate_spoils(struct nnv_fault_list *l, int32_t type, uint32_t rank, const uint32_t *dims);

/**
 * Adds those that answers themselves suggest: results not below low, not above high, magnitudes up to tiny taken for 0.
 * Not finite, and tiny 0: none.
 */
void nnv_generate_limits(struct nnv_fault_list *l, double low, double high, double tiny);

/**
 * Adds those of an operation that adds up or multiplies codes in too few bits: sums and products that wrap or saturate
 * (accumulators.c), operands and results in a type of fewer digits.
 */
void nnv_generate_accumulators(struct nnv_fault_list *l, const struct nnv_call *call);
/** Adds those of convolutions that take the channels of their inputs or groups in another order. */
void nnv_generate_channel_order(struct nnv_fault_list *l, const struct nnv_call *call);
/** Adds those of limits of an activation, fused or an operation of its own, that are no right codes. */
void nnv_generate_activations(struct nnv_fault_list *l, const struct nnv_call *call);
/**
 * Adds those of operation `at` of s, whose calls these are: its result is written over that of an earlier one, which is
 * read again behind it (memory.c).
 */
void nnv_generate_overwritten(struct nnv_fault_list *l, const struct nnv_subgraph *s, struct nnv_call *const *calls,
                              uint32_t at);
/** Adds those of an operation that copies codes of an input where its number is the result. */
void nnv_generate_handed_on(struct nnv_fault_list *l, const struct nnv_call *call);

/** A number rounded to a significand of f->value bits; f->other not 0: cut. */
double nnv_number_in_bits(const struct nnv_fault *f, double v);

/* For the two above; places.c. */
/** Adds a copy, named after its words, which are formatted. */
void nnv_generate(struct nnv_fault_list *l, struct nnv_fault f, const char *words, ...) NNV_PRINTF(3, 4);
/** Adds, for an axis of this extent, f with each other place to read from. whose: "of the filter, axis 2". */
void nnv_generate_places(struct nnv_fault_list *l, struct nnv_fault f, uint32_t extent, const char *whose);
/** An element of an output by f->place. */
double nnv_element_placed(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i);
/** Numbers of the input in slot 0 by f->place. */
bool nnv_change_placed(struct nnv_edit *e, const struct nnv_fault *f);

#endif
