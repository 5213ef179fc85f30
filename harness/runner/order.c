/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"

/** Suites and tags of whose cases more, or fewer, are asked at first. */
static const struct {
    const char *word;
    double weight;
} weights[] = {
    {"ops", 4},       {"limits", 4},    {"sweep", 2},     {"exact", 0.5},
    {"ramp", 0.5},    {"relaxed", 0.3}, {"impulse", 0.3}, {"zero", 0.1}, /* little is computed */
    {"refused", 0.1},                                                    /* nothing is */
};

/** The product of the weights of the words. */
static double weight_of(const char *words) {
    double weight = 1;
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
            if (strcspn(p, " ") == strlen(weights[i].word) && memcmp(p, weights[i].word, strlen(weights[i].word)) == 0)
                weight *= weights[i].weight;
    return weight;
}

enum { SUITE, OPERATION, KIND, LEVELS };

/** Behind it cases follow as listed, since neighbours of one operation run faster; about a fifth is before it. */
static const double SAMPLED = 10;

/** A suite, an operation of one, or a kind of an operation's cases. */
struct class {
    uint64_t key; /**< of its words and those above it: whatever other classes there are, its cases keep their places */
    size_t count;
    double weight;
    double start; /**< of a kind: where its golden steps begin, 0 to 1 */
};

/** A case: its classes, and when it is due. */
struct place {
    uint32_t index, class[LEVELS];
    double due;
};

struct order {
    struct nnv_id_map ids;
    struct class *class;
    struct place *place, *spare; /**< spare: room for as many */
};

/** The class that words tell apart from others of the class above it; NNV_MAP_NONE when out of memory. */
static uint32_t class_of(struct order *o, uint32_t above, const char *words) {
    const uint64_t parts[] = {above == NNV_MAP_NONE ? 0 : o->class[above].key, nnv_hash_str(words)},
                   key = nnv_hash_bytes(parts, sizeof parts);
    const uint32_t old = o->ids.count, id = nnv_id_add(&o->ids, key);
    if (id == old && id != NNV_MAP_NONE) {
        struct nnv_rng rng = nnv_rng_make(0, key, 0);
        o->class[id] = (struct class){.key = key, .weight = weight_of(words), .start = nnv_rng_unit(&rng)};
    }
    return id;
}

/** Neighbours in a list mostly are of one kind, and share their strings. */
static bool is_like(const struct nnv_case *a, const struct nnv_case *b) {
    return a->suite == b->suite && a->op == b->op && a->tags == b->tags;
}

static bool find_classes(struct order *o, const struct nnv_case *c, struct place *p) {
    const char *const words[LEVELS] = {c->suite, c->op, c->tags};
    uint32_t above = NNV_MAP_NONE;
    for (int k = 0; k < LEVELS; k++) {
        above = p->class[k] = class_of(o, above, words[k]);
        if (above == NNV_MAP_NONE) return false;
    }
    return true;
}

/** Counts the cases of each class, and says when each case is due among those of its kind. */
static bool classify(struct order *o, const struct nnv_case *cases, size_t count) {
    const double golden = (sqrt(5) - 1) / 2;
    for (size_t i = 0; i < count; i++) {
        struct place *p = &o->place[i];
        if (i > 0 && is_like(&cases[i], &cases[i - 1]))
            *p = p[-1];
        else if (!find_classes(o, &cases[i], p))
            return false;
        p->index = (uint32_t)i;
        for (int k = 0; k < LEVELS; k++) o->class[p->class[k]].count++;
        const struct class *kind = &o->class[p->class[KIND]];
        p->due = fmod(kind->start + golden * (double)kind->count, 1);
    }
    for (size_t i = 0; i < count; i++) {
        const struct class *kind = &o->class[o->place[i].class[KIND]];
        o->place[i].due *= (double)kind->count / kind->weight;
    }
    return true;
}

static uint64_t due_of(const struct place *p) {
    uint64_t bits; /* of numbers without a sign, in their order */
    memcpy(&bits, &p->due, sizeof bits);
    return bits;
}

static uint64_t index_of(const struct place *p) { return p->index; }

static uint64_t operation_of(const struct place *p) { return p->class[OPERATION]; }

/** By a key; places of equal keys stay as they are to each other. Digit by digit, the lowest first. */
static void sort(struct order *o, size_t count, uint64_t (*key)(const struct place *)) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    uint64_t all = 0, some = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        all |= key(&o->place[i]);
        some &= key(&o->place[i]);
    }
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t start[DIGITS + 1] = {0};
        if (((all ^ some) >> shift) % DIGITS == 0) continue; /* all alike */
        for (size_t i = 0; i < count; i++) start[(key(&o->place[i]) >> shift) % DIGITS + 1]++;
        for (size_t d = 0; d < DIGITS; d++) start[d + 1] += start[d];
        for (size_t i = 0; i < count; i++) o->spare[start[(key(&o->place[i]) >> shift) % DIGITS]++] = o->place[i];
        struct place *sorted = o->spare;
        o->spare = o->place;
        o->place = sorted;
    }
}

/** Each operation's cases at equal distances, from the beginning of its suite to its end. */
static void spread(struct order *o, size_t count) {
    sort(o, count, due_of);
    sort(o, count, operation_of);
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        struct place *p = &o->place[i];
        const struct class *suite = &o->class[p->class[SUITE]], *operation = &o->class[p->class[OPERATION]];
        before = i > 0 && p->class[OPERATION] == p[-1].class[OPERATION] ? before + 1 : 0;
        p->due = ((double)before + 0.5) / (double)operation->count * sqrt((double)suite->count) / suite->weight;
        if (p->due > SAMPLED) p->due = SAMPLED;
    }
    sort(o, count, index_of);
    sort(o, count, due_of);
}

enum nnv_status nnv_order(const struct nnv_case *cases, size_t count, uint32_t *order, struct nnv_err *err) {
    struct order o = {.class = calloc(LEVELS * count + 1, sizeof *o.class),
                      .place = calloc(count + 1, sizeof *o.place),
                      .spare = calloc(count + 1, sizeof *o.spare)};
    const bool good = o.class && o.place && o.spare && classify(&o, cases, count);
    if (good) spread(&o, count);
    for (size_t i = 0; i < count && good; i++) order[i] = o.place[i].index;
    nnv_id_free(&o.ids);
    free(o.class);
    free(o.place);
    free(o.spare);
    return good ? NNV_OK : nnv_no_memory(err);
}
