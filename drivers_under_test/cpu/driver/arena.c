/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 16384 };

struct cpu_chunk {
    struct cpu_chunk *next;
    size_t capacity;
    _Alignas(CPU_ALIGN) unsigned char bytes[];
};

static void *aligned(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    return aligned_alloc(CPU_ALIGN, (bytes + CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN);
}

static struct cpu_chunk *chunk_new(size_t capacity) {
    struct cpu_chunk *chunk = aligned(sizeof *chunk + capacity);
    if (chunk) chunk->capacity = capacity;
    return chunk;
}

void *cpu_arena_raw(struct cpu_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 4) {
        arena->failed = true;
        return NULL;
    }
    size_t need = (bytes + 2 * CPU_ALIGN - 1) / CPU_ALIGN * CPU_ALIGN;
    struct cpu_chunk *chunk = arena->first;
    if (!chunk || chunk->capacity - arena->used < need) {
        chunk = chunk_new(need > CHUNK_BYTES ? need : CHUNK_BYTES);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        chunk->next = arena->first;
        arena->first = chunk;
        arena->used = 0;
    }
    void *data = chunk->bytes + arena->used;
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

void cpu_arena_free(struct cpu_arena *arena) {
    while (arena->first) {
        struct cpu_chunk *next = arena->first->next;
        free(arena->first);
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
    void *data = aligned(bytes + CPU_ALIGN);
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
    for (size_t i = 0; i < blocks->count; i++) free(blocks->blocks[i].data);
    free(blocks->blocks);
    *blocks = (struct cpu_blocks){0};
}
