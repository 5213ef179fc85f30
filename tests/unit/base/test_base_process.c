/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may not do to its parent, and what becomes of what it leaves behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "tests/kit/test.h"

static const uint64_t ENOUGH_NS = UINT64_C(20000000000);

static void test_signal_names(void **state) {
    (void)state;
    static const struct {
        int signal;
        const char *name;
    } rows[] = {{SIGHUP, "SIGHUP"},   {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"},
                {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {77, "signal 77"},
                {32, "signal 32"},    {0, "signal 0"},      {-1, "signal -1"}};
    char name[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(nnv_signal_name(rows[i].signal, name), rows[i].name);
    for (int i = 1; i <= SIGSYS; i++) assert_memory_equal(nnv_signal_name(i, name), "SIG", 3); /* none is missing */
}

enum { NO_SECCOMP = 1 };

#if defined(__x86_64__)
static sigjmp_buf no_gate;
static void leave(int signal) {
    (void)signal;
    siglongjmp(no_gate, 1);
}

/** What the call that a program of 32 bits has for kill answers; a kernel without such calls lets it fault. */
static long kill_by_gate(pid_t pid) {
    volatile long got = -ENOSYS;
    signal(SIGSEGV, leave);
    if (sigsetjmp(no_gate, 1) == 0) {
        long answer;
        __asm__ volatile("int $0x80" : "=a"(answer) : "0"(37L), "b"((long)pid), "c"(0L) : "memory");
        got = answer;
    }
    signal(SIGSEGV, SIG_DFL);
    return got;
}
#endif

/** 0: all is refused and allowed as it is to be; else the line. */
static int try_parent(void) {
    const pid_t parent = getppid(), group = getpgid(parent);
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct rlimit many = {1 << 20, 1 << 20};
    const struct sched_param none = {0};
    const struct f_owner_ex owner = {F_OWNER_PID, getpid()};
    cpu_set_t cpus;
#define REFUSED(call)                                                                                                  \
    if (errno = 0, (call) != -1 || errno != EPERM) return __LINE__
#define ALLOWED(call)                                                                                                  \
    if ((call) == -1) return __LINE__
    ALLOWED(sched_getaffinity(0, sizeof cpus, &cpus));
    ALLOWED(kill(parent, 0));
    nnv_process_protect_parent();
    if (prctl(PR_GET_SECCOMP) != 2) return NO_SECCOMP; /* an emulator has none */
    for (int i = 0; i < 3; i++) {
        const pid_t named = i == 0 ? parent : i == 1 ? -group : -1;
        REFUSED(kill(named, 0));
        REFUSED(fcntl(fd, F_SETOWN, named));
    }
    REFUSED(syscall(SYS_tkill, parent, 0));
    REFUSED(syscall(SYS_tgkill, parent, parent, 0));
    REFUSED(syscall(SYS_pidfd_open, parent, 0));
    REFUSED(syscall(SYS_prlimit64, parent, RLIMIT_NOFILE, &many, NULL));
    REFUSED(sched_setaffinity(parent, sizeof cpus, &cpus));
    REFUSED(sched_setscheduler(parent, SCHED_OTHER, &none));
    REFUSED(sched_setparam(parent, &none));
    REFUSED(setpriority(PRIO_PROCESS, (id_t)parent, 19));
    REFUSED(setpriority(PRIO_PGRP, (id_t)group, 19));
    REFUSED(fcntl(fd, F_SETOWN_EX, &owner));
    ALLOWED(kill(getpid(), 0));
    ALLOWED(kill(0, 0));
    ALLOWED(sched_setaffinity(0, sizeof cpus, &cpus));
    ALLOWED(setpriority(PRIO_PROCESS, 0, 19));
    ALLOWED(fcntl(fd, F_SETOWN, getpid()));
    ALLOWED(fcntl(fd, F_GETFL));
    ALLOWED(fcntl(fd, F_SETFD, 0));
#if defined(__x86_64__)
    /* programs of 32 bits, and with pointers of 32 bits */
    const long got = kill_by_gate(parent);
    if (got != -EPERM && got != -ENOSYS) return __LINE__;
    REFUSED(syscall(SYS_kill | 0x40000000, parent, 0));
#endif
    return 0;
}

static void test_parent_is_out_of_reach(void **state) {
    (void)state;
    struct nnv_end end;
    char text[64];
    const pid_t pid = nnv_process_fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(try_parent() & 0xff);
    nnv_process_wait(pid, ENOUGH_NS, &end);
    if (end.code == CLD_EXITED && end.status == NO_SECCOMP) skip();
    assert_string_equal(nnv_end_text(&end, text), "called exit(0)"); /* else the line, modulo 256 */
}

/* A pause of a year ends with the process, and also begins after its end. */
static void test_pause(void **state) {
    (void)state;
    struct nnv_end end;
    const pid_t pid = nnv_process_fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        usleep(20000);
        _exit(3);
    }
    struct nnv_pause pause = nnv_process_pause_begin(pid);
    if (pause.end < 0) skip();
    while (!nnv_process_ended(pid, &end)) {
        pause.ns = UINT64_C(31536000000000000);
        nnv_process_pause(&pause);
    }
    assert_true(end.code == CLD_EXITED && end.status == 3);
    nnv_process_pause_end(&pause);
    assert_int_equal(pause.end, -1);
    pause.ns = 1000; /* without a descriptor it is slept through, and the next takes twice as long, up to a bound */
    nnv_process_pause(&pause);
    assert_int_equal(pause.ns, 2000);
    pause.ns = 6000000;
    nnv_process_pause(&pause);
    assert_int_equal(pause.ns, 6000000);
}

/* ------------------------------------------------------ what processes leave behind */

enum { LIVES_MS = 100 };

static _Noreturn void wait_for_signal(void) {
    for (;;) pause();
}

/** Makes two processes for which nobody waits, one the child of the other, each in a session of its own. Both hold the
 * end of a pipe, write to it, and end when nobody can read it any more. */
static void leave_two(int to) {
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        if (fork() == 0) setsid();
        struct pollfd end = {.fd = to};
        if (write(to, "x", 1) == 1) poll(&end, 1, -1);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/** A process that leaves two behind and ends, or waits for a signal. They are there when this returns. */
static pid_t fork_one(bool ends, int *from) {
    char told;
    int pipe[2];
    assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
    const pid_t pid = nnv_process_fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pipe[0]);
        leave_two(pipe[1]);
        close(pipe[1]);
        if (ends) _exit(0);
        wait_for_signal();
    }
    close(pipe[1]);
    *from = pipe[0];
    for (int i = 0; i < 2; i++) assert_int_equal(read(*from, &told, 1), 1);
    return pid;
}

/** Whether some process holds the other end of the pipe so long. */
static bool lives(int from, int ms) {
    struct pollfd end = {.fd = from};
    return poll(&end, 1, ms) == 0;
}

static bool adopts(void) {
    int on = -1;
    prctl(PR_GET_CHILD_SUBREAPER, &on);
    return on == 1;
}

/* What a process left behind ends with it, however it ends, and nothing else does. */
static void test_left_behind(void **state) {
    (void)state;
    struct nnv_end end;
    int from;
    const pid_t before = fork(), neighbour = before > 0 ? nnv_process_fork() : before;
    if (before == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (neighbour == 0) wait_for_signal();
    for (int ends = 0; ends < 2; ends++) {
        const pid_t pid = fork_one(ends == 1, &from);
        assert_true(adopts());
        nnv_process_wait(pid, ends == 1 ? ENOUGH_NS : 1000000, &end);
        assert_int_equal(end.timed_out, ends == 0);
        assert_int_equal(end.left, 2);
        assert_false(lives(from, 0));
        close(from);
    }
    assert_int_equal(waitpid(before, NULL, WNOHANG), 0);
    assert_false(nnv_process_ended(neighbour, &end));
    assert_true(adopts()); /* until none lives */
    nnv_process_wait(neighbour, 0, &end);
    assert_int_equal(end.left, 0);
    assert_false(adopts());
    for (int before_it = 1; before_it >= 0; before_it--) {
        prctl(PR_SET_CHILD_SUBREAPER, before_it);
        nnv_process_wait(fork_one(true, &from), ENOUGH_NS, &end);
        assert_int_equal(adopts(), before_it);
        close(from);
    }
    kill(before, SIGKILL);
    assert_int_equal(waitpid(before, NULL, 0), before);
}

/** 0: what a process of this one leaves behind is its parent's. */
static int fork_again(void) {
    struct nnv_end end = {.code = CLD_KILLED};
    const pid_t child = fork(), pid = child > 0 ? nnv_process_fork() : -1; /* as a driver and its helper */
    if (child == 0) wait_for_signal();
    if (pid == 0) _exit(adopts() ? 1 : 3);
    const bool alone = !adopts();
    nnv_process_wait(pid, ENOUGH_NS, &end);
    return alone && end.status == 3 && end.left == 0 && waitpid(child, NULL, WNOHANG) == 0 ? 0 : 1;
}

/* A process in which a driver runs takes over nothing, and ends no process that the driver has started. */
static void test_left_to_the_parent(void **state) {
    (void)state;
    struct nnv_end end;
    const pid_t pid = nnv_process_fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(fork_again());
    nnv_process_wait(pid, ENOUGH_NS, &end);
    assert_int_equal(end.code, CLD_EXITED);
    assert_int_equal(end.status, 0);
    assert_int_equal(end.left, 1);
}

/* What a command of the user starts stays, also while a driver's process lives, of which nothing stays. */
static void test_left_to_stay(void **state) {
    (void)state;
    struct nnv_end end;
    int of_driver, of_user;
    const pid_t driver = fork_one(false, &of_driver);
    nnv_process_let_stay(true);
    assert_false(adopts());
    nnv_process_wait(fork_one(true, &of_user), ENOUGH_NS, &end);
    assert_int_equal(end.left, 0);
    nnv_process_let_stay(false);
    assert_true(adopts());
    nnv_process_wait(driver, 0, &end);
    assert_int_equal(end.left, 2);
    assert_false(lives(of_driver, 0));
    assert_true(lives(of_user, LIVES_MS));
    close(of_driver);
    close(of_user);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signal_names),
                                       cmocka_unit_test(test_parent_is_out_of_reach),
                                       cmocka_unit_test(test_pause),
                                       cmocka_unit_test(test_left_behind),
                                       cmocka_unit_test(test_left_to_the_parent),
                                       cmocka_unit_test(test_left_to_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
