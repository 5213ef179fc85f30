/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_merge.c Shards made one run: their lines, first lines, dumps and flakes; and what does not fit together.
 */
#include "harness/journal/shards/merge.h"

#include <jansson.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/journal/reader.h"
#include "harness/journal/record.h"
#include "harness/journal/seal.h"
#include "tests/kit/test.h"

static char root[] = "/tmp/nnvts-merge-XXXXXX";

/* -------------------------------------------------------------------- folders */

/** root/NAME, or root/FOLDER/NAME; of the last eight calls. */
static const char *at(const char *folder, const char *name) {
    static char paths[8][PATH_MAX];
    static size_t n;
    char *path = paths[n++ % 8];
    snprintf(path, PATH_MAX, "%s/%s%s%s", root, folder, *name ? "/" : "", name);
    return path;
}

static void put(const char *path, const char *text) {
    struct nnv_err err = {0};
    if (nnv_file_create(path, text, strlen(text), &err) != NNV_OK) fail_msg("%s", err.text);
}

/** What is in a file, malloc'ed; NULL: it is not there. */
static char *get(const char *path) {
    struct nnv_err err = {0};
    char *data = NULL;
    size_t size;
    if (access(path, F_OK) != 0) return NULL;
    if (nnv_file_read(path, 1 << 24, &data, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    return data;
}

static void assert_file(const char *path, const char *text) {
    char *data = get(path);
    if (text == NULL) {
        assert_null(data);
        return;
    }
    if (data == NULL) fail_msg("%s is not there", path);
    assert_string_equal(data, text);
    free(data);
}

/** The hash of cases with names of one letter each. */
static const char *selection_of(const char *cases) {
    static char text[4][17];
    static size_t n;
    struct nnv_case list[32];
    char names[32][2] = {{0}};
    const size_t count = strlen(cases);
    for (size_t i = 0; i < count; i++) {
        names[i][0] = cases[i];
        list[i] = (struct nnv_case){.name = names[i]};
    }
    nnv_record_selection(list, count, text[n % 4]);
    return text[n++ % 4];
}

static void put_list(const char *path, const char *cases) {
    struct nnv_text t = {0};
    for (; *cases; cases++) nnv_text_addf(&t, "%c\ts\t\t\t\n", *cases);
    put(path, t.data ? t.data : "");
    nnv_text_free(&t);
}

/** A run folder below root. */
struct part {
    const char *folder;
    const char *cases, *whole; /**< names of one letter each; whole NULL: no shard */
    unsigned index, count;
    const char *records; /**< lines; NULL: a PASS of each case */
    const char *more;    /**< further members of the first line, each with a comma before it; NULL: none */
    bool sealed;
};

static void add_line(struct nnv_text *t, const struct part *p, const char *line, size_t n) {
    const size_t from = t->len;
    nnv_text_add_n(t, line, n);
    if (p->sealed) nnv_seal(t, from);
    nnv_text_add(t, "\n");
}

static void make(const struct part *p) {
    struct nnv_text header = {0}, journal = {0};
    mkdir(at(p->folder, ""), 0777);
    put_list(at(p->folder, "cases.tsv"), p->cases);
    nnv_text_addf(&header,
                  "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"driver\":{\"argument\":\"cpu\"},\"seed\":1,"
                  "\"jobs\":%u,\"cases\":%zu,\"selection\":\"%s\"",
                  p->index + 1, strlen(p->cases), selection_of(p->cases));
    if (p->whole) {
        put_list(at(p->folder, "selection.tsv"), p->whole);
        nnv_text_addf(&header,
                      ",\"shard\":{\"index\":%u,\"count\":%u,\"by\":\"hash\",\"cases\":%zu,\"selection\":\"%s\"}",
                      p->index, p->count, strlen(p->whole), selection_of(p->whole));
    }
    nnv_text_addf(&header, "%s}", p->more ? p->more : "");
    add_line(&journal, p, header.data, header.len);
    for (const char *c = p->cases; !p->records && *c; c++) {
        char line[64];
        add_line(&journal, p, line, (size_t)snprintf(line, sizeof line, "{\"case\":\"%c\",\"verdict\":\"PASS\"}", *c));
    }
    for (const char *r = p->records ? p->records : ""; *r;) {
        const size_t n = strcspn(r, "\n");
        add_line(&journal, p, r, n);
        r += n + (r[n] == '\n');
    }
    put(at(p->folder, "journal.jsonl"), journal.data);
    nnv_text_free(&header);
    nnv_text_free(&journal);
}

static struct nnv_merged merged;
static struct nnv_err error;

/** The report that the merge made on its way is that of the run that it wrote. */
static void compare_reports(void) {
    struct nnv_report *its = merged.report, *read;
    struct nnv_err err = {0};
    if (nnv_report_load(at("out", ""), &read, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_report_settle(its, &err), NNV_OK);
    assert_int_equal(its->count, read->count);
    assert_int_equal(its->selection, read->selection);
    assert_true(json_equal(its->header, read->header));
    assert_memory_equal(its->verdicts, read->verdicts, sizeof its->verdicts);
    assert_memory_equal(its->outcomes, read->outcomes, sizeof its->outcomes);
    for (size_t i = 0; i < its->count; i++) {
        const struct nnv_report_case *a = &its->item[i], *b = &read->item[i];
        json_t *record, *same;
        assert_string_equal(a->name, b->name);
        assert_string_equal(its->tags.key[a->tags], read->tags.key[b->tags]);
        assert_string_equal(a->more->reason, b->more->reason);
        assert_int_equal(a->verdict, b->verdict);
        assert_int_equal(a->worker, b->worker);
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->length, b->length);
        assert_true(nnv_case_ms(a) == nnv_case_ms(b) && nnv_case_compared(a) == nnv_case_compared(b));
        assert_true(a->op == b->op && a->type == b->type);
        assert_int_equal(nnv_report_record(its, i, &record, &err), NNV_OK);
        assert_int_equal(nnv_report_record(read, i, &same, &err), NNV_OK);
        assert_true(record == same || json_equal(record, same)); /* both NULL: none */
        json_decref(record);
        json_decref(same);
    }
    nnv_report_free(its);
    nnv_report_free(read);
}

/** Merges the folders below root, named with spaces between them, into root/out. */
static enum nnv_status merge(const char *folders, bool partial) {
    char arg0[] = "nnvts", arg1[] = "m\xff", *argv[] = {arg0, arg1, NULL}, names[512];
    char paths[32][64];
    const char *list[32];
    size_t n = 0;
    snprintf(names, sizeof names, "%s", folders);
    for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save), n++) {
        snprintf(paths[n], sizeof paths[n], "%s/%s", root, name);
        list[n] = paths[n];
    }
    const struct nnv_merge_options o = {
        .folders = list, .count = n, .out = at("out", ""), .partial = partial, .argc = 2, .argv = argv};
    error = (struct nnv_err){0};
    const enum nnv_status s = nnv_merge(&o, &merged, &error);
    if (s == NNV_OK) compare_reports();
    return s;
}

static void merge_well(const char *folders) {
    if (merge(folders, false) != NNV_OK) fail_msg("%s", error.text);
}

/** It is not merged; the error ends with that. */
static void refused(const char *folders, const char *words) {
    assert_int_equal(merge(folders, false), NNV_INVALID);
    const size_t n = strlen(error.text), k = strlen(words);
    if (n < k || strcmp(error.text + n - k, words) != 0) fail_msg("'%s', expected '%s'", error.text, words);
}

/** The lines behind the first of root/out/journal.jsonl, malloc'ed; *header: the first one, a new reference. */
static char *lines_of(json_t **header) {
    char *text = get(at("out", "journal.jsonl")), *rest = strchr(text, '\n') + 1;
    json_error_t why;
    if (header) *header = json_loadb(text, (size_t)(rest - text), 0, &why);
    memmove(text, rest, strlen(rest) + 1);
    return text;
}

static void assert_lines(const char *expected) {
    char *lines = lines_of(NULL);
    assert_string_equal(lines, expected);
    free(lines);
}

/* ---------------------------------------------------------------------- lines */

static const struct part first = {"s1", "ad", "abcde", 1, 3, NULL, NULL, false},
                         second = {"s2", "bc", "abcde", 2, 3, NULL, NULL, false},
                         third = {"s3", "e", "abcde", 3, 3, NULL, NULL, false};

static void make_three(void) {
    make(&first);
    make(&second);
    make(&third);
}

/* Shards stand in the order of their numbers; workers are numbered behind those of the shards before. */
static void workers_are_numbered_on(void **state) {
    (void)state;
    struct part a = first, b = second, c = third;
    a.records = "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":2,\"turn\":1}\n"
                "{\"case\":\"d\",\"verdict\":\"PASS\",\"worker\":1,\"turn\":1}";
    b.records = "{\"case\":\"c\",\"verdict\":\"PASS\"}\n"
                "{\"case\":\"b\",\"verdict\":\"SKIP\",\"reason\":\",\\\"worker\\\":9\",\"worker\":3}";
    c.records = "{\"case\":\"e\",\"verdict\":\"PASS\",\"worker\":1}";
    make(&a);
    make(&b);
    make(&c);
    merge_well("s3 s1 s2");
    assert_lines("{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":2,\"turn\":1}\n"
                 "{\"case\":\"d\",\"verdict\":\"PASS\",\"worker\":1,\"turn\":1}\n"
                 "{\"case\":\"c\",\"verdict\":\"PASS\"}\n"
                 "{\"case\":\"b\",\"verdict\":\"SKIP\",\"reason\":\",\\\"worker\\\":9\",\"worker\":5}\n"
                 "{\"case\":\"e\",\"verdict\":\"PASS\",\"worker\":6}\n");
    assert_file(at("out", "cases.tsv"), "a\ts\t\t\t\nb\ts\t\t\t\nc\ts\t\t\t\nd\ts\t\t\t\ne\ts\t\t\t\n");
    assert_int_equal(merged.cases, 5);
    assert_int_equal(merged.records, 5);
    assert_int_equal(merged.dumps, 0);
    assert_int_equal(merged.shards, 3);
    assert_int_equal(merged.missing, 0);
    assert_file(at("out", "flakes.json"), NULL);
}

/* Numbers that no run has are not added to. */
static void strange_workers(void **state) {
    (void)state;
    static const char *const row[][2] = {{"2147483646", "2147483648"},
                                         {"2147483647", "2"},
                                         {"99999999999999999999", NULL},
                                         {"-3", "2"},
                                         {"0", "2"},
                                         {"\"x\"", "2"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char records[128], lines[256];
        const struct part a = {"w1", "a",  "ab", 1, 2, "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":2}",
                               NULL, false};
        snprintf(records, sizeof records, "{\"case\":\"b\",\"verdict\":\"PASS\",\"worker\":%s}", row[i][0]);
        make(&a);
        make(&(struct part){"w2", "b", "ab", 2, 2, records, NULL, false});
        if (row[i][1] == NULL) { /* the reader refuses it */
            assert_int_equal(merge("w1 w2", false), NNV_INVALID);
            continue;
        }
        merge_well("w1 w2");
        snprintf(lines, sizeof lines, "%s\n{\"case\":\"b\",\"verdict\":\"PASS\",\"worker\":%s}\n", a.records,
                 row[i][1]);
        assert_lines(lines);
    }
}

static void checksums_are_made_anew(void **state) {
    (void)state;
    struct nnv_journal_reader r;
    bool more = true;
    for (int sealed = 0; sealed <= 1; sealed++) {
        const struct part a = {"c1", "a",   "ab", 1, 2, "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":2}",
                               NULL, sealed},
                          b = {"c2", "b",   "ab", 2, 2, "{\"case\":\"b\",\"verdict\":\"PASS\",\"worker\":1}",
                               NULL, sealed};
        make(&a);
        make(&b);
        merge_well("c1 c2");
        if (nnv_reader_open(at("out", ""), &r, &error) != NNV_OK) fail_msg("%s", error.text);
        assert_int_equal(r.sealed, sealed);
        for (uint32_t i = 0; i < 2; i++) {
            if (nnv_reader_next(&r, &more, &error) != NNV_OK) fail_msg("%s", error.text);
            assert_true(more);
            assert_int_equal(r.at.worker, 2 + i);
            assert_int_equal(nnv_seal_check(r.lines.line, r.lines.bytes), sealed ? NNV_SEAL_WHOLE : NNV_SEAL_NONE);
        }
        nnv_reader_close(&r);
    }
}

/* ----------------------------------------------------------------- first line */

static void the_first_line_is_of_all(void **state) {
    (void)state;
    struct part a = first, b = second, c = third;
    a.more = ",\"start\":\"2026-01-02T00:00:02Z\",\"machine\":{\"host\":\"h1\"},\"argv\":[\"x\"],"
             "\"suites\":{\"s\":{\"cases\":2,\"words\":\"w\"}}";
    b.more = ",\"start\":\"2026-01-02T00:00:01Z\",\"machine\":{\"host\":\"h2\"},"
             "\"suites\":{\"s\":{\"cases\":1},\"t\":{\"cases\":1}}";
    c.more = ",\"start\":\"2026-01-02T00:00:03Z\",\"suites\":{\"s\":{\"cases\":1}}";
    make(&a);
    make(&b);
    make(&c);
    merge_well("s1 s2 s3");
    json_t *header = NULL;
    free(lines_of(&header));
    json_error_t why;
    json_t *expected = json_pack_ex(
        &why, 0,
        "{s:s, s:s, s:{s:s}, s:i, s:i, s:i, s:s, s:s, s:{s:s}, s:[s,s], s:{s:{s:i,s:s}, s:{s:i}}, "
        "s:[{s:i,s:s,s:s,s:s,s:i,s:i}, {s:i,s:s,s:s,s:s,s:i,s:i}, {s:i,s:s,s:s,s:s,s:i,s:i}]}",
        "nnvts", "1", "format", "nnvts-journal/1", "driver", "argument", "cpu", "seed", 1, "jobs", 9, "cases", 5,
        "selection", selection_of("abcde"), "start", "2026-01-02T00:00:01Z", "machine", "host", "h1", "argv", "nnvts",
        "m\xef\xbf\xbd", "suites", "s", "cases", 4, "words", "w", "t", "cases", 1, "merged", //
        "shard", 1, "folder", at("s1", ""), "host", "h1", "start", "2026-01-02T00:00:02Z", "jobs", 2, "cases", 2,
        "shard", 2, "folder", at("s2", ""), "host", "h2", "start", "2026-01-02T00:00:01Z", "jobs", 3, "cases", 2,
        "shard", 3, "folder", at("s3", ""), "host", "", "start", "2026-01-02T00:00:03Z", "jobs", 4, "cases", 1);
    if (!expected) fail_msg("%s", why.text);
    char *is = json_dumps(header, JSON_SORT_KEYS | JSON_INDENT(1)),
         *be = json_dumps(expected, JSON_SORT_KEYS | JSON_INDENT(1));
    assert_string_equal(is, be);
    free(is);
    free(be);
    json_decref(header);
    json_decref(expected);
}

/* A whole run is one shard of one: the list that it has is cases.tsv. */
static void a_whole_run(void **state) {
    (void)state;
    make(&(struct part){"w", "ab", NULL, 0, 0, NULL, NULL, false});
    merge_well("w");
    assert_int_equal(merged.shards, 1);
    assert_int_equal(merged.cases, 2);
    assert_lines("{\"case\":\"a\",\"verdict\":\"PASS\"}\n{\"case\":\"b\",\"verdict\":\"PASS\"}\n");
    assert_file(at("out", "cases.tsv"), "a\ts\t\t\t\nb\ts\t\t\t\n");
    put_list(at("w", "cases.tsv"), "ac");
    refused("w", "w/cases.tsv: not the list of cases that the journal beside it is of");
}

/* ---------------------------------------------------------------------- dumps */

/** A record of case a with a dump, and a replay line for it. */
#define DUMPED(dump) "{\"case\":\"a\",\"verdict\":\"FAIL\",\"worker\":1,\"dump\":\"" dump "\","
#define REPLAY "\"replay\":\"nnvts replay 'old one/x.json' --driver cpu\","
#define DUMPER(records)                                                                                                \
    { "d", "a", NULL, 0, 0, records "\"again\":\"FAIL\"}", NULL, false }

static void dumps_come_along(void **state) {
    (void)state;
    struct stat its, mine;
    char lines[2 * PATH_MAX];
    make(&(struct part)DUMPER(DUMPED("dumps/a.json") REPLAY));
    assert_int_equal(mkdir(at("d", "dumps"), 0777), 0);
    put(at("d", "dumps/a.json"), "one");
    put(at("d", "dumps/a.mod.py"), "two");
    put(at("d", "dumps/a.c"), "four");
    put(at("d", "dumps/b.json"), "another's");
    merge_well("d");
    assert_int_equal(merged.dumps, 1);
    snprintf(
        lines, sizeof lines,
        DUMPED("dumps/a.json") "\"replay\":\"nnvts replay %s/out/dumps/a.json --driver cpu\",\"again\":\"FAIL\"}\n",
        root);
    assert_lines(lines);
    assert_file(at("out", "dumps/a.json"), "one");
    assert_file(at("out", "dumps/a.mod.py"), "two");
    assert_file(at("out", "dumps/a.dot"), NULL);
    assert_file(at("out", "dumps/a.c"), "four");
    assert_file(at("out", "dumps/b.json"), NULL);
    assert_int_equal(stat(at("d", "dumps/a.json"), &its), 0);
    assert_int_equal(stat(at("out", "dumps/a.json"), &mine), 0);
    assert_int_equal(its.st_ino, mine.st_ino); /* linked */
    /* once more: those of the merge before go */
    unlink(at("d", "dumps/a.c"));
    merge_well("d");
    assert_file(at("out", "dumps/a.c"), NULL);
    assert_file(at("out", "dumps/a.json"), "one");
    /* a record without a replay line, and one with another command */
    make(&(struct part)DUMPER(DUMPED("dumps/a.json")));
    merge_well("d");
    assert_lines(DUMPED("dumps/a.json") "\"again\":\"FAIL\"}\n");
    make(&(struct part)DUMPER(DUMPED("dumps/a.json") "\"replay\":\"nnvts run\","));
    merge_well("d");
    assert_lines(DUMPED("dumps/a.json") "\"replay\":\"nnvts run\",\"again\":\"FAIL\"}\n");
    make(&(struct part)DUMPER(DUMPED("dumps/a.json") "\"replay\":7,"));
    merge_well("d");
    assert_lines(DUMPED("dumps/a.json") "\"replay\":7,\"again\":\"FAIL\"}\n");
}

/* From one file system to another a link is impossible. */
static void dumps_are_copied(void **state) {
    (void)state;
    char far[] = "/dev/shm/nnvts-merge-XXXXXX", path[64];
    if (make_folder(far) != 0) skip();
    struct nnv_err err = {0};
    make(&(struct part)DUMPER(DUMPED("dumps/a.json")));
    snprintf(path, sizeof path, "%s/dumps", far);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/dumps/a.json", far);
    put(path, "far");
    for (int i = 0; i < 2; i++) {
        char *text = get(at("d", i == 0 ? "cases.tsv" : "journal.jsonl"));
        snprintf(path, sizeof path, "%s/%s", far, i == 0 ? "cases.tsv" : "journal.jsonl");
        put(path, text);
        free(text);
    }
    const char *folders[] = {far};
    const struct nnv_merge_options o = {.folders = folders, .count = 1, .out = at("out", "")};
    if (nnv_merge(&o, &merged, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_report_free(merged.report);
    assert_file(at("out", "dumps/a.json"), "far");
    assert_int_equal(remove_folder(far), 0);
}

static void paths_that_lead_elsewhere(void **state) {
    (void)state;
#define IS_NONE(path)                                                                                                  \
    { DUMPER(DUMPED(path)), "'" path "' is no path of a dump" }
    static const struct {
        struct part part;
        const char *words;
    } row[] = {IS_NONE("dumps/../a.json"), IS_NONE("dump/a.json"),  IS_NONE("/dumps/a.json"),  IS_NONE("dumps/.json"),
               IS_NONE("dumps/a.txt"),     IS_NONE("dumps/a.jso"),  IS_NONE("dumps/b/a.json"), IS_NONE("dumps/"),
               IS_NONE("dumps/a.json/"),   IS_NONE("dumpsXa.json"), IS_NONE("a.json"),         IS_NONE("")};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        make(&row[i].part);
        refused("d", row[i].words);
    }
}

/* --------------------------------------------------------------------- flakes */

static void flakes_are_added_up(void **state) {
    (void)state;
    make_three();
    put(at("s1", "flakes.json"),
        "{\"format\":\"nnvts-flakes/"
        "1\",\"seconds\":1.5,\"tried\":2,\"left\":1,\"cases\":[{\"case\":\"a\"},{\"case\":\"d\"}]}");
    put(at("s2", "flakes.json"), "no flakes");
    put(at("s3", "flakes.json"),
        "{\"format\":\"nnvts-flakes/1\",\"seconds\":0.25,\"tried\":1,\"left\":3,\"cases\":[{\"case\":\"e\"}]}");
    merge_well("s1 s2 s3");
    json_error_t why;
    json_t *is = json_load_file(at("out", "flakes.json"), 0, &why);
    json_t *be = json_pack("{s:[{s:s},{s:s},{s:s}], s:i, s:i, s:f}", "cases", "case", "a", "case", "d", "case", "e",
                           "tried", 3, "left", 4, "seconds", 1.75);
    assert_true(json_equal(is, be));
    json_decref(is);
    json_decref(be);
    unlink(at("s1", "flakes.json"));
    unlink(at("s2", "flakes.json"));
    unlink(at("s3", "flakes.json"));
    merge_well("s1 s2 s3");
    assert_file(at("out", "flakes.json"), NULL);
}

/* ------------------------------------------------------------- what is missing */

/** Makes shard i of count, which has the i-th case of the alphabet. */
static void make_shard(unsigned i, unsigned count) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    char folder[16], own[2] = {letters[i - 1]}, whole[27];
    snprintf(folder, sizeof folder, "m%u", i);
    snprintf(whole, sizeof whole, "%.*s", (int)count, letters);
    make(&(struct part){folder, own, whole, i, count, NULL, NULL, false});
}

static void missing_shards_are_named(void **state) {
    (void)state;
    static const struct {
        unsigned count;
        const char *given, *words;
    } row[] = {
        {3, "m1 m3", "shard 2 of 3 is missing (give its folder, or --partial)"},
        {3, "m1 m2", "shard 3 of 3 is missing (give its folder, or --partial)"},
        {5, "m3", "shards 1 to 2, 4 to 5 of 5 are missing (give their folders, or --partial)"},
        {5, "m4 m2", "shards 1, 3, 5 of 5 are missing (give their folders, or --partial)"},
        {16, "m2 m4 m6 m8 m10 m12 m14 m16",
         "shards 1, 3, 5, 7, 9, 11, 13, 15 of 16 are missing (give their folders, or --partial)"},
        {17, "m2 m4 m6 m8 m10 m12 m14 m16",
         "shards 1, 3, 5, 7, 9, 11, 13, 15 ... of 17 are missing (give their folders, or --partial)"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        for (unsigned k = 1; k <= row[i].count; k++) make_shard(k, row[i].count);
        refused(row[i].given, row[i].words);
        if (merge(row[i].given, true) != NNV_OK) fail_msg("%s", error.text);
        assert_int_equal(merged.shards, row[i].count);
        assert_int_equal(merged.missing, row[i].count - merged.records);
        assert_int_equal(merged.cases, row[i].count);
    }
}

static void records_are_missing(void **state) {
    (void)state;
    char words[256];
    struct part a = first;
    make_three();
    a.records = "{\"case\":\"d\",\"verdict\":\"PASS\"}";
    make(&a);
    snprintf(words, sizeof words,
             "shard 1 of 3 (%s) has not ended: 1 of its 2 cases have no verdict (go on with --resume, or merge with "
             "--partial)",
             at("s1", ""));
    refused("s1 s2 s3", words);
    if (merge("s1 s2 s3", true) != NNV_OK) fail_msg("%s", error.text);
    assert_int_equal(merged.records, 4);
    assert_int_equal(merged.missing, 0);
}

/* ------------------------------------------------------------ what does not fit */

static void records_that_are_not_the_shards(void **state) {
    (void)state;
    struct part a = first;
    char words[256];
    make_three();
    a.records = "{\"case\":\"a\",\"verdict\":\"PASS\"}\n{\"case\":\"a\",\"verdict\":\"PASS\"}";
    make(&a);
    snprintf(words, sizeof words, "%s/s1/journal.jsonl:3: case 'a' has a second record", root);
    refused("s1 s2 s3", words);
    a.records = "{\"case\":\"b\",\"verdict\":\"PASS\"}\n{\"case\":\"a\",\"verdict\":\"PASS\"}";
    make(&a);
    snprintf(words, sizeof words, "%s/s1/journal.jsonl:2: case 'b' is not one of this shard", root);
    refused("s1 s2 s3", words);
    a.records = "{\"case\":\"x\",\"verdict\":\"PASS\"}";
    make(&a);
    refused("s1 s2 s3", "case 'x' is not one of this shard");
}

static void lists_that_do_not_fit(void **state) {
    (void)state;
    char words[256];
    make_three();
    put_list(at("s1", "selection.tsv"), "abcdf");
    refused("s1 s2 s3", "s1/selection.tsv: not the list of cases that the journal beside it is of");
    put_list(at("s1", "selection.tsv"), "abcda");
    refused("s1 s2 s3", "s1/selection.tsv:5: case 'a' is listed twice");
    make(&first);
    put_list(at("s3", "cases.tsv"), "d");
    snprintf(words, sizeof words, "%s/s3/cases.tsv:1: case 'd' is in shard 1, too", root);
    refused("s1 s2 s3", words);
    put_list(at("s3", "cases.tsv"), "x");
    refused("s1 s2 s3", "s3/cases.tsv:1: case 'x' is not one of the whole selection");
    put_list(at("s3", "cases.tsv"), "");
    refused("s1 s2 s3", "s3/cases.tsv: not the list of cases that the journal beside it is of");
    make(&(struct part){"s3", "", "abcde", 3, 3, NULL, NULL, false});
    refused("s1 s2 s3", "case 'e' is in no shard (were all divided by the same run's times?)");
}

static void shards_of_other_runs(void **state) {
    (void)state;
    char words[512];
    make_three();
    struct part other = second;
    other.whole = "abcdef";
    make(&other);
    snprintf(words, sizeof words, "the selection of cases differs: '%s' in %s, '%s' in %s (shards of one run only)",
             selection_of("abcdef"), at("s2", ""), selection_of("abcde"), at("s1", ""));
    refused("s1 s2 s3", words);
    other = second;
    other.count = 4;
    make(&other);
    snprintf(words, sizeof words, "the number of shards differs: '4' in %s, '3' in %s (shards of one run only)",
             at("s2", ""), at("s1", ""));
    refused("s1 s2 s3", words);
    other = second;
    other.more = ",\"tier\":\"smoke\"";
    make(&other);
    snprintf(words, sizeof words, "the tier differs: 'smoke' in %s, 'none' in %s (shards of one run only)",
             at("s2", ""), at("s1", ""));
    refused("s1 s2 s3", words);
    make(&second);
    snprintf(words, sizeof words, "shard 2 of 3 is there twice: %s and %s", at("s2", ""), at("s2", ""));
    refused("s1 s2 s3 s2", words);
    refused("s1 out s3", "a shard and the merged run in one folder (give --out another)");
    refused("", "which shards? give the folders of their runs (nnvts run --shard I/N --out)");
}

/** What the first line says of the shard is checked before anything is made room for. */
static void unsound_shards(void **state) {
    (void)state;
    static const char good[] = "the selection of cases differs", bad[] = "the first line tells no sound shard";
    static const struct {
        const char *members, *words;
    } row[] = {
        {"\"index\":0,\"count\":3,\"cases\":6", bad},
        {"\"index\":4,\"count\":3,\"cases\":6", bad},
        {"\"index\":3,\"count\":3,\"cases\":6", good},
        {"\"index\":2,\"count\":4294967295,\"cases\":6", good},
        {"\"index\":2,\"count\":4294967296,\"cases\":6", bad},
        {"\"index\":2,\"count\":3,\"cases\":1073741822", good},
        {"\"index\":2,\"count\":3,\"cases\":1073741823", bad},
        {"\"index\":2,\"count\":3,\"cases\":2", good}, /* as many as it has itself */
        {"\"index\":2,\"count\":3,\"cases\":1", bad},
    };
    make(&first);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char more[128];
        struct part p = second;
        p.whole = NULL;
        snprintf(more, sizeof more, ",\"shard\":{%s,\"by\":\"hash\"}", row[i].members);
        p.more = more;
        make(&p);
        assert_int_equal(merge("s1 s2", false), NNV_INVALID);
        if (!strstr(error.text, row[i].words)) fail_msg("%s: %s", row[i].members, error.text);
    }
}

static int begin(void **state) {
    (void)state;
    return make_folder(root);
}

static int end(void **state) {
    (void)state;
    return remove_folder(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_numbered_on),
        cmocka_unit_test(strange_workers),
        cmocka_unit_test(checksums_are_made_anew),
        cmocka_unit_test(the_first_line_is_of_all),
        cmocka_unit_test(a_whole_run),
        cmocka_unit_test(dumps_come_along),
        cmocka_unit_test(dumps_are_copied),
        cmocka_unit_test(paths_that_lead_elsewhere),
        cmocka_unit_test(flakes_are_added_up),
        cmocka_unit_test(missing_shards_are_named),
        cmocka_unit_test(records_are_missing),
        cmocka_unit_test(records_that_are_not_the_shards),
        cmocka_unit_test(lists_that_do_not_fit),
        cmocka_unit_test(shards_of_other_runs),
        cmocka_unit_test(unsound_shards),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
