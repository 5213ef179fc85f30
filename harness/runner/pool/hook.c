/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"

static const uint64_t PATIENCE_NS = UINT64_C(60000000000);

enum nnv_status nnv_hook(const char *option, const char *command, const char *what, const char *name,
                         struct nnv_err *err) {
    struct nnv_end end;
    char how[64];
    nnv_process_let_stay(true);
    const pid_t pid = nnv_process_fork();
    if (pid == 0) {
        setenv("NNVTS_CASE", name, 1);
        setenv("NNVTS_WHAT", what, 1);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    const int number = errno;
    if (pid > 0) nnv_process_wait(pid, PATIENCE_NS, &end);
    nnv_process_let_stay(false);
    if (pid < 0) return nnv_fail(err, NNV_IO, "%s: cannot start a process: %s", option, strerror(number));
    if (!end.timed_out && end.code == CLD_EXITED && end.status == 0) return NNV_OK;
    return nnv_fail(err, NNV_IO, "%s: '%s' %s", option, command, nnv_end_text(&end, how));
}
