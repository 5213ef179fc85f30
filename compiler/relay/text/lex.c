/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of Relay text, and of TVMScript. */
#include "compiler/relay/text/lex.h"

#include <ctype.h>
#include <string.h>

void nnv_relay_lex_start(struct nnv_relay_lexer *lexer, const char *text, size_t len, bool script) {
    *lexer = (struct nnv_relay_lexer){text, text + len, text, text, 1, script};
}

static bool starts_word(char c) { return isalpha((unsigned char)c) || c == '_' || c == '/'; }

static bool in_word(char c) { return isdigit((unsigned char)c) || starts_word(c); }

static bool digit(const char *p, const char *end) { return p < end && isdigit((unsigned char)*p); }

static size_t left(const char *p, const char *end) { return (size_t)(end - p); }

static bool two(const char *p, const char *end, const char *marks) {
    return left(p, end) >= 2 && p[0] == marks[0] && p[1] == marks[1];
}

/* Behind the comment that begins at p, comments within it included; NULL if it does not end. */
static const char *comment_end(const char *p, const char *end) {
    size_t depth = 0;
    while (p < end) {
        if (two(p, end, "/*") || two(p, end, "*/")) {
            depth += *p == '/' ? 1 : (size_t)-1;
            p += 2;
            if (depth == 0) return p;
        } else {
            p++;
        }
    }
    return NULL;
}

/* Moves at to p, counting lines. */
static void move(struct nnv_relay_lexer *x, const char *p) {
    const char *newline;
    while (x->at < p && (newline = memchr(x->at, '\n', left(x->at, p)))) {
        x->at = x->line_start = newline + 1;
        x->line++;
    }
    x->at = p;
}

/* Skips white space and comments; false at a comment that does not end. */
static bool skip_blank(struct nnv_relay_lexer *x, struct nnv_relay_token *t) {
    for (;;) {
        const char *p = x->at;
        while (p < x->end && isspace((unsigned char)*p)) p++;
        move(x, p);
        if (x->script ? p < x->end && *p == '#' : two(p, x->end, "//")) {
            const char *newline = memchr(p, '\n', left(p, x->end));
            move(x, newline ? newline : x->end);
        } else if (!x->script && two(p, x->end, "/*")) {
            const char *behind = comment_end(p, x->end);
            if (behind == NULL) return false;
            t->note = p + 2;
            t->note_len = left(p, behind) - 4;
            move(x, behind);
        } else {
            return true;
        }
    }
}

/* Behind an identifier and its dotted parts. */
static const char *word_end(const char *p, const char *end) {
    while (p < end && (in_word(*p) || (*p == '.' && left(p, end) > 1 && starts_word(p[1])))) {
        const char *next = p + (*p == '.');
        if (two(next, end, "/*") || two(next, end, "//")) break;
        p++;
    }
    return p;
}

/*
 * Behind all that can be the name of a local: printers write hints of other frameworks unchanged, with dots, colons and
 * dashes. A colon ends it only before a blank or a type.
 */
static const char *local_end(const char *p, const char *end) {
    for (; p < end; p++) {
        if (isspace((unsigned char)*p) || strchr(",()=;{}[]\"%@", *p)) break; /* the null byte, too */
        if (two(p, end, "/*")) break;
        if (*p != ':') continue;
        if (left(p, end) == 1 || isspace((unsigned char)p[1]) || strchr("(,)=", p[1])) break;
        if (left(p, end) > 8 && memcmp(p + 1, "Tensor[", 7) == 0) break;
    }
    return p;
}

/* Behind the digits at p, of which there may be none. */
static const char *digits_end(const char *p, const char *end) {
    while (digit(p, end)) p++;
    return p;
}

/* A number with its suffix. A dot needs a digit behind it. */
static void take_number(struct nnv_relay_token *t, const char *p, const char *end) {
    const char *q = digits_end(p, end);
    t->kind = NNV_RELAY_WHOLE;
    if (q < end && *q == '.' && digit(q + 1, end)) {
        q = digits_end(q + 1, end);
        t->kind = NNV_RELAY_REAL;
    }
    if (q < end && (*q == 'e' || *q == 'E')) {
        const char *exponent = q + 1;
        if (exponent < end && (*exponent == '+' || *exponent == '-')) exponent++;
        if (digit(exponent, end)) {
            q = digits_end(exponent, end);
            t->kind = NNV_RELAY_REAL;
        }
    }
    if (q < end && (*q == 'f' || *q == 'i' || *q == 'u')) {
        if (*q == 'f') t->kind = NNV_RELAY_REAL;
        q = digits_end(q + 1, end);
    }
    t->len = left(p, q);
}

static void take_broken(struct nnv_relay_token *t, const char *what) {
    t->kind = NNV_RELAY_BROKEN;
    t->text = what;
    t->len = strlen(what);
}

/*
 * text: behind the opening quotes, of which there are one or three. The token does not hold them; the result is behind
 * the closing ones.
 */
static const char *take_string(struct nnv_relay_token *t, const char *text, const char *end, size_t quotes) {
    const char *q = text, quote = text[-1];
    for (; q < end && (quotes > 1 || *q != '\n'); q++) {
        if (*q == quote && (quotes == 1 || (two(q, end, "\"\"") && left(q, end) > 2 && q[2] == quote))) break;
        if (*q == '\\' && left(q, end) > 1 && (quotes > 1 || q[1] != '\n')) q++;
    }
    if (q >= end || *q != quote) {
        take_broken(t, "a string that does not end");
        return end;
    }
    t->kind = NNV_RELAY_QUOTED;
    t->text = text;
    t->len = left(text, q);
    return q + quotes;
}

/* #[version = "..."] or #[metadata]. */
static const char *take_header(struct nnv_relay_token *t, const char *p, const char *end) {
    static const char meta[] = "#[metadata]", version[] = "#[version";
    if (left(p, end) >= strlen(meta) && memcmp(p, meta, strlen(meta)) == 0) {
        t->kind = NNV_RELAY_METADATA_MARK;
        t->len = strlen(meta);
        return p + t->len;
    }
    if (left(p, end) >= strlen(version) && memcmp(p, version, strlen(version)) == 0) {
        const char *q = p + strlen(version);
        while (q < end && (*q == ' ' || *q == '=')) q++;
        if (q < end && *q == '"') q = take_string(t, q + 1, end, 1);
        if (t->kind == NNV_RELAY_QUOTED && q < end && *q == ']') {
            t->kind = NNV_RELAY_HEADER;
            return q + 1;
        }
    }
    take_broken(t, "'#' that begins neither #[version = \"0.0.5\"] nor #[metadata]");
    return end;
}

static const char *take_mark(struct nnv_relay_token *t, const char *p, const char *end) {
    static const char pairs[][3] = {"->", "=>", "==", "!=", "<=", ">="};
    t->kind = NNV_RELAY_MARK;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (two(p, end, pairs[i])) t->len = 2;
    return p + t->len;
}

/* The token at p, which is no blank; the result is behind it. */
static const char *take(const struct nnv_relay_lexer *x, struct nnv_relay_token *t, const char *p) {
    const char *end = x->end;
    bool next = left(p, end) > 1;
    if (x->script && left(p, end) > 2 && memcmp(p, "\"\"\"", 3) == 0) return take_string(t, p + 3, end, 3);
    if (*p == '"' || (x->script && *p == '\'')) return take_string(t, p + 1, end, 1);
    if (*p == '#') return take_header(t, p, end);
    if (isdigit((unsigned char)*p)) {
        take_number(t, p, end);
        return p + t->len;
    }
    if (*p == '%' && next && local_end(p + 1, end) > p + 1) {
        t->kind = digit(p + 1, end) ? NNV_RELAY_GRAPH : NNV_RELAY_LOCAL;
        t->text = p + 1;
        t->len = left(t->text, t->kind == NNV_RELAY_GRAPH ? digits_end(p + 1, end) : local_end(p + 1, end));
        return t->text + t->len;
    }
    if (*p == '@' && next && starts_word(p[1]) && word_end(p + 1, end) > p + 1) {
        t->kind = NNV_RELAY_AT;
        t->text = p + 1;
        t->len = left(t->text, word_end(p + 1, end));
        return t->text + t->len;
    }
    bool divides = *p == '/' && (x->script || !next || !in_word(p[1]));
    if (starts_word(*p) && !divides) {
        t->kind = NNV_RELAY_WORD;
        t->len = left(p, word_end(p, end));
        return p + t->len;
    }
    return take_mark(t, p, end);
}

struct nnv_relay_token nnv_relay_lex(struct nnv_relay_lexer *x) {
    struct nnv_relay_token t = {.kind = NNV_RELAY_END};
    bool whole = skip_blank(x, &t);
    t.text = x->at;
    t.span = (struct nnv_relay_span){x->line, (uint32_t)(x->at - x->line_start) + 1, (size_t)(x->at - x->text)};
    if (!whole) {
        take_broken(&t, "a comment that does not end");
        x->at = x->end;
    } else if (x->at < x->end) {
        t.len = 1;
        move(x, take(x, &t, x->at));
    }
    return t;
}

void nnv_relay_lex_back(struct nnv_relay_lexer *lexer, const struct nnv_relay_token *token, size_t len) {
    lexer->at = token->text + len;
}

bool nnv_relay_lex_is(const struct nnv_relay_token *t, const char *text) {
    return (t->kind == NNV_RELAY_MARK || t->kind == NNV_RELAY_WORD) && t->len == strlen(text) &&
           memcmp(t->text, text, t->len) == 0;
}
