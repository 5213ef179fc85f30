/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

enum { CANNOT_RUN = 127 }; /* as shells say it */

static enum nnv_status not_started(struct nnv_err *err) {
    return nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
}

/* ----------------------------------------------------------- for what it prints */

/** Adds what was written to the file. */
static void add_log(struct nnv_text *t, int fd) {
    char part[4096];
    const off_t bytes = lseek(fd, 0, SEEK_CUR);
    for (off_t at = 0; at < bytes;) {
        const size_t rest = (size_t)(bytes - at); /* the file is longer */
        const ssize_t n = pread(fd, part, rest < sizeof part ? rest : sizeof part, at);
        if (n <= 0) break;
        nnv_text_add_n(t, part, (size_t)n);
        at += n;
    }
}

/** In the new process. */
static _Noreturn void become(const struct nnv_tool *tool, int log) {
    nnv_process_sandbox(log);
    if (!tool->speaks) dup2(STDIN_FILENO, STDERR_FILENO); /* /dev/null */
    if (!tool->folder || chdir(tool->folder) == 0) execvp(tool->words[0], tool->words);
    dprintf(STDERR_FILENO, "%s: %s\n", tool->words[0], strerror(errno));
    _exit(CANNOT_RUN);
}

enum nnv_status nnv_tool_run(const struct nnv_tool *tool, struct nnv_text *out, struct nnv_err *err) {
    struct nnv_end end;
    char how[64];
    /* It cannot grow, and takes what is printed without anybody who reads. */
    const int log = nnv_memory_file("nnvts-output", tool->most, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    if (log < 0) return nnv_fail(err, NNV_IO, "no memory for what it prints: %s", strerror(errno));
    const pid_t pid = nnv_process_fork();
    if (pid == 0) become(tool, log);
    enum nnv_status st = pid < 0 ? not_started(err) : NNV_OK;
    if (pid > 0) nnv_process_wait(pid, tool->timeout_ns, &end);
    if (pid > 0 && (end.timed_out || end.code != CLD_EXITED || end.status != 0))
        st = nnv_fail(err, NNV_INVALID, "it %s", nnv_end_text(&end, how));
    if (st == NNV_OK || tool->speaks) add_log(out, log);
    close(log);
    return st;
}

/* --------------------------------------------------------- because the user asked */

static _Noreturn void become_shell(const struct nnv_shell *c) {
    const int null = c->speaks ? -1 : open("/dev/null", O_RDWR);
    for (const char *const *v = c->variable; v && *v; v += 2) setenv(v[0], v[1], 1);
    if (null >= 0) dup2(null, STDIN_FILENO);
    if (null >= 0) dup2(null, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", c->line, (char *)NULL);
    _exit(CANNOT_RUN);
}

enum nnv_status nnv_shell_run(const struct nnv_shell *command, struct nnv_end *end, struct nnv_err *err) {
    nnv_process_let_stay(true);
    const pid_t pid = nnv_process_fork();
    if (pid == 0) become_shell(command);
    const enum nnv_status st = pid < 0 ? not_started(err) : NNV_OK;
    if (pid > 0) nnv_process_wait(pid, command->timeout_ns, end);
    nnv_process_let_stay(false);
    return st;
}
