/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGN = 64,
    FIRST_BLOCK = 64 * 1024 - ALIGN,
    HUGE_PAGE = 2 * 1024 * 1024,
    MOST_GROWTH = 16 * 1024 * 1024 - ALIGN
};

/* The header fills one aligned unit; the memory follows it. */
struct block {
    struct block *next;
    size_t size, used; /* of the memory */
};

struct nnv_arena {
    struct block *first, *current;
    size_t used;
};

_Static_assert(sizeof(struct block) <= ALIGN, "the block header must fit one unit");

/*
 * Arenas come and go, for each evaluation some: what the first blocks of a few were is kept for those to come. A
 * sanitizer is to see that a block is gone.
 */
#if defined(__SANITIZE_ADDRESS__)
enum { KEPT = 0 };
#else
enum { KEPT = 8 };
#endif
static _Atomic(struct block *) kept[KEPT + 1];

static struct block *take_kept(void) {
    struct block *b = NULL;
    for (int i = 0; i < KEPT && !b; i++)
        if (atomic_load(&kept[i])) b = atomic_exchange(&kept[i], NULL);
    return b;
}

static bool keep(struct block *b) {
    const bool fits = b->size == FIRST_BLOCK; /* once it is kept, another thread may have it */
    bool is_kept = false;
    for (int i = 0; fits && i < KEPT && !is_kept; i++) {
        struct block *none = NULL;
        is_kept = !atomic_load(&kept[i]) && atomic_compare_exchange_strong(&kept[i], &none, b);
    }
    return is_kept;
}

void *nnv_large_alloc(size_t bytes) {
    const size_t align = bytes < HUGE_PAGE ? ALIGN : HUGE_PAGE;
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t whole = (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, whole);
#ifdef MADV_HUGEPAGE
    if (p && align == HUGE_PAGE) (void)madvise(p, whole, MADV_HUGEPAGE); /* a wish */
#endif
    return p;
}

struct nnv_arena *nnv_arena_new(void) {
    return calloc(1, sizeof(struct nnv_arena));
}

void nnv_arena_free(struct nnv_arena *a) {
    if (!a) return;
    for (struct block *b = a->first; b;) {
        struct block *next = b->next;
        if (!keep(b)) free(b);
        b = next;
    }
    free(a);
}

void nnv_arena_reset(struct nnv_arena *a) {
    for (struct block *b = a->first; b; b = b->next) b->used = 0;
    a->current = a->first;
    a->used = 0;
}

/* Makes a block with room for need bytes the current one: a later one, or a new one. */
static struct block *next_block(struct nnv_arena *a, size_t need) {
    struct block *last = a->current;
    while (last && last->next) {
        last = last->next;
        if (last->size - last->used >= need) return a->current = last;
    }
    size_t size = last ? last->size * 2 + ALIGN : FIRST_BLOCK; /* with its header twice as large */
    if (size > MOST_GROWTH) size = MOST_GROWTH;
    if (size < need) size = need;
    struct block *b = size == FIRST_BLOCK ? take_kept() : NULL;
    if (!b) b = nnv_large_alloc(ALIGN + size);
    if (!b) return NULL;
    *b = (struct block){.size = size};
    if (last)
        last->next = b;
    else
        a->first = b;
    return a->current = b;
}

/* Bytes, not zeroed. */
static void *take(struct nnv_arena *a, size_t bytes, size_t align) {
    struct block *b = a->current;
    size_t at = b ? (b->used + align - 1) / align * align : 0; /* a block's size is a multiple of ALIGN */
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes += bytes == 0;
    if (!b || b->size - at < bytes) {
        b = next_block(a, (bytes + ALIGN - 1) / ALIGN * ALIGN);
        if (!b) return NULL;
        at = (b->used + align - 1) / align * align;
    }
    a->used += at + bytes - b->used;
    b->used = at + bytes;
    return (char *)b + ALIGN + at;
}

void *nnv_arena_alloc(struct nnv_arena *a, size_t count, size_t size) {
    size_t bytes;
    void *p = __builtin_mul_overflow(count, size, &bytes) ? NULL : take(a, bytes, ALIGN);
    return p ? memset(p, 0, bytes) : NULL;
}

void *nnv_arena_copy(struct nnv_arena *a, const void *src, size_t size) {
    void *p = take(a, size, ALIGN);
    if (p && size) memcpy(p, src, size);
    return p;
}

char *nnv_arena_strdup(struct nnv_arena *a, const char *s) {
    const size_t size = strlen(s) + 1;
    char *p = take(a, size, 1);
    return p ? memcpy(p, s, size) : NULL;
}

char *nnv_arena_printf(struct nnv_arena *a, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : take(a, (size_t)n + 1, 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

size_t nnv_arena_used(const struct nnv_arena *a) { return a->used; }

bool nnv_grow(struct nnv_arena *a, void *array, size_t n, size_t *cap, size_t size) {
    void *old;
    if (n < *cap) return true;
    size_t more = *cap ? *cap : 32;
    while (more <= n && more <= SIZE_MAX / 2) more *= 2;
    if (more <= *cap || more > SIZE_MAX / size) return false;
    memcpy(&old, array, sizeof old); /* a pointer to elements of any type */
    void *grown = a ? nnv_arena_alloc(a, more, size) : realloc(old, more * size);
    if (!grown) return false;
    if (a && *cap) memcpy(grown, old, *cap * size);
    if (!a) memset((char *)grown + *cap * size, 0, (more - *cap) * size);
    memcpy(array, &grown, sizeof grown);
    *cap = more;
    return true;
}
