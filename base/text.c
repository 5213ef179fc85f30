/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

static atomic_bool lacked;

bool nnv_text_lacked(void) { return atomic_load(&lacked); }
void nnv_text_lack(void) { atomic_store(&lacked, true); }

static bool fail(struct nnv_text *t) {
    atomic_store(&lacked, true);
    t->failed = true;
    return false;
}

void nnv_text_free(struct nnv_text *t) {
    free(t->data);
    *t = (struct nnv_text){0};
}

void nnv_text_clear(struct nnv_text *t) {
    t->len = 0;
    t->failed = false;
    if (t->data) t->data[0] = '\0';
}

/* Makes room for n more bytes and the terminator; false (and failed) if there is none. */
static bool grow(struct nnv_text *t, size_t n) {
    if (t->failed) return false;
    if (n < t->cap - t->len) return true; /* cap is 0 or above len */
    size_t want = t->cap ? t->cap : 256;
    while (want <= SIZE_MAX / 2 && want - t->len <= n) want *= 2;
    char *p = want - t->len > n ? realloc(t->data, want) : NULL;
    if (!p) return fail(t);
    t->data = p;
    t->cap = want;
    return true;
}

void nnv_text_add(struct nnv_text *t, const char *s) {
    if (s) nnv_text_add_n(t, s, strlen(s));
}

void nnv_text_add_n(struct nnv_text *t, const char *s, size_t n) {
    if (!grow(t, n)) return;
    if (n) memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = '\0';
}

void nnv_text_add_uint(struct nnv_text *t, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    nnv_text_add_n(t, digits + at, sizeof digits - at);
}

void nnv_text_vaddf(struct nnv_text *t, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    char small[256];
    int n = vsnprintf(small, sizeof small, fmt, ap);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof small) {
        nnv_text_add_n(t, small, (size_t)n);
    } else if (grow(t, (size_t)n)) {
        vsnprintf(t->data + t->len, (size_t)n + 1, fmt, again);
        t->len += (size_t)n;
    }
    va_end(again);
}

void nnv_text_addf(struct nnv_text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    nnv_text_vaddf(t, fmt, ap);
    va_end(ap);
}

/* ----------------------------------------------------------------- escaping */

bool nnv_ends_with(const char *s, const char *end) {
    const size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

const char *nnv_utf8_next(const char *s, const char *end, uint32_t *point) {
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*s;
    if (first < 0x80 && s < end) { /* most are */
        if (point) *point = first;
        return s + 1;
    }
    const size_t n = first < 0xc2 || first > 0xf4 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t c = first & (0x7fu >> n);
    if (n == 0 || (size_t)(end - s) < n) return NULL;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) return NULL;
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return NULL;
    if (point) *point = c;
    return s + n;
}

/* How a format writes one code point: NULL as it is, else the text that stands for it (buf may hold it). */
typedef const char *escape_fn(uint32_t point, char buf[8]);

static void add_escaped(struct nnv_text *t, const char *s, escape_fn *escape) {
    const char *plain = s, *end = s + strlen(s); /* plain: start of what is copied as it is */
    while (s < end) {
        uint32_t point;
        const char *next = nnv_utf8_next(s, end, &point);
        char buf[8];
        const char *instead = next ? escape(point, buf) : REPLACEMENT;
        if (!next) next = s + 1;
        if (instead) {
            nnv_text_add_n(t, plain, (size_t)(s - plain));
            nnv_text_add(t, instead);
            plain = next;
        }
        s = next;
    }
    nnv_text_add_n(t, plain, (size_t)(s - plain));
}

static const char *escape_json(uint32_t point, char buf[8]) {
    switch (point) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    }
    if (point >= 0x20) return NULL;
    snprintf(buf, 8, "\\u%04x", point);
    return buf;
}

static const char *replace_illegal(uint32_t point, char buf[8]) {
    (void)buf;
    bool control = point < 0x20 && point != '\t' && point != '\n' && point != '\r';
    return control || point == 0xfffe || point == 0xffff ? REPLACEMENT : NULL;
}

static const char *escape_xml(uint32_t point, char buf[8]) {
    switch (point) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    }
    return replace_illegal(point, buf);
}

void nnv_text_add_json(struct nnv_text *t, const char *s) {
    if (!s) {
        nnv_text_add(t, "null");
        return;
    }
    nnv_text_add_n(t, "\"", 1);
    add_escaped(t, s, escape_json);
    nnv_text_add_n(t, "\"", 1);
}

void nnv_text_add_xml(struct nnv_text *t, const char *s) {
    if (s) add_escaped(t, s, escape_xml);
}

void nnv_text_add_legal(struct nnv_text *t, const char *s) {
    if (s) add_escaped(t, s, replace_illegal);
}

/* ------------------------------------------------------------------- base64 */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void nnv_text_add_base64(struct nnv_text *t, const void *data, size_t n) {
    const unsigned char *from = data;
    if (n > SIZE_MAX / 2) {
        fail(t);
        return;
    }
    size_t chars = (n + 2) / 3 * 4;
    if (!grow(t, chars)) return;
    char *to = t->data + t->len;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t v = (uint32_t)from[i] << 16;
        if (left > 1) v |= (uint32_t)from[i + 1] << 8;
        if (left > 2) v |= from[i + 2];
        *to++ = alphabet[v >> 18];
        *to++ = alphabet[v >> 12 & 63];
        *to++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[v & 63] : '=';
    }
    *to = '\0';
    t->len += chars;
}

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool nnv_base64_decode(const char *s, size_t len, void *dst, size_t cap) {
    if (cap > SIZE_MAX / 2 || len != (cap + 2) / 3 * 4) return false;
    unsigned char *to = dst;
    for (size_t i = 0; i < cap; i += 3, s += 4) {
        int bytes = cap - i < 3 ? (int)(cap - i) : 3; /* of this group; 1 and 2 are padded */
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) {
            int d = k <= bytes ? base64_digit(s[k]) : s[k] == '=' ? 0 : -1;
            if (d < 0) return false;
            v = v << 6 | (uint32_t)d;
        }
        if (v & ((1u << (8 * (3 - bytes))) - 1)) return false; /* bits beyond the last byte */
        for (int k = 0; k < bytes; k++) to[i + (size_t)k] = (unsigned char)(v >> (16 - 8 * k));
    }
    return true;
}

/* ------------------------------------------------------------------ numbers */

/* NaN and infinities; false if v is finite. */
static bool add_special(struct nnv_text *t, double v) {
    if (isfinite(v)) return false;
    nnv_text_add(t, isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return true;
}

/* Integers below 1e6 and zeros: most numbers of a spec. */
static bool add_simple(struct nnv_text *t, double v) {
    if (!(fabs(v) < 1e6) || v != (double)(int)v) return false;
    if (signbit(v)) nnv_text_add_n(t, "-", 1);
    nnv_text_add_uint(t, (uint64_t)fabs(v));
    if (v == 0 && signbit(v)) nnv_text_add_n(t, ".0", 2); /* "-0" would read back as the integer 0 */
    return true;
}

/* A number of %g, its exponent without plus and leading zeros: "1e-7". */
static void add_number(struct nnv_text *t, const char *number) {
    const char *e = strchr(number, 'e');
    if (!e) {
        nnv_text_add(t, number);
        return;
    }
    nnv_text_add_n(t, number, (size_t)(e + 1 - number));
    if (*++e == '-') nnv_text_add_n(t, "-", 1);
    e += strspn(e, "+-0");
    nnv_text_add(t, e);
}

void nnv_text_add_float(struct nnv_text *t, float v) {
    if (add_special(t, (double)v) || add_simple(t, (double)v)) return;
    char buf[32];
    /* Any decimal of 6 digits survives float32, except among the subnormals. */
    for (int digits = fabsf(v) < FLT_MIN ? 1 : 6; digits <= 9; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, (double)v);
        if (strtof(buf, NULL) == v && (float)strtod(buf, NULL) == v) break; /* readers may round once or twice */
    }
    add_number(t, buf);
}

void nnv_text_add_double(struct nnv_text *t, double v) {
    if (add_special(t, v) || add_simple(t, v)) return;
    char buf[40];
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (strtod(buf, NULL) == v) break;
    }
    add_number(t, buf);
}

void nnv_text_add_dot(struct nnv_text *t, const char *s) {
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') nnv_text_add(t, "\\");
        nnv_text_addf(t, "%c", (unsigned char)*s < 0x20 ? ' ' : *s);
    }
}
