/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_graphs.c Bugs that show where operands are constants, or of one shape, as they are in whole graphs. */

#include "faulty.h"

#define CHANGE(label, operation, class, where, ...)                                                                    \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, .change = {           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const struct bug bugs[] = {
    CHANGE("gather-indices-reversed", GATHER, "indices read from the end", "GATHER: constant indices",
           .kind = CHANGE_REVERSE, .at = 2),
    CHANGE("concat-order", CONCATENATION, "first two inputs change places", "CONCATENATION: inputs of one shape",
           .kind = CHANGE_SWAP, .value = 1),
};
const struct bug_group bugs_graphs = {bugs, sizeof bugs / sizeof *bugs};
