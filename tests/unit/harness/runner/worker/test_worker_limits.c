/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_worker_limits.c What a driver takes of its worker: descriptors and memory. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/runner/worker/limits.h"
#include "nnvts/result.h"
#include "tests/kit/test.h"

enum { LIMIT = 256 };

static int opened[LIMIT], count;
static struct rlimit before;

static int lower_limit(void **state) {
    (void)state;
    if (getrlimit(RLIMIT_NOFILE, &before) != 0) return -1;
    return setrlimit(RLIMIT_NOFILE, &(struct rlimit){LIMIT, before.rlim_max});
}

static int restore(void **state) {
    (void)state;
    while (count > 0) close(opened[--count]);
    return setrlimit(RLIMIT_NOFILE, &before);
}

/** Opens n files more, or as many as can be opened. */
static void take(int n) {
    int fd;
    while (n-- > 0 && count < LIMIT && (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) opened[count++] = fd;
}

/** The result of a case that had that verdict before its descriptors were looked at. */
static struct nnv_result check(struct nnv_descriptors *d, enum nnvts_verdict verdict) {
    struct nnv_result r = {.verdict = verdict};
    nnv_text_add(&r.reason, "its own");
    nnv_descriptors_check(d, &r);
    return r;
}

static void a_few_are_nobodys_business(void **state) {
    (void)state;
    struct nnv_descriptors d;
    nnv_descriptors_begin(&d);
    take(20);
    struct nnv_result r = check(&d, NNVTS_PASS);
    assert_int_equal(r.verdict, NNVTS_PASS);
    assert_false(r.worker_damaged);
    assert_string_equal(r.reason.data, "its own");
    nnv_text_free(&r.reason);
}

/** Where few are left from the start, who takes none of them has done nothing. */
static void who_takes_none_is_not_blamed(void **state) {
    (void)state;
    enum { FEW = 60 };
    struct nnv_descriptors d;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){FEW, before.rlim_max}), 0);
    nnv_descriptors_begin(&d);
    assert_true(d.low < FEW / 2);
    struct nnv_result r = check(&d, NNVTS_PASS);
    assert_int_equal(r.verdict, NNVTS_PASS);
    assert_false(r.worker_damaged);
    nnv_text_free(&r.reason);
}

static void half_of_them_are_the_next_workers(void **state) {
    (void)state;
    struct nnv_descriptors d;
    nnv_descriptors_begin(&d);
    take(LIMIT / 2 + 1);
    close(opened[0]); /* a low one is free again */
    struct nnv_result r = check(&d, NNVTS_PASS);
    assert_int_equal(r.verdict, NNVTS_PASS);
    assert_true(r.worker_damaged);
    nnv_text_free(&r.reason);
}

/** Who leaks slowly is replaced before others suffer, and the case that happens to be the last is not blamed. */
static void a_slow_leak_blames_no_case(void **state) {
    (void)state;
    struct nnv_descriptors d;
    nnv_descriptors_begin(&d);
    bool damaged = false;
    for (int i = 0; i < 30 && !damaged; i++) {
        take(10);
        struct nnv_result r = check(&d, NNVTS_PASS);
        assert_int_equal(r.verdict, NNVTS_PASS);
        damaged = r.worker_damaged;
        nnv_text_free(&r.reason);
        assert_true(damaged || count < LIMIT - 64);
    }
    assert_true(damaged);
    assert_true(count < LIMIT - 40);
}

static void who_takes_all_fails(void **state) {
    (void)state;
    static const struct {
        enum nnvts_verdict verdict, due;
    } verdicts[] = {{NNVTS_PASS, NNVTS_FAIL},
                    {NNVTS_ERROR, NNVTS_FAIL},
                    {NNVTS_FAIL, NNVTS_FAIL},
                    {NNVTS_UNTRUSTED, NNVTS_UNTRUSTED}};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct nnv_descriptors d;
        while (count > 0) close(opened[--count]);
        nnv_descriptors_begin(&d);
        take(LIMIT);
        struct nnv_result r = check(&d, verdicts[i].verdict);
        assert_true(r.worker_damaged);
        assert_int_equal(r.verdict, verdicts[i].due);
        const bool its_own = verdicts[i].verdict == verdicts[i].due;
        assert_int_equal(strcmp(r.reason.data, "its own") == 0, its_own);
        if (!its_own) assert_non_null(strstr(r.reason.data, "file descriptors and left 0"));
        nnv_text_free(&r.reason);
    }
}

/** How the child ends that asks for so much under that limit: 0 it got it, 1 not. */
static int ask(uint64_t limit, size_t bytes) {
    pid_t pid = fork();
    if (pid == 0) {
        nnv_limit_memory(limit);
        void *volatile p = malloc(bytes);
        _exit(p == NULL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void memory(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    if (in_emulator()) skip();
    assert_int_equal(ask((uint64_t)256 << 20, (size_t)64 << 20), 0);
    assert_int_equal(ask((uint64_t)256 << 20, (size_t)512 << 20), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_few_are_nobodys_business, lower_limit, restore),
        cmocka_unit_test_setup_teardown(who_takes_none_is_not_blamed, lower_limit, restore),
        cmocka_unit_test_setup_teardown(half_of_them_are_the_next_workers, lower_limit, restore),
        cmocka_unit_test_setup_teardown(a_slow_leak_blames_no_case, lower_limit, restore),
        cmocka_unit_test_setup_teardown(who_takes_all_fails, lower_limit, restore),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
