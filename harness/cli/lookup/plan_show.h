/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_show.h A plan for people, and for programs. */
#ifndef NNV_CLI_PLAN_SHOW_H
#define NNV_CLI_PLAN_SHOW_H

#include "base/json_out.h"
#include "harness/placement/placement.h"

/**
 * Devices, a line for each step of each graph, the sums, and with `operations` a line for each operation of the main
 * graph: what it gives, which device does it, what it costs there, and why no other driver does it.
 */
void nnv_plan_write_table(const char *name, const struct nnv_placement *p, bool operations, struct nnv_text *out);
/** The same as the members of a JSON object, which is open. */
void nnv_plan_write_json(const char *name, const struct nnv_placement *p, struct nnv_json_out *j);

#endif
