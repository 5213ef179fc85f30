/* SPDX-License-Identifier: Apache-2.0 */
/** @file guard.h Buffers with guard zones on both sides, poisoned before use and checked after. */
#ifndef NNV_BASE_GUARD_H
#define NNV_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NNV_GUARD_BYTES = 128 };

/** Bytes that a guarded buffer of size needs inside a pool: both guard zones and rounding to 64. */
size_t nnv_guard_room(size_t size);
/**
 * Lays out a buffer at the start of room (64-aligned): writes the guard patterns and poisons the
 * buffer with a pattern keyed by salt. Returns the buffer, NNV_GUARD_BYTES behind room.
 */
void *nnv_guard_init(void *room, size_t size, uint32_t salt);
/**
 * True if both guard zones are as they were written. Otherwise *offset is the byte offset of the first
 * change, relative to the start of the buffer (negative: before it; >= size: behind it).
 */
bool nnv_guard_check(const void *buffer, size_t size, uint32_t salt, int64_t *offset);
/** Fills size bytes with the poison of salt. */
void nnv_guard_poison(void *buffer, size_t size, uint32_t salt);
/** The number of bytes of the buffer that still hold the poison, for "never written" reports. */
size_t nnv_guard_unwritten(const void *buffer, size_t size, uint32_t salt);

#endif
