/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/predicates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREDICATES = 6000,
    EQUALS = 24,  /* values of a number that one may be equal to: with more, only bounds are tried */
    COST_NOT = 1, /* of "is not", of "= 3" for a number that has more values */
};

static void put(struct nnv_case_set *s, size_t i) { s->bits[i / 64] |= UINT64_C(1) << i % 64; }

size_t nnv_case_count(const struct nnv_case_set *s) {
    size_t n = 0;
    for (int i = 0; i < NNV_CASE_WORDS; i++) n += (size_t)__builtin_popcountll(s->bits[i]);
    return n;
}

struct nnv_case_set nnv_cases_both(const struct nnv_case_set *a, const struct nnv_case_set *b) {
    struct nnv_case_set s;
    for (int i = 0; i < NNV_CASE_WORDS; i++) s.bits[i] = a->bits[i] & b->bits[i];
    return s;
}

/* ------------------------------------------------------------------- the table */

static struct nnv_column *column_of(struct nnv_predicates *t, const struct nnv_attribute *a) {
    uint32_t k = nnv_map_find(&t->names, a->name);
    if (k != NNV_MAP_NONE) return &t->column[k];
    if (t->columns == t->column_room) {
        const uint32_t room = t->column_room ? 2 * t->column_room : 128;
        struct nnv_column *grown = NNV_NEW(t->arena, struct nnv_column, room);
        if (!grown) return NULL;
        if (t->columns) memcpy(grown, t->column, t->columns * sizeof *grown);
        t->column = grown;
        t->column_room = room;
    }
    double *value = NNV_NEW(t->arena, double, t->n);
    if (!value || nnv_map_add(&t->names, a->name) == NNV_MAP_NONE) return NULL;
    for (size_t i = 0; i < t->n; i++) value[i] = NAN;
    t->column[t->columns] = (struct nnv_column){a->name, NULL, a->kind, a->cost, value};
    return &t->column[t->columns++];
}

static bool take(struct nnv_predicates *t, size_t i, const struct nnv_attribute *a) {
    struct nnv_column *c = column_of(t, a);
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

/** Keeps the predicate unless it holds everywhere or nowhere, leaves out too many failures, or another holds for the
 * same. */
static void keep(struct nnv_predicates *t, struct nnv_predicate p) {
    const struct nnv_case_set inside = nnv_cases_both(&p.set, &t->fails);
    p.failed = nnv_case_count(&inside);
    p.passed = nnv_case_count(&p.set) - p.failed;
    if (p.failed < t->least || p.passed == t->passed || t->count == PREDICATES) return;
    for (size_t i = 0; i < t->count; i++) {
        struct nnv_predicate *q = &t->item[i];
        if (q->failed != p.failed || q->passed != p.passed || memcmp(&q->set, &p.set, sizeof p.set) != 0) continue;
        if (p.cost < q->cost) *q = p;
        return;
    }
    t->item[t->count++] = p;
}

static int by_number(const void *pa, const void *pb) {
    const double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

static void add_predicate(struct nnv_predicates *t, uint32_t k, enum nnv_relation relation, double value, double beyond,
                          int cost) {
    const struct nnv_column *c = &t->column[k];
    struct nnv_predicate p = {
        .column = k, .relation = relation, .value = value, .beyond = beyond, .cost = c->cost + cost};
    for (size_t i = 0; i < t->n; i++) {
        const double v = c->value[i];
        if (isnan(v)) continue;
        if (relation == NNV_ABOVE   ? v >= value
            : relation == NNV_BELOW ? v <= value
                                    : (v == value) == (relation == NNV_EQUAL))
            put(&p.set, i);
    }
    keep(t, p);
}

/** Bits of what the cases with each of the distinct sorted values do. */
enum { FAILS = 1, PASSES = 2 };
static void note_what_happens(const struct nnv_predicates *t, const double *value, const double *sorted,
                              size_t distinct, uint8_t *does) {
    memset(does, 0, distinct);
    for (size_t i = 0; i < t->n; i++) {
        const double *at = isnan(value[i]) ? NULL : bsearch(&value[i], sorted, distinct, sizeof *sorted, by_number);
        if (at) does[at - sorted] |= t->fails.bits[i / 64] >> i % 64 & 1 ? FAILS : PASSES;
    }
}

static void add_column(struct nnv_predicates *t, uint32_t k, double *sorted, uint8_t *does) {
    const struct nnv_column *c = &t->column[k];
    size_t n = 0, distinct = 0;
    for (size_t i = 0; i < t->n; i++)
        if (!isnan(c->value[i])) sorted[n++] = c->value[i];
    qsort(sorted, n, sizeof *sorted, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    if (c->kind == NNV_ATTRIBUTE_FLAG) {
        add_predicate(t, k, NNV_EQUAL, 1, 0, 0);
        if (c->otherwise) add_predicate(t, k, NNV_EQUAL, 0, 0, 0);
        return;
    }
    if (c->kind == NNV_ATTRIBUTE_WORD) {
        for (size_t i = 0; i < distinct; i++) {
            add_predicate(t, k, NNV_EQUAL, sorted[i], 0, 0);
            if (distinct > 2) add_predicate(t, k, NNV_UNEQUAL, sorted[i], 0, COST_NOT);
        }
        return;
    }
    note_what_happens(t, c->value, sorted, distinct, does);
    for (size_t i = 1; i < distinct; i++) { /* other bounds have fewer failing cases inside, or more passing ones */
        if (does[i] & FAILS && does[i - 1] & PASSES) add_predicate(t, k, NNV_ABOVE, sorted[i], sorted[i - 1], 0);
        if (does[i - 1] & FAILS && does[i] & PASSES) add_predicate(t, k, NNV_BELOW, sorted[i - 1], sorted[i], 0);
    }
    for (size_t i = 0; i < distinct && distinct <= EQUALS; i++) {
        if (sorted[i] != floor(sorted[i])) continue;
        add_predicate(t, k, NNV_EQUAL, sorted[i], 0, COST_NOT);
        add_predicate(t, k, NNV_UNEQUAL, sorted[i], 0, COST_NOT);
    }
}

/* --------------------------------------------------------------- what they say */

struct nnv_term nnv_predicate_term(const struct nnv_predicates *t, const struct nnv_predicate *p) {
    const struct nnv_column *c = &t->column[p->column];
    const bool word = c->kind == NNV_ATTRIBUTE_WORD;
    return (struct nnv_term){.subject = c->name,
                             .word = word ? t->words.key[(size_t)p->value] : c->otherwise,
                             .kind = c->kind,
                             .relation = p->relation,
                             .value = word ? 0 : p->value,
                             .beyond = p->beyond};
}

/** The predicate of the cases that have the attribute and are not inside. */
static struct nnv_predicate opposite(const struct nnv_predicates *t, const struct nnv_predicate *p) {
    static const enum nnv_relation other[] = {
        [NNV_ABOVE] = NNV_BELOW, [NNV_BELOW] = NNV_ABOVE, [NNV_EQUAL] = NNV_UNEQUAL, [NNV_UNEQUAL] = NNV_EQUAL};
    struct nnv_predicate q = {.column = p->column, .value = p->value, .beyond = p->beyond};
    q.relation = other[p->relation];
    if (p->relation == NNV_ABOVE || p->relation == NNV_BELOW) q.value = p->beyond, q.beyond = p->value;
    if (t->column[p->column].kind == NNV_ATTRIBUTE_FLAG) q.relation = NNV_EQUAL, q.value = !(p->value != 0);
    return q;
}

/** The word of a column that is not this one, where each case has one of two; NAN: there are more, or fewer. */
static double other_word(const struct nnv_predicates *t, const struct nnv_column *c, double word) {
    double other = NAN;
    for (size_t i = 0; i < t->n; i++) {
        if (isnan(c->value[i])) return NAN;
        if (c->value[i] == word) continue;
        if (!isnan(other) && c->value[i] != other) return NAN;
        other = c->value[i];
    }
    return other;
}

struct nnv_term nnv_predicate_opposite(const struct nnv_predicates *t, const struct nnv_predicate *p) {
    struct nnv_predicate q = opposite(t, p);
    const struct nnv_column *c = &t->column[p->column];
    const double other = c->kind == NNV_ATTRIBUTE_WORD && p->relation == NNV_EQUAL ? other_word(t, c, p->value) : NAN;
    if (!isnan(other)) q = (struct nnv_predicate){.column = p->column, .relation = NNV_EQUAL, .value = other};
    return nnv_predicate_term(t, &q);
}

bool nnv_predicate_holds(const struct nnv_predicates *t, const struct nnv_predicate *p,
                         const struct nnv_observation *o) {
    const struct nnv_column *c = &t->column[p->column];
    const struct nnv_attribute *a = NULL;
    for (size_t i = 0; i < o->count && !a; i++)
        if (o->item[i].kind == c->kind && strcmp(o->item[i].name, c->name) == 0) a = &o->item[i];
    if (!a) return false;
    const double v = c->kind == NNV_ATTRIBUTE_WORD ? nnv_map_find(&t->words, a->word) : a->number;
    switch (p->relation) {
    case NNV_ABOVE:
        return v >= p->value;
    case NNV_BELOW:
        return v <= p->value;
    case NNV_EQUAL:
        return v == p->value;
    case NNV_UNEQUAL:
        return v != p->value;
    }
    return false;
}

bool nnv_predicates_make(struct nnv_predicates *t, const struct nnv_observation *o, size_t n, double share) {
    *t = (struct nnv_predicates){.arena = nnv_arena_new(), .n = n < NNV_OBSERVATIONS ? n : NNV_OBSERVATIONS};
    t->names.arena = t->words.arena = t->arena;
    t->item = t->arena ? NNV_NEW(t->arena, struct nnv_predicate, PREDICATES) : NULL;
    double *sorted = t->arena ? NNV_NEW(t->arena, double, t->n) : NULL;
    uint8_t *does = t->arena ? NNV_NEW(t->arena, uint8_t, t->n) : NULL;
    if (!t->item || !sorted || !does) return false;
    for (size_t i = 0; i < t->n; i++) {
        if (o[i].failed) put(&t->fails, i);
        t->failed += o[i].failed;
        for (size_t k = 0; k < o[i].count; k++)
            if (!take(t, i, &o[i].item[k])) return false;
    }
    t->passed = t->n - t->failed;
    t->least = (size_t)ceil(share * (double)t->failed);
    if (t->least == 0) t->least = 1;
    for (uint32_t k = 0; k < t->columns; k++) add_column(t, k, sorted, does);
    return true;
}

void nnv_predicates_free(struct nnv_predicates *t) { nnv_arena_free(t->arena); }
