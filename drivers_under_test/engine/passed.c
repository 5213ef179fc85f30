/* SPDX-License-Identifier: Apache-2.0 */
/** @file passed.c See passed.h. */
#include "passed.h"

#include <stdlib.h>
#include <string.h>

bool engine_pass(struct engine_passed *passed, const struct engine_option *option, const char **error) {
    static const char prefix[] = "option.";
    const size_t n = strlen(prefix);
    if (strncmp(option->key, prefix, n) != 0) return false;
    char *key = strdup(option->key + n), *value = strdup(option->value);
    if (key && value && passed->count < ENGINE_MOST_OPTIONS) {
        passed->keys[passed->count] = key;
        passed->values[passed->count++] = value;
        return true;
    }
    *error = key && value ? "too many options" : "out of memory";
    free(key);
    free(value);
    return true;
}

void engine_pass_nothing(struct engine_passed *passed) {
    for (size_t i = 0; i < passed->count; i++) {
        free(passed->keys[i]);
        free(passed->values[i]);
    }
    passed->count = 0;
}
