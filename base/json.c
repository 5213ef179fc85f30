/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static const char *skip_space(const char *s, const char *end) {
    while (s < end && (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')) s++;
    return s;
}

/** Behind the escape \uXXXX at s, whose code unit *unit becomes; NULL if there is none. */
static const char *skip_unit(const char *s, const char *end, unsigned *unit) {
    if (end - s < 6 || s[0] != '\\' || s[1] != 'u') return NULL;
    *unit = 0;
    for (int i = 2; i < 6; i++) {
        if (!is_hex(s[i])) return NULL;
        *unit = 16 * *unit + (unsigned)(is_digit(s[i]) ? s[i] - '0' : (s[i] | 0x20) - 'a' + 10);
    }
    return s + 6;
}

/** Behind the escape whose backslash is at s. Surrogates come in pairs. */
static const char *skip_escape(const char *s, const char *end) {
    unsigned unit, low;
    if (s + 1 == end || s[1] == '\0' || strchr("\"\\/bfnrtu", s[1]) == NULL) return NULL;
    if (s[1] != 'u') return s + 2;
    s = skip_unit(s, end, &unit);
    if (s == NULL || unit < 0xd800 || unit > 0xdfff) return s;
    s = skip_unit(s, end, &low);
    return s != NULL && unit < 0xdc00 && low >= 0xdc00 && low <= 0xdfff ? s : NULL;
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

/** To the first byte of the next member or element; NULL, and w->at set, if there is none. */
static const char *to_next(struct nnv_json_walk *w) {
    const char *s = w->at;
    const bool first = w->close == '\0';
    w->at = NULL;
    if (first) {
        if (s == w->end || w->depth == 0 || (*s != '[' && *s != '{')) return NULL;
        w->close = *s++ == '[' ? ']' : '}';
    }
    s = skip_space(s, w->end);
    if (s == w->end) return NULL;
    if (*s == w->close) {
        w->at = s + 1;
        return NULL;
    }
    if (first) return s;
    return *s == ',' ? skip_space(s + 1, w->end) : NULL;
}

/** Behind the name of the member at s and its colon; NULL: there is none. */
static const char *take_name(struct nnv_json_walk *w, const char *s) {
    if (s == w->end || *s != '"') return NULL;
    w->name = s + 1;
    s = skip_string(s, w->end);
    if (s == NULL) return NULL;
    w->name_bytes = (size_t)(s - w->name) - 1;
    s = skip_space(s, w->end);
    return s < w->end && *s == ':' ? skip_space(s + 1, w->end) : NULL;
}

bool nnv_json_next(struct nnv_json_walk *w) {
    const char *s = to_next(w);
    if (s != NULL && w->close == '}') s = take_name(w, s);
    if (s == NULL) return false;
    w->value = s;
    w->at = w->value_end = nnv_json_skip(s, w->end, w->depth - 1);
    return w->at != NULL;
}

bool nnv_json_members(struct nnv_json_span object, const char *const *names, size_t n, struct nnv_json_span *values) {
    struct nnv_json_walk w = {.at = object.begin, .end = object.end, .depth = NNV_JSON_DEPTH};
    memset(values, 0, n * sizeof *values);
    if (object.begin == NULL || object.begin == object.end || *object.begin != '{') return false;
    while (nnv_json_next(&w))
        for (size_t i = 0; i < n; i++)
            if (strlen(names[i]) == w.name_bytes && memcmp(names[i], w.name, w.name_bytes) == 0)
                values[i] = (struct nnv_json_span){w.value, w.value_end};
    return w.at != NULL && skip_space(w.at, w.end) == w.end;
}

const char *nnv_json_skip(const char *s, const char *end, int depth) {
    if (s == end || depth == 0) return NULL;
    if (*s == '"') return skip_string(s, end);
    if (*s == '-' || is_digit(*s)) return skip_number(s, end);
    if (*s != '[' && *s != '{') return skip_word(s, end);
    struct nnv_json_walk w = {.at = s, .end = end, .depth = depth};
    while (nnv_json_next(&w)) continue;
    return w.at;
}

bool nnv_json_plain(const char *s, const char *end, const char **text, size_t *n) {
    if (*s != '"') return false;
    *text = s + 1;
    *n = (size_t)(end - s) - 2;
    return memchr(*text, '\\', *n) == NULL;
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
