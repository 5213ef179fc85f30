/* SPDX-License-Identifier: Apache-2.0 */
/** @file randgraph.c The suite "randgraph": random graphs of all profiles, judged by an error budget for each element.
 */
#include "randgraph/graph/graph.h"

#include <stdio.h>

#include "harness/suites/suites.h"

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    static const size_t tiers[] = {5, 40, 1000};
    const size_t profiles = nnv_graph_profile_count;
    const size_t each = config->count > 0 ? (config->count + profiles - 1) / profiles
                                          : tiers[config->tier < 0   ? 0
                                                  : config->tier > 2 ? 2
                                                                     : config->tier];
    enum nnv_status st = NNV_OK;
    for (size_t p = 0; p < profiles; p++)
        for (size_t i = 0; i < each && !st; i++) {
            char name[96];
            snprintf(name, sizeof name, "randgraph/%s/%zu", nnv_graph_profiles[p].name, i);
            const struct nnv_case c = {
                .name = name, .suite = "randgraph", .op = "", .type = "", .tags = "", .a = p, .b = i};
            st = nnv_case_add(list, &c, err);
        }
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[c->a],
                                        .seed = config->seed,
                                        .index = c->b,
                                        .extents = nnv_graph_extents_of(c->b),
                                        .name = c->name};
    return nnv_graph_build(&o, arena, spec, err);
}

const struct nnv_suite nnv_suite_randgraph = {
    .name = "randgraph",
    .summary = "random graphs of one to fifty operations, judged by an error budget for each element",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .build = build,
};
