/* SPDX-License-Identifier: Apache-2.0 */
/** @file protobuf.h Writing protobuf messages: fields, one after the other; messages inside messages are copied. */
#ifndef ORT_PROTOBUF_H
#define ORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb {
    uint8_t *data;
    size_t size, room;
    bool failed; /**< out of memory, here or in a message that was copied: what follows does nothing */
};

void pb_free(struct pb *b);
/** Without contents, and ready for others. */
void pb_clear(struct pb *b);
void pb_int(struct pb *b, uint32_t field, int64_t value);
void pb_float(struct pb *b, uint32_t field, float value);
void pb_bytes(struct pb *b, uint32_t field, const void *data, size_t bytes);
void pb_string(struct pb *b, uint32_t field, const char *text);
void pb_message(struct pb *b, uint32_t field, const struct pb *message);
/** The fields of another message as this one's. */
void pb_append(struct pb *b, const struct pb *message);

#endif
