/* SPDX-License-Identifier: Apache-2.0 */
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

enum wire { VARINT = 0, LENGTH = 2, FIXED32 = 5 };

void pb_free(struct pb *b) {
    free(b->data);
    *b = (struct pb){0};
}

void pb_clear(struct pb *b) { b->size = 0; }

static void put(struct pb *b, const void *data, size_t bytes) {
    if (b->failed || bytes > INT32_MAX - b->size) {
        b->failed = true;
        return;
    }
    if (b->size + bytes > b->room) {
        const size_t room = 2 * (b->size + bytes);
        uint8_t *more = realloc(b->data, room);
        if (!more) {
            b->failed = true;
            return;
        }
        b->data = more;
        b->room = room;
    }
    if (bytes) memcpy(b->data + b->size, data, bytes);
    b->size += bytes;
}

/** Seven bits a byte, the lowest first. */
static void put_varint(struct pb *b, uint64_t value) {
    enum { BITS = 7, MORE = 0x80 };
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= MORE; value >>= BITS) bytes[n++] = (uint8_t)(value | MORE);
    bytes[n++] = (uint8_t)value;
    put(b, bytes, n);
}

static void put_tag(struct pb *b, uint32_t field, enum wire wire) { put_varint(b, field << 3 | (uint32_t)wire); }

void pb_int(struct pb *b, uint32_t field, int64_t value) {
    put_tag(b, field, VARINT);
    put_varint(b, (uint64_t)value);
}

void pb_float(struct pb *b, uint32_t field, float value) {
    put_tag(b, field, FIXED32);
    put(b, &value, sizeof value);
}

void pb_bytes(struct pb *b, uint32_t field, const void *data, size_t bytes) {
    put_tag(b, field, LENGTH);
    put_varint(b, bytes);
    put(b, data, bytes);
}

void pb_string(struct pb *b, uint32_t field, const char *text) { pb_bytes(b, field, text, strlen(text)); }

void pb_message(struct pb *b, uint32_t field, const struct pb *message) {
    b->failed = b->failed || message->failed;
    pb_bytes(b, field, message->data, message->size);
}

void pb_append(struct pb *b, const struct pb *message) {
    b->failed = b->failed || message->failed;
    put(b, message->data, message->size);
}
