/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file relations.c The suite "relations": what a driver says of a random graph, against what the same driver says of
 * the same graph in other words, or executed in another manner. Golden values are never looked at.
 */
#include "harness/suites/relations/relations.h"
#include "harness/suites/kit/cases.h"
#include "harness/suites/kit/vocabulary.h"

#include <stdio.h>
#include <string.h>

#include "harness/suites/suites.h"
#include "nnvts/result.h"

enum { ROWS_AGAIN = 64 }; /* perturbed rows of the second look at a difference */

/* ------------------------------------------------------------------ comparing */

/* Elements that mean the same: equal bytes, zeros of either sign, any two NaN, any two numbers that are true. */
static bool same_element(int32_t type, const uint8_t *a, const uint8_t *b) {
    const struct nnv_type *t = nnv_type(type);
    double x, y;
    if (t->kind == NNV_KIND_BOOL) return !*a == !*b;
    if (memcmp(a, b, t->size) == 0) return true;
    if (t->kind != NNV_KIND_FLOAT) return false;
    nnv_load(type, a, 1, &x);
    nnv_load(type, b, 1, &y);
    return nnv_check_within(x, y, 0);
}

size_t nnv_first_difference(const struct nnv_request *a, uint32_t i, const struct nnv_request *b, uint32_t k) {
    const struct nnv_expectation *e = &a->fixture->expected[i];
    const size_t size = nnv_type(e->type)->size, elems = e->value->bytes / size;
    const uint8_t *was = a->output_at[i], *is = b->output_at[k];
    if (e->ignored || memcmp(was, is, e->value->bytes) == 0) return SIZE_MAX;
    for (size_t at = 0; at < elems; at++)
        if (!same_element(e->type, was + at * size, is + at * size)) return at;
    return SIZE_MAX;
}

bool nnv_same_bytes(struct nnv_context *s, const char *what, const struct nnv_request *a, uint32_t i,
                    const struct nnv_request *b, uint32_t k) {
    const struct nnv_expectation *e = &a->fixture->expected[i];
    const size_t size = nnv_type(e->type)->size, at = nnv_first_difference(a, i, b, k);
    double x, y;
    if (e->ignored) return true;
    s->result->compared += e->value->bytes / size;
    if (at == SIZE_MAX) return true;
    nnv_load(e->type, (const uint8_t *)a->output_at[i] + at * size, 1, &x);
    nnv_load(e->type, (const uint8_t *)b->output_at[k] + at * size, 1, &y);
    return nnv_expect(s, false, "%s: element %zu of output %u is %.9g instead of %.9g; the bytes must be the same",
                      what, at, k, y, x);
}

/* Row i of `to` from row rows[i] of `from`; NULL: no memory, or they do not fit. */
static void *take_rows(const struct nnv_related *r, const void *from, size_t from_bytes, uint32_t from_rows,
                       size_t bytes) {
    if (!r->rows) return from_bytes == bytes ? nnv_arena_copy(r->arena, from, bytes) : NULL;
    const size_t row = from_rows ? from_bytes / from_rows : 0;
    uint8_t *to = row * r->nrows == bytes ? nnv_arena_alloc(r->arena, bytes + 1, 1) : NULL;
    for (uint32_t i = 0; to && i < r->nrows; i++) memcpy(to + i * row, (const uint8_t *)from + r->rows[i] * row, row);
    return to;
}

/* The spread of output i by many fresh rows, where that is larger. */
static bool look_again(struct nnv_context *s, struct nnv_fixture *fixture) {
    const struct nnv_spec *spec = fixture->spec;
    const uint32_t n = spec->model.main.nout;
    const struct nnv_eval_options options = {.rows = ROWS_AGAIN,
                                             .k = 2,
                                             .seed = nnv_hash_str(spec->name) + 1,
                                             .arithmetic = nnv_env_arithmetic(s->env, spec)};
    struct nnv_golden *golden = NNV_NEW(s->env->arena, struct nnv_golden, n);
    struct nnv_err err = {0};
    if (!golden || nnv_eval(&spec->model, spec->inputs, &options, s->env->arena, golden, &err) != NNV_OK)
        return nnv_context_error(s, "no budgets: %s", err.text);
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_expectation *e = &fixture->expected[i];
        const size_t elems = nnv_expected_elems(e);
        double *larger = nnv_arena_copy(s->env->arena, e->spread, elems * sizeof *larger);
        if (!larger) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
        for (size_t k = 0; k < elems; k++)
            if (!(golden[i].spread[k] <= larger[k])) larger[k] = golden[i].spread[k];
        e->spread = larger;
    }
    return true;
}

/* Compares output k of b with its counterpart, output i of a; *c says how. */
static bool compare_budgets(struct nnv_context *s, const struct nnv_related *r, const struct nnv_request *a, uint32_t i,
                            const struct nnv_request *b, uint32_t k, struct nnv_comparison *c) {
    const struct nnv_expectation *ea = &a->fixture->expected[i], *eb = &b->fixture->expected[k];
    const size_t size = nnv_type(ea->type)->size, elems = eb->value->bytes / size;
    const uint32_t rows = ea->value->rank ? ea->value->dims[0] : 1;
    struct nnv_value value = *eb->value;
    value.data = take_rows(r, a->output_at[i], ea->value->bytes, rows, value.bytes);
    double *spread = take_rows(r, ea->spread, ea->value->bytes / size * sizeof *spread, rows, elems * sizeof *spread);
    if (!value.data || !spread) return nnv_context_error(s, "outputs %u and %u can't be related", i, k);
    const bool half = r->from->model.relaxed || size == 2;
    for (size_t n = 0; n < elems; n++) {
        double x = 0;
        nnv_load(ea->type, (const uint8_t *)value.data + n * size, 1, &x);
        spread[n] += eb->spread[n];
        /* Either side may be off by a rounding: nnv_check allows for one. */
        if (nnv_is_float(ea->type) && x == x) spread[n] += (half ? 0x1p-10 : 0x1p-23) * (x < 0 ? -x : x) / 2;
    }
    struct nnv_expectation e = *eb;
    e.value = &value;
    e.spread = spread;
    e.exact = NULL;
    nnv_check(&e, b->output_at[k], NNV_PRECISION_BUDGET, c);
    return true;
}

static void expect_related(struct nnv_context *s, const struct nnv_relation *relation, const struct nnv_related *r,
                           struct nnv_side *a, struct nnv_side *b) {
    struct nnv_comparison *c = NNV_NEW(s->env->arena, struct nnv_comparison, 1);
    bool again = false;
    if (!c) {
        nnv_context_error(s, NNV_OUT_OF_MEMORY);
        return;
    }
    for (uint32_t k = 0; k < r->to->model.main.nout; k++) {
        const uint32_t i = r->output[k];
        if (i == NNV_RELATED_NONE || a->fixture.expected[i].ignored) continue;
        if (relation->compare == NNV_RELATION_BYTES &&
            (nnv_first_difference(&a->values, i, &b->values, k) == SIZE_MAX || nnv_side_is_steady(s, a))) {
            nnv_same_bytes(s, relation->says, &a->values, i, &b->values, k);
            continue;
        }
        if (!compare_budgets(s, r, &a->values, i, &b->values, k, c)) return;
        if (c->wrong && !again) {
            if (!look_again(s, &a->fixture) || !look_again(s, &b->fixture)) return;
            again = true;
            if (!compare_budgets(s, r, &a->values, i, &b->values, k, c)) return;
        }
        s->result->compared += c->compared;
        s->result->not_compared += c->not_compared;
        nnv_expect(s, c->wrong == 0,
                   "%s: output %u differs from that of the graph as it was drawn in %zu of %zu values; element %zu was "
                   "%.9g and is %.9g, allowed %.4g",
                   relation->says, k, c->wrong, c->compared, c->worst, c->worst_expected, c->worst_actual,
                   c->worst_bound);
    }
}

/* ------------------------------------------------------------------- the cases */

bool nnv_side_prepare(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_side *side) {
    return nnv_result_level(s->env, spec->min_version, s->result) && nnv_context_model(s, spec, &side->fixture) &&
           (side->prepared = nnv_context_prepare(s, &side->fixture)) != NULL &&
           nnv_context_request(s, &side->fixture, NNV_POOL_READ_ONLY, &side->values);
}

bool nnv_side_execute(struct nnv_context *s, struct nnv_side *side) {
    nnv_request_reset(&side->values);
    const enum nnvts_status st = nnv_context_sync(s, side->prepared, &side->values);
    return nnv_context_check_outcome(s, "execute", st, &side->values);
}

bool nnv_side_is_steady(struct nnv_context *s, struct nnv_side *side) {
    enum { TIMES = 8 };
    struct nnv_request again;
    bool steady = nnv_context_request(s, &side->fixture, NNV_POOL_READ_ONLY, &again);
    for (int n = 0; n < TIMES && steady; n++) {
        nnv_request_reset(&again);
        steady = nnv_context_sync(s, side->prepared, &again) == NNVTS_STATUS_NONE;
        for (uint32_t i = 0; i < side->fixture.spec->model.main.nout && steady; i++)
            steady = nnv_first_difference(&side->values, i, &again, i) == SIZE_MAX;
    }
    return steady;
}

static void run_relation(struct nnv_context *s, const struct nnv_relation *relation, const struct nnv_related *r) {
    struct nnv_side a = {0}, b = {0}, decoy = {0};
    if ((!r->decoy || (nnv_side_prepare(s, r->decoy, &decoy) && nnv_side_execute(s, &decoy))) &&
        nnv_side_prepare(s, r->from, &a) && nnv_side_execute(s, &a) && nnv_side_prepare(s, r->to, &b) &&
        nnv_side_execute(s, &b))
        expect_related(s, relation, r, &a, &b);
    nnv_context_release(s, b.prepared);
    nnv_context_release(s, a.prepared);
    nnv_context_release(s, decoy.prepared);
}

static void run_variation(struct nnv_context *s, const struct nnv_variation *variation, const struct nnv_spec *spec) {
    struct nnv_side a = {0};
    if (nnv_side_prepare(s, spec, &a) && nnv_side_execute(s, &a)) variation->run(s, &a, variation);
    nnv_context_release(s, a.prepared);
}

/* ------------------------------------------------------------------- registry */

static const char *name_of(size_t i) {
    return i < nnv_relation_count ? nnv_relations[i].name : nnv_variations[i - nnv_relation_count].name;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    const size_t n = nnv_relation_count + nnv_variation_count;
    const uint64_t each = nnv_share(config, n, (const uint64_t[]){2, 12, 200});
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < each && !st; k++) {
            char name[96];
            snprintf(name, sizeof name, "relations/%s/%zu", name_of(i), k);
            const struct nnv_case c = {
                .name = name, .suite = "relations", .op = "", .type = "", .tags = "", .a = i, .b = k};
            st = nnv_case_add(list, &c, err);
        }
    return st;
}

static const struct nnv_relation *relation_of(const struct nnv_case *c) {
    return c->a < nnv_relation_count ? &nnv_relations[c->a] : NULL;
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    const struct nnv_relation *relation = relation_of(c);
    struct nnv_context s;
    struct nnv_related r;
    struct nnv_err err = {0};
    struct nnv_case_env other_words = *env;
    struct nnv_arithmetic any;
    if (env->arithmetic && relation && relation->compare == NNV_RELATION_BUDGETS) {
        any = nnv_arithmetic_of_any_scheme(env->arithmetic);
        other_words.arithmetic = &any;
        env = &other_words;
    }
    nnv_context_begin(&s, env, result);
    enum nnv_status st = nnv_relations_draw(env->config, c, relation, env->arena, &r, &err);
    if (st == NNV_UNSUPPORTED) {
        nnv_context_decline(&s, NNVTS_WHY_NOT_APPLICABLE, "%s", err.text);
    } else if (st) {
        nnv_context_error(&s, "%s", err.text);
    } else if (relation) {
        run_relation(&s, relation, &r);
    } else {
        run_variation(&s, &nnv_variations[c->a - nnv_relation_count], r.from);
    }
    nnv_context_end(&s);
}

/* For dumps: the graph in other words, with golden values. */
static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    const struct nnv_relation *relation = relation_of(c);
    struct nnv_related r;
    enum nnv_status st = nnv_relations_draw(config, c, relation, arena, &r, err);
    if (st) return st;
    struct nnv_spec *to = r.to;
    const uint32_t n = to->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, n);
    if (!golden) return nnv_no_memory(err);
    st = nnv_eval(&to->model, to->inputs, &(struct nnv_eval_options){0}, arena, golden, err);
    for (uint32_t i = 0; !st && i < n; i++) to->outputs[i] = golden[i].value;
    to->source = relation ? relation->says : nnv_variations[c->a - nnv_relation_count].says;
    if (!st) *spec = to;
    return st;
}

const struct nnv_suite nnv_suite_relations = {
    .name = "relations",
    .summary =
        "random graphs against the same graphs in other words, and executed in other ways, without golden values",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .beyond_values = true,
    .meet = nnv_vocabulary_meet,
    .list = list,
    .build = build,
    .run = run,
};
