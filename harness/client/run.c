/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/abi.h"
#include "harness/client/execute.h"
#include "harness/client/prepare.h"
#include "harness/client/restore.h"

/** What a run knows. Inputs, outputs and constants are pools of one file. */
struct run {
    struct nnv_client *client;
    const struct nnv_spec *spec;
    struct nnv_arena *arena;
    volatile uint32_t *phase;
    struct nnv_outcome *out;
    struct nnv_abi_pool constants;
    struct nnvts_model model;
    struct nnv_request request;
    struct nnvts_prepared_model *prepared;
};

enum { UNFILLED = 0xee };

/** Ends the run with this outcome; returns false. */
NNV_PRINTF(4, 5)
static bool stop(struct run *r, enum nnv_outcome_kind kind, enum nnvts_reason why, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->out->reason, sizeof r->out->reason, fmt, ap);
    va_end(ap);
    r->out->kind = kind;
    r->out->why = why;
    return false;
}

static bool out_of_memory(struct run *r) { return stop(r, NNV_OUTCOME_HARNESS, NNVTS_WHY_HARNESS, NNV_OUT_OF_MEMORY); }

static void enter(struct run *r, enum nnv_phase phase) {
    r->out->phase = phase;
    if (r->phase) *r->phase = (uint32_t)phase;
}

/** Ends the run for what the driver did wrong; true if it did nothing. */
static bool kept(struct run *r, const struct nnv_breach *b) {
    if (b->kind == NNV_BREACH_NONE) return true;
    r->out->memory_damaged = b->kind == NNV_BREACH_MEMORY;
    return stop(r, b->kind == NNV_BREACH_OURS ? NNV_OUTCOME_HARNESS : NNV_OUTCOME_BROKEN, nnv_breach_why(b->kind),
                "%s %s", nnv_phase_name(r->out->phase), b->text);
}

/** What a driver that tells what it supports has claimed by now. */
static const char *claimed(const struct run *r) {
    const bool asked = !(nnv_device_limits(r->client->device) & NNVTS_LIMIT_CANNOT_BE_ASKED);
    return asked && r->out->phase != NNV_PHASE_SUPPORTED ? " although the driver had claimed to support the model" : "";
}

/** True if the driver answered NONE; otherwise the outcome says what it answered. */
static bool status_is_none(struct run *r, enum nnvts_status status) {
    char buf[32];
    struct nnv_text words = {0};
    r->out->status = status;
    if (status == NNVTS_STATUS_NONE) return true;
    nnv_add_last_error(r->client->device, status, &words);
    stop(r, NNV_OUTCOME_REFUSED, NNVTS_WHY_REFUSED, "%s answered %s%s%s", nnv_phase_name(r->out->phase),
         nnv_abi_status_name((int)status, buf), claimed(r), words.data ? words.data : "");
    nnv_text_free(&words);
    return false;
}

/* --------------------------------------------------------------------- steps */

static bool build(struct run *r) {
    const struct nnv_spec *spec = r->spec;
    struct nnv_abi_pool pools[3];
    struct nnv_err err = {0};
    enter(r, NNV_PHASE_BUILD);
    if (nnv_request_init(&r->request, &spec->model, spec->inputs, spec->outputs, r->arena, &err) != NNV_OK)
        return stop(r, NNV_OUTCOME_HARNESS, NNVTS_WHY_HARNESS, "%s", err.text);
    const size_t bytes[] = {r->request.bytes[0], r->request.bytes[1], nnv_abi_pool_bytes(&spec->model)};
    if (nnv_client_pools(r->client, bytes, 3, pools, &err) != NNV_OK)
        return stop(r, NNV_OUTCOME_HARNESS, NNVTS_WHY_HARNESS, "%s", err.text);
    pools[0].memory.prot = pools[2].memory.prot = NNVTS_PROT_READ;
    nnv_request_place(&r->request, &pools[0], &pools[1]);
    nnv_request_suit(&r->request, r->client->device);
    r->constants = pools[2];
    if (nnv_abi_model_at(&spec->model, r->arena, &pools[2].memory, pools[2].data, &r->model, &err) != NNV_OK)
        return stop(r, NNV_OUTCOME_HARNESS, NNVTS_WHY_HARNESS, "%s", err.text);
    return true;
}

/** The driver has copied what it needs: whoever still reads the caller's constants shall notice. */
static void forget_constants(struct run *r) {
    memset(r->constants.data, UNFILLED, (size_t)r->constants.memory.size);
    if (r->model.operand_values_bytes) memset((void *)r->model.operand_values, UNFILLED, r->model.operand_values_bytes);
}

static bool unsupported(struct run *r, const struct nnv_preparation *p) {
    struct nnv_text t = {0};
    nnv_add_unsupported(p, p->refused, &t);
    stop(r, NNV_OUTCOME_UNSUPPORTED, NNVTS_WHY_OPERATION, "%s",
         t.data ? t.data : "the driver does not support an operation");
    nnv_text_free(&t);
    return false;
}

/** Where the driver's interface has no words for the inputs. */
static bool can_be_told(struct run *r) {
    uint32_t i;
    if (!nnv_inputs_beyond_limits(r->client->device, &r->spec->model, r->spec->inputs, &i)) return true;
    return stop(r, NNV_OUTCOME_UNSUPPORTED, NNVTS_WHY_INTERFACE,
                "the driver can't be given input %u, which has no elements", i);
}

static bool prepare(struct run *r) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    config.cache = r->client->cache;
    struct nnv_preparation p = {.config = &config,
                                .device = r->client->device,
                                .abi = &r->model,
                                .model = &r->spec->model,
                                .constants = r->constants.data,
                                .phase = r->phase};
    r->out->phase = NNV_PHASE_SUPPORTED;
    bool ok = nnv_ask_supported(&p, r->arena);
    r->out->supported_ns = p.supported_ns;
    if (!kept(r, &p.breach)) return false;
    struct nnv_text missing = {0};
    const bool lacks = !r->spec->expect_failure && nnv_not_implemented(&p, &missing);
    if (lacks)
        stop(r, NNV_OUTCOME_UNSUPPORTED, NNVTS_WHY_OPERATION, "%s", missing.data ? missing.data : "not implemented");
    nnv_text_free(&missing);
    if (lacks || !status_is_none(r, p.status) || !ok) return false;
    if (p.refused) return unsupported(r, &p);
    if (!can_be_told(r)) return false;
    r->out->phase = NNV_PHASE_PREPARE;
    if (r->client->from_cache)
        nnv_prepare_from_cache(&p, config.cache, NNVTS_NO_TIME);
    else
        nnv_prepare(&p);
    r->out->prepare_ns = p.prepare_ns;
    struct nnv_breach files = {0};
    nnv_client_memory_whole(r->client, &files);
    if (!kept(r, &files) || !kept(r, &p.breach) || !status_is_none(r, p.status)) return false;
    r->prepared = p.prepared;
    forget_constants(r);
    return true;
}

/* ---------------------------------------------------------------- the answer */

/** Keeps the reported shapes, if they are whole. */
static void keep_reported(struct run *r) {
    const struct nnvts_execution_result *result = &r->request.result;
    uint32_t n = r->spec->model.main.nout;
    struct nnv_value *v = result->shape_count == n ? NNV_NEW(r->arena, struct nnv_value, n) : NULL;
    for (uint32_t i = 0; v && i < n; i++) {
        const struct nnvts_output_shape *s = &result->shapes[i];
        if (s->dimension_count > NNV_MAX_RANK) return;
        v[i].rank = s->dimension_count;
        memcpy(v[i].dims, s->dimensions, s->dimension_count * sizeof *s->dimensions);
    }
    r->out->reported = v;
}

static bool take_outputs(struct run *r) {
    uint32_t nout = r->spec->model.main.nout;
    struct nnv_value *values = NNV_NEW(r->arena, struct nnv_value, nout);
    if (!values) return out_of_memory(r);
    for (uint32_t i = 0; i < nout; i++) {
        values[i] = r->spec->outputs[i];
        values[i].data = nnv_arena_copy(r->arena, r->request.output_at[i], values[i].bytes);
        if (!values[i].data) return out_of_memory(r);
    }
    r->out->outputs = values;
    r->out->kind = NNV_OUTCOME_DONE;
    return true;
}

/** What must hold besides of an answer; with NONE the outputs are taken. */
static bool judge(struct run *r, struct nnv_execution *x) {
    const struct nnv_request *request = &r->request;
    r->out->status = x->status;
    if (r->spec->expect_failure && x->status == NNVTS_STATUS_NONE) return take_outputs(r); /* whatever they are */
    if (!nnv_verify_shapes(request, x->status, &x->breach)) {
        if (x->breach.kind == NNV_BREACH_SHAPE) keep_reported(r);
        return kept(r, &x->breach);
    }
    if (x->status == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) keep_reported(r);
    if (!status_is_none(r, x->status)) return false;
    nnv_verify_times(false, &request->result.timing, x->ns, &x->breach);
    nnv_verify_written(request, &x->breach);
    return kept(r, &x->breach) && take_outputs(r);
}

static bool execute(struct run *r) {
    struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, r->prepared, &r->request);
    struct nnv_breach memory = {0};
    nnv_request_fill(&r->request, r->spec->inputs);
    nnv_request_reset(&r->request);
    enter(r, NNV_PHASE_EXECUTE);
    nnv_execute(&x);
    r->out->execute_ns = x.ns;
    nnv_verify_memory(&r->request, &memory);
    nnv_client_memory_whole(r->client, &memory);
    return kept(r, &memory) && kept(r, &x.breach) && judge(r, &x);
}

void nnv_client_run(struct nnv_client *client, const struct nnv_spec *spec, struct nnv_arena *arena,
                    volatile uint32_t *phase, struct nnv_outcome *out) {
    *out = (struct nnv_outcome){.kind = NNV_OUTCOME_HARNESS};
    struct run r = {.client = client, .spec = spec, .arena = arena, .phase = phase, .out = out};
    const bool compiled = build(&r) && prepare(&r);
    if (compiled && client->compile_only) out->kind = NNV_OUTCOME_COMPILED;
    if (compiled && !client->compile_only && execute(&r) && client->twice) {
        struct nnv_value *first = out->outputs;
        if (execute(&r)) {
            out->again = out->outputs;
            out->outputs = first;
        }
    }
    if (r.prepared && !out->memory_damaged) {
        if (phase) *phase = NNV_PHASE_RELEASE;
        r.prepared->release(r.prepared);
        nnv_restore_thread();
    }
}

bool nnv_client_supports(struct nnv_client *client, const struct nnv_model *model, struct nnv_arena *arena,
                         volatile uint32_t *phase, enum nnvts_status *status, struct nnv_text *what) {
    const size_t bytes = nnv_abi_pool_bytes(model);
    struct nnv_abi_pool pool;
    struct nnvts_model abi;
    struct nnv_err ignored = {0};
    if (nnv_client_pools(client, &bytes, 1, &pool, &ignored) != NNV_OK ||
        nnv_abi_model_at(model, arena, &pool.memory, pool.data, &abi, &ignored) != NNV_OK)
        return true;
    struct nnv_preparation p = {
        .device = client->device, .abi = &abi, .model = model, .constants = pool.data, .phase = phase};
    const bool answered = nnv_ask_supported(&p, arena);
    *status = p.status;
    if (nnv_not_implemented(&p, what)) return false;
    char buf[32];
    if (!answered)
        nnv_text_addf(what, "%s answered %s", p.call, nnv_abi_status_name((int)p.status, buf));
    else if (p.refused > 0)
        nnv_add_unsupported(&p, 1, what);
    return answered && p.refused == 0;
}
