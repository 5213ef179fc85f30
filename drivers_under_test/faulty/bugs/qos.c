/* SPDX-License-Identifier: Apache-2.0 */
/** @file qos.c Bugs of priorities, preferences, deadlines and of loops without end. */
#include <stdatomic.h>
#include <time.h>

#include "faulty.h"

static uint64_t deadline_of(const struct call *c) {
    return c->kind == CALL_PREPARE ? c->config->deadline_ns : c->execution_config->deadline_ns;
}

static bool is_past(const struct call *c) { return deadline_of(c) <= clock_ns(); }

/* ---------------------------------------------------------------- executions */

static void give_up(struct call *c, enum nnvts_status status) {
    c->result->shape_count = 0;
    answer(c, status);
}

/* An execution that runs out of time before it began. */
static void idle_when_late(struct call *c) {
    if (is_past(c)) give_up(c, NNVTS_STATUS_NONE);
}

static void use_wall_clock(struct call *c) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (deadline_of(c) != NNVTS_NO_TIME && deadline_of(c) <= now) answer(c, NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
}

/* Once late, always late. */
static void stay_late(struct call *c) {
    static atomic_bool late;
    if (is_past(c)) late = true;
    if (late) answer(c, NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT);
}

/* "No deadline" is all ones: as a signed number it is long past. */
static void compare_signed(struct call *c) {
    if ((int64_t)deadline_of(c) <= (int64_t)clock_ns()) answer(c, NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
}

static void linger(struct call *c) {
    if (was_missed(c)) sleep_us(500000);
}

/* A loop that looks at the clock once in a while. */
static void look_late(struct call *c) {
    if (was_missed(c)) sleep_us(1200000);
}

static void report_anyway(struct call *c) {
    if (was_missed(c)) c->result->shape_count = c->request->output_count;
}

static void refuse_duration(struct call *c) {
    if (c->duration_ns != NNVTS_NO_TIME) answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
}

/* The waiting for fences is a part of it. */
static void count_from_launch(struct call *c) {
    struct nnvts_execution_config *config = call_alloc(c, sizeof *config);
    const uint64_t now = clock_ns();
    if (!config || c->duration_ns >= NNVTS_NO_TIME - now) return;
    *config = *c->execution_config;
    if (now + c->duration_ns < config->deadline_ns) config->deadline_ns = now + c->duration_ns;
    c->execution_config = config;
    c->duration_ns = NNVTS_NO_TIME;
}

/* --------------------------------------------------------------- compilation */

static void refuse_high_priority(struct call *c) {
    if (c->config->priority == NNVTS_PRIORITY_HIGH) answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
}

static void fail_low_power(struct call *c) {
    if (c->config->preference == ANEURALNETWORKS_PREFER_LOW_POWER) answer(c, NNVTS_STATUS_GENERAL_FAILURE);
}

/* Too late, but here it is. */
static void take_time(struct call *c) {
    c->note = (void *)(uintptr_t)c->config;
    own_config(c)->deadline_ns = NNVTS_NO_TIME;
}
static void give_late_model(struct call *c) {
    c->config = c->note;
    if (succeeded(c) && is_past(c)) c->status = NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT;
}

static const struct bug bugs[] = {
    BUG("deadline-idle", "an execution that is given up, and called a success", "executions whose deadline is past",
        .on = ON(EXECUTE), .before = idle_when_late),
    BUG("deadline-fails", "one status for all that goes wrong", "executions that miss their deadline",
        .on = ON(EXECUTE), .from = MISSED, .to = NNVTS_STATUS_GENERAL_FAILURE),
    BUG("deadline-wall-clock", "the wrong clock", "executions with a deadline", .on = ON(EXECUTE),
        .before = use_wall_clock),
    BUG("deadline-sticky", "a state that is not reset", "executions behind one that missed its deadline",
        .on = ON(EXECUTE), .before = stay_late),
    BUG("deadline-signed", "times as signed numbers", "executions without a deadline", .on = ON(EXECUTE),
        .before = compare_signed),
    BUG("deadline-lingers", "an execution that is waited for although nobody needs it any more",
        "executions that miss their deadline", .on = ON(EXECUTE), .after = linger),
    BUG("deadline-shapes", "results reported of an execution that was given up", "executions that miss their deadline",
        .on = ON(EXECUTE), .after = report_anyway),
    BUG_OF(WHILE, "loop-timeout-late", "a loop that looks at the clock once in a while",
           "models with a WHILE that takes too long", .over = "reference", .on = ON(EXECUTE), .after = look_late),
    BUG_OF(WHILE, "loop-cut", "a loop that is cut off and called a success", "models with a WHILE that takes too long",
           .over = "reference", .on = ON(EXECUTE), .from = MISSED, .to = NNVTS_STATUS_NONE),
    BUG("fenced-duration-refused", "a duration that the driver does not know", "fenced executions with a duration",
        .on = ON(FENCED), .before = refuse_duration),
    BUG("fenced-duration-launch", "a duration that begins with the launch",
        "fenced executions whose fences take longer", .on = ON(FENCED), .before = count_from_launch),
    BUG("priority-high-refused", "a range that is compared wrongly", "compilations of high priority", .on = ON(PREPARE),
        .before = refuse_high_priority),
    BUG("low-power-fails", "a mode of the hardware that is not there", "compilations for low power", .on = ON(PREPARE),
        .before = fail_low_power),
    BUG("prepare-late-model", "a prepared model that leaks because its caller is told of a failure",
        "compilations whose deadline is past", .on = ON(PREPARE), .before = take_time, .after = give_late_model),
};
const struct bug_group bugs_qos = {bugs, sizeof bugs / sizeof *bugs};
