/* SPDX-License-Identifier: Apache-2.0 */
/** @file faults.h Faults of the compiler: the list of them, and what changes programs and tables. */
#ifndef KIT_COMPILER_FAULTS_H
#define KIT_COMPILER_FAULTS_H

#include <jansson.h>

#include "compiler/byoc/byoc.h"
#include "compiler/nnapi/convert/convert.h"
#include "compiler/nnapi/program/program.h"

/** The JSON texts that the compiler reads, and the constants that it writes. */
enum compiler_text { COMPILER_PATTERNS, COMPILER_SUPPORT, COMPILER_RULES, COMPILER_COSTS, COMPILER_METADATA };

/**
 * A fault of the compiler, planted in what one stage hands to the next; the compiler itself stays as it is. Members but
 * the first three may be NULL.
 */
struct compiler_fault {
    const char *name;
    const char *models; /**< the mistake of a programmer that it stands for */
    const char *fires;  /**< the programs that it changes */
    /** Changes a JSON text before it is read. */
    void (*text)(enum compiler_text which, json_t *doc);
    /** Changes a program that was just read. */
    void (*parsed)(struct nnv_relay_module *m);
    /** Two attributes of an operator of Relax that are taken for each other. */
    struct {
        const char *op, *one, *other;
    } relax;
    /** An operator's operand whose values are drawn as any others. */
    struct {
        const char *op;
        size_t operand;
    } drawn;
    /** Changes a table before it is applied. */
    void (*table)(struct nnv_pattern_table *t, struct nnv_arena *arena);
    /** Whether a target takes a call, instead of what the real annotator says. */
    bool (*accepts)(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
    bool never_prune;
    /** Changes the module that was cut, and what was said of it. */
    void (*cut)(struct nnv_relay_module *m, struct nnv_partition *p);
    /** Changes one operation of a converted model. */
    void (*operation)(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena);
    /** Changes a converted model as a whole. */
    void (*model)(struct nnv_model *m, struct nnv_arena *arena);
    /** Changes what the class of the whole program does. */
    void (*program)(struct nnv_program *p);
    /** Words of that class's C++, and what stands there instead. */
    struct {
        const char *from, *to;
    } source;
};

/** All of them. */
const struct compiler_fault *compiler_faults(size_t *n);
/** Plants the fault in a converted model. */
void compiler_fault_spoil(const struct compiler_fault *fault, struct nnv_model *m, struct nnv_arena *arena);

/* --------------------------------------------------------- what changes modules and tables, for the list */

/* Texts. */
void fault_any_condition(enum compiler_text which, json_t *doc);
void fault_unknown_members(enum compiler_text which, json_t *doc);
void fault_no_regions(enum compiler_text which, json_t *doc);
void fault_no_noise(enum compiler_text which, json_t *doc);
void fault_no_launch(enum compiler_text which, json_t *doc);
void fault_no_crossing(enum compiler_text which, json_t *doc);
void fault_one_target(enum compiler_text which, json_t *doc);
void fault_no_span(enum compiler_text which, json_t *doc);
void fault_no_extents(enum compiler_text which, json_t *doc);
void fault_other_constant(enum compiler_text which, json_t *doc);
/* Programs: before the passes. */
void fault_copies(struct nnv_relay_module *m);
void fault_no_places(struct nnv_relay_module *m);
/* Tables. */
void fault_reversed(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_alternatives(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_no_identity(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_no_checks(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_any_check(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_no_attrs(struct nnv_pattern_table *t, struct nnv_arena *arena);
void fault_any_constant(struct nnv_pattern_table *t, struct nnv_arena *arena);
/* Annotators. */
bool fault_last_target(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
bool fault_defaults(const struct nnv_annotator *real, size_t target, const struct nnv_relay_expr *call);
/* Modules: behind the passes. */
void fault_cycle(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_singles(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_unbound(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_twice(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_dropped(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_swapped(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_arguments(struct nnv_relay_module *m, struct nnv_partition *p);
void fault_axis(struct nnv_relay_module *m, struct nnv_partition *p);
/* Programs: as they become a class. */
void fault_offset(struct nnv_program *p);
void fault_source(struct nnv_program *p);

#endif
