/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/causes/condition.h"

#include <string.h>

const char *nnv_condition_part(const struct nnv_cause_condition *c, size_t i) {
    if (!c) return NULL;
    if (c->situation) return i == 0 ? c->situation : NULL;
    return i < c->terms ? c->term[i] : NULL;
}

bool nnv_condition_has(const struct nnv_cause_condition *c, const char *part) {
    const char *p;
    for (size_t i = 0; (p = nnv_condition_part(c, i)) != NULL; i++)
        if (strcmp(p, part) == 0) return true;
    return false;
}
