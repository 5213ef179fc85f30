/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 2,    /* failing cases without which nothing is said */
    PAIRED = 400, /* predicates of which pairs are tried: the least far-fetched that most failing cases have */
};

/** How much a rule must say more, as a logarithm of cases, for each unit of its cost, and for a second term. */
static const double FAR_FETCHED = 0.35, SECOND_TERM = 0.9;
/** Rules that chance would make, of all that are tried, if cases failed at random: so many at most. */
static const double BY_CHANCE = 0.1;

static struct nnv_case_set without(struct nnv_case_set a, const struct nnv_case_set *b) {
    for (int i = 0; i < NNV_CASE_WORDS; i++) a.bits[i] &= ~b->bits[i];
    return a;
}

static struct nnv_case_set set_of(const struct nnv_found_rule *r) {
    return r->terms == 1 ? r->term[0]->set : nnv_cases_both(&r->term[0]->set, &r->term[1]->set);
}

/**
 * How many failing cases a rule of so many terms must hold for that chance would hardly make: it draws as many of those
 * that are left and of those that pass, and all of them fail.
 */
static size_t least_cases(const struct nnv_predicates *t, size_t left, int terms) {
    const double tries = (double)t->count * (terms == 1 ? 1 : PAIRED / 2);
    const double least = log(tries / BY_CHANCE) / log(1 + (double)t->passed / (double)left);
    return least > LEAST ? (size_t)ceil(least) : LEAST;
}

/** The rule, its value for the failing cases in `left`; -INFINITY: it is none. */
static double value_of(struct nnv_found_rule *r, const struct nnv_predicates *t, const struct nnv_case_set *left,
                       size_t least) {
    const uint64_t *a = r->term[0]->set.bits, *b = r->term[r->terms - 1]->set.bits;
    for (int i = 0; i < NNV_CASE_WORDS; i++) /* most pairs end here: looking for them is most of the time */
        if (a[i] & b[i] & ~t->fails.bits[i]) return -INFINITY;
    const struct nnv_case_set inside = set_of(r), more = nnv_cases_both(&inside, left);
    const size_t n = nnv_case_count(&more);
    if (n < least) return -INFINITY;
    r->failed = nnv_case_count(&inside);
    double value = log((double)n) - SECOND_TERM * (r->terms - 1);
    for (int i = 0; i < r->terms; i++) value -= FAR_FETCHED * r->term[i]->cost;
    return value;
}

static void try_rule(struct nnv_found_rule r, const struct nnv_predicates *t, const struct nnv_case_set *left,
                     size_t least, struct nnv_found_rule *best, double *most) {
    const double value = value_of(&r, t, left, least);
    if (value <= *most) return;
    *most = value;
    *best = r;
}

/** A predicate, and how early it is looked at. */
struct candidate {
    const struct nnv_predicate *p;
    double priority;
};

static int by_priority(const void *pa, const void *pb) {
    const struct candidate *a = pa, *b = pb;
    return a->priority != b->priority ? (a->priority < b->priority) - (a->priority > b->priority)
                                      : (a->p > b->p) - (a->p < b->p);
}

/** The predicates of which pairs are tried, by how many of the failing cases that are left they hold for. */
static size_t choose(const struct nnv_predicates *t, const struct nnv_case_set *left, struct candidate *c) {
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct nnv_predicate *p = &t->item[i];
        const struct nnv_case_set inside = nnv_cases_both(&p->set, left);
        const size_t cases = p->passed > 0 ? nnv_case_count(&inside) : 0;
        if (cases >= LEAST) c[n++] = (struct candidate){p, log((double)cases) - FAR_FETCHED * p->cost};
    }
    qsort(c, n, sizeof *c, by_priority);
    return n < PAIRED ? n : PAIRED;
}

/** The best rule for the failing cases that are left; c: room for all predicates. False: there is none. */
static bool find(const struct nnv_predicates *t, const struct nnv_case_set *left, struct candidate *c,
                 struct nnv_found_rule *best) {
    double most = -INFINITY;
    const size_t paired = choose(t, left, c), n = nnv_case_count(left);
    const size_t one = least_cases(t, n, 1), two = least_cases(t, n, 2);
    for (size_t i = 0; i < t->count; i++)
        if (t->item[i].passed == 0) try_rule((struct nnv_found_rule){{&t->item[i]}, 1, 0}, t, left, one, best, &most);
    const double bound = log((double)n) - SECOND_TERM;
    for (size_t i = 0; i < paired && most < bound; i++)
        for (size_t k = i + 1; k < paired; k++)
            try_rule((struct nnv_found_rule){{c[i].p, c[k].p}, 2, 0}, t, left, two, best, &most);
    return most > -INFINITY;
}

/** Leaves out rules that hold for no failing case which no other one holds for. */
static void simplify(struct nnv_rules *r) {
    for (size_t i = r->count; i-- > 0;) {
        struct nnv_case_set set = set_of(&r->item[i]);
        struct nnv_case_set only = nnv_cases_both(&set, &r->about.fails);
        for (size_t k = 0; k < r->count; k++) {
            const struct nnv_case_set other = set_of(&r->item[k]);
            if (k != i) only = without(only, &other);
        }
        if (nnv_case_count(&only) > 0) continue;
        r->count--;
        memmove(&r->item[i], &r->item[i + 1], (r->count - i) * sizeof *r->item);
    }
}

bool nnv_rules_learn(struct nnv_rules *r, const struct nnv_observation *o, size_t n) {
    *r = (struct nnv_rules){0};
    if (!nnv_predicates_make(&r->about, o, n, 0)) return false;
    struct nnv_case_set left = r->about.fails;
    struct candidate *c = NNV_NEW(r->about.arena, struct candidate, r->about.count);
    if (!c) return false;
    while (r->count < NNV_RULES && nnv_case_count(&left) > 0 && find(&r->about, &left, c, &r->item[r->count])) {
        const struct nnv_case_set set = set_of(&r->item[r->count++]);
        left = without(left, &set);
    }
    simplify(r);
    r->left = nnv_case_count(&left);
    return true;
}

void nnv_rules_free(struct nnv_rules *r) { nnv_predicates_free(&r->about); }

bool nnv_rules_hold(const struct nnv_rules *r, const struct nnv_observation *o) {
    for (size_t i = 0; i < r->count; i++) {
        bool all = true;
        for (int k = 0; k < r->item[i].terms; k++) all = all && nnv_predicate_holds(&r->about, r->item[i].term[k], o);
        if (all) return true;
    }
    return false;
}

void nnv_rule_tell_not(const struct nnv_rules *r, size_t i, struct nnv_text *to) {
    for (int k = 0; k < r->item[i].terms; k++) {
        if (k > 0) nnv_text_add(to, " or ");
        const struct nnv_term term = nnv_predicate_opposite(&r->about, r->item[i].term[k]);
        nnv_term_tell(&term, to);
    }
}
