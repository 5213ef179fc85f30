/* SPDX-License-Identifier: Apache-2.0 */
/** @file explain.h Which fault makes an answer as wrong as it is. See docs/use/explaining.md. */
#ifndef NNV_EXPLAIN_EXPLAIN_H
#define NNV_EXPLAIN_EXPLAIN_H

#include "harness/debug/explain/answers.h"
#include "harness/debug/separate/elements.h"
#include "reference/faults/faults.h"
#include "reference/model/arithmetic.h"

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
    size_t weaker;                             /**< promises of the driver's arithmetic that it keeps */
    const char *right_if[NNV_ARITHMETIC_KEYS]; /**< them, in words: "sums are float16"; static */
    const enum nnv_element *elements;          /**< of all outputs, of the first answer; NULL: none was judged */
    size_t nelements;
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
/**
 * True if the fault of these words, or one whose words differ in numbers alone, makes the spec's actual answer as wrong
 * as it is. Takes its work from *left.
 */
bool nnv_explain_does(const struct nnv_spec *spec, enum nnv_precision precision, const char *words,
                      struct nnv_arena *arena, uint64_t *left);
/**
 * True if a driver that made the mistake of these words would give a wrong answer to the spec, wherever the mistake may
 * happen, and whatever its numbers: one that gives a right one does not make it. False if that is not known, such as
 * where it cannot happen with these very numbers. Takes its work from *left.
 */
bool nnv_explain_shows(const struct nnv_spec *spec, enum nnv_precision precision, const char *words,
                       struct nnv_arena *arena, uint64_t *left);
/** What a weaker promise makes of a wrong answer. */
enum nnv_promised {
    NNV_PROMISE_BROKEN, /**< wrong as before */
    NNV_PROMISE_EMPTY,  /**< right, as any answer would be: most values are not compared any more */
    NNV_PROMISE_KEPT,   /**< right */
};
/** What a promise that an explanation named makes of the dump's answer. Takes its work from *left. */
enum nnv_promised nnv_explain_promise(const struct nnv_spec *dump, enum nnv_precision precision, const char *promise,
                                      struct nnv_arena *arena, uint64_t *left);

#endif
