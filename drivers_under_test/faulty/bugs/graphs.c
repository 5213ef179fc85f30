/* SPDX-License-Identifier: Apache-2.0 */
/** @file graphs.c Bugs that show where operands are constants, or of one shape, as they are in whole graphs. */

#include "faulty.h"

static const struct bug bugs[] = {
    BUG_OF(GATHER, "gather-indices-reversed", "indices read from the end", "GATHER: constant indices",
           .fault = {"indices-reversed"}),
    BUG_OF(CONCATENATION, "concat-order", "first two inputs change places", "CONCATENATION: inputs of one shape",
           .fault = {"inputs-swapped"}),
};
const struct bug_group bugs_graphs = {bugs, sizeof bugs / sizeof *bugs};
