/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver changes of the process and the thread that call it is put back. */
#include <fenv.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/client/driver.h"
#include "harness/client/restore.h"

static volatile double one = 1, three = 3;

static void test_floating_point(void **state) {
    (void)state;
    volatile double third = one / three; /* now, and not behind what changes the rounding */
    fesetround(FE_UPWARD);
    assert_true(one / three != third);
    nnv_restore_thread();
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_true(one / three == third);
    feenableexcept(FE_DIVBYZERO);
    nnv_restore_thread();
    assert_int_equal(fegetexcept(), 0);
#if defined(__x86_64__)
    volatile double least = 1e-310;
    unsigned csr;
    __asm__ volatile("stmxcsr %0" : "=m"(csr));
    csr |= 0x8040; /* flush to zero, denormals are zero */
    __asm__ volatile("ldmxcsr %0" ::"m"(csr));
    assert_true(least * one == 0);
    nnv_restore_thread();
    assert_true(least * one > 0);
#endif
}

static void test_flags(void **state) {
    (void)state;
#if defined(__x86_64__)
    uint64_t flags;
    nnv_restore_thread(); /* it is found and linked before nothing unaligned may be read */
    __asm__ volatile("std\n\tpushfq\n\torq $0x40000, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    nnv_restore_thread();
    __asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags)::"memory");
    assert_int_equal(flags & 0x40400, 0);
#else
    skip();
#endif
}

static void test_locale(void **state) {
    (void)state;
    uselocale(LC_GLOBAL_LOCALE);
    nnv_restore_thread();
    assert_ptr_equal(uselocale((locale_t)0), newlocale(LC_ALL_MASK, "C", (locale_t)0));
    uselocale(LC_GLOBAL_LOCALE);
}

/* A driver's rounding of its open() and release() does not stay. */
static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}
static enum nnvts_status supported(struct nnvts_device *self, const struct nnvts_model *m, bool *answer) {
    (void)self;
    (void)m;
    (void)answer;
    return NNVTS_STATUS_GENERAL_FAILURE;
}
static enum nnvts_status prepare(struct nnvts_device *self, const struct nnvts_model *m,
                                 const struct nnvts_prepare_config *c, struct nnvts_prepared_model **out) {
    (void)self;
    (void)m;
    (void)c;
    (void)out;
    return NNVTS_STATUS_GENERAL_FAILURE;
}
static void release(struct nnvts_device *self) {
    (void)self;
    fesetround(FE_TOWARDZERO);
}
static enum nnvts_status open_rounding(const char *options, struct nnvts_device **out, const char **error) {
    static struct nnvts_device device = {.struct_size = sizeof device,
                                         .name = "rounds",
                                         .version = "1",
                                         .get_status = get_status,
                                         .get_supported_operations = supported,
                                         .prepare_model = prepare,
                                         .release = release};
    (void)options;
    (void)error;
    fesetround(FE_UPWARD);
    *out = &device;
    return NNVTS_STATUS_NONE;
}

static void test_open_and_close(void **state) {
    (void)state;
    static const struct nnvts_driver driver = {
        .struct_size = sizeof driver, .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = "rounds", .open = open_rounding};
    struct nnv_client client = {0};
    assert_int_equal(nnv_client_attach(&client, &driver, "rounds", NULL, NULL), NNV_OK);
    assert_int_equal(fegetround(), FE_TONEAREST);
    nnv_client_close(&client);
    assert_int_equal(fegetround(), FE_TONEAREST);
}

static void on_signal(int number) { (void)number; }
static void on_other_signal(int number) { (void)number; }

static void test_process(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_process_state before;
    char folder[PATH_MAX], now[PATH_MAX];
    struct sigaction a;
    sigset_t mask;
    assert_non_null(getcwd(folder, sizeof folder));
    setenv("NNVTS_TEST_KEPT", "as it was", 1);
    setenv("NNVTS_TEST_CHANGED", "before", 1);
    umask(022);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    assert_int_equal(nnv_process_state_take(&before, arena, NULL), NNV_OK);

    assert_int_equal(chdir("/"), 0);
    umask(0777);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, on_other_signal);
    signal(SIGPIPE, SIG_IGN);
    sigfillset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    clearenv();
    setenv("NNVTS_TEST_CHANGED", "by the driver", 1);
    setenv("NNVTS_TEST_ADDED", "by the driver", 1);

    assert_true(nnv_process_state_restore(&before));
    assert_string_equal(getcwd(now, sizeof now), folder);
    assert_int_equal(umask(022), 022);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGTERM), 0);
    sigaction(SIGUSR1, NULL, &a);
    assert_ptr_equal(a.sa_handler, on_signal); /* it was ignored */
    sigaction(SIGUSR2, NULL, &a);
    assert_ptr_equal(a.sa_handler, on_other_signal); /* the driver's own stays */
    sigaction(SIGPIPE, NULL, &a);
    assert_ptr_equal(a.sa_handler, SIG_IGN); /* nnvts does not rely on it */
    assert_string_equal(getenv("NNVTS_TEST_KEPT"), "as it was");
    assert_string_equal(getenv("NNVTS_TEST_CHANGED"), "before");
    assert_string_equal(getenv("NNVTS_TEST_ADDED"), "by the driver");
    nnv_arena_free(arena);
}

/** 0, or the line: limits that were lowered are as before, one that was raised stays; what is for good is told once. */
static int try_limits(struct nnv_arena *arena) {
    struct nnv_process_state before;
    struct rlimit now;
#define MUST(x)                                                                                                        \
    if (!(x)) return __LINE__
    MUST(setrlimit(RLIMIT_NOFILE, &(struct rlimit){200, 256}) == 0);
    MUST(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, RLIM_INFINITY}) == 0);
    MUST(nnv_process_state_take(&before, arena, NULL) == NNV_OK);
    MUST(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 256}) == 0);
    MUST(setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, RLIM_INFINITY}) == 0);
    MUST(nnv_process_state_restore(&before));
    MUST(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 200);
    MUST(getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur == 2000);
    MUST(setresuid(65534, 65534, 65534) == 0 || geteuid() != 0);
    MUST(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}) == 0);
    MUST(!nnv_process_state_restore(&before));
    MUST(nnv_process_state_restore(&before));
    MUST(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 64);
    return 0;
}
static void test_limits(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    int status;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(try_limits(arena) & 0xff);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    nnv_arena_free(arena);
}

/** Sleeps of nnvts would take as long as the driver's slack. */
static void test_timer_slack(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_process_state *s = NNV_NEW(arena, struct nnv_process_state, 1);
    struct nnv_err err = {0};
    const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    assert_int_equal(nnv_process_state_take(s, arena, &err), NNV_OK);
    prctl(PR_SET_TIMERSLACK, 900000000, 0, 0, 0);
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 900000000);
    nnv_process_state_restore(s);
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), before);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floating_point), cmocka_unit_test(test_flags),   cmocka_unit_test(test_locale),
        cmocka_unit_test(test_open_and_close), cmocka_unit_test(test_process), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_timer_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
