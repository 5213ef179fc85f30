/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Useless and doubtful entries of a table. One pattern covers another if it fits whatever the other fits; two meet if
 * there may be an expression that both fit. Both are asked of pairs of patterns, so what is found is exact but for
 * identity of values: a pattern that names a value twice covers nothing.
 */
#include <string.h>

#include "base/text.h"
#include "compiler/byoc/pattern.h"

enum { MOST_STEPS = 100000 };

struct lint {
    struct nnv_arena *arena;
    struct nnv_lint *found;
    size_t n, cap;
    uint32_t steps;
};

static bool same_attr(const struct nnv_pattern_attr *a, const struct nnv_pattern *in, bool *differs) {
    for (size_t i = 0; i < in->n_attrs; i++) {
        if (strcmp(in->attrs[i].key, a->key) != 0) continue;
        bool equal = nnv_relay_value_equal(&in->attrs[i].value, &a->value);
        if (differs) *differs = !equal;
        return equal;
    }
    return false;
}

static bool covers(struct lint *l, const struct nnv_pattern *p, const struct nnv_pattern *q);

static bool covers_parts(struct lint *l, const struct nnv_pattern *p, const struct nnv_pattern *q) {
    if (p->any_parts) return true;
    if (q->any_parts || p->n_parts != q->n_parts) return false;
    for (size_t i = 0; i < p->n_parts; i++)
        if (!covers(l, p->parts[i], q->parts[i])) return false;
    return true;
}

/* Whether p fits whatever q fits. */
static bool covers(struct lint *l, const struct nnv_pattern *p, const struct nnv_pattern *q) {
    if (l->steps++ > MOST_STEPS) return false;
    if (p == q || p->kind == NNV_PATTERN_ANY) return true;
    if (q->kind == NNV_PATTERN_ALT) {
        for (size_t i = 0; i < q->n_parts; i++)
            if (!covers(l, p, q->parts[i])) return false;
        return true;
    }
    if (p->kind == NNV_PATTERN_ALT) {
        for (size_t i = 0; i < p->n_parts; i++)
            if (covers(l, p->parts[i], q)) return true;
        return false;
    }
    if (p->kind != q->kind) return false;
    switch (p->kind) {
    case NNV_PATTERN_OP:
        if (strcmp(p->name, q->name) != 0) return false;
        for (size_t i = 0; i < p->n_attrs; i++)
            if (!same_attr(&p->attrs[i], q, NULL)) return false;
        return covers_parts(l, p, q);
    case NNV_PATTERN_TUPLE:
        return covers_parts(l, p, q);
    case NNV_PATTERN_GET:
        return (p->index < 0 || p->index == q->index) && covers_parts(l, p, q);
    case NNV_PATTERN_CONST:
    case NNV_PATTERN_VAR:
        return true;
    case NNV_PATTERN_ANY:
    case NNV_PATTERN_ALT:
    case NNV_PATTERN_DOMINATES:
        return false;
    }
    return false;
}

/* Whether p and q may fit the same expression. */
static bool meet(struct lint *l, const struct nnv_pattern *p, const struct nnv_pattern *q) {
    if (l->steps++ > MOST_STEPS) return false;
    if (p->kind == NNV_PATTERN_ANY || q->kind == NNV_PATTERN_ANY) return true;
    if (q->kind == NNV_PATTERN_ALT) {
        for (size_t i = 0; i < q->n_parts; i++)
            if (meet(l, p, q->parts[i])) return true;
        return false;
    }
    if (p->kind == NNV_PATTERN_ALT) return meet(l, q, p);
    if (p->kind == NNV_PATTERN_DOMINATES) return meet(l, p->parts[2], q);
    if (q->kind == NNV_PATTERN_DOMINATES) return meet(l, p, q->parts[2]);
    if (p->kind != q->kind) return false;
    if (p->kind == NNV_PATTERN_OP && strcmp(p->name, q->name) != 0) return false;
    for (size_t i = 0; i < p->n_attrs; i++) {
        bool differs = false;
        if (!same_attr(&p->attrs[i], q, &differs) && differs) return false;
    }
    if (p->kind == NNV_PATTERN_GET && p->index >= 0 && q->index >= 0 && p->index != q->index) return false;
    if (p->any_parts || q->any_parts) return true;
    if (p->n_parts != q->n_parts) return false;
    for (size_t i = 0; i < p->n_parts; i++)
        if (!meet(l, p->parts[i], q->parts[i])) return false;
    return true;
}

/* ------------------------------------------------------------------------ findings */

static bool report(struct lint *l, enum nnv_lint_kind kind, size_t entry, size_t by, const char *text) {
    if (!text) return false;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        struct nnv_lint *found = NNV_NEW(l->arena, struct nnv_lint, cap);
        if (!found) return false;
        for (size_t i = 0; i < l->n; i++) found[i] = l->found[i];
        l->found = found;
        l->cap = cap;
    }
    l->found[l->n++] = (struct nnv_lint){kind, entry, by, text};
    return true;
}

/* Whether entry a lets pass all that b does: its checks are among b's, of values of the same name. */
static bool checks_less(const struct nnv_pattern_entry *a, const struct nnv_pattern_entry *b) {
    for (size_t i = 0; i < a->n_checks; i++) {
        const struct nnv_condition *c = &a->checks[i].condition;
        bool found = false;
        for (size_t k = 0; k < b->n_checks && !found; k++) {
            const struct nnv_condition *d = &b->checks[k].condition;
            found = !strcmp(a->ids[a->checks[i].id - 1], b->ids[b->checks[k].id - 1]) && c->kind == d->kind &&
                    c->operand == d->operand && (!c->attr || !strcmp(c->attr, d->attr)) && c->n_in == d->n_in &&
                    !c->fallback == !d->fallback && (!c->fallback || nnv_relay_value_equal(c->fallback, d->fallback));
            for (size_t v = 0; found && v < c->n_in; v++) found = nnv_relay_value_equal(&c->in[v], &d->in[v]);
        }
        if (!found) return false;
    }
    return true;
}

/* A value that is met in two places: p's, or of the same name. */
static bool names_twice(const struct nnv_pattern *p, uint32_t *times, uint32_t *ids) {
    if (p->kind == NNV_PATTERN_ALT) {
        /* of alternatives only one is met; each alone would have to name it twice */
        for (size_t i = 0; i < p->n_parts; i++)
            if (p->parts[i]->kind == NNV_PATTERN_ALT && names_twice(p->parts[i], times, ids)) return true;
        return false;
    }
    if (times[p->number]++) return true;
    if (p->id && ids[p->id - 1]++) return true;
    for (size_t i = 0; i < p->n_parts; i++)
        if (names_twice(p->parts[i], times, ids)) return true;
    return false;
}

/* Whether what p needs inside, each alternative alike, is something that a takes. */
static bool holds_covered(struct lint *l, const struct nnv_pattern *a, const struct nnv_pattern *p) {
    if (l->steps++ > MOST_STEPS) return false;
    if (p->kind == NNV_PATTERN_ALT) {
        for (size_t i = 0; i < p->n_parts; i++)
            if (!holds_covered(l, a, p->parts[i])) return false;
        return p->n_parts > 0;
    }
    bool taken = p->kind == NNV_PATTERN_OP || p->kind == NNV_PATTERN_GET || p->kind == NNV_PATTERN_TUPLE;
    if (taken && covers(l, a, p)) return true;
    for (size_t i = 0; i < p->n_parts && taken; i++)
        if (holds_covered(l, a, p->parts[i])) return true;
    return false;
}

/* Whether some part of p may be something that a takes. */
static bool may_hold(struct lint *l, const struct nnv_pattern *a, const struct nnv_pattern *p) {
    if (l->steps++ > MOST_STEPS) return false;
    bool taken = p->kind == NNV_PATTERN_OP || p->kind == NNV_PATTERN_GET || p->kind == NNV_PATTERN_TUPLE;
    if (taken && meet(l, a, p)) return true;
    for (size_t i = 0; i < p->n_parts; i++)
        if (may_hold(l, a, p->parts[i])) return true;
    return false;
}

static bool lint_pair(struct lint *l, const struct nnv_pattern_table *t, size_t by, size_t entry) {
    const struct nnv_pattern_entry *a = &t->entries[by], *b = &t->entries[entry];
    uint32_t *times = NNV_NEW(l->arena, uint32_t, a->n_patterns), *ids = NNV_NEW(l->arena, uint32_t, a->n_ids);
    if (!times || !ids) return false;
    l->steps = 0;
    if (!names_twice(a->root, times, ids) && checks_less(a, b) && holds_covered(l, a->root, b->root))
        return report(l, NNV_LINT_SHADOWED, entry, by,
                      nnv_arena_printf(l->arena, "%s never matches: %s, which stands before it, takes all of it",
                                       b->name, a->name));
    l->steps = 0;
    if (!may_hold(l, a->root, b->root) || covers(l, b->root, a->root)) return true;
    return report(
        l, NNV_LINT_OVERLAP, entry, by,
        nnv_arena_printf(l->arena, "%s may lose a part of its match to %s, which stands before it", b->name, a->name));
}

/* An alternative behind one that fits whatever it fits. */
static bool lint_alternatives(struct lint *l, const struct nnv_pattern_entry *e, size_t entry,
                              const struct nnv_pattern *p, bool *seen) {
    if (seen[p->number]) return true;
    seen[p->number] = true;
    for (size_t i = 0; p->kind == NNV_PATTERN_ALT && i < p->n_parts; i++)
        for (size_t k = 0; k < i; k++) {
            l->steps = 0;
            if (p->parts[i]->id || p->parts[k]->id || !covers(l, p->parts[k], p->parts[i])) continue;
            const char *text = nnv_arena_printf(
                l->arena, "%s: alternative %zu never matches: %zu fits all that it fits", e->name, i, k);
            if (!report(l, NNV_LINT_NEVER, entry, 0, text)) return false;
            break;
        }
    for (size_t i = 0; i < p->n_parts; i++)
        if (!lint_alternatives(l, e, entry, p->parts[i], seen)) return false;
    return true;
}

static bool lint_entry(struct lint *l, const struct nnv_pattern_table *t, size_t entry) {
    const struct nnv_pattern_entry *e = &t->entries[entry];
    enum nnv_pattern_kind kind = e->root->kind;
    if (kind == NNV_PATTERN_ANY || kind == NNV_PATTERN_CONST || kind == NNV_PATTERN_VAR)
        return report(l, NNV_LINT_NEVER, entry, 0,
                      nnv_arena_printf(l->arena, "%s never matches: its root is no operation", e->name));
    for (size_t i = 0; i < e->n_checks; i++)
        if (!e->checks[i].condition.n_in && e->checks[i].condition.kind != NNV_CONDITION_SHAPE)
            return report(l, NNV_LINT_NEVER, entry, 0,
                          nnv_arena_printf(l->arena, "%s never matches: no value of %s is allowed", e->name,
                                           e->checks[i].condition.attr ? e->checks[i].condition.attr : "its type"));
    bool *seen = NNV_NEW(l->arena, bool, e->n_patterns);
    if (!seen || !lint_alternatives(l, e, entry, e->root, seen)) return false;
    for (size_t by = 0; by < entry; by++)
        if (!lint_pair(l, t, by, entry)) return false;
    return true;
}

enum nnv_status nnv_pattern_lint(const struct nnv_pattern_table *table, struct nnv_arena *arena,
                                 struct nnv_lint **found, size_t *n, struct nnv_err *err) {
    struct lint l = {.arena = arena};
    for (size_t i = 0; i < table->n; i++)
        if (!lint_entry(&l, table, i)) return nnv_no_memory(err);
    *found = l.found;
    *n = l.n;
    return NNV_OK;
}
