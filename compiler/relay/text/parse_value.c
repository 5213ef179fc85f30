/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text and TVMScript: numbers, keys, values of attributes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/text/parse.h"

bool nnv_relay_whole(struct nnv_relay_parser *p, int64_t *value) {
    int64_t v = 0;
    for (size_t i = 0; i < p->tok.len && p->tok.text[i] >= '0' && p->tok.text[i] <= '9'; i++) {
        if (!__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, p->tok.text[i] - '0', &v)) continue;
        return nnv_relay_parse_fail(p, &p->tok.span, "the number is above 9223372036854775807");
    }
    *value = v;
    return true;
}

bool nnv_relay_at_real(const struct nnv_relay_parser *p) {
    return p->tok.kind == NNV_RELAY_REAL || nnv_relay_at(p, "inff") || nnv_relay_at(p, "nanf");
}

double nnv_relay_real(const struct nnv_relay_parser *p) {
    char digits[64];
    if (nnv_relay_at(p, "inff")) return INFINITY;
    if (nnv_relay_at(p, "nanf")) return NAN;
    size_t n = p->tok.len < sizeof digits ? p->tok.len : sizeof digits - 1;
    memcpy(digits, p->tok.text, n);
    digits[n] = '\0';
    return strtod(digits, NULL); /* stops at the suffix */
}

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
    } else if (nnv_relay_at_real(p)) {
        value->kind = NNV_RELAY_FLOAT;
        value->f = nnv_relay_real(p);
        if (negative) value->f = -value->f;
    } else {
        return nnv_relay_expected(p, "a value of an attribute");
    }
    nnv_relay_next(p);
    return true;
}

/* ------------------------------------------------- values of TVMScript alone */

static bool at_arithmetic(const struct nnv_relay_parser *p) {
    static const char *const marks[] = {"+", "-", "*", "/", "%"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (nnv_relay_at(p, marks[i])) return true;
    return p->tok.kind == NNV_RELAY_LOCAL; /* %name */
}

/* What follows the first word of a symbolic extent, as "* 2" in "n * 2": it makes value a text. */
static bool parse_symbolic(struct nnv_relay_parser *p, struct nnv_relay_value *value) {
    if (!at_arithmetic(p)) return true;
    while (!nnv_relay_at(p, ",") && !nnv_relay_at(p, ")") && !nnv_relay_at(p, "]")) {
        if (nnv_relay_at(p, "(") || nnv_relay_at(p, "[")) {
            if (!nnv_relay_skip_brackets(p)) return false;
            continue;
        }
        if (p->tok.kind == NNV_RELAY_END || p->tok.kind == NNV_RELAY_BROKEN) return nnv_relay_expected(p, "')'");
        nnv_relay_next(p);
    }
    *value = (struct nnv_relay_value){.kind = NNV_RELAY_STRING, .text = "an expression"};
    return true;
}

/* R.shape([1, 2]), R.prim_value(1), T.int64(1): the value within, the word being in hand. */
static bool parse_wrapped(struct nnv_relay_parser *p, struct nnv_relay_value *value) {
    struct nnv_relay_value ignored;
    const bool real = nnv_relay_at(p, "float"); /* float("inf") */
    nnv_relay_next(p);
    if (!nnv_relay_must(p, "(") || !nnv_relay_parse_value(p, value)) return false;
    while (nnv_relay_take(p, ",")) /* a type of the number */
        if (!nnv_relay_at(p, ")") && !nnv_relay_parse_value(p, &ignored)) return false;
    if (real && value->kind == NNV_RELAY_STRING)
        *value = (struct nnv_relay_value){.kind = NNV_RELAY_FLOAT, .f = strtod(value->text, NULL)};
    return nnv_relay_must(p, ")");
}

/* ------------------------------------------------------------------ any value */

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
        return parse_wrapped(p, value);
    } else if (p->tok.kind == NNV_RELAY_WORD && !nnv_relay_at_real(p)) {
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
    bool ok = parse_deep_value(p, value) && (!p->lexer.script || parse_symbolic(p, value));
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
