/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/channel.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert((NNV_CHANNEL_RING & (NNV_CHANNEL_RING - 1)) == 0, "positions in the ring are taken by a mask");

static const uint64_t WAIT_FOR_ROOM_NS = 100000000;

/* ------------------------------------------------------------ shared memory */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t size) {
    size_t page = page_bytes();
    return (size + page - 1) / page * page;
}

void *nnv_shared_new(size_t size) {
    size_t page = page_bytes(), inner = whole_pages(size);
    char *base = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    if (mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, inner + 2 * page);
        return NULL;
    }
    return base + page;
}

void nnv_shared_free(void *shared, size_t size) {
    size_t page = page_bytes();
    if (shared != NULL) munmap((char *)shared - page, whole_pages(size) + 2 * page);
}

void nnv_shared_inherit(void *shared, size_t size, bool inherit) {
    madvise(shared, whole_pages(size), inherit ? MADV_DOFORK : MADV_DONTFORK);
}

/* ------------------------------------------------------------------ futexes */

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns) {
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000u), .tv_nsec = (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

void nnv_hub_notify(struct nnv_hub *hub) {
    atomic_fetch_add(&hub->wake, 1);
    if (atomic_load(&hub->sleeping)) futex_wake(&hub->wake);
}

void nnv_hub_wait(struct nnv_hub *hub, uint32_t seen, uint64_t timeout_ns) {
    atomic_store(&hub->sleeping, 1);
    futex_wait(&hub->wake, seen, timeout_ns); /* returns at once if the word has changed */
    atomic_store(&hub->sleeping, 0);
}

/* --------------------------------------------------------------------- ring */

/** A record in the ring: this, then reason, outputs, log, uses, devices, drift and answer. */
struct header {
    uint32_t magic, index;
    int32_t verdict, why, mode;
    uint32_t damaged, reason_bytes, outputs_bytes, log_bytes, uses_bytes, devices_bytes, drift_bytes, answer_bytes;
    uint64_t compared, not_compared, values, start_ns, ns, driver_ns;
    uint32_t counts[NNVTS_VERDICT_COUNT];
};

enum { MAGIC = 0x6e6e7673 };

static uint64_t record_bytes(const struct header *h) {
    return sizeof *h + (uint64_t)h->reason_bytes + h->outputs_bytes + h->log_bytes + h->uses_bytes + h->devices_bytes +
           h->drift_bytes + h->answer_bytes;
}

static uint64_t put(struct nnv_channel *c, uint64_t at, const void *data, size_t n) {
    size_t from = (size_t)(at & (NNV_CHANNEL_RING - 1));
    size_t first = n < NNV_CHANNEL_RING - from ? n : NNV_CHANNEL_RING - from;
    if (first > 0) memcpy(c->ring + from, data, first);
    if (n > first) memcpy(c->ring, (const char *)data + first, n - first);
    return at + n;
}

static void get(const struct nnv_channel *c, uint64_t at, void *data, size_t n) {
    size_t from = (size_t)(at & (NNV_CHANNEL_RING - 1));
    size_t first = n < NNV_CHANNEL_RING - from ? n : NNV_CHANNEL_RING - from;
    memcpy(data, c->ring + from, first);
    if (n > first) memcpy((char *)data + first, c->ring, n - first);
}

/** Waits until n bytes fit behind head. */
static void wait_for_room(struct nnv_channel *c, struct nnv_hub *hub, uint64_t head, uint64_t n) {
    for (pid_t supervisor = 0;;) {
        uint32_t room = atomic_load(&c->room);
        if (head + n - atomic_load(&c->tail) <= NNV_CHANNEL_RING) return;
        if (supervisor == 0) supervisor = getppid();
        if (getppid() != supervisor) _exit(0); /* nobody takes anything any more */
        atomic_store(&c->waiting, 1);
        nnv_hub_notify(hub);
        futex_wait(&c->room, room, WAIT_FOR_ROOM_NS);
        atomic_store(&c->waiting, 0);
    }
}

void nnv_channel_push(struct nnv_channel *c, struct nnv_hub *hub, const struct nnv_record *r) {
    static const char note[] = "\n(too long for the journal: the rest, and the comparisons, are left out)";
    struct header h = {
        .magic = MAGIC,
        .index = r->index,
        .verdict = r->verdict,
        .why = (int32_t)r->why,
        .mode = r->mode,
        .damaged = r->damaged,
        .reason_bytes = r->reason_bytes,
        .outputs_bytes = r->outputs_bytes,
        .log_bytes = r->log_bytes,
        .uses_bytes = r->uses_bytes,
        .devices_bytes = r->devices_bytes,
        .drift_bytes = r->drift_bytes,
        .answer_bytes = r->answer_bytes,
        .compared = r->compared,
        .not_compared = r->not_compared,
        .values = r->values,
        .start_ns = r->start_ns,
        .ns = r->ns,
        .driver_ns = r->driver_ns,
    };
    memcpy(h.counts, r->counts, sizeof h.counts);
    size_t note_bytes = 0;
    if (record_bytes(&h) > NNV_CHANNEL_RING) h.answer_bytes = 0;
    if (record_bytes(&h) > NNV_CHANNEL_RING) {
        note_bytes = sizeof note - 1;
        if (h.reason_bytes > NNV_CHANNEL_CUT) h.reason_bytes = NNV_CHANNEL_CUT;
        if (h.log_bytes > NNV_CHANNEL_CUT) h.log_bytes = NNV_CHANNEL_CUT;
        h.reason_bytes += (uint32_t)note_bytes;
        h.outputs_bytes = 0;
    }
    uint64_t head = atomic_load(&c->head);
    wait_for_room(c, hub, head, record_bytes(&h));
    uint64_t at = put(c, head, &h, sizeof h);
    at = put(c, at, r->reason, h.reason_bytes - note_bytes);
    at = put(c, at, note, note_bytes);
    at = put(c, at, r->outputs, h.outputs_bytes);
    at = put(c, at, r->log, h.log_bytes);
    at = put(c, at, r->uses, h.uses_bytes);
    at = put(c, at, r->devices, h.devices_bytes);
    at = put(c, at, r->drift, h.drift_bytes);
    at = put(c, at, r->answer, h.answer_bytes);
    atomic_store(&c->head, at);
    nnv_hub_notify(hub);
}

int nnv_channel_pop(struct nnv_channel *c, struct nnv_record *r, char **buffer, size_t *cap) {
    uint64_t tail = atomic_load(&c->tail), there = atomic_load(&c->head) - tail;
    if (there == 0) return 0;
    struct header h;
    if (there > NNV_CHANNEL_RING || there < sizeof h) return -1;
    get(c, tail, &h, sizeof h);
    uint64_t n = record_bytes(&h), texts = n - sizeof h;
    if (h.magic != MAGIC || n > there) return -1;
    if (texts >= *cap) {
        char *grown = realloc(*buffer, (size_t)texts + 1);
        if (grown == NULL) return -2;
        *buffer = grown;
        *cap = (size_t)texts + 1;
    }
    if (texts > 0) get(c, tail + sizeof h, *buffer, (size_t)texts);
    const char *text = *buffer;
    *r = (struct nnv_record){
        .index = h.index,
        .verdict = h.verdict,
        .why = h.why,
        .mode = h.mode,
        .damaged = h.damaged,
        .compared = h.compared,
        .not_compared = h.not_compared,
        .values = h.values,
        .start_ns = h.start_ns,
        .ns = h.ns,
        .driver_ns = h.driver_ns,
        .reason_bytes = h.reason_bytes,
        .outputs_bytes = h.outputs_bytes,
        .log_bytes = h.log_bytes,
        .uses_bytes = h.uses_bytes,
        .devices_bytes = h.devices_bytes,
        .drift_bytes = h.drift_bytes,
        .answer_bytes = h.answer_bytes,
    };
    r->reason = text;
    r->outputs = text += h.reason_bytes;
    r->log = text += h.outputs_bytes;
    r->uses = text += h.log_bytes;
    r->devices = text += h.uses_bytes;
    r->drift = text += h.devices_bytes;
    r->answer = text + h.drift_bytes;
    memcpy(r->counts, h.counts, sizeof r->counts);
    atomic_store(&c->tail, tail + n);
    atomic_fetch_add(&c->room, 1);
    if (atomic_load(&c->waiting)) futex_wake(&c->room);
    return 1;
}
