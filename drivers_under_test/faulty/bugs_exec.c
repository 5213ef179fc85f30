/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_exec.c Bugs of executions: asynchronous, fenced, in bursts, reusable. */
#include "faulty.h"

static enum nnvts_status burst_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                       const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    (void)self, (void)request, (void)memory_tokens, (void)config; /* as if it were done */
    result->shape_count = 0;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status create_idle_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->create_burst(inner, out);
    if (st == NNVTS_STATUS_NONE) (*out)->execute = burst_execute;
    return st;
}

static void idle_bursts(struct nnvts_prepared_model *prepared) {
    if (prepared->create_burst) prepared->create_burst = create_idle_burst;
}

static const struct bug bugs[] = {
    {.name = "burst-idle",
     .models = "a burst that computes nothing",
     .fires = "all bursts",
     .op = ANY_OPERATION,
     .prepared = idle_bursts},
};
const struct bug_group bugs_exec = {bugs, sizeof bugs / sizeof *bugs};
