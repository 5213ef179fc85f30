/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK_BYTES = 16384, LARGE_PAGE = 2 << 20 };

struct cpu_chunk {
    struct cpu_chunk *next;
    size_t capacity;
    _Alignas(CPU_ALIGN) unsigned char bytes[];
};

static void *aligned(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    return aligned_alloc(CPU_ALIGN, (bytes + CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN);
}

/** What is mapped for so many bytes: whole pages, the last of them large where it would be half full. */
static size_t mapped_bytes(size_t bytes) {
    const size_t beyond = bytes % LARGE_PAGE, step = beyond >= LARGE_PAGE / 2 ? LARGE_PAGE : 65536;
    return (bytes + step - 1) / step * step;
}

void *cpu_pages_new(size_t bytes) {
    if (bytes < LARGE_PAGE || bytes > SIZE_MAX / 4) return aligned(bytes);
    const size_t size = mapped_bytes(bytes);
    char *all = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    const size_t before = (LARGE_PAGE - (uintptr_t)all % LARGE_PAGE) % LARGE_PAGE, behind = LARGE_PAGE - before;
    if (before) munmap(all, before);
    if (behind) munmap(all + before + size, behind);
    (void)madvise(all + before, size, MADV_HUGEPAGE); /* a wish */
    return all + before;
}

void cpu_pages_free(void *pages, size_t bytes) {
    if (!pages || bytes < LARGE_PAGE)
        free(pages);
    else
        munmap(pages, mapped_bytes(bytes));
}

static struct cpu_chunk *chunk_new(size_t capacity) {
    struct cpu_chunk *chunk = cpu_pages_new(sizeof *chunk + capacity);
    if (chunk) chunk->capacity = capacity;
    return chunk;
}

static void chunk_free(struct cpu_chunk *chunk) { cpu_pages_free(chunk, sizeof *chunk + chunk->capacity); }

static bool add_chunk(struct cpu_arena *arena, size_t capacity) {
    struct cpu_chunk *chunk = chunk_new(capacity);
    if (!chunk) return false;
    chunk->next = arena->first;
    arena->first = chunk;
    arena->used = 0;
    return true;
}

void cpu_arena_reserve(struct cpu_arena *arena, size_t bytes) {
    if (bytes > CHUNK_BYTES && bytes < SIZE_MAX / 8) (void)add_chunk(arena, bytes);
}

void *cpu_arena_raw(struct cpu_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 4) {
        arena->failed = true;
        return NULL;
    }
    size_t need = (bytes + 2 * CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN;
    const struct cpu_chunk *chunk = arena->first;
    if ((!chunk || chunk->capacity - arena->used < need) &&
        !add_chunk(arena, need > CHUNK_BYTES ? need : CHUNK_BYTES)) {
        arena->failed = true;
        return NULL;
    }
    void *data = arena->first->bytes + arena->used;
    arena->used += need;
    return data;
}

void *cpu_arena_alloc(struct cpu_arena *arena, size_t bytes) {
    void *data = cpu_arena_raw(arena, bytes);
    return data ? memset(data, 0, bytes) : NULL;
}

void *cpu_arena_array(struct cpu_arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 4 / size) {
        arena->failed = true;
        return NULL;
    }
    return cpu_arena_alloc(arena, count * size);
}

void cpu_arena_adopt(struct cpu_arena *arena, void *pages, size_t bytes) {
    arena->adopted = pages;
    arena->adopted_bytes = bytes;
}

void cpu_arena_free(struct cpu_arena *arena) {
    cpu_pages_free(arena->adopted, arena->adopted_bytes);
    while (arena->first) {
        struct cpu_chunk *next = arena->first->next;
        chunk_free(arena->first);
        arena->first = next;
    }
    *arena = (struct cpu_arena){0};
}

/** The smallest free block that holds bytes without wasting more than it needs; NULL if there is none. */
static struct cpu_block *fitting(struct cpu_blocks *blocks, size_t bytes) {
    struct cpu_block *best = NULL;
    for (size_t i = 0; i < blocks->count; i++) {
        struct cpu_block *b = &blocks->blocks[i];
        if (b->used || b->capacity < bytes || b->capacity / 4 > bytes + 1024) continue;
        if (!best || b->capacity < best->capacity) best = b;
    }
    return best;
}

void *cpu_blocks_get(struct cpu_blocks *blocks, size_t bytes) {
    if (bytes > SIZE_MAX / 4) return NULL;
    struct cpu_block *b = fitting(blocks, bytes);
    if (b) {
        b->used = true;
        return b->data;
    }
    struct cpu_block *grown = realloc(blocks->blocks, (blocks->count + 1) * sizeof *grown);
    if (!grown) return NULL;
    blocks->blocks = grown;
    void *data = cpu_pages_new(bytes + CPU_ALIGN);
    if (!data) return NULL;
    grown[blocks->count++] = (struct cpu_block){.data = data, .capacity = bytes, .used = true};
    return data;
}

void cpu_blocks_put(struct cpu_blocks *blocks, const void *data) {
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->blocks[i].data == data) blocks->blocks[i].used = false;
}

void cpu_blocks_reset(struct cpu_blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++) blocks->blocks[i].used = false;
}

void cpu_blocks_free(struct cpu_blocks *blocks) {
    for (size_t i = 0; i < blocks->count; i++)
        cpu_pages_free(blocks->blocks[i].data, blocks->blocks[i].capacity + CPU_ALIGN);
    free(blocks->blocks);
    *blocks = (struct cpu_blocks){0};
}
