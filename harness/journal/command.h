/* SPDX-License-Identifier: Apache-2.0 */
/** @file command.h The commands that show a failure again; made here and nowhere else. */
#ifndef NNV_JOURNAL_COMMAND_H
#define NNV_JOURNAL_COMMAND_H

#include "harness/journal/record.h"

/** Appends the command that runs these cases again, of the suites that they are of. */
void nnv_command_run(const struct nnv_run_facts *facts, const struct nnv_case *const *cases, size_t count,
                     struct nnv_text *out);
/** Appends the command that judges a dump, a path, again; the dump says by which profile. */
void nnv_command_replay(const char *driver, const char *dump, struct nnv_text *out);
/** Appends a command of nnv_command_replay() for another path of its dump; any other command as it is. */
void nnv_command_retarget(const char *command, const char *dump, struct nnv_text *out);

#endif
