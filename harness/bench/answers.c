/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/answers.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/type.h"
#include "harness/bench/stream.h"
#include "harness/runner/ask.h"
#include "harness/runner/worker/channel.h"
#include "reference/eval/eval.h"

enum { MOST_JOBS = 64, TICK_NS = 20000000 };

/** What a process tells that answers items; not trusted. */
struct told {
    _Atomic uint32_t items;
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON];
};

/** Answers of these shapes, without values yet. */
static enum nnv_status shape_answers(uint32_t items, uint32_t outputs, const struct nnv_value *shape,
                                     struct nnv_arena *arena, struct nnv_bench_answers *a, struct nnv_err *err) {
    struct nnv_value *copy = nnv_arena_copy(arena, shape, outputs * sizeof *shape);
    *a = (struct nnv_bench_answers){.items = items, .outputs = outputs, .shape = copy};
    a->offset = NNV_NEW(arena, size_t, outputs);
    if (!copy || !a->offset) return nnv_no_memory(err);
    for (uint32_t i = 0; i < outputs; i++) {
        copy[i].data = NULL;
        a->offset[i] = a->item_bytes;
        a->item_bytes += (shape[i].bytes + 7) / 8 * 8;
    }
    if (a->item_bytes == 0) a->item_bytes = 8;
    if (a->item_bytes > (SIZE_MAX >> 1) / items) return nnv_no_memory(err);
    a->data = nnv_shared_new(items * a->item_bytes);
    return a->data ? NNV_OK : nnv_no_memory(err);
}

void nnv_answers_free(struct nnv_bench_answers *a) {
    nnv_shared_free(a->data, a->items * a->item_bytes);
    a->data = NULL;
}

double nnv_answer_error(int32_t type, const void *golden, const void *answer, size_t bytes) {
    enum { BLOCK = 256 };
    const size_t size = nnv_type(type)->size, n = bytes / size;
    double a[BLOCK], b[BLOCK], most = 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        nnv_load(type, (const uint8_t *)golden + at * size, count, a);
        nnv_load(type, (const uint8_t *)answer + at * size, count, b);
        for (size_t i = 0; i < count; i++) {
            const double e = (isnan(a[i]) && isnan(b[i])) || a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
            if (!(e <= most)) most = isnan(e) ? INFINITY : e;
        }
    }
    return most;
}

/* --------------------------------------------------------------------- golden */

static enum nnv_status golden_item(const struct nnv_network *net, const struct nnv_dataset *d, uint32_t item,
                                   struct nnv_arena *arena, struct nnv_golden *out, struct nnv_err *err) {
    const struct nnv_eval_options options = {0};
    struct nnv_value *inputs = NNV_NEW(arena, struct nnv_value, net->model.main.nin);
    struct nnv_truth truth;
    if (!inputs) return nnv_no_memory(err);
    enum nnv_status st = nnv_dataset_item(d, item, net, arena, inputs, &truth, err);
    if (st == NNV_OK) st = nnv_eval(&net->model, inputs, &options, arena, out, err);
    return st == NNV_OK ? st : nnv_at(err, st, "%s, item %u of %s", net->name, item, d->name);
}

static enum nnv_status store_golden(const struct nnv_bench_answers *a, uint32_t item, const struct nnv_golden *g,
                                    struct nnv_err *err) {
    for (uint32_t i = 0; i < a->outputs; i++) {
        if (g[i].value.bytes != a->shape[i].bytes)
            return nnv_fail(err, NNV_INVALID, "output %u of item %u has another size than that of item 0", i, item);
        memcpy(a->data + item * a->item_bytes + a->offset[i], g[i].value.data, g[i].value.bytes);
    }
    return NNV_OK;
}

/** What one process evaluates: items job, job + jobs, job + 2 * jobs ... */
struct part {
    const struct nnv_network *net;
    const struct nnv_dataset *dataset;
    const struct nnv_bench_answers *answers;
    unsigned job, jobs;
};

static enum nnv_status answer_part(struct nnv_answering *in, struct nnv_err *err) {
    const struct part *p = in->context;
    struct told *told = in->shared;
    enum nnv_status st = NNV_OK;
    for (uint32_t item = p->job; st == NNV_OK && item < p->answers->items; item += p->jobs) {
        nnv_arena_reset(in->arena);
        struct nnv_golden *g = NNV_NEW(in->arena, struct nnv_golden, p->answers->outputs);
        st = g ? golden_item(p->net, p->dataset, item, in->arena, g, err) : nnv_no_memory(err);
        if (st == NNV_OK) st = store_golden(p->answers, item, g, err);
        atomic_fetch_add(&told->items, 1);
    }
    return st;
}

/** Waits for all processes, telling how many items are done. */
static void await(struct nnv_ask *ask, unsigned jobs, uint32_t items, void (*progress)(void *, double), void *context) {
    const struct timespec tick = {.tv_nsec = TICK_NS};
    for (unsigned left = jobs; left > 0;) {
        uint32_t done = 0;
        left = 0;
        for (unsigned j = 0; j < jobs; j++) {
            const struct told *told = ask[j].shared;
            left += !nnv_ask_ended(&ask[j]);
            done += atomic_load(&told->items);
        }
        if (progress) progress(context, (double)done / items);
        if (left) nanosleep(&tick, NULL);
    }
}

enum nnv_status nnv_answers_golden(const struct nnv_network *net, const struct nnv_dataset *d, unsigned jobs,
                                   void (*progress)(void *context, double part), void *context, struct nnv_arena *arena,
                                   struct nnv_bench_answers *out, struct nnv_err *err) {
    uint32_t outputs = net->model.main.nout;
    struct nnv_golden *g = NNV_NEW(arena, struct nnv_golden, outputs);
    struct nnv_value *shape = NNV_NEW(arena, struct nnv_value, outputs);
    if (!g || !shape) return nnv_no_memory(err);
    enum nnv_status st = golden_item(net, d, 0, arena, g, err);
    for (uint32_t i = 0; st == NNV_OK && i < outputs; i++) shape[i] = g[i].value;
    if (st == NNV_OK) st = shape_answers(d->count, outputs, shape, arena, out, err);
    if (st != NNV_OK) return st;
    if (jobs > MOST_JOBS) jobs = MOST_JOBS;
    if (jobs < 1) jobs = 1;
    struct nnv_ask ask[MOST_JOBS] = {0};
    struct part part[MOST_JOBS];
    unsigned started = 0;
    for (; started < jobs && st == NNV_OK; started += st == NNV_OK) {
        part[started] = (struct part){net, d, out, started, jobs};
        ask[started] = (struct nnv_ask){
            .answer = answer_part, .context = &part[started], .bytes = sizeof(struct told), .keep_streams = true};
        st = nnv_ask_start(&ask[started], err);
    }
    await(ask, started, d->count, progress, context);
    for (unsigned j = 0; j < started && st == NNV_OK; j++)
        st = ask[j].complete ? nnv_ask_status(&ask[j], err)
                             : nnv_fail(err, NNV_INTERNAL, "%s: the golden evaluation died", net->name);
    for (unsigned j = 0; j < jobs; j++) nnv_ask_free(&ask[j]);
    return st;
}

/* --------------------------------------------------------------------- driver */

/** Everything that answering one item after the other needs. */
struct session {
    const struct nnv_network *net;
    const struct nnv_dataset *dataset;
    const struct nnv_bench_options *options;
    struct nnv_bench_model model;
    struct nnv_bench_stream stream;
    const struct nnv_bench_answers *answers;
    struct told *told;
    _Atomic uint32_t *progress;
};

static bool answer_item(struct session *s, uint32_t item, struct nnv_arena *arena) {
    struct nnv_value *inputs = NNV_NEW(arena, struct nnv_value, s->net->model.main.nin);
    struct nnv_truth truth;
    struct nnv_err err = {0};
    struct nnv_request *r = &s->stream.request[0];
    const uint32_t nin = s->net->model.main.nin, nout = s->net->model.main.nout;
    bool ok = inputs && nnv_dataset_item(s->dataset, item, s->net, arena, inputs, &truth, &err) == NNV_OK;
    for (uint32_t i = 0; ok && i < nin; i++)
        ok = inputs[i].omitted == r->in[i].omitted && (inputs[i].omitted || inputs[i].bytes == r->in[i].bytes);
    if (!ok) {
        s->told->state = NNV_BENCH_ERROR;
        snprintf(s->told->reason, sizeof s->told->reason, "item %u: %.400s", item, err.text);
        return false;
    }
    nnv_request_fill(r, inputs);
    nnv_request_reset(r); /* what a driver leaves out is not the last answer */
    if (!nnv_bench_stream_run(&s->stream, 0)) {
        s->told->state = NNV_BENCH_FAILED;
        nnv_bench_stream_reason(&s->stream, 0, s->told->reason);
        return false;
    }
    for (uint32_t i = 0; i < nout; i++)
        memcpy(s->answers->data + item * s->answers->item_bytes + s->answers->offset[i], r->output_at[i],
               r->out[i].bytes);
    return true;
}

static void answer_all(struct session *s, struct nnv_arena *arena) {
    struct nnv_value *first = NNV_NEW(arena, struct nnv_value, s->net->model.main.nin);
    struct nnv_arena *scratch = nnv_arena_new();
    const struct nnv_value *sets[1] = {first};
    struct nnv_bench_work work = {
        .model = &s->net->model, .sets = 1, .inputs = sets, .output_shapes = s->answers->shape};
    struct nnv_truth truth;
    struct nnv_err ignored;
    s->told->state = NNV_BENCH_ERROR;
    if (!first || !scratch || nnv_dataset_item(s->dataset, 0, s->net, arena, first, &truth, &ignored) != NNV_OK) return;
    s->told->state = nnv_bench_model_prepare(&s->model, s->options->preference, arena, NULL, s->told->reason);
    if (s->told->state != NNV_BENCH_DONE) return;
    s->told->state = nnv_bench_stream_open(&s->stream, &work, NNV_MODE_SYNC, s->model.prepared, arena, s->told->reason);
    if (s->told->state != NNV_BENCH_DONE) return;
    s->stream.execution[0].config.measure_timing = false; /* what a driver does while it is timed is judged there */
    for (uint32_t item = 0; item < s->dataset->count; item++) {
        nnv_arena_reset(scratch);
        if (!answer_item(s, item, scratch)) return;
        atomic_fetch_add(&s->told->items, 1);
        ++*s->progress; /* the time that is allowed begins anew with each item */
    }
}

static enum nnv_status answer_data(struct nnv_answering *in, struct nnv_err *err) {
    struct session *s = in->context;
    s->told = in->shared;
    s->progress = in->progress;
    enum nnv_status st = nnv_client_open(in->client, s->options->path, s->options->options, err);
    if (st == NNV_OK) st = nnv_bench_model_make(&s->model, in->client->device, &s->net->model, in->arena, err);
    if (st == NNV_OK) answer_all(s, in->arena);
    return st;
}

/** Tells how far it is. */
static void waiting(void *context, const void *shared) {
    const struct session *s = context;
    const uint32_t done = atomic_load(&((const struct told *)shared)->items);
    if (s->options->progress) s->options->progress(s->options->context, (double)done / s->dataset->count);
}

enum nnv_status nnv_answers_driver(const struct nnv_network *net, const struct nnv_dataset *d,
                                   const struct nnv_bench_options *o, const struct nnv_bench_answers *golden,
                                   struct nnv_arena *arena, struct nnv_bench_answers *out, struct nnv_err *err) {
    struct session s = {.net = net, .dataset = d, .options = o, .answers = out};
    struct nnv_ask ask = {.answer = answer_data,
                          .context = &s,
                          .bytes = sizeof(struct told),
                          .timeout_ns = o->timeout_ns,
                          .waiting = waiting};
    enum nnv_status st = shape_answers(d->count, golden->outputs, golden->shape, arena, out, err);
    if (st == NNV_OK) st = nnv_ask(&ask, err);
    if (st == NNV_OK) {
        const struct told *told = ask.shared;
        out->state = told->state;
        snprintf(out->reason, sizeof out->reason, "%.*s", NNV_BENCH_REASON - 1, told->reason);
        if (!ask.complete) {
            out->state = ask.end.timed_out ? NNV_BENCH_TIMED_OUT : NNV_BENCH_CRASHED;
            snprintf(out->reason, sizeof out->reason, "item %u: the driver %s", atomic_load(&told->items), ask.how);
        }
    }
    nnv_ask_free(&ask);
    return st;
}
