/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_THREADS = 64, CHUNKS_PER_THREAD = 8 };
static const double parallel_from_ns = 100e3;

/** A worker that waits for regions. */
struct worker {
    struct cpu_threads *pool;
    pthread_t thread;
    uint32_t index;
};

struct cpu_threads {
    uint32_t count;
    pthread_mutex_t region; /**< held by the caller whose region runs */
    pthread_mutex_t lock;   /**< guards what follows */
    pthread_cond_t wake, left;
    bool started, quit;
    uint32_t started_count; /**< workers that could be started */
    uint64_t generation;    /**< of the region that is open */
    bool open;              /**< workers may still enter the region */
    uint32_t inside;        /**< workers in the region */
    struct worker workers[MAX_THREADS];
    /* the region */
    cpu_items_fn fn;
    void *arg;
    uint32_t items, chunk;
    atomic_uint next;
};

static void drain(struct cpu_threads *t, uint32_t worker) {
    for (;;) {
        uint32_t begin = atomic_fetch_add(&t->next, t->chunk);
        if (begin >= t->items) return;
        uint32_t end = t->items - begin < t->chunk ? t->items : begin + t->chunk;
        t->fn(t->arg, begin, end, worker);
    }
}

static void *work(void *arg) {
    struct worker *self = arg;
    struct cpu_threads *t = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->quit && (!t->open || t->generation == seen)) pthread_cond_wait(&t->wake, &t->lock);
        if (t->quit) break;
        seen = t->generation;
        t->inside++;
        pthread_mutex_unlock(&t->lock);
        drain(t, self->index);
        pthread_mutex_lock(&t->lock);
        t->open = false;
        if (--t->inside == 0) pthread_cond_signal(&t->left);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct cpu_threads *cpu_threads_create(uint32_t count) {
    struct cpu_threads *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->count = count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count;
    pthread_mutex_init(&t->region, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->left, NULL);
    return t;
}

uint32_t cpu_threads_count(const struct cpu_threads *threads) { return threads->count; }

/** Starts what can be started; with fewer threads the work is done all the same. */
static void start(struct cpu_threads *t) {
    t->started = true;
    for (uint32_t i = 0; i + 1 < t->count; i++) {
        struct worker *w = &t->workers[t->started_count];
        *w = (struct worker){.pool = t, .index = t->started_count + 1};
        if (pthread_create(&w->thread, NULL, work, w) != 0) return;
        t->started_count++;
    }
}

/** The caller works too, and waits only for workers that have entered. */
static void run_shared(struct cpu_threads *t, uint32_t count, cpu_items_fn fn, void *arg) {
    pthread_mutex_lock(&t->lock);
    if (!t->started) start(t);
    t->fn = fn;
    t->arg = arg;
    t->items = count;
    t->chunk = count / (t->count * CHUNKS_PER_THREAD);
    if (t->chunk == 0) t->chunk = 1;
    atomic_store(&t->next, 0);
    t->generation++;
    t->open = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    drain(t, 0);
    pthread_mutex_lock(&t->lock);
    t->open = false;
    while (t->inside) pthread_cond_wait(&t->left, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void cpu_threads_run(struct cpu_threads *threads, uint32_t count, double work_ns, cpu_items_fn fn, void *arg) {
    if (count == 0) return;
    if (threads->count == 1 || count == 1 || work_ns < parallel_from_ns ||
        pthread_mutex_trylock(&threads->region) != 0) {
        fn(arg, 0, count, 0);
        return;
    }
    run_shared(threads, count, fn, arg);
    pthread_mutex_unlock(&threads->region);
}

enum { CHUNK = 8192 };

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
    threads->quit = true;
    pthread_cond_broadcast(&threads->wake);
    pthread_mutex_unlock(&threads->lock);
    for (uint32_t i = 0; i < threads->started_count; i++) pthread_join(threads->workers[i].thread, NULL);
    pthread_cond_destroy(&threads->left);
    pthread_cond_destroy(&threads->wake);
    pthread_mutex_destroy(&threads->lock);
    pthread_mutex_destroy(&threads->region);
    free(threads);
}
