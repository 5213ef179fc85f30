/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text: types. */
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/text/parse.h"

/* Types up to `close`, on the pile from `mark` on. */
static bool parse_fields(struct nnv_relay_parser *p, const char *close) {
    while (!nnv_relay_take(p, close)) {
        const struct nnv_relay_type *t = nnv_relay_parse_type(p);
        if (t == NULL || !nnv_relay_pile(p, t)) return false;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, close)) return nnv_relay_must(p, close);
    }
    return true;
}

static bool parse_dim(struct nnv_relay_parser *p, int64_t *dim) {
    if (nnv_relay_take(p, "?")) {
        *dim = NNV_RELAY_ANY;
        return true;
    }
    if (nnv_relay_at(p, "meta")) { /* a symbolic dimension */
        const char *key;
        *dim = NNV_RELAY_ANY;
        int64_t index;
        return nnv_relay_parse_meta(p, &key, &index);
    }
    if (p->tok.kind != NNV_RELAY_WHOLE) return nnv_relay_expected(p, "a dimension (a number or '?')");
    if (!nnv_relay_whole(p, dim)) return false;
    nnv_relay_next(p);
    return true;
}

static bool parse_dtype(struct nnv_relay_parser *p, enum nnv_relay_dtype *dtype) {
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a type of elements, such as float32");
    if (!nnv_relay_dtype_by_name(p->tok.text, p->tok.len, dtype))
        return nnv_relay_parse_fail(p, &p->tok.span, "'%.*s' is no type of elements that is known",
                                    p->tok.len < 40 ? (int)p->tok.len : 40, p->tok.text);
    nnv_relay_next(p);
    return true;
}

/* Tensor[(dims), dtype], "Tensor" being taken. */
static const struct nnv_relay_type *parse_tensor(struct nnv_relay_parser *p) {
    int64_t dims[NNV_RELAY_RANK];
    size_t n = 0;
    enum nnv_relay_dtype dtype;
    if (!nnv_relay_must(p, "[") || !nnv_relay_must(p, "(")) return NULL;
    while (!nnv_relay_take(p, ")")) {
        if (n == NNV_RELAY_RANK)
            return nnv_relay_parse_fail(p, &p->tok.span, "a tensor has at most %d dimensions", NNV_RELAY_RANK);
        if (!parse_dim(p, &dims[n++])) return NULL;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    if (!nnv_relay_must(p, ",") || !parse_dtype(p, &dtype)) return NULL;
    const struct nnv_relay_type *t = nnv_relay_got(p, nnv_relay_tensor_type(p->m->arena, dtype, n, dims));
    size_t elems, bytes;
    bool known = t != NULL;
    for (size_t i = 0; i < n; i++) known = known && dims[i] >= 0;
    if (known && !nnv_relay_type_elems(t, &elems, &bytes))
        return nnv_relay_parse_fail(p, &p->tok.span, "the tensor is too large");
    return t && nnv_relay_must(p, "]") ? t : NULL;
}

/* fn (types) -> type, "fn" being taken. */
static const struct nnv_relay_type *parse_fn_type(struct nnv_relay_parser *p) {
    size_t mark = p->n_pile, n;
    if (nnv_relay_at(p, "["))
        return nnv_relay_parse_fail(p, &p->tok.span, "functions with type parameters are not supported");
    if (!nnv_relay_must(p, "(") || !parse_fields(p, ")") || !nnv_relay_must(p, "->")) return NULL;
    const struct nnv_relay_type *result = nnv_relay_parse_type(p);
    if (result == NULL) return NULL;
    const void *fields = nnv_relay_unpile(p, mark, &n);
    return nnv_relay_got(p, nnv_relay_fn_type(p->m->arena, n, fields, result));
}

static const struct nnv_relay_type *parse_tuple_type(struct nnv_relay_parser *p) {
    size_t mark = p->n_pile, n;
    if (!parse_fields(p, ")")) return NULL;
    const void *fields = nnv_relay_unpile(p, mark, &n);
    return nnv_relay_got(p, nnv_relay_tuple_type(p->m->arena, n, fields));
}

static const struct nnv_relay_type *parse_deep_type(struct nnv_relay_parser *p) {
    enum nnv_relay_dtype dtype;
    if (nnv_relay_take(p, "(")) return parse_tuple_type(p);
    if (nnv_relay_take(p, "fn")) return parse_fn_type(p);
    if (nnv_relay_take(p, "Tensor")) return parse_tensor(p);
    if (nnv_relay_take(p, "_")) {
        struct nnv_relay_type *t = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_type, 1));
        if (t) t->kind = NNV_RELAY_UNKNOWN;
        return t;
    }
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a type");
    if (!nnv_relay_dtype_by_name(p->tok.text, p->tok.len, &dtype))
        return nnv_relay_parse_fail(p, &p->tok.span, "'%.*s' is no type that is known",
                                    p->tok.len < 40 ? (int)p->tok.len : 40, p->tok.text);
    nnv_relay_next(p);
    return nnv_relay_got(p, nnv_relay_tensor_type(p->m->arena, dtype, 0, NULL));
}

const struct nnv_relay_type *nnv_relay_parse_type(struct nnv_relay_parser *p) {
    if (!nnv_relay_deeper(p)) return NULL;
    const struct nnv_relay_type *t = parse_deep_type(p);
    nnv_relay_higher(p);
    return t;
}

const struct nnv_relay_type *nnv_relay_noted_type(struct nnv_relay_parser *p) {
    static const char sign[] = "ty=";
    const char *note = p->tok.note, *end = note ? note + p->tok.note_len : NULL;
    while (note && note < end && *note == ' ') note++;
    if (note == NULL || (size_t)(end - note) < strlen(sign) || memcmp(note, sign, strlen(sign)) != 0) return NULL;
    struct nnv_relay_parser sub = {.m = p->m, .depth = p->depth};
    nnv_relay_lex_start(&sub.lexer, note + strlen(sign), (size_t)(end - note) - strlen(sign), false);
    nnv_relay_next(&sub);
    const struct nnv_relay_type *t = nnv_relay_parse_type(&sub);
    free(sub.pile);
    return sub.st == NNV_OK ? t : NULL;
}
