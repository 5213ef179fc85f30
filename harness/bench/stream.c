/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/stream.h"

#include <stdio.h>

/* -------------------------------------------------------------------- compiling */

enum nnv_status nnv_bench_model_make(struct nnv_bench_model *m, struct nnvts_device *device,
                                     const struct nnv_model *model, struct nnv_arena *arena, struct nnv_err *err) {
    m->device = device;
    m->model = model;
    return nnv_abi_model(model, arena, NNV_POOL_FD_ONLY, &m->abi, &m->constants, err);
}

/** What went wrong in a call: a rule that was broken, or else the status. */
static enum nnv_bench_state failed(const char *call, enum nnvts_status status, const struct nnv_breach *b,
                                   char *reason) {
    char name[32];
    if (b->kind == NNV_BREACH_NONE)
        snprintf(reason, NNV_BENCH_REASON, "%s answered %s", call, nnv_abi_status_name((int)status, name));
    else
        snprintf(reason, NNV_BENCH_REASON, "%s %s", call, b->text);
    return b->kind == NNV_BREACH_OURS ? NNV_BENCH_ERROR : NNV_BENCH_FAILED;
}

enum nnv_bench_state nnv_bench_model_prepare(struct nnv_bench_model *m, int32_t preference, struct nnv_arena *arena,
                                             double *compile_ns, char *reason) {
    struct nnvts_prepare_config config = nnv_prepare_config;
    struct nnv_preparation p = {
        .device = m->device, .abi = &m->abi, .model = m->model, .constants = m->constants.data, .config = &config};
    config.preference = (uint32_t)preference;
    if (!nnv_ask_supported(&p, arena)) return failed(p.call, p.status, &p.breach, reason);
    if (p.refused) {
        uint32_t first = 0;
        while (p.supported[first]) first++;
        snprintf(reason, NNV_BENCH_REASON, "%u of %u operations are not supported, first %u", p.refused,
                 m->abi.main.operation_count, first);
        return NNV_BENCH_UNSUPPORTED;
    }
    if (!nnv_prepare(&p)) return failed(p.call, p.status, &p.breach, reason);
    m->prepared = p.prepared;
    if (compile_ns) *compile_ns = (double)p.prepare_ns;
    return NNV_BENCH_DONE;
}

/* ---------------------------------------------------------------------- streams */

/** One set's request. */
static enum nnv_status place(struct nnv_bench_stream *stream, const struct nnv_bench_work *work, uint32_t set,
                             struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_request *r = &stream->request[set];
    enum nnv_status st = nnv_request_init(r, work->model, work->inputs[set], work->output_shapes, arena, err);
    if (st == NNV_OK && set == 0) st = nnv_abi_pool_make(r->bytes[1], NNV_POOL_WRITABLE, &stream->pools[0], err);
    if (st == NNV_OK) st = nnv_abi_pool_make(r->bytes[0], NNV_POOL_WRITABLE, &stream->pools[1 + set], err);
    if (st != NNV_OK) return st;
    stream->pools[1 + set].memory.prot = NNVTS_PROT_READ;
    nnv_request_place(r, &stream->pools[1 + set], &stream->pools[0]);
    stream->tokens[2 * set] = 1 + set;
    stream->tokens[2 * set + 1] = 0;
    return NNV_OK;
}

enum nnv_bench_state nnv_bench_stream_open(struct nnv_bench_stream *stream, const struct nnv_bench_work *work,
                                           enum nnv_mode mode, struct nnvts_prepared_model *prepared,
                                           struct nnv_arena *arena, char *reason) {
    struct nnv_err err = {0};
    const uint32_t sets = work->sets + work->held_back;
    *stream = (struct nnv_bench_stream){.work = work,
                                        .request = NNV_NEW(arena, struct nnv_request, sets),
                                        .execution = NNV_NEW(arena, struct nnv_execution, sets),
                                        .pools = NNV_NEW(arena, struct nnv_abi_pool, sets + 1),
                                        .tokens = NNV_NEW(arena, int64_t, 2 * (size_t)sets)};
    if (!nnv_mode_offered(prepared, mode)) {
        snprintf(reason, NNV_BENCH_REASON, "the driver has no %s", nnv_mode_words(mode));
        return NNV_BENCH_UNSUPPORTED;
    }
    enum nnv_status st =
        stream->request && stream->execution && stream->pools && stream->tokens ? NNV_OK : nnv_no_memory(&err);
    for (; st == NNV_OK && stream->sets < sets; stream->sets++) {
        const uint32_t s = stream->sets;
        struct nnv_execution *x = &stream->execution[s];
        st = place(stream, work, s, arena, &err);
        if (st != NNV_OK) break;
        nnv_request_state_outputs(&stream->request[s], true); /* fenced executions and old libraries ask for that */
        *x = nnv_execution_make(mode, prepared, &stream->request[s]);
        x->config.measure_timing = true;
        x->tokens = &stream->tokens[2 * (size_t)s];
        x->open = mode == NNV_MODE_BURST && s > 0;
        x->burst = stream->execution[0].burst;
        if (nnv_execution_open(x)) continue;
        const enum nnv_bench_state state = failed(x->call, x->status, &x->breach, reason);
        return x->breach.kind == NNV_BREACH_NONE ? NNV_BENCH_UNSUPPORTED : state;
    }
    if (st == NNV_OK) return NNV_BENCH_DONE;
    snprintf(reason, NNV_BENCH_REASON, "memory for inputs and outputs can't be had: %.400s", err.text);
    return NNV_BENCH_ERROR;
}

bool nnv_bench_stream_run(struct nnv_bench_stream *stream, uint32_t set) {
    nnv_request_empty(&stream->request[set]);
    return nnv_execute(&stream->execution[set]) && stream->execution[set].status == NNVTS_STATUS_NONE;
}

void nnv_bench_stream_reason(const struct nnv_bench_stream *stream, uint32_t set, char *reason) {
    const struct nnv_execution *x = &stream->execution[set];
    failed(x->call, x->status, &x->breach, reason);
}

void nnv_bench_stream_close(struct nnv_bench_stream *stream) {
    for (uint32_t s = 0; s < stream->sets; s++) {
        if (s > 0) stream->execution[s].burst = NULL;
        nnv_execution_close(&stream->execution[s]);
    }
    for (uint32_t i = 0; stream->pools && i <= stream->sets; i++) nnv_abi_pool_free(&stream->pools[i]);
}
