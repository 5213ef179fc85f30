/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/rng.h"
#include "base/words.h"
#include "harness/journal/record.h"
#include "harness/journal/seal.h"

/* ---------------------------------------------------------------------- lines */

static enum nnv_status cannot_open(const struct nnv_line_file *l, const char *folder, struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "%s: %s; is '%s' the folder of a run (nnvts run --out)?", l->path,
                    strerror(errno), folder);
}

/** Opens a regular file, and only that. */
static enum nnv_status open_lines(const char *folder, const char *name, struct nnv_line_file *l, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct stat st;
    nnv_text_add_path(&t, folder, name);
    l->path = t.data;
    if (t.failed || t.data == NULL) return nnv_no_memory(err);
    int fd = nnv_folder_open(l->path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return cannot_open(l, folder, err);
    const bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    l->file = is_file ? fdopen(fd, "r") : NULL;
    if (l->file == NULL) {
        close(fd);
        return is_file ? nnv_no_memory(err) : nnv_fail(err, NNV_INVALID, "%s: not a file", l->path);
    }
    setvbuf(l->file, NULL, _IOFBF, 1 << 18);
    return NNV_OK;
}

/** Reads a line; *more is false behind the last. *whole: it has its end. */
static enum nnv_status read_line(struct nnv_line_file *l, bool *more, bool *whole, struct nnv_err *err) {
    errno = 0;
    const ssize_t n = getline(&l->line, &l->cap, l->file);
    *more = n > 0;
    if (n < 0 && errno == ENOMEM) return nnv_no_memory(err);
    if (n < 0 && ferror(l->file)) return nnv_fail(err, NNV_IO, "%s: %s", l->path, strerror(errno));
    if (n <= 0) return NNV_OK;
    *whole = l->line[n - 1] == '\n';
    l->bytes = (size_t)n - *whole;
    l->line[l->bytes] = '\0';
    l->offset = l->end;
    l->end += n;
    l->number++;
    return NNV_OK;
}

static void close_lines(struct nnv_line_file *l) {
    if (l->file != NULL) fclose(l->file);
    free(l->path);
    free(l->line);
    *l = (struct nnv_line_file){0};
}

/* ---------------------------------------------------------------------- lists */

enum nnv_status nnv_list_open(const char *folder, const char *name, struct nnv_list_reader *l, struct nnv_err *err) {
    *l = (struct nnv_list_reader){0};
    return open_lines(folder, name, &l->lines, err);
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

static void forget_replaced(struct nnv_list_reader *l) {
    for (size_t i = 0; i < sizeof l->replaced / sizeof *l->replaced; i++) {
        json_decref(l->replaced[i]);
        l->replaced[i] = NULL;
    }
}

enum nnv_status nnv_list_next(struct nnv_list_reader *l, struct nnv_listed *c, bool *more, struct nnv_err *err) {
    enum { NAME, SUITE, OP, TYPE, TAGS, FIELDS };
    const char *field[FIELDS];
    bool whole;
    enum nnv_status s = read_line(&l->lines, more, &whole, err);
    if (s != NNV_OK || !*more) return s;
    const char *path = l->lines.path;
    if (strlen(l->lines.line) < l->lines.bytes)
        return nnv_fail(err, NNV_INVALID, "%s: not a list of cases: it is not text", path);
    char *at = l->lines.line;
    int i = 0;
    for (; i < FIELDS && at != NULL; i++) {
        field[i] = at;
        at = strchr(at, '\t');
        if (at != NULL) *at++ = '\0';
    }
    if (i < FIELDS || at != NULL || *field[NAME] == '\0' || *field[SUITE] == '\0')
        return nnv_fail(err, NNV_INVALID, "%s:%zu: not a case: name, suite, op, type and tags, with tabs between them",
                        path, l->lines.number);
    l->hash = nnv_selection_add(l->hash, field[NAME]);
    forget_replaced(l);
    for (i = 0; i < FIELDS; i++) {
        field[i] = as_in_journal(field[i], &l->replaced[i]);
        if (field[i] == NULL) return nnv_no_memory(err);
    }
    *c = (struct nnv_listed){field[NAME], field[SUITE], field[OP], field[TYPE], field[TAGS]};
    return NNV_OK;
}

void nnv_list_close(struct nnv_list_reader *l) {
    close_lines(&l->lines);
    forget_replaced(l);
    *l = (struct nnv_list_reader){0};
}

/* -------------------------------------------------------------------- records */

static enum nnv_status check_header(const json_t *header, struct nnv_err *err) {
    const char *format = nnv_json_text(header, "format", "");
    if (strncmp(format, "nnvts-journal/", 14) != 0) return nnv_fail(err, NNV_INVALID, "not a journal of nnvts");
    if (strcmp(format, NNV_JOURNAL_FORMAT) != 0)
        return nnv_fail(err, NNV_UNSUPPORTED, "format %.40s is not known here; a newer nnvts made it", format);
    return NNV_OK;
}

/** The checksum of the last line; a journal without any was written before there were checksums. */
static enum nnv_status check_seal(struct nnv_journal_reader *r, struct nnv_err *err) {
    const enum nnv_seal seal = nnv_seal_check(r->lines.line, r->lines.bytes);
    r->damaged = seal == NNV_SEAL_BROKEN || (seal == NNV_SEAL_NONE && r->sealed);
    if (!r->damaged) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "the line %s; the journal is damaged, or was changed",
                    seal == NNV_SEAL_NONE ? "has no checksum, others have" : "does not match its checksum");
}

enum nnv_status nnv_reader_open(const char *folder, struct nnv_journal_reader *r, struct nnv_err *err) {
    json_error_t why;
    bool more = false;
    *r = (struct nnv_journal_reader){.folder = folder};
    enum nnv_status s = open_lines(folder, "cases.tsv", &r->lines, err);
    close_lines(&r->lines);
    if (s == NNV_OK) s = open_lines(folder, "journal.jsonl", &r->lines, err);
    const char *path = r->lines.path;
    /* A first line may be of any length in a file that is something else. */
    int first = s == NNV_OK ? getc(r->lines.file) : EOF;
    if (first != EOF) ungetc(first, r->lines.file);
    if (first != EOF && first != '{') s = nnv_fail(err, NNV_INVALID, "%s:1: not a journal of nnvts", path);
    if (s == NNV_OK) s = nnv_reader_raw(r, &more, err);
    if (s == NNV_OK && !more)
        s = nnv_fail(err, NNV_INVALID, "%s:1: no whole first line; the run ended before it began", path);
    if (s == NNV_OK) {
        r->sealed = nnv_seal_check(r->lines.line, r->lines.bytes) != NNV_SEAL_NONE;
        r->header = nnv_record_parse(r->lines.line, r->lines.bytes, &why);
        s = check_header(r->header, err);
        if (s == NNV_OK) s = check_seal(r, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:1", path);
    }
    if (s != NNV_OK) nnv_reader_close(r);
    return s;
}

enum nnv_status nnv_reader_raw(struct nnv_journal_reader *r, bool *more, struct nnv_err *err) {
    bool whole;
    enum nnv_status s = read_line(&r->lines, more, &whole, err);
    if (s == NNV_OK && *more) *more = whole;
    return s;
}

/** The record as a tree, and what it says. */
static enum nnv_status read_tree(struct nnv_journal_reader *r, struct nnv_err *err) {
    json_error_t why;
    r->tree = nnv_record_parse(r->lines.line, r->lines.bytes, &why);
    /* jansson says nothing where memory ran out. */
    if (r->tree == NULL && (*why.text == '\0' || strcmp(why.text, "memory ran out") == 0)) return nnv_no_memory(err);
    r->damaged = r->tree == NULL;
    if (r->damaged)
        return nnv_fail(err, NNV_INVALID, "not a record: %s at column %d; the journal is damaged", why.text,
                        why.column);
    return nnv_line_read(r->tree, &r->at, err);
}

/** A terminated copy of the name of a record that was read quickly. */
static enum nnv_status keep_name(struct nnv_journal_reader *r, struct nnv_err *err) {
    if (r->at.name_bytes >= r->name_cap) {
        char *name = realloc(r->name, 2 * r->at.name_bytes + 64);
        if (name == NULL) return nnv_no_memory(err);
        r->name = name;
        r->name_cap = 2 * r->at.name_bytes + 64;
    }
    memcpy(r->name, r->at.name, r->at.name_bytes);
    r->name[r->at.name_bytes] = '\0';
    r->at.name = r->name;
    return NNV_OK;
}

static enum nnv_status next(struct nnv_journal_reader *r, bool quickly, bool *more, struct nnv_err *err) {
    json_decref(r->tree);
    r->tree = NULL;
    r->damaged = false;
    enum nnv_status s = nnv_reader_raw(r, more, err);
    if (s != NNV_OK || !*more) return s;
    s = check_seal(r, err);
    const bool scanned = s == NNV_OK && quickly && nnv_line_scan(r->lines.line, r->lines.bytes, &r->at);
    if (s == NNV_OK) s = scanned ? keep_name(r, err) : read_tree(r, err);
    return s == NNV_OK ? s : nnv_at(err, s, "%s:%zu", r->lines.path, r->lines.number);
}

enum nnv_status nnv_reader_next(struct nnv_journal_reader *r, bool *more, struct nnv_err *err) {
    return next(r, true, more, err);
}

const json_t *nnv_reader_tree(struct nnv_journal_reader *r) {
    json_error_t why;
    if (r->tree == NULL) r->tree = nnv_record_parse(r->lines.line, r->lines.bytes, &why);
    return r->tree;
}

enum nnv_status nnv_reader_record(struct nnv_journal_reader *r, const json_t **record, struct nnv_err *err) {
    bool more;
    enum nnv_status s = next(r, false, &more, err);
    *record = s == NNV_OK && more ? r->tree : NULL;
    if (*record == NULL) return s;
    const uint32_t before = r->seen.count;
    if (nnv_id_add(&r->seen, nnv_hash_str(r->at.name)) == NNV_MAP_NONE) return nnv_no_memory(err);
    if (r->seen.count > before) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s:%zu: case '%.200s' has a second record", r->lines.path, r->lines.number,
                    r->at.name);
}

enum nnv_status nnv_reader_missing(struct nnv_journal_reader *r, struct nnv_listed *c, bool *more,
                                   struct nnv_err *err) {
    enum nnv_status s = r->list.lines.file == NULL ? nnv_list_open(r->folder, "cases.tsv", &r->list, err) : NNV_OK;
    do
        if (s == NNV_OK) s = nnv_list_next(&r->list, c, more, err);
    while (s == NNV_OK && *more && nnv_id_find(&r->seen, nnv_hash_str(c->name)) != NNV_MAP_NONE);
    return s;
}

void nnv_reader_close(struct nnv_journal_reader *r) {
    close_lines(&r->lines);
    nnv_list_close(&r->list);
    json_decref(r->header);
    json_decref(r->tree);
    free(r->name);
    nnv_id_free(&r->seen);
    *r = (struct nnv_journal_reader){0};
}

/* ----------------------------------------------------------------- one run */

/** What must be the same in all parts of a run. */
static const struct {
    const char *object, *member; /**< object: NULL is the first line itself */
    const char *of_shards;       /**< what it is; NULL: shards are not asked */
    const char *of_resumed;      /**< the same for a run that is resumed */
    const char *absent;          /**< what a run that is resumed has without it */
    const char *remedy;          /**< "give the same" where NULL */
} same[] = {
    {NULL, "nnvts", "the version of nnvts", NULL, NULL, NULL},
    {"build", "program", "the build of nnvts", "the build of nnvts", "", "verdicts of two builds don't mix"},
    {"driver", "argument", "the driver", "--driver", "", NULL},
    {"driver", "name", "the driver's name", NULL, NULL, NULL},
    {"driver", "version", "the driver's version", "the driver's version", "", "verdicts of two versions don't mix"},
    {"build", "driver", "the build of the driver", "the build of the driver", "", "verdicts of two builds don't mix"},
    {NULL, "seed", "the seed", "--seed", "", NULL},
    {NULL, "precision", "the precision", "--precision", "", NULL},
    {NULL, "arithmetic", "the arithmetic", "--arithmetic", "strict", NULL},
    {NULL, "tier", "the tier", "--tier", "", NULL},
    {NULL, "count", "the count", NULL, NULL, NULL},
    {NULL, "repeat", "--repeat", "--repeat", "1", NULL},
    {NULL, "determinism", "--determinism", "--determinism", "off", NULL},
    {NULL, "compile_only", "--compile-only", "--compile-only", "off", NULL},
    {"expected", "hash", "what was expected", "--expect or --strict", "",
     "give the same, or judge the finished run by nnvts report --expect"},
    {NULL, "selection", NULL, "the selection of cases", "", "give the same suites, filter, specs and shard"},
    {NULL, "specs", NULL, "what the spec files hold", "none", "verdicts on two versions of a spec don't mix"},
    {"shard", "index", NULL, "the shard", "0", NULL},
};

/** Sets t to a member in words. */
static void say(const json_t *header, size_t i, const char *absent, struct nnv_text *t) {
    const json_t *from = same[i].object == NULL ? header : json_object_get(header, same[i].object);
    const json_t *value = json_object_get(from, same[i].member);
    nnv_text_clear(t);
    if (json_is_integer(value))
        nnv_text_addf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        nnv_text_add(t, json_is_string(value) ? json_string_value(value) : json_is_true(value) ? "on" : absent);
}

bool nnv_headers_differ(const json_t *a, const json_t *b, bool shards, struct nnv_difference *d) {
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        d->what = shards ? same[i].of_shards : same[i].of_resumed;
        d->remedy = same[i].remedy != NULL ? same[i].remedy : "give the same";
        if (d->what == NULL) continue;
        say(a, i, shards ? "none" : same[i].absent, &d->a);
        say(b, i, shards ? "none" : same[i].absent, &d->b);
        if (d->a.failed || d->b.failed || strcmp(d->a.data, d->b.data) != 0) return true;
    }
    return false;
}
