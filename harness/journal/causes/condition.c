/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/causes/condition.h"

#include <string.h>

static const char AND[] = " and ";

bool nnv_condition_is(const char *where) { return where && strncmp(where, "in ", 3) != 0; }

/** Where the part ends that begins there. */
static const char *end_of(const char *part, bool several) {
    const char *end = part;
    while (*end && *end != ';' && strncmp(end, " (", 2) != 0 && !(several && strncmp(end, AND, sizeof AND - 1) == 0))
        end++;
    return end;
}

/** Behind what stands in brackets there. */
static const char *behind_brackets(const char *at) {
    while (strncmp(at, " (", 2) == 0 && strchr(at, ')')) at = strchr(at, ')') + 1;
    return at;
}

const char *nnv_condition_part(const char *where, const char *part, size_t *length) {
    static const char begin[] = "where ";
    if (!nnv_condition_is(where)) return NULL;
    const char *first = strstr(where, begin);
    const bool several = first != NULL;
    if (part) {
        const char *next = behind_brackets(end_of(part, several));
        if (!several || strncmp(next, AND, sizeof AND - 1) != 0) return NULL;
        part = next + sizeof AND - 1;
    } else {
        part = several ? first + sizeof begin - 1 : where;
    }
    *length = (size_t)(end_of(part, several) - part);
    return part;
}

const char *nnv_condition_elements(const char *where, size_t *length) {
    const char *at = where ? strstr(where, "in elements where ") : NULL;
    if (at) *length = (size_t)(end_of(at, false) - at);
    return at;
}

bool nnv_condition_has(const char *where, const char *part, size_t length) {
    size_t n;
    for (const char *p = nnv_condition_part(where, NULL, &n); p; p = nnv_condition_part(where, p, &n))
        if (n == length && memcmp(p, part, n) == 0) return true;
    const char *elements = nnv_condition_elements(where, &n);
    return elements && n == length && memcmp(elements, part, n) == 0;
}
