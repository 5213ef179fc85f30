/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/line.h"

#include <string.h>

#include "base/json.h"
#include "harness/journal/verdict.h"

enum { DEPTH = 16, DIGITS_MAX = 15 }; /* so many digits are exact in a double */

/** The members that are taken. */
enum member { CASE, VERDICT, REASON, COMPARED, NOT_COMPARED, MS, DRIVER_US, WORKER, TURN, OUTCOME, REPEATS, OTHER };

static const struct {
    const char *name;
    size_t bytes;
} members[OTHER] = {
    [CASE] = {"case", 4},
    [VERDICT] = {"verdict", 7},
    [REASON] = {"reason", 6},
    [COMPARED] = {"compared", 8},
    [NOT_COMPARED] = {"not_compared", 12},
    [MS] = {"ms", 2},
    [DRIVER_US] = {"driver_us", 9},
    [WORKER] = {"worker", 6},
    [TURN] = {"turn", 4},
    [OUTCOME] = {"outcome", 7},
    [REPEATS] = {"repeats", 7},
};

static enum member member_of(const char *key, size_t n) {
    for (int m = 0; m < OTHER; m++)
        if (members[m].bytes == n && memcmp(members[m].name, key, n) == 0) return (enum member)m;
    return OTHER;
}

/** The text of the string from s to end, which are its quotes; false if it has escapes. */
static bool take_text(const char *s, const char *end, const char **text, size_t *bytes) {
    *text = s + 1;
    *bytes = *s == '"' ? (size_t)(end - s) - 2 : 0;
    return *s == '"' && memchr(*text, '\\', *bytes) == NULL;
}

static bool take_verdict(const char *s, const char *end, enum nnvts_verdict *out) {
    const char *text;
    char name[16];
    size_t n;
    if (!take_text(s, end, &text, &n) || n >= sizeof name) return false;
    memcpy(name, text, n);
    name[n] = '\0';
    if (!nnv_verdict_parse(name, out)) return false;
    return *out == NNVTS_PASS || *out == NNVTS_UNSUPPORTED || *out == NNVTS_SKIP;
}

/** Digits alone, and not too many. */
static bool take_count(const char *s, const char *end, uint64_t *out) {
    if (end - s > DIGITS_MAX || (*s == '0' && end - s > 1)) return false;
    for (*out = 0; s < end; s++) {
        if (*s < '0' || *s > '9') return false;
        *out = 10 * *out + (uint64_t)(*s - '0');
    }
    return true;
}

static bool take_small(const char *s, const char *end, uint32_t *out) {
    uint64_t value;
    if (!take_count(s, end, &value) || value > UINT32_MAX) return false;
    *out = (uint32_t)value;
    return true;
}

/** Digits with a point among them, or without. */
static bool take_time(const char *s, const char *end, double *out) {
    uint64_t digits = 0;
    double scale = 1;
    bool point = false;
    if (end - s > DIGITS_MAX || (*s == '0' && end - s > 1 && s[1] != '.')) return false;
    for (; s < end; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (*s < '0' || *s > '9') return false;
        digits = 10 * digits + (uint64_t)(*s - '0');
        scale = point ? scale * 10 : scale;
    }
    *out = (double)digits / scale;
    return true;
}

/** Takes the value from s to end, which is sound JSON. */
static bool take(struct nnv_line *out, enum member m, const char *s, const char *end) {
    switch (m) {
    case CASE:
        return take_text(s, end, &out->name, &out->name_bytes) && out->name_bytes > 0;
    case VERDICT:
        return take_verdict(s, end, &out->verdict);
    case REASON:
        return take_text(s, end, &out->reason, &out->reason_bytes);
    case COMPARED:
        return take_count(s, end, &out->compared);
    case NOT_COMPARED:
        return take_count(s, end, &out->not_compared);
    case MS:
        return take_time(s, end, &out->ms);
    case DRIVER_US:
        return take_time(s, end, &out->driver_us);
    case WORKER:
        return take_small(s, end, &out->worker);
    case TURN:
        return take_small(s, end, &out->turn);
    case OUTCOME: /* these are asked about in many ways */
    case REPEATS:
        return false;
    case OTHER:
        return true;
    }
    return false;
}

bool nnv_line_scan(const char *line, size_t n, struct nnv_line *out) {
    const char *s = line, *end = line + n;
    unsigned seen = 0;
    *out = (struct nnv_line){0};
    if (n < 2 || *s != '{' || end[-1] != '}') return false;
    do {
        const char *key = ++s;
        if (s == end || *s != '"') return false;
        s = nnv_json_skip(s, end, DEPTH);
        if (s == NULL || s == end || *s != ':') return false;
        size_t bytes = (size_t)(s - key) - 2;
        if (memchr(key, '\\', bytes) != NULL) return false;
        enum member m = member_of(key + 1, bytes);
        const char *value = s + 1;
        s = nnv_json_skip(value, end, DEPTH);
        if (s == NULL || s == end || (m != OTHER && (seen & 1u << m) != 0) || !take(out, m, value, s)) return false;
        seen |= 1u << m;
    } while (*s == ',');
    return s == end - 1 && (seen & 1u << CASE) != 0 && (seen & 1u << VERDICT) != 0;
}
