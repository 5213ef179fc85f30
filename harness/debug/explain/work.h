/* SPDX-License-Identifier: Apache-2.0 */
/** @file work.h How much work evaluating a model is: counted, not timed, so that every machine explains the same. */
#ifndef NNV_EXPLAIN_WORK_H
#define NNV_EXPLAIN_WORK_H

#include "reference/model/model.h"

/** Of one row: elements read and written, and products. Half a nanosecond to one each. */
uint64_t nnv_explain_work(const struct nnv_model *model);

#endif
