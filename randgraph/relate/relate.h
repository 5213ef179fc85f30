/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file relate.h Relations between two models: what a driver must say of both alike, whatever the right values are.
 *
 * A relation turns a spec into another one whose outputs must correspond to the first one's: no golden value is needed
 * to judge a driver by it, so it holds a driver to account even where the reference might be wrong.
 */
#ifndef NNV_RANDGRAPH_RELATE_H
#define NNV_RANDGRAPH_RELATE_H

#include "reference/model/op.h"

#define NNV_RELATED_NONE UINT32_MAX

/** Two specs and how their outputs correspond. */
struct nnv_related {
    struct nnv_arena *arena;        /**< of all that is made */
    struct nnv_rng rng;             /**< draws what is changed, and where */
    const struct nnv_spec *from;    /**< valid; fully fed */
    const struct nnv_shape *shapes; /**< of the operands of from's main subgraph, as far as they are known */
    struct nnv_spec *to;            /**< the other one */
    struct nnv_spec *decoy; /**< a model that is to be prepared before the others, and must not matter; or NULL */
    uint32_t *output;       /**< the output of `from` that each output of `to` corresponds to, or NNV_RELATED_NONE */
    uint32_t *rows; /**< row i (along axis 0) of each output of `to` is row rows[i] of from's; NULL: they are alike */
    uint32_t nrows;
    uint32_t operand_room, operation_room; /**< of to's main subgraph */
};

/** How outputs are compared. */
enum nnv_relation_compare {
    NNV_RELATION_BYTES,   /**< byte by byte: the driver has no reason to compute anything else */
    NNV_RELATION_BUDGETS, /**< the driver may choose other kernels: within the budgets of both added up */
};

/** A row of the table. */
struct nnv_relation {
    const char *name;
    const char *says; /**< what must hold, for people */
    enum nnv_relation_compare compare;
    const char *profile; /**< of the graphs that it is tried on; NULL: any */
    int operations;      /**< that graphs should have for it; 0: the profile says */
    /** Makes r->to out of a copy of r->from; false if the spec does not lend itself to it. */
    bool (*relate)(struct nnv_related *r);
};
extern const struct nnv_relation nnv_relations[];
extern const size_t nnv_relation_count;

/**
 * Applies the relation to `from` with choices drawn by seed. *applies is false if the spec does not lend itself to it;
 * otherwise r->to is valid. NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_relate(const struct nnv_relation *relation, const struct nnv_spec *from,
                                          uint64_t seed, struct nnv_arena *arena, struct nnv_related *r, bool *applies,
                                          struct nnv_err *err);

/** True if results of the model are drawn at random: they can't be related. */
bool nnv_relate_is_random(const struct nnv_model *model);

/* ----------------------------------------------------------- for relations */

/** Appends an operand to `to` and returns its index. At most a few dozen may be added. */
uint32_t nnv_relate_operand(struct nnv_related *r, struct nnv_operand operand);
/** A temporary like operand `like` of `to`, of another shape. */
uint32_t nnv_relate_tensor(struct nnv_related *r, uint32_t like, uint32_t rank, const uint32_t *dims);
/** Constants. */
uint32_t nnv_relate_int(struct nnv_related *r, int32_t value);
uint32_t nnv_relate_ints(struct nnv_related *r, uint32_t rank, const uint32_t *dims, const int32_t *values);
/** Inserts an operation in front of operation `at`. */
void nnv_relate_insert(struct nnv_related *r, uint32_t at, int32_t code, uint32_t nin, const uint32_t *in,
                       uint32_t nout, const uint32_t *out);
/** New temporaries like the outputs of operation `at`, one each; NULL if one's contents are the driver's own. */
uint32_t *nnv_relate_outputs(struct nnv_related *r, uint32_t at);
/** Does an operation again for one of the readers of a result: *inserted is the second one. */
bool nnv_relate_again(struct nnv_related *r, uint32_t *inserted);
/** A spec that may be changed without changing `spec`, with room for more operands, operations, inputs and outputs.
 * NULL: no memory. */
struct nnv_spec *nnv_relate_copy(const struct nnv_spec *spec, struct nnv_arena *arena);
/** An input of an operation that is a tensor of at least `least` elements and known shape which is no constant, drawn
 * by r->rng. False if there is none. */
bool nnv_relate_edge(struct nnv_related *r, size_t least, uint32_t *operation, uint32_t *position);
/** The INT32 or BOOL constant at input `position` of operation op of `from`; dflt if it is none. */
int32_t nnv_relate_constant(const struct nnv_related *r, const struct nnv_operation *op, uint32_t position,
                            int32_t dflt);

/* relate_order.c: bookkeeping */
bool nnv_relate_renumbered(struct nnv_related *r);
bool nnv_relate_reordered(struct nnv_related *r);
bool nnv_relate_inputs_permuted(struct nnv_related *r);
bool nnv_relate_outputs_permuted(struct nnv_related *r);
bool nnv_relate_lifetimes(struct nnv_related *r);
bool nnv_relate_open(struct nnv_related *r);
bool nnv_relate_promoted(struct nnv_related *r);
bool nnv_relate_unused(struct nnv_related *r);
bool nnv_relate_repeated_operation(struct nnv_related *r);

/* constants.c */
/**
 * Makes the value of input `at` of the model a constant of it, whose lists it changes. False: the input is omitted, has
 * no elements or not the rank of its value.
 */
bool nnv_relate_fix_input(struct nnv_spec *to, uint32_t at, bool copied);
bool nnv_relate_constant_fed(struct nnv_related *r);
bool nnv_relate_input_fixed(struct nnv_related *r);
bool nnv_relate_constants_alike(struct nnv_related *r);
bool nnv_relate_constants_repeated(struct nnv_related *r);
bool nnv_relate_scalar_apart(struct nnv_related *r);

/* relate_edge.c: operations put in that change nothing */
bool nnv_relate_transposed(struct nnv_related *r);
bool nnv_relate_reshaped(struct nnv_related *r);
bool nnv_relate_split(struct nnv_related *r);
bool nnv_relate_padded(struct nnv_related *r);
bool nnv_relate_times_one(struct nnv_related *r);
bool nnv_relate_tiled(struct nnv_related *r);
bool nnv_relate_pad_apart(struct nnv_related *r);

/* branch.c: control flow */
bool nnv_relate_branched(struct nnv_related *r);

/* types.c: through another type */
bool nnv_relate_quantised_again(struct nnv_related *r);
bool nnv_relate_cast_twice(struct nnv_related *r);
bool nnv_relate_through_floats(struct nnv_related *r);

/* relate_batch.c: rows of a batch */
bool nnv_relate_rows_permuted(struct nnv_related *r);
bool nnv_relate_rows_repeated(struct nnv_related *r);
bool nnv_relate_row_alone(struct nnv_related *r);
bool nnv_relate_halves(struct nnv_related *r);

#endif
