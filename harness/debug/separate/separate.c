/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/separate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"

enum {
    WORDS = NNV_OBSERVATIONS / 64, /* of a set */
    PREDICATES = 6000,
    EQUALS = 24,  /* values of a number that one may be equal to: with more, only bounds are tried */
    COST_NOT = 1, /* of "is not", of "= 3" for a number that has more values */
    FAR = 2,      /* costs from here on are of what is far-fetched */
    COSTS = 16,   /* costs are below it */
    TERMS = 4,    /* of a condition */
    BEAM = 20,    /* conditions that are extended */
};

/** What chance gives as often as this is not told. */
static const double CHANCE = 1e-2;
/** How much less likely, as a logarithm, a predicate is to be the cause for each unit of its cost. */
static const double FAR_FETCHED = 1.5;

/** A set of cases. */
struct set {
    uint64_t bits[WORDS];
};

struct column {
    const char *name, *otherwise; /* otherwise: of a flag that is 0, may be NULL */
    enum nnv_attribute_kind kind;
    int cost;
    double *value; /* of each case; NaN: it has no such attribute. Words by number */
};

enum relation { ABOVE, BELOW, EQUAL, UNEQUAL };

/** Cases whose value in a column is above, below, equal. */
struct predicate {
    struct set set;
    uint32_t column;
    enum relation relation;
    double value;  /* the last one inside: at the bound */
    double beyond; /* ABOVE, BELOW: the next one outside */
    int cost;
    size_t failed, passed; /* cases inside */
};

struct table {
    struct nnv_arena *arena;
    struct nnv_map names, words;
    struct column *column;
    uint32_t columns, column_room;
    size_t n, failed, passed;
    struct set fails;
    struct predicate *predicate;
    size_t predicates;
    double *chance;        /* log_chance() by failed and passed, where it is known */
    double choices[COSTS]; /* log of the number of predicates up to this cost */
};

static void put(struct set *s, size_t i) { s->bits[i / 64] |= UINT64_C(1) << i % 64; }

static size_t count(const struct set *s) {
    size_t n = 0;
    for (int i = 0; i < WORDS; i++) n += (size_t)__builtin_popcountll(s->bits[i]);
    return n;
}

static struct set both(const struct set *a, const struct set *b) {
    struct set s;
    for (int i = 0; i < WORDS; i++) s.bits[i] = a->bits[i] & b->bits[i];
    return s;
}

/* ------------------------------------------------------------------- the table */

static struct column *column_of(struct table *t, const struct nnv_attribute *a) {
    uint32_t k = nnv_map_find(&t->names, a->name);
    if (k != NNV_MAP_NONE) return &t->column[k];
    if (t->columns == t->column_room) {
        const uint32_t room = t->column_room ? 2 * t->column_room : 128;
        struct column *grown = NNV_NEW(t->arena, struct column, room);
        if (!grown) return NULL;
        if (t->columns) memcpy(grown, t->column, t->columns * sizeof *grown);
        t->column = grown;
        t->column_room = room;
    }
    double *value = NNV_NEW(t->arena, double, t->n);
    if (!value || nnv_map_add(&t->names, a->name) == NNV_MAP_NONE) return NULL;
    for (size_t i = 0; i < t->n; i++) value[i] = NAN;
    t->column[t->columns] = (struct column){a->name, NULL, a->kind, a->cost, value};
    return &t->column[t->columns++];
}

static bool take(struct table *t, size_t i, const struct nnv_attribute *a) {
    struct column *c = column_of(t, a);
    if (!c) return false;
    if (c->kind != a->kind) return true;
    c->value[i] = a->number;
    if (a->kind == NNV_ATTRIBUTE_FLAG && !c->otherwise) c->otherwise = a->word;
    if (a->kind != NNV_ATTRIBUTE_WORD) return true;
    uint32_t w = nnv_map_find(&t->words, a->word);
    if (w == NNV_MAP_NONE) w = nnv_map_add(&t->words, a->word);
    c->value[i] = w;
    return w != NNV_MAP_NONE;
}

/* -------------------------------------------------------------- the predicates */

/** Keeps the predicate unless it holds everywhere or nowhere, leaves out failures, or another holds for the same. */
static void keep(struct table *t, struct predicate p) {
    const struct set inside = both(&p.set, &t->fails);
    p.failed = count(&inside);
    p.passed = count(&p.set) - p.failed;
    if (10 * p.failed < 9 * t->failed || p.passed == t->passed || t->predicates == PREDICATES) return;
    for (size_t i = 0; i < t->predicates; i++) {
        struct predicate *q = &t->predicate[i];
        if (q->failed != p.failed || q->passed != p.passed || memcmp(&q->set, &p.set, sizeof p.set) != 0) continue;
        if (p.cost < q->cost) *q = p;
        return;
    }
    t->predicate[t->predicates++] = p;
}

static int by_number(const void *pa, const void *pb) {
    const double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

static void add_predicate(struct table *t, uint32_t k, enum relation relation, double value, double beyond, int cost) {
    const struct column *c = &t->column[k];
    struct predicate p = {.column = k, .relation = relation, .value = value, .beyond = beyond, .cost = c->cost + cost};
    for (size_t i = 0; i < t->n; i++) {
        const double v = c->value[i];
        if (isnan(v)) continue;
        if (relation == ABOVE ? v >= value : relation == BELOW ? v <= value : (v == value) == (relation == EQUAL))
            put(&p.set, i);
    }
    keep(t, p);
}

static void add_column(struct table *t, uint32_t k, double *sorted) {
    const struct column *c = &t->column[k];
    size_t n = 0, distinct = 0;
    for (size_t i = 0; i < t->n; i++)
        if (!isnan(c->value[i])) sorted[n++] = c->value[i];
    qsort(sorted, n, sizeof *sorted, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    if (c->kind == NNV_ATTRIBUTE_FLAG) {
        add_predicate(t, k, EQUAL, 1, 0, 0);
        if (c->otherwise) add_predicate(t, k, EQUAL, 0, 0, 0);
        return;
    }
    if (c->kind == NNV_ATTRIBUTE_WORD) {
        for (size_t i = 0; i < distinct; i++) {
            add_predicate(t, k, EQUAL, sorted[i], 0, 0);
            if (distinct > 2) add_predicate(t, k, UNEQUAL, sorted[i], 0, COST_NOT);
        }
        return;
    }
    for (size_t i = 1; i < distinct; i++) {
        add_predicate(t, k, ABOVE, sorted[i], sorted[i - 1], 0);
        add_predicate(t, k, BELOW, sorted[i - 1], sorted[i], 0);
    }
    for (size_t i = 0; i < distinct && distinct <= EQUALS; i++) {
        if (sorted[i] != floor(sorted[i])) continue;
        add_predicate(t, k, EQUAL, sorted[i], 0, COST_NOT);
        add_predicate(t, k, UNEQUAL, sorted[i], 0, COST_NOT);
    }
}

/* --------------------------------------------------------------------- chance */

static double log_choose(size_t n, size_t k) {
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/** Log of the probability that as many cases drawn at random hold as many failures, or more. */
static double log_chance(const struct table *t, size_t failed, size_t passed) {
    const size_t inside = failed + passed;
    double *kept = &t->chance[failed * (t->passed + 1) + passed], sum = 0;
    if (*kept < 0) return *kept;
    for (size_t f = failed; f <= inside && f <= t->failed; f++)
        if (inside - f <= t->passed)
            sum += exp(log_choose(t->failed, f) + log_choose(t->passed, inside - f) - log_choose(t->n, inside));
    return *kept = log(fmin(sum, 1 - 1e-9) + 1e-300);
}

/** A condition: all of some predicates. */
struct condition {
    const struct predicate *term[TERMS];
    int terms;
    struct set set;
    size_t failed, passed;
    int cost;
    double score; /* log of how likely as good a condition of this cost is by chance */
};

static struct condition with(const struct table *t, const struct condition *c, const struct predicate *p) {
    struct condition w = {.terms = c->terms + 1, .cost = c->cost + p->cost, .score = INFINITY};
    memcpy(w.term, c->term, sizeof w.term);
    w.term[c->terms] = p;
    w.set = c->terms ? both(&c->set, &p->set) : p->set;
    const struct set f = both(&w.set, &t->fails);
    w.failed = count(&f);
    if (10 * w.failed < 9 * t->failed) return w;
    w.passed = count(&w.set) - w.failed;
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

static int by_passed(const void *pa, const void *pb) {
    const struct predicate *a = pa, *b = pb;
    if (a->passed != b->passed) return a->passed < b->passed ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/**
 * True if p may be added: not where few enough cases pass, since it would only tell when the failure does not show; and
 * what is far-fetched only where many do.
 */
static bool may_add(const struct condition *c, const struct predicate *p) {
    return c->terms == 0 || (p->cost < FAR ? 6 : 3) * c->passed > c->failed;
}

/** Log of the number of predicates that are as cheap. */
static void count_choices(struct table *t) {
    for (int cost = 0; cost < COSTS; cost++) {
        size_t n = 1;
        for (size_t i = 0; i < t->predicates; i++) n += t->predicate[i].cost <= cost;
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

/** The best condition of up to TERMS predicates: those of one more extend the best of one less. */
static struct condition search(const struct table *t) {
    const struct condition none = {0};
    struct condition best = {.score = INFINITY}, beam[BEAM], next[BEAM];
    int n = 0, more = 0;
    beam[n++] = none;
    for (int terms = 0; terms < TERMS; terms++, more = 0) {
        for (int i = 0; i < n; i++)
            for (size_t k = 0; k < t->predicates; k++) {
                if (!may_add(&beam[i], &t->predicate[k])) continue;
                const struct condition c = with(t, &beam[i], &t->predicate[k]);
                if (isfinite(c.score) && (terms == 0 || c.passed < beam[i].passed)) insert(next, &more, &c);
            }
        for (int i = 0; i < more; i++)
            if (is_better(&next[i], &best) && holds(t, &next[i])) best = next[i];
        n = more;
        memcpy(beam, next, (size_t)n * sizeof *beam);
    }
    simplify(t, &best);
    return best;
}

/* --------------------------------------------------------------------- telling */

static void add_number(struct nnv_text *t, double v) {
    if (v == floor(v) && fabs(v) < 1e15)
        nnv_text_addf(t, "%.0f", v);
    else
        nnv_text_addf(t, "%.4g", v);
}

static void tell(const struct table *t, const struct predicate *p, struct nnv_text *to) {
    const struct column *c = &t->column[p->column];
    if (c->kind == NNV_ATTRIBUTE_FLAG) {
        nnv_text_add(to, p->value != 0 ? c->name : c->otherwise);
        return;
    }
    nnv_text_add(to, c->name);
    if (c->kind == NNV_ATTRIBUTE_WORD) {
        nnv_text_add(to, p->relation == EQUAL ? " is " : " is not ");
        nnv_text_add(to, t->words.key[(size_t)p->value]);
        return;
    }
    const bool next = fabs(p->value - p->beyond) == 1 && p->value == floor(p->value); /* no integer is between */
    switch (p->relation) {
    case ABOVE:
        nnv_text_add(to, next ? " > " : " >= ");
        add_number(to, next ? p->beyond : p->value);
        break;
    case BELOW:
        nnv_text_add(to, next ? " < " : " <= ");
        add_number(to, next ? p->beyond : p->value);
        break;
    case EQUAL:
    case UNEQUAL:
        nnv_text_add(to, p->relation == EQUAL ? " = " : " != ");
        add_number(to, p->value);
        return;
    }
    if (next) return;
    nnv_text_add(to, " (not at ");
    add_number(to, p->beyond);
    nnv_text_add(to, ")");
}

static void tell_condition(const struct table *t, const struct condition *c, struct nnv_text *to) {
    nnv_text_add(to, c->failed < t->failed ? "mostly where " : "only where ");
    for (int i = 0; i < c->terms; i++) {
        if (i > 0) nnv_text_add(to, " and ");
        tell(t, c->term[i], to);
    }
    if (c->failed < t->failed) nnv_text_addf(to, " (%zu of %zu failures)", c->failed, t->failed);
    if (c->passed > 0) nnv_text_addf(to, " (%zu of %zu such cases fail)", c->failed, c->failed + c->passed);
}

static bool separate(struct table *t, struct nnv_text *to) {
    double *sorted = NNV_NEW(t->arena, double, t->n);
    t->chance = NNV_NEW(t->arena, double, (t->failed + 1) * (t->passed + 1));
    if (!sorted || !t->chance) {
        to->failed = true;
        return false;
    }
    for (uint32_t k = 0; k < t->columns; k++) add_column(t, k, sorted);
    qsort(t->predicate, t->predicates, sizeof *t->predicate, by_passed);
    count_choices(t);
    const struct condition best = search(t);
    if (best.terms > 0) tell_condition(t, &best, to);
    return best.terms > 0;
}

bool nnv_separate(const struct nnv_observation *o, size_t n, struct nnv_text *to) {
    struct table t = {.arena = nnv_arena_new(), .n = n < NNV_OBSERVATIONS ? n : NNV_OBSERVATIONS};
    bool ok = t.arena != NULL;
    t.names.arena = t.words.arena = t.arena;
    t.predicate = ok ? NNV_NEW(t.arena, struct predicate, PREDICATES) : NULL;
    ok = t.predicate != NULL;
    for (size_t i = 0; ok && i < t.n; i++) {
        if (o[i].failed) put(&t.fails, i);
        t.failed += o[i].failed;
        for (size_t k = 0; ok && k < o[i].count; k++) ok = take(&t, i, &o[i].item[k]);
    }
    t.passed = t.n - t.failed;
    if (!ok) to->failed = true;
    ok = ok && t.failed > 0 && t.passed > 0 && separate(&t, to);
    nnv_arena_free(t.arena);
    return ok;
}
