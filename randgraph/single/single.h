/* SPDX-License-Identifier: Apache-2.0 */
/** @file single.h Building test cases of one operation from its record. */
#ifndef NNV_RANDGRAPH_SINGLE_H
#define NNV_RANDGRAPH_SINGLE_H

#include "randgraph/fill.h"
#include "reference/model/op.h"

/** Where the attributes of a case come from. */
enum nnv_plan {
    NNV_PLAN_VARIANT, /**< drawn by the record's hook for the variant */
    NNV_PLAN_COVER,   /**< row `index` of the cover of the operation's factors (cover.h), modulo its rows */
    NNV_PLAN_SIZE,    /**< the usual values but for one that is an unusual size */
    NNV_PLAN_WIDTH,   /**< the usual values but for a width of vectors or tiles and one other (cover.h) */
    NNV_PLAN_LAYER,   /**< a layer of a real network (layers.h), its image made small */
    NNV_PLAN_NETWORK, /**< the same layer with its true image */
    NNV_PLAN_LARGE,   /**< a tensor of more than 2^16 elements: the usual values but for those that make it so */
    NNV_PLAN_HUGE,    /**< the same of more than 2^24 bytes */
    NNV_PLAN_INPUTS, /**< drawn for the variants in turn, all tensors inputs of the model, each second time scalars, too
                      */
    NNV_PLAN_SCALES, /**< drawn for the variants in turn, quantised by a row of a cover (scales.h) */
    NNV_PLAN_CONSTANTS, /**< drawn for the variants in turn, data constants of the model that usually are inputs */
    NNV_PLAN_ROW,       /**< the caller's row */
    NNV_PLAN_COUNT
};
/** "cover", "size", "size_64k" and so on; "" for NNV_PLAN_VARIANT. */
const char *nnv_plan_name(enum nnv_plan plan);

/** What names a generated case: the same members give the same bytes. */
struct nnv_single {
    const struct nnv_op *op;
    int sig;            /**< index into op->sigs */
    enum nnv_plan plan; /**< only with nnv_single_planned() cases */
    int variant;        /**< index into op->variants, where the plan is NNV_PLAN_VARIANT */
    int index;          /**< the number of the case within its variant or plan, from 0 */
    enum nnv_fill_mode mode;
    uint64_t seed;
    bool relaxed;       /**< only where nnv_single_relaxable() */
    const char *name;   /**< of the spec; borrowed */
    const int32_t *row; /**< NNV_PLAN_ROW: a value for each of the operation's factors */
};

/** True if the record has cases of this mode for the signature: exact only for linear operations ... */
bool nnv_single_has(const struct nnv_op *op, int sig, enum nnv_fill_mode mode);
/** Number of cases of a plan that the signature has; 0 for NNV_PLAN_VARIANT, of which there are any number. */
int nnv_single_planned(const struct nnv_op *op, int sig, enum nnv_plan plan);
/**
 * The case's name within its operation and signature, unique among those of its mode: "stride_same", "cover", "size",
 * "layer/mobilenet_v2_expand". buf is terminated; returns buf.
 */
const char *nnv_single_variant_name(const struct nnv_single *what, char *buf, size_t room);
/** Number of cases that make a whole sweep: floats take several; pairs of codes are in one. */
int nnv_single_sweep_cases(const struct nnv_op *op, int sig);
/** True if element i of the result is made of element i of each tensor, where their shapes are equal: what sweeps and
 * limits need, one of each a signature. */
bool nnv_single_is_elementwise(const struct nnv_op *op);
/** True if the case is of NNV_PLAN_SIZE, and its unusual size is beyond 16 bits. */
bool nnv_single_has_long_line(const struct nnv_single *what);
/**
 * True if the case, of NNV_PLAN_SIZE, has lines of an unusual length of which each is judged as a whole: what stands
 * behind the last whole vector may outweigh all the others. Lengths that fill vectors do not tell, very long ones cost.
 */
bool nnv_single_has_uneven_lines(const struct nnv_single *what);
/** True if the case, of NNV_PLAN_SIZE, has an unusual size that makes sums longer. */
bool nnv_single_has_long_sums(const struct nnv_single *what);
/** True if the signature computes in float32, which a relaxed model may do in float16. */
bool nnv_single_relaxable(const struct nnv_op *op, int sig);
/** From one signature to the next the cases of mistakes begin so many mistakes later, of at most so many; two of three
 * cases have one of other kinds: what may be by itself, but not beside the rest, and numbers just beyond a limit. */
enum { NNV_REFUSED_STEP = 3, NNV_REFUSED_KINDS = 12, NNV_REFUSED_GROUPS = 3 };
/** The combination of types is the first with its main type: what filters are made of is another's. */
bool nnv_single_is_first(const struct nnv_op *op, int sig);
/** Number of names in op->variants. */
int nnv_single_variants(const struct nnv_op *op);
/**
 * A short name of the signature, unique within the operation: the tag of its main type, "_per_channel" where the filter
 * is, and further types where signatures would be alike. buf is terminated; returns buf.
 */
char *nnv_single_sig_name(const struct nnv_op *op, int sig, char *buf, size_t room);

/**
 * Draws shapes, attributes, quantisation and values, computes the expected outputs, and gives a valid spec whose
 * min_version is the feature level of its model. All of it is arena's. Draws whose results say nothing (all equal,
 * not finite) are repeated a few times. NNV_INTERNAL if the record's hooks give an invalid use.
 */
NNV_USE_RESULT enum nnv_status nnv_single_build(const struct nnv_single *what, struct nnv_arena *arena,
                                                struct nnv_spec **spec, struct nnv_err *err);
/**
 * The model of such a case alone: valid, with values, but nothing is evaluated. Its outputs have the shapes that
 * inference tells, and a quantisation for results that are likely, where the record leaves it free; spec->outputs is
 * NULL. Control flow, and operations whose shapes only values tell, are built as above. Mode NORMAL.
 */
NNV_USE_RESULT enum nnv_status nnv_single_model(const struct nnv_single *what, struct nnv_arena *arena,
                                                struct nnv_spec **spec, struct nnv_err *err);
/** Evaluates such a model for its expected outputs, if it has none yet. */
NNV_USE_RESULT enum nnv_status nnv_single_expect(struct nnv_spec *spec, struct nnv_arena *arena, struct nnv_err *err);
/** The ranks (bits 1 << rank) that inputs of the type which need not be constants have in such a case. */
uint32_t nnv_single_ranks(const struct nnv_single *what, int32_t type, struct nnv_arena *arena);
/**
 * The first draw of such a case before anything is evaluated: its outputs have no expected values, no shapes (but those
 * of control flow), and quantisations that only will do for an evaluation. *spec is NULL if it is known early that no
 * input can take a value of the type and rank of `like`, also not in the next cases but one. Mode NORMAL.
 * NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_single_draw(const struct nnv_single *what, const struct nnv_operand *like,
                                               struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err);

#endif
