/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/words.h"
#include "harness/journal/verdict.h"

enum { DEPTH = 16, DIGITS_MAX = 15 }; /* so many digits are exact in a double */

/** The members that are taken. */
enum member {
    CASE,
    VERDICT,
    WHY,
    REASON,
    COMPARED,
    NOT_COMPARED,
    VALUES,
    MS,
    DRIVER_US,
    WORKER,
    TURN,
    OUTCOME,
    REPEATS,
    DUMP,
    USES,
    DEVICES,
    DRIFT,
    OTHER
};

static const struct {
    const char *name;
    size_t bytes;
} members[OTHER] = {
    [CASE] = {"case", 4},
    [VERDICT] = {"verdict", 7},
    [WHY] = {"why", 3},
    [REASON] = {"reason", 6},
    [COMPARED] = {"compared", 8},
    [NOT_COMPARED] = {"not_compared", 12},
    [VALUES] = {"values", 6},
    [MS] = {"ms", 2},
    [DRIVER_US] = {"driver_us", 9},
    [WORKER] = {"worker", 6},
    [TURN] = {"turn", 4},
    [OUTCOME] = {"outcome", 7},
    [REPEATS] = {"repeats", 7},
    [DUMP] = {"dump", 4},
    [USES] = {"uses", 4},
    [DEVICES] = {"devices", 7},
    [DRIFT] = {"drift", 5},
};

static enum member member_of(const char *key, size_t n) {
    for (int m = 0; m < OTHER; m++)
        if (members[m].bytes == n && memcmp(members[m].name, key, n) == 0) return (enum member)m;
    return OTHER;
}

static bool take_verdict(const char *s, const char *end, enum nnvts_verdict *out) {
    const char *text;
    char name[16];
    size_t n;
    if (!nnv_json_plain(s, end, &text, &n) || n >= sizeof name) return false;
    memcpy(name, text, n);
    name[n] = '\0';
    if (!nnv_verdict_parse(name, out)) return false;
    return *out == NNVTS_PASS || *out == NNVTS_UNSUPPORTED || *out == NNVTS_SKIP;
}

/** The verdict stands before it. */
static bool take_why(const char *s, const char *end, struct nnv_line *out) {
    const char *text;
    char name[32];
    size_t n;
    if (!nnv_json_plain(s, end, &text, &n) || n >= sizeof name) return false;
    memcpy(name, text, n);
    name[n] = '\0';
    out->why = nnv_why_parse(name, out->verdict);
    return true;
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
        return nnv_json_plain(s, end, &out->name, &out->name_bytes) && out->name_bytes > 0;
    case VERDICT:
        return take_verdict(s, end, &out->verdict);
    case WHY:
        return take_why(s, end, out);
    case REASON:
        return nnv_json_plain(s, end, &out->reason, &out->reason_bytes);
    case USES:
        return nnv_json_plain(s, end, &out->uses, &out->uses_bytes);
    case DEVICES:
        return nnv_json_plain(s, end, &out->devices, &out->devices_bytes);
    case COMPARED:
        return take_count(s, end, &out->compared);
    case NOT_COMPARED:
        return take_count(s, end, &out->not_compared);
    case VALUES:
        return take_count(s, end, &out->values);
    case MS:
        return take_time(s, end, &out->ms);
    case DRIVER_US:
        return take_time(s, end, &out->driver_us);
    case WORKER:
        return take_small(s, end, &out->worker);
    case TURN:
        return take_small(s, end, &out->turn);
    case DRIFT:
        return out->drift = true;
    case OUTCOME: /* these are rare, or asked about in many ways */
    case REPEATS:
    case DUMP:
        return false;
    case OTHER:
        return true;
    }
    return false;
}

bool nnv_line_scan(const char *line, size_t n, struct nnv_line *out) {
    struct nnv_json_walk w = {.at = line, .end = line + n, .depth = DEPTH};
    unsigned seen = 0;
    *out = (struct nnv_line){.expectation = NNV_ENTRY_NONE};
    if (n == 0 || *line != '{') return false;
    while (nnv_json_next(&w)) {
        if (memchr(w.name, '\\', w.name_bytes) != NULL) return false;
        const enum member m = member_of(w.name, w.name_bytes);
        if ((m != OTHER && (seen & 1u << m) != 0) || !take(out, m, w.value, w.value_end)) return false;
        seen |= 1u << m;
    }
    out->why = nnv_why_of(out->verdict, out->why);
    return w.at == w.end && (seen & 1u << CASE) != 0 && (seen & 1u << VERDICT) != 0;
}

/* --------------------------------------------------------------------- JSON */

/** Replaces strings with a NUL inside, so that all others may take them as C strings. */
static bool clean(json_t *value) {
    const char *key;
    size_t i;
    json_t *item;
    if (json_is_string(value)) {
        const char *s = json_string_value(value);
        size_t n = json_string_length(value);
        if (strlen(s) == n) return true;
        struct nnv_text t = {0};
        for (size_t k = 0; k < n; k += strlen(s + k) + 1) {
            nnv_text_add(&t, s + k);
            if (k + strlen(s + k) < n) nnv_text_add(&t, "\xef\xbf\xbd");
        }
        bool ok = !t.failed && json_string_setn(value, t.data, t.len) == 0;
        nnv_text_free(&t);
        return ok;
    }
    if (json_is_object(value)) {
        json_object_foreach(value, key, item) if (!clean(item)) return false;
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) if (!clean(item)) return false;
    }
    return true;
}

json_t *nnv_record_parse(const char *line, size_t n, json_error_t *why) {
    json_t *value = json_loadb(line, n, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, why);
    /* jansson may take a moment without memory for a mistake in the text. */
    if (value == NULL) value = json_loadb(line, n, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, why);
    if (value == NULL) return NULL;
    const char *problem = !json_is_object(value) ? "not an object" : !clean(value) ? "memory ran out" : NULL;
    if (problem == NULL) return value;
    snprintf(why->text, sizeof why->text, "%s", problem);
    why->column = 1;
    json_decref(value);
    return NULL;
}

const char *nnv_json_text(const json_t *object, const char *member, const char *fallback) {
    const char *s = json_string_value(json_object_get(object, member));
    return s == NULL ? fallback : s;
}

uint64_t nnv_json_count(const json_t *object, const char *member) {
    json_int_t n = json_integer_value(json_object_get(object, member));
    return n < 0 ? 0 : (uint64_t)n;
}

double nnv_json_real(const json_t *object, const char *member) {
    double v;
    return nnv_json_number(json_object_get(object, member), &v) ? v : (double)NAN;
}

json_t *nnv_json_finite(double v) { return isfinite(v) ? json_real(v) : json_null(); }

void nnv_header_add_seed(struct nnv_text *t, const json_t *header) {
    const json_t *seed = json_object_get(header, "seed");
    if (json_is_integer(seed))
        nnv_text_addf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(seed));
    else
        nnv_text_add(t, json_is_string(seed) ? json_string_value(seed) : "?");
}

/* -------------------------------------------------------------- as a tree */

/** An outcome that this verdict can have: a journal may say anything. */
static bool fits(enum nnvts_outcome o, enum nnvts_verdict v) {
    switch (o) {
    case NNVTS_OUTCOME_NONE:
        return true;
    case NNVTS_OUTCOME_XFAIL: /* nnvts's own failures are nothing to expect of a driver */
        return nnv_verdict_bad(v) && v != NNVTS_ERROR;
    case NNVTS_OUTCOME_XPASS:
        return v == NNVTS_PASS || v == NNVTS_UNSUPPORTED;
    case NNVTS_OUTCOME_FLAKY:
        return nnv_verdict_bad(v);
    case NNVTS_OUTCOME_COUNT:
        break;
    }
    return false;
}

/** The count that is the member of object, if it is one of 32 bits. */
static uint32_t count_of(const json_t *object, const char *member) {
    uint64_t n = nnv_json_count(object, member);
    return n > UINT32_MAX ? 0 : (uint32_t)n;
}

void nnv_outcome_read(const json_t *of, enum nnvts_verdict v, enum nnvts_outcome *outcome, uint32_t *entry) {
    enum nnvts_outcome o;
    *outcome = NNVTS_OUTCOME_NONE;
    *entry = NNV_ENTRY_NONE;
    if (!nnv_outcome_parse(nnv_json_text(of, "outcome", "NONE"), &o) || !fits(o, v)) return;
    *outcome = o;
    if (json_is_integer(json_object_get(of, "expectation"))) *entry = count_of(of, "expectation");
}

/** Reads the count that is the member of record; absent is 0. */
static enum nnv_status read_count(const json_t *record, const char *member, uint64_t *out, struct nnv_err *err) {
    const json_t *value = json_object_get(record, member);
    if (value != NULL && (!json_is_integer(value) || json_integer_value(value) < 0))
        return nnv_fail(err, NNV_INVALID, "%s is not a count", member);
    *out = nnv_json_count(record, member);
    return NNV_OK;
}

/** Reads the time that is the member of record; absent is 0. */
static enum nnv_status read_time(const json_t *record, const char *member, double *out, struct nnv_err *err) {
    const json_t *value = json_object_get(record, member);
    if (value != NULL && (!json_is_number(value) || !(json_number_value(value) >= 0)))
        return nnv_fail(err, NNV_INVALID, "%s is not a time", member);
    *out = fmin(json_number_value(value), 1e15);
    return NNV_OK;
}

enum nnv_status nnv_line_read(const json_t *record, struct nnv_line *out, struct nnv_err *err) {
    const char *verdict = nnv_json_text(record, "verdict", NULL);
    const json_t *reason = json_object_get(record, "reason"), *repeats = json_object_get(record, "repeats");
    *out = (struct nnv_line){.name = nnv_json_text(record, "case", NULL), .reason = json_string_value(reason)};
    if (out->name == NULL || *out->name == '\0' || verdict == NULL)
        return nnv_fail(err, NNV_INVALID, "a record without case or verdict");
    if (!nnv_verdict_parse(verdict, &out->verdict))
        return nnv_fail(err, NNV_INVALID, "unknown verdict '%.40s' of case '%.200s'", verdict, out->name);
    out->why = nnv_why_parse(nnv_json_text(record, "why", ""), out->verdict);
    out->name_bytes = strlen(out->name);
    enum nnv_status s = read_count(record, "compared", &out->compared, err);
    if (s == NNV_OK) s = read_count(record, "not_compared", &out->not_compared, err);
    if (s == NNV_OK) s = read_count(record, "values", &out->values, err);
    if (s == NNV_OK) s = read_time(record, "ms", &out->ms, err);
    if (s == NNV_OK) s = read_time(record, "driver_us", &out->driver_us, err);
    if (s == NNV_OK && reason != NULL && out->reason == NULL) s = nnv_fail(err, NNV_INVALID, "reason is not a string");
    if (out->reason != NULL) out->reason_bytes = nnv_first_line(out->reason);
    nnv_outcome_read(record, out->verdict, &out->outcome, &out->expectation);
    out->worker = count_of(record, "worker");
    out->turn = count_of(record, "turn");
    out->runs = count_of(repeats, "runs");
    out->bad_runs = count_of(repeats, "bad");
    if (out->bad_runs > out->runs) out->runs = out->bad_runs = 0;
    out->mode = nnv_json_text(record, "mode", NULL);
    out->uses = nnv_json_text(record, "uses", NULL);
    out->uses_bytes = out->uses != NULL ? strlen(out->uses) : 0;
    out->devices = nnv_json_text(record, "devices", NULL);
    out->devices_bytes = out->devices != NULL ? strlen(out->devices) : 0;
    out->dump = nnv_json_text(record, "dump", NULL);
    out->drift = json_is_array(json_object_get(record, "drift"));
    return s;
}

/* ------------------------------------------------------------------ measures */

enum nnvts_verdict nnv_record_verdict_of(const json_t *record) {
    enum nnvts_verdict v = NNVTS_ERROR;
    return nnv_verdict_parse(nnv_json_text(record, "verdict", ""), &v) ? v : NNVTS_ERROR;
}

bool nnv_record_bad(const json_t *record) {
    return nnv_verdict_bad(nnv_record_verdict_of(record)) && strcmp(nnv_json_text(record, "outcome", ""), "XFAIL") != 0;
}

/** The largest over the outputs; NaN members count as infinite: there was an error, and no number for it. */
static double largest(const json_t *record, const char *inner, const char *member) {
    double most = NAN, v;
    size_t i;
    const json_t *output;
    json_array_foreach(json_object_get(record, "outputs"), i, output) {
        const json_t *of = inner != NULL ? json_object_get(output, inner) : output;
        const json_t *value = json_object_get(of, member);
        if (value == NULL || !nnv_json_number(value, &v)) continue;
        if (isnan(v)) v = INFINITY;
        most = fmax(most, v);
    }
    return most;
}

double nnv_record_ratio(const json_t *record) { return largest(record, "worst", "ratio"); }
double nnv_record_mse(const json_t *record) { return largest(record, NULL, "mse"); }

int64_t nnv_time_us(const char *text) {
    struct tm t = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
    if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0)) return -1;
    time_t seconds = timegm(&t);
    return seconds < 0 ? -1 : (int64_t)seconds * 1000000;
}
