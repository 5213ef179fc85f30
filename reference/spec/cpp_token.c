/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of C++ source, and errors at them. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "reference/spec/cpp.h"

enum { MOST_SHOWN = 48 };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the line that begins at p. */
static const char *skip_line(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

/* Behind white space, comments, preprocessor lines; *open: the comment that does not end, or NULL. */
static const char *skip_blank(const char *p, const char *end, const char **open) {
    *open = NULL;
    while (p < end) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (*p == '#' || (*p == '/' && end - p > 1 && p[1] == '/')) {
            p = skip_line(p, end);
        } else if (*p == '/' && end - p > 1 && p[1] == '*') {
            const char *close = end - p > 3 ? memmem(p + 2, (size_t)(end - p - 2), "*/", 2) : NULL;
            if (!close) {
                *open = p;
                return p;
            }
            p = close + 2;
        } else {
            break;
        }
    }
    return p;
}

/* Length of a number: digits, letters and dots, and signs of exponents. */
static size_t number_length(const char *p, const char *end) {
    const char *q = p;
    bool hex = end - p > 1 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    for (; q < end; q++) {
        if (is_word(*q) || *q == '.') continue;
        bool sign =
            (*q == '+' || *q == '-') && q > p && (hex ? q[-1] == 'p' || q[-1] == 'P' : q[-1] == 'e' || q[-1] == 'E');
        if (!sign) break;
    }
    return (size_t)(q - p);
}

/* Length of a string literal with its quotes; 0 if it does not end on its line. */
static size_t string_length(const char *p, const char *end) {
    for (const char *q = p + 1; q < end && *q != '\n'; q++) {
        if (*q == '"') return (size_t)(q - p) + 1;
        if (*q == '\\') q++;
    }
    return 0;
}

struct nnv_cpp_token nnv_cpp_token(const char *at, const char *end) {
    const char *open, *p = skip_blank(at, end, &open);
    struct nnv_cpp_token t = {NNV_CPP_MARK, p, 1};
    if (p == end) {
        t.kind = NNV_CPP_END;
        t.len = 0;
    } else if (open) {
        t.kind = NNV_CPP_OPEN;
        t.len = (size_t)(end - p);
    } else if (isdigit((unsigned char)*p) || (*p == '.' && end - p > 1 && isdigit((unsigned char)p[1]))) {
        t.kind = NNV_CPP_DIGITS;
        t.len = number_length(p, end);
    } else if (is_word(*p)) {
        t.kind = NNV_CPP_WORD;
        while (p + t.len < end && is_word(p[t.len])) t.len++;
    } else if (*p == '"') {
        t.kind = NNV_CPP_STRING;
        t.len = string_length(p, end);
        if (!t.len) {
            t.kind = NNV_CPP_OPEN;
            t.len = (size_t)(end - p);
        }
    } else if (*p == ':' && end - p > 1 && p[1] == ':') {
        t.len = 2;
    }
    return t;
}

bool nnv_cpp_is(const struct nnv_cpp_token *t, const char *text) {
    return t->kind != NNV_CPP_OPEN && t->len == strlen(text) && memcmp(t->text, text, t->len) == 0;
}

/* ------------------------------------------------------------------- errors */

static void add_found(struct nnv_text *t, const struct nnv_cpp_token *got) {
    if (got->kind == NNV_CPP_END) {
        nnv_text_add(t, "the end of the file");
    } else if (got->kind == NNV_CPP_OPEN) {
        nnv_text_add(t, got->text[0] == '"' ? "a string that does not end" : "a comment that does not end");
    } else if (got->len == 1 && !isprint((unsigned char)got->text[0])) {
        nnv_text_addf(t, "byte 0x%02x", (unsigned)(unsigned char)got->text[0]);
    } else {
        size_t n = got->len < MOST_SHOWN ? got->len : MOST_SHOWN;
        nnv_text_addf(t, "'%.*s'%s", (int)n, got->text, n < got->len ? "..." : "");
    }
}

/* Line and column of a place in the text, from 1; columns count bytes. */
static void position(const struct nnv_cpp_reader *r, const char *at, size_t *line, size_t *column) {
    const char *start = r->text, *newline;
    *line = r->line;
    while ((newline = memchr(start, '\n', (size_t)(at - start)))) {
        start = newline + 1;
        ++*line;
    }
    *column = (size_t)(at - start) + 1;
}

enum nnv_status nnv_cpp_bad(const struct nnv_cpp_reader *r, const struct nnv_cpp_token *got, const char *expected,
                            ...) {
    struct nnv_text message = {0};
    size_t line, column;
    va_list ap;
    va_start(ap, expected);
    nnv_text_vaddf(&message, expected, ap);
    va_end(ap);
    nnv_text_add(&message, ", got ");
    add_found(&message, got);
    position(r, got->text, &line, &column);
    nnv_fail(r->err, NNV_INVALID, "%s:%zu:%zu: expected %s", r->path, line, column,
             message.failed ? "something else" : message.data);
    nnv_text_free(&message);
    return NNV_INVALID;
}

enum nnv_status nnv_cpp_no_memory(const struct nnv_cpp_reader *r) {
    return nnv_fail(r->err, NNV_NO_MEMORY, "%s: out of memory", r->path);
}
