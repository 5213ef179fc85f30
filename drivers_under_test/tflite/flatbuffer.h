/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flatbuffer.h Writing flatbuffers, from the root on: a reference is written as 0, and set when what it points to
 * is written behind it. Little-endian machines only, as NNAPI's drivers here.
 */
#ifndef TFLITE_FLATBUFFER_H
#define TFLITE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb {
    uint8_t *data; /**< to be freed */
    size_t size, room;
    bool failed; /**< out of memory, or beyond 2 GB: what follows does nothing */
};

/** A field of a table: a scalar of 1 or 4 bytes, or a reference (0). Fields that are absent have their default. */
struct fb_field {
    uint16_t id;
    uint8_t bytes;
    uint32_t value;
    size_t at; /**< out: of a reference, where it lies */
};

/** The header, with the file's identifier. Where the reference to the root lies. */
size_t fb_start(struct fb *b, const char identifier[4]);
/** A table; the reference at `from` is set to it. */
void fb_table(struct fb *b, size_t from, struct fb_field *fields, uint32_t count);
/** A vector of scalars of 1, 4 or 8 bytes, its first element at a multiple of `align`. */
void fb_vector(struct fb *b, size_t from, const void *elements, size_t element_bytes, size_t count, size_t align);
/** A vector of references: where the first lies; the others follow, 4 bytes each. */
size_t fb_references(struct fb *b, size_t from, uint32_t count);
/** Zeros behind all that was written. */
void fb_zeros(struct fb *b, size_t bytes);
void fb_string(struct fb *b, size_t from, const char *text);

#endif
