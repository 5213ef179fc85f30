/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/program.h"
#include "base/text.h"
#include "reference/spec/spec.h"

enum { CANNOT_SAY = 125, NOT_EXECUTABLE, NOT_FOUND };

/** Writes the spec to a file of its own, which the path names. */
static enum nnv_status write_spec(const struct nnv_spec *spec, char *path, struct nnv_err *err) {
    struct nnv_text t = {0};
    const int fd = mkstemps(path, (int)strlen(".json"));
    enum nnv_status st = fd >= 0 ? NNV_OK : nnv_fail(err, NNV_IO, "%s: cannot be made", path);
    nnv_spec_write_json(spec, false, &t);
    nnv_text_add(&t, "\n");
    if (st == NNV_OK && t.failed) st = nnv_no_memory(err);
    if (st == NNV_OK && write(fd, t.data, t.len) != (ssize_t)t.len)
        st = nnv_fail(err, NNV_IO, "%s: cannot be written", path);
    if (fd >= 0) close(fd);
    nnv_text_free(&t);
    return st;
}

/** The command with the path for each {}, or behind it where it has none. */
static void fill_in(const char *command, const char *path, struct nnv_text *out) {
    const char *at = command;
    for (const char *hole; (hole = strstr(at, "{}")) != NULL; at = hole + 2) {
        nnv_text_add_n(out, at, (size_t)(hole - at));
        nnv_text_add(out, path);
    }
    nnv_text_add(out, at);
    if (at == command) nnv_text_addf(out, " %s", path);
}

static void read_end(const struct nnv_end *end, struct nnv_opinion *o) {
    char how[64];
    snprintf(o->reason, sizeof o->reason, "the check %s", nnv_end_text(end, how));
    o->of_check = true;
    if (end->timed_out) {
        o->verdict = NNVTS_TIMEOUT;
    } else if (end->code != CLD_EXITED) {
        o->verdict = NNVTS_CRASH;
        o->signal = end->status;
    } else {
        o->verdict = end->status == 0 ? NNVTS_PASS : end->status == CANNOT_SAY ? NNVTS_UNSUPPORTED : NNVTS_FAIL;
    }
    if (o->verdict == NNVTS_PASS) *o->reason = '\0';
}

enum nnv_status nnv_check_judge(const char *command, const struct nnv_spec *spec, uint64_t timeout_ns,
                                struct nnv_opinion *opinion, struct nnv_err *err) {
    char path[4096];
    struct nnv_text filled = {0};
    struct nnv_end end;
    const uint64_t start = nnv_now_ns();
    *opinion = (struct nnv_opinion){.verdict = NNVTS_ERROR};
    snprintf(path, sizeof path, "%s/nnvts-check-XXXXXX.json", nnv_file_temp());
    enum nnv_status st = write_spec(spec, path, err);
    if (st != NNV_OK) return st;
    fill_in(command, path, &filled);
    const struct nnv_shell shell = {.line = filled.data, .timeout_ns = timeout_ns};
    st = filled.failed ? nnv_no_memory(err) : nnv_shell_run(&shell, &end, err);
    if (st == NNV_OK) {
        read_end(&end, opinion);
        if (end.code == CLD_EXITED && (end.status == NOT_EXECUTABLE || end.status == NOT_FOUND) && !end.timed_out)
            st = nnv_fail(err, NNV_INVALID, "--check: '%s' cannot be run: the shell ended with %d, %s", filled.data,
                          end.status, end.status == NOT_FOUND ? "command not found" : "not executable");
    } else {
        st = nnv_at(err, st, "--check");
    }
    opinion->ns = nnv_now_ns() - start;
    unlink(path);
    nnv_text_free(&filled);
    return st;
}
