/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay_show.h Relay programs for the verb show. */
#ifndef NNV_CLI_RELAY_SHOW_H
#define NNV_CLI_RELAY_SHOW_H

#include "base/arena.h"
#include "base/text.h"

/** True if the path is called .relay, or .py as TVMScript is. */
bool nnv_cli_is_relay(const char *path);
/** Each function's type, its operators with their counts and the shapes they give, and what nnvts can't run. */
NNV_USE_RESULT enum nnv_status nnv_cli_relay_summary(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                                     struct nnv_err *err);

#endif
