/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wire.h Reads untrusted protocol buffers, field by field; every length is checked.
 *
 * The first error is kept in the reader, and what is read after it is empty. Source: the encoding that
 * protobuf.dev/programming-guides/encoding describes.
 */
#ifndef NNV_MLTS_ONNX_WIRE_H
#define NNV_MLTS_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** What all messages of a file share. */
struct nnv_wire {
    const char *place; /**< what is being read, for errors; the caller's, may be changed */
    struct nnv_err err;
};

enum nnv_wire_kind { NNV_WIRE_VARINT = 0, NNV_WIRE_64 = 1, NNV_WIRE_BYTES = 2, NNV_WIRE_32 = 5 };

/** A message, or any run of bytes in the file. */
struct nnv_wire_span {
    struct nnv_wire *wire;
    const uint8_t *at, *end;
};

struct nnv_wire_field {
    uint32_t number;
    enum nnv_wire_kind kind;
    uint64_t value;            /**< of all kinds but bytes */
    struct nnv_wire_span span; /**< of bytes: a string, a message, or packed numbers */
};

bool nnv_wire_failed(const struct nnv_wire *w);
/** Sets the error unless there is one: "place: message". */
void nnv_wire_fail(struct nnv_wire *w, const char *fmt, ...) NNV_PRINTF(2, 3);
/** The message of size bytes at data. */
struct nnv_wire_span nnv_wire_open(struct nnv_wire *w, const void *data, size_t size);
/** Takes the next field; false at the end, or after an error. */
bool nnv_wire_next(struct nnv_wire_span *message, struct nnv_wire_field *field);
/** The field must be of this kind; false and an error otherwise. */
bool nnv_wire_is(const struct nnv_wire_span *message, const struct nnv_wire_field *field, enum nnv_wire_kind kind);
/** Takes a number from packed ones: a varint, or of 4 or 8 bytes. false at the end, or after an error. */
bool nnv_wire_packed(struct nnv_wire_span *numbers, enum nnv_wire_kind kind, uint64_t *value);
/** How many numbers of a field lie in the message, one by one and packed. */
size_t nnv_wire_count(struct nnv_wire_span message, uint32_t number, enum nnv_wire_kind kind);
/** A field that may be given at most once counts as its last: bytes, as those of the reader. */
static inline size_t nnv_wire_size(struct nnv_wire_span s) { return (size_t)(s.end - s.at); }

#endif
