/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"

/** A list grows in wide steps while its room is only promised: pages cost what they cost when they are written to. */
enum { FEW = 64, MANY = 16 * 16 * 16 * FEW, WIDE_STEP = 16, STEP = 4 };

/** A copy of s in the list's arena; before: the same member of the case before, which is often equal. */
static bool copy(struct nnv_arena *arena, const char *before, const char *s, const char **to) {
    *to = before && strcmp(before, s) == 0 ? before : nnv_arena_strdup(arena, s);
    return *to != NULL;
}

static bool grow(struct nnv_case_list *list) {
    const size_t cap = !list->cap ? FEW : list->cap * (list->cap < MANY ? WIDE_STEP : STEP);
    struct nnv_case *grown = cap <= SIZE_MAX / 2 / sizeof *grown ? nnv_large_alloc(cap * sizeof *grown) : NULL;
    if (!grown) return false;
    if (list->count) memcpy(grown, list->item, list->count * sizeof *grown);
    free(list->item);
    list->item = grown;
    list->cap = cap;
    return true;
}

enum nnv_status nnv_case_add(struct nnv_case_list *list, const struct nnv_case *c, struct nnv_err *err) {
    if (list->count == list->cap && !grow(list))
        return nnv_fail(err, NNV_NO_MEMORY, "out of memory for more than %zu cases", list->count);
    static const struct nnv_case none;
    const struct nnv_case *before = list->count ? &list->item[list->count - 1] : &none;
    struct nnv_case added = *c;
    if (!copy(list->arena, NULL, c->name, &added.name) || !copy(list->arena, before->suite, c->suite, &added.suite) ||
        !copy(list->arena, before->op, c->op, &added.op) || !copy(list->arena, before->type, c->type, &added.type) ||
        !copy(list->arena, before->tags, c->tags, &added.tags))
        return nnv_fail(err, NNV_NO_MEMORY, "out of memory for a case");
    list->item[list->count++] = added;
    return NNV_OK;
}

void nnv_case_json(struct nnv_json_out *j, const struct nnv_case *c) {
    nnv_json_string(j, "case", c->name);
    nnv_json_string(j, "suite", c->suite);
    nnv_json_string(j, "op", c->op);
    nnv_json_string(j, "type", c->type);
    nnv_json_string(j, "tags", c->tags);
}

bool nnv_case_has_tag(const struct nnv_case *c, const char *tag) {
    const size_t n = strlen(tag);
    for (const char *t = c->tags; *t != '\0'; t += strcspn(t, " "), t += strspn(t, " "))
        if (strcspn(t, " ") == n && memcmp(t, tag, n) == 0) return true;
    return false;
}
