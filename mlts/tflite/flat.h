/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file flat.h Reads untrusted FlatBuffers: every offset is checked before it is followed.
 *
 * The first error is kept in the file, and whatever is read after it is empty, so that code that walks over a schema
 * needs no checks of its own: it looks at nnv_flat_failed() where it matters. There is no recursion over the file.
 */
#ifndef NNV_MLTS_FLAT_H
#define NNV_MLTS_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct nnv_flat {
    const uint8_t *data;
    size_t size;
    const char *place; /**< what is being read, for errors: "subgraph 0, operator 3"; the caller's, may be changed */
    struct nnv_err err;
};

/** A table; at 0 there is none, and all its fields are absent. */
struct nnv_flat_table {
    struct nnv_flat *file;
    uint32_t at, vtable, vtable_bytes, bytes;
};

/** Numbers or offsets in a row, not aligned. */
struct nnv_flat_vector {
    struct nnv_flat *file;
    uint32_t at;    /**< of the first element; 0: absent */
    uint32_t count; /**< 0 where absent */
    bool present;   /**< the field is there, though it may be empty */
};

/** Begins to read size bytes with this file identifier (4 characters): the root table. */
struct nnv_flat_table nnv_flat_root(struct nnv_flat *file, const void *data, size_t size, const char *identifier);
bool nnv_flat_failed(const struct nnv_flat *file);
/** Sets the file's error unless there is one: "place: message". */
void nnv_flat_fail(struct nnv_flat *file, const char *fmt, ...) NNV_PRINTF(2, 3);

/** True if the table stands in the file. */
static inline bool nnv_flat_present(struct nnv_flat_table t) { return t.at != 0; }
/** A field by its slot; what names it in errors. Absent: the default. */
int64_t nnv_flat_int(struct nnv_flat_table t, unsigned slot, unsigned bytes, bool is_signed, int64_t absent,
                     const char *what);
float nnv_flat_float(struct nnv_flat_table t, unsigned slot, float absent, const char *what);
struct nnv_flat_table nnv_flat_child(struct nnv_flat_table t, unsigned slot, const char *what);
/** A vector of elements of so many bytes (4 for offsets). */
struct nnv_flat_vector nnv_flat_vector_at(struct nnv_flat_table t, unsigned slot, unsigned element_bytes,
                                          const char *what);
/** A terminated string in the file; NULL: absent or failed. It may hold zero bytes: then it ends early. */
const char *nnv_flat_string(struct nnv_flat_table t, unsigned slot, const char *what);

/** Elements; i must be below count. */
int32_t nnv_flat_i32(struct nnv_flat_vector v, uint32_t i);
int64_t nnv_flat_i64(struct nnv_flat_vector v, uint32_t i);
float nnv_flat_f32(struct nnv_flat_vector v, uint32_t i);
/** Table i of a vector of offsets. */
struct nnv_flat_table nnv_flat_table_of(struct nnv_flat_vector v, uint32_t i, const char *what);
/** Where the elements are. */
static inline const uint8_t *nnv_flat_bytes(struct nnv_flat_vector v) { return v.file->data + v.at; }

#endif
