/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/onnx/onnx_tensor.h"

#include <string.h>

#include "base/type.h"

/** By type: its name, its bits, and the field that holds its numbers where raw_data does not. */
enum { FLOAT_DATA = 4, INT32_DATA = 5, STRING_DATA = 6, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 };
static const struct type {
    const char *name;
    unsigned bits, field;
} types[NNV_ONNX_TYPES] = {
    [0] = {"UNDEFINED", 0, 0},          [1] = {"FLOAT", 32, FLOAT_DATA},    [2] = {"UINT8", 8, INT32_DATA},
    [3] = {"INT8", 8, INT32_DATA},      [4] = {"UINT16", 16, INT32_DATA},   [5] = {"INT16", 16, INT32_DATA},
    [6] = {"INT32", 32, INT32_DATA},    [7] = {"INT64", 64, INT64_DATA},    [8] = {"STRING", 0, STRING_DATA},
    [9] = {"BOOL", 8, INT32_DATA},      [10] = {"FLOAT16", 16, INT32_DATA}, [11] = {"DOUBLE", 64, DOUBLE_DATA},
    [12] = {"UINT32", 32, UINT64_DATA}, [13] = {"UINT64", 64, UINT64_DATA}, [14] = {"COMPLEX64", 64, 0},
    [15] = {"COMPLEX128", 128, 0},      [16] = {"BFLOAT16", 16, 0},         [17] = {"FLOAT8E4M3FN", 8, 0},
    [18] = {"FLOAT8E4M3FNUZ", 8, 0},    [19] = {"FLOAT8E5M2", 8, 0},        [20] = {"FLOAT8E5M2FNUZ", 8, 0},
    [21] = {"UINT4", 4, INT32_DATA},    [22] = {"INT4", 4, INT32_DATA},     [23] = {"FLOAT4E2M1", 4, 0},
    [24] = {"FLOAT8E8M0", 8, 0},        [25] = {"UINT2", 2, INT32_DATA},    [26] = {"INT2", 2, INT32_DATA},
};

unsigned nnv_onnx_type_bits(int type) { return type > 0 && type < NNV_ONNX_TYPES ? types[type].bits : 0; }

const char *nnv_onnx_type_name(int type) {
    return type >= 0 && type < NNV_ONNX_TYPES ? types[type].name : "an unknown type";
}

static uint64_t stored(const struct nnv_onnx_tensor *t, size_t i, unsigned bits) {
    uint64_t v = 0;
    if (bits < 8) return (uint64_t)(t->data[i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1));
    memcpy(&v, t->data + i * (bits / 8), bits / 8);
    return v;
}

int64_t nnv_onnx_int(const struct nnv_onnx_tensor *t, size_t i) {
    const unsigned bits = nnv_onnx_type_bits(t->type);
    const uint64_t v = stored(t, i, bits);
    const bool is_signed = t->type == NNV_ONNX_INT8 || t->type == NNV_ONNX_INT16 || t->type == NNV_ONNX_INT32 ||
                           t->type == NNV_ONNX_INT64 || t->type == NNV_ONNX_INT4 || t->type == NNV_ONNX_INT2;
    if (bits == 64 && !is_signed && v > INT64_MAX) return INT64_MAX;
    return is_signed && bits < 64 && v >> (bits - 1) ? (int64_t)(v - ((uint64_t)1 << bits)) : (int64_t)v;
}

double nnv_onnx_number(const struct nnv_onnx_tensor *t, size_t i) {
    const uint64_t v = t->type == NNV_ONNX_FLOAT || t->type == NNV_ONNX_DOUBLE || t->type == NNV_ONNX_FLOAT16
                           ? stored(t, i, nnv_onnx_type_bits(t->type))
                           : 0;
    float f;
    double d;
    switch (t->type) {
    case NNV_ONNX_FLOAT:
        memcpy(&f, &v, sizeof f);
        return (double)f;
    case NNV_ONNX_DOUBLE:
        memcpy(&d, &v, sizeof d);
        return d;
    case NNV_ONNX_FLOAT16:
        return nnv_half_to_double((uint16_t)v);
    default:
        return (double)nnv_onnx_int(t, i);
    }
}

/** Extents; false and an error if there are too many. */
static void read_dims(struct nnv_wire_span m, struct nnv_onnx_tensor *t) {
    struct nnv_wire_field f;
    uint64_t v = 0;
    while (nnv_wire_next(&m, &f)) {
        if (f.number != 1) continue;
        bool packed = f.kind == NNV_WIRE_BYTES;
        if (!packed && !nnv_wire_is(&m, &f, NNV_WIRE_VARINT)) return;
        while (packed ? nnv_wire_packed(&f.span, NNV_WIRE_VARINT, &v) : true) {
            if (!packed) v = f.value;
            if (v > INT32_MAX || t->rank == NNV_ONNX_MOST_RANK) {
                nnv_wire_fail(m.wire, "dimension %u of the tensor is not read", t->rank);
                return;
            }
            t->dims[t->rank++] = (uint32_t)v;
            if (!packed) break;
        }
    }
}

/** Elements and bytes by the shape. */
static bool measure(struct nnv_wire *wire, struct nnv_onnx_tensor *t) {
    enum { MOST = 1 << 30 };
    t->elems = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        t->elems *= t->dims[i];
        if (t->elems > MOST) nnv_wire_fail(wire, "a tensor of more than %d numbers is not read", MOST);
        if (t->elems > MOST) return false;
    }
    t->bytes = (t->elems * nnv_onnx_type_bits(t->type) + 7) / 8;
    return true;
}

/** The numbers of a typed field as raw data: each takes one entry, but those of 4 bits two a byte. */
static bool gather(struct nnv_wire_span m, struct nnv_arena *arena, struct nnv_onnx_tensor *t) {
    const struct type *type = &types[t->type];
    const enum nnv_wire_kind kind = type->field == FLOAT_DATA    ? NNV_WIRE_32
                                    : type->field == DOUBLE_DATA ? NNV_WIRE_64
                                                                 : NNV_WIRE_VARINT;
    const size_t size = type->bits < 8 ? 1 : type->bits / 8, want = type->bits < 8 ? t->bytes : t->elems;
    const size_t got = type->field ? nnv_wire_count(m, type->field, kind) : 0;
    struct nnv_wire_field f;
    size_t n = 0;
    if (got != want) {
        nnv_wire_fail(m.wire, "a tensor of %zu numbers holds %zu", t->elems, got);
        return true;
    }
    uint8_t *to = nnv_arena_alloc(arena, want, size);
    if (!to) return false;
    while (nnv_wire_next(&m, &f)) {
        if (f.number != type->field) continue;
        if (f.kind == NNV_WIRE_BYTES)
            for (uint64_t v; nnv_wire_packed(&f.span, kind, &v);) memcpy(to + n++ * size, &v, size);
        else if (nnv_wire_is(&m, &f, kind))
            memcpy(to + n++ * size, &f.value, size);
    }
    t->data = to;
    return true;
}

bool nnv_onnx_tensor_parse(struct nnv_wire_span m, struct nnv_arena *arena, struct nnv_onnx_tensor *t) {
    enum { DATA_TYPE = 2, SEGMENT = 3, NAME = 8, RAW = 9, LOCATION = 14 };
    struct nnv_wire_span walk = m, raw = {0};
    struct nnv_wire_field f;
    *t = (struct nnv_onnx_tensor){.name = ""};
    read_dims(m, t);
    while (nnv_wire_next(&walk, &f)) {
        if (f.number == DATA_TYPE && nnv_wire_is(&walk, &f, NNV_WIRE_VARINT))
            t->type = f.value < NNV_ONNX_TYPES ? (int)f.value : 0;
        if (f.number == SEGMENT) nnv_wire_fail(m.wire, "a tensor in segments is not read");
        if (f.number == RAW && nnv_wire_is(&walk, &f, NNV_WIRE_BYTES)) raw = f.span;
        if (f.number == LOCATION && nnv_wire_is(&walk, &f, NNV_WIRE_VARINT)) t->external = f.value == 1;
        if (f.number == NAME && nnv_wire_is(&walk, &f, NNV_WIRE_BYTES)) {
            char *name = nnv_arena_alloc(arena, nnv_wire_size(f.span) + 1, 1);
            if (!name) return false;
            memcpy(name, f.span.at, nnv_wire_size(f.span));
            t->name = name;
        }
    }
    if (nnv_wire_failed(m.wire) || !measure(m.wire, t)) return true;
    if (t->type == NNV_ONNX_UNDEFINED) nnv_wire_fail(m.wire, "a tensor has no type");
    if (nnv_wire_failed(m.wire) || t->external || types[t->type].bits == 0) return true;
    if (!raw.wire && types[t->type].field) return gather(m, arena, t);
    if (!raw.wire && t->elems > 0) return true; /* of a type that is not looked at */
    if (raw.wire && nnv_wire_size(raw) != t->bytes)
        nnv_wire_fail(m.wire, "a tensor of %zu bytes holds %zu", t->bytes, nnv_wire_size(raw));
    t->data = raw.wire ? raw.at : (const uint8_t *)"";
    return true;
}

enum nnv_status nnv_onnx_read_tensor(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                                     struct nnv_onnx_tensor *out, struct nnv_err *err) {
    struct nnv_wire wire = {.place = "tensor"};
    if (!nnv_onnx_tensor_parse(nnv_wire_open(&wire, data, size), arena, out))
        return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", where);
    return nnv_wire_failed(&wire) ? nnv_fail(err, NNV_INVALID, "%s: %s", where, wire.err.text) : NNV_OK;
}
