/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pool.c A pool whose parts are taken and given back in constant time: free parts lie in lists by size,
 * eight lists to a power of two, with a bit for each list that is not empty; neighbours that are free are joined.
 */
#include "reference/runtime/plan/planning.h"

#define NONE UINT32_MAX
enum { SUB = 3, LISTS = 64 << SUB, WORDS = LISTS / 64 };

struct piece {
    uint64_t offset, bytes;
    uint32_t left, right; /**< neighbours in the pool; right also links unused pieces */
    uint32_t prev, next;  /**< in the list of its size, while it is free */
    bool free;
};

struct nnv_rt_pool {
    struct piece *pieces;
    uint32_t count, unused, last;
    uint64_t bytes, highest;
    uint64_t words[WORDS];
    uint32_t lists[LISTS];
};

/** The list of a size in units of the alignment: its highest bit, and the three below. */
static uint32_t list_of(uint64_t bytes) {
    uint64_t units = bytes / NNV_RT_ALIGNMENT;
    if (units < 1u << SUB) return (uint32_t)units;
    uint32_t high = 63u - (uint32_t)__builtin_clzll(units);
    return ((high - SUB + 1) << SUB) + (uint32_t)((units >> (high - SUB)) & ((1u << SUB) - 1));
}

/** The first list all of whose parts have at least these bytes. */
static uint32_t list_that_fits(uint64_t bytes) {
    uint32_t list = list_of(bytes);
    uint64_t units = bytes / NNV_RT_ALIGNMENT;
    if (units < 1u << SUB) return list;
    uint32_t shift = (list >> SUB) - 1;
    return (units & ((UINT64_C(1) << shift) - 1)) == 0 ? list : list + 1;
}

struct nnv_rt_pool *nnv_rt_pool_new(uint32_t parts, struct nnv_arena *arena) {
    struct nnv_rt_pool *p = NNV_NEW(arena, struct nnv_rt_pool, 1);
    if (p == NULL) return NULL;
    p->pieces = NNV_NEW(arena, struct piece, (size_t)parts * 2 + 2);
    if (p->pieces == NULL) return NULL;
    p->unused = p->last = NONE;
    for (uint32_t i = 0; i < LISTS; i++) p->lists[i] = NONE;
    return p;
}

static uint32_t piece_new(struct nnv_rt_pool *p) {
    uint32_t i = p->unused;
    if (i == NONE) return p->count++;
    p->unused = p->pieces[i].right;
    return i;
}

static void set_free(struct nnv_rt_pool *p, uint32_t i) {
    struct piece *x = &p->pieces[i];
    uint32_t list = list_of(x->bytes);
    x->free = true;
    x->prev = NONE;
    x->next = p->lists[list];
    if (x->next != NONE) p->pieces[x->next].prev = i;
    p->lists[list] = i;
    p->words[list / 64] |= UINT64_C(1) << list % 64;
}

static void set_taken(struct nnv_rt_pool *p, uint32_t i) {
    struct piece *x = &p->pieces[i];
    uint32_t list = list_of(x->bytes);
    x->free = false;
    if (x->next != NONE) p->pieces[x->next].prev = x->prev;
    if (x->prev != NONE)
        p->pieces[x->prev].next = x->next;
    else
        p->lists[list] = x->next;
    if (p->lists[list] == NONE) p->words[list / 64] &= ~(UINT64_C(1) << list % 64);
}

/** A free piece of at least so many bytes, taken; NONE: there is none. */
static uint32_t find(struct nnv_rt_pool *p, uint64_t bytes) {
    uint32_t list = list_that_fits(bytes);
    for (uint32_t w = list / 64; w < WORDS; w++) {
        uint64_t word = p->words[w];
        if (w == list / 64) word &= UINT64_MAX << list % 64;
        if (word == 0) continue;
        uint32_t i = p->lists[w * 64 + (uint32_t)__builtin_ctzll(word)];
        set_taken(p, i);
        return i;
    }
    return NONE;
}

/** A piece of so many bytes at the end: what is free there grows. */
static uint32_t grow(struct nnv_rt_pool *p, uint64_t bytes) {
    uint32_t i = p->last;
    if (i != NONE && p->pieces[i].free) {
        set_taken(p, i);
        p->bytes = p->pieces[i].offset;
    } else {
        i = piece_new(p);
        p->pieces[i] = (struct piece){.offset = p->bytes, .left = p->last, .right = NONE};
        if (p->last != NONE) p->pieces[p->last].right = i;
        p->last = i;
    }
    p->pieces[i].bytes = bytes;
    p->bytes += bytes;
    if (p->bytes > p->highest) p->highest = p->bytes;
    return i;
}

/** Cuts what is beyond so many bytes off a piece. */
static void cut(struct nnv_rt_pool *p, uint32_t i, uint64_t bytes) {
    struct piece *x = &p->pieces[i];
    if (x->bytes == bytes) return;
    uint32_t rest = piece_new(p);
    p->pieces[rest] =
        (struct piece){.offset = x->offset + bytes, .bytes = x->bytes - bytes, .left = i, .right = x->right};
    if (x->right != NONE)
        p->pieces[x->right].left = rest;
    else
        p->last = rest;
    x->right = rest;
    x->bytes = bytes;
    set_free(p, rest);
}

uint32_t nnv_rt_pool_take(struct nnv_rt_pool *p, uint64_t bytes, uint64_t *offset) {
    if (bytes == 0) bytes = 1;
    bytes = (bytes + NNV_RT_ALIGNMENT - 1) / NNV_RT_ALIGNMENT * NNV_RT_ALIGNMENT;
    uint32_t i = find(p, bytes);
    if (i == NONE)
        i = grow(p, bytes);
    else
        cut(p, i, bytes);
    *offset = p->pieces[i].offset;
    return i;
}

/** Joins the right neighbour, which is free, to a piece. */
static void join_right(struct nnv_rt_pool *p, uint32_t i) {
    struct piece *x = &p->pieces[i];
    uint32_t gone = x->right;
    set_taken(p, gone);
    x->bytes += p->pieces[gone].bytes;
    x->right = p->pieces[gone].right;
    if (x->right != NONE)
        p->pieces[x->right].left = i;
    else
        p->last = i;
    p->pieces[gone].right = p->unused;
    p->unused = gone;
}

void nnv_rt_pool_give(struct nnv_rt_pool *p, uint32_t i) {
    if (p->pieces[i].right != NONE && p->pieces[p->pieces[i].right].free) join_right(p, i);
    uint32_t left = p->pieces[i].left;
    if (left != NONE && p->pieces[left].free) {
        set_taken(p, left);
        /* join_right takes the right one off its list, where it must be. */
        set_free(p, i);
        join_right(p, left);
        i = left;
    }
    set_free(p, i);
}

uint64_t nnv_rt_pool_bytes(const struct nnv_rt_pool *p) { return p->highest; }
