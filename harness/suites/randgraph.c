/* SPDX-License-Identifier: Apache-2.0 */
/** @file randgraph.c The suite "randgraph": random graphs of all profiles, judged by an error budget for each element.
 */
#include "randgraph/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>

#include "harness/suites/suites.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/vocabulary.h"

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    const uint64_t each = nnv_share(config, nnv_graph_profile_count, (const uint64_t[]){5, 40, 1000});
    enum nnv_status st = NNV_OK;
    for (size_t p = 0; p < nnv_graph_profile_count; p++)
        for (uint64_t i = 0; i < each && !st; i++)
            st = nnv_list_case(list, (struct nnv_case){.a = p, .b = i}, err, "randgraph/%s/%" PRIu64,
                               nnv_graph_profiles[p].name, i);
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
    .meet = nnv_vocabulary_meet,
    .list = list,
    .build = build,
};
