/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/suites.h"

#include <string.h>

static const struct nnv_suite *const suites[] = {
#define X(name) &nnv_suite_##name,
#include "harness/suites/suites.def"
#undef X
};

const struct nnv_suite *const *nnv_suites(size_t *count) {
    *count = sizeof suites / sizeof *suites;
    return suites;
}

const struct nnv_suite *nnv_suite_by_name(const char *name) {
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (strcmp(suites[i]->name, name) == 0) return suites[i];
    return NULL;
}
