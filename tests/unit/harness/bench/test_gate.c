/* SPDX-License-Identifier: Apache-2.0 */
/* The latency gate on simulated machines: how often it raises a false alarm, and what it finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "harness/bench/gate.h"

enum { BURST = 4 };

/** What a machine does to times. */
struct world {
    double white; /**< of every execution, relative */
    double mood;  /**< of noise that stays: an AR(1) process with coefficient `memory` from execution to execution */
    double memory;
    double process;  /**< luck of a process: where it lies in memory */
    double drift;    /**< slower by this factor from the first execution to the last of a block */
    double spikes;   /**< share of executions that take 2 to 10 times as long */
    double position; /**< each further part of a round is slower by this */
    double cast;     /**< the process that is started last is slower by this */
    double slow;     /**< the driver under test is slower by this */
    double control;  /**< the control is slower by this */
};

static const struct world calm = {.white = 0.005, .process = 0.004};
static const struct world moody = {.white = 0.01, .mood = 0.004, .memory = 0.995, .process = 0.01, .spikes = 0.02};
static const struct world wild = {.white = 0.02,
                                  .mood = 0.01,
                                  .memory = 0.999,
                                  .process = 0.02,
                                  .drift = 0.3,
                                  .spikes = 0.05,
                                  .position = 0.02,
                                  .cast = 0.03};

/** A machine at work. */
struct machine {
    const struct world *w;
    struct nnv_rng rng;
    double mood;
    bool fixed; /**< parts are not drawn: to see that the draw is needed */
};

static double run_once(struct machine *m, double slower) {
    const struct world *w = m->w;
    m->mood = w->memory * m->mood + w->mood * nnv_rng_normal(&m->rng);
    double ns = 1e6 * (1 + slower) * exp(m->mood + w->white * nnv_rng_normal(&m->rng));
    return nnv_rng_unit(&m->rng) < w->spikes ? ns * nnv_rng_uniform(&m->rng, 2, 10) : ns;
}

static void run_block(struct machine *m, uint64_t seed, uint32_t number, struct nnv_gate_block *block) {
    static struct nnv_gate_times t;
    const struct world *w = m->w;
    enum nnv_gate_part part[NNV_GATE_PARTS] = {0, 1, 2}, order[NNV_GATE_PARTS] = {0, 1, 2};
    double luck[NNV_GATE_PARTS];
    if (!m->fixed) nnv_gate_roles(seed, number, part);
    for (int k = 0; k < NNV_GATE_PARTS; k++)
        luck[part[k]] = w->process * nnv_rng_normal(&m->rng) + (k == NNV_GATE_PARTS - 1 ? w->cast : 0);
    luck[NNV_GATE_TESTED] += w->slow;
    luck[NNV_GATE_CONTROL] += w->control;
    t.burst = BURST;
    for (uint32_t r = 0; r < NNV_GATE_ROUNDS; r++) {
        if (!m->fixed) nnv_gate_order(seed, number, r, order);
        for (int k = 0; k < NNV_GATE_PARTS; k++)
            for (uint32_t i = 0; i < BURST; i++)
                t.ns[order[k]][r][i] = run_once(m, luck[order[k]] + w->position * k + w->drift * r / NNV_GATE_ROUNDS);
    }
    nnv_gate_block_make(&t, block);
    block->yardstick_ns = 20000;
}

/** A gate from its first block to its decision; *blocks: how many it took. */
static struct nnv_gate_answer run_gate(const struct world *w, const struct nnv_gate_options *o, bool fixed,
                                       uint32_t *blocks) {
    struct nnv_gate_block block[NNV_GATE_BLOCKS];
    struct nnv_gate_answer a = {0};
    struct machine m = {.w = w, .rng = nnv_rng_make(o->seed, 1, 2), .fixed = fixed};
    uint32_t n = 0;
    while (a.verdict == NNV_GATE_GO_ON) {
        assert_true(n < o->blocks);
        run_block(&m, o->seed, n, &block[n]);
        n++;
        if (nnv_gate_is_look(n, o)) nnv_gate_look(block, n, o, 0, &a);
    }
    if (blocks) *blocks = n;
    return a;
}

static struct nnv_gate_options options(uint64_t seed, double margin) {
    return (struct nnv_gate_options){
        .blocks = 64, .margin = log1p(margin), .detect = log1p(0.05), .alarms = 0.01, .seed = seed};
}

/** Runs of gates, counted by verdict. */
static void count(const struct world *w, uint64_t runs, double margin, bool fixed, int *verdicts) {
    memset(verdicts, 0, NNV_GATE_VERDICTS * sizeof *verdicts);
    for (uint64_t i = 0; i < runs; i++) {
        struct nnv_gate_options o = options(i + 1, margin);
        verdicts[run_gate(w, &o, fixed, NULL).verdict]++;
    }
}

/** Without margin the test alone stands between chance and an alarm: p must be what it says in any world. */
static void p_is_what_it_says(void **state) {
    (void)state;
    enum { RUNS = 1000, BLOCKS = 20 };
    static const struct world *const worlds[] = {&calm, &moody, &wild};
    for (int w = 0; w < 3; w++) {
        int alarms = 0, half = 0;
        for (uint64_t i = 0; i < RUNS; i++) {
            struct nnv_gate_options o = options(i + 1, 0);
            struct nnv_gate_block block[BLOCKS];
            struct nnv_gate_answer a;
            struct machine m = {.w = worlds[w], .rng = nnv_rng_make(i, 3, 4)};
            for (uint32_t k = 0; k < BLOCKS; k++) run_block(&m, o.seed, k, &block[k]);
            nnv_gate_look(block, BLOCKS, &o, 0, &a);
            alarms += a.p <= 0.01;
            half += a.p <= 0.5;
        }
        /* of 1000 at 1 %: 1 to 19 in 999 of 1000 such tests; at 50 %: 448 to 552 */
        if (alarms < 1 || alarms > 19 || half < 448 || half > 552)
            fail_msg("world %d: %d of 1000 within 1 %%, %d within 50 %%", w, alarms, half);
    }
}

static void equal_drivers_raise_no_alarm(void **state) {
    (void)state;
    int n[NNV_GATE_VERDICTS];
    count(&calm, 150, 0.01, false, n);
    assert_int_equal(n[NNV_GATE_PASS], 150);
    count(&moody, 150, 0.01, false, n);
    assert_true(n[NNV_GATE_SLOWER] <= 1 && n[NNV_GATE_PASS] >= 148);
    count(&wild, 150, 0, false, n);
    assert_true(n[NNV_GATE_SLOWER] <= 1);
}

/** The same world raises alarms again and again if parts and order are not drawn. */
static void the_draw_is_needed(void **state) {
    (void)state;
    const struct world place = {.white = 0.005, .process = 0.002, .position = -0.02};
    int n[NNV_GATE_VERDICTS], alarms = 0;
    count(&place, 20, 0.01, false, n);
    assert_int_equal(n[NNV_GATE_SLOWER], 0);
    for (uint64_t i = 0; i < 20; i++) { /* tested first, then against: 2 % slower by its place, says the test */
        struct nnv_gate_options o = options(i + 1, 0.01);
        struct nnv_gate_block block[20];
        struct nnv_gate_answer a;
        struct machine m = {.w = &place, .rng = nnv_rng_make(i, 3, 4), .fixed = true};
        for (uint32_t k = 0; k < 20; k++) run_block(&m, o.seed, k, &block[k]);
        nnv_gate_look(block, 20, &o, 0, &a);
        alarms += a.p <= 0.0025;
    }
    assert_int_equal(alarms, 20);
}

static void a_slowdown_of_five_percent_is_found(void **state) {
    (void)state;
    struct world w = calm;
    int n[NNV_GATE_VERDICTS];
    w.slow = 0.05;
    count(&w, 100, 0.01, false, n);
    assert_int_equal(n[NNV_GATE_SLOWER], 100);
    w = moody;
    w.slow = 0.05;
    count(&w, 100, 0.01, false, n);
    assert_true(n[NNV_GATE_SLOWER] >= 98);
    assert_int_equal(n[NNV_GATE_PASS], 0);
    /* within the margin it is none */
    w = calm;
    w.slow = 0.005;
    count(&w, 50, 0.01, false, n);
    assert_int_equal(n[NNV_GATE_PASS], 50);
    w.slow = -0.2; /* faster */
    count(&w, 20, 0.01, false, n);
    assert_int_equal(n[NNV_GATE_PASS], 20);
}

/** How many of 60 runs of all 64 blocks show this slowdown at the last look. */
static int found_at_last(struct world w, double slow) {
    struct nnv_gate_block block[64];
    int found = 0;
    w.slow = slow;
    for (uint64_t i = 0; i < 60; i++) {
        struct nnv_gate_options o = options(i + 100, 0.01);
        struct nnv_gate_answer a;
        struct machine m = {.w = &w, .rng = nnv_rng_make(i, 5, 6)};
        for (uint32_t k = 0; k < 64; k++) run_block(&m, o.seed, k, &block[k]);
        nnv_gate_look(block, 64, &o, 0, &a);
        found += a.p <= a.limit;
    }
    return found;
}

static void what_is_said_to_be_detectable_is_found(void **state) {
    (void)state;
    struct nnv_gate_options o = options(5, 0.01);
    struct nnv_gate_block block[64];
    struct nnv_gate_answer a;
    struct machine m = {.w = &moody, .rng = nnv_rng_make(5, 3, 4)};
    for (uint32_t k = 0; k < 64; k++) run_block(&m, o.seed, k, &block[k]);
    nnv_gate_look(block, 64, &o, 0, &a);
    assert_true(a.detectable > 1.01 && a.detectable < 1.05);
    assert_true(found_at_last(moody, a.detectable - 1) >= 45); /* 54 are expected of blocks just like these */
    assert_true(found_at_last(moody, (a.detectable - 1.01) / 3 + 0.01) < 30);
}

static void a_noisy_machine_makes_it_invalid(void **state) {
    (void)state;
    struct world w = calm;
    uint32_t blocks;
    w.process = 0.5; /* 5 % can't be told */
    struct nnv_gate_options o = options(1, 0.01);
    struct nnv_gate_answer a = run_gate(&w, &o, false, &blocks);
    assert_int_equal(a.verdict, NNV_GATE_INVALID);
    assert_int_equal(blocks, 64);
    assert_non_null(strstr(a.why, "vary too much"));
    w = calm;
    w.slow = 0.05;
    w.control = 0.05; /* one driver against itself */
    a = run_gate(&w, &o, false, &blocks);
    assert_int_equal(a.verdict, NNV_GATE_INVALID);
    assert_non_null(strstr(a.why, "the control"));
}

static void steal_and_speed_make_it_invalid(void **state) {
    (void)state;
    struct nnv_gate_options o = options(1, 0.01);
    struct nnv_gate_block block[64];
    struct nnv_gate_answer a;
    struct machine m = {.w = &calm, .rng = nnv_rng_make(5, 3, 4)};
    for (uint32_t k = 0; k < 64; k++) run_block(&m, o.seed, k, &block[k]);
    nnv_gate_look(block, 64, &o, 0.01, &a);
    assert_int_equal(a.verdict, NNV_GATE_PASS);
    nnv_gate_look(block, 64, &o, 0.06, &a);
    assert_int_equal(a.verdict, NNV_GATE_INVALID);
    assert_non_null(strstr(a.why, "steal"));
    nnv_gate_look(block, 16, &o, 0.06, &a); /* more blocks may help */
    assert_int_equal(a.verdict, NNV_GATE_GO_ON);
    for (uint32_t k = 0; k < 32; k++) block[k].yardstick_ns *= 2;
    nnv_gate_look(block, 64, &o, 0, &a);
    assert_int_equal(a.verdict, NNV_GATE_INVALID);
    assert_non_null(strstr(a.why, "speed changed by a factor of 2.00"));
}

static void ratios_by_hand(void **state) {
    (void)state;
    static struct nnv_gate_times t;
    struct nnv_gate_block b;
    t.burst = 3;
    for (int r = 0; r < NNV_GATE_ROUNDS; r++)
        for (int i = 0; i < 3; i++) {
            t.ns[NNV_GATE_AGAINST][r][i] = (r + 1) * (100 + i);                 /* drifts: median 101 (r + 1) */
            t.ns[NNV_GATE_TESTED][r][i] = (r + 1) * (200 + 2 * i);              /* twice */
            t.ns[NNV_GATE_CONTROL][r][i] = r == 0 ? 9000 : (r + 1) * (100 + i); /* one spike */
        }
    nnv_gate_block_make(&t, &b);
    for (int q = 0; q < NNV_GATE_QUANTILES; q++) assert_true(fabs(b.ratio[q] - log(2)) < 1e-12);
    assert_true(b.control[NNV_GATE_P50] == 0);
    /* 24 times; nearest rank of p99 is the largest: 9000 against 8 * 102 */
    assert_true(fabs(b.control[NNV_GATE_P99] - log(9000.0 / 816)) < 1e-12);
}

static void the_draw_is_fair(void **state) {
    (void)state;
    int at[NNV_GATE_PARTS][NNV_GATE_PARTS] = {{0}};
    for (uint32_t b = 0; b < 3000; b++) {
        enum nnv_gate_part part[NNV_GATE_PARTS], again[NNV_GATE_PARTS];
        nnv_gate_roles(7, b, part);
        nnv_gate_roles(7, b, again);
        assert_memory_equal(part, again, sizeof part);
        for (int k = 0; k < NNV_GATE_PARTS; k++) at[k][part[k]]++;
    }
    for (int k = 0; k < NNV_GATE_PARTS; k++)
        for (int p = 0; p < NNV_GATE_PARTS; p++) assert_in_range(at[k][p], 900, 1100);
    struct nnv_gate_options o = options(1, 0);
    assert_true(nnv_gate_is_look(16, &o) && nnv_gate_is_look(32, &o) && nnv_gate_is_look(64, &o));
    assert_false(nnv_gate_is_look(15, &o) || nnv_gate_is_look(63, &o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_is_what_it_says),
        cmocka_unit_test(equal_drivers_raise_no_alarm),
        cmocka_unit_test(the_draw_is_needed),
        cmocka_unit_test(a_slowdown_of_five_percent_is_found),
        cmocka_unit_test(what_is_said_to_be_detectable_is_found),
        cmocka_unit_test(a_noisy_machine_makes_it_invalid),
        cmocka_unit_test(steal_and_speed_make_it_invalid),
        cmocka_unit_test(ratios_by_hand),
        cmocka_unit_test(the_draw_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
