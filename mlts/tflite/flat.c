/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/tflite/flat.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_FILE = 16, OFFSET = 4 };

bool nnv_flat_failed(const struct nnv_flat *file) { return file->err.status != NNV_OK; }

void nnv_flat_fail(struct nnv_flat *file, const char *fmt, ...) {
    char text[512];
    va_list args;
    if (nnv_flat_failed(file)) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    nnv_err_set(&file->err, NNV_INVALID, "%s%s%s", file->place ? file->place : "", file->place ? ": " : "", text);
}

/** True if n bytes at `at` lie in the file. */
static bool within(const struct nnv_flat *f, uint64_t at, uint64_t n) { return at <= f->size && n <= f->size - at; }

/** A little-endian number of 1, 2, 4 or 8 bytes that lies in the file. */
static uint64_t number(const struct nnv_flat *f, uint64_t at, unsigned bytes) {
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)f->data[at + i] << 8 * i;
    return v;
}

static int64_t extended(uint64_t v, unsigned bytes) {
    uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return bytes == 8 ? (int64_t)v : (int64_t)(v ^ sign) - (int64_t)sign;
}

/** Follows the offset that stands at `at`; 0 with an error if it leads out of the file. */
static uint32_t follow(struct nnv_flat *f, uint64_t at, const char *what) {
    uint64_t offset = number(f, at, OFFSET), to = at + offset;
    if (offset >= OFFSET && within(f, to, OFFSET) && to % OFFSET == 0) return (uint32_t)to;
    nnv_flat_fail(f, "%s: offset %llu at byte %llu leads to no place of the file (%zu bytes)", what,
                  (unsigned long long)offset, (unsigned long long)at, f->size);
    return 0;
}

/** The table at a place of the file. */
static struct nnv_flat_table table_at(struct nnv_flat *f, uint32_t at, const char *what) {
    struct nnv_flat_table none = {.file = f}, t = {.file = f, .at = at};
    if (at == 0) return none;
    int64_t vtable = (int64_t)at - extended(number(f, at, OFFSET), OFFSET);
    if (vtable < 0 || vtable % 2 || !within(f, (uint64_t)vtable, 4)) {
        nnv_flat_fail(f, "%s: the table at byte %u has no vtable in the file", what, at);
        return none;
    }
    t.vtable = (uint32_t)vtable;
    t.vtable_bytes = (uint32_t)number(f, t.vtable, 2);
    t.bytes = (uint32_t)number(f, t.vtable + 2, 2);
    if (t.vtable_bytes < 4 || t.vtable_bytes % 2 || !within(f, t.vtable, t.vtable_bytes) || t.bytes < OFFSET ||
        !within(f, at, t.bytes)) {
        nnv_flat_fail(f, "%s: the table at byte %u, or its vtable, ends behind the file", what, at);
        return none;
    }
    return t;
}

struct nnv_flat_table nnv_flat_root(struct nnv_flat *f, const void *data, size_t size, const char *identifier) {
    *f = (struct nnv_flat){.data = data, .size = size};
    if (size < LEAST_FILE || size > INT32_MAX) {
        nnv_flat_fail(f, "%zu bytes are too %s for a file of this kind", size, size < LEAST_FILE ? "few" : "many");
    } else if (memcmp(f->data + 4, identifier, 4) != 0) {
        bool prefixed = memcmp(f->data + 8, identifier, 4) == 0;
        nnv_flat_fail(
            f, prefixed ? "it begins with its size; remove the first 4 bytes" : "it lacks the identifier %s at byte 4",
            identifier);
    }
    return nnv_flat_failed(f) ? (struct nnv_flat_table){.file = f} : table_at(f, follow(f, 0, "the root"), "the root");
}

/** Where a field lies, or 0: absent. */
static uint32_t field(struct nnv_flat_table t, unsigned slot, unsigned bytes, const char *what) {
    if (t.at == 0 || nnv_flat_failed(t.file) || 4 + 2 * slot + 2 > t.vtable_bytes) return 0;
    uint32_t offset = (uint32_t)number(t.file, t.vtable + 4 + 2 * slot, 2);
    if (offset == 0) return 0;
    if (offset < OFFSET || offset + bytes > t.bytes || (t.at + offset) % bytes) {
        nnv_flat_fail(t.file, "%s: it lies at byte %u of a table of %u, or is not aligned", what, offset, t.bytes);
        return 0;
    }
    return t.at + offset;
}

int64_t nnv_flat_int(struct nnv_flat_table t, unsigned slot, unsigned bytes, bool is_signed, int64_t absent,
                     const char *what) {
    uint32_t at = field(t, slot, bytes, what);
    if (at == 0) return absent;
    uint64_t v = number(t.file, at, bytes);
    return is_signed ? extended(v, bytes) : (int64_t)v;
}

static float to_float(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

float nnv_flat_float(struct nnv_flat_table t, unsigned slot, float absent, const char *what) {
    uint32_t at = field(t, slot, 4, what);
    return at ? to_float((uint32_t)number(t.file, at, 4)) : absent;
}

struct nnv_flat_table nnv_flat_child(struct nnv_flat_table t, unsigned slot, const char *what) {
    uint32_t at = field(t, slot, OFFSET, what);
    return table_at(t.file, at ? follow(t.file, at, what) : 0, what);
}

struct nnv_flat_vector nnv_flat_vector_at(struct nnv_flat_table t, unsigned slot, unsigned element_bytes,
                                          const char *what) {
    struct nnv_flat_vector v = {.file = t.file};
    uint32_t at = field(t, slot, OFFSET, what), start = at ? follow(t.file, at, what) : 0;
    if (start == 0) return v;
    uint64_t count = number(t.file, start, OFFSET);
    if (!within(t.file, (uint64_t)start + OFFSET, count * element_bytes)) {
        nnv_flat_fail(t.file, "%s: %llu elements do not fit into the file", what, (unsigned long long)count);
        return v;
    }
    return (struct nnv_flat_vector){t.file, start + OFFSET, (uint32_t)count, true};
}

const char *nnv_flat_string(struct nnv_flat_table t, unsigned slot, const char *what) {
    struct nnv_flat_vector v = nnv_flat_vector_at(t, slot, 1, what);
    if (!v.present) return NULL;
    if (!within(t.file, (uint64_t)v.at + v.count, 1) || t.file->data[v.at + v.count] != 0) {
        nnv_flat_fail(t.file, "%s: the string has no end", what);
        return NULL;
    }
    return (const char *)nnv_flat_bytes(v);
}

int32_t nnv_flat_i32(struct nnv_flat_vector v, uint32_t i) {
    return (int32_t)(uint32_t)number(v.file, v.at + 4 * (uint64_t)i, 4);
}

int64_t nnv_flat_i64(struct nnv_flat_vector v, uint32_t i) {
    return (int64_t)number(v.file, v.at + 8 * (uint64_t)i, 8);
}

float nnv_flat_f32(struct nnv_flat_vector v, uint32_t i) { return to_float((uint32_t)nnv_flat_i32(v, i)); }

struct nnv_flat_table nnv_flat_table_of(struct nnv_flat_vector v, uint32_t i, const char *what) {
    return table_at(v.file, follow(v.file, v.at + OFFSET * (uint64_t)i, what), what);
}
