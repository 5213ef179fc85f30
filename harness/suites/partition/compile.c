/* SPDX-License-Identifier: Apache-2.0 */
/** @file compile.c Compilations of a case, and their plans. */
#include <stdlib.h>
#include <string.h>

#include "harness/suites/partition/partition.h"
#include "base/words.h"
#include "harness/suites/partition/plan_check.h"

bool nnv_partition_expect(struct nnv_partition_case *p, const char *function, int got, int want) {
    char a[32], b[32];
    return nnv_expect_why(p->s, got == want, nnv_why_answered(got == 0, want == 0), "%s answered %s, expected %s",
                          function, nnv_result_name(got, a), nnv_result_name(want, b));
}

void nnv_partition_choose(struct nnv_partition_case *p, bool explicit_devices, bool with_cpu) {
    p->explicit_devices = explicit_devices;
    p->choices = 0;
    for (uint32_t i = 0; i < p->count; i++) p->choice[p->choices++] = nnv_rt_device_at(i);
    if (with_cpu || !explicit_devices) p->choice[p->choices++] = nnv_rt_device_cpu();
    for (uint32_t i = p->choices; explicit_devices && i-- > 1;) {
        const uint32_t k = (uint32_t)nnv_rng_int(&p->rng, 0, i);
        struct ANeuralNetworksDevice *other = p->choice[i];
        p->choice[i] = p->choice[k];
        p->choice[k] = other;
    }
}

/** Sets how the runtime divides work, whatever the suite is run with. What was set before: for policy_end(). */
static char *policy_begin(const char *policy) {
    const char *before = getenv("NNVTS_PARTITIONING");
    char *copy = before ? strdup(before) : NULL;
    setenv("NNVTS_PARTITIONING", policy, 1);
    return copy;
}

/** Sets it back: a library under test, which later cases ask, reads it, too. */
static void policy_end(char *before) {
    if (before)
        setenv("NNVTS_PARTITIONING", before, 1);
    else
        unsetenv("NNVTS_PARTITIONING");
    free(before);
}

bool nnv_partition_compile(struct nnv_partition_case *p, int *result) {
    const ANeuralNetworksDevice *named[NNV_PARTITION_DEVICES + 1];
    ANeuralNetworksCompilation_free(p->compilation);
    p->compilation = NULL;
    p->executions = 0;
    nnv_context_enter(p->s, NNV_PHASE_PREPARE);
    for (uint32_t i = 0; i < p->choices; i++) named[i] = p->choice[i];
    int made = p->explicit_devices
                   ? ANeuralNetworksCompilation_createForDevices(p->built.model, named, p->choices, &p->compilation)
                   : ANeuralNetworksCompilation_create(p->built.model, &p->compilation);
    if (!nnv_partition_expect(p, "ANeuralNetworksCompilation_create", made, ANEURALNETWORKS_NO_ERROR)) return false;
    made = ANeuralNetworksCompilation_setPreference(p->compilation, p->preference);
    if (!nnv_partition_expect(p, "ANeuralNetworksCompilation_setPreference", made, ANEURALNETWORKS_NO_ERROR))
        return false;
    char *before = policy_begin(p->strict ? "strict" : "fallback");
    *result = ANeuralNetworksCompilation_finish(p->compilation);
    policy_end(before);
    nnv_context_enter(p->s, NNV_PHASE_CHECK);
    return true;
}

/* ------------------------------------------------------------------------ plans */

/* What a partial device said of an operation of a graph. */
static int takes(void *context, const struct ANeuralNetworksDevice *device, uint32_t graph, uint32_t op) {
    const struct nnv_partition_case *p = context;
    const struct nnvts_subgraph *s = nnv_rt_graph_at(p->built.model, graph);
    struct nnvts_device *d = device->driver;
    if (d->get_status(d) != NNVTS_DEVICE_AVAILABLE) return 0; /* it has died */
    return nnv_partial_is(device->driver)
               ? nnv_partial_said(device->driver, nnv_partial_signature(&p->built.model->model, s, &s->operations[op]))
               : -1;
}

bool nnv_partition_check_plan(struct nnv_partition_case *p) {
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(p->compilation);
    const struct nnv_plan_rules rules = {
        .devices = p->choice, .device_count = p->choices, .preference = p->preference, .takes = takes, .context = p};
    struct nnv_text broken = {0};
    if (!nnv_expect(p->s, plan != NULL, "a compilation that is finished has no plan")) return false;
    const bool ok = nnv_plan_check(plan, &rules, p->s->env->arena, &broken);
    nnv_expect(p->s, ok, "the plan breaks rules:\n%s", broken.data ? broken.data : "");
    nnv_text_free(&broken);
    return ok;
}

static uint32_t steps_of(const struct nnv_partition_case *p, uint32_t i) {
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(p->compilation);
    uint32_t count = 0;
    for (uint32_t g = 0; plan && g < plan->graph_count; g++)
        for (uint32_t k = 0; plan->graphs[g].planned && k < plan->graphs[g].step_count; k++)
            count += plan->graphs[g].steps[k].kind == NNV_RT_EXECUTE &&
                     plan->graphs[g].steps[k].device->driver == p->partial[i];
    return count;
}

bool nnv_partition_uses(const struct nnv_partition_case *p, uint32_t i) { return steps_of(p, i) > 0; }

bool nnv_partition_check_counts(struct nnv_partition_case *p) {
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(p->compilation);
    bool whole = true;
    /* a step may run again once the size of what it writes is known; which graphs run how often depends on values */
    for (uint32_t g = 0; g < plan->graph_count; g++) {
        if (plan->graphs[g].planned && (g > 0 || plan->graphs[g].dynamic_count > 0)) return true;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t due = steps_of(p, i) * p->executions, got = nnv_partial_counts(p->partial[i]).executed;
        whole = nnv_expect(p->s, got == due, "%s executed %u times; by the plan, %u executions need %u",
                           p->options[i].name, got, p->executions, due) &&
                whole;
    }
    return whole;
}
