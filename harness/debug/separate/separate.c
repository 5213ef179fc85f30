/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/separate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/debug/separate/attributes.h"
#include "harness/debug/separate/predicates.h"

enum {
    FAR = 2,    /* costs from here on are of what is far-fetched */
    COSTS = 16, /* costs are below it */
    TERMS = NNV_CONDITION_TERMS,
    BEAM = 20,   /* conditions that are extended */
    LEARNT = 12, /* failing ones without which nothing is learnt from a part of them */
    MANY = 24    /* failing ones with which chance draws no bound */
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

/** What may be said of observations. */
struct manner {
    int terms;      /**< of a condition, at most */
    bool necessary; /**< what holds for all failing ones is told also where most others pass */
    bool whole;     /**< what holds for all failing ones is told before what holds for most, even if that is simpler */
};
static const struct manner manners[] = {
    [NNV_ALL_CASES] = {TERMS, true, false},
    [NNV_SOME_CASES] = {TERMS, true, false},
    [NNV_SHOWING_CASES] = {TERMS, false, true},
    [NNV_ELEMENTS] = {2, false, false},
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

/** Keeps the BEAM best ones, the best first; of those that hold for the same cases one. */
static void insert(struct condition *best, int *n, const struct condition *c) {
    int i = *n;
    for (int k = 0; k < *n; k++) {
        if (best[k].failed != c->failed || best[k].passed != c->passed ||
            memcmp(&best[k].set, &c->set, sizeof c->set) != 0)
            continue;
        if (!is_better(c, &best[k])) return;
        i = k;
        memmove(&best[k], &best[k + 1], (size_t)(--*n - k) * sizeof *c);
        break;
    }
    while (i > 0 && is_better(c, &best[i - 1])) i--;
    if (i == BEAM) return;
    if (*n < BEAM) ++*n;
    memmove(&best[i + 1], &best[i], (size_t)(*n - 1 - i) * sizeof *c);
    best[i] = *c;
}

/**
 * Most of what is inside fails; nearly all where failures are outside, or the condition is far-fetched; and that is
 * more than chance. Where the failure would show in all that pass, hardly any may be inside.
 */
static bool holds(const struct table *t, const struct condition *c, const struct manner *of) {
    const size_t outside = t->failed - c->failed;
    int most = 0;
    for (int i = 0; i < c->terms; i++) most = c->term[i]->cost > most ? c->term[i]->cost : most;
    if (most > FAR && (outside > 0 || 20 * c->passed > c->failed)) return false;
    return (of->whole     ? 20U
            : outside > 0 ? 12U
                          : 4U) *
                   c->passed <=
               c->failed &&
           10 * outside <= t->failed && c->score < log(CHANCE);
}

/** It names the kind of case: what is done, and not with what. */
static bool is_of_kind(const struct table *t, const struct condition *c) {
    for (int i = 0; i < c->terms; i++)
        if (strcmp(t->p->column[c->term[i]->column].name, NNV_KIND_OF_CASE) != 0) return false;
    return true;
}

/**
 * It is cheap, all failing cases are inside, and at least half of what is inside fails: of a kind of case a third. What
 * holds for more is rather what goes along with the cause.
 */
static bool is_necessary(const struct table *t, const struct condition *c) {
    return c->cost < FAR + 1 && c->failed == t->failed && c->passed <= (is_of_kind(t, c) ? 2 : 1) * c->failed &&
           4 * c->passed < 3 * t->passed && c->score < log(NECESSARY);
}

static int by_passed(const void *pa, const void *pb) {
    const struct nnv_predicate *a = pa, *b = pb;
    if (a->passed != b->passed) return a->passed < b->passed ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/** Its bound lies between two numbers that are nearly the same, and no whole one between them: chance draws it. */
static bool is_fine(const struct nnv_predicate *p) {
    static const double NEAR = 0.005;
    if (p->relation != NNV_ABOVE && p->relation != NNV_BELOW) return false;
    if (floor(fmax(p->value, p->beyond)) >= fmin(p->value, p->beyond)) return false;
    return fabs(p->value - p->beyond) < NEAR * fmax(fabs(p->value), fabs(p->beyond));
}

/**
 * True if p may be added: not where few enough cases pass, since it would only tell when the failure does not show; and
 * what is far-fetched only where many do. Where the failure would show in all of them, few suffice. Of few cases that
 * fail one part is all that can be learnt; elements are many.
 */
static bool may_add(const struct table *t, const struct condition *c, const struct nnv_predicate *p,
                    const struct manner *of) {
    if (of != &manners[NNV_ELEMENTS] && ((is_fine(p) && t->failed < MANY) || (c->terms > 0 && t->failed < LEARNT)))
        return false;
    return c->terms == 0 || (of->whole ? 32U : p->cost < FAR ? 6U : 3U) * c->passed > c->failed;
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
static void simplify(const struct table *t, const struct manner *of, struct condition *c) {
    for (int cost = COSTS - 1; cost >= 0; cost--)
        for (int i = 0; i < c->terms; i++) {
            struct condition less = {0};
            if (c->term[i]->cost != cost || c->terms == 1) continue;
            for (int k = 0; k < c->terms; k++)
                if (k != i) less = with(t, &less, c->term[k]);
            if (may_add(t, &less, c->term[i], of)) continue;
            *c = less;
            i = -1;
        }
}

/** The best condition of up to of->terms predicates: those of one more extend the best of one less. */
static struct condition search(const struct table *t, const struct manner *of) {
    const struct condition none = {0};
    struct condition best = {.score = INFINITY}, whole = best, necessary = best, beam[BEAM], next[BEAM], found[TERMS];
    int n = 0, more = 0;
    for (int terms = 0; terms < TERMS; terms++) found[terms] = best;
    beam[n++] = none;
    for (int terms = 0; terms < of->terms; terms++, more = 0) {
        for (int i = 0; i < n; i++)
            for (size_t k = 0; k < t->p->count; k++) {
                if (!may_add(t, &beam[i], &t->p->item[k], of)) continue;
                const struct condition c = with(t, &beam[i], &t->p->item[k]);
                if (isfinite(c.score) && (terms == 0 || c.passed < beam[i].passed)) insert(next, &more, &c);
            }
        for (int i = 0; i < more; i++)
            if (is_better(&next[i], &found[terms]) && holds(t, &next[i], of)) found[terms] = next[i];
        if (is_better(&found[terms], &best)) best = found[terms];
        for (int i = 0; i < more; i++)
            if (next[i].failed == t->failed && is_better(&next[i], &whole) && holds(t, &next[i], of)) whole = next[i];
        for (int i = 0; i < more; i++)
            if (is_better(&next[i], &necessary) && is_necessary(t, &next[i])) necessary = next[i];
        n = more;
        memcpy(beam, next, (size_t)n * sizeof *beam);
    }
    if (best.terms == 0 && of->necessary) return necessary;
    if (of->whole && whole.terms > 0) best = whole;
    if (best.terms == 0) return best;
    simplify(t, of, &best);
    const struct condition *as_short = &found[best.terms - 1];
    return as_short->failed >= best.failed && is_better(as_short, &best) ? *as_short : best;
}

/* -------------------------------------------------------------------- learning */

/** Searches the condition for what the table holds. False: no memory. */
static bool learn(struct table *t, const struct manner *of, struct condition *best) {
    t->chance = NNV_NEW(t->p->arena, double, (t->failed + 1) * (t->passed + 1));
    if (!t->chance) return false;
    qsort(t->p->item, t->p->count, sizeof *t->p->item, by_passed);
    count_choices(t);
    *best = search(t, of);
    return true;
}

/** Makes the table of the observations, or of those that are not held; *t needs nnv_predicates_free(t->p). */
static bool make_table(struct table *t, struct nnv_predicates *p, const struct nnv_observation *o, size_t n) {
    const bool ok = nnv_predicates_make(p, o, n, MOST_FAILURES);
    *t = (struct table){.p = p, .n = p->n, .failed = p->failed, .passed = p->passed};
    return ok;
}

/* -------------------------------------------------------------------- checking */

/** What a condition says of observations that it was not learnt from. */
struct checked {
    size_t failed, outside, passed; /* failing inside and outside, passing inside */
};

/** The predicate with its bound as near to what is outside as can be: between the two nothing was learnt. */
static struct nnv_predicate widest(const struct nnv_predicate *p) {
    struct nnv_predicate q = *p;
    if (p->relation == NNV_ABOVE) q.value = nextafter(p->beyond, INFINITY);
    if (p->relation == NNV_BELOW) q.value = nextafter(p->beyond, -INFINITY);
    return q;
}

static struct checked check(const struct table *t, const struct condition *c, const struct nnv_observation *o,
                            size_t n) {
    struct checked r = {0};
    for (size_t i = 0; i < n; i++) {
        bool inside = true;
        if (!o[i].held) continue;
        for (int k = 0; k < c->terms; k++) {
            const struct nnv_predicate p = o[i].failed ? widest(c->term[k]) : *c->term[k];
            inside = inside && nnv_predicate_holds(t->p, &p, &o[i]);
        }
        r.failed += inside && o[i].failed;
        r.outside += !inside && o[i].failed;
        r.passed += inside && !o[i].failed;
    }
    return r;
}

/** True if it is as good there as it was where it was learnt, or as a good one is; one exception is none. */
static bool is_as_good(const struct condition *c, const struct checked *there) {
    if (there->outside > 1 && 10 * there->outside > there->failed + there->outside) return false;
    if (there->passed <= 1) return true;
    return there->passed <= there->failed || 2 * there->passed * c->failed <= 3 * c->passed * there->failed;
}

/**
 * True if the condition that the observations without the held ones give holds for these; also where too few of either
 * fail to tell. *ok: false when out of memory.
 */
static bool holds_out(const struct nnv_observation *o, size_t n, const struct manner *of, bool *ok) {
    struct nnv_observation *learnt = calloc(n + 1, sizeof *learnt);
    struct nnv_predicates p = {0};
    struct table t;
    struct condition c = {0};
    size_t count = 0, held = 0;
    bool good = true;
    for (size_t i = 0; learnt && i < n; i++) {
        held += o[i].held && o[i].failed;
        if (!o[i].held) learnt[count++] = o[i];
    }
    *ok = learnt && make_table(&t, &p, learnt, count);
    if (*ok && t.failed >= LEARNT && held > 1 && t.passed > 0) {
        *ok = learn(&t, of, &c);
        const struct checked there = check(&t, &c, o, n);
        good = *ok && c.terms > 0 && is_as_good(&c, &there);
    }
    nnv_predicates_free(&p);
    free(learnt);
    return good;
}

bool nnv_separate(const struct nnv_observation *o, size_t n, enum nnv_observed what, struct nnv_arena *arena,
                  struct nnv_case_condition *to) {
    const struct manner *of = &manners[what];
    struct nnv_predicates p;
    struct table t;
    struct condition best = {0};
    *to = (struct nnv_case_condition){.what = what};
    if (n > NNV_OBSERVATIONS) n = NNV_OBSERVATIONS;
    bool ok = make_table(&t, &p, o, n);
    if (ok && t.failed > 0 && t.passed > 0) ok = learn(&t, of, &best);
    if (ok && best.terms > 0 && holds_out(o, n, of, &ok)) {
        to->failures = t.failed;
        to->failed = best.failed;
        to->passed = best.passed;
        for (; to->terms < best.terms; to->terms++) to->term[to->terms] = nnv_predicate_term(&p, best.term[to->terms]);
        ok = ok && nnv_condition_keep(to, arena);
    }
    if (!ok) to->terms = 0;
    nnv_predicates_free(&p);
    return ok;
}
