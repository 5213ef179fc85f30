/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain.h Which fault makes an answer as wrong as it is. See docs/use/explaining.md. */
#ifndef NNV_EXPLAIN_EXPLAIN_H
#define NNV_EXPLAIN_EXPLAIN_H

#include "harness/debug/explain/answers.h"
#include "reference/faults/faults.h"

enum { NNV_FINDINGS = 8 };

enum nnv_explained {
    NNV_EXPLAINED_RIGHT,     /**< the answers are right: nothing to explain */
    NNV_EXPLAINED_NO_ANSWER, /**< there are no values; reason says why */
    NNV_EXPLAINED_UNSTEADY,  /**< the answers to the same request differ */
    NNV_EXPLAINED_FAULT,     /**< finding[0] explains them best */
    NNV_EXPLAINED_UNKNOWN,   /**< no known fault does */
};

/** A fault that explains the answer. */
struct nnv_finding {
    const struct nnv_fault *fault;
    int at;         /**< index of the operation; -1: all of the kind to which it can happen, or the model's outputs */
    int kind;       /**< code of the operations of which all are meant; -1: all */
    size_t matched; /**< values, of those compared, that are as the fault would make them */
    bool same;      /**< gives the same values as finding 0: here they can't be told apart */
    double distance;
    double *values; /**< as the fault would make them, all outputs one behind the other */
};

struct nnv_explanation {
    enum nnv_explained kind;
    size_t compared, wrong; /**< values of the answer */
    size_t tried;           /**< faults evaluated, each at each place */
    bool cut;               /**< the work was done before all were tried */
    uint64_t work;          /**< that was done, see work.h */
    bool nan;               /**< unsteady: some answers have NaN where others have none */
    char reason[600];
    char weaker[160]; /**< a promise of the driver's arithmetic by which the answer is right: "sums are float16"; or ""
                       */
    int findings;
    struct nnv_finding finding[NNV_FINDINGS];
};

/**
 * Explains answers to the spec, whose model is valid. work: how much may be done (work.h); a model whose golden result
 * alone is more is not explained. Errors: the spec has no golden result, out of memory.
 */
NNV_USE_RESULT enum nnv_status nnv_explain(const struct nnv_spec *spec, enum nnv_precision precision,
                                           const struct nnv_explain_answers *answers, uint64_t work,
                                           struct nnv_arena *arena, struct nnv_explanation *out, struct nnv_err *err);

#endif
