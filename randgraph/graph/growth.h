/* SPDX-License-Identifier: Apache-2.0 */
/** @file growth.h A graph that grows; private to the files graph*.c. */
#ifndef NNV_RANDGRAPH_GRAPH_GROWTH_H
#define NNV_RANDGRAPH_GRAPH_GROWTH_H

#include "randgraph/graph/catalogue.h"
#include "randgraph/graph/fit.h"
#include "randgraph/graph/plan.h"
#include "reference/eval/eval.h"

enum {
    NNV_GRAPH_REDRAWS = 8,   /* of a graph of which an output does not depend on an input */
    NNV_GRAPH_ELEMS = 2048,  /* of a value, at most */
    NNV_GRAPH_WORK = 1 << 20 /* products of an operation, about, at most */
};

/** A graph that grows. */
struct nnv_growth {
    const struct nnv_graph_options *what;
    int redraw, wanted; /**< wanted: operations */
    int begun;          /**< tries of a first operation */
    size_t first;       /**< use that the graph begins with; the catalogue's count: none */
    const struct nnv_graph_catalogue *catalogue;
    struct nnv_arena *arena, *step; /**< the spec's; emptied before each try */
    struct nnv_rng rng;
    struct nnv_graph_plan plan;
    struct nnv_operand *operand;
    struct nnv_operation *operation;
    struct nnv_graph_value *value; /**< one an operand; those of constants and inputs have no data */
    uint32_t noperands, noperations, operand_room, operation_room;
    uint32_t *live; /**< operands that operations wrote and that may be read on */
    uint32_t nlive, live_room;
    uint32_t mute;  /**< operations whose results do not tell of their inputs */
    uint32_t known; /**< a value that depends on no input, and no operation reads yet; 0: none */
    struct nnv_value *inputs;
    uint32_t *in, nin;       /**< of the model: from the first operation */
    struct nnv_value *empty; /**< per model input: its value where the batch is empty; NULL: not asked for */
    struct nnv_subgraph *referenced;
    uint32_t nreferenced, referenced_room;
};

/** A use of an operation on its way into the graph. */
struct nnv_graph_step {
    struct nnv_spec *drawn;
    struct nnv_graph_draft draft;
    struct nnv_golden *golden;
    struct nnv_golden **other; /**< one a model input: the results where that input is another one */
    struct nnv_golden *empty;  /**< the results where the batch is empty, if asked for */
    const struct nnv_form *form;
};

/** Bounds that do not depend on the machine: with other inputs a loop may never end, or grow a value at each turn. */
extern const struct nnv_eval_options nnv_growth_bounds;

/* graph_vary.c */
/** Other values of the range that the input has: its own in another order, mirrored at the middle of their range, and
 * drawn nearer to it.
 */
bool nnv_growth_perturb(const struct nnv_operand *o, const struct nnv_value *v, struct nnv_arena *arena,
                        struct nnv_value *out);
/** False if a compared output that depends on values is what it was. */
bool nnv_growth_changed(const struct nnv_subgraph *m, const struct nnv_golden *was, const struct nnv_golden *is);
/** The same value without rows: its first extent is 0. False: it is a scalar. */
bool nnv_growth_without_rows(const struct nnv_value *v, struct nnv_arena *arena, struct nnv_value *out);

/* graph_choose.c */
/** Chooses the first use by the number of the graph, and the plan. */
void nnv_growth_begin(struct nnv_growth *g);
/** The use to begin with at a try; NULL: none. */
const struct nnv_graph_use *nnv_growth_first(struct nnv_growth *g, int try);
/** A value to go on from: one that no operation reads yet is preferred, and the newer ones. */
const struct nnv_graph_value *nnv_growth_value(struct nnv_growth *g);
/** A use for the value at a try; NULL: none. */
const struct nnv_graph_use *nnv_growth_use(struct nnv_growth *g, const struct nnv_graph_value *from, int try);

/* graph_step.c */
/** Tries one use on a value (NULL: as the first operation); *kept tells. */
NNV_USE_RESULT enum nnv_status nnv_growth_try(struct nnv_growth *g, const struct nnv_graph_use *use,
                                              const struct nnv_graph_value *from, bool *kept, struct nnv_err *err);
/** Evaluates the draft. */
NNV_USE_RESULT enum nnv_status nnv_growth_evaluate(struct nnv_growth *g, struct nnv_graph_step *s, struct nnv_err *err);
/** The other results of all model inputs. False: an output does not depend on one of them. */
bool nnv_growth_depends(struct nnv_growth *g, struct nnv_graph_step *s);
/** Control flow declares what its subgraphs give, open extents included. */
bool nnv_growth_declares(int32_t code);

/** The first operation, of which nothing goes on: the graph goes on from its input. */
bool nnv_growth_from_input(const struct nnv_growth *g, int32_t code);

/* graph_keep.c */
/** Appends the step to the graph. */
NNV_USE_RESULT enum nnv_status nnv_growth_keep(struct nnv_growth *g, struct nnv_graph_step *s, struct nnv_err *err);

#endif
