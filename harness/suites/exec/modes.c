/* SPDX-License-Identifier: Apache-2.0 */
/** @file modes.c One execution in each mode, judged; models with other inputs; work. */
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/guard.h"
#include "harness/suites/exec/exec.h"
#include "harness/suites/kit/cases.h"

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

bool nnv_exec_variant_of(struct nnv_exec *x, const struct nnv_spec *from, size_t turn, struct nnv_fixture *out) {
    const struct nnv_subgraph *main = &from->model.main;
    struct nnv_arena *arena = x->s->env->arena;
    struct nnv_spec *spec = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_value *inputs = NNV_NEW(arena, struct nnv_value, main->nin);
    bool ok = spec && inputs;
    for (uint32_t i = 0; i < main->nin && ok; i++)
        ok =
            turn_value(arena, &from->inputs[i], nnv_type(main->operands[main->in[i]].type)->size, turn + i, &inputs[i]);
    if (!ok) return nnv_context_error(x->s, NNV_OUT_OF_MEMORY);
    *spec = *from;
    spec->inputs = inputs;
    return nnv_context_model(x->s, spec, out);
}

bool nnv_exec_variant(struct nnv_exec *x, size_t turn, struct nnv_fixture *out) {
    return nnv_exec_variant_of(x, x->fixture.spec, turn, out);
}

bool nnv_exec_variants(struct nnv_exec *x, enum nnv_pool_kind kind, uint32_t count, struct nnv_fixture *fixtures,
                       struct nnv_request *values) {
    for (uint32_t i = 0; i < count; i++)
        if (!nnv_exec_variant(x, i, &fixtures[i]) || !nnv_context_request(x->s, &fixtures[i], kind, &values[i]))
            return false;
    return true;
}

bool nnv_exec_work(struct nnv_exec *x, uint32_t times, struct nnv_fixture *fixture,
                   struct nnvts_prepared_model **prepared, struct nnv_request *values) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    *prepared = NULL;
    if (nnv_fixture_work(times, x->s->env->arena, &spec, &err) != NNV_OK)
        return nnv_context_error(x->s, "%s", err.text);
    return nnv_context_work(x->s, spec, fixture) && nnv_context_ready(x->s, fixture, prepared, values);
}

void nnv_exec_lend(struct nnv_exec_loan *l, struct nnv_request *v, struct nnv_exec_run *run) {
    nnv_request_reset(v);
    *l = (struct nnv_exec_loan){.request = v->abi};
    memcpy(l->args, v->inputs, v->abi.input_count * sizeof *l->args);
    memcpy(l->args + v->abi.input_count, v->outputs, v->abi.output_count * sizeof *l->args);
    memcpy(l->pools, v->abi.pools, sizeof l->pools);
    l->request.inputs = l->args;
    l->request.outputs = l->args + v->abi.input_count;
    l->request.pools = l->pools;
    run->x.request = &l->request;
}

void nnv_exec_take_back(struct nnv_exec_loan *l) { memset(l, 0xee, sizeof *l); }

/* -------------------------------------------------------------------- judging */

bool nnv_exec_check_times(struct nnv_context *s, const char *call, bool asked, const struct nnvts_timing *t,
                          uint64_t wall_ns) {
    struct nnv_breach b = {0};
    nnv_verify_times(asked, t, wall_ns, &b);
    return nnv_expect_kept(s, call, &b, asked ? 3 : 1);
}

bool nnv_exec_same_bits(struct nnv_exec *x, const char *call, const struct nnv_request *a,
                        const struct nnv_request *b) {
    for (uint32_t i = 0; i < a->abi.output_count; i++) {
        const size_t bytes = a->out[i].bytes;
        if (bytes == 0 || memcmp(a->output_at[i], b->output_at[i], bytes) == 0) continue;
        nnv_context_note(x->s, "%s: output %u is not the same to the bit as the first time; both are within the budget",
                         call, i);
        return false;
    }
    return true;
}

bool nnv_exec_refused(struct nnv_exec *x, const char *call, enum nnvts_status status, const struct nnv_request *v) {
    return nnv_context_check_memory(x->s, call, v) &&
           nnv_expect_status(x->s, call, status, NNVTS_STATUS_INVALID_ARGUMENT);
}

/* ----------------------------------------------------------------- executions */

/** Keeps the outputs as they are now. */
static void look(void *context) {
    const struct nnv_exec_run *run = context;
    for (uint32_t i = 0; i < run->v->model->main.nout; i++)
        memcpy(run->seen[i], run->v->output_at[i] - NNV_GUARD_BYTES, nnv_guard_room(run->v->out[i].bytes));
}

static bool is_looked_at(enum nnv_mode mode) { return mode == NNV_MODE_ASYNC || mode == NNV_MODE_FENCED; }

bool nnv_exec_make(struct nnv_exec *x, struct nnv_exec_run *run, struct nnvts_prepared_model *p, enum nnv_mode mode,
                   struct nnv_request *v, const struct nnvts_execution_config *config) {
    *run = (struct nnv_exec_run){.x = nnv_execution_make(mode, p, v), .v = v};
    if (config) run->x.config = *config;
    for (uint32_t i = 0; i < v->model->main.nout && is_looked_at(mode); i++)
        if (!(run->seen[i] = nnv_arena_alloc(x->s->env->arena, nnv_guard_room(v->out[i].bytes), 1)))
            return nnv_context_error(x->s, NNV_OUT_OF_MEMORY);
    return true;
}

/** Resets the request; fenced executions need outputs whose dimensions are all stated, for the launch. */
static void begin(struct nnv_exec_run *run) {
    nnv_request_reset(run->v);
    if (run->x.mode == NNV_MODE_FENCED) nnv_request_state_outputs(run->v, true);
    run->x.ended = is_looked_at(run->x.mode) ? look : NULL;
    run->x.context = run;
}

static void begun(struct nnv_exec_run *run) {
    if (run->x.mode == NNV_MODE_FENCED) nnv_request_state_outputs(run->v, false);
}

bool nnv_exec_launch(struct nnv_exec *x, struct nnv_exec_run *run) {
    begin(run);
    const bool launched = nnv_context_launch(x->s, &run->x);
    begun(run);
    return launched;
}

bool nnv_exec_try_launch(struct nnv_exec *x, struct nnv_exec_run *run) {
    begin(run);
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    nnv_execution_launch(&run->x);
    begun(run);
    return nnv_expect_kept(x->s, run->x.call, &run->x.breach, run->x.launched && run->x.mode == NNV_MODE_FENCED);
}

/** The shapes of a fenced execution are those that its launch stated. */
static void state_shapes(struct nnv_request *v) {
    v->result.shape_count = v->model->main.nout;
    for (uint32_t i = 0; i < v->model->main.nout; i++) {
        struct nnvts_output_shape *s = &v->result.shapes[i];
        s->is_sufficient = true;
        s->dimension_count = v->out[i].rank;
        memcpy(s->dimensions, v->out[i].dims, v->out[i].rank * sizeof *s->dimensions);
    }
}

/** The request with the outputs that were seen. */
static struct nnv_request as_seen(const struct nnv_exec_run *run, uint8_t **at) {
    struct nnv_request then = *run->v;
    for (uint32_t i = 0; i < then.model->main.nout; i++) at[i] = run->seen[i] + NNV_GUARD_BYTES;
    then.output_at = at;
    return then;
}

static bool finish_async(struct nnv_exec *x, struct nnv_exec_run *run) {
    uint8_t *at[NNV_FIXTURE_MAX_IO];
    struct nnv_context *s = x->s;
    const bool called = nnv_context_wait(s, &run->x);
    const struct nnv_request then = as_seen(run, at);
    s->result->compared++; /* the callback has a result */
    return called && nnv_context_check_values(s, run->x.call, run->x.status, &then) &&
           nnv_context_check_memory(s, run->x.call, run->v) &&
           nnv_exec_check_times(s, run->x.call, run->x.config.measure_timing, &then.result.timing, run->x.ns);
}

static bool finish_fenced(struct nnv_exec *x, struct nnv_exec_run *run) {
    uint8_t *at[NNV_FIXTURE_MAX_IO];
    struct nnv_context *s = x->s;
    struct nnv_execution *e = &run->x;
    const bool asked = e->config.measure_timing, ended = nnv_context_wait(s, e);
    state_shapes(run->v);
    const struct nnv_request then = as_seen(run, at);
    bool ok = ended &&
              nnv_expect(s, (e->events & POLLIN) && !(e->events & (POLLERR | POLLNVAL)),
                         "the sync_fence of an execution that has no reason to fail reports an error (poll: 0x%x)",
                         (unsigned)e->events) &&
              nnv_context_check_values(s, e->call, e->status, &then);
    if (ok) {
        ok = nnv_exec_check_times(s, "a fenced execution, from its launch,", asked, &then.result.timing, e->ns);
        ok = nnv_exec_check_times(s, "a fenced execution, from its fences,", asked, &e->fenced, e->ns) && ok;
    }
    nnv_context_close(s, e);
    return ok;
}

bool nnv_exec_finish(struct nnv_exec *x, struct nnv_exec_run *run) {
    if (run->x.mode == NNV_MODE_ASYNC) return finish_async(x, run);
    if (run->x.mode == NNV_MODE_FENCED) return finish_fenced(x, run);
    return nnv_context_wait(x->s, &run->x) && nnv_context_check_values(x->s, run->x.call, run->x.status, run->v) &&
           nnv_exec_check_times(x->s, run->x.call, run->x.config.measure_timing, &run->v->result.timing, run->x.ns);
}

bool nnv_exec_once(struct nnv_exec *x, struct nnv_exec_run *run) {
    if (nnv_exec_launch(x, run)) return nnv_exec_finish(x, run);
    if (run->x.launched) nnv_exec_drop(x, run);
    return false;
}

void nnv_exec_end(struct nnv_exec *x, struct nnv_exec_run *run) { nnv_context_close(x->s, &run->x); }

void nnv_exec_drop(struct nnv_exec *x, struct nnv_exec_run *run) {
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    if (run->x.launched && !x->s->result->worker_damaged) nnv_execution_wait(&run->x);
    nnv_exec_end(x, run);
}

bool nnv_exec_run(struct nnv_exec *x, struct nnvts_prepared_model *p, enum nnv_mode mode, struct nnv_request *v,
                  const struct nnvts_execution_config *config) {
    struct nnv_exec_run run;
    int64_t tokens[NNV_MOST_TOKENS];
    const bool again = mode == NNV_MODE_BURST || mode == NNV_MODE_REUSABLE;
    if (!nnv_exec_make(x, &run, p, mode, v, config)) return false;
    for (int i = 0; i < NNV_MOST_TOKENS; i++) tokens[i] = 40 + i;
    run.x.tokens = tokens;
    const bool ok =
        (mode != NNV_MODE_BURST || nnv_expect(x->s, v->abi.pool_count <= NNV_MOST_TOKENS, "more pools than tokens")) &&
        nnv_exec_once(x, &run) && (!again || nnv_exec_once(x, &run));
    nnv_exec_end(x, &run);
    return ok;
}

bool nnv_exec_called_once(struct nnv_exec *x) {
    const uint32_t surplus = nnv_surplus_callbacks(true);
    return nnv_expect(x->s, surplus == 0, "the callback of an execution must come once; it came again %u times",
                      surplus);
}
