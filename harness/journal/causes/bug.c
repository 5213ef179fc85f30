/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/causes/bug.h"

#include <stdlib.h>
#include <string.h>

#include "harness/journal/causes/condition.h"
#include "harness/journal/causes/group.h"
#include "harness/journal/verdict.h"

enum { NAMES_SHOWN = 3 };

/** The mode in which everything failed, where it is one alone and not the synchronous one; else NULL. */
static const char *only_mode(const struct nnv_report *r, const uint32_t *of) {
    uint32_t mode = NNV_MAP_NONE;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        if (of[i] == NNV_MAP_NONE) continue;
        const uint32_t its = c->more->mode;
        if (its == NNV_MAP_NONE || (mode != NNV_MAP_NONE && mode != its)) return NULL;
        mode = its;
    }
    return mode == NNV_MAP_NONE || strcmp(r->modes.key[mode], "sync") == 0 ? NULL : r->modes.key[mode];
}

/* ------------------------------------------------------------------------ bugs */

/** "A, B, C and 2 more" of the names that are counted, the most frequent first; empty names aside. */
static const char *names_of(const struct nnv_map *names, const uint32_t *count, struct nnv_arena *arena, uint32_t *of) {
    struct nnv_text t = {0};
    uint32_t best[NAMES_SHOWN], n = 0;
    *of = 0;
    for (uint32_t i = 0; i < names->count; i++) *of += count[i] > 0 && *names->key[i];
    for (; n < NAMES_SHOWN && n < *of; n++) {
        best[n] = NNV_MAP_NONE;
        for (uint32_t i = 0; i < names->count; i++) {
            bool taken = count[i] == 0 || !*names->key[i];
            for (uint32_t k = 0; k < n; k++) taken = taken || best[k] == i;
            if (!taken && (best[n] == NNV_MAP_NONE || count[i] > count[best[n]])) best[n] = i;
        }
        nnv_text_addf(&t, "%s%s", n ? ", " : "", names->key[best[n]]);
    }
    if (*of > n) nnv_text_addf(&t, " and %u more", *of - n);
    const char *kept = t.failed ? NULL : nnv_arena_strdup(arena, t.data ? t.data : "");
    nnv_text_free(&t);
    return kept;
}

/**
 * The bucket that a bug is told by: of those that are explained, or else of all, the first, which is the fullest; a
 * mistake before a promise. */
static bool tells_better(const struct nnv_bucket *b, const struct nnv_bug *bug) {
    return bug->count == 0 || (b->explained && (!bug->explained || (bug->promise && !b->promise)));
}

static void take_bucket(struct nnv_bug *bug, const struct nnv_bucket *b) {
    const bool better = tells_better(b, bug);
    bug->late = bug->late || b->why == NNVTS_WHY_LATE;
    if (better) {
        bug->verdict = b->verdict;
        bug->words = nnv_bucket_is_of_values(b) ? nnv_why_words(b->why) : b->like;
        bug->explained = b->explained;
        bug->promise = b->promise;
        bug->smallest = b->smallest;
    }
    if (bug->count == 0 || b->first < bug->first) bug->first = b->first;
    bug->count += b->count;
}

/** What conditions may have in common. */
enum aspect { ANYTHING, WHOLE, PART, ELEMENTS };

static bool has(const struct nnv_cause_condition *c, enum aspect aspect, const char *text) {
    switch (aspect) {
    case WHOLE:
        return strcmp(c->told, text) == 0;
    case PART:
        return nnv_condition_has(c, text);
    case ELEMENTS:
        return c->elements && strcmp(c->elements, text) == 0;
    default:
        return true;
    }
}

/** The cases of the bug of first bucket n whose buckets have a condition that says this. */
static size_t cases_that_say(const struct nnv_grouping *g, uint32_t n, enum aspect aspect, const char *text) {
    const struct nnv_buckets *buckets = &g->bugs->buckets;
    size_t cases = 0;
    for (uint32_t b = n; b < buckets->map.count; b++)
        if (nnv_group_root(g, b) == n && buckets->item[b].where && has(buckets->item[b].where, aspect, text))
            cases += buckets->item[b].count;
    return cases;
}

/** True if nearly all cases of the bug say this; *most: or most of those of which there is something to say. */
static bool says(const struct nnv_grouping *g, uint32_t n, size_t count, enum aspect aspect, const char *text,
                 bool *most) {
    const size_t cases = cases_that_say(g, n, aspect, text), known = cases_that_say(g, n, ANYTHING, NULL);
    *most = 2 * cases > known && 4 * cases >= count;
    return 10 * cases >= 9 * count;
}

/** Adds the parts of a condition that all have, or else, as "mostly", those that most have; false: there are none. */
static bool add_common_parts(const struct nnv_grouping *g, uint32_t n, size_t count,
                             const struct nnv_cause_condition *where, bool all, struct nnv_text *t) {
    const size_t before = t->len;
    const char *p;
    bool most;
    for (size_t i = 0; (p = nnv_condition_part(where, i)) != NULL; i++) {
        if (!(says(g, n, count, PART, p, &most) || (most && !all && where->terms > 0))) continue;
        nnv_text_add(t, t->len > before ? " and " : where->situation ? "" : all ? "only where " : "mostly where ");
        nnv_text_add(t, p);
    }
    return t->len > before;
}

/** Adds what all or most say of elements; false: nothing. */
static bool add_common_elements(const struct nnv_grouping *g, uint32_t n, size_t count, const char *elements,
                                struct nnv_text *t) {
    bool most;
    const bool all = says(g, n, count, ELEMENTS, elements, &most);
    if (all || most) nnv_text_addf(t, "%s%s%s", t->len ? "; " : "", all ? "" : "mostly ", elements);
    return all || most;
}

/** True if nearly all cases of the bug are of buckets of which most cases fail. */
static bool is_often(const struct nnv_grouping *g, uint32_t n, size_t count) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t cases = 0;
    for (uint32_t b = n; b < all->map.count; b++)
        if (nnv_group_root(g, b) == n && all->item[b].where && all->item[b].where->often) cases += all->item[b].count;
    return 10 * cases >= 9 * count;
}

/** Of the fullest bucket of the bug that has one: the first. NULL: none has. */
static const struct nnv_cause_condition *first_condition(const struct nnv_grouping *g, uint32_t n) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t b = n; b < all->map.count; b++)
        if (nnv_group_root(g, b) == n && all->item[b].where) return all->item[b].where;
    return NULL;
}

/**
 * A bug of several buckets has the condition of one of them only if nearly all of its cases have it; else what of it
 * nearly all have, or most, without the numbers of cases, which are of this one. False: no memory.
 */
static bool tell_common_condition(const struct nnv_grouping *g, uint32_t n, struct nnv_bug *bug) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    struct nnv_text t = {0};
    bool most, parts = false, elements = false;
    const struct nnv_cause_condition *first = first_condition(g, n);
    if (first) bug->where = first->told;
    if (!first || bug->count == all->item[n].count) return true;
    /* what counts cases is true of its bucket alone */
    if (nnv_condition_part(first, 0) && says(g, n, bug->count, WHOLE, first->told, &most)) return true;
    for (uint32_t b = n; b < all->map.count && !parts; b++)
        if (nnv_group_root(g, b) == n)
            parts = add_common_parts(g, n, bug->count, all->item[b].where, true, &t) ||
                    add_common_parts(g, n, bug->count, all->item[b].where, false, &t);
    for (uint32_t b = n; b < all->map.count && !elements; b++)
        if (nnv_group_root(g, b) == n && all->item[b].where && all->item[b].where->elements)
            elements = add_common_elements(g, n, bug->count, all->item[b].where->elements, &t);
    if (t.len == 0 && is_often(g, n, bug->count)) nnv_text_add(&t, "in most cases");
    bug->where = t.len > 0 && !t.failed ? nnv_arena_strdup(all->arena, t.data) : NULL;
    const bool ok = !t.failed && (bug->where || t.len == 0);
    nnv_text_free(&t);
    return ok;
}

/** True if a mistake tells a bug of which twice as many cases were tried in vain: it is part of something else. */
static bool is_mostly_unexplained(const struct nnv_grouping *g, uint32_t n, const struct nnv_bug *bug) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t explained = 0, tried = 0;
    for (uint32_t b = n; b < all->map.count; b++) {
        if (nnv_group_root(g, b) != n) continue;
        explained += all->item[b].explained ? all->item[b].count : 0;
        tried += all->item[b].tried;
    }
    return bug->explained && !bug->promise && tried > 2 * explained;
}

static int fuller(const void *pa, const void *pb) {
    const struct nnv_bug *a = pa, *b = pb;
    if (a->late != b->late) return a->late ? -1 : 1;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/** Operations and types of the bugs, from the cases themselves. */
static enum nnv_status name_all(struct nnv_grouping *g, struct nnv_err *err) {
    struct nnv_bugs *bugs = g->bugs;
    const struct nnv_map *ops = &g->r->ops, *types = &g->r->types;
    uint32_t *op = calloc((size_t)bugs->count * ops->count + 1, sizeof *op);
    uint32_t *type = calloc((size_t)bugs->count * types->count + 1, sizeof *type), ntypes;
    bool ok = op && type;
    for (size_t i = 0; ok && i < g->r->count; i++) {
        if (bugs->of[i] == NNV_MAP_NONE) continue;
        op[(size_t)bugs->of[i] * ops->count + g->r->item[i].op]++;
        type[(size_t)bugs->of[i] * types->count + g->r->item[i].type]++;
    }
    for (uint32_t k = 0; ok && k < bugs->count; k++) {
        struct nnv_bug *bug = &bugs->item[k];
        bug->ops = names_of(ops, op + (size_t)k * ops->count, bugs->buckets.arena, &bug->nops);
        bug->types = names_of(types, type + (size_t)k * types->count, bugs->buckets.arena, &ntypes);
        ok = bug->ops && bug->types;
    }
    free(op);
    free(type);
    return ok ? NNV_OK : nnv_no_memory(err);
}

/** What the records of cases that nothing explains have in common; of[i] is still the bucket of case i. */
static const char *plain_words(const struct nnv_grouping *g, uint32_t root) {
    enum { LOOKED_AT = 64 };
    uint32_t records = 0, tried = 0, passed = 0, nan = 0;
    for (size_t i = 0; i < g->r->count && records < LOOKED_AT; i++) {
        const uint32_t b = g->bugs->of[i];
        struct nnv_err ignored = {0};
        json_t *record = NULL;
        if (b == NNV_MAP_NONE || nnv_group_root(g, b) != root) continue;
        if (nnv_report_record(g->r, i, &record, &ignored) != NNV_OK) break;
        const char *again = nnv_json_text(record, "again", "");
        const json_t *worst = json_object_get(json_array_get(json_object_get(record, "outputs"), 0), "worst");
        records++;
        tried += *again != '\0';
        passed += strcmp(again, nnv_verdict_name(NNVTS_PASS)) == 0;
        nan += strcmp(nnv_json_text(worst, "actual", ""), "NaN") == 0;
        json_decref(record);
    }
    if (2 * nan > records) return "NaN in place of numbers";
    return 2 * passed > tried ? "values are wrong, but not every time" : nnv_why_words(NNVTS_WHY_VALUES);
}

/** Says of the bug of first bucket n for how many reasons it is one, or in which kind of case alone. False: no memory.
 */
static bool tell_family(const struct nnv_grouping *g, uint32_t n, struct nnv_bug *bug) {
    struct nnv_arena *arena = g->bugs->buckets.arena;
    bug->family = g->reasons[n] && !g->kind[n] && !bug->explained;
    if (g->kind[n] && !bug->where)
        bug->where = nnv_arena_printf(arena, "only in cases of the kind %s", g->kind[n]);
    else if (bug->family && bug->verdict == NNVTS_CRASH)
        bug->words = nnv_arena_printf(arena, "%s, at %u places", bug->words, g->reasons[n]);
    else if (bug->family)
        bug->words = nnv_arena_printf(arena, "%s, for %u reasons; such as: %s",
                                      nnv_why_words(g->bugs->buckets.item[n].why), g->reasons[n], bug->words);
    return bug->words && (!g->kind[n] || bug->where);
}

/** What a bucket of wrong values says; NULL: nothing. *length of it. */
typedef const char *said_fn(const struct nnv_bucket *b, size_t *length);

/** Beyond numbers, such as "it is output # of the execution before". */
static const char *beyond_numbers(const struct nnv_bucket *b, size_t *length) {
    const char *allowed = strstr(b->like, ", allowed "), *words = allowed ? strstr(allowed, "; ") : NULL;
    const char *said = !strstr(b->like, " wrong") ? b->like : words ? words + 2 : NULL;
    if (said) *length = strlen(said);
    return said;
}

/** The step whose values are wrong, such as "execute of a model prepared with its own cache". */
static const char *step_of(const struct nnv_bucket *b, size_t *length) {
    const char *output = strstr(b->like, ": output ");
    if (!output || !strstr(output, " wrong")) return NULL;
    *length = (size_t)(output - b->like);
    return memchr(b->like, ' ', *length) ? b->like : NULL; /* that it was an execution says nothing */
}

/** What nearly all cases of a bug of wrong values say; NULL: they say nothing, or different things. */
static const char *agreed(const struct nnv_grouping *g, uint32_t n, size_t count, said_fn *say, size_t *length) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    const char *words = NULL;
    size_t cases = 0;
    for (uint32_t b = n; b < all->map.count; b++) {
        size_t its = 0;
        const bool asked = nnv_group_root(g, b) == n && nnv_bucket_is_of_values(&all->item[b]);
        const char *one = asked ? say(&all->item[b], &its) : NULL;
        if (!one) continue;
        if (!words) { /* the fullest that says something comes first */
            words = one;
            *length = its;
        }
        cases += its == *length && memcmp(words, one, its) == 0 ? all->item[b].count : 0;
    }
    return 10 * cases >= 9 * count ? words : NULL;
}

/** A bug of wrong values is told by the step and what nearly all of its cases say beyond numbers. False: no memory. */
static bool tell_beyond_numbers(const struct nnv_grouping *g, uint32_t n, struct nnv_bug *bug) {
    static said_fn *const fns[] = {step_of, beyond_numbers};
    if (bug->explained || bug->words != nnv_why_words(NNVTS_WHY_VALUES)) return true;
    for (size_t i = 0; i < sizeof fns / sizeof *fns && bug->words; i++) {
        size_t length = 0;
        const char *words = agreed(g, n, bug->count, fns[i], &length);
        if (words) bug->words = nnv_arena_printf(g->bugs->buckets.arena, "%s; %.*s", bug->words, (int)length, words);
    }
    return bug->words != NULL;
}

/** Makes bugs of the groups; of[i] is the bucket of case i, and becomes its bug. */
static enum nnv_status make_bugs(struct nnv_grouping *g, struct nnv_err *err) {
    struct nnv_bugs *bugs = g->bugs;
    const uint32_t n = bugs->buckets.map.count;
    uint32_t *bug_of = calloc((size_t)n + 1, sizeof *bug_of), *rank = calloc((size_t)n + 1, sizeof *rank);
    bugs->item = NNV_NEW(bugs->buckets.arena, struct nnv_bug, n);
    bool ok = bug_of && rank && bugs->item;
    for (uint32_t b = 0; ok && b < n; b++) {
        const uint32_t root = nnv_group_root(g, b);
        bug_of[b] = root == b ? bugs->count++ : bug_of[root];
        take_bucket(&bugs->item[bug_of[b]], &bugs->buckets.item[b]);
    }
    for (uint32_t k = 0; ok && k < n; k++)
        ok = nnv_group_root(g, k) != k || tell_common_condition(g, k, &bugs->item[bug_of[k]]);
    for (uint32_t k = 0; ok && k < n; k++) ok = nnv_group_root(g, k) != k || tell_family(g, k, &bugs->item[bug_of[k]]);
    const uint32_t plain = g->plain == NNV_MAP_NONE ? NNV_MAP_NONE : nnv_group_root(g, g->plain);
    for (uint32_t k = 0; ok && k < n; k++) {
        struct nnv_bug *bug = &bugs->item[bug_of[k]];
        if (k != plain && (nnv_group_root(g, k) != k || !is_mostly_unexplained(g, k, bug))) continue;
        bug->explained = false;
        bug->words = plain_words(g, k);
    }
    for (uint32_t k = 0; ok && k < n; k++)
        ok = nnv_group_root(g, k) != k || tell_beyond_numbers(g, k, &bugs->item[bug_of[k]]);
    for (size_t i = 0; ok && i < g->r->count; i++)
        if (bugs->of[i] != NNV_MAP_NONE) bugs->of[i] = bug_of[bugs->of[i]];
    if (ok && bugs->count) qsort(bugs->item, bugs->count, sizeof *bugs->item, fuller);
    for (uint32_t k = 0; ok && k < bugs->count; k++) rank[bugs->of[bugs->item[k].first]] = k;
    for (size_t i = 0; ok && i < g->r->count; i++)
        if (bugs->of[i] != NNV_MAP_NONE) bugs->of[i] = rank[bugs->of[i]];
    free(bug_of);
    free(rank);
    return ok ? name_all(g, err) : nnv_no_memory(err);
}

/** Says of the bug in which mode alone it shows. */
static enum nnv_status name_mode(struct nnv_bug *bug, const char *mode, struct nnv_arena *arena, struct nnv_err *err) {
    bug->where = nnv_arena_printf(arena, "only in executions of the mode %s", mode);
    return bug->where ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_bugs_of(const struct nnv_report *report, struct nnv_bugs *bugs, struct nnv_err *err) {
    struct nnv_grouping g = {.r = report, .bugs = bugs, .plain = NNV_MAP_NONE};
    bugs->of = malloc((report->count + 1) * sizeof *bugs->of);
    if (!bugs->of) return nnv_no_memory(err);
    enum nnv_status st = nnv_buckets_of(report, &bugs->buckets, bugs->of, err);
    const uint32_t n = bugs->buckets.map.count;
    if (st != NNV_OK || n == 0) return st;
    g.owner = calloc(3 * (size_t)n, sizeof *g.owner); /* a bucket has three keys at most */
    g.parent = calloc(n, sizeof *g.parent);
    g.promised = calloc(n, sizeof *g.promised);
    g.reasons = calloc(n, sizeof *g.reasons);
    g.kind = calloc(n, sizeof *g.kind);
    if (!g.owner || !g.parent || !g.promised || !g.reasons || !g.kind) st = nnv_no_memory(err);
    for (uint32_t b = 0; st == NNV_OK && b < n; b++) g.parent[b] = b;
    if (st == NNV_OK) st = nnv_group_by_keys(&g, err);
    if (st == NNV_OK) st = nnv_group_families(&g, err);
    if (st == NNV_OK) st = nnv_group_shared(&g, err);
    const char *mode = st == NNV_OK ? only_mode(report, bugs->of) : NULL;
    for (uint32_t b = 1; mode && b < n; b++) nnv_group_join(&g, 0, b);
    if (st == NNV_OK) st = make_bugs(&g, err);
    if (st == NNV_OK && mode) st = name_mode(&bugs->item[0], mode, bugs->buckets.arena, err);
    nnv_map_free(&g.keys);
    free(g.owner);
    free(g.parent);
    free(g.promised);
    free(g.reasons);
    free(g.kind);
    return st;
}

void nnv_bugs_free(struct nnv_bugs *bugs) {
    nnv_buckets_free(&bugs->buckets);
    free(bugs->of);
    *bugs = (struct nnv_bugs){0};
}
