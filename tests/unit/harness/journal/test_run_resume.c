/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that happens to nnvts itself loses a verdict: kill -9, interruption, a full disk, and --resume. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/clock.h"
#include "tests/kit/run/run.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "harness/runner/dumps/dump.h"
#include "harness/runner/order.h"

enum { CASES = 300 };

/** Cases of which some go wrong, in all ways that take no time. */
static void add_mixed(struct setup *s, int n) {
    static const enum fault mixed[] = {FINE,         SLOW, WRONG,  SLOW, REFUSED, SLOW,
                                       NULL_POINTER, SLOW, EXIT_3, SLOW, PRINTS};
    for (int i = 0; i < n; i++)
        add_case(s, i % 2 ? "fake" : "made", mixed[(size_t)i % (sizeof mixed / sizeof *mixed)], 0);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/** "case verdict reason" of all records, sorted, malloc'ed: what must not depend on anything. */
static char *verdicts(const char *out, size_t expected) {
    json_t *lines = read_journal(out);
    size_t n = json_array_size(lines) - 1;
    assert_int_equal(n, expected);
    char **text = calloc(n, sizeof *text);
    struct nnv_text all = {0};
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(lines, i + 1);
        assert_true(asprintf(&text[i], "%s %s %s\n", text_of(r, "case"), text_of(r, "verdict"), text_of(r, "reason")) >
                    0);
    }
    qsort(text, n, sizeof *text, by_text);
    for (size_t i = 0; i < n; i++) {
        nnv_text_add(&all, text[i]);
        free(text[i]);
    }
    free(text);
    json_decref(lines);
    return all.data;
}

/** A process of its own that runs the setup; it exits with 0 if that went well and was not interrupted, 1 interrupted,
 * 2 error. */
static pid_t start_run(struct setup *s) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    struct nnv_err err = {0};
    bool interrupted = false;
    enum nnv_status st = run_setup(s, NULL, &interrupted, &err);
    if (st != NNV_OK) fprintf(stderr, "%s\n", err.text);
    _exit(st != NNV_OK ? 2 : interrupted);
}

static int wait_for(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_kill_and_resume(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "kill-reference");
    add_mixed(&s, CASES);
    run_well(&s);
    char *reference = verdicts(s.out, CASES);
    snprintf(s.out, sizeof s.out, "%s/kill", root);
    s.config.jobs = 2;
    s.resume = true;
    struct nnv_rng rng = nnv_rng_make(7, 7, 7);
    for (int round = 0; round < 5; round++) {
        int kills = 0, code = -1;
        while (code != 0) {
            pid_t pid = start_run(&s);
            /* After a few kills it is let go on to the end. */
            if (kills++ < 12) {
                usleep((useconds_t)nnv_rng_int(&rng, 0, 60000));
                kill(pid, SIGKILL);
            }
            code = wait_for(pid);
            assert_true(code == 0 || code == 1000 + SIGKILL);
        }
        char *resumed = verdicts(s.out, CASES);
        assert_string_equal(resumed, reference);
        free(resumed);
        char command[PATH_MAX + 16];
        snprintf(command, sizeof command, "rm -rf %s", s.out);
        assert_int_equal(system(command), 0);
    }
    free(reference);
    setup_free(&s);
}

static size_t lines_seen;
static void see_line(void *context, const char *record) {
    (void)context;
    assert_int_equal(*record, '{');
    lines_seen++;
}

static void file_of(const struct setup *s, const char *name, char *path) {
    assert_true(snprintf(path, PATH_MAX, "%s/%s", s->out, name) < PATH_MAX);
}

static void test_resume_of_finished(void **state) {
    (void)state;
    struct setup s;
    char path[PATH_MAX];
    setup_init(&s, "finished");
    add_mixed(&s, 30);
    run_well(&s);
    char *before = verdicts(s.out, 30);
    s.resume = true;
    const struct nnv_run_observer observer = {.header = see_line, .record = see_line};
    struct nnv_err err = {0};
    bool interrupted = true;
    lines_seen = 0;
    assert_int_equal(run_setup(&s, &observer, &interrupted, &err), NNV_OK);
    assert_false(interrupted);
    assert_int_equal(lines_seen, 31); /* the observer sees the whole journal */
    char *after = verdicts(s.out, 30);
    assert_string_equal(before, after);
    free(before);
    free(after);
    /* a cut last line is removed, its case run again */
    struct stat st;
    file_of(&s, "journal.jsonl", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 7), 0);
    run_well(&s);
    free(verdicts(s.out, 30));
    /* so are zeros, as a file system leaves them */
    assert_int_equal(truncate(path, st.st_size - 7), 0);
    assert_int_equal(truncate(path, st.st_size + 5000), 0);
    run_well(&s);
    free(verdicts(s.out, 30));
    setup_free(&s);
}

static void refused(struct setup *s, const char *text) {
    struct nnv_err err = {0};
    bool interrupted;
    assert_int_equal(run_setup(s, NULL, &interrupted, &err), NNV_INVALID);
    if (strstr(err.text, text) == NULL) fail_msg("'%s', expected '%s'", err.text, text);
}

static void test_resume_of_another(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "another");
    add_mixed(&s, 20);
    run_well(&s);
    char *before = verdicts(s.out, 20);
    s.resume = true;
    const struct nnv_run_config config = s.config;
    s.config.seed = 2;
    refused(&s, "--seed differs: '1' in the journal, '2' now");
    s.config = config;
    s.config.driver = "other";
    refused(&s, "--driver differs: 'fake' in the journal, 'other' now");
    s.config = config;
    s.config.precision = NNV_PRECISION_BUDGET;
    refused(&s, "--precision differs: 'default' in the journal, 'budget' now");
    s.config = config;
    const struct nnv_arithmetic promise = {.half_sums = true};
    s.config.arithmetic = &promise;
    refused(&s, "--arithmetic differs: 'strict' in the journal, 'sums=float16' now");
    s.config = config;
    s.config.tier = 2;
    refused(&s, "--tier differs");
    s.config = config;
    s.list.count--;
    refused(&s, "the selection of cases differs");
    s.list.count++;
    char *after = verdicts(s.out, 20);
    assert_string_equal(before, after);
    free(before);
    free(after);
    setup_free(&s);
}

static void write_text(const struct setup *s, const char *name, const char *text) {
    char path[PATH_MAX];
    struct nnv_err err = {0};
    file_of(s, name, path);
    assert_int_equal(nnv_folder_make(s->out, &err), NNV_OK);
    assert_int_equal(nnv_file_write(path, text, strlen(text), &err), NNV_OK);
}

static bool exists(const struct setup *s, const char *name) {
    char path[PATH_MAX];
    file_of(s, name, path);
    return access(path, F_OK) == 0;
}

static void test_foreign_folder(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "foreign");
    add_mixed(&s, 3);
    write_text(&s, "journal.jsonl", "my diary\n");
    write_text(&s, "report.html", "mine");
    refused(&s, "not a journal of nnvts");
    s.resume = true;
    refused(&s, "not a journal of nnvts");
    assert_true(exists(&s, "report.html"));
    assert_false(exists(&s, "cases.tsv"));
    setup_free(&s);
}

/* A damaged line in the middle is no cut end. */
static void test_damaged(void **state) {
    (void)state;
    struct setup s;
    char path[PATH_MAX];
    setup_init(&s, "damaged");
    add_mixed(&s, 10);
    run_well(&s);
    file_of(&s, "journal.jsonl", path);
    char *text;
    size_t size;
    struct nnv_err err = {0};
    assert_int_equal(nnv_file_read(path, 1 << 20, &text, &size, &err), NNV_OK);
    char *second = strchr(strchr(text, '\n') + 1, '\n') + 1;
    *second = 'x';
    assert_int_equal(nnv_file_write(path, text, size, &err), NNV_OK);
    free(text);
    s.resume = true;
    refused(&s, "journal.jsonl:3: damaged");
    setup_free(&s);
}

static void test_old_results_go(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "again");
    add_case(&s, "made", WRONG, 0);
    run_well(&s);
    assert_true(exists(&s, "dumps/made.ADD.1.0.json"));
    write_text(&s, "summary.json", "{}");
    write_text(&s, "junit.xml", "<old/>");
    write_text(&s, "report.html", "old");
    write_text(&s, "notes.txt", "mine");
    s.list.count = 0;
    add_case(&s, "made", FINE, 0);
    run_well(&s);
    assert_false(exists(&s, "summary.json"));
    assert_false(exists(&s, "junit.xml"));
    assert_false(exists(&s, "report.html"));
    assert_false(exists(&s, "dumps"));
    assert_true(exists(&s, "notes.txt"));
    free(verdicts(s.out, 1));
    setup_free(&s);
}

static void test_one_at_a_time(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "locked");
    for (int i = 0; i < 2000; i++) add_case(&s, "fake", SLOW, 0);
    pid_t pid = start_run(&s);
    while (!exists(&s, "journal.jsonl")) usleep(1000);
    refused(&s, "another run writes to this folder");
    kill(pid, SIGKILL);
    wait_for(pid);
    setup_free(&s);
}

/* -------------------------------------------------------------- interruption */

static void wait_for_lines(const struct setup *s, size_t n) {
    char path[PATH_MAX];
    file_of(s, "journal.jsonl", path);
    for (size_t seen = 0; seen < n;) {
        usleep(2000);
        FILE *f = fopen(path, "r");
        seen = 0;
        for (int c; f != NULL && (c = getc(f)) != EOF;) seen += c == '\n';
        if (f != NULL) fclose(f);
    }
}

static void test_interrupt(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct setup s;
    setup_init(&s, "interrupt");
    s.resume = true;
    s.config.jobs = 2;
    for (int i = 0; i < 1000; i++) add_case(&s, "fake", SLOW, 0);
    for (size_t i = 0; i < 3; i++) {
        pid_t pid = start_run(&s);
        wait_for_lines(&s, 50 * (i + 1));
        kill(pid, signals[i]);
        assert_int_equal(wait_for(pid), 1);
    }
    json_decref(read_journal(s.out)); /* valid at any time */
    run_well(&s);
    free(verdicts(s.out, 1000));
    setup_free(&s);
}

/* A driver that hangs gets two seconds; a second signal makes it shorter. The case has no verdict yet. */
static void test_interrupt_of_hang(void **state) {
    (void)state;
    uint64_t by_one = 0;
    for (int signals = 1; signals <= 2; signals++) {
        struct setup s;
        setup_init(&s, signals == 1 ? "hang1" : "hang2");
        s.config.timeout_ns = 60000000000;
        uint32_t order[3];
        for (int i = 0; i < 3; i++) add_case(&s, "fake", FINE, 0);
        assert_int_equal(nnv_order(s.list.item, s.list.count, order, NULL), NNV_OK);
        s.list.item[order[1]].a = HANG_BUSY;
        pid_t pid = start_run(&s);
        wait_for_lines(&s, 2);
        uint64_t start = nnv_now_ns();
        for (int i = 0; i < signals; i++) {
            kill(pid, SIGINT);
            usleep(100000);
        }
        assert_int_equal(wait_for(pid), 1);
        uint64_t took = nnv_now_ns() - start;
        if (signals == 1) assert_true(took > 1900000000);
        if (signals == 2) assert_true(took < by_one);
        by_one = took;
        free(verdicts(s.out, 1));
        setup_free(&s);
    }
}

/* What the driver leaves behind ends with its worker. */
static void test_no_process_stays(void **state) {
    (void)state;
    struct setup s;
    char path[PATH_MAX], text[16] = "";
    setup_init(&s, "orphans");
    add_case(&s, "fake", FORKS_AND_HANGS, 0);
    add_case(&s, "fake", FINE, 0);
    run_well(&s);
    free(verdicts(s.out, 2));
    snprintf(path, sizeof path, "%s/child", root);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    int tries = 0;
    while (kill(atoi(text), 0) == 0 && tries++ < 5000) usleep(1000);
    assert_true(tries < 5000);
    setup_free(&s);
}

/* ----------------------------------------------------------------- full disk */

static void test_full_disk(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "full");
    add_mixed(&s, 200);
    pid_t pid = fork();
    if (pid == 0) {
        struct nnv_err err = {0};
        bool interrupted = false;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){30000, 30000});
        enum nnv_status st = run_setup(&s, NULL, &interrupted, &err);
        bool told = strstr(err.text, "journal.jsonl: cannot write: File too large") != NULL;
        bool counted = strncmp(err.text, "after ", 6) == 0 && strstr(err.text, " of 200 cases: ") != NULL;
        _exit(st == NNV_IO && told && counted ? 0 : 1);
    }
    assert_int_equal(wait_for(pid), 0);
    json_decref(read_journal(s.out)); /* whole lines only */
    s.resume = true;
    run_well(&s);
    free(verdicts(s.out, 200));
    setup_free(&s);
}

/* --------------------------------------------------------------------- dumps */

static void test_dumps(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "dumps");
    s.config.timeout_ns = 1000000000;
    static const enum fault wrong[] = {WRONG, UNTRUSTED, NULL_POINTER, HANG_BUSY};
    for (int i = 0; i < 4; i++) add_case(&s, "made", wrong[i], 0);
    add_case(&s, "made", FINE, 0);
    add_case(&s, "made", WRONG, 1); /* can't be built */
    add_case(&s, "made", WRONG, 2); /* building crashes */
    add_case(&s, "fake", WRONG, 0); /* has no specs */
    run_well(&s);
    json_t *lines = read_journal(s.out);
    for (size_t i = 0; i < s.list.count; i++) {
        const json_t *r = record_of(lines, s.list.item[i].name);
        char replay[2 * PATH_MAX], name[256], file[600];
        nnv_dump_name(s.list.item[i].name, name);
        if (i < 4) {
            static const char *const suffixes[] = {".json", ".mod.py", ".dot"};
            for (int k = 0; k < 3; k++) {
                snprintf(file, sizeof file, "dumps/%s%s", name, suffixes[k]);
                assert_true(exists(&s, file));
            }
            snprintf(file, sizeof file, "dumps/%s.json", name);
            assert_string_equal(text_of(r, "dump"), file);
            snprintf(replay, sizeof replay, "nnvts replay %s/%s --driver fake", s.out, file);
            assert_string_equal(text_of(r, "replay"), replay);
        } else {
            assert_null(json_object_get(r, "dump"));
        }
        if (i == 4) assert_null(json_object_get(r, "replay"));
        if (i == 5) assert_non_null(strstr(text_of(r, "reason"), "second line\nnot dumped: it can't be made"));
        if (i == 6) assert_non_null(strstr(text_of(r, "reason"), "not dumped: nnvts died with SIGSEGV"));
        if (i == 7) {
            snprintf(replay, sizeof replay, "nnvts run --driver fake --suite fake --filter %s --seed 1 --tier default",
                     s.list.item[i].name);
            assert_string_equal(text_of(r, "replay"), replay);
        }
    }
    json_decref(lines);
    setup_free(&s);
}

static void test_dumps_are_bounded(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "bounded");
    const int rare = 8; /* of a kind that has a place beside another of which there are very many */
    for (int i = 0; i < NNV_DUMPS_MAX + 30; i++) add_case(&s, "made", WRONG, 0);
    for (int i = 0; i < rare + 30; i++) add_case(&s, "made", UNTRUSTED, 0);
    run_well(&s);
    json_t *lines = read_journal(s.out);
    int dumps = 0, rare_dumps = 0, notes = 0;
    for (size_t i = 1; i < json_array_size(lines); i++) {
        const json_t *r = json_array_get(lines, i);
        const bool dumped = json_object_get(r, "dump") != NULL;
        dumps += dumped;
        rare_dumps += dumped && strcmp(text_of(r, "verdict"), "UNTRUSTED") == 0;
        notes += strstr(text_of(r, "reason"), "no dump of this and of most later cases") != NULL;
    }
    assert_in_range(dumps, NNV_DUMPS_MAX / 2, NNV_DUMPS_MAX / 2 + rare);
    assert_true(rare_dumps >= rare);
    assert_int_equal(notes, 1);
    json_decref(lines);
    setup_free(&s);
}

/* -------------------------------------------------------------------- trials */

static const char *again_of(json_t *lines, const struct setup *s, size_t i) {
    return json_string_value(json_object_get(record_of(lines, s->list.item[i].name), "again"));
}

/* The replay line of a failure is tried, but only of the first three of a kind. */
static void test_trials(void **state) {
    (void)state;
    enum { ALIKE = 4, TRIED = 3 };
    static const enum fault faults[] = {WRONG, WRONG,        WRONG,      WRONG,     SIGKILL_SELF, DAMAGES,
                                        FINE,  NULL_POINTER, WRONG_ONCE, HANG_BUSY, EXIT_0};
    static const char *const expected[] = {[ALIKE] = "CRASH", "FAIL", NULL, "CRASH", "PASS", "TIMEOUT", "CRASH"};
    int tried = 0;
    struct setup s;
    setup_init(&s, "trials");
    s.config.timeout_ns = 1000000000;
    size_t n = sizeof faults / sizeof *faults;
    for (size_t i = 0; i < n; i++) add_case(&s, "made", faults[i], 0);
    s.list.item[5].type = "float16"; /* another kind of failure */
    s.list.item[8].op = "MUL";
    add_case(&s, "made", WRONG, 1); /* has no dump */
    add_case(&s, "fake", WRONG, 0); /* neither */
    run_well(&s);
    json_t *lines = read_journal(s.out);
    assert_int_equal(json_array_size(lines), n + 3);
    for (size_t i = 0; i < ALIKE; i++) {
        const char *again = again_of(lines, &s, i);
        if (again != NULL) assert_string_equal(again, "FAIL");
        tried += again != NULL;
    }
    assert_int_equal(tried, TRIED);
    for (size_t i = ALIKE; i < n + 2; i++) {
        const char *again = again_of(lines, &s, i), *want = i < n ? expected[i] : NULL;
        if ((again == NULL) != (want == NULL) || (want != NULL && strcmp(again, want) != 0))
            fail_msg("case %zu: %s, expected %s", i, again ? again : "untried", want ? want : "untried");
    }
    json_decref(lines);
    setup_free(&s);
}

/* What a trial's driver leaves behind, and the supervisor's death, cost no record. */
static void test_trial_is_killed(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "trial-killed");
    s.config.timeout_ns = 60000000000;
    add_case(&s, "made", WRONG_THEN_HANGS, 0);
    add_case(&s, "made", FINE, 0);
    s.resume = true;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/then", root);
    pid_t pid = start_run(&s);
    char dump[64];
    snprintf(dump, sizeof dump, "dumps/made.ADD.%d.0.json", (int)WRONG_THEN_HANGS);
    while (!exists(&s, dump)) usleep(1000);
    usleep(200000);
    kill(pid, SIGKILL);
    assert_int_equal(wait_for(pid), 1000 + SIGKILL);
    assert_int_equal(unlink(path), 0);
    pid = start_run(&s);
    wait_for_lines(&s, 2);
    while (access(path, F_OK) != 0) usleep(1000);
    usleep(200000);
    /* The user does not wait for a trial. All cases are judged, so this is no interrupted run. */
    uint64_t start = nnv_now_ns();
    kill(pid, SIGINT);
    assert_int_equal(wait_for(pid), 0);
    assert_true(nnv_now_ns() - start < 30000000000); /* it has a minute */
    json_t *lines = read_journal(s.out);
    assert_int_equal(json_array_size(lines), 3);
    assert_string_equal(text_of(record_of(lines, s.list.item[0].name), "verdict"), "FAIL");
    assert_non_null(json_object_get(record_of(lines, s.list.item[0].name), "dump"));
    assert_null(again_of(lines, &s, 0));
    json_decref(lines);
    setup_free(&s);
}

/* A driver that can be opened only once at a time loses its trials, not its cases. */
static void test_trials_of_a_single(void **state) {
    (void)state;
    struct setup s;
    char options[PATH_MAX];
    setup_init(&s, "single");
    snprintf(options, sizeof options, "alone%s/lock", root);
    s.config.driver_options = options;
    s.config.timeout_ns = 1000000000;
    static const enum fault faults[] = {HANG_BUSY, NULL_POINTER, WRONG, FINE};
    enum { TRIED = 8 }; /* two of each: an operation that hangs three times is not asked again */
    for (size_t i = 0; i < TRIED; i++) add_case(&s, "made", faults[i / 2 % 4], 0);
    run_well(&s);
    json_t *lines = read_journal(s.out);
    static const char *const verdict[] = {"TIMEOUT", "CRASH", "FAIL", "PASS"};
    for (size_t i = 0; i < TRIED; i++)
        assert_string_equal(text_of(record_of(lines, s.list.item[i].name), "verdict"), verdict[i / 2 % 4]);
    json_decref(lines);
    setup_free(&s);
}

static void test_dump_names(void **state) {
    (void)state;
    char name[256], other[256], longest[301];
    nnv_dump_name("ops/CONV_2D/quant8_asymm/3", name);
    assert_string_equal(name, "ops.CONV_2D.quant8_asymm.3");
    nnv_dump_name("../../etc/passwd", name);
    assert_int_equal(*name, '_');
    assert_null(strchr(name, '/'));
    nnv_dump_name("a b", name);
    nnv_dump_name("a:b", other);
    assert_string_not_equal(name, other);
    memset(longest, 'x', 300);
    longest[300] = '\0';
    nnv_dump_name(longest, name);
    assert_int_equal(strlen(name), 200);
    longest[299] = 'y';
    nnv_dump_name(longest, other);
    assert_string_not_equal(name, other);
    longest[200] = '\0';
    nnv_dump_name(longest, name);
    assert_string_equal(name, longest);
}

int main(void) {
    /* also where the program was started in the background */
    for (int i = 0; i < 3; i++) signal(((const int[]){SIGINT, SIGTERM, SIGHUP})[i], SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_and_resume),
        cmocka_unit_test(test_resume_of_finished),
        cmocka_unit_test(test_resume_of_another),
        cmocka_unit_test(test_foreign_folder),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_old_results_go),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_interrupt_of_hang),
        cmocka_unit_test(test_no_process_stays),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_dumps),
        cmocka_unit_test(test_dumps_are_bounded),
        cmocka_unit_test(test_dump_names),
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_trial_is_killed),
        cmocka_unit_test(test_trials_of_a_single),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
