/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.h A loop whose inputs decide whether it ends. */
#ifndef NNV_SUITES_QOS_H
#define NNV_SUITES_QOS_H

#include "reference/model/model.h"

/** sum = first + step + step ... while the sum is below the limit: a spec whose inputs are first, limit and step. */
NNV_USE_RESULT enum nnv_status nnv_qos_loop(int32_t limit, int32_t step, struct nnv_arena *arena,
                                            struct nnv_spec **spec, struct nnv_err *err);

#endif
