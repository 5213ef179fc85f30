/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/restore.h"

#include <fenv.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

void nnv_restore_thread(void) {
    nnv_restore_flags();
    fesetenv(FE_DFL_ENV);
    /* The C locale is a constant of the C library: nothing is allocated. */
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c != (locale_t)0) uselocale(c);
}

static const int limits[NNV_LIMITS_KEPT] = {RLIMIT_AS,     RLIMIT_DATA, RLIMIT_STACK, RLIMIT_FSIZE,
                                            RLIMIT_NOFILE, RLIMIT_CPU,  RLIMIT_NPROC};

static bool restore_limits(struct nnv_process_state *s) {
    bool whole = true;
    s->lowered = false;
    for (int i = 0; i < NNV_LIMITS_KEPT; i++) {
        struct rlimit now;
        struct rlimit *before = &s->limit[i];
        if (getrlimit(limits[i], &now) != 0 || now.rlim_cur >= before->rlim_cur) continue;
        s->lowered = true;
        if (setrlimit(limits[i], before) == 0) continue;
        *before = now;
        whole = false;
    }
    return whole;
}

static enum nnv_status copy_variables(char ***to, struct nnv_arena *arena, struct nnv_err *err) {
    size_t n = 0;
    while (environ != NULL && environ[n] != NULL) n++;
    char **copy = NNV_NEW(arena, char *, n + 1);
    for (size_t i = 0; copy != NULL && i < n; i++)
        if ((copy[i] = nnv_arena_strdup(arena, environ[i])) == NULL) copy = NULL;
    if (copy == NULL) return nnv_no_memory(err);
    *to = copy;
    return NNV_OK;
}

enum nnv_status nnv_process_state_take(struct nnv_process_state *s, struct nnv_arena *arena, struct nnv_err *err) {
    *s = (struct nnv_process_state){0};
    if (getcwd(s->folder, sizeof s->folder) == NULL) s->folder[0] = '\0';
    s->umask = umask(0);
    umask(s->umask);
    for (int i = 1; i <= NNV_SIGNALS_MOST; i++) sigaction(i, NULL, &s->action[i]);
    for (int i = 0; i < NNV_LIMITS_KEPT; i++) getrlimit(limits[i], &s->limit[i]);
    return copy_variables(&s->variables, arena, err);
}

static bool is_handler(const struct sigaction *a) {
    return (a->sa_flags & SA_SIGINFO) != 0 || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static void restore_signals(const struct nnv_process_state *s) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    for (int i = 1; i <= NNV_SIGNALS_MOST; i++) {
        struct sigaction now;
        if (is_handler(&s->action[i]) && sigaction(i, NULL, &now) == 0 && !is_handler(&now))
            sigaction(i, &s->action[i], NULL);
    }
}

/** An environment that was not touched holds the same pointers in the same order; the strings are the process's. */
static void restore_variables(char *const *variables) {
    for (size_t i = 0; variables[i] != NULL; i++) {
        if (environ != NULL && environ[i] != NULL && strcmp(environ[i], variables[i]) == 0) continue;
        const char *equals = strchr(variables[i], '=');
        char name[256];
        if (equals == NULL || equals == variables[i] || (size_t)(equals - variables[i]) >= sizeof name) continue;
        memcpy(name, variables[i], (size_t)(equals - variables[i]));
        name[equals - variables[i]] = '\0';
        const char *value = getenv(name);
        if (value == NULL || strcmp(value, equals + 1) != 0) setenv(name, equals + 1, 1);
    }
}

bool nnv_process_state_restore(struct nnv_process_state *s) {
    char folder[PATH_MAX];
    nnv_restore_thread();
    const bool whole = restore_limits(s);
    if (s->folder[0] != '\0' && (getcwd(folder, sizeof folder) == NULL || strcmp(folder, s->folder) != 0) &&
        chdir(s->folder) != 0)
        folder[0] = '\0'; /* its folder is gone: nothing can be done */
    umask(s->umask);
    prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0); /* that of the thread's beginning */
    restore_signals(s);
    restore_variables(s->variables);
    return whole;
}
