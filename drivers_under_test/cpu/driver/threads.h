/* SPDX-License-Identifier: Apache-2.0 */
/** @file threads.h A pool of threads that start when first needed, wait awake for a moment, and then sleep. */
#ifndef CPU_THREADS_H
#define CPU_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_threads;

/** Does items [begin, end); worker, below cpu_threads_count, names the thread: index of its scratch memory. */
typedef void (*cpu_items_fn)(void *arg, uint32_t begin, uint32_t end, uint32_t worker);

/** A pool of count threads, the caller's included; none is started yet. NULL without memory. */
struct cpu_threads *cpu_threads_create(uint32_t count);
/** Threads that a region may use, the caller's included: at least 1. */
uint32_t cpu_threads_count(const struct cpu_threads *threads);
/** The calling thread begins or ends an execution: threads wait awake only where that leaves them processors. */
void cpu_threads_begin(struct cpu_threads *threads);
void cpu_threads_end(struct cpu_threads *threads);
/**
 * Runs fn over items [0, count) and returns when all are done. work_ns estimates the whole region on one thread: what
 * takes no longer than handing it over, the caller does alone. One region at a time: while another caller has the pool,
 * a region runs on its caller's thread; likewise while the processors are busy with others.
 */
void cpu_threads_run(struct cpu_threads *threads, uint32_t count, double work_ns, cpu_items_fn fn, void *arg);
/** Does values [from, to). */
typedef void (*cpu_chunk_fn)(const void *arg, size_t from, size_t to);
/** As cpu_threads_run, for count values in chunks; value_ns: what a value costs on one thread. */
void cpu_threads_chunks(struct cpu_threads *threads, size_t count, double value_ns, cpu_chunk_fn fn, const void *arg);
/** Ends and joins the threads; NULL is allowed. */
void cpu_threads_destroy(struct cpu_threads *threads);

/** CLOCK_MONOTONIC. */
uint64_t cpu_now_ns(void);

#endif
