/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guard.h"

#include <string.h>

enum { ALIGN = 64, UNIT = 8, CHUNK = NNV_GUARD_BYTES + ALIGN };

/* Eight bytes that fill a zone, the byte at address x being pattern[x % 8]. */
struct pattern {
    unsigned char byte[UNIT];
};

static struct pattern guard_pattern(uint32_t salt) {
    uint64_t x = (salt + 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    x ^= x >> 29;
    struct pattern p;
    for (int i = 0; i < UNIT; i++) p.byte[i] = (unsigned char)(x >> (8 * i) | 1u);
    return p;
}

/* A NaN in float32 and float16 whatever the salt: an element never written does not look like a result. */
static struct pattern poison_pattern(uint32_t salt) {
    uint32_t x = (salt + 1) * 0x9e3779b1u;
    struct pattern p;
    for (int i = 0; i < UNIT; i++) {
        uint32_t bits = x >> (4 * i);
        p.byte[i] = (unsigned char)(i % 2 ? 0x7fu | bits << 7 : 0x80u | bits);
    }
    return p;
}

/* Fills n bytes of which the first is at phase `at` of the pattern: doubling copies, so as fast as memcpy. */
static void fill(unsigned char *to, size_t n, const struct pattern *p, size_t at) {
    size_t done = n < UNIT ? n : UNIT;
    for (size_t i = 0; i < done; i++) to[i] = p->byte[(at + i) % UNIT];
    while (done < n) {
        size_t step = done < n - done ? done : n - done;
        if (step > 4096) step = 4096;
        memcpy(to + done, to, step);
        done += step;
    }
}

/* Bytes from the end of the buffer to the end of its room. */
static size_t tail_bytes(size_t size) { return nnv_guard_room(size) - NNV_GUARD_BYTES - size; }

size_t nnv_guard_room(size_t size) {
    if (size > SIZE_MAX - 2 * NNV_GUARD_BYTES - ALIGN) return SIZE_MAX;
    return (NNV_GUARD_BYTES + size + NNV_GUARD_BYTES + ALIGN - 1) / ALIGN * ALIGN;
}

void nnv_guard_poison(void *buffer, size_t size, uint32_t salt) {
    struct pattern poison = poison_pattern(salt);
    fill(buffer, size, &poison, 0);
}

void *nnv_guard_init(void *room, size_t size, uint32_t salt) {
    struct pattern guard = guard_pattern(salt);
    unsigned char *head = room, *buffer = head + NNV_GUARD_BYTES;
    fill(head, NNV_GUARD_BYTES, &guard, 0);
    nnv_guard_poison(buffer, size, salt);
    fill(buffer + size, tail_bytes(size), &guard, size);
    return buffer;
}

/* Index of the first of n bytes that differs from the pattern, or n. */
static size_t first_change(const unsigned char *zone, size_t n, const struct pattern *p, size_t at) {
    unsigned char want[CHUNK];
    fill(want, n, p, at);
    if (memcmp(zone, want, n) == 0) return n;
    size_t i = 0;
    while (zone[i] == want[i]) i++;
    return i;
}

bool nnv_guard_check(const void *buffer, size_t size, uint32_t salt, int64_t *offset) {
    struct pattern guard = guard_pattern(salt);
    const unsigned char *head = (const unsigned char *)buffer - NNV_GUARD_BYTES;
    const unsigned char *tail = (const unsigned char *)buffer + size;
    size_t i = first_change(head, NNV_GUARD_BYTES, &guard, 0);
    if (i < NNV_GUARD_BYTES) {
        *offset = (int64_t)i - NNV_GUARD_BYTES;
        return false;
    }
    size_t n = tail_bytes(size);
    i = first_change(tail, n, &guard, size);
    if (i < n) *offset = (int64_t)(size + i);
    return i == n;
}

size_t nnv_guard_unwritten(const void *buffer, size_t size, uint32_t salt) {
    struct pattern poison = poison_pattern(salt);
    const unsigned char *byte = buffer;
    size_t n = 0, i = 0;
    for (; i + UNIT <= size; i += UNIT)
        for (size_t k = 0; k < UNIT; k++) n += byte[i + k] == poison.byte[k];
    for (size_t k = 0; i + k < size; k++) n += byte[i + k] == poison.byte[k];
    return n;
}
