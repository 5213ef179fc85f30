/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_record.c The first line of a journal, and what is said of stale expectations and of lines without them.
 */
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "harness/journal/expect/outcome.h"
#include "harness/journal/line.h"
#include "harness/journal/record.h"
#include "tests/kit/test.h"

/* What folders of different builds agree on: FNV-1a of each name, mixed as SplitMix64 does, and of that chain. */
static void selections(void **state) {
    (void)state;
    const struct nnv_case cases[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
                          other[] = {cases[1], cases[0], cases[2]};
    char text[17];
    nnv_record_selection(cases, 3, text);
    assert_string_equal(text, "996298289df1b70a");
    nnv_record_selection(other, 3, text);
    assert_string_equal(text, "28f4166151d57d62");
    nnv_record_selection(NULL, 0, text);
    assert_string_equal(text, "0000000000000000");
}

static json_t *header_of(const struct nnv_run_facts *f) {
    struct nnv_text t = {0};
    nnv_record_header(f, &t);
    json_error_t why;
    json_t *header = json_loads(t.data, JSON_REJECT_DUPLICATES, &why);
    if (!header) fail_msg("%s: %s", why.text, t.data);
    nnv_text_free(&t);
    assert_int_equal(strlen(json_string_value(json_object_get(header, "sum"))), 16);
    json_object_del(header, "sum");
    return header;
}

static void assert_json(json_t *is, json_t *be) {
    if (!json_equal(is, be))
        fail_msg("%s\nexpected: %s", json_dumps(is, JSON_SORT_KEYS), json_dumps(be, JSON_SORT_KEYS));
    json_decref(is);
    json_decref(be);
}

/** Takes what is of this moment and machine out of the header. */
static void take_place(json_t *header) {
    json_object_del(header, "start");
    json_object_del(header, "machine");
}

static void add_more(const struct nnv_run_facts *f, struct nnv_json_out *j) { nnv_json_uint(j, "more", f->count); }

static void first_lines(void **state) {
    (void)state;
    const struct nnv_case cases[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    char arg0[] = "nnvts", arg1[] = "run", *argv[] = {arg0, arg1};
    struct nnv_run_facts f = {.driver = "npu",
                              .name = "NPU",
                              .version = "2.1",
                              .type = "ACCELERATOR",
                              .level = 6,
                              .seed = INT64_MAX,
                              .jobs = 3,
                              .precision = "default",
                              .tier = "smoke",
                              .cases = cases,
                              .case_count = 3,
                              .program_build = "p",
                              .driver_build = "d",
                              .repeat = 1};
    json_t *header = header_of(&f);
    take_place(header);
    assert_json(header,
                json_pack("{s:s, s:s, s:{s:s,s:s,s:s,s:s,s:i}, s:I, s:i, s:s, s:s, s:s, s:[], s:i, s:s, s:{s:s,s:s}}",
                          "nnvts", NNVTS_VERSION, "format", "nnvts-journal/1", "driver", "argument", "npu", "name",
                          "NPU", "version", "2.1", "type", "ACCELERATOR", "level", 6, "seed", (json_int_t)INT64_MAX,
                          "jobs", 3, "precision", "default", "arithmetic", "strict", "tier", "smoke", "argv", "cases",
                          3, "selection", "996298289df1b70a", "build", "program", "p", "driver", "d"));
    const struct nnv_shard shard = {
        .index = 2, .count = 4, .from = "--shard", .by = "hash", .cases = 9, .selection = "s"};
    f.seed = UINT64_C(1) << 63;
    snprintf(f.arithmetic, sizeof f.arithmetic, "android");
    snprintf(f.specs_hash, sizeof f.specs_hash, "h");
    f.count = 7;
    f.budget_ns = 1500000000;
    f.graphs = "g";
    f.saturation = "t";
    f.networks = "{\"n\":1}";
    f.min_judged = 1;
    f.repeat = 2;
    f.determinism = true;
    f.argc = 2;
    f.argv = argv;
    f.shard = &shard;
    f.more = add_more;
    header = header_of(&f);
    take_place(header);
    assert_string_equal(json_string_value(json_object_get(header, "seed")), "9223372036854775808");
    static const char *const same[] = {"nnvts", "format", "driver",    "seed",  "jobs", "precision",
                                       "tier",  "cases",  "selection", "build", "more"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_int_equal(json_object_del(header, same[i]), 0);
    assert_json(header, json_pack("{s:s, s:i, s:f, s:s, s:s, s:{s:i}, s:i, s:i, s:b, s:[s,s], s:s, "
                                  "s:{s:i,s:i,s:s,s:i,s:s,s:s}}",
                                  "arithmetic", "android", "count", 7, "time_budget", 1.5, "graphs", "g", "saturation",
                                  "t", "networks", "n", 1, "min_judged", 1, "repeat", 2, "determinism", 1, "argv",
                                  "nnvts", "run", "specs", "h", "shard", "index", 2, "count", 4, "by", "hash", "cases",
                                  9, "selection", "s", "from", "--shard"));
}

/** "model name" of the first processor, or what the machine calls itself. */
static const char *processor(const char *machine) {
    static char name[256];
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "model name : %255[^\n]", name) != 1) continue;
    if (f) fclose(f);
    return *name ? name : machine;
}

static void where_and_when(void **state) {
    (void)state;
    struct utsname u;
    struct sysinfo i;
    assert_int_equal(uname(&u), 0);
    assert_int_equal(sysinfo(&i), 0);
    char os[160];
    snprintf(os, sizeof os, "%s %s", u.sysname, u.release);
    struct nnv_run_facts f = {.driver = "", .name = "", .version = "", .type = "", .precision = "", .tier = ""};
    const time_t before = time(NULL);
    json_t *header = header_of(&f), *machine = json_object_get(header, "machine");
    const int64_t start_us = nnv_time_us(json_string_value(json_object_get(header, "start")));
    assert_in_range(start_us / 1000000, before, before + 60);
    json_incref(machine);
    assert_json(machine, json_pack("{s:s, s:s, s:s, s:i, s:I}", "os", os, "host", u.nodename, "cpu",
                                   processor(u.machine), "cores", (int)sysconf(_SC_NPROCESSORS_ONLN), "memory_mb",
                                   (json_int_t)((uint64_t)i.totalram * i.mem_unit >> 20)));
    json_decref(header);
}

/* -------------------------------------------------------------------- outcomes */

static void expectations_of_lines(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum nnvts_outcome outcome;
        uint32_t entry;
    } row[] = {
        {"{\"case\":\"a\",\"verdict\":\"FAIL\"}", NNVTS_OUTCOME_NONE, NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"expectation\":3}", NNVTS_OUTCOME_NONE, 3},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"outcome\":\"XFAIL\"}", NNVTS_OUTCOME_XFAIL, NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"outcome\":\"XFAIL\",\"expectation\":3}", NNVTS_OUTCOME_XFAIL, 3},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"outcome\":\"XPASS\",\"expectation\":3}", NNVTS_OUTCOME_NONE,
         NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"ERROR\",\"outcome\":\"XFAIL\",\"expectation\":3}", NNVTS_OUTCOME_NONE,
         NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"outcome\":\"XPASS\",\"expectation\":0}", NNVTS_OUTCOME_XPASS, 0},
        {"{\"case\":\"a\",\"verdict\":\"PASS\",\"outcome\":\"FLAKY\"}", NNVTS_OUTCOME_NONE, NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"CRASH\",\"outcome\":\"FLAKY\"}", NNVTS_OUTCOME_FLAKY, NNV_ENTRY_NONE},
        {"{\"case\":\"a\",\"verdict\":\"FAIL\",\"outcome\":\"XFAIL\",\"expectation\":\"3\"}", NNVTS_OUTCOME_XFAIL,
         NNV_ENTRY_NONE},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct nnv_line l;
        struct nnv_err err = {0};
        json_t *record = json_loads(row[i].line, 0, NULL);
        if (nnv_line_read(record, &l, &err) != NNV_OK) fail_msg("%s", err.text);
        if (l.outcome != row[i].outcome || l.expectation != row[i].entry)
            fail_msg("%s: %d, %u", row[i].line, (int)l.outcome, l.expectation);
        json_decref(record);
    }
}

static void stale_entries(void **state) {
    (void)state;
    struct nnv_text t = {0};
    json_t *expired = json_pack("{s:s, s:s, s:s, s:s}", "at", "k.json:3", "state", "expired", "expires", "2020-01-31",
                                "cases", "op:A\nB");
    json_t *unmatched = json_pack("{s:s, s:s, s:[s,s]}", "at", "k.json:4", "state", "unmatched", "cases", "a", "b");
    nnv_outcome_add_stale(&t, expired);
    assert_string_equal(t.data, "k.json:3: has expired on 2020-01-31: op:A\\x0aB");
    nnv_text_clear(&t);
    nnv_outcome_add_stale(&t, unmatched);
    assert_string_equal(t.data, "k.json:4: matches no case: a, b");
    nnv_text_clear(&t);
    /* long ones are cut */
    char name[1000], expected[404] = "k.json:4: matches no case: ";
    const size_t words = strlen(expected);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    json_object_set_new(unmatched, "cases", json_string(name));
    nnv_outcome_add_stale(&t, unmatched);
    memset(expected + words, 'n', 400 - words);
    memcpy(expected + 400, "...", 4);
    assert_string_equal(t.data, expected);
    assert_true(nnv_expected_stale(expired) && nnv_expected_stale(unmatched));
    json_object_set_new(expired, "state", json_string("active"));
    assert_false(nnv_expected_stale(expired));
    nnv_text_free(&t);
    json_decref(expired);
    json_decref(unmatched);
}

static void who_expected_it(void **state) {
    (void)state;
    struct nnv_text t = {0};
    json_t *expected = json_pack("{s:[{s:s,s:s,s:s,s:s},{s:s},{s:s,s:s},{}]}", "entries", "reason", "r", "owner", "o",
                                 "link", "l", "at", "k.json:3", "at", "k.json:4", "reason", "r", "owner", "o");
    const struct nnv_report r = {.expected = expected};
    static const struct {
        uint32_t entry;
        const char *words;
    } row[] = {{0, "r (o, l, k.json:3)"},
               {1, "no reason is given (k.json:4)"},
               {2, "r (o)"},
               {3, "no reason is given"},
               {4, ""},
               {NNV_ENTRY_NONE, ""}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        nnv_text_clear(&t);
        nnv_outcome_add_why(&t, &r, row[i].entry);
        assert_string_equal(t.len ? t.data : "", row[i].words);
    }
    nnv_text_free(&t);
    json_decref(expected);
}

static int held; /**< pieces of memory that jansson has */
static void *counted(size_t n) {
    void *p = malloc(n);
    held += p != NULL;
    return p;
}
static void uncounted(void *p) {
    held -= p != NULL;
    free(p);
}

/* Reports read many lines: a line holds no memory once its record is given back, a wrong one none at all. */
static void a_line_holds_nothing(void **state) {
    (void)state;
    static const char right[] = "{\"case\":\"a\",\"verdict\":\"PASS\"}", wrong[] = "{\"case\":", other[] = "[1]";
    json_error_t why;
    json_set_alloc_funcs(counted, uncounted);
    json_t *record = nnv_record_parse(right, sizeof right - 1, &why);
    const bool read = record != NULL && held > 0;
    json_decref(record);
    const int after = held;
    const bool refused = nnv_record_parse(wrong, sizeof wrong - 1, &why) == NULL &&
                         nnv_record_parse(other, sizeof other - 1, &why) == NULL;
    json_set_alloc_funcs(malloc, free);
    assert_true(read);
    assert_int_equal(after, 0);
    assert_true(refused);
    assert_int_equal(held, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(selections),          cmocka_unit_test(first_lines),
                                       cmocka_unit_test(where_and_when),      cmocka_unit_test(expectations_of_lines),
                                       cmocka_unit_test(stale_entries),       cmocka_unit_test(who_expected_it),
                                       cmocka_unit_test(a_line_holds_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
