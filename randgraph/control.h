/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.h Building test cases of control flow: the subgraphs around IF and WHILE. */
#ifndef NNV_RANDGRAPH_CONTROL_H
#define NNV_RANDGRAPH_CONTROL_H

#include "randgraph/single/single.h"
#include "reference/model/sample.h"

/** What a case of control flow is drawn from. */
struct nnv_control {
    const struct nnv_single *what;
    const struct nnv_sample *sample; /**< drawn: two arguments' shapes, and the condition or the number of iterations */
    struct nnv_rng rng;              /**< of the values */
    double magnitude;                /**< edge cases: see nnv_fill */
};

/** True if zero-sized cases of the type can be built. */
bool nnv_control_has_zero(int32_t type);

/**
 * A spec with one IF or WHILE in its main subgraph, without expected outputs; all of it is arena's. Outputs whose shape
 * depends on the way taken are of unknown extents or rank.
 */
NNV_USE_RESULT enum nnv_status nnv_control_build(const struct nnv_control *control, struct nnv_arena *arena,
                                                 struct nnv_spec **spec, struct nnv_err *err);

#endif
