/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text: types, and values of attributes, which TVMScript has, too. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/text/relax.h"

bool nnv_relay_whole(struct nnv_relay_parser *p, int64_t *value) {
    int64_t v = 0;
    for (size_t i = 0; i < p->tok.len && p->tok.text[i] >= '0' && p->tok.text[i] <= '9'; i++) {
        if (!__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, p->tok.text[i] - '0', &v)) continue;
        return nnv_relay_parse_fail(p, &p->tok.span, "the number is above 9223372036854775807");
    }
    *value = v;
    return true;
}

double nnv_relay_real(const struct nnv_relay_parser *p) {
    char digits[64];
    size_t n = p->tok.len < sizeof digits ? p->tok.len : sizeof digits - 1;
    memcpy(digits, p->tok.text, n);
    digits[n] = '\0';
    return strtod(digits, NULL); /* stops at the suffix */
}

/* -------------------------------------------------------------------- types */

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

/* --------------------------------------------------------------- attributes */

/** True if this mark or word follows the token in hand. */
static bool relay_is_next(const struct nnv_relay_parser *p, const char *text) {
    struct nnv_relay_lexer ahead = p->lexer;
    struct nnv_relay_token t = nnv_relay_lex(&ahead);
    return nnv_relay_lex_is(&t, text);
}

bool nnv_relay_at_key(const struct nnv_relay_parser *p) {
    return p->tok.kind == NNV_RELAY_WORD && relay_is_next(p, "=");
}

bool nnv_relay_parse_meta(struct nnv_relay_parser *p, const char **key, int64_t *index) {
    nnv_relay_next(p); /* meta */
    if (!nnv_relay_must(p, "[")) return false;
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a kind of metadata, such as relay.Constant");
    *key = nnv_relay_token_name(p);
    nnv_relay_next(p);
    if (!*key || !nnv_relay_must(p, "]") || !nnv_relay_must(p, "[")) return false;
    if (p->tok.kind != NNV_RELAY_WHOLE) return nnv_relay_expected(p, "a number in the metadata");
    if (!nnv_relay_whole(p, index)) return false;
    nnv_relay_next(p);
    return nnv_relay_must(p, "]");
}

/* The string in hand without its escapes. */
static const char *unescaped(struct nnv_relay_parser *p) {
    char *s = nnv_relay_got(p, nnv_arena_alloc(p->m->arena, p->tok.len + 1, 1));
    size_t n = 0;
    if (s == NULL) return NULL;
    for (size_t i = 0; i < p->tok.len; i++) {
        char c = p->tok.text[i];
        if (c == '\\' && i + 1 < p->tok.len) {
            c = p->tok.text[++i];
            if (c == 'n') c = '\n';
        }
        s[n++] = c;
    }
    return s;
}

/* Values up to `close`, the opening mark being taken. */
static bool parse_list(struct nnv_relay_parser *p, const char *close, struct nnv_relay_value *value) {
    size_t mark = p->n_pile;
    while (!nnv_relay_take(p, close)) {
        struct nnv_relay_value *v = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_value, 1));
        if (v == NULL || !nnv_relay_parse_value(p, v) || !nnv_relay_pile(p, v)) return false;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, close)) return nnv_relay_must(p, close);
    }
    *value = (struct nnv_relay_value){.kind = NNV_RELAY_LIST};
    struct nnv_relay_value *const *values = nnv_relay_unpile(p, mark, &value->n);
    struct nnv_relay_value *list = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_value, value->n));
    for (size_t i = 0; list && i < value->n; i++) list[i] = *values[i];
    value->list = list;
    return list != NULL;
}

static bool parse_number(struct nnv_relay_parser *p, struct nnv_relay_value *value) {
    bool negative = false;
    while (nnv_relay_take(p, "-")) negative = !negative;
    if (p->tok.kind == NNV_RELAY_WHOLE) {
        value->kind = NNV_RELAY_INT;
        if (!nnv_relay_whole(p, &value->i)) return false;
        if (negative) value->i = -value->i;
    } else if (p->tok.kind == NNV_RELAY_REAL || nnv_relay_at(p, "inff") || nnv_relay_at(p, "nanf")) {
        value->kind = NNV_RELAY_FLOAT;
        value->f = p->tok.kind == NNV_RELAY_REAL ? nnv_relay_real(p) : nnv_relay_at(p, "inff") ? INFINITY : NAN;
        if (negative) value->f = -value->f;
    } else {
        return nnv_relay_expected(p, "a value of an attribute");
    }
    nnv_relay_next(p);
    return true;
}

static bool parse_deep_value(struct nnv_relay_parser *p, struct nnv_relay_value *value) {
    if (nnv_relay_take(p, "[")) return parse_list(p, "]", value);
    if (nnv_relay_take(p, "(")) return parse_list(p, ")", value);
    if (nnv_relay_at(p, "meta")) {
        value->kind = NNV_RELAY_META;
        return nnv_relay_parse_meta(p, &value->text, &value->i);
    }
    if (p->tok.kind == NNV_RELAY_QUOTED) {
        value->kind = NNV_RELAY_STRING;
        value->text = unescaped(p);
    } else if (nnv_relay_at(p, "None") || nnv_relay_at(p, "nullptr")) {
        value->kind = NNV_RELAY_NONE;
    } else if (nnv_relay_at(p, "True") || nnv_relay_at(p, "False")) {
        value->kind = NNV_RELAY_TRUTH;
        value->i = nnv_relay_at(p, "True");
    } else if (p->lexer.script && p->tok.kind == NNV_RELAY_WORD && relay_is_next(p, "(")) {
        return nnv_relax_parse_wrapped(p, value);
    } else if (p->tok.kind == NNV_RELAY_WORD && !nnv_relay_at(p, "inff") && !nnv_relay_at(p, "nanf")) {
        value->kind = NNV_RELAY_STRING;
        value->text = nnv_relay_token_name(p);
    } else {
        return parse_number(p, value);
    }
    nnv_relay_next(p);
    return p->st == NNV_OK;
}

bool nnv_relay_parse_value(struct nnv_relay_parser *p, struct nnv_relay_value *value) {
    *value = (struct nnv_relay_value){0};
    if (!nnv_relay_deeper(p)) return false;
    bool ok = parse_deep_value(p, value) && (!p->lexer.script || nnv_relax_parse_symbolic(p, value));
    nnv_relay_higher(p);
    return ok;
}

bool nnv_relay_parse_attrs(struct nnv_relay_parser *p, struct nnv_relay_attr **attrs, size_t *n) {
    size_t mark = p->n_pile;
    do {
        if (!nnv_relay_at_key(p)) return nnv_relay_expected(p, "an attribute (KEY=VALUE)");
        struct nnv_relay_attr *a = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_attr, 1));
        if (a == NULL || (a->key = nnv_relay_token_name(p)) == NULL) return false;
        for (size_t i = mark; i < p->n_pile; i++)
            if (((struct nnv_relay_attr *)p->pile[i])->key == a->key)
                return nnv_relay_parse_fail(p, &p->tok.span, "attribute %s is there twice", a->key);
        nnv_relay_next(p);
        if (!nnv_relay_must(p, "=") || !nnv_relay_parse_value(p, &a->value) || !nnv_relay_pile(p, a)) return false;
    } while (nnv_relay_take(p, ","));
    struct nnv_relay_attr *const *read = nnv_relay_unpile(p, mark, n);
    *attrs = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_attr, *n));
    for (size_t i = 0; *attrs && i < *n; i++) (*attrs)[i] = *read[i];
    return *attrs != NULL;
}
