/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_drawn.c What the suites draw from a seed: the same models, constants and inputs on each machine, by each
 * compiler, in each commit. drawn.def has a line for each group of cases, of the tier smoke and of every fourth case
 * of the default tier. Where a change of what is drawn is meant: test_drawn renew >tests/unit/harness/suites/drawn.def.
 * Expected outputs are left out: they come from functions of libm, which are not equal everywhere.
 */
#include "base/rng.h"
#include "harness/suites/suites.h"
#include "tests/kit/test.h"

enum { TIERS = 2, ONE_IN = 4, GROUP = 96 };

struct group {
    char name[GROUP];
    unsigned cases;
    uint64_t hash;
};

#define X(name, cases, hash) {name, cases, UINT64_C(hash)},
static const struct group known[] = {
#include "drawn.def"
};

static struct group *group;
static size_t groups;

static void mix(uint64_t *hash, const void *p, size_t n) {
    const uint64_t both[2] = {*hash, n ? nnv_hash_bytes(p, n) : 1};
    *hash = nnv_hash_bytes(both, sizeof both);
}

#define MIX(hash, value) mix(hash, &(value), sizeof(value))

static void mix_operand(uint64_t *hash, const struct nnv_operand *o) {
    MIX(hash, o->type);
    mix(hash, o->dims, o->rank * sizeof *o->dims);
    MIX(hash, o->scale);
    MIX(hash, o->zero_point);
    if (o->channel.count) MIX(hash, o->channel.dim);
    mix(hash, o->channel.scales, o->channel.count * sizeof *o->channel.scales);
    MIX(hash, o->lifetime);
    MIX(hash, o->ignored);
    if (o->data) mix(hash, o->data, o->bytes);
    if (o->lifetime == NNV_SUBGRAPH) MIX(hash, o->subgraph);
}

static void mix_subgraph(uint64_t *hash, const struct nnv_subgraph *s) {
    for (uint32_t i = 0; i < s->noperands; i++) mix_operand(hash, &s->operands[i]);
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *o = &s->operations[i];
        MIX(hash, o->type);
        mix(hash, o->in, o->nin * sizeof *o->in);
        mix(hash, o->out, o->nout * sizeof *o->out);
    }
    mix(hash, s->in, s->nin * sizeof *s->in);
    mix(hash, s->out, s->nout * sizeof *s->out);
}

static void mix_spec(uint64_t *hash, const struct nnv_spec *s) {
    MIX(hash, s->min_version);
    MIX(hash, s->expect_failure);
    MIX(hash, s->exact);
    MIX(hash, s->model.relaxed);
    mix_subgraph(hash, &s->model.main);
    for (uint32_t i = 0; i < s->model.nreferenced; i++) mix_subgraph(hash, &s->model.referenced[i]);
    for (uint32_t i = 0; i < s->model.main.nin; i++) {
        const struct nnv_value *v = &s->inputs[i];
        MIX(hash, v->omitted);
        if (v->omitted) continue;
        mix(hash, v->dims, v->rank * sizeof *v->dims);
        mix(hash, v->data, v->bytes);
    }
}

/** "ops/ADD" of "ops/ADD/float32/rank1/0", "fusion" of all of fusion; a new one is appended. */
static struct group *group_of(const char *name) {
    const size_t first = strcspn(name, "/"), second = name[first] ? 1 + strcspn(name + first + 1, "/") : 0;
    const size_t n = strncmp(name, "fusion/", first + 1) == 0 ? first : first + second;
    for (size_t i = groups; i-- > 0;)
        if (strlen(group[i].name) == n && memcmp(group[i].name, name, n) == 0) return &group[i];
    assert_true(n < GROUP);
    group = realloc(group, (groups + 1) * sizeof *group);
    assert_non_null(group);
    group[groups] = (struct group){.hash = 0};
    memcpy(group[groups].name, name, n);
    return &group[groups++];
}

/** Draws every so manieth case of the suite. */
static void draw(const struct nnv_suite *suite, int tier, size_t step) {
    const struct nnv_run_config config = {.seed = 1, .tier = tier, .precision = -1};
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_err err = {0};
    assert_int_equal(suite->list(&config, &list, &err), NNV_OK);
    for (size_t i = 0; i < list.count; i += step) {
        const struct nnv_case *c = &list.item[i];
        struct nnv_spec *spec = NULL;
        if (suite->build(&config, c, arena, &spec, &err) != NNV_OK) fail_msg("%s: %s", c->name, err.text);
        struct group *g = group_of(c->name);
        g->cases++;
        mix(&g->hash, c->name, strlen(c->name));
        if (spec) mix_spec(&g->hash, spec);
        nnv_arena_reset(arena);
    }
    free(list.item);
    nnv_arena_free(list.arena);
    nnv_arena_free(arena);
}

static void draw_all(void) {
    size_t count;
    const struct nnv_suite *const *suites = nnv_suites(&count);
    for (size_t i = 0; i < count; i++)
        for (int tier = 0; tier < TIERS && suites[i]->build && suites[i]->by_default; tier++)
            draw(suites[i], tier, tier == 0 ? 1 : ONE_IN);
}

static const struct group *known_of(const char *name) {
    static const struct group none;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    return &none;
}

static void the_same_is_drawn(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < groups; i++) {
        const struct group *k = known_of(group[i].name);
        if (k->cases == group[i].cases && k->hash == group[i].hash) continue;
        print_error("%s: something else is drawn in its %u cases\n", group[i].name, group[i].cases);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(groups, sizeof known / sizeof *known);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_is_drawn)};
    draw_all();
    if (argc == 2 && strcmp(argv[1], "renew") == 0)
        for (size_t i = 0; i < groups; i++)
            printf("X(\"%s\", %u, 0x%016llx)\n", group[i].name, group[i].cases, (unsigned long long)group[i].hash);
    const int failed = argc == 2 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
    free(group);
    return failed;
}
