/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"

static const uint64_t GIVE_UP_NS = 5000000000;

/* ----------------------------------------------------- what processes leave behind */

enum { CHILDREN = 1024 };

/** Processes, in no order; 0: free. */
struct set {
    _Atomic pid_t pid[CHILDREN];
};

/* Of this process: those that nnv_process_fork() made and that are not reaped; and those that are let be: they were
 * there before all of those, or cannot be killed. What else is a child was left behind by a process of the first. */
static struct set child, other;
static _Atomic pid_t owner; /* of both sets: not the process that a plain fork() made of this one */
static bool is_forked;      /* by nnv_process_fork(): what is left behind here is ended by its parent */
static bool stays;          /* nnv_process_let_stay() */
static int reaper_before;   /* whether this process adopted others before it made any */

static bool replace(struct set *s, pid_t before, pid_t after) {
    for (size_t i = 0; i < CHILDREN; i++) {
        pid_t expected = before;
        if (atomic_compare_exchange_strong(&s->pid[i], &expected, after)) return true;
    }
    return false;
}

static bool has(const struct set *s, pid_t pid) {
    for (size_t i = 0; i < CHILDREN; i++)
        if (atomic_load(&s->pid[i]) == pid) return true;
    return false;
}

static bool is_empty(const struct set *s) {
    for (size_t i = 0; i < CHILDREN; i++)
        if (atomic_load(&s->pid[i]) != 0) return false;
    return true;
}

static void clear(struct set *s) {
    for (size_t i = 0; i < CHILDREN; i++) atomic_store(&s->pid[i], 0);
}

/** Children of the first thread, which also gets what others leave behind. NULL: the kernel does not tell. */
static FILE *list_children(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return fopen(path, "re");
}

/** All that is a child now and not in the set of those that were made here is let be. */
static void let_be(void) {
    pid_t pid;
    FILE *f = list_children();
    while (f != NULL && fscanf(f, "%d", &pid) == 1)
        if (!has(&child, pid) && !has(&other, pid)) replace(&other, 0, pid);
    if (f != NULL) fclose(f);
}

/** As long as children live, what they leave behind becomes a child of this process rather than of init. begin: there
 * is going to be one more. */
static void adopt(bool begin) {
    if (is_forked) return;
    if (atomic_exchange(&owner, getpid()) != getpid()) clear(&child);
    const bool alone = is_empty(&child);
    if (begin && alone) {
        clear(&other);
        let_be();
        prctl(PR_GET_CHILD_SUBREAPER, &reaper_before);
    }
    prctl(PR_SET_CHILD_SUBREAPER, !stays && (begin || !alone) ? 1 : reaper_before);
}

void nnv_process_let_stay(bool stay) {
    stays = stay;
    adopt(false);
}

/** Kills and reaps what was left behind, as far as that has come about; false: there was nothing. */
static bool end_some(size_t *ended) {
    bool any = false;
    pid_t pid;
    FILE *f = list_children();
    while (f != NULL && fscanf(f, "%d", &pid) == 1) {
        if (has(&child, pid) || has(&other, pid)) continue;
        any = true;
        kill(pid, SIGKILL);
        *ended += waitpid(pid, NULL, WNOHANG) != 0;
    }
    if (f != NULL) fclose(f);
    return any;
}

/** Also what is left behind by what it kills. Returns how many there were. */
static size_t end_left(void) {
    const struct timespec nap = {.tv_nsec = 500000};
    const uint64_t start = nnv_now_ns();
    size_t n = 0;
    if (is_forked || stays) return 0;
    while (end_some(&n)) {
        if (nnv_now_ns() - start > GIVE_UP_NS) {
            let_be();
            break;
        }
        nanosleep(&nap, NULL);
    }
    return n;
}

/* ------------------------------------------------------------------------ starting */

static void default_signals(void) {
    struct sigaction a = {.sa_handler = SIG_DFL};
    sigemptyset(&a.sa_mask);
    for (int i = 1; i < NSIG; i++) sigaction(i, &a, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

pid_t nnv_process_fork(void) {
    fflush(NULL);
    adopt(true);
    /* Blocked meanwhile, so that no handler of the parent's runs in the child. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid(), pid = fork();
    int number = errno;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        is_forked = true;
        setpgid(0, 0);
        prctl(PR_SET_DUMPABLE, 1);
        default_signals();
        return 0;
    }
    if (pid > 0) replace(&child, 0, pid);
    if (pid > 0) setpgid(pid, pid); /* whoever comes first */
    if (pid < 0) adopt(false);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return pid;
}

/** The kernel is to end this process rather than the supervisor when memory runs out. Not allowed everywhere. */
static void volunteer_for_oom(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t n = write(fd, "1000", 4);
    (void)n;
    close(fd);
}

/* ------------------------------------------------------- the parent out of reach */

#if defined(__x86_64__) || defined(__aarch64__)

enum {
    ANY = -1, /* whatever process is named: where it stands in memory, the filter cannot see it */
    RULES = 22,
    LONGEST = 10, /* of a rule, in instructions */
    NAMES = 4,
};

/** A call that does something to the process that an argument names. */
struct rule {
    uint16_t number, number_32; /* 32: of x86, whose calls are there for programs of 64 bits, too; 0: none */
    int8_t process;             /* the argument, or ANY */
    uint8_t command;            /* another argument, with this value alone; 0: in any case */
    uint32_t value;
};

/* FIOSETOWN and SIOCSPGRP of all machines. */
enum { FILE_OWNER = 0x8901, SOCKET_OWNER = 0x8902 };

static const struct rule rules[RULES] = {
    {SYS_kill, 37, 0, 0, 0},
    {SYS_tkill, 238, 0, 0, 0},
    {SYS_tgkill, 270, 0, 0, 0},
    {SYS_rt_sigqueueinfo, 178, 0, 0, 0},
    {SYS_rt_tgsigqueueinfo, 335, 0, 0, 0},
    {SYS_ptrace, 26, 1, 0, 0},
    {SYS_process_vm_readv, 347, 0, 0, 0},
    {SYS_process_vm_writev, 348, 0, 0, 0},
    {SYS_pidfd_open, 434, 0, 0, 0},
    {SYS_prlimit64, 340, 0, 0, 0},
    {SYS_setpgid, 57, 0, 0, 0},
    {SYS_setpriority, 97, 1, 0, 0},
    {SYS_ioprio_set, 289, 1, 0, 0},
    {SYS_sched_setaffinity, 241, 0, 0, 0},
    {SYS_sched_setscheduler, 156, 0, 0, 0},
    {SYS_sched_setparam, 154, 0, 0, 0},
    {SYS_sched_setattr, 351, 0, 0, 0},
    /* whom the kernel sends a signal of choice when a descriptor has something to read */
    {SYS_fcntl, 221, 2, 1, F_SETOWN},
    {SYS_fcntl, 221, ANY, 1, F_SETOWN_EX},
    {SYS_fcntl, 55, 2, 1, F_SETOWN},
    {SYS_ioctl, 54, ANY, 1, FILE_OWNER},
    {SYS_ioctl, 54, ANY, 1, SOCKET_OWNER},
};

static const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

static struct sock_filter load(size_t offset) {
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}
/** The low half of an argument: the machines are little-endian. */
static struct sock_filter load_argument(int number) {
    return load(offsetof(struct seccomp_data, args) + (size_t)number * sizeof(uint64_t));
}
static struct sock_filter unless(uint32_t value, size_t skip) {
    return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)skip);
}

/** Refuses the call if it names one of these processes. The number of the call is loaded by each rule anew. */
static struct sock_filter *put_rule(struct sock_filter *at, const struct rule *r, uint16_t number,
                                    const uint32_t names[NAMES]) {
    const size_t of_names = r->process == ANY ? 0 : NAMES + 1, of_command = r->command != 0 ? 2 : 0;
    *at++ = load(offsetof(struct seccomp_data, nr));
    *at++ = unless(number, of_command + of_names + 1);
    if (r->command != 0) {
        *at++ = load_argument(r->command);
        *at++ = unless(r->value, of_names + 1);
    }
    if (r->process != ANY) {
        *at++ = load_argument(r->process);
        for (size_t i = 0; i < NAMES; i++) {
            const uint8_t to_refuse = (uint8_t)(NAMES - 1 - i), past = i + 1 < NAMES ? 0 : 1;
            *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, names[i], to_refuse, past);
        }
    }
    *at++ = refuse;
    return at;
}

/** Rules for one machine; other calls of it are allowed. */
static struct sock_filter *put_machine(struct sock_filter *at, uint32_t machine, const uint32_t names[NAMES]) {
    struct sock_filter *begin = at;
    at += 3;
#if defined(__x86_64__)
    const bool is_32 = machine == AUDIT_ARCH_I386;
    if (!is_32) {
        /* calls with pointers of 32 bits, which no program has */
        *at++ = load(offsetof(struct seccomp_data, nr));
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
        *at++ = refuse;
    }
#else
    const bool is_32 = false;
#endif
    for (size_t i = 0; i < RULES; i++)
        at = put_rule(at, &rules[i], is_32 ? rules[i].number_32 : rules[i].number, names);
    *at++ = allow;
    begin[0] = load(offsetof(struct seccomp_data, arch));
    begin[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
    begin[2] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)(at - begin) - 3);
    return at;
}

void nnv_process_protect_parent(void) {
    enum { MOST = 2 * (8 + RULES * LONGEST) + 1 };
    struct sock_filter code[MOST], *at = code;
    const uint32_t group = (uint32_t)getpgid(getppid());
    /* The parent; its group, with and without the sign by which kill() knows one; all processes. */
    const uint32_t names[NAMES] = {(uint32_t)getppid(), group, -group, (uint32_t)-1};
#if defined(__x86_64__)
    at = put_machine(at, AUDIT_ARCH_X86_64, names);
    at = put_machine(at, AUDIT_ARCH_I386, names);
#else
    at = put_machine(at, AUDIT_ARCH_AARCH64, names);
#endif
    *at++ = allow;
    const struct sock_fprog program = {.len = (unsigned short)(at - code), .filter = code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else
void nnv_process_protect_parent(void) {}
#endif

/* ------------------------------------------------------------------------------ */

void nnv_process_sandbox(int log) {
    struct rlimit core = {0};
    getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur = 0; /* whoever wants one of this process may still raise it */
    setrlimit(RLIMIT_CORE, &core);
    volunteer_for_oom();
    nnv_process_protect_parent();
    int null = open("/dev/null", O_RDWR);
    if (log < 0) log = null;
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    nnv_folder_close_others(STDERR_FILENO + 1);
    /* A new buffer: the mode of one in use changes only in part. It is the process's for good. */
    setvbuf(stdout, malloc(BUFSIZ), _IOLBF, BUFSIZ);
}

bool nnv_process_ended(pid_t pid, struct nnv_end *end) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (info.si_pid != pid) return false;
        kill(-pid, SIGKILL); /* as long as it is not reaped, the number is no one else's */
        *end = (struct nnv_end){.code = info.si_code, .status = info.si_status};
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG);
    } else {
        *end = (struct nnv_end){.code = CLD_EXITED};
        if (errno != ECHILD) return false; /* else SIGCHLD is ignored here: how it ended is not known */
    }
    if (!replace(&child, pid, 0)) return true;
    end->left = end_left();
    adopt(false);
    return true;
}

void nnv_process_kill(pid_t pid) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

struct nnv_pause nnv_process_pause_begin(pid_t pid) {
    return (struct nnv_pause){.end = (int)syscall(SYS_pidfd_open, pid, 0), .ns = 50000};
}

void nnv_process_pause(struct nnv_pause *p) {
    struct pollfd end = {.fd = p->end, .events = POLLIN}; /* one below zero is passed over: it only sleeps */
    const struct timespec most = {.tv_sec = (time_t)(p->ns / 1000000000), .tv_nsec = (long)(p->ns % 1000000000)};
    ppoll(&end, 1, &most, NULL);
    if (p->ns < 5000000) p->ns *= 2;
}

void nnv_process_pause_end(struct nnv_pause *p) {
    if (p->end >= 0) close(p->end);
    p->end = -1;
}

/** Waits for the end for at most timeout_ns. */
static bool wait_until(pid_t pid, uint64_t timeout_ns, struct nnv_end *end) {
    const uint64_t start = nnv_now_ns();
    if (nnv_process_ended(pid, end)) return true;
    struct nnv_pause pause = nnv_process_pause_begin(pid);
    bool ended = false;
    while (!ended && nnv_now_ns() - start < timeout_ns) {
        nnv_process_pause(&pause);
        ended = nnv_process_ended(pid, end);
    }
    nnv_process_pause_end(&pause);
    return ended;
}

void nnv_process_wait(pid_t pid, uint64_t timeout_ns, struct nnv_end *end) {
    *end = (struct nnv_end){0};
    if (wait_until(pid, timeout_ns, end)) return;
    nnv_process_kill(pid);
    if (!wait_until(pid, GIVE_UP_NS, end)) *end = (struct nnv_end){.code = CLD_KILLED, .status = SIGKILL};
    end->timed_out = true;
    end->timeout_ns = timeout_ns;
}

#define SIGNAL(name) [SIG##name] = "SIG" #name
static const char *const signals[] = {
    SIGNAL(HUP),    SIGNAL(INT),  SIGNAL(QUIT),  SIGNAL(ILL),  SIGNAL(TRAP), SIGNAL(ABRT),   SIGNAL(BUS),  SIGNAL(FPE),
    SIGNAL(KILL),   SIGNAL(USR1), SIGNAL(SEGV),  SIGNAL(USR2), SIGNAL(PIPE), SIGNAL(ALRM),   SIGNAL(TERM), SIGNAL(CHLD),
    SIGNAL(STKFLT), SIGNAL(CONT), SIGNAL(STOP),  SIGNAL(TSTP), SIGNAL(TTIN), SIGNAL(TTOU),   SIGNAL(URG),  SIGNAL(XCPU),
    SIGNAL(XFSZ),   SIGNAL(PROF), SIGNAL(WINCH), SIGNAL(POLL), SIGNAL(PWR),  SIGNAL(VTALRM), SIGNAL(SYS),
};
#undef SIGNAL

const char *nnv_signal_name(int signal, char *buf) {
    if (signal > 0 && signal < (int)(sizeof signals / sizeof *signals) && signals[signal] != NULL)
        snprintf(buf, 32, "%s", signals[signal]);
    else
        snprintf(buf, 32, "signal %d", signal);
    return buf;
}

const char *nnv_end_text(const struct nnv_end *end, char *buf) {
    char name[32];
    if (end->timed_out)
        snprintf(buf, 64, "did not end within %g s", (double)end->timeout_ns / 1e9);
    else if (end->code == CLD_EXITED)
        snprintf(buf, 64, "called exit(%d)", end->status);
    else if (end->status == SIGKILL)
        snprintf(buf, 64, "was killed by SIGKILL (out of memory?)");
    else
        snprintf(buf, 64, "died with %s", nnv_signal_name(end->status, name));
    return buf;
}

void nnv_restore_flags(void) {
#if defined(__x86_64__)
    uint64_t flags;
    const uint64_t alignment_check = UINT64_C(1) << 18;
    __asm__ volatile("cld\n\tpushfq\n\tpopq %0" : "=r"(flags)::"memory", "cc");
    if (flags & alignment_check) __asm__ volatile("pushq %0\n\tpopfq" ::"r"(flags & ~alignment_check) : "memory", "cc");
#endif
}
