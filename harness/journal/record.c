/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/process.h"
#include "harness/journal/expect.h"
#include "harness/journal/verdict.h"

bool nnv_json_is_array(const char *s, size_t n) {
    enum { DEPTH = 16 };
    return n > 0 && *s == '[' && nnv_json_skip(s, s + n, DEPTH) == s + n;
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

uint64_t nnv_selection_add(uint64_t hash, const char *name) {
    const uint64_t pair[2] = {hash, nnv_hash_str(name)};
    return nnv_hash_bytes(pair, sizeof pair);
}

void nnv_record_selection(const struct nnv_case *cases, size_t count, char *buf) {
    uint64_t h = 0;
    for (size_t i = 0; i < count; i++) h = nnv_selection_add(h, cases[i].name);
    snprintf(buf, 17, "%016" PRIx64, h);
}

static void add_shard(struct nnv_text *out, const struct nnv_shard *s) {
    nnv_text_addf(out, ",\"shard\":{\"index\":%" PRIu32 ",\"count\":%" PRIu32, s->index, s->count);
    add_member(out, "by", s->by);
    nnv_text_addf(out, ",\"cases\":%zu", s->cases);
    add_member(out, "selection", s->selection);
    add_member(out, "from", s->from);
    nnv_text_add(out, "}");
}

void nnv_record_header(const struct nnv_run_facts *f, struct nnv_text *out) {
    char selection[17];
    nnv_text_add(out, "{\"nnvts\":");
    nnv_text_add_json(out, NNVTS_VERSION);
    add_member(out, "format", NNV_JOURNAL_FORMAT);
    nnv_text_add(out, ",\"driver\":{\"argument\":");
    nnv_text_add_json(out, f->driver);
    add_member(out, "name", f->name);
    add_member(out, "version", f->version);
    add_member(out, "type", f->type);
    nnv_text_addf(out, ",\"level\":%d}", f->level);
    /* JSON readers hold integers in 64 bits with a sign. */
    nnv_text_addf(out, f->seed <= INT64_MAX ? ",\"seed\":%" PRIu64 : ",\"seed\":\"%" PRIu64 "\"", f->seed);
    nnv_text_addf(out, ",\"jobs\":%d", f->jobs);
    add_member(out, "precision", f->precision);
    add_member(out, "tier", f->tier);
    if (f->count > 0) nnv_text_addf(out, ",\"count\":%" PRIu64, f->count);
    if (f->repeat > 1) nnv_text_addf(out, ",\"repeat\":%" PRIu32, f->repeat);
    if (f->determinism) nnv_text_add(out, ",\"determinism\":true");
    if (f->expectations != NULL) {
        nnv_text_add(out, ",\"expected\":");
        nnv_expect_write(f->expectations, out);
    }
    nnv_text_add(out, ",\"argv\":[");
    for (int i = 0; i < f->argc; i++) {
        if (i > 0) nnv_text_add(out, ",");
        nnv_text_add_json(out, f->argv[i]);
    }
    nnv_text_addf(out, "],\"cases\":%zu", f->case_count);
    nnv_record_selection(f->cases, f->case_count, selection);
    add_member(out, "selection", selection);
    nnv_text_addf(out, ",\"build\":{\"program\":\"%s\",\"driver\":\"%s\"}", f->program_build, f->driver_build);
    if (f->shard != NULL && f->shard->count > 0) add_shard(out, f->shard);
    nnv_record_place(out);
    nnv_text_add(out, f->more);
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

/** How often the case ran, and ended how, where it was repeated. */
static void add_repeats(struct nnv_text *out, const uint32_t *counts) {
    uint32_t runs, bad;
    nnv_repeats_sum(counts, &runs, &bad);
    if (runs == 0) return;
    nnv_text_addf(out, ",\"repeats\":{\"runs\":%" PRIu32 ",\"bad\":%" PRIu32, runs, bad);
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        if (counts[v] > 0) nnv_text_addf(out, ",\"%s\":%" PRIu32, nnv_verdict_name((enum nnvts_verdict)v), counts[v]);
    nnv_text_add(out, "}");
}

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
    add_member(out, "verdict", nnv_verdict_name(verdict));
    if (verdict != NNVTS_PASS) add_bytes(out, "reason", e->reason, remark);
    nnv_text_addf(out,
                  ",\"compared\":%" PRIu64 ",\"not_compared\":%" PRIu64 ",\"ms\":%" PRIu64 ".%03" PRIu64
                  ",\"driver_us\":%" PRIu64,
                  e->compared, e->not_compared, e->ns / 1000000, e->ns / 1000 % 1000, e->driver_ns / 1000);
    if (e->start_ns > 0) nnv_text_addf(out, ",\"began_us\":%" PRIu64, nnv_wall_us(e->start_ns));
    if (e->worker > 0) nnv_text_addf(out, ",\"worker\":%" PRIu32, e->worker);
    if (e->worker > 0 && e->turn > 0) nnv_text_addf(out, ",\"turn\":%" PRIu32, e->turn);
    add_repeats(out, e->counts);
    if (extra->outcome != NNVTS_OUTCOME_NONE) {
        add_member(out, "outcome", nnv_outcome_name(extra->outcome));
        nnv_text_addf(out, ",\"expectation\":%" PRIu32, extra->expectation);
    }
    if (extra->phase != NULL) add_member(out, "phase", extra->phase);
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
