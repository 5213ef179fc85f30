/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_retry.c Which failures of a run are tried again, after which cases, and what flakes.json says of it. */
#include <unistd.h>

#include "harness/journal/flakes.h"
#include "tests/kit/report.h"

enum { SECOND = 1000000000, MOST = 64 };

/** A case of the run; its record has these members. */
struct row {
    const char *name, *op, *record;
};

/** Runs that exist only here. */
struct fake {
    uint32_t tried[MOST]; /**< subjects, in their order */
    size_t count, runs;
    uint32_t before[MOST]; /**< the longest history of the first one */
    size_t before_count;
    int needs;               /**< it fails after this case alone; -1: always */
    size_t least;            /**< it fails after so many others, whichever; 0: it does not need them */
    bool needs_load;         /**< it fails under load alone */
    size_t stops;            /**< after so many runs, with */
    enum nnv_status stopped; /**< this */
};

static enum nnv_status run(void *context, uint32_t subject, const uint32_t *before, size_t n, bool load, bool *bad,
                           struct nnv_err *err) {
    struct fake *f = context;
    if (f->stops > 0 && f->runs == f->stops) return nnv_fail(err, f->stopped, "no more");
    f->runs++;
    if (f->count == 0 || f->tried[f->count - 1] != subject) f->tried[f->count++] = subject;
    if (n > f->before_count) {
        memcpy(f->before, before, n * sizeof *before);
        f->before_count = n;
    }
    *bad = f->needs_load ? load : f->needs < 0;
    for (size_t i = 0; i < n; i++) *bad = *bad || (int)before[i] == f->needs;
    if (f->least > 0) *bad = n >= f->least;
    return NNV_OK;
}

/** Tries the failures of a run of these cases again. *flakes: flakes.json without its time; NULL: there is none. */
static enum nnv_status retry(const struct row *rows, size_t count, struct nnv_retry o, json_t **flakes,
                             struct nnv_err *err) {
    struct fx x = fx_new();
    struct nnv_text list = {0}, journal = {0};
    struct nnv_case cases[MOST];
    struct nnv_run_facts facts = {
        .driver = "cpu", .precision = "default", .tier = "smoke", .seed = 7, .cases = cases, .case_count = count};
    nnv_text_addf(&journal,
                  "{\"nnvts\":\"1\",\"format\":\"nnvts-journal/1\",\"cases\":%zu,\"expected\":{\"strict\":false,"
                  "\"entries\":[{\"cases\":\"*\"},{\"cases\":\"*\",\"max_rate\":0.5}]}}\n",
                  count);
    for (size_t i = 0; i < count; i++) {
        cases[i] = (struct nnv_case){.name = rows[i].name, .suite = "s", .op = rows[i].op, .type = "", .tags = ""};
        nnv_text_addf(&list, "%s\ts\t%s\t\t\n", rows[i].name, rows[i].op);
        if (rows[i].record) nnv_text_addf(&journal, "{\"case\":\"%s\",%s}\n", rows[i].name, rows[i].record);
    }
    fx_put(&x, "cases.tsv", list.data, list.len);
    fx_put(&x, "journal.jsonl", journal.data, journal.len);
    fx_put(&x, "flakes.json", "{}", 2);
    o.folder = x.folder;
    if (!o.facts) o.facts = &facts;
    o.run = run;
    if (o.timeout_ns == 0) o.timeout_ns = SECOND;
    const enum nnv_status st = nnv_retry_failures(&o, err);
    *flakes = json_load_file(fx_path(&x, "flakes.json"), 0, NULL);
    if (*flakes) {
        assert_true(json_number_value(json_object_get(*flakes, "seconds")) < 60);
        json_object_del(*flakes, "seconds");
    } else if (st == NNV_OK) {
        assert_int_not_equal(access(fx_path(&x, "flakes.json"), F_OK), 0);
    }
    unlink(fx_path(&x, "flakes.json"));
    nnv_text_free(&list);
    nnv_text_free(&journal);
    fx_remove(&x);
    return st;
}

static json_t *retry_well(const struct row *rows, size_t count, struct nnv_retry o) {
    struct nnv_err err = {0};
    json_t *flakes;
    if (retry(rows, count, o, &flakes, &err) != NNV_OK) fail_msg("%s", err.text);
    return flakes;
}

static void assert_json(json_t *is, json_t *be) {
    if (!json_equal(is, be)) {
        char *a = json_dumps(is, JSON_INDENT(1)), *b = json_dumps(be, JSON_INDENT(1));
        fail_msg("%s\nexpected: %s", a, b);
    }
    json_decref(is);
    json_decref(be);
}

#define FAIL(more) "\"verdict\":\"FAIL\",\"reason\":\"r\"" more
#define WORKER(n, turn) ",\"worker\":" #n ",\"turn\":" #turn

/* Of each bug one, the fullest first, then what fails at a rate, then of each bug a second. */
static const struct row failures[] = {
    {"a", "ADD", "\"verdict\":\"PASS\"" WORKER(1, 1)},
    {"b", "SUB", FAIL(WORKER(1, 2))},
    {"c", "ADD", FAIL(WORKER(1, 3))},
    {"d", "ADD", FAIL(WORKER(2, 1))},
    {"e", "EXP", "\"verdict\":\"ERROR\"" WORKER(2, 2)},
    {"f", "EXP", FAIL("")}, /* nobody knows what ran before it */
    {"g", "DIV", FAIL(",\"why\":\"LEAK\"" WORKER(2, 3))},
    {"h", "LOG", FAIL(",\"repeats\":{\"runs\":2,\"bad\":1}" WORKER(2, 4))},
    {"i", "ABS", FAIL(",\"repeats\":{\"runs\":5,\"bad\":5}" WORKER(2, 5))},
    {"j", "NEG", FAIL(",\"repeats\":{\"runs\":1,\"bad\":0}" WORKER(2, 6))},
    {"k", "MUL", "\"verdict\":\"TIMEOUT\"" WORKER(2, 7)},
    {"l", "POW", FAIL(",\"outcome\":\"XFAIL\",\"expectation\":0" WORKER(2, 8))},
    {"m", "POW", FAIL(",\"outcome\":\"XFAIL\",\"expectation\":1" WORKER(2, 9))},
    {"n", "POW", NULL},
};
enum { FAILURES = sizeof failures / sizeof *failures };
static const uint32_t in_time[] = {2, 1, 8, 9, 10, 12, 3}, in_less[] = {2, 1, 8, 9, 12, 3};

static void assert_tried(const struct fake *f, const uint32_t *subjects, size_t count) {
    assert_int_equal(f->count, count);
    assert_memory_equal(f->tried, subjects, count * sizeof *subjects);
}

static void what_is_tried(void **state) {
    (void)state;
    const size_t all = sizeof in_time / sizeof *in_time;
    for (size_t most = 0; most <= all + 1; most++) {
        struct fake f = {.needs = -1};
        json_t *flakes = retry_well(
            failures, FAILURES,
            (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(4) * SECOND, .timeout_ns = SECOND, .most = most});
        const size_t n = most < all ? most : all;
        assert_tried(&f, in_time, n);
        assert_int_equal(f.runs, 5 * n);
        if (n == 0) {
            assert_null(flakes);
            continue;
        }
        assert_int_equal(json_integer_value(json_object_get(flakes, "tried")), n);
        assert_int_equal(json_integer_value(json_object_get(flakes, "left")), all - n);
        assert_int_equal(json_array_size(json_object_get(flakes, "cases")), n);
        json_decref(flakes);
    }
    /* what hangs is left alone where four runs of it would take all the time */
    struct fake f = {.needs = -1};
    json_decref(retry_well(
        failures, FAILURES,
        (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(4) * SECOND - 4, .timeout_ns = SECOND, .most = MOST}));
    assert_tried(&f, in_less, sizeof in_less / sizeof *in_less);
    f.count = 0;
    assert_null(retry_well(failures, FAILURES, (struct nnv_retry){.context = &f, .budget_ns = 0, .most = MOST}));
    assert_int_equal(f.count, 0);
}

static void what_always_fails(void **state) {
    (void)state;
    static const struct row one[] = {{"s/a", "ADD", FAIL(WORKER(1, 1))}};
    struct fake f = {.needs = -1};
    json_t *flakes =
        retry_well(one, 1, (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(99) * SECOND, .most = 9});
    assert_json(flakes, json_pack("{s:s, s:i, s:i, s:[{s:s, s:s, s:{s:i, s:i, s:f, s:f}, s:s}]}", "format",
                                  "nnvts-flakes/1", "tried", 1, "left", 0, "cases", "case", "s/a", "class",
                                  "deterministic", "alone", "runs", 5, "bad", 5, "low", 0.478176, "high", 1.0, "words",
                                  "deterministic: failed in 5 of 5 runs alone (47.8 % to 100.0 % at 95 % confidence)"));
}

/* What its worker had run before it, by turns: neither later cases, nor those of others, nor those of nobody. */
static void what_needs_another_before_it(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"s/0", "ADD", "\"verdict\":\"PASS\"" WORKER(1, 3)},
        {"s/1", "ADD", "\"verdict\":\"PASS\"" WORKER(1, 1)},
        {"s/2", "ADD", FAIL(WORKER(1, 4))},
        {"s/3", "ADD", "\"verdict\":\"PASS\"" WORKER(2, 2)},
        {"s/4", "ADD", "\"verdict\":\"PASS\"" WORKER(1, 2)},
        {"s/5", "ADD", "\"verdict\":\"PASS\"" WORKER(1, 5)},
        {"s/6", "ADD", "\"verdict\":\"PASS\""},
    };
    static const uint32_t before[] = {1, 4, 0};
    struct fake f = {.needs = 4};
    json_t *flakes = retry_well(rows, sizeof rows / sizeof *rows,
                                (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(99) * SECOND, .most = 9});
    assert_int_equal(f.before_count, 3);
    assert_memory_equal(f.before, before, sizeof before);
    assert_json(
        flakes,
        json_pack("{s:s, s:i, s:i, s:[{s:s, s:s, s:{s:i, s:i, s:f, s:f}, s:{s:i, s:i, s:f, s:f}, s:[s], s:b, s:s, "
                  "s:s}]}",
                  "format", "nnvts-flakes/1", "tried", 1, "left", 0, "cases", "case", "s/2", "class", "order-dependent",
                  "alone", "runs", 11, "bad", 0, "low", 0.0, "high", 0.284914, "order", "runs", 3, "bad", 3, "low",
                  0.292402, "high", 1.0, "after", "s/4", "minimal", 1, "words",
                  "order-dependent: failed in 0 of 11 runs alone (0.0 % to 28.5 % at 95 % confidence), failed in 3 of "
                  "3 runs after what its worker had run before; fails after s/4",
                  "command", "nnvts run --driver cpu --suite s --filter 's/4 | s/2' --seed 7 --tier smoke --jobs 1"));
}

/* A command names twenty cases that must run before, and none names more. */
static void what_needs_many_before_it(void **state) {
    (void)state;
    enum { NAMED = 20, ROWS = NAMED + 2 };
    static char name[ROWS][8], record[ROWS][64];
    struct row rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        snprintf(name[i], sizeof *name, "s/%d", i);
        snprintf(record[i], sizeof *record, "\"verdict\":\"%s\",\"worker\":1,\"turn\":%d",
                 i < ROWS - 1 ? "PASS" : "FAIL", i + 1);
        rows[i] = (struct row){name[i], "ADD", record[i]};
    }
    for (size_t least = NAMED; least <= NAMED + 1; least++) {
        struct fake f = {.least = least};
        json_t *flakes =
            retry_well(rows, ROWS, (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(99) * SECOND, .most = 9});
        const json_t *item = json_array_get(json_object_get(flakes, "cases"), 0);
        assert_int_equal(json_array_size(json_object_get(item, "after")), least);
        assert_int_equal(json_object_get(item, "command") != NULL, least == NAMED);
        json_decref(flakes);
    }
}

static void what_needs_load(void **state) {
    (void)state;
    static const struct row one[] = {{"s/a", "ADD", FAIL(WORKER(1, 1))}};
    struct fake f = {.needs = -1, .needs_load = true};
    json_t *flakes =
        retry_well(one, 1, (struct nnv_retry){.context = &f, .budget_ns = UINT64_C(99) * SECOND, .most = 9});
    assert_json(
        flakes,
        json_pack("{s:s, s:i, s:i, s:[{s:s, s:s, s:{s:i, s:i, s:f, s:f}, s:{s:i, s:i, s:f, s:f}, s:s, s:s}]}", "format",
                  "nnvts-flakes/1", "tried", 1, "left", 0, "cases", "case", "s/a", "class", "load-dependent", "alone",
                  "runs", 60, "bad", 0, "low", 0.0, "high", 0.059629, "load", "runs", 20, "bad", 20, "low", 0.831567,
                  "high", 1.0, "words",
                  "load-dependent: failed in 0 of 60 runs alone (0.0 % to 6.0 % at 95 % confidence), failed in 20 of "
                  "20 runs with all processors busy",
                  "command", "nnvts run --driver cpu --suite s --filter s/a --seed 7 --tier smoke --repeat 60"));
}

/* What can't be tried is no failure of the run; anything else that goes wrong is. */
static void what_goes_wrong(void **state) {
    (void)state;
    struct nnv_err err = {0};
    json_t *flakes;
    struct fake f = {.needs = -1, .stops = 12, .stopped = NNV_INVALID};
    struct nnv_retry o = {.context = &f, .budget_ns = UINT64_C(99) * SECOND, .most = MOST};
    assert_int_equal(retry(failures, FAILURES, o, &flakes, &err), NNV_OK);
    assert_int_equal(json_array_size(json_object_get(flakes, "cases")), 2);
    assert_int_equal(json_integer_value(json_object_get(flakes, "tried")), 3);
    assert_int_equal(json_integer_value(json_object_get(flakes, "left")), 4);
    json_decref(flakes);
    f = (struct fake){.needs = -1, .stops = 12, .stopped = NNV_IO};
    assert_int_equal(retry(failures, FAILURES, o, &flakes, &err), NNV_IO);
    assert_string_equal(err.text, "no more");
    assert_json(flakes, json_object()); /* the old one */
    /* time that ends within a study is none that ends all */
    f = (struct fake){.needs = -1, .stops = 12, .stopped = NNV_TIMEOUT};
    assert_int_equal(retry(failures, FAILURES, o, &flakes, &err), NNV_OK);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(flakes, "cases"), 2), "class")), "unknown");
    json_decref(flakes);
    const struct nnv_run_facts others = {.case_count = FAILURES + 1};
    o.facts = &others;
    err = (struct nnv_err){0};
    assert_int_equal(retry(failures, FAILURES, o, &flakes, &err), NNV_INTERNAL);
    assert_string_equal(err.text, "the run has other cases");
    assert_json(flakes, json_object());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_tried),
        cmocka_unit_test(what_always_fails),
        cmocka_unit_test(what_needs_another_before_it),
        cmocka_unit_test(what_needs_many_before_it),
        cmocka_unit_test(what_needs_load),
        cmocka_unit_test(what_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
