/* SPDX-License-Identifier: Apache-2.0 */
/** @file compiler_cases.h The tables of the suite "compiler". */
#ifndef NNV_SUITES_COMPILER_CASES_H
#define NNV_SUITES_COMPILER_CASES_H

#include "harness/suites/compiler/divide.h"
#include "harness/suites/kit/session.h"

/** A small program, and what must come of it. In the JSON and the program ' stands for ". */
struct nnv_structure_case {
    const char *name;                                 /**< "merge/escaping_value": the pass, and what is in question */
    const char *body;                                 /**< of @main(%x, %y, %c, %t) */
    const char *patterns, *support, *targets, *prune; /**< may be NULL; targets: "b,a" */
    const char *expected;                             /**< as nnv_divided_line() writes it, but for blanks at the end */
};
extern const struct nnv_structure_case nnv_structure_cases[];
extern const size_t nnv_structure_case_count;

/** A program whose values are in question. */
struct nnv_values_case {
    const char *name; /**< "nn.conv2d/float32/strides": operator, type, what is in question */
    /**
     * Of @main. Parameters that begin with k become constants; p and kp are positive; i are whole numbers from 0 to 2.
     */
    const char *params;
    const char *body;
    double most; /**< that the model may differ from the program: relative, of integers in units; 0: the usual */
};
extern const struct nnv_values_case nnv_values_cases[];
extern const size_t nnv_values_case_count;

/** Divides, converts, compares with the interpreter, and has the driver judged on the models. */
void nnv_values_run(struct nnv_session *s, const struct nnv_values_case *c, const struct nnv_compiler_bug *bug);

#endif
