/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/answers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/bench/stream.h"
#include "harness/runner/channel.h"
#include "base/process.h"
#include "reference/eval/eval.h"

enum { MOST_JOBS = 64, TICK_NS = 20000000 };

/** What a process tells that answers items. */
struct told {
    _Atomic uint32_t complete, items;
    enum nnv_status status;
    struct nnv_err err;
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

/** Items job, job + jobs, job + 2 * jobs ... */
static _Noreturn void golden_and_exit(const struct nnv_network *net, const struct nnv_dataset *d, unsigned job,
                                      unsigned jobs, const struct nnv_bench_answers *a, struct told *told) {
    struct nnv_arena *arena = nnv_arena_new();
    told->status = arena ? NNV_OK : nnv_no_memory(&told->err);
    for (uint32_t item = job; told->status == NNV_OK && item < a->items; item += jobs) {
        nnv_arena_reset(arena);
        struct nnv_golden *g = NNV_NEW(arena, struct nnv_golden, a->outputs);
        told->status = g ? golden_item(net, d, item, arena, g, &told->err) : nnv_no_memory(&told->err);
        if (told->status == NNV_OK) told->status = store_golden(a, item, g, &told->err);
        atomic_fetch_add(&told->items, 1);
    }
    atomic_store(&told->complete, 1);
    _exit(0);
}

/** Waits for all processes, telling how many items are done. */
static void await(pid_t *pids, const struct told *told, unsigned jobs, uint32_t items, void (*progress)(void *, double),
                  void *context) {
    const struct timespec tick = {.tv_nsec = TICK_NS};
    for (unsigned left = jobs; left > 0;) {
        struct nnv_end end;
        uint32_t done = 0;
        for (unsigned j = 0; j < jobs; j++) {
            if (pids[j] > 0 && nnv_process_ended(pids[j], &end)) pids[j] = 0, left--;
            done += atomic_load(&told[j].items);
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
    struct told *told = nnv_shared_new(jobs * sizeof *told);
    if (!told) return nnv_no_memory(err);
    pid_t pids[MOST_JOBS];
    unsigned started = 0;
    for (; started < jobs; started++) {
        pids[started] = nnv_process_fork();
        if (pids[started] == 0) golden_and_exit(net, d, started, jobs, out, &told[started]);
        if (pids[started] < 0) break;
    }
    await(pids, told, started, d->count, progress, context);
    if (started < jobs) st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    for (unsigned j = 0; j < started && st == NNV_OK; j++) {
        if (!atomic_load(&told[j].complete))
            st = nnv_fail(err, NNV_INTERNAL, "%s: the golden evaluation died", net->name);
        if (st == NNV_OK && told[j].status != NNV_OK) st = nnv_fail(err, told[j].status, "%s", told[j].err.text);
    }
    nnv_shared_free(told, jobs * sizeof *told);
    return st;
}

/* --------------------------------------------------------------------- driver */

/** Everything that answering one item after the other needs. */
struct session {
    const struct nnv_network *net;
    const struct nnv_dataset *dataset;
    struct nnv_client client;
    struct nnv_bench_model model;
    struct nnv_bench_stream stream;
    const struct nnv_bench_answers *answers;
    struct told *told;
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

static void answer_all(struct session *s, int32_t preference, struct nnv_arena *arena) {
    struct nnv_value *first = NNV_NEW(arena, struct nnv_value, s->net->model.main.nin);
    struct nnv_arena *scratch = nnv_arena_new();
    const struct nnv_value *sets[1] = {first};
    struct nnv_bench_work work = {
        .model = &s->net->model, .sets = 1, .inputs = sets, .output_shapes = s->answers->shape};
    struct nnv_truth truth;
    s->told->state = NNV_BENCH_ERROR;
    if (!first || !scratch || nnv_dataset_item(s->dataset, 0, s->net, arena, first, &truth, &s->told->err) != NNV_OK)
        return;
    s->told->state = nnv_bench_model_prepare(&s->model, preference, arena, NULL, s->told->reason);
    if (s->told->state != NNV_BENCH_DONE) return;
    s->told->state = nnv_bench_stream_open(&s->stream, &work, NNV_MODE_SYNC, s->model.prepared, arena, s->told->reason);
    if (s->told->state != NNV_BENCH_DONE) return;
    for (uint32_t item = 0; item < s->dataset->count; item++) {
        nnv_arena_reset(scratch);
        if (!answer_item(s, item, scratch)) return;
        atomic_fetch_add(&s->told->items, 1);
    }
}

static _Noreturn void answer_and_exit(struct session *s, const struct nnv_bench_options *o) {
    struct nnv_arena *arena = nnv_arena_new();
    nnv_process_sandbox(-1);
    s->told->status =
        arena ? nnv_client_open(&s->client, o->path, o->options, &s->told->err) : nnv_no_memory(&s->told->err);
    if (s->told->status == NNV_OK)
        s->told->status = nnv_bench_model_make(&s->model, s->client.device, &s->net->model, arena, &s->told->err);
    if (s->told->status == NNV_OK) answer_all(s, o->preference, arena);
    atomic_store(&s->told->complete, 1);
    _exit(0);
}

/** Waits at most the time that is allowed since the last item. */
static void await_driver(pid_t pid, const struct nnv_bench_options *o, const struct told *told, uint32_t items,
                         struct nnv_end *end) {
    const struct timespec tick = {.tv_nsec = TICK_NS / 10};
    uint32_t last = 0;
    for (uint64_t since = nnv_now_ns(); !nnv_process_ended(pid, end);) {
        uint32_t done = atomic_load(&told->items);
        if (done != last) since = nnv_now_ns();
        last = done;
        if (nnv_now_ns() - since > o->timeout_ns) {
            nnv_process_wait(pid, 0, end);
            return;
        }
        if (o->progress) o->progress(o->context, (double)done / items);
        nanosleep(&tick, NULL);
    }
}

enum nnv_status nnv_answers_driver(const struct nnv_network *net, const struct nnv_dataset *d,
                                   const struct nnv_bench_options *o, const struct nnv_bench_answers *golden,
                                   struct nnv_arena *arena, struct nnv_bench_answers *out, struct nnv_err *err) {
    enum nnv_status st = shape_answers(d->count, golden->outputs, golden->shape, arena, out, err);
    struct told *told = st == NNV_OK ? nnv_shared_new(sizeof *told) : NULL;
    if (!told) return st != NNV_OK ? st : nnv_no_memory(err);
    struct session s = {.net = net, .dataset = d, .answers = out, .told = told};
    struct nnv_end end = {0};
    pid_t pid = nnv_process_fork();
    if (pid == 0) answer_and_exit(&s, o);
    if (pid < 0) {
        st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    } else {
        await_driver(pid, o, told, d->count, &end);
        out->state = told->state;
        told->reason[NNV_BENCH_REASON - 1] = told->err.text[NNV_ERR_TEXT - 1] = '\0';
        snprintf(out->reason, sizeof out->reason, "%s", told->reason);
        if (!atomic_load(&told->complete)) {
            char how[64];
            out->state = end.timed_out ? NNV_BENCH_TIMED_OUT : NNV_BENCH_CRASHED;
            snprintf(out->reason, sizeof out->reason, "item %u: the driver %s", atomic_load(&told->items),
                     end.timed_out ? "did not come to an end" : nnv_end_text(&end, how));
        } else if (told->status != NNV_OK) {
            st = nnv_fail(err, told->status, "%s", told->err.text);
        }
    }
    nnv_shared_free(told, sizeof *told);
    return st;
}
