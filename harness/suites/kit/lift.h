/* SPDX-License-Identifier: Apache-2.0 */
/** @file lift.h A model as a driver is given it, taken back into the form that can be validated. */
#ifndef NNV_SUITES_LIFT_H
#define NNV_SUITES_LIFT_H

#include "nnvts/driver.h"
#include "reference/model/model.h"

/**
 * The model with constants where they lie: all else is arena's. NNV_UNSUPPORTED for what has no such form (extensions,
 * constants in memory without a pointer), NNV_INVALID where indices or locations lead nowhere.
 */
NNV_USE_RESULT enum nnv_status nnv_lift_model(const struct nnvts_model *model, struct nnv_arena *arena,
                                              struct nnv_model *out, struct nnv_err *err);
/** The bytes of a constant operand of the model; NULL if it is none, or can't be reached. */
const void *nnv_lift_value(const struct nnvts_model *model, const struct nnvts_operand *o);

#endif
