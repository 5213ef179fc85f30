/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_qos.c Bugs of priorities, preferences, deadlines and of loops without end. */
#include <stdatomic.h>
#include <time.h>

#include "faulty.h"

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_missed(enum nnvts_status status) {
    return status == NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
}

static bool is_past(uint64_t deadline_ns) { return deadline_ns <= clock_ns(CLOCK_MONOTONIC); }

static enum nnvts_status inner_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    return inner->execute(inner, request, config, result);
}

/* ---------------------------------------------------------------- executions */

/* An execution that runs out of time before it began. */
static enum nnvts_status execute_idle(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    if (!is_past(config->deadline_ns)) return inner_execute(self, request, config, result);
    result->shape_count = 0;
    return NNVTS_STATUS_NONE;
}
static void idle_when_late(struct nnvts_prepared_model *prepared) { prepared->execute = execute_idle; }

static enum nnvts_status execute_failing(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config,
                                         struct nnvts_execution_result *result) {
    enum nnvts_status st = inner_execute(self, request, config, result);
    return is_missed(st) ? NNVTS_STATUS_GENERAL_FAILURE : st;
}
static void fail_when_late(struct nnvts_prepared_model *prepared) { prepared->execute = execute_failing; }

static enum nnvts_status execute_by_wall_clock(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                               const struct nnvts_execution_config *config,
                                               struct nnvts_execution_result *result) {
    if (config->deadline_ns != NNVTS_NO_TIME && config->deadline_ns <= clock_ns(CLOCK_REALTIME))
        return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    return inner_execute(self, request, config, result);
}
static void use_wall_clock(struct nnvts_prepared_model *prepared) { prepared->execute = execute_by_wall_clock; }

/* Once late, always late. */
static enum nnvts_status execute_sticky(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    static atomic_bool late;
    if (is_past(config->deadline_ns)) late = true;
    return late ? NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT : inner_execute(self, request, config, result);
}
static void stay_late(struct nnvts_prepared_model *prepared) { prepared->execute = execute_sticky; }

/* "No deadline" is all ones: as a signed number it is long past. */
static enum nnvts_status execute_signed(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    if ((int64_t)config->deadline_ns <= (int64_t)clock_ns(CLOCK_MONOTONIC))
        return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    return inner_execute(self, request, config, result);
}
static void compare_signed(struct nnvts_prepared_model *prepared) { prepared->execute = execute_signed; }

static enum nnvts_status execute_slow(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    enum nnvts_status st = inner_execute(self, request, config, result);
    const struct timespec nap = {.tv_nsec = 500000000};
    if (is_missed(st)) nanosleep(&nap, NULL);
    return st;
}
static void linger_when_late(struct nnvts_prepared_model *prepared) { prepared->execute = execute_slow; }

static enum nnvts_status report_anyway(struct tamper *t, enum nnvts_status status) {
    if (is_missed(status)) t->result->shape_count = t->request->output_count;
    return status;
}

/* A loop that looks at the clock once in a while. */
static enum nnvts_status look_late(struct tamper *t, enum nnvts_status status) {
    (void)t;
    const struct timespec nap = {.tv_sec = 1, .tv_nsec = 200000000};
    if (is_missed(status)) nanosleep(&nap, NULL);
    return status;
}

/* A loop that was cut off has its result, as far as it came. */
static enum nnvts_status give_what_there_is(struct tamper *t, enum nnvts_status status) {
    (void)t;
    return is_missed(status) ? NNVTS_STATUS_NONE : status;
}

static enum nnvts_status refuse_duration(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const int *wait_for, uint32_t wait_for_count,
                                         const struct nnvts_execution_config *config, uint64_t duration_ns,
                                         struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    if (duration_ns != NNVTS_NO_TIME) return NNVTS_STATUS_INVALID_ARGUMENT;
    return inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
}
static void refuse_durations(struct nnvts_prepared_model *prepared) {
    if (prepared->execute_fenced) prepared->execute_fenced = refuse_duration;
}

/* --------------------------------------------------------------- compilation */

static enum nnvts_status prepare_but_high(struct nnvts_device *self, const struct nnvts_model *model,
                                          const struct nnvts_prepare_config *config,
                                          struct nnvts_prepared_model **out) {
    if (config->priority == NNVTS_PRIORITY_HIGH) return NNVTS_STATUS_INVALID_ARGUMENT;
    return faulty_prepare(self, model, config, out);
}
static void refuse_high_priority(struct nnvts_device *device) { device->prepare_model = prepare_but_high; }

static enum nnvts_status prepare_but_low_power(struct nnvts_device *self, const struct nnvts_model *model,
                                               const struct nnvts_prepare_config *config,
                                               struct nnvts_prepared_model **out) {
    if (config->preference == ANEURALNETWORKS_PREFER_LOW_POWER) return NNVTS_STATUS_GENERAL_FAILURE;
    return faulty_prepare(self, model, config, out);
}
static void fail_low_power(struct nnvts_device *device) { device->prepare_model = prepare_but_low_power; }

/* Too late, but here it is. */
static enum nnvts_status prepare_late(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct nnvts_prepare_config c = *config;
    c.deadline_ns = NNVTS_NO_TIME;
    enum nnvts_status st = faulty_prepare(self, model, &c, out);
    return st == NNVTS_STATUS_NONE && is_past(config->deadline_ns) ? NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT : st;
}
static void give_late_models(struct nnvts_device *device) { device->prepare_model = prepare_late; }

static const struct bug bugs[] = {
    BUG("deadline-idle", "an execution that is given up, and called a success", "executions whose deadline is past",
        .prepared = idle_when_late),
    BUG("deadline-fails", "one status for all that goes wrong", "executions that miss their deadline",
        .prepared = fail_when_late),
    BUG("deadline-wall-clock", "the wrong clock", "executions with a deadline", .prepared = use_wall_clock),
    BUG("deadline-sticky", "a state that is not reset", "executions behind one that missed its deadline",
        .prepared = stay_late),
    BUG("deadline-signed", "times as signed numbers", "executions without a deadline", .prepared = compare_signed),
    BUG("deadline-lingers", "an execution that is waited for although nobody needs it any more",
        "executions that miss their deadline", .prepared = linger_when_late),
    BUG("deadline-shapes", "results reported of an execution that was given up", "executions that miss their deadline",
        .execute = report_anyway),
    BUG_OF(WHILE, "loop-timeout-late", "a loop that looks at the clock once in a while",
           "models with a WHILE that takes too long", .over = "reference", .execute = look_late),
    BUG_OF(WHILE, "loop-cut", "a loop that is cut off and called a success", "models with a WHILE that takes too long",
           .over = "reference", .execute = give_what_there_is),
    BUG("fenced-duration-refused", "a duration that the driver does not know", "fenced executions with a duration",
        .prepared = refuse_durations),
    BUG("priority-high-refused", "a range that is compared wrongly", "compilations of high priority",
        .device = refuse_high_priority),
    BUG("low-power-fails", "a mode of the hardware that is not there", "compilations for low power",
        .device = fail_low_power),
    BUG("prepare-late-model", "a prepared model that leaks because its caller is told of a failure",
        "compilations whose deadline is past", .device = give_late_models),
};
const struct bug_group bugs_qos = {bugs, sizeof bugs / sizeof *bugs};
