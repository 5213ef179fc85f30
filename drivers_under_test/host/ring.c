/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PREFIX = 8, SPIN_NS = 20000, LOOKS = 32 }; /* a message's kind and length; how long to look; between clocks */

static void copy_in(struct host_ring *r, uint32_t at, const void *data, size_t bytes) {
    size_t offset = at % HOST_RING_BYTES, first = HOST_RING_BYTES - offset;
    if (first > bytes) first = bytes;
    memcpy(r->data + offset, data, first);
    memcpy(r->data, (const uint8_t *)data + first, bytes - first);
}

static void copy_out(const struct host_ring *r, uint32_t at, void *data, size_t bytes) {
    size_t offset = at % HOST_RING_BYTES, first = HOST_RING_BYTES - offset;
    if (first > bytes) first = bytes;
    memcpy(data, r->data + offset, first);
    memcpy((uint8_t *)data + first, r->data, bytes - first);
}

static void wake(struct host_ring *r) {
    if (atomic_load(&r->asleep)) syscall(SYS_futex, (uint32_t *)&r->head, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool host_ring_push(struct host_ring *r, uint32_t kind, const void *data, size_t bytes) {
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint32_t used = head - atomic_load_explicit(&r->tail, memory_order_acquire);
    if (used > HOST_RING_BYTES || bytes > HOST_RING_BYTES / 2 - PREFIX || bytes + PREFIX > HOST_RING_BYTES - used)
        return false;
    const uint32_t prefix[] = {kind, (uint32_t)bytes};
    copy_in(r, head, prefix, PREFIX);
    if (bytes) copy_in(r, head + PREFIX, data, bytes);
    atomic_store(&r->head, head + PREFIX + (uint32_t)bytes);
    wake(r);
    return true;
}

enum host_ring_state host_ring_pop(struct host_ring *r, uint8_t *buffer, uint32_t *kind, size_t *bytes) {
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&r->head, memory_order_acquire) - tail, prefix[2];
    if (used == 0) return HOST_RING_EMPTY;
    if (used < PREFIX || used > HOST_RING_BYTES) return HOST_RING_BROKEN;
    copy_out(r, tail, prefix, PREFIX);
    if (prefix[1] > used - PREFIX) return HOST_RING_BROKEN;
    copy_out(r, tail + PREFIX, buffer, prefix[1]);
    *kind = prefix[0];
    *bytes = prefix[1];
    atomic_store_explicit(&r->tail, tail + PREFIX + prefix[1], memory_order_release);
    return HOST_RING_FULL;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_empty(struct host_ring *r) { return atomic_load(&r->head) == atomic_load(&r->tail); }

void host_ring_wait(struct host_ring *r, uint64_t timeout_ns) {
    for (uint64_t end = now_ns() + SPIN_NS; now_ns() < end; sched_yield()) /* the writer may need this processor */
        for (int i = 0; i < LOOKS; i++) {
            if (!is_empty(r)) return;
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
    const struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    uint32_t head = atomic_load(&r->head);
    atomic_store(&r->asleep, 1);
    if (head == atomic_load(&r->head) && is_empty(r))
        syscall(SYS_futex, (uint32_t *)&r->head, FUTEX_WAIT, head, &timeout, NULL, 0);
    atomic_store(&r->asleep, 0);
}
