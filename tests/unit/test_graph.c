/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_graph.c Random graphs: valid, the same everywhere, connected, telling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "randgraph/graph.h"
#include "reference/model/spec.h"
#include "reference/model/validate.h"

static struct nnv_spec *build(struct nnv_arena *a, size_t profile, uint64_t seed, uint64_t index, int operations) {
    const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[profile],
                                        .operations = operations,
                                        .seed = seed,
                                        .index = index,
                                        .name = "graph"};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_graph_build(&o, a, &spec, &err) != NNV_OK)
        fail_msg("%s %u: %s", o.profile->name, (unsigned)index, err.text);
    return spec;
}

static uint64_t fingerprint(const struct nnv_spec *s) {
    uint64_t h = s->model.main.noperations;
    for (uint32_t i = 0; i < s->model.main.noperands; i++) {
        const struct nnv_operand *o = &s->model.main.operands[i];
        h = h * 31 + nnv_hash_bytes(o->dims, o->rank * sizeof *o->dims) + (uint64_t)o->type;
        if (o->data) h = h * 31 + nnv_hash_bytes(o->data, o->bytes);
        h = h * 31 + nnv_hash_bytes(&o->scale, sizeof o->scale) + (uint64_t)o->zero_point;
    }
    for (uint32_t i = 0; i < s->model.main.nin; i++) h = h * 31 + nnv_hash_bytes(s->inputs[i].data, s->inputs[i].bytes);
    for (uint32_t i = 0; i < s->model.main.nout; i++)
        h = h * 31 + nnv_hash_bytes(s->outputs[i].data, s->outputs[i].bytes);
    return h;
}

/* Every profile: valid, of the size it says, connected; at least 95 of 100 graphs depend on all their inputs. */
static void graphs_are_valid_and_connected(void **state) {
    (void)state;
    enum { GRAPHS = 40 };
    struct nnv_arena *a = nnv_arena_new();
    for (size_t p = 0; p < nnv_graph_profile_count; p++) {
        size_t depends = 0, whole = 0;
        for (uint64_t i = 0; i < GRAPHS; i++) {
            struct nnv_err err = {0};
            const struct nnv_spec *s = build(a, p, 3, i, 0);
            const struct nnv_subgraph *m = &s->model.main;
            if (nnv_validate(&s->model, a, NULL, &err)) fail_msg("%s", err.text);
            assert_true(m->nin > 0 && m->nout > 0 && m->noperations > 0);
            assert_true(m->noperations <= (uint32_t)nnv_graph_profiles[p].most);
            whole += m->noperations >= (uint32_t)nnv_graph_profiles[p].least;
            depends += nnv_graph_depends(s, a);
            nnv_arena_reset(a);
        }
        if (depends * 100 < GRAPHS * 95 || whole * 100 < GRAPHS * 95)
            fail_msg("%s: of %d graphs %zu depend on all inputs, %zu are of full size", nnv_graph_profiles[p].name,
                     (int)GRAPHS, depends, whole);
    }
    nnv_arena_free(a);
}

static void the_same_seed_gives_the_same_graph(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    for (size_t p = 0; p < nnv_graph_profile_count; p++) {
        uint64_t first = fingerprint(build(a, p, 1, 5, 0));
        assert_int_equal(fingerprint(build(a, p, 1, 5, 0)), first);
        assert_int_not_equal(fingerprint(build(a, p, 2, 5, 0)), first);
        assert_int_not_equal(fingerprint(build(a, p, 1, 6, 0)), first);
        nnv_arena_reset(a);
    }
    nnv_arena_free(a);
}

/* A graph of many operations is a graph, too. */
static void two_hundred_operations(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_spec *s = build(a, nnv_graph_profile_count - 1, 1, 1, 200);
    assert_int_equal(s->model.main.noperations, 200);
    size_t fan_out = 0;
    for (uint32_t i = 0; i < s->model.main.noperands; i++) {
        size_t reads = 0;
        for (uint32_t k = 0; k < 200; k++)
            for (uint32_t n = 0; n < s->model.main.operations[k].nin; n++)
                reads += s->model.main.operations[k].in[n] == i;
        fan_out += reads > 1;
    }
    assert_true(fan_out > 5 && s->model.main.nout > 1);
    nnv_arena_free(a);
}

/* Random results, or all alike (the hits of a table), or known before the input is. */
static bool says_nothing(int32_t code) {
    return code == ANEURALNETWORKS_RANDOM_MULTINOMIAL || code == ANEURALNETWORKS_FILL || code == ANEURALNETWORKS_RANK ||
           code == ANEURALNETWORKS_HASHTABLE_LOOKUP;
}

/* The first operation walks through the whole table. */
static void every_operation_comes_first(void **state) {
    (void)state;
    enum { GRAPHS = 4000 };
    bool seen[128] = {false};
    struct nnv_arena *a = nnv_arena_new();
    size_t nops, missing = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (uint64_t i = 0; i < GRAPHS; i++) {
        seen[build(a, 0, 1, i, 1)->model.main.operations[0].type] = true;
        nnv_arena_reset(a);
    }
    for (size_t i = 0; i < nops; i++)
        if (!seen[ops[i]->code] && !says_nothing(ops[i]->code)) {
            print_message("never first: %s\n", ops[i]->name);
            missing++;
        }
    assert_int_equal(missing, 0);
    nnv_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_valid_and_connected),
        cmocka_unit_test(the_same_seed_gives_the_same_graph),
        cmocka_unit_test(two_hundred_operations),
        cmocka_unit_test(every_operation_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
