/* SPDX-License-Identifier: Apache-2.0 */
/** @file graph_rule.h What AOSP's random graph test allows: by the number of operations, or the kind of the only one.
 */
#ifndef NNV_HARNESS_GRAPH_RULE_H
#define NNV_HARNESS_GRAPH_RULE_H

#include "reference/model/model.h"

/** What an output of one type may be off by. */
struct nnv_graph_limits {
    double bias, mse; /**< |mean| and mean square of the errors, of 10 elements or more */
    double tolerance; /**< of an element: absolute, for floats relative, too */
};
struct nnv_graph_rule {
    struct nnv_graph_limits full, half, units; /**< float32; float16 and relaxed float32; quantised types */
};

/** The rule for a model. */
const struct nnv_graph_rule *nnv_graph_rule(const struct nnv_model *model);

#endif
