/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/words.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"

/* ---------------------------------------------------------------------- names */

/** Never 0, which marks an empty slot. */
static uint64_t hash_of(const char *name) {
    uint64_t h = nnv_hash_str(name);
    return h != 0 ? h : 1;
}

static size_t slot_of(const struct nnv_seen *s, uint64_t hash) {
    size_t i = (size_t)hash & (s->cap - 1);
    while (s->slot[i] != 0 && s->slot[i] != hash) i = (i + 1) & (s->cap - 1);
    return i;
}

int nnv_seen_add(struct nnv_seen *s, const char *name) {
    uint64_t hash = hash_of(name);
    if (2 * (s->count + 1) > s->cap) {
        struct nnv_seen more = {.cap = s->cap ? 2 * s->cap : 1024, .count = s->count};
        more.slot = calloc(more.cap, sizeof *more.slot);
        if (more.slot == NULL) return -1;
        for (size_t i = 0; i < s->cap; i++)
            if (s->slot[i] != 0) more.slot[slot_of(&more, s->slot[i])] = s->slot[i];
        free(s->slot);
        *s = more;
    }
    size_t i = slot_of(s, hash);
    if (s->slot[i] == hash) return 0;
    s->slot[i] = hash;
    s->count++;
    return 1;
}

bool nnv_seen_has(const struct nnv_seen *s, const char *name) {
    return s->cap > 0 && s->slot[slot_of(s, hash_of(name))] != 0;
}

void nnv_seen_free(struct nnv_seen *s) {
    free(s->slot);
    *s = (struct nnv_seen){0};
}

/* ---------------------------------------------------------------------- lines */

/** Opens a regular file, and only that. */
static enum nnv_status open_file(const char *folder, const char *name, char **path, FILE **file, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct stat st;
    nnv_text_add_path(&t, folder, name);
    *path = t.data;
    if (t.failed || t.data == NULL) return nnv_no_memory(err);
    int fd = open(*path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return nnv_fail(err, NNV_INVALID, "%s: %s; is '%s' the folder of a run (nnvts run --out)?", *path,
                        strerror(errno), folder);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return nnv_fail(err, NNV_INVALID, "%s: not a file", *path);
    }
    *file = fdopen(fd, "r");
    if (*file != NULL) return NNV_OK;
    close(fd);
    return nnv_no_memory(err);
}

/** Reads a line without its end; *n is -1 behind the last, or if that was cut short. */
static enum nnv_status read_line(FILE *file, const char *path, char **line, size_t *cap, ssize_t *n,
                                 struct nnv_err *err) {
    errno = 0;
    *n = getline(line, cap, file);
    if (*n < 0 && errno == ENOMEM) return nnv_no_memory(err);
    if (*n < 0 && ferror(file)) return nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno));
    if (*n > 0 && (*line)[*n - 1] == '\n')
        (*line)[--*n] = '\0';
    else
        *n = -1;
    return NNV_OK;
}

enum nnv_status nnv_header_check(const json_t *header, struct nnv_err *err) {
    const char *format = nnv_json_text(header, "format", "");
    if (strncmp(format, "nnvts-journal/", 14) != 0) return nnv_fail(err, NNV_INVALID, "not a journal of nnvts");
    if (strcmp(format, "nnvts-journal/1") != 0)
        return nnv_fail(err, NNV_UNSUPPORTED, "format %.40s is not known here; a newer nnvts made it", format);
    return NNV_OK;
}

enum nnv_status nnv_reader_open(const char *folder, struct nnv_journal_reader *r, struct nnv_err *err) {
    json_error_t why;
    ssize_t n = -1;
    *r = (struct nnv_journal_reader){0};
    enum nnv_status s = open_file(folder, "cases.tsv", &r->list_path, &r->list, err);
    if (s == NNV_OK) s = open_file(folder, "journal.jsonl", &r->journal_path, &r->journal, err);
    int first = s == NNV_OK ? getc(r->journal) : EOF;
    if (first != EOF) ungetc(first, r->journal);
    if (s == NNV_OK && first != EOF && first != '{')
        s = nnv_fail(err, NNV_INVALID, "%s:1: not a journal of nnvts", r->journal_path);
    if (s == NNV_OK) s = read_line(r->journal, r->journal_path, &r->line, &r->line_cap, &n, err);
    if (s == NNV_OK && n < 0)
        s = nnv_fail(err, NNV_INVALID, "%s:1: no whole first line; the run ended before it began", r->journal_path);
    if (s == NNV_OK) {
        r->line_number = 1;
        r->line_bytes = (size_t)n;
        r->header = nnv_record_parse(r->line, (size_t)n, &why);
        s = nnv_header_check(r->header, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:1", r->journal_path);
    }
    if (s != NNV_OK) nnv_reader_close(r);
    return s;
}

/** Checks what all reports rely on. */
static enum nnv_status check_record(struct nnv_journal_reader *r, const json_t *record, struct nnv_err *err) {
    const char *name = nnv_json_text(record, "case", ""), *verdict = nnv_json_text(record, "verdict", "");
    enum nnvts_verdict v;
    if (*name == '\0' || *verdict == '\0') return nnv_fail(err, NNV_INVALID, "a record without case or verdict");
    if (!nnv_verdict_parse(verdict, &v))
        return nnv_fail(err, NNV_INVALID, "unknown verdict '%.40s' of case '%.200s'", verdict, name);
    int added = nnv_seen_add(&r->seen, name);
    if (added < 0) return nnv_no_memory(err);
    return added ? NNV_OK : nnv_fail(err, NNV_INVALID, "case '%.200s' has a second record", name);
}

enum nnv_status nnv_reader_next(struct nnv_journal_reader *r, json_t **record, struct nnv_err *err) {
    json_error_t why;
    ssize_t n;
    *record = NULL;
    enum nnv_status s = read_line(r->journal, r->journal_path, &r->line, &r->line_cap, &n, err);
    if (s != NNV_OK || n < 0) return s;
    r->line_number++;
    r->line_bytes = (size_t)n;
    json_t *value = nnv_record_parse(r->line, (size_t)n, &why);
    s = value != NULL
            ? check_record(r, value, err)
            : nnv_fail(err, NNV_INVALID, "not a record: %s at column %d; the journal is damaged", why.text, why.column);
    if (s != NNV_OK) {
        json_decref(value);
        return nnv_at(err, s, "%s:%zu", r->journal_path, r->line_number);
    }
    *record = value;
    return NNV_OK;
}

/** The field as the journal has it. NULL when out of memory. */
static const char *as_in_journal(const char *field, json_t **replaced) {
    const char *p = field;
    while (*p != '\0' && (unsigned char)*p < 0x80) p++;
    if (*p == '\0') return field;
    struct nnv_text t = {0};
    nnv_text_add_json(&t, field);
    *replaced = t.failed ? NULL : json_loads(t.data, JSON_DECODE_ANY, NULL);
    nnv_text_free(&t);
    return json_string_value(*replaced);
}

static void forget_replaced(struct nnv_journal_reader *r) {
    for (size_t i = 0; i < sizeof r->replaced / sizeof *r->replaced; i++) {
        json_decref(r->replaced[i]);
        r->replaced[i] = NULL;
    }
}

enum nnv_status nnv_reader_listed(struct nnv_journal_reader *r, struct nnv_listed *c, bool *more, struct nnv_err *err) {
    enum { FIELDS = 5 };
    const char *field[FIELDS];
    ssize_t n;
    enum nnv_status s = read_line(r->list, r->list_path, &r->listed, &r->listed_cap, &n, err);
    *more = n >= 0;
    if (s != NNV_OK || n < 0) return s;
    r->list_number++;
    char *at = r->listed;
    int i = 0;
    for (; i < FIELDS && at != NULL; i++) {
        field[i] = at;
        at = strchr(at, '\t');
        if (at != NULL) *at++ = '\0';
    }
    if (i < FIELDS || at != NULL || strlen(r->listed) > (size_t)n || *field[0] == '\0')
        return nnv_fail(err, NNV_INVALID, "%s:%zu: not a case: name, suite, op, type and tags, with tabs between them",
                        r->list_path, r->list_number);
    forget_replaced(r);
    for (i = 0; i < FIELDS; i++) {
        field[i] = as_in_journal(field[i], &r->replaced[i]);
        if (field[i] == NULL) return nnv_no_memory(err);
    }
    *c = (struct nnv_listed){field[0], field[1], field[2], field[3], field[4]};
    return NNV_OK;
}

void nnv_reader_close(struct nnv_journal_reader *r) {
    json_decref(r->header);
    if (r->journal != NULL) fclose(r->journal);
    if (r->list != NULL) fclose(r->list);
    free(r->journal_path);
    free(r->list_path);
    free(r->line);
    free(r->listed);
    nnv_seen_free(&r->seen);
    forget_replaced(r);
    *r = (struct nnv_journal_reader){0};
}

/* -------------------------------------------------------------------- records */

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
