/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file trace.c The run as a trace for chrome://tracing or Perfetto: a track a worker, a slice a case. How long
 * the driver took of it is a slice within, from the case's beginning: its length is known, its place is not.
 */
#include <inttypes.h>
#include <math.h>

#include "harness/journal/verdict.h"
#include "reports/forms/own.h"
#include "harness/journal/load.h"

/** Separates events, and begins one. */
static void begin_event(struct nnv_form_writer *w) { nnv_text_add(&w->t, w->events++ ? ",\n{" : "\n{"); }

static void begin_trace(struct nnv_form_writer *w) {
    const json_t *driver = json_object_get(w->header, "driver");
    w->start_us = nnv_time_us(nnv_json_text(w->header, "start", ""));
    if (w->start_us < 0) w->start_us = 0;
    nnv_text_add(&w->t, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    begin_event(w);
    nnv_text_add(&w->t, "\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
    nnv_text_add_json(&w->t, nnv_json_text(driver, "argument", "?"));
    nnv_text_add(&w->t, "}}");
}

/** A track is named when its first case comes. */
static void name_track(struct nnv_form_writer *w, uint64_t worker) {
    const uint32_t before = w->workers.count;
    if (nnv_id_add(&w->workers, worker) == NNV_MAP_NONE) w->failed = true;
    if (w->workers.count == before) return;
    begin_event(w);
    nnv_text_addf(&w->t,
                  "\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu64
                  ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker %" PRIu64 "\"}}",
                  worker, worker);
}

static const char *colour(enum nnvts_verdict v) {
    return v == NNVTS_PASS ? "good" : nnv_verdict_bad(v) ? "terrible" : "grey";
}

static void add_text(struct nnv_form_writer *w, const json_t *record, const char *member) {
    const char *s = nnv_json_text(record, member, "");
    if (*s == '\0') return;
    nnv_text_addf(&w->t, ",\"%s\":", member);
    nnv_text_add_json(&w->t, s);
}

static void add_trace(struct nnv_form_writer *w, const json_t *record, enum nnvts_verdict v) {
    const json_t *began = json_object_get(record, "began_us"), *ms = json_object_get(record, "ms");
    const uint64_t worker = nnv_json_count(record, "worker");
    if (!json_is_integer(began) || json_integer_value(began) < w->start_us) {
        w->timeless++;
        return;
    }
    const int64_t at = json_integer_value(began) - w->start_us;
    double length = fmin(fmax(json_number_value(ms), 0) * 1000, 1e15);
    double driver = fmin((double)nnv_json_count(record, "driver_us"), length);
    name_track(w, worker);
    begin_event(w);
    nnv_text_add(&w->t, "\"ph\":\"X\",\"name\":");
    nnv_text_add_json(&w->t, nnv_json_text(record, "case", ""));
    nnv_text_add(&w->t, ",\"cat\":");
    nnv_text_add_json(&w->t, nnv_json_text(record, "suite", ""));
    nnv_text_addf(&w->t,
                  ",\"pid\":1,\"tid\":%" PRIu64 ",\"ts\":%" PRId64
                  ",\"dur\":%.0f,\"cname\":\"%s\",\"args\":{\"verdict\":\"%s\",\"compared\":%" PRIu64,
                  worker, at, length, colour(v), nnv_verdict_name(v), nnv_json_count(record, "compared"));
    add_text(w, record, "op");
    add_text(w, record, "type");
    add_text(w, record, "reason");
    nnv_text_add(&w->t, "}}");
    if (!(driver > 0)) return;
    begin_event(w);
    nnv_text_addf(&w->t,
                  "\"ph\":\"X\",\"name\":\"driver\",\"cat\":\"driver\",\"pid\":1,\"tid\":%" PRIu64 ",\"ts\":%" PRId64
                  ",\"dur\":%.0f}",
                  worker, at, driver);
}

static void end_trace(struct nnv_form_writer *w) {
    nnv_text_add(&w->t, "\n],\"otherData\":{\"nnvts\":");
    nnv_text_add_json(&w->t, nnv_json_text(w->header, "nnvts", "?"));
    nnv_text_add(&w->t, ",\"start\":");
    nnv_text_add_json(&w->t, nnv_json_text(w->header, "start", "?"));
    nnv_text_addf(&w->t, ",\"cases\":%" PRIu64 ",\"without_time\":%zu,\"not_run\":%zu}}\n", w->number, w->timeless,
                  w->verdicts[NNVTS_NOTRUN]);
}

const struct nnv_form_kind nnv_form_trace = {
    .name = "trace", .begin = begin_trace, .record = add_trace, .end = end_trace};
