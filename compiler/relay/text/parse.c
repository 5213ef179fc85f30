/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the parsers need: errors, tokens, scopes. */
#include "compiler/relay/text/parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_SHOWN = 40 };

/* ------------------------------------------------------------------- errors */

void nnv_relay_parse_error(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const char *format, ...) {
    struct nnv_text t = {0};
    va_list ap;
    if (p->st != NNV_OK) return;
    va_start(ap, format);
    nnv_text_vaddf(&t, format, ap);
    va_end(ap);
    p->st = nnv_relay_fail(p->m, span, p->err, "%s", t.data && !t.failed ? t.data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&t);
}

void nnv_relay_unexpected(struct nnv_relay_parser *p, const char *what) {
    const struct nnv_relay_token *t = &p->tok;
    int n = t->len < MOST_SHOWN ? (int)t->len : MOST_SHOWN;
    const char *more = t->len > MOST_SHOWN ? "..." : "";
    static const char *const before[] = {
        [NNV_RELAY_LOCAL] = "%", [NNV_RELAY_GRAPH] = "%", [NNV_RELAY_AT] = "@", [NNV_RELAY_METADATA_MARK] = ""};
    switch (t->kind) {
    case NNV_RELAY_END:
        nnv_relay_parse_error(p, &t->span, "expected %s, not the end of the text", what);
        return;
    case NNV_RELAY_BROKEN:
        nnv_relay_parse_error(p, &t->span, "%.*s", (int)t->len, t->text);
        return;
    case NNV_RELAY_QUOTED:
        nnv_relay_parse_error(p, &t->span, "expected %s, not the string \"%.*s%s\"", what, n, t->text, more);
        return;
    case NNV_RELAY_HEADER:
        nnv_relay_parse_error(p, &t->span, "expected %s, not a version, which stands first", what);
        return;
    case NNV_RELAY_MARK:
        if (isprint((unsigned char)*t->text)) break;
        nnv_relay_parse_error(p, &t->span, "expected %s, not byte 0x%02x", what, (unsigned)(unsigned char)*t->text);
        return;
    case NNV_RELAY_WORD:
    case NNV_RELAY_LOCAL:
    case NNV_RELAY_GRAPH:
    case NNV_RELAY_AT:
    case NNV_RELAY_WHOLE:
    case NNV_RELAY_REAL:
    case NNV_RELAY_METADATA_MARK:
        break;
    }
    const char *sign = before[t->kind < NNV_RELAY_METADATA_MARK ? t->kind : NNV_RELAY_METADATA_MARK];
    nnv_relay_parse_error(p, &t->span, "expected %s, not '%s%.*s%s'", what, sign ? sign : "", n, t->text, more);
}

void nnv_relay_no_room(struct nnv_relay_parser *p) {
    if (p->st == NNV_OK) p->st = nnv_fail(p->err, NNV_NO_MEMORY, "%s: out of memory", p->m->file);
}

bool nnv_relay_parse_room(struct nnv_relay_parser *p, void *array, size_t n, size_t *cap, size_t size) {
    return nnv_grow(NULL, array, n, cap, size) || nnv_relay_got(p, NULL);
}

/* ------------------------------------------------------------------- tokens */

void nnv_relay_next(struct nnv_relay_parser *p) { p->tok = nnv_relay_lex(&p->lexer); }

bool nnv_relay_at(const struct nnv_relay_parser *p, const char *text) { return nnv_relay_lex_is(&p->tok, text); }

bool nnv_relay_take(struct nnv_relay_parser *p, const char *text) {
    if (!nnv_relay_at(p, text)) return false;
    nnv_relay_next(p);
    return true;
}

bool nnv_relay_must(struct nnv_relay_parser *p, const char *text) {
    char what[24];
    if (nnv_relay_take(p, text)) return true;
    snprintf(what, sizeof what, "'%.20s'", text);
    return nnv_relay_expected(p, what);
}

bool nnv_relay_deeper(struct nnv_relay_parser *p) {
    if (p->depth < NNV_RELAY_DEPTH) return ++p->depth;
    nnv_relay_parse_fail(p, &p->tok.span, "nested more than %d deep; bind inner parts to names", NNV_RELAY_DEPTH);
    return false;
}

void nnv_relay_higher(struct nnv_relay_parser *p) { p->depth--; }

bool nnv_relay_skip_brackets(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    size_t depth = 0;
    do {
        if (p->tok.kind == NNV_RELAY_END) return nnv_relay_parse_fail(p, &span, "the bracket is not closed");
        if (p->tok.kind == NNV_RELAY_BROKEN) return nnv_relay_expected(p, "')'");
        if (nnv_relay_at(p, "(") || nnv_relay_at(p, "[") || nnv_relay_at(p, "{")) depth++;
        if (nnv_relay_at(p, ")") || nnv_relay_at(p, "]") || nnv_relay_at(p, "}")) depth--;
        nnv_relay_next(p);
    } while (depth);
    return true;
}

const char *nnv_relay_token_name(struct nnv_relay_parser *p) {
    return nnv_relay_got(p, nnv_relay_intern(p->m, p->tok.text, p->tok.len));
}

bool nnv_relay_pile(struct nnv_relay_parser *p, const void *pointer) {
    if (!nnv_relay_parse_room(p, &p->pile, p->n_pile, &p->cap_pile, sizeof *p->pile)) return false;
    p->pile[p->n_pile++] = (void *)(uintptr_t)pointer;
    return true;
}

void *nnv_relay_unpile(struct nnv_relay_parser *p, size_t mark, size_t *n) {
    *n = p->n_pile - mark;
    p->n_pile = mark;
    return p->pile ? p->pile + mark : NULL;
}

/* ------------------------------------------------------------------- scopes */

bool nnv_relay_bind(struct nnv_relay_parser *p, const char *name, struct nnv_relay_expr *e) {
    if (name == NULL || e == NULL) return false;
    if (!nnv_relay_parse_room(p, &p->undo, p->n_undo, &p->cap_undo, sizeof *p->undo)) return false;
    p->undo[p->n_undo++] = (struct nnv_relay_binding){name, e, nnv_relay_bound(p, name)};
    return nnv_relay_got(p, nnv_id_put(&p->bound, nnv_id(name), e) ? e : NULL);
}

struct nnv_relay_expr *nnv_relay_bound(const struct nnv_relay_parser *p, const char *name) {
    return nnv_id_get(&p->bound, nnv_id(name));
}

void nnv_relay_close_scope(struct nnv_relay_parser *p, size_t mark) {
    while (p->n_undo > mark) {
        const struct nnv_relay_binding *last = &p->undo[--p->n_undo];
        nnv_id_put(&p->bound, nnv_id(last->name), last->before); /* the name is there */
    }
}
