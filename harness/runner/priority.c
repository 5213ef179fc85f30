/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/priority.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static const struct {
    const char *suite;
    double us;
} costs[] = {
#define COST(suite, us) {suite, us},
#define BUGS(suite, op, count)
#include "harness/runner/priority.def"
#undef COST
#undef BUGS
};

static const struct {
    const char *suite, *op;
    double count;
} bugs[] = {
#define COST(suite, us)
#define BUGS(suite, op, count) {suite, op, count},
#include "harness/runner/priority.def"
#undef COST
#undef BUGS
};

/** Operations in which no planted bug was found have bugs, too. */
static const double UNSEEN_BUGS = 0.5;
static const double UNKNOWN_US = 100;

/** A case: its classes, how many of each come before it, what it is worth. */
struct priority {
    uint32_t index;
    uint64_t hash; /**< of the name: the order within a class */
    uint64_t key[3];
    uint32_t before[3];
    double value;
};
enum { OPERATION, TYPE, GROUP, CLASSES };

/** The name without its last part: "ops/CONV_2D/quant8_asymm/nchw_dilation"; and without the type before that. */
static uint64_t group_of(const struct nnv_case *c) {
    const char *end = strrchr(c->name, '/');
    size_t n = end ? (size_t)(end - c->name) : strlen(c->name);
    uint64_t h = 0;
    for (const char *p = c->name; p < c->name + n;) {
        size_t part = strcspn(p, "/");
        if (part > (size_t)(c->name + n - p)) part = (size_t)(c->name + n - p);
        if (part != strlen(c->type) || strncmp(p, c->type, part) != 0) {
            const uint64_t pair[2] = {h, nnv_hash_bytes(p, part)};
            h = nnv_hash_bytes(pair, sizeof pair);
        }
        p += part + 1;
    }
    return h;
}

static uint64_t join(const char *a, const char *b, const char *c) {
    const uint64_t parts[3] = {nnv_hash_str(a), nnv_hash_str(b), nnv_hash_str(c)};
    return nnv_hash_bytes(parts, sizeof parts);
}

/** The class that by_class() sorts by; a run is ordered by one thread. */
static int sorted_class;

static int by_class(const void *a, const void *b) {
    const struct priority *x = a, *y = b;
    const uint64_t p = x->key[sorted_class], q = y->key[sorted_class];
    if (p != q) return p < q ? -1 : 1;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_value(const void *a, const void *b) {
    const struct priority *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static double likely(const struct nnv_case *c) {
    double count = UNSEEN_BUGS, us = UNKNOWN_US;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        if (strcmp(bugs[i].suite, c->suite) == 0 && strcmp(bugs[i].op, c->op) == 0) count += bugs[i].count;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (strcmp(costs[i].suite, c->suite) == 0) us = costs[i].us;
    return count / us;
}

static void find_values(struct priority *w, const struct nnv_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct nnv_case *c = &cases[i];
        w[i] = (struct priority){.index = (uint32_t)i, .hash = nnv_hash_str(c->name)};
        w[i].key[OPERATION] = join(c->suite, c->op, "");
        w[i].key[TYPE] = join(c->suite, c->op, c->type);
        w[i].key[GROUP] = group_of(c);
    }
    for (sorted_class = 0; sorted_class < CLASSES; sorted_class++) {
        qsort(w, count, sizeof *w, by_class);
        for (size_t i = 1; i < count; i++)
            w[i].before[sorted_class] =
                w[i].key[sorted_class] == w[i - 1].key[sorted_class] ? w[i - 1].before[sorted_class] + 1 : 0;
    }
    for (size_t i = 0; i < count; i++)
        w[i].value = likely(&cases[w[i].index]) * (1.0 / (1 + w[i].before[OPERATION]) + 1.0 / (1 + w[i].before[TYPE]) +
                                                   2.0 / (1 + w[i].before[GROUP]));
}

enum nnv_status nnv_priority_order(struct nnv_case *cases, size_t count, struct nnv_err *err) {
    if (count == 0) return NNV_OK;
    struct priority *w = calloc(count, sizeof *w);
    struct nnv_case *copy = malloc(count * sizeof *copy);
    if (w && copy) {
        find_values(w, cases, count);
        qsort(w, count, sizeof *w, by_value);
        memcpy(copy, cases, count * sizeof *copy);
        for (size_t i = 0; i < count; i++) cases[i] = copy[w[i].index];
    }
    const bool good = w && copy;
    free(w);
    free(copy);
    return good ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for %zu cases", count);
}
