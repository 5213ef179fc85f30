/* SPDX-License-Identifier: Apache-2.0 */
/** @file draft.h A case of one operation while it is made; private to randgraph/single. */
#ifndef NNV_RANDGRAPH_SINGLE_DRAFT_H
#define NNV_RANDGRAPH_SINGLE_DRAFT_H

#include "base/rng.h"
#include "randgraph/single/single.h"
#include "reference/eval/eval.h"
#include "reference/model/sample.h"

/** A case of one operation under construction. */
struct nnv_single_draft {
    const struct nnv_single *what;
    struct nnv_arena *arena;
    struct nnv_sample *sample;
    const int32_t *scales;             /**< NNV_PLAN_SCALES: the row, see scales.h; else NULL */
    const struct nnv_operand *like[2]; /**< then: the inputs of both roles, or NULL */
    bool wordless;                     /**< nobody reads the attributes */
    const char *attributes;            /**< of the plan's row in words, or NULL */
    struct nnv_spec *spec;
    struct nnv_subgraph *s;
    struct nnv_value *values;      /**< one an operand; of model inputs */
    const struct nnv_slot **slots; /**< one an operand */
    struct nnv_rng rng;
    const struct nnv_single *keyed; /**< that key is of, whatever its index; NULL: there is none */
    uint64_t key;
    double magnitude, density; /**< see nnv_fill */
    int level;
};

/** What tells the case's numbers from those of others, but for the index; found once for all attempts. */
uint64_t nnv_single_key(struct nnv_single_draft *b);
/** The type of an operand in this slot. */
int32_t nnv_single_slot_type(const struct nnv_single_draft *b, const struct nnv_slot *slot);
/** Whether the input becomes a constant of the model. */
bool nnv_single_is_constant(const struct nnv_single_draft *b, const struct nnv_slot *slot,
                            const struct nnv_sample_arg *a);
/** Adds the operands of the sample's inputs, with their values. NNV_NO_MEMORY, NNV_INTERNAL: the sample lacks one. */
NNV_USE_RESULT enum nnv_status nnv_single_add_inputs(struct nnv_single_draft *b, struct nnv_err *err);

/** The attributes of the plan's case, where it has a row of them; else row is left alone. NNV_INTERNAL: see
 * nnv_layer_row(). */
NNV_USE_RESULT enum nnv_status nnv_single_row(const struct nnv_single *w, int32_t row[NNV_MAX_FACTORS],
                                              struct nnv_err *err);
/** True if the plan chooses the quantisation also where the sample's hook has one: of pairs, of inputs that repeat. */
bool nnv_single_scales_all(const struct nnv_single_draft *b);

/* constants.c */
/** How many cases of NNV_PLAN_CONSTANTS there are; 0: there are not two tensors of data. */
int nnv_constants_planned(const struct nnv_op *op);
/** False if the argument is none of the sample's data, or alone; else *constant is what the plan makes of it. */
bool nnv_constants_choose(const struct nnv_single_draft *b, const struct nnv_sample_arg *a, bool *constant);
/** True if all elements of the plan's constant are *v, which backends may treat by itself: 0, 1, 2, 1/2, -1 or 6. */
bool nnv_constants_number(struct nnv_single_draft *b, const struct nnv_slot *slot, const struct nnv_sample_arg *a,
                          double *v);

/* sweep.c */
/**
 * The attributes that come with quantisations of NNV_PLAN_SCALES: of four cases two have a drawn variant (false), one
 * the usual attributes, for which backends have kernels of their own, one a row of the attributes' cover.
 */
bool nnv_single_scaled_row(const struct nnv_single *w, int32_t row[NNV_MAX_FACTORS]);
/** True for comparisons: NNAPI's own implementation compares the bytes of booleans, not what they stand for. */
bool nnv_single_compares_bytes(const struct nnv_op *op);
/** True if the operation takes any number, also NaN: it compares or chooses. */
bool nnv_single_takes_any(const struct nnv_op *op);
/** True if a tensor of type T has edges or limits in this signature. */
bool nnv_single_has_limits(const struct nnv_op *op, int sig);
/** 1 + the activation that a case at the limits of an operation on pairs has, if it has one; 0: as its sample says. */
int nnv_sweep_fused(const struct nnv_single *w);
/** Modes SWEEP and LIMITS of an elementwise operation: gives all tensors the shape that holds all codes or numbers; of
 * each three cases at the limits of pairs one has the second tensor as a constant, and one has odd rows of rank 4. */
void nnv_sweep_shape(const struct nnv_single_draft *b);
/** The same modes, any operation: how the slot's values go through them. f has its other members. */
NNV_USE_RESULT enum nnv_status nnv_sweep_fill(const struct nnv_single_draft *b, const struct nnv_slot *slot,
                                              struct nnv_fill *f, struct nnv_err *err);
/** Replaces inputs of an elementwise operation where INT32 cannot hold the result; false if there were none. */
bool nnv_sweep_tame(const struct nnv_single_draft *b, const struct nnv_golden *golden);

/* results.c */
/** Sums of products are known but for the quantisation that was chosen for them: rounds them by it. */
void nnv_results_requantise(const struct nnv_single_draft *b, const struct nnv_golden *golden);
/** All results are numbers, those of integers within their range. */
bool nnv_results_finite(const struct nnv_single_draft *b);
/** The number of results is not certain: a correct driver may give more or fewer where a decision is open. */
bool nnv_results_open(const struct nnv_single_draft *b);
/** All compared outputs of more than one element have equal elements. */
bool nnv_results_constant(const struct nnv_single_draft *b);
/** True if they are so few that a small one, as chance has it, leaves nothing to compare. */
bool nnv_results_few(const struct nnv_single_draft *b);
/**
 * Some element of each output is compared: neither near the end of its type nor lost in rounding, nor open: of equal
 * numbers the place of the largest is.
 */
bool nnv_results_comparable(const struct nnv_single_draft *b);
/** Declares the shapes that inference tells of the outputs; *known: it tells all. */
NNV_USE_RESULT enum nnv_status nnv_results_infer(const struct nnv_single_draft *b, bool *known, struct nnv_err *err);
/** The range that results of declared shapes are likely to have: sums of products, as products of either sign add up;
 * others, that of input 0. */
void nnv_results_guess(const struct nnv_single_draft *b, double *lo, double *hi);

#endif
