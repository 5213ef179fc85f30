/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/bucket.h"
#include "harness/journal/line.h"
#include "harness/journal/outcome.h"
#include "harness/journal/verdict.h"

static const size_t list_limit = (size_t)1 << 30;

/* Reasons: beyond the first bound only what they have in common is kept, beyond the second nothing. */
enum { REASONS_WHOLE = 32 << 20, REASONS_MAX = 48 << 20 };
static const char no_room[] = "one of very many different reasons: journal.jsonl has it";

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
    if (value == NULL) return NULL;
    const char *problem = !json_is_object(value) ? "not an object" : !clean(value) ? "out of memory" : NULL;
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

void nnv_report_add_seed(struct nnv_text *t, const json_t *header) {
    const json_t *seed = json_object_get(header, "seed");
    if (json_is_integer(seed))
        nnv_text_addf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(seed));
    else
        nnv_text_add(t, json_is_string(seed) ? json_string_value(seed) : "?");
}

/* ---------------------------------------------------------------- cases.tsv */

/** The field as the journal has it: bytes that are not UTF-8 replaced. NULL when out of memory. */
static const char *field_text(struct nnv_report *r, const char *field) {
    const char *p = field;
    while (*p != '\0' && (unsigned char)*p < 0x80) p++;
    if (*p == '\0') return field;

    struct nnv_text t = {0};
    nnv_text_add_json(&t, field);
    json_t *value = t.failed ? NULL : json_loads(t.data, JSON_DECODE_ANY, NULL);
    const char *s = value == NULL ? NULL : nnv_arena_strdup(r->arena, json_string_value(value));
    json_decref(value);
    nnv_text_free(&t);
    return s;
}

/** Cuts one line at its tabs. True if it has exactly n fields. */
static bool cut_fields(char *line, const char **field, int n) {
    for (int i = 0; i < n; i++) {
        field[i] = line;
        char *tab = strchr(line, '\t');
        if ((tab == NULL) != (i == n - 1)) return false;
        if (tab == NULL) break;
        *tab = '\0';
        line = tab + 1;
    }
    return true;
}

static enum nnv_status read_case(struct nnv_report *r, char *line, struct nnv_err *err) {
    enum { NAME, SUITE, OP, TYPE, TAGS, FIELDS };
    const char *field[FIELDS];
    if (!cut_fields(line, field, FIELDS) || *field[NAME] == '\0' || *field[SUITE] == '\0')
        return nnv_fail(err, NNV_INVALID, "not a case: name, suite, op, type and tags, with tabs between them");
    for (int i = 0; i < TAGS; i++) {
        field[i] = field_text(r, field[i]);
        if (field[i] == NULL) return nnv_no_memory(err);
    }
    uint32_t before = r->names.count;
    uint32_t name = nnv_map_add(&r->names, field[NAME]);
    if (name != NNV_MAP_NONE && r->names.count == before)
        return nnv_fail(err, NNV_INVALID, "case '%s' is listed twice", field[NAME]);
    struct nnv_report_case *c = &r->item[r->count];
    *c = (struct nnv_report_case){
        .name = field[NAME],
        .tags = field[TAGS],
        .suite = nnv_map_add(&r->suites, field[SUITE]),
        .op = nnv_map_add(&r->ops, field[OP]),
        .type = nnv_map_add(&r->types, field[TYPE]),
        .verdict = NNVTS_NOTRUN,
        .reason = "",
        .expectation = NNV_MAP_NONE,
    };
    if (name == NNV_MAP_NONE || c->suite == NNV_MAP_NONE || c->op == NNV_MAP_NONE || c->type == NNV_MAP_NONE)
        return nnv_no_memory(err);
    r->count++;
    return NNV_OK;
}

static enum nnv_status read_list(struct nnv_report *r, const char *path, struct nnv_err *err) {
    size_t size = 0;
    enum nnv_status s = nnv_file_read(path, list_limit, &r->list, &size, err);
    if (s != NNV_OK) return s;
    if (memchr(r->list, '\0', size) != NULL)
        return nnv_fail(err, NNV_INVALID, "%s: not a list of cases: it is not text", path);
    size_t lines = 1;
    for (const char *p = r->list; *p != '\0'; p++) lines += *p == '\n';
    r->item = calloc(lines, sizeof *r->item);
    if (r->item == NULL || !nnv_map_reserve(&r->names, lines))
        return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);

    size_t number = 0;
    for (char *line = r->list, *next; *line != '\0'; line = next) {
        number++;
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        line[n] = '\0';
        s = read_case(r, line, err);
        if (s != NNV_OK) return nnv_at(err, s, "%s:%zu", path, number);
    }
    return NNV_OK;
}

/* ------------------------------------------------------------ journal.jsonl */

/** Types that operations of the run take, though no case has them, get numbers too. False when out of memory. */
static bool add_coverage_types(struct nnv_report *r) {
    const char *op;
    json_t *types, *type;
    size_t i;
    json_object_foreach(json_object_get(r->header, "coverage"), op, types) {
        if (nnv_map_find(&r->ops, op) == NNV_MAP_NONE || !json_is_array(types)) continue;
        json_array_foreach(types, i, type) {
            const char *name = json_string_value(type);
            if (name != NULL && nnv_map_add(&r->types, name) == NNV_MAP_NONE) return false;
        }
    }
    return true;
}

static enum nnv_status read_header(struct nnv_report *r, const char *line, size_t n, struct nnv_err *err) {
    json_error_t why;
    r->header = nnv_record_parse(line, n, &why);
    const char *format = r->header == NULL ? NULL : nnv_json_text(r->header, "format", NULL);
    if (format == NULL || strncmp(format, "nnvts-journal/", 14) != 0)
        return nnv_fail(err, NNV_INVALID, "not a journal of nnvts");
    if (strcmp(format, "nnvts-journal/1") != 0)
        return nnv_fail(err, NNV_UNSUPPORTED, "format %s is not known here; a newer nnvts made it", format);
    const json_t *cases = json_object_get(r->header, "cases");
    if (!json_is_integer(cases) || json_integer_value(cases) < 0 || (uint64_t)json_integer_value(cases) != r->count)
        return nnv_fail(err, NNV_INVALID, "the journal is of a run of %s cases, cases.tsv lists %zu",
                        json_is_integer(cases) ? nnv_count(nnv_json_count(r->header, "cases")).s : "?", r->count);
    return add_coverage_types(r) ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the types of the run");
}

/** Takes the count that is the member of record; absent is 0. */
static enum nnv_status take_count(const json_t *record, const char *member, uint64_t *out, struct nnv_err *err) {
    const json_t *value = json_object_get(record, member);
    if (value != NULL && (!json_is_integer(value) || json_integer_value(value) < 0))
        return nnv_fail(err, NNV_INVALID, "%s is not a count", member);
    *out = nnv_json_count(record, member);
    return NNV_OK;
}

/** Takes the time that is the member of record; absent is 0. */
static enum nnv_status take_time(const json_t *record, const char *member, double *out, struct nnv_err *err) {
    const json_t *value = json_object_get(record, member);
    if (value != NULL && (!json_is_number(value) || !(json_number_value(value) >= 0)))
        return nnv_fail(err, NNV_INVALID, "%s is not a time", member);
    *out = fmin(json_number_value(value), 1e15);
    return NNV_OK;
}

/** The kept copy of a reason; NULL when out of memory. Reasons that many cases have are kept once. */
static const char *keep_reason(struct nnv_report *r, const char *reason) {
    struct nnv_text like = {0};
    if (r->reason_bytes > REASONS_WHOLE) {
        nnv_text_add_like(&like, reason);
        reason = like.failed ? NULL : like.data != NULL ? like.data : "";
    }
    uint32_t i = reason == NULL ? NNV_MAP_NONE : nnv_map_find(&r->reasons, reason);
    const char *kept = i != NNV_MAP_NONE ? r->reasons.key[i] : NULL;
    if (kept == NULL && reason != NULL) {
        const bool room = r->reason_bytes <= REASONS_MAX;
        kept = room ? nnv_arena_strdup(r->arena, reason) : no_room;
        if (room && kept != NULL && nnv_map_add(&r->reasons, kept) == NNV_MAP_NONE) kept = NULL;
        r->reason_bytes += room && kept != NULL ? strlen(kept) + 1 : 0;
    }
    nnv_text_free(&like);
    return kept;
}

/** Keeps the first line of a reason of n bytes, cut between characters. */
static enum nnv_status take_reason(struct nnv_report *r, const char *s, size_t n, const char **out,
                                   struct nnv_err *err) {
    char cut[NNV_REPORT_REASON_MAX + 1];
    if (n > NNV_REPORT_REASON_MAX) {
        n = NNV_REPORT_REASON_MAX;
        while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
    }
    memcpy(cut, s, n);
    cut[n] = '\0';
    *out = keep_reason(r, cut);
    return *out != NULL ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status take_reason_member(struct nnv_report *r, const json_t *record, const char **out,
                                          struct nnv_err *err) {
    const json_t *value = json_object_get(record, "reason");
    if (value == NULL) return NNV_OK;
    if (!json_is_string(value)) return nnv_fail(err, NNV_INVALID, "reason is not a string");
    const char *s = json_string_value(value);
    return take_reason(r, s, nnv_first_line(s), out, err);
}

/** The case that a record is about, with its verdict. */
static enum nnv_status find_case(struct nnv_report *r, const char *name, struct nnv_report_case **out,
                                 struct nnv_err *err) {
    uint32_t i = nnv_map_find(&r->names, name);
    if (i == NNV_MAP_NONE) return nnv_fail(err, NNV_INVALID, "case '%s' is not in cases.tsv", name);
    if (r->item[i].length > 0) return nnv_fail(err, NNV_INVALID, "case '%s' has a second record", name);
    *out = &r->item[i];
    return NNV_OK;
}

static enum nnv_status find_judged(struct nnv_report *r, const json_t *record, struct nnv_report_case **out,
                                   struct nnv_err *err) {
    const char *name = nnv_json_text(record, "case", NULL);
    const char *verdict = nnv_json_text(record, "verdict", NULL);
    if (name == NULL || verdict == NULL) return nnv_fail(err, NNV_INVALID, "a record without case or verdict");
    enum nnv_status s = find_case(r, name, out, err);
    if (s == NNV_OK && !nnv_verdict_parse(verdict, &(*out)->verdict))
        return nnv_fail(err, NNV_INVALID, "unknown verdict '%s' of case '%s'", verdict, name);
    return s;
}

/** Takes a line that is read the quick way. */
static enum nnv_status take_line(struct nnv_report *r, char *line, const struct nnv_line *l,
                                 struct nnv_report_case **out, struct nnv_err *err) {
    struct nnv_report_case *c = NULL;
    char *end = line + (l->name - line) + l->name_bytes, quote = *end;
    *end = '\0';
    enum nnv_status s = find_case(r, l->name, &c, err);
    *end = quote;
    if (s != NNV_OK) return s;
    c->verdict = l->verdict;
    c->compared = l->compared;
    c->not_compared = l->not_compared;
    c->ms = l->ms;
    c->driver_us = l->driver_us;
    c->worker = l->worker;
    c->turn = l->turn;
    c->expectation = NNV_MAP_NONE;
    *out = c;
    return l->reason == NULL ? NNV_OK : take_reason(r, l->reason, l->reason_bytes, &c->reason, err);
}

/** Takes a line as the tree that a JSON parser makes of it. */
static enum nnv_status parse_line(struct nnv_report *r, const char *line, size_t n, struct nnv_report_case **out,
                                  struct nnv_err *err) {
    json_error_t why;
    json_t *record = nnv_record_parse(line, n, &why);
    if (record == NULL)
        return nnv_fail(err, NNV_INVALID, "not a record: %s at column %d; the journal is damaged", why.text,
                        why.column);
    struct nnv_report_case *c = NULL;
    enum nnv_status s = find_judged(r, record, &c, err);
    if (s == NNV_OK) s = take_count(record, "compared", &c->compared, err);
    if (s == NNV_OK) s = take_count(record, "not_compared", &c->not_compared, err);
    if (s == NNV_OK) s = take_time(record, "ms", &c->ms, err);
    if (s == NNV_OK) s = take_time(record, "driver_us", &c->driver_us, err);
    if (s == NNV_OK) s = take_reason_member(r, record, &c->reason, err);
    if (s == NNV_OK) nnv_outcome_take(c, record);
    json_decref(record);
    *out = c;
    return s;
}

static enum nnv_status read_record(struct nnv_report *r, char *line, size_t n, off_t offset, struct nnv_err *err) {
    struct nnv_line l;
    struct nnv_report_case *c = NULL;
    enum nnv_status s = nnv_line_scan(line, n, &l) ? take_line(r, line, &l, &c, err) : parse_line(r, line, n, &c, err);
    if (s != NNV_OK) return s;
    c->offset = offset;
    c->length = n;
    return NNV_OK;
}

/** Reads all lines; a last one without its end was cut short and is ignored. */
static enum nnv_status read_lines(struct nnv_report *r, FILE *file, const char *path, struct nnv_err *err) {
    char *line = NULL;
    size_t cap = 0, number = 0;
    off_t offset = 0;
    enum nnv_status s = NNV_OK;
    int first = getc(file);
    if (first != EOF && first != '{') s = nnv_fail(err, NNV_INVALID, "%s:1: not a journal of nnvts", path);
    if (first != EOF) ungetc(first, file);
    while (s == NNV_OK) {
        ssize_t n = getline(&line, &cap, file);
        if (n < 0 && !feof(file)) s = nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno));
        if (n <= 0 || line[n - 1] != '\n') break;
        number++;
        s = number == 1 ? read_header(r, line, (size_t)n - 1, err) : read_record(r, line, (size_t)n - 1, offset, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", path, number);
        offset += n;
    }
    free(line);
    if (s == NNV_OK && r->header == NULL)
        s = nnv_fail(err, NNV_INVALID, "%s:1: no whole first line; the run ended before it began", path);
    return s;
}

static enum nnv_status read_journal(struct nnv_report *r, const char *path, struct nnv_err *err) {
    r->journal = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    if (r->journal < 0 && errno == ENOENT)
        return nnv_fail(err, NNV_INVALID, "%s: %s; the run ended before it began", path, strerror(errno));
    if (r->journal < 0 || fstat(r->journal, &st) != 0) return nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return nnv_fail(err, NNV_INVALID, "%s: not a file", path);
    int fd = dup(r->journal);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (file == NULL) {
        if (fd >= 0) close(fd);
        return nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno));
    }
    enum nnv_status s = read_lines(r, file, path, err);
    fclose(file);
    return s;
}

/** Counts what the run as a whole needs. */
static void total(struct nnv_report *r) {
    double sum = 0, longest = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        r->verdicts[c->verdict]++;
        r->outcomes[c->outcome]++;
        r->bad += nnv_case_bad(c);
        if (__builtin_add_overflow(r->compared, c->compared, &r->compared)) r->compared = UINT64_MAX;
        sum += c->ms;
        if (c->ms > longest) longest = c->ms;
    }
    uint64_t jobs = nnv_json_count(r->header, "jobs");
    double shared = sum / (double)(jobs == 0 ? 1 : jobs);
    r->seconds = (shared > longest ? shared : longest) / 1000;
}

/** Explanations of failures, if the folder has any: what cannot be read is left out. */
static void read_explained(struct nnv_report *r) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, r->folder, NNV_EXPLAINED_FILE);
    json_t *root = path.failed ? NULL : json_load_file(path.data, 0, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value) {
        const uint32_t i = nnv_map_find(&r->names, name);
        const char *words = nnv_json_text(value, "words", "");
        if (i == NNV_MAP_NONE || *words == '\0') continue;
        r->item[i].explained_op = nnv_arena_strdup(r->arena, nnv_json_text(value, "op", ""));
        r->item[i].explained = r->item[i].explained_op ? nnv_arena_strdup(r->arena, words) : NULL;
    }
    json_decref(root);
    nnv_text_free(&path);
}

enum nnv_status nnv_report_load(const char *folder, struct nnv_report **report, struct nnv_err *err) {
    struct nnv_text path = {0};
    struct nnv_report *r = calloc(1, sizeof *r);
    if (r == NULL) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", folder);
    r->journal = -1;
    r->arena = nnv_arena_new();
    r->folder = strdup(folder);
    enum nnv_status s = NNV_OK;
    if (r->arena == NULL || r->folder == NULL) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", folder);

    nnv_text_add_path(&path, folder, "cases.tsv");
    if (s == NNV_OK && path.failed) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", folder);
    if (s == NNV_OK && access(path.data, F_OK) != 0)
        s = nnv_fail(err, NNV_INVALID, "%s: %s; is '%s' the folder of a run (nnvts run --out)?", path.data,
                     strerror(errno), folder);
    if (s == NNV_OK) s = read_list(r, path.data, err);

    nnv_text_clear(&path);
    nnv_text_add_path(&path, folder, "journal.jsonl");
    if (s == NNV_OK && path.failed) s = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", folder);
    if (s == NNV_OK) s = read_journal(r, path.data, err);
    nnv_text_free(&path);
    if (s != NNV_OK) {
        nnv_report_free(r);
        return s;
    }
    read_explained(r);
    nnv_outcomes_settle(r);
    total(r);
    *report = r;
    return NNV_OK;
}

void nnv_report_free(struct nnv_report *r) {
    if (r == NULL) return;
    if (r->journal >= 0) close(r->journal);
    json_decref(r->header);
    json_decref(r->judged);
    json_decref(r->flakes);
    nnv_map_free(&r->names);
    nnv_map_free(&r->suites);
    nnv_map_free(&r->ops);
    nnv_map_free(&r->types);
    nnv_map_free(&r->reasons);
    nnv_arena_free(r->arena);
    free(r->item);
    free(r->list);
    free(r->folder);
    free(r);
}

enum nnv_status nnv_report_record(const struct nnv_report *r, size_t i, json_t **record, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    if (c->length == 0) {
        *record = NULL;
        return NNV_OK;
    }
    char *line = malloc(c->length);
    if (line == NULL) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", r->folder);
    size_t have = 0;
    while (have < c->length) {
        ssize_t n = pread(r->journal, line + have, c->length - have, c->offset + (off_t)have);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        have += (size_t)n;
    }
    json_error_t why;
    json_t *value = have == c->length ? nnv_record_parse(line, have, &why) : NULL;
    free(line);
    if (value == NULL) return nnv_fail(err, NNV_IO, "%s/journal.jsonl has changed while it was read", r->folder);
    *record = value;
    return NNV_OK;
}

bool nnv_report_is_shard(const struct nnv_report *r) {
    return nnv_json_count(json_object_get(r->header, "shard"), "count") > 1;
}

size_t nnv_report_count(const struct nnv_report *r, enum nnvts_verdict v) { return r->verdicts[v]; }

enum nnvts_exit nnv_report_exit(const struct nnv_report *r) {
    if (r->verdicts[NNVTS_ERROR] > 0) return NNVTS_EXIT_ERROR;
    bool bad = r->verdicts[NNVTS_NOTRUN] > 0 || (r->compared == 0 && !nnv_report_is_shard(r)) || r->bad > 0;
    if (r->strict && (r->outcomes[NNVTS_OUTCOME_XPASS] > 0 || r->stale > 0)) bad = true;
    return bad ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
}
