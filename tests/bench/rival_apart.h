/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rival_apart.h Rivals of one thread, each on a thread of its own, side by side. They share
 * nothing: what they get done together is what the processors allow, two of which may be one core.
 */
#ifndef NNV_BENCH_RIVAL_APART_H
#define NNV_BENCH_RIVAL_APART_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "tests/bench/rival.h"

enum { APART_MOST = 64, APART_SPIN_NS = 300000 };

struct apart {
    const struct rival *ones;
    int count;
    void *copies[APART_MOST];
    pthread_t threads[APART_MOST];
    atomic_uint begun; /**< runs */
    atomic_int left;   /**< copies that still run */
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/** The calling thread computes on the i-th of the processors that it may use, and on no other; the set as it was. */
static inline cpu_set_t apart_pin(int i) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    rival_must(!sched_getaffinity(0, sizeof all, &all), "apart", "processors", 0);
    i %= CPU_COUNT(&all);
    for (int p = 0; p < CPU_SETSIZE; p++)
        if (CPU_ISSET(p, &all) && i-- == 0) CPU_SET(p, &one);
    sched_setaffinity(0, sizeof one, &one);
    return all;
}

struct apart_thread {
    struct apart *all;
    int copy;
};

/** Awake for a while, so that a run that follows another begins at once. */
static inline void apart_await(struct apart *a, unsigned seen) {
    const uint64_t until = nnv_now_ns() + APART_SPIN_NS;
    while (nnv_now_ns() < until)
        if (atomic_load(&a->begun) != seen) return;
    pthread_mutex_lock(&a->lock);
    while (atomic_load(&a->begun) == seen) pthread_cond_wait(&a->wake, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static inline void *apart_work(void *arg) {
    struct apart_thread self = *(struct apart_thread *)arg;
    free(arg);
    apart_pin(self.copy);
    for (unsigned seen = 0;; seen++) {
        apart_await(self.all, seen);
        if (atomic_load(&self.all->quit)) return NULL;
        self.all->ones[self.copy].run(self.all->copies[self.copy]);
        atomic_fetch_sub(&self.all->left, 1);
    }
}

static inline void apart_begin(struct apart *a) {
    atomic_store(&a->left, a->count - 1);
    pthread_mutex_lock(&a->lock);
    atomic_fetch_add(&a->begun, 1);
    pthread_cond_broadcast(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

static inline void *apart_open(const struct rival *r, const struct nnv_model *m) {
    struct apart *a = calloc(1, sizeof *a);
    rival_must(a, r->name, "memory", 0);
    a->ones = r->own;
    a->count = r->threads;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wake, NULL);
    for (int i = 0; i < a->count; i++)
        rival_must((a->copies[i] = a->ones[i].open(&a->ones[i], m)), r->name, "it does not take the model", 0);
    for (int i = 1; i < a->count; i++) {
        struct apart_thread *self = malloc(sizeof *self);
        rival_must(self, r->name, "memory", 0);
        *self = (struct apart_thread){a, i};
        const int failed = pthread_create(&a->threads[i], NULL, apart_work, self);
        rival_must(!failed, r->name, "no thread", failed);
    }
    return a;
}

/** Each copy once. */
static inline void apart_run(void *state) {
    struct apart *a = state;
    const cpu_set_t all = apart_pin(0); /* else it may keep another copy from its processor */
    apart_begin(a);
    a->ones[0].run(a->copies[0]);
    while (atomic_load(&a->left) > 0) {}
    sched_setaffinity(0, sizeof all, &all);
}

static inline void apart_close(void *state) {
    struct apart *a = state;
    atomic_store(&a->quit, true);
    apart_begin(a);
    for (int i = 1; i < a->count; i++) pthread_join(a->threads[i], NULL);
    for (int i = 0; i < a->count; i++) a->ones[i].close(a->copies[i]);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/** @param ones  `count` rivals of one thread each; stay while the rival does. Its time is that of `count` runs. */
static inline struct rival rival_apart(struct rival *ones, int count) {
    return (struct rival){"apart", apart_open, apart_run, apart_close, count, ones};
}

#endif
