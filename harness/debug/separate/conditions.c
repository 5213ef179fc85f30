/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/conditions.h"

#include <stdlib.h>
#include <string.h>

static void load(struct nnv_conditions *c, const char *folder, size_t n) {
    struct nnv_err ignored = {0};
    nnv_conditions_free(c);
    c->folder = strndup(folder, n);
    if (!c->folder || nnv_report_load(c->folder, &c->report, &ignored) != NNV_OK) return;
    c->of = malloc((c->report->count + 1) * sizeof *c->of);
    if (c->of && nnv_buckets_of(c->report, &c->buckets, c->of, &ignored) == NNV_OK) return;
    nnv_report_free(c->report);
    c->report = NULL;
}

const char *nnv_condition_of(struct nnv_conditions *c, const char *path, const char *name) {
    static const char below[] = "/dumps/";
    const char *end = strstr(path, below), *next;
    while (end && (next = strstr(end + 1, below))) end = next;
    if (!end) return NULL;
    const size_t n = (size_t)(end - path);
    if (!c->folder || strlen(c->folder) != n || memcmp(c->folder, path, n) != 0) load(c, path, n);
    const uint32_t i = c->report ? nnv_report_find(c->report, name) : NNV_MAP_NONE;
    if (i == NNV_MAP_NONE || c->of[i] == NNV_MAP_NONE) return NULL;
    const struct nnv_cause_condition *where = c->buckets.item[c->of[i]].where;
    return where ? where->told : NULL;
}

void nnv_conditions_free(struct nnv_conditions *c) {
    free(c->folder);
    free(c->of);
    nnv_buckets_free(&c->buckets);
    nnv_report_free(c->report);
    *c = (struct nnv_conditions){0};
}
