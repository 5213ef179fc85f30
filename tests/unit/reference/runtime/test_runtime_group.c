/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping operations into steps, and the pool of temporaries. */
#include <stdio.h>

#include "reference/runtime/plan/planning.h"
#include "tests/kit/toy.h"

enum { MOST = 12 };

/** A random graph: each operation reads the input or results of earlier ones; what nobody reads is an output. */
static const struct nnvts_subgraph *random_graph(struct toy *t, struct nnv_rng *r, uint32_t n, uint32_t kind_count,
                                                 uint32_t *kinds) {
    uint32_t *values = NNV_NEW(t->arena, uint32_t, n + 1);
    bool *read = NNV_NEW(t->arena, bool, n + 1);
    values[0] = toy_operand(t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t near = i > 6 && nnv_rng_int(r, 0, 3) > 0 ? i - 6 : 0;
        uint32_t a = values[nnv_rng_int(r, near, i)], b = values[nnv_rng_int(r, near, i)];
        kinds[i] = (uint32_t)nnv_rng_int(r, 0, kind_count - 1);
        values[i + 1] = toy_binary(t, 0, (int32_t)kinds[i], a, b, NNVTS_TEMPORARY_VARIABLE);
        read[a] = read[b] = true;
    }
    for (uint32_t i = 1; i <= n; i++)
        if (!read[values[i]] || nnv_rng_int(r, 0, 7) == 0) toy_make_output(t, 0, values[i]);
    return &toy_end(t)->model.main;
}

/** Every operation once, one kind a step, writers before readers; the crossings are counted right. */
static void check_grouping(const struct nnvts_subgraph *g, const uint32_t *kinds, uint32_t single,
                           const struct nnv_rt_grouping *x, struct nnv_arena *arena) {
    uint32_t *step_of = NNV_NEW(arena, uint32_t, g->operation_count);
    uint32_t *writer = NNV_NEW(arena, uint32_t, g->operand_count);
    bool *crosses = NNV_NEW(arena, bool, g->operand_count);
    uint32_t crossings = 0;
    for (uint32_t i = 0; i < g->operation_count; i++) step_of[i] = UINT32_MAX;
    for (uint32_t i = 0; i < g->operand_count; i++) writer[i] = UINT32_MAX;
    assert_int_equal(x->begin[0], 0);
    assert_int_equal(x->begin[x->step_count], g->operation_count);
    for (uint32_t s = 0; s < x->step_count; s++) {
        assert_true(x->begin[s] < x->begin[s + 1]);
        for (uint32_t k = x->begin[s]; k < x->begin[s + 1]; k++) {
            uint32_t i = x->order[k];
            assert_int_equal(step_of[i], UINT32_MAX);
            assert_int_equal(kinds[i], kinds[x->order[x->begin[s]]]);
            if (k > x->begin[s]) assert_true(x->order[k - 1] < i);
            step_of[i] = s;
            const struct nnvts_operation *op = &g->operations[i];
            for (uint32_t j = 0; j < op->input_count; j++) {
                uint32_t o = op->inputs[j];
                if (g->operands[o].lifetime == NNVTS_SUBGRAPH_INPUT) continue;
                assert_int_not_equal(writer[o], UINT32_MAX);
                if (step_of[writer[o]] != s && !crosses[o]) {
                    crosses[o] = true;
                    crossings++;
                }
            }
            for (uint32_t j = 0; j < op->output_count; j++) writer[op->outputs[j]] = i;
        }
        if (kinds[x->order[x->begin[s]]] == single) assert_int_equal(x->begin[s + 1] - x->begin[s], 1);
    }
    assert_int_equal(x->crossings, crossings);
}

/** The fewest steps that there can be, by trying every order of devices. */
static uint32_t fewest(const struct nnvts_subgraph *g, const uint32_t *kinds, uint32_t kind_count) {
    uint32_t n = g->operation_count, needs[MOST] = {0}, count = 0;
    static unsigned char steps[1 << MOST];
    static uint32_t queue[1 << MOST];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < i; p++)
            for (uint32_t k = 0; k < g->operations[i].input_count; k++)
                if (g->operations[p].outputs[0] == g->operations[i].inputs[k]) needs[i] |= 1u << p;
    memset(steps, 0xff, sizeof steps);
    steps[0] = 0;
    queue[count++] = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t done = queue[at];
        for (uint32_t kind = 0; kind < kind_count; kind++) {
            uint32_t next = done;
            for (uint32_t i = 0; i < n; i++)
                if (kinds[i] == kind && (needs[i] & ~next) == 0) next |= 1u << i;
            if (next == done || steps[next] != 0xff) continue;
            steps[next] = (unsigned char)(steps[done] + 1);
            queue[count++] = next;
        }
    }
    return steps[(1u << n) - 1];
}

static void test_few_steps(void **state) {
    (void)state;
    uint32_t got[6] = {0}, best[6] = {0}, worse[6] = {0};
    for (uint32_t round = 0; round < 3000; round++) {
        struct nnv_rng r = nnv_rng_make(1, round, 0);
        struct toy t;
        uint32_t kinds[MOST], kind_count = 1 + round % 5, n = (uint32_t)nnv_rng_int(&r, 1, MOST);
        toy_begin(&t, 1, n);
        const struct nnvts_subgraph *g = random_graph(&t, &r, n, kind_count, kinds);
        struct nnv_rt_grouping x = {0};
        assert_int_equal(nnv_rt_group(g, kinds, kind_count, kind_count, t.arena, &x), ANEURALNETWORKS_NO_ERROR);
        check_grouping(g, kinds, kind_count, &x, t.arena);
        uint32_t least = fewest(g, kinds, kind_count);
        assert_true(x.step_count >= least);
        /* One device: one step; two: as few as there can be. */
        if (kind_count <= 2) assert_int_equal(x.step_count, least);
        got[kind_count] += x.step_count;
        best[kind_count] += least;
        worse[kind_count] += x.step_count > least;
        toy_free(&t);
    }
    for (int k = 1; k <= 5; k++) {
        print_message("%d devices: %u steps, the fewest are %u; more than needed in %u of 600 graphs\n", k, got[k],
                      best[k], worse[k]);
        assert_true(got[k] <= best[k] * 1.01);
    }
}

/** Larger graphs, with operations that are steps of their own. */
static void test_groups_hold(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        struct nnv_rng r = nnv_rng_make(2, round, 0);
        struct toy t;
        uint32_t kind_count = 2 + round % 4, n = (uint32_t)nnv_rng_int(&r, 1, 400), kinds[400];
        toy_begin(&t, 1, n);
        const struct nnvts_subgraph *g = random_graph(&t, &r, n, kind_count, kinds);
        struct nnv_rt_grouping x = {0};
        assert_int_equal(nnv_rt_group(g, kinds, kind_count, kind_count - 1, t.arena, &x), ANEURALNETWORKS_NO_ERROR);
        check_grouping(g, kinds, kind_count - 1, &x, t.arena);
        toy_free(&t);
    }
}

/**
 * A reads the input and is read by B; C reads the input, too, and is read by D. A and C are of device 0, B and D of
 * device 1. The last device first would find nothing to do on device 1 first, then A C, then B D: two steps.
 * E, of device 1, reads the input: taken at once it would be a step of its own.
 */
static void test_late_is_better(void **state) {
    (void)state;
    struct toy t;
    uint32_t kinds[] = {1, 0, 1};
    toy_begin(&t, 1, 8);
    uint32_t in = toy_operand(&t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    uint32_t e = toy_binary(&t, 0, 1, in, in, NNVTS_TEMPORARY_VARIABLE);
    uint32_t a = toy_binary(&t, 0, 0, in, in, NNVTS_TEMPORARY_VARIABLE);
    toy_binary(&t, 0, 1, a, e, NNVTS_SUBGRAPH_OUTPUT);
    const struct nnvts_subgraph *g = &toy_end(&t)->model.main;
    struct nnv_rt_grouping x = {0};
    assert_int_equal(nnv_rt_group(g, kinds, 2, 2, t.arena, &x), ANEURALNETWORKS_NO_ERROR);
    assert_int_equal(x.step_count, 2);
    assert_int_equal(x.crossings, 1);
    assert_int_equal(x.order[0], 1);
    toy_free(&t);
}

/** Of two schedules with as many steps, the one in which fewer values wait. */
static void test_few_crossings(void **state) {
    (void)state;
    struct toy t;
    /* 0 (A) -> 1 (B) -> 3 (A), and 2 (A), which reads the input, -> 3: with 0, its result crosses; with 3, it does not.
     */
    uint32_t kinds[] = {0, 1, 0, 0};
    toy_begin(&t, 1, 8);
    uint32_t in = toy_operand(&t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    uint32_t r0 = toy_binary(&t, 0, 0, in, in, NNVTS_TEMPORARY_VARIABLE);
    uint32_t r1 = toy_binary(&t, 0, 1, r0, r0, NNVTS_TEMPORARY_VARIABLE);
    uint32_t r2 = toy_binary(&t, 0, 0, in, in, NNVTS_TEMPORARY_VARIABLE);
    toy_binary(&t, 0, 0, r1, r2, NNVTS_SUBGRAPH_OUTPUT);
    const struct nnvts_subgraph *g = &toy_end(&t)->model.main;
    struct nnv_rt_grouping x = {0};
    assert_int_equal(nnv_rt_group(g, kinds, 2, 2, t.arena, &x), ANEURALNETWORKS_NO_ERROR);
    assert_int_equal(x.step_count, 3);
    assert_int_equal(x.crossings, 2);
    toy_free(&t);
}

static void test_cycles(void **state) {
    (void)state;
    struct toy t;
    uint32_t kinds[] = {0, 1, 0};
    toy_begin(&t, 1, 8);
    uint32_t a = toy_operand(&t, 0, NNVTS_TEMPORARY_VARIABLE, 4), b = toy_operand(&t, 0, NNVTS_SUBGRAPH_OUTPUT, 4);
    toy_operation(&t, 0, 0, 1, 1, &b, 1, &a);
    toy_operation(&t, 0, 1, 1, 1, &a, 1, &b);
    uint32_t in = toy_operand(&t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    toy_binary(&t, 0, 0, in, in, NNVTS_SUBGRAPH_OUTPUT);
    const struct nnvts_subgraph *g = &toy_end(&t)->model.main;
    struct nnv_rt_grouping x = {0};
    assert_int_equal(nnv_rt_group(g, kinds, 2, 2, t.arena, &x), ANEURALNETWORKS_BAD_DATA);
    toy_free(&t);
}

/* --------------------------------------------------------------------- pool */

static void test_pool(void **state) {
    (void)state;
    enum { PARTS = 64, TIMES = 20000 };
    struct {
        bool used;
        uint32_t part;
        uint64_t offset, bytes;
    } parts[PARTS] = {0};
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_rt_pool *pool = nnv_rt_pool_new(PARTS, arena);
    struct nnv_rng r = nnv_rng_make(3, 0, 0);
    uint64_t in_use = 0, most = 0;
    for (int time = 0; time < TIMES; time++) {
        int64_t i = nnv_rng_int(&r, 0, PARTS - 1);
        uint64_t padded = (parts[i].bytes + 63) / 64 * 64;
        if (parts[i].used) {
            nnv_rt_pool_give(pool, parts[i].part);
            parts[i].used = false;
            in_use -= padded;
            continue;
        }
        parts[i].bytes = (uint64_t)nnv_rng_int(&r, 1, INT64_C(1) << nnv_rng_int(&r, 0, 20));
        parts[i].part = nnv_rt_pool_take(pool, parts[i].bytes, &parts[i].offset);
        parts[i].used = true;
        in_use += (parts[i].bytes + 63) / 64 * 64;
        if (in_use > most) most = in_use;
        assert_int_equal(parts[i].offset % 64, 0);
        assert_true(parts[i].offset + parts[i].bytes <= nnv_rt_pool_bytes(pool));
        for (int k = 0; k < PARTS; k++) {
            if (k == i || !parts[k].used) continue;
            assert_true(parts[k].offset + parts[k].bytes <= parts[i].offset ||
                        parts[i].offset + parts[i].bytes <= parts[k].offset);
        }
    }
    print_message("pool: %.3f of the bytes in use at most\n", (double)nnv_rt_pool_bytes(pool) / (double)most);
    assert_true(nnv_rt_pool_bytes(pool) <= 2 * most);
    nnv_arena_free(arena);
}

/** What was given back is one again: as large a part fits where many small ones were. */
static void test_pool_joins(void **state) {
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
    for (int k = 0; k < 4; k++) {
        struct nnv_arena *arena = nnv_arena_new();
        struct nnv_rt_pool *pool = nnv_rt_pool_new(8, arena);
        uint64_t offset;
        uint32_t parts[3];
        for (int i = 0; i < 3; i++) parts[i] = nnv_rt_pool_take(pool, 100, &offset);
        assert_int_equal(offset, 256);
        for (int i = 0; i < 3; i++) nnv_rt_pool_give(pool, parts[orders[k][i]]);
        nnv_rt_pool_take(pool, 384, &offset);
        assert_int_equal(offset, 0);
        assert_int_equal(nnv_rt_pool_bytes(pool), 384);
        nnv_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_steps),     cmocka_unit_test(test_groups_hold), cmocka_unit_test(test_late_is_better),
        cmocka_unit_test(test_few_crossings), cmocka_unit_test(test_cycles),      cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
