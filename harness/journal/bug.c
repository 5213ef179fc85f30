/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/bug.h"

#include <stdlib.h>
#include <string.h>

#include "harness/journal/verdict.h"

enum { NAMES_SHOWN = 3, FRAMES = 32, RULES_MANY = 4 };

/** Grouping the buckets of a report: each points to another of its bug, the first to itself. */
struct grouping {
    const struct nnv_report *r;
    struct nnv_bugs *bugs;
    struct nnv_map keys; /* of what makes buckets one: the number of the first with it */
    uint32_t *owner;     /* of the key's number: that bucket */
    uint32_t *parent;
    uint32_t unchecked,
        rules;      /* the bucket that stands for many missing checks, and how many; rules 0: there are few */
    uint32_t plain; /* a bucket of the group that nothing explains though some of its cases seem to be; NNV_MAP_NONE */
};

static uint32_t root_of(const struct grouping *g, uint32_t n) {
    while (g->parent[n] != n) n = g->parent[n];
    return n;
}

static void join(struct grouping *g, uint32_t a, uint32_t b) {
    a = root_of(g, a);
    b = root_of(g, b);
    g->parent[a > b ? a : b] = a > b ? b : a;
}

/* ------------------------------------------------------------------------ keys */

/** No more is known than that values are wrong: any bug may be behind it. */
static bool is_of_values(const struct nnv_bucket *b) { return b->why == NNVTS_WHY_VALUES && !b->explained; }

/** Adds the text with each mention of the operation as '*'. */
static void add_without(struct nnv_text *t, const char *text, const char *op) {
    const size_t n = strlen(op);
    for (const char *at; n > 0 && (at = strstr(text, op)); text = at + n) {
        nnv_text_add_n(t, text, (size_t)(at - text));
        nnv_text_add(t, "*");
    }
    nnv_text_add(t, text);
}

/** "ANeuralNetworksExecution_compute answered OP_FAILED": what a library itself said at the end of a reason; NULL:
 * nothing. */
static const char *answer_in(const char *text) {
    const char *answer = NULL;
    for (const char *at = text; (at = strstr(at, ": ANeuralNetworks")); at += 2) answer = at + 2;
    return answer && strstr(answer, " answered ") ? answer : NULL;
}

/** Adds the first part of the condition, without how often it holds. */
static void add_condition(struct nnv_text *t, const char *where) {
    const char *of = strstr(where, "where ");
    if (of) where = of;
    const char *count = strstr(where, " ("), *further = strstr(where, " and ");
    const char *end = count && (!further || count < further) ? count : further;
    nnv_text_add_n(t, where, end ? (size_t)(end - where) : strlen(where));
}

/** "in all 12 cases" is none. */
static bool is_condition(const char *where) { return where && strncmp(where, "in ", 3) != 0; }

/** Adds the first frame of the backtrace that is in no library of the system; nothing if there is none. */
static void add_frame(struct nnv_text *t, const char *trace) {
    static const char *const common[] = {"libc.so", "libstdc++", "libgcc_s", "ld-linux", "libpthread", "libm.so"};
    for (int i = 0; trace && *trace && i < FRAMES; i++) {
        const size_t n = strcspn(trace, "\n");
        const char *at = memchr(trace, ' ', n);
        bool of_system = !at;
        for (size_t k = 0; at && k < sizeof common / sizeof *common; k++)
            of_system = of_system || strncmp(at + 1, common[k], strlen(common[k])) == 0;
        if (!of_system) {
            nnv_text_add_n(t, at, (size_t)(trace + n - at));
            return;
        }
        trace += n + (trace[n] != '\0');
    }
}

/** Where a bucket of crashes crashes. */
static enum nnv_status add_crash(struct grouping *g, const struct nnv_bucket *b, struct nnv_text *t,
                                 struct nnv_err *err) {
    json_t *record = NULL;
    const enum nnv_status st = nnv_report_record(g->r, b->smallest, &record, err);
    if (st == NNV_OK) add_frame(t, nnv_json_text(record, "backtrace", NULL));
    json_decref(record);
    return st;
}

/** Joins the bucket with those that have the key, too. */
static enum nnv_status add_key(struct grouping *g, uint32_t n, const struct nnv_text *key, struct nnv_err *err) {
    if (key->failed) return nnv_no_memory(err);
    uint32_t k = nnv_map_find(&g->keys, key->data);
    if (k != NNV_MAP_NONE) {
        join(g, g->owner[k], n);
        return NNV_OK;
    }
    const char *kept = nnv_arena_strdup(g->bugs->buckets.arena, key->data);
    k = kept ? nnv_map_add(&g->keys, kept) : NNV_MAP_NONE;
    if (k == NNV_MAP_NONE) return nnv_no_memory(err);
    g->owner[k] = n;
    return NNV_OK;
}

/** Joins the bucket with those before it that have the same cause. */
static enum nnv_status group(struct grouping *g, uint32_t n, struct nnv_err *err) {
    const struct nnv_bucket *b = &g->bugs->buckets.item[n];
    struct nnv_text key = {0};
    enum nnv_status st = NNV_OK;
    if (b->explained) {
        nnv_text_add(&key, "mistake\t");
        nnv_text_add_like(&key, b->like);
    } else if (is_of_values(b)) {
        /* what is executed step by step is about the steps: its models are fixtures */
        nnv_text_addf(&key, "values\t%s", b->stepwise ? "" : b->op);
    } else {
        nnv_text_addf(&key, "%d\t", (int)b->verdict);
        const size_t empty = key.len;
        if (b->verdict == NNVTS_CRASH) st = add_crash(g, b, &key, err);
        const char *answer = answer_in(b->like);
        if (key.len == empty && answer) nnv_text_add(&key, answer);
        if (key.len == empty) add_without(&key, b->like, b->op);
    }
    if (st == NNV_OK) st = add_key(g, n, &key, err);
    nnv_text_clear(&key);
    if (st == NNV_OK && is_condition(b->where)) {
        nnv_text_add(&key, "where\t");
        add_condition(&key, b->where);
        st = add_key(g, n, &key, err);
    }
    nnv_text_free(&key);
    return st;
}

/** The operation that most probably made the bucket's values wrong. */
static const char *culprit_of(const struct nnv_bucket *b) {
    return b->tried ? b->suspect && *b->suspect ? b->suspect : NULL : b->op;
}

/** Buckets of wrong values that nothing explains go to the fullest bucket that is explained, of their culprit. */
static void group_unexplained(struct grouping *g) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++) {
        const struct nnv_bucket *b = &all->item[n];
        const char *culprit = is_of_values(b) ? culprit_of(b) : NULL;
        if (!culprit) continue;
        for (uint32_t k = 0; k < all->map.count; k++)
            if (all->item[k].explained && strcmp(all->item[k].op, culprit) == 0) {
                join(g, n, k);
                break;
            }
    }
}

/** What must be refused for several reasons and is accepted: who lacks many checks, lacks the checking. */
static void group_unchecked(struct grouping *g) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    uint32_t first = NNV_MAP_NONE, rules = 0;
    for (int joining = 0; joining < 2; joining++) {
        for (uint32_t n = 0; n < all->map.count; n++) {
            if (all->item[n].why != NNVTS_WHY_ACCEPTED || all->item[n].explained || root_of(g, n) != n) continue;
            if (first == NNV_MAP_NONE) first = n;
            if (joining)
                join(g, first, n);
            else
                rules++;
        }
        if (rules < RULES_MANY) return;
    }
    g->unchecked = first;
    g->rules = rules;
}

/** Wrong values, explained or not. */
static bool is_about_values(const struct nnv_bucket *b) { return b->explained || is_of_values(b); }

enum { MANY = 8 };

/** True if the buckets of which one[n] holds are of many operations. */
static bool is_of_many(const struct grouping *g, const bool *one) {
    struct nnv_map ops = {0};
    const struct nnv_buckets *all = &g->bugs->buckets;
    bool ok = true;
    for (uint32_t n = 0; ok && n < all->map.count && ops.count < MANY; n++)
        ok = !one[n] || nnv_map_find(&ops, all->item[n].op) != NNV_MAP_NONE ||
             nnv_map_add(&ops, all->item[n].op) != NNV_MAP_NONE;
    const bool many = ok && ops.count >= MANY;
    nnv_map_free(&ops);
    return many;
}

/** Marks the buckets of one group (root), or those of wrong values that nothing explains (NNV_MAP_NONE). The cases. */
static size_t mark(const struct grouping *g, uint32_t root, bool *one) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t cases = 0;
    for (uint32_t n = 0; n < all->map.count; n++) {
        one[n] = root == NNV_MAP_NONE ? is_of_values(&all->item[n]) : root_of(g, n) == root;
        cases += one[n] ? all->item[n].count : 0;
    }
    return cases;
}

/** The group of most of the failures, if there is one. */
static uint32_t fullest(const struct grouping *g, size_t failures, size_t *cases) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++) {
        const uint32_t root = root_of(g, n);
        cases[root] += all->item[n].verdict == NNVTS_FAIL ? all->item[n].count : 0;
        if (2 * cases[root] > failures) return root;
    }
    return NNV_MAP_NONE;
}

/** What operations share goes wrong in many, each in its own way: all wrong values are of that bug. */
static enum nnv_status group_shared(struct grouping *g, struct nnv_err *err) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    bool *one = calloc(all->map.count, sizeof *one);
    size_t *cases = calloc(all->map.count, sizeof *cases), failures = 0;
    const bool ok = one && cases;
    for (uint32_t n = 0; n < all->map.count; n++)
        failures += all->item[n].verdict == NNVTS_FAIL ? all->item[n].count : 0;
    uint32_t shared = ok && failures > 0 ? fullest(g, failures, cases) : NNV_MAP_NONE;
    if (shared != NNV_MAP_NONE) mark(g, shared, one);
    if (shared != NNV_MAP_NONE && !is_of_many(g, one)) shared = NNV_MAP_NONE;
    const bool unexplained =
        ok && shared == NNV_MAP_NONE && failures > 0 && 2 * mark(g, NNV_MAP_NONE, one) > failures && is_of_many(g, one);
    for (uint32_t n = 0; n < all->map.count && (unexplained || shared != NNV_MAP_NONE); n++) {
        const struct nnv_bucket *b = &all->item[n];
        if (b->verdict != NNVTS_FAIL || !(unexplained ? is_of_values(b) : is_about_values(b))) continue;
        if (shared == NNV_MAP_NONE) shared = n;
        join(g, shared, n);
    }
    g->plain = unexplained ? shared : NNV_MAP_NONE;
    free(one);
    free(cases);
    return ok ? NNV_OK : nnv_no_memory(err);
}

/** The mode in which everything failed, where it is one alone and not the synchronous one; else NULL. */
static const char *only_mode(const struct nnv_report *r, const uint32_t *of) {
    const char *mode = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        if (of[i] == NNV_MAP_NONE) continue;
        if (c->mode == NULL || strcmp(c->mode, "sync") == 0 || (mode != NULL && mode != c->mode)) return NULL;
        mode = c->mode;
    }
    return mode;
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

/** The bucket that a bug is told by: of those that are explained, or else of all, the first, which is the fullest. */
static bool tells_better(const struct nnv_bucket *b, const struct nnv_bug *bug) {
    return bug->count == 0 || (b->explained && !bug->explained);
}

static void take_bucket(struct nnv_bug *bug, const struct nnv_bucket *b) {
    if (tells_better(b, bug)) {
        bug->verdict = b->verdict;
        bug->words = is_of_values(b) ? nnv_why_words(b->why) : b->like;
        bug->explained = b->explained;
        bug->smallest = b->smallest;
        if (b->where) bug->where = b->where;
    }
    if (!bug->where) bug->where = b->where;
    if (bug->count == 0 || b->first < bug->first) bug->first = b->first;
    bug->count += b->count;
}

static int fuller(const void *pa, const void *pb) {
    const struct nnv_bug *a = pa, *b = pb;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/** Operations and types of the bugs, from the cases themselves. */
static enum nnv_status name_all(struct grouping *g, struct nnv_err *err) {
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
static const char *plain_words(const struct grouping *g) {
    enum { LOOKED_AT = 64 };
    uint32_t records = 0, tried = 0, passed = 0, nan = 0;
    for (size_t i = 0; i < g->r->count && records < LOOKED_AT; i++) {
        const uint32_t b = g->bugs->of[i];
        struct nnv_err ignored = {0};
        json_t *record = NULL;
        if (b == NNV_MAP_NONE || root_of(g, b) != root_of(g, g->plain)) continue;
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

/** Makes bugs of the groups; of[i] is the bucket of case i, and becomes its bug. */
static enum nnv_status make_bugs(struct grouping *g, struct nnv_err *err) {
    struct nnv_bugs *bugs = g->bugs;
    const uint32_t n = bugs->buckets.map.count;
    uint32_t *bug_of = calloc((size_t)n + 1, sizeof *bug_of), *rank = calloc((size_t)n + 1, sizeof *rank);
    bugs->item = NNV_NEW(bugs->buckets.arena, struct nnv_bug, n);
    bool ok = bug_of && rank && bugs->item;
    for (uint32_t b = 0; ok && b < n; b++) {
        const uint32_t root = root_of(g, b);
        bug_of[b] = root == b ? bugs->count++ : bug_of[root];
        take_bucket(&bugs->item[bug_of[b]], &bugs->buckets.item[b]);
    }
    if (ok && g->rules) {
        struct nnv_bug *bug = &bugs->item[bug_of[root_of(g, g->unchecked)]];
        bug->words = nnv_arena_printf(bugs->buckets.arena, "%s, for %u reasons; such as: %s",
                                      nnv_why_words(NNVTS_WHY_ACCEPTED), g->rules, bug->words);
        ok = bug->words != NULL;
    }
    if (ok && g->plain != NNV_MAP_NONE) {
        struct nnv_bug *bug = &bugs->item[bug_of[root_of(g, g->plain)]];
        bug->explained = false;
        bug->words = plain_words(g);
    }
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
    struct grouping g = {.r = report, .bugs = bugs, .plain = NNV_MAP_NONE};
    bugs->of = malloc((report->count + 1) * sizeof *bugs->of);
    if (!bugs->of) return nnv_no_memory(err);
    enum nnv_status st = nnv_buckets_of(report, &bugs->buckets, bugs->of, err);
    const uint32_t n = bugs->buckets.map.count;
    if (st != NNV_OK || n == 0) return st;
    g.owner = calloc(2 * (size_t)n, sizeof *g.owner); /* a bucket has two keys at most */
    g.parent = calloc(n, sizeof *g.parent);
    if (!g.owner || !g.parent) st = nnv_no_memory(err);
    for (uint32_t b = 0; st == NNV_OK && b < n; b++) g.parent[b] = b;
    for (uint32_t b = 0; st == NNV_OK && b < n; b++) st = group(&g, b, err);
    if (st == NNV_OK) group_unexplained(&g);
    if (st == NNV_OK) group_unchecked(&g);
    if (st == NNV_OK) st = group_shared(&g, err);
    const char *mode = st == NNV_OK ? only_mode(report, bugs->of) : NULL;
    for (uint32_t b = 1; mode && b < n; b++) join(&g, 0, b);
    if (st == NNV_OK) st = make_bugs(&g, err);
    if (st == NNV_OK && mode) st = name_mode(&bugs->item[0], mode, bugs->buckets.arena, err);
    nnv_map_free(&g.keys);
    free(g.owner);
    free(g.parent);
    return st;
}

void nnv_bugs_free(struct nnv_bugs *bugs) {
    nnv_buckets_free(&bugs->buckets);
    free(bugs->of);
    *bugs = (struct nnv_bugs){0};
}
