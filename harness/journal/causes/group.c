/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/causes/group.h"

#include <stdlib.h>
#include <string.h>

#include "harness/journal/causes/condition.h"
#include "harness/journal/verdict.h"

enum { FRAMES = 32 };

uint32_t nnv_group_root(const struct nnv_grouping *g, uint32_t n) {
    while (g->parent[n] != n) n = g->parent[n];
    return n;
}

void nnv_group_join(struct nnv_grouping *g, uint32_t a, uint32_t b) {
    a = nnv_group_root(g, a);
    b = nnv_group_root(g, b);
    g->parent[a > b ? a : b] = a > b ? b : a;
}

/* ------------------------------------------------------------------------ keys */

bool nnv_bucket_is_of_values(const struct nnv_bucket *b) { return b->why == NNVTS_WHY_VALUES && !b->explained; }

/** What is left behind has nothing to do with what is computed. */
static bool is_leak(const struct nnv_bucket *b) { return b->why == NNVTS_WHY_LEAK; }

/** Adds the text with each mention of the operation as '*'. */
static void add_without(struct nnv_text *t, const char *text, const char *op) {
    const size_t n = strlen(op);
    for (const char *at; n > 0 && (at = strstr(text, op)); text = at + n) {
        nnv_text_add_n(t, text, (size_t)(at - text));
        nnv_text_add(t, "*");
    }
    nnv_text_add(t, text);
}

const char *nnv_beyond_part(const char *text) {
    static const char begin[] = "part-";
    const size_t n = sizeof begin - 1;
    return strncmp(text, begin, n) == 0 && text[n] && strncmp(text + n + 1, ": ", 2) == 0 ? text + n + 3 : text;
}

/** "ANeuralNetworksExecution_compute answered OP_FAILED": what a library itself said at the end of a reason; NULL:
 * nothing. */
static const char *answer_in(const char *text) {
    const char *answer = NULL;
    for (const char *at = text; (at = strstr(at, ": ANeuralNetworks")); at += 2) answer = at + 2;
    return answer && strstr(answer, " answered ") ? answer : NULL;
}

/** "prepare_model ... answered INVALID_ARGUMENT": what refuses a valid model, whatever the suite says of it. False:
 * another.
 */
static bool add_refusal(struct nnv_text *t, const char *text) {
    static const char *const calls[] = {"get_supported_operations ", "prepare_model "};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *answer = strncmp(text, calls[i], strlen(calls[i])) == 0 ? strstr(text, "answered ") : NULL;
        if (!answer) continue;
        const char *status = answer + strlen("answered ");
        const char *rest = status + strcspn(status, " ,;:");
        if (strncmp(status, "NONE", 4) == 0 || *rest == ' ') return false;
        if (*rest == ',' && strncmp(rest, ", expected NONE", 15) != 0) return false;
        nnv_text_addf(t, "%sanswered %.*s", calls[i], (int)(rest - status), status);
        return true;
    }
    return false;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/** Adds all terms of the condition, in one order whatever theirs is; false: it has one, or too many. */
static bool add_terms(struct nnv_text *t, const struct nnv_cause_condition *where) {
    enum { TERMS = 8 };
    const char *term[TERMS];
    const size_t n = where ? where->terms : 0;
    if (n < 2 || n > TERMS) return false;
    memcpy(term, where->term, n * sizeof *term);
    qsort(term, n, sizeof *term, by_text);
    for (size_t i = 0; i < n; i++) nnv_text_addf(t, "%s\t", term[i]);
    return true;
}

/** Adds the first frame of the backtrace that is in no library of the system; nothing if there is none. */
static void add_frame(struct nnv_text *t, const char *trace) {
    static const char *const common[] = {"libc.so", "libstdc++", "libgcc_s", "ld-linux", "libpthread", "libm.so"};
    for (int i = 0; trace && *trace && i < FRAMES; i++) {
        const size_t n = strcspn(trace, "\n"), line = strcspn(trace, "\t\n"); /* without what addr2line said */
        const char *at = *trace == '#' ? memchr(trace, ' ', n) : NULL;
        bool of_system = !at;
        for (size_t k = 0; at && k < sizeof common / sizeof *common; k++)
            of_system = of_system || strncmp(at + 1, common[k], strlen(common[k])) == 0;
        if (!of_system) {
            nnv_text_add_n(t, at, (size_t)(trace + line - at));
            return;
        }
        trace += n + (trace[n] != '\0');
    }
}

/** Where a bucket of crashes crashes. */
static enum nnv_status add_crash(struct nnv_grouping *g, const struct nnv_bucket *b, struct nnv_text *t,
                                 struct nnv_err *err) {
    json_t *record = NULL;
    const enum nnv_status st = nnv_report_record(g->r, b->smallest, &record, err);
    if (st == NNV_OK) add_frame(t, nnv_json_text(record, "backtrace", NULL));
    json_decref(record);
    return st;
}

/** Joins the bucket with those that have the key, too. */
static enum nnv_status add_key(struct nnv_grouping *g, uint32_t n, const struct nnv_text *key, struct nnv_err *err) {
    if (key->failed) return nnv_no_memory(err);
    uint32_t k = nnv_map_find(&g->keys, key->data);
    if (k != NNV_MAP_NONE) {
        nnv_group_join(g, g->owner[k], n);
        return NNV_OK;
    }
    const char *kept = nnv_arena_strdup(g->bugs->buckets.arena, key->data);
    k = kept ? nnv_map_add(&g->keys, kept) : NNV_MAP_NONE;
    if (k == NNV_MAP_NONE) return nnv_no_memory(err);
    g->owner[k] = n;
    return NNV_OK;
}

/** True if a weaker promise explains wrong values of the operation. */
static bool is_promised(const struct nnv_grouping *g, const char *op) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++)
        if (all->item[n].promise && strcmp(all->item[n].op, op) == 0) return true;
    return false;
}

/** Joins the bucket with those before it that have the same cause. */
static enum nnv_status group(struct nnv_grouping *g, uint32_t n, struct nnv_err *err) {
    const struct nnv_bucket *b = &g->bugs->buckets.item[n];
    struct nnv_text key = {0};
    enum nnv_status st = NNV_OK;
    if (b->explained) {
        nnv_text_add(&key, "mistake\t");
        nnv_text_add_like(&key, b->like);
    } else if (nnv_bucket_is_of_values(b)) {
        /* what is executed step by step is about the steps: its models are fixtures, unless these alone are wrong */
        const bool promised = is_promised(g, b->op);
        nnv_text_addf(&key, "values\t%s", b->stepwise && !promised ? "" : b->op);
        if (promised && b->tried) nnv_text_add(&key, "\tbeyond"); /* what no promise explains */
    } else {
        nnv_text_addf(&key, "%d\t", (int)b->verdict);
        const size_t empty = key.len;
        if (b->verdict == NNVTS_CRASH) st = add_crash(g, b, &key, err);
        const char *answer = answer_in(b->like);
        if (key.len == empty && answer) nnv_text_add(&key, answer);
        if (key.len == empty && !add_refusal(&key, b->like)) add_without(&key, nnv_beyond_part(b->like), b->op);
    }
    if (st == NNV_OK) st = add_key(g, n, &key, err);
    nnv_text_clear(&key);
    if (st == NNV_OK && b->where && b->where->peculiar && nnv_bucket_is_of_values(b)) {
        nnv_text_addf(&key, "elements\t%s", b->where->elements);
        st = add_key(g, n, &key, err);
        nnv_text_clear(&key);
    }
    const char *part = nnv_condition_part(b->where, 0);
    if (st == NNV_OK && part && !b->promise && !is_leak(b)) {
        nnv_text_addf(&key, "where\t%s", part);
        st = add_key(g, n, &key, err);
        nnv_text_clear(&key);
        nnv_text_add(&key, "all of\t");
        if (st == NNV_OK && add_terms(&key, b->where)) st = add_key(g, n, &key, err);
    }
    nnv_text_free(&key);
    return st;
}

/** A promise that explains what fails under the same condition as a mistake is that mistake by chance. */
static enum nnv_status group_promises(struct nnv_grouping *g, struct nnv_err *err) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    enum nnv_status st = NNV_OK;
    for (uint32_t n = 0; st == NNV_OK && n < all->map.count; n++) {
        const struct nnv_bucket *b = &all->item[n];
        struct nnv_text key = {0};
        const char *part = nnv_condition_part(b->where, 0);
        if (!b->promise || !part) continue;
        nnv_text_addf(&key, "where\t%s", part);
        const uint32_t k = key.failed ? NNV_MAP_NONE : nnv_map_find(&g->keys, key.data);
        if (key.failed) st = nnv_no_memory(err);
        if (k != NNV_MAP_NONE && all->item[g->owner[k]].explained) nnv_group_join(g, g->owner[k], n);
        nnv_text_free(&key);
    }
    return st;
}

/** The operation that most probably made the bucket's values wrong. */
static const char *culprit_of(const struct nnv_bucket *b) {
    return b->tried ? b->suspect && *b->suspect ? b->suspect : NULL : b->op;
}

/** True if what nothing explains in bucket b may be of bucket k, which is about operation `culprit`. */
static bool may_be_of(const struct nnv_bucket *b, const struct nnv_bucket *k, const char *culprit) {
    if (strcmp(k->op, culprit) != 0) return false;
    if (k->explained) return !(k->promise && b->tried);
    return k->why == NNVTS_WHY_VALUES && !b->stepwise && !k->stepwise && strcmp(b->op, culprit) != 0;
}

/**
 * Buckets of wrong values that nothing explains go to the fullest bucket that is explained, of their culprit, or else
 * to the fullest of it; but not to one that a promise explains, if they were tried: they break this promise, too.
 */
static void group_unexplained(struct nnv_grouping *g) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++) {
        const struct nnv_bucket *b = &all->item[n];
        const char *culprit = nnv_bucket_is_of_values(b) ? culprit_of(b) : NULL;
        uint32_t best = NNV_MAP_NONE;
        for (uint32_t k = 0; culprit && k < all->map.count; k++)
            if (k != n && may_be_of(b, &all->item[k], culprit) &&
                (best == NNV_MAP_NONE || (all->item[k].explained && !all->item[best].explained)))
                best = k;
        if (best != NNV_MAP_NONE) nnv_group_join(g, n, best);
    }
}

enum nnv_status nnv_group_by_keys(struct nnv_grouping *g, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (uint32_t n = 0; st == NNV_OK && n < g->bugs->buckets.map.count; n++) st = group(g, n, err);
    if (st == NNV_OK) st = group_promises(g, err);
    if (st == NNV_OK) group_unexplained(g);
    return st;
}

/* ------------------------------------------------------------------ what is shared */

/** Wrong values, explained or not, or values that are not there. */
static bool is_about_values(const struct nnv_bucket *b) {
    return b->explained || b->why == NNVTS_WHY_UNWRITTEN || nnv_bucket_is_of_values(b);
}

/** A failure; but what a promise explains, or what leaks, is of no bug that operations share. */
static bool may_share(const struct nnv_grouping *g, uint32_t n) {
    const struct nnv_bucket *b = &g->bugs->buckets.item[n];
    return b->verdict == NNVTS_FAIL && !is_leak(b) && !g->promised[nnv_group_root(g, n)];
}

enum {
    MANY = 8,  /* operations */
    FEW = 100, /* one in so many cases */
};

/** True if the buckets of which one[n] holds are of many operations. */
static bool is_of_many(const struct nnv_grouping *g, const bool *one) {
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
static size_t mark(const struct nnv_grouping *g, uint32_t root, bool *one) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t cases = 0;
    for (uint32_t n = 0; n < all->map.count; n++) {
        one[n] = root == NNV_MAP_NONE ? may_share(g, n) && nnv_bucket_is_of_values(&all->item[n])
                                      : nnv_group_root(g, n) == root;
        cases += one[n] ? all->item[n].count : 0;
    }
    return cases;
}

/** The group of wrong values that are most of the failures, if there is one that is no matter of a promise. */
static uint32_t fullest(const struct nnv_grouping *g, size_t failures, size_t *cases) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++) {
        const uint32_t root = nnv_group_root(g, n);
        cases[root] += may_share(g, n) && is_about_values(&all->item[n]) ? all->item[n].count : 0;
        if (2 * cases[root] > failures) return root;
    }
    return NNV_MAP_NONE;
}

/** The group of a mistake that explains operations more than each promise does: these would do by chance. */
static uint32_t widest(const struct nnv_grouping *g, size_t *explained) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    uint32_t most = NNV_MAP_NONE;
    bool any = false;
    memset(explained, 0, all->map.count * sizeof *explained);
    for (uint32_t n = 0; n < all->map.count; n++) {
        const uint32_t root = nnv_group_root(g, n);
        any = any || all->item[n].promise;
        explained[root] += all->item[n].explained;
        if (most == NNV_MAP_NONE || explained[root] > explained[most]) most = root;
    }
    return any && !g->promised[most] ? most : NNV_MAP_NONE;
}

/** The failures; without those that a promise explains, or with them. */
static size_t failures_of(const struct nnv_grouping *g, bool with_promised) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t failures = 0;
    for (uint32_t n = 0; n < all->map.count; n++)
        if (may_share(g, n) || (with_promised && all->item[n].verdict == NNVTS_FAIL)) failures += all->item[n].count;
    return failures;
}

/** Joins the wrong values with bucket `shared`: all; or, where nothing explains those, what is explained of few cases.
 */
static void join_shared(struct nnv_grouping *g, uint32_t shared, bool unexplained, size_t *cases) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    size_t total = 0;
    memset(cases, 0, all->map.count * sizeof *cases);
    for (uint32_t n = 0; n < all->map.count; n++) {
        cases[nnv_group_root(g, n)] += all->item[n].count;
        total += nnv_bucket_is_of_values(&all->item[n]) ? all->item[n].count : 0;
    }
    for (uint32_t n = 0; n < all->map.count; n++) cases[n] = cases[nnv_group_root(g, n)]; /* before roots move */
    for (uint32_t n = 0; n < all->map.count; n++) {
        const struct nnv_bucket *b = &all->item[n];
        if (b->verdict != NNVTS_FAIL || !is_about_values(b)) continue;
        if (!unexplained || (nnv_bucket_is_of_values(b) && may_share(g, n)) || FEW * cases[n] < total)
            nnv_group_join(g, shared, n);
    }
}

/**
 * What operations share goes wrong in many, each in its own way: all wrong values are of that bug. What a promise
 * explains as well is of a mistake that explains more; it is not of what nothing explains.
 */
enum nnv_status nnv_group_shared(struct nnv_grouping *g, struct nnv_err *err) {
    const struct nnv_buckets *all = &g->bugs->buckets;
    for (uint32_t n = 0; n < all->map.count; n++)
        g->promised[nnv_group_root(g, n)] = g->promised[nnv_group_root(g, n)] || all->item[n].promise;
    const size_t room = (size_t)all->map.count + 1;
    bool *one = calloc(room, sizeof *one);
    size_t *cases = calloc(room, sizeof *cases);
    const size_t failures = failures_of(g, true), others = failures_of(g, false);
    const bool ok = one && cases;
    uint32_t shared = ok ? fullest(g, failures, cases) : NNV_MAP_NONE;
    if (ok && shared == NNV_MAP_NONE) shared = widest(g, cases);
    if (shared != NNV_MAP_NONE) mark(g, shared, one);
    if (shared != NNV_MAP_NONE && !is_of_many(g, one)) shared = NNV_MAP_NONE;
    const bool unexplained =
        ok && shared == NNV_MAP_NONE && 2 * mark(g, NNV_MAP_NONE, one) > others && is_of_many(g, one);
    if (unexplained)
        for (shared = 0; !one[shared];) shared++;
    if (shared != NNV_MAP_NONE) join_shared(g, shared, unexplained, cases);
    g->plain = unexplained ? shared : NNV_MAP_NONE;
    free(one);
    free(cases);
    return ok ? NNV_OK : nnv_no_memory(err);
}
