/* SPDX-License-Identifier: Apache-2.0 */
/** @file program.h Programs that are run to their end: for what they print, or because the user asked for it. */
#ifndef NNV_BASE_PROGRAM_H
#define NNV_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct nnv_end;
struct nnv_text;

/** A program that is run for what it prints. */
struct nnv_tool {
    char *const *words;  /**< NULL-terminated; the first is looked for in PATH */
    const char *folder;  /**< that it runs in; NULL: this process's */
    size_t most;         /**< bytes that it may print; writing more fails */
    bool speaks;         /**< what it prints on stderr and before it fails is wanted, too */
    uint64_t timeout_ns; /**< then it is killed */
};

/**
 * Runs the tool in a sandbox, with nothing to read, and adds to out what it prints. NNV_INVALID: it is not there or
 * did not end well, and how; then nothing is added, unless it speaks. NNV_IO: no process can be started. err may be
 * NULL.
 */
NNV_USE_RESULT enum nnv_status nnv_tool_run(const struct nnv_tool *tool, struct nnv_text *out, struct nnv_err *err);

/** A command of the user. */
struct nnv_shell {
    const char *line;            /**< for /bin/sh */
    const char *const *variable; /**< pairs of name and value that its environment has, too; NULL-terminated, or NULL */
    bool speaks;                 /**< it may read, and all it prints goes to stderr; else neither */
    uint64_t timeout_ns;         /**< then it is killed */
};

/**
 * Runs the command; what it leaves behind outside of its group of processes stays. *end: how it ended. NNV_IO: it
 * cannot be started. One thread at a time may.
 */
NNV_USE_RESULT enum nnv_status nnv_shell_run(const struct nnv_shell *command, struct nnv_end *end, struct nnv_err *err);

#endif
