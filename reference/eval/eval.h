/* SPDX-License-Identifier: Apache-2.0 */
/** @file eval.h Evaluating a model: the golden result, with an error budget for every element if wanted. */
#ifndef NNV_EVAL_EVAL_H
#define NNV_EVAL_EVAL_H

#include "reference/model/op.h"

struct nnv_eval_options {
    int rows;      /**< perturbed rows; 0: golden only, budgets are NULL. Float 8, quantised 16, second stage 64 */
    double k;      /**< factor inside the forced branches: 2 float, 1.5 quantised */
    uint64_t seed; /**< of the noise */
    struct nnv_arithmetic arithmetic; /**< what a correct implementation promises */
    uint64_t alternative;     /**< with rows: 0 is the golden result; any other number takes each decision that is open
                                  (nnv_decide) one way or the other: what a correct implementation may give as well */
    size_t most_numbers;      /**< that one operation may read, or write in all rows; 0: 2^29 */
    uint64_t most_runs;       /**< of referenced subgraphs; 0: 2^20 */
    uint64_t loop_timeout_ns; /**< of each WHILE; 0: 15 s, the longest that NNAPI knows */
    int choice; /**< with rows: 0: what follows from a choice among tied numbers (NNV_JUDGED_CHOICE) is not compared;
                     1, 2, ...: all rows choose the first, second ... of the tied, where there are so many, else the
                     first, which is the golden choice */
    bool recompute; /**< rows compute what they could take from row 0 (nnv_noise_replay): the same bits, in more time */
    const bool *half; /**< per operation of the main subgraph: the float32 tensors that it reads and writes are rounded
                         to float16; NULL: of none */
};

/** The numbers that an output's indices point at: lines of n, element (o, i, p) at (o * n + i) * inner + p. */
struct nnv_source {
    size_t outer, n, inner;
    const double *value; /**< row 0, real numbers; negated where the least are looked for */
    const double *reach; /**< how far from it an implementation's value may lie (nnv_reach); NaN: anywhere */
};

/** One output. */
struct nnv_golden {
    struct nnv_value value; /**< golden, in the operand's type */
    const double
        *exact; /**< the unrounded real results of row 0 (quantised: real numbers, before clamping to the type) */
    /**
     * Largest deviation of a row from row 0, in stored numbers (quantised: units), NaN where a row is not finite:
     * NULL without rows.
     */
    const double *spread;
    bool open;   /**< with rows: the evaluation met open decisions, so that there may be alternatives */
    int choices; /**< of the whole model: the most tied numbers that one was chosen from; 0: there was no choice */
    const struct nnv_source *source; /**< NNV_JUDGED_LARGEST, _LEAST, _SAMPLES; else NULL */
};

/**
 * Evaluates the model's main subgraph on inputs (main.nin values of full shape; omitted ones marked).
 * outputs: main.nout results, all memory arena's. The model must be valid (nnv_validate). NNV_INVALID: these
 * inputs do not fit the model or an operation refuses a value (an index out of range ...), with the operation named.
 * NNV_TIMEOUT: a WHILE did not end within its time, or more than 2^20 subgraphs were run in all.
 */
NNV_USE_RESULT enum nnv_status nnv_eval(const struct nnv_model *model, const struct nnv_value *inputs,
                                        const struct nnv_eval_options *options, struct nnv_arena *arena,
                                        struct nnv_golden *outputs, struct nnv_err *err);

#endif
