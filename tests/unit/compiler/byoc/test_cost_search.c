/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing devices: worked examples, all choices of small problems, and what must hold of any. */
#include "tests/kit/cost.h"

#include "compiler/byoc/cost/cost.h"

#define NEVER (-1)

/* Chain a, b, x, c, d in tenths; x only on the host. By enumeration: 10 with a launch of 1, 20.5 with one of 7. */
static struct cost worked(int64_t launch) {
    const int64_t host[] = {100, 10, 10, 80, 10}, target[] = {20, 5, NEVER, 20, 5};
    return cost_chain(5, host, target, 5, launch);
}

static void test_worked_example(void **state) {
    (void)state;
    static const struct {
        int64_t launch, least;
        const char *on;
    } rows[] = {{10, 100, "11011"}, {70, 205, "11000"}, {1000, 210, "00000"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int method = 0; method < NNV_COST_METHODS; method++) {
            struct cost c = worked(rows[r].launch);
            bool on[COST_NODES];
            int64_t lower = 0;
            assert_int_equal(cost_solve(&c, (enum nnv_cost_method)method, 0, on, &lower), rows[r].least);
            for (int i = 0; i < 5; i++) assert_int_equal(on[i], rows[r].on[i] == '1');
            if (method != NNV_COST_GREEDY) assert_int_equal(lower, rows[r].least);
            cost_end(&c);
        }
}

static void test_costs_are_counted_as_defined(void **state) {
    (void)state;
    struct cost c = worked(70);
    static const struct {
        bool on[5];
        int64_t cost;
    } rows[] = {{{0, 0, 0, 0, 0}, 210},
                {{1, 1, 0, 1, 1}, 220},
                {{1, 1, 0, 0, 0}, 205},
                {{0, 0, 0, 1, 1}, 225},
                {{1, 0, 0, 0, 0}, 20 + 110 + 70 + 10}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int64_t cost = 0;
        assert_int_equal(nnv_cost_try(&c.p, rows[r].on, &cost, &c.err), NNV_OK);
        assert_int_equal(cost, rows[r].cost);
    }
    cost_end(&c);
}

/* One value with three users on the target, in two regions, and one on the host: in once, out once. */
static void test_a_tensor_crosses_once(void **state) {
    (void)state;
    struct cost c = cost_begin(0);
    cost_node(&c, 0, 100, 1);
    struct nnv_cost_value *x = cost_value(&c, 0, 1000);
    for (int i = 0; i < 4; i++) {
        cost_node(&c, i < 3 ? 1 : 0, 100, i < 3 ? 1 : NEVER); /* another kind: regions of their own */
        cost_edge(&c, 0, x);
    }
    assert_true(nnv_cost_index(&c.p, c.arena));
    const bool all[] = {true, true, true, true, false}, three[] = {false, true, true, true, false},
               first[] = {true, false, false, false, false};
    int64_t cost = 0;
    assert_int_equal(nnv_cost_try(&c.p, all, &cost, &c.err), NNV_OK);
    assert_int_equal(cost, 4 + 100 + 2000);
    assert_int_equal(nnv_cost_try(&c.p, three, &cost, &c.err), NNV_OK);
    assert_int_equal(cost, 3 + 200 + 1000);
    assert_int_equal(nnv_cost_try(&c.p, first, &cost, &c.err), NNV_OK);
    assert_int_equal(cost, 1 + 400 + 1000);
    cost_end(&c);
}

/* a feeds h (host) and b; b needs both: joined, the host would stand between. Two regions, two launches. */
static void test_regions_have_no_cycle(void **state) {
    (void)state;
    struct cost c = cost_begin(7);
    cost_node(&c, 0, 1000, 1);
    struct nnv_cost_value *a = cost_value(&c, 0, 3);
    cost_node(&c, 0, 10, NEVER);
    cost_edge(&c, 0, a);
    struct nnv_cost_value *h = cost_value(&c, 1, 3);
    cost_node(&c, 0, 1000, 1);
    cost_edge(&c, 0, a);
    cost_edge(&c, 1, h);
    assert_true(nnv_cost_index(&c.p, c.arena));
    bool on[COST_NODES];
    int64_t lower = 0;
    /* a goes out and in, h in */
    assert_int_equal(cost_solve(&c, NNV_COST_EXACT, 0, on, &lower), 1 + 10 + 1 + 2 * 7 + 3 * 3);
    assert_int_equal(lower, 1 + 10 + 1 + 2 * 7 + 3 * 3);
    cost_end(&c);
}

/* ----------------------------------------------------------------- all choices */

static int64_t brute_force(struct cost *c) {
    int64_t best = INT64_MAX;
    bool on[COST_NODES];
    for (uint32_t mask = 0; mask < 1u << c->p.n; mask++) {
        bool can = true;
        int64_t cost = 0;
        for (uint32_t i = 0; i < c->p.n; i++) {
            on[i] = mask >> i & 1;
            can &= !on[i] || nnv_cost_can(&c->p, i);
        }
        if (!can) continue;
        assert_int_equal(nnv_cost_try(&c->p, on, &cost, &c->err), NNV_OK);
        if (cost < best) best = cost;
    }
    return best;
}

static struct cost_shape draw_shape(uint64_t seed, uint32_t least, uint32_t most) {
    struct nnv_rng r = nnv_rng_make(seed, 77, 0);
    static const int64_t launches[] = {0, 1, 5, 15, 40};
    return (struct cost_shape){
        .n = (uint32_t)nnv_rng_int(&r, least, most),
        .reach = (uint32_t)nnv_rng_int(&r, 1, 12),
        .launch = launches[nnv_rng_int(&r, 0, 4)],
        .crossing = nnv_rng_int(&r, 0, 8),
        .unsupported = (int)nnv_rng_int(&r, 0, 40),
        .kinds = (int)nnv_rng_int(&r, 1, 2),
    };
}

static void test_exact_is_brute_force(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct cost_shape shape = draw_shape(seed, 1, seed % 40 ? 10 : 14);
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES];
        int64_t lower = 0, best = brute_force(&c), plain = 0, launches = 0;
        if (cost_solve(&c, NNV_COST_EXACT, 0, on, &lower) != best || lower != best)
            fail_msg("exact, seed %d", (int)seed);
        if (cost_solve(&c, NNV_COST_DP, 0, on, &lower) != best || lower != best) fail_msg("dp, seed %d", (int)seed);
        assert_true(cost_solve(&c, NNV_COST_GREEDY, 0, on, &lower) >= best && lower <= best);
        assert_int_equal(nnv_cost_cut(&c.p, 0, false, NULL, &plain, &c.err), NNV_OK);
        assert_int_equal(nnv_cost_cut(&c.p, 0, true, NULL, &launches, &c.err), NNV_OK);
        assert_true(plain <= best && launches <= best);
        cost_end(&c);
    }
}

/* Without launches, and one kind without cycles to break, the minimum cut is the optimum. */
static void test_cut_is_exact_without_launches(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct cost_shape shape = {
            .n = 60, .reach = 1, .launch = seed % 2 ? 0 : 9, .crossing = 9, .unsupported = 20, .kinds = 1};
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES];
        int64_t lower = 0, cut = 0, best = cost_solve(&c, NNV_COST_EXACT, 0, on, &lower);
        assert_int_equal(lower, best);
        /* a chain: with launches, too */
        assert_int_equal(nnv_cost_cut(&c.p, 0, shape.launch != 0, NULL, &cut, &c.err), NNV_OK);
        assert_int_equal(cut, best);
        cost_end(&c);
    }
}

/* ------------------------------------------------------------------ what must hold */

static void test_more_support_costs_no_more(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct cost_shape shape = draw_shape(seed, 20, 40);
        shape.reach = 1 + shape.reach % 5;
        shape.unsupported = 0;
        struct cost c = cost_random(&shape, seed);
        int64_t last = INT64_MAX;
        bool on[COST_NODES];
        uint32_t n = c.p.n;
        int32_t kind[COST_NODES];
        for (uint32_t i = 0; i < n; i++) {
            kind[i] = c.p.nodes[i].kind;
            c.p.nodes[i].kind = NNV_CLUSTER_ALONE;
        }
        /* every seventh node more each time */
        for (uint32_t step = 0; step <= 7; step++) {
            int64_t lower = 0, cost = cost_solve(&c, NNV_COST_EXACT, 0, on, &lower);
            assert_int_equal(lower, cost);
            assert_true(cost <= last);
            last = cost;
            for (uint32_t i = 0; i < n; i++)
                if (i % 7 == step) c.p.nodes[i].kind = kind[i];
        }
        cost_end(&c);
    }
}

static void test_extreme_launches(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct cost_shape shape = draw_shape(seed, 20, 40);
        shape.reach = 1 + shape.reach % 5;
        shape.launch = INT64_C(1) << 40;
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES];
        cost_solve(&c, NNV_COST_EXACT, 0, on, NULL);
        for (uint32_t i = 0; i < c.p.n; i++) assert_false(on[i]);
        cost_end(&c);
        shape.launch = shape.crossing = 0;
        c = cost_random(&shape, seed);
        int64_t sum = 0;
        for (uint32_t i = 0; i < c.p.n; i++)
            sum += nnv_cost_can(&c.p, i) && c.p.target[i] < c.p.host[i] ? c.p.target[i] : c.p.host[i];
        assert_int_equal(cost_solve(&c, NNV_COST_EXACT, 0, on, NULL), sum);
        cost_end(&c);
    }
}

/* Regions of the best choice cut in two by hand, at every place in evaluation order: never cheaper. */
static void test_splitting_never_pays(void **state) {
    (void)state;
    size_t splits = 0;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct cost_shape shape = draw_shape(seed, 15, 30);
        shape.reach = 1 + shape.reach % 5;
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES];
        uint32_t first[COST_NODES], cut[COST_NODES];
        int64_t best = cost_solve(&c, NNV_COST_EXACT, 0, on, NULL);
        assert_int_equal(nnv_cost_clusters(&c.p, on, first, &c.err), NNV_OK);
        for (uint32_t at = 1; at < c.p.n; at++) {
            if (!on[at] || first[at] == at) continue;
            for (uint32_t i = 0; i < c.p.n; i++) cut[i] = on[i] && i >= at && first[i] == first[at] ? at : first[i];
            struct nnv_cost_parts parts = nnv_cost_of(&c.p, on, cut);
            assert_true(nnv_cost_sum(&parts) >= best);
            splits++;
        }
        cost_end(&c);
    }
    assert_true(splits > 100);
}

/* What giving a region back changes, against counting anew. */
static void test_dropped_is_the_difference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct cost_shape shape = draw_shape(seed, 10, 40);
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES], less[COST_NODES];
        uint32_t first[COST_NODES];
        for (uint32_t i = 0; i < c.p.n; i++) on[i] = nnv_cost_can(&c.p, i);
        assert_int_equal(nnv_cost_clusters(&c.p, on, first, &c.err), NNV_OK);
        int64_t change[COST_NODES];
        assert_int_equal(nnv_cost_drops(&c.p, on, first, change, &c.err), NNV_OK);
        struct nnv_cost_parts before = nnv_cost_of(&c.p, on, first);
        for (uint32_t k = 0; k < c.p.n; k++) {
            if (!on[k] || first[k] != k) continue;
            for (uint32_t i = 0; i < c.p.n; i++) less[i] = on[i] && first[i] != k;
            struct nnv_cost_parts after = nnv_cost_of(&c.p, less, first);
            assert_int_equal(change[k], nnv_cost_sum(&after) - nnv_cost_sum(&before));
        }
        cost_end(&c);
    }
}

/* A budget that is too small: an honest gap, and never a worse choice than the greedy one. */
static void test_budget_leaves_a_gap(void **state) {
    (void)state;
    size_t gaps = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct cost_shape shape = {.n = 60, .reach = 9, .launch = 20, .crossing = 9, .unsupported = 25, .kinds = 1};
        struct cost c = cost_random(&shape, seed);
        bool on[COST_NODES], again[COST_NODES];
        int64_t lower = 0, small = cost_solve(&c, NNV_COST_EXACT, 300, on, &lower), whole_lower = 0, lower_again = 0;
        int64_t whole = cost_solve(&c, NNV_COST_EXACT, 200000, again, &whole_lower);
        int64_t greedy = cost_solve(&c, NNV_COST_GREEDY, 0, again, NULL);
        assert_true(lower <= whole && small >= whole_lower && small <= greedy && whole <= greedy);
        gaps += lower < small;
        assert_int_equal(cost_solve(&c, NNV_COST_EXACT, 300, again, &lower_again), small);
        assert_int_equal(lower_again, lower);
        assert_memory_equal(on, again, c.p.n * sizeof *on);
        cost_end(&c);
    }
    assert_true(gaps > 0);
}

/* Times that are wrong by up to a tenth: what is chosen by them costs at most 1.1 / 0.9 of the least. */
static void test_noisy_times(void **state) {
    (void)state;
    size_t other = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct cost_shape shape = draw_shape(seed, 15, 40);
        shape.reach = 1 + shape.reach % 5;
        struct cost c = cost_random(&shape, seed);
        struct nnv_rng r = nnv_rng_make(seed, 5, 5);
        bool on[COST_NODES], noisy[COST_NODES];
        c.p.launch *= 1000;
        for (uint32_t i = 0; i < c.p.n; i++) {
            c.p.host[i] *= 1000;
            if (c.p.target[i] != NNV_COST_NEVER) c.p.target[i] *= 1000;
        }
        for (uint32_t v = 0; v < c.p.n_values; v++) c.p.values[v].in = c.p.values[v].out *= 1000;
        int64_t best = cost_solve(&c, NNV_COST_EXACT, 0, on, NULL), cost = 0;
        int64_t host[COST_NODES], target[COST_NODES];
        for (uint32_t i = 0; i < c.p.n; i++) {
            host[i] = c.p.host[i];
            target[i] = c.p.target[i];
            c.p.host[i] = host[i] * nnv_rng_int(&r, 900, 1100) / 1000;
            if (target[i] != NNV_COST_NEVER) c.p.target[i] = target[i] * nnv_rng_int(&r, 900, 1100) / 1000;
        }
        cost_solve(&c, NNV_COST_EXACT, 0, noisy, NULL);
        other += memcmp(on, noisy, c.p.n * sizeof *on) != 0;
        memcpy(c.p.host, host, c.p.n * sizeof *host);
        memcpy(c.p.target, target, c.p.n * sizeof *target);
        assert_int_equal(nnv_cost_try(&c.p, noisy, &cost, &c.err), NNV_OK);
        assert_true(cost >= best && (double)cost <= (double)best * 1.1 / 0.9);
        cost_end(&c);
    }
    assert_true(other > 0);
}

/* More nodes in use at once than states can tell: greedy and cuts answer, with their gap. */
static void test_too_wide(void **state) {
    (void)state;
    struct cost c = cost_begin(3);
    struct nnv_cost_value *made[100];
    for (uint32_t i = 0; i < 100; i++) {
        cost_node(&c, 0, 10, 2);
        made[i] = cost_value(&c, i, 1);
    }
    cost_node(&c, 0, 10, 2);
    for (uint32_t i = 0; i < 100; i++) cost_edge(&c, i, made[i]);
    cost_value(&c, 100, 1)->kept = true;
    assert_true(nnv_cost_index(&c.p, c.arena));
    bool on[COST_NODES];
    int64_t lower = 0;
    assert_int_equal(cost_solve(&c, NNV_COST_EXACT, 0, on, &lower), 202 + 3 + 1);
    assert_int_equal(lower, 202 + 3 + 1); /* a tree: the cut with launches is exact */
    cost_end(&c);
}

/** The gap is what part of the cost may be too much: of 20 us, 5 above the bound; of nothing, none. Hundredths for
 * people, a fraction for programs. */
static void test_gaps_are_printed(void **state) {
    (void)state;
    static const struct {
        double us, lower_us;
        const char *words, *member;
    } rows[] = {
        {20, 15, "20.0 us (host alone 21.0 us), at least 15.0 us: gap 25.00 %", "\"gap\": 0.25,"},
        {20, 20, "at least 20.0 us: gap 0.00 %", "\"gap\": 0,"},
        {0, 0, "at least 0.0 us: gap 0.00 %", "\"gap\": 0,"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_cost_result r = {
            .function = "main", .us = rows[i].us, .least_us = rows[i].us, .host_us = 21, .lower_us = rows[i].lower_us};
        const struct nnv_cost_selection s = {.results = &r, .n_results = 1};
        struct nnv_text t = {0};
        nnv_cost_table(&s, &t);
        assert_non_null(strstr(t.data, rows[i].words));
        nnv_text_clear(&t);
        nnv_cost_print(&s, &t);
        assert_non_null(strstr(t.data, rows[i].member));
        nnv_text_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_costs_are_counted_as_defined),
        cmocka_unit_test(test_a_tensor_crosses_once),
        cmocka_unit_test(test_regions_have_no_cycle),
        cmocka_unit_test(test_exact_is_brute_force),
        cmocka_unit_test(test_cut_is_exact_without_launches),
        cmocka_unit_test(test_more_support_costs_no_more),
        cmocka_unit_test(test_extreme_launches),
        cmocka_unit_test(test_splitting_never_pays),
        cmocka_unit_test(test_dropped_is_the_difference),
        cmocka_unit_test(test_budget_leaves_a_gap),
        cmocka_unit_test(test_noisy_times),
        cmocka_unit_test(test_too_wide),
        cmocka_unit_test(test_gaps_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
