/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/hook.h"

#include <signal.h>

#include "base/process.h"
#include "base/program.h"

static const uint64_t PATIENCE_NS = UINT64_C(60000000000);

enum nnv_status nnv_hook(const char *option, const char *command, const char *what, const char *name,
                         struct nnv_err *err) {
    const char *const variable[] = {"NNVTS_CASE", name, "NNVTS_WHAT", what, NULL};
    const struct nnv_shell shell = {.line = command, .variable = variable, .speaks = true, .timeout_ns = PATIENCE_NS};
    struct nnv_end end;
    char how[64];
    const enum nnv_status st = nnv_shell_run(&shell, &end, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s", option);
    if (!end.timed_out && end.code == CLD_EXITED && end.status == 0) return NNV_OK;
    return nnv_fail(err, NNV_IO, "%s: '%s' %s", option, command, nnv_end_text(&end, how));
}
