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
#include "harness/bench/answers.h"

enum { MOST_STREAMS = 256 };

double nnv_bench_stream_time(struct nnv_bench_stream *stream, uint32_t set) {
    uint64_t begin = nnv_now_ns();
    const bool ok = nnv_bench_stream_run(stream, set);
    const uint64_t waited = nnv_now_ns() - begin, own = stream->request[set].result.timing.in_driver_ns;
    if (!ok) return -1;
    return (double)(stream->own_time && own < waited ? own : waited);
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
    uint32_t checked; /* see nnv_samples */
    double error;
};

/**
 * The inputs of execution k of a stream. Nobody knows before which one of CHECK_OF has its answer judged, on inputs
 * drawn from all, with those that the driver has not seen. *judged tells.
 */
static uint32_t set_of(const struct worker *w, uint32_t k, bool *judged) {
    enum { CHECK_OF = 8 };
    const struct nnv_bench_work *work = w->stream->work;
    *judged = false;
    if (!work->golden) return k % work->sets;
    struct nnv_rng rng = nnv_rng_make(w->crowd->options->seed, 0xc4ec, (uint64_t)w->number << 32 | k / CHECK_OF);
    *judged = nnv_rng_int(&rng, 0, CHECK_OF - 1) == k % CHECK_OF;
    return *judged ? (uint32_t)nnv_rng_int(&rng, 0, w->stream->sets - 1) : k % work->sets;
}

/** Judges the answer that has just come. */
static void judge(struct worker *w, uint32_t set) {
    const struct nnv_bench_work *work = w->stream->work;
    const struct nnv_subgraph *m = &work->model->main;
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_value *golden = &work->golden[set][i];
        w->error = fmax(w->error, nnv_answer_error(m->operands[m->out[i]].type, golden->data,
                                                   w->stream->request[set].output_at[i], golden->bytes));
    }
    w->checked++;
}

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
        bool judged;
        const uint32_t set = set_of(s, k, &judged);
        double ns = nnv_bench_stream_time(s->stream, set);
        if (ns < 0) {
            fail(s, set);
            return;
        }
        keep(c->samples, ns);
        if (judged) judge(s, set);
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
        bool judged;
        const uint32_t set = set_of(s, k, &judged);
        sleep_until(due);
        if (!nnv_bench_stream_run(s->stream, set)) {
            fail(s, set);
            return;
        }
        keep(c->samples, (double)(nnv_now_ns() - due));
        if (judged) judge(s, set);
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

void nnv_empty_caches(void *memory, size_t bytes) {
    enum { LINE = 64 };
    volatile unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i += LINE) at[i]++;
}

/** Runs all streams at once to the end. */
static void run_streams(struct crowd *c, struct nnv_bench_stream *streams, uint32_t n) {
    struct worker worker[MOST_STREAMS] = {{.crowd = c, .stream = streams}};
    uint32_t started = 1;
    c->samples->begin_ns = c->begin_ns = nnv_now_ns();
    for (uint32_t i = 1; i < n; i++) worker[i] = (struct worker){.crowd = c, .stream = &streams[i], .number = i};
    while (started < n && pthread_create(&worker[started].thread, NULL, stream_main, &worker[started]) == 0) started++;
    stream_main(&worker[0]);
    for (uint32_t i = 1; i < started; i++) pthread_join(worker[i].thread, NULL);
    c->samples->end_ns = nnv_now_ns();
    for (uint32_t i = 0; i < started; i++) {
        c->samples->checked += worker[i].checked;
        c->samples->error = fmax(c->samples->error, worker[i].error);
    }
}

/** Executions a second that all streams together can serve, one after the other, over a tenth of the time. */
static double capacity_of(struct nnv_bench_stream *streams, uint32_t n, const struct nnv_bench_options *o) {
    enum { ROOM = 1 << 14, LEAST = 20 };
    struct nnv_bench_options flat_out = *o;
    _Atomic uint32_t part;
    char reason[NNV_BENCH_REASON];
    struct nnv_samples samples = {.room = ROOM, .ns = malloc(ROOM * sizeof *samples.ns)};
    struct crowd c = {.options = &flat_out, .samples = &samples, .part = &part, .reason = reason};
    flat_out.time_ns = o->time_ns / 10;
    flat_out.least = LEAST;
    flat_out.early_stop = false;
    if (samples.ns) run_streams(&c, streams, n);
    const double ns = (double)(samples.end_ns - samples.begin_ns);
    free(samples.ns);
    return ns > 0 && samples.count > 0 ? (double)samples.count / ns * 1e9 : 1;
}

/** True if the last arrivals waited for work that had piled up: much longer than all had time to arrive. */
static bool fell_behind(const struct crowd *c) {
    static const double share = 0.05, least_ns = 50e6;
    const double took = (double)(c->samples->end_ns - c->begin_ns);
    const double arriving = c->arrivals > 0 ? (double)c->arrival_ns[c->arrivals - 1] : 0;
    return took - arriving > fmax(share * arriving, least_ns);
}

/** Arrivals by chance. A rate of our own is halved where it was too much: what else the machine does is in it, too. */
static bool run_poisson(struct crowd *c, struct nnv_bench_stream *streams, uint32_t n) {
    enum { TRIES = 4 };
    const struct nnv_bench_options *o = c->options;
    double rate = o->rate > 0 ? o->rate : 0.7 * capacity_of(streams, n, o);
    for (int i = 0; i < TRIES; i++, rate /= 2) {
        atomic_store(&c->samples->count, 0);
        atomic_store(&c->next, 0);
        if (!draw_arrivals(c, rate)) return false;
        run_streams(c, streams, n);
        c->samples->asked_rate = rate;
        c->samples->overrun = fell_behind(c);
        free(c->arrival_ns);
        if (!c->samples->overrun || o->rate > 0 || atomic_load(&c->failed)) break;
    }
    return true;
}

bool nnv_scenario_run(struct nnv_bench_stream *streams, const struct nnv_bench_options *o, struct nnv_samples *samples,
                      _Atomic uint32_t *part, char *reason) {
    struct crowd c = {.options = o, .samples = samples, .part = part, .reason = reason};
    uint32_t n = o->scenario == NNV_SCENARIO_SINGLE ? 1 : o->streams < MOST_STREAMS ? o->streams : MOST_STREAMS;
    samples->asked_rate = (double)NAN;
    if (o->scenario != NNV_SCENARIO_POISSON) {
        run_streams(&c, streams, n);
    } else if (!run_poisson(&c, streams, n)) {
        snprintf(reason, NNV_BENCH_REASON, "no memory for arrivals");
        return false;
    }
    if (samples->count > samples->room) samples->count = samples->room;
    return !atomic_load(&c.failed);
}
