/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.c Preferences, priorities, deadlines and durations. */
#include <string.h>

#include "harness/suites/api/api.h"

/** The small model compiled with param as its preference or priority. */
static void preference(struct nnv_api *a) {
    if (nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setPreference, a->compilation, (int32_t)a->c->param))
        nnv_api_advance(a, NNV_API_COMPUTED);
}

static void priority(struct nnv_api *a) {
    if (nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setPriority, a->compilation, (int)a->c->param))
        nnv_api_advance(a, NNV_API_COMPUTED);
}

static void last_setting_counts(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_COMPILATION)) return;
    for (int32_t p = ANEURALNETWORKS_PREFER_LOW_POWER; p <= ANEURALNETWORKS_PREFER_SUSTAINED_SPEED; p++)
        OK(Compilation_setPreference, a->compilation, p);
    for (int p = ANEURALNETWORKS_PRIORITY_LOW; p <= ANEURALNETWORKS_PRIORITY_HIGH; p += 10)
        OK(Compilation_setPriority, a->compilation, p);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/** A compilation that has a nanosecond may miss its deadline, and is then of no use; or it does not. */
static void compile_in_no_time(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_COMPILATION) || !OK(Compilation_setTimeout, a->compilation, 1)) return;
    int code = a->nn->Compilation_finish(a->compilation);
    if (!nnv_api_check(a, "Compilation_finish within a nanosecond", code, NNV_API_DONE_OR_MISSED)) return;
    if (code == ANEURALNETWORKS_NO_ERROR)
        a->stage = NNV_API_COMPILED;
    else if (IS(BAD_STATE, Execution_create, a->compilation, &a->to.execution))
        a->stage = NNV_API_FINISHED;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void compile_in_an_hour(struct nnv_api *a) {
    if (nnv_api_advance(a, NNV_API_COMPILATION) && OK(Compilation_setTimeout, a->compilation, 3600000000000))
        nnv_api_advance(a, NNV_API_COMPUTED);
}

static void execute_in_no_time(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_setTimeout, a->execution, 1)) return;
    int code = nnv_api_computed(a, a->execution);
    if (!nnv_api_check(a, "computing within a nanosecond", code, NNV_API_DONE_OR_MISSED)) return;
    if (code == ANEURALNETWORKS_NO_ERROR) nnv_api_check_sum(a);
    a->stage = NNV_API_COMPILED;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void execute_in_an_hour(struct nnv_api *a) {
    if (nnv_api_advance(a, NNV_API_READY) && OK(Execution_setTimeout, a->execution, 3600000000000))
        nnv_api_advance(a, NNV_API_COMPUTED);
}

/** A deadline is told to each computation of a reusable execution anew: one from the first would have passed. */
static void reusable_deadline(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY) || !OK(Execution_setReusable, a->execution, true) ||
        !OK(Execution_setTimeout, a->execution, 3600000000000))
        return;
    for (int i = 0; i < 3; i++)
        if (!nnv_api_compute(a, a->execution) || !nnv_api_check_sum(a)) return;
}

/* ---------------------------------------------------------------------- durations */

/** On the hardware no longer than in the driver, where both are known. */
static void measured(struct nnv_api *a) {
    static const int32_t codes[] = {ANEURALNETWORKS_DURATION_ON_HARDWARE, ANEURALNETWORKS_DURATION_IN_DRIVER,
                                    ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE,
                                    ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER};
    uint64_t ns[4] = {0, 0, 0, 0};
    const enum nnv_mode mode = (enum nnv_mode)a->c->param;
    if (!nnv_api_has_mode(a, mode) || !nnv_api_advance(a, NNV_API_READY) ||
        !OK(Execution_setMeasureTiming, a->execution, true))
        return;
    ANeuralNetworksBurst *burst = mode == NNV_MODE_BURST ? nnv_api_burst(a, a->compilation) : NULL;
    const int code = nnv_api_computed_in(a, mode, a->execution, burst);
    if (!nnv_api_check(a, "computing the execution", code, NNV_API_NO_ERROR) || !nnv_api_check_sum(a)) return;
    for (int i = 0; i < (a->level >= 4 ? 4 : 2); i++) {
        ns[i] = 0x5a5a5a5a5a5a5a5a;
        if (!OK(Execution_getDuration, a->execution, codes[i], &ns[i])) return;
        nnv_expect(&a->s, ns[i] == UINT64_MAX || ns[i] < 60000000000, "duration %d is %llu ns for four additions",
                   codes[i], (unsigned long long)ns[i]);
    }
    for (int i = 0; i < 4; i += 2)
        if (ns[i] != UINT64_MAX && ns[i + 1] != UINT64_MAX)
            nnv_expect(&a->s, ns[i] <= ns[i + 1], "%llu ns on the hardware, %llu ns in the driver",
                       (unsigned long long)ns[i], (unsigned long long)ns[i + 1]);
}

/** Where no duration is known, the answer is UINT64_MAX. */
static void unknown_is_max(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_READY)) return;
    a->to.u64 = 1;
    IS(BAD_STATE, Execution_getDuration, a->execution, ANEURALNETWORKS_DURATION_IN_DRIVER, &a->to.u64);
    nnv_expect(&a->s, a->to.u64 == UINT64_MAX, "the duration before computing is %llu, expected UINT64_MAX",
               (unsigned long long)a->to.u64);
    if (!nnv_api_advance(a, NNV_API_COMPUTED)) return;
    a->to.u64 = 1;
    IS(BAD_STATE, Execution_getDuration, a->execution, ANEURALNETWORKS_DURATION_IN_DRIVER, &a->to.u64);
    nnv_expect(&a->s, a->to.u64 == UINT64_MAX, "a duration that is not measured is %llu, expected UINT64_MAX",
               (unsigned long long)a->to.u64);
}

static void failed_has_no_duration(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_INPUT) || !OK(Execution_setMeasureTiming, a->execution, true)) return;
    nnv_api_check(a, "computing without all arguments", nnv_api_computed(a, a->execution), NNV_API_BAD_DATA);
    IS(BAD_STATE, Execution_getDuration, a->execution, ANEURALNETWORKS_DURATION_IN_DRIVER, &a->to.u64);
}

static const struct nnv_api_case cases[] = {
    {.name = "qos/preference_low_power", .run = preference, .param = ANEURALNETWORKS_PREFER_LOW_POWER},
    {.name = "qos/preference_fast", .run = preference, .param = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER},
    {.name = "qos/preference_sustained", .run = preference, .param = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED},
    {.name = "qos/priority_low", .run = priority, .param = ANEURALNETWORKS_PRIORITY_LOW},
    {.name = "qos/priority_medium", .run = priority, .param = ANEURALNETWORKS_PRIORITY_MEDIUM},
    {.name = "qos/priority_high", .run = priority, .param = ANEURALNETWORKS_PRIORITY_HIGH},
    {.name = "qos/last_setting_counts", .run = last_setting_counts},
    {.name = "qos/compile_in_no_time", .run = compile_in_no_time},
    {.name = "qos/compile_in_an_hour", .run = compile_in_an_hour},
    {.name = "qos/execute_in_no_time", .run = execute_in_no_time},
    {.name = "qos/execute_in_an_hour", .run = execute_in_an_hour},
    {.name = "qos/reusable_deadline", .run = reusable_deadline, .level = 5},
    {.name = "timing/compute", .run = measured, .param = NNV_MODE_SYNC},
    {.name = "timing/start", .run = measured, .param = NNV_MODE_ASYNC},
    {.name = "timing/burst", .run = measured, .param = NNV_MODE_BURST},
    {.name = "timing/fenced", .run = measured, .param = NNV_MODE_FENCED},
    {.name = "timing/unknown_is_max", .run = unknown_is_max, .level = 3},
    {.name = "timing/failed_has_no_duration", .run = failed_has_no_duration},
};
NNV_API_GROUP(qos);
