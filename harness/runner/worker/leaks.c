/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/leaks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/rng.h"
#include "harness/journal/verdict.h"

enum {
    REPEATS = 32,           /* of a case, all of which must leave more behind */
    LEAST_REPEATS = 8,      /* of a slow one */
    REPEATS_OF_BYTES = 512, /* where memory grows, at least */
    KNOWN = 3,              /* leaks after which a driver is known for it, and 32 tell */
    MOST_POOLS = 8,         /* cases that filled a pool for so long: memory tells nothing then */
    MOST_FOUND = 16,        /* leaks that a worker bears */
    ONE_IN = 256,           /* cases by their names */
    FEW = 64,               /* cases of a suite, all of which are watched */
};

static const unsigned ONE_BY_ONE = 1u << NNV_HELD_DESCRIPTORS | 1u << NNV_HELD_THREADS | 1u << NNV_HELD_OBJECTS;
static const uint64_t SETTLE_NS = 50000000;

/* ----------------------------------------------------------------------- which */

/** The number of "suite/op" in the map; NNV_MAP_NONE: out of memory. */
static uint32_t add_group(struct nnv_map *groups, struct nnv_arena *arena, const char *suite, const char *op) {
    char key[256];
    snprintf(key, sizeof key, "%s/%s", suite, op);
    const uint32_t found = nnv_map_find(groups, key);
    const char *kept = found == NNV_MAP_NONE ? nnv_arena_strdup(arena, key) : key;
    return found != NNV_MAP_NONE ? found : kept != NULL ? nnv_map_add(groups, kept) : NNV_MAP_NONE;
}

/** How many cases the suite has that begins at case `at`: those of a suite stand together. */
static size_t size_of_suite(const struct nnv_case *cases, size_t count, size_t at) {
    size_t n = 1;
    while (at + n < count && strcmp(cases[at + n].suite, cases[at].suite) == 0) n++;
    return n;
}

enum nnv_status nnv_leaks_choose(const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                                 bool *watched, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_map groups = {.arena = arena};
    enum nnv_status st = arena != NULL ? NNV_OK : nnv_no_memory(err);
    const struct nnv_case *last = NULL; /* whose group was looked for last; neighbours share their strings */
    size_t size = 0, end = 0;
    for (size_t i = 0; i < count && st == NNV_OK; i++) {
        if (i == end) end += size = size_of_suite(cases, count, i);
        watched[i] = config->leaks == NNV_LEAKS_ALL ||
                     (config->leaks == NNV_LEAKS_SOME &&
                      (size <= FEW || nnv_hash_bytes(cases[i].name, strlen(cases[i].name)) % ONE_IN == 0));
        if (config->leaks != NNV_LEAKS_SOME || watched[i]) continue;
        if (last != NULL && last->suite == cases[i].suite && last->op == cases[i].op) continue;
        last = &cases[i];
        const uint32_t before = groups.count;
        if (add_group(&groups, arena, cases[i].suite, cases[i].op) == NNV_MAP_NONE) st = nnv_no_memory(err);
        watched[i] = groups.count > before;
    }
    nnv_arena_free(arena);
    return st;
}

/* -------------------------------------------------------------------- one case */

void nnv_leaks_begin(struct nnv_leaks *l) { nnv_held_count(l->held); }

/** A bit for each kind of which there is more now. */
static unsigned grown(const uint64_t before[NNV_HELD_KINDS], const uint64_t now[NNV_HELD_KINDS]) {
    unsigned kinds = 0;
    for (unsigned k = 0; k < NNV_HELD_KINDS; k++) kinds |= (unsigned)(now[k] > before[k]) << k;
    return kinds;
}

/** Whether it has grown often enough since the first count. */
static bool is_leak(const struct nnv_leaks *l, unsigned kinds, unsigned repeats, const uint64_t first[NNV_HELD_KINDS]) {
    if ((kinds & ONE_BY_ONE) != 0 || l->known + l->found >= KNOWN) return repeats >= REPEATS;
    const unsigned k = (unsigned)__builtin_ctz(kinds);
    return repeats >= REPEATS_OF_BYTES && nnv_held_is_leak(repeats, l->held[k] - first[k]);
}

/** Runs the case again while those kinds grow each time. Returns which did often enough, in *repeats runs. */
static unsigned repeat(struct nnv_leaks *l, unsigned kinds, uint64_t timeout_ns, bool (*again)(void *context),
                       void *context, unsigned *repeats) {
    const uint64_t until = nnv_now_ns() + timeout_ns / 2;
    uint64_t first[NNV_HELD_KINDS], previous[NNV_HELD_KINDS];
    memcpy(first, l->held, sizeof first);
    for (*repeats = 0; kinds != 0; ++*repeats) {
        if (is_leak(l, kinds, *repeats, first)) return kinds;
        if (*repeats >= LEAST_REPEATS && nnv_now_ns() > until) break;
        if (*repeats == REPEATS && l->pools == MOST_POOLS) break;
        memcpy(previous, l->held, sizeof previous);
        if (!again(context)) return 0;
        nnv_held_count(l->held);
        kinds &= grown(previous, l->held);
    }
    l->pools += *repeats > REPEATS && l->pools < MOST_POOLS;
    return kinds & ONE_BY_ONE;
}

/** What a driver gives back behind the call has time to go; what half of the repeats have left stays. */
static unsigned settle(struct nnv_leaks *l, const uint64_t first[NNV_HELD_KINDS], unsigned repeats, unsigned kinds) {
    uint64_t limit[NNV_HELD_KINDS];
    for (unsigned k = 0; k < NNV_HELD_KINDS; k++) limit[k] = first[k] + repeats / 2;
    for (const uint64_t end = nnv_now_ns() + SETTLE_NS; kinds != 0 && nnv_now_ns() < end;) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        nnv_held_count(l->held);
        kinds &= grown(limit, l->held);
    }
    return kinds;
}

void nnv_leaks_end(struct nnv_leaks *l, uint64_t timeout_ns, bool (*again)(void *context), void *context,
                   struct nnv_result *r) {
    uint64_t first[NNV_HELD_KINDS];
    unsigned repeats;
    memcpy(first, l->held, sizeof first);
    nnv_held_count(l->held);
    unsigned kinds = grown(first, l->held);
    if (kinds == 0 || r->worker_damaged || nnv_verdict_bad((enum nnvts_verdict)r->verdict)) return;
    memcpy(first, l->held, sizeof first);
    kinds = repeat(l, kinds, timeout_ns, again, context, &repeats);
    if (kinds != 0 && l->known + l->found < KNOWN) kinds = settle(l, first, repeats, kinds);
    if (kinds == 0) return;
    const unsigned k = (unsigned)__builtin_ctz(kinds);
    nnv_text_clear(&r->reason);
    nnv_result_end(r, NNVTS_WHY_LEAK,
                   "the driver keeps %s: the case %u times more took %" PRIu64 " of them; a driver must %s",
                   nnv_held_words[k].name, repeats, l->held[k] - first[k], nnv_held_words[k].duty);
    r->worker_damaged = ++l->found == MOST_FOUND;
}
