/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_reader.c The one reader of run folders: lists, records, damage, and what is one run. */
#include "harness/journal/reader.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/rng.h"
#include "harness/journal/record.h"
#include "harness/journal/seal.h"
#include "tests/kit/report.h"

static const char three[] = "a\ts\tADD\tfloat32\tx y\nb\ts\t\t\t\nc\ts\t\t\t";

static void lists(void **state) {
    (void)state;
    struct fx f = fx_make(three, "");
    struct nnv_list_reader l;
    struct nnv_listed c;
    struct nnv_err err = {0};
    bool more = true;
    assert_int_equal(nnv_list_open(f.folder, "selection.tsv", &l, &err), NNV_INVALID);
    nnv_list_close(&l);
    assert_int_equal(nnv_list_open(f.folder, "cases.tsv", &l, &err), NNV_OK);
    assert_int_equal(nnv_list_next(&l, &c, &more, &err), NNV_OK);
    assert_string_equal(c.name, "a");
    assert_string_equal(c.type, "float32");
    assert_string_equal(c.tags, "x y");
    while (nnv_list_next(&l, &c, &more, &err) == NNV_OK && more) continue;
    assert_string_equal(c.name, "c"); /* also without a newline */
    const struct nnv_case cases[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    char selection[17];
    nnv_record_selection(cases, 3, selection);
    assert_true(nnv_selection_is(l.hash, l.lines.number, selection, 3));
    assert_false(nnv_selection_is(l.hash, l.lines.number, selection, 2));
    nnv_record_selection(cases, 2, selection);
    assert_false(nnv_selection_is(l.hash, l.lines.number, selection, 3));
    nnv_list_close(&l);
    fx_put(&f, "cases.tsv", "a\ts\t\0\t\t\n", 8);
    assert_int_equal(nnv_list_open(f.folder, "cases.tsv", &l, &err), NNV_OK);
    assert_int_equal(nnv_list_next(&l, &c, &more, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "not text"));
    nnv_list_close(&l);
    fx_remove(&f);
}

/* A reader goes on behind a line that is none; where a line stands is told, so that it can be cut off or read again. */
static void records(void **state) {
    (void)state;
    static const char good[] = "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":3}\n";
    static const char lines[] = "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":3}\n"
                                "zeros\n"
                                "{\"case\":\"b\"}\n"
                                "{\"case\":\"b\",\"verdict\":\"CRASH\",\"reason\":\"one\\ntwo\",\"dump\":\"dumps/"
                                "b.json\",\"outcome\":\"XFAIL\","
                                "\"expectation\":2,\"repeats\":{\"runs\":5,\"bad\":2}}\n"
                                "{\"case\":\"c\",\"verdi";
    struct fx f = fx_make(three, lines);
    struct nnv_journal_reader r;
    struct nnv_err err = {0};
    bool more = false;
    assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_OK);
    const off_t begin = r.lines.end;
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_OK);
    assert_true(more);
    assert_string_equal(r.at.name, "a");
    assert_int_equal(r.at.worker, 3);
    assert_int_equal(r.at.expectation, NNV_ENTRY_NONE);
    assert_null(r.tree);
    assert_string_equal(json_string_value(json_object_get(nnv_reader_tree(&r), "case")), "a");
    assert_int_equal(r.lines.offset, begin);
    assert_int_equal(r.lines.end, begin + (off_t)strlen(good));
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_INVALID);
    assert_true(r.damaged);
    assert_non_null(strstr(err.text, "journal.jsonl:3: not a record"));
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_INVALID);
    assert_false(r.damaged);
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_OK);
    assert_int_equal(r.at.verdict, NNVTS_CRASH);
    assert_int_equal(r.at.outcome, NNVTS_OUTCOME_XFAIL);
    assert_int_equal(r.at.expectation, 2);
    assert_int_equal(r.at.runs, 5);
    assert_int_equal(r.at.bad_runs, 2);
    assert_int_equal(r.at.reason_bytes, 3);
    assert_string_equal(r.at.dump, "dumps/b.json");
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_OK);
    assert_false(more); /* cut short */
    nnv_reader_close(&r);
    fx_remove(&f);
}

static void missing(void **state) {
    (void)state;
    struct fx f = fx_make(three, "{\"case\":\"b\",\"verdict\":\"PASS\"}\n");
    struct nnv_journal_reader r;
    struct nnv_listed c;
    struct nnv_err err = {0};
    const json_t *record;
    bool more;
    assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_OK);
    assert_int_equal(nnv_reader_record(&r, &record, &err), NNV_OK);
    assert_non_null(record);
    assert_int_equal(nnv_reader_record(&r, &record, &err), NNV_OK);
    assert_null(record);
    assert_int_equal(nnv_reader_missing(&r, &c, &more, &err), NNV_OK);
    assert_string_equal(c.name, "a");
    assert_int_equal(nnv_reader_missing(&r, &c, &more, &err), NNV_OK);
    assert_string_equal(c.name, "c");
    assert_int_equal(nnv_reader_missing(&r, &c, &more, &err), NNV_OK);
    assert_false(more);
    nnv_reader_close(&r);
    unlink(fx_path(&f, "cases.tsv"));
    assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "the folder of a run"));
    fx_remove(&f);
}

/** What differs first between two first lines; "" if nothing. */
static const char *differs(const char *a, const char *b, bool shards) {
    static char text[256];
    json_t *x = json_loads(a, 0, NULL), *y = json_loads(b, 0, NULL);
    struct nnv_difference d = {0};
    *text = '\0';
    if (nnv_headers_differ(x, y, shards, &d)) snprintf(text, sizeof text, "%s: %s, %s", d.what, d.a.data, d.b.data);
    nnv_text_free(&d.a);
    nnv_text_free(&d.b);
    json_decref(x);
    json_decref(y);
    return text;
}

static void one_run(void **state) {
    (void)state;
    static const char seed[] = "{\"seed\":1}", text[] = "{\"seed\":\"1\"}";
    assert_string_equal(differs(seed, text, true), "");
    assert_string_equal(differs(seed, "{\"seed\":2}", true), "the seed: 1, 2");
    assert_string_equal(differs(seed, "{\"seed\":2}", false), "--seed: 1, 2");
    assert_string_equal(differs("{\"repeat\":3}", "{}", true), "--repeat: 3, none");
    assert_string_equal(differs("{\"repeat\":3}", "{}", false), "--repeat: 3, 1");
    assert_string_equal(differs("{}", "{\"determinism\":true}", false), "--determinism: off, on");
    /* Shards select different cases; neither they nor a run that goes on mix builds. */
    assert_string_equal(differs("{\"selection\":\"x\"}", "{\"selection\":\"y\"}", true), "");
    assert_string_equal(differs("{\"selection\":\"x\"}", "{\"selection\":\"y\"}", false),
                        "the selection of cases: x, y");
    assert_string_equal(differs("{\"build\":{\"program\":\"x\"}}", "{\"build\":{\"program\":\"y\"}}", false),
                        "the build of nnvts: x, y");
    assert_string_equal(differs("{\"build\":{\"program\":\"x\"}}", "{\"build\":{\"program\":\"y\"}}", true),
                        "the build of nnvts: x, y");
}

/* Adds a line with its checksum. */
static void add_sealed(struct nnv_text *t, const char *line) {
    const size_t from = t->len;
    nnv_text_add(t, line);
    nnv_seal(t, from);
    nnv_text_add(t, "\n");
}

/* A changed byte anywhere is found, and so is a line without a checksum among others; a journal without any is not. */
static void checksums(void **state) {
    (void)state;
    struct nnv_text t = {0};
    struct nnv_journal_reader r;
    struct nnv_err err = {0};
    bool more = false;
    add_sealed(&t, "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"cases\":3}");
    const size_t second = t.len;
    add_sealed(&t, "{\"case\":\"a\",\"verdict\":\"PASS\"}");
    const size_t third = t.len;
    nnv_text_add(&t, "{\"case\":\"b\",\"verdict\":\"PASS\"}\n");
    struct fx f = fx_make(three, "");
    fx_put(&f, "journal.jsonl", t.data, t.len);
    assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_OK);
    assert_true(r.sealed);
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_OK);
    assert_string_equal(r.at.name, "a");
    assert_int_equal(nnv_reader_next(&r, &more, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "journal.jsonl:3: the line has no checksum, others have"));
    assert_true(r.damaged);
    nnv_reader_close(&r);
    for (size_t i = second; i < third - 1; i++) {
        t.data[i] ^= 1;
        fx_put(&f, "journal.jsonl", t.data, third);
        t.data[i] ^= 1;
        assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_OK);
        if (nnv_reader_next(&r, &more, &err) != NNV_INVALID) fail_msg("byte %zu may be changed", i - second);
        assert_true(r.damaged);
        nnv_reader_close(&r);
    }
    /* the first line */
    t.data[strlen("{\"nnvts\":\"")] = '2';
    fx_put(&f, "journal.jsonl", t.data, t.len);
    assert_int_equal(nnv_reader_open(f.folder, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "journal.jsonl:1: the line does not match its checksum"));
    /* a line of an earlier journal, which had another hash */
    nnv_text_free(&t);
    nnv_text_addf(&t, "{\"case\":\"a\",\"sum\":\"%016" PRIx64 "\"}", nnv_hash_str("{\"case\":\"a\""));
    assert_int_equal(nnv_seal_check(t.data, t.len), NNV_SEAL_WHOLE);
    t.data[t.len - 3] = t.data[t.len - 3] == '0' ? '1' : '0';
    assert_int_equal(nnv_seal_check(t.data, t.len), NNV_SEAL_BROKEN);
    /* sealed anew, as a merged run is, it is whole */
    nnv_text_free(&t);
    add_sealed(&t, "{\"case\":\"a\"}");
    t.len--;
    nnv_seal(&t, 0);
    assert_int_equal(nnv_seal_check(t.data, t.len), NNV_SEAL_WHOLE);
    assert_int_equal(t.len, strlen("{\"case\":\"a\",\"sum\":\"0123456789abcdef\"}"));
    nnv_text_free(&t);
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(records), cmocka_unit_test(missing),
                                       cmocka_unit_test(one_run), cmocka_unit_test(checksums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
