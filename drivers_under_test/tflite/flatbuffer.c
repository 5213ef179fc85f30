/* SPDX-License-Identifier: Apache-2.0 */
#include "flatbuffer.h"

#include <stdlib.h>
#include <string.h>

/** Room for more bytes, zeroed, at the end. */
static size_t extend(struct fb *b, size_t bytes) {
    const size_t at = b->size;
    if (b->failed || bytes > INT32_MAX - at) return b->failed = true, 0;
    if (at + bytes > b->room) {
        const size_t room = (at + bytes) * 2;
        uint8_t *data = realloc(b->data, room);
        if (!data) return b->failed = true, 0;
        b->data = data;
        b->room = room;
    }
    memset(b->data + at, 0, bytes);
    b->size = at + bytes;
    return at;
}

/** The next byte lies at a multiple of `to`, less `less`. */
static void align(struct fb *b, size_t to, size_t less) {
    while (!b->failed && (b->size + less) % to) extend(b, 1);
}

static void put(struct fb *b, size_t at, uint64_t value, size_t bytes) {
    if (!b->failed) memcpy(b->data + at, &value, bytes);
}

static void point(struct fb *b, size_t from, size_t to) { put(b, from, to - from, 4); }

size_t fb_start(struct fb *b, const char identifier[4]) {
    const size_t at = extend(b, 8);
    if (!b->failed) memcpy(b->data + at + 4, identifier, 4);
    return at;
}

void fb_table(struct fb *b, size_t from, struct fb_field *fields, uint32_t count) {
    enum { CELL = 4 }; /* whatever the field: a byte is the first of its cell */
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].id >= slots) slots = fields[i].id + 1u;
    align(b, 4, 0);
    const size_t vtable = extend(b, 4 + 2 * (size_t)slots);
    put(b, vtable, 4 + 2 * slots, 2);
    put(b, vtable + 2, 4 + CELL * count, 2);
    align(b, 4, 0);
    const size_t table = extend(b, 4 + CELL * (size_t)count);
    put(b, table, table - vtable, 4);
    point(b, from, table);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].at = table + 4 + CELL * i;
        put(b, vtable + 4 + 2 * (size_t)fields[i].id, 4 + CELL * i, 2);
        put(b, fields[i].at, fields[i].value, fields[i].bytes);
    }
}

static size_t vector(struct fb *b, size_t from, size_t element_bytes, size_t count, size_t to) {
    align(b, to < 4 ? 4 : to, 4);
    const size_t at = extend(b, 4);
    put(b, at, count, 4);
    point(b, from, at);
    return element_bytes && count > INT32_MAX / element_bytes ? (b->failed = true, 0)
                                                              : extend(b, element_bytes * count);
}

void fb_vector(struct fb *b, size_t from, const void *elements, size_t element_bytes, size_t count, size_t to) {
    const size_t at = vector(b, from, element_bytes, count, to);
    if (!b->failed && count) memcpy(b->data + at, elements, element_bytes * count);
}

void fb_zeros(struct fb *b, size_t bytes) { extend(b, bytes); }

size_t fb_references(struct fb *b, size_t from, uint32_t count) { return vector(b, from, 4, count, 4); }

void fb_string(struct fb *b, size_t from, const char *text) {
    const size_t length = strlen(text);
    fb_vector(b, from, text, 1, length, 4);
    extend(b, 1);
}
