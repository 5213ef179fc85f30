/* SPDX-License-Identifier: Apache-2.0 */
/** @file fit.h Whether the values that a fault makes are those of an answer: what explain.c tries faults with. */
#ifndef NNV_EXPLAIN_FIT_H
#define NNV_EXPLAIN_FIT_H

#include "harness/judge/compare.h"
#include "harness/debug/explain/explain.h"
#include "reference/eval/eval.h"

/** Rows of a mistake's budget: more than the judge's first look, since nothing looks again at what does not fit. */
enum {
    NNV_ROWS_FLOAT = 2 * NNV_JUDGE_ROWS_FLOAT,
    NNV_ROWS_QUANTISED = 2 * NNV_JUDGE_ROWS_QUANTISED,
    NNV_ROWS_SECOND = NNV_JUDGE_ROWS_SECOND,
    NNV_EXPLAIN_BEST = 12,
    NNV_EXPLAIN_SIDES = 3 /**< a number, and that moved up and down by its bound */
};

/** Where a fault is tried. */
struct nnv_explain_place {
    int at;   /**< operation, or -1: all */
    int kind; /**< of this code, or -1: of any */
};

/** Numbers of all outputs, one behind the other, as stored: between low and high is as good as v. */
struct nnv_explain_numbers {
    double *v, *bound; /**< bound NaN: not compared */
    double *low, *high;
};

/** How well a fault's values fit. */
struct nnv_explain_fit {
    size_t matched, explained,
        sharp; /**< of the compared; of the wrong ones, and those where what is right would not */
    double distance;
};

/** A fault that explains a part of the answer. */
struct nnv_explain_part {
    const struct nnv_fault *fault;
    size_t matched;
};

/** What explaining one answer knows. */
struct nnv_explaining {
    const struct nnv_spec *spec;
    struct nnv_arena *arena, *work; /**< work: reset after each fault */
    enum nnv_precision precision;
    const char *words; /**< of the only fault that is tried; NULL: all are */
    bool predicting;   /**< what faults would do to right answers is looked at, and no answer explained */
    size_t hidden;     /**< then: faults, each at each place, that would leave them right */
    bool exact;        /**< then: one with these very words was tried */
    const struct nnv_value *actual_values;
    struct nnv_call **calls;
    struct nnv_golden *golden;
    bool quantised;
    size_t n;           /**< elements of all outputs */
    uint64_t row, left; /**< work of a row of the model, and what may still be done */
    struct nnv_explain_numbers right;
    /** What is right, and that moved up and down by its bounds: of each output; and what `first` makes of these. */
    struct nnv_fault_output *side[NNV_EXPLAIN_SIDES], *then[NNV_EXPLAIN_SIDES];
    const struct nnv_fault *first; /**< the first fault of the pairs in hand, or NULL */
    bool first_changes;            /**< something that is right */
    double *actual, *poison;
    const void **poison_bytes; /**< of each output */
    bool *wrong;
    struct nnv_explain_part best[NNV_EXPLAIN_BEST]; /**< those that explain most, the best first */
    int nbest;
    struct nnv_explanation *out;
};

const struct nnv_operand *nnv_explain_output(const struct nnv_explaining *x, uint32_t i);
size_t nnv_explain_elems(const struct nnv_explaining *x, uint32_t i);
bool nnv_explain_new_numbers(struct nnv_arena *arena, size_t n, struct nnv_explain_numbers *to);
/** Golden results of a spec, with rows for a budget or with none. */
NNV_USE_RESULT enum nnv_status nnv_explain_evaluate(const struct nnv_explaining *x, const struct nnv_spec *spec,
                                                    int rows, struct nnv_arena *arena, struct nnv_golden **golden,
                                                    struct nnv_err *err);
/**
 * Values and bounds of an evaluation. golden: with rows by the budget, else by the bounds of the right answer, times
 * four. False if the outputs have other numbers of elements, or memory ran out.
 */
bool nnv_explain_take(const struct nnv_explaining *x, const struct nnv_golden *golden, struct nnv_arena *arena,
                      struct nnv_explain_numbers *to);
/** Makes x->side of what is right, which faults of results are tried on. False: no memory. */
bool nnv_explain_move(struct nnv_explaining *x);
/**
 * True unless a fault of results alone, or a pair of them, need not be compared whole: it changes nothing, makes no
 * wrong value what it is, or misses as many values as there are wrong ones, or as a pair any. *changes: whether it
 * changes anything.
 */
bool nnv_explain_may_fit(struct nnv_explaining *x, const struct nnv_fault *fault, bool *changes);
/** The same of a fault of the model, of which these are the golden results: to be remembered, or to promise more. */
bool nnv_explain_may_come_near(const struct nnv_explaining *x, const struct nnv_fault *fault,
                               const struct nnv_golden *golden, const struct nnv_explain_numbers *c);
/** What the fault may make of right values: their hull when they are moved to either side by their bounds. */
bool nnv_explain_spoil(const struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_golden *golden,
                       struct nnv_arena *arena, struct nnv_explain_numbers *to);
/** Puts down whether the fault whose numbers these are would show: make a number other than any right one. */
void nnv_explain_predict(struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_numbers *c);
struct nnv_explain_fit nnv_explain_compare(const struct nnv_explaining *x, const struct nnv_explain_numbers *c);
/** All values fit, and what is right would not; and there are enough for it not to be chance. */
bool nnv_explain_fits(const struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_fit *f);
/** It comes near enough for an evaluation with a budget. */
bool nnv_explain_promises(const struct nnv_explaining *x, const struct nnv_explain_fit *f);
bool nnv_explain_same(const struct nnv_explaining *x, const double *a, const double *b);
/** Keeps a fault that explains the answer: those that come nearer to it first, else in the order of the catalogue. */
NNV_USE_RESULT enum nnv_status nnv_explain_keep(struct nnv_explaining *x, const struct nnv_fault *fault,
                                                struct nnv_explain_place p, const struct nnv_explain_numbers *c,
                                                const struct nnv_explain_fit *f, struct nnv_err *err);
/** Remembers what a fault explains that does not explain it all. */
void nnv_explain_remember(struct nnv_explaining *x, const struct nnv_fault *fault, const struct nnv_explain_fit *f);
/* untouched.c */
/**
 * True if the elements that the fault leaves unwritten hold the bytes that their buffer held before: as numbers these
 * are NaN in floats and true in TENSOR_BOOL8, which results may be, too.
 */
bool nnv_explain_is_untouched(const struct nnv_explaining *x, const struct nnv_fault *fault);
/** Keeps nnv_fault_untouched() if all wrong elements hold the bytes that were there before, and enough of them. */
NNV_USE_RESULT enum nnv_status nnv_explain_untouched(struct nnv_explaining *x, struct nnv_err *err);

#endif
