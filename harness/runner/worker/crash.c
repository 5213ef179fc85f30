/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "harness/runner/coverage/counters.h"

enum { FRAMES = 48, FILES = 8, STACK_BYTES = 256 << 10 };

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP, SIGXFSZ};

/* A signal handler has no argument of its own: this is the one worker that the process is. */
static struct nnv_channel *channel;
static struct nnv_hub *hub;
static pid_t worker;

int nnv_crash_probe_signal(void) { return SIGRTMAX - 2; }

/** Appends to the trace as far as there is room. */
static void NNV_PRINTF(1, 2) trace(const char *fmt, ...) {
    uint32_t at = atomic_load(&channel->trace_bytes);
    if (at >= NNV_CHANNEL_TRACE - 1) return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(channel->trace + at, NNV_CHANNEL_TRACE - at, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    uint32_t end = at + (uint32_t)n;
    atomic_store(&channel->trace_bytes, end < NNV_CHANNEL_TRACE ? end : NNV_CHANNEL_TRACE - 1);
}

/** Where the signal struck; NULL where the machine is not known here. */
static void *struck_at(const void *context) {
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (void *)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (void *)u->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (void *)u->uc_mcontext.pc;
#elif defined(__arm__)
    return (void *)u->uc_mcontext.arm_pc;
#elif defined(__riscv)
    return (void *)u->uc_mcontext.__gregs[REG_PC];
#else
    (void)u;
    return NULL;
#endif
}

/** "  #1 libnpu.so+0x12f0 npu_execute+0x40" */
static void trace_frame(int number, const void *address) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        trace("#%d %p\n", number, address);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    trace("#%d %s+0x%tx", number, slash != NULL ? slash + 1 : info.dli_fname,
          (const char *)address - (const char *)info.dli_fbase);
    if (info.dli_sname != NULL)
        trace(" %s+0x%tx", info.dli_sname, (const char *)address - (const char *)info.dli_saddr);
    trace("\n");
}

/** "libnpu.so=/opt/npu/libnpu.so" of each file in which a frame lies, for symbols.h. */
static void trace_files(void *const *frame, int n) {
    const char *seen[FILES];
    int count = 0;
    for (int i = 0; i < n && count < FILES; i++) {
        Dl_info info;
        if (dladdr(frame[i], &info) == 0 || info.dli_fname == NULL || *info.dli_fname != '/') continue;
        int k = 0;
        while (k < count && seen[k] != info.dli_fname) k++;
        if (k < count) continue;
        seen[count++] = info.dli_fname;
        trace("%s=%s\n", strrchr(info.dli_fname, '/') + 1, info.dli_fname);
    }
}

/** Return addresses, the innermost first. */
struct stack {
    void *frame[FRAMES];
    int n;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *to) {
    static const _Unwind_Reason_Code on = 0; /* its name is not the same on all machines */
    struct stack *s = to;
    void *address = (void *)_Unwind_GetIP(context);
    if (s->n == FRAMES || address == NULL) return _URC_END_OF_STACK;
    s->frame[s->n++] = address;
    return on;
}

/** Not all of this is safe in a handler; the supervisor's deadline bounds what may go wrong. */
static void trace_stack(const void *context) {
    struct stack s = {0};
    void *struck = struck_at(context);
    int first = 0;
    _Unwind_Backtrace(add_frame, &s);
    /* Leaves out the handler's own frames. */
    for (int i = 0; i < s.n && struck != NULL; i++)
        if (s.frame[i] == struck) first = i;
    if (first == 0 && struck != NULL) {
        trace_frame(0, struck);
        for (int i = 0; i < s.n; i++) trace_frame(i + 1, s.frame[i]);
    } else {
        for (int i = first; i < s.n; i++) trace_frame(i - first, s.frame[i]);
    }
    trace_files(s.frame, s.n);
    atomic_store(&channel->traced, 1);
    nnv_hub_notify(hub);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    const int last_error = errno;
    /* Only once, and not in a process that the driver forked. */
    if (getpid() == worker && atomic_exchange(&channel->fault_signal, (uint32_t)number) == 0) {
        atomic_store(&channel->fault_foreign, syscall(SYS_gettid) != worker);
        atomic_store(&channel->fault_errno, (uint32_t)last_error);
        atomic_store(&channel->trace_bytes, 0);
        if (info->si_code > 0 && (number == SIGSEGV || number == SIGBUS)) trace("address %p\n", info->si_addr);
        trace_stack(context);
        nnv_coverage_tell();
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void on_probe(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    if (getpid() != worker) return;
    nnv_coverage_tell(); /* it is killed as soon as there is a trace */
    trace_stack(context);
}

bool nnv_crash_install(struct nnv_channel *c, struct nnv_hub *h) {
    channel = c;
    hub = h;
    worker = getpid();
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return false;
    stack_t alternate = {.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&alternate, NULL) != 0) return false;
    struct sigaction a = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&a.sa_mask);
    a.sa_sigaction = on_fault;
    bool ok = true;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) ok = sigaction(fatal[i], &a, NULL) == 0 && ok;
    a.sa_sigaction = on_probe;
    a.sa_flags |= SA_RESTART;
    return sigaction(nnv_crash_probe_signal(), &a, NULL) == 0 && ok;
}
