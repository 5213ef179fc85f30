/* SPDX-License-Identifier: Apache-2.0 */
/** @file fit.h Fitting a drawn use of an operation to a value that exists. */
#ifndef NNV_RANDGRAPH_GRAPH_FIT_H
#define NNV_RANDGRAPH_GRAPH_FIT_H

#include "reference/model/op.h"

/** A value of a growing graph. */
struct nnv_graph_value {
    uint32_t operand;
    struct nnv_value value;  /**< of the golden evaluation so far */
    struct nnv_value *other; /**< one a model input: the value where that input is another one */
    double lo, hi;           /**< range of its real values */
    struct nnv_value empty;  /**< the value where the batch is empty, if asked for */
    uint32_t reads;          /**< operations that read it, and whose results tell of it */
};

/** A use that is being fitted: a spec of one operation, all of whose arrays may be changed. */
struct nnv_graph_draft {
    struct nnv_spec *spec;
    struct nnv_operation *op;
    const struct nnv_graph_value **from; /**< per operand: the value that stands there, or NULL */
    const struct nnv_slot **slot;        /**< per input position */
    struct nnv_arena *arena;
};

/** Opens a draft of a spec of one operation (which it copies). */
NNV_USE_RESULT enum nnv_status nnv_graph_draft_open(struct nnv_graph_draft *d, const struct nnv_spec *spec,
                                                    struct nnv_arena *arena, struct nnv_err *err);
/**
 * Puts the value, whose operand is `like`, in place of input position p, if its type, rank and range suit: extents that
 * the input shared with other inputs change there too, weights are repeated or cut to fit, and rules of quantisation
 * are followed. False if it can't stand there; the draft is then of no use.
 */
bool nnv_graph_draft_place(struct nnv_graph_draft *d, uint32_t p, const struct nnv_graph_value *value,
                           const struct nnv_operand *like);
/** The real range of stored values. */
void nnv_graph_range(const struct nnv_operand *o, const struct nnv_value *v, double *lo, double *hi);

#endif
