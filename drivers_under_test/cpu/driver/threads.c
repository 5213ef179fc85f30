/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file threads.c Each thread has a share of a region's items, the same part of every region, so that it finds in its
 * cache what it made in the region before; who is done with its own share takes from the others'.
 */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, CHUNKS_PER_SHARE = 8, CACHE_LINE = 64, PAUSES = 32 };
/** Regions are handed over from this work on: to threads that are awake, and to sleeping ones. */
static const double awake_from_ns = 4e3, asleep_from_ns = 30e3;
/** A thread that waits stays awake for so long. */
static const uint64_t spin_ns = 100000;
/**
 * A worker that is so much later than the caller took for two chunks got no processor. What was lost so is paid off by
 * work that callers do alone, a few times as much: a processor that is taken away once, as other machines do where this
 * one is virtual, costs little. Lost once more before so much has gone well, it takes twice as much work, so that
 * beside a neighbour who stays less than 1 % are lost. It is work that counts and not the clock: who executes now and
 * then would lose in each execution again.
 */
static const uint64_t tolerance_ns = 20000, rest_least = 2, rest_most = 160;
/** The region is open: threads may enter. The bits below count those inside. */
static const unsigned open_bit = 1u << 31;

/** A worker that waits for regions. */
struct worker {
    struct cpu_threads *pool;
    pthread_t thread;
    uint32_t index;
    atomic_int tid;     /**< the system's; 0: it has not begun */
    atomic_int avoided; /**< processor that it keeps off, or -1 */
};

/** What a thread takes first: items [count * i / threads, count * (i + 1) / threads). */
struct share {
    _Alignas(CACHE_LINE) atomic_uint next;
};

struct cpu_threads {
    uint32_t count, processors;
    cpu_set_t allowed;      /**< processors; empty: not known */
    pthread_mutex_t region; /**< held by the caller whose region runs; guards the workers' start */
    atomic_bool started;
    uint32_t started_count; /**< workers that could be started */
    struct worker workers[MAX_THREADS];
    atomic_uint executions; /**< going on */
    _Atomic uint64_t rest;  /**< so many ns of work are done alone: the processors are busy with others */
    uint64_t rest_factor;   /**< of what is lost next; the region's holder's */
    uint64_t lost;          /**< last; the region's holder's */
    double since_lost;      /**< ns of work shared since then; the region's holder's */
    /* the region, in one line of the cache; written before it is open */
    _Alignas(CACHE_LINE) atomic_uint entered; /**< open_bit, and how many workers are inside */
    uint32_t items, chunk;
    atomic_uint number; /**< of the region, from 1 */
    cpu_items_fn fn;
    void *arg;
    struct share shares[MAX_THREADS];
    /* who waits asleep */
    pthread_mutex_t lock;
    pthread_cond_t wake, left;
    atomic_uint asleep;          /**< workers */
    atomic_int caller_processor; /**< where the last region began */
    atomic_uint refused;         /**< number of the last region that a worker could not help with */
    atomic_bool caller_asleep, quit;
};

uint64_t cpu_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void pause_processor(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* --------------------------------------------------------------------- worker */

static uint32_t share_begin(const struct cpu_threads *t, uint32_t share) {
    return (uint32_t)((uint64_t)t->items * share / t->count);
}

/** Own share first; how many items that were. */
static uint32_t drain(struct cpu_threads *t, uint32_t worker) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t share = (worker + i) % t->count, end = share_begin(t, share + 1);
        atomic_uint *next = &t->shares[share].next;
        uint32_t begin;
        while (atomic_load(next) < end && (begin = atomic_fetch_add(next, t->chunk)) < end) {
            const uint32_t count = end - begin < t->chunk ? end - begin : t->chunk;
            t->fn(t->arg, begin, begin + count, worker);
            done += count;
        }
    }
    return done;
}

/** A region is open that no worker has refused. */
static bool is_open(struct cpu_threads *t) {
    return (atomic_load(&t->entered) & open_bit) && atomic_load(&t->refused) != atomic_load(&t->number);
}

static bool is_beside_caller(struct cpu_threads *t) { return sched_getcpu() == atomic_load(&t->caller_processor); }

/** A worker keeps off a processor. False: there is no other. */
static bool keep_off(struct worker *w, int processor) {
    cpu_set_t others = w->pool->allowed;
    if (processor < 0 || processor >= CPU_SETSIZE) return false;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(atomic_load(&w->tid), sizeof others, &others) != 0) return false;
    atomic_store(&w->avoided, processor);
    return true;
}

static bool enter(struct cpu_threads *t) {
    unsigned entered = atomic_load(&t->entered);
    while (entered & open_bit)
        if (atomic_compare_exchange_weak(&t->entered, &entered, entered + 1)) return true;
    return false;
}

/** All items are taken: nobody need enter any more. */
static void leave(struct cpu_threads *t) {
    unsigned entered = atomic_load(&t->entered);
    while (!atomic_compare_exchange_weak(&t->entered, &entered, (entered & ~open_bit) - 1)) {}
    if ((entered & ~open_bit) != 1 || !atomic_load(&t->caller_asleep)) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->left);
    pthread_mutex_unlock(&t->lock);
}

/** There is a processor for each thread that executes or waits. */
static bool may_spin(struct cpu_threads *t) {
    const unsigned executions = atomic_load(&t->executions);
    return (executions ? executions : 1) + t->count - 1 <= t->processors;
}

/** Until a region is open, or the pool ends. */
static void await_region(struct cpu_threads *t) {
    const uint64_t until = cpu_now_ns() + spin_ns;
    while (may_spin(t) && cpu_now_ns() < until && !is_beside_caller(t))
        for (int i = 0; i < PAUSES; i++) {
            if (is_open(t) || atomic_load(&t->quit)) return;
            pause_processor();
        }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1);
    while (!is_open(t) && !atomic_load(&t->quit)) pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

static void *work(void *arg) {
    struct worker *self = arg;
    struct cpu_threads *t = self->pool;
    atomic_store(&self->tid, gettid());
    while (!atomic_load(&t->quit)) {
        /* there it only takes the caller's time away */
        if (is_open(t) && is_beside_caller(t) && !keep_off(self, atomic_load(&t->caller_processor))) {
            atomic_store(&t->refused, atomic_load(&t->number));
        } else if (enter(t)) {
            drain(t, self->index);
            leave(t);
        }
        await_region(t);
    }
    return NULL;
}

/* --------------------------------------------------------------------- caller */

struct cpu_threads *cpu_threads_create(uint32_t count) {
    struct cpu_threads *t = aligned_alloc(CACHE_LINE, sizeof *t);
    if (!t) return NULL;
    *t = (struct cpu_threads){.count = count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count, .processors = 1};
    if (sched_getaffinity(0, sizeof t->allowed, &t->allowed) == 0) t->processors = (uint32_t)CPU_COUNT(&t->allowed);
    pthread_mutex_init(&t->region, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->left, NULL);
    return t;
}

uint32_t cpu_threads_count(const struct cpu_threads *threads) { return threads->count; }

void cpu_threads_begin(struct cpu_threads *threads) { atomic_fetch_add(&threads->executions, 1); }
void cpu_threads_end(struct cpu_threads *threads) { atomic_fetch_sub(&threads->executions, 1); }

/** Starts what can be started; with fewer threads the work is done all the same. */
static void start(struct cpu_threads *t) {
    atomic_store(&t->started, true);
    for (uint32_t i = 0; i + 1 < t->count; i++) {
        struct worker *w = &t->workers[t->started_count];
        *w = (struct worker){.pool = t, .index = t->started_count + 1, .avoided = -1};
        if (pthread_create(&w->thread, NULL, work, w) != 0) return;
        t->started_count++;
    }
}

/**
 * A worker that sleeps on the processor where the caller computes now would not get it before the caller is done, and
 * may have no other: it left one where the caller was before.
 */
static void wake(struct cpu_threads *t, int caller) {
    if (!atomic_load(&t->asleep)) return;
    for (uint32_t i = 0; i < t->started_count; i++) {
        struct worker *w = &t->workers[i];
        if (atomic_load(&w->tid) != 0 && atomic_load(&w->avoided) != caller) keep_off(w, caller);
    }
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

/** Until no worker is inside. */
static void await_workers(struct cpu_threads *t) {
    const uint64_t until = cpu_now_ns() + spin_ns;
    while (may_spin(t) && cpu_now_ns() < until)
        for (int i = 0; i < PAUSES; i++) {
            if (!atomic_load(&t->entered)) return;
            pause_processor();
        }
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->caller_asleep, true);
    while (atomic_load(&t->entered)) pthread_cond_wait(&t->left, &t->lock);
    atomic_store(&t->caller_asleep, false);
    pthread_mutex_unlock(&t->lock);
}

/** After so much as is paid for it has gone well, a loss is a first one. */
static void count_loss(struct cpu_threads *t, uint64_t lost) {
    const bool again = t->lost && t->since_lost < (double)(t->rest_factor * t->lost);
    t->rest_factor = !again ? rest_least : t->rest_factor < rest_most ? 2 * t->rest_factor : rest_most;
    t->lost = lost;
    t->since_lost = 0;
    atomic_store(&t->rest, t->rest_factor * lost);
}

/** The caller's part of an open region; then waits for workers that have entered. */
static void take_part(struct cpu_threads *t) {
    const uint64_t begun = cpu_now_ns();
    const uint32_t done = drain(t, 0);
    atomic_fetch_and(&t->entered, ~open_bit);
    if (atomic_load(&t->refused) == atomic_load(&t->number)) count_loss(t, spin_ns);
    if (!atomic_load(&t->entered)) return;
    const uint64_t alone = cpu_now_ns();
    await_workers(t);
    const uint64_t lost = cpu_now_ns() - alone, chunk = done ? (alone - begun) * t->chunk / done : 0;
    if (lost > 2 * chunk + tolerance_ns) count_loss(t, lost);
}

static void run_shared(struct cpu_threads *t, uint32_t count, cpu_items_fn fn, void *arg) {
    if (!atomic_load(&t->started)) start(t);
    t->fn = fn;
    t->arg = arg;
    t->items = count;
    t->chunk = count / (t->count * CHUNKS_PER_SHARE);
    if (t->chunk == 0) t->chunk = 1;
    for (uint32_t i = 0; i < t->count; i++)
        atomic_store_explicit(&t->shares[i].next, share_begin(t, i), memory_order_relaxed);
    const int caller = sched_getcpu();
    atomic_store(&t->caller_processor, caller);
    atomic_fetch_add(&t->number, 1);
    atomic_store(&t->entered, open_bit);
    wake(t, caller);
    take_part(t);
}

/** This region is done alone, since one before was late. */
static bool rests(struct cpu_threads *t, double work_ns) {
    uint64_t rest = atomic_load(&t->rest);
    while (rest > 0 &&
           !atomic_compare_exchange_weak(&t->rest, &rest, work_ns < (double)rest ? rest - (uint64_t)work_ns : 0)) {}
    return rest > 0;
}

/** Handing the region over is worth its while. */
static bool worthwhile(struct cpu_threads *t, uint32_t count, double work_ns) {
    return t->count > 1 && count > 1 && work_ns >= awake_from_ns &&
           (work_ns >= asleep_from_ns || (atomic_load(&t->started) && !atomic_load(&t->asleep))) && !rests(t, work_ns);
}

void cpu_threads_run(struct cpu_threads *threads, uint32_t count, double work_ns, cpu_items_fn fn, void *arg) {
    if (count == 0) return;
    if (!worthwhile(threads, count, work_ns) || pthread_mutex_trylock(&threads->region) != 0) {
        fn(arg, 0, count, 0);
        return;
    }
    run_shared(threads, count, fn, arg);
    threads->since_lost += work_ns;
    pthread_mutex_unlock(&threads->region);
}

enum { CHUNK = 4096 };

struct chunks {
    cpu_chunk_fn fn;
    const void *arg;
    size_t count;
};

static void do_chunks(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct chunks *c = arg;
    const size_t to = (size_t)end * CHUNK;
    c->fn(c->arg, (size_t)begin * CHUNK, to < c->count ? to : c->count);
}

void cpu_threads_chunks(struct cpu_threads *threads, size_t count, double value_ns, cpu_chunk_fn fn, const void *arg) {
    struct chunks c = {fn, arg, count};
    cpu_threads_run(threads, (uint32_t)((count + CHUNK - 1) / CHUNK), (double)count * value_ns, do_chunks, &c);
}

void cpu_threads_destroy(struct cpu_threads *threads) {
    if (!threads) return;
    pthread_mutex_lock(&threads->lock);
    atomic_store(&threads->quit, true);
    pthread_cond_broadcast(&threads->wake);
    pthread_mutex_unlock(&threads->lock);
    for (uint32_t i = 0; i < threads->started_count; i++) pthread_join(threads->workers[i].thread, NULL);
    pthread_cond_destroy(&threads->left);
    pthread_cond_destroy(&threads->wake);
    pthread_mutex_destroy(&threads->lock);
    pthread_mutex_destroy(&threads->region);
    free(threads);
}
