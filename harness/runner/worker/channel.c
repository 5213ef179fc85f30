/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/channel.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/text.h"

_Static_assert((NNV_CHANNEL_RING & (NNV_CHANNEL_RING - 1)) == 0, "positions in the ring are taken by a mask");

static const uint64_t WAIT_FOR_ROOM_NS = 100000000;
static const char NOTE[] = "\n(too long for the journal: the rest, and the comparisons, are left out)";

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

enum { TEXTS = 7 };

/** A record in the ring: this, then its texts, see texts_of(). No byte of it is left undefined: all are summed up. */
struct header {
    uint64_t sum; /**< of all that follows, and of where it is: see sum_of() */
    uint64_t compared, not_compared, values, start_ns, ns, driver_ns;
    uint32_t index, damaged;
    int32_t verdict, why, mode;
    uint32_t reason_bytes, outputs_bytes, log_bytes, uses_bytes, devices_bytes, drift_bytes, answer_bytes;
    uint32_t counts[NNVTS_VERDICT_COUNT], zero;
};
_Static_assert(sizeof(struct header) == 7 * sizeof(uint64_t) + (5 + TEXTS + NNVTS_VERDICT_COUNT + 1) * sizeof(uint32_t),
               "a header has no gaps");

static uint64_t record_bytes(const struct header *h) {
    return sizeof *h + (uint64_t)h->reason_bytes + h->outputs_bytes + h->log_bytes + h->uses_bytes + h->devices_bytes +
           h->drift_bytes + h->answer_bytes;
}

/** The texts of a record in the order in which they stand in the ring. */
static void texts_of(const struct nnv_record *r, struct nnv_bytes text[TEXTS]) {
    text[0] = (struct nnv_bytes){r->reason, r->reason_bytes};
    text[1] = (struct nnv_bytes){r->outputs, r->outputs_bytes};
    text[2] = (struct nnv_bytes){r->log, r->log_bytes};
    text[3] = (struct nnv_bytes){r->uses, r->uses_bytes};
    text[4] = (struct nnv_bytes){r->devices, r->devices_bytes};
    text[5] = (struct nnv_bytes){r->drift, r->drift_bytes};
    text[6] = (struct nnv_bytes){r->answer, r->answer_bytes};
}

/** The checksum of a record that begins at byte `at` of all that was ever written: it is good at this place alone. */
static uint64_t sum_of(const struct header *h, const struct nnv_bytes text[TEXTS], uint64_t at) {
    uint64_t part[2 + TEXTS] = {at, nnv_hash_words(&h->compared, sizeof *h - sizeof h->sum)};
    for (int i = 0; i < TEXTS; i++)
        if (text[i].len > 0) part[2 + i] = nnv_hash_words(text[i].data, text[i].len);
    return nnv_hash_words(part, sizeof part);
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

/** The record without what can be spared, with the beginning of its texts and a note; `reason` has room for that. */
static struct nnv_record cut(const struct nnv_record *r, char reason[NNV_CHANNEL_CUT + sizeof NOTE]) {
    struct nnv_record less = *r;
    if (less.reason_bytes > NNV_CHANNEL_CUT) less.reason_bytes = NNV_CHANNEL_CUT;
    if (less.log_bytes > NNV_CHANNEL_CUT) less.log_bytes = NNV_CHANNEL_CUT;
    if (less.reason_bytes > 0) memcpy(reason, r->reason, less.reason_bytes);
    memcpy(reason + less.reason_bytes, NOTE, sizeof NOTE - 1);
    less.reason = reason;
    less.reason_bytes += (uint32_t)sizeof NOTE - 1;
    less.outputs_bytes = less.answer_bytes = 0;
    return less;
}

static struct header header_of(const struct nnv_record *r) {
    struct header h = {
        .compared = r->compared,
        .not_compared = r->not_compared,
        .values = r->values,
        .start_ns = r->start_ns,
        .ns = r->ns,
        .driver_ns = r->driver_ns,
        .index = r->index,
        .damaged = r->damaged,
        .verdict = r->verdict,
        .why = r->why,
        .mode = r->mode,
        .reason_bytes = r->reason_bytes,
        .outputs_bytes = r->outputs_bytes,
        .log_bytes = r->log_bytes,
        .uses_bytes = r->uses_bytes,
        .devices_bytes = r->devices_bytes,
        .drift_bytes = r->drift_bytes,
        .answer_bytes = r->answer_bytes,
    };
    memcpy(h.counts, r->counts, sizeof h.counts);
    return h;
}

void nnv_channel_push(struct nnv_channel *c, struct nnv_hub *hub, const struct nnv_record *r) {
    char reason[NNV_CHANNEL_CUT + sizeof NOTE];
    struct nnv_bytes text[TEXTS];
    struct nnv_record less = *r;
    struct header h = header_of(r);
    if (record_bytes(&h) > NNV_CHANNEL_RING) h.answer_bytes = less.answer_bytes = 0;
    if (record_bytes(&h) > NNV_CHANNEL_RING) {
        less = cut(r, reason);
        h = header_of(&less);
    }
    texts_of(&less, text);
    uint64_t at = atomic_load(&c->head);
    h.sum = sum_of(&h, text, at);
    wait_for_room(c, hub, at, record_bytes(&h));
    at = put(c, at, &h, sizeof h);
    for (int i = 0; i < TEXTS; i++) at = put(c, at, text[i].data, text[i].len);
    atomic_store(&c->head, at);
    nnv_hub_notify(hub);
}

int nnv_channel_pop(struct nnv_channel *c, struct nnv_record *r, char **buffer, size_t *cap) {
    uint64_t tail = atomic_load(&c->tail), there = atomic_load(&c->head) - tail;
    if (there == 0) return 0;
    struct header h;
    struct nnv_bytes copied[TEXTS];
    if (there > NNV_CHANNEL_RING || there < sizeof h) return -1;
    get(c, tail, &h, sizeof h);
    uint64_t n = record_bytes(&h), texts = n - sizeof h;
    if (n > there) return -1;
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
    texts_of(r, copied); /* the driver may go on writing where they were copied from */
    if (h.sum != sum_of(&h, copied, tail)) return -1;
    atomic_store(&c->tail, tail + n);
    atomic_fetch_add(&c->room, 1);
    if (atomic_load(&c->waiting)) futex_wake(&c->room);
    return 1;
}

bool nnv_channel_holds_only(const struct nnv_channel *c, const struct nnv_record *first) {
    const struct header h = header_of(first);
    for (uint64_t at = record_bytes(&h); at < NNV_CHANNEL_RING; at++)
        if (c->ring[at] != 0) return false;
    return true;
}

/* ----------------------------------------------------- the case that has begun */

static uint64_t sum_of_begun(const struct nnv_begun *b) {
    const uint64_t part[] = {b->index, b->start_ns, b->log_start, b->written};
    return nnv_hash_words(part, sizeof part);
}

void nnv_channel_begin(struct nnv_channel *c, const struct nnv_begun *b) {
    atomic_store(&c->current, b->index);
    atomic_store(&c->start_ns, b->start_ns);
    atomic_store(&c->log_start, b->log_start);
    atomic_store(&c->written, b->written);
    atomic_store(&c->begun_sum, sum_of_begun(b));
}

bool nnv_channel_begun(const struct nnv_channel *c, struct nnv_begun *b) {
    *b = (struct nnv_begun){.index = atomic_load(&c->current),
                            .start_ns = atomic_load(&c->start_ns),
                            .log_start = atomic_load(&c->log_start),
                            .written = atomic_load(&c->written)};
    return atomic_load(&c->begun_sum) == sum_of_begun(b);
}
