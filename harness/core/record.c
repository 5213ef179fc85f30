/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/core/record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/core/crash.h"
#include "harness/core/select.h"

/* --------------------------------------------------------------- JSON, told */

static const char *skip_space(const char *s, const char *end) {
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    return s;
}

const char *nnv_utf8_skip(const char *s, const char *end) {
    unsigned char first = (unsigned char)*s;
    if (first < 0x80) return s + 1;
    if (first < 0xc2 || first > 0xf4) return NULL;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    unsigned point = first & (0x3fu >> more);
    for (s++; more > 0; more--, s++) {
        if (s == end || ((unsigned char)*s & 0xc0) != 0x80) return NULL;
        point = point << 6 | ((unsigned char)*s & 0x3f);
    }
    bool wrong = (first == 0xe0 && point < 0x800) || (first == 0xf0 && point < 0x10000) || point > 0x10ffff ||
                 (point >= 0xd800 && point <= 0xdfff);
    return wrong ? NULL : s;
}

/** Behind the escape whose backslash is at s; surrogates, which nnvts never writes, count as malformed. */
static const char *skip_escape(const char *s, const char *end) {
    if (++s == end || *s == '\0' || strchr("\"\\/bfnrtu", *s) == NULL) return NULL;
    if (*s++ != 'u') return s;
    for (int i = 0; i < 4; i++)
        if (s + i >= end || !isxdigit((unsigned char)s[i])) return NULL;
    return (*s == 'd' || *s == 'D') && s[1] > '7' ? NULL : s + 4;
}

static const char *skip_string(const char *s, const char *end) {
    for (s++; s != NULL && s < end && (unsigned char)*s >= 0x20;) {
        if (*s == '"') return s + 1;
        s = *s == '\\' ? skip_escape(s, end) : nnv_utf8_skip(s, end);
    }
    return NULL;
}

static const char *skip_digits(const char *s, const char *end) {
    const char *start = s;
    while (s < end && isdigit((unsigned char)*s)) s++;
    return s > start ? s : NULL;
}

static const char *skip_number(const char *s, const char *end) {
    if (*s == '-') s++;
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

/** Behind the JSON value at s; NULL if there is none. */
static const char *skip_value(const char *s, const char *end, int depth) {
    if (s == end || depth == 0) return NULL;
    if (*s == '"') return skip_string(s, end);
    if (*s == '-' || isdigit((unsigned char)*s)) return skip_number(s, end);
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
        s = skip_value(s, end, depth - 1);
        if (s == NULL) return NULL;
        s = skip_space(s, end);
        if (s == end) return NULL;
        if (*s == close) return s + 1;
        if (*s != ',') return NULL;
        s = skip_space(s + 1, end);
    }
}

bool nnv_json_is_array(const char *s, size_t n) {
    enum { DEPTH = 16 };
    return n > 0 && *s == '[' && skip_value(s, s + n, DEPTH) == s + n;
}

/* --------------------------------------------------------------- first line */

static void add_member(struct nnv_text *out, const char *name, const char *value) {
    nnv_text_addf(out, ",\"%s\":", name);
    nnv_text_add_json(out, value);
}

/** "model name" of the first processor. */
static void add_cpu(struct nnv_text *out, const char *fallback) {
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    const char *name = NULL;
    while (f != NULL && name == NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "model name", 10) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        name = strchr(line, ':');
        if (name != NULL) name += 1 + strspn(name + 1, " ");
    }
    if (f != NULL) fclose(f);
    add_member(out, "cpu", name != NULL ? name : fallback);
}

static void add_machine(struct nnv_text *out) {
    struct utsname u;
    struct sysinfo i;
    nnv_text_add(out, ",\"machine\":{\"os\":");
    bool named = uname(&u) == 0;
    char os[160];
    snprintf(os, sizeof os, "%s %s", named ? u.sysname : "?", named ? u.release : "");
    nnv_text_add_json(out, os);
    if (named) add_member(out, "host", u.nodename);
    add_cpu(out, named ? u.machine : "?");
    nnv_text_addf(out, ",\"cores\":%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sysinfo(&i) == 0)
        nnv_text_addf(out, ",\"memory_mb\":%" PRIu64, (uint64_t)i.totalram * i.mem_unit / (1024 * 1024));
    nnv_text_add(out, "}");
}

static void add_start(struct nnv_text *out) {
    time_t now = time(NULL);
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&now, &utc) != NULL) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    add_member(out, "start", text);
}

void nnv_record_place(struct nnv_text *out) {
    add_start(out);
    add_machine(out);
}

static void add_suites(struct nnv_text *out, const struct nnv_case *cases, size_t count) {
    size_t nsuites, written = 0;
    const struct nnv_suite *const *suites = nnv_suites(&nsuites);
    nnv_text_add(out, ",\"suites\":{");
    for (size_t i = 0; i < nsuites; i++) {
        size_t n = 0;
        for (size_t k = 0; k < count; k++) n += strcmp(cases[k].suite, suites[i]->name) == 0;
        if (n == 0) continue;
        if (written++ > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, suites[i]->name);
        nnv_text_add(out, ":{\"summary\":");
        nnv_text_add_json(out, suites[i]->summary);
        nnv_text_addf(out, ",\"cases\":%zu}", n);
    }
    nnv_text_add(out, "}");
}

/* Which types each operation accepts: what a report may call untested. */
static void add_coverage(struct nnv_text *out) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    nnv_text_add(out, ",\"coverage\":{");
    for (size_t i = 0; i < nops; i++) {
        if (i > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, ops[i]->name);
        nnv_text_add(out, ":[");
        int written = 0;
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            int32_t type = ops[i]->sigs[sig].type[NNV_T];
            bool seen = false;
            for (int before = 0; before < sig; before++) seen |= ops[i]->sigs[before].type[NNV_T] == type;
            if (seen) continue;
            if (written++ > 0) nnv_text_add(out, ",");
            nnv_text_add_json(out, nnv_type(type)->tag);
        }
        nnv_text_add(out, "]");
    }
    nnv_text_add(out, "}");
}

void nnv_record_selection(const struct nnv_case *cases, size_t count, char *buf) {
    uint64_t h = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t pair[2] = {h, nnv_hash_str(cases[i].name)};
        h = nnv_hash_bytes(pair, sizeof pair);
    }
    snprintf(buf, 17, "%016" PRIx64, h);
}

const char *nnv_record_precision(const struct nnv_run_config *config) {
    return config->precision < 0 ? "default" : nnv_precision_name((enum nnv_precision)config->precision);
}

const char *nnv_record_tier(const struct nnv_run_config *config) {
    static const char *const names[] = {"smoke", "default", "full"};
    return config->tier >= 0 && config->tier < 3 ? names[config->tier] : "?";
}

void nnv_record_header(const struct nnv_run_options *o, const struct nnv_driver_info *driver, struct nnv_text *out) {
    const struct nnv_run_config *config = o->config;
    char selection[17];
    nnv_text_add(out, "{\"nnvts\":");
    nnv_text_add_json(out, NNVTS_VERSION);
    add_member(out, "format", "nnvts-journal/1");
    nnv_text_add(out, ",\"driver\":{\"argument\":");
    nnv_text_add_json(out, config->driver);
    add_member(out, "name", driver->name);
    add_member(out, "version", driver->version);
    add_member(out, "type", driver->type);
    nnv_text_addf(out, ",\"level\":%d}", driver->level);
    /* JSON readers hold integers in 64 bits with a sign. */
    nnv_text_addf(out, config->seed <= INT64_MAX ? ",\"seed\":%" PRIu64 : ",\"seed\":\"%" PRIu64 "\"", config->seed);
    nnv_text_addf(out, ",\"jobs\":%d", config->jobs);
    add_member(out, "precision", nnv_record_precision(config));
    add_member(out, "tier", nnv_record_tier(config));
    if (config->count > 0) nnv_text_addf(out, ",\"count\":%" PRIu64, config->count);
    nnv_text_add(out, ",\"argv\":[");
    for (int i = 0; i < o->argc; i++) {
        if (i > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, o->argv[i]);
    }
    nnv_text_addf(out, "],\"cases\":%zu", o->count);
    nnv_record_selection(o->cases, o->count, selection);
    add_member(out, "selection", selection);
    nnv_record_place(out);
    add_suites(out, o->cases, o->count);
    add_coverage(out);
    nnv_text_add(out, "}");
}

/* --------------------------------------------------------------- case lines */

/** A member from bytes that may hold NULs; absent if empty. remark: a further line, or NULL. */
static void add_bytes(struct nnv_text *out, const char *name, struct nnv_bytes b, const char *remark) {
    if (b.len == 0 && remark == NULL) return;
    struct nnv_text t = {0};
    /* A text that was cut at its beginning may begin within a character. */
    while (b.len > 0 && ((unsigned char)*b.data & 0xc0) == 0x80) b.data++, b.len--;
    for (size_t at = 0; at < b.len;) {
        size_t n = strnlen(b.data + at, b.len - at);
        nnv_text_add_n(&t, b.data + at, n);
        at += n;
        if (at < b.len) nnv_text_add(&t, "\xef\xbf\xbd"), at++;
    }
    if (remark != NULL) nnv_text_addf(&t, "%s%s", t.len > 0 ? "\n" : "", remark);
    out->failed = out->failed || t.failed;
    add_member(out, name, t.data != NULL ? t.data : "");
    nnv_text_free(&t);
}

static const char *const verdict_names[NNVTS_VERDICT_COUNT] = {
#define X(name) [NNVTS_##name] = #name,
    NNVTS_VERDICTS(X)
#undef X
};

const char *nnv_record_verdict(enum nnvts_verdict v) { return verdict_names[v]; }

void nnv_record_case(const struct nnv_case *c, const struct nnv_ended *e, const struct nnv_record_extra *extra,
                     struct nnv_text *out) {
    char signal[32];
    enum nnvts_verdict verdict = e->verdict;
    const char *remark = extra->remark;
    bool sound = e->outputs.len == 0 || nnv_json_is_array(e->outputs.data, e->outputs.len);
    if (!sound) {
        verdict = NNVTS_ERROR;
        remark = "nnvts: the comparisons came damaged from the worker";
    }
    nnv_text_add(out, "{\"case\":");
    nnv_text_add_json(out, c->name);
    add_member(out, "suite", c->suite);
    add_member(out, "op", c->op);
    add_member(out, "type", c->type);
    add_member(out, "tags", c->tags);
    add_member(out, "verdict", verdict_names[verdict]);
    if (verdict != NNVTS_PASS) add_bytes(out, "reason", e->reason, remark);
    nnv_text_addf(out,
                  ",\"compared\":%" PRIu64 ",\"not_compared\":%" PRIu64 ",\"ms\":%" PRIu64 ".%03" PRIu64
                  ",\"driver_us\":%" PRIu64,
                  e->compared, e->not_compared, e->ns / 1000000, e->ns / 1000 % 1000, e->driver_ns / 1000);
    if (e->start_ns > 0) nnv_text_addf(out, ",\"began_us\":%" PRIu64, nnv_wall_us(e->start_ns));
    if (e->worker > 0) nnv_text_addf(out, ",\"worker\":%" PRIu32, e->worker);
    if (e->phase != NNV_PHASE_NONE) add_member(out, "phase", nnv_phase_name(e->phase));
    if (e->signal != 0) add_member(out, "signal", nnv_signal_name(e->signal, signal));
    add_bytes(out, "backtrace", e->backtrace, NULL);
    add_bytes(out, "log", e->log, NULL);
    if (extra->dump != NULL) add_member(out, "dump", extra->dump);
    if (extra->replay != NULL) add_member(out, "replay", extra->replay);
    if (extra->again != NULL) add_member(out, "again", extra->again);
    if (sound && e->outputs.len > 0) {
        nnv_text_add(out, ",\"outputs\":");
        nnv_text_add_n(out, e->outputs.data, e->outputs.len);
    }
    nnv_text_add(out, "}");
}

/* ------------------------------------------------------------------- replay */

/** A word of a command line, quoted for a shell where needed. */
static void add_quoted(struct nnv_text *out, const char *s) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^~";
    if (*s != '\0' && s[strspn(s, plain)] == '\0') {
        nnv_text_add(out, s);
        return;
    }
    nnv_text_add(out, "'");
    for (; *s != '\0'; s++)
        if (*s == '\'')
            nnv_text_add(out, "'\\''");
        else
            nnv_text_add_n(out, s, 1);
    nnv_text_add(out, "'");
}

static void add_option(struct nnv_text *out, const char *option, const char *value) {
    nnv_text_addf(out, " %s ", option);
    add_quoted(out, value);
}

void nnv_record_replay(const struct nnv_run_config *config, const struct nnv_case *c, const char *dump,
                       struct nnv_text *out) {
    if (dump != NULL) { /* the dump says by which profile it is judged */
        nnv_text_add(out, "nnvts replay ");
        add_quoted(out, dump);
        add_option(out, "--driver", config->driver);
        return;
    }
    nnv_text_add(out, "nnvts run");
    add_option(out, "--driver", config->driver);
    if (config->precision >= 0) add_option(out, "--precision", nnv_record_precision(config));
    struct nnv_text filter = {0};
    nnv_select_exactly(c->name, &filter);
    add_option(out, "--suite", c->suite);
    add_option(out, "--filter", filter.data != NULL ? filter.data : "");
    if (config->specs != NULL && strcmp(c->suite, "spec") == 0) add_option(out, "--specs", config->specs);
    nnv_text_addf(out, " --seed %" PRIu64 " --tier %s", config->seed, nnv_record_tier(config));
    if (config->count > 0) nnv_text_addf(out, " --count %" PRIu64, config->count);
    out->failed = out->failed || filter.failed;
    nnv_text_free(&filter);
}
