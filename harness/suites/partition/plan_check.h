/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_check.h What holds of every plan of the runtime, worked out again from the model alone. */
#ifndef NNV_SUITES_PLAN_CHECK_H
#define NNV_SUITES_PLAN_CHECK_H

#include "base/text.h"
#include "reference/runtime/plan/plan.h"

/** What a plan was made by. */
struct nnv_plan_rules {
    struct ANeuralNetworksDevice *const *devices; /**< to choose from, in this order */
    size_t device_count;
    int32_t preference; /**< PreferenceCode */
    /** Device takes operation op of graph: 1 it said so, 0 it said that it does not, -1 it was not asked. */
    int (*takes)(void *context, const struct ANeuralNetworksDevice *device, uint32_t graph, uint32_t op);
    void *context;
};

/**
 * True if the plan keeps all rules; otherwise a line for each one broken is appended to out (at most a few):
 *  - every operation of a planned graph is in exactly one step; steps stand in an order in which each value is written
 *    before it is read; no two neighbours could be one step; a plan is simple if and only if one device does all;
 *  - a step's inputs and outputs are what crosses its border, no more, no less, and its model is that part of the
 *    graph: operations, operands, constants;
 *  - values are where their kind has to be; temporaries whose lives meet do not overlap;
 *  - a device is given what it said that it takes, at its level; and is the cheapest, the earlier of two equals, but
 *    the CPU before all; what is of unknown size comes from no driver below level 3.
 * Memory is taken from arena.
 */
bool nnv_plan_check(const struct nnv_rt_plan *plan, const struct nnv_plan_rules *rules, struct nnv_arena *arena,
                    struct nnv_text *out);
/** The plan as lines of text: a step a line. */
void nnv_plan_describe(const struct nnv_rt_plan *plan, struct nnv_text *out);

/* ------------------------------------------------------------ between the files */

struct nnv_plan_checking {
    const struct nnv_rt_plan *plan;
    const struct nnv_plan_rules *rules;
    struct nnv_arena *arena;
    struct nnv_text *out;
    int broken;
};
/** Notes that a rule does not hold; false. */
bool nnv_plan_broken(struct nnv_plan_checking *c, const char *fmt, ...) NNV_PRINTF(2, 3);
/** plan_model.c: a step's model is the part of the graph that its lists name. */
void nnv_plan_check_model(struct nnv_plan_checking *c, uint32_t graph, uint32_t step);
/** plan_places.c: where values are. */
void nnv_plan_check_places(struct nnv_plan_checking *c, uint32_t graph);
/** plan_price.c: who does what. */
void nnv_plan_check_devices(struct nnv_plan_checking *c, uint32_t graph);

#endif
