/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file families.c Wordings of one kind: the same call that answers the same code where it must not, for several
 * reasons; several resources' leaks; several rules that are not checked; the same kind of case that goes wrong in
 * several operations. Who has many of them has one cause.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/journal/causes/group.h"

enum {
    MANY = 3,  /* wordings */
    RARE = 10, /* a kind of case says something if it is one in so many of its suite */
};

/** The end of a wording: what was answered, or what is to be done. */
static const char *tail_of(const char *text) {
    static const char *const begin[] = {" answered ", "; ", ", "};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        const char *last = NULL;
        for (const char *at = text; (at = strstr(at, begin[i])); at++) last = at;
        if (last) return last;
    }
    return text;
}

/** "size_64k" of "ops/ADD/float32/size_64k/0": what the case draws; its length 0: another kind of name. */
static const char *kind_of(const char *name, size_t *n) {
    enum { BEFORE = 3 };
    for (int i = 0; i < BEFORE; i++) {
        const char *slash = strchr(name, '/');
        if (!slash) {
            *n = 0;
            return "";
        }
        name = slash + 1;
    }
    *n = strcspn(name, "/");
    return name[*n] == '/' ? name : "";
}

enum { KIND = 128 }; /* room for what kind_in_suite() gives */

/** "2\tsize_64k": the number of the suite, and the kind; "" where the case has none. */
static const char *kind_in_suite(const struct nnv_report_case *c, char *buf, size_t room) {
    size_t n;
    const char *kind = kind_of(c->name, &n);
    *buf = '\0';
    if (n > 0) snprintf(buf, room, "%" PRIu32 "\t%.*s", c->suite, (int)n, kind);
    return buf;
}

/** What is counted of the run to find kinds: of each suite, and of each kind that a bucket begins with. */
struct counts {
    struct nnv_map kinds;
    size_t *of_kind, *of_suite;
};

/** Counts the cases of the kinds that buckets of wrong values begin with. */
static bool count_kinds(const struct nnv_grouping *g, struct counts *counts) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    char kind[KIND];
    counts->kinds.arena = all->arena;
    for (uint32_t b = 0; b < all->map.count; b++) {
        if (all->item[b].why != NNVTS_WHY_VALUES || all->item[b].stepwise) continue;
        const char *kept = nnv_arena_strdup(all->arena, kind_in_suite(&g->r->item[all->item[b].first], kind, KIND));
        if (!kept || (*kept && nnv_map_add(&counts->kinds, kept) == NNV_MAP_NONE)) return false;
    }
    counts->of_kind = NNV_NEW(all->arena, size_t, counts->kinds.count + 1);
    counts->of_suite = NNV_NEW(all->arena, size_t, g->r->suites.count + 1);
    if (!counts->of_kind || !counts->of_suite) return false;
    for (size_t i = 0; counts->kinds.count > 0 && i < g->r->count; i++) {
        const uint32_t k = nnv_map_find(&counts->kinds, kind_in_suite(&g->r->item[i], kind, KIND));
        counts->of_suite[g->r->item[i].suite]++;
        if (k != NNV_MAP_NONE) counts->of_kind[k]++;
    }
    return true;
}

/** For each bucket of wrong values the kind that all its cases are of; NULL: of several, or of a frequent one. */
static enum nnv_status find_kinds(const struct nnv_grouping *g, const char **kind, struct nnv_err *err) {
    const struct nnv_bugs *bugs = g->bugs;
    struct counts counts = {0};
    char own[KIND];
    if (!count_kinds(g, &counts)) return nnv_no_memory(err);
    for (size_t i = 0; counts.kinds.count > 0 && i < g->r->count; i++) {
        const uint32_t b = bugs->of[i];
        if (b == NNV_MAP_NONE || bugs->buckets.item[b].why != NNVTS_WHY_VALUES || bugs->buckets.item[b].stepwise)
            continue;
        const uint32_t k = nnv_map_find(&counts.kinds, kind_in_suite(&g->r->item[i], own, KIND));
        const char *name = k == NNV_MAP_NONE ? NULL : counts.kinds.key[k];
        if (name && RARE * counts.of_kind[k] >= counts.of_suite[g->r->item[i].suite]) name = NULL;
        if (bugs->buckets.item[b].first == i)
            kind[b] = name;
        else if (kind[b] != name)
            kind[b] = NULL;
    }
    return NNV_OK;
}

/** Adds what the bucket has in common with others of its family; nothing: it has none. */
static void add_family(struct nnv_text *t, const struct nnv_bucket *b, const char *kind) {
    /* who dies at many places of what it is given before anything is computed lacks the checking */
    if (b->verdict == NNVTS_CRASH && !strstr(b->like, "xecut")) nnv_text_addf(t, "crash\t%s", b->like);
    if (b->verdict != NNVTS_FAIL || b->promise) return;
    if (b->explained || nnv_bucket_is_of_values(b)) {
        if (kind) nnv_text_addf(t, "kind\t%s", strchr(kind, '\t') + 1);
        return;
    }
    nnv_text_addf(t, "%d\t", (int)b->why);
    if (b->why == NNVTS_WHY_ACCEPTED || b->why == NNVTS_WHY_SHAPE) return;
    if (b->why != NNVTS_WHY_LEAK) nnv_text_add_n(t, b->like, strcspn(b->like, " "));
    nnv_text_add(t, "\t");
    nnv_text_add(t, tail_of(b->like));
}

enum nnv_status nnv_group_families(struct nnv_grouping *g, struct nnv_err *err) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    struct nnv_map families = {.arena = all->arena};
    const uint32_t n = all->map.count;
    const char **kind = NNV_NEW(all->arena, const char *, n);
    uint32_t *of = NNV_NEW(all->arena, uint32_t, n), *first = NNV_NEW(all->arena, uint32_t, n),
             *count = NNV_NEW(all->arena, uint32_t, n);
    enum nnv_status st = kind && of && first && count ? find_kinds(g, kind, err) : nnv_no_memory(err);
    for (uint32_t b = 0; st == NNV_OK && b < n; b++) {
        struct nnv_text key = {0};
        add_family(&key, &all->item[b], kind[b]);
        of[b] = NNV_MAP_NONE;
        if (key.len > 0) {
            const char *kept = nnv_arena_strdup(all->arena, key.data);
            of[b] = kept ? nnv_map_add(&families, kept) : NNV_MAP_NONE;
            if (of[b] == NNV_MAP_NONE) st = nnv_no_memory(err);
        }
        if (key.failed) st = nnv_no_memory(err);
        nnv_text_free(&key);
        if (st != NNV_OK || of[b] == NNV_MAP_NONE) continue;
        if (count[of[b]] == 0) first[of[b]] = b;
        count[of[b]] += nnv_group_root(g, b) == b;
    }
    for (uint32_t b = 0; st == NNV_OK && b < n; b++)
        if (of[b] != NNV_MAP_NONE && count[of[b]] >= MANY) {
            nnv_group_join(g, first[of[b]], b);
            g->kind[nnv_group_root(g, b)] = kind[b] ? strchr(kind[b], '\t') + 1 : NULL;
        }
    for (uint32_t f = 0; st == NNV_OK && f < families.count; f++)
        if (count[f] >= MANY) g->reasons[nnv_group_root(g, first[f])] = count[f];
    return st;
}
