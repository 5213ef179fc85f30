/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that does not open, opens late, is open elsewhere, or dies when it is closed. */
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/run/run.h"

#include "harness/runner/pool/pool.h"
#include "harness/runner/ask.h"

static void test_probe(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_driver_info info;
    struct nnv_err err = {0};
    assert_int_equal(nnv_driver_probe(driver_path, NULL, 0, arena, &info, &err), NNV_OK);
    assert_string_equal(info.name, "fake");
    assert_string_equal(info.version, "1.2");
    assert_string_equal(info.type, "CPU");
    assert_int_equal(info.level, 7);
    assert_string_equal(info.options[0], "segv"); /* an empty word is none */
    assert_string_equal(info.options[2], "refuse");
    assert_null(info.options[3]);
    json_t *c = json_loads(info.capabilities, 0, NULL);
    const json_t *p = json_object_get(json_object_get(c, "operands"), "TENSOR_FLOAT32");
    assert_float_equal(json_real_value(json_array_get(p, 1)), 0.25, 0);
    assert_non_null(json_object_get(c, "relaxed_scalar"));
    json_decref(c);
    static const struct {
        const char *option, *text;
    } bad[] = {
        {"segv", "died with SIGSEGV in open"}, {"exit", "called exit(3) in open"}, {"refuse", "the device is on fire"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct nnv_err){0};
        assert_int_equal(nnv_driver_probe(driver_path, bad[i].option, 0, arena, &info, &err), NNV_INVALID);
        if (strstr(err.text, bad[i].text) == NULL) fail_msg("'%s', expected '%s'", err.text, bad[i].text);
    }
    assert_int_equal(nnv_driver_probe("/nonexistent.so", NULL, 0, arena, &info, &err), NNV_INVALID);
    nnv_arena_free(arena);
}

/* A driver that can't be used is an error before anything is written. */
static void test_bad_driver(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    bool interrupted;
    setup_init(&s, "bad-driver");
    s.config.driver_options = "segv";
    add_case(&s, "fake", FINE, 0);
    assert_int_equal(run_setup(&s, NULL, &interrupted, &err), NNV_INVALID);
    assert_int_equal(access(s.out, F_OK), -1);
    setup_free(&s);
}

/* A run takes the answer of the probe that it is given; one that nobody waits for leaves no process. */
static void test_probe_beside(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    bool interrupted;
    setup_init(&s, "probe-beside");
    add_case(&s, "fake", FINE, 0);
    struct nnv_run_options o = {.config = &s.config, .cases = s.list.item, .count = s.list.count};
    s.config.driver_options = "refuse";
    assert_int_equal(nnv_run_probe(&s.config, &o.probe, &err), NNV_OK);
    s.config.driver_options = NULL;
    assert_int_equal(nnv_run(&o, &interrupted, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "the device is on fire"));
    assert_int_equal(access(s.out, F_OK), -1);
    nnv_probe_free(o.probe);
    assert_int_equal(nnv_run_probe(&s.config, &o.probe, &err), NNV_OK);
    nnv_probe_free(o.probe);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    setup_free(&s);
}

/* A driver may take as long to open as a case may take, and not longer; --timeout reaches the probe and the workers. */
static void test_slow_opening(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    bool interrupted;
    assert_int_equal(nnv_opening_ns(UINT64_C(60000000000), 0), UINT64_C(60000000000));
    assert_int_equal(nnv_opening_ns(1000000, 0), UINT64_C(10000000000));
    setup_init(&s, "slow-opening");
    s.config.driver_options = "slow";
    s.config.least_opening_ns = 100000000;
    s.config.timeout_ns = 300000000;
    add_case(&s, "fake", FINE, 0);
    assert_int_equal(run_setup(&s, NULL, &interrupted, &err), NNV_INVALID);
    if (strstr(err.text, "did not end within 0.3 s in open: a longer --timeout lets it open") == NULL)
        fail_msg("'%s'", err.text);
    assert_int_equal(access(s.out, F_OK), -1);
    s.config.timeout_ns = 5000000000;
    run_well(&s);
    count_verdicts(s.out, "PASS", "", 1);
    setup_free(&s);
}

/* It opens three times (one of them the probe), then never again. */
static void test_open_fails_later(void **state) {
    (void)state;
    struct setup s;
    char option[PATH_MAX];
    setup_init(&s, "open-later");
    snprintf(option, sizeof option, "thrice%s/opens", root);
    s.config.driver_options = option;
    for (int i = 0; i < 10; i++) add_case(&s, "fake", NULL_POINTER, 0);
    run_well(&s);
    count_verdicts(s.out, "CRASH", "SIGSEGV in execute", 2);
    count_verdicts(s.out, "NOTRUN", "device lost after case fake/ADD/", 8);
    count_verdicts(s.out, "NOTRUN", "(CRASH): driver 'fake' died with SIGSEGV in open", 8);
    setup_free(&s);
}

/* A device that only one process may use still gets all its verdicts. */
static void test_exclusive_driver(void **state) {
    (void)state;
    struct setup s;
    char option[PATH_MAX];
    setup_init(&s, "alone");
    snprintf(option, sizeof option, "alone%s/lock", root);
    s.config.driver_options = option;
    s.config.jobs = 3;
    for (int i = 0; i < 40; i++) add_case(&s, "fake", i == 11 ? NULL_POINTER : SLOW, 0);
    run_well(&s);
    count_verdicts(s.out, "PASS", "", 39);
    count_verdicts(s.out, "CRASH", "", 1);
    setup_free(&s);
}

/* It is refused while another worker opens it: that is worth waiting for, however long it takes to open. */
static void test_slow_exclusive_driver(void **state) {
    (void)state;
    struct setup s;
    char option[PATH_MAX];
    setup_init(&s, "slow-alone");
    snprintf(option, sizeof option, "slowalone%s/slow-lock", root);
    s.config.driver_options = option;
    s.config.jobs = 2;
    for (int i = 0; i < 10; i++) add_case(&s, "fake", SLOW, 0);
    run_well(&s);
    count_verdicts(s.out, "PASS", "", 10);
    setup_free(&s);
}

static void test_bad_close(void **state) {
    (void)state;
    struct setup s;
    setup_init(&s, "bad-close");
    s.config.driver_options = "badclose";
    for (int i = 0; i < 10; i++) add_case(&s, "fake", FINE, 0);
    run_well(&s);
    count_verdicts(s.out, "PASS", "", 9);
    count_verdicts(s.out, "CRASH", "driver died with SIGSEGV in close", 1);
    setup_free(&s);
}

static enum nnv_status ignore_end(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    (void)context, (void)e, (void)err;
    return NNV_OK;
}

static void count_closed(void *context, const char *text) {
    *(int *)context += strstr(text, "died with SIGSEGV when it closed the driver") != NULL;
}

/* The worker that opens first may do all cases; the others find nothing to do, and die. That is said once. */
static void test_bad_close_is_told_once(void **state) {
    (void)state;
    struct setup s;
    struct nnv_err err = {0};
    bool interrupted;
    int told = 0;
    setup_init(&s, "unused");
    s.config.driver_options = "badclose";
    s.config.jobs = 8;
    for (int i = 0; i < s.config.jobs; i++) add_case(&s, "fake", FINE, 0);
    const struct nnv_pool_options pool = {.config = &s.config,
                                          .cases = s.list.item,
                                          .count = s.list.count,
                                          .context = &told,
                                          .ended = ignore_end,
                                          .note = count_closed};
    assert_int_equal(nnv_pool_run(&pool, &interrupted, &err), NNV_OK);
    assert_true(told <= 1);
    setup_free(&s);
}

/** Somebody who has the driver open until the pool has asked five times. */
struct holder {
    int file, asked;
    enum nnvts_verdict verdict;
};

static bool is_held(void *context) {
    struct holder *h = context;
    if (++h->asked == 5) close(h->file);
    return true;
}

static enum nnv_status keep_verdict(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    (void)err;
    ((struct holder *)context)->verdict = e->verdict;
    return NNV_OK;
}

/* A driver that somebody else has open is waited for. */
static void test_driver_open_elsewhere(void **state) {
    (void)state;
    struct setup s;
    struct holder h = {.verdict = NNVTS_NOTRUN};
    struct nnv_err err = {0};
    char options[PATH_MAX];
    bool interrupted = true;
    setup_init(&s, "elsewhere");
    add_case(&s, "fake", FINE, 0);
    snprintf(options, sizeof options, "alone%s/elsewhere", root);
    s.config.driver_options = options;
    h.file = open(options + strlen("alone"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(h.file, LOCK_EX), 0);
    const struct nnv_pool_options pool = {
        .config = &s.config, .cases = s.list.item, .count = 1, .context = &h, .ended = keep_verdict, .opened = is_held};
    assert_int_equal(nnv_pool_run(&pool, &interrupted, &err), NNV_OK);
    assert_false(interrupted);
    assert_int_equal(h.asked, 5);
    assert_int_equal(h.verdict, NNVTS_PASS);
    setup_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_bad_driver),
        cmocka_unit_test(test_probe_beside),
        cmocka_unit_test(test_slow_opening),
        cmocka_unit_test(test_open_fails_later),
        cmocka_unit_test(test_exclusive_driver),
        cmocka_unit_test(test_slow_exclusive_driver),
        cmocka_unit_test(test_bad_close),
        cmocka_unit_test(test_bad_close_is_told_once),
        cmocka_unit_test(test_driver_open_elsewhere),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
