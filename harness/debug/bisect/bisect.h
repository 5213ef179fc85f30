/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bisect.h Which operation of a failing spec goes wrong first?
 *
 * All results are made outputs. Then each operation is judged alone, with the driver's own values as its inputs: what
 * earlier operations did wrong does not count against it. Where that is not possible (the driver crashes, or shows
 * nothing wrong once it has to write its intermediate values) operations are tried alone, and outputs one by one.
 */
#ifndef NNV_DEBUG_BISECT_H
#define NNV_DEBUG_BISECT_H

#include "harness/debug/extract.h"
#include "harness/debug/reduce/reduce.h"

enum nnv_step_kind {
    NNV_STEP_RIGHT,
    NNV_STEP_WRONG,
    NNV_STEP_UNTRUSTED, /**< nothing could be compared */
    NNV_STEP_UNJUDGED,  /**< there is no golden result for these inputs, or no result of the driver; note says why */
};

/** One operation. */
struct nnv_step {
    enum nnv_step_kind kind;
    size_t compared, wrong; /**< values of its outputs */
    double ratio, error;    /**< of its worst output: largest error over bound, and that error */
    char note[160];
};

enum nnv_alone { NNV_ALONE_UNKNOWN, NNV_ALONE_FAILS, NNV_ALONE_PASSES };

struct nnv_bisection {
    struct nnv_spec *spec; /**< what was bisected: without unused operands, golden outputs */
    struct nnv_signature signature;
    struct nnv_step *step;     /**< per operation of the main subgraph; NULL: the driver's values are not known */
    uint32_t culprit;          /**< the first operation that goes wrong; UINT32_MAX: none was found */
    struct nnv_spec *isolated; /**< the culprit as a spec of its own, on the driver's inputs; NULL: alone it passes, or
                                    they are not known */
    enum nnv_alone alone;      /**< does it fail as a spec of its own, on the driver's (or else the golden) inputs? */
    bool apart;                /**< steps were judged as models of their own, on golden inputs */
    bool vanishes;             /**< with all results as outputs the failure is gone */
    bool *joint;               /**< per operand: making this result alone an output makes the failure vanish */
    char shown[NNV_OPINION_REASON + 32]; /**< how the driver fails with all results as outputs, if otherwise; else "" */
};

/** Bisects a spec; the result is arena's. Errors as of nnv_reduce(). */
NNV_USE_RESULT enum nnv_status nnv_bisect(const struct nnv_spec *spec, const struct nnv_oracle *oracle,
                                          struct nnv_arena *arena, struct nnv_bisection *out, struct nnv_err *err);
/**
 * Judges each operation of a spec that need not fail, likewise; where the driver does not give all results (shown says
 * and signature.verdict say what became of it) each as a model of its own on golden inputs. Fills spec, step, culprit,
 * alone, apart and these. Errors as above.
 */
NNV_USE_RESULT enum nnv_status nnv_judge_steps(const struct nnv_spec *spec, const struct nnv_oracle *oracle,
                                               struct nnv_arena *arena, struct nnv_bisection *out, struct nnv_err *err);

/**
 * Judges each operation whose results and inputs are given, on these inputs: values computed elsewhere.
 * given: per operand of the spec that nnv_known_make() makes of `spec`; data is NULL where there is none. Fills spec,
 * step and culprit; a step that cannot be judged says what is missing.
 */
NNV_USE_RESULT enum nnv_status nnv_judge_given(const struct nnv_known *known, const struct nnv_value *given,
                                               struct nnv_arena *arena, struct nnv_bisection *out, struct nnv_err *err);

#endif
