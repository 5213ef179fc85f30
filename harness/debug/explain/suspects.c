/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/suspects.h"

#include <string.h>

#include "reference/model/op.h"

/** True if the case is of one operation, which its values accuse. */
static bool is_alone(const struct nnv_report *r, const struct nnv_report_case *c) {
    return c->verdict == NNVTS_FAIL && c->why == NNVTS_WHY_VALUES && strcmp(r->suites.key[c->suite], "ops") == 0;
}

bool nnv_suspects_find(struct nnv_suspects *s, const struct nnv_report *r, const struct nnv_buckets *buckets,
                       const uint32_t *of, struct nnv_arena *arena) {
    const uint32_t n = buckets->map.count;
    s->r = r;
    s->alone = NNV_NEW(arena, size_t, r->ops.count + 1);
    s->chosen = NNV_NEW(arena, size_t, n + 1);
    if (!s->alone || !s->chosen) return false;
    for (uint32_t b = 0; b < n; b++) s->chosen[b] = buckets->item[b].smallest;
    for (size_t i = 0; i < r->count; i++) {
        if (of[i] == NNV_MAP_NONE || !is_alone(r, &r->item[i])) continue;
        s->alone[r->item[i].op]++;
        const struct nnv_report_case *best = &r->item[s->chosen[of[i]]];
        if (!is_alone(r, best) || nnv_case_compared(&r->item[i]) < nnv_case_compared(best)) s->chosen[of[i]] = i;
    }
    return true;
}

size_t nnv_suspects_larger(const struct nnv_suspects *s, const uint32_t *of, size_t i, uint64_t most) {
    uint64_t values = nnv_case_compared(&s->r->item[i]);
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < s->r->count; k++) {
        const struct nnv_report_case *c = &s->r->item[k];
        if (of[k] != of[i] || !is_alone(s->r, c) || nnv_case_compared(c) <= values || nnv_case_compared(c) > most)
            continue;
        values = nnv_case_compared(c);
        best = k;
    }
    return best;
}

const char *nnv_suspects_name(const struct nnv_suspects *s, const struct nnv_told *told) {
    const char *best = NULL;
    size_t most = 0;
    for (uint32_t k = 0; told->count > 1 && k < told->count; k++) {
        const struct nnv_op *op = nnv_op(told->code[k]);
        const uint32_t at = op ? nnv_map_find(&s->r->ops, op->name) : NNV_MAP_NONE;
        if (at == NNV_MAP_NONE || s->alone[at] <= most) continue;
        most = s->alone[at];
        best = op->name;
    }
    return best;
}
