/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/scenario.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/stats.h"

enum { MOST_STREAMS = 256 };

double nnv_bench_stream_time(struct nnv_bench_stream *stream, uint32_t set) {
    uint64_t begin = nnv_now_ns();
    const bool ok = nnv_bench_stream_run(stream, set);
    uint64_t end = nnv_now_ns();
    return ok ? (double)(end - begin) : -1;
}

double nnv_yardstick(void) {
    enum { STEPS = 16000 };
    uint64_t begin = nnv_now_ns(), x = begin | 1;
    for (int i = 0; i < STEPS; i++) x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    __asm__ volatile("" : : "r"(x)); /* the result is used, as far as the compiler knows */
    return (double)(nnv_now_ns() - begin);
}

/** What all streams share. */
struct crowd {
    const struct nnv_bench_options *options;
    struct nnv_samples *samples;
    _Atomic uint32_t *part;
    uint64_t begin_ns;
    uint64_t *arrival_ns; /* POISSON: after begin_ns */
    uint32_t arrivals;
    _Atomic uint32_t next; /* arrival */
    atomic_bool over;
    atomic_bool failed;
    char *reason; /* of the first that failed */
};

/** One thread. */
struct worker {
    struct crowd *crowd;
    struct nnv_bench_stream *stream;
    uint32_t number;
    pthread_t thread;
};

/** The execution on this set failed: it is over for all. */
static void fail(struct worker *w, uint32_t set) {
    bool first = false;
    if (atomic_compare_exchange_strong(&w->crowd->failed, &first, true))
        nnv_bench_stream_reason(w->stream, set, w->crowd->reason);
    atomic_store(&w->crowd->over, true);
}

static void keep(struct nnv_samples *s, double ns) {
    uint32_t i = atomic_fetch_add(&s->count, 1);
    if (i < s->room) s->ns[i] = ns;
}

/** The quantiles are known: the 99th percentile has a limit, and the median lies within 1 %. */
static bool known_enough(const struct nnv_samples *s, uint32_t count) {
    if (count < nnv_early_stop_samples(0, 0.99, 0.99)) return false;
    double *copy = malloc(count * sizeof *copy);
    if (!copy) return false;
    memcpy(copy, s->ns, count * sizeof *copy);
    nnv_sort(copy, count);
    struct nnv_interval i = nnv_quantile_interval(copy, count, 0.5, 0.95);
    double median = nnv_median(copy, count);
    free(copy);
    return i.high - i.low <= 0.02 * median;
}

/** Looks at the clock after an execution: is it over? */
static bool is_over(struct crowd *c, uint32_t *look) {
    const struct nnv_bench_options *o = c->options;
    uint32_t count = atomic_load(&c->samples->count);
    uint64_t spent = nnv_now_ns() - c->begin_ns;
    double part = fmin(1, fmax((double)spent / (double)o->time_ns, (double)count / c->samples->room));
    atomic_store(c->part, (uint32_t)(1000 * part));
    if (count >= c->samples->room) return true;
    if (count < o->least) return false;
    if (spent >= o->time_ns) return true;
    if (!o->early_stop || count < *look) return false;
    *look = count + count / 4 + 100;
    return known_enough(c->samples, count);
}

static void run_stream(struct worker *s) {
    struct crowd *c = s->crowd;
    uint32_t look = 0;
    for (uint32_t k = s->number; !atomic_load(&c->over); k++) {
        double ns = nnv_bench_stream_time(s->stream, k % s->stream->sets);
        if (ns < 0) {
            fail(s, k % s->stream->sets);
            return;
        }
        keep(c->samples, ns);
        if (s->number == 0 && is_over(c, &look)) atomic_store(&c->over, true);
    }
}

static void sleep_until(uint64_t ns) {
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) continue;
}

/** Takes arrivals; a latency counts from the arrival. */
static void run_arrivals(struct worker *s) {
    struct crowd *c = s->crowd;
    while (!atomic_load(&c->over)) {
        uint32_t k = atomic_fetch_add(&c->next, 1);
        if (k >= c->arrivals) return;
        uint64_t due = c->begin_ns + c->arrival_ns[k];
        sleep_until(due);
        if (!nnv_bench_stream_run(s->stream, k % s->stream->sets)) {
            fail(s, k % s->stream->sets);
            return;
        }
        keep(c->samples, (double)(nnv_now_ns() - due));
        atomic_store(c->part, (uint32_t)(1000.0 * (k + 1) / c->arrivals));
    }
}

static void *stream_main(void *context) {
    struct worker *s = context;
    if (s->crowd->arrival_ns)
        run_arrivals(s);
    else
        run_stream(s);
    return NULL;
}

/** Draws arrivals with exponential gaps until the time is over. */
static bool draw_arrivals(struct crowd *c, double rate) {
    const struct nnv_bench_options *o = c->options;
    double expected = rate * (double)o->time_ns / 1e9;
    uint32_t room = c->samples->room;
    if (expected < o->least) expected = o->least;
    uint32_t n = expected < room ? (uint32_t)expected : room;
    c->arrival_ns = malloc(n * sizeof *c->arrival_ns);
    if (!c->arrival_ns) return false;
    struct nnv_rng rng = nnv_rng_make(o->seed, 0xa771, 0);
    double at = 0;
    for (uint32_t i = 0; i < n; i++) {
        at += -log(1 - nnv_rng_unit(&rng)) / rate * 1e9;
        c->arrival_ns[i] = (uint64_t)at;
    }
    c->arrivals = n;
    return true;
}

/** Executions a second of one stream. */
static double rate_of(struct nnv_bench_stream *stream) {
    enum { TRIES = 9 };
    double ns[TRIES];
    for (int i = 0; i < TRIES; i++)
        if ((ns[i] = nnv_bench_stream_time(stream, (uint32_t)i % stream->sets)) < 0) return 1;
    nnv_sort(ns, TRIES);
    return 1e9 / fmax(1, nnv_median(ns, TRIES));
}

bool nnv_scenario_run(struct nnv_bench_stream *streams, const struct nnv_bench_options *o, struct nnv_samples *samples,
                      _Atomic uint32_t *part, char *reason) {
    struct crowd c = {.options = o, .samples = samples, .part = part, .reason = reason};
    struct worker worker[MOST_STREAMS] = {{.crowd = &c, .stream = streams}};
    uint32_t n = o->scenario == NNV_SCENARIO_SINGLE ? 1 : o->streams < MOST_STREAMS ? o->streams : MOST_STREAMS;
    if (o->scenario == NNV_SCENARIO_POISSON && !draw_arrivals(&c, o->rate > 0 ? o->rate : 0.7 * rate_of(streams))) {
        snprintf(reason, NNV_BENCH_REASON, "no memory for arrivals");
        return false;
    }
    samples->begin_ns = c.begin_ns = nnv_now_ns();
    for (uint32_t i = 1; i < n; i++) worker[i] = (struct worker){.crowd = &c, .stream = &streams[i], .number = i};
    uint32_t started = 1;
    while (started < n && pthread_create(&worker[started].thread, NULL, stream_main, &worker[started]) == 0) started++;
    stream_main(&worker[0]);
    for (uint32_t i = 1; i < started; i++) pthread_join(worker[i].thread, NULL);
    samples->end_ns = nnv_now_ns();
    free(c.arrival_ns);
    if (samples->count > samples->room) samples->count = samples->room;
    return !atomic_load(&c.failed);
}
