/* SPDX-License-Identifier: Apache-2.0 */
/** @file passed.h Options "option.KEY=VALUE" that an engine passes on to its accelerator, as lists of C strings. */
#ifndef ENGINE_PASSED_H
#define ENGINE_PASSED_H

#include <stdbool.h>

#include "engine.h"

struct engine_passed {
    size_t count;
    char *keys[ENGINE_MOST_OPTIONS], *values[ENGINE_MOST_OPTIONS];
};

/** True: the option is one to pass on, and is kept; *error, a static string, says where it can't be. */
bool engine_pass(struct engine_passed *passed, const struct engine_option *option, const char **error);
void engine_pass_nothing(struct engine_passed *passed);

#endif
