/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs.c All planted bugs. */
#include <string.h>

#include "faulty.h"

#define X(name) extern const struct bug_group bugs_##name;
#include "groups.def"
#undef X

static const struct bug_group *const groups[] = {
#define X(name) &bugs_##name,
#include "groups.def"
#undef X
};

const struct bug *bug_at(size_t i) {
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (i < groups[g]->count) return &groups[g]->bugs[i];
        i -= groups[g]->count;
    }
    return NULL;
}

const struct bug *bug_by_name(const char *name, size_t len) {
    const struct bug *bug;
    for (size_t i = 0; (bug = bug_at(i)); i++)
        if (strlen(bug->name) == len && memcmp(bug->name, name, len) == 0) return bug;
    return NULL;
}
