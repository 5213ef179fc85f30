/* SPDX-License-Identifier: Apache-2.0 */
/** @file exec_modes.c One execution in each mode, judged; models with other inputs; work. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

void nnv_exec_sleep_us(unsigned us) {
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    while (nanosleep(&t, &t) != 0) continue;
}

/* --------------------------------------------------------------------- models */

/** value with its elements turned: element i becomes element i - turn. */
static bool turn_value(struct nnv_arena *arena, const struct nnv_value *value, size_t elem, size_t turn,
                       struct nnv_value *out) {
    *out = *value;
    if (value->omitted || value->bytes == 0) return true;
    uint8_t *data = nnv_arena_alloc(arena, value->bytes, 1);
    if (!data) return false;
    const size_t cut = turn * elem % value->bytes;
    memcpy(data, (const uint8_t *)value->data + cut, value->bytes - cut);
    memcpy(data + value->bytes - cut, value->data, cut);
    out->data = data;
    return true;
}

bool nnv_exec_variant(struct nnv_exec *x, size_t turn, struct nnv_subject *out) {
    const struct nnv_spec *from = x->subject.spec;
    const struct nnv_subgraph *main = &from->model.main;
    struct nnv_arena *arena = x->s->env->arena;
    struct nnv_spec *spec = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_value *inputs = NNV_NEW(arena, struct nnv_value, main->nin);
    bool ok = spec && inputs;
    for (uint32_t i = 0; i < main->nin && ok; i++)
        ok =
            turn_value(arena, &from->inputs[i], nnv_type(main->operands[main->in[i]].type)->size, turn + i, &inputs[i]);
    if (!ok) return nnv_session_error(x->s, "out of memory");
    *spec = *from;
    spec->inputs = inputs;
    return nnv_session_subject(x->s, spec, out);
}

bool nnv_exec_variants(struct nnv_exec *x, enum nnv_session_memory_kind kind, uint32_t count,
                       struct nnv_subject *subjects, struct nnv_values *values) {
    for (uint32_t i = 0; i < count; i++)
        if (!nnv_exec_variant(x, i, &subjects[i]) || !nnv_session_values(x->s, &subjects[i], kind, &values[i]))
            return false;
    return true;
}

bool nnv_exec_work(struct nnv_exec *x, uint32_t times, struct nnv_subject *subject,
                   struct nnvts_prepared_model **prepared, struct nnv_values *values) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    *prepared = NULL;
    if (nnv_subject_work(times, x->s->env->arena, &spec, &err) != NNV_OK)
        return nnv_session_error(x->s, "%s", err.text);
    return nnv_session_work(x->s, spec, subject) && (*prepared = nnv_session_prepare(x->s, subject)) &&
           nnv_session_values(x->s, subject, NNV_SESSION_READ_ONLY, values);
}

/* -------------------------------------------------------------------- judging */

bool nnv_exec_check_times(struct nnv_session *s, const char *call, bool asked, const struct nnvts_timing *t,
                          uint64_t wall_ns) {
    const unsigned long long device = t->on_device_ns, driver = t->in_driver_ns, wall = wall_ns;
    if (!asked)
        return nnv_expect(s, device == NNVTS_NO_TIME && driver == NNVTS_NO_TIME,
                          "%s was not asked for times; it must report NNVTS_NO_TIME for both, not %llu and %llu ns",
                          call, device, driver);
    bool ok = nnv_expect(s, driver == NNVTS_NO_TIME || driver <= wall,
                         "%s reports %llu ns in the driver, but took %llu ns by the wall clock", call, driver, wall);
    ok = nnv_expect(s, device == NNVTS_NO_TIME || device <= wall,
                    "%s reports %llu ns on the device, but took %llu ns by the wall clock", call, device, wall) &&
         ok;
    return nnv_expect(s, device == NNVTS_NO_TIME || driver == NNVTS_NO_TIME || device <= driver,
                      "%s reports %llu ns on the device, more than the %llu ns in the driver", call, device, driver) &&
           ok;
}

bool nnv_exec_same_bits(struct nnv_exec *x, const char *call, const struct nnv_values *a, const struct nnv_values *b) {
    for (uint32_t i = 0; i < a->request.output_count; i++) {
        const size_t bytes = a->subject->expected[i].value->bytes;
        if (bytes == 0 || memcmp(a->output_at[i], b->output_at[i], bytes) == 0) continue;
        nnv_session_note(x->s, "%s: output %u is not the same to the bit as the first time; both are within the budget",
                         call, i);
        return false;
    }
    return true;
}

bool nnv_exec_refused(struct nnv_exec *x, const char *call, enum nnvts_status status, const struct nnv_values *v) {
    return nnv_session_check_memory(x->s, call, v) &&
           nnv_expect_status(x->s, call, status, NNVTS_STATUS_INVALID_ARGUMENT);
}

/** Judges an execution that ended when the call returned. */
static bool judge(struct nnv_exec *x, const char *call, enum nnvts_status st, const struct nnv_values *v, bool asked,
                  uint64_t wall_ns, struct nnv_exec_times *times) {
    if (times) *times = (struct nnv_exec_times){.launched = v->result.timing, .wall_ns = wall_ns};
    return nnv_session_check_values(x->s, call, st, v) &&
           nnv_exec_check_times(x->s, call, asked, &v->result.timing, wall_ns);
}

/* ---------------------------------------------------------------------- modes */

static bool run_sync(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                     const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    nnv_values_reset(v);
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    const uint64_t start = nnv_now_ns();
    enum nnvts_status st = p->execute(p, &v->request, config, &v->result);
    return judge(x, "execute", st, v, config->measure_timing, nnv_now_ns() - start, times);
}

static bool run_async(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                      const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    enum nnvts_status st;
    struct nnv_exec_landing *landing = nnv_exec_launch(x, p, v, &v->request, config, &st);
    return landing && nnv_expect_status(x->s, "execute_async", st, NNVTS_STATUS_NONE) &&
           nnv_exec_land(x, landing, times);
}

static bool run_fenced(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                       const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    struct nnv_exec_fenced_run run = {.prepared = p, .v = v, .config = config, .duration_ns = NNVTS_NO_TIME};
    return nnv_exec_fenced_start(x, &run) && nnv_exec_fenced_finish(x, &run, times);
}

static bool run_burst(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                      const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    enum { POOLS = 16 };
    int64_t tokens[POOLS];
    struct nnvts_burst *burst = nnv_exec_burst_make(x, p);
    if (!burst) return false;
    for (int i = 0; i < POOLS; i++) tokens[i] = 40 + i;
    bool ok = nnv_expect(x->s, v->request.pool_count <= POOLS, "more pools than tokens") &&
              nnv_exec_burst_run(x, burst, v, tokens, config, times) &&
              nnv_exec_burst_run(x, burst, v, tokens, config, times);
    nnv_exec_burst_free(x, burst);
    return ok;
}

static bool run_reusable(struct nnv_exec *x, struct nnvts_prepared_model *p, struct nnv_values *v,
                         const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    struct nnvts_execution *e = nnv_exec_reusable_make(x, p, v, config);
    if (!e) return false;
    bool ok = nnv_exec_reusable_run(x, e, v, config->deadline_ns, config->measure_timing, times) &&
              nnv_exec_reusable_run(x, e, v, config->deadline_ns, config->measure_timing, times);
    nnv_exec_reusable_free(x, e);
    return ok;
}

bool nnv_exec_has(const struct nnvts_prepared_model *p, enum nnv_exec_mode mode) {
    switch (mode) {
    case NNV_EXEC_SYNC:
        return true;
    case NNV_EXEC_ASYNC:
        return p->execute_async != NULL;
    case NNV_EXEC_FENCED:
        return p->execute_fenced != NULL;
    case NNV_EXEC_BURST:
        return p->create_burst != NULL;
    case NNV_EXEC_REUSABLE:
        return p->create_execution != NULL;
    case NNV_EXEC_MODES:
        break;
    }
    return false;
}

bool nnv_exec_needs(struct nnv_exec *x, enum nnv_exec_mode mode) {
    static const char *const names[] = {"synchronous executions", "asynchronous executions", "fenced executions",
                                        "bursts", "reusable executions"};
    return nnv_exec_has(x->prepared, mode) || nnv_session_unsupported(x->s, "the driver has no %s", names[mode]);
}

bool nnv_exec_run(struct nnv_exec *x, struct nnvts_prepared_model *p, enum nnv_exec_mode mode, struct nnv_values *v,
                  const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    static bool (*const runs[])(struct nnv_exec *, struct nnvts_prepared_model *, struct nnv_values *,
                                const struct nnvts_execution_config *,
                                struct nnv_exec_times *) = {run_sync, run_async, run_fenced, run_burst, run_reusable};
    return runs[mode](x, p, v, config ? config : &nnv_session_execution_config, times);
}

/* --------------------------------------------------------------------- bursts */

struct nnvts_burst *nnv_exec_burst_make(struct nnv_exec *x, struct nnvts_prepared_model *p) {
    struct nnvts_burst *burst = NULL;
    if (!p->create_burst) {
        nnv_session_unsupported(x->s, "the driver has no bursts");
        return NULL;
    }
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    if (!nnv_expect_status(x->s, "create_burst", p->create_burst(p, &burst), NNVTS_STATUS_NONE) ||
        !nnv_expect(x->s,
                    burst && burst->struct_size >= sizeof *burst && burst->execute && burst->release_memory &&
                        burst->release,
                    "create_burst answered NONE without a burst that has all required members"))
        return NULL;
    return burst;
}

bool nnv_exec_burst_run(struct nnv_exec *x, struct nnvts_burst *burst, struct nnv_values *v, const int64_t *tokens,
                        const struct nnvts_execution_config *config, struct nnv_exec_times *times) {
    if (!config) config = &nnv_session_execution_config;
    nnv_values_reset(v);
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    const uint64_t start = nnv_now_ns();
    enum nnvts_status st = burst->execute(burst, &v->request, tokens, config, &v->result);
    return judge(x, "execute of a burst", st, v, config->measure_timing, nnv_now_ns() - start, times);
}

void nnv_exec_burst_free(struct nnv_exec *x, struct nnvts_burst *burst) {
    if (!burst || x->s->result->worker_damaged) return;
    nnv_session_enter(x->s, NNV_PHASE_RELEASE);
    burst->release(burst);
}

/* ------------------------------------------------------------------- reusable */

struct nnvts_execution *nnv_exec_reusable_make(struct nnv_exec *x, struct nnvts_prepared_model *p,
                                               const struct nnv_values *v,
                                               const struct nnvts_execution_config *config) {
    struct nnvts_execution *e = NULL;
    if (!p->create_execution) {
        nnv_session_unsupported(x->s, "the driver has no reusable executions");
        return NULL;
    }
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = p->create_execution(p, &v->request, config ? config : &nnv_session_execution_config, &e);
    if (!nnv_expect_status(x->s, "create_execution", st, NNVTS_STATUS_NONE) ||
        !nnv_expect(x->s, e && e->struct_size >= sizeof *e && e->execute && e->release,
                    "create_execution answered NONE without an execution that has all required members"))
        return NULL;
    return e;
}

bool nnv_exec_reusable_run(struct nnv_exec *x, struct nnvts_execution *e, struct nnv_values *v, uint64_t deadline_ns,
                           bool measured, struct nnv_exec_times *times) {
    nnv_values_reset(v);
    nnv_session_enter(x->s, NNV_PHASE_EXECUTE);
    const uint64_t start = nnv_now_ns();
    enum nnvts_status st = e->execute(e, deadline_ns, &v->result);
    return judge(x, "execute of a reusable execution", st, v, measured, nnv_now_ns() - start, times);
}

void nnv_exec_reusable_free(struct nnv_exec *x, struct nnvts_execution *e) {
    if (!e || x->s->result->worker_damaged) return;
    nnv_session_enter(x->s, NNV_PHASE_RELEASE);
    e->release(e);
}
