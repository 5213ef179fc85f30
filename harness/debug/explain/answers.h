/* SPDX-License-Identifier: Apache-2.0 */
/** @file answers.h What a driver answers to a spec, asked several times in a process of its own. */
#ifndef NNV_EXPLAIN_ANSWERS_H
#define NNV_EXPLAIN_ANSWERS_H

#include "harness/runner/suite.h"

enum { NNV_ANSWERS = 4 }; /* times that a driver is asked: some bugs show now and then */

struct nnv_explain_answers {
    int count;                              /**< answers with values */
    struct nnv_value *outputs[NNV_ANSWERS]; /**< each main.nout entries of the expected shapes, arena's */
    char reason[600];                       /**< why there are not as many as were asked for; "" */
};

/**
 * Runs the spec on the config's driver, NNV_ANSWERS times one after the other. A driver that dies, hangs, refuses or
 * breaks a rule is no error: the reason says so. NNV_INVALID: the driver cannot be opened.
 */
NNV_USE_RESULT enum nnv_status nnv_answers_ask(const struct nnv_run_config *config, const struct nnv_spec *spec,
                                               struct nnv_arena *arena, struct nnv_explain_answers *answers,
                                               struct nnv_err *err);

#endif
