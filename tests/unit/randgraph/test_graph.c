/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_graph.c Random graphs: valid, the same everywhere, connected, telling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "randgraph/graph/catalogue.h"
#include "randgraph/graph/graph.h"
#include "randgraph/graph/growth.h"
#include "reference/eval/eval.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

static struct nnv_spec *build_as(struct nnv_arena *a, size_t profile, uint64_t seed, uint64_t index, int operations,
                                 enum nnv_graph_extents extents) {
    const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[profile],
                                        .extents = extents,
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

static struct nnv_spec *build(struct nnv_arena *a, size_t profile, uint64_t seed, uint64_t index, int operations) {
    return build_as(a, profile, seed, index, operations, NNV_EXTENTS_KNOWN);
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

static bool depends_on_all_inputs(const struct nnv_spec *spec, struct nnv_arena *arena) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_value *inputs = nnv_arena_copy(arena, spec->inputs, m->nin * sizeof *inputs);
    struct nnv_golden *was = NNV_NEW(arena, struct nnv_golden, m->nout),
                      *is = NNV_NEW(arena, struct nnv_golden, m->nout);
    struct nnv_err why = {0};
    if (!inputs || !was || !is) return false;
    for (uint32_t i = 0; i < m->nout; i++) was[i].value = spec->outputs[i];
    for (uint32_t i = 0; i < m->nin; i++) {
        if (spec->inputs[i].omitted) continue;
        if (!nnv_growth_perturb(&m->operands[m->in[i]], &spec->inputs[i], arena, &inputs[i])) return false;
        if (nnv_eval(&spec->model, inputs, &nnv_growth_bounds, arena, is, &why) != NNV_OK ||
            !nnv_growth_changed(m, was, is))
            return false;
        inputs[i] = spec->inputs[i];
    }
    return true;
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
            depends += depends_on_all_inputs(s, a);
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

static bool has_open(const struct nnv_operand *o) {
    for (uint32_t k = 0; k < o->rank; k++)
        if (o->dims[k] == 0) return true;
    return o->rank == 0;
}

/* The graph is valid as it is and evaluates to what it expects, of the shapes that it says. */
static void expect_golden(const struct nnv_spec *s, struct nnv_arena *a) {
    const struct nnv_subgraph *m = &s->model.main;
    const struct nnv_eval_options options = {.rows = 0};
    struct nnv_golden *golden = NNV_NEW(a, struct nnv_golden, m->nout);
    struct nnv_err err = {0};
    if (nnv_validate(&s->model, a, NULL, &err) || nnv_eval(&s->model, s->inputs, &options, a, golden, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < m->nout; i++) {
        assert_int_equal(golden[i].value.rank, s->outputs[i].rank);
        assert_memory_equal(golden[i].value.dims, s->outputs[i].dims, s->outputs[i].rank * sizeof(uint32_t));
        assert_int_equal(golden[i].value.bytes, s->outputs[i].bytes);
        if (s->outputs[i].bytes) assert_memory_equal(golden[i].value.data, s->outputs[i].data, s->outputs[i].bytes);
    }
}

/* Open graphs leave extents of an input open, and of nearly all results. */
static void open_graphs_leave_extents_open(void **state) {
    (void)state;
    enum { GRAPHS = 25 };
    struct nnv_arena *a = nnv_arena_new();
    size_t inputs = 0, results = 0, open = 0;
    for (size_t p = 0; p < nnv_graph_profile_count; p++)
        for (uint64_t i = 0; i < GRAPHS; i++) {
            const struct nnv_spec *s = build_as(a, p, 3, i, 0, NNV_EXTENTS_OPEN);
            const struct nnv_subgraph *m = &s->model.main;
            expect_golden(s, a);
            for (uint32_t k = 0; k < m->nin; k++) inputs += has_open(&m->operands[m->in[k]]);
            for (uint32_t k = 0; k < m->nout; k++) {
                results++;
                open += has_open(&m->operands[m->out[k]]);
            }
            nnv_arena_reset(a);
        }
    if (inputs < nnv_graph_profile_count * GRAPHS * 8 / 10 || open * 10 < results * 8)
        fail_msg("%zu open inputs, %zu of %zu results open", inputs, open, results);
    nnv_arena_free(a);
}

/* Where nothing tells a scale, but it must be above the product of two others, it is just above. */
static bool is_raised(const struct nnv_subgraph *m, const struct nnv_operation *o) {
    if (o->nin < 2) return false;
    const float product = m->operands[o->in[0]].scale * m->operands[o->in[1]].scale;
    return product > 0 && m->operands[o->out[0]].scale == product * 1.0625f;
}

/* Graphs without a batch have an input and an output without elements, and are right all the same. */
static void empty_graphs_have_no_rows(void **state) {
    (void)state;
    enum { GRAPHS = 25 };
    struct nnv_arena *a = nnv_arena_new();
    size_t operations = 0, raised = 0;
    for (size_t p = 0; p < nnv_graph_profile_count; p++)
        for (uint64_t i = 0; i < GRAPHS; i++) {
            const struct nnv_spec *s = build_as(a, p, 3, i, 0, NNV_EXTENTS_EMPTY);
            const struct nnv_subgraph *m = &s->model.main;
            bool in = false, out = false;
            expect_golden(s, a);
            assert_true(s->min_version >= 3);
            for (uint32_t k = 0; k < m->nin; k++) {
                const struct nnv_value *v = &s->inputs[k];
                if (v->omitted || v->bytes > 0) continue;
                in = true;
                assert_true(has_open(&m->operands[m->in[k]]));
            }
            for (uint32_t k = 0; k < m->noperations; k++) {
                assert_int_not_equal(nnv_op(m->operations[k].type)->zero, NNV_ZERO_REFUSED);
                operations++;
                raised += is_raised(m, &m->operations[k]);
            }
            for (uint32_t k = 0; k < m->nout; k++) out |= s->outputs[k].bytes == 0;
            assert_true(in && (out || m->noperations > 1));
            nnv_arena_reset(a);
        }
    assert_true(operations > nnv_graph_profile_count * GRAPHS * 3);
    assert_true(raised > 0);
    nnv_arena_free(a);
}

/* Batches above 1, odd extents, and extents that differ are what most values have. */
static void sizes_are_odd_and_unequal(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    size_t values = 0, batches = 0, odd = 0, unequal = 0;
    for (uint64_t i = 0; i < 300; i++) {
        const struct nnv_subgraph *m = &build(a, 1, 5, i, 0)->model.main;
        for (uint32_t k = 0; k < m->nin; k++) {
            const struct nnv_operand *o = &m->operands[m->in[k]];
            if (o->rank != 4) continue;
            values++;
            batches += o->dims[0] > 1;
            odd += o->dims[0] % 2 || o->dims[1] % 2 || o->dims[2] % 2 || o->dims[3] % 2;
            unequal += o->dims[1] != o->dims[2];
        }
        nnv_arena_reset(a);
    }
    if (values < 50 || batches * 2 < values || odd * 10 < values * 8 || unequal * 10 < values * 7)
        fail_msg("%zu inputs of rank 4: %zu with batches, %zu with an odd extent, %zu with unequal ones", values,
                 batches, odd, unequal);
    nnv_arena_free(a);
}

/* A series of graphs has all kinds, known extents most of all. */
static void series_mix_the_kinds(void **state) {
    (void)state;
    size_t count[3] = {0};
    for (uint64_t i = 0; i < 320; i++) count[nnv_graph_extents_of(i)]++;
    assert_int_equal(count[NNV_EXTENTS_EMPTY], 10);
    assert_int_equal(count[NNV_EXTENTS_OPEN], 40);
}

/** Graphs of a part of the uses have no others, and are drawn from all where the part has nothing for a profile. */
static void a_part_of_the_uses(void **state) {
    (void)state;
    enum { ADD = ANEURALNETWORKS_ADD, MUL = ANEURALNETWORKS_MUL, TANH = ANEURALNETWORKS_TANH };
    const struct nnv_graph_catalogue *all = nnv_graph_whole_catalogue();
    struct nnv_arena *a = nnv_arena_new();
    const uint64_t before = fingerprint(build(a, 1, 5, 3, 0));
    bool *uses = calloc(all->count, sizeof *uses);
    for (size_t i = 0; i < all->count; i++) {
        const int32_t op = all->use[i].op->code;
        uses[i] = (op == ADD || op == MUL || op == TANH) &&
                  nnv_graph_use_type(&all->use[i]) == ANEURALNETWORKS_TENSOR_FLOAT32;
    }
    assert_true(nnv_graph_restrict(uses));
    uint32_t most = 0;
    for (size_t p = 0; p < nnv_graph_profile_count; p++) {
        const bool floats = strcmp(nnv_graph_profiles[p].name, "quant") != 0;
        for (uint64_t i = 0; i < 20; i++) {
            const struct nnv_spec *spec = build(a, p, 5, i, 0);
            for (uint32_t k = 0; floats && k < spec->model.main.noperations; k++) {
                const int32_t op = spec->model.main.operations[k].type;
                if (!(op == ADD || op == MUL || op == TANH))
                    fail_msg("%s/%d has %s", nnv_graph_profiles[p].name, (int)i, nnv_op(op)->name);
            }
            if (floats && spec->model.main.noperations > most) most = spec->model.main.noperations;
            nnv_arena_reset(a);
        }
    }
    assert_true(most >= 30);
    memset(uses, 0, all->count);
    assert_false(nnv_graph_restrict(uses));
    assert_int_equal(fingerprint(build(a, 1, 5, 3, 0)), before);
    assert_true(nnv_graph_restrict(NULL));
    assert_int_equal(fingerprint(build(a, 1, 5, 3, 0)), before);
    free(uses);
    nnv_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_the_uses),
        cmocka_unit_test(graphs_are_valid_and_connected),
        cmocka_unit_test(the_same_seed_gives_the_same_graph),
        cmocka_unit_test(two_hundred_operations),
        cmocka_unit_test(every_operation_comes_first),
        cmocka_unit_test(open_graphs_leave_extents_open),
        cmocka_unit_test(empty_graphs_have_no_rows),
        cmocka_unit_test(sizes_are_odd_and_unequal),
        cmocka_unit_test(series_mix_the_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
