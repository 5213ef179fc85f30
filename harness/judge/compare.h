/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compare.h The one comparison behind every verdict: the outputs of a model against what any correct driver may
 * answer, with ties, choices, results in any order, other decisions, and a second look at what seems wrong.
 */
#ifndef NNV_JUDGE_COMPARE_H
#define NNV_JUDGE_COMPARE_H

#include "harness/judge/check.h"
#include "harness/judge/ties.h"
#include "reference/model/model.h"

/** Rows of a budget: the first look's, of floats and where an output is quantised, and those of what breaks it. */
enum { NNV_JUDGE_ROWS_FLOAT = 4, NNV_JUDGE_ROWS_QUANTISED = 8, NNV_JUDGE_ROWS_SECOND = 64 };

/** What a spec's outputs are compared with. Zero-initialise, and set the first group; all made is the arena's. */
struct nnv_comparer {
    const struct nnv_spec *spec;
    enum nnv_precision precision;
    struct nnv_arithmetic arithmetic; /**< that the driver promises */
    struct nnv_arena *arena;
    /** 0: the spec's outputs are expected, with budgets where the precision asks for them. Else the golden results are,
     * with budgets of so many rows under every precision. */
    uint32_t rows;
    uint64_t alternative; /**< of nnv_eval_options: the decisions that the first evaluation makes */

    struct nnv_golden *golden;        /**< of each output, where there is a budget or samples are judged; else NULL */
    struct nnv_golden **choices;      /**< of each output, at each choice among tied numbers */
    struct nnv_expectation *expected; /**< of each output; `ignored` may be set before it is compared */
    int nchoices;
    bool looked_again;

    /* The last comparison; of each output. */
    struct nnv_expectation *taken;    /**< what it was compared with: expected, or another decision's */
    struct nnv_expectation *followed; /**< the same, at proven ties with the driver's own choice */
    struct nnv_comparison *comparison;
    struct nnv_value *outputs;
};

/**
 * True if nothing but the expected outputs will do: the spec is exact, and the driver promises no less where elements
 * have budgets.
 */
bool nnv_must_equal(const struct nnv_spec *spec, enum nnv_precision precision, const struct nnv_arithmetic *arithmetic);
/** True if every element has an error budget: what must equal needs none. */
bool nnv_comparer_uses_budget(const struct nnv_comparer *c);
/** How output i is judged, by the record of its operation. */
enum nnv_judged nnv_comparer_rule(const struct nnv_comparer *c, uint32_t i);
/** Evaluates the model as far as the precision needs it, and makes what is expected. */
NNV_USE_RESULT enum nnv_status nnv_comparer_make(struct nnv_comparer *c, struct nnv_err *err);
/**
 * Compares outputs, which have the expected shapes; results in any order are put in order there. What is wrong is
 * looked at again with many fresh rows, then with other decisions where the model leaves some open. *wrong: elements.
 */
NNV_USE_RESULT enum nnv_status nnv_comparer_run(struct nnv_comparer *c, struct nnv_value *outputs, size_t *wrong,
                                                struct nnv_err *err);
/** Compares one output with one expectation, which is the one that was compared with afterwards. */
NNV_USE_RESULT enum nnv_status nnv_comparer_output(const struct nnv_comparer *c, uint32_t i, const void *actual,
                                                   struct nnv_expectation *e, struct nnv_comparison *out,
                                                   struct nnv_err *err);
/** Widens the budgets by many fresh rows, once. */
NNV_USE_RESULT enum nnv_status nnv_comparer_look_again(struct nnv_comparer *c, struct nnv_err *err);
/**
 * Before nnv_comparer_make(): finds other decisions whose results have these shapes (rank and dims of each output), and
 * sets c->alternative. NULL: there are none; else the results.
 */
struct nnv_golden *nnv_comparer_alternative(struct nnv_comparer *c, const struct nnv_value *shapes);

#endif
