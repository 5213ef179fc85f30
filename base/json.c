/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static const char *skip_space(const char *s, const char *end) {
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    return s;
}

/** Behind the escape whose backslash is at s; surrogates, which nnvts never writes, count as malformed. */
static const char *skip_escape(const char *s, const char *end) {
    if (++s == end || *s == '\0' || strchr("\"\\/bfnrtu", *s) == NULL) return NULL;
    if (*s++ != 'u') return s;
    for (int i = 0; i < 4; i++)
        if (s + i >= end || !is_hex(s[i])) return NULL;
    return (*s == 'd' || *s == 'D') && s[1] > '7' ? NULL : s + 4;
}

static const char *skip_string(const char *s, const char *end) {
    for (s++; s != NULL && s < end && (unsigned char)*s >= 0x20;) {
        if (*s == '"') return s + 1;
        if (*s == '\\')
            s = skip_escape(s, end);
        else
            s = (unsigned char)*s < 0x80 ? s + 1 : nnv_utf8_next(s, end, NULL);
    }
    return NULL;
}

static const char *skip_digits(const char *s, const char *end) {
    const char *start = s;
    while (s < end && is_digit(*s)) s++;
    return s > start ? s : NULL;
}

static const char *skip_number(const char *s, const char *end) {
    if (*s == '-') s++;
    if (end - s > 1 && *s == '0' && is_digit(s[1])) return NULL;
    s = skip_digits(s, end);
    if (s != NULL && s < end && *s == '.') s = skip_digits(s + 1, end);
    if (s != NULL && s < end && (*s == 'e' || *s == 'E')) {
        s++;
        if (s < end && (*s == '+' || *s == '-')) s++;
        s = skip_digits(s, end);
    }
    return s;
}

static const char *skip_word(const char *s, const char *end) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - s) >= n && memcmp(s, words[i], n) == 0) return s + n;
    }
    return NULL;
}

const char *nnv_json_skip(const char *s, const char *end, int depth) {
    if (s == end || depth == 0) return NULL;
    if (*s == '"') return skip_string(s, end);
    if (*s == '-' || is_digit(*s)) return skip_number(s, end);
    if (*s != '[' && *s != '{') return skip_word(s, end);
    const char close = *s == '[' ? ']' : '}';
    s = skip_space(s + 1, end);
    if (s < end && *s == close) return s + 1;
    for (;;) {
        if (close == '}') {
            if (s == end || *s != '"' || (s = skip_string(s, end)) == NULL) return NULL;
            s = skip_space(s, end);
            if (s == end || *s != ':') return NULL;
            s = skip_space(s + 1, end);
        }
        s = nnv_json_skip(s, end, depth - 1);
        if (s == NULL) return NULL;
        s = skip_space(s, end);
        if (s == end) return NULL;
        if (*s == close) return s + 1;
        if (*s != ',') return NULL;
        s = skip_space(s + 1, end);
    }
}

bool nnv_json_number(const json_t *value, double *out) {
    *out = NAN;
    const char *s = json_string_value(value);
    if (json_is_number(value)) {
        *out = json_number_value(value);
    } else if (s == NULL) {
        return false;
    } else if (strcmp(s, "Infinity") == 0) {
        *out = INFINITY;
    } else if (strcmp(s, "-Infinity") == 0) {
        *out = -INFINITY;
    } else {
        return strcmp(s, "NaN") == 0;
    }
    return true;
}

json_t *nnv_json_any(double v) {
    return isfinite(v) ? json_real(v) : json_string(isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
}
