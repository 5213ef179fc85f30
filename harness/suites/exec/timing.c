/* SPDX-License-Identifier: Apache-2.0 */
/** @file timing.c Times: only where asked for, in order, and longer for more work. */
#include "base/clock.h"
#include "harness/suites/exec/exec.h"

/** In each mode, asked and not asked in turns; the rules are nnv_exec_check_times(). */
static void in_order(struct nnv_exec *x) {
    struct nnvts_execution_config config = nnv_execution_config;
    for (int mode = 0; mode < NNV_MODES; mode++)
        for (int i = 0; i < 4 && nnv_mode_offered(x->prepared, (enum nnv_mode)mode); i++) {
            config.measure_timing = i % 2;
            if (!nnv_exec_run(x, x->prepared, (enum nnv_mode)mode, &x->values, &config)) return;
        }
}

/** Whoever tells times where it executes synchronously tells them in other modes, too. */
static void each_mode(struct nnv_exec *x) {
    bool told = false;
    for (int mode = 0; mode < NNV_MODES; mode++) {
        struct nnv_execution e = nnv_execution_make((enum nnv_mode)mode, x->prepared, &x->values);
        const struct nnvts_timing *t = &x->values.result.timing;
        if (!nnv_mode_offered(x->prepared, e.mode)) continue;
        e.config.measure_timing = true;
        nnv_request_reset(&x->values);
        nnv_request_state_outputs(&x->values, mode == NNV_MODE_FENCED);
        if (!nnv_context_try(x->s, &e) || !nnv_expect_status(x->s, e.call, e.status, NNVTS_STATUS_NONE)) return;
        const bool tells = t->in_driver_ns != NNVTS_NO_TIME || t->on_device_ns != NNVTS_NO_TIME;
        if (mode == NNV_MODE_SYNC) told = tells;
        nnv_expect(x->s, tells || !told, "synchronous executions tell their times where asked, but %s do not",
                   nnv_mode_words(e.mode));
    }
}

/** An execution that was refused took no time. */
static void refused(struct nnv_exec *x) {
    struct nnvts_request request = x->values.abi;
    struct nnv_execution e = nnv_execution_make(NNV_MODE_SYNC, x->prepared, &x->values);
    request.output_count = 0;
    e.request = &request;
    for (int i = 0; i < 2; i++) {
        e.config.measure_timing = i;
        nnv_request_reset(&x->values);
        if (!nnv_context_run(x->s, &e) || !nnv_exec_refused(x, "execute without outputs", e.status, &x->values) ||
            !nnv_exec_check_times(x->s, "execute without outputs", i, &x->values.result.timing, e.ns))
            return;
    }
}

/** Runs the work once; *least becomes the shorter of the times on the device and in the driver so far. */
static bool measure(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_request *v,
                    struct nnvts_timing *least) {
    struct nnv_execution e = nnv_execution_make(NNV_MODE_SYNC, p, v);
    const struct nnvts_timing *t = &v->result.timing;
    e.config.measure_timing = true;
    nnv_request_reset(v);
    if (!nnv_context_run(x->s, &e)) return false;
    if (t->on_device_ns < least->on_device_ns) least->on_device_ns = t->on_device_ns;
    if (t->in_driver_ns < least->in_driver_ns) least->in_driver_ns = t->in_driver_ns;
    return nnv_context_check_memory(x->s, "execute", v) &&
           nnv_expect_status(x->s, "execute", e.status, NNVTS_STATUS_NONE) &&
           nnv_exec_check_times(x->s, "execute", true, t, e.ns);
}

/** Longer, or not reported at all. */
static bool longer(uint64_t less, uint64_t more) {
    return (less == NNVTS_NO_TIME && more == NNVTS_NO_TIME) ||
           (less != NNVTS_NO_TIME && more != NNVTS_NO_TIME && more > less);
}

/**
 * Ten times the work takes longer. Noise only ever adds: the least of many times is compared, and rounds are added
 * until it shows.
 */
static void grows(struct nnv_exec *x) {
    enum { LESS = 4, MORE = 10 * LESS, FEW = 3, ROUNDS = 60, LONG_ENOUGH_NS = 300000000 };
    const uint64_t start = nnv_now_ns();
    struct nnv_fixture fixtures[2];
    struct nnv_request values[2];
    struct nnvts_prepared_model *more = NULL;
    struct nnvts_timing least[2] = {{NNVTS_NO_TIME, NNVTS_NO_TIME}, {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    bool ok = nnv_exec_work(x, LESS, &fixtures[0], &x->prepared, &values[0]) &&
              nnv_exec_work(x, MORE, &fixtures[1], &more, &values[1]),
         shows = false;
    for (int i = 0; i < ROUNDS && ok && !(shows && i >= FEW); i++) {
        if (i >= 2 * FEW && nnv_now_ns() - start > LONG_ENOUGH_NS) break;
        ok = measure(x, x->prepared, &values[0], &least[0]) && measure(x, more, &values[1], &least[1]);
        shows = longer(least[0].on_device_ns, least[1].on_device_ns) &&
                longer(least[0].in_driver_ns, least[1].in_driver_ns);
    }
    if (ok)
        nnv_expect(x->s, shows,
                   "%d products of matrices took at least %llu ns on the device and %llu in the driver, %d of them "
                   "%llu and %llu: ten times the work must take longer",
                   LESS, (unsigned long long)least[0].on_device_ns, (unsigned long long)least[0].in_driver_ns, MORE,
                   (unsigned long long)least[1].on_device_ns, (unsigned long long)least[1].in_driver_ns);
    if (ok && least[0].in_driver_ns == NNVTS_NO_TIME && least[0].on_device_ns == NNVTS_NO_TIME)
        nnv_context_decline(x->s, NNVTS_WHY_FEATURE, "the driver reports no times");
    nnv_context_release(x->s, more);
}

static const struct nnv_exec_case cases[] = {
    {.name = "in_order", .run = in_order},
    {.name = "each_mode", .run = each_mode},
    {.name = "refused", .run = refused, .only = "add_"},
    {.name = "grows", .run = grows, .alone = true},
};
const struct nnv_exec_group nnv_exec_timing = NNV_EXEC_GROUP("timing", cases);
