/* SPDX-License-Identifier: Apache-2.0 */
/** @file where.c Where a cause shows: in which elements, and whether its cases fail alone. */
#include "harness/debug/explain/where.h"

#include <string.h>

#include "harness/debug/separate/elements.h"
#include "harness/debug/separate/separate_run.h"
#include "harness/journal/verdict.h"
#include "reference/faults/faults.h"

enum {
    ELEMENT_DUMPS = 8, /* of a cause, whose elements are compared */
    ELEMENT_LEAST = 2, /* dumps without which nothing is said of elements: those of one are all alike */
    REPLAYED = 400,    /* records of a cause that are asked how the replay of their dump ended */
};

/** True if the words say which elements are wrong: a mistake's, but for that some are not written. */
static bool tells_elements(const struct nnv_explaining_run *x, size_t at) {
    return x->words[at] && !x->promise[at] && strcmp(x->words[at], nnv_fault_untouched()->words) != 0;
}

enum nnv_status nnv_explaining_elements(struct nnv_explaining_run *x, uint32_t cause, struct nnv_observation *seen,
                                        struct nnv_arena *arena, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    size_t n = 0, dumps = 0;
    for (size_t i = 0; i < x->list.count; i++)
        if (x->cause_of[x->of[x->at[i]]] == cause && tells_elements(x, x->at[i])) return NNV_OK;
    nnv_arena_reset(arena);
    for (size_t i = 0; st == NNV_OK && i < x->list.count && dumps < ELEMENT_DUMPS; i++) {
        const size_t at = x->at[i], before = n;
        struct nnv_spec *spec;
        enum nnv_precision precision;
        bool has_dump;
        if (!x->told[i]->elements || x->cause_of[x->of[at]] != cause) continue;
        st = nnv_explaining_read(x, at, &has_dump, &spec, &precision, err);
        if (!spec) continue;
        n += nnv_observe_elements(spec, x->told[i]->elements, NNV_OBSERVATIONS / ELEMENT_DUMPS, arena, seen + n);
        for (size_t k = before; k < n; k++) seen[k].held = dumps % 2 == 1; /* of another dump, or it is no check */
        dumps += n > before;
    }
    if (st != NNV_OK || dumps < ELEMENT_LEAST) return st;
    return nnv_separate(seen, n, NNV_ELEMENTS, x->arena, &x->causes[cause].where.elements) ? NNV_OK
                                                                                           : nnv_no_memory(err);
}

enum nnv_status nnv_explaining_replays(struct nnv_explaining_run *x, uint32_t cause, struct nnv_err *err) {
    size_t seen = 0, replayed = 0, passed = 0;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; st == NNV_OK && i < x->r->count && seen < REPLAYED; i++) {
        json_t *record = NULL;
        if (x->of[i] == NNV_MAP_NONE || x->cause_of[x->of[i]] != cause || x->r->item[i].why != NNVTS_WHY_VALUES)
            continue;
        seen++;
        st = nnv_report_record(x->r, i, &record, err);
        const char *again = nnv_json_text(record, "again", "");
        replayed += *again != '\0';
        passed += strcmp(again, nnv_verdict_name(NNVTS_PASS)) == 0;
        json_decref(record);
    }
    if (st != NNV_OK || passed < 2 || 4 * passed < 3 * replayed) return st;
    struct nnv_separation *c = &x->causes[cause];
    c->where = (struct nnv_where){.kind = NNV_WHERE_ALONE, .part = passed, .whole = replayed};
    c->known = c->alone = true;
    return NNV_OK;
}
