/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/measure.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "harness/bench/machine.h"
#include "harness/bench/scenario.h"
#include "harness/runner/ask.h"
#include "harness/runner/worker/channel.h"

const char *const nnv_scenario_names[NNV_SCENARIO_COUNT + 1] = {"single", "multi", "offline", "poisson", NULL};
const char *const nnv_bench_modes[NNV_MODES + 1] = {"plain", "async", "fenced", "burst", "reusable", NULL};

const char *nnv_bench_state_name(enum nnv_bench_state state) {
    switch (state) {
    case NNV_BENCH_DONE:
        return "done";
    case NNV_BENCH_UNSUPPORTED:
        return "unsupported";
    case NNV_BENCH_FAILED:
        return "failed";
    case NNV_BENCH_CRASHED:
        return "crashed";
    case NNV_BENCH_TIMED_OUT:
        return "timeout";
    case NNV_BENCH_ERROR:
        return "error";
    }
    return "error";
}

bool nnv_bench_noisy(const struct nnv_bench_result *r) { return r->noise > 1.25; }

/** What the measuring process tells; not trusted. */
struct answer {
    _Atomic uint32_t permille; /* of the measured part */
    struct nnv_bench_result result;
    struct nnv_samples samples;
    double ns[NNV_BENCH_MOST_SAMPLES];
};

/* ---------------------------------------------------------- in its own process */

/** A process that measures. */
struct bench {
    const struct nnv_bench_work *work;
    const struct nnv_bench_options *options;
    struct nnv_arena *arena;
    struct nnv_bench_model model;
    struct nnv_bench_stream *streams;
    uint32_t stream_count;
    struct answer *answer;
    struct nnv_bench_result *result;
    uint64_t peak;  /* of resident memory; 0: not looked at yet */
    uint32_t fresh; /* inputs so far that were never seen before: see freshen() */
};

/** A number of /proc/self/status in kB, as bytes. */
static uint64_t memory_of(const char *key) {
    char line[256];
    return nnv_file_line("/proc/self/status", key, line, sizeof line) ? (uint64_t)strtoull(line, NULL, 10) * 1024 : 0;
}

/** From here on the peak of memory counts anew. */
static void forget_peak(void) {
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "5", 1) != 1) { /* then the peak is too large, not wrong otherwise */
    }
    close(fd);
}

static bool prepare(struct bench *b) {
    enum nnv_bench_state state =
        nnv_bench_model_prepare(&b->model, b->options->preference, b->arena, &b->result->compile_ns, b->result->reason);
    if (state != NNV_BENCH_DONE) b->result->state = state;
    return state == NNV_BENCH_DONE;
}

/** Empty files for the cache, at most NNVTS_MAX_CACHE_FILES each. */
static bool open_files(uint32_t count, int *fd) {
    for (uint32_t i = 0; i < count; i++)
        if ((fd[i] = nnv_memory_file("nnvts-cache", 0, 0)) < 0) return false;
    return true;
}

/** Compiles into cache files, and times compiling from them. What fails here is not measured, and no failure. */
static void prepare_cached(struct bench *b) {
    struct nnvts_device *d = b->model.device;
    int model[NNVTS_MAX_CACHE_FILES], data[NNVTS_MAX_CACHE_FILES];
    struct nnvts_cache cache = {.model_fds = model,
                                .model_fd_count = d->model_cache_files,
                                .data_fds = data,
                                .data_fd_count = d->data_cache_files,
                                .token = "nnvts bench"};
    struct nnvts_prepare_config config = nnv_prepare_config;
    struct nnv_preparation p = {.device = d, .abi = &b->model.abi, .config = &config};
    config.preference = (uint32_t)b->options->preference;
    config.cache = &cache;
    if ((!cache.model_fd_count && !cache.data_fd_count) || !d->prepare_from_cache ||
        cache.model_fd_count > NNVTS_MAX_CACHE_FILES || cache.data_fd_count > NNVTS_MAX_CACHE_FILES)
        return;
    if (!open_files(cache.model_fd_count, model) || !open_files(cache.data_fd_count, data)) return;
    if (nnv_prepare(&p)) {
        p.prepared->release(p.prepared);
        if (nnv_prepare_from_cache(&p, &cache, NNVTS_NO_TIME)) {
            b->result->compile_cached_ns = (double)p.prepare_ns;
            p.prepared->release(p.prepared);
        }
    }
    for (uint32_t i = 0; i < cache.model_fd_count; i++) close(model[i]);
    for (uint32_t i = 0; i < cache.data_fd_count; i++) close(data[i]);
}

static bool open_streams(struct bench *b) {
    b->stream_count = b->options->scenario == NNV_SCENARIO_SINGLE ? 1 : b->options->streams;
    b->streams = NNV_NEW(b->arena, struct nnv_bench_stream, b->stream_count);
    for (uint32_t i = 0; b->streams && i < b->stream_count; i++) {
        const uint64_t begin = nnv_now_ns();
        enum nnv_bench_state state = nnv_bench_stream_open(&b->streams[i], b->work, b->options->mode, b->model.prepared,
                                                           b->arena, b->result->reason);
        if (state != NNV_BENCH_DONE) {
            b->result->state = state;
            return false;
        }
        b->streams[i].own_time = b->options->own_time;
        if (i == 0) b->result->map_ns = (double)(nnv_now_ns() - begin);
    }
    if (!b->streams) b->result->state = NNV_BENCH_ERROR;
    return b->streams != NULL;
}

/** One execution outside the measurement; false, with the state, if it fails. */
static bool run_once(struct bench *b, uint32_t set, double *ns) {
    *ns = nnv_bench_stream_time(&b->streams[0], set);
    if (*ns >= 0) return true;
    b->result->state = NNV_BENCH_FAILED;
    nnv_bench_stream_reason(&b->streams[0], set, b->result->reason);
    return false;
}

/**
 * Executes until times fall no more: three windows in a row whose median is not 2 % below the best before. Ends
 * unsteady after a quarter of the time for measuring.
 */
static bool warm_up(struct bench *b) {
    enum { WINDOW = 8, CALM = 3, MOST = 100000 };
    uint64_t begin = nnv_now_ns();
    double best = INFINITY, window[WINDOW];
    int calm = 0;
    uint32_t k = 0;
    while (calm < CALM && k < MOST) {
        for (int i = 0; i < WINDOW; i++, k++)
            if (!run_once(b, k % b->work->sets, &window[i])) return false;
        nnv_sort(window, WINDOW);
        double median = nnv_median(window, WINDOW);
        calm = median < 0.98 * best ? 0 : calm + 1;
        if (median < best) best = median;
        if (calm < CALM && nnv_now_ns() - begin > b->options->time_ns / 4) break;
    }
    b->result->warm_ups = k;
    b->result->steady = calm >= CALM;
    return true;
}

/** Types of which the lowest bit of an element's first byte can be changed, and the element stays a value. */
static bool is_mutable(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_FLOAT16 ||
           type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

/**
 * Makes an input of a set one that was never seen: the bits of number become the lowest bits of its first elements, by
 * exclusive or; once more, and it is what it was.
 */
static void freshen(struct bench *b, uint32_t set, uint32_t number) {
    const struct nnv_subgraph *m = &b->work->model->main;
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnvts_argument *a = &b->streams[0].request[set].inputs[i];
        const struct nnv_operand *o = &m->operands[m->in[i]];
        if (a->has_no_value || !is_mutable(o->type)) continue;
        uint8_t *data = b->streams[0].request[set].input_at[i];
        const uint32_t size = (uint32_t)nnv_type(o->type)->size;
        for (uint32_t k = 0; number >> k && k < a->location.length / size; k++)
            data[k * size] ^= (uint8_t)(number >> k & 1);
        return;
    }
}

/**
 * New inputs against the same again, in turns, so that a machine that becomes slower or faster slows both. On the way
 * to another machine a new input takes longer: there the driver's own time counts.
 */
static bool time_inputs(struct bench *b) {
    enum { TURNS = 6, EACH = 8 };
    double fresh[TURNS * EACH], same[TURNS * EACH];
    uint32_t n = 0, sets = b->work->sets;
    uint64_t begin = nnv_now_ns();
    for (int t = 0; t < TURNS && (t < 2 || nnv_now_ns() - begin < b->options->time_ns / 4); t++) {
        double first;
        if (!run_once(b, 0, &first)) return false; /* what a memory of one answer would know */
        for (uint32_t i = 0; i < EACH; i++)
            if (!run_once(b, 0, &same[n + i])) return false;
        for (uint32_t i = 0; i < EACH; i++) {
            freshen(b, (i + 1) % sets, ++b->fresh);
            if (!run_once(b, (i + 1) % sets, &fresh[n + i])) return false;
            freshen(b, (i + 1) % sets, b->fresh);
        }
        n += EACH;
    }
    nnv_sort(fresh, n);
    nnv_sort(same, n);
    b->result->unique_ns = nnv_median(fresh, n);
    b->result->repeated_ns = nnv_median(same, n);
    b->result->caches_answers = b->result->repeated_ns < (b->options->remote ? 0.5 : 0.7) * b->result->unique_ns &&
                                nnv_mann_whitney(same, n, fresh, n) < 1e-4;
    return true;
}

/**
 * Whether answers are remembered. A busy machine can make one input faster than others for a while, so the same must
 * hold whenever it is asked again. What receives a new input of another machine empties the processor's caches, too:
 * there the same input must take less than half of the time.
 */
static bool compare_inputs(struct bench *b) {
    bool done = true;
    b->streams[0].own_time |= b->options->remote;
    b->result->caches_answers = true;
    for (int again = 0; again < 3 && done && b->result->caches_answers; again++) done = time_inputs(b);
    b->streams[0].own_time = b->options->own_time;
    return done;
}

/** Medians of what the driver says of its own time, and of how long its caller waits. */
static bool ask_driver(struct bench *b) {
    enum { TIMES = 15 };
    double driver[TIMES], device[TIMES], call[TIMES], ns;
    size_t drivers = 0, devices = 0;
    for (uint32_t i = 0; i < TIMES; i++) {
        if (!run_once(b, i % b->work->sets, &ns)) return false;
        call[i] = (double)b->streams[0].execution[i % b->work->sets].ns;
        struct nnvts_timing t = b->streams[0].request[i % b->work->sets].result.timing;
        if (t.in_driver_ns != NNVTS_NO_TIME) driver[drivers++] = (double)t.in_driver_ns;
        if (t.on_device_ns != NNVTS_NO_TIME) device[devices++] = (double)t.on_device_ns;
    }
    nnv_sort(call, TIMES);
    nnv_sort(driver, drivers);
    nnv_sort(device, devices);
    b->result->call_ns = nnv_median(call, TIMES);
    if (drivers) b->result->in_driver_ns = nnv_median(driver, drivers);
    if (devices) b->result->on_device_ns = nnv_median(device, devices);
    return true;
}

#ifndef _SC_LEVEL3_CACHE_SIZE /* musl */
#define _SC_LEVEL3_CACHE_SIZE (-1)
#endif

/** In turns: right after another execution, and with caches and TLB full of something else. */
static bool compare_caches(struct bench *b) {
    enum { TURNS = 15, LEAST_BYTES = 64 << 20, MOST_BYTES = 256 << 20 };
    const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const size_t bytes = last < LEAST_BYTES / 2 ? LEAST_BYTES : last > MOST_BYTES / 2 ? MOST_BYTES : 2 * (size_t)last;
    double warm[TURNS], cold[TURNS], ns;
    uint32_t n = 0;
    const uint64_t begin = nnv_now_ns();
    void *memory = calloc(1, bytes);
    bool good = true;
    for (; good && memory && n < TURNS && (n < 3 || nnv_now_ns() - begin < b->options->time_ns / 4); n++) {
        good = run_once(b, 0, &ns) && run_once(b, 0, &warm[n]);
        nnv_empty_caches(memory, bytes);
        good = good && run_once(b, 0, &cold[n]);
    }
    free(memory);
    if (!good || n == 0) return good;
    nnv_sort(warm, n);
    nnv_sort(cold, n);
    b->result->warm_ns = nnv_median(warm, n);
    b->result->cold_ns = nnv_median(cold, n);
    return true;
}

/** Gives back streams and the prepared model, and times that. */
static void close_all(struct bench *b) {
    const uint64_t begin = nnv_now_ns();
    for (uint32_t i = 0; b->streams && i < b->stream_count; i++) nnv_bench_stream_close(&b->streams[i]);
    if (!b->model.prepared) return;
    b->model.prepared->release(b->model.prepared);
    b->result->close_ns = (double)(nnv_now_ns() - begin);
}

/** Mean over lower decile: what other processes take away shows in the mean. */
static double noise_of_machine(void) {
    enum { TIMES = 500 };
    double ns[TIMES];
    for (int i = 0; i < TIMES; i++) ns[i] = nnv_yardstick();
    nnv_sort(ns, TIMES);
    return nnv_mean(ns, TIMES) / nnv_quantile(ns, TIMES, 0.1);
}

static void run_all(struct bench *b) {
    struct nnv_bench_result *r = b->result;
    double noise = noise_of_machine();
    if (!prepare(b)) return;
    prepare_cached(b);
    if (!open_streams(b) || !run_once(b, 0, &r->first_ns) || !warm_up(b) || !compare_inputs(b) || !ask_driver(b))
        return;
    const double joules = nnv_machine_joules("");
    struct nnv_samples *s = &b->answer->samples;
    if (!nnv_scenario_run(b->streams, b->options, s, &b->answer->permille, r->reason)) {
        r->state = NNV_BENCH_FAILED;
        return;
    }
    const double spent = nnv_machine_joules("") - joules;
    if (spent > 0 && s->count > 0) r->joules = spent / s->count;
    r->asked_rate = s->asked_rate;
    r->overrun = s->overrun;
    r->checked = s->checked;
    if (s->checked > 0) r->timed_error = s->error;
    b->peak = memory_of("VmHWM"); /* before memory is taken to empty caches with */
    if (b->options->cold && !compare_caches(b)) return;
    r->noise = fmax(noise, noise_of_machine());
    r->state = NNV_BENCH_DONE;
}

/** What is measured, and how. */
struct question {
    const struct nnv_bench_work *work;
    const struct nnv_bench_options *options;
};

static enum nnv_status measure(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct answer *a = in->shared;
    struct nnv_bench_result *r = &a->result;
    struct bench b = {.work = q->work, .options = q->options, .arena = in->arena, .answer = a, .result = r};
    forget_peak();
    const uint64_t before = memory_of("VmRSS");
    a->samples.ns = a->ns;
    a->samples.room = NNV_BENCH_MOST_SAMPLES;
    r->state = NNV_BENCH_ERROR;
    r->compile_ns = r->compile_cached_ns = r->first_ns = r->in_driver_ns = r->on_device_ns = r->call_ns = r->unique_ns =
        r->repeated_ns = r->map_ns = r->close_ns = r->warm_ns = r->cold_ns = r->joules = r->asked_rate = r->noise =
            r->timed_error = (double)NAN;
    enum nnv_status st = nnv_client_open(in->client, q->options->path, q->options->options, err);
    if (st == NNV_OK) st = nnv_bench_model_make(&b.model, in->client->device, q->work->model, b.arena, err);
    if (st != NNV_OK) return st;
    snprintf(r->device, sizeof r->device, "%s", in->client->device->name);
    snprintf(r->version, sizeof r->version, "%s", in->client->device->version);
    run_all(&b);
    if (b.peak == 0) b.peak = memory_of("VmHWM");
    r->peak_bytes = b.peak > before ? b.peak - before : 0;
    close_all(&b);
    return NNV_OK;
}

/* ------------------------------------------------------------ in the caller's */

/** Tells how far it is. */
static void waiting(void *context, const void *shared) {
    const struct nnv_bench_options *o = ((const struct question *)context)->options;
    const struct answer *a = shared;
    if (o->progress) o->progress(o->context, fmin(1, atomic_load(&a->permille) / 1000.0));
}

/** Takes what the process told, which a driver may have written over. */
static enum nnv_status take(const struct answer *a, struct nnv_arena *arena, struct nnv_bench_result *r,
                            struct nnv_err *err) {
    *r = a->result;
    r->reason[NNV_BENCH_REASON - 1] = r->device[sizeof r->device - 1] = r->version[sizeof r->version - 1] = '\0';
    uint32_t count = atomic_load(&a->samples.count);
    r->count = count < NNV_BENCH_MOST_SAMPLES ? count : NNV_BENCH_MOST_SAMPLES;
    r->elapsed_ns = (double)(a->samples.end_ns - a->samples.begin_ns);
    r->sample_ns = nnv_arena_copy(arena, a->ns, r->count * sizeof *r->sample_ns);
    return r->sample_ns ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_bench_measure(const struct nnv_bench_work *work, const struct nnv_bench_options *options,
                                  struct nnv_arena *arena, struct nnv_bench_result *result, struct nnv_err *err) {
    struct question q = {work, options};
    struct nnv_ask ask = {.answer = measure,
                          .context = &q,
                          .bytes = sizeof(struct answer),
                          .timeout_ns = options->timeout_ns,
                          .waiting = waiting};
    enum nnv_status st = nnv_ask(&ask, err);
    if (st == NNV_OK) st = take(ask.shared, arena, result, err);
    if (st == NNV_OK && !ask.complete) {
        result->state = ask.end.timed_out ? NNV_BENCH_TIMED_OUT : NNV_BENCH_CRASHED;
        snprintf(result->reason, sizeof result->reason, "the driver %s", ask.how);
    }
    nnv_ask_free(&ask);
    return st;
}
