/* SPDX-License-Identifier: Apache-2.0 */
/** @file speed.h How fast a driver is: a model of each operation and type, timed, under the roof of the machine. */
#ifndef NNV_DATASHEET_SPEED_H
#define NNV_DATASHEET_SPEED_H

#include "harness/bench/roof.h"
#include "harness/runner/suite.h"

/** An operation with one combination of types. */
struct nnv_speed {
    char about[64], model[96]; /**< "CONV_2D float32", "layer/mobilenet_v2_expand [1,56,56,144]" */
    struct nnv_op_work work;
    struct nnv_roofline line; /**< of the median time */
};

struct nnv_speeds {
    struct nnv_roof roof;
    struct nnv_speed *item; /**< in the order of the operations */
    size_t count;
    bool unfinished; /**< the time was over before all were timed */
};

/**
 * Times operation sig of op on the driver, in processes of its own: a layer of a real network with its true image, else
 * a large tensor, else the usual values, whichever the driver takes first. *known is false if it takes none.
 */
NNV_USE_RESULT enum nnv_status nnv_speed_measure(const struct nnv_run_config *config, const struct nnv_roof *roof,
                                                 const struct nnv_op *op, int sig, struct nnv_speed *out, bool *known,
                                                 struct nnv_err *err);

#endif
