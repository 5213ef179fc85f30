/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/onnx/wire.h"

#include <stdarg.h>
#include <stdio.h>

bool nnv_wire_failed(const struct nnv_wire *w) { return w->err.text[0] != '\0'; }

void nnv_wire_fail(struct nnv_wire *w, const char *fmt, ...) {
    if (nnv_wire_failed(w)) return;
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    nnv_err_set(&w->err, NNV_INVALID, "%s: %s", w->place, text);
}

struct nnv_wire_span nnv_wire_open(struct nnv_wire *w, const void *data, size_t size) {
    const uint8_t *at = data;
    return (struct nnv_wire_span){w, at, at ? at + size : at};
}

/** Seven bits a byte, the lowest first. */
static uint64_t varint(struct nnv_wire_span *s) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (s->at == s->end) break;
        const uint8_t b = *s->at++;
        if (shift == 63 && b > 1) break;
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128) return v;
    }
    nnv_wire_fail(s->wire, "a number is cut off or longer than 64 bits");
    return 0;
}

static uint64_t fixed(struct nnv_wire_span *s, unsigned bytes) {
    uint64_t v = 0;
    if (nnv_wire_size(*s) < bytes) {
        nnv_wire_fail(s->wire, "a number of %u bytes is cut off", bytes);
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)s->at[i] << 8 * i;
    s->at += bytes;
    return v;
}

static uint64_t number(struct nnv_wire_span *s, enum nnv_wire_kind kind) {
    return kind == NNV_WIRE_VARINT ? varint(s) : fixed(s, kind == NNV_WIRE_64 ? 8 : 4);
}

bool nnv_wire_next(struct nnv_wire_span *m, struct nnv_wire_field *field) {
    enum { MOST_FIELD = 1 << 29 };
    if (nnv_wire_failed(m->wire) || m->at == m->end) return false;
    const uint64_t key = varint(m), kind = key & 7;
    *field = (struct nnv_wire_field){.kind = (enum nnv_wire_kind)kind, .span = {m->wire, m->at, m->at}};
    if (key >> 3 == 0 || key >> 3 >= MOST_FIELD)
        nnv_wire_fail(m->wire, "%llu is no field", (unsigned long long)(key >> 3));
    else if (kind != NNV_WIRE_VARINT && kind != NNV_WIRE_64 && kind != NNV_WIRE_32 && kind != NNV_WIRE_BYTES)
        nnv_wire_fail(m->wire, "field %u is of kind %u, which is not read", (unsigned)(key >> 3), (unsigned)kind);
    if (nnv_wire_failed(m->wire)) return false;
    field->number = (uint32_t)(key >> 3);
    if (kind != NNV_WIRE_BYTES) {
        field->value = number(m, field->kind);
        return !nnv_wire_failed(m->wire);
    }
    const uint64_t size = varint(m);
    if (!nnv_wire_failed(m->wire) && size > nnv_wire_size(*m))
        nnv_wire_fail(m->wire, "field %u has %llu bytes, but only %zu follow", field->number, (unsigned long long)size,
                      nnv_wire_size(*m));
    if (nnv_wire_failed(m->wire)) return false;
    field->span = (struct nnv_wire_span){m->wire, m->at, m->at + size};
    m->at += size;
    return true;
}

bool nnv_wire_is(const struct nnv_wire_span *m, const struct nnv_wire_field *field, enum nnv_wire_kind kind) {
    if (field->kind == kind) return true;
    nnv_wire_fail(m->wire, "field %u is of kind %d, expected %d", field->number, (int)field->kind, (int)kind);
    return false;
}

bool nnv_wire_packed(struct nnv_wire_span *s, enum nnv_wire_kind kind, uint64_t *value) {
    if (nnv_wire_failed(s->wire) || s->at == s->end) return false;
    *value = number(s, kind);
    return !nnv_wire_failed(s->wire);
}

size_t nnv_wire_count(struct nnv_wire_span m, uint32_t field_number, enum nnv_wire_kind kind) {
    struct nnv_wire_field f;
    size_t n = 0;
    uint64_t v;
    while (nnv_wire_next(&m, &f)) {
        if (f.number != field_number) continue;
        if (f.kind == NNV_WIRE_BYTES && kind != NNV_WIRE_BYTES)
            while (nnv_wire_packed(&f.span, kind, &v)) n++;
        else
            n++;
    }
    return n;
}
