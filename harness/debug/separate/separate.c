/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/separate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/debug/separate/predicates.h"

enum {
    FAR = 2,    /* costs from here on are of what is far-fetched */
    COSTS = 16, /* costs are below it */
    TERMS = 4,  /* of a condition */
    BEAM = 20,  /* conditions that are extended */
};

/** A condition that holds for all failing cases, but for others too, is told if chance gives it as seldom as this. */
static const double NECESSARY = 1e-8;
/** What chance gives as often as this is not told. */
static const double CHANCE = 1e-2;
/** How much less likely, as a logarithm, a predicate is to be the cause for each unit of its cost. */
static const double FAR_FETCHED = 1.5;
/** Failing cases that a condition holds for, at least. */
static const double MOST_FAILURES = 0.9;

/** What the search knows. */
struct table {
    struct nnv_predicates *p;
    size_t n, failed, passed;
    double *chance;        /* log_chance() by failed and passed, where it is known */
    double choices[COSTS]; /* log of the number of predicates up to this cost */
};

/* --------------------------------------------------------------------- chance */

static double log_choose(size_t n, size_t k) {
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/** Log of the probability that as many cases drawn at random hold as many failures, or more. */
static double log_chance(const struct table *t, size_t failed, size_t passed) {
    const size_t inside = failed + passed;
    double *kept = &t->chance[failed * (t->passed + 1) + passed], sum = 0, term = 1;
    if (*kept < 0) return *kept;
    const double first = log_choose(t->failed, failed) + log_choose(t->passed, passed) - log_choose(t->n, inside);
    /* each term by the one before */
    for (size_t f = failed, p = passed; term > 1e-12 * sum; f++, p--) {
        sum += term;
        term *= (double)(t->failed - f) / (double)(f + 1) * (double)p / (double)(t->passed - p + 1);
    }
    return *kept = fmin(first + log(sum), -1e-9);
}

/** A condition: all of some predicates. */
struct condition {
    const struct nnv_predicate *term[TERMS];
    int terms;
    struct nnv_case_set set;
    size_t failed, passed;
    int cost;
    double score; /* log of how likely as good a condition of this cost is by chance */
};

static struct condition with(const struct table *t, const struct condition *c, const struct nnv_predicate *p) {
    struct condition w = {.terms = c->terms + 1, .cost = c->cost + p->cost, .score = INFINITY};
    memcpy(w.term, c->term, sizeof w.term);
    w.term[c->terms] = p;
    w.set = c->terms ? nnv_cases_both(&c->set, &p->set) : p->set;
    const struct nnv_case_set f = nnv_cases_both(&w.set, &t->p->fails);
    w.failed = nnv_case_count(&f);
    if (10 * w.failed < 9 * t->failed) return w;
    w.passed = nnv_case_count(&w.set) - w.failed;
    w.score = log_chance(t, w.failed, w.passed);
    for (int i = 0; i < w.terms; i++) w.score += t->choices[w.term[i]->cost] + FAR_FETCHED * w.term[i]->cost;
    return w;
}

static bool is_better(const struct condition *c, const struct condition *than) {
    if (fabs(c->score - than->score) > 1e-6) return c->score < than->score;
    return c->cost < than->cost;
}

/** Keeps the BEAM best ones, the best first. */
static void insert(struct condition *best, int *n, const struct condition *c) {
    int i = *n;
    for (int k = 0; k < *n; k++)
        if (best[k].failed == c->failed && best[k].passed == c->passed &&
            memcmp(&best[k].set, &c->set, sizeof c->set) == 0)
            return;
    while (i > 0 && is_better(c, &best[i - 1])) i--;
    if (i == BEAM) return;
    if (*n < BEAM) ++*n;
    memmove(&best[i + 1], &best[i], (size_t)(*n - 1 - i) * sizeof *c);
    best[i] = *c;
}

/**
 * Most of what is inside fails; nearly all where failures are outside, or the condition is far-fetched; and that is
 * more than chance.
 */
static bool holds(const struct table *t, const struct condition *c) {
    const size_t outside = t->failed - c->failed;
    int most = 0;
    for (int i = 0; i < c->terms; i++) most = c->term[i]->cost > most ? c->term[i]->cost : most;
    if (most > FAR && (outside > 0 || 20 * c->passed > c->failed)) return false;
    return (outside > 0 ? 12 : 4) * c->passed <= c->failed && 20 * outside <= t->failed && c->score < log(CHANCE);
}

/** It is cheap, all failing cases are inside, and at least a third of what is inside fails. */
static bool is_necessary(const struct table *t, const struct condition *c) {
    return c->cost < FAR + 1 && c->failed == t->failed && c->passed <= 2 * c->failed && 4 * c->passed < 3 * t->passed &&
           c->score < log(NECESSARY);
}

static int by_passed(const void *pa, const void *pb) {
    const struct nnv_predicate *a = pa, *b = pb;
    if (a->passed != b->passed) return a->passed < b->passed ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/**
 * True if p may be added: not where few enough cases pass, since it would only tell when the failure does not show; and
 * what is far-fetched only where many do.
 */
static bool may_add(const struct condition *c, const struct nnv_predicate *p) {
    return c->terms == 0 || (p->cost < FAR ? 6 : 3) * c->passed > c->failed;
}

/** Log of the number of predicates that are as cheap. */
static void count_choices(struct table *t) {
    for (int cost = 0; cost < COSTS; cost++) {
        size_t n = 1;
        for (size_t i = 0; i < t->p->count; i++) n += t->p->item[i].cost <= cost;
        t->choices[cost] = log((double)n);
    }
}

/** Leaves out predicates, the most far-fetched first, that would not be added to what is left. */
static void simplify(const struct table *t, struct condition *c) {
    for (int cost = COSTS - 1; cost >= 0; cost--)
        for (int i = 0; i < c->terms; i++) {
            struct condition less = {0};
            if (c->term[i]->cost != cost || c->terms == 1) continue;
            for (int k = 0; k < c->terms; k++)
                if (k != i) less = with(t, &less, c->term[k]);
            if (may_add(&less, c->term[i])) continue;
            *c = less;
            i = -1;
        }
}

/** What observations are called. */
struct nouns {
    const char *only, *mostly, *failures, *fail;
    int terms;      /**< of a condition, at most */
    bool necessary; /**< what holds for all failing ones is told also where most others pass */
};
static const struct nouns of_cases = {"only where ", "mostly where ", "failures", "such cases fail", TERMS, true},
                          of_elements = {"in elements where ",
                                         "in elements where ",
                                         "wrong ones",
                                         "such elements are wrong",
                                         2,
                                         false};

/** The best condition of up to of->terms predicates: those of one more extend the best of one less. */
static struct condition search(const struct table *t, const struct nouns *of) {
    const struct condition none = {0};
    struct condition best = {.score = INFINITY}, necessary = best, beam[BEAM], next[BEAM];
    int n = 0, more = 0;
    beam[n++] = none;
    for (int terms = 0; terms < of->terms; terms++, more = 0) {
        for (int i = 0; i < n; i++)
            for (size_t k = 0; k < t->p->count; k++) {
                if (!may_add(&beam[i], &t->p->item[k])) continue;
                const struct condition c = with(t, &beam[i], &t->p->item[k]);
                if (isfinite(c.score) && (terms == 0 || c.passed < beam[i].passed)) insert(next, &more, &c);
            }
        for (int i = 0; i < more; i++)
            if (is_better(&next[i], &best) && holds(t, &next[i])) best = next[i];
        for (int i = 0; i < more; i++)
            if (is_better(&next[i], &necessary) && is_necessary(t, &next[i])) necessary = next[i];
        n = more;
        memcpy(beam, next, (size_t)n * sizeof *beam);
    }
    if (best.terms == 0 && of->necessary) return necessary;
    simplify(t, &best);
    return best;
}

/* --------------------------------------------------------------------- telling */

static void tell_condition(const struct table *t, const struct condition *c, const struct nouns *of,
                           struct nnv_text *to) {
    nnv_text_add(to, c->failed < t->failed ? of->mostly : of->only);
    for (int i = 0; i < c->terms; i++) {
        if (i > 0) nnv_text_add(to, " and ");
        nnv_predicate_tell(t->p, c->term[i], to);
    }
    if (c->failed < t->failed) nnv_text_addf(to, " (%zu of %zu %s)", c->failed, t->failed, of->failures);
    if (c->passed > 0) nnv_text_addf(to, " (%zu of %zu %s)", c->failed, c->failed + c->passed, of->fail);
}

static bool separate(struct table *t, const struct nouns *of, struct nnv_text *to) {
    t->chance = NNV_NEW(t->p->arena, double, (t->failed + 1) * (t->passed + 1));
    if (!t->chance) {
        to->failed = true;
        return false;
    }
    qsort(t->p->item, t->p->count, sizeof *t->p->item, by_passed);
    count_choices(t);
    const struct condition best = search(t, of);
    if (best.terms > 0) tell_condition(t, &best, of, to);
    return best.terms > 0;
}

static bool separate_observations(const struct nnv_observation *o, size_t n, const struct nouns *of,
                                  struct nnv_text *to) {
    struct nnv_predicates p;
    bool ok = nnv_predicates_make(&p, o, n, MOST_FAILURES);
    struct table t = {.p = &p, .n = p.n, .failed = p.failed, .passed = p.passed};
    if (!ok) to->failed = true;
    ok = ok && t.failed > 0 && t.passed > 0 && separate(&t, of, to);
    nnv_predicates_free(&p);
    return ok;
}

bool nnv_separate(const struct nnv_observation *o, size_t n, struct nnv_text *to) {
    return separate_observations(o, n, &of_cases, to);
}

bool nnv_separate_elements(const struct nnv_observation *o, size_t n, struct nnv_text *to) {
    return separate_observations(o, n, &of_elements, to);
}
