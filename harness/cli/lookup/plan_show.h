/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_show.h A plan for people, and for programs. */
#ifndef NNV_CLI_PLAN_SHOW_H
#define NNV_CLI_PLAN_SHOW_H

#include "base/text.h"
#include "reference/runtime/plan/plan.h"

/** A plan with all that led to it. */
struct nnv_plan_view {
    const char *name; /**< of the spec */
    const struct nnv_rt_plan *plan;
    const struct nnv_rt_plan_options *options;
    struct nnv_rt_choice **choices; /**< one a graph; NULL where it is not planned */
};

/** Devices, a line for each step of each graph, and the sums. */
void nnv_plan_write_table(const struct nnv_plan_view *view, struct nnv_text *out);
/** The same as one JSON object. */
void nnv_plan_write_json(const struct nnv_plan_view *view, struct nnv_text *out);
/** The name of an operation. */
void nnv_plan_add_operation(int32_t type, struct nnv_text *out);

#endif
