/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ring.h Messages through shared memory: one writer, one reader, no lock.
 *
 * The reader looks for a while before it sleeps on a futex; the writer wakes it only then. The other side may write
 * anything at any time: positions are checked, and a message is copied out before it is looked at.
 */
#ifndef NNVTS_HOST_RING_H
#define NNVTS_HOST_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_RING_BYTES = 64 << 10 }; /**< a power of two; a message must fit in half of it */

struct host_ring {
    _Alignas(64) _Atomic uint32_t head; /**< bytes written so far, modulo 2^32; the writer's */
    _Alignas(64) _Atomic uint32_t tail; /**< bytes read so far; the reader's */
    _Alignas(64) _Atomic uint32_t asleep;
    _Alignas(64) uint8_t data[HOST_RING_BYTES];
};

/** What a burst shares: questions to the host, answers from it. */
struct host_rings {
    struct host_ring ask, answer;
};

/** Appends a message of a kind; false if it does not fit. */
bool host_ring_push(struct host_ring *ring, uint32_t kind, const void *data, size_t bytes);
enum host_ring_state { HOST_RING_EMPTY, HOST_RING_FULL, HOST_RING_BROKEN };
/** Takes a message into buffer of HOST_RING_BYTES. FULL: there was one. */
enum host_ring_state host_ring_pop(struct host_ring *ring, uint8_t *buffer, uint32_t *kind, size_t *bytes);
/** Returns when there may be a message, at the latest after timeout_ns. */
void host_ring_wait(struct host_ring *ring, uint64_t timeout_ns);

#endif
