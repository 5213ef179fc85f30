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
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/process.h"
#include "harness/journal/command.h"
#include "harness/journal/expect/expect.h"
#include "harness/journal/seal.h"
#include "harness/journal/verdict.h"

bool nnv_json_is_array(const char *s, size_t n) {
    enum { DEPTH = 16 };
    if (n == 0 || memchr(s, '\n', n) != NULL || memchr(s, '\r', n) != NULL) return false;
    return *s == '[' && nnv_json_skip(s, s + n, DEPTH) == s + n;
}

/* --------------------------------------------------------------- first line */

/** "model name" of the first processor. */
static void add_cpu(struct nnv_json_out *j, const char *fallback) {
    char name[256];
    nnv_json_string(j, "cpu", nnv_file_line("/proc/cpuinfo", "model name", name, sizeof name) ? name : fallback);
}

static void add_machine(struct nnv_json_out *j) {
    struct utsname u;
    struct sysinfo i;
    const bool named = uname(&u) == 0;
    char os[160];
    snprintf(os, sizeof os, "%s %s", named ? u.sysname : "?", named ? u.release : "");
    nnv_json_open(j, "machine", '{');
    nnv_json_string(j, "os", os);
    if (named) nnv_json_string(j, "host", u.nodename);
    add_cpu(j, named ? u.machine : "?");
    nnv_json_raw(j, "cores", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sysinfo(&i) == 0) nnv_json_uint(j, "memory_mb", (uint64_t)i.totalram * i.mem_unit / (1024 * 1024));
    nnv_json_close(j, '}');
}

void nnv_record_place(struct nnv_json_out *j) {
    const time_t now = time(NULL);
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&now, &utc) != NULL) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    nnv_json_string(j, "start", text);
    add_machine(j);
}

uint64_t nnv_selection_add(uint64_t hash, const char *name) {
    const uint64_t pair[2] = {hash, nnv_hash_str(name)};
    return nnv_hash_bytes(pair, sizeof pair);
}

bool nnv_selection_is(uint64_t hash, uint64_t count, const char *selection, uint64_t cases) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return strcmp(text, selection) == 0 && count == cases;
}

void nnv_record_selection(const struct nnv_case *cases, size_t count, char *buf) {
    uint64_t h = 0;
    for (size_t i = 0; i < count; i++) h = nnv_selection_add(h, cases[i].name);
    snprintf(buf, 17, "%016" PRIx64, h);
}

static void add_shard(struct nnv_json_out *j, const struct nnv_shard *s) {
    nnv_json_open(j, "shard", '{');
    nnv_json_uint(j, "index", s->index);
    nnv_json_uint(j, "count", s->count);
    nnv_json_string(j, "by", s->by);
    nnv_json_uint(j, "cases", s->cases);
    nnv_json_string(j, "selection", s->selection);
    nnv_json_string(j, "from", s->from);
    nnv_json_close(j, '}');
}

static void add_driver(struct nnv_json_out *j, const struct nnv_run_facts *f) {
    nnv_json_open(j, "driver", '{');
    nnv_json_string(j, "argument", f->driver);
    nnv_json_string(j, "name", f->name);
    nnv_json_string(j, "version", f->version);
    nnv_json_string(j, "type", f->type);
    nnv_json_raw(j, "level", "%d", f->level);
    nnv_json_close(j, '}');
}

/* JSON readers hold integers in 64 bits with a sign. */
static void add_seed(struct nnv_json_out *j, const struct nnv_run_facts *f) {
    nnv_json_raw(j, "seed", f->seed <= INT64_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", f->seed);
}

void nnv_record_header(const struct nnv_run_facts *f, struct nnv_text *out) {
    char selection[17];
    const size_t begin = out->len;
    struct nnv_json_out j = {.text = out};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "nnvts", NNVTS_VERSION);
    nnv_json_string(&j, "format", NNV_JOURNAL_FORMAT);
    add_driver(&j, f);
    add_seed(&j, f);
    nnv_json_raw(&j, "jobs", "%d", f->jobs);
    nnv_json_string(&j, "precision", f->precision);
    nnv_json_string(&j, "arithmetic", *f->arithmetic ? f->arithmetic : "strict");
    nnv_json_string(&j, "tier", f->tier);
    if (f->count > 0) nnv_json_uint(&j, "count", f->count);
    if (f->budget_ns > 0) nnv_json_raw(&j, "time_budget", "%.3f", (double)f->budget_ns / 1e9);
    if (f->graphs != NULL) nnv_json_string(&j, "graphs", f->graphs);
    if (f->saturation != NULL) nnv_json_string(&j, "saturation", f->saturation);
    if (f->networks != NULL) nnv_json_raw(&j, "networks", "%s", f->networks);
    if (f->min_judged > 0) nnv_json_uint(&j, "min_judged", f->min_judged);
    if (f->repeat > 1) nnv_json_uint(&j, "repeat", f->repeat);
    if (f->determinism) nnv_json_bool(&j, "determinism", true);
    if (f->compile_only) nnv_json_bool(&j, "compile_only", true);
    if (f->expectations != NULL) nnv_expect_write(f->expectations, "expected", &j);
    nnv_json_open(&j, "argv", '[');
    for (int i = 0; i < f->argc; i++) nnv_json_string(&j, NULL, f->argv[i]);
    nnv_json_close(&j, ']');
    nnv_json_uint(&j, "cases", f->case_count);
    nnv_record_selection(f->cases, f->case_count, selection);
    nnv_json_string(&j, "selection", selection);
    if (*f->specs_hash) nnv_json_string(&j, "specs", f->specs_hash);
    nnv_json_open(&j, "build", '{');
    nnv_json_string(&j, "program", f->program_build);
    nnv_json_string(&j, "driver", f->driver_build);
    nnv_json_close(&j, '}');
    if (f->shard != NULL && f->shard->count > 0) add_shard(&j, f->shard);
    nnv_record_place(&j);
    if (f->more != NULL) f->more(f, &j);
    nnv_json_close(&j, '}');
    nnv_seal(out, begin);
}

/* --------------------------------------------------------------- case lines */

/** A member from bytes that may hold NULs; absent if empty. remark: a further line, or NULL. */
static void add_bytes(struct nnv_json_out *j, const char *name, struct nnv_bytes b, const char *remark) {
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
    j->text->failed = j->text->failed || t.failed;
    nnv_json_string(j, name, t.data != NULL ? t.data : "");
    nnv_text_free(&t);
}

/** How often the case ran, and ended how, where it was repeated. */
static void add_repeats(struct nnv_json_out *j, const uint32_t *counts) {
    uint32_t runs, bad;
    nnv_repeats_sum(counts, &runs, &bad);
    if (runs == 0) return;
    nnv_json_open(j, "repeats", '{');
    nnv_json_uint(j, "runs", runs);
    nnv_json_uint(j, "bad", bad);
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++)
        if (counts[v] > 0) nnv_json_uint(j, nnv_verdict_name((enum nnvts_verdict)v), counts[v]);
    nnv_json_close(j, '}');
}

void nnv_record_case(const struct nnv_case *c, const struct nnv_ended *e, const struct nnv_record_extra *extra,
                     struct nnv_text *out) {
    char signal[32];
    enum nnvts_verdict verdict = e->verdict;
    const char *remark = extra->remark;
    const size_t begin = out->len;
    struct nnv_json_out j = {.text = out};
    bool sound = e->outputs.len == 0 || nnv_json_is_array(e->outputs.data, e->outputs.len);
    if (!sound) {
        verdict = NNVTS_ERROR;
        remark = "nnvts: the comparisons came damaged from the worker";
    }
    nnv_json_open(&j, NULL, '{');
    nnv_case_json(&j, c);
    nnv_json_string(&j, "verdict", nnv_verdict_name(verdict));
    if (verdict != NNVTS_PASS) nnv_json_string(&j, "why", nnv_why_name(nnv_why_of(verdict, e->why)));
    if (verdict == NNVTS_FAIL) nnv_json_string(&j, "mode", e->mode);
    if (verdict != NNVTS_PASS) add_bytes(&j, "reason", e->reason, remark);
    nnv_json_uint(&j, "compared", e->compared);
    nnv_json_uint(&j, "not_compared", e->not_compared);
    if (e->values > 0) nnv_json_uint(&j, "values", e->values);
    add_bytes(&j, "uses", e->uses, NULL);
    add_bytes(&j, "devices", e->devices, NULL);
    nnv_json_raw(&j, "ms", "%" PRIu64 ".%03" PRIu64, e->ns / 1000000, e->ns / 1000 % 1000);
    nnv_json_uint(&j, "driver_us", e->driver_ns / 1000);
    if (e->start_ns > 0) nnv_json_uint(&j, "began_us", nnv_wall_us(e->start_ns));
    if (e->worker > 0) nnv_json_uint(&j, "worker", e->worker);
    if (e->worker > 0 && e->turn > 0) nnv_json_uint(&j, "turn", e->turn);
    add_repeats(&j, e->counts);
    if (extra->outcome != NNVTS_OUTCOME_NONE) {
        nnv_json_string(&j, "outcome", nnv_outcome_name(extra->outcome));
        nnv_json_uint(&j, "expectation", extra->expectation);
    }
    if (extra->phase != NULL) nnv_json_string(&j, "phase", extra->phase);
    if (e->signal != 0) nnv_json_string(&j, "signal", nnv_signal_name(e->signal, signal));
    add_bytes(&j, "backtrace", e->backtrace, NULL);
    add_bytes(&j, "log", e->log, NULL);
    if (extra->dump != NULL) nnv_json_string(&j, "dump", extra->dump);
    if (extra->replay != NULL) nnv_json_string(&j, "replay", extra->replay);
    if (extra->again != NULL) nnv_json_string(&j, "again", extra->again);
    if (e->drift.len > 0 && nnv_json_is_array(e->drift.data, e->drift.len)) {
        nnv_json_raw(&j, "drift", "%s", "");
        nnv_text_add_n(out, e->drift.data, e->drift.len);
    }
    if (sound && e->outputs.len > 0) {
        nnv_json_raw(&j, "outputs", "%s", "");
        nnv_text_add_n(out, e->outputs.data, e->outputs.len);
    }
    nnv_json_close(&j, '}');
    nnv_seal(out, begin);
}

void nnv_record_origin(const struct nnv_run_facts *f, const struct nnv_case *c, const struct nnv_ended *e,
                       struct nnv_text *out) {
    struct nnv_text run = {0};
    struct nnv_json_out j = {.text = out, .spaced = true};
    nnv_command_run(f, &c, 1, &run);
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "nnvts", NNVTS_VERSION);
    add_driver(&j, f);
    add_seed(&j, f);
    nnv_json_string(&j, "tier", f->tier);
    add_machine(&j);
    nnv_json_string(&j, "case", c->name);
    nnv_json_string(&j, "verdict", nnv_verdict_name(e->verdict));
    add_bytes(&j, "reason", e->reason, NULL);
    add_bytes(&j, "log", e->log, NULL);
    nnv_json_string(&j, "run", run.data);
    nnv_json_close(&j, '}');
    out->failed = out->failed || run.failed;
    nnv_text_free(&run);
}
