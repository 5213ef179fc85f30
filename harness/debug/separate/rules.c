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

static struct nnv_case_set without(struct nnv_case_set a, const struct nnv_case_set *b) {
    for (int i = 0; i < NNV_CASE_WORDS; i++) a.bits[i] &= ~b->bits[i];
    return a;
}

static struct nnv_case_set set_of(const struct nnv_found_rule *r) {
    return r->terms == 1 ? r->term[0]->set : nnv_cases_both(&r->term[0]->set, &r->term[1]->set);
}

/** The rule, its value for the failing cases in `left`; -INFINITY: it is none. */
static double value_of(struct nnv_found_rule *r, const struct nnv_predicates *t, const struct nnv_case_set *left) {
    const struct nnv_case_set inside = set_of(r), failing = nnv_cases_both(&inside, &t->fails),
                              more = nnv_cases_both(&inside, left);
    const size_t n = nnv_case_count(&more);
    r->failed = nnv_case_count(&failing);
    if (n < LEAST || nnv_case_count(&inside) != r->failed) return -INFINITY;
    double value = log((double)n) - SECOND_TERM * (r->terms - 1);
    for (int i = 0; i < r->terms; i++) value -= FAR_FETCHED * r->term[i]->cost;
    return value;
}

static void try_rule(struct nnv_found_rule r, const struct nnv_predicates *t, const struct nnv_case_set *left,
                     struct nnv_found_rule *best, double *most) {
    const double value = value_of(&r, t, left);
    if (value <= *most) return;
    *most = value;
    *best = r;
}

/** The best rule for the failing cases that are left. False: there is none. */
static bool find(const struct nnv_predicates *t, const struct nnv_case_set *left, struct nnv_found_rule *best) {
    double most = -INFINITY;
    const size_t paired = t->count < PAIRED ? t->count : PAIRED;
    for (size_t i = 0; i < t->count; i++)
        if (t->item[i].passed == 0) try_rule((struct nnv_found_rule){{&t->item[i]}, 1, 0}, t, left, best, &most);
    const double bound = log((double)nnv_case_count(left)) - SECOND_TERM;
    for (size_t i = 0; i < paired && most < bound; i++)
        for (size_t k = i + 1; t->item[i].passed > 0 && k < paired; k++)
            if (t->item[k].passed > 0)
                try_rule((struct nnv_found_rule){{&t->item[i], &t->item[k]}, 2, 0}, t, left, best, &most);
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

static int by_worth(const void *pa, const void *pb) {
    const struct nnv_predicate *a = pa, *b = pb;
    const double x = log((double)a->failed) - FAR_FETCHED * a->cost, y = log((double)b->failed) - FAR_FETCHED * b->cost;
    return (x < y) - (x > y);
}

bool nnv_rules_learn(struct nnv_rules *r, const struct nnv_observation *o, size_t n) {
    *r = (struct nnv_rules){0};
    if (!nnv_predicates_make(&r->about, o, n, 0)) return false;
    struct nnv_case_set left = r->about.fails;
    qsort(r->about.item, r->about.count, sizeof *r->about.item, by_worth);
    while (r->count < NNV_RULES && nnv_case_count(&left) > 0 && find(&r->about, &left, &r->item[r->count])) {
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
        nnv_predicate_tell_not(&r->about, r->item[i].term[k], to);
    }
}
