/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text: numbers, and constants whose values stand in the metadata. */
#include <string.h>

#include "base/type.h"
#include "compiler/relay/text/parse.h"

struct nnv_relay_expr *nnv_relay_placed(struct nnv_relay_parser *p, struct nnv_relay_expr *e,
                                        struct nnv_relay_span span) {
    if (nnv_relay_got(p, e)) e->span = span;
    return e;
}

struct nnv_relay_expr *nnv_relay_scalar(struct nnv_relay_parser *p, enum nnv_relay_dtype dtype, const void *value,
                                        struct nnv_relay_span span) {
    struct nnv_relay_tensor *t = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_tensor, 1));
    if (t == NULL) return NULL;
    t->type = nnv_relay_tensor_type(p->m->arena, dtype, 0, NULL);
    t->bytes = nnv_relay_dtype_size(dtype);
    t->data = nnv_arena_copy(p->m->arena, value, t->bytes);
    return nnv_relay_placed(p, t->type && t->data ? nnv_relay_constant(p->m, t) : NULL, span);
}

/* The dtype that a number's suffix names, or `otherwise`. */
static bool suffix_of(struct nnv_relay_parser *p, enum nnv_relay_dtype otherwise, enum nnv_relay_dtype *dtype) {
    static const struct {
        char text[4];
        enum nnv_relay_dtype dtype;
    } known[] = {{"f", NNV_RELAY_FLOAT32},   {"f16", NNV_RELAY_FLOAT16}, {"f32", NNV_RELAY_FLOAT32},
                 {"f64", NNV_RELAY_FLOAT64}, {"i16", NNV_RELAY_INT16},   {"i32", NNV_RELAY_INT32},
                 {"i64", NNV_RELAY_INT64},   {"i8", NNV_RELAY_INT8},     {"u8", NNV_RELAY_UINT8}};
    size_t at = 0;
    while (at < p->tok.len && strchr("fiu", p->tok.text[at]) == NULL) at++;
    *dtype = otherwise;
    if (at == p->tok.len) return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *dtype = known[i].dtype;
        if (strlen(known[i].text) == p->tok.len - at && memcmp(known[i].text, p->tok.text + at, p->tok.len - at) == 0)
            return true;
    }
    return nnv_relay_parse_fail(p, &p->tok.span, "the suffix of the number names no type of scalars");
}

static struct nnv_relay_expr *integer(struct nnv_relay_parser *p, bool negative) {
    struct nnv_relay_span span = p->tok.span;
    enum nnv_relay_dtype dtype;
    int64_t v;
    if (!nnv_relay_whole(p, &v)) return NULL;
    if (!suffix_of(p, v > INT32_MAX ? NNV_RELAY_INT64 : NNV_RELAY_INT32, &dtype)) return NULL;
    size_t bits = nnv_relay_dtype_size(dtype) * 8;
    int64_t most = dtype == NNV_RELAY_UINT8 ? 255 : (int64_t)(UINT64_MAX >> (65 - bits));
    if (v - (negative && dtype != NNV_RELAY_UINT8) > most || (negative && v && dtype == NNV_RELAY_UINT8))
        return nnv_relay_parse_fail(p, &span, "the number does not fit in %s", nnv_relay_dtype_name(dtype));
    if (negative) v = -v;
    nnv_relay_next(p);
    return nnv_relay_scalar(p, dtype, &v, span); /* little-endian: the low bytes come first */
}

static struct nnv_relay_expr *real(struct nnv_relay_parser *p, bool negative) {
    struct nnv_relay_span span = p->tok.span;
    enum nnv_relay_dtype dtype = NNV_RELAY_FLOAT32;
    double v = nnv_relay_real(p);
    if (p->tok.kind == NNV_RELAY_REAL && !suffix_of(p, dtype, &dtype)) return NULL;
    if (!nnv_relay_dtype_is_float(dtype)) return nnv_relay_parse_fail(p, &span, "a fraction that is to be an integer");
    if (negative) v = -v;
    nnv_relay_next(p);
    if (dtype == NNV_RELAY_FLOAT64) return nnv_relay_scalar(p, dtype, &v, span);
    float single = (float)v;
    if (dtype == NNV_RELAY_FLOAT32) return nnv_relay_scalar(p, dtype, &single, span);
    uint16_t half = nnv_double_to_half(v);
    return nnv_relay_scalar(p, dtype, &half, span);
}

struct nnv_relay_expr *nnv_relay_parse_number(struct nnv_relay_parser *p) {
    bool negative = false;
    while (nnv_relay_take(p, "-")) negative = !negative;
    if (nnv_relay_at_real(p)) return real(p, negative);
    if (p->tok.kind == NNV_RELAY_WHOLE) return integer(p, negative);
    return nnv_relay_expected(p, "an expression");
}

struct nnv_relay_expr *nnv_relay_opaque(struct nnv_relay_parser *p, int64_t index, const struct nnv_relay_type *type,
                                        struct nnv_relay_span span) {
    for (size_t i = 0; i < p->n_opaque; i++)
        if (p->opaque[i]->index == index) return p->opaque[i]; /* one constant */
    struct nnv_relay_tensor *t = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_tensor, 1));
    struct nnv_relay_expr *e = t ? nnv_relay_placed(p, nnv_relay_constant(p->m, t), span) : NULL;
    if (e == NULL) return NULL;
    e->index = index;
    t->type = e->declared = type;
    if (!nnv_relay_parse_room(p, &p->opaque, p->n_opaque, &p->cap_opaque, sizeof(struct nnv_relay_expr *))) return NULL;
    p->opaque[p->n_opaque++] = e;
    return e;
}

struct nnv_relay_expr *nnv_relay_parse_opaque(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    const char *key;
    int64_t index;
    if (!nnv_relay_parse_meta(p, &key, &index)) return NULL;
    if (strcmp(key, "relay.Constant") != 0)
        return nnv_relay_parse_fail(p, &span, "metadata of kind %s can't stand for a value", key);
    return nnv_relay_opaque(p, index, nnv_relay_noted_type(p), span);
}
