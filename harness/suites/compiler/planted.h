/* SPDX-License-Identifier: Apache-2.0 */
/** @file compiler_planted.h Planted bugs of the compiler: what changes programs and tables, for the list of them. */
#ifndef NNV_SUITES_COMPILER_PLANTED_H
#define NNV_SUITES_COMPILER_PLANTED_H

#include "harness/suites/compiler/divide.h"

/* Programs: before the passes. */
void nnv_plant_copies(struct nnv_relay_module *m);
void nnv_plant_no_places(struct nnv_relay_module *m);
/* Tables. */
void nnv_plant_reversed(struct nnv_pattern_table *t, struct nnv_arena *arena);
void nnv_plant_alternatives(struct nnv_pattern_table *t, struct nnv_arena *arena);
void nnv_plant_no_identity(struct nnv_pattern_table *t, struct nnv_arena *arena);
void nnv_plant_no_checks(struct nnv_pattern_table *t, struct nnv_arena *arena);
void nnv_plant_no_attrs(struct nnv_pattern_table *t, struct nnv_arena *arena);
void nnv_plant_any_constant(struct nnv_pattern_table *t, struct nnv_arena *arena);
/* Annotators. */
bool nnv_plant_last_target(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
bool nnv_plant_defaults(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
/* Modules: behind the passes. */
void nnv_plant_cycle(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_singles(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_unbound(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_twice(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_dropped(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_swapped(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_arguments(struct nnv_relay_module *m, struct nnv_partition *p);
void nnv_plant_axis(struct nnv_relay_module *m, struct nnv_partition *p);

#endif
