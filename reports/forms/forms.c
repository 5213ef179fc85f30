/* SPDX-License-Identifier: Apache-2.0 */
/** @file forms.c The frame of all forms; TAP and CSV. */
#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/forms/own.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/journal/load.h"

enum { REASON = 400 };

const char *const nnv_form_names[NNV_FORM_COUNT + 1] = {"tap", "csv", "github", "trace", NULL};

static const struct nnv_form_kind *kind_of(enum nnv_report_form form) {
    static const struct nnv_form_kind *const kinds[NNV_FORM_COUNT] = {
        [NNV_FORM_TAP] = &nnv_form_tap,
        [NNV_FORM_CSV] = &nnv_form_csv,
        [NNV_FORM_GITHUB] = &nnv_form_github,
        [NNV_FORM_TRACE] = &nnv_form_trace,
    };
    return kinds[form];
}

const char *nnv_form_shown(struct nnv_form_writer *w, const char *s, size_t most) {
    nnv_text_clear(&w->shown);
    nnv_text_add_shown(&w->shown, s, strlen(s), most);
    w->failed = w->failed || w->shown.failed;
    return w->shown.data != NULL ? w->shown.data : "";
}

/** The first line of the record's reason, or what stands for it; lasts until the next call. */
static const char *form_reason(struct nnv_form_writer *w, const json_t *record) {
    const char *reason = nnv_json_text(record, "reason", "");
    nnv_text_clear(&w->shown);
    nnv_text_add_shown(&w->shown, reason, nnv_first_line(reason), REASON);
    w->failed = w->failed || w->shown.failed;
    return w->shown.len > 0 ? w->shown.data : nnv_verdict_word(nnv_record_verdict_of(record));
}

/* ------------------------------------------------------------------------ TAP */

/** "name # DIRECTIVE" with what has a meaning in TAP escaped. */
static void add_tap_line(struct nnv_form_writer *w, bool ok, const char *name) {
    nnv_text_addf(&w->t, "%sok %" PRIu64 " - ", ok ? "" : "not ", w->number);
    for (const char *s = nnv_form_shown(w, name, SIZE_MAX / 2); *s != '\0'; s++) {
        if (*s == '#' || *s == '\\') nnv_text_add(&w->t, "\\");
        nnv_text_add_n(&w->t, s, 1);
    }
}

/** What is written from here on does nothing to a terminal. */
static void plain_from(struct nnv_form_writer *w, size_t from) {
    if (!w->t.failed && w->t.len > from) nnv_err_plain(w->t.data + from);
}

static void add_yaml(struct nnv_form_writer *w, const char *key, const char *value) {
    if (*value == '\0') return;
    const size_t from = w->t.len;
    nnv_text_addf(&w->t, "  %s: ", key); /* a JSON string is one of YAML, too */
    nnv_text_add_json(&w->t, value);
    plain_from(w, from);
    nnv_text_add(&w->t, "\n");
}

static void begin_tap(struct nnv_form_writer *w) {
    const json_t *driver = json_object_get(w->header, "driver");
    nnv_text_addf(&w->t, "TAP version 14\n1..%" PRIu64 "\n# nnvts ", nnv_json_count(w->header, "cases"));
    nnv_text_add(&w->t, nnv_form_shown(w, nnv_json_text(w->header, "nnvts", "?"), REASON));
    nnv_text_add(&w->t, ", driver ");
    nnv_text_add(&w->t, nnv_form_shown(w, nnv_json_text(driver, "argument", "?"), REASON));
    nnv_text_add(&w->t, " ");
    nnv_text_add(&w->t, nnv_form_shown(w, nnv_json_text(driver, "version", "?"), REASON));
    nnv_text_add(&w->t, ", seed ");
    nnv_header_add_seed(&w->t, w->header);
    nnv_text_add(&w->t, "\n");
}

static void add_tap(struct nnv_form_writer *w, const json_t *record, enum nnvts_verdict v) {
    const char *outcome = nnv_json_text(record, "outcome", "");
    const bool bad = nnv_verdict_bad(v), todo = strcmp(outcome, "XFAIL") == 0 || strcmp(outcome, "XPASS") == 0;
    add_tap_line(w, !bad, nnv_json_text(record, "case", ""));
    if (todo) nnv_text_addf(&w->t, " # TODO %s", bad ? "expected to fail" : "expected to fail, and does not");
    if (!todo && !bad && v != NNVTS_PASS)
        nnv_text_addf(&w->t, " # SKIP %s: %s", nnv_verdict_word(v), form_reason(w, record));
    nnv_text_add(&w->t, "\n");
    if (!bad) return;
    nnv_text_add(&w->t, "  ---\n");
    add_yaml(w, "message", nnv_json_text(record, "reason", ""));
    add_yaml(w, "severity", nnv_verdict_name(v));
    add_yaml(w, "op", nnv_json_text(record, "op", ""));
    add_yaml(w, "type", nnv_json_text(record, "type", ""));
    add_yaml(w, "phase", nnv_json_text(record, "phase", ""));
    add_yaml(w, "signal", nnv_json_text(record, "signal", ""));
    add_yaml(w, "dump", nnv_json_text(record, "dump", ""));
    add_yaml(w, "again", nnv_json_text(record, "replay", ""));
    nnv_text_add(&w->t, "  ...\n");
}

static void add_tap_missing(struct nnv_form_writer *w, const struct nnv_listed *c) {
    add_tap_line(w, false, c->name);
    nnv_text_add(&w->t, "\n  ---\n  message: \"not run\"\n  severity: \"NOTRUN\"\n  ...\n");
}

const struct nnv_form_kind nnv_form_tap = {
    .name = "tap", .begin = begin_tap, .record = add_tap, .missing = add_tap_missing};

/* ------------------------------------------------------------------------ CSV */

/** A field: in quotes where it holds what has a meaning in CSV. */
static void add_field(struct nnv_form_writer *w, const char *s, const char *behind) {
    const size_t from = w->t.len;
    const char *quote = s[strcspn(s, ",\"\r\n")] == '\0' ? "" : "\"";
    nnv_text_add(&w->t, quote);
    for (; *s != '\0'; s++) {
        if (*s == '"') nnv_text_add(&w->t, "\"");
        nnv_text_add_n(&w->t, s, 1);
    }
    nnv_text_add(&w->t, quote);
    plain_from(w, from);
    nnv_text_add(&w->t, behind);
}

static void begin_csv(struct nnv_form_writer *w) {
    nnv_text_add(&w->t, "case,suite,op,type,tags,verdict,outcome,compared,not_compared,ms,driver_us,began_us,worker,"
                        "ratio,mse,signal,dump,reason\n");
}

/** A number as the record has it, empty where it has none. */
static void add_number(struct nnv_form_writer *w, const json_t *record, const char *member) {
    const json_t *v = json_object_get(record, member);
    if (json_is_integer(v))
        nnv_text_addf(&w->t, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        nnv_text_add_double(&w->t, json_real_value(v));
    nnv_text_add(&w->t, ",");
}

static void add_measure(struct nnv_form_writer *w, double v) {
    if (isinf(v))
        nnv_text_add(&w->t, "inf");
    else if (!isnan(v))
        nnv_text_add_double(&w->t, v);
    nnv_text_add(&w->t, ",");
}

static void add_csv(struct nnv_form_writer *w, const json_t *record, enum nnvts_verdict v) {
    static const char *const texts[] = {"case", "suite", "op", "type", "tags"};
    static const char *const numbers[] = {"compared", "not_compared", "ms", "driver_us", "began_us", "worker"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_field(w, nnv_json_text(record, texts[i], ""), ",");
    add_field(w, nnv_verdict_name(v), ",");
    add_field(w, nnv_json_text(record, "outcome", ""), ",");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_number(w, record, numbers[i]);
    add_measure(w, nnv_record_ratio(record));
    add_measure(w, nnv_record_mse(record));
    add_field(w, nnv_json_text(record, "signal", ""), ",");
    add_field(w, nnv_json_text(record, "dump", ""), ",");
    add_field(w, nnv_json_text(record, "reason", ""), "\n");
}

static void add_csv_missing(struct nnv_form_writer *w, const struct nnv_listed *c) {
    const char *const texts[] = {c->name, c->suite, c->op, c->type, c->tags, "NOTRUN"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_field(w, texts[i], ",");
    nnv_text_add(&w->t, ",,,,,,,,,,,\n");
}

const struct nnv_form_kind nnv_form_csv = {
    .name = "csv", .begin = begin_csv, .record = add_csv, .missing = add_csv_missing};

/* ------------------------------------------------------------------ the frame */

/** Writes what is there; what can't be written shows at the end, by ferror(). */
static void flush(struct nnv_form_writer *w) {
    w->failed = w->failed || w->t.failed;
    if (w->t.len > 0) fwrite(w->t.data, 1, w->t.len, w->to);
    nnv_text_clear(&w->t);
}

static void drop(struct nnv_form_writer *w) {
    for (size_t i = 0; i < w->bugs; i++) {
        free(w->bug[i].name);
        free(w->bug[i].reason);
        free(w->bug[i].replay);
    }
    free(w->bug);
    nnv_buckets_free(&w->buckets);
    nnv_id_free(&w->workers);
    nnv_text_free(&w->t);
    nnv_text_free(&w->shown);
    json_decref((json_t *)w->header);
    free(w);
}

/** Begins a form on `to`, which stays the caller's. NULL when out of memory. */
static struct nnv_form_writer *form_begin(enum nnv_report_form form, FILE *to, const json_t *header) {
    struct nnv_form_writer *w = calloc(1, sizeof *w);
    if (w == NULL) return NULL;
    *w = (struct nnv_form_writer){.form = form, .to = to, .header = json_incref((json_t *)header)};
    if (kind_of(form)->begin != NULL) kind_of(form)->begin(w);
    flush(w);
    return w;
}

/** Adds a record, as nnv_reader_record() gives it. */
static void form_record(struct nnv_form_writer *w, const json_t *record) {
    enum nnvts_verdict v = nnv_record_verdict_of(record);
    w->number++;
    w->verdicts[v]++;
    w->expected += nnv_verdict_bad(v) && !nnv_record_bad(record);
    kind_of(w->form)->record(w, record, v);
    flush(w);
}

/** Adds the selected cases of the folder that have no record: r has none left. */
static enum nnv_status form_rest(struct nnv_form_writer *w, struct nnv_journal_reader *r, struct nnv_err *err) {
    struct nnv_listed c;
    bool more;
    enum nnv_status s = NNV_OK;
    while (s == NNV_OK && (s = nnv_reader_missing(r, &c, &more, err)) == NNV_OK && more) {
        w->number++;
        w->verdicts[NNVTS_NOTRUN]++;
        if (kind_of(w->form)->missing != NULL) kind_of(w->form)->missing(w, &c);
        flush(w);
    }
    return s;
}

enum nnv_status nnv_form_end(struct nnv_form_writer *w, struct nnv_err *err) {
    if (kind_of(w->form)->end != NULL) kind_of(w->form)->end(w);
    flush(w);
    bool failed = w->failed, broken = fflush(w->to) != 0 || ferror(w->to);
    drop(w);
    if (failed) return nnv_no_memory(err);
    return broken ? nnv_fail(err, NNV_IO, "the report could not be written: %s", strerror(errno)) : NNV_OK;
}

struct nnv_form_writer *nnv_form_live(enum nnv_report_form form, FILE *to, const char *header) {
    json_error_t why;
    json_t *value = nnv_record_parse(header, strlen(header), &why);
    struct nnv_form_writer *w = value != NULL ? form_begin(form, to, value) : NULL;
    json_decref(value);
    return w;
}

void nnv_form_line(struct nnv_form_writer *w, const char *line) {
    json_error_t why;
    json_t *record = nnv_record_parse(line, strlen(line), &why);
    if (record != NULL)
        form_record(w, record);
    else
        w->failed = true;
    json_decref(record);
    fflush(w->to);
}

/** What all cases of the run come to; writes their records if that has not been done. */
static enum nnv_status finish(struct nnv_form_writer *w, struct nnv_journal_reader *r, bool write,
                              struct nnv_err *err) {
    const json_t *record;
    enum nnv_status s = NNV_OK;
    while (s == NNV_OK && (s = nnv_reader_record(r, &record, err)) == NNV_OK && record != NULL)
        if (write) form_record(w, record);
    if (s == NNV_OK) s = form_rest(w, r, err);
    if (s == NNV_OK) return nnv_form_end(w, err);
    drop(w);
    return s;
}

enum nnv_status nnv_form_finish(struct nnv_form_writer *w, const char *folder, struct nnv_err *err) {
    struct nnv_journal_reader r;
    enum nnv_status s = nnv_reader_open(folder, &r, err);
    if (s != NNV_OK) {
        drop(w);
        return s;
    }
    s = finish(w, &r, false, err);
    nnv_reader_close(&r);
    return s;
}

enum nnv_status nnv_form_write(enum nnv_report_form form, const char *folder, FILE *to, struct nnv_err *err) {
    struct nnv_journal_reader r;
    enum nnv_status s = nnv_reader_open(folder, &r, err);
    if (s != NNV_OK) return s;
    struct nnv_form_writer *w = form_begin(form, to, r.header);
    s = w != NULL ? finish(w, &r, true, err) : nnv_no_memory(err);
    nnv_reader_close(&r);
    return s;
}
