/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/coverage/counters.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/** The counters of a shared object, as it told when it was loaded. */
static struct region {
    struct nnv_coverage_module m;
    uint8_t *counter;       /* one an edge: 0 until it is reached */
    const void *base;       /* where the file lies in memory */
    const uint32_t *guard;  /* of trace-pc-guard: the first of them; NULL: the counters are the object's own */
    const uintptr_t *table; /* pairs of address and flags, one an edge; NULL: there is none */
    uint64_t key;           /* of the path */
} region[NNV_COVERAGE_MODULES];
static uint32_t regions, edges;
static struct nnv_coverage_told *told;

/** A new region for the object that `inside` lies in; NULL: there is no room. */
static struct region *add(const void *inside, size_t count) {
    Dl_info info;
    if (count == 0 || regions == NNV_COVERAGE_MODULES || count > NNV_COVERAGE_EDGES - edges ||
        dladdr(inside, &info) == 0 || info.dli_fname == NULL || strlen(info.dli_fname) >= NNV_COVERAGE_PATH_BYTES)
        return NULL;
    struct region *r = &region[regions];
    *r = (struct region){
        .m = {.first = edges, .count = (uint32_t)count}, .base = info.dli_fbase, .key = nnv_hash_str(info.dli_fname)};
    memcpy(r->m.path, info.dli_fname, strlen(info.dli_fname));
    /* It stays when it is closed: its counters are read till the end. */
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return r;
}

/** The region is complete. */
static void enter(struct region *r) {
    edges += r->m.count;
    regions++;
}

/* ------------------------------------------------- what shared objects call */

/*
 * Weak: where nnvts itself is built with a sanitizer or a fuzzer, their functions of these names are meant, and nothing
 * is counted here.
 */
#define CALLBACK __attribute__((weak, visibility("default"))) void
CALLBACK __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end);
CALLBACK __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end);
CALLBACK __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
CALLBACK __sanitizer_cov_trace_pc_guard(uint32_t *guard);

CALLBACK __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end) {
    for (uint32_t i = 0; i < regions; i++)
        if (region[i].counter == start) return; /* each file of the object tells */
    struct region *r = add(start, (size_t)(end - start));
    if (r == NULL) return;
    r->counter = start;
    enter(r);
}

CALLBACK __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end) {
    Dl_info info;
    if (dladdr(start, &info) == 0) return;
    for (uint32_t i = 0; i < regions; i++)
        if (region[i].base == info.dli_fbase && region[i].m.count * (size_t)2 == (size_t)(end - start))
            region[i].table = start;
}

CALLBACK __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end) {
    struct region *r = start == end || *start != 0 ? NULL : add(start, (size_t)(end - start));
    if (r == NULL) return;
    r->guard = start;
    r->key = ~r->key; /* the object may have counters of its own, too */
    r->counter = calloc(r->m.count, sizeof *r->counter);
    if (r->counter == NULL) return;
    for (uint32_t i = 0; i < r->m.count; i++) start[i] = regions + 1;
    enter(r);
}

CALLBACK __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    if (*guard == 0 || *guard > regions) return;
    struct region *r = &region[*guard - 1];
    if (r->guard != NULL && guard >= r->guard && guard < r->guard + r->m.count) r->counter[guard - r->guard] = 1;
}

/* -------------------------------------------------------------- what is known */

uint32_t nnv_coverage_edges(void) { return edges; }

void nnv_coverage_tell_to(struct nnv_coverage_told *to) { told = to; }

/** Where the edge leads to in the file, as far as that is known; 0: it is not. */
static uint64_t place_of(const struct region *r, uint32_t i) {
    const uintptr_t at = r->table != NULL ? r->table[2 * (size_t)i] : 0;
    return at > (uintptr_t)r->base ? at - (uintptr_t)r->base : 0;
}

void nnv_coverage_tell(void) {
    if (told == NULL) return;
    for (uint32_t k = 0; k < regions; k++) {
        const struct region *r = &region[k];
        const bool fresh = k >= told->modules;
        if (fresh) told->module[k] = r->m;
        for (uint32_t i = 0; i < r->m.count; i++) {
            if (r->counter[i] != 0) told->reached[r->m.first + i] = 1;
            if (fresh) told->place[r->m.first + i] = place_of(r, i);
        }
        if (fresh) told->modules = k + 1;
    }
}

void nnv_coverage_forget(void) {
    nnv_coverage_tell();
    for (uint32_t k = 0; k < regions; k++) memset(region[k].counter, 0, region[k].m.count);
}

void nnv_coverage_each(void (*see)(void *context, uint64_t key), void *context) {
    for (uint32_t k = 0; k < regions; k++)
        for (uint32_t i = 0; i < region[k].m.count; i++)
            if (region[k].counter[i] != 0) see(context, region[k].key + 2 * (uint64_t)i);
}
