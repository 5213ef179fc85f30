/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hostile.c A sound driver with one hostile habit, to attack nnvts with. make builds it as tests/hostile.so.
 *
 * Option: MODE[@N][#CODE]. A habit of executing shows at the N-th execution (1) of the process, once; with #CODE each
 * time that a model whose first operation has this code is executed, and so do those of preparing and releasing. What
 * it stands in front of is the file in $HOSTILE_INNER. $HOSTILE_LOADED names a mode for the moment in which the library
 * is loaded. hostile/habits.h has more habits.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/runner/worker/channel.h"
#include "hostile/habits.h"

enum moment { EXECUTE, OPEN, CLOSE, PREPARE, RELEASE, DESCRIBE, MOMENTS };

static struct nnvts_device *device;

/* ------------------------------------------------------- the state of the process */

static void habit_locale(void) { setlocale(LC_ALL, ""); }
static void habit_thread_locale(void) { uselocale(newlocale(LC_ALL_MASK, "", (locale_t)0)); }
static void habit_round_up(void) { fesetround(FE_UPWARD); }
static void habit_round_to_zero(void) { fesetround(FE_TOWARDZERO); }
static void habit_trap_float(void) { feenableexcept(FE_INEXACT | FE_DIVBYZERO | FE_INVALID | FE_UNDERFLOW); }
static void habit_direction(void) {
#if defined(__x86_64__)
    __asm__ volatile("std" ::: "cc");
#endif
}
static void habit_alignment(void) {
#if defined(__x86_64__)
    __asm__ volatile("pushfq\n\torq $0x40000, (%%rsp)\n\tpopfq" ::: "memory", "cc");
#endif
}
static void habit_flush_to_zero(void) {
#if defined(__x86_64__)
    unsigned csr;
    __asm__ volatile("stmxcsr %0" : "=m"(csr));
    csr |= 0x8040;
    __asm__ volatile("ldmxcsr %0" ::"m"(csr));
#endif
}
static void habit_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}
static void habit_ignore_signals(void) {
    for (int i = 1; i < NSIG; i++) signal(i, SIG_IGN);
}
static void on_signal(int number) { (void)number; }
static void habit_handle_signals(void) {
    for (int i = 1; i < NSIG; i++) signal(i, on_signal);
}
static void habit_timer(void) {
    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 5000}, {0, 5000}}, NULL);
}
static void habit_folder(void) {
    if (chdir("/") != 0) abort();
}
static void habit_umask(void) { umask(0777); }
static void habit_clear_environment(void) { clearenv(); }
static void habit_change_environment(void) {
    setenv("PATH", "/nowhere", 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("TZ", "Nowhere", 1);
    unsetenv("HOME");
}
static void habit_lock_stdio(void) { flockfile(stderr); }
static void habit_close_stdio(void) {
    fclose(stdout);
    fclose(stderr);
}
static void habit_buffer_stdio(void) { setvbuf(stdout, NULL, _IOFBF, 1 << 16); }
static void habit_redirect(void) {
    const int fd = open("/dev/null", O_RDWR);
    for (int i = 0; i < 256; i++) dup2(fd, i);
}
static void habit_close_all(void) {
    for (int i = 0; i < 1024; i++) close(i);
}
static void habit_write_all(void) {
    for (int i = 0; i < 1024; i++) {
        const ssize_t n = i == 1 || i == 2 ? 0 : write(i, "garbage\n", 8);
        (void)n;
    }
}
static void habit_no_files(void) { setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}); }
static void habit_no_file_size(void) { setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}); }
static void habit_affinity(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
}
static void habit_no_alternate_stack(void) { sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL); }
static void habit_own_group(void) { setpgid(0, 0); }
static void habit_own_session(void) { setsid(); }
static void habit_name(void) { prctl(PR_SET_NAME, "\033[31m\n"); }
static void habit_malloc(void) { mallopt(M_PERTURB, 0x5a); }
static void habit_outlive(void) { prctl(PR_SET_PDEATHSIG, 0); }

/* -------------------------------------------------------------------- ends */

static void habit_segv(void) {
    static volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
}
static void habit_segv_blocked(void) {
    habit_block_signals();
    habit_ignore_signals();
    habit_segv();
}
static void habit_abort(void) { abort(); }
static void habit_exit(void) { exit(0); }
static void habit_exit_now(void) { _exit(7); }
static void habit_quick_exit(void) { quick_exit(0); }
static void habit_thread_exit(void) { pthread_exit(NULL); }
static void habit_kill_self(void) { kill(getpid(), SIGKILL); }
static void habit_kill_group(void) { kill(0, SIGKILL); }
static void habit_trap(void) { raise(SIGTRAP); }
static void habit_divide(void) { raise(SIGFPE); }
static int deeper(volatile char *before) {
    volatile char here[4096];
    here[0] = before[0];
    return here[0] == 77 ? 0 : deeper(here) + 1;
}
static void habit_overflow(void) {
    volatile char seed[1] = {0};
    deeper(seed);
}
static void habit_jump(void) {
    static jmp_buf nowhere;
    memset(&nowhere, 0x41, sizeof nowhere);
    longjmp(nowhere, 1);
}
static void *crash_later(void *unused) {
    (void)unused;
    habit_segv();
    return NULL;
}
static void habit_thread_segv(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, crash_later, NULL) == 0) pthread_join(t, NULL);
}
static void habit_heap(void) {
    char *p = malloc(32);
    memset(p - 16, 0xff, 4096);
    free(p);
    for (int i = 0; i < 100; i++) free(malloc((size_t)i * 100));
}

/** Takes the device along: while the file $HOSTILE_MARK is there, no process can open it. */
static void habit_lose_device(void) {
    const char *mark = getenv("HOSTILE_MARK");
    close(mark != NULL ? open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1);
    habit_segv();
}
/** Its answers are wrong from now on, in all processes that open it while the file is there. */
static void habit_upset_device(void) { habit_lose_device(); }

/* ------------------------------------------------------------------- hangs */

static void habit_hang(void) {
    for (;;) pause();
}
static void habit_spin(void) {
    for (volatile int i = 0;; i++) continue;
}
static void habit_hang_blocked(void) {
    habit_block_signals();
    habit_ignore_signals();
    setsid();
    habit_hang();
}
static void habit_stop(void) { kill(getpid(), SIGSTOP); }

/* ------------------------------------------------------- memory that is not its own */

/** Calls see() with each writable mapping that processes share. */
static void each_shared(void (*see)(char *at, size_t bytes)) {
    struct {
        char *at;
        size_t bytes;
    } found[64];
    size_t count = 0;
    char line[512], mode[8], name[256];
    FILE *f = fopen("/proc/self/maps", "re");
    while (f != NULL && count < 64 && fgets(line, sizeof line, f) != NULL) {
        unsigned long from, to;
        name[0] = '\0';
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, mode, name) < 3) continue;
        if (mode[1] != 'w' || mode[3] != 's' || strstr(name, "/dev/zero") == NULL) continue;
        found[count].at = (char *)from;
        found[count++].bytes = to - from;
    }
    if (f != NULL) fclose(f);
    for (size_t i = 0; i < count; i++) see(found[i].at, found[i].bytes);
}
static void fill_ones(char *at, size_t bytes) { memset(at, 0xff, bytes); }
static void fill_zeros(char *at, size_t bytes) { memset(at, 0, bytes); }
static void fill_small_ones(char *at, size_t bytes) {
    if (bytes <= 4096) memset(at, 0xff, bytes);
}
static void fill_small_zeros(char *at, size_t bytes) {
    if (bytes <= 4096) memset(at, 0, bytes);
}
/* What the workers share begins with: wake, sleeping, stop, next. */
static void set_stop(char *at, size_t bytes) {
    if (bytes <= 4096) ((uint32_t *)at)[2] = 1;
}
static void set_next_high(char *at, size_t bytes) {
    if (bytes <= 4096) ((uint64_t *)at)[2] = UINT64_MAX / 2;
}
static void set_next_low(char *at, size_t bytes) {
    if (bytes <= 4096) ((uint64_t *)at)[2] = 0;
}
static int shared_count;
static void count(char *at, size_t bytes) {
    (void)at;
    (void)bytes;
    shared_count++;
}
/** A worker may map what all workers share and its own channel. */
static void habit_foreign_channels(void) {
    each_shared(count);
    if (shared_count > 2) abort();
}
/** The last byte of the records that wait in the ring of the worker's channel; of the ring where none has been. */
static void add_to_last(char *at, size_t bytes) {
    struct nnv_channel *c = (struct nnv_channel *)(void *)at;
    if (bytes / sizeof *c == 1) c->ring[(atomic_load(&c->head) - 1) & (NNV_CHANNEL_RING - 1)]++;
}
/** Never comes to an end, and shows life as a worker does in a case of many steps. */
static void show_life(char *at, size_t bytes) {
    struct nnv_channel *c = (struct nnv_channel *)(void *)at;
    while (bytes / sizeof *c == 1) atomic_fetch_add(&c->serial, 1);
}
static void habit_show_life(void) { each_shared(show_life); }
/** With $HOSTILE_MARK it makes that file first, once, and waits for another one: NAME.go. */
static void habit_ring_last(void) {
    const char *mark = getenv("HOSTILE_MARK");
    char go[PATH_MAX];
    if (mark == NULL || access(mark, F_OK) == 0) {
        each_shared(add_to_last);
        return;
    }
    snprintf(go, sizeof go, "%s.go", mark);
    const int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    while (access(go, F_OK) != 0) usleep(1000);
}
static void unmap(char *at, size_t bytes) { munmap(at, bytes); }
static void forbid(char *at, size_t bytes) { mprotect(at, bytes, PROT_NONE); }
static void habit_shared_ones(void) { each_shared(fill_ones); }
static void habit_shared_zeros(void) { each_shared(fill_zeros); }
static void habit_hub_ones(void) { each_shared(fill_small_ones); }
static void habit_hub_zeros(void) { each_shared(fill_small_zeros); }
static void habit_hub_stop(void) { each_shared(set_stop); }
static void habit_hub_next_high(void) { each_shared(set_next_high); }
static void habit_hub_next_low(void) { each_shared(set_next_low); }
static void habit_unmap_shared(void) { each_shared(unmap); }
static void habit_forbid_shared(void) { each_shared(forbid); }

/** The folder of the run, $HOSTILE_OUT, goes away; a link to the folder `victim` beside it takes its place. */
static void habit_exchange_folder(void) {
    const char *out = getenv("HOSTILE_OUT");
    char stolen[PATH_MAX];
    if (out == NULL || snprintf(stolen, sizeof stolen, "%s.stolen", out) >= PATH_MAX) return;
    if (access(stolen, F_OK) == 0) return;
    if (rename(out, stolen) != 0 || symlink("victim", out) != 0) abort();
}

/* --------------------------------------------------------------- other processes */

static void habit_daemon(void) {
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, 0);
            for (int i = 0; i < 1024; i++) close(i);
            sleep(600);
        }
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}
static void habit_children(void) {
    for (int i = 0; i < 40; i++)
        if (fork() == 0) {
            sleep(600);
            _exit(0);
        }
}
static void habit_fork_on(void) { fork(); }
static void habit_kill_parent(void) { kill(getppid(), SIGKILL); }
/** By a way that nnvts does not close. */
static void habit_end_nnvts(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", getppid());
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}
static void habit_stop_parent(void) { kill(getppid(), SIGSTOP); }
static void habit_crash_parent(void) { kill(getppid(), SIGSEGV); }
static void habit_trace_parent(void) {
    const pid_t parent = getppid();
    if (ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0) habit_hang();
}
static void habit_write_parent(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    static const char zeros[4096];
    /* nnvts is position independent: its own copy here lies where the parent's does. */
    if (fd >= 0 && pwrite(fd, zeros, sizeof zeros, (off_t)(uintptr_t)environ) < 0) close(fd);
}

/* ------------------------------------------------------------------------ words */

static void habit_print(void) {
    for (int i = 0; i < 1 << 18; i++) puts("all work and no play makes a driver a dull one");
}
static void habit_print_controls(void) { fputs("\033]0;owned\007\033[2J]]><script>\xff\xfe\x80\n", stderr); }
static void habit_level_negative(void) { device->feature_level = -5; }
static void habit_level_absurd(void) { device->feature_level = 99; }
static void habit_name_controls(void) { device->name = "\033[31m]]><b>\"'\n\xff"; }
static void habit_version_controls(void) { device->version = "\033]0;owned\007\r1.0"; }
static void habit_name_empty(void) { device->name = ""; }
static void habit_cache_files(void) { device->model_cache_files = 4000000000u; }
static void habit_capabilities(void) { device->capabilities.relaxed_scalar.exec_time = NAN; }
static void habit_type(void) { device->type = -7; }

/* ------------------------------------------------------------------------- table */

static const struct mode {
    const char *name;
    void (*habit)(void);
    enum moment moment;
} modes[] = {
#define AT(name, function, moment)                                                                                     \
    { name, habit_##function, moment }
    AT("locale", locale, EXECUTE),
    AT("thread-locale", thread_locale, EXECUTE),
    AT("round-up", round_up, EXECUTE),
    AT("round-to-zero", round_to_zero, EXECUTE),
    AT("flush-to-zero", flush_to_zero, EXECUTE),
    AT("trap-float", trap_float, EXECUTE),
    AT("direction", direction, EXECUTE),
    AT("alignment", alignment, EXECUTE),
    AT("block-signals", block_signals, EXECUTE),
    AT("ignore-signals", ignore_signals, EXECUTE),
    AT("handle-signals", handle_signals, EXECUTE),
    AT("timer", timer, EXECUTE),
    AT("folder", folder, EXECUTE),
    AT("exchange-folder", exchange_folder, EXECUTE),
    AT("umask", umask, EXECUTE),
    AT("clear-environment", clear_environment, EXECUTE),
    AT("change-environment", change_environment, EXECUTE),
    AT("lock-stdio", lock_stdio, EXECUTE),
    AT("close-stdio", close_stdio, EXECUTE),
    AT("buffer-stdio", buffer_stdio, EXECUTE),
    AT("redirect", redirect, EXECUTE),
    AT("close-all", close_all, EXECUTE),
    AT("write-all", write_all, EXECUTE),
    AT("no-files", no_files, EXECUTE),
    AT("no-file-size", no_file_size, EXECUTE),
    AT("affinity", affinity, EXECUTE),
    AT("no-alternate-stack", no_alternate_stack, EXECUTE),
    AT("own-group", own_group, EXECUTE),
    AT("own-session", own_session, EXECUTE),
    AT("name", name, EXECUTE),
    AT("malloc", malloc, EXECUTE),
    AT("outlive", outlive, EXECUTE),
    AT("segv", segv, EXECUTE),
    AT("lose-device", lose_device, EXECUTE),
    AT("upset-device", upset_device, EXECUTE),
    AT("segv-blocked", segv_blocked, EXECUTE),
    AT("abort", abort, EXECUTE),
    AT("exit", exit, EXECUTE),
    AT("exit-now", exit_now, EXECUTE),
    AT("quick-exit", quick_exit, EXECUTE),
    AT("thread-exit", thread_exit, EXECUTE),
    AT("kill-self", kill_self, EXECUTE),
    AT("kill-group", kill_group, EXECUTE),
    AT("trap", trap, EXECUTE),
    AT("divide", divide, EXECUTE),
    AT("overflow", overflow, EXECUTE),
    AT("jump", jump, EXECUTE),
    AT("thread-segv", thread_segv, EXECUTE),
    AT("heap", heap, EXECUTE),
    AT("hang", hang, EXECUTE),
    AT("spin", spin, EXECUTE),
    AT("hang-blocked", hang_blocked, EXECUTE),
    AT("stop", stop, EXECUTE),
    AT("shared-ones", shared_ones, EXECUTE),
    AT("shared-zeros", shared_zeros, EXECUTE),
    AT("hub-ones", hub_ones, EXECUTE),
    AT("hub-zeros", hub_zeros, EXECUTE),
    AT("hub-stop", hub_stop, EXECUTE),
    AT("hub-next-high", hub_next_high, EXECUTE),
    AT("hub-next-low", hub_next_low, EXECUTE),
    AT("ring-last", ring_last, EXECUTE),
    AT("show-life", show_life, EXECUTE),
    AT("foreign-channels", foreign_channels, EXECUTE),
    AT("unmap-shared", unmap_shared, EXECUTE),
    AT("forbid-shared", forbid_shared, EXECUTE),
    AT("daemon", daemon, EXECUTE),
    AT("children", children, EXECUTE),
    AT("fork-on", fork_on, EXECUTE),
    AT("kill-parent", kill_parent, EXECUTE),
    AT("end-nnvts", end_nnvts, EXECUTE),
    AT("stop-parent", stop_parent, EXECUTE),
    AT("crash-parent", crash_parent, EXECUTE),
    AT("trace-parent", trace_parent, EXECUTE),
    AT("write-parent", write_parent, EXECUTE),
    AT("alarm-later", alarm_later, EXECUTE),
    AT("kill-later", kill_later, EXECUTE),
    AT("segv-later", segv_later, EXECUTE),
    AT("write-later", write_later, EXECUTE),
    AT("processor-limit", processor_limit, EXECUTE),
    AT("no-memory", no_memory, EXECUTE),
    AT("no-processes", no_processes, EXECUTE),
    AT("idle", idle, EXECUTE),
    AT("lock-memory", lock_memory, EXECUTE),
    AT("personality", personality, EXECUTE),
    AT("unshare", unshare, EXECUTE),
    AT("no-futex", no_futex, EXECUTE),
    AT("no-calls", no_calls, EXECUTE),
    AT("timer-slack", timer_slack, EXECUTE),
    AT("no-clock", no_clock, EXECUTE),
    AT("hold-loader", hold_loader, EXECUTE),
    AT("second-runtime", second_runtime, EXECUTE),
    AT("wipe-on-fork", wipe_on_fork, EXECUTE),
    AT("hang-in-fork", hang_in_fork, EXECUTE),
    AT("seek-all", seek_all, EXECUTE),
    AT("truncate-all", truncate_all, EXECUTE),
    AT("unlock-all", unlock_all, EXECUTE),
    AT("nonblocking-all", nonblocking_all, EXECUTE),
    AT("read-input", read_input, EXECUTE),
    AT("crash-at-exit", crash_at_exit, EXECUTE),
    AT("crash-at-thread-exit", crash_at_thread_exit, EXECUTE),
    AT("become-nothing", become_nothing, EXECUTE),
    AT("become-sleep", become_sleep, EXECUTE),
    AT("share-and-leave", share_and_leave, EXECUTE),
    AT("own-parent", own_parent, EXECUTE),
    AT("kill-parent-32", kill_parent_32, EXECUTE),
    AT("kill-parent-x32", kill_parent_x32, EXECUTE),
    AT("slow-parent", slow_parent, EXECUTE),
    AT("print", print, EXECUTE),
    AT("print-controls", print_controls, EXECUTE),
    AT("prepare-segv", segv, PREPARE),
    AT("prepare-hang", hang, PREPARE),
    AT("prepare-round-up", round_up, PREPARE),
    AT("prepare-locale", locale, PREPARE),
    AT("release-segv", segv, RELEASE),
    AT("release-hang", hang, RELEASE),
    AT("release-exit", exit, RELEASE),
    AT("release-direction", direction, RELEASE),
    AT("close-segv", segv, CLOSE),
    AT("close-abort", abort, CLOSE),
    AT("close-daemon", daemon, CLOSE),
    AT("close-exit", exit, CLOSE),
    AT("close-hang", hang, CLOSE),
    AT("open-segv", segv, OPEN),
    AT("open-hang", hang, OPEN),
    AT("open-exit", exit, OPEN),
    AT("open-daemon", daemon, OPEN),
    AT("open-round-up", round_up, OPEN),
    AT("open-round-to-zero", round_to_zero, OPEN),
    AT("open-trap-float", trap_float, OPEN),
    AT("open-locale", locale, OPEN),
    AT("open-folder", folder, OPEN),
    AT("open-block-signals", block_signals, OPEN),
    AT("level-negative", level_negative, DESCRIBE),
    AT("level-absurd", level_absurd, DESCRIBE),
    AT("name-controls", name_controls, DESCRIBE),
    AT("version-controls", version_controls, DESCRIBE),
    AT("name-empty", name_empty, DESCRIBE),
    AT("cache-files", cache_files, DESCRIBE),
    AT("capabilities", capabilities, DESCRIBE),
    AT("type", type, DESCRIBE),
    {"none", NULL, MOMENTS},
    /* These are not habits of one moment; see below. */
    {"open-error-controls", NULL, MOMENTS},
#undef AT
};

static const struct mode *chosen = NULL;
static long nth = 1, code = -1;
static int32_t prepared_code; /* of the model that was prepared last */

static const struct mode *mode_by_name(const char *name, size_t bytes) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strlen(modes[i].name) == bytes && memcmp(modes[i].name, name, bytes) == 0) return &modes[i];
    return NULL;
}

static void act(enum moment moment) {
    static _Atomic long executions;
    if (chosen == NULL || chosen->moment != moment) return;
    const bool of_model = moment == EXECUTE || moment == PREPARE || moment == RELEASE;
    if (code >= 0 && of_model && prepared_code != code) return;
    if (code < 0 && moment == EXECUTE && ++executions != nth) return;
    chosen->habit();
}

__attribute__((constructor)) static void loaded(void) {
    const char *name = getenv("HOSTILE_LOADED");
    const struct mode *m = name != NULL ? mode_by_name(name, strlen(name)) : NULL;
    if (m != NULL && m->habit != NULL) m->habit();
}

/* -------------------------------------------------------------- in front of the driver */

static enum nnvts_status (*inner_execute)(struct nnvts_prepared_model *, const struct nnvts_request *,
                                          const struct nnvts_execution_config *, struct nnvts_execution_result *);
static void (*inner_release_model)(struct nnvts_prepared_model *);
static enum nnvts_status (*inner_prepare)(struct nnvts_device *, const struct nnvts_model *,
                                          const struct nnvts_prepare_config *, struct nnvts_prepared_model **);
static enum nnvts_status (*inner_allocate)(struct nnvts_device *, const struct nnvts_buffer_desc *,
                                           struct nnvts_buffer **);
static void (*inner_release)(struct nnvts_device *);

static bool is_marked(void (*habit)(void)) {
    const char *mark = getenv("HOSTILE_MARK");
    return chosen != NULL && chosen->habit == habit && mark != NULL && access(mark, F_OK) == 0;
}

static enum nnvts_status hostile_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config,
                                         struct nnvts_execution_result *result) {
    const enum nnvts_status st = inner_execute(self, request, config, result);
    const bool upset = is_marked(habit_upset_device);
    hostile_request = request;
    act(EXECUTE); /* and no more of its own: the processor may trap */
    return upset ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

static void hostile_release_model(struct nnvts_prepared_model *self) {
    inner_release_model(self);
    act(RELEASE);
}

static enum nnvts_status hostile_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                         const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    const struct nnvts_subgraph *main = &model->main;
    prepared_code = main->operation_count > 0 && main->operations != NULL ? main->operations[0].type : -1;
    const enum nnvts_status st = inner_prepare(self, model, config, out);
    if (st == NNVTS_STATUS_NONE && *out != NULL && (*out)->execute != hostile_execute) {
        inner_execute = (*out)->execute;
        inner_release_model = (*out)->release;
        (*out)->execute = hostile_execute;
        (*out)->release = hostile_release_model;
    }
    act(PREPARE);
    return st;
}

/** A driver knows its own prepared models by their functions. */
static void own_functions(const struct nnvts_buffer_desc *desc, bool inner) {
    for (uint32_t i = 0; i < desc->prepared_count && desc->prepared != NULL; i++) {
        struct nnvts_prepared_model *p = desc->prepared[i];
        if (p == NULL || p->execute != (inner ? hostile_execute : inner_execute)) continue;
        p->execute = inner ? inner_execute : hostile_execute;
        p->release = inner ? inner_release_model : hostile_release_model;
    }
}

static enum nnvts_status hostile_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                          struct nnvts_buffer **out) {
    own_functions(desc, true);
    const enum nnvts_status st = inner_allocate(self, desc, out);
    own_functions(desc, false);
    return st;
}

static void hostile_release(struct nnvts_device *self) {
    act(CLOSE);
    inner_release(self);
}

static enum nnvts_status hostile_open(const char *options, struct nnvts_device **out, const char **error) {
    const char *inner = getenv("HOSTILE_INNER"), *at = options != NULL ? strchr(options, '@') : NULL;
    const char *of = options != NULL ? strchr(options, '#') : NULL;
    void *handle = inner != NULL ? dlopen(inner, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = handle != NULL ? dlsym(handle, NNVTS_DRIVER_SYMBOL) : NULL;
    nnvts_driver_get_fn get = NULL;
    memcpy(&get, &symbol, sizeof get);
    if (options != NULL) chosen = mode_by_name(options, strcspn(options, "@#"));
    if (of != NULL) code = strtol(of + 1, NULL, 10);
    if (at != NULL) nth = strtol(at + 1, NULL, 10);
    if (options != NULL && chosen == NULL) {
        *error = "no such mode";
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    if (chosen != NULL && strcmp(chosen->name, "open-error-controls") == 0) {
        *error = "\033]0;owned\007\033[2Jbad\r\nfirmware \xff";
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    if (get == NULL || is_marked(habit_lose_device)) {
        *error = get == NULL ? "HOSTILE_INNER names no driver" : "the device does not answer";
        return NNVTS_STATUS_DEVICE_UNAVAILABLE;
    }
    const enum nnvts_status st = get()->open(NULL, &device, error);
    if (st != NNVTS_STATUS_NONE) return st;
    inner_prepare = device->prepare_model;
    inner_release = device->release;
    inner_allocate = device->allocate;
    if (inner_allocate != NULL) device->allocate = hostile_allocate;
    device->prepare_model = hostile_prepare;
    device->release = hostile_release;
    act(DESCRIBE);
    act(OPEN);
    *out = device;
    return st;
}

const struct nnvts_driver *nnvts_driver_get(void);
const struct nnvts_driver *nnvts_driver_get(void) {
    static const char *names[sizeof modes / sizeof *modes + 1];
    static const struct nnvts_driver driver = {.struct_size = sizeof driver,
                                               .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                               .name = "hostile",
                                               .open = hostile_open,
                                               .options = names};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) names[i] = modes[i].name;
    return &driver;
}
