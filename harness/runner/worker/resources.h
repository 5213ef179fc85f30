/* SPDX-License-Identifier: Apache-2.0 */
/** @file resources.h What a driver holds: in this process, or in this one and all that descend from it. */
#ifndef NNV_HARNESS_RESOURCES_H
#define NNV_HARNESS_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

/** What a process holds and must give back. The order is that in which a leak is named: a thread has memory, too. */
enum nnv_held {
    NNV_HELD_DESCRIPTORS,
    NNV_HELD_THREADS,
    NNV_HELD_OBJECTS, /**< shared memory with a name, in /dev/shm: the machine's */
    NNV_HELD_HEAP,    /**< bytes that malloc has given out; 0 where it does not tell */
    NNV_HELD_MAPPED,  /**< bytes of address space */
    NNV_HELD_KINDS
};

/** What one of them is called ("file descriptors", "bytes of heap"), and what a driver owes ("close what it opens"). */
struct nnv_held_words {
    const char *name, *duty;
};
extern const struct nnv_held_words nnv_held_words[NNV_HELD_KINDS];

/**
 * False under the address or thread sanitizer, nnvts' own or one preloaded for a driver: it keeps what is freed for a
 * while, and maps at will. Then nnv_held_count() leaves heap and mapped memory as they are.
 */
bool nnv_held_memory_tells(void);
/**
 * Of memory that has grown by so many bytes, and with each of so many repeats: whether that is a leak rather than a
 * pool that is being filled. Libraries fill pools of some megabytes with the first hundreds of models.
 */
bool nnv_held_is_leak(uint64_t repeats, uint64_t bytes);
/** Gives back to the system what was freed: what is taken from then on shows. */
void nnv_held_trim(void);
/** Counts in this process, in some microseconds. What the system does not tell stays as it is. */
void nnv_held_count(uint64_t held[NNV_HELD_KINDS]);

/** What this process and its descendants hold. */
struct nnv_resources {
    uint32_t processes; /**< this one too */
    uint32_t descriptors;
    uint32_t threads;
    uint64_t memory_bytes; /**< anonymous memory that is resident */
};

/** False if the system does not tell. */
bool nnv_resources_count(struct nnv_resources *r);
/** The same of the descendants alone: all 0 where there are none. It takes a millisecond or more. */
bool nnv_resources_count_others(struct nnv_resources *r);
/** Counts until three counts, or timeout_ns, say that nothing goes any more. False if the system does not tell. */
bool nnv_resources_rest(uint64_t timeout_ns, struct nnv_resources *r);
/**
 * Counts until processes, descriptors and threads are no more than `limit` says, or timeout_ns have passed: what a
 * driver gives up behind the call has time to go. False if the system does not tell.
 */
bool nnv_resources_settle(const struct nnv_resources *limit, uint64_t timeout_ns, struct nnv_resources *r);

#endif
