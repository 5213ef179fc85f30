/* SPDX-License-Identifier: Apache-2.0 */
#include "habits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

const struct nnvts_request *hostile_request;

static const struct timespec soon = {0, 3000000};

static void crash(void) {
    static volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
}

/* ------------------------------------------------------------- until the process ends */

void habit_alarm_later(void) {
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 3000}}, NULL);
}
void habit_kill_later(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &(struct itimerspec){{0, 0}, soon}, NULL);
}
static void *crash_soon(void *unused) {
    (void)unused;
    nanosleep(&soon, NULL);
    crash();
    return NULL;
}
void habit_segv_later(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, crash_soon, NULL) == 0) pthread_detach(t);
}
/** Memory that a request had is written on and on, when it is another request's or nobody's. */
static void *write_on(void *at) {
    for (int i = 0; i < 200; i++) {
        memset(at, 0x7f, 64);
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    return NULL;
}
void habit_write_later(void) {
    const struct nnvts_memory *pool = hostile_request != NULL && hostile_request->pool_count > 0
                                          ? &hostile_request->pools[hostile_request->pool_count - 1]
                                          : NULL;
    pthread_t t;
    if (pool == NULL || pool->fd < 0 || pool->size < 64) return;
    void *at = mmap(NULL, (size_t)pool->size, PROT_READ | PROT_WRITE, MAP_SHARED, pool->fd, (off_t)pool->offset);
    if (at != MAP_FAILED && pthread_create(&t, NULL, write_on, at) == 0) pthread_detach(t);
}
void habit_processor_limit(void) { setrlimit(RLIMIT_CPU, &(struct rlimit){0, 0}); }
void habit_no_memory(void) {
    setrlimit(RLIMIT_AS, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_DATA, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_STACK, &(struct rlimit){0, 0});
}
void habit_no_processes(void) { setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}); }
void habit_idle(void) {
    setpriority(PRIO_PROCESS, 0, 19);
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
}
void habit_lock_memory(void) { mlockall(MCL_CURRENT | MCL_FUTURE); }
void habit_personality(void) { personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC | STICKY_TIMEOUTS); }
void habit_unshare(void) {
    unshare(CLONE_NEWUSER);
    unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_FILES | CLONE_FS);
}
void habit_no_futex(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){sizeof code / sizeof *code, code}, 0, 0);
}
void habit_no_calls(void) { syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL); }

/** Who sleeps for a moment sleeps for a quarter of an hour. */
void habit_timer_slack(void) { prctl(PR_SET_TIMERSLACK, 900000000000, 0, 0, 0); }
/** Who reads the processor's clock dies. */
void habit_no_clock(void) { prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); }
static int hold(struct dl_phdr_info *info, size_t bytes, void *unused) {
    (void)info, (void)bytes, (void)unused;
    for (;;) pause();
    return 0;
}
static void *hold_loader(void *unused) {
    dl_iterate_phdr(hold, NULL);
    return unused;
}
/** A thread keeps the lock that loading, exceptions and backtraces need. */
void habit_hold_loader(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, hold_loader, NULL) == 0) pthread_detach(t);
    nanosleep(&soon, NULL);
}
/** Another copy of NNAPI, whose functions are everybody's. */
void habit_second_runtime(void) { dlopen("libneuralnetworks.so", RTLD_NOW | RTLD_GLOBAL); }
/** The heap is not there in children. */
void habit_wipe_on_fork(void) {
    char line[512];
    FILE *f = fopen("/proc/self/maps", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned long from, to;
        if (strstr(line, "[heap]") == NULL || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
        if (madvise((void *)from, to - from, MADV_WIPEONFORK) != 0) break;
    }
    if (f != NULL) fclose(f);
}
static void hang(void) {
    for (;;) pause();
}
void habit_hang_in_fork(void) { pthread_atfork(NULL, NULL, hang); }

/* ------------------------------------------------------- what its parent has opened */

enum { MOST_FILES = 1024 };
void habit_seek_all(void) {
    for (int i = 0; i < MOST_FILES; i++) lseek(i, (off_t)1 << 40, SEEK_SET);
}
void habit_truncate_all(void) {
    for (int i = 0; i < MOST_FILES; i++)
        if (ftruncate(i, 0) == 0) continue;
}
void habit_unlock_all(void) {
    for (int i = 0; i < MOST_FILES; i++) flock(i, LOCK_UN);
}
void habit_nonblocking_all(void) {
    for (int i = 0; i < MOST_FILES; i++) fcntl(i, F_SETFL, O_NONBLOCK | O_APPEND);
}
void habit_read_input(void) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1) continue;
}

/* ------------------------------------------------------------------------- its end */

void habit_crash_at_exit(void) { atexit(crash); }

static void crash_of(void *unused) {
    (void)unused;
    crash();
}
/** As a thread_local object of C++ whose destructor crashes. */
void habit_crash_at_thread_exit(void) {
    extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
    extern void *__dso_handle;
    pthread_key_t key;
    if (pthread_key_create(&key, crash_of) == 0) pthread_setspecific(key, &key);
    __cxa_thread_atexit_impl(crash_of, NULL, &__dso_handle);
}
void habit_become_nothing(void) { execl("/bin/true", "true", (char *)NULL); }
void habit_become_sleep(void) { execl("/bin/sleep", "sleep", "600", (char *)NULL); }

static int in_the_same_memory(void *unused) {
    (void)unused;
    setsid();
    nanosleep(&soon, NULL);
    crash();
    return 0;
}
/** A process that has the worker's memory for its own. */
void habit_share_and_leave(void) {
    enum { STACK = 1 << 16 };
    char *stack = malloc(STACK);
    if (stack != NULL) clone(in_the_same_memory, stack + STACK, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
}

/* ---------------------------------------------------------------------- its parent */

/** The kernel is to tell the parent, by SIGKILL, that there is something to read. */
void habit_own_parent(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
    const pid_t parent = getppid();
    struct f_owner_ex owner = {F_OWNER_PID, parent};
    for (int way = 0; way < 3; way++) {
        const pid_t whom = way == 1 ? -getpgid(parent) : parent;
        if (way == 2 ? fcntl(ends[0], F_SETOWN_EX, &owner) != 0 : fcntl(ends[0], F_SETOWN, whom) != 0) continue;
        fcntl(ends[0], F_SETSIG, SIGKILL);
        fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        if (write(ends[1], "!", 1) != 1) break;
    }
    close(ends[0]);
    close(ends[1]);
}
#if defined(__x86_64__)
static sigjmp_buf no_gate;
static void leave_gate(int signal) {
    (void)signal;
    siglongjmp(no_gate, 1);
}
#endif
/** As a program of 32 bits calls the kernel; one without such calls lets it fault, which harms nobody. */
void habit_kill_parent_32(void) {
#if defined(__x86_64__)
    enum { KILL_32 = 37 };
    const struct sigaction leave = {.sa_handler = leave_gate};
    struct sigaction before;
    long got;
    sigaction(SIGSEGV, &leave, &before);
    if (sigsetjmp(no_gate, 1) == 0)
        __asm__ volatile("int $0x80"
                         : "=a"(got)
                         : "0"((long)KILL_32), "b"((long)getppid()), "c"((long)SIGKILL)
                         : "memory");
    sigaction(SIGSEGV, &before, NULL);
#endif
}
void habit_kill_parent_x32(void) {
#if defined(__x86_64__)
    syscall(SYS_kill | 0x40000000, getppid(), SIGKILL);
#endif
}
/** Its parent is to have the processor when nobody else wants it; if so, this dies, to be seen. */
void habit_slow_parent(void) {
    const pid_t parent = getppid();
    const struct sched_param none = {0};
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t rest[3];
    } idle = {.size = 48, .policy = SCHED_IDLE};
    if (setpriority(PRIO_PROCESS, (id_t)parent, 19) == 0 || sched_setscheduler(parent, SCHED_IDLE, &none) == 0 ||
        syscall(SYS_sched_setattr, parent, &idle, 0) == 0 || sched_setparam(parent, &none) == 0 ||
        syscall(SYS_ioprio_set, 1, parent, 3 << 13) == 0)
        abort();
}
