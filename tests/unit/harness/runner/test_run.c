/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a driver does: each case has its own verdict, and no other case is harmed. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/run/run.h"

#include "harness/runner/worker/limits.h"

/** What is expected of a fault. */
struct expected {
    const char *verdict, *reason, *signal, *phase; /* NULL: not looked at; reason: a part of it */
};

static const struct expected expected[FAULTS] = {
    [FINE] = {"PASS", NULL, NULL, NULL},
    [WRONG] = {"FAIL", "values wrong\nsecond", NULL, NULL},
    [UNTRUSTED] = {"UNTRUSTED", NULL, NULL, NULL},
    [REFUSED] = {"UNSUPPORTED", "does not support ADD", NULL, NULL},
    [NULL_POINTER] = {"CRASH", "driver died with SIGSEGV in execute", "SIGSEGV", "execute"},
    [ABORT] = {"CRASH", "driver died with SIGABRT in execute", "SIGABRT", "execute"},
    [EXIT_0] = {"CRASH", "driver called exit(0) in execute", "", "execute"},
    [EXIT_3] = {"CRASH", "driver called exit(3) in execute", "", "execute"},
    [SIGKILL_SELF] = {"CRASH", "driver was killed by SIGKILL (out of memory?) in execute", "SIGKILL", "execute"},
    [DIVISION] = {"CRASH", "SIGFPE", "SIGFPE", "execute"},
    [ILLEGAL] = {"CRASH", "SIGILL", "SIGILL", "execute"},
    [STACK_SMASH] = {"CRASH", " in execute", NULL, "execute"},
    [STACK_OVERFLOW] = {"CRASH", "SIGSEGV in execute", "SIGSEGV", "execute"},
    [FREE_GARBAGE] = {"CRASH", " in execute", NULL, "execute"},
    [THREAD_CRASH] = {"CRASH", "a thread of the driver died with SIGSEGV while nnvts built", "SIGSEGV", "build"},
    [HANG_BUSY] = {"TIMEOUT", "no end within 1", "", "execute"},
    [HANG_ASLEEP] = {"TIMEOUT", "no end within 1", "", "execute"},
    [STOPPED] = {"TIMEOUT", "no end within 1", "", "execute"},
    [CLOSES_ALL] = {"PASS", NULL, NULL, NULL},
    [PRINTS] = {"PASS", NULL, NULL, NULL},
    [PRINTS_MUCH] = {"PASS", NULL, NULL, NULL},
    [FORKS] = {"PASS", NULL, NULL, NULL},
    [FORKS_AND_HANGS] = {"PASS", NULL, NULL, NULL},
    [DAMAGES] = {"FAIL", NULL, NULL, NULL},
    [HUGE_RECORD] = {"FAIL", "much\n(too long", NULL, NULL},
    [BUILD_CRASH] = {"ERROR", "nnvts itself died with SIGSEGV while nnvts built the case", "SIGSEGV", "build"},
    [BUILD_CRASH_LATER] = {"PASS", NULL, NULL, NULL},
    [CHECK_CRASH] = {"CRASH", "while nnvts compared the results", "SIGSEGV", "check"},
    [ERROR_LATER] = {"PASS", NULL, NULL, NULL},
    [ERROR_ALWAYS] = {"ERROR", "no file", NULL, NULL},
    [BAD_OUTPUTS] = {"ERROR", "came damaged", NULL, NULL},
    [WRITES_CHANNEL] = {"CRASH", "driver wrote over memory of nnvts", NULL, NULL},
    [WRITES_CASE] = {"CRASH", "driver wrote over memory of nnvts", NULL, NULL},
    [WRITES_START] = {"CRASH", "driver wrote over memory of nnvts", NULL, NULL},
    [WRITES_COUNTS] = {"CRASH", "driver wrote over memory of nnvts", NULL, NULL},
    [SLOW] = {"PASS", NULL, NULL, NULL},
};

/* What is known of the moment of a corruption depends on what was hit. */
static void check_record(const json_t *r, enum fault fault) {
    const struct expected *e = &expected[fault];
    if (strcmp(text_of(r, "verdict"), e->verdict) != 0)
        fail_msg("%s: %s, expected %s: %s", text_of(r, "case"), text_of(r, "verdict"), e->verdict,
                 text_of(r, "reason"));
    if (e->reason != NULL && strstr(text_of(r, "reason"), e->reason) == NULL)
        fail_msg("%s: '%s', expected '%s'", text_of(r, "case"), text_of(r, "reason"), e->reason);
    if (strcmp(e->verdict, "PASS") == 0) assert_null(json_object_get(r, "reason"));
    if (e->signal != NULL) assert_string_equal(text_of(r, "signal"), e->signal);
    if (e->phase != NULL) assert_string_equal(text_of(r, "phase"), e->phase);
    assert_int_equal(
        json_integer_value(json_object_get(r, "compared")),
        strcmp(e->verdict, "CRASH") == 0 || strcmp(e->verdict, "TIMEOUT") == 0 || fault == BUILD_CRASH ? 0 : 2);
    assert_true(json_is_real(json_object_get(r, "ms")));
}

/* Every fault between two fine cases; each must have its own verdict, the fine ones PASS. */
static void run_faults(int jobs, const char *out) {
    struct setup s;
    setup_init(&s, out);
    s.config.jobs = jobs;
    s.config.timeout_ns = in_emulator() ? 10000000000 : 1000000000;
    for (int f = 0; f < FAULTS; f++) {
        add_case(&s, "fake", FINE, 0);
        add_case(&s, "fake", (enum fault)f, 0);
        add_case(&s, "fake", FINE, 0);
    }
    run_well(&s);
    json_t *lines = read_journal(s.out);
    assert_int_equal(json_array_size(lines), s.list.count + 1);
    for (size_t i = 0; i < s.list.count; i++)
        check_record(record_of(lines, s.list.item[i].name), (enum fault)s.list.item[i].a);
    json_decref(lines);
    setup_free(&s);
}

static void test_faults_one_job(void **state) {
    (void)state;
    run_faults(1, "faults1");
}

static void test_faults_three_jobs(void **state) {
    (void)state;
    run_faults(3, "faults3");
}

static json_t *run_single(enum fault fault, const char *out) {
    struct setup s;
    setup_init(&s, out);
    s.config.timeout_ns = in_emulator() ? 10000000000 : 1000000000;
    add_case(&s, "fake", fault, 0);
    run_well(&s);
    json_t *lines = read_journal(s.out), *record = json_incref(json_array_get(lines, 1));
    json_decref(lines);
    setup_free(&s);
    return record;
}

/* Nobody knows which of its cases wrote over what a worker tells: the one that runs then, before or behind it in the
 * list, is not blamed for it. */
static void test_written_over_later(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "later");
    s.config.repeat = 2; /* nobody counts what it leaves behind, and runs it once more for that */
    add_case(&s, "fake", SLOW_CHECK, 0);
    add_case(&s, "fake", WRITES_LATER, 0);
    add_case(&s, "fake", SLOW_CHECK, 0);
    run_well(&s);
    json_t *lines = read_journal(s.out);
    for (size_t i = 0; i < s.list.count; i++)
        assert_string_equal(text_of(record_of(lines, s.list.item[i].name), "verdict"), "PASS");
    json_decref(lines);
    setup_free(&s);
}

/* What nnvts itself does may take longer than a driver: the machine may be busy. */
static void test_time_of_nnvts(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "own");
    s.config.timeout_ns = 500000000;
    add_case(&s, "fake", SLOW_CHECK, 0);
    add_case(&s, "fake", ENDLESS_BUILD, 0);
    run_well(&s);
    json_t *lines = read_journal(s.out);
    const json_t *endless = record_of(lines, s.list.item[1].name);
    assert_string_equal(text_of(record_of(lines, s.list.item[0].name), "verdict"), "PASS");
    assert_string_equal(text_of(endless, "verdict"), "ERROR");
    assert_non_null(strstr(text_of(endless, "reason"), "no end within 3 s while nnvts built the case"));
    json_decref(lines);
    setup_free(&s);
}

/** The record of a fault alone, under the limits of the setup. */
static json_t *run_limited(struct setup *s, enum fault fault) {
    s->list.count = 0;
    add_case(s, "fake", fault, 0);
    run_well(s);
    json_t *lines = read_journal(s->out), *record = json_incref(json_array_get(lines, 1));
    json_decref(lines);
    return record;
}

static void expect_end(json_t *record, const char *verdict, const char *why, const char *reason) {
    assert_string_equal(text_of(record, "verdict"), verdict);
    assert_string_equal(text_of(record, "why"), why);
    if (strstr(text_of(record, "reason"), reason) == NULL)
        fail_msg("'%s', not '%s'", text_of(record, "reason"), reason);
    json_decref(record);
}

/* Each signal is harder than the one before, and the record says which it took. */
static void test_ladder(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "ladder");
    s.config.timeout_ns = 300000000;
    expect_end(run_limited(&s, HANG_BUSY), "TIMEOUT", "NO_END", "in execute\nended by SIGTERM");
    expect_end(run_limited(&s, TIDIES_UP), "TIMEOUT", "NO_END", "in execute\ncalled exit(7) on SIGTERM");
    expect_end(run_limited(&s, DEAF_TO_TERM), "TIMEOUT", "NO_END", "in execute\nended by SIGABRT; SIGTERM had not");
    expect_end(run_limited(&s, STOPPED), "TIMEOUT", "NO_END",
               "in execute\nended by SIGKILL; SIGTERM and SIGABRT had not");
    setup_free(&s);
}

/* Where no core file may be written, nobody waits for one: a worker that SIGABRT does not end is killed at once. */
static void test_no_core(void **state) {
    (void)state;
    struct setup s;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, before.rlim_max});
    setup_init(&s, "no_core");
    s.config.timeout_ns = 300000000;
    json_t *r = run_limited(&s, STOPPED);
    setrlimit(RLIMIT_CORE, &before);
    assert_true(json_real_value(json_object_get(r, "ms")) < 5000);
    expect_end(r, "TIMEOUT", "NO_END", "ended by SIGKILL; SIGTERM and SIGABRT had not");
    setup_free(&s);
}

/* Where the user allows core files, the one that has to be aborted leaves one. */
static void test_core(void **state) {
    (void)state;
    struct setup s;
    struct rlimit before;
    char here[PATH_MAX];
    assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
    if (before.rlim_max == 0) skip();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(root), 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){before.rlim_max, before.rlim_max});
    setup_init(&s, "aborted"); /* "core" is the file */
    s.config.timeout_ns = 300000000;
    json_t *r = run_limited(&s, DEAF_TO_TERM);
    setrlimit(RLIMIT_CORE, &before);
    assert_int_equal(chdir(here), 0);
    expect_end(r, "TIMEOUT", "NO_END", "ended by SIGABRT, with a core file; SIGTERM had not");
    setup_free(&s);
}

/* Whoever is silent does not get the whole time; whoever prints or goes on does. */
static void test_silence(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "silence");
    s.config.timeout_ns = 20000000000;
    s.config.silence_ns = 400000000;
    expect_end(run_limited(&s, HANG_ASLEEP), "TIMEOUT", "NO_END", "no sign of life for 0.4 s in execute");
    json_t *r = run_limited(&s, CHATTERS);
    assert_string_equal(text_of(r, "verdict"), "PASS");
    json_decref(r);
    r = run_limited(&s, SLOW_CHECK); /* nnvts itself */
    assert_string_equal(text_of(r, "verdict"), "PASS");
    json_decref(r);
    setup_free(&s);
}

static void test_limits(void **state) {
    (void)state;
    struct setup s;
    uint64_t written;
    setup_init(&s, "limits");
    s.config.timeout_ns = 20000000000;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    s.config.memory = (uint64_t)256 << 20;
    if (!in_emulator()) /* which has more memory than it lets its program see */
        expect_end(run_limited(&s, NO_MEMORY), "CRASH", "OUT_OF_MEMORY",
                   "driver died with SIGSEGV in execute: it had been refused memory, by the 256 MB of --memory");
    expect_end(run_limited(&s, NULL_POINTER), "CRASH", "DIED", "driver died with SIGSEGV in execute");
    s.config.memory = 0;
#endif
    s.config.disk = (uint64_t)2 << 20;
    expect_end(run_limited(&s, ONE_LARGE_FILE), "CRASH", "DISK", "in execute: it wrote more than the 2 MB of --disk");
    if (nnv_written(0, &written)) /* where the files lie on a disk */
        expect_end(run_limited(&s, MANY_FILES), "CRASH", "DISK", "it wrote more than the 2 MB of --disk");
    json_t *r = run_limited(&s, FINE);
    assert_string_equal(text_of(r, "verdict"), "PASS");
    json_decref(r);
    setup_free(&s);
}

static void test_backtraces(void **state) {
    (void)state;
    static const enum fault with[] = {NULL_POINTER, ABORT,       DIVISION,    STACK_OVERFLOW,
                                      HANG_BUSY,    HANG_ASLEEP, THREAD_CRASH};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        json_t *r = run_single(with[i], "trace");
        const char *trace = text_of(r, "backtrace");
        if (strstr(trace, "#0 ") == NULL || strstr(trace, "#1 ") == NULL) fail_msg("fault %d: '%s'", with[i], trace);
        json_decref(r);
    }
    json_t *r = run_single(NULL_POINTER, "trace");
    assert_non_null(strstr(text_of(r, "backtrace"), "address 0x8\n"));
    json_decref(r);
}

static void test_log(void **state) {
    (void)state;
    json_t *r = run_single(PRINTS, "log");
    assert_string_equal(text_of(r, "log"), "hello from the driver\nand this is \xef\xbf\xbd stderr\nwithout newline");
    json_decref(r);
    r = run_single(PRINTS_MUCH, "log");
    size_t n = strlen(text_of(r, "log"));
    assert_true(n > 3000 && n <= 4096);
    json_decref(r);
    r = run_single(FINE, "log");
    assert_null(json_object_get(r, "log"));
    json_decref(r);
}

/* What one case printed is not another's, also when the log begins again. */
static void test_log_of_each(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "logs");
    for (int i = 0; i < 30; i++) {
        add_case(&s, "fake", PRINTS, 0);
        add_case(&s, "fake", FINE, 0);
        if (i % 5 == 0) add_case(&s, "fake", PRINTS_MUCH, 0);
    }
    run_well(&s);
    json_t *lines = read_journal(s.out);
    for (size_t i = 0; i < s.list.count; i++) {
        const json_t *r = record_of(lines, s.list.item[i].name);
        if (s.list.item[i].a == FINE) assert_null(json_object_get(r, "log"));
        if (s.list.item[i].a == PRINTS)
            assert_int_equal(strlen(text_of(r, "log")),
                             strlen("hello from the driver\nand this is xxx stderr\nwithout newline"));
    }
    json_decref(lines);
    setup_free(&s);
}

static void test_header(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "header");
    s.config.seed = UINT64_MAX;
    s.config.precision = NNV_PRECISION_AOSP;
    add_case(&s, "fake", FINE, 0);
    add_case(&s, "made", FINE, 0);
    run_well(&s);
    json_t *lines = read_journal(s.out), *h = json_array_get(lines, 0);
    assert_string_equal(text_of(h, "nnvts"), NNVTS_VERSION);
    assert_string_equal(text_of(h, "format"), "nnvts-journal/1");
    assert_string_equal(text_of(h, "seed"), "18446744073709551615");
    assert_string_equal(text_of(h, "precision"), "aosp");
    assert_string_equal(text_of(h, "tier"), "default");
    assert_int_equal(strlen(text_of(h, "selection")), 16);
    assert_int_equal(json_integer_value(json_object_get(h, "cases")), 2);
    json_t *d = json_object_get(h, "driver");
    assert_string_equal(text_of(d, "argument"), "fake");
    assert_string_equal(text_of(d, "version"), "1.2");
    assert_string_equal(text_of(d, "type"), "CPU");
    assert_int_equal(json_integer_value(json_object_get(d, "level")), 7);
    assert_string_equal(text_of(json_object_get(json_object_get(h, "suites"), "made"), "summary"),
                        "misbehaves, and can be built");
    assert_true(json_integer_value(json_object_get(json_object_get(h, "machine"), "cores")) > 0);
    char host[256];
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_string_equal(text_of(json_object_get(h, "machine"), "host"), host);
    json_decref(lines);
    setup_free(&s);
}

/* Verdicts and counts don't depend on the number of workers, and no case is run twice. */
static void test_many_jobs(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 8; jobs *= 2) {
        struct setup s;
        setup_init(&s, "many");
        s.config.jobs = jobs;
        for (int i = 0; i < 3000; i++) add_case(&s, "fake", i % 7 == 3 ? WRONG : FINE, 0);
        run_well(&s);
        json_t *lines = read_journal(s.out);
        assert_int_equal(json_array_size(lines), s.list.count + 1);
        size_t wrong = 0;
        for (size_t i = 1; i < json_array_size(lines); i++)
            wrong += strcmp(text_of(json_array_get(lines, i), "verdict"), "FAIL") == 0;
        assert_int_equal(wrong, 429);
        json_decref(lines);
        setup_free(&s);
    }
}

/* Who writes the list of cases tells what became of it before a journal is there. */
static void test_no_list(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    bool interrupted;
    char path[PATH_MAX + 32];
    setup_init(&s, "no-list");
    add_case(&s, "fake", FINE, 0);
    assert_int_equal(mkdir(s.out, 0777), 0);
    snprintf(path, sizeof path, "%s/cases.tsv", s.out);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(run_setup(&s, NULL, &interrupted, &err), NNV_IO);
    assert_non_null(strstr(err.text, "/cases.tsv: cannot replace: "));
    snprintf(path, sizeof path, "%s/journal.jsonl", s.out);
    assert_int_equal(access(path, F_OK), -1);
    setup_free(&s);
}

/* The shortest budget is one, too: it is spent before anything begins. */
static void test_shortest_budget(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "budget");
    s.config.budget_ns = 1;
    for (int i = 0; i < 3; i++) add_case(&s, "fake", FINE, 0);
    run_well(&s);
    count_verdicts(s.out, "SKIP", "the time budget was spent", 3);
    setup_free(&s);
}

/* ------------------------------------------------------------------ one case */

static void test_run_one(void **state) {
    (void)state;
    static const enum fault some[] = {FINE, WRONG, NULL_POINTER, HANG_BUSY, EXIT_0, BUILD_CRASH};
    struct setup s;
    setup_init(&s, "unused");
    s.config.timeout_ns = 1000000000;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) add_case(&s, "fake", some[i], 0);
    for (size_t i = 0; i < s.list.count; i++) {
        char *line = NULL;
        struct nnv_err err = {0};
        assert_int_equal(nnv_run_one(&s.config, &s.list.item[i], &line, &err), NNV_OK);
        json_t *r = json_loads(line, 0, NULL);
        check_record(r, some[i]);
        json_decref(r);
        free(line);
    }
    assert_int_equal(access(s.out, F_OK), -1);
    setup_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_one_job),
        cmocka_unit_test(test_faults_three_jobs),
        cmocka_unit_test(test_written_over_later),
        cmocka_unit_test(test_time_of_nnvts),
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_no_core),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_backtraces),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_log_of_each),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_no_list),
        cmocka_unit_test(test_shortest_budget),
        cmocka_unit_test(test_run_one),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
